//! The walk through a kernel: statements, expressions, branches, loops, calls, names.

mod annotations;
mod attempt;
mod attribute;
mod bind;
mod branch;
mod call;
mod construct;
mod expr;
mod frame;
mod function;
mod host;
mod lookup;
mod loops;
mod scope;
mod sights;
mod stmt;
mod tuners;
mod unbound;
mod walker;

pub use attempt::{Cause, because};
pub use function::is_set;
pub use host::NO_DICT;
pub use sights::{Sight, Sights};
pub use stmt::NO_JUMP;
pub use walker::Walker;
