//! `ttc-loads-to-tma`, ttc's own: loads of rectangles through tensors of pointers become loads through tensor
//! descriptors, which hardware performs (TMA), one instruction a tile.
//!
//! Triton leaves it to the author to write `tl.make_tensor_descriptor`. Here the compiler proves that a plain load is
//! one of those. A load for which the proof fails stays as it is, and a remark says why.
//!
//! # Algorithm
//!
//! For each load of a tensor in a kernel:
//!
//! 1. Its array must be a parameter that the kernel does not write: hardware reads through another proxy, which does
//!    not see what threads have just written (PTX ISA, "Proxies"). As for loads that the pipeliner moves, arrays of
//!    different parameters are taken not to overlap where one of them is written. A kernel that waits for what others
//!    write meanwhile (it uses results of atomic operations, or reads volatile memory) keeps its loads.
//! 2. Its addresses are sums of indices times strides ([`forms`], with [`bounds`]), its mask is taken apart
//!    ([`masks`]), and both together are a rectangle of a strided array ([`rectangle`]). Where the mask asks more than
//!    that, or leaves other elements than zero, the loaded block is selected from under the mask again.
//! 3. Rows that wrap around (`% M`) may be read as zeros instead if nobody sees them ([`rows`]).
//! 4. The descriptor is made in front of the loops, once for all loads that have the same; the load becomes
//!    `tt.descriptor_load` of it, transposed if the contiguous axis is not the last one ([`emit`]). With the option
//!    `launch`, a descriptor that follows from the kernel's parameters alone is one more parameter, which the launch
//!    makes.
//! 5. Pointers that loops carried for these loads alone are dropped ([`carried`]).
//!
//! A compilation asks for the loads of loops that gain by it: those whose warp groups then run apart
//! ([`DRIFTING_WARPS`]), and those that compute the addresses of all operands of their products ([`COMPUTED_ROW`]), or
//! that carry them, where the launch makes the descriptors. Loops of one stage never do ([`NUM_STAGES_OPTION`]).
//!
//! ```text
//! for k in range(0, cdiv(K, 64)):
//!     a = tl.load(a_ptrs, mask=rk[None, :] < K - k * 64, other=0.0)      a_ptrs = a + rm[:, None] * s + rk[None, :]
//!     a_ptrs += 64
//! → d = tl.make_tensor_descriptor(a + m * s, [M - m, K], [s, 1], [128, 64])
//!   for k in range(0, cdiv(K, 64)):
//!       a = d.load([0, k * 64])
//! ```

mod carried;
mod emit;
mod masks;
mod rectangle;
mod rows;

use std::collections::BTreeSet;

use self::masks::Term;
use self::rectangle::{Access, Place, Rectangle};
use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::analysis::chained_products;
use crate::analysis::forms::Forms;
use crate::analysis::forms::why::Why;
use crate::analysis::touched::{self, Touched};
use crate::analysis::trips::trips;
use crate::diag::codes::passes as codes;
use crate::ir::core::{Builder, Dominance, Ir, Op, Type, Value, ValueDef};
use crate::ir::dialects::discardable::{FLATTEN, NUM_STAGES};
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, OpKind, Traits, TtOp};
use crate::ir::rewrite::fold;
use crate::passes::common::canonicalize::canonicalize;
use crate::passes::common::cse;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-loads-to-tma",
    doc: "loads of rectangles become loads through tensor descriptors",
    input: Input::Ttir,
    options: &[
        OptionSpec {
            name: PRODUCTS,
            kind: OptionKind::Bool,
            default: "false",
            doc: "only loads whose values go into matrix products",
        },
        OptionSpec { name: ONCE, kind: OptionKind::Bool, default: "true", doc: "loads outside of loops too" },
        OptionSpec {
            name: LEAST_ROW,
            kind: OptionKind::Int,
            default: "16",
            doc: "bytes that a row of a tile must have",
        },
        OptionSpec {
            name: DRIFTING_WARPS,
            kind: OptionKind::Int,
            default: "0",
            doc: "unless 0, only loads of 16-bit numbers in loops in which groups of so many warps may run apart",
        },
        OptionSpec {
            name: COMPUTED_ROW,
            kind: OptionKind::Int,
            default: "0",
            doc: "unless 0, only loads of 16-bit numbers with rows of so many bytes whose addresses a loop computes anew, \
                  or with `launch` any operands with such rows; with the option before, the loads of either",
        },
        OptionSpec {
            name: NUM_STAGES_OPTION,
            kind: OptionKind::Int,
            default: "3",
            doc: "stages of loops that state none: with one of the two options before, only loads of loops with several",
        },
        OptionSpec { name: WARPS, kind: OptionKind::Int, default: "4", doc: "warps that share a product" },
        OptionSpec {
            name: LAUNCH,
            kind: OptionKind::Bool,
            default: "false",
            doc: "descriptors that follow from parameters become parameters, which the launch makes",
        },
        OptionSpec { name: DEVICE, kind: OptionKind::Bool, default: "true", doc: "the kernel makes descriptors" },
    ],
    run,
};

