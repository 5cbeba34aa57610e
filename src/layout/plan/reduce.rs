//! The plan of `tt.reduce`: it says which partial results are combined where.
//!
//! # Algorithm
//!
//! Two places (register, lane, warp) belong to one result when they agree off the axis. The plan combines what is near
//! first:
//!
//! 1. *In a thread*: registers that agree off the axis form a group. Copies of an element are left out. Groups are
//!    numbered by their first register.
//! 2. *In a warp*: a place bit that depends, off the axis, on the bits below it gives a vector along which only the
//!    axis changes. Vectors that reach elements which are not combined yet are steps. In a step, every thread combines
//!    group `g` with group `partner[g]` of the lane that differs in `lanes`. Afterwards both lanes have the same, so
//!    steps double what is combined. Vectors that reach nothing new lead to copies.
//! 3. *Across warps*: if `n` vectors cross warps, `2^n` partial results are left. Each is stored once, with the partial
//!    results of one result side by side, up to the 16 bytes of a load. After one barrier every thread reads all that
//!    its own registers need, in wide loads, and combines them itself. No shuffles follow and nothing is stored again,
//!    so the barrier is the only one. Many results go through the same memory in a few rounds ([`super::rounds`]).
//!    What lanes and warps decide is low in a slot's number, and what only registers decide is high, so lanes access
//!    neighbours, and rounds are the highest bits. Of more partial results than one load has, the others follow
//!    behind those of all results: lanes that are 32 bytes apart would meet in the same banks.
//!    Where a thread needs many results and memory is ample, one thread combines each result, stores it behind the
//!    partial results, and after a second barrier every thread reads what it needs ([`Partials::once`]).
//! 4. *Between two warps*: if two partial results are left, of which a thread has one itself and wants their sum, it
//!    stores its own and reads its partner's in wide accesses ([`Swap`]).
//! 5. *Across the blocks of a cluster*: where a bit of the block's number moves along the axis, each block stores its
//!    partial results as in 3, at the same slots. After one barrier of the cluster every thread reads those of all
//!    blocks that share the axis, in the order of their numbers, so all blocks compute the same bits.
//! 6. If nothing crosses warps or blocks and the result's layout has each result where it is, there is no shared memory
//!    at all. A result of another layout goes through shared memory as in 3, with `2^0` partial results.
//!
//! # Example
//!
//! 1024 floats in 4 warps, 8 to a thread, need one group of 8 registers, then steps with lanes 1, 2, 4, 8 and 16. Four
//! partial results are left, which lane 0 of each warp stores at the offsets 0 to 3. Every thread loads 16 bytes and
//! combines four values.

mod swap;

use std::collections::{BTreeMap, BTreeSet};

use super::along_axis::{AlongAxis, free_thread_bits};
use super::convert::Among;
use super::rounds::round_bits;
use crate::layout::linear::{low_bits, select};
use crate::layout::solve::Pivots;
use crate::layout::{Dim, LayoutError, LinearLayout};
pub use swap::Swap;

/// The plan for reducing a tensor along an axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReducePlan {
    /// The registers that each thread combines, in this order, to one partial result each.
    pub groups: Vec<Vec<usize>>,
    /// The steps between the lanes of a warp, in order.
    pub steps: Vec<LaneStep>,
    pub delivery: Delivery,
}

/// A step in which every thread combines its group `g` with group `partner[g]` of the lane whose number differs in the
/// bits `lanes`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneStep {
    pub lanes: u32,
    pub partner: Vec<usize>,
}

/// How results get to the registers that the result's layout wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// The group that each register of the result copies.
    Registers(Vec<usize>),
    /// The results go through shared memory, which also finishes the reduction.
    Shared(Partials),
    /// Two warps exchange partial results.
    Swap(Swap),
}

