//! Turns every layout encoding, with a shape, into a [`LinearLayout`]. No other file reads the fields of an encoding to
//! compute an index.
//!
//! # How a layout is made
//!
//! 1. For one block, a *tile* is put together as a product, fastest part first (`distributed`: registers, lanes, warps;
//!    `shared`: offsets).
//! 2. The encoding gives the bases of a cluster's blocks. They are cut to the shape, and what is left of the shape is
//!    one block's share.
//! 3. A tile smaller than the share is repeated along its first input (more registers, more offsets), in the order of
//!    the tile's outputs.
//! 4. A tile larger than the share has its surplus bases set to 0: those registers, lanes or warps hold copies.
//!    (Registers of a blocked layout, a slice or a linear layout are dropped instead. Fragments of tensor cores and
//!    operands keep theirs, as instructions need them.)
//! 5. The product of both, with the axes in order, is the layout. Its outputs have exactly the sizes of the shape.
//!
//! Example: `#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>` is a tile of
//! 512.
//!
//! ```text
//! shape 1024: register = [1, 2, 512]   lane = [4, 8, 16, 32, 64]   warp = [128, 256]    repeated once
//! shape  256: register = [1, 2]        lane = [4, 8, 16, 32, 64]   warp = [128, 0]      warps 2 and 3 hold copies
//! ```
//!
//! Layouts are memoized for the life of the process, as attributes are. The result depends on the arguments only.

mod distributed;
mod shared;
mod tensor_memory;
mod tma;

pub use distributed::mma_tile;
pub use shared::padded_offset;
pub use tma::{DESCRIPTOR_BYTES, TmaBlock, TmaMessages, tma_block, tma_bytes, tma_messages};

use super::{Dim, LayoutError, LinearLayout};
use crate::ir::core::encoding::LinearBases;
use crate::ir::core::hash::Map;
use crate::ir::core::{Attr, Bases, Encoding, Type, TypeData};
use crate::ir::encoding::questions::{rank_of, share};
use crate::ir::encoding::wellformed;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The layout of a tensor (or memory descriptor) of this shape and encoding. It goes from (`register`, `lane`, `warp`,
/// `block`) or (`offset`, `block`) to `dim0…`.
///
/// # Panics
/// Panics if the encoding cannot lay out such a shape. The verifier has established that it can ([`check`]). Use
/// [`try_to_linear_layout`] where that is not known.
#[must_use]
pub fn to_linear_layout(shape: &[i64], encoding: Attr) -> &'static LinearLayout {
    try_to_linear_layout(shape, encoding)
        .unwrap_or_else(|e| panic!("an encoding that was not verified reached a layout computation: {e}"))
}

/// Gives the layout of [`to_linear_layout`], or the reason why there is none.
///
/// # Errors
/// The reason why the encoding is not well-formed, or cannot lay out such a shape.
pub fn try_to_linear_layout(shape: &[i64], encoding: Attr) -> Result<&'static LinearLayout, LayoutError> {
    type Memo = Mutex<Map<(Attr, Vec<i64>), Result<&'static LinearLayout, LayoutError>>>;
    static MEMO: LazyLock<Memo> = LazyLock::new(Memo::default);
    let key = (encoding, shape.to_vec());
    if let Some(found) = MEMO.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return found.clone();
    }
    // This must not run under the lock, because a slice asks for the layout of its parent.
    let made = build(shape, encoding);
    let mut memo = MEMO.lock().unwrap_or_else(PoisonError::into_inner);
    memo.entry(key).or_insert_with(|| made.map(|layout| &*Box::leak(Box::new(layout)))).clone()
}

/// The layout of a tensor or memory descriptor. A memory descriptor is laid out as the allocation that it is part of.
/// Dimensions before those of its encoding count buffers, which are all laid out alike.
///
/// # Errors
/// The reason why there is none: the type has no encoding, or [`try_to_linear_layout`] fails.
pub fn layout_of(ty: Type) -> Result<&'static LinearLayout, LayoutError> {
    let encoding = ty.encoding().ok_or_else(|| LayoutError::new(format!("{ty} has no layout")))?;
    match ty.data() {
        TypeData::MemDesc(m) => {
            let rank = rank_of(encoding).map_or(m.shape.len(), |rank| rank.min(m.shape.len()));
            try_to_linear_layout(&m.alloc_shape[m.alloc_shape.len().saturating_sub(rank)..], encoding)
        }
        _ => try_to_linear_layout(ty.shape(), encoding),
    }
}

/// The encoding that states a linear layout as it is.
#[must_use]
pub fn from_linear(layout: &LinearLayout) -> Attr {
    Attr::encoding(Encoding::Linear(bases_of(layout)))
}

/// The layout that a linear encoding states.
#[must_use]
pub fn bases_of(layout: &LinearLayout) -> LinearBases {
    let bases = |dim| if layout.has_in(dim) { layout.bases(dim) } else { vec![] };
    LinearBases {
        register: bases(Dim::Register),
        lane: bases(Dim::Lane),
        warp: bases(Dim::Warp),
        block: bases(Dim::Block),
    }
}

/// Whether a type's encoding fits its shape. A type without an encoding is `Ok`.
///
/// # Errors
/// The reason why it does not fit.
pub fn check(ty: Type) -> Result<(), LayoutError> {
    if ty.encoding().is_none() { Ok(()) } else { layout_of(ty).map(|_| ()) }
}

/// More elements than any tensor may have. The bound keeps the sums of bits below within 64.
const MAX_SIZE: i64 = 1 << 28;

/// More dimensions than any tensor may have.
const MAX_RANK: usize = 64;

