// Loads for a product get a stage, and then run an iteration ahead.
// RUN: ttc opt %s --tritonamdgpu-schedule-loops="num_stages=2" | FileCheck --check-prefix=SCHEDULE %s
// RUN: ttc opt %s --tritonamdgpu-schedule-loops="num_stages=2" --tritonamdgpu-pipeline | FileCheck %s
// RUN: ttc opt %s --tritonamdgpu-schedule-loops="num_stages=2" --tritonamdgpu-pipeline --canonicalize --tritonamdgpu-move-up-prologue-loads | FileCheck --check-prefix=UP %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // SCHEDULE-LABEL: @product
  // SCHEDULE: tt.load {{.*}} {loop.cluster = 0 : i32, loop.stage = 0 : i32}
  // SCHEDULE: tt.dot {{.*}} {loop.cluster = 1 : i32, loop.stage = 1 : i32}
  // SCHEDULE: tt.scheduled_max_stage = 1 : i32

  // The prologue loads and stores, if there is an iteration.
  // CHECK: #shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
  // CHECK-LABEL: @product
  // CHECK: [[BUFFER:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable>
  // CHECK: [[ANY:%.*]] = arith.cmpi sgt, %n, %c0_i32
  // CHECK: [[MASK:%.*]] = tt.splat [[ANY]]
  // CHECK: tt.load {{.*}}, [[MASK]] {amd.pipeliner_part = "prologue"}
  // CHECK: ttg.local_store
  // The kernel ends one iteration early. Its load comes before the product, and the store behind it.
  // CHECK: [[END:%.*]] = arith.subi %n, %c1_i32
  // CHECK: scf.for %{{.*}} = %c0_i32 to [[END]]
  // CHECK: [[NEXT:%.*]] = tt.load {{.*}} : tensor<64x64x!tt.ptr<f16>, #blocked>
  // CHECK: ttg.local_load
  // CHECK: tt.dot
  // CHECK: ttg.local_store [[NEXT]]
  // CHECK: scf.yield
  // The last product runs in a branch.
  // CHECK: scf.if {{.*}} -> (tensor<64x64xf32, #mma>)
  // CHECK: tt.dot
  // CHECK: ttg.local_dealloc [[BUFFER]]

  // The first load stands in front of what it does not need.
  // UP-LABEL: @product
  // UP: tt.load {{.*}} {amd.pipeliner_part = "prologue"}
  // UP: arith.mulf %bias
  tt.func @product(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<[16, 16]> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %w: tensor<64x64xf16, #b>, %bias: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %start = arith.mulf %bias, %bias : tensor<64x64xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start, %q = %p) -> (tensor<64x64xf32, #mma>, tensor<64x64x!tt.ptr<f16>, #blocked>) : i32 {
      %v = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %x = ttg.convert_layout %v : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %d = tt.dot %x, %w, %sum : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %next = tt.addptr %q, %step : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, tensor<64x64x!tt.ptr<f16>, #blocked>
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }

  // A loop with a barrier keeps its order.
  // SCHEDULE-LABEL: @barrier
  // SCHEDULE-NOT: loop.stage
  tt.func @barrier(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %w: tensor<64x64xf16, #b>, %z: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> (tensor<64x64xf32, #mma>) : i32 {
      %v = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      ttg.barrier local
      %x = ttg.convert_layout %v : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #a>
      %d = tt.dot %x, %w, %sum : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
