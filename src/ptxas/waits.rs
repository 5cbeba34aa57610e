//! What the loops of a kernel's machine code cost, by how often a warp stands and waits for memory in them.
//!
//! ptxas decides how many loads of a loop are on their way at once: with few registers it issues some, waits, uses them
//! and issues the next. So the same loop can wait two or six times for memory, and nothing in PTX says which. The
//! machine code does: each instruction names the barriers that it waits for and the one that it sets.
//!
//! 1. A loop is what lies between a branch and a target above it. The innermost ones that load from global memory
//!    count, but for those that use local memory: they reduce large arguments of sines, and hardly any thread enters.
//!    Loops that spill use it too, so where one answer spills, all loops of both are compared ([`Of::All`]).
//! 2. One warp is followed through three turns. Instructions issue in order, each after the cycles that the one before
//!    it asks for. A barrier is free when the last instruction that set it is done ([`LOAD`] cycles for a load from
//!    global memory). The third turn takes `T` cycles.
//! 3. The scheduler issues `n` instructions for that turn, where those that move data count more than once.
//! 4. `W` warps share the scheduler, so a turn costs it about `T / W` cycles if warps wait and `n` if they do not:
//!    `√((T / W)² + n²)`.
//! 5. To compare two answers for the whole kernel, the same is counted of all its code, each instruction once, and
//!    [`TURNS`] of each innermost loop are added ([`whole`]). What threads keep in local memory is as far away as
//!    global memory if it is more than a multiprocessor's cache holds.
//! 6. The least that a turn can cost is one wait for all its loads behind what it issues anyway. A loop near that has
//!    nothing to gain by more registers.
//!
//! Encoding (found by comparing with nvdisasm for sm_80 to sm_120): an instruction has 128 bits; 0 to 11 are the
//! operation; from 105 on there are the cycles until the next one (4 bits), a hint (1), the barrier that its result
//! sets (3; 7 is none), the one that the reading of its operands sets (3), and a mask of those that it waits for (6). A
//! branch has its distance in bits 34 to 81, from sm_90 on with bits 16 to 23 below it, in words of four bytes.
//!
//! Of 44 kernels with such loops and without products, assembled with and without `--minnctapersm 1` and timed on an
//! H200, three became cheaper by a tenth or more in this model. They ran 1.50, 1.40 and 1.10 times as fast; the best of
//! the others 1.13, the worst 0.66 (`docs/performance.md`).

use std::collections::BTreeMap;

use crate::target::Target;

/// Cycles from a load of global memory to its value: between a hit and a miss of the second cache.
const LOAD: u64 = 700;
/// The same for an atomic operation.
const ATOMIC: u64 = 900;
/// For shared memory, constants, shuffles, special functions and everything else of variable length.
const SHORT: u64 = 30;
/// Cycles until the operands of an instruction are read.
const READ: u64 = 20;
/// Cycles that a block's warps stand at a barrier.
const BARRIER: u64 = 40;

/// Issues that an access of global memory is worth, and one of shared memory or a shuffle.
const GLOBAL_ISSUES: u64 = 5;
const SHARED_ISSUES: u64 = 3;

/// The bytes of local memory that the first cache of a multiprocessor holds: most of what shared memory may take. On an
/// H200, a kernel of 1,024 threads that keeps 264 bytes of each there ran at 0.67 of its speed with 72.
const LOCAL: u64 = 160 << 10;

/// The barriers of a warp.
const BARRIERS: usize = 6;

/// How often a loop is taken to run, where it counts together with the code around it.
const TURNS: f64 = 8.0;

/// Schedulers of a multiprocessor, and threads of a warp.
const SCHEDULERS: u32 = 4;
const WARP: u32 = 32;

/// What instructions are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Load,
    Store,
    Atomic,
    Shared,
    Local,
    Barrier,
    Product,
    /// An asynchronous product.
    GroupProduct,
    Branch,
    Exit,
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Instruction {
    kind: Kind,
    stall: u64,
    /// The barriers that the result and the reading of operands set.
    sets: Option<usize>,
    reads: Option<usize>,
    waits: u8,
    bits: u128,
}

