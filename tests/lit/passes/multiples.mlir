// A kernel gets a copy for launches whose integers are multiples of 16.
// RUN: ttc opt %s --split-input-file --ttc-multiples | FileCheck %s

// The rows of a matrix: its stride and its width.
module {
  // CHECK: module attributes {ttc.versions = 2 : i32
  // CHECK-LABEL: @rows
  // CHECK: %[[A:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
  // CHECK: %[[STRIDE:.*]] = arith.andi %stride, %{{.*}} : i32
  // CHECK: %[[B:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
  // CHECK: %[[BOTH:.*]] = arith.andi %[[A]], %[[B]] : i1
  // CHECK: %[[N:.*]] = arith.andi %n, %{{.*}} : i32
  // CHECK: scf.if %[[BOTH]] {
  // CHECK: arith.muli %{{.*}}, %[[STRIDE]]
  // CHECK: tt.splat %[[N]]
  // CHECK: tt.store
  // CHECK: } else {
  // CHECK: arith.muli %{{.*}}, %stride
  // CHECK: tt.splat %n
  // CHECK: tt.store
  // CHECK: }
  // CHECK-NEXT: tt.return
  tt.func public @rows(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32, %n: i32) {
    %row = tt.get_program_id x : i32
    %at = arith.muli %row, %stride : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %limit = tt.splat %n : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %range, %limit : tensor<1024xi32>
    %start = tt.addptr %p, %at : !tt.ptr<f32>, i32
    %from = tt.splat %start : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %src = tt.addptr %from, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x = tt.load %src, %mask : tensor<1024x!tt.ptr<f32>>
    %to = tt.addptr %q, %at : !tt.ptr<f32>, i32
    %all = tt.splat %to : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %dst = tt.addptr %all, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %dst, %x, %mask : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// Only a mask: another pass finds the programs in which it splits no vector.
module {
  // CHECK-LABEL: @masked
  // CHECK-NOT: scf.if
  tt.func public @masked(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %limit = tt.splat %n : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %range, %limit : tensor<1024xi32>
    %from = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %src = tt.addptr %from, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x = tt.load %src, %mask : tensor<1024x!tt.ptr<f32>>
    tt.store %src, %x, %mask : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// Elements of a column, a stride apart: no multiple brings them together.
module {
  // CHECK-LABEL: @column
  // CHECK-NOT: scf.if
  tt.func public @column(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32) {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %step = tt.splat %stride : i32 -> tensor<1024xi32>
    %at = arith.muli %range, %step : tensor<1024xi32>
    %from = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %src = tt.addptr %from, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x = tt.load %src : tensor<1024x!tt.ptr<f32>>
    tt.store %src, %x : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
