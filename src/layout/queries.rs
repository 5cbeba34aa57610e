//! Answers what passes and lowerings ask about the layout of a tensor, in terms of its [`LinearLayout`].
//!
//! A thread's element index is split for code generation. `base = L(0, lane, warp, block)` is computed once at run
//! time, and register `r` holds the element at `base ⊕ offset[r]`. The offset is the constant
//! `offset[r] = L(r, 0, 0, 0)` ([`register_offsets`]).

use std::collections::BTreeMap;

use super::encodings::{layout_of, to_linear_layout};
use super::{Dim, LayoutError, LinearLayout};
use crate::ir::core::{Attr, Type};
use crate::ir::encoding::questions::{matrix_order, stated_order};

/// The number of registers (elements, not 32-bit words) in which a thread holds a value of this type. It is 1 for a
/// scalar, and copies count.
///
/// # Panics
/// Panics if a tensor's encoding was not verified.
#[must_use]
pub fn elems_per_thread(ty: Type) -> usize {
    if ty.is_tensor() { tensor_layout(ty).in_size(Dim::Register) as usize } else { 1 }
}

/// The number that [`elems_per_thread`] gives, without the registers that only hold copies of others.
///
/// # Panics
/// Panics if a tensor's encoding was not verified.
#[must_use]
pub fn unique_elems_per_thread(ty: Type) -> usize {
    if ty.is_tensor() { tensor_layout(ty).remove_zero_bases(Dim::Register).in_size(Dim::Register) as usize } else { 1 }
}

/// The number of 32-bit words in which a thread holds a value of this type, without copies. Elements of fewer bits than
/// a byte count as bytes.
///
/// # Panics
/// Panics if a tensor's encoding was not verified.
#[must_use]
pub fn words_per_thread(ty: Type) -> usize {
    let bits = ty.bit_width().unwrap_or(32).max(8) as usize;
    (unique_elems_per_thread(ty) * bits).div_ceil(32)
}

fn tensor_layout(ty: Type) -> &'static LinearLayout {
    layout_of(ty).unwrap_or_else(|e| panic!("a type that was not verified reached a layout computation: {e}"))
}

/// The coordinates of each register's element in lane 0 of warp 0 of block 0. Register `r` of another thread holds the
/// element at the coordinates of that thread's register 0, exclusive-ored with these.
#[must_use]
pub fn register_offsets(layout: &LinearLayout) -> Vec<Vec<i32>> {
    packed_offsets(layout).into_iter().map(|p| layout.unpack(p)).collect()
}

fn packed_offsets(layout: &LinearLayout) -> Vec<u64> {
    let registers = layout.columns_of(Dim::Register);
    // In binary counting, each value differs from one already known by its highest bit.
    let mut packed: Vec<u64> = vec![0];
    for &column in registers {
        packed.extend_from_within(..);
        let half = packed.len() / 2;
        packed[half..].iter_mut().for_each(|p| *p ^= column);
    }
    packed
}

/// For each register one that holds the lowest of the `count` neighbours along an axis that it is among, and how many
/// elements lie in between, which is the same for all threads. Neighbours begin at each multiple of `count`, a power of
/// two.
///
/// Example: 512 elements of a row, `tid`, `tid + 128`, …: (0, 0), (0, 128), (0, 256), (0, 384).
#[must_use]
pub fn neighbours(layout: &LinearLayout, axis: usize, count: u32) -> Vec<(usize, u32)> {
    let offsets = register_offsets(layout);
    let Some(dim) = layout.out_dims().nth(axis) else { return (0..offsets.len()).map(|r| (r, 0)).collect() };
    // The bits of a coordinate that threads differ in. Registers with the same ones are as far from each other in all.
    let of_threads = [Dim::Lane, Dim::Warp, Dim::Block].into_iter();
    let bases = of_threads.flat_map(|input| (0..layout.in_bits(input) as usize).map(move |bit| (input, bit)));
    let differing = bases.fold(0, |bits, (input, bit)| bits | layout.basis(input, bit, dim) as i32);
    let among = |offset: &[i32]| {
        let mut among = offset.to_vec();
        among[axis] &= !(count.wrapping_sub(1) as i32) | differing;
        among
    };
    let mut starts: BTreeMap<Vec<i32>, (i32, usize)> = BTreeMap::new();
    for (register, offset) in offsets.iter().enumerate() {
        let here = (offset[axis], register);
        starts.entry(among(offset)).and_modify(|start| *start = here.min(*start)).or_insert(here);
    }
    let place = |offset: &Vec<i32>| {
        let (at, start) = starts[&among(offset)];
        (start, (offset[axis] - at) as u32)
    };
    offsets.iter().map(place).collect()
}

