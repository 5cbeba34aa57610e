// RUN: ttc opt %s --canonicalize | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each function says what it must show.

// A splat of a constant is a constant.
// CHECK-LABEL: tt.func public @splat_constant() -> tensor<16xi32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant dense<3> : tensor<16xi32>
// CHECK-NEXT: tt.return %[[R]] : tensor<16xi32>
// CHECK-NEXT: }
tt.func public @splat_constant() -> tensor<16xi32> {
  %c = arith.constant 3 : i32
  %r = tt.splat %c : i32 -> tensor<16xi32>
  tt.return %r : tensor<16xi32>
}

// Of a value it is not.
// CHECK-LABEL: tt.func public @splat_value(%a: i32) -> tensor<16xi32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.splat %a : i32 -> tensor<16xi32>
// CHECK-NEXT: tt.return %[[R]] : tensor<16xi32>
// CHECK-NEXT: }
tt.func public @splat_value(%a: i32) -> tensor<16xi32> {
  %r = tt.splat %a : i32 -> tensor<16xi32>
  tt.return %r : tensor<16xi32>
}

// A splat of the larger shape.
// CHECK-LABEL: tt.func public @expand_of_splat(%a: i32) -> tensor<1x16xi32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.splat %a : i32 -> tensor<1x16xi32>
// CHECK-NEXT: tt.return %[[R]] : tensor<1x16xi32>
// CHECK-NEXT: }
tt.func public @expand_of_splat(%a: i32) -> tensor<1x16xi32> {
  %0 = tt.splat %a : i32 -> tensor<16xi32>
  %r = tt.expand_dims %0 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  tt.return %r : tensor<1x16xi32>
}

