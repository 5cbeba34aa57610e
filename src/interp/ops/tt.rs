//! The `tt` dialect. It sends each operation to its family; the short ones are here.

use super::super::access::Site;
use super::super::fault::{self, Fault};
use super::super::memory::pointee_size;
use super::super::numbers::{self, mask, width};
use super::super::program::Program;
use super::super::undef::{self, Use};
use super::super::value::{Lanes, Val, coordinates};
use super::arith::{float1, float2};
use super::{arith, atomics, block, combine, control, convert, dot, index, libdevice, print, scaled, shape};
use crate::diag::codes::interp as codes;
use crate::ir::dialects::enums::{FpRounding, PropagateNan};
use crate::ir::dialects::tt::tt as view;
use crate::ir::{Op, TtOp, Type};

pub(crate) fn eval(p: &mut Program<'_>, op: Op, kind: TtOp) -> Result<(), Fault> {
    let ir = p.ir;
    let ty = ir.results(op).first().map(|&r| ir.ty(r));
    let one = |p: &mut Program<'_>, v: Val| {
        p.set(ir.result(op), v);
        Ok(())
    };
    // The result's type, for operations that have one.
    let t = ty.unwrap_or_else(Type::index);
    match kind {
        TtOp::Func | TtOp::Return | TtOp::ReduceReturn | TtOp::ScanReturn | TtOp::MapElementwiseReturn => Ok(()),
        // These order the kernels of one stream, and there is only this one.
        TtOp::GridDependencyWait | TtOp::GridDependencyLaunchDependents => Ok(()),
        TtOp::Call => control::call(p, op),
        TtOp::IntToPtr | TtOp::PtrToInt | TtOp::Bitcast | TtOp::ExpandDims | TtOp::Reshape => {
            let [same] = p.operands(op);
            one(p, same)
        }
        TtOp::FpToFp => {
            let cast = view::FpToFp(op);
            let rtz = cast.rounding(ir) == Some(FpRounding::Rtz);
            let src = cast.src(ir);
            one(p, convert::fp_to_fp(ir.ty(src), t, &p.get(src).lanes, rtz).into())
        }
        TtOp::Clampf => one(p, clampf(p, op, t)),
        TtOp::PreciseSqrt => {
            let [x] = p.operands(op);
            one(p, float1(t, &x.lanes, f32::sqrt, f64::sqrt).into())
        }
        TtOp::PreciseDivf | TtOp::ApproxDivf => {
            let [x, y] = p.operands(op);
            one(p, float2(t, &x.lanes, &y.lanes, |x, y| x / y, |x, y| x / y).into())
        }
        TtOp::Mulhiui => {
            let w = width(t);
            let high = |x: u64, y: u64| ((u128::from(x) * u128::from(y)) >> w) as u64 & mask(w);
            let [x, y] = p.operands(op);
            one(p, x.lanes.zip(&y.lanes, high).into())
        }
        TtOp::Addptr => one(p, index::addptr(p, op, pointee_size(ir.ty(view::Addptr(op).ptr(ir))) as u64)),
        TtOp::Load => one(p, load(p, op, t)?),
        TtOp::Store => store(p, op),
        TtOp::AtomicRmw => {
            let old = atomics::rmw(p, op)?;
            one(p, old)
        }
        TtOp::AtomicCas => {
            let old = atomics::cas(p, op)?;
            one(p, old)
        }
        TtOp::AtomicLoad => {
            let seen = atomics::load(p, op)?;
            one(p, seen)
        }
        TtOp::AtomicStore => atomics::store(p, op),
        TtOp::AtomicPoll => {
            let arrived = atomics::poll(p, op)?;
            one(p, arrived)
        }
        TtOp::Splat | TtOp::Unsplat => {
            let [v] = p.operands(op);
            one(p, v.rearrange(1, |_| 0).into_splat())
        }
        TtOp::Broadcast => one(p, shape::broadcast(p, view::Broadcast(op).src(ir), t)),
        TtOp::Trans => {
            one(p, shape::trans(p, view::Trans(op).src(ir), view::Trans(op).order(ir).unwrap_or_default(), t))
        }
        TtOp::Cat => one(p, shape::cat(p.operands(op), t.num_elements() as usize / 2)),
        TtOp::Join => one(p, shape::join(p.operands(op), t.num_elements() as usize / 2)),
        TtOp::Split => {
            let [whole] = p.operands(op);
            p.set_results(op, shape::split(&whole, t.num_elements() as usize));
            Ok(())
        }
        TtOp::GetProgramId => {
            let axis = view::GetProgramId(op).axis(ir).map_or(0, |axis| axis as usize);
            one(p, Val::splat(u64::from(p.pid[axis])))
        }
        TtOp::GetNumPrograms => {
            let axis = view::GetNumPrograms(op).axis(ir).map_or(0, |axis| axis as usize);
            one(p, Val::splat(u64::from(p.shared.grid[axis])))
        }
        TtOp::Dot => {
            let dot = view::Dot(op);
            let sum = p.get(dot.c(ir));
            one(p, dot::dot(p, op, [dot.a(ir), dot.b(ir)], sum, dot.inputPrecision(ir))?)
        }
        TtOp::DotScaled => one(p, scaled::dot_scaled(p, op)?),
        TtOp::Reduce => combine::reduce(p, op),
        TtOp::Scan => combine::scan(p, op),
        TtOp::MapElementwise => combine::map_elementwise(p, op),
        TtOp::ExternElementwise => one(p, libdevice::call(p, op)?),
        TtOp::MakeRange => {
            let start = view::MakeRange(op).start(ir).unwrap_or(0);
            let m = mask(width(t));
            one(p, Val::full((0..t.num_elements()).map(|i| (start + i) as u64 & m).collect()))
        }
        TtOp::ElementwiseInlineAsm => Err(p.unsupported(op, "inline assembly has no meaning on a CPU")),
        TtOp::Histogram => {
            let count = view::Histogram(op);
            one(p, shape::count(p, op, count.src(ir), count.mask(ir), t.num_elements() as usize)?)
        }
        TtOp::Gather => {
            let gather = view::Gather(op);
            let axis = gather.axis(ir).unwrap_or(0) as usize;
            one(p, shape::pick(p, op, [gather.src(ir), gather.indices(ir)], axis)?)
        }
        TtOp::Print => {
            print::print(p, op);
            Ok(())
        }
        TtOp::Assert => assert(p, op),
        TtOp::MakeTensorDesc => one(p, block::make_descriptor(p, op)?),
        TtOp::DescriptorLoad => one(p, block::descriptor_load(p, op)?),
        TtOp::DescriptorStore => block::descriptor_store(p, op),
        TtOp::DescriptorReduce => block::descriptor_reduce(p, op),
        TtOp::DescriptorGather => one(p, block::descriptor_gather(p, op)?),
        TtOp::DescriptorScatter => block::descriptor_scatter(p, op),
        TtOp::MakeTensorPtr => one(p, block::make_pointer(p, op)?),
        TtOp::Advance => one(p, block::advance(p, op)?),
    }
}

