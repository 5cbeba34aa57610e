// RUN: ttc opt %s --inline | FileCheck %s

// CHECK-LABEL: @kernel
// CHECK-NOT: tt.call @double
// CHECK: arith.addi
// CHECK: cf.cond_br
// CHECK: tt.call @kept
// CHECK-NOT: @double
// CHECK: tt.func private @kept
module {
  tt.func public @kernel(%a: i32, %c: i1) -> (i32, i32, i32) {
    %0 = tt.call @double(%a) : (i32) -> i32
    %1 = tt.call @pick(%a, %0, %c) : (i32, i32, i1) -> i32
    %2 = tt.call @kept(%a) : (i32) -> i32
    tt.return %0, %1, %2 : i32, i32, i32
  }
  tt.func private @double(%x: i32) -> i32 attributes {noinline = false} {
    %0 = arith.addi %x, %x : i32
    tt.return %0 : i32
  }
  tt.func private @pick(%x: i32, %y: i32, %c: i1) -> i32 attributes {noinline = false} {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %0 = arith.muli %x, %x : i32
    tt.return %0 : i32
  ^bb2:
    tt.return %y : i32
  }
  tt.func private @kept(%x: i32) -> i32 attributes {noinline = true} {
    tt.return %x : i32
  }
}
