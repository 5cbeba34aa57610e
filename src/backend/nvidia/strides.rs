//! Addresses that differ by a multiple of a stride come one from another.
//!
//! The rows of a tile lie at `base + (row + i) * stride`. With indices of 64 bits each is a product of its own, four
//! instructions, besides two additions; from the first row's address it is one, `mad.wide`. LLVM's straight-line
//! strength reduction does that and more, but compares all with all (see `FLAGS` of [`super::llvm`]); this pass looks
//! addresses up, so it is linear.
//!
//! # Algorithm
//!
//! 1. The address of each `getelementptr` is a root pointer and a sum of products of values, each with a constant
//!    factor. Sums in a product are multiplied out: `(row + 2) * stride` is `row * stride + 2 * stride`.
//! 2. In a block, an address that differs from an earlier one by `k * s` for a single value `s`, and has a product that
//!    the earlier one has not, becomes `earlier + k * s`. Earlier addresses are found by their sum without the term of
//!    one value.
//!
//! # Example
//!
//! `x + 2 * (pid + 3) * n`, of halves, behind `x + 2 * (pid + 1) * n`: root `x`, sums `2 pid n + 6 n` and `2 pid n + 2
//! n`. Without `n` both are `2 pid n`, so the second address is the first plus `4 n`.

use std::collections::BTreeMap;
use std::rc::Rc;

use inkwell::llvm_sys::core::{LLVMGEPSetNoWrapFlags, LLVMGetGEPSourceElementType, LLVMGetIsDisjoint};
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::types::AnyTypeEnum;
use inkwell::values::{AsValueRef, BasicValueEnum, InstructionOpcode, InstructionValue, IntValue, PointerValue};

use crate::ir::core::hash::Map;

/// The most terms of a sum that is looked into; a value with more stands for itself.
const MOST_TERMS: usize = 12;
/// The most multiplications of two values in a sum.
const MOST_PRODUCTS: usize = 8;
/// The deepest expression that is looked into.
const DEEPEST: u32 = 64;
/// Bits of an index that is looked into.
const INDEX_BITS: u32 = 64;

/// An LLVM value by its place in memory.
type Id = usize;
/// An LLVM value by when it was first seen, so that orders do not depend on places in memory.
type Number = u32;

/// A sum modulo 2^64: factors by products of values, which are in order. No value is the constant term.
type Terms = BTreeMap<Vec<Number>, i64>;

#[derive(Clone, Default)]
struct Sum {
    terms: Terms,
    /// The multiplications of two values that it needs.
    products: Vec<Id>,
}

impl Sum {
    fn of(factors: Vec<Number>, factor: i64) -> Sum {
        Sum { terms: BTreeMap::from([(factors, factor)]), products: vec![] }
    }

    fn constant(value: i64) -> Sum {
        let mut sum = Sum::of(vec![], value);
        sum.terms.retain(|_, factor| *factor != 0);
        sum
    }

    fn as_constant(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&[][..]).copied(),
            _ => None,
        }
    }

    fn add_term(&mut self, factors: Vec<Number>, factor: i64) {
        let sum = self.terms.entry(factors).or_default();
        *sum = sum.wrapping_add(factor);
    }

    fn plus(&self, other: &Sum, factor: i64) -> Sum {
        let mut sum = self.clone();
        other.terms.iter().for_each(|(t, &f)| sum.add_term(t.clone(), f.wrapping_mul(factor)));
        sum.terms.retain(|_, factor| *factor != 0);
        other.products.iter().for_each(|&by| sum.add_product(by));
        sum
    }

    fn add_product(&mut self, by: Id) {
        if !self.products.contains(&by) {
            self.products.push(by);
        }
    }

    fn is_small(&self) -> bool {
        self.terms.len() <= MOST_TERMS && self.products.len() <= MOST_PRODUCTS
    }

    /// The product, which `by` computes.
    fn times(&self, other: &Sum, by: Id) -> Sum {
        let mut product = Sum { products: self.products.clone(), ..Sum::default() };
        other.products.iter().for_each(|&by| product.add_product(by));
        for (a, &f) in &self.terms {
            for (b, &g) in &other.terms {
                let mut factors = [&a[..], b].concat();
                factors.sort_unstable();
                product.add_term(factors, f.wrapping_mul(g));
            }
        }
        product.terms.retain(|_, factor| *factor != 0);
        if self.as_constant().is_none() && other.as_constant().is_none() {
            product.add_product(by);
        }
        product
    }
}

