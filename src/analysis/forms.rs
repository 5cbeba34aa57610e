//! Integers and addresses as sums of indices times strides.
//!
//! A [`Form`] says what the element (i₀, i₁, …) of a tensor is: `base + start + Σ steps[d] · i_d`, with polynomials
//! over the kernel's scalars as `start` and `steps`. A scalar is a form without axes. Example: of
//! `x + (m + arange(0, 64))[:, None] * s + arange(0, 32)[None, :]` the base is `x`, the start `m·s`, the steps are `s`
//! and 1.
//!
//! # Algorithm
//!
//! 1. Sums, products with a scalar, ranges, and operations that only move elements are followed up to scalars, and
//!    these up to parameters and what cannot be taken apart.
//! 2. A value that a loop carries and adds the same to in every iteration is its initial value + trips · increment. The
//!    induction variable is the lower bound + trips · step.
//! 3. A remainder `x % m` and a clamp `where(x < m, x, …)`, `minimum(x, m - 1)` are `x` where `x < m`. That is a
//!    [`Limit`] of the form: beyond it the form says nothing. A remainder of a negative number is one, and that number
//!    itself if it is greater than -m.
//! 4. Where the question allows it ([`Forms::with_others`]), a tensor of integers that is no such sum, or that a limit
//!    concerns, is one of the [`Form::others`].
//! 5. `c / n` and `c % n` of a range from zero, as `ttc-fuse-k-steps` writes them, are a [`Form::quotients`] and the
//!    range less so many of these: `(c % 32) * s + (c / 32) * (32 * s)` is `c * s`.
//!
//! # What is taken for granted
//!
//! Signed arithmetic on indices does not overflow: neither the source's own, which `tl.device_assert` checks in
//! Triton's debug mode and `--debug` here, nor the difference between an index and what it is compared with. So forms
//! are exact over the integers. A kernel for which this does not hold computes addresses far outside of its arrays.

mod bounds;
pub(crate) mod poly;
mod same;
pub(crate) mod why;

use std::collections::{BTreeMap, BTreeSet};

use self::poly::{Atom, Poly};
use self::why::Why;
use crate::ir::core::attrs::sign_extend;
use crate::ir::core::{Attr, Block, Ir, Op, Type, Value, ValueDef};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, Effects, OpKind, TtOp, TtgOp};
use crate::ir::rewrite::fold::const_of;

/// What the elements of a value are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Form {
    /// The pointer that an address starts from.
    pub base: Option<Value>,
    pub start: Poly,
    /// One for each axis of the tensor; zero along an axis of size 1.
    pub steps: Vec<Poly>,
    /// What the whole quotient of an index along an axis and a number is multiplied with; none is zero. An address with
    /// one is no rectangle.
    pub quotients: BTreeMap<(usize, i64), Poly>,
    /// What the elements of tensors are multiplied with that are taken as they are; none is zero.
    pub others: BTreeMap<Other, Poly>,
    pub limits: Vec<Limit>,
}

/// A tensor of integers as a part of a form: its axes are those of the form that are named here, in this order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Other {
    pub value: Value,
    pub axes: Vec<Option<usize>>,
}

/// The form holds only of elements with i < `below` along this axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Limit {
    pub axis: usize,
    pub below: Poly,
    /// And only if this is greater than zero.
    pub positive: Option<Poly>,
    /// Where the index of the first element is negative, one of these is.
    pub negative: Vec<Poly>,
}

impl Form {
    pub(crate) fn uniform(start: Poly, rank: usize) -> Form {
        Form { start, steps: vec![Poly::default(); rank], ..Form::default() }
    }

    /// The value of all elements, if they are the same integer.
    pub(crate) fn as_uniform(&self) -> Option<&Poly> {
        (self.is_plain() && self.steps.iter().all(Poly::is_zero)).then_some(&self.start)
    }

    /// Whether elements are integers of which the start and the steps say all.
    pub(crate) fn is_plain(&self) -> bool {
        self.base.is_none() && self.limits.is_empty() && self.quotients.is_empty() && self.others.is_empty()
    }

    /// The axis along which elements differ, if it is one.
    pub(crate) fn only_axis(&self) -> Option<usize> {
        let mut axes = (0..self.steps.len()).filter(|&d| !self.steps[d].is_zero());
        axes.next().filter(|_| axes.next().is_none())
    }

