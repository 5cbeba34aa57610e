//! The instructions of a product whose operands are ready, from the fence to the wait: steps 3 to 5 of [`super`].

use inkwell::types::BasicTypeEnum;
use inkwell::values::IntValue;

use super::{Kind, Left, Matrix, ROWS, Tiling};
use crate::backend::nvidia::ptx_builder::{Arg, Operand, PtxAsm, Reg};
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::ops::constant::{constant_bits, is_zero};
use crate::codegen::ops::dot::fragment::Fragment;
use crate::ir::dialects::discardable::OPERAND_CHANGES;
use crate::ir::dialects::ttng::ttng as view;
use crate::ir::{Op, Value};
use crate::ptxas::OLD_WAITS;

/// A product that is ready to be emitted.
pub(super) struct Product<'c> {
    pub(super) op: Op,
    pub(super) kind: Kind,
    /// N and K of an instruction.
    pub(super) shape: [u32; 2],
    pub(super) depth: u32,
    pub(super) left: Left<'c>,
    pub(super) right: Matrix<'c>,
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
    pub(super) fn emit(&self, cx: &mut Lower<'c, '_>, d: &Fragment, tiling: &Tiling, c: Value) -> Res<Vec<Val<'c>>> {
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
            flat = wait_for(cx, flat, 0, "")?;
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

    /// One accumulator's instructions for these steps of K: `{d…}, a, b, scale-d, imm-scale-a, imm-scale-b,
    /// imm-trans-a, imm-trans-b`. All of them are one piece of assembly, so that LLVM handles their registers once, and
    /// not for each.
    fn steps(
        &self,
        cx: &mut Lower<'c, '_>,
        (tile, row, column): (usize, u32, u32),
        start: Start<'c>,
        steps: std::ops::Range<u32>,
    ) -> Res<Vec<Val<'c>>> {
        let [n, k] = self.shape;
        let count = (n / 2) as usize / self.kind.packed;
        let mut asm = PtxAsm::default();
        let out: Vec<Operand> = match &start {
            Start::Zero => (0..count).map(|_| asm.output(self.kind.result)).collect(),
            Start::Values(values) | Start::If(_, values) => {
                values.iter().map(|&v| asm.output_from(self.kind.result, v)).collect()
            }
        };
        let mut scale = match start {
            Start::Zero => Arg::Text("0"),
            Start::Values(_) => Arg::Text("1"),
            Start::If(flag, _) => Arg::Reg(asm.input(Reg::Pred, flag.into())),
        };
        if steps.len() > 1 {
            asm.writes_early();
        }
        for step in steps {
            let left = match &self.left {
                Left::Shared(m) => Arg::Reg(asm.input(Reg::B64, m.at(cx, [row, step * k])?)),
                Left::Registers(words) => {
                    Arg::List(words[tile][step as usize].iter().map(|&w| asm.input(Reg::B32, w)).collect())
                }
            };
            let right = Arg::Reg(asm.input(Reg::B64, self.right.at(cx, [step * k, column])?));
            let mut args = vec![Arg::List(out.clone()), left, right, std::mem::replace(&mut scale, Arg::Text("1"))];
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
        }
        asm.emit(cx, true)
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
            let next = wait_for(cx, next, 0, "")?;
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
}

/// Values as registers of the instruction, `packed` to each.
fn pack<'c>(cx: &Lower<'c, '_>, values: &[Val<'c>], packed: usize) -> Res<Vec<Val<'c>>> {
    if packed == 1 {
        return Ok(values.to_vec());
    }
    values.chunks(packed).map(|part| Ok(cx.packed(part)?.into())).collect()
}

/// The reverse of [`pack`].
fn unpack<'c>(cx: &Lower<'c, '_>, values: &[Val<'c>], elem: BasicTypeEnum<'c>, packed: usize) -> Res<Vec<Val<'c>>> {
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

/// Waits until at most `pendings` groups are under way; the values come back as they are then. `note` stands behind the
/// instruction.
fn wait_for<'c>(cx: &mut Lower<'c, '_>, values: Vec<Val<'c>>, pendings: i64, note: &str) -> Res<Vec<Val<'c>>> {
    with_registers(cx, values, format!("wgmma.wait_group.sync.aligned {pendings}{note}"))
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
pub(in crate::backend::nvidia) fn wait(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
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
    let note = if pendings > 0 && cx.ir.stores(op, OPERAND_CHANGES) { OLD_WAITS } else { "" };
    let waited = wait_for(cx, flat, pendings, note)?;
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
