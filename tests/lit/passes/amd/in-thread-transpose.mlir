// Operands that do not lie along K in memory are turned in registers.
// RUN: ttc opt %s --tritonamdgpu-in-thread-transpose | FileCheck %s

// Eight columns, and four rows more: 64 bits along K.
// CHECK: #blocked1 = #ttg.blocked<{sizePerThread = [4, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: #shared = #ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [0, 1]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @across
  tt.func @across(%p: tensor<64x128x!tt.ptr<f16>, #blocked>) -> tensor<64x128xf16, #b> {
    // CHECK: tt.load {{.*}} : tensor<64x128x!tt.ptr<f16>, #blocked1>
    // CHECK: [[T:%.*]] = amdg.in_thread_transpose {{.*}} : tensor<64x128xf16, #blocked1> -> tensor<64x128xf16, #linear>
    // CHECK: ttg.local_alloc [[T]] : (tensor<64x128xf16, #linear>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    %v = tt.load %p : tensor<64x128x!tt.ptr<f16>, #blocked>
    %s = ttg.local_alloc %v : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    %x = ttg.local_load %s : !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<64x128xf16, #b>
    tt.return %x : tensor<64x128xf16, #b>
  }
  // Here memory lies along K already.
  // CHECK-LABEL: @along
  // CHECK-NOT: in_thread_transpose
  tt.func @along(%p: tensor<128x64x!tt.ptr<f16>, #blocked>) -> tensor<128x64xf16, #a> {
    %v = tt.load %p : tensor<128x64x!tt.ptr<f16>, #blocked>
    %s = ttg.local_alloc %v : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %x = ttg.local_load %s : !ttg.memdesc<128x64xf16, #shared, #smem> -> tensor<128x64xf16, #a>
    tt.return %x : tensor<128x64xf16, #a>
  }
  // What was stored was not loaded as it is.
  // CHECK-LABEL: @computed
  // CHECK-NOT: in_thread_transpose
  tt.func @computed(%v: tensor<64x128xf16, #blocked>) -> tensor<64x128xf16, #b> {
    %s = ttg.local_alloc %v : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    %x = ttg.local_load %s : !ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<64x128xf16, #b>
    tt.return %x : tensor<64x128xf16, #b>
  }
}
