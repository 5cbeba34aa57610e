// A loop over a tile that is too large for registers becomes several loops over parts of it. The parts with ARGS are
// also run before and after, with these arguments behind %out.
// RUN: ttc opt %s --split-input-file --ttc-split-streams | FileCheck %s
// KEEPS: ttc-split-streams

// 256 sums a thread: two loops of 128. The mask's range, the constants and the addresses are those of each half.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @sums(
// CHECK: %[[LOW:.*]] = tt.make_range {end = 4096 : i32, start = 0 : i32}
// CHECK: %[[A:.*]] = scf.for
// CHECK: tt.load {{.*}} : tensor<4096x!tt.ptr<f32>, #blocked>
// CHECK: %[[HIGH:.*]] = tt.make_range {end = 8192 : i32, start = 4096 : i32}
// CHECK: %[[B:.*]] = scf.for
// CHECK: tt.load {{.*}} : tensor<4096x!tt.ptr<f32>, #blocked>
// CHECK: scf.yield
// CHECK: %[[PAIRS:.*]] = tt.join %[[A]], %[[B]] : tensor<4096xf32, #blocked> -> tensor<4096x2xf32,
// CHECK-NEXT: %[[HALVES:.*]] = tt.trans %[[PAIRS]] {order = array<i32: 1, 0>}
// CHECK-NEXT: %[[ALL:.*]] = tt.reshape %[[HALVES]] : {{.*}} -> tensor<8192xf32, #blocked>
// CHECK-NEXT: arith.mulf %[[ALL]],
// ARGS: 4096 3
// ARGS: 1000 2
// ARGS: 4095 1
// ARGS: 17 0
tt.func public @sums(%out: !tt.ptr<f32>, %n: i32, %times: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #b>
  %three = arith.constant dense<3.0> : tensor<8192xf32, #b>
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %place = arith.sitofp %offs : tensor<8192xi32, #b> to tensor<8192xf32, #b>
  %bound = tt.splat %n : i32 -> tensor<8192xi32, #b>
  %p = tt.splat %out : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %q = tt.addptr %p, %offs : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
  %inside = arith.cmpi slt, %offs, %bound : tensor<8192xi32, #b>
  tt.store %q, %place, %inside : tensor<8192x!tt.ptr<f32>, #b>
  %0 = scf.for %i = %c0 to %times step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %mask = arith.cmpi slt, %here, %bound : tensor<8192xi32, #b>
    %r = tt.addptr %p, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %x = tt.load %r, %mask, %three : tensor<8192x!tt.ptr<f32>, #b>
    %more = arith.mulf %acc, %three : tensor<8192xf32, #b>
    %sum = arith.addf %more, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  %weighed = arith.mulf %0, %place : tensor<8192xf32, #b>
  %s = "tt.reduce"(%weighed) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}
}

// -----

