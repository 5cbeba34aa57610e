//! `LinearLayout`: a linear map over the field of two elements, from a place in the machine to the coordinates of a
//! tensor element.
//!
//! # Definition
//!
//! A layout has named input dimensions and named output dimensions, each of a size that is a power of two. It is a
//! function `L` with
//!
//! ```text
//! L(x ⊕ y) = L(x) ⊕ L(y)        (⊕ is exclusive or, on every dimension at once)
//! ```
//!
//! so `L(0) = 0`, and `L` is known once its value at each single input bit is known. Those values are the *bases*: for
//! an input dimension of size `2^k` there are `k` of them, `L(1), L(2), L(4), …`, each a vector with one coordinate per
//! output dimension. Any other value is the exclusive or of the bases that the set bits of the input pick.
//!
//! # Why
//!
//! With one representation, questions like "where is this element", "do two layouts agree" and "which shuffle turns one
//! into the other" belong to linear algebra. Otherwise there would be a case for each pair of encodings.
//!
//! The map goes from the machine to the tensor and not back, since an element may be held in several places (broadcast)
//! but a place holds one element.
//!
//! # Worked examples
//!
//! 1. *Identity.* Eight registers hold eight elements: bases `1, 2, 4`, so `L(5) = L(4) ⊕ L(1) = 5`.
//! 2. *Broadcast.* Every lane holds the same four elements: `register = [1, 2]`, `lane = [0, 0, 0, 0, 0]`.
//! 3. *A blocked tile.* A warp holds a 16×16 tile; a thread owns 1×8 neighbours, two threads a row, sixteen rows:
//!
//!    ```text
//!    register=1 → (0, 1)    lane=1 → (0, 8)
//!    register=2 → (0, 2)    lane=2 → (1, 0)
//!    register=4 → (0, 4)    lane=4 → (2, 0)   lane=8 → (4, 0)   lane=16 → (8, 0)
//!    ```
//!
//!    Lane 5, register 3 holds `(0,8) ⊕ (2,0) ⊕ (0,1) ⊕ (0,2) = (2, 11)`.
//! 4. *A swizzle.* Shared memory holds a 4×4 matrix, row `r` rotated by exclusive or with `r`: `offset=1 → (0,1)`, `2 →
//!    (0,2)`, `4 → (1,1)`, `8 → (2,2)`. Offset 13 is `(0,1) ⊕ (1,1) ⊕ (2,2) = (3, 2)`. Column 0 lies at the offsets 0,
//!    5, 10 and 15: four different banks.
//!
//! # Properties
//!
//! - *surjective*: every output is reached, that is, the bases span the output space. Every layout of a tensor is
//!   surjective.
//! - *injective*: no two inputs share an output. A layout with broadcasts is not injective. The input bits that do not
//!   matter are its *free variables* ([`super::queries::free_variable_masks`]).
//! - The order of the dimensions matters only where a layout is flattened. Then the first dimension is the
//!   fastest-running.
//!
//! # Representation
//!
//! The output coordinates are packed into one `u64`, with the first output dimension in the lowest bits. A layout is
//! then a column for each input bit, first input dimension first. Reshaping only relabels, and composition, rank and
//! inverse are bit operations on columns. The files beside this one hold the operations: `algebra` (product, quotient,
//! composition), `solve` (inverse, rank, free variables), `reshape` (transposition, sizes, concatenation).

use super::{Dim, LayoutError};
use std::fmt;

/// A linear map over the field of two elements. The module documentation defines it.
///
/// `==` compares dimensions with their order, sizes and bases; [`LinearLayout::same_map`] ignores the order of
/// dimensions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LinearLayout {
    /// Input dimensions, each with the logarithm of its size.
    pub(super) ins: Vec<(Dim, u32)>,
    /// Output dimensions, each with the logarithm of its size.
    pub(super) outs: Vec<(Dim, u32)>,
    /// The value at each input bit, with the output coordinates packed.
    pub(super) columns: Vec<u64>,
}

/// The logarithm of a power of two.
///
/// # Panics
/// Panics if `size` is no power of two.
pub(super) fn log2(size: u32) -> u32 {
    assert!(size.is_power_of_two(), "the size of a layout dimension is a power of two, not {size}");
    size.trailing_zeros()
}

