// Behind this pass, only layout conversions and reductions move elements between the blocks of a cluster.
// RUN: ttc opt %s -split-input-file --ttc-localize-blocks | FileCheck %s

#one = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[0, 0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A few partial results of each block: the reduction itself reads those of the other one.
  // CHECK-LABEL: @reduce
  // CHECK-NEXT: "tt.reduce"(%{{.*}}) <{axis = 0 : i32}>
  // CHECK-NOT: ttg.convert_layout
  tt.func public @reduce(%x: tensor<1024xf32, #one>, %p: !tt.ptr<f32>) {
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<1024xf32, #one>) -> f32
    tt.store %p, %0 : !tt.ptr<f32>
    tt.return
  }
  // Along an axis that each block has whole, nothing changes.
  // CHECK-LABEL: @reduce_columns
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @reduce_columns(%x: tensor<64x64xf32, #rows>, %p: tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>) {
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }) : (tensor<64x64xf32, #rows>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.store %p, %0 : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }
  // A scan gets the whole axis, and each block its share of the result.
  // CHECK-LABEL: @scan
  // CHECK: %[[WHOLE:.*]] = ttg.convert_layout %{{.*}} : tensor<1024xf32, #{{.*}}> -> tensor<1024xf32, #[[L:.*]]>
  // CHECK: "tt.scan"(%[[WHOLE]])
  // CHECK: ttg.convert_layout %{{.*}} : tensor<1024xf32, #[[L]]> -> tensor<1024xf32, #
  tt.func public @scan(%x: tensor<1024xf32, #one>, %p: tensor<1024x!tt.ptr<f32>, #one>) {
    %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.scan.return %s : f32
    }) : (tensor<1024xf32, #one>) -> tensor<1024xf32, #one>
    tt.store %p, %0 : tensor<1024x!tt.ptr<f32>, #one>
    tt.return
  }
  // The source of a gather is whole in each block; its indices stay where they are.
  // CHECK-LABEL: @gather
  // CHECK-SAME: %[[SRC:.*]]: tensor<1024xf32, #[[ONE:.*]]>, %[[INDEX:.*]]: tensor<1024xi32
  // CHECK: %[[WHOLE:.*]] = ttg.convert_layout %[[SRC]]
  // CHECK: tt.gather %[[WHOLE]][%[[INDEX]]]
  tt.func public @gather(%x: tensor<1024xf32, #one>, %i: tensor<1024xi32, #one>, %p: tensor<1024x!tt.ptr<f32>, #one>) {
    %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<1024xf32, #one>, tensor<1024xi32, #one>) -> tensor<1024xf32, #one>
    tt.store %p, %0 : tensor<1024x!tt.ptr<f32>, #one>
    tt.return
  }
  // Each block counts everything.
  // CHECK-LABEL: @histogram
  // CHECK: %[[WHOLE:.*]] = ttg.convert_layout
  // CHECK: tt.histogram %[[WHOLE]]
  tt.func public @histogram(%x: tensor<1024xi32, #one>, %p: tensor<64x!tt.ptr<i32>, #one>) {
    %0 = tt.histogram %x : tensor<1024xi32, #one> -> tensor<64xi32, #one>
    tt.store %p, %0 : tensor<64x!tt.ptr<i32>, #one>
    tt.return
  }
  // Every block fills its own memory: it needs the rows of the other one.
  // CHECK-LABEL: @store
  // CHECK: %[[ALL:.*]] = ttg.convert_layout %{{.*}} -> tensor<64x64xf32, #{{.*}}>
  // CHECK: ttg.local_alloc %[[ALL]]
  tt.func public @store(%x: tensor<64x64xf32, #rows>, %p: tensor<64x64x!tt.ptr<f32>, #rows>) {
    %0 = ttg.local_alloc %x : (tensor<64x64xf32, #rows>) -> !ttg.memdesc<64x64xf32, #shared, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<64x64xf32, #shared, #smem> -> tensor<64x64xf32, #rows>
    tt.store %p, %1 : tensor<64x64x!tt.ptr<f32>, #rows>
    tt.return
  }
}

// -----

#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [32], order = [0], CGALayout = [[1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 32 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Of 32 partial results of 8 bytes in each block: each block combines its own, and all combine what the blocks found.
  // CHECK-LABEL: @reduce_in_two
  // CHECK: %[[PARTS:.*]] = tt.reshape %{{.*}} : tensor<2048xf64, #{{.*}}> -> tensor<2x1024xf64, #[[SPLIT:.*]]>
  // CHECK: %[[EACH:.*]] = "tt.reduce"(%[[PARTS]]) <{axis = 1 : i32}>
  // CHECK: %[[ALL:.*]] = ttg.convert_layout %[[EACH]] : tensor<2xf64, {{.*}}> -> tensor<2xf64, #[[WHOLE:.*]]>
  // CHECK: "tt.reduce"(%[[ALL]]) <{axis = 0 : i32}>
  tt.func public @reduce_in_two(%x: tensor<2048xf64, #one>, %p: !tt.ptr<f64>) {
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      tt.reduce.return %s : f64
    }) : (tensor<2048xf64, #one>) -> f64
    tt.store %p, %0 : !tt.ptr<f64>
    tt.return
  }
}
