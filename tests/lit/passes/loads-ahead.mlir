// RUN: ttc opt %s --split-input-file --ttc-loads-ahead | FileCheck %s
// A loop that stores, or exchanges values, loads for its next iteration.

// The first load comes in front of the loop, and only if there is an iteration. Its pointers are carried one iteration
// further, and no others: those of the store stay.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @recurrence
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %n, %c0
// CHECK: %[[MASK:.*]] = tt.splat %[[ANY]]
// CHECK: %[[FIRST:.*]] = tt.load %x, %[[MASK]]
// CHECK: %[[START:.*]] = tt.addptr %x, %by
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} iter_args(%[[P:.*]] = %[[START]], %[[Q:.*]] = %y, %[[H:.*]] = %init, %[[V:.*]] = %[[FIRST]])
// CHECK: %[[LEFT:.*]] = arith.subi %n, %[[I]]
// CHECK: %[[MORE:.*]] = arith.cmpi ugt, %[[LEFT]], %c1
// CHECK: %[[NEXT:.*]] = tt.splat %[[MORE]]
// CHECK: %[[LOADED:.*]] = tt.load %[[P]], %[[NEXT]]
// CHECK: %[[SUM:.*]] = arith.addf %[[H]], %[[V]]
// CHECK: tt.store %[[Q]], %[[SUM]]
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[SUM]], %[[LOADED]]
tt.func public @recurrence(%x: tensor<512x!tt.ptr<f32>, #b>, %y: tensor<512x!tt.ptr<f32>, #b>, %by: tensor<512xi32, #b>, %n: i32, %init: tensor<512xf32, #b>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y, %h = %init) -> (tensor<512x!tt.ptr<f32>, #b>, tensor<512x!tt.ptr<f32>, #b>, tensor<512xf32, #b>) : i32 {
    %a = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %s = arith.addf %h, %a : tensor<512xf32, #b>
    tt.store %q, %s : tensor<512x!tt.ptr<f32>, #b>
    %pn = tt.addptr %p, %by : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %qn = tt.addptr %q, %by : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    scf.yield %pn, %qn, %s : tensor<512x!tt.ptr<f32>, #b>, tensor<512x!tt.ptr<f32>, #b>, tensor<512xf32, #b>
  }
  tt.return
}
}

// -----

// Addresses and masks that come from the number of the iteration are computed for the next one. With bounds that are
// known, the first load needs no condition.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @by_number
// CHECK: %[[FIRST:.*]] = tt.load %x, %{{.*}}, %zero
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args({{.*}} = %[[FIRST]])
// CHECK: %[[AT:.*]] = arith.addi %[[I]], %c512
// CHECK: %[[OFF:.*]] = tt.splat %[[AT]]
// CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %end
// CHECK: %[[MASK:.*]] = arith.andi %[[IN]], %{{.*}}
// CHECK: tt.load %{{.*}}, %[[MASK]], %zero
// CHECK: "tt.reduce"
tt.func public @by_number(%x: tensor<512x!tt.ptr<f32>, #b>, %y: !tt.ptr<f32>, %end: tensor<512xi32, #b>, %zero: tensor<512xf32, #b>) {
  %c0 = arith.constant 0 : i32
  %c512 = arith.constant 512 : i32
  %c4096 = arith.constant 4096 : i32
  scf.for %i = %c0 to %c4096 step %c512 : i32 {
    %off = tt.splat %i : i32 -> tensor<512xi32, #b>
    %in = arith.cmpi slt, %off, %end : tensor<512xi32, #b>
    %p = tt.addptr %x, %off : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %a = tt.load %p, %in, %zero : tensor<512x!tt.ptr<f32>, #b>
    %s = "tt.reduce"(%a) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %c = arith.addf %l, %r : f32
      tt.reduce.return %c : f32
    }) : (tensor<512xf32, #b>) -> f32
    %q = tt.addptr %y, %i : !tt.ptr<f32>, i32
    tt.store %q, %s : !tt.ptr<f32>
  }
  tt.return
}
}

