// RUN: ttc opt %s --triton-rewrite-tensor-pointer | FileCheck %s

// Only the offsets are carried; the checked dimension has a mask.
// CHECK-LABEL: @loop
// CHECK-NOT: tt.make_tensor_ptr
// CHECK: %[[ROW:.*]] = arith.extsi %row : i32 to i64
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[R:.*]] = %[[ROW]], %[[C:.*]] = %{{.*}}) -> (f32, i64, i64)
// CHECK: tt.splat %x : !tt.ptr<f32> -> tensor<4x8x!tt.ptr<f32>>
// CHECK: tt.splat %[[R]] : i64 -> tensor<4xi64>
// CHECK: tt.make_range {end = 4 : i32, start = 0 : i32}
// CHECK: %[[ROWS:.*]] = tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<4xi64> -> tensor<4x1xi64>
// CHECK: arith.muli %[[ROWS]], %{{.*}} : tensor<4x1xi64>
// CHECK: tt.addptr
// CHECK: tt.splat %[[C]] : i64 -> tensor<8xi64>
// CHECK: %[[PTR:.*]] = tt.addptr
// CHECK: %[[LOW:.*]] = arith.cmpi sge, %[[ROWS]]
// CHECK: %[[EXTENT:.*]] = tt.splat %m : i64 -> tensor<4x1xi64>
// CHECK: %[[HIGH:.*]] = arith.cmpi slt, %[[ROWS]], %[[EXTENT]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[LOW]], %[[HIGH]]
// CHECK: %[[MASK:.*]] = tt.broadcast %[[BOTH]] : tensor<4x1xi1> -> tensor<4x8xi1>
// CHECK-NOT: arith.cmpi
// CHECK: tt.load %[[PTR]], %[[MASK]] : tensor<4x8x!tt.ptr<f32>>
// CHECK: arith.addi %[[R]]
// CHECK: arith.addi %[[C]]
// CHECK-NOT: tt.advance
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}} : f32, i64, i64
tt.func public @loop(%x: !tt.ptr<f32>, %m: i64, %n: i64, %row: i32, %f: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %p = tt.make_tensor_ptr %x, [%m, %n], [%n, %one], [%row, %c0] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
  %r:2 = scf.for %i = %c0 to %c64 step %c8 iter_args(%a = %f, %q = %p) -> (f32, !tt.ptr<tensor<4x8xf32>>) : i32 {
    %v = tt.load %q {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<4x8xf32>>
    tt.store %q, %v : !tt.ptr<tensor<4x8xf32>>
    %next = tt.advance %q, [%c0, %c8] : <tensor<4x8xf32>>
    scf.yield %a, %next : f32, !tt.ptr<tensor<4x8xf32>>
  }
  tt.return %r#0 : f32
}

// Padding, and what the access says of caches, is kept; without a check there is no mask, and so nothing to pad.
// CHECK-LABEL: @padding
// CHECK: %[[NAN:.*]] = arith.constant 0x7E00 : f16
// CHECK: %[[PAD:.*]] = tt.splat %[[NAN]] : f16 -> tensor<16xf16>
// CHECK: tt.load %{{.*}}, %{{.*}}, %[[PAD]] {{.*}}evict_first{{.*}} : tensor<16x!tt.ptr<f16>>
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f16
// CHECK: %[[PAD0:.*]] = tt.splat %[[ZERO]]
// CHECK: tt.load %{{.*}}, %{{.*}}, %[[PAD0]] : tensor<16x!tt.ptr<f16>>
// CHECK: tt.load %{{[a-z0-9_]+}} : tensor<16x!tt.ptr<f16>>
// CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} {{.*}}cs{{.*}} : tensor<16x!tt.ptr<f16>>
tt.func public @padding(%x: !tt.ptr<f16>, %n: i64, %o: i32) {
  %one = arith.constant 1 : i64
  %p = tt.make_tensor_ptr %x, [%n], [%one], [%o] {order = array<i32: 0>} : <tensor<16xf16>>
  %a = tt.load %p evictionPolicy = evict_first {boundaryCheck = array<i32: 0>, padding = 2 : i32} : !tt.ptr<tensor<16xf16>>
  %b = tt.load %p {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<16xf16>>
  %c = tt.load %p {padding = 1 : i32} : !tt.ptr<tensor<16xf16>>
  %d = arith.addf %a, %b : tensor<16xf16>
  %e = arith.addf %c, %d : tensor<16xf16>
  tt.store %p, %e cacheModifier = cs {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<16xf16>>
  tt.return
}

// Bases and extents differ, the stride does not.
// CHECK-LABEL: @differ
// CHECK: %[[R:.*]]:3 = scf.if %c -> (!tt.ptr<f32>, i64, i64)
// CHECK: scf.yield %x, %m, %{{.*}} : !tt.ptr<f32>, i64, i64
// CHECK: scf.yield %y, %n, %{{.*}} : !tt.ptr<f32>, i64, i64
// CHECK: tt.splat %[[R]]#0 : !tt.ptr<f32>
// CHECK: tt.splat %[[R]]#2 : i64 -> tensor<16xi64>
// CHECK: tt.splat %[[R]]#1 : i64 -> tensor<16xi64>
tt.func public @differ(%c: i1, %x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %m: i64, %n: i64, %o: i32) {
  %one = arith.constant 1 : i64
  %r = scf.if %c -> (!tt.ptr<tensor<16xf32>>) {
    %p = tt.make_tensor_ptr %x, [%m], [%one], [%o] {order = array<i32: 0>} : <tensor<16xf32>>
    scf.yield %p : !tt.ptr<tensor<16xf32>>
  } else {
    %q = tt.make_tensor_ptr %y, [%n], [%one], [%o] {order = array<i32: 0>} : <tensor<16xf32>>
    scf.yield %q : !tt.ptr<tensor<16xf32>>
  }
  %v = tt.load %r {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<16xf32>>
  tt.store %r, %v {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<16xf32>>
  tt.return
}

// Two pointers that change places: each carries its base.
// CHECK-LABEL: @swap
// CHECK: scf.for %{{.*}} iter_args(%[[PB:.*]] = %x, %[[PO:.*]] = %{{.*}}, %[[QB:.*]] = %y, %[[QO:.*]] = %{{.*}}) -> (!tt.ptr<f32>, i64, !tt.ptr<f32>, i64)
// CHECK: tt.splat %[[PB]]
// CHECK: tt.splat %[[QB]]
// CHECK: scf.yield %[[QB]], %[[QO]], %[[PB]], %[[PO]]
tt.func public @swap(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32, %m: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1 : i64
  %p0 = tt.make_tensor_ptr %x, [%m], [%one], [%c0] {order = array<i32: 0>} : <tensor<16xf32>>
  %q0 = tt.make_tensor_ptr %y, [%m], [%one], [%c0] {order = array<i32: 0>} : <tensor<16xf32>>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0) -> (!tt.ptr<tensor<16xf32>>, !tt.ptr<tensor<16xf32>>) : i32 {
    %v = tt.load %p : !tt.ptr<tensor<16xf32>>
    tt.store %q, %v : !tt.ptr<tensor<16xf32>>
    scf.yield %q, %p : !tt.ptr<tensor<16xf32>>, !tt.ptr<tensor<16xf32>>
  }
  tt.return
}

// The extent is computed in front of the condition, so it is not visible behind it.
// CHECK-LABEL: @while
// CHECK: scf.while (%{{.*}} = %c0_i32, %{{.*}} = %one, %{{.*}} = %{{.*}}) : (i32, i64, i64) -> (i64, i64)
// CHECK: %[[EXTENT:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: scf.condition(%{{.*}}) %[[EXTENT]], %{{.*}} : i64, i64
// CHECK: ^bb0(%[[E:.*]]: i64, %[[O:.*]]: i64)
// CHECK: tt.splat %[[E]] : i64 -> tensor<16xi64>
// CHECK: scf.yield %n, %[[E]], %[[O]] : i32, i64, i64
tt.func public @while(%x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %p0 = tt.make_tensor_ptr %x, [%one], [%one], [%c0] {order = array<i32: 0>} : <tensor<16xf32>>
  %r = scf.while (%i = %c0, %p = %p0) : (i32, !tt.ptr<tensor<16xf32>>) -> !tt.ptr<tensor<16xf32>> {
    %c = arith.cmpi slt, %i, %n : i32
    %m = arith.extsi %i : i32 to i64
    %v = tt.load %p : !tt.ptr<tensor<16xf32>>
    tt.store %p, %v : !tt.ptr<tensor<16xf32>>
    %q = tt.make_tensor_ptr %x, [%m], [%one], [%i] {order = array<i32: 0>} : <tensor<16xf32>>
    scf.condition(%c) %q : !tt.ptr<tensor<16xf32>>
  } do {
  ^bb0(%p: !tt.ptr<tensor<16xf32>>):
    %v = tt.load %p {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<16xf32>>
    tt.store %p, %v : !tt.ptr<tensor<16xf32>>
    scf.yield %n, %p : i32, !tt.ptr<tensor<16xf32>>
  }
  tt.return
}

// CHECK-LABEL: @blocks
// CHECK: cf.cond_br %c, ^bb1(%{{.*}}, %n : i64, i32), ^bb2
// CHECK: ^bb1(%[[O:.*]]: i64, %[[N:.*]]: i32):
// CHECK: tt.splat %[[O]] : i64 -> tensor<16xi64>
// CHECK: %[[NEXT:.*]] = arith.addi %[[O]]
// CHECK: cf.cond_br %c, ^bb1(%[[NEXT]], %[[N]] : i64, i32), ^bb2
tt.func public @blocks(%x: !tt.ptr<f32>, %n: i32, %c: i1) {
  %one = arith.constant 1 : i64
  %p = tt.make_tensor_ptr %x, [%one], [%one], [%n] {order = array<i32: 0>} : <tensor<16xf32>>
  cf.cond_br %c, ^bb1(%p, %n : !tt.ptr<tensor<16xf32>>, i32), ^bb2
^bb1(%q: !tt.ptr<tensor<16xf32>>, %m: i32):
  %v = tt.load %q : !tt.ptr<tensor<16xf32>>
  tt.store %q, %v : !tt.ptr<tensor<16xf32>>
  %r = tt.advance %q, [%m] : <tensor<16xf32>>
  cf.cond_br %c, ^bb1(%r, %m : !tt.ptr<tensor<16xf32>>, i32), ^bb2
^bb2:
  tt.return
}

// CHECK-LABEL: @select
// CHECK: %[[BASE:.*]] = arith.select %c, %x, %y : !tt.ptr<f32>
// CHECK: %[[OFFSET:.*]] = arith.select %c, %{{.*}}, %{{.*}} : i64
// CHECK: tt.splat %[[BASE]]
// CHECK: tt.splat %[[OFFSET]] : i64 -> tensor<16xi64>
tt.func public @select(%c: i1, %x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %m: i64, %o: i32) {
  %one = arith.constant 1 : i64
  %p = tt.make_tensor_ptr %x, [%m], [%one], [%o] {order = array<i32: 0>} : <tensor<16xf32>>
  %q = tt.make_tensor_ptr %y, [%m], [%one], [%o] {order = array<i32: 0>} : <tensor<16xf32>>
  %r = arith.select %c, %p, %q : !tt.ptr<tensor<16xf32>>
  %v = tt.load %r : !tt.ptr<tensor<16xf32>>
  tt.store %r, %v : !tt.ptr<tensor<16xf32>>
  tt.return
}

// No block pointers, no change.
// CHECK-LABEL: @plain
// CHECK-NEXT: tt.load %p : !tt.ptr<f32>
// CHECK-NEXT: tt.store %p, %{{.*}} : !tt.ptr<f32>
// CHECK-NEXT: tt.return
tt.func public @plain(%p: !tt.ptr<f32>) {
  %v = tt.load %p : !tt.ptr<f32>
  tt.store %p, %v : !tt.ptr<f32>
  tt.return
}
