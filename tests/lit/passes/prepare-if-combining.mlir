// What is between two scf.if on one condition goes in front of the first, if all of it can. Then they become one.
// RUN: ttc opt %s --tritonamdgpu-prepare-if-combining | FileCheck %s

module {
  // CHECK-LABEL: @moves
  tt.func @moves(%c: i1, %x: i32, %p: !tt.ptr<i32>) -> i32 {
    // CHECK: %t = arith.addi
    // CHECK-NEXT: [[BOTH:%.*]]:2 = scf.if %c -> (i32, i32) {
    // CHECK-NEXT: scf.yield %x, %t : i32, i32
    // CHECK-NEXT: } else {
    // CHECK-NEXT: %y = arith.muli
    // In a branch of the second, the first one's result is what its branch yields.
    // CHECK-NEXT: %z = arith.addi %y, %t
    // CHECK-NEXT: scf.yield %y, %z : i32, i32
    // CHECK-NEXT: }
    // CHECK-NEXT: [[SUM:%.*]] = arith.addi [[BOTH]]#0, [[BOTH]]#1
    // CHECK-NEXT: tt.return [[SUM]]
    %a = scf.if %c -> (i32) {
      scf.yield %x : i32
    } else {
      %y = arith.muli %x, %x : i32
      scf.yield %y : i32
    }
    %t = arith.addi %x, %x : i32
    %b = scf.if %c -> (i32) {
      scf.yield %t : i32
    } else {
      %z = arith.addi %a, %t : i32
      scf.yield %z : i32
    }
    %sum = arith.addi %a, %b : i32
    tt.return %sum : i32
  }

  // One without results may have no second branch.
  // CHECK-LABEL: @no_else
  tt.func @no_else(%c: i1, %x: i32, %p: !tt.ptr<i32>) -> i32 {
    // CHECK-NEXT: scf.if %c -> (i32) {
    // CHECK-NEXT: tt.store %p, %x
    // CHECK-NEXT: %y = arith.muli
    // CHECK-NEXT: tt.store %p, %y
    // CHECK-NEXT: scf.yield %y
    // CHECK-NEXT: } else {
    // CHECK-NEXT: scf.yield %x
    // CHECK-NEXT: }
    // CHECK-NEXT: tt.return
    scf.if %c {
      tt.store %p, %x : !tt.ptr<i32>
    }
    %a = scf.if %c -> (i32) {
      %y = arith.muli %x, %x : i32
      scf.yield %y : i32
    } else {
      scf.yield %x : i32
    }
    scf.if %c {
      tt.store %p, %a : !tt.ptr<i32>
    }
    tt.return %a : i32
  }

  // The sum needs the first result; the store has an effect; the conditions differ.
  // CHECK-LABEL: @stays
  tt.func @stays(%c: i1, %d: i1, %x: i32, %p: !tt.ptr<i32>) {
    // CHECK: %a = scf.if
    %a = scf.if %c -> (i32) {
      scf.yield %x : i32
    } else {
      %y = arith.muli %x, %x : i32
      scf.yield %y : i32
    }
    // CHECK: %t = arith.addi
    %t = arith.addi %a, %x : i32
    // CHECK: scf.if
    scf.if %c {
      tt.store %p, %t : !tt.ptr<i32>
    }
    // CHECK: tt.store
    tt.store %p, %x : !tt.ptr<i32>
    // CHECK: scf.if
    scf.if %c {
      tt.store %p, %t : !tt.ptr<i32>
    }
    // CHECK: %u = arith.subi
    %u = arith.subi %x, %t : i32
    // CHECK: scf.if
    scf.if %d {
      tt.store %p, %u : !tt.ptr<i32>
    }
    tt.return
  }
}
