//! What is known of the integers (and pointers) in a tensor, axis by axis: how far they run contiguously, what divides
//! them, how far they repeat.
//!
//! Coalescing asks it which axis of a tensor of pointers is contiguous; code generation asks it how wide an access may
//! be and how many mask elements agree.
//!
//! For each axis of a value of shape `[.., n, ..]`, with all numbers powers of two:
//!
//! - **contiguity** c: the axis splits into runs of c elements that each increase by one (`[8, 9, 10, 11, 20, 21, 22,
//!   23]` has 4);
//! - **divisibility** d: the first element of every such run is a multiple of d (the example has 4; pointers count in
//!   bytes);
//! - **constancy** k: the axis splits into runs of k equal elements (`[3, 3, 7, 7]` has 2);
//! - **constant**: the value of every element, where known.
//!
//! # Algorithm
//!
//! 1. Parameters start from their attributes (`tt.divisibility` and so on), what is not known from 1 everywhere.
//! 2. Walk the function in order and compute each operation's result from its operands by the rules of [`rules`];
//!    attributes of the same names on an operation override what was computed. An operation whose operands are not
//!    known yet is left for a later round.
//! 3. Values that meet (loop-carried values, results of `scf.if`, block arguments) are joined: the gcd of each fact.
//! 4. Repeat while facts change that something may have been computed from, or while something lacks facts and new ones
//!    come. Values can only lose facts, and each has few, so this ends; straight-line code needs one round, loops need
//!    two or three.

pub mod calls;
mod rules;
#[cfg(test)]
mod tests;

use super::signs::Signs;
use crate::ir::dialects::discardable::{CONSTANCY, CONTIGUITY, DIVISIBILITY};
use crate::ir::dialects::keys::{Any, Key};
use crate::ir::dialects::scf::scf::{Condition, For};
use std::collections::BTreeMap;

use crate::ir::core::entity::Entity;
use crate::ir::core::{Attr, AttrData, DenseData, Encoding, Ir, Op, Type, TypeData, Value, ValueDef, WalkControl};
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, Traits};
use crate::layout;

/// The facts about one value, one entry an axis; a scalar has one axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AxisInfo {
    pub contiguity: Vec<i64>,
    pub divisibility: Vec<i64>,
    pub constancy: Vec<i64>,
    pub constant: Option<i64>,
}

/// The divisor of zero: larger than any that matters, and a product of two of them is capped to it.
pub const MAX_DIVISOR: i64 = 1 << 62;

/// The largest power of two that divides `n`.
#[must_use]
pub fn highest_pow2_divisor(n: i64) -> i64 {
    if n == 0 { MAX_DIVISOR } else { (n & n.wrapping_neg()).clamp(1, MAX_DIVISOR) }
}

/// Greatest common divisor; 0 is the neutral element.
#[must_use]
pub fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

impl AxisInfo {
    /// Nothing known.
    #[must_use]
    pub fn unknown(rank: usize) -> AxisInfo {
        AxisInfo { contiguity: vec![1; rank], divisibility: vec![1; rank], constancy: vec![1; rank], constant: None }
    }

    #[must_use]
    pub fn rank(&self) -> usize {
        self.contiguity.len()
    }

    /// What holds for both.
    #[must_use]
    pub fn join(&self, other: &AxisInfo) -> AxisInfo {
        let axes = 0..self.rank().min(other.rank());
        AxisInfo {
            contiguity: axes.clone().map(|d| gcd(self.contiguity[d], other.contiguity[d])).collect(),
            divisibility: axes.clone().map(|d| rules::joined_divisibility(self, other, d)).collect(),
            constancy: axes.map(|d| gcd(self.constancy[d], other.constancy[d])).collect(),
            constant: self.constant.filter(|_| self.constant == other.constant),
        }
    }