/// For each register the first one of the thread that holds the same element; `None` where no two do.
#[must_use]
pub fn first_holders(layout: &LinearLayout) -> Option<Vec<usize>> {
    let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
    let packed = packed_offsets(layout);
    let first: Vec<usize> = packed.iter().enumerate().map(|(i, &p)| *seen.entry(p).or_insert(i)).collect();
    (seen.len() < packed.len()).then_some(first)
}

/// The bits of register, lane, warp and block that do not decide which element is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FreeMasks {
    pub register: u32,
    pub lane: u32,
    pub warp: u32,
    pub block: u32,
}

impl FreeMasks {
    /// Whether every element is held once.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == FreeMasks::default()
    }
}

/// The free variables of a distributed layout. A store is done by the thread and register whose free bits are all 0:
/// `lane & masks.lane == 0`, and so on. Every element has exactly one such holder.
#[must_use]
pub fn free_variable_masks(layout: &LinearLayout) -> FreeMasks {
    let masks = layout.free_variables();
    let of = |dim| masks.iter().find(|m| m.0 == dim).map_or(0, |m| m.1);
    FreeMasks { register: of(Dim::Register), lane: of(Dim::Lane), warp: of(Dim::Warp), block: of(Dim::Block) }
}

/// The bits of the lane's number that decide nothing: lanes that differ in these alone hold the same in each register.
#[must_use]
pub fn lanes_that_copy(layout: &LinearLayout) -> u32 {
    let decides = layout.bases(Dim::Lane).into_iter().map(|basis| basis.iter().any(|&c| c != 0));
    decides.enumerate().filter(|(_, decides)| !decides).fold(0, |all, (bit, _)| all | 1 << bit)
}

/// The axes in the order in which the bases of `input` first move along them, the fastest first. Axes along which it
/// does not move follow in the order of `default`.
#[must_use]
pub fn order_along(layout: &LinearLayout, input: Dim, default: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = Vec::with_capacity(default.len());
    let moved = layout.bases(input).into_iter().filter_map(|b| b.iter().position(|&c| c != 0)).map(|axis| axis as u32);
    for axis in moved.chain(default.iter().copied()) {
        if !order.contains(&axis) {
            order.push(axis);
        }
    }
    order
}

/// The axes of a tensor of this encoding and shape, the fastest-running first. For a distributed layout the registers
/// decide; a shared one states its order.
///
/// # Panics
/// Panics if the encoding was not verified.
#[must_use]
pub fn order(encoding: Attr, shape: &[i64]) -> Vec<u32> {
    stated_order(encoding, shape.len()).unwrap_or_else(|| {
        let layout = to_linear_layout(shape, encoding);
        let input = if layout.has_in(Dim::Offset) { Dim::Offset } else { Dim::Register };
        order_along(layout, input, &matrix_order(shape.len(), true))
    })
}

/// The axes by the lanes of a warp, the fastest first. Axes along which no lane moves follow in the order of the
/// registers.
///
/// # Panics
/// Panics if the encoding was not verified.
#[must_use]
pub fn thread_order(encoding: Attr, shape: &[i64]) -> Vec<u32> {
    order_along(to_linear_layout(shape, encoding), Dim::Lane, &order(encoding, shape))
}

