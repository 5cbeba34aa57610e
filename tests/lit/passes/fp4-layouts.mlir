// RUN: ttc opt %s --tritongpu-remove-layout-conversions | FileCheck %s

// What layouts bytes of 4-bit floats and the floats have, and views that a pass chose with care.

#B = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#F = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#N = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#N2 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#R = #ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#MMA = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#DA = #ttg.dot_op<{opIdx = 0, parent = #MMA, kWidth = 8}>
#DB = #ttg.dot_op<{opIdx = 1, parent = #MMA, kWidth = 8}>
#S = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#P = #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [4, 2, 4], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#PS = #ttg.slice<{dim = 2, parent = #P}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // The conversion to an operand of a product moves up to the load: half as many bytes as floats, so half the kWidth.
  // CHECK-LABEL: @to_the_load(
  // CHECK: %[[L:.*]] = tt.load
  // CHECK: %[[C:.*]] = ttg.convert_layout %[[L]] : {{.*}} -> tensor<64x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
  // CHECK: %[[F:.*]] = ttg.fp4_to_fp %[[C]] {{.*}} -> tensor<64x64xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>>
  // CHECK: tt.dot %[[F]]
  tt.func public @to_the_load(%p: tensor<64x32x!tt.ptr<i8>, #B>, %b: tensor<64x64xbf16, #DB>, %c: tensor<64x64xf32, #MMA>) -> tensor<64x64xf32, #MMA> {
    %l = tt.load %p : tensor<64x32x!tt.ptr<i8>, #B>
    %f = ttg.fp4_to_fp %l {axis = 1 : i32} : tensor<64x32xi8, #B> -> tensor<64x64xbf16, #F>
    %a = ttg.convert_layout %f : tensor<64x64xbf16, #F> -> tensor<64x64xbf16, #DA>
    %d = tt.dot %a, %b, %c : tensor<64x64xbf16, #DA> * tensor<64x64xbf16, #DB> -> tensor<64x64xf32, #MMA>
    tt.return %d : tensor<64x64xf32, #MMA>
  }

  // No thread of an operand holds both rows of a byte: the floats are converted.
  // CHECK-LABEL: @rows_apart(
  // CHECK: %[[F:.*]] = ttg.fp4_to_fp %{{.*}} {axis = 0 : i32}
  // CHECK: %[[A:.*]] = ttg.convert_layout %[[F]] : {{.*}} -> tensor<64x64xbf16, #ttg.dot_op
  // CHECK: tt.dot %[[A]]
  tt.func public @rows_apart(%p: tensor<32x64x!tt.ptr<i8>, #N>, %b: tensor<64x64xbf16, #DB>, %c: tensor<64x64xf32, #MMA>) -> tensor<64x64xf32, #MMA> {
    %l = tt.load %p : tensor<32x64x!tt.ptr<i8>, #N>
    %f = ttg.fp4_to_fp %l {axis = 0 : i32} : tensor<32x64xi8, #N> -> tensor<64x64xbf16, #R>
    %a = ttg.convert_layout %f : tensor<64x64xbf16, #R> -> tensor<64x64xbf16, #DA>
    %d = tt.dot %a, %b, %c : tensor<64x64xbf16, #DA> * tensor<64x64xbf16, #DB> -> tensor<64x64xf32, #MMA>
    tt.return %d : tensor<64x64xf32, #MMA>
  }

  // The layout of a view marked as efficient stays; that of the load above it does not flow through.
  // CHECK-LABEL: @efficient(
  // CHECK: tt.reshape %{{.*}} efficient_layout : tensor<64x2xi8, #ttg.slice<{dim = 2, parent = #[[P:.*]]}>> -> tensor<64x2x1xi8, #[[P]]>
  tt.func public @efficient(%p: tensor<64x2x!tt.ptr<i8>, #S>, %q: tensor<64x64x!tt.ptr<i8>, #F>) {
    %l = tt.load %p : tensor<64x2x!tt.ptr<i8>, #S>
    %c = ttg.convert_layout %l : tensor<64x2xi8, #S> -> tensor<64x2xi8, #PS>
    %r = tt.reshape %c efficient_layout : tensor<64x2xi8, #PS> -> tensor<64x2x1xi8, #P>
    %b = tt.broadcast %r : tensor<64x2x1xi8, #P> -> tensor<64x2x32xi8, #P>
    %w = tt.reshape %b : tensor<64x2x32xi8, #P> -> tensor<64x64xi8, #F>
    tt.store %q, %w : tensor<64x64x!tt.ptr<i8>, #F>
    tt.return
  }

  // One scale for all of K: the view that adds the axis of the group has two axes of size 1, and the elements stay where they are.
  // CHECK-LABEL: @one_group(
  // CHECK: %[[C:.*]] = ttg.convert_layout {{.*}} : tensor<64x1xbf16, {{.*}} -> tensor<64x1xbf16, #[[S1:.*]]>
  // CHECK: %[[R:.*]] = tt.reshape %[[C]] efficient_layout : tensor<64x1xbf16, #[[S1]]> -> tensor<64x1x1xbf16, #[[G1:.*]]>
  // CHECK: %[[B:.*]] = tt.broadcast %[[R]] : tensor<64x1x1xbf16, #[[G1]]> -> tensor<64x1x32xbf16, #[[G1]]>
  // CHECK: %[[W:.*]] = tt.reshape %[[B]] : {{.*}} -> tensor<64x32xbf16, #ttg.dot_op
  // CHECK: tt.dot %[[W]]
  tt.func public @one_group(%s: tensor<64x1xbf16, #S>, %b: tensor<32x64xbf16, #DB>, %c: tensor<64x64xf32, #MMA>) -> tensor<64x64xf32, #MMA> {
    %n = ttg.convert_layout %s : tensor<64x1xbf16, #S> -> tensor<64x1xbf16, #PS>
    %r = tt.reshape %n efficient_layout : tensor<64x1xbf16, #PS> -> tensor<64x1x1xbf16, #P>
    %w = tt.broadcast %r : tensor<64x1x1xbf16, #P> -> tensor<64x1x32xbf16, #P>
    %f = tt.reshape %w : tensor<64x1x32xbf16, #P> -> tensor<64x32xbf16, #F>
    %a = ttg.convert_layout %f : tensor<64x32xbf16, #F> -> tensor<64x32xbf16, #DA>
    %d = tt.dot %a, %b, %c : tensor<64x32xbf16, #DA> * tensor<32x64xbf16, #DB> -> tensor<64x64xf32, #MMA>
    tt.return %d : tensor<64x64xf32, #MMA>
  }
}
