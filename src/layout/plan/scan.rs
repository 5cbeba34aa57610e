//! The plan of `tt.scan`, which computes all prefixes along an axis, in order.
//!
//! # Algorithm
//!
//! A *block* of level `j` is an aligned run of `2^j` elements along the axis. Each element's prefix within its block is
//! known from its prefix within the half block that it lies in. For an element in the second half, the *total* of the
//! first half goes before it. A step of level `j` needs only the totals of the two halves, which lie at places
//! (register, lane, warp) that differ by the vector `v` with `L(v) = 2^j` along the axis.
//!
//! 1. *In a thread*: as long as `v` is a register and the place in the block is the same in all threads, the thread
//!    goes over the elements in order. That gives *base classes* of registers, each with prefixes and a total.
//! 2. From then on every base class has a *carry*, which is what goes before all of it, and every class of registers
//!    that lie in one block has a total. A step takes the partner's total, from another class of the thread or from the
//!    lane that differs in `lanes`. If this thread's half is the second, the partner's total goes before the carry. The
//!    new total is that of both in order.
//! 3. Levels whose `v` are neighbouring bits of the lane, lowest first, are one step. After `n` rounds, each of which
//!    takes the value of the lane that is `2^i` before, each lane has the totals up to its own, and the last one has
//!    the total of all. A round combines once, a step between partners twice.
//! 4. Levels whose `v` are registers are one step too: the thread goes over the classes in order.
//! 5. Levels whose `v` crosses warps are one step. Totals are stored once. After a barrier each thread reads all of its
//!    larger block, in wide loads, and goes over them in order up to its own. Either the totals of a larger block lie
//!    side by side, or, where levels of registers follow and it takes fewer loads, those of four of the thread's
//!    classes do: 8 classes in 2 warps are 2 wide stores and 4 wide loads instead of 8 stores and 8 loads. Next to what
//!    one access moves lies what the neighbouring lanes want, so that no two of them meet in a bank.
//! 6. At the end the carries go before the prefixes.
//!
//! In a reverse scan, first and second, before and after change places at every level.
//!
//! # Example
//!
//! 1024 elements lie in 4 warps with `sizePerThread = 4`, in two tiles. Levels 0 and 1 are registers (two base classes
//! of four), levels 2 to 6 are lanes, 7 and 8 are warps, and 9 is registers again. For each tile that takes five
//! shuffles and one more for the carry, a total for each warp, and 4 values read by each thread; and one barrier.

use std::collections::BTreeMap;

use super::along_axis::{AlongAxis, free_thread_bits};
use super::reduce::operand_offsets;
use crate::layout::linear::low_bits;
use crate::layout::solve::Pivots;
use crate::layout::{LayoutError, LinearLayout};

/// The plan for computing all prefixes of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScanPlan {
    /// The registers of each base class in the order of the scan, without copies.
    pub base: Vec<Vec<usize>>,
    /// For each register, the base class and the place in it that hold its prefix.
    pub places: Vec<(usize, usize)>,
    pub steps: Vec<ScanStep>,
    /// The base classes of each line along the axis. Nothing moves between lines.
    pub lines: Vec<Vec<usize>>,
}

/// The steps of one level, or of several across warps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScanStep {
    /// The class of totals that each base class belongs to.
    pub class_of: Vec<usize>,
    pub exchange: Exchange,
    /// For each class of the next level, the class whose total it takes.
    pub next: Vec<usize>,
}

/// Where a step finds other totals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Exchange {
    /// The totals are at class `partner[c]` of the lane that differs in `lanes`. 0 stands for this thread.
    Partner { lanes: u32, partner: Vec<usize>, second: Vec<Second> },
    /// The totals are in the lanes that differ in these bits.
    Lanes(Lanes),
    /// The totals are in other classes of the thread: the classes of each larger block, in the order of the scan.
    Registers(Vec<Vec<usize>>),
    /// The totals are in shared memory.
    Shared(Totals),
}

/// A run of lanes in the order of the axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// The lowest bit of the lane, and the number of bits.
    pub shift: u32,
    pub count: u32,
    /// Whether all lanes need the total afterwards, and not only the last one in the order of the scan.
    pub broadcast: bool,
}

impl Lanes {
    /// The bits of the lane, which are those of the thread's number.
    #[must_use]
    pub fn bits(self) -> u32 {
        (low_bits(self.count) as u32) << self.shift
    }
}

