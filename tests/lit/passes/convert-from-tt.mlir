// RUN: ttc opt %s --pass-pipeline='convert-triton-to-tritongpu{target=cuda:80 num-warps=8}' | FileCheck %s

// CHECK: #[[B2:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [{{.*}}], order = [1, 0]}>
// CHECK: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32}
// CHECK: ttg.convert_layout %{{.*}} -> tensor<64xi32, #ttg.slice<{dim = 1
// CHECK: tt.expand_dims
// Scalars are left alone.
// CHECK: arith.addi %{{.*}} : i32
tt.func public @f(%a: i32) -> i32 {
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %2 = tt.broadcast %1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %3 = arith.addi %2, %2 : tensor<64x64xi32>
  %4 = arith.addi %a, %a : i32
  tt.return %4 : i32
}