/// The axes by the warps of a block, the fastest first. Other axes follow in the order of the registers.
///
/// # Panics
/// Panics if the encoding was not verified.
#[must_use]
pub fn warp_order(encoding: Attr, shape: &[i64]) -> Vec<u32> {
    order_along(to_linear_layout(shape, encoding), Dim::Warp, &order(encoding, shape))
}

/// The order in which a tensor of this layout should be laid out in memory. It is the order of its registers, with one
/// exception. Where a thread has only one element along the axis along which lanes run fastest, the registers say
/// nothing about that axis and the lanes decide.
///
/// # Panics
/// Panics if the encoding was not verified.
#[must_use]
pub fn order_for_memory(encoding: Attr, shape: &[i64]) -> Vec<u32> {
    let (by_register, by_lane) = (order(encoding, shape), thread_order(encoding, shape));
    let per_axis = sizes_along(to_linear_layout(shape, encoding), Dim::Register, true);
    match by_lane.first() {
        Some(&axis) if by_register != by_lane && per_axis[axis as usize] == 1 => by_lane,
        _ => by_register,
    }
}

/// How many positions `input` takes along each axis: 2 for each basis that moves along it. If `with_copies`, copies
/// count for the axis along which the last move was.
#[must_use]
pub fn sizes_along(layout: &LinearLayout, input: Dim, with_copies: bool) -> Vec<u32> {
    let mut sizes = vec![1u32; layout.out_dims().len()];
    let mut last = 0;
    for basis in layout.bases(input) {
        let axis = basis.iter().position(|&c| c != 0);
        last = axis.unwrap_or(last);
        if (axis.is_some() || with_copies) && last < sizes.len() {
            sizes[last] *= 2;
        }
    }
    sizes
}

/// The threads of a warp along each axis, without copies.
///
/// # Panics
/// Panics if the encoding was not verified.
#[must_use]
pub fn threads_per_warp(encoding: Attr, shape: &[i64]) -> Vec<u32> {
    sizes_along(to_linear_layout(shape, encoding), Dim::Lane, false)
}

/// The warps of a block along each axis, without copies.
///
/// # Panics
/// Panics if the encoding was not verified.
#[must_use]
pub fn warps_per_cta(encoding: Attr, shape: &[i64]) -> Vec<u32> {
    sizes_along(to_linear_layout(shape, encoding), Dim::Warp, false)
}

/// The blocks of a cluster along each axis, without copies.
///
/// # Panics
/// Panics if the encoding was not verified.
#[must_use]
pub fn cta_split_num(encoding: Attr, shape: &[i64]) -> Vec<u32> {
    sizes_along(to_linear_layout(shape, encoding), Dim::Block, false)
}

/// One block's share of the shape.
///
/// # Panics
/// Panics if the encoding was not verified.
#[must_use]
pub fn shape_per_cta(encoding: Attr, shape: &[i64]) -> Vec<i64> {
    cta_split_num(encoding, shape).iter().zip(shape).map(|(&n, &s)| s / i64::from(n)).collect()
}

/// The elements of a thread along each axis within one tile, without the repetitions that fill a larger tensor.
///
/// Repetitions are the last register bases. Each of them moves by half of what is left of its axis. They are taken away
/// as long as they come axis after axis.
///
/// # Panics
/// Panics if the encoding was not verified.
#[must_use]
pub fn size_per_thread(encoding: Attr, shape: &[i64]) -> Vec<u32> {
    let layout = to_linear_layout(shape, encoding);
    let mut left: Vec<i64> = shape_per_cta(encoding, shape);
    let mut registers = layout.bases(Dim::Register);
    let mut repeated: Vec<usize> = Vec::new();
    while let Some(basis) = registers.last() {
        let Some(axis) = basis.iter().position(|&c| c != 0) else { break };
        if !repeated.contains(&axis) {
            repeated.push(axis);
        }
        if repeated.last() != Some(&axis) || 2 * i64::from(basis[axis]) != left[axis] {
            break;
        }
        left[axis] /= 2;
        registers.pop();
    }
    let mut sizes = vec![1; shape.len()];
    registers.iter().filter_map(|b| b.iter().position(|&c| c != 0)).for_each(|axis| sizes[axis] *= 2);
    sizes
}

