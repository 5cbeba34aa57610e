//! What the text of PTX says of a kernel: its blocks, its limits, and what stands in its loops.

use std::collections::{BTreeMap, BTreeSet};

use super::{WARP, pressure};

/// The directive of a kernel that says how many threads its blocks have.
pub(super) const THREADS_OF_A_BLOCK: &str = ".reqntid ";

/// The same, for the most threads.
pub(super) const MOST_THREADS: &str = ".maxntid ";

/// The directive that says how many blocks should share a multiprocessor.
pub(super) const BLOCKS_AT_ONCE: &str = ".minnctapersm ";

/// The directive that says how many registers a thread may have.
pub(super) const MOST_REGISTERS: &str = ".maxnreg ";

/// What the warps of a block wait for each other with.
pub(super) const WAIT_OF_A_BLOCK: &str = "bar.sync";

/// Whether a branch goes back to a label above it.
pub(super) fn loops(ptx: &str) -> bool {
    let mut labels = BTreeSet::new();
    ptx.lines().map(str::trim).any(|line| {
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label);
        }
        pressure::branch_target(line).is_some_and(|label| labels.contains(label))
    })
}

/// Whether threads exchange values in a loop.
pub(super) fn reduces_in_a_loop(ptx: &str) -> bool {
    is_in_a_loop(ptx, "shfl.sync")
}

/// Whether the threads of a block, or of a warp, exchange values in a loop.
pub(super) fn exchanges_in_a_loop(ptx: &str) -> bool {
    [WAIT_OF_A_BLOCK, "shfl.sync", "redux.sync"].iter().any(|exchange| is_in_a_loop(ptx, exchange))
}

/// Whether an instruction stands between a label and a branch back to it.
pub(super) fn is_in_a_loop(ptx: &str, instruction: &str) -> bool {
    let (mut labels, mut last) = (BTreeMap::new(), None);
    ptx.lines().map(str::trim).enumerate().any(|(at, line)| {
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, at);
        }
        if line.contains(instruction) {
            last = Some(at);
        }
        pressure::branch_target(line).and_then(|label| labels.get(label)).is_some_and(|&start| last > Some(start))
    })
}

/// Whether a line of PTX says how many threads a block has.
pub(super) fn says_threads(line: &str) -> bool {
    [THREADS_OF_A_BLOCK, MOST_THREADS].iter().any(|directive| line.trim_start().starts_with(directive))
}

/// Whether the PTX says how many registers or blocks there may be.
pub(super) fn is_limited(ptx: &str) -> bool {
    numbers(ptx, MOST_REGISTERS).chain(numbers(ptx, BLOCKS_AT_ONCE)).next().is_some()
}

/// The threads of the smallest block of a kernel.
pub(super) fn threads(ptx: &str) -> u32 {
    numbers(ptx, THREADS_OF_A_BLOCK).chain(numbers(ptx, MOST_THREADS)).min().unwrap_or(1).max(1)
}

/// The warps of the smallest block of a kernel.
pub(super) fn warps(ptx: &str) -> u32 {
    threads(ptx).div_ceil(WARP)
}

/// What a directive says wherever it stands: the product of its numbers.
pub(super) fn numbers(ptx: &str, directive: &'static str) -> impl Iterator<Item = u32> {
    let lines = ptx.lines().filter_map(move |line| line.trim_start().strip_prefix(directive));
    lines.filter_map(|rest| {
        let rest = rest.split("//").next().unwrap_or(rest);
        rest.split(',').map(|n| n.trim().parse::<u32>().ok()).product::<Option<u32>>()
    })
}
