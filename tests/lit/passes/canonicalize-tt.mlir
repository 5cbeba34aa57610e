// RUN: ttc opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @masks
// CHECK: tt.load %{{[^,]*}} : tensor<8x!tt.ptr<f32>>
// CHECK-NEXT: tt.store %{{[^,]*}}, %{{[^,]*}} : tensor<8x!tt.ptr<f32>>
// CHECK-NEXT: tt.return
tt.func public @masks(%p: tensor<8x!tt.ptr<f32>>, %x: tensor<8xf32>) {
  %t = arith.constant dense<true> : tensor<8xi1>
  %f = arith.constant dense<false> : tensor<8xi1>
  %0 = tt.load %p, %t, %x : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %p, %f, %0 : tensor<8x!tt.ptr<f32>>
  tt.store %p, %1, %t : tensor<8x!tt.ptr<f32>>
  tt.store %p, %x, %f : tensor<8x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: @computed_mask
// CHECK: tt.load %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>
tt.func public @computed_mask(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>) -> tensor<8xf32> {
  %0 = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  tt.return %0 : tensor<8xf32>
}

// CHECK-LABEL: @views_of_splat
// CHECK-NEXT: tt.splat %{{.*}} : f32 -> tensor<4x16xf32>
// CHECK-NEXT: tt.return
tt.func public @views_of_splat(%a: f32) -> tensor<4x16xf32> {
  %0 = tt.splat %a : f32 -> tensor<4xf32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<4xf32> -> tensor<4x1xf32>
  %2 = tt.broadcast %1 : tensor<4x1xf32> -> tensor<4x16xf32>
  tt.return %2 : tensor<4x16xf32>
}

// CHECK-LABEL: @trans_twice
// CHECK-NEXT: tt.return %{{.*}} : tensor<4x8xf32>
tt.func public @trans_twice(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tt.trans %a {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = tt.trans %0 {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>
  tt.return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: @one_element_range
// CHECK: arith.constant dense<3> : tensor<1xi32>
tt.func public @one_element_range() -> tensor<1xi32> {
  %0 = tt.make_range {start = 3 : i32, end = 4 : i32} : tensor<1xi32>
  tt.return %0 : tensor<1xi32>
}
