//! `setmaxnreg`: warps of a block give registers to each other ("PTX ISA, setmaxnreg").
//!
//! - All warps of a warp group execute the same ones, in the same order. A warp that ends without is a finding.
//! - A block has a pool of registers. `.dec` gives to it, and `.inc` waits until it holds enough. How many registers a
//!   thread has at the start is known from `.maxnreg`. Without it the emulator takes the most that a block of this size
//!   can have, so a warp that waits forever here waits forever on a GPU too.
//! - How many registers a program needs is the assembler's business. A product that names more of them than the warp
//!   has is a finding, since all of these are there at once.

use std::collections::{BTreeMap, BTreeSet};

use super::Try;
use super::env::Env;
use super::warp::{Wait, Warp};
use crate::emu::decode::tensor_op::{Left, Tensor, Wgmma};
use crate::emu::report::Kind;

/// The registers of a multiprocessor.
const REGISTERS: u32 = 65536;
/// The most registers of a thread that `setmaxnreg` knows.
const MOST: u32 = 256;

/// A `setmaxnreg` that a warp group executed.
#[derive(Clone, Copy, Debug)]
struct Change {
    code: u32,
    /// The warp that was the first.
    warp: u32,
}

/// What a warp group did.
#[derive(Clone, Debug, Default)]
struct Group {
    changes: Vec<Change>,
    /// A warp that has ended, and how many of them it executed.
    ended: Option<(u32, usize)>,
}

/// The registers of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    groups: BTreeMap<u32, Group>,
    /// How many nobody has.
    free: u32,
}

/// The registers of a thread when a kernel starts.
pub(crate) fn at_start(directive: Option<u32>, threads: u32) -> u32 {
    let most = (REGISTERS / threads.max(1) / 8 * 8).min(MOST);
    directive.map_or(most, |n| n.min(most))
}

impl Env<'_, '_> {
    pub(crate) fn max_registers(&mut self, warp: &mut Warp, count: u32, active: u32) -> Try<()> {
        if !(24..=MOST).contains(&count) || !count.is_multiple_of(8) {
            let message = format!("{count} registers: the number must be a multiple of 8 from 24 to {MOST}");
            return Err(self.fault(warp, u32::MAX, Kind::Invalid, message));
        }
        if active != warp.live {
            let message = "only some lanes of the warp execute `setmaxnreg`";
            return Err(self.fault(warp, warp.live & !active, Kind::Divergence, message));
        }
        let registers = &mut self.blocks[warp.block].registers;
        let need = count.saturating_sub(warp.registers_now) * 32;
        if need > registers.free {
            // The step is executed again when there are enough.
            warp.wait = Some(Wait::Registers { need });
            warp.pc = warp.at;
            return Ok(());
        }
        registers.free = registers.free - need + warp.registers_now.saturating_sub(count) * 32;
        (warp.registers_now, warp.register_limit) = (count, Some(count));
        self.same_in_the_group(warp)
    }

    /// Compares a `setmaxnreg` with what the other warps of the group did.
    fn same_in_the_group(&mut self, warp: &mut Warp) -> Try<()> {
        let code = self.code(warp);
        let group = self.blocks[warp.block].registers.groups.entry(warp.index / 4).or_default();
        let number = warp.register_changes;
        warp.register_changes += 1;
        if let Some((other, _)) = group.ended.filter(|(_, executed)| *executed <= number) {
            let message = format!("warp {other} of the warp group has ended without this `setmaxnreg`");
            return Err(self.fault(warp, warp.live, Kind::Divergence, message));
        }
        let Some(change) = group.changes.get(number).copied() else {
            group.changes.push(Change { code, warp: warp.index });
            return Ok(());
        };
        if change.code == code {
            return Ok(());
        }
        let message = "the warps of a warp group do not execute the same `setmaxnreg`";
        let mut finding = self.finding(warp, warp.live, Kind::Divergence, message);
        finding.notes.push((format!("warp {} executed another one", change.warp), Some(self.run.site(change.code))));
        Err(Box::new(finding))
    }

    /// A warp ends. It has executed each `setmaxnreg` of its group, and its registers go back.
    pub(crate) fn check_register_changes(&mut self, warp: &Warp) -> Try<()> {
        let registers = &mut self.blocks[warp.block].registers;
        registers.free += warp.registers_now * 32;
        let group = registers.groups.entry(warp.index / 4).or_default();
        let executed = warp.register_changes;
        if group.ended.is_none_or(|(_, least)| executed < least) {
            group.ended = Some((warp.index, executed));
        }
        let Some(change) = group.changes.get(executed).copied() else { return Ok(()) };
        let message = "the warp ends without a `setmaxnreg` that its warp group executed";
        let mut finding = self.finding(warp, 0, Kind::Divergence, message);
        finding.notes.push((format!("warp {} executed it", change.warp), Some(self.run.site(change.code))));
        finding.help = Some("let all four warps of a warp group execute it".to_owned());
        Err(Box::new(finding))
    }

    /// Refuses a product that names more registers than the warp has.
    pub(crate) fn has_registers(&mut self, warp: &Warp, op: &Tensor) -> Try<()> {
        let Some(limit) = warp.register_limit else { return Ok(()) };
        let named: BTreeSet<_> = match op {
            Tensor::Wgmma(Wgmma { d, a: Left::Registers(a), .. }) => d.iter().chain(a).collect(),
            Tensor::Wgmma(w) => w.d.iter().collect(),
            // The result may take the place of the addend.
            Tensor::Mma(m) => m.a.iter().chain(&m.b).chain(&m.c).collect(),
            _ => return Ok(()),
        };
        let named = named.len();
        if named <= limit as usize {
            return Ok(());
        }
        let message = format!("the product uses {named} registers, and `setmaxnreg` has left {limit} to the warp");
        Err(self.fault(warp, warp.live, Kind::Invalid, message))
    }

    /// Whether the pool has registers for a warp that waits for them.
    pub(crate) fn has_free_registers(&self, block: usize, need: u32) -> bool {
        self.blocks[block].registers.free >= need
    }

    /// What a warp waits for, in words.
    pub(crate) fn waits_for_registers(&self, block: usize, need: u32) -> String {
        format!("waits for {need} registers, of which the block has {} to give", self.blocks[block].registers.free)
    }
}
