// RUN: ttc opt %s -split-input-file --allocate-shared-memory-nv --tritongpu-insert-barriers | FileCheck %s
// Barriers of the cluster: around memory that other blocks reach into, and before mbarriers that they arrive at.

// A reduction along the axis that blocks share reads the other block's partial results, so its memory is written again
// only after all blocks have read, and the kernel ends no sooner.
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#of_columns = #ttg.slice<{dim = 0, parent = #rows}>
#of_rows = #ttg.slice<{dim = 1, parent = #rows}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @twice
  // CHECK: "tt.reduce"
  // CHECK: ttng.cluster_barrier
  // CHECK-NEXT: "tt.reduce"
  // CHECK: ttng.cluster_barrier
  // CHECK-NEXT: tt.return
  tt.func public @twice(%x: tensor<32x32xf32, #rows>, %y: tensor<32x32xf32, #rows>) -> (tensor<32xf32, #of_columns>, tensor<32xf32, #of_columns>) {
    %a = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      tt.reduce.return %s : f32
    }) : (tensor<32x32xf32, #rows>) -> tensor<32xf32, #of_columns>
    %b = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      tt.reduce.return %s : f32
    }) : (tensor<32x32xf32, #rows>) -> tensor<32xf32, #of_columns>
    tt.return %a, %b : tensor<32xf32, #of_columns>, tensor<32xf32, #of_columns>
  }

  // Along the other axis no block needs another.
  // CHECK-LABEL: @apart
  // CHECK-NOT: ttng.cluster_barrier
  // CHECK: tt.return
  tt.func public @apart(%x: tensor<32x32xf32, #rows>) -> tensor<32xf32, #of_rows> {
    %a = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      tt.reduce.return %s : f32
    }) : (tensor<32x32xf32, #rows>) -> tensor<32xf32, #of_rows>
    tt.return %a : tensor<32xf32, #of_rows>
  }
}

// -----

#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#own = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
!one = !ttg.memdesc<1xi64, #one, #smem, mutable>
!own = !ttg.memdesc<2xi64, #own, #smem, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // An mbarrier of each block, for its own threads: nobody else has to know.
  // CHECK-LABEL: @own(
  // CHECK: ttng.init_barrier
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NOT: cluster
  // CHECK: tt.return
  tt.func public @own(%phase: i32) {
    %b = ttg.local_alloc : () -> !own
    ttng.init_barrier %b, 1 : !own
    ttng.wait_barrier %b, %phase : !own
    tt.return
  }

  // One for both blocks: it is released, and all threads meet before the first use, which also serves the block.
  // CHECK-LABEL: @one(
  // CHECK: ttng.init_barrier
  // CHECK-NEXT: ttng.init_barrier
  // CHECK-NEXT: ttng.fence_mbarrier_init_release_cluster
  // CHECK-NEXT: ttng.cluster_barrier {relaxed = true}
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttng.wait_barrier
  tt.func public @one(%phase: i32) {
    %b = ttg.local_alloc : () -> !one
    %c = ttg.local_alloc : () -> !one
    ttng.init_barrier %b, 1 : !one
    ttng.init_barrier %c, 1 : !one
    ttng.wait_barrier %b, %phase : !one
    ttng.wait_barrier %c, %phase : !one
    tt.return
  }

  // Each block's own, at which the other one arrives. It may still do so when this block ends.
  // CHECK-LABEL: @remote(
  // CHECK: ttng.init_barrier
  // CHECK-NEXT: ttng.fence_mbarrier_init_release_cluster
  // CHECK-NEXT: ttng.cluster_barrier {relaxed = true}
  // CHECK-NEXT: ttng.arrive_barrier
  // CHECK-NEXT: ttng.wait_barrier
  // CHECK-NEXT: ttng.cluster_barrier
  // CHECK-NEXT: tt.return
  tt.func public @remote(%phase: i32) {
    %b = ttg.local_alloc : () -> !own
    ttng.init_barrier %b, 2 : !own
    ttng.arrive_barrier %b, 1 {multicastCTA = 1 : i32} : !own
    ttng.wait_barrier %b, %phase : !own
    tt.return
  }

  // Mbarriers that live in a loop are released there. Before one ends, the other block has arrived.
  // CHECK-LABEL: @in_a_loop(
  // CHECK: scf.for
  // CHECK: ttng.init_barrier
  // CHECK-NEXT: ttng.fence_mbarrier_init_release_cluster
  // CHECK-NEXT: ttng.cluster_barrier {relaxed = true}
  // CHECK-NEXT: ttng.arrive_barrier
  // CHECK: ttng.cluster_barrier
  // CHECK-NEXT: ttng.inval_barrier
  // CHECK-NEXT: }
  tt.func public @in_a_loop(%n: i32, %phase: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %b = ttg.local_alloc : () -> !own
      ttng.init_barrier %b, 2 : !own
      ttng.arrive_barrier %b, 1 {multicastCTA = 1 : i32} : !own
      ttng.wait_barrier %b, %phase : !own
      ttng.inval_barrier %b : !own
    }
    tt.return
  }
}

// -----

// TMA to both blocks: it comes after the readers in both, and after both mbarriers are initialised.
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#own = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#regs = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 0]]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
!own = !ttg.memdesc<2xi64, #own, #smem, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @to_both
  // CHECK: ttng.fence_mbarrier_init_release_cluster
  // CHECK-NEXT: ttng.cluster_barrier {relaxed = true}
  // CHECK-NEXT: ttng.barrier_expect
  // CHECK: ttg.local_load
  // CHECK: ttng.cluster_barrier
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local
  // CHECK: ttg.local_load
  // CHECK: ttng.cluster_barrier
  // CHECK-NEXT: tt.return
  tt.func public @to_both(%d: !tt.tensordesc<64x64xf16, #tile>, %i: i32) -> (tensor<64x64xf16, #regs>, tensor<64x64xf16, #regs>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %buf = ttg.local_alloc : () -> !tile
    %b = ttg.local_alloc : () -> !own
    ttng.init_barrier %b, 1 : !own
    ttng.barrier_expect %b, 8192, %true : !own
    ttng.async_tma_copy_global_to_local %d[%c0, %c0] %buf, %b, %true {multicast} : !tt.tensordesc<64x64xf16, #tile>, !own -> !tile
    ttng.wait_barrier %b, %c0 deps %buf : !own, !tile
    %x = ttg.local_load %buf : !tile -> tensor<64x64xf16, #regs>
    ttng.barrier_expect %b, 8192, %true : !own
    ttng.async_tma_copy_global_to_local %d[%i, %c0] %buf, %b, %true {multicast} : !tt.tensordesc<64x64xf16, #tile>, !own -> !tile
    ttng.wait_barrier %b, %c1 deps %buf : !own, !tile
    %y = ttg.local_load %buf : !tile -> tensor<64x64xf16, #regs>
    tt.return %x, %y : tensor<64x64xf16, #regs>, tensor<64x64xf16, #regs>
  }
}
