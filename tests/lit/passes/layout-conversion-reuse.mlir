// RUN: ttc opt %s --tritongpu-remove-layout-conversions | FileCheck %s

// What spares a conversion beyond computing its source anew: layouts that differ in name only, reshapes that follow their source, values that
// are there already in the layout wanted, reductions of two elements.

#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#tile = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #tile}>
#pair = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>

#three = #ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [1, 32, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#two = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#in_thread = #ttg.linear<{register = [[0, 0, 1], [8, 0, 0], [0, 4, 0], [0, 8, 0], [0, 16, 0]], lane = [[0, 1, 0], [0, 2, 0], [1, 0, 0], [2, 0, 0], [4, 0, 0]], warp = [[16, 0, 0], [32, 0, 0]], block = []}>
#in_lanes = #ttg.linear<{register = [[0, 1, 0], [8, 0, 0], [0, 4, 0], [0, 8, 0], [0, 16, 0]], lane = [[0, 0, 1], [0, 2, 0], [1, 0, 0], [2, 0, 0], [4, 0, 0]], warp = [[16, 0, 0], [32, 0, 0]], block = []}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Every thread holds the one element, whatever the layout is called: the broadcasts read it as it is.
  // CHECK-LABEL: @broadcast_of_one
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.broadcast %x : tensor<1xf32, #[[LINE:.*]]> -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #[[TILE:.*]]}>>
  // CHECK: tt.broadcast %y : tensor<1xf32, #[[LINE]]> -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #[[TILE]]}>>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @broadcast_of_one(%x: tensor<1xf32, #line>, %y: tensor<1xf32, #line>) -> tensor<64xf32, #rows> {
    %0 = tt.broadcast %x : tensor<1xf32, #line> -> tensor<64xf32, #line>
    %1 = tt.broadcast %y : tensor<1xf32, #line> -> tensor<64xf32, #line>
    %2 = arith.addf %0, %1 : tensor<64xf32, #line>
    %3 = ttg.convert_layout %2 : tensor<64xf32, #line> -> tensor<64xf32, #rows>
    tt.return %3 : tensor<64xf32, #rows>
  }

  // Rows that lie elsewhere are converted, before there are more of them.
  // CHECK-LABEL: @broadcast_of_rows
  // CHECK: ttg.convert_layout %x : tensor<64x1xf32
  // CHECK: tt.broadcast
  tt.func public @broadcast_of_rows(%x: tensor<64x1xf32, #pair>) -> tensor<64x64xf32, #tile> {
    %0 = tt.broadcast %x : tensor<64x1xf32, #pair> -> tensor<64x64xf32, #pair>
    %1 = ttg.convert_layout %0 : tensor<64x64xf32, #pair> -> tensor<64x64xf32, #tile>
    tt.return %1 : tensor<64x64xf32, #tile>
  }

  // A reshape that may reorder takes the layout of its source where its own would need data moved.
  // CHECK-LABEL: @reshape_follows
  // CHECK: tt.reshape %x allow_reorder : tensor<64xf32, #ttg.slice<{dim = 1, parent = #{{.*}}}>> -> tensor<64xf32, #[[ROWS:linear.*]]>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: "tt.reduce"
  // CHECK: (tensor<64xf32, #[[ROWS]]>) -> f32
  tt.func public @reshape_follows(%x: tensor<64xf32, #rows>) -> f32 {
    %0 = ttg.convert_layout %x : tensor<64xf32, #rows> -> tensor<64xf32, #line>
    %1 = tt.reshape %0 allow_reorder : tensor<64xf32, #line> -> tensor<64xf32, #line>
    %2 = "tt.reduce"(%1) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %3 = arith.addf %a, %b : f32
      tt.reduce.return %3 : f32
    }) : (tensor<64xf32, #line>) -> f32
    tt.return %2 : f32
  }

  // One whose layout was chosen keeps it.
  // CHECK-LABEL: @reshape_keeps
  // CHECK: ttg.convert_layout
  // CHECK: tt.reshape {{.*}} allow_reorder efficient_layout : tensor<64xf32, #[[LINE:blocked.*]]> -> tensor<64xf32, #[[LINE]]>
  // CHECK: math.exp {{.*}} : tensor<64xf32, #[[LINE]]>
  tt.func public @reshape_keeps(%x: tensor<64xf32, #rows>) -> tensor<64xf32, #line> {
    %0 = ttg.convert_layout %x : tensor<64xf32, #rows> -> tensor<64xf32, #line>
    %1 = tt.reshape %0 allow_reorder efficient_layout : tensor<64xf32, #line> -> tensor<64xf32, #line>
    %2 = math.exp %1 : tensor<64xf32, #line>
    tt.return %2 : tensor<64xf32, #line>
  }

  // The wide load is there in the other layout already: the product is computed from that.
  // CHECK-LABEL: @converted_before
  // CHECK: %[[C:.*]] = ttg.convert_layout
  // CHECK: arith.mulf %[[C]]
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @converted_before(%p: tensor<1024x!tt.ptr<f16>, #line>, %q: tensor<1024x!tt.ptr<f16>, #wide>) {
    %k = arith.constant dense<2.0> : tensor<1024xf16, #line>
    %0 = tt.load %p : tensor<1024x!tt.ptr<f16>, #line>
    %1 = ttg.convert_layout %0 : tensor<1024xf16, #line> -> tensor<1024xf16, #wide>
    tt.store %q, %1 : tensor<1024x!tt.ptr<f16>, #wide>
    %2 = arith.mulf %0, %k : tensor<1024xf16, #line>
    %3 = ttg.convert_layout %2 : tensor<1024xf16, #line> -> tensor<1024xf16, #wide>
    tt.store %q, %3 : tensor<1024x!tt.ptr<f16>, #wide>
    tt.return
  }

  // Where the conversion is in a branch, it is not there for what follows.
  // CHECK-LABEL: @converted_in_a_branch
  // CHECK: scf.if
  // CHECK: ttg.convert_layout
  // CHECK: }
  // CHECK: ttg.convert_layout
  tt.func public @converted_in_a_branch(%p: tensor<1024x!tt.ptr<f16>, #line>, %q: tensor<1024x!tt.ptr<f16>, #wide>, %b: i1) {
    %k = arith.constant dense<2.0> : tensor<1024xf16, #line>
    %0 = tt.load %p : tensor<1024x!tt.ptr<f16>, #line>
    scf.if %b {
      %e = math.exp %0 : tensor<1024xf16, #line>
      %1 = ttg.convert_layout %e : tensor<1024xf16, #line> -> tensor<1024xf16, #wide>
      tt.store %q, %1 : tensor<1024x!tt.ptr<f16>, #wide>
    }
    %2 = arith.mulf %0, %k : tensor<1024xf16, #line>
    %3 = ttg.convert_layout %2 : tensor<1024xf16, #line> -> tensor<1024xf16, #wide>
    tt.store %q, %3 : tensor<1024x!tt.ptr<f16>, #wide>
    tt.return
  }

  // What a loop carries in the other layout too is there in it behind the loop: in the end it is carried once.
  // CHECK-LABEL: @behind_a_loop
  // CHECK: %[[L:.*]] = scf.for {{.*}} iter_args(%{{[a-z0-9_]*}} = %{{[a-z0-9_]*}}) -> (tensor<1024xi32, #[[WIDE:.*]]>)
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.addptr %{{.*}}, %[[L]] : tensor<1024x!tt.ptr<f16>, #[[WIDE]]>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @behind_a_loop(%p: !tt.ptr<f16>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k = arith.constant dense<1024> : tensor<1024xi32, #line>
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #line>
    %1 = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #line>
    %2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> (tensor<1024xi32, #line>) : i32 {
      %3 = tt.addptr %1, %a : tensor<1024x!tt.ptr<f16>, #line>, tensor<1024xi32, #line>
      %4 = ttg.convert_layout %3 : tensor<1024x!tt.ptr<f16>, #line> -> tensor<1024x!tt.ptr<f16>, #wide>
      %5 = tt.load %4 : tensor<1024x!tt.ptr<f16>, #wide>
      tt.store %4, %5 : tensor<1024x!tt.ptr<f16>, #wide>
      %6 = arith.addi %a, %k : tensor<1024xi32, #line>
      scf.yield %6 : tensor<1024xi32, #line>
    }
    %7 = tt.addptr %1, %2 : tensor<1024x!tt.ptr<f16>, #line>, tensor<1024xi32, #line>
    %8 = ttg.convert_layout %7 : tensor<1024x!tt.ptr<f16>, #line> -> tensor<1024x!tt.ptr<f16>, #wide>
    %9 = tt.load %8 : tensor<1024x!tt.ptr<f16>, #wide>
    tt.store %8, %9 : tensor<1024x!tt.ptr<f16>, #wide>
    tt.return
  }

  // The sum of two floats is the same in any order: it may be computed in both layouts.
  // CHECK-LABEL: @sum_of_two
  // CHECK-COUNT-2: "tt.reduce"
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @sum_of_two(%x: f32, %p: tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #pair}>>, %q: tensor<64x!tt.ptr<f32>, #rows>) {
    %0 = tt.splat %x : f32 -> tensor<64x2xf32, #pair>
    %1 = "tt.reduce"(%0) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %2 = arith.addf %a, %b : f32
      tt.reduce.return %2 : f32
    }) : (tensor<64x2xf32, #pair>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #pair}>>
    tt.store %p, %1 : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #pair}>>
    %3 = ttg.convert_layout %1 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #pair}>> -> tensor<64xf32, #rows>
    tt.store %q, %3 : tensor<64x!tt.ptr<f32>, #rows>
    tt.return
  }

  // Of four it is not.
  // CHECK-LABEL: @sum_of_four
  // CHECK-COUNT-1: "tt.reduce"
  // CHECK-NOT: "tt.reduce"
  // CHECK: ttg.convert_layout
  tt.func public @sum_of_four(%x: f32, %p: tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #pair}>>, %q: tensor<64x!tt.ptr<f32>, #rows>) {
    %0 = tt.splat %x : f32 -> tensor<64x4xf32, #pair>
    %1 = "tt.reduce"(%0) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %2 = arith.addf %a, %b : f32
      tt.reduce.return %2 : f32
    }) : (tensor<64x4xf32, #pair>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #pair}>>
    tt.store %p, %1 : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #pair}>>
    %3 = ttg.convert_layout %1 : tensor<64xf32, #ttg.slice<{dim = 1, parent = #pair}>> -> tensor<64xf32, #rows>
    tt.store %q, %3 : tensor<64x!tt.ptr<f32>, #rows>
    tt.return
  }

  // Pairs within a thread are taken apart in any layout.
  // CHECK-LABEL: @pairs_in_threads
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.split %x : tensor<64x32x2xf32, #[[PAIRS:linear.*]]> -> tensor<64x32xf32, #[[HALF:linear.*]]>
  // CHECK: arith.addf {{.*}} : tensor<64x32xf32, #[[HALF]]>
  tt.func public @pairs_in_threads(%x: tensor<64x32x2xf32, #in_thread>) -> tensor<64x32xf32, #two> {
    %0 = ttg.convert_layout %x : tensor<64x32x2xf32, #in_thread> -> tensor<64x32x2xf32, #three>
    %lo, %hi = tt.split %0 : tensor<64x32x2xf32, #three> -> tensor<64x32xf32, #two>
    %3 = arith.addf %lo, %hi : tensor<64x32xf32, #two>
    tt.return %3 : tensor<64x32xf32, #two>
  }

  // Pairs across lanes are brought together first.
  // CHECK-LABEL: @pairs_in_lanes
  // CHECK: ttg.convert_layout %x
  // CHECK: tt.split {{.*}} : tensor<64x32x2xf32, #blocked{{.*}}> -> tensor<64x32xf32, #blocked{{.*}}>
  tt.func public @pairs_in_lanes(%x: tensor<64x32x2xf32, #in_lanes>) -> tensor<64x32xf32, #two> {
    %0 = ttg.convert_layout %x : tensor<64x32x2xf32, #in_lanes> -> tensor<64x32x2xf32, #three>
    %lo, %hi = tt.split %0 : tensor<64x32x2xf32, #three> -> tensor<64x32xf32, #two>
    %3 = arith.addf %lo, %hi : tensor<64x32xf32, #two>
    tt.return %3 : tensor<64x32xf32, #two>
  }

  // A product's layout reaches what is computed from it through the wait.
  // CHECK-LABEL: @behind_a_wait
  // CHECK: %[[X:.*]] = ttg.convert_layout %x {{.*}} -> tensor<64x64xf32, #[[MMA:mma.*]]>
  // CHECK: %[[W:.*]] = ttng.warp_group_dot_wait
  // CHECK: arith.addf %[[W]], %[[X]] : tensor<64x64xf32, #[[MMA]]>
  tt.func public @behind_a_wait(%x: tensor<64x64xf32, #tile>, %a: !ttg.memdesc<64x64xf16, #nv, #smem>, %b: !ttg.memdesc<64x64xf16, #nv, #smem>) -> tensor<64x64xf32, #tile> {
    %z = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %0 = ttng.warp_group_dot %a, %b, %z {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #nv, #smem> * !ttg.memdesc<64x64xf16, #nv, #smem> -> tensor<64x64xf32, #mma>
    %1 = ttng.warp_group_dot_wait %0 {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    %2 = ttg.convert_layout %1 : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #tile>
    %3 = arith.addf %2, %x : tensor<64x64xf32, #tile>
    tt.return %3 : tensor<64x64xf32, #tile>
  }
}
