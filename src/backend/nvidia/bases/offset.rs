//! How far the pointers of a loop are from a base, and how the offsets come from few numbers.

use inkwell::llvm_sys::core::LLVMGetGEPSourceElementType;
use inkwell::targets::TargetData;
use inkwell::types::AnyTypeEnum;
use inkwell::values::{
    AsValueRef, BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, IntValue, Operand, PointerValue,
};

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
    pub(super) fn recipe(self) -> Option<Recipe<'c>> {
        let Offset::Number { number, .. } = self else { return None };
        let made = number.as_instruction_value()?;
        if made.get_opcode() != InstructionOpcode::Add {
            return product(number).map(|(value, factor)| Recipe { value, factor, plus: None });
        }
        let [a, b] = [0, 1].map(|k| value_operand(made, k).map(BasicValueEnum::into_int_value));
        let (a, b) = (a?, b?);
        let with = |(value, factor), plus| Recipe { value, factor, plus: Some(plus) };
        let is_constant = a.is_constant_int() || b.is_constant_int();
        (!is_constant).then(|| match (product(a), product(b)) {
            (Some(product), _) => with(product, b),
            (None, Some(product)) => with(product, a),
            (None, None) => with((a, 1), b),
        })
    }
}

/// `value * factor + plus`
#[derive(Clone, Copy)]
pub(super) struct Recipe<'c> {
    pub(super) value: IntValue<'c>,
    pub(super) factor: i32,
    pub(super) plus: Option<IntValue<'c>>,
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

/// The pointer that another one is an offset away from.
pub(super) fn origin<'c>(start: PointerValue<'c>, data: &TargetData) -> (PointerValue<'c>, Offset<'c>) {
    let found = || {
        let moved = start.as_instruction_value().filter(|i| is_step(*i))?;
        let base = value_operand(moved, 0)?.into_pointer_value();
        let index = value_operand(moved, 1)?.into_int_value();
        if index.is_constant_int() {
            return Some((base, Offset::Constant(moved)));
        }
        let extended = index.as_instruction_value()?;
        let is_signed = match extended.get_opcode() {
            InstructionOpcode::SExt => true,
            InstructionOpcode::ZExt => false,
            _ => return None,
        };
        let number = value_operand(extended, 0)?.into_int_value();
        let offset = Offset::Number { number, is_signed, unit: unit(moved, data) };
        (number.get_type().get_bit_width() == OFFSET_BITS).then_some((base, offset))
    };
    found().unwrap_or((start, Offset::Nothing))
}
