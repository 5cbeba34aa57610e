//! Runs plans of reductions, scans and gathers on a simulated block, over random layouts.
//!
//! A simulated partial result is the set of elements that it combines. Combining checks what the real operation cannot:
//! that no element is taken twice, that all belong to one result, and, for scans, that the second operand starts where
//! the first ends.

use super::super::plan::gather::GatherPlan;
use super::super::plan::reduce::{Delivery, Partials, ReducePlan, Swap, Weights};
use super::super::plan::scan::{Exchange, ScanPlan, ScanStep, Second};
use super::super::{Dim, LinearLayout};
use super::tables::encoding;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const LANE_BITS: usize = 3;
const WARP_BITS: usize = 2;
/// Sums of 32-bit floats, with memory to spare.
const FLOATS: Weights<'static> = Weights { element_bytes: &[4], combine: 1, ample: true };

/// Layouts of one tensor with these axes. Every element is held, `copies` bits are free, and up to `mixing` bits move
/// along several axes.
fn any_layout(axes: &[u32], copies: usize, mixing: usize) -> impl Strategy<Value = LinearLayout> + use<> {
    let sizes: Vec<(Dim, u32)> = axes.iter().enumerate().map(|(i, &bits)| (Dim::axis(i), 1 << bits)).collect();
    let bits = axes.iter().sum::<u32>() as usize;
    let places = (bits + copies).max(LANE_BITS + WARP_BITS);
    let order = Just((0..places).collect::<Vec<usize>>()).prop_shuffle();
    let mix = prop::collection::vec((0..places, 0..places), 0..=mixing);
    (order, mix).prop_map(move |(order, mix)| {
        let unit = |i: usize| if i < bits { 1u64 << i } else { 0 };
        let mut columns: Vec<u64> = order.into_iter().map(unit).collect();
        for (a, b) in mix {
            if a != b {
                columns[a] ^= columns[b];
            }
        }
        let basis = |c: &u64| {
            let mut shift = 0;
            sizes
                .iter()
                .map(|s| {
                    let v = c >> shift & u64::from(s.1 - 1);
                    shift += s.1.trailing_zeros();
                    v as i32
                })
                .collect::<Vec<_>>()
        };
        let bases: Vec<Vec<i32>> = columns.iter().map(basis).collect();
        let (lanes, rest) = bases.split_at(LANE_BITS);
        let (warps, registers) = rest.split_at(WARP_BITS);
        let named = [(Dim::Register, registers), (Dim::Lane, lanes), (Dim::Warp, warps)].map(|(d, b)| (d, b.to_vec()));
        LinearLayout::from_bases(&named, &sizes).expect("bases of the axes' sizes")
    })
}

fn any_case() -> impl Strategy<Value = (LinearLayout, usize)> {
    let axes = prop_oneof![
        Just(vec![7]),
        Just(vec![6]),
        Just(vec![2, 5]),
        Just(vec![4, 3]),
        Just(vec![1, 3, 3]),
        Just(vec![0, 6]),
        Just(vec![3, 0, 3])
    ];
    (axes, 0usize..3, prop_oneof![Just(0), Just(0), Just(4)])
        .prop_flat_map(|(axes, copies, mixing)| (any_layout(&axes, copies, mixing), 0..axes.len()))
}

/// The bytes of an element. Large ones make rounds of few results.
fn any_bytes() -> impl Strategy<Value = u32> {
    prop_oneof![Just(1), Just(2), Just(4), Just(8), Just(32)]
}

/// The coordinates of a place.
fn at(layout: &LinearLayout, register: usize, lane: u32, warp: u32) -> Vec<u32> {
    let ins = [(Dim::Register, register as u32), (Dim::Lane, lane), (Dim::Warp, warp)];
    layout.apply(&ins).into_iter().map(|c| c.1).collect()
}

fn threads() -> impl Iterator<Item = (u32, u32)> {
    (0..1 << WARP_BITS).flat_map(|w| (0..1 << LANE_BITS).map(move |l| (l, w)))
}

fn without(mut coordinates: Vec<u32>, axis: usize) -> Vec<u32> {
    coordinates.remove(axis);
    coordinates
}

