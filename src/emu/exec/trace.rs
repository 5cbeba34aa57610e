//! The trace of a warp: each step with its place, and what it wrote.

use super::env::Env;
use super::warp::Warp;
use crate::emu::decode::program::Step;

impl Env<'_, '_> {
    /// Whether the warp's steps are written down.
    #[inline]
    pub(crate) fn is_traced(&self, warp: &Warp) -> bool {
        match self.run.options.trace {
            None => false,
            Some((block, index)) => warp.index == index && self.blocks[warp.block].index == block,
        }
    }

    /// Writes down a step that is about to run: its place, its lanes, and its operands.
    pub(crate) fn traced(&mut self, warp: &Warp, step: &Step, active: u32) {
        if self.world.trace.len() >= self.run.options.max_trace {
            return;
        }
        let site = self.run.site(self.code(warp)).words();
        let first = active.trailing_zeros() as usize;
        let mut values = String::new();
        step.op.registers(&mut |slot, written| {
            if !written {
                values += &format!(" {:#x}", warp.reg(slot)[first]);
            }
        });
        self.world.trace.push(format!("{site}: lanes {active:#010x}, lane {first} reads{values}"));
    }
}
