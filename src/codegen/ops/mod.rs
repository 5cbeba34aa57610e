//! The operations, a file per family, and which family lowers which of them.
//!
//! The matches are closed: a new operation does not compile until it has a line.

mod arith;
mod async_copy;
mod atomic_access;
pub(crate) mod atomics;
mod call;
mod cast;
pub(crate) mod constant;
pub(crate) mod control;
mod convert_layout;
mod debug;
pub(crate) mod dot;
mod elementwise;
mod fp4;
mod gather;
mod histogram;
mod inline_asm;
mod local;
mod map_elementwise;
mod math;
pub(crate) mod memory;
mod reduce;
mod reduce_lanes;
mod scan;
mod scan_carry;
mod shape;

use crate::codegen::lower::{Lower, Res, defect};
use crate::codegen::machine::Grid;
use crate::ir::dialects::builtin::llvm;
use crate::ir::dialects::enums::ProgramDim;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{GpuOp, LlvmOp, TtOp, TtgOp};
use crate::ir::{Op, OpKind};

/// Lowers one operation.
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    match cx.ir.kind(op) {
        OpKind::Arith(kind) => arith::lower(cx, op, kind),
        OpKind::Math(kind) => math::lower(cx, op, kind),
        OpKind::Scf(kind) => control::scf(cx, op, kind),
        OpKind::Cf(kind) => control::cf(cx, op, kind),
        OpKind::Ub(kind) => control::ub(cx, op, kind),
        OpKind::Tt(kind) => triton(cx, op, kind),
        OpKind::Llvm(LlvmOp::Assume) => assume(cx, op),
        OpKind::Ttg(kind) => ttg(cx, op, kind),
        OpKind::Ttng(_) | OpKind::Amdg(_) | OpKind::Gcn(_) => cx.machine.vendor_op(cx, op),
        OpKind::Gpu(GpuOp::Barrier) => local::barrier(cx, op),
        OpKind::Builtin(_) | OpKind::Unregistered(_) => Err(cx.unsupported(op, "")),
    }
}

fn triton(cx: &mut Lower<'_, '_>, op: Op, kind: TtOp) -> Res<()> {
    match kind {
        TtOp::Return => call::ret(cx, op),
        TtOp::Call => call::call(cx, op),
        TtOp::IntToPtr | TtOp::PtrToInt | TtOp::Bitcast => cast::reinterpret(cx, op),
        TtOp::FpToFp => cast::floats(cx, op),
        TtOp::Clampf => math::clamp(cx, op),
        TtOp::PreciseSqrt => math::precise_sqrt(cx, op),
        TtOp::PreciseDivf => math::precise_div(cx, op),
        TtOp::ApproxDivf => math::approximate_div(cx, op),
        TtOp::Mulhiui => math::mulhi(cx, op),
        TtOp::ExternElementwise => math::external(cx, op),
        TtOp::Addptr => memory::addptr(cx, op),
        TtOp::Load => memory::load(cx, op),
        TtOp::Store => memory::store(cx, op),
        TtOp::AtomicRmw => atomics::rmw(cx, op),
        TtOp::AtomicCas => atomics::cas(cx, op),
        TtOp::AtomicLoad => atomic_access::load(cx, op),
        TtOp::AtomicStore => atomic_access::store(cx, op),
        TtOp::AtomicPoll => atomic_access::poll(cx, op),
        TtOp::Splat => shape::splat(cx, op),
        TtOp::Unsplat => shape::unsplat(cx, op),
        TtOp::ExpandDims => shape::expand_dims(cx, op),
        TtOp::Reshape => shape::reshape(cx, op),
        TtOp::Broadcast => shape::broadcast(cx, op),
        TtOp::Trans => shape::trans(cx, op),
        TtOp::Cat => shape::cat(cx, op),
        TtOp::Join => shape::join(cx, op),
        TtOp::Split => shape::split(cx, op),
        TtOp::MakeRange => shape::make_range(cx, op),
        TtOp::GetProgramId => program(cx, op, Grid::ProgramId, tt::GetProgramId(op).axis(cx.ir)),
        TtOp::GetNumPrograms => program(cx, op, Grid::NumPrograms, tt::GetNumPrograms(op).axis(cx.ir)),
        TtOp::ElementwiseInlineAsm => inline_asm::lower(cx, op),
        TtOp::GridDependencyWait => cx.machine.grid_dependency(cx, op, true),
        TtOp::GridDependencyLaunchDependents => cx.machine.grid_dependency(cx, op, false),
        TtOp::Print => debug::print(cx, op),
        TtOp::Assert => {
            let view = tt::Assert(op);
            debug::assert(cx, op, view.condition(cx.ir), view.message(cx.ir).unwrap_or_default())
        }
        TtOp::Reduce => reduce::lower(cx, op),
        TtOp::Scan => scan::lower(cx, op),
        TtOp::MapElementwise => map_elementwise::lower(cx, op),
        TtOp::Histogram => histogram::lower(cx, op),
        TtOp::Gather => gather::lower(cx, op),
        TtOp::Dot => dot::lower(cx, op),
        TtOp::DotScaled => dot::lower_scaled(cx, op),
        // These are lowered with the operation around them.
        TtOp::ReduceReturn | TtOp::ScanReturn | TtOp::MapElementwiseReturn => {
            Err(defect("a region's end was reached on its own"))
        }
        TtOp::Func
        | TtOp::MakeTensorDesc
        | TtOp::DescriptorLoad
        | TtOp::DescriptorStore
        | TtOp::DescriptorReduce
        | TtOp::DescriptorGather
        | TtOp::DescriptorScatter
        | TtOp::MakeTensorPtr
        | TtOp::Advance => Err(cx.unsupported(op, "")),
    }
}