// Rows are split, as a thread's registers move along a row first. The addresses of eight rows would not fit beside 128
// sums and the loads, so there are four loops of four rows.
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 8], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @rows(
// CHECK-COUNT-4: scf.for {{.*}} -> (tensor<4x4096xf32, #blocked>)
// CHECK-NOT: scf.for
// CHECK-COUNT-2: tt.join {{.*}} -> tensor<4x4096x2xf32,
// CHECK: tt.join {{.*}} -> tensor<8x4096x2xf32,
// CHECK-NEXT: tt.trans {{.*}} {order = array<i32: 2, 0, 1>}
// CHECK-NEXT: tt.reshape {{.*}} -> tensor<16x4096xf32, #blocked>
// ARGS: 256 2
// ARGS: 100 3
// ARGS: 255 1
// ARGS: 8 0
tt.func public @rows(%out: !tt.ptr<f32>, %n: i32, %times: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %wide = arith.constant dense<256> : tensor<16x1xi32, #b>
  %zero = arith.constant dense<0.0> : tensor<16x4096xf32, #b>
  %one = arith.constant dense<1.5> : tensor<16x4096xf32, #b>
  %row = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>>
  %col = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #ttg.slice<{dim = 0, parent = #b}>>
  %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<16x1xi32, #b>
  %cols = tt.expand_dims %col {axis = 0 : i32} : tensor<4096xi32, #ttg.slice<{dim = 0, parent = #b}>> -> tensor<1x4096xi32, #b>
  %lines = arith.muli %rows, %wide : tensor<16x1xi32, #b>
  %lines2 = tt.broadcast %lines : tensor<16x1xi32, #b> -> tensor<16x4096xi32, #b>
  %cols2 = tt.broadcast %cols : tensor<1x4096xi32, #b> -> tensor<16x4096xi32, #b>
  %place = arith.addi %lines2, %cols2 : tensor<16x4096xi32, #b>
  %weight = arith.sitofp %place : tensor<16x4096xi32, #b> to tensor<16x4096xf32, #b>
  %bound = tt.splat %n : i32 -> tensor<1x4096xi32, #b>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<16x4096x!tt.ptr<f32>, #b>
  %q = tt.addptr %base, %place : tensor<16x4096x!tt.ptr<f32>, #b>, tensor<16x4096xi32, #b>
  %inside = arith.cmpi slt, %cols, %bound : tensor<1x4096xi32, #b>
  %inside2 = tt.broadcast %inside : tensor<1x4096xi1, #b> -> tensor<16x4096xi1, #b>
  tt.store %q, %weight, %inside2 : tensor<16x4096x!tt.ptr<f32>, #b>
  %0:1 = scf.for %i = %c0 to %times step %c1 iter_args(%acc0 = %zero) -> (tensor<16x4096xf32, #b>) : i32 {
    %turn = tt.splat %i : i32 -> tensor<1x4096xi32, #b>
    %here = arith.addi %turn, %cols : tensor<1x4096xi32, #b>
    %less = arith.cmpi slt, %here, %bound : tensor<1x4096xi32, #b>
    %mask = tt.broadcast %less : tensor<1x4096xi1, #b> -> tensor<16x4096xi1, #b>
    %here2 = tt.broadcast %here : tensor<1x4096xi32, #b> -> tensor<16x4096xi32, #b>
    %there = arith.addi %lines2, %here2 : tensor<16x4096xi32, #b>
    %r = tt.addptr %base, %there : tensor<16x4096x!tt.ptr<f32>, #b>, tensor<16x4096xi32, #b>
    %x = tt.load %r, %mask, %one : tensor<16x4096x!tt.ptr<f32>, #b>
    %m0 = arith.mulf %acc0, %one : tensor<16x4096xf32, #b>
    %s0 = arith.addf %m0, %x : tensor<16x4096xf32, #b>
    scf.yield %s0 : tensor<16x4096xf32, #b>
  }
  %w0 = arith.mulf %0#0, %weight : tensor<16x4096xf32, #b>
  %l0 = "tt.reduce"(%w0) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<16x4096xf32, #b>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #b}>>
  %o = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>
  %step0 = arith.constant dense<0> : tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>>
  %to0 = arith.addi %row, %step0 : tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>>
  %d0 = tt.addptr %o, %to0 : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>, tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>>
  tt.store %d0, %l0 : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>
  tt.return
}
}

// -----