    /// Replaces facts by those that attributes state; `find` looks an attribute up. Along an axis without runs, each
    /// element starts one. What divides these divides all elements, also the first ones of runs along other axes:
    /// `multiple_of(p, (16, 1))` of rows that are contiguous says that each row starts at a multiple of 16.
    fn apply_hints(&mut self, find: &dyn Fn(Key<Any>) -> Option<Attr>) {
        for (key, facts) in [
            (CONTIGUITY, &mut self.contiguity),
            (DIVISIBILITY, &mut self.divisibility),
            (CONSTANCY, &mut self.constancy),
        ] {
            let Some(hint) = find(key).and_then(hint_values) else { continue };
            // A hint of another rank than the value's says nothing that could be used.
            if hint.len() == facts.len() {
                *facts = hint;
            }
        }
        if find(DIVISIBILITY).is_some() {
            let without_runs = self.contiguity.iter().zip(&self.divisibility).filter(|(run, _)| **run == 1);
            let of_all = without_runs.map(|(_, &divisor)| divisor).max().unwrap_or(1);
            self.divisibility.iter_mut().for_each(|divisor| *divisor = (*divisor).max(of_all));
        }
    }
}

impl std::fmt::Display for AxisInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |v: &[i64]| v.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        write!(
            f,
            "contiguity = [{}], divisibility = [{}], constancy = [{}], constant_value = ",
            list(&self.contiguity),
            list(&self.divisibility),
            list(&self.constancy)
        )?;
        match self.constant {
            Some(c) => write!(f, "{c}"),
            None => f.write_str("<none>"),
        }
    }
}

/// `16 : i32` or `dense<[16, 1]> : tensor<2xi32>`
fn hint_values(attr: Attr) -> Option<Vec<i64>> {
    match attr.data() {
        AttrData::Int(v, _) => Some(vec![*v]),
        AttrData::Dense(ty, DenseData::Splat(v)) => Some(vec![*v as i64; usize::try_from(ty.num_elements()).ok()?]),
        AttrData::Dense(_, DenseData::Elements(v)) => Some(v.iter().map(|&x| x as i64).collect()),
        _ => None,
    }
}

/// Number of axes of a type's facts: 1 for a scalar, the pointee's for a block pointer.
fn axes_of(ty: Type) -> usize {
    match ty.data() {
        TypeData::Tensor(t) => t.shape.len(),
        TypeData::Pointer { pointee, .. } if pointee.is_tensor() => pointee.rank(),
        _ => 1,
    }
}

/// The facts about the values of one function.
#[derive(Default, Debug)]
pub struct AxisInfoAnalysis {
    infos: Vec<Option<AxisInfo>>,
    /// What is taken to hold of parameters instead of what their attributes say.
    assumed: BTreeMap<Value, AxisInfo>,
    /// Whether this round gave some value its first fact, and whether something could not be computed for want of one.
    learned: bool,
    missing: bool,
    /// Asked for where something is divided.
    signs: Signs,
    /// Whether a run that is not aligned may break all the same ([`Self::ptr_run`]).
    may_break: bool,
}

impl AxisInfoAnalysis {
    /// Analyses one function.
    #[must_use]
    pub fn new(ir: &Ir, func: Op) -> AxisInfoAnalysis {
        AxisInfoAnalysis::assuming(ir, func, BTreeMap::new())
    }

    /// As [`Self::new`], as if these facts held of parameters of the function: what would be known if the user said
    /// more.
    #[must_use]
    pub fn assuming(ir: &Ir, func: Op, assumed: BTreeMap<Value, AxisInfo>) -> AxisInfoAnalysis {
        let mut this =
            AxisInfoAnalysis { infos: vec![None; ir.value_capacity()], assumed, ..AxisInfoAnalysis::default() };
        this.analyse(ir, func);
        this
    }

    /// Analyses every function of the module.
    #[must_use]
    pub fn of_module(ir: &Ir) -> AxisInfoAnalysis {
        let mut this = AxisInfoAnalysis { infos: vec![None; ir.value_capacity()], ..AxisInfoAnalysis::default() };
        for func in ir.functions() {
            this.analyse(ir, func);
        }
        this
    }

    /// The facts about a value of the function; `None` for a value made after the analysis, or of another function.
    #[must_use]
    pub fn get(&self, value: Value) -> Option<&AxisInfo> {
        self.infos.get(value.index())?.as_ref()
    }

