// RUN: ttc opt %s --split-input-file --tritongpu-accelerate-matmul | FileCheck %s
// Products of microscaled operands become products of 16-bit floats.

// Packed 4-bit floats are unpacked to bf16. Scale bytes are exponents: shifted into place, the least one subnormal, and infinity made NaN.
// Each scale is spread over its 32 elements in the layout of the elements.
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// CHECK: #[[B:.*]] = #ttg.blocked<{sizePerThread = [1, 4]
// CHECK: #[[V:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: #[[W:.*]] = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [4, 2, 4], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
// CHECK-LABEL: @fp4_by_bf16
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x2xbf16
// CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<64> : tensor<64x2xi16
// CHECK-DAG: %[[BITS:.*]] = arith.constant dense<7> : tensor<64x2xi16
// CHECK: %[[F:.*]] = ttg.fp4_to_fp %a {axis = 1 : i32} : tensor<64x32xi8, #[[B]]> -> tensor<64x64xbf16, #[[V]]>
// CHECK: %[[E:.*]] = arith.extui %sa
// CHECK: %[[S:.*]] = arith.shli %[[E]], %[[BITS]]
// CHECK: %[[M:.*]] = arith.maxui %[[S]], %[[LEAST]]
// CHECK: %[[X:.*]] = tt.bitcast %[[M]]
// CHECK: %[[N:.*]] = math.fma %[[X]], %[[ZERO]], %[[X]]
// CHECK: %[[C:.*]] = ttg.convert_layout %[[N]] : {{.*}} -> tensor<64x2xbf16, #ttg.slice<{dim = 2, parent = #[[W]]}>>
// CHECK: %[[R:.*]] = tt.reshape %[[C]] efficient_layout : {{.*}} -> tensor<64x2x1xbf16, #[[W]]>
// CHECK: %[[G:.*]] = tt.broadcast %[[R]] : {{.*}} -> tensor<64x2x32xbf16, #[[W]]>
// CHECK: %[[Q:.*]] = tt.reshape %[[G]] : {{.*}} -> tensor<64x64xbf16, #[[V]]>
// CHECK: arith.mulf %[[F]], %[[Q]]
// CHECK-NOT: tt.dot_scaled
// CHECK: tt.dot {{.*}} : tensor<64x64xbf16, {{.*}}kWidth = 8{{.*}} * tensor<64x64xbf16
tt.func public @fp4_by_bf16(%a: tensor<64x32xi8, #b>, %sa: tensor<64x2xi8, #b>, %b: tensor<64x64xbf16, #b>, %c: tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b> {
  %d = tt.dot_scaled %a scale %sa, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<64x32xi8, #b>, tensor<64x2xi8, #b> * tensor<64x64xbf16, #b> -> tensor<64x64xf32, #b>
  tt.return %d : tensor<64x64xf32, #b>
}

// With fast math nobody looks for NaN. Both scaled: those of B are transposed, and its groups lie along rows.
// CHECK-LABEL: @fp8_by_fp8_fast
// CHECK: tt.fp_to_fp %a : tensor<64x64xf8E5M2, {{.*}} -> tensor<64x64xbf16
// CHECK-NOT: math.fma
// CHECK: tt.trans %sb {order = array<i32: 1, 0>} : tensor<64x2xi8, {{.*}} -> tensor<2x64xi8
// CHECK: tt.broadcast {{.*}} -> tensor<2x32x64xbf16
// CHECK: tt.dot
tt.func public @fp8_by_fp8_fast(%a: tensor<64x64xf8E5M2, #b>, %sa: tensor<64x2xi8, #b>, %b: tensor<64x64xf8E5M2, #b>, %sb: tensor<64x2xi8, #b>, %c: tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b> {
  %d = tt.dot_scaled %a scale %sa, %b scale %sb, %c lhs = e5m2 rhs = e5m2 {fastMath = true} : tensor<64x64xf8E5M2, #b>, tensor<64x2xi8, #b> * tensor<64x64xf8E5M2, #b>, tensor<64x2xi8, #b> -> tensor<64x64xf32, #b>
  tt.return %d : tensor<64x64xf32, #b>
}

