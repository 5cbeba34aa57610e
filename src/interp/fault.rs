//! Faults as diagnostics: where in the source, in which program, at which element. This file also keeps the faults of a
//! launch that goes on after the first one.
//!
//! A launch that looks for several faults keeps one for each operation and code ([`Faults`]). It keeps that of the
//! first program, whatever the order in which programs ran.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::diag::{Code, Diagnostic, Place};
use crate::ir::{Ir, Loc, LocData, Op};

/// Why a program stops. It is boxed, since it is the error of every step.
pub(crate) type Fault = Box<Diagnostic>;

/// The position of a location, if it has one.
pub(crate) fn place(loc: Loc) -> Option<Place> {
    let (file, line, col) = loc.file_line_col()?;
    Some(Place::At { file: file.as_str().to_owned(), line, col })
}

/// The positions of a location, from the innermost on. An inlined operation has its own, then those of the calls.
fn frames(loc: Loc) -> Vec<Place> {
    match loc.data() {
        LocData::CallSite { callee, caller } => [frames(*callee), frames(*caller)].concat(),
        LocData::Name { child, .. } => frames(*child),
        LocData::Unknown | LocData::File { .. } | LocData::Fused(_) => place(loc).into_iter().collect(),
    }
}

/// The innermost position that is not in the language's own library, so the one that its user wrote.
pub(crate) fn written(loc: Loc) -> Option<Place> {
    frames(loc).into_iter().find(|p| !in_library(p)).or_else(|| place(loc))
}

fn in_library(place: &Place) -> bool {
    matches!(place, Place::At { file, .. } if file.starts_with("<prelude>"))
}

/// Whether a location is in the language's own library, together with all the calls that led to it.
pub(crate) fn is_library(loc: Loc) -> bool {
    let frames = frames(loc);
    !frames.is_empty() && frames.iter().all(in_library)
}

/// Makes a diagnostic at an operation, with the call sites that led to it.
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

/// Writes `(2, 0, 0)`.
pub(crate) fn tuple(values: &[usize]) -> String {
    let parts: Vec<String> = values.iter().map(ToString::to_string).collect();
    if parts.len() == 1 { format!("[{}]", parts[0]) } else { format!("[{}]", parts.join(", ")) }
}

/// Writes `program (2, 0, 0)`.
pub(crate) fn program(pid: [u32; 3]) -> String {
    format!("program ({}, {}, {})", pid[0], pid[1], pid[2])
}

/// The place of a fault: the operation and the code.
pub(crate) type Key = (Op, &'static str);

/// The faults of a launch so far. Each has its program and its order in it.
#[derive(Default)]
pub(crate) struct Faults(Mutex<BTreeMap<Key, ((u32, usize), Fault)>>);

impl Faults {
    /// Adds a fault, which is made only if no program before this one had it.
    pub(crate) fn add(&self, key: Key, order: (u32, usize), fault: impl FnOnce() -> Fault) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(&key).is_none_or(|(o, _)| *o > order) {
            all.insert(key, (order, fault()));
        }
    }

    /// The faults of programs up to `last`, by program and time.
    pub(crate) fn take(self, last: u64) -> Vec<Diagnostic> {
        let all = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut faults: Vec<_> = all.into_values().filter(|((program, _), _)| u64::from(*program) <= last).collect();
        faults.sort_by_key(|(order, _)| *order);
        faults.into_iter().map(|(_, d)| *d).collect()
    }
}