// A sum stays before it.
// CHECK-LABEL: tt.func public @expand_of_sum(%a: tensor<16xi32>) -> tensor<1x16xi32> {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.addi %a, %a : tensor<16xi32>
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.expand_dims %[[V0]] {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
// CHECK-NEXT: tt.return %[[R]] : tensor<1x16xi32>
// CHECK-NEXT: }
tt.func public @expand_of_sum(%a: tensor<16xi32>) -> tensor<1x16xi32> {
  %0 = arith.addi %a, %a : tensor<16xi32>
  %r = tt.expand_dims %0 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  tt.return %r : tensor<1x16xi32>
}

// A splat of the larger shape.
// CHECK-LABEL: tt.func public @broadcast_of_splat(%a: i32) -> tensor<4x16xi32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.splat %a : i32 -> tensor<4x16xi32>
// CHECK-NEXT: tt.return %[[R]] : tensor<4x16xi32>
// CHECK-NEXT: }
tt.func public @broadcast_of_splat(%a: i32) -> tensor<4x16xi32> {
  %0 = tt.splat %a : i32 -> tensor<1x16xi32>
  %r = tt.broadcast %0 : tensor<1x16xi32> -> tensor<4x16xi32>
  tt.return %r : tensor<4x16xi32>
}

// One is enough.
// CHECK-LABEL: tt.func public @broadcast_of_broadcast(%a: tensor<1x1xi32>) -> tensor<4x16xi32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.broadcast %a : tensor<1x1xi32> -> tensor<4x16xi32>
// CHECK-NEXT: tt.return %[[R]] : tensor<4x16xi32>
// CHECK-NEXT: }
tt.func public @broadcast_of_broadcast(%a: tensor<1x1xi32>) -> tensor<4x16xi32> {
  %0 = tt.broadcast %a : tensor<1x1xi32> -> tensor<1x16xi32>
  %r = tt.broadcast %0 : tensor<1x16xi32> -> tensor<4x16xi32>
  tt.return %r : tensor<4x16xi32>
}

// To the same shape it does nothing.
// CHECK-LABEL: tt.func public @broadcast_to_itself(%a: tensor<4x16xi32>) -> tensor<4x16xi32> {
// CHECK-NEXT: tt.return %a : tensor<4x16xi32>
// CHECK-NEXT: }
tt.func public @broadcast_to_itself(%a: tensor<4x16xi32>) -> tensor<4x16xi32> {
  %r = tt.broadcast %a : tensor<4x16xi32> -> tensor<4x16xi32>
  tt.return %r : tensor<4x16xi32>
}

// The first shape does not matter.
// CHECK-LABEL: tt.func public @reshape_of_reshape(%a: tensor<16xi32>) -> tensor<2x8xi32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.reshape %a : tensor<16xi32> -> tensor<2x8xi32>
// CHECK-NEXT: tt.return %[[R]] : tensor<2x8xi32>
// CHECK-NEXT: }
tt.func public @reshape_of_reshape(%a: tensor<16xi32>) -> tensor<2x8xi32> {
  %0 = tt.reshape %a : tensor<16xi32> -> tensor<4x4xi32>
  %r = tt.reshape %0 : tensor<4x4xi32> -> tensor<2x8xi32>
  tt.return %r : tensor<2x8xi32>
}

// A transposition does.
// CHECK-LABEL: tt.func public @reshape_of_trans(%a: tensor<4x4xi32>) -> tensor<16xi32> {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = tt.trans %a {order = array<i32: 1, 0>} : tensor<4x4xi32> -> tensor<4x4xi32>
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.reshape %[[V0]] : tensor<4x4xi32> -> tensor<16xi32>
// CHECK-NEXT: tt.return %[[R]] : tensor<16xi32>
// CHECK-NEXT: }
tt.func public @reshape_of_trans(%a: tensor<4x4xi32>) -> tensor<16xi32> {
  %0 = tt.trans %a {order = array<i32: 1, 0>} : tensor<4x4xi32> -> tensor<4x4xi32>
  %r = tt.reshape %0 : tensor<4x4xi32> -> tensor<16xi32>
  tt.return %r : tensor<16xi32>
}

// There and back.
// CHECK-LABEL: tt.func public @trans_of_trans(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
// CHECK-NEXT: tt.return %a : tensor<4x8xi32>
// CHECK-NEXT: }
tt.func public @trans_of_trans(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %0 = tt.trans %a {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>
  %r = tt.trans %0 {order = array<i32: 1, 0>} : tensor<8x4xi32> -> tensor<4x8xi32>
  tt.return %r : tensor<4x8xi32>
}

// Once stays.
// CHECK-LABEL: tt.func public @trans_once(%a: tensor<4x8xi32>) -> tensor<8x4xi32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.trans %a {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>
// CHECK-NEXT: tt.return %[[R]] : tensor<8x4xi32>
// CHECK-NEXT: }
tt.func public @trans_once(%a: tensor<4x8xi32>) -> tensor<8x4xi32> {
  %r = tt.trans %a {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>
  tt.return %r : tensor<8x4xi32>
}

// In order it does nothing.
// CHECK-LABEL: tt.func public @trans_in_order(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
// CHECK-NEXT: tt.return %a : tensor<4x8xi32>
// CHECK-NEXT: }
tt.func public @trans_in_order(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %r = tt.trans %a {order = array<i32: 0, 1>} : tensor<4x8xi32> -> tensor<4x8xi32>
  tt.return %r : tensor<4x8xi32>
}

// Moved by nothing.
// CHECK-LABEL: tt.func public @addptr_zero(%p: tensor<16x!tt.ptr<f32>>) -> tensor<16x!tt.ptr<f32>> {
// CHECK-NEXT: tt.return %p : tensor<16x!tt.ptr<f32>>
// CHECK-NEXT: }
tt.func public @addptr_zero(%p: tensor<16x!tt.ptr<f32>>) -> tensor<16x!tt.ptr<f32>> {
  %c = arith.constant dense<0> : tensor<16xi32>
  %r = tt.addptr %p, %c : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.return %r : tensor<16x!tt.ptr<f32>>
}

// Moved by something.
// CHECK-LABEL: tt.func public @addptr_one(%p: tensor<16x!tt.ptr<f32>>) -> tensor<16x!tt.ptr<f32>> {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant dense<1> : tensor<16xi32>
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.addptr %p, %[[C]] : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
// CHECK-NEXT: tt.return %[[R]] : tensor<16x!tt.ptr<f32>>
// CHECK-NEXT: }
tt.func public @addptr_one(%p: tensor<16x!tt.ptr<f32>>) -> tensor<16x!tt.ptr<f32>> {
  %c = arith.constant dense<1> : tensor<16xi32>
  %r = tt.addptr %p, %c : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.return %r : tensor<16x!tt.ptr<f32>>
}

// A mask that is true goes.
// CHECK-LABEL: tt.func public @load_all(%p: tensor<16x!tt.ptr<f32>>) -> tensor<16xf32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.load %p : tensor<16x!tt.ptr<f32>>
// CHECK-NEXT: tt.return %[[R]] : tensor<16xf32>
// CHECK-NEXT: }
tt.func public @load_all(%p: tensor<16x!tt.ptr<f32>>) -> tensor<16xf32> {
  %m = arith.constant dense<true> : tensor<16xi1>
  %z = arith.constant dense<0.0> : tensor<16xf32>
  %r = tt.load %p, %m, %z : tensor<16x!tt.ptr<f32>>
  tt.return %r : tensor<16xf32>
}

// Nothing is loaded.
// CHECK-LABEL: tt.func public @load_none(%p: tensor<16x!tt.ptr<f32>>) -> tensor<16xf32> {
// CHECK-NEXT: %[[Z:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<16xf32>
// CHECK-NEXT: tt.return %[[Z]] : tensor<16xf32>
// CHECK-NEXT: }
tt.func public @load_none(%p: tensor<16x!tt.ptr<f32>>) -> tensor<16xf32> {
  %m = arith.constant dense<false> : tensor<16xi1>
  %z = arith.constant dense<0.0> : tensor<16xf32>
  %r = tt.load %p, %m, %z : tensor<16x!tt.ptr<f32>>
  tt.return %r : tensor<16xf32>
}

// A mask that is not known stays.
// CHECK-LABEL: tt.func public @load_some(%p: tensor<16x!tt.ptr<f32>>, %m: tensor<16xi1>) -> tensor<16xf32> {
// CHECK-NEXT: %[[Z:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<16xf32>
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.load %p, %m, %[[Z]] : tensor<16x!tt.ptr<f32>>
// CHECK-NEXT: tt.return %[[R]] : tensor<16xf32>
// CHECK-NEXT: }
tt.func public @load_some(%p: tensor<16x!tt.ptr<f32>>, %m: tensor<16xi1>) -> tensor<16xf32> {
  %z = arith.constant dense<0.0> : tensor<16xf32>
  %r = tt.load %p, %m, %z : tensor<16x!tt.ptr<f32>>
  tt.return %r : tensor<16xf32>
}

// A mask that is true goes.
// CHECK-LABEL: tt.func public @store_all(%p: tensor<16x!tt.ptr<f32>>, %v: tensor<16xf32>) {
// CHECK-NEXT: tt.store %p, %v : tensor<16x!tt.ptr<f32>>
// CHECK-NEXT: tt.return
// CHECK-NEXT: }
tt.func public @store_all(%p: tensor<16x!tt.ptr<f32>>, %v: tensor<16xf32>) {
  %m = arith.constant dense<true> : tensor<16xi1>
  tt.store %p, %v, %m : tensor<16x!tt.ptr<f32>>
  tt.return
}

// Nothing is stored.
// CHECK-LABEL: tt.func public @store_none(%p: tensor<16x!tt.ptr<f32>>, %v: tensor<16xf32>) {
// CHECK-NEXT: tt.return
// CHECK-NEXT: }
tt.func public @store_none(%p: tensor<16x!tt.ptr<f32>>, %v: tensor<16xf32>) {
  %m = arith.constant dense<false> : tensor<16xi1>
  tt.store %p, %v, %m : tensor<16x!tt.ptr<f32>>
  tt.return
}

// A mask that is not known stays.
// CHECK-LABEL: tt.func public @store_some(%p: tensor<16x!tt.ptr<f32>>, %v: tensor<16xf32>, %m: tensor<16xi1>) {
// CHECK-NEXT: tt.store %p, %v, %m : tensor<16x!tt.ptr<f32>>
// CHECK-NEXT: tt.return
// CHECK-NEXT: }
tt.func public @store_some(%p: tensor<16x!tt.ptr<f32>>, %v: tensor<16xf32>, %m: tensor<16xi1>) {
  tt.store %p, %v, %m : tensor<16x!tt.ptr<f32>>
  tt.return
}

// A range of one number is a constant.
// CHECK-LABEL: tt.func public @range_of_one() -> tensor<1xi32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant dense<5> : tensor<1xi32>
// CHECK-NEXT: tt.return %[[R]] : tensor<1xi32>
// CHECK-NEXT: }
tt.func public @range_of_one() -> tensor<1xi32> {
  %r = tt.make_range {end = 6 : i32, start = 5 : i32} : tensor<1xi32>
  tt.return %r : tensor<1xi32>
}

// Of two it is not.
// CHECK-LABEL: tt.func public @range_of_two() -> tensor<2xi32> {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.make_range {end = 7 : i32, start = 5 : i32} : tensor<2xi32>
// CHECK-NEXT: tt.return %[[R]] : tensor<2xi32>
// CHECK-NEXT: }
tt.func public @range_of_two() -> tensor<2xi32> {
  %r = tt.make_range {end = 7 : i32, start = 5 : i32} : tensor<2xi32>
  tt.return %r : tensor<2xi32>
}
