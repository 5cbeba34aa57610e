// RUN: ttc opt %s --split-input-file --ttc-loads-before-waits | FileCheck %s
// In a loop, small loads go in front of what the warps wait for.

// The load behind the reduction does not need it and moves, with its address. The one whose address comes from the
// reduction stays.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @behind_reduction
// CHECK: scf.for
// CHECK: %[[X:.*]] = tt.load %p
// CHECK: %[[AT:.*]] = tt.addptr %p
// CHECK: %[[Y:.*]] = tt.load %[[AT]]
// CHECK: "tt.reduce"(%[[X]])
// CHECK: arith.fptosi
// CHECK: tt.load
// CHECK: scf.yield
tt.func public @behind_reduction(%p: tensor<512x!tt.ptr<f32>, #b>, %q: !tt.ptr<f32>, %n: i32, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<512xf32, #b>) : i32 {
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<512xf32, #b>) -> f32
    %off = tt.splat %i : i32 -> tensor<512xi32, #b>
    %at = tt.addptr %p, %off : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %y = tt.load %at : tensor<512x!tt.ptr<f32>, #b>
    %k = arith.fptosi %s : f32 to i32
    %far = tt.addptr %q, %k : !tt.ptr<f32>, i32
    %z = tt.load %far : !tt.ptr<f32>
    %zs = tt.splat %z : f32 -> tensor<512xf32, #b>
    %sum = arith.addf %y, %zs : tensor<512xf32, #b>
    %next = arith.addf %acc, %sum : tensor<512xf32, #b>
    scf.yield %next : tensor<512xf32, #b>
  }
  tt.return %0 : tensor<512xf32, #b>
}
}

// -----

// A load does not move past a store, which may write what it reads, and 32 registers are too many.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#large = #ttg.blocked<{sizePerThread = [32], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @stays
// CHECK: scf.for
// CHECK: tt.load
// CHECK: "tt.reduce"
// CHECK: tt.load %{{.*}} : tensor<4096x
// CHECK: tt.store
// CHECK: tt.load
// CHECK: tt.store
tt.func public @stays(%p: tensor<512x!tt.ptr<f32>, #b>, %q: tensor<4096x!tt.ptr<f32>, #large>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<512xf32, #b>) -> f32
    %large = tt.load %q : tensor<4096x!tt.ptr<f32>, #large>
    %ss = tt.splat %s : f32 -> tensor<4096xf32, #large>
    %sum = arith.addf %large, %ss : tensor<4096xf32, #large>
    tt.store %q, %sum : tensor<4096x!tt.ptr<f32>, #large>
    %y = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    tt.store %p, %y : tensor<512x!tt.ptr<f32>, #b>
  }
  tt.return
}
}

// -----

// What the kernel writes before the loop, other threads may read behind a barrier: the load of the same parameter stays
// behind the reduction, the one of another moves.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @written
// CHECK: scf.for
// CHECK: tt.load %r
// CHECK: "tt.reduce"
// CHECK: tt.load %p
// CHECK: scf.yield
tt.func public @written(%p: tensor<512x!tt.ptr<f32>, #b>, %r: tensor<512x!tt.ptr<f32>, #b>, %n: i32, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tt.store %p, %init : tensor<512x!tt.ptr<f32>, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<512xf32, #b>) : i32 {
    %s = "tt.reduce"(%acc) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<512xf32, #b>) -> f32
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %y = tt.load %r : tensor<512x!tt.ptr<f32>, #b>
    %ss = tt.splat %s : f32 -> tensor<512xf32, #b>
    %sum = arith.addf %x, %ss : tensor<512xf32, #b>
    %next = arith.addf %y, %sum : tensor<512xf32, #b>
    scf.yield %next : tensor<512xf32, #b>
  }
  tt.return %0 : tensor<512xf32, #b>
}
}

// -----

// In front of a scan, which takes long, 64 registers may be loaded. A second such load would be too much, as is any in
// front of a reduction.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @behind_scan
// CHECK: scf.for
// CHECK: %[[X:.*]] = tt.load %p
// CHECK-NEXT: tt.load %l
// CHECK-NEXT: tt.load %q
// CHECK-NEXT: "tt.scan"
// CHECK: tt.load %m
// CHECK: scf.yield
tt.func public @behind_scan(%p: tensor<512x!tt.ptr<f32>, #b>, %q: tensor<512x!tt.ptr<f32>, #b>, %l: tensor<8192x!tt.ptr<f32>, #b>, %m: tensor<8192x!tt.ptr<f32>, #b>, %n: i32, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<512xf32, #b>) : i32 {
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<512xf32, #b>) -> tensor<512xf32, #b>
    %large = tt.load %l : tensor<8192x!tt.ptr<f32>, #b>
    %larger = tt.load %m : tensor<8192x!tt.ptr<f32>, #b>
    %small = tt.load %q : tensor<512x!tt.ptr<f32>, #b>
    %both = arith.addf %large, %larger : tensor<8192xf32, #b>
    %all = "tt.reduce"(%both) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<8192xf32, #b>) -> f32
    %alls = tt.splat %all : f32 -> tensor<512xf32, #b>
    %t = arith.addf %s, %alls : tensor<512xf32, #b>
    %u = arith.addf %t, %small : tensor<512xf32, #b>
    %next = arith.addf %acc, %u : tensor<512xf32, #b>
    scf.yield %next : tensor<512xf32, #b>
  }
  tt.return %0 : tensor<512xf32, #b>
}

