//! What LLVM says of the instructions of a block: which may move, what they hold, who uses them.

use std::ffi::c_uint;

use inkwell::llvm_sys::core;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMOpcode, LLVMTypeKind};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// At the head of the block, never moved.
    Phi,
    /// In order with all others of its kind.
    Pinned,
    /// Between the pinned instructions around it.
    Load,
    /// A part of the value before it, which it follows at once.
    Part,
    Free,
    Terminator,
}

/// Numbers of attributes, which LLVM looks up by name.
pub(super) struct Facts {
    memory: c_uint,
    convergent: c_uint,
}

impl Facts {
    pub(super) fn new() -> Facts {
        let kind = inkwell::attributes::Attribute::get_named_enum_kind_id;
        Facts { memory: kind("memory"), convergent: kind("convergent") }
    }

    pub(super) fn kind(&self, value: LLVMValueRef) -> Kind {
        use LLVMOpcode as O;
        // SAFETY: an instruction.
        match unsafe { core::LLVMGetInstructionOpcode(value) } {
            O::LLVMPHI => Kind::Phi,
            O::LLVMExtractValue => Kind::Part,
            O::LLVMBr | O::LLVMRet | O::LLVMUnreachable | O::LLVMSwitch => Kind::Terminator,
            // SAFETY: a load.
            O::LLVMLoad if unsafe { core::LLVMGetVolatile(value) == 0 && core::LLVMGetOrdering(value) as u32 == 0 } => {
                Kind::Load
            }
            O::LLVMCall if self.is_pure(value) => Kind::Free,
            O::LLVMCall
            | O::LLVMLoad
            | O::LLVMStore
            | O::LLVMFence
            | O::LLVMAtomicRMW
            | O::LLVMAtomicCmpXchg
            | O::LLVMAlloca
            | O::LLVMUDiv
            | O::LLVMSDiv
            | O::LLVMURem
            | O::LLVMSRem => Kind::Pinned,
            _ => Kind::Free,
        }
    }

    /// Whether a call touches no memory and works in each thread alone.
    fn is_pure(&self, call: LLVMValueRef) -> bool {
        // SAFETY: a call; attributes are asked for by numbers that LLVM gave.
        unsafe {
            let callee = core::LLVMGetCalledValue(call);
            let function = !core::LLVMIsAFunction(callee).is_null();
            let of = |kind: c_uint| {
                let here = core::LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind);
                if here.is_null() && function {
                    core::LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind)
                } else {
                    here
                }
            };
            let memory = of(self.memory);
            let effects = core::LLVMIsAInlineAsm(callee).is_null() || core::LLVMGetInlineAsmHasSideEffects(callee) == 0;
            effects
                && of(self.convergent).is_null()
                && !memory.is_null()
                && core::LLVMGetEnumAttributeValue(memory) == 0
        }
    }
}

/// The text of a call of inline assembly, or the name of the function that is called.
pub(super) fn called(value: LLVMValueRef) -> Option<String> {
    // SAFETY: an instruction; what is asked of a call is asked of calls alone, and the text is as long as LLVM says.
    unsafe {
        if core::LLVMGetInstructionOpcode(value) as u32 != LLVMOpcode::LLVMCall as u32 {
            return None;
        }
        let callee = core::LLVMGetCalledValue(value);
        let mut length = 0;
        let text = if core::LLVMIsAInlineAsm(callee).is_null() {
            core::LLVMGetValueName2(callee, &raw mut length)
        } else {
            core::LLVMGetInlineAsmAsmString(callee, &raw mut length)
        };
        Some(String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length)).into_owned())
    }
}

/// Whether another block uses a value, or a phi, which reads it at the end of this one.
pub(super) fn is_used_outside(block: LLVMBasicBlockRef, value: LLVMValueRef) -> bool {
    // SAFETY: the uses of an instruction, whose users are instructions.
    unsafe {
        let mut used = core::LLVMGetFirstUse(value);
        while !used.is_null() {
            let user = core::LLVMGetUser(used);
            if core::LLVMGetInstructionParent(user) != block || !core::LLVMIsAPHINode(user).is_null() {
                return true;
            }
            used = core::LLVMGetNextUse(used);
        }
        false
    }
}

/// 32-bit registers of an instruction's value. Predicates and what has parts of its own count nothing.
pub(super) fn registers(value: LLVMValueRef) -> u32 {
    // SAFETY: a value and its type.
    unsafe { words(core::LLVMTypeOf(value)) }
}

unsafe fn words(ty: LLVMTypeRef) -> u32 {
    use LLVMTypeKind as T;
    // SAFETY: a type; what is asked for is asked of its kind.
    unsafe {
        match core::LLVMGetTypeKind(ty) {
            T::LLVMIntegerTypeKind if core::LLVMGetIntTypeWidth(ty) == 1 => 0,
            T::LLVMIntegerTypeKind => core::LLVMGetIntTypeWidth(ty).div_ceil(32),
            T::LLVMHalfTypeKind | T::LLVMBFloatTypeKind | T::LLVMFloatTypeKind => 1,
            T::LLVMDoubleTypeKind => 2,
            T::LLVMPointerTypeKind if core::LLVMGetPointerAddressSpace(ty) == 3 => 1,
            T::LLVMPointerTypeKind => 2,
            T::LLVMVectorTypeKind => {
                let element = core::LLVMGetElementType(ty);
                let bits = match core::LLVMGetTypeKind(element) {
                    T::LLVMIntegerTypeKind => core::LLVMGetIntTypeWidth(element),
                    T::LLVMHalfTypeKind | T::LLVMBFloatTypeKind => 16,
                    T::LLVMFloatTypeKind => 32,
                    _ => 64,
                };
                (bits * core::LLVMGetVectorSize(ty)).div_ceil(32)
            }
            _ => 0,
        }
    }
}
