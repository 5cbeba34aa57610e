//! Between which numbers an integer lies, or each element of a tensor of integers.
//!
//! AMD's buffer instructions add 32-bit offsets without a sign to an address; whoever makes them asks here whether an
//! offset is such a one. Comparisons whose answer the ranges know are folded by them too.
//!
//! # Algorithm
//!
//! 1. Parameters, loads and whatever has no rule may be any number of their width. A program's number is not negative
//!    and less than what the device launches along its axis, and a `tt.make_range` says its bounds.
//! 2. Walk in order. An operation's range follows from those of its operands; where the result might not fit into its
//!    width, it may be any number.
//! 3. `tl.assume` of a comparison with a constant narrows its operand wherever the assumption has been made: in its own
//!    block and in those inside.
//! 4. What a loop carries is joined over its iterations if loops and those around them have at most [`MOST_TRIPS`]
//!    together; otherwise it may be any number. The induction variable lies between the bounds.
//! 5. Results of `scf.if` are joined from both branches.
//!
//! ```text
//! %r = tt.make_range {start = 0, end = 64}        0 to 63
//! %s = arith.muli %r, %c8                         0 to 504
//! %o = arith.addi %s, %n                          any: %n is a parameter
//! ```

use crate::ir::core::attrs::{sign_extend, zero_extend};
use crate::ir::core::hash::Map;
use crate::ir::core::{Attr, AttrData, Block, DenseData, Ir, Op, Type, Value};
use crate::ir::dialects::arith::arith::Cmpi;
use crate::ir::dialects::builtin::llvm::Assume;
use crate::ir::dialects::discardable::TARGET;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::{For, If};
use crate::ir::dialects::tt::tt::{GetNumPrograms, GetProgramId, MakeRange};
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, TtOp, TtgOp};
use crate::ir::rewrite::fold::const_of;
use crate::target::Target;

/// The most iterations that are followed one by one, of a loop with all around it.
const MOST_TRIPS: i64 = 1024;

/// The numbers from `min` to `max`, both included, of integers of `width` bits with a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    pub min: i64,
    pub max: i64,
    pub width: u32,
}

impl Range {
    /// Any number of this width.
    #[must_use]
    pub fn any(width: u32) -> Range {
        Range { min: sign_extend(1 << (width - 1), width), max: (zero_extend(-1, width) >> 1) as i64, width }
    }

    fn one(value: i64, width: u32) -> Range {
        let value = sign_extend(value, width);
        Range { min: value, max: value, width }
    }

    /// From `min` to `max` if both fit into the width, and else any number.
    fn fitted(min: i128, max: i128, width: u32) -> Range {
        let any = Range::any(width);
        if min >= i128::from(any.min) && max <= i128::from(any.max) {
            Range { min: min as i64, max: max as i64, width }
        } else {
            any
        }
    }

    fn join(self, other: Range) -> Range {
        Range { min: self.min.min(other.min), max: self.max.max(other.max), ..self }
    }

    /// What is in both; `self` if nothing is, which only code that never runs has.
    fn meet(self, other: Range) -> Range {
        let (min, max) = (self.min.max(other.min), self.max.min(other.max));
        if min <= max { Range { min, max, ..self } } else { self }
    }

    fn constant(self) -> Option<i64> {
        (self.min == self.max).then_some(self.min)
    }

    /// The same numbers without a sign.
    fn unsigned(self) -> (u64, u64) {
        if (self.min < 0) == (self.max < 0) {
            (zero_extend(self.min, self.width), zero_extend(self.max, self.width))
        } else {
            (0, zero_extend(-1, self.width))
        }
    }
}

/// The range of each integer value of a function.
#[derive(Debug, Default)]
pub struct Ranges {
    values: Map<Value, Range>,
    /// Ranges that `tl.assume` states, each with the block in which it is made.
    assumed: Map<Value, Vec<(Block, Range)>>,
    /// The device of the module, if it is said.
    target: Option<Target>,
}

