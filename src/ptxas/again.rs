//! When ptxas's allocator of registers gives up, and what makes it try harder.
//!
//! For some kernels ptxas 13 answers with 32 registers and kilobytes of spills, where a thread may have 255 registers
//! and a fifth of the spills is enough. It chooses a number of registers for the blocks that could then share a
//! multiprocessor, and does not come back from a bad choice. Told that one block is enough, it chooses again.

use super::Usage;

/// One block on a multiprocessor is enough.
pub(super) const OPTIONS: [&str; 2] = ["--minnctapersm", "1"];

/// Registers of a multiprocessor. All architectures since sm_50 have as many.
const REGISTERS: u32 = 65_536;

/// The most registers of a thread.
const MOST: u32 = 255;

/// Whether a kernel spills with less than half of the registers that its threads may have.
pub(super) fn gave_up(usage: &Usage, ptx: &str) -> bool {
    usage.spilled() > 0 && usage.registers > 0 && usage.registers < allowed(ptx) / 2
}

/// The registers that a thread of the smallest block of a kernel may have.
fn allowed(ptx: &str) -> u32 {
    let numbers = |directive: &'static str| {
        let lines = ptx.lines().filter_map(move |line| line.trim_start().strip_prefix(directive));
        lines.filter_map(|rest| {
            let rest = rest.split("//").next().unwrap_or(rest);
            rest.split(',').map(|n| n.trim().parse::<u32>().ok()).product::<Option<u32>>()
        })
    };
    let threads = numbers(".reqntid ").chain(numbers(".maxntid ")).min().unwrap_or(1);
    let limit = numbers(".maxnreg ").min().unwrap_or(MOST);
    (REGISTERS / threads.max(1)).min(limit).min(MOST)
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
}
