//! When ptxas chooses registers badly, and what makes it choose again ([`Attempt`]).
//!
//! 1. For some kernels ptxas 13 answers with 32 registers and kilobytes of spills, where a thread may have 255
//!    registers and a fifth of the spills is enough. It chooses a number of registers for the blocks that could then
//!    share a multiprocessor, and does not come back from a bad choice. Told that one block is enough, it chooses
//!    again. So it does wherever it spills with fewer registers than a thread may have.
//!    That may leave fewer blocks. So where the first answer spilled only a few bytes, ptxas is first told the number
//!    of blocks that there were. What then spills nothing is taken, and what spills less than the first answer is taken
//!    if one block being enough leaves fewer. If it does not spill less, the first answer stays.
//!    And where it spills a little with all of them, it may find a plan that spills nothing for a few registers less.
//!    Then the kernel gets such a limit ([`LIMIT`]), and the answer is taken if it spills less and its loops do not
//!    wait more ([`waits_more`]).
//! 2. For others it takes more registers than it needs, and one block less shares a multiprocessor. A kernel with
//!    products on the tensor cores waits for them, for barriers and for memory in turns, and another block fills the
//!    gaps. So where a few registers less would make room for one more block, ptxas is told so; if it then spills no
//!    more than before, that answer is taken. Asynchronous products run under other work of their block, so there a
//!    second block is worth up to a third of the registers and [`PRICE`] of spills, and others up to [`FULL`] warps a
//!    few registers. A scan waits in
//!    turns as well, for one shuffle after the other: three of four scans across warps ran at the speed of Triton's by
//!    the number of their blocks. And a block of 16 warps or more that reduces stands as a whole while its warps wait
//!    for each other; it gets company for a few registers, as does one of eight warps that is alone and loads in no
//!    loop. So do smaller blocks whose warps wait for each other, where few share a multiprocessor, and where all its
//!    threads would be in use then ([`stands`]), and a lone block of eight warps at the price of a few spills
//!    ([`stands_alone`]). Other kernels live from the loads that one thread has in flight, for which they need the
//!    registers.
//! 3. Such a kernel, which goes over its data once, gains nothing by the last blocks of a full multiprocessor, and its
//!    loads no longer stand together once ptxas saves registers for them. So ptxas is told that one block is enough,
//!    and the answer is taken if it still leaves room for [`ENOUGH`] threads, or if its loops are much faster in a
//!    launch of few warps and cost no more in a full multiprocessor ([`waits`]). For short code it nearly always
//!    leaves room, so there that is the first question ([`asks_for_one_block_first`]), and most such kernels need no
//!    other. Code without loops must have loads that could be on their way together ([`loads_together`]). Where its
//!    loops wait for one load after the other, more threads are worth more than registers, and the usual answer is
//!    asked for as well. Where ptxas repeats loops that LLVM has repeated ([`repeated`]), and threads are lost by it,
//!    it is told not to. Where a reduction follows the loops, the question comes second, and only the loops count.
//! 4. A loop that waits for memory again and again may have too few registers for all its loads at once. Whether it has
//!    is seen in the machine code ([`waits`]). If warps wait more than they issue, and not for all loads at once, ptxas
//!    is told that one block is enough, and the answer is taken if it makes a turn of the loop cheaper by a tenth, or
//!    much faster for a warp that is alone and not dearer: such loops are often those of a few blocks that stay on
//!    their multiprocessor. Where a kernel has nearly all registers of a thread, there is nothing to gain, and ptxas
//!    is not asked.
//!    Where most threads of a multiprocessor are in use and exchange values in each turn, so that they wait together,
//!    the loop has to be cheaper by [`TOGETHER`].
//! 5. Code without loops whose loads wait for one another in many turns gets another plan for the blocks that it has,
//!    if ptxas is told their number ([`in_turns`]). The answer is taken if a warp that is alone takes clearly less.
//!    Where something else was asked before, that is hardly ever so (5 of 59), and ptxas is not asked.
//! 6. Whatever is chosen by then, all of the kernel's machine code is looked at ([`waits::whole`]). Where it would be
//!    cheaper with the warps that two thirds of its registers leave room for, ptxas gets that limit of registers
//!    ([`more_blocks`]), unless asynchronous products hold most of it ([`HELD`]). The answer is taken if it spills
//!    nothing and is cheaper.
//! 7. An answer whose asynchronous products wait for each other is taken only in place of one in which they do too, or
//!    that gave up.
//! 8. In the end, another answer that is there by then takes its place if the model says that it is cheaper
//!    ([`is_cheaper`]).

#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeSet;

use self::text::{
    BLOCKS_AT_ONCE, MOST_REGISTERS, THREADS_OF_A_BLOCK, WAIT_OF_A_BLOCK, exchanges_in_a_loop, is_in_a_loop, is_limited,
    loops, numbers, reduces_in_a_loop, says_threads, threads, warps,
};
use super::cubin::texts;
use super::waits::Of;
use super::{Assembled, Usage, pressure, repeated, waits};
use crate::target::Target;

/// The fewest loads of a loop of which more could be on their way at once. Each may be of 16 bytes.
const LOADS: usize = 4;

/// `T / W / n` of [`waits`] from which on a loop waits more than it issues, but for what the model does not know.
const WAITING: f64 = 0.9;

/// What a turn of the loops must cost, in what it would cost if it waited once for all loads, to be worth another try.
/// Of 65 real kernels with loops that wait, six gain a tenth or more by the model, and cost 1.25 to 3.6 of that; 37 of
/// the others cost less than 1.2.
const APART: f64 = 1.2;

/// The same for a loop of few blocks, and for one in front of a reduction. Of 20 and 12 such loops of real kernels that
/// cost less than 1.14 and 1.06, ptxas had a better answer for none.
const APART_FOR_FEW: f64 = 1.12;
const APART_IN_A_ROW: f64 = 1.06;

/// Copies to shared memory, which no instruction waits for by name.
const COPIES: &str = "cp.async";

/// What a kernel reads the number of its programs from.
const PROGRAMS: &str = "%nctaid.";

/// Products on the tensor cores.
const ASYNCHRONOUS: &str = "wgmma.mma_async";
const SYNCHRONOUS: &str = "mma.sync";

/// Bytes of PTX beyond which ptxas is not asked again for one more block: it takes seconds.
const LARGEST: usize = 300_000;

/// The most threads of a multiprocessor with which another block is worth it: half of what it holds.
const THREADS: u32 = 1024;

