//! `triton-nvidia-gpu-assign-cga-layouts`: products and reductions get the layouts in which the blocks of a cluster
//! work on them without each other.
//!
//! # Algorithm
//!
//! For each operation, inner ones first:
//!
//! 1. *Products*: batches are dealt out to the blocks first. Then each block gets up to 128 rows of the result, and
//!    blocks that are left share its columns. Where a block would get less than 64 columns, it gets 64 rows instead.
//! 2. *Reductions*: blocks are dealt out to the axes that are not reduced, the slowest first, at most one for each
//!    piece that a thread has of an axis. Blocks that are left over hold copies along the slowest axis. Only a vector
//!    is reduced by all blocks together.
//! 3. An operand is computed in its new layout from the loads on, where nothing else needs the old one ([`recompute`]);
//!    else it is converted. Results are converted back.
//!
//! What is left of the conversions `tritongpu-remove-layout-conversions` sees to, and
//! `triton-nvidia-gpu-optimize-cta-locality` the stores.
//!
//! ```text
//! tt.dot … -> 128x256, 2 blocks     each has 128x128: `CGALayout = [[0, 1]]`
//! tt.dot … -> 256x64, 2 blocks      each has 128x64:  `CGALayout = [[1, 0]]`
//! tt.dot … -> 128x128, 4 blocks     each has 64x64:   `CGALayout = [[0, 1], [1, 0]]`
//! tt.reduce 128x512, axis 1         each has whole rows: `CGALayout = [[1, 0]]`
//! ```

mod recompute;

use crate::ir::core::encoding::Blocked;
use crate::ir::core::{Attr, Bases, Builder, Encoding, Ir, Op, Type, Use};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{TtOp, TtgOp};
use crate::ir::encoding::questions::{is_generic, matrix_order};
use crate::layout::{self, blocked_in_cga};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::infer;
use crate::passes::ttg::module_attrs::{self, Threads};

pub static PASS: Pass = Pass {
    name: "triton-nvidia-gpu-assign-cga-layouts",
    doc: "choose how the blocks of a cluster share products and reductions",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let Some(threads) = module_attrs::threads(ir).filter(|t| t.num_ctas > 1) else { return Ok(Changed::No) };
    let candidates = |&op: &Op| ir.is(op, TtOp::Dot) || ir.is(op, TtOp::Reduce);
    let ops: Vec<Op> = ir.all_ops_post(ir.module()).into_iter().filter(candidates).collect();
    let mut changed = false;
    for op in ops {
        if let Some(layouts) = of_product(ir, op, threads).or_else(|| of_reduction(ir, op, threads)) {
            assign(ir, op, &layouts);
            changed = true;
        }
    }
    Ok(Changed::from(changed))
}

/// The layouts that an operation is to have: those of its tensor operands, in order, and that of its results.
struct Layouts {
    operands: Vec<Attr>,
    result: Option<Attr>,
}

// ---- products ----

/// Step 1; `None` for anything but a product of the general kind.
fn of_product(ir: &Ir, op: Op, threads: Threads) -> Option<Layouts> {
    let dot = tt::Dot::of(ir, op)?;
    let ty = ir.ty(ir.result(op));
    let Encoding::Blocked(blocked) = ty.layout()? else { return None };
    let cga = bases(&product_split(ty.shape(), 1 << blocked.cga.len()), &matrix_order(ty.rank(), true));
    let result = dealt_out(ir, op, ty, blocked, &cga, threads);
    let factor = |value| match ir.ty(value).layout()? {
        Encoding::DotOp { op_idx, k_width, .. } => {
            Some(Attr::encoding(Encoding::DotOp { op_idx: *op_idx, parent: result, k_width: *k_width }))
        }
        _ => None,
    };
    Some(Layouts { operands: vec![factor(dot.a(ir))?, factor(dot.b(ir))?, result], result: Some(result) })
}

/// Into how many parts each axis of a product of this shape is cut for so many blocks.
fn product_split(shape: &[i64], blocks: i64) -> Vec<i64> {
    const MOST_ROWS: i64 = 128;
    const LEAST: i64 = 64;
    let Some((batches, &[rows, columns])) = shape.split_last_chunk::<2>() else { return vec![1; shape.len()] };
    let (mut split, mut left) = (vec![1; shape.len()], blocks);
    for axis in (0..batches.len()).rev() {
        split[axis] = batches[axis].min(left);
        left /= split[axis];
    }
    let cut = |rows_each: i64| {
        let by_rows = (rows / rows_each).clamp(1, left);
        [by_rows, left / by_rows]
    };
    let many = cut(MOST_ROWS);
    let chosen = if columns / many[1] >= LEAST { many } else { cut(LEAST) };
    split[batches.len()..].copy_from_slice(&chosen);
    split
}

