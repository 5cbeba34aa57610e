//! Executes the steps of a warp until it waits, ends, or has used up its turn.

use super::Try;
use super::env::Env;
use super::lanes::put;
use super::warp::Warp;
use crate::emu::decode::op::{Join, Op, Order};
use crate::emu::decode::program::{Function, Guard, Lanes, Pred, Reg, Step};
use crate::emu::num::types::mask;
use crate::emu::observe::Act;
use crate::emu::report::Kind;

impl Env<'_, '_> {
    /// Executes up to so many steps. The result is how many there were.
    pub(crate) fn execute(&mut self, warp: &mut Warp, most: u64) -> Try<u64> {
        let run = self.run;
        let mut done = 0;
        while done < most {
            let function: &Function = &run.program.functions[warp.function];
            let step = &function.code[warp.pc as usize];
            warp.at = warp.pc;
            warp.pc += 1;
            done += 1;
            warp.steps += 1;
            if warp.torn && self.parks(warp, &step.op)? {
                continue;
            }
            let active = match step.guard {
                None => warp.mask,
                Some(guard) => warp.mask & warp.pred(guard),
            };
            if active != 0 {
                if warp.products.is_busy() {
                    self.check_in_flight(warp, function, active)?;
                }
                if step.touches_products {
                    self.touched(warp, &step.op);
                }
                if self.is_traced(warp) {
                    self.traced(warp, step, active);
                    self.step(warp, step, active)?;
                    self.traced_results(warp, step, active);
                } else {
                    self.step(warp, step, active)?;
                }
            }
            if warp.pc == warp.meet || warp.mask == 0 {
                warp.settle();
            }
            if warp.wait.is_some() {
                break;
            }
            warp.parked &= !active;
            if warp.is_done() {
                self.exited(warp)?;
                break;
            }
        }
        Ok(done)
    }

    #[inline]
    fn step(&mut self, warp: &mut Warp, step: &Step, active: u32) -> Try<()> {
        match &step.op {
            Op::Unary { f, d, a } => {
                let mut out: Lanes = [0; 32];
                f(&mut out, warp.reg(*a));
                put(warp.reg_mut(*d), &out, active);
            }
            Op::Binary { f, d, a, b } => {
                let mut out: Lanes = [0; 32];
                f(&mut out, warp.reg(*a), warp.reg(*b));
                put(warp.reg_mut(*d), &out, active);
            }
            Op::Ternary { f, d, a, b, c } => {
                let mut out: Lanes = [0; 32];
                f(&mut out, warp.reg(*a), warp.reg(*b), warp.reg(*c));
                put(warp.reg_mut(*d), &out, active);
            }
            Op::Move { d, a } => {
                let value = *warp.reg(*a);
                put(warp.reg_mut(*d), &value, active);
            }
            Op::Select { d, a, b, p } => {
                let p = warp.pred(*p);
                let mut out = *warp.reg(*b);
                put(&mut out, warp.reg(*a), p);
                put(warp.reg_mut(*d), &out, active);
            }
            Op::Compare { f, d, d2, a, b, join } => {
                let bits = f(warp.reg(*a), warp.reg(*b));
                set_compared(warp, bits, (*d, *d2), *join, active);
            }
            Op::PredLogic { f, d, a, b } => {
                let bits = f(warp.pred(*a), warp.pred(*b));
                warp.set_pred(*d, bits, active);
            }
            Op::Load(load) => self.load(warp, load, active)?,
            Op::Store(store) => self.store(warp, store, active)?,
            Op::Branch { target, meet } => {
                if active == warp.mask {
                    warp.pc = *target;
                } else {
                    let target_first = self.random.once_in(2);
                    warp.diverge(*target, active, *meet, target_first);
                }
                if *target <= warp.at {
                    warp.went_back();
                }
            }
            Op::Special { d, what } => {
                let value = self.special(warp, *what);
                warp.set(*d, &value, active);
            }
            Op::Pack { d, from, bits } => {
                let mut out: Lanes = [0; 32];
                for (i, part) in from.iter().enumerate() {
                    let part = warp.reg(*part);
                    (0..32).for_each(|l| out[l] |= (part[l] & mask(*bits)) << (i as u32 * bits));
                }
                warp.set(*d, &out, active);
            }
            Op::Unpack { to, a, bits } => {
                let value = *warp.reg(*a);
                for (i, part) in to.iter().enumerate() {
                    let (shift, keep) = (i as u32 * bits, mask(*bits));
                    let mut out: Lanes = [0; 32];
                    (0..32).for_each(|l| out[l] = value[l] >> shift & keep);
                    warp.set(*part, &out, active);
                }
            }
            other => self.rare_step(warp, other, active)?,
        }
        Ok(())
    }