/// The threads of a wide block. On an H200, kernels with such blocks that spill nothing ran at 1.43 and 0.98 of their
/// speed with two blocks for one, at 1.12 with 32 registers for 34, and at 0.99 to 1.00 with a fifth less of them.
/// Where they spilled up to 16 bytes it was 0.96 to 1.09, and with more 0.79 to 1.07.
const WIDE: u32 = 512;

/// The threads of a block from which on a second one is worth a third of the registers, if no loop loads. On an H200,
/// six such kernels of 256 threads ran at 1.20, 1.32, 1.38, 1.39, 1.54 (64 bytes of spills) and 0.98 (124 bytes) of
/// their speed. With 217 registers made 128 it was 0.90, and with more spills 0.41 to 0.93.
const BROAD: u32 = 256;

/// Bytes of an instruction.
const INSTRUCTION: usize = 16;

/// The warps of a multiprocessor up to which a further block of asynchronous products is worth an eighth of the
/// registers, and the last of these blocks a fourth. On an H200, a third or fourth block of four warps for an eighth
/// made 16 of 20 kernels 1.04 to 1.58 times as fast, with up to 344 bytes of spills; one ran below 0.97 (0.89). A
/// fourth for a fourth with up to [`PRICE`] / 2 bytes: 1.08 for 20 kernels, 0.90 to 1.39. A third for more than an
/// eighth: 0.87 for 44, which spill mostly. A fifth to ninth block for an eighth: 0.98 for 27, 0.62 to 1.14.
const FULL: u32 = 16;

/// The warps of a block that has some to wait for.
const GROUP: u32 = 4;

/// Bytes of spills at which a second block was measured to be worth it for asynchronous products: 68 gave 1.06 to 1.16
/// of the speed, 192 to 216 gave 1.03 to 1.26.
const PRICE: u32 = 256;

/// The threads of a multiprocessor that keep its memory busy: nine warps on each of its four schedulers.
const ENOUGH: u32 = 1152;

/// Registers alive at once from which on one block is not the first question for the code of a stream: of 124 such
/// kernels 112 were asked for in the usual way as well, and of 1,056 others 147.
const BUSY: u32 = 80;

/// Bytes of PTX up to which the code of a stream is short. Of 573 streams of real kernels, 359 are shorter, and ptxas
/// runs 656 times for all of them, where it would run 824 times with the other question first. 12,000 and 40,000 bytes
/// make 730 and 685 runs of it.
const SHORT: usize = 20_000;

/// The loads of code without loops for which no registers are saved.
const SINGLE: usize = 2;

/// The registers up to which ptxas never had to save any: with 32 the most threads share a multiprocessor, and what is
/// left of them for numbers.
const FREE: u32 = 24;

/// The registers with which the most threads share a multiprocessor.
const MOST_THREADS_REGISTERS: u32 = 32;

/// How much cheaper the loops of a stream must be with more threads for its usual answer to be taken. On an H200 four
/// kernels with 1.25 to 1.37 ran at 1.22, 1.10, 1.02 and 0.99 of their speed, and one with 1.14 at 0.95.
const CHEAPER: f64 = 1.2;

/// The most blocks of a multiprocessor.
const BLOCKS: u32 = 32;

/// The registers with which a kernel that spills at most [`FEW`] bytes tries again. Of 43 such kernels six spill
/// nothing then, and of 65 others that spill up to [`LITTLE`] none.
const LIMIT: u32 = 240;

/// The bytes of spills that are little. Another order of instructions, which is worth much for more spills, is worth
/// nothing here (0.98 of the speed), though it spills less.
const LITTLE: u32 = 300;

/// Bytes of PTX and registers alive at once from which on ptxas may give up. It does for at least 28 of 66 such kernels
/// (some take too long to say), and for six others of 1,145.
const LONG: usize = 150_000;
const HEAVY: u32 = 600;

/// Registers alive at once from which on a kernel is likely to spill: so do 53 of 65 with at most 220,000 bytes of PTX.
const CROWDED: u32 = 450;

/// The part of the registers alive at once, in hundredths, up to which another order of instructions is worth a run. Of
/// 70 such orders of real kernels that spill, 39 have at most 96, and 22 of these kernels spill less than nine tenths
/// in the end; of the other 31 four do.
const FEWER: u32 = 96;
/// Registers alive at once from which any fewer are worth a run: a gathered attention of 911 with 13 fewer runs at 3.5
/// of its speed on an H200.
const VERY_MANY: u32 = 900;

/// The registers less that loops carry from one iteration to the next, from which on it is worth a run, whatever is
/// alive at once: ptxas moves an address to the access that uses it, but what a loop carries stays. Of three real
/// kernels with 28 to 123 less, two spilled 1,340 and 1,236 bytes and then 184 and 152, and one a seventh less.
const CARRIED: u32 = 16;

/// The bytes of spills up to which the blocks of an answer may be worth more than that it spills. On an H100 a kernel
/// with 32 bytes and three blocks ran at 1.22 of its speed with none and two; 88 bytes and four blocks at 0.81 of none
/// and two. On an H200 one with 40 bytes and eight blocks ran at 1.28 of its speed with none and four.
const FEW: u32 = 64;

/// How much cheaper code must be with more blocks as it is, to be worth a run, and how much cheaper what comes of it.
/// With 1.15 and 1.1, half of the kernels that gain are not found.
const HOPED: f64 = 1.1;
const WORTH: f64 = 1.05;

/// How much cheaper another answer must be that is there anyway.
const CLOSE: f64 = 1.02;

/// The same for one that spills, where no thread waits for others.
const FAR: f64 = 2.0;

/// How many times half of one wait for all loads code without loops must take to be asked for again.
const MANY: u64 = 5;

/// The bytes of spills that another plan for its loads may cost.
const BIT: u32 = 24;

/// The bytes of spills that such an answer may cost.
const SLIGHT: u32 = 48;

/// How much slower an answer may be for few warps, unless it costs so little in a full multiprocessor.
const SLOWER: f64 = 1.15;
const FULLER: f64 = 0.9;

/// How much cheaper a loop must be whose threads wait together. On an H200, four such loops that are cheaper by 1.3 to
/// 1.5 ran at 1.25 to 1.5 of their speed, three with 1.11 to 1.24 at 0.89 to 1.08, and one that only a warp by itself
/// gains by at 0.885.
const TOGETHER: f64 = 1.2;

/// The registers alive at once, in twentieths of those that there may be, up to which a limit is worth a run: to make
/// code cheaper by more blocks, and for one more block whose warps wait for each other. Of 135 such limits for real
/// kernels 46 are taken, and of 228 others 37; of the second kind 74 of 173, and of those that take more than a tenth
/// of the registers 25 of 132, which gain little.
const ALIVE: u32 = 28;
const ALIVE_IN_COMPANY: u32 = 33;

