//! Addresses and indices that differ by a multiple of a stride come one from another.
//!
//! The rows of a tile lie at `base + (row + i) * stride`. With indices of 64 bits each is a product of its own, four
//! instructions, besides two additions; from the first row's address it is one, `mad.wide`. With indices of 32 bits it
//! is one instruction either way, but from the first row's index it needs none of the sums `row + i`, which otherwise
//! take a register each until the last tile with these rows has its addresses. LLVM's straight-line strength reduction
//! does that and more, but compares all with all (see `FLAGS` of [`super::llvm`]); this pass looks sums up, so it is
//! linear.
//!
//! # Algorithm
//!
//! 1. The address of each `getelementptr` is a root pointer and a sum of products of values, each with a constant
//!    factor ([`sums`]). A number of 32 bits is a sum without a root.
//! 2. In a block, an address or a number that differs from an earlier one by `k * s` for a single value `s`, and has a
//!    product that the earlier one has not, becomes `earlier + k * s`. Earlier ones are found by their sum without the
//!    term of one value.
//! 3. A number that only an addition uses waits for that: `row * stride + column` is one instruction, and so is what
//!    replaces it, but not `(earlier + k * s) + column`. Where the addition comes from no earlier one, the number does.
//!
//! # Example
//!
//! `x + 2 * (pid + 3) * n`, of halves, behind `x + 2 * (pid + 1) * n`: root `x`, sums `2 pid n + 6 n` and `2 pid n + 2
//! n`. Without `n` both are `2 pid n`, so the second address is the first plus `4 n`.

pub(super) mod sums;

use std::rc::Rc;

use inkwell::builder::Builder;
use inkwell::llvm_sys::core::{LLVMGEPSetNoWrapFlags, LLVMGetGEPSourceElementType, LLVMSetNSW, LLVMSetNUW};
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::types::AnyTypeEnum;
use inkwell::values::{
    AsValueRef, BasicValueEnum, BasicValueUse, InstructionOpcode, InstructionValue, IntValue, PointerValue,
};

use self::sums::{Id, Number, Sum, Sums, Terms, id, is_sum};
use super::users::operand;
use crate::ir::core::hash::{Map, Set};

/// Bits of an index that an address is made from.
const INDEX_BITS: u32 = 64;
/// Bits of a number that comes from another one.
const NUMBER_BITS: u32 = 32;
/// The root of a number.
const NO_ROOT: Id = 0;

/// An address: a pointer that is no `getelementptr` or not looked into, and bytes. A number has no pointer.
#[derive(Clone)]
struct Place {
    root: Id,
    sum: Rc<Sum>,
}

/// A place by which others are found: its root, its sum without the term of a value, and that value; without one the
/// sum is whole.
type Key = (Id, Terms, Option<Number>);

/// An address or a number that was computed, and the factor of the value that its key leaves out.
struct Known<V> {
    value: V,
    factor: i64,
    products: Vec<Id>,
}

/// What a place is found by: each value that stands alone in a term left out, and none.
fn keys(place: &Place) -> impl Iterator<Item = (Key, i64)> + '_ {
    let terms = &place.sum.terms;
    let without = move |(factors, &factor): (&Vec<Number>, &i64)| {
        let [value] = factors[..] else { return None };
        let mut rest = terms.clone();
        rest.remove(factors);
        Some(((place.root, rest, Some(value)), factor))
    };
    terms.iter().filter_map(without).chain([((place.root, terms.clone(), None), 0)])
}

/// The addresses, or the numbers, of a block so far.
struct Earlier<V>(Map<Key, Known<V>>);

impl<V: Copy> Earlier<V> {
    /// An earlier one, a value and how often it has to be added to come to this place, where that saves a product.
    fn shorter<'c>(&self, sums: &Sums<'c>, place: &Place) -> Option<(V, IntValue<'c>, i64)> {
        if place.sum.products.is_empty() {
            return None;
        }
        keys(place).find_map(|((root, rest, value), factor)| {
            let value = value?;
            let saves = |k: &&Known<V>| place.sum.products.iter().any(|p| !k.products.contains(p));
            let with = self.0.get(&(root, rest.clone(), Some(value))).filter(saves);
            let from = with.or_else(|| self.0.get(&(root, rest, None)).filter(saves))?;
            let factor = factor.wrapping_sub(from.factor);
            (factor != 0 && i32::try_from(factor).is_ok()).then_some((from.value, sums.value(value)?, factor))
        })
    }

    fn add(&mut self, place: &Place, value: V) {
        for (key, factor) in keys(place) {
            self.0.entry(key).or_insert_with(|| Known { value, factor, products: place.sum.products.clone() });
        }
    }
}

