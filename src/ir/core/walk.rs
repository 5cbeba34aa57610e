//! Walks over operations with everything nested in them.

use super::entity::{Block, Op};
use super::graph::Ir;

/// What a walk does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WalkControl {
    Advance,
    /// Do not enter this operation's regions.
    Skip,
    Stop,
}

impl Ir {
    /// Calls `f` on `root` and every operation nested in it, parents first, in order. Returns `false` if `f` stopped
    /// the walk.
    pub fn walk(&self, root: Op, f: &mut dyn FnMut(Op) -> WalkControl) -> bool {
        match f(root) {
            WalkControl::Stop => return false,
            WalkControl::Skip => return true,
            WalkControl::Advance => {}
        }
        for &region in self.regions_of(root) {
            for &block in self.blocks_of(region) {
                for op in self.ops(block) {
                    if !self.walk(op, f) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Every operation nested in `root` and `root` itself, parents first.
    #[must_use]
    pub fn all_ops(&self, root: Op) -> Vec<Op> {
        let mut out = vec![];
        self.walk(root, &mut |op| {
            out.push(op);
            WalkControl::Advance
        });
        out
    }

    /// Every operation nested in `root` and `root` itself, children first. MLIR's walk visits in this order by default.
    #[must_use]
    pub fn all_ops_post(&self, root: Op) -> Vec<Op> {
        fn go(ir: &Ir, op: Op, out: &mut Vec<Op>) {
            for &region in ir.regions_of(op) {
                for &block in ir.blocks_of(region) {
                    for inner in ir.ops(block) {
                        go(ir, inner, out);
                    }
                }
            }
            out.push(op);
        }
        let mut out = vec![];
        go(self, root, &mut out);
        out
    }

    /// Every block nested in `root`, in order.
    #[must_use]
    pub fn all_blocks(&self, root: Op) -> Vec<Block> {
        self.all_ops(root)
            .into_iter()
            .flat_map(|op| self.regions_of(op).to_vec())
            .flat_map(|r| self.blocks_of(r).to_vec())
            .collect()
    }
}
