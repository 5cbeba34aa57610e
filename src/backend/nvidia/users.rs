//! Values of LLVM's IR: what tells them apart, and who uses them.

use inkwell::llvm_sys::core::LLVMGetIsDisjoint;
use inkwell::values::{AsValueRef, BasicValueEnum, BasicValueUse, InstructionOpcode, InstructionValue, IntValue};

/// An LLVM value or block by its place in memory.
pub(super) type Id = usize;

/// The number of a value.
pub(super) fn id(value: &impl AsValueRef) -> Id {
    value.as_value_ref() as Id
}

/// The instructions that use what one computes, as often as they use it.
pub(super) fn users(value: InstructionValue<'_>) -> impl Iterator<Item = InstructionValue<'_>> {
    let uses = std::iter::successors(value.get_first_use(), |of: &BasicValueUse<'_>| of.get_next_use());
    // SAFETY: only instructions use what an instruction computes.
    uses.map(|of| unsafe { InstructionValue::new(of.get_user().as_value_ref()) })
}

/// An operand that is a number.
pub(super) fn operand(instruction: InstructionValue<'_>, index: u32) -> Option<IntValue<'_>> {
    match instruction.get_operand(index)?.value()? {
        BasicValueEnum::IntValue(value) => Some(value),
        _ => None,
    }
}

/// Whether an instruction is an `or` of numbers without a common bit, which is their sum.
pub(super) fn is_disjoint_or(instruction: InstructionValue<'_>) -> bool {
    // SAFETY: the instruction is an `or`.
    instruction.get_opcode() == InstructionOpcode::Or && unsafe { LLVMGetIsDisjoint(instruction.as_value_ref()) != 0 }
}
