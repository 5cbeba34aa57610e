//! `tritongpu-schedule-loops`: a stage and a cluster for every operation of a loop with latencies.
//!
//! # Algorithm
//!
//! Of each innermost loop without barriers, assertions and prints:
//!
//! 1. The *distance* of an operation is its latency plus the greatest distance of its users in the body. Those with a
//!    latency, and all that depends on them, get the stage `greatest distance - distance`, and a cluster per stage, the
//!    last stage first.
//! 2. An `scf.if` among them that nothing scheduled depends on goes to a cluster at the end; one that scheduled
//!    operations need goes to a cluster at the start; others go to the end, in the last stage.
//! 3. What a scheduled operation needs goes to its stage and cluster, or stays earlier, stage by stage.
//! 4. What it needs of the iteration before goes one stage later, to a cluster in front of its own; a load among those
//!    goes with it.
//! 5. The rest goes to the last stage, behind the first cluster of step 1 and never before what it uses.

use std::collections::{BTreeMap, BTreeSet};

use super::assign_latencies::{carries_far, has_loops};
use super::schedule::{Cluster, Schedule, ancestor_in, body_ops, nested_operands};
use crate::ir::core::{Block, Ir, Op, ValueDef};
use crate::ir::dialects::discardable::LATENCY;
use crate::ir::dialects::{Classes, ScfOp};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritongpu-schedule-loops",
    doc: "give the operations of loops with latencies a stage and a cluster",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut latencies: BTreeMap<Op, u32> = BTreeMap::new();
    for op in ir.all_ops(ir.module()) {
        if let Some(latency) = ir.get(op, LATENCY) {
            latencies.insert(op, u32::try_from(latency).unwrap_or(0));
            ir.take(op, LATENCY);
        }
    }
    let mut changed = !latencies.is_empty();
    let loops: Vec<Op> = ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For)).collect();
    for looped in loops {
        if let Some(schedule) = decide(ir, looped, &latencies) {
            schedule.write(ir, looped);
            changed = true;
        }
    }
    Ok(Changed::from(changed))
}

fn decide(ir: &Ir, looped: Op, latencies: &BTreeMap<Op, u32>) -> Option<Schedule> {
    let body = ir.body(looped, 0)?;
    if !can_be_pipelined(ir, looped, body) {
        return None;
    }
    let mut schedule = key_operations(ir, body, latencies)?;
    let after_prologue = boundaries(ir, body, &mut schedule)?;
    let keys = schedule.in_order(ir, body);
    for stage in 0..schedule.num_stages {
        for &(op, s, cluster) in &keys {
            if s == stage {
                schedule.insert_deps(ir, op, stage, cluster, false, true);
            }
        }
    }
    carried_dependencies(ir, body, &mut schedule);
    remaining(ir, body, &mut schedule, after_prologue);
    Some(schedule)
}

/// Whether a loop is an innermost one without barriers, assertions and prints, whose values are carried over one
/// iteration only.
#[must_use]
pub fn can_be_pipelined(ir: &Ir, looped: Op, body: Block) -> bool {
    let blocked = ir.all_ops(looped).into_iter().any(|op| ir.kind(op).belongs(Classes::IN_STEP));
    !blocked && !carries_far(ir, body) && !has_loops(ir, body)
}

/// Step 1.
struct Distances<'a> {
    ir: &'a Ir,
    body: Block,
    latencies: &'a BTreeMap<Op, u32>,
    known: BTreeMap<Op, u32>,
}

impl Distances<'_> {
    fn of(&mut self, op: Op) -> u32 {
        if let Some(&known) = self.known.get(&op) {
            return known;
        }
        let end = self.ir.terminator(self.body);
        let mut farthest = 0;
        for user in self.ir.results(op).iter().flat_map(|&r| self.ir.uses(r)) {
            let user = ancestor_in(self.ir, self.body, user.op).filter(|&u| Some(u) != end);
            farthest = farthest.max(user.map_or(0, |u| self.of(u)));
        }
        let distance = farthest + self.latencies.get(&op).copied().unwrap_or(0);
        self.known.insert(op, distance);
        distance
    }
}

fn key_operations(ir: &Ir, body: Block, latencies: &BTreeMap<Op, u32>) -> Option<Schedule> {
    let starts: Vec<Op> = body_ops(ir, body).into_iter().filter(|op| latencies.contains_key(op)).collect();
    let mut distances = Distances { ir, body, latencies, known: BTreeMap::new() };
    let farthest = starts.iter().map(|&op| distances.of(op)).max()?;
    let stages: BTreeMap<Op, u32> = distances.known.into_iter().map(|(op, d)| (op, farthest - d)).collect();
    let last = stages.values().copied().max()?;
    let mut schedule = Schedule::new(last + 1);
    let clusters: Vec<Cluster> = (0..=last).map(|_| schedule.cluster_at_back()).collect();
    for (&op, &stage) in &stages {
        schedule.insert(op, stage, clusters[(last - stage) as usize]);
    }
    // Step 2, first part.
    let epilogue = schedule.cluster_at_back();
    for (&op, &stage) in stages.iter().filter(|&(&op, _)| ir.is(op, ScfOp::If) && !latencies.contains_key(&op)) {
        if !depends(ir, op).iter().any(|o| stages.contains_key(o)) {
            schedule.insert(op, stage, epilogue);
        }
    }
    Some(schedule)
}

