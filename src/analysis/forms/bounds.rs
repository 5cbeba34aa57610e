//! Bounds of polynomials: which are not negative, and which fit into 32 bits.
//!
//! 1. The sign of a scalar follows from what computes it: program ids and counts are not negative, nor are sums,
//!    products, quotients and minima of such values.
//! 2. Trips of a loop are bounded by the loop: `step · trips < upper - lower` in its body. So `lower + step · trips`
//!    and `upper - 1 - trips` have a least and a largest value.
//! 3. What the source computes with 32 bits fits into them. So does what is not negative and not more than that.
//! 4. Where a sign is not known because of a difference, that is the *cause*: it would have to be negative. Grids that
//!    have more programs than there are tiles have such programs, and their masks leave out everything
//!    ([`Forms::ends_before`]).
//!
//! # What is taken for granted
//!
//! A parameter that indices are compared with, or at which they wrap around, counts elements: it is not negative. Where
//! the launch makes the descriptor, neither is one that something is divided by: `tl.program_id(1) // H` is the number
//! of a batch. The difference of two numbers of 32 bits that bounds an index (`end - begin` of a sequence) fits into 32
//! bits.

use super::Forms;
use super::poly::{Atom, Poly};
use crate::ir::core::{Attr, Ir, Op, Use, Value, ValueDef};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::{ArithOp, OpKind, TtOp};
use crate::ir::rewrite::fold::const_of;