/// Says when a thread's half comes second: if the bits `threads` of its number in the block have odd parity, or with
/// `flip` if they do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Second {
    pub threads: u32,
    pub flip: bool,
}

/// Totals in shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Totals {
    /// The number of totals of one larger block, in the order of the axis.
    pub parts: usize,
    /// The logarithm of the number of classes whose totals lie side by side, all of one thread and one line. With 0,
    /// it is the parts of a larger block that lie side by side.
    pub run_bits: u32,
    /// The logarithm of the parts of a larger block that lie side by side: those of one access, where no classes do.
    pub near_bits: u32,
    /// Where the other bits of the part's number begin in the slot's number.
    pub far_shift: u32,
    /// The register at whose slot each class is stored and found.
    pub registers: Vec<usize>,
    /// A map from (register, lane, warp) to the slot, in elements.
    pub slot: LinearLayout,
    /// The bits of the thread's number that decide whether the thread stores, and what they must be for that.
    pub copies: u32,
    pub owner: u32,
    /// The first slot of this step, for each operand.
    pub start: u32,
    /// The number of slots of this step, for each operand.
    pub slots: u32,
}

impl Totals {
    /// How far the slot of a part lies behind that of part 0.
    #[must_use]
    pub fn offset(&self, part: usize) -> usize {
        part & low_bits(self.near_bits) as usize | part >> self.near_bits << self.far_shift
    }
}

impl ScanPlan {
    /// # Errors
    /// Fails if the blocks of a cluster share the axis.
    pub fn new(layout: &LinearLayout, axis: usize, reverse: bool) -> Result<ScanPlan, LayoutError> {
        let scan = Scan { places: AlongAxis::within_blocks(layout, axis)?, reverse };
        let vectors = scan.vectors()?;
        let threads: Vec<u32> = (0..scan.places.axis_bits).map(|j| scan.thread_bits(j)).collect();
        let in_thread = |&j: &u32| scan.is_in_thread(vectors[j as usize]) && threads[j as usize] == 0;
        let mut level = (0..scan.places.axis_bits).take_while(in_thread).count() as u32;
        let (base, places) = scan.base(level);
        let firsts: Vec<u64> = base.iter().map(|b| b[0] as u64).collect();
        let (mut steps, mut slots): (Vec<ScanStep>, u32) = (vec![], 0);
        while level < scan.places.axis_bits {
            let classes = scan.classes(level);
            let count = |holds: &dyn Fn(u32) -> bool| (level..scan.places.axis_bits).take_while(|&j| holds(j)).count();
            let crossing = count(&|j| scan.places.warp(vectors[j as usize]) != 0) as u32;
            let lanes = scan.lane_run(level, &vectors, &threads);
            let registers = count(&|j| in_thread(&j)) as u32;
            let (exchange, levels) = if crossing > 0 {
                let before = steps.last_mut().map(|s| &mut s.exchange);
                let behind = (level + crossing..scan.places.axis_bits).take_while(|j| in_thread(j)).count() as u32;
                let totals = scan.totals(level, (crossing, behind), &classes, slots, before);
                slots += totals.slots;
                (Exchange::Shared(totals), crossing)
            } else if registers > 0 {
                (Exchange::Registers(scan.groups(level, registers, &classes)), registers)
            } else if lanes > 1 {
                let shift = scan.places.lane(vectors[level as usize]).trailing_zeros();
                let broadcast = level + lanes < scan.places.axis_bits;
                (Exchange::Lanes(Lanes { shift, count: lanes, broadcast }), lanes)
            } else {
                (scan.partner(level, vectors[level as usize], threads[level as usize], &classes), 1)
            };
            let after = level + levels;
            let class_of = firsts.iter().map(|&r| classes.of(&scan, r)).collect();
            let next = scan.classes(after).registers.iter().map(|&r| classes.of(&scan, r)).collect();
            steps.push(ScanStep { class_of, exchange, next });
            level = after;
        }
        let mut lines: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (i, &register) in firsts.iter().enumerate() {
            lines.entry(scan.places.beside(register)).or_default().push(i);
        }
        Ok(ScanPlan { base, places, steps, lines: lines.into_values().collect() })
    }

    /// The number of slots of all steps, for each operand.
    #[must_use]
    pub fn slots(&self) -> u32 {
        let of = |s: &ScanStep| if let Exchange::Shared(t) = &s.exchange { t.slots } else { 0 };
        self.steps.iter().map(of).sum()
    }

