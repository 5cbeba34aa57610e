//! Runs conversion plans on a simulated block.
//!
//! 1. Each thread's registers hold the numbers of their elements, as the source layout says.
//! 2. The plan runs: registers are copied, words are shuffled, and bytes go through an array in place of shared memory.
//!    The array is wiped before each repetition. A place that nobody wrote, or a second value for one, is an error.
//!    With barriers of the warp alone, each warp has an array of its own.
//! 3. Afterwards every register must hold the number that the destination layout says.
//! 4. For the banks, the words of each phase are put into 32 banks one by one. The fullest bank must be as full as the
//!    plan predicts.

use std::collections::{BTreeMap, BTreeSet};

use super::super::plan::shuffle::Machine;
use super::super::plan::{AccessStep, Among, ConversionPlan, Form, SharedAccess, SharedPlan, ShufflePlan};
use super::super::*;
use super::tables::{CONVERSIONS, encoding, list, rows};
use crate::target::{SharedMemory, Target};
use proptest::prelude::*;

/// The elements by thread and register. Threads run through the warps.
type Tensor = Vec<Vec<u64>>;

fn threads(layout: &LinearLayout) -> u64 {
    u64::from(layout.in_size(Dim::Lane) * layout.in_size(Dim::Warp))
}

/// What each thread holds in a block of the cluster, with outputs in the order of `outs`.
fn held(layout: &LinearLayout, outs: &[Dim], block: u64) -> Tensor {
    let layout = layout.transpose_outs(outs);
    let registers = layout.in_bits(Dim::Register);
    let thread_bits = layout.in_bits(Dim::Lane) + layout.in_bits(Dim::Warp);
    let at = |t: u64, r: u64| layout.apply_packed(r | t << registers | block << (registers + thread_bits));
    (0..threads(&layout)).map(|t| (0..1 << registers).map(|r| at(t, r)).collect()).collect()
}

/// A machine with one word in every thread. A word is a list of elements.
struct Simulation;

impl Machine for Simulation {
    type Value = Vec<Vec<u64>>;
    type Error = String;

    fn select(&mut self, bit: u32, off: &Self::Value, on: &Self::Value) -> Result<Self::Value, String> {
        Ok((0..off.len()).map(|t| if t >> bit & 1 == 0 { off[t].clone() } else { on[t].clone() }).collect())
    }

    fn shuffle(&mut self, value: &Self::Value, lanes: &[u32], flip: u32) -> Result<Self::Value, String> {
        let source = |lane: usize| {
            lanes.iter().enumerate().filter(|l| lane >> l.0 & 1 == 1).fold(flip, |acc, l| acc ^ l.1) as usize
        };
        Ok((0..value.len()).map(|t| value[(t & !31) | source(t & 31)].clone()).collect())
    }
}

fn shuffled(plan: &ShufflePlan, source: &Tensor) -> Tensor {
    let words: Vec<Vec<Vec<u64>>> =
        plan.words().map(|w| source.iter().map(|regs| w.iter().map(|&r| regs[r]).collect()).collect()).collect();
    let done = plan.run(&mut Simulation, &words).unwrap();
    (0..source.len())
        .map(|t| plan.results().map(|(word, place)| done[word].as_ref().unwrap()[t][place]).collect())
        .collect()
}

/// The address of an access in a thread of the cluster, which counts on from block to block.
fn address(access: &SharedAccess, thread: u64, offset: u32) -> u32 {
    let map = access.address_map();
    map.apply_packed(thread << map.in_bits(Dim::Register)) as u32 ^ offset
}

/// The block into whose memory the access of a thread goes.
fn block_of(access: &SharedAccess, thread: u64, step: &AccessStep) -> u64 {
    let map = access.block_map();
    map.map_or(0, |map| map.apply_packed(thread << map.in_bits(Dim::Register)) ^ u64::from(step.block))
}

