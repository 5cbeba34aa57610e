//! `tritongpu-assign-latencies`: which loads of a loop are started iterations ahead, and by how many stages.
//!
//! # Algorithm
//!
//! Of each innermost loop with more than one stage whose values are carried over one iteration only:
//!
//! 1. Latencies that the user wrote (`tt.latency`) stay.
//! 2. From each matrix product go up its operands A and B (not the accumulator) inside the body. Loads on the way are
//!    candidates; the number of loads between a load and the product is its indirection level. With `tt.num_stages` on
//!    the loop, loads that feed anything count too.
//! 3. A load is left out where it is too narrow for an asynchronous copy, where its users want different encodings in
//!    shared memory, or where it is met at two levels.
//!    So is one that may load what an earlier iteration stores: started ahead, it would come before the store. Triton
//!    starts such loads ahead too.
//! 4. With `fit`, the loop gets fewer stages where two blocks fit on a multiprocessor then ([`fit_stages`]).
//! 5. The stages are shared out evenly among the levels: `latency = (stages - 1) / (levels)`.

use std::collections::{BTreeMap, BTreeSet};

use super::fit_stages;
use super::loads::{self, Wanted};
use super::schedule::{body_ops, nested_operands};
use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::analysis::stored_ahead::StoredAhead;
use crate::diag::codes::passes as codes;
use crate::ir::core::{Block, Ir, Op};
use crate::ir::dialects::classes::accumulator;
use crate::ir::dialects::discardable::{LATENCY, NUM_STAGES};
use crate::ir::dialects::{Classes, ScfOp, Traits};
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritongpu-assign-latencies",
    doc: "decide which loads of a loop are started ahead",
    input: Input::Ttgir,
    options: &[
        OptionSpec { name: "num-stages", kind: OptionKind::Int, default: "3", doc: "stages of loops that do not say" },
        OptionSpec {
            name: FIT,
            kind: OptionKind::Bool,
            default: "false",
            doc: "fewer stages in loops that do not say, where a second block fits on a multiprocessor then",
        },
    ],
    run,
};

pub const FIT: &str = "fit";

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let default = cx.int("num-stages");
    let axis = AxisInfoAnalysis::of_module(ir);
    let mut plan: Vec<(Op, i64)> = vec![];
    for looped in ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For)) {
        let stages = ir.get(looped, NUM_STAGES).unwrap_or(default);
        let Some(body) = ir.body(looped, 0).filter(|_| stages > 1) else { continue };
        if carries_far(ir, body) || has_loops(ir, body) || body_ops(ir, body).iter().any(|&op| ir.stores(op, LATENCY)) {
            continue;
        }
        let everything = ir.stores(looped, NUM_STAGES);
        let levels = Levels::of_loop(ir, &axis, body, everything, stages);
        for &load in &levels.stored {
            let text = "the load is not started iterations ahead: an iteration may store what a later one loads";
            cx.remark(&codes::NOT_AHEAD, ir.loc(load), text);
        }
        let found = levels.loads;
        let ahead: Vec<Op> = found.iter().map(|l| l.0).collect();
        let fitting =
            if everything || !cx.flag(FIT) { stages } else { fit_stages::fitting(ir, looped, &ahead, stages) };
        if fitting < stages {
            let text =
                format!("the loop gets {fitting} stages instead of {stages}: two blocks fit on a multiprocessor then");
            cx.remark(&codes::FEWER_STAGES, ir.loc(looped), text);
        }
        if let Some(deepest) = found.iter().map(|l| l.1).max() {
            let latency = (fitting - 1) / (deepest + 1);
            plan.extend(found.iter().map(|&(load, _)| (load, latency)));
        }
    }
    for &(op, latency) in &plan {
        ir.put(op, LATENCY, latency);
    }
    Ok(Changed::from(!plan.is_empty()))
}

/// Whether a value comes from more than one iteration ago: an argument is yielded again.
pub fn carries_far(ir: &Ir, body: Block) -> bool {
    ir.terminator(body).is_some_and(|end| ir.operands(end).iter().any(|&v| ir.def_op(v).is_none()))
}

