//! The proof that an access touches a rectangle of a strided array, and nothing else.
//!
//! The address of element i is `base + start + Σ P_d · i_d` ([`forms`]), and the mask asks `i_d < end` of some axes
//! ([`masks`]). A descriptor has a base, extents N_d and strides; its access at the coordinates c touches element i if
//! 0 ≤ c_d + i_d < N_d for every axis. Both are the same for
//!
//! ```text
//! descriptor base = base + start - Σ c_d · P_d      stride_d = P_d      N_d = end + c_d
//! ```
//!
//! whatever c_d ≥ 0 is. The choice of c decides where the descriptor can be made: its base, extents and strides must
//! not change in the loops behind that place.
//!
//! # Algorithm
//!
//! 1. Axes of size 1 are left out. One axis has the step 1: it becomes the innermost. Its row has at least 16 bytes.
//! 2. Try each place in front of a loop around the access, the outermost first; an access outside of loops has its own
//!    place. What is known there is *fixed*.
//! 3. c_d of an axis with an end is what is not fixed in -end, so that N_d is. An axis that is bounded from below by
//!    the mask, `i_d ≥ first`, has c_d = -first, since hardware leaves out what lies below zero too. What is not fixed
//!    in `start` otherwise goes to the axis without an end whose stride divides it.
//!    Where a loop counts down, what makes the coordinate zero in the end is added to it.
//! 4. Other c_d must not be negative: the source would read below the base, hardware would not. They must fit into 32
//!    bits, or be cut off at what fits if the extent does. c_d may be negative where nobody sees anything
//!    ([`super::rows`]).
//! 5. An axis without an end reaches as far as coordinates go: the source reads all of it. Where the launch makes the
//!    descriptor and the coordinate is a constant, it ends behind the block.
//! 6. The base, all strides but the innermost (PTX ISA, "Tensor-map"), and c_d along it are multiples of 16 bytes.
//!    Strides are not negative, as far as that can be seen: parameters count as such.
//!
//! A descriptor that the launch makes ([`prove_at_launch`]) has its place in front of the kernel: only parameters are
//! fixed, and its base is one of them. What else the start has goes into coordinates. What no axis of the tensor can
//! take gets an axis of its own, of which a block has one element: `b·s` is the coordinate b along an axis with the
//! stride s.
//!
//! Example: `x + (m + i) * s + (k * 64 + j)` with `j < K - k * 64`, in a loop over k: the base is x + m·s, the extents
//! are 2³¹ - 1 and K, the coordinates 0 and k·64.

use std::collections::{BTreeMap, BTreeSet};

use super::masks::{Term, Test};
use super::rows;
use crate::analysis::axis_info::{AxisInfoAnalysis, MAX_DIVISOR, gcd, highest_pow2_divisor};
use crate::analysis::forms::poly::{Atom, Poly, Product};
use crate::analysis::forms::why::Why;
use crate::analysis::forms::{Form, Forms, NOT_UNDERSTOOD};
use crate::ir::core::{Dominance, Ir, Op, Type, TypeData, Value, ValueDef};
use crate::ir::dialects::Traits;
use crate::ir::dialects::array_map::FARTHEST;

/// A rectangle, and how to get at it through a descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Rectangle {
    pub base: Value,
    /// What the descriptor starts behind it, in elements.
    pub shift: Poly,
    /// In the order of memory, the innermost last.
    pub axes: Vec<Axis>,
    pub place: Place,
    /// Where one of these does not hold, nothing is touched.
    pub tests: Vec<Test>,
    /// Whether the mask asks nothing else.
    pub is_exact: bool,
}

/// Where a descriptor is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// By the kernel, in front of this.
    Before(Op),
    /// By the launch, of the kernel's parameters.
    Launch,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Axis {
    /// The axis of the tensor. `None` for one that the tensor does not have: a block has one element along it.
    pub of: Option<usize>,
    pub size: i64,
    pub stride: Poly,
    pub coordinate: Poly,
    /// Whether the coordinate may need more than 32 bits; beyond them, all elements are outside.
    pub is_wide: bool,
    /// The least of these is the extent; without any it is [`FARTHEST`].
    pub extents: Vec<Poly>,
    /// Whether the extents may need more than 32 bits.
    pub has_wide_extents: bool,
}

