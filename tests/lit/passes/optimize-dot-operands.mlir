// RUN: ttc opt %s --tritongpu-optimize-dot-operands | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#turned = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The tensor is stored as it is, and the instruction reads it turned.
  // CHECK-LABEL: @transposed_operand
  // CHECK: %[[T:.*]] = ttg.local_alloc %b : (tensor<64x128xf16
  // CHECK: ttg.memdesc_trans %[[T]]
  tt.func public @transposed_operand(%a: !ttg.memdesc<64x128xf16, #shared, #smem>, %b: tensor<64x128xf16, #blocked>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %0 = tt.trans %b {order = array<i32: 1, 0>} : tensor<64x128xf16, #blocked> -> tensor<128x64xf16, #turned>
    %1 = ttg.local_alloc %0 : (tensor<128x64xf16, #turned>) -> !ttg.memdesc<128x64xf16, #shared1, #smem>
    %2 = ttng.warp_group_dot %a, %1, %c {inputPrecision = 0 : i32} : !ttg.memdesc<64x128xf16, #shared, #smem> * !ttg.memdesc<128x64xf16, #shared1, #smem> -> tensor<64x64xf32, #mma>
    tt.return %2 : tensor<64x64xf32, #mma>
  }

  // With axes beyond 256 elements the boxes of the two layouts are in different orders: the tensor is turned before it is stored.
  // CHECK-LABEL: @axes_longer_than_a_box
  // CHECK: tt.trans
  // CHECK-NOT: ttg.memdesc_trans
  tt.func public @axes_longer_than_a_box(%a: !ttg.memdesc<64x1024xf16, #shared, #smem>, %b: tensor<1024x1024xf16, #blocked>, %c: tensor<64x1024xf32, #mma>) -> tensor<64x1024xf32, #mma> {
    %0 = tt.trans %b {order = array<i32: 1, 0>} : tensor<1024x1024xf16, #blocked> -> tensor<1024x1024xf16, #turned>
    %1 = ttg.local_alloc %0 : (tensor<1024x1024xf16, #turned>) -> !ttg.memdesc<1024x1024xf16, #shared1, #smem>
    %2 = ttng.warp_group_dot %a, %1, %c {inputPrecision = 0 : i32} : !ttg.memdesc<64x1024xf16, #shared, #smem> * !ttg.memdesc<1024x1024xf16, #shared1, #smem> -> tensor<64x1024xf32, #mma>
    tt.return %2 : tensor<64x1024xf32, #mma>
  }
}
