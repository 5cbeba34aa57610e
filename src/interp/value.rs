//! Values: the contents of SSA values while a program runs.
//!
//! Every element is a *lane* of 64 bits: an integer zero-extended from its width, a float's pattern, a pointer's
//! address. A scalar has one lane; a tensor has one per element in row-major order, or just one where all are known to
//! be equal ([`Lanes::Splat`]), which keeps masks and constants cheap. The IR's type says how to read the bits, so that
//! a value does not carry it.
//!
//! An index that has wrapped carries, beside its bits, what it would be without wrapping ([`Exact`]). `kernel_facts.rs`
//! says which indices are watched. A value with elements that nobody defined says which those are ([`Undef`], see
//! `undef.rs`). Their bits are zero.

use std::sync::Arc;

use super::tensor_block::Block;
use super::undef::Undef;
use crate::ir::Op;

/// The elements of a value.
#[derive(Clone, Debug)]
pub(crate) enum Lanes {
    /// One value for all elements.
    Splat(u64),
    Full(Arc<Vec<u64>>),
    /// A block pointer or a tensor descriptor.
    Block(Arc<Block>),
}

/// The values that an index would have in unbounded integers, and the operation that was the first to lose them.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    /// One value for each lane, or a single one for all.
    pub(crate) values: Vec<i128>,
    pub(crate) origin: Op,
}

#[derive(Clone, Debug)]
pub(crate) struct Val {
    pub(crate) lanes: Lanes,
    pub(crate) exact: Option<Arc<Exact>>,
    pub(crate) undef: Option<Arc<Undef>>,
}

impl From<Lanes> for Val {
    fn from(lanes: Lanes) -> Val {
        Val { lanes, exact: None, undef: None }
    }
}

impl From<Vec<u64>> for Lanes {
    fn from(lanes: Vec<u64>) -> Lanes {
        Lanes::Full(Arc::new(lanes))
    }
}

impl Exact {
    pub(crate) fn get(&self, i: usize) -> i128 {
        self.values.get(i).or(self.values.first()).copied().unwrap_or(0)
    }
}

impl Val {
    pub(crate) fn splat(bits: u64) -> Val {
        Lanes::Splat(bits).into()
    }

    pub(crate) fn full(lanes: Vec<u64>) -> Val {
        Lanes::from(lanes).into()
    }

    /// The only lane of a scalar.
    pub(crate) fn scalar(&self) -> u64 {
        self.lanes.get(0)
    }

    /// The same elements, with a note of which ones are undefined.
    pub(crate) fn with_undef(self, undef: Option<Arc<Undef>>) -> Val {
        Val { undef, ..self }
    }

    /// The value whose lanes are all equal to the first one.
    pub(crate) fn into_splat(self) -> Val {
        let lanes = if matches!(self.lanes, Lanes::Full(_)) { Lanes::Splat(self.lanes.get(0)) } else { self.lanes };
        Val { lanes, exact: self.exact, undef: self.undef }
    }

    /// The lanes in another order: element `i` of the `n` is element `source(i)` of this one.
    pub(crate) fn rearrange(&self, n: usize, source: impl Fn(usize) -> usize) -> Val {
        let lanes = match &self.lanes {
            Lanes::Full(v) => Lanes::from((0..n).map(|i| v.get(source(i)).copied().unwrap_or(0)).collect::<Vec<_>>()),
            other => other.clone(),
        };
        let exact = self.exact.as_ref().map(|e| {
            let values =
                if e.values.len() == 1 { e.values.clone() } else { (0..n).map(|i| e.get(source(i))).collect() };
            Arc::new(Exact { values, origin: e.origin })
        });
        let undef = self.undef.as_ref().and_then(|u| u.rearrange(n, source));
        Val { lanes, exact, undef }
    }
}

