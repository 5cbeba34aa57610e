//! Rank, free variables, inverse and least solutions of layouts. All of them come from one elimination.
//!
//! # Algorithm
//!
//! 1. Take the columns of the layout in order. Reduce each by the pivots so far (each pivot owns its highest set bit).
//! 2. If something is left, the column is independent of those before it. It becomes a pivot, and it is remembered
//!    which combination of original columns the pivot stands for.
//! 3. If nothing is left, its input bit is a *free variable*: it can be changed, together with earlier bits, without
//!    changing the output.
//! 4. To solve `L(x) = y`, `y` is reduced by the pivots and the combinations are collected. Only bits that are not free
//!    take part. So where there is a choice, the solution uses the lower bits: register 0 rather than register 4.
//!
//! Example: columns `1, 3, 2`. Pivot 1 is column 0. `3` reduces to itself (highest bit 1), so pivot 2 is column 1.
//! `2 = 3 ⊕ 1` reduces to 0, so bit 2 is free. `L(x) = 2` gives `x = 0b011`.

use super::Dim;
use super::linear::LinearLayout;

/// The pivots of an elimination, by highest bit. Each is the reduced vector and the set of columns whose sum it is.
#[derive(Clone)]
pub(super) struct Pivots {
    by_bit: [Option<(u64, u64)>; 64],
}

impl Pivots {
    pub(super) fn new() -> Pivots {
        Pivots { by_bit: [None; 64] }
    }

    /// The remainder of `vector`, and the columns that were subtracted.
    pub(super) fn reduce(&self, mut vector: u64) -> (u64, u64) {
        let (mut columns, mut remainder) = (0, 0);
        while vector != 0 {
            let bit = vector.ilog2();
            if let Some((pivot, combination)) = self.by_bit[bit as usize] {
                vector ^= pivot;
                columns ^= combination;
            } else {
                remainder |= 1 << bit;
                vector ^= 1 << bit;
            }
        }
        (remainder, columns)
    }

    /// Adds a column. The result is `false` when it depends on the earlier ones.
    pub(super) fn insert(&mut self, index: usize, column: u64) -> bool {
        let (remainder, columns) = self.reduce(column);
        if remainder == 0 {
            return false;
        }
        self.by_bit[remainder.ilog2() as usize] = Some((remainder, columns ^ 1 << index));
        true
    }

    pub(super) fn of(columns: &[u64]) -> Pivots {
        let mut pivots = Pivots::new();
        for (i, &c) in columns.iter().enumerate() {
            pivots.insert(i, c);
        }
        pivots
    }
}

impl LinearLayout {
    /// The number of independent bases.
    #[must_use]
    pub fn rank(&self) -> u32 {
        let mut pivots = Pivots::new();
        self.columns.iter().enumerate().filter(|(i, c)| pivots.insert(*i, **c)).count() as u32
    }

    /// Whether every output is reached.
    #[must_use]
    pub fn is_surjective(&self) -> bool {
        self.rank() == self.total_out_bits()
    }

    /// Whether no two inputs share an output.
    #[must_use]
    pub fn is_injective(&self) -> bool {
        self.rank() == self.total_in_bits()
    }

    #[must_use]
    pub fn is_invertible(&self) -> bool {
        self.total_in_bits() == self.total_out_bits() && self.is_surjective()
    }

    /// The free bits of each input dimension. An element is held once for each assignment of the free bits, and the
    /// holder in which all of them are 0 is the one to store it.
    #[must_use]
    pub fn free_variables(&self) -> Vec<(Dim, u32)> {
        let mut pivots = Pivots::new();
        let mut index = 0;
        let mut masks = Vec::with_capacity(self.ins.len());
        for &(dim, bits) in &self.ins {
            let mut mask = 0;
            for bit in 0..bits {
                if !pivots.insert(index, self.columns[index]) {
                    mask |= 1 << bit;
                }
                index += 1;
            }
            masks.push((dim, mask));
        }
        masks
    }

    /// The inverse. It is `None` when the layout is not invertible.
    #[must_use]
    pub fn invert(&self) -> Option<LinearLayout> {
        if self.is_invertible() { self.pseudoinvert() } else { None }
    }

