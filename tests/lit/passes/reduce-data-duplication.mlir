// RUN: ttc opt %s --tritongpu-reduce-data-duplication | FileCheck %s

// Operands that several warps read go through shared memory once.
#A = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#N = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#L = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#R = #ttg.slice<{dim = 1, parent = #A}>
#MMA = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#DA = #ttg.dot_op<{opIdx = 0, parent = #MMA, kWidth = 2}>
#DB = #ttg.dot_op<{opIdx = 1, parent = #MMA, kWidth = 2}>
#G = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#GA = #ttg.dot_op<{opIdx = 0, parent = #G, kWidth = 2}>
#S = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Several warps read each element: it is stored once, and loaded by all.
  // CHECK-LABEL: @across_warps(
  // CHECK: ttg.local_alloc %x
  // CHECK-NEXT: ttg.local_load
  // CHECK-NOT: ttg.convert_layout
  tt.func public @across_warps(%x: tensor<64x32xf16, #A>) -> tensor<64x32xf16, #DA> {
    %r = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
    tt.return %r : tensor<64x32xf16, #DA>
  }

  // Only operands of products.
  // CHECK-LABEL: @to_blocked(
  // CHECK-NOT: ttg.local_alloc
  // CHECK: ttg.convert_layout
  tt.func public @to_blocked(%x: tensor<64x32xf16, #A>) -> tensor<64x32xf16, #N> {
    %r = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #N>
    tt.return %r : tensor<64x32xf16, #N>
  }

  // A product's result that becomes an operand without moving between threads is left alone.
  // CHECK-LABEL: @same_thread(
  // CHECK-NOT: ttg.local_alloc
  // CHECK: ttg.convert_layout
  tt.func public @same_thread(%x: tensor<64x32xf16, #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>>) -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>, kWidth = 2}>> {
    %r = ttg.convert_layout %x : tensor<64x32xf16, #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>, kWidth = 2}>>
    tt.return %r : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>, kWidth = 2}>>
  }

  // A mask is left to the conversion: memory has no elements of a bit.
  // CHECK-LABEL: @masks_are_converted(
  // CHECK-NOT: ttg.local_alloc
  // CHECK: ttg.convert_layout
  tt.func public @masks_are_converted(%x: tensor<64x32xi1, #A>) -> tensor<64x32xi1, #DA> {
    %r = ttg.convert_layout %x : tensor<64x32xi1, #A> -> tensor<64x32xi1, #DA>
    tt.return %r : tensor<64x32xi1, #DA>
  }
}
