//! What depends on the target: NVIDIA's extras, questions about the target, and host functions of `triton` that kernels
//! call.

use super::debug;
use super::entry::entry;
use crate::diag::codes::names;
use crate::ir::{OpState, TtOp};
use crate::irgen::emit::{Emitter, R};
use crate::irgen::semantic::operators;
use crate::irgen::types::Dtype;
use crate::irgen::value::{Builtin, Const, Func, Object};
use crate::parser::ast::BinOp;
use crate::target::Vendor;

/// `tl.extra.cuda`
pub(super) static CUDA: &[Builtin] = &[
    entry("num_threads", "", "Threads of the block, at compile time.", |cx, _| {
        Ok(Object::int(cx.settings().launch.num_warps * cx.target().warp_size()))
    }),
    entry("num_warps", "", "Warps of the block, at compile time.", |cx, _| {
        Ok(Object::int(cx.settings().launch.num_warps))
    }),
    entry("smid", "", "The multiprocessor on which this runs.", |cx, _| {
        debug::read_register(cx, "mov.u32 $0, %smid;", "=r", Dtype::Int32, true)
    }),
    entry("globaltimer", "", "Nanoseconds of the global timer.", |cx, _| {
        debug::read_register(cx, "mov.u64 $0, %globaltimer;", "=l", Dtype::Int64, false)
    }),
    entry("gdc_wait", "", "Waits until the kernel before this one has written everything (sm_90 and up).", |cx, _| {
        nvidia(cx, TtOp::GridDependencyWait)
    }),
    entry("gdc_launch_dependents", "", "Lets the kernel after this one start (sm_90 and up).", |cx, _| {
        nvidia(cx, TtOp::GridDependencyLaunchDependents)
    }),
];

fn nvidia(cx: &mut Emitter, kind: TtOp) -> R<Object> {
    let state = OpState::new(kind, cx.loc());
    cx.emit(state).map(|_| Object::NONE)
}

/// `tl.target_info`
pub(super) static INFO: &[Builtin] = &[
    entry("is_cuda", "", "Whether the target is NVIDIA's.", |cx, _| {
        Ok(Object::bool(cx.target().vendor() == Vendor::Nvidia))
    }),
    entry("is_hip", "", "Whether the target is AMD's.", |cx, _| Ok(Object::bool(cx.target().vendor() == Vendor::Amd))),
    entry("is_hip_cdna3", "", "Whether the target is AMD's CDNA3.", |cx, _| Ok(Object::bool(cx.target().is_cdna3()))),
    entry("is_hip_cdna4", "", "Whether the target is AMD's CDNA4.", |cx, _| Ok(Object::bool(cx.target().is_cdna4()))),
    // None of the targets is one.
    entry("is_hip_gfx1250", "", "Whether the target is AMD's gfx1250.", |_, _| Ok(Object::bool(false))),
    entry("cuda_capability_geq", "major, minor=0", "Whether the compute capability is at least this.", |cx, a| {
        let least = a.int(cx, 0)? * 10 + a.int(cx, 1)?;
        Ok(Object::bool(i128::from(cx.target().triton_number()) >= least))
    }),
];

/// Calls of these give a decorator that leaves its function as it is; their arguments are host code.
pub const DECORATORS: [&str; 2] = ["autotune", "heuristics"];

/// The parameters of `triton.jit`. What they say of a launch is for the command line to say.
const JIT: &str = "fn=None, version=None, repr=None, launch_metadata=None, do_not_specialize=None, \
                   do_not_specialize_on_alignment=None, debug=None, noinline=None";

/// `triton`
pub(super) static TRITON: &[Builtin] = &[
    entry("cdiv", "x, y", "x / y, rounded up.", |cx, a| {
        let (x, y) = (a.get(0).clone(), a.get(1).clone());
        let one = operators::binary(cx, BinOp::Sub, &y, &Object::int(1))?;
        let sum = operators::binary(cx, BinOp::Add, &x, &one)?;
        operators::binary(cx, BinOp::FloorDiv, &sum, &y)
    }),
    entry("next_power_of_2", "n", "The least power of two not below n, at compile time; 0 for 0 and less.", |cx, a| {
        let n = a.int(cx, 0)?;
        // As Triton computes it.
        if n <= 0 {
            return Ok(Object::int(0));
        }
        match u64::try_from(n).ok().and_then(u64::checked_next_power_of_two) {
            Some(p) => Ok(Object::int(p)),
            None => Err(cx.error_help(
                &names::CONST_EVAL,
                format!("{n} is too large"),
                "in this call",
                "the next power of two must fit 64 bits",
            )),
        }
    }),
    entry("jit", JIT, "Makes a function one that is compiled.", |_, a| {
        Ok(match a.get(0) {
            Object::Const(Const::Func(f)) => Const::Func(Func { jit: true, ..f.clone() }).into(),
            // `triton.jit(debug=True)` gives the decorator.
            Object::Const(Const::None) => Const::Builtin(a.builtin).into(),
            other => other.clone(),
        })
    }),
    entry(DECORATORS[0], "*args, configs=None, key=None", "Leaves the function as it is.", |_, a| {
        Ok(Const::Builtin(a.builtin).into())
    }),
    entry(DECORATORS[1], "*args, values=None", "Leaves the function as it is.", |_, a| {
        Ok(Const::Builtin(a.builtin).into())
    }),
    entry("constexpr_function", "fn=None", "A function as it is: it runs at compile time.", |_, a| {
        Ok(a.get(0).clone())
    }),
];
