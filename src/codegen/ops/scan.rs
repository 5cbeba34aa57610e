//! `tt.scan`: emission of a [`ScanPlan`](crate::layout::plan::ScanPlan).
//!
//! There is no neutral element for a region that may be anything, so a carry that is not there yet is a carry with a
//! condition: [`Carry`]. A region of one operation that has one ([`neutral`]) starts with that instead, which saves a
//! `selp` in every step.

use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::reduce::{Tuple, combine, first_coordinates, slot_address};
use crate::analysis::exchange::ExchangePlan;
use crate::analysis::scratch::operand_bytes;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::machine::Source;
use crate::codegen::region::is_commutative;
use crate::ir::Op;
use crate::ir::dialects::ArithOp;
use crate::ir::dialects::tt::tt;
use crate::layout::plan::reduce::operand_offsets;
use crate::layout::plan::scan::{Exchange, Lanes, ScanStep, Second, Totals};

/// What goes before all elements of a base class.
#[derive(Clone)]
enum Carry<'c> {
    Nothing,
    Always(Tuple<'c>),
    /// Only where the condition holds.
    When(IntValue<'c>, Tuple<'c>),
}

/// The operation with what its steps share.
struct Scan {
    op: Op,
    reverse: bool,
    /// Whether totals may be combined in either order.
    commutative: bool,
    /// Slots of each operand, for all steps.
    slots: u32,
}

/// `tt.scan`
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ExchangePlan::Scan(plan) = cx.plan(op)? else { return Err(defect("a plan of another operation")) };
    let scan = Scan {
        op,
        reverse: tt::Scan(op).reverse(cx.ir),
        commutative: cx.single_combiner(op).is_some_and(is_commutative),
        slots: plan.slots(),
    };
    let sources = cx.ir.operands(op).iter().map(|&v| cx.get(v)).collect::<Res<Vec<_>>>()?;
    let mut prefixes: Vec<Vec<Tuple<'_>>> = vec![];
    for class in &plan.base {
        let mut scanned: Vec<Tuple<'_>> = vec![];
        for &r in class {
            let value: Tuple<'_> = sources.iter().map(|s| s[r]).collect();
            let next = match scanned.last() {
                Some(before) => combine(cx, op, before, &value)?,
                None => value,
            };
            scanned.push(next);
        }
        prefixes.push(scanned);
    }
    let last =
        prefixes.iter().map(|class| class.last().cloned().ok_or_else(|| defect("a base class without registers")));
    let mut totals = last.collect::<Res<Vec<_>>>()?;
    let start = match (cx.single_combiner(op), totals.first().and_then(|t| t.first())) {
        (Some(kind), Some(&like)) => neutral(kind, like).map_or(Carry::Nothing, |value| Carry::Always(vec![value])),
        _ => Carry::Nothing,
    };
    let mut carries = vec![start; prefixes.len()];
    for (i, step) in plan.steps.iter().enumerate() {
        let more = i + 1 < plan.steps.len();
        let after = match &step.exchange {
            Exchange::Lanes(run) => {
                let (up_to, all) = scan.lanes(cx, run, &totals)?;
                // A class of one element has its prefix now; what comes before larger ones is one lane further down.
                let mut before: Vec<Option<Tuple<'_>>> = vec![None; totals.len()];
                for (base, &class) in step.class_of.iter().enumerate() {
                    if i == 0 && prefixes[base].len() == 1 {
                        prefixes[base][0].clone_from(&up_to[class]);
                        continue;
                    }
                    if before[class].is_none() {
                        before[class] = scan.shuffled(cx, &up_to[class..=class], scan.behind(1 << run.shift))?.pop();
                    }
                    if let Some(before) = &before[class] {
                        let exists = scan.is_not_first(cx, run)?;
                        carries[base] = carries[base].prepend(cx, op, before, &Side::When(exists))?;
                    }
                }
                all
            }
            Exchange::Registers(groups) => scan.registers(cx, step, groups, &totals, &mut carries, more)?,
            Exchange::Partner { lanes, partner, second } => {
                scan.exchange(cx, step, (*lanes, partner, second), &totals, &mut carries)?
            }
            Exchange::Shared(at) => scan.shared(cx, step, at, &totals, &mut carries)?,
        };
        if more {
            totals = step.next.iter().map(|&c| after[c].clone()).collect();
        }
    }
    for (class, carry) in prefixes.iter_mut().zip(&carries) {
        for prefix in class.iter_mut() {
            *prefix = carry.before(cx, op, prefix)?;
        }
    }
    for (i, &result) in cx.ir.results(op).iter().enumerate() {
        cx.set(result, plan.places.iter().map(|&(class, place)| prefixes[class][place][i]).collect());
    }
    Ok(())
}

