//! Copies by the tensor memory accelerator (PTX ISA, "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor").
//!
//! 1. A block is cut into messages ([`tma_messages`]): boxes of at most 256 elements along each axis, as wide as the
//!    swizzle. Message `m` is sent by one thread of warp `m`; where there are more messages than warps, a warp sends
//!    several. With `ttc.first_warp` the first warp sends all.
//! 2. A copy to shared memory arrives at an mbarrier, which was told how many bytes will come. One to global memory
//!    belongs to a group of its own, for which `ttng.async_tma_store_wait` waits: with `read_only` until the source may
//!    be overwritten.
//! 3. Coordinates are those of the box, the fastest axis first, as the hardware counts them. A block may lack the first
//!    axes.
//!
//! 4. In a cluster each block moves its own share: its number moves the coordinates. Of blocks that hold the same, each
//!    loads it, and the first stores it. With `multicast` the first also loads it for all of them: the bytes go to the
//!    same place in the memory of each, and arrive at the mbarrier at the same place there.
//!
//! The destination is written as `.shared::cluster`, which PTX has had from the start and which holds the block's own
//! memory: `.shared::cta` means the same here, but older drivers do not know it.

use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::{dialect, mbarrier};
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::dialects::discardable::FIRST_WARP;
use crate::ir::dialects::enums::{CacheModifier, EvictionPolicy};
use crate::ir::dialects::ttng::ttng as view;
use crate::ir::{Op, TypeData, Value};
use crate::layout::encodings::{TmaMessages, tma_messages};

/// `ttng.async_tma_copy_global_to_local`
pub(crate) fn copy_in(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    dialect::needs_tma(cx, op)?;
    let copy = view::AsyncTmaCopyGlobalToLocal(op);
    if copy.cache(cx.ir) != Some(CacheModifier::None) || copy.evict(cx.ir) != Some(EvictionPolicy::EvictNormal) {
        return Err(cx.unsupported(op, "copies by TMA take no cache modifiers and no eviction policies yet"));
    }
    if copy.isVolatile(cx.ir) {
        return Err(cx.unsupported(op, "it is volatile, which is not supported yet"));
    }
    if !copy.offsets(cx.ir).is_empty() {
        return Err(cx.unsupported(op, "blocks in im2col mode are not supported"));
    }
    let (coord, pred) = (copy.coord(cx.ir).to_vec(), cx.int(copy.pred(cx.ir))?);
    let (desc, buffer) = (cx.scalar(copy.desc(cx.ir))?, copy.result(cx.ir));
    let at = mbarrier::address(cx, op, copy.barrier(cx.ir))?;
    let rank = coord.len();
    let copies = if copy.multicast(cx.ir) { tma_messages(cx.ir.ty(buffer)).map_or(0, |plan| plan.copies) } else { 0 };
    let (to_several, mask, mask_constraint) = match copies {
        0 => ("", String::new(), ""),
        _ => (".multicast::cluster", format!(", ${}", rank + 4), "h,"),
    };
    let asm = format!(
        "@$0 cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes{to_several} [$1], \
         [$2, {{{}}}], [${}]{mask};",
        numbered(3, rank),
        rank + 3
    );
    let constraints = format!("b,r,l,{}r,{mask_constraint}~{{memory}}", "r,".repeat(rank));
    let pred = match cx.owner_predicate(0, u64::from(copies))? {
        Some(first) => cx.b.build_and(pred, first, "")?,
        None => pred,
    };
    let receivers = if copies == 0 { None } else { Some(blocks_beside(cx, copies)?) };
    for message in messages(cx, op, buffer, &coord, Some(pred))? {
        let mut args = vec![message.pred.into(), message.address.into(), desc];
        args.extend(message.coordinates);
        args.push(at);
        args.extend(receivers);
        cx.inline_asm(&asm, &constraints, &[], &args, true)?;
    }
    Ok(())
}

/// `ttng.async_tma_copy_local_to_global`
pub(crate) fn copy_out(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let copy = view::AsyncTmaCopyLocalToGlobal(op);
    let parts = (copy.desc(cx.ir), copy.coord(cx.ir), copy.src(cx.ir));
    send(cx, op, ("cp.async.bulk.tensor", ""), parts)
}

/// `ttng.async_tma_reduce`
pub(crate) fn reduce_out(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let reduce = view::AsyncTmaReduce(op);
    let kind = reduce.kind(cx.ir).ok_or_else(|| defect("an unknown reduction"))?;
    let parts = (reduce.desc(cx.ir), reduce.coord(cx.ir), reduce.src(cx.ir));
    send(cx, op, ("cp.reduce.async.bulk.tensor", &format!(".{kind}")), parts)
}