impl Forms<'_> {
    /// Whether a polynomial is surely not negative, in the body of the loops whose trips it counts.
    pub(crate) fn is_at_least_zero(&mut self, poly: &Poly) -> bool {
        let Some(least) = self.at_the_end(poly, |n| n < 0) else { return false };
        least.terms().all(|(_, n)| n > 0) && {
            let atoms: Vec<Atom> = least.atoms().collect();
            atoms.into_iter().all(|a| self.atom_is_at_least_zero(a))
        }
    }

    /// The polynomial with n · trips as it is in the last iteration, or beyond, for the coefficients that are asked
    /// for.
    fn at_the_end(&mut self, poly: &Poly, asked: impl Fn(i64) -> bool) -> Option<Poly> {
        let mut end = poly.clone();
        for (looped, n) in counted(poly).into_iter().filter(|c| asked(c.1)) {
            let last = self.last(For(looped), n)?;
            end = end.sub(&Poly::term(vec![Atom::Trips(looped)], n))?.add(&last)?;
        }
        Some(end)
    }

    /// The polynomial plus what makes its terms -n · trips end at zero, as far as that is fixed.
    pub(crate) fn raised(&mut self, poly: &Poly, fixed: &dyn Fn(Atom) -> bool) -> Option<Poly> {
        let mut raised = poly.clone();
        for (looped, n) in counted(poly).into_iter().filter(|c| c.1 < 0) {
            if let Some(last) = self.last(For(looped), n).filter(|last| last.atoms().all(fixed)) {
                raised = raised.sub(&last)?;
            }
        }
        Some(raised)
    }

    /// A bound for n · trips in the body of a loop: step · trips < upper - lower.
    fn last(&mut self, looped: For, n: i64) -> Option<Poly> {
        let ir = self.ir;
        let step = self.uniform(looped.step(ir))?.as_constant().filter(|&s| s > 0 && n % s == 0)?;
        if looped.unsignedCmp(ir) {
            return None;
        }
        let span = self.uniform(looped.upper(ir))?.sub(&self.uniform(looped.lower(ir))?)?;
        span.sub(&Poly::constant(1))?.scale(n / step)
    }

    pub(crate) fn atom_is_at_least_zero(&mut self, atom: Atom) -> bool {
        match atom {
            Atom::Trips(_) => true,
            Atom::Value(v) => self.value_is_at_least_zero(v),
        }
    }

    fn value_is_at_least_zero(&mut self, value: Value) -> bool {
        if let Some(&known) = self.signs.get(&value) {
            return known;
        }
        // While it is being found, it counts as unknown.
        self.signs.insert(value, false);
        let found = self.find_sign(value);
        self.signs.insert(value, found);
        found
    }

    fn find_sign(&mut self, value: Value) -> bool {
        let ir = self.ir;
        let ValueDef::Result { op, .. } = ir.def(value) else { return self.argument_sign(value) };
        let operands = ir.operands(op).to_vec();
        match ir.kind(op) {
            OpKind::Tt(TtOp::GetProgramId | TtOp::GetNumPrograms) => true,
            OpKind::Arith(kind) => match kind {
                ArithOp::Constant => const_of(ir, value).and_then(Attr::int_value).is_some_and(|n| n >= 0),
                ArithOp::Extui => true,
                ArithOp::Extsi | ArithOp::Remsi => self.value_is_at_least_zero(operands[0]),
                ArithOp::Addi | ArithOp::Muli | ArithOp::Divsi | ArithOp::Minsi => {
                    operands.into_iter().all(|v| self.value_is_at_least_zero(v))
                }
                ArithOp::Maxsi | ArithOp::Andi => operands.into_iter().any(|v| self.value_is_at_least_zero(v)),
                ArithOp::Select => operands[1..].iter().all(|&v| self.value_is_at_least_zero(v)),
                _ => false,
            },
            _ => false,
        }
    }

    /// Differences of which one is negative if this polynomial is.
    pub(crate) fn causes(&mut self, poly: &Poly) -> Option<Vec<Poly>> {
        let mut all = vec![];
        for (product, n) in poly.terms() {
            if n < 0 {
                return None;
            }
            for &atom in product {
                if let Atom::Value(v) = atom {
                    all.extend(self.causes_of(v)?);
                }
            }
        }
        Some(all)
    }

    fn causes_of(&mut self, value: Value) -> Option<Vec<Poly>> {
        if self.value_is_at_least_zero(value) {
            return Some(vec![]);
        }
        let ir = self.ir;
        let op = ir.def_op(value)?;
        let OpKind::Arith(kind) = ir.kind(op) else { return None };
        let of = match kind {
            ArithOp::Subi => return Some(vec![self.uniform(value)?]),
            ArithOp::Addi | ArithOp::Muli | ArithOp::Divsi | ArithOp::Minsi => ir.operands(op),
            ArithOp::Remsi | ArithOp::Extsi => &ir.operands(op)[..1],
            _ => return None,
        };
        let mut all = vec![];
        for &operand in of {
            all.extend(self.causes_of(operand)?);
        }
        Some(all)
    }

    /// Whether `end` is at most 0 where `cause` is negative: `end - n · cause` is at most n for some n > 0. Example, of
    /// a grid that has more programs than tiles: `M - 128·m` where `cdiv(M, 128) - m` is negative.
    pub(crate) fn ends_before(&mut self, end: &Poly, cause: &Poly) -> bool {
        let ratios = cause.terms().filter_map(|(product, n)| {
            let (_, m) = end.terms().find(|t| t.0 == product)?;
            (m % n == 0 && m / n > 0).then_some(m / n)
        });
        let ratios: Vec<i64> = ratios.collect();
        ratios.into_iter().any(|n| {
            let rest = cause.scale(-n).and_then(|c| end.add(&c));
            rest.and_then(|rest| self.most_of_quotients(&rest)).and_then(|m| m.as_constant()).is_some_and(|m| m <= n)
        })
    }

    /// An upper bound: `-x / c · c` as c - 1 - x, and without what is subtracted.
    fn most_of_quotients(&mut self, poly: &Poly) -> Option<Poly> {
        let mut most = poly.clone();
        for (product, n) in poly.terms().filter(|t| t.1 < 0) {
            let [Atom::Value(quotient)] = product[..] else { continue };
            let Some((dividend, by)) = self.quotient(quotient).filter(|q| n % q.1 == 0) else { continue };
            let bound = dividend.sub(&Poly::constant(by - 1))?.scale(n / by)?;
            most = most.sub(&Poly::term(product.clone(), n))?.add(&bound)?;
        }
        self.without_subtrahends(&most)
    }

    fn without_subtrahends(&mut self, poly: &Poly) -> Option<Poly> {
        let mut most = poly.clone();
        for (product, n) in poly.terms().filter(|t| t.1 < 0 && !t.0.is_empty()) {
            if product.iter().all(|&a| self.atom_is_at_least_zero(a)) {
                most = most.sub(&Poly::term(product.clone(), n))?;
            }
        }
        Some(most)
    }

    /// Induction variables, values that loops carry, and parameters that count something.
    fn argument_sign(&mut self, value: Value) -> bool {
        if !self.ir.ty(value).is_int() {
            return false;
        }
        match self.of(value) {
            Ok(form) if form.start != Poly::atom(Atom::Value(value)) => self.is_at_least_zero(&form.start),
            _ => counts(self.ir, value) || self.divisors_count && divides(self.ir, value),
        }
    }

    /// Whether a polynomial surely fits into 32 bits: the source computes it with so many, or it is not negative and
    /// not more than something that fits. Example: `64 · trips` of `range(0, cdiv(n, 64))` is at most n - 1.
    pub(crate) fn is_narrow(&mut self, poly: &Poly) -> bool {
        if poly.as_constant().is_some_and(|n| i32::try_from(n).is_ok()) || self.narrow.contains(poly) {
            return true;
        }
        self.is_at_least_zero(poly) && self.is_below_wide(poly)
    }

    /// Whether a polynomial is surely less than 2³¹.
    pub(crate) fn is_below_wide(&mut self, poly: &Poly) -> bool {
        self.most(poly).is_some_and(|most| self.is_below_narrow(&most))
    }

    /// An upper bound: trips as in the last iteration if they count up; `x / c · c` as x; without what is subtracted.
    fn most(&mut self, poly: &Poly) -> Option<Poly> {
        let rising = self.at_the_end(poly, |n| n > 0)?;
        let mut most = self.without_subtrahends(&rising)?;
        for (product, n) in most.clone().terms() {
            let [Atom::Value(quotient)] = product[..] else { continue };
            let Some((dividend, by)) = self.quotient(quotient).filter(|q| n > 0 && n % q.1 == 0) else { continue };
            most = most.sub(&Poly::term(product.clone(), n))?.add(&dividend.scale(n / by)?)?;
        }
        Some(most)
    }

    /// x and c of x / c, if x is not negative and c is a positive constant.
    fn quotient(&mut self, value: Value) -> Option<(Poly, i64)> {
        let ir = self.ir;
        let division = arith::Divsi::defining(ir, value)?;
        let by = const_of(ir, division.rhs(ir))?.int_value().filter(|&n| n > 0)?;
        let dividend = self.uniform(division.lhs(ir))?;
        self.value_is_at_least_zero(division.lhs(ir)).then_some((dividend, by))
    }

    /// Whether this is the difference of two numbers of 32 bits, or less.
    fn is_length(&self, poly: &Poly) -> bool {
        let small = |a: Atom| matches!(a, Atom::Value(v) if self.ir.ty(v).bit_width().is_some_and(|w| w <= 32));
        let mut ends = [0, 0];
        for (product, n) in poly.terms() {
            match (&product[..], n) {
                ([], n) if n <= 0 => {}
                (&[atom], 1 | -1) if small(atom) => ends[usize::from(n < 0)] += 1,
                _ => return false,
            }
        }
        ends == [1, 1]
    }

    /// Whether something that fits is known to be at least as large.
    fn is_below_narrow(&self, poly: &Poly) -> bool {
        poly.as_constant().is_some_and(|n| n <= i64::from(i32::MAX))
            || self.is_length(poly)
            || self.narrow.iter().any(|known| poly.sub(known).and_then(|d| d.as_constant()).is_some_and(|d| d <= 0))
    }
}

