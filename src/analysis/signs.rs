//! Which integers may be below zero, as their program means them.
//!
//! Quotients and remainders round toward zero, so what holds of them for indices from 0 on does not hold below:
//!
//! ```text
//! x        -8 -7 -6 -5 -4 -3 -2 -1   0  1  2  3  4  5  6  7
//! x / 8    -1  0  0  0  0  0  0  0   0  0  0  0  0  0  0  0
//! x % 8     0 -7 -6 -5 -4 -3 -2 -1   0  1  2  3  4  5  6  7
//! ```
//!
//! # Algorithm
//!
//! 1. Loaded values, differences, negative constants and parameters that count nothing may be below zero.
//! 2. A value computed from such ones may be, too, unless its operation says otherwise (`arith.andi` with a mask,
//!    `arith.maxsi` with zero).
//! 3. So may what control flow makes of such values ([`value_edges`]). This is repeated until nothing changes.
//! 4. A value of which the program says otherwise (`tl.assume(x >= 0)`) is not below zero. Nor is a difference that a
//!    comparison around it orders ([`guards`]), or one from what is [positive](Signs::is_positive).
//!
//! # What is taken for granted
//!
//! Sums and products of indices do not wrap: an index that does is out of reach. A parameter [counts](counts) if
//! something ends at it or at a multiple of it, is divided by it or wraps around at it; then it is not below zero. Nor
//! is a value at which a loop ends, since the loop would not run. A divisor is above zero, wherever it comes from:
//! where `min(tiles - first, 8)` is not, the program has no tile. Loops count up, whatever their step is.

mod guards;

use super::flow::value_edges;
use crate::ir::core::hash::Set;
use crate::ir::core::{Attr, AttrData, DenseData, Ir, Op, Type, Use, Value, ValueDef};
use crate::ir::dialects::arith::arith::{Addi, Cmpi, Constant};
use crate::ir::dialects::builtin::llvm::Assume;
use crate::ir::dialects::enums::CmpiPredicate as P;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt::MakeRange;
use crate::ir::dialects::{ArithOp, Classes, OpKind, ScfOp, TtOp, TtgOp};
use crate::ir::rewrite::fold::{const_of, int_of};

/// How many operations in a row are followed to something above zero.
const DEPTH: u32 = 12;

/// The integers of a function that may be below zero.
#[derive(Debug, Default)]
pub struct Signs {
    negative: Set<Value>,
    /// Those of which the program says that they are not, the ends of loops, and divisors.
    assumed: Set<Value>,
    /// Those of which the program says that they are above zero, and divisors.
    assumed_positive: Set<Value>,
    /// Differences that comparisons around them order.
    ordered: Set<Op>,
}

impl Signs {
    /// Analyses one function.
    #[must_use]
    pub fn of(ir: &Ir, func: Op) -> Signs {
        let edges: Vec<_> = value_edges(ir, func).into_iter().filter(|&(_, to)| is_number(ir.ty(to))).collect();
        let all = ir.all_ops(func);
        let ends = all.iter().filter_map(|&op| Some(For::of(ir, op)?.upper(ir)));
        let divisors: Vec<Value> = all.iter().flat_map(|&op| divisors(ir, op)).collect();
        let mut signs = Signs {
            negative: arguments(ir, func, &edges),
            assumed: assumptions(ir, func, 0).into_iter().chain(ends).chain(divisors.iter().copied()).collect(),
            assumed_positive: assumptions(ir, func, 1).into_iter().chain(divisors).collect(),
            ordered: guards::differences(ir, func),
        };
        let ops: Vec<Op> = all.iter().copied().filter(|&op| computes(ir, op)).collect();
        loop {
            let before = signs.negative.len();
            for &op in &ops {
                if let Some(looped) = For::of(ir, op) {
                    let starts = signs.may_be_negative(looped.lower(ir));
                    signs.negative.extend(ir.body(op, 0).filter(|_| starts).map(|body| ir.args(body)[0]));
                } else if signs.makes_negative(ir, op) {
                    signs.negative.extend(ir.results(op));
                }
            }
            for &(from, to) in &edges {
                if signs.may_be_negative(from) {
                    signs.negative.insert(to);
                }
            }
            if signs.negative.len() == before {
                return signs;
            }
        }
    }

    /// Whether some element of an integer may be below zero.
    #[must_use]
    pub fn may_be_negative(&self, value: Value) -> bool {
        self.negative.contains(&value) && !self.assumed.contains(&value)
    }

