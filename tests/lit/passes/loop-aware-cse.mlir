// RUN: ttc opt %s --triton-loop-aware-cse | FileCheck %s

// CHECK-LABEL: @equal
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{[^,]*}}) -> (i32)
tt.func public @equal(%n: i32, %a: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %a) -> (i32, i32) : i32 {
    %1 = arith.addi %x, %i : i32
    %2 = arith.addi %y, %i : i32
    scf.yield %1, %2 : i32, i32
  }
  tt.return %0#0, %0#1 : i32, i32
}

// CHECK-LABEL: @different
// CHECK: iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
tt.func public @different(%n: i32, %a: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %a) -> (i32, i32) : i32 {
    %1 = arith.addi %x, %i : i32
    %2 = arith.subi %y, %i : i32
    scf.yield %1, %2 : i32, i32
  }
  tt.return %0#0, %0#1 : i32, i32
}