/// The width of a type's integers; pointers, floats and `index` have none here.
fn width_of(ty: Type) -> Option<u32> {
    let elem = ty.elem();
    elem.bit_width().filter(|&width| elem.is_int() && (1..=64).contains(&width))
}

impl Ranges {
    /// The ranges of a function's values.
    #[must_use]
    pub fn of(ir: &Ir, func: Op) -> Ranges {
        let target = ir.get(ir.module(), TARGET).and_then(Target::of_module_word);
        let mut ranges = Ranges { target, ..Ranges::default() };
        ranges.collect_assumptions(ir, func);
        for &block in ir.regions_of(func).iter().flat_map(|&r| ir.blocks_of(r)) {
            ranges.open(ir, ir.args(block));
            ranges.block(ir, block, 1);
        }
        ranges
    }

    /// The range of a value, wherever it is used; `None` if it is no integer.
    #[must_use]
    pub fn get(&self, value: Value) -> Option<Range> {
        self.values.get(&value).copied()
    }

    /// What a comparison answers, if that is known.
    #[must_use]
    pub fn compare(&self, ir: &Ir, op: Op) -> Option<bool> {
        let cmp = Cmpi::of(ir, op)?;
        let (a, b) = (self.at(ir, op, ir.operand(op, 0))?, self.at(ir, op, ir.operand(op, 1))?);
        answer(cmp.predicate(ir)?, a, b)
    }

    /// The range of the operand of `op` with this number, with what is assumed there; `None` if it is no integer.
    #[must_use]
    pub fn operand(&self, ir: &Ir, op: Op, index: usize) -> Option<Range> {
        self.at(ir, op, ir.operand(op, index))
    }

    /// The range of an operand of `op`, with what is assumed there.
    fn at(&self, ir: &Ir, op: Op, value: Value) -> Option<Range> {
        let known = self.get(value)?;
        let Some(assumed) = self.assumed.get(&value) else { return Some(known) };
        let around: Vec<Block> =
            std::iter::successors(ir.parent_block(op), |&b| ir.block_op(b).and_then(|o| ir.parent_block(o))).collect();
        let holding = assumed.iter().filter(|(block, _)| around.contains(block));
        Some(holding.fold(known, |range, &(_, assumed)| range.meet(assumed)))
    }

    fn collect_assumptions(&mut self, ir: &Ir, func: Op) {
        for op in ir.all_ops(func) {
            let Some(cmp) = Assume::of(ir, op).and_then(|a| Cmpi::defining(ir, a.cond(ir))) else { continue };
            let (Some(block), Some(predicate)) = (ir.parent_block(op), cmp.predicate(ir)) else { continue };
            let [a, b] = ir.all_operands(cmp.0);
            for (value, bound, predicate) in [(a, b, predicate), (b, a, predicate.mirrored())] {
                let bound = const_of(ir, bound).and_then(Attr::int_value);
                let width = width_of(ir.ty(value));
                if let (Some(bound), Some(width)) = (bound, width)
                    && let Some(range) = bounded(predicate, bound, width)
                {
                    self.assumed.entry(value).or_default().push((block, range));
                }
            }
        }
    }

    fn set(&mut self, value: Value, range: Range) {
        self.values.insert(value, range);
    }

    /// These may be any numbers.
    fn open(&mut self, ir: &Ir, values: &[Value]) {
        for &value in values {
            if let Some(width) = width_of(ir.ty(value)) {
                self.set(value, Range::any(width));
            }
        }
    }

    /// `trips`: how often the block runs, for all loops around it together.
    fn block(&mut self, ir: &Ir, block: Block, trips: i64) {
        for op in ir.ops(block) {
            self.op(ir, op, trips);
        }
    }

