//! Compares use lists with operands. Each operand of the module must be registered as a use of its value exactly once,
//! and nothing else may be.
//!
//! A fault here is a defect of a pass or of the IR's primitives, never of the user's text. Every operand gets a slot,
//! and each use marks its slot. A use is stale if its slot does not hold the value or is marked already. An operand
//! whose slot stays unmarked is unregistered.

use super::{Verifier, at};
use crate::diag::Diagnostic;
use crate::diag::codes::verify as codes;
use crate::ir::core::entity::Entity;
use crate::ir::core::{Ir, Op, Value};

impl Verifier<'_> {
    pub(super) fn check_uses(&mut self) {
        let ir = self.ir;
        let ops = ir.all_ops(ir.module());
        let mut start = vec![usize::MAX; ir.op_capacity()];
        let mut total = 0;
        for &op in &ops {
            start[op.index()] = total;
            total += ir.operands(op).len();
        }
        let mut marked = vec![false; total];
        for value in ops.iter().flat_map(|&op| defined(ir, op)) {
            for u in ir.uses(value) {
                let index = u.index as usize;
                let first = start[u.op.index()];
                let stale = first == usize::MAX || ir.operands(u.op).get(index) != Some(&value);
                if stale || std::mem::replace(&mut marked[first + index], true) {
                    self.inconsistent(value_op(ir, value), "a use of its value is recorded that does not exist");
                }
            }
        }
        for &op in &ops {
            for index in 0..ir.operands(op).len() {
                if !marked[start[op.index()] + index] && ir.value_block(ir.operand(op, index)).is_some() {
                    self.inconsistent(
                        Some(op),
                        &format!("operand #{index} is not recorded among the uses of its value"),
                    );
                }
            }
        }
    }

    fn inconsistent(&mut self, op: Option<Op>, message: &str) {
        let op = op.unwrap_or_else(|| self.ir.module());
        let text = format!("`{}`: {message}; this is a defect of the compiler", self.ir.op_name(op));
        self.faults.push(at(Diagnostic::error(&codes::INCONSISTENT, text), self.ir.loc(op)));
    }
}

/// The values that an operation defines: its results and the arguments of its blocks.
fn defined(ir: &Ir, op: Op) -> impl Iterator<Item = Value> + '_ {
    let blocks = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r));
    ir.results(op).iter().chain(blocks.flat_map(|&b| ir.args(b))).copied()
}

fn value_op(ir: &Ir, value: Value) -> Option<Op> {
    ir.def_op(value).or_else(|| ir.value_block(value).and_then(|b| ir.block_op(b)))
}
