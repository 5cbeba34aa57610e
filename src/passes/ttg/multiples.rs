//! `ttc-multiples`: a kernel gets a copy for launches whose integers are multiples of 2, 4, 8 or 16.
//!
//! A row of a matrix starts at `row * stride`. Nothing is known of `stride` if the signature does not say `i32:16`, so
//! that each element of the row is loaded by itself. Yet most strides and sizes are multiples of 16. Triton compiles a
//! kernel again for each such set of arguments; a kernel that is compiled ahead of time looks at them when it runs. It
//! asks for no more than it needs: 1000 is no multiple of 16, but rows of 1000 floats start at multiples of 16 bytes.
//!
//! # Algorithm
//!
//! Of each kernel that is one block of operations, without products, buffers, descriptors and calls, and with no more
//! than [`MOST_OPS`] operations:
//!
//! 1. Analyse the axes as they are, and as if each integer parameter were a multiple of 16. For each load and store of
//!    a tensor, see how many elements a thread could access at once.
//! 2. If that saves [`LEAST`] accesses of a thread or more, in loops if there are any, and not few beside those that
//!    are [scattered](Access::is_scattered), find the parameters that it takes: those without which it would be less
//!    anywhere.
//! 3. For one of these parameters after the other, find the least of 2, 4, 8 and 16 that will do: the [`Gains`] must be
//!    those that the kernel has if all of them are multiples of 16.
//! 4. Put the body into the second side of an `scf.if` whose condition is that all of these are such multiples, and a
//!    copy into the first. There each is `parameter & -4`, or as it may be, which is the same number, and is known to
//!    be a multiple.
//!
//! Masks alone are left to `ttc-whole-vectors`, whose copies need no multiples.
//!
//! # Example
//!
//! Rows of floats, of which a thread may load four at once if the stride is a multiple of four:
//!
//! ```text
//! %at = arith.muli %row, %stride       %low = arith.andi %stride, 3
//! ..                                   %multiple = arith.cmpi eq, %low, 0
//!                               →      %known = arith.andi %stride, -4
//!                                      scf.if %multiple { %at = arith.muli %row, %known .. } else { what it was }
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::coalesce::{accessed_pointer, order_by_contiguity};
use super::whole_groups;
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
    doc: "copy kernels for launches whose integers are multiples of 2, 4, 8 or 16",
    input: Input::Ttir,
    options: &[
        OptionSpec { name: WARPS, kind: OptionKind::Int, default: "4", doc: "warps of a block" },
        OptionSpec { name: LANES, kind: OptionKind::Int, default: "32", doc: "threads of a warp" },
    ],
    run,
};

/// What a parameter should be a multiple of, as in Triton's signatures.
const MULTIPLE: i64 = 16;

/// What a parameter is asked to be a multiple of, if that does as well.
const LESS: [i64; 3] = [2, 4, 8];

/// Bytes that a thread accesses at once at most.
const WIDEST: i64 = 16;

/// Longer kernels are not copied, nor those whose threads hold more elements of a tensor.
const MOST_OPS: usize = 200;
const MOST_ELEMENTS: i64 = 64;

/// The fewest accesses of a thread that a copy must save.
const LEAST: i64 = 3;

/// What part of its [scattered accesses](Access::is_scattered) a copy must save in others. With 12 for 144, a mean over
/// windows ran at 0.83 of its speed on an H200.
const LEAST_PART: i64 = 4;

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let threads = cx.int(WARPS).max(1) * cx.int(LANES).max(1);
    let kernels: Vec<Op> = ir.functions().into_iter().filter(|&func| !ir.is_private(func)).collect();
    let mut changed = false;
    for kernel in kernels {
        let multiples = multiples(ir, kernel, threads);
        if !multiples.is_empty() {
            copy(ir, kernel, &multiples);
            changed = true;
        }
    }
    Ok(Changed::from(changed))
}

/// Parameters, and what each is to be a multiple of.
type Multiples = BTreeMap<Value, i64>;

/// What would be known if parameters were such multiples.
fn known_with(ir: &Ir, kernel: Op, multiples: &Multiples) -> AxisInfoAnalysis {
    let fact = |&of: &i64| AxisInfo { divisibility: vec![of], ..AxisInfo::unknown(1) };
    AxisInfoAnalysis::assuming(ir, kernel, multiples.iter().map(|(&value, of)| (value, fact(of))).collect())
}

