// RUN: ttc opt %s --triton-combine | FileCheck %s
// Sums of products that are no matrix product stay: as a product of other sizes, the second would add up too few terms.

// CHECK-LABEL: @four_dimensions
// CHECK-NOT: tt.dot
// CHECK: tt.reduce
tt.func @four_dimensions(%x: tensor<32x16x4xf32>, %y: tensor<16x32x4xf32>) -> tensor<32x32x4xf32> {
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<32x16x4xf32> -> tensor<32x16x1x4xf32>
  %1 = tt.broadcast %0 : tensor<32x16x1x4xf32> -> tensor<32x16x32x4xf32>
  %2 = tt.expand_dims %y {axis = 0 : i32} : tensor<16x32x4xf32> -> tensor<1x16x32x4xf32>
  %3 = tt.broadcast %2 : tensor<1x16x32x4xf32> -> tensor<32x16x32x4xf32>
  %4 = arith.mulf %1, %3 : tensor<32x16x32x4xf32>
  %5 = "tt.reduce"(%4) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %6 = arith.addf %a, %b : f32
    tt.reduce.return %6 : f32
  }) : (tensor<32x16x32x4xf32>) -> tensor<32x32x4xf32>
  tt.return %5 : tensor<32x32x4xf32>
}

// One column, taken sixteen times.
// CHECK-LABEL: @repeated_along_k
// CHECK-NOT: tt.dot
// CHECK: tt.reduce
tt.func @repeated_along_k(%x: tensor<32x1xf32>, %y: tensor<1x32xf32>) -> tensor<32x32xf32> {
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<32x1xf32> -> tensor<32x1x1xf32>
  %1 = tt.broadcast %0 : tensor<32x1x1xf32> -> tensor<32x16x32xf32>
  %2 = tt.expand_dims %y {axis = 0 : i32} : tensor<1x32xf32> -> tensor<1x1x32xf32>
  %3 = tt.broadcast %2 : tensor<1x1x32xf32> -> tensor<32x16x32xf32>
  %4 = arith.mulf %1, %3 : tensor<32x16x32xf32>
  %5 = "tt.reduce"(%4) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %6 = arith.addf %a, %b : f32
    tt.reduce.return %6 : f32
  }) : (tensor<32x16x32xf32>) -> tensor<32x32xf32>
  tt.return %5 : tensor<32x32xf32>
}

// Twice the second argument is no sum of all.
// CHECK-LABEL: @twice_the_last
// CHECK-NOT: tt.dot
// CHECK: tt.reduce
tt.func @twice_the_last(%x: tensor<32x16xf32>, %y: tensor<16x32xf32>) -> tensor<32x32xf32> {
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<32x16xf32> -> tensor<32x16x1xf32>
  %1 = tt.broadcast %0 : tensor<32x16x1xf32> -> tensor<32x16x32xf32>
  %2 = tt.expand_dims %y {axis = 0 : i32} : tensor<16x32xf32> -> tensor<1x16x32xf32>
  %3 = tt.broadcast %2 : tensor<1x16x32xf32> -> tensor<32x16x32xf32>
  %4 = arith.mulf %1, %3 : tensor<32x16x32xf32>
  %5 = "tt.reduce"(%4) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %6 = arith.addf %b, %b : f32
    tt.reduce.return %6 : f32
  }) : (tensor<32x16x32xf32>) -> tensor<32x32xf32>
  tt.return %5 : tensor<32x32xf32>
}

// Without `expand_dims` the axes of size 1 go by reshapes.
// CHECK-LABEL: @reshaped
// CHECK-DAG: %[[X:.*]] = tt.reshape %x : tensor<32x16x1xf32> -> tensor<32x16xf32>
// CHECK-DAG: %[[Y:.*]] = tt.reshape %y : tensor<1x16x32xf32> -> tensor<16x32xf32>
// CHECK: tt.dot %[[X]], %[[Y]], %{{.*}} : tensor<32x16xf32> * tensor<16x32xf32> -> tensor<32x32xf32>
tt.func @reshaped(%x: tensor<32x16x1xf32>, %y: tensor<1x16x32xf32>) -> tensor<32x32xf32> {
  %0 = tt.broadcast %x : tensor<32x16x1xf32> -> tensor<32x16x32xf32>
  %1 = tt.broadcast %y : tensor<1x16x32xf32> -> tensor<32x16x32xf32>
  %2 = arith.mulf %0, %1 : tensor<32x16x32xf32>
  %3 = "tt.reduce"(%2) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %4 = arith.addf %a, %b : f32
    tt.reduce.return %4 : f32
  }) : (tensor<32x16x32xf32>) -> tensor<32x32xf32>
  tt.return %3 : tensor<32x32xf32>
}
