//! Product, quotient, composition and restriction of layouts.
//!
//! - `a.product(b)` puts two layouts side by side: `a` acts on the low bits of each dimension, `b` on the high bits.
//!   Tiles are built from it: 4 registers times 8 lanes times 2 warps. `identity(4, i → o) · identity(2, i → o)` is
//!   `identity(8, i → o)`. `identity(4, i → o) · zeros(2, i → o)` is `x mod 4` on 8 inputs; with the factors exchanged
//!   it is `x div 2`.
//! - `a.divide_left(b)` finds the `c` with `a = b · c`, if there is one. A wide instruction can do a layout when the
//!   instruction's tile divides it.
//! - `a.compose(b)` is `x ↦ b(a(x))`.
//! - `a.sublayout(ins, outs)` is the block of the matrix with these columns and rows.

use super::Dim;
use super::linear::{LinearLayout, low_bits, select};

/// Moves bit fields of a packed number. Each field is `(from, bits, to)`.
struct Repack(Vec<(u32, u32, u32)>);

impl Repack {
    fn apply(&self, column: u64) -> u64 {
        self.0
            .iter()
            .filter(|f| f.1 > 0)
            .fold(0, |acc, &(from, bits, to)| acc | ((column >> from) & low_bits(bits)) << to)
    }
}

/// The dimensions of both lists in an order that agrees with each. Where both orders are possible, those of `a` come
/// first.
///
/// # Panics
/// Panics if the lists order two dimensions differently.
fn merge_dims(a: &[(Dim, u32)], b: &[(Dim, u32)]) -> Vec<Dim> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let mut rest = b.iter().map(|d| d.0).peekable();
    for &(dim, _) in a {
        if b.iter().any(|d| d.0 == dim) {
            while let Some(next) = rest.peek().copied() {
                if next != dim && a.iter().any(|d| d.0 == next) {
                    assert!(merged.contains(&next), "the factors of a product order {dim} and {next} differently");
                }
                rest.next();
                if next == dim {
                    break;
                }
                merged.push(next);
            }
        }
        merged.push(dim);
    }
    merged.extend(rest);
    merged
}

impl LinearLayout {
    /// `self · outer`: the direct sum, `self` on the low bits of every dimension and `outer` on the high bits.
    ///
    /// The product is associative but not commutative, and keeps surjectivity. Dimensions that only one factor has are
    /// added.
    ///
    /// # Panics
    /// Panics if the factors order common dimensions differently, or the result has more than 64 bits.
    #[must_use]
    pub fn product(&self, outer: &LinearLayout) -> LinearLayout {
        let bits = |dims: Vec<Dim>, f: &dyn Fn(&LinearLayout, Dim) -> u32| -> Vec<(Dim, u32)> {
            dims.into_iter().map(|d| (d, f(self, d) + f(outer, d))).collect()
        };
        let ins = bits(merge_dims(&self.ins, &outer.ins), &LinearLayout::in_bits);
        let outs = bits(merge_dims(&self.outs, &outer.outs), &LinearLayout::out_bits);
        let mut result = LinearLayout { ins, outs, columns: Vec::new() };
        assert!(
            result.total_in_bits() <= 64 && result.total_out_bits() <= 64,
            "a layout has at most 64 bits in and out"
        );
        let inner_fields =
            Repack(self.outs.iter().map(|&(d, n)| (self.out_shift(d), n, result.out_shift(d))).collect());
        let outer_fields = Repack(
            outer.outs.iter().map(|&(d, n)| (outer.out_shift(d), n, result.out_shift(d) + self.out_bits(d))).collect(),
        );
        let mut columns = Vec::with_capacity(self.columns.len() + outer.columns.len());
        for &(dim, _) in &result.ins {
            columns.extend(self.columns_of(dim).iter().map(|&c| inner_fields.apply(c)));
            columns.extend(outer.columns_of(dim).iter().map(|&c| outer_fields.apply(c)));
        }
        result.columns = columns;
        result
    }

    /// The `c` with `self = divisor · c`, with the dimensions of `self`. It is `None` when there is none.
    #[must_use]
    pub fn divide_left(&self, divisor: &LinearLayout) -> Option<LinearLayout> {
        let quotient = self.divided_sizes(divisor)?;
        let fields = Repack(
            quotient
                .outs
                .iter()
                .map(|&(d, n)| (self.out_shift(d) + divisor.out_bits(d), n, quotient.out_shift(d)))
                .collect(),
        );
        self.checked_quotient(
            divisor,
            quotient,
            &fields,
            |columns, divided| columns.split_at(divided).1,
            LinearLayout::product,
            true,
        )
    }

