//! How far the pointers of a loop are from a base, and how the offsets come from few numbers.

use std::collections::BTreeSet;

use inkwell::llvm_sys::core::LLVMGetGEPSourceElementType;
use inkwell::targets::TargetData;
use inkwell::types::AnyTypeEnum;
use inkwell::values::{
    AsValueRef, BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, IntValue, Operand, PointerValue,
};

use crate::backend::nvidia::users::{Id, id, is_disjoint_or, operand};

/// Bits of an offset that `mad.wide` takes.
const OFFSET_BITS: u32 = 32;

/// How far a pointer is from its base when the loop starts.
#[derive(Clone, Copy)]
pub(super) enum Offset<'c> {
    Nothing,
    /// As far as a `getelementptr` with a constant index goes.
    Constant(InstructionValue<'c>),
    /// A number of 32 bits, with or without a sign, of units of so many bytes.
    Number {
        number: IntValue<'c>,
        is_signed: bool,
        unit: u64,
    },
}

impl<'c> Offset<'c> {
    /// How the offset comes from other numbers, if it does.
    pub(super) fn recipe(self, form: Form) -> Option<Recipe<'c>> {
        let Offset::Number { number, .. } = self else { return None };
        let made = number.as_instruction_value()?;
        if form == Form::Rows
            && let Some(recipe) = row_and_column(made)
        {
            return Some(recipe);
        }
        if made.get_opcode() != InstructionOpcode::Add {
            let constant = || product(number).map(|(value, factor)| Recipe { value, factor, plus: None });
            return constant().or_else(|| multiple_of_a_sum(made));
        }
        let [a, b] = [0, 1].map(|k| value_operand(made, k).map(BasicValueEnum::into_int_value));
        let (a, b) = (a?, b?);
        let with = |(value, factor), plus| Recipe { value, factor, plus: Some(Plus::Number(plus)) };
        let is_constant = a.is_constant_int() || b.is_constant_int();
        (!is_constant).then(|| match (product(a), product(b)) {
            (Some(product), _) => with(product, b),
            (None, Some(product)) => with(product, a),
            (None, None) => with((a, 1), b),
        })
    }
}

/// How offsets are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// A product with a constant, or what a row of a tile is multiplied by, and a number.
    Products,
    /// The same, but `(row + constant) * stride + column` is a constant times the stride, and the rest.
    Rows,
}

/// How offsets come from at most half as many numbers, if they do: the way with the fewest.
pub(super) fn form(offsets: &[Offset<'_>]) -> Option<Form> {
    let numbers = |form: Form| {
        let recipes: Vec<Recipe<'_>> = offsets.iter().filter_map(|offset| offset.recipe(form)).collect();
        let numbers: BTreeSet<Vec<Id>> = recipes.iter().flat_map(Recipe::numbers).collect();
        (numbers.len() * 2 <= recipes.len()).then_some((numbers.len(), form))
    };
    [Form::Products, Form::Rows].into_iter().filter_map(numbers).min_by_key(|(count, _)| *count).map(|(_, form)| form)
}

/// `value * factor + plus`
#[derive(Clone)]
pub(super) struct Recipe<'c> {
    pub(super) value: IntValue<'c>,
    pub(super) factor: i32,
    pub(super) plus: Option<Plus<'c>>,
}

impl Recipe<'_> {
    /// By what the numbers that it takes are told from others.
    fn numbers(&self) -> impl Iterator<Item = Vec<Id>> {
        let value = (self.factor != 0).then(|| vec![id(&self.value)]);
        value.into_iter().chain(self.plus.as_ref().map(Plus::key))
    }
}

/// What is added to a product.
#[derive(Clone)]
pub(super) enum Plus<'c> {
    Number(IntValue<'c>),
    /// The sum of some numbers, times another one, and perhaps a number. The loop gets it from in front of it.
    Multiple {
        terms: Vec<IntValue<'c>>,
        of: IntValue<'c>,
        rest: Option<IntValue<'c>>,
    },
}

impl Plus<'_> {
    /// By what it is told from others.
    pub(super) fn key(&self) -> Vec<Id> {
        match self {
            Plus::Number(number) => vec![id(number)],
            // What comes behind a 0 is the rest.
            Plus::Multiple { terms, of, rest } => {
                let product = [of].into_iter().chain(terms).map(id);
                product.chain(rest.iter().flat_map(|rest| [0, id(rest)])).collect()
            }
        }
    }
}

/// The most terms of a sum that is taken apart.
const MOST_TERMS: usize = 8;

