//! Whether two accesses to global memory may touch the same element, and which threads do then.
//!
//! # Algorithm
//!
//! 1. Two addresses meet only if they may come from the same *origin*: a parameter, the kernel's own memory, or an
//!    address that was read from memory. They are followed back through arithmetic and control flow.
//! 2. Where both are sums of indices times strides from one base ([`Forms`]), the distance of their first elements
//!    decides. It is a polynomial. A number is compared with what the tiles span; zero means that equal places of the
//!    tiles are the same element.
//!    Masks say where tiles end ([`Addresses::extents`]). Integers that are no such sums, as what was loaded, are
//!    between bounds ([`super::ranges`]), or the number of a row, or a column as the remainder of a division.
//! 3. From one iteration of a loop to a later one, the start of the later one moves on by its step for each trip. The
//!    distance is looked at for the next trips, of two loops for those of both.
//! 4. Offsets from one pointer that leave different rests ([`super::residues`]) are apart.
//! 5. All other addresses of one origin may meet, unless they are one value.
//!
//! Example: in `for i: x = load(p + i*s + r); store(p + (i+1)*s + r, …)` the addresses are `s` apart within an
//! iteration, and the load of the next one reads what was stored.
//!
//! # What is taken for granted
//!
//! Arrays of different parameters do not overlap where one of them is written; neither do the rows of one array. So
//! tiles of the same strides whose distance depends on parameters are apart where the question says so.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::flow::value_edges;
use super::forms::poly::{Atom, Poly};
use super::forms::{Form, Forms};
use super::ranges::Ranges;
use super::residues::Residues;
use super::touched::leads_to_memory;
use crate::ir::core::{Ir, Op, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, Classes, Effects, OpKind, TtOp, TtgOp};

/// An address, or a tensor of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    pub address: Value,
    /// What is added to the address, for each element.
    pub offsets: Option<Value>,
    /// Which elements are accessed.
    pub mask: Option<Value>,
    /// Whether the access goes anywhere from there.
    pub whole: bool,
}

impl Place {
    /// Where an operation goes from one of its operands. A callee, and what goes through a descriptor, may go anywhere
    /// in its array.
    pub(crate) fn of(ir: &Ir, op: Op, address: Value) -> Place {
        let kind = ir.kind(op);
        let named = |name| {
            let at = ir.spec(op).operands.iter().position(|operand| operand.name == name)?;
            ir.operand_group(op, at).first().copied()
        };
        Place {
            address,
            offsets: named("offsets"),
            mask: named("mask"),
            whole: tt::Call::of(ir, op).is_some() || kind.belongs(Classes::DESCRIPTOR_ACCESS),
        }
    }
}

/// How two accesses lie to each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Meeting {
    /// They touch nothing in common.
    Never,
    /// What they have in common is at the same place of both tensors.
    Same,
    /// Any element of one may be any of the other.
    May,
}

/// How many trips of a loop are looked at.
const TRIPS: i64 = 8;

/// The most numbers between the bounds of an integer that is no sum.
const WIDEST: i64 = 1 << 20;

/// What an access touches.
struct Touched {
    form: Form,
    /// What each element's address is beside the form, at least and at most.
    between: (i64, i64),
    /// The elements along each axis that a mask leaves.
    extents: Vec<i64>,
}

/// Addresses of a function.
pub(crate) struct Addresses<'a> {
    ir: &'a Ir,
    func: Op,
    forms: Forms<'a>,
    /// What integers lie between, once that is asked for.
    ranges: Option<Ranges>,
    /// The values that control flow makes a value of.
    handed: BTreeMap<Value, Vec<Value>>,
    origins: BTreeMap<Value, Rc<BTreeSet<Value>>>,
    /// The forms of places, and nothing of those that have none which holds of all elements.
    places: BTreeMap<Place, Rc<Option<Touched>>>,
    residues: Residues,
}

