//! `ttc-copies-before-waits`: the first copies of a pipelined loop are on their way while the kernel waits for what it
//! loads in front of the loop.
//!
//! Attention loads its queries, stores them to shared memory, and then copies the first keys and values:
//!
//! ```text
//! %q = tt.load
//! %queries = ttg.local_alloc %q         waits for the load
//! ttg.async_copy_global_to_local        the first keys
//! scf.for                               waits for them
//! ```
//!
//! No assembler moves a copy over a store to shared memory or a barrier. So each block waits for two latencies of
//! global memory, one after the other, or for three where the rows of the queries are split into parts. With the copies
//! in front of the buffer, both are on their way at once.
//!
//! # Algorithm
//!
//! 1. A *stretch* of a block ends with a loop. It begins where the block begins, or behind the last operation that
//!    writes global memory, or may, that waits for copies, or that has operations in it.
//! 2. The first operation of a stretch that exchanges values between threads is its *wait*: a buffer with a value, a
//!    load from a buffer, a conversion between layouts, a reduction, a scan, or a product.
//! 3. The copies behind the wait, and the ends of their groups, move in front of it, with all that they need. The first
//!    one that cannot move ends this, so the groups keep their order: it needs the result of the wait, of a load or of
//!    any operation with an effect, an operation on the way has to do with its buffer, or the kernel writes the memory
//!    of the same parameter.
//! 4. So do loads between the wait and these copies, as long as [`MOST`] registers of a thread hold what they load.
//! 5. The copies fill buffers while others are in use, which no longer share their memory. This is kept if as many
//!    blocks share a multiprocessor as before.

use std::collections::BTreeSet;

use crate::analysis::prepared::Prepared;
use crate::analysis::register_use::of_type;
use crate::analysis::shared_alias::{is_shared, viewed};
use crate::analysis::touched::{self, Written};
use crate::ir::core::{Block, Ir, Op, Value};
use crate::ir::dialects::tt::tt::Load;
use crate::ir::dialects::ttg::ttg::{AsyncCommitGroup, AsyncCopyGlobalToLocal, LocalAlloc};
use crate::ir::dialects::{ScfOp, TtgOp};
use crate::passes::common::ahead::{exchanges, may_write_global, needed, registers};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::nvidia::blocks::at_once;
use crate::passes::ttg::allocate_shared_memory::{self, CAPABILITY};
use crate::target::Target;

pub static PASS: Pass = Pass {
    name: "ttc-copies-before-waits",
    doc: "let the first copies of a pipelined loop overlap with what is waited for in front of it",
    input: Input::Ttgir,
    options: &[CAPABILITY],
    run,
};

/// Registers of a thread that hold what the loads that move load.
const MOST: usize = 64;

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let copies: BTreeSet<Block> = ir
        .all_ops(ir.module())
        .into_iter()
        .filter(|&op| ir.is(op, TtgOp::AsyncCommitGroup))
        .filter_map(|op| ir.parent_block(op))
        .collect();
    if copies.is_empty() || touched::may_wait(ir) {
        return Ok(Changed::No);
    }
    let written = touched::written(ir);
    let plans: Vec<Move> = copies.into_iter().flat_map(|block| moves(ir, block, &written)).collect();
    if plans.is_empty() {
        return Ok(Changed::No);
    }
    let target = allocate_shared_memory::target(ir, cx)?;
    let now = cx.prepared(ir, &target)?;
    let mut trial = ir.clone();
    for plan in &plans {
        plan.ops.iter().for_each(|&op| trial.move_before(op, plan.wait));
    }
    match Prepared::new(&trial, &target) {
        Ok(then) if blocks(&trial, &then, &target) >= blocks(ir, &now, &target) => {
            *ir = trial;
            cx.keep(then);
            Ok(Changed::Yes)
        }
        _ => {
            cx.keep(now);
            Ok(Changed::No)
        }
    }
}

/// What moves in front of a wait, in this order.
struct Move {
    wait: Op,
    ops: Vec<Op>,
}

