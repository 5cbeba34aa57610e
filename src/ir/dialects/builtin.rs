//! The `builtin` and `ub` dialects, and what Triton uses of `gpu` and `llvm`.

use super::table::dialect;

dialect! {
    /// Operations of the `builtin` dialect.
    Builtin(BuiltinOp) "builtin" (builtin) {
        /// The root: holds functions; its attributes say what target it is compiled for.
        Module "module" () -> () { sym_name: Str => Absent } {
            regions: &["body"],
            traits: Traits::ISOLATED_FROM_ABOVE.union(Traits::NO_TERMINATOR).union(Traits::SINGLE_BLOCK),
            effects: Effects::Recursive,
            format: Format::Custom,
        };
        /// A cast that another conversion has yet to resolve.
        UnrealizedConversionCast "unrealized_conversion_cast" (inputs: many ANY) -> (outputs: many ANY) {} {
            format: Format::Text("($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict"),
        };
    }
}

dialect! {
    /// Operations of the `ub` dialect.
    Ub(UbOp) "ub" (ub) {
        /// A value nobody may rely on.
        Poison "poison" () -> (result: one ANY) { value: Any => Absent } {
            format: Format::Text("attr-dict (`<` $value^ `>`)? `:` type($result)"),
        };
        /// Control never gets here.
        Unreachable "unreachable" () -> () {} {
            traits: Traits::TERMINATOR,
            effects: Effects::Write,
            format: Format::Text("attr-dict"),
        };
    }
}

dialect! {
    /// Operations of the `llvm` dialect that occur beside Triton's.
    Llvm(LlvmOp) "llvm" (llvm) {
        /// The optimiser may rely on the condition.
        Assume "intr.assume" (cond: one I1) -> () {} {
            classes: Classes::RUNS_AHEAD,
            effects: Effects::Write,
            format: Format::Text("$cond attr-dict `:` type($cond)"),
        };
    }
}

dialect! {
    /// Operations of the `gpu` dialect that occur beside Triton's.
    Gpu(GpuOp) "gpu" (gpu) {
        /// Waits until all threads of the block are here; memory is consistent afterwards.
        Barrier "barrier" () -> () {} {
            effects: Effects::ReadWrite,
            order: Order::Barrier,
            format: Format::Text("attr-dict"),
        };
    }
}
