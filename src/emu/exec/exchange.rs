//! What the lanes of a warp tell each other ("PTX ISA, shfl.sync", "vote.sync", "match.sync", "redux.sync",
//! "elect.sync", "activemask", "bar.warp.sync").
//!
//! A member mask names the lanes that must be there. The emulator asks that all of them that have not exited execute
//! the instruction together.

use super::Try;
use super::env::Env;
use super::lanes::each;
use super::warp::Warp;
use crate::emu::decode::op::{Op, Shuffle, Vote};
use crate::emu::decode::program::Reg;
use crate::emu::observe::Act;
use crate::emu::report::Kind;

impl Env<'_, '_> {
    /// Checks the member mask. The result is the lanes that take part.
    fn members(&mut self, warp: &Warp, members: Reg, active: u32) -> Try<u32> {
        let mask = self.uniform(warp, warp.reg(members), active)? as u32;
        if active & !mask != 0 {
            let message = format!("the member mask {mask:#x} leaves out lanes that execute the instruction");
            return Err(self.fault(warp, active & !mask, Kind::Divergence, message));
        }
        let missing = mask & warp.live & !active;
        if missing != 0 {
            let message = format!("lanes of the member mask {mask:#x} do not execute the instruction with the others");
            let mut finding = self.finding(warp, missing, Kind::Divergence, message);
            finding.help = Some("let all lanes of the mask reach the instruction on one path".to_owned());
            return Err(Box::new(finding));
        }
        Ok(mask & active)
    }

    pub(crate) fn exchange(&mut self, warp: &mut Warp, op: &Op, active: u32) -> Try<()> {
        match *op {
            Op::Shuffle { d, p, a, b, c, members, mode } => {
                let there = self.members(warp, members, active)?;
                self.shuffle(warp, (d, p), [a, b, c], mode, there)?;
            }
            Op::Vote { d, p, members, mode } => {
                let there = self.members(warp, members, active)?;
                let yes = warp.pred(p) & there;
                let value = match mode {
                    Vote::All => u32::from(yes == there),
                    Vote::Any => u32::from(yes != 0),
                    Vote::Uniform => u32::from(yes == 0 || yes == there),
                    Vote::Ballot => yes,
                };
                warp.set_target(d, value, active);
            }
            Op::Match { d, p, a, members, all } => {
                let there = self.members(warp, members, active)?;
                let values = *warp.reg(a);
                let same =
                    |lane: usize| each(there).filter(|&o| values[o] == values[lane]).fold(0u32, |m, o| m | 1 << o);
                if all {
                    let is_one = each(there).next().is_none_or(|first| same(first) == there);
                    let mask = if is_one { there } else { 0 };
                    warp.set(d, &[u64::from(mask); 32], active);
                    if let Some(p) = p {
                        warp.set_pred(p, if is_one { u32::MAX } else { 0 }, active);
                    }
                } else {
                    let found =
                        std::array::from_fn(|lane| if active >> lane & 1 == 1 { u64::from(same(lane)) } else { 0 });
                    warp.set(d, &found, active);
                }
            }
            Op::Redux { f, d, a, members } => {
                let there = self.members(warp, members, active)?;
                let values = *warp.reg(a);
                let total = each(there).map(|lane| values[lane] & 0xffff_ffff).reduce(f).unwrap_or(0);
                warp.set(d, &[total & 0xffff_ffff; 32], active);
            }
            Op::ActiveMask { d } => warp.set(d, &[u64::from(active); 32], active),
            Op::Elect { d, p, members } => {
                let there = self.members(warp, members, active)?;
                // The lowest lane is a legal choice, and the one that the hardware makes.
                let leader = there.trailing_zeros();
                warp.set(d, &[u64::from(leader); 32], active);
                warp.set_pred(p, 1u32.checked_shl(leader).unwrap_or(0), active);
            }
            Op::WarpBarrier { members } => {
                self.members(warp, members, active)?;
                self.observe(warp, active, || Act::WarpBarrier);
                if let Some(order) = self.order.as_mut() {
                    order.warp_sync(warp.agent);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// `shfl`: the lane that each lane reads, by the rules of the PTX ISA.
    fn shuffle(
        &mut self,
        warp: &mut Warp,
        (d, p): (Reg, Option<crate::emu::decode::program::Pred>),
        [a, b, c]: [Reg; 3],
        mode: Shuffle,
        there: u32,
    ) -> Try<()> {
        let (values, bs, cs) = (*warp.reg(a), *warp.reg(b), *warp.reg(c));
        let mut out = values;
        let mut valid = 0;
        for lane in each(there) {
            let (bval, cval) = (bs[lane] as i32 & 0x1f, cs[lane] as i32);
            let (clamp, segment) = (cval & 0x1f, cval >> 8 & 0x1f);
            let lane_id = lane as i32;
            let max = lane_id & segment | clamp & !segment;
            let min = lane_id & segment;
            let (mut source, inside) = match mode {
                Shuffle::Up => (lane_id - bval, lane_id - bval >= max),
                Shuffle::Down => (lane_id + bval, lane_id + bval <= max),
                Shuffle::Butterfly => (lane_id ^ bval, (lane_id ^ bval) <= max),
                Shuffle::Index => {
                    let j = min | bval & !segment;
                    (j, j <= max)
                }
            };
            if !inside {
                source = lane_id;
            }
            if there >> source & 1 == 0 {
                let message = format!("the lane reads lane {source}, which does not take part");
                return Err(self.fault(warp, 1 << lane, Kind::Divergence, message));
            }
            out[lane] = values[source as usize] & 0xffff_ffff;
            valid |= u32::from(inside) << lane;
        }
        warp.set(d, &out, there);
        if let Some(p) = p {
            warp.set_pred(p, valid, there);
        }
        Ok(())
    }
}
