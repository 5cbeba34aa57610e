// RUN: ttc opt %s --tritongpu-combine-tensor-select-and-if | FileCheck %s
// A select of tensors under a condition that an `scf.if` tests anyway becomes a result of it.

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @joins
// CHECK-NOT: arith.select
// CHECK: %[[R:.*]]:2 = scf.if %c -> (i32, tensor<128xf32, #blocked>)
// CHECK: scf.yield %{{.*}}, %x :
// CHECK: } else {
// CHECK: scf.yield %n, %y :
// CHECK: tt.store %p, %[[R]]#1
// CHECK: tt.return %[[R]]#0
tt.func public @joins(%c: i1, %n: i32, %x: tensor<128xf32, #b>, %y: tensor<128xf32, #b>, %p: tensor<128x!tt.ptr<f32>, #b>) -> i32 {
  %s = arith.select %c, %x, %y : tensor<128xf32, #b>
  %r = scf.if %c -> (i32) {
    %1 = arith.addi %n, %n : i32
    scf.yield %1 : i32
  } else {
    scf.yield %n : i32
  }
  tt.store %p, %s : tensor<128x!tt.ptr<f32>, #b>
  tt.return %r : i32
}

// A branch without `else` gets one.
// CHECK-LABEL: @no_else
// CHECK-NOT: arith.select
// CHECK: %[[R:.*]] = scf.if %c -> (tensor<128xf32, #blocked>)
// CHECK: tt.store
// CHECK: scf.yield %x
// CHECK: } else {
// CHECK: scf.yield %y
// CHECK: tt.return %[[R]]
tt.func public @no_else(%c: i1, %x: tensor<128xf32, #b>, %y: tensor<128xf32, #b>, %p: tensor<128x!tt.ptr<f32>, #b>) -> tensor<128xf32, #b> {
  %s = arith.select %c, %x, %y : tensor<128xf32, #b>
  scf.if %c {
    tt.store %p, %x : tensor<128x!tt.ptr<f32>, #b>
  }
  tt.return %s : tensor<128xf32, #b>
}

// Inside the branch it is known which side was taken.
// CHECK-LABEL: @inside
// CHECK: scf.if %c
// CHECK: tt.store %p, %x
// CHECK: } else {
// CHECK: tt.store %p, %y
tt.func public @inside(%c: i1, %x: tensor<128xf32, #b>, %y: tensor<128xf32, #b>, %p: tensor<128x!tt.ptr<f32>, #b>) {
  %s = arith.select %c, %x, %y : tensor<128xf32, #b>
  scf.if %c {
    tt.store %p, %s : tensor<128x!tt.ptr<f32>, #b>
  } else {
    tt.store %p, %s : tensor<128x!tt.ptr<f32>, #b>
  }
  tt.return
}

// A use in front of the branch keeps the select.
// CHECK-LABEL: @used_before
// CHECK: %[[S:.*]] = arith.select %c, %x, %y
// CHECK: tt.store %p, %[[S]]
// CHECK: tt.return %[[S]]
tt.func public @used_before(%c: i1, %x: tensor<128xf32, #b>, %y: tensor<128xf32, #b>, %p: tensor<128x!tt.ptr<f32>, #b>) -> tensor<128xf32, #b> {
  %s = arith.select %c, %x, %y : tensor<128xf32, #b>
  tt.store %p, %s : tensor<128x!tt.ptr<f32>, #b>
  scf.if %c {
    tt.store %p, %x : tensor<128x!tt.ptr<f32>, #b>
  }
  tt.return %s : tensor<128xf32, #b>
}

// So does another condition.
// CHECK-LABEL: @other_condition
// CHECK: %[[S:.*]] = arith.select %c, %x, %y
// CHECK: scf.if %d {
// CHECK: tt.return %[[S]]
tt.func public @other_condition(%c: i1, %d: i1, %x: tensor<128xf32, #b>, %y: tensor<128xf32, #b>, %p: tensor<128x!tt.ptr<f32>, #b>) -> tensor<128xf32, #b> {
  %s = arith.select %c, %x, %y : tensor<128xf32, #b>
  scf.if %d {
    tt.store %p, %x : tensor<128x!tt.ptr<f32>, #b>
  }
  tt.return %s : tensor<128xf32, #b>
}

// A scalar costs nothing to select.
// CHECK-LABEL: @scalar
// CHECK: %[[S:.*]] = arith.select %c, %x, %y
// CHECK: tt.return %[[S]]
tt.func public @scalar(%c: i1, %x: f32, %y: f32, %v: tensor<128xf32, #b>, %p: tensor<128x!tt.ptr<f32>, #b>) -> f32 {
  %s = arith.select %c, %x, %y : f32
  scf.if %c {
    tt.store %p, %v : tensor<128x!tt.ptr<f32>, #b>
  }
  tt.return %s : f32
}
}
