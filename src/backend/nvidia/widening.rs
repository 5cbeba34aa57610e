//! Scales an index where it is widened, not where the address is made.
//!
//! `index * size`, of an index of 32 bits, is one instruction, `mul.wide`, where the back end sees the widening and the
//! multiplication in one block. The middle end moves the widening out of a loop and leaves the multiplication in the
//! address, where it is a shift of two registers that then leaves the loop by itself: two instructions and two more
//! registers for each element of a tile.
//!
//! # Example
//!
//! ```text
//! before: %w = sext i32 %i to i64            loop: %a = getelementptr half, ptr addrspace(1) %p, i64 %w
//! before: %w = sext i32 %i to i64            loop: %a = getelementptr i8, ptr addrspace(1) %p, i64 %s
//!         %s = mul i64 %w, 2
//! ```

use inkwell::builder::Builder;
use inkwell::llvm_sys::core::LLVMGetGEPSourceElementType;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::types::AnyTypeEnum;
use inkwell::values::{AsValueRef, BasicValueEnum, InstructionOpcode, InstructionValue, IntValue, PointerValue};

use crate::ir::core::hash::Map;

/// Scales the index of each address that widens it in another block.
pub(crate) fn scale(module: &Module<'_>, data: &TargetData) {
    let builder = module.get_context().create_builder();
    for function in module.get_functions() {
        let mut scaled: Map<(usize, u64), IntValue<'_>> = Map::default();
        for block in function.get_basic_block_iter() {
            for address in block.get_instructions().filter(|i| i.get_opcode() == InstructionOpcode::GetElementPtr) {
                let Some((base, widening, size)) = widened_elsewhere(address, data) else { continue };
                let key = (widening.as_value_ref() as usize, size);
                let known = scaled.get(&key).copied();
                let Some(bytes) = known.or_else(|| multiple(&builder, widening, size)) else { continue };
                scaled.insert(key, bytes);
                rewrite(&builder, address, base, bytes);
            }
        }
    }
}

/// The base of an address, the widening of its index in another block, and the size of what is indexed.
fn widened_elsewhere<'c>(
    address: InstructionValue<'c>,
    data: &TargetData,
) -> Option<(PointerValue<'c>, InstructionValue<'c>, u64)> {
    let BasicValueEnum::PointerValue(base) = address.get_operand(0)?.value()? else { return None };
    let BasicValueEnum::IntValue(index) = address.get_operand(1)?.value()? else { return None };
    let widens = |i: &InstructionValue<'_>| matches!(i.get_opcode(), InstructionOpcode::SExt | InstructionOpcode::ZExt);
    let widening = index.as_instruction().filter(widens)?;
    let BasicValueEnum::IntValue(narrow) = widening.get_operand(0)?.value()? else { return None };
    // SAFETY: a `getelementptr` has an element type.
    let element = unsafe { AnyTypeEnum::new(LLVMGetGEPSourceElementType(address.as_value_ref())) };
    let size = data.get_abi_size(&element);
    let fits = address.get_num_operands() == 2
        && (narrow.get_type().get_bit_width(), index.get_type().get_bit_width()) == (32, 64);
    (fits && size > 1 && widening.get_parent() != address.get_parent()).then_some((base, widening, size))
}

/// The product of a widened number, right behind it.
fn multiple<'c>(builder: &Builder<'c>, widening: InstructionValue<'c>, size: u64) -> Option<IntValue<'c>> {
    let wide = IntValue::try_from(widening).ok()?;
    builder.position_before(&widening.get_next_instruction()?);
    builder.build_int_mul(wide, wide.get_type().const_int(size, false), "").ok()
}

/// Makes the same address from an index of bytes.
fn rewrite<'c>(builder: &Builder<'c>, address: InstructionValue<'c>, base: PointerValue<'c>, bytes: IntValue<'c>) {
    let Ok(pointer) = PointerValue::try_from(address) else { return };
    builder.position_before(&address);
    let Some(byte) = address.get_parent().map(|b| b.get_context().i8_type()) else { return };
    // SAFETY: the same address as before; without `inbounds` it may be anything.
    if let Ok(sum) = unsafe { builder.build_gep(byte, base, &[bytes], "") } {
        pointer.replace_all_uses_with(sum);
    }
}
