// Loops over K that fetch two steps at once.
// RUN: ttc opt %s --split-input-file --ttc-fuse-k-steps | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each module says what it must show. Random kernels keep what they compute
// (tests/suite/fused_steps.rs).

// The masks end where the loop does: each becomes one comparison with what is left of K.
module {
  // CHECK-LABEL: tt.func public @ends_with_the_loop(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  // CHECK-NEXT: %[[C64I32:[^ ,:)#]+]] = arith.constant 64 : i32
  // CHECK-NEXT: %[[CST:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
  // CHECK-NEXT: %[[C2I32:[^ ,:)#]+]] = arith.constant 2 : i32
  // CHECK-NEXT: %[[ACC:[^ ,:)#]+]] = arith.constant 2 : i64
  // CHECK-NEXT: %[[ACC0:[^ ,:)#]+]] = arith.constant dense<64> : tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC1:[^ ,:)#]+]] = arith.constant dense<32> : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC2:[^ ,:)#]+]] = arith.constant dense<32> : tensor<64xi32>
  // CHECK-NEXT: %[[C31I32:[^ ,:)#]+]] = arith.constant 31 : i32
  // CHECK-NEXT: %[[ACC3:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  // CHECK-NEXT: %[[CST4:[^ ,:)#]+]] = arith.constant dense<64> : tensor<64x1xi32>
  // CHECK-NEXT: %[[C32I32:[^ ,:)#]+]] = arith.constant 32 : i32
  // CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
  // CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK-NEXT: %[[PA:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PA5:[^ ,:)#]+]] = tt.splat %sa : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PA6:[^ ,:)#]+]] = arith.muli %[[PA]], %[[PA5]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[PA7:[^ ,:)#]+]] = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PA8:[^ ,:)#]+]] = tt.addptr %[[PA7]], %[[PA6]] : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[PB:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.addi %K, %[[C31I32]] : i32
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.divsi %[[V0]], %[[C32I32]] : i32
  // CHECK-NEXT: %[[PB9:[^ ,:)#]+]] = arith.muli %sb, %[[C32I32]] : i32
  // CHECK-NEXT: %[[ACC10:[^ ,:)#]+]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK-NEXT: %[[ACC11:[^ ,:)#]+]] = arith.remui %[[ACC10]], %[[ACC2]] : tensor<64xi32>
  // CHECK-NEXT: %[[ACC12:[^ ,:)#]+]] = arith.divui %[[ACC10]], %[[ACC2]] : tensor<64xi32>
  // CHECK-NEXT: %[[ACC13:[^ ,:)#]+]] = tt.broadcast %[[PA8]] : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PA14:[^ ,:)#]+]] = tt.expand_dims %[[ACC11]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC15:[^ ,:)#]+]] = tt.broadcast %[[PA14]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[PA16:[^ ,:)#]+]] = tt.addptr %[[ACC13]], %[[ACC15]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC17:[^ ,:)#]+]] = tt.splat %b : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PB18:[^ ,:)#]+]] = tt.expand_dims %[[ACC11]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC19:[^ ,:)#]+]] = tt.splat %sb : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PB20:[^ ,:)#]+]] = arith.muli %[[PB18]], %[[ACC19]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[PB21:[^ ,:)#]+]] = tt.addptr %[[ACC17]], %[[PB20]] : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC22:[^ ,:)#]+]] = tt.broadcast %[[PB21]] : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC23:[^ ,:)#]+]] = tt.broadcast %[[PB]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[PB24:[^ ,:)#]+]] = tt.addptr %[[ACC22]], %[[ACC23]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC25:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC26:[^ ,:)#]+]] = arith.muli %[[ACC25]], %[[ACC1]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC27:[^ ,:)#]+]] = tt.broadcast %[[ACC26]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC28:[^ ,:)#]+]] = tt.addptr %[[PA16]], %[[ACC27]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC29:[^ ,:)#]+]] = arith.extsi %[[PB9]] : i32 to i64
  // CHECK-NEXT: %[[ACC30:[^ ,:)#]+]] = tt.splat %[[ACC29]] : i64 -> tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC31:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC32:[^ ,:)#]+]] = arith.extsi %[[ACC31]] : tensor<64x1xi32> to tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC33:[^ ,:)#]+]] = arith.muli %[[ACC32]], %[[ACC30]] : tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC34:[^ ,:)#]+]] = tt.broadcast %[[ACC33]] : tensor<64x1xi64> -> tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC35:[^ ,:)#]+]] = tt.addptr %[[PB24]], %[[ACC34]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC36:[^ ,:)#]+]] = arith.extsi %[[PB9]] : i32 to i64
  // CHECK-NEXT: %[[ACC37:[^ ,:)#]+]] = arith.muli %[[ACC36]], %[[ACC]] : i64
  // CHECK-NEXT: %[[ACC38:[^ ,:)#]+]] = tt.splat %[[ACC37]] : i64 -> tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC39:[^ ,:)#]+]] = arith.divsi %[[V1]], %[[C2I32]] : i32
  // CHECK-NEXT: %[[ACC40:[^ ,:)#]+]] = arith.remsi %[[V1]], %[[C2I32]] : i32
  // CHECK-NEXT: %[[ACC41:[^ ,:)#]+]] = arith.cmpi sgt, %[[ACC40]], %[[C0I32]] : i32
  // CHECK-NEXT: %[[ACC42:[^ ,:)#]+]] = arith.extui %[[ACC41]] : i1 to i32
  // CHECK-NEXT: %[[ACC43:[^ ,:)#]+]] = arith.addi %[[ACC39]], %[[ACC42]] : i32
  // CHECK-NEXT: %[[ACC44:[^ ,:)#]+]]:3 = scf.for %[[K:[^ ,:)#]+]] = %[[C0I32]] to %[[ACC43]] step %[[C1I32]] iter_args(%[[PA45:[^ ,:)#]+]] = %[[ACC28]], %[[PB46:[^ ,:)#]+]] = %[[ACC35]], %[[ACC47:[^ ,:)#]+]] = %[[ACC3]]) -> (tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>)  : i32 {
  // CHECK-NEXT: %[[ACC48:[^ ,:)#]+]] = arith.muli %[[K]], %[[C64I32]] : i32
  // CHECK-NEXT: %[[ACC49:[^ ,:)#]+]] = arith.subi %K, %[[ACC48]] : i32
  // CHECK-NEXT: %[[ACC50:[^ ,:)#]+]] = tt.splat %[[ACC49]] : i32 -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC51:[^ ,:)#]+]] = tt.expand_dims %[[ACC10]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC52:[^ ,:)#]+]] = arith.cmpi slt, %[[ACC51]], %[[ACC50]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC53:[^ ,:)#]+]] = tt.broadcast %[[ACC52]] : tensor<1x64xi1> -> tensor<64x64xi1>
  // CHECK-NEXT: %[[ACC54:[^ ,:)#]+]] = tt.load %[[PA45]], %[[ACC53]], %[[CST]] : tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC55:[^ ,:)#]+]] = arith.muli %[[K]], %[[C64I32]] : i32
  // CHECK-NEXT: %[[ACC56:[^ ,:)#]+]] = arith.subi %K, %[[ACC55]] : i32
  // CHECK-NEXT: %[[ACC57:[^ ,:)#]+]] = tt.splat %[[ACC56]] : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC58:[^ ,:)#]+]] = tt.expand_dims %[[ACC10]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC59:[^ ,:)#]+]] = arith.cmpi slt, %[[ACC58]], %[[ACC57]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC60:[^ ,:)#]+]] = tt.broadcast %[[ACC59]] : tensor<64x1xi1> -> tensor<64x64xi1>
  // CHECK-NEXT: %[[ACC61:[^ ,:)#]+]] = tt.load %[[PB46]], %[[ACC60]], %[[CST]] : tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC62:[^ ,:)#]+]] = tt.dot %[[ACC54]], %[[ACC61]], %[[ACC47]], inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK-NEXT: %[[ACC63:[^ ,:)#]+]] = tt.addptr %[[PA45]], %[[ACC0]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC64:[^ ,:)#]+]] = tt.addptr %[[PB46]], %[[ACC38]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
  // CHECK-NEXT: scf.yield %[[ACC63]], %[[ACC64]], %[[ACC62]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>
  // CHECK-NEXT: } {tt.num_stages = 3 : i32}
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = arith.muli %[[PA]], %[[CST4]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = tt.addptr %[[V3]], %[[V2]] : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = tt.broadcast %[[V4]] : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V6:[^ ,:)#]+]] = tt.broadcast %[[PB]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[V7:[^ ,:)#]+]] = tt.addptr %[[V5]], %[[V6]] : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  // CHECK-NEXT: tt.store %[[V7]], %[[ACC44]]#2 : tensor<64x64x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @ends_with_the_loop(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c31_i32 = arith.constant 31 : i32
    %acc = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<32x64xf16>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
    %cst_1 = arith.constant dense<64> : tensor<64x1xi32>
    %cst_2 = arith.constant dense<32> : tensor<64x32xi32>
    %c32_i32 = arith.constant 32 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %rm = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rk = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %pa = tt.expand_dims %rm {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %pa_3 = tt.splat %sa : i32 -> tensor<64x1xi32>
    %pa_4 = arith.muli %pa, %pa_3 : tensor<64x1xi32>
    %pa_5 = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %pa_6 = tt.addptr %pa_5, %pa_4 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %pa_7 = tt.expand_dims %rk {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %pa_8 = tt.broadcast %pa_6 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
    %pa_9 = tt.broadcast %pa_7 : tensor<1x32xi32> -> tensor<64x32xi32>
    %pa_10 = tt.addptr %pa_8, %pa_9 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %pb = tt.expand_dims %rk {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %pb_11 = tt.splat %sb : i32 -> tensor<32x1xi32>
    %pb_12 = arith.muli %pb, %pb_11 : tensor<32x1xi32>
    %pb_13 = tt.splat %b : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %pb_14 = tt.addptr %pb_13, %pb_12 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %pb_15 = tt.expand_dims %rm {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %pb_16 = tt.broadcast %pb_14 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
    %pb_17 = tt.broadcast %pb_15 : tensor<1x64xi32> -> tensor<32x64xi32>
    %pb_18 = tt.addptr %pb_16, %pb_17 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %0 = arith.addi %K, %c31_i32 : i32
    %1 = arith.divsi %0, %c32_i32 : i32
    %acc_19:3 = scf.for %k = %c0_i32 to %1 step %c1_i32 iter_args(%pa_20 = %pa_10, %pb_21 = %pb_18, %acc_22 = %acc) -> (tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>, tensor<64x64xf32>)  : i32 {
      %acc_23 = arith.muli %k, %c32_i32 : i32
      %acc_24 = arith.subi %K, %acc_23 : i32
      %acc_25 = tt.splat %acc_24 : i32 -> tensor<1x32xi32>
      %acc_26 = arith.cmpi slt, %pa_7, %acc_25 : tensor<1x32xi32>
      %acc_27 = tt.broadcast %acc_26 : tensor<1x32xi1> -> tensor<64x32xi1>
      %acc_28 = tt.load %pa_20, %acc_27, %cst_0 : tensor<64x32x!tt.ptr<f16>>
      %acc_29 = tt.splat %acc_24 : i32 -> tensor<32x1xi32>
      %acc_30 = arith.cmpi slt, %pb, %acc_29 : tensor<32x1xi32>
      %acc_31 = tt.broadcast %acc_30 : tensor<32x1xi1> -> tensor<32x64xi1>
      %acc_32 = tt.load %pb_21, %acc_31, %cst : tensor<32x64x!tt.ptr<f16>>
      %acc_33 = tt.dot %acc_28, %acc_32, %acc_22, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %pa_34 = tt.addptr %pa_20, %cst_2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %pb_35 = arith.muli %sb, %c32_i32 : i32
      %pb_36 = tt.splat %pb_35 : i32 -> tensor<32x64xi32>
      %pb_37 = tt.addptr %pb_21, %pb_36 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
      scf.yield %pa_34, %pb_37, %acc_33 : tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>, tensor<64x64xf32>
    }
    %2 = arith.muli %pa, %cst_1 : tensor<64x1xi32>
    %3 = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %4 = tt.addptr %3, %2 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %5 = tt.broadcast %4 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %6 = tt.broadcast %pb_15 : tensor<1x64xi32> -> tensor<64x64xi32>
    %7 = tt.addptr %5, %6 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %7, %acc_19#2 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// The same, in a loop over columns.
module {
  // CHECK-LABEL: tt.func public @counts_columns(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  // CHECK-NEXT: %[[C64I32:[^ ,:)#]+]] = arith.constant 64 : i32
  // CHECK-NEXT: %[[CST:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
  // CHECK-NEXT: %[[C2I32:[^ ,:)#]+]] = arith.constant 2 : i32
  // CHECK-NEXT: %[[ACC:[^ ,:)#]+]] = arith.constant 1 : i32
  // CHECK-NEXT: %[[ACC0:[^ ,:)#]+]] = arith.constant 2 : i64
  // CHECK-NEXT: %[[ACC1:[^ ,:)#]+]] = arith.constant dense<64> : tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC2:[^ ,:)#]+]] = arith.constant dense<32> : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC3:[^ ,:)#]+]] = arith.constant dense<32> : tensor<64xi32>
  // CHECK-NEXT: %[[ACC4:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  // CHECK-NEXT: %[[CST5:[^ ,:)#]+]] = arith.constant dense<64> : tensor<64x1xi32>
  // CHECK-NEXT: %[[C32I32:[^ ,:)#]+]] = arith.constant 32 : i32
  // CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK-NEXT: %[[PA:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PA6:[^ ,:)#]+]] = tt.splat %sa : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PA7:[^ ,:)#]+]] = arith.muli %[[PA]], %[[PA6]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[PA8:[^ ,:)#]+]] = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PA9:[^ ,:)#]+]] = tt.addptr %[[PA8]], %[[PA7]] : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[PB:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[PB10:[^ ,:)#]+]] = arith.muli %sb, %[[C32I32]] : i32
  // CHECK-NEXT: %[[ACC11:[^ ,:)#]+]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK-NEXT: %[[ACC12:[^ ,:)#]+]] = arith.remui %[[ACC11]], %[[ACC3]] : tensor<64xi32>
  // CHECK-NEXT: %[[ACC13:[^ ,:)#]+]] = arith.divui %[[ACC11]], %[[ACC3]] : tensor<64xi32>
  // CHECK-NEXT: %[[ACC14:[^ ,:)#]+]] = arith.divsi %K, %[[C32I32]] : i32
  // CHECK-NEXT: %[[ACC15:[^ ,:)#]+]] = arith.remsi %K, %[[C32I32]] : i32
  // CHECK-NEXT: %[[ACC16:[^ ,:)#]+]] = arith.cmpi sgt, %[[ACC15]], %[[C0I32]] : i32
  // CHECK-NEXT: %[[ACC17:[^ ,:)#]+]] = arith.extui %[[ACC16]] : i1 to i32
  // CHECK-NEXT: %[[ACC18:[^ ,:)#]+]] = arith.addi %[[ACC14]], %[[ACC17]] : i32
  // CHECK-NEXT: %[[ACC19:[^ ,:)#]+]] = tt.broadcast %[[PA9]] : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PA20:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC21:[^ ,:)#]+]] = tt.broadcast %[[PA20]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[PA22:[^ ,:)#]+]] = tt.addptr %[[ACC19]], %[[ACC21]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC23:[^ ,:)#]+]] = tt.splat %b : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PB24:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC25:[^ ,:)#]+]] = tt.splat %sb : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PB26:[^ ,:)#]+]] = arith.muli %[[PB24]], %[[ACC25]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[PB27:[^ ,:)#]+]] = tt.addptr %[[ACC23]], %[[PB26]] : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC28:[^ ,:)#]+]] = tt.broadcast %[[PB27]] : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC29:[^ ,:)#]+]] = tt.broadcast %[[PB]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[PB30:[^ ,:)#]+]] = tt.addptr %[[ACC28]], %[[ACC29]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC31:[^ ,:)#]+]] = tt.expand_dims %[[ACC13]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC32:[^ ,:)#]+]] = arith.muli %[[ACC31]], %[[ACC2]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC33:[^ ,:)#]+]] = tt.broadcast %[[ACC32]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC34:[^ ,:)#]+]] = tt.addptr %[[PA22]], %[[ACC33]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC35:[^ ,:)#]+]] = arith.extsi %[[PB10]] : i32 to i64
  // CHECK-NEXT: %[[ACC36:[^ ,:)#]+]] = tt.splat %[[ACC35]] : i64 -> tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC37:[^ ,:)#]+]] = tt.expand_dims %[[ACC13]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC38:[^ ,:)#]+]] = arith.extsi %[[ACC37]] : tensor<64x1xi32> to tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC39:[^ ,:)#]+]] = arith.muli %[[ACC38]], %[[ACC36]] : tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC40:[^ ,:)#]+]] = tt.broadcast %[[ACC39]] : tensor<64x1xi64> -> tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC41:[^ ,:)#]+]] = tt.addptr %[[PB30]], %[[ACC40]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC42:[^ ,:)#]+]] = arith.extsi %[[PB10]] : i32 to i64
  // CHECK-NEXT: %[[ACC43:[^ ,:)#]+]] = arith.muli %[[ACC42]], %[[ACC0]] : i64
  // CHECK-NEXT: %[[ACC44:[^ ,:)#]+]] = tt.splat %[[ACC43]] : i64 -> tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC45:[^ ,:)#]+]] = arith.divsi %[[ACC18]], %[[C2I32]] : i32
  // CHECK-NEXT: %[[ACC46:[^ ,:)#]+]] = arith.remsi %[[ACC18]], %[[C2I32]] : i32
  // CHECK-NEXT: %[[ACC47:[^ ,:)#]+]] = arith.cmpi sgt, %[[ACC46]], %[[C0I32]] : i32
  // CHECK-NEXT: %[[ACC48:[^ ,:)#]+]] = arith.extui %[[ACC47]] : i1 to i32
  // CHECK-NEXT: %[[ACC49:[^ ,:)#]+]] = arith.addi %[[ACC45]], %[[ACC48]] : i32
  // CHECK-NEXT: %[[ACC50:[^ ,:)#]+]]:3 = scf.for %[[K:[^ ,:)#]+]] = %[[C0I32]] to %[[ACC49]] step %[[ACC]] iter_args(%[[PA51:[^ ,:)#]+]] = %[[ACC34]], %[[PB52:[^ ,:)#]+]] = %[[ACC41]], %[[ACC53:[^ ,:)#]+]] = %[[ACC4]]) -> (tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>)  : i32 {
  // CHECK-NEXT: %[[ACC54:[^ ,:)#]+]] = arith.muli %[[K]], %[[C64I32]] : i32
  // CHECK-NEXT: %[[ACC55:[^ ,:)#]+]] = arith.subi %K, %[[ACC54]] : i32
  // CHECK-NEXT: %[[ACC56:[^ ,:)#]+]] = tt.splat %[[ACC55]] : i32 -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC57:[^ ,:)#]+]] = tt.expand_dims %[[ACC11]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC58:[^ ,:)#]+]] = arith.cmpi slt, %[[ACC57]], %[[ACC56]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC59:[^ ,:)#]+]] = tt.broadcast %[[ACC58]] : tensor<1x64xi1> -> tensor<64x64xi1>
  // CHECK-NEXT: %[[ACC60:[^ ,:)#]+]] = tt.load %[[PA51]], %[[ACC59]], %[[CST]] : tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC61:[^ ,:)#]+]] = arith.muli %[[K]], %[[C64I32]] : i32
  // CHECK-NEXT: %[[ACC62:[^ ,:)#]+]] = arith.subi %K, %[[ACC61]] : i32
  // CHECK-NEXT: %[[ACC63:[^ ,:)#]+]] = tt.splat %[[ACC62]] : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC64:[^ ,:)#]+]] = tt.expand_dims %[[ACC11]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC65:[^ ,:)#]+]] = arith.cmpi slt, %[[ACC64]], %[[ACC63]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC66:[^ ,:)#]+]] = tt.broadcast %[[ACC65]] : tensor<64x1xi1> -> tensor<64x64xi1>
  // CHECK-NEXT: %[[ACC67:[^ ,:)#]+]] = tt.load %[[PB52]], %[[ACC66]], %[[CST]] : tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC68:[^ ,:)#]+]] = tt.dot %[[ACC60]], %[[ACC67]], %[[ACC53]], inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK-NEXT: %[[ACC69:[^ ,:)#]+]] = tt.addptr %[[PA51]], %[[ACC1]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC70:[^ ,:)#]+]] = tt.addptr %[[PB52]], %[[ACC44]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
  // CHECK-NEXT: scf.yield %[[ACC69]], %[[ACC70]], %[[ACC68]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>
  // CHECK-NEXT: } {tt.num_stages = 3 : i32}
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.muli %[[PA]], %[[CST5]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = tt.addptr %[[V1]], %[[V0]] : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = tt.broadcast %[[V2]] : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = tt.broadcast %[[PB]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = tt.addptr %[[V3]], %[[V4]] : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  // CHECK-NEXT: tt.store %[[V5]], %[[ACC50]]#2 : tensor<64x64x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @counts_columns(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<32x64xf16>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
    %cst_1 = arith.constant dense<64> : tensor<64x1xi32>
    %cst_2 = arith.constant dense<32> : tensor<64x32xi32>
    %c32_i32 = arith.constant 32 : i32
    %c0_i32 = arith.constant 0 : i32
    %rm = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rk = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %pa = tt.expand_dims %rm {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %pa_3 = tt.splat %sa : i32 -> tensor<64x1xi32>
    %pa_4 = arith.muli %pa, %pa_3 : tensor<64x1xi32>
    %pa_5 = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %pa_6 = tt.addptr %pa_5, %pa_4 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %pa_7 = tt.expand_dims %rk {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %pa_8 = tt.broadcast %pa_6 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
    %pa_9 = tt.broadcast %pa_7 : tensor<1x32xi32> -> tensor<64x32xi32>
    %pa_10 = tt.addptr %pa_8, %pa_9 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %pb = tt.expand_dims %rk {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %pb_11 = tt.splat %sb : i32 -> tensor<32x1xi32>
    %pb_12 = arith.muli %pb, %pb_11 : tensor<32x1xi32>
    %pb_13 = tt.splat %b : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %pb_14 = tt.addptr %pb_13, %pb_12 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %pb_15 = tt.expand_dims %rm {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %pb_16 = tt.broadcast %pb_14 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
    %pb_17 = tt.broadcast %pb_15 : tensor<1x64xi32> -> tensor<32x64xi32>
    %pb_18 = tt.addptr %pb_16, %pb_17 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %acc_19:3 = scf.for %k = %c0_i32 to %K step %c32_i32 iter_args(%pa_20 = %pa_10, %pb_21 = %pb_18, %acc_22 = %acc) -> (tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>, tensor<64x64xf32>)  : i32 {
      %acc_23 = tt.splat %k : i32 -> tensor<1x32xi32>
      %acc_24 = arith.addi %acc_23, %pa_7 : tensor<1x32xi32>
      %acc_25 = tt.splat %K : i32 -> tensor<1x32xi32>
      %acc_26 = arith.cmpi slt, %acc_24, %acc_25 : tensor<1x32xi32>
      %acc_27 = tt.broadcast %acc_26 : tensor<1x32xi1> -> tensor<64x32xi1>
      %acc_28 = tt.load %pa_20, %acc_27, %cst_0 : tensor<64x32x!tt.ptr<f16>>
      %acc_29 = tt.splat %k : i32 -> tensor<32x1xi32>
      %acc_30 = arith.addi %acc_29, %pb : tensor<32x1xi32>
      %acc_31 = tt.splat %K : i32 -> tensor<32x1xi32>
      %acc_32 = arith.cmpi slt, %acc_30, %acc_31 : tensor<32x1xi32>
      %acc_33 = tt.broadcast %acc_32 : tensor<32x1xi1> -> tensor<32x64xi1>
      %acc_34 = tt.load %pb_21, %acc_33, %cst : tensor<32x64x!tt.ptr<f16>>
      %acc_35 = tt.dot %acc_28, %acc_34, %acc_22, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %pa_36 = tt.addptr %pa_20, %cst_2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %pb_37 = arith.muli %sb, %c32_i32 : i32
      %pb_38 = tt.splat %pb_37 : i32 -> tensor<32x64xi32>
      %pb_39 = tt.addptr %pb_21, %pb_38 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
      scf.yield %pa_36, %pb_39, %acc_35 : tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>, tensor<64x64xf32>
    }
    %0 = arith.muli %pa, %cst_1 : tensor<64x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %3 = tt.broadcast %2 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %4 = tt.broadcast %pb_15 : tensor<1x64xi32> -> tensor<64x64xi32>
    %5 = tt.addptr %3, %4 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %5, %acc_19#2 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// No masks: an odd number of steps leaves half of the last round, whose columns are masked out.
module {
  // CHECK-LABEL: tt.func public @no_mask(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  // CHECK-NEXT: %[[CST:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
  // CHECK-NEXT: %[[C2I32:[^ ,:)#]+]] = arith.constant 2 : i32
  // CHECK-NEXT: %[[ACC:[^ ,:)#]+]] = arith.constant 2 : i64
  // CHECK-NEXT: %[[ACC0:[^ ,:)#]+]] = arith.constant dense<64> : tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC1:[^ ,:)#]+]] = arith.constant dense<32> : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC2:[^ ,:)#]+]] = arith.constant dense<32> : tensor<64xi32>
  // CHECK-NEXT: %[[ACC3:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  // CHECK-NEXT: %[[CST4:[^ ,:)#]+]] = arith.constant dense<64> : tensor<64x1xi32>
  // CHECK-NEXT: %[[C32I32:[^ ,:)#]+]] = arith.constant 32 : i32
  // CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
  // CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK-NEXT: %[[PA:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PA5:[^ ,:)#]+]] = tt.splat %sa : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PA6:[^ ,:)#]+]] = arith.muli %[[PA]], %[[PA5]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[PA7:[^ ,:)#]+]] = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PA8:[^ ,:)#]+]] = tt.addptr %[[PA7]], %[[PA6]] : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[PB:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[PB9:[^ ,:)#]+]] = arith.muli %sb, %[[C32I32]] : i32
  // CHECK-NEXT: %[[ACC10:[^ ,:)#]+]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK-NEXT: %[[ACC11:[^ ,:)#]+]] = arith.remui %[[ACC10]], %[[ACC2]] : tensor<64xi32>
  // CHECK-NEXT: %[[ACC12:[^ ,:)#]+]] = arith.divui %[[ACC10]], %[[ACC2]] : tensor<64xi32>
  // CHECK-NEXT: %[[ACC13:[^ ,:)#]+]] = tt.broadcast %[[PA8]] : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PA14:[^ ,:)#]+]] = tt.expand_dims %[[ACC11]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC15:[^ ,:)#]+]] = tt.broadcast %[[PA14]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[PA16:[^ ,:)#]+]] = tt.addptr %[[ACC13]], %[[ACC15]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC17:[^ ,:)#]+]] = tt.splat %b : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PB18:[^ ,:)#]+]] = tt.expand_dims %[[ACC11]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC19:[^ ,:)#]+]] = tt.splat %sb : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PB20:[^ ,:)#]+]] = arith.muli %[[PB18]], %[[ACC19]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[PB21:[^ ,:)#]+]] = tt.addptr %[[ACC17]], %[[PB20]] : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC22:[^ ,:)#]+]] = tt.broadcast %[[PB21]] : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC23:[^ ,:)#]+]] = tt.broadcast %[[PB]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[PB24:[^ ,:)#]+]] = tt.addptr %[[ACC22]], %[[ACC23]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC25:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC26:[^ ,:)#]+]] = arith.muli %[[ACC25]], %[[ACC1]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC27:[^ ,:)#]+]] = tt.broadcast %[[ACC26]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC28:[^ ,:)#]+]] = tt.addptr %[[PA16]], %[[ACC27]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC29:[^ ,:)#]+]] = arith.extsi %[[PB9]] : i32 to i64
  // CHECK-NEXT: %[[ACC30:[^ ,:)#]+]] = tt.splat %[[ACC29]] : i64 -> tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC31:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC32:[^ ,:)#]+]] = arith.extsi %[[ACC31]] : tensor<64x1xi32> to tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC33:[^ ,:)#]+]] = arith.muli %[[ACC32]], %[[ACC30]] : tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC34:[^ ,:)#]+]] = tt.broadcast %[[ACC33]] : tensor<64x1xi64> -> tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC35:[^ ,:)#]+]] = tt.addptr %[[PB24]], %[[ACC34]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC36:[^ ,:)#]+]] = arith.extsi %[[PB9]] : i32 to i64
  // CHECK-NEXT: %[[ACC37:[^ ,:)#]+]] = arith.muli %[[ACC36]], %[[ACC]] : i64
  // CHECK-NEXT: %[[ACC38:[^ ,:)#]+]] = tt.splat %[[ACC37]] : i64 -> tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC39:[^ ,:)#]+]] = arith.divsi %K, %[[C2I32]] : i32
  // CHECK-NEXT: %[[ACC40:[^ ,:)#]+]] = arith.remsi %K, %[[C2I32]] : i32
  // CHECK-NEXT: %[[ACC41:[^ ,:)#]+]] = arith.cmpi sgt, %[[ACC40]], %[[C0I32]] : i32
  // CHECK-NEXT: %[[ACC42:[^ ,:)#]+]] = arith.extui %[[ACC41]] : i1 to i32
  // CHECK-NEXT: %[[ACC43:[^ ,:)#]+]] = arith.addi %[[ACC39]], %[[ACC42]] : i32
  // CHECK-NEXT: %[[ACC44:[^ ,:)#]+]]:3 = scf.for %[[K:[^ ,:)#]+]] = %[[C0I32]] to %[[ACC43]] step %[[C1I32]] iter_args(%[[PA45:[^ ,:)#]+]] = %[[ACC28]], %[[PB46:[^ ,:)#]+]] = %[[ACC35]], %[[ACC47:[^ ,:)#]+]] = %[[ACC3]]) -> (tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>)  : i32 {
  // CHECK-NEXT: %[[ACC48:[^ ,:)#]+]] = arith.muli %[[K]], %[[C2I32]] : i32
  // CHECK-NEXT: %[[ACC49:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC50:[^ ,:)#]+]] = tt.splat %[[ACC48]] : i32 -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC51:[^ ,:)#]+]] = arith.addi %[[ACC50]], %[[ACC49]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC52:[^ ,:)#]+]] = tt.splat %K : i32 -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC53:[^ ,:)#]+]] = arith.cmpi slt, %[[ACC51]], %[[ACC52]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC54:[^ ,:)#]+]] = tt.broadcast %[[ACC53]] : tensor<1x64xi1> -> tensor<64x64xi1>
  // CHECK-NEXT: %[[ACC55:[^ ,:)#]+]] = tt.load %[[PA45]], %[[ACC54]], %[[CST]] : tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC56:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC57:[^ ,:)#]+]] = tt.splat %[[ACC48]] : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC58:[^ ,:)#]+]] = arith.addi %[[ACC57]], %[[ACC56]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC59:[^ ,:)#]+]] = tt.splat %K : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC60:[^ ,:)#]+]] = arith.cmpi slt, %[[ACC58]], %[[ACC59]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC61:[^ ,:)#]+]] = tt.broadcast %[[ACC60]] : tensor<64x1xi1> -> tensor<64x64xi1>
  // CHECK-NEXT: %[[ACC62:[^ ,:)#]+]] = tt.load %[[PB46]], %[[ACC61]], %[[CST]] : tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC63:[^ ,:)#]+]] = tt.dot %[[ACC55]], %[[ACC62]], %[[ACC47]], inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK-NEXT: %[[ACC64:[^ ,:)#]+]] = tt.addptr %[[PA45]], %[[ACC0]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC65:[^ ,:)#]+]] = tt.addptr %[[PB46]], %[[ACC38]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
  // CHECK-NEXT: scf.yield %[[ACC64]], %[[ACC65]], %[[ACC63]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>
  // CHECK-NEXT: } {tt.num_stages = 3 : i32}
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.muli %[[PA]], %[[CST4]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = tt.addptr %[[V1]], %[[V0]] : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = tt.broadcast %[[V2]] : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = tt.broadcast %[[PB]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = tt.addptr %[[V3]], %[[V4]] : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  // CHECK-NEXT: tt.store %[[V5]], %[[ACC44]]#2 : tensor<64x64x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @no_mask(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst = arith.constant dense<64> : tensor<64x1xi32>
    %cst_0 = arith.constant dense<32> : tensor<64x32xi32>
    %c32_i32 = arith.constant 32 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %rm = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rk = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %pa = tt.expand_dims %rm {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %pa_1 = tt.splat %sa : i32 -> tensor<64x1xi32>
    %pa_2 = arith.muli %pa, %pa_1 : tensor<64x1xi32>
    %pa_3 = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %pa_4 = tt.addptr %pa_3, %pa_2 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %pa_5 = tt.expand_dims %rk {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %pa_6 = tt.broadcast %pa_4 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
    %pa_7 = tt.broadcast %pa_5 : tensor<1x32xi32> -> tensor<64x32xi32>
    %pa_8 = tt.addptr %pa_6, %pa_7 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %pb = tt.expand_dims %rk {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %pb_9 = tt.splat %sb : i32 -> tensor<32x1xi32>
    %pb_10 = arith.muli %pb, %pb_9 : tensor<32x1xi32>
    %pb_11 = tt.splat %b : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %pb_12 = tt.addptr %pb_11, %pb_10 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %pb_13 = tt.expand_dims %rm {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %pb_14 = tt.broadcast %pb_12 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
    %pb_15 = tt.broadcast %pb_13 : tensor<1x64xi32> -> tensor<32x64xi32>
    %pb_16 = tt.addptr %pb_14, %pb_15 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %acc_17:3 = scf.for %k = %c0_i32 to %K step %c1_i32 iter_args(%pa_18 = %pa_8, %pb_19 = %pb_16, %acc_20 = %acc) -> (tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>, tensor<64x64xf32>)  : i32 {
      %acc_21 = tt.load %pa_18 : tensor<64x32x!tt.ptr<f16>>
      %acc_22 = tt.load %pb_19 : tensor<32x64x!tt.ptr<f16>>
      %acc_23 = tt.dot %acc_21, %acc_22, %acc_20, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %pa_24 = tt.addptr %pa_18, %cst_0 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %pb_25 = arith.muli %sb, %c32_i32 : i32
      %pb_26 = tt.splat %pb_25 : i32 -> tensor<32x64xi32>
      %pb_27 = tt.addptr %pb_19, %pb_26 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
      scf.yield %pa_24, %pb_27, %acc_23 : tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>, tensor<64x64xf32>
    }
    %0 = arith.muli %pa, %cst : tensor<64x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %3 = tt.broadcast %2 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %4 = tt.broadcast %pb_13 : tensor<1x64xi32> -> tensor<64x64xi32>
    %5 = tt.addptr %3, %4 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %5, %acc_17#2 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// An even number of steps, no mask.
module {
  // CHECK-LABEL: tt.func public @even(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  // CHECK-NEXT: %[[ACC:[^ ,:)#]+]] = arith.constant 4 : i32
  // CHECK-NEXT: %[[ACC0:[^ ,:)#]+]] = arith.constant 2 : i64
  // CHECK-NEXT: %[[ACC1:[^ ,:)#]+]] = arith.constant dense<64> : tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC2:[^ ,:)#]+]] = arith.constant dense<32> : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC3:[^ ,:)#]+]] = arith.constant dense<32> : tensor<64xi32>
  // CHECK-NEXT: %[[ACC4:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  // CHECK-NEXT: %[[CST:[^ ,:)#]+]] = arith.constant dense<64> : tensor<64x1xi32>
  // CHECK-NEXT: %[[C32I32:[^ ,:)#]+]] = arith.constant 32 : i32
  // CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
  // CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK-NEXT: %[[PA:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PA5:[^ ,:)#]+]] = tt.splat %sa : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PA6:[^ ,:)#]+]] = arith.muli %[[PA]], %[[PA5]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[PA7:[^ ,:)#]+]] = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PA8:[^ ,:)#]+]] = tt.addptr %[[PA7]], %[[PA6]] : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[PB:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[PB9:[^ ,:)#]+]] = arith.muli %sb, %[[C32I32]] : i32
  // CHECK-NEXT: %[[ACC10:[^ ,:)#]+]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK-NEXT: %[[ACC11:[^ ,:)#]+]] = arith.remui %[[ACC10]], %[[ACC3]] : tensor<64xi32>
  // CHECK-NEXT: %[[ACC12:[^ ,:)#]+]] = arith.divui %[[ACC10]], %[[ACC3]] : tensor<64xi32>
  // CHECK-NEXT: %[[ACC13:[^ ,:)#]+]] = tt.broadcast %[[PA8]] : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PA14:[^ ,:)#]+]] = tt.expand_dims %[[ACC11]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC15:[^ ,:)#]+]] = tt.broadcast %[[PA14]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[PA16:[^ ,:)#]+]] = tt.addptr %[[ACC13]], %[[ACC15]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC17:[^ ,:)#]+]] = tt.splat %b : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PB18:[^ ,:)#]+]] = tt.expand_dims %[[ACC11]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC19:[^ ,:)#]+]] = tt.splat %sb : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PB20:[^ ,:)#]+]] = arith.muli %[[PB18]], %[[ACC19]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[PB21:[^ ,:)#]+]] = tt.addptr %[[ACC17]], %[[PB20]] : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC22:[^ ,:)#]+]] = tt.broadcast %[[PB21]] : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC23:[^ ,:)#]+]] = tt.broadcast %[[PB]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[PB24:[^ ,:)#]+]] = tt.addptr %[[ACC22]], %[[ACC23]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC25:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC26:[^ ,:)#]+]] = arith.muli %[[ACC25]], %[[ACC2]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC27:[^ ,:)#]+]] = tt.broadcast %[[ACC26]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC28:[^ ,:)#]+]] = tt.addptr %[[PA16]], %[[ACC27]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC29:[^ ,:)#]+]] = arith.extsi %[[PB9]] : i32 to i64
  // CHECK-NEXT: %[[ACC30:[^ ,:)#]+]] = tt.splat %[[ACC29]] : i64 -> tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC31:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC32:[^ ,:)#]+]] = arith.extsi %[[ACC31]] : tensor<64x1xi32> to tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC33:[^ ,:)#]+]] = arith.muli %[[ACC32]], %[[ACC30]] : tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC34:[^ ,:)#]+]] = tt.broadcast %[[ACC33]] : tensor<64x1xi64> -> tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC35:[^ ,:)#]+]] = tt.addptr %[[PB24]], %[[ACC34]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC36:[^ ,:)#]+]] = arith.extsi %[[PB9]] : i32 to i64
  // CHECK-NEXT: %[[ACC37:[^ ,:)#]+]] = arith.muli %[[ACC36]], %[[ACC0]] : i64
  // CHECK-NEXT: %[[ACC38:[^ ,:)#]+]] = tt.splat %[[ACC37]] : i64 -> tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC39:[^ ,:)#]+]]:3 = scf.for %[[K:[^ ,:)#]+]] = %[[C0I32]] to %[[ACC]] step %[[C1I32]] iter_args(%[[PA40:[^ ,:)#]+]] = %[[ACC28]], %[[PB41:[^ ,:)#]+]] = %[[ACC35]], %[[ACC42:[^ ,:)#]+]] = %[[ACC4]]) -> (tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>)  : i32 {
  // CHECK-NEXT: %[[ACC43:[^ ,:)#]+]] = tt.load %[[PA40]] : tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC44:[^ ,:)#]+]] = tt.load %[[PB41]] : tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC45:[^ ,:)#]+]] = tt.dot %[[ACC43]], %[[ACC44]], %[[ACC42]], inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK-NEXT: %[[ACC46:[^ ,:)#]+]] = tt.addptr %[[PA40]], %[[ACC1]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC47:[^ ,:)#]+]] = tt.addptr %[[PB41]], %[[ACC38]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
  // CHECK-NEXT: scf.yield %[[ACC46]], %[[ACC47]], %[[ACC45]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>
  // CHECK-NEXT: } {tt.num_stages = 3 : i32}
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.muli %[[PA]], %[[CST]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = tt.addptr %[[V1]], %[[V0]] : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = tt.broadcast %[[V2]] : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = tt.broadcast %[[PB]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = tt.addptr %[[V3]], %[[V4]] : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  // CHECK-NEXT: tt.store %[[V5]], %[[ACC39]]#2 : tensor<64x64x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @even(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst = arith.constant dense<64> : tensor<64x1xi32>
    %cst_0 = arith.constant dense<32> : tensor<64x32xi32>
    %c32_i32 = arith.constant 32 : i32
    %c1_i32 = arith.constant 1 : i32
    %c8_i32 = arith.constant 8 : i32
    %c0_i32 = arith.constant 0 : i32
    %rm = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rk = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %pa = tt.expand_dims %rm {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %pa_1 = tt.splat %sa : i32 -> tensor<64x1xi32>
    %pa_2 = arith.muli %pa, %pa_1 : tensor<64x1xi32>
    %pa_3 = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %pa_4 = tt.addptr %pa_3, %pa_2 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %pa_5 = tt.expand_dims %rk {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %pa_6 = tt.broadcast %pa_4 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
    %pa_7 = tt.broadcast %pa_5 : tensor<1x32xi32> -> tensor<64x32xi32>
    %pa_8 = tt.addptr %pa_6, %pa_7 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %pb = tt.expand_dims %rk {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %pb_9 = tt.splat %sb : i32 -> tensor<32x1xi32>
    %pb_10 = arith.muli %pb, %pb_9 : tensor<32x1xi32>
    %pb_11 = tt.splat %b : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %pb_12 = tt.addptr %pb_11, %pb_10 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %pb_13 = tt.expand_dims %rm {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %pb_14 = tt.broadcast %pb_12 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
    %pb_15 = tt.broadcast %pb_13 : tensor<1x64xi32> -> tensor<32x64xi32>
    %pb_16 = tt.addptr %pb_14, %pb_15 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %acc_17:3 = scf.for %k = %c0_i32 to %c8_i32 step %c1_i32 iter_args(%pa_18 = %pa_8, %pb_19 = %pb_16, %acc_20 = %acc) -> (tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>, tensor<64x64xf32>)  : i32 {
      %acc_21 = tt.load %pa_18 : tensor<64x32x!tt.ptr<f16>>
      %acc_22 = tt.load %pb_19 : tensor<32x64x!tt.ptr<f16>>
      %acc_23 = tt.dot %acc_21, %acc_22, %acc_20, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %pa_24 = tt.addptr %pa_18, %cst_0 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %pb_25 = arith.muli %sb, %c32_i32 : i32
      %pb_26 = tt.splat %pb_25 : i32 -> tensor<32x64xi32>
      %pb_27 = tt.addptr %pb_19, %pb_26 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
      scf.yield %pa_24, %pb_27, %acc_23 : tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>, tensor<64x64xf32>
    }
    %0 = arith.muli %pa, %cst : tensor<64x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %3 = tt.broadcast %2 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %4 = tt.broadcast %pb_13 : tensor<1x64xi32> -> tensor<64x64xi32>
    %5 = tt.addptr %3, %4 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %5, %acc_17#2 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// A mask of rows that looks like one of K asks in each column's own step.
module {
  // CHECK-LABEL: tt.func public @rows_end(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  // CHECK-NEXT: %[[C64I32:[^ ,:)#]+]] = arith.constant 64 : i32
  // CHECK-NEXT: %[[CST:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
  // CHECK-NEXT: %[[C2I32:[^ ,:)#]+]] = arith.constant 2 : i32
  // CHECK-NEXT: %[[ACC:[^ ,:)#]+]] = arith.constant 2 : i64
  // CHECK-NEXT: %[[ACC0:[^ ,:)#]+]] = arith.constant dense<64> : tensor<64x64xi32>
  // CHECK-NEXT: %[[CST1:[^ ,:)#]+]] = arith.constant dense<32> : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC2:[^ ,:)#]+]] = arith.constant dense<32> : tensor<64xi32>
  // CHECK-NEXT: %[[C31I32:[^ ,:)#]+]] = arith.constant 31 : i32
  // CHECK-NEXT: %[[ACC3:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  // CHECK-NEXT: %[[CST4:[^ ,:)#]+]] = arith.constant dense<64> : tensor<64x1xi32>
  // CHECK-NEXT: %[[C32I32:[^ ,:)#]+]] = arith.constant 32 : i32
  // CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
  // CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK-NEXT: %[[PA:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PA5:[^ ,:)#]+]] = tt.splat %sa : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PA6:[^ ,:)#]+]] = arith.muli %[[PA]], %[[PA5]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[PA7:[^ ,:)#]+]] = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PA8:[^ ,:)#]+]] = tt.addptr %[[PA7]], %[[PA6]] : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[PB:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.addi %K, %[[C31I32]] : i32
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.divsi %[[V0]], %[[C32I32]] : i32
  // CHECK-NEXT: %[[PB9:[^ ,:)#]+]] = arith.muli %sb, %[[C32I32]] : i32
  // CHECK-NEXT: %[[ACC10:[^ ,:)#]+]] = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // CHECK-NEXT: %[[ACC11:[^ ,:)#]+]] = arith.remui %[[ACC10]], %[[ACC2]] : tensor<64xi32>
  // CHECK-NEXT: %[[ACC12:[^ ,:)#]+]] = arith.divui %[[ACC10]], %[[ACC2]] : tensor<64xi32>
  // CHECK-NEXT: %[[ACC13:[^ ,:)#]+]] = tt.broadcast %[[PA8]] : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PA14:[^ ,:)#]+]] = tt.expand_dims %[[ACC11]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC15:[^ ,:)#]+]] = tt.broadcast %[[PA14]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[PA16:[^ ,:)#]+]] = tt.addptr %[[ACC13]], %[[ACC15]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC17:[^ ,:)#]+]] = tt.splat %b : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  // CHECK-NEXT: %[[PB18:[^ ,:)#]+]] = tt.expand_dims %[[ACC11]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC19:[^ ,:)#]+]] = tt.splat %sb : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[PB20:[^ ,:)#]+]] = arith.muli %[[PB18]], %[[ACC19]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[PB21:[^ ,:)#]+]] = tt.addptr %[[ACC17]], %[[PB20]] : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC22:[^ ,:)#]+]] = tt.broadcast %[[PB21]] : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC23:[^ ,:)#]+]] = tt.broadcast %[[PB]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[PB24:[^ ,:)#]+]] = tt.addptr %[[ACC22]], %[[ACC23]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC25:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC26:[^ ,:)#]+]] = arith.muli %[[ACC25]], %[[CST1]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC27:[^ ,:)#]+]] = tt.broadcast %[[ACC26]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC28:[^ ,:)#]+]] = tt.addptr %[[PA16]], %[[ACC27]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC29:[^ ,:)#]+]] = arith.extsi %[[PB9]] : i32 to i64
  // CHECK-NEXT: %[[ACC30:[^ ,:)#]+]] = tt.splat %[[ACC29]] : i64 -> tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC31:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC32:[^ ,:)#]+]] = arith.extsi %[[ACC31]] : tensor<64x1xi32> to tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC33:[^ ,:)#]+]] = arith.muli %[[ACC32]], %[[ACC30]] : tensor<64x1xi64>
  // CHECK-NEXT: %[[ACC34:[^ ,:)#]+]] = tt.broadcast %[[ACC33]] : tensor<64x1xi64> -> tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC35:[^ ,:)#]+]] = tt.addptr %[[PB24]], %[[ACC34]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC36:[^ ,:)#]+]] = arith.extsi %[[PB9]] : i32 to i64
  // CHECK-NEXT: %[[ACC37:[^ ,:)#]+]] = arith.muli %[[ACC36]], %[[ACC]] : i64
  // CHECK-NEXT: %[[ACC38:[^ ,:)#]+]] = tt.splat %[[ACC37]] : i64 -> tensor<64x64xi64>
  // CHECK-NEXT: %[[ACC39:[^ ,:)#]+]] = arith.divsi %[[V1]], %[[C2I32]] : i32
  // CHECK-NEXT: %[[ACC40:[^ ,:)#]+]] = arith.remsi %[[V1]], %[[C2I32]] : i32
  // CHECK-NEXT: %[[ACC41:[^ ,:)#]+]] = arith.cmpi sgt, %[[ACC40]], %[[C0I32]] : i32
  // CHECK-NEXT: %[[ACC42:[^ ,:)#]+]] = arith.extui %[[ACC41]] : i1 to i32
  // CHECK-NEXT: %[[ACC43:[^ ,:)#]+]] = arith.addi %[[ACC39]], %[[ACC42]] : i32
  // CHECK-NEXT: %[[ACC44:[^ ,:)#]+]]:3 = scf.for %[[K:[^ ,:)#]+]] = %[[C0I32]] to %[[ACC43]] step %[[C1I32]] iter_args(%[[PA45:[^ ,:)#]+]] = %[[ACC28]], %[[PB46:[^ ,:)#]+]] = %[[ACC35]], %[[ACC47:[^ ,:)#]+]] = %[[ACC3]]) -> (tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>)  : i32 {
  // CHECK-NEXT: %[[ACC48:[^ ,:)#]+]] = arith.muli %[[K]], %[[C2I32]] : i32
  // CHECK-NEXT: %[[ACC49:[^ ,:)#]+]] = tt.expand_dims %[[ACC12]] {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC50:[^ ,:)#]+]] = tt.splat %[[ACC48]] : i32 -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC51:[^ ,:)#]+]] = arith.addi %[[ACC50]], %[[ACC49]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC52:[^ ,:)#]+]] = tt.splat %[[V1]] : i32 -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC53:[^ ,:)#]+]] = arith.cmpi slt, %[[ACC51]], %[[ACC52]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC54:[^ ,:)#]+]] = tt.splat %K : i32 -> tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC55:[^ ,:)#]+]] = arith.muli %[[ACC51]], %[[CST1]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC56:[^ ,:)#]+]] = arith.subi %[[ACC54]], %[[ACC55]] : tensor<1x64xi32>
  // CHECK-NEXT: %[[ACC57:[^ ,:)#]+]] = tt.broadcast %[[ACC56]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC58:[^ ,:)#]+]] = tt.broadcast %[[PA]] : tensor<64x1xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC59:[^ ,:)#]+]] = arith.cmpi slt, %[[ACC58]], %[[ACC57]] : tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC60:[^ ,:)#]+]] = tt.broadcast %[[ACC53]] : tensor<1x64xi1> -> tensor<64x64xi1>
  // CHECK-NEXT: %[[ACC61:[^ ,:)#]+]] = arith.andi %[[ACC59]], %[[ACC60]] : tensor<64x64xi1>
  // CHECK-NEXT: %[[ACC62:[^ ,:)#]+]] = tt.load %[[PA45]], %[[ACC61]], %[[CST]] : tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC63:[^ ,:)#]+]] = arith.muli %[[K]], %[[C64I32]] : i32
  // CHECK-NEXT: %[[ACC64:[^ ,:)#]+]] = arith.subi %K, %[[ACC63]] : i32
  // CHECK-NEXT: %[[ACC65:[^ ,:)#]+]] = tt.splat %[[ACC64]] : i32 -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC66:[^ ,:)#]+]] = tt.expand_dims %[[ACC10]] {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC67:[^ ,:)#]+]] = arith.cmpi slt, %[[ACC66]], %[[ACC65]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[ACC68:[^ ,:)#]+]] = tt.broadcast %[[ACC67]] : tensor<64x1xi1> -> tensor<64x64xi1>
  // CHECK-NEXT: %[[ACC69:[^ ,:)#]+]] = tt.load %[[PB46]], %[[ACC68]], %[[CST]] : tensor<64x64x!tt.ptr<f16>>
  // CHECK-NEXT: %[[ACC70:[^ ,:)#]+]] = tt.dot %[[ACC62]], %[[ACC69]], %[[ACC47]], inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  // CHECK-NEXT: %[[ACC71:[^ ,:)#]+]] = tt.addptr %[[PA45]], %[[ACC0]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // CHECK-NEXT: %[[ACC72:[^ ,:)#]+]] = tt.addptr %[[PB46]], %[[ACC38]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
  // CHECK-NEXT: scf.yield %[[ACC71]], %[[ACC72]], %[[ACC70]] : tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf32>
  // CHECK-NEXT: } {tt.num_stages = 3 : i32}
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = arith.muli %[[PA]], %[[CST4]] : tensor<64x1xi32>
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = tt.addptr %[[V3]], %[[V2]] : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = tt.broadcast %[[V4]] : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V6:[^ ,:)#]+]] = tt.broadcast %[[PB]] : tensor<1x64xi32> -> tensor<64x64xi32>
  // CHECK-NEXT: %[[V7:[^ ,:)#]+]] = tt.addptr %[[V5]], %[[V6]] : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  // CHECK-NEXT: tt.store %[[V7]], %[[ACC44]]#2 : tensor<64x64x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @rows_end(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c31_i32 = arith.constant 31 : i32
    %acc = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<32x64xf16>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x32xf16>
    %cst_1 = arith.constant dense<64> : tensor<64x1xi32>
    %cst_2 = arith.constant dense<32> : tensor<64x32xi32>
    %c32_i32 = arith.constant 32 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %rm = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rk = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %pa = tt.expand_dims %rm {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %pa_3 = tt.splat %sa : i32 -> tensor<64x1xi32>
    %pa_4 = arith.muli %pa, %pa_3 : tensor<64x1xi32>
    %pa_5 = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %pa_6 = tt.addptr %pa_5, %pa_4 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %pa_7 = tt.expand_dims %rk {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %pa_8 = tt.broadcast %pa_6 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
    %pa_9 = tt.broadcast %pa_7 : tensor<1x32xi32> -> tensor<64x32xi32>
    %pa_10 = tt.addptr %pa_8, %pa_9 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    %pb = tt.expand_dims %rk {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %pb_11 = tt.splat %sb : i32 -> tensor<32x1xi32>
    %pb_12 = arith.muli %pb, %pb_11 : tensor<32x1xi32>
    %pb_13 = tt.splat %b : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %pb_14 = tt.addptr %pb_13, %pb_12 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %pb_15 = tt.expand_dims %rm {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %pb_16 = tt.broadcast %pb_14 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
    %pb_17 = tt.broadcast %pb_15 : tensor<1x64xi32> -> tensor<32x64xi32>
    %pb_18 = tt.addptr %pb_16, %pb_17 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %0 = arith.addi %K, %c31_i32 : i32
    %1 = arith.divsi %0, %c32_i32 : i32
    %acc_19:3 = scf.for %k = %c0_i32 to %1 step %c1_i32 iter_args(%pa_20 = %pa_10, %pb_21 = %pb_18, %acc_22 = %acc) -> (tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>, tensor<64x64xf32>)  : i32 {
      %acc_23 = arith.muli %k, %c32_i32 : i32
      %acc_24 = arith.subi %K, %acc_23 : i32
      %acc_25 = tt.splat %acc_24 : i32 -> tensor<64x1xi32>
      %acc_26 = arith.cmpi slt, %pa, %acc_25 : tensor<64x1xi32>
      %acc_27 = tt.broadcast %acc_26 : tensor<64x1xi1> -> tensor<64x32xi1>
      %acc_28 = tt.load %pa_20, %acc_27, %cst_0 : tensor<64x32x!tt.ptr<f16>>
      %acc_29 = tt.splat %acc_24 : i32 -> tensor<32x1xi32>
      %acc_30 = arith.cmpi slt, %pb, %acc_29 : tensor<32x1xi32>
      %acc_31 = tt.broadcast %acc_30 : tensor<32x1xi1> -> tensor<32x64xi1>
      %acc_32 = tt.load %pb_21, %acc_31, %cst : tensor<32x64x!tt.ptr<f16>>
      %acc_33 = tt.dot %acc_28, %acc_32, %acc_22, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %pa_34 = tt.addptr %pa_20, %cst_2 : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %pb_35 = arith.muli %sb, %c32_i32 : i32
      %pb_36 = tt.splat %pb_35 : i32 -> tensor<32x64xi32>
      %pb_37 = tt.addptr %pb_21, %pb_36 : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
      scf.yield %pa_34, %pb_37, %acc_33 : tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>, tensor<64x64xf32>
    }
    %2 = arith.muli %pa, %cst_1 : tensor<64x1xi32>
    %3 = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %4 = tt.addptr %3, %2 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %5 = tt.broadcast %4 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
    %6 = tt.broadcast %pb_15 : tensor<1x64xi32> -> tensor<64x64xi32>
    %7 = tt.addptr %5, %6 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %7, %acc_19#2 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
