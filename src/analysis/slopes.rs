//! How scalars of a kernel change from one program to the next along an axis of the grid.
//!
//! 1. The number of the program rises along its own axis. Parameters, constants and the size of the grid are level.
//! 2. Sums, products with a constant, quotients by a positive constant, minima and maxima follow from their operands.
//! 3. Whatever else is computed without effects from level values is level. Anything that comes from memory, from a
//!    loop or from a branch is not known.
//!
//! Example: `min((pid + 1) * 128, n)` rises along the axis of `pid`, `tiles - pid` falls.

use std::collections::BTreeMap;

use crate::ir::core::{Attr, Ir, Op, Value, ValueDef};
use crate::ir::dialects::enums::ProgramDim;
use crate::ir::dialects::tt::tt::GetProgramId;
use crate::ir::dialects::{ArithOp, Effects, OpKind, TtOp};
use crate::ir::rewrite::fold::const_of;

/// What a value does where the number of the program is one more; steps may be zero, but are never in the other
/// direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slope {
    Level,
    Rising,
    Falling,
}

impl Slope {
    fn turned(self) -> Slope {
        match self {
            Slope::Level => Slope::Level,
            Slope::Rising => Slope::Falling,
            Slope::Falling => Slope::Rising,
        }
    }

    /// The slope of a sum.
    fn and(self, other: Slope) -> Option<Slope> {
        match (self, other) {
            (Slope::Level, slope) | (slope, Slope::Level) => Some(slope),
            (a, b) => (a == b).then_some(a),
        }
    }
}

/// Slopes along one axis of the grid, found on demand. `None` is what is not known.
pub struct Slopes<'a> {
    ir: &'a Ir,
    axis: ProgramDim,
    known: BTreeMap<Value, Option<Slope>>,
}

impl<'a> Slopes<'a> {
    #[must_use]
    pub fn new(ir: &'a Ir, axis: ProgramDim) -> Slopes<'a> {
        Slopes { ir, axis, known: BTreeMap::new() }
    }

    /// The slope of a scalar integer.
    pub fn of(&mut self, value: Value) -> Option<Slope> {
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        let found = self.find(value);
        self.known.insert(value, found);
        found
    }

    /// The slope of `a - b`.
    pub fn of_difference(&mut self, a: Value, b: Value) -> Option<Slope> {
        self.of(a)?.and(self.of(b)?.turned())
    }

    fn find(&mut self, value: Value) -> Option<Slope> {
        let ir = self.ir;
        match ir.def(value) {
            ValueDef::Arg { block, .. } => {
                let owner = ir.block_op(block)?;
                ir.kind(owner).is_function().then_some(Slope::Level)
            }
            ValueDef::Result { op, .. } => self.result(op),
        }
    }

    /// Steps 1 to 3.
    fn result(&mut self, op: Op) -> Option<Slope> {
        let ir = self.ir;
        match ir.kind(op) {
            OpKind::Tt(TtOp::GetProgramId) => {
                let along = GetProgramId(op).axis(ir) == Some(self.axis);
                return Some(if along { Slope::Rising } else { Slope::Level });
            }
            OpKind::Tt(TtOp::GetNumPrograms) => return Some(Slope::Level),
            OpKind::Arith(kind) => {
                if let Some(slope) = self.arithmetic(op, kind) {
                    return Some(slope);
                }
            }
            _ => {}
        }
        let plain = ir.spec(op).effects == Effects::Pure && ir.regions_of(op).is_empty() && !ir.is(op, TtOp::Call);
        let level = plain && ir.operands(op).iter().all(|&v| self.of(v) == Some(Slope::Level));
        level.then_some(Slope::Level)
    }

    /// Step 2.
    fn arithmetic(&mut self, op: Op, kind: ArithOp) -> Option<Slope> {
        let ir = self.ir;
        let operands = ir.operands(op);
        let constant = |v: Value| const_of(ir, v).and_then(Attr::int_value);
        match kind {
            ArithOp::Addi | ArithOp::Minsi | ArithOp::Maxsi => self.of(operands[0])?.and(self.of(operands[1])?),
            ArithOp::Subi => self.of_difference(operands[0], operands[1]),
            ArithOp::Extsi => self.of(operands[0]),
            ArithOp::Muli => {
                let (of, by) = match (constant(operands[0]), constant(operands[1])) {
                    (_, Some(by)) => (operands[0], by),
                    (Some(by), None) => (operands[1], by),
                    (None, None) => return None,
                };
                let slope = self.of(of)?;
                Some(if by < 0 { slope.turned() } else { slope })
            }
            ArithOp::Divsi => constant(operands[1]).filter(|&by| by > 0).and_then(|_| self.of(operands[0])),
            _ => None,
        }
    }
}