    pub(crate) fn add(mut self, other: Form) -> Option<Form> {
        if self.base.is_some() && other.base.is_some() || self.steps.len() != other.steps.len() {
            return None;
        }
        self.base = self.base.or(other.base);
        self.start = self.start.add(&other.start)?;
        for (step, more) in self.steps.iter_mut().zip(&other.steps) {
            *step = step.add(more)?;
        }
        for (of, more) in other.quotients {
            let sum = self.quotients.entry(of).or_default();
            *sum = sum.add(&more)?;
        }
        self.quotients.retain(|_, poly| !poly.is_zero());
        for (of, more) in other.others {
            let sum = self.others.entry(of).or_default();
            *sum = sum.add(&more)?;
        }
        self.others.retain(|_, poly| !poly.is_zero());
        self.limits.extend(other.limits);
        Some(self)
    }

    fn scale(mut self, by: &Poly) -> Option<Form> {
        if self.base.is_some() {
            return None;
        }
        self.start = self.start.mul(by)?;
        for step in self.steps.iter_mut().chain(self.quotients.values_mut()).chain(self.others.values_mut()) {
            *step = step.mul(by)?;
        }
        self.quotients.retain(|_, poly| !poly.is_zero());
        self.others.retain(|_, poly| !poly.is_zero());
        Some(self)
    }

    /// With the axes that `from` names, in its order; `None` in it is a new axis of size 1.
    fn with_axes(self, from: &[Option<usize>]) -> Form {
        let steps = from.iter().map(|d| d.map_or_else(Poly::default, |d| self.steps[d].clone())).collect();
        let place = |axis: usize| from.iter().position(|&d| d == Some(axis));
        let limits = self.limits.into_iter().filter_map(|l| Some(Limit { axis: place(l.axis)?, ..l })).collect();
        let quotients = self.quotients.into_iter().filter_map(|((d, n), poly)| Some(((place(d)?, n), poly))).collect();
        let moved =
            |of: Other| Other { axes: of.axes.iter().map(|axis| place(axis.as_ref().copied()?)).collect(), ..of };
        let others = self.others.into_iter().map(|(of, poly)| (moved(of), poly)).collect();
        Form { steps, quotients, others, limits, ..self }
    }
}

/// The forms of the values of a kernel, found on demand.
pub(crate) struct Forms<'a> {
    pub ir: &'a Ir,
    known: BTreeMap<Value, Result<Form, Why>>,
    /// Values whose forms are being found.
    open: BTreeSet<Value>,
    /// What the source computes with 32 bits, so that it fits into them.
    pub narrow: BTreeSet<Poly>,
    /// Whether values are known not to be negative.
    pub signs: BTreeMap<Value, bool>,
    /// Values that are the same number, by what computes it of which ([`same`]): the first of them.
    pub computed: BTreeMap<(ArithOp, Vec<Poly>), Value>,
    pub firsts: BTreeMap<Value, Value>,
    /// Whether parameters that something is divided by count as such.
    pub divisors_count: bool,
    /// Whether forms may have [`Form::others`], instead of limits.
    pub with_others: bool,
}

/// How many operations deep it is looked whether a value changes.
const DEEPEST: usize = 8;

pub(crate) const NOT_UNDERSTOOD: Why = Why("the address is no sum of indices times strides");
const FROM_MEMORY: Why = Why("the address depends on what was read from memory");
const NEGATIVE_WRAP: Why = Why("an index may be negative where it wraps around");
const CARRIED: Why = Why("the address changes in the loop by something else than a fixed step");

