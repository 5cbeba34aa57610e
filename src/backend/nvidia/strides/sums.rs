//! Numbers as sums of products.
//!
//! A number is a sum of products of values, each with a constant factor. Sums in a product are multiplied out: `(row +
//! 2) * stride` is `row * stride + 2 * stride`. Whatever is no sum, product or shift by a constant is a value that
//! stands for itself, and so is what would have too many terms.

use std::collections::BTreeMap;
use std::rc::Rc;

use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue, IntValue};

use super::super::users::{is_disjoint_or, operand};
use crate::ir::core::hash::Map;

/// The most terms of a sum that is looked into; a value with more stands for itself.
const MOST_TERMS: usize = 12;
/// The most multiplications of two values in a sum.
const MOST_PRODUCTS: usize = 8;
/// The deepest expression that is looked into.
const DEEPEST: u32 = 64;
/// An LLVM value by its place in memory.
pub(in crate::backend::nvidia) type Id = usize;
/// An LLVM value by when it was first seen, so that orders do not depend on places in memory.
pub(in crate::backend::nvidia) type Number = u32;

/// A sum modulo 2^64, of which a number of fewer bits is the lowest part: factors by products of values, which are in
/// order. No value is the constant term.
pub(in crate::backend::nvidia) type Terms = BTreeMap<Vec<Number>, i64>;

#[derive(Clone, Default)]
pub(in crate::backend::nvidia) struct Sum {
    pub(in crate::backend::nvidia) terms: Terms,
    /// The multiplications of two values that it needs.
    pub(super) products: Vec<Id>,
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

    pub(super) fn plus(&self, other: &Sum, factor: i64) -> Sum {
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

    pub(super) fn is_small(&self) -> bool {
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

/// The sums of a function's numbers.
#[derive(Default)]
pub(in crate::backend::nvidia) struct Sums<'c> {
    /// The values in the sums' products, in order of their numbers.
    values: Vec<IntValue<'c>>,
    known: Map<Id, Rc<Sum>>,
}

impl<'c> Sums<'c> {
    pub(super) fn value(&self, number: Number) -> Option<IntValue<'c>> {
        self.values.get(number as usize).copied()
    }

    /// A number as a sum.
    pub(in crate::backend::nvidia) fn of(&mut self, value: IntValue<'c>) -> Rc<Sum> {
        self.down_to(value, DEEPEST)
    }

    /// A number whose operands have changed as a sum.
    pub(super) fn anew(&mut self, value: IntValue<'c>) -> Rc<Sum> {
        self.known.remove(&id(&value));
        self.of(value)
    }

    /// A number as a sum, read to at most this depth.
    fn down_to(&mut self, value: IntValue<'c>, depth: u32) -> Rc<Sum> {
        if let Some(sum) = self.known.get(&id(&value)) {
            return sum.clone();
        }
        let sum = self.parts(value, depth).filter(Sum::is_small).unwrap_or_else(|| {
            self.values.push(value);
            Sum::of(vec![self.values.len() as Number - 1], 1)
        });
        let sum = Rc::new(sum);
        self.known.insert(id(&value), sum.clone());
        sum
    }

    /// The sum of a value that is one; `None` if it stands for itself.
    fn parts(&mut self, value: IntValue<'c>, depth: u32) -> Option<Sum> {
        use InstructionOpcode as I;
        if let Some(constant) = value.get_sign_extended_constant() {
            return Some(Sum::constant(constant));
        }
        let instruction = value.as_instruction()?;
        if !is_sum(instruction) {
            return None;
        }
        let depth = depth.checked_sub(1)?;
        let (a, b) = (self.down_to(operand(instruction, 0)?, depth), self.down_to(operand(instruction, 1)?, depth));
        Some(match instruction.get_opcode() {
            I::Mul => a.times(&b, id(&value)),
            I::Shl => {
                let by = b.as_constant().filter(|by| (0..i64::from(value.get_type().get_bit_width())).contains(by))?;
                Sum::default().plus(&a, 1 << by)
            }
            I::Sub => a.plus(&b, -1),
            _ => a.plus(&b, 1),
        })
    }
}

/// Whether an instruction is looked into.
pub(super) fn is_sum(instruction: InstructionValue<'_>) -> bool {
    use InstructionOpcode as I;
    match instruction.get_opcode() {
        I::Add | I::Sub | I::Mul | I::Shl => true,
        _ => is_disjoint_or(instruction),
    }
}

pub(super) fn id(value: &impl AsValueRef) -> Id {
    value.as_value_ref() as Id
}
