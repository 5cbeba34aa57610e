//! When ptxas's allocator of registers gives up, and what makes it try harder.
//!
//! For some kernels ptxas 13 answers with 32 registers and kilobytes of spills, where a thread may have 255 registers
//! and a fifth of the spills is enough. It chooses a number of registers for the blocks that could then share a
//! multiprocessor, and does not come back from a bad choice. Told that one block is enough, it chooses again.
//!
//! For others it takes more registers than it needs, and one block less shares a multiprocessor. A kernel with products
//! on the tensor cores waits for them, for barriers and for memory in turns, and another block fills the gaps. So where
//! a few registers less would make room for one more block, ptxas is told so; if it then spills no more than before,
//! that answer is taken. Asynchronous products run under other work of their block, so there only a second block is
//! worth it. A scan waits in turns as well, for one shuffle after the other: three of four scans across warps ran at
//! the speed of Triton's by the number of their blocks. Other kernels live from the loads that one thread has in
//! flight, for which they need the registers.

use super::Usage;
use crate::target::Target;

/// Bytes of PTX beyond which ptxas is not asked again for one more block: it takes seconds.
const LARGEST: usize = 300_000;

/// The most threads of a multiprocessor with which another block is worth it: half of what it holds.
const THREADS: u32 = 1024;

/// The most blocks of a multiprocessor.
const BLOCKS: u32 = 32;

/// Registers are given to warps in multiples of this many a thread.
const UNIT: u32 = 8;

/// Registers of a multiprocessor. All architectures since sm_50 have as many.
const REGISTERS: u32 = Target::REGISTERS_PER_MULTIPROCESSOR;

/// The most registers of a thread.
const MOST: u32 = 255;

/// Whether a kernel spills with less than half of the registers that its threads may have.
pub(super) fn gave_up(usage: &Usage, ptx: &str) -> bool {
    usage.spilled() > 0 && usage.registers > 0 && usage.registers < allowed(ptx) / 2
}

/// One block more than a multiprocessor has registers for, if a fifth less of them makes room for it and `shared` bytes
/// of a block's shared memory leave it.
pub(super) fn one_more_block(usage: &Usage, ptx: &str, target: &Target, shared: u32) -> Option<u32> {
    let is_asynchronous = ptx.contains("wgmma.mma_async");
    let waits = is_asynchronous || ptx.contains("mma.sync") || scans(ptx);
    let is_limited = numbers(ptx, ".maxnreg ").chain(numbers(ptx, ".minnctapersm ")).next().is_some();
    if ptx.len() > LARGEST || !waits || is_limited || usage.spilled() > 0 {
        return None;
    }
    let threads = threads(ptx);
    let fits = |blocks: u32| REGISTERS / (blocks * threads) / UNIT * UNIT;
    let blocks = REGISTERS / (usage.registers.max(1).next_multiple_of(UNIT) * threads) + 1;
    let has_room = blocks <= if is_asynchronous { 2 } else { BLOCKS }
        && blocks * threads <= THREADS
        && shared <= target.shared.bytes_each(blocks)
        && fits(blocks) * 5 >= usage.registers * 4;
    has_room.then_some(blocks)
}

/// Whether a kernel scans from lane to lane: nothing else shuffles up or down.
fn scans(ptx: &str) -> bool {
    ["shfl.sync.up", "shfl.sync.down"].iter().any(|shuffle| ptx.contains(shuffle))
}

/// Whether ptxas's second answer, for more blocks, is better than its first. One with far fewer registers than it may
/// have keeps too few values at once, and instructions wait for each other.
pub(super) fn is_better(second: &Usage, first: &Usage) -> bool {
    second.spilled() <= first.spilled() && second.registers * 10 >= first.registers * 7
}

/// The registers that a thread of the smallest block of a kernel may have.
fn allowed(ptx: &str) -> u32 {
    let limit = numbers(ptx, ".maxnreg ").min().unwrap_or(MOST);
    (REGISTERS / threads(ptx)).min(limit).min(MOST)
}

