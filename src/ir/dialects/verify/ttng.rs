//! Rules of the `ttng` dialect: mbarriers, clusters, `wgmma`. TMA is in `ttng_tma`, tensor memory in `ttng_mma`.

use super::ttg::mutable;
use super::{Type, context_ctas, context_warps, encloses, ensure, memdesc, operand_ty, result_ty, same_contents};
use crate::ir::core::{Bases, Encoding, FloatKind, Ir, Op, Value};
use crate::ir::dialects::discardable::{EACH_WARP, NOINLINE};
use crate::ir::dialects::spec::VerifyResult;
use crate::ir::dialects::ttng::ttng as view;
use crate::ir::dialects::{TtOp, TtgOp};
use crate::ir::encoding::questions::{cga_of, is_matrix_operand, share};

// ---- mbarriers ----

/// An mbarrier is 64 bits in shared memory, and blocks may have one each.
pub(super) fn is_barrier(ir: &Ir, op: Op, barrier: Type) -> VerifyResult {
    let ctas = context_ctas(ir, op);
    let fits = barrier.elem().is_int_of(64) && barrier.rank() == 1 && barrier.shape()[0] <= ctas;
    ensure!(fits, "the barrier has type {barrier}, expected up to {ctas} × i64, one for each block of the cluster");
    Ok(())
}

/// The bases by which each block has an element of its own.
pub(super) fn one_each(ctas: i64) -> Bases {
    (0..ctas.max(1).ilog2()).map(|bit| vec![1 << bit]).collect()
}

/// The barrier that an operation completes is one for each block.
pub(super) fn completes(ir: &Ir, op: Op, barrier: Type) -> VerifyResult {
    is_barrier(ir, op, barrier)?;
    let (expected, found) = (one_each(context_ctas(ir, op)), cga_of(barrier));
    ensure!(found == expected, "the barrier it completes has CGALayout {found:?}, expected {expected:?}");
    Ok(())
}

/// Operations whose first operand is an mbarrier.
pub fn on_barrier(ir: &Ir, op: Op) -> VerifyResult {
    is_barrier(ir, op, operand_ty(ir, op, 0))
}

fn positive_count(ir: &Ir, op: Op) -> VerifyResult {
    let count = ir.get(op, view::InitBarrier::ATTR.count).unwrap_or(0);
    ensure!(count >= 1, "it counts {count} arrivals, expected at least 1");
    Ok(())
}

/// A barrier that blocks share is made before warps go separate ways, since all warps of the cluster wait for it.
pub fn init_barrier(ir: &Ir, op: Op) -> VerifyResult {
    on_barrier(ir, op)?;
    positive_count(ir, op)?;
    let shared = operand_ty(ir, op, 0).shape()[0] != context_ctas(ir, op);
    ensure!(
        !shared || !encloses(ir, op, TtgOp::WarpSpecialize),
        "it makes a barrier that blocks share inside `ttg.warp_specialize`"
    );
    Ok(())
}

/// A barrier, perhaps with a way from other blocks.
pub fn barrier_expect(ir: &Ir, op: Op) -> VerifyResult {
    on_barrier(ir, op)?;
    routed(ir, op)
}

/// A barrier and at least one arrival, perhaps from other blocks or at the barriers of several.
pub fn arrive_barrier(ir: &Ir, op: Op) -> VerifyResult {
    on_barrier(ir, op)?;
    positive_count(ir, op)?;
    let (ctas, bits) = (context_ctas(ir, op), view::ArriveBarrier(op).multicastCTA(ir).unwrap_or(0));
    if bits != 0 {
        ensure!(ctas > 1, "it arrives at barriers of several blocks, and the cluster has {ctas} block");
        ensure!(
            (0..ctas).contains(&bits),
            "`multicastCTA` is {bits}, expected bits of a block's number, 0 to {}",
            ctas - 1
        );
        let (expected, found) = (one_each(ctas), cga_of(operand_ty(ir, op, 0)));
        ensure!(found == expected, "the barrier it arrives at has CGALayout {found:?}, expected {expected:?}");
    }
    let from = ir.get(op, view::BarrierExpect::ATTR.fromCTA);
    ensure!(!ir.stores(op, EACH_WARP) || from.is_none(), "each warp arrives for itself, expected no `fromCTA`");
    routed(ir, op)?;
    // To keep all bits is what an absent `fromCTA` stands for.
    ensure!(
        bits == 0 || from.is_none_or(|f| f == ctas - 1),
        "it has both `fromCTA` and `multicastCTA`, expected one of them"
    );
    Ok(())
}

