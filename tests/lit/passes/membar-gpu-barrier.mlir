// The barrier of another compiler's text counts as ours: no second one stands between the write and the read.
// RUN: ttc opt %s --test-print-membar | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each function says what it must show.
// CHECK: #[[BLOCKED:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-NEXT: #[[SHARED:[^ ,>)]+]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// CHECK-NEXT: #[[SMEM:[^ ,>)]+]] = #ttg.shared_memory
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {

#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func public @gpu_barrier(%x: tensor<16x64xf16, #{{[^ ,>)]+}}>) {
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = ttg.local_alloc %x : (tensor<16x64xf16, #[[BLOCKED]]>) -> !ttg.memdesc<16x64xf16, #[[SHARED]], #[[SMEM]]>
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = ttg.local_load %[[V0]] : !ttg.memdesc<16x64xf16, #[[SHARED]], #[[SMEM]]> -> tensor<16x64xf16, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @gpu_barrier(%x: tensor<16x64xf16, #b>) {
    %0 = ttg.local_alloc %x : (tensor<16x64xf16, #b>) -> !ttg.memdesc<16x64xf16, #s, #smem>
    "gpu.barrier"() : () -> ()
    %1 = ttg.local_load %0 : !ttg.memdesc<16x64xf16, #s, #smem> -> tensor<16x64xf16, #b>
    tt.return
  }
}