impl<'a> Addresses<'a> {
    pub(crate) fn new(ir: &'a Ir, func: Op) -> Addresses<'a> {
        let mut handed: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
        for (from, to) in value_edges(ir, func) {
            handed.entry(to).or_default().push(from);
        }
        let mut forms = Forms::new(ir);
        forms.with_others = true;
        Addresses {
            ir,
            func,
            forms,
            ranges: None,
            handed,
            origins: BTreeMap::new(),
            places: BTreeMap::new(),
            residues: Residues::default(),
        }
    }

    /// Step 1: where an address may come from.
    pub(crate) fn origins(&mut self, address: Value) -> Rc<BTreeSet<Value>> {
        if let Some(known) = self.origins.get(&address) {
            return known.clone();
        }
        let (mut seen, mut open, mut found) = (BTreeSet::from([address]), vec![address], BTreeSet::new());
        while let Some(value) = open.pop() {
            let before = self.before(value);
            if before.is_empty() {
                found.insert(value);
            }
            open.extend(before.into_iter().filter(|&v| seen.insert(v)));
        }
        let found = Rc::new(found);
        self.origins.insert(address, found.clone());
        found
    }

    /// The addresses that an address is computed from.
    fn before(&self, value: Value) -> Vec<Value> {
        if let Some(handed) = self.handed.get(&value) {
            return handed.clone();
        }
        let ir = self.ir;
        let Some(op) = ir.def_op(value).filter(|&op| ir.spec(op).effects == Effects::Pure) else { return vec![] };
        ir.operands(op).iter().copied().filter(|&v| leads_to_memory(ir.ty(v))).collect()
    }

    /// How two accesses lie to each other of which the first has crossed the ends of iterations of the loops `over`; in
    /// the same iteration of all loops if there are none. With `trusting`, tiles of the same strides at a distance that
    /// depends on parameters are apart.
    pub(crate) fn meet(&mut self, first: Place, then: Place, over: &BTreeSet<Op>, trusting: bool) -> Meeting {
        if self.origins(first.address).is_disjoint(&self.origins(then.address)) {
            return Meeting::Never;
        }
        if first.whole || then.whole {
            return Meeting::May;
        }
        if self.rests_differ(first, then, over) {
            return Meeting::Never;
        }
        let (a, b) = (self.touched(first), self.touched(then));
        if let (Some(a), Some(b)) = (&*a, &*b)
            && a.form.base == b.form.base
            && let Some(meeting) = self.by_distance((a, self.shape(first)), (b, self.shape(then)), over, trusting)
        {
            return meeting;
        }
        let stays = |v: Value| over.iter().all(|&looped| !self.forms.changes_in(Atom::Value(v), looped));
        let known = |place: Place| {
            let offsets = place.offsets.map(|v| unconverted(self.ir, v));
            (unconverted(self.ir, place.address), offsets)
        };
        let (one, other) = (known(first), known(then));
        let stays = stays(one.0) && one.1.is_none_or(stays);
        if one == other && stays { Meeting::Same } else { Meeting::May }
    }

    /// Whether the offsets from one pointer leave different rests, in all iterations of the loops.
    fn rests_differ(&mut self, first: Place, then: Place, over: &BTreeSet<Op>) -> bool {
        let ((a, one), (b, other)) =
            [first, then].map(|place| self.residues.of_addresses(self.ir, place.address)).into();
        let are_alike = self.ir.ty(first.address).elem() == self.ir.ty(then.address).elem() && a == b;
        let stays = || over.iter().all(|&looped| !self.forms.changes_in(Atom::Value(a), looped));
        first.offsets.is_none() && then.offsets.is_none() && are_alike && one.differs(other) && stays()
    }

    /// What is accessed, if that is understood for all elements.
    fn touched(&mut self, place: Place) -> Rc<Option<Touched>> {
        if let Some(known) = self.places.get(&place) {
            return known.clone();
        }
        let found = Rc::new(self.find_touched(place));
        self.places.insert(place, found.clone());
        found
    }

    fn find_touched(&mut self, place: Place) -> Option<Touched> {
        let form = self.forms.of(place.address).ok()?;
        let form = match place.offsets {
            Some(offsets) => {
                let offsets = self.forms.of(offsets).ok()?;
                Form { steps: vec![Poly::default(); offsets.steps.len()], ..form }.add(offsets)?
            }
            None => form,
        };
        if !form.limits.is_empty() || !form.quotients.is_empty() {
            return None;
        }
        let (mut others, mut between) = (BTreeMap::new(), (0i64, 0i64));
        for (other, times) in form.others {
            let bounds = times.as_constant().and_then(|n| self.bounds(other.value, n));
            if let Some((least, most)) = bounds {
                between = (between.0 + least, between.1 + most);
            } else if times.as_constant().is_none() || is_column(self.ir, other.value) {
                others.insert(other, times);
            } else {
                return None;
            }
        }
        let extents = self.extents(place);
        Some(Touched { form: Form { others, ..form }, between, extents })
    }

    /// Between which numbers an integer lies that is multiplied with another one, if these are few.
    fn bounds(&mut self, value: Value, times: i64) -> Option<(i64, i64)> {
        let (ir, func) = (self.ir, self.func);
        let range = self.ranges.get_or_insert_with(|| Ranges::of(ir, func)).get(value)?;
        let few = |n: i64| (-WIDEST..=WIDEST).contains(&n);
        let (a, b) = (range.min.checked_mul(times)?, range.max.checked_mul(times)?);
        (few(a) && few(b)).then_some((a.min(b), a.max(b)))
    }

    /// How many elements along each axis an access may touch: as many as there are, or as its mask leaves. Example: of
    /// the elements `128·m + i` with `128·m + i < 100` at most 100 are accessed.
    fn extents(&mut self, place: Place) -> Vec<i64> {
        let ir = self.ir;
        let mut extents = self.shape(place).to_vec();
        let axes: Vec<Option<usize>> = (0..extents.len()).map(Some).collect();
        let mut open: Vec<(Value, Vec<Option<usize>>)> = place.mask.map(|mask| (mask, axes)).into_iter().collect();
        while let Some((mask, axes)) = open.pop() {
            let Some(op) = ir.def_op(mask) else { continue };
            match ir.kind(op) {
                OpKind::Arith(ArithOp::Andi) => open.extend(ir.operands(op).iter().map(|&v| (v, axes.clone()))),
                OpKind::Tt(TtOp::Broadcast) | OpKind::Ttg(TtgOp::ConvertLayout) => {
                    open.push((ir.operand(op, 0), axes));
                }
                OpKind::Tt(TtOp::ExpandDims) => {
                    let Some(new) = tt::ExpandDims(op).axis(ir).and_then(|a| usize::try_from(a).ok()) else { continue };
                    let kept = axes.iter().enumerate().filter(|&(axis, _)| axis != new);
                    open.push((ir.operand(op, 0), kept.map(|(_, &axis)| axis).collect()));
                }
                OpKind::Arith(ArithOp::Cmpi) => {
                    if let Some((axis, count)) = self.count(arith::Cmpi(op))
                        && let Some(&Some(axis)) = axes.get(axis)
                    {
                        extents[axis] = extents[axis].min(count);
                    }
                }
                _ => {}
            }
        }
        extents
    }

    /// The axis along which an index is less than a constant, and of how many elements at most, one or more: the first
    /// index is not negative.
    fn count(&mut self, compare: arith::Cmpi) -> Option<(usize, i64)> {
        let ir = self.ir;
        let below = self.forms.uniform(compare.rhs(ir))?.as_constant()?;
        let form = self.forms.of(compare.lhs(ir)).ok()?;
        let axis = form.only_axis().filter(|_| form.is_plain())?;
        let step = form.steps[axis].as_constant().filter(|&step| step > 0)?;
        let may = compare.predicate(ir) == Some(CmpiPredicate::Slt) && self.forms.is_at_least_zero(&form.start);
        may.then(|| (axis, (below - 1).max(0) / step + 1))
    }

    fn shape(&self, place: Place) -> &'a [i64] {
        self.ir.ty(place.offsets.unwrap_or(place.address)).shape()
    }

