// RUN: ttc opt %s --split-input-file --tritongpu-accelerate-matmul | FileCheck %s
// Which instruction multiplies, and how warps share the result.

// wgmma: whole warp groups, both operands in shared memory, the accumulator converted to its layout and the result back.
// CHECK: #[[MMA:mma.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#B = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @wgmma_f16
// CHECK-DAG: ttg.local_alloc %a
// CHECK-DAG: ttg.local_alloc %b
// CHECK: %[[C:.*]] = ttg.convert_layout %c : {{.*}} -> tensor<128x128xf32, #[[MMA]]>
// CHECK: %[[D:.*]] = ttng.warp_group_dot %{{.*}}, %{{.*}}, %[[C]]
// CHECK: ttg.convert_layout %[[D]] : tensor<128x128xf32, #[[MMA]]> -> tensor<128x128xf32, #blocked>
tt.func public @wgmma_f16(%a: tensor<128x64xf16, #A>, %b: tensor<64x128xf16, #B>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
  %d = tt.dot %a, %b, %c : tensor<128x64xf16, #A> * tensor<64x128xf16, #B> -> tensor<128x128xf32, #blocked>
  tt.return %d : tensor<128x128xf32, #blocked>
}
}

// -----

// Operands of wider types take a shorter K of the instruction: 8 of tf32.
// CHECK: instrShape = [16, 64, 8]
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#B = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @wgmma_tf32
// CHECK: ttng.warp_group_dot
tt.func public @wgmma_tf32(%a: tensor<64x32xf32, #A>, %b: tensor<32x64xf32, #B>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x32xf32, #A> * tensor<32x64xf32, #B> -> tensor<64x64xf32, #blocked>
  tt.return %d : tensor<64x64xf32, #blocked>
}
}

// -----

// M of 32 is no wgmma: mma.sync, with operands in registers. kWidth is what 32 bits hold of the type.
// CHECK: #[[MMA:mma.*]] = #ttg.nvidia_mma<{versionMajor = 2
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#B = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @small_m
// CHECK-NOT: ttng.warp_group_dot
// CHECK: tt.dot {{.*}} : tensor<32x64xf16, #ttg.dot_op<{opIdx = 0, parent = #[[MMA]], kWidth = 2}>> * tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #[[MMA]], kWidth = 2}>> -> tensor<32x64xf32, #[[MMA]]>
tt.func public @small_m(%a: tensor<32x64xf16, #A>, %b: tensor<64x64xf16, #B>, %c: tensor<32x64xf32, #blocked>) -> tensor<32x64xf32, #blocked> {
  %d = tt.dot %a, %b, %c : tensor<32x64xf16, #A> * tensor<64x64xf16, #B> -> tensor<32x64xf32, #blocked>
  tt.return %d : tensor<32x64xf32, #blocked>
}

// K of 8 is less than a wgmma of f16 sums up.
// CHECK-LABEL: @small_k
// CHECK-NOT: ttng.warp_group_dot
// CHECK: tt.dot
tt.func public @small_k(%a: tensor<64x8xf16, #A>, %b: tensor<8x64xf16, #B>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
  %d = tt.dot %a, %b, %c : tensor<64x8xf16, #A> * tensor<8x64xf16, #B> -> tensor<64x64xf32, #blocked>
  tt.return %d : tensor<64x64xf32, #blocked>
}

// Products of fp8 that must be summed in f32 are not left to wgmma's short accumulator.
// CHECK-LABEL: @fp8_precise
// CHECK-NOT: ttng.warp_group_dot
// CHECK: tt.dot
tt.func public @fp8_precise(%a: tensor<128x64xf8E5M2, #A>, %b: tensor<64x128xf8E5M2, #B>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
  %d = tt.dot %a, %b, %c : tensor<128x64xf8E5M2, #A> * tensor<64x128xf8E5M2, #B> -> tensor<128x128xf32, #blocked>
  tt.return %d : tensor<128x128xf32, #blocked>
}

// Unless the kernel allows 32 of them.
// CHECK-LABEL: @fp8_fast
// CHECK: ttng.warp_group_dot
tt.func public @fp8_fast(%a: tensor<128x64xf8E5M2, #A>, %b: tensor<64x128xf8E5M2, #B>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
  %d = tt.dot %a, %b, %c {maxNumImpreciseAcc = 64 : i32} : tensor<128x64xf8E5M2, #A> * tensor<64x128xf8E5M2, #B> -> tensor<128x128xf32, #blocked>
  tt.return %d : tensor<128x128xf32, #blocked>
}
}

// -----