/// How many neighbouring elements along each axis a thread holds in consecutive registers.
///
/// For the register bases `(0,1), (0,2), (0,4), (8,0)` the result is 8 along axis 1 and 1 along axis 0, whose neighbour
/// is eight rows away.
///
/// # Panics
/// Panics if the tensor's encoding was not verified.
#[must_use]
pub fn contig_per_thread(ty: Type) -> Vec<u32> {
    contig_of(tensor_layout(ty))
}

/// Does what [`contig_per_thread`] does for a layout.
#[must_use]
pub fn contig_of(layout: &LinearLayout) -> Vec<u32> {
    let rank = layout.out_dims().len();
    grow_contig(layout, Dim::Register, vec![1; rank])
}

/// How many neighbouring elements along each axis a warp holds in consecutive registers and lanes.
///
/// # Panics
/// Panics if the tensor's encoding was not verified.
#[must_use]
pub fn contig_per_warp(ty: Type) -> Vec<u32> {
    let layout = tensor_layout(ty);
    grow_contig(layout, Dim::Lane, contig_of(layout))
}

/// Doubles `contig` for each basis of `input` that continues it, axis by axis in the order of the registers.
fn grow_contig(layout: &LinearLayout, input: Dim, mut contig: Vec<u32>) -> Vec<u32> {
    let rank = contig.len();
    let bases = layout.bases(input);
    let mut next = bases.iter().peekable();
    for axis in order_along(layout, Dim::Register, &matrix_order(rank, true)) {
        let axis = axis as usize;
        while next
            .next_if(|b| {
                b.iter().enumerate().all(|(i, &c)| c.unsigned_abs() == if i == axis { contig[axis] } else { 0 })
            })
            .is_some()
        {
            contig[axis] *= 2;
        }
    }
    contig
}

/// Whether two encodings lay out a tensor of this shape alike.
///
/// # Errors
/// Fails where [`super::try_to_linear_layout`] does.
pub fn are_layouts_equivalent(shape: &[i64], a: Attr, b: Attr) -> Result<bool, LayoutError> {
    Ok(a == b || super::try_to_linear_layout(shape, a)? == super::try_to_linear_layout(shape, b)?)
}

/// Whether two encodings give each thread the same elements of a tensor of this shape, however many registers hold
/// copies of an element.
///
/// Example: the accumulators of wgmma with N = 64 and N = 128, cut to one column. Both have two elements a thread, in
/// 32 and in 64 registers.
///
/// # Errors
/// Fails where [`super::try_to_linear_layout`] does.
pub fn are_layouts_equivalent_up_to_copies(shape: &[i64], a: Attr, b: Attr) -> Result<bool, LayoutError> {
    let distinct = |e: Attr| super::try_to_linear_layout(shape, e).map(|l| l.remove_zero_bases(Dim::Register));
    Ok(are_layouts_equivalent(shape, a, b)? || distinct(a)? == distinct(b)?)
}

/// Whether seeing a tensor of layout `from` as one of layout `to` (a reshape that keeps each element where it is) would
/// need data to be moved, because the number of registers or the copies differ.
///
/// # Errors
/// Fails where [`layout_of`] does.
pub fn is_expensive_view(from: Type, to: Type) -> Result<bool, LayoutError> {
    let (a, b) = (layout_of(from)?, layout_of(to)?);
    Ok(a.free_variables() != b.free_variables() || a.in_size(Dim::Register) != b.in_size(Dim::Register))
}