/// min(max(x, low), high). A NaN stays where it is propagated, and becomes `low` otherwise.
fn clampf(p: &Program<'_>, op: Op, ty: Type) -> Val {
    let [x, low, high] = p.operands(op).map(|v: Val| v.lanes);
    let propagate = view::Clampf(op).propagateNan(p.ir) == Some(PropagateNan::All);
    let raised = arith::extremum(ty, &x, &low, true, propagate);
    arith::extremum(ty, &raised, &high, false, propagate).into()
}

fn load(p: &Program<'_>, op: Op, ty: Type) -> Result<Val, Fault> {
    let view = view::Load(op);
    let ptr = p.get(view.ptr(p.ir));
    if let Lanes::Block(b) = &ptr.lanes {
        return block::load(p, op, b);
    }
    let (mask, other) = (p.optional(view.mask(p.ir)), p.optional(view.other(p.ir)));
    let pointers = p.ir.ty(view.ptr(p.ir));
    let site = Site { op, size: pointee_size(pointers), shape: pointers.shape() };
    let v = p.load(&site, &ptr, mask.as_ref(), other.as_ref(), ty.num_elements() as usize)?;
    let w = width(ty);
    Ok(if w < site.size as u32 * 8 { Val { lanes: v.lanes.map(|x| x & numbers::mask(w)), ..v } } else { v })
}

fn store(p: &Program<'_>, op: Op) -> Result<(), Fault> {
    let view = view::Store(op);
    let (ptr, value) = (p.get(view.ptr(p.ir)), p.get(view.value(p.ir)));
    if let Lanes::Block(b) = &ptr.lanes {
        return block::store(p, op, b, &value);
    }
    let mask = p.optional(view.mask(p.ir));
    let pointers = p.ir.ty(view.ptr(p.ir));
    let site = Site { op, size: pointee_size(pointers), shape: pointers.shape() };
    p.store(&site, &ptr, &value, mask.as_ref(), pointers.num_elements() as usize)
}

fn assert(p: &Program<'_>, op: Op) -> Result<(), Fault> {
    let condition = view::Assert(op).condition(p.ir);
    let (v, shape) = (p.get(condition), p.ir.ty(condition).shape());
    if let Some(lane) = v.undef.as_ref().and_then(|u| (0..u.lanes.len()).find(|&l| u.at(l))) {
        p.defined(op, &v, lane, shape, Use::Condition)?;
    }
    let Some(lane) = undef::position(&v, |c| c & 1 == 0) else { return Ok(()) };
    let mut message = format!("assertion failed: {}", view::Assert(op).message(p.ir).unwrap_or_default());
    if !shape.is_empty() {
        message = format!("{message}, at tensor index {}", fault::tuple(&coordinates(shape, lane)));
    }
    p.report(op, &codes::ASSERTION, || p.fault(op, &codes::ASSERTION, message, "asserted here"))
}
