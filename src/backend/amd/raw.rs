//! What LLVM's C interface has and inkwell has not: orders with a scope, and marks on instructions.
//!
//! LLVM's names of scopes are those of "User Guide for AMDGPU Backend", "Memory Scopes": none for the system, `agent`
//! for the device, `workgroup` for the block, `wavefront` for the warp.

use inkwell::llvm_sys::core as llvm;
use inkwell::llvm_sys::prelude::LLVMValueRef;
pub(super) use inkwell::llvm_sys::{LLVMAtomicOrdering as Ordering, LLVMAtomicRMWBinOp as Rmw};
use inkwell::values::{AsValueRef, InstructionValue};

use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::codegen::machine::AddressSpaces;
use crate::ir::dialects::enums::{MemScope, MemSemantic};

/// LLVM's address spaces in AMDGPU.
pub(super) const SPACES: AddressSpaces = AddressSpaces { global: 1, shared: 3 };

/// LLVM's scope of the warp.
pub(super) const WARP: &str = "wavefront";
/// LLVM's scope of the block.
pub(super) const BLOCK: &str = "workgroup";

/// LLVM's name of a scope.
pub(super) fn scope(scope: MemScope) -> &'static str {
    match scope {
        MemScope::Cta => BLOCK,
        MemScope::Gpu => "agent",
        MemScope::Sys => "",
    }
}

/// LLVM's order for what an atomic operation promises.
pub(super) fn ordering(sem: MemSemantic) -> Ordering {
    match sem {
        MemSemantic::Relaxed => Ordering::LLVMAtomicOrderingMonotonic,
        MemSemantic::Acquire => Ordering::LLVMAtomicOrderingAcquire,
        MemSemantic::Release => Ordering::LLVMAtomicOrderingRelease,
        MemSemantic::AcqRel => Ordering::LLVMAtomicOrderingAcquireRelease,
    }
}

fn scope_id(cx: &Lower<'_, '_>, name: &str) -> u32 {
    // SAFETY: the context is alive, and the name is as long as it says.
    unsafe { llvm::LLVMGetSyncScopeID(cx.llvm.raw(), name.as_ptr().cast(), name.len()) }
}

/// A `fence`. `local`: of shared memory alone.
pub(super) fn fence(cx: &Lower<'_, '_>, ordering: Ordering, scope: &str, local: bool) -> Res<()> {
    // SAFETY: the builder stands at the end of a block, and the scope is one of its context.
    let made = unsafe { llvm::LLVMBuildFenceSyncScope(cx.b.as_mut_ptr(), ordering, scope_id(cx, scope), c"".as_ptr()) };
    if local { mark_local(cx, made) } else { Ok(()) }
}

/// Says of a fence that it orders shared memory alone ("User Guide for AMDGPU Backend", "Memory Model Relaxation
/// Annotations"): nothing is written back or invalidated for it.
fn mark_local(cx: &Lower<'_, '_>, fence: LLVMValueRef) -> Res<()> {
    // SAFETY: a fence is an instruction.
    let fence = unsafe { InstructionValue::new(fence) };
    let words = ["amdgpu-synchronize-as", "local"].map(|word| cx.llvm.metadata_string(word).into());
    let node = cx.llvm.metadata_node(&words);
    fence.set_metadata(node, cx.llvm.get_kind_id("mmra")).map_err(defect)
}

/// `atomicrmw`, of memory that no other device and no host reads meanwhile, unless the scope is the system: there the
/// instructions on floats may be used.
pub(super) fn atomic_rmw<'c>(
    cx: &Lower<'c, '_>,
    (function, ordering, scope): (Rmw, Ordering, &str),
    address: Val<'c>,
    value: Val<'c>,
) -> Res<Val<'c>> {
    let id = scope_id(cx, scope);
    // SAFETY: the builder stands at the end of a block; the address is a pointer, and LLVM checks the types.
    let made = unsafe {
        let (b, at, value) = (cx.b.as_mut_ptr(), address.as_value_ref(), value.as_value_ref());
        llvm::LLVMBuildAtomicRMWSyncScope(b, function, at, value, ordering, id)
    };
    if !scope.is_empty() {
        // SAFETY: an `atomicrmw` is an instruction.
        let instruction = unsafe { InstructionValue::new(made) };
        for kind in ["amdgpu.no.fine.grained.memory", "amdgpu.no.remote.memory", "amdgpu.ignore.denormal.mode"] {
            mark(cx, instruction, kind)?;
        }
    }
    // SAFETY: an `atomicrmw` gives a value.
    Ok(unsafe { Val::new(made) })
}

/// `cmpxchg`; the value that was there comes back.
pub(super) fn compare_exchange<'c>(
    cx: &Lower<'c, '_>,
    (ordering, scope): (Ordering, &str),
    address: Val<'c>,
    compared: Val<'c>,
    value: Val<'c>,
) -> Res<Val<'c>> {
    use Ordering as O;
    // A failed exchange releases nothing.
    let failed = match ordering {
        O::LLVMAtomicOrderingRelease => O::LLVMAtomicOrderingMonotonic,
        O::LLVMAtomicOrderingAcquireRelease => O::LLVMAtomicOrderingAcquire,
        other => other,
    };
    // SAFETY: as in [`atomic_rmw`].
    let pair = unsafe {
        let (b, at) = (cx.b.as_mut_ptr(), address.as_value_ref());
        let (old, new) = (compared.as_value_ref(), value.as_value_ref());
        Val::new(llvm::LLVMBuildAtomicCmpXchgSyncScope(b, at, old, new, ordering, failed, scope_id(cx, scope)))
    };
    match pair {
        Val::StructValue(pair) => Ok(cx.b.build_extract_value(pair, 0, "")?),
        _ => Err(defect("`cmpxchg` gives a pair")),
    }
}

/// Makes a load or a store atomic.
pub(super) fn make_atomic(
    cx: &Lower<'_, '_>,
    instruction: InstructionValue<'_>,
    (ordering, scope): (Ordering, &str),
) -> Res<()> {
    let id = scope_id(cx, scope);
    // SAFETY: the instruction is alive and a load or a store.
    unsafe {
        llvm::LLVMSetOrdering(instruction.as_value_ref(), ordering);
        llvm::LLVMSetAtomicSyncScopeID(instruction.as_value_ref(), id);
    }
    Ok(())
}

/// Marks an instruction with metadata without content.
pub(super) fn mark(cx: &Lower<'_, '_>, instruction: InstructionValue<'_>, kind: &str) -> Res<()> {
    instruction.set_metadata(cx.llvm.metadata_node(&[]), cx.llvm.get_kind_id(kind)).map_err(defect)
}

/// Marks an instruction as an access whose data is not used again (`!nontemporal`).
pub(super) fn mark_streaming(cx: &Lower<'_, '_>, instruction: InstructionValue<'_>) -> Res<()> {
    let one = cx.i32(1).into();
    instruction.set_metadata(cx.llvm.metadata_node(&[one]), cx.llvm.get_kind_id("nontemporal")).map_err(defect)
}