/// Partial results in shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partials {
    /// The number of partial results of one result in a block.
    pub parts: usize,
    /// How many of them lie side by side. The next ones are [`Partials::stride`] slots behind.
    pub run: usize,
    /// The bits of the block's number in its cluster that move along the axis: blocks that differ in these alone have
    /// partial results of the same results.
    pub blocks: u32,
    /// A map from (register, lane, warp) to the slot, in elements. A group is stored at the slot of its first register.
    pub store: LinearLayout,
    /// The bits of the thread's number that must all be 0 for the thread to store.
    pub copies: u32,
    /// A map from (register, lane, warp) of the result to the first slot that it is combined from.
    pub load: LinearLayout,
    /// The number of slots, for each operand.
    pub slots: u32,
    /// How often the slots are filled and emptied.
    pub rounds: u32,
    /// The round in which each group is stored.
    pub store_round: Vec<u32>,
    /// The round in which each register of the result is loaded.
    pub load_round: Vec<u32>,
    /// Where finished results lie, if one thread combines each result and stores it again behind the slots of the
    /// round.
    pub once: Option<Finished>,
}

/// Where results lie that one thread each has combined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finished {
    /// A map from (register, lane, warp) of the result to its place among those of its round.
    pub load: LinearLayout,
    /// The lowest bits of a place, which registers decide: a thread loads these results together.
    pub run_bits: u32,
    /// The bits above them. In the order of first partial results, these are the lowest ones.
    pub low_bits: u32,
}

impl Finished {
    /// The parts of a place, each as its lowest bit in the order of first partial results, how many bits it has, and
    /// its lowest bit in the place.
    #[must_use]
    pub fn fields(&self) -> [(u32, u32, u32); 3] {
        let (run, low) = (self.run_bits, self.low_bits);
        [(0, low, run), (low, run, 0), (low + run, u32::BITS - low - run, low + run)]
    }
}

/// What a plan weighs beside the layouts.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// Bytes of an element of each operand.
    pub element_bytes: &'a [u32],
    /// The instructions that combine two partial results.
    pub combine: u32,
    /// Whether fewer barriers are worth more bytes.
    pub ample: bool,
}

/// The most loads of a result, where some go to the memory of other blocks. Above it is better that each block combines
/// its own first.
const MOST_LOADS: u32 = 16;
/// Bytes of the widest load.
const WIDEST: u32 = 16;
/// Bytes of all banks of shared memory.
const BANKS: u32 = 128;
/// What a pass over shared memory costs, where an addition costs 1, and what a barrier costs.
const ACCESS: u32 = 4;
const BARRIER: u32 = 30;

impl Partials {
    /// Which threads wait for each other between the stores and the loads.
    #[must_use]
    pub fn among(&self) -> Among {
        if self.blocks == 0 { Among::Block } else { Among::Cluster }
    }

    /// The numbers that the blocks with partial results of the same results have in the bits [`Partials::blocks`].
    #[must_use]
    pub fn block_numbers(&self) -> Vec<u32> {
        (0..=self.blocks).filter(|number| number & !self.blocks == 0).collect()
    }

    /// The results of a round.
    #[must_use]
    pub fn results(&self) -> u32 {
        self.slots / self.parts as u32
    }

    /// How far partial results of one result that do not lie side by side are apart, in slots.
    #[must_use]
    pub fn stride(&self) -> u32 {
        self.slots / (self.parts / self.run) as u32
    }

    /// The slots of all partial results of the result whose first one lies at `first`.
    pub fn slots_from(&self, first: u32) -> impl Iterator<Item = u32> {
        let (run, stride) = (self.run as u32, self.stride());
        (0..self.parts as u32).map(move |i| first + i / run * stride + i % run)
    }

    /// The threads of a block.
    #[must_use]
    pub fn threads(&self) -> u32 {
        1 << (self.load.in_bits(Dim::Lane) + self.load.in_bits(Dim::Warp))
    }

    /// Finished results that one access of a thread loads in this round, up to four: the registers of each.
    #[must_use]
    pub fn finished(&self, round: u32) -> Vec<Vec<Vec<usize>>> {
        let Some(finished) = &self.once else { return vec![] };
        let mut registers: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for r in (0..self.load_round.len()).filter(|&r| self.load_round[r] == round) {
            registers.entry(finished.load.apply_packed(r as u64)).or_default().push(r);
        }
        let most = 1usize << finished.run_bits;
        let places: Vec<u64> = registers.keys().copied().collect();
        let mut registers = registers.into_values();
        let (mut runs, mut done) = (vec![], 0);
        while done < places.len() {
            let first = places[done];
            let is_run = |n: &usize| {
                first.is_multiple_of(*n as u64) && places[done..].iter().take(*n).copied().eq(first..first + *n as u64)
            };
            let count = [4, 2].into_iter().filter(|&n| n <= most).find(is_run).unwrap_or(1);
            runs.push(registers.by_ref().take(count).collect());
            done += count;
        }
        runs
    }