    /// How many consecutive elements one thread may access at once through this tensor of pointers:
    /// [`Self::ptr_alignment`], but no more than the thread holds side by side. 1 for a scalar.
    #[must_use]
    pub fn ptr_contiguity(&self, ir: &Ir, ptr: Value) -> u32 {
        let ty = ir.ty(ptr);
        let Some(axis) = fastest_axis(ty) else { return 1 };
        self.contiguity_with_width(ir, ptr, access_width(ty)).min(layout::contig_per_thread(ty)[axis])
    }

    /// How many consecutive elements of a thread follow one another in memory through this tensor of pointers, wherever
    /// they start. 1 for a scalar.
    ///
    /// Numbers of 32 bits may wrap within a run that is not aligned. The elements on one side of the end are then out
    /// of reach, since pointers take offsets as signed. Of narrower numbers, and of unsigned ones, which are extended
    /// with zeros, both sides may be in reach; and what a program promises (`tl.max_contiguous`) may not hold of
    /// elements that it masks. With any of these, only aligned runs count.
    #[must_use]
    pub fn ptr_run(&self, ir: &Ir, ptr: Value) -> u32 {
        let ty = ir.ty(ptr);
        match (fastest_axis(ty), self.get(ptr)) {
            (Some(axis), Some(info)) if !self.may_break => {
                let run = u32::try_from(info.contiguity[axis]).unwrap_or(1 << 31);
                run.min(layout::contig_per_thread(ty)[axis])
            }
            _ => self.ptr_contiguity(ir, ptr),
        }
    }

    /// An axis along which elements follow one another in memory through this tensor of pointers, and how many do, from
    /// each multiple of that number on, whether a thread holds them side by side or not; the axis with the most. `None`
    /// for a scalar, and where no two do or a run may break ([`Self::ptr_run`]).
    #[must_use]
    pub fn ptr_neighbours(&self, ir: &Ir, ptr: Value) -> Option<(usize, u32)> {
        let info = self.get(ptr).filter(|_| ir.ty(ptr).is_tensor() && !self.may_break)?;
        let (axis, &count) = info.contiguity.iter().enumerate().max_by_key(|&(_, count)| count)?;
        let count = u32::try_from(count).unwrap_or(1 << 31);
        (count > 1 && count.is_power_of_two()).then_some((axis, count))
    }

    /// As [`Self::ptr_contiguity`] without the limit of the layout: the elements, counted from the first of a run, that
    /// are contiguous and start at a multiple of their common size. 1 for a scalar.
    #[must_use]
    pub fn ptr_alignment(&self, ir: &Ir, ptr: Value) -> u32 {
        self.contiguity_with_width(ir, ptr, access_width(ir.ty(ptr)))
    }

    fn contiguity_with_width(&self, ir: &Ir, value: Value, bits: u32) -> u32 {
        let ty = ir.ty(value);
        let (Some(axis), Some(info)) = (fastest_axis(ty), self.get(value)) else { return 1 };
        let bytes = i64::from((bits / 8).max(1));
        // Pointers count their divisor in bytes, offsets in elements.
        let multiple =
            if ty.elem().is_ptr() { (info.divisibility[axis] / bytes).max(1) } else { info.divisibility[axis] };
        u32::try_from(multiple.min(info.contiguity[axis])).unwrap_or(1 << 31)
    }

    /// How many consecutive elements of a mask are equal. 1 for a scalar.
    #[must_use]
    pub fn mask_alignment(&self, ir: &Ir, mask: Value) -> u32 {
        let (Some(axis), Some(info)) = (fastest_axis(ir.ty(mask)), self.get(mask)) else { return 1 };
        u32::try_from(info.constancy[axis].max(1)).unwrap_or(1 << 31)
    }

    fn analyse(&mut self, ir: &Ir, func: Op) {
        let divides = |op: Op| ir.is(op, ArithOp::Divsi) || ir.is(op, ArithOp::Remsi);
        self.signs = if ir.all_ops(func).into_iter().any(divides) { Signs::of(ir, func) } else { Signs::default() };
        while self.round(ir, func) {}
        self.close(ir, func);
    }