    /// Whether a scalar is above zero, by what is known so far of others' signs and by `depth` operations in a row.
    fn is_positive(&self, ir: &Ir, value: Value, depth: u32) -> bool {
        if int_of(ir, value).is_some_and(|n| n > 0) || self.assumed_positive.contains(&value) {
            return true;
        }
        let Some(op) = ir.def_op(value).filter(|_| depth > 0) else { return false };
        let operands = ir.operands(op);
        let positive = |index: usize| self.is_positive(ir, operands[index], depth - 1);
        match ir.kind(op) {
            OpKind::Tt(TtOp::GetNumPrograms) => true,
            OpKind::Arith(ArithOp::Extsi) => positive(0),
            OpKind::Arith(ArithOp::Muli | ArithOp::Minsi) => positive(0) && positive(1),
            OpKind::Arith(ArithOp::Maxsi) => positive(0) || positive(1),
            OpKind::Arith(ArithOp::Select) => positive(1) && positive(2),
            OpKind::Arith(ArithOp::Addi) => {
                let nonnegative = |index: usize| !self.may_be_negative(operands[index]);
                positive(0) && nonnegative(1) || positive(1) && nonnegative(0)
            }
            OpKind::Arith(ArithOp::Ceildivsi) => positive(0) && positive(1),
            OpKind::Arith(ArithOp::Divsi) => {
                // `(x + (n - 1)) / n`
                let sum = Addi::defining(ir, operands[0]).filter(|sum| self.is_positive(ir, sum.lhs(ir), depth - 1));
                let added = sum.and_then(|sum| int_of(ir, sum.rhs(ir))?.checked_add(1));
                added.is_some() && added == int_of(ir, operands[1])
            }
            _ => false,
        }
    }

    fn makes_negative(&self, ir: &Ir, op: Op) -> bool {
        let operands = ir.operands(op);
        let negative = |index: usize| operands.get(index).is_some_and(|&v| self.may_be_negative(v));
        let any = || operands.iter().any(|&v| self.may_be_negative(v));
        if self.ordered.contains(&op) {
            return false;
        }
        match ir.kind(op) {
            OpKind::Arith(kind) => match kind {
                ArithOp::Constant => Constant(op).value(ir).is_none_or(|value| !is_at_least_zero(value)),
                ArithOp::Extui | ArithOp::Cmpi => false,
                ArithOp::Addi if int_of(ir, operands[1]) == Some(-1) => !self.is_positive(ir, operands[0], DEPTH),
                // A truth is -1 with a sign.
                ArithOp::Extsi => negative(0) || ir.ty(operands[0]).elem().bit_width() == Some(1),
                ArithOp::Addi | ArithOp::Muli | ArithOp::Minsi | ArithOp::Ori | ArithOp::Xori | ArithOp::IndexCast => {
                    any()
                }
                ArithOp::Divsi | ArithOp::Ceildivsi => negative(0) || is_negative_constant(ir, operands[1]),
                ArithOp::Trunci
                | ArithOp::Divui
                | ArithOp::Remsi
                | ArithOp::Remui
                | ArithOp::Shli
                | ArithOp::Shrsi
                | ArithOp::Shrui => negative(0),
                ArithOp::Maxsi | ArithOp::Andi => operands.iter().all(|&v| self.may_be_negative(v)),
                ArithOp::Select => negative(1) || negative(2),
                ArithOp::Subi if int_of(ir, operands[1]) == Some(1) => !self.is_positive(ir, operands[0], DEPTH),
                ArithOp::Subi => !is_rest(ir, op) || negative(0),
                _ => true,
            },
            OpKind::Tt(kind) => match kind {
                TtOp::GetProgramId | TtOp::GetNumPrograms => false,
                TtOp::MakeRange => MakeRange(op).start(ir).is_none_or(|start| start < 0),
                TtOp::Splat
                | TtOp::Broadcast
                | TtOp::ExpandDims
                | TtOp::Reshape
                | TtOp::Trans
                | TtOp::Join
                | TtOp::Split
                | TtOp::Cat => any(),
                _ => true,
            },
            OpKind::Ttg(TtgOp::ConvertLayout) => any(),
            _ => true,
        }
    }
}

fn is_number(ty: Type) -> bool {
    ty.elem().is_int()
}

/// Whether an operation makes numbers by itself; what others hand on is an edge.
fn computes(ir: &Ir, op: Op) -> bool {
    let hands_on = ir.kind(op).belongs(Classes::CONTROL_FLOW) && !ir.is(op, ScfOp::For);
    !hands_on && (ir.is(op, ScfOp::For) || ir.results(op).iter().any(|&v| is_number(ir.ty(v))))
}

/// The block arguments of which nothing is known: parameters that count nothing, and arguments of regions that are no
/// control flow.
fn arguments(ir: &Ir, func: Op, edges: &[(Value, Value)]) -> Set<Value> {
    let handed_on: Set<Value> = edges.iter().map(|e| e.1).collect();
    let ops = std::iter::once(func).chain(ir.all_ops(func));
    let args = ops.flat_map(|op| ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.args(b)));
    let unknown = args.copied().filter(|&arg| {
        let ValueDef::Arg { block, index } = ir.def(arg) else { return false };
        let counter = index == 0 && ir.block_op(block).is_some_and(|op| ir.is(op, ScfOp::For));
        is_number(ir.ty(arg)) && !handed_on.contains(&arg) && !counter && !counts(ir, arg)
    });
    unknown.collect()
}

