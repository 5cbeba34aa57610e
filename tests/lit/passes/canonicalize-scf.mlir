// RUN: ttc opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @constant_if
// CHECK-NOT: scf.if
// CHECK: arith.addi
tt.func public @constant_if(%a: i32) -> i32 {
  %t = arith.constant true
  %0 = scf.if %t -> (i32) {
    %1 = arith.addi %a, %a : i32
    scf.yield %1 : i32
  } else {
    scf.yield %a : i32
  }
  tt.return %0 : i32
}

// CHECK-LABEL: @if_of_outer_values
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
tt.func public @if_of_outer_values(%c: i1, %a: i32, %b: i32) -> i32 {
  %0 = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  tt.return %0 : i32
}

// A store stays in its branch.
// CHECK-LABEL: @if_with_store
// CHECK: scf.if
// CHECK: tt.store
tt.func public @if_with_store(%c: i1, %p: !tt.ptr<i32>, %a: i32) {
  scf.if %c {
    tt.store %p, %a : !tt.ptr<i32>
  }
  tt.return
}

// CHECK-LABEL: @negated
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: tt.store %{{.*}}, %c2_i32
// CHECK: else
// CHECK-NEXT: tt.store %{{.*}}, %c1_i32
tt.func public @negated(%c: i1, %p: !tt.ptr<i32>) {
  %t = arith.constant true
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %n = arith.xori %c, %t : i1
  scf.if %n {
    tt.store %p, %c1 : !tt.ptr<i32>
  } else {
    tt.store %p, %c2 : !tt.ptr<i32>
  }
  tt.return
}

// CHECK-LABEL: @condition_known_inside
// CHECK: tt.store %{{.*}}, %true
tt.func public @condition_known_inside(%c: i1, %p: !tt.ptr<i1>) {
  scf.if %c {
    tt.store %p, %c : !tt.ptr<i1>
  }
  tt.return
}

// CHECK-LABEL: @one_trip
// CHECK-NOT: scf.for
// CHECK: arith.addi
tt.func public @one_trip(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %a) -> (i32) : i32 {
    %1 = arith.addi %x, %a : i32
    scf.yield %1 : i32
  }
  tt.return %0 : i32
}

// CHECK-LABEL: @no_trip
// CHECK-NEXT: tt.return %{{.*}} : i32
tt.func public @no_trip(%a: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c5 to %c1 step %c1 iter_args(%x = %a) -> (i32) : i32 {
    %1 = arith.addi %x, %i : i32
    scf.yield %1 : i32
  }
  tt.return %0 : i32
}

// The first carried value never changes, the second does.
// CHECK-LABEL: @invariant_carried
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{[^,]*}}) -> (i32)
tt.func public @invariant_carried(%n: i32, %a: i32, %b: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (i32, i32) : i32 {
    %1 = arith.addi %x, %y : i32
    scf.yield %x, %1 : i32, i32
  }
  tt.return %0#0, %0#1 : i32, i32
}

// -----

// Two carried values start alike and are yielded alike, and only the second is used: it must not become the first, which goes.
// CHECK-LABEL: tt.func public @same_but_the_first_is_unused
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i32)
// CHECK: tt.return %[[R]] : i32
tt.func public @same_but_the_first_is_unused(%n: i32, %a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %a) -> (i32, i32) : i32 {
    %s = arith.addi %q, %i : i32
    scf.yield %s, %s : i32, i32
  }
  tt.return %r#1 : i32
}
