//! Shuffles of shuffled values.
//!
//! `tl.flip` reverses one bit of an index after the other, each by a `shfl.sync.bfly` where lanes hold that bit. Lanes
//! that get a value from lane `l ^ a`, which got it from lane `l ^ a ^ b`, can get it from there at once, and two flips
//! one after the other may leave nothing to shuffle. LLVM knows nothing of that.
//!
//! For each butterfly shuffle, in the order of the block:
//!
//! 1. Follow its value up through instructions that compute it from one other value and constants, in the block.
//! 2. Where that leads to another butterfly over the whole warp, shuffle that one's value by both distances, or not at
//!    all where they are equal, and compute the same from it.
//!
//! ```text
//! %a = shfl.bfly(%x, 4)                   %a = shfl.bfly(%x, 5)
//! %b = swap the halves of %a          →   %b = swap the halves of %a
//! %c = shfl.bfly(%b, 1)
//! ```

use inkwell::builder::Builder;
use inkwell::llvm_sys::core::{
    LLVMGetCalledValue, LLVMGetOperand, LLVMGetValueName2, LLVMInstructionClone, LLVMIsAInstruction, LLVMIsConstant,
    LLVMReplaceAllUsesWith, LLVMSetOperand,
};
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionOpcode as I, InstructionValue, IntValue};

use super::users::operand;

/// LLVM's name for the shuffle. Its operands are the lanes that take part, the value, the distance and the width.
const BUTTERFLY: &[u8] = b"llvm.nvvm.shfl.sync.bfly.i32";

/// The last lane of a warp, as the width of a shuffle says it.
const LAST_LANE: u64 = 31;

/// Instructions between two shuffles that are computed again.
const MOST_BETWEEN: usize = 4;

/// Makes one shuffle of two where it can. Whether anything changed, so that instructions can be combined anew.
pub(crate) fn fold(module: &Module<'_>) -> bool {
    let builder = module.get_context().create_builder();
    let mut changed = false;
    for block in module.get_functions().flat_map(FunctionValue::get_basic_block_iter) {
        let shuffles: Vec<InstructionValue<'_>> =
            block.get_instructions().filter(|&i| Shuffle::of(i).is_some()).collect();
        // An earlier one may have changed the value of a later one.
        for call in shuffles {
            changed |= Shuffle::of(call).is_some_and(|outer| outer.fold(&builder));
        }
    }
    changed
}

/// A butterfly in which all lanes of the warp take part.
struct Shuffle<'c> {
    call: InstructionValue<'c>,
    value: LLVMValueRef,
    distance: u64,
}

impl<'c> Shuffle<'c> {
    fn of(call: InstructionValue<'c>) -> Option<Shuffle<'c>> {
        if call.get_opcode() != I::Call || called(call) != BUTTERFLY {
            return None;
        }
        let constant = |index| operand(call, index)?.get_zero_extended_constant();
        let whole = operand(call, 0)?.get_sign_extended_constant() == Some(-1) && constant(3) == Some(LAST_LANE);
        let value = call.get_operand(1)?.value()?.as_value_ref();
        Some(Shuffle { call, value, distance: constant(2)? }).filter(|_| whole)
    }

    /// Takes the value from where an earlier shuffle has it, if there is one. Whether there was.
    fn fold(&self, builder: &Builder<'c>) -> bool {
        let mut between = vec![];
        let mut value = self.value;
        let inner = loop {
            let Some(from) = instruction(value).filter(|from| from.get_parent() == self.call.get_parent()) else {
                return false;
            };
            if let Some(inner) = Shuffle::of(from) {
                break inner;
            }
            let Some(only) = only_value(from).filter(|_| between.len() < MOST_BETWEEN) else { return false };
            between.push(from);
            value = only;
        };
        builder.position_before(&self.call);
        let mut value = inner.value;
        if inner.distance != self.distance {
            let distance = operand(self.call, 2).map(IntValue::get_type);
            let Some(distance) = distance.map(|i32| i32.const_int(inner.distance ^ self.distance, false)) else {
                return false;
            };
            let together = copy(builder, self.call, 1, value);
            together.set_operand(2, distance);
            value = together.as_value_ref();
        }
        for &of_old in between.iter().rev() {
            value = copy(builder, of_old, 0, value).as_value_ref();
        }
        // SAFETY: both are values of the type of a shuffle in one function, and the new one stands before the old.
        unsafe { LLVMReplaceAllUsesWith(self.call.as_value_ref(), value) };
        // LLVM itself removes no shuffle.
        for dead in std::iter::once(self.call).chain(between).chain([inner.call]) {
            if dead.get_first_use().is_none() {
                dead.erase_from_basic_block();
            }
        }
        true
    }
}

/// The name of what a call calls.
fn called(call: InstructionValue<'_>) -> &[u8] {
    let mut length = 0;
    // SAFETY: the instruction is a call; LLVM keeps the name as long as what it calls.
    unsafe {
        let name = LLVMGetValueName2(LLVMGetCalledValue(call.as_value_ref()), &raw mut length);
        if length == 0 { &[] } else { std::slice::from_raw_parts(name.cast(), length) }
    }
}

/// The instruction that computes a value.
fn instruction<'c>(value: LLVMValueRef) -> Option<InstructionValue<'c>> {
    // SAFETY: the value is alive, and an instruction where LLVM says so.
    unsafe { (!LLVMIsAInstruction(value).is_null()).then(|| InstructionValue::new(value)) }
}

/// The one value, the first operand, that an instruction computes its result from in each lane alone; what else it
/// needs are constants.
fn only_value(from: InstructionValue<'_>) -> Option<LLVMValueRef> {
    let others = match from.get_opcode() {
        I::BitCast | I::Trunc | I::ZExt | I::SExt | I::FNeg => 0,
        I::And | I::Or | I::Xor | I::Shl | I::LShr | I::AShr | I::Add | I::ShuffleVector => 1,
        _ => return None,
    };
    // SAFETY: the instruction has these operands.
    unsafe {
        let second = (others == 1).then(|| LLVMGetOperand(from.as_value_ref(), 1));
        let first = LLVMGetOperand(from.as_value_ref(), 0);
        second.is_none_or(|second| LLVMIsConstant(second) != 0).then_some(first)
    }
}

/// A copy of an instruction where the builder stands, of another operand.
fn copy<'c>(
    builder: &Builder<'c>,
    of: InstructionValue<'c>,
    index: u32,
    operand: LLVMValueRef,
) -> InstructionValue<'c> {
    // SAFETY: the copy is an instruction, and the operand has the type of the one that it replaces.
    let copy = unsafe { InstructionValue::new(LLVMInstructionClone(of.as_value_ref())) };
    builder.insert_instruction(&copy, None);
    unsafe { LLVMSetOperand(copy.as_value_ref(), index, operand) };
    copy
}