/// The loops whose trips a polynomial counts, with the coefficients.
fn counted(poly: &Poly) -> Vec<(Op, i64)> {
    let terms = poly.terms().filter_map(|(product, n)| match product[..] {
        [Atom::Trips(looped)] => Some((looped, n)),
        _ => None,
    });
    terms.collect()
}

/// Whether something is divided by a parameter of the kernel.
fn divides(ir: &Ir, value: Value) -> bool {
    let is_divisor = |u: &Use| u.index == 1 && (ir.is(u.op, ArithOp::Divsi) || ir.is(u.op, ArithOp::Remsi));
    is_parameter(ir, value) && ir.uses(value).iter().any(is_divisor)
}

fn is_parameter(ir: &Ir, value: Value) -> bool {
    let ValueDef::Arg { block, .. } = ir.def(value) else { return false };
    ir.block_op(block).is_some_and(|op| ir.kind(op).is_function())
}

/// Whether a parameter of the kernel counts elements, since indices are compared with it or wrap around at it: such a
/// number is taken not to be negative.
fn counts(ir: &Ir, value: Value) -> bool {
    if !is_parameter(ir, value) {
        return false;
    }
    let splats = ir.users(value).into_iter().filter(|&op| ir.is(op, TtOp::Splat)).map(|op| ir.result(op));
    splats.flat_map(|v| ir.uses(v)).any(|u| {
        let below = arith::Cmpi::of(ir, u.op).is_some_and(|c| c.predicate(ir) == Some(CmpiPredicate::Slt));
        u.index == 1 && (below || ir.is(u.op, ArithOp::Remsi))
    })
}