/// The places that an access moves, as (thread, register index in the access, address). They are a thread's own bytes,
/// or for matrices those that the definition of `ldmatrix` gives.
fn moved(access: &SharedAccess, warp: u64, offset: u32, element_bytes: u32) -> Vec<(usize, usize, u32)> {
    let registers = access.vec();
    let at = |lane: usize| address(access, warp * 32 + lane as u64, offset);
    let per_word = (4 / element_bytes.min(4)) as usize;
    let place = |lane: usize, i: usize| match access.form() {
        Form::Vector => at(lane) + i as u32 * element_bytes,
        Form::Matrix { transposed: false } => {
            at(i / per_word * 8 + lane / 4) + (lane % 4) as u32 * 4 + (i % per_word) as u32 * element_bytes
        }
        Form::Matrix { transposed: true } => at(i / 2 * 8 + lane % 4 * 2 + i % 2) + (lane / 4) as u32 * 2,
    };
    (0..32)
        .flat_map(|lane| (0..registers).map(move |i| (lane, i)))
        .map(|(l, i)| (warp as usize * 32 + l, i, place(l, i)))
        .collect()
}

/// `source` has the threads of all blocks, `warps` each.
fn through_memory(plan: &SharedPlan, source: &Tensor, element_bytes: u32, warps: u64) -> Tensor {
    let (store, load) = (plan.store(), plan.load());
    assert!(store.block_map().is_none(), "a store to another block");
    let mut result: Tensor = vec![vec![u64::MAX; load.places().len()]; source.len()];
    let own = |t: usize| t as u64 / 32 / warps;
    let memory_of = |t: usize, block: u64| (block, if plan.among() == Among::Warp { t / 32 } else { 0 });
    for repetition in 0..plan.repetitions() {
        let mut memory: BTreeMap<((u64, usize), u32), u64> = BTreeMap::new();
        for warp in (0..source.len() as u64 / 32).filter(|w| (*w % warps) as u32 & store.free_warps() == 0) {
            for access in store.accesses().iter().filter(|a| plan.repetition_of(a.offset) == repetition) {
                for (t, i, at) in moved(store, warp, access.offset - repetition * plan.bytes(), element_bytes) {
                    assert!(at + element_bytes <= plan.bytes(), "a store beyond the scratch memory");
                    let value = source[t][access.registers[i]];
                    let old = memory.insert((memory_of(t, own(t)), at), value);
                    assert!(old.is_none_or(|o| o == value), "two elements in one place");
                }
            }
        }
        for warp in 0..source.len() as u64 / 32 {
            for (number, access) in
                load.accesses().iter().enumerate().filter(|(_, a)| plan.repetition_of(a.offset) == repetition)
            {
                for (t, i, at) in moved(load, warp, access.offset - repetition * plan.bytes(), element_bytes) {
                    let block = if load.block_map().is_some() { block_of(load, t as u64, access) } else { own(t) };
                    for (r, _) in load.places().iter().enumerate().filter(|(_, p)| **p == (number, i)) {
                        result[t][r] = memory[&(memory_of(t, block), at)];
                    }
                }
            }
        }
    }
    result
}

/// Does step 4 for every access of every warp.
fn check_banks(access: &SharedAccess, warps: u64) {
    let (bytes, lanes, phases) = match access.form() {
        Form::Vector => {
            (access.access_bytes(), (128 / access.access_bytes().max(4)).min(32), (access.access_bytes() / 4).max(1))
        }
        Form::Matrix { .. } => (16, 8, access.access_bytes() / 4),
    };
    for warp in 0..warps {
        for a in access.accesses() {
            let mut wavefronts = 0;
            for phase in 0..phases {
                let mut banks: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
                for lane in phase * lanes..(phase + 1) * lanes {
                    let start = address(access, warp * 32 + u64::from(lane), a.offset);
                    assert!(start.is_multiple_of(bytes), "a misaligned access");
                    for word in start / 4..=(start + bytes - 1) / 4 {
                        banks.entry(word % 32).or_default().insert(word);
                    }
                }
                wavefronts += banks.values().map(BTreeSet::len).max().unwrap() as u32;
            }
            assert_eq!(wavefronts, access.wavefronts(), "predicted wavefronts");
        }
    }
}

