// RUN: ttc opt %s --inline | FileCheck %s
// What a call says of its result, the operation that makes the result says when the call is gone.

// CHECK-LABEL: @kernel
// CHECK: tt.addptr {{.*}} {tt.contiguity = dense<8> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>}
// CHECK-NOT: tt.call
tt.func public @kernel(%p: !tt.ptr<f32>, %n: i32) {
  %0 = tt.call @at(%p, %n) {tt.contiguity = dense<8> : tensor<1xi32>, tt.divisibility = dense<16> : tensor<1xi32>} : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>
  %1 = tt.load %0 : !tt.ptr<f32>
  tt.store %0, %1 : !tt.ptr<f32>
  tt.return
}

tt.func private @at(%p: !tt.ptr<f32>, %n: i32) -> !tt.ptr<f32> {
  %0 = tt.addptr %p, %n : !tt.ptr<f32>, i32
  tt.return %0 : !tt.ptr<f32>
}
