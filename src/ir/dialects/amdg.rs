//! The `amdg` dialect: what only AMD's GPUs have: buffer instructions, which take a scalar address and offsets, and
//! what their products need. And what Triton uses of `rocdl`, the dialect of their instructions.

use super::enums::{CacheModifier, EvictionPolicy, MemScope, MemSemantic, RmwKind, SchedGroup};
use super::table::dialect;
use super::verify;

dialect! {
    /// Operations of the `amdg` dialect.
    Amdg(AmdgOp) "amdg" (amdg) {
        /// Reads memory at offsets, in elements, from a scalar address. Where the mask is false nothing is read and the
        /// result is `other`, or 0 without it. `contiguity`: elements known to be adjacent; `stride`: bytes between
        /// rows.
        BufferLoad "buffer_load"
            (ptr: one PTR, offsets: one I32_TENSOR, stride: opt I32, mask: opt BOOL_LIKE, other: opt TENSOR)
            -> (result: one TENSOR)
            {
                cache: Enum(CacheModifier) => IntIs(1), evict: Enum(EvictionPolicy) => IntIs(1),
                contiguity: Int(32) => IntIs(1),
            }
            {
            layouts: LayoutRule::Shared,
            classes: Classes::GLOBAL_ACCESS.union(Classes::PREDICATED),
            traits: Traits::ATTR_SIZED_OPERANDS,
            effects: Effects::Read,
            format: Format::Text(
                "$ptr `[` $offsets `]` (`,` $mask^)? (`,` $other^)? (`stride` `=` $stride^)? attr-dict `:` \
                 qualified(type($ptr)) `->` type($result)",
            ),
            types: &[
                TypeRule::indices("offsets", "result"), TypeRule::bits("mask", "result"),
                TypeRule::same("other", "result"),
            ],
            verify: Some(verify::amdg::buffer_load),
        };
        /// Starts copying to shared memory without passing through registers, as `ttg.async_copy_global_to_local` does.
        BufferLoadToLocal "buffer_load_to_local"
            (
                dest: one MEMDESC [WRITE.when(When::InFlight(Flight::Copy))], ptr: one PTR, offsets: one I32_TENSOR,
                mask: opt BOOL_LIKE, other: opt TENSOR, stride: opt I32,
            )
            -> (token: one TOKEN)
            {
                cache: Enum(CacheModifier) => IntIs(1), evict: Enum(EvictionPolicy) => IntIs(1),
                contiguity: Int(32) => IntIs(1),
            }
            {
            classes: Classes::PREDICATED,
            traits: Traits::ATTR_SIZED_OPERANDS,
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$ptr `[` $offsets `]` (`mask` `=` $mask^)? (`other` `=` $other^)? (`stride` `=` $stride^)? `into` \
                 $dest attr-dict `:` qualified(type($ptr)) `[` type($offsets) `]` type($other) `->` type($dest)",
            ),
            types: &[TypeRule::bits("mask", "offsets")],
            verify: Some(verify::amdg::buffer_load_to_local),
        };
        /// Writes memory at offsets, in elements, from a scalar address, where the mask is true.
        BufferStore "buffer_store"
            (value: one TENSOR, ptr: one PTR, offsets: one I32_TENSOR, stride: opt I32, mask: opt BOOL_LIKE)
            -> ()
            {
                cache: Enum(CacheModifier) => IntIs(1), evict: Enum(EvictionPolicy) => IntIs(1),
                contiguity: Int(32) => IntIs(1),
            }
            {
            layouts: LayoutRule::Shared,
            classes: Classes::PREDICATED,
            traits: Traits::ATTR_SIZED_OPERANDS,
            effects: Effects::Write,
            format: Format::Text(
                "$value `,` $ptr `[` $offsets `]` (`,` $mask^)? (`stride` `=` $stride^)? attr-dict `:` \
                 qualified(type($ptr)) `->` type($value)",
            ),
            types: &[TypeRule::indices("offsets", "value"), TypeRule::bits("mask", "value")],
            verify: Some(verify::amdg::buffer_store),
        };
        /// Atomically replaces what is at offsets from a scalar address; gives what was there.
        BufferAtomicRmw "buffer_atomic_rmw"
            (ptr: one PTR, offsets: one I32_TENSOR, value: one TENSOR, stride: opt I32, mask: opt BOOL_LIKE)
            -> (result: one TENSOR)
            { atomic_rmw_op: Enum(RmwKind), sem: Enum(MemSemantic), scope: Enum(MemScope) }
            {
            layouts: LayoutRule::Shared,
            exchange: Some(Exchange::Copies),
            classes: Classes::PREDICATED,
            traits: Traits::ATTR_SIZED_OPERANDS,
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$atomic_rmw_op `,` $sem `,` $scope `,` $value `,` $ptr `[` $offsets `]` (`,` $mask^)? (`stride` `=` \
                 $stride^)? attr-dict `:` qualified(type($ptr)) `->` type($result)",
            ),
            types: &[
                TypeRule::same("value", "result"), TypeRule::indices("offsets", "result"),
                TypeRule::bits("mask", "result"),
            ],
            verify: Some(verify::amdg::buffer_atomic_rmw),
        };
        /// Atomically stores `val` at offsets from a scalar address if what is there equals `cmp`; gives what was
        /// there.
        BufferAtomicCas "buffer_atomic_cas"
            (ptr: one PTR, offsets: one I32_TENSOR, cmp: one TENSOR, val: one TENSOR, stride: opt I32)
            -> (result: one TENSOR)
            { sem: Enum(MemSemantic), scope: Enum(MemScope) }
            {
            layouts: LayoutRule::Shared,
            exchange: Some(Exchange::Copies),
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$sem `,` $scope `,` $cmp `,` $val `,` $ptr `[` $offsets `]` (`stride` `=` $stride^)? attr-dict `:` \
                 qualified(type($ptr)) `->` type($result)",
            ),
            types: &[
                TypeRule::same("cmp", "result"), TypeRule::same("val", "result"),
                TypeRule::indices("offsets", "result"),
            ],
            verify: Some(verify::amdg::buffer_atomic_cas),
        };
        /// The same tensor with the two axes of each thread's own tile exchanged in the order of its registers, so that
        /// what was read along one axis is written to shared memory along the other.
        InThreadTranspose "in_thread_transpose" (src: one TENSOR) -> (result: one TENSOR) {} {
            exchange: Some(Exchange::Copies),
            traits: Traits::SAME_OPERANDS_AND_RESULT_SHAPE,
            format: Format::Text("$src attr-dict `:` type($src) `->` type($result)"),
            verify: Some(verify::amdg::in_thread_transpose),
        };
        /// A barrier for the warps in which the condition holds: the others come to it later, so that half of a block
        /// runs ahead. It orders no memory.
        CondBarrier "cond_barrier" (pred: one I1) -> () {} {
            classes: Classes::IN_STEP,
            effects: Effects::ReadWrite,
            format: Format::Text("$pred attr-dict"),
        };
    }
}

