//! Checks the layouts of views, whose results are held by the same threads and registers as the operand.
//!
//! Layouts are compared for the shape at hand, not by their encodings: `sizePerThread = [1, 8]` and `[1, 1]` are the
//! same for one column. These are the layouts that are expected:
//! - `tt.broadcast`: the result's layout, cut to the source's shape, is the source's;
//! - `tt.expand_dims`: the parent of the operand's slice;
//! - `tt.reduce`: the slice of the operand's layout along the axis.
//!
//! The rules for all other operations are in [`LayoutRules::of_op`].

use super::{LayoutRules, Verifier};
use crate::diag::codes::verify as codes;
use crate::ir::core::{Attr, Encoding, Ir, Op, Type};
use crate::ir::dialects::{OpKind, TtOp};

impl Verifier<'_> {
    pub(super) fn check_view(&mut self, op: Op) {
        let Some(rules) = self.layouts else { return };
        let fault = match self.ir.kind(op) {
            OpKind::Tt(TtOp::Broadcast) => broadcast(self.ir, op, rules),
            OpKind::Tt(TtOp::ExpandDims) => expand_dims(self.ir, op, rules),
            OpKind::Tt(TtOp::Reduce) => reduce(self.ir, op, rules),
            _ => (rules.of_op)(self.ir, op).err(),
        };
        if let Some(message) = fault {
            self.fault(&codes::INVALID_LAYOUT, op, &message);
        }
    }
}

fn broadcast(ir: &Ir, op: Op, rules: LayoutRules) -> Option<String> {
    let (src, result) = (ir.ty(ir.operand(op, 0)), ir.ty(ir.result(op)));
    compare(
        rules,
        src.shape(),
        result.encoding()?,
        src.encoding()?,
        0,
        "the layout of operand #0 up to broadcasting, which is",
    )
}

fn expand_dims(ir: &Ir, op: Op, rules: LayoutRules) -> Option<String> {
    let (src, result) = (ir.ty(ir.operand(op, 0)), ir.ty(ir.result(op)));
    let Some(Encoding::Slice { parent, .. }) = src.layout() else { return None };
    compare(rules, result.shape(), result.encoding()?, *parent, 0, "that which operand #0 is a slice of,")
}

fn reduce(ir: &Ir, op: Op, rules: LayoutRules) -> Option<String> {
    let dim = u32::try_from(ir.int_attr(op, "axis")?).ok()?;
    let types = |values: &[_]| -> Vec<Type> { values.iter().map(|&v| ir.ty(v)).collect() };
    let pairs = types(ir.operands(op)).into_iter().zip(types(ir.results(op)));
    pairs.enumerate().find_map(|(index, (src, result))| {
        let expected = Attr::encoding(Encoding::Slice { dim, parent: src.encoding()? });
        compare(rules, result.shape(), result.encoding()?, expected, index, "the slice of its operand's layout,")
    })
}

fn compare(
    rules: LayoutRules,
    shape: &[i64],
    found: Attr,
    expected: Attr,
    index: usize,
    which: &str,
) -> Option<String> {
    let same = found == expected || (rules.same)(shape, found, expected);
    (!same).then(|| format!("result #{index} has the layout {found}, expected {which} {expected}"))
}
