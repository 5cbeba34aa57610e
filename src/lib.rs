//! ttc: an ahead-of-time compiler for GPU kernels in the Triton language.
//!
//! The modules in reading order, which is also the order of the pipeline; `docs/architecture.md` says what each may import.

pub mod diag;
pub mod ir;
pub mod irgen;
pub mod layout;
pub mod lexer;
pub mod parser;
pub mod source;