fn ttg(cx: &mut Lower<'_, '_>, op: Op, kind: TtgOp) -> Res<()> {
    match kind {
        TtgOp::ConvertLayout => convert_layout::lower(cx, op),
        TtgOp::Barrier => local::barrier(cx, op),
        TtgOp::LocalAlloc => local::alloc(cx, op),
        // The allocation has already let later buffers use the memory.
        TtgOp::LocalDealloc => Ok(()),
        TtgOp::LocalLoad => local::load(cx, op),
        TtgOp::LocalStore => local::store(cx, op),
        TtgOp::MemDescIndex => local::index(cx, op),
        TtgOp::MemDescSubslice => local::subslice(cx, op),
        TtgOp::MemDescTrans => local::transpose(cx, op),
        TtgOp::MemDescReshape | TtgOp::MemDescReinterpret => local::reinterpret(cx, op),
        TtgOp::AsyncCopyGlobalToLocal => async_copy::copy(cx, op),
        TtgOp::AsyncCommitGroup => async_copy::commit(cx, op),
        TtgOp::AsyncWait => async_copy::wait(cx, op),
        TtgOp::Fp4ToFp => fp4::lower(cx, op),
        TtgOp::GlobalScratchAlloc => local::global_scratch(cx, op),
        TtgOp::LocalGather
        | TtgOp::LocalScatter
        | TtgOp::LocalAtomicScatterRmw
        | TtgOp::PredicateStage
        | TtgOp::Mask
        | TtgOp::MaskReturn
        | TtgOp::InlineAsm
        | TtgOp::WarpSpecialize
        | TtgOp::WarpSpecializePartitions
        | TtgOp::WarpYield
        | TtgOp::WarpReturn
        | TtgOp::WarpId => Err(cx.unsupported(op, "")),
    }
}

/// `tt.get_program_id`, `tt.get_num_programs`
fn program(cx: &mut Lower<'_, '_>, op: Op, what: Grid, axis: Option<ProgramDim>) -> Res<()> {
    let axis = axis.ok_or_else(|| cx.unsupported(op, "the grid has three dimensions"))?;
    let value = cx.machine.grid(cx, what, axis)?;
    cx.set(cx.ir.result(op), vec![value.into()]);
    Ok(())
}

/// `llvm.intr.assume`
fn assume(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let condition = cx.scalar(llvm::Assume(op).cond(cx.ir))?;
    cx.effect("llvm.assume", &[], &[condition])
}