    /// The slots of a round with those of finished results.
    #[must_use]
    pub fn all_slots(&self) -> u32 {
        self.slots + if self.once.is_some() { self.results() } else { 0 }
    }

    /// The number of partial results of one result, those of all blocks.
    #[must_use]
    pub fn all_parts(&self) -> usize {
        self.parts << self.blocks.count_ones()
    }

    /// Whether all lanes of a warp want the same result and no other, so that each can load a part of it.
    #[must_use]
    pub fn is_same_for_lanes(&self) -> bool {
        let warps = self.load.in_bits(Dim::Warp) as usize;
        self.load.columns[..self.load.columns.len() - warps].iter().all(|&column| column == 0)
    }

    /// The loads that give a thread all of one result that lies in several blocks; 0 where it lies in one.
    #[must_use]
    pub fn loads(&self, element_bytes: &[u32]) -> u32 {
        let in_block = element_bytes.iter().map(|bytes| (self.parts as u32 * bytes).div_ceil(WIDEST)).sum::<u32>();
        if self.blocks == 0 { 0 } else { in_block << self.blocks.count_ones() }
    }
}

impl ReducePlan {
    /// Makes the plan for a source of this layout and a result of this one. `None` stands for a scalar, which every
    /// thread gets.
    ///
    /// # Errors
    /// Fails if blocks of a cluster hold other results than elements, if a bit of the block's number moves along the
    /// axis and also beside it, or repeats what another bit does, and if a thread would load much from other blocks.
    pub fn new(
        source: &LinearLayout,
        axis: usize,
        result: Option<&LinearLayout>,
        weights: Weights<'_>,
    ) -> Result<ReducePlan, LayoutError> {
        let places = AlongAxis::new(source, axis)?;
        let blocks = shared_by_blocks(&places)?;
        let result = result_columns(source, axis, result)?;
        let (groups, group_of) = groups(&places);
        let along = Directions::new(&places)?;
        let step = |&v: &u64| LaneStep {
            lanes: places.lane(v),
            partner: groups.iter().map(|g| group_of[&places.beside(g[0] as u64 ^ places.register(v))]).collect(),
        };
        // The steps go from the highest lane bit down, which is the order that reference results were made with.
        let steps = along.lanes.iter().rev().map(step).collect();
        let by_all = || Delivery::Shared(partials((&places, &along, blocks), &result, &groups, weights));
        let delivery = match in_place(&places, &group_of, &result).filter(|_| blocks == 0) {
            Some(table) if along.warps == 0 => Delivery::Registers(table),
            Some(table) => {
                Swap::new(&places, &along, (&groups, table), weights.element_bytes).map_or_else(by_all, Delivery::Swap)
            }
            None => by_all(),
        };
        if let Delivery::Shared(partials) = &delivery
            && partials.loads(weights.element_bytes) > MOST_LOADS
        {
            return Err(LayoutError::new("too many partial results would be loaded from other blocks of the cluster"));
        }
        Ok(ReducePlan { groups, steps, delivery })
    }

    /// The bytes of shared memory for operands whose elements take these bytes.
    #[must_use]
    pub fn scratch_bytes(&self, element_bytes: &[u32]) -> u32 {
        match &self.delivery {
            Delivery::Registers(_) => 0,
            Delivery::Shared(partials) => operand_offsets(partials.all_slots(), element_bytes).1,
            Delivery::Swap(swap) => operand_offsets(swap.slots * swap.buffers, element_bytes).1,
        }
    }
}

/// Where the slots of each operand start, and the bytes of all. The widest elements lie first. Then each start is a
/// multiple of what the operand's accesses are aligned to, 16 bytes or all of its slots, and nothing is lost between
/// operands.
///
/// Example: two slots of 4, 8 and 4 bytes start at 16, 0 and 24, and take 32 bytes in all.
#[must_use]
pub fn operand_offsets(slots: u32, element_bytes: &[u32]) -> (Vec<u32>, u32) {
    let mut order: Vec<usize> = (0..element_bytes.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(element_bytes[i]));
    let (mut starts, mut end) = (vec![0; order.len()], 0u32);
    for i in order {
        let size = slots * element_bytes[i];
        starts[i] = end.next_multiple_of(size.next_power_of_two().min(16));
        end = starts[i] + size;
    }
    (starts, end)
}