/// The registers that asynchronous products hold at once, in quarters of those that there may be, up to which a limit
/// is worth a run. Of 27 such limits for real kernels, the ten that were taken have at most 1.8, and eleven that
/// spilled have 3.03 to 4; attention d64 has 4.1.
const HELD: u32 = 3;

/// The threads of a warp.
const WARP: u32 = 32;

/// The most registers of a thread.
const MOST: u32 = 255;

/// A second run of ptxas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Attempt {
    /// The first one gave up.
    Recover,
    /// The first one spills a few bytes, and so many of its blocks share a multiprocessor, perhaps more than of one
    /// that recovers.
    Keep(u32),
    /// The first one spills a little.
    Limit,
    /// So many blocks might share a multiprocessor.
    Blocks(u32),
    /// With a plan for the blocks that share a multiprocessor, so many, loads of code without loops might stand
    /// together.
    Turns(u32),
    /// With so many registers another wide block might. Asked for a number of blocks, ptxas spills more often.
    Company(u32),
    /// More blocks with so many registers might be cheaper by the model of waits.
    More(u32),
    /// Loads might stand together.
    Stream,
    /// The same, and ptxas does not repeat loops that LLVM has repeated.
    Held,
    /// Those of loops in front of a reduction might.
    Row,
    /// Those of a loop that waits for them might.
    Loop,
}

/// The attempt that is worth it behind a first answer, for a kernel whose block has `shared` bytes, if these are known.
pub(super) fn attempt(first: &Assembled, ptx: &str, target: &Target, shared: Option<u32>) -> Option<Attempt> {
    let usage = first.usage();
    if gave_up(&usage, ptx, target) {
        return Some(Attempt::Recover);
    }
    if spills_little(&usage, ptx, target) {
        return Some(Attempt::Limit);
    }
    let blocks = shared.and_then(|shared| one_more_block(&usage, ptx, target, shared));
    let company = shared.and_then(|shared| company(first, ptx, target, shared));
    blocks
        .map(Attempt::Blocks)
        .or_else(|| company.map(Attempt::Company))
        .or_else(|| fills_up(first, ptx, target, shared))
        .or_else(|| saves_in_a_stream(&usage, ptx, target).then_some(Attempt::Stream))
        .or_else(|| goes_over_rows(first, ptx, target).then_some(Attempt::Row))
        .or_else(|| waits_in_a_loop(&usage, &first.cubin, ptx, target).then_some(Attempt::Loop))
        .or_else(|| stands(&usage, ptx, target, shared?, true).map(Attempt::Company))
}

/// The attempt that gives blocks without loops, whose warps wait for each other, one more of them.
pub(super) fn fills_up(first: &Assembled, ptx: &str, target: &Target, shared: Option<u32>) -> Option<Attempt> {
    stands(&first.usage(), ptx, target, shared?, false).map(Attempt::Company)
}

/// The attempt that keeps the blocks of a first answer that spills a few bytes, in front of one that
/// [recovers](Attempt::Recover) and may leave fewer.
pub(super) fn keeps_blocks(
    attempt: Attempt,
    first: &Assembled,
    ptx: &str,
    target: &Target,
    shared: Option<u32>,
) -> Option<Attempt> {
    let usage = first.usage();
    let has_room = |&blocks: &u32| shared.is_none_or(|bytes| bytes <= target.shared.bytes_each(blocks));
    let blocks = (1..=blocks_by_registers(&usage, ptx, target)).rev().find(has_room).unwrap_or(1);
    (attempt == Attempt::Recover && usage.spilled() <= FEW && blocks > 1).then_some(Attempt::Keep(blocks))
}

/// The attempt for code without loops that waits for its loads again and again, where one wait would do ([`MANY`]).
/// Told how many blocks there are, ptxas makes a plan with the registers that they leave.
///
/// What needs few registers has had all that it wants: of 34 kernels with fewer alive in the PTX than they have, and of
/// 89 with at most [`MOST_THREADS_REGISTERS`], none got a better answer.
///
/// On an H200, of 90 kernels that wait in six turns or more, seven take at least a sixth less by the model of waits and
/// spill at most [`BIT`]: they ran at 1.85, 1.38, 1.16, 1.12, 1.06, 1.00 and 0.97 of their speed. Of those that
/// spill more, three ran at 0.88 to 0.95, and of the others two at 0.96.
pub(super) fn in_turns(answer: &Assembled, ptx: &str, target: &Target) -> Option<Attempt> {
    let usage = answer.usage();
    let has_few = usage.registers <= MOST_THREADS_REGISTERS;
    if threads(ptx) == 1 || usage.spilled() > 0 || has_few || is_limited(ptx) || ptx.len() > LARGEST {
        return None;
    }
    let code = waits::straight(&answer.cubin, target)?;
    let may = code.alone * 2 > code.least * MANY && pressure::live(ptx) >= usage.registers;
    may.then(|| Attempt::Turns(blocks_by_registers(&usage, ptx, target)))
}

/// Whether to ask ptxas for the code of a stream at once, and for its usual one only where that leaves too little room.
pub(super) fn asks_for_one_block_first(ptx: &str, versions: u32) -> bool {
    length(ptx, versions) < SHORT && is_stream(ptx) && pressure::live(ptx) < BUSY
}

/// The bytes of PTX of one of its versions.
fn length(ptx: &str, versions: u32) -> usize {
    ptx.len() / versions.max(1) as usize
}

/// Whether it is likely that the first answer gives up ([`Attempt::Recover`]), so that two questions at once save time.
pub(super) fn may_give_up(ptx: &str, versions: u32) -> bool {
    let can_be_told = threads(ptx) > 1 && !is_limited(ptx);
    length(ptx, versions) >= LONG && can_be_told && pressure::live(ptx) >= HEAVY
}

/// Whether it is likely that ptxas spills so much that another order of instructions is worth a try.
pub(super) fn may_spill(ptx: &str) -> bool {
    threads(ptx) > 1 && pressure::live(ptx) >= CROWDED
}

/// Whether it is likely that ptxas spills less of other PTX for the same kernel.
pub(super) fn may_spill_less(other: &str, ptx: &str) -> bool {
    let (fewer, live) = (pressure::live(other), pressure::live(ptx));
    fewer * 100 <= live * FEWER
        || live >= VERY_MANY && fewer < live
        || pressure::carried(other) + CARRIED <= pressure::carried(ptx)
}

