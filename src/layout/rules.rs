//! The rules for single operations that need the mathematics of layouts. The verifier asks here after all other rules
//! hold.
//!
//! 1. *Views* of tensors and buffers (`trans`, `reshape`, `join`, `split`, `fp4_to_fp`) leave each element where it is:
//!    the result's layout is the source's under another name for its coordinates.
//! 2. *Parts* of a buffer, and buffers seen as others, are in [`memory`].
//! 3. Of *barriers* that blocks share, the blocks are in order. *Rows by index* are read by whole warps. *Reductions*
//!    while loading have their row in one thread.
//! 4. *Conversions* that must stay within a warp do so. *Packed arithmetic* finds its lanes in one thread.
//!
//! An encoding that has no layout for its shape is no fault here: the rules on types report it.
//!
//! ```text
//! %1 = tt.trans %0 {order = array<i32: 1, 0>} : tensor<16x32xf32, #a> -> tensor<32x16xf32, #b>       #b is #a with its axes exchanged
//! ```

mod memory;

use super::{
    ConversionKind, Dim, LinearLayout, are_layouts_equivalent, contig_of, conversion_kind_of, fp4, free_variable_masks,
    from_linear, in_thread_transposed, layout_of, unique_elems_per_thread,
};
use crate::ir::core::encoding::NvmmaShared;
use crate::ir::core::{Encoding, Ir, Op, Type};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::ttng::ttng;
use crate::ir::dialects::verify::packed;
use crate::ir::dialects::{AmdgOp, OpKind, TtOp, TtgOp, TtngOp};

type Rule = Result<(), String>;

/// Finds the first fault of an operation that has to do with layouts.
///
/// # Errors
/// Says what does not fit, without the operation's name.
pub fn verify_op(ir: &Ir, op: Op) -> Rule {
    match ir.kind(op) {
        OpKind::Tt(TtOp::Trans) | OpKind::Ttg(TtgOp::MemDescTrans) => trans(ir, op),
        OpKind::Tt(TtOp::Reshape) if !tt::Reshape(op).allow_reorder(ir) => reshape(ir, op),
        OpKind::Ttg(TtgOp::MemDescReshape) => reshape(ir, op),
        OpKind::Tt(TtOp::Join) => joined(ty(ir, op, 0), ir.ty(ir.result(op)), "result"),
        OpKind::Tt(TtOp::Split) => joined(ir.ty(ir.results(op)[0]), ty(ir, op, 0), "operand"),
        OpKind::Tt(TtOp::Cat) => cat(ty(ir, op, 0), ir.ty(ir.result(op))),
        OpKind::Ttg(TtgOp::Fp4ToFp) => fp4_to_fp(ir, op),
        OpKind::Ttg(TtgOp::ConvertLayout) if ttg::ConvertLayout(op).force_warp_shuffle(ir) => within_a_warp(ir, op),
        OpKind::Ttg(TtgOp::MemDescSubslice) => memory::subslice(ty(ir, op, 0), ir.ty(ir.result(op))),
        OpKind::Ttg(TtgOp::MemDescReinterpret) => memory::reinterpret(ty(ir, op, 0), ir.ty(ir.result(op))),
        OpKind::Ttng(kind) => nvidia(ir, op, kind),
        OpKind::Amdg(AmdgOp::InThreadTranspose) => turned(ir, op),
        _ => Ok(()),
    }
}