/// A number with the low `bits` bits set.
pub(crate) fn low_bits(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl LinearLayout {
    /// The map of no dimensions, which is the unit of [`LinearLayout::product`].
    #[must_use]
    pub fn empty() -> LinearLayout {
        LinearLayout::default()
    }

    /// The map `L(x) = stride · x` for `x < size`. The output has size `stride · size`.
    #[must_use]
    pub fn strided1d(size: u32, stride: u32, input: Dim, output: Dim) -> LinearLayout {
        let (bits, shift) = (log2(size), log2(stride));
        LinearLayout {
            ins: vec![(input, bits)],
            outs: vec![(output, bits + shift)],
            columns: (0..bits).map(|i| 1 << (i + shift)).collect(),
        }
    }

    /// The map `L(x) = x` for `x < size`.
    #[must_use]
    pub fn identity1d(size: u32, input: Dim, output: Dim) -> LinearLayout {
        LinearLayout::strided1d(size, 1, input, output)
    }

    /// The map `L(x) = 0` for `x < size`, into an output of size `out_size`. With 1, the map stays surjective.
    #[must_use]
    pub fn zeros1d(size: u32, input: Dim, output: Dim, out_size: u32) -> LinearLayout {
        let bits = log2(size);
        LinearLayout { ins: vec![(input, bits)], outs: vec![(output, log2(out_size))], columns: vec![0; bits as usize] }
    }

    /// The identity from one input dimension onto several axes, of which `shape[order[0]]` runs fastest. The output
    /// dimensions come in `order`.
    #[must_use]
    pub fn identity_nd(input: Dim, shape: &[u32], order: &[u32]) -> LinearLayout {
        let mut layout = LinearLayout::empty();
        for &axis in order {
            layout = layout.product(&LinearLayout::identity1d(shape[axis as usize], input, Dim::axis(axis as usize)));
        }
        layout
    }

    /// The map with these bases (`bases[d].1[i]` is the value at bit `i` of input `d`) into outputs of these sizes.
    ///
    /// # Errors
    /// Fails if a basis has the wrong length, a coordinate is negative or not below its size, a size is no power of
    /// two, a dimension is named twice, or there are more than 64 bits in or out.
    pub fn from_bases(bases: &[(Dim, Vec<Vec<i32>>)], outs: &[(Dim, u32)]) -> Result<LinearLayout, LayoutError> {
        let mut layout = LinearLayout::empty();
        for &(dim, size) in outs {
            if !size.is_power_of_two() {
                return Err(LayoutError::new(format!("the size of {dim} is {size}, expected a power of two")));
            }
            layout.outs.push((dim, size.trailing_zeros()));
        }
        for (dim, vectors) in bases {
            layout.ins.push((*dim, u32::try_from(vectors.len()).unwrap_or(u32::MAX)));
        }
        layout.check_dims()?;
        for (dim, vectors) in bases {
            for vector in vectors {
                let column = layout.pack_checked(*dim, vector)?;
                layout.columns.push(column);
            }
        }
        Ok(layout)
    }

    /// Does what [`LinearLayout::from_bases`] does, with each output of the smallest size that fits its coordinates.
    ///
    /// # Errors
    /// Fails where [`LinearLayout::from_bases`] does.
    pub fn from_bases_inferred(bases: &[(Dim, Vec<Vec<i32>>)], outs: &[Dim]) -> Result<LinearLayout, LayoutError> {
        let mut sizes = vec![1u32; outs.len()];
        for vector in bases.iter().flat_map(|(_, vectors)| vectors) {
            for (size, &c) in sizes.iter_mut().zip(vector) {
                *size = (*size).max((c.max(0).unsigned_abs() + 1).next_power_of_two());
            }
        }
        let outs: Vec<(Dim, u32)> = outs.iter().copied().zip(sizes).collect();
        LinearLayout::from_bases(bases, &outs)
    }

    /// Checks that each name comes once, and that there are at most 64 bits in and out.
    fn check_dims(&self) -> Result<(), LayoutError> {
        for (what, dims) in [("input", &self.ins), ("output", &self.outs)] {
            if let Some((i, (dim, _))) = dims.iter().enumerate().find(|(i, d)| dims[..*i].iter().any(|e| e.0 == d.0)) {
                return Err(LayoutError::new(format!("{what} dimension {i} repeats {dim}")));
            }
            let bits: u64 = dims.iter().map(|d| u64::from(d.1)).sum();
            if bits > 64 || dims.iter().any(|d| d.1 > 31) {
                return Err(LayoutError::new(format!(
                    "the {what} dimensions of a layout have {bits} bits, more than can be held"
                )));
            }
        }
        Ok(())
    }

    fn pack_checked(&self, input: Dim, vector: &[i32]) -> Result<u64, LayoutError> {
        if vector.len() != self.outs.len() {
            let (n, want) = (vector.len(), self.outs.len());
            return Err(LayoutError::new(format!("a basis of {input} has {n} coordinates, expected {want}")));
        }
        let (mut column, mut shift) = (0, 0);
        for (&c, &(dim, bits)) in vector.iter().zip(&self.outs) {
            match u64::try_from(c) {
                Ok(v) if v <= low_bits(bits) => column |= if v == 0 { 0 } else { v << shift },
                _ => {
                    return Err(LayoutError::new(format!(
                        "a basis of {input} has {dim} = {c}, expected 0 to {}",
                        low_bits(bits)
                    )));
                }
            }
            shift += bits;
        }
        Ok(column)
    }

    /// The input dimensions in order.
    pub fn in_dims(&self) -> impl ExactSizeIterator<Item = Dim> + '_ {
        self.ins.iter().map(|d| d.0)
    }

    /// The output dimensions in order.
    pub fn out_dims(&self) -> impl ExactSizeIterator<Item = Dim> + '_ {
        self.outs.iter().map(|d| d.0)
    }

    /// The output dimensions with their sizes.
    #[must_use]
    pub fn out_sizes(&self) -> Vec<(Dim, u32)> {
        self.outs.iter().map(|&(d, bits)| (d, 1 << bits)).collect()
    }

    /// The input dimensions with their sizes.
    #[must_use]
    pub fn in_sizes(&self) -> Vec<(Dim, u32)> {
        self.ins.iter().map(|&(d, bits)| (d, 1 << bits)).collect()
    }

    #[must_use]
    pub fn has_in(&self, dim: Dim) -> bool {
        self.ins.iter().any(|d| d.0 == dim)
    }

    #[must_use]
    pub fn has_out(&self, dim: Dim) -> bool {
        self.outs.iter().any(|d| d.0 == dim)
    }

    /// The number of bits of an input dimension. It is 0 for a dimension that the layout does not have.
    #[must_use]
    pub fn in_bits(&self, dim: Dim) -> u32 {
        self.ins.iter().find(|d| d.0 == dim).map_or(0, |d| d.1)
    }

    /// The size of an input dimension. It is 1 for a dimension that the layout does not have.
    #[must_use]
    pub fn in_size(&self, dim: Dim) -> u32 {
        1 << self.in_bits(dim)
    }

    /// The number of bits of an output dimension. It is 0 for a dimension that the layout does not have.
    #[must_use]
    pub fn out_bits(&self, dim: Dim) -> u32 {
        self.outs.iter().find(|d| d.0 == dim).map_or(0, |d| d.1)
    }

    /// The size of an output dimension. It is 1 for a dimension that the layout does not have.
    #[must_use]
    pub fn out_size(&self, dim: Dim) -> u32 {
        1 << self.out_bits(dim)
    }

    #[must_use]
    pub fn total_in_bits(&self) -> u32 {
        self.ins.iter().map(|d| d.1).sum()
    }

    #[must_use]
    pub fn total_out_bits(&self) -> u32 {
        self.outs.iter().map(|d| d.1).sum()
    }

    /// The columns of one input dimension.
    pub(super) fn columns_of(&self, dim: Dim) -> &[u64] {
        let mut start = 0;
        for &(d, bits) in &self.ins {
            if d == dim {
                return &self.columns[start..start + bits as usize];
            }
            start += bits as usize;
        }
        &[]
    }

    /// The first bit of an output dimension in a packed column.
    pub(super) fn out_shift(&self, dim: Dim) -> u32 {
        self.outs.iter().take_while(|d| d.0 != dim).map(|d| d.1).sum()
    }

    /// The coordinates in a packed output.
    #[must_use]
    pub fn unpack(&self, packed: u64) -> Vec<i32> {
        let mut shift = 0;
        let mut coordinates = Vec::with_capacity(self.outs.len());
        for &(_, bits) in &self.outs {
            coordinates.push(if bits == 0 { 0 } else { ((packed >> shift) & low_bits(bits)) as i32 });
            shift += bits;
        }
        coordinates
    }

    /// The bases of an input dimension, each a vector of coordinates. There are none for a dimension that the layout
    /// does not have.
    #[must_use]
    pub fn bases(&self, dim: Dim) -> Vec<Vec<i32>> {
        self.columns_of(dim).iter().map(|&c| self.unpack(c)).collect()
    }

    /// All bases with their input dimensions, in the form that [`LinearLayout::from_bases`] takes.
    #[must_use]
    pub fn all_bases(&self) -> Vec<(Dim, Vec<Vec<i32>>)> {
        self.in_dims().map(|d| (d, self.bases(d))).collect()
    }

    /// The value at bit `bit` of input `dim`, for one output.
    ///
    /// # Panics
    /// Panics if the input dimension has no such bit.
    #[must_use]
    pub fn basis(&self, dim: Dim, bit: usize, out: Dim) -> u32 {
        let bits = self.out_bits(out);
        if bits == 0 { 0 } else { ((self.columns_of(dim)[bit] >> self.out_shift(out)) & low_bits(bits)) as u32 }
    }

    /// The value `L(ins)`. Inputs that are left out are 0.
    ///
    /// # Panics
    /// Panics if an input is not a dimension of the layout or its value is not below the size.
    #[must_use]
    pub fn apply(&self, ins: &[(Dim, u32)]) -> Vec<(Dim, u32)> {
        let mut packed = 0;
        for &(dim, value) in ins {
            assert!(
                self.has_in(dim) && u64::from(value) <= low_bits(self.in_bits(dim)),
                "{dim} = {value} is no input of the layout"
            );
            packed ^= select(self.columns_of(dim), u64::from(value));
        }
        self.out_dims().zip(self.unpack(packed)).map(|(d, v)| (d, v.unsigned_abs())).collect()
    }

    /// Applies `L` to packed numbers. Input and output dimensions are packed with the first one lowest.
    #[must_use]
    pub fn apply_packed(&self, packed: u64) -> u64 {
        select(&self.columns, packed)
    }

    /// Whether both are the same function, whatever the order of their dimensions.
    #[must_use]
    pub fn same_map(&self, other: &LinearLayout) -> bool {
        let sorted = |l: &LinearLayout| {
            let (mut ins, mut outs): (Vec<Dim>, Vec<Dim>) = (l.in_dims().collect(), l.out_dims().collect());
            ins.sort_unstable();
            outs.sort_unstable();
            l.transpose_ins(&ins).transpose_outs(&outs)
        };
        sorted(self) == sorted(other)
    }
}

/// The exclusive or of the columns that the bits of `index` pick.
pub(super) fn select(columns: &[u64], index: u64) -> u64 {
    columns.iter().enumerate().filter(|(i, _)| index >> i & 1 == 1).fold(0, |acc, (_, c)| acc ^ c)
}

impl fmt::Display for LinearLayout {
    /// Writes one line for each input bit, such as `lane=4 -> (2, 0)`, and then the output sizes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (dim, bits) in &self.ins {
            if *bits == 0 {
                writeln!(f, "{dim} has size 1")?;
            }
            for (i, basis) in self.bases(*dim).iter().enumerate() {
                let coordinates: Vec<String> = basis.iter().map(i32::to_string).collect();
                writeln!(f, "{dim}={} -> ({})", 1u64 << i, coordinates.join(", "))?;
            }
        }
        let outs: Vec<String> = self.out_sizes().iter().map(|(d, size)| format!("{d}: {size}")).collect();
        write!(f, "out ({})", outs.join(", "))
    }
}
