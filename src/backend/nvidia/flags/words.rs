//! Very many flags that a loop carries are bits of words.
//!
//! A register for each of 256 flags leaves none for what a loop loads.
//!
//! # Algorithm
//!
//! 1. In each block with at least [`LEAST`] phis of flags, every 32 of them are a *word*. A flag that comes in from
//!    another one, or from a combination with it, has the same bit of a word as that.
//! 2. A word comes in from a block as constants, or as another word some of whose flags are combined with other values
//!    by `and` or `or` in that block, each at its own place. Where it comes in otherwise, its flags stay what they are;
//!    and so do those of words that come from it.
//! 3. Each combination changes the word by a bit, right behind the value that it combines: `word & select x, -1, !bit`,
//!    and `word | select x, bit, 0`.
//! 4. Whatever else uses a flag gets the test of its bit.
//!
//! # Example
//!
//! ```text
//! before:                                    after:
//! loop:                                      loop:
//!   %all = phi i1 [true, …], [%next, %loop]    %w = phi i32 [-1, …], [%v, %loop]
//!   …                                          …
//!   %next = and i1 %x, %all                    %mask = select i1 %x, i32 -1, i32 -2
//!                                              %v = and i32 %w, %mask
//! ```

use std::collections::{BTreeMap, BTreeSet};

use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::module::Module;
use inkwell::types::IntType;
use inkwell::values::{
    BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, IntValue, Operand, PhiValue,
};

use super::super::users::{Id, id, operand, users};
use crate::ir::core::hash::{Map, Set};

/// The fewest flags of a block that become bits. Fewer leave registers enough to have one each.
const LEAST: usize = 64;

/// The flags of a word.
const BITS: usize = 32;

/// Packs the flags of every function's loops.
///
/// # Errors
/// Fails if LLVM refuses an instruction.
pub(super) fn pack(module: &Module<'_>) -> Result<(), BuilderError> {
    module.get_functions().try_for_each(|function| pack_function(module.get_context(), function))
}

fn pack_function<'c>(context: ContextRef<'c>, function: FunctionValue<'c>) -> Result<(), BuilderError> {
    let mut words = Words::of(function);
    if words.all.is_empty() {
        return Ok(());
    }
    let ways = words.ways();
    let builder = context.create_builder();
    Packer { builder, number: context.i32_type(), words: &words, ends: Map::default(), tests: Map::default() }
        .pack(&ways)
}

/// Up to 32 flags of one block, with their bits.
struct Word<'c> {
    flags: Vec<(usize, PhiValue<'c>)>,
}

/// How a word comes in from a block.
#[derive(Clone)]
struct Way<'c> {
    from: BasicBlock<'c>,
    start: Start,
    changes: Vec<Change<'c>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Constant(u64),
    /// As another word was, or the same.
    Word(usize),
}

/// A flag that is combined with another value.
#[derive(Clone)]
struct Change<'c> {
    bit: usize,
    made: InstructionValue<'c>,
    other: IntValue<'c>,
}

struct Words<'c> {
    all: Vec<Word<'c>>,
    /// The word and the bit of each flag.
    places: Map<Id, (usize, usize)>,
}

