//! Making TTIR: the one way by which the front end writes into the IR, and what is said on the way.
//!
//! - [`emitter`]: the module, the block to which operations go, their locations;
//! - [`report`]: diagnostics, with the chain of calls that led to them;
//! - [`budget`]: what a kernel may cost at compile time.
//!
//! An [`Emitter`] knows no syntax, no names and no values of the language. Operators and primitives are given one and
//! nothing else, so they cannot change what a name means or where control goes.

mod budget;
mod emitter;
mod report;

pub use budget::of_text;
pub use emitter::{Emits, Emitter, Here, Settings, Tensor, in_block, quietly, supports_dtype};
pub use report::{CallSite, R, Reported};