/// The layout of a slice, without the axis. Some registers then hold copies.
fn slice(layout: &LinearLayout, axis: usize) -> LinearLayout {
    let rank = layout.out_dims().len();
    let flat = layout.resize_out(Dim::axis(axis), 1).squeeze_out(Dim::axis(axis));
    let renamed = (axis + 1..rank).fold(flat, |l, i| l.rename_out(Dim::axis(i), Dim::axis(i - 1)));
    renamed.remove_zero_bases(Dim::Register)
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Partial {
    rest: Vec<u32>,
    elements: BTreeSet<u32>,
}

impl Partial {
    fn with(&self, other: &Partial) -> Partial {
        assert_eq!(self.rest, other.rest, "elements of two results are combined");
        assert!(self.elements.is_disjoint(&other.elements), "{:?} and {:?} overlap", self.elements, other.elements);
        Partial { rest: self.rest.clone(), elements: self.elements.union(&other.elements).copied().collect() }
    }
}

/// The coordinates of a place in a block of the cluster.
fn at_block(layout: &LinearLayout, register: usize, lane: u32, warp: u32, block: u32) -> Vec<u32> {
    let ins = [(Dim::Register, register as u32), (Dim::Lane, lane), (Dim::Warp, warp), (Dim::Block, block)];
    let of_block = if layout.in_dims().any(|d| d == Dim::Block) { 4 } else { 3 };
    layout.apply(&ins[..of_block]).into_iter().map(|c| c.1).collect()
}

fn check_reduce(layout: &LinearLayout, axis: usize, result: Option<&LinearLayout>, bytes: u32) {
    for ample in [true, false] {
        check_plan(layout, axis, result, (bytes, ample));
    }
}

fn check_plan(layout: &LinearLayout, axis: usize, result: Option<&LinearLayout>, (bytes, ample): (u32, bool)) {
    let plan =
        ReducePlan::new(layout, axis, result, Weights { element_bytes: &[bytes], combine: 1, ample }).expect("a plan");
    let blocks = || 0..layout.in_size(Dim::Block);
    // For each block what its threads have, and what it stores.
    let mut states: Vec<BTreeMap<(u32, u32), Vec<Partial>>> = vec![];
    let mut memories: Vec<BTreeMap<(u32, u32), Partial>> = vec![];
    for block in blocks() {
        let mut state = BTreeMap::new();
        for (lane, warp) in threads() {
            let element = |&r: &usize| {
                let place = at_block(layout, r, lane, warp, block);
                Partial { elements: BTreeSet::from([place[axis]]), rest: without(place, axis) }
            };
            let group = |g: &Vec<usize>| g.iter().map(element).reduce(|a, b| a.with(&b)).expect("groups are not empty");
            state.insert((lane, warp), plan.groups.iter().map(group).collect::<Vec<_>>());
        }
        for step in &plan.steps {
            let before = state.clone();
            for ((lane, warp), groups) in &mut state {
                let other = &before[&(lane ^ step.lanes, *warp)];
                *groups = groups.iter().zip(&step.partner).map(|(own, &p)| own.with(&other[p])).collect();
            }
        }
        let mut shared = BTreeMap::new();
        if let Delivery::Shared(partials) = &plan.delivery {
            check_finished(partials);
            for (&(lane, warp), groups) in &state {
                if (lane | warp << LANE_BITS) & partials.copies == 0 {
                    for ((partial, registers), round) in groups.iter().zip(&plan.groups).zip(&partials.store_round) {
                        let slot = at(&partials.store, registers[0], lane, warp)[0];
                        assert!(slot < partials.slots && *round < partials.rounds);
                        assert!(
                            shared.insert((*round, slot), partial.clone()).is_none(),
                            "slot {slot} is stored twice in a round"
                        );
                    }
                }
            }
        }
        if let Delivery::Shared(Partials { once: Some(_), slots, rounds, .. }) = &plan.delivery {
            assert_eq!(shared.len() as u32, slots * rounds, "a thread combines what nobody stored");
        }
        if let Delivery::Swap(swap) = &plan.delivery {
            state = swapped(&plan, swap, &state);
        }
        states.push(state);
        memories.push(shared);
    }
    let whole: BTreeSet<u32> = (0..layout.out_size(Dim::axis(axis))).collect();
    for (block, ((lane, warp), groups)) in blocks().flat_map(|b| states[b as usize].iter().map(move |s| (b, s))) {
        for r in 0..result.map_or(1, |l| l.in_size(Dim::Register) as usize) {
            let got = match &plan.delivery {
                Delivery::Registers(table) => groups[table[r]].clone(),
                Delivery::Swap(swap) => groups[swap.table[r]].clone(),
                Delivery::Shared(partials) => {
                    let first = at(&partials.load, r, *lane, *warp)[0];
                    let holders = partials.block_numbers().into_iter().map(|n| block & !partials.blocks | n);
                    holders
                        .flat_map(|holder| partials.slots_from(first).map(move |slot| (holder, slot)))
                        .map(|(holder, slot)| memories[holder as usize][&(partials.load_round[r], slot)].clone())
                        .reduce(|a, b| a.with(&b))
                        .expect("a part")
                }
            };
            let rest = result.map_or(vec![], |l| at_block(l, r, *lane, *warp, block));
            assert_eq!(got, Partial { rest, elements: whole.clone() });
        }
    }
}

/// What threads have after two warps exchanged their partial results. In a round each slot is stored once, and what one
/// access moves lies side by side.
fn swapped(plan: &ReducePlan, swap: &Swap, state: &Threads<Partial>) -> Threads<Partial> {
    let mut after = state.clone();
    let mut seen = BTreeSet::new();
    for round in &swap.rounds {
        assert!(round.iter().all(|&g| seen.insert(g)), "a group goes twice");
        let slot = |g: usize, lane, warp| at(&swap.slot, plan.groups[g][0], lane, warp)[0];
        let mut shared = BTreeMap::new();
        for (&(lane, warp), groups) in state {
            let first = slot(round[0], lane, warp);
            for (&g, place) in round.iter().zip(first..) {
                assert_eq!(slot(g, lane, warp), place);
                assert!(place < swap.slots);
                if (lane | warp << LANE_BITS) & swap.copies == 0 {
                    assert!(shared.insert(place, groups[g].clone()).is_none(), "slot {place} is stored twice");
                }
            }
        }
        for (&(lane, warp), groups) in &mut after {
            for &g in round {
                groups[g] = groups[g].with(&shared[&(slot(g, lane, warp) ^ swap.partner)]);
            }
        }
    }
    assert_eq!(seen.len(), plan.groups.len());
    after
}

/// Where one thread combines each result, every register is loaded once, and what one access loads lies side by side.
fn check_finished(partials: &Partials) {
    let Some(finished) = &partials.once else { return };
    let by_field = |number: u32| {
        let part = |(from, count, to): (u32, u32, u32)| (u64::from(number) >> from & ((1 << count) - 1)) << to;
        finished.fields().map(part).iter().sum::<u64>() as u32
    };
    let mut seen = BTreeSet::new();
    for round in 0..partials.rounds {
        for run in partials.finished(round) {
            for (lane, warp) in threads() {
                let place = |r: usize| at(&finished.load, r, lane, warp)[0];
                let number = |r: usize| at(&partials.load, r, lane, warp)[0] / partials.run as u32;
                assert!(run.iter().flatten().all(|&r| by_field(number(r)) == place(r)));
                let first = place(run[0][0]);
                assert!(first.is_multiple_of(run.len() as u32));
                for (registers, expected) in run.iter().zip(first..) {
                    assert!(registers.iter().all(|&r| place(r) == expected && partials.load_round[r] == round));
                }
            }
            assert!(run.iter().flatten().all(|&r| seen.insert(r)), "a register is loaded twice");
        }
    }
    assert_eq!(seen.len(), partials.load_round.len());
}

/// A layout over the blocks of a cluster: bits of the block's number are further coordinates along these axes.
fn clustered(layout: &LinearLayout, axes: &[usize]) -> LinearLayout {
    let mut sizes: Vec<(Dim, u32)> = layout.out_dims().map(|d| (d, layout.out_size(d))).collect();
    let mut blocks = vec![];
    for &axis in axes {
        let size = &mut sizes[axis].1;
        blocks
            .push((0..layout.out_dims().len()).map(|i| if i == axis { *size as i32 } else { 0 }).collect::<Vec<i32>>());
        *size *= 2;
    }
    let inside = [Dim::Register, Dim::Lane, Dim::Warp].map(|d| (d, layout.bases(d)));
    LinearLayout::from_bases(&[inside.to_vec(), vec![(Dim::Block, blocks)]].concat(), &sizes)
        .expect("bases of the sizes")
}

/// A run of elements along the axis. The coordinates go from first to last in the direction of the scan.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Run {
    rest: Vec<u32>,
    first: i64,
    last: i64,
}