// Next to f16 everything is f16; scales get there through f32, in which 2^-127 is nothing.
// CHECK-LABEL: @fp8_by_f16
// CHECK: tt.fp_to_fp %a : tensor<64x64xf8E5M2, {{.*}} -> tensor<64x64xf16
// CHECK: %[[E:.*]] = arith.extui %sa : tensor<64x2xi8, {{.*}} to tensor<64x2xi32
// CHECK-NOT: arith.maxui
// CHECK: math.fma {{.*}} : tensor<64x2xf32
// CHECK: arith.truncf {{.*}} to tensor<64x2xf16
// CHECK: tt.dot {{.*}} : tensor<64x64xf16
tt.func public @fp8_by_f16(%a: tensor<64x64xf8E5M2, #b>, %sa: tensor<64x2xi8, #b>, %b: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b> {
  %d = tt.dot_scaled %a scale %sa, %b, %c lhs = e5m2 rhs = fp16 {fastMath = false} : tensor<64x64xf8E5M2, #b>, tensor<64x2xi8, #b> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #b>
  tt.return %d : tensor<64x64xf32, #b>
}

// Scales that are floats are converted; 16 elements share one here.
// CHECK-LABEL: @float_scales
// CHECK: tt.fp_to_fp %sa : tensor<64x4xf8E5M2, {{.*}} -> tensor<64x4xbf16
// CHECK-NOT: math.fma
// CHECK: tt.broadcast {{.*}} -> tensor<64x4x16xbf16
tt.func public @float_scales(%a: tensor<64x32xi8, #b>, %sa: tensor<64x4xf8E5M2, #b>, %b: tensor<64x64xbf16, #b>, %c: tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b> {
  %d = tt.dot_scaled %a scale %sa, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<64x32xi8, #b>, tensor<64x4xf8E5M2, #b> * tensor<64x64xbf16, #b> -> tensor<64x64xf32, #b>
  tt.return %d : tensor<64x64xf32, #b>
}

// No scales: a product of the values.
// CHECK-LABEL: @without_scales
// CHECK-NOT: arith.mulf
// CHECK: tt.dot
tt.func public @without_scales(%a: tensor<64x64xf8E5M2, #b>, %b: tensor<64x64xbf16, #b>, %c: tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b> {
  %d = tt.dot_scaled %a, %b, %c lhs = e5m2 rhs = bf16 {fastMath = false} : tensor<64x64xf8E5M2, #b> * tensor<64x64xbf16, #b> -> tensor<64x64xf32, #b>
  tt.return %d : tensor<64x64xf32, #b>
}

// Pairs that lie across K make rows of A.
// CHECK-LABEL: @packed_across
// CHECK: ttg.fp4_to_fp %a {axis = 0 : i32} : tensor<32x64xi8, {{.*}} -> tensor<64x64xbf16
tt.func public @packed_across(%a: tensor<32x64xi8, #b>, %sa: tensor<64x2xi8, #b>, %b: tensor<64x64xbf16, #b>, %c: tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b> {
  %d = tt.dot_scaled %a scale %sa, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false, lhs_k_pack = false} : tensor<32x64xi8, #b>, tensor<64x2xi8, #b> * tensor<64x64xbf16, #b> -> tensor<64x64xf32, #b>
  tt.return %d : tensor<64x64xf32, #b>
}
}

// -----

// Where only B is scaled, the product is transposed, so that wgmma can read the scaled operand from registers.
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @scaled_on_the_right
// CHECK: %[[A:.*]] = tt.trans %a
// CHECK: %[[S:.*]] = ttg.local_alloc %[[A]]
// CHECK: %[[B:.*]] = tt.trans %b
// CHECK: tt.trans %c
// CHECK: ttg.fp4_to_fp %[[B]] {axis = 1 : i32}
// CHECK: arith.mulf
// CHECK: %[[D:.*]] = ttng.warp_group_dot %{{.*}}, %[[S]], {{.*}} : tensor<128x64xbf16, {{.*}}dot_op
// CHECK: %[[E:.*]] = ttg.convert_layout %[[D]]
// CHECK: tt.trans %[[E]] {{.*}} -> tensor<64x128xf32, #blocked>
tt.func public @scaled_on_the_right(%a: tensor<64x64xbf16, #b>, %b: tensor<32x128xi8, #b>, %sb: tensor<128x2xi8, #b>, %c: tensor<64x128xf32, #b>) -> tensor<64x128xf32, #b> {
  %d = tt.dot_scaled %a, %b scale %sb, %c lhs = bf16 rhs = e2m1 {fastMath = false} : tensor<64x64xbf16, #b> * tensor<32x128xi8, #b>, tensor<128x2xi8, #b> -> tensor<64x128xf32, #b>
  tt.return %d : tensor<64x128xf32, #b>
}
}

