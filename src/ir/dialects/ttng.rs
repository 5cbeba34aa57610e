//! The `ttng` dialect: what only NVIDIA's GPUs have: mbarriers, TMA, `wgmma`, tensor memory and `tcgen05`, clusters.

use super::discardable::{EACH_WARP, FIRST_WARP, JOINED, TWO_CTAS};
use super::enums::{
    CacheModifier, DescriptorReduceKind, EvictionPolicy, InputPrecision, PackedKind, ProgramDim, ScaledElem,
    TmemReduceKind, TmemWaitKind,
};
use super::infer;
use super::table::dialect;
use super::verify;
use crate::ir::core::{Ir, Op};

/// Whether a `ttng.warp_group_dot` is not waited for.
fn is_async(ir: &Ir, op: Op) -> bool {
    ttng::WarpGroupDot(op).isAsync(ir)
}

/// Whether `fromCTA` lets a block arrive for another one: not all bits of the number are kept.
fn routes(ir: &Ir, op: Op, kept: Option<i64>) -> bool {
    kept.is_some_and(|kept| kept != verify::context_ctas(ir, op) - 1)
}

/// Whether blocks of the cluster work in pairs, as `tcgen05` with `two_ctas` does.
fn in_pairs(ir: &Ir) -> bool {
    ir.get(ir.module(), TWO_CTAS).is_some_and(|pairs| pairs.as_bool() == Some(true))
}