/// Bases and strides are multiples of so many bytes.
const ALIGNMENT: i64 = 16;
/// Descriptors have at most so many axes.
const MOST_AXES: usize = 5;

pub(super) const RUNS_ONCE: Why = Why("it runs once, and making a descriptor for it takes longer");

/// What a proof is about.
pub(super) struct Access<'a> {
    pub op: Op,
    pub pointer: Value,
    pub terms: &'a [Term],
    /// Whether a place outside of loops is worth it.
    pub once: bool,
    pub least_rank: usize,
    pub least_row: i64,
}

/// What stays the same for all attempts at a place.
struct Given {
    form: Form,
    shape: &'static [i64],
    /// The axes longer than 1, the innermost last.
    axes: Vec<usize>,
    terms: Vec<Term>,
    elem: Type,
    /// What a load gives.
    loaded: Option<Value>,
}

impl Given {
    /// Step 1.
    fn of(forms: &mut Forms<'_>, access: &Access<'_>) -> Result<Given, Why> {
        let form = forms.of(access.pointer)?;
        let ty = forms.ir.ty(access.pointer);
        let Some(elem) = ty.elem().pointee() else { return Err(Why("it moves no tensor")) };
        let axes = ordered_axes(&form, ty.shape(), access, elem)?;
        let loaded = forms.ir.results(access.op).first().copied();
        let mut given = Given { form, shape: ty.shape(), axes, terms: access.terms.to_vec(), elem, loaded };
        check_mask(forms, &given)?;
        // A limit of the form bounds the index as a mask does.
        let limits = given.form.limits.iter().map(|l| Term::Below { axis: l.axis, end: l.below.clone() });
        given.terms.extend(limits.collect::<Vec<_>>());
        Ok(given)
    }
}

/// The loops around an access, the innermost first.
fn loops_around(ir: &Ir, op: Op) -> Vec<Op> {
    let around = std::iter::successors(ir.parent_op(op), |&op| ir.parent_op(op));
    around.filter(|&op| ir.kind(op).has(Traits::LOOP)).collect()
}

/// Whether an operation runs several times.
pub(super) fn is_in_loop(ir: &Ir, op: Op) -> bool {
    !loops_around(ir, op).is_empty()
}

/// Finds the rectangle of an access through a descriptor that the launch makes.
pub(super) fn prove_at_launch(
    forms: &mut Forms<'_>,
    facts: &AxisInfoAnalysis,
    access: &Access<'_>,
) -> Result<Rectangle, Why> {
    let given = Given::of(forms, access)?;
    if !access.once && !is_in_loop(forms.ir, access.op) {
        return Err(Why("it is in no loop"));
    }
    at_place(forms, facts, &given, Place::Launch)
}

/// Finds the rectangle of an access through a descriptor that the kernel makes.
pub(super) fn prove(forms: &mut Forms<'_>, facts: &AxisInfoAnalysis, access: &Access<'_>) -> Result<Rectangle, Why> {
    let given = Given::of(forms, access)?;
    let loops = loops_around(forms.ir, access.op);
    if loops.is_empty() && access.once {
        return at_place(forms, facts, &given, Place::Before(access.op));
    }
    let mut why = RUNS_ONCE;
    for &place in loops.iter().rev() {
        match at_place(forms, facts, &given, Place::Before(place)) {
            Ok(found) => return Ok(found),
            Err(refused) => why = refused,
        }
    }
    Err(why)
}

/// Step 1.
fn ordered_axes(form: &Form, shape: &[i64], access: &Access<'_>, elem: Type) -> Result<Vec<usize>, Why> {
    let mut axes: Vec<usize> = (0..shape.len()).filter(|&d| shape[d] > 1).collect();
    if axes.len() < access.least_rank.max(1) {
        return Err(Why("a tensor of one axis gains nothing"));
    }
    if axes.len() > MOST_AXES {
        return Err(Why("the tensor has more than five axes"));
    }
    if !form.quotients.is_empty() {
        return Err(NOT_UNDERSTOOD);
    }
    if axes.iter().any(|&d| form.steps[d].is_zero()) {
        return Err(Why("elements along an axis have the same address"));
    }
    let mut inner = axes.iter().copied().filter(|&d| form.steps[d].as_constant() == Some(1));
    let (Some(innermost), None) = (inner.next(), inner.next()) else {
        return Err(Why("no axis is known to be contiguous: its stride is not the constant 1"));
    };
    axes.retain(|&d| d != innermost);
    axes.push(innermost);
    let bits = i64::from(elem.bit_width().unwrap_or(0));
    let plain = elem.is_float() || elem.is_int();
    if !plain || ![8, 16, 32, 64].contains(&bits) {
        return Err(Why("hardware moves no elements of this type"));
    }
    let row = shape[innermost] * bits / 8;
    if row >= ALIGNMENT && row < access.least_row {
        return Err(Why("a row of the tile has too few bytes"));
    }
    if row < access.least_row {
        return Err(Why("a row of the tile has less than 16 bytes in a block"));
    }
    Ok(axes)
}

