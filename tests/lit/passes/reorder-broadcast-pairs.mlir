// RUN: ttc opt %s --triton-reorder-broadcast | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each function says what it must show.

// One number is computed instead of 16.
// CHECK-LABEL: tt.func public @splat_first(%a: f32) -> tensor<16xf32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = math.exp %a : f32
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = tt.splat %[[R]] : f32 -> tensor<16xf32>
// CHECK-NEXT: tt.return %[[R0]] : tensor<16xf32>
// CHECK-NEXT: }
tt.func public @splat_first(%a: f32) -> tensor<16xf32> {
  %0 = tt.splat %a : f32 -> tensor<16xf32>
  %r = math.exp %0 : tensor<16xf32>
  tt.return %r : tensor<16xf32>
}

// Also of two splats.
// CHECK-LABEL: tt.func public @splat_of_two(%a: f32, %b: f32) -> tensor<16xf32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.addf %a, %b : f32
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = tt.splat %[[R]] : f32 -> tensor<16xf32>
// CHECK-NEXT: tt.return %[[R0]] : tensor<16xf32>
// CHECK-NEXT: }
tt.func public @splat_of_two(%a: f32, %b: f32) -> tensor<16xf32> {
  %0 = tt.splat %a : f32 -> tensor<16xf32>
  %1 = tt.splat %b : f32 -> tensor<16xf32>
  %r = arith.addf %0, %1 : tensor<16xf32>
  tt.return %r : tensor<16xf32>
}

// Not with a tensor.
// CHECK-LABEL: tt.func public @splat_and_tensor(%a: f32, %v: tensor<16xf32>) -> tensor<16xf32> {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = tt.splat %a : f32 -> tensor<16xf32>
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.addf %[[V0]], %v : tensor<16xf32>
// CHECK-NEXT: tt.return %[[R]] : tensor<16xf32>
// CHECK-NEXT: }
tt.func public @splat_and_tensor(%a: f32, %v: tensor<16xf32>) -> tensor<16xf32> {
  %0 = tt.splat %a : f32 -> tensor<16xf32>
  %r = arith.addf %0, %v : tensor<16xf32>
  tt.return %r : tensor<16xf32>
}

// Before it is broadcast there is less to compute.
// CHECK-LABEL: tt.func public @broadcast_first(%a: tensor<16x1xf32>) -> tensor<16x8xf32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = math.exp %a : tensor<16x1xf32>
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = tt.broadcast %[[R]] : tensor<16x1xf32> -> tensor<16x8xf32>
// CHECK-NEXT: tt.return %[[R0]] : tensor<16x8xf32>
// CHECK-NEXT: }
tt.func public @broadcast_first(%a: tensor<16x1xf32>) -> tensor<16x8xf32> {
  %0 = tt.broadcast %a : tensor<16x1xf32> -> tensor<16x8xf32>
  %r = math.exp %0 : tensor<16x8xf32>
  tt.return %r : tensor<16x8xf32>
}

// A splat can have any shape.
// CHECK-LABEL: tt.func public @broadcast_and_splat(%a: tensor<16x1xf32>, %b: f32) -> tensor<16x8xf32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.splat %b : f32 -> tensor<16x1xf32>
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.addf %a, %[[R]] : tensor<16x1xf32>
// CHECK-NEXT: %[[R1:[^ ,:)#]+]] = tt.broadcast %[[R0]] : tensor<16x1xf32> -> tensor<16x8xf32>
// CHECK-NEXT: tt.return %[[R1]] : tensor<16x8xf32>
// CHECK-NEXT: }
tt.func public @broadcast_and_splat(%a: tensor<16x1xf32>, %b: f32) -> tensor<16x8xf32> {
  %0 = tt.broadcast %a : tensor<16x1xf32> -> tensor<16x8xf32>
  %1 = tt.splat %b : f32 -> tensor<16x8xf32>
  %r = arith.addf %0, %1 : tensor<16x8xf32>
  tt.return %r : tensor<16x8xf32>
}

// Different shapes meet only after the broadcast.
// CHECK-LABEL: tt.func public @broadcasts_that_differ(%a: tensor<16x1xf32>, %b: tensor<1x8xf32>) -> tensor<16x8xf32> {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = tt.broadcast %a : tensor<16x1xf32> -> tensor<16x8xf32>
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = tt.broadcast %b : tensor<1x8xf32> -> tensor<16x8xf32>
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.addf %[[V0]], %[[V1]] : tensor<16x8xf32>
// CHECK-NEXT: tt.return %[[R]] : tensor<16x8xf32>
// CHECK-NEXT: }
tt.func public @broadcasts_that_differ(%a: tensor<16x1xf32>, %b: tensor<1x8xf32>) -> tensor<16x8xf32> {
  %0 = tt.broadcast %a : tensor<16x1xf32> -> tensor<16x8xf32>
  %1 = tt.broadcast %b : tensor<1x8xf32> -> tensor<16x8xf32>
  %r = arith.addf %0, %1 : tensor<16x8xf32>
  tt.return %r : tensor<16x8xf32>
}
