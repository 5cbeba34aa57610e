// A descriptor without a layout: an earlier pass has not run.
// RUN: not ttc opt %s --triton-nvidia-tma-lowering 2>&1 | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: E0605{{.*}}has no layout in shared memory: run `triton-nvidia-optimize-descriptor-encoding` first
  tt.func public @load(%d: !tt.tensordesc<64x64xf16>, %i: i32) -> tensor<64x64xf16, #blocked> {
    %x = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16, #blocked>
    tt.return %x : tensor<64x64xf16, #blocked>
  }
}