    /// The `c` with `self = c · divisor`, with the dimensions of `self`. It is `None` when there is none.
    #[must_use]
    pub fn divide_right(&self, divisor: &LinearLayout) -> Option<LinearLayout> {
        let quotient = self.divided_sizes(divisor)?;
        let fields =
            Repack(quotient.outs.iter().map(|&(d, n)| (self.out_shift(d), n, quotient.out_shift(d))).collect());
        self.checked_quotient(
            divisor,
            quotient,
            &fields,
            |columns, divided| &columns[..columns.len() - divided],
            LinearLayout::product,
            false,
        )
    }

    /// Fills in the quotient's columns, and keeps it only if multiplying gives `self` back.
    fn checked_quotient(
        &self,
        divisor: &LinearLayout,
        mut quotient: LinearLayout,
        fields: &Repack,
        rest: impl Fn(&[u64], usize) -> &[u64],
        product: impl Fn(&LinearLayout, &LinearLayout) -> LinearLayout,
        left: bool,
    ) -> Option<LinearLayout> {
        quotient.columns = self
            .in_dims()
            .flat_map(|d| {
                rest(self.columns_of(d), divisor.in_bits(d) as usize)
                    .iter()
                    .map(|&c| fields.apply(c))
                    .collect::<Vec<_>>()
            })
            .collect();
        let dims = |l: &[(Dim, u32)]| -> Vec<Dim> { l.iter().map(|d| d.0).collect() };
        // The divisor may lack dimensions of `self` or order them differently, so it is first brought into the order of
        // `self`.
        let divisor = divisor.widened_to(&dims(&self.ins), &dims(&self.outs));
        let again = if left { product(&divisor, &quotient) } else { product(&quotient, &divisor) };
        (again == *self).then_some(quotient)
    }

    /// The dimensions of a quotient, with sizes divided and no columns yet. It is `None` when the divisor has more
    /// dimensions.
    fn divided_sizes(&self, divisor: &LinearLayout) -> Option<LinearLayout> {
        if divisor.in_dims().any(|d| !self.has_in(d)) || divisor.out_dims().any(|d| !self.has_out(d)) {
            return None;
        }
        let ins =
            self.ins.iter().map(|&(d, n)| Some((d, n.checked_sub(divisor.in_bits(d))?))).collect::<Option<_>>()?;
        let outs =
            self.outs.iter().map(|&(d, n)| Some((d, n.checked_sub(divisor.out_bits(d))?))).collect::<Option<_>>()?;
        Some(LinearLayout { ins, outs, columns: Vec::new() })
    }

    /// The same map with dimensions of size 1 added, so that it has exactly these dimensions in this order.
    fn widened_to(&self, ins: &[Dim], outs: &[Dim]) -> LinearLayout {
        let mut wide = self.clone();
        wide.ins.extend(ins.iter().filter(|&&d| !self.has_in(d)).map(|&d| (d, 0)));
        wide.outs.extend(outs.iter().filter(|&&d| !self.has_out(d)).map(|&d| (d, 0)));
        wide.transpose_ins(ins).transpose_outs(outs)
    }

    /// The composition `x ↦ outer(self(x))`.
    ///
    /// # Panics
    /// Panics if the outputs of `self` are not the inputs of `outer` (in any order), or one of them is larger.
    #[must_use]
    pub fn compose(&self, outer: &LinearLayout) -> LinearLayout {
        assert!(
            self.outs.len() == outer.ins.len(),
            "composition needs the outputs of one layout to be the inputs of the other"
        );
        let fields: Vec<(u32, u32, &[u64])> = self
            .outs
            .iter()
            .map(|&(d, n)| {
                assert!(
                    outer.has_in(d) && n <= outer.in_bits(d),
                    "composition needs {d} of size {} or more as an input",
                    1u64 << n
                );
                (self.out_shift(d), n, outer.columns_of(d))
            })
            .collect();
        let value = |c: u64| {
            fields
                .iter()
                .filter(|f| f.1 > 0)
                .fold(0, |acc, &(from, n, columns)| acc ^ select(columns, (c >> from) & low_bits(n)))
        };
        LinearLayout {
            ins: self.ins.clone(),
            outs: outer.outs.clone(),
            columns: self.columns.iter().map(|&c| value(c)).collect(),
        }
    }

