// RUN: ttc opt %s --split-input-file --ttc-merge-equal-branches | FileCheck %s
// A branch whose sides do the same with different values becomes one copy of it.

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// The same conversion and a store to another address: one store to a selected address.
// CHECK-LABEL: @stores
// CHECK-NEXT: %[[AT:.*]] = arith.select %c, %p, %q
// CHECK-NEXT: %[[X:.*]] = arith.truncf %x
// CHECK-NEXT: tt.store %[[AT]], %[[X]]
// CHECK-NEXT: tt.return
tt.func public @stores(%c: i1, %p: tensor<128x!tt.ptr<f16>, #b>, %q: tensor<128x!tt.ptr<f16>, #b>, %x: tensor<128xf32, #b>) {
  scf.if %c {
    %h = arith.truncf %x : tensor<128xf32, #b> to tensor<128xf16, #b>
    tt.store %p, %h : tensor<128x!tt.ptr<f16>, #b>
  } else {
    %h = arith.truncf %x : tensor<128xf32, #b> to tensor<128xf16, #b>
    tt.store %q, %h : tensor<128x!tt.ptr<f16>, #b>
  }
  tt.return
}
// What the sides yield is the result of the one copy.
// CHECK-LABEL: @results
// CHECK: %[[AT:.*]] = arith.select %c, %p, %q
// CHECK: %[[X:.*]] = tt.load %[[AT]]
// CHECK-NOT: scf.if
// CHECK: tt.return %[[X]]
tt.func public @results(%c: i1, %p: tensor<128x!tt.ptr<f16>, #b>, %q: tensor<128x!tt.ptr<f16>, #b>) -> tensor<128xf16, #b> {
  %r = scf.if %c -> (tensor<128xf16, #b>) {
    %x = tt.load %p : tensor<128x!tt.ptr<f16>, #b>
    scf.yield %x : tensor<128xf16, #b>
  } else {
    %x = tt.load %q : tensor<128x!tt.ptr<f16>, #b>
    scf.yield %x : tensor<128xf16, #b>
  }
  tt.return %r : tensor<128xf16, #b>
}
// Another operation on one side.
// CHECK-LABEL: @differ
// CHECK: scf.if
// CHECK: } else {
tt.func public @differ(%c: i1, %p: tensor<128x!tt.ptr<f32>, #b>, %x: tensor<128xf32, #b>) {
  scf.if %c {
    %y = arith.addf %x, %x : tensor<128xf32, #b>
    tt.store %p, %y : tensor<128x!tt.ptr<f32>, #b>
  } else {
    %y = arith.mulf %x, %x : tensor<128xf32, #b>
    tt.store %p, %y : tensor<128x!tt.ptr<f32>, #b>
  }
  tt.return
}
}

// -----

// Sixteen registers of addresses are more than a branch costs.
#b = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @large
// CHECK: scf.if
// CHECK: } else {
tt.func public @large(%c: i1, %p: tensor<1024x!tt.ptr<f32>, #b>, %q: tensor<1024x!tt.ptr<f32>, #b>, %x: tensor<1024xf32, #b>) {
  scf.if %c {
    tt.store %p, %x : tensor<1024x!tt.ptr<f32>, #b>
  } else {
    tt.store %q, %x : tensor<1024x!tt.ptr<f32>, #b>
  }
  tt.return
}
}

// -----

// Two tiles of addresses that differ in their base and their row: one tile of the base and row that are selected.
#b = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @bases
// CHECK: %[[BASE:.*]] = arith.select %c, %p, %q : !tt.ptr<f32>
// CHECK: %[[TILE:.*]] = tt.splat %[[BASE]]
// CHECK: %[[ROW:.*]] = arith.select %c, %m, %n : i32
// CHECK: %[[ROWS:.*]] = tt.splat %[[ROW]]
// CHECK: %[[OFFSETS:.*]] = arith.addi %{{.*}}, %[[ROWS]]
// CHECK: %[[AT:.*]] = tt.addptr %[[TILE]], %[[OFFSETS]]
// CHECK: tt.store %[[AT]], %x
// CHECK-NOT: scf.if
// CHECK: tt.return
tt.func public @bases(%c: i1, %p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %m: i32, %n: i32, %x: tensor<1024xf32, #b>) {
  %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
  %ms = tt.splat %m : i32 -> tensor<1024xi32, #b>
  %mi = arith.addi %i, %ms : tensor<1024xi32, #b>
  %pi = tt.addptr %ps, %mi : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
  %ns = tt.splat %n : i32 -> tensor<1024xi32, #b>
  %ni = arith.addi %i, %ns : tensor<1024xi32, #b>
  %qi = tt.addptr %qs, %ni : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
  scf.if %c {
    tt.store %pi, %x : tensor<1024x!tt.ptr<f32>, #b>
  } else {
    tt.store %qi, %x : tensor<1024x!tt.ptr<f32>, #b>
  }
  tt.return
}
// One offset is a product, the other a sum: nothing but these tiles could be selected, besides the bases.
// CHECK-LABEL: @made_otherwise
// CHECK: scf.if
tt.func public @made_otherwise(%c: i1, %p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32, %x: tensor<1024xf32, #b>) {
  %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #b>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
  %ns = tt.splat %n : i32 -> tensor<1024xi32, #b>
  %a = arith.addi %i, %ns : tensor<1024xi32, #b>
  %m = arith.muli %i, %ns : tensor<1024xi32, #b>
  %pa = tt.addptr %ps, %a : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
  %pm = tt.addptr %qs, %m : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
  scf.if %c {
    tt.store %pa, %x : tensor<1024x!tt.ptr<f32>, #b>
  } else {
    tt.store %pm, %x : tensor<1024x!tt.ptr<f32>, #b>
  }
  tt.return
}
}

// -----

// Buffers in shared memory cannot be selected.
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @buffers
// CHECK: scf.if
// CHECK: } else {
tt.func public @buffers(%c: i1, %x: tensor<128xf32, #b>) {
  %p = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #s, #smem, mutable>
  %q = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #s, #smem, mutable>
  scf.if %c {
    ttg.local_store %x, %p : tensor<128xf32, #b> -> !ttg.memdesc<128xf32, #s, #smem, mutable>
  } else {
    ttg.local_store %x, %q : tensor<128xf32, #b> -> !ttg.memdesc<128xf32, #s, #smem, mutable>
  }
  tt.return
}
}
