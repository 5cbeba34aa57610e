//! `ttc-multiples`: a kernel gets a copy for launches whose integers are multiples of 16.
//!
//! A row of a matrix starts at `row * stride`. Nothing is known of `stride` if the signature does not say `i32:16`, so
//! that each element of the row is loaded by itself. Yet most strides and sizes are multiples of 16. Triton compiles a
//! kernel again for each such set of arguments; a kernel that is compiled ahead of time looks at them when it runs.
//!
//! # Algorithm
//!
//! Of each kernel that is one block of operations, without products, buffers, descriptors and calls, and with no more
//! than [`MOST_OPS`] operations:
//!
//! 1. Analyse the axes as they are, and as if each integer parameter were a multiple of 16. For each load and store of
//!    a tensor, see how many elements a thread could access at once.
//! 2. If that saves [`LEAST`] accesses of a thread or more, in loops if there are any, find the parameters that it
//!    takes: those without which it would be less anywhere.
//! 3. Put the body into the second side of an `scf.if` whose condition is that all of these are multiples, and a copy
//!    into the first. There each is `parameter & -16`, which is the same number, and is known to be a multiple.
//!
//! Masks alone are left to `ttc-whole-vectors`, whose copies need no multiples.
//!
//! # Example
//!
//! ```text
//! %at = arith.muli %row, %stride       %low = arith.andi %stride, 15
//! ..                                   %multiple = arith.cmpi eq, %low, 0
//!                               →      %known = arith.andi %stride, -16
//!                                      scf.if %multiple { %at = arith.muli %row, %known .. } else { what it was }
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::axis_info::{AxisInfo, AxisInfoAnalysis};
use crate::ir::core::{Builder, Ir, Mapping, Op, Type, Value};
use crate::ir::dialects::classes::moved_tensor;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, TtOp};
use crate::passes::common::copy::copy_under;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};

/// Warps of a block, and threads of a warp.
pub const WARPS: &str = "num-warps";
pub const LANES: &str = "threads-per-warp";

pub static PASS: Pass = Pass {
    name: "ttc-multiples",
    doc: "copy kernels for launches whose integers are multiples of 16",
    input: Input::Ttir,
    options: &[
        OptionSpec { name: WARPS, kind: OptionKind::Int, default: "4", doc: "warps of a block" },
        OptionSpec { name: LANES, kind: OptionKind::Int, default: "32", doc: "threads of a warp" },
    ],
    run,
};

/// What a parameter should be a multiple of, as in Triton's signatures.
const MULTIPLE: i64 = 16;

/// Bytes that a thread accesses at once at most.
const WIDEST: i64 = 16;

/// Longer kernels are not copied, nor those whose threads hold more elements of a tensor.
const MOST_OPS: usize = 200;
const MOST_ELEMENTS: i64 = 64;

/// The fewest accesses of a thread that a copy must save.
const LEAST: i64 = 3;

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let threads = cx.int(WARPS).max(1) * cx.int(LANES).max(1);
    let kernels: Vec<Op> = ir.functions().into_iter().filter(|&func| !ir.is_private(func)).collect();
    let mut changed = false;
    for kernel in kernels {
        let parameters = parameters(ir, kernel, threads);
        if !parameters.is_empty() {
            copy(ir, kernel, &parameters);
            changed = true;
        }
    }
    Ok(Changed::from(changed))
}

/// Steps 1 and 2: the parameters that are to be multiples; none if a copy is not worth it.
fn parameters(ir: &Ir, kernel: Op, threads: i64) -> Vec<Value> {
    let accesses = accesses(ir, kernel);
    if accesses.is_empty() || !may_be_copied(ir, kernel, threads) {
        return vec![];
    }
    let now = AxisInfoAnalysis::new(ir, kernel);
    let vague: Vec<Value> = ir
        .body(kernel, 0)
        .map_or(&[][..], |body| ir.args(body))
        .iter()
        .copied()
        .filter(|&value| matches!(ir.ty(value).bit_width(), Some(32 | 64)) && ir.ty(value).is_int())
        .filter(|&value| now.get(value).is_some_and(|info| info.divisibility[0] % MULTIPLE != 0))
        .collect();
    let multiple = AxisInfo { contiguity: vec![1], divisibility: vec![MULTIPLE], constancy: vec![1], constant: None };
    let all: BTreeMap<Value, AxisInfo> = vague.iter().map(|&value| (value, multiple.clone())).collect();
    let then = AxisInfoAnalysis::assuming(ir, kernel, all.clone());
    let width = |axes: &AxisInfoAnalysis, access: &Access, masked: bool| access.width(ir, axes, threads, masked);
    let wider: Vec<&Access> =
        accesses.iter().filter(|access| width(&then, access, true) > width(&now, access, false)).collect();
    let has_loops = accesses.iter().any(|access| access.in_a_loop);
    let count = |axes: &AxisInfoAnalysis, counts: &dyn Fn(&Access) -> bool| -> i64 {
        let counted = wider.iter().filter(|access| counts(access));
        counted.map(|access| access.elements(ir, threads) / width(axes, access, true)).sum()
    };
    let often = |access: &Access| access.in_a_loop || !has_loops;
    if count(&now, &often) < count(&then, &often) + LEAST {
        return vec![];
    }
    let least = count(&then, &|_| true);
    let is_needed = |value: &Value| {
        let mut others = all.clone();
        others.remove(value);
        count(&AxisInfoAnalysis::assuming(ir, kernel, others), &|_| true) > least
    };
    vague.into_iter().filter(is_needed).collect()
}

