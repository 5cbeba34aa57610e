// RUN: ttc opt %s --sccp | FileCheck %s

// The carried value is 1 in every iteration.
// CHECK-LABEL: @carried
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: tt.return %[[ONE]]
tt.func public @carried(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c1) -> (i32) : i32 {
    %1 = arith.muli %x, %c1 : i32
    scf.yield %1 : i32
  }
  tt.return %0 : i32
}

// CHECK-LABEL: @differs
// CHECK: %[[R:.*]] = scf.if
// CHECK: tt.return %[[R]]
tt.func public @differs(%c: i1) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %0 = scf.if %c -> (i32) {
    scf.yield %c1 : i32
  } else {
    scf.yield %c2 : i32
  }
  tt.return %0 : i32
}
