//! `tt.reduce` between the lanes of a warp.
//!
//! A step combines each value with that of the lane that differs in some bits, so that after all steps every lane has
//! every result: one shuffle for each step and value. Two ways are shorter:
//!
//! 1. Where all lanes take part in one operation that the machine has an instruction for, that does all steps. Lanes
//!    that hold copies may take part in a minimum, a maximum, `and` and `or`; to a sum and an `xor` they bring zero.
//! 2. Where a thread has several values, a step can halve them instead: of each pair of values the lane keeps one,
//!    sends the other, and gets what the other lane has of the one that it keeps. With 32 values and 5 steps that is
//!    16 + 8 + 4 + 2 + 1 shuffles instead of 160. Then each lane has the result of one value. Results that go through
//!    shared memory are stored like that ([`Spread::slot_shift`]); others go to all lanes again, by one shuffle for
//!    each ([`Spread::gathered`]), unless few registers are left: all values wait for that.
//!
//! All ways combine the same pairs of numbers. Where a product is what is added, it may be fused with the first
//! addition in one way and not in the other, so last bits can differ.

use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::reduce::{Tuple, combine};
use crate::codegen::lower::{Lower, Res, Val, defect};
use crate::codegen::machine::Source;
use crate::ir::Op;
use crate::ir::dialects::tt::tt::Reduce;
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::layout::lanes_that_copy;
use crate::layout::plan::ReducePlan;
use crate::layout::plan::reduce::{Delivery, LaneStep, Partials};

/// How values are spread over lanes: value `j` of a lane is number `j << n | s` of all, where bit `i` of `s` says
/// whether the lane has bit `bits[i]`, and `n` is the number of bits.
#[derive(Default)]
pub(super) struct Spread {
    /// Masks of one bit each.
    bits: Vec<u32>,
}

/// What a shuffle and a select cost, where an addition costs 1: a multiprocessor does 32 and 128 of them in a cycle.
const SHUFFLE: usize = 4;
const SELECT: usize = 1;

/// The shuffles that an instruction for the whole warp is worth, with what comes before it.
const WHOLE_WARP: usize = 2;

/// The instructions for a sum of 64 bits; two would not see a carry.
const SUM_OF_PARTS: usize = 3;

/// Registers of other tensors from which on there are too few for results that wait for each other.
const CROWDED: u64 = 224;

/// Combines values between lanes. Gives what each lane then has, and how that is spread.
pub(super) fn within_warp<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    plan: &ReducePlan,
    mut groups: Vec<Tuple<'c>>,
) -> Res<(Vec<Tuple<'c>>, Spread)> {
    let spread = Spread::new(cx, op, plan, &groups);
    if let Some((kind, copies)) = whole_warp(cx, op, plan, &groups, &spread)?
        && by_instruction(cx, kind, copies, &mut groups)?
    {
        return Ok((groups, Spread::default()));
    }
    for (i, step) in plan.steps.iter().enumerate() {
        if let Some(&bit) = spread.bits.get(i) {
            groups = halved(cx, op, bit, &groups)?;
            continue;
        }
        // Steps behind others that halved do not move between values ([`Spread::new`]).
        let partner = |g: usize| if spread.bits.is_empty() { step.partner[g] } else { g };
        let sent: Vec<Tuple<'c>> = (0..groups.len()).map(|g| groups[partner(g)].clone()).collect();
        let others = shuffled(cx, &sent, Source::Flip(step.lanes))?;
        for (group, other) in groups.iter_mut().zip(&others) {
            *group = combine(cx, op, group, other)?;
        }
    }
    Ok((groups, spread))
}

fn is_in_place(step: &LaneStep) -> bool {
    step.partner.iter().copied().eq(0..step.partner.len())
}

/// The values that another lane has in place of these.
pub(super) fn shuffled<'c>(cx: &mut Lower<'c, '_>, tuples: &[Tuple<'c>], from: Source<'c>) -> Res<Vec<Tuple<'c>>> {
    let mut others: Vec<Tuple<'c>> = vec![vec![]; tuples.len()];
    for i in 0..tuples.first().map_or(0, Vec::len) {
        let values: Vec<Val<'c>> = tuples.iter().map(|t| t[i]).collect();
        for (other, value) in others.iter_mut().zip(cx.shuffle(&values, from)?) {
            other.push(value);
        }
    }
    Ok(others)
}

