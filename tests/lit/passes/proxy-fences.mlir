// Fences where memory that threads wrote is read by a matrix product, whatever it is called there.
// RUN: ttc opt %s --triton-nvidia-gpu-proxy-fence-insertion | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The store at the end of the loop meets the product of the next iteration.
  // CHECK-LABEL: @around(
  // CHECK: scf.for
  // CHECK: ttng.fence_async_shared {bCluster = false}
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK: ttg.local_store
  // CHECK-NOT: ttng.fence_async_shared
  // CHECK: tt.return
  tt.func public @around(%x: tensor<64x64xf16, #blocked>, %n: i32, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %r = scf.for %i = %zero to %n step %one iter_args(%acc = %c) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %a, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      ttg.local_store %x, %a : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
  // A fence that stands there is enough, and the second product needs none.
  // CHECK-LABEL: @enough(
  // CHECK-COUNT-1: ttng.fence_async_shared
  // CHECK-NOT: ttng.fence_async_shared
  // CHECK: tt.return
  tt.func public @enough(%x: tensor<64x64xf16, #blocked>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    ttng.fence_async_shared {bCluster = false}
    %d = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    %e = ttng.warp_group_dot %a, %a, %d : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    tt.return %e : tensor<64x64xf32, #mma>
  }
  // A block is brought to where an mbarrier was: that must be over for the hardware too.
  // CHECK-LABEL: @after_barrier(
  // CHECK: ttng.inval_barrier
  // CHECK-NEXT: ttng.barrier_expect
  // CHECK: ttng.fence_async_shared
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local
  // CHECK-NOT: ttng.fence_async_shared
  // CHECK: tt.return
  tt.func public @after_barrier(%d: !tt.tensordesc<64x64xf16, #shared>, %i: i32) {
    %true = arith.constant true
    %zero = arith.constant 0 : i32
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #line, #smem, mutable>
    %old = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.init_barrier %old, 1 : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.inval_barrier %old : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.barrier_expect %b, 8192, %true : !ttg.memdesc<1xi64, #line, #smem, mutable>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %i] %a, %b, %true : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.wait_barrier %b, %zero : !ttg.memdesc<1xi64, #line, #smem, mutable>
    tt.return
  }
  // Both products read copies that one wait ends: the fence behind it is enough for both.
  // CHECK-LABEL: @one_wait(
  // CHECK: ttg.async_wait
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NOT: ttng.fence_async_shared
  // CHECK: tt.return
  tt.func public @one_wait(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %r = scf.for %i = %zero to %n step %one iter_args(%acc = %c) -> (tensor<64x64xf32, #mma>) : i32 {
      %s = ttg.async_copy_global_to_local %p, %a : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %t = ttg.async_copy_global_to_local %p, %b : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %s, %t
      %w = ttg.async_wait %g {num = 0 : i32}
      ttng.fence_async_shared {bCluster = false}
      %d = ttng.warp_group_dot %a, %a, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      ttng.fence_async_shared {bCluster = false}
      %e = ttng.warp_group_dot %b, %b, %d : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %e : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
  // The second copy may arrive after the first fence, so the wait for it asks for another.
  // CHECK-LABEL: @two_waits(
  // CHECK-COUNT-2: ttng.fence_async_shared
  // CHECK: tt.return
  tt.func public @two_waits(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %s = ttg.async_copy_global_to_local %p, %a : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %s
    %t = ttg.async_copy_global_to_local %p, %b : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    %h = ttg.async_commit_group tokens %t
    %v = ttg.async_wait %g {num = 1 : i32}
    ttng.fence_async_shared {bCluster = false}
    %d = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %w = ttg.async_wait %h {num = 0 : i32}
    ttng.fence_async_shared {bCluster = false}
    %e = ttng.warp_group_dot %b, %b, %d : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    tt.return %e : tensor<64x64xf32, #mma>
  }
  // The copy is waited for behind the only fence, so the product that reads it needs another.
  // CHECK-LABEL: @fence_in_between(
  // CHECK: ttng.fence_async_shared
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK-NEXT: ttg.async_wait
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: ttng.warp_group_dot
  tt.func public @fence_in_between(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %x: tensor<64x64xf16, #blocked>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %s = ttg.async_copy_global_to_local %p, %b : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %s
    %d = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    %w = ttg.async_wait %g {num = 0 : i32}
    %e = ttng.warp_group_dot %b, %b, %d : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    tt.return %e : tensor<64x64xf32, #mma>
  }
}
