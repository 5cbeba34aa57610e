//! `tritongpu-coalesce-async-copy`: asynchronous copies in a layout in which neighbouring threads copy neighbouring
//! bytes.
//!
//! # Algorithm
//!
//! Of each `ttg.async_copy_global_to_local`:
//!
//! 1. *Clip*, of copies into swizzled buffers. A thread that owns more neighbouring elements than stay neighbours in
//!    the buffer would copy them in pieces, so that a warp's piece has gaps: 16 bytes of `i8` a thread in a buffer
//!    swizzled by 8. The thread gets as many elements as one piece has, and the warp its neighbours instead.
//!    With `transposed`, so do buffers that an asynchronous product reads transposed (of 32 bits, whose products want K
//!    contiguous), and [`RUN`] threads of a warp have neighbours. Triton leaves them alone.
//! 2. *Small copies.* Loads of fewer elements than there are threads took the layout of their users; a copy does not
//!    have to. It gets the coalesced layout. Elements below 32 bits are left alone, because a copy moves no less.
//!
//! Source, mask and other values are converted to the new layout.

use crate::analysis::axis_info::{AxisInfoAnalysis, held_side_by_side};
use crate::ir::core::{Attr, Builder, Encoding, InsertPoint, Ir, Op};
use crate::ir::dialects::TtgOp;
use crate::ir::dialects::ttg::ttg::AsyncCopyGlobalToLocal;
use crate::ir::encoding::questions::cga_of;
use crate::layout;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::ttg::coalesce::{Connections, Widths, coalesced};
use crate::passes::ttg::module_attrs::{self, Threads};

pub static PASS: Pass = Pass {
    name: "tritongpu-coalesce-async-copy",
    doc: "choose layouts for asynchronous copies",
    input: Input::Ttgir,
    options: &[OptionSpec {
        name: TRANSPOSED,
        kind: OptionKind::Bool,
        default: "false",
        doc: "clip what is copied to buffers that an asynchronous product reads transposed as well",
    }],
    run,
};

pub const TRANSPOSED: &str = "transposed";

/// How many threads of a warp copy neighbours to a transposed buffer: 64 bytes of two rows. More of them write to one
/// bank of the buffer, and each thread has more rows, whose addresses take registers; fewer read shorter pieces. On an
/// H200, 15 products ran at 1.75 of their speed with 16, at 1.67 with 8, and at 1.58 with 32.
const RUN: i64 = 16;

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let threads = module_attrs::require_threads(ir, cx)?;
    let copies: Vec<Op> =
        ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, TtgOp::AsyncCopyGlobalToLocal)).collect();
    if copies.is_empty() {
        return Ok(Changed::No);
    }
    let (axis, transposed) = (AxisInfoAnalysis::of_module(ir), cx.flag(TRANSPOSED));
    let decide = |&op: &Op| Some((op, decide(ir, &axis, op, threads, transposed)?));
    let plan: Vec<(Op, Attr)> = copies.iter().filter_map(decide).collect();
    for &(op, encoding) in &plan {
        retarget(ir, &axis, op, encoding);
    }
    Ok(Changed::from(!plan.is_empty()))
}

fn decide(ir: &Ir, axis: &AxisInfoAnalysis, op: Op, threads: Threads, transposed: bool) -> Option<Attr> {
    let num_warps = module_attrs::num_warps_at(ir, op).unwrap_or(threads.num_warps);
    let threads = Threads { num_warps, ..threads };
    clipped(ir, op, threads, transposed).or_else(|| small(ir, axis, op, threads))
}

/// Step 1.
fn clipped(ir: &Ir, op: Op, threads: Threads, transposed: bool) -> Option<Attr> {
    let copy = AsyncCopyGlobalToLocal(op);
    let (source, buffer) = (ir.ty(copy.src(ir)), ir.ty(copy.result(ir)));
    let Encoding::Blocked(blocked) = source.layout()? else { return None };
    let desc = buffer.as_memdesc()?;
    let fastest = *blocked.order.first()? as usize;
    // Whether neighbours in memory are none in the buffer of a product.
    let crosses = match desc.encoding.as_encoding()? {
        Encoding::SwizzledShared(_) => false,
        _ if transposed && layout::order(desc.encoding, &desc.shape).first() != blocked.order.first() => true,
        _ => return None,
    };
    let registers = layout::layout_of(source).ok()?;
    let memory = layout::try_to_linear_layout(&desc.shape, desc.encoding).ok()?;
    let piece = registers.invert_and_compose(memory)?.num_consecutive_in_out();
    let mut size = layout::contig_per_thread(source);
    let has_many = crosses && i64::from(*blocked.threads_per_warp.get(fastest)?) > RUN;
    if *size.get(fastest)? <= piece && !has_many {
        return None;
    }
    size[fastest] = size[fastest].min(piece);
    let mut shape = source.shape().to_vec();
    if crosses {
        shape[fastest] = shape[fastest].min(RUN);
    }
    let cga = cga_of(source);
    let (warps, lanes) = (threads.num_warps, threads.threads_per_warp);
    Some(Attr::encoding(layout::blocked_in_cga(&shape, &size, &blocked.order, warps, lanes, &cga)))
}

/// Step 2.
fn small(ir: &Ir, axis: &AxisInfoAnalysis, op: Op, threads: Threads) -> Option<Attr> {
    let copy = AsyncCopyGlobalToLocal(op);
    let source = copy.src(ir);
    let ty = ir.ty(source);
    let bits = ir.ty(copy.result(ir)).as_memdesc()?.elem.bit_width()?;
    if ty.num_elements() >= i64::from(threads.num_warps * threads.threads_per_warp) || bits < 32 {
        return None;
    }
    let widths = Widths { ir, analysis: axis, data_masks: false, computed: None };
    let encoding = coalesced(&widths, &Connections::new(ir), op, source, threads);
    (ty.encoding() != Some(encoding)).then_some(encoding)
}

/// Converts the tensors that an operation takes to an encoding.
pub(crate) fn convert_operands(ir: &mut Ir, op: Op, encoding: Attr) {
    for index in 0..ir.operands(op).len() {
        let value = ir.operand(op, index);
        if !ir.ty(value).is_tensor() {
            continue;
        }
        let (loc, ty) = (ir.value_loc(value), ir.ty(value).with_encoding(Some(encoding)));
        let converted = Builder::new(ir, InsertPoint::Before(op), loc).value(TtgOp::ConvertLayout, &[value], ty);
        ir.set_operand(op, index, converted);
    }
}

fn retarget(ir: &mut Ir, axis: &AxisInfoAnalysis, op: Op, encoding: Attr) {
    let copy = AsyncCopyGlobalToLocal(op);
    let run = axis.ptr_alignment(ir, copy.src(ir));
    let masked = copy.mask(ir).map_or(run, |mask| run.min(axis.mask_alignment(ir, mask)));
    convert_operands(ir, op, encoding);
    let own = held_side_by_side(ir.ty(copy.src(ir)));
    ir.put(op, AsyncCopyGlobalToLocal::ATTR.contiguity, i64::from(own.min(masked).max(1)));
}
