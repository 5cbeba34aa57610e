//! The names of a function: registers, variables and labels, in scopes.

use std::collections::BTreeMap;

use super::program::{Pred, Reg};
use crate::emu::num::Type;

/// What a name of a register stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    Value(Reg, Type),
    Pred(Pred),
}

/// Where a variable of a function lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// In the parameters of the kernel.
    KernelParam(u32),
    /// In the parameter space of the frame.
    CallParam(u32),
    Local(u32),
}

/// A variable with its bytes and alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) storage: Storage,
    pub(super) bytes: u32,
    pub(super) align: u32,
}

/// The names of one pair of braces.
#[derive(Default)]
struct Level<'a> {
    registers: BTreeMap<&'a str, Register>,
    /// `%r<5>`: the first slot, the count and the type.
    ranges: BTreeMap<&'a str, (u32, u32, Type)>,
    variables: BTreeMap<&'a str, Variable>,
    labels: BTreeMap<&'a str, u32>,
    tables: BTreeMap<&'a str, Vec<&'a str>>,
}

#[derive(Default)]
pub(super) struct Scopes<'a>(Vec<Level<'a>>);

impl<'a> Scopes<'a> {
    pub(super) fn open(&mut self) {
        self.0.push(Level::default());
    }

    pub(super) fn close(&mut self) {
        self.0.pop();
    }

    fn top(&mut self) -> &mut Level<'a> {
        if self.0.is_empty() {
            self.open();
        }
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    pub(super) fn add_register(&mut self, name: &'a str, register: Register) -> bool {
        self.top().registers.insert(name, register).is_none()
    }

    pub(super) fn add_range(&mut self, prefix: &'a str, first: u32, count: u32, ty: Type) -> bool {
        self.top().ranges.insert(prefix, (first, count, ty)).is_none()
    }

    pub(super) fn add_variable(&mut self, name: &'a str, variable: Variable) -> bool {
        self.top().variables.insert(name, variable).is_none()
    }

    pub(super) fn add_label(&mut self, name: &'a str, label: u32) -> bool {
        self.top().labels.insert(name, label).is_none()
    }

    pub(super) fn add_table(&mut self, name: &'a str, labels: Vec<&'a str>) {
        self.top().tables.insert(name, labels);
    }

    pub(super) fn register(&self, name: &str) -> Option<Register> {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (prefix, number) = name.split_at(name.len() - digits);
        // `%r01` is no name of a range.
        let index = if digits > 1 && number.starts_with('0') { None } else { number.parse::<u32>().ok() };
        self.0.iter().rev().find_map(|level| {
            if let Some(found) = level.registers.get(name) {
                return Some(*found);
            }
            let &(first, count, ty) = level.ranges.get(prefix)?;
            let slot = first + index.filter(|&i| i < count)?;
            Some(if ty == Type::Pred { Register::Pred(Pred(slot)) } else { Register::Value(Reg(slot), ty) })
        })
    }

    pub(super) fn variable(&self, name: &str) -> Option<Variable> {
        self.0.iter().rev().find_map(|l| l.variables.get(name).copied())
    }

    pub(super) fn label(&self, name: &str) -> Option<u32> {
        self.0.iter().rev().find_map(|l| l.labels.get(name).copied())
    }

    /// The labels of a `.branchtargets` table.
    pub(super) fn table(&self, name: &str) -> Option<&[&'a str]> {
        self.0.iter().rev().find_map(|l| l.tables.get(name).map(Vec::as_slice))
    }
}
