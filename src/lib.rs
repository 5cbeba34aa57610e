//! ttc: an ahead-of-time compiler for GPU kernels in the Triton language.
//!
//! The modules in reading order, which is also the order of the pipeline; `docs/architecture.md` says what each may import.

pub mod source;

pub mod diag;

pub mod text_file;

pub mod target;

pub mod threads;

pub mod lexer;

pub mod parser;

pub mod ir;

pub mod interp;

pub mod layout;

pub mod irgen;

pub mod passes;

pub mod codegen;

pub mod ptxas;

pub mod driver;

pub mod cases;
