//! A schedule for two products of which the first feeds the second, as in attention.
//!
//! The products run one iteration apart, and loads one stage in front of theirs. The arithmetic between the products is
//! cut in two where a value has several users: the first half runs with the second product, the other half with the
//! first one of the next iteration. So matrix instructions always have arithmetic beside them.

use std::collections::BTreeSet;

use super::Ahead;
use crate::ir::core::{Block, Ir, Op};
use crate::ir::dialects::TtOp;
use crate::passes::ttg::pipeline::schedule::{Cluster, Schedule};

/// The only number of stages with this schedule.
const STAGES: u32 = 4;
pub(in crate::passes::amd) const DOT_STAGES: [u32; 2] = [2, 3];
pub(in crate::passes::amd) const GLOBAL_LOAD_STAGES: [u32; 2] = [0, 1];
pub(in crate::passes::amd) const LOCAL_WRITE_STAGES: [u32; 2] = [1, 2];
pub(in crate::passes::amd) const LOCAL_LOAD_STAGES: [u32; 2] = [1, 3];

/// What runs together, in the order of the loop's body. An index says which product it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::passes::amd) enum Part {
    Dot0,
    AfterDot0,
    AsyncWait1,
    LocalWrite0,
    LocalLoad1,
    GlobalLoad0,
    Dot1,
    AfterDot1,
    AsyncWait0,
    LocalWrite1,
    LocalLoad0,
    GlobalLoad1,
}

pub(in crate::passes::amd) const PARTS: usize = 12;

/// The two products, if the loop has this form.
pub(in crate::passes::amd) fn products(ir: &Ir, body: Block, stages: u32, loads: &[Ahead]) -> Option<[Op; 2]> {
    let dots: Vec<Op> = ir.ops(body).filter(|&op| ir.is(op, TtOp::Dot)).collect();
    let &[first, second] = dots.as_slice() else { return None };
    let direct = loads.iter().all(|a| a.distance == 0);
    (stages == STAGES && direct && behind(ir, first).contains(&second)).then_some([first, second])
}

/// All that depends on an operation.
fn behind(ir: &Ir, op: Op) -> BTreeSet<Op> {
    let mut seen = BTreeSet::new();
    let mut queue = vec![op];
    while let Some(op) = queue.pop() {
        let inside = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.ops(b));
        let users = ir.results(op).iter().flat_map(|&r| ir.uses(r)).map(|u| u.op);
        for user in inside.chain(users).collect::<Vec<_>>() {
            if seen.insert(user) {
                queue.push(user);
            }
        }
    }
    seen
}

pub(super) fn schedule(ir: &Ir, body: Block, dots: [Op; 2], loads: &[Ahead]) -> Schedule {
    let mut schedule = Schedule::new(STAGES);
    let clusters: Vec<Cluster> = (0..PARTS).map(|_| schedule.cluster_at_back()).collect();
    let at = |part: Part| clusters[part as usize];
    schedule.insert(dots[0], DOT_STAGES[0], at(Part::Dot0));
    schedule.insert(dots[1], DOT_STAGES[1], at(Part::Dot1));
    for ahead in loads {
        if ahead.user == dots[0] {
            schedule.insert(ahead.load, GLOBAL_LOAD_STAGES[0], at(Part::GlobalLoad0));
        } else if ahead.user == dots[1] {
            schedule.insert(ahead.load, GLOBAL_LOAD_STAGES[1], at(Part::GlobalLoad1));
        }
    }
    let behind = behind(ir, dots[0]);
    for &operand in ir.operands(dots[1]) {
        let Some(operand_def) = ir.def_op(operand).filter(|def| behind.contains(def)) else { continue };
        let mut queue = vec![operand];
        while let Some(value) = queue.pop() {
            let Some(def) = ir.def_op(value).filter(|d| behind.contains(d) && schedule.get(*d).is_none()) else {
                continue;
            };
            let uses: usize = ir.results(def).iter().map(|&r| ir.uses(r).len()).sum();
            if uses > 1 {
                schedule.insert(def, DOT_STAGES[0], at(Part::AfterDot1));
                schedule.insert_if_absent(operand_def, DOT_STAGES[1], at(Part::AfterDot0));
                continue;
            }
            queue.extend(ir.operands(def));
        }
    }
    let yielded = ir.terminator(body).map(|end| ir.operands(end).to_vec()).unwrap_or_default();
    for def in yielded.into_iter().filter_map(|v| ir.def_op(v)).filter(|def| behind.contains(def)) {
        schedule.insert_if_absent(def, DOT_STAGES[1], at(Part::AfterDot0));
    }
    schedule
}
