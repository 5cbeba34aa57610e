//! Entries of the tables of primitives.

use crate::irgen::emit::{Emitter, R};
use crate::irgen::value::{Args, Builtin, Calls, Object, Run};

/// An entry of a table.
pub(super) const fn entry(
    name: &'static str,
    sig: &'static str,
    doc: &'static str,
    run: fn(&mut Emitter, &Args) -> R<Object>,
) -> Builtin {
    Builtin { name, package: "", sig, doc, is_method: false, run: Run::Values(run) }
}

/// An entry of a table whose function calls others.
pub(super) const fn calling(
    name: &'static str,
    sig: &'static str,
    doc: &'static str,
    run: fn(&mut dyn Calls, &Args) -> R<Object>,
) -> Builtin {
    Builtin { name, package: "", sig, doc, is_method: false, run: Run::Calls(run) }
}