/// The operation and the bits of lanes that hold copies, if every lane of a warp takes part or holds a copy, and one
/// instruction for the whole warp is worth it.
fn whole_warp<'c>(
    cx: &Lower<'c, '_>,
    op: Op,
    plan: &ReducePlan,
    groups: &[Tuple<'c>],
    spread: &Spread,
) -> Res<Option<(ArithOp, u32)>> {
    let source = *Reduce(op).srcs(cx.ir).first().ok_or_else(|| defect("a reduction of nothing"))?;
    let copies = lanes_that_copy(Lower::layout(cx.ir.ty(source))?);
    // Each step takes one bit of the lane's number, whatever lanes it is between.
    let lanes = plan.steps.len() as u32 + copies.count_ones();
    let is_whole = 1 << lanes == cx.options.target.warp_size() && plan.steps.iter().all(is_in_place);
    let Some(kind) = cx.single_combiner(op).filter(|_| is_whole) else { return Ok(None) };
    let first = groups.first().and_then(|group| group.first()).ok_or_else(|| defect("a reduction of nothing"))?;
    let words = if cx.bits_of(first.get_type()) == 64 { 2 } else { 1 };
    let instructions = if words == 2 && kind == ArithOp::Addi { SUM_OF_PARTS } else { words };
    let shuffles = spread.exchanges(groups.len(), plan.steps.len()) * words;
    let is_worth_it = copies == 0 && instructions == words || groups.len() * instructions * WHOLE_WARP < shuffles;
    Ok(Some((kind, copies)).filter(|_| is_worth_it))
}

/// Reduces each group by one instruction; `false`, and nothing that is used, where the machine has none.
fn by_instruction<'c>(cx: &mut Lower<'c, '_>, kind: ArithOp, copies: u32, groups: &mut [Tuple<'c>]) -> Res<bool> {
    use ArithOp as A;
    let counts_each = matches!(kind, A::Addi | A::Xori);
    let counts_once = matches!(kind, A::Andi | A::Ori | A::Maxsi | A::Minsi | A::Maxui | A::Minui)
        || matches!(kind, A::Maxnumf | A::Minnumf | A::Maximumf | A::Minimumf);
    if copies != 0 && !counts_each && !counts_once {
        return Ok(false);
    }
    for group in groups.iter_mut() {
        let mut value = *group.first().ok_or_else(|| defect("a reduction of nothing"))?;
        if copies != 0 && counts_each {
            let copy = has_bit(cx, copies)?;
            let zero = value.get_type().const_zero();
            value = cx.b.build_select(copy, zero, value, "")?;
        }
        match cx.machine.reduce_warp(cx, kind, value)? {
            Some(reduced) => group[0] = reduced,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// A step that halves: lanes with the bit keep the second of each pair.
fn halved<'c>(cx: &mut Lower<'c, '_>, op: Op, bit: u32, groups: &[Tuple<'c>]) -> Res<Vec<Tuple<'c>>> {
    let mask = if chooses_by_mask(cx, op, groups) { Some(mask_of(cx, bit)?) } else { None };
    let second = has_bit(cx, bit)?;
    let (mut kept, mut sent): (Vec<Tuple<'c>>, Vec<Tuple<'c>>) = (vec![], vec![]);
    for pair in groups.chunks(2) {
        let [a, b] = pair else { return Err(defect("an odd number of values is halved")) };
        let mut pick = |yes: &Tuple<'c>, no: &Tuple<'c>| -> Res<Tuple<'c>> {
            let chosen = yes.iter().zip(no).map(|(&y, &n)| {
                let by_mask = mask.map(|mask| cx.machine.select_bits(cx, mask, y, n)).transpose()?.flatten();
                Ok(match by_mask {
                    Some(chosen) => chosen,
                    None => cx.b.build_select(second, y, n, "")?,
                })
            });
            chosen.collect()
        };
        kept.push(pick(b, a)?);
        sent.push(pick(a, b)?);
    }
    let others = shuffled(cx, &sent, Source::Flip(bit))?;
    kept.iter().zip(&others).map(|(own, other)| combine(cx, op, own, other)).collect()
}

/// Whether a step chooses by a mask in a register. In a loop, the lane's bits are the same in each turn, and a
/// predicate for each of them, of seven that there are, leaves too few for what the loop computes: exponentials, which
/// need some, follow each other then.
fn chooses_by_mask<'c>(cx: &Lower<'c, '_>, op: Op, groups: &[Tuple<'c>]) -> bool {
    let around = std::iter::successors(cx.ir.parent_op(op), |&op| cx.ir.parent_op(op));
    let mut loops = around.filter(|&op| cx.ir.is(op, ScfOp::For) || cx.ir.is(op, ScfOp::While));
    let is_word = |value: &Val<'c>| cx.bits_of(value.get_type()) == 32;
    loops.next().is_some() && groups.iter().flatten().all(is_word)
}

/// All bits set where the lane has this bit, else none.
fn mask_of<'c>(cx: &mut Lower<'c, '_>, bit: u32) -> Res<IntValue<'c>> {
    let top = cx.b.build_left_shift(cx.thread_id(), cx.i32(u64::from(bit.leading_zeros())), "")?;
    Ok(cx.b.build_right_shift(top, cx.i32(31), true, "")?)
}

/// Whether the lane has one of some bits.
fn has_bit<'c>(cx: &mut Lower<'c, '_>, bit: u32) -> Res<IntValue<'c>> {
    let picked = cx.b.build_and(cx.thread_id(), cx.i32(u64::from(bit)), "")?;
    Ok(cx.b.build_int_compare(IntPredicate::NE, picked, cx.i32(0), "")?)
}

