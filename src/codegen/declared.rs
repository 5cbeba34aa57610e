//! A function as LLVM has it declared, with the parameters that ttc adds.

use inkwell::values::{FunctionValue, PointerValue};

/// A function in LLVM.
#[derive(Clone, Copy)]
pub(crate) struct Declared<'c> {
    pub(crate) function: FunctionValue<'c>,
    /// The parameter with the address of its shared memory; kernels use the symbol.
    pub(super) shared: Option<u32>,
    /// The parameter with the address of its scratch memory in global memory; of a kernel that of all programs.
    pub(super) scratch: Option<u32>,
    pub(crate) kernel: bool,
}

impl<'c> Declared<'c> {
    /// What lowering holds until its function is declared.
    pub(crate) fn nothing(function: FunctionValue<'c>) -> Declared<'c> {
        Declared { function, shared: None, scratch: None, kernel: true }
    }

    fn pointer(&self, param: Option<u32>) -> Option<PointerValue<'c>> {
        self.function.get_nth_param(param?).and_then(|p| PointerValue::try_from(p).ok())
    }

    /// The address of the function's shared memory, unless it is the symbol.
    pub(crate) fn shared_base(&self) -> Option<PointerValue<'c>> {
        self.pointer(self.shared)
    }

    /// The address of the function's scratch memory. A kernel has that of all programs.
    pub(crate) fn scratch_base(&self) -> Option<PointerValue<'c>> {
        self.pointer(self.scratch)
    }
}
