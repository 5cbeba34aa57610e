//! The modifiers of an instruction, of which none may be left over.
//!
//! A family asks for the modifiers that it knows. [`Form::finish`] refuses the instruction if there is one that nobody
//! asked for, so that an unknown form never runs as a known one.

use std::cell::Cell;

use super::error::{DecodeError, Result, spelled};
use crate::emu::num::{Flags, Rounding, Type};
use crate::emu::ptx::syntax::{Instruction, Operand};

pub(super) struct Form<'i, 'a> {
    pub(super) ins: &'i Instruction<'a>,
    /// A bit for each modifier that somebody asked for.
    used: Cell<u64>,
}

/// The type of this name, if registers can hold it: they have 64 bits.
fn type_of_registers(name: &str) -> Option<Type> {
    Type::parse(name).filter(|ty| ty.bits() <= 64)
}

impl<'i, 'a> Form<'i, 'a> {
    pub(super) fn new(ins: &'i Instruction<'a>) -> Form<'i, 'a> {
        Form { ins, used: Cell::new(0) }
    }

    fn mark(&self, index: usize) {
        self.used.set(self.used.get() | 1 << (index as u32 % 64));
    }

    fn is_used(&self, index: usize) -> bool {
        self.used.get() >> (index as u32 % 64) & 1 == 1
    }

    /// Whether there is this modifier.
    pub(super) fn has(&self, name: &str) -> bool {
        let found = self.ins.modifiers.iter().position(|m| *m == name);
        found.inspect(|&i| self.mark(i)).is_some()
    }

    /// The first modifier, not asked for yet, that `read` knows.
    pub(super) fn find<T>(&self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (index, value) = (self.ins.modifiers.iter().enumerate())
            .filter(|(i, _)| !self.is_used(*i))
            .find_map(|(i, m)| Some((i, read(m)?)))?;
        self.mark(index);
        Some(value)
    }

    /// As [`Form::find`], where the instruction needs one.
    pub(super) fn need<T>(&self, what: &str, read: impl Fn(&str) -> Option<T>) -> Result<T> {
        self.find(read).ok_or_else(|| self.error(format!("{what} is missing")))
    }

    /// The next type.
    pub(super) fn ty(&self) -> Result<Type> {
        self.need("a type of at most 64 bits", type_of_registers)
    }

    /// The type of what is in memory.
    pub(super) fn type_in_memory(&self) -> Result<Type> {
        let ty = self.ty()?;
        if ty.bits() < 8 { Err(self.error("takes no type of less than a byte")) } else { Ok(ty) }
    }

    /// All types, in order.
    pub(super) fn types(&self) -> Vec<Type> {
        std::iter::from_fn(|| self.find(type_of_registers)).collect()
    }

    pub(super) fn rounding(&self) -> Option<Rounding> {
        self.find(Rounding::parse)
    }

    /// The flags of arithmetic.
    pub(super) fn flags(&self) -> Flags {
        let xorsign_abs = self.has("xorsign");
        if xorsign_abs {
            self.has("abs");
        }
        Flags {
            ftz: self.has("ftz"),
            sat: self.has("sat"),
            satfinite: self.has("satfinite"),
            relu: self.has("relu"),
            nan: self.has("NaN"),
            xorsign_abs,
        }
    }

    /// Refuses modifiers that nobody asked for.
    pub(super) fn finish(&self) -> Result<()> {
        match (0..self.ins.modifiers.len()).find(|&i| i >= 64 || !self.is_used(i)) {
            None => Ok(()),
            Some(i) => Err(self.error(format!("the emulator does not know `.{}` here", self.ins.modifiers[i]))),
        }
    }

    /// An error that names the instruction.
    pub(super) fn error(&self, why: impl AsRef<str>) -> DecodeError {
        DecodeError::new(self.ins.at, format!("`{}`: {}", spelled(self.ins), why.as_ref()))
    }

    pub(super) fn unknown(&self) -> DecodeError {
        self.error("the emulator does not run this instruction")
    }

    /// The operands, if there are so many.
    pub(super) fn operands<const N: usize>(&self) -> Result<[&'i Operand<'a>; N]> {
        let all: Vec<_> = self.ins.operands.iter().collect();
        let count = all.len();
        all.try_into().map_err(|_| self.error(format!("takes {N} operands, and there are {count}")))
    }
}
