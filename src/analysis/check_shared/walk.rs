//! The walk along control flow: every path from the start of a function, loops until nothing changes.
//!
//! Where ways meet their states are joined. At the head of a loop states are told apart by the known integers that
//! decide about indices and phases ([`deciding`](super::values::deciding)): a loop over three buffers has one state for
//! each pair of buffer that is filled and buffer that is read, and both are known in each. Beyond [`MOST_STATES`] they
//! are joined and these integers are forgotten.
//!
//! A loop may end after each iteration, but for the first ones where it is known to run more often: what was started in
//! front of it is waited for in these.

use crate::ir::dialects::Classes;
use crate::ir::dialects::scf::cf::CondBr;
use crate::ir::dialects::scf::scf::{For, If};
use crate::ir::dialects::ttg::ttg::WarpSpecializePartitions;
use std::collections::BTreeMap;

use crate::ir::core::{Block, Op, Region, Value};
use crate::ir::dialects::ScfOp;

use super::Checker;
use super::state::State;
use super::values::{forget, hand_on, int};

/// How many states of one block are told apart.
const MOST_STATES: usize = 64;

/// What the integers are by which states of a block are told apart.
type Key = Vec<Option<i64>>;

/// The states at the start of one block.
#[derive(Default)]
struct Heads {
    states: BTreeMap<Key, State>,
    joined: bool,
}

impl Heads {
    /// Adds a state; its key if that was news.
    fn add(&mut self, args: &[Value], mut state: State) -> Option<Key> {
        if self.joined {
            state.ints.retain(|value, _| !args.contains(value));
        }
        let key: Key = args.iter().map(|arg| state.ints.get(arg).copied()).collect();
        if let Some(before) = self.states.get_mut(&key) {
            return before.join(&state).then_some(key);
        }
        self.states.insert(key.clone(), state);
        if self.states.len() <= MOST_STATES {
            return Some(key);
        }
        self.joined = true;
        let mut all = std::mem::take(&mut self.states).into_values();
        let mut whole = all.next()?;
        for state in all {
            whole.join(&state);
        }
        self.add(args, whole)
    }
}

/// Where control leaves a region: the last operation, and the state there.
type Exit = (Op, State);

