//! Products by `wgmma.mma_async` (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"): four warps multiply 64
//! rows of A by up to 256 columns of B, and go on while the tensor cores add to their registers.
//!
//! # Algorithm
//!
//! 1. B, and A unless it is in registers, are described to the hardware ([`super::descriptor`]): a constant for the
//!    layout, plus the address of the instruction's share, counted in 16 bytes. Warp groups that multiply other rows or
//!    columns add what their number contributes; so does the number of the buffer, where the operand is one of several.
//! 2. [`tile`] finds the rows, columns and steps of K of each instruction in the fragments of the result and of A, as
//!    `mma` does.
//! 3. `wgmma.fence` orders the registers that were written before. It takes the accumulators and returns them, so that
//!    LLVM gives each a register of its own before the fence, not behind it, also where several start with the same
//!    value. Then come all instructions, K innermost, each tied to the registers of its accumulator;
//!    `wgmma.commit_group` ends the group.
//! 4. An asynchronous product ends there, and `ttng.warp_group_dot_wait` waits for it. A synchronous one waits at once.
//!    Either wait takes the accumulators and returns them, so that nobody reads them earlier.
//! 5. With `maxNumImpreciseAcc`, sums of fp8 products start from zero again after that many products: they are waited
//!    for and added in f32.
//!
//! A in registers is copied by `mov` before the fence: the values may be computed while an earlier product still reads
//! the registers of the last.
//!
//! # Example
//!
//! 128×256 of f32 by 4 warps with K = 64 in f16: two tiles of 64 rows, each four `wgmma.mma_async.m64n256k16` with 128
//! registers.

use inkwell::values::IntValue;

use super::descriptor::{CHUNK, Descriptor, Share, columns, describe};
use super::ptx_builder::{Arg, Operand, PtxAsm, Reg};
use crate::analysis::scratch::element_bits;
use crate::codegen::bits::bits_as;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::memdesc::ViewStart;
use crate::codegen::ops::constant::{constant_bits, is_zero};
use crate::codegen::ops::dot::fragment::{BATCH, COLUMN, Fragment, ROW};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::dialects::enums::InputPrecision;
use crate::ir::dialects::ttng::ttng as view;
use crate::ir::{Attr, Encoding, FloatKind, Op, Type, Value};
use crate::layout::LinearLayout;

/// Rows of one instruction.
const ROWS: u32 = 64;
/// Bits of a warp's number within its warp group.
const GROUP_BITS: usize = 2;
/// Bits of a register.
const WORD: u32 = 32;
/// The types of an instruction.
struct Kind {
    /// `f32.f16.f16`
    types: String,
    result: Reg,
    /// Elements of a register of the result.
    packed: usize,
    /// Whether operands can be negated, which the syntax then says.
    scales: bool,
    /// Whether operands in shared memory can run along M or N.
    transposes: bool,
    fp8: bool,
}

fn kind(cx: &Lower<'_, '_>, op: Op, [a, b, d]: [Type; 3]) -> Res<Kind> {
    use FloatKind::{BF16, F8E4M3FN, F8E5M2, F16, F32};
    let tf32 = matches!(view::WarpGroupDot(op).inputPrecision(cx.ir), None | Some(InputPrecision::Tf32));
    let name = |ty: Type| match ty.elem().as_float() {
        Some(F16) => Some("f16"),
        Some(BF16) => Some("bf16"),
        Some(F32) if tf32 => Some("tf32"),
        Some(F8E4M3FN) => Some("e4m3"),
        Some(F8E5M2) => Some("e5m2"),
        None if ty.elem().is_int_of(8) => Some("s8"),
        _ => None,
    };
    let sum = match d.elem().as_float() {
        Some(F32) => Some(("f32", Reg::F32, 1)),
        Some(F16) => Some(("f16", Reg::B32, 2)),
        None if d.elem().is_int_of(32) => Some(("s32", Reg::B32, 1)),
        _ => None,
    };
    let fp8 = |n: &str| n.starts_with('e');
    match (name(a), name(b), sum) {
        (Some(x), Some(y), Some((s, result, packed)))
            if (x == y || fp8(x) && fp8(y))
                && match s {
                    "f32" => x != "s8",
                    "f16" => x == "f16" || fp8(x),
                    _ => x == "s8",
                } =>
        {
            Ok(Kind {
                types: format!("{s}.{x}.{y}"),
                result,
                packed,
                scales: s != "s32",
                transposes: x.ends_with("f16"),
                fp8: fp8(x),
            })
        }
        _ => {
            let text = format!(
                "no instruction multiplies `{}` by `{}` into `{}` at this precision",
                a.elem(),
                b.elem(),
                d.elem()
            );
            Err(cx.unsupported(op, &text))
        }
    }
}