pub const PRODUCTS: &str = "products";
pub const ONCE: &str = "once";
pub const LEAST_ROW: &str = "least-row";
pub const DRIFTING_WARPS: &str = "drifting-warps";
pub const COMPUTED_ROW: &str = "computed-row";
pub const NUM_STAGES_OPTION: &str = "num-stages";
pub const WARPS: &str = "num-warps";
pub const LAUNCH: &str = "launch";
pub const DEVICE: &str = "device";

/// Elements a thread between two products from which on it was measured that warp groups gain more from running apart
/// than a block loses while it makes descriptors, from about eight iterations on (docs/performance.md).
const LEAST_BETWEEN: i64 = 64;

/// The same where the launch makes the descriptors, in loops with two products: with more of them a slot is read by
/// several, and becomes free late.
const LEAST_BETWEEN_TWO: i64 = 32;

/// Elements of a product, all together and a thread, from which on it was measured that a loop gains more from
/// addresses that it need not compute than a block loses while it makes descriptors.
const LEAST_OF_TILE: i64 = 128 * 128;
const LEAST_OF_THREAD: i64 = 64;

/// Iterations below which it does not, where they are known.
const LEAST_TRIPS: i64 = 8;

/// What is known of a kernel.
struct Facts {
    axes: AxisInfoAnalysis,
    touched: Touched,
    /// Whether it may learn that somebody else has written memory.
    waits: bool,
}

/// What becomes of a load.
struct Plan {
    load: Op,
    rectangle: Rectangle,
    /// Whether the block is selected from under the load's mask.
    select: bool,
    /// The loop that gains only if all operands of its products become TMA, if the load is in such a one.
    whole: Option<Op>,
}

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let mut plans = vec![];
    for kernel in ir.functions().into_iter().filter(|&f| !ir.is_private(f)) {
        plans.extend(plan_kernel(ir, kernel, cx));
    }
    apply(ir, &plans);
    if !plans.is_empty() {
        carried::drop_unused(ir);
        let module = ir.module();
        canonicalize(ir, module);
        cse::eliminate(ir, module);
    }
    Ok(Changed::from(!plans.is_empty()))
}