// 512 sums in two rows: each row gets two loops.
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @both_axes(
// CHECK-COUNT-4: scf.for {{.*}} -> (tensor<1x2048xf32, #blocked>, tensor<1x2048xf32, #blocked>)
// CHECK-NOT: scf.for
// CHECK: tt.reduce
// ARGS: 256 2
// ARGS: 100 3
// ARGS: 255 1
// ARGS: 8 0
tt.func public @both_axes(%out: !tt.ptr<f32>, %n: i32, %times: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %wide = arith.constant dense<256> : tensor<2x1xi32, #b>
  %zero = arith.constant dense<0.0> : tensor<2x4096xf32, #b>
  %one = arith.constant dense<1.5> : tensor<2x4096xf32, #b>
  %row = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32, #ttg.slice<{dim = 1, parent = #b}>>
  %col = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #ttg.slice<{dim = 0, parent = #b}>>
  %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<2xi32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<2x1xi32, #b>
  %cols = tt.expand_dims %col {axis = 0 : i32} : tensor<4096xi32, #ttg.slice<{dim = 0, parent = #b}>> -> tensor<1x4096xi32, #b>
  %lines = arith.muli %rows, %wide : tensor<2x1xi32, #b>
  %lines2 = tt.broadcast %lines : tensor<2x1xi32, #b> -> tensor<2x4096xi32, #b>
  %cols2 = tt.broadcast %cols : tensor<1x4096xi32, #b> -> tensor<2x4096xi32, #b>
  %place = arith.addi %lines2, %cols2 : tensor<2x4096xi32, #b>
  %weight = arith.sitofp %place : tensor<2x4096xi32, #b> to tensor<2x4096xf32, #b>
  %bound = tt.splat %n : i32 -> tensor<1x4096xi32, #b>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<2x4096x!tt.ptr<f32>, #b>
  %q = tt.addptr %base, %place : tensor<2x4096x!tt.ptr<f32>, #b>, tensor<2x4096xi32, #b>
  %inside = arith.cmpi slt, %cols, %bound : tensor<1x4096xi32, #b>
  %inside2 = tt.broadcast %inside : tensor<1x4096xi1, #b> -> tensor<2x4096xi1, #b>
  tt.store %q, %weight, %inside2 : tensor<2x4096x!tt.ptr<f32>, #b>
  %0:2 = scf.for %i = %c0 to %times step %c1 iter_args(%acc0 = %zero, %acc1 = %one) -> (tensor<2x4096xf32, #b>, tensor<2x4096xf32, #b>) : i32 {
    %turn = tt.splat %i : i32 -> tensor<1x4096xi32, #b>
    %here = arith.addi %turn, %cols : tensor<1x4096xi32, #b>
    %less = arith.cmpi slt, %here, %bound : tensor<1x4096xi32, #b>
    %mask = tt.broadcast %less : tensor<1x4096xi1, #b> -> tensor<2x4096xi1, #b>
    %here2 = tt.broadcast %here : tensor<1x4096xi32, #b> -> tensor<2x4096xi32, #b>
    %there = arith.addi %lines2, %here2 : tensor<2x4096xi32, #b>
    %r = tt.addptr %base, %there : tensor<2x4096x!tt.ptr<f32>, #b>, tensor<2x4096xi32, #b>
    %x = tt.load %r, %mask, %one : tensor<2x4096x!tt.ptr<f32>, #b>
    %m0 = arith.mulf %acc0, %one : tensor<2x4096xf32, #b>
    %s0 = arith.addf %m0, %x : tensor<2x4096xf32, #b>
    %m1 = arith.mulf %acc1, %one : tensor<2x4096xf32, #b>
    %s1 = arith.addf %m1, %acc0 : tensor<2x4096xf32, #b>
    scf.yield %s0, %s1 : tensor<2x4096xf32, #b>, tensor<2x4096xf32, #b>
  }
  %w0 = arith.mulf %0#0, %weight : tensor<2x4096xf32, #b>
  %l0 = "tt.reduce"(%w0) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<2x4096xf32, #b>) -> tensor<2xf32, #ttg.slice<{dim = 1, parent = #b}>>
  %w1 = arith.mulf %0#1, %weight : tensor<2x4096xf32, #b>
  %l1 = "tt.reduce"(%w1) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<2x4096xf32, #b>) -> tensor<2xf32, #ttg.slice<{dim = 1, parent = #b}>>
  %o = tt.splat %out : !tt.ptr<f32> -> tensor<2x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>
  %step0 = arith.constant dense<0> : tensor<2xi32, #ttg.slice<{dim = 1, parent = #b}>>
  %to0 = arith.addi %row, %step0 : tensor<2xi32, #ttg.slice<{dim = 1, parent = #b}>>
  %d0 = tt.addptr %o, %to0 : tensor<2x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>, tensor<2xi32, #ttg.slice<{dim = 1, parent = #b}>>
  tt.store %d0, %l0 : tensor<2x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>
  %step1 = arith.constant dense<2> : tensor<2xi32, #ttg.slice<{dim = 1, parent = #b}>>
  %to1 = arith.addi %row, %step1 : tensor<2xi32, #ttg.slice<{dim = 1, parent = #b}>>
  %d1 = tt.addptr %o, %to1 : tensor<2x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>, tensor<2xi32, #ttg.slice<{dim = 1, parent = #b}>>
  tt.store %d1, %l1 : tensor<2x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>
  tt.return
}
}

// -----