/// The result's layout from (register, lane, warp), with one column for each bit. Coordinates are packed as
/// [`AlongAxis::beside`] packs them.
struct ResultColumns {
    register_bits: u32,
    lane_bits: u32,
    warp_bits: u32,
    columns: Vec<u64>,
}

/// Step 4: the bits of the block's number that move along the axis.
fn shared_by_blocks(places: &AlongAxis) -> Result<u32, LayoutError> {
    let mut shared = 0;
    for (bit, _) in places.blocks.iter().enumerate().filter(|(_, b)| b.0 != 0) {
        if places.blocks[bit].1 != 0 {
            return Err(LayoutError::new("a block of the cluster differs from another along the axis and beside it"));
        }
        shared |= 1 << bit;
    }
    Ok(shared)
}

fn result_columns(
    source: &LinearLayout,
    axis: usize,
    result: Option<&LinearLayout>,
) -> Result<ResultColumns, LayoutError> {
    let (lane_bits, warp_bits) = (source.in_bits(Dim::Lane), source.in_bits(Dim::Warp));
    let Some(result) = result else {
        return Ok(ResultColumns {
            register_bits: 0,
            lane_bits,
            warp_bits,
            columns: vec![0; (lane_bits + warp_bits) as usize],
        });
    };
    let rank = result.out_dims().len();
    let result = result.transpose_outs(&Dim::axes(rank));
    let kept: Vec<usize> = (0..=rank).filter(|&i| i != axis).collect();
    let same = |b: usize| {
        kept.iter()
            .enumerate()
            .all(|(i, &d)| source.basis(Dim::Block, b, Dim::axis(d)) == result.basis(Dim::Block, b, Dim::axis(i)))
    };
    let fits = source.out_dims().len() == rank + 1
        && kept.iter().enumerate().all(|(i, &d)| source.out_bits(Dim::axis(d)) == result.out_bits(Dim::axis(i)))
        && [Dim::Lane, Dim::Warp, Dim::Block].iter().all(|&d| source.in_bits(d) == result.in_bits(d));
    if !fits {
        return Err(LayoutError::new(
            "the result of a reduction has another shape, or other threads, than its operand",
        ));
    }
    if !(0..source.in_bits(Dim::Block) as usize).all(same) {
        return Err(LayoutError::new("results would move between the blocks of a cluster"));
    }
    let columns = [Dim::Register, Dim::Lane, Dim::Warp].iter().flat_map(|&d| result.columns_of(d)).copied().collect();
    Ok(ResultColumns { register_bits: result.in_bits(Dim::Register), lane_bits, warp_bits, columns })
}

/// Step 1 makes the groups: the registers of each, and the number of the group at each place off the axis.
fn groups(places: &AlongAxis) -> (Vec<Vec<usize>>, BTreeMap<u64, usize>) {
    let mut groups: Vec<Vec<usize>> = vec![];
    let mut group_of = BTreeMap::new();
    for r in 0..places.registers() {
        let group = *group_of.entry(places.beside(r)).or_insert(groups.len());
        if group == groups.len() {
            groups.push(vec![]);
        }
        if groups[group].iter().all(|&known| places.along(known as u64) != places.along(r)) {
            groups[group].push(r as usize);
        }
    }
    (groups, group_of)
}

/// The vectors of places along which only the axis changes.
struct Directions {
    /// The vectors between lanes, which become steps.
    lanes: Vec<u64>,
    /// The number of vectors that cross warps.
    warps: u32,
    /// Everything that is combined, by its coordinates along the axis. Those across warps are `warps` insertions after
    /// `before_warps` others; those across blocks follow.
    combined: Pivots,
    /// The number of insertions before those across warps.
    before_warps: u32,
}

