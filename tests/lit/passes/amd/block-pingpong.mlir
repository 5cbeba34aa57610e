// Loops of one product are cut into clusters of memory and of matrix instructions.
// RUN: ttc opt %s --tritonamdgpu-block-pingpong | FileCheck %s
// RUN: ttc opt %s --tritonamdgpu-block-pingpong="num-stages=1" | FileCheck --check-prefix=ONE-STAGE %s

// ONE-STAGE-NOT: rocdl
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
#smem = #ttg.shared_memory
!slot = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // With four warps: one cluster of memory, in which loads of either kind take turns, and one of the product.
  // CHECK-LABEL: @one
  // CHECK: scf.for
  // CHECK: ttg.local_load
  // CHECK-NEXT: rocdl.s.setprio 1
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: rocdl.sched.barrier none
  // CHECK-NEXT: ttg.local_load
  // CHECK-NEXT: rocdl.s.setprio 0
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: rocdl.sched.barrier non_mem_non_sideeffect
  // CHECK-NEXT: rocdl.s.setprio 1
  // CHECK-NEXT: tt.dot
  // CHECK-NEXT: rocdl.s.setprio 0
  // CHECK-NOT: amdg.cond_barrier
  tt.func @one(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %x: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %y: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %z: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x0 = ttg.memdesc_index %x[%c0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
    %y0 = ttg.memdesc_index %y[%c0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %u = %x0, %v = %y0) -> (tensor<64x64xf32, #mma>, !slot, !slot) : i32 {
      %f = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %a = ttg.local_load %u : !slot -> tensor<64x64xf16, #a>
      %g = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %b = ttg.local_load %v : !slot -> tensor<64x64xf16, #b>
      %d = tt.dot %a, %b, %s : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %x1 = ttg.memdesc_index %x[%i] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
      ttg.local_store %f, %x1 : tensor<64x64xf16, #blocked> -> !slot
      %y1 = ttg.memdesc_index %y[%i] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
      ttg.local_store %g, %y1 : tensor<64x64xf16, #blocked> -> !slot
      scf.yield %d, %x1, %y1 : tensor<64x64xf32, #mma>, !slot, !slot
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }

  // A mask that changes from one iteration to the next is of a border along K, for which the new order is not made.
  // CHECK-LABEL: @border
  // CHECK-NOT: rocdl
  tt.func @border(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %x: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %y: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %z: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x0 = ttg.memdesc_index %x[%c0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
    %y0 = ttg.memdesc_index %y[%c0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %u = %x0, %v = %y0) -> (tensor<64x64xf32, #mma>, !slot, !slot) : i32 {
      %left = arith.cmpi slt, %i, %c1 : i32
      %m = tt.splat %left : i1 -> tensor<64x64xi1, #blocked>
      %f = tt.load %p, %m : tensor<64x64x!tt.ptr<f16>, #blocked>
      %a = ttg.local_load %u : !slot -> tensor<64x64xf16, #a>
      %g = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %b = ttg.local_load %v : !slot -> tensor<64x64xf16, #b>
      %d = tt.dot %a, %b, %s : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %x1 = ttg.memdesc_index %x[%i] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
      ttg.local_store %f, %x1 : tensor<64x64xf16, #blocked> -> !slot
      %y1 = ttg.memdesc_index %y[%i] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
      ttg.local_store %g, %y1 : tensor<64x64xf16, #blocked> -> !slot
      scf.yield %d, %x1, %y1 : tensor<64x64xf32, #mma>, !slot, !slot
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }

  // CHECK-LABEL: @steady
  // CHECK: rocdl.s.setprio 1
  tt.func @steady(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %x: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %y: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %z: tensor<64x64xf32, #mma>, %m: tensor<64x64xi1, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x0 = ttg.memdesc_index %x[%c0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
    %y0 = ttg.memdesc_index %y[%c0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %u = %x0, %v = %y0) -> (tensor<64x64xf32, #mma>, !slot, !slot) : i32 {
      %f = tt.load %p, %m : tensor<64x64x!tt.ptr<f16>, #blocked>
      %a = ttg.local_load %u : !slot -> tensor<64x64xf16, #a>
      %g = tt.load %q : tensor<64x64x!tt.ptr<f16>, #blocked>
      %b = ttg.local_load %v : !slot -> tensor<64x64xf16, #b>
      %d = tt.dot %a, %b, %s : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %x1 = ttg.memdesc_index %x[%i] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
      ttg.local_store %f, %x1 : tensor<64x64xf16, #blocked> -> !slot
      %y1 = ttg.memdesc_index %y[%i] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
      ttg.local_store %g, %y1 : tensor<64x64xf16, #blocked> -> !slot
      scf.yield %d, %x1, %y1 : tensor<64x64xf32, #mma>, !slot, !slot
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }

  // What else is loaded would come between.
  // CHECK-LABEL: @another_load
  // CHECK-NOT: rocdl
  tt.func @another_load(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %bias: tensor<64x64x!tt.ptr<f32>, #mma>, %x: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %y: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %z: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %x0 = ttg.memdesc_index %x[%c0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
    %y0 = ttg.memdesc_index %y[%c0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %u = %x0, %v = %y0) -> (tensor<64x64xf32, #mma>, !slot, !slot) : i32 {
      %f = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %a = ttg.local_load %u : !slot -> tensor<64x64xf16, #a>
      %b = ttg.local_load %v : !slot -> tensor<64x64xf16, #b>
      %h = tt.load %bias : tensor<64x64x!tt.ptr<f32>, #mma>
      %d = tt.dot %a, %b, %s : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #mma>
      %e = arith.addf %d, %h : tensor<64x64xf32, #mma>
      %x1 = ttg.memdesc_index %x[%i] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
      ttg.local_store %f, %x1 : tensor<64x64xf16, #blocked> -> !slot
      %y1 = ttg.memdesc_index %y[%i] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !slot
      ttg.local_store %f, %y1 : tensor<64x64xf16, #blocked> -> !slot
      scf.yield %e, %x1, %y1 : tensor<64x64xf32, #mma>, !slot, !slot
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
}