// f32 at full precision is multiplied by threads: no tensor core takes it.
// CHECK-NOT: nvidia_mma
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#B = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @ieee
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.dot %a, %b, %c
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.return
tt.func public @ieee(%a: tensor<128x64xf32, #A>, %b: tensor<64x128xf32, #B>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
  %d = tt.dot %a, %b, %c : tensor<128x64xf32, #A> * tensor<64x128xf32, #B> -> tensor<128x128xf32, #blocked>
  tt.return %d : tensor<128x128xf32, #blocked>
}
}

// -----

// mma.sync before sm_90; four warps on a square take a square of tiles.
// CHECK: #[[MMA:mma.*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#B = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @mma_f16
// CHECK: tt.dot {{.*}} -> tensor<128x128xf32, #[[MMA]]>
tt.func public @mma_f16(%a: tensor<128x64xf16, #A>, %b: tensor<64x128xf16, #B>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
  %d = tt.dot %a, %b, %c : tensor<128x64xf16, #A> * tensor<64x128xf16, #B> -> tensor<128x128xf32, #blocked>
  tt.return %d : tensor<128x128xf32, #blocked>
}

// CHECK-LABEL: @mma_int8
// CHECK: tt.dot {{.*}} kWidth = 4}>> -> tensor<128x128xi32, #[[MMA]]>
tt.func public @mma_int8(%a: tensor<128x64xi8, #A>, %b: tensor<64x128xi8, #B>, %c: tensor<128x128xi32, #blocked>) -> tensor<128x128xi32, #blocked> {
  %d = tt.dot %a, %b, %c : tensor<128x64xi8, #A> * tensor<64x128xi8, #B> -> tensor<128x128xi32, #blocked>
  tt.return %d : tensor<128x128xi32, #blocked>
}

// sm_80 has no mma.sync of fp8: the operands are widened to f16.
// CHECK-LABEL: @fp8_widened
// CHECK: tt.fp_to_fp %{{.*}} : tensor<128x64xf8E5M2
// CHECK: tt.dot {{.*}}xf16
tt.func public @fp8_widened(%a: tensor<128x64xf8E5M2, #A>, %b: tensor<64x128xf8E5M2, #B>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
  %d = tt.dot %a, %b, %c : tensor<128x64xf8E5M2, #A> * tensor<64x128xf8E5M2, #B> -> tensor<128x128xf32, #blocked>
  tt.return %d : tensor<128x128xf32, #blocked>
}
}

// -----

// Products that feed one another split along one axis, so that rows stay within a warp (attention).
// CHECK: #[[MMA:mma.*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#B = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @chained
// CHECK: tt.dot {{.*}} -> tensor<128x64xf32, #[[MMA]]>
// CHECK: tt.dot {{.*}} -> tensor<128x64xf32, #[[MMA]]>
tt.func public @chained(%q: tensor<128x64xf16, #A>, %k: tensor<64x64xf16, #B>, %v: tensor<64x64xf16, #B>, %c: tensor<128x64xf32, #blocked>) -> tensor<128x64xf32, #blocked> {
  %s = tt.dot %q, %k, %c : tensor<128x64xf16, #A> * tensor<64x64xf16, #B> -> tensor<128x64xf32, #blocked>
  %h = arith.truncf %s : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
  %p = ttg.convert_layout %h : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #A>
  %d = tt.dot %p, %v, %c : tensor<128x64xf16, #A> * tensor<64x64xf16, #B> -> tensor<128x64xf32, #blocked>
  tt.return %d : tensor<128x64xf32, #blocked>
}
}

// -----

// The last product of a chain decides along which axis: alone, the first would be split along M.
// CHECK: #[[MMA:mma.*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#B = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @chained_to_wide
// CHECK: tt.dot {{.*}} -> tensor<64x64xf32, #[[MMA]]>
// CHECK: tt.dot {{.*}} -> tensor<64x128xf32, #[[MMA]]>
tt.func public @chained_to_wide(%q: tensor<64x128xf16, #A>, %k: tensor<128x64xf16, #B>, %v: tensor<64x128xf16, #B>, %c: tensor<64x64xf32, #blocked>, %d: tensor<64x128xf32, #blocked>) -> tensor<64x128xf32, #blocked> {
  %s = tt.dot %q, %k, %c : tensor<64x128xf16, #A> * tensor<128x64xf16, #B> -> tensor<64x64xf32, #blocked>
  %h = arith.truncf %s : tensor<64x64xf32, #blocked> to tensor<64x64xf16, #blocked>
  %p = ttg.convert_layout %h : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #A>
  %e = tt.dot %p, %v, %d : tensor<64x64xf16, #A> * tensor<64x128xf16, #B> -> tensor<64x128xf32, #blocked>
  tt.return %e : tensor<64x128xf32, #blocked>
}
}
