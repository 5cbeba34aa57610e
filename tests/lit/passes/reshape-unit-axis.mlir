// RUN: ttc opt %s --tritongpu-remove-layout-conversions | FileCheck %s

// The layout of a view that takes an axis of size 1 away, or adds one, is a slice of the other.

#E = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#D2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#D1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#C2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
#L2 = #ttg.linear<{register = [[8, 0], [16, 0]], lane = [[1, 0], [2, 0], [4, 0], [32, 0], [64, 0]], warp = [[128, 0], [256, 0]], block = []}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#S = #ttg.slice<{dim = 0, parent = #E}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @taken_away(
  // CHECK: tt.reshape %p : tensor<1x1024xf32, #[[E:.*]]> -> tensor<1024xf32, #ttg.slice<{dim = 0, parent = #[[E]]}>>
  tt.func public @taken_away(%p: tensor<1x1024xf32, #E>, %q: tensor<1024x!tt.ptr<f32>, #S>) {
    %c = ttg.convert_layout %p : tensor<1x1024xf32, #E> -> tensor<1x1024xf32, #D2>
    %r = tt.reshape %c : tensor<1x1024xf32, #D2> -> tensor<1024xf32, #D1>
    %d = ttg.convert_layout %r : tensor<1024xf32, #D1> -> tensor<1024xf32, #S>
    tt.store %q, %d : tensor<1024x!tt.ptr<f32>, #S>
    tt.return
  }

  // CHECK-LABEL: @added(
  // CHECK: tt.reshape %p : tensor<1024xf32, #ttg.slice<{dim = 0, parent = #[[E:.*]]}>> -> tensor<1x1024xf32, #[[E]]>
  tt.func public @added(%p: tensor<1024xf32, #S>, %q: tensor<1x1024x!tt.ptr<f32>, #E>) {
    %c = ttg.convert_layout %p : tensor<1024xf32, #S> -> tensor<1024xf32, #D1>
    %r = tt.reshape %c : tensor<1024xf32, #D1> -> tensor<1x1024xf32, #D2>
    %d = ttg.convert_layout %r : tensor<1x1024xf32, #D2> -> tensor<1x1024xf32, #E>
    tt.store %q, %d : tensor<1x1024x!tt.ptr<f32>, #E>
    tt.return
  }

  // A thread holds each element of the column twice, and two of the row it becomes: no slice says that.
  // CHECK-LABEL: @column_of_a_product(
  // CHECK: tt.reshape %p : tensor<64x1xf32, #{{.*}}> -> tensor<64xf32, #linear{{[0-9]*}}>
  tt.func public @column_of_a_product(%p: tensor<64x1xf32, #mma>) -> tensor<64xf32, #D1> {
    %c = ttg.convert_layout %p : tensor<64x1xf32, #mma> -> tensor<64x1xf32, #C2>
    %r = tt.reshape %c : tensor<64x1xf32, #C2> -> tensor<64xf32, #D1>
    tt.return %r : tensor<64xf32, #D1>
  }

  // A linear layout stays linear.
  // CHECK-LABEL: @of_linear(
  // CHECK: tt.reshape %p : tensor<512x1xf32, #{{.*}}> -> tensor<512xf32, #linear{{[0-9]*}}>
  tt.func public @of_linear(%p: tensor<512x1xf32, #L2>) -> tensor<512xf32, #D1> {
    %c = ttg.convert_layout %p : tensor<512x1xf32, #L2> -> tensor<512x1xf32, #C2>
    %r = tt.reshape %c : tensor<512x1xf32, #C2> -> tensor<512xf32, #D1>
    tt.return %r : tensor<512xf32, #D1>
  }
}
