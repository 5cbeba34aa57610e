//! `ttc-whole-vectors`: code whose masks split vectors gets a copy for programs in which none does.
//!
//! `x = tl.load(p + offsets, mask=offsets < n)` may take four floats at once only if all four are below `n` or none is.
//! Nothing is known of `n`, so each element is loaded by itself. Yet in all programs but the last one the mask is true
//! everywhere, and in the last one it splits no vector if `n` is a multiple of four. Which of this holds is known as
//! soon as the program runs, and is the same for all its threads.
//!
//! # Algorithm
//!
//! Of each block of operations, outer ones first:
//!
//! 1. Find the accesses that would be wider without their masks, and whose masks are conjunctions of [bounds](Bound):
//!    comparisons of numbers that start at a scalar with another scalar. Other terms of a mask split no vector.
//! 2. The copy starts where the scalars are known that most is gained with. What is computed in front of that without
//!    any effect, and not for the scalars, moves behind it.
//!    Where all of that is inside of one `scf.if`, its sides are looked at instead. Loops are copied only for what is
//!    gained in them.
//! 3. All behind goes into the second side of an `scf.if`, and a copy of it into the first. The condition is that each
//!    bound is far away, or at a multiple of the vector ([`Bound::keeps_vectors_whole`]). In the copy, the comparisons
//!    say that as many elements are equal (`tt.constancy`).
//!
//! Code with products, or with buffers in shared memory, stays as it is, and so do more than [`MOST_OPS`] operations,
//! and code of whose accesses a copy would save only a few ([`LEAST_PART`]).
//!
//! # Example
//!
//! ```text
//! %s = arith.muli %pid, %c1024                   %s = arith.muli %pid, %c1024
//! %i = splat(%s) + range 0 to 1024               %far = arith.cmpi slt, %s, %n  and  %n - %s > 1023 (unsigned)
//! %m = arith.cmpi slt, %i, splat(%n)      →      %even = arith.cmpi eq, %n & 3, 0
//! %x = tt.load %p + %i, %m                       scf.if %far | %even { .. %m = arith.cmpi .. {tt.constancy = 4} .. }
//! tt.store %q + %i, %x, %m                       else { what it was }
//! ```

mod bounds;

use std::collections::BTreeSet;

use bounds::{Bound, Bounds, Terms};

use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::analysis::ranges::Ranges;
use crate::ir::core::{Block, Builder, Ir, Mapping, Op, Type, Value};
use crate::ir::dialects::discardable::{CONSTANCY, NUM_STAGES};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, TtOp, TtgOp};
use crate::ir::effects::is_speculatable;
use crate::layout;
use crate::passes::common::copy::copy_under;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-whole-vectors",
    doc: "copy code whose masks split vectors, for programs in which none does",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// More operations are not copied.
const MOST_OPS: usize = 300;

/// The fewest accesses of a thread that a copy must save.
const LEAST: u32 = 2;

/// The part of the accesses of the copied code that it must save. With a copy for 10 of 144 accesses, a kernel ran at
/// 0.55 of Triton's speed on an H200, and without it at 0.61; one for 31 of a hundred is worth it by the model of
/// waits.
const LEAST_PART: u32 = 8;

/// Code whose threads hold more elements of a tensor is not copied. It spills, or would with the copy: of four such
/// kernels on an H200 three ran at 1.00 to 1.02 of their speed, and one, with 704 bytes of spills for 128, at 0.51.
const MOST_ELEMENTS: usize = 64;

/// Bytes that a thread accesses at once at most.
const WIDEST: u32 = 16;

/// Whether the pass copies code of a module.
pub(crate) fn applies(ir: &Ir) -> bool {
    ir.functions().into_iter().any(|func| !plans(ir, func).is_empty())
}

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let plans: Vec<Plan> = ir.functions().into_iter().flat_map(|func| plans(ir, func)).collect();
    for plan in &plans {
        plan.copy(ir);
    }
    Ok(Changed::from(!plans.is_empty()))
}

/// The accesses that are wider in a copy.
pub(crate) fn widened(ir: &Ir, func: Op) -> BTreeSet<Op> {
    plans(ir, func).into_iter().flat_map(|plan| plan.widened).collect()
}

/// What a function has to copy.
fn plans(ir: &Ir, func: Op) -> Vec<Plan> {
    let mut found = vec![];
    if ir.all_ops(func).into_iter().any(|op| masked(ir, op).is_some()) {
        let (axes, ranges) = (AxisInfoAnalysis::new(ir, func), Ranges::of(ir, func));
        let bounds = Bounds { ir, axes: &axes, ranges: &ranges };
        plans_in(&bounds, func, &mut found);
    }
    found
}