/// Sends a block from shared to global memory. `kind` says how its elements are combined with those that are there.
fn send(
    cx: &mut Lower<'_, '_>,
    op: Op,
    (opcode, kind): (&str, &str),
    (desc, coord, buffer): (Value, &[Value], Value),
) -> Res<()> {
    dialect::needs_tma(cx, op)?;
    let rank = coord.len();
    let desc = cx.scalar(desc)?;
    let coordinates = numbered(2, rank);
    let asm =
        format!("@$0 {opcode}.{rank}d.global.shared::cta{kind}.bulk_group [$1, {{{coordinates}}}], [${}];", rank + 2);
    let constraints = format!("b,l,{}r,~{{memory}}", "r,".repeat(rank));
    // Of blocks that hold the same, one sends it.
    let copies = tma_messages(cx.ir.ty(buffer)).map_or(0, |plan| plan.copies);
    let owner = cx.owner_predicate(0, u64::from(copies))?;
    for message in messages(cx, op, buffer, coord, owner)? {
        let mut args = vec![message.pred.into(), desc];
        args.extend(message.coordinates);
        args.push(message.address.into());
        cx.inline_asm(&asm, &constraints, &[], &args, true)?;
    }
    cx.effect("llvm.nvvm.cp.async.bulk.commit.group", &[], &[])
}

/// `ttng.async_tma_store_wait` waits for the copies of this thread. To wait for those of others is a barrier's
/// business.
pub(crate) fn wait(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    dialect::needs_tma(cx, op)?;
    let view = view::TmaStoreWait(op);
    let pendings = view.pendings(cx.ir).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let read = if view.read_only(cx.ir) { ".read" } else { "" };
    cx.effect(&format!("llvm.nvvm.cp.async.bulk.wait.group{read}"), &[], &[cx.i32(pendings).into()])
}

/// `ttng.async_tma_gather`, `ttng.async_tma_scatter`
pub(crate) fn rows(cx: &Lower<'_, '_>, op: Op) -> Diagnostic {
    let text = format!("`{}`: rows are picked by index from sm_100 on, and only there by hardware", cx.ir.op_name(op));
    Diagnostic::error(&codes::UNSUPPORTED_OP, text)
        .help("load the rows through pointers: `tl.load(ptr + rows[:, None] * stride + columns)`")
}

/// A mask of 16 bits with the numbers of the blocks that differ from this one in these bits of the number alone, of
/// which this one is the first.
fn blocks_beside<'c>(cx: &mut Lower<'c, '_>, bits: u32) -> Res<Val<'c>> {
    let numbers = (0..=bits).filter(|number| number & !bits == 0).fold(0u64, |mask, number| mask | 1 << number);
    let own = cx.block_in_cluster()?;
    let mask = cx.b.build_left_shift(cx.i32(numbers), own, "")?;
    Ok(cx.b.build_int_truncate(mask, cx.int_type(16), "")?.into())
}

/// `$3, $4`
fn numbered(first: usize, count: usize) -> String {
    (first..first + count).map(|i| format!("${i}")).collect::<Vec<_>>().join(", ")
}

/// One message of each of some warps.
struct Message<'c> {
    /// Whether this thread sends it.
    pred: IntValue<'c>,
    /// The address of its part of the buffer.
    address: IntValue<'c>,
    /// The fastest axis first.
    coordinates: Vec<Val<'c>>,
}

fn messages<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    buffer: Value,
    coord: &[Value],
    pred: Option<IntValue<'c>>,
) -> Res<Vec<Message<'c>>> {
    let ty = cx.ir.ty(buffer);
    let plan = tma_messages(ty).map_err(|e| cx.unsupported(op, &format!("`{ty}` cannot be copied by TMA: {e}")))?;
    let rank = ty.rank();
    let bytes = ty.bit_width().unwrap_or(8) / 8;
    let start = cx.view_start(buffer)?.address(cx)?;
    let elected = elect(cx)?;
    let pred = match pred {
        Some(pred) => cx.b.build_and(pred, elected, "")?,
        None => elected,
    };
    let senders = if cx.ir.stores(op, FIRST_WARP) { 1 } else { cx.num_warps };
    let warp = if plan.count().min(senders) > 1 { Some(cx.uniform_warp_id()?) } else { None };
    let mut out = vec![];
    for first in (0..plan.count()).step_by(senders as usize) {
        let warps = (plan.count() - first).min(senders);
        let number = match warp.filter(|_| warps > 1) {
            // Its bits lie below those of the first message.
            Some(warp) => cx.b.build_or(warp, cx.i32(u64::from(first)), "")?,
            None => cx.i32(u64::from(first)),
        };
        let threads = cx.i32(u64::from(warps * cx.options.target.warp_size()));
        let sends = cx.b.build_int_compare(IntPredicate::ULT, cx.thread_id(), threads, "")?;
        let pred = cx.b.build_and(sends, pred, "")?;
        let columns: Vec<u32> = plan.offsets.iter().map(|o| o * bytes).collect();
        let moved = cx.xor_image(cx.i32(0), number, &columns)?;
        let address = cx.b.build_int_add(start, moved, "")?;
        let coordinates = coordinates(cx, &plan, rank, coord, number)?;
        out.push(Message { pred, address, coordinates });
    }
    Ok(out)
}