/// Where an operand comes from.
enum Left<'c> {
    Shared(Matrix<'c>),
    /// Words by instruction row and step of K.
    Registers(Vec<Vec<Vec<Val<'c>>>>),
}

/// An operand in shared memory.
struct Matrix<'c> {
    descriptor: Descriptor,
    /// The low word of the descriptor, with the address at which the warp group's part starts.
    start: IntValue<'c>,
    inverse: LinearLayout,
    bits: u32,
}

impl<'c> Matrix<'c> {
    /// The descriptor of the share that starts at these coordinates.
    ///
    /// Only the low word is computed; the high one is a constant that is set beside it. As one sum of 64 bits the same
    /// descriptor makes some releases of ptxas fail: 12.9 and 13.0 crash on a product of tf32 by two warp groups, and
    /// 12.8 assembles it wrongly.
    fn at(&self, cx: &Lower<'c, '_>, at: [u32; 2]) -> Res<Val<'c>> {
        let bytes = [0, 1].map(|axis| moved(&columns(&self.inverse, axis), at[axis]) * (self.bits / 8));
        let offset = u64::from((bytes[0] ^ bytes[1]) / CHUNK);
        let low = if offset == 0 { self.start } else { cx.b.build_int_add(self.start, cx.i32(offset), "")? };
        let high = cx.i32(self.descriptor.bits >> WORD);
        let words = cx.b.build_insert_element(cx.int_type(WORD).vec_type(2).const_zero(), low, cx.i32(0), "")?;
        let words = cx.b.build_insert_element(words, high, cx.i32(1), "")?;
        Ok(cx.b.build_bit_cast(words, cx.int_type(2 * WORD), "")?)
    }
}

/// The exclusive or of the columns that the bits of `value` pick.
fn moved(columns: &[u32], value: u32) -> u32 {
    columns.iter().enumerate().filter(|(bit, _)| value >> bit & 1 == 1).fold(0, |sum, (_, c)| sum ^ c)
}

/// What each instruction multiplies, in coordinates of lane 0 of the warp group's first warp.
struct Tiling {
    rows: Vec<[u32; 2]>,
    /// The columns of an instruction's registers, in their order.
    columns: Vec<Vec<u32>>,
}

/// Finds what each instruction multiplies (step 2); `None` when the result's registers are not those of the
/// instruction.
fn tile(d: &Fragment, n: u32) -> Option<Tiling> {
    let lanes =
        (0..5).all(|i| (d.lane(i, ROW), d.lane(i, COLUMN)) == if i < 2 { (0, 2 << i) } else { (1 << (i - 2), 0) });
    let group = (0..GROUP_BITS).all(|i| d.warps.get(i).is_some_and(|w| (w[ROW], w[COLUMN]) == (16 << i, 0)));
    let rows: Vec<[u32; 2]> = d.along(ROW).chunks(2).filter_map(|r| <[u32; 2]>::try_from(r).ok()).collect();
    let columns: Vec<Vec<u32>> = d.along(COLUMN).chunks(n as usize / 4).map(<[u32]>::to_vec).collect();
    let halves = !rows.is_empty() && rows.iter().all(|r| r[1] == r[0] + 8);
    let runs = columns
        .iter()
        .all(|c| c.len() as u32 == n / 4 && c.iter().zip(0..).all(|(&c0, i)| c0 == c[0] + i % 2 + i / 2 * 8));
    (lanes && group && halves && runs).then_some(Tiling { rows, columns })
}

