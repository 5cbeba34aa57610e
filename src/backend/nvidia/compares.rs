//! Numbers that differ by constants and are compared with one value, or subtracted from one another: one difference of
//! them is computed.
//!
//! `cols == target` compares each element of a tile with the same value, as losses over a vocabulary do. Each column of
//! a thread is an addition, and a comparison with it. In a loop, LLVM's strength reduction turns around what stays and
//! what moves: `start + column == target` becomes `start == target - column`, and as many differences as a thread has
//! elements live as long as the loop, two registers each where they have 64 bits. From one difference, each comparison
//! is with a constant.
//!
//! # Algorithm
//!
//! 1. A number is a sum of values and a constant ([`Sum`]): of additions and disjoint `or`s, through extensions that
//!    lose no carry.
//! 2. In a block, comparisons for being equal or not, of numbers whose sums differ in the constant alone with one
//!    value, are a group. At least [`LEAST`] of them become `value - first == constant`, where `first` is the number of
//!    the first one.
//! 3. In a block, subtractions of numbers whose sums differ in the constants alone are a group. Masks and weights by
//!    the distance of a row from a column have them: of 2 rows and 32 columns of a thread, 34 distances differ. Where
//!    some of at least [`LEAST`] are alike, each becomes the first one and a constant.
//!
//! ```text
//! before: %a = add %x, 1                 after: %d = sub %y, %x
//!         icmp eq %x, %y                        icmp eq %d, 0
//!         icmp eq %a, %y                        icmp eq %d, 1
//! ```

use std::collections::BTreeSet;

use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::{Builder, BuilderError};
use inkwell::llvm_sys::core::{LLVMBuildFreeze, LLVMGetNSW, LLVMGetNUW};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionOpcode, InstructionValue, IntValue};

use super::users::{Id, id, is_disjoint_or, operand};
use crate::ir::core::hash::Map;

/// The fewest comparisons that share a difference: it is an instruction itself.
const LEAST: usize = 4;
/// The deepest expression that is looked into.
const DEEPEST: u32 = 4;
/// Bits below which numbers are left alone: they share registers.
const NARROWEST: u32 = 32;

/// How a value of fewer bits becomes one of the sum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Extended {
    No,
    Signed,
    Unsigned,
}

/// A sum modulo 2^n: values, which are in order, and a constant.
#[derive(Clone, Default)]
struct Sum {
    values: Vec<(Id, Extended)>,
    constant: i64,
}

/// A comparison of a group: the instruction, its number, and the constant of that.
struct Compared<'c> {
    instruction: InstructionValue<'c>,
    number: IntValue<'c>,
    constant: i64,
}

/// Lets the comparisons of every block share differences.
///
/// # Errors
/// Fails if LLVM refuses an instruction.
pub(crate) fn share(module: &Module<'_>) -> Result<(), BuilderError> {
    let builder = module.get_context().create_builder();
    for block in module.get_functions().flat_map(FunctionValue::get_basic_block_iter) {
        let mut groups: Map<(Id, Vec<(Id, Extended)>), usize> = Map::default();
        let mut found: Vec<(IntValue<'_>, Vec<Compared<'_>>)> = vec![];
        for instruction in block.get_instructions() {
            let [Some(a), Some(b)] = [0, 1].map(|n| operand(instruction, n)) else { continue };
            let predicate = instruction.get_icmp_predicate();
            let is_narrow = a.get_type().get_bit_width() < NARROWEST;
            if !matches!(predicate, Some(IntPredicate::EQ | IntPredicate::NE)) || b.is_const() || is_narrow {
                continue;
            }
            // Which of the two is the sum is not known: either may turn out to have company.
            for (number, value) in [(a, b), (b, a)] {
                let sum = sum(number, DEEPEST);
                let group = *groups.entry((id(&value), sum.values)).or_insert(found.len());
                if group == found.len() {
                    found.push((value, vec![]));
                }
                found[group].1.push(Compared { instruction, number, constant: sum.constant });
            }
        }
        for (value, compared) in found.iter().filter(|(_, compared)| differ(compared)) {
            rewrite(&builder, *value, compared)?;
        }
        share_differences(&builder, block)?;
    }
    Ok(())
}