/// Whether the code of a stream leaves room for [`ENOUGH`] threads.
pub(super) fn leaves_room(answer: &Assembled, ptx: &str, target: &Target) -> bool {
    let usage = answer.usage();
    usage.spilled() == 0 && resident(&usage, ptx, target) >= ENOUGH
}

/// Whether the loops of a stream would be cheaper by [`CHEAPER`] with the most threads, as they are: they wait for one
/// load after the other, and registers do not change that.
pub(super) fn may_want_threads(answer: &Assembled, ptx: &str, target: &Target) -> bool {
    let usage = answer.usage();
    let most = Usage { registers: usage.registers.min(MOST_THREADS_REGISTERS), ..usage };
    let own = loops_of(answer, ptx, target);
    let full = waits::loops(&answer.cubin, target, resident(&most, ptx, target), Of::Global);
    own.loads > 0 && full.cost * CHEAPER <= own.cost
}

/// Whether half as many threads more would share a multiprocessor with the code of a stream, if it were not for loops
/// that LLVM has repeated. On an H200, six launches that have them then ran at 1.53, 1.58, 1.05, 1.01 and twice 1.00 of
/// their speed. Others, which gain no threads, lose up to a tenth by it.
pub(super) fn may_hold(answer: &Assembled, ptx: &str, target: &Target) -> bool {
    let (device, now) = (target.multiprocessor(), resident(&answer.usage(), ptx, target));
    now * 3 <= device.warps * WARP * 2 && repeated::held(ptx).is_some()
}

/// Whether the usual answer for a stream has more threads and loops that are cheaper by [`CHEAPER`] for it.
pub(super) fn has_cheaper_loops(usual: &Assembled, one_block: &Assembled, ptx: &str, target: &Target) -> bool {
    let (after, before) = (loops_of(usual, ptx, target), loops_of(one_block, ptx, target));
    usual.usage().spilled() == 0 && before.loads > 0 && after.cost * CHEAPER <= before.cost
}

impl Attempt {
    /// The blocks of a multiprocessor that ptxas is told, if it is told a number.
    pub(super) fn blocks(self) -> Option<u32> {
        match self {
            Attempt::Recover | Attempt::Stream | Attempt::Held | Attempt::Row | Attempt::Loop => Some(1),
            Attempt::Limit | Attempt::Company(_) | Attempt::More(_) => None,
            Attempt::Blocks(blocks) | Attempt::Keep(blocks) | Attempt::Turns(blocks) => Some(blocks),
        }
    }

    /// The registers that a thread may have, if ptxas is told.
    pub(super) fn limit(self) -> Option<u32> {
        match self {
            Attempt::Limit => Some(LIMIT),
            Attempt::Company(registers) | Attempt::More(registers) => Some(registers),
            _ => None,
        }
    }

    /// Whether ptxas was told of more blocks than an answer has room for by its registers.
    pub(super) fn has_more_blocks_than(self, answer: &Assembled, ptx: &str, target: &Target) -> bool {
        self.blocks().is_some_and(|blocks| blocks > blocks_by_registers(&answer.usage(), ptx, target))
    }

    /// The PTX that ptxas is given. What it is told is a directive: where PTX says how many threads a block has, ptxas
    /// ignores its option for the registers, and its option for the blocks does the same as the directive.
    pub(super) fn text(self, ptx: &str) -> String {
        let directive = match (self.blocks(), self.limit()) {
            (Some(blocks), _) => format!("{BLOCKS_AT_ONCE}{blocks}"),
            (None, limit) => format!("{MOST_REGISTERS}{}", limit.unwrap_or(LIMIT)),
        };
        let held = if self == Attempt::Held { repeated::held(ptx) } else { None };
        let ptx = held.as_deref().unwrap_or(ptx);
        let mut text = String::with_capacity(ptx.len() + directive.len() + 1);
        let mut lines = ptx.lines().peekable();
        while let Some(line) = lines.next() {
            text.extend([line, "\n"]);
            if says_threads(line) && !lines.peek().is_some_and(|next| says_threads(next)) {
                text.extend([&directive, "\n"]);
            }
        }
        text
    }

    /// Whether an answer that this refuses is forgotten, since what the model says of loops counts more than what it
    /// says of all code, if that is little. Of two loops whose threads wait together, one with 1.09 for all code ran at
    /// 0.89 of its speed, and one with 1.17 at 1.27.
    pub(super) fn forgets(self, second: &Assembled, first: &Assembled, ptx: &str, target: &Target) -> bool {
        match self {
            Attempt::Turns(_) => true,
            Attempt::Loop => {
                let cost = |answer| cost(answer, ptx, target, None);
                is_full(&first.usage(), ptx, target) && cost(second) * HOPED > cost(first)
            }
            _ => false,
        }
    }

    /// Whether the second answer is better than the first. One for more blocks that has far fewer registers than it may
    /// have keeps too few values at once, and instructions wait for each other.
    pub(super) fn is_better(self, second: &Assembled, first: &Assembled, ptx: &str, target: &Target) -> bool {
        let (after, before) = (second.usage(), first.usage());
        if self != Attempt::Recover && after.serialized && !before.serialized {
            return false;
        }
        match self {
            Attempt::Blocks(_) if costs_few_warps(second, first, ptx, target) => false,
            Attempt::Recover => {
                let blocks = |usage| blocks_by_registers(usage, ptx, target);
                let is_worth_it = before.spilled() > FEW || blocks(&after) >= blocks(&before);
                after.spilled() < before.spilled() && is_worth_it
            }
            Attempt::Limit => after.spilled() < before.spilled() && !waits_more(second, first, ptx, target),
            Attempt::Company(registers) => {
                // A second block is worth a few bytes.
                let most = if blocks_by_registers(&before, ptx, target) == 1 && loads_once(first, ptx, target) {
                    FEW
                } else {
                    0
                };
                let is_cheap =
                    after.spilled() <= most || stands_alone(&before, ptx, target) && spills_seldom(second, ptx);
                is_cheap && after.registers <= registers
            }
            Attempt::Turns(blocks) => {
                let turns = |answer: &Assembled| waits::straight(&answer.cubin, target).map_or(0, |code| code.alone);
                let has_blocks = blocks_by_registers(&after, ptx, target) >= blocks;
                has_blocks && after.spilled() <= BIT && turns(second) * 6 <= turns(first) * 5
            }
            Attempt::Keep(blocks) => {
                after.spilled() < before.spilled() && blocks_by_registers(&after, ptx, target) >= blocks
            }
            Attempt::Blocks(_) if stands_alone(&before, ptx, target) => {
                let is_cheap = ptx.contains(ASYNCHRONOUS) && after.spilled() <= PRICE || spills_seldom(second, ptx);
                is_cheap && after.registers * 3 >= before.registers * 2
            }
            Attempt::Blocks(blocks) if ptx.contains(ASYNCHRONOUS) => {
                let price = if blocks == 2 || after.registers * 8 >= before.registers * 7 { PRICE } else { PRICE / 2 };
                after.spilled() <= price && after.registers * 3 >= before.registers * 2
            }
            Attempt::Blocks(_) => after.spilled() <= before.spilled() && after.registers * 10 >= before.registers * 7,
            Attempt::More(_) => {
                let cost = |answer| cost(answer, ptx, target, None);
                after.spilled() == 0
                    && cost(second) * WORTH <= cost(first)
                    && !is_dearer_where_shared(second, first, ptx, target)
            }
            Attempt::Stream => leaves_room(second, ptx, target) || suits_few_warps(second, first, ptx, target),
            Attempt::Held => {
                let resident = |usage| resident(usage, ptx, target);
                after.spilled() == 0 && resident(&after) * 2 >= resident(&before) * 3
            }
            Attempt::Row => suits_few_warps(second, first, ptx, target),
            Attempt::Loop if is_full(&before, ptx, target) => {
                let cost = |answer| cost(answer, ptx, target, None);
                let (now, was) = (loops_of(second, ptx, target), loops_of(first, ptx, target));
                let is_cheaper = now.cost * TOGETHER <= was.cost && cost(second) <= cost(first);
                after.spilled() == 0 && is_cheaper && has_company(second, first, ptx, target)
            }
            Attempt::Loop => after.spilled() == 0 && gains(second, first, ptx, target),
        }
    }
}

