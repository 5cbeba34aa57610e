// Loops over whole groups have a known number of turns.
// RUN: ttc opt %s --split-input-file --ttc-whole-groups | FileCheck %s

// Both ends of a group of four are multiples of four, so it is whole or not there.
// CHECK-LABEL: @heads
// CHECK-SAME: %[[INIT:init]]: i32
// CHECK: %[[FIRST:.*]] = arith.muli
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[FIRST]], %c32
// CHECK: %[[ALL:.*]] = scf.if %[[RUNS]] -> (i32) {
// CHECK-NEXT: %[[SUM:.*]] = scf.for %[[AT:.*]] = %c0{{.*}} to %c4{{.*}} step %c2{{.*}} iter_args(%[[IN:.*]] = %[[INIT]])
// CHECK-NEXT: %[[HEAD:.*]] = arith.addi %[[FIRST]], %[[AT]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[IN]], %[[HEAD]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: scf.yield %[[SUM]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[INIT]]
// CHECK: tt.return %[[ALL]]
tt.func public @heads(%init: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c32 = arith.constant 32 : i32
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c4 : i32
  %next = arith.addi %first, %c4 : i32
  %last = arith.minsi %next, %c32 : i32
  %0 = scf.for %head = %first to %last step %c2 iter_args(%carried = %init) -> (i32) : i32 {
    %1 = arith.addi %carried, %head : i32
    scf.yield %1 : i32
  }
  tt.return %0 : i32
}

// -----

// From zero, and to an end that the launch says is a multiple of 16.
// CHECK-LABEL: @rows
// CHECK: arith.cmpi slt, %c0{{.*}}, %n
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16
tt.func public @rows(%p: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}, %v: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %last = arith.minsi %n, %c16 : i32
  scf.for %row = %c0 to %last step %c1 : i32 {
    %at = tt.addptr %p, %row : !tt.ptr<f32>, i32
    tt.store %at, %v : !tt.ptr<f32>
  }
  tt.return
}

// -----

// The last group may be smaller: nothing is known of `n`.
// CHECK-LABEL: @some
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %{{.*}} to %last
tt.func public @some(%p: !tt.ptr<f32>, %n: i32, %v: f32) {
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c4 : i32
  %next = arith.addi %first, %c4 : i32
  %last = arith.minsi %next, %n : i32
  scf.for %head = %first to %last step %c1 : i32 {
    %at = tt.addptr %p, %head : !tt.ptr<f32>, i32
    tt.store %at, %v : !tt.ptr<f32>
  }
  tt.return
}

// -----

// A step that does not divide the group, and a start that is no multiple of it.
// CHECK-LABEL: @others
// CHECK-NOT: scf.if
tt.func public @others(%p: !tt.ptr<f32>, %from: i32, %v: f32) {
  %c3 = arith.constant 3 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c32 = arith.constant 32 : i32
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c4 : i32
  %next = arith.addi %first, %c4 : i32
  %last = arith.minsi %next, %c32 : i32
  scf.for %head = %first to %last step %c3 : i32 {
    %at = tt.addptr %p, %head : !tt.ptr<f32>, i32
    tt.store %at, %v : !tt.ptr<f32>
  }
  %after = arith.addi %from, %c4 : i32
  %end = arith.minsi %after, %c32 : i32
  scf.for %head = %from to %end step %c1 : i32 {
    %at = tt.addptr %p, %head : !tt.ptr<f32>, i32
    tt.store %at, %v : !tt.ptr<f32>
  }
  tt.return
}
