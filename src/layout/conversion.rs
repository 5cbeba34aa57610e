//! Finds what it takes to convert a tensor from one layout to another.
//!
//! The map `destination.invert_and_compose(source)` takes a place of the destination to the place of the source that
//! holds its element. Dimensions on which that map is the identity, and which nothing else touches, take no part in the
//! conversion. They are removed, slowest first. The slowest dimension that is left names the kind.

use super::encodings::layout_of;
use super::{Dim, LayoutError, LinearLayout};
use crate::ir::core::Type;

/// How far elements have to move, ordered from cheap to dear.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ConversionKind {
    /// Every register already holds its element.
    Nothing,
    /// Each thread permutes, drops or copies its registers.
    Registers,
    /// Elements move between the lanes of a warp.
    Lanes,
    /// Elements move between the warps of a block.
    Warps,
    /// Elements move between the blocks of a cluster.
    Blocks,
}

/// The conversion from `source` to `destination` without the dimensions on which it is the identity. It goes from
/// places of the destination to places of the source.
///
/// # Errors
/// Fails if the layouts are of different tensors.
pub fn minimal_conversion(source: &LinearLayout, destination: &LinearLayout) -> Result<LinearLayout, LayoutError> {
    let mut conversion = destination
        .invert_and_compose(source)
        .ok_or_else(|| LayoutError::new("the layouts of a conversion are not those of the same tensor"))?;
    for dim in Dim::DISTRIBUTED.into_iter().rev() {
        match conversion.quotient(&[dim]) {
            Some(rest) => conversion = rest,
            None => break,
        }
    }
    Ok(conversion)
}

/// How far elements move when a tensor of layout `source` gets layout `destination`.
///
/// # Errors
/// Fails if the layouts are of different tensors.
pub fn conversion_kind(source: &LinearLayout, destination: &LinearLayout) -> Result<ConversionKind, LayoutError> {
    let conversion = minimal_conversion(source, destination)?;
    let touches = |dim| conversion.has_in(dim) || conversion.has_out(dim);
    Ok(if touches(Dim::Block) {
        ConversionKind::Blocks
    } else if touches(Dim::Warp) {
        ConversionKind::Warps
    } else if touches(Dim::Lane) {
        ConversionKind::Lanes
    } else if touches(Dim::Register) {
        ConversionKind::Registers
    } else {
        ConversionKind::Nothing
    })
}

/// Does what [`conversion_kind`] does for two types of tensors.
///
/// # Errors
/// Fails if a type has no layout, or the shapes differ.
pub fn conversion_kind_of(source: Type, destination: Type) -> Result<ConversionKind, LayoutError> {
    conversion_kind(layout_of(source)?, layout_of(destination)?)
}

/// For a conversion within threads, the register of the source from which each register of the destination takes its
/// element. It is `None` when elements move further.
///
/// # Errors
/// Fails if the layouts are of different tensors.
pub fn register_permutation(
    source: &LinearLayout,
    destination: &LinearLayout,
) -> Result<Option<Vec<usize>>, LayoutError> {
    let kind = conversion_kind(source, destination)?;
    if kind > ConversionKind::Registers {
        return Ok(None);
    }
    let conversion = minimal_conversion(source, destination)?;
    let registers = u64::from(destination.in_size(Dim::Register));
    if kind == ConversionKind::Nothing {
        return Ok(Some((0..registers as usize).collect()));
    }
    Ok(Some((0..registers).map(|r| conversion.apply_packed(r) as usize).collect()))
}
