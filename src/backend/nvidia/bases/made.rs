//! Pointers that a loop makes from a base of its own and offsets that it does not change.
//!
//! In a loop over heads, the elements of a tile lie at `x + head * stride + offset`. The head's part changes, the
//! offsets do not, so LLVM extends them to 64 bits in front of the loop: two registers for each, and 64 of them are
//! half of all registers. From the offset of 32 bits the pointer is one instruction too, `mad.wide`, and the offset
//! often comes from few numbers.
//!
//! # Algorithm
//!
//! 1. A block that branches to itself is a loop. Its pointers that count are `getelementptr`s from a base that the
//!    block makes, with an index that extends a number of 32 bits from another block.
//! 2. Those with the same base and unit whose numbers come from the same block are a group. Groups of fewer than
//!    [`LEAST`] stay, and so do all where the numbers of a loop are few ([`MOST_CARRIED`]).
//! 3. Each pointer of a group is made from its number, or from what its recipe says, right before its first use.
//!
//! # Example
//!
//! ```text
//! before:                                            after:
//!   %wide = sext i32 %offset to i64                    (nothing)
//! loop:                                              loop:
//!   %b = getelementptr half, %x, %head                 %b = getelementptr half, %x, %head
//!   %p = getelementptr half, %b, %wide                 %p = call … asm "mad.wide.s32" (%offset, %b)
//! ```

use inkwell::basic_block::BasicBlock;
use inkwell::builder::BuilderError;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::{BasicValue, FunctionValue, InstructionOpcode, InstructionValue, Operand, PointerValue};

use super::offset::{Offset, is_step, offset, value_operand};
use super::{Base, LEAST, Rebase};
use crate::backend::nvidia::pointers::MOST_CARRIED;
use crate::backend::nvidia::users::{Id, id, users};
use crate::ir::core::hash::{Map, Set};

/// A pointer that a loop makes.
pub(super) struct Made<'c> {
    pointer: InstructionValue<'c>,
    base: PointerValue<'c>,
    offset: Offset<'c>,
    number: Id,
    unit: u64,
    /// Where the number of the offset comes from.
    from: BasicBlock<'c>,
}

/// The groups of pointers of each loop that makes many.
pub(super) fn loops<'c>(module: &Module<'c>, data: &TargetData) -> impl Iterator<Item = Vec<Vec<Made<'c>>>> {
    let blocks = module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
    blocks.filter(|block| is_loop(*block)).filter_map(|block| {
        let made = block.get_instructions().filter_map(|i| Made::of(i, block, data));
        let groups = groups(made);
        let numbers: Set<Id> = groups.iter().flatten().map(|pointer| pointer.number).collect();
        (numbers.len() > MOST_CARRIED).then_some(groups)
    })
}

/// Whether a block branches to itself.
fn is_loop(block: BasicBlock<'_>) -> bool {
    let end = block.get_terminator().filter(|end| end.get_opcode() == InstructionOpcode::Br);
    end.is_some_and(|end| {
        (0..end.get_num_operands()).any(|k| matches!(end.get_operand(k), Some(Operand::Block(to)) if to == block))
    })
}

/// Pointers that one base serves, at least [`LEAST`], in the order of the first of each group.
fn groups<'c>(made: impl Iterator<Item = Made<'c>>) -> Vec<Vec<Made<'c>>> {
    let mut places: Map<(Id, u64, Id), usize> = Map::default();
    let mut groups: Vec<Vec<Made<'c>>> = vec![];
    for pointer in made {
        let key = (id(&pointer.base), pointer.unit, pointer.from.as_mut_ptr() as Id);
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(vec![]);
        }
        groups[place].push(pointer);
    }
    // What another pointer is made from stays.
    let bases: Set<Id> = groups.iter().flatten().map(|pointer| id(&pointer.base)).collect();
    groups.iter_mut().for_each(|group| group.retain(|pointer| !bases.contains(&id(&pointer.pointer))));
    groups.retain(|group| group.len() >= LEAST);
    groups
}

impl<'c> Made<'c> {
    fn of(pointer: InstructionValue<'c>, block: BasicBlock<'c>, data: &TargetData) -> Option<Made<'c>> {
        if !is_step(pointer) || !pointer.get_type().is_pointer_type() {
            return None;
        }
        let base = value_operand(pointer, 0)?.into_pointer_value();
        base.as_instruction_value().filter(|i| i.get_parent() == Some(block))?;
        let offset = offset(pointer, data)?;
        let Offset::Number { number, unit, .. } = offset else { return None };
        // What dominates a loop of one block from another block does not change in it.
        let from = number.as_instruction_value()?.get_parent().filter(|from| *from != block)?;
        Some(Made { pointer, base, offset, number: id(&number), unit, from })
    }

    /// Before what the pointer is made: its first user if all are in its block, or where it is made now.
    fn place(&self) -> InstructionValue<'c> {
        let block = self.pointer.get_parent();
        let all: Set<Id> = users(self.pointer).map(|user| id(&user)).collect();
        let is_here = |i: &InstructionValue<'c>| i.get_parent() == block && i.get_opcode() != InstructionOpcode::Phi;
        if !users(self.pointer).all(|user| is_here(&user)) {
            return self.pointer;
        }
        let mut behind = std::iter::successors(self.pointer.get_next_instruction(), |i| i.get_next_instruction());
        behind.find(|i| all.contains(&id(i))).unwrap_or(self.pointer)
    }
}

impl<'c> Rebase<'c> {
    /// Makes the pointers of a group from numbers of 32 bits.
    pub(super) fn remake(&self, group: &[Made<'c>]) -> Result<(), BuilderError> {
        let Some(end) = group.first().and_then(|first| first.from.get_terminator()) else { return Ok(()) };
        self.builder.position_before(&end);
        let added = self.added(&group.iter().map(|made| made.offset).collect::<Vec<_>>())?;
        for made in group {
            self.builder.position_before(&made.place());
            let base = Base { pointer: made.base, makes_offsets: added.as_ref() };
            let pointer = self.pointer(base, made.offset)?;
            if let Some(new) = pointer.as_instruction_value() {
                made.pointer.replace_all_uses_with(&new);
                made.pointer.erase_from_basic_block();
            }
        }
        Ok(())
    }
}