/// A load or store of a tensor.
struct Access {
    ptr: Value,
    mask: Option<Value>,
    in_a_loop: bool,
}

impl Access {
    fn of(ir: &Ir, op: Op, in_a_loop: bool) -> Option<Access> {
        let load = tt::Load::of(ir, op).map(|load| (load.ptr(ir), load.mask(ir)));
        let (ptr, mask) = load.or_else(|| tt::Store::of(ir, op).map(|store| (store.ptr(ir), store.mask(ir))))?;
        let ty = ir.ty(ptr);
        (ty.is_tensor() && ty.elem().is_ptr()).then_some(Access { ptr, mask, in_a_loop })
    }

    /// Elements of a thread.
    fn elements(&self, ir: &Ir, threads: i64) -> i64 {
        (ir.ty(self.ptr).shape().iter().product::<i64>() / threads).max(1)
    }

    /// Elements that a thread may access at once, along the most contiguous axis.
    fn width(&self, ir: &Ir, axes: &AxisInfoAnalysis, threads: i64, masked: bool) -> i64 {
        let Some(info) = axes.get(self.ptr) else { return 1 };
        let ty = ir.ty(self.ptr);
        let bytes = (ty.elem().pointee().and_then(Type::bit_width).map_or(1, i64::from) / 8).max(1);
        let Some(axis) = (0..info.rank()).max_by_key(|&axis| info.contiguity[axis]) else { return 1 };
        let mask = self.mask.filter(|_| masked).and_then(|mask| axes.get(mask)).filter(|mask| mask.rank() > axis);
        let equal = mask.map_or(i64::MAX, |mask| mask.constancy[axis]);
        let aligned = (info.divisibility[axis] / bytes).min(info.contiguity[axis]).min(equal);
        aligned.min(WIDEST / bytes).min(self.elements(ir, threads)).max(1)
    }
}

/// The accesses of a kernel.
fn accesses(ir: &Ir, kernel: Op) -> Vec<Access> {
    let all = ir.all_ops(kernel);
    let is_loop = |op: &Op| ir.is(*op, ScfOp::For) || ir.is(*op, ScfOp::While);
    let in_loops: BTreeSet<Op> = all.iter().filter(|op| is_loop(op)).flat_map(|&op| ir.all_ops(op)).collect();
    all.iter().filter_map(|&op| Access::of(ir, op, in_loops.contains(&op))).collect()
}

/// Whether a kernel may stand twice.
fn may_be_copied(ir: &Ir, kernel: Op, threads: i64) -> bool {
    let [region] = ir.regions_of(kernel) else { return false };
    let all = ir.all_ops(kernel);
    let is_plain = |&op: &Op| match ir.kind(op) {
        OpKind::Tt(kind) => !matches!(kind, TtOp::Dot | TtOp::DotScaled | TtOp::Call) && moved_tensor(ir, op).is_none(),
        OpKind::Arith(_) | OpKind::Math(_) | OpKind::Scf(_) => true,
        _ => false,
    };
    let is_short = |&op: &Op| {
        let tensors = ir.results(op).iter().map(|&value| ir.ty(value)).filter(|ty| ty.is_tensor());
        tensors.map(|ty| ty.shape().iter().product::<i64>()).max().unwrap_or(0) <= MOST_ELEMENTS * threads
    };
    let is_small = ir.blocks_of(*region).len() == 1 && all.len() <= MOST_OPS;
    is_small && all.iter().all(is_plain) && all.iter().all(is_short)
}

/// Step 3.
fn copy(ir: &mut Ir, kernel: Op, parameters: &[Value]) {
    let Some(body) = ir.body(kernel, 0) else { return };
    let Some((&end, moved)) = ir.op_list(body).split_last().map(|(end, moved)| (end, moved.to_vec())) else { return };
    let (Some(&first), mut map) = (moved.first(), Mapping::default()) else { return };
    let truth = Type::int(1);
    let mut b = Builder::before(ir, end);
    b.loc = b.ir.loc(first);
    let mut all: Option<Value> = None;
    for &parameter in parameters {
        let ty = b.ir.ty(parameter);
        let (low, zero, rest) = (b.int(MULTIPLE - 1, ty), b.int(0, ty), b.int(-MULTIPLE, ty));
        let low = b.value(ArithOp::Andi, &[parameter, low], ty);
        let multiple = b.cmpi(CmpiPredicate::Eq, low, zero);
        all = Some(all.map_or(multiple, |all| b.value(ArithOp::Andi, &[all, multiple], truth)));
        let known = b.value(ArithOp::Andi, &[parameter, rest], ty);
        map.map(parameter, known);
    }
    if let Some(condition) = all {
        copy_under(ir, condition, (&moved, &[]), end, &mut map);
    }
}
