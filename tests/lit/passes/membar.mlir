// Barriers where shared memory needs them, and none where it does not.
// RUN: ttc opt %s --test-print-membar | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#c = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#s1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @write_then_read
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // Reading twice needs nothing.
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: tt.return
  tt.func public @write_then_read(%x: tensor<16x64xf16, #b>) {
    %0 = ttg.local_alloc %x : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    %2 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    tt.return
  }
  // A buffer that takes over the place of a dead one waits for its readers.
  // CHECK-LABEL: @place_taken_over
  // CHECK: ttg.local_load
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  tt.func public @place_taken_over(%x: tensor<16x64xf16, #b>) {
    %0 = ttg.local_alloc %x : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    %2 = ttg.local_alloc %x : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    %3 = ttg.local_load %2 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    tt.return
  }
  // The two buffers of one allocation are apart, and so are disjoint sub-slices; the one barrier is for the read of what was written.
  // CHECK-LABEL: @apart
  // CHECK: ttg.local_store
  // CHECK-NOT: ttg.barrier
  // CHECK: ttg.local_store
  // CHECK-NOT: ttg.barrier
  // CHECK: ttg.local_store
  // CHECK: ttg.barrier local
  // CHECK: ttg.local_load
  // CHECK-NOT: ttg.barrier
  // CHECK: tt.return
  tt.func public @apart(%x: tensor<16x64xf16, #b>, %y: tensor<16x32xf16, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc : () -> !ttg.memdesc<2x16x64xf16, #s, #smem, mutable>
    %1 = ttg.memdesc_index %0[%c0] : !ttg.memdesc<2x16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %2 = ttg.memdesc_index %0[%c1] : !ttg.memdesc<2x16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %3 = ttg.memdesc_subslice %2 [0, 0] : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<16x32xf16, #s, #smem, mutable, 16x64>
    %4 = ttg.memdesc_subslice %2 [0, 32] : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<16x32xf16, #s, #smem, mutable, 16x64>
    ttg.local_store %x, %1 : tensor<16x64xf16, #b> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    ttg.local_store %y, %3 : tensor<16x32xf16, #b> -> !ttg.memdesc<16x32xf16, #s, #smem, mutable, 16x64>
    ttg.local_store %y, %4 : tensor<16x32xf16, #b> -> !ttg.memdesc<16x32xf16, #s, #smem, mutable, 16x64>
    %5 = ttg.local_load %2 : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> tensor<16x64xf16, #b>
    tt.return
  }
  // Rows that are apart overlap where they are shown with elements of another width: bytes 0 to 1023 and 512 to 1023.
  // CHECK-LABEL: @shown_narrower
  // CHECK: ttg.local_store
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_store
  // CHECK: tt.return
  tt.func public @shown_narrower(%x: tensor<8x64xf16, #b>, %y: tensor<8x64xi8, #b>) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %1 = ttg.memdesc_reinterpret %0 : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<16x64xi8, #s, #smem, mutable>
    %2 = ttg.memdesc_subslice %0 [0, 0] : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<8x64xf16, #s, #smem, mutable, 16x64>
    %3 = ttg.memdesc_subslice %1 [8, 0] : !ttg.memdesc<16x64xi8, #s, #smem, mutable> -> !ttg.memdesc<8x64xi8, #s, #smem, mutable, 16x64>
    ttg.local_store %x, %2 : tensor<8x64xf16, #b> -> !ttg.memdesc<8x64xf16, #s, #smem, mutable, 16x64>
    ttg.local_store %y, %3 : tensor<8x64xi8, #b> -> !ttg.memdesc<8x64xi8, #s, #smem, mutable, 16x64>
    tt.return
  }
  // A loop meets itself: the store waits for the load of the iteration before, the load for the store.
  // CHECK-LABEL: @around
  // CHECK: scf.for
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: scf.yield
  tt.func public @around(%x: tensor<16x64xf16, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc : () -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<16x64xf16, #b>) : i32 {
      ttg.local_store %v, %0 : tensor<16x64xf16, #b> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
      %2 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> tensor<16x64xf16, #b>
      scf.yield %2 : tensor<16x64xf16, #b>
    }
    tt.return
  }
  // The exchange of the second conversion waits for the first, whose own barrier lies before its loads; both are in one place.
  // CHECK-LABEL: @scratch
  // CHECK: ttg.convert_layout
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.convert_layout
  // CHECK-NEXT: tt.return
  tt.func public @scratch(%x: tensor<64x64xf16, #b>) {
    %0 = ttg.convert_layout %x : tensor<64x64xf16, #b> -> tensor<64x64xf16, #c>
    %1 = ttg.convert_layout %0 : tensor<64x64xf16, #c> -> tensor<64x64xf16, #b>
    tt.return
  }
  // A barrier between copy and wait does not do: other threads' copies are only complete at their waits.
  // CHECK-LABEL: @in_flight
  // CHECK: ttg.barrier local
  // CHECK: ttg.async_wait
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  tt.func public @in_flight(%p: tensor<16x64x!tt.ptr<f16>, #b>) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %1 = ttg.async_copy_global_to_local %p, %0 : tensor<16x64x!tt.ptr<f16>, #b> -> <16x64xf16, #s, #smem, mutable>
    %2 = ttg.async_commit_group tokens %1
    ttg.barrier local
    %3 = ttg.async_wait %2 {num = 0 : i32}
    %4 = ttg.local_load %0 token %3 : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> tensor<16x64xf16, #b>
    tt.return
  }
  // Operations on mbarriers are atomic; only making and ending one must be seen by all.
  // CHECK-LABEL: @mbarrier
  // CHECK: ttng.init_barrier
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttng.inval_barrier
  tt.func public @mbarrier() {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.init_barrier %0, 1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.wait_barrier %0, %c0 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.wait_barrier %0, %c1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.inval_barrier %0 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    tt.return
  }
  // Only one way writes, but a barrier is needed after both.
  // CHECK-LABEL: @branches
  // CHECK: cf.cond_br
  // CHECK: ^bb1:
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: cf.br
  // CHECK: ^bb2:
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  tt.func public @branches(%x: tensor<16x64xf16, #b>, %p: i1) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    cf.cond_br %p, ^bb1, ^bb2
  ^bb1:
    ttg.local_store %x, %0 : tensor<16x64xf16, #b> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    cf.br ^bb2
  ^bb2:
    %1 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> tensor<16x64xf16, #b>
    tt.return
  }
  // A copy by hardware goes on over a wait for something else; only its own wait, and then all threads, make way for the next block.
  // CHECK-LABEL: @stores_go_on
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttg.local_store
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  tt.func public @stores_go_on(%d: !tt.tensordesc<16x64xf16, #nvmma>, %x: tensor<16x64xf16, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc : () -> !ttg.memdesc<16x64xf16, #nvmma, #smem, mutable>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %w = ttng.warp_group_dot_wait %x {pendings = 0 : i32} : tensor<16x64xf16, #b>
      ttg.barrier local
      ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
      ttg.local_store %x, %0 : tensor<16x64xf16, #b> -> !ttg.memdesc<16x64xf16, #nvmma, #smem, mutable>
      ttng.fence_async_shared {bCluster = false}
      ttng.async_tma_copy_local_to_global %d[%i, %i] %0 : !tt.tensordesc<16x64xf16, #nvmma>, !ttg.memdesc<16x64xf16, #nvmma, #smem, mutable>
    }
    tt.return
  }
  // Each thread waits itself for what hardware brings: no barrier behind that. The next block comes behind the barrier that expecting it begins with.
  // CHECK-LABEL: @hardware_brings
  // CHECK: scf.for
  // CHECK-NOT: ttg.barrier
  // CHECK: scf.yield
  // CHECK: ttg.barrier local
  // CHECK-NEXT: ttng.inval_barrier
  tt.func public @hardware_brings(%d: !tt.tensordesc<16x64xf16, #nvmma>, %n: i32, %x: tensor<16x64xf16, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %0 = ttg.local_alloc : () -> !ttg.memdesc<16x64xf16, #nvmma, #smem, mutable>
    %1 = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.init_barrier %1, 1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    %2 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<16x64xf16, #b>) : i32 {
      ttng.barrier_expect %1, 2048, %true : !ttg.memdesc<1xi64, #s1, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%i, %i] %0, %1, %true : !tt.tensordesc<16x64xf16, #nvmma>, !ttg.memdesc<1xi64, #s1, #smem, mutable> -> !ttg.memdesc<16x64xf16, #nvmma, #smem, mutable>
      %phase = arith.remsi %i, %c1 : i32
      ttng.wait_barrier %1, %phase : !ttg.memdesc<1xi64, #s1, #smem, mutable>
      %3 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #nvmma, #smem, mutable> -> tensor<16x64xf16, #b>
      scf.yield %3 : tensor<16x64xf16, #b>
    }
    ttng.inval_barrier %1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    tt.return
  }
  // Behind a wait for asynchronous copies the barrier comes before the fence between proxies, behind a store the fence comes first.
  // CHECK-LABEL: @fences
  // CHECK: ttg.async_wait
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK: ttg.local_store
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttng.warp_group_dot
  tt.func public @fences(%p: tensor<64x64x!tt.ptr<f16>, #b>, %x: tensor<64x64xf16, #b>, %acc: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    %1 = ttg.async_copy_global_to_local %p, %0 : tensor<64x64x!tt.ptr<f16>, #b> -> <64x64xf16, #n, #smem, mutable>
    %2 = ttg.async_commit_group tokens %1
    %3 = ttg.async_wait %2 {num = 0 : i32}
    ttng.fence_async_shared {bCluster = false}
    %4 = ttng.warp_group_dot %0, %0, %acc : !ttg.memdesc<64x64xf16, #n, #smem, mutable> * !ttg.memdesc<64x64xf16, #n, #smem, mutable> -> tensor<64x64xf32, #mma>
    ttg.local_store %x, %0 : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    %5 = ttng.warp_group_dot %0, %0, %4 : !ttg.memdesc<64x64xf16, #n, #smem, mutable> * !ttg.memdesc<64x64xf16, #n, #smem, mutable> -> tensor<64x64xf32, #mma>
    tt.return %5 : tensor<64x64xf32, #mma>
  }
  // All warps tell an mbarrier that they have read a slot, and the first warp waits for them before it has the slot
  // filled again: the loop needs no barrier. One stands in front of it, as the mbarrier must be there for all warps, and
  // one behind it, as it must not be gone.
  // CHECK-LABEL: @refilled
  // CHECK: ttng.init_barrier
  // CHECK: ttg.barrier local
  // CHECK-NEXT: scf.for
  // CHECK-NOT: ttg.barrier local
  // CHECK: ttng.async_tma_copy_global_to_local {{.*}}
  // CHECK-NEXT: }
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttng.inval_barrier
  tt.func public @refilled(%d: !tt.tensordesc<64x64xf16, #nvmma>, %n: i32) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #nvmma, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s1, #smem, mutable>
    %empty = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.init_barrier %full, 1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.init_barrier %empty, 4 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttg.barrier local
    scf.for %i = %c0 to %n step %c1 : i32 {
      %slot = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x64x64xf16, #nvmma, #smem, mutable> -> !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>
      ttng.wait_barrier %full, %c0 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
      %x = ttg.local_load %slot : !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable> -> tensor<64x64xf16, #b>
      ttng.arrive_barrier %empty, 1 {ttc.each_warp} : !ttg.memdesc<1xi64, #s1, #smem, mutable>
      ttng.wait_barrier %empty, %c0 {ttc.first_warp} : !ttg.memdesc<1xi64, #s1, #smem, mutable>
      ttng.barrier_expect %full, 8192 {ttc.first_warp}, %true : !ttg.memdesc<1xi64, #s1, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%i, %i] %slot, %full, %true {ttc.first_warp} : !tt.tensordesc<64x64xf16, #nvmma>, !ttg.memdesc<1xi64, #s1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>
    }
    ttng.inval_barrier %full : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    tt.return
  }
  // The slot is read behind the arrival, so the arrival says nothing of it.
  // CHECK-LABEL: @refilled_early
  // CHECK: scf.for
  // CHECK: ttng.barrier_expect
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local
  tt.func public @refilled_early(%d: !tt.tensordesc<64x64xf16, #nvmma>, %n: i32) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #nvmma, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s1, #smem, mutable>
    %empty = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.init_barrier %full, 1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.init_barrier %empty, 4 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttg.barrier local
    scf.for %i = %c0 to %n step %c1 : i32 {
      %slot = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x64x64xf16, #nvmma, #smem, mutable> -> !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>
      ttng.arrive_barrier %empty, 1 {ttc.each_warp} : !ttg.memdesc<1xi64, #s1, #smem, mutable>
      ttng.wait_barrier %full, %c0 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
      %x = ttg.local_load %slot : !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable> -> tensor<64x64xf16, #b>
      ttng.wait_barrier %empty, %c0 {ttc.first_warp} : !ttg.memdesc<1xi64, #s1, #smem, mutable>
      ttng.barrier_expect %full, 8192 {ttc.first_warp}, %true : !ttg.memdesc<1xi64, #s1, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%i, %i] %slot, %full, %true {ttc.first_warp} : !tt.tensordesc<64x64xf16, #nvmma>, !ttg.memdesc<1xi64, #s1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #nvmma, #smem, mutable>
    }
    tt.return
  }
}