impl Spread {
    /// The steps that halve, from the first on: as many as cost least, by [`SHUFFLE`] and [`SELECT`], if that is
    /// clearly less than without.
    fn new<'c>(cx: &Lower<'c, '_>, op: Op, plan: &ReducePlan, groups: &[Tuple<'c>]) -> Spread {
        let bits: Vec<u32> = plan.steps.iter().map(|s| s.lanes).take_while(|l| l.is_power_of_two()).collect();
        if !plan.steps.iter().all(is_in_place) {
            return Spread::default();
        }
        // Values that are halved together are all there at once. Each by itself can be used and forgotten.
        let in_registers = matches!(plan.delivery, Delivery::Registers(_));
        if in_registers && groups.len() > 1 && cx.registers_across(op) > CROWDED {
            return Spread::default();
        }
        let (count, steps) = (groups.len(), plan.steps.len());
        let bytes = |v: &Val<'c>| cx.bits_of(cx.stored_type(v.get_type())).div_ceil(8) as usize;
        let words = groups.first().map_or(1, |t| t.iter().map(bytes).sum::<usize>()).div_ceil(4);
        let combining = cx.ir.body(op, 0).map_or(1, |block| cx.ir.ops(block).count().saturating_sub(1));
        let cost = |halving: usize| {
            let left = count >> halving;
            let pairs = count - left;
            let gathering = if halving > 0 && in_registers { count } else { 0 };
            let exchanges = (pairs + (steps - halving) * left) * (SHUFFLE * words + combining);
            exchanges + pairs * 2 * SELECT * words + gathering * SHUFFLE * words
        };
        let most = bits.len().min(count.trailing_zeros() as usize);
        let fits = |&halving: &usize| Spread { bits: bits[..halving].to_vec() }.fits(plan);
        let best = (1..=most).filter(fits).min_by_key(|&halving| cost(halving));
        // Results that all lanes need wait for the shuffles that bring them back, so that has to save more.
        let most_of_ten = if in_registers { 6 } else { 9 };
        match best.filter(|&halving| cost(halving) * 10 < cost(0) * most_of_ten) {
            Some(halving) => Spread { bits: bits[..halving].to_vec() },
            None => Spread::default(),
        }
    }

    /// Whether the slots of values that lie in other lanes differ by what the lane decides, and are filled in one
    /// round.
    fn fits(&self, plan: &ReducePlan) -> bool {
        let Delivery::Shared(partials) = &plan.delivery else { return true };
        let slot = |g: usize| partials.store.apply_packed(plan.groups[g][0] as u64);
        (0..plan.groups.len()).all(|g| {
            let first = g & !(self.width() - 1);
            let by_bits =
                (0..self.bits.len()).filter(|i| g >> i & 1 == 1).fold(0, |all, i| all ^ slot(0) ^ slot(1 << i));
            slot(g) == slot(first) ^ by_bits && partials.store_round[g] == partials.store_round[first]
        })
    }

    /// The shuffles of so many values in so many steps.
    fn exchanges(&self, values: usize, steps: usize) -> usize {
        let left = values / self.width();
        values - left + (steps - self.bits.len()) * left
    }

    /// How many of all values are one value of a lane.
    pub(super) fn width(&self) -> usize {
        1 << self.bits.len()
    }

    /// The bits of the lane that decide which of them it is.
    pub(super) fn lanes(&self) -> u32 {
        self.bits.iter().fold(0, |all, bit| all | bit)
    }

    /// All values, in all lanes.
    pub(super) fn gathered<'c>(&self, cx: &mut Lower<'c, '_>, held: Vec<Tuple<'c>>) -> Res<Vec<Tuple<'c>>> {
        if self.bits.is_empty() {
            return Ok(held);
        }
        let mut all: Vec<Tuple<'c>> = vec![vec![]; held.len() * self.width()];
        for number in 0..self.width() {
            let chosen = self.bits.iter().enumerate().filter(|(i, _)| number >> i & 1 == 1);
            let from = Source::Set { bits: self.lanes(), to: chosen.fold(0, |lane, (_, bit)| lane | bit) };
            for (j, tuple) in shuffled(cx, &held, from)?.into_iter().enumerate() {
                all[j * self.width() + number] = tuple;
            }
        }
        Ok(all)
    }

    /// What the slot of a value differs by from that of the first of its [`width`](Self::width).
    pub(super) fn slot_shift<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        plan: &ReducePlan,
        partials: &Partials,
    ) -> Res<Option<IntValue<'c>>> {
        let slot = |g: usize| partials.store.apply_packed(plan.groups[g][0] as u64);
        let mut shift: Option<IntValue<'c>> = None;
        for (i, &bit) in self.bits.iter().enumerate() {
            let present = has_bit(cx, bit)?;
            let by = cx.i32(slot(0) ^ slot(1 << i));
            let by = cx.b.build_select(present, by, cx.i32(0), "")?.into_int_value();
            shift = Some(match shift {
                Some(shift) => cx.b.build_xor(shift, by, "")?,
                None => by,
            });
        }
        Ok(shift)
    }
}