dialect! {
    /// Operations of the `rocdl` dialect that occur beside Triton's.
    Gcn(GcnOp) "rocdl" (rocdl) {
        /// How urgent the instructions of this wave are from here on.
        Setprio "s.setprio" () -> () { priority: Int(16) } {
            effects: Effects::ReadWrite,
            format: Format::Text("$priority attr-dict"),
        };
        /// Waits until all waves of the block are here. It orders no memory.
        SBarrier "s.barrier" () -> () {} {
            classes: Classes::IN_STEP,
            effects: Effects::ReadWrite,
            format: Format::Text("attr-dict"),
        };
        /// Instructions of other kinds than the named one are not moved across it.
        SchedBarrier "sched.barrier" () -> () { mask: Enum(SchedGroup) } {
            effects: Effects::ReadWrite,
            format: Format::Text("$mask attr-dict"),
        };
        /// Asks for so many instructions of a kind at this place of the schedule.
        SchedGroupBarrier "sched.group.barrier" () -> () { mask: Enum(SchedGroup), size: Int(32), groupId: Int(32) } {
            effects: Effects::ReadWrite,
            format: Format::Text("$mask `,` $size `,` $groupId attr-dict"),
        };
        /// The number of this thread in the block.
        WorkitemIdX "workitem.id.x" () -> (res: one I32) {} {
            format: Format::Text("attr-dict `:` type($res)"),
        };
    }
}