impl<'a> Forms<'a> {
    pub(crate) fn new(ir: &'a Ir) -> Forms<'a> {
        let (known, open, narrow, signs) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        let (computed, firsts) = (BTreeMap::new(), BTreeMap::new());
        Forms { ir, known, open, narrow, signs, computed, firsts, divisors_count: false, with_others: false }
    }

    /// The form of an integer, an address, or a tensor of them. A scalar always has one.
    pub(crate) fn of(&mut self, value: Value) -> Result<Form, Why> {
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        let ty = self.ir.ty(value);
        let found = if self.open.insert(value) {
            let found = self.find(value);
            self.open.remove(&value);
            found
        } else {
            Err(CARRIED)
        };
        let found = if ty.is_tensor() { found } else { found.or_else(|_| Ok(opaque(ty, value))) };
        if let Ok(form) = &found
            && ty.elem().is_int_of(32)
        {
            self.narrow.insert(form.start.clone());
        }
        // What was found while the value itself was open is not all that there is to know.
        if !self.open.contains(&value) {
            self.known.insert(value, found.clone());
        }
        found
    }

    /// The form of a scalar, or of a tensor of equal elements.
    pub(crate) fn uniform(&mut self, value: Value) -> Option<Poly> {
        self.of(value).ok()?.as_uniform().cloned()
    }

    fn find(&mut self, value: Value) -> Result<Form, Why> {
        match self.ir.def(value) {
            ValueDef::Arg { block, index } => self.argument(value, block, index as usize),
            ValueDef::Result { op, .. } => self.operation(value, op),
        }
    }

    /// Step 2.
    fn argument(&mut self, value: Value, block: Block, index: usize) -> Result<Form, Why> {
        let ir = self.ir;
        let Some(looped) = ir.block_op(block).and_then(|op| For::of(ir, op)) else { return Err(NOT_UNDERSTOOD) };
        let trips = Poly::atom(Atom::Trips(looped.0));
        let Some(carried) = index.checked_sub(1) else {
            if !ir.ty(value).is_int() {
                return Err(NOT_UNDERSTOOD);
            }
            let (lower, step) = (self.of(looped.lower(ir))?, self.of(looped.step(ir))?);
            let start = step.start.mul(&trips).and_then(|d| lower.start.add(&d)).ok_or(NOT_UNDERSTOOD)?;
            return Ok(Form::uniform(start, 0));
        };
        let end = ir.terminator(block).ok_or(CARRIED)?;
        let step = self.increment(ir.operand(end, carried), value, 64).ok_or(CARRIED)?;
        if step.atoms().any(|a| self.changes_in(a, looped.0)) {
            return Err(CARRIED);
        }
        let first = self.of(looped.init(ir)[carried])?;
        let moved = step.mul(&trips).ok_or(CARRIED)?;
        first.add(Form::uniform(moved, ir.ty(value).shape().len())).ok_or(CARRIED)
    }

    /// What is added to `from` on the way to `to`, the same for all elements.
    fn increment(&mut self, to: Value, from: Value, fuel: usize) -> Option<Poly> {
        let ir = self.ir;
        if to == from {
            return Some(Poly::default());
        }
        let fuel = fuel.checked_sub(1)?;
        if let Some(sum) = tt::Addptr::defining(ir, to) {
            let before = self.increment(sum.ptr(ir), from, fuel)?;
            return before.add(&self.uniform(sum.offset(ir))?);
        }
        if let Some(sum) = arith::Addi::defining(ir, to) {
            let (a, b) = (sum.lhs(ir), sum.rhs(ir));
            let (before, other) = match self.increment(a, from, fuel) {
                Some(before) => (before, b),
                None => (self.increment(b, from, fuel)?, a),
            };
            return before.add(&self.uniform(other)?);
        }
        let sum = arith::Subi::defining(ir, to)?;
        let before = self.increment(sum.lhs(ir), from, fuel)?;
        before.sub(&self.uniform(sum.rhs(ir))?)
    }

    /// Whether an atom may be another one in the next iteration of a loop.
    pub(crate) fn changes_in(&self, atom: Atom, looped: Op) -> bool {
        match atom {
            Atom::Trips(op) => self.ir.is_ancestor(looped, op),
            Atom::Value(v) => self.value_changes_in(v, looped, DEEPEST),
        }
    }

    /// What a loop computes from values that are the same in all its iterations is the same in all of them.
    fn value_changes_in(&self, value: Value, looped: Op, fuel: usize) -> bool {
        let ir = self.ir;
        let block = ir.value_block(value).and_then(|b| ir.block_op(b));
        if block.is_some_and(|op| !ir.is_ancestor(looped, op)) {
            return false;
        }
        let pure = |&op: &Op| ir.spec(op).effects == Effects::Pure && ir.regions_of(op).is_empty();
        let (Some(op), Some(fuel)) = (ir.def_op(value).filter(pure), fuel.checked_sub(1)) else { return true };
        ir.operands(op).iter().any(|&operand| self.value_changes_in(operand, looped, fuel))
    }

    /// Steps 1 and 4.
    fn operation(&mut self, value: Value, op: Op) -> Result<Form, Why> {
        let found = match self.ir.kind(op) {
            OpKind::Arith(kind) => self.arithmetic(value, op, kind),
            OpKind::Tt(kind) => self.of_tt(op, kind),
            OpKind::Ttg(TtgOp::ConvertLayout) => self.of(self.ir.operand(op, 0)),
            _ => Err(NOT_UNDERSTOOD),
        };
        let ty = self.ir.ty(value);
        let is_understood = found.as_ref().is_ok_and(|form| form.limits.is_empty());
        if !self.with_others || is_understood || !ty.is_tensor() || !ty.elem().is_int() {
            return found;
        }
        let rank = ty.shape().len();
        let of = Other { value, axes: (0..rank).map(Some).collect() };
        let others = BTreeMap::from([(of, Poly::constant(1))]);
        Ok(Form { others, ..Form::uniform(Poly::default(), rank) })
    }

    fn arithmetic(&mut self, value: Value, op: Op, kind: ArithOp) -> Result<Form, Why> {
        let (ir, ty) = (self.ir, self.ir.ty(value));
        let operands = ir.operands(op);
        match kind {
            ArithOp::Constant => {
                let width = ty.elem().bit_width().filter(|&w| ty.elem().is_int() && w > 1);
                let (Some(n), Some(width)) = (const_of(ir, value).and_then(Attr::int_value), width) else {
                    return Err(NOT_UNDERSTOOD);
                };
                Ok(Form::uniform(Poly::constant(sign_extend(n, width)), ty.shape().len()))
            }
            ArithOp::Addi => self.of(operands[0])?.add(self.of(operands[1])?).ok_or(NOT_UNDERSTOOD),
            ArithOp::Subi => {
                let minus = self.of(operands[1])?;
                // A limit of what is subtracted would be one of the difference as well.
                let minus = minus.scale(&Poly::constant(-1)).ok_or(NOT_UNDERSTOOD)?;
                self.of(operands[0])?.add(minus).ok_or(NOT_UNDERSTOOD)
            }
            ArithOp::Muli => {
                let (a, b) = (self.of(operands[0])?, self.of(operands[1])?);
                let product = match (a.as_uniform(), b.as_uniform()) {
                    (_, Some(by)) => a.clone().scale(by),
                    (Some(by), None) => b.clone().scale(by),
                    (None, None) => None,
                };
                product.ok_or(NOT_UNDERSTOOD)
            }
            ArithOp::Extsi if !ir.ty(operands[0]).elem().is_int_of(1) => self.of(operands[0]),
            ArithOp::Remsi => self.remainder(operands[0], operands[1]),
            ArithOp::Remui | ArithOp::Divui => self.part(operands[0], operands[1], kind == ArithOp::Remui),
            ArithOp::Minsi => self.at_most(operands[0], operands[1]),
            ArithOp::Select => self.clamp(operands[0], operands[1]),
            _ => Err(NOT_UNDERSTOOD),
        }
    }

    fn of_tt(&mut self, op: Op, kind: TtOp) -> Result<Form, Why> {
        let ir = self.ir;
        let operands = ir.operands(op);
        match kind {
            TtOp::Splat => {
                let rank = ir.ty(ir.result(op)).rank();
                Ok(Form { steps: vec![Poly::default(); rank], ..self.of(operands[0])? })
            }
            TtOp::MakeRange => {
                let range = tt::MakeRange(op);
                let (Some(start), Some(end)) = (range.start(ir), range.end(ir)) else { return Err(NOT_UNDERSTOOD) };
                let step = Poly::constant(i64::from(end - start > 1));
                Ok(Form { start: Poly::constant(start), steps: vec![step], ..Form::default() })
            }
            TtOp::ExpandDims => {
                let form = self.of(operands[0])?;
                let axis = tt::ExpandDims(op).axis(ir).and_then(|a| usize::try_from(a).ok()).ok_or(NOT_UNDERSTOOD)?;
                let mut from: Vec<Option<usize>> = (0..form.steps.len()).map(Some).collect();
                from.insert(axis, None);
                Ok(form.with_axes(&from))
            }
            TtOp::Broadcast => self.of(operands[0]),
            TtOp::Trans => {
                let order = tt::Trans(op).order(ir).ok_or(NOT_UNDERSTOOD)?;
                let from: Vec<Option<usize>> = order.iter().map(|&d| usize::try_from(d).ok()).collect();
                Ok(self.of(operands[0])?.with_axes(&from))
            }
            TtOp::Addptr => self.of(operands[0])?.add(self.of(operands[1])?).ok_or(NOT_UNDERSTOOD),
            TtOp::Load | TtOp::DescriptorLoad | TtOp::Gather | TtOp::AtomicRmw | TtOp::AtomicCas => Err(FROM_MEMORY),
            _ => Err(NOT_UNDERSTOOD),
        }
    }

    /// Step 3: `index % count`.
    fn remainder(&mut self, index: Value, count: Value) -> Result<Form, Why> {
        let form = self.of(index)?;
        let count = self.uniform(count).ok_or(NOT_UNDERSTOOD)?;
        let mut limited = self.limit(form, &count).ok_or(NOT_UNDERSTOOD)?;
        if count.as_constant().is_some_and(|n| n <= 0) {
            return Err(NOT_UNDERSTOOD);
        }
        // A remainder has the sign of what is divided: down to -count it is the index itself.
        if !self.is_at_least_zero(&limited.start) {
            limited.limits[0].positive = limited.start.add(&count);
            limited.limits[0].negative = self.causes(&limited.start).ok_or(NEGATIVE_WRAP)?;
        }
        Ok(limited)
    }

    /// Step 5: the remainder, or the quotient, of a range from zero and a number.
    fn part(&mut self, range: Value, count: Value, is_remainder: bool) -> Result<Form, Why> {
        let form = self.of(range)?;
        let count = self.uniform(count).and_then(|n| n.as_constant()).filter(|&n| n > 0).ok_or(NOT_UNDERSTOOD)?;
        let axis = form.only_axis().filter(|&d| form.steps[d].as_constant() == Some(1)).ok_or(NOT_UNDERSTOOD)?;
        if !form.is_plain() || !form.start.is_zero() {
            return Err(NOT_UNDERSTOOD);
        }
        let quotient = |n: i64| BTreeMap::from([((axis, count), Poly::constant(n))]);
        Ok(if is_remainder {
            Form { quotients: quotient(-count), ..form }
        } else {
            Form { quotients: quotient(1), ..Form::uniform(Poly::default(), form.steps.len()) }
        })
    }

    /// Step 3: `minimum(index, last)`.
    fn at_most(&mut self, a: Value, b: Value) -> Result<Form, Why> {
        let (a, b) = (self.of(a)?, self.of(b)?);
        let (form, last) = match (a.as_uniform(), b.as_uniform()) {
            (None, Some(last)) => (a.clone(), last),
            (Some(last), None) => (b.clone(), last),
            _ => return Err(NOT_UNDERSTOOD),
        };
        last.add(&Poly::constant(1)).and_then(|below| self.limit(form, &below)).ok_or(NOT_UNDERSTOOD)
    }

    /// Step 3: `where(index < count, index, …)`.
    fn clamp(&mut self, condition: Value, index: Value) -> Result<Form, Why> {
        let ir = self.ir;
        let compare = arith::Cmpi::defining(ir, condition).ok_or(NOT_UNDERSTOOD)?;
        if compare.predicate(ir) != Some(CmpiPredicate::Slt) || !ir.ty(index).is_tensor() {
            return Err(NOT_UNDERSTOOD);
        }
        let form = self.of(index)?;
        if self.of(compare.lhs(ir))? != form {
            return Err(NOT_UNDERSTOOD);
        }
        let count = self.uniform(compare.rhs(ir)).ok_or(NOT_UNDERSTOOD)?;
        self.limit(form, &count).ok_or(NOT_UNDERSTOOD)
    }

    /// `form` where it is less than `count`: i < count - start along its only axis, whose step must be 1.
    fn limit(&self, form: Form, count: &Poly) -> Option<Form> {
        let axis = form.only_axis()?;
        if !form.is_plain() || form.steps[axis].as_constant() != Some(1) {
            return None;
        }
        let below = count.sub(&form.start)?;
        Some(Form { limits: vec![Limit { axis, below, positive: None, negative: vec![] }], ..form })
    }
}

/// A scalar that is taken as it is.
fn opaque(ty: Type, value: Value) -> Form {
    if ty.is_ptr() {
        return Form { base: Some(value), ..Form::default() };
    }
    Form::uniform(Poly::atom(Atom::Value(value)), 0)
}
