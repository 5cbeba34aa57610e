//! Faults as diagnostics: where in the source, in which program, at which element.

use crate::diag::{Code, Diagnostic, Place};
use crate::ir::{Ir, Loc, LocData, Op};

/// Why a program stops. Boxed, since it is the error of every step.
pub(crate) type Fault = Box<Diagnostic>;

/// The position of a location, if it has one.
pub(crate) fn place(loc: Loc) -> Option<Place> {
    let (file, line, col) = loc.file_line_col()?;
    Some(Place::At { file: file.as_str().to_owned(), line, col })
}

/// A diagnostic at an operation, with the call sites that led to it.
pub(crate) fn at(ir: &Ir, op: Op, code: &'static Code, message: String, label: &str) -> Diagnostic {
    let mut out = Diagnostic::error(code, message);
    let loc = ir.loc(op);
    match place(loc) {
        Some(p) => out = out.at(p, label),
        None => out = out.note(format!("in `{}`, which carries no source location", ir.op_name(op))),
    }
    let mut next = Some(loc);
    while let Some(current) = next.take() {
        match current.data() {
            LocData::CallSite { callee, caller } => {
                if let Some(p) = place(*caller) {
                    out = out.at(p, "called from here");
                }
                next = Some(if matches!(callee.data(), LocData::CallSite { .. }) { *callee } else { *caller });
            }
            LocData::Name { child, .. } => next = Some(*child),
            LocData::Unknown | LocData::File { .. } | LocData::Fused(_) => {}
        }
    }
    out
}

/// `(2, 0, 0)`
pub(crate) fn tuple(values: &[usize]) -> String {
    let parts: Vec<String> = values.iter().map(ToString::to_string).collect();
    if parts.len() == 1 { format!("[{}]", parts[0]) } else { format!("[{}]", parts.join(", ")) }
}

/// `program (2, 0, 0)`
pub(crate) fn program(pid: [u32; 3]) -> String {
    format!("program ({}, {}, {})", pid[0], pid[1], pid[2])
}