// Addresses that the loop carries are split like sums.
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @pointers(
// CHECK: scf.for {{.*}} -> (tensor<4x2048xf32, #blocked>, tensor<4x2048x!tt.ptr<f32>, #blocked>)
// CHECK: tt.reduce
// ARGS: 256 2
// ARGS: 100 3
// ARGS: 255 1
// ARGS: 8 0
tt.func public @pointers(%out: !tt.ptr<f32>, %n: i32, %times: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %wide = arith.constant dense<256> : tensor<16x1xi32, #b>
  %zero = arith.constant dense<0.0> : tensor<16x2048xf32, #b>
  %one = arith.constant dense<1.5> : tensor<16x2048xf32, #b>
  %row = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>>
  %col = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #ttg.slice<{dim = 0, parent = #b}>>
  %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<16x1xi32, #b>
  %cols = tt.expand_dims %col {axis = 0 : i32} : tensor<2048xi32, #ttg.slice<{dim = 0, parent = #b}>> -> tensor<1x2048xi32, #b>
  %lines = arith.muli %rows, %wide : tensor<16x1xi32, #b>
  %lines2 = tt.broadcast %lines : tensor<16x1xi32, #b> -> tensor<16x2048xi32, #b>
  %cols2 = tt.broadcast %cols : tensor<1x2048xi32, #b> -> tensor<16x2048xi32, #b>
  %place = arith.addi %lines2, %cols2 : tensor<16x2048xi32, #b>
  %weight = arith.sitofp %place : tensor<16x2048xi32, #b> to tensor<16x2048xf32, #b>
  %bound = tt.splat %n : i32 -> tensor<1x2048xi32, #b>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<16x2048x!tt.ptr<f32>, #b>
  %q = tt.addptr %base, %place : tensor<16x2048x!tt.ptr<f32>, #b>, tensor<16x2048xi32, #b>
  %inside = arith.cmpi slt, %cols, %bound : tensor<1x2048xi32, #b>
  %inside2 = tt.broadcast %inside : tensor<1x2048xi1, #b> -> tensor<16x2048xi1, #b>
  tt.store %q, %weight, %inside2 : tensor<16x2048x!tt.ptr<f32>, #b>
  %0:2 = scf.for %i = %c0 to %times step %c1 iter_args(%acc0 = %zero, %at = %base) -> (tensor<16x2048xf32, #b>, tensor<16x2048x!tt.ptr<f32>, #b>) : i32 {
    %turn = tt.splat %i : i32 -> tensor<1x2048xi32, #b>
    %here = arith.addi %turn, %cols : tensor<1x2048xi32, #b>
    %less = arith.cmpi slt, %here, %bound : tensor<1x2048xi32, #b>
    %mask = tt.broadcast %less : tensor<1x2048xi1, #b> -> tensor<16x2048xi1, #b>
    %ones = arith.constant dense<1> : tensor<16x2048xi32, #b>
    %next = tt.addptr %at, %ones : tensor<16x2048x!tt.ptr<f32>, #b>, tensor<16x2048xi32, #b>
    %r = tt.addptr %at, %place : tensor<16x2048x!tt.ptr<f32>, #b>, tensor<16x2048xi32, #b>
    %x = tt.load %r, %mask, %one : tensor<16x2048x!tt.ptr<f32>, #b>
    %m0 = arith.mulf %acc0, %one : tensor<16x2048xf32, #b>
    %s0 = arith.addf %m0, %x : tensor<16x2048xf32, #b>
    scf.yield %s0, %next : tensor<16x2048xf32, #b>, tensor<16x2048x!tt.ptr<f32>, #b>
  }
  %w0 = arith.mulf %0#0, %weight : tensor<16x2048xf32, #b>
  %l0 = "tt.reduce"(%w0) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<16x2048xf32, #b>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #b}>>
  %o = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>
  %step0 = arith.constant dense<0> : tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>>
  %to0 = arith.addi %row, %step0 : tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>>
  %d0 = tt.addptr %o, %to0 : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>, tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>>
  tt.store %d0, %l0 : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #b}>>
  tt.return
}
}

// -----

// What stays.
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// The loop of which the others are variants.
// CHECK-LABEL: @split(
// CHECK-COUNT-2: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @split(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %x = tt.load %q : tensor<8192x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// 128 sums leave room for loads.
// CHECK-LABEL: @fits(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @fits(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>, #b>
  %zero = arith.constant dense<0.0> : tensor<4096xf32, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<4096xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<4096xi32, #b>
    %here = arith.addi %at, %offs : tensor<4096xi32, #b>
    %q = tt.addptr %base, %here : tensor<4096x!tt.ptr<f32>, #b>, tensor<4096xi32, #b>
    %x = tt.load %q : tensor<4096x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<4096xf32, #b>
    scf.yield %sum : tensor<4096xf32, #b>
  }
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<4096xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// A store may be to what another part reads.
// CHECK-LABEL: @stores(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @stores(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %x = tt.load %q : tensor<8192x!tt.ptr<f32>, #b>
    tt.store %q, %acc : tensor<8192x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// A volatile load is read when its turn comes.