    /// Steps 2 and 3. Nothing where the distance is not understood.
    fn by_distance(
        &self,
        (first, first_shape): (&Touched, &[i64]),
        (then, then_shape): (&Touched, &[i64]),
        over: &BTreeSet<Op>,
        trusting: bool,
    ) -> Option<Meeting> {
        let (a, b) = (&first.form, &then.form);
        if a.others != b.others {
            return None;
        }
        let mut rows: BTreeMap<Poly, i64> = BTreeMap::new();
        for (step, &count) in a.steps.iter().zip(&first.extents).chain(b.steps.iter().zip(&then.extents)) {
            if step.as_constant().is_none() {
                let most = rows.entry(step.clone()).or_default();
                *most = (*most).max(count - 1);
            }
        }
        let of_others = a.others.values().filter(|times| times.as_constant().is_none());
        let tiles = Tiles {
            alike: a.steps == b.steps && first_shape == then_shape,
            spans: spans(first, then)?,
            rows: rows.into_iter().chain(of_others.map(|times| (times.clone(), i64::MAX))).collect(),
            others: !a.others.is_empty(),
            columns: a.others.values().any(|times| times.as_constant().is_some()),
        };
        let distance = b.start.sub(&a.start)?;
        let changes = |atom: Atom| over.iter().any(|&looped| self.forms.changes_in(atom, looped));
        let changing: BTreeSet<Atom> = a.start.atoms().chain(b.start.atoms()).filter(|&x| changes(x)).collect();
        let of_others = a.others.iter().flat_map(|(of, times)| times.atoms().chain([Atom::Value(of.value)]));
        if a.steps.iter().chain(&b.steps).flat_map(Poly::atoms).chain(of_others).any(changes) {
            return None;
        }
        let are_tensors = !(tiles.spans.is_empty() && tiles.rows.is_empty());
        let trusting = trusting && are_tensors;
        if changing.is_empty() {
            return tiles.at(&distance, trusting);
        }
        // What a loop computes anew says nothing, but for the same expression.
        let unknown = if distance.is_zero() && tiles.alike && are_tensors {
            tiles.at(&distance, trusting)
        } else {
            Some(Meeting::May)
        };
        // The first access was some trips before the last one of the loops that it is in. The second one may be in
        // other loops.
        let mut steps = vec![];
        for atom in changing {
            let (step, after) = (a.start.coefficient(atom)?, b.start.coefficient(atom)?);
            let Atom::Trips(looped) = atom else { return unknown };
            if !step.is_zero() && !after.is_zero() && step != after {
                return unknown;
            }
            steps.extend(Some((looped, step)).filter(|(_, step)| !step.is_zero()));
        }
        // The iterations of a loop work on tiles that are apart if nothing else is known of its step.
        let trusts = trusting || distance.as_constant().is_some();
        // A loop in one that has come to its next iteration may be in any of its own.
        let least = |of: Op| if over.iter().any(|&o| o != of && self.ir.is_ancestor(o, of)) { -TRIPS } else { 1 };
        match &steps[..] {
            [] => tiles.at(&distance, trusting),
            [(looped, step)] => tiles.worst(&distance, (least(*looped)..=TRIPS).map(|k| step.scale(k)), trusts),
            [one, other] if one.1.as_constant().is_none() || other.1.as_constant().is_none() => {
                let is_outer = self.ir.is_ancestor(one.0, other.0);
                let (outer, inner) = if is_outer { (one, other) } else { (other, one) };
                let trips = (least(outer.0).min(0)..=TRIPS).flat_map(|k| (-TRIPS..=TRIPS).map(move |n| (k, n)));
                let is_later = |&(k, n): &(i64, i64)| k != 0 || n > 0 || least(outer.0) < 0;
                let moves = trips.filter(is_later).map(|(k, n)| outer.1.scale(k)?.add(&inner.1.scale(n)?));
                tiles.worst(&distance, moves, trusts)
            }
            _ => unknown,
        }
    }
}

