//! Rules of single operations beyond what their tables state: hooks that the tables name, one file a dialect.
//!
//! A hook runs after the table's own rules hold: counts, constraints, required attributes and traits. It returns the fault as a message
//! without the operation's name: what is expected, then what was found.

pub mod arith;
pub mod scf;
pub mod tt;
pub mod ttg;

use super::spec::VerifyResult;
use crate::ir::core::{Ir, Op, Type, Value};

/// Fails with a message unless the rule holds.
pub(crate) fn rule(holds: bool, message: impl FnOnce() -> String) -> VerifyResult {
    if holds { Ok(()) } else { Err(message()) }
}

/// `i32, f32`
pub(crate) fn type_names(types: &[Type]) -> String {
    if types.is_empty() {
        return "none".to_owned();
    }
    types.iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(", ")
}

pub(crate) fn types_of(ir: &Ir, values: &[Value]) -> Vec<Type> {
    values.iter().map(|&v| ir.ty(v)).collect()
}

/// Whether two lists of types agree; says which lists they are.
pub(crate) fn same_types(found: &[Type], what: &str, expected: &[Type], source: &str) -> VerifyResult {
    rule(found == expected, || format!("{what} must be those of {source}: expected {}, found {}", type_names(expected), type_names(found)))
}

/// The type of operand `index`.
pub(crate) fn operand_type(ir: &Ir, op: Op, index: usize) -> Type {
    ir.ty(ir.operand(op, index))
}

/// The type of the first result.
pub(crate) fn result_type(ir: &Ir, op: Op) -> Type {
    ir.ty(ir.result(op))
}

/// The terminator of the only block of region `index`, if it has one.
pub(crate) fn terminator(ir: &Ir, op: Op, index: usize) -> Option<Op> {
    let &region = ir.regions_of(op).get(index)?;
    ir.blocks_of(region).last().and_then(|&b| ir.last_op(b))
}