/// Where a mask asks more than bounds, these are all that keeps the access within the array: every axis needs an end,
/// and starts at zero or behind it.
fn check_mask(forms: &mut Forms<'_>, given: &Given) -> Result<(), Why> {
    if !given.terms.contains(&Term::Other) {
        return Ok(());
    }
    for &d in &given.axes {
        let ends = given.terms.iter().filter_map(|t| match t {
            Term::Below { axis, end } if *axis == d => Some(end),
            _ => None,
        });
        let ends: Vec<&Poly> = ends.collect();
        if ends.is_empty() {
            return Err(Why("its mask asks more than bounds, and does not bound every axis"));
        }
        if !has_first(given, Some(d)) && !ends.into_iter().any(|end| starts_inside(forms, end)) {
            return Err(Why("its mask asks more than bounds, and an index may be negative"));
        }
    }
    Ok(())
}

/// Whether an end is a size less what is not negative: then no index is below zero.
fn starts_inside(forms: &mut Forms<'_>, end: &Poly) -> bool {
    let counts_trips = |product: &[Atom]| product.iter().any(|a| matches!(a, Atom::Trips(_)));
    let (size, rest) = end.split(|product, n| n > 0 && !counts_trips(product));
    let mut terms = size.terms();
    let plain = terms.next().is_none_or(|(product, n)| product.is_empty() || product.len() == 1 && n == 1);
    plain && terms.next().is_none() && rest.scale(-1).is_some_and(|start| forms.is_at_least_zero(&start))
}

/// Steps 3 to 6 for one place.
fn at_place(forms: &mut Forms<'_>, facts: &AxisInfoAnalysis, given: &Given, place: Place) -> Result<Rectangle, Why> {
    let form = &given.form;
    let dominance = Dominance::new();
    let ir = forms.ir;
    let fixed = |a: Atom| match place {
        Place::Before(op) => is_fixed(ir, &dominance, a, op),
        Place::Launch => parameter(ir, a).is_some(),
    };
    let base = base_of(forms, form)?;
    let mut axes = vec![];
    for &d in &given.axes {
        axes.push(bounded_axis(forms, given, d, &fixed, place)?);
    }
    if !axes.iter().flat_map(|a| a.stride.atoms()).all(&fixed) {
        return Err(Why(match place {
            Place::Before(_) => "a stride changes in the loop",
            Place::Launch => "a stride depends on more than the kernel's parameters",
        }));
    }
    let rest = behind(&form.start, &axes).ok_or(TOO_LARGE)?;
    match place {
        Place::Before(_) => move_with_axes(forms, given, &mut axes, &rest, &fixed)?,
        Place::Launch => {
            put_into_coordinates(given, &mut axes, &rest, &fixed)?;
            axes.iter_mut().for_each(Axis::bound_where_it_stays);
        }
    }
    let shift = behind(&form.start, &axes).ok_or(TOO_LARGE)?;
    let mut tests: Vec<Test> = form.limits.iter().filter_map(|l| l.positive.clone()).map(Test::Positive).collect();
    let extents = axes.iter().flat_map(|a| &a.extents).filter(|e| e.as_constant().is_none_or(|n| n <= 0));
    tests.extend(extents.map(|e| Test::Positive(e.clone())));
    let negative = why_negative(&axes, place);
    for axis in &mut axes {
        if !has_first(given, axis.of) && !forms.is_at_least_zero(&axis.coordinate) {
            // A part that may be negative can be in the base of a descriptor that is made further inside.
            let (of, causes) = negative_where(forms, axis).ok_or(negative)?;
            if !given.loaded.is_some_and(|value| rows::is_unseen_below(forms, value, of, &causes)) {
                return Err(negative);
            }
        }
        check_coordinate(forms, axis)?;
        check_stride(forms, axis)?;
    }
    check_alignment(facts, given, base, &shift, &axes)?;
    for term in &given.terms {
        if let Term::Uniform(test) = term {
            tests.push(test.clone());
        }
    }
    tests.sort();
    tests.dedup();
    let is_exact = !given.terms.contains(&Term::Other);
    Ok(Rectangle { base, shift, axes, place, tests, is_exact })
}

