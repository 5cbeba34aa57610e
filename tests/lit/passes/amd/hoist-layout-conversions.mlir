// Operands of products that do not change in a loop are converted in front of it.
// RUN: ttc opt %s --tritonamdgpu-hoist-layout-conversions | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [0, 1]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // A conversion that feeds no product stays.
  // CHECK-LABEL: @in_a_loop
  // CHECK: [[Q:%.*]] = tt.load %p
  // CHECK-NEXT: ttg.convert_layout [[Q]] : {{.*}}#ttg.dot_op
  // CHECK: scf.for
  // CHECK-NOT: ttg.convert_layout {{.*}}#ttg.dot_op
  // CHECK: ttg.convert_layout [[Q]] : {{.*}} -> tensor<128x64xf16, #blocked1>
  tt.func @in_a_loop(%p: tensor<128x64x!tt.ptr<f16>, #blocked>, %to: tensor<128x64x!tt.ptr<f16>, #other>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %q = tt.load %p : tensor<128x64x!tt.ptr<f16>, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = ttg.convert_layout %q : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #a>
      %s = ttg.local_alloc %x : (tensor<128x64xf16, #a>) -> !ttg.memdesc<128x64xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #ttg.shared_memory>
      %y = ttg.convert_layout %q : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #other>
      tt.store %to, %y : tensor<128x64x!tt.ptr<f16>, #other>
    }
    tt.return
  }
}
