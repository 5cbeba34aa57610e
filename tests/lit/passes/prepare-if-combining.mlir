// What is between two scf.if on one condition goes in front of the first, if all of it can.
// RUN: ttc opt %s --tritonamdgpu-prepare-if-combining | FileCheck %s

module {
  // CHECK-LABEL: @moves
  tt.func @moves(%c: i1, %x: i32, %p: !tt.ptr<i32>) -> i32 {
    // CHECK: %t = arith.addi
    // CHECK: %a = scf.if
    %a = scf.if %c -> (i32) {
      scf.yield %x : i32
    } else {
      %y = arith.muli %x, %x : i32
      scf.yield %y : i32
    }
    %t = arith.addi %x, %x : i32
    // CHECK: %b = scf.if
    %b = scf.if %c -> (i32) {
      scf.yield %t : i32
    } else {
      scf.yield %a : i32
    }
    tt.return %b : i32
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
