//! Polynomials over the integers of a kernel: sums of products of its scalars, with whole coefficients.
//!
//! Addresses and bounds are compared and taken apart in this form. `(m * 128 + 3) * s` is `128·m·s + 3·s`, however the
//! source wrote it. The arithmetic is that of the integers: nothing wraps around (`forms.rs` says why that may be
//! assumed). Polynomials that would get large are refused: every operation gives `None` then.

use std::collections::BTreeMap;

use crate::ir::core::{Op, Value};

/// A scalar that is not taken apart further.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Atom {
    Value(Value),
    /// How many iterations of this `scf.for` are done.
    Trips(Op),
}

/// A product of atoms, in order; none is 1.
pub(crate) type Product = Vec<Atom>;

/// Larger polynomials and products are refused.
const MOST_TERMS: usize = 24;
const MOST_FACTORS: usize = 5;

/// The coefficient of each product; none is zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Poly(BTreeMap<Product, i64>);

impl Poly {
    pub(crate) fn constant(n: i64) -> Poly {
        Poly::term(vec![], n)
    }

    pub(crate) fn atom(atom: Atom) -> Poly {
        Poly::term(vec![atom], 1)
    }

    pub(crate) fn term(product: Product, coefficient: i64) -> Poly {
        Poly(BTreeMap::from([(product, coefficient)]).into_iter().filter(|t| t.1 != 0).collect())
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The value, if there is no atom.
    pub(crate) fn as_constant(&self) -> Option<i64> {
        match self.0.first_key_value() {
            None => Some(0),
            Some((product, &n)) => (self.0.len() == 1 && product.is_empty()).then_some(n),
        }
    }

    pub(crate) fn terms(&self) -> impl Iterator<Item = (&Product, i64)> {
        self.0.iter().map(|(product, &n)| (product, n))
    }

    pub(crate) fn atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        self.0.keys().flatten().copied()
    }

    pub(crate) fn add(&self, other: &Poly) -> Option<Poly> {
        let mut sum = self.0.clone();
        for (product, &n) in &other.0 {
            let at = sum.entry(product.clone()).or_default();
            *at = at.checked_add(n)?;
        }
        sum.retain(|_, n| *n != 0);
        (sum.len() <= MOST_TERMS).then_some(Poly(sum))
    }

    pub(crate) fn sub(&self, other: &Poly) -> Option<Poly> {
        self.add(&other.scale(-1)?)
    }

    pub(crate) fn scale(&self, by: i64) -> Option<Poly> {
        self.mul(&Poly::constant(by))
    }

    pub(crate) fn mul(&self, other: &Poly) -> Option<Poly> {
        let mut sum = Poly::default();
        for (a, &n) in &self.0 {
            for (b, &m) in &other.0 {
                let mut product: Product = a.iter().chain(b).copied().collect();
                product.sort_unstable();
                if product.len() > MOST_FACTORS {
                    return None;
                }
                sum = sum.add(&Poly::term(product, n.checked_mul(m)?))?;
            }
        }
        Some(sum)
    }

    /// The terms that are asked for by their products and coefficients, and the others.
    pub(crate) fn split(&self, first: impl Fn(&Product, i64) -> bool) -> (Poly, Poly) {
        let (a, b) = self.0.iter().map(|(p, &n)| (p.clone(), n)).partition(|(p, n)| first(p, *n));
        (Poly(a), Poly(b))
    }

    /// What times this single term gives the term `n · product`. Example: `128·s` in `256·m·s` is `2·m`.
    pub(crate) fn quotient(&self, product: &Product, n: i64) -> Option<Poly> {
        let mut terms = self.0.iter();
        let (Some((divisor, &d)), None) = (terms.next(), terms.next()) else { return None };
        let mut left = product.clone();
        for atom in divisor {
            let at = left.iter().position(|a| a == atom)?;
            left.remove(at);
        }
        (n % d == 0).then(|| Poly::term(left, n / d))
    }

    /// What an atom is multiplied with; `None` where it is multiplied with itself.
    pub(crate) fn coefficient(&self, atom: Atom) -> Option<Poly> {
        let mut sum = Poly::default();
        for (product, n) in self.terms() {
            let rest: Product = product.iter().copied().filter(|&a| a != atom).collect();
            match product.len() - rest.len() {
                0 => {}
                1 => sum = sum.add(&Poly::term(rest, n))?,
                _ => return None,
            }
        }
        Some(sum)
    }

    /// How often another polynomial is in this one, if that is a whole number other than zero, and what is left then.
    pub(crate) fn without(&self, other: &Poly) -> Option<(i64, Poly)> {
        let (product, &n) = other.0.iter().find(|(product, _)| !product.is_empty())?;
        let here = *self.0.get(product)?;
        let times = (here % n == 0).then_some(here / n)?;
        Some((times, self.sub(&other.scale(times)?)?))
    }

    /// The number of factors of its largest product.
    pub(crate) fn degree(&self) -> usize {
        self.0.keys().map(Vec::len).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::core::entity::Entity;

    fn x(n: usize) -> Poly {
        Poly::atom(Atom::Value(Value::new(n)))
    }

    #[test]
    fn products_of_sums_are_sums_of_products() {
        let (m, s) = (x(1), x(2));
        let left = m.scale(128).unwrap().add(&Poly::constant(3)).unwrap().mul(&s).unwrap();
        let right = s.mul(&m).unwrap().scale(128).unwrap().add(&s.scale(3).unwrap()).unwrap();
        assert_eq!(left, right);
        assert!(left.sub(&right).unwrap().is_zero());
    }

    #[test]
    fn a_term_is_divided_by_a_term() {
        let ms = x(1).mul(&x(2)).unwrap().scale(256).unwrap();
        let (product, n) = ms.terms().next().unwrap();
        assert_eq!(x(2).scale(128).unwrap().quotient(product, n), x(1).scale(2));
        assert_eq!(x(2).scale(3).unwrap().quotient(product, n), None, "3 is no divisor of 256");
        assert_eq!(x(3).quotient(product, n), None);
        assert_eq!(x(1).add(&x(2)).unwrap().quotient(product, n), None, "a sum is no divisor");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let big = Poly::constant(i64::MAX);
        assert_eq!(big.add(&Poly::constant(1)), None);
        assert_eq!(big.scale(2), None);
        let product = (0..=MOST_FACTORS).try_fold(Poly::constant(1), |p, n| p.mul(&x(n)));
        assert_eq!(product, None);
        assert_eq!((0..=MOST_TERMS).try_fold(Poly::default(), |p, n| p.add(&x(n))), None);
    }
}
