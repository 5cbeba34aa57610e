// RUN: ttc opt %s --tritongpu-F32DotTC=emu-tf32=true | FileCheck %s
// RUN: ttc opt %s --tritongpu-F32DotTC | FileCheck --check-prefix=PLAIN %s
// Precise products of f32 from several narrower ones, small ones first.

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#B = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @tf32x3
// CHECK: %[[AB:.*]] = tt.elementwise_inline_asm "cvt.rna.tf32.f32 $0, $1;" {{.*}} %a
// CHECK: %[[AS:.*]] = arith.subf %a, %[[AB]]
// CHECK: %[[BB:.*]] = tt.elementwise_inline_asm {{.*}} %b
// CHECK: %[[BS:.*]] = arith.subf %b, %[[BB]]
// CHECK: %[[D1:.*]] = tt.dot %[[AS]], %[[BB]], %{{.*}}, inputPrecision = tf32
// CHECK: %[[D2:.*]] = tt.dot %[[AB]], %[[BS]], %[[D1]], inputPrecision = tf32
// An infinity times a rest of zero must not spoil an infinite sum.
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[D2]], %[[D2]]
// CHECK: %[[SAFE:.*]] = arith.select %[[NAN]], %{{.*}}, %[[D2]]
// CHECK: %[[D3:.*]] = tt.dot %[[AB]], %[[BB]], %[[SAFE]], inputPrecision = tf32
// CHECK: %[[SUM:.*]] = arith.addf %[[D3]], %c
// CHECK: tt.return %[[SUM]]
// Without the option tf32x3 stays for code generation.
// PLAIN-LABEL: @tf32x3
// PLAIN-NOT: elementwise_inline_asm
// PLAIN: tt.dot %a, %b, %c, inputPrecision = tf32x3
tt.func public @tf32x3(%a: tensor<64x32xf32, #A>, %b: tensor<32x64xf32, #B>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<64x32xf32, #A> * tensor<32x64xf32, #B> -> tensor<64x64xf32, #blocked>
  tt.return %d : tensor<64x64xf32, #blocked>
}

// CHECK-LABEL: @bf16x3
// CHECK-COUNT-2: arith.truncf %{{.*}} : {{.*}} to tensor<64x32xbf16
// CHECK-COUNT-2: arith.truncf %{{.*}} : {{.*}} to tensor<32x64xbf16
// CHECK-COUNT-3: tt.dot
// CHECK-NOT: tt.dot
// CHECK: arith.addf %{{.*}}, %c
// PLAIN-LABEL: @bf16x3
// PLAIN-COUNT-3: tt.dot
tt.func public @bf16x3(%a: tensor<64x32xf32, #A>, %b: tensor<32x64xf32, #B>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
  %d = tt.dot %a, %b, %c, inputPrecision = bf16x3 : tensor<64x32xf32, #A> * tensor<32x64xf32, #B> -> tensor<64x64xf32, #blocked>
  tt.return %d : tensor<64x64xf32, #blocked>
}

// CHECK-LABEL: @bf16x6
// CHECK-COUNT-6: tt.dot
// CHECK-NOT: tt.dot
// CHECK: tt.return
tt.func public @bf16x6(%a: tensor<64x32xf32, #A>, %b: tensor<32x64xf32, #B>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
  %d = tt.dot %a, %b, %c, inputPrecision = bf16x6 : tensor<64x32xf32, #A> * tensor<32x64xf32, #B> -> tensor<64x64xf32, #blocked>
  tt.return %d : tensor<64x64xf32, #blocked>
}

// One rounding is what tf32 asks for, none what ieee does.
// CHECK-LABEL: @tf32
// CHECK-NEXT: tt.dot %a, %b, %c, inputPrecision = tf32
// CHECK-NEXT: tt.return
tt.func public @tf32(%a: tensor<64x32xf32, #A>, %b: tensor<32x64xf32, #B>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x32xf32, #A> * tensor<32x64xf32, #B> -> tensor<64x64xf32, #blocked>
  tt.return %d : tensor<64x64xf32, #blocked>
}

// CHECK-LABEL: @ieee
// CHECK-NEXT: tt.dot %a, %b, %c :
// CHECK-NEXT: tt.return
tt.func public @ieee(%a: tensor<64x32xf32, #A>, %b: tensor<32x64xf32, #B>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
  %d = tt.dot %a, %b, %c : tensor<64x32xf32, #A> * tensor<32x64xf32, #B> -> tensor<64x64xf32, #blocked>
  tt.return %d : tensor<64x64xf32, #blocked>
}

// Numbers of 16 bits are exact already.
// CHECK-LABEL: @f16
// CHECK-NEXT: tt.dot %a, %b, %c, inputPrecision = tf32x3
// CHECK-NEXT: tt.return
tt.func public @f16(%a: tensor<64x32xf16, #A>, %b: tensor<32x64xf16, #B>, %c: tensor<64x64xf32, #blocked>) -> tensor<64x64xf32, #blocked> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<64x32xf16, #A> * tensor<32x64xf16, #B> -> tensor<64x64xf32, #blocked>
  tt.return %d : tensor<64x64xf32, #blocked>
}
}
