//! Numbers that other blocks use are computed where they are written.
//!
//! The back end moves an instruction towards its users, from block to block, if nothing else in its block uses it. That
//! takes work out of branches that do not need it. But where every element of a tile has a branch of its own, as in the
//! reduction of a sine's large argument, what was to follow each branch comes behind all of them. Until then each
//! element keeps what it is computed from, which is more than the result: 64 sines take 255 registers and spill, and
//! 162 without.
//!
//! An empty piece of assembly that uses the number right behind it keeps it there. It is no instruction.
//!
//! ```text
//! before:                          after:
//!   %y = fma %x, %a, %b              %y = fma %x, %a, %b
//!   br i1 %large, …                  call void asm sideeffect "", "f"(float %y)
//! end:                               br i1 %large, …
//!   store %y                       end:
//!                                    store %y
//! ```

use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::types::AnyTypeEnum;
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, FloatValue, FunctionValue, InstructionOpcode, InstructionValue,
};

use super::users::users;

/// Keeps the floating-point numbers of a module in their blocks.
///
/// # Errors
/// Fails if LLVM refuses an instruction.
pub(crate) fn pin(module: &Module<'_>) -> Result<(), BuilderError> {
    let movable: Vec<Movable<'_>> = movable(module).collect();
    movable.into_iter().try_for_each(|number| number.pin(module))
}

/// Whether a module has numbers that would be kept.
pub(crate) fn would_pin(module: &Module<'_>) -> bool {
    movable(module).next().is_some()
}

/// A number that only other blocks use.
struct Movable<'c> {
    number: InstructionValue<'c>,
    value: FloatValue<'c>,
    /// The letter of its register in inline assembly.
    letter: char,
}

fn movable<'c>(module: &Module<'c>) -> impl Iterator<Item = Movable<'c>> {
    let blocks = module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
    blocks.flat_map(BasicBlock::get_instructions).filter_map(Movable::of)
}

impl<'c> Movable<'c> {
    fn of(number: InstructionValue<'c>) -> Option<Movable<'c>> {
        let letter = match number.get_type() {
            AnyTypeEnum::FloatType(ty) if ty.get_bit_width() == 32 => 'f',
            AnyTypeEnum::FloatType(ty) if ty.get_bit_width() == 64 => 'd',
            _ => return None,
        };
        let is_elsewhere = |user: &InstructionValue<'c>| user.get_parent() != number.get_parent();
        // What a phi uses is needed at the end of the block before.
        let is_phi = |i: &InstructionValue<'c>| i.get_opcode() == InstructionOpcode::Phi;
        let moves = !is_phi(&number)
            && number.get_first_use().is_some()
            && users(number).all(|u| is_elsewhere(&u) && !is_phi(&u));
        let value = FloatValue::try_from(number).ok()?;
        moves.then_some(Movable { number, value, letter })
    }

    fn pin(&self, module: &Module<'c>) -> Result<(), BuilderError> {
        let Some(next) = self.number.get_next_instruction() else { return Ok(()) };
        hold(module, self.value.into(), self.letter, &next)
    }
}

/// Uses a number in an empty piece of assembly in front of `next`; `letter` is that of its register there.
pub(super) fn hold<'c>(
    module: &Module<'c>,
    number: BasicMetadataValueEnum<'c>,
    letter: char,
    next: &InstructionValue<'c>,
) -> Result<(), BuilderError> {
    let builder = module.get_context().create_builder();
    builder.position_before(next);
    write(&builder, number, letter)
}

/// The same where a builder stands, for a number of 32 or 64 bits.
pub(super) fn hold_here<'c>(builder: &Builder<'c>, number: BasicValueEnum<'c>) -> Result<(), BuilderError> {
    let letter = match number {
        BasicValueEnum::IntValue(value) => match value.get_type().get_bit_width() {
            32 => 'r',
            64 => 'l',
            _ => return Ok(()),
        },
        BasicValueEnum::FloatValue(value) => match value.get_type().get_bit_width() {
            32 => 'f',
            64 => 'd',
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    write(builder, number.into(), letter)
}

fn write<'c>(builder: &Builder<'c>, number: BasicMetadataValueEnum<'c>, letter: char) -> Result<(), BuilderError> {
    let (context, ty) = match number {
        BasicMetadataValueEnum::IntValue(value) => (value.get_type().get_context(), value.get_type().into()),
        BasicMetadataValueEnum::FloatValue(value) => (value.get_type().get_context(), value.get_type().into()),
        _ => return Ok(()),
    };
    let ty = context.void_type().fn_type(&[ty], false);
    let assembly = context.create_inline_asm(ty, String::new(), letter.to_string(), true, false, None, false);
    builder.build_indirect_call(ty, assembly, &[number], "")?;
    Ok(())
}
