//! Passes over the IR, the analyses they share, and the machinery that runs them.

pub mod analysis;