/// The bits that `fromCTA` keeps are those of a block's number, and each block has a barrier of its own.
fn routed(ir: &Ir, op: Op) -> VerifyResult {
    let Some(from) = ir.get(op, view::BarrierExpect::ATTR.fromCTA) else { return Ok(()) };
    let (ctas, barrier) = (context_ctas(ir, op), operand_ty(ir, op, 0));
    ensure!((0..ctas).contains(&from), "`fromCTA` is {from}, expected bits of a block's number, 0 to {}", ctas - 1);
    let own = barrier.shape() == [ctas] && cga_of(barrier) == one_each(ctas);
    ensure!(
        own,
        "the barrier has type {barrier}, expected {ctas} × i64 with CGALayout {:?}, one for each block",
        one_each(ctas)
    );
    Ok(())
}

/// To other blocks of the cluster, with a barrier.
pub fn async_shared_store(ir: &Ir, op: Op) -> VerifyResult {
    let (src, dst) = (operand_ty(ir, op, 0), operand_ty(ir, op, 1));
    let ctas = context_ctas(ir, op);
    ensure!(ctas >= 2, "the cluster has {ctas} block, expected at least 2");
    mutable(dst)?;
    same_contents(("source", src), ("buffer", dst))?;
    is_barrier(ir, op, operand_ty(ir, op, 2))
}

// ---- clusters ----

/// Several blocks.
pub fn needs_cluster(ir: &Ir, op: Op) -> VerifyResult {
    let ctas = context_ctas(ir, op);
    ensure!(ctas > 1, "the cluster has {ctas} block, expected `ttg.num-ctas` above 1");
    Ok(())
}

/// In a kernel, or in a function that will be inlined into one.
pub fn cluster_barrier(ir: &Ir, op: Op) -> VerifyResult {
    needs_cluster(ir, op)?;
    let func = std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o)).find(|&o| ir.is(o, TtOp::Func));
    let func = func.ok_or("it is in no function, expected a kernel")?;
    let kernel = !ir.is_private(func);
    let kept_apart = ir.get(func, NOINLINE) == Some(true);
    ensure!(kernel || !kept_apart, "it is in a function that is not inlined, expected a kernel");
    Ok(())
}

/// 16 bytes that no block shares, and a barrier.
pub fn clc_try_cancel(ir: &Ir, op: Op) -> VerifyResult {
    answer(operand_ty(ir, op, 0))?;
    completes(ir, op, operand_ty(ir, op, 1))
}

/// 16 bytes that no block shares, as an i128.
pub fn clc_load_result(ir: &Ir, op: Op) -> VerifyResult {
    answer(operand_ty(ir, op, 0))
}

/// Two i64 in registers.
pub fn clc_try_cancel_sync(ir: &Ir, op: Op) -> VerifyResult {
    let ty = result_ty(ir, op);
    ensure!(ty.elem().is_int_of(64) && ty.shape() == [2], "the answer has type {ty}, expected 2 × i64");
    Ok(())
}

fn answer(ty: Type) -> VerifyResult {
    ensure!(ty.elem().is_int_of(64) && ty.shape() == [2], "the answer has type {ty}, expected 2 × i64");
    let cga = cga_of(ty);
    ensure!(
        cga.iter().flatten().all(|&c| c == 0),
        "the answer has CGALayout {cga:?}, expected all zeros: each block gets it"
    );
    Ok(())
}

// ---- wgmma ----

