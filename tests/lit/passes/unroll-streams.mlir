// RUN: ttc opt %s --split-input-file --ttc-unroll-streams --cse | FileCheck %s
// Loops that only read global memory read several iterations at once; others stay as they are.

// Four elements of f32 a thread are four registers: four iterations at once, the loads in front of the additions.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @masked
// CHECK: scf.for
// CHECK-COUNT-4: tt.load
// CHECK-NOT: tt.load
// CHECK-COUNT-4: arith.addf
// CHECK: scf.yield
// The rest, one at a time, is not pipelined.
// CHECK: scf.for
// CHECK: tt.load
// CHECK-NOT: tt.load
// CHECK: } {tt.num_stages = 1 : i32}
tt.func public @masked(%p: tensor<512x!tt.ptr<f32>, #b>, %offs: tensor<512xi32, #b>, %n: i32, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 512 : i32
  %bound = tt.splat %n : i32 -> tensor<512xi32, #b>
  %none = arith.constant dense<0.0> : tensor<512xf32, #b>
  %0 = scf.for %i = %c0 to %n step %step iter_args(%acc = %init) -> (tensor<512xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<512xi32, #b>
    %here = arith.addi %at, %offs : tensor<512xi32, #b>
    %mask = arith.cmpi slt, %here, %bound : tensor<512xi32, #b>
    %q = tt.addptr %p, %here : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %x = tt.load %q, %mask, %none : tensor<512x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<512xf32, #b>
    scf.yield %sum : tensor<512xf32, #b>
  }
  tt.return %0 : tensor<512xf32, #b>
}
}

// -----

// 16 registers that the loop carries and 16 an iteration: two iterations fit into the budget of 64, four do not.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @two_at_once
// CHECK: scf.for
// CHECK-COUNT-2: tt.load
// CHECK-NOT: tt.load
// CHECK: scf.yield
// CHECK: scf.for
tt.func public @two_at_once(%p: tensor<2048x!tt.ptr<f32>, #b>, %n: i32, %init: tensor<2048xf32, #b>) -> tensor<2048xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<2048xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<2048xi32, #b>
    %q = tt.addptr %p, %at : tensor<2048x!tt.ptr<f32>, #b>, tensor<2048xi32, #b>
    %x = tt.load %q : tensor<2048x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<2048xf32, #b>
    scf.yield %sum : tensor<2048xf32, #b>
  }
  tt.return %0 : tensor<2048xf32, #b>
}

// 64 registers an iteration have enough under way.
// CHECK-LABEL: @too_wide
// CHECK-COUNT-1: scf.for
// CHECK-COUNT-1: tt.load
// CHECK-NOT: tt.load
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @too_wide(%p: tensor<8192x!tt.ptr<f32>, #b>, %n: i32, %init: tensor<8192xf32, #b>) -> tensor<8192xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %q = tt.addptr %p, %at : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %x = tt.load %q : tensor<8192x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  tt.return %0 : tensor<8192xf32, #b>
}

// A store could change what the next iteration reads.
// CHECK-LABEL: @with_store
// CHECK-COUNT-1: tt.load
// CHECK-NOT: tt.load
// CHECK: tt.return
tt.func public @with_store(%p: tensor<512x!tt.ptr<f32>, #b>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %at = tt.splat %i : i32 -> tensor<512xi32, #b>
    %q = tt.addptr %p, %at : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %x = tt.load %q : tensor<512x!tt.ptr<f32>, #b>
    tt.store %p, %x : tensor<512x!tt.ptr<f32>, #b>
  }
  tt.return
}

// Who asks for stages gets the pipeliner.
// CHECK-LABEL: @with_stages
// CHECK-COUNT-1: tt.load
// CHECK-NOT: tt.load
// CHECK: tt.return
tt.func public @with_stages(%p: tensor<512x!tt.ptr<f32>, #b>, %n: i32, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<512xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<512xi32, #b>
    %q = tt.addptr %p, %at : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %x = tt.load %q : tensor<512x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<512xf32, #b>
    scf.yield %sum : tensor<512xf32, #b>
  } {tt.num_stages = 2 : i32}
  tt.return %0 : tensor<512xf32, #b>
}

// A reduction is too large to repeat.
// CHECK-LABEL: @with_reduce
// CHECK-COUNT-1: tt.load
// CHECK-NOT: tt.load
// CHECK: tt.return
tt.func public @with_reduce(%p: tensor<512x!tt.ptr<f32>, #b>, %n: i32, %init: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (f32) : i32 {
    %at = tt.splat %i : i32 -> tensor<512xi32, #b>
    %q = tt.addptr %p, %at : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %x = tt.load %q : tensor<512x!tt.ptr<f32>, #b>
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<512xf32, #b>) -> f32
    %sum = arith.addf %acc, %s : f32
    scf.yield %sum : f32
  }
  tt.return %0 : f32
}

// A volatile load is read once an iteration, when its turn comes.
// CHECK-LABEL: @volatile
// CHECK-COUNT-1: tt.load
// CHECK-NOT: tt.load
// CHECK: tt.return
tt.func public @volatile(%p: tensor<512x!tt.ptr<f32>, #b>, %n: i32, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<512xf32, #b>) : i32 {
    %x = tt.load %p {isVolatile = true} : tensor<512x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<512xf32, #b>
    scf.yield %sum : tensor<512xf32, #b>
  }
  tt.return %0 : tensor<512xf32, #b>
}
}

// -----

// 32 registers that the loop carries leave room for one iteration of 32.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @carries_much
// CHECK: scf.for
// CHECK: tt.load
// CHECK-NOT: scf.for
// CHECK-NOT: tt.load
// CHECK: tt.return
tt.func public @carries_much(%p: tensor<4096x!tt.ptr<f32>, #b>, %n: i32, %init: tensor<4096xf32, #b>) -> tensor<4096xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<4096xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<4096xi32, #b>
    %q = tt.addptr %p, %at : tensor<4096x!tt.ptr<f32>, #b>, tensor<4096xi32, #b>
    %x = tt.load %q : tensor<4096x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<4096xf32, #b>
    scf.yield %sum : tensor<4096xf32, #b>
  }
  tt.return %0 : tensor<4096xf32, #b>
}
}

// -----

// Three iterations are known: two at once and one, without a loop, not four at once, of which there are none.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @three
// CHECK-NOT: scf.for
// CHECK-COUNT-3: tt.load
// CHECK-NOT: {{scf.for|tt.load}}
// CHECK: tt.return
tt.func public @three(%p: tensor<512x!tt.ptr<f32>, #b>, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %n = arith.constant 1536 : i32
  %step = arith.constant 512 : i32
  %0 = scf.for %i = %c0 to %n step %step iter_args(%acc = %init) -> (tensor<512xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<512xi32, #b>
    %q = tt.addptr %p, %at : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %x = tt.load %q : tensor<512x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<512xf32, #b>
    scf.yield %sum : tensor<512xf32, #b>
  }
  tt.return %0 : tensor<512xf32, #b>
}
}
