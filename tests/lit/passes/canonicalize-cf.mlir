// RUN: ttc opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @constant_branch
// CHECK-NOT: cf.
// CHECK: tt.return %{{.*}} : i32
// CHECK-NOT: bb1
tt.func public @constant_branch(%a: i32, %b: i32) -> i32 {
  %t = arith.constant true
  cf.cond_br %t, ^bb1, ^bb2
^bb1:
  cf.br ^bb3(%a : i32)
^bb2:
  cf.br ^bb3(%b : i32)
^bb3(%r: i32):
  tt.return %r : i32
}

// Both ways matter.
// CHECK-LABEL: @early_return
// CHECK: cf.cond_br
// CHECK: tt.store
tt.func public @early_return(%c: i1, %p: !tt.ptr<i32>, %a: i32) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  tt.store %p, %a : !tt.ptr<i32>
  tt.return
}
