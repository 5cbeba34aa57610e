//! The intermediate representation: SSA operations that mirror Triton's dialects by name, meaning and text.
//!
//! - [`core`]: entities, interned types and attributes, arenas, builder, walk, clone, dominance;
//! - [`dialects`]: one table entry per operation, from which verifier, parser, printer, builders and docs come;
//! - [`text`]: the printer and the parser of the textual form, shared with Triton;
//! - [`effects`]: what an operation does to memory, regions included;
//! - [`encoding`]: what a layout or a type of memory must satisfy by itself, and questions about layouts;
//! - [`rewrite`]: the greedy rewriter that patterns run in, and folding one operation;
//! - [`verify`]: the rules that every module obeys.

pub mod core;
pub mod dialects;
pub mod effects;
pub mod encoding;
pub mod rewrite;
pub mod text;
pub mod verify;

pub use core::*;
pub use dialects::{
    AmdgOp, ArithOp, BuiltinOp, CfOp, LlvmOp, MathOp, OpKind, OpSpec, ScfOp, TtOp, TtgOp, TtngOp, UbOp,
};
