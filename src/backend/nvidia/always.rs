//! Accesses under a predicate that is always true lose it.
//!
//! A mask that LLVM finds to be true for all lanes leaves `mov.pred %p, -1` and `@%p ld.global` in the PTX. ptxas takes
//! such a load for one that may not happen: the register keeps what stands for the element until then, and loads do
//! not move past each other. Without the predicate it is a plain load.
//!
//! ```text
//! before: call i16 asm sideeffect "@$2 ld.global.b16 { $0 }, [ $3 + 0 ];", "=h,0,b,l"(i16 0, i1 true, ptr %p)
//! after:  call i16 asm sideeffect "ld.global.b16 { $0 }, [ $3 + 0 ];", "=h,0,b,l"(i16 poison, i1 poison, ptr %p)
//! ```

use std::ffi::c_char;

use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::{
    LLVMConstIntGetZExtValue, LLVMGetCalledFunctionType, LLVMGetCalledValue, LLVMGetInlineAsm,
    LLVMGetInlineAsmAsmString, LLVMGetInlineAsmConstraintString, LLVMGetInlineAsmDialect, LLVMGetInlineAsmFunctionType,
    LLVMGetInlineAsmHasSideEffects, LLVMGetNumArgOperands, LLVMGetOperand, LLVMGetPoison, LLVMIsAConstantInt,
    LLVMIsAInlineAsm, LLVMSetOperand, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionOpcode, InstructionValue};

/// Removes predicates that are always true from the inline assembly of a module.
pub(crate) fn remove(module: &Module<'_>) {
    let blocks = module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
    for call in blocks.flat_map(BasicBlock::get_instructions).filter(|i| i.get_opcode() == InstructionOpcode::Call) {
        if let Some(assembly) = Assembly::of(call) {
            assembly.remove_predicate();
        }
    }
}

/// A call of inline assembly.
struct Assembly {
    call: LLVMValueRef,
    callee: LLVMValueRef,
    text: String,
    constraints: String,
}

/// One instruction under a predicate, as [`super::ptx_builder`] writes it.
struct Predicated<'a> {
    /// The number of the predicate among the operands.
    predicate: usize,
    instruction: &'a str,
}

impl Assembly {
    fn of(call: InstructionValue<'_>) -> Option<Assembly> {
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

    fn remove_predicate(&self) {
        let Some(Predicated { predicate, instruction }) = predicated(&self.text) else { return };
        let constraints: Vec<&str> = self.constraints.split(',').collect();
        let outputs = constraints.iter().filter(|c| c.starts_with('=')).count();
        let Some(argument) = predicate.checked_sub(outputs) else { return };
        if constraints.get(predicate) != Some(&"b") || !self.is_true(argument) {
            return;
        }
        for (argument, constraint) in constraints[outputs..].iter().enumerate() {
            let is_unused =
                outputs + argument == predicate && !operands(instruction).any(|o| o == predicate.to_string());
            if is_unused || is_replaced(instruction, constraint) {
                self.forget(argument);
            }
        }
        self.set_text(instruction);
    }

    /// Whether an argument is the constant `true`.
    fn is_true(&self, argument: usize) -> bool {
        // SAFETY: the call is alive, and the index is below its number of arguments.
        unsafe {
            if argument >= LLVMGetNumArgOperands(self.call) as usize {
                return false;
            }
            let constant = LLVMIsAConstantInt(LLVMGetOperand(self.call, argument as u32));
            !constant.is_null() && LLVMConstIntGetZExtValue(constant) == 1
        }
    }

    /// Says that nobody reads an argument.
    fn forget(&self, argument: usize) {
        // SAFETY: the call is alive, and each constraint of an input has an argument.
        unsafe {
            let ty = LLVMTypeOf(LLVMGetOperand(self.call, argument as u32));
            LLVMSetOperand(self.call, argument as u32, LLVMGetPoison(ty));
        }
    }

    /// Puts other assembly with the same operands in place of what is called.
    fn set_text(&self, text: &str) {
        // SAFETY: the call and what it calls are alive; what is called is the operand behind the arguments.
        unsafe {
            debug_assert_eq!(LLVMGetCalledFunctionType(self.call), LLVMGetInlineAsmFunctionType(self.callee));
            let assembly = LLVMGetInlineAsm(
                LLVMGetInlineAsmFunctionType(self.callee),
                text.as_ptr().cast(),
                text.len(),
                self.constraints.as_ptr().cast(),
                self.constraints.len(),
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

/// Reads `@$2 ld.global.b16 { $0 }, [ $3 + 0 ];`, if that is all.
fn predicated(text: &str) -> Option<Predicated<'_>> {
    let (predicate, instruction) = text.strip_prefix("@$")?.split_once(' ')?;
    let is_one = instruction.find(';') == Some(instruction.len() - 1);
    is_one.then_some(Predicated { predicate: predicate.parse().ok()?, instruction })
}

/// Whether a load always overwrites the output that an input of this constraint is tied to, without a look at it.
fn is_replaced(instruction: &str, constraint: &str) -> bool {
    let (destination, address) = instruction.split_once('[').unwrap_or_default();
    let names = |text: &str| operands(text).any(|o| o == constraint);
    instruction.starts_with("ld.") && names(destination) && !names(address)
}

/// The numbers of the operands in a piece of assembly.
fn operands(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).map(|rest| &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()])
}
