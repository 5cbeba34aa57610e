// RUN: ttc opt %s --canonicalize | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each function says what it must show.

// A choice of values from outside.
// CHECK-LABEL: tt.func public @if_to_select(%c: i1, %a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.select %c, %a, %b : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @if_to_select(%c: i1, %a: i32, %b: i32) -> i32 {
  %r = scf.if %c -> (i32) {
  scf.yield %a : i32
  } else {
  scf.yield %b : i32
  }
  tt.return %r : i32
}

// What does something stays.
// CHECK-LABEL: tt.func public @if_with_store(%c: i1, %p: !tt.ptr<i32>, %a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = scf.if %c -> (i32) {
// CHECK-NEXT: tt.store %p, %a : !tt.ptr<i32>
// CHECK-NEXT: scf.yield %a : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[X:[^ ,:)#]+]] = arith.addi %a, %b : i32
// CHECK-NEXT: scf.yield %[[X]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @if_with_store(%c: i1, %p: !tt.ptr<i32>, %a: i32, %b: i32) -> i32 {
  %r = scf.if %c -> (i32) {
  tt.store %p, %a : !tt.ptr<i32>
  scf.yield %a : i32
  } else {
  %x = arith.addi %a, %b : i32
  scf.yield %x : i32
  }
  tt.return %r : i32
}

// Its body.
// CHECK-LABEL: tt.func public @if_true(%p: !tt.ptr<i32>, %a: i32) {
// CHECK-NEXT: tt.store %p, %a : !tt.ptr<i32>
// CHECK-NEXT: tt.return
// CHECK-NEXT: }
tt.func public @if_true(%p: !tt.ptr<i32>, %a: i32) {
  %c = arith.constant true
  scf.if %c {
  tt.store %p, %a : !tt.ptr<i32>
  }
  tt.return
}

// Nothing.
// CHECK-LABEL: tt.func public @if_false(%p: !tt.ptr<i32>, %a: i32) {
// CHECK-NEXT: tt.return
// CHECK-NEXT: }
tt.func public @if_false(%p: !tt.ptr<i32>, %a: i32) {
  %c = arith.constant false
  scf.if %c {
  tt.store %p, %a : !tt.ptr<i32>
  }
  tt.return
}

// One condition of two.
// CHECK-LABEL: tt.func public @if_nested(%c: i1, %d: i1, %p: !tt.ptr<i32>, %a: i32) {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.andi %c, %d : i1
// CHECK-NEXT: scf.if %[[V0]] {
// CHECK-NEXT: tt.store %p, %a : !tt.ptr<i32>
// CHECK-NEXT: }
// CHECK-NEXT: tt.return
// CHECK-NEXT: }
tt.func public @if_nested(%c: i1, %d: i1, %p: !tt.ptr<i32>, %a: i32) {
  scf.if %c {
  scf.if %d {
  tt.store %p, %a : !tt.ptr<i32>
  }
  }
  tt.return
}

// Not where the outer body does more.
// CHECK-LABEL: tt.func public @if_nested_with_more(%c: i1, %d: i1, %p: !tt.ptr<i32>, %a: i32) {
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT: tt.store %p, %a : !tt.ptr<i32>
// CHECK-NEXT: scf.if %d {
// CHECK-NEXT: tt.store %p, %a : !tt.ptr<i32>
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: tt.return
// CHECK-NEXT: }
tt.func public @if_nested_with_more(%c: i1, %d: i1, %p: !tt.ptr<i32>, %a: i32) {
  scf.if %c {
  tt.store %p, %a : !tt.ptr<i32>
  scf.if %d {
  tt.store %p, %a : !tt.ptr<i32>
  }
  }
  tt.return
}

// The condition is true inside.
// CHECK-LABEL: tt.func public @if_same_condition(%c: i1, %p: !tt.ptr<i32>, %a: i32, %b: i32) {
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT: tt.store %p, %a : !tt.ptr<i32>
// CHECK-NEXT: }
// CHECK-NEXT: tt.return
// CHECK-NEXT: }
tt.func public @if_same_condition(%c: i1, %p: !tt.ptr<i32>, %a: i32, %b: i32) {
  scf.if %c {
  %x = arith.select %c, %a, %b : i32
  tt.store %p, %x : !tt.ptr<i32>
  }
  tt.return
}

// The loop does not run.
// CHECK-LABEL: tt.func public @for_never(%a: i32, %p: !tt.ptr<i32>) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @for_never(%a: i32, %p: !tt.ptr<i32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c1 to %c0 step %c1 iter_args(%s = %a) -> (i32) : i32 {
  tt.store %p, %s : !tt.ptr<i32>
  scf.yield %i : i32
  }
  tt.return %r : i32
}

// It runs once.
// CHECK-LABEL: tt.func public @for_once(%a: i32, %p: !tt.ptr<i32>) -> i32 {
// CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: tt.store %p, %a : !tt.ptr<i32>
// CHECK-NEXT: tt.return %[[C0I32]] : i32
// CHECK-NEXT: }
tt.func public @for_once(%a: i32, %p: !tt.ptr<i32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %a) -> (i32) : i32 {
  tt.store %p, %s : !tt.ptr<i32>
  scf.yield %i : i32
  }
  tt.return %r : i32
}

// Twice stays a loop.
// CHECK-LABEL: tt.func public @for_twice(%a: i32, %p: !tt.ptr<i32>) -> i32 {
// CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
// CHECK-NEXT: %[[C2I32:[^ ,:)#]+]] = arith.constant 2 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = scf.for %[[I:[^ ,:)#]+]] = %[[C0I32]] to %[[C2I32]] step %[[C1I32]] iter_args(%[[S:[^ ,:)#]+]] = %a) -> (i32)  : i32 {
// CHECK-NEXT: tt.store %p, %[[S]] : !tt.ptr<i32>
// CHECK-NEXT: scf.yield %[[I]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @for_twice(%a: i32, %p: !tt.ptr<i32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %a) -> (i32) : i32 {
  tt.store %p, %s : !tt.ptr<i32>
  scf.yield %i : i32
  }
  tt.return %r : i32
}

// A carried value that does not change is not carried.
// CHECK-LABEL: tt.func public @for_invariant(%n: i32, %a: i32, %p: !tt.ptr<i32>) -> i32 {
// CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
// CHECK-NEXT: scf.for %[[I:[^ ,:)#]+]] = %[[C0I32]] to %n step %[[C1I32]]  : i32 {
// CHECK-NEXT: tt.store %p, %a : !tt.ptr<i32>
// CHECK-NEXT: }
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @for_invariant(%n: i32, %a: i32, %p: !tt.ptr<i32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (i32) : i32 {
  tt.store %p, %s : !tt.ptr<i32>
  scf.yield %s : i32
  }
  tt.return %r : i32
}