/// The attempt that gives a kernel more blocks, as many as two thirds of its registers leave room for, where the code
/// that there is would be cheaper with so many warps, since warps wait more than they issue, and where the registers
/// may suffice.
///
/// On an H200, of 97 kernels that were slower than Triton's, 12 of more than 5 us get another answer by this: 0.99 to
/// 1.18 of their speed, 1.11 in the geometric mean. Of 611 others, where nothing was tried out, eleven: 1.065, one at
/// 1.68, six others above 1.05, two at 0.91 and 0.82. All that spill nothing with one more block ran at 0.98.
pub(super) fn more_blocks(answer: &Assembled, ptx: &str, target: &Target, shared: Option<u32>) -> Option<Attempt> {
    let (usage, device, warps) = (answer.usage(), target.multiprocessor(), warps(ptx));
    let may = ptx.len() <= LARGEST && threads(ptx) > 1 && !is_limited(ptx);
    let shared = shared.filter(|_| may && usage.spilled() == 0 && usage.registers > FREE)?;
    let has_room = |&blocks: &u32| blocks * warps <= device.warps && shared <= target.shared.bytes_each(blocks);
    let blocks = blocks_by_registers(&usage, ptx, target) + 1;
    // Of warps that wait for memory alone there are enough.
    if (blocks - 1) * warps * 4 >= device.warps * 3 && !ptx.contains(WAIT_OF_A_BLOCK) {
        return None;
    }
    let limits = (blocks..=BLOCKS).take_while(has_room).map(|blocks| device.registers_for(blocks, warps));
    let limits = limits.take_while(|registers| registers * 20 >= usage.registers * 13);
    let mut limits: Vec<u32> = limits.filter(|&registers| registers < usage.registers).collect();
    let now = cost(answer, ptx, target, None);
    limits.retain(|&registers| now > cost_with(answer, registers, ptx, target, None) * HOPED);
    if limits.is_empty() {
        return None;
    }
    if ptx.contains(ASYNCHRONOUS) {
        let held = pressure::of_products(ptx);
        limits.retain(|registers| held * 4 <= registers * HELD);
    }
    let alive = pressure::live(ptx);
    limits.into_iter().rfind(|registers| alive * 20 <= registers * ALIVE).map(Attempt::More)
}

/// Whether an answer that was refused, or given up for another one, is cheaper than that after all.
///
/// On an H200, 366 such answers of kernels of more than 5 us ran at 0.90 of the speed of what was chosen. 34 that spill
/// no more and are cheaper by [`CLOSE`] ran at 1.045, one of them below 0.95 (0.93); those between 0.95 and that at
/// 0.995, and those that cost more at 0.91. Of those that spill up to [`SLIGHT`] bytes more and are cheaper by a tenth,
/// eight whose blocks wait ran at 1.094, none below 0.98, and three others at 0.96. One whose threads never wait for
/// each other, and that costs a fourth, ran at 5.7 of its speed.
pub(super) fn is_cheaper(
    other: &Assembled,
    answer: &Assembled,
    ptx: &str,
    target: &Target,
    shared: Option<u32>,
) -> bool {
    if threads(ptx) == 1 || other.usage().serialized && !answer.usage().serialized {
        return false;
    }
    let (spilled, before) = (other.usage().spilled(), answer.usage().spilled());
    let has_price = spilled > before;
    let least = match (has_price, ptx.contains(WAIT_OF_A_BLOCK)) {
        (false, _) => CLOSE,
        (true, true) => HOPED,
        (true, false) => FAR,
    };
    spilled <= before + SLIGHT
        && cost(other, ptx, target, shared) * least <= cost(answer, ptx, target, shared)
        && !costs_few_warps(other, answer, ptx, target)
        && !is_dearer_where_shared(other, answer, ptx, target)
}

/// Whether an answer is much slower where few warps run, as in a launch that does not fill the GPU, and little cheaper
/// in a full multiprocessor. On an H200, two such answers for one more block ran at 0.79 and 0.89 of Triton's speed,
/// and without it at 1.00 and 1.11. Of 43 others, those at 1.2 of Triton's speed or more are at most 1.08 as slow for
/// few warps by the model.
fn costs_few_warps(second: &Assembled, first: &Assembled, ptx: &str, target: &Target) -> bool {
    let full = |a: &Assembled| cost(a, ptx, target, None);
    let is_slower = for_few_warps(second, target) > for_few_warps(first, target) * SLOWER;
    is_slower && full(second) > full(first) * FULLER || takes_products_apart(second, first, ptx, target)
}

