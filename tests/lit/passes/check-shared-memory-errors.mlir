// What the check of shared memory refuses: a barrier, a wait or a fence is missing, or a buffer has no good place.
// RUN: not ttc opt %s --ttc-check-shared-memory 2>&1 | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 16384 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Places come first.
  // CHECK: E0619{{.*}}`ttg.local_alloc` lies at byte 8 of shared memory, which is no multiple of 16
  // CHECK: E0619{{.*}}`ttg.local_alloc` needs 2048 bytes of shared memory and has no place
  // CHECK: E0619{{.*}}the function's shared memory ends at byte 18432, and the module has 16384
  tt.func public @places(%x: tensor<16x64xf16, #b>) {
    %0 = ttg.local_alloc %x {allocation.offset = 8 : i32} : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    %1 = ttg.local_alloc %x : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    %2 = ttg.local_alloc %x {allocation.offset = 16384 : i32} : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    tt.return
  }
  // CHECK: E0619{{.*}}`ttg.local_load` reads bytes 0 to 2047 that `ttg.local_alloc` may still be writing: no barrier lies between
  tt.func public @no_barrier(%x: tensor<16x64xf16, #b>) {
    %0 = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    tt.return
  }
  // The store meets the load of the iteration before.
  // CHECK: E0619{{.*}}`ttg.local_store` writes bytes 0 to 2047 that `ttg.local_load` may still be reading: no barrier lies between
  tt.func public @around(%x: tensor<16x64xf16, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<16x64xf16, #b>) : i32 {
      ttg.local_store %v, %0 : tensor<16x64xf16, #b> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
      ttg.barrier local
      %2 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> tensor<16x64xf16, #b>
      scf.yield %2 : tensor<16x64xf16, #b>
    }
    tt.return
  }
  // CHECK: E0619{{.*}}`ttg.local_load` reads a buffer that `ttg.local_alloc` has overwritten: they share bytes
  tt.func public @overwritten(%x: tensor<16x64xf16, #b>) {
    %0 = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    ttg.barrier local
    %1 = ttg.local_alloc %x {allocation.offset = 1024 : i32} : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    ttg.barrier local
    %2 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    tt.return
  }
  // Two groups may stay under way, and the first of two is read.
  // CHECK: E0619{{.*}}the wait leaves 2 groups of copies under way, but only 1 may have ended after one that it is for
  // CHECK: E0619{{.*}}`ttg.local_load` reads bytes 0 to 2047 that `ttg.async_copy_global_to_local` may still be writing: no wait for it lies between
  tt.func public @weak_wait(%p: tensor<16x64x!tt.ptr<f16>, #b>) {
    %0 = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %1 = ttg.local_alloc {allocation.offset = 2048 : i32} : () -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
    %2 = ttg.async_copy_global_to_local %p, %0 : tensor<16x64x!tt.ptr<f16>, #b> -> <16x64xf16, #s, #smem, mutable>
    %3 = ttg.async_commit_group tokens %2
    %4 = ttg.async_copy_global_to_local %p, %1 : tensor<16x64x!tt.ptr<f16>, #b> -> <16x64xf16, #s, #smem, mutable>
    %5 = ttg.async_commit_group tokens %4
    %6 = ttg.async_wait %3 {num = 2 : i32}
    ttg.barrier local
    %7 = ttg.local_load %0 token %6 : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> tensor<16x64xf16, #b>
    %8 = ttg.async_wait {num = 0 : i32}
    tt.return
  }
  // The buffer that the loop reads next is the one that it has just begun to fill.
  // CHECK: E0619{{.*}}`ttg.local_load` reads bytes 2048 to 4095 that `ttg.async_copy_global_to_local` may still be writing: no wait for it lies between
  tt.func public @rotating(%p: tensor<16x64x!tt.ptr<f16>, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<2x16x64xf16, #s, #smem, mutable>
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %c0) -> (i32) : i32 {
      %next = arith.xori %slot, %c1 : i32
      %2 = ttg.memdesc_index %0[%next] : !ttg.memdesc<2x16x64xf16, #s, #smem, mutable> -> !ttg.memdesc<16x64xf16, #s, #smem, mutable>
      ttg.barrier local
      %3 = ttg.async_copy_global_to_local %p, %2 : tensor<16x64x!tt.ptr<f16>, #b> -> <16x64xf16, #s, #smem, mutable>
      %4 = ttg.async_commit_group tokens %3
      %5 = ttg.async_wait {num = 1 : i32}
      ttg.barrier local
      %6 = ttg.local_load %2 token %5 : !ttg.memdesc<16x64xf16, #s, #smem, mutable> -> tensor<16x64xf16, #b>
      scf.yield %next : i32
    }
    %7 = ttg.async_wait {num = 0 : i32}
    tt.return
  }
  // CHECK: E0619{{.*}}`ttng.warp_group_dot` reads bytes 0 to 8191 through the asynchronous proxy that `ttg.local_alloc` wrote: no `ttng.fence_async_shared` lies between
  // CHECK: E0619{{.*}}`ttg.local_store` writes bytes 0 to 8191 that `ttng.warp_group_dot` may still be reading: no wait for it lies between
  tt.func public @product(%x: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %a = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    ttg.barrier local
    %d = ttng.warp_group_dot %a, %a, %c {isAsync = true} : !ttg.memdesc<64x64xf16, #n, #smem, mutable> * !ttg.memdesc<64x64xf16, #n, #smem, mutable> -> tensor<64x64xf32, #mma>
    ttg.barrier local
    ttg.local_store %x, %a : tensor<64x64xf16, #b> -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    %e = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    tt.return %e : tensor<64x64xf32, #mma>
  }
  // A sum is read only when it is complete: not by a select, and not with a wait that leaves its product under way. The
  // next product adds to it, and the loop hands it on.
  // CHECK: E0619{{.*}}`arith.select` reads a sum to which a product may still be adding: no wait for it lies between
  // CHECK: E0619{{.*}}`tt.return` reads a sum to which a product may still be adding: no wait for it lies between
  tt.func private @sums(%a: !ttg.memdesc<64x64xf16, #n, #smem, mutable>, %c: tensor<64x64xf32, #mma>, %n: i32, %new: i1) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %a, %s {isAsync = true} : !ttg.memdesc<64x64xf16, #n, #smem, mutable> * !ttg.memdesc<64x64xf16, #n, #smem, mutable> -> tensor<64x64xf32, #mma>
      %e = ttng.warp_group_dot_wait %d {pendings = 1 : i32} : tensor<64x64xf32, #mma>
      %f = arith.select %new, %z, %e : tensor<64x64xf32, #mma>
      %g = ttng.warp_group_dot %a, %a, %e {isAsync = true} : !ttg.memdesc<64x64xf16, #n, #smem, mutable> * !ttg.memdesc<64x64xf16, #n, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %g : tensor<64x64xf32, #mma>
    }
    %h = ttng.warp_group_dot_wait %r {pendings = 1 : i32} : tensor<64x64xf32, #mma>
    tt.return %h : tensor<64x64xf32, #mma>
  }
  // What is brought is there when its mbarrier says so, and what is taken away must be gone when the block ends.
  // CHECK: E0619{{.*}}`ttg.local_load` reads bytes 0 to 8191 that `ttng.async_tma_copy_global_to_local` may still be writing: no wait for it lies between
  // CHECK: E0619{{.*}}the function returns while `ttng.async_tma_copy_local_to_global` is under way
  tt.func public @hardware(%d: !tt.tensordesc<64x64xf16, #n>, %i: i32) {
    %true = arith.constant true
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    %m = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.init_barrier %m, 1 : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.barrier_expect %m, 8192, %true : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %i] %a, %m, %true : !tt.tensordesc<64x64xf16, #n>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    ttg.barrier local
    %x = ttg.local_load %a : !ttg.memdesc<64x64xf16, #n, #smem, mutable> -> tensor<64x64xf16, #b>
    ttng.async_tma_copy_local_to_global %d[%i, %i] %a : !tt.tensordesc<64x64xf16, #n>, !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    tt.return
  }
  // CHECK: E0619{{.*}}4 arrivals come, and the mbarrier was made for 8
  tt.func public @too_few(%d: !tt.tensordesc<64x64xf16, #n>, %i: i32) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    %m = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> !ttg.memdesc<1xi64, #line, #smem, mutable>
    %e = ttg.local_alloc {allocation.offset = 8200 : i32} : () -> !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.init_barrier %m, 1 : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.init_barrier %e, 8 : !ttg.memdesc<1xi64, #line, #smem, mutable>
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
  // CHECK: E0619{{.*}}no arrival before this wait ends the phase that it is for
  // CHECK: E0619{{.*}}`ttng.async_tma_copy_global_to_local` writes bytes 0 to 8191 that `ttg.local_load` may still be reading: no barrier lies between
  tt.func public @never(%d: !tt.tensordesc<64x64xf16, #n>, %i: i32) {
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
    ttng.wait_barrier %e, %c0 {ttc.first_warp} : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.barrier_expect %m, 8192 {ttc.first_warp}, %true : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_global_to_local %d[%i, %i] %a, %m, %true {ttc.first_warp} : !tt.tensordesc<64x64xf16, #n>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    ttng.wait_barrier %m, %c0 : !ttg.memdesc<1xi64, #line, #smem, mutable>
    tt.return
  }
  // The phase before the first one is over at once.
  // CHECK: E0619{{.*}}`ttng.async_tma_copy_global_to_local` writes bytes 0 to 8191 that `ttg.local_load` may still be reading: no barrier lies between
  tt.func public @stale(%d: !tt.tensordesc<64x64xf16, #n>, %i: i32) {
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
    ttng.wait_barrier %e, %c1 {ttc.first_warp} : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.barrier_expect %m, 8192 {ttc.first_warp}, %true : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_global_to_local %d[%i, %i] %a, %m, %true {ttc.first_warp} : !tt.tensordesc<64x64xf16, #n>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    ttng.wait_barrier %m, %c0 : !ttg.memdesc<1xi64, #line, #smem, mutable>
    tt.return
  }
  // CHECK: E0619{{.*}}`ttng.barrier_expect` begins the next phase of an mbarrier while other threads may still wait for the one before
  tt.func public @renewed(%d: !tt.tensordesc<64x64xf16, #n>, %i: i32) {
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
    ttng.barrier_expect %m, 0 {ttc.first_warp}, %true : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.arrive_barrier %e, 1 {ttc.each_warp} : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.wait_barrier %e, %c0 {ttc.first_warp} : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.wait_barrier %m, %c0 : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.barrier_expect %m, 8192 {ttc.first_warp}, %true : !ttg.memdesc<1xi64, #line, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_global_to_local %d[%i, %i] %a, %m, %true {ttc.first_warp} : !tt.tensordesc<64x64xf16, #n>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    ttng.wait_barrier %m, %c0 : !ttg.memdesc<1xi64, #line, #smem, mutable>
    tt.return
  }
}