// -----

// Batches: the leading axis stays in place.
#b = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 4, 8], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @batches
// CHECK: tt.trans %a {order = array<i32: 0, 2, 1>}
// CHECK: ttg.fp4_to_fp {{.*}} {axis = 2 : i32} : tensor<2x64x32xi8, {{.*}} -> tensor<2x64x64xbf16
// CHECK: tt.broadcast {{.*}} -> tensor<2x64x2x32xbf16
// CHECK: tt.dot {{.*}} -> tensor<2x64x64xf32
tt.func public @batches(%a: tensor<2x64x64xbf16, #b>, %b: tensor<2x32x64xi8, #b>, %sb: tensor<2x64x2xi8, #b>, %c: tensor<2x64x64xf32, #b>) -> tensor<2x64x64xf32, #b> {
  %d = tt.dot_scaled %a, %b scale %sb, %c lhs = bf16 rhs = e2m1 {fastMath = false} : tensor<2x64x64xbf16, #b> * tensor<2x32x64xi8, #b>, tensor<2x64x2xi8, #b> -> tensor<2x64x64xf32, #b>
  tt.return %d : tensor<2x64x64xf32, #b>
}
}

// -----

// kWidth of what a join joins: bytes keep their 4 elements a thread (32 bits); bytes widened before the join take 8, of which the load sees 4.
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#j = #ttg.blocked<{sizePerThread = [1, 4, 2], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#r = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #b}>
#B = #ttg.dot_op<{opIdx = 1, parent = #b}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @joined_then_widened
// CHECK: tt.dot {{.*}}kWidth = 4
tt.func public @joined_then_widened(%p: tensor<64x32x!tt.ptr<i8>, #b>, %b: tensor<64x64xf16, #B>, %c: tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b> {
  %l = tt.load %p : tensor<64x32x!tt.ptr<i8>, #b>
  %j = tt.join %l, %l : tensor<64x32xi8, #b> -> tensor<64x32x2xi8, #j>
  %r = tt.reshape %j : tensor<64x32x2xi8, #j> -> tensor<64x64xi8, #r>
  %w = arith.sitofp %r : tensor<64x64xi8, #r> to tensor<64x64xf16, #r>
  %a = ttg.convert_layout %w : tensor<64x64xf16, #r> -> tensor<64x64xf16, #A>
  %d = tt.dot %a, %b, %c : tensor<64x64xf16, #A> * tensor<64x64xf16, #B> -> tensor<64x64xf32, #b>
  tt.return %d : tensor<64x64xf32, #b>
}

// CHECK-LABEL: @widened_then_joined
// CHECK: tt.dot {{.*}}kWidth = 8
tt.func public @widened_then_joined(%p: tensor<64x32x!tt.ptr<i8>, #b>, %b: tensor<64x64xf16, #B>, %c: tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b> {
  %l = tt.load %p : tensor<64x32x!tt.ptr<i8>, #b>
  %w = arith.sitofp %l : tensor<64x32xi8, #b> to tensor<64x32xf16, #b>
  %j = tt.join %w, %w : tensor<64x32xf16, #b> -> tensor<64x32x2xf16, #j>
  %r = tt.reshape %j : tensor<64x32x2xf16, #j> -> tensor<64x64xf16, #r>
  %a = ttg.convert_layout %r : tensor<64x64xf16, #r> -> tensor<64x64xf16, #A>
  %d = tt.dot %a, %b, %c : tensor<64x64xf16, #A> * tensor<64x64xf16, #B> -> tensor<64x64xf32, #b>
  tt.return %d : tensor<64x64xf32, #b>
}
}
