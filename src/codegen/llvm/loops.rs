//! What LLVM is told of a loop: metadata at the branch back to its head.

use inkwell::context::Context;
use inkwell::llvm_sys::core::{LLVMMDNodeInContext2, LLVMMDStringInContext2, LLVMMetadataAsValue, LLVMSetMetadata};
use inkwell::llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};
use inkwell::values::{AsValueRef, InstructionValue};

/// What LLVM calls the properties of a loop.
pub(crate) const PROPERTIES: &str = "llvm.loop";

/// The loop is not unrolled.
pub(crate) const NOT_UNROLLED: &str = "llvm.loop.unroll.disable";

/// Gives the loop that a branch ends one property, in place of those that it has.
pub(crate) fn set(context: &Context, end: InstructionValue<'_>, property: &str) {
    let kind = context.get_kind_id(PROPERTIES);
    // SAFETY: the context and the instruction are alive, and so are the arrays during the calls. LLVM takes a node for
    // a loop's if its first operand is the node itself, which a temporary one stands for until it is made.
    unsafe {
        let raw = context.raw();
        let own = LLVMTemporaryMDNode(raw, std::ptr::null_mut(), 0);
        let mut text = LLVMMDStringInContext2(raw, property.as_ptr().cast(), property.len());
        let property = LLVMMDNodeInContext2(raw, &raw mut text, 1);
        let mut operands = [own, property];
        let node = LLVMMDNodeInContext2(raw, operands.as_mut_ptr(), operands.len());
        LLVMMetadataReplaceAllUsesWith(own, node);
        LLVMSetMetadata(end.as_value_ref(), kind, LLVMMetadataAsValue(raw, node));
    }
}
