//! Reordering, renaming and resizing the dimensions of a layout.
//!
//! Columns hold all outputs in one packed number and all inputs in one list, with the first dimension lowest.
//! Flattening, splitting and dropping dimensions of size 1 therefore only change the lists of dimensions. For example,
//! the outputs `(dim0: 4, dim1: 8)` are flattened to `dim0: 32`. Then the coordinate `(3, 5)` becomes `3 + 4·5 = 23`,
//! and its packed form is 23 before and after.

use super::Dim;
use super::linear::{LinearLayout, log2, low_bits};

impl LinearLayout {
    /// The same map with the inputs in this order.
    ///
    /// # Panics
    /// Panics if `dims` is no permutation of the inputs.
    #[must_use]
    pub fn transpose_ins(&self, dims: &[Dim]) -> LinearLayout {
        assert!(
            dims.len() == self.ins.len() && dims.iter().all(|&d| self.has_in(d)),
            "a transposition names every input once"
        );
        let ins = dims.iter().map(|&d| (d, self.in_bits(d))).collect();
        let columns = dims.iter().flat_map(|&d| self.columns_of(d)).copied().collect();
        LinearLayout { ins, outs: self.outs.clone(), columns }
    }

    /// The same map with the outputs in this order.
    ///
    /// # Panics
    /// Panics if `dims` is no permutation of the outputs.
    #[must_use]
    pub fn transpose_outs(&self, dims: &[Dim]) -> LinearLayout {
        assert!(
            dims.len() == self.outs.len() && dims.iter().all(|&d| self.has_out(d)),
            "a transposition names every output once"
        );
        if self.out_dims().eq(dims.iter().copied()) {
            return self.clone();
        }
        let outs: Vec<(Dim, u32)> = dims.iter().map(|&d| (d, self.out_bits(d))).collect();
        let mut result = LinearLayout { ins: self.ins.clone(), outs, columns: Vec::new() };
        let fields: Vec<(u32, u32, u32)> =
            result.outs.iter().filter(|d| d.1 > 0).map(|&(d, n)| (self.out_shift(d), n, result.out_shift(d))).collect();
        let moved = |c: u64| fields.iter().fold(0, |acc, &(from, n, to)| acc | ((c >> from) & low_bits(n)) << to);
        result.columns = self.columns.iter().map(|&c| moved(c)).collect();
        result
    }

    /// Flattens the inputs (the first runs fastest) and cuts them up again.
    ///
    /// # Panics
    /// Panics if the total size changes or a size is no power of two.
    #[must_use]
    pub fn reshape_ins(&self, ins: &[(Dim, u32)]) -> LinearLayout {
        let ins: Vec<(Dim, u32)> = ins.iter().map(|&(d, size)| (d, log2(size))).collect();
        assert!(
            ins.iter().map(|d| d.1).sum::<u32>() == self.total_in_bits(),
            "a reshape keeps the total size of the inputs"
        );
        LinearLayout { ins, ..self.clone() }
    }

    /// Flattens the outputs (the first runs fastest) and cuts them up again.
    ///
    /// # Panics
    /// Panics if the total size changes or a size is no power of two.
    #[must_use]
    pub fn reshape_outs(&self, outs: &[(Dim, u32)]) -> LinearLayout {
        let outs: Vec<(Dim, u32)> = outs.iter().map(|&(d, size)| (d, log2(size))).collect();
        assert!(
            outs.iter().map(|d| d.1).sum::<u32>() == self.total_out_bits(),
            "a reshape keeps the total size of the outputs"
        );
        LinearLayout { outs, ..self.clone() }
    }

    /// The same map with all inputs flattened to one, which has the name of the first.
    #[must_use]
    pub fn flatten_ins(&self) -> LinearLayout {
        let ins = self.ins.first().map(|d| (d.0, self.total_in_bits())).into_iter().collect();
        LinearLayout { ins, ..self.clone() }
    }