impl Checker<'_> {
    /// Walks a region from a state in which the arguments of its first block are bound.
    pub(super) fn region(&mut self, region: Region, state: State) -> Vec<Exit> {
        let Some(entry) = self.ir.entry(region) else { return vec![] };
        let mut heads: BTreeMap<Block, Heads> = BTreeMap::new();
        let key = heads.entry(entry).or_default().add(self.ir.args(entry), state);
        let mut open: Vec<(Block, Key)> = key.map(|key| (entry, key)).into_iter().collect();
        // The exit of each state of each block; that of a later walk takes its place.
        let mut exits: BTreeMap<(Block, Key), Exit> = BTreeMap::new();
        while let Some((block, key)) = open.pop() {
            // States that were joined since have another key.
            let Some(state) = heads.get(&block).and_then(|h| h.states.get(&key)).cloned() else { continue };
            let Some((end, state)) = self.block(block, state) else { continue };
            for (target, handed) in self.branches(end, &state) {
                let args = self.ir.args(target);
                let mut next = state.clone();
                hand_on(self.ir, &mut next, &self.deciding, &handed, args);
                open.extend(heads.entry(target).or_default().add(args, next).map(|key| (target, key)));
            }
            if self.ir.successors(end).is_empty() {
                exits.insert((block, key), (end, state));
            }
        }
        exits.into_values().collect()
    }

    /// The blocks to which control may branch, with what it hands on.
    fn branches(&self, end: Op, state: &State) -> Vec<(Block, Vec<Value>)> {
        let ir = self.ir;
        let targets = ir.successors(end);
        let Some(branch) = CondBr::of(ir, end) else {
            return targets.iter().map(|&block| (block, ir.operands(end).to_vec())).collect();
        };
        let taken = int(ir, state, branch.condition(ir)).map(|condition| usize::from(condition == 0));
        let passed = targets.iter().zip([branch.true_args(ir), branch.false_args(ir)]);
        let open = passed.enumerate().filter(|(i, _)| taken.is_none_or(|t| t == *i));
        open.map(|(_, (&block, args))| (block, args.to_vec())).collect()
    }

    /// Walks a block to its last operation; nothing if control does not get there.
    fn block(&mut self, block: Block, mut state: State) -> Option<Exit> {
        let mut last = None;
        for op in self.ir.op_list(block) {
            self.run(op, &mut state);
            state = self.inside(op, state)?;
            last = Some(op);
        }
        Some((last?, state))
    }

    /// What the regions of an operation do, if control enters them.
    fn inside(&mut self, op: Op, state: State) -> Option<State> {
        let ir = self.ir;
        if let Some(looped) = For::of(ir, op) {
            return self.for_loop(looped, state);
        }
        if ir.is(op, ScfOp::While) {
            return self.while_loop(op, state);
        }
        if let Some(branch) = If::of(ir, op) {
            return self.either(branch, state);
        }
        if let Some(partitions) = WarpSpecializePartitions::of(ir, op) {
            for &region in ir.regions_of(op) {
                let args = ir.entry(region).map(|b| ir.args(b).to_vec()).unwrap_or_default();
                let mut inner = state.clone();
                hand_on(ir, &mut inner, &self.deciding, partitions.explicit_captures(ir), &args);
                self.region(region, inner);
            }
            return Some(state);
        }
        // Whatever else has control flow in it gives what its regions end with.
        if ir.kind(op).belongs(Classes::CONTROL_FLOW) {
            return self.one_of(op, ir.regions_of(op), &state);
        }
        Some(state)
    }

    /// One of several regions runs; what it ends with are the operation's results.
    fn one_of(&mut self, op: Op, regions: &[Region], state: &State) -> Option<State> {
        let mut after = None;
        for &region in regions.iter().filter(|&&r| self.ir.entry(r).is_some()) {
            for (end, mut state) in self.region(region, state.clone()) {
                hand_on(self.ir, &mut state, &self.deciding, self.ir.operands(end), self.ir.results(op));
                join_into(&mut after, state);
            }
        }
        after
    }

    fn either(&mut self, branch: If, state: State) -> Option<State> {
        let op = branch.0;
        let regions = self.ir.regions_of(op).to_vec();
        let condition = int(self.ir, &state, branch.condition(self.ir));
        let taken: Vec<Region> = regions
            .iter()
            .enumerate()
            .filter(|(i, _)| condition.is_none_or(|c| (c == 0) == (*i == 1)))
            .map(|(_, &r)| r)
            .collect();
        let mut after = self.one_of(op, &taken, &state);
        let skips = self.ir.body(op, 1).is_none() && condition.is_none_or(|c| c == 0);
        if skips {
            join_into(&mut after, state);
        }
        if let Some(after) = after.as_mut().filter(|_| self.goes_around_a_loop(op)) {
            after.leave_loop();
        }
        after
    }

    /// Whether a branch has an `scf.while` on one side and nothing on the other: the way past a loop that does not run.
    fn goes_around_a_loop(&self, branch: Op) -> bool {
        let ir = self.ir;
        let is_empty = |side| ir.body(branch, side).is_none_or(|block| ir.ops(block).count() == 1);
        is_empty(1) && ir.body(branch, 0).is_some_and(|block| ir.ops(block).any(|op| ir.is(op, ScfOp::While)))
    }

    fn for_loop(&mut self, looped: For, state: State) -> Option<State> {
        let (ir, op) = (self.ir, looped.0);
        let (Some(&region), Some(body)) = (ir.regions_of(op).first(), ir.body(op, 0)) else { return Some(state) };
        let Some((&number, carried)) = ir.args(body).split_first() else { return Some(state) };
        let starts = looped.init(ir);
        let bounds = (int(ir, &state, looped.lower(ir)), int(ir, &state, looped.upper(ir)));
        let runs = if let (Some(low), Some(high)) = bounds { Some(low < high) } else { None };
        let (mut heads, mut open, mut after) = (Heads::default(), vec![], None);
        if runs != Some(true) {
            let mut skipped = state.clone();
            hand_on(ir, &mut skipped, &self.deciding, starts, ir.results(op));
            skipped.leave_loop();
            join_into(&mut after, skipped);
        }
        if runs != Some(false) {
            let mut first = state;
            hand_on(ir, &mut first, &self.deciding, starts, carried);
            forget(&mut first, number);
            let started = first.flights().filter(|f| f.sure).count();
            let mut states = vec![first];
            for _ in 0..self.iterations(looped, bounds, &states[0]).saturating_sub(1).min(started) {
                states = self.iteration(region, states, (number, carried));
            }
            open.extend(states.into_iter().filter_map(|state| heads.add(carried, state)));
        }
        while let Some(key) = open.pop() {
            let Some(state) = heads.states.get(&key).cloned() else { continue };
            for (end, state) in self.region(region, state) {
                let yielded = ir.operands(end);
                let (mut next, mut out) = (state.clone(), state);
                hand_on(ir, &mut next, &self.deciding, yielded, carried);
                forget(&mut next, number);
                open.extend(heads.add(carried, next));
                hand_on(ir, &mut out, &self.deciding, yielded, ir.results(op));
                out.leave_loop();
                join_into(&mut after, out);
            }
        }
        if let Some(after) = &mut after {
            after.forget_which(ir.results(op));
        }
        after
    }

    /// How often a loop runs at least, if it runs.
    fn iterations(&self, looped: For, bounds: (Option<i64>, Option<i64>), state: &State) -> usize {
        let (Some(low), Some(high), Some(step)) = (bounds.0, bounds.1, int(self.ir, state, looped.step(self.ir)))
        else {
            return 1;
        };
        let length = high.checked_sub(low).filter(|_| step > 0).unwrap_or(1);
        usize::try_from(length / step + i64::from(length % step != 0)).unwrap_or(1)
    }

    /// One iteration from each of these states, after which another one follows.
    fn iteration(&mut self, region: Region, states: Vec<State>, (number, carried): (Value, &[Value])) -> Vec<State> {
        let mut heads = Heads::default();
        for (end, mut next) in states.into_iter().flat_map(|state| self.region(region, state)).collect::<Vec<_>>() {
            hand_on(self.ir, &mut next, &self.deciding, self.ir.operands(end), carried);
            forget(&mut next, number);
            heads.add(carried, next);
        }
        heads.states.into_values().collect()
    }

    fn while_loop(&mut self, op: Op, state: State) -> Option<State> {
        let ir = self.ir;
        let [before, behind] = ir.regions_of(op) else { return Some(state) };
        let (Some(head), Some(body)) = (ir.entry(*before), ir.entry(*behind)) else { return Some(state) };
        let args = ir.args(head);
        let (mut heads, mut open, mut after) = (Heads::default(), vec![], None);
        let mut first = state;
        hand_on(ir, &mut first, &self.deciding, ir.operands(op), args);
        open.extend(heads.add(args, first));
        while let Some(key) = open.pop() {
            let Some(state) = heads.states.get(&key).cloned() else { continue };
            for (condition, state) in self.region(*before, state) {
                let passed = ir.operands(condition).get(1..).unwrap_or(&[]);
                let goes_on = ir.operands(condition).first().and_then(|&c| int(ir, &state, c));
                if goes_on.is_none_or(|c| c == 0) {
                    let mut out = state.clone();
                    hand_on(ir, &mut out, &self.deciding, passed, ir.results(op));
                    join_into(&mut after, out);
                }
                if goes_on.is_none_or(|c| c != 0) {
                    let mut inner = state;
                    hand_on(ir, &mut inner, &self.deciding, passed, ir.args(body));
                    for (end, mut next) in self.region(*behind, inner) {
                        hand_on(ir, &mut next, &self.deciding, ir.operands(end), args);
                        open.extend(heads.add(args, next));
                    }
                }
            }
        }
        after
    }
}

fn join_into(after: &mut Option<State>, state: State) {
    match after {
        Some(after) => {
            after.join(&state);
        }
        None => *after = Some(state),
    }
}