/// An address: a pointer that is no `getelementptr` or not looked into, and bytes.
#[derive(Clone)]
struct Address {
    root: Id,
    bytes: Rc<Sum>,
}

/// An address by which others are found: its root, its sum without the term of a value, and that value; without one the
/// sum is whole.
type Key = (Id, Terms, Option<Number>);

/// An address that was computed, and the factor of the value that its key leaves out.
struct Known<'c> {
    pointer: PointerValue<'c>,
    factor: i64,
    products: Vec<Id>,
}

struct Strides<'c, 'a> {
    data: &'a TargetData,
    /// The values in the sums' products, in order of their numbers.
    values: Vec<IntValue<'c>>,
    sums: Map<Id, Rc<Sum>>,
    addresses: Map<Id, Address>,
}

/// Rewrites the addresses of every function.
pub(crate) fn share(module: &Module<'_>, data: &TargetData) {
    let builder = module.get_context().create_builder();
    let bytes = module.get_context().i8_type();
    for function in module.get_functions() {
        let mut strides = Strides { data, values: vec![], sums: Map::default(), addresses: Map::default() };
        for block in function.get_basic_block_iter() {
            let mut known: Map<Key, Known<'_>> = Map::default();
            for instruction in block.get_instructions().filter(|i| i.get_opcode() == InstructionOpcode::GetElementPtr) {
                let Ok(pointer) = PointerValue::try_from(instruction) else { continue };
                let address = strides.address(pointer);
                let mut end = pointer;
                if let Some((from, value, factor)) = strides.shorter(&known, &address) {
                    builder.position_before(&instruction);
                    // What the earlier address promises of itself need not hold for this one: its row may be masked.
                    if from.as_instruction().is_some_and(|i| i.get_opcode() == InstructionOpcode::GetElementPtr) {
                        // SAFETY: the instruction is a `getelementptr`.
                        unsafe { LLVMGEPSetNoWrapFlags(from.as_value_ref(), 0) };
                    }
                    let offset = strides.multiple(&builder, value, factor);
                    // SAFETY: the same address as before; without `inbounds` it may be anything.
                    let sum = offset.and_then(|o| unsafe { builder.build_gep(bytes, from, &[o], "").ok() });
                    if let Some(sum) = sum {
                        pointer.replace_all_uses_with(sum);
                        strides.addresses.insert(id(&sum), address.clone());
                        end = sum;
                    }
                }
                for (key, factor) in keys(&address) {
                    known.entry(key).or_insert_with(|| Known {
                        pointer: end,
                        factor,
                        products: address.bytes.products.clone(),
                    });
                }
            }
        }
    }
}

fn id(value: &impl AsValueRef) -> Id {
    value.as_value_ref() as Id
}

/// What an address is found by: each value that stands alone in a term left out, and none.
fn keys(address: &Address) -> impl Iterator<Item = (Key, i64)> + '_ {
    let terms = &address.bytes.terms;
    let without = move |(factors, &factor): (&Vec<Number>, &i64)| {
        let [value] = factors[..] else { return None };
        let mut rest = terms.clone();
        rest.remove(factors);
        Some(((address.root, rest, Some(value)), factor))
    };
    terms.iter().filter_map(without).chain([((address.root, terms.clone(), None), 0)])
}

