//! Comparisons of numbers that start at a scalar with another scalar, and when they split no vector.

use crate::analysis::axis_info::{AxisInfoAnalysis, fastest_axis};
use crate::analysis::ranges::Ranges;
use crate::ir::core::{Attr, AttrData, Builder, DenseData, Ir, Op, Type, Value};
use crate::ir::dialects::arith::arith::{Addi, Andi, Cmpi, Extsi, Extui};
use crate::ir::dialects::enums::CmpiPredicate::{self, Eq, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
use crate::ir::dialects::tt::tt::{Broadcast, ExpandDims, Splat};
use crate::ir::dialects::ttg::ttg::ConvertLayout;
use crate::ir::dialects::{ArithOp, TtOp};
use crate::ir::rewrite::fold::const_of;

/// Larger distances are taken for unknown ones.
const FURTHEST: i64 = 1 << 30;

/// A term of a mask: whether each of the numbers `start + d`, with `d` from 0 to `last`, is below `end`.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) compare: Op,
    /// So many elements along this axis are to be equal.
    axis: usize,
    vector: i64,
    /// How many are known to be, along each axis.
    known: Vec<i64>,
    /// Less than, or less than or equal.
    predicate: CmpiPredicate,
    /// What the start is the sum of.
    start: Vec<Value>,
    /// `None` if it is not known.
    last: Option<i64>,
    end: Value,
    /// Whether the numbers of a vector follow one another, from a multiple of its length on.
    is_aligned: bool,
}

/// A mask that is a conjunction of bounds and of what splits no vector.
#[derive(Default, Debug)]
pub(super) struct Terms {
    pub(super) bounds: Vec<Bound>,
    /// What computes the mask from the bounds, with them, in order.
    pub(super) chain: Vec<Op>,
}

/// Finds bounds in a function.
pub(super) struct Bounds<'a> {
    pub(super) ir: &'a Ir,
    pub(super) axes: &'a AxisInfoAnalysis,
    pub(super) ranges: &'a Ranges,
}

impl Bounds<'_> {
    /// The terms of a mask that is to have `vector` equal elements; `None` if another term may split them.
    pub(super) fn of_mask(&self, mask: Value, vector: i64) -> Option<Terms> {
        let mut terms = Terms::default();
        let axis = fastest_axis(self.ir.ty(mask))?;
        self.collect(mask, axis, vector, &mut terms).then_some(terms)
    }

    fn collect(&self, value: Value, axis: usize, vector: i64, terms: &mut Terms) -> bool {
        let ir = self.ir;
        let constancy = self.axes.get(value).and_then(|info| info.constancy.get(axis));
        if constancy.is_some_and(|&equal| equal >= vector) {
            return true;
        }
        let Some(op) = ir.def_op(value) else { return false };
        if terms.chain.contains(&op) {
            return true;
        }
        let found = if let Some(and) = Andi::of(ir, op) {
            [and.lhs(ir), and.rhs(ir)].into_iter().all(|part| self.collect(part, axis, vector, terms))
        } else if ir.is(op, TtOp::Broadcast) || ConvertLayout::of(ir, op).is_some() {
            self.collect(ir.operand(op, 0), axis, vector, terms)
        } else if let Some(expand) = ExpandDims::of(ir, op) {
            let new = expand.axis(ir).map_or(axis, |new| new as usize);
            new != axis && self.collect(expand.src(ir), axis - usize::from(new < axis), vector, terms)
        } else if let Some(bound) = Cmpi::of(ir, op).and_then(|compare| self.bound(compare, axis, vector)) {
            terms.bounds.push(bound);
            true
        } else {
            false
        };
        if found {
            terms.chain.push(op);
        }
        found
    }

    fn bound(&self, compare: Cmpi, axis: usize, vector: i64) -> Option<Bound> {
        let ir = self.ir;
        let predicate = compare.predicate(ir)?;
        let (numbers, end, predicate) = match predicate {
            Slt | Sle | Ult | Ule => (compare.lhs(ir), compare.rhs(ir), predicate),
            Sgt | Sge | Ugt | Uge => (compare.rhs(ir), compare.lhs(ir), predicate.mirrored()),
            _ => return None,
        };
        let end = self.scalar(end)?;
        let facts = self.axes.get(numbers)?;
        let is_strict = !predicate.holds_if_equal();
        let is_aligned = is_strict && facts.contiguity[axis] >= vector && facts.divisibility[axis] % vector == 0;
        let form = self.form(numbers);
        if form.is_none() && !is_aligned {
            return None;
        }
        let (start, last) = form.map_or((vec![], None), |(start, last)| (start, Some(last)));
        let known = self.axes.get(compare.result(ir))?.constancy.clone();
        Some(Bound { compare: compare.0, axis, vector, known, predicate, start, last, end, is_aligned })
    }

    /// The scalar that every element of a tensor is, if it is not a constant.
    fn scalar(&self, tensor: Value) -> Option<Value> {
        let splat = Splat::defining(self.ir, self.narrow(tensor))?.src(self.ir);
        const_of(self.ir, splat).is_none().then_some(splat)
    }

    /// A tensor with the same elements, without copies of them.
    fn narrow(&self, mut value: Value) -> Value {
        let ir = self.ir;
        loop {
            let expanded = ExpandDims::defining(ir, value).map(|op| op.src(ir));
            let copied = expanded.or_else(|| Broadcast::defining(ir, value).map(|op| op.src(ir)));
            match copied.or_else(|| ConvertLayout::defining(ir, value).map(|op| op.src(ir))) {
                Some(src) => value = src,
                None => return value,
            }
        }
    }

    /// A tensor as scalars whose sum is the least element, if nothing wraps, and how much greater the greatest may be.
    fn form(&self, value: Value) -> Option<(Vec<Value>, i64)> {
        let ir = self.ir;
        if let Some(scalar) = self.scalar(value) {
            return Some((vec![scalar], 0));
        }
        let value = self.narrow(value);
        if let Some(sum) = Addi::defining(ir, value) {
            let ((mut start, a), (more, b)) = (self.form(sum.lhs(ir))?, self.form(sum.rhs(ir))?);
            start.extend(more);
            return (a + b < FURTHEST).then_some((start, a + b));
        }
        let extended = Extsi::defining(ir, value).map(|op| ir.operand(op.0, 0));
        if let Some(src) = extended.or_else(|| Extui::defining(ir, value).map(|op| ir.operand(op.0, 0))) {
            // A sum of scalars may wrap before it is extended.
            return self.form(src).filter(|(start, _)| start.is_empty());
        }
        let range = self.ranges.get(value)?;
        (range.min >= 0 && range.max < FURTHEST).then(|| (vec![], range.max))
    }
}