fn nvidia(ir: &Ir, op: Op, kind: TtngOp) -> Rule {
    match kind {
        TtngOp::InitBarrier
        | TtngOp::InvalBarrier
        | TtngOp::BarrierExpect
        | TtngOp::WaitBarrier
        | TtngOp::ArriveBarrier => barrier(ty(ir, op, 0)),
        TtngOp::AsyncSharedStore => {
            barrier(ty(ir, op, 2))?;
            wide_stores(ty(ir, op, 0), ty(ir, op, 1))
        }
        TtngOp::AsyncTmaCopyGlobalToLocal => memory::load_target(buffer(ir, op, 4), buffer(ir, op, 3)),
        TtngOp::AsyncTmaGather => {
            memory::load_target(ty(ir, op, 4), ty(ir, op, 3))?;
            rows(ty(ir, op, 1), ty(ir, op, 4))
        }
        TtngOp::AsyncTmaCopyLocalToGlobal | TtngOp::AsyncTmaReduce => memory::store_source(buffer(ir, op, 2)),
        TtngOp::AsyncTmaScatter => {
            memory::store_source(ty(ir, op, 3))?;
            rows(ty(ir, op, 1), ty(ir, op, 3))
        }
        TtngOp::PackedArith => packed_arith(ir, op),
        TtngOp::TmemSubslice => memory::tmem_subslice(ir, op),
        TtngOp::TmemLoad if ttng::TmemLoad(op).redOp(ir).is_some() => whole_rows(ir.ty(ir.results(op)[0])),
        TtngOp::TcGen5Mma => blocks_of_product(ir, op),
        TtngOp::TmemCopy => {
            same_blocks(ty(ir, op, 0), ty(ir, op, 1))?;
            memory::copied_columns(ty(ir, op, 1))
        }
        _ => Ok(()),
    }
}

fn ty(ir: &Ir, op: Op, operand: usize) -> Type {
    ir.ty(ir.operand(op, operand))
}

/// The type of the first value of an operand group.
fn buffer(ir: &Ir, op: Op, group: usize) -> Type {
    ir.ty(ir.operand_group(op, group)[0])
}

fn within_a_warp(ir: &Ir, op: Op) -> Rule {
    match conversion_kind_of(ty(ir, op, 0), ir.ty(ir.result(op))) {
        Ok(ConversionKind::Warps | ConversionKind::Blocks) => {
            Err("it has `force_warp_shuffle`, and elements move between warps, which no shuffle does".to_owned())
        }
        _ => Ok(()),
    }
}

/// Checks that a thread has whole groups of elements, and those of all operands at the same places.
fn packed_arith(ir: &Ir, op: Op) -> Rule {
    let result = ir.ty(ir.result(op));
    let Ok(layout) = layout_of(result) else { return Ok(()) };
    let (lanes, found) = (packed::lanes(result), unique_elems_per_thread(result));
    if found < lanes || found % lanes != 0 {
        return Err(format!("a thread has {found} elements of the result, expected a multiple of {lanes}"));
    }
    for (at, operand) in ir.operands(op).iter().map(|&v| ir.ty(v)).enumerate() {
        let there =
            match (packed::halved_axis(operand, result), layout_of(operand), operand.encoding(), result.encoding()) {
                (Some(axis), Ok(own), ..) => {
                    layout.undoubled_along(axis).is_some_and(|expected| expected.same_map(own))
                }
                (None, Ok(_), Some(a), Some(b)) => are_layouts_equivalent(result.shape(), a, b).unwrap_or(false),
                _ => false,
            };
        if !there {
            return Err(format!(
                "operand #{at} has type {operand}, whose elements are not where those of {result} are"
            ));
        }
    }
    Ok(())
}

// ---- views ----

/// Compares the layout that a view has with the one that it should have.
fn same(result: Type, expected: &LinearLayout) -> Rule {
    let Ok(found) = layout_of(result) else { return Ok(()) };
    if found.same_map(expected) {
        return Ok(());
    }
    Err(format!("the result has type {result}, whose elements are not where the source's are"))
}

fn trans(ir: &Ir, op: Op) -> Rule {
    let order = ir.get(op, tt::Trans::ATTR.order).unwrap_or_default();
    let order: Vec<u32> = order.iter().filter_map(|&d| u32::try_from(d).ok()).collect();
    if is_turned_nvmma(ty(ir, op, 0), ir.ty(ir.result(op))) {
        return Ok(());
    }
    match layout_of(ty(ir, op, 0)) {
        Ok(layout) if layout.out_dims().len() == order.len() => {
            same(ir.ty(ir.result(op)), &layout.permute_axes(&order))
        }
        _ => Ok(()),
    }
}

/// Whether both are `nvmma_shared` and differ only in `transposed`. Triton takes one for the transpose of the other
/// whatever the shape, also where both axes are cut into boxes and the boxes lie in another order. Code generation
/// refuses those.
fn is_turned_nvmma(a: Type, b: Type) -> bool {
    match (a.layout(), b.layout()) {
        (Some(Encoding::NvmmaShared(a)), Some(Encoding::NvmmaShared(b))) => {
            NvmmaShared { transposed: !a.transposed, ..a.clone() } == *b
        }
        _ => false,
    }
}