/// Whether a turn of the loops with products takes a warp that is alone half as long again. ptxas has then put the
/// loads of a turn behind one another to save registers, and each waits, whatever other warps do. On an H200, four such
/// answers for one more block ran at 0.69 to 0.78 of the first one's speed; one more ran at 1.03 of Triton's. Of 53
/// other answers for one more block of kernels with products, none takes more than 1.29 of the time.
fn takes_products_apart(second: &Assembled, first: &Assembled, ptx: &str, target: &Target) -> bool {
    let turn = |a: &Assembled| waits::loops(&a.cubin, target, resident(&a.usage(), ptx, target), Of::Products).alone;
    turn(second) * 2 >= turn(first) * 3 && turn(first) > 0
}

/// Whether an answer is slower where few warps run, and few may: where as many programs as there are share out the
/// work, there may be no more blocks. On an H200, a binary search by 16 blocks of one warp ran at 0.90 of its speed
/// with registers for more of them.
fn is_dearer_where_shared(second: &Assembled, first: &Assembled, ptx: &str, target: &Target) -> bool {
    shares_out(ptx) && for_few_warps(second, target) > for_few_warps(first, target)
}

/// What all code of an answer costs where each scheduler of a multiprocessor has one warp.
pub(super) fn for_few_warps(answer: &Assembled, target: &Target) -> f64 {
    waits::whole(&answer.cubin, target, WARP * GROUP, answer.usage().stack)
}

/// What all code of an answer costs with as many threads as its registers leave room for, and its shared memory, if
/// that is given.
pub(super) fn cost(answer: &Assembled, ptx: &str, target: &Target, shared: Option<u32>) -> f64 {
    cost_with(answer, answer.usage().registers, ptx, target, shared)
}

/// The same, if it had so many registers.
fn cost_with(answer: &Assembled, registers: u32, ptx: &str, target: &Target, shared: Option<u32>) -> f64 {
    let threads = blocks_with(registers, ptx, target, shared) * warps(ptx) * WARP;
    waits::whole(&answer.cubin, target, threads, answer.usage().stack)
}

/// The blocks that a multiprocessor has room for, by an answer's registers and its shared memory, if that is given.
pub(super) fn blocks(answer: &Assembled, ptx: &str, target: &Target, shared: Option<u32>) -> u32 {
    blocks_with(answer.usage().registers, ptx, target, shared)
}

fn blocks_with(registers: u32, ptx: &str, target: &Target, shared: Option<u32>) -> u32 {
    let (device, warps) = (target.multiprocessor(), warps(ptx));
    let blocks = device.by_registers(warps, registers.max(1)).min(BLOCKS).min(device.warps / warps);
    let has_room = |&blocks: &u32| shared.is_none_or(|bytes| bytes <= target.shared.bytes_each(blocks));
    (1..=blocks).rev().find(has_room).unwrap_or(1)
}

/// Whether a turn of the loops costs more than a tenth more, spills or not. With fewer registers fewer loads may be on
/// their way at once: on an H200, two kernels that spill up to 200 bytes ran at 0.64 of their speed with 240 registers
/// and no spills, at 1.23 and 1.24 of the cost.
fn waits_more(second: &Assembled, first: &Assembled, ptx: &str, target: &Target) -> bool {
    all_loops_of(second, ptx, target).cost > all_loops_of(first, ptx, target).cost * 1.1
}

/// Whether a kernel spills with fewer registers than its threads may have.
fn gave_up(usage: &Usage, ptx: &str, target: &Target) -> bool {
    let unit = target.multiprocessor().register_unit;
    let can_be_told = threads(ptx) > 1 && numbers(ptx, BLOCKS_AT_ONCE).next().is_none();
    can_be_told
        && usage.spilled() > 0
        && usage.registers > 0
        && usage.registers.next_multiple_of(unit) < allowed(ptx, target)
}

/// Whether a kernel spills a little with all registers.
fn spills_little(usage: &Usage, ptx: &str, target: &Target) -> bool {
    let may = ptx.contains(THREADS_OF_A_BLOCK) && !is_limited(ptx) && allowed(ptx, target) == MOST;
    may && usage.spilled() > 0 && usage.spilled() <= FEW
}

/// Whether spills are so few that no other order of instructions is worth it.
pub(super) fn is_settled(usage: &Usage) -> bool {
    usage.spilled() <= LITTLE
}

/// One block more than a multiprocessor has registers for, if a fifth less of them makes room for it, and `shared`
/// bytes of a block's shared memory leave it. For a second block of asynchronous products it may be a third less, and
/// for others an eighth, or a fourth for the last.
fn one_more_block(usage: &Usage, ptx: &str, target: &Target, shared: u32) -> Option<u32> {
    let is_asynchronous = ptx.contains(ASYNCHRONOUS);
    let waits = is_asynchronous || ptx.contains(SYNCHRONOUS) || scans(ptx);
    if ptx.len() > LARGEST || !waits || is_limited(ptx) || usage.spilled() > 0 {
        return None;
    }
    let (device, warps) = (target.multiprocessor(), warps(ptx));
    let blocks = blocks_by_registers(usage, ptx, target) + 1;
    let (most, least) = if is_asynchronous && blocks > 2 {
        let is_last = (blocks + 1) * warps > FULL;
        (FULL / warps, if is_last { usage.registers * 3 / 4 } else { (usage.registers * 7).div_ceil(8) })
    } else if is_asynchronous || stands_alone(usage, ptx, target) {
        (2, (usage.registers * 2).div_ceil(3))
    } else {
        (BLOCKS, (usage.registers * 4).div_ceil(5))
    };
    let has_room = blocks <= most
        && blocks * warps * WARP <= THREADS
        && shared <= target.shared.bytes_each(blocks)
        && device.registers_for(blocks, warps) >= least;
    has_room.then_some(blocks)
}

/// Whether a block of eight warps has a multiprocessor for itself, by its registers. On an H200, a second one for a
/// third of the registers made 19 of 31 such kernels that then spill 1.17 to 1.54 times as fast, with up to 456
/// bytes of spills; where those are many for the code ([`spills_seldom`]), it was 0.53 to 0.99. Blocks of 32 warps
/// ran at 0.55 to 0.70.
fn stands_alone(usage: &Usage, ptx: &str, target: &Target) -> bool {
    (BROAD..WIDE).contains(&threads(ptx)) && blocks_by_registers(usage, ptx, target) == 1
}

/// Whether at most one instruction of sixteen stores or loads what did not fit into registers, or one of thirty
/// where nothing is multiplied on the tensor cores. Of the 19 kernels that gain by it ([`stands_alone`]) 18 have
/// fewer, and of the twelve others one (1.005).
fn spills_seldom(answer: &Assembled, ptx: &str) -> bool {
    let instructions = texts(&answer.cubin).map(|code| code.len() / INSTRUCTION).sum::<usize>();
    let moves = answer.usage().spilled() as usize / 4;
    moves * if multiplies(ptx) { 16 } else { 30 } <= instructions
}

