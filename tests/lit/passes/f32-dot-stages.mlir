// Products become several of narrower numbers with or without layouts: the pass asks for none.
// RUN: ttc opt %s --tritongpu-F32DotTC=emu-tf32=1 | FileCheck %s
// CHECK-COUNT-3: tt.dot {{.*}} -> tensor<16x16xf32>
// CHECK-NOT: tt.dot
tt.func @precise(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}
