// ttc: opt %s --ttc-check-shared-memory
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 2048 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%x: tensor<16x64xf16, #b>) {
    %0 = ttg.local_alloc %x {allocation.offset = 0 : i32} : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    tt.return
  }
}