/// Reads `(a + b + constant) * stride` as `stride * constant + (a + b) * stride`: the rows of a tile, of which the
/// constants alone differ. In 32 bits both are the same number, whatever overflows.
fn multiple_of_a_sum(made: InstructionValue<'_>) -> Option<Recipe<'_>> {
    let Row { terms, constant, of } = row(made)?;
    let plus = Some(Plus::Multiple { terms, of, rest: None });
    (constant != 0).then_some(Recipe { value: of, factor: constant, plus })
}

/// Reads `(a + b + constant) * stride + column` as `stride * constant + ((a + b) * stride + column)`. The constant of
/// the first row is 0.
fn row_and_column(made: InstructionValue<'_>) -> Option<Recipe<'_>> {
    if !is_sum(made) {
        return None;
    }
    let (a, b) = (operand(made, 0)?, operand(made, 1)?);
    let row_of = |number| IntValue::as_instruction_value(number).and_then(row);
    let (row, column) = row_of(&a).zip(Some(b)).or_else(|| row_of(&b).zip(Some(a)))?;
    let plus = Some(Plus::Multiple { terms: row.terms, of: row.of, rest: Some(column) });
    Some(Recipe { value: row.of, factor: row.constant, plus })
}

/// `(terms + constant) * of`
struct Row<'c> {
    terms: Vec<IntValue<'c>>,
    constant: i32,
    of: IntValue<'c>,
}

/// Takes the sum in a product of two values apart.
fn row(made: InstructionValue<'_>) -> Option<Row<'_>> {
    if made.get_opcode() != InstructionOpcode::Mul {
        return None;
    }
    let (a, b) = (operand(made, 0)?, operand(made, 1)?);
    let sum = |number: IntValue<'_>| number.as_instruction_value().is_some_and(is_sum);
    let (added, of) = if sum(a) { (a, b) } else { (b, a) };
    let (mut open, mut terms, mut constant) = (vec![added], vec![], 0_i32);
    while let Some(number) = open.pop() {
        let parts = number.as_instruction_value().filter(|&i| is_sum(i));
        if let Some(part) = parts.filter(|_| open.len() + terms.len() < MOST_TERMS) {
            open.extend([0, 1].into_iter().filter_map(|k| operand(part, k)));
        } else if let Some(value) = number.get_sign_extended_constant() {
            constant = constant.wrapping_add(i32::try_from(value).ok()?);
        } else {
            terms.push(number);
        }
    }
    (!terms.is_empty()).then_some(Row { terms, constant, of })
}

/// Whether an instruction adds its two operands.
fn is_sum(i: InstructionValue<'_>) -> bool {
    i.get_opcode() == InstructionOpcode::Add || is_disjoint_or(i)
}

/// Reads a product with a constant.
fn product(number: IntValue<'_>) -> Option<(IntValue<'_>, i32)> {
    let made = number.as_instruction_value()?;
    // Others, such as a load, may have operands that are no integers.
    let shifts = match made.get_opcode() {
        InstructionOpcode::Mul => false,
        InstructionOpcode::Shl => true,
        _ => return None,
    };
    let [value, constant] = [0, 1].map(|k| value_operand(made, k).map(BasicValueEnum::into_int_value));
    let constant = i32::try_from(constant?.get_sign_extended_constant()?).ok()?;
    let factor = if shifts { 1i32.checked_shl(u32::try_from(constant).ok()?)? } else { constant };
    Some((value?, factor))
}

/// Whether an instruction moves a pointer by one index.
pub(in crate::backend::nvidia) fn is_step(i: InstructionValue<'_>) -> bool {
    i.get_opcode() == InstructionOpcode::GetElementPtr && i.get_num_operands() == 2
}

pub(in crate::backend::nvidia) fn value_operand(i: InstructionValue<'_>, operand: u32) -> Option<BasicValueEnum<'_>> {
    i.get_operand(operand).and_then(Operand::value)
}

/// The bytes of the unit of a `getelementptr`.
pub(in crate::backend::nvidia) fn unit(step: InstructionValue<'_>, data: &TargetData) -> u64 {
    // SAFETY: the instruction is alive and a `getelementptr`.
    let ty = unsafe { AnyTypeEnum::new(LLVMGetGEPSourceElementType(step.as_value_ref())) };
    data.get_abi_size(&ty)
}

/// A way to a pointer from a base.
pub(super) struct Way<'c> {
    /// Where the base begins, and the `getelementptr`s that lead on to it, in order.
    pub(super) root: PointerValue<'c>,
    pub(super) others: Vec<InstructionValue<'c>>,
    pub(super) offset: Offset<'c>,
}

/// The most steps between a pointer and the root of its base.
const MOST_STEPS: usize = 8;

/// The ways to a pointer: any one of the steps from its root may be the offset. The first leaves out the last step, if
/// that can be an offset; another one leaves out nothing.
pub(super) fn ways<'c>(start: PointerValue<'c>, data: &TargetData) -> Vec<Way<'c>> {
    let (mut root, mut steps) = (start, vec![]);
    while let Some(step) = root.as_instruction_value().filter(|&i| is_step(i) && steps.len() < MOST_STEPS)
        && let Some(from) = value_operand(step, 0)
    {
        steps.insert(0, step);
        root = from.into_pointer_value();
    }
    let without = |at: usize| [&steps[..at], &steps[at + 1..]].concat();
    let way = |at: usize| Some(Way { root, others: without(at), offset: offset(steps[at], data)? });
    let mut ways: Vec<Way<'c>> = (0..steps.len()).rev().filter_map(way).collect();
    ways.push(Way { root, others: steps, offset: Offset::Nothing });
    ways
}

/// How far a `getelementptr` goes, if that is constant or a number of 32 bits.
pub(super) fn offset<'c>(step: InstructionValue<'c>, data: &TargetData) -> Option<Offset<'c>> {
    let index = value_operand(step, 1)?.into_int_value();
    if index.is_constant_int() {
        return Some(Offset::Constant(step));
    }
    let extended = index.as_instruction_value()?;
    let is_signed = match extended.get_opcode() {
        InstructionOpcode::SExt => true,
        InstructionOpcode::ZExt => false,
        _ => return None,
    };
    let number = value_operand(extended, 0)?.into_int_value();
    let offset = Offset::Number { number, is_signed, unit: unit(step, data) };
    (number.get_type().get_bit_width() == OFFSET_BITS).then_some(offset)
}
