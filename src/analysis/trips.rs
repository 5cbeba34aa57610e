//! How often a loop runs.

use crate::ir::core::Ir;
use crate::ir::dialects::scf::scf::For;
use crate::ir::rewrite::fold;

/// How often a loop whose bounds and step are constants runs; `None` as well where bounds without a sign do not fit
/// into numbers with one.
#[must_use]
pub fn trips(ir: &Ir, looped: For) -> Option<i64> {
    let [lower, upper, step] = [looped.lower(ir), looped.upper(ir), looped.step(ir)].map(|v| fold::int_of(ir, v));
    if looped.unsignedCmp(ir) && lower.min(upper)? < 0 {
        return None;
    }
    let (length, step) = (upper?.checked_sub(lower?)?.max(0), step.filter(|&step| step > 0)?);
    Some(length / step + i64::from(length % step > 0))
}
