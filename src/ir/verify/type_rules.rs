//! Checks the types of operands and results by the rules of the operation's entry, `types: &[…]`.

use super::Verifier;
use crate::ir::core::{Ir, Op, Value};
use crate::ir::dialects::spec::{OpSpec, ValueGroup, VerifyResult};

impl Verifier<'_> {
    /// The first rule of the operation's entry that does not hold; the operation has the operands and results that the
    /// entry lists.
    pub(super) fn type_rules(&self, op: Op) -> VerifyResult {
        let spec = self.ir.spec(op);
        for rule in spec.types {
            let Some(&of) = values(self.ir, op, spec, rule.of).first() else { continue };
            for &value in values(self.ir, op, spec, rule.value) {
                rule.check(self.ir.ty(of), self.ir.ty(value))?;
            }
        }
        Ok(())
    }
}

/// The values of the operand or the result of this name.
fn values<'a>(ir: &'a Ir, op: Op, spec: &OpSpec, name: &str) -> &'a [Value] {
    match spec.place(name) {
        Some(ValueGroup::Operand(group)) => ir.operand_group(op, group),
        Some(ValueGroup::Result(at)) => ir.results(op).get(at..=at).unwrap_or_default(),
        None => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::dialects::OpKind;
    use crate::ir::dialects::spec::Arity;

    #[test]
    fn a_rule_names_operands_and_results_of_its_entry() {
        for spec in OpKind::all().map(OpKind::spec) {
            for name in spec.types.iter().flat_map(|rule| [rule.value, rule.of]) {
                let place = spec.place(name).unwrap_or_else(|| panic!("{} has no `{name}`", spec.name));
                // The number of a result is its place in the list only where single results come before it.
                if let ValueGroup::Result(at) = place {
                    assert!(spec.results[..=at].iter().all(|r| r.arity == Arity::One), "{} `{name}`", spec.name);
                }
            }
        }
    }
}
