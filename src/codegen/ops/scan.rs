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
use crate::layout::plan::scan::{Exchange, ScanStep, Second, Totals};

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
            for i in 0..totals.first().map_or(0, Vec::len) {
                let values: Vec<_> = others.iter().map(|t| t[i]).collect();
                for (other, value) in others.iter_mut().zip(cx.shuffle(&values, Source::Flip(lanes))?) {
                    other[i] = value;
                }
            }
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
        let owner = cx.owner_predicate(u64::from(at.copies), 0)?;
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