// -----

// What an iteration stores, the next one may load. And an address that was loaded is not known ahead.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @in_turn
// CHECK-NOT: tt.load
// CHECK: scf.for
// CHECK: %[[AT:.*]] = tt.load %index
// CHECK: tt.load
// CHECK: tt.store
// CHECK: tt.return
tt.func public @in_turn(%x: tensor<512x!tt.ptr<f32>, #b>, %index: tensor<512x!tt.ptr<i32>, #b>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %at = tt.load %index : tensor<512x!tt.ptr<i32>, #b>
    %p = tt.addptr %x, %at : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %a = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    tt.store %x, %a : tensor<512x!tt.ptr<f32>, #b>
    tt.store %index, %at : tensor<512x!tt.ptr<i32>, #b>
  }
  tt.return
}
}

// -----

// Loops that only read are `ttc-unroll-streams`' business. One iteration has no next one, and neither has what is left
// behind full blocks. A division by a number that may be zero is not made ahead.
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @stays
// CHECK-NOT: tt.load
// CHECK: scf.for
// CHECK: tt.load
// CHECK-NOT: tt.load
// CHECK: scf.for
// CHECK: tt.load
// CHECK: tt.store
// CHECK-NOT: tt.load
// CHECK: scf.for
// CHECK: tt.load
// CHECK: tt.store
// CHECK-NOT: tt.load
// CHECK: scf.for
// CHECK: arith.divsi
// CHECK: tt.load
// CHECK: tt.store
// CHECK: tt.return
tt.func public @stays(%x: tensor<512x!tt.ptr<f32>, #b>, %y: tensor<512x!tt.ptr<f32>, #b>, %n: i32, %m: i32, %init: tensor<512xf32, #b>) -> tensor<512xf32, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%h = %init) -> (tensor<512xf32, #b>) : i32 {
    %off = tt.splat %i : i32 -> tensor<512xi32, #b>
    %p = tt.addptr %x, %off : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %a = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %s = arith.addf %h, %a : tensor<512xf32, #b>
    scf.yield %s : tensor<512xf32, #b>
  }
  scf.for %i = %c0 to %c1 step %c1 : i32 {
    %a = tt.load %x : tensor<512x!tt.ptr<f32>, #b>
    tt.store %y, %a : tensor<512x!tt.ptr<f32>, #b>
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = tt.load %x : tensor<512x!tt.ptr<f32>, #b>
    tt.store %y, %a : tensor<512x!tt.ptr<f32>, #b>
  } {tt.num_stages = 1 : i32}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %k = arith.divsi %i, %m : i32
    %off = tt.splat %k : i32 -> tensor<512xi32, #b>
    %p = tt.addptr %x, %off : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %a = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    tt.store %y, %a : tensor<512x!tt.ptr<f32>, #b>
  }
  tt.return %sum : tensor<512xf32, #b>
}
}

// -----

// Loads of one element that go on by few bytes find them in the first cache. Rows of 4096 bytes are not there.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @one_by_one
// CHECK-NOT: tt.load
// CHECK: scf.for
// CHECK: tt.load
// CHECK: tt.store
tt.func public @one_by_one(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
    %a = tt.load %p : !tt.ptr<f32>
    %q = tt.addptr %y, %i : !tt.ptr<f32>, i32
    tt.store %q, %a : !tt.ptr<f32>
  }
  tt.return
}
// CHECK-LABEL: @row_by_row
// CHECK: tt.load
// CHECK: scf.for
tt.func public @row_by_row(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c1024 = arith.constant 1024 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %row = arith.muli %i, %c1024 : i32
    %p = tt.addptr %x, %row : !tt.ptr<f32>, i32
    %a = tt.load %p : !tt.ptr<f32>
    %q = tt.addptr %y, %i : !tt.ptr<f32>, i32
    tt.store %q, %a : !tt.ptr<f32>
  }
  tt.return
}
}
