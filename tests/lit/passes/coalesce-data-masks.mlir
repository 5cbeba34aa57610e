// RUN: ttc opt %s --tritongpu-coalesce=data-masks=true | FileCheck %s
// RUN: ttc opt %s --tritongpu-coalesce | FileCheck %s --check-prefix=PLAIN

// A mask that was loaded for each element splits vectors anywhere, so that wide accesses would leave gaps between the
// threads of a warp. The bound of an array splits few of them.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

// CHECK-DAG: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[ONE:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[WIDER:.*]] = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// PLAIN-DAG: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // One bit for each element, packed by 32, and the bound of the array.
  // CHECK-LABEL: @bits
  // CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[ONE]]>
  // PLAIN-LABEL: @bits
  // PLAIN: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[WIDE]]>
  tt.func public @bits(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %bits: !tt.ptr<i32>, %n: i32) {
    %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %c32 = arith.constant dense<32> : tensor<1024xi32, #blocked>
    %one = arith.constant dense<1> : tensor<1024xi32, #blocked>
    %word = arith.divsi %i, %c32 : tensor<1024xi32, #blocked>
    %bit = arith.remsi %i, %c32 : tensor<1024xi32, #blocked>
    %all = tt.splat %bits : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #blocked>
    %words = tt.addptr %all, %word : tensor<1024x!tt.ptr<i32>, #blocked>, tensor<1024xi32, #blocked>
    %loaded = tt.load %words : tensor<1024x!tt.ptr<i32>, #blocked>
    %shifted = arith.shrui %loaded, %bit : tensor<1024xi32, #blocked>
    %low = arith.andi %shifted, %one : tensor<1024xi32, #blocked>
    %set = arith.cmpi eq, %low, %one : tensor<1024xi32, #blocked>
    %end = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %below = arith.cmpi slt, %i, %end : tensor<1024xi32, #blocked>
    %mask = arith.andi %below, %set : tensor<1024xi1, #blocked>
    %zero = arith.constant dense<0.0> : tensor<1024xf32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %q = tt.addptr %base, %i : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    tt.store %q, %zero, %mask : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // A bound that depends on what was loaded splits one vector.
  // CHECK-LABEL: @bound
  // CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[WIDE]]>
  tt.func public @bound(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %ends: !tt.ptr<i32>) {
    %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %n = tt.load %ends : !tt.ptr<i32>
    %end = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %below = arith.cmpi slt, %i, %end : tensor<1024xi32, #blocked>
    %zero = arith.constant dense<0.0> : tensor<1024xf32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %q = tt.addptr %base, %i : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    tt.store %q, %zero, %below : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // The mask itself is loaded in vectors, so that the layout is wide anyway.
  // CHECK-LABEL: @neighbours
  // CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<i8>, #[[WIDER]]>
  // CHECK: tt.store {{.*}} : tensor<1024x!tt.ptr<f32>, #[[WIDE]]>
  tt.func public @neighbours(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: !tt.ptr<i8> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %all = tt.splat %m : !tt.ptr<i8> -> tensor<1024x!tt.ptr<i8>, #blocked>
    %bytes = tt.addptr %all, %i : tensor<1024x!tt.ptr<i8>, #blocked>, tensor<1024xi32, #blocked>
    %loaded = tt.load %bytes : tensor<1024x!tt.ptr<i8>, #blocked>
    %none = arith.constant dense<0> : tensor<1024xi8, #blocked>
    %mask = arith.cmpi ne, %loaded, %none : tensor<1024xi8, #blocked>
    %zero = arith.constant dense<0.0> : tensor<1024xf32, #blocked>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %q = tt.addptr %base, %i : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    tt.store %q, %zero, %mask : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
