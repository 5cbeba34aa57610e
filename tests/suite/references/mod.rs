//! What the kernels of `kernels/` should compute, in f64, from the mathematics and not from the kernels.
//!
//! A reference takes the contents of the buffers before the launch and the case's values, and gives the buffers that are `out`. A case names
//! its reference, by default with its own name.

mod elementwise;

use std::collections::BTreeMap;

use ttc::cases::Inputs;

/// From inputs to the expected contents of the output buffers.
pub(crate) type Reference = fn(&Inputs) -> BTreeMap<String, Vec<f64>>;

/// All references by name.
const ALL: &[(&str, Reference)] = &[("add", elementwise::add), ("swiglu", elementwise::swiglu)];

/// The reference with this name.
pub(crate) fn lookup(name: &str) -> Option<Reference> {
    ALL.iter().find(|(n, _)| *n == name).map(|(_, r)| *r)
}

/// One output buffer.
pub(crate) fn single(name: &str, values: Vec<f64>) -> BTreeMap<String, Vec<f64>> {
    BTreeMap::from([(name.to_owned(), values)])
}
