// RUN: ttc opt %s --tritongpu-remove-layout-conversions | FileCheck %s

#narrow = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The store's layout reaches the range; the load agrees with it.
  // CHECK-LABEL: @elementwise
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.store
  tt.func public @elementwise(%p: !tt.ptr<f32>) {
    %0 = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #narrow>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #narrow>
    %2 = tt.addptr %1, %0 : tensor<1024x!tt.ptr<f32>, #narrow>, tensor<1024xi32, #narrow>
    %3 = ttg.convert_layout %2 : tensor<1024x!tt.ptr<f32>, #narrow> -> tensor<1024x!tt.ptr<f32>, #wide>
    %4 = tt.load %3 : tensor<1024x!tt.ptr<f32>, #wide>
    %5 = ttg.convert_layout %4 : tensor<1024xf32, #wide> -> tensor<1024xf32, #narrow>
    %6 = arith.addf %5, %5 : tensor<1024xf32, #narrow>
    %7 = ttg.convert_layout %2 : tensor<1024x!tt.ptr<f32>, #narrow> -> tensor<1024x!tt.ptr<f32>, #wide>
    %8 = ttg.convert_layout %6 : tensor<1024xf32, #narrow> -> tensor<1024xf32, #wide>
    tt.store %7, %8 : tensor<1024x!tt.ptr<f32>, #wide>
    tt.return
  }

  // A wide load is not done twice for a store that wants another layout.
  // CHECK-LABEL: @two_layouts
  // CHECK: tt.load
  // CHECK: ttg.convert_layout
  // CHECK: tt.store
  tt.func public @two_layouts(%p: tensor<1024x!tt.ptr<f32>, #wide>, %q: tensor<1024x!tt.ptr<f32>, #narrow>) {
    %0 = tt.load %p : tensor<1024x!tt.ptr<f32>, #wide>
    %1 = ttg.convert_layout %0 : tensor<1024xf32, #wide> -> tensor<1024xf32, #narrow>
    tt.store %q, %1 : tensor<1024x!tt.ptr<f32>, #narrow>
    tt.return
  }

  // Conversions move out of loops.
  // CHECK-LABEL: @loop
  // CHECK: scf.for
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.yield
  tt.func public @loop(%n: i32, %p: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<1024xf32, #narrow>
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #wide>
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<1024xf32, #narrow>) : i32 {
      %2 = tt.load %0 : tensor<1024x!tt.ptr<f32>, #wide>
      %3 = ttg.convert_layout %2 : tensor<1024xf32, #wide> -> tensor<1024xf32, #narrow>
      %4 = arith.addf %acc, %3 : tensor<1024xf32, #narrow>
      scf.yield %4 : tensor<1024xf32, #narrow>
    }
    %5 = ttg.convert_layout %1 : tensor<1024xf32, #narrow> -> tensor<1024xf32, #wide>
    tt.store %0, %5 : tensor<1024x!tt.ptr<f32>, #wide>
    tt.return
  }
}