/// Two tiles of one array.
struct Tiles {
    /// Whether equal places are at equal distances.
    alike: bool,
    spans: Vec<Span>,
    /// The steps along axes that are no numbers, of both tiles, and what other tensors are multiplied with, with how
    /// often they are taken at most.
    rows: Vec<(Poly, i64)>,
    /// Whether other tensors take part, and whether one of them counts columns.
    others: bool,
    columns: bool,
}

impl Tiles {
    /// How they lie if the second starts this far behind the first. Nothing if that depends on other tensors.
    fn at(&self, distance: &Poly, trusting: bool) -> Option<Meeting> {
        let mut rest = distance.clone();
        for (step, most) in &self.rows {
            if let Some((_, left)) = rest.without(step).filter(|(times, _)| times.abs() <= *most) {
                rest = left;
            }
        }
        let whole_rows = rest != *distance;
        let Some(distance) = rest.as_constant() else {
            return Some(if trusting && self.alike { Meeting::Never } else { Meeting::May });
        };
        if self.columns {
            return (distance != 0 || whole_rows).then_some(Meeting::May);
        }
        if !reaches(-distance, &self.spans) {
            return Some(Meeting::Never);
        }
        if distance != 0 || !self.alike || whole_rows {
            return Some(Meeting::May);
        }
        (!self.others && are_apart(&self.spans)).then_some(Meeting::Same)
    }

