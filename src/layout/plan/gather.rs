//! The plan of `tt.gather`: `result[…, k, …] = source[…, indices[…, k, …], …]` along one axis.
//!
//! # Algorithm
//!
//! 1. The place (register, lane) of a source element within a warp is linear in its coordinates. The coordinates off
//!    the axis are linear in the place of the index, and the one along the axis is the index itself:
//!    `place = G(register, lane, warp of the index) ⊕ H(index)`. The warp is given, so the equations are solved with
//!    registers and lanes only.
//! 2. If all of them can be solved, no warp needs elements of another, and the gather is shuffles. A thread asks the
//!    lane of the place for a register. Which register may be known only at run time. Then all that it can be are
//!    shuffled and one is selected: they are a coset of the registers that `H` and the thread's part of `G` reach.
//! 3. Otherwise, or if there were more than [`MAX_CANDIDATES`] candidates, the source is stored in row-major order.
//!    After a barrier each index is an address.
//!
//! # Example
//!
//! A row of 32 elements, one to a lane, is gathered by 32 indices. Then `G = 0` and `H(index) = lane`, which is one
//! `shfl.sync.idx`.

use crate::layout::linear::{low_bits, select};
use crate::layout::solve::Pivots;
use crate::layout::{Dim, LayoutError, LinearLayout};

/// The most shuffles for one element of the result. Beyond that, shared memory is faster, at the cost of a store, a
/// barrier and a load.
const MAX_CANDIDATES: usize = 8;

/// The way in which elements are picked by index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GatherPlan {
    /// The gather stays within warps.
    Shuffles(GatherShuffles),
    /// The gather goes through shared memory, which holds every element of the source in row-major order.
    Shared(GatherShared),
}

/// A gather within warps. A place is the lane, then the register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GatherShuffles {
    /// A map from (register, lane, warp) of the index to ([`Dim::Lane`], [`Dim::Register`]).
    pub fixed: LinearLayout,
    /// For each bit of the index, the lane and the register that it contributes.
    pub by_index: Vec<(u32, u32)>,
    /// For each register of the index, the registers of the source that it may need.
    pub candidates: Vec<Vec<usize>>,
}

/// A gather through shared memory. Offsets count elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GatherShared {
    /// The row-major order, as a map from [`Dim::Offset`] to the source's coordinates.
    pub order: LinearLayout,
    /// A map from (register, lane, warp) of the index to the offset of the element with index 0.
    pub load: LinearLayout,
    /// How many elements an index of 1 counts.
    pub stride: u32,
    pub elements: u32,
}

impl GatherPlan {
    /// # Errors
    /// Fails if elements would move between the blocks of a cluster.
    pub fn new(source: &LinearLayout, indices: &LinearLayout, axis: usize) -> Result<GatherPlan, LayoutError> {
        let rank = source.out_dims().len();
        if axis >= rank || indices.out_dims().len() != rank {
            return Err(LayoutError::new("a gather needs a source and indices of one rank, and an axis of theirs"));
        }
        let (source, indices) = (source.transpose_outs(&Dim::axes(rank)), indices.transpose_outs(&Dim::axes(rank)));
        let dim = Dim::axis(axis);
        for b in 0..source.in_bits(Dim::Block).max(indices.in_bits(Dim::Block)) as usize {
            let moved =
                |l: &LinearLayout, d| if b < l.in_bits(Dim::Block) as usize { l.basis(Dim::Block, b, d) } else { 0 };
            if moved(&source, dim) != 0
                || Dim::axes(rank).into_iter().any(|d| d != dim && moved(&source, d) != moved(&indices, d))
            {
                return Err(LayoutError::new("a gather would move elements between the blocks of a cluster"));
            }
        }
        let start = starts(&source, &indices, dim);
        Ok(match shuffles(&source, &indices, dim, &start) {
            Some(plan) => GatherPlan::Shuffles(plan),
            None => GatherPlan::Shared(shared(&source, &indices, dim)),
        })
    }

    /// The bytes of shared memory for elements of these bytes.
    #[must_use]
    pub fn scratch_bytes(&self, element_bytes: u32) -> u32 {
        match self {
            GatherPlan::Shuffles(_) => 0,
            GatherPlan::Shared(plan) => plan.elements * element_bytes,
        }
    }
}

/// For each place bit of the index, the coordinates of the element with index 0, packed as the source packs them.
fn starts(source: &LinearLayout, indices: &LinearLayout, dim: Dim) -> Vec<u64> {
    let others: Vec<Dim> = source.out_dims().filter(|&d| d != dim).collect();
    let pack = |c: u64| {
        let coordinates: Vec<(Dim, i32)> = indices.out_dims().zip(indices.unpack(c)).collect();
        let of = |d: Dim| coordinates.iter().find(|x| x.0 == d).map_or(0, |x| u64::from(x.1.unsigned_abs()));
        // Off the axis the index may be smaller than the source, but never larger.
        others.iter().fold(0, |acc, &d| if source.out_bits(d) == 0 { acc } else { acc | of(d) << source.out_shift(d) })
    };
    own_columns(indices).map(pack).collect()
}