impl<'c> Strides<'c, '_> {
    /// An earlier address, a value and how often it has to be added to come to this one, where that saves a product.
    fn shorter(&self, known: &Map<Key, Known<'c>>, address: &Address) -> Option<(PointerValue<'c>, IntValue<'c>, i64)> {
        if address.bytes.products.is_empty() {
            return None;
        }
        keys(address).find_map(|((root, rest, value), factor)| {
            let value = value?;
            let saves = |k: &&Known<'c>| address.bytes.products.iter().any(|p| !k.products.contains(p));
            let with = known.get(&(root, rest.clone(), Some(value))).filter(saves);
            let from = with.or_else(|| known.get(&(root, rest, None)).filter(saves))?;
            let factor = factor.wrapping_sub(from.factor);
            (factor != 0 && i32::try_from(factor).is_ok()).then_some((
                from.pointer,
                *self.values.get(value as usize)?,
                factor,
            ))
        })
    }

    /// `value * factor`; a value that was widened is widened here again, which makes one instruction of all.
    fn multiple(
        &self,
        builder: &inkwell::builder::Builder<'c>,
        value: IntValue<'c>,
        factor: i64,
    ) -> Option<IntValue<'c>> {
        let ty = value.get_type();
        let narrow =
            value.as_instruction().filter(|i| i.get_opcode() == InstructionOpcode::SExt).and_then(|i| operand(i, 0));
        let wide = match narrow {
            Some(narrow) => builder.build_int_s_extend(narrow, ty, "").ok()?,
            None => value,
        };
        builder.build_int_mul(wide, ty.const_int(factor as u64, true), "").ok()
    }

    /// A pointer's address; one that is not looked into is its own root.
    fn address(&mut self, pointer: PointerValue<'c>) -> Address {
        if let Some(address) = self.addresses.get(&id(&pointer)) {
            return address.clone();
        }
        let gep = pointer.as_instruction().filter(|i| i.get_opcode() == InstructionOpcode::GetElementPtr);
        let moved = gep.and_then(|gep| self.moved(gep));
        let address = moved.unwrap_or_else(|| Address { root: id(&pointer), bytes: Rc::default() });
        self.addresses.insert(id(&pointer), address.clone());
        address
    }

    /// The address that a `getelementptr` of one index of 64 bits computes.
    fn moved(&mut self, gep: InstructionValue<'c>) -> Option<Address> {
        let Some(BasicValueEnum::PointerValue(base)) = gep.get_operand(0)?.value() else { return None };
        let index =
            operand(gep, 1).filter(|i| gep.get_num_operands() == 2 && i.get_type().get_bit_width() == INDEX_BITS)?;
        // SAFETY: a `getelementptr` has an element type.
        let element = unsafe { AnyTypeEnum::new(LLVMGetGEPSourceElementType(gep.as_value_ref())) };
        let size = i64::try_from(self.data.get_abi_size(&element)).ok()?;
        let base = self.address(base);
        let index = self.sum(index, DEEPEST);
        let bytes = base.bytes.plus(&index, size);
        bytes.is_small().then(|| Address { root: base.root, bytes: Rc::new(bytes) })
    }

    /// An index as a sum (step 1), read to at most this depth.
    fn sum(&mut self, value: IntValue<'c>, depth: u32) -> Rc<Sum> {
        if let Some(sum) = self.sums.get(&id(&value)) {
            return sum.clone();
        }
        let sum = self.parts(value, depth).filter(Sum::is_small).unwrap_or_else(|| {
            self.values.push(value);
            Sum::of(vec![self.values.len() as Number - 1], 1)
        });
        let sum = Rc::new(sum);
        self.sums.insert(id(&value), sum.clone());
        sum
    }

    /// The sum of a value that is one; `None` if it stands for itself.
    fn parts(&mut self, value: IntValue<'c>, depth: u32) -> Option<Sum> {
        use InstructionOpcode as I;
        if let Some(constant) = value.get_sign_extended_constant() {
            return Some(Sum::constant(constant));
        }
        let instruction = value.as_instruction()?;
        let opcode = instruction.get_opcode();
        let is_sum = match opcode {
            I::Add | I::Sub | I::Mul | I::Shl => true,
            // SAFETY: the instruction is an `or`.
            I::Or => unsafe { LLVMGetIsDisjoint(instruction.as_value_ref()) != 0 },
            _ => false,
        };
        if !is_sum {
            return None;
        }
        let depth = depth.checked_sub(1)?;
        let (a, b) = (self.sum(operand(instruction, 0)?, depth), self.sum(operand(instruction, 1)?, depth));
        Some(match opcode {
            I::Mul => a.times(&b, id(&value)),
            I::Shl => {
                let by = b.as_constant().filter(|by| (0..i64::from(INDEX_BITS)).contains(by))?;
                Sum::default().plus(&a, 1 << by)
            }
            I::Sub => a.plus(&b, -1),
            _ => a.plus(&b, 1),
        })
    }
}

fn operand(instruction: InstructionValue<'_>, index: u32) -> Option<IntValue<'_>> {
    match instruction.get_operand(index)?.value()? {
        BasicValueEnum::IntValue(value) => Some(value),
        _ => None,
    }
}