/// The bases of blocks that are counted along the axes in this order, `split` of them along each.
fn bases(split: &[i64], order: &[u32]) -> Bases {
    let along = |&axis: &u32| {
        let axis = axis as usize;
        (0..split[axis].ilog2()).map(move |bit| {
            let mut basis = vec![0; split.len()];
            basis[axis] = 1 << bit;
            basis
        })
    };
    order.iter().flat_map(along).collect()
}

// ---- reductions ----

/// Step 2; `None` for anything but a reduction of a tensor whose blocks have parts of their own.
fn of_reduction(ir: &Ir, op: Op, threads: Threads) -> Option<Layouts> {
    let reduce = tt::Reduce::of(ir, op)?;
    let ty = ir.ty(*reduce.srcs(ir).first()?);
    let axis = usize::try_from(reduce.axis(ir)?).ok()?;
    let cga = reduction_cga(ty, axis, &cga(ty)?)?;
    let source = in_cga(ir, op, ty, &cga, threads)?;
    let result = (ty.rank() > 1).then(|| infer::slice(axis as u32, source));
    Some(Layouts { operands: vec![source; reduce.srcs(ir).len()], result })
}

fn reduction_cga(ty: Type, reduced: usize, present: &Bases) -> Option<Bases> {
    let order = layout::order(ty.encoding()?, ty.shape());
    let pieces = layout::contig_per_thread(ty);
    let (mut split, mut left) = (vec![1; ty.rank()], 1i64 << present.len());
    let slowest_first: Vec<usize> = order.iter().rev().map(|&axis| axis as usize).collect();
    for &axis in slowest_first.iter().filter(|&&axis| axis != reduced) {
        split[axis] = (ty.shape()[axis] / i64::from(pieces[axis])).min(left).max(1);
        left /= split[axis];
    }
    let leftover = slowest_first.iter().find(|&&axis| axis != reduced).or_else(|| slowest_first.first())?;
    split[*leftover] *= left;
    Some(bases(&split, &layout::axes_of_blocks(present, ty.rank())))
}

// ---- layouts ----

/// The bases of the blocks of a cluster; `None` where they do not have parts of their own.
fn cga(ty: Type) -> Option<Bases> {
    if is_generic(ty.encoding()?) { None } else { layout::cga_of_layout(layout::layout_of(ty).ok()?) }
}

/// A layout for a tensor that its blocks share so, as near as possible to the present one.
fn in_cga(ir: &Ir, op: Op, ty: Type, cga: &Bases, threads: Threads) -> Option<Attr> {
    match ty.layout()? {
        Encoding::Blocked(blocked) => Some(dealt_out(ir, op, ty, blocked, cga, threads)),
        _ => layout::with_cga(ty.shape(), ty.encoding()?, cga),
    }
}

/// A blocked layout for blocks with these bases. Threads are dealt out anew: of 32x128, a block with half of the
/// columns has 2 rows of 16 threads for a warp.
fn dealt_out(ir: &Ir, op: Op, ty: Type, e: &Blocked, cga: &Bases, threads: Threads) -> Attr {
    let (warps, lanes) = (module_attrs::num_warps_at(ir, op).unwrap_or(threads.num_warps), threads.threads_per_warp);
    Attr::encoding(blocked_in_cga(ty.shape(), &e.size_per_thread, &e.order, warps, lanes, cga))
}

// ---- applying them ----

/// Step 3.
fn assign(ir: &mut Ir, op: Op, layouts: &Layouts) {
    for (index, &encoding) in layouts.operands.iter().enumerate() {
        let value = ir.operand(op, index);
        let ty = ir.ty(value).with_encoding(Some(encoding));
        if !recompute::run(ir, Use { op, index: index as u32 }, encoding) && ir.ty(value) != ty {
            let converted = Builder::before(ir, op).value(TtgOp::ConvertLayout, &[value], ty);
            ir.set_operand(op, index, converted);
        }
    }
    let Some(encoding) = layouts.result else { return };
    let mut after = op;
    for result in ir.results(op).to_vec() {
        let old = ir.ty(result);
        let new = old.with_encoding(Some(encoding));
        if new == old {
            continue;
        }
        ir.set_type(result, new);
        let mut builder = Builder::after(ir, after);
        builder.loc = builder.ir.loc(op);
        let converted = builder.value(TtgOp::ConvertLayout, &[result], old);
        after = ir.def_op(converted).unwrap_or(after);
        ir.replace_uses_if(result, converted, |_, at| at.op != after);
    }
}
