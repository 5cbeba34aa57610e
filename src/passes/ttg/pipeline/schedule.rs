//! A coarse schedule of a loop: a stage and a cluster for operations of its body.
//!
//! The *stage* says how many iterations behind the first stage an operation runs; the *cluster* says in which order the
//! stages' operations stand in the body of the pipelined loop. Within a cluster the order of the body is kept. Clusters
//! are made before, after and between others, so they have names that do not change and positions that do.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::core::{Block, Ir, Op, Value, ValueDef};
use crate::ir::dialects::discardable::{CLUSTER, MAX_STAGE, STAGE};
use crate::ir::dialects::keys::{Int, Key};

/// The name of a cluster.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Cluster(u32);

/// Stage and cluster of each scheduled operation.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    pub num_stages: u32,
    /// In order of position.
    order: Vec<Cluster>,
    next: u32,
    at: BTreeMap<Op, (u32, Cluster)>,
}

impl Schedule {
    #[must_use]
    pub fn new(num_stages: u32) -> Schedule {
        Schedule { num_stages, ..Schedule::default() }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    #[must_use]
    pub fn get(&self, op: Op) -> Option<(u32, Cluster)> {
        self.at.get(&op).copied()
    }

    fn named(&mut self) -> Cluster {
        self.next += 1;
        Cluster(self.next - 1)
    }

    pub fn cluster_at_back(&mut self) -> Cluster {
        let new = self.named();
        self.order.push(new);
        new
    }

    pub fn cluster_at_front(&mut self) -> Cluster {
        let new = self.named();
        self.order.insert(0, new);
        new
    }

    pub fn cluster_before(&mut self, cluster: Cluster) -> Cluster {
        let new = self.named();
        self.order.insert(self.position(cluster), new);
        new
    }

    #[must_use]
    pub fn first_cluster(&self) -> Option<Cluster> {
        self.order.first().copied()
    }

    /// All clusters, in order.
    #[must_use]
    pub fn clusters(&self) -> &[Cluster] {
        &self.order
    }

    /// The number that a cluster has in text: its position.
    #[must_use]
    pub fn position(&self, cluster: Cluster) -> usize {
        self.order.iter().position(|&c| c == cluster).expect("a cluster of this schedule")
    }

    pub fn insert(&mut self, op: Op, stage: u32, cluster: Cluster) {
        self.at.insert(op, (stage, cluster));
    }

    pub fn remove(&mut self, op: Op) {
        self.at.remove(&op);
    }

    /// Whether it was inserted.
    pub fn insert_if_absent(&mut self, op: Op, stage: u32, cluster: Cluster) -> bool {
        let absent = !self.at.contains_key(&op);
        if absent {
            self.insert(op, stage, cluster);
        }
        absent
    }

    /// Inserts an operation, or moves it to an earlier place; whether that changed anything.
    fn insert_earlier(&mut self, op: Op, stage: u32, cluster: Cluster) -> bool {
        let earlier =
            self.get(op).is_none_or(|(s, c)| stage < s || stage == s && self.position(cluster) < self.position(c));
        if earlier {
            self.insert(op, stage, cluster);
        }
        earlier
    }

    /// Schedules what `op` needs with it; through loop-carried values where `through_args`, moving what stands later
    /// where `earlier`.
    pub fn insert_deps(&mut self, ir: &Ir, op: Op, stage: u32, cluster: Cluster, through_args: bool, earlier: bool) {
        for operand in nested_operands(ir, op) {
            let value = if through_args { carried_from(ir, op, operand) } else { operand };
            let Some(def) = ir.def_op(value).filter(|&d| ir.parent_block(d) == ir.parent_block(op)) else { continue };
            let inserted = if earlier {
                self.insert_earlier(def, stage, cluster)
            } else {
                self.insert_if_absent(def, stage, cluster)
            };
            if inserted {
                self.insert_deps(ir, def, stage, cluster, through_args, earlier);
            }
        }
    }

    /// The scheduled operations of a body, cluster by cluster.
    #[must_use]
    pub fn in_order(&self, ir: &Ir, body: Block) -> Vec<(Op, u32, Cluster)> {
        let mut ops: Vec<(usize, Op, u32, Cluster)> =
            ir.ops(body).filter_map(|op| self.get(op).map(|(stage, c)| (self.position(c), op, stage, c))).collect();
        ops.sort_by_key(|o| o.0);
        ops.into_iter().map(|(_, op, stage, c)| (op, stage, c)).collect()
    }

    /// Whether `a` comes before `b` in the unrolled loop.
    #[must_use]
    pub fn is_before(&self, ir: &Ir, a: Op, b: Op) -> bool {
        let (Some((stage_a, cluster_a)), Some((stage_b, cluster_b))) = (self.get(a), self.get(b)) else { return false };
        let (x, y) = ((stage_a, self.position(cluster_a)), (stage_b, self.position(cluster_b)));
        if x == y { ir.is_before(a, b) } else { x < y }
    }

    /// Notes the schedule on the loop and its operations.
    pub fn write(&self, ir: &mut Ir, looped: Op) {
        let Some(body) = ir.body(looped, 0) else { return };
        for (op, stage, cluster) in self.in_order(ir, body) {
            ir.put(op, CLUSTER, self.position(cluster) as i64);
            ir.put(op, STAGE, i64::from(stage));
        }
        let known = ir.get(looped, MAX_STAGE).unwrap_or(0);
        ir.put(looped, MAX_STAGE, known.max(i64::from(self.num_stages) - 1));
    }

    /// The schedule that a loop's attributes state.
    #[must_use]
    pub fn read(ir: &Ir, looped: Op) -> Option<Schedule> {
        let number = |op: Op, key: Key<Int<32>>| ir.get(op, key).and_then(|v| u32::try_from(v).ok());
        let mut schedule = Schedule::new(number(looped, MAX_STAGE)? + 1);
        let body = ir.body(looped, 0)?;
        let places: Vec<(Op, u32, u32)> =
            ir.ops(body).filter_map(|op| Some((op, number(op, STAGE)?, number(op, CLUSTER)?))).collect();
        let last = places.iter().map(|p| p.2).max()?;
        let clusters: Vec<Cluster> = (0..=last).map(|_| schedule.cluster_at_back()).collect();
        for (op, stage, cluster) in places {
            schedule.insert(op, stage, clusters[cluster as usize]);
        }
        Some(schedule)
    }
}

/// What `op` and the operations in it use from outside of it, each value once, in order.
#[must_use]
pub fn nested_operands(ir: &Ir, op: Op) -> Vec<Value> {
    let inside: BTreeSet<Op> = ir.all_ops(op).into_iter().collect();
    let mut seen = BTreeSet::new();
    let mut found = vec![];
    for inner in ir.all_ops_post(op) {
        for &value in ir.operands(inner) {
            let outside =
                ir.value_block(value).and_then(|b| ir.block_op(b)).is_none_or(|owner| !inside.contains(&owner));
            if outside && seen.insert(value) {
                found.push(value);
            }
        }
    }
    found
}

/// Follows a loop's argument to what the iteration before yields for it, as far as it goes.
fn carried_from(ir: &Ir, op: Op, value: Value) -> Value {
    let mut seen = BTreeSet::new();
    let mut value = value;
    while let ValueDef::Arg { block, index } = ir.def(value) {
        if index == 0 || Some(block) != ir.parent_block(op) || !seen.insert(value) {
            break;
        }
        let Some(yielded) = ir.terminator(block).and_then(|t| ir.operands(t).get(index as usize - 1).copied()) else {
            break;
        };
        value = yielded;
    }
    value
}

/// The operation of `block` that holds `op`, if one does.
#[must_use]
pub fn ancestor_in(ir: &Ir, block: Block, op: Op) -> Option<Op> {
    std::iter::successors(Some(op), |&o| ir.parent_op(o)).find(|&o| ir.parent_block(o) == Some(block))
}

/// The operations of a loop's body, without its terminator.
#[must_use]
pub fn body_ops(ir: &Ir, body: Block) -> Vec<Op> {
    let end = ir.terminator(body);
    ir.ops(body).filter(|&op| Some(op) != end).collect()
}
