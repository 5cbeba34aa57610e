//! Checks that operands are available: in one block by number, across blocks by the dominator tree, across regions
//! through the ancestor.
//!
//! 1. The check climbs from the user to its ancestor in the region that defines the value. If it leaves an operation
//!    that is isolated from above on the way, the use is a fault.
//! 2. In the same block, the definition's number must be smaller than the ancestor's. Numbers are given parents first,
//!    so an operation's own results are not available inside it. They make this check O(1).
//! 3. In another block of the region, the defining block must dominate the ancestor's. Unreachable blocks may use
//!    anything of their region.

use super::Verifier;
use crate::diag::codes::verify as codes;
use crate::ir::core::entity::Entity;
use crate::ir::core::{Op, Value, ValueDef};
use crate::ir::dialects::spec::Traits;

impl Verifier<'_> {
    pub(super) fn check_operands_dominate(&mut self, op: Op) {
        for (index, &value) in self.ir.operands(op).iter().enumerate() {
            if let Err(why) = self.available(value, op) {
                self.fault(&codes::NOT_AVAILABLE, op, &format!("operand #{index} {why}"));
            }
        }
    }

    fn available(&self, value: Value, user: Op) -> Result<(), String> {
        let ir = self.ir;
        let Some(block) = ir.value_block(value) else {
            return Err("is a result of an operation that is no longer in the module".to_owned());
        };
        let Some(region) = ir.parent_region(block) else {
            return Err("comes from a block that is no longer in the module".to_owned());
        };
        let mut at = user;
        loop {
            let Some(at_block) = ir.parent_block(at) else {
                return Err("is defined in a region that is not around the operation".to_owned());
            };
            if at_block == block {
                return match ir.def(value) {
                    ValueDef::Arg { .. } => Ok(()),
                    ValueDef::Result { op: def, .. } if self.position[def.index()] < self.position[at.index()] => {
                        Ok(())
                    }
                    ValueDef::Result { .. } if !self.dominance.is_reachable(ir, block) => Ok(()),
                    ValueDef::Result { op: def, .. } if def == at => {
                        Err("is a result of the operation itself, or of one around it".to_owned())
                    }
                    ValueDef::Result { op: def, .. } => {
                        Err(format!("is a result of `{}`, which stands after it", ir.op_name(def)))
                    }
                };
            }
            let at_region = ir.parent_region(at_block);
            if at_region == Some(region) {
                let dominates = self.dominance.block_dominates(ir, block, at_block);
                return if dominates {
                    Ok(())
                } else {
                    Err("is defined in a block through which control need not have come".to_owned())
                };
            }
            let Some(around) = at_region.and_then(|r| ir.region_op(r)) else {
                return Err("is defined in a region that is not around the operation".to_owned());
            };
            if ir.spec(around).has(Traits::ISOLATED_FROM_ABOVE) {
                return Err(match ir.region_op(region) {
                    Some(def) if ir.is_ancestor(around, def) => {
                        "is defined in a region that is not around the operation".to_owned()
                    }
                    _ => format!(
                        "is defined outside of `{}`, whose region sees nothing of what is around it",
                        ir.op_name(around)
                    ),
                });
            }
            at = around;
        }
    }
}
