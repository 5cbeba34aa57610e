//! Pointers that a loop makes from a base of its own and offsets that it does not change.
//!
//! In a loop over heads, the elements of a tile lie at `x + head * stride + offset`. The head's part changes, the
//! offsets do not, so LLVM extends them to 64 bits in front of the loop: two registers for each, and 64 of them are half
//! of all registers. From the offset of 32 bits the pointer is one instruction too, `mad.wide`, and the offset often
//! comes from few numbers.
//!
//! # Algorithm
//!
//! 1. A block that branches to itself is a loop. Its pointers that count are `getelementptr`s from a base that the
//!    block makes, with an index that extends a number of 32 bits from another block. Or it is the other way around: the
//!    base comes from another block and has the offset, `x + offset`, and the block makes the index. Then the block
//!    makes `x + index` once, and the offset comes behind it.
//! 2. Those with the same base whose numbers come from the same block are a group. Groups of fewer than
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

use super::offset::{Offset, Way, is_step, offset, unit, value_operand, ways};
use super::{Base, LEAST, Rebase};
use crate::backend::nvidia::pointers::MOST_CARRIED;
use crate::backend::nvidia::users::{Id, id, operand, users};
use crate::ir::core::hash::{Map, Set};

/// A pointer that a loop makes.
pub(super) struct Made<'c> {
    pointer: InstructionValue<'c>,
    base: PointerValue<'c>,
    /// How another block makes the base, where it has the offset.
    way: Option<Way<'c>>,
    offset: Offset<'c>,
    number: Id,
    /// Where the number of the offset comes from.
    from: BasicBlock<'c>,
    key: Key,
}

/// What the pointers of a group have in common: the base without the offset, by its root and its steps, the index that
/// the loop makes, and where the numbers come from. A step is its index and the bytes of its unit.
type Key = (Id, Vec<(Id, u64)>, (Id, u64), Id);

/// The groups of pointers of each loop that makes many.
pub(super) fn loops<'c>(module: &Module<'c>, data: &TargetData) -> impl Iterator<Item = Vec<Vec<Made<'c>>>> {
    let blocks = module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
    blocks.filter(|block| is_loop(*block)).filter_map(move |block| {
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
    let mut places: Map<Key, usize> = Map::default();
    let mut groups: Vec<Vec<Made<'c>>> = vec![];
    for pointer in made {
        let place = *places.entry(pointer.key.clone()).or_insert(groups.len());
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

/// How far the pointers of a group are from their base.
fn offsets<'c>(group: &[Made<'c>]) -> Vec<Offset<'c>> {
    group.iter().map(|made| made.offset).collect()
}

impl<'c> Made<'c> {
    fn of(pointer: InstructionValue<'c>, block: BasicBlock<'c>, data: &TargetData) -> Option<Made<'c>> {
        if !is_step(pointer) || !pointer.get_type().is_pointer_type() {
            return None;
        }
        let base = value_operand(pointer, 0)?.into_pointer_value();
        if base.as_instruction_value()?.get_parent() == Some(block) {
            let offset = offset(pointer, data)?;
            let (number, from) = Made::number(offset, block)?;
            let key = (id(&base), vec![], (0, 0), from.as_mut_ptr() as Id);
            return Some(Made { pointer, base, way: None, offset, number, from, key });
        }
        let index = operand(pointer, 1)?;
        index.as_instruction_value().filter(|i| i.get_parent() == Some(block))?;
        let ways = ways(base, data).into_iter();
        let (way, (number, from)) = ways.filter_map(|way| Made::number(way.offset, block).map(|n| (way, n))).next()?;
        let step = |step: &InstructionValue<'c>| Some((id(&value_operand(*step, 1)?), unit(*step, data)));
        let others = way.others.iter().map(step).collect::<Option<_>>()?;
        let key = (id(&way.root), others, (id(&index), unit(pointer, data)), from.as_mut_ptr() as Id);
        Some(Made { pointer, base, offset: way.offset, way: Some(way), number, from, key })
    }

    /// The number of an offset, and the block other than the loop that it comes from. What dominates a loop of one
    /// block from another block does not change in it.
    fn number(offset: Offset<'c>, block: BasicBlock<'c>) -> Option<(Id, BasicBlock<'c>)> {
        let Offset::Number { number, .. } = offset else { return None };
        Some((id(&number), number.as_instruction_value()?.get_parent().filter(|from| *from != block)?))
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
        let Some(first) = group.first() else { return Ok(()) };
        let Some(end) = first.from.get_terminator() else { return Ok(()) };
        self.builder.position_before(&end);
        let added = self.added(&offsets(group))?;
        let base = Base { pointer: self.base_of(first), makes_offsets: added.as_ref() };
        for made in group {
            self.builder.position_before(&made.place());
            let pointer = self.pointer(base, made.offset)?;
            if let Some(new) = pointer.as_instruction_value() {
                made.pointer.replace_all_uses_with(&new);
                made.pointer.erase_from_basic_block();
            }
        }
        Ok(())
    }

    /// The base of a group without an offset, as its first pointer has it.
    fn base_of(&self, first: &Made<'c>) -> PointerValue<'c> {
        let (Some(way), Some(outside)) = (&first.way, first.base.as_instruction_value()) else { return first.base };
        self.builder.position_before(&outside);
        let start = self.start(way);
        self.builder.position_before(&first.pointer);
        self.moved(first.pointer, start)
    }
}