fn plan_kernel(ir: &Ir, kernel: Op, cx: &mut PassCx) -> Vec<Plan> {
    let loads: Vec<Op> = ir
        .all_ops(kernel)
        .into_iter()
        .filter(|&op| ir.is(op, TtOp::Load) && ir.ty(ir.result(op)).is_tensor())
        .collect();
    let has_use = !cx.flag(PRODUCTS) || ir.all_ops(kernel).into_iter().any(|op| ir.kind(op).is_product());
    if loads.is_empty() || !has_use {
        return vec![];
    }
    let facts = Facts {
        axes: AxisInfoAnalysis::new(ir, kernel),
        touched: touched::of_kernel(ir, kernel),
        waits: touched::may_wait(ir),
    };
    let (mut at_launch, mut forms) = (Forms::new(ir), Forms::new(ir));
    at_launch.divisors_count = true;
    let mut planned: Vec<(Op, Result<Plan, Why>)> = vec![];
    for load in loads {
        if cx.flag(LAUNCH) {
            match plan_for_launch(&mut at_launch, &facts, load, cx) {
                Ok(plan) => {
                    planned.push((load, Ok(plan)));
                    continue;
                }
                Err(Why(why)) => {
                    let message = format!("the launch makes no tensor map for the load: {why}");
                    cx.remark(&codes::TMA_LOAD, ir.loc(load), message);
                }
            }
        }
        planned.push((load, plan(&mut forms, &facts, load, cx)));
    }
    let becomes: BTreeSet<Op> = planned.iter().filter(|(_, plan)| plan.is_ok()).map(|&(load, _)| load).collect();
    let is_whole =
        |plan: &Plan| plan.whole.is_none_or(|looped| operands_of(ir, looped).all(|load| becomes.contains(&load)));
    let mut plans = vec![];
    for (load, plan) in planned {
        let alone = Why("another operand of the loop's products does not");
        match plan.and_then(|plan| if is_whole(&plan) { Ok(plan) } else { Err(alone) }) {
            Ok(plan) => {
                let whose = match plan.rectangle.place {
                    Place::Before(_) => "",
                    Place::Launch => ", whose tensor map the launch makes",
                };
                cx.remark(&codes::TMA_LOAD, ir.loc(load), format!("the load becomes a copy by hardware (TMA){whose}"));
                plans.push(plan);
            }
            Err(Why(why)) => {
                cx.remark(&codes::TMA_LOAD, ir.loc(load), format!("the load does not become TMA: {why}"));
            }
        }
    }
    plans
}

/// The loads of a loop that feed matrix products.
fn operands_of(ir: &Ir, looped: Op) -> impl Iterator<Item = Op> {
    let loads = ir.all_ops(looped).into_iter().filter(|&op| ir.is(op, TtOp::Load) && ir.ty(ir.result(op)).is_tensor());
    loads.filter(move |&op| feeds_product(ir, ir.result(op)))
}

/// The plan with a descriptor that the launch makes.
fn plan_for_launch(forms: &mut Forms<'_>, facts: &Facts, op: Op, cx: &PassCx) -> Result<Plan, Why> {
    let ir = forms.ir;
    if cx.flag(PRODUCTS) && !feeds_product(ir, ir.result(op)) {
        return Err(NO_PRODUCT);
    }
    if is_too_early(ir, op, cx) {
        return Err(NOT_PIPELINED);
    }
    let (drifting, row) = (u32::try_from(cx.int(DRIFTING_WARPS)).unwrap_or(0), cx.int(COMPUTED_ROW));
    let looped = chained_products::loop_around(ir, op);
    let whole = looped.filter(|&looped| row > 0 && chained_products::waited_for(ir, looped).is_empty());
    if whole.is_none() && drifting > 0 {
        let two = looped.is_some_and(|looped| chained_products::products(ir, looped).len() == 2);
        if !gains_from_drift(ir, op, drifting, if two { LEAST_BETWEEN_TWO } else { LEAST_BETWEEN }) {
            return Err(Why("products of its loop wait for one another, with too little to do between them"));
        }
    }
    let least_row = if whole.is_some() { row } else { cx.int(LEAST_ROW) };
    let plan = prove(forms, facts, op, cx, least_row, rectangle::prove_at_launch)?;
    Ok(Plan { whole, ..plan })
}

const NO_PRODUCT: Why = Why("it feeds no matrix product");
const NOT_PIPELINED: Why =
    Why("its loop has one stage, in which each iteration would wait for the copy that it begins");

/// Whether only loops are wanted that gain, and this load is in none that may: without several stages a copy does not
/// run ahead, while the values of other loads may come before they are needed.
fn is_too_early(ir: &Ir, load: Op, cx: &PassCx) -> bool {
    let chooses = cx.int(DRIFTING_WARPS) > 0 || cx.int(COMPUTED_ROW) > 0;
    let stages = |looped| ir.get(looped, NUM_STAGES).unwrap_or(cx.int(NUM_STAGES_OPTION));
    chooses && chained_products::loop_around(ir, load).is_some_and(|looped| stages(looped) < 2)
}

