// RUN: ttc opt %s "--convert-triton-to-tritongpu=target=cuda:90 num-warps=4 threads-per-warp=32 num-ctas=4" | FileCheck %s

// With four blocks for two elements, blocks 2 and 3 of a vector hold copies, but blocks 1 and 3 of a matrix of one column
// do. A reshape moves nothing, so its source is converted.
// CHECK-DAG: #[[LINE:blocked[0-9]*]] = #ttg.blocked<{{.*}}order = [0], CGALayout = {{\[\[}}1], [0]]}>
// CHECK-DAG: #[[COLUMN:blocked[0-9]*]] = #ttg.blocked<{{.*}}order = [1, 0], CGALayout = {{\[\[}}0, 0], [1, 0]]}>
module {
  // CHECK-LABEL: @tiny(
  // CHECK: %[[X:.*]] = ttg.convert_layout %x : tensor<2xi32, #[[LINE]]> -> tensor<2xi32, #ttg.slice<{dim = 1, parent = #[[COLUMN]]}>>
  // CHECK: tt.reshape %[[X]] : tensor<2xi32, #ttg.slice<{dim = 1, parent = #[[COLUMN]]}>> -> tensor<2x1xi32, #[[COLUMN]]>
  tt.func public @tiny(%x: tensor<2xi32>) -> tensor<2x1xi32> {
    %r = tt.reshape %x : tensor<2xi32> -> tensor<2x1xi32>
    tt.return %r : tensor<2x1xi32>
  }
  // With elements for all, the default layouts agree.
  // CHECK-LABEL: @large(
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.reshape %x
  tt.func public @large(%x: tensor<4096xi32>) -> tensor<64x64xi32> {
    %r = tt.reshape %x : tensor<4096xi32> -> tensor<64x64xi32>
    tt.return %r : tensor<64x64xi32>
  }
}
