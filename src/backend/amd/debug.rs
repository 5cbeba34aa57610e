//! Talking to the host.
//!
//! Printing needs a service of the host that ROCm's own library of device code talks to; ttc makes no code for it.
//! An assertion that fails ends the grid by a trap; its message stays behind.

use crate::codegen::lower::{Lower, Res};
use crate::diag::{Diagnostic, codes::codegen as codes};

/// Why nothing is printed.
pub(super) fn no_printing(cx: &Lower<'_, '_>) -> Diagnostic {
    let text = format!("`tt.print` has no code generation for {}: it needs a service of the host", cx.options.target);
    Diagnostic::error(&codes::UNSUPPORTED_OP, text)
        .help("leave `tl.device_print` out for this target, or run the kernel with `ttc interpret`")
}

/// Ends the grid ("User Guide for AMDGPU Backend", "Trap Handler ABI").
pub(super) fn fail(cx: &mut Lower<'_, '_>) -> Res<()> {
    cx.effect("llvm.trap", &[], &[])
}