// CHECK-LABEL: @volatile(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @volatile(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %x = tt.load %q {isVolatile = true} : tensor<8192x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// So is one that no cache may answer.
// CHECK-LABEL: @uncached(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @uncached(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %x = tt.load %q cacheModifier = cv : tensor<8192x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// Threads meet in each iteration.
// CHECK-LABEL: @reduces(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @reduces(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %y = tt.load %q : tensor<8192x!tt.ptr<f32>, #b>
    %m = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<8192xf32, #b>) -> f32
    %x = tt.splat %m : f32 -> tensor<8192xf32, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// Each part would load the number.
// CHECK-LABEL: @one_number(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @one_number(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %f = tt.load %p : !tt.ptr<f32>
    %f2 = tt.splat %f : f32 -> tensor<8192xf32, #b>
    %y = tt.load %q : tensor<8192x!tt.ptr<f32>, #b>
    %x = arith.mulf %y, %f2 : tensor<8192xf32, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// All elements of this load have one address.
// CHECK-LABEL: @same_address(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @same_address(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %one = tt.addptr %p, %i : !tt.ptr<f32>, i32
    %same = tt.splat %one : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
    %y = tt.load %same : tensor<8192x!tt.ptr<f32>, #b>
    %z = tt.load %q : tensor<8192x!tt.ptr<f32>, #b>
    %x = arith.mulf %y, %z : tensor<8192xf32, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// The sums are kept until all are there.
// CHECK-LABEL: @stored(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @stored(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %x = tt.load %q : tensor<8192x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  %to = tt.addptr %base, %offs : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
  tt.store %to, %0 : tensor<8192x!tt.ptr<f32>, #b>
  tt.return
}

// What was loaded in front of the loop is there as a whole.
// CHECK-LABEL: @loaded_before(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @loaded_before(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %first = tt.addptr %base, %offs : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
  %zero = tt.load %first : tensor<8192x!tt.ptr<f32>, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %x = tt.load %q : tensor<8192x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// Nor is it known how a part of this would be made.
// CHECK-LABEL: @argument(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @argument(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32, %zero: tensor<8192xf32, #b>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>

  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %x = tt.load %q : tensor<8192x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// A conversion between layouts moves elements.
// CHECK-LABEL: @converted(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @converted(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %y = tt.load %q : tensor<8192x!tt.ptr<f32>, #b>
    %z = ttg.convert_layout %y : tensor<8192xf32, #b> -> tensor<8192xf32, #a>
    %x = ttg.convert_layout %z : tensor<8192xf32, #a> -> tensor<8192xf32, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  }
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// Who asks for stages gets the pipeliner.
// CHECK-LABEL: @staged(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @staged(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8192xf32, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %x = tt.load %q : tensor<8192x!tt.ptr<f32>, #b>
    %sum = arith.addf %acc, %x : tensor<8192xf32, #b>
    scf.yield %sum : tensor<8192xf32, #b>
  } {tt.num_stages = 2 : i32}
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #b>) -> f32
  tt.store %out, %s : !tt.ptr<f32>
  tt.return
}

// Truth values take no register each.
// CHECK-LABEL: @truth(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @truth(%p: !tt.ptr<f32>, %out: !tt.ptr<i1>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<8192xf32, #b>
  %yes = arith.constant dense<true> : tensor<8192xi1, #b>
  %offs = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32, #b>
  %base = tt.splat %p : !tt.ptr<f32> -> tensor<8192x!tt.ptr<f32>, #b>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %yes) -> (tensor<8192xi1, #b>) : i32 {
    %at = tt.splat %i : i32 -> tensor<8192xi32, #b>
    %here = arith.addi %at, %offs : tensor<8192xi32, #b>
    %q = tt.addptr %base, %here : tensor<8192x!tt.ptr<f32>, #b>, tensor<8192xi32, #b>
    %x = tt.load %q : tensor<8192x!tt.ptr<f32>, #b>
    %is = arith.cmpf une, %x, %zero : tensor<8192xf32, #b>
    %and = arith.andi %acc, %is : tensor<8192xi1, #b>
    scf.yield %and : tensor<8192xi1, #b>
  }
  %s = "tt.reduce"(%0) <{axis = 0 : i32}> ({
  ^bb0(%a: i1, %b: i1):
    %c = arith.andi %a, %b : i1
    tt.reduce.return %c : i1
  }) : (tensor<8192xi1, #b>) -> i1
  tt.store %out, %s : !tt.ptr<i1>
  tt.return
}
}