impl Run {
    fn then(&self, next: &Run, step: i64) -> Run {
        assert_eq!(self.rest, next.rest, "elements of two lines are combined");
        assert_eq!(self.last + step, next.first, "elements are combined out of order");
        Run { rest: self.rest.clone(), first: self.first, last: next.last }
    }
}

fn is_second(second: Second, lane: u32, warp: u32) -> bool {
    ((lane | warp << LANE_BITS) & second.threads).count_ones() % 2 == u32::from(!second.flip)
}

type Threads<T> = BTreeMap<(u32, u32), Vec<T>>;

fn check_scan(layout: &LinearLayout, axis: usize, reverse: bool) {
    let plan = ScanPlan::new(layout, axis, reverse).expect("no clusters");
    let step_by = if reverse { -1 } else { 1 };
    let mut prefixes: Threads<Vec<Run>> = BTreeMap::new();
    for (lane, warp) in threads() {
        let class = |registers: &Vec<usize>| {
            let mut runs: Vec<Run> = vec![];
            for &r in registers {
                let place = at(layout, r, lane, warp);
                let here = i64::from(place[axis]);
                let run = Run { first: here, last: here, rest: without(place, axis) };
                runs.push(runs.last().map_or(run.clone(), |before| before.then(&run, step_by)));
            }
            runs
        };
        prefixes.insert((lane, warp), plan.base.iter().map(class).collect());
    }
    let mut totals: Threads<Run> =
        prefixes.iter().map(|(k, v)| (*k, v.iter().map(|c| c.last().unwrap().clone()).collect())).collect();
    let mut carries: Threads<Option<Run>> = prefixes.iter().map(|(k, v)| (*k, vec![None; v.len()])).collect();
    let prepend = |carry: &mut Option<Run>, value: &Run| {
        *carry = Some(carry.as_ref().map_or(value.clone(), |c| value.then(c, step_by)));
    };
    let mut stored: BTreeMap<u32, Run> = BTreeMap::new();
    for step in &plan.steps {
        let mut after: Threads<Run> = BTreeMap::new();
        if let Exchange::Shared(at_slots) = &step.exchange {
            let stores = |l: u32, w: u32| (l | w << LANE_BITS) & at_slots.copies == at_slots.owner;
            for (&(lane, warp), own) in totals.iter().filter(|((l, w), _)| stores(*l, *w)) {
                for (total, &r) in own.iter().zip(&at_slots.registers) {
                    let slot = at(&at_slots.slot, r, lane, warp)[0];
                    assert!(slot < at_slots.slots && at_slots.start + at_slots.slots <= plan.slots());
                    assert!(
                        stored.insert(at_slots.start + slot, total.clone()).is_none(),
                        "slot {slot} is stored twice"
                    );
                }
            }
        }
        for (&(lane, warp), own) in &totals {
            let carries = carries.get_mut(&(lane, warp)).unwrap();
            let mut joined = vec![];
            for (class, total) in own.iter().enumerate() {
                let mine = || {
                    step.class_of.iter().enumerate().filter(|(_, c)| **c == class).map(|(i, _)| i).collect::<Vec<_>>()
                };
                match &step.exchange {
                    Exchange::Partner { lanes, partner, second } => {
                        let other = &totals[&(lane ^ lanes, warp)][partner[class]];
                        if is_second(second[class], lane, warp) {
                            mine().into_iter().for_each(|c| prepend(&mut carries[c], other));
                            joined.push(other.then(total, step_by));
                        } else {
                            joined.push(total.then(other, step_by));
                        }
                    }
                    Exchange::Lanes(run) => {
                        let order = if reverse { lane ^ run.bits() } else { lane } & run.bits();
                        let mut others: Vec<u32> = (0..1 << run.count).map(|i| i << run.shift).collect();
                        if reverse {
                            others.reverse();
                        }
                        let at_lane = |other: u32| totals[&(lane & !run.bits() | other, warp)][class].clone();
                        let number = (order >> run.shift) as usize;
                        let before = others[..number].iter().map(|&l| at_lane(l)).reduce(|a, b| a.then(&b, step_by));
                        if let Some(before) = &before {
                            mine().into_iter().for_each(|c| prepend(&mut carries[c], before));
                        }
                        // Without a broadcast only the last lane has the total; the others have what is up to them.
                        let end = if run.broadcast { others.len() } else { number + 1 };
                        let up_to = others[..end].iter().map(|&l| at_lane(l)).reduce(|a, b| a.then(&b, step_by));
                        joined.push(up_to.unwrap());
                    }
                    Exchange::Registers(groups) => {
                        let group = groups.iter().find(|g| g.contains(&class)).unwrap();
                        let number = group.iter().position(|&c| c == class).unwrap();
                        let all = |upto: usize| {
                            group[..upto].iter().map(|&c| own[c].clone()).reduce(|a, b| a.then(&b, step_by))
                        };
                        if let Some(before) = all(number) {
                            mine().into_iter().for_each(|c| prepend(&mut carries[c], &before));
                        }
                        joined.push(all(group.len()).unwrap());
                    }
                    Exchange::Shared(slots) => {
                        let parts = slots.parts as u32;
                        let slot = at(&slots.slot, slots.registers[class], lane, warp)[0];
                        let offset = |part: u32| slots.offset(part as usize) as u32;
                        let first = slots.start + (slot & !offset(parts - 1));
                        let own = (0..parts).find(|&i| first + offset(i) == slots.start + slot).expect("a part");
                        let stored = |i: u32| stored[&(first + offset(i))].clone();
                        let order: Vec<u32> = if reverse { (0..parts).rev().collect() } else { (0..parts).collect() };
                        let before = order.iter().take_while(|&&i| i != own).map(|&i| stored(i));
                        if let Some(before) = before.reduce(|a, b| a.then(&b, step_by)) {
                            mine().into_iter().for_each(|c| prepend(&mut carries[c], &before));
                        }
                        joined.push(order.iter().map(|&i| stored(i)).reduce(|a, b| a.then(&b, step_by)).unwrap());
                    }
                }
            }
            after.insert((lane, warp), step.next.iter().map(|&c| joined[c].clone()).collect());
        }
        totals = after;
    }
    let first = if reverse { i64::from(layout.out_size(Dim::axis(axis))) - 1 } else { 0 };
    for ((lane, warp), classes) in &prefixes {
        for (r, &(class, place)) in plan.places.iter().enumerate() {
            let run = &classes[class][place];
            let whole = carries[&(*lane, *warp)][class].as_ref().map_or(run.clone(), |c| c.then(run, step_by));
            let here = at(layout, r, *lane, *warp);
            assert_eq!(whole, Run { first, last: i64::from(here[axis]), rest: without(here, axis) });
        }
    }
}

