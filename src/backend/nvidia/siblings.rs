//! Loops carry one of several pointers that stay a constant apart.
//!
//! A thread that loads several rows of a tile whose rows have a constant distance has a pointer for each, and
//! `ptrs += step` moves all of them on: two registers and two instructions each. Loads take a constant behind an
//! address for nothing, so one of the pointers is enough.
//!
//! LLVM's loop strength reduction would do this, but it takes recurrences apart as well, and so
//! [`super::pointers`] hides them from it.
//!
//! # Algorithm
//!
//! 1. The pointers that a loop carries are found: phis of two values, of which one is the phi behind one step or more.
//! 2. Where a pointer starts is taken apart: constants, numbers that are extended or not, and the pointer behind them
//!    ([`Start`]). Those that differ in the constants alone, and that take the same steps in the same block, are
//!    siblings.
//! 3. The sibling with the least constant stays. Others are that one and the difference, in this iteration and behind
//!    each step.
//!
//! # Example
//!
//! ```text
//! before:                                               after:
//!   %a = or disjoint i32 %row, 2
//!   %s0 = getelementptr half, %x, (zext %row)             %s0 = getelementptr half, %x, (zext %row)
//!   %s1 = getelementptr half, %x, (zext %a)
//! loop:                                                 loop:
//!   %p0 = phi [ %s0, … ], [ %n0, %loop ]                  %p0 = phi [ %s0, … ], [ %n0, %loop ]
//!   %p1 = phi [ %s1, … ], [ %n1, %loop ]                  %p1 = getelementptr i8, %p0, 4
//!   …                                                     …
//!   %n0 = getelementptr half, %p0, %step                  %n0 = getelementptr half, %p0, %step
//!   %n1 = getelementptr half, %p1, %step
//! ```

use inkwell::builder::{Builder, BuilderError};
use inkwell::llvm_sys::core::{LLVMGEPSetNoWrapFlags, LLVMGetNSW, LLVMGetNUW};
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::{
    AsValueRef, BasicValue, FunctionValue, InstructionOpcode, InstructionValue, IntValue, PhiValue, PointerValue,
};

use super::assembly::Assembly;
use super::bases::offset::{is_step, unit, value_operand};
use super::strides::sums::{Sums, Terms};
use super::users::{Id, id, is_disjoint_or, operand, users};
use crate::ir::core::hash::Map;

/// The most steps of a pointer in an iteration, and of a start to what it is taken apart into.
const MOST_STEPS: usize = 8;

/// The accesses of a pointer that are looked at.
const MOST_ACCESSES: usize = 64;

/// The largest difference: an address takes a constant of 24 bits with a sign.
const FURTHEST: i64 = 1 << 23;

/// Lets loops carry one of the pointers that stay a constant apart.
///
/// # Errors
/// Fails if LLVM refuses an instruction.
pub(crate) fn carry_one(module: &Module<'_>, data: &TargetData) -> Result<(), BuilderError> {
    let builder = module.get_context().create_builder();
    for block in module.get_functions().flat_map(FunctionValue::get_basic_block_iter) {
        let mut sums = Sums::default();
        let phis = block.get_instructions().take_while(|i| i.get_opcode() == InstructionOpcode::Phi);
        let carried =
            phis.filter_map(|i| PhiValue::try_from(i).ok()).filter_map(|phi| Carried::of(phi, &mut sums, data));
        let mut families: Vec<Vec<Carried<'_>>> = vec![];
        let mut places: Map<Key, usize> = Map::default();
        for pointer in carried {
            let place = *places.entry(pointer.key()).or_insert(families.len());
            if place == families.len() {
                families.push(vec![]);
            }
            families[place].push(pointer);
        }
        for family in families.iter_mut().filter(|family| family.len() > 1 && are_alike(family)) {
            family.sort_by_key(|pointer| pointer.start.constant);
            let [first, others @ ..] = family.as_slice() else { continue };
            for other in others.iter().filter(|other| other.start.constant - first.start.constant < FURTHEST) {
                other.follow(first, &builder)?;
            }
        }
    }
    Ok(())
}

/// What is done at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Access {
    Load,
    Store,
    Other,
}

