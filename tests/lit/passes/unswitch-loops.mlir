// Loops are entered only where a condition that they do not change lets them do something.
// RUN: ttc opt %s --split-input-file --ttc-unswitch-loops | FileCheck %s

// What is known of `y` goes in front of the loop over `x`, which then asks for `x` alone. The loop over `y` does nothing
// where `z` lies outside, so it is not entered there either.
// CHECK-LABEL: @nested
// CHECK-SAME: %[[DEPTH:z_in]]: i1, %[[INIT:init]]: f32
// CHECK: %[[ALL:.*]] = scf.if %[[DEPTH]] -> (f32) {
// CHECK-NEXT: %[[ROWS:.*]] = scf.for %[[Y:.*]] = %{{.*}} iter_args(%[[A:.*]] = %[[INIT]])
// CHECK-NEXT: %[[ROW:.*]] = arith.cmpi slt, %[[Y]],
// CHECK-NEXT: %[[IN:.*]] = scf.if %[[ROW]] -> (f32) {
// CHECK-NEXT: %[[COLUMNS:.*]] = scf.for %[[X:.*]] = %{{.*}} iter_args(%[[B:.*]] = %[[A]])
// CHECK-NEXT: %[[COLUMN:.*]] = arith.cmpi slt, %[[X]],
// CHECK-NEXT: scf.if %[[COLUMN]] -> (f32) {
// CHECK: scf.yield %[[COLUMNS]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[A]]
// CHECK: scf.yield %[[IN]]
// CHECK: scf.yield %[[ROWS]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[INIT]]
// CHECK: tt.return %[[ALL]]
tt.func public @nested(%p: !tt.ptr<f32>, %n: i32, %z_in: i1, %init: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %0 = scf.for %y = %c0 to %n step %c1 iter_args(%a = %init) -> (f32) : i32 {
    %y_in = arith.cmpi slt, %y, %c8 : i32
    %1 = scf.for %x = %c0 to %n step %c1 iter_args(%b = %a) -> (f32) : i32 {
      %x_in = arith.cmpi slt, %x, %c8 : i32
      %xy = arith.andi %x_in, %y_in : i1
      %all = arith.andi %z_in, %xy : i1
      %2 = scf.if %all -> (f32) {
        %q = tt.addptr %p, %x : !tt.ptr<f32>, i32
        %v = tt.load %q : !tt.ptr<f32>
        %s = arith.addf %b, %v : f32
        scf.yield %s : f32
      } else {
        scf.yield %b : f32
      }
      scf.yield %2 : f32
    }
    scf.yield %1 : f32
  }
  tt.return %0 : f32
}

// -----

// A branch that writes and gives nothing. All of its condition goes in front; `%steps` advances without it, but nobody
// reads where it ends.
// CHECK-LABEL: @writes
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: scf.for
// CHECK-NOT: scf.if
// CHECK: tt.store
tt.func public @writes(%p: !tt.ptr<i32>, %n: i32, %on: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> (!tt.ptr<i32>) : i32 {
    scf.if %on {
      tt.store %q, %i : !tt.ptr<i32>
    }
    %next = tt.addptr %q, %c1 : !tt.ptr<i32>, i32
    scf.yield %next : !tt.ptr<i32>
  }
  tt.return
}

// -----

// The same, where the pointer is used behind the loop: it has to advance.
// CHECK-LABEL: @advances
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.constant
// CHECK-NEXT: scf.for
tt.func public @advances(%p: !tt.ptr<i32>, %n: i32, %on: i1) -> !tt.ptr<i32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> (!tt.ptr<i32>) : i32 {
    scf.if %on {
      tt.store %q, %i : !tt.ptr<i32>
    }
    %next = tt.addptr %q, %c1 : !tt.ptr<i32>, i32
    scf.yield %next : !tt.ptr<i32>
  }
  tt.return %end : !tt.ptr<i32>
}

// -----

// Without the condition the sum is halved, or something else is written: such loops work in any case.
// CHECK-LABEL: @works
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.constant
// CHECK-NEXT: scf.for
// CHECK: arith.mulf
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: scf.for
tt.func public @works(%p: !tt.ptr<f32>, %n: i32, %on: i1, %init: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %half = arith.constant 5.000000e-01 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (f32) : i32 {
    %next = scf.if %on -> (f32) {
      %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
      %v = tt.load %q : !tt.ptr<f32>
      %s = arith.addf %a, %v : f32
      scf.yield %s : f32
    } else {
      %h = arith.mulf %a, %half : f32
      scf.yield %h : f32
    }
    scf.yield %next : f32
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.if %on {
      tt.store %p, %sum : !tt.ptr<f32>
    }
    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
    tt.store %q, %init : !tt.ptr<f32>
  }
  tt.return %sum : f32
}