fn check_gather(source: &LinearLayout, indices: &LinearLayout, axis: usize) -> bool {
    let plan = GatherPlan::new(source, indices, axis).expect("no clusters");
    let size = source.out_size(Dim::axis(axis));
    for (lane, warp) in threads() {
        for r in 0..indices.in_size(Dim::Register) as usize {
            for index in 0..size {
                let mut wanted = at(indices, r, lane, warp);
                wanted[axis] = index;
                match &plan {
                    GatherPlan::Shuffles(plan) => {
                        let mut place = at(&plan.fixed, r, lane, warp);
                        for (_, by) in plan.by_index.iter().enumerate().filter(|(j, _)| index >> j & 1 == 1) {
                            place[0] ^= by.0;
                            place[1] ^= by.1;
                        }
                        assert!(plan.candidates[r].contains(&(place[1] as usize)));
                        assert_eq!(at(source, place[1] as usize, place[0], warp), wanted);
                    }
                    GatherPlan::Shared(plan) => {
                        let offset = at(&plan.load, r, lane, warp)[0] + index * plan.stride;
                        let held: Vec<u32> =
                            plan.order.apply(&[(Dim::Offset, offset)]).into_iter().map(|c| c.1).collect();
                        assert_eq!(held, wanted);
                    }
                }
            }
        }
    }
    matches!(plan, GatherPlan::Shuffles(_))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reductions_combine_each_element_once((layout, axis) in any_case(), bytes in any_bytes()) {
        let result = slice(&layout, axis);
        let is_scalar = layout.out_dims().len() == 1;
        check_reduce(&layout, axis, if is_scalar { None } else { Some(&result) }, bytes);
    }

    /// A result that is laid out in another way goes through shared memory.
    #[test]
    fn reductions_to_other_layouts((layout, result) in (any_layout(&[3, 4], 1, 0), any_layout(&[3], 3, 0)), bytes in any_bytes()) {
        check_reduce(&layout, 1, Some(&result), bytes);
    }

    /// Blocks of a cluster share the axis, another axis, or both.
    #[test]
    fn reductions_of_clusters(layout in any_layout(&[2, 4], 1, 2), axes in prop::collection::vec(0usize..2, 1..=3), axis in 0usize..2) {
        let layout = clustered(&layout, &axes);
        check_reduce(&layout, axis, Some(&slice(&layout, axis)), 1);
    }

    /// Many results of large elements take several rounds. Each round reads only what it stored.
    #[test]
    fn reductions_in_rounds(layout in any_layout(&[6, 3], 0, 0), bytes in prop_oneof![Just(8u32), Just(32)]) {
        check_reduce(&layout, 1, Some(&slice(&layout, 1)), bytes);
    }

    #[test]
    fn scans_combine_in_order((layout, axis) in any_case(), reverse in any::<bool>()) {
        check_scan(&layout, axis, reverse);
    }

    #[test]
    fn gathers_find_their_element(source in any_layout(&[2, 4], 1, 0), indices in any_layout(&[2, 3], 2, 0), same in any::<bool>(), axis in 0usize..2) {
        if same {
            check_gather(&source, &source, axis);
        } else if axis == 1 {
            check_gather(&source, &indices, axis);
        }
    }
}