/// All that depends on the results of an operation.
fn depends(ir: &Ir, op: Op) -> BTreeSet<Op> {
    let users = |o: Op| ir.results(o).iter().flat_map(|&r| ir.uses(r)).map(|u| u.op).collect::<Vec<_>>();
    let mut seen = BTreeSet::new();
    let mut queue = users(op);
    while let Some(at) = queue.pop() {
        if seen.insert(at) {
            queue.extend(users(at));
            queue.extend(ir.regions_of(at).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.ops(b)));
        }
    }
    seen
}

/// All that an operation needs inside the body, without going around the loop.
fn needs(ir: &Ir, body: Block, op: Op) -> BTreeSet<Op> {
    let mut seen = BTreeSet::new();
    let mut queue = vec![op];
    while let Some(at) = queue.pop() {
        for def in nested_operands(ir, at).into_iter().filter_map(|v| ir.def_op(v)) {
            if ir.parent_block(def) == Some(body) && seen.insert(def) {
                queue.push(def);
            }
        }
    }
    seen
}

/// Step 2, second part. Gives the cluster behind the prologue.
fn boundaries(ir: &Ir, body: Block, schedule: &mut Schedule) -> Option<Cluster> {
    let after_prologue = schedule.first_cluster()?;
    let mut needed: Vec<(Op, u32)> = vec![];
    for stage in 0..schedule.num_stages {
        for (op, s, _) in schedule.in_order(ir, body) {
            if s == stage {
                for branch in needs(ir, body, op).into_iter().filter(|&o| ir.is(o, ScfOp::If)) {
                    if !needed.iter().any(|n| n.0 == branch) {
                        needed.push((branch, stage));
                    }
                }
            }
        }
    }
    if !needed.is_empty() {
        let prologue = schedule.cluster_at_front();
        for &(branch, stage) in &needed {
            schedule.insert_if_absent(branch, stage, prologue);
        }
    }
    let epilogue = schedule.cluster_at_back();
    for op in body_ops(ir, body).into_iter().filter(|&op| ir.is(op, ScfOp::If)) {
        if !needed.iter().any(|n| n.0 == op) {
            schedule.insert_if_absent(op, schedule.num_stages - 1, epilogue);
        }
    }
    Some(after_prologue)
}

/// Step 4: what scheduled operations need of the iteration before.
pub fn carried_dependencies(ir: &Ir, body: Block, schedule: &mut Schedule) {
    let mut before: BTreeMap<Cluster, Cluster> = BTreeMap::new();
    let Some(end) = ir.terminator(body) else { return };
    for op in body_ops(ir, body) {
        let Some((stage, cluster)) = schedule.get(op).filter(|p| p.0 + 1 < schedule.num_stages) else { continue };
        for operand in nested_operands(ir, op) {
            let ValueDef::Arg { block, index } = ir.def(operand) else { continue };
            if index == 0 || block != body {
                continue;
            }
            let Some(def) = ir.operands(end).get(index as usize - 1).and_then(|&v| ir.def_op(v)) else { continue };
            if schedule.get(def).is_some() {
                continue;
            }
            let (stage, cluster) = if ir.kind(def).is_load() && !ir.kind(def).is_descriptor_load() {
                (stage, cluster)
            } else {
                let earlier = match before.get(&cluster) {
                    Some(&known) => known,
                    None => schedule.cluster_before(cluster),
                };
                before.insert(cluster, earlier);
                (stage + 1, earlier)
            };
            schedule.insert_if_absent(def, stage, cluster);
            schedule.insert_deps(ir, def, stage, cluster, true, true);
        }
    }
}

/// Step 5: the rest goes to the last stage, behind the cluster `after_prologue`.
pub fn remaining(ir: &Ir, body: Block, schedule: &mut Schedule, after_prologue: Cluster) {
    let last = schedule.num_stages - 1;
    let mut places: BTreeMap<Op, Cluster> = body_ops(ir, body)
        .into_iter()
        .filter(|&op| schedule.get(op).is_none())
        .map(|op| (op, after_prologue))
        .collect();
    let mut queue: Vec<Op> = schedule.in_order(ir, body).into_iter().filter(|o| o.1 == last).map(|o| o.0).collect();
    while let Some(op) = queue.pop() {
        for user in ir.results(op).iter().flat_map(|&r| ir.uses(r)).map(|u| u.op) {
            let Some(&place) = places.get(&user) else { continue };
            let own = schedule.get(op).map_or_else(|| places[&op], |p| p.1);
            if schedule.position(place) < schedule.position(own) {
                places.insert(user, own);
                queue.push(user);
            }
        }
    }
    for (op, cluster) in places {
        schedule.insert(op, last, cluster);
    }
}
