//! `shared`: the buffers of each function in shared memory, and how much of the block's they take.
//!
//! 1. The allocation that code generation uses ([`allocation`]) gives every buffer its size and offset; buffers that
//!    are not alive at the same time may share bytes, so the total is less than the sum.
//! 2. One remark for each buffer, at what owns it, and one for the total; a function that needs nothing has none.
//!
//! ```text
//! remark[E0616]: 16384 bytes of shared memory at offset 0, for `ttg.local_alloc`
//! remark[E0616]: `matmul` needs 49152 bytes of shared memory in all; a block can have 232448
//! ```

use super::{at, bytes};
use crate::analysis::allocation::{self, Buffer, BufferKind};
use crate::diag::Diagnostic;
use crate::diag::codes::passes as codes;
use crate::ir::core::{Ir, Type};
use crate::ir::dialects::tt::tt::Func;
use crate::target::Target;

/// The remarks on a module; none where code generation will refuse it anyway.
pub(super) fn of_module(ir: &Ir, target: &Target) -> Vec<Diagnostic> {
    let Ok(made) = allocation::of_module(ir, target) else { return vec![] };
    let mut said = vec![];
    for (func, allocation) in made.into_iter().filter(|(_, a)| a.total > 0) {
        said.extend(allocation.buffers.iter().map(|b| buffer(ir, b)));
        let name = Func::of(ir, func).and_then(|f| f.sym_name(ir)).unwrap_or_default();
        let total = format!(
            "`{name}` needs {} of shared memory in all; a block can have {}",
            bytes(allocation.total),
            target.shared.bytes
        );
        said.push(at(Diagnostic::remark(&codes::SHARED_BUFFER, total), ir.loc(func), ""));
    }
    said
}

fn buffer(ir: &Ir, b: &Buffer) -> Diagnostic {
    let owner = ir.op_name(b.owner);
    let what = match b.kind {
        BufferKind::Named => format!("for {}", tensor(ir.ty(ir.result(b.owner)))),
        BufferKind::Scratch => format!("while `{owner}` runs"),
        BufferKind::Callee => "for the called function".to_owned(),
    };
    let text = format!("{} of shared memory at offset {}, {what}", bytes(b.bytes), b.offset);
    at(Diagnostic::remark(&codes::SHARED_BUFFER, text), ir.loc(b.owner), "")
}

/// `a tensor 3x128x64xf16`
fn tensor(ty: Type) -> String {
    let Some(m) = ty.as_memdesc() else { return ty.to_string() };
    let sizes: String = m.shape.iter().map(|s| format!("{s}x")).collect();
    format!("a tensor {sizes}{}", m.elem)
}
