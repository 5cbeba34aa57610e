//! `ttc-check-shared-memory`: proves that the offsets, fences and barriers that stand in a module keep accesses to
//! shared memory apart and in order ([`check_shared`]), or says where they do not.
//!
//! It changes nothing. A build with debug assertions runs it behind `tritongpu-insert-barriers` in every compilation.

use crate::analysis::check_shared::{self, Fault};
use crate::diag::Diagnostic;
use crate::diag::codes::passes as codes;
use crate::ir::core::Ir;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx, at, place};
use crate::passes::ttg::allocate_shared_memory::{CAPABILITY, target};

pub static PASS: Pass = Pass {
    name: "ttc-check-shared-memory",
    doc: "prove that shared memory is placed, fenced and ordered",
    input: Input::Ttgir,
    options: &[CAPABILITY],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let target = target(ir, cx)?;
    let faults = check_shared::check(ir, &target);
    if faults.is_empty() {
        return Ok(Changed::No);
    }
    cx.diagnostics.extend(faults.iter().map(|fault| diagnostic(ir, fault)));
    Err(Failed)
}

fn diagnostic(ir: &Ir, fault: &Fault) -> Diagnostic {
    let mut diagnostic = at(Diagnostic::error(&codes::SHARED_MEMORY_UNSAFE, fault.text.clone()), ir.loc(fault.op))
        .note("where this comes out of a compilation it is a defect in ttc")
        .help("--dump-dir DIR writes the module before and after each pass");
    if let Some(other) = fault.other.and_then(|op| place(ir.loc(op))) {
        diagnostic = diagnostic.at(other, "the other operation");
    }
    diagnostic
}