/// `ttng.warp_group_dot`
pub(super) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    if !cx.options.target.has_wgmma() {
        let text = format!("`{}` needs sm_90a, the target is {}", cx.ir.op_name(op), cx.options.target.name);
        return Err(Diagnostic::error(&codes::UNSUPPORTED_OP, text));
    }
    let dot = view::WarpGroupDot(op);
    let (a, b, c) = (dot.a(cx.ir), dot.b(cx.ir), dot.c(cx.ir));
    let types = [a, b, c].map(|v| cx.ir.ty(v));
    let kind = kind(cx, op, types)?;
    let Some(Encoding::NvidiaMma(e)) = types[2].encoding().and_then(Attr::as_encoding) else {
        return Err(cx.unsupported(op, "the result is in no tensor-core layout"));
    };
    let [_, n, k] = e.instr_shape[..] else { return Err(cx.unsupported(op, "`instrShape` needs three numbers")) };
    let d = Fragment::of(Lower::layout(types[2])?).ok_or_else(|| cx.unsupported(op, "the result is no matrix"))?;
    let tiling =
        tile(&d, n).ok_or_else(|| cx.unsupported(op, "the result's registers are not those of the instruction"))?;
    let depth = u32::try_from(types[0].shape()[1]).unwrap_or(0);
    if depth == 0 || !depth.is_multiple_of(k) {
        return Err(cx.unsupported(op, &format!("K is {depth}, expected a multiple of {k}")));
    }
    let left = if types[0].is_tensor() {
        Left::Registers(registers(cx, op, a, &d, &tiling, [k, depth])?)
    } else {
        Left::Shared(matrix(cx, op, a, [ROWS, k], 0, &d, kind.transposes)?)
    };
    let right = matrix(cx, op, b, [k, n], 1, &d, kind.transposes)?;
    let product = Product { op, kind, shape: [n, k], depth, left, right };
    let result = product.emit(cx, &d, &tiling, c)?;
    cx.set(cx.ir.result(op), result);
    Ok(())
}

