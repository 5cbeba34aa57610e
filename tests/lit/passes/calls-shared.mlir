// Shared memory across calls: where a callee's memory lies in its caller's, and who waits for whom.
// RUN: ttc opt %s --allocate-shared-memory-nv | FileCheck %s --check-prefix=ALLOC
// RUN: ttc opt %s --tritongpu-insert-barriers | FileCheck %s --check-prefix=WAIT
// RUN: ttc opt %s --triton-nvidia-gpu-proxy-fence-insertion | FileCheck %s --check-prefix=FENCE

#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
// ALLOC: ttg.shared = 9216 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Nothing is pending for a callee when it starts: who calls it sees to that.
  // WAIT-LABEL: @leaf(
  // WAIT-NEXT: ttg.local_alloc
  // WAIT-NEXT: ttg.barrier local
  // WAIT-NEXT: ttg.local_load
  tt.func private @leaf(%x: tensor<8x64xf16, #b>) -> tensor<8x64xf16, #b> attributes {noinline = true} {
    %0 = ttg.local_alloc %x : (tensor<8x64xf16, #b>) -> !ttg.memdesc<8x64xf16, #s, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<8x64xf16, #s, #smem> -> tensor<8x64xf16, #b>
    tt.return %1 : tensor<8x64xf16, #b>
  }
  // Hardware reads the callee's buffer.
  // FENCE-LABEL: @product(
  // FENCE: ttg.local_alloc
  // FENCE-NEXT: ttng.fence_async_shared
  // FENCE-NEXT: ttng.warp_group_dot
  tt.func private @product(%x: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> attributes {noinline = true} {
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #n, #smem>
    %d = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<64x64xf16, #n, #smem> * !ttg.memdesc<64x64xf16, #n, #smem> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
  // The caller's buffer lives across both calls of @leaf, which share a place behind it.
  // ALLOC-LABEL: @calls(
  // ALLOC: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
  // ALLOC: tt.call @leaf(%{{.*}}) {allocation.offset = [[AT:.*]] : i32}
  // ALLOC: tt.call @leaf(%{{.*}}) {allocation.offset = [[AT]] : i32}
  // The second call must not start before all threads are done with the first; the buffer beside is not touched by either.
  // WAIT-LABEL: @calls(
  // WAIT-NEXT: ttg.local_alloc
  // WAIT-NEXT: tt.call @leaf
  // WAIT-NEXT: ttg.barrier local
  // WAIT-NEXT: tt.call @leaf
  // WAIT-NEXT: ttg.local_load
  tt.func public @calls(%x: tensor<8x64xf16, #b>) {
    %0 = ttg.local_alloc %x : (tensor<8x64xf16, #b>) -> !ttg.memdesc<8x64xf16, #s, #smem>
    %1 = tt.call @leaf(%x) : (tensor<8x64xf16, #b>) -> tensor<8x64xf16, #b>
    %2 = tt.call @leaf(%1) : (tensor<8x64xf16, #b>) -> tensor<8x64xf16, #b>
    %3 = ttg.local_load %0 : !ttg.memdesc<8x64xf16, #s, #smem> -> tensor<8x64xf16, #b>
    tt.return
  }
  // What threads wrote to the memory that the callee takes over is ordered before what hardware does there.
  // ALLOC-LABEL: @hardware(
  // ALLOC: ttg.local_alloc %{{.*}} {allocation.offset = 8192 : i32}
  // ALLOC: tt.call @product(%{{.*}}) {allocation.offset = 0 : i32}
  // ALLOC: tt.call @product(%{{.*}}) {allocation.offset = 0 : i32}
  // FENCE-LABEL: @hardware(
  // FENCE-NEXT: ttg.local_alloc
  // FENCE-NEXT: tt.call @product
  // FENCE-NEXT: ttng.fence_async_shared
  // FENCE-NEXT: tt.call @product
  tt.func public @hardware(%y: tensor<8x64xf16, #b>, %x: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #mma>) {
    %0 = ttg.local_alloc %y : (tensor<8x64xf16, #b>) -> !ttg.memdesc<8x64xf16, #s, #smem>
    %1 = tt.call @product(%x, %c) : (tensor<64x64xf16, #b>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
    %2 = tt.call @product(%x, %1) : (tensor<64x64xf16, #b>, tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma>
    %3 = ttg.local_load %0 : !ttg.memdesc<8x64xf16, #s, #smem> -> tensor<8x64xf16, #b>
    tt.return
  }
  // FENCE-LABEL: @threads_only(
  // FENCE-NOT: ttng.fence_async_shared
  tt.func public @threads_only(%x: tensor<8x64xf16, #b>) {
    %1 = tt.call @leaf(%x) : (tensor<8x64xf16, #b>) -> tensor<8x64xf16, #b>
    %2 = tt.call @leaf(%1) : (tensor<8x64xf16, #b>) -> tensor<8x64xf16, #b>
    tt.return
  }
  // The callee's buffer wants a multiple of 1024, and so must the place of its memory in a caller: behind the 1536 bytes is none.
  tt.func private @swizzled(%x: tensor<8x64xf16, #b>) attributes {noinline = true} {
    %0 = ttg.local_alloc %x : (tensor<8x64xf16, #b>) -> !ttg.memdesc<8x64xf16, #n, #smem>
    tt.return
  }
  // ALLOC-LABEL: @aligned(
  // ALLOC: ttg.local_alloc {{.*}}allocation.offset = 1024 : i32
  // ALLOC: tt.call @swizzled(%{{.*}}) {allocation.offset = 0 : i32}
  tt.func public @aligned(%x: tensor<8x64xf16, #b>, %y: tensor<4x64xf16, #b>) {
    %zero = arith.constant 0 : i32
    %0 = ttg.local_alloc {alignment = 1024 : i32} : () -> !ttg.memdesc<3x4x64xf16, #s, #smem, mutable>
    tt.call @swizzled(%x) : (tensor<8x64xf16, #b>) -> ()
    %1 = ttg.memdesc_index %0[%zero] : !ttg.memdesc<3x4x64xf16, #s, #smem, mutable> -> !ttg.memdesc<4x64xf16, #s, #smem, mutable>
    ttg.local_store %y, %1 : tensor<4x64xf16, #b> -> !ttg.memdesc<4x64xf16, #s, #smem, mutable>
    tt.return
  }
}