/// More blocks than any cluster may have, as a power of two.
const MAX_CGA_BITS: usize = 10;

fn build(shape: &[i64], attr: Attr) -> Result<LinearLayout, LayoutError> {
    let encoding = attr.as_encoding().ok_or_else(|| LayoutError::new("the attribute is no layout"))?;
    if shape.len() > MAX_RANK {
        return Err(LayoutError::new(format!("the shape has {} dimensions, more than {MAX_RANK}", shape.len())));
    }
    if let Some(size) = shape.iter().find(|&&size| size <= 0 || size & (size - 1) != 0) {
        return Err(LayoutError::new(format!("the shape has a dimension of {size}, expected a power of two")));
    }
    if shape.iter().try_fold(1i64, |acc, &s| acc.checked_mul(s)).is_none_or(|n| n > MAX_SIZE) {
        return Err(LayoutError::new(format!("the shape has more than {MAX_SIZE} elements")));
    }
    let layout = match encoding {
        Encoding::Blocked(e) => distributed::blocked(shape, e),
        Encoding::Slice { dim, parent } => distributed::slice(shape, *dim, *parent),
        Encoding::DotOp { op_idx, parent, k_width } => distributed::dot_op(shape, *op_idx, *parent, *k_width),
        Encoding::NvidiaMma(e) => distributed::nvidia_mma(shape, e),
        Encoding::Linear(e) | Encoding::GenericLinear(e) => distributed::linear(shape, e),
        Encoding::SwizzledShared(e) => shared::swizzled(shape, e),
        Encoding::NvmmaShared(e) => shared::nvmma(shape, e),
        Encoding::SharedLinear { offset, block, .. } => shared::shared_linear(shape, offset, block),
        Encoding::PaddedShared(e) => shared::padded(shape, e),
        Encoding::TensorMemory(e) => tensor_memory::tensor_memory(shape, e),
        Encoding::TensorMemoryScales { cga, k_first } => tensor_memory::scales(shape, cga, *k_first),
    }?;
    if layout.total_in_bits() > 31 {
        return Err(LayoutError::new(format!(
            "the layout has 2^{} places, more than can be numbered",
            layout.total_in_bits()
        )));
    }
    Ok(layout)
}

/// The axes `dim0…` with the sizes of a shape.
fn sizes_of(shape: &[i64]) -> Vec<(Dim, u32)> {
    Dim::axes(shape.len())
        .into_iter()
        .zip(shape.iter().map(|&s| u32::try_from(s).expect("a checked shape fits")))
        .collect()
}

/// The bases of a cluster's blocks as a layout with outputs `dim0…`, of the smallest sizes that fit.
fn cga_layout(cga: &Bases, rank: usize) -> Result<LinearLayout, LayoutError> {
    if cga.len() > MAX_CGA_BITS {
        return Err(LayoutError::new(format!("the CGA layout has 2^{} blocks", cga.len())));
    }
    wellformed::cluster(cga, rank).map_err(LayoutError::new)?;
    LinearLayout::from_bases_inferred(&[(Dim::Block, cga.clone())], &Dim::axes(rank))
}

/// One block's share of the shape.
fn shape_per_cta(cga: &Bases, shape: &[i64]) -> Result<Vec<i64>, LayoutError> {
    wellformed::cluster(cga, shape.len()).map_err(LayoutError::new)?;
    Ok(share(shape, cga))
}

/// Steps 2 to 5 of the module's algorithm. The tile is repeated in the order of its outputs.
fn combine(tile: &LinearLayout, cga: &Bases, shape: &[i64]) -> Result<LinearLayout, LayoutError> {
    let cga = cga_layout(cga, shape.len())?;
    combine_layouts(tile, &cga, shape)
}

fn combine_layouts(tile: &LinearLayout, cga: &LinearLayout, shape: &[i64]) -> Result<LinearLayout, LayoutError> {
    let sizes = sizes_of(shape);
    let order: Vec<Dim> = tile.out_dims().collect();
    let cga = cga.ensure_not_larger(&sizes, true).transpose_outs(&order);
    let share: Vec<(Dim, u32)> = sizes.iter().map(|&(d, size)| (d, (size / cga.out_size(d)).max(1))).collect();
    let tile = tile.ensure_not_smaller(&share).ensure_not_larger(&share, true);
    let layout = tile.product(&cga).transpose_outs(&Dim::axes(shape.len()));
    if layout.out_sizes() == sizes { Ok(layout) } else { Err(LayoutError::new("the layout does not tile the shape")) }
}

/// Reports a parameter list of the wrong length.
fn expect_rank(what: &str, found: usize, rank: usize) -> Result<(), LayoutError> {
    if found == rank {
        Ok(())
    } else {
        Err(LayoutError::new(format!("{what} has {found} elements for a shape of rank {rank}")))
    }
}

/// Reports a parameter that is no power of two, or parameters whose product is beyond all bounds.
fn expect_powers_of_two(what: &str, values: &[u32]) -> Result<(), LayoutError> {
    wellformed::powers_of_two(&[(what, values)]).map_err(LayoutError::new)?;
    let bits: u32 = values.iter().map(|v| v.trailing_zeros()).sum();
    if bits > 10 && what != "sizePerThread" || bits > 20 {
        return Err(LayoutError::new(format!("{what} is too large")));
    }
    Ok(())
}

/// Reports an order that is no permutation of the axes.
fn expect_order(order: &[u32], rank: usize) -> Result<(), LayoutError> {
    expect_rank("order", order.len(), rank)?;
    wellformed::permutation(order).map_err(LayoutError::new)
}
