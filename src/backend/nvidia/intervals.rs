//! Comparisons of floats that the range of what they compare decides.
//!
//! libdevice's logarithms test whether their argument is a denormal, zero, infinite or no number. Kernels often rule
//! that out themselves: `tl.log(tl.minimum(tl.maximum(x, 1.0), 1e6))`. LLVM 22 keeps the tests there, and in sums and
//! products of what has bounds. This pass follows the bounds.
//!
//! # Algorithm
//!
//! 1. Functions without a comparison of floats are left alone.
//! 2. The instructions are visited once, in the order of the blocks. Each one that makes a float gets an [`Interval`],
//!    from those of its operands. A value that has none yet, which includes what a loop brings back, may be anything.
//!    So the pass takes linear time, and what it says of a value rests only on what it has said before.
//! 3. A comparison with a result that the intervals leave no choice becomes a constant. A `select` on it, further
//!    down, has the interval of the operand that is chosen.
//! 4. libdevice finds infinity and NaN by the bits of a number. Above zero bits grow with the number, so that such a
//!    comparison of integers is decided the same way.
//!
//! # Example
//!
//! ```text
//! %a = call float @llvm.maxnum.f32(float %x, float 1.0)          [1, inf], also for a NaN
//! %b = call float @llvm.minnum.f32(float %a, float 8.0)          [1, 8]
//! %c = fcmp olt float %b, 0x3810000000000000                     false
//! %d = select i1 %c, float %scaled, float %b                     [1, 8]
//! %e = bitcast float %d to i32                                   0x3f800000 to 0x41000000
//! %f = icmp ugt i32 %e, 2139095039                               false
//! ```

mod interval;

use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::{LLVMGetTypeKind, LLVMIsAConstantFP, LLVMReplaceAllUsesWith, LLVMTypeOf};
use inkwell::module::Module;
use inkwell::types::AnyTypeEnum;
use inkwell::values::{
    AsValueRef, BasicValueEnum, FastMathFlags, FloatValue, FunctionValue, InstructionOpcode as I, InstructionValue,
    IntValue, PhiValue,
};
use inkwell::{FloatPredicate, IntPredicate};

use self::interval::{EQUAL, Format, GREATER, Interval, LESS, Relations, UNORDERED};
use super::users::{Id, id, operand};
use crate::codegen::machine::called;
use crate::ir::core::hash::Map;

/// The widest integer whose conversion is looked at: it is below infinity in 32 bits.
const WIDEST_INTEGER: u32 = 64;

/// What is known of the values of a function. What may be anything is not in it.
type Known = Map<Id, Interval>;

/// Decides the comparisons of a module. Whether there was one, so that instructions can be combined anew.
pub(crate) fn decide(module: &Module<'_>) -> bool {
    module.get_functions().fold(false, |changed, function| decide_in(function) | changed)
}

fn decide_in(function: FunctionValue<'_>) -> bool {
    let instructions = || function.get_basic_block_iter().flat_map(BasicBlock::get_instructions);
    if !instructions().any(|i| i.get_opcode() == I::FCmp || bits_of(i).is_some()) {
        return false;
    }
    let mut known = Known::default();
    let mut changed = false;
    for i in instructions() {
        if let Some(result) = result_of(i, &known) {
            replace(i, result);
            changed = true;
        } else if let Some(interval) = interval_of(i, &known).filter(|it| *it != Interval::ANY) {
            known.insert(id(&i), interval);
        }
    }
    changed
}

/// Puts a constant in place of a comparison.
fn replace(comparison: InstructionValue<'_>, result: bool) {
    let AnyTypeEnum::IntType(bool_type) = comparison.get_type() else { return };
    let result = bool_type.const_int(u64::from(result), false);
    // SAFETY: both are values of one type. The comparison stays, without a use.
    unsafe { LLVMReplaceAllUsesWith(comparison.as_value_ref(), result.as_value_ref()) };
}

/// The result of a comparison that is decided.
fn result_of(i: InstructionValue<'_>, known: &Known) -> Option<bool> {
    i.get_first_use()?;
    let (wanted, possible) = if let Some(predicate) = i.get_fcmp_predicate() {
        let (a, b) = (float(i, 0)?, float(i, 1)?);
        (ordered(predicate), interval(a, known).relations(interval(b, known)))
    } else {
        let predicate = i.get_icmp_predicate()?;
        let ((low, high), constant) = (interval(bits_of(i)?, known).bits(format(bits_of(i)?)?)?, operand(i, 1)?);
        // The bits of a number above zero are a positive number, with a sign and without.
        let constant = if is_signed(predicate) {
            i128::from(constant.get_sign_extended_constant()?)
        } else {
            i128::from(constant.get_zero_extended_constant()?)
        };
        (integer(predicate), interval::relations((i128::from(low), i128::from(high)), (constant, constant)))
    };
    if possible & !wanted == 0 {
        Some(true)
    } else if possible & wanted == 0 {
        Some(false)
    } else {
        None
    }
}