fn reshape(ir: &Ir, op: Op) -> Rule {
    let result = ir.ty(ir.result(op));
    let Ok(layout) = layout_of(ty(ir, op, 0)) else { return Ok(()) };
    let shape: Option<Vec<u32>> =
        result.shape().iter().map(|&s| u32::try_from(s).ok().filter(|s| s.is_power_of_two())).collect();
    match shape.filter(|s| s.iter().map(|s| s.ilog2()).sum::<u32>() == layout.total_out_bits()) {
        Some(shape) => same(result, &layout.reshape_row_major(&shape)),
        None => Ok(()),
    }
}

/// Checks that `part` is one of two that make `whole` along its last axis, in neighbouring registers.
fn joined(part: Type, whole: Type, which: &str) -> Rule {
    let (Ok(one), Ok(two)) = (layout_of(part), layout_of(whole)) else { return Ok(()) };
    let axis = whole.rank().saturating_sub(1);
    if whole.shape().get(axis) != Some(&2) {
        return Ok(());
    }
    let expected = two
        .halved_along(axis)
        .ok_or_else(|| format!("the {which} has type {whole}, expected both elements of a pair in one thread"))?;
    if one.same_map(&expected.squeeze_out(Dim::axis(axis))) {
        return Ok(());
    }
    Err(format!("the pairs of {whole} are not where the elements of {part} are"))
}

fn fp4_to_fp(ir: &Ir, op: Op) -> Rule {
    let (src, result) = (ty(ir, op, 0), ir.ty(ir.result(op)));
    let (Some(from), Some(to)) = (src.encoding(), result.encoding()) else { return Ok(()) };
    let axis = usize::try_from(ir.get(op, tt::Reduce::ATTR.axis).unwrap_or(0)).unwrap_or(0);
    let expected = fp4::packed(to, axis, result.shape()).ok_or_else(|| {
        format!("the result has type {result}, expected both floats of a byte side by side in a thread's registers")
    })?;
    if are_layouts_equivalent(src.shape(), from, expected).unwrap_or(false) {
        return Ok(());
    }
    Err(format!("the source has type {src}, whose bytes are not where the floats of {result} are"))
}

/// The registers of each thread's tile run along the other axis first, and nothing else changes.
fn turned(ir: &Ir, op: Op) -> Rule {
    let (src, result) = (ty(ir, op, 0), ir.ty(ir.result(op)));
    let Some(Encoding::Blocked(blocked)) = src.layout() else { return Ok(()) };
    let (Ok(expected), Ok(found)) = (in_thread_transposed(src.shape(), blocked), layout_of(result)) else {
        return Ok(());
    };
    if *found == expected {
        return Ok(());
    }
    Err(format!("the result has type {result}, expected the layout `{}`", from_linear(&expected)))
}

/// Checks a concatenation. Registers are put side by side, so the result has twice as many.
fn cat(part: Type, whole: Type) -> Rule {
    if layout_of(part).is_err() || layout_of(whole).is_err() {
        return Ok(());
    }
    let (one, two) = (unique_elems_per_thread(part), unique_elems_per_thread(whole));
    if two == 2 * one {
        Ok(())
    } else {
        Err(format!("a thread holds {two} elements of the result, expected twice the {one} of an operand"))
    }
}

// ---- barriers, TMA, tensor memory ----

/// Checks that the block bits that do not share run through the barriers in order: 1, 2, 4.
fn barrier(ty: Type) -> Rule {
    let Ok(layout) = layout_of(ty) else { return Ok(()) };
    let found: Vec<i32> = layout.bases(Dim::Block).into_iter().filter_map(|b| b.first().copied()).collect();
    let in_order = found.iter().filter(|&&b| b != 0).enumerate().all(|(i, &b)| b == 1 << i);
    if in_order {
        Ok(())
    } else {
        Err(format!("the barrier's block bases are {found:?}, expected 1, 2, 4 and so on, or 0"))
    }
}

