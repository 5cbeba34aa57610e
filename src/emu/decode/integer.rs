//! Integer arithmetic and bits ("PTX ISA, Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic
//! Instructions", "Logic and Shift Instructions", and `prmt`).
//!
//! Additions and the like of every type come here first; floats go on to `float.rs`.

use super::context::Cx;
use super::error::Result;
use super::form::Form;
use super::op::{Op, Scalar4, WithCarry, lift1, lift2, lift3};
use crate::emu::num::bits::{self, Amount, Permute};
use crate::emu::num::integer;
use crate::emu::num::types::mask;
use crate::emu::num::{self, Flags, Type};

/// Whether elements of a type are floats.
pub(super) fn is_float(ty: Type) -> bool {
    ty.float().is_some()
}

impl<'a> Cx<'_, 'a> {
    /// An operation with one operand.
    pub(super) fn unary(&mut self, form: &Form<'_, 'a>, ty: Type, f: super::op::Lane1) -> Result<Op> {
        let [d, a] = form.operands()?;
        Ok(Op::Unary { f, d: self.dest(d)?, a: self.source(a, ty)? })
    }

    /// An operation with two operands.
    pub(super) fn binary(&mut self, form: &Form<'_, 'a>, types: [Type; 2], f: super::op::Lane2) -> Result<Op> {
        let [d, a, b] = form.operands()?;
        Ok(Op::Binary { f, d: self.dest(d)?, a: self.source(a, types[0])?, b: self.source(b, types[1])? })
    }

    /// An operation with three operands.
    pub(super) fn ternary(&mut self, form: &Form<'_, 'a>, types: [Type; 3], f: super::op::Lane3) -> Result<Op> {
        let [d, a, b, c] = form.operands()?;
        let [x, y, z] = types;
        Ok(Op::Ternary { f, d: self.dest(d)?, a: self.source(a, x)?, b: self.source(b, y)?, c: self.source(c, z)? })
    }

    fn quaternary(&mut self, form: &Form<'_, 'a>, types: [Type; 4], f: Scalar4) -> Result<Op> {
        let [d, a, b, c, e] = form.operands()?;
        let [x, y, z, w] = types;
        let a = [self.source(a, x)?, self.source(b, y)?, self.source(c, z)?, self.source(e, w)?];
        Ok(Op::Quaternary { f, d: self.dest(d)?, a })
    }

    /// The instructions of this file. `None` if the opcode is of another family.
    pub(super) fn integer(&mut self, form: &Form<'_, 'a>) -> Result<Option<Op>> {
        let name = form.ins.opcode;
        let op = match name {
            "add" | "sub" | "addc" | "subc" => return self.sum(form, name).map(Some),
            "mul" | "mad" | "madc" => return self.product(form, name).map(Some),
            "mul24" | "mad24" => self.product24(form, name == "mad24")?,
            "div" | "rem" | "abs" | "neg" | "min" | "max" => return self.one_or_two(form, name),
            "sad" => {
                let ty = form.ty()?;
                self.ternary(form, [ty; 3], lift3(move |a, b, c| integer::sad(ty, a, b, c)))?
            }
            "and" | "or" | "xor" | "not" | "cnot" => self.logic(form, name)?,
            "shl" | "shr" | "shf" => self.shift(form, name)?,
            "bfe" | "bfi" | "bfind" | "brev" | "clz" | "popc" | "fns" | "szext" | "bmsk" => self.fields(form, name)?,
            "prmt" => {
                form.ty()?;
                let mode = form.find(Permute::parse).unwrap_or_default();
                self.ternary(form, [Type::B32; 3], lift3(move |a, b, c| bits::prmt(a, b, c, mode)))?
            }
            "lop3" => self.lop3(form)?,
            "dp4a" | "dp2a" => self.dot_products(form, name)?,
            _ => return Ok(None),
        };
        Ok(Some(op))
    }

    fn sum(&mut self, form: &Form<'_, 'a>, name: &str) -> Result<Op> {
        let minus = name.starts_with("sub");
        let (reads, writes) = (name.ends_with('c'), form.has("cc"));
        let ty = form.ty()?;
        if reads || writes {
            let f: WithCarry = if minus {
                Box::new(move |[a, b, _], carry| integer::sub_borrow(ty, a, b, carry && reads))
            } else {
                Box::new(move |[a, b, _], carry| integer::add_carry(ty, a, b, carry && reads))
            };
            let [d, a, b] = form.operands()?;
            let a = [self.source(a, ty)?, self.source(b, ty)?, self.bits(0)];
            return Ok(Op::Carry { f, d: self.dest(d)?, a, reads, writes });
        }
        if is_float(ty) {
            return self.float_sum(form, ty, minus);
        }
        let flags = form.flags();
        let f = match (ty.bits(), minus, flags == Flags::default() && ty.lanes() == 1) {
            (32, false, true) => lift2(|a, b| u64::from((a as u32).wrapping_add(b as u32))),
            (32, true, true) => lift2(|a, b| u64::from((a as u32).wrapping_sub(b as u32))),
            (64, false, true) => lift2(u64::wrapping_add),
            (64, true, true) => lift2(u64::wrapping_sub),
            (_, false, _) => lift2(move |a, b| num::add(ty, a, b, num::Rounding::Nearest, flags)),
            (_, true, _) => lift2(move |a, b| num::sub(ty, a, b, num::Rounding::Nearest, flags)),
        };
        self.binary(form, [ty; 2], f)
    }

    fn product(&mut self, form: &Form<'_, 'a>, name: &str) -> Result<Op> {
        let part = form.find(|m| matches!(m, "lo" | "hi" | "wide").then(|| m.chars().next()).flatten());
        let (reads, writes) = (name == "madc", form.has("cc"));
        let ty = form.ty()?;
        if is_float(ty) {
            return self.float_product(form, ty, name == "mad");
        }
        let Some(part) = part else { return Err(form.error("`.lo`, `.hi` or `.wide` is missing")) };
        let wide = twice(ty);
        if reads || writes {
            let high = part == 'h';
            let f: WithCarry = Box::new(move |abc, carry| integer::mad_carry(ty, high, abc, carry && reads));
            let [d, a, b, c] = form.operands()?;
            let a = [self.source(a, ty)?, self.source(b, ty)?, self.source(c, ty)?];
            return Ok(Op::Carry { f, d: self.dest(d)?, a, reads, writes });
        }
        let flags = form.flags();
        let ty32 = ty.bits() == 32;
        if name == "mul" {
            let f = match part {
                'l' if ty32 => lift2(|a, b| u64::from((a as u32).wrapping_mul(b as u32))),
                'l' => lift2(move |a, b| integer::mul_lo(ty, a, b)),
                'h' => lift2(move |a, b| integer::mul_hi(ty, a, b)),
                _ if ty == Type::S32 => lift2(|a, b| i64::from(a as i32).wrapping_mul(i64::from(b as i32)) as u64),
                _ if ty == Type::U32 => lift2(|a, b| u64::from(a as u32) * u64::from(b as u32)),
                _ => lift2(move |a, b| integer::mul_wide(ty, a, b)),
            };
            return self.binary(form, [ty; 2], f);
        }
        let f = match part {
            'l' if ty32 => lift3(|a, b, c| u64::from((a as u32).wrapping_mul(b as u32).wrapping_add(c as u32))),
            'l' => lift3(move |a, b, c| integer::mad_lo(ty, a, b, c)),
            'h' => lift3(move |a, b, c| integer::mad_hi(ty, a, b, c, flags)),
            _ if ty == Type::S32 => {
                lift3(|a, b, c| (i64::from(a as i32).wrapping_mul(i64::from(b as i32)) as u64).wrapping_add(c))
            }
            _ => lift3(move |a, b, c| integer::mad_wide(ty, a, b, c)),
        };
        let third = if part == 'w' { wide } else { ty };
        self.ternary(form, [ty, ty, third], f)
    }

    fn product24(&mut self, form: &Form<'_, 'a>, mad: bool) -> Result<Op> {
        let high = form.need("`.lo` or `.hi`", |m| match m {
            "hi" => Some(true),
            "lo" => Some(false),
            _ => None,
        })?;
        let (ty, flags) = (form.ty()?, form.flags());
        match (mad, high) {
            (false, false) => self.binary(form, [ty; 2], lift2(move |a, b| integer::mul24_lo(ty, a, b))),
            (false, true) => self.binary(form, [ty; 2], lift2(move |a, b| integer::mul24_hi(ty, a, b))),
            (true, false) => self.ternary(form, [ty; 3], lift3(move |a, b, c| integer::mad24_lo(ty, a, b, c))),
            (true, true) => self.ternary(form, [ty; 3], lift3(move |a, b, c| integer::mad24_hi(ty, a, b, c, flags))),
        }
    }

    fn one_or_two(&mut self, form: &Form<'_, 'a>, name: &str) -> Result<Option<Op>> {
        // `div.approx.f32` names no rounding, and its modifier is no type.
        let float = form.ins.modifiers.last().and_then(|m| Type::parse(m)).is_some_and(is_float);
        if float {
            return Ok(None);
        }
        let (ty, flags) = (form.ty()?, form.flags());
        Ok(Some(match name {
            "div" => self.binary(form, [ty; 2], lift2(move |a, b| integer::div(ty, a, b)))?,
            "rem" => self.binary(form, [ty; 2], lift2(move |a, b| integer::rem(ty, a, b)))?,
            "abs" => self.unary(form, ty, lift1(move |a| num::abs(ty, a, Flags::default())))?,
            "neg" => self.unary(form, ty, lift1(move |a| num::neg(ty, a, Flags::default())))?,
            "min" => self.binary(form, [ty; 2], lift2(move |a, b| num::min(ty, a, b, flags)))?,
            _ => self.binary(form, [ty; 2], lift2(move |a, b| num::max(ty, a, b, flags)))?,
        }))
    }

    fn logic(&mut self, form: &Form<'_, 'a>, name: &str) -> Result<Op> {
        let ty = form.ty()?;
        if ty == Type::Pred {
            return self.pred_logic(form, name);
        }
        let all = ty.mask();
        match name {
            "and" => self.binary(form, [ty; 2], lift2(|a, b| a & b)),
            "or" => self.binary(form, [ty; 2], lift2(move |a, b| (a | b) & all)),
            "xor" => self.binary(form, [ty; 2], lift2(move |a, b| (a ^ b) & all)),
            "not" => self.unary(form, ty, lift1(move |a| !a & all)),
            _ => self.unary(form, ty, lift1(move |a| u64::from(a & all == 0))),
        }
    }

    fn pred_logic(&mut self, form: &Form<'_, 'a>, name: &str) -> Result<Op> {
        if name == "not" {
            let [d, a] = form.operands()?;
            let a = self.pred(a)?;
            return Ok(Op::PredLogic { f: |a, _| !a, d: self.dest_pred(d)?, a, b: a });
        }
        let f: fn(u32, u32) -> u32 = match name {
            "and" => |a, b| a & b,
            "or" => |a, b| a | b,
            "xor" => |a, b| a ^ b,
            _ => return Err(form.unknown()),
        };
        let [d, a, b] = form.operands()?;
        let (a, b) = (self.pred(a)?, self.pred(b)?);
        Ok(Op::PredLogic { f, d: self.dest_pred(d)?, a, b })
    }

    fn shift(&mut self, form: &Form<'_, 'a>, name: &str) -> Result<Op> {
        if name == "shf" {
            let left = form.has("l");
            if !left && !form.has("r") {
                return Err(form.error("`.l` or `.r` is missing"));
            }
            let mode = form.need("`.clamp` or `.wrap`", amount)?;
            form.ty()?;
            let f = if left {
                lift3(move |a, b, c| bits::shf_left(a, b, c, mode))
            } else {
                lift3(move |a, b, c| bits::shf_right(a, b, c, mode))
            };
            return self.ternary(form, [Type::B32; 3], f);
        }
        let ty = form.ty()?;
        let f = match name {
            "shl" => lift2(move |a, b| bits::shl(ty, a, b)),
            _ => lift2(move |a, b| bits::shr(ty, a, b)),
        };
        self.binary(form, [ty, Type::U32], f)
    }

    fn fields(&mut self, form: &Form<'_, 'a>, name: &str) -> Result<Op> {
        let shift_amount = form.has("shiftamt");
        let mode = form.find(amount);
        let ty = form.ty()?;
        let n = Type::U32;
        let need_mode = || mode.ok_or_else(|| form.error("`.clamp` or `.wrap` is missing"));
        match name {
            "bfe" => self.ternary(form, [ty, n, n], lift3(move |a, b, c| bits::bfe(ty, a, b, c))),
            "bfi" => {
                let f: Scalar4 = Box::new(move |[a, b, c, d]| bits::bfi(ty, a, b, c, d));
                self.quaternary(form, [ty, ty, n, n], f)
            }
            "bfind" => self.unary(form, ty, lift1(move |a| bits::bfind(ty, a, shift_amount))),
            "brev" => self.unary(form, ty, lift1(move |a| bits::brev(ty, a))),
            "clz" => self.unary(form, ty, lift1(move |a| bits::clz(ty, a))),
            "popc" => self.unary(form, ty, lift1(move |a| bits::popc(ty, a))),
            "fns" => self.ternary(form, [n; 3], lift3(bits::fns)),
            "szext" => {
                let mode = need_mode()?;
                self.binary(form, [ty, n], lift2(move |a, b| bits::szext(ty, a, b, mode)))
            }
            _ => {
                let mode = need_mode()?;
                self.binary(form, [n; 2], lift2(move |a, b| bits::bmsk(a, b, mode)))
            }
        }
    }

    fn lop3(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        form.ty()?;
        let [d, a, b, c, table] = form.operands()?;
        let crate::emu::ptx::syntax::Operand::Integer(table) = table else {
            return Err(form.error("the table is no constant"));
        };
        let table = *table as u8;
        let f = lift3(move |a, b, c| bits::lop3(a, b, c, table));
        let (a, b, c) = (self.source(a, Type::B32)?, self.source(b, Type::B32)?, self.source(c, Type::B32)?);
        Ok(Op::Ternary { f, d: self.dest(d)?, a, b, c })
    }

    fn dot_products(&mut self, form: &Form<'_, 'a>, name: &str) -> Result<Op> {
        let (high, low) = (form.has("hi"), form.has("lo"));
        let (x, y) = (form.ty()?, form.ty()?);
        let f = match name {
            "dp4a" => lift3(move |a, b, c| integer::dp4a(x, y, a, b, c)),
            _ if high || low => lift3(move |a, b, c| integer::dp2a(x, y, high, [a, b, c])),
            _ => return Err(form.error("`.lo` or `.hi` is missing")),
        };
        self.ternary(form, [Type::B32; 3], f)
    }
}

fn amount(name: &str) -> Option<Amount> {
    match name {
        "clamp" => Some(Amount::Clamp),
        "wrap" => Some(Amount::Wrap),
        _ => None,
    }
}

/// The type of a product of two values of a type.
fn twice(ty: Type) -> Type {
    match (ty.bits(), ty.is_signed()) {
        (16, true) => Type::S32,
        (16, false) => Type::U32,
        (_, true) => Type::S64,
        (_, false) => Type::U64,
    }
}

/// The low bits of a value.
pub(super) fn low(bits: u32) -> u64 {
    mask(bits)
}