/// What the plans of common layouts need, counted.
#[test]
fn costs_of_common_layouts() {
    let reduce = |shape: &[i64], text: &str, axis, result: Option<&str>| {
        let layout = super::super::to_linear_layout(shape, encoding(text, shape.len()));
        let rest: Vec<i64> = shape.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, &s)| s).collect();
        let result = result.map(|r| super::super::to_linear_layout(&rest, encoding(r, rest.len())));
        let plan = ReducePlan::new(layout, axis, result, FLOATS).expect("no clusters");
        (plan.groups.len(), plan.steps.len(), plan.scratch_bytes(&[4]))
    };
    // A line over four warps takes one group, five steps, and four partial results of four bytes.
    assert_eq!(reduce(&[1024], "blocked 4 32 4 0 -", 0, None), (1, 5, 16));
    // Rows within warps need no shared memory.
    let rows = "blocked 1,4 2,16 4,1 1,0 -";
    assert_eq!(reduce(&[32, 64], rows, 1, Some(&format!("slice 1 {rows}"))), (4, 4, 0));
    // Columns over warps take one step, and the four warps leave 64 results of four parts.
    assert_eq!(reduce(&[32, 64], rows, 0, Some(&format!("slice 0 {rows}"))), (4, 1, 1024));
    // 64 results in 32 registers each, of two warps: one thread combines each, so 256 bytes follow the 512.
    let tall = "blocked 1,1 1,32 2,2 1,0 -";
    assert_eq!(reduce(&[64, 64], tall, 1, Some(&format!("slice 1 {tall}"))), (32, 5, 768));
    // Two warps with eight elements of a column each exchange them, four at a time, with two buffers for 64 threads.
    let pair = "blocked 1,8 1,32 2,1 1,0 -";
    assert_eq!(reduce(&[2, 256], pair, 0, Some(&format!("slice 0 {pair}"))), (8, 0, 2048));
    // Eight columns in a thread, four beyond a wide access, take two rounds too, of 512 bytes.
    let wide = "blocked 1,8 4,8 4,1 1,0 -";
    assert_eq!(reduce(&[64, 64], wide, 0, Some(&format!("slice 0 {wide}"))), (8, 2, 512));
    // There are copies in lanes and warps: 64 elements in threads of four are sixteen lanes of one warp.
    assert_eq!(reduce(&[64], "blocked 4 32 4 0 -", 0, None), (1, 4, 0));
    let scan = |shape: &[i64], text: &str, axis| {
        let plan = ScanPlan::new(super::super::to_linear_layout(shape, encoding(text, shape.len())), axis, false)
            .expect("no clusters");
        let lanes = |s: &ScanStep| match s.exchange {
            Exchange::Lanes(run) => run.count,
            Exchange::Partner { lanes, .. } => u32::from(lanes != 0),
            Exchange::Registers(_) | Exchange::Shared(_) => 0,
        };
        let lanes: u32 = plan.steps.iter().map(lanes).sum();
        let barriers = plan.steps.iter().filter(|s| matches!(s.exchange, Exchange::Shared(_))).count();
        (plan.base.len(), lanes, barriers, plan.slots())
    };
    assert_eq!(scan(&[1024], "blocked 4 32 4 0 -", 0), (2, 5, 1, 8));
    assert_eq!(scan(&[32, 64], rows, 1), (4, 4, 0, 0));
}

