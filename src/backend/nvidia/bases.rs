//! Loops carry a base and not each pointer.
//!
//! `ptrs += step` on a tile is two instructions for each pointer of a thread, and each pointer takes two registers for
//! the whole loop: 64 pointers are half of all registers. But they start at the same pointer plus an offset of 32 bits
//! each, and all take the same step. So the loop carries the pointer that they start at. Where one of them is used, one
//! instruction makes it from the base and its offset, `mad.wide`. If the offsets come from few numbers, `row * 3 +
//! column` or `(row + 3) * stride`, the loop makes them too, and else they take half of the registers.
//!
//! This is for kernels that spill registers. What it does for others was not measured.
//!
//! # Algorithm
//!
//! 1. The pointers that a loop carries are found: phis whose next value is the phi and a step. If there are few, they
//!    stay ([`MOST_CARRIED`]).
//! 2. Where a pointer starts is a root and a few steps from there, `x + batch + row * stride + column`. Those whose
//!    starts differ in one step alone, with the same step of the loop at the same place, are a group. Where there are
//!    several such groups, a pointer is of the largest. A group of at least [`LEAST`] gets a phi of its own for the
//!    base, which is a start without the step that differs.
//! 3. Each block that uses a pointer of the group makes it right before its first use, from the base of this iteration
//!    or of the next one.
//! 4. Pointers that a loop makes anew in each iteration, from a base that varies and offsets that do not, come from
//!    the offsets of 32 bits in the same way ([`made`]).
//!
//! # Example
//!
//! ```text
//! before:                                            after:
//!   %s0 = getelementptr half, %x, (sext %offset0)
//!   …
//! loop:                                              loop:
//!   %p0 = phi [ %s0, … ], [ %next0, %loop ]            %b = phi [ %x, … ], [ %next, %loop ]
//!   …                                                  %p0 = call … asm "mad.wide.s32" (%offset0, %b)
//!   load %p0                                           load %p0
//!   %next0 = getelementptr half, %p0, %step            %next = freeze (getelementptr half, %b, %step)
//! ```

mod made;
pub(super) mod offset;

use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::llvm_sys::core::{LLVMBuildFreeze, LLVMGEPSetNoWrapFlags};
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::{
    AsValueRef, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, IntValue, PhiValue,
    PointerValue,
};

use self::offset::{Form, Offset, Plus, Way, form, is_step, unit, value_operand, ways};
use super::pointers::MOST_CARRIED;
use super::users::{Id, id, users};
use crate::ir::core::hash::{Map, Set};

/// The fewest pointers for which a base is worth it.
const LEAST: usize = 4;

/// Gives the loops that carry or make more than [`MOST_CARRIED`] pointers bases.
///
/// # Errors
/// Fails if LLVM refuses an instruction.
pub(crate) fn carry(module: &Module<'_>, data: &TargetData) -> Result<(), BuilderError> {
    let rebase = Rebase { builder: module.get_context().create_builder() };
    loops(module, data).try_for_each(|groups| groups.iter().try_for_each(|group| rebase.rebase(group)))?;
    made::loops(module, data).try_for_each(|groups| groups.iter().try_for_each(|group| rebase.remake(group)))
}

/// Whether some loop would get a base.
pub(crate) fn would_carry(module: &Module<'_>, data: &TargetData) -> bool {
    loops(module, data).any(|groups| !groups.is_empty()) || made::loops(module, data).next().is_some()
}

/// The groups of pointers that get a base, loop by loop.
fn loops<'c>(module: &Module<'c>, data: &TargetData) -> impl Iterator<Item = Vec<Vec<Carried<'c>>>> {
    let blocks = module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
    blocks.map(|block| {
        let phis = block.get_instructions().take_while(|i| i.get_opcode() == InstructionOpcode::Phi);
        let carried: Vec<Carried<'c>> =
            phis.filter_map(|i| PhiValue::try_from(i).ok()).filter_map(|phi| Carried::of(phi, data)).collect();
        if carried.len() > MOST_CARRIED { groups(carried) } else { vec![] }
    })
}

