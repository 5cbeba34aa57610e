//! Every value is defined where it is used: before it in the same block, in a block that dominates, or around, and not across the border of an
//! operation that is isolated from what is around it.

use crate::ir::core::entity::Entity;
use crate::ir::core::{Dominance, Ir, Op, Value, ValueDef};
use crate::ir::dialects::Traits;

/// Positions of operations in their blocks, and dominance between blocks.
pub(super) struct Order {
    /// By operation.
    position: Vec<u32>,
    dominance: Dominance,
}

impl Order {
    pub(super) fn new(ir: &Ir) -> Order {
        let mut position = vec![0; ir.op_capacity()];
        number(ir, ir.module(), &mut position);
        Order { position, dominance: Dominance::new() }
    }

    /// Checks the operands of one operation.
    pub(super) fn check(&self, ir: &Ir, op: Op) -> Result<(), String> {
        ir.operands(op).iter().enumerate().try_for_each(|(i, &value)| self.visible(ir, op, value).map_err(|m| format!("operand {i} {m}")))
    }

    fn visible(&self, ir: &Ir, op: Op, value: Value) -> Result<(), String> {
        let not_there = || "is no value of this module".to_owned();
        let def_block = ir.value_block(value).ok_or_else(not_there)?;
        let def_region = ir.parent_region(def_block).ok_or_else(not_there)?;
        let mut at = op;
        let block = loop {
            let out_of_reach = || "is defined in a region that does not hold this operation".to_owned();
            let block = ir.parent_block(at).ok_or_else(out_of_reach)?;
            let region = ir.parent_region(block).ok_or_else(out_of_reach)?;
            if region == def_region {
                break block;
            }
            at = ir.region_op(region).ok_or_else(out_of_reach)?;
            if ir.kind(at).has(Traits::ISOLATED_FROM_ABOVE) {
                return Err(format!("is defined outside of `{}`, which sees nothing of its surroundings", ir.op_name(at)));
            }
        };
        let dominated = match ir.def(value) {
            ValueDef::Result { op: def, .. } if def_block == block => self.position[def.index()] < self.position[at.index()],
            _ => def_block == block || self.dominance.block_dominates(ir, def_block, block),
        };
        if dominated { Ok(()) } else { Err("is used before it is defined on some path".to_owned()) }
    }
}

/// Numbers the operations of each block nested in `op`.
fn number(ir: &Ir, op: Op, position: &mut [u32]) {
    for &region in ir.regions_of(op) {
        for &block in ir.blocks_of(region) {
            for (i, inner) in ir.ops(block).enumerate() {
                position[inner.index()] = i as u32;
                number(ir, inner, position);
            }
        }
    }
}
