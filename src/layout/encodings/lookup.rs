//! The layout of an encoding and a shape, memoized, and the encoding that states a layout.

use std::sync::{LazyLock, Mutex, PoisonError};

use super::{amd, distributed, shared, tensor_memory};
use crate::ir::core::encoding::LinearBases;
use crate::ir::core::hash::Map;
use crate::ir::core::{Attr, Encoding, Type, TypeData};
use crate::ir::encoding::questions::rank_of;
use crate::layout::{Dim, LayoutError, LinearLayout};

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
        Encoding::AmdMfma(e) => amd::mfma(shape, e),
        Encoding::AmdWmma(e) => amd::wmma(shape, e),
        Encoding::Linear(e) | Encoding::GenericLinear(e) => distributed::linear(shape, e),
        Encoding::SwizzledShared(e) => shared::swizzled(shape, e),
        Encoding::AmdRotatingShared(e) => shared::rotating(shape, e),
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