/// The relations for which a comparison of floats holds.
fn ordered(predicate: FloatPredicate) -> Relations {
    match predicate {
        FloatPredicate::PredicateFalse => 0,
        FloatPredicate::OEQ => EQUAL,
        FloatPredicate::OGT => GREATER,
        FloatPredicate::OGE => GREATER | EQUAL,
        FloatPredicate::OLT => LESS,
        FloatPredicate::OLE => LESS | EQUAL,
        FloatPredicate::ONE => LESS | GREATER,
        FloatPredicate::ORD => LESS | EQUAL | GREATER,
        FloatPredicate::UNO => UNORDERED,
        FloatPredicate::UEQ => UNORDERED | EQUAL,
        FloatPredicate::UGT => UNORDERED | GREATER,
        FloatPredicate::UGE => UNORDERED | GREATER | EQUAL,
        FloatPredicate::ULT => UNORDERED | LESS,
        FloatPredicate::ULE => UNORDERED | LESS | EQUAL,
        FloatPredicate::UNE => UNORDERED | LESS | GREATER,
        FloatPredicate::PredicateTrue => UNORDERED | LESS | EQUAL | GREATER,
    }
}

/// The relations for which a comparison of integers holds.
fn integer(predicate: IntPredicate) -> Relations {
    match predicate {
        IntPredicate::EQ => EQUAL,
        IntPredicate::NE => LESS | GREATER,
        IntPredicate::UGT | IntPredicate::SGT => GREATER,
        IntPredicate::UGE | IntPredicate::SGE => GREATER | EQUAL,
        IntPredicate::ULT | IntPredicate::SLT => LESS,
        IntPredicate::ULE | IntPredicate::SLE => LESS | EQUAL,
    }
}

fn is_signed(predicate: IntPredicate) -> bool {
    matches!(predicate, IntPredicate::SGT | IntPredicate::SGE | IntPredicate::SLT | IntPredicate::SLE)
}

