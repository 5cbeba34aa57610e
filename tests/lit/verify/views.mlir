// RUN: ttc opt %s --verify-diagnostics
// Views of tensors keep every element in its thread; atomics; dots on tensor cores.

#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#bt = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#v = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#j = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#k = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#m = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#x = #ttg.dot_op<{opIdx = 0, parent = #m, kWidth = 1}>
#y = #ttg.dot_op<{opIdx = 1, parent = #m, kWidth = 1}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @views(%t: tensor<32x32xf32, #b>, %a: tensor<256xf32, #v>) {
    %0 = tt.trans %t {order = array<i32: 1, 0>} : tensor<32x32xf32, #b> -> tensor<32x32xf32, #bt>
    // expected-error @below {{whose elements are not where the source's are}}
    %1 = tt.trans %t {order = array<i32: 1, 0>} : tensor<32x32xf32, #b> -> tensor<32x32xf32, #b>
    %2 = tt.join %a, %a : tensor<256xf32, #v> -> tensor<256x2xf32, #j>
    // expected-error @below {{are not where the elements of}}
    %3 = tt.join %a, %a : tensor<256xf32, #v> -> tensor<256x2xf32, #k>
    // expected-error @below {{whose elements are not where the source's are}}
    %4 = tt.reshape %a : tensor<256xf32, #v> -> tensor<16x16xf32, #bt>
    %5 = tt.reshape %a allow_reorder : tensor<256xf32, #v> -> tensor<16x16xf32, #bt>
    tt.return
  }
  tt.func @atomics(%p: !tt.ptr<i32>, %v: i32, %w: i64) {
    %0 = tt.atomic_load acquire, gpu, %p : (!tt.ptr<i32>) -> i32
    // expected-error @below {{its memory semantics are `release`}}
    %1 = tt.atomic_load release, gpu, %p : (!tt.ptr<i32>) -> i32
    // expected-error @below {{its memory semantics are `acq_rel`}}
    %2 = tt.atomic_poll acq_rel, gpu, %p, %v : !tt.ptr<i32>, i32 -> i1
    // expected-error @below {{its memory semantics are `acquire`}}
    tt.atomic_store acquire, gpu, %p, %v : !tt.ptr<i32>
    // expected-error @below {{`result` has type i64}}
    %3 = tt.atomic_load acquire, gpu, %p : (!tt.ptr<i32>) -> i64
    tt.return
  }
  tt.func @dots(%x: tensor<64x16xf32, #x>, %y: tensor<16x16xf32, #y>, %c: tensor<64x16xf32, #m>) {
    %0 = tt.dot %x, %y, %c, inputPrecision = tf32 : tensor<64x16xf32, #x> * tensor<16x16xf32, #y> -> tensor<64x16xf32, #m>
    // expected-error @below {{expected inputPrecision tf32}}
    %1 = tt.dot %x, %y, %c, inputPrecision = ieee : tensor<64x16xf32, #x> * tensor<16x16xf32, #y> -> tensor<64x16xf32, #m>
    tt.return
  }
}