/// Steps 1 to 3: what parameters are to be multiples of; nothing if a copy is not worth it.
fn multiples(ir: &Ir, kernel: Op, threads: i64) -> Multiples {
    if !may_be_copied(ir, kernel, threads) {
        return Multiples::new();
    }
    let mut chosen = needed(ir, kernel, threads);
    let most = Gains::of(ir, kernel, threads, &chosen);
    for parameter in chosen.keys().copied().collect::<Vec<_>>() {
        for of in LESS {
            let less = with(&chosen, parameter, of);
            if Gains::of(ir, kernel, threads, &less) == most {
                chosen = less;
                break;
            }
        }
    }
    chosen
}

fn with(multiples: &Multiples, parameter: Value, of: i64) -> Multiples {
    let mut all = multiples.clone();
    all.insert(parameter, of);
    all
}

/// Steps 1 and 2: the parameters that are to be multiples of [`MULTIPLE`].
fn needed(ir: &Ir, kernel: Op, threads: i64) -> Multiples {
    let (accesses, now) = (accesses(ir, kernel), AxisInfoAnalysis::new(ir, kernel));
    let is_vague = |&value: &Value| {
        let is_integer = matches!(ir.ty(value).bit_width(), Some(32 | 64)) && ir.ty(value).is_int();
        is_integer && now.get(value).is_some_and(|info| info.divisibility[0] % MULTIPLE != 0)
    };
    let parameters = ir.body(kernel, 0).map_or(&[][..], |body| ir.args(body));
    let all: Multiples = parameters.iter().copied().filter(is_vague).map(|value| (value, MULTIPLE)).collect();
    let then = known_with(ir, kernel, &all);
    let width = |axes: &AxisInfoAnalysis, access: &Access, masked: bool| access.width(ir, axes, threads, masked);
    let wider: Vec<&Access> =
        accesses.iter().filter(|access| width(&then, access, true) > width(&now, access, false)).collect();
    let has_loops = accesses.iter().any(|access| access.in_a_loop);
    let count = |axes: &AxisInfoAnalysis, counts: &dyn Fn(&Access) -> bool| -> i64 {
        let counted = wider.iter().filter(|access| counts(access));
        counted.map(|access| access.elements(ir, threads) / width(axes, access, true)).sum()
    };
    let often = |access: &Access| access.in_a_loop || !has_loops;
    let saved = count(&now, &often) - count(&then, &often);
    let scattered = accesses.iter().filter(|access| often(access) && access.is_scattered(ir, &then, &wider));
    let scattered: i64 = scattered.map(|access| access.elements(ir, threads)).sum();
    if saved < LEAST || saved * LEAST_PART < scattered {
        return Multiples::new();
    }
    let least = count(&then, &|_| true);
    let is_needed = |value: &Value| {
        let others = all.iter().filter(|&(other, _)| other != value).map(|(&other, &of)| (other, of)).collect();
        count(&known_with(ir, kernel, &others), &|_| true) > least
    };
    all.iter().filter(|&(value, _)| is_needed(value)).map(|(&value, &of)| (value, of)).collect()
}

/// What a kernel gains from what is known of its parameters. With smaller multiples, it must gain the same.
#[derive(PartialEq, Eq, Debug)]
struct Gains {
    accesses: Vec<Gain>,
    /// How many equal results in a row divisions have, along each axis. A thread computes one of them.
    equal: Vec<Vec<i64>>,
    /// Loops whose number of turns becomes known.
    whole_groups: usize,
}

/// What layouts, and the widths of accesses in them, depend on.
#[derive(PartialEq, Eq, Debug)]
struct Gain {
    /// The axes, the most contiguous first.
    order: Vec<u32>,
    /// Elements that a thread may access at once, with and without the mask.
    width: i64,
    unmasked: i64,
    /// Elements that follow one another, wherever they start.
    run: i64,
}

