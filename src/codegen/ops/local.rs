//! Shared memory as the program names it: buffers, views, loads and stores, barriers, scratch memory in global memory.
//!
//! See [`crate::codegen::memdesc`] for what a view is and how a tensor lies in it. Where buffers lie was decided by
//! `allocate-shared-memory-nv`, where threads wait for each other by `tritongpu-insert-barriers`.

use inkwell::values::{IntValue, PointerValue};

use crate::analysis::allocation::buffer_bytes;
use crate::analysis::shared_accesses;
use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::codegen::machine::Grid;
use crate::codegen::memdesc::View;
use crate::ir::dialects::discardable::{GLOBAL_OFFSET, GLOBAL_SIZE};
use crate::ir::dialects::enums::ProgramDim;
use crate::ir::dialects::ttg::{GLOBAL, ttg};
use crate::ir::{Op, Type, Value};
use crate::layout::layout_of;

/// `ttg.local_alloc`
pub(crate) fn alloc(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let result = cx.ir.result(op);
    let base = cx.scratch(op)?;
    let rank = cx.ir.ty(result).rank();
    cx.set_view(result, &View { base, offsets: vec![cx.i32(0); rank] });
    match ttg::LocalAlloc(op).src(cx.ir) {
        Some(source) => write(cx, source, result),
        None => Ok(()),
    }
}

/// `ttg.local_store`
pub(crate) fn store(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let store = ttg::LocalStore(op);
    write(cx, store.src(cx.ir), store.dst(cx.ir))
}

fn write(cx: &mut Lower<'_, '_>, source: Value, target: Value) -> Res<()> {
    let at = cx.view_store(target, cx.ir.ty(source))?;
    let regs = cx.get(source)?;
    let access = shared_accesses::store(&at.at, &cx.options.target.shared);
    cx.store_layout_to_shared(&access, at.base, at.foreign, (source, &regs))
}

/// `ttg.local_load`
pub(crate) fn load(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let result = cx.ir.result(op);
    let ty = cx.ir.ty(result);
    let load = ttg::LocalLoad(op);
    let at = cx.view_access(load.src(cx.ir), ty)?;
    let elem = cx.elem_type(ty)?;
    let access = shared_accesses::load(&at.at, &cx.options.target.shared);
    let behind = cx.b.get_insert_block().and_then(inkwell::basic_block::BasicBlock::get_last_instruction);
    let regs = cx.load_layout_from_shared(&access, at.base, at.foreign, elem)?;
    cx.machine.mark_loads(cx, load.token(cx.ir), behind)?;
    cx.set(result, regs);
    Ok(())
}

/// `ttg.memdesc_index`: the buffers lie one after the other.
pub(crate) fn index(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let index = ttg::MemDescIndex(op);
    let (source, result) = (index.src(cx.ir), index.result(cx.ir));
    let (from, to) = (cx.ir.ty(source), cx.ir.ty(result));
    let laid_out = layout_of(from).map_or(0, |l| l.out_dims().count());
    if to.rank() + 1 != from.rank() || laid_out >= from.rank() {
        return Err(cx.unsupported(op, &format!("`{from}` has no buffers along its first dimension")));
    }
    let stride = buffer_bytes(to).map_err(|e| cx.unsupported(op, &e.reason))?;
    let view = cx.view(source)?;
    let number = cx.buffer_number(source, index.index(cx.ir))?;
    let bytes = cx.b.build_int_mul(number, cx.i32(u64::from(stride)), "")?;
    let base = cx.shared_at(view.base, bytes)?;
    cx.set_view(result, &View { base, offsets: view.offsets[1..].to_vec() });
    Ok(())
}

/// `ttg.memdesc_subslice`
pub(crate) fn subslice(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let slice = ttg::MemDescSubslice(op);
    let (source, result) = (slice.src(cx.ir), slice.result(cx.ir));
    let to = cx.ir.ty(result);
    let starts = slice.offsets(cx.ir).unwrap_or(&[]);
    let mut view = cx.view(source)?;
    if starts.len() != view.offsets.len() || to.rank() != view.offsets.len() {
        return Err(cx.unsupported(op, "expected an offset for each dimension"));
    }
    let buffers = to.rank() - layout_of(to).map_or(to.rank(), |l| l.out_dims().count());
    for (dim, ((offset, &start), &size)) in view.offsets.iter_mut().zip(starts).zip(to.shape()).enumerate() {
        if dim >= buffers && start % size != 0 {
            return Err(cx.unsupported(op, &format!("it starts at {start}, which is no multiple of its size {size}")));
        }
        *offset = cx.b.build_int_add(*offset, cx.i32(start as u64), "")?;
    }
    cx.set_view(result, &view);
    Ok(())
}

