// Scratch memory in global memory: pieces one after the other, each aligned, and the total on the function and the module.
// RUN: ttc opt %s --tritongpu-global-scratch-memory-allocation | FileCheck %s

// CHECK: module attributes {{.*}}ttg.global_scratch_memory_alignment = 128 : i32, ttg.global_scratch_memory_size = 256 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: tt.func public @kernel() attributes {{.*}}ttg.global_scratch_memory_size = 256 : i32
  tt.func public @kernel() {
    // CHECK: ttg.global_scratch_alloc {{.*}}ttg.global_scratch_memory_offset = 0 : i32
    %0 = ttg.global_scratch_alloc {alignment = 8 : i32, nbytes = 100 : i32} : !tt.ptr<i8>
    // CHECK: ttg.global_scratch_alloc {{.*}}ttg.global_scratch_memory_offset = 128 : i32
    %1 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 8 : i32} : !tt.ptr<i8>
    tt.return
  }
}
