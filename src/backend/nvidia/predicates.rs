//! Masks that live across blocks are kept in the bits of a register.
//!
//! A thread has seven predicate registers. A tile of 32 rows a thread has 32 masks of rows, which the kernel computes
//! before its loop and uses in it. ptxas has no good answer to that: it keeps the 32 indices alive and compares again,
//! or it lets a load wait for the last use of the one before, because both need the same predicate. One register holds
//! all 32 masks, and `R2P` brings seven of them back with one instruction.
//!
//! # Algorithm
//!
//! 1. The masks (`i1`) that a block computes and others use are collected. If there are at least [`LEAST`], or
//!    [`LEAST_COMBINED`] for step 2, the block packs them at its end, 32 to a word.
//! 2. Where another block combines several masks of a word with the same condition, the word is combined with it once:
//!    `select condition, word, 0`.
//! 3. Each user gets a test of its bit, right before it. Loads and stores test `word & bit != 0`, and everything else
//!    tests `~word & bit == 0`. It is the same, but ptxas does not see that, and so it does not keep a predicate from
//!    the load until its value is used.
//! 4. Branches keep the mask. Where all threads agree on it, ptxas knows; of a bit in a word of masks that differ it
//!    does not, and would compute the loop behind the branch without registers that all threads share.
//!
//! # Example
//!
//! ```text
//! before:                                    after:
//!   %row0 = icmp slt i32 %i0, %m               %bits = or i32 (select i1 %row0, i32 1, i32 0), …
//!   …                                          …
//! loop:                                      loop:
//!   %in0 = and i1 %row0, %col                  %word = select i1 %col, i32 %bits, i32 0
//!   %x0 = call … asm "@$1 ld…" (%in0)          %b0 = and i32 %word, 1
//!                                              %in0 = icmp ne i32 %b0, 0
//!                                              %x0 = call … asm "@$1 ld…" (%in0)
//! ```

use std::collections::{BTreeMap, BTreeSet};

use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::types::{AnyTypeEnum, IntType};
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue, IntValue, Operand};

use super::users::{Id, id, users};
use crate::ir::core::hash::Map;

/// The fewest masks of a block that are packed. ptxas keeps seven of eight where they are: rows of eight vectors lost
/// 10 % and more.
const LEAST: usize = 16;
/// The bits of a word.
const BITS: usize = 32;
/// The fewest masks of a word with the same condition for which the word is combined with it. So many are packed too:
/// without that, each is computed anew wherever it is used.
const LEAST_COMBINED: usize = 8;

/// Packs the masks of every function.
///
/// # Errors
/// Fails if LLVM refuses an instruction.
pub(crate) fn pack(module: &Module<'_>) -> Result<(), BuilderError> {
    module.get_functions().try_for_each(|function| pack_function(module, function))
}

fn pack_function<'c>(module: &Module<'c>, function: FunctionValue<'c>) -> Result<(), BuilderError> {
    let context = module.get_context();
    let packer = Packer { builder: context.create_builder(), word: context.i32_type() };
    for block in function.get_basic_block_iter() {
        let masks: Vec<InstructionValue<'c>> =
            block.get_instructions().filter(|&i| is_mask(i) && users_elsewhere(i, block).next().is_some()).collect();
        for masks in masks.chunks(BITS).filter(|masks| masks.len() >= LEAST_COMBINED) {
            packer.pack(block, masks)?;
        }
    }
    Ok(())
}

/// Whether an instruction computes a mask of one element.
fn is_mask(i: InstructionValue<'_>) -> bool {
    matches!(i.get_type(), AnyTypeEnum::IntType(ty) if ty.get_bit_width() == 1)
        && matches!(i.get_opcode(), InstructionOpcode::ICmp | InstructionOpcode::And | InstructionOpcode::Or)
}

/// The instructions outside of a block that use a value as a mask: no branches, and no phis, since what they use lives
/// at the end of the block before.
fn users_elsewhere<'c>(i: InstructionValue<'c>, block: BasicBlock<'c>) -> impl Iterator<Item = InstructionValue<'c>> {
    users(i).filter(move |u| u.get_parent() != Some(block) && may_test(*u))
}

/// Whether an instruction may get a test of a bit in place of a mask.
fn may_test(user: InstructionValue<'_>) -> bool {
    !matches!(user.get_opcode(), InstructionOpcode::Phi | InstructionOpcode::Br)
}

/// A mask of a word that other blocks use: its bit, and the user.
#[derive(Clone, Copy)]
struct Use<'c> {
    bit: usize,
    mask: InstructionValue<'c>,
    user: InstructionValue<'c>,
}

struct Packer<'c> {
    builder: Builder<'c>,
    word: IntType<'c>,
}

