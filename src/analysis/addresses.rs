//! Whether two accesses to global memory may touch the same element, and which threads do then.
//!
//! # Algorithm
//!
//! 1. Two addresses meet only if they may come from the same *origin*: a parameter, the kernel's own memory, or an
//!    address that was read from memory. They are followed back through arithmetic and control flow.
//! 2. Where both are sums of indices times strides from one base ([`Forms`]), the distance of their first elements
//!    decides. It is a polynomial. A number is compared with what the tiles span; zero means that equal places of the
//!    tiles are the same element.
//! 3. From one iteration of a loop to a later one, the start of the later one moves on by its step for each trip. The
//!    distance is looked at for the next trips.
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
use super::residues::Residues;
use super::touched::leads_to_memory;
use crate::ir::core::{Ir, Op, Value};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{Classes, Effects, TtgOp};

/// An address, or a tensor of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    pub address: Value,
    /// What is added to the address, for each element.
    pub offsets: Option<Value>,
    /// Whether the access goes anywhere from there.
    pub whole: bool,
}

impl Place {
    /// Where an operation goes from one of its operands. A callee, and what goes through a descriptor, may go anywhere
    /// in its array.
    pub(crate) fn of(ir: &Ir, op: Op, address: Value) -> Place {
        let kind = ir.kind(op);
        let offsets = ir.spec(op).operands.iter().position(|operand| operand.name == "offsets");
        Place {
            address,
            offsets: offsets.and_then(|at| ir.operand_group(op, at).first().copied()),
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

/// Addresses of a function.
pub(crate) struct Addresses<'a> {
    ir: &'a Ir,
    forms: Forms<'a>,
    /// The values that control flow makes a value of.
    handed: BTreeMap<Value, Vec<Value>>,
    origins: BTreeMap<Value, Rc<BTreeSet<Value>>>,
    /// The forms of places, and nothing of those that have none which holds of all elements.
    places: BTreeMap<Place, Rc<Option<Form>>>,
    residues: Residues,
}

impl<'a> Addresses<'a> {
    pub(crate) fn new(ir: &'a Ir, func: Op) -> Addresses<'a> {
        let mut handed: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
        for (from, to) in value_edges(ir, func) {
            handed.entry(to).or_default().push(from);
        }
        Addresses {
            ir,
            forms: Forms::new(ir),
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
        let (a, b) = (self.form(first), self.form(then));
        if let (Some(a), Some(b)) = (&*a, &*b)
            && a.base == b.base
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

    /// The form of what is accessed, if it holds of all elements.
    fn form(&mut self, place: Place) -> Rc<Option<Form>> {
        if let Some(known) = self.places.get(&place) {
            return known.clone();
        }
        let form = Rc::new(self.find_form(place));
        self.places.insert(place, form.clone());
        form
    }

    fn find_form(&mut self, place: Place) -> Option<Form> {
        let form = self.forms.of(place.address).ok()?;
        let form = match place.offsets {
            Some(offsets) => {
                let offsets = self.forms.of(offsets).ok()?;
                Form { steps: vec![Poly::default(); offsets.steps.len()], ..form }.add(offsets)?
            }
            None => form,
        };
        (form.limits.is_empty() && form.quotients.is_empty()).then_some(form)
    }

    fn shape(&self, place: Place) -> &'a [i64] {
        self.ir.ty(place.offsets.unwrap_or(place.address)).shape()
    }

    /// Steps 2 and 3. Nothing where the distance is not understood.
    fn by_distance(
        &self,
        (a, a_shape): (&Form, &[i64]),
        (b, b_shape): (&Form, &[i64]),
        over: &BTreeSet<Op>,
        trusting: bool,
    ) -> Option<Meeting> {
        let steps = a.steps.iter().zip(a_shape).filter(|(step, _)| step.as_constant().is_none());
        let tiles = Tiles {
            alike: a.steps == b.steps && a_shape == b_shape,
            spans: spans((a, a_shape), (b, b_shape))?,
            rows: steps.map(|(step, &n)| (step.clone(), n - 1)).collect(),
        };
        let distance = b.start.sub(&a.start)?;
        let changes = |atom: Atom| over.iter().any(|&looped| self.forms.changes_in(atom, looped));
        let changing: BTreeSet<Atom> = a.start.atoms().chain(b.start.atoms()).filter(|&x| changes(x)).collect();
        if a.steps.iter().chain(&b.steps).any(|step| step.atoms().any(changes)) {
            return None;
        }
        let are_tensors = !(tiles.spans.is_empty() && tiles.rows.is_empty());
        let trusting = trusting && are_tensors;
        if changing.is_empty() {
            return Some(tiles.at(&distance, trusting));
        }
        // What a loop computes anew says nothing, but for the same expression.
        let alike = distance.is_zero() && tiles.alike && are_tensors;
        let unknown = Some(if alike { Meeting::Same } else { Meeting::May });
        // The first access was some trips before the last one of the loops that it is in. The second one may be in
        // other loops.
        let mut steps = vec![];
        for atom in changing {
            let (step, after) = (a.start.coefficient(atom)?, b.start.coefficient(atom)?);
            if !matches!(atom, Atom::Trips(_)) || !step.is_zero() && !after.is_zero() && step != after {
                return unknown;
            }
            steps.extend(Some(step).filter(|step| !step.is_zero()));
        }
        let step = match &steps[..] {
            [] => return Some(tiles.at(&distance, trusting)),
            [step] => step,
            _ => return unknown,
        };
        // The iterations of a loop work on tiles that are apart if nothing else is known of its step.
        let trusting = trusting || distance.as_constant().is_some();
        let mut worst = Meeting::Never;
        for k in 1..=TRIPS {
            worst = worst.max(tiles.at(&distance.add(&step.scale(k)?)?, trusting));
        }
        Some(worst)
    }
}

/// Two tiles of one array.
struct Tiles {
    /// Whether equal places are at equal distances.
    alike: bool,
    spans: Vec<Span>,
    /// The steps along axes that are no numbers, of both tiles, with how often they are taken at most.
    rows: Vec<(Poly, i64)>,
}

impl Tiles {
    /// How they lie if the second starts this far behind the first.
    fn at(&self, distance: &Poly, trusting: bool) -> Meeting {
        let mut rest = distance.clone();
        for (step, most) in &self.rows {
            if let Some((_, left)) = rest.without(step).filter(|(times, _)| times.abs() <= *most) {
                rest = left;
            }
        }
        let whole_rows = rest != *distance;
        let Some(distance) = rest.as_constant() else {
            return if trusting && self.alike { Meeting::Never } else { Meeting::May };
        };
        if !reaches(-distance, &self.spans) {
            return Meeting::Never;
        }
        if distance == 0 && self.alike && !whole_rows { Meeting::Same } else { Meeting::May }
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
fn spans((a, a_shape): (&Form, &[i64]), (b, b_shape): (&Form, &[i64])) -> Option<Vec<Span>> {
    let unknown = |form: &Form| -> BTreeSet<Poly> {
        form.steps.iter().filter(|step| step.as_constant().is_none()).cloned().collect()
    };
    if unknown(a) != unknown(b) {
        return None;
    }
    let axes = |form: &Form, shape: &[i64]| -> Vec<(i64, i64)> {
        let axes = form.steps.iter().zip(shape).filter_map(|(step, &n)| Some((step.as_constant()?, n - 1)));
        axes.filter(|&(step, most)| step != 0 && most > 0).collect()
    };
    let (a, b) = (axes(a, a_shape), axes(b, b_shape));
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