/// Rewrites the addresses and numbers of every function.
pub(crate) fn share(module: &Module<'_>, data: &TargetData) {
    let builder = module.get_context().create_builder();
    for function in module.get_functions() {
        let mut strides = Strides {
            data,
            builder: &builder,
            sums: Sums::default(),
            addresses: Map::default(),
            unbounded: Set::default(),
        };
        for block in function.get_basic_block_iter() {
            let mut addresses = Earlier(Map::default());
            let mut numbers = Numbers { earlier: Earlier(Map::default()), waiting: Map::default() };
            for instruction in block.get_instructions() {
                if let Ok(pointer) = PointerValue::try_from(instruction)
                    && instruction.get_opcode() == InstructionOpcode::GetElementPtr
                {
                    strides.share_address(&mut addresses, instruction, pointer);
                } else if let Ok(number) = IntValue::try_from(instruction)
                    && number.get_type().get_bit_width() == NUMBER_BITS
                    && is_sum(instruction)
                {
                    strides.share_number(&mut numbers, instruction, number);
                }
            }
        }
    }
}

/// The numbers of a block so far.
struct Numbers<'c> {
    earlier: Earlier<IntValue<'c>>,
    /// What numbers come from that wait for the additions that use them.
    waiting: Map<Id, (IntValue<'c>, IntValue<'c>, i64)>,
}

struct Strides<'c, 'a> {
    data: &'a TargetData,
    builder: &'a Builder<'c>,
    sums: Sums<'c>,
    addresses: Map<Id, Place>,
    /// Numbers whose promises were taken back.
    unbounded: Set<Id>,
}