/// The innermost loops of a kind, all together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Loops {
    /// Loads of global memory.
    pub(super) loads: usize,
    /// Scheduler's cycles of one turn of each.
    pub(super) cost: f64,
    /// Cycles of one turn of each, for a warp that is alone.
    pub(super) alone: u64,
    /// The same if each waited once for all its loads.
    pub(super) least: f64,
    /// The largest `T / W / n`: from 1 on warps wait more than they issue.
    pub(super) waiting: f64,
}

/// Code without loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Straight {
    /// Cycles of a warp that is alone.
    pub(super) alone: u64,
    /// The same if it waited once for all its loads.
    pub(super) least: u64,
}

/// Which innermost loops count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Of {
    /// Those that load from global memory, and do not use local memory.
    Global,
    /// Those that load from global memory.
    All,
    /// Those with products on the tensor cores.
    Products,
}

/// Reads the loops of a cubin, if `threads` of a multiprocessor run the kernel.
pub(super) fn loops(cubin: &[u8], target: &Target, threads: u32, of: Of) -> Loops {
    let warps = f64::from(threads.max(WARP)) / f64::from(WARP * SCHEDULERS);
    let mut all = Loops::default();
    for code in super::cubin::texts(cubin) {
        let list = decoded(code);
        for (from, to) in innermost(&list, target) {
            let body = &list[from..=to];
            let loads = body.iter().filter(|i| i.kind == Kind::Load).count();
            let has = |kind| body.iter().any(|i| i.kind == kind);
            let counts = match of {
                Of::Global => loads > 0 && !has(Kind::Local),
                Of::All => loads > 0,
                Of::Products => has(Kind::Product) || has(Kind::GroupProduct),
            };
            if counts {
                let alone = turn(body);
                let each = alone as f64 / warps;
                let issued = body.iter().map(Instruction::issues).sum::<u64>() as f64;
                all.loads += loads;
                all.alone += alone;
                let least = (together(body) as f64 / warps).min(each);
                all.cost += each.hypot(issued);
                all.least += least.hypot(issued);
                all.waiting = all.waiting.max(each / issued);
            }
        }
    }
    all
}

/// The scheduler's cycles of all code of a cubin, as [`loops`] counts them, if `threads` of a multiprocessor run the
/// kernel: once in a row, whatever branches, and [`TURNS`] of each innermost loop. Each thread has `stack` bytes of
/// local memory.
pub(super) fn whole(cubin: &[u8], target: &Target, threads: u32, stack: u32) -> f64 {
    let warps = f64::from(threads.max(WARP)) / f64::from(WARP * SCHEDULERS);
    let is_far = u64::from(stack) * u64::from(threads) > LOCAL;
    let cost = |cycles: u64, body: &[Instruction]| {
        let issued = body.iter().map(Instruction::issues).sum::<u64>() as f64;
        (cycles as f64 / warps).hypot(issued)
    };
    let of_text = |code: &[u8]| {
        let mut list = decoded(code);
        if is_far {
            list.iter_mut().for_each(Instruction::go_far);
        }
        let end = end(&list);
        let turns = |(from, to): (usize, usize)| TURNS * cost(turn(&list[from..=to]), &list[from..=to]);
        cost(cycles(&list[..end], 1), &list[..end]) + innermost(&list, target).into_iter().map(turns).sum::<f64>()
    };
    super::cubin::texts(cubin).map(of_text).sum()
}

/// Reads the code of a cubin; `None` if there is a loop.
pub(super) fn straight(cubin: &[u8], target: &Target) -> Option<Straight> {
    let mut all = Straight::default();
    for code in super::cubin::texts(cubin) {
        let mut list = decoded(code);
        list.truncate(end(&list));
        if !innermost(&list, target).is_empty() {
            return None;
        }
        all.alone += cycles(&list, 1);
        all.least += together(&list);
    }
    Some(all)
}