const TOO_LARGE: Why = Why("its address is too long a sum");

/// Step 3 for what is not fixed, and no coordinate accounts for yet.
fn move_with_axes(
    forms: &mut Forms<'_>,
    given: &Given,
    axes: &mut [Axis],
    rest: &Poly,
    fixed: &dyn Fn(Atom) -> bool,
) -> Result<(), Why> {
    let (_, moving) = rest.split(|product, _| product.iter().all(|&a| fixed(a)));
    for (product, n) in moving.terms() {
        let Some((_, share, axis)) = best_axis(given, axes, product, n) else {
            return Err(Why("the descriptor would change in every iteration of the loop"));
        };
        axis.coordinate = axis.coordinate.add(&share).ok_or(TOO_LARGE)?;
    }
    for axis in axes.iter_mut().filter(|a| a.is_free(given)) {
        axis.coordinate = forms.raised(&axis.coordinate, fixed).ok_or(TOO_LARGE)?;
    }
    Ok(())
}

/// Step 3 for a descriptor whose base is a parameter: all of `rest` becomes coordinates. A term goes to the axis with
/// the stride that it has most of, and to one of its own if its fixed factors are more than those of every stride.
fn put_into_coordinates(
    given: &Given,
    axes: &mut Vec<Axis>,
    rest: &Poly,
    fixed: &dyn Fn(Atom) -> bool,
) -> Result<(), Why> {
    // The fixed factors of a stride, with what they are multiplied with in each term.
    let mut strides: BTreeMap<Product, Vec<(Product, i64)>> = BTreeMap::new();
    let known: BTreeSet<Atom> = axes.iter().flat_map(|a| a.stride.atoms()).collect();
    for (product, n) in rest.terms() {
        let (mut factors, mut others): (Product, Product) = product.iter().partition(|&&a| fixed(a));
        if others.is_empty() {
            // Of `low·s` nobody has said that `low` is not negative, as it would be if it were a stride.
            (factors, others) = product.iter().partition(|&a| known.contains(a));
        }
        match best_axis(given, axes, product, n).filter(|(degree, ..)| *degree >= factors.len()) {
            Some((_, share, axis)) => axis.coordinate = axis.coordinate.add(&share).ok_or(TOO_LARGE)?,
            None => strides.entry(factors).or_default().push((others, n)),
        }
    }
    for (factors, terms) in strides.into_iter().rev() {
        let unit = terms.iter().fold(0, |all, (_, n)| gcd(all, n.abs()));
        let mut coordinate = Poly::default();
        for (product, n) in terms {
            coordinate = coordinate.add(&Poly::term(product, n / unit)).ok_or(TOO_LARGE)?;
        }
        axes.insert(0, Axis { of: None, size: 1, coordinate, ..Axis::new(Poly::term(factors, unit)) });
    }
    if axes.len() > MOST_AXES { Err(Why("it would take a tensor map of more than five axes")) } else { Ok(()) }
}

/// The axis without bounds whose stride is a factor of a term and has the most factors itself: their number, and what
/// its coordinate grows by.
fn best_axis<'a>(
    given: &Given,
    axes: &'a mut [Axis],
    product: &Product,
    n: i64,
) -> Option<(usize, Poly, &'a mut Axis)> {
    let free = axes.iter_mut().filter(|a| a.is_free(given));
    free.filter_map(|a| Some((a.stride.degree(), a.stride.quotient(product, n)?, a))).max_by_key(|s| s.0)
}

impl Axis {
    /// An axis of this stride that is not bounded.
    fn new(stride: Poly) -> Axis {
        Axis {
            of: None,
            size: 1,
            stride,
            coordinate: Poly::default(),
            is_wide: false,
            extents: vec![],
            has_wide_extents: false,
        }
    }

