// What the check of shared memory proves.
// RUN: ttc opt %s --ttc-check-shared-memory | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 16384 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The second buffer lies over the first one, whose contents nobody needs any more.
  // CHECK-LABEL: @one_after_the_other
  tt.func public @one_after_the_other(%x: tensor<16x64xf16, #b>) {
    %0 = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    ttg.barrier local
    %1 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    ttg.barrier local
    %2 = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    ttg.barrier local
    %3 = ttg.local_load %2 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    tt.return
  }
  // One buffer is filled while the other one is read: which is which is known in every iteration.
  // CHECK-LABEL: @rotating
  tt.func public @rotating(%p: tensor<16x64x!tt.ptr<f16>, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<2x16x64xf16, #s, #smem, mutable>
    %first = ttg.memdesc_index %0[%c0] : !ttg.memdesc<2x16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %f = ttg.async_copy_global_to_local %p, %first : tensor<16x64x!tt.ptr<f16>, #b> -> <16x64xf16, #s, #smem, mutable>
    %g = ttg.async_commit_group tokens %f
    %1:2 = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %c0, %token = %g) -> (i32, !ttg.async.token) : i32 {
      %next = arith.xori %slot, %c1 : i32
      %2 = ttg.memdesc_index %0[%next] : !ttg.memdesc<2x16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
      ttg.barrier local
      %3 = ttg.async_copy_global_to_local %p, %2 : tensor<16x64x!tt.ptr<f16>, #b> -> <16x64xf16, #s, #smem, mutable>
      %4 = ttg.async_commit_group tokens %3
      %5 = ttg.async_wait %token {num = 1 : i32}
      %6 = ttg.memdesc_index %0[%slot] : !ttg.memdesc<2x16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
      ttg.barrier local
      %7 = ttg.local_load %6 token %5 : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> tensor<16x64xf16, #b>
      scf.yield %next, %4 : i32, !ttg.async.token
    }
    %8 = ttg.async_wait {num = 0 : i32}
    tt.return
  }
  // Three buffers. The wait at the end of an iteration is for what the next one reads; behind the loop the buffer that is
  // read and the one that is still filled are two of three, and nobody knows which.
  // CHECK-LABEL: @read_behind_the_loop
  tt.func public @read_behind_the_loop(%p: tensor<16x64x!tt.ptr<f16>, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %0 = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<3x16x64xf16, #s, #smem, mutable>
    %a = ttg.memdesc_index %0[%c0] : !ttg.memdesc<3x16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %b = ttg.memdesc_index %0[%c1] : !ttg.memdesc<3x16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %f = ttg.async_copy_global_to_local %p, %a : tensor<16x64x!tt.ptr<f16>, #b> -> <16x64xf16, #s, #smem, mutable>
    %g = ttg.async_commit_group tokens %f
    %h = ttg.async_copy_global_to_local %p, %b : tensor<16x64x!tt.ptr<f16>, #b> -> <16x64xf16, #s, #smem, mutable>
    %j = ttg.async_commit_group tokens %h
    %k = ttg.async_wait %g {num = 1 : i32}
    %1:5 = scf.for %i = %c0 to %n step %c1 iter_args(%at = %c1, %now = %a, %next = %b, %ready = %k, %token = %j) -> (i32, !ttg.memdesc<16x64xf16, #s, #smem, mutable>, !ttg.memdesc<16x64xf16, #s, #smem, mutable>, !ttg.async.token, !ttg.async.token) : i32 {
      %2 = arith.addi %at, %c1 : i32
      %3 = arith.cmpi slt, %2, %c3 : i32
      %slot = arith.select %3, %2, %c0 : i32
      ttg.barrier local
      %4 = ttg.memdesc_index %0[%slot] : !ttg.memdesc<3x16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
      %5 = ttg.async_copy_global_to_local %p, %4 : tensor<16x64x!tt.ptr<f16>, #b> -> <16x64xf16, #s, #smem, mutable>
      %6 = ttg.async_commit_group tokens %5
      %7 = ttg.local_load %now token %ready : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> tensor<16x64xf16, #b>
      %8 = ttg.async_wait %token {num = 1 : i32}
      scf.yield %slot, %next, %4, %8, %6 : i32, !ttg.memdesc<16x64xf16, #s, #smem, mutable>, !ttg.memdesc<16x64xf16, #s, #smem, mutable>, !ttg.async.token, !ttg.async.token
    }
    ttg.barrier local
    %9 = ttg.local_load %1#1 token %1#3 : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> tensor<16x64xf16, #b>
    %10 = ttg.async_wait %1#4 {num = 0 : i32}
    tt.return
  }
  // CHECK-LABEL: @hardware
  tt.func public @hardware(%d: !tt.tensordesc<64x64xf16, #n>, %i: i32) {
    %true = arith.constant true
    %zero = arith.constant 0 : i32
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    %m = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.init_barrier %m, 1 : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.barrier_expect %m, 8192, %true : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %i] %a, %m, %true : !tt.tensordesc<64x64xf16, #n>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    ttng.wait_barrier %m, %zero : !ttg.memdesc<1xi64, #line, #smem, mutable>
    %x = ttg.local_load %a : !ttg.memdesc<64x64xf16, #n, #smem, mutable> -> tensor<64x64xf16, #b>
    ttng.async_tma_copy_local_to_global %d[%i, %i] %a : !tt.tensordesc<64x64xf16, #n>, !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }
  // The loop is known to run three times, and waits for the second copy in its second iteration: its memory is free behind
  // it.
  // CHECK-LABEL: @three_times
  tt.func public @three_times(%p: tensor<16x64x!tt.ptr<f16>, #b>, %x: tensor<16x64xf16, #b>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %0 = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %1 = ttg.local_alloc {allocation.offset = 2048 : i32} : () -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %2 = ttg.async_copy_global_to_local %p, %0 : tensor<16x64x!tt.ptr<f16>, #b> -> <16x64xf16, #s, #smem, mutable>
    %3 = ttg.async_commit_group tokens %2
    %4 = ttg.async_copy_global_to_local %p, %1 : tensor<16x64x!tt.ptr<f16>, #b> -> <16x64xf16, #s, #smem, mutable>
    %5 = ttg.async_commit_group tokens %4
    %6 = ttg.async_commit_group
    scf.for %i = %c0 to %c3 step %c1 : i32 {
      %7 = ttg.async_wait {num = 2 : i32}
      %8 = ttg.async_commit_group
      scf.yield
    }
    ttg.barrier local
    ttg.local_store %x, %1 : tensor<16x64xf16, #b> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    tt.return
  }
  // All warps have left the buffer when the first one lets hardware fill it.
  // CHECK-LABEL: @each_warp
  tt.func public @each_warp(%d: !tt.tensordesc<64x64xf16, #n>, %i: i32) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    %m = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> !ttg.memdesc<1xi64, #line, #smem, mutable>
    %e = ttg.local_alloc {allocation.offset = 8200 : i32} : () -> !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.init_barrier %m, 1 : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.init_barrier %e, 4 : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttg.barrier local
    %x = ttg.local_load %a : !ttg.memdesc<64x64xf16, #n, #smem, mutable> -> tensor<64x64xf16, #b>
    ttng.arrive_barrier %e, 1 {ttc.each_warp} : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.wait_barrier %e, %c0 {ttc.first_warp} : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.barrier_expect %m, 8192 {ttc.first_warp}, %true : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_global_to_local %d[%i, %i] %a, %m, %true {ttc.first_warp} : !tt.tensordesc<64x64xf16, #n>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    ttng.wait_barrier %m, %c0 : !ttg.memdesc<1xi64, #line, #smem, mutable>
    tt.return
  }
}
