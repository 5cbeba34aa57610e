//! The operations, a file per family.
//!
//! Elementwise operations are tables from kinds to LLVM instructions or intrinsics; [`elementwise`] applies one
//! register after the other.

mod arith;
mod async_copy;
mod atomic_access;
mod atomics;
mod cast;
mod convert_layout;
pub(crate) mod debug;
pub(crate) mod dot;
mod fp4;
mod gather;
mod histogram;
mod inline_asm;
mod local;
mod map_elementwise;
mod math;
mod memory;
mod reduce;
mod scan;
mod shape;

pub(crate) use arith::operand;
pub(crate) use atomics::Order;
pub(crate) use cast::{bits_as, split_pair};
pub(crate) use local::scratch_memory;

use std::collections::BTreeMap;

use super::lower::{Lower, Res, Val, defect};
use super::machine::Grid;
use super::{control, functions};
use crate::ir::dialects::enums::ProgramDim;
use crate::ir::dialects::{ArithOp, GpuOp, LlvmOp, TtOp, TtgOp};
use crate::ir::{Attr, Op, OpKind, Value};
use crate::layout::register_offsets;

/// Lowers one operation.
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    match cx.ir.kind(op) {
        OpKind::Arith(kind) => arith::lower(cx, op, kind),
        OpKind::Math(kind) => math::lower(cx, op, kind),
        OpKind::Scf(kind) => control::scf(cx, op, kind),
        OpKind::Cf(kind) => control::cf(cx, op, kind),
        OpKind::Ub(kind) => control::ub(cx, op, kind),
        OpKind::Tt(kind) => tt(cx, op, kind),
        OpKind::Llvm(LlvmOp::Assume) => assume(cx, op),
        OpKind::Ttg(kind) => ttg(cx, op, kind),
        OpKind::Ttng(_) => cx.machine.vendor_op(cx, op),
        OpKind::Gpu(GpuOp::Barrier) => local::barrier(cx, op),
        OpKind::Builtin(_) | OpKind::Unregistered(_) => Err(cx.unsupported(op, "")),
    }
}

fn tt(cx: &mut Lower<'_, '_>, op: Op, kind: TtOp) -> Res<()> {
    match kind {
        TtOp::Return => functions::ret(cx, op),
        TtOp::Call => functions::call(cx, op),
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
        TtOp::GetProgramId => program(cx, op, Grid::ProgramId),
        TtOp::GetNumPrograms => program(cx, op, Grid::NumPrograms),
        TtOp::ElementwiseInlineAsm => inline_asm::lower(cx, op),
        TtOp::GridDependencyWait => cx.machine.grid_dependency(cx, op, true),
        TtOp::GridDependencyLaunchDependents => cx.machine.grid_dependency(cx, op, false),
        TtOp::Print => debug::print(cx, op),
        TtOp::Assert => debug::assert(cx, op, cx.ir.str_attr(op, "message").unwrap_or_default()),
        TtOp::Reduce => reduce::lower(cx, op),
        TtOp::Scan => scan::lower(cx, op),
        TtOp::MapElementwise => map_elementwise::lower(cx, op),
        TtOp::Histogram => histogram::lower(cx, op),
        TtOp::Gather => gather::lower(cx, op),
        TtOp::Dot => dot::lower(cx, op),
        // Lowered with the operation around them.
        TtOp::ReduceReturn | TtOp::ScanReturn | TtOp::MapElementwiseReturn => {
            Err(defect("a region's end was reached on its own"))
        }
        TtOp::Func
        | TtOp::DotScaled
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
        // What comes later may use the memory: the allocation has seen to that.
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

/// Whether a value is the constant whose bits are 0 in every element.
pub(crate) fn is_zero(cx: &Lower<'_, '_>, value: Value) -> bool {
    constant_bits(cx, value) == Some(0)
}

/// The bits of a constant, scalar or splat.
pub(crate) fn constant_bits(cx: &Lower<'_, '_>, value: Value) -> Option<u64> {
    let constant = cx.ir.def_op(value).filter(|&op| cx.ir.is(op, ArithOp::Constant))?;
    cx.ir.attr(constant, "value").and_then(Attr::splat_value)
}

/// Computes every register of the result from the same registers of the operands. A scalar operand beside tensors
/// counts for all registers. Registers that axis analysis knows to be equal are computed once: `offs < n` of eight
/// neighbours, where 8 divides `n` and the first of them.
fn elementwise<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    mut element: impl FnMut(&mut Lower<'c, '_>, &[Val<'c>]) -> Res<Val<'c>>,
) -> Res<()> {
    let result = cx.ir.result(op);
    let count = Lower::num_regs(cx.ir.ty(result))?;
    let operands = cx.ir.operands(op).iter().map(|&v| cx.get(v)).collect::<Res<Vec<_>>>()?;
    let equal = equal_registers(cx, result)?;
    let mut regs: Vec<Val<'c>> = Vec::with_capacity(count);
    let mut args = Vec::with_capacity(operands.len());
    for i in 0..count {
        if let Some(&first) = equal.get(i).filter(|&&first| first < i) {
            regs.push(regs[first]);
            continue;
        }
        args.clear();
        for operand in &operands {
            let reg = if operand.len() == 1 { operand.first() } else { operand.get(i) };
            args.push(*reg.ok_or_else(|| defect("operands of different sizes"))?);
        }
        regs.push(element(cx, &args)?);
    }
    cx.set(result, regs);
    Ok(())
}

/// For each register the first one that holds the same value in every thread; empty where nothing is known.
///
/// Coordinates of registers differ from those of the thread's first register by exclusive or, so two registers lie in
/// the same aligned run of `constancy` elements if their offsets agree above its bits.
fn equal_registers(cx: &Lower<'_, '_>, value: Value) -> Res<Vec<usize>> {
    let ty = cx.ir.ty(value);
    let Some(info) = cx.axis.get(value).filter(|i| ty.is_tensor() && i.constancy.iter().any(|&c| c > 1)) else {
        return Ok(vec![]);
    };
    let runs: Vec<i32> =
        info.constancy.iter().map(|&c| if c > 0 { 1 << c.trailing_zeros().min(30) } else { 1 }).collect();
    let mut seen: BTreeMap<Vec<i32>, usize> = BTreeMap::new();
    let offsets = register_offsets(Lower::layout(ty)?);
    Ok(offsets
        .iter()
        .enumerate()
        .map(|(i, offset)| {
            let run = offset.iter().zip(&runs).map(|(&o, &r)| o & !(r - 1)).collect();
            *seen.entry(run).or_insert(i)
        })
        .collect())
}

/// `tt.get_program_id`, `tt.get_num_programs`
fn program(cx: &mut Lower<'_, '_>, op: Op, what: Grid) -> Res<()> {
    let Some(axis) = cx.ir.enum_attr::<ProgramDim>(op, "axis") else {
        return Err(cx.unsupported(op, "the grid has three dimensions"));
    };
    let value = cx.machine.grid(cx, what, axis)?;
    cx.set(cx.ir.result(op), vec![value.into()]);
    Ok(())
}

/// `llvm.intr.assume`
fn assume(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let condition = cx.scalar(cx.ir.operand(op, 0))?;
    cx.effect("llvm.assume", &[], &[condition])
}