    /// The layout with only these dimensions. Other inputs are 0 and other outputs are left out. Order and sizes are
    /// those of `self`.
    ///
    /// # Panics
    /// Panics if `self` lacks one of the dimensions.
    #[must_use]
    pub fn sublayout(&self, ins: &[Dim], outs: &[Dim]) -> LinearLayout {
        assert!(
            ins.iter().all(|&d| self.has_in(d)) && outs.iter().all(|&d| self.has_out(d)),
            "a sublayout has dimensions of its layout"
        );
        let kept = |dims: &[(Dim, u32)], keep: &[Dim]| {
            dims.iter().copied().filter(|d| keep.contains(&d.0)).collect::<Vec<_>>()
        };
        let mut result = LinearLayout { ins: kept(&self.ins, ins), outs: kept(&self.outs, outs), columns: Vec::new() };
        let fields = Repack(result.outs.iter().map(|&(d, n)| (self.out_shift(d), n, result.out_shift(d))).collect());
        result.columns = result.ins.iter().flat_map(|d| self.columns_of(d.0)).map(|&c| fields.apply(c)).collect();
        result
    }

    /// Whether none of these inputs moves along any of these outputs.
    ///
    /// # Panics
    /// Panics if `self` lacks one of the dimensions.
    #[must_use]
    pub fn sublayout_is_zero(&self, ins: &[Dim], outs: &[Dim]) -> bool {
        self.sublayout(ins, outs).columns.iter().all(|&c| c == 0)
    }

    /// Whether the layout is the identity on these dimensions, while they reach no other outputs and no other inputs
    /// reach them. It is `false` when a dimension is missing on either side.
    #[must_use]
    pub fn is_trivial_over(&self, dims: &[Dim]) -> bool {
        if dims.iter().any(|&d| !self.has_in(d) || !self.has_out(d) || self.in_bits(d) != self.out_bits(d)) {
            return false;
        }
        let identity_on = |d: Dim| {
            let shift = self.out_shift(d);
            self.columns_of(d).iter().enumerate().all(|(i, &c)| c == 1 << (i as u32 + shift))
        };
        let (others, _) = self.dims_without(dims);
        dims.iter().all(|&d| identity_on(d)) && self.sublayout_is_zero(&others, dims)
    }

    /// The rest of a layout that is trivial over `dims`. It is `None` when the layout is not trivial there.
    #[must_use]
    pub fn quotient(&self, dims: &[Dim]) -> Option<LinearLayout> {
        let (ins, outs) = self.dims_without(dims);
        self.is_trivial_over(dims).then(|| self.sublayout(&ins, &outs))
    }

    fn dims_without(&self, dims: &[Dim]) -> (Vec<Dim>, Vec<Dim>) {
        (
            self.in_dims().filter(|d| !dims.contains(d)).collect(),
            self.out_dims().filter(|d| !dims.contains(d)).collect(),
        )
    }

    /// How many consecutive values of the first input give consecutive values of the first output, starting at any
    /// multiple. That is the width at which a lowering may move elements together. It is 4 for `register = [1, 2, 64]`
    /// when no other basis has the two low bits.
    #[must_use]
    pub fn num_consecutive_in_out(&self) -> u32 {
        let (Some(&(_, in_bits)), Some(&(_, out_bits))) = (self.ins.first(), self.outs.first()) else { return 1 };
        let run = (0..in_bits).take_while(|&i| self.columns[i as usize] == 1 << i).count();
        let others = self.columns[run..].iter().fold(0, |acc, c| acc | c) & low_bits(out_bits);
        1 << (run as u32).min(others.trailing_zeros())
    }

    /// Whether both have the same dimensions and bases, whatever the sizes of the outputs.
    #[must_use]
    pub fn equal_ignoring_out_sizes(&self, other: &LinearLayout) -> bool {
        self.ins == other.ins
            && self.out_dims().eq(other.out_dims())
            && self.in_dims().all(|d| self.bases(d) == other.bases(d))
    }
}
