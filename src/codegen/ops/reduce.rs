//! `tt.reduce`: emission of a [`ReducePlan`].
//!
//! 1. In a thread, values are combined in pairs of neighbours, then pairs of pairs: half of the work at a time does not
//!    wait for the other half.
//! 2. In a warp, one shuffle for each step and value, or fewer where a thread has several ([`super::reduce_lanes`]).
//! 3. Across warps, in each round, stores of one lane each, a barrier, wide loads; the loaded values are combined by
//!    halves (`0 ∘ 2`, `1 ∘ 3`, then both). Where threads need many results, a thread does that for one of them and
//!    stores it, and behind a second barrier all threads load what they need.
//! 4. Between two warps that have a part of the same results each: wide stores of the own part, a barrier, wide loads
//!    of the other.
//! 5. Across the blocks of a cluster the same, but the barrier is the cluster's, and a thread loads the partial results
//!    of each block, the blocks in the order of their numbers. Where all lanes of a warp want the same result, each
//!    lane loads one part of it instead, and the lanes combine them by shuffles: other blocks' memory takes longer. So
//!    they do with the parts of 16 warps.
//!
//! Values of the region are tuples: one per operand.

use inkwell::IntPredicate;
use inkwell::values::{IntValue, PointerValue};

use super::reduce_lanes::{Spread, shuffled, within_warp};
use super::scan_carry::select;
use crate::analysis::exchange::ExchangePlan;
use crate::analysis::scratch::operand_bytes;
use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::codegen::machine::Source;
use crate::codegen::operands_behind::is_needed_in_branches;
use crate::codegen::region::is_commutative;
use crate::ir::Op;
use crate::ir::dialects::ArithOp;
use crate::ir::dialects::tt::tt::Reduce;
use crate::layout::linear::low_bits;
use crate::layout::plan::reduce::{Delivery, Finished, Partials, Swap, operand_offsets};
use crate::layout::plan::shared_access::element_bytes;
use crate::layout::plan::{Among, ReducePlan};

/// One value per operand.
pub(crate) type Tuple<'c> = Vec<Val<'c>>;

/// `tt.reduce`
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ExchangePlan::Reduce(plan) = cx.plan(op)? else { return Err(defect("a plan of another operation")) };
    let sources = Reduce(op).srcs(cx.ir).iter().map(|&v| cx.get(v)).collect::<Res<Vec<_>>>()?;
    let mut groups = Vec::with_capacity(plan.groups.len());
    for group in &plan.groups {
        let values = group.iter().map(|&r| sources.iter().map(|s| s[r]).collect()).collect();
        groups.push(by_neighbours(cx, op, values)?);
    }
    let (mut groups, spread) = within_warp(cx, op, plan, groups)?;
    let results = match &plan.delivery {
        Delivery::Registers(table) => {
            groups = spread.gathered(cx, groups)?;
            table.iter().map(|&g| groups[g].clone()).collect()
        }
        Delivery::Shared(partials) => across_warps(cx, op, plan, partials, (&groups, &spread))?,
        Delivery::Swap(swap) => {
            let groups = between_two_warps(cx, op, plan, swap, groups)?;
            swap.table.iter().map(|&g| groups[g].clone()).collect()
        }
    };
    for (i, &result) in cx.ir.results(op).iter().enumerate() {
        cx.set(result, results.iter().map(|tuple| tuple[i]).collect());
    }
    Ok(())
}

/// Runs the region on two tuples.
pub(crate) fn combine<'c>(cx: &mut Lower<'c, '_>, op: Op, first: &[Val<'c>], second: &[Val<'c>]) -> Res<Tuple<'c>> {
    cx.inline_region(op, &[first, second].concat())
}

/// Combines values in pairs of neighbours, then pairs of pairs: `((0 ∘ 1) ∘ (2 ∘ 3)) ∘ …`.
fn by_neighbours<'c>(cx: &mut Lower<'c, '_>, op: Op, mut values: Vec<Tuple<'c>>) -> Res<Tuple<'c>> {
    while values.len() > 1 {
        let pairs = values.chunks(2).map(|pair| match pair {
            [a, b] => combine(cx, op, a, b),
            rest => Ok(rest[0].clone()),
        });
        values = pairs.collect::<Res<_>>()?;
    }
    values.pop().ok_or_else(|| defect("a reduction of nothing"))
}

