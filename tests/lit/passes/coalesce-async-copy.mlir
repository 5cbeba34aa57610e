// RUN: ttc opt %s --tritongpu-coalesce-async-copy | FileCheck %s
// RUN: ttc opt %s --tritongpu-coalesce-async-copy=transposed=true | FileCheck %s --check-prefix=TRANSPOSED

// Layouts of asynchronous copies.
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
  // Sixteen bytes a thread, but pieces of eight in the buffer: eight a thread.
  // CHECK-LABEL: @clip(
  // CHECK: ttg.convert_layout %p : {{.*}} -> tensor<64x32x!tt.ptr<i8>, #[[E:.*]]>
  // CHECK: ttg.async_copy_global_to_local {{.*}}: tensor<64x32x!tt.ptr<i8>, #[[E]]>
  tt.func public @clip(%p: tensor<64x32x!tt.ptr<i8>, #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %m: !ttg.memdesc<64x32xi8, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>, #smem, mutable>) {
    %t = ttg.async_copy_global_to_local %p, %m : tensor<64x32x!tt.ptr<i8>, #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>> -> !ttg.memdesc<64x32xi8, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
    tt.return
  }

  // Pieces of sixteen: nothing to do.
  // CHECK-LABEL: @fits(
  // CHECK-NOT: ttg.convert_layout
  // CHECK: ttg.async_copy_global_to_local %p
  tt.func public @fits(%p: tensor<64x32x!tt.ptr<i8>, #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>>, %m: !ttg.memdesc<64x32xi8, #ttg.swizzled_shared<{vec = 16, perPhase = 1, maxPhase = 2, order = [1, 0]}>, #smem, mutable>) {
    %t = ttg.async_copy_global_to_local %p, %m : tensor<64x32x!tt.ptr<i8>, #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>> -> !ttg.memdesc<64x32xi8, #ttg.swizzled_shared<{vec = 16, perPhase = 1, maxPhase = 2, order = [1, 0]}>, #smem, mutable>
    tt.return
  }

  // Neighbours in the buffer, which is read transposed, are none in global memory: a thread copies one at a time, though
  // its registers are neighbours in the buffer.
  // CHECK-LABEL: @transposed(
  // CHECK: ttg.convert_layout %p : {{.*}} -> tensor<64x128x!tt.ptr<f32>, #[[T:.*]]>
  // CHECK: ttg.async_copy_global_to_local
  // CHECK-NOT: contiguity
  // CHECK-SAME: tensor<64x128x!tt.ptr<f32>, #[[T]]>
  tt.func public @transposed(%p: tensor<64x128x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %m: !ttg.memdesc<64x128xf32, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [0, 1]}>, #smem, mutable>) {
    %t = ttg.async_copy_global_to_local %p, %m {contiguity = 4 : i32} : tensor<64x128x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>> -> !ttg.memdesc<64x128xf32, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [0, 1]}>, #smem, mutable>
    tt.return
  }

  // So does a buffer that an asynchronous product reads transposed, if that is asked for. Sixteen threads have neighbours,
  // so that a warp's copies lie in all banks.
  // TRANSPOSED: #[[T:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
  // CHECK-LABEL: @product(
  // TRANSPOSED-LABEL: @product(
  // CHECK-NOT: ttg.convert_layout
  // CHECK: ttg.async_copy_global_to_local %p
  // TRANSPOSED: ttg.convert_layout %p : {{.*}} -> tensor<64x128x!tt.ptr<f32>, #[[T]]>
  // TRANSPOSED: ttg.async_copy_global_to_local {{.*}} tensor<64x128x!tt.ptr<f32>, #[[T]]>
  tt.func public @product(%p: tensor<64x128x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %m: !ttg.memdesc<64x128xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 32}>, #smem, mutable>) {
    %t = ttg.async_copy_global_to_local %p, %m {contiguity = 4 : i32} : tensor<64x128x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>> -> !ttg.memdesc<64x128xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 32}>, #smem, mutable>
    tt.return
  }

  // Few elements: a layout of their own, with mask and other value.
  // CHECK-LABEL: @small(
  // CHECK: ttg.convert_layout %p
  // CHECK: ttg.convert_layout %k
  // CHECK: ttg.convert_layout %w
  // CHECK: ttg.async_copy_global_to_local
  tt.func public @small(%p: tensor<64x!tt.ptr<f32>, #R>, %m: !ttg.memdesc<64xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #smem, mutable>, %k: tensor<64xi1, #R>, %w: tensor<64xf32, #R>) {
    %t = ttg.async_copy_global_to_local %p, %m mask %k other %w : tensor<64x!tt.ptr<f32>, #R> -> !ttg.memdesc<64xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #smem, mutable>
    tt.return
  }

  // but not below 32 bits.
  // CHECK-LABEL: @small_half(
  // CHECK-NOT: ttg.convert_layout
  // CHECK: ttg.async_copy_global_to_local %p
  tt.func public @small_half(%p: tensor<64x!tt.ptr<f16>, #R>, %m: !ttg.memdesc<64xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #smem, mutable>) {
    %t = ttg.async_copy_global_to_local %p, %m : tensor<64x!tt.ptr<f16>, #R> -> !ttg.memdesc<64xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #smem, mutable>
    tt.return
  }

}