/// The plan with a descriptor that the kernel makes.
fn plan(forms: &mut Forms<'_>, facts: &Facts, op: Op, cx: &PassCx) -> Result<Plan, Why> {
    let ir = forms.ir;
    if cx.flag(PRODUCTS) && !feeds_product(ir, ir.result(op)) {
        return Err(NO_PRODUCT);
    }
    if !cx.flag(DEVICE) {
        return Err(Why("the kernel makes no descriptors on this GPU, or with these options"));
    }
    if is_too_early(ir, op, cx) {
        return Err(NOT_PIPELINED);
    }
    let (drifting, least_computed) = (u32::try_from(cx.int(DRIFTING_WARPS)).unwrap_or(0), cx.int(COMPUTED_ROW));
    let drifts = drifting > 0 && gains_from_drift(ir, op, drifting, LEAST_BETWEEN);
    let computed_in = if drifts || least_computed == 0 { None } else { computed_in(ir, op, cx.int(WARPS)) };
    if (drifting > 0 || least_computed > 0) && !drifts && computed_in.is_none() {
        return Err(Why(
            "it is no operand of 16 bits in a loop that computes its addresses, or in one with much to do between \
             products that wait for one another",
        ));
    }
    let least_row = if computed_in.is_some() { least_computed } else { cx.int(LEAST_ROW) };
    let plan = prove(forms, facts, op, cx, least_row, rectangle::prove)?;
    Ok(Plan { whole: computed_in, ..plan })
}

/// A proof that an access is one through a descriptor.
type Proof = fn(&mut Forms<'_>, &AxisInfoAnalysis, &Access<'_>) -> Result<Rectangle, Why>;

/// Steps 1 to 3.
fn prove(forms: &mut Forms<'_>, facts: &Facts, op: Op, cx: &PassCx, least_row: i64, proof: Proof) -> Result<Plan, Why> {
    let (ir, load) = (forms.ir, tt::Load(op));
    if facts.waits {
        return Err(Why("the kernel may wait for what others write while it runs"));
    }
    let form = forms.of(load.ptr(ir))?;
    check_unwritten(ir, &facts.touched, form.base)?;
    let terms = masks::terms(forms, load.mask(ir));
    let access = Access {
        op,
        pointer: load.ptr(ir),
        terms: &terms,
        once: cx.flag(ONCE),
        least_rank: if cx.flag(PRODUCTS) { 2 } else { 1 },
        least_row,
    };
    let rectangle = proof(forms, &facts.axes, &access)?;
    for limit in &form.limits {
        let masked = terms.contains(&Term::Below { axis: limit.axis, end: limit.below.clone() });
        if !masked && !rows::are_unseen(forms, ir.result(op), limit) {
            return Err(Why("elements at indices that wrap around may be seen"));
        }
        if !rows::is_unseen_below(forms, ir.result(op), limit.axis, &limit.negative) {
            return Err(Why("an index may be negative where it wraps around"));
        }
    }
    let zero = load.other(ir).is_none_or(|other| fold::has_no_bits(ir, other));
    let select = load.other(ir).is_some() && !(zero && rectangle.is_exact);
    Ok(Plan { load: op, rectangle, select, whole: None })
}

/// The loop around a load of 16-bit numbers that computes its addresses in each iteration, instead of carrying
/// pointers, if a product of it is large enough and none waits for another. Those computations are what a descriptor
/// saves. The loop is in another one: a block that computes one tile lost more while it made descriptors.
fn computed_in(ir: &Ir, load: Op, warps: i64) -> Option<Op> {
    let looped = chained_products::loop_around(ir, load)?;
    let ValueDef::Result { op: from, .. } = ir.def(tt::Load(load).ptr(ir)) else { return None };
    let computes = ir.is_ancestor(looped, from) && from != looped && rectangle::is_in_loop(ir, looped);
    let is_flattened = chained_products::loop_around(ir, looped).is_some_and(|outer| ir.get(outer, FLATTEN).is_some());
    let is_narrow = ir.ty(ir.result(load)).elem().bit_width() == Some(16);
    let is_long = trips(ir, For(looped)).is_none_or(|trips| trips >= LEAST_TRIPS);
    let mut products = ir.all_ops(looped).into_iter().filter(|&op| ir.kind(op).is_product());
    // In one loop with what is around it, each iteration would also compute where the next tile begins.
    let least = if is_flattened { 0 } else { LEAST_OF_TILE.max(LEAST_OF_THREAD * 32 * warps) };
    let is_large = products.any(|op| ir.ty(ir.result(op)).num_elements() >= least);
    let waits = || !chained_products::waited_for(ir, looped).is_empty();
    (computes && is_narrow && is_long && is_large && !waits()).then_some(looped)
}

