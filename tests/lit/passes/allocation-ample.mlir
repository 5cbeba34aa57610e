// Where a second block does not fit in any way, conversions keep the memory that makes them fast.
// RUN: ttc opt %s --allocate-shared-memory-nv | FileCheck %s

#from = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1]}>
#to = #ttg.linear<{register = [[0, 1], [0, 8], [0, 16], [0, 32], [32, 0], [64, 0], [128, 0], [256, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]], block = []}>
#s = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory

// CHECK: ttg.shared = 196608 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-NOT: ttc.sparing
  tt.func public @beside_two_buffers(%x: tensor<512x64xf16, #from>) -> (tensor<512x64xf16, #from>, tensor<512x64xf16, #from>, tensor<512x64xf16, #to>) {
    %0 = ttg.local_alloc %x : (tensor<512x64xf16, #from>) -> !ttg.memdesc<512x64xf16, #s, #smem>
    %1 = ttg.local_alloc %x : (tensor<512x64xf16, #from>) -> !ttg.memdesc<512x64xf16, #s, #smem>
    %2 = ttg.convert_layout %x : tensor<512x64xf16, #from> -> tensor<512x64xf16, #to>
    %3 = ttg.local_load %0 : !ttg.memdesc<512x64xf16, #s, #smem> -> tensor<512x64xf16, #from>
    %4 = ttg.local_load %1 : !ttg.memdesc<512x64xf16, #s, #smem> -> tensor<512x64xf16, #from>
    tt.return %3, %4, %2 : tensor<512x64xf16, #from>, tensor<512x64xf16, #from>, tensor<512x64xf16, #to>
  }
}