/// Combines the values of the lower half with those of the upper half, `(0 ∘ n/2), (1 ∘ n/2+1), …`, until one is left.
fn by_halves<'c>(cx: &mut Lower<'c, '_>, op: Op, mut values: Vec<Tuple<'c>>) -> Res<Tuple<'c>> {
    while values.len() > 1 {
        let (low, high) = values.split_at(values.len() / 2);
        values = low.iter().zip(high).map(|(a, b)| combine(cx, op, a, b)).collect::<Res<_>>()?;
    }
    values.pop().ok_or_else(|| defect("a reduction of nothing"))
}

/// The bits of the thread's number that tell apart holders of one partial result, of which one stores. Lanes that have
/// the same bits may all store: a predicate in the head of a loop keeps the assembler from testing at its end. A lane
/// of a sum of floats rounds what it hands on and may not round what it keeps.
fn copies(cx: &Lower<'_, '_>, op: Op, partials: &Partials) -> u32 {
    let lanes = cx.options.target.warp_size() - 1;
    let is_exact = |kind: ArithOp| {
        is_commutative(kind) && (cx.ir.ty(cx.ir.result(op)).elem().as_float().is_none() || is_one_of_both(kind))
    };
    if cx.single_combiner(op).is_some_and(is_exact) { partials.copies & !lanes } else { partials.copies }
}

/// Whether the result is one of the operands.
fn is_one_of_both(kind: ArithOp) -> bool {
    matches!(kind, ArithOp::Maximumf | ArithOp::Maxnumf | ArithOp::Minimumf | ArithOp::Minnumf)
}

/// Stores partial results, waits, and gives each register of the result its own.
fn across_warps<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    plan: &ReducePlan,
    partials: &Partials,
    (groups, spread): (&[Tuple<'c>], &Spread),
) -> Res<Vec<Tuple<'c>>> {
    let bytes = operand_bytes(cx.ir, op);
    let (starts, _) = operand_offsets(partials.all_slots(), &bytes);
    let base = cx.scratch(op)?;
    let owner = cx.owner_predicate(u64::from(copies(cx, op, partials) & !spread.lanes()), 0)?;
    let mut stored = first_coordinates(cx.indices(&partials.store)?)?;
    // What a lane holds in place of the first group of several goes to that group's slot.
    let shift = spread.slot_shift(cx, plan, partials)?;
    let loaded = first_coordinates(cx.indices(&partials.load)?)?;
    let finished = partials.once.as_ref().map(|finished| first_coordinates(cx.indices(&finished.load)?)).transpose()?;
    let bases = if is_loaded_by_lanes(cx, op, partials) { vec![] } else { bases(cx, partials, base)? };
    let mut results: Vec<Tuple<'c>> = vec![vec![]; loaded.len()];
    // LLVM moves what combines the parts into the branch that needs it, and keeps all parts until then.
    let is_kept = partials.parts > 1 && is_needed_in_branches(cx.ir, op);
    for round in 0..partials.rounds {
        if round > 0 {
            synchronize(cx, partials)?;
        }
        for (group, first) in groups.iter().zip((0..plan.groups.len()).step_by(spread.width())) {
            if partials.store_round[first] != round {
                continue;
            }
            let register = plan.groups[first][0];
            if let Some(shift) = shift {
                stored[register] = cx.b.build_xor(stored[register], shift, "")?;
            }
            for ((&value, &start), &size) in group.iter().zip(&starts).zip(&bytes) {
                let at = slot_address(cx, base, start, stored[register], size)?;
                cx.store_shared_if(owner, at, value)?;
            }
        }
        synchronize(cx, partials)?;
        if let Some((places, finished)) = partials.once.as_ref().zip(finished.as_ref()) {
            let like: Tuple<'c> = groups[0].clone();
            finish(cx, op, (partials, places), (base, &starts, &bytes), &like)?;
            synchronize(cx, partials)?;
            load_finished(cx, partials, round, (base, &starts, &bytes), (&like, finished), &mut results)?;
            continue;
        }
        let mut known: Vec<(u64, usize)> = vec![];
        for (register, _) in partials.load_round.iter().enumerate().filter(|(_, r)| **r == round) {
            // Registers that hold copies share their loads.
            let place = partials.load.apply_packed(register as u64);
            if let Some(&(_, same)) = known.iter().find(|k| k.0 == place) {
                let copy = results[same].clone();
                results[register] = copy;
                continue;
            }
            known.push((place, register));
            if is_loaded_by_lanes(cx, op, partials) {
                results[register] = by_lanes(cx, op, partials, (base, loaded[register]), &groups[0])?;
                continue;
            }
            let mut values: Vec<Tuple<'c>> = vec![];
            for &holder in &bases {
                let slots = (holder, starts.as_slice(), bytes.as_slice());
                values.extend(load_parts(cx, partials, slots, loaded[register], &groups[0])?);
            }
            results[register] = by_halves(cx, op, values)?;
            if is_kept {
                results[register].iter().try_for_each(|&value| cx.machine.keep(cx, value))?;
            }
        }
    }
    Ok(results)
}

