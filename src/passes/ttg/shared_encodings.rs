//! Encodings of shared memory that passes choose: for the operands of matrix instructions, and for transposed and
//! reshaped views of a buffer.

use crate::ir::core::encoding::{Bases, NvmmaShared, SwizzledShared};
use crate::ir::core::{Attr, Encoding, Type};
use crate::ir::encoding::questions::{cga_of, is_matrix_result, share};
use crate::layout;

/// A buffer for a whole tensor.
#[must_use]
pub fn buffer(tensor: Type, encoding: Encoding, mutable: bool) -> Type {
    super::buffers::shared(tensor.shape(), tensor.elem(), Attr::encoding(encoding), mutable)
}

/// For an operand of `wgmma`: the widest swizzle that a row of the tensor fills (PTX ISA, "Asynchronous Warpgroup Level
/// Matrix Shared Memory Layout").
#[must_use]
pub fn nvmma(tensor: Type, order: &[u32]) -> Encoding {
    nvmma_of(tensor.shape(), tensor.elem(), order, &cga_of(tensor))
}

/// As [`nvmma`], for elements of this type in this shape, shared by the blocks of a cluster.
#[must_use]
pub fn nvmma_of(shape: &[i64], elem: Type, order: &[u32], cga: &Bases) -> Encoding {
    let share = share(shape, cga);
    let bits = elem.bit_width().unwrap_or(8);
    let row = share[order[0] as usize] * i64::from(bits) / 8;
    let rows: i64 = order[1..].iter().map(|&d| share[d as usize]).product();
    let fits = |width: &u32| row >= i64::from(*width) && row % i64::from(*width) == 0;
    let width = if share.len() < 2 || rows < 8 { 0 } else { [128, 64, 32].into_iter().find(fits).unwrap_or(0) };
    Encoding::NvmmaShared(NvmmaShared {
        swizzling_byte_width: width,
        transposed: order.len() > 1 && order[0] == 0,
        element_bit_width: bits,
        fp4_padded: false,
        rank: share.len() as u32,
        cga: cga.clone(),
    })
}

/// The layout of a buffer of `nvmma_shared` for as many axes: blocks of a tensor may lack the first ones, which are of
/// size 1 then.
#[must_use]
pub fn of_rank(encoding: Attr, rank: usize) -> Attr {
    match encoding.as_encoding() {
        Some(Encoding::NvmmaShared(e)) if e.rank as usize != rank => {
            Attr::encoding(Encoding::NvmmaShared(NvmmaShared {
                rank: rank as u32,
                cga: cga_of_rank(&e.cga, rank),
                ..e.clone()
            }))
        }
        _ => encoding,
    }
}

/// The bases of a cluster's blocks for as many axes, the last of which are those that there are.
#[must_use]
pub fn cga_of_rank(cga: &[Vec<i32>], rank: usize) -> Bases {
    let of = |basis: &Vec<i32>| {
        let kept = &basis[basis.len().saturating_sub(rank)..];
        std::iter::repeat_n(0, rank - kept.len()).chain(kept.iter().copied()).collect()
    };
    cga.iter().map(of).collect()
}

/// For a tensor that becomes an operand of `mma.sync`: rows are swizzled so that the eight rows of a matrix that one
/// `ldmatrix` reads lie in different banks. `transposed`: the operand is the tensor's transpose.
#[must_use]
pub fn swizzled_for_dot(tensor: Type, operand: &Encoding, order: &[u32], transposed: bool) -> Option<Encoding> {
    let Encoding::DotOp { op_idx, parent, k_width } = operand else { return None };
    let encoding = if parent.as_encoding().is_some_and(is_matrix_result) {
        swizzled(tensor, *op_idx, *k_width, order, transposed)?
    } else {
        SwizzledShared { vec: 1, per_phase: 1, max_phase: 1, order: order.to_vec(), cga: cga_of(tensor) }
    };
    Some(Encoding::SwizzledShared(encoding))
}

/// As [`swizzled_for_dot`], of the operand with this number and `kWidth`.
#[must_use]
pub fn swizzled(tensor: Type, op_idx: u32, k_width: u32, order: &[u32], transposed: bool) -> Option<SwizzledShared> {
    // Bits of one access to all 32 banks.
    const ALL_BANKS: i64 = 1024;
    let cga = cga_of(tensor);
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
    let permuted = |basis: &Vec<i32>| order.iter().map(|&d| basis[d as usize]).collect::<Vec<i32>>();
    let new = match encoding.as_encoding()? {
        Encoding::NvmmaShared(e) if order == [1, 0] => Encoding::NvmmaShared(NvmmaShared {
            transposed: !e.transposed,
            cga: e.cga.iter().map(permuted).collect(),
            ..e.clone()
        }),
        Encoding::SwizzledShared(e) if e.order.len() == order.len() => {
            let place = |axis: &u32| order.iter().position(|d| d == axis).map(|i| i as u32);
            let order = e.order.iter().map(place).collect::<Option<Vec<_>>>()?;
            Encoding::SwizzledShared(SwizzledShared { order, cga: e.cga.iter().map(permuted).collect(), ..e.clone() })
        }
        _ => {
            let layout = layout::try_to_linear_layout(shape, encoding).ok()?.permute_axes(order);
            shared_linear(&layout, 16)
        }
    };
    Some(Attr::encoding(new))
}

/// The encoding of a buffer of `nvmma_shared` seen in another shape, where it is one of that kind: the swizzled rows
/// stay what they are.
#[must_use]
pub fn reshaped_nvmma(encoding: Attr, from: &[i64], to: &[i64]) -> Option<Attr> {
    let Encoding::NvmmaShared(e) = encoding.as_encoding()? else { return None };
    let inner = |shape: &[i64]| if e.transposed { shape.first().copied() } else { shape.last().copied() };
    if !e.cga.is_empty() || inner(from) != inner(to) {
        return None;
    }
    let new = Attr::encoding(Encoding::NvmmaShared(NvmmaShared { rank: to.len() as u32, ..e.clone() }));
    let source = layout::try_to_linear_layout(from, encoding).ok()?;
    let target = layout::try_to_linear_layout(to, new).ok()?;
    let shape: Vec<u32> = to.iter().map(|&d| u32::try_from(d).ok()).collect::<Option<_>>()?;
    (source.reshape_row_major(&shape) == *target).then_some(new)
}

fn shared_linear(layout: &layout::LinearLayout, alignment: u32) -> Encoding {
    let bases = |dim| if layout.has_in(dim) { layout.bases(dim) } else { vec![] };
    Encoding::SharedLinear { offset: bases(layout::Dim::Offset), block: bases(layout::Dim::Block), alignment }
}
