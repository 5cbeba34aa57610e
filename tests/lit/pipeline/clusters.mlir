// Buffers of operands are shared among the blocks of a cluster as the operands are.
// RUN: ttc opt %s -split-input-file --tritongpu-assign-latencies=num-stages=3 --tritongpu-schedule-loops --tritongpu-pipeline=num-stages=3 | FileCheck %s --check-prefix=LOADS
// RUN: ttc opt %s -split-input-file --tritongpu-reduce-data-duplication | FileCheck %s --check-prefix=CONVERTED

// The blocks share columns of the product, so each has all of `a`, though each loads half of it as the kernel says.
// LOADS-DAG: #[[WHOLE:shared[0-9]*]] = #ttg.swizzled_shared<{{.*}}CGALayout = {{\[\[}}0, 0]]}>
// LOADS-DAG: #[[COLUMNS:shared[0-9]*]] = #ttg.swizzled_shared<{{.*}}CGALayout = {{\[\[}}0, 1]]}>
#L = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#M = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], CGALayout = [[0, 1]], instrShape = [16, 8]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #M, kWidth = 2}>
#B = #ttg.dot_op<{opIdx = 1, parent = #M, kWidth = 2}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // LOADS-LABEL: @columns(
  // LOADS-DAG: ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16, #[[WHOLE]]
  // LOADS-DAG: ttg.local_alloc : () -> !ttg.memdesc<2x32x64xf16, #[[COLUMNS]]
  tt.func public @columns(%n: i32, %a: tensor<64x32x!tt.ptr<f16>, #L> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x64x!tt.ptr<f16>, #L> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}) -> tensor<64x64xf32, #M> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x64xf32, #M>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x64xf32, #M>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #L>
      %y = tt.load %b : tensor<32x64x!tt.ptr<f16>, #L>
      %u = ttg.convert_layout %x : tensor<64x32xf16, #L> -> tensor<64x32xf16, #A>
      %v = ttg.convert_layout %y : tensor<32x64xf16, #L> -> tensor<32x64xf16, #B>
      %d = tt.dot %u, %v, %s : tensor<64x32xf16, #A> * tensor<32x64xf16, #B> -> tensor<64x64xf32, #M>
      scf.yield %d : tensor<64x64xf32, #M>
    }
    tt.return %r : tensor<64x64xf32, #M>
  }
}

// -----

// The bases of a linear layout's blocks are elements, those of a buffer are blocks.
// CONVERTED: #ttg.swizzled_shared<{{.*}}CGALayout = {{\[\[}}1, 0], [0, 1], [2, 0]]}>
#L = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]], block = [[32, 0], [0, 16], [64, 0]]}>
#M = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], CGALayout = [[1, 0], [0, 1], [2, 0]], instrShape = [16, 8]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #M, kWidth = 2}>
module attributes {"ttg.num-ctas" = 8 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CONVERTED-LABEL: @linear(
  // CONVERTED: ttg.local_alloc
  tt.func public @linear(%x: tensor<128x32xf16, #L>) -> tensor<128x32xf16, #A> {
    %r = ttg.convert_layout %x : tensor<128x32xf16, #L> -> tensor<128x32xf16, #A>
    tt.return %r : tensor<128x32xf16, #A>
  }
}