    fn op(&mut self, ir: &Ir, op: Op, trips: i64) {
        if let Some(looped) = For::of(ir, op) {
            return self.looped(ir, looped, trips);
        }
        let bodies: Vec<Block> = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r).to_vec()).collect();
        let unknown_trips = if ir.is(op, ScfOp::While) { MOST_TRIPS + 1 } else { trips };
        for &body in &bodies {
            self.open(ir, ir.args(body));
            self.block(ir, body, unknown_trips);
        }
        self.open(ir, ir.results(op));
        if let Some(branches) = If::of(ir, op) {
            return self.branches(ir, branches, &bodies);
        }
        let &[result] = ir.results(op) else { return };
        let Some(width) = width_of(ir.ty(result)) else { return };
        let operands: Vec<Option<Range>> = ir.operands(op).iter().map(|&v| self.at(ir, op, v)).collect();
        let made = self.programs(ir, op, width).or_else(|| result_of(ir, op, &operands, width));
        let made = made.unwrap_or(Range::any(width));
        let assumed = self.assumed.contains_key(&result);
        self.set(result, made);
        if assumed && let Some(narrower) = self.at(ir, op, result) {
            self.set(result, narrower);
        }
    }

    /// Of numbers of programs.
    fn programs(&self, ir: &Ir, op: Op, width: u32) -> Option<Range> {
        let (axis, is_count) = match ir.kind(op) {
            OpKind::Tt(TtOp::GetProgramId) => (GetProgramId(op).axis(ir)?, false),
            OpKind::Tt(TtOp::GetNumPrograms) => (GetNumPrograms(op).axis(ir)?, true),
            _ => return None,
        };
        let most = self.target.map_or(i64::from(i32::MAX), |target| target.most_programs()[axis as usize]);
        let least = i64::from(is_count);
        Some(Range { min: least, max: most - 1 + least, width }.meet(Range::any(width)))
    }

    fn branches(&mut self, ir: &Ir, op: If, bodies: &[Block]) {
        for (i, &result) in ir.results(op.0).iter().enumerate() {
            let yields = bodies.iter().filter_map(|&b| ir.terminator(b)).map(|end| (end, ir.operands(end).get(i)));
            let joined = yields.map(|(end, v)| self.at(ir, end, *v?)).reduce(|a, b| Some(a?.join(b?))).flatten();
            if let Some(range) = joined {
                self.set(result, range);
            }
        }
    }

    fn looped(&mut self, ir: &Ir, looped: For, trips: i64) {
        let op = looped.0;
        let Some(body) = ir.body(op, 0) else { return self.open(ir, ir.results(op)) };
        let [lower, upper, step] = [looped.lower(ir), looped.upper(ir), looped.step(ir)].map(|v| self.at(ir, op, v));
        let (iv, carried) = ir.args(body).split_first().expect("a loop's body has the induction variable");
        self.open(ir, ir.args(body));
        if let (Some(lower), Some(upper)) = (lower, upper)
            && lower.min < upper.max
        {
            self.set(*iv, Range { min: lower.min, max: upper.max - 1, ..lower });
        }
        let own = match (lower, upper, step) {
            (Some(lower), Some(upper), Some(step)) => {
                let span = i128::from(upper.max) - i128::from(lower.min);
                let step = i128::from(step.min.max(1));
                i64::try_from((span.max(0) + step - 1) / step).unwrap_or(i64::MAX)
            }
            _ => MOST_TRIPS + 1,
        };
        let total = trips.saturating_mul(own);
        let end = ir.terminator(body);
        let yielded = |ranges: &Ranges, i: usize| {
            let end = end?;
            ranges.at(ir, end, *ir.operands(end).get(i)?)
        };
        if total > MOST_TRIPS {
            self.block(ir, body, total);
            return self.open(ir, ir.results(op));
        }
        let starts: Vec<Option<Range>> = looped.init(ir).iter().map(|&v| self.at(ir, op, v)).collect();
        for (&arg, start) in carried.iter().zip(&starts) {
            if let &Some(start) = start {
                self.set(arg, start);
            }
        }
        self.block(ir, body, total);
        for _ in 1..own {
            let mut changed = false;
            for (i, &arg) in carried.iter().enumerate() {
                let (Some(before), Some(next)) = (self.get(arg), yielded(self, i)) else { continue };
                let joined = before.join(next);
                changed |= joined != before;
                self.set(arg, joined);
            }
            if !changed {
                break;
            }
            self.block(ir, body, total);
        }
        for (i, &result) in ir.results(op).iter().enumerate() {
            if let (Some(start), Some(next)) = (starts[i], yielded(self, i)) {
                self.set(result, start.join(next));
            } else {
                self.open(ir, &[result]);
            }
        }
    }
}