impl<'c> Strides<'c, '_> {
    fn share_address(
        &mut self,
        earlier: &mut Earlier<PointerValue<'c>>,
        instruction: InstructionValue<'c>,
        pointer: PointerValue<'c>,
    ) {
        let address = self.address(pointer);
        let mut end = pointer;
        if let Some((from, value, factor)) = earlier.shorter(&self.sums, &address) {
            self.builder.position_before(&instruction);
            // What the earlier address promises of itself need not hold for this one: its row may be masked.
            if from.as_instruction().is_some_and(|i| i.get_opcode() == InstructionOpcode::GetElementPtr) {
                // SAFETY: the instruction is a `getelementptr`.
                unsafe { LLVMGEPSetNoWrapFlags(from.as_value_ref(), 0) };
            }
            let bytes = self.builder.get_insert_block().map(|b| b.get_context().i8_type());
            let offset = self.multiple(value, factor);
            // SAFETY: the same address as before; without `inbounds` it may be anything.
            let sum = offset.zip(bytes).and_then(|(o, b)| unsafe { self.builder.build_gep(b, from, &[o], "").ok() });
            if let Some(sum) = sum {
                pointer.replace_all_uses_with(sum);
                self.addresses.insert(id(&sum), address.clone());
                end = sum;
            }
        }
        earlier.add(&address, end);
    }

    fn share_number(&mut self, numbers: &mut Numbers<'c>, instruction: InstructionValue<'c>, number: IntValue<'c>) {
        let mut place = Place { root: NO_ROOT, sum: self.sums.of(number) };
        let mut end = number;
        if let Some(found) = numbers.earlier.shorter(&self.sums, &place) {
            if only_added(instruction) {
                numbers.waiting.insert(id(&number), found);
                return;
            }
            end = self.rewrite(number, found).unwrap_or(number);
        } else {
            for part in (0..2).filter_map(|n| operand(instruction, n)) {
                let Some(found) = numbers.waiting.remove(&id(&part)) else { continue };
                if let Some(part) = self.rewrite(part, found) {
                    numbers.earlier.add(&Place { root: NO_ROOT, sum: self.sums.of(part) }, part);
                }
            }
        }
        place.sum = self.sums.anew(end);
        if !place.sum.products.is_empty() {
            numbers.earlier.add(&place, end);
        }
    }

    /// Makes a number from an earlier one.
    fn rewrite(
        &mut self,
        number: IntValue<'c>,
        (from, value, factor): (IntValue<'c>, IntValue<'c>, i64),
    ) -> Option<IntValue<'c>> {
        self.builder.position_before(&number.as_instruction()?);
        forget_bounds(from, &mut self.unbounded);
        let offset = self.multiple(value, factor)?;
        let sum = self.builder.build_int_add(from, offset, "").ok()?;
        number.replace_all_uses_with(sum);
        Some(sum)
    }

    /// `value * factor`; a value that was widened is widened here again, which makes one instruction of all.
    fn multiple(&self, value: IntValue<'c>, factor: i64) -> Option<IntValue<'c>> {
        let ty = value.get_type();
        let narrow =
            value.as_instruction().filter(|i| i.get_opcode() == InstructionOpcode::SExt).and_then(|i| operand(i, 0));
        let wide = match narrow {
            Some(narrow) => self.builder.build_int_s_extend(narrow, ty, "").ok()?,
            None => value,
        };
        self.builder.build_int_mul(wide, ty.const_int(factor as u64, true), "").ok()
    }

    /// A pointer's address; one that is not looked into is its own root.
    fn address(&mut self, pointer: PointerValue<'c>) -> Place {
        if let Some(address) = self.addresses.get(&id(&pointer)) {
            return address.clone();
        }
        let gep = pointer.as_instruction().filter(|i| i.get_opcode() == InstructionOpcode::GetElementPtr);
        let moved = gep.and_then(|gep| self.moved(gep));
        let address = moved.unwrap_or_else(|| Place { root: id(&pointer), sum: Rc::default() });
        self.addresses.insert(id(&pointer), address.clone());
        address
    }

    /// The address that a `getelementptr` of one index of 64 bits computes.
    fn moved(&mut self, gep: InstructionValue<'c>) -> Option<Place> {
        let Some(BasicValueEnum::PointerValue(base)) = gep.get_operand(0)?.value() else { return None };
        let index =
            operand(gep, 1).filter(|i| gep.get_num_operands() == 2 && i.get_type().get_bit_width() == INDEX_BITS)?;
        // SAFETY: a `getelementptr` has an element type.
        let element = unsafe { AnyTypeEnum::new(LLVMGetGEPSourceElementType(gep.as_value_ref())) };
        let size = i64::try_from(self.data.get_abi_size(&element)).ok()?;
        let base = self.address(base);
        let sum = base.sum.plus(&self.sums.of(index), size);
        sum.is_small().then(|| Place { root: base.root, sum: Rc::new(sum) })
    }
}

/// Whether all that uses a number is one addition or subtraction of its block, which takes it as a part of its own sum.
fn only_added(instruction: InstructionValue<'_>) -> bool {
    let Some(only) = instruction.get_first_use().filter(|first| first.get_next_use().is_none()) else { return false };
    user(only).is_some_and(|user| {
        matches!(user.get_opcode(), InstructionOpcode::Add | InstructionOpcode::Sub)
            && user.get_parent() == instruction.get_parent()
    })
}

fn user(of: BasicValueUse<'_>) -> Option<InstructionValue<'_>> {
    match of.get_user() {
        inkwell::values::AnyValueEnum::IntValue(value) => value.as_instruction(),
        _ => None,
    }
}

/// Takes back what a sum and its parts promise of their ranges, unless that was done before: it need not hold where
/// only a later sum is used.
fn forget_bounds(number: IntValue<'_>, done: &mut Set<Id>) {
    use InstructionOpcode as I;
    let mut left = vec![number];
    while let Some(number) = left.pop() {
        let sum = number.as_instruction().filter(|i| matches!(i.get_opcode(), I::Add | I::Sub | I::Mul | I::Shl));
        let Some(instruction) = sum.filter(|_| done.insert(id(&number))) else { continue };
        // SAFETY: additions, subtractions, multiplications and shifts have both flags.
        unsafe {
            LLVMSetNSW(instruction.as_value_ref(), 0);
            LLVMSetNUW(instruction.as_value_ref(), 0);
        }
        left.extend((0..2).filter_map(|n| operand(instruction, n)));
    }
}
