//! Who uses a value of LLVM's IR.

use inkwell::values::{AsValueRef, BasicValueUse, InstructionValue};

/// The instructions that use what one computes, as often as they use it.
pub(super) fn users(value: InstructionValue<'_>) -> impl Iterator<Item = InstructionValue<'_>> {
    let uses = std::iter::successors(value.get_first_use(), |of: &BasicValueUse<'_>| of.get_next_use());
    // SAFETY: only instructions use what an instruction computes.
    uses.map(|of| unsafe { InstructionValue::new(of.get_user().as_value_ref()) })
}