/// What a comparison of two ranges answers, if it is the same for all their numbers.
fn answer(predicate: CmpiPredicate, a: Range, b: Range) -> Option<bool> {
    use CmpiPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
    let ((a_least, a_most), (b_least, b_most)) = (a.unsigned(), b.unsigned());
    let below = |surely: bool, never: bool| if surely { Some(true) } else { never.then_some(false) };
    match predicate {
        Eq => below(a.constant().is_some() && a.constant() == b.constant(), a.max < b.min || a.min > b.max),
        Ne => answer(Eq, a, b).map(|equal| !equal),
        Slt => below(a.max < b.min, a.min >= b.max),
        Sle => below(a.max <= b.min, a.min > b.max),
        Ult => below(a_most < b_least, a_least >= b_most),
        Ule => below(a_most <= b_least, a_least > b_most),
        Sgt | Sge | Ugt | Uge => answer(predicate.mirrored(), b, a),
    }
}

/// The numbers that compare so with a constant.
fn bounded(predicate: CmpiPredicate, bound: i64, width: u32) -> Option<Range> {
    use CmpiPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
    let any = Range::any(width);
    let (min, max) = match predicate {
        Eq => (bound, bound),
        Slt => (any.min, bound.checked_sub(1)?),
        Sle => (any.min, bound),
        Sgt => (bound.checked_add(1)?, any.max),
        Sge => (bound, any.max),
        // Below a bound that is not negative without a sign, so not negative with one.
        Ult if bound >= 0 => (0, bound.checked_sub(1)?),
        Ule if bound >= 0 => (0, bound),
        Ne | Ult | Ule | Ugt | Uge => return None,
    };
    (min <= max).then_some(Range { min, max, width })
}

/// The range of an operation's one result, from those of its operands.
fn result_of(ir: &Ir, op: Op, operands: &[Option<Range>], width: u32) -> Option<Range> {
    let operand = |i: usize| operands.get(i).copied().flatten();
    match ir.kind(op) {
        OpKind::Arith(ArithOp::Constant) => constants(const_of(ir, ir.result(op))?, width),
        OpKind::Arith(kind) => arith(ir, op, kind, operands, width),
        OpKind::Tt(TtOp::Histogram) => Some(Range { min: 0, max: Range::any(width).max, width }),
        OpKind::Tt(TtOp::MakeRange) => {
            let range = MakeRange(op);
            Some(Range { min: range.start(ir)?, max: range.end(ir)? - 1, width })
        }
        OpKind::Tt(TtOp::Splat | TtOp::Broadcast | TtOp::ExpandDims | TtOp::Reshape | TtOp::Trans | TtOp::Gather)
        | OpKind::Ttg(TtgOp::ConvertLayout) => operand(0),
        OpKind::Tt(TtOp::Join | TtOp::Cat) => Some(operand(0)?.join(operand(1)?)),
        _ => None,
    }
}

fn constants(attr: Attr, width: u32) -> Option<Range> {
    match attr.data() {
        AttrData::Dense(_, DenseData::Elements(all)) => {
            all.iter().map(|&bits| Range::one(bits as i64, width)).reduce(Range::join)
        }
        _ => attr.int_value().or(attr.splat_value().map(|bits| bits as i64)).map(|value| Range::one(value, width)),
    }
}

