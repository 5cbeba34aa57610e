//! Words of a kernel file.
//!
//! 1. [`token`]: the words themselves, found by a logos automaton ([`Tok`]).
//! 2. [`string`] and [`number`]: where a string literal ends, and what a literal's text stands for.
//! 3. [`layout`]: the adapter that turns line breaks and leading blanks into `Newline`, `Indent` and `Dedent`, joins
//!    lines inside brackets, and recovers from a bracket that is never closed.
//!
//! The lexer never fails. What is wrong becomes a [`Tok::Error`] in the stream and a [`LexError`] beside it; the parser
//! reports those of each line that it reads.
//!
//! Example: `if a:\n  b` gives `if Name : Newline Indent Name Newline Dedent`.

pub mod layout;
pub mod number;
pub mod string;
pub mod token;

pub use layout::{LexError, LexErrorKind, Lexed, lex, lex_flat};
pub use token::{AugOp, Op, Tok, Token};