    /// One walk over the function; whether another may find more.
    fn round(&mut self, ir: &Ir, func: Op) -> bool {
        let mut changed = false;
        (self.learned, self.missing) = (false, false);
        if let Some(entry) = ir.body(func, 0) {
            for &arg in ir.args(entry) {
                let info = self.assumed.get(&arg).cloned().unwrap_or_else(|| pessimistic(ir, arg));
                changed |= self.meet(arg, &info);
            }
        }
        ir.walk(func, &mut |op| {
            if op != func {
                changed |= self.visit(ir, op);
            }
            WalkControl::Advance
        });
        changed || self.learned && self.missing
    }

    /// Values that no rule reached know nothing but their hints. Notes whether runs may break.
    fn close(&mut self, ir: &Ir, func: Op) {
        for op in ir.all_ops(func) {
            let is_number = |ty: Type| ty.is_tensor() && ty.elem().bit_width() > Some(1);
            let extends = ir.is(op, ArithOp::Extui) && is_number(ir.ty(ir.operands(op)[0]));
            self.may_break |= extends || ir.get(op, CONTIGUITY).is_some();
            let args = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.args(b));
            for &value in ir.results(op).iter().chain(args) {
                let info = self.infos[value.index()].get_or_insert_with(|| pessimistic(ir, value));
                let narrow = ir.ty(value).elem().bit_width().is_some_and(|bits| (2..32).contains(&bits));
                self.may_break |= narrow && info.contiguity.iter().any(|&run| run > 1);
            }
        }
    }

    /// Joins what is known of a value with `info`; whether that changed what was known, and may have been used. The
    /// first fact about a value is no such change.
    fn meet(&mut self, value: Value, info: &AxisInfo) -> bool {
        match &mut self.infos[value.index()] {
            Some(old) if old == info => false,
            Some(old) => {
                let joined = old.join(info);
                let changed = *old != joined;
                *old = joined;
                changed
            }
            slot @ None => {
                *slot = Some(info.clone());
                self.learned = true;
                false
            }
        }
    }

    /// What flows from one value to another.
    fn flow(&mut self, from: Value, to: Value) -> bool {
        if from == to {
            return false;
        }
        // Taken out, since the other slot is changed meanwhile.
        let Some(info) = self.infos[from.index()].take() else {
            self.missing = true;
            return false;
        };
        let changed = self.meet(to, &info);
        self.infos[from.index()] = Some(info);
        changed
    }

    fn flow_all(&mut self, from: &[Value], to: &[Value]) -> bool {
        from.iter().zip(to).fold(false, |changed, (&f, &t)| self.flow(f, t) | changed)
    }

    fn visit(&mut self, ir: &Ir, op: Op) -> bool {
        if let OpKind::Scf(kind) = ir.kind(op) {
            return self.visit_structured(ir, op, kind);
        }
        if ir.kind(op).has(Traits::BRANCH) {
            return ir.successors(op).iter().enumerate().fold(false, |changed, (i, &target)| {
                self.flow_all(ir.successor_operands(op, i), ir.args(target)) | changed
            });
        }
        self.visit_plain(ir, op)
    }

    fn visit_structured(&mut self, ir: &Ir, op: Op, kind: ScfOp) -> bool {
        match kind {
            ScfOp::For => self.visit_for(ir, For(op)),
            ScfOp::While => ir.body(op, 0).is_some_and(|before| self.flow_all(ir.operands(op), ir.args(before))),
            ScfOp::If | ScfOp::ExecuteRegion => false,
            ScfOp::Yield => self.visit_yield(ir, op),
            ScfOp::Condition => {
                let Some(parent) = ir.parent_op(op) else { return false };
                let args = Condition(op).args(ir);
                let after = ir.body(parent, 1).map_or(&[][..], |b| ir.args(b));
                self.flow_all(args, after) | self.flow_all(args, ir.results(parent))
            }
        }
    }

    fn visit_plain(&mut self, ir: &Ir, op: Op) -> bool {
        let mut changed = false;
        // Arguments of regions that are no control flow (of tt.reduce, say).
        for &region in ir.regions_of(op) {
            for &arg in ir.entry(region).map_or(&[][..], |b| ir.args(b)) {
                changed |= self.meet(arg, &pessimistic(ir, arg));
            }
        }
        if ir.results(op).is_empty() {
            return changed;
        }
        let computed = {
            let Some(operands) =
                ir.operands(op).iter().map(|&v| self.get(v).filter(|i| i.rank() > 0)).collect::<Option<Vec<_>>>()
            else {
                self.missing = true;
                return changed;
            };
            rules::transfer(ir, op, &operands, &self.signs)
        };
        for &result in ir.results(op) {
            let mut info = match &computed {
                Some(info) if info.rank() == axes_of(ir.ty(result)) => info.clone(),
                _ => AxisInfo::unknown(axes_of(ir.ty(result))),
            };
            info.apply_hints(&|key| ir.get(op, key));
            changed |= self.meet(result, &info);
        }
        changed
    }

    /// The induction variable is the lower bound plus a multiple of the step; carried values start from the initial
    /// ones.
    fn visit_for(&mut self, ir: &Ir, looped: For) -> bool {
        let init = looped.init(ir);
        let Some(body) = ir.body(looped.0, 0) else { return false };
        let mut changed = false;
        match (self.get(looped.lower(ir)), self.get(looped.step(ir))) {
            (Some(l), Some(s)) => {
                let info =
                    AxisInfo { divisibility: vec![gcd(l.divisibility[0], s.divisibility[0])], ..AxisInfo::unknown(1) };
                changed |= self.meet(ir.args(body)[0], &info);
            }
            _ => self.missing = true,
        }
        changed |= self.flow_all(init, &ir.args(body)[1..]);
        changed | self.flow_all(init, ir.results(looped.0))
    }

    fn visit_yield(&mut self, ir: &Ir, op: Op) -> bool {
        let Some(parent) = ir.parent_op(op) else { return false };
        let values = ir.operands(op);
        if ir.is(parent, ScfOp::While) {
            return ir.body(parent, 0).is_some_and(|before| self.flow_all(values, ir.args(before)));
        }
        let body = ir.body(parent, 0).filter(|_| ir.is(parent, ScfOp::For));
        let carried = body.map_or(&[][..], |b| &ir.args(b)[1..]);
        self.flow_all(values, carried) | self.flow_all(values, ir.results(parent))
    }
}

