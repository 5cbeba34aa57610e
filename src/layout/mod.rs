//! Layouts: which thread and register, or which offset of shared memory, holds which element of a tensor.
//!
//! - [`LinearLayout`] ([`linear`] defines it; `algebra`, `solve` and `reshape` hold its operations): a linear map over the field of two
//!   elements from ([`Dim::Register`], [`Dim::Lane`], [`Dim::Warp`], [`Dim::Block`]) or ([`Dim::Offset`], [`Dim::Block`]) to the tensor's axes;
//! - [`encodings`]: every encoding attribute and a shape turned into one, memoized;

mod algebra;
mod dim;
pub mod linear;
mod reshape;
mod solve;
#[cfg(test)]
mod tests;

pub use dim::Dim;
pub use linear::LinearLayout;

/// Why there is no such layout, as a clause for a diagnostic: "sizePerThread has 3 elements, expected 2".
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
