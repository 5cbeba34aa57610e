//! Diagnostics as data.
//!
//! Library code never prints: it makes [`Diagnostic`]s, and the driver renders them ([`render`]). Each has a [`Code`]
//! from the tables in [`codes`] (`ttc explain CODE` prints the long text), a message that says what was expected and
//! what was found, and labels that point into the source. A label's [`Place`] is either a byte range of a file or the
//! line and column that an IR location carries.

pub mod code;
pub mod codes;
mod diagnostic;
pub mod render;
mod shell;
pub mod suggest;

pub use code::Code;
pub use diagnostic::{Diagnostic, Fix, Label, Place, Severity};
pub use shell::shell_word;
