//! The `ttg` dialect: tensors with layouts, shared memory, asynchronous copies and warp specialisation.

use super::enums::{CacheModifier, EvictionPolicy, RmwKind};
use super::table::dialect;
use super::verify;

/// The bit of shared memory in `addrSpace` of `ttg.barrier`.
pub const LOCAL: i64 = 1;

/// Its bits for reads and writes of global memory.
pub const GLOBAL: i64 = 0b110;

dialect! {
    /// Operations of the `ttg` dialect.
    Ttg(TtgOp) "ttg" (ttg) {
        /// The same tensor with its elements held by other threads and registers; with `force_warp_shuffle` without
        /// leaving the warp.
        ConvertLayout "convert_layout"
            (src: one TENSOR)
            -> (result: one TENSOR)
            { force_warp_shuffle: Unit => Absent }
            {
            classes: Classes::GIVES_ANY_LAYOUT,
            exchange: Some(Exchange::Conversion),
            traits: Traits::SAME_OPERANDS_AND_RESULT_SHAPE,
            format: Format::Text("$src attr-dict `:` type($src) `->` type($result)"),
            verify: Some(verify::ttg::convert_layout),
        };
        /// Waits until all threads of the block are here; memory of the named spaces is consistent afterwards.
        /// `addrSpace` has a bit each for local, global_read, global_write, tensor_read and tensor_write.
        Barrier "barrier" () -> () { addrSpace: Int(32) } {
            classes: Classes::SYNCHRONISES.union(Classes::IN_STEP),
            order: Order::BarrierIf(|ir, op| ttg::Barrier(op).addrSpace(ir).is_some_and(|spaces| spaces & LOCAL != 0)),
            effects: Effects::Write,
            format: Format::Custom,
            verify: Some(verify::ttg::barrier),
        };
        /// Waits until at most `num` groups of asynchronous copies are still under way.
        AsyncWait "async_wait" (async_token: many TOKEN) -> (ret_token: one TOKEN) { num: Int(32) } {
            classes: Classes::SYNCHRONISES.union(Classes::RUNS_AHEAD),
            order: Order::Completes(Flight::Copy, |ir, op| ttg::AsyncWait(op).num(ir)),
            effects: Effects::ReadWrite,
            format: Format::Text("($async_token^)? attr-dict"),
        };
        /// Ends a group of asynchronous copies.
        AsyncCommitGroup "async_commit_group" (input_tokens: many TOKEN) -> (async_token: one TOKEN) {} {
            classes: Classes::SYNCHRONISES.union(Classes::RUNS_AHEAD),
            effects: Effects::ReadWrite,
            format: Format::Text("(`tokens` $input_tokens^)? attr-dict"),
        };
        /// Starts copying from global to shared memory without passing through registers. `contiguity`: elements known
        /// to be adjacent.
        AsyncCopyGlobalToLocal "async_copy_global_to_local"
            (
                src: one PTR_LIKE, result: one MEMDESC [WRITE.when(When::InFlight(Flight::Copy))], mask: opt BOOL_LIKE,
                other: opt ANY,
            )
            -> (token: one TOKEN)
            {
                cache: Enum(CacheModifier) => IntIs(1), evict: Enum(EvictionPolicy) => IntIs(1),
                isVolatile: Bool => BoolIs(false), contiguity: Int(32) => IntIs(1),
            }
            {
            classes: Classes::COALESCED.union(Classes::PREDICATED),
            traits: Traits::ATTR_SIZED_OPERANDS,
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$src `,` $result (`mask` $mask^)? (`other` $other^)? oilist(`cacheModifier` `=` $cache | \
                 `evictionPolicy` `=` $evict) attr-dict `:` type($src) `->` type($result)",
            ),
            types: &[TypeRule::bits("mask", "src"), TypeRule::accessed("other", "src")],
            verify: Some(verify::ttg::async_copy),
        };
        /// A buffer in shared memory, holding a tensor if one is given.
        LocalAlloc "local_alloc"
            (src: opt TENSOR)
            -> (result: one MEMDESC [WRITE.when(When::NowIf(|ir, op| ttg::LocalAlloc(op).src(ir).is_some()))])
            { alignment: Int(32) => Absent }
            {
            classes: Classes::TAKES_ANY_RESULT_LAYOUT.union(Classes::RUNS_AHEAD)
                .union(Classes::READS_ANY_LAYOUT),
            effects: Effects::Alloc,
            format: Format::Text("($src^)? attr-dict `:` functional-type(operands, results)"),
            verify: Some(verify::ttg::local_alloc),
        };
        /// Ends the life of a buffer.
        LocalDealloc "local_dealloc" (src: one MEMDESC [UNTOUCHED]) -> () {} {
            effects: Effects::Write,
            format: Format::Text("$src attr-dict `:` qualified(type($src))"),
        };
        /// One element along the first dimension of a buffer.
        MemDescIndex "memdesc_index"
            (src: one MEMDESC [UNTOUCHED], index: one I32)
            -> (result: one MEMDESC [UNTOUCHED])
            {}
            {
            classes: Classes::VIEW,
            format: Format::Text(
                "$src `[` $index `]` attr-dict `:` qualified(type($src)) `->` qualified(type($result))",
            ),
            verify: Some(verify::ttg::memdesc_index),
        };
        /// A part of a buffer at constant offsets.
        MemDescSubslice "memdesc_subslice"
            (src: one MEMDESC [UNTOUCHED])
            -> (result: one MEMDESC [UNTOUCHED])
            { offsets: DenseArray(32) }
            {
            classes: Classes::VIEW,
            format: Format::Text(
                "$src `[` custom<Offsets>($offsets) `]` attr-dict `:` qualified(type($src)) `->` \
                 qualified(type($result))",
            ),
            verify: Some(verify::ttg::memdesc_subslice),
        };
        /// The buffer with its dimensions permuted.
        MemDescTrans "memdesc_trans"
            (src: one MEMDESC [UNTOUCHED])
            -> (result: one MEMDESC [UNTOUCHED])
            { order: DenseArray(32) }
            {
            classes: Classes::VIEW,
            format: Format::Text("$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))"),
            verify: Some(verify::ttg::memdesc_trans),
        };
        /// The buffer under another shape.
        MemDescReshape "memdesc_reshape" (src: one MEMDESC [UNTOUCHED]) -> (result: one MEMDESC [UNTOUCHED]) {} {
            classes: Classes::VIEW,
            format: Format::Text("$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))"),
            verify: Some(verify::ttg::memdesc_reshape),
        };
        /// The buffer's bytes as another type and shape.
        MemDescReinterpret "memdesc_reinterpret"
            (src: one MEMDESC [UNTOUCHED])
            -> (result: one MEMDESC [UNTOUCHED])
            {}
            {
            classes: Classes::VIEW,
            format: Format::Text("$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))"),
            verify: Some(verify::ttg::memdesc_reinterpret),
        };
        /// Reads a buffer into registers.
        LocalLoad "local_load" (src: one MEMDESC [READ], token: opt TOKEN) -> (result: one TENSOR) {} {
            classes: Classes::TAKES_ANY_RESULT_LAYOUT.union(Classes::RUNS_AHEAD),
            effects: Effects::Read,
            format: Format::Text("$src (`token` $token^)? attr-dict `:` qualified(type($src)) `->` type($result)"),
            verify: Some(verify::ttg::local_load),
        };
        /// Writes registers into a buffer.
        LocalStore "local_store" (src: one TENSOR, dst: one MEMDESC [WRITE]) -> () {} {
            classes: Classes::TAKES_ANY_RESULT_LAYOUT.union(Classes::RUNS_AHEAD)
                .union(Classes::READS_ANY_LAYOUT),
            effects: Effects::Write,
            format: Format::Text("$src `,` $dst attr-dict `:` type($src) `->` qualified(type($dst))"),
            verify: Some(verify::ttg::local_store),
        };
        /// Reads elements of a buffer by index along an axis.
        LocalGather "local_gather"
            (src: one MEMDESC [READ], indices: one INT_TENSOR, token: opt TOKEN)
            -> (result: one TENSOR)
            { axis: Int(32) }
            {
            effects: Effects::Read,
            format: Format::Text(
                "$src `[` $indices `]` (`token` $token^)? attr-dict `:` qualified(type($src)) `,` type($indices) `->` \
                 type($result)",
            ),
            verify: Some(verify::ttg::local_gather),
        };
        /// Writes elements of a buffer by index along an axis.
        LocalScatter "local_scatter"
            (dst: one MEMDESC [WRITE], values: one TENSOR, indices: one INT_TENSOR, token: opt TOKEN)
            -> ()
            { axis: Int(32) }
            {
            effects: Effects::Write,
            format: Format::Text(
                "$dst `[` $indices `]` `,` $values (`token` $token^)? attr-dict `:` qualified(type($dst)) `,` \
                 type($indices) `,` type($values)",
            ),
            verify: Some(verify::ttg::local_scatter),
        };
        /// Atomically combines elements of a buffer by index along an axis; gives what was there.
        LocalAtomicScatterRmw "local_atomic_scatter_rmw"
            (dst: one MEMDESC [WRITE], values: one TENSOR, indices: one INT_TENSOR, mask: opt BOOL_LIKE)
            -> (result: one TENSOR)
            { atomic_rmw_op: Enum(RmwKind), axis: Int(32) }
            {
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$atomic_rmw_op `,` $dst `[` $indices `]` `,` $values (`,` $mask^)? attr-dict `:` \
                 functional-type(operands, results)",
            ),
            types: &[TypeRule::same("result", "values"), TypeRule::bits("mask", "values")],
            verify: Some(verify::ttg::local_atomic_scatter),
        };
        /// Whether a stage of a pipelined loop runs in this iteration.
        PredicateStage "predicate_stage"
            (iv: one INT_OR_INDEX, ub: one INT_OR_INDEX, step: one INT_OR_INDEX)
            -> (result: one I1)
            { maxStage: Int(32), stage: Int(32) }
            {
            format: Format::Text(
                "$iv `,` $ub `,` $step `maxStage` $maxStage `stage` $stage attr-dict `:` type($iv) `->` type($result)",
            ),
            types: &[TypeRule::same("ub", "iv"), TypeRule::same("step", "iv")],
        };
        /// Runs its region under a predicate.
        Mask "mask" (pred: one I1) -> (result: many ANY) {} {
            classes: Classes::CONTROL_FLOW,
            regions: &["region"],
            traits: Traits::SINGLE_BLOCK,
            effects: Effects::Recursive,
            verify: Some(verify::ttg::mask),
        };
        /// Ends the region of `ttg.mask`.
        MaskReturn "mask.return" (result: many ANY) -> () {} {
            classes: Classes::YIELDS,
            traits: Traits::TERMINATOR,
            format: Format::Text("$result attr-dict `:` type($result)"),
            verify: Some(verify::ttg::mask_return),
        };
        /// Two e2m1 floats in each byte, the first in its low half, unpacked along an axis to f16 or bf16.
        Fp4ToFp "fp4_to_fp" (src: one INT_TENSOR) -> (result: one FLOAT_TENSOR) { axis: Int(32) } {
            layouts: LayoutRule::Unpacked,
            format: Format::Text("$src attr-dict `:` type($src) `->` type($result)"),
            verify: Some(verify::ttg::fp4_to_fp),
        };
        /// Scratch memory in global memory, one piece a program.
        GlobalScratchAlloc "global_scratch_alloc"
            ()
            -> (result: one PTR)
            {
                nbytes: Int(32), alignment: Int(32), third_party_allocation: Unit => Absent,
                shared_cluster_state: Unit => Absent,
            }
            {
            effects: Effects::Alloc,
            format: Format::Text("attr-dict `:` qualified(type($result))"),
            verify: Some(verify::ttg::global_scratch_alloc),
        };
        /// Runs the default region and the partitions at once, each on warps of its own.
        /// The second region holds one `ttg.warp_specialize.partitions`, whose regions are the partitions.
        WarpSpecialize "warp_specialize"
            ()
            -> (default_passthrough: many ANY)
            {
                partitionNumWarps: DenseArray(32), warpGroupStartIds: DenseArray(32) => Absent,
                requestedRegisters: DenseArray(32) => Absent, actualRegisters: DenseArray(32) => Absent,
            }
            {
            classes: Classes::CONTROL_FLOW,
            regions: &["defaultRegion", "partitionOpHolder"],
            effects: Effects::Recursive,
            format: Format::Custom,
            verify: Some(verify::ttg::warp_specialize),
        };
        /// Holds the partitions of `ttg.warp_specialize`; its operands are their arguments.
        WarpSpecializePartitions "warp_specialize.partitions" (explicit_captures: many ANY) -> () {} {
            classes: Classes::CONTROL_FLOW,
            order: Order::Barrier,
            regions: &["partitionRegions*"],
            traits: Traits::TERMINATOR.union(Traits::ISOLATED_FROM_ABOVE),
            effects: Effects::Recursive,
            verify: Some(verify::ttg::partitions),
        };
        /// Ends the default region of `ttg.warp_specialize` with its results.
        WarpYield "warp_yield" (values: many ANY) -> () {} {
            classes: Classes::YIELDS,
            traits: Traits::TERMINATOR,
            format: Format::Text("($values^)? attr-dict (`:` type($values)^)?"),
            verify: Some(verify::ttg::warp_yield),
        };
        /// Ends a partition.
        WarpReturn "warp_return" () -> () {} {
            traits: Traits::TERMINATOR,
            format: Format::Text("attr-dict"),
            verify: Some(verify::ttg::warp_return),
        };
        /// PTX that each thread runs once, on the elements that it holds of its operands. Free of effects when `pure`.
        InlineAsm "inline_asm"
            (args: many ANY)
            -> (result: many ANY)
            { asm_string: Str, constraints: Str, pure: Bool }
            {
            effects: Effects::Unknown,
            format: Format::Text("$asm_string attr-dict operands `:` functional-type(operands, results)"),
        };
        /// The number of this warp.
        WarpId "warp_id" () -> (result: one I32) { omitUniformHint: Unit => Absent } {
            format: Format::Text("attr-dict"),
        };
    }
}