impl<'c> Packer<'c> {
    /// Packs the masks, at most [`BITS`], at the end of their block, and gives their users elsewhere tests, if that
    /// is worth it.
    fn pack(&self, block: BasicBlock<'c>, masks: &[InstructionValue<'c>]) -> Result<(), BuilderError> {
        let Some(end) = block.get_terminator() else { return Ok(()) };
        let mut groups: BTreeMap<usize, Vec<Use<'c>>> = BTreeMap::new();
        let mut order: Map<(Id, Id), usize> = Map::default();
        for (bit, &mask) in masks.iter().enumerate() {
            let mut seen: Vec<InstructionValue<'c>> = vec![];
            for user in users_elsewhere(mask, block) {
                if seen.contains(&user) {
                    continue;
                }
                seen.push(user);
                let one = Use { bit, mask, user };
                let key = user.get_parent().zip(other_operand(one)).map(|(b, c)| (b.as_mut_ptr() as Id, id(&c)));
                let next = order.len() + 1;
                let group = key.map_or(0, |key| *order.entry(key).or_insert(next));
                groups.entry(group).or_default().push(one);
            }
        }
        let is_combined = |group: usize, members: &[Use<'c>]| group != 0 && members.len() >= LEAST_COMBINED;
        if masks.len() < LEAST && !groups.iter().any(|(&group, members)| is_combined(group, members)) {
            return Ok(());
        }
        self.builder.position_before(&end);
        let word = self.word_of(masks)?;
        for (group, members) in groups {
            if is_combined(group, &members) {
                self.combine(word, &members)?;
            } else {
                members.iter().try_for_each(|m| self.test_at(word, m.bit, m.mask, m.user))?;
            }
        }
        Ok(())
    }

    /// The masks as bits of a word.
    fn word_of(&self, masks: &[InstructionValue<'c>]) -> Result<IntValue<'c>, BuilderError> {
        let mut word = self.word.const_zero();
        for (bit, &mask) in masks.iter().enumerate() {
            let mask = IntValue::try_from(mask).expect("a mask is an integer of one bit");
            let [on, off] = [1 << bit, 0].map(|v| self.word.const_int(v, false));
            let bit = self.builder.build_select(mask, on, off, "")?.into_int_value();
            word = self.builder.build_or(word, bit, "")?;
        }
        Ok(word)
    }

    /// Combines the word with the condition that all members have in common, in place of the members' users.
    fn combine(&self, word: IntValue<'c>, members: &[Use<'c>]) -> Result<(), BuilderError> {
        let Some(condition) = members.first().and_then(|&m| other_operand(m)) else { return Ok(()) };
        let combining: BTreeSet<Id> = members.iter().map(|m| id(&m.user)).collect();
        let block = members.first().and_then(|m| m.user.get_parent());
        let Some(first) = block.and_then(|b| b.get_instructions().find(|i| combining.contains(&id(i)))) else {
            return Ok(());
        };
        self.builder.position_before(&first);
        let zero = self.word.const_zero();
        let combined = self.builder.build_select(condition, word, zero, "")?.into_int_value();
        for member in members {
            for to in users(member.user).collect::<Vec<_>>() {
                self.test_at(combined, member.bit, member.user, to)?;
            }
        }
        Ok(())
    }

    /// Gives `user` a test of the bit in place of `mask`, unless it keeps that.
    fn test_at(
        &self,
        word: IntValue<'c>,
        bit: usize,
        mask: InstructionValue<'c>,
        user: InstructionValue<'c>,
    ) -> Result<(), BuilderError> {
        if !may_test(user) {
            return Ok(());
        }
        self.builder.position_before(&user);
        let is_access = user.get_opcode() == InstructionOpcode::Call;
        let test = self.test(word, bit, is_access)?;
        for operand in 0..user.get_num_operands() {
            let is_mask = user.get_operand(operand).and_then(Operand::value).is_some_and(|v| id(&v) == id(&mask));
            if is_mask {
                user.set_operand(operand, test);
            }
        }
        Ok(())
    }

    /// Whether a bit is set. In words of LLVM's IR the back end would make a shift of it, which ptxas does not join to
    /// an `R2P`.
    fn test(&self, word: IntValue<'c>, bit: usize, is_access: bool) -> Result<IntValue<'c>, BuilderError> {
        let context = word.get_type().get_context();
        let mask = format!("{:#x}", 1u32 << bit);
        let asm = if is_access {
            format!("{{ .reg .b32 t; and.b32 t, $1, {mask}; setp.ne.b32 $0, t, 0; }}")
        } else {
            format!("{{ .reg .b32 t; not.b32 t, $1; and.b32 t, t, {mask}; setp.eq.b32 $0, t, 0; }}")
        };
        let ty = context.bool_type().fn_type(&[self.word.into()], false);
        let asm = context.create_inline_asm(ty, asm, "=b,r".to_owned(), false, false, None, false);
        let test = self.builder.build_indirect_call(ty, asm, &[word.into()], "")?;
        Ok(test.try_as_basic_value().unwrap_basic().into_int_value())
    }
}

/// What a user that is an `and` of two conditions combines the mask with.
fn other_operand(one: Use<'_>) -> Option<IntValue<'_>> {
    if one.user.get_opcode() != InstructionOpcode::And {
        return None;
    }
    let operands: Vec<_> = (0..2).filter_map(|k| one.user.get_operand(k)?.value()).collect();
    let [a, b] = operands[..] else { return None };
    let other = if id(&a) == id(&one.mask) { b } else { a };
    (id(&other) != id(&one.mask)).then(|| other.into_int_value())
}
