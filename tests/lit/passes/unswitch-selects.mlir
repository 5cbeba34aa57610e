// What a loop selects under a condition that it does not change is not computed where that fails.
// RUN: ttc opt %s --split-input-file --ttc-unswitch-loops | FileCheck %s

// Without `valid` or without `flag` no element changes, so the loop is entered under both. Inside of it they are true,
// also in masks from outside.
// CHECK-LABEL: @where
// CHECK-SAME: %[[FLAG:flag]]: i1, %[[VALID:valid]]: i1, {{.*}} %[[COLUMNS:columns]]: tensor
// CHECK: %[[ALL:.*]] = arith.andi %[[FLAG]], %[[VALID]] : i1
// CHECK: scf.if %[[ALL]] -> (tensor<32xf32>) {
// CHECK-NEXT: %[[SUM:.*]] = scf.for
// CHECK-NOT: %[[VALID]]
// CHECK: arith.andi %[[COLUMNS]], %
// CHECK: arith.select
// CHECK: scf.yield %[[SUM]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %{{.*}}
// CHECK-NEXT: }
// CHECK-NEXT: tt.return
tt.func public @where(%p: !tt.ptr<f32>, %n: i32, %flag: i1, %valid: i1, %init: tensor<32xf32>, %columns: tensor<32xi1>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %all = tt.splat %flag : i1 -> tensor<32xi1>
  %outside = arith.andi %columns, %all : tensor<32xi1>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<32xf32>) : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
    %x = tt.load %q, %valid, %zero : !tt.ptr<f32>
    %xs = tt.splat %x : f32 -> tensor<32xf32>
    %is = arith.cmpf ogt, %xs, %a : tensor<32xf32>
    %in = tt.splat %valid : i1 -> tensor<32xi1>
    %some = arith.andi %outside, %is : tensor<32xi1>
    %which = arith.andi %some, %in : tensor<32xi1>
    %next = arith.addf %a, %xs : tensor<32xf32>
    %b = arith.select %which, %next, %a : tensor<32xi1>, tensor<32xf32>
    scf.yield %b : tensor<32xf32>
  }
  tt.return %0 : tensor<32xf32>
}

// -----

// Two carried values, which both stay without `on`. A conjunction stands for its terms.
// CHECK-LABEL: @two_values
// CHECK: %[[BOTH:.*]] = arith.andi
// CHECK-NEXT: scf.if %[[BOTH]] -> (f32, f32) {
// CHECK-NEXT: scf.for
tt.func public @two_values(%p: !tt.ptr<f32>, %n: i32, %on: i1, %set: i1, %init: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %both = arith.andi %on, %set : i1
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %b = %init) -> (f32, f32) : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
    %x = tt.load %q : !tt.ptr<f32>
    %sum = arith.addf %a, %x : f32
    %c = arith.select %both, %sum, %a : f32
    %more = arith.cmpf ogt, %x, %b : f32
    %which = arith.andi %more, %both : i1
    %d = arith.select %which, %x, %b : f32
    scf.yield %c, %d : f32, f32
  }
  tt.return %0#0, %0#1 : f32, f32
}

// -----

// A select the other way round, a value that changes in any case, a store, a condition of the loop's own, and a turn
// that costs no more than the test: these loops stay.
// CHECK-LABEL: @stay
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @stay(%p: !tt.ptr<f32>, %n: i32, %on: i1, %init: f32) -> (f32, f32, f32, f32, f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %turned = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (f32) : i32 {
    %x = tt.load %p : !tt.ptr<f32>
    %b = arith.select %on, %a, %x : f32
    scf.yield %b : f32
  }
  %changes:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init, %c = %init) -> (f32, f32) : i32 {
    %x = tt.load %p : !tt.ptr<f32>
    %b = arith.select %on, %x, %a : f32
    %d = arith.addf %c, %x : f32
    scf.yield %b, %d : f32, f32
  }
  %writes = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (f32) : i32 {
    %x = tt.load %p : !tt.ptr<f32>
    tt.store %p, %init : !tt.ptr<f32>
    %b = arith.select %on, %x, %a : f32
    scf.yield %b : f32
  }
  %own = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (f32) : i32 {
    %x = tt.load %p : !tt.ptr<f32>
    %is = arith.cmpf ogt, %x, %a : f32
    %b = arith.select %is, %x, %a : f32
    scf.yield %b : f32
  }
  %cheap = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (f32) : i32 {
    %x = arith.addf %a, %a : f32
    %b = arith.select %on, %x, %a : f32
    scf.yield %b : f32
  }
  tt.return %turned, %changes#1, %writes, %own, %cheap : f32, f32, f32, f32, f32
}

