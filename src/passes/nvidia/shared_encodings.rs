//! Layouts of shared memory that `wgmma`, `tcgen05` and TMA read and write (`nvmma_shared`): chosen for a tensor, for
//! another rank, and for a reshaped view of a buffer.

use crate::ir::core::encoding::{Bases, NvmmaShared};
use crate::ir::core::{Attr, Encoding, Type};
use crate::ir::encoding::questions::{cga_of, share};
use crate::layout;

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
