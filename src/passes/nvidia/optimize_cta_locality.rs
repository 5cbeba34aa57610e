//! `triton-nvidia-gpu-optimize-cta-locality`: a block of a cluster stores what it has computed, so that nothing is sent
//! to another block first.
//!
//! Products and reductions have the layout that `triton-nvidia-gpu-assign-cga-layouts` gave them; what stores their
//! results still has its own. Memory does not mind which block writes an element, so the store can change.
//!
//! # Algorithm
//!
//! For each conversion that moves elements between blocks, and each store, also through a descriptor, that uses it:
//!
//! 1. The wanted layout does within a block what the conversion's result does, and gives the blocks what the
//!    conversion's source gives them.
//! 2. A store through pointers has operands beside: pointers, a mask, or the value where the conversion is of the
//!    pointers. It stays as it is unless each can be computed anew in the wanted layout.
//! 3. The store takes the conversion's source, and the others, converted to the wanted layout. What is left of these
//!    conversions `tritongpu-remove-layout-conversions` sees to.
//!
//! ```text
//! %1 = ttg.convert_layout %0 : #rows -> #columns         #rows gives each block half of the rows
//! tt.store %p, %1                                        %p is a splat in #columns
//! → %1 = ttg.convert_layout %0 : #rows -> #new           as #columns within a block, as #rows between blocks
//!   %q = ttg.convert_layout %p : #columns -> #new
//!   tt.store %q, %1
//! ```

use crate::ir::core::{Attr, Builder, Ir, Use, Value};
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{Classes, TtOp, TtgOp};
use crate::ir::encoding::questions::is_generic;
use crate::layout::{self, Dim};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::module_attrs;
use crate::passes::ttg::remove_layout_conversions::can_recompute;

pub static PASS: Pass = Pass {
    name: "triton-nvidia-gpu-optimize-cta-locality",
    doc: "let each block of a cluster store what it has computed",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    if module_attrs::threads(ir).is_none_or(|t| t.num_ctas == 1) {
        return Ok(Changed::No);
    }
    let conversions: Vec<ttg::ConvertLayout> =
        ir.all_ops_post(ir.module()).into_iter().filter_map(|op| ttg::ConvertLayout::of(ir, op)).collect();
    let mut changed = false;
    for convert in conversions {
        changed |= avoid(ir, convert);
    }
    Ok(Changed::from(changed))
}

/// Lets stores do without a conversion. Returns whether one does.
fn avoid(ir: &mut Ir, convert: ttg::ConvertLayout) -> bool {
    let Some(encoding) = wanted(ir, convert) else { return false };
    let (source, result) = (convert.src(ir), convert.result(ir));
    let mut changed = false;
    for at in ir.uses(result).to_vec().into_iter().rev() {
        let Some(others) = others(ir, at) else { continue };
        if others.iter().all(|&other| can_recompute(ir, other, encoding)) {
            for index in 0..ir.operands(at.op).len() {
                let operand = Use { op: at.op, index: index as u32 };
                if operand == at {
                    convert_operand(ir, operand, source, encoding);
                } else if others.contains(&operand) {
                    convert_operand(ir, operand, ir.operand(at.op, index), encoding);
                }
            }
            changed = true;
        }
    }
    if changed && !ir.has_uses(result) {
        ir.erase_op(convert.0);
    }
    changed
}

/// Step 1; `None` for a conversion that keeps each element in its block.
fn wanted(ir: &Ir, convert: ttg::ConvertLayout) -> Option<Attr> {
    let (from, to) = (ir.ty(convert.src(ir)), ir.ty(convert.result(ir)));
    let [source, result] = [from, to].map(|ty| layout::layout_of(ty).ok());
    let (source, result) = (source?, result?);
    let crosses = layout::minimal_conversion(source, result).is_ok_and(|conversion| conversion.has_in(Dim::Block));
    let (of_source, of_result) = (from.encoding()?, to.encoding()?);
    if !crosses || is_generic(of_source) || is_generic(of_result) {
        return None;
    }
    layout::with_cga(to.shape(), of_result, &layout::cga_of_layout(source)?)
}

/// The operands of a store that have to have the layout of the one at `at`; `None` where it is no store that can
/// change.
fn others(ir: &Ir, at: Use) -> Option<Vec<Use>> {
    let kind = ir.kind(at.op);
    if kind.belongs(Classes::DESCRIPTOR_ACCESS) && !kind.is_load() {
        return Some(vec![]);
    }
    let operands = (0..ir.operands(at.op).len() as u32).map(|index| Use { op: at.op, index });
    ir.is(at.op, TtOp::Store).then(|| {
        operands.filter(|&other| other != at && ir.ty(ir.operand(at.op, other.index as usize)).is_tensor()).collect()
    })
}

/// Lets an operand be this value in the wanted layout.
fn convert_operand(ir: &mut Ir, at: Use, value: Value, encoding: Attr) {
    let ty = ir.ty(value).with_encoding(Some(encoding));
    let same = ir.ty(value) == ty;
    let converted = if same { value } else { Builder::before(ir, at.op).value(TtgOp::ConvertLayout, &[value], ty) };
    ir.set_operand(at.op, at.index as usize, converted);
}
