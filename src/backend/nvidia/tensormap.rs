//! Descriptors that a kernel writes itself (PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy", "membar / fence").
//!
//! 1. A warp clears 128 bytes of shared memory: the first, or where several descriptors are made side by side, the one
//!    that is named.
//! 2. Its first thread fills in field after field; those that stay 0 are left out.
//! 3. The warp copies the descriptor to global memory, which also releases it to the proxy of tensor maps.
//! 4. `ttng.tensormap_fenceproxy_acquire` makes it visible to the copies that follow: by the same warp, for which the
//!    others wait, at the last one of several. The empty group behind the fence works around releases of ptxas that
//!    move copies before it.
//!
//! `ptxas` before CUDA 12.6 takes the strides for counts of 16 bytes; PTX ISA 8.6 keeps drivers with one of those from
//! loading the kernel.

use inkwell::IntPredicate;
use inkwell::values::IntValue;

use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::Op;
use crate::ir::dialects::discardable::{BY_WARP, JOINED};
use crate::ir::dialects::ttng::ttng as view;
use crate::layout::encodings::DESCRIPTOR_BYTES;

fn needs_hopper(cx: &Lower<'_, '_>, op: Op) -> Res<()> {
    let target = &cx.options.target;
    if target.has_tensormap_replace() {
        return Ok(());
    }
    let text = format!("`{}` needs instructions that {} does not have", cx.ir.op_name(op), target.name);
    let help = if target.has_tma() {
        format!("compile for {}a, or pass the descriptor as a parameter", target.name)
    } else {
        "compile for sm_90a".to_owned()
    };
    Err(Diagnostic::error(&codes::UNSUPPORTED_OP, text).help(help))
}

/// The number of this thread among those of the warp that does `op`; for other threads it is no less than a warp's
/// size.
fn place<'c>(cx: &Lower<'c, '_>, op: Op) -> Res<IntValue<'c>> {
    let warp = cx.ir.get(op, BY_WARP).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    let first = cx.i32(warp * u64::from(cx.options.target.warp_size()));
    Ok(if warp == 0 { cx.thread_id() } else { cx.b.build_int_sub(cx.thread_id(), first, "")? })
}

/// Whether this thread is one of the warp that does `op`.
fn is_of_warp<'c>(cx: &Lower<'c, '_>, op: Op) -> Res<IntValue<'c>> {
    let threads = cx.i32(u64::from(cx.options.target.warp_size()));
    Ok(cx.b.build_int_compare(IntPredicate::ULT, place(cx, op)?, threads, "")?)
}

/// `ttng.tensormap_create`
pub(crate) fn create(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    needs_hopper(cx, op)?;
    let memory = cx.scratch(op)?;
    let word = DESCRIPTOR_BYTES / cx.options.target.warp_size();
    let (thread, makes) = (place(cx, op)?, is_of_warp(cx, op)?);
    let offset = cx.b.build_int_mul(thread, cx.i32(u64::from(word)), "")?;
    let own = cx.shared_at(memory, offset)?;
    cx.store_shared_if(Some(makes), own, cx.i32(0).into())?;
    cx.warp_barrier()?;
    let (then, rest) = (cx.llvm.append_basic_block(cx.function, ""), cx.llvm.append_basic_block(cx.function, ""));
    let first = cx.b.build_int_compare(IntPredicate::EQ, thread, cx.i32(0), "")?;
    cx.b.build_conditional_branch(first, then, rest)?;
    cx.b.position_at_end(then);
    let address = cx.b.build_ptr_to_int(memory, cx.int_type(64), "")?;
    fields(cx, op, address.into())?;
    cx.b.build_unconditional_branch(rest)?;
    cx.b.position_at_end(rest);
    cx.warp_barrier()?;
    let makes = is_of_warp(cx, op)?;
    let address = cx.b.build_ptr_to_int(memory, cx.int_type(64), "")?;
    let to = cx.scalar(view::TensormapCreate(op).desc_ptr(cx.ir))?;
    let asm = format!(
        "@$2 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [ $0 + 0 ], [ $1 + 0 ], {DESCRIPTOR_BYTES};"
    );
    cx.inline_asm(&asm, "l,l,b,~{memory}", &[], &[to, address.into(), makes.into()], true)?;
    Ok(())
}

/// Fills in the fields of a descriptor in shared memory (step 2).
fn fields<'c>(cx: &mut Lower<'c, '_>, op: Op, memory: Val<'c>) -> Res<()> {
    let make = view::TensormapCreate(op);
    let lists = [
        ("box_dim", make.box_dim(cx.ir).to_vec()),
        ("global_dim", make.global_dim(cx.ir).to_vec()),
        ("global_stride", make.global_stride(cx.ir).to_vec()),
        ("element_stride", make.element_stride(cx.ir).to_vec()),
    ];
    let rank = lists[0].1.len().checked_sub(1).ok_or_else(|| defect("a descriptor without axes"))?;
    let base = cx.scalar(make.global_address(cx.ir))?;
    let constant = |cx: &mut Lower<'c, '_>, name: &str, value: i64| {
        let asm = format!("tensormap.replace.tile.{name}.shared::cta.b1024.b32 [ $0 + 0 ], {value};");
        cx.inline_asm(&asm, "l,~{memory}", &[], &[memory], true)
    };
    cx.inline_asm(
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [ $0 + 0 ], $1;",
        "l,l,~{memory}",
        &[],
        &[memory, base],
        true,
    )?;
    constant(cx, "rank", rank as i64)?;
    for (name, values) in lists {
        let (bits, letter) = if name == "global_stride" { (64, 'l') } else { (32, 'r') };
        for (i, value) in values.into_iter().enumerate() {
            let value = cx.scalar(value)?;
            let asm = format!("tensormap.replace.tile.{name}.shared::cta.b1024.b{bits} [ $0 + 0 ], {i}, $1;");
            cx.inline_asm(&asm, &format!("l,{letter},~{{memory}}"), &[], &[memory, value], true)?;
        }
    }
    for (name, value) in [
        ("elemtype", make.elem_type(cx.ir)),
        ("interleave_layout", make.interleave_layout(cx.ir)),
        ("swizzle_mode", make.swizzle_mode(cx.ir)),
        ("fill_mode", make.fill_mode(cx.ir)),
    ] {
        if let Some(value) = value.filter(|&v| v != 0) {
            constant(cx, name, value)?;
        }
    }
    Ok(())
}

/// `ttng.tensormap_fenceproxy_acquire`
pub(crate) fn acquire(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    needs_hopper(cx, op)?;
    let acquires = is_of_warp(cx, op)?;
    let at = cx.scalar(view::TensormapFenceproxyAcquire(op).desc_ptr(cx.ir))?;
    let asm = format!(
        "@$1 fence.proxy.tensormap::generic.acquire.gpu [ $0 + 0 ], {DESCRIPTOR_BYTES};\n\t@$1 cp.async.bulk.commit_group;\n\t\
         @$1 cp.async.bulk.wait_group.read 0;"
    );
    cx.inline_asm(&asm, "l,b,~{memory}", &[], &[at, acquires.into()], true)?;
    if cx.ir.stores(op, JOINED) { Ok(()) } else { cx.barrier() }
}
