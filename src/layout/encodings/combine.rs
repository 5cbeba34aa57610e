//! What the layouts of all encodings are made with: a tile repeated over a shape and a cluster, and checks of the
//! parameters.

use crate::ir::core::Bases;
use crate::ir::encoding::questions::share;
use crate::ir::encoding::wellformed;
use crate::layout::{Dim, LayoutError, LinearLayout};

/// More blocks than any cluster may have, as a power of two.
const MAX_CGA_BITS: usize = 10;

/// The axes `dim0…` with the sizes of a shape.
pub(super) fn sizes_of(shape: &[i64]) -> Vec<(Dim, u32)> {
    Dim::axes(shape.len())
        .into_iter()
        .zip(shape.iter().map(|&s| u32::try_from(s).expect("a checked shape fits")))
        .collect()
}

/// The bases of a cluster's blocks as a layout with outputs `dim0…`, of the smallest sizes that fit.
pub(super) fn cga_layout(cga: &Bases, rank: usize) -> Result<LinearLayout, LayoutError> {
    if cga.len() > MAX_CGA_BITS {
        return Err(LayoutError::new(format!("the CGA layout has 2^{} blocks", cga.len())));
    }
    wellformed::cluster(cga, rank).map_err(LayoutError::new)?;
    LinearLayout::from_bases_inferred(&[(Dim::Block, cga.clone())], &Dim::axes(rank))
}

/// One block's share of the shape.
pub(super) fn shape_per_cta(cga: &Bases, shape: &[i64]) -> Result<Vec<i64>, LayoutError> {
    wellformed::cluster(cga, shape.len()).map_err(LayoutError::new)?;
    Ok(share(shape, cga))
}

/// Steps 2 to 5 of how a layout is made. The tile is repeated in the order of its outputs.
pub(super) fn combine(tile: &LinearLayout, cga: &Bases, shape: &[i64]) -> Result<LinearLayout, LayoutError> {
    let cga = cga_layout(cga, shape.len())?;
    combine_layouts(tile, &cga, shape)
}

/// As [`combine`], for a cluster whose layout is known.
pub(super) fn combine_layouts(
    tile: &LinearLayout,
    cga: &LinearLayout,
    shape: &[i64],
) -> Result<LinearLayout, LayoutError> {
    let sizes = sizes_of(shape);
    let order: Vec<Dim> = tile.out_dims().collect();
    let cga = cga.ensure_not_larger(&sizes, true).transpose_outs(&order);
    let share: Vec<(Dim, u32)> = sizes.iter().map(|&(d, size)| (d, (size / cga.out_size(d)).max(1))).collect();
    let tile = tile.ensure_not_smaller(&share).ensure_not_larger(&share, true);
    let layout = tile.product(&cga).transpose_outs(&Dim::axes(shape.len()));
    if layout.out_sizes() == sizes { Ok(layout) } else { Err(LayoutError::new("the layout does not tile the shape")) }
}

/// Reports a parameter list of the wrong length.
pub(super) fn expect_rank(what: &str, found: usize, rank: usize) -> Result<(), LayoutError> {
    if found == rank {
        Ok(())
    } else {
        Err(LayoutError::new(format!("{what} has {found} elements for a shape of rank {rank}")))
    }
}

/// Reports a parameter that is no power of two, or parameters whose product is beyond all bounds.
pub(super) fn expect_powers_of_two(what: &str, values: &[u32]) -> Result<(), LayoutError> {
    wellformed::powers_of_two(&[(what, values)]).map_err(LayoutError::new)?;
    let bits: u32 = values.iter().map(|v| v.trailing_zeros()).sum();
    if bits > 10 && what != "sizePerThread" || bits > 20 {
        return Err(LayoutError::new(format!("{what} is too large")));
    }
    Ok(())
}

/// Reports an order that is no permutation of the axes.
pub(super) fn expect_order(order: &[u32], rank: usize) -> Result<(), LayoutError> {
    expect_rank("order", order.len(), rank)?;
    wellformed::permutation(order).map_err(LayoutError::new)
}