    /// Ends an axis without bounds behind the block, if that always lies at the same place.
    fn bound_where_it_stays(&mut self) {
        let end = self.coordinate.as_constant().and_then(|c| c.checked_add(self.size)).filter(|&end| end <= FARTHEST);
        if let (true, Some(end)) = (self.extents.is_empty(), end) {
            self.extents = vec![Poly::constant(end)];
        }
    }

    /// Whether the mask leaves its coordinate open.
    fn is_free(&self, given: &Given) -> bool {
        self.extents.is_empty() && !has_first(given, self.of)
    }
}

/// The number of the kernel's parameter that an atom stands for, if it is an integer of those that a caller passes.
pub(super) fn parameter(ir: &Ir, atom: Atom) -> Option<u32> {
    let Atom::Value(value) = atom else { return None };
    let ValueDef::Arg { block, index } = ir.def(value) else { return None };
    let kernel = ir.block_op(block).filter(|&op| ir.kind(op).is_function() && !ir.is_private(op))?;
    if ir.body(kernel, 0) != Some(block) || !ir.ty(value).is_int() {
        return None;
    }
    // Extents and strides behind a descriptor belong to it.
    let of_descriptor = |(at, &arg): (usize, &Value)| {
        matches!(*ir.ty(arg), TypeData::TensorDesc { .. }) && index as usize <= at + 2 * ir.ty(arg).rank()
    };
    if ir.args(block)[..index as usize].iter().enumerate().any(of_descriptor) {
        return None;
    }
    Some(index)
}

/// What of the start of an address the coordinates leave to the base.
fn behind(start: &Poly, axes: &[Axis]) -> Option<Poly> {
    axes.iter().try_fold(start.clone(), |rest, a| rest.sub(&a.coordinate.mul(&a.stride)?))
}

/// Whether what an atom stands for is known at a place.
fn is_fixed(ir: &Ir, dominance: &Dominance, atom: Atom, place: Op) -> bool {
    match atom {
        Atom::Value(v) => dominance.value_dominates(ir, v, place),
        Atom::Trips(looped) => looped != place && ir.is_ancestor(looped, place),
    }
}

/// The kernel's parameter that the address starts from.
fn base_of(forms: &Forms<'_>, form: &Form) -> Result<Value, Why> {
    let ir = forms.ir;
    let of_kernel = |v: Value| match ir.def(v) {
        ValueDef::Arg { block, .. } => {
            ir.block_op(block).is_some_and(|op| ir.kind(op).is_function() && !ir.is_private(op))
        }
        ValueDef::Result { .. } => false,
    };
    form.base.filter(|&v| of_kernel(v)).ok_or(Why("the address starts from no parameter of the kernel"))
}

fn has_first(given: &Given, axis: Option<usize>) -> bool {
    given.terms.iter().any(|t| matches!(t, Term::From { axis: a, .. } if Some(*a) == axis))
}

/// Step 3: an axis with the coordinate and the extents that its bounds ask for.
fn bounded_axis(
    forms: &mut Forms<'_>,
    given: &Given,
    d: usize,
    fixed: &dyn Fn(Atom) -> bool,
    place: Place,
) -> Result<Axis, Why> {
    let otherwise = match place {
        Place::Before(_) => Why("its mask moves otherwise than its address"),
        Place::Launch => EXTENT_UNKNOWN,
    };
    let size = given.shape[d];
    let (mut ends, mut firsts) = (vec![], vec![]);
    for term in &given.terms {
        match term {
            Term::Below { axis, end } if *axis == d && end.as_constant().is_none_or(|n| n < size) => ends.push(end),
            Term::From { axis, first } if *axis == d => firsts.push(first),
            _ => {}
        }
    }
    let coordinate = match (firsts[..].first(), ends.first()) {
        (Some(first), _) => first.scale(-1),
        (None, Some(end)) => {
            let moving = end.split(|product, _| !product.iter().all(|&a| fixed(a))).0.scale(-1);
            moving.and_then(|c| forms.raised(&c, fixed))
        }
        (None, None) => Some(Poly::default()),
    };
    let coordinate = coordinate.ok_or(otherwise)?;
    if firsts.iter().any(|f| *f != firsts[0]) {
        return Err(Why("its mask bounds an axis from below twice"));
    }
    let mut extents: Vec<Poly> = vec![];
    for end in ends {
        let extent = end.add(&coordinate).ok_or(otherwise)?;
        if !extent.atoms().all(fixed) {
            return Err(otherwise);
        }
        if !extents.contains(&extent) {
            extents.push(extent);
        }
    }
    Ok(Axis { of: Some(d), size, coordinate, extents, ..Axis::new(given.form.steps[d].clone()) })
}