impl Bound {
    /// The scalars that tell whether it splits a vector.
    pub(super) fn scalars(&self) -> impl Iterator<Item = Value> + '_ {
        self.start.iter().copied().chain([self.end])
    }

    /// Each comparison once, for the longest of its vectors.
    pub(super) fn merged(bounds: Vec<Bound>) -> Vec<Bound> {
        let mut all: Vec<Bound> = vec![];
        for bound in bounds {
            match all.iter_mut().find(|other| other.compare == bound.compare && other.axis == bound.axis) {
                Some(other) if other.vector < bound.vector => *other = bound,
                Some(_) => {}
                None => all.push(bound),
            }
        }
        all
    }

    /// Computes whether no vector is split. Either all numbers are below the end: `start < end`, and from one to the
    /// other it is further than from the first number to the last, so that none wraps. Or the end is a multiple of the
    /// vector's length, as the first number of each vector is.
    pub(super) fn keeps_vectors_whole(&self, b: &mut Builder) -> Value {
        let (ty, truth) = (b.ir.ty(self.end), Type::int(1));
        let is_strict = !self.predicate.holds_if_equal();
        let is_far = self.last.map(|last| {
            let last = b.int(last, ty);
            let sum = self.start.iter().copied().reduce(|sum, part| b.value(ArithOp::Addi, &[sum, part], ty));
            let Some(start) = sum else { return b.cmpi(self.predicate, last, self.end) };
            let begins = b.cmpi(self.predicate, start, self.end);
            let room = b.value(ArithOp::Subi, &[self.end, start], ty);
            let reaches = b.cmpi(if is_strict { Ugt } else { Uge }, room, last);
            b.value(ArithOp::Andi, &[begins, reaches], truth)
        });
        let is_even = self.is_aligned.then(|| {
            let (low, zero) = (b.int(self.vector - 1, ty), b.int(0, ty));
            let rest = b.value(ArithOp::Andi, &[self.end, low], ty);
            b.cmpi(Eq, rest, zero)
        });
        match (is_far, is_even) {
            (Some(far), Some(even)) => b.value(ArithOp::Ori, &[far, even], truth),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => b.int(0, truth),
        }
    }

    /// How many elements are equal where no vector is split, along each axis.
    pub(super) fn constancy(&self, ir: &Ir) -> Attr {
        let shape = ir.ty(ir.result(self.compare)).shape();
        let equal = self.known.iter().zip(shape).enumerate().map(|(axis, (&known, &size))| {
            let wanted = if axis == self.axis { self.vector } else { 1 };
            known.min(size).max(wanted) as u64
        });
        let (ty, equal) = (Type::tensor(&[shape.len() as i64], Type::int(32), None), equal.collect::<Vec<_>>());
        match equal.as_slice() {
            &[equal] => Attr::splat_bits(ty, equal),
            _ => Attr::new(AttrData::Dense(ty, DenseData::Elements(equal))),
        }
    }
}
