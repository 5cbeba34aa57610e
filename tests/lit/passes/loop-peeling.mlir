// RUN: ttc opt %s --triton-test-loop-peeling --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: @marked
// CHECK: %[[U:.*]] = arith.subi %n, %s
// CHECK: %[[R:.*]] = scf.for %i = %z to %[[U]] step %s
// CHECK: %[[C:.*]] = arith.cmpi slt, %z, %n
// CHECK: %[[P:.*]] = scf.if %[[C]] -> (f32) {
// CHECK: %[[V:.*]] = "value"(%{{.*}}) : (i32) -> f32
// CHECK: %[[A:.*]] = arith.addf %[[R]], %[[V]]
// CHECK: scf.yield %[[A]]
// CHECK: else
// CHECK: scf.yield %[[R]]
// CHECK: tt.return %[[P]]
tt.func @marked(%z: i32, %n: i32, %s: i32, %x: f32) -> f32 {
  %0 = scf.for %i = %z to %n step %s iter_args(%acc = %x) -> (f32) : i32 {
    %v = "value"(%i) : (i32) -> f32
    %1 = arith.addf %acc, %v : f32
    scf.yield %1 : f32
  } {__test_peel_epilogue}
  tt.return %0 : f32
}

// CHECK-LABEL: @plain
// CHECK-NOT: scf.if
tt.func @plain(%z: i32, %n: i32, %s: i32) {
  scf.for %i = %z to %n step %s : i32 {
    "value"(%i) : (i32) -> ()
  }
  tt.return
}