/// Whether a load is of 16-bit numbers, in a loop whose warp groups gain from running apart, by more than the
/// descriptor costs: a thread has `least` elements or more between two products.
fn gains_from_drift(ir: &Ir, load: Op, warps: u32, least: i64) -> bool {
    let Some(looped) = chained_products::loop_around(ir, load) else { return false };
    let waited_for = chained_products::waited_for(ir, looped);
    let elements: i64 = waited_for.into_iter().map(|op| ir.ty(ir.result(op)).num_elements()).sum();
    ir.ty(ir.result(load)).elem().bit_width() == Some(16)
        && elements >= least * i64::from(32 * warps)
        && chained_products::warps_may_drift(ir, looped, warps)
}

/// Step 1.
fn check_unwritten(ir: &Ir, touched: &Touched, base: Option<Value>) -> Result<(), Why> {
    let index =
        base.and_then(|v| ir.value_block(v).map(|b| (v, b))).and_then(|(v, b)| ir.args(b).iter().position(|&a| a == v));
    let written = index.and_then(|i| touched.parameters.get(i)).is_some_and(|t| t.writes);
    if written {
        return Err(Why("the kernel writes the array too"));
    }
    if touched.elsewhere.writes {
        return Err(Why("the kernel writes through addresses that come from no parameter"));
    }
    Ok(())
}

/// Whether a value is an operand of a matrix product, or what is computed of it element by element is.
fn feeds_product(ir: &Ir, value: Value) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([value]), vec![value]);
    while let Some(value) = open.pop() {
        for u in ir.uses(value) {
            let product = ir.is(u.op, TtOp::Dot) && u.index < 2 || ir.is(u.op, TtOp::DotScaled);
            if product {
                return true;
            }
            let view = match ir.kind(u.op) {
                OpKind::Tt(kind) => matches!(kind, TtOp::Trans | TtOp::Reshape | TtOp::FpToFp | TtOp::Bitcast),
                kind => kind.has(Traits::ELEMENTWISE),
            };
            if view {
                open.extend(ir.results(u.op).iter().filter(|&&r| seen.insert(r)));
            }
        }
    }
    false
}

/// Step 4.
fn apply(ir: &mut Ir, plans: &[Plan]) {
    let mut made: Vec<(&Rectangle, Type, Value)> = vec![];
    for plan in plans {
        let (load, r) = (tt::Load(plan.load), &plan.rectangle);
        let ty = ir.ty(ir.result(plan.load));
        let dominance = Dominance::new();
        let known = made.iter().find(|(other, elem, value)| {
            let is_there = match r.place {
                Place::Before(place) => dominance.value_dominates(ir, *value, place),
                Place::Launch => other.place == Place::Launch,
            };
            describes_same(other, r) && *elem == ty.elem() && is_there
        });
        let descriptor = known.map_or_else(|| emit::descriptor(ir, r, plan.load, ty.elem()), |k| k.2);
        made.push((r, ty.elem(), descriptor));
        let mut b = Builder::before(ir, plan.load);
        let mut value = emit::load(&mut b, r, descriptor, ty);
        if let (true, Some(mask), Some(other)) = (plan.select, load.mask(b.ir), load.other(b.ir)) {
            value = b.value(ArithOp::Select, &[mask, value, other], ty);
        }
        ir.replace_op(plan.load, &[value]);
    }
}

/// Whether two rectangles have equal descriptors, wherever these are made.
fn describes_same(a: &Rectangle, b: &Rectangle) -> bool {
    let axes =
        |r: &Rectangle| -> Vec<_> { r.axes.iter().map(|x| (x.size, x.stride.clone(), x.extents.clone())).collect() };
    a.base == b.base && a.shift == b.shift && axes(a) == axes(b)
}
