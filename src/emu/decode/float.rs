//! Float arithmetic ("PTX ISA, Floating-Point Instructions", "Half Precision Floating-Point Instructions").
//!
//! The usual forms (f32, to nearest, without modifiers) have closures whose modifiers are constants, so that the
//! compiler makes a loop of machine instructions of each. The others carry their modifiers.

use super::context::Cx;
use super::error::Result;
use super::form::Form;
use super::op::{Op, lift1, lift2, lift3};
use crate::emu::num::approx::{self, Function, approximate as approximate_of};
use crate::emu::num::{self, Flags, Rounding, Type};

/// The flags of an instruction without modifiers.
const PLAIN: Flags = Flags { ftz: false, sat: false, satfinite: false, relu: false, nan: false, xorsign_abs: false };

impl<'a> Cx<'_, 'a> {
    /// The instructions of this file. `None` if the opcode is of another family.
    pub(super) fn float(&mut self, form: &Form<'_, 'a>) -> Result<Option<Op>> {
        let op = match form.ins.opcode {
            "fma" => {
                let ty = form.ty()?;
                self.float_fma(form, ty)?
            }
            "div" => self.float_div(form)?,
            "abs" | "neg" => {
                let (ty, flags) = (form.ty()?, form.flags());
                let f = if form.ins.opcode == "abs" {
                    lift1(move |a| num::abs(ty, a, flags))
                } else {
                    lift1(move |a| num::neg(ty, a, flags))
                };
                self.unary(form, ty, f)?
            }
            "min" | "max" => self.float_extreme(form)?,
            "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => self.float_function(form)?,
            "copysign" => {
                let ty = form.ty()?;
                self.binary(form, [ty; 2], lift2(move |a, b| num::copysign(ty, a, b)))?
            }
            _ => return Ok(None),
        };
        Ok(Some(op))
    }

    pub(super) fn float_sum(&mut self, form: &Form<'_, 'a>, ty: Type, minus: bool) -> Result<Op> {
        let (rounding, flags) = (form.rounding().unwrap_or_default(), form.flags());
        let plain = (rounding, flags) == (Rounding::Nearest, PLAIN);
        let f = match (ty, minus, plain) {
            (Type::F32, false, true) => lift2(|a, b| num::add(Type::F32, a, b, Rounding::Nearest, PLAIN)),
            (Type::F32, true, true) => lift2(|a, b| num::sub(Type::F32, a, b, Rounding::Nearest, PLAIN)),
            (_, false, _) => lift2(move |a, b| num::add(ty, a, b, rounding, flags)),
            (_, true, _) => lift2(move |a, b| num::sub(ty, a, b, rounding, flags)),
        };
        self.binary(form, [ty; 2], f)
    }

    pub(super) fn float_product(&mut self, form: &Form<'_, 'a>, ty: Type, mad: bool) -> Result<Op> {
        if mad {
            return self.float_fma(form, ty);
        }
        let (rounding, flags) = (form.rounding().unwrap_or_default(), form.flags());
        let f = match (ty, (rounding, flags) == (Rounding::Nearest, PLAIN)) {
            (Type::F32, true) => lift2(|a, b| num::mul(Type::F32, a, b, Rounding::Nearest, PLAIN)),
            _ => lift2(move |a, b| num::mul(ty, a, b, rounding, flags)),
        };
        self.binary(form, [ty; 2], f)
    }

    fn float_fma(&mut self, form: &Form<'_, 'a>, ty: Type) -> Result<Op> {
        let rounding = form.rounding().ok_or_else(|| form.error("the rounding is missing"))?;
        let flags = form.flags();
        let f = match (ty, (rounding, flags) == (Rounding::Nearest, PLAIN)) {
            (Type::F32, true) => lift3(|a, b, c| num::fma(Type::F32, a, b, c, Rounding::Nearest, PLAIN)),
            _ => lift3(move |a, b, c| num::fma(ty, a, b, c, rounding, flags)),
        };
        self.ternary(form, [ty; 3], f)
    }

    fn float_div(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let (approximate, full) = (form.has("approx"), form.has("full"));
        let rounding = form.rounding();
        let (ty, flags) = (form.ty()?, form.flags());
        if (approximate || full) && ty != Type::F32 {
            return Err(form.unknown());
        }
        let f = match rounding {
            _ if approximate => lift2(move |a, b| approx::div_approx(a, b, flags)),
            _ if full => lift2(move |a, b| approx::div_full(a, b, flags)),
            Some(rounding) => lift2(move |a, b| num::div(ty, a, b, rounding, flags)),
            None => return Err(form.error("`.approx`, `.full` or a rounding is missing")),
        };
        self.binary(form, [ty; 2], f)
    }

    fn float_extreme(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let (ty, flags) = (form.ty()?, form.flags());
        let max = form.ins.opcode == "max";
        if form.ins.operands.len() == 4 {
            let f = if max {
                lift3(move |a, b, c| num::max(ty, num::max(ty, a, b, flags), c, flags))
            } else {
                lift3(move |a, b, c| num::min(ty, num::min(ty, a, b, flags), c, flags))
            };
            return self.ternary(form, [ty; 3], f);
        }
        let f = match (max, ty, flags == PLAIN) {
            (true, Type::F32, true) => lift2(|a, b| num::max(Type::F32, a, b, PLAIN)),
            (false, Type::F32, true) => lift2(|a, b| num::min(Type::F32, a, b, PLAIN)),
            (true, _, _) => lift2(move |a, b| num::max(ty, a, b, flags)),
            (false, _, _) => lift2(move |a, b| num::min(ty, a, b, flags)),
        };
        self.binary(form, [ty; 2], f)
    }

    fn float_function(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let name = form.ins.opcode;
        let approximate = form.has("approx");
        let rounding = form.rounding();
        let (ty, flags) = (form.ty()?, form.flags());
        let f = match (name, rounding) {
            ("rcp", Some(r)) => lift1(move |a| num::rcp(ty, a, r, flags)),
            ("sqrt", Some(r)) => lift1(move |a| num::sqrt(ty, a, r, flags)),
            _ => {
                let Some(function) = Function::parse(name).filter(|_| approximate && rounding.is_none()) else {
                    return Err(form.error("`.approx` is missing"));
                };
                lift1(move |a| approximate_of(function, ty, a, flags))
            }
        };
        self.unary(form, ty, f)
    }
}