    /// The same map with all outputs flattened to one, which has the name of the first.
    #[must_use]
    pub fn flatten_outs(&self) -> LinearLayout {
        let outs = self.outs.first().map(|d| (d.0, self.total_out_bits())).into_iter().collect();
        LinearLayout { outs, ..self.clone() }
    }

    /// The layout of the same elements seen with another shape, in row-major order. The outputs become `dim0…` of
    /// `shape`.
    ///
    /// # Panics
    /// Panics if the number of elements changes or a size is no power of two.
    #[must_use]
    pub fn reshape_row_major(&self, shape: &[u32]) -> LinearLayout {
        let reversed: Vec<Dim> = self.out_dims().collect::<Vec<_>>().into_iter().rev().collect();
        let axes = Dim::axes(shape.len());
        let sizes: Vec<(Dim, u32)> = axes.iter().copied().zip(shape.iter().copied()).rev().collect();
        self.transpose_outs(&reversed).reshape_outs(&sizes).transpose_outs(&axes)
    }

    /// The layout of a transposed tensor. Axis `i` of the result is axis `order[i]` of `self`, and the outputs stay
    /// `dim0…`.
    ///
    /// # Panics
    /// Panics if `order` is no permutation of the axes.
    #[must_use]
    pub fn permute_axes(&self, order: &[u32]) -> LinearLayout {
        let dims: Vec<Dim> = order.iter().map(|&i| self.outs[i as usize].0).collect();
        let mut result = self.transpose_outs(&dims);
        for (out, &(name, _)) in result.outs.iter_mut().zip(&self.outs) {
            out.0 = name;
        }
        result
    }

    /// Renames an input.
    #[must_use]
    pub fn rename_in(&self, from: Dim, to: Dim) -> LinearLayout {
        let ins = self.ins.iter().map(|&(d, n)| (if d == from { to } else { d }, n)).collect();
        LinearLayout { ins, ..self.clone() }
    }

    /// Renames an output.
    #[must_use]
    pub fn rename_out(&self, from: Dim, to: Dim) -> LinearLayout {
        let outs = self.outs.iter().map(|&(d, n)| (if d == from { to } else { d }, n)).collect();
        LinearLayout { outs, ..self.clone() }
    }

    /// Drops the high bits of an input.
    ///
    /// # Panics
    /// Panics if `size` is no power of two or exceeds the size.
    #[must_use]
    pub fn resize_in(&self, dim: Dim, size: u32) -> LinearLayout {
        assert!(size <= self.in_size(dim), "an input can only shrink");
        self.map_in(dim, |columns| columns[..log2(size) as usize].to_vec())
    }

    /// Shrinks an output. Coordinates of bases that do not fit become 0.
    ///
    /// # Panics
    /// Panics if `size` is no power of two or exceeds the size.
    #[must_use]
    pub fn resize_out(&self, dim: Dim, size: u32) -> LinearLayout {
        assert!(size <= self.out_size(dim), "an output can only shrink");
        let sizes: Vec<(Dim, u32)> =
            self.out_sizes().into_iter().map(|(d, s)| (d, if d == dim { size } else { s })).collect();
        self.ensure_not_larger(&sizes, true)
    }

