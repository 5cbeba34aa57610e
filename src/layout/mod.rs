//! Layouts: which thread and register, or which offset of shared memory, holds which element of a tensor.
//!
//! - [`LinearLayout`] ([`linear`] defines it; `algebra`, `solve` and `reshape` hold its operations): a linear map over
//!   the field of two elements from ([`Dim::Register`], [`Dim::Lane`], [`Dim::Warp`], [`Dim::Block`]) or
//!   ([`Dim::Offset`], [`Dim::Block`]) to the tensor's axes;
//! - [`encodings`]: every encoding attribute and a shape turned into one, memoized;
//! - [`fp4`]: the encodings of 4-bit floats in bytes and of what they become;
//! - [`queries`]: registers per thread, offsets per register, contiguity, order, copies;
//! - [`blocked`]: choosing blocked encodings;
//! - [`conversion`]: how far elements move between two layouts;
//! - [`plan`]: how data moves between threads, as data;
//! - [`rules`]: what the verifier asks of single operations;
//! - [`render`]: who holds what, as a table of text;
//! - [`svg`](mod@svg): the same as a picture.

mod algebra;
pub mod blocked;
pub mod conversion;
mod dim;
pub mod encodings;
pub mod fp4;
pub mod linear;
pub mod plan;
pub mod queries;
pub mod render;
mod reshape;
pub mod rules;
mod solve;
pub mod svg;
#[cfg(test)]
mod tests;

use crate::diag::Diagnostic;
use crate::ir::Ir;
use crate::ir::verify::{LayoutRules, verify_with_layouts};

pub use blocked::{blocked_from_size, blocked_in_cga, default_blocked};
pub use conversion::{ConversionKind, conversion_kind, conversion_kind_of, minimal_conversion, register_permutation};
pub use dim::Dim;
pub use encodings::{bases_of, check, from_linear, layout_of, padded_offset, to_linear_layout, try_to_linear_layout};
pub use linear::LinearLayout;
pub use queries::{
    FreeMasks, are_layouts_equivalent, are_layouts_equivalent_up_to_copies, contig_of, contig_per_thread,
    contig_per_warp, cta_split_num, elems_per_thread, free_variable_masks, is_expensive_view, order, order_along,
    order_for_memory, register_offsets, shape_per_cta, size_per_thread, sizes_along, thread_order, threads_per_warp,
    unique_elems_per_thread, warp_order, warps_per_cta,
};

/// Verifies a module, layouts included. It checks the IR's own rules, and those that need the mathematics of layouts.
#[must_use]
pub fn verify(ir: &Ir) -> Vec<Diagnostic> {
    const RULES: LayoutRules = LayoutRules {
        fits: |ty| check(ty).map_err(|e| e.reason),
        same: |shape, a, b| are_layouts_equivalent_up_to_copies(shape, a, b).unwrap_or(false),
        of_op: rules::verify_op,
    };
    verify_with_layouts(ir, RULES)
}

/// The reason why there is no such layout, as a clause for a diagnostic: "sizePerThread has 3 elements, expected 2".
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LayoutError {
    pub reason: String,
}

impl LayoutError {
    #[must_use]
    pub fn new(reason: impl Into<String>) -> LayoutError {
        LayoutError { reason: reason.into() }
    }
}

impl std::fmt::Display for LayoutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for LayoutError {}