/// The plans for the blocks of an operation, or for those inside of these.
fn plans_in(bounds: &Bounds, op: Op, found: &mut Vec<Plan>) {
    let ir = bounds.ir;
    for &block in ir.regions_of(op).iter().flat_map(|&region| ir.blocks_of(region)) {
        if let Some(plan) = Plan::of(bounds, block) {
            found.push(plan);
            continue;
        }
        for inner in ir.ops(block) {
            // A loop of one turn is what full iterations leave over.
            let is_rest = ir.get(inner, NUM_STAGES) == Some(1);
            if matches!(ir.kind(inner), OpKind::Scf(_)) && !is_rest {
                plans_in(bounds, inner, found);
            }
        }
    }
}

/// The pointer and the mask of a load or store of a tensor under a mask.
fn masked(ir: &Ir, op: Op) -> Option<(Value, Value)> {
    let is_volatile = tt::Load::of(ir, op).is_some_and(|load| load.isVolatile(ir));
    let (ptr, mask) = accessed(ir, op).filter(|_| !is_volatile)?;
    Some((ptr, mask?)).filter(|&(ptr, mask)| ir.ty(ptr).is_tensor() && ir.ty(mask).is_tensor())
}

/// The pointer and the mask of a load or store.
fn accessed(ir: &Ir, op: Op) -> Option<(Value, Option<Value>)> {
    let load = tt::Load::of(ir, op).map(|load| (load.ptr(ir), load.mask(ir)));
    load.or_else(|| tt::Store::of(ir, op).map(|store| (store.ptr(ir), store.mask(ir))))
}

/// How wide an access could be without its mask, and is with it, in elements; nothing for a scalar.
fn widths(bounds: &Bounds, ptr: Value, mask: Option<Value>) -> Option<(u32, u32)> {
    let (ir, ty) = (bounds.ir, bounds.ir.ty(ptr));
    let bytes = (ty.elem().pointee().and_then(Type::bit_width).filter(|_| ty.is_tensor())? / 8).max(1);
    let vector = bounds.axes.ptr_contiguity(ir, ptr).min(WIDEST / bytes);
    let now = mask.filter(|&mask| ir.ty(mask).is_tensor()).map_or(vector, |mask| bounds.axes.mask_alignment(ir, mask));
    Some((vector, now.min(vector)))
}

/// The accesses of a thread by which an operation loads or stores a tensor.
fn accesses_of(bounds: &Bounds, op: Op) -> u32 {
    let made = accessed(bounds.ir, op).and_then(|(ptr, mask)| {
        let (_, now) = widths(bounds, ptr, mask)?;
        Some(layout::elems_per_thread(bounds.ir.ty(ptr)) as u32 / now.max(1))
    });
    made.unwrap_or(0)
}

/// An access that would be wider without its mask.
struct Access {
    op: Op,
    terms: Terms,
    /// Accesses of a thread that this saves.
    saved: u32,
}

impl Access {
    fn of(bounds: &Bounds, op: Op) -> Option<Access> {
        let ir = bounds.ir;
        let (ptr, mask) = masked(ir, op)?;
        let (vector, now) = widths(bounds, ptr, Some(mask))?;
        if now == vector {
            return None;
        }
        let elements = layout::elems_per_thread(ir.ty(ptr)) as u32;
        let terms = bounds.of_mask(mask, i64::from(vector))?;
        Some(Access { op, terms, saved: (elements / now.max(1)).saturating_sub(elements / vector) })
    }
}

/// Code to copy: operations of one block, in order.
struct Plan {
    moved: Vec<Op>,
    /// What computes masks in front of that.
    chain: Vec<Op>,
    bounds: Vec<Bound>,
    /// The accesses for which it is done.
    widened: Vec<Op>,
}