    /// Shrinks the outputs to at most these sizes. Coordinates of bases that do not fit become 0, so places beyond the
    /// tensor hold copies. Without `broadcast_registers`, register bases that become 0 by this are dropped.
    ///
    /// A tile of 16 columns on a tensor of 4 is an example: the bases 4 and 8 become 0, and four places hold each
    /// element.
    ///
    /// # Panics
    /// Panics if a size is no power of two.
    #[must_use]
    pub fn ensure_not_larger(&self, sizes: &[(Dim, u32)], broadcast_registers: bool) -> LinearLayout {
        let limit = |d: Dim, bits: u32| sizes.iter().find(|s| s.0 == d).map_or(bits, |s| bits.min(log2(s.1)));
        let outs: Vec<(Dim, u32)> = self.outs.iter().map(|&(d, n)| (d, limit(d, n))).collect();
        let clip = |c: u64| {
            let (mut packed, mut shift) = (0, 0);
            for (v, &(_, bits)) in self.unpack(c).into_iter().zip(&outs) {
                let v = u64::from(v.unsigned_abs());
                packed |= if v == 0 || v > low_bits(bits) { 0 } else { v << shift };
                shift += bits;
            }
            packed
        };
        let (mut ins, mut columns) = (Vec::with_capacity(self.ins.len()), Vec::with_capacity(self.columns.len()));
        for &(dim, _) in &self.ins {
            let drops = dim == Dim::Register && !broadcast_registers;
            let clipped = self.columns_of(dim).iter().map(|&c| (c, clip(c)));
            let kept: Vec<u64> = clipped.filter(|&(was, is)| !drops || was == 0 || is != 0).map(|p| p.1).collect();
            ins.push((dim, kept.len() as u32));
            columns.extend(kept);
        }
        LinearLayout { ins, outs, columns }
    }

    /// Grows the outputs to at least these sizes by repeating the layout along its first input (`register`, `offset`).
    /// The first output grows first.
    ///
    /// # Panics
    /// Panics if a size is no power of two.
    #[must_use]
    pub fn ensure_not_smaller(&self, sizes: &[(Dim, u32)]) -> LinearLayout {
        let Some(&(input, _)) = self.ins.first() else { return self.clone() };
        let mut result = self.clone();
        for dim in self.out_dims() {
            let wanted = sizes.iter().find(|s| s.0 == dim).map_or(0, |s| log2(s.1));
            if wanted > self.out_bits(dim) {
                result = result.product(&LinearLayout::identity1d(1 << (wanted - self.out_bits(dim)), input, dim));
            }
        }
        result
    }

    /// Puts the inputs of `other` after those of `self`. Both must have the same outputs.
    ///
    /// # Panics
    /// Panics if the outputs differ or an input is in both.
    #[must_use]
    pub fn concat_ins(&self, other: &LinearLayout) -> LinearLayout {
        assert!(
            self.outs == other.outs && !other.in_dims().any(|d| self.has_in(d)),
            "concatenated inputs are different, outputs equal"
        );
        let ins = [self.ins.as_slice(), other.ins.as_slice()].concat();
        let columns = [self.columns.as_slice(), other.columns.as_slice()].concat();
        LinearLayout { ins, outs: self.outs.clone(), columns }
    }

    /// Puts the outputs of `other` after those of `self`. Both must have the same inputs.
    ///
    /// # Panics
    /// Panics if the inputs differ, an output is in both, or the result has more than 64 output bits.
    #[must_use]
    pub fn concat_outs(&self, other: &LinearLayout) -> LinearLayout {
        assert!(
            self.ins == other.ins && !other.out_dims().any(|d| self.has_out(d)),
            "concatenated outputs are different, inputs equal"
        );
        let (shift, more) = (self.total_out_bits(), other.total_out_bits());
        assert!(shift + more <= 64, "a layout has at most 64 bits out");
        let join = |(&a, &b): (&u64, &u64)| if more == 0 { a } else { a | b << shift };
        let columns = self.columns.iter().zip(&other.columns).map(join).collect();
        LinearLayout { ins: self.ins.clone(), outs: [self.outs.as_slice(), other.outs.as_slice()].concat(), columns }
    }

    /// Puts two of everything side by side along an axis, numbered by a new lowest register: `register = [(1)]` becomes
    /// `[(1), (2)]`.
    ///
    /// # Panics
    /// Panics if the result has more than 64 bits.
    #[must_use]
    pub fn doubled_along(&self, axis: usize) -> LinearLayout {
        let outs: Vec<Dim> = self.out_dims().collect();
        LinearLayout::identity1d(2, Dim::Register, Dim::axis(axis)).product(self).transpose_outs(&outs)
    }

