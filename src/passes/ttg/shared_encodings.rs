//! Encodings of shared memory that passes choose: for operands that `ldmatrix` and its like read, and for transposed
//! views of a buffer.

mod amd;

use crate::ir::core::encoding::SwizzledShared;
use crate::ir::core::{Attr, Bases, Encoding, Type};
use crate::ir::encoding::permute::permuted;
use crate::ir::encoding::questions::{is_matrix_result, share};
use crate::layout;

/// A buffer for a whole tensor.
#[must_use]
pub fn buffer(tensor: Type, encoding: Encoding, mutable: bool) -> Type {
    super::buffers::shared(tensor.shape(), tensor.elem(), Attr::encoding(encoding), mutable)
}

/// For a tensor that becomes an operand of `mma.sync`: rows are swizzled so that the eight rows of a matrix that one
/// `ldmatrix` reads lie in different banks. The blocks of a cluster share the buffer as `cga` says. `transposed`: the
/// operand is the tensor's transpose.
#[must_use]
pub fn swizzled_for_dot(
    tensor: Type,
    operand: &Encoding,
    order: &[u32],
    cga: Bases,
    transposed: bool,
) -> Option<SwizzledShared> {
    let Encoding::DotOp { op_idx, parent, k_width } = operand else { return None };
    match parent.as_encoding() {
        Some(Encoding::AmdMfma(_) | Encoding::AmdWmma(_)) => {
            amd::swizzled(tensor, parent.as_encoding()?, (*op_idx, *k_width), order, cga, transposed)
        }
        Some(e) if is_matrix_result(e) => swizzled(tensor, *op_idx, *k_width, order, cga, transposed),
        _ => Some(plain(order, cga)),
    }
}

/// Rows one behind the other.
#[must_use]
pub fn plain(order: &[u32], cga: Bases) -> SwizzledShared {
    SwizzledShared { vec: 1, per_phase: 1, max_phase: 1, order: order.to_vec(), cga }
}

/// As [`swizzled_for_dot`], of the operand with this number and `kWidth`.
#[must_use]
pub fn swizzled(
    tensor: Type,
    op_idx: u32,
    k_width: u32,
    order: &[u32],
    cga: Bases,
    transposed: bool,
) -> Option<SwizzledShared> {
    // Bits of one access to all 32 banks.
    const ALL_BANKS: i64 = 1024;
    let bits = i64::from(tensor.elem().bit_width()?);
    let row = share(tensor.shape(), &cga)[order[0] as usize];
    let per_phase = (ALL_BANKS / (bits * row)).max(1);
    // Rows of a matrix, and elements of a row of it; along the other axis for the other operand.
    let (mut rows, mut vec) = (if bits == 64 { 4 } else { 8 }, 4 * i64::from(k_width));
    let k_axis = order.len() as u32 - if op_idx == 0 { 1 } else { 2 };
    if transposed != (order[0] != k_axis) {
        std::mem::swap(&mut rows, &mut vec);
    }
    let max_phase = (rows.min(ALL_BANKS / (vec * bits)).max(1) / per_phase).max(1);
    let number = |v: i64| u32::try_from(v).ok();
    Some(SwizzledShared {
        vec: number(vec)?,
        per_phase: number(per_phase)?,
        max_phase: number(max_phase)?,
        order: order.to_vec(),
        cga,
    })
}

/// The encoding of the transpose of a buffer.
#[must_use]
pub fn transposed(encoding: Attr, shape: &[i64], order: &[u32]) -> Option<Attr> {
    let new = permuted(encoding.as_encoding()?, order).or_else(|| {
        let layout = layout::try_to_linear_layout(shape, encoding).ok()?.permute_axes(order);
        Some(shared_linear(&layout, 16))
    })?;
    Some(Attr::encoding(new))
}

fn shared_linear(layout: &layout::LinearLayout, alignment: u32) -> Encoding {
    let bases = |dim| if layout.has_in(dim) { layout.bases(dim) } else { vec![] };
    Encoding::SharedLinear { offset: bases(layout::Dim::Offset), block: bases(layout::Dim::Block), alignment }
}
