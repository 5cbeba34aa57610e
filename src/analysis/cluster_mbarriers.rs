//! Where the blocks of a cluster learn that mbarriers are initialised which others of them arrive at.
//!
//! An mbarrier is *shared* when there is one for several blocks, or when an operation that names it acts in other
//! blocks too ([`OpSpec::reaches_blocks`](crate::ir::dialects::OpSpec)). Between its initialisation and its first use
//! stand a fence (`fence.mbarrier_init`) and a barrier of the cluster, which may be relaxed: the fence orders the
//! initialisation, and nothing else is waited for.
//!
//! # Algorithm
//!
//! 1. Initialisations of shared mbarriers and all operations that touch the same memory are found in the operations of
//!    the function's own blocks that contain them.
//! 2. One place serves all of them: as late as possible, before the first use, in the last block on all ways to the
//!    uses. No initialisation may follow it.
//! 3. Where there is no such place (mbarriers that live in a loop), each block with initialisations has its own.
//! 4. A barrier of the cluster that stands between the initialisations and the place is used again. The fence goes
//!    before it if it is relaxed, unless there is one; a barrier that is not relaxed has released the initialisation
//!    itself.
//!
//! # Example
//!
//! ```text
//! ttng.init_barrier %b, 1
//! ttng.fence_mbarrier_init_release_cluster             here
//! ttng.cluster_barrier {relaxed = true}                and here
//! ttng.arrive_barrier %b, 1 {multicastCTA = 1 : i32}
//! ```

use std::collections::BTreeSet;

use super::shared_alias::SharedAlias;
use crate::ir::core::{Block, Dominance, Ir, Op, Region, Value};
use crate::ir::dialects::TtngOp;
use crate::ir::dialects::ttng::ttng::{ClusterBarrier, InitBarrier};
use crate::ir::dialects::verify::context_ctas;

/// What has to be inserted at one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InitSync {
    /// The operation before which the fence goes.
    pub fence: Op,
    /// Whether a barrier follows the fence.
    pub barrier: bool,
    /// The initialisation whose location both get.
    pub init: Op,
}

/// The places of one function, in the order of the text.
#[must_use]
pub fn init_syncs(ir: &Ir, func: Op, alias: &SharedAlias) -> Vec<InitSync> {
    let ctas = context_ctas(ir, func);
    let all: Vec<Op> = ir.all_ops(func);
    let buffers = |value: Value| alias.of(value).collect::<BTreeSet<Value>>();
    let reached: BTreeSet<Value> = all
        .iter()
        .filter(|&&op| ir.spec(op).reaches_blocks.is_some_and(|reaches| reaches(ir, op)))
        .flat_map(|&op| touched(ir, op))
        .flat_map(buffers)
        .collect();
    let is_shared = |init: &InitBarrier| {
        let barrier = init.alloc(ir);
        let copies = ir.ty(barrier).as_memdesc().and_then(|m| m.shape.first().copied());
        copies != Some(ctas) || alias.of(barrier).any(|b| reached.contains(&b))
    };
    let inits: Vec<InitBarrier> =
        all.iter().filter_map(|&op| InitBarrier::of(ir, op)).filter(|i| is_shared(i)).collect();
    let Some(&region) = ir.regions_of(func).first().filter(|_| !inits.is_empty()) else { return vec![] };
    let tracked: BTreeSet<Value> = inits.iter().flat_map(|i| buffers(i.alloc(ir))).collect();
    let uses_tracked = |op: Op| {
        let makes = ir.is(op, TtngOp::InitBarrier);
        !makes && touched(ir, op).any(|v| alias.of(v).any(|b| tracked.contains(&b)))
    };
    let uses: Vec<Op> = all.iter().copied().filter(|&op| uses_tracked(op)).collect();
    let inits: Vec<Op> = inits.iter().map(|i| i.0).collect();
    let mut found = match one_place(ir, region, &inits, &uses) {
        Some(sync) => vec![sync],
        None => place_of_each_block(ir, &inits, &uses),
    };
    let is_fenced =
        |s: &InitSync| ir.prev_op(s.fence).is_some_and(|o| ir.is(o, TtngOp::FenceMbarrierInitReleaseCluster));
    found.retain(|sync| sync.barrier || !ir.is(sync.fence, TtngOp::ClusterBarrier) || !is_fenced(sync));
    found
}