    /// The layout without the lowest coordinate bit of an axis, which the lowest register numbers. It is the inverse of
    /// [`LinearLayout::doubled_along`]. It is `None` where another register numbers that bit, or something else moves
    /// by odd numbers.
    #[must_use]
    pub fn undoubled_along(&self, axis: usize) -> Option<LinearLayout> {
        self.divide_left(&LinearLayout::identity1d(2, Dim::Register, Dim::axis(axis)))
    }

    /// The layout without the lowest coordinate bit of an axis, which a register numbers: `register = [(1), (2)]`
    /// becomes `[(1)]`. It is `None` where no register numbers that bit, or something else moves by odd numbers.
    #[must_use]
    pub fn halved_along(&self, axis: usize) -> Option<LinearLayout> {
        let mut bases = self.all_bases();
        let registers = &mut bases.iter_mut().find(|(dim, _)| *dim == Dim::Register)?.1;
        let low = registers.iter().position(|b| b.iter().enumerate().all(|(i, &c)| c == i32::from(i == axis)))?;
        registers.remove(low);
        for basis in bases.iter_mut().flat_map(|(_, list)| list) {
            if basis[axis] & 1 != 0 {
                return None;
            }
            basis[axis] >>= 1;
        }
        let outs: Vec<(Dim, u32)> =
            self.out_sizes().into_iter().map(|(d, s)| (d, if d == Dim::axis(axis) { s / 2 } else { s })).collect();
        LinearLayout::from_bases(&bases, &outs).ok()
    }

    /// Adds an input of size 1 at the end if it is not there.
    #[must_use]
    pub fn unsqueeze_in(&self, dim: Dim) -> LinearLayout {
        let mut result = self.clone();
        if !self.has_in(dim) {
            result.ins.push((dim, 0));
        }
        result
    }

    /// Adds an output of size 1 at the end if it is not there.
    #[must_use]
    pub fn unsqueeze_out(&self, dim: Dim) -> LinearLayout {
        let mut result = self.clone();
        if !self.has_out(dim) {
            result.outs.push((dim, 0));
        }
        result
    }

    /// Removes an input of size 1.
    ///
    /// # Panics
    /// Panics if its size is not 1.
    #[must_use]
    pub fn squeeze_in(&self, dim: Dim) -> LinearLayout {
        assert!(self.in_bits(dim) == 0, "only a dimension of size 1 can be removed");
        LinearLayout { ins: self.ins.iter().copied().filter(|d| d.0 != dim).collect(), ..self.clone() }
    }

    /// Removes an output of size 1.
    ///
    /// # Panics
    /// Panics if its size is not 1.
    #[must_use]
    pub fn squeeze_out(&self, dim: Dim) -> LinearLayout {
        assert!(self.out_bits(dim) == 0, "only a dimension of size 1 can be removed");
        LinearLayout { outs: self.outs.iter().copied().filter(|d| d.0 != dim).collect(), ..self.clone() }
    }

    /// Drops the bases of `dim` that are 0. For registers, that leaves those that are no copies.
    #[must_use]
    pub fn remove_zero_bases(&self, dim: Dim) -> LinearLayout {
        self.map_in(dim, |columns| columns.iter().copied().filter(|&c| c != 0).collect())
    }

    /// The map with all bases 0, and dimensions and sizes as they are.
    #[must_use]
    pub fn zeros_like(&self) -> LinearLayout {
        LinearLayout { columns: vec![0; self.columns.len()], ..self.clone() }
    }

    /// Replaces the columns of one input.
    pub(super) fn map_in(&self, dim: Dim, change: impl Fn(&[u64]) -> Vec<u64>) -> LinearLayout {
        let mut result = LinearLayout { ins: Vec::new(), outs: self.outs.clone(), columns: Vec::new() };
        for &(d, bits) in &self.ins {
            let columns = self.columns_of(d);
            let changed = if d == dim { change(columns) } else { columns.to_vec() };
            result.ins.push((d, if d == dim { changed.len() as u32 } else { bits }));
            result.columns.extend(changed);
        }
        result
    }
}
