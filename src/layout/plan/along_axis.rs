//! A register layout seen from one axis of its tensor, for operations that work along that axis.
//!
//! 1. Every place (register, lane, warp) is one number, with register bits lowest. The layout gives its coordinate
//!    along the axis and, in a second number, the coordinates along all other axes (`rest`). Both are linear in the
//!    place.
//! 2. Blocks of a cluster are kept apart. What a block's number decides along the axis is known for each of its bits;
//!    what it decides beside the axis is the same constant on both sides of an operation, so it is left out.
//!
//! Example: a 16×8 tile is reduced along axis 1, with `register=1 → (0, 1)` and `lane=8 → (1, 0)`. Place 1 has axis 1
//! and rest 0. The place of lane 8 has axis 0 and rest 1.

use crate::layout::linear::{low_bits, select};
use crate::layout::{Dim, LayoutError, LinearLayout};

/// The places of a layout with their coordinates along one axis and along the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct AlongAxis {
    axis: Vec<u64>,
    rest: Vec<u64>,
    pub(super) register_bits: u32,
    pub(super) lane_bits: u32,
    pub(super) warp_bits: u32,
    pub(super) axis_bits: u32,
    pub(super) rest_bits: u32,
    /// How many of the `rest_bits` belong to coordinates before the axis.
    pub(super) before_bits: u32,
    /// For each bit of the block's number in its cluster the coordinates along the axis and along the others.
    pub(super) blocks: Vec<(u64, u64)>,
}

impl AlongAxis {
    /// An axis that lies within blocks.
    ///
    /// # Errors
    /// Fails if the tensor has no such axis, or the blocks of a cluster share it.
    pub(super) fn within_blocks(layout: &LinearLayout, axis: usize) -> Result<AlongAxis, LayoutError> {
        let places = AlongAxis::new(layout, axis)?;
        if places.blocks.iter().any(|&(along, _)| along != 0) {
            return Err(LayoutError::new("the axis is spread over the blocks of a cluster"));
        }
        Ok(places)
    }

    /// # Errors
    /// Fails if the tensor has no such axis.
    pub(super) fn new(layout: &LinearLayout, axis: usize) -> Result<AlongAxis, LayoutError> {
        let rank = layout.out_dims().len();
        if axis >= rank {
            return Err(LayoutError::new(format!("a tensor of {rank} axes has no axis {axis}")));
        }
        let layout = layout.transpose_outs(&Dim::axes(rank));
        let (shift, bits) = (layout.out_shift(Dim::axis(axis)), layout.out_bits(Dim::axis(axis)));
        let along = |c: u64| if bits == 0 { 0 } else { c >> shift & low_bits(bits) };
        let beside = |c: u64| c & low_bits(shift) | c.checked_shr(shift + bits).unwrap_or(0) << shift;
        let places: Vec<u64> =
            [Dim::Register, Dim::Lane, Dim::Warp].iter().flat_map(|&d| layout.columns_of(d)).copied().collect();
        Ok(AlongAxis {
            axis: places.iter().map(|&c| along(c)).collect(),
            rest: places.iter().map(|&c| beside(c)).collect(),
            register_bits: layout.in_bits(Dim::Register),
            lane_bits: layout.in_bits(Dim::Lane),
            warp_bits: layout.in_bits(Dim::Warp),
            axis_bits: bits,
            rest_bits: layout.total_out_bits() - bits,
            before_bits: shift,
            blocks: layout.columns_of(Dim::Block).iter().map(|&c| (along(c), beside(c))).collect(),
        })
    }

    /// The coordinate of a place along the axis.
    pub(super) fn along(&self, place: u64) -> u64 {
        select(&self.axis, place)
    }

    /// The coordinates of a place along the other axes.
    pub(super) fn beside(&self, place: u64) -> u64 {
        select(&self.rest, place)
    }

    /// The number of place bits.
    pub(super) fn place_bits(&self) -> u32 {
        self.register_bits + self.lane_bits + self.warp_bits
    }

    pub(super) fn registers(&self) -> u64 {
        1 << self.register_bits
    }

    /// The register of a place.
    pub(super) fn register(&self, place: u64) -> u64 {
        place & low_bits(self.register_bits)
    }

    /// The lane of a place.
    pub(super) fn lane(&self, place: u64) -> u32 {
        (place >> self.register_bits & low_bits(self.lane_bits)) as u32
    }

    /// The warp of a place.
    pub(super) fn warp(&self, place: u64) -> u32 {
        (place >> (self.register_bits + self.lane_bits)) as u32
    }

    /// The layout from (register, lane, warp) to [`Dim::Offset`] in which each place bit has the value `of`.
    pub(super) fn offsets(&self, bits: u32, of: impl Fn(u64) -> u64) -> LinearLayout {
        LinearLayout {
            ins: vec![(Dim::Register, self.register_bits), (Dim::Lane, self.lane_bits), (Dim::Warp, self.warp_bits)],
            outs: vec![(Dim::Offset, bits)],
            columns: (0..self.place_bits()).map(|i| of(1 << i)).collect(),
        }
    }
}

/// The bits of the thread's number in its block that do not decide where a layout from (register, lane, warp) leads. Of
/// the threads that lead to one place, the one in which all of these are 0 stores.
pub(super) fn free_thread_bits(layout: &LinearLayout) -> u32 {
    let masks = layout.free_variables();
    let of = |dim| masks.iter().find(|m| m.0 == dim).map_or(0, |m| m.1);
    of(Dim::Lane) | of(Dim::Warp) << layout.in_bits(Dim::Lane)
}
