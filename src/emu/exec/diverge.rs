//! Lanes of one warp that wait for each other ("PTX ISA, Independent Thread Scheduling"): each lane makes progress,
//! though others of its warp go round a loop.
//!
//! A path of a warp normally goes on until it meets the others. After [`PATIENCE`] rounds of loops another path gets
//! its turn: the other side of the branch, or lanes that wait where paths meet. In the second case the lanes that wait
//! go on before the others have come, and the warp is *torn*. Lanes of a torn warp that reach an instruction for the
//! whole warp are *parked* there until the others come too.
//!
//! The order of the stack stays as it was: lanes are above the place where they meet others.
//!
//! Example: 32 lanes try to take a lock in a loop. One takes it, leaves the loop, and waits at its end for the others,
//! who never come. After a while it goes on, gives the lock back, and the next lane gets it.

use super::Try;
use super::env::Env;
use super::warp::{Path, Warp};
use crate::emu::decode::op::Op;

/// The backward branches of a path before another one gets its turn.
const PATIENCE: u32 = 1000;

impl Warp {
    /// Counts a backward branch.
    #[inline]
    pub(crate) fn went_back(&mut self) {
        self.rounds += 1;
        if self.rounds >= PATIENCE {
            self.rounds = 0;
            self.turn(true);
        }
    }

    /// Gives another path its turn. `tears` says whether lanes that wait for others may go on before these have come.
    pub(crate) fn turn(&mut self, tears: bool) -> bool {
        let mut above = self.mask;
        for i in (0..self.stack.len()).rev() {
            let path = self.stack[i];
            let free = path.mask & !above & !self.parked;
            above |= path.mask;
            if free == 0 || free != path.mask && !tears {
                continue;
            }
            if free == path.mask {
                self.stack.remove(i);
            } else {
                self.stack[i].mask &= !free;
                self.torn = true;
            }
            self.stack.push(Path { pc: self.pc, meet: self.meet, mask: self.mask });
            (self.pc, self.meet, self.mask) = (path.pc, path.meet, free);
            return true;
        }
        false
    }

    /// Joins the paths that are parked at the step that executes.
    fn join(&mut self) {
        let (at, meet, parked) = (self.at, self.meet, self.parked);
        let mut joined = 0;
        self.stack.retain(|p| {
            let is_here = p.pc == at && p.meet == meet && p.mask & !parked == 0;
            joined |= if is_here { p.mask } else { 0 };
            !is_here
        });
        self.mask |= joined;
        self.parked &= !self.mask;
    }
}

impl Env<'_, '_> {
    /// Whether the lanes of a torn warp are parked at a step that needs more lanes. Joins those that wait there.
    pub(crate) fn parks(&mut self, warp: &mut Warp, op: &Op) -> Try<bool> {
        if warp.stack.is_empty() && warp.mask == warp.live {
            (warp.torn, warp.parked) = (false, 0);
            return Ok(false);
        }
        let all = match op {
            Op::Shuffle { members, .. }
            | Op::Vote { members, .. }
            | Op::Match { members, .. }
            | Op::Redux { members, .. }
            | Op::Elect { members, .. }
            | Op::WarpBarrier { members } => self.uniform(warp, warp.reg(*members), warp.mask)? as u32 & warp.live,
            Op::Barrier(_) | Op::ClusterArrive { .. } | Op::ClusterWait { .. } | Op::Tensor(_) => warp.live,
            _ => return Ok(false),
        };
        warp.join();
        if all & !warp.mask == 0 {
            return Ok(false);
        }
        let (pc, lanes) = (warp.pc, warp.mask);
        warp.pc = warp.at;
        warp.parked |= lanes;
        if warp.turn(true) {
            return Ok(true);
        }
        // Nobody else can go on, so those who are missing never come.
        warp.parked &= !lanes;
        warp.pc = pc;
        Ok(false)
    }
}
