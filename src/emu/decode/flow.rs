//! Where divergent lanes meet again: the immediate postdominator of each branch.
//!
//! 1. The steps of a function are cut into blocks: at targets of branches, and behind branches and ends.
//! 2. Postdominators are the dominators of the reversed graph, from a node behind all ends. They are found by Cooper,
//!    Harvey and Kennedy's iteration over the blocks in reverse order.
//! 3. A branch meets at the first step of the immediate postdominator of its block, or nowhere if that is the end.
//!
//! Example: `@p bra L; a; L: b` has the blocks {bra}, {a} and {b}; the branch meets at `b`.

use super::op::Op;
use super::program::{Function, NOWHERE};

/// Replaces labels by indices of steps, and fills in where branches meet.
pub(super) fn resolve(function: &mut Function, labels: &[u32]) {
    let count = function.code.len() as u32;
    let at = |label: u32| labels.get(label as usize).copied().unwrap_or(count);
    for step in &mut function.code {
        match &mut step.op {
            Op::Branch { target, .. } => *target = at(*target),
            Op::BranchTable { targets, .. } => targets.iter_mut().for_each(|t| *t = at(*t)),
            _ => {}
        }
    }
    let graph = Graph::new(function);
    let meets = graph.postdominators();
    for (index, step) in function.code.iter_mut().enumerate() {
        if let Op::Branch { meet, .. } | Op::BranchTable { meet, .. } = &mut step.op {
            let block = graph.block_of[index] as usize;
            *meet = meets[block].map_or(NOWHERE, |b| graph.starts[b]);
        }
    }
}

struct Graph {
    /// The first step of each block.
    starts: Vec<u32>,
    block_of: Vec<u32>,
    /// The blocks after each block. The number of blocks stands for the end.
    after: Vec<Vec<usize>>,
}

/// The targets of a step, and whether the next step follows it.
fn ends(function: &Function, index: usize) -> Option<(Vec<u32>, bool)> {
    let step = &function.code[index];
    let goes_on = step.guard.is_some();
    match &step.op {
        Op::Branch { target, .. } => Some((vec![*target], goes_on)),
        Op::BranchTable { targets, .. } => Some((targets.clone(), goes_on)),
        Op::Return | Op::Exit | Op::Trap => Some((vec![], goes_on)),
        _ => None,
    }
}

impl Graph {
    fn new(function: &Function) -> Graph {
        let count = function.code.len();
        let mut leads = vec![false; count + 1];
        leads[0] = true;
        for index in 0..count {
            if let Some((targets, _)) = ends(function, index) {
                leads[index + 1] = true;
                targets.iter().for_each(|&t| leads[t as usize] = true);
            }
        }
        let starts: Vec<u32> = (0..count as u32).filter(|&i| leads[i as usize]).collect();
        let mut block_of = vec![0; count];
        for (block, &start) in starts.iter().enumerate() {
            let end = starts.get(block + 1).map_or(count, |&n| n as usize);
            block_of[start as usize..end].fill(block as u32);
        }
        let exit = starts.len();
        let block_at = |index: usize| block_of.get(index).map_or(exit, |&b| b as usize);
        let after = (0..exit).map(|block| {
            let end = starts.get(block + 1).map_or(count, |&n| n as usize);
            match ends(function, end - 1) {
                None => vec![block_at(end)],
                Some((targets, goes_on)) => {
                    let mut all: Vec<usize> = targets.iter().map(|&t| block_at(t as usize)).collect();
                    if goes_on {
                        all.push(block_at(end));
                    }
                    if all.is_empty() {
                        all.push(exit);
                    }
                    all
                }
            }
        });
        let after = after.collect();
        Graph { starts, block_of, after }
    }

    /// The immediate postdominator of each block; `None` is the end.
    fn postdominators(&self) -> Vec<Option<usize>> {
        let exit = self.starts.len();
        let mut before = vec![vec![]; exit + 1];
        for (block, after) in self.after.iter().enumerate() {
            after.iter().for_each(|&a| before[a].push(block));
        }
        let order = postorder(exit, &before);
        // The place of each block in the order; the end is the last. A block that never ends has none.
        let mut place = vec![usize::MAX; exit + 1];
        order.iter().enumerate().for_each(|(i, &b)| place[b] = i);
        let mut parent = vec![usize::MAX; exit + 1];
        parent[exit] = exit;
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().rev().skip(1) {
                let known = self.after[block].iter().copied().filter(|&a| parent[a] != usize::MAX);
                let Some(new) = known.reduce(|a, b| common(&parent, &place, a, b)) else { continue };
                if parent[block] != new {
                    parent[block] = new;
                    changed = true;
                }
            }
        }
        (0..exit).map(|b| Some(parent[b]).filter(|&p| p < exit)).collect()
    }
}

/// The nearest block that both have above them.
fn common(parent: &[usize], place: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while place[a] < place[b] {
            a = parent[a];
        }
        while place[b] < place[a] {
            b = parent[b];
        }
    }
    a
}

/// The blocks that reach the end, each behind the blocks that it is reached from in the reversed graph.
fn postorder(exit: usize, before: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; before.len()];
    let mut out = vec![];
    let mut stack = vec![(exit, 0)];
    seen[exit] = true;
    while let Some((block, next)) = stack.pop() {
        match before[block].get(next) {
            Some(&b) => {
                stack.push((block, next + 1));
                if !seen[b] {
                    seen[b] = true;
                    stack.push((b, 0));
                }
            }
            None => out.push(block),
        }
    }
    out
}
