// Conversions wait until buffers are released.
// RUN: ttc opt %s --tritonamdgpu-sink-layout-conversions | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#other = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @behind
  // CHECK: ttg.local_dealloc
  // CHECK-NEXT: ttg.convert_layout
  tt.func @behind(%x: tensor<64x64xf32, #blocked>, %p: tensor<64x64x!tt.ptr<f32>, #other>) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    %c = ttg.convert_layout %x : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #other>
    ttg.local_dealloc %b : !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    tt.store %p, %c : tensor<64x64x!tt.ptr<f32>, #other>
    tt.return
  }
  // CHECK-LABEL: @used_before
  // CHECK: ttg.convert_layout
  // CHECK-NEXT: tt.store
  tt.func @used_before(%x: tensor<64x64xf32, #blocked>, %p: tensor<64x64x!tt.ptr<f32>, #other>) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    %c = ttg.convert_layout %x : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #other>
    tt.store %p, %c : tensor<64x64x!tt.ptr<f32>, #other>
    ttg.local_dealloc %b : !ttg.memdesc<64x64xf32, #shared, #smem, mutable>
    tt.return
  }
}
