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
//! - [`picture`](mod@picture): the same as a picture.

mod algebra;
pub mod blocked;
pub mod conversion;
mod dim;
pub mod encodings;
mod error;
pub mod fp4;
pub mod linear;
pub mod picture;
pub mod plan;
pub mod queries;
pub mod render;
mod reshape;
pub mod rules;
mod solve;
#[cfg(test)]
mod tests;
mod verify;

pub use blocked::{blocked_from_size, blocked_in_cga, default_blocked};
pub use conversion::{ConversionKind, conversion_kind, conversion_kind_of, minimal_conversion, register_permutation};
pub use dim::Dim;
pub use encodings::{
    axes_of_blocks, bases_of, cga_of_layout, check, from_linear, in_thread_transposed, layout_of, padded_offset,
    to_linear_layout, try_to_linear_layout, with_cga,
};
pub use error::LayoutError;
pub use linear::LinearLayout;
pub use queries::{
    FreeMasks, are_layouts_equivalent, are_layouts_equivalent_up_to_copies, contig_of, contig_per_thread,
    contig_per_warp, cta_split_num, elems_per_thread, first_holders, free_variable_masks, is_expensive_view,
    lanes_that_copy, neighbours, order, order_along, order_for_memory, register_offsets, shape_per_cta,
    size_per_thread, sizes_along, thread_order, threads_per_warp, unique_elems_per_thread, warp_order, warps_per_cta,
    words_per_thread,
};
pub use verify::verify;
