//! `tritongpu-reduce-data-duplication`: operands of `mma.sync` that several warps read go through shared memory once.
//!
//! A `ttg.convert_layout` to a dot operand that needs shared memory becomes `ttg.local_alloc` and `ttg.local_load`: the
//! buffer gets the swizzle that the instruction's loads want, and each element is stored once however many threads need
//! it. Masks are left to the conversion, since memory has no elements of a bit.

use crate::ir::core::{Builder, Encoding, Ir};
use crate::ir::dialects::TtgOp;
use crate::ir::dialects::ttg::ttg::ConvertLayout;
use crate::ir::encoding::questions::{cga_of, is_operand};
use crate::layout::{self, plan};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::shared_encodings::{buffer, swizzled_for_dot};

pub static PASS: Pass = Pass {
    name: "tritongpu-reduce-data-duplication",
    doc: "send operands of matrix products that several warps read through shared memory",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let converts: Vec<ConvertLayout> =
        ir.all_ops(ir.module()).into_iter().filter_map(|op| ConvertLayout::of(ir, op)).collect();
    let mut changed = false;
    for convert in converts {
        changed |= share(ir, convert).is_some();
    }
    Ok(Changed::from(changed))
}

fn share(ir: &mut Ir, convert: ConvertLayout) -> Option<()> {
    let (op, source) = (convert.0, convert.src(ir));
    let (from, to) = (ir.ty(source), ir.ty(convert.result(ir)));
    let operand = to.layout().filter(|e| is_operand(e))?;
    let fills_bytes = from.elem().bit_width().is_some_and(|bits| bits.is_multiple_of(8));
    if !fills_bytes || !plan::is_through_shared_memory(from, to).ok()? {
        return None;
    }
    let order = layout::order_for_memory(from.encoding()?, from.shape());
    let encoding = swizzled_for_dot(from, operand, &order, cga_of(from), false)?;
    let ty = buffer(from, Encoding::SwizzledShared(encoding), false);
    let mut b = Builder::before(ir, op);
    let alloc = b.value(TtgOp::LocalAlloc, &[source], ty);
    let load = b.value(TtgOp::LocalLoad, &[alloc], to);
    ir.replace_op(op, &[load]);
    Some(())
}