/// Does all steps, and gives the plan for further checks.
fn check(source: &LinearLayout, destination: &LinearLayout, bits: u32) -> ConversionPlan {
    let plan = ConversionPlan::new(source, destination, bits, &Target::usual().shared).unwrap();
    let outs: Vec<Dim> = source.out_dims().collect();
    let blocks = 0..u64::from(source.in_size(Dim::Block));
    let all = |layout| blocks.clone().flat_map(|block| held(layout, &outs, block)).collect::<Tensor>();
    let (before, after) = (all(source), all(destination));
    let warps = u64::from(source.in_size(Dim::Warp));
    let found: Tensor = match &plan {
        ConversionPlan::Registers(table) => {
            before.iter().map(|regs| table.iter().map(|&r| regs[r]).collect()).collect()
        }
        ConversionPlan::Shuffles(plan) => {
            before.chunks(32 * warps as usize).flat_map(|block| shuffled(plan, &block.to_vec())).collect()
        }
        ConversionPlan::Shared(plan) => {
            check_banks(plan.store(), warps);
            check_banks(plan.load(), warps);
            if plan.repetitions() > 1 {
                let at_once = SharedMemory { conversions_at_once: true, ..Target::usual().shared };
                let whole = ConversionPlan::new(source, destination, bits, &at_once).unwrap();
                let ConversionPlan::Shared(whole) = whole else { panic!("another kind of plan") };
                assert_eq!(whole.repetitions(), 1);
                assert!(through_memory(&whole, &before, bits.div_ceil(8), warps) == after, "wrong elements at once");
            }
            through_memory(plan, &before, bits.div_ceil(8), warps)
        }
    };
    assert!(found == after, "wrong elements after {plan:?}");
    plan
}

#[derive(Clone, Debug)]
struct Pair {
    source: LinearLayout,
    destination: LinearLayout,
    bits: u32,
}