impl Gains {
    fn of(ir: &Ir, kernel: Op, threads: i64, multiples: &Multiples) -> Gains {
        let (axes, ops) = (known_with(ir, kernel, multiples), ir.all_ops(kernel));
        let accesses: Vec<Gain> = ops.iter().filter_map(|&op| Gain::of(ir, &axes, op, threads)).collect();
        // No thread has more neighbours.
        let most = accesses.iter().map(|gain| gain.unmasked).max().unwrap_or(1);
        let divides = [ArithOp::Divsi, ArithOp::Divui, ArithOp::Remsi, ArithOp::Remui];
        let divisions = ops.iter().filter(|&&op| divides.iter().any(|&kind| ir.is(op, kind)));
        let equal = divisions.filter_map(|&op| axes.get(ir.result(op)));
        Gains {
            equal: equal.map(|info| info.constancy.iter().map(|&run| run.min(most)).collect()).collect(),
            whole_groups: whole_groups::count(ir, kernel, &axes),
            accesses,
        }
    }
}

impl Gain {
    /// That of an access through a tensor of pointers, atomic ones included.
    fn of(ir: &Ir, axes: &AxisInfoAnalysis, op: Op, threads: i64) -> Option<Gain> {
        let ptr = accessed_pointer(ir, op).filter(|&ptr| ir.ty(ptr).is_tensor() && ir.ty(ptr).elem().is_ptr())?;
        let is_mask = |&value: &Value| ir.ty(value).is_tensor() && ir.ty(value).elem().bit_width() == Some(1);
        let mask = ir.operands(op)[1..].iter().copied().rfind(is_mask);
        let (access, contiguity) = (Access { ptr, mask, in_a_loop: false }, &axes.get(ptr)?.contiguity);
        let order = order_by_contiguity(contiguity);
        let run = order.first().map_or(1, |&axis| contiguity[axis as usize]);
        Some(Gain {
            width: access.width(ir, axes, threads, true),
            unmasked: access.width(ir, axes, threads, false),
            run: run.min(access.most(ir, threads)),
            order,
        })
    }
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

    /// Whether no two elements follow one another or are the same, while a wider access is likely to have the same
    /// layout. Each thread then has neighbours along an axis, and accesses them one by one: a warp's elements are
    /// further apart, and touch more sectors. Of every second float, 32 threads with one each touch 8 sectors, and with
    /// four each 32.
    fn is_scattered(&self, ir: &Ir, axes: &AxisInfoAnalysis, wider: &[&Access]) -> bool {
        let shape = |access: &Access| ir.ty(access.ptr).shape();
        let is_single = |info: &AxisInfo| info.contiguity.iter().all(|&run| run == 1) && info.constancy.ends_with(&[1]);
        axes.get(self.ptr).is_some_and(is_single) && wider.iter().any(|other| shape(other) == shape(self))
    }

    /// Bytes of an element.
    fn bytes(&self, ir: &Ir) -> i64 {
        (ir.ty(self.ptr).elem().pointee().and_then(Type::bit_width).map_or(1, i64::from) / 8).max(1)
    }

    /// The most elements that a thread accesses at once, whatever is known.
    fn most(&self, ir: &Ir, threads: i64) -> i64 {
        (WIDEST / self.bytes(ir)).min(self.elements(ir, threads)).max(1)
    }

    /// Elements that a thread may access at once, along the most contiguous axis.
    fn width(&self, ir: &Ir, axes: &AxisInfoAnalysis, threads: i64, masked: bool) -> i64 {
        let Some(info) = axes.get(self.ptr) else { return 1 };
        let Some(axis) = (0..info.rank()).max_by_key(|&axis| info.contiguity[axis]) else { return 1 };
        let mask = self.mask.filter(|_| masked).and_then(|mask| axes.get(mask)).filter(|mask| mask.rank() > axis);
        let equal = mask.map_or(i64::MAX, |mask| mask.constancy[axis]);
        let aligned = (info.divisibility[axis] / self.bytes(ir)).min(info.contiguity[axis]).min(equal);
        aligned.min(self.most(ir, threads)).max(1)
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

/// Step 4.
fn copy(ir: &mut Ir, kernel: Op, multiples: &Multiples) {
    let Some(body) = ir.body(kernel, 0) else { return };
    let Some((&end, moved)) = ir.op_list(body).split_last().map(|(end, moved)| (end, moved.to_vec())) else { return };
    let (Some(&first), mut map) = (moved.first(), Mapping::default()) else { return };
    let truth = Type::int(1);
    let mut b = Builder::before(ir, end);
    b.loc = b.ir.loc(first);
    let mut all: Option<Value> = None;
    for (&parameter, &of) in multiples {
        let ty = b.ir.ty(parameter);
        let (low, zero, rest) = (b.int(of - 1, ty), b.int(0, ty), b.int(-of, ty));
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
