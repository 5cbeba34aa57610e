//! The `ttg` and `ttng` dialects: tensors with layouts, shared memory, and what only NVIDIA's GPUs have.

use super::spec::dialect;
use super::verify;

dialect! {
    /// Operations of the `ttg` dialect.
    TtgOp "ttg" (ttg) {
        /// The same tensor with its elements held by other threads and registers.
        ConvertLayout "convert_layout" (src: one TENSOR) -> (result: one TENSOR) {} {
            traits: Traits::SAME_OPERANDS_AND_RESULT_SHAPE,
            format: Format::Text("$src attr-dict `:` type($src) `->` type($result)"),
            verify: Some(verify::ttg::convert_layout),
        };
        /// Waits until all threads of the block are here.
        Barrier "barrier" () -> () { addrSpace: Int(32) => Absent } {
            effects: Effects::Write,
            format: Format::Custom,
        };
    }
}

dialect! {
    /// Operations of the `ttng` dialect.
    TtngOp "ttng" (ttng) {
        /// Orders generic-proxy accesses to shared memory before later async-proxy ones.
        FenceAsyncShared "fence_async_shared" () -> () { bCluster: Bool } {
            effects: Effects::Write,
            format: Format::Text("attr-dict"),
        };
    }
}