/// Two layouts of one tensor. The unit vectors are dealt out to registers, lanes and warps in any order, with some
/// places left for copies. Then come `mixed` sums of bases, which keep the places that a thread's registers span but
/// are no permutation any more.
fn any_pair(mixed: usize, same_warps: bool, blocks: usize) -> impl Strategy<Value = Pair> {
    let sizes = (0u32..6, 0u32..6, 0u32..3, 0usize..4, 0usize..3, 0u32..4);
    sizes.prop_flat_map(move |(a, b, c, warps, copies, log_bytes)| {
        let n = (a + b + c) as usize;
        let side = move || {
            let slots = n.max(5 + warps + blocks) + copies;
            let units = Just((0..slots).map(|i| if i < n { 1i64 << i } else { 0 }).collect::<Vec<_>>()).prop_shuffle();
            (units, prop::collection::vec((0usize..16, 0usize..16), mixed))
        };
        (side(), side()).prop_map(move |((mut left, sums), (mut right, more))| {
            let slots = left.len();
            let registers = slots - 5 - warps - blocks;
            if same_warps {
                // Warps have the same vectors on both sides, so nothing crosses warps.
                for (i, &warp) in left.iter().enumerate().skip(slots - warps) {
                    let at = right.iter().enumerate().position(|(j, &v)| v == warp && (v != 0 || j >= i)).unwrap_or(i);
                    right.swap(i, at);
                }
            }
            let layout = |columns: &mut Vec<i64>, sums: &[(usize, usize)]| {
                for &(i, j) in sums.iter().filter(|s| s.0 % slots != s.1 % slots) {
                    // Only registers and lanes change, so that warps stay alike.
                    if i % slots < registers + 5 && j % slots < registers + 5 {
                        columns[i % slots] ^= columns[j % slots];
                    }
                }
                let mask = |bits: u32| (1i64 << bits) - 1;
                let coordinates = |v: i64| vec![(v & mask(a)) as i32, (v >> a & mask(b)) as i32, (v >> (a + b)) as i32];
                let bases =
                    |range: std::ops::Range<usize>| columns[range].iter().map(|&v| coordinates(v)).collect::<Vec<_>>();
                let ins = [
                    (Dim::Register, bases(0..registers)),
                    (Dim::Lane, bases(registers..registers + 5)),
                    (Dim::Warp, bases(registers + 5..slots - blocks)),
                    (Dim::Block, bases(slots - blocks..slots)),
                ];
                LinearLayout::from_bases(
                    &ins,
                    &[(Dim::axis(0), 1 << a), (Dim::axis(1), 1 << b), (Dim::axis(2), 1 << c)],
                )
                .unwrap()
            };
            Pair { source: layout(&mut left, &sums), destination: layout(&mut right, &more), bits: 8 << log_bytes }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_exchange_puts_every_element_in_its_place(pair in any_pair(0, false, 0)) {
        check(&pair.source, &pair.destination, pair.bits);
    }

    #[test]
    fn any_exchange_within_warps_puts_every_element_in_its_place(pair in any_pair(0, true, 0)) {
        check(&pair.source, &pair.destination, pair.bits);
    }

    #[test]
    fn any_exchange_between_blocks_puts_every_element_in_its_place(pair in any_pair(0, false, 1)) {
        check(&pair.source, &pair.destination, pair.bits);
    }

    #[test]
    fn any_exchange_in_a_large_cluster_puts_every_element_in_its_place(pair in any_pair(2, false, 3)) {
        check(&pair.source, &pair.destination, pair.bits);
    }

    #[test]
    fn layouts_that_are_no_permutations_are_exchanged(pair in any_pair(3, false, 0)) {
        check(&pair.source, &pair.destination, pair.bits);
    }

    /// Accesses of 4 bytes or more never conflict if every thread holds something else.
    #[test]
    fn words_do_not_conflict(pair in any_pair(0, false, 0)) {
        if let ConversionPlan::Shared(plan) = ConversionPlan::new(&pair.source, &pair.destination, 32, &Target::usual().shared).unwrap() {
            let ideal = plan.store().ideal_wavefronts() == plan.store().wavefronts() && plan.load().ideal_wavefronts() == plan.load().wavefronts();
            prop_assert!(ideal, "{plan:?}");
        }
    }
}

fn kind(plan: &ConversionPlan) -> &'static str {
    match plan {
        ConversionPlan::Registers(_) => "registers",
        ConversionPlan::Shuffles(_) => "shuffles",
        ConversionPlan::Shared(p) if p.load().form() != Form::Vector => "ldmatrix",
        ConversionPlan::Shared(p) if p.store().form() != Form::Vector => "stmatrix",
        ConversionPlan::Shared(p) => match p.among() {
            Among::Warp => "shared within warps",
            Among::Block => "shared",
            Among::Cluster => "blocks",
        },
    }
}

/// Pairs of encodings of every kind of plan.
#[test]
fn pairs_of_encodings_are_exchanged() {
    let mut kinds = BTreeMap::new();
    for row in rows(CONVERSIONS) {
        let shape: Vec<i64> = list(row[2]);
        let [source, destination] = [0, 1].map(|i| to_linear_layout(&shape, encoding(row[i], shape.len())));
        let alike = [Dim::Warp, Dim::Block].iter().all(|&d| source.in_size(d) == destination.in_size(d));
        if alike && source.total_in_bits() <= 13 {
            for bits in [8, 16, 32, 64] {
                *kinds.entry(kind(&check(source, destination, bits))).or_insert(0) += 1;
            }
        }
    }
    let encodings = [
        "blocked 1,8 4,8 4,1 1,0 -",
        "blocked 8,1 8,4 1,4 0,1 -",
        "blocked 1,4 2,16 2,2 1,0 -",
        "blocked 2,2 4,8 1,4 0,1 -",
        "blocked 1,2 2,16 4,1 1,0 -",
        "blocked 1,4 4,8 4,1 1,0 -",
        "blocked 4,1 1,32 4,1 0,1 -",
        "mma 2 2,2 16,8 -",
        "mma 3 4,1 16,64,16 -",
        "dot 0 2 mma 2 2,2 16,8 -",
        "dot 1 4 mma 2 2,2 16,8 -",
    ];
    for (a, b) in encodings.iter().flat_map(|&a| encodings.iter().map(move |&b| (a, b))) {
        let [source, destination] = [a, b].map(|e| to_linear_layout(&[64, 32], encoding(e, 2)));
        for bits in [8, 16, 32] {
            *kinds.entry(kind(&check(source, destination, bits))).or_insert(0) += 1;
        }
    }
    assert!(kinds.len() == 7 && kinds.values().all(|&n| n > 3), "{kinds:?}");
}