impl Directions {
    fn new(places: &AlongAxis) -> Result<Directions, LayoutError> {
        let (mut beside, mut combined, mut inserted) = (Pivots::new(), Pivots::new(), 0);
        let mut found = Directions { lanes: vec![], warps: 0, combined: Pivots::new(), before_warps: 0 };
        for bit in 0..places.place_bits() {
            let column = places.beside(1 << bit);
            let (remainder, others) = beside.reduce(column);
            if remainder != 0 {
                beside.insert(bit as usize, column);
                continue;
            }
            let vector = others | 1 << bit;
            if !combined.insert(inserted, places.along(vector)) {
                continue;
            }
            inserted += 1;
            if bit >= places.register_bits + places.lane_bits {
                found.warps += 1;
            } else if bit >= places.register_bits {
                found.lanes.push(vector);
            }
        }
        let before_warps = inserted as u32 - found.warps;
        for &(along, _) in places.blocks.iter().filter(|b| b.0 != 0) {
            if !combined.insert(inserted, along) {
                return Err(LayoutError::new(
                    "blocks of the cluster hold copies of what others hold, in another order",
                ));
            }
            inserted += 1;
        }
        if inserted as u32 != places.axis_bits {
            return Err(LayoutError::new("a block of the cluster does not hold all elements of its results"));
        }
        Ok(Directions { combined, before_warps, ..found })
    }

    /// The number of the partial result to which a coordinate along the axis belongs.
    fn part(&self, along: u64) -> u64 {
        self.combined.reduce(along).1 >> self.before_warps & low_bits(self.warps)
    }
}

/// Steps 4 and 6: the group that each register of the result copies, if threads already have (partial) results of what
/// they want.
fn in_place(places: &AlongAxis, group_of: &BTreeMap<u64, usize>, result: &ResultColumns) -> Option<Vec<usize>> {
    let threads = places.lane_bits + places.warp_bits;
    let same =
        |i: u32| places.beside(1 << (places.register_bits + i)) == result.columns[(result.register_bits + i) as usize];
    if !(0..threads).all(same) {
        return None;
    }
    (0..1u64 << result.register_bits).map(|r| group_of.get(&select(&result.columns, r)).copied()).collect()
}

/// Whether it costs clearly less that one thread combines each result than that every thread combines all it needs:
/// `wanted` results of a thread, of `1 << places.rest_bits` in all, of which a warp's lanes want `lanes` different ones
/// at a time.
fn is_once(places: &AlongAxis, warps: u32, (wanted, lanes): (u32, u32), weights: Weights<'_>) -> bool {
    let element_bytes = weights.element_bytes;
    let threads = 1u64 << (places.lane_bits + places.warp_bits);
    let parts = 1 << warps;
    let combining = |lanes: u32| {
        let waves: u32 = element_bytes.iter().map(|bytes| wavefronts(lanes, parts * bytes)).sum();
        u64::from(waves * ACCESS + (parts - 1) * weights.combine)
    };
    let words: u32 = element_bytes.iter().map(|bytes| bytes.div_ceil(4)).sum();
    let results = 1u64 << places.rest_bits;
    // Where there are fewer results than threads, most warps have nothing to combine.
    let busy = results.min(1 << places.lane_bits) as u32;
    let each = (combining(busy) + u64::from(ACCESS * words)) * results / threads;
    let reading = u64::from(wanted.div_ceil(4) * ACCESS * words * wavefronts(lanes, WIDEST.min(4 * wanted)));
    (each + reading + u64::from(BARRIER)) * 10 < u64::from(wanted) * combining(lanes) * 6
}

/// How often shared memory is passed over when each of so many lanes loads bytes that lie side by side, behind those of
/// the lane before. A load has up to 16 bytes of a lane, and one pass 128 bytes of different banks.
fn wavefronts(lanes: u32, bytes: u32) -> u32 {
    bytes.div_ceil(WIDEST) * (lanes * bytes.min(BANKS)).div_ceil(BANKS)
}