/// One thread combines each result where that takes many instructions, and every thread all that it needs where it
/// takes few.
#[test]
fn costly_combinations_are_done_once() {
    let text = "blocked 4,1 16,2 1,4 0,1 -";
    let layout = super::super::to_linear_layout(&[64, 8], encoding(text, 2));
    let result = super::super::to_linear_layout(&[64], encoding(&format!("slice 1 {text}"), 1));
    let is_once = |combine| {
        let weights = Weights { element_bytes: &[4, 4, 4], combine, ample: true };
        let plan = ReducePlan::new(layout, 1, Some(result), weights).expect("no clusters");
        let Delivery::Shared(partials) = &plan.delivery else { panic!("not by shared memory: {:?}", plan.delivery) };
        partials.once.is_some()
    };
    assert!(!is_once(3));
    assert!(is_once(20));
}

/// Lanes that load totals of different columns at once find them in different banks.
#[test]
fn totals_of_neighbouring_lanes_lie_side_by_side() {
    let wavefronts = |shape: &[i64], text: &str| {
        let layout = super::super::to_linear_layout(shape, encoding(text, shape.len()));
        let plan = ScanPlan::new(layout, 0, false).expect("no clusters");
        let mut most = 0;
        for step in &plan.steps {
            let Exchange::Shared(totals) = &step.exchange else { continue };
            // Eight lanes load 16 bytes each of 4-byte totals at once.
            for lanes in (0..32).collect::<Vec<u32>>().chunks(8) {
                let chunks: BTreeSet<u32> =
                    lanes.iter().map(|&lane| at(&totals.slot, totals.registers[0], lane, 0)[0] / 4).collect();
                let banks: BTreeSet<u32> = chunks.iter().map(|chunk| chunk % 8).collect();
                most = most.max(chunks.len().div_ceil(banks.len()));
            }
        }
        most
    };
    assert_eq!(wavefronts(&[64, 64], "blocked 1,8 4,8 2,1 1,0 -"), 1);
    assert_eq!(wavefronts(&[64, 64], "blocked 1,1 1,32 2,2 1,0 -"), 1);
    assert_eq!(wavefronts(&[64, 32], "blocked 1,1 1,32 8,1 1,0 -"), 1);
}

