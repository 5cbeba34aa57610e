//! The times at which a value is alive, as one interval over the text of a function.
//!
//! # Algorithm
//!
//! 1. One counter numbers every operation twice, on entering and on leaving it, in the order of the text: what is
//!    inside an operation lies between its two numbers.
//! 2. A value lives from the end of the operation that defines it (an argument: from the start of its block) to the end
//!    of its last use; a use inside a nested region counts at the operation of the value's own block that holds it, so
//!    a loop that uses it keeps it alive as a whole.
//! 3. Where a region has several blocks, the blocks that a value is live into are those from which a use is reached
//!    before its definition; it lives through all of those that it also leaves.
//! 4. The interval is the hull of these. Two values that are alive at one moment have intervals that meet.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::core::{Block, Ir, Op, Value};

/// From when to when, both included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Interval {
    pub start: u32,
    pub end: u32,
}

impl Interval {
    /// The whole function.
    pub const ALWAYS: Interval = Interval { start: 0, end: u32::MAX };

    #[must_use]
    pub fn meets(self, other: Interval) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    /// The least interval that holds both.
    #[must_use]
    pub fn hull(self, other: Interval) -> Interval {
        Interval { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// When each operation of a function runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Times {
    ops: BTreeMap<Op, Interval>,
    /// Before a block's first operation, and after its last.
    blocks: BTreeMap<Block, Interval>,
}

impl Times {
    /// Numbers the operations of a function.
    #[must_use]
    pub fn new(ir: &Ir, func: Op) -> Times {
        let mut this = Times::default();
        this.number(ir, func, &mut 0);
        this
    }

    fn number(&mut self, ir: &Ir, op: Op, clock: &mut u32) {
        let mut tick = || {
            *clock += 1;
            *clock
        };
        let start = tick();
        for &region in ir.regions_of(op) {
            for &block in ir.blocks_of(region) {
                *clock += 1;
                let first = *clock;
                for inner in ir.ops(block) {
                    self.number(ir, inner, clock);
                }
                *clock += 1;
                self.blocks.insert(block, Interval { start: first, end: *clock });
            }
        }
        *clock += 1;
        self.ops.insert(op, Interval { start, end: *clock });
    }

    /// When an operation runs, with everything inside it.
    #[must_use]
    pub fn of(&self, op: Op) -> Interval {
        self.ops.get(&op).copied().unwrap_or(Interval::ALWAYS)
    }

    /// When a value of the function is alive.
    #[must_use]
    pub fn live(&self, ir: &Ir, value: Value) -> Interval {
        let Some(home) = ir.value_block(value) else { return Interval::ALWAYS };
        let born = match ir.def_op(value) {
            Some(op) => self.of(op).end,
            None => self.block(home).start,
        };
        let mut live = Interval { start: born, end: born };
        let region = ir.parent_region(home);
        // The uses as operations of blocks of the value's own region.
        let uses: Vec<Op> = ir
            .users(value)
            .into_iter()
            .filter_map(|user| {
                std::iter::successors(Some(user), |&o| ir.parent_op(o))
                    .find(|&o| ir.parent_block(o).and_then(|b| ir.parent_region(b)) == region)
            })
            .collect();
        for &user in &uses {
            let time = self.of(user);
            // A user before the definition is reached by going round.
            live = live.hull(if ir.parent_block(user) == Some(home) {
                Interval { start: live.start, end: time.end }
            } else {
                time
            });
        }
        let blocks = region.map_or(&[][..], |r| ir.blocks_of(r));
        if blocks.len() > 1 {
            live = self.across_blocks(ir, blocks, home, &uses).into_iter().fold(live, Interval::hull);
        }
        live
    }

    /// Step 3: the blocks through which a value lives, and the parts of those in which it begins or ends.
    fn across_blocks(&self, ir: &Ir, blocks: &[Block], home: Block, uses: &[Op]) -> Vec<Interval> {
        let mut live_in: BTreeSet<Block> =
            uses.iter().filter_map(|&u| ir.parent_block(u)).filter(|&b| b != home).collect();
        let successors = |b: Block| ir.last_op(b).map_or(&[][..], |op| ir.successors(op));
        loop {
            let more: Vec<Block> = blocks
                .iter()
                .copied()
                .filter(|&b| b != home && !live_in.contains(&b) && successors(b).iter().any(|s| live_in.contains(s)))
                .collect();
            if more.is_empty() {
                break;
            }
            live_in.extend(more);
        }
        let mut parts = vec![];
        for &block in blocks {
            let (enters, leaves) = (live_in.contains(&block), successors(block).iter().any(|s| live_in.contains(s)));
            let whole = self.block(block);
            if enters {
                parts.push(Interval { start: whole.start, end: whole.start });
            }
            if leaves {
                parts.push(Interval { start: whole.end, end: whole.end });
            }
        }
        parts
    }

    fn block(&self, block: Block) -> Interval {
        self.blocks.get(&block).copied().unwrap_or(Interval::ALWAYS)
    }
}