/// Describes an operand in shared memory to the hardware (step 1).
fn matrix<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    value: Value,
    shape: [u32; 2],
    outer: usize,
    d: &Fragment,
    transposes: bool,
) -> Res<Matrix<'c>> {
    let ty = cx.ir.ty(value);
    let bits = element_bits(ty);
    let ViewStart { first: mut address, buffer, inverse, offsets } = cx.view_start(value)?;
    let descriptor = describe(&inverse, Share { shape, outer, bits }).ok_or_else(|| {
        cx.unsupported(op, &format!("`{ty}` is in no order that `wgmma` reads {}x{} elements in", shape[0], shape[1]))
    })?;
    let along_k = descriptor.transposed != (outer == 0);
    if !along_k && !transposes {
        return Err(cx.unsupported(op, &format!("`{ty}` must run along K, for elements that have not 16 bits")));
    }
    // A view may start at a core tile, or at a chunk of its first line.
    let line = usize::from(!descriptor.transposed);
    let fits = |axis: usize, bytes: u64| {
        bytes.is_multiple_of(u64::from(descriptor.tile_bytes))
            || axis == line && bytes >= 16 && bytes < u64::from(descriptor.line_bytes)
    };
    if offsets.iter().enumerate().any(|(axis, columns)| columns.iter().any(|&(_, bytes)| !fits(axis, bytes))) {
        return Err(cx.unsupported(op, &format!("`{ty}` may start within a tile of {} bytes", descriptor.tile_bytes)));
    }
    let axis = if outer == 0 { ROW } else { COLUMN };
    let groups: Vec<u32> =
        d.warps.iter().skip(GROUP_BITS).map(|w| moved(&columns(&inverse, outer), w[axis]) * (bits / 8)).collect();
    if groups.iter().any(|&bytes| bytes != 0) {
        let warp = cx.uniform_warp_id()?;
        let group = cx.b.build_right_shift(warp, cx.i32(GROUP_BITS as u64), false, "")?;
        let moved = cx.xor_image(cx.i32(0), group, &groups)?;
        address = cx.b.build_int_add(address, moved, "")?;
    }
    // The address field has 14 bits, of 16 bytes each.
    let chunks = cx.b.build_right_shift(address, cx.i32(4), false, "")?;
    let field = cx.b.build_and(chunks, cx.i32(0x3fff), "")?;
    let mut start = cx.b.build_int_add(field, cx.i32(descriptor.bits & u64::from(u32::MAX)), "")?;
    // The number of one of several buffers is added last, so that all before it stands outside of a loop. The field
    // cannot overflow, since 14 bits reach further than shared memory.
    if let Some((number, bytes)) = buffer {
        let moved = cx.b.build_int_mul(number, cx.i32(u64::from(bytes / CHUNK)), "")?;
        start = cx.b.build_int_add(start, moved, "")?;
    }
    Ok(Matrix { descriptor, start, inverse, bits })
}

/// A's words for each instruction row and step of K: of both rows along the first half of K, then along the second.
fn registers<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    a: Value,
    d: &Fragment,
    tiling: &Tiling,
    [k, depth]: [u32; 2],
) -> Res<Vec<Vec<Vec<Val<'c>>>>> {
    let ty = cx.ir.ty(a);
    let per_word = 32 / element_bits(ty).min(32);
    let refusal = cx.unsupported(op, &format!("`{ty}` does not place elements where `wgmma` reads them"));
    let misplaced = || refusal.clone();
    let fragment = Fragment::of(Lower::layout(ty)?).ok_or_else(misplaced)?;
    let lanes = (0..5).all(|i| {
        fragment.lane(i, ROW) == d.lane(i, ROW) && fragment.lane(i, COLUMN) == if i < 2 { per_word << i } else { 0 }
    });
    if !lanes || !fragment.moves_with(ROW, d, ROW) || !fragment.rests_along(COLUMN) || d.along(BATCH).len() != 1 {
        return Err(misplaced());
    }
    let regs = cx.get(a)?;
    let int = cx.int_type(element_bits(ty));
    let mut all = vec![];
    for rows in &tiling.rows {
        let mut steps = vec![];
        for first in (0..depth).step_by(k as usize) {
            let mut words = vec![];
            for half in [0, 4 * per_word] {
                for &row in rows {
                    let mut elements = vec![];
                    for i in 0..per_word {
                        let register = fragment.register([0, row, first + half + i]).ok_or_else(misplaced)?;
                        elements.push(bits_as(cx, regs[register], int.into())?);
                    }
                    let mut asm = PtxAsm::default();
                    let (to, from) = (asm.output(Reg::B32), asm.input(Reg::B32, cx.packed(&elements)?.into()));
                    asm.inst(None, "mov.b32", vec![Arg::Reg(to), Arg::Reg(from)]);
                    words.extend(asm.emit(cx, true)?);
                }
            }
            steps.push(words);
        }
        all.push(steps);
    }
    Ok(all)
}

/// A product that is ready to be emitted.
struct Product<'c> {
    op: Op,
    kind: Kind,
    /// N and K of an instruction.
    shape: [u32; 2],
    depth: u32,
    left: Left<'c>,
    right: Matrix<'c>,
}