/// Whether the body holds loops.
pub fn has_loops(ir: &Ir, body: Block) -> bool {
    ir.ops(body).any(|op| ir.kind(op).has(Traits::LOOP))
}

/// The walk from products to loads.
pub struct Levels<'a> {
    ir: &'a Ir,
    axis: &'a AxisInfoAnalysis,
    seen: BTreeSet<Op>,
    excluded: BTreeSet<Op>,
    /// Whether loads count that are too narrow for an asynchronous copy.
    narrow: bool,
    /// Loads and their indirection levels, in the order in which they were met.
    pub loads: Vec<(Op, i64)>,
    /// Loads that may not be started ahead because of a store.
    pub stored: BTreeSet<Op>,
    /// What the loop stores.
    stores: StoredAhead<'a>,
    /// The product, or the load, that each of them was met from.
    pub users: BTreeMap<Op, Op>,
}

impl<'a> Levels<'a> {
    /// The loads of a body that may be started ahead, without those that are too narrow for an asynchronous copy.
    pub fn of_loop(ir: &'a Ir, axis: &'a AxisInfoAnalysis, body: Block, everything: bool, stages: i64) -> Levels<'a> {
        Levels::of_loop_with(ir, axis, body, everything, stages, false)
    }

    /// As [`Levels::of_loop`], with `narrow` also those.
    pub fn of_loop_with(
        ir: &'a Ir,
        axis: &'a AxisInfoAnalysis,
        body: Block,
        everything: bool,
        stages: i64,
        narrow: bool,
    ) -> Levels<'a> {
        let mut levels = Levels {
            ir,
            axis,
            seen: BTreeSet::new(),
            excluded: BTreeSet::new(),
            narrow,
            loads: vec![],
            stored: BTreeSet::new(),
            stores: StoredAhead::of_loop(ir, body),
            users: BTreeMap::new(),
        };
        let ops = body_ops(ir, body);
        for &op in &ops {
            if ir.kind(op).is_product() || ir.kind(op).belongs(Classes::TAKES_LOADS) {
                levels.seen.clear();
                levels.visit(op, op, 0);
            }
        }
        if everything {
            for &op in ops.iter().filter(|&&op| !ir.kind(op).is_load()) {
                levels.visit(op, op, 0);
            }
        }
        // Each level takes a stage of its own.
        levels.loads.retain(|l| l.1 < stages - 1);
        levels
    }

    fn visit(&mut self, op: Op, user: Op, level: i64) {
        if !self.seen.insert(op) || self.excluded.contains(&op) {
            return;
        }
        let (mut user, mut level) = (user, level);
        if self.ir.kind(op).is_load() {
            if !self.worth_it(op) {
                return;
            }
            if self.stores.reach(op) {
                self.stored.insert(op);
                return;
            }
            match self.loads.iter().find(|l| l.0 == op) {
                Some(&(_, known)) if known != level => {
                    self.loads.retain(|l| l.0 != op);
                    self.excluded.insert(op);
                    return;
                }
                Some(_) => {}
                None => {
                    self.loads.push((op, level));
                    self.users.insert(op, user);
                }
            }
            (user, level) = (op, level + 1);
        }
        let accumulator = accumulator(self.ir, op);
        for operand in nested_operands(self.ir, op) {
            let def = self.ir.def_op(operand).filter(|&d| self.ir.parent_block(d) == self.ir.parent_block(op));
            if let Some(def) = def.filter(|_| Some(operand) != accumulator) {
                self.visit(def, user, level);
            }
        }
    }

    /// Step 3.
    fn worth_it(&self, load: Op) -> bool {
        let ir = self.ir;
        if ir.kind(load).is_descriptor_load() {
            return loads::has_aligned_slots(ir, load);
        }
        let value = ir.result(load);
        if !self.narrow && !loads::is_wide_enough(ir, self.axis, load)
            || loads::wanted_by_dots(ir, value) == Wanted::Incompatible
        {
            return false;
        }
        let stored = loads::stored_encodings(ir, value);
        match stored.first() {
            Some(first) if stored.iter().any(|e| e != first) => false,
            Some(first) => self.narrow || loads::copy_bytes(ir.ty(value), first).is_none_or(|bytes| bytes >= 4),
            None => true,
        }
    }
}
