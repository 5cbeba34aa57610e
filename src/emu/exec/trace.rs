//! The trace of a warp: each step with its place, what it read, and what it wrote.
//!
//! Registers are those of the first lane that executes the step. A store shows what each lane writes where, and an
//! atomic operation what each lane finds there. What asynchronous work writes is not shown: it lands later.

use super::access::Spot;
use super::env::Env;
use super::lanes::each;
use super::warp::Warp;
use crate::emu::decode::op::{Address, Op, Space, Target};
use crate::emu::decode::program::Step;
use crate::emu::decode::slot::{Guard, Pred, Reg};
use crate::emu::num::types::mask;

impl Env<'_, '_> {
    /// Whether the warp's steps are written down.
    #[inline]
    pub(crate) fn is_traced(&self, warp: &Warp) -> bool {
        match self.run.options.trace {
            None => false,
            Some((block, index)) => warp.index == index && self.blocks[warp.block].index == block,
        }
    }

    /// Writes down a step that is about to run: its place, its lanes, its operands, and what it stores.
    pub(crate) fn traced(&mut self, warp: &Warp, step: &Step, active: u32) {
        if self.world.trace.len() >= self.run.options.max_trace {
            return;
        }
        let site = self.run.site(self.code(warp)).words();
        let first = active.trailing_zeros() as usize;
        let mut line = format!("{site}: lanes {active:#010x}, lane {first} reads");
        step.op.registers(&mut |slot, written| {
            if !written {
                line += &format!(" {:#x}", warp.reg(slot)[first]);
            }
        });
        match &step.op {
            Op::Store(s) => {
                line += &self.lines_of(warp, ("writes", s.space), &s.address, (&s.from, s.ty.bits()), active);
            }
            Op::Atomic(a) => {
                line += &self.lines_of(warp, ("gives", a.space), &a.address, (&a.from, a.ty.bits()), active);
            }
            _ => {}
        }
        self.world.trace.push(line);
    }

    /// Adds what the step wrote into registers to the line of the trace.
    pub(crate) fn traced_results(&mut self, warp: &Warp, step: &Step, active: u32) {
        // A reduction at a barrier has its result when the warp goes on.
        if self.world.trace.len() >= self.run.options.max_trace || matches!(step.op, Op::Barrier(_)) {
            return;
        }
        let first = active.trailing_zeros() as usize;
        let mut text = String::new();
        step.op.registers(&mut |slot, written| {
            if written {
                text += &format!(" {:#x}", warp.reg(slot)[first]);
            }
        });
        for p in predicates(&step.op) {
            text += &format!(" {}", warp.pred(Guard { pred: p, negated: false }) >> first & 1 == 1);
        }
        if let (false, Some(line)) = (text.is_empty(), self.world.trace.last_mut()) {
            *line += &format!("; it writes{text}");
        }
    }

    /// What each lane writes, and where.
    fn lines_of(
        &self,
        warp: &Warp,
        (verb, space): (&str, Space),
        address: &Address,
        (from, bits): (&[Reg], u32),
        active: u32,
    ) -> String {
        let addresses = address.lanes(warp);
        let one = |lane: usize| {
            let place = match self.locate(warp, space, addresses[lane], lane) {
                Ok(Spot::Global(at)) => match self.run.memory.find(at) {
                    Some((_, buffer, at)) => format!("`{}`+{at}", buffer.name),
                    None => format!("{at:#x}"),
                },
                Ok(Spot::Shared(block, at)) if block == warp.block => format!("shared {at:#x}"),
                Ok(Spot::Shared(block, at)) => format!("shared {at:#x} of the block of rank {block}"),
                Ok(Spot::Local(at)) => format!("local {at:#x}"),
                Ok(Spot::KernelParam(at) | Spot::CallParam(at)) => format!("param {at:#x}"),
                Err(_) => format!("{:#x}", addresses[lane]),
            };
            let values: Vec<_> = from.iter().map(|r| format!("{:#x}", warp.reg(*r)[lane] & mask(bits))).collect();
            format!("\n    lane {lane} {verb} {place}: {}", values.join(" "))
        };
        each(active).map(one).collect()
    }
}

/// The predicates that a step writes.
fn predicates(op: &Op) -> Vec<Pred> {
    match op {
        Op::Compare { d, d2, .. } => [*d].into_iter().chain(*d2).collect(),
        Op::ComparePair { d, d2, .. } => vec![*d, *d2],
        Op::PredLogic { d, .. } | Op::IsSpace { d, .. } => vec![*d],
        Op::Vote { d: Target::Pred(p), .. } | Op::Elect { p, .. } => vec![*p],
        Op::Shuffle { p, .. } | Op::Match { p, .. } => p.iter().copied().collect(),
        _ => vec![],
    }
}
