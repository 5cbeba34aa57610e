// Fences between writes of threads to shared memory and matrix products that read it.
// RUN: ttc opt %s --triton-nvidia-gpu-fence-insertion | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Both operands are stored outside of the loop: one fence before it.
  // CHECK-LABEL: @hoisted(
  // CHECK: ttng.fence_async_shared {bCluster = false}
  // CHECK: scf.for
  // CHECK-NOT: ttng.fence_async_shared
  // CHECK: tt.return
  tt.func public @hoisted(%x: tensor<64x64xf16, #blocked>, %n: i32, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %r = scf.for %i = %zero to %n step %one iter_args(%acc = %c) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %a, %acc : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
  // One of them is stored in the loop: the fence stays there, after the store, and serves both products.
  // CHECK-LABEL: @in_the_loop(
  // CHECK-NOT: ttng.fence_async_shared
  // CHECK: scf.for
  // CHECK: ttg.local_alloc
  // CHECK-NEXT: ttng.fence_async_shared {bCluster = false}
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK: tt.return
  tt.func public @in_the_loop(%x: tensor<64x64xf16, #blocked>, %n: i32, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %r = scf.for %i = %zero to %n step %one iter_args(%acc = %c) -> (tensor<64x64xf32, #mma>) : i32 {
      %b = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttng.warp_group_dot %a, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
  // A buffer that a loop carries was written by whoever wrote its start value.
  // CHECK-LABEL: @carried(
  // CHECK: ttng.fence_async_shared {bCluster = false}
  // CHECK: scf.for
  tt.func public @carried(%x: tensor<64x64xf16, #blocked>, %n: i32, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %x, %a : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %r:2 = scf.for %i = %zero to %n step %one iter_args(%acc = %c, %b = %a) -> (tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) : i32 {
      %d = ttng.warp_group_dot %b, %b, %acc : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %d, %b : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
  // Nobody has written.
  // CHECK-LABEL: @untouched(
  // CHECK-NOT: ttng.fence_async_shared
  // CHECK: tt.return
  tt.func public @untouched(%c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %d = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}