/// Whether a family only loads, or only stores. With one base for both, ptxas moves the loads of a tile that is changed
/// in place behind its first stores.
fn are_alike(family: &[Carried<'_>]) -> bool {
    let mut all = family.iter().flat_map(|pointer| accesses(pointer.phi.as_instruction()));
    let first = all.next();
    first.is_some_and(|first| first != Access::Other && all.all(|access| access == first))
}

/// What is done at the address that an instruction makes, and at those that are a distance from it.
fn accesses(pointer: InstructionValue<'_>) -> Vec<Access> {
    let (mut open, mut all) = (vec![pointer], vec![]);
    while let Some(pointer) = open.pop() {
        for user in users(pointer) {
            match user.get_opcode() {
                InstructionOpcode::Load => all.push(Access::Load),
                InstructionOpcode::Store => all.push(Access::Store),
                // The way to the next iteration.
                InstructionOpcode::Phi => {}
                InstructionOpcode::GetElementPtr if all.len() < MOST_ACCESSES => open.push(user),
                InstructionOpcode::Call => all.push(match Assembly::of(user) {
                    Some(assembly) if assembly.text.contains("ld.global") => Access::Load,
                    Some(assembly) if assembly.text.contains("st.global") => Access::Store,
                    _ => Access::Other,
                }),
                _ => all.push(Access::Other),
            }
        }
    }
    all
}

/// What siblings have in common: the pointer and the sum that they start from, and the index, the bytes of the unit and
/// the block of each step.
type Key = (Id, Terms, Vec<Extended>, Vec<(Id, u64, Id)>);

/// A number that is extended, and the bytes of its unit.
type Extended = (Id, Extension, u64);

/// How a number becomes one of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Extension {
    Signed,
    Unsigned,
}

/// A pointer taken apart: another one, sums of products and numbers that are extended, in bytes, and a constant.
struct Start<'c> {
    base: Id,
    terms: Terms,
    extended: Vec<Extended>,
    constant: i64,
    /// Each a `getelementptr` with one index.
    steps: Vec<InstructionValue<'c>>,
}

impl<'c> Start<'c> {
    fn of(pointer: PointerValue<'c>, sums: &mut Sums<'c>, data: &TargetData) -> Start<'c> {
        let mut start = Start { base: id(&pointer), terms: Terms::new(), extended: vec![], constant: 0, steps: vec![] };
        let mut at = pointer;
        for _ in 0..MOST_STEPS {
            let Some(step) = at.as_instruction_value().filter(|&i| is_step(i)) else { break };
            let Some((base, index)) = value_operand(step, 0).zip(operand(step, 1)) else { break };
            start.add(index, unit(step, data), sums);
            at = base.into_pointer_value();
            start.base = id(&at);
            start.steps.push(step);
        }
        start.terms.retain(|_, factor| *factor != 0);
        start
    }

    /// Takes an index of so many bytes apart.
    fn add(&mut self, index: IntValue<'c>, unit: u64, sums: &mut Sums<'c>) {
        let extension = index.as_instruction_value().and_then(|i| match i.get_opcode() {
            InstructionOpcode::SExt => Some((operand(i, 0)?, Extension::Signed)),
            InstructionOpcode::ZExt => Some((operand(i, 0)?, Extension::Unsigned)),
            _ => None,
        });
        let mut constant = 0_i64;
        if let Some((mut number, extension)) = extension {
            for _ in 0..MOST_STEPS {
                let Some((rest, plus)) = number.as_instruction_value().and_then(|i| sum(i, extension)) else { break };
                constant = constant.wrapping_add(plus);
                number = rest;
            }
            self.extended.push((id(&number), extension, unit));
        } else {
            for (factors, &factor) in &sums.of(index).terms {
                if factors.is_empty() {
                    constant = factor;
                } else {
                    let term = self.terms.entry(factors.clone()).or_default();
                    *term = term.wrapping_add(factor.wrapping_mul(unit as i64));
                }
            }
        }
        self.constant = self.constant.wrapping_add(constant.wrapping_mul(unit as i64));
    }
}

/// A sum of a number and a constant, if the number is extended to 64 bits in the same way as the sum.
fn sum(i: InstructionValue<'_>, extension: Extension) -> Option<(IntValue<'_>, i64)> {
    let is_sum = is_disjoint_or(i)
        || i.get_opcode() == InstructionOpcode::Add
            // SAFETY: the instruction is an addition.
            && unsafe {
                match extension {
                    Extension::Signed => LLVMGetNSW(i.as_value_ref()) != 0,
                    Extension::Unsigned => LLVMGetNUW(i.as_value_ref()) != 0,
                }
            };
    let (number, constant) = operand(i, 0).filter(|_| is_sum).zip(operand(i, 1))?;
    let value = match extension {
        Extension::Unsigned => constant.get_zero_extended_constant().and_then(|value| i64::try_from(value).ok()),
        Extension::Signed => constant.get_sign_extended_constant(),
    };
    Some((number, value?))
}

