// What a product computed is stored as it lies in registers.
// RUN: ttc opt %s --tritonamdgpu-optimize-epilogue | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @narrowed
  tt.func @narrowed(%d: tensor<64x64xf32, #mma>, %p: tensor<64x64x!tt.ptr<f16>, #blocked>, %m: tensor<64x64xi1, #blocked>) {
    // CHECK: [[H:%.*]] = arith.truncf %d : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    // CHECK: [[P:%.*]] = ttg.convert_layout %p : {{.*}} -> tensor<64x64x!tt.ptr<f16>, #mma>
    // CHECK: [[M:%.*]] = ttg.convert_layout %m : {{.*}} -> tensor<64x64xi1, #mma>
    // CHECK: tt.store [[P]], [[H]], [[M]] : tensor<64x64x!tt.ptr<f16>, #mma>
    %c = ttg.convert_layout %d : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    %h = arith.truncf %c : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
    tt.store %p, %h, %m : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
  // Who else reads the converted tensor needs the conversion anyway.
  // CHECK-LABEL: @used_twice
  // CHECK: tt.store %p, %{{.*}} : tensor<64x64x!tt.ptr<f32>, #blocked>
  tt.func @used_twice(%d: tensor<64x64xf32, #mma>, %p: tensor<64x64x!tt.ptr<f32>, #blocked>) -> tensor<64x64xf32, #blocked> {
    %c = ttg.convert_layout %d : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    tt.store %p, %c : tensor<64x64x!tt.ptr<f32>, #blocked>
    tt.return %c : tensor<64x64xf32, #blocked>
  }
}