/// The value that changes no other: `-0.0 + x` is `x`, also for `-0.0`. `maxnum` and `minnum` have none, since they
/// drop a NaN.
fn neutral(kind: ArithOp, like: Val<'_>) -> Option<Val<'_>> {
    use ArithOp as A;
    match like {
        Val::IntValue(v) => {
            let (ty, bits) = (v.get_type(), v.get_type().get_bit_width());
            let highest = || ty.const_int(1u64.checked_shl(bits - 1).unwrap_or(0), false);
            let value = match kind {
                _ if bits > u64::BITS => return None,
                A::Addi | A::Ori | A::Xori | A::Maxui => ty.const_zero(),
                A::Muli => ty.const_int(1, false),
                A::Andi | A::Minui => ty.const_all_ones(),
                A::Maxsi => highest(),
                A::Minsi => highest().const_not(),
                _ => return None,
            };
            Some(value.into())
        }
        Val::FloatValue(v) => {
            let ty = v.get_type();
            let value = match kind {
                A::Addf => ty.const_float(-0.0),
                A::Mulf => ty.const_float(1.0),
                A::Maximumf => ty.const_float(f64::NEG_INFINITY),
                A::Minimumf => ty.const_float(f64::INFINITY),
                _ => return None,
            };
            Some(value.into())
        }
        _ => None,
    }
}

/// `condition ? yes : no`, element by element.
fn select<'c>(cx: &mut Lower<'c, '_>, condition: IntValue<'c>, yes: &[Val<'c>], no: &[Val<'c>]) -> Res<Tuple<'c>> {
    yes.iter().zip(no).map(|(&y, &n)| Ok(cx.b.build_select(condition, y, n, "")?)).collect()
}

/// Whether a thread's half comes second: known beforehand, or a condition.
enum Side<'c> {
    Known(bool),
    When(IntValue<'c>),
}

impl<'c> Side<'c> {
    fn new(cx: &mut Lower<'c, '_>, second: Second) -> Res<Side<'c>> {
        if second.threads == 0 {
            return Ok(Side::Known(second.flip));
        }
        let picked = cx.b.build_and(cx.thread_id(), cx.i32(u64::from(second.threads)), "")?;
        let odd = if second.threads.is_power_of_two() {
            picked
        } else {
            let ones = as_int(cx.intrinsic("llvm.ctpop", &[cx.int_type(32).into()], &[picked.into()])?)?;
            cx.b.build_and(ones, cx.i32(1), "")?
        };
        let predicate = if second.flip { IntPredicate::EQ } else { IntPredicate::NE };
        Ok(Side::When(cx.b.build_int_compare(predicate, odd, cx.i32(0), "")?))
    }
}

impl<'c> Carry<'c> {
    /// The carry with a value before it, where `side` says so.
    fn prepend(&self, cx: &mut Lower<'c, '_>, op: Op, value: &[Val<'c>], side: &Side<'c>) -> Res<Carry<'c>> {
        let condition = match side {
            Side::Known(false) => return Ok(self.clone()),
            Side::Known(true) => return Ok(Carry::Always(self.after(cx, op, value)?)),
            Side::When(condition) => *condition,
        };
        let joined = self.after(cx, op, value)?;
        Ok(match self {
            Carry::Nothing => Carry::When(condition, joined),
            Carry::Always(old) => Carry::Always(select(cx, condition, &joined, old)?),
            Carry::When(known, old) => {
                let joined = select(cx, condition, &joined, old)?;
                Carry::When(cx.b.build_or(*known, condition, "")?, joined)
            }
        })
    }

