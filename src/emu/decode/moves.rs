//! Moves and conversions of registers ("PTX ISA, mov", "cvt", "cvta", "isspacep", "mapa", "getctarank").

use super::context::Cx;
use super::error::Result;
use super::form::Form;
use super::integer::low;
use super::op::{Op, Space, lift1, lift2};
use crate::emu::num::{self, Flags, Rounding, Type};
use crate::emu::ptx::syntax::Operand;

impl<'a> Cx<'_, 'a> {
    /// The instructions of this file. `None` if the opcode is of another family.
    pub(super) fn moves(&mut self, form: &Form<'_, 'a>) -> Result<Option<Op>> {
        Ok(Some(match form.ins.opcode {
            "mov" => self.mov(form)?,
            "cvt" => self.cvt(form)?,
            "cvta" => {
                let to = form.has("to");
                let space = form.need("a state space", plain_space)?;
                let ty = form.ty()?;
                let [d, a] = form.operands()?;
                Op::Cvta { a: self.source(a, ty)?, d: self.dest(d)?, space, to }
            }
            "isspacep" => {
                let space = form.need("a state space", plain_space)?;
                let [d, a] = form.operands()?;
                Op::IsSpace { a: self.source(a, Type::U64)?, d: self.dest_pred(d)?, space }
            }
            "mapa" => {
                let generic = !form.has("shared::cluster");
                let ty = form.ty()?;
                let [d, a, rank] = form.operands()?;
                let (a, rank) = (self.source(a, ty)?, self.source(rank, Type::U32)?);
                Op::Mapa { d: self.dest(d)?, a, rank, generic }
            }
            "getctarank" => {
                let generic = !form.has("shared::cluster");
                let ty = form.ty()?;
                let [d, a] = form.operands()?;
                Op::GetRank { a: self.source(a, ty)?, d: self.dest(d)?, generic }
            }
            _ => return Ok(None),
        }))
    }

    fn mov(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let ty = form.ty()?;
        let [d, a] = form.operands()?;
        if ty == Type::Pred {
            let a = self.pred(a)?;
            return Ok(Op::PredLogic { f: |a, _| a, d: self.dest_pred(d)?, a, b: a });
        }
        match (d, a) {
            (Operand::Vector(parts), a) => {
                let bits = ty.bits() / parts.len().max(1) as u32;
                let a = self.source(a, ty)?;
                let to = parts.iter().map(|p| self.dest(p)).collect::<Result<_>>()?;
                Ok(Op::Unpack { to, a, bits })
            }
            (d, Operand::Vector(parts)) => {
                let bits = ty.bits() / parts.len().max(1) as u32;
                let part = match bits {
                    8 => Type::B8,
                    16 => Type::B16,
                    32 => Type::B32,
                    _ => return Err(form.error("a register has no parts of this size")),
                };
                let from = parts.iter().map(|p| self.source(p, part)).collect::<Result<_>>()?;
                Ok(Op::Pack { d: self.dest(d)?, from, bits })
            }
            (d, a) => Ok(Op::Move { a: self.source(a, ty)?, d: self.dest(d)? }),
        }
    }

    fn cvt(&mut self, form: &Form<'_, 'a>) -> Result<Op> {
        let rounding = form.rounding();
        let types = form.types();
        let [to, from] = types[..] else { return Err(form.error("takes two types")) };
        let flags = form.flags();
        if rounding.is_none() && needs_rounding(to, from) {
            return Err(form.error("the rounding is missing"));
        }
        let rounding = rounding.unwrap_or_default();
        // Two sources make one packed result.
        if to.lanes() == 2 && from.lanes() == 1 && form.ins.operands.len() == 3 {
            let f = lift2(move |a, b| num::convert_pair(a, b, from, to, rounding, flags));
            return self.binary(form, [from; 2], f);
        }
        let [d, a] = form.operands()?;
        let a = self.source(a, from)?;
        let (d, width) = self.dest_typed(d)?;
        let plain = rounding == Rounding::Nearest && flags == Flags::default();
        let f = match (from, to) {
            (Type::U32, Type::U64) => lift1(|a| a & 0xffff_ffff),
            (Type::S32, Type::S64) => lift1(|a| i64::from(a as i32) as u64),
            (Type::U64, Type::U32) if !flags.sat => lift1(|a| a & 0xffff_ffff),
            (Type::U16, Type::U32) => lift1(|a| a & 0xffff),
            (Type::U32, Type::U16) if !flags.sat => lift1(|a| a & 0xffff),
            (Type::F16, Type::F32) if plain => {
                lift1(|a| num::convert(a, Type::F16, Type::F32, Rounding::Nearest, Flags::default()))
            }
            (Type::F32, Type::F16) if plain => {
                lift1(|a| num::convert(a, Type::F32, Type::F16, Rounding::Nearest, Flags::default()))
            }
            // A result register that is wider than the type holds the sign or zeros above it.
            _ if to.bits() < width => {
                lift1(move |a| to.extend(num::convert(a, from, to, rounding, flags)) & low(width))
            }
            _ => lift1(move |a| num::convert(a, from, to, rounding, flags)),
        };
        Ok(Op::Unary { f, d, a })
    }
}

/// Whether a conversion must say how it rounds.
fn needs_rounding(to: Type, from: Type) -> bool {
    match (to.float().is_some(), from.float().is_some()) {
        (false, false) => false,
        (true, true) => to.element().bits() < from.element().bits(),
        _ => true,
    }
}

/// A state space by its modifier.
pub(super) fn plain_space(name: &str) -> Option<Space> {
    Some(match name {
        "global" => Space::Global,
        "shared" | "shared::cta" => Space::Shared,
        "shared::cluster" => Space::Cluster,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" | "param::entry" => Space::KernelParam,
        _ => return None,
    })
}