/// In a step of a sort across warps, the lanes of a warp store their partial results to different banks, though warps
/// move along the first dimensions.
#[test]
fn partial_results_of_neighbouring_lanes_lie_side_by_side() {
    let shape = [2; 10];
    let text = "blocked 1,1,1,1,1,1,1,1,1,1 1,1,1,1,1,2,2,2,2,2 2,2,2,2,2,1,1,1,1,1 9,8,7,6,5,4,3,2,1,0 -";
    let layout = super::super::to_linear_layout(&shape, encoding(text, shape.len()));
    for axis in 0..5 {
        let sliced = encoding(&format!("slice {axis} {text}"), shape.len() - 1);
        let result = super::super::to_linear_layout(&shape[1..], sliced);
        let plan = ReducePlan::new(layout, axis, Some(result), FLOATS).expect("no clusters");
        let Delivery::Shared(partials) = &plan.delivery else { panic!("not by shared memory: {:?}", plan.delivery) };
        let banks: BTreeSet<u32> = (0..32).map(|lane| at(&partials.store, 0, lane, 0)[0] % 32).collect();
        // Both parts of a result lie side by side.
        assert_eq!(banks.len(), 16, "axis {axis}");
    }
}

/// A row that a warp holds is gathered by shuffles, one that several hold is not.
#[test]
fn gathers_within_warps() {
    let small = |text: &str| {
        let layout = super::super::to_linear_layout(&[32], encoding(text, 1));
        matches!(GatherPlan::new(layout, layout, 0).expect("no clusters"), GatherPlan::Shuffles(_))
    };
    assert!(small("blocked 1 32 4 0 -"));
    let layout = super::super::to_linear_layout(&[256], encoding("blocked 1 32 4 0 -", 1));
    assert!(matches!(GatherPlan::new(layout, layout, 0).expect("no clusters"), GatherPlan::Shared(_)));
}
