//! Threads of a warp and of a block: shuffles, reductions, barriers, special registers.

use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::ptx_builder::{Arg, PtxAsm, Reg};
use crate::codegen::bits::{bits_as, operand};
use crate::codegen::lower::{Lower, Res, Val, as_int};
use crate::codegen::machine::Grid;
use crate::codegen::machine::Source;
use crate::ir::dialects::ArithOp;
use crate::ir::dialects::enums::ProgramDim;

/// What waits for every thread of the block (PTX ISA, "barrier.cta").
pub(super) const BARRIER: &str = "llvm.nvvm.barrier.cta.sync.aligned.all";

/// Reads a special register: `tid.x`.
pub(super) fn special_register<'c>(cx: &mut Lower<'c, '_>, name: &str) -> Res<IntValue<'c>> {
    as_int(cx.intrinsic(&format!("llvm.nvvm.read.ptx.sreg.{name}"), &[], &[])?)
}

/// `ctaid`, `nctaid`, or those of clusters where a program is a cluster.
pub(super) fn grid<'c>(cx: &mut Lower<'c, '_>, what: Grid, axis: ProgramDim) -> Res<IntValue<'c>> {
    let register = match (what, cx.num_ctas) {
        (Grid::ProgramId, 1) => "ctaid",
        (Grid::ProgramId, _) => "clusterid",
        (Grid::NumPrograms, 1) => "nctaid",
        (Grid::NumPrograms, _) => "nclusterid",
    };
    special_register(cx, &format!("{register}.{axis}"))
}

/// `shfl.sync` (PTX ISA): `bfly` where only fixed bits of the lane change, `up` and `down` for lanes at a distance,
/// else `idx`.
pub(super) fn shuffle<'c>(cx: &mut Lower<'c, '_>, word: IntValue<'c>, from: Source<'c>) -> Res<IntValue<'c>> {
    // The last operand bounds the segment, which is the whole warp: its last lane, or its first one for `up`. Bits of
    // the lane's own number that stay are its bits 8 to 12.
    let (mode, operand, bound) = match from {
        Source::Flip(mask) => ("bfly", cx.i32(u64::from(mask)), 31),
        Source::Lane(lane) => ("idx", lane, 31),
        Source::Set { bits, to } => ("idx", cx.i32(u64::from(to)), u64::from(31 & !bits) << 8 | 31),
        Source::Below(distance) => ("up", cx.i32(u64::from(distance)), 0),
        Source::Above(distance) => ("down", cx.i32(u64::from(distance)), 31),
    };
    let all = cx.i32(u64::from(u32::MAX));
    let args = [all.into(), word.into(), operand.into(), cx.i32(bound).into()];
    as_int(cx.intrinsic(&format!("llvm.nvvm.shfl.sync.{mode}.i32"), &[], &args)?)
}

/// One instruction for the whole warp, or one for each half of 64 bits, where there is one.
pub(super) fn reduce<'c>(cx: &mut Lower<'c, '_>, kind: ArithOp, value: Val<'c>) -> Res<Option<Val<'c>>> {
    if let Val::IntValue(int) = value
        && int.get_type().get_bit_width() == 64
    {
        return reduce_halves(cx, kind, int);
    }
    Redux::of(cx, kind, value).map(|redux| redux.emit(cx, value)).transpose()
}

/// Reduces numbers of 64 bits by halves. The least and the largest have the least and the largest upper half; of the
/// lower halves those of such numbers count. Sums carry ([`sum_of_parts`]).
fn reduce_halves<'c>(cx: &mut Lower<'c, '_>, kind: ArithOp, value: IntValue<'c>) -> Res<Option<Val<'c>>> {
    use ArithOp as A;
    if kind == ArithOp::Addi {
        return sum_of_parts(cx, value);
    }
    let (word, long) = (cx.int_type(32), cx.int_type(64));
    let shift = long.const_int(32, false);
    let low = cx.b.build_int_truncate(value, word, "")?;
    let high = cx.b.build_int_truncate(cx.b.build_right_shift(value, shift, false, "")?, word, "")?;
    // The operation on lower halves, and what changes nothing in it.
    let (of_low, neutral) = match kind {
        A::Andi | A::Ori | A::Xori => (kind, None),
        A::Maxsi | A::Maxui => (A::Maxui, Some(word.const_zero())),
        A::Minsi | A::Minui => (A::Minui, Some(word.const_all_ones())),
        _ => return Ok(None),
    };
    let halves = Redux::of(cx, kind, high.into()).zip(Redux::of(cx, of_low, low.into()));
    let Some((redux, redux_of_low)) = halves else { return Ok(None) };
    let best = as_int(redux.emit(cx, high.into())?)?;
    let low = match neutral {
        Some(neutral) => {
            let counts = cx.b.build_int_compare(IntPredicate::EQ, high, best, "")?;
            cx.b.build_select(counts, low, neutral, "")?.into_int_value()
        }
        None => low,
    };
    let low = as_int(redux_of_low.emit(cx, low.into())?)?;
    let high = cx.b.build_left_shift(cx.b.build_int_z_extend(best, long, "")?, shift, "")?;
    Ok(Some(cx.b.build_or(high, cx.b.build_int_z_extend(low, long, "")?, "")?.into()))
}