impl Lanes {
    #[inline]
    pub(crate) fn get(&self, i: usize) -> u64 {
        match self {
            Lanes::Splat(b) => *b,
            Lanes::Full(v) => v.get(i).copied().unwrap_or(0),
            Lanes::Block(_) => 0,
        }
    }

    pub(crate) fn is_splat(&self) -> bool {
        !matches!(self, Lanes::Full(_))
    }

    /// The number of lanes that are stored.
    pub(crate) fn stored(&self) -> usize {
        match self {
            Lanes::Full(v) => v.len(),
            Lanes::Splat(_) | Lanes::Block(_) => 1,
        }
    }

    /// All `n` lanes in a vector.
    pub(crate) fn to_vec(&self, n: usize) -> Vec<u64> {
        match self {
            Lanes::Full(v) if v.len() == n => v.to_vec(),
            other => (0..n).map(|i| other.get(i)).collect(),
        }
    }

    #[inline]
    pub(crate) fn map(&self, f: impl Fn(u64) -> u64) -> Lanes {
        match self {
            Lanes::Full(v) => Lanes::from(v.iter().map(|&x| f(x)).collect::<Vec<_>>()),
            other => Lanes::Splat(f(other.get(0))),
        }
    }

    #[inline]
    pub(crate) fn zip(&self, other: &Lanes, f: impl Fn(u64, u64) -> u64) -> Lanes {
        match (self, other) {
            (Lanes::Full(a), Lanes::Full(b)) => {
                Lanes::from(a.iter().zip(b.iter()).map(|(&x, &y)| f(x, y)).collect::<Vec<_>>())
            }
            (Lanes::Full(a), b) => {
                let y = b.get(0);
                Lanes::from(a.iter().map(|&x| f(x, y)).collect::<Vec<_>>())
            }
            (a, Lanes::Full(b)) => {
                let x = a.get(0);
                Lanes::from(b.iter().map(|&y| f(x, y)).collect::<Vec<_>>())
            }
            (a, b) => Lanes::Splat(f(a.get(0), b.get(0))),
        }
    }

    #[inline]
    pub(crate) fn zip3(&self, b: &Lanes, c: &Lanes, f: impl Fn(u64, u64, u64) -> u64) -> Lanes {
        let n = self.stored().max(b.stored()).max(c.stored());
        if self.is_splat() && b.is_splat() && c.is_splat() {
            return Lanes::Splat(f(self.get(0), b.get(0), c.get(0)));
        }
        Lanes::from((0..n).map(|i| f(self.get(i), b.get(i), c.get(i))).collect::<Vec<_>>())
    }

    /// The first lane for which the condition holds.
    pub(crate) fn position(&self, f: impl Fn(u64) -> bool) -> Option<usize> {
        match self {
            Lanes::Full(v) => v.iter().position(|&x| f(x)),
            other => f(other.get(0)).then_some(0),
        }
    }
}

/// Row-major strides of a shape.
pub(crate) fn strides(shape: &[i64]) -> Vec<usize> {
    let mut out = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        out[i - 1] = out[i] * shape[i] as usize;
    }
    out
}

/// For each element of `shape` in row-major order, the sum of its coordinates times `strides`.
///
/// Example: shape 2×3 with strides (1, 2) gives 0 2 4 1 3 5, the transposition of a 3×2 tensor.
pub(crate) fn offsets(shape: &[i64], strides: &[usize]) -> Vec<usize> {
    let mut out = vec![0usize];
    for (&size, &stride) in shape.iter().zip(strides) {
        out = out.iter().flat_map(|&base| (0..size as usize).map(move |i| base + i * stride)).collect();
    }
    out
}

/// The coordinates of a row-major position.
pub(crate) fn coordinates(shape: &[i64], index: usize) -> Vec<usize> {
    let mut rest = index;
    let mut out = vec![0; shape.len()];
    for (slot, &size) in out.iter_mut().zip(shape).rev() {
        (*slot, rest) = (rest % size.max(1) as usize, rest / size.max(1) as usize);
    }
    out
}