/// Pointers that one base serves, at least [`LEAST`], in the order of the first of each group.
fn groups(carried: Vec<Carried<'_>>) -> Vec<Vec<Carried<'_>>> {
    let mut sizes: Map<Key, usize> = Map::default();
    for key in carried.iter().flat_map(|pointer| pointer.ways.iter().map(|way| pointer.key(way))) {
        *sizes.entry(key).or_default() += 1;
    }
    let mut places: Map<Key, usize> = Map::default();
    let mut groups: Vec<Vec<Carried<'_>>> = vec![];
    for mut pointer in carried {
        let size = |way: &Way<'_>| sizes.get(&pointer.key(way)).copied().unwrap_or(0);
        // Of several that are as large, the first.
        let largest = (0..pointer.ways.len()).rev().max_by_key(|&at| size(&pointer.ways[at])).unwrap_or(0);
        pointer.ways.swap(0, largest);
        let key = pointer.key(pointer.way());
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(vec![]);
        }
        groups[place].push(pointer);
    }
    groups.retain(|group| group.len() >= LEAST);
    groups
}

/// What the pointers of a group have in common: the root of the base, the index of each step to it and the bytes of its
/// unit, the same of the loop's step, and the block that takes it.
type Key = (Id, Vec<(Id, u64)>, (Id, u64), Id);

/// A pointer that a loop carries, and that takes the same step in each iteration.
struct Carried<'c> {
    phi: PhiValue<'c>,
    /// Which incoming value of the phi is that of the next iteration: `step`, a `getelementptr` with one index.
    back: u32,
    step: InstructionValue<'c>,
    index: BasicValueEnum<'c>,
    unit: u64,
    block: BasicBlock<'c>,
    /// From where it starts. The first is taken.
    ways: Vec<Way<'c>>,
    /// The bytes of the unit of each step of a way.
    units: Map<Id, u64>,
}

impl<'c> Carried<'c> {
    fn of(phi: PhiValue<'c>, data: &TargetData) -> Option<Carried<'c>> {
        if phi.count_incoming() != 2 || !phi.as_basic_value().is_pointer_value() {
            return None;
        }
        let step = |incoming: u32| {
            let step = phi.get_incoming(incoming)?.0.as_instruction_value().filter(|i| is_step(*i))?;
            (id(&value_operand(step, 0)?) == id(&phi)).then_some((incoming, step))
        };
        let (back, step) = (0..2).find_map(step)?;
        let (start, _) = phi.get_incoming(1 - back)?;
        let ways = ways(start.into_pointer_value(), data);
        let units = ways.iter().flat_map(|way| &way.others).map(|step| (id(step), unit(*step, data))).collect();
        let (index, unit) = (value_operand(step, 1)?, unit(step, data));
        Some(Carried { phi, back, step, index, unit, block: step.get_parent()?, ways, units })
    }

    /// The way that is taken.
    fn way(&self) -> &Way<'c> {
        &self.ways[0]
    }

    fn key(&self, way: &Way<'c>) -> Key {
        let other = |step: &InstructionValue<'c>| {
            let index = value_operand(*step, 1).map_or(0, |index| id(&index));
            (index, self.units.get(&id(step)).copied().unwrap_or(0))
        };
        let others = way.others.iter().map(other).collect();
        (id(&way.root), others, (id(&self.index), self.unit), self.block.as_mut_ptr() as Id)
    }
}

/// The base of the next iteration. Frozen it goes back to the head of the loop ([`super::pointers`] says why).
struct Next<'c> {
    base: PointerValue<'c>,
    frozen: PointerValue<'c>,
}

struct Rebase<'c> {
    builder: Builder<'c>,
}

/// What recipes of a form add, by its key.
struct Added<'c> {
    form: Form,
    numbers: Map<Vec<Id>, IntValue<'c>>,
}

/// A base in place of the pointers of a group.
#[derive(Clone, Copy)]
struct Base<'a, 'c> {
    pointer: PointerValue<'c>,
    /// What the loop makes the offsets from, if it does rather than keep them ([`form`]).
    makes_offsets: Option<&'a Added<'c>>,
}