/// Where the slots of each operand start, and the bytes of an element.
type Slots<'p, 'c> = (PointerValue<'c>, &'p [u32], &'p [u32]);

/// Loads all partial results of the result whose first one lies in this slot. `like` are values of the operands' types.
fn load_parts<'c>(
    cx: &mut Lower<'c, '_>,
    partials: &Partials,
    (base, starts, bytes): Slots<'_, 'c>,
    first: IntValue<'c>,
    like: &[Val<'c>],
) -> Res<Vec<Tuple<'c>>> {
    let mut parts: Vec<Tuple<'c>> = vec![vec![]; partials.parts];
    for (i, (&start, &size)) in starts.iter().zip(bytes).enumerate() {
        for (behind, parts) in parts.chunks_mut(partials.run).enumerate() {
            let start = start + behind as u32 * partials.stride() * size;
            let at = slot_address(cx, base, start, first, size)?;
            let run = cx.load_shared_run(at, like[i].get_type(), partials.run)?;
            parts.iter_mut().zip(run).for_each(|(tuple, value)| tuple.push(value));
        }
    }
    Ok(parts)
}

/// Each thread combines the partial results of a result, or of several, and stores it behind all partial results.
fn finish<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    (partials, places): (&Partials, &Finished),
    (base, starts, bytes): Slots<'_, 'c>,
    like: &Tuple<'c>,
) -> Res<()> {
    let (results, threads) = (partials.results(), partials.threads());
    let own = if results < threads {
        cx.b.build_and(cx.thread_id(), cx.i32(u64::from(results - 1)), "")?
    } else {
        cx.thread_id()
    };
    let stores = if results < threads {
        Some(cx.b.build_int_compare(IntPredicate::ULT, cx.thread_id(), cx.i32(u64::from(results)), "")?)
    } else {
        None
    };
    for number in (0..results).step_by(threads as usize) {
        let result = cx.b.build_int_add(own, cx.i32(u64::from(number)), "")?;
        let first = cx.b.build_left_shift(result, cx.i32(u64::from(partials.run.trailing_zeros())), "")?;
        let parts = load_parts(cx, partials, (base, starts, bytes), first, like)?;
        let whole = by_halves(cx, op, parts)?;
        let place = place_of(cx, places, result)?;
        for ((&value, &start), &size) in whole.iter().zip(starts).zip(bytes) {
            let at = slot_address(cx, base, start + partials.slots * size, place, size)?;
            cx.store_shared_if(stores, at, value)?;
        }
    }
    Ok(())
}

/// Where the result of this number lies, in the order of first partial results: the bits that registers decide go
/// first.
fn place_of<'c>(cx: &mut Lower<'c, '_>, places: &Finished, number: IntValue<'c>) -> Res<IntValue<'c>> {
    let mut place = cx.i32(0);
    for (from, count, to) in places.fields().into_iter().filter(|field| field.1 > 0) {
        let bits = cx.b.build_and(number, cx.i32(low_bits(count) << from), "")?;
        let bits = if from < to {
            cx.b.build_left_shift(bits, cx.i32(u64::from(to - from)), "")?
        } else {
            cx.b.build_right_shift(bits, cx.i32(u64::from(from - to)), false, "")?
        };
        place = cx.b.build_or(place, bits, "")?;
    }
    Ok(place)
}

/// Loads finished results into the registers of a round, those side by side together.
fn load_finished<'c>(
    cx: &mut Lower<'c, '_>,
    partials: &Partials,
    round: u32,
    (base, starts, bytes): Slots<'_, 'c>,
    (like, loaded): (&Tuple<'c>, &[IntValue<'c>]),
    results: &mut [Tuple<'c>],
) -> Res<()> {
    for run in partials.finished(round) {
        let slot = loaded[run[0][0]];
        for (i, (&start, &size)) in starts.iter().zip(bytes).enumerate() {
            let at = slot_address(cx, base, start + partials.slots * size, slot, size)?;
            let values = cx.load_shared_run(at, like[i].get_type(), run.len())?;
            for (registers, value) in run.iter().zip(values) {
                registers.iter().for_each(|&r| results[r].push(value));
            }
        }
    }
    Ok(())
}

