// RUN: ttc opt %s --split-input-file --verify-diagnostics
// Rules of the ttng dialect.

#one = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#nt = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#n64 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#m3 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#m2 = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory
!bar = !ttg.memdesc<1xi64, #one, #smem, mutable>
!x = !ttg.memdesc<64x64xf16, #n, #smem, mutable>
!xc = !ttg.memdesc<64x64xf16, #n, #smem>
!xs = !ttg.memdesc<64x64xf16, #s, #smem, mutable>
!xt = !ttg.memdesc<64x64xf16, #nt, #smem, mutable>
!d = !tt.tensordesc<64x64xf16, #n>
!tm = !ttg.memdesc<128x64xf32, #t, #tmem, mutable>
!acc = tensor<64x64xf32, #m3>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @good(%bar: !bar, %x: !x, %d: !d, %c: i32, %p: i1, %acc: !acc) {
    ttng.init_barrier %bar, 1 : !bar
    ttng.barrier_expect %bar, 8192, %p : !bar
    ttng.async_tma_copy_global_to_local %d[%c, %c] %x, %bar, %p : !d, !bar -> !x
    ttng.wait_barrier %bar, %c : !bar
    %0 = ttng.warp_group_dot %x, %x, %acc : !x * !x -> !acc
    ttng.async_tma_copy_local_to_global %d[%c, %c] %x : !d, !x
    tt.return
  }
  tt.func @barriers(%bar: !bar, %x: !x, %two: !ttg.memdesc<2xi64, #one, #smem, mutable>, %w: !ttg.memdesc<1xi32, #one, #smem, mutable>, %c: i32, %p: i1) {
    // expected-error @below {{it counts 0 arrivals, expected at least 1}}
    ttng.init_barrier %bar, 0 : !bar
    // expected-error @below {{it counts -1 arrivals}}
    ttng.arrive_barrier %bar, -1 : !bar
    // expected-error @below {{expected up to 1 × i64}}
    ttng.init_barrier %two, 1 : !ttg.memdesc<2xi64, #one, #smem, mutable>
    // expected-error @below {{expected up to 1 × i64}}
    ttng.inval_barrier %w : !ttg.memdesc<1xi32, #one, #smem, mutable>
    // expected-error @below {{expected up to 1 × i64}}
    ttng.wait_barrier %x, %c : !x
    // expected-error @below {{expected up to 1 × i64}}
    ttng.barrier_expect %x, 64, %p : !x
    // expected-error @below {{expected `ttg.num-ctas` above 1}}
    ttng.cluster_barrier
    // expected-error @below {{expected `ttg.num-ctas` above 1}}
    ttng.fence_mbarrier_init_release_cluster
    // expected-error @below {{the answer has type}}
    ttng.clc_try_cancel %bar, %bar : !bar, !bar
    tt.return
  }
  tt.func @tma(%bar: !bar, %x: !x, %xc: !xc, %xs: !xs, %xt: !xt, %d: !d, %dt: !tt.tensordesc<64x64xf16, #nt>, %e: !tt.tensordesc<64x64xf16, #n64>, %f: !tt.tensordesc<64x64xsi32, #n>, %h: !ttg.memdesc<64x64xi32, #n, #smem, mutable>, %im: !ttng.tensordesc_im2col<64x64xf16, #n>, %c: i32, %o: i16, %p: i1) {
    // expected-error @below {{it has 1 coordinates, and the descriptor has rank 2}}
    ttng.async_tma_copy_global_to_local %d[%c] %x, %bar, %p : !d, !bar -> !x
    // expected-error @below {{expected a mutable one}}
    ttng.async_tma_copy_global_to_local %d[%c, %c] %xc, %bar, %p : !d, !bar -> !xc
    // expected-error @below {{expected an nvmma_shared layout}}
    ttng.async_tma_copy_global_to_local %d[%c, %c] %xs, %bar, %p : !d, !bar -> !xs
    // expected-error @below {{expected one swizzle}}
    ttng.async_tma_copy_global_to_local %e[%c, %c] %x, %bar, %p : !tt.tensordesc<64x64xf16, #n64>, !bar -> !x
    // expected-error @below {{is transposed, which TMA does not do}}
    ttng.async_tma_copy_global_to_local %dt[%c, %c] %xt, %bar, %p : !tt.tensordesc<64x64xf16, #nt>, !bar -> !xt
    // expected-error @below {{which only im2col mode has}}
    ttng.async_tma_copy_global_to_local %d[%c, %c] offsets = [%o] %x, %bar, %p : !d, !bar -> !x
    // expected-error @below {{it has 1 offsets in im2col mode, expected 2 for 4 coordinates}}
    ttng.async_tma_copy_global_to_local %im[%c, %c, %c, %c] offsets = [%o] %x, %bar, %p : !ttng.tensordesc_im2col<64x64xf16, #n>, !bar -> !x
    // expected-error @below {{it has 2 coordinates in im2col mode, expected 3 to 5}}
    ttng.async_tma_copy_global_to_local %im[%c, %c] %x, %bar, %p : !ttng.tensordesc_im2col<64x64xf16, #n>, !bar -> !x
    // expected-error @below {{has no copies in other blocks}}
    ttng.async_tma_copy_global_to_local %d[%c, %c] %x, %bar, %p {multicast} : !d, !bar -> !x
    // expected-error @below {{it has 1 coordinates}}
    ttng.async_tma_copy_local_to_global %d[%c] %x : !d, !x
    // expected-error @below {{memory does not combine elements of type f16 by `and`}}
    ttng.async_tma_reduce and, %d[%c, %c] %x : !d, !x
    // expected-error @below {{memory does not combine elements of type si32 by `inc`}}
    ttng.async_tma_reduce inc, %f[%c, %c] %h : !tt.tensordesc<64x64xsi32, #n>, !ttg.memdesc<64x64xi32, #n, #smem, mutable>
    tt.return
  }
  tt.func @dots(%x: !x, %xs: !xs, %acc: !acc, %old: tensor<64x64xf32, #m2>, %w: !ttg.memdesc<64x128xf16, #n, #smem, mutable>, %small: tensor<32x64xf32, #m3>, %y: !ttg.memdesc<32x64xf16, #n, #smem, mutable>) {
    // expected-error @below {{expected the layout nvidia_mma of version 3}}
    %0 = ttng.warp_group_dot %x, %x, %old : !x * !x -> tensor<64x64xf32, #m2>
    // expected-error @below {{operand `a` has type}}
    %1 = ttng.warp_group_dot %xs, %x, %acc : !xs * !x -> !acc
    // expected-error @below {{operand `b` has type}}
    %2 = ttng.warp_group_dot %x, %xs, %acc : !x * !xs -> !acc
    // expected-error @below {{the operands are [64, 64] and [64, 128], and the result [64, 64]}}
    %3 = ttng.warp_group_dot %x, %w, %acc : !x * !ttg.memdesc<64x128xf16, #n, #smem, mutable> -> !acc
    // expected-error @below {{a block has 32 rows of the result, expected a multiple of 64}}
    %4 = ttng.warp_group_dot %y, %x, %small : !ttg.memdesc<32x64xf16, #n, #smem, mutable> * !x -> tensor<32x64xf32, #m3>
    tt.return
  }
  tt.func @tensor_memory(%v: tensor<128x64xf32, #b>, %h: tensor<128x64xf16, #b>, %x: !x, %tm: !tm, %ct: !ttg.memdesc<128x64xf32, #t, #tmem>, %p: i1) {
    // expected-error @below {{expected a mutable one}}
    %0 = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #t, #tmem>
    // expected-error @below {{expected a layout of tensor memory}}
    %1 = ttng.tmem_alloc : () -> !x
    // expected-error @below {{expected a mutable one}}
    ttng.tmem_store %v, %ct, %p : tensor<128x64xf32, #b> -> !ttg.memdesc<128x64xf32, #t, #tmem>
    // expected-error @below {{the source has elements of type f16, and the buffer has f32}}
    ttng.tmem_store %h, %tm, %p : tensor<128x64xf16, #b> -> !tm
    // expected-error @below {{expected tensor memory}}
    %2 = ttng.tmem_load %x : !x -> tensor<64x64xf16, #b>
    // expected-error @below {{`abs` says how to reduce, and there is no attribute `redOp`}}
    %3 = ttng.tmem_load %tm {abs = true} : !tm -> tensor<128x64xf32, #b>
    // expected-error @below {{expected shared memory}}
    ttng.tmem_copy %tm, %tm : !tm, !tm
    // expected-error @below {{the operands are [64, 64] and [64, 64], and the result [128, 64]}}
    ttng.tc_gen5_mma %x, %x, %tm, %p, %p : !x, !x, !tm
    tt.return
  }
}