fn arith(ir: &Ir, op: Op, kind: ArithOp, operands: &[Option<Range>], width: u32) -> Option<Range> {
    let operand = |i: usize| operands.get(i).copied().flatten();
    let wide = |r: Range| (i128::from(r.min), i128::from(r.max));
    let corners = |f: &dyn Fn(i128, i128) -> i128| {
        let ((a, b), (c, d)) = (wide(operand(0)?), wide(operand(1)?));
        let all = [f(a, c), f(a, d), f(b, c), f(b, d)];
        Some(Range::fitted(*all.iter().min()?, *all.iter().max()?, width))
    };
    match kind {
        ArithOp::Addi => corners(&|a, b| a + b),
        ArithOp::Subi => corners(&|a, b| a - b),
        ArithOp::Muli => corners(&|a, b| a * b),
        ArithOp::Divsi => match operand(1)? {
            divisor if divisor.min > 0 => corners(&|a, b| a / b),
            _ => None,
        },
        ArithOp::Divui => match (operand(0)?.unsigned(), operand(1)?.unsigned()) {
            (a, b) if b.0 > 0 => Some(Range::fitted(i128::from(a.0 / b.1), i128::from(a.1 / b.0), width)),
            _ => None,
        },
        ArithOp::Remui => match (operand(0)?.unsigned(), operand(1)?.unsigned()) {
            (a, b) if b.0 > 0 => Some(Range::fitted(0, i128::from(a.1.min(b.1 - 1)), width)),
            _ => None,
        },
        ArithOp::Remsi => match (operand(0)?, operand(1)?) {
            (a, b) if b.min > 0 => {
                Some(Range { min: a.min.max(1 - b.max).min(0), max: a.max.min(b.max - 1).max(0), width })
            }
            _ => None,
        },
        ArithOp::Andi => match (operand(0)?, operand(1)?) {
            (a, b) if a.min >= 0 && b.min >= 0 => Some(Range { min: 0, max: a.max.min(b.max), width }),
            (a, b) if a.min >= 0 || b.min >= 0 => {
                Some(Range { min: 0, max: if a.min >= 0 { a.max } else { b.max }, width })
            }
            _ => None,
        },
        ArithOp::Ori | ArithOp::Xori => match (operand(0)?, operand(1)?) {
            (a, b) if a.min >= 0 && b.min >= 0 => {
                let ones = zero_extend(-1, 64).checked_shr((a.max | b.max).leading_zeros()).unwrap_or(0);
                let least = if kind == ArithOp::Ori { a.min.max(b.min) } else { 0 };
                Some(Range { min: least, max: ones as i64, width })
            }
            _ => None,
        },
        ArithOp::Shli => match operand(1)? {
            by if by.min >= 0 && by.max < i64::from(width) => corners(&|a, b| a << b),
            _ => None,
        },
        ArithOp::Shrsi => match operand(1)? {
            by if by.min >= 0 && by.max < i64::from(width) => corners(&|a, b| a >> b),
            _ => None,
        },
        ArithOp::Shrui => {
            let ((least, most), by) = (operand(0)?.unsigned(), operand(1)?);
            if by.min < 0 || by.max >= i64::from(width) {
                return None;
            }
            Some(Range::fitted(i128::from(least >> by.max), i128::from(most >> by.min), width))
        }
        ArithOp::Minsi => corners(&|a, b| a.min(b)),
        ArithOp::Maxsi => corners(&|a, b| a.max(b)),
        ArithOp::Extsi => operand(0).map(|r| Range { width, ..r }),
        ArithOp::Extui => {
            let (least, most) = operand(0)?.unsigned();
            Some(Range::fitted(i128::from(least), i128::from(most), width))
        }
        ArithOp::Trunci => {
            let (min, max) = wide(operand(0)?);
            Some(Range::fitted(min, max, width))
        }
        ArithOp::Select => match operand(0)?.constant() {
            Some(0) => operand(2),
            Some(_) => operand(1),
            None => Some(operand(1)?.join(operand(2)?)),
        },
        ArithOp::Cmpi => {
            let known = answer(Cmpi(op).predicate(ir)?, operand(0)?, operand(1)?)?;
            Some(Range::one(i64::from(known), width))
        }
        _ => None,
    }
}
