// RUN: ttc opt %s --loop-invariant-code-motion | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each function says what it must show.

// What does not change moves out.
// CHECK-LABEL: tt.func public @invariant(%n: i32, %a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
// CHECK-NEXT: %[[X:[^ ,:)#]+]] = arith.muli %a, %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = scf.for %[[I:[^ ,:)#]+]] = %[[C0I32]] to %n step %[[C1I32]] iter_args(%[[S:[^ ,:)#]+]] = %a) -> (i32)  : i32 {
// CHECK-NEXT: %[[T:[^ ,:)#]+]] = arith.addi %[[S]], %[[X]] : i32
// CHECK-NEXT: scf.yield %[[T]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @invariant(%n: i32, %a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (i32) : i32 {
  %x = arith.muli %a, %b : i32
  %t = arith.addi %s, %x : i32
  scf.yield %t : i32
  }
  tt.return %r : i32
}

// What changes stays.
// CHECK-LABEL: tt.func public @variant(%n: i32, %a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = scf.for %[[I:[^ ,:)#]+]] = %[[C0I32]] to %n step %[[C1I32]] iter_args(%[[S:[^ ,:)#]+]] = %a) -> (i32)  : i32 {
// CHECK-NEXT: %[[X:[^ ,:)#]+]] = arith.muli %[[S]], %b : i32
// CHECK-NEXT: %[[T:[^ ,:)#]+]] = arith.addi %[[S]], %[[X]] : i32
// CHECK-NEXT: scf.yield %[[T]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @variant(%n: i32, %a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (i32) : i32 {
  %x = arith.muli %s, %b : i32
  %t = arith.addi %s, %x : i32
  scf.yield %t : i32
  }
  tt.return %r : i32
}

// A division by what may be 0 stays.
// CHECK-LABEL: tt.func public @division(%n: i32, %a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = scf.for %[[I:[^ ,:)#]+]] = %[[C0I32]] to %n step %[[C1I32]] iter_args(%[[S:[^ ,:)#]+]] = %a) -> (i32)  : i32 {
// CHECK-NEXT: %[[X:[^ ,:)#]+]] = arith.divsi %a, %b : i32
// CHECK-NEXT: %[[T:[^ ,:)#]+]] = arith.addi %[[S]], %[[X]] : i32
// CHECK-NEXT: scf.yield %[[T]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @division(%n: i32, %a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (i32) : i32 {
  %x = arith.divsi %a, %b : i32
  %t = arith.addi %s, %x : i32
  scf.yield %t : i32
  }
  tt.return %r : i32
}

// A store stays.
// CHECK-LABEL: tt.func public @store(%n: i32, %a: i32, %p: !tt.ptr<i32>) -> i32 {
// CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = scf.for %[[I:[^ ,:)#]+]] = %[[C0I32]] to %n step %[[C1I32]] iter_args(%[[S:[^ ,:)#]+]] = %a) -> (i32)  : i32 {
// CHECK-NEXT: tt.store %p, %a : !tt.ptr<i32>
// CHECK-NEXT: %[[T:[^ ,:)#]+]] = arith.addi %[[S]], %a : i32
// CHECK-NEXT: scf.yield %[[T]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @store(%n: i32, %a: i32, %p: !tt.ptr<i32>) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (i32) : i32 {
  tt.store %p, %a : !tt.ptr<i32>
  %t = arith.addi %s, %a : i32
  scf.yield %t : i32
  }
  tt.return %r : i32
}

// Also what depends on what moved.
// CHECK-LABEL: tt.func public @chain(%n: i32, %a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
// CHECK-NEXT: %[[X:[^ ,:)#]+]] = arith.muli %a, %b : i32
// CHECK-NEXT: %[[Y:[^ ,:)#]+]] = arith.xori %[[X]], %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = scf.for %[[I:[^ ,:)#]+]] = %[[C0I32]] to %n step %[[C1I32]] iter_args(%[[S:[^ ,:)#]+]] = %a) -> (i32)  : i32 {
// CHECK-NEXT: %[[T:[^ ,:)#]+]] = arith.addi %[[S]], %[[Y]] : i32
// CHECK-NEXT: scf.yield %[[T]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @chain(%n: i32, %a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (i32) : i32 {
  %x = arith.muli %a, %b : i32
  %y = arith.xori %x, %b : i32
  %t = arith.addi %s, %y : i32
  scf.yield %t : i32
  }
  tt.return %r : i32
}