/// The float whose bits a comparison of integers compares with a constant.
fn bits_of(i: InstructionValue<'_>) -> Option<FloatValue<'_>> {
    if i.get_opcode() != I::ICmp || !operand(i, 1)?.is_constant_int() {
        return None;
    }
    let cast = operand(i, 0)?.as_instruction().filter(|cast| cast.get_opcode() == I::BitCast)?;
    float(cast, 0)
}

/// The interval of a value that stands somewhere in the function.
fn interval(value: FloatValue<'_>, known: &Known) -> Interval {
    // SAFETY: the value is alive; the call only asks. Undefined values are constants too, but no numbers.
    if unsafe { LLVMIsAConstantFP(value.as_value_ref()) }.is_null() {
        return known.get(&id(&value)).copied().unwrap_or(Interval::ANY);
    }
    let exact = value.get_constant().filter(|(_, is_rounded)| !is_rounded).zip(format(value));
    exact.map_or(Interval::ANY, |((constant, _), format)| Interval::constant(constant).flushed(format))
}

/// The interval of what an instruction makes. `None` if that is no float, or nothing is known of it.
fn interval_of(i: InstructionValue<'_>, known: &Known) -> Option<Interval> {
    let AnyTypeEnum::FloatType(_) = i.get_type() else { return None };
    let format = format(i)?;
    let get = |index| Some(interval(float(i, index)?, known));
    let made = match i.get_opcode() {
        I::FNeg => get(0)?.negated(),
        I::FAdd | I::FSub | I::FMul if format != Format::Single || may_be_rewritten(i) => return None,
        I::FAdd => get(0)?.plus(get(1)?).rounded(),
        I::FSub => get(0)?.plus(get(1)?.negated()).rounded(),
        I::FMul => get(0)?.times(get(1)?).rounded(),
        I::FPExt => get(0)?,
        I::FPTrunc if format == Format::Single => get(0)?.rounded(),
        I::UIToFP | I::SIToFP => converted(i, format)?,
        I::Select => match operand(i, 0)?.get_zero_extended_constant() {
            Some(0) => get(2)?,
            Some(_) => get(1)?,
            None => get(1)?.or(get(2)?),
        },
        I::Phi => {
            let phi = PhiValue::try_from(i).ok()?;
            let values = phi.get_incomings().map(|(value, _)| match value {
                BasicValueEnum::FloatValue(value) => interval(value, known),
                _ => Interval::ANY,
            });
            values.reduce(Interval::or)?
        }
        I::Call if !may_be_rewritten(i) => of_call(&called(i)?, format, get)?,
        _ => return None,
    };
    Some(made.flushed(format))
}

/// Whether flags let LLVM compute something else than the instruction says. What is fused is rounded once less, which
/// the intervals allow for.
fn may_be_rewritten(i: InstructionValue<'_>) -> bool {
    let loose = FastMathFlags::AllowReassoc | FastMathFlags::AllowReciprocal | FastMathFlags::ApproxFunc;
    i.get_fast_math_flags().is_ok_and(|flags| flags.intersects(loose))
}

/// The interval of an integer as a float.
fn converted(i: InstructionValue<'_>, format: Format) -> Option<Interval> {
    let bits = operand(i, 0).map(IntValue::get_type)?.get_bit_width();
    if bits > WIDEST_INTEGER || !matches!(format, Format::Single | Format::Double) {
        return None;
    }
    // Powers of two are floats. One below is rounded to it where it is none.
    let power = |of: u32| f64::from(of).exp2();
    Some(match i.get_opcode() {
        I::UIToFP => Interval::numbers(0.0, power(bits)),
        _ => Interval::numbers(-power(bits - 1), power(bits - 1)),
    })
}

/// The interval of what an intrinsic makes: LLVM's, and NVIDIA's as libdevice calls them.
///
/// `max.f32` has the other operand's value for any NaN (PTX ISA, "Floating Point Instructions: max"), also for one that
/// signals, and so do `llvm.maxnum` and `llvm.maximumnum` here. `max.NaN.f32`, for `llvm.maximum`, is NaN for any.
fn of_call(name: &str, format: Format, get: impl Fn(u32) -> Option<Interval>) -> Option<Interval> {
    let mut words = name.strip_prefix("llvm.")?.split('.');
    let first = words.next()?;
    let (is_nvidia, operation) = if first == "nvvm" { (true, words.next()?) } else { (false, first) };
    let words: Vec<&str> = words.collect();
    let (last, modifiers) = words.split_last()?;
    if !matches!(*last, "f" | "d" | "f16" | "bf16" | "f32" | "f64") {
        return None;
    }
    let only = |allowed: &[&str]| modifiers.iter().all(|word| allowed.contains(word));
    let is_rounding = is_nvidia && format == Format::Single && only(&["rn", "rz", "rm", "rp", "ftz"]);
    let passes_nan_on = modifiers.contains(&"nan");
    Some(match operation {
        "fabs" if only(&["ftz"]) => get(0)?.absolute(),
        "maxnum" | "maximumnum" => get(0)?.larger(get(1)?),
        "minnum" | "minimumnum" => get(0)?.smaller(get(1)?),
        "maximum" => get(0)?.larger_or_nan(get(1)?),
        "minimum" => get(0)?.smaller_or_nan(get(1)?),
        "fmax" if only(&["ftz", "nan"]) && passes_nan_on => get(0)?.larger_or_nan(get(1)?),
        "fmin" if only(&["ftz", "nan"]) && passes_nan_on => get(0)?.smaller_or_nan(get(1)?),
        "fmax" if only(&["ftz"]) => get(0)?.larger(get(1)?),
        "fmin" if only(&["ftz"]) => get(0)?.smaller(get(1)?),
        "add" if is_rounding => get(0)?.plus(get(1)?).rounded(),
        "mul" if is_rounding => get(0)?.times(get(1)?).rounded(),
        "fma" if is_rounding || !is_nvidia && format == Format::Single => {
            get(0)?.times(get(1)?).plus(get(2)?).rounded()
        }
        // The product may be rounded, or not.
        "fmuladd" if format == Format::Single => get(0)?.times(get(1)?).rounded().plus(get(2)?).rounded(),
        "sqrt" if only(&["rn", "rz", "rm", "rp", "approx", "ftz"]) => get(0)?.square_root(),
        "ex2" if is_nvidia && only(&["approx", "ftz"]) => get(0)?.power(),
        _ => return None,
    })
}

/// An operand that is a float.
fn float(instruction: InstructionValue<'_>, index: u32) -> Option<FloatValue<'_>> {
    match instruction.get_operand(index)?.value()? {
        BasicValueEnum::FloatValue(value) => Some(value),
        _ => None,
    }
}

/// The format of a float.
fn format(value: impl AsValueRef) -> Option<Format> {
    // SAFETY: the value is alive; both calls only ask.
    match unsafe { LLVMGetTypeKind(LLVMTypeOf(value.as_value_ref())) } {
        LLVMTypeKind::LLVMHalfTypeKind => Some(Format::Half),
        LLVMTypeKind::LLVMBFloatTypeKind => Some(Format::Brain),
        LLVMTypeKind::LLVMFloatTypeKind => Some(Format::Single),
        LLVMTypeKind::LLVMDoubleTypeKind => Some(Format::Double),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