/// The memory descriptors that an operation itself reads or writes.
fn touched(ir: &Ir, op: Op) -> impl Iterator<Item = Value> {
    let stated = ir.spec(op).operands.iter().enumerate().filter(|(_, operand)| operand.memory.touch().is_some());
    stated.flat_map(move |(group, _)| ir.operand_group(op, group).iter().copied())
}

/// The operation of a region that contains another one, or is it.
fn anchor(ir: &Ir, region: Region, op: Op) -> Option<Op> {
    std::iter::successors(Some(op), |&o| ir.parent_op(o))
        .find(|&o| ir.parent_block(o).and_then(|b| ir.parent_region(b)) == Some(region))
}

/// Step 2.
fn one_place(ir: &Ir, region: Region, inits: &[Op], uses: &[Op]) -> Option<InitSync> {
    let anchors = |ops: &[Op]| ops.iter().map(|&op| anchor(ir, region, op)).collect::<Option<BTreeSet<Op>>>();
    let (before, users) = (anchors(inits)?, anchors(uses)?);
    let dominance = Dominance::new();
    let block = |op: Op| ir.parent_block(op);
    let on_all_ways = |&b: &Block| {
        dominance.is_reachable(ir, b)
            && users.iter().all(|&u| block(u).is_some_and(|u| dominance.block_dominates(ir, b, u)))
    };
    let candidates = ir.blocks_of(region).iter().copied().filter(on_all_ways);
    let last = candidates.reduce(|best, b| if dominance.block_dominates(ir, best, b) { b } else { best })?;
    let first_use = ir.ops(last).find(|op| users.contains(op));
    let place = first_use.or_else(|| ir.terminator(last))?;
    let follows_all = |at: Op| before.iter().all(|&init| precedes(ir, init, at));
    if !follows_all(place) {
        return None;
    }
    let dominates = |&b: &Op| b == place || dominance.op_dominates(ir, b, place);
    let barriers = ir.blocks_of(region).iter().flat_map(|&b| ir.ops(b));
    let barrier = barriers
        .filter(|&op| ir.is(op, TtngOp::ClusterBarrier))
        .filter(|&op| dominates(&op) && follows_all(op))
        .reduce(|best, b| if dominance.op_dominates(ir, best, b) { b } else { best });
    Some(with_barrier(ir, place, barrier, *inits.last()?))
}

/// Step 4.
fn with_barrier(ir: &Ir, place: Op, barrier: Option<Op>, init: Op) -> InitSync {
    let relaxed = barrier.filter(|&b| ClusterBarrier(b).relaxed(ir));
    InitSync { fence: relaxed.unwrap_or(place), barrier: barrier.is_none(), init }
}

/// Whether `a` is not executed again once control is at `b`, both in blocks of one region.
fn precedes(ir: &Ir, a: Op, b: Op) -> bool {
    let (Some(from), Some(to)) = (ir.parent_block(b), ir.parent_block(a)) else { return false };
    let mut seen = BTreeSet::new();
    let successors = |block: Block| ir.last_op(block).map_or(&[][..], |end| ir.successors(end)).to_vec();
    let mut open = successors(from);
    while let Some(block) = open.pop() {
        if seen.insert(block) {
            open.extend(successors(block));
        }
    }
    !seen.contains(&to) && (from != to || ir.is_before(a, b))
}

/// Step 3: before the first use that follows an initialisation in its own block, or at that block's end.
fn place_of_each_block(ir: &Ir, inits: &[Op], uses: &[Op]) -> Vec<InitSync> {
    let mut found: Vec<InitSync> = vec![];
    for &init in inits {
        let uses_inside =
            |op: Op| uses.iter().any(|&u| std::iter::successors(Some(u), |&o| ir.parent_op(o)).any(|o| o == op));
        let mut barrier = None;
        let mut place = ir.next_op(init);
        while let Some(op) = place.filter(|&op| !uses_inside(op) && ir.next_op(op).is_some()) {
            if ir.is(op, TtngOp::ClusterBarrier) {
                barrier = Some(op);
            }
            place = ir.next_op(op);
        }
        let Some(place) = place else { continue };
        let sync = with_barrier(ir, place, barrier, init);
        match found.iter_mut().find(|f| f.fence == sync.fence) {
            // A barrier between two initialisations serves the first alone.
            Some(same) => *same = InitSync { barrier: same.barrier || sync.barrier, ..sync },
            None => found.push(sync),
        }
    }
    found
}
