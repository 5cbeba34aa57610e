//! What a scan knows of the elements before a base class, and how that is combined with more of them.
//!
//! There is no neutral element for a region that may be anything, so a carry that is not there yet is a carry with a
//! condition: [`Carry`]. A region of one operation that has one ([`neutral`]) starts with that instead, which saves a
//! `selp` in every step.

use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::reduce::{Tuple, combine};
use crate::codegen::lower::{Lower, Res, Val, as_int};
use crate::ir::Op;
use crate::ir::dialects::ArithOp;
use crate::layout::plan::scan::Second;

/// What goes before all elements of a base class.
#[derive(Clone)]
pub(super) enum Carry<'c> {
    Nothing,
    Always(Tuple<'c>),
    /// Only where the condition holds.
    When(IntValue<'c>, Tuple<'c>),
}

/// The value that changes no other: `-0.0 + x` is `x`, also for `-0.0`. `maxnum` and `minnum` have none, since they
/// drop a NaN.
pub(super) fn neutral(kind: ArithOp, like: Val<'_>) -> Option<Val<'_>> {
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
pub(super) fn select<'c>(
    cx: &mut Lower<'c, '_>,
    condition: IntValue<'c>,
    yes: &[Val<'c>],
    no: &[Val<'c>],
) -> Res<Tuple<'c>> {
    yes.iter().zip(no).map(|(&y, &n)| Ok(cx.b.build_select(condition, y, n, "")?)).collect()
}

/// Whether a thread's half comes second: known beforehand, or a condition.
pub(super) enum Side<'c> {
    Known(bool),
    When(IntValue<'c>),
}

impl<'c> Side<'c> {
    pub(super) fn new(cx: &mut Lower<'c, '_>, second: Second) -> Res<Side<'c>> {
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
    pub(super) fn prepend(&self, cx: &mut Lower<'c, '_>, op: Op, value: &[Val<'c>], side: &Side<'c>) -> Res<Carry<'c>> {
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
    pub(super) fn before(&self, cx: &mut Lower<'c, '_>, op: Op, value: &[Val<'c>]) -> Res<Tuple<'c>> {
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
