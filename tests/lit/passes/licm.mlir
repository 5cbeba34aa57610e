// RUN: ttc opt %s --triton-licm | FileCheck %s

// CHECK-LABEL: @reads_only
// CHECK: %[[RUNS:.*]] = arith.cmpi slt
// CHECK: tt.load %{{.*}}, %[[RUNS]]
// CHECK: scf.for
// CHECK-NOT: tt.load
tt.func public @reads_only(%n: i32, %p: !tt.ptr<i32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c0) -> (i32) : i32 {
    %1 = tt.load %p : !tt.ptr<i32>
    %2 = arith.addi %x, %1 : i32
    scf.yield %2 : i32
  }
  tt.return %0 : i32
}

// The store might change what is loaded; the division might fail.
// CHECK-LABEL: @stays
// CHECK: scf.for
// CHECK: tt.load
// CHECK: arith.divsi
tt.func public @stays(%n: i32, %p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %1 = tt.load %p : !tt.ptr<i32>
    %2 = arith.divsi %c1, %n : i32
    %3 = arith.addi %1, %2 : i32
    tt.store %p, %3 : !tt.ptr<i32>
  }
  tt.return
}