// CHECK-LABEL: @behind_reduction_stays
// CHECK: scf.for
// CHECK: "tt.reduce"
// CHECK: tt.load %l
tt.func public @behind_reduction_stays(%p: tensor<512x!tt.ptr<f32>, #b>, %l: tensor<8192x!tt.ptr<f32>, #b>, %n: i32, %init: tensor<8192xf32, #b>) -> tensor<8192xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<8192xf32, #b>) : i32 {
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<512xf32, #b>) -> f32
    %large = tt.load %l : tensor<8192x!tt.ptr<f32>, #b>
    %ss = tt.splat %s : f32 -> tensor<8192xf32, #b>
    %t = arith.addf %large, %ss : tensor<8192xf32, #b>
    %next = arith.addf %acc, %t : tensor<8192xf32, #b>
    scf.yield %next : tensor<8192xf32, #b>
  }
  tt.return %0 : tensor<8192xf32, #b>
}

// The sums take 128 registers over the scan, which leaves none for the load.
// CHECK-LABEL: @no_room
// CHECK: scf.for
// CHECK: "tt.scan"
// CHECK: tt.load %l
tt.func public @no_room(%p: tensor<512x!tt.ptr<f32>, #b>, %l: tensor<8192x!tt.ptr<f32>, #b>, %n: i32, %init: tensor<8192xf32, #b>, %other: tensor<8192xf32, #b>) -> (tensor<8192xf32, #b>, tensor<8192xf32, #b>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init, %sum = %other) -> (tensor<8192xf32, #b>, tensor<8192xf32, #b>) : i32 {
    %x = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<512xf32, #b>) -> tensor<512xf32, #b>
    %large = tt.load %l : tensor<8192x!tt.ptr<f32>, #b>
    %all = "tt.reduce"(%s) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<512xf32, #b>) -> f32
    %alls = tt.splat %all : f32 -> tensor<8192xf32, #b>
    %t = arith.mulf %large, %alls : tensor<8192xf32, #b>
    %next = arith.addf %acc, %t : tensor<8192xf32, #b>
    %more = arith.addf %sum, %t : tensor<8192xf32, #b>
    scf.yield %next, %more : tensor<8192xf32, #b>, tensor<8192xf32, #b>
  }
  tt.return %0#0, %0#1 : tensor<8192xf32, #b>, tensor<8192xf32, #b>
}
}

// -----

// Outside of loops, too: weights are loaded while a row is summed up. A load behind a loop stays behind it.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @weights
// CHECK: %[[X:.*]] = tt.load %p
// CHECK: %[[W:.*]] = tt.load %w
// CHECK: "tt.reduce"(%[[X]])
// CHECK: scf.for
// CHECK: tt.load %v
tt.func public @weights(%p: tensor<512x!tt.ptr<f32>, #b>, %w: tensor<512x!tt.ptr<f32>, #b>, %v: tensor<512x!tt.ptr<f32>, #b>, %n: i32) -> (tensor<512xf32, #b>, tensor<512xf32, #b>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<512xf32, #b>) -> f32
  %scale = tt.splat %s : f32 -> tensor<512xf32, #b>
  %weights = tt.load %w : tensor<512x!tt.ptr<f32>, #b>
  %scaled = arith.mulf %scale, %weights : tensor<512xf32, #b>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %scaled) -> (tensor<512xf32, #b>) : i32 {
    %next = arith.addf %acc, %x : tensor<512xf32, #b>
    scf.yield %next : tensor<512xf32, #b>
  }
  %others = tt.load %v : tensor<512x!tt.ptr<f32>, #b>
  tt.return %sum, %others : tensor<512xf32, #b>, tensor<512xf32, #b>
}
}

// -----

// Two tiles of 64 registers are alive over the reduction, so the load stays.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @crowded
// CHECK: "tt.reduce"
// CHECK: tt.load %w
tt.func public @crowded(%p: tensor<8192x!tt.ptr<f32>, #b>, %w: tensor<512x!tt.ptr<f32>, #b>) -> (tensor<8192xf32, #b>, tensor<8192xf32, #b>, tensor<512xf32, #b>) {
  %x = tt.load %p : tensor<8192x!tt.ptr<f32>, #b>
  %y = arith.mulf %x, %x : tensor<8192xf32, #b>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  %scale = tt.splat %s : f32 -> tensor<512xf32, #b>
  %weights = tt.load %w : tensor<512x!tt.ptr<f32>, #b>
  %scaled = arith.mulf %scale, %weights : tensor<512xf32, #b>
  tt.return %x, %y, %scaled : tensor<8192xf32, #b>, tensor<8192xf32, #b>, tensor<512xf32, #b>
}
}
