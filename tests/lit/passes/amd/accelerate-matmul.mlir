// Products get the layouts of AMD's matrix instructions.
// RUN: ttc opt %s --split-input-file --tritonamdgpu-accelerate-matmul | FileCheck %s
// RUN: ttc opt %s --split-input-file --tritonamdgpu-accelerate-matmul="matrix-instruction-size=16 kPack=2" | FileCheck --check-prefix=SMALL %s

// CDNA3: 32×32 where the result has room for it, the lane's neighbours along a row.
// CHECK: #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
// CHECK: #mma1 = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>
// SMALL: #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 16], isTransposed = true}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @halves
  // SMALL-LABEL: @halves
  tt.func @halves(%a: tensor<64x64xf16, #a>, %b: tensor<64x64xf16, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    // CHECK: [[C:%.*]] = ttg.convert_layout %c : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #mma>
    // CHECK: ttg.convert_layout %a {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
    // CHECK: tt.dot {{.*}}, [[C]] : {{.*}} -> tensor<64x64xf32, #mma>
    // SMALL: kWidth = 8
    %d = tt.dot %a, %b, %c : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }

  // The formats of 8 bits that others multiply become f16; a result of f16 is summed in f32.
  // CHECK-LABEL: @converted
  tt.func @converted(%a: tensor<16x64xf8E5M2, #a>, %b: tensor<64x16xf8E4M3FN, #b>, %c: tensor<16x16xf16, #blocked>) -> tensor<16x16xf16, #blocked> {
    // CHECK: arith.extf {{.*}} to tensor<16x16xf32, #mma1>
    // CHECK: tt.fp_to_fp {{.*}}f8E5M2{{.*}} -> tensor<16x64xf16
    // CHECK: tt.dot
    // CHECK: arith.truncf {{.*}} to tensor<16x16xf16, #blocked>
    %d = tt.dot %a, %b, %c : tensor<16x64xf8E5M2, #a> * tensor<64x16xf8E4M3FN, #b> -> tensor<16x16xf16, #blocked>
    tt.return %d : tensor<16x16xf16, #blocked>
  }

  // K of 4 is no multiple of 16: threads multiply. What they do with pairs of f16 needs no conversion.
  // CHECK-LABEL: @threads
  // CHECK-NEXT: tt.dot %a, %b, %c
  tt.func @threads(%a: tensor<16x4xf16, #a>, %b: tensor<4x16xf16, #b>, %c: tensor<16x16xf32, #blocked>) -> tensor<16x16xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<16x4xf16, #a> * tensor<4x16xf16, #b> -> tensor<16x16xf32, #blocked>
    tt.return %d : tensor<16x16xf32, #blocked>
  }
}

// -----

// Of two products in a chain the warps lie along the rows, so that the second one finds its operand where it is.
// CHECK: #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @chain
  // CHECK-NOT: #mma1
  tt.func @chain(%q: tensor<128x64xf16, #a>, %k: tensor<64x64xf16, #b>, %v: tensor<64x64xf16, #b>, %z: tensor<128x64xf32, #blocked>) -> tensor<128x64xf32, #blocked> {
    %s = tt.dot %q, %k, %z : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #blocked>
    %h = arith.truncf %s : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
    %p = ttg.convert_layout %h : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #a>
    %o = tt.dot %p, %v, %z : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #blocked>
    tt.return %o : tensor<128x64xf32, #blocked>
  }
}

// -----

// A chain may go from one iteration to the next: the second product reads what the first one left in the iteration before,
// as in attention with its scores computed ahead.
// CHECK: #mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @chain_across_iterations
  // CHECK-NOT: #mma1
  tt.func @chain_across_iterations(%q: tensor<128x64xf16, #a>, %k: tensor<64x64xf16, #b>, %v: tensor<64x64xf16, #b>, %z: tensor<128x64xf32, #blocked>, %n: i32) -> tensor<128x64xf32, #blocked> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z, %ahead = %z) -> (tensor<128x64xf32, #blocked>, tensor<128x64xf32, #blocked>) : i32 {
      %s = tt.dot %q, %k, %z : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #blocked>
      %h = arith.truncf %ahead : tensor<128x64xf32, #blocked> to tensor<128x64xf16, #blocked>
      %p = ttg.convert_layout %h : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #a>
      // The operand that comes from a product has 4 elements side by side.
      // CHECK: tt.dot {{.*}} tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
      %o = tt.dot %p, %v, %sum : tensor<128x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<128x64xf32, #blocked>
      scf.yield %o, %s : tensor<128x64xf32, #blocked>, tensor<128x64xf32, #blocked>
    }
    tt.return %r#0 : tensor<128x64xf32, #blocked>
  }
}

// -----

// RDNA3 has no products of 8-bit floats: they become f16, which is exact.
// CHECK: #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {warp = {{\[\[}}0, 1], [1, 0]]}}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @rdna
  tt.func @rdna(%a: tensor<32x32xf8E5M2, #a>, %b: tensor<32x32xf8E5M2, #b>, %c: tensor<32x32xf32, #blocked>) -> tensor<32x32xf32, #blocked> {
    // CHECK: tt.dot {{.*}}xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>
    %d = tt.dot %a, %b, %c : tensor<32x32xf8E5M2, #a> * tensor<32x32xf8E5M2, #b> -> tensor<32x32xf32, #blocked>
    tt.return %d : tensor<32x32xf32, #blocked>
  }
  // f32 has no instruction: threads multiply.
  // CHECK-LABEL: @single
  // CHECK-NEXT: tt.dot %a, %b, %c
  tt.func @single(%a: tensor<32x32xf32, #a>, %b: tensor<32x32xf32, #b>, %c: tensor<32x32xf32, #blocked>) -> tensor<32x32xf32, #blocked> {
    %d = tt.dot %a, %b, %c : tensor<32x32xf32, #a> * tensor<32x32xf32, #b> -> tensor<32x32xf32, #blocked>
    tt.return %d : tensor<32x32xf32, #blocked>
  }
}

// -----

// CDNA4 multiplies all 8-bit floats by one instruction, which takes scales, or none.
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @bytes
  tt.func @bytes(%a: tensor<64x128xf8E5M2, #a>, %b: tensor<128x64xf8E4M3FN, #b>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    // CHECK: tt.dot_scaled {{.*}} lhs = e5m2 rhs = e4m3 {fastMath = false} : {{.*}} -> tensor<64x64xf32, #mma>
    %d = tt.dot %a, %b, %c : tensor<64x128xf8E5M2, #a> * tensor<128x64xf8E4M3FN, #b> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
  // One side without scales gets those of 1.
  // CHECK-LABEL: @scaled
  tt.func @scaled(%a: tensor<64x64xi8, #blocked>, %s: tensor<64x4xi8, #blocked>, %b: tensor<128x64xf8E4M3FN, #blocked>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
    // CHECK: [[ONE:%.*]] = arith.constant dense<127> : tensor<64x4xi8, #linear{{[0-9]*}}>
    // CHECK: tt.dot_scaled {{.*}} scale {{.*}}, {{.*}} scale [[ONE]], {{.*}} lhs = e2m1 rhs = e4m3
    %d = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = e4m3 {fastMath = false} : tensor<64x64xi8, #blocked>, tensor<64x4xi8, #blocked> * tensor<128x64xf8E4M3FN, #blocked> -> tensor<64x64xf32, #blocked>
    tt.return %d : tensor<64x64xf32, #blocked>
  }
}