/// Steps 1 to 4.
fn moves(ir: &Ir, block: Block, written: &Written) -> Vec<Move> {
    let mut all = vec![];
    let mut stretch: Vec<Op> = vec![];
    for op in ir.ops(block) {
        let ends = ir.is(op, TtgOp::AsyncWait) || !ir.regions_of(op).is_empty() && !waits(ir, op);
        if ends || may_write_global(ir, op) {
            if ir.is(op, ScfOp::For) {
                all.extend(of_stretch(ir, &stretch, written));
            }
            stretch.clear();
        } else {
            stretch.push(op);
        }
    }
    all
}

fn of_stretch(ir: &Ir, stretch: &[Op], written: &Written) -> Option<Move> {
    let first = stretch.iter().position(|&op| waits(ir, op))?;
    let behind = &stretch[first..];
    let (mut moved, mut held) = (BTreeSet::new(), 0);
    // Up to the last copy that moves, loads that no copy needs are worth it.
    let mut kept: BTreeSet<Op> = BTreeSet::new();
    for (at, &op) in behind.iter().enumerate() {
        let (copy, load) = (AsyncCopyGlobalToLocal::of(ir, op), Load::of(ir, op));
        let is_end = AsyncCommitGroup::of(ir, op).is_some();
        let loaded = load.map_or(0, |load| registers(ir.ty(load.result(ir))));
        if copy.is_none() && load.is_none() && !is_end || held + loaded > MOST {
            continue;
        }
        let others: BTreeSet<Op> = behind[..at].iter().copied().filter(|op| !moved.contains(op)).collect();
        let address = copy.map(|copy| copy.src(ir)).or(load.map(|load| load.ptr(ir)));
        let is_free = copy.is_none_or(|copy| leaves_alone(ir, &others, copy.result(ir)));
        let may = is_free && address.is_none_or(|ptr| !written.has(ptr));
        match needed(ir, op, |def| others.contains(&def)).filter(|_| may) {
            Some(needed) if load.is_none() => {
                moved.extend(needed);
                moved.insert(op);
                kept.clone_from(&moved);
            }
            Some(needed) => {
                held += loaded;
                moved.extend(needed);
                moved.insert(op);
            }
            None if load.is_none() => break,
            None => {}
        }
    }
    let ops: Vec<Op> = behind.iter().copied().filter(|op| kept.contains(op)).collect();
    (!ops.is_empty()).then_some(Move { wait: behind[0], ops })
}

/// Whether no operation may read or write the buffer that a descriptor is a view of. Those that make views do not.
fn leaves_alone(ir: &Ir, ops: &BTreeSet<Op>, descriptor: Value) -> bool {
    let is_known = |buffer: Value| ir.def_op(buffer).is_some_and(|op| LocalAlloc::of(ir, op).is_some());
    let buffer = buffer_of(ir, descriptor);
    let touches = |&op: &Op| {
        let mut buffers = ir.operands(op).iter().filter(|&&v| is_shared(ir.ty(v))).map(|&v| buffer_of(ir, v));
        !ir.kind(op).is_view() && buffers.any(|other| other == buffer || !is_known(other))
    };
    is_known(buffer) && !ops.iter().any(touches)
}

/// The buffer that a descriptor is a view of, or what its view came from.
fn buffer_of(ir: &Ir, descriptor: Value) -> Value {
    let outwards = |&value: &Value| ir.def_op(value).and_then(|op| viewed(ir, op));
    std::iter::successors(Some(descriptor), outwards).last().unwrap_or(descriptor)
}

/// Whether threads wait for each other, or for a product, at an operation.
fn waits(ir: &Ir, op: Op) -> bool {
    let buffered = LocalAlloc::of(ir, op).is_some_and(|alloc| alloc.src(ir).is_some());
    buffered || exchanges(ir, op) || ir.is(op, TtgOp::LocalLoad) || ir.kind(op).is_product()
}

/// How many blocks share a multiprocessor, at the most.
fn blocks(ir: &Ir, prepared: &Prepared, target: &Target) -> Option<u32> {
    let products = ir.all_ops(ir.module()).into_iter().filter(|&op| ir.kind(op).is_product());
    let held = products.map(|op| of_type(ir.ty(ir.result(op)))).max().unwrap_or(0);
    at_once(ir, prepared, held, target)
}
