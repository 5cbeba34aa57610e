//! What the decoder of a function knows: its names, the slots that it has given out, and the code so far.

use std::collections::BTreeMap;

use super::error::{DecodeError, Result};
use super::form::Form;
use super::op::{Address, Op, Space};
use super::program::{Constant, Function, Guard, NOWHERE, Place, Pred, Reg, Step};
use super::scope::{Register, Scopes, Storage};
use super::special;
use crate::emu::num::Type;
use crate::emu::num::types::mask;
use crate::emu::ptx::syntax::{Operand, Position};

/// The names of the module.
#[derive(Default)]
pub(super) struct Names<'a> {
    /// Addresses of `.global` and `.const` variables.
    pub(super) globals: BTreeMap<&'a str, u64>,
    pub(super) shared: BTreeMap<&'a str, u32>,
    pub(super) functions: BTreeMap<&'a str, usize>,
}

pub(super) struct Cx<'m, 'a> {
    pub(super) names: &'m Names<'a>,
    pub(super) scopes: Scopes<'a>,
    pub(super) function: Function,
    /// Whether the function is a kernel.
    pub(super) entry: bool,
    /// The index of the step that each label stands before.
    pub(super) labels: Vec<u32>,
    constants: BTreeMap<Constant, Reg>,
    sink: Option<Reg>,
    pub(super) place: Place,
    /// Whether any instruction lets blocks observe each other.
    pub(super) communicates: bool,
    /// Whether scopes narrower than the GPU are named.
    pub(super) narrow_scopes: bool,
    /// The bytes of the narrowest access to memory.
    pub(super) narrowest: u32,
}

/// The predicate that is always true.
pub(super) const TRUE: Pred = Pred(0);