/// Accumulator in registers, b in shared memory, a in either, of shapes and types that the instruction has.
pub fn warp_group_dot(ir: &Ir, op: Op) -> VerifyResult {
    let (a, b, d) = (operand_ty(ir, op, 0), operand_ty(ir, op, 1), result_ty(ir, op));
    let hopper = matches!(d.layout(), Some(Encoding::NvidiaMma(m)) if m.version_major == 3);
    ensure!(hopper, "the result has type {d}, expected the layout nvidia_mma of version 3");
    let shared = |ty: Type| matches!(ty.layout(), Some(Encoding::NvmmaShared(_) | Encoding::SharedLinear { .. }));
    let in_registers = matches!(a.layout(), Some(e @ Encoding::DotOp { op_idx: 0, .. }) if is_matrix_operand(e));
    ensure!(
        shared(a) || in_registers,
        "operand `a` has type {a}, expected an nvmma_shared layout or one of an operand of nvidia_mma"
    );
    ensure!(shared(b), "operand `b` has type {b}, expected an nvmma_shared layout");
    let warps = context_warps(ir, op).unwrap_or(4);
    ensure!(warps % 4 == 0, "it runs on {warps} warps, expected a multiple of 4");
    ensure!(
        a.rank() == 2 && b.rank() == 2 && d.rank() == 2,
        "it multiplies {a} and {b} to {d}, expected two dimensions each"
    );
    let (m, n, k) = (d.shape()[0], d.shape()[1], a.shape()[1]);
    ensure!(
        a.shape()[0] == m && b.shape() == [k, n],
        "the operands are {:?} and {:?}, and the result {:?}",
        a.shape(),
        b.shape(),
        d.shape()
    );
    let share = share(d.shape(), &cga_of(d));
    let (m, n) = (share[0], share[1]);
    ensure!(m % 64 == 0, "a block has {m} rows of the result, expected a multiple of 64");
    ensure!(n % 8 == 0, "a block has {n} columns of the result, expected a multiple of 8");
    for (name, ty) in [("a", a), ("b", b)] {
        ensure!(
            multiplies(ty.elem()),
            "operand `{name}` has elements of type {}, which no tensor core takes",
            ty.elem()
        );
    }
    let fp8 = matches!(a.elem().as_float(), Some(FloatKind::F8E5M2 | FloatKind::F8E4M3FN));
    let imprecise = view::WarpGroupDot(op).maxNumImpreciseAcc(ir).unwrap_or(0);
    let f32_sum = d.elem().as_float() == Some(FloatKind::F32);
    ensure!(
        !fp8 || !f32_sum || imprecise >= 32,
        "it accumulates 8-bit floats in f32 with maxNumImpreciseAcc {imprecise}, expected at least 32"
    );
    if let Some(Encoding::DotOp { k_width, .. }) = a.layout() {
        let expected = 32 / a.bit_width().unwrap_or(32).max(1);
        ensure!(
            *k_width == expected,
            "operand `a` has kWidth {k_width}, expected {expected} for elements of type {}",
            a.elem()
        );
    }
    Ok(())
}

/// What `mma` of version 2 and later multiplies.
pub(super) fn multiplies(elem: Type) -> bool {
    elem.is_int_of(8) || elem.as_float().is_some_and(|k| k.bits() >= 8)
}

/// Something to wait for.
pub fn warp_group_dot_wait(ir: &Ir, op: Op) -> VerifyResult {
    ensure!(!ir.operands(op).is_empty(), "it waits for nothing, expected at least one value");
    super::same_types(ir, "results", ir.results(op), ir.operands(op))
}

// ---- descriptors in memory ----

/// An extent, a box size and an element stride for each dimension, and a byte stride for each but the first.
pub fn tensormap_create(ir: &Ir, op: Op) -> VerifyResult {
    let len = |group| ir.operand_group(op, group).len();
    let rank = len(2);
    for (name, group, expected) in
        [("extents", 3, rank), ("strides", 4, rank.saturating_sub(1)), ("element strides", 5, rank)]
    {
        ensure!(len(group) == expected, "it has {} {name}, expected {expected} for a box of rank {rank}", len(group));
    }
    for (name, most) in [("elem_type", 15), ("interleave_layout", 2), ("swizzle_mode", 3), ("fill_mode", 1)] {
        let value = ir.int_attr(op, name).unwrap_or(0);
        ensure!((0..=most).contains(&value), "{name} is {value}, expected 0 to {most}");
    }
    Ok(())
}

/// The types of some operands that are memory descriptors.
pub(super) fn types(ir: &Ir, values: &[Value]) -> Vec<Type> {
    values.iter().map(|&v| ir.ty(v)).filter(|&t| memdesc(t).is_some()).collect()
}