/// The threads of the smallest block of a kernel.
fn threads(ptx: &str) -> u32 {
    numbers(ptx, ".reqntid ").chain(numbers(ptx, ".maxntid ")).min().unwrap_or(1).max(1)
}

/// What a directive says wherever it stands: the product of its numbers.
fn numbers(ptx: &str, directive: &'static str) -> impl Iterator<Item = u32> {
    let lines = ptx.lines().filter_map(move |line| line.trim_start().strip_prefix(directive));
    lines.filter_map(|rest| {
        let rest = rest.split("//").next().unwrap_or(rest);
        rest.split(',').map(|n| n.trim().parse::<u32>().ok()).product::<Option<u32>>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_registers_and_spills_are_a_defeat() {
        let usage = |registers, spill_stores| Usage { registers, spill_stores, ..Usage::default() };
        let ptx = |directives: &str| format!(".visible .entry k()\n{directives}\n{{ ret; }}\n");
        assert!(gave_up(&usage(32, 8), &ptx(".reqntid 128")));
        assert!(gave_up(&usage(32, 8), &ptx(".reqntid 16, 8, 1")));
        assert!(!gave_up(&usage(32, 0), &ptx(".reqntid 128")));
        assert!(!gave_up(&usage(255, 8), &ptx(".reqntid 128")));
        // 1024 threads share 64 registers each, and the author may want fewer.
        assert!(!gave_up(&usage(32, 8), &ptx(".reqntid 1024")));
        assert!(!gave_up(&usage(32, 8), &ptx(".reqntid 128\n.maxnreg 32")));
    }

    #[test]
    fn one_more_block_where_a_few_registers_make_room() {
        let target = Target::parse("sm_90a").unwrap();
        let usage = |registers| Usage { registers, ..Usage::default() };
        let ptx = |more: &str| format!(".visible .entry k()\n.reqntid 64\n{more}{{ mma.sync.aligned; ret; }}\n");
        let blocks = |registers, ptx: &str, shared| one_more_block(&usage(registers), ptx, &target, shared);
        // 178 registers are 184 a thread, so 65,536 are five blocks of 64 threads; 168 are six.
        assert_eq!(blocks(178, &ptx(""), 0), Some(6));
        assert_eq!(blocks(178, &ptx(""), 30_000), Some(6));
        // Six blocks of 40,000 bytes do not fit.
        assert_eq!(blocks(178, &ptx(""), 40_000), None);
        // A third of the registers is too much.
        assert_eq!(blocks(255, &ptx("").replace("64", "256"), 0), None);
        // The author has said how many there may be.
        assert_eq!(blocks(178, &ptx(".maxnreg 200\n"), 0), None);
        assert_eq!(blocks(178, &ptx("").replace("mma.sync", "add"), 0), None);
        assert_eq!(blocks(178, &ptx("").replace("mma.sync", "shfl.sync.down"), 0), Some(6));
        // Five blocks are enough for asynchronous products; one is not.
        assert_eq!(blocks(178, &ptx("").replace("mma.sync", "wgmma.mma_async"), 0), None);
        assert_eq!(blocks(150, &ptx("").replace("64", "256").replace("mma.sync", "wgmma.mma_async"), 0), Some(2));
        assert_eq!(one_more_block(&Usage { spill_loads: 4, ..usage(178) }, &ptx(""), &target, 0), None);
    }

    #[test]
    fn another_block_may_not_cost_too_much() {
        let usage = |registers, spill_loads| Usage { registers, spill_loads, ..Usage::default() };
        assert!(is_better(&usage(168, 0), &usage(178, 0)));
        assert!(!is_better(&usage(168, 4), &usage(178, 0)));
        assert!(!is_better(&usage(122, 0), &usage(198, 0)));
    }
}
