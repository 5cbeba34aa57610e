//! Sums of whole numbers that grow from barrier to barrier are computed where they are written.
//!
//! `for i in tl.static_range(n): total += tl.sum(f(i))` leaves a chain of additions, a term from behind each barrier.
//! LLVM sorts the terms of such a chain and adds all of them in front of the last addition, which integers allow, and
//! moves what computes a term behind the barriers too where only that addition uses it. So all of the terms, or what
//! they are made of, are kept in registers until the end: 255 registers for 64 sums over four warps, where 35 do.
//!
//! An empty piece of assembly that uses the sum right behind the addition keeps it there, as in [`super::pins`]. This
//! comes before the middle end.

use std::collections::BTreeMap;

use inkwell::builder::BuilderError;
use inkwell::module::Module;
use inkwell::values::{InstructionOpcode, InstructionValue, IntValue};

use super::pins;
use super::users::{Id, id, operand, users};
use super::warp::BARRIER;
use crate::codegen::machine::called;

/// Keeps the sums of a module behind the barriers that their last term waits for.
///
/// # Errors
/// Fails if LLVM refuses an instruction.
pub(crate) fn keep(module: &Module<'_>) -> Result<(), BuilderError> {
    let mut sums = vec![];
    for block in module.get_functions().flat_map(|f| f.get_basic_block_iter().collect::<Vec<_>>()) {
        // How many barriers stand in front of each number of the block.
        let mut age: BTreeMap<Id, u32> = BTreeMap::new();
        let mut barriers = 0;
        for i in block.get_instructions() {
            if i.get_opcode() == InstructionOpcode::Call && called(i).is_some_and(|name| name == BARRIER) {
                barriers += 1;
            }
            age.insert(id(&i), barriers);
            let is_old = |v: InstructionValue<'_>| age.get(&id(&v)).is_none_or(|&before| before < barriers);
            if barriers > 0 && grows(i, is_old) {
                sums.push(i);
            }
        }
    }
    sums.into_iter().try_for_each(|sum| pin(module, sum))
}

/// Whether an addition adds something new to an older sum that nothing else uses.
fn grows(i: InstructionValue<'_>, is_old: impl Fn(InstructionValue<'_>) -> bool) -> bool {
    if i.get_opcode() != InstructionOpcode::Add {
        return false;
    }
    let made = |index| operand(i, index).and_then(IntValue::as_instruction);
    let (Some(a), Some(b)) = (made(0), made(1)) else { return false };
    let is_sum = |v: InstructionValue<'_>| {
        matches!(v.get_opcode(), InstructionOpcode::Add | InstructionOpcode::Phi) && users(v).take(2).count() == 1
    };
    [(a, b), (b, a)].into_iter().any(|(old, new)| is_sum(old) && is_old(old) && !is_old(new))
}

fn pin<'c>(module: &Module<'c>, sum: InstructionValue<'c>) -> Result<(), BuilderError> {
    let (Ok(value), Some(next)) = (IntValue::try_from(sum), sum.get_next_instruction()) else { return Ok(()) };
    let letter = match value.get_type().get_bit_width() {
        32 => 'r',
        64 => 'l',
        _ => return Ok(()),
    };
    pins::hold(module, value.into(), letter, &next)
}