/// Adds numbers of 64 bits by three parts of 16, 16 and 32 bits: 32 numbers of 16 bits add up to one of 21 bits, so
/// that no carry is lost but that of the whole.
fn sum_of_parts<'c>(cx: &mut Lower<'c, '_>, value: IntValue<'c>) -> Res<Option<Val<'c>>> {
    let (word, long) = (cx.int_type(32), cx.int_type(64));
    let low = cx.b.build_int_truncate(value, word, "")?;
    let high =
        cx.b.build_int_truncate(cx.b.build_right_shift(value, long.const_int(32, false), false, "")?, word, "")?;
    let parts = [cx.b.build_and(low, cx.i32(0xffff), "")?, cx.b.build_right_shift(low, cx.i32(16), false, "")?, high];
    let Some(redux) = Redux::of(cx, ArithOp::Addi, high.into()) else { return Ok(None) };
    let mut sum = long.const_zero();
    for (part, position) in parts.into_iter().zip([0, 16, 32]) {
        let part = as_int(redux.emit(cx, part.into())?)?;
        let wide = cx.b.build_int_z_extend(part, long, "")?;
        sum = cx.b.build_int_add(sum, cx.b.build_left_shift(wide, long.const_int(position, false), "")?, "")?;
    }
    Ok(Some(sum.into()))
}

/// An instruction that reduces over a whole warp (PTX ISA, "redux.sync"): of integers of up to 32 bits, on `sm_100a`
/// also minimum and maximum of floats.
struct Redux {
    name: &'static str,
    signed: bool,
}

impl Redux {
    fn of<'c>(cx: &Lower<'c, '_>, kind: ArithOp, value: Val<'c>) -> Option<Redux> {
        use ArithOp as A;
        let target = &cx.options.target;
        let (name, signed) = match (value, kind) {
            (Val::IntValue(v), _) if v.get_type().get_bit_width() > 32 => return None,
            (Val::IntValue(_), A::Addi) => ("add", false),
            (Val::IntValue(_), A::Andi) => ("and", false),
            (Val::IntValue(_), A::Ori) => ("or", false),
            (Val::IntValue(_), A::Xori) => ("xor", false),
            (Val::IntValue(_), A::Maxsi) => ("max", true),
            (Val::IntValue(_), A::Minsi) => ("min", true),
            (Val::IntValue(_), A::Maxui) => ("umax", false),
            (Val::IntValue(_), A::Minui) => ("umin", false),
            (Val::FloatValue(v), _) if v.get_type() != cx.llvm.f32_type() || !target.has_redux_f32() => {
                return None;
            }
            (Val::FloatValue(_), A::Maxnumf) => ("fmax", false),
            (Val::FloatValue(_), A::Minnumf) => ("fmin", false),
            (Val::FloatValue(_), A::Maximumf) => ("fmax.NaN", false),
            (Val::FloatValue(_), A::Minimumf) => ("fmin.NaN", false),
            _ => return None,
        };
        Some(Redux { name, signed })
    }

    fn emit<'c>(&self, cx: &mut Lower<'c, '_>, value: Val<'c>) -> Res<Val<'c>> {
        let all = cx.i32(u64::from(u32::MAX));
        let intrinsic = format!("llvm.nvvm.redux.sync.{}", self.name);
        let Val::IntValue(int) = value else { return cx.intrinsic(&intrinsic, &[], &[value, all.into()]) };
        let (narrow, word) = (int.get_type(), cx.int_type(32));
        if narrow.get_bit_width() == 32 {
            return cx.intrinsic(&intrinsic, &[], &[value, all.into()]);
        }
        let wide =
            if self.signed { cx.b.build_int_s_extend(int, word, "")? } else { cx.b.build_int_z_extend(int, word, "")? };
        let reduced = as_int(cx.intrinsic(&intrinsic, &[], &[wide.into(), all.into()])?)?;
        Ok(cx.b.build_int_truncate(reduced, narrow, "")?.into())
    }
}

/// `lop3.b32` (PTX ISA, "lop3"): `mask & set | !mask & clear` has the table 0xCA. LLVM would make a select of it, and a
/// predicate of the mask.
pub(super) fn select_bits<'c>(
    cx: &mut Lower<'c, '_>,
    mask: IntValue<'c>,
    set: Val<'c>,
    clear: Val<'c>,
) -> Res<Val<'c>> {
    let ty = set.get_type();
    let word = cx.int_type(32).into();
    let (set, clear) = (bits_as(cx, set, word)?, bits_as(cx, clear, word)?);
    let mut asm = PtxAsm::default();
    let out = asm.output(Reg::B32);
    let inputs = [mask.into(), set, clear].map(|value| asm.input(Reg::B32, value));
    let args = [out].into_iter().chain(inputs).map(Arg::Reg).chain([Arg::Text("0xCA")]).collect();
    asm.inst(None, "lop3.b32", args);
    let picked = operand(&asm.emit(cx, false)?, 0)?;
    bits_as(cx, picked, ty)
}
