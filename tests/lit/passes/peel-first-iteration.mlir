// What only a loop's first iteration does moves in front of it.
// RUN: ttc opt %s --split-input-file --ttc-peel-first-iteration | FileCheck %s

// With constant bounds there is a first iteration: its copy needs no test, and the loop has no branch.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @known
// CHECK-NOT: scf.if
// CHECK: %[[FIRST:.*]] = tt.load
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %[[STEP:.*]] to %{{.*}} step %[[STEP]] iter_args(%[[ACC:.*]] = %[[FIRST]])
// CHECK-NEXT: tt.splat
// CHECK-NOT: scf.if
// CHECK: %[[X:.*]] = tt.load
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[ACC]], %[[X]]
// CHECK-NEXT: scf.yield %[[SUM]]
tt.func public @known(%p: tensor<512x!tt.ptr<f32>, #b>, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 512 : i32
  %n = arith.constant 2048 : i32
  %0 = scf.for %i = %c0 to %n step %step iter_args(%acc = %init) -> (tensor<512xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<512xi32, #b>
    %q = tt.addptr %p, %at : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %x = tt.load %q : tensor<512x!tt.ptr<f32>, #b>
    %first = arith.cmpi eq, %i, %c0 : i32
    %next = scf.if %first -> (tensor<512xf32, #b>) {
      scf.yield %x : tensor<512xf32, #b>
    } else {
      %sum = arith.addf %acc, %x : tensor<512xf32, #b>
      scf.yield %sum : tensor<512xf32, #b>
    }
    scf.yield %next : tensor<512xf32, #b>
  }
  tt.return %0 : tensor<512xf32, #b>
}
}

// -----

// Bounds that are known at run time: the copy stands under a test, and without an iteration the loop starts with what
// it started with. `ne` tells the first iteration as well.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @asked
// CHECK-SAME: %[[LOWER:lower]]: i32, %[[UPPER:upper]]: i32, %[[INIT:init]]: tensor
// CHECK: %[[STEP:.*]] = arith.constant 512
// CHECK: %[[NEXT:.*]] = arith.addi %[[LOWER]], %[[STEP]]
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[LOWER]], %[[UPPER]]
// CHECK: %[[SECOND:.*]] = arith.select %[[RUNS]], %[[NEXT]], %[[LOWER]]
// CHECK: %[[START:.*]] = scf.if %[[RUNS]]
// CHECK: %[[FIRST:.*]] = tt.load
// CHECK-NEXT: scf.yield %[[FIRST]]
// CHECK: else
// CHECK-NEXT: scf.yield %[[INIT]]
// CHECK: scf.for %{{.*}} = %[[SECOND]] to %[[UPPER]] step %[[STEP]] iter_args(%{{.*}} = %[[START]])
// CHECK-NOT: scf.if
// CHECK: arith.addf
// CHECK-NEXT: scf.yield
tt.func public @asked(%p: tensor<512x!tt.ptr<f32>, #b>, %lower: i32, %upper: i32, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %step = arith.constant 512 : i32
  %0 = scf.for %i = %lower to %upper step %step iter_args(%acc = %init) -> (tensor<512xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<512xi32, #b>
    %q = tt.addptr %p, %at : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %x = tt.load %q : tensor<512x!tt.ptr<f32>, #b>
    %later = arith.cmpi ne, %i, %lower : i32
    %next = scf.if %later -> (tensor<512xf32, #b>) {
      %sum = arith.addf %acc, %x : tensor<512xf32, #b>
      scf.yield %sum : tensor<512xf32, #b>
    } else {
      scf.yield %x : tensor<512xf32, #b>
    }
    scf.yield %next : tensor<512xf32, #b>
  }
  tt.return %0 : tensor<512xf32, #b>
}
}

// -----

// Loops that stay: one asks for another iteration than the first, one writes, one has a step that is not known.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @another
// CHECK: scf.for
// CHECK: scf.if
tt.func public @another(%p: tensor<512x!tt.ptr<f32>, #b>, %n: i32, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 512 : i32
  %0 = scf.for %i = %c0 to %n step %step iter_args(%acc = %init) -> (tensor<512xf32, #b>) : i32 {
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %second = arith.cmpi eq, %i, %step : i32
    %next = scf.if %second -> (tensor<512xf32, #b>) {
      scf.yield %x : tensor<512xf32, #b>
    } else {
      %sum = arith.addf %acc, %x : tensor<512xf32, #b>
      scf.yield %sum : tensor<512xf32, #b>
    }
    scf.yield %next : tensor<512xf32, #b>
  }
  tt.return %0 : tensor<512xf32, #b>
}
// CHECK-LABEL: @writes
// CHECK: scf.for
// CHECK: scf.if
tt.func public @writes(%p: tensor<512x!tt.ptr<f32>, #b>, %n: i32, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 512 : i32
  %0 = scf.for %i = %c0 to %n step %step iter_args(%acc = %init) -> (tensor<512xf32, #b>) : i32 {
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %first = arith.cmpi eq, %i, %c0 : i32
    %next = scf.if %first -> (tensor<512xf32, #b>) {
      scf.yield %x : tensor<512xf32, #b>
    } else {
      %sum = arith.addf %acc, %x : tensor<512xf32, #b>
      scf.yield %sum : tensor<512xf32, #b>
    }
    tt.store %p, %next : tensor<512x!tt.ptr<f32>, #b>
    scf.yield %next : tensor<512xf32, #b>
  }
  tt.return %0 : tensor<512xf32, #b>
}
// CHECK-LABEL: @unknown_step
// CHECK: scf.for
// CHECK: scf.if
tt.func public @unknown_step(%p: tensor<512x!tt.ptr<f32>, #b>, %n: i32, %step: i32, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %0 = scf.for %i = %c0 to %n step %step iter_args(%acc = %init) -> (tensor<512xf32, #b>) : i32 {
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %first = arith.cmpi eq, %i, %c0 : i32
    %next = scf.if %first -> (tensor<512xf32, #b>) {
      scf.yield %x : tensor<512xf32, #b>
    } else {
      %sum = arith.addf %acc, %x : tensor<512xf32, #b>
      scf.yield %sum : tensor<512xf32, #b>
    }
    scf.yield %next : tensor<512xf32, #b>
  }
  tt.return %0 : tensor<512xf32, #b>
}
}
