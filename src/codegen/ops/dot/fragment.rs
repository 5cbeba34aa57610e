//! The registers of an operand or a result of a matrix product, by the coordinates of their elements.
//!
//! Coordinates are (batch, row, column); a product without batches has batch 0. A register's coordinates are those in
//! lane 0 of warp 0: other threads hold the same, moved by what lane and warp contribute, as layouts are linear over
//! exclusive or. So a product is planned once, for lane 0, after [`Fragment::moves_with`] has established that the
//! operands' threads move as the result's do.
//!
//! Example: the result of `mma.m16n8k16` has registers at (0,0,0), (0,0,1), (0,8,0), (0,8,1), lanes that move it by
//! (0,0,2), (0,0,4), (0,1,0), (0,2,0), (0,4,0), and warps that move it by (0,16,0) and the like.

use std::collections::{BTreeMap, BTreeSet};

use crate::layout::{Dim, LinearLayout, register_offsets};

/// (batch, row, column)
pub(crate) type At = [u32; 3];

/// Axes of [`At`].
pub(crate) const BATCH: usize = 0;
pub(crate) const ROW: usize = 1;
pub(crate) const COLUMN: usize = 2;

/// A tensor's registers and how threads move them.
pub(crate) struct Fragment {
    registers: BTreeMap<At, Vec<usize>>,
    pub(crate) lanes: Vec<At>,
    pub(crate) warps: Vec<At>,
    blocks: Vec<At>,
}

impl Fragment {
    /// `None` for a tensor that is neither a matrix nor a batch of matrices.
    pub(crate) fn of(layout: &LinearLayout) -> Option<Fragment> {
        if !matches!(layout.out_dims().count(), 2 | 3) {
            return None;
        }
        let at = |c: &Vec<i32>| -> At {
            let n = |i: usize| c[i].unsigned_abs();
            if c.len() == 3 { [n(0), n(1), n(2)] } else { [0, n(0), n(1)] }
        };
        let bases = |dim| layout.bases(dim).iter().map(at).collect();
        let mut registers: BTreeMap<At, Vec<usize>> = BTreeMap::new();
        for (register, offset) in register_offsets(layout).iter().enumerate() {
            registers.entry(at(offset)).or_default().push(register);
        }
        Some(Fragment { registers, lanes: bases(Dim::Lane), warps: bases(Dim::Warp), blocks: bases(Dim::Block) })
    }

    /// The different coordinates of the registers along an axis, ascending.
    pub(crate) fn along(&self, axis: usize) -> Vec<u32> {
        self.registers.keys().map(|at| at[axis]).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// A register that holds the element at these coordinates.
    pub(crate) fn register(&self, at: At) -> Option<usize> {
        self.registers.get(&at).map(|all| all[0])
    }

    /// Every coordinate with all registers that hold its element.
    pub(crate) fn registers(&self) -> impl Iterator<Item = (At, &[usize])> {
        self.registers.iter().map(|(&at, all)| (at, all.as_slice()))
    }

    /// Where lane bit `bit` moves along an axis.
    pub(crate) fn lane(&self, bit: usize, axis: usize) -> u32 {
        self.lanes.get(bit).map_or(0, |at| at[axis])
    }

    /// Whether the warps and blocks of two fragments move alike along an axis of each.
    pub(crate) fn moves_with(&self, axis: usize, other: &Fragment, other_axis: usize) -> bool {
        let same = |a: &[At], b: &[At]| {
            (0..a.len().max(b.len())).all(|i| a.get(i).map_or(0, |x| x[axis]) == b.get(i).map_or(0, |x| x[other_axis]))
        };
        same(&self.warps, &other.warps) && same(&self.blocks, &other.blocks)
    }

    /// Whether no warp and no block moves along an axis.
    pub(crate) fn rests_along(&self, axis: usize) -> bool {
        self.warps.iter().chain(&self.blocks).all(|at| at[axis] == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_of_an_accumulator() {
        let bases = [
            (Dim::Register, vec![vec![0, 1], vec![8, 0]]),
            (Dim::Lane, vec![vec![0, 2], vec![0, 4], vec![1, 0], vec![2, 0], vec![4, 0]]),
        ];
        let layout = LinearLayout::from_bases(&bases, &[(Dim::axis(0), 16), (Dim::axis(1), 8)]).unwrap();
        let c = Fragment::of(&layout).unwrap();
        assert_eq!((c.along(ROW), c.along(COLUMN)), (vec![0, 8], vec![0, 1]));
        assert_eq!((c.register([0, 8, 1]), c.register([0, 1, 0])), (Some(3), None));
        assert_eq!((c.lane(1, COLUMN), c.lane(3, ROW)), (4, 2));
        assert!(c.rests_along(ROW));
    }
}