impl<'c> Words<'c> {
    /// Step 1.
    fn of(function: FunctionValue<'c>) -> Words<'c> {
        let mut words = Words { all: vec![], places: Map::default() };
        let flags_of = |block: BasicBlock<'c>| -> Vec<PhiValue<'c>> {
            let phis = block.get_instructions().map_while(|i| PhiValue::try_from(i).ok());
            phis.filter(|phi| super::is_flag(phi.as_instruction())).collect()
        };
        let blocks = function.get_basic_block_iter().map(flags_of).filter(|flags| flags.len() >= LEAST);
        let blocks: Vec<Vec<PhiValue<'c>>> = blocks.collect();
        let numbers = Numbers::of(&blocks);
        for flags in blocks {
            let mut own: BTreeMap<usize, Word<'c>> = BTreeMap::new();
            let mut seen = BTreeSet::new();
            for flag in flags {
                let number = numbers.of[&id(&flag)];
                // Of two that change places, one stays what it is.
                if seen.insert(number) {
                    own.entry(number / BITS)
                        .or_insert_with(|| Word { flags: vec![] })
                        .flags
                        .push((number % BITS, flag));
                }
            }
            for word in own.into_values() {
                for (bit, flag) in &word.flags {
                    words.places.insert(id(flag), (words.all.len(), *bit));
                }
                words.all.push(word);
            }
        }
        words
    }

    /// Step 2: the words that can be packed, each with its ways. The others are forgotten.
    fn ways(&mut self) -> Vec<(usize, Vec<Way<'c>>)> {
        let mut found: Vec<Option<Vec<Way<'c>>>> = self.all.iter().map(|word| self.ways_of(word)).collect();
        loop {
            // Where a block changes a word in two ways, the first one counts.
            let mut changed: Map<(Id, usize), BTreeSet<Id>> = Map::default();
            for ways in &mut found {
                let agrees = |way: &Way<'c>| match way.start {
                    Start::Constant(_) => true,
                    Start::Word(of) => {
                        let all: BTreeSet<Id> = way.changes.iter().map(|change| id(&change.made)).collect();
                        *changed.entry((way.from.as_mut_ptr() as Id, of)).or_insert_with(|| all.clone()) == all
                    }
                };
                if !ways.as_ref().is_none_or(|ways| ways.iter().all(agrees)) {
                    *ways = None;
                }
            }
            let is_known = |way: &Way<'c>| !matches!(way.start, Start::Word(of) if found[of].is_none());
            let lost: Vec<usize> = (0..found.len())
                .filter(|&index| found[index].as_ref().is_some_and(|ways| !ways.iter().all(is_known)))
                .collect();
            if lost.is_empty() {
                break;
            }
            lost.into_iter().for_each(|index| found[index] = None);
        }
        self.places.retain(|_, place| found[place.0].is_some());
        found.into_iter().enumerate().filter_map(|(index, ways)| Some((index, ways?))).collect()
    }