/// What an instruction's accumulator holds before it.
#[derive(Clone)]
enum Start<'c> {
    Zero,
    Values(Vec<Val<'c>>),
    /// Values where the flag is set, zero elsewhere.
    If(IntValue<'c>, Vec<Val<'c>>),
}

impl<'c> Start<'c> {
    fn values(&self) -> &[Val<'c>] {
        match self {
            Start::Zero => &[],
            Start::Values(values) | Start::If(_, values) => values,
        }
    }
}

impl<'c> Product<'c> {
    /// Writes the instructions (steps 3 to 5), and gives the registers of the result.
    fn emit(&self, cx: &mut Lower<'c, '_>, d: &Fragment, tiling: &Tiling, c: Value) -> Res<Vec<Val<'c>>> {
        let dot = view::WarpGroupDot(self.op);
        let start = cx.get(c)?;
        let known = dot.use_c(cx.ir).and_then(|f| constant_bits(cx, f)).map(|bits| bits != 0);
        let zero = known == Some(false) || is_zero(cx, c);
        let flag = dot.use_c(cx.ir).filter(|_| known.is_none()).map(|f| cx.int(f)).transpose()?;
        let mut places = vec![];
        for rows in &tiling.rows {
            for columns in &tiling.columns {
                // Two columns of the upper row, the same of the lower one.
                let order = columns
                    .chunks(2)
                    .flat_map(|pair| rows.iter().flat_map(|&row| pair.iter().map(move |&column| [0, row, column])));
                let found: Option<Vec<usize>> = order.map(|at| d.register(at)).collect();
                places.push((rows, columns, found.ok_or_else(|| defect("a result's register is missing"))?));
            }
        }
        let mut starts = vec![];
        for (_, _, registers) in &places {
            let values: Vec<Val<'c>> = registers.iter().map(|&r| start[r]).collect();
            starts.push(if zero {
                Start::Zero
            } else {
                let packed = pack(cx, &values, self.kind.packed)?;
                flag.map_or(Start::Values(packed.clone()), |f| Start::If(f, packed))
            });
        }
        let limit = dot.maxNumImpreciseAcc(cx.ir).unwrap_or(0);
        let partial = self.kind.fp8 && self.kind.result == Reg::F32 && limit <= i64::from(self.depth);
        let starts = fence(cx, starts)?;
        let mut sums = vec![];
        for ((rows, columns, _), start) in places.iter().zip(starts) {
            let at = (tiling.rows.iter().position(|r| r == *rows).unwrap_or(0), rows[0], columns[0]);
            sums.push(if partial {
                self.in_parts(cx, at, start, limit)?
            } else {
                self.steps(cx, at, start, 0..self.depth / self.shape[1])?
            });
        }
        if !partial {
            cx.effect("llvm.nvvm.wgmma.commit_group.sync.aligned", &[], &[])?;
        }
        let mut flat = sums.concat();
        if !dot.isAsync(cx.ir) && !partial {
            flat = wait_for(cx, flat, 0)?;
        }
        let values = unpack(cx, &flat, start[0].get_type(), self.kind.packed)?;
        let mut out = start.to_vec();
        for (register, value) in places.iter().flat_map(|p| &p.2).zip(values) {
            out[*register] = value;
        }
        for (_, copies) in d.registers() {
            copies.iter().for_each(|&r| out[r] = out[copies[0]]);
        }
        Ok(out)
    }

    /// One accumulator's instructions for these steps of K.
    fn steps(
        &self,
        cx: &mut Lower<'c, '_>,
        at: (usize, u32, u32),
        start: Start<'c>,
        steps: std::ops::Range<u32>,
    ) -> Res<Vec<Val<'c>>> {
        let mut sum = start;
        for step in steps {
            sum = Start::Values(self.instruction(cx, at, step, &sum)?);
        }
        match sum {
            Start::Values(values) => Ok(values),
            _ => Err(defect("a product without steps")),
        }
    }

    /// The instructions of one accumulator whose sum starts from zero again after `limit` products (step 5).
    fn in_parts(
        &self,
        cx: &mut Lower<'c, '_>,
        at: (usize, u32, u32),
        start: Start<'c>,
        limit: i64,
    ) -> Res<Vec<Val<'c>>> {
        let k = self.shape[1];
        let part = u32::try_from(limit).unwrap_or(0).div_ceil(k).max(1);
        let all = self.depth / k;
        let mut sum: Option<Vec<Val<'c>>> = match start {
            Start::Zero => None,
            Start::Values(values) => Some(values),
            Start::If(flag, values) => {
                let chosen = |v: &Val<'c>| Ok(cx.b.build_select(flag, *v, v.get_type().const_zero(), "")?);
                Some(values.iter().map(chosen).collect::<Res<_>>()?)
            }
        };
        for first in (0..all).step_by(part as usize) {
            if first > 0 {
                cx.effect("llvm.nvvm.wgmma.fence.sync.aligned", &[], &[])?;
            }
            let next = self.steps(cx, at, Start::Zero, first..(first + part).min(all))?;
            cx.effect("llvm.nvvm.wgmma.commit_group.sync.aligned", &[], &[])?;
            let next = wait_for(cx, next, 0)?;
            sum = Some(match sum {
                None => next,
                Some(before) => {
                    let add = |(x, y): (&Val<'c>, &Val<'c>)| match (x, y) {
                        (Val::FloatValue(x), Val::FloatValue(y)) => Ok(cx.b.build_float_add(*x, *y, "")?.into()),
                        _ => Err(defect("a sum of something else than floats")),
                    };
                    before.iter().zip(&next).map(add).collect::<Res<_>>()?
                }
            });
        }
        sum.ok_or_else(|| defect("a product without steps"))
    }

    /// One `wgmma.mma_async`: `{d…}, a, b, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b`.
    fn instruction(
        &self,
        cx: &mut Lower<'c, '_>,
        (tile, row, column): (usize, u32, u32),
        step: u32,
        sum: &Start<'c>,
    ) -> Res<Vec<Val<'c>>> {
        let [n, k] = self.shape;
        let count = (n / 2) as usize / self.kind.packed;
        let mut asm = PtxAsm::default();
        let out: Vec<Operand> = match sum {
            Start::Zero => (0..count).map(|_| asm.output(self.kind.result)).collect(),
            Start::Values(values) | Start::If(_, values) => {
                values.iter().map(|&v| asm.output_from(self.kind.result, v)).collect()
            }
        };
        let left = match &self.left {
            Left::Shared(m) => Arg::Reg(asm.input(Reg::B64, m.at(cx, [row, step * k])?)),
            Left::Registers(words) => {
                Arg::List(words[tile][step as usize].iter().map(|&w| asm.input(Reg::B32, w)).collect())
            }
        };
        let right = Arg::Reg(asm.input(Reg::B64, self.right.at(cx, [step * k, column])?));
        let scale = match sum {
            Start::Zero => Arg::Text("0"),
            Start::Values(_) => Arg::Text("1"),
            Start::If(flag, _) => Arg::Reg(asm.input(Reg::Pred, (*flag).into())),
        };
        let mut args = vec![Arg::List(out), left, right, scale];
        if self.kind.scales {
            args.extend([Arg::Text("1"), Arg::Text("1")]);
        }
        if self.kind.transposes {
            let flag = |set| Arg::Text(if set { "1" } else { "0" });
            if let Left::Shared(m) = &self.left {
                args.push(flag(m.descriptor.transposed));
            }
            args.push(flag(!self.right.descriptor.transposed));
        }
        asm.inst(None, format!("wgmma.mma_async.sync.aligned.m{ROWS}n{n}k{k}.{}", self.kind.types), args);
        asm.emit(cx, true)
    }
}

