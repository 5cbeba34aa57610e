// RUN: ttc opt %s --canonicalize | FileCheck %s

// Operations that take their first operand in any layout lose its conversion (`Classes::READS_ANY_LAYOUT`). A mask, which
// has the operand's layout, is converted instead.

#A = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#B = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @histogram(
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.histogram %x : tensor<512xi32, #blocked>
  tt.func @histogram(%x: tensor<512xi32, #A>) -> tensor<256xi32, #B> {
    %y = ttg.convert_layout %x : tensor<512xi32, #A> -> tensor<512xi32, #B>
    %h = tt.histogram %y : tensor<512xi32, #B> -> tensor<256xi32, #B>
    tt.return %h : tensor<256xi32, #B>
  }

  // CHECK-LABEL: @masked_histogram(
  // CHECK: %[[M:.*]] = ttg.convert_layout %m : tensor<512xi1, #blocked1> -> tensor<512xi1, #blocked>
  // CHECK: tt.histogram %x, %[[M]] : tensor<512xi32, #blocked>
  tt.func @masked_histogram(%x: tensor<512xi32, #A>, %m: tensor<512xi1, #B>) -> tensor<256xi32, #B> {
    %y = ttg.convert_layout %x : tensor<512xi32, #A> -> tensor<512xi32, #B>
    %h = tt.histogram %y, %m : tensor<512xi32, #B> -> tensor<256xi32, #B>
    tt.return %h : tensor<256xi32, #B>
  }

  // CHECK-LABEL: @gather(
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.gather %x[%i]
  tt.func @gather(%x: tensor<512xf32, #A>, %i: tensor<512xi32, #B>) -> tensor<512xf32, #B> {
    %y = ttg.convert_layout %x : tensor<512xf32, #A> -> tensor<512xf32, #B>
    %g = tt.gather %y[%i] {axis = 0 : i32} : (tensor<512xf32, #B>, tensor<512xi32, #B>) -> tensor<512xf32, #B>
    tt.return %g : tensor<512xf32, #B>
  }

  // A gather whose layouts were chosen for it keeps them.
  // CHECK-LABEL: @chosen_gather(
  // CHECK: ttg.convert_layout
  // CHECK: tt.gather
  tt.func @chosen_gather(%x: tensor<512xf32, #A>, %i: tensor<512xi32, #B>) -> tensor<512xf32, #B> {
    %y = ttg.convert_layout %x : tensor<512xf32, #A> -> tensor<512xf32, #B>
    %g = tt.gather %y[%i] {axis = 0 : i32, efficient_layout} : (tensor<512xf32, #B>, tensor<512xi32, #B>) -> tensor<512xf32, #B>
    tt.return %g : tensor<512xf32, #B>
  }

  // The scan needs the layout that it is given.
  // CHECK-LABEL: @scan(
  // CHECK: ttg.convert_layout
  // CHECK: "tt.scan"
  tt.func @scan(%x: tensor<512xf32, #A>) -> tensor<512xf32, #B> {
    %y = ttg.convert_layout %x : tensor<512xf32, #A> -> tensor<512xf32, #B>
    %s = "tt.scan"(%y) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<512xf32, #B>) -> tensor<512xf32, #B>
    tt.return %s : tensor<512xf32, #B>
  }
}
