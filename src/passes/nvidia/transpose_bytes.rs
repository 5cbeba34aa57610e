//! `ttc-transpose-bytes`: bytes that a product wants the other way around are transposed in registers.
//!
//! `wgmma` reads operands of 8 bits from shared memory with K contiguous. A row-major B has N contiguous, and no copy
//! moves single bytes, so its bytes pass through registers. In the layout in which they are loaded, 16 of a row to a
//! thread, each is stored by itself, and eight threads of a warp store to one bank.
//!
//! # Algorithm
//!
//! For each `ttg.local_alloc` that stores what a `tt.load` of 8-bit elements gives, in whose buffer the other dimension
//! is contiguous:
//!
//! 1. A thread gets [`ROWS`] rows, whose bytes are a word of the buffer, and keeps the width of its loads.
//! 2. A warp has as many threads along a row as read 32 bytes, the least that is read, and the others along the rows,
//!    as far as there are rows: so they store to as many banks as can be. Other warps follow along the row.
//! 3. The operands of the load are converted to this layout.
//!
//! Where the tile is too small for that it stays as it is.

use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::ir::core::encoding::Blocked;
use crate::ir::core::{Attr, Encoding, Ir, Op};
use crate::ir::dialects::TtgOp;
use crate::ir::dialects::tt::tt::Load;
use crate::ir::dialects::ttg::ttg::LocalAlloc;
use crate::ir::encoding::questions::cga_of;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::coalesce_async_copy::convert_operands;
use crate::passes::ttg::module_attrs;

pub static PASS: Pass = Pass {
    name: "ttc-transpose-bytes",
    doc: "load bytes so that a thread stores words of them where a product wants them transposed",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// The bytes of a word.
const ROWS: u32 = 4;

/// The bytes that are read at least.
const SECTOR: u32 = 32;

/// The most bytes of a load.
const WIDEST: u32 = 16;

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let threads = module_attrs::require_threads(ir, cx)?;
    if threads.num_ctas != 1 {
        return Ok(Changed::No);
    }
    let allocs = ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, TtgOp::LocalAlloc));
    let allocs: Vec<Op> = allocs.collect();
    if allocs.is_empty() {
        return Ok(Changed::No);
    }
    let axis = AxisInfoAnalysis::of_module(ir);
    let plan: Vec<(Op, Attr)> = allocs.into_iter().filter_map(|op| decide(ir, &axis, LocalAlloc(op))).collect();
    for &(load, encoding) in &plan {
        retarget(ir, load, encoding);
    }
    Ok(Changed::from(!plan.is_empty()))
}

/// The load behind a buffer, and its layout.
fn decide(ir: &Ir, axis: &AxisInfoAnalysis, alloc: LocalAlloc) -> Option<(Op, Attr)> {
    let value = alloc.src(ir)?;
    let load = Load::defining(ir, value).filter(|load| ir.uses(value).len() == 1 && !load.isVolatile(ir))?;
    let (ty, desc) = (ir.ty(value), ir.ty(alloc.result(ir)).as_memdesc()?);
    let Encoding::Blocked(blocked) = ty.layout()? else { return None };
    let Encoding::NvmmaShared(buffer) = desc.encoding.as_encoding()? else { return None };
    let &[fast, slow] = &blocked.order[..] else { return None };
    let crosses = buffer.transposed == (fast == 1);
    if !crosses || ty.elem().bit_width() != Some(8) {
        return None;
    }
    let (warps, lanes) =
        (blocked.warps_per_cta.iter().product::<u32>(), blocked.threads_per_warp.iter().product::<u32>());
    let size = |axis: u32| u32::try_from(ty.shape()[axis as usize]).ok();
    let (columns, rows) = (size(fast)?, size(slow)?);
    let width = axis.ptr_alignment(ir, load.ptr(ir)).min(WIDEST);
    // No two threads load the same.
    if width < ROWS || rows < ROWS || columns * rows < warps * lanes * ROWS * width {
        return None;
    }
    let down = (lanes * width / SECTOR).min(lanes).min(rows / ROWS);
    let along = lanes / down;
    if columns < width * along {
        return None;
    }
    let across = warps.min(columns / (width * along));
    let shape = |of_fast: u32, of_slow: u32| if fast == 1 { vec![of_slow, of_fast] } else { vec![of_fast, of_slow] };
    let encoding = Encoding::Blocked(Blocked {
        size_per_thread: shape(width, ROWS),
        threads_per_warp: shape(along, down),
        warps_per_cta: shape(across, warps / across),
        order: blocked.order.clone(),
        cga: cga_of(ty),
    });
    Some((load.0, Attr::encoding(encoding)))
}

fn retarget(ir: &mut Ir, load: Op, encoding: Attr) {
    convert_operands(ir, load, encoding);
    let result = ir.result(load);
    let ty = ir.ty(result).with_encoding(Some(encoding));
    ir.set_type(result, ty);
}