/// Checks that stores to other blocks are of 32 bits or more: neighbouring registers at neighbouring offsets.
fn wide_stores(src: Type, dst: Type) -> Rule {
    let (Ok(registers), Ok(memory)) = (layout_of(src), layout_of(dst)) else { return Ok(()) };
    let Some(places) = registers.invert_and_compose(memory) else { return Ok(()) };
    let steps: Vec<u32> =
        (0..places.in_bits(Dim::Register) as usize).map(|i| places.basis(Dim::Register, i, Dim::Offset)).collect();
    let padding = match dst.layout() {
        Some(Encoding::PaddedShared(e)) => e.intervals.iter().map(|i| i.0).min().unwrap_or(1),
        _ => u32::MAX,
    };
    let mut width = 1;
    while width < padding && steps.contains(&width) {
        width *= 2;
    }
    let bits = width * src.bit_width().unwrap_or(32);
    if bits >= 32 {
        Ok(())
    } else {
        Err(format!("a thread stores {bits} neighbouring bits at once, expected at least 32"))
    }
}

/// Checks that all lanes of a warp have the same row numbers, four neighbours in a thread, and that blocks have those
/// of their rows.
fn rows(offsets: Type, buffer: Type) -> Rule {
    let Ok(layout) = layout_of(offsets) else { return Ok(()) };
    let contiguous = contig_of(layout).first().copied().unwrap_or(1);
    if contiguous < 4 {
        return Err(format!("a thread holds {contiguous} neighbouring row numbers, expected at least 4"));
    }
    if free_variable_masks(layout).lane != layout.in_size(Dim::Lane) - 1 {
        return Err("the lanes of a warp hold different row numbers, expected copies".to_owned());
    }
    let share = |l: &LinearLayout| -> Vec<bool> {
        l.bases(Dim::Block).iter().map(|b| b.first().is_some_and(|&c| c != 0)).collect()
    };
    let Ok(memory) = layout_of(buffer) else { return Ok(()) };
    if share(layout) == share(memory) {
        return Ok(());
    }
    Err("the blocks of the cluster have other row numbers than rows".to_owned())
}

/// Checks that a row which is reduced while it is read is all in one thread's registers.
fn whole_rows(ty: Type) -> Rule {
    let Ok(layout) = layout_of(ty) else { return Ok(()) };
    let bases = layout.bases(Dim::Register);
    let along = |axis: usize| 1i64 << bases.iter().filter(|b| b.get(axis).is_some_and(|&c| c != 0)).count();
    if along(1) == ty.shape()[1] && along(0) == 1 {
        return Ok(());
    }
    Err(format!(
        "it reduces rows of {} elements, of which a thread holds {} in {} rows",
        ty.shape()[1],
        along(1),
        along(0)
    ))
}

/// Checks that a block of the cluster has the rows of `a` and the columns of `b` that make its part of `d`.
fn blocks_of_product(ir: &Ir, op: Op) -> Rule {
    let (Ok(a), Ok(b), Ok(d)) = (layout_of(ty(ir, op, 0)), layout_of(ty(ir, op, 1)), layout_of(ty(ir, op, 2))) else {
        return Ok(());
    };
    let pairs = ir.stores(op, ttng::TcGen5Mma::ATTR.two_ctas);
    for bit in 0..d.in_bits(Dim::Block) as usize {
        if bit >= a.in_bits(Dim::Block) as usize || bit >= b.in_bits(Dim::Block) as usize {
            break;
        }
        // Two blocks that work together have halves of `b` and all columns of `d`.
        let columns = if pairs && bit == 0 { 0 } else { b.basis(Dim::Block, bit, Dim::axis(1)) };
        let expected = (a.basis(Dim::Block, bit, Dim::axis(0)), columns);
        let found = (d.basis(Dim::Block, bit, Dim::axis(0)), d.basis(Dim::Block, bit, Dim::axis(1)));
        if found != expected {
            return Err(format!(
                "block bit {bit} moves {found:?} in operand `d`, expected {expected:?} as in `a` and `b`"
            ));
        }
    }
    Ok(())
}

fn same_blocks(src: Type, dst: Type) -> Rule {
    let (Ok(a), Ok(b)) = (layout_of(src), layout_of(dst)) else { return Ok(()) };
    if a.bases(Dim::Block) == b.bases(Dim::Block) {
        return Ok(());
    }
    Err("source and destination are shared among the blocks of the cluster in different ways".to_owned())
}
