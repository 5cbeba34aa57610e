//! Comparison and selection ("PTX ISA, Comparison and Selection Instructions"), and `testp`.

use super::context::{Cx, TRUE};
use super::error::Result;
use super::form::Form;
use super::op::{Join, Op, Test2, lift_test};
use super::program::Guard;
use crate::emu::num::{self, Comparison, Flags, Type};
use crate::emu::ptx::syntax::Operand;

impl<'a> Cx<'_, 'a> {
    /// The instructions of this file. `None` if the opcode is of another family.
    pub(super) fn comparison(&mut self, form: &Form<'_, 'a>) -> Result<Option<Op>> {
        Ok(Some(match form.ins.opcode {
            "setp" => self.setp(form)?,
            "set" => self.set(form)?,
            "selp" => self.selp(form)?,
            "slct" => self.slct(form)?,
            "testp" => {
                let test = form.need("a property", num::Test::parse)?;
                let ty = form.ty()?;
                let [d, a] = form.operands()?;
                let (d, a) = (self.dest_pred(d)?, self.source(a, ty)?);
                let f = lift_test(move |a, _| num::test(test, ty, a));
                Op::Compare { f, d, d2: None, a, b: a, join: None }
            }
            _ => return Ok(None),
        }))
    }

    /// The comparison and its join. The types are left to the caller.
    fn compared(form: &Form<'_, 'a>) -> Result<(Comparison, Option<Join>)> {
        let comparison = form.need("a comparison", Comparison::parse)?;
        let join = form.find(|m| match m {
            "and" => Some(Join::And),
            "or" => Some(Join::Or),
            "xor" => Some(Join::Xor),
            _ => None,
        });
        Ok((comparison, join))
    }

    fn setp(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let (comparison, join) = Self::compared(form)?;
        let (ty, flags) = (form.ty()?, form.flags());
        let (d, rest) = form.ins.operands.split_first().ok_or_else(|| form.error("has no operands"))?;
        let (d, d2) = match d {
            Operand::Pair(p, q) => (self.dest_pred(p)?, Some(self.dest_pred(q)?)),
            one => (self.dest_pred(one)?, None),
        };
        let (a, b, c) = match (rest, join) {
            ([a, b], None) => (a, b, None),
            ([a, b, c], Some(join)) => (a, b, Some((join, self.pred(c)?))),
            _ => return Err(form.error("has the wrong number of operands")),
        };
        let (a, b) = (self.source(a, ty)?, self.source(b, ty)?);
        if ty.lanes() == 2 {
            let half = |at: usize| lift_test(move |a, b| num::compare::compare_pair(comparison, ty, a, b, flags)[at]);
            let Some(d2) = d2 else { return Err(form.error("a packed comparison has two results, `p|q`")) };
            return Ok(Op::ComparePair { low: half(0), high: half(1), d, d2, a, b, join: c });
        }
        Ok(Op::Compare { f: test(comparison, ty, flags), d, d2, a, b, join: c })
    }

    /// `set.lt.u32.f32`: all ones or 1.0 instead of a predicate.
    fn set(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let (comparison, join) = Self::compared(form)?;
        let (to, ty, flags) = (form.ty()?, form.ty()?, form.flags());
        if ty.lanes() == 2 {
            return Err(form.error("the emulator does not run packed `set`"));
        }
        let (d, a, b, join) = match (form.ins.operands.as_slice(), join) {
            ([d, a, b], None) => (d, a, b, None),
            ([d, a, b, c], Some(join)) => (d, a, b, Some((join, self.pred(c)?))),
            _ => return Err(form.error("has the wrong number of operands")),
        };
        let (d, a, b) = (self.dest(d)?, self.source(a, ty)?, self.source(b, ty)?);
        let p = self.fresh_pred();
        let guard = self.guard(form)?;
        self.push(Op::Compare { f: test(comparison, ty, flags), d: p, d2: None, a, b, join }, guard);
        let yes = match to {
            Type::F32 => u64::from(1f32.to_bits()),
            Type::F16 => 0x3c00,
            Type::BF16 => 0x3f80,
            _ => to.mask(),
        };
        let (yes, no) = (self.bits(yes), self.bits(0));
        Ok(Op::Select { d, a: yes, b: no, p: Guard { pred: p, negated: false } })
    }

    fn selp(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let ty = form.ty()?;
        let [d, a, b, p] = form.operands()?;
        let (a, b, p) = (self.source(a, ty)?, self.source(b, ty)?, self.pred(p)?);
        Ok(Op::Select { d: self.dest(d)?, a, b, p })
    }

    /// `slct`: the first operand where the third is not negative.
    fn slct(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let flags = form.flags();
        let (ty, by) = (form.ty()?, form.ty()?);
        let [d, a, b, c] = form.operands()?;
        let (a, b, c) = (self.source(a, ty)?, self.source(b, ty)?, self.source(c, by)?);
        let (p, zero) = (self.fresh_pred(), self.bits(0));
        let guard = self.guard(form)?;
        let f = test(Comparison::Ge, by, flags);
        self.push(Op::Compare { f, d: p, d2: None, a: c, b: zero, join: None }, guard);
        Ok(Op::Select { d: self.dest(d)?, a, b, p: Guard { pred: p, negated: false } })
    }

    /// The guard of an instruction.
    pub(super) fn guard(&mut self, form: &Form<'_, 'a>) -> Result<Option<Guard>> {
        let Some(guard) = form.ins.guard else { return Ok(None) };
        let p = self.pred(&Operand::Name { name: guard.register, offset: 0 })?;
        debug_assert_ne!(p.pred, TRUE);
        Ok(Some(Guard { negated: guard.negated, ..p }))
    }
}

/// The test of all lanes. The usual ones are compiled on their own.
fn test(comparison: Comparison, ty: Type, flags: Flags) -> Test2 {
    use Comparison::*;
    match (comparison, ty) {
        (Eq, Type::B32 | Type::U32 | Type::S32) => lift_test(|a, b| a as u32 == b as u32),
        (Ne, Type::B32 | Type::U32 | Type::S32) => lift_test(|a, b| a as u32 != b as u32),
        (Lt, Type::S32) => lift_test(|a, b| (a as i32) < b as i32),
        (Gt, Type::S32) => lift_test(|a, b| a as i32 > b as i32),
        (Lt, Type::U32) => lift_test(|a, b| (a as u32) < b as u32),
        (Gt, Type::U32) => lift_test(|a, b| a as u32 > b as u32),
        (Lt, Type::S64) => lift_test(|a, b| (a as i64) < b as i64),
        (Lt | Gt, Type::F32) if !flags.ftz => {
            let single = |x: u64| f32::from_bits(x as u32);
            if comparison == Lt {
                lift_test(move |a, b| single(a) < single(b))
            } else {
                lift_test(move |a, b| single(a) > single(b))
            }
        }
        _ => lift_test(move |a, b| num::compare(comparison, ty, a, b, flags)),
    }
}
