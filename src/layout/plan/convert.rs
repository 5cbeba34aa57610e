//! The plan that converts a tensor from one layout to another.
//!
//! The kind of the conversion ([`crate::layout::conversion_kind`]) decides: nothing to do, registers to permute, or elements that cross
//! lanes or warps and go through shared memory.

use crate::layout::{ConversionKind, LayoutError, LinearLayout, conversion_kind, register_permutation};

/// How a tensor gets from one layout to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConversionPlan {
    /// The register of the source that each register of the destination copies.
    Registers(Vec<usize>),
    /// Elements cross lanes, warps or blocks.
    Exchange(ConversionKind),
}

impl ConversionPlan {
    /// The plan for elements of `bits` bits on a GPU of this compute capability.
    ///
    /// # Errors
    /// When the layouts are of different tensors.
    pub fn new(source: &LinearLayout, destination: &LinearLayout, _bits: u32, _capability: u32) -> Result<ConversionPlan, LayoutError> {
        Ok(match register_permutation(source, destination)? {
            Some(table) => ConversionPlan::Registers(table),
            None => ConversionPlan::Exchange(conversion_kind(source, destination)?),
        })
    }

    /// Bytes of shared memory that the plan needs while it runs.
    #[must_use]
    pub fn scratch_bytes(&self) -> u32 {
        0
    }
}
