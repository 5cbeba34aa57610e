//! Which stage a pass works on, and what is said where it is run on another.
//!
//! TTIR and TTGIR are the same operations; tensors of TTGIR have layouts. A pass that computes with layouts has none to
//! ask for in TTIR, and one that chooses them would choose twice. Each pass says which it takes ([`Input`]), and the
//! manager asks here before it runs.
//!
//! ```text
//! ttc opt kernel.ttir --tritongpu-coalesce      E0617: 'tritongpu-coalesce' works on TTGIR, and tensor<64xf32> has no layout
//! ```

use super::manager::{Pass, at};
use crate::diag::Diagnostic;
use crate::diag::codes::passes as codes;
use crate::ir::core::{Ir, Op, Type, WalkControl};

/// What a pass can be run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// Any module.
    Any,
    /// A module without layouts.
    Ttir,
    /// A module in which every tensor has a layout.
    Ttgir,
}

/// The error where a pass cannot be run on the module, because it is of another stage.
#[must_use]
pub fn refuse(ir: &Ir, pass: &Pass) -> Option<Diagnostic> {
    let (wanted, has, advice) = match pass.input {
        Input::Any => return None,
        Input::Ttir => ("TTIR", "has a layout", "leave the pass out: the module is TTGIR already"),
        Input::Ttgir => ("TTGIR", "has no layout", "run `--convert-triton-to-tritongpu=target=cuda:90` first"),
    };
    let (op, ty) = first_tensor(ir, pass.input == Input::Ttir)?;
    let text = format!("'{}' works on {wanted}, and {ty} {has}", pass.name);
    Some(at(Diagnostic::error(&codes::WRONG_STAGE, text), ir.loc(op)).help(advice))
}

/// The first tensor with or without a layout, and the operation that has it as a result or argument. Private functions
/// that nobody calls do not count.
fn first_tensor(ir: &Ir, with_layout: bool) -> Option<(Op, Type)> {
    let mut found = None;
    ir.walk(ir.module(), &mut |op| {
        if is_unused(ir, op) {
            return WalkControl::Skip;
        }
        let arguments = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.args(b));
        let ty = ir.results(op).iter().chain(arguments).map(|&v| ir.ty(v)).find(|ty| {
            // A tensor without axes is laid out in one way only.
            ty.as_tensor().is_some_and(|t| t.encoding.is_some() == with_layout && (with_layout || !t.shape.is_empty()))
        });
        found = ty.map(|ty| (op, ty));
        if found.is_some() { WalkControl::Stop } else { WalkControl::Advance }
    });
    found
}

/// Whether this is a private function that nobody calls.
fn is_unused(ir: &Ir, op: Op) -> bool {
    let private = ir.is_private(op);
    let calls = |call: Op| ir.callee(call) == Some(op);
    private && !ir.all_ops(ir.module()).into_iter().any(calls)
}
