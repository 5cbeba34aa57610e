//! What LLVM's interface for C lacks: writing assembly with other passes, and assembling.
//!
//! `emit.cpp` leaves a pass out that finds nothing, and takes a cheaper one for another; of 45 kernels 24 have the same
//! machine code with both, and the others as many registers (docs/amd.md). `assemble.cpp` does what `llvm-mc` does,
//! byte for byte, without the 30 ms in which the system starts that program and relocates LLVM.

use std::ffi::{CString, c_char, c_void};

use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::llvm_sys::target_machine::LLVMTargetMachineRef;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;

use crate::backend::amd::llvm;
use crate::codegen::llvm::{guarded, text_of};
use crate::target::Target;

/// Gets what was made, in one piece.
type Take = unsafe extern "C" fn(*mut c_void, *const c_char, usize);

unsafe extern "C" {
    fn ttc_assemble(
        triple: *const c_char,
        processor: *const c_char,
        text: *const c_char,
        size: usize,
        take: Take,
        to: *mut c_void,
    ) -> bool;
    fn ttc_emit_assembly(machine: LLVMTargetMachineRef, module: LLVMModuleRef, take: Take, to: *mut c_void) -> bool;
}

unsafe extern "C" fn take(to: *mut c_void, bytes: *const c_char, size: usize) {
    // SAFETY: `to` is the vector that a caller below passes, and LLVM says how many bytes there are.
    unsafe { (*to.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(bytes.cast(), size)) };
}

/// The assembly that LLVM's back end writes for a module, which it changes.
///
/// # Errors
/// When the machine writes none, or it is no text.
pub(super) fn emit(module: &Module<'_>, machine: &TargetMachine) -> Result<String, String> {
    let mut text = vec![];
    // SAFETY: machine and module are alive, and `take` fits the vector.
    let is_done = unsafe {
        ttc_emit_assembly(machine.as_mut_ptr(), module.as_mut_ptr(), take, std::ptr::from_mut(&mut text).cast())
    };
    if is_done { text_of(text) } else { Err("the target writes no assembly".to_owned()) }
}

/// The object file of an assembly text. `None` if LLVM does not take it; `llvm-mc` says why.
pub(super) fn assemble(text: &str, target: &Target) -> Option<Vec<u8>> {
    llvm::initialize();
    let (triple, processor) = (CString::new(llvm::TRIPLE).ok()?, CString::new(target.name).ok()?);
    let text = text.to_owned();
    let done = guarded(move || {
        let mut object = vec![];
        let to = std::ptr::from_mut(&mut object).cast();
        // SAFETY: both names end in a zero, the text has the size that is given, and `take` fits `to`.
        let is_done =
            unsafe { ttc_assemble(triple.as_ptr(), processor.as_ptr(), text.as_ptr().cast(), text.len(), take, to) };
        is_done.then_some(object)
    });
    done.ok()?
}

#[cfg(test)]
mod tests {
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;
    use inkwell::targets::FileType;

    use super::emit;
    use crate::backend::amd::llvm::Amdgcn;
    use crate::codegen::llvm::{Effort, LlvmTarget};
    use crate::target::Target;

    const LINES: &str = r#"target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %n) !dbg !4 {
  VARIABLE
  %i = call i32 @llvm.amdgcn.workitem.id.x(), !dbg !7
  %in = icmp slt i32 %i, %n, !dbg !7
  br i1 %in, label %then, label %end, !dbg !8
then:
  %a = getelementptr i32, ptr addrspace(1) %p, i32 %i, !dbg !8
  store i32 %n, ptr addrspace(1) %a, align 4, !dbg !9
  br label %end, !dbg !9
end:
  ret void, !dbg !9
}
declare i32 @llvm.amdgcn.workitem.id.x()
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "p", emissionKind: FullDebug)
!1 = !DIFile(filename: "k.tk", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !5)
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 1, type: !3, spFlags: DISPFlagDefinition, unit: !0)
!5 = !{null}
!6 = !DILocalVariable(name: "n", arg: 2, scope: !4, file: !1, line: 1, type: !10)
!7 = !DILocation(line: 2, scope: !4)
!8 = !DILocation(line: 3, scope: !4)
!9 = !DILocation(line: 4, scope: !4)
!10 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
"#;

    /// With line tables alone nothing is missed, and variables of the source are still followed.
    #[test]
    fn what_is_written_is_the_same_as_through_the_interface_for_c() {
        for variable in ["", "#dbg_value(i32 %n, !6, !DIExpression(), !7)"] {
            for name in ["gfx942", "gfx1201"] {
                let target = Target::parse(name).expect("a target");
                let machine = Amdgcn.machine(&target, 0, Effort::Full).expect("a machine");
                let context = Context::create();
                let text = LINES.replace("VARIABLE", variable);
                let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "k");
                let module = context.create_module_from_ir(buffer).expect("LLVM IR");
                let again = module.clone();
                let usual = machine.write_to_memory_buffer(&again, FileType::Assembly).expect("assembly");
                let ours = emit(&module, &machine).expect("assembly");
                assert!(ours.contains("v_cmp"), "{ours}");
                assert_eq!(ours.as_bytes(), usual.as_slice());
            }
        }
    }
}