/// An axis of the tensor whose coordinate may be negative, and the differences of which one is negative then.
fn negative_where(forms: &mut Forms<'_>, axis: &Axis) -> Option<(usize, Vec<Poly>)> {
    Some((axis.of?, forms.causes(&axis.coordinate)?))
}

/// What to say if a coordinate may be negative. An end that a launch does not know is in one, with a minus.
fn why_negative(axes: &[Axis], place: Place) -> Why {
    let is_value = |a: &Atom| matches!(a, Atom::Value(_));
    let bounded = axes.iter().filter(|a| !a.extents.is_empty());
    let mut terms = bounded.flat_map(|a| a.coordinate.terms());
    let has_end = terms.any(|(product, n)| n < 0 && product.iter().any(is_value));
    if place == Place::Launch && has_end { EXTENT_UNKNOWN } else { Why("an index may be negative") }
}

const EXTENT_UNKNOWN: Why = Why("an extent depends on more than the kernel's parameters");

/// Step 4.
fn check_coordinate(forms: &mut Forms<'_>, axis: &mut Axis) -> Result<(), Why> {
    axis.is_wide = !forms.is_narrow(&axis.coordinate);
    axis.has_wide_extents = !axis.extents.iter().all(|e| forms.is_narrow(e));
    let ends_near = axis.extents.iter().any(|e| forms.is_below_wide(e));
    if axis.is_wide && !ends_near {
        return Err(Why("an index may need more than 32 bits"));
    }
    Ok(())
}

/// Step 6 for strides.
fn check_stride(forms: &mut Forms<'_>, axis: &Axis) -> Result<(), Why> {
    let ir = forms.ir;
    let is_parameter = |a: Atom| match a {
        Atom::Value(v) => {
            matches!(ir.def(v), ValueDef::Arg { block, .. } if ir.block_op(block).is_some_and(|op| ir.kind(op).is_function()))
        }
        Atom::Trips(_) => false,
    };
    let atoms: Vec<Atom> = axis.stride.atoms().collect();
    let signs = axis.stride.terms().all(|(_, n)| n > 0);
    if signs && atoms.into_iter().all(|a| is_parameter(a) || forms.atom_is_at_least_zero(a)) {
        return Ok(());
    }
    Err(Why("a stride may be negative"))
}

/// Step 6: the base, the strides, and where rows of the tile start.
fn check_alignment(
    facts: &AxisInfoAnalysis,
    given: &Given,
    base: Value,
    shift: &Poly,
    axes: &[Axis],
) -> Result<(), Why> {
    let bytes = i64::from(given.elem.bit_width().unwrap_or(8) / 8);
    let multiple = |v: Value| facts.get(v).and_then(|i| i.divisibility.first().copied()).unwrap_or(1);
    let divides = |poly: &Poly| {
        poly.terms().fold(0, |all, (product, n)| {
            let of_atom = |a: &Atom| match a {
                Atom::Value(v) => multiple(*v),
                Atom::Trips(_) => 1,
            };
            let each = product.iter().map(of_atom).chain([highest_pow2_divisor(n)]);
            gcd(all, each.fold(1, |a: i64, b| a.checked_mul(b).unwrap_or(MAX_DIVISOR).min(MAX_DIVISOR)))
        })
    };
    let is_aligned = |poly: &Poly| poly.is_zero() || divides(poly).saturating_mul(bytes) % ALIGNMENT == 0;
    if multiple(base) % ALIGNMENT != 0 {
        return Err(Why("the array is not known to start at a multiple of 16 bytes"));
    }
    if !is_aligned(shift) {
        return Err(Why("its start in the array is not known to be a multiple of 16 bytes"));
    }
    let Some((innermost, outer)) = axes.split_last() else { return Ok(()) };
    if !outer.iter().all(|a| is_aligned(&a.stride)) {
        return Err(Why("a stride is not known to be a multiple of 16 bytes"));
    }
    // No manual says so, and the GPU stops where it is not so (docs/testing.md, "On a GPU").
    if !is_aligned(&innermost.coordinate) {
        return Err(Why("a row of the tile is not known to start at a multiple of 16 bytes of the array's row"));
    }
    Ok(())
}