/// The registers with which one more wide block fits, if they are an eighth less, or a fourth for a second block. For a
/// second block of what loads in no loop they may be a third less.
fn company(first: &Assembled, ptx: &str, target: &Target, shared: u32) -> Option<u32> {
    let usage = first.usage();
    if ptx.len() > LARGEST || multiplies(ptx) || is_limited(ptx) || usage.spilled() > 0 {
        return None;
    }
    let (device, warps) = (target.multiprocessor(), warps(ptx));
    let blocks = blocks_by_registers(&usage, ptx, target) + 1;
    let least = match blocks {
        2 if threads(ptx) >= BROAD && loads_once(first, ptx, target) => usage.registers * 2 / 3,
        2 if stands_alone(&usage, ptx, target) && is_in_a_loop(ptx, WAIT_OF_A_BLOCK) => usage.registers * 2 / 3,
        _ if !reduces_in_a_wide_block(ptx) => return None,
        2 => usage.registers * 3 / 4,
        _ => usage.registers * 7 / 8,
    };
    let registers = device.registers_for(blocks, warps);
    let has_room = blocks * warps <= device.warps && shared <= target.shared.bytes_each(blocks);
    (has_room && registers >= least && (blocks == 2 || suffice_for_company(ptx, &usage, registers)))
        .then_some(registers)
}

/// Whether so many registers may suffice for one more block whose warps wait for each other. Where they are at most a
/// tenth less, it does not matter what is alive in the PTX: 8 of 18 such limits are taken.
fn suffice_for_company(ptx: &str, usage: &Usage, registers: u32) -> bool {
    registers * 10 >= usage.registers * 9 || pressure::live(ptx) * 20 <= registers * ALIVE_IN_COMPANY
}

/// The registers with which one more block fits whose warps wait for each other, for a reduction: while they stand, it
/// works. `in_loops` asks for blocks that wait in a loop, and otherwise there is none.
///
/// On an H200, 171 kernels with barriers and without loops that then spilled nothing ran at 1.015 of their speed. 47 of
/// them reduce and had all threads of a multiprocessor then: 1.019, nine at more than 1.05, none below 0.97. 26 reduce
/// and had less than half before: 1.04, nine at more than 1.05, three at 0.955 to 0.97. The others gain less: 1.007
/// where they convert layouts and do not reduce, 1.004 with other numbers of threads. Where they spilled it was 0.976.
/// Of 36 that wait in loops, eleven with four warps a block or more and less than three eighths of the threads ran at
/// 0.97 to 1.18, the others at 0.97; one that gave up more than a fourth of its registers for it at 0.83. Without such
/// waits it was 0.995.
fn stands(usage: &Usage, ptx: &str, target: &Target, shared: u32, in_loops: bool) -> Option<u32> {
    let (device, warps) = (target.multiprocessor(), warps(ptx));
    if ptx.len() > LARGEST || multiplies(ptx) || is_limited(ptx) || usage.spilled() > 0 || usage.registers == 0 {
        return None;
    }
    let blocks = blocks_by_registers(usage, ptx, target);
    let registers = device.registers_for(blocks + 1, warps);
    let after = device.by_registers(warps, registers.max(1));
    let (now, most) = (blocks * warps, device.warps);
    let fills = !in_loops && now * 4 >= most * 3 && after * warps >= most;
    let few = if in_loops { now * 8 < most * 3 && warps >= GROUP } else { now * 2 < most };
    let is_cheap = registers * 4 >= usage.registers * 3;
    let has_room = blocks < BLOCKS && (blocks + 1) * warps <= most && shared <= target.shared.bytes_each(blocks + 1);
    let reduces = ["shfl.sync", "redux.sync"].iter().any(|exchange| ptx.contains(exchange));
    let waits =
        if in_loops { is_in_a_loop(ptx, WAIT_OF_A_BLOCK) } else { ptx.contains(WAIT_OF_A_BLOCK) && !loops(ptx) };
    let may = has_room && is_cheap && (few || fills) && reduces && waits;
    (may && (blocks == 1 || suffice_for_company(ptx, usage, registers))).then_some(registers)
}

/// Whether the warps of a block of half a multiprocessor's threads, or a quarter, wait for each other, for a reduction
/// of a row. All of them stand then, and only another block loads meanwhile.
fn reduces_in_a_wide_block(ptx: &str) -> bool {
    threads(ptx) >= WIDE && ptx.contains(WAIT_OF_A_BLOCK) && ptx.contains("shfl.sync")
}

/// Whether no loop of an answer loads: those that wait for a lock do not.
fn loads_once(answer: &Assembled, ptx: &str, target: &Target) -> bool {
    loops_of(answer, ptx, target).loads == 0
}

/// Whether a kernel multiplies on the tensor cores, or copies for that.
fn multiplies(ptx: &str) -> bool {
    [ASYNCHRONOUS, SYNCHRONOUS, COPIES].iter().any(|operation| ptx.contains(operation))
}

/// Whether a kernel scans from lane to lane: nothing else shuffles up or down.
fn scans(ptx: &str) -> bool {
    ["shfl.sync.up", "shfl.sync.down"].iter().any(|shuffle| ptx.contains(shuffle))
}

/// Whether a stream has registers that ptxas may have saved.
fn saves_in_a_stream(usage: &Usage, ptx: &str, target: &Target) -> bool {
    may_have_saved(usage, ptx, target) && is_stream(ptx)
}

/// Whether a kernel without products reads in loops and reduces behind them, in registers that ptxas may have saved.
fn goes_over_rows(first: &Assembled, ptx: &str, target: &Target) -> bool {
    let may = threads(ptx) > 1 && !multiplies(ptx) && !is_limited(ptx) && may_have_saved(&first.usage(), ptx, target);
    if !may || !ptx.contains("shfl.sync") || !loops(ptx) || reduces_in_a_loop(ptx) {
        return false;
    }
    let own = loops_of(first, ptx, target);
    own.loads == 0 || own.cost >= APART_IN_A_ROW * own.least
}

/// Whether so many threads share a multiprocessor that ptxas may have saved registers for them.
fn may_have_saved(usage: &Usage, ptx: &str, target: &Target) -> bool {
    let is_full = usage.spilled() == 0 && usage.registers > FREE && resident(usage, ptx, target) >= ENOUGH;
    is_full && ptx.len() <= LARGEST
}

