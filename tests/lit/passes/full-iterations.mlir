// A loop's full blocks run without masks; what is left has them.
// RUN: ttc opt %s --split-input-file --ttc-full-iterations | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @row
  // CHECK: %[[BLOCKS:.*]] = arith.divsi %{{.*}}, %[[STEP:.*]] : i32
  // CHECK: %[[END:.*]] = arith.muli %[[BLOCKS]], %[[STEP]] : i32
  // CHECK: %[[FULL:.*]] = scf.for %{{.*}} = %{{.*}} to %[[END]] step %[[STEP]]
  // CHECK-NOT: cmpi
  // CHECK: tt.load %{{[^,]*}} : tensor<512x!tt.ptr<f32>
  // CHECK: scf.for %{{.*}} = %[[END]] to %{{.*}} step %[[STEP]] iter_args(%{{.*}} = %[[FULL]])
  // CHECK: arith.cmpi slt
  // CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<512x!tt.ptr<f32>
  // CHECK: tt.num_stages = 1 : i32, ttc.does_the_rest
  tt.func public @row(%p: tensor<512x!tt.ptr<f32>, #blocked>, %out: tensor<512x!tt.ptr<f32>, #blocked>, %n: i32, %start: tensor<512xf32, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c512 = arith.constant 512 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<512xf32, #blocked>
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %sum = scf.for %off = %c0 to %n step %c512 iter_args(%acc = %start) -> (tensor<512xf32, #blocked>) : i32 {
      %at = tt.splat %off : i32 -> tensor<512xi32, #blocked>
      %cols = arith.addi %at, %range : tensor<512xi32, #blocked>
      %limit = tt.splat %n : i32 -> tensor<512xi32, #blocked>
      %mask = arith.cmpi slt, %cols, %limit : tensor<512xi32, #blocked>
      %ptr = tt.addptr %p, %cols : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      %x = tt.load %ptr, %mask, %zero : tensor<512x!tt.ptr<f32>, #blocked>
      %next = arith.addf %acc, %x : tensor<512xf32, #blocked>
      scf.yield %next : tensor<512xf32, #blocked>
    }
    tt.store %out, %sum : tensor<512x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

// The range is longer than the step: the last full iteration may need its mask.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @overlapping
  // CHECK-NOT: arith.divsi
  // CHECK: scf.for
  // CHECK-NOT: scf.for
  tt.func public @overlapping(%p: tensor<512x!tt.ptr<f32>, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c256 = arith.constant 256 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<512xf32, #blocked>
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    scf.for %off = %c0 to %n step %c256 : i32 {
      %at = tt.splat %off : i32 -> tensor<512xi32, #blocked>
      %cols = arith.addi %at, %range : tensor<512xi32, #blocked>
      %limit = tt.splat %n : i32 -> tensor<512xi32, #blocked>
      %mask = arith.cmpi slt, %cols, %limit : tensor<512xi32, #blocked>
      tt.store %p, %zero, %mask : tensor<512x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }
}

// -----

// The mask tests something else than the loop's bound.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @other_bound
  // CHECK-NOT: arith.divsi
  // CHECK: scf.for
  // CHECK-NOT: scf.for
  tt.func public @other_bound(%p: tensor<512x!tt.ptr<f32>, #blocked>, %n: i32, %m: i32) {
    %c0 = arith.constant 0 : i32
    %c512 = arith.constant 512 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<512xf32, #blocked>
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    scf.for %off = %c0 to %n step %c512 : i32 {
      %at = tt.splat %off : i32 -> tensor<512xi32, #blocked>
      %cols = arith.addi %at, %range : tensor<512xi32, #blocked>
      %limit = tt.splat %m : i32 -> tensor<512xi32, #blocked>
      %mask = arith.cmpi slt, %cols, %limit : tensor<512xi32, #blocked>
      tt.store %p, %zero, %mask : tensor<512x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }
}

// -----

// The columns of a tile: the range and the sum have a dimension more. What is left of the mask is that of the rows.
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @columns
  // CHECK: arith.divsi
  // CHECK: scf.for
  // CHECK-NOT: arith.cmpi
  // CHECK: tt.store %p, %{{.*}}, %rows
  // CHECK: scf.for
  // CHECK: arith.cmpi slt
  // CHECK: tt.store
  tt.func public @columns(%p: tensor<4x128x!tt.ptr<f32>, #blocked>, %rows: tensor<4x128xi1, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<4x128xf32, #blocked>
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %cols = tt.expand_dims %range {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x128xi32, #blocked>
    %limit = tt.splat %n : i32 -> tensor<1x128xi32, #blocked>
    scf.for %off = %c0 to %n step %c128 : i32 {
      %at = tt.splat %off : i32 -> tensor<1x128xi32, #blocked>
      %here = arith.addi %at, %cols : tensor<1x128xi32, #blocked>
      %in = arith.cmpi slt, %here, %limit : tensor<1x128xi32, #blocked>
      %all = tt.broadcast %in : tensor<1x128xi1, #blocked> -> tensor<4x128xi1, #blocked>
      %mask = arith.andi %rows, %all : tensor<4x128xi1, #blocked>
      tt.store %p, %zero, %mask : tensor<4x128x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }
}

// -----

// A bound that is known, as a number in each element: three full blocks, and 452 elements that are left.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @known
  // CHECK: %[[FULL:.*]] = arith.constant 1536 : i32
  // CHECK: scf.for %{{.*}} to %[[FULL]]
  // CHECK-NOT: cmpi
  // CHECK: tt.store %{{[^,]*}}, %{{[^,]*}} : tensor<512x!tt.ptr<f32>
  // CHECK-NEXT: }
  // CHECK-NOT: scf.for
  // CHECK: arith.cmpi slt
  // CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<512x!tt.ptr<f32>
  tt.func public @known(%p: tensor<512x!tt.ptr<f32>, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c512 = arith.constant 512 : i32
    %n = arith.constant 1988 : i32
    %limit = arith.constant dense<1988> : tensor<512xi32, #blocked>
    %zero = arith.constant dense<0.000000e+00> : tensor<512xf32, #blocked>
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    scf.for %off = %c0 to %n step %c512 : i32 {
      %at = tt.splat %off : i32 -> tensor<512xi32, #blocked>
      %cols = arith.addi %at, %range : tensor<512xi32, #blocked>
      %mask = arith.cmpi slt, %cols, %limit : tensor<512xi32, #blocked>
      %q = tt.addptr %p, %cols : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
      tt.store %q, %zero, %mask : tensor<512x!tt.ptr<f32>, #blocked>
    }
    tt.return
  }
}