/// A pointer that a loop carries.
struct Carried<'c> {
    phi: PhiValue<'c>,
    /// What moves the pointer on in an iteration, each a `getelementptr` with one index.
    steps: Vec<InstructionValue<'c>>,
    taken: Vec<(Id, u64, Id)>,
    start: Start<'c>,
}

impl<'c> Carried<'c> {
    fn of(phi: PhiValue<'c>, sums: &mut Sums<'c>, data: &TargetData) -> Option<Carried<'c>> {
        if phi.count_incoming() != 2 || !phi.as_basic_value().is_pointer_value() {
            return None;
        }
        let (back, steps) = (0..2).find_map(|back| Some((back, steps(phi, back)?)))?;
        let taken = |&step: &InstructionValue<'c>| {
            Some((id(&value_operand(step, 1)?), unit(step, data), step.get_parent()?.as_mut_ptr() as Id))
        };
        let taken = steps.iter().map(taken).collect::<Option<_>>()?;
        let start = Start::of(phi.get_incoming(1 - back)?.0.into_pointer_value(), sums, data);
        Some(Carried { phi, steps, taken, start })
    }

    fn key(&self) -> Key {
        (self.start.base, self.start.terms.clone(), self.start.extended.clone(), self.taken.clone())
    }

    /// Takes back what is said of the pointer: it may be one whose row no mask lets through.
    fn promise_nothing(&self) {
        for &step in self.steps.iter().chain(&self.start.steps) {
            // SAFETY: the instruction is a `getelementptr`.
            unsafe { LLVMGEPSetNoWrapFlags(step.as_value_ref(), 0) };
        }
    }

    /// Makes the pointer from its sibling, and carries it no more.
    fn follow(&self, first: &Carried<'c>, builder: &Builder<'c>) -> Result<(), BuilderError> {
        let distance = self.start.constant - first.start.constant;
        let context = self.phi.as_basic_value().into_pointer_value().get_type().get_context();
        let (bytes, distance) = (context.i8_type(), context.i64_type().const_int(distance as u64, true));
        let apart = |from: PointerValue<'c>| {
            // SAFETY: the address is one that the loop would carry, and nothing is said of what lies between.
            unsafe { builder.build_gep(bytes, from, &[distance], "") }
        };
        let phi = self.phi.as_instruction();
        let Some(body) = phi.get_parent().and_then(|block| block.get_instructions().find(|i| !is_phi(*i))) else {
            return Ok(());
        };
        builder.position_before(&body);
        first.promise_nothing();
        let now = apart(first.phi.as_basic_value().into_pointer_value())?;
        // The step that stays stands where the earlier one of both does, and what it needs is there.
        let mut behind = vec![];
        for (&step, &of_first) in self.steps.iter().zip(&first.steps) {
            if comes_before(step, of_first) {
                of_first.remove_from_basic_block();
                builder.position_before(&step);
                builder.insert_instruction(&of_first, None);
            }
            builder.position_before(&step);
            // SAFETY: what a `getelementptr` with one index makes is a pointer.
            behind.push(apart(unsafe { PointerValue::new(of_first.as_value_ref()) })?);
        }
        for (&step, new) in self.steps.iter().zip(behind).rev() {
            step.replace_all_uses_with(&new.as_instruction_value().unwrap_or(step));
            step.erase_from_basic_block();
        }
        if let Some(now) = now.as_instruction_value() {
            phi.replace_all_uses_with(&now);
        }
        phi.erase_from_basic_block();
        Ok(())
    }
}

fn is_phi(i: InstructionValue<'_>) -> bool {
    i.get_opcode() == InstructionOpcode::Phi
}

/// What a phi goes through on its way to the next iteration, in order.
fn steps(phi: PhiValue<'_>, back: u32) -> Option<Vec<InstructionValue<'_>>> {
    let mut steps = vec![];
    let mut at = phi.get_incoming(back)?.0;
    while id(&at) != id(&phi) {
        let step = at.as_instruction_value().filter(|&i| steps.len() < MOST_STEPS && is_step(i))?;
        steps.push(step);
        at = value_operand(step, 0)?;
    }
    steps.reverse();
    (!steps.is_empty()).then_some(steps)
}

/// Whether the first of two instructions of a block comes before the second.
fn comes_before(first: InstructionValue<'_>, second: InstructionValue<'_>) -> bool {
    let mut behind = std::iter::successors(first.get_next_instruction(), |i| i.get_next_instruction());
    behind.any(|i| i == second)
}

#[cfg(test)]
mod tests;
