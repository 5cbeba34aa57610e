//! Operations that work element by element: one register after the other.

use std::collections::BTreeMap;

use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::ir::{Op, Value};
use crate::layout::register_offsets;

/// Computes every register of the result from the same registers of the operands. A scalar operand beside tensors
/// counts for all registers. Registers that axis analysis knows to be equal are computed once: `offs < n` of eight
/// neighbours, where 8 divides `n` and the first of them.
pub(super) fn elementwise<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    mut element: impl FnMut(&mut Lower<'c, '_>, &[Val<'c>]) -> Res<Val<'c>>,
) -> Res<()> {
    let result = cx.ir.result(op);
    let count = Lower::num_regs(cx.ir.ty(result))?;
    let operands = cx.ir.operands(op).iter().map(|&v| cx.get(v)).collect::<Res<Vec<_>>>()?;
    let equal = first_equals(cx, result)?;
    let mut regs: Vec<Val<'c>> = Vec::with_capacity(count);
    let mut args = Vec::with_capacity(operands.len());
    for i in 0..count {
        if let Some(&first) = equal.get(i).filter(|&&first| first < i) {
            regs.push(regs[first]);
            continue;
        }
        args.clear();
        for operand in &operands {
            let reg = if operand.len() == 1 { operand.first() } else { operand.get(i) };
            args.push(*reg.ok_or_else(|| defect("operands of different sizes"))?);
        }
        regs.push(element(cx, &args)?);
    }
    cx.set(result, regs);
    Ok(())
}

/// Computes several functions of one operand at once: `tile` gets the registers that differ, and gives each function's
/// results for them. `results` are what the functions define.
pub(super) fn of_one_operand<'c>(
    cx: &mut Lower<'c, '_>,
    operand: Value,
    results: &[Value],
    tile: impl FnOnce(&mut Lower<'c, '_>, &[Val<'c>]) -> Res<Vec<Vec<Val<'c>>>>,
) -> Res<()> {
    let Some(&first) = results.first() else { return Ok(()) };
    let args = cx.get(operand)?;
    let equal = first_equals(cx, first)?;
    let differ: Vec<usize> = (0..args.len()).filter(|&i| equal.get(i).is_none_or(|&first| first == i)).collect();
    let distinct: Vec<Val<'c>> = differ.iter().map(|&i| args[i]).collect();
    let computed = tile(cx, &distinct)?;
    for (&result, computed) in results.iter().zip(computed) {
        let known: BTreeMap<usize, Val<'c>> = differ.iter().copied().zip(computed).collect();
        let regs = (0..args.len()).map(|i| known.get(equal.get(i).unwrap_or(&i)).copied());
        cx.set(result, regs.collect::<Option<Vec<_>>>().ok_or_else(|| defect("a register without a result"))?);
    }
    Ok(())
}

/// For each register the first one that holds the same value, by what is known of the value or by its layout; empty
/// where no two do.
fn first_equals(cx: &mut Lower<'_, '_>, value: Value) -> Res<Vec<usize>> {
    let equal = equal_registers(cx, value)?;
    if !equal.is_empty() {
        return Ok(equal);
    }
    Ok(cx.copies(cx.ir.ty(value)).map_or_else(Vec::new, |first| first.to_vec()))
}

/// For each register the first one that holds the same value in every thread; empty where nothing is known.
///
/// Coordinates of registers differ from those of the thread's first register by exclusive or, so two registers lie in
/// the same aligned run of `constancy` elements if their offsets agree above its bits.
fn equal_registers(cx: &Lower<'_, '_>, value: Value) -> Res<Vec<usize>> {
    let ty = cx.ir.ty(value);
    let Some(info) = cx.prepared.axis.get(value).filter(|i| ty.is_tensor() && i.constancy.iter().any(|&c| c > 1))
    else {
        return Ok(vec![]);
    };
    let runs: Vec<i32> =
        info.constancy.iter().map(|&c| if c > 0 { 1 << c.trailing_zeros().min(30) } else { 1 }).collect();
    let mut seen: BTreeMap<Vec<i32>, usize> = BTreeMap::new();
    let offsets = register_offsets(Lower::layout(ty)?);
    Ok(offsets
        .iter()
        .enumerate()
        .map(|(i, offset)| {
            let run = offset.iter().zip(&runs).map(|(&o, &r)| o & !(r - 1)).collect();
            *seen.entry(run).or_insert(i)
        })
        .collect())
}