// -----

// One of two updates needs `last`: a loop with both, and one without the exponential.
// CHECK-LABEL: @versions
// CHECK-SAME: %[[LAST:last]]: i1, %[[INIT:init]]: f32
// CHECK: %[[RESULT:.*]] = scf.if %[[LAST]] -> (f32) {
// CHECK-NEXT: %[[A:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]])
// CHECK: math.exp
// CHECK: arith.select
// CHECK: arith.select
// CHECK: scf.yield %[[A]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[B:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]])
// CHECK-NOT: math.exp
// CHECK: arith.select
// CHECK-NOT: arith.select
// CHECK: scf.yield %[[B]]
// CHECK-NEXT: }
// CHECK-NEXT: tt.return %[[RESULT]]
tt.func public @versions(%p: !tt.ptr<f32>, %n: i32, %last: i1, %init: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (f32) : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
    %x = tt.load %q : !tt.ptr<f32>
    %e = math.exp %x : f32
    %is = arith.cmpf ogt, %x, %init : f32
    %both = arith.andi %is, %last : i1
    %sum = arith.addf %a, %e : f32
    %b = arith.select %both, %sum, %a : f32
    %less = arith.subf %b, %x : f32
    %c = arith.select %is, %less, %b : f32
    scf.yield %c : f32
  }
  tt.return %0 : f32
}

// -----

// Where `last` is known already, where the other side would save an addition only, and where a turn is long, the loop
// is there once.
// CHECK-LABEL: @once
// CHECK: scf.if
// CHECK-COUNT-3: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
#long = #ttg.blocked<{sizePerThread = [32], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @once(%p: !tt.ptr<f32>, %n: i32, %last: i1, %init: f32, %tile: tensor<1024xf32, #long>) -> (f32, f32, tensor<1024xf32, #long>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %known = scf.if %last -> (f32) {
    %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (f32) : i32 {
      %x = tt.load %p : !tt.ptr<f32>
      %e = math.exp %x : f32
      %b = arith.select %last, %e, %a : f32
      %less = arith.subf %b, %x : f32
      %is = arith.cmpf ogt, %x, %init : f32
      %c = arith.select %is, %less, %b : f32
      scf.yield %c : f32
    }
    scf.yield %0 : f32
  } else {
    scf.yield %init : f32
  }
  %cheap = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (f32) : i32 {
    %x = tt.load %p : !tt.ptr<f32>
    %e = arith.addf %a, %x : f32
    %b = arith.select %last, %e, %a : f32
    %less = arith.subf %b, %x : f32
    %is = arith.cmpf ogt, %x, %init : f32
    %c = arith.select %is, %less, %b : f32
    scf.yield %c : f32
  }
  %long = scf.for %i = %c0 to %n step %c1 iter_args(%a = %tile) -> (tensor<1024xf32, #long>) : i32 {
    %e = math.exp %a : tensor<1024xf32, #long>
    %b = arith.select %last, %e, %a : tensor<1024xf32, #long>
    %less = arith.subf %b, %tile : tensor<1024xf32, #long>
    %is = arith.cmpf ogt, %less, %tile : tensor<1024xf32, #long>
    %c = arith.select %is, %less, %b : tensor<1024xi1, #long>, tensor<1024xf32, #long>
    scf.yield %c : tensor<1024xf32, #long>
  }
  tt.return %known, %cheap, %long : f32, f32, tensor<1024xf32, #long>
}
}
