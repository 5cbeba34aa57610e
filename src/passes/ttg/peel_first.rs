//! `ttc-peel-first-iteration`: what a loop over a row does in its first iteration only moves in front of it.
//!
//! A running mean and variance starts with the first elements as they are (`if first: mean = x` / `else: mean += …`).
//! The branch stays in every iteration, and a loop with a branch is not a stream whose iterations load together
//! (`ttc-unroll-streams`), nor one whose full blocks lose their masks (`ttc-full-iterations`). The code that PyTorch
//! generates for norms has such loops.
//!
//! # Algorithm
//!
//! Of each innermost `scf.for` with a constant step above 0, whose body loads tensors, writes nothing, and exchanges
//! nothing between threads:
//!
//! 1. Find what tells the first iteration: `arith.cmpi eq` or `ne` of the induction variable and the lower bound, as
//!    the condition of an `scf.if`.
//! 2. Put a copy of the body in front of the loop, for the lower bound: as it is where constant bounds say that there
//!    is an iteration, else under `lower < upper`.
//! 3. The loop goes on from `lower + step`, with what the copy ends with; there the condition is known. Where there may
//!    be no iteration it goes on from `lower` then, since the sum might wrap.
//! 4. Canonicalize.

use crate::ir::core::{Block, Builder, Ir, Mapping, Op, OpState, Type, Value};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::{For, If};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::ir::effects::effects;
use crate::ir::rewrite::fold;
use crate::passes::common::canonicalize::canonicalize;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-peel-first-iteration",
    doc: "move what only a loop's first iteration does in front of it",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// Larger bodies are not copied.
const MOST_OPS: usize = 120;

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let loops = ir.all_ops(ir.module()).into_iter().filter_map(|op| For::of(ir, op));
    let plan: Vec<(For, Vec<arith::Cmpi>)> =
        loops.map(|looped| (looped, firsts(ir, looped))).filter(|(_, firsts)| !firsts.is_empty()).collect();
    for (looped, firsts) in &plan {
        peel(ir, *looped, firsts);
    }
    if !plan.is_empty() {
        let module = ir.module();
        canonicalize(ir, module);
    }
    Ok(Changed::from(!plan.is_empty()))
}

/// Step 1: the comparisons that tell the first iteration, if the loop is one to change.
fn firsts(ir: &Ir, looped: For) -> Vec<arith::Cmpi> {
    let Some(body) = ir.body(looped.0, 0).filter(|&body| !looped.unsignedCmp(ir) && is_stream(ir, looped.0, body))
    else {
        return vec![];
    };
    if fold::int_of(ir, looped.step(ir)).is_none_or(|step| step <= 0) {
        return vec![];
    }
    let (number, lower) = (ir.args(body)[0], looped.lower(ir));
    let is_lower =
        |value: Value| value == lower || fold::int_of(ir, value).is_some_and(|c| fold::int_of(ir, lower) == Some(c));
    let tells = |compare: &arith::Cmpi| {
        let (a, b) = (compare.lhs(ir), compare.rhs(ir));
        matches!(compare.predicate(ir), Some(CmpiPredicate::Eq | CmpiPredicate::Ne))
            && (a == number && is_lower(b) || b == number && is_lower(a))
    };
    let found: Vec<arith::Cmpi> = ir.ops(body).filter_map(|op| arith::Cmpi::of(ir, op)).filter(tells).collect();
    let decides = |branch: If| found.iter().any(|compare| compare.result(ir) == branch.condition(ir));
    if ir.ops(body).filter_map(|op| If::of(ir, op)).any(decides) { found } else { vec![] }
}

/// Whether a loop has a small body without loops, loads tensors, and does nothing else that is seen outside of a
/// thread.
fn is_stream(ir: &Ir, looped: Op, body: Block) -> bool {
    let inside = ir.all_ops(looped);
    let is_load = |op: Op| tt::Load::of(ir, op).is_some_and(|load| !load.isVolatile(ir));
    let is_simple = |op: Op| {
        let is_branch = ir.is(op, ScfOp::If) && ir.parent_block(op) == Some(body);
        is_branch || is_load(op) || ir.regions_of(op).is_empty() && effects(ir, op).is_free()
    };
    inside.len() <= MOST_OPS
        && ir.ops(body).any(|op| is_load(op) && ir.ty(ir.result(op)).is_tensor())
        && inside.iter().all(|&op| op == looped || is_simple(op) && !ir.kind(op).works_across_threads())
}

/// Steps 2 and 3.
fn peel(ir: &mut Ir, looped: For, firsts: &[arith::Cmpi]) {
    let Some(body) = ir.body(looped.0, 0) else { return };
    let (lower, upper, step, inits) = (looped.lower(ir), looped.upper(ir), looped.step(ir), looped.init(ir).to_vec());
    let mut map = Mapping::default();
    let Some((&number, carried)) = ir.args(body).split_first() else { return };
    map.map(number, lower);
    map.map_all(carried, &inits);
    let always = fold::int_of(ir, lower).zip(fold::int_of(ir, upper)).is_some_and(|(lower, upper)| lower < upper);
    let mut next = {
        let mut b = Builder::before(ir, looped.0);
        b.value(ArithOp::Addi, &[lower, step], b.ir.ty(lower))
    };
    let done = if always {
        let Some((end, others)) = ir.op_list(body).split_last().map(|(end, others)| (*end, others.to_vec())) else {
            return;
        };
        for inner in others {
            let copy = ir.clone_op(inner, &mut map);
            ir.insert_before(looped.0, copy);
        }
        ir.operands(end).iter().map(|&value| map.get(value)).collect()
    } else {
        let mut b = Builder::before(ir, looped.0);
        let runs = b.cmpi(CmpiPredicate::Slt, lower, upper);
        next = b.value(ArithOp::Select, &[runs, next, lower], b.ir.ty(lower));
        guarded(ir, (looped, body), runs, (&mut map, &inits))
    };
    for compare in firsts {
        let is_first = compare.predicate(ir) == Some(CmpiPredicate::Eq);
        let known = Builder::before(ir, compare.0).int(i64::from(!is_first), Type::int(1));
        ir.replace_all_uses(compare.result(ir), known);
    }
    ir.put_operands(looped.0, For::SLOT.lower, &[next]);
    ir.put_operands(looped.0, For::SLOT.init, &done);
}

/// The copy of the body under `runs`, and what it ends with: what the loop starts with on the other side.
fn guarded(
    ir: &mut Ir,
    (looped, body): (For, Block),
    runs: Value,
    (map, inits): (&mut Mapping, &[Value]),
) -> Vec<Value> {
    let types: Vec<Type> = inits.iter().map(|&init| ir.ty(init)).collect();
    let loc = ir.loc(looped.0);
    let mut b = Builder::before(ir, looped.0);
    let branch = b.insert(OpState::new(ScfOp::If, loc).operands(&[runs]).results(&types).regions(2));
    let [then, otherwise] = [0, 1].map(|side| {
        let region = ir.region(branch, side);
        ir.add_block(region, &[])
    });
    for inner in ir.op_list(body) {
        let copy = ir.clone_op(inner, map);
        ir.append(then, copy);
    }
    let end = ir.create_op(OpState::new(ScfOp::Yield, loc).operands(inits));
    ir.append(otherwise, end);
    ir.results(branch).to_vec()
}