    /// The same for the worst of several moves of the second one.
    fn worst(&self, distance: &Poly, moves: impl Iterator<Item = Option<Poly>>, trusting: bool) -> Option<Meeting> {
        let mut worst = Meeting::Never;
        for by in moves {
            worst = worst.max(self.at(&distance.add(&by?)?, trusting)?);
        }
        Some(worst)
    }
}

/// How far an element of the second tile is behind one of the first because of their places along one axis: a step,
/// taken `least` to `most` times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Span {
    step: i64,
    least: i64,
    most: i64,
}

/// The spans of two tiles, the largest step first. Rows whose distance is a parameter do not overlap. Nothing if such
/// rows differ.
fn spans(first: &Touched, then: &Touched) -> Option<Vec<Span>> {
    let unknown = |form: &Form| -> BTreeSet<Poly> {
        form.steps.iter().filter(|step| step.as_constant().is_none()).cloned().collect()
    };
    if unknown(&first.form) != unknown(&then.form) {
        return None;
    }
    let axes = |of: &Touched| -> Vec<(i64, i64)> {
        let axes = of.form.steps.iter().zip(&of.extents).filter_map(|(step, &n)| Some((step.as_constant()?, n - 1)));
        axes.filter(|&(step, most)| step != 0 && most > 0).collect()
    };
    let (a, b) = (axes(first), axes(then));
    let span = |step: i64, least: i64, most: i64| {
        let (least, most) = if step < 0 { (-most, -least) } else { (least, most) };
        Span { step: step.abs(), least, most }
    };
    let mut spans: Vec<Span> = if a == b {
        a.iter().map(|&(step, most)| span(step, -most, most)).collect()
    } else {
        let first = a.iter().map(|&(step, most)| span(step, -most, 0));
        first.chain(b.iter().map(|&(step, most)| span(step, 0, most))).collect()
    };
    let within = Span { step: 1, least: then.between.0 - first.between.1, most: then.between.1 - first.between.0 };
    spans.extend((within.least < within.most).then_some(within));
    spans.sort_unstable_by(|x, y| y.cmp(x));
    Some(spans)
}

/// Whether a distance is a sum of these steps.
fn reaches(distance: i64, spans: &[Span]) -> bool {
    let Some((&span, rest)) = spans.split_first() else { return distance == 0 };
    let (down, up) = rest.iter().fold((0, 0), |(down, up), s| (down + s.step * s.least, up + s.step * s.most));
    let least = (distance - up).div_euclid(span.step).max(span.least);
    let most = (distance - down).div_euclid(span.step).min(span.most);
    (least..=most).any(|n| reaches(distance - n * span.step, rest))
}

/// Whether elements at different places are different, as far as bounds of what is no sum say: each step is larger than
/// what all smaller ones make together.
fn are_apart(spans: &[Span]) -> bool {
    let mut reached = 0;
    spans.iter().rev().all(|span| {
        let is_apart = span.step > reached;
        reached += span.step * span.most.max(-span.least);
        is_apart
    })
}

/// Whether an integer is less than a number of columns: the remainder of a division.
fn is_column(ir: &Ir, value: Value) -> bool {
    ir.def_op(value).is_some_and(|op| ir.is(op, ArithOp::Remsi) || ir.is(op, ArithOp::Remui))
}

/// A value before its layout was changed.
fn unconverted(ir: &Ir, mut value: Value) -> Value {
    while let Some(op) = ir.def_op(value).filter(|&op| ir.is(op, TtgOp::ConvertLayout)) {
        value = ir.operand(op, 0);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_sums_of_steps() {
        // Rows of 128, 64 of them, tiles 64 wide.
        let tile = [Span { step: 128, least: -63, most: 63 }, Span { step: 1, least: -63, most: 63 }];
        assert!(reaches(1, &tile) && reaches(128, &tile) && reaches(-128 + 5, &tile));
        assert!(!reaches(64, &tile) && !reaches(128 * 64, &tile) && !reaches(-64, &tile));
        // A row of 16 behind an element.
        let row = [Span { step: 1, least: 0, most: 15 }];
        assert!(reaches(0, &row) && reaches(15, &row) && !reaches(-1, &row) && !reaches(16, &row));
        assert!(reaches(0, &[]) && !reaches(1, &[]));
    }
}
