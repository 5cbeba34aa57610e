// Where buffers of shared memory lie: reuse after the last use, what keeps a buffer alive, alignment.
// RUN: ttc opt %s --test-print-allocation 2>&1 | FileCheck %s
// RUN: ttc opt %s --allocate-shared-memory-nv | FileCheck %s --check-prefix=ATTR

#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#c = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
// ATTR: ttg.shared = 24576 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Two buffers of 2 KiB one after the other share their place; a third alive at the same time as the second does not.
  // CHECK: remark{{.*}}: reuse
  // CHECK: offset = 0, size = 2048
  // CHECK: offset = 0, size = 2048
  // CHECK: offset = 2048, size = 1024
  // CHECK: size = 3072
  tt.func public @reuse(%x: tensor<16x64xf16, #b>, %y: tensor<8x64xf16, #b>) {
    // ATTR: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
    %0 = ttg.local_alloc %x : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    // ATTR: ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
    %2 = ttg.local_alloc %1 : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    // ATTR: ttg.local_alloc %{{.*}} {allocation.offset = 2048 : i32}
    %3 = ttg.local_alloc %y : (tensor<8x64xf16, #b>) -> !ttg.memdesc<8x64xf16, #s, #smem>
    %4 = ttg.local_load %2 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    %5 = ttg.local_load %3 : !ttg.memdesc<8x64xf16, #s, #smem> -> tensor<8x64xf16, #b>
    tt.return
  }
  // A view keeps its buffer alive, and so does a loop that uses it; scratch memory fits beside.
  // CHECK: remark{{.*}}: views
  // CHECK: offset = 0, size = 16384
  // CHECK: scratch offset = 16384, size = [[BYTES:[0-9]+]]
  // CHECK: size = {{.*}}
  tt.func public @views(%x: tensor<64x64xf16, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #n, #smem, mutable>
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<64x64xf16, #b>) : i32 {
      %2 = ttg.memdesc_index %0[%i] : !ttg.memdesc<2x64x64xf16, #n, #smem, mutable> -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
      ttg.local_store %v, %2 : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
      %3 = ttg.convert_layout %v : tensor<64x64xf16, #b> -> tensor<64x64xf16, #c>
      %4 = ttg.local_load %2 : !ttg.memdesc<64x64xf16, #n, #smem, mutable> -> tensor<64x64xf16, #b>
      scf.yield %4 : tensor<64x64xf16, #b>
    }
    tt.return
  }
  // A swizzle of 128 bytes starts at a multiple of 1024, whatever comes before it.
  // CHECK: remark{{.*}}: aligned
  // CHECK: offset = [[SMALL:[0-9]+]], size = 8
  // CHECK: offset = {{(0|1024)}}, size = 8192
  // CHECK: size = {{(8200|9216)}}
  tt.func public @aligned(%x: tensor<64x64xf16, #b>) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #smem, mutable>
    %1 = ttg.local_alloc %x : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #n, #smem>
    %2 = ttg.local_load %1 : !ttg.memdesc<64x64xf16, #n, #smem> -> tensor<64x64xf16, #b>
    ttng.inval_barrier %0 : !ttg.memdesc<1xi64, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #smem, mutable>
    tt.return
  }
  // Through blocks: what is used beyond the branch is alive in both ways to it.
  // CHECK: remark{{.*}}: blocks
  // CHECK: offset = [[A:[0-9]+]], size = 2048
  // CHECK: offset = [[B:(0|2048)]], size = 2048
  // CHECK: size = 4096
  tt.func public @blocks(%x: tensor<16x64xf16, #b>, %p: i1) {
    %0 = ttg.local_alloc %x : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    cf.cond_br %p, ^one, ^two
  ^one:
    %1 = ttg.local_alloc %x : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    %2 = ttg.local_load %1 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    cf.br ^two
  ^two:
    %3 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    tt.return
  }
}