/// What is known of a value from attributes alone.
fn pessimistic(ir: &Ir, value: Value) -> AxisInfo {
    let mut info = AxisInfo::unknown(axes_of(ir.ty(value)));
    match ir.def(value) {
        ValueDef::Result { op, .. } => info.apply_hints(&|key| ir.get(op, key)),
        ValueDef::Arg { .. } => info.apply_hints(&|key| ir.value_attr(value, key)),
    }
    info
}

/// Bits of an element that an access through a pointer type moves; of the element itself for anything else.
fn access_width(ty: Type) -> u32 {
    let elem = ty.elem();
    elem.pointee().unwrap_or(elem).bit_width().unwrap_or(8)
}

/// How many elements that follow one another along the axis that an encoding calls the fastest a thread holds in
/// consecutive registers. Where a thread has one element along it, its registers may be neighbours along another.
#[must_use]
pub fn held_side_by_side(ty: Type) -> u32 {
    let axis = match ty.layout() {
        Some(Encoding::Blocked(b)) => b.order.first().map(|&d| d as usize),
        _ => fastest_axis(ty),
    };
    axis.map_or(1, |axis| layout::contig_per_thread(ty)[axis])
}

/// The axis whose elements a thread holds closest together; the last one where there is no layout. `None` for a scalar.
#[must_use]
pub fn fastest_axis(ty: Type) -> Option<usize> {
    let t = ty.as_tensor()?;
    match t.encoding {
        Some(encoding) => layout::order(encoding, &t.shape).first().map(|&d| d as usize),
        None => t.shape.len().checked_sub(1),
    }
}