    fn ways_of(&self, word: &Word<'c>) -> Option<Vec<Way<'c>>> {
        let incomings: Vec<Vec<(BasicValueEnum<'c>, BasicBlock<'c>)>> =
            word.flags.iter().map(|(_, flag)| flag.get_incomings().collect()).collect();
        let first = incomings.first()?;
        // The flags of one block have the same blocks in the same order.
        let of = |n: usize| {
            let values = word.flags.iter().zip(&incomings).map(|((bit, _), all)| Some((*bit, *all.get(n)?)));
            self.way(first[n].1, &values.collect::<Option<Vec<_>>>()?)
        };
        (0..first.len()).map(of).collect()
    }

    /// How a word comes in from a block: the values of its bits, each with the block that it comes from.
    fn way(&self, from: BasicBlock<'c>, values: &[(usize, (BasicValueEnum<'c>, BasicBlock<'c>))]) -> Option<Way<'c>> {
        let (mut start, mut changes) = (None, vec![]);
        for &(bit, (value, block)) in values {
            let value = value.into_int_value();
            let known = value.get_zero_extended_constant();
            let change = if known.is_none() { self.change(value, bit, from) } else { None };
            let place = self.places.get(&id(&value)).copied();
            let own = match (known, &change, place) {
                (Some(known), _, _) => match start {
                    Some(Start::Constant(bits)) => Start::Constant(bits | known << bit),
                    None => Start::Constant(known << bit),
                    Some(Start::Word(_)) => return None,
                },
                (None, Some((word, _)), _) => Start::Word(*word),
                (None, None, Some((word, at))) if at == bit => Start::Word(word),
                _ => return None,
            };
            let agrees = matches!((start, own), (None, _) | (Some(Start::Constant(_)), Start::Constant(_)))
                || start == Some(own);
            if block != from || !agrees {
                return None;
            }
            start = Some(own);
            changes.extend(change.map(|(_, change)| change));
        }
        Some(Way { from, start: start?, changes })
    }

    /// The combination of a flag with this bit in a block, and the word of the flag. Nobody else in the block uses it.
    fn change(&self, value: IntValue<'c>, bit: usize, block: BasicBlock<'c>) -> Option<(usize, Change<'c>)> {
        let made = value.as_instruction().filter(|made| made.get_parent() == Some(block))?;
        if !matches!(made.get_opcode(), InstructionOpcode::And | InstructionOpcode::Or) {
            return None;
        }
        let is_phi = |user: &InstructionValue<'c>| user.get_opcode() == InstructionOpcode::Phi;
        if users(made).any(|user| user.get_parent() == Some(block) && !is_phi(&user)) {
            return None;
        }
        let (a, b) = (operand(made, 0)?, operand(made, 1)?);
        let word = |v: IntValue<'c>| self.places.get(&id(&v)).filter(|place| place.1 == bit).map(|place| place.0);
        let (word, other) = word(a).map(|word| (word, b)).or_else(|| word(b).map(|word| (word, a)))?;
        Some((word, Change { bit, made, other }))
    }
}

/// Flags that stand for the same element of a tile, each with the number of the element.
struct Numbers {
    of: Map<Id, usize>,
}

impl Numbers {
    fn of(blocks: &[Vec<PhiValue<'_>>]) -> Numbers {
        // The flags in order, and for each an earlier one that is the same, or itself.
        let flags: Vec<PhiValue<'_>> = blocks.iter().flatten().copied().collect();
        let order: Map<Id, usize> = flags.iter().enumerate().map(|(at, flag)| (id(flag), at)).collect();
        let mut same: Vec<usize> = (0..flags.len()).collect();
        let first = |same: &mut Vec<usize>, mut at: usize| {
            while same[at] != at {
                same[at] = same[same[at]];
                at = same[at];
            }
            at
        };
        for (at, flag) in flags.iter().enumerate() {
            for (value, _) in flag.get_incomings() {
                let value = value.into_int_value();
                let combined = value
                    .as_instruction()
                    .filter(|made| matches!(made.get_opcode(), InstructionOpcode::And | InstructionOpcode::Or));
                let operands = combined.into_iter().flat_map(|made| (0..2).filter_map(move |k| operand(made, k)));
                for from in std::iter::once(value).chain(operands).filter_map(|value| order.get(&id(&value))) {
                    let (a, b) = (first(&mut same, at), first(&mut same, *from));
                    same[a.max(b)] = a.min(b);
                }
            }
        }
        let mut numbers: Map<usize, usize> = Map::default();
        let of = flags.iter().enumerate().map(|(at, flag)| {
            let next = numbers.len();
            (id(flag), *numbers.entry(first(&mut same, at)).or_insert(next))
        });
        Numbers { of: of.collect() }
    }
}

struct Packer<'a, 'c> {
    builder: Builder<'c>,
    number: IntType<'c>,
    words: &'a Words<'c>,
    /// What a word is behind its changes in a block.
    ends: Map<(Id, usize), IntValue<'c>>,
    /// Tests at the ends of blocks.
    tests: Map<(Id, usize, Id), IntValue<'c>>,
}

impl<'c> Packer<'_, 'c> {
    fn pack(mut self, ways: &[(usize, Vec<Way<'c>>)]) -> Result<(), BuilderError> {
        let mut phis: Map<usize, PhiValue<'c>> = Map::default();
        for &(index, _) in ways {
            self.builder.position_before(&self.words.all[index].flags[0].1.as_instruction());
            phis.insert(index, self.builder.build_phi(self.number, "")?);
        }
        // A word may come into several blocks from one, with the same changes ([`Words::ways`]).
        for way in ways.iter().flat_map(|(_, ways)| ways) {
            let Start::Word(word) = way.start else { continue };
            let place = (way.from.as_mut_ptr() as Id, word);
            if !self.ends.contains_key(&place) {
                let end = self.change(phis[&word].as_basic_value().into_int_value(), &way.changes)?;
                self.ends.insert(place, end);
            }
        }
        for (index, ways) in ways {
            for way in ways {
                let value = match way.start {
                    Start::Constant(bits) => self.number.const_int(bits, false),
                    Start::Word(word) => self.ends[&(way.from.as_mut_ptr() as Id, word)],
                };
                phis[index].add_incoming(&[(&value, way.from)]);
            }
        }
        self.replace(ways, &phis)
    }

    /// Step 3.
    fn change(&self, start: IntValue<'c>, changes: &[Change<'c>]) -> Result<IntValue<'c>, BuilderError> {
        let Some(block) = changes.first().and_then(|change| change.made.get_parent()) else { return Ok(start) };
        let places: Map<Id, usize> = block.get_instructions().enumerate().map(|(at, i)| (id(&i), at)).collect();
        // The instruction in front of which the word changes.
        let behind = |change: &Change<'c>| {
            let other = change.other.as_instruction().filter(|other| other.get_opcode() != InstructionOpcode::Phi);
            let other = other.filter(|other| other.get_parent() == Some(block));
            other.and_then(InstructionValue::get_next_instruction).unwrap_or(change.made)
        };
        let mut changes: Vec<_> = changes.iter().map(|change| (behind(change), change)).collect();
        changes.sort_by_key(|(before, _)| places.get(&id(before)));
        let (none, all) = (self.number.const_zero(), self.number.const_all_ones());
        let mut word = start;
        for (before, change) in changes {
            let bit = self.number.const_int(1 << change.bit, false);
            self.builder.position_before(&before);
            word = if change.made.get_opcode() == InstructionOpcode::And {
                let mask = self.builder.build_select(change.other, all, bit.const_not(), "")?.into_int_value();
                self.builder.build_and(word, mask, "")?
            } else {
                let mask = self.builder.build_select(change.other, bit, none, "")?.into_int_value();
                self.builder.build_or(word, mask, "")?
            };
        }
        Ok(word)
    }

    /// Step 4.
    fn replace(&mut self, ways: &[(usize, Vec<Way<'c>>)], phis: &Map<usize, PhiValue<'c>>) -> Result<(), BuilderError> {
        let mut old: BTreeSet<Id> = BTreeSet::new();
        let mut erased = vec![];
        // Each flag, and each combination, with the word that has its bit.
        let mut bits = vec![];
        for (index, ways) in ways {
            let word = phis[index].as_basic_value().into_int_value();
            for &(bit, flag) in &self.words.all[*index].flags {
                bits.push((flag.as_instruction(), word, bit));
            }
            for way in ways {
                let Start::Word(of) = way.start else { continue };
                let end = self.ends[&(way.from.as_mut_ptr() as Id, of)];
                bits.extend(way.changes.iter().map(|change| (change.made, end, change.bit)));
            }
        }
        bits.retain(|&(i, _, _)| old.insert(id(&i)));
        for &(value, word, bit) in &bits {
            let mut seen: Set<Id> = Set::default();
            let others: Vec<InstructionValue<'c>> =
                users(value).filter(|user| !old.contains(&id(user)) && seen.insert(id(user))).collect();
            for user in others {
                self.test(value, (word, bit), user)?;
            }
            erased.push(value);
        }
        let none = self.number.get_context().bool_type().const_zero();
        for value in &erased {
            if let Ok(flag) = IntValue::try_from(*value) {
                flag.replace_all_uses_with(none);
            }
        }
        erased.into_iter().for_each(InstructionValue::erase_from_basic_block);
        Ok(())
    }

    /// Gives a user the test of a bit in place of a flag.
    fn test(
        &mut self,
        flag: InstructionValue<'c>,
        (word, bit): (IntValue<'c>, usize),
        user: InstructionValue<'c>,
    ) -> Result<(), BuilderError> {
        let incomings: Vec<BasicBlock<'c>> = PhiValue::try_from(user)
            .map(|phi| phi.get_incomings().map(|incoming| incoming.1).collect())
            .unwrap_or_default();
        for index in 0..user.get_num_operands() {
            let is_flag = |value: BasicValueEnum<'c>| value.is_int_value() && id(&value.into_int_value()) == id(&flag);
            if !user.get_operand(index).and_then(Operand::value).is_some_and(is_flag) {
                continue;
            }
            let value = match incomings.get(index as usize) {
                Some(from) => {
                    let key = (id(&word), bit, from.as_mut_ptr() as Id);
                    match (self.tests.get(&key), from.get_terminator()) {
                        (Some(&known), _) => known,
                        (None, None) => continue,
                        (None, Some(end)) => {
                            let value = self.bit(word, bit, end)?;
                            self.tests.insert(key, value);
                            value
                        }
                    }
                }
                None => self.bit(word, bit, user)?,
            };
            user.set_operand(index, value);
        }
        Ok(())
    }

    fn bit(&self, word: IntValue<'c>, bit: usize, before: InstructionValue<'c>) -> Result<IntValue<'c>, BuilderError> {
        self.builder.position_before(&before);
        let picked = self.builder.build_and(word, self.number.const_int(1 << bit, false), "")?;
        self.builder.build_int_compare(IntPredicate::NE, picked, self.number.const_zero(), "")
    }
}