/// Exchanges partial results with another warp.
fn between_two_warps<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    plan: &ReducePlan,
    swap: &Swap,
    mut groups: Vec<Tuple<'c>>,
) -> Res<Vec<Tuple<'c>>> {
    let bytes = operand_bytes(cx.ir, op);
    let (starts, _) = operand_offsets(swap.slots * swap.buffers, &bytes);
    let base = cx.scratch(op)?;
    let owner = cx.owner_predicate(u64::from(swap.copies), 0)?;
    let slots = first_coordinates(cx.indices(&swap.slot)?)?;
    let is_commutative = cx.single_combiner(op).is_some_and(is_commutative);
    for (number, round) in swap.rounds.iter().enumerate() {
        if number > 0 && swap.buffers == 1 {
            cx.barrier()?;
        }
        let own = slots[plan.groups[round[0]][0]];
        let buffer = number as u32 % swap.buffers * swap.slots;
        for (i, (&start, &size)) in starts.iter().zip(&bytes).enumerate() {
            let at = slot_address(cx, base, start + buffer * size, own, size)?;
            let values: Vec<Val<'c>> = round.iter().map(|&g| groups[g][i]).collect();
            cx.store_shared_run_if(owner, at, &values)?;
        }
        cx.barrier()?;
        let other = cx.b.build_xor(own, cx.i32(u64::from(swap.partner)), "")?;
        let mut others: Vec<Tuple<'c>> = vec![vec![]; round.len()];
        for (i, (&start, &size)) in starts.iter().zip(&bytes).enumerate() {
            let at = slot_address(cx, base, start + buffer * size, other, size)?;
            let run = cx.load_shared_run(at, groups[round[0]][i].get_type(), round.len())?;
            others.iter_mut().zip(run).for_each(|(tuple, value)| tuple.push(value));
        }
        let second = if is_commutative {
            None
        } else {
            let bit = cx.b.build_and(own, cx.i32(u64::from(swap.partner)), "")?;
            Some(cx.b.build_int_compare(IntPredicate::NE, bit, cx.i32(0), "")?)
        };
        for (&group, other) in round.iter().zip(others) {
            let own = groups[group].clone();
            groups[group] = match second {
                None => combine(cx, op, &own, &other)?,
                Some(second) => {
                    let (first, last) = (select(cx, second, &other, &own)?, select(cx, second, &own, &other)?);
                    combine(cx, op, &first, &last)?
                }
            };
        }
    }
    Ok(groups)
}

/// Loads of a thread above which each lane of a warp loads one part of the result that all of them want.
const FEW_LOADS: u32 = 3;

/// Instructions of a result above which lanes save by combining its parts together, what each of them would do alone.
const SAVED: usize = 16;

/// The parts of a result from which lanes combine them together, whatever that saves: a lane then loads one of them and
/// not all, and needs fewer registers. On an H200, 33 kernels of 16 warps and more than 3 us ran at 1.024 of their
/// speed, 0.97 to 1.18.
const MANY: usize = 16;

/// Whether each lane loads one part.
fn is_loaded_by_lanes(cx: &Lower<'_, '_>, op: Op, partials: &Partials) -> bool {
    partials.is_same_for_lanes()
        && partials.all_parts() <= cx.options.target.warp_size() as usize
        && (partials.all_parts() >= MANY
            || partials.loads(&operand_bytes(cx.ir, op)) > FEW_LOADS
            || saves_by_lanes(cx, op, partials))
}

/// Whether combining takes so many operations that a shuffle of each operand in each round costs less than what all
/// lanes would do alike: so for the greater of two values with their indices, but not for sums.
fn saves_by_lanes(cx: &Lower<'_, '_>, op: Op, partials: &Partials) -> bool {
    let Some(block) = cx.ir.body(op, 0) else { return false };
    let (parts, operands) = (partials.all_parts(), cx.ir.operands(op).len());
    let combining = cx.ir.op_list(block).len().saturating_sub(1);
    let together = parts.trailing_zeros() as usize * (combining + operands) + operands;
    (parts - 1) * combining > together + SAVED
}