/// Where the code of a kernel ends: behind the last exit there is a branch to itself, and nothing.
fn end(list: &[Instruction]) -> usize {
    list.iter().rposition(|i| i.kind == Kind::Exit).map_or(list.len(), |last| last + 1)
}

fn decoded(code: &[u8]) -> Vec<Instruction> {
    code.as_chunks::<16>().0.iter().map(|b| decode(u128::from_le_bytes(*b))).collect()
}

fn decode(bits: u128) -> Instruction {
    let field = |at: u32, width: u32| (bits >> at) as usize & ((1 << width) - 1);
    let barrier = |at| Some(field(at, 3)).filter(|&b| b < BARRIERS);
    let kind = match field(0, 12) {
        0x381 | 0x981 => Kind::Load,
        0x386 | 0x986 => Kind::Store,
        0x38b..=0x38e | 0x98b..=0x98e | 0x3a8..=0x3ab | 0x9a8..=0x9ab => Kind::Atomic,
        // LDS, STS, LDSM, and SHFL with its operands in registers or not.
        0x384 | 0x984 | 0x388 | 0x988 | 0x83b | 0x389 | 0x589 | 0x989 | 0xf89 => Kind::Shared,
        0x383 | 0x983 | 0x387 | 0x987 => Kind::Local,
        0xb1d => Kind::Barrier,
        // IMMA, HMMA and DMMA.
        0x237 | 0x23c | 0x23f => Kind::Product,
        // HGMMA, IGMMA and QGMMA.
        0x9f0 | 0xdf0 | 0x9f1 | 0xdf1 | 0x9f3 | 0xdf3 => Kind::GroupProduct,
        // BRA, with a uniform predicate from sm_100 on.
        0x947 | 0x547 => Kind::Branch,
        0x94d => Kind::Exit,
        _ => Kind::Other,
    };
    Instruction {
        kind,
        stall: field(105, 4) as u64,
        sets: barrier(110),
        reads: barrier(113),
        waits: field(116, BARRIERS as u32) as u8,
        bits,
    }
}

impl Instruction {
    /// Makes an access of local memory one of global memory.
    fn go_far(&mut self) {
        if self.kind == Kind::Local {
            self.kind = Kind::Load;
        }
    }

    fn issues(&self) -> u64 {
        match self.kind {
            Kind::Load | Kind::Store | Kind::Atomic => GLOBAL_ISSUES,
            Kind::Shared => SHARED_ISSUES,
            Kind::Local
            | Kind::Barrier
            | Kind::Product
            | Kind::GroupProduct
            | Kind::Branch
            | Kind::Exit
            | Kind::Other => 1,
        }
    }

    /// Cycles until the next instruction may issue, without waits for results.
    fn cycles(&self) -> u64 {
        self.stall.max(1) + if self.kind == Kind::Barrier { BARRIER } else { 0 }
    }

    fn latency(&self) -> u64 {
        match self.kind {
            Kind::Load => LOAD,
            Kind::Atomic => ATOMIC,
            Kind::Store
            | Kind::Shared
            | Kind::Local
            | Kind::Barrier
            | Kind::Product
            | Kind::GroupProduct
            | Kind::Branch
            | Kind::Exit
            | Kind::Other => SHORT,
        }
    }

    /// Where a branch goes, for the instruction at `place`.
    fn target(&self, place: usize, target: &Target) -> Option<usize> {
        if self.kind != Kind::Branch {
            return None;
        }
        // The 48 bits come to the top, and back down with their sign.
        let far = (self.bits << (128 - 82)).cast_signed() >> (128 - 48);
        let words = if target.version() >= (9, 0) { far << 8 | (self.bits >> 16 & 0xff).cast_signed() } else { far };
        let instructions = words / 4;
        usize::try_from(place as i128 + 1 + instructions).ok()
    }
}

