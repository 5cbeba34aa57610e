//! Why a load stays as it is.

/// The reason in words that go on a sentence: "the load does not become TMA: …".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Why(pub &'static str);