/// Step 3 lays out the partial results in shared memory.
fn partials(
    (places, along, blocks): (&AlongAxis, &Directions, u32),
    result: &ResultColumns,
    groups: &[Vec<usize>],
    weights: Weights<'_>,
) -> Partials {
    let element_bytes = weights.element_bytes;
    let all = places.rest_bits + along.warps;
    let columns: Vec<u64> = result.columns.iter().map(|c| c << along.warps).collect();
    let plain = places.offsets(all, |place| places.beside(place) << along.warps | along.part(places.along(place)));
    // These are the slot bits, sorted by what decides them.
    let threads =
        plain.columns[places.register_bits as usize..].iter().chain(&columns[result.register_bits as usize..]);
    let by_threads = threads.fold(low_bits(along.warps), |bits, c| bits | c);
    let (low, high): (Vec<u32>, Vec<u32>) = (0..all).partition(|bit| by_threads >> bit & 1 == 1);
    let wanted = (0..1u64 << result.register_bits).map(|r| select(&columns, r)).collect::<BTreeSet<u64>>().len();
    // In a cluster, other blocks may have other results, whose slots stay empty.
    let has_all = places.blocks.iter().all(|&(_, beside)| beside == 0);
    let may = weights.ample && blocks == 0 && has_all && along.warps > 0;
    let of_lanes = &columns[result.register_bits as usize..][..places.lane_bits as usize];
    let different = 1 << of_lanes.iter().filter(|&&column| column != 0).count();
    let once = may && wanted > 1 && is_once(places, along.warps, (wanted as u32, different), weights);
    let size = element_bytes.iter().copied().max().unwrap_or(1);
    let (parts, low) = low.split_at(along.warps as usize);
    let run_bits = parts.len().min((WIDEST / size.min(WIDEST)).trailing_zeros() as usize);
    let (run, other_parts) = parts.split_at(run_bits);
    // Neighbouring lanes have neighbouring slots, in different banks, also where the coordinates that warps move along
    // come first.
    let lanes = plain.columns[places.register_bits as usize..][..places.lane_bits as usize].iter().chain(of_lanes);
    let lane_of = |bit: u32| lanes.clone().position(|column| column >> bit & 1 == 1).unwrap_or(usize::MAX);
    let mut low = low.to_vec();
    low.sort_by_key(|&bit| lane_of(bit));
    let reference = element_bytes.iter().map(|&bytes| round_bits(places, along.warps, bytes)).max().unwrap_or(0);
    // A round of more results has fewer barriers: a wide access of each thread is what a conversion takes too.
    let most = (WIDEST << (places.lane_bits + places.warp_bits)) / size;
    let few = (0..=all).find(|&rounds| 1u64 << all >> rounds <= u64::from(most)).unwrap_or(0);
    let rounds = if once { few.min(reference) } else { reference };
    let round_bits = if along.warps == 0 { 0 } else { rounds.min(high.len() as u32) };
    let bits = all - round_bits;
    let (high, of_rounds) = high.split_at(high.len() - round_bits as usize);
    let order = [run, &low, high, other_parts, of_rounds].concat();
    let ordered = |slot: u64| order.iter().enumerate().fold(0, |new, (i, bit)| new | (slot >> bit & 1) << i);
    let slots = |columns: &[u64]| columns.iter().map(|&c| ordered(c) & low_bits(bits)).collect::<Vec<u64>>();
    let round = |columns: &[u64], register: u64| (ordered(select(columns, register)) >> bits) as u32;
    let outs = vec![(Dim::Offset, bits)];
    let ins = vec![(Dim::Register, result.register_bits), (Dim::Lane, result.lane_bits), (Dim::Warp, result.warp_bits)];
    let load = LinearLayout { ins: ins.clone(), outs: outs.clone(), columns: slots(&columns) };
    let finished = || {
        // Those of a thread lie side by side.
        let run = high.len().min((WIDEST / size.min(WIDEST)).trailing_zeros().min(2) as usize);
        let order = [&high[..run], &low, &high[run..]].concat();
        let place = |&c: &u64| order.iter().enumerate().fold(0, |new, (i, bit)| new | (c >> bit & 1) << i);
        let outs = vec![(Dim::Offset, order.len() as u32)];
        let load = LinearLayout { ins, outs, columns: columns.iter().map(place).collect() };
        Finished { load, run_bits: run as u32, low_bits: low.len() as u32 }
    };
    let once = once.then(finished);
    Partials {
        parts: 1 << along.warps,
        run: 1 << run_bits,
        blocks,
        copies: free_thread_bits(&plain),
        rounds: 1 << round_bits,
        store_round: groups.iter().map(|group| round(&plain.columns, group[0] as u64)).collect(),
        load_round: (0..1u64 << result.register_bits).map(|r| round(&columns, r)).collect(),
        store: LinearLayout { columns: slots(&plain.columns), outs, ..plain },
        load,
        slots: 1 << bits,
        once,
    }
}
