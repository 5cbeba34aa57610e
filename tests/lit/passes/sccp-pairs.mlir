// RUN: ttc opt %s --sccp | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each function says what it must show.

// Only one branch is taken: its constant is the result.
// CHECK-LABEL: tt.func public @known_branch(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C5I32:[^ ,:)#]+]] = arith.constant 5 : i32
// CHECK-NEXT: %[[TRUE:[^ ,:)#]+]] = arith.constant true
// CHECK-NEXT: tt.return %[[C5I32]] : i32
// CHECK-NEXT: }
tt.func public @known_branch(%a: i32, %b: i32) -> i32 {
  %t = arith.constant true
  %r = scf.if %t -> (i32) {
  %c = arith.constant 5 : i32
  scf.yield %c : i32
  } else {
  scf.yield %b : i32
  }
  tt.return %r : i32
}

// Two constants may come.
// CHECK-LABEL: tt.func public @unknown_branch(%c: i1) -> i32 {
// CHECK-NEXT: %[[C6I32:[^ ,:)#]+]] = arith.constant 6 : i32
// CHECK-NEXT: %[[C5I32:[^ ,:)#]+]] = arith.constant 5 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = scf.if %c -> (i32) {
// CHECK-NEXT: scf.yield %[[C5I32]] : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[C6I32]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @unknown_branch(%c: i1) -> i32 {
  %x = arith.constant 5 : i32
  %y = arith.constant 6 : i32
  %r = scf.if %c -> (i32) {
  scf.yield %x : i32
  } else {
  scf.yield %y : i32
  }
  tt.return %r : i32
}

// The same constant comes both ways.
// CHECK-LABEL: tt.func public @equal_branches(%c: i1) -> i32 {
// CHECK-NEXT: %[[C5I32:[^ ,:)#]+]] = arith.constant 5 : i32
// CHECK-NEXT: tt.return %[[C5I32]] : i32
// CHECK-NEXT: }
tt.func public @equal_branches(%c: i1) -> i32 {
  %x = arith.constant 5 : i32
  %y = arith.constant 5 : i32
  %r = scf.if %c -> (i32) {
  scf.yield %x : i32
  } else {
  scf.yield %y : i32
  }
  tt.return %r : i32
}

// 1 * 1 stays 1 in every iteration.
// CHECK-LABEL: tt.func public @carried(%n: i32) -> i32 {
// CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
// CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: tt.return %[[C1I32]] : i32
// CHECK-NEXT: }
tt.func public @carried(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c1) -> (i32) : i32 {
  %t = arith.muli %s, %s : i32
  scf.yield %t : i32
  }
  tt.return %r : i32
}

// 1 + 1 does not.
// CHECK-LABEL: tt.func public @counted(%n: i32) -> i32 {
// CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
// CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = scf.for %[[I:[^ ,:)#]+]] = %[[C0I32]] to %n step %[[C1I32]] iter_args(%[[S:[^ ,:)#]+]] = %[[C1I32]]) -> (i32)  : i32 {
// CHECK-NEXT: %[[T:[^ ,:)#]+]] = arith.addi %[[S]], %[[S]] : i32
// CHECK-NEXT: scf.yield %[[T]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @counted(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c1) -> (i32) : i32 {
  %t = arith.addi %s, %s : i32
  scf.yield %t : i32
  }
  tt.return %r : i32
}

// Constants are added.
// CHECK-LABEL: tt.func public @sum(%a: i32) -> i32 {
// CHECK-NEXT: %[[C11I32:[^ ,:)#]+]] = arith.constant 11 : i32
// CHECK-NEXT: %[[C6I32:[^ ,:)#]+]] = arith.constant 6 : i32
// CHECK-NEXT: %[[C5I32:[^ ,:)#]+]] = arith.constant 5 : i32
// CHECK-NEXT: tt.return %[[C11I32]] : i32
// CHECK-NEXT: }
tt.func public @sum(%a: i32) -> i32 {
  %x = arith.constant 5 : i32
  %y = arith.constant 6 : i32
  %r = arith.addi %x, %y : i32
  tt.return %r : i32
}