/// The result whose parts start at `slot` of the scratch memory at `base` in each block. Lane `l` loads part `l % n` of
/// the `n` of all blocks; the highest bits say in which block. `like` are values of the operands' types.
fn by_lanes<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    partials: &Partials,
    (base, slot): (PointerValue<'c>, IntValue<'c>),
    like: &[Val<'c>],
) -> Res<Tuple<'c>> {
    let bytes = operand_bytes(cx.ir, op);
    let (starts, _) = operand_offsets(partials.slots, &bytes);
    let own = cx.block_in_cluster()?;
    let mut block = cx.b.build_and(own, cx.i32(u64::from(!partials.blocks)), "")?;
    let in_block = partials.parts.trailing_zeros();
    for (i, bit) in (0..u32::BITS).filter(|bit| partials.blocks >> bit & 1 == 1).enumerate() {
        let has = cx.b.build_right_shift(cx.thread_id(), cx.i32(u64::from(in_block) + i as u64), false, "")?;
        let has = cx.b.build_and(has, cx.i32(1), "")?;
        let number = cx.b.build_left_shift(has, cx.i32(u64::from(bit)), "")?;
        block = cx.b.build_or(block, number, "")?;
    }
    let holder = if partials.blocks == 0 { base } else { cx.machine.in_block(cx, base, block)? };
    let part = cx.b.build_and(cx.thread_id(), cx.i32(partials.run as u64 - 1), "")?;
    let mut slot = cx.b.build_int_add(slot, part, "")?;
    if partials.run < partials.parts {
        let run_bits = cx.i32(u64::from(partials.run.trailing_zeros()));
        let run = cx.b.build_right_shift(cx.thread_id(), run_bits, false, "")?;
        let run = cx.b.build_and(run, cx.i32((partials.parts / partials.run) as u64 - 1), "")?;
        let behind = cx.b.build_int_mul(run, cx.i32(u64::from(partials.stride())), "")?;
        slot = cx.b.build_int_add(slot, behind, "")?;
    }
    let mut value: Tuple<'c> = vec![];
    for ((&start, &size), like) in starts.iter().zip(&bytes).zip(like) {
        let at = slot_address(cx, holder, start, slot, size)?;
        value.extend(cx.load_shared_run(at, like.get_type(), 1)?);
    }
    let highest_first = (0..partials.all_parts().trailing_zeros()).rev();
    for bit in highest_first {
        let others = shuffled(cx, std::slice::from_ref(&value), Source::Flip(1 << bit))?;
        value = combine(cx, op, &value, &others[0])?;
    }
    if !cx.single_combiner(op).is_some_and(is_commutative) {
        // The others combined the same parts in another order, and all must have one result.
        let first = Source::Lane(cx.i32(0));
        value = shuffled(cx, std::slice::from_ref(&value), first)?.swap_remove(0);
    }
    Ok(value)
}

/// Waits until all partial results are stored, or loaded.
fn synchronize(cx: &mut Lower<'_, '_>, partials: &Partials) -> Res<()> {
    match partials.among() {
        Among::Cluster => cx.machine.cluster_barrier(cx, false),
        Among::Block | Among::Warp => cx.barrier(),
    }
}

/// Where the partial results lie in each block that has some: the scratch memory at `base`, as it is in that block.
fn bases<'c>(cx: &mut Lower<'c, '_>, partials: &Partials, base: PointerValue<'c>) -> Res<Vec<PointerValue<'c>>> {
    if partials.blocks == 0 {
        return Ok(vec![base]);
    }
    let own = cx.block_in_cluster()?;
    let others = cx.b.build_and(own, cx.i32(u64::from(!partials.blocks)), "")?;
    let in_block = |number| {
        let block = cx.b.build_or(others, cx.i32(u64::from(number)), "")?;
        cx.machine.in_block(cx, base, block)
    };
    partials.block_numbers().into_iter().map(in_block).collect()
}

/// The only coordinate of each register.
pub(crate) fn first_coordinates(indices: Vec<Vec<IntValue<'_>>>) -> Res<Vec<IntValue<'_>>> {
    indices.into_iter().map(|c| c.first().copied().ok_or_else(|| defect("a slot without a number"))).collect()
}

/// The address of a slot of elements of `size` bytes, `start` bytes after `base`.
pub(crate) fn slot_address<'c>(
    cx: &mut Lower<'c, '_>,
    base: PointerValue<'c>,
    start: u32,
    slot: IntValue<'c>,
    size: u32,
) -> Res<PointerValue<'c>> {
    debug_assert!(size == element_bytes(size * 8));
    let bytes = cx.b.build_left_shift(slot, cx.i32(u64::from(size.trailing_zeros())), "")?;
    let at = cx.shared_at(base, bytes)?;
    if start == 0 { Ok(at) } else { cx.shared_at(at, cx.i32(u64::from(start))) }
}