    /// Combines a value with the carry that follows it, if there is one.
    fn after(&self, cx: &mut Lower<'c, '_>, op: Op, value: &[Val<'c>]) -> Res<Tuple<'c>> {
        match self {
            Carry::Nothing => Ok(value.to_vec()),
            Carry::Always(old) => combine(cx, op, value, old),
            Carry::When(known, old) => {
                let both = combine(cx, op, value, old)?;
                select(cx, *known, &both, value)
            }
        }
    }

    /// Combines the carry, if there is one, with the value that follows it.
    fn before(&self, cx: &mut Lower<'c, '_>, op: Op, value: &[Val<'c>]) -> Res<Tuple<'c>> {
        match self {
            Carry::Nothing => Ok(value.to_vec()),
            Carry::Always(carry) => combine(cx, op, carry, value),
            Carry::When(known, carry) => {
                let both = combine(cx, op, carry, value)?;
                select(cx, *known, &both, value)
            }
        }
    }
}

impl Scan {
    /// The totals of each class up to this lane of a run, and all of the run's where all lanes need that.
    ///
    /// One class after the other, so that few values are alive at once; narrow elements go through shuffles together.
    fn lanes<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        run: &Lanes,
        totals: &[Tuple<'c>],
    ) -> Res<(Vec<Tuple<'c>>, Vec<Tuple<'c>>)> {
        let bits = cx.i32(u64::from(run.bits()));
        let mut number = cx.b.build_and(cx.thread_id(), bits, "")?;
        if self.reverse {
            number = cx.b.build_xor(number, bits, "")?;
        }
        let rounds: Vec<(u32, IntValue<'c>)> = (run.shift..run.shift + run.count)
            .map(|i| {
                let distance = cx.i32(1 << i);
                Ok((1 << i, cx.b.build_int_compare(IntPredicate::UGE, number, distance, "")?))
            })
            .collect::<Res<_>>()?;
        let widest = totals.first().into_iter().flatten().map(|v| cx.bits_of(v.get_type())).max().unwrap_or(32);
        let (mut up_to, mut all) = (vec![], vec![]);
        for classes in totals.chunks((32 / widest.max(1)).max(1) as usize) {
            let mut values = classes.to_vec();
            for &(distance, exists) in &rounds {
                let others = self.shuffled(cx, &values, self.behind(distance))?;
                for (value, other) in values.iter_mut().zip(&others) {
                    let joined = combine(cx, self.op, other, value)?;
                    *value = select(cx, exists, &joined, value)?;
                }
            }
            if run.broadcast {
                let last = if self.reverse { 0 } else { run.bits() };
                let first = cx.b.build_and(cx.thread_id(), cx.i32(u64::from(!run.bits())), "")?;
                let last = cx.b.build_or(first, cx.i32(u64::from(last)), "")?;
                all.extend(self.shuffled(cx, &values, Source::Lane(last))?);
            }
            up_to.extend(values);
        }
        let all = if run.broadcast { all } else { up_to.clone() };
        Ok((up_to, all))
    }

    /// The values that another lane has of these tuples.
    fn shuffled<'c>(&self, cx: &mut Lower<'c, '_>, tuples: &[Tuple<'c>], from: Source<'c>) -> Res<Vec<Tuple<'c>>> {
        let mut others = tuples.to_vec();
        for i in 0..tuples.first().map_or(0, Vec::len) {
            let values: Vec<_> = tuples.iter().map(|t| t[i]).collect();
            for (other, value) in others.iter_mut().zip(cx.shuffle(&values, from)?) {
                other[i] = value;
            }
        }
        Ok(others)
    }

    /// The lane that is this far behind in the order of the scan.
    fn behind<'c>(&self, distance: u32) -> Source<'c> {
        if self.reverse { Source::Above(distance) } else { Source::Below(distance) }
    }

    /// Whether there is a lane of the run behind this one.
    fn is_not_first<'c>(&self, cx: &mut Lower<'c, '_>, run: &Lanes) -> Res<IntValue<'c>> {
        let bits = cx.i32(u64::from(run.bits()));
        let number = cx.b.build_and(cx.thread_id(), bits, "")?;
        let first = if self.reverse { bits } else { cx.i32(0) };
        Ok(cx.b.build_int_compare(IntPredicate::NE, number, first, "")?)
    }

    /// A step over the classes of a thread, in order. Gives the totals of all of a group where a step follows.
    fn registers<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        step: &ScanStep,
        groups: &[Vec<usize>],
        totals: &[Tuple<'c>],
        carries: &mut [Carry<'c>],
        more: bool,
    ) -> Res<Vec<Tuple<'c>>> {
        let mut whole = totals.to_vec();
        for group in groups {
            let mut before: Option<Tuple<'c>> = None;
            for (number, &class) in group.iter().enumerate() {
                if let Some(before) = &before {
                    for (carry, _) in carries.iter_mut().zip(&step.class_of).filter(|(_, c)| **c == class) {
                        *carry = carry.prepend(cx, self.op, before, &Side::Known(true))?;
                    }
                }
                if more || number + 1 < group.len() {
                    before = Some(match before {
                        Some(before) => combine(cx, self.op, &before, &totals[class])?,
                        None => totals[class].clone(),
                    });
                }
            }
            if let Some(all) = before.filter(|_| more) {
                group.iter().for_each(|&class| whole[class].clone_from(&all));
            }
        }
        Ok(whole)
    }

    /// A step between two lanes, or two classes of a thread. Gives the totals of both halves.
    fn exchange<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        step: &ScanStep,
        (lanes, partner, second): (u32, &[usize], &[Second]),
        totals: &[Tuple<'c>],
        carries: &mut [Carry<'c>],
    ) -> Res<Vec<Tuple<'c>>> {
        let mut others: Vec<Tuple<'c>> = partner.iter().map(|&c| totals[c].clone()).collect();
        if lanes != 0 {
            others = self.shuffled(cx, &others, Source::Flip(lanes))?;
        }
        let sides = second.iter().map(|&s| Side::new(cx, s)).collect::<Res<Vec<_>>>()?;
        for (carry, &class) in carries.iter_mut().zip(&step.class_of) {
            *carry = carry.prepend(cx, self.op, &others[class], &sides[class])?;
        }
        let mut joined: Vec<Tuple<'c>> = vec![vec![]; totals.len()];
        for &class in &step.next {
            let (own, other) = (&totals[class], &others[class]);
            joined[class] = match sides[class] {
                Side::Known(false) => combine(cx, self.op, own, other)?,
                Side::Known(true) => combine(cx, self.op, other, own)?,
                Side::When(_) if self.commutative => combine(cx, self.op, other, own)?,
                Side::When(condition) => {
                    let (first, last) = (select(cx, condition, other, own)?, select(cx, condition, own, other)?);
                    combine(cx, self.op, &first, &last)?
                }
            };
        }
        Ok(joined)
    }

    /// The step across warps.
    fn shared<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        step: &ScanStep,
        at: &Totals,
        totals: &[Tuple<'c>],
        carries: &mut [Carry<'c>],
    ) -> Res<Vec<Tuple<'c>>> {
        let bytes = operand_bytes(cx.ir, self.op);
        let (starts, _) = operand_offsets(self.slots, &bytes);
        let base = cx.scratch(self.op)?;
        let owner = cx.thread_bits_are(at.copies, at.owner)?;
        let slots = first_coordinates(cx.indices(&at.slot)?)?;
        let start_of = |i: usize| starts[i] + at.start * bytes[i];
        for (total, &register) in totals.iter().zip(&at.registers) {
            for (i, &value) in total.iter().enumerate() {
                let address = slot_address(cx, base, start_of(i), slots[register], bytes[i])?;
                cx.store_shared_if(owner, address, value)?;
            }
        }
        cx.barrier()?;
        let mut whole = vec![];
        for (class, &register) in at.registers.iter().enumerate() {
            let within = cx.i32(at.parts as u64 - 1);
            let own = cx.b.build_and(slots[register], within, "")?;
            let first = cx.b.build_and(slots[register], cx.b.build_not(within, "")?, "")?;
            let mut parts: Vec<Tuple<'c>> = vec![vec![]; at.parts];
            for i in 0..bytes.len() {
                let address = slot_address(cx, base, start_of(i), first, bytes[i])?;
                let loaded = cx.load_shared_run(address, totals[class][i].get_type(), at.parts)?;
                parts.iter_mut().zip(loaded).for_each(|(tuple, value)| tuple.push(value));
            }
            let own = if self.reverse { cx.b.build_xor(own, within, "")? } else { own };
            if self.reverse {
                parts.reverse();
            }
            let (before, all) = self.up_to(cx, &parts, own)?;
            let exists = cx.b.build_int_compare(IntPredicate::NE, own, cx.i32(0), "")?;
            for (carry, _) in carries.iter_mut().zip(&step.class_of).filter(|(_, c)| **c == class) {
                *carry = carry.prepend(cx, self.op, &before, &Side::When(exists))?;
            }
            whole.push(all);
        }
        Ok(whole)
    }

    /// What the parts before number `own` combine to (that of part 0 alone if there is none), and all parts.
    fn up_to<'c>(&self, cx: &mut Lower<'c, '_>, parts: &[Tuple<'c>], own: IntValue<'c>) -> Res<(Tuple<'c>, Tuple<'c>)> {
        let (mut sum, mut before) = (parts[0].clone(), parts[0].clone());
        for (i, part) in parts.iter().enumerate().skip(1) {
            let reached = cx.b.build_int_compare(IntPredicate::UGT, own, cx.i32(i as u64), "")?;
            sum = combine(cx, self.op, &sum, part)?;
            before = select(cx, reached, &sum, &before)?;
        }
        Ok((before, sum))
    }
}