fn coordinates<'c>(
    cx: &mut Lower<'c, '_>,
    plan: &TmaMessages,
    rank: usize,
    coord: &[Value],
    number: IntValue<'c>,
) -> Res<Vec<Val<'c>>> {
    let mut out = Vec::with_capacity(coord.len());
    for (back, &value) in coord.iter().rev().enumerate() {
        let mut at = cx.int(value)?;
        if plan.fp4_padded && back == 0 {
            at = cx.b.build_int_mul(at, cx.i32(2), "")?;
        }
        if let Some(axis) = (rank - 1).checked_sub(back) {
            let columns: Vec<u32> = plan.coordinates.iter().map(|c| c[axis]).collect();
            let moved = cx.xor_image(cx.i32(0), number, &columns)?;
            at = cx.b.build_int_add(at, moved, "")?;
            let columns: Vec<u32> = plan.blocks.iter().map(|b| b[axis]).collect();
            if columns.iter().any(|&c| c != 0) {
                let block = cx.block_in_cluster()?;
                let moved = cx.xor_image(cx.i32(0), block, &columns)?;
                at = cx.b.build_int_add(at, moved, "")?;
            }
        }
        out.push(at.into());
    }
    Ok(out)
}

/// Whether this is the one thread of its warp that the hardware elects (PTX ISA, "elect.sync").
fn elect<'c>(cx: &mut Lower<'c, '_>) -> Res<IntValue<'c>> {
    let all = cx.i32(u64::from(u32::MAX));
    match cx.intrinsic("llvm.nvvm.elect.sync", &[], &[all.into()])? {
        Val::StructValue(pair) => as_int(cx.b.build_extract_value(pair, 1, "")?),
        _ => Err(defect("`elect.sync` gives a lane and a predicate")),
    }
}

/// An address of a descriptor that ptxas keeps in registers that all threads share, where the hardware reads it.
///
/// ptxas adds a parameter's place to the address of all parameters next to each use. A copy is for one elected thread,
/// so this addition becomes one of that thread, in registers of its own, and four instructions bring the sum to the
/// shared ones in each round of a loop. That is not done to a sum with something that ptxas does not know to be zero:
/// here the highest bit of a number of blocks, of which there are at most 65,535.
pub(super) fn shared_address<'c>(cx: &mut Lower<'c, '_>, descriptor: Val<'c>) -> Res<Val<'c>> {
    let Val::PointerValue(address) = descriptor else { return Err(defect("a descriptor that is no address")) };
    let word = cx.int_type(32).into();
    let blocks = cx.inline_asm("mov.u32 $0, %nctaid.z;", "=r", &[word], &[], false)?;
    let zero = cx.b.build_right_shift(as_int(blocks[0])?, cx.i32(31), false, "")?;
    let zero = cx.b.build_int_z_extend(zero, cx.int_type(64), "")?;
    // SAFETY: an index is added to an address, and the address is not read.
    Ok(unsafe { cx.b.build_gep(cx.int_type(8), address, &[zero], "")? }.into())
}

/// `ttng.reinterpret_tensor_descriptor`: the address in generic form.
pub(crate) fn reinterpret(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let result = cx.ir.result(op);
    let generic = cx.llvm.ptr_type(inkwell::AddressSpace::default());
    match cx.scalar(view::ReinterpretTensorDescriptor(op).raw_desc(cx.ir))? {
        Val::PointerValue(p) if matches!(*cx.ir.ty(result), TypeData::TensorDesc { .. }) => {
            let cast = cx.b.build_address_space_cast(p, generic, "")?;
            cx.set(result, vec![cast.into()]);
            Ok(())
        }
        _ => Err(defect("a descriptor that is no address")),
    }
}