/// Values as registers of the instruction, `packed` to each.
fn pack<'c>(cx: &Lower<'c, '_>, values: &[Val<'c>], packed: usize) -> Res<Vec<Val<'c>>> {
    if packed == 1 {
        return Ok(values.to_vec());
    }
    values.chunks(packed).map(|part| Ok(cx.packed(part)?.into())).collect()
}

/// The reverse of [`pack`].
fn unpack<'c>(
    cx: &Lower<'c, '_>,
    values: &[Val<'c>],
    elem: inkwell::types::BasicTypeEnum<'c>,
    packed: usize,
) -> Res<Vec<Val<'c>>> {
    if packed == 1 {
        return Ok(values.to_vec());
    }
    let parts = values.iter().map(|&v| cx.unpacked(as_int(v)?, elem, packed as u32)).collect::<Res<Vec<_>>>()?;
    Ok(parts.concat())
}

/// `wgmma.fence` for what accumulators hold before their products (step 3).
fn fence<'c>(cx: &mut Lower<'c, '_>, starts: Vec<Start<'c>>) -> Res<Vec<Start<'c>>> {
    let values = starts.iter().flat_map(Start::values).copied().collect();
    let mut fenced = with_registers(cx, values, "wgmma.fence.sync.aligned".to_owned())?.into_iter();
    let of = |start: Start<'c>| match start {
        Start::Zero => Start::Zero,
        Start::Values(values) => Start::Values(fenced.by_ref().take(values.len()).collect()),
        Start::If(flag, values) => Start::If(flag, fenced.by_ref().take(values.len()).collect()),
    };
    Ok(starts.into_iter().map(of).collect())
}