impl<'c> Rebase<'c> {
    /// Carries the base of a group in place of its pointers.
    fn rebase(&self, group: &[Carried<'c>]) -> Result<(), BuilderError> {
        let Some(first) = group.first() else { return Ok(()) };
        let incoming = |k| first.phi.get_incoming(k).map(|(_, block)| block);
        let (Some(before), Some(latch)) = (incoming(1 - first.back), incoming(first.back)) else { return Ok(()) };
        let is_step = |i: &InstructionValue<'c>| group.iter().any(|pointer| pointer.step == *i);
        let Some(step) = first.block.get_instructions().find(is_step) else { return Ok(()) };
        let Some(end) = before.get_terminator() else { return Ok(()) };
        self.builder.position_before(&end);
        let start = self.start(first.way());
        let added = self.added(&group.iter().map(|pointer| pointer.way().offset).collect::<Vec<_>>())?;
        let makes_offsets = added.as_ref();
        self.builder.position_before(&first.phi.as_instruction());
        let base = self.builder.build_phi(start.get_type(), "")?;
        let next = self.next(base, step);
        base.add_incoming(&[(&start, before), (&next.frozen, latch)]);
        let this = Base { pointer: base.as_basic_value().into_pointer_value(), makes_offsets };
        for pointer in group {
            let phi = pointer.phi.as_instruction();
            self.replace(phi, pointer, this, pointer.step)?;
            self.replace(pointer.step, pointer, Base { pointer: next.base, makes_offsets }, phi)?;
            phi.set_operand(pointer.back, start.get_type().get_poison());
            pointer.step.erase_from_basic_block();
            phi.erase_from_basic_block();
        }
        Ok(())
    }

    /// The base in front of the loop. A step that leads to it already is not taken again.
    fn start(&self, way: &Way<'c>) -> PointerValue<'c> {
        way.others.iter().fold(way.root, |base, &step| {
            if value_operand(step, 0).is_some_and(|from| id(&from) == id(&base)) {
                // SAFETY: what a `getelementptr` with one index makes is a pointer.
                unsafe { PointerValue::new(step.as_value_ref()) }
            } else {
                self.moved(step, base)
            }
        })
    }

    /// What recipes add where offsets have them, made where the builder stands.
    fn added(&self, offsets: &[Offset<'c>]) -> Result<Option<Added<'c>>, BuilderError> {
        let Some(form) = form(offsets) else { return Ok(None) };
        let mut numbers: Map<Vec<Id>, IntValue<'c>> = Map::default();
        for plus in offsets.iter().filter_map(|offset| offset.recipe(form)?.plus) {
            let key = plus.key();
            if numbers.contains_key(&key) {
                continue;
            }
            let number = match plus {
                Plus::Number(number) => number,
                Plus::Multiple { terms, of, rest } => {
                    let mut sum: Option<IntValue<'c>> = None;
                    for term in terms {
                        sum = Some(match sum {
                            Some(sum) => self.builder.build_int_add(sum, term, "")?,
                            None => term,
                        });
                    }
                    let product = sum.map_or(Ok(of), |sum| self.builder.build_int_mul(sum, of, ""))?;
                    rest.map_or(Ok(product), |rest| self.builder.build_int_add(product, rest, ""))?
                }
            };
            numbers.insert(key, number);
        }
        Ok(Some(Added { form, numbers }))
    }

    /// Moves the base on as `step`, the first of the group, moves its pointer on, and there.
    fn next(&self, base: PhiValue<'c>, step: InstructionValue<'c>) -> Next<'c> {
        self.builder.position_before(&step);
        let base = self.moved(step, base.as_basic_value().into_pointer_value());
        // SAFETY: the builder stands behind the instruction that makes the base; the name is a C string.
        let frozen = unsafe { LLVMBuildFreeze(self.builder.as_mut_ptr(), base.as_value_ref(), c"".as_ptr()) };
        // SAFETY: the frozen value of a pointer is a pointer.
        Next { base, frozen: unsafe { PointerValue::new(frozen) } }
    }

    /// The pointer that is as far from `base` as `step` moves its own pointer.
    fn moved(&self, step: InstructionValue<'c>, base: PointerValue<'c>) -> PointerValue<'c> {
        let moved = step.explicit_clone();
        self.builder.insert_instruction(&moved, None);
        moved.set_operand(0, base);
        // SAFETY: the instruction is a `getelementptr` in a block. What was known of the pointer is not of the base.
        unsafe {
            LLVMGEPSetNoWrapFlags(moved.as_value_ref(), 0);
            PointerValue::new(moved.as_value_ref())
        }
    }

    /// Gives the users of `old`, but for one, the same pointer made from the base.
    fn replace(
        &self,
        old: InstructionValue<'c>,
        pointer: &Carried<'c>,
        base: Base<'_, 'c>,
        except: InstructionValue<'c>,
    ) -> Result<(), BuilderError> {
        let mut users: Vec<InstructionValue<'c>> = users(old).filter(|&user| user != except).collect();
        // A user of several operands is there once for each.
        let mut seen: Set<Id> = Set::default();
        users.retain(|user| seen.insert(id(user)));
        let mut made: Vec<(BasicBlock<'c>, PointerValue<'c>)> = vec![];
        for &user in &users {
            let is_old = |&k: &u32| value_operand(user, k).is_some_and(|v| id(&v) == id(&old));
            for operand in (0..user.get_num_operands()).filter(is_old) {
                let Some(block) = place_of_use(user, operand) else { continue };
                let known = made.iter().find(|(known, _)| *known == block).map(|(_, new)| *new);
                let new = if let Some(new) = known {
                    new
                } else {
                    self.position_at_first(block, &users);
                    let new = self.pointer(base, pointer.way().offset)?;
                    made.push((block, new));
                    new
                };
                user.set_operand(operand, new);
            }
        }
        Ok(())
    }

    /// Stands before the first of the users in a block. What a phi uses is needed at the block's end.
    fn position_at_first(&self, block: BasicBlock<'c>, users: &[InstructionValue<'c>]) {
        let is_user = |i: &InstructionValue<'c>| i.get_opcode() != InstructionOpcode::Phi && users.contains(i);
        match block.get_instructions().find(is_user).or_else(|| block.get_terminator()) {
            Some(first) => self.builder.position_before(&first),
            None => self.builder.position_at_end(block),
        }
    }

    /// The pointer at an offset from a base.
    fn pointer(&self, base: Base<'_, 'c>, offset: Offset<'c>) -> Result<PointerValue<'c>, BuilderError> {
        match offset {
            Offset::Nothing => Ok(base.pointer),
            Offset::Constant(step) => Ok(self.moved(step, base.pointer)),
            Offset::Number { number, is_signed, unit } => {
                let sign = if is_signed { 's' } else { 'u' };
                let wide = |number, base| format!("mad.wide.{sign}32 $0, {number}, {unit}, ${base};");
                let recipe = base.makes_offsets.and_then(|added| Some((offset.recipe(added.form)?, added)));
                let recipe = recipe.map(|(recipe, added)| {
                    let plus = recipe.plus.and_then(|plus| added.numbers.get(&plus.key()));
                    (recipe.value, recipe.factor, plus)
                });
                match recipe {
                    Some((_, 0, Some(&plus))) => self.assembly(base.pointer, &[plus], wide("$1", 2)),
                    Some((value, factor, Some(&plus))) => {
                        let make = format!("{{ .reg .b32 t; mad.lo.s32 t, $1, {factor}, $2; {} }}", wide("t", 3));
                        self.assembly(base.pointer, &[value, plus], make)
                    }
                    Some((value, factor, None)) => {
                        let make = format!("{{ .reg .b32 t; mul.lo.s32 t, $1, {factor}; {} }}", wide("t", 2));
                        self.assembly(base.pointer, &[value], make)
                    }
                    None => self.assembly(base.pointer, &[number], wide("$1", 2)),
                }
            }
        }
    }

    /// A pointer from numbers and a base. In words of LLVM's IR what does not change would move out of the loop again,
    /// with 64 bits.
    fn assembly(
        &self,
        base: PointerValue<'c>,
        numbers: &[IntValue<'c>],
        text: String,
    ) -> Result<PointerValue<'c>, BuilderError> {
        let arguments: Vec<BasicValueEnum<'c>> =
            numbers.iter().map(|&n| n.into()).chain([BasicValueEnum::from(base)]).collect();
        let types: Vec<_> = arguments.iter().map(|a| a.get_type().into()).collect();
        let arguments: Vec<_> = arguments.into_iter().map(Into::into).collect();
        let constraints = format!("=l,{}l", "r,".repeat(numbers.len()));
        let function = base.get_type().fn_type(&types, false);
        let context = base.get_type().get_context();
        let assembly = context.create_inline_asm(function, text, constraints, false, false, None, false);
        let call = self.builder.build_indirect_call(function, assembly, &arguments, "")?;
        Ok(call.try_as_basic_value().unwrap_basic().into_pointer_value())
    }
}

/// The block where a user needs an operand: that of the user, or for a phi the one that the operand comes from.
fn place_of_use(user: InstructionValue<'_>, operand: u32) -> Option<BasicBlock<'_>> {
    match PhiValue::try_from(user) {
        Ok(phi) => phi.get_incoming(operand).map(|(_, block)| block),
        Err(()) => user.get_parent(),
    }
}

#[cfg(test)]
mod tests;