    /// The bytes of shared memory for operands whose elements take these bytes.
    #[must_use]
    pub fn scratch_bytes(&self, element_bytes: &[u32]) -> u32 {
        operand_offsets(self.slots(), element_bytes).1
    }
}

/// The logarithm of the elements of one access to memory.
const WIDE: u32 = 2;

/// The logarithm of the classes whose totals lie side by side: those of one access, of what `registers` levels tell
/// apart, if that takes fewer loads than the parts side by side. All threads load, and with classes side by side a
/// thread holds all parts of all of them at once, while one thread of a warp stores.
fn run_bits(crossing: u32, registers: u32) -> u32 {
    let (parts, classes, run) = (1u32 << crossing, 1u32 << registers, registers.min(WIDE));
    let by_parts = classes * parts.div_ceil(1 << WIDE);
    let by_classes = (classes >> run) * parts;
    if by_classes < by_parts { run } else { 0 }
}

/// The bits of the number of a total, whose lowest `crossing` bits are its part and whose next `run` may be its place
/// in a run, in the order that they have in the slot's number.
struct SlotOrder {
    bits: Vec<u32>,
    far_shift: u32,
}

/// Orders the bits of a total's number: first what one access moves, then what `lanes` tell apart, which access memory
/// at once, then the other bits of the part, and all others.
fn slot_order((crossing, run, near): (u32, u32, u32), count: u32, lanes: Vec<u64>) -> SlotOrder {
    let mut bits: Vec<u32> = (0..near).chain(crossing..crossing + run).collect();
    let parts = low_bits(crossing);
    for bit in lanes.into_iter().flat_map(|number| (0..count).filter(move |bit| (number & !parts) >> bit & 1 == 1)) {
        if !bits.contains(&bit) {
            bits.push(bit);
        }
    }
    let far_shift = bits.len() as u32;
    bits.extend(near..crossing);
    let others: Vec<u32> = (crossing..count).filter(|bit| !bits.contains(bit)).collect();
    bits.extend(others);
    SlotOrder { bits, far_shift }
}

/// A layout with the direction of the scan.
struct Scan {
    places: AlongAxis,
    reverse: bool,
}

/// The registers of a thread, sorted by the block of one level that they lie in.
struct Classes {
    level: u32,
    /// A register of each class.
    registers: Vec<u64>,
    index: BTreeMap<(u64, u64), usize>,
}

impl Classes {
    fn of(&self, scan: &Scan, register: u64) -> usize {
        self.index[&scan.block(register, self.level)]
    }
}

impl Scan {
    /// For each level, the place that differs from place 0 only by that bit of the axis.
    fn vectors(&self) -> Result<Vec<u64>, LayoutError> {
        let p = &self.places;
        let columns: Vec<u64> =
            (0..p.place_bits()).map(|i| p.along(1 << i) | p.beside(1 << i) << p.axis_bits).collect();
        let pivots = Pivots::of(&columns);
        let solve = |j: u32| match pivots.reduce(1 << j) {
            (0, vector) => Ok(vector),
            _ => Err(LayoutError::new("a block of the cluster does not hold all elements along the axis")),
        };
        (0..p.axis_bits).map(solve).collect()
    }

    /// The bits of the thread's number on which this bit of the axis depends.
    fn thread_bits(&self, level: u32) -> u32 {
        let p = &self.places;
        let moves = |i: &u32| p.along(1 << (p.register_bits + i)) >> level & 1 == 1;
        (0..p.lane_bits + p.warp_bits).filter(moves).fold(0, |mask, i| mask | 1 << i)
    }

    fn is_in_thread(&self, vector: u64) -> bool {
        vector >> self.places.register_bits == 0
    }

    /// The part of a block's number that the register decides: the coordinates beside the axis, and the block of this
    /// level along it.
    fn block(&self, register: u64, level: u32) -> (u64, u64) {
        (self.places.beside(register), self.places.along(register) >> level)
    }

    fn classes(&self, level: u32) -> Classes {
        let (mut registers, mut index) = (vec![], BTreeMap::new());
        for r in 0..self.places.registers() {
            index.entry(self.block(r, level)).or_insert_with(|| {
                registers.push(r);
                registers.len() - 1
            });
        }
        Classes { level, registers, index }
    }