    /// A `p` with `self(p(y)) = y` for every `y`, using the lowest input bits. It is `None` when the layout is not
    /// surjective.
    #[must_use]
    pub fn pseudoinvert(&self) -> Option<LinearLayout> {
        let outs: Vec<Dim> = self.out_dims().collect();
        let identity = outs
            .iter()
            .fold(LinearLayout::empty(), |acc, &d| acc.product(&LinearLayout::identity1d(self.out_size(d), d, d)));
        identity.invert_and_compose(self)
    }

    /// The `c` with `outer(c(x)) = self(x)`, which says where `outer` holds what `self` holds at `x`.
    ///
    /// For example, `self` goes from (lane, warp) and `outer` from shared memory's offset, both to the tensor. Then `c`
    /// says at which offset a lane finds its element. An input dimension on which both layouts have the same bases is
    /// mapped by the identity, so threads which hold copies on both sides keep their own. Elsewhere, a copy in `outer`
    /// is found at the lowest place.
    ///
    /// The result is `None` when the outputs differ in name, when `self` has a larger output than `outer`, or when
    /// `self` reaches something that `outer` does not hold.
    #[must_use]
    pub fn invert_and_compose(&self, outer: &LinearLayout) -> Option<LinearLayout> {
        let outs: Vec<Dim> = self.out_dims().collect();
        if outs.len() != outer.outs.len()
            || outs.iter().any(|&d| !outer.has_out(d) || self.out_bits(d) > outer.out_bits(d))
        {
            return None;
        }
        let outer_here = outer.transpose_outs(&outs);
        // Once this has the sizes of `outer`, a packed column of one means the same as a packed column of the other.
        let here = LinearLayout {
            ins: self.ins.clone(),
            outs: outer_here.outs.clone(),
            columns: self.repacked_columns(&outer_here),
        };
        let shared: Vec<Dim> = outer_here
            .in_dims()
            .filter(|&d| here.has_in(d) && here.columns_of(d) == outer_here.columns_of(d))
            .collect();
        let rest = |l: &LinearLayout| l.in_dims().filter(|d| !shared.contains(d)).collect::<Vec<_>>();
        let separate =
            least_solution(&outer_here.sublayout(&rest(&outer_here), &outs), &here.sublayout(&rest(&here), &outs));
        let identity = |d| LinearLayout::identity1d(outer_here.in_size(d), d, d);
        // If the other dimensions repeat what a common one holds, they may not be enough on one side. Then all
        // dimensions take part.
        let result = match separate {
            Some(found) => shared.iter().fold(found, |result, &d| result.product(&identity(d))),
            None => least_solution(&outer_here, &here)?,
        };
        Some(
            result
                .transpose_ins(&self.in_dims().collect::<Vec<_>>())
                .transpose_outs(&outer.in_dims().collect::<Vec<_>>()),
        )
    }

    /// The columns of `self`, packed for the output sizes of `like`. It has the same dimensions in the same order, none
    /// of them smaller.
    fn repacked_columns(&self, like: &LinearLayout) -> Vec<u64> {
        let pack = |c: u64| {
            self.out_dims().zip(self.unpack(c)).fold(0, |acc, (d, v)| {
                if v == 0 { acc } else { acc | u64::from(v.unsigned_abs()) << like.out_shift(d) }
            })
        };
        self.columns.iter().map(|&c| pack(c)).collect()
    }
}

/// The `x` with `a ∘ x = b` that leaves the free variables of `a` at 0. Both have the same outputs. It is `None` when
/// `b` reaches further than `a`.
fn least_solution(a: &LinearLayout, b: &LinearLayout) -> Option<LinearLayout> {
    let pivots = Pivots::of(&a.columns);
    let columns = b
        .columns
        .iter()
        .map(|&c| {
            let (remainder, columns) = pivots.reduce(c);
            (remainder == 0).then_some(columns)
        })
        .collect::<Option<Vec<u64>>>()?;
    Some(LinearLayout { ins: b.ins.clone(), outs: a.ins.clone(), columns })
}
