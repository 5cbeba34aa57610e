//! Rules of single operations, beyond what the tables state: one function an operation, named in its entry as `verify:
//! Some(…)`.
//!
//! A rule runs only when the operation has the operands, results, attributes, regions and terminators of its entry,
//! with types that satisfy the constraints and traits, of tensors whose sizes are powers of two. It returns the first
//! fault as a message without the operation's name, and must not panic on anything that such an operation can hold:
//! regions may be empty, their blocks may have any arguments.

pub mod amdg;
pub mod arith;
pub mod cf;
pub mod packed;
pub mod scf;
pub mod tt;
pub mod tt_memory;
pub mod tt_shape;
pub mod ttg;
pub mod ttng;
pub mod ttng_mma;
pub mod ttng_tma;

use crate::ir::core::{Attr, Block, Ir, MemDesc, Op, Type, Value};
use crate::ir::dialects::discardable::NUM_WARPS;
use crate::ir::dialects::spec::VerifyResult;
use crate::ir::dialects::ttg::ttg::WarpSpecialize;
use crate::ir::dialects::type_rules::is_like;
use crate::ir::dialects::{OpKind, TtgOp};

/// `ensure!(condition, "message {x}")` leaves the rule with the message when the condition does not hold.
macro_rules! ensure {
    ($cond:expr, $($message:tt)+) => {
        if !$cond {
            return Err(format!($($message)+));
        }
    };
}
use ensure;

fn operand_ty(ir: &Ir, op: Op, index: usize) -> Type {
    ir.ty(ir.operand(op, index))
}

fn result_ty(ir: &Ir, op: Op) -> Type {
    ir.ty(ir.result(op))
}

/// Number of elements if it fits in 63 bits.
fn count(shape: &[i64]) -> Option<i64> {
    shape.iter().try_fold(1i64, |n, &s| n.checked_mul(s))
}

/// Whether two lists of values have the same types, as a rule about `what`.
fn same_types(ir: &Ir, what: &str, found: &[Value], expected: &[Value]) -> VerifyResult {
    ensure!(found.len() == expected.len(), "it has {} {what}, expected {}", found.len(), expected.len());
    for (at, (&f, &e)) in found.iter().zip(expected).enumerate() {
        let (f, e) = (ir.ty(f), ir.ty(e));
        ensure!(f == e, "number {at} of the {what} has type {f}, expected {e}");
    }
    Ok(())
}

/// Whether values have these types, as a rule about `what`.
fn types_are(ir: &Ir, what: &str, found: &[Value], expected: impl ExactSizeIterator<Item = Type>) -> VerifyResult {
    ensure!(found.len() == expected.len(), "it has {} {what}, expected {}", found.len(), expected.len());
    for (at, (&f, e)) in found.iter().zip(expected).enumerate() {
        let f = ir.ty(f);
        ensure!(f == e, "number {at} of the {what} has type {f}, expected {e}");
    }
    Ok(())
}

/// The only block of a region that must have one.
fn body(ir: &Ir, op: Op, index: usize, name: &str) -> Result<Block, String> {
    ir.body(op, index).ok_or_else(|| format!("region `{name}` is empty"))
}

/// The operands of the operation that ends a block, which must be of this kind.
fn ending(ir: &Ir, block: Block, kind: impl Into<OpKind>) -> Result<&[Value], String> {
    let kind = kind.into();
    let last = ir.last_op(block).ok_or_else(|| format!("a block is empty, expected `{}` at its end", kind.name()))?;
    ensure!(ir.kind(last) == kind, "a region ends in `{}`, expected `{}`", ir.op_name(last), kind.name());
    Ok(ir.operands(last))
}

/// Whether the operation stands directly in one of these.
fn inside(ir: &Ir, op: Op, parents: &[OpKind]) -> VerifyResult {
    let parent = ir.parent_op(op).map(|p| ir.kind(p));
    ensure!(
        parent.is_some_and(|p| parents.contains(&p)),
        "it stands in `{}`, expected {}",
        parent.map_or("nothing", OpKind::name),
        {
            let names: Vec<String> = parents.iter().map(|p| format!("`{}`", p.name())).collect();
            names.join(" or ")
        }
    );
    Ok(())
}

fn memdesc(ty: Type) -> Option<&'static MemDesc> {
    ty.as_memdesc()
}

/// Whether an operation of this kind is somewhere around `op`.
fn encloses(ir: &Ir, op: Op, kind: impl Into<OpKind>) -> bool {
    let kind = kind.into();
    std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o)).any(|o| ir.kind(o) == kind)
}

/// The nearest integer attribute of this name around `op`.
fn context_int(ir: &Ir, op: Op, name: &str) -> Option<i64> {
    std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o))
        .find_map(|o| ir.stored_attr(o, name).and_then(Attr::as_int))
}

/// Blocks of a cluster; 1 where nothing says.
#[must_use]
pub fn context_ctas(ir: &Ir, op: Op) -> i64 {
    context_int(ir, op, "ttg.num-ctas").unwrap_or(1)
}

/// Warps that run `op`: those of its partition, or of the kernel.
fn context_warps(ir: &Ir, op: Op) -> Option<i64> {
    let mut here = op;
    while let Some(parent) = ir.parent_op(here) {
        if ir.is(parent, TtgOp::WarpSpecializePartitions) {
            let region = ir.parent_block(here).and_then(|b| ir.parent_region(b));
            let at = ir.regions_of(parent).iter().position(|&r| Some(r) == region)?;
            let counts = WarpSpecialize::of(ir, ir.parent_op(parent)?)?.partitionNumWarps(ir)?;
            return counts.get(at).copied();
        }
        if let Some(warps) = ir.get(parent, NUM_WARPS) {
            return Some(warps);
        }
        here = parent;
    }
    None
}

/// Elements of one type on both sides.
fn elements_agree(a: (&str, Type), b: (&str, Type)) -> VerifyResult {
    ensure!(
        a.1.elem() == b.1.elem(),
        "the {} has elements of type {}, and the {} has {}",
        a.0,
        a.1.elem(),
        b.0,
        b.1.elem()
    );
    Ok(())
}

/// Elements of one type in one shape on both sides.
fn same_contents(a: (&str, Type), b: (&str, Type)) -> VerifyResult {
    elements_agree(a, b)?;
    ensure!(
        a.1.shape() == b.1.shape(),
        "the {} has shape {:?}, and the {} has {:?}",
        a.0,
        a.1.shape(),
        b.0,
        b.1.shape()
    );
    Ok(())
}
