//! The parser of kernel files.

pub mod ast;
