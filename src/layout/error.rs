//! Why an encoding lays out no tensor of some shape.

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
