// RUN: ttc opt %s --triton-reorder-broadcast | FileCheck %s

// CHECK-LABEL: @splats
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: tt.splat %[[S]] : f32 -> tensor<8xf32>
tt.func public @splats(%a: f32, %b: f32) -> tensor<8xf32> {
  %0 = tt.splat %a : f32 -> tensor<8xf32>
  %1 = tt.splat %b : f32 -> tensor<8xf32>
  %2 = arith.addf %0, %1 : tensor<8xf32>
  tt.return %2 : tensor<8xf32>
}

// CHECK-LABEL: @broadcasts
// CHECK: %[[S:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<8x1xf32>
// CHECK: tt.broadcast %[[S]] : tensor<8x1xf32> -> tensor<8x16xf32>
tt.func public @broadcasts(%a: tensor<8x1xf32>) -> tensor<8x16xf32> {
  %0 = tt.broadcast %a : tensor<8x1xf32> -> tensor<8x16xf32>
  %c = arith.constant dense<2.0> : tensor<8x16xf32>
  %1 = arith.mulf %0, %c : tensor<8x16xf32>
  tt.return %1 : tensor<8x16xf32>
}

// Broadcasts along different axes make a larger tensor together.
// CHECK-LABEL: @different_axes
// CHECK: arith.mulf %{{.*}}, %{{.*}} : tensor<8x16xf32>
tt.func public @different_axes(%a: tensor<8x1xf32>, %b: tensor<1x16xf32>) -> tensor<8x16xf32> {
  %0 = tt.broadcast %a : tensor<8x1xf32> -> tensor<8x16xf32>
  %1 = tt.broadcast %b : tensor<1x16xf32> -> tensor<8x16xf32>
  %2 = arith.mulf %0, %1 : tensor<8x16xf32>
  tt.return %2 : tensor<8x16xf32>
}