dialect! {
    /// Operations of the `ttng` dialect.
    Ttng(TtngOp) "ttng" (ttng) {
        /// Orders generic-proxy accesses to shared memory before later async-proxy ones.
        FenceAsyncShared "fence_async_shared" () -> () { bCluster: Bool } {
            classes: Classes::PROXY_FENCE.union(Classes::RUNS_AHEAD),
            effects: Effects::Write,
            format: Format::Text("attr-dict"),
        };
        /// Makes initialised barriers visible to the cluster.
        FenceMbarrierInitReleaseCluster "fence_mbarrier_init_release_cluster" () -> () {} {
            order: Order::ReleasesMbarriers,
            effects: Effects::Write,
            format: Format::Text("attr-dict"),
            verify: Some(verify::ttng::needs_cluster),
        };
        /// Waits for all warps of the cluster; a relaxed one waits for no memory.
        ClusterBarrier "cluster_barrier" () -> () { relaxed: Bool => BoolIs(false) } {
            order: Order::ClusterBarrierIf(|ir, op| !ttng::ClusterBarrier(op).relaxed(ir)),
            effects: Effects::Write,
            format: Format::Text("attr-dict"),
            verify: Some(verify::ttng::cluster_barrier),
        };
        /// Asks to cancel a cluster that has not started, to take over its work.
        ClcTryCancel "clc_try_cancel" (result: one MEMDESC [WRITE], mbarrier: one MEMDESC [ARRIVE]) -> () {} {
            classes: Classes::ASYNC_PROXY,
            reaches_blocks: Some(|_, _| true),
            effects: Effects::Write,
            format: Format::Text(
                "$result `,` $mbarrier attr-dict `:` qualified(type($result)) `,` qualified(type($mbarrier))",
            ),
            verify: Some(verify::ttng::clc_try_cancel),
        };
        /// Asks to cancel a cluster that has not started and waits for the answer.
        ClcTryCancelSync "clc_try_cancel_sync" () -> (result: one INT_TENSOR) {} {
            effects: Effects::ReadWrite,
            format: Format::Text("attr-dict `:` type($result)"),
            verify: Some(verify::ttng::clc_try_cancel_sync),
        };
        /// The answer to a cancel request.
        ClcLoadResult "clc_load_result" (src: one MEMDESC [READ]) -> (clc_result: one I128) {} {
            effects: Effects::Read,
            format: Format::Text("$src attr-dict `:` qualified(type($src)) `->` type($clc_result)"),
            verify: Some(verify::ttng::clc_load_result),
        };
        /// Whether a cluster was cancelled.
        ClcIsCanceled "clc_is_canceled" (clc_result: one I128) -> (is_canceled: one I1) {} {
            format: Format::Text("$clc_result attr-dict `:` type($clc_result) `->` type($is_canceled)"),
        };
        /// The grid position of the cancelled cluster.
        ClcGetProgramId "clc_get_program_id" (clc_result: one I128) -> (result: one I32) { dim: Enum(ProgramDim) } {
            format: Format::Text("$clc_result `,` $dim attr-dict `:` type($clc_result) `->` type($result)"),
        };
        /// `wgmma`: a × b + c by a warp group, with b and perhaps a in shared memory.
        WarpGroupDot "warp_group_dot"
            (
                a: one TENSOR_OR_MEMDESC [READ.when(When::InFlightIf(Flight::Product, is_async))],
                b: one MEMDESC [READ.when(When::InFlightIf(Flight::Product, is_async))], c: one TENSOR, use_c: opt I1,
            )
            -> (d: one TENSOR)
            {
                inputPrecision: Enum(InputPrecision) => IntIs(2), maxNumImpreciseAcc: Int(32) => IntIs(0),
                isAsync: Bool => BoolIs(false),
            }
            {
            classes: Classes::PRODUCT.union(Classes::ANCHOR).union(Classes::ASYNC_PROXY),
            effects: Effects::Read,
            format: Format::Text(
                "$a `,` $b `,` $c (`,` $use_c^)? attr-dict `:` type($a) `*` qualified(type($b)) `->` type($d)",
            ),
            types: &[TypeRule::same("d", "c")],
            verify: Some(verify::ttng::warp_group_dot),
        };
        /// Waits until at most `pendings` asynchronous dots are under way.
        WarpGroupDotWait "warp_group_dot_wait"
            (inputs: many TENSOR_OR_MEMDESC [UNTOUCHED])
            -> (outputs: many TENSOR_OR_MEMDESC [UNTOUCHED])
            { pendings: Int(32) }
            {
            classes: Classes::SYNCHRONISES.union(Classes::FORWARDS),
            order: Order::Completes(Flight::Product, |ir, op| ttng::WarpGroupDotWait(op).pendings(ir)),
            effects: Effects::ReadWrite,
            format: Format::Text("$inputs attr-dict `:` type($inputs)"),
            infer: Some(infer::results_as_operands),
            verify: Some(verify::ttng::warp_group_dot_wait),
        };
        /// Initialises an mbarrier that waits for `count` arrivals.
        InitBarrier "init_barrier" (alloc: one MEMDESC [LIVE]) -> () { count: Int(32) } {
            effects: Effects::Write,
            format: Format::Text("$alloc `,` $count attr-dict `:` qualified(type($alloc))"),
            verify: Some(verify::ttng::init_barrier),
        };
        /// Ends the use of an mbarrier.
        InvalBarrier "inval_barrier" (alloc: one MEMDESC [LIVE]) -> () {} {
            effects: Effects::Write,
            format: Format::Text("$alloc attr-dict `:` qualified(type($alloc))"),
            verify: Some(verify::ttng::on_barrier),
        };
        /// Tells an mbarrier how many bytes will arrive. The bits of `fromCTA` say which bits of a block's number are
        /// kept in the number of the block that does so for it; without, each does for its own.
        BarrierExpect "barrier_expect"
            (alloc: one MEMDESC [ARRIVE], pred: one I1)
            -> ()
            { size: Int(32), fromCTA: Int(32) => Absent }
            {
            classes: Classes::PREDICATED,
            order: Order::BarrierIf(|ir, op| !ir.stores(op, FIRST_WARP)),
            reaches_blocks: Some(|ir, op| routes(ir, op, ttng::BarrierExpect(op).fromCTA(ir))),
            effects: Effects::Write,
            format: Format::Text("$alloc `,` $size attr-dict `,` $pred `:` qualified(type($alloc))"),
            verify: Some(verify::ttng::barrier_expect),
        };
        /// Waits until a phase of an mbarrier is complete. `deps` keeps buffers alive until then.
        WaitBarrier "wait_barrier"
            (alloc: one MEMDESC [WAIT], phase: one I32, pred: opt I1, deps: many MEMDESC [UNTOUCHED])
            -> ()
            {}
            {
            classes: Classes::PREDICATED,
            traits: Traits::ATTR_SIZED_OPERANDS,
            order: Order::EntersIf(|ir, op| ir.stores(op, FIRST_WARP)),
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$alloc `,` $phase (`,` $pred^)? (`deps` $deps^)? attr-dict `:` qualified(type($alloc)) (`,` \
                 type($deps)^)?",
            ),
            verify: Some(verify::ttng::on_barrier),
        };
        /// Arrives `count` times at an mbarrier. The bits of `fromCTA` say which bits of a block's number are kept in
        /// the number of the block that arrives for it, those of `multicastCTA` which may differ in the blocks at whose
        /// barriers each block arrives.
        ArriveBarrier "arrive_barrier"
            (alloc: one MEMDESC [ARRIVE], pred: opt I1)
            -> ()
            { count: Int(32), fromCTA: Int(32) => Absent, multicastCTA: Int(32) => IntIs(0) }
            {
            classes: Classes::PREDICATED,
            order: Order::LeavesIf(|ir, op| ir.stores(op, EACH_WARP)),
            reaches_blocks: Some(|ir, op| {
                let arrive = ttng::ArriveBarrier(op);
                routes(ir, op, arrive.fromCTA(ir)) || arrive.multicastCTA(ir) != Some(0)
            }),
            effects: Effects::ReadWrite,
            format: Format::Text("$alloc `,` $count (`,` $pred^)? attr-dict `:` qualified(type($alloc))"),
            verify: Some(verify::ttng::arrive_barrier),
        };
        /// Arrives at an mbarrier once the asynchronous copies issued so far are complete.
        AsyncCopyMbarrierArrive "async_copy_mbarrier_arrive"
            (barrier: one MEMDESC [ARRIVE])
            -> ()
            { noIncrement: Unit => Absent }
            {
            effects: Effects::Write,
            format: Format::Text("$barrier attr-dict `:` qualified(type($barrier))"),
            verify: Some(verify::ttng::on_barrier),
        };
        /// Writes registers into shared memory asynchronously and arrives at an mbarrier.
        AsyncSharedStore "async_shared_store"
            (src: one TENSOR, dst: one MEMDESC [WRITE], mbarrier: one MEMDESC [ARRIVE])
            -> ()
            {}
            {
            reaches_blocks: Some(|_, _| true),
            effects: Effects::Write,
            format: Format::Text(
                "$src `,` $dst `,` $mbarrier attr-dict `:` type($src) `->` qualified(type($dst)) `,` \
                 qualified(type($mbarrier))",
            ),
            verify: Some(verify::ttng::async_shared_store),
        };
        /// TMA: copies a block of a tensor in global memory to shared memory and arrives at an mbarrier.
        AsyncTmaCopyGlobalToLocal "async_tma_copy_global_to_local"
            (
                desc: one TENSORDESC, coord: many I32, offsets: many I16,
                barrier: one MEMDESC [ARRIVE.when(When::Signalled)], result: one MEMDESC [WRITE.when(When::Signalled)],
                pred: one I1,
            )
            -> ()
            {
                multicast: Unit => Absent, cache: Enum(CacheModifier) => IntIs(1),
                evict: Enum(EvictionPolicy) => IntIs(1), isVolatile: Bool => BoolIs(false),
            }
            {
            classes: Classes::ASYNC_PROXY.union(Classes::PREDICATED),
            traits: Traits::ATTR_SIZED_OPERANDS,
            reaches_blocks: Some(|ir, op| ttng::AsyncTmaCopyGlobalToLocal(op).multicast(ir)),
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$desc `[` $coord `]` (`offsets` `=` `[` $offsets^ `]`)? $result `,` $barrier `,` $pred \
                 oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict) attr-dict `:` \
                 qualified(type($desc)) `,` qualified(type($barrier)) `->` qualified(type($result))",
            ),
            verify: Some(verify::ttng_tma::load),
        };
        /// TMA: copies a block in shared memory to global memory.
        AsyncTmaCopyLocalToGlobal "async_tma_copy_local_to_global"
            (desc: one TENSORDESC, coord: many I32, src: one MEMDESC [READ.when(When::InFlight(Flight::Store))])
            -> ()
            {}
            {
            classes: Classes::ASYNC_PROXY,
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$desc `[` $coord `]` $src attr-dict `:` qualified(type($desc)) `,` qualified(type($src))",
            ),
            verify: Some(verify::ttng_tma::store),
        };
        /// TMA: combines a block in shared memory with global memory, atomically.
        AsyncTmaReduce "async_tma_reduce"
            (desc: one TENSORDESC, coord: many I32, src: one MEMDESC [READ.when(When::InFlight(Flight::Store))])
            -> ()
            { kind: Enum(DescriptorReduceKind) }
            {
            classes: Classes::ASYNC_PROXY,
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$kind `,` $desc `[` $coord `]` $src attr-dict `:` qualified(type($desc)) `,` qualified(type($src))",
            ),
            verify: Some(verify::ttng_tma::reduce),
        };
        /// TMA: copies rows by index to shared memory and arrives at an mbarrier.
        AsyncTmaGather "async_tma_gather"
            (
                desc: one TENSORDESC, x_offsets: one INT_VECTOR, y_offset: one I32,
                barrier: one MEMDESC [ARRIVE.when(When::Signalled)], result: one MEMDESC [WRITE.when(When::Signalled)],
                pred: one I1,
            )
            -> ()
            { multicast: Unit => Absent }
            {
            classes: Classes::ASYNC_PROXY.union(Classes::PREDICATED),
            reaches_blocks: Some(|ir, op| ttng::AsyncTmaGather(op).multicast(ir)),
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$desc `[` $x_offsets `,` $y_offset `]` $result `,` $barrier `,` $pred attr-dict `:` type(operands)",
            ),
            verify: Some(verify::ttng_tma::gather),
        };
        /// TMA: copies rows in shared memory to global memory by index.
        AsyncTmaScatter "async_tma_scatter"
            (
                desc: one TENSORDESC, x_offsets: one INT_VECTOR, y_offset: one I32,
                src: one MEMDESC [READ.when(When::InFlight(Flight::Store))],
            )
            -> ()
            {}
            {
            classes: Classes::ASYNC_PROXY,
            effects: Effects::ReadWrite,
            format: Format::Text("$desc `[` $x_offsets `,` $y_offset `]` $src attr-dict `:` type(operands)"),
            verify: Some(verify::ttng_tma::scatter),
        };
        /// Waits until at most `pendings` TMA stores are under way; with `read_only` until they have read their source.
        TmaStoreWait "async_tma_store_wait" () -> () { pendings: Int(32), read_only: Unit => Absent } {
            order: Order::Completes(Flight::Store, |ir, op| ttng::TmaStoreWait(op).pendings(ir)),
            effects: Effects::ReadWrite,
            format: Format::Text("attr-dict"),
        };
        /// `tcgen05.mma`: a × b + d in tensor memory.
        TcGen5Mma "tc_gen5_mma"
            (
                a: one MEMDESC [READ], b: one MEMDESC [READ], d: one MEMDESC [WRITE], acc_dep: opt TOKEN, use_d: one I1,
                pred: one I1, barriers: many MEMDESC [ARRIVE], barrier_preds: many I1,
            )
            -> (token: opt TOKEN)
            {
                is_async: Unit => Absent, two_ctas: Unit => Absent, multicast: Unit => Absent,
                is_unsigned: Unit => Absent,
            }
            {
            classes: Classes::PRODUCT.union(Classes::ANCHOR).union(Classes::ASYNC_PROXY),
            traits: Traits::ATTR_SIZED_OPERANDS,
            reaches_blocks: Some(|ir, op| {
                let product = ttng::TcGen5Mma(op);
                product.two_ctas(ir) || product.multicast(ir)
            }),
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$a `,` $b `,` $d `` custom<Token>($acc_dep, type($token)) `,` $use_d `,` $pred `` \
                 custom<BarriersAndPreds>($barriers, $barrier_preds) attr-dict `:` qualified(type($a)) `,` \
                 qualified(type($b)) `,` qualified(type($d)) (`,` qualified(type($barriers))^)?",
            ),
            verify: Some(verify::ttng_mma::tc_gen5_mma),
        };
        /// `tcgen05.mma` of microscaled operands.
        TcGen5MmaScaled "tc_gen5_mma_scaled"
            (
                a: one MEMDESC [READ], b: one MEMDESC [READ], d: one MEMDESC [WRITE], acc_dep: opt TOKEN,
                a_scale: one MEMDESC [READ], b_scale: one MEMDESC [READ], use_d: one I1, pred: one I1,
                barriers: many MEMDESC [ARRIVE], barrier_preds: many I1,
            )
            -> (token: opt TOKEN)
            {
                a_type: Enum(ScaledElem), b_type: Enum(ScaledElem), two_ctas: Unit => Absent, multicast: Unit => Absent,
                is_async: Unit => Absent,
            }
            {
            classes: Classes::PRODUCT.union(Classes::ANCHOR).union(Classes::ASYNC_PROXY),
            traits: Traits::ATTR_SIZED_OPERANDS,
            reaches_blocks: Some(|ir, op| {
                let product = ttng::TcGen5MmaScaled(op);
                product.two_ctas(ir) || product.multicast(ir)
            }),
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$a `,` $b `,` $d `` custom<Token>($acc_dep, type($token)) `,` $a_scale `,` $b_scale `,` $use_d `,` \
                 $pred `lhs` `=` $a_type `rhs` `=` $b_type `` custom<BarriersAndPreds>($barriers, $barrier_preds) \
                 attr-dict `:` qualified(type($a)) `,` qualified(type($b)) `,` qualified(type($d)) `,` \
                 qualified(type($a_scale)) `,` qualified(type($b_scale)) (`,` qualified(type($barriers))^)?",
            ),
            verify: Some(verify::ttng_mma::tc_gen5_mma_scaled),
        };
        /// Makes an mbarrier track the `tcgen05` operations issued so far.
        TcGen5Commit "tc_gen5_commit"
            (barrier: one MEMDESC [ARRIVE], pred: opt I1, descs: many MEMDESC [UNTOUCHED])
            -> ()
            {}
            {
            order: Order::Barrier,
            traits: Traits::ATTR_SIZED_OPERANDS,
            reaches_blocks: Some(|ir, op| !ttng::TcGen5Commit(op).descs(ir).is_empty() || in_pairs(ir)),
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$barrier (`,` $pred^)? (`descs` $descs^)? attr-dict `:` qualified(type($barrier)) (`,` \
                 qualified(type($descs))^)?",
            ),
            verify: Some(verify::ttng_mma::tc_gen5_commit),
        };
        /// Reads tensor memory into registers, perhaps with a reduction of each row.
        TmemLoad "tmem_load"
            (src: one MEMDESC [READ], dep: opt TOKEN)
            -> (result: one TENSOR, token: opt TOKEN, red: opt TENSOR)
            { redOp: Enum(TmemReduceKind) => Absent, abs: Bool => Absent, NaN: Bool => Absent }
            {
            classes: Classes::ANCHOR,
            effects: Effects::Read,
            format: Format::Text(
                "$src `` custom<Token>($dep, type($token)) attr-dict `:` qualified(type($src)) `->` type($result) \
                 (`,` type($red)^)?",
            ),
            verify: Some(verify::ttng_mma::tmem_load),
        };
        /// Writes registers into tensor memory.
        TmemStore "tmem_store"
            (dst: one MEMDESC [WRITE], dep: opt TOKEN, src: one TENSOR, pred: one I1)
            -> (token: opt TOKEN)
            {}
            {
            classes: Classes::TAKES_LOADS,
            effects: Effects::Write,
            format: Format::Text(
                "$src `,` $dst `` custom<Token>($dep, type($token)) `,` $pred attr-dict `:` type($src) `->` \
                 qualified(type($dst))",
            ),
            verify: Some(verify::ttng_mma::tmem_store),
        };
        /// A buffer in tensor memory, holding a tensor if one is given.
        TmemAlloc "tmem_alloc"
            (src: opt TENSOR)
            -> (
                result: one MEMDESC [WRITE.when(When::NowIf(|ir, op| ttng::TmemAlloc(op).src(ir).is_some()))],
                token: opt TOKEN,
            )
            {}
            {
            effects: Effects::Alloc,
            format: Format::Text("($src^)? attr-dict `:` functional-type(operands, results)"),
            verify: Some(verify::ttng_mma::tmem_alloc),
        };
        /// Columns of a buffer in tensor memory, from column `offset` on; with `dim` rows, or buffers of several.
        TmemSubslice "tmem_subslice"
            (src: one MEMDESC [UNTOUCHED])
            -> (result: one MEMDESC [UNTOUCHED])
            { offset: Int(32), dim: Int(32) => IntIs(1) }
            {
            classes: Classes::VIEW,
            format: Format::Text("$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))"),
            verify: Some(verify::ttng_mma::tmem_subslice),
        };
        /// Starts copying from shared to tensor memory.
        TmemCopy "tmem_copy" (src: one MEMDESC [READ], dst: one MEMDESC [WRITE]) -> () {} {
            classes: Classes::ASYNC_PROXY,
            reaches_blocks: Some(|ir, _| in_pairs(ir)),
            effects: Effects::ReadWrite,
            format: Format::Text("$src `,` $dst attr-dict `:` qualified(type(operands))"),
            verify: Some(verify::ttng_mma::tmem_copy),
        };
        /// Waits until this thread's loads from tensor memory, or its stores to it, are complete.
        TmemWait "tmem_wait" () -> () { kind: Enum(TmemWaitKind) } {
            effects: Effects::ReadWrite,
            format: Format::Text("$kind attr-dict"),
        };
        /// Arithmetic on neighbouring elements at once, `add.f32x2` and its like.
        PackedArith "packed_arith"
            (args: many PACKED_OPERAND)
            -> (result: one PACKED_RESULT)
            { op_kind: Enum(PackedKind) }
            {
            format: Format::Text("$op_kind operands attr-dict `:` functional-type(operands, results)"),
            verify: Some(verify::packed::packed_arith),
        };
        /// A pointer to a TMA descriptor as a tensor descriptor.
        ReinterpretTensorDescriptor "reinterpret_tensor_descriptor" (raw_desc: one PTR) -> (result: one TENSORDESC) {} {
            format: Format::Text("$raw_desc attr-dict `:` qualified(type($raw_desc)) `to` qualified(type($result))"),
        };
        /// Writes a TMA descriptor to memory.
        TensormapCreate "tensormap_create"
            (
                desc_ptr: one PTR, global_address: one PTR, box_dim: many I32, global_dim: many I32,
                global_stride: many I64, element_stride: many I32,
            )
            -> ()
            { elem_type: Int(32), interleave_layout: Int(32), swizzle_mode: Int(32), fill_mode: Int(32) }
            {
            classes: Classes::BRANCHES_OFF,
            exchange: Some(Exchange::Descriptor),
            traits: Traits::ATTR_SIZED_OPERANDS,
            effects: Effects::ReadWrite,
            format: Format::Text(
                "$desc_ptr `,` $global_address `,` `[` $box_dim `]` `,` `[` $global_dim `]` `,` `[` $global_stride \
                 `]` `,` `[` $element_stride `]` attr-dict `:` functional-type(operands, results)",
            ),
            verify: Some(verify::ttng::tensormap_create),
        };
        /// Makes a TMA descriptor that was written to memory visible to TMA: one warp fences, the others wait for it,
        /// unless they wait for another one behind it.
        TensormapFenceproxyAcquire "tensormap_fenceproxy_acquire" (desc_ptr: one PTR) -> () {} {
            classes: Classes::BRANCHES_OFF,
            order: Order::BarrierIf(|ir, op| !ir.stores(op, JOINED)),
            effects: Effects::Write,
            format: Format::Text("$desc_ptr attr-dict `:` qualified(type($desc_ptr))"),
        };
    }
}
