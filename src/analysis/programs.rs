//! How many programs a launch has, where the kernel itself says so.
//!
//! A persistent kernel shares its tiles among a fixed number of programs: program `p` does the tiles `p`, `p + n`,
//! `p + 2n` and so on. Where `n` is a constant, the launch has `n` programs: with fewer some tiles would be left out,
//! with more some would be done twice.
//!
//! # Algorithm
//!
//! 1. A kernel that asks for other axes of the grid than the first, or for the number of programs, says nothing.
//! 2. A loop that starts at the number of the program says its step.
//! 3. A constant that is added to a scalar is such a step too, if the scalar can be the number of the program, as it is
//!    or moved by the constant, and can be the sum itself. What a scalar can be is found by going back through casts,
//!    selects, what loops carry and what branches yield.
//!
//! A step of 1 says nothing: such loops follow the tiles of others.

use crate::ir::core::hash::Set;
use crate::ir::core::{Attr, Ir, Op, Value, ValueDef};
use crate::ir::dialects::enums::ProgramDim;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt::GetProgramId;
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, TtOp};
use crate::ir::rewrite::fold::const_of;

/// The most values that are looked at for a step. Numbers of tiles come from few.
const MOST: usize = 64;

/// The number of programs that a launch of this kernel has, if its loops say it.
#[must_use]
pub fn programs(ir: &Ir, kernel: Op) -> Option<u32> {
    let ops = ir.all_ops(kernel);
    let says_nothing = |&op: &Op| match ir.kind(op) {
        OpKind::Tt(TtOp::GetNumPrograms) => true,
        OpKind::Tt(TtOp::GetProgramId) => GetProgramId(op).axis(ir) != Some(ProgramDim::X),
        _ => false,
    };
    if ops.iter().any(says_nothing) {
        return None;
    }
    let stated = |op: Op| match ir.kind(op) {
        OpKind::Scf(ScfOp::For) => {
            let n = integer(ir, For(op).step(ir))?;
            possible(ir, For(op).lower(ir), n).is_program.then_some(n)
        }
        OpKind::Arith(ArithOp::Addi) => {
            let [from, by] = *ir.operands(op) else { return None };
            let (n, sum) = (integer(ir, by)?, ir.result(op));
            let found = possible(ir, from, n);
            (found.is_program && found.values.contains(&sum)).then_some(n)
        }
        _ => None,
    };
    ops.into_iter().find_map(|op| stated(op).filter(|&n| n > 1)).and_then(|n| u32::try_from(n).ok())
}

/// What a scalar can be.
struct Possible {
    values: Set<Value>,
    /// Whether it can be the number of the program.
    is_program: bool,
}

/// What a scalar can be, or be moved from by `n`.
fn possible(ir: &Ir, value: Value, n: i64) -> Possible {
    let mut found = Possible { values: Set::default(), is_program: false };
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if found.values.len() == MOST || ir.ty(value).is_tensor() || !found.values.insert(value) {
            continue;
        }
        match ir.def(value) {
            ValueDef::Arg { block, index } => {
                let Some(owner) = ir.block_op(block).filter(|&op| ir.kind(op) == OpKind::Scf(ScfOp::For)) else {
                    continue;
                };
                let Some(carried) = (index as usize).checked_sub(1) else { continue };
                open.extend(For(owner).init(ir).get(carried));
                open.extend(yielded(ir, owner, carried));
            }
            ValueDef::Result { op, index } => match (ir.kind(op), ir.operands(op)) {
                (OpKind::Tt(TtOp::GetProgramId), _) => found.is_program = true,
                (OpKind::Scf(ScfOp::If), _) => open.extend(yielded(ir, op, index as usize)),
                (OpKind::Arith(ArithOp::Extsi | ArithOp::Extui | ArithOp::Trunci), &[from]) => open.push(from),
                (OpKind::Arith(ArithOp::Select), &[_, yes, no]) => open.extend([yes, no]),
                (OpKind::Arith(ArithOp::Addi | ArithOp::Subi), &[from, by])
                    if integer(ir, by).is_some_and(|by| by.abs() == n) =>
                {
                    open.push(from);
                }
                _ => {}
            },
        }
    }
    found
}

/// What the regions of an operation yield for a result.
fn yielded(ir: &Ir, op: Op, result: usize) -> Vec<Value> {
    let ends = (0..ir.regions_of(op).len()).filter_map(|region| ir.terminator(ir.body(op, region)?));
    ends.filter_map(|end| ir.operands(end).get(result).copied()).collect()
}

fn integer(ir: &Ir, value: Value) -> Option<i64> {
    const_of(ir, value).and_then(Attr::int_value)
}
