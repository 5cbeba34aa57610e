//! What a loop moves its pointers on by is computed once.
//!
//! `p += n * 2`, for pointers to halves and an `n` of 32 bits, adds `n * 4` bytes. The back end computes `n * 2` in
//! front of the loop as one product of 64 bits (`mul.wide`), and doubles it. ptxas makes one product of both, and since
//! that can add as well, it multiplies anew for each pointer in each iteration: eight `IMAD.WIDE` in front of a product
//! of matrices, where eight additions of a number that all threads share would do. They cost up to 7 % of a whole
//! kernel ([performance.md]).
//!
//! A `mov` in assembly between the extension of `n` and what is computed from it keeps the back end from making it one
//! product. It is no instruction of the GPU.
//!
//! ```text
//! before:                              after:
//!   %wide = sext i32 %n to i64           %wide = sext i32 %n to i64
//!   %by = shl i64 %wide, 1               %same = call i64 asm "mov.b64 $0, $1;", "=l,l"(i64 %wide)
//! loop:                                  %by = shl i64 %same, 1
//!   %p = phi ptr …                     loop:
//!   %next = getelementptr half, %p, %by  …
//! ```
//!
//! [performance.md]: ../../../docs/performance.md

use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::module::Module;
use inkwell::values::{AnyValue, AsValueRef, BasicValue, InstructionOpcode, InstructionValue, IntValue, PhiValue};

/// Splits the products by which loops move pointers on.
///
/// # Errors
/// Fails if LLVM refuses an instruction.
pub(crate) fn split(module: &Module<'_>) -> Result<(), BuilderError> {
    let context = module.get_context();
    let builder = context.create_builder();
    for function in module.get_functions() {
        for block in function.get_basic_block_iter() {
            let phis = block.get_instructions().take_while(|i| i.get_opcode() == InstructionOpcode::Phi);
            let products: Vec<Product<'_>> = phis.filter_map(|i| PhiValue::try_from(i).ok()).flat_map(of_phi).collect();
            products.into_iter().try_for_each(|product| product.split(context, &builder))?;
        }
    }
    Ok(())
}

/// A product of an extended number and a constant.
struct Product<'c> {
    product: InstructionValue<'c>,
    extended: IntValue<'c>,
}

/// The products by which a carried pointer moves on.
fn of_phi(phi: PhiValue<'_>) -> Vec<Product<'_>> {
    let of_incoming = |incoming| {
        let (value, _) = phi.get_incoming(incoming)?;
        let step = value.as_instruction_value().filter(|i| i.get_opcode() == InstructionOpcode::GetElementPtr)?;
        let base = step.get_operand(0)?.value()?;
        if base.as_value_ref() != phi.as_value_ref() || step.get_num_operands() != 2 {
            return None;
        }
        let product = step.get_operand(1)?.value()?.as_instruction_value()?;
        let is_outside = product.get_parent() != step.get_parent();
        Product::of(product).filter(|_| is_outside)
    };
    (0..phi.count_incoming()).filter_map(of_incoming).collect()
}

impl<'c> Product<'c> {
    fn of(product: InstructionValue<'c>) -> Option<Product<'c>> {
        if !matches!(product.get_opcode(), InstructionOpcode::Shl | InstructionOpcode::Mul) {
            return None;
        }
        let factor = product.get_operand(1)?.value()?;
        let extended = product.get_operand(0)?.value()?;
        let is_extended = extended.as_instruction_value().is_some_and(|i| i.get_opcode() == InstructionOpcode::SExt);
        let is_wide = extended.is_int_value() && extended.into_int_value().get_type().get_bit_width() == 64;
        (is_extended && is_wide && factor.is_int_value() && factor.into_int_value().is_const())
            .then(|| Product { product, extended: extended.into_int_value() })
    }

    /// Does nothing the second time: several pointers move on by one product.
    fn split(&self, context: ContextRef<'c>, builder: &Builder<'c>) -> Result<(), BuilderError> {
        if Product::of(self.product).is_none() {
            return Ok(());
        }
        let ty = context.i64_type().fn_type(&[context.i64_type().into()], false);
        let mov = context.create_inline_asm(ty, "mov.b64 $0, $1;".into(), "=l,l".into(), false, false, None, false);
        builder.position_before(&self.product);
        let same = builder.build_indirect_call(ty, mov, &[self.extended.into()], "")?;
        self.product.set_operand(0, same.as_any_value_enum().into_int_value());
        Ok(())
    }
}