/// The values that the function assumes to be from `least` on, wherever it goes.
fn assumptions(ir: &Ir, func: Op, least: i64) -> Set<Value> {
    let Some(body) = ir.body(func, 0) else { return Set::default() };
    let assumed = ir.ops(body).filter_map(|op| {
        let comparison = Cmpi::defining(ir, Assume::of(ir, op)?.cond(ir))?;
        let (x, y) = (comparison.lhs(ir), comparison.rhs(ir));
        match comparison.predicate(ir)? {
            P::Sge if int_of(ir, y)? >= least => Some(x),
            P::Sgt if int_of(ir, y)? >= least - 1 => Some(x),
            P::Sle if int_of(ir, x)? >= least => Some(y),
            P::Slt if int_of(ir, x)? >= least - 1 => Some(y),
            _ => None,
        }
    });
    assumed.collect()
}

/// What an operation divides by, and what that was before it was extended or became a tensor.
fn divisors(ir: &Ir, op: Op) -> impl Iterator<Item = Value> {
    let is_division = ir.is(op, ArithOp::Divsi) || ir.is(op, ArithOp::Remsi);
    let by = is_division.then(|| ir.operand(op, 1)).filter(|&v| const_of(ir, v).is_none());
    std::iter::successors(by, |&v| {
        let widens = |op: &Op| ir.is(*op, TtOp::Splat) || ir.is(*op, ArithOp::Extsi);
        ir.def_op(v).filter(widens).map(|op| ir.operand(op, 0))
    })
}

fn is_negative_constant(ir: &Ir, value: Value) -> bool {
    const_of(ir, value).is_some_and(|value| !is_at_least_zero(value))
}

fn is_at_least_zero(value: Attr) -> bool {
    match value.data() {
        AttrData::Int(v, _) => *v >= 0,
        AttrData::Dense(_, DenseData::Splat(bits)) => *bits as i64 >= 0,
        AttrData::Dense(_, DenseData::Elements(all)) => all.iter().all(|&bits| bits as i64 >= 0),
        _ => false,
    }
}

/// `x - x % n` and `x - x / n · n`: what a division leaves of x.
fn is_rest(ir: &Ir, difference: Op) -> bool {
    let &[x, y] = ir.operands(difference) else { return false };
    let divides_x = |v: Value, kind: ArithOp| ir.def_op(v).filter(|&op| ir.is(op, kind) && ir.operand(op, 0) == x);
    let times = |v: Value| {
        let product = ir.def_op(v).filter(|&op| ir.is(op, ArithOp::Muli))?;
        let &[a, b] = ir.operands(product) else { return None };
        let of = |quotient: Value, by: Value| {
            divides_x(quotient, ArithOp::Divsi).filter(|&division| ir.operand(division, 1) == by)
        };
        of(a, b).or_else(|| of(b, a))
    };
    divides_x(y, ArithOp::Remsi).is_some() || times(y).is_some()
}

/// Whether a parameter of a kernel counts elements or programs: loops end at it or at a multiple of it, indices are
/// compared with such a number, something is divided by it or wraps around at it. Then it is taken not to be below
/// zero.
#[must_use]
pub fn counts(ir: &Ir, value: Value) -> bool {
    let ValueDef::Arg { block, .. } = ir.def(value) else { return false };
    let is_parameter = ir.block_op(block).is_some_and(|op| ir.kind(op).is_function());
    let mut seen = Set::default();
    let mut todo = vec![value];
    while let Some(v) = todo.pop().filter(|_| is_parameter) {
        if !seen.insert(v) {
            continue;
        }
        for u in ir.uses(v) {
            if ends(ir, u) || divides(ir, u) {
                return true;
            }
            todo.extend(multiple(ir, u));
        }
    }
    false
}

/// What a use makes of a number that is below zero only if the number is: an extension, a product with something that
/// is no negative constant, a sum with a positive constant, a quotient by one.
fn multiple(ir: &Ir, u: &Use) -> Option<Value> {
    let other = || ir.operands(u.op).get(1 - u.index as usize).copied();
    let follows = match ir.kind(u.op) {
        OpKind::Tt(TtOp::Splat) | OpKind::Arith(ArithOp::Extsi) => true,
        OpKind::Arith(ArithOp::Muli) => other().is_some_and(|v| !is_negative_constant(ir, v)),
        OpKind::Arith(ArithOp::Addi) => other().and_then(|v| int_of(ir, v)).is_some_and(|n| n >= 0),
        OpKind::Arith(ArithOp::Divsi) => u.index == 0 && int_of(ir, ir.operand(u.op, 1)).is_some_and(|n| n > 0),
        _ => false,
    };
    follows.then(|| ir.result(u.op))
}

/// Whether a loop or indices end at what is used.
fn ends(ir: &Ir, u: &Use) -> bool {
    if let Some(comparison) = Cmpi::of(ir, u.op) {
        return match comparison.predicate(ir) {
            Some(P::Slt | P::Sge) => u.index == 1,
            Some(P::Sgt | P::Sle) => u.index == 0,
            _ => false,
        };
    }
    For::of(ir, u.op).is_some() && u.index == 1
}

fn divides(ir: &Ir, u: &Use) -> bool {
    u.index == 1 && (ir.is(u.op, ArithOp::Divsi) || ir.is(u.op, ArithOp::Remsi))
}
