//! How the blocks of a cluster share a tensor: read off its layout, and changed without touching what each block does
//! with its part.
//!
//! A layout that blocks share is the product of one block's layout and of the blocks' own: the blocks have the high
//! bits of each axis. [`cga_of_layout`] takes this product apart, [`with_cga`] puts another second factor in.
//!
//! ```text
//! 128x128, register = [[0, 1], …], block = [[64, 0]]     one block has 64x128, `CGALayout` is [[1, 0]]
//! with [[0, 1]]                                          one block has 128x64
//! ```

use super::combine::combine;
use super::lookup::{from_linear, try_to_linear_layout};
use crate::ir::core::encoding::Blocked;
use crate::ir::core::{Attr, Bases, Encoding};
use crate::ir::encoding::questions::{matrix_order, split};
use crate::ir::encoding::wellformed;
use crate::layout::queries::order_along;
use crate::layout::{Dim, LinearLayout};

/// The bases of the blocks of a cluster in a layout, as encodings state them. It is `None` where the layout is no
/// product of one block's layout and of the blocks' own.
///
/// Example: of 128 elements, `block = [[32], [0], [64]]` is the `CGALayout` `[[1], [0], [2]]`; the second bit's blocks
/// hold copies. `register = [[1], [4]], block = [[2]]` has none, because the blocks are interleaved.
#[must_use]
pub fn cga_of_layout(layout: &LinearLayout) -> Option<Bases> {
    let blocks = if layout.has_in(Dim::Block) { layout.bases(Dim::Block) } else { vec![] };
    let sizes = layout.out_sizes();
    let share: Vec<i32> =
        sizes.iter().enumerate().map(|(axis, &(_, size))| (i64::from(size) / split(&blocks, axis)) as i32).collect();
    let within = |basis: &Vec<i32>| basis.iter().zip(&share).all(|(&c, &size)| c < size);
    let others = layout.in_dims().filter(|&dim| dim != Dim::Block);
    if share.contains(&0) || !others.into_iter().all(|dim| layout.bases(dim).iter().all(within)) {
        return None;
    }
    let whole = |basis: &Vec<i32>| {
        let parts = basis.iter().zip(&share);
        parts.map(|(&c, &size)| (c % size == 0).then_some(c / size)).collect::<Option<Vec<i32>>>()
    };
    let cga = blocks.iter().map(whole).collect::<Option<Bases>>()?;
    wellformed::cluster(&cga, sizes.len()).is_ok().then_some(cga)
}

/// The axes of `rank` in the order in which blocks with these bases run along them, the fastest first. The others
/// follow in order.
#[must_use]
pub fn axes_of_blocks(cga: &Bases, rank: usize) -> Vec<u32> {
    let moved = cga.iter().filter_map(|basis| basis.iter().position(|&c| c != 0));
    let mut axes: Vec<u32> = Vec::with_capacity(rank);
    for axis in moved.chain(0..rank) {
        if !axes.contains(&(axis as u32)) {
            axes.push(axis as u32);
        }
    }
    axes
}

/// The encoding in which the blocks of a cluster share a tensor of this shape as `cga` says, while each does with its
/// part what it does now. It is `None` where there is none: for operands of matrix instructions and layouts whose warps
/// move along several axes at once.
///
/// A blocked encoding, also as the parent of a slice or of an operand, only gets the new bases. Any other becomes a
/// linear one: what a block had twice the room for is dropped, and what is missing is repeated in further registers.
#[must_use]
pub fn with_cga(shape: &[i64], encoding: Attr, cga: &Bases) -> Option<Attr> {
    Some(match encoding.as_encoding()? {
        Encoding::Blocked(blocked) => {
            Attr::encoding(Encoding::Blocked(Blocked { cga: cga.clone(), ..blocked.clone() }))
        }
        Encoding::DotOp { op_idx, parent, k_width } => {
            let Some(Encoding::Blocked(_)) = parent.as_encoding() else { return None };
            let parent = with_cga(shape, *parent, cga)?;
            Attr::encoding(Encoding::DotOp { op_idx: *op_idx, parent, k_width: *k_width })
        }
        Encoding::Slice { dim, parent } => {
            let axis = *dim as usize;
            let (mut parent_shape, mut parent_cga) = (shape.to_vec(), cga.clone());
            if axis > shape.len() {
                return None;
            }
            parent_shape.insert(axis, 1);
            parent_cga.iter_mut().for_each(|basis| basis.insert(axis.min(basis.len()), 0));
            Attr::encoding(Encoding::Slice { dim: *dim, parent: with_cga(&parent_shape, *parent, &parent_cga)? })
        }
        Encoding::NvidiaMma(_) | Encoding::AmdMfma(_) | Encoding::AmdWmma(_) | Encoding::Linear(_) => {
            let layout = try_to_linear_layout(shape, encoding).ok()?;
            from_linear(&combine(&of_one_block(layout)?, cga, shape).ok()?)
        }
        Encoding::GenericLinear(_)
        | Encoding::SwizzledShared(_)
        | Encoding::AmdRotatingShared(_)
        | Encoding::NvmmaShared(_)
        | Encoding::SharedLinear { .. }
        | Encoding::PaddedShared(_)
        | Encoding::TensorMemory(_)
        | Encoding::TensorMemoryScales { .. } => return None,
    })
}

/// One block's layout, its axes in the order in which registers run along them: in that order it is repeated.
fn of_one_block(layout: &LinearLayout) -> Option<LinearLayout> {
    let cga = cga_of_layout(layout)?;
    let ins: Vec<Dim> = layout.in_dims().filter(|&dim| dim != Dim::Block).collect();
    let outs: Vec<Dim> = layout.out_dims().collect();
    let mut tile = layout.sublayout(&ins, &outs);
    for (axis, (dim, size)) in layout.out_sizes().into_iter().enumerate() {
        tile = tile.resize_out(dim, size >> split(&cga, axis).trailing_zeros());
    }
    let order = order_along(layout, Dim::Register, &matrix_order(outs.len(), true));
    Some(tile.transpose_outs(&order.into_iter().map(|axis| Dim::axis(axis as usize)).collect::<Vec<Dim>>()))
}