    /// The steps that are no arithmetic, loads or stores.
    fn rare_step(&mut self, warp: &mut Warp, op: &Op, active: u32) -> Try<()> {
        match op {
            Op::Quaternary { f, d, a } => {
                let [x, y, z, w] = a.map(|r| *warp.reg(r));
                let out: Lanes = std::array::from_fn(|i| f([x[i], y[i], z[i], w[i]]));
                warp.set(*d, &out, active);
            }
            Op::Carry { f, d, a, reads, writes } => {
                let [x, y, z] = a.map(|r| *warp.reg(r));
                let (mut out, mut carries) = ([0; 32], 0);
                for i in 0..32 {
                    let (value, carry) = f([x[i], y[i], z[i]], *reads && warp.carry >> i & 1 == 1);
                    out[i] = value;
                    carries |= u32::from(carry) << i;
                }
                warp.set(*d, &out, active);
                if *writes {
                    warp.carry = warp.carry & !active | carries & active;
                }
            }
            Op::ComparePair { low, high, d, d2, a, b, join } => {
                let (x, y) = (low(warp.reg(*a), warp.reg(*b)), high(warp.reg(*a), warp.reg(*b)));
                set_compared(warp, x, (*d, None), *join, active);
                set_compared(warp, y, (*d2, None), *join, active);
            }
            Op::Atomic(atomic) => self.atomic(warp, atomic, active)?,
            Op::Cvta { d, a, space, to } => {
                let window = self.window_of(*space);
                let add = if *to { window.wrapping_neg() } else { window };
                let (from, mut value) = (warp.reg(*a), [0; 32]);
                (0..32).for_each(|l| value[l] = from[l].wrapping_add(add));
                warp.set(*d, &value, active);
            }
            Op::IsSpace { d, a, space } => {
                let base = self.window_of(*space);
                let is = |v: u64| {
                    let window = crate::emu::memory::window(v);
                    window == crate::emu::memory::window(base)
                };
                let bits = warp.reg(*a).iter().enumerate().fold(0, |all, (i, v)| all | u32::from(is(*v)) << i);
                warp.set_pred(*d, bits, active);
            }
            Op::Mapa { d, a, rank, generic } => self.mapa(warp, (*d, *a, *rank), *generic, active)?,
            Op::GetRank { d, a, generic } => {
                let window = if *generic { crate::emu::memory::SHARED_WINDOW } else { 0 };
                let value = warp.reg(*a).map(|v| v.wrapping_sub(window) >> super::access::RANK_SHIFT & 0xff);
                warp.set(*d, &value, active);
            }
            Op::BranchTable { index, targets, meet } => self.branch_table(warp, *index, targets, *meet, active)?,
            Op::Call(call) => self.call(warp, call, active)?,
            Op::Return => warp.leave(active, false),
            Op::Exit => warp.leave(active, true),
            Op::Trap => return Err(self.fault(warp, active, Kind::Trap, "the program executes `trap`")),
            Op::Nop => self.observe(warp, active, || Act::Nothing),
            Op::Fence { order, scope } => {
                if *order != Order::Weak {
                    self.observe(warp, active, || Act::Fence);
                }
                if let (Some(clocks), true) = (self.order.as_mut(), *order != Order::Weak) {
                    clocks.fence(warp.agent, active, self.world.everywhere.places.told(*scope));
                }
            }
            Op::FenceAsync => {
                self.observe(warp, active, || Act::ProxyFence);
                if let Some(clocks) = self.order.as_mut() {
                    clocks.fence_async(warp.agent);
                }
            }
            Op::FenceTensorMap { map } => self.fence_map(warp, map.as_ref(), active),
            Op::GridWait => {
                if let Some(clocks) = self.order.as_mut() {
                    clocks.wait_for_earlier(warp.agent);
                }
            }
            Op::Shuffle { .. }
            | Op::Vote { .. }
            | Op::Match { .. }
            | Op::Redux { .. }
            | Op::ActiveMask { .. }
            | Op::Elect { .. }
            | Op::WarpBarrier { .. } => self.exchange(warp, op, active)?,
            Op::Barrier(barrier) => self.barrier(warp, barrier, active)?,
            Op::ClusterArrive { release } => self.cluster_arrive(warp, *release, active)?,
            Op::ClusterWait { .. } => self.cluster_wait(warp, active)?,
            Op::Async(op) => self.asynchronous(warp, op, active)?,
            Op::Tensor(op) => self.tensor(warp, op, active)?,
            // `step` has executed the others.
            _ => {}
        }
        Ok(())
    }

