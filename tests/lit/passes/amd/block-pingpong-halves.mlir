// With eight warps a large product is cut along K, and half of the block starts later.
// RUN: ttc opt %s --tritonamdgpu-block-pingpong | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 2], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
#smem = #ttg.shared_memory
!x = !ttg.memdesc<256x64xf16, #shared, #smem, mutable>
!y = !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @halves
  // CHECK: ttg.barrier local
  // CHECK: [[FIRST:%.*]] = arith.cmpi eq
  // CHECK: [[SECOND:%.*]] = arith.cmpi ne
  // CHECK: amdg.cond_barrier [[SECOND]]
  // CHECK: scf.for
  // CHECK: ttg.memdesc_subslice {{.*}}[0, 0]{{.*}} -> !ttg.memdesc<256x32xf16, #shared, #smem, mutable, 256x64>
  // CHECK: ttg.memdesc_subslice {{.*}}[0, 32]
  // CHECK: rocdl.s.barrier
  // CHECK: rocdl.s.setprio 1
  // CHECK-NEXT: [[HALF:%.*]] = tt.dot {{.*}} : tensor<256x32xf16
  // CHECK-NEXT: rocdl.s.setprio 0
  // CHECK-NEXT: ttg.barrier local
  // CHECK: ttg.local_store
  // CHECK: ttg.local_store
  // CHECK-NEXT: ttg.barrier local
  // CHECK: tt.dot {{.*}}, [[HALF]]
  // CHECK: ttg.barrier local
  // CHECK-NEXT: rocdl.sched.barrier none
  // CHECK-NEXT: scf.yield
  // CHECK: amdg.cond_barrier [[FIRST]]
  tt.func @halves(%p: tensor<256x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x128x!tt.ptr<f16>, #blocked>, %x: !ttg.memdesc<1x256x64xf16, #shared, #smem, mutable>, %y: !ttg.memdesc<1x64x128xf16, #shared, #smem, mutable>, %z: tensor<256x128xf32, #mma>, %n: i32) -> tensor<256x128xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x0 = ttg.memdesc_index %x[%c0] : !ttg.memdesc<1x256x64xf16, #shared, #smem, mutable> -> !x
    %y0 = ttg.memdesc_index %y[%c0] : !ttg.memdesc<1x64x128xf16, #shared, #smem, mutable> -> !y
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %u = %x0, %v = %y0) -> (tensor<256x128xf32, #mma>, !x, !y) : i32 {
      %f = tt.load %p : tensor<256x64x!tt.ptr<f16>, #blocked>
      %a = ttg.local_load %u : !x -> tensor<256x64xf16, #a>
      %g = tt.load %q : tensor<64x128x!tt.ptr<f16>, #blocked>
      %b = ttg.local_load %v : !y -> tensor<64x128xf16, #b>
      %d = tt.dot %a, %b, %s : tensor<256x64xf16, #a> * tensor<64x128xf16, #b> -> tensor<256x128xf32, #mma>
      %x1 = ttg.memdesc_index %x[%c0] : !ttg.memdesc<1x256x64xf16, #shared, #smem, mutable> -> !x
      ttg.local_store %f, %x1 : tensor<256x64xf16, #blocked> -> !x
      %y1 = ttg.memdesc_index %y[%c0] : !ttg.memdesc<1x64x128xf16, #shared, #smem, mutable> -> !y
      ttg.local_store %g, %y1 : tensor<64x128xf16, #blocked> -> !y
      scf.yield %d, %x1, %y1 : tensor<256x128xf32, #mma>, !x, !y
    }
    tt.return %r#0 : tensor<256x128xf32, #mma>
  }
}
