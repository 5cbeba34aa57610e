//! Keeps the pointers that a kernel's loops carry as they are.
//!
//! `a_ptrs += BLOCK_K * stride` is one addition for each pointer register and iteration, which is as good as it gets.
//! The back end's loop strength reduction takes such recurrences apart again, into the part that several share and the
//! rest, which then have to be added in every iteration: on the way of the next asynchronous copy, and with copies of
//! registers that wait for the last one. A `freeze` on the way back to the head of the loop hides the recurrence from
//! it, and is no instruction. It comes after the middle end, which would move it to the value from before the loop. An
//! unrolled loop moves a pointer on several times in an iteration; the `freeze` stands behind the last step.

use inkwell::builder::Builder;
use inkwell::llvm_sys::core::LLVMBuildFreeze;
use inkwell::module::Module;
use inkwell::values::{
    AsValueRef, BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, PhiValue, PointerValue,
};

/// The most pointers of a loop that are carried as they are. Of 127 real kernels, those with 16 and more lost registers
/// by it (80 to 167 with 33 pointers, 848 to 16,652 bytes of spills with 98); those with fewer gained or stayed. The
/// multiplication of two matrices of 8192×8192 with B transposed has 12. More than these get a base
/// ([`super::bases`]).
pub(super) const MOST_CARRIED: usize = 12;

/// The most steps of a pointer in an iteration.
const MOST_STEPS: usize = 8;

/// Puts a `freeze` behind the last `getelementptr` that a pointer of a loop goes through on its way to the next
/// iteration.
pub(crate) fn keep_recurrences(module: &Module<'_>) {
    let builder = module.get_context().create_builder();
    for function in module.get_functions() {
        for block in function.get_basic_block_iter() {
            let phis = block.get_instructions().take_while(|i| i.get_opcode() == InstructionOpcode::Phi);
            let steps: Vec<Step<'_>> = phis.filter_map(|i| PhiValue::try_from(i).ok()).flat_map(steps).collect();
            if steps.len() <= MOST_CARRIED {
                steps.into_iter().for_each(|step| keep(&builder, step));
            }
        }
    }
}

/// A pointer that a loop carries, and the instruction that moves it on.
struct Step<'c> {
    phi: PhiValue<'c>,
    incoming: u32,
    to: InstructionValue<'c>,
}

fn steps(phi: PhiValue<'_>) -> Vec<Step<'_>> {
    let step = |incoming| {
        let (value, _) = phi.get_incoming(incoming)?;
        let to = value.as_instruction_value().filter(|&to| moves_on(to))?;
        let mut first = to;
        for _ in 1..MOST_STEPS {
            let Some(before) = base(first).and_then(|v| v.as_instruction_value()).filter(|&i| moves_on(i)) else {
                break;
            };
            first = before;
        }
        (base(first)?.as_value_ref() == phi.as_value_ref()).then_some(Step { phi, incoming, to })
    };
    (0..phi.count_incoming()).filter_map(step).collect()
}

fn moves_on(i: InstructionValue<'_>) -> bool {
    i.get_opcode() == InstructionOpcode::GetElementPtr
}

/// The pointer that a `getelementptr` starts from.
fn base(i: InstructionValue<'_>) -> Option<BasicValueEnum<'_>> {
    i.get_operand(0)?.value()
}

fn keep<'c>(builder: &Builder<'c>, Step { phi, incoming, to }: Step<'c>) {
    let Some(next) = to.get_next_instruction() else { return };
    builder.position_before(&next);
    // SAFETY: the builder stands behind the instruction that makes the pointer, in its block; the name is a C string.
    let frozen = unsafe { PointerValue::new(LLVMBuildFreeze(builder.as_mut_ptr(), to.as_value_ref(), c"".as_ptr())) };
    phi.as_instruction().set_operand(incoming, frozen);
}
