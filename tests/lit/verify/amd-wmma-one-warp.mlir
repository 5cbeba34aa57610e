// Products of one warp: Triton prints `ctaLayout = {}`, and reads only a layout that says it of the warps. Both are read
// here, and what is printed is what Triton reads.
// RUN: ttc opt %s | FileCheck %s
// CHECK-DAG: #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = []}}>
// CHECK-DAG: #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {register = {{\[\[}}0, 1]], warp = []}}>
// CHECK-DAG: #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = []}, rank = 3}>
#plain = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {}}>
#tiles = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {register = [[0, 1]]}}>
#batch = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = []}, rank = 3}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx1201", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<16x16xf32, #plain>, %b: tensor<16x32xf32, #tiles>, %c: tensor<2x16x16xf32, #batch>) {
    tt.return
  }
}