impl<'m, 'a> Cx<'m, 'a> {
    pub(super) fn new(names: &'m Names<'a>, entry: bool) -> Cx<'m, 'a> {
        let function = Function { predicates: 1, ..Function::default() };
        Cx {
            names,
            scopes: Scopes::default(),
            function,
            entry,
            labels: vec![],
            constants: BTreeMap::new(),
            sink: None,
            place: Place::default(),
            communicates: false,
            narrow_scopes: false,
            narrowest: 4,
        }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> DecodeError {
        DecodeError::new(self.place.at, message)
    }

    pub(super) fn push(&mut self, op: Op, guard: Option<Guard>) {
        self.function.code.push(Step { op, guard, touches_products: false });
        self.function.places.push(self.place);
    }

    pub(super) fn new_label(&mut self) -> u32 {
        self.labels.push(NOWHERE);
        self.labels.len() as u32 - 1
    }

    pub(super) fn fresh(&mut self) -> Reg {
        self.function.registers += 1;
        Reg(self.function.registers - 1)
    }

    pub(super) fn fresh_pred(&mut self) -> Pred {
        self.function.predicates += 1;
        Pred(self.function.predicates - 1)
    }

    /// The slot of a constant.
    pub(super) fn constant(&mut self, value: Constant) -> Reg {
        if let Some(slot) = self.constants.get(&value) {
            return *slot;
        }
        let slot = self.fresh();
        self.constants.insert(value, slot);
        self.function.constants.push((slot, value));
        slot
    }

    pub(super) fn bits(&mut self, value: u64) -> Reg {
        self.constant(Constant::Bits(value))
    }

    /// The slot for results that nobody reads.
    fn sink(&mut self) -> Reg {
        if let Some(slot) = self.sink {
            return slot;
        }
        let slot = self.fresh();
        self.sink = Some(slot);
        slot
    }

    fn unknown_name(&self, name: &str) -> DecodeError {
        self.error(format!("nothing is called `{name}` here"))
    }

    /// A source operand of a type.
    pub(super) fn source(&mut self, operand: &Operand<'a>, ty: Type) -> Result<Reg> {
        let width = ty.bits().min(64);
        match operand {
            Operand::Name { name, offset } => self.named(name, *offset),
            Operand::Integer(v) if matches!(ty, Type::F32) => Ok(self.bits(*v as u64 & mask(32))),
            Operand::Integer(v) => Ok(self.bits(*v as u64 & mask(width))),
            Operand::Single(v) if ty == Type::F64 => Ok(self.bits(f64::from(f32::from_bits(*v)).to_bits())),
            Operand::Single(v) => Ok(self.bits(u64::from(*v))),
            Operand::Double(v) if ty == Type::F32 => Ok(self.bits(u64::from((f64::from_bits(*v) as f32).to_bits()))),
            Operand::Double(v) => Ok(self.bits(*v)),
            Operand::Real(v) if ty == Type::F64 => Ok(self.bits(v.to_bits())),
            Operand::Real(v) if ty == Type::F32 => Ok(self.bits(u64::from((*v as f32).to_bits()))),
            _ => Err(self.error(format!("this operand is no value of type {}", ty.name()))),
        }
    }

    /// A name as a value: a register, a special register, or the address of a variable or a function.
    fn named(&mut self, name: &str, offset: i64) -> Result<Reg> {
        if offset == 0 {
            match self.scopes.register(name) {
                Some(Register::Value(slot, _)) => return Ok(slot),
                Some(Register::Pred(_)) => return Err(self.error(format!("`{name}` is a predicate, not a value"))),
                None => {}
            }
            if let Some(what) = special::parse(name) {
                let d = self.fresh();
                self.push(Op::Special { d, what }, None);
                return Ok(d);
            }
            if name == "WARP_SZ" {
                return Ok(self.bits(32));
            }
        }
        let (address, _) = self.symbol(name).ok_or_else(|| self.unknown_name(name))?;
        Ok(self.constant(moved(address, offset)))
    }

    /// The address of a variable, and the space that it is in.
    fn symbol(&self, name: &str) -> Option<(Constant, Space)> {
        if let Some(variable) = self.scopes.variable(name) {
            return Some(match variable.storage {
                Storage::KernelParam(at) => (Constant::Bits(u64::from(at)), Space::KernelParam),
                Storage::CallParam(at) => (Constant::Bits(u64::from(at)), Space::CallParam),
                Storage::Local(at) => (Constant::Local(at), Space::Local),
            });
        }
        if let Some(&at) = self.names.shared.get(name) {
            return Some((Constant::Shared(at), Space::Shared));
        }
        self.names.globals.get(name).map(|&at| (Constant::Bits(at), Space::Global))
    }

    /// A register that takes a result.
    pub(super) fn dest(&mut self, operand: &Operand<'a>) -> Result<Reg> {
        Ok(self.dest_typed(operand)?.0)
    }

    /// A register that takes a result, and its bits.
    pub(super) fn dest_typed(&mut self, operand: &Operand<'a>) -> Result<(Reg, u32)> {
        match operand {
            Operand::Sink => Ok((self.sink(), 64)),
            Operand::Name { name, offset: 0 } => match self.scopes.register(name) {
                Some(Register::Value(slot, ty)) => Ok((slot, ty.bits())),
                Some(Register::Pred(_)) => Err(self.error(format!("`{name}` is a predicate, not a register"))),
                None => Err(self.unknown_name(name)),
            },
            _ => Err(self.error("the result is no register")),
        }
    }

    /// A predicate that takes a result.
    pub(super) fn dest_pred(&mut self, operand: &Operand<'a>) -> Result<Pred> {
        match operand {
            Operand::Sink => Ok(self.fresh_pred()),
            Operand::Name { name, offset: 0 } => match self.scopes.register(name) {
                Some(Register::Pred(slot)) => Ok(slot),
                Some(Register::Value(..)) => Err(self.error(format!("`{name}` is no predicate"))),
                None => Err(self.unknown_name(name)),
            },
            _ => Err(self.error("the result is no predicate")),
        }
    }

    /// Whether an operand is a predicate register.
    pub(super) fn is_pred(&self, operand: &Operand<'a>) -> bool {
        let (Operand::Name { name, offset: 0 } | Operand::Not(name)) = operand else { return false };
        matches!(self.scopes.register(name), Some(Register::Pred(_)))
    }

    /// A predicate that is read: `%p`, `!%p`, or a constant.
    pub(super) fn pred(&mut self, operand: &Operand<'a>) -> Result<Guard> {
        match operand {
            Operand::Name { offset: 0, .. } => Ok(Guard { pred: self.dest_pred(operand)?, negated: false }),
            Operand::Not(name) => {
                let positive = Operand::Name { name, offset: 0 };
                Ok(Guard { pred: self.dest_pred(&positive)?, negated: true })
            }
            Operand::Integer(v) => Ok(Guard { pred: TRUE, negated: *v == 0 }),
            _ => Err(self.error("the operand is no predicate")),
        }
    }

    /// The bits of a register operand; 64 for anything else.
    pub(super) fn width(&self, operand: &Operand<'a>) -> u32 {
        match operand {
            Operand::Name { name, .. } => match self.scopes.register(name) {
                Some(Register::Value(_, ty)) => ty.bits(),
                _ => 64,
            },
            _ => 64,
        }
    }

    /// The elements of `{a, b}`, or one operand.
    pub(super) fn elements<'o>(operand: &'o Operand<'a>) -> &'o [Operand<'a>] {
        match operand {
            Operand::Vector(all) => all,
            one => std::slice::from_ref(one),
        }
    }

    /// `[base + offset]`, and the space of its variable if it names one.
    pub(super) fn address(&mut self, form: &Form<'_, 'a>, operand: &Operand<'a>) -> Result<(Address, Option<Space>)> {
        let Operand::Address { base, offset, rest } = operand else {
            return Err(form.error("expected an address in brackets"));
        };
        if !rest.is_empty() {
            return Err(form.error("the address has coordinates"));
        }
        self.address_of(base, *offset)
    }

    /// The address of a base and a distance.
    pub(super) fn address_of(&mut self, base: &Operand<'a>, offset: i64) -> Result<(Address, Option<Space>)> {
        let wide = self.width(base) == 64;
        match base {
            Operand::Name { name, .. } if self.scopes.register(name).is_none() => {
                let (at, space) = self.symbol(name).ok_or_else(|| self.unknown_name(name))?;
                let base = self.constant(moved(at, offset));
                Ok((Address { base, offset: 0, wide: true }, Some(space)))
            }
            Operand::Integer(v) => {
                let base = self.bits(v.wrapping_add(offset) as u64);
                Ok((Address { base, offset: 0, wide: true }, None))
            }
            _ => Ok((Address { base: self.source(base, Type::U64)?, offset, wide }, None)),
        }
    }

    /// The index of a label, to be turned into an index of a step at the end.
    pub(super) fn label(&self, operand: &Operand<'a>) -> Result<u32> {
        match operand {
            Operand::Name { name, offset: 0 } => {
                self.scopes.label(name).ok_or_else(|| self.error(format!("there is no label `{name}`")))
            }
            _ => Err(self.error("expected a label")),
        }
    }
}

/// An address that lies further on.
fn moved(address: Constant, offset: i64) -> Constant {
    match address {
        Constant::Bits(v) => Constant::Bits(v.wrapping_add(offset as u64)),
        Constant::Shared(v) => Constant::Shared(v.wrapping_add(offset as u32)),
        Constant::Local(v) => Constant::Local(v.wrapping_add(offset as u32)),
    }
}

/// A position, for errors in declarations.
pub(super) fn at(position: Position) -> Place {
    Place { at: position, source: None }
}
