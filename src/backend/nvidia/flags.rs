//! Flags that a loop carries are numbers.
//!
//! A thread has seven predicate registers. Where a loop carries the flags of 32 elements of a tile, as `any` and `all`
//! over a row do, ptxas keeps them in the bits of one register, and takes five instructions to change a bit. They
//! depend on one another, and loads wait for predicates. A register for each flag takes one or two instructions and no
//! predicate.
//!
//! # Algorithm
//!
//! Very many become bits of words ([`words`]). In each block with at least [`LEAST`] other phis of flags (`i1`):
//!
//! 1. Each gets a phi of 0 or 1 beside it, and its users get the test `number != 0`.
//! 2. What comes in from a block is made a number at its end: a flag of step 1 is its number, `x & flag` is
//!    `select x, number, 0`, `x | flag` is `select x, 1, number`, and anything else `select x, 1, 0`.
//!
//! # Example
//!
//! ```text
//! before:                                    after:
//! loop:                                      loop:
//!   %all = phi i1 [true, …], [%next, %loop]    %n = phi i32 [1, …], [%m, %loop]
//!   …                                          …
//!   %next = and i1 %x, %all                    %m = select i1 %x, i32 %n, i32 0
//! ```

mod words;

use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::types::{AnyTypeEnum, IntType};
use inkwell::values::{BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, IntValue, PhiValue};

use super::users::{Id, id};
use crate::ir::core::hash::Map;

/// The fewest flags of a block that become numbers: one more than there are predicate registers.
const LEAST: usize = 8;

/// Gives the loops of every function numbers in place of flags.
///
/// # Errors
/// Fails if LLVM refuses an instruction.
pub(crate) fn widen(module: &Module<'_>) -> Result<(), BuilderError> {
    words::pack(module)?;
    module.get_functions().try_for_each(|function| widen_function(module, function))
}

fn widen_function<'c>(module: &Module<'c>, function: FunctionValue<'c>) -> Result<(), BuilderError> {
    let context = module.get_context();
    let mut widener =
        Widener { builder: context.create_builder(), number: context.i32_type(), numbers: Map::default() };
    let mut pairs = vec![];
    for block in function.get_basic_block_iter() {
        let flags: Vec<PhiValue<'c>> = block.get_instructions().map_while(|i| PhiValue::try_from(i).ok()).collect();
        let flags: Vec<PhiValue<'c>> = flags.into_iter().filter(|phi| is_flag(phi.as_instruction())).collect();
        if flags.len() >= LEAST {
            let Some(after) = block.get_instructions().find(|i| i.get_opcode() != InstructionOpcode::Phi) else {
                continue;
            };
            for flag in flags {
                pairs.push((flag, widener.add(flag, after)?));
            }
        }
    }
    for (flag, number) in &pairs {
        widener.fill(*flag, *number)?;
    }
    for (flag, _) in pairs {
        flag.as_instruction().erase_from_basic_block();
    }
    Ok(())
}

fn is_flag(i: InstructionValue<'_>) -> bool {
    matches!(i.get_type(), AnyTypeEnum::IntType(ty) if ty.get_bit_width() == 1)
}

struct Widener<'c> {
    builder: Builder<'c>,
    number: IntType<'c>,
    /// The numbers of flags, by their tests.
    numbers: Map<Id, IntValue<'c>>,
}

impl<'c> Widener<'c> {
    /// Step 1: the number of a flag, without what comes in yet. `after` is the first instruction behind the phis.
    fn add(&mut self, flag: PhiValue<'c>, after: InstructionValue<'c>) -> Result<PhiValue<'c>, BuilderError> {
        self.builder.position_before(&flag.as_instruction());
        let phi = self.builder.build_phi(self.number, "")?;
        let number = phi.as_basic_value().into_int_value();
        self.builder.position_before(&after);
        let zero = self.number.const_zero();
        let test = self.builder.build_int_compare(inkwell::IntPredicate::NE, number, zero, "")?;
        flag.as_basic_value().into_int_value().replace_all_uses_with(test);
        self.numbers.insert(id(&test), number);
        Ok(phi)
    }

    /// Step 2.
    fn fill(&self, flag: PhiValue<'c>, number: PhiValue<'c>) -> Result<(), BuilderError> {
        // A block that branches here in two ways comes in twice, with the same value.
        let mut known: Map<Id, IntValue<'c>> = Map::default();
        for (value, block) in flag.get_incomings() {
            let Some(end) = block.get_terminator() else { continue };
            self.builder.position_before(&end);
            let value = match known.get(&(block.as_mut_ptr() as Id)) {
                Some(&value) => value,
                None => self.number_of(value.into_int_value())?,
            };
            known.insert(block.as_mut_ptr() as Id, value);
            number.add_incoming(&[(&value, block)]);
        }
        Ok(())
    }

    fn number_of(&self, flag: IntValue<'c>) -> Result<IntValue<'c>, BuilderError> {
        let [zero, one] = [0, 1].map(|n| self.number.const_int(n, false));
        if let Some(&number) = self.numbers.get(&id(&flag)) {
            return Ok(number);
        }
        if let Some(known) = flag.get_zero_extended_constant() {
            return Ok(if known == 0 { zero } else { one });
        }
        let (condition, on, off) = match self.combined(flag) {
            Some((InstructionOpcode::And, other, number)) => (other, number, zero),
            Some((_, other, number)) => (other, one, number),
            None => (flag, one, zero),
        };
        Ok(self.builder.build_select(condition, on, off, "")?.into_int_value())
    }

    /// Whether a value is a flag with a number, combined with another one by `and` or `or`: how, the other one, the
    /// number.
    fn combined(&self, value: IntValue<'c>) -> Option<(InstructionOpcode, IntValue<'c>, IntValue<'c>)> {
        let made = value.as_instruction()?;
        let how = made.get_opcode();
        if !matches!(how, InstructionOpcode::And | InstructionOpcode::Or) {
            return None;
        }
        let operand = |k| made.get_operand(k)?.value().map(BasicValueEnum::into_int_value);
        let (a, b) = (operand(0)?, operand(1)?);
        let number = |v: IntValue<'c>| self.numbers.get(&id(&v)).copied();
        number(a).map(|n| (how, b, n)).or_else(|| number(b).map(|n| (how, a, n)))
    }
}