/// `ttg.memdesc_trans`: the result's layout is the permuted one.
pub(crate) fn transpose(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let transpose = ttg::MemDescTrans(op);
    let view = cx.view(transpose.src(cx.ir))?;
    let order = transpose.order(cx.ir).unwrap_or(&[]);
    let (from, to) = (cx.ir.ty(transpose.src(cx.ir)), cx.ir.ty(transpose.result(cx.ir)));
    let permutation: Vec<u32> = order.iter().filter_map(|&d| u32::try_from(d).ok()).collect();
    let (source, result) = (Lower::layout(from)?, Lower::layout(to)?);
    if source.out_dims().len() == permutation.len() && source.permute_axes(&permutation) != *result {
        return Err(cx.unsupported(op, &format!("`{to}` does not have its elements where `{from}` has them")));
    }
    let pick = |&d: &i64| usize::try_from(d).ok().and_then(|d| view.offsets.get(d)).copied();
    let offsets: Option<Vec<IntValue<'_>>> = order.iter().map(pick).collect();
    let offsets = offsets.ok_or_else(|| defect("a permutation of other dimensions"))?;
    cx.set_view(cx.ir.result(op), &View { base: view.base, offsets });
    Ok(())
}

/// `ttg.memdesc_reshape`, `ttg.memdesc_reinterpret`: the same bytes under another type.
pub(crate) fn reinterpret(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ([source], result) = (cx.ir.all_operands(op), cx.ir.result(op));
    let (from, to) = (cx.ir.ty(source), cx.ir.ty(result));
    if !is_whole(from) || !is_whole(to) {
        return Err(cx.unsupported(
            op,
            &format!("`{from}` is a part of its allocation; only whole buffers can get another shape"),
        ));
    }
    let base = cx.view(source)?.base;
    cx.set_view(result, &View { base, offsets: vec![cx.i32(0); to.rank()] });
    Ok(())
}

fn is_whole(ty: Type) -> bool {
    ty.as_memdesc().is_some_and(|m| m.alloc_shape.ends_with(&m.shape))
}

/// `ttg.barrier` and `gpu.barrier`. A barrier of the block orders shared and global memory alike; accesses to memory of
/// the machine's own may go on by themselves and are waited for first. All blocks of a cluster share a program's global
/// memory, so a barrier for that one (`tl.debug_barrier`) waits for all of them.
pub(crate) fn barrier(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let spaces = ttg::Barrier::of(cx.ir, op).and_then(|barrier| barrier.addrSpace(cx.ir)).unwrap_or(0);
    cx.machine.wait_for_spaces(cx, spaces)?;
    if cx.num_ctas > 1 && spaces & GLOBAL != 0 {
        return cx.machine.cluster_barrier(cx, false);
    }
    if cx.num_warps == 1 { cx.warp_barrier() } else { cx.barrier() }
}

/// `ttg.global_scratch_alloc`
pub(crate) fn global_scratch(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    if ttg::GlobalScratchAlloc(op).third_party_allocation(cx.ir) {
        return Err(cx.unsupported(op, "memory of profilers is not supported"));
    }
    let ptr = scratch_memory(cx, op)?;
    cx.set(cx.ir.result(op), vec![Val::from(ptr)]);
    Ok(())
}

/// The scratch memory in global memory that the allocation gave an operation: in a kernel behind the start of the
/// program's part, in another function behind what its caller passed.
pub(crate) fn scratch_memory<'c>(cx: &mut Lower<'c, '_>, op: Op) -> Res<PointerValue<'c>> {
    let missing = || {
        let name = GLOBAL_OFFSET.name();
        defect(format!("no `{name}`: the pass `tritongpu-global-scratch-memory-allocation` has not run"))
    };
    let offset = cx.ir.get(op, GLOBAL_OFFSET).ok_or_else(missing)?;
    let base = cx.declared.scratch_base().ok_or_else(missing)?;
    let offset = cx.int_type(64).const_int(offset as u64, false);
    let part = if cx.declared.kernel { program_part(cx)? } else { cx.int_type(64).const_zero() };
    let start = cx.b.build_int_add(part, offset, "")?;
    // SAFETY: `getelementptr` without `inbounds` only computes an address.
    Ok(unsafe { cx.b.build_gep(cx.int_type(8), base, &[start], "")? })
}

/// Where the program's part of the scratch memory of all programs starts. Programs are numbered with the x axis
/// fastest, and a cluster's blocks follow one another.
fn program_part<'c>(cx: &mut Lower<'c, '_>) -> Res<IntValue<'c>> {
    let missing = || defect(format!("no `{}`", GLOBAL_SIZE.name()));
    let size = cx.ir.get(cx.ir.module(), GLOBAL_SIZE).ok_or_else(missing)?;
    let long = cx.int_type(64);
    let mut number = long.const_zero();
    for (i, axis) in [ProgramDim::Z, ProgramDim::Y, ProgramDim::X].into_iter().enumerate() {
        let id = cx.machine.grid(cx, Grid::ProgramId, axis)?;
        let id = cx.b.build_int_z_extend(id, long, "")?;
        number = if i == 0 {
            id
        } else {
            let count = cx.machine.grid(cx, Grid::NumPrograms, axis)?;
            let count = cx.b.build_int_z_extend(count, long, "")?;
            let before = cx.b.build_int_mul(number, count, "")?;
            cx.b.build_int_add(before, id, "")?
        };
    }
    if cx.num_ctas > 1 {
        let block = cx.block_in_cluster()?;
        let block = cx.b.build_int_z_extend(block, long, "")?;
        let first = cx.b.build_int_mul(number, long.const_int(u64::from(cx.num_ctas), false), "")?;
        number = cx.b.build_int_add(first, block, "")?;
    }
    Ok(cx.b.build_int_mul(number, long.const_int(size as u64, false), "")?)
}
