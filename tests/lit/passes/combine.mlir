// RUN: ttc opt %s --triton-combine | FileCheck %s

// CHECK-LABEL: @addptr_64
// CHECK: %[[S:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
// CHECK-NEXT: tt.addptr %{{.*}}, %[[S]]
// CHECK-NOT: tt.addptr
tt.func public @addptr_64(%p: !tt.ptr<f32>, %a: i64, %b: i64) -> !tt.ptr<f32> {
  %0 = tt.addptr %p, %a : !tt.ptr<f32>, i64
  %1 = tt.addptr %0, %b : !tt.ptr<f32>, i64
  tt.return %1 : !tt.ptr<f32>
}

// A 32-bit sum may overflow.
// CHECK-LABEL: @addptr_32
// CHECK-COUNT-2: tt.addptr
tt.func public @addptr_32(%p: !tt.ptr<f32>, %a: i32, %b: i32) -> !tt.ptr<f32> {
  %0 = tt.addptr %p, %a : !tt.ptr<f32>, i32
  %1 = tt.addptr %0, %b : !tt.ptr<f32>, i32
  tt.return %1 : !tt.ptr<f32>
}

// CHECK-LABEL: @select_of_load
// CHECK-NOT: arith.select
// CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>
tt.func public @select_of_load(%p: tensor<8x!tt.ptr<f32>>, %c: i1, %x: tensor<8xf32>) -> tensor<8xf32> {
  %m = tt.splat %c : i1 -> tensor<8xi1>
  %0 = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  %1 = arith.select %c, %0, %x : tensor<8xf32>
  tt.return %1 : tensor<8xf32>
}

// CHECK-LABEL: @dot_plus
// CHECK: tt.dot %{{.*}}, %{{.*}}, %arg2
// CHECK-NOT: arith.addf
tt.func public @dot_plus(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %arg2: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %0 = tt.dot %a, %b, %z : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %1 = arith.addf %0, %arg2 : tensor<16x16xf32>
  tt.return %1 : tensor<16x16xf32>
}
