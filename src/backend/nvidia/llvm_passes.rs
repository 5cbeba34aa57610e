//! Which LLVM passes run, and how.
//!
//! The target machine is set before the first of them: without it jump threading and others do not know that barriers
//! are convergent.
//!
//! [`tensor`] is for kernels that ttc lowered: straight-line code of many registers, the source's loops, calls of
//! libdevice only, no memory but that of inline PTX. It resolves `__nvvm_reflect` and inlines first, so that everything
//! after sees the code that stays, then does once what `O3` repeats: scalar clean-up, loop rotation and hoisting, full
//! unrolling, unrolling of small loops in part, and a last clean-up. Each pass is in the list because some kernel's
//! machine code gets worse without it (docs/performance.md has the table; `examples/llvm_pipelines` makes it), or
//! because libdevice needs it. What is not there found nothing in any of them: GVN (the back end runs it anyway), a
//! second SROA, bit tracking, a third combination of instructions. Vectors are looked for where
//! [`computes_in_16_bits`] says so.

use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::LLVMValueKind;
use inkwell::llvm_sys::core::{LLVMGetCalledValue, LLVMGetValueKind};
use inkwell::module::Module;
use inkwell::types::{AnyType, AnyTypeEnum};
use inkwell::values::{AsValueRef, FunctionValue, InstructionOpcode, InstructionValue};

/// Blocks of a function beyond which its loops are not rotated: LLVM repairs the tree of dominators after each
/// rotation, in time that grows with the blocks behind the loop. 7,200 blocks of 2,400 loops in a row take it 2.5
/// seconds, twice as many four times as long.
const MOST_BLOCKS_TO_ROTATE: u32 = 5_000;

/// Blocks of a function beyond which its loops are not unrolled in part. 300 loops in a row, 900 blocks, would become
/// six times the code, and take LLVM 1.7 seconds instead of 0.4.
const MOST_BLOCKS_TO_UNROLL: u32 = 300;

/// The combination of instructions.
pub(crate) const COMBINE: &str = "instcombine<no-verify-fixpoint>";

/// What gives the loops of a module another form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Loops {
    /// Whether the test of a loop goes to its end.
    rotate: bool,
    /// Whether small loops are unrolled in part, and those of known length up to the size that `O3` allows.
    unroll: bool,
}

impl Loops {
    /// Loops of functions with many blocks stay as they are.
    pub(crate) fn of(module: &Module<'_>) -> Loops {
        let most = module.get_functions().map(FunctionValue::count_basic_blocks).max().unwrap_or(0);
        Loops { rotate: most <= MOST_BLOCKS_TO_ROTATE, unroll: most <= MOST_BLOCKS_TO_UNROLL }
    }
}

impl Default for Loops {
    fn default() -> Loops {
        Loops { rotate: true, unroll: true }
    }
}

/// The pipeline for kernels that ttc lowered, with or without the SLP vectorizer.
pub(crate) fn tensor(slp: bool, loops: Loops) -> String {
    let scalar = format!("nvvm-intr-range,sroa<modify-cfg>,early-cse,simplifycfg,{COMBINE}");
    let rotation = if loops.rotate { "loop-rotate," } else { "" };
    // Text cannot tell `loop-unroll-full` its level: it takes loops of half the size that `O3` does.
    let known = if loops.unroll {
        "loop(indvars,loop-deletion),loop-unroll<O3;no-partial;no-runtime>"
    } else {
        "loop(indvars,loop-deletion,loop-unroll-full)"
    };
    // Of 44 real kernels that spill and change, 20 spill less with `instcombine` in front of `simplifycfg`, and 7 more.
    let nests = format!("loop-mssa({rotation}licm),{COMBINE},simplifycfg,{known}");
    let redundancy = "sccp,reassociate,early-cse";
    // Small loops that wait for memory in each turn, with a scalar or a few elements: several turns load at once.
    let unrolling = if loops.unroll { "loop-unroll<O3>," } else { "" };
    let vectors = if slp { "slp-vectorizer,vector-combine," } else { "" };
    let last = format!("simplifycfg<forward-switch-cond;switch-range-to-icmp;sink-common-insts>,{COMBINE}");
    format!(
        "nvvm-reflect,always-inline,function<eager-inv>({scalar},{nests},{redundancy},{vectors}{unrolling}{last}),globaldce"
    )
}

/// Whether a module computes with elements of 16 bits, of which a register holds two: there, and nowhere else, the SLP
/// vectorizer finds something, and it takes half of the time of all passes in modules with large products.
pub(crate) fn computes_in_16_bits(module: &Module<'_>) -> bool {
    let mut instructions =
        module.get_functions().flat_map(FunctionValue::get_basic_block_iter).flat_map(BasicBlock::get_instructions);
    instructions.any(|i| is_arithmetic(i) && element_bits(i.get_type()) == Some(16))
}

/// Whether an instruction computes, rather than moves or converts: calls count as far as they call something of LLVM's
/// (a fused multiply-add).
fn is_arithmetic(i: InstructionValue<'_>) -> bool {
    use InstructionOpcode as I;
    match i.get_opcode() {
        I::FNeg | I::FAdd | I::FSub | I::FMul | I::FDiv | I::FRem | I::Add | I::Sub | I::Mul => true,
        I::Shl | I::LShr | I::AShr | I::And | I::Or | I::Xor => true,
        // SAFETY: the instruction is alive and a call; both calls only ask.
        I::Call => unsafe {
            LLVMGetValueKind(LLVMGetCalledValue(i.as_value_ref())) == LLVMValueKind::LLVMFunctionValueKind
        },
        _ => false,
    }
}

/// Bits of a number or of an element of a vector.
fn element_bits(ty: AnyTypeEnum<'_>) -> Option<u32> {
    match ty {
        AnyTypeEnum::FloatType(f) => Some(f.get_bit_width()),
        AnyTypeEnum::IntType(i) => Some(i.get_bit_width()),
        AnyTypeEnum::VectorType(v) => element_bits(v.get_element_type().as_any_type_enum()),
        _ => None,
    }
}