/// The loops without another one in them, as their first and last instructions. Of branches to one place the last
/// counts.
fn innermost(list: &[Instruction], target: &Target) -> Vec<(usize, usize)> {
    let mut ends = BTreeMap::new();
    for (place, instruction) in list.iter().enumerate() {
        // The end of the code is a branch to itself.
        if let Some(start) = instruction.target(place, target).filter(|&start| start < place) {
            ends.insert(start, place);
        }
    }
    let holds_another = |from: usize, to: usize| ends.range(from + 1..=to).any(|(_, &end)| end <= to);
    ends.iter().map(|(&from, &to)| (from, to)).filter(|&(from, to)| !holds_another(from, to)).collect()
}

/// The cycles of one warp's turn that waits once for all its loads.
fn together(body: &[Instruction]) -> u64 {
    LOAD + body.iter().map(Instruction::cycles).sum::<u64>()
}

/// The cycles of one warp's third turn.
fn turn(body: &[Instruction]) -> u64 {
    cycles(body, 3)
}

/// The cycles of the last of so many turns of one warp.
fn cycles(body: &[Instruction], turns: u32) -> u64 {
    let (mut now, mut begun) = (0, 0);
    let mut free = [0; BARRIERS];
    for _ in 0..turns {
        begun = now;
        for instruction in body {
            let waits = free.iter().enumerate().filter(|(b, _)| instruction.waits >> b & 1 == 1);
            now = waits.map(|(_, &at)| at).fold(now, u64::max);
            if let Some(barrier) = instruction.sets {
                free[barrier] = free[barrier].max(now + instruction.latency());
            }
            if let Some(barrier) = instruction.reads {
                free[barrier] = free[barrier].max(now + READ);
            }
            now += instruction.cycles();
        }
    }
    now - begun
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptxas::tests::real;
    use crate::ptxas::{AssembleOptions, Tool, assemble};

    /// An instruction that takes one cycle, sets one barrier and waits for some.
    fn instruction(operation: u128, sets: Option<u128>, waits: u128) -> Instruction {
        decode(operation | 1 << 105 | sets.unwrap_or(7) << 110 | 7 << 113 | waits << 116)
    }

    const LDG: u128 = 0x981;
    const FADD: u128 = 0x221;

    #[test]
    fn loads_that_are_waited_for_together_are_on_their_way_together() {
        let (load, add) = (|b| instruction(LDG, Some(b), 0), |mask| instruction(FADD, None, mask));
        let together = [load(0), load(0), add(1), add(0)];
        let apart = [load(0), add(1), load(0), add(1)];
        assert_eq!(turn(&together), LOAD + 1 + 2);
        assert_eq!(turn(&apart), 2 * (LOAD + 1));
        assert_eq!(super::together(&apart), LOAD + 4);
        // Barrier 1 is another one.
        assert_eq!(turn(&[load(0), add(2)]), 2);
    }

    #[test]
    fn local_memory_may_be_as_far_as_global_memory() {
        let near = [instruction(0x983, Some(0), 0), instruction(FADD, None, 1)];
        let mut far = near;
        far.iter_mut().for_each(Instruction::go_far);
        assert_eq!((turn(&near), turn(&far)), (SHORT + 1, LOAD + 1));
        assert_eq!(near.map(|i| i.issues()), [1, 1]);
        assert_eq!(far.map(|i| i.issues()), [GLOBAL_ISSUES, 1]);
    }

    #[test]
    fn loops_are_found_in_the_code_of_every_generation() {
        let Some(ptxas) = real(Tool::Ptxas) else { return };
        let ptx = "
.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
.reqntid 128
{
    .reg .pred %p; .reg .b32 %i, %x, %y, %n; .reg .b64 %a;
    ld.param.u64 %a, [p]; ld.param.u32 %n, [n]; mov.u32 %i, 0; mov.u32 %y, 0;
again: .pragma \"nounroll\";
    ld.global.u32 %x, [%a]; add.u32 %y, %y, %x; ld.global.u32 %x, [%a + 4096]; add.u32 %y, %y, %x;
    add.u32 %i, %i, 1; add.u64 %a, %a, 4;
    setp.lt.u32 %p, %i, %n; @%p bra again;
    st.global.u32 [%a], %y;
    ret;
}";
        for name in ["sm_80", "sm_86", "sm_90a", "sm_100a", "sm_120a"] {
            let target = Target::parse(name).unwrap();
            let text = ptx.replace("sm_80", name);
            let options = AssembleOptions { ptxas: Some(&ptxas), again: false, ..AssembleOptions::default() };
            let made = assemble(&text, &target, &options, None).unwrap();
            let few = loops(&made.cubin, &target, 128, Of::Global);
            assert_eq!(few.loads, 2, "{name}");
            // One wait for both loads, and a scheduler with one warp.
            assert!((700.0..900.0).contains(&few.cost), "{name}: {few:?}");
            let many = loops(&made.cubin, &target, 1024, Of::Global);
            assert!(many.cost < few.cost / 4.0 && many.waiting < few.waiting, "{name}: {many:?}");
        }
        // A loop that indexes local memory does not count.
        let local = ptx
            .replace(".reg .pred", ".local .b8 table[64]; .reg .b32 %t; .reg .pred")
            .replace("add.u32 %i, %i, 1;", "and.b32 %t, %i, 60; st.local.u32 [table + %t], %x; add.u32 %i, %i, 1;")
            .replace("ret;", "and.b32 %t, %y, 60; ld.local.u32 %x, [table + %t]; st.global.u32 [%a], %x; ret;");
        let local = local
            .replace("[table + %t]", "[%t]")
            .replace("and.b32 %t, %i, 60;", "mov.u32 %t, table; and.b32 %x, %i, 60; add.u32 %t, %t, %x;");
        let target = Target::parse("sm_80").unwrap();
        let options = AssembleOptions { ptxas: Some(&ptxas), again: false, ..AssembleOptions::default() };
        let made = assemble(&local, &target, &options, None).unwrap();
        assert_eq!(loops(&made.cubin, &target, 128, Of::Global), Loops::default());
        assert_eq!(loops(&made.cubin, &target, 128, Of::All).loads, 2);
        assert_eq!(loops(b"no cubin", &Target::parse("sm_80").unwrap(), 128, Of::All), Loops::default());
    }

    /// A loop of products that a warp waits for counts as such, whatever it loads.
    #[test]
    fn loops_with_products_are_found_on_every_target() {
        let Some(ptxas) = real(Tool::Ptxas) else { return };
        let ptx = "
.version 9.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 tile[];
.visible .entry k(.param .u64 p, .param .u32 n)
.reqntid 128
{
    .reg .pred %p; .reg .b32 %i, %n, %t, %a<4>, %b<2>; .reg .f32 %c<4>; .reg .b64 %o;
    ld.param.u64 %o, [p]; ld.param.u32 %n, [n]; mov.u32 %i, 0; mov.u32 %t, tile;
    mov.f32 %c0, 0f00000000; mov.f32 %c1, %c0; mov.f32 %c2, %c0; mov.f32 %c3, %c0;
again: .pragma \"nounroll\";
    ld.shared.v4.b32 {%a0, %a1, %a2, %a3}, [%t]; ld.shared.v2.b32 {%b0, %b1}, [%t + 4096];
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1},
        {%c0, %c1, %c2, %c3};
    add.u32 %i, %i, 1; add.u32 %t, %t, 16;
    setp.lt.u32 %p, %i, %n; @%p bra again;
    st.global.v4.f32 [%o], {%c0, %c1, %c2, %c3};
    ret;
}";
        for name in ["sm_80", "sm_86", "sm_90a", "sm_100a", "sm_120a"] {
            let target = Target::parse(name).unwrap();
            let options = AssembleOptions { ptxas: Some(&ptxas), again: false, ..AssembleOptions::default() };
            let made = assemble(&ptx.replace("sm_80", name), &target, &options, None).unwrap();
            let found = loops(&made.cubin, &target, 128, Of::Products);
            // It waits for shared memory, and loads nothing from global memory.
            assert!(found.alone >= SHORT && found.loads == 0, "{name}: {found:?}");
            assert_eq!(loops(&made.cubin, &target, 128, Of::Global), Loops::default(), "{name}");
        }
    }
}