/// The columns of register, lane and warp.
fn own_columns(layout: &LinearLayout) -> impl Iterator<Item = u64> + '_ {
    [Dim::Register, Dim::Lane, Dim::Warp].into_iter().flat_map(|d| layout.columns_of(d)).copied()
}

/// Steps 1 and 2 solve the equations and list the candidates. The result is `None` when shuffles cannot do it.
fn shuffles(source: &LinearLayout, indices: &LinearLayout, dim: Dim, start: &[u64]) -> Option<GatherShuffles> {
    let (register_bits, lane_bits) = (source.in_bits(Dim::Register), source.in_bits(Dim::Lane));
    let columns: Vec<u64> =
        [Dim::Register, Dim::Lane].into_iter().flat_map(|d| source.columns_of(d)).copied().collect();
    let pivots = Pivots::of(&columns);
    let solve = |target: u64| match pivots.reduce(target) {
        (0, place) => Some(((place >> register_bits) as u32, (place & low_bits(register_bits)) as u32)),
        _ => None,
    };
    let first_warp = (indices.in_bits(Dim::Register) + indices.in_bits(Dim::Lane)) as usize;
    let warp = source.columns_of(Dim::Warp);
    let own_warp = |i: usize| if i < first_warp { 0 } else { warp.get(i - first_warp).copied().unwrap_or(0) };
    let fixed = start.iter().enumerate().map(|(i, &c)| solve(c ^ own_warp(i))).collect::<Option<Vec<_>>>()?;
    let shift = source.out_shift(dim);
    let by_index = (0..source.out_bits(dim)).map(|j| solve(1 << (shift + j))).collect::<Option<Vec<_>>>()?;
    let registers = indices.in_bits(Dim::Register) as usize;
    let reached: Vec<u64> = fixed[registers..].iter().chain(&by_index).map(|p| u64::from(p.1)).collect();
    let coset = span(&reached);
    if coset.len() > MAX_CANDIDATES {
        return None;
    }
    let own: Vec<u64> = fixed[..registers].iter().map(|p| u64::from(p.1)).collect();
    let candidates =
        (0..1u64 << registers).map(|r| coset.iter().map(|c| (c ^ select(&own, r)) as usize).collect()).collect();
    let fixed = LinearLayout {
        ins: [Dim::Register, Dim::Lane, Dim::Warp].into_iter().map(|d| (d, indices.in_bits(d))).collect(),
        outs: vec![(Dim::Lane, lane_bits), (Dim::Register, register_bits)],
        columns: fixed.iter().map(|&(lane, register)| u64::from(lane) | u64::from(register) << lane_bits).collect(),
    };
    Some(GatherShuffles { fixed, by_index, candidates })
}

/// All sums of these vectors, in order.
fn span(vectors: &[u64]) -> Vec<u64> {
    let mut sums = std::collections::BTreeSet::from([0]);
    for &v in vectors {
        let moved: Vec<u64> = sums.iter().map(|s| s ^ v).collect();
        sums.extend(moved);
    }
    sums.into_iter().collect()
}

/// Step 3 makes the plan through shared memory.
fn shared(source: &LinearLayout, indices: &LinearLayout, dim: Dim) -> GatherShared {
    let axes: Vec<Dim> = source.out_dims().collect();
    let backwards: Vec<Dim> = axes.iter().rev().copied().collect();
    let row_major = backwards
        .iter()
        .fold(LinearLayout::empty(), |l, &d| l.product(&LinearLayout::identity1d(source.out_size(d), Dim::Offset, d)));
    let stride = backwards.iter().take_while(|&&d| d != dim).map(|&d| source.out_size(d)).product();
    let offset = |c: u64| {
        let mut stride = 1u64;
        let mut sum = 0;
        let coordinates: Vec<(Dim, i32)> = indices.out_dims().zip(indices.unpack(c)).collect();
        for &d in &backwards {
            let value = coordinates.iter().find(|x| x.0 == d).map_or(0, |x| u64::from(x.1.unsigned_abs()));
            sum += if d == dim { 0 } else { value * stride };
            stride *= u64::from(source.out_size(d));
        }
        sum
    };
    let load = LinearLayout {
        ins: [Dim::Register, Dim::Lane, Dim::Warp].into_iter().map(|d| (d, indices.in_bits(d))).collect(),
        outs: vec![(Dim::Offset, source.total_out_bits())],
        columns: own_columns(indices).map(offset).collect(),
    };
    GatherShared { order: row_major.transpose_outs(&axes), load, stride, elements: 1 << source.total_out_bits() }
}