/// Step 3.
fn share_differences<'c>(builder: &Builder<'c>, block: BasicBlock<'c>) -> Result<(), BuilderError> {
    let mut groups: Map<[Vec<(Id, Extended)>; 2], usize> = Map::default();
    let mut found: Vec<Vec<(InstructionValue<'c>, i64)>> = vec![];
    for instruction in block.get_instructions().filter(|i| i.get_opcode() == InstructionOpcode::Sub) {
        let [Some(a), Some(b)] = [0, 1].map(|n| operand(instruction, n)) else { continue };
        if a.is_const() || b.is_const() || a.get_type().get_bit_width() < NARROWEST {
            continue;
        }
        let (a, b) = (sum(a, DEEPEST), sum(b, DEEPEST));
        let group = *groups.entry([a.values, b.values]).or_insert(found.len());
        if group == found.len() {
            found.push(vec![]);
        }
        found[group].push((instruction, a.constant.wrapping_sub(b.constant)));
    }
    for group in found {
        let mut made: Map<i64, IntValue<'c>> = Map::default();
        let distances: BTreeSet<i64> = group.iter().map(|&(_, constant)| constant).collect();
        if group.len() < LEAST || distances.len() == group.len() {
            continue;
        }
        let (first, start) = group[0];
        let [Some(a), Some(b)] = [0, 1].map(|n| operand(first, n)) else { continue };
        builder.position_before(&first);
        let difference = builder.build_int_sub(a, b, "")?;
        made.insert(start, difference);
        for (instruction, constant) in group {
            let value = if let Some(&known) = made.get(&constant) {
                known
            } else {
                builder.position_before(&instruction);
                let apart = a.get_type().const_int(constant.wrapping_sub(start) as u64, true);
                let value = builder.build_int_add(difference, apart, "")?;
                made.insert(constant, value);
                value
            };
            if let Some(value) = value.as_instruction() {
                instruction.replace_all_uses_with(&value);
            }
        }
    }
    Ok(())
}

/// Whether enough comparisons are of different numbers.
fn differ(compared: &[Compared<'_>]) -> bool {
    let mut constants: Vec<i64> = compared.iter().map(|one| one.constant).collect();
    constants.sort_unstable();
    constants.dedup();
    constants.len() >= LEAST
}

fn rewrite<'c>(builder: &Builder<'c>, value: IntValue<'c>, compared: &[Compared<'c>]) -> Result<(), BuilderError> {
    let Some(first) = compared.first() else { return Ok(()) };
    builder.position_before(&first.instruction);
    let difference = builder.build_int_sub(value, first.number, "")?;
    // Strength reduction does not look through a freeze, and would turn small groups around again.
    // SAFETY: the builder stands behind the difference, which is a number.
    let difference =
        unsafe { IntValue::new(LLVMBuildFreeze(builder.as_mut_ptr(), difference.as_value_ref(), c"".as_ptr())) };
    for one in compared {
        let Some(predicate) = one.instruction.get_icmp_predicate() else { continue };
        builder.position_before(&one.instruction);
        let apart = value.get_type().const_int(one.constant.wrapping_sub(first.constant) as u64, true);
        let test = builder.build_int_compare(predicate, difference, apart, "")?;
        if let Some(test) = test.as_instruction() {
            one.instruction.replace_all_uses_with(&test);
        }
    }
    Ok(())
}

/// A number as a sum.
fn sum(number: IntValue<'_>, depth: u32) -> Sum {
    if let Some(constant) = number.get_sign_extended_constant() {
        return Sum { values: vec![], constant };
    }
    parts(number, depth).unwrap_or_else(|| Sum { values: vec![(id(&number), Extended::No)], constant: 0 })
}

/// The sum of a number that is one; `None` if it stands for itself.
fn parts(number: IntValue<'_>, depth: u32) -> Option<Sum> {
    let (instruction, depth) = (number.as_instruction()?, depth.checked_sub(1)?);
    match instruction.get_opcode() {
        InstructionOpcode::Add => {}
        InstructionOpcode::Or if is_disjoint_or(instruction) => {}
        InstructionOpcode::SExt => return extended(instruction, Extended::Signed),
        InstructionOpcode::ZExt => return extended(instruction, Extended::Unsigned),
        _ => return None,
    }
    let (a, b) = (sum(operand(instruction, 0)?, depth), sum(operand(instruction, 1)?, depth));
    let mut values = [a.values, b.values].concat();
    values.sort_unstable();
    Some(Sum { values, constant: a.constant.wrapping_add(b.constant) })
}

/// The sum of an extension: that of a value and a constant may be extended apart if the narrow sum loses no carry.
fn extended(instruction: InstructionValue<'_>, how: Extended) -> Option<Sum> {
    let narrow = operand(instruction, 0)?;
    let alone = Sum { values: vec![(id(&narrow), how)], constant: 0 };
    let Some(inner) = narrow.as_instruction() else { return Some(alone) };
    let [Some(value), Some(constant)] = [0, 1].map(|n| operand(inner, n)) else { return Some(alone) };
    // SAFETY: the flags are those of the instruction, by its operation.
    let keeps = unsafe {
        match inner.get_opcode() {
            InstructionOpcode::Or => is_disjoint_or(inner),
            InstructionOpcode::Add if how == Extended::Signed => LLVMGetNSW(inner.as_value_ref()) != 0,
            InstructionOpcode::Add => LLVMGetNUW(inner.as_value_ref()) != 0,
            _ => false,
        }
    };
    let constant = match how {
        Extended::Signed => constant.get_sign_extended_constant(),
        _ => constant.get_zero_extended_constant().map(u64::cast_signed),
    };
    match constant.filter(|_| keeps) {
        Some(constant) => Some(Sum { values: vec![(id(&value), how)], constant }),
        None => Some(alone),
    }
}