/// Waits until at most `pendings` groups are under way; the values come back as they are then.
fn wait_for<'c>(cx: &mut Lower<'c, '_>, values: Vec<Val<'c>>, pendings: i64) -> Res<Vec<Val<'c>>> {
    with_registers(cx, values, format!("wgmma.wait_group.sync.aligned {pendings}"))
}

/// An instruction that takes values in registers of their own, and gives them back in these.
fn with_registers<'c>(cx: &mut Lower<'c, '_>, values: Vec<Val<'c>>, instruction: String) -> Res<Vec<Val<'c>>> {
    let mut asm = PtxAsm::default();
    for &value in &values {
        let class = match value {
            Val::FloatValue(_) if cx.bits_of(value.get_type()) == 64 => Reg::F64,
            Val::FloatValue(_) => Reg::F32,
            _ => Reg::of_bits(cx.bits_of(value.get_type())),
        };
        asm.output_from(class, value);
    }
    asm.inst(None, instruction, vec![]);
    asm.emit(cx, true)
}

/// `ttng.warp_group_dot_wait`. Buffers are named so that they live until then; they pass through.
pub(super) fn wait(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = view::WarpGroupDotWait(op);
    let pendings = view.pendings(cx.ir).unwrap_or(0);
    let (inputs, outputs) = (view.inputs(cx.ir).to_vec(), view.outputs(cx.ir).to_vec());
    let mut flat = vec![];
    let mut packing = vec![];
    for &input in &inputs {
        let regs = cx.get(input)?;
        let narrow = cx.ir.ty(input).is_tensor() && regs.len() > 1 && cx.bits_of(regs[0].get_type()) == 16;
        let packed = if narrow { 2 } else { 1 };
        let values = if cx.ir.ty(input).is_tensor() { pack(cx, &regs, packed)? } else { vec![] };
        packing.push((packed, values.len()));
        flat.extend(values);
    }
    let waited = wait_for(cx, flat, pendings)?;
    let mut rest = waited.as_slice();
    for ((&input, &output), (packed, count)) in inputs.iter().zip(&outputs).zip(packing) {
        let regs = cx.get(input)?;
        let (own, others) = rest.split_at(count);
        rest = others;
        let values = if count == 0 { regs.to_vec() } else { unpack(cx, own, regs[0].get_type(), packed)? };
        cx.set(output, values);
    }
    Ok(())
}
