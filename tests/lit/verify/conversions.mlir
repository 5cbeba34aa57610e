// RUN: ttc opt %s --verify-diagnostics
// Conversions that must not leave a warp, and the bytes of 4-bit floats.

#r = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>
#w = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#l = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [2, 16], warpsPerCTA = [2, 2], order = [1, 0]}>
#src = #ttg.linear<{register = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [0, 64]], block = []}>
#dst = #ttg.linear<{register = [[1, 0], [2, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [0, 64]], block = []}>
#swapped = #ttg.linear<{register = [[2, 0], [1, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 32], [0, 64]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @shuffle(%t: tensor<16x32xf32, #r>) {
    %0 = ttg.convert_layout %t {force_warp_shuffle} : tensor<16x32xf32, #r> -> tensor<16x32xf32, #l>
    // expected-error @below {{it has `force_warp_shuffle`, and elements move between warps}}
    %1 = ttg.convert_layout %t {force_warp_shuffle} : tensor<16x32xf32, #r> -> tensor<16x32xf32, #w>
    tt.return
  }
  tt.func @pairs(%b: tensor<2x128xi8, #src>) {
    %0 = ttg.fp4_to_fp %b {axis = 0 : i32} : tensor<2x128xi8, #src> -> tensor<4x128xbf16, #dst>
    // expected-error @below {{expected both floats of a byte side by side in a thread's registers}}
    %1 = ttg.fp4_to_fp %b {axis = 0 : i32} : tensor<2x128xi8, #src> -> tensor<4x128xbf16, #swapped>
    tt.return
  }
}