impl Plan {
    /// Steps 1 and 2.
    fn of(bounds: &Bounds, block: Block) -> Option<Plan> {
        let ir = bounds.ir;
        let ops = ir.op_list(block);
        let (_, inner) = ops.split_last()?;
        let mut accesses = vec![];
        for (at, &op) in inner.iter().enumerate() {
            let found = ir.all_ops(op).into_iter().filter_map(|inside| Access::of(bounds, inside));
            accesses.extend(found.filter_map(|access| Some((at, known_from(ir, inner, block, &access)?, access))));
        }
        let is_loop = |op: Op| ir.all_ops(op).into_iter().any(|op| ir.is(op, ScfOp::For) || ir.is(op, ScfOp::While));
        let last_loop = inner.iter().rposition(|&op| is_loop(op));
        let saved_from = |start: usize| -> u32 {
            let has_loops = last_loop.is_some_and(|at| at >= start);
            let behind = accesses.iter().filter(|&&(at, known, _)| at >= start && known <= start);
            let counting = behind.filter(|&&(at, _, _)| !has_loops || is_loop(inner[at]));
            counting.map(|(_, _, access)| access.saved).sum()
        };
        let starts: BTreeSet<usize> = accesses.iter().map(|&(_, known, _)| known).collect();
        let (saved, start) =
            starts.into_iter().map(|start| (saved_from(start), start)).max_by_key(|&(saved, _)| saved)?;
        accesses.retain(|&(at, known, _)| at >= start && known <= start);
        // What is inside of one branch is copied there.
        let first = accesses.first()?.0;
        if ir.is(inner[first], ScfOp::If) && accesses.iter().all(|&(at, _, _)| at == first) {
            return None;
        }
        let (mut chain, mut chosen, mut widened) = (vec![], vec![], vec![]);
        for (_, _, access) in accesses {
            widened.push(access.op);
            chain.extend(access.terms.chain);
            chosen.extend(access.terms.bounds);
        }
        let mut moved = movable(ir, &inner[..start], &chosen);
        moved.extend(&inner[start..]);
        let all: BTreeSet<Op> = moved.iter().flat_map(|&op| ir.all_ops(op)).collect();
        let mut seen = BTreeSet::new();
        chain.retain(|&op| !all.contains(&op) && seen.insert(op));
        let plan = Plan { moved, chain, bounds: Bound::merged(chosen), widened };
        let made: u32 = all.iter().map(|&op| accesses_of(bounds, op)).sum();
        (saved >= LEAST && saved * LEAST_PART >= made && may_be_copied(ir, &all)).then_some(plan)
    }

    /// Step 3.
    fn copy(&self, ir: &mut Ir) {
        let (Some(&first), Some(&last)) = (self.moved.first(), self.moved.last()) else { return };
        // The moved operations may stand apart: behind the last one, all that they need is there.
        let Some(end) = ir.next_op(last) else { return };
        let loc = ir.loc(first);
        let mut b = Builder::before(ir, end);
        b.loc = loc;
        let whole: Vec<Value> = self.bounds.iter().map(|bound| bound.keeps_vectors_whole(&mut b)).collect();
        let whole = whole.into_iter().reduce(|all, one| b.value(ArithOp::Andi, &[all, one], Type::int(1)));
        let (Some(whole), mut map) = (whole, Mapping::default()) else { return };
        copy_under(ir, whole, (&self.moved, &self.chain), end, &mut map);
        for bound in &self.bounds {
            let compare = map.get(ir.result(bound.compare));
            if let Some(compare) = ir.def_op(compare) {
                ir.put(compare, CONSTANCY, bound.constancy(ir));
            }
        }
    }
}

/// From which operation of a block on the scalars of an access in it are known; `None` if only inside of one.
fn known_from(ir: &Ir, ops: &[Op], block: Block, access: &Access) -> Option<usize> {
    let known = |scalar: Value| {
        let home = ir.value_block(scalar)?;
        let around = std::iter::successors(ir.block_op(home), |&op| ir.parent_op(op));
        match ir.def_op(scalar) {
            Some(def) if home == block => ops.iter().position(|&op| op == def).map(|at| at + 1),
            _ if around.into_iter().any(|op| ir.parent_block(op) == Some(block)) => None,
            _ => Some(0),
        }
    };
    let scalars = access.terms.bounds.iter().flat_map(Bound::scalars);
    scalars.map(known).try_fold(0, |last, at| Some(last.max(at?)))
}

/// Of the operations in front of the copy, those that may move behind: without effects, and nothing that stays, nor
/// the condition, needs them.
fn movable(ir: &Ir, ops: &[Op], bounds: &[Bound]) -> Vec<Op> {
    let mut needed: BTreeSet<Value> = bounds.iter().flat_map(Bound::scalars).collect();
    let mut moved = vec![];
    for &op in ops.iter().rev() {
        let stays = ir.results(op).iter().any(|result| needed.contains(result))
            || !ir.regions_of(op).is_empty()
            || !is_speculatable(ir, op);
        if stays {
            for inside in ir.all_ops(op) {
                needed.extend(ir.operands(inside));
            }
        } else {
            moved.push(op);
        }
    }
    moved.reverse();
    moved
}

/// Whether all of this may stand twice.
fn may_be_copied(ir: &Ir, ops: &BTreeSet<Op>) -> bool {
    let is_plain = |&op: &Op| match ir.kind(op) {
        OpKind::Ttg(kind) => kind == TtgOp::ConvertLayout,
        OpKind::Tt(kind) => !matches!(kind, TtOp::Dot | TtOp::DotScaled | TtOp::Call),
        OpKind::Arith(_) | OpKind::Math(_) | OpKind::Scf(_) => true,
        _ => false,
    };
    let elements = |&op: &Op| {
        let tensors = ir.results(op).iter().map(|&value| ir.ty(value)).filter(|ty| ty.is_tensor());
        tensors.map(layout::elems_per_thread).max().unwrap_or(0)
    };
    ops.len() <= MOST_OPS && ops.iter().all(is_plain) && ops.iter().all(|op| elements(op) <= MOST_ELEMENTS)
}