    /// The address of a variable in another block's shared memory.
    fn mapa(&mut self, warp: &mut Warp, (d, a, rank): (Reg, Reg, Reg), generic: bool, active: u32) -> Try<()> {
        let window = if generic { crate::emu::memory::SHARED_WINDOW } else { 0 };
        let (addresses, ranks) = (*warp.reg(a), *warp.reg(rank));
        let mut out = [0; 32];
        for lane in super::lanes::each(active) {
            if ranks[lane] >= self.blocks.len() as u64 {
                let message = format!("the cluster has {} blocks, and none of rank {}", self.blocks.len(), ranks[lane]);
                return Err(self.fault(warp, 1 << lane, Kind::Invalid, message));
            }
            let within = addresses[lane].wrapping_sub(window) & ((1 << super::access::RANK_SHIFT) - 1);
            out[lane] = window + (ranks[lane] << super::access::RANK_SHIFT | within);
        }
        warp.set(d, &out, active);
        Ok(())
    }

    /// `brx.idx`: one target after the other leaves the lanes that stay.
    fn branch_table(&mut self, warp: &mut Warp, index: Reg, targets: &[u32], meet: u32, active: u32) -> Try<()> {
        let indices = *warp.reg(index);
        if let Some(lane) = super::lanes::each(active).find(|&l| indices[l] >= targets.len() as u64) {
            let message = format!("the table has {} labels, and none of number {}", targets.len(), indices[lane]);
            return Err(self.fault(warp, 1 << lane, Kind::Invalid, message));
        }
        let mut left = active;
        for (i, target) in targets.iter().enumerate() {
            let taken = super::lanes::each(left).filter(|&l| indices[l] == i as u64).fold(0, |m, l| m | 1 << l);
            left &= !taken;
            if taken == 0 {
                continue;
            }
            if taken == warp.mask {
                warp.pc = *target;
                return Ok(());
            }
            // The lanes that stay come first, until the last of them has its target.
            warp.diverge(*target, taken, meet, false);
        }
        Ok(())
    }
}

/// Sets the results of a comparison, joined with a predicate.
fn set_compared(warp: &mut Warp, bits: u32, (d, d2): (Pred, Option<Pred>), join: Option<(Join, Guard)>, active: u32) {
    let joined = |bits: u32, warp: &Warp| match join {
        None => bits,
        Some((join, guard)) => {
            let other = warp.pred(guard);
            match join {
                Join::And => bits & other,
                Join::Or => bits | other,
                Join::Xor => bits ^ other,
            }
        }
    };
    let (yes, no) = (joined(bits, warp), joined(!bits, warp));
    warp.set_pred(d, yes, active);
    if let Some(d2) = d2 {
        warp.set_pred(d2, no, active);
    }
}