    /// Step 1 makes the base classes, and finds for each register its class and its place in it.
    fn base(&self, level: u32) -> (Vec<Vec<usize>>, Vec<(usize, usize)>) {
        let classes = self.classes(level);
        let mut base: Vec<BTreeMap<u64, usize>> = vec![BTreeMap::new(); classes.registers.len()];
        let order = |r: u64| {
            let along = self.places.along(r) & low_bits(level);
            if self.reverse { along ^ low_bits(level) } else { along }
        };
        for r in 0..self.places.registers() {
            base[classes.of(self, r)].entry(order(r)).or_insert(r as usize);
        }
        let places = (0..self.places.registers()).map(|r| (classes.of(self, r), order(r) as usize)).collect();
        (base.into_iter().map(|b| b.into_values().collect()).collect(), places)
    }

    /// Step 2 finds the partner of each class at this level.
    fn partner(&self, level: u32, vector: u64, threads: u32, classes: &Classes) -> Exchange {
        let partner = classes.registers.iter().map(|&r| classes.of(self, r ^ self.places.register(vector))).collect();
        let second = |&r: &u64| Second { threads, flip: (self.places.along(r) >> level & 1 == 1) != self.reverse };
        Exchange::Partner {
            lanes: self.places.lane(vector),
            partner,
            second: classes.registers.iter().map(second).collect(),
        }
    }

    /// Step 3: how many levels from this one on are neighbouring bits of the lane, lowest first, and nothing else.
    fn lane_run(&self, level: u32, vectors: &[u64], threads: &[u32]) -> u32 {
        let p = &self.places;
        let is_lane = |j: u32| {
            let (vector, lane) = (vectors[j as usize], p.lane(vectors[j as usize]));
            let alone = p.register(vector) == 0 && p.warp(vector) == 0 && lane.is_power_of_two();
            alone && threads[j as usize] == lane && (0..p.registers()).all(|r| p.along(r) >> j & 1 == 0)
        };
        let follows = |j: u32| j == level || p.lane(vectors[j as usize]) == p.lane(vectors[j as usize - 1]) << 1;
        (level..p.axis_bits).take_while(|&j| is_lane(j) && follows(j)).count() as u32
    }

    /// Step 4: the classes of this level by the block that they lie in `levels` further up, in the order of the scan.
    fn groups(&self, level: u32, levels: u32, classes: &Classes) -> Vec<Vec<usize>> {
        let larger = self.classes(level + levels);
        let mut groups: Vec<Vec<u64>> = vec![vec![]; larger.registers.len()];
        for &r in &classes.registers {
            groups[larger.of(self, r)].push(r);
        }
        let in_order = |mut group: Vec<u64>| {
            group.sort_by_key(|&r| self.places.along(r) >> level);
            if self.reverse {
                group.reverse();
            }
            group.into_iter().map(|r| classes.of(self, r)).collect()
        };
        groups.into_iter().map(in_order).collect()
    }

    /// Step 5 lays out the totals of all levels that cross warps, with `registers` levels of registers behind them.
    /// Behind a run of lanes the last of them stores, so the others need no total.
    fn totals(
        &self,
        level: u32,
        (crossing, registers): (u32, u32),
        classes: &Classes,
        start: u32,
        before: Option<&mut Exchange>,
    ) -> Totals {
        let mut owner = 0;
        if let Some(Exchange::Lanes(lanes)) = before {
            lanes.broadcast = false;
            owner = if self.reverse { 0 } else { lanes.bits() };
        }
        let p = &self.places;
        let left = p.axis_bits - level;
        let run_bits = run_bits(crossing, registers);
        let near_bits = if run_bits == 0 { crossing.min(WIDE) } else { 0 };
        let number = |place: u64| p.beside(place) << left | p.along(place) >> level;
        let order = slot_order((crossing, run_bits, near_bits), p.rest_bits + left, self.lane_numbers(number));
        let to_slot = |number: u64| (0..).zip(&order.bits).fold(0, |slot, (i, &bit)| slot | (number >> bit & 1) << i);
        let slot = p.offsets(p.rest_bits + left, |place| to_slot(number(place)));
        Totals {
            parts: 1 << crossing,
            run_bits,
            near_bits,
            far_shift: order.far_shift,
            registers: classes.registers.iter().map(|&r| r as usize).collect(),
            copies: free_thread_bits(&slot),
            owner,
            slot,
            start,
            slots: 1 << (p.rest_bits + left),
        }
    }

    /// What each bit of the lane adds to a number of places.
    fn lane_numbers(&self, number: impl Fn(u64) -> u64) -> Vec<u64> {
        (0..self.places.lane_bits).map(|i| number(1 << (self.places.register_bits + i))).collect()
    }
}
