// RUN: ttc opt %s --cse | FileCheck %s

// CHECK-LABEL: @commutative
// CHECK-COUNT-1: arith.addi
// CHECK-NOT: arith.addi
tt.func public @commutative(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %b, %a : i32
  tt.return %0, %1 : i32, i32
}

// CHECK-LABEL: @not_commutative
// CHECK-COUNT-2: arith.subi
tt.func public @not_commutative(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.subi %a, %b : i32
  %1 = arith.subi %b, %a : i32
  tt.return %0, %1 : i32, i32
}

// CHECK-LABEL: @loads
// CHECK: tt.load
// CHECK-NOT: tt.load
// CHECK: tt.store
// CHECK: tt.load
tt.func public @loads(%p: !tt.ptr<i32>) -> i32 {
  %0 = tt.load %p : !tt.ptr<i32>
  %1 = tt.load %p : !tt.ptr<i32>
  %2 = arith.addi %0, %1 : i32
  tt.store %p, %2 : !tt.ptr<i32>
  %3 = tt.load %p : !tt.ptr<i32>
  tt.return %3 : i32
}

// What a branch computes is not there after it.
// CHECK-LABEL: @scopes
// CHECK: scf.if
// CHECK: arith.muli
// CHECK: }
// CHECK: arith.muli
tt.func public @scopes(%c: i1, %p: !tt.ptr<i32>, %a: i32) -> i32 {
  scf.if %c {
    %0 = arith.muli %a, %a : i32
    tt.store %p, %0 : !tt.ptr<i32>
  }
  %1 = arith.muli %a, %a : i32
  tt.return %1 : i32
}
