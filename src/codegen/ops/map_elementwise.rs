//! `tt.map_elementwise`: the region runs on packs of `pack` consecutive registers; its arguments are the elements of
//! the first operand's pack, then those of the second, and its results come likewise.

use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::ir::Op;
use crate::ir::dialects::tt::tt::MapElementwise;

/// `tt.map_elementwise`
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ir = cx.ir;
    let pack = MapElementwise(op).pack(ir).and_then(|p| usize::try_from(p).ok()).unwrap_or(1).max(1);
    let operands = ir.operands(op).iter().map(|&v| cx.get(v)).collect::<Res<Vec<_>>>()?;
    let count = operands.first().map_or(0, |regs| regs.len());
    if !count.is_multiple_of(pack) {
        return Err(cx.unsupported(op, &format!("packs of {pack} elements, but a thread holds {count}")));
    }
    let mut results: Vec<Vec<Val<'_>>> = vec![vec![]; ir.results(op).len()];
    for first in (0..count).step_by(pack) {
        let args: Vec<Val<'_>> = operands.iter().flat_map(|regs| &regs[first..first + pack]).copied().collect();
        let values = cx.inline_region(op, &args)?;
        if values.len() != pack * results.len() {
            return Err(defect("a region with another number of results"));
        }
        results.iter_mut().zip(values.chunks(pack)).for_each(|(regs, part)| regs.extend(part));
    }
    for (&result, regs) in ir.results(op).iter().zip(results) {
        cx.set(result, regs);
    }
    Ok(())
}
