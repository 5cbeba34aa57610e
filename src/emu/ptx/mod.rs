//! The text form of PTX: a lexer, a recursive-descent parser, and the tree that they make.
//!
//! The parser knows the grammar of statements, declarations and operands, but no instruction: an instruction is an
//! opcode, its modifiers and its operands. `decode` gives it a meaning. The grammar is that of "PTX ISA, Syntax",
//! "State Spaces, Types, and Variables" and "Directives".
//!
//! ```text
//! @%p1 ld.global.v2.b32 {%r1, %r2}, [%rd1+8];
//! ```
//! is `Instruction { guard: %p1, opcode: "ld", modifiers: ["global", "v2", "b32"], operands: [Vector, Address] }`.

pub mod error;
mod operand;
mod parser;
pub mod syntax;
mod token;
mod variable;

pub use error::Error;
pub use parser::parse;