/// Whether a kernel without products goes over its data once. Where a loop waits for a reduction in each iteration,
/// other blocks are what fills the gaps.
fn is_stream(ptx: &str) -> bool {
    let multiplies = ptx.contains(ASYNCHRONOUS) || ptx.contains(SYNCHRONOUS);
    // PTX that does not say how many threads a block has is not ours.
    let loops = loops(ptx);
    let reduces_in_loops = ptx.contains("shfl.sync") && loops;
    threads(ptx) > 1 && !multiplies && !reduces_in_loops && !is_limited(ptx) && (loops || loads_together(ptx))
}

/// Whether code without loops has loads that could be on their way together: more than [`SINGLE`], none of which waits
/// for the address that another one brings. Without them only threads help. On an H200, 30 kernels of 186 without loops
/// have none: with the usual answer, which has more threads, they ran at 1.017 of their speed, five above 1.05 (up to
/// 1.20) and none below 0.95; the others at 0.994, twelve above 1.05 and 14 below 0.95.
fn loads_together(ptx: &str) -> bool {
    let (mut brought, mut loads) = (BTreeSet::new(), 0);
    for line in ptx.lines().map(str::trim_start).filter(|line| !line.starts_with(['.', '/'])) {
        let written: Vec<&str> = pressure::written(line).collect();
        let depends = pressure::registers(line).skip(written.len()).any(|read| brought.contains(read));
        let is_load = line.contains("ld.global");
        if is_load && depends {
            return false;
        }
        loads += usize::from(is_load);
        if is_load || depends {
            brought.extend(written);
        }
    }
    loads > SINGLE
}

/// Whether the loops of a kernel without copies to shared memory wait for loads, of which more could be on their way if
/// there were more registers. With half the threads of a full multiprocessor other warps fill the gaps, unless they all
/// wait for each other in each turn.
fn waits_in_a_loop(usage: &Usage, cubin: &[u8], ptx: &str, target: &Target) -> bool {
    let resident = resident(usage, ptx, target);
    let may = threads(ptx) > 1 && usage.spilled() == 0 && !ptx.contains(COPIES) && ptx.len() <= LARGEST;
    // What has nearly all registers gains nothing by the rest.
    let has_most = usage.registers * 16 >= allowed(ptx, target) * 15;
    let is_alone = shares_out(ptx);
    let fills_gaps = is_full(usage, ptx, target) && !exchanges_in_a_loop(ptx);
    if !may || is_limited(ptx) || fills_gaps || has_most {
        return false;
    }
    let loops = waits::loops(cubin, target, resident, Of::Global);
    let apart = if is_alone { APART_FOR_FEW } else { APART };
    loops.loads >= LOADS && (is_alone || loops.waiting >= WAITING) && loops.cost >= apart * loops.least
}

/// Whether half the threads of a multiprocessor or more are in use, by what the registers leave room for.
fn is_full(usage: &Usage, ptx: &str, target: &Target) -> bool {
    resident(usage, ptx, target) >= THREADS && !shares_out(ptx)
}

/// Whether a kernel asks how many programs there are. Most that do share a fixed amount of work out to few programs for
/// each multiprocessor, so that no other block fills the gaps of one. On an H200, four answers for one block that only
/// such kernels are asked for ran at 1.55, 1.12, 1.06 and 0.985 of their speed. Where their loops were faster for a
/// warp that is alone, and dearer in a full multiprocessor, it was 0.74 to 1.39.
fn shares_out(ptx: &str) -> bool {
    ptx.contains(PROGRAMS)
}

/// Whether the loops of an answer are much faster where few warps run, as in a launch that does not fill the GPU, and
/// clearly no slower where as many run as its registers leave room for. Of two kernels at 0.98 and 0.99 of the cost, a
/// full GPU took 1.18 and 1.23 of the time.
fn suits_few_warps(second: &Assembled, first: &Assembled, ptx: &str, target: &Target) -> bool {
    let (after, before) = (loops_of(second, ptx, target), loops_of(first, ptx, target));
    let is_faster = after.alone > 0 && after.alone * 3 <= before.alone * 2 && after.cost * 1.03 <= before.cost;
    second.usage().spilled() == 0 && is_faster && has_company(second, first, ptx, target)
}

/// Whether a turn of the loops costs a tenth less, or no more and takes a warp that is alone five eighths of the time.
/// With two thirds for the latter, two kernels of 100 more were taken, at 0.87 of their speed.
fn gains(second: &Assembled, first: &Assembled, ptx: &str, target: &Target) -> bool {
    let (after, before) = (loops_of(second, ptx, target), loops_of(first, ptx, target));
    let is_shorter = after.alone > 0 && after.alone * 8 <= before.alone * 5 && after.cost <= before.cost;
    (after.cost * 1.1 <= before.cost || is_shorter) && has_company(second, first, ptx, target)
}

/// The loops of an answer, with as many threads as its registers leave room for.
fn loops_of(answer: &Assembled, ptx: &str, target: &Target) -> waits::Loops {
    waits::loops(&answer.cubin, target, resident(&answer.usage(), ptx, target), Of::Global)
}

/// The same, with those that spill.
fn all_loops_of(answer: &Assembled, ptx: &str, target: &Target) -> waits::Loops {
    waits::loops(&answer.cubin, target, resident(&answer.usage(), ptx, target), Of::All)
}

/// Whether an answer leaves a multiprocessor more than one block, if the other does: while one waits for its own
/// threads, or does what lies between its loops, another one loads. Of four kernels that lost theirs, three ran at 0.82
/// to 0.87 of their speed, and one at 1.02.
fn has_company(second: &Assembled, first: &Assembled, ptx: &str, target: &Target) -> bool {
    let blocks = |a: &Assembled| blocks_by_registers(&a.usage(), ptx, target);
    blocks(second) > 1 || blocks(first) == 1
}

/// The threads of blocks of so many that share a multiprocessor, by their registers.
fn resident(usage: &Usage, ptx: &str, target: &Target) -> u32 {
    blocks_by_registers(usage, ptx, target) * warps(ptx) * WARP
}

/// The blocks that share a multiprocessor, by their registers.
fn blocks_by_registers(usage: &Usage, ptx: &str, target: &Target) -> u32 {
    target.multiprocessor().by_registers(warps(ptx), usage.registers.max(1))
}

/// The registers that a thread of the smallest block of a kernel may have.
fn allowed(ptx: &str, target: &Target) -> u32 {
    let limit = numbers(ptx, MOST_REGISTERS).min().unwrap_or(MOST);
    target.multiprocessor().registers_for(1, warps(ptx)).min(limit).min(MOST)
}
