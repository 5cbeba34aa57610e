//! Calls of inline assembly as [`super::ptx_builder`] writes them, for what rewrites them before the back end runs.

use std::ffi::c_char;

use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::{
    LLVMConstIntGetZExtValue, LLVMGetCalledFunctionType, LLVMGetCalledValue, LLVMGetInlineAsm,
    LLVMGetInlineAsmAsmString, LLVMGetInlineAsmConstraintString, LLVMGetInlineAsmDialect, LLVMGetInlineAsmFunctionType,
    LLVMGetInlineAsmHasSideEffects, LLVMGetIntTypeWidth, LLVMGetNumArgOperands, LLVMGetOperand, LLVMGetPoison,
    LLVMIsAConstantInt, LLVMIsAInlineAsm, LLVMSetOperand, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionOpcode, InstructionValue};

/// A call of inline assembly.
pub(super) struct Assembly {
    call: LLVMValueRef,
    callee: LLVMValueRef,
    pub(super) text: String,
    pub(super) constraints: String,
}

/// All calls of inline assembly in a module.
pub(super) fn calls(module: &Module<'_>) -> impl Iterator<Item = Assembly> {
    let blocks = module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
    blocks
        .flat_map(BasicBlock::get_instructions)
        .filter(|i| i.get_opcode() == InstructionOpcode::Call)
        .filter_map(Assembly::of)
}

impl Assembly {
    pub(super) fn of(call: InstructionValue<'_>) -> Option<Assembly> {
        let call = call.as_value_ref();
        // SAFETY: the call is alive, so is what it calls, and the strings are read as long as LLVM says that they are.
        unsafe {
            let callee = LLVMIsAInlineAsm(LLVMGetCalledValue(call));
            (!callee.is_null()).then(|| Assembly {
                call,
                callee,
                text: string(|length| LLVMGetInlineAsmAsmString(callee, length)),
                constraints: string(|length| LLVMGetInlineAsmConstraintString(callee, length)),
            })
        }
    }

    /// Outputs, which come first among the operands.
    pub(super) fn outputs(&self) -> usize {
        self.constraints.split(',').filter(|c| c.starts_with('=')).count()
    }

    /// The value of an argument that is a constant integer of at most 64 bits, and its bits.
    pub(super) fn constant(&self, argument: usize) -> Option<(u64, u32)> {
        // SAFETY: the call is alive, and the index is below its number of arguments; a constant integer has an
        // integer's type.
        unsafe {
            if argument >= LLVMGetNumArgOperands(self.call) as usize {
                return None;
            }
            let constant = LLVMIsAConstantInt(LLVMGetOperand(self.call, argument as u32));
            if constant.is_null() {
                return None;
            }
            let bits = LLVMGetIntTypeWidth(LLVMTypeOf(constant));
            (bits <= u64::BITS).then(|| (LLVMConstIntGetZExtValue(constant), bits))
        }
    }

    /// Says that nobody reads an argument.
    pub(super) fn forget(&self, argument: usize) {
        // SAFETY: the call is alive, and each constraint of an input has an argument.
        unsafe {
            let ty = LLVMTypeOf(LLVMGetOperand(self.call, argument as u32));
            LLVMSetOperand(self.call, argument as u32, LLVMGetPoison(ty));
        }
    }

    /// Puts other assembly with the same operands in place of what is called.
    pub(super) fn replace(&self, text: &str, constraints: &str) {
        // SAFETY: the call and what it calls are alive; what is called is the operand behind the arguments.
        unsafe {
            debug_assert_eq!(LLVMGetCalledFunctionType(self.call), LLVMGetInlineAsmFunctionType(self.callee));
            let assembly = LLVMGetInlineAsm(
                LLVMGetInlineAsmFunctionType(self.callee),
                text.as_ptr().cast(),
                text.len(),
                constraints.as_ptr().cast(),
                constraints.len(),
                LLVMGetInlineAsmHasSideEffects(self.callee),
                0,
                LLVMGetInlineAsmDialect(self.callee),
                0,
            );
            LLVMSetOperand(self.call, LLVMGetNumArgOperands(self.call), assembly);
        }
    }
}

/// A string of LLVM's.
fn string(get: impl FnOnce(*mut usize) -> *const c_char) -> String {
    let mut length = 0;
    let start = get(&raw mut length);
    // SAFETY: LLVM gives as many bytes as it says.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// One instruction under a predicate.
pub(super) struct Predicated<'a> {
    /// The number of the predicate among the operands.
    pub(super) predicate: usize,
    pub(super) instruction: &'a str,
}

/// Reads `@$2 ld.global.b16 { $0 }, [ $3 + 0 ];`, if that is all.
pub(super) fn predicated(text: &str) -> Option<Predicated<'_>> {
    let (predicate, instruction) = text.strip_prefix("@$")?.split_once(' ')?;
    let is_one = instruction.find(';') == Some(instruction.len() - 1);
    is_one.then_some(Predicated { predicate: predicate.parse().ok()?, instruction })
}

/// Whether a load writes the output that an input of this constraint is tied to, without a look at it.
pub(super) fn is_loaded(instruction: &str, constraint: &str) -> bool {
    let (destination, address) = instruction.split_once('[').unwrap_or_default();
    let names = |text: &str| operands(text).any(|o| o == constraint);
    instruction.starts_with("ld.") && names(destination) && !names(address)
}

/// The numbers of the operands in a piece of assembly.
pub(super) fn operands(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).map(|rest| &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()])
}
