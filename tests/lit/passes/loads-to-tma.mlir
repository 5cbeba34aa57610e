// Loads that become loads through descriptors.
// RUN: ttc opt %s --split-input-file --ttc-loads-to-tma | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each module says what it must show. Random kernels keep what they compute
// (tests/suite/tma_loads.rs).

// `% M` gives the extents of rows, the mask that of K, which the coordinates count.
module {
  // CHECK-LABEL: tt.func public @product(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %N: i32, %K: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  // CHECK-NEXT: %[[C32I32:[^ ,:)#]+]] = arith.constant -32 : i32
  // CHECK-NEXT: %[[C16I32:[^ ,:)#]+]] = arith.constant -16 : i32
  // CHECK-NEXT: %[[C0I64:[^ ,:)#]+]] = arith.constant 0 : i64
  // CHECK-NEXT: %[[C32I64:[^ ,:)#]+]] = arith.constant -32 : i64
  // CHECK-NEXT: %[[ACC:[^ ,:)#]+]] = arith.constant 32 : i64
  // CHECK-NEXT: %[[C2147483647I64:[^ ,:)#]+]] = arith.constant 2147483647 : i64
  // CHECK-NEXT: %[[C2147483648I64:[^ ,:)#]+]] = arith.constant -2147483648 : i64
  // CHECK-NEXT: %[[C1I64:[^ ,:)#]+]] = arith.constant 1 : i64
  // CHECK-NEXT: %[[C16I64:[^ ,:)#]+]] = arith.constant -16 : i64
  // CHECK-NEXT: %[[ACC0:[^ ,:)#]+]] = arith.constant 16 : i64
  // CHECK-NEXT: %[[ACC1:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
  // CHECK-NEXT: %[[C31I32:[^ ,:)#]+]] = arith.constant 31 : i32
  // CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
  // CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[C32I32_0:[^ ,:)#]+]] = arith.constant 32 : i32
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = arith.constant 16 : i32
  // CHECK-NEXT: %[[PID:[^ ,:)#]+]] = tt.get_program_id x : i32
  // CHECK-NEXT: %[[TILES:[^ ,:)#]+]] = arith.addi %N, %[[C31I32]] : i32
  // CHECK-NEXT: %[[TILES2:[^ ,:)#]+]] = arith.divsi %[[TILES]], %[[C32I32_0]] : i32
  // CHECK-NEXT: %[[M:[^ ,:)#]+]] = arith.divsi %[[PID]], %[[TILES2]] : i32
  // CHECK-NEXT: %[[N:[^ ,:)#]+]] = arith.remsi %[[PID]], %[[TILES2]] : i32
  // CHECK-NEXT: %[[RM3:[^ ,:)#]+]] = arith.muli %[[M]], %[[RM]] : i32
  // CHECK-NEXT: %[[RM4:[^ ,:)#]+]] = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  // CHECK-NEXT: %[[RM5:[^ ,:)#]+]] = tt.splat %[[RM3]] : i32 -> tensor<16xi32>
  // CHECK-NEXT: %[[RM6:[^ ,:)#]+]] = arith.addi %[[RM5]], %[[RM4]] : tensor<16xi32>
  // CHECK-NEXT: %[[RN:[^ ,:)#]+]] = arith.muli %[[N]], %[[C32I32_0]] : i32
  // CHECK-NEXT: %[[RN7:[^ ,:)#]+]] = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  // CHECK-NEXT: %[[RN8:[^ ,:)#]+]] = tt.splat %[[RN]] : i32 -> tensor<32xi32>
  // CHECK-NEXT: %[[RN9:[^ ,:)#]+]] = arith.addi %[[RN8]], %[[RN7]] : tensor<32xi32>
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.addi %K, %[[C31I32]] : i32
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.divsi %[[V0]], %[[C32I32_0]] : i32
  // CHECK-NEXT: %[[ACC10:[^ ,:)#]+]] = arith.extsi %sa : i32 to i64
  // CHECK-NEXT: %[[ACC11:[^ ,:)#]+]] = arith.extsi %[[M]] : i32 to i64
  // CHECK-NEXT: %[[ACC12:[^ ,:)#]+]] = arith.muli %[[ACC10]], %[[ACC11]] : i64
  // CHECK-NEXT: %[[ACC13:[^ ,:)#]+]] = arith.muli %[[ACC12]], %[[ACC0]] : i64
  // CHECK-NEXT: %[[ACC14:[^ ,:)#]+]] = tt.addptr %a, %[[ACC13]] : !tt.ptr<f16>, i64
  // CHECK-NEXT: %[[ACC15:[^ ,:)#]+]] = arith.extsi %M : i32 to i64
  // CHECK-NEXT: %[[ACC16:[^ ,:)#]+]] = arith.muli %[[ACC11]], %[[C16I64]] : i64
  // CHECK-NEXT: %[[ACC17:[^ ,:)#]+]] = arith.addi %[[ACC15]], %[[ACC16]] : i64
  // CHECK-NEXT: %[[ACC18:[^ ,:)#]+]] = arith.maxsi %[[ACC17]], %[[C1I64]] : i64
  // CHECK-NEXT: %[[ACC19:[^ ,:)#]+]] = arith.maxsi %[[ACC18]], %[[C2147483648I64]] : i64
  // CHECK-NEXT: %[[ACC20:[^ ,:)#]+]] = arith.minsi %[[ACC19]], %[[C2147483647I64]] : i64
  // CHECK-NEXT: %[[ACC21:[^ ,:)#]+]] = arith.trunci %[[ACC20]] : i64 to i32
  // CHECK-NEXT: %[[ACC22:[^ ,:)#]+]] = arith.maxsi %K, %[[C1I32]] : i32
  // CHECK-NEXT: %[[ACC23:[^ ,:)#]+]] = tt.make_tensor_descriptor %[[ACC14]], [%[[ACC21]], %[[ACC22]]], [%[[ACC10]], %[[C1I64]]] : <f16>, <16x32xf16>
  // CHECK-NEXT: %[[ACC24:[^ ,:)#]+]] = arith.extsi %[[N]] : i32 to i64
  // CHECK-NEXT: %[[ACC25:[^ ,:)#]+]] = arith.muli %[[ACC24]], %[[ACC]] : i64
  // CHECK-NEXT: %[[ACC26:[^ ,:)#]+]] = tt.addptr %b, %[[ACC25]] : !tt.ptr<f16>, i64
  // CHECK-NEXT: %[[ACC27:[^ ,:)#]+]] = arith.extsi %N : i32 to i64
  // CHECK-NEXT: %[[ACC28:[^ ,:)#]+]] = arith.muli %[[ACC24]], %[[C32I64]] : i64
  // CHECK-NEXT: %[[ACC29:[^ ,:)#]+]] = arith.addi %[[ACC27]], %[[ACC28]] : i64
  // CHECK-NEXT: %[[ACC30:[^ ,:)#]+]] = arith.maxsi %[[ACC29]], %[[C1I64]] : i64
  // CHECK-NEXT: %[[ACC31:[^ ,:)#]+]] = arith.maxsi %[[ACC30]], %[[C2147483648I64]] : i64
  // CHECK-NEXT: %[[ACC32:[^ ,:)#]+]] = arith.minsi %[[ACC31]], %[[C2147483647I64]] : i64
  // CHECK-NEXT: %[[ACC33:[^ ,:)#]+]] = arith.trunci %[[ACC32]] : i64 to i32
  // CHECK-NEXT: %[[ACC34:[^ ,:)#]+]] = arith.extsi %sb : i32 to i64
  // CHECK-NEXT: %[[ACC35:[^ ,:)#]+]] = tt.make_tensor_descriptor %[[ACC26]], [%[[ACC22]], %[[ACC33]]], [%[[ACC34]], %[[C1I64]]] : <f16>, <32x32xf16>
  // CHECK-NEXT: %[[ACC36:[^ ,:)#]+]] = scf.for %[[K:[^ ,:)#]+]] = %[[C0I32]] to %[[V1]] step %[[C1I32]] iter_args(%[[ACC37:[^ ,:)#]+]] = %[[ACC1]]) -> (tensor<16x32xf32>)  : i32 {
  // CHECK-NEXT: %[[VA:[^ ,:)#]+]] = arith.muli %[[K]], %[[C32I32_0]] : i32
  // CHECK-NEXT: %[[VA38:[^ ,:)#]+]] = arith.cmpi sgt, %[[ACC17]], %[[C0I64]] : i64
  // CHECK-NEXT: %[[VA39:[^ ,:)#]+]] = arith.extsi %K : i32 to i64
  // CHECK-NEXT: %[[VA40:[^ ,:)#]+]] = arith.cmpi sgt, %[[VA39]], %[[C0I64]] : i64
  // CHECK-NEXT: %[[VA41:[^ ,:)#]+]] = arith.andi %[[VA38]], %[[VA40]] : i1
  // CHECK-NEXT: %[[VA42:[^ ,:)#]+]] = arith.select %[[VA41]], %[[C0I32]], %[[C16I32]] : i32
  // CHECK-NEXT: %[[VA43:[^ ,:)#]+]] = tt.descriptor_load %[[ACC23]][%[[VA42]], %[[VA]]] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  // CHECK-NEXT: %[[VB:[^ ,:)#]+]] = arith.cmpi sgt, %[[ACC29]], %[[C0I64]] : i64
  // CHECK-NEXT: %[[VB44:[^ ,:)#]+]] = arith.andi %[[VB]], %[[VA40]] : i1
  // CHECK-NEXT: %[[VB45:[^ ,:)#]+]] = arith.select %[[VB44]], %[[C0I32]], %[[C32I32]] : i32
  // CHECK-NEXT: %[[VB46:[^ ,:)#]+]] = tt.descriptor_load %[[ACC35]][%[[VA]], %[[VB45]]] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
  // CHECK-NEXT: %[[ACC47:[^ ,:)#]+]] = tt.dot %[[VA43]], %[[VB46]], %[[ACC37]], inputPrecision = tf32 : tensor<16x32xf16> * tensor<32x32xf16> -> tensor<16x32xf32>
  // CHECK-NEXT: scf.yield %[[ACC47]] : tensor<16x32xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = tt.expand_dims %[[RM6]] {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = tt.splat %M : i32 -> tensor<16x1xi32>
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = arith.cmpi slt, %[[V2]], %[[V3]] : tensor<16x1xi32>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = tt.expand_dims %[[RN9]] {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  // CHECK-NEXT: %[[V6:[^ ,:)#]+]] = tt.splat %N : i32 -> tensor<1x32xi32>
  // CHECK-NEXT: %[[V7:[^ ,:)#]+]] = arith.cmpi slt, %[[V5]], %[[V6]] : tensor<1x32xi32>
  // CHECK-NEXT: %[[V8:[^ ,:)#]+]] = tt.broadcast %[[V4]] : tensor<16x1xi1> -> tensor<16x32xi1>
  // CHECK-NEXT: %[[V9:[^ ,:)#]+]] = tt.broadcast %[[V7]] : tensor<1x32xi1> -> tensor<16x32xi1>
  // CHECK-NEXT: %[[V10:[^ ,:)#]+]] = arith.andi %[[V8]], %[[V9]] : tensor<16x32xi1>
  // CHECK-NEXT: %[[V11:[^ ,:)#]+]] = tt.splat %N : i32 -> tensor<16x1xi32>
  // CHECK-NEXT: %[[V12:[^ ,:)#]+]] = arith.muli %[[V2]], %[[V11]] : tensor<16x1xi32>
  // CHECK-NEXT: %[[V13:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V14:[^ ,:)#]+]] = tt.addptr %[[V13]], %[[V12]] : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
  // CHECK-NEXT: %[[V15:[^ ,:)#]+]] = tt.broadcast %[[V14]] : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V16:[^ ,:)#]+]] = tt.broadcast %[[V5]] : tensor<1x32xi32> -> tensor<16x32xi32>
  // CHECK-NEXT: %[[V17:[^ ,:)#]+]] = tt.addptr %[[V15]], %[[V16]] : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  // CHECK-NEXT: tt.store %[[V17]], %[[ACC36]], %[[V10]] : tensor<16x32x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @product(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %N: i32, %K: i32, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %c31_i32 = arith.constant 31 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf16>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x32xf16>
    %cst_1 = arith.constant dense<32> : tensor<16x32xi32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %c32_i32 = arith.constant 32 : i32
    %rm = arith.constant 16 : i32
    %pid = tt.get_program_id x : i32
    %tiles = arith.addi %N, %c31_i32 : i32
    %tiles_2 = arith.divsi %tiles, %c32_i32 : i32
    %m = arith.divsi %pid, %tiles_2 : i32
    %n = arith.remsi %pid, %tiles_2 : i32
    %rm_3 = arith.muli %m, %rm : i32
    %rm_4 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rm_5 = tt.splat %rm_3 : i32 -> tensor<16xi32>
    %rm_6 = arith.addi %rm_5, %rm_4 : tensor<16xi32>
    %rn = arith.muli %n, %c32_i32 : i32
    %rn_7 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %rn_8 = tt.splat %rn : i32 -> tensor<32xi32>
    %rn_9 = arith.addi %rn_8, %rn_7 : tensor<32xi32>
    %pa = tt.splat %M : i32 -> tensor<16xi32>
    %pa_10 = arith.remsi %rm_6, %pa : tensor<16xi32>
    %pa_11 = tt.expand_dims %pa_10 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %pa_12 = tt.splat %sa : i32 -> tensor<16x1xi32>
    %pa_13 = arith.muli %pa_11, %pa_12 : tensor<16x1xi32>
    %pa_14 = tt.splat %a : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %pa_15 = tt.addptr %pa_14, %pa_13 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %pa_16 = tt.expand_dims %rn_7 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %pa_17 = tt.broadcast %pa_15 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %pa_18 = tt.broadcast %pa_16 : tensor<1x32xi32> -> tensor<16x32xi32>
    %pa_19 = tt.addptr %pa_17, %pa_18 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    %pb = tt.expand_dims %rn_7 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %pb_20 = tt.splat %sb : i32 -> tensor<32x1xi32>
    %pb_21 = arith.muli %pb, %pb_20 : tensor<32x1xi32>
    %pb_22 = tt.splat %b : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %pb_23 = tt.addptr %pb_22, %pb_21 : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %pb_24 = tt.splat %N : i32 -> tensor<32xi32>
    %pb_25 = arith.remsi %rn_9, %pb_24 : tensor<32xi32>
    %pb_26 = tt.expand_dims %pb_25 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %pb_27 = tt.broadcast %pb_23 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x32x!tt.ptr<f16>>
    %pb_28 = tt.broadcast %pb_26 : tensor<1x32xi32> -> tensor<32x32xi32>
    %pb_29 = tt.addptr %pb_27, %pb_28 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %0 = arith.addi %K, %c31_i32 : i32
    %1 = arith.divsi %0, %c32_i32 : i32
    %acc_30:3 = scf.for %k = %c0_i32 to %1 step %c1_i32 iter_args(%pa_31 = %pa_19, %pb_32 = %pb_29, %acc_33 = %acc) -> (tensor<16x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>, tensor<16x32xf32>)  : i32 {
      %va = arith.muli %k, %c32_i32 : i32
      %va_34 = arith.subi %K, %va : i32
      %va_35 = tt.splat %va_34 : i32 -> tensor<1x32xi32>
      %va_36 = arith.cmpi slt, %pa_16, %va_35 : tensor<1x32xi32>
      %va_37 = tt.broadcast %va_36 : tensor<1x32xi1> -> tensor<16x32xi1>
      %va_38 = tt.load %pa_31, %va_37, %cst_0 : tensor<16x32x!tt.ptr<f16>>
      %vb = tt.splat %va_34 : i32 -> tensor<32x1xi32>
      %vb_39 = arith.cmpi slt, %pb, %vb : tensor<32x1xi32>
      %vb_40 = tt.broadcast %vb_39 : tensor<32x1xi1> -> tensor<32x32xi1>
      %vb_41 = tt.load %pb_32, %vb_40, %cst : tensor<32x32x!tt.ptr<f16>>
      %acc_42 = tt.dot %va_38, %vb_41, %acc_33, inputPrecision = tf32 : tensor<16x32xf16> * tensor<32x32xf16> -> tensor<16x32xf32>
      %pa_43 = tt.addptr %pa_31, %cst_1 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
      %pb_44 = arith.muli %sb, %c32_i32 : i32
      %pb_45 = tt.splat %pb_44 : i32 -> tensor<32x32xi32>
      %pb_46 = tt.addptr %pb_32, %pb_45 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
      scf.yield %pa_43, %pb_46, %acc_42 : tensor<16x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>, tensor<16x32xf32>
    }
    %2 = tt.expand_dims %rm_6 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %3 = tt.splat %M : i32 -> tensor<16x1xi32>
    %4 = arith.cmpi slt, %2, %3 : tensor<16x1xi32>
    %5 = tt.expand_dims %rn_9 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %6 = tt.splat %N : i32 -> tensor<1x32xi32>
    %7 = arith.cmpi slt, %5, %6 : tensor<1x32xi32>
    %8 = tt.broadcast %4 : tensor<16x1xi1> -> tensor<16x32xi1>
    %9 = tt.broadcast %7 : tensor<1x32xi1> -> tensor<16x32xi1>
    %10 = arith.andi %8, %9 : tensor<16x32xi1>
    %11 = tt.splat %N : i32 -> tensor<16x1xi32>
    %12 = arith.muli %2, %11 : tensor<16x1xi32>
    %13 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %14 = tt.addptr %13, %12 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %15 = tt.broadcast %14 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %16 = tt.broadcast %5 : tensor<1x32xi32> -> tensor<16x32xi32>
    %17 = tt.addptr %15, %16 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    tt.store %17, %acc_30#2, %10 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// The contiguous axis comes last in the descriptor; nothing bounds the loop's axis but coordinates.
module {
  // CHECK-LABEL: tt.func public @transposed_in_a_loop(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %s: i32 {tt.divisibility = 16 : i32}, %batch: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  // CHECK-NEXT: %[[ACC:[^ ,:)#]+]] = arith.constant 1 : i64
  // CHECK-NEXT: %[[C2147483647I32:[^ ,:)#]+]] = arith.constant 2147483647 : i32
  // CHECK-NEXT: %[[ACC0:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
  // CHECK-NEXT: %[[CST:[^ ,:)#]+]] = arith.constant dense<16> : tensor<32x1xi32>
  // CHECK-NEXT: %[[C16I32:[^ ,:)#]+]] = arith.constant 16 : i32
  // CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  // CHECK-NEXT: %[[RD:[^ ,:)#]+]] = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  // CHECK-NEXT: %[[PID:[^ ,:)#]+]] = tt.get_program_id y : i32
  // CHECK-NEXT: %[[ACC1:[^ ,:)#]+]] = arith.extsi %batch : i32 to i64
  // CHECK-NEXT: %[[ACC2:[^ ,:)#]+]] = arith.extsi %[[PID]] : i32 to i64
  // CHECK-NEXT: %[[ACC3:[^ ,:)#]+]] = arith.muli %[[ACC1]], %[[ACC2]] : i64
  // CHECK-NEXT: %[[ACC4:[^ ,:)#]+]] = tt.addptr %a, %[[ACC3]] : !tt.ptr<f16>, i64
  // CHECK-NEXT: %[[ACC5:[^ ,:)#]+]] = arith.extsi %s : i32 to i64
  // CHECK-NEXT: %[[ACC6:[^ ,:)#]+]] = tt.make_tensor_descriptor %[[ACC4]], [%[[C2147483647I32]], %[[C2147483647I32]]], [%[[ACC5]], %[[ACC]]] : <f16>, <16x32xf16>
  // CHECK-NEXT: %[[ACC7:[^ ,:)#]+]] = scf.for %[[I:[^ ,:)#]+]] = %[[C0I32]] to %n step %[[C16I32]] iter_args(%[[ACC8:[^ ,:)#]+]] = %[[ACC0]]) -> (tensor<32x16xf32>)  : i32 {
  // CHECK-NEXT: %[[ACC9:[^ ,:)#]+]] = tt.descriptor_load %[[ACC6]][%[[I]], %[[C0I32]]] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  // CHECK-NEXT: %[[ACC10:[^ ,:)#]+]] = tt.trans %[[ACC9]] {order = array<i32: 1, 0>} : tensor<16x32xf16> -> tensor<32x16xf16>
  // CHECK-NEXT: %[[ACC11:[^ ,:)#]+]] = arith.extf %[[ACC10]] : tensor<32x16xf16> to tensor<32x16xf32>
  // CHECK-NEXT: %[[ACC12:[^ ,:)#]+]] = arith.addf %[[ACC8]], %[[ACC11]] : tensor<32x16xf32>
  // CHECK-NEXT: scf.yield %[[ACC12]] : tensor<32x16xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = tt.expand_dims %[[RD]] {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.muli %[[V0]], %[[CST]] : tensor<32x1xi32>
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = tt.addptr %[[V2]], %[[V1]] : tensor<32x1x!tt.ptr<f32>>, tensor<32x1xi32>
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = tt.broadcast %[[V3]] : tensor<32x1x!tt.ptr<f32>> -> tensor<32x16x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V6:[^ ,:)#]+]] = tt.broadcast %[[V4]] : tensor<1x16xi32> -> tensor<32x16xi32>
  // CHECK-NEXT: %[[V7:[^ ,:)#]+]] = tt.addptr %[[V5]], %[[V6]] : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi32>
  // CHECK-NEXT: tt.store %[[V7]], %[[ACC7]] : tensor<32x16x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @transposed_in_a_loop(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %s: i32 {tt.divisibility = 16 : i32}, %batch: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
    %cst = arith.constant dense<16> : tensor<32x1xi32>
    %c16_i32 = arith.constant 16 : i32
    %c0_i32 = arith.constant 0 : i32
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rd = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %pid = tt.get_program_id y : i32
    %acc_0 = scf.for %i = %c0_i32 to %n step %c16_i32 iter_args(%acc_1 = %acc) -> (tensor<32x16xf32>)  : i32 {
      %acc_2 = arith.muli %pid, %batch : i32
      %acc_3 = tt.addptr %a, %acc_2 : !tt.ptr<f16>, i32
      %acc_4 = tt.splat %i : i32 -> tensor<16xi32>
      %acc_5 = arith.addi %acc_4, %rm : tensor<16xi32>
      %acc_6 = tt.expand_dims %acc_5 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
      %acc_7 = tt.splat %s : i32 -> tensor<1x16xi32>
      %acc_8 = arith.muli %acc_6, %acc_7 : tensor<1x16xi32>
      %acc_9 = tt.splat %acc_3 : !tt.ptr<f16> -> tensor<1x16x!tt.ptr<f16>>
      %acc_10 = tt.addptr %acc_9, %acc_8 : tensor<1x16x!tt.ptr<f16>>, tensor<1x16xi32>
      %acc_11 = tt.expand_dims %rd {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %acc_12 = tt.broadcast %acc_10 : tensor<1x16x!tt.ptr<f16>> -> tensor<32x16x!tt.ptr<f16>>
      %acc_13 = tt.broadcast %acc_11 : tensor<32x1xi32> -> tensor<32x16xi32>
      %acc_14 = tt.addptr %acc_12, %acc_13 : tensor<32x16x!tt.ptr<f16>>, tensor<32x16xi32>
      %acc_15 = tt.load %acc_14 : tensor<32x16x!tt.ptr<f16>>
      %acc_16 = arith.extf %acc_15 : tensor<32x16xf16> to tensor<32x16xf32>
      %acc_17 = arith.addf %acc_1, %acc_16 : tensor<32x16xf32>
      scf.yield %acc_17 : tensor<32x16xf32>
    }
    %0 = tt.expand_dims %rd {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %1 = arith.muli %0, %cst : tensor<32x1xi32>
    %2 = tt.splat %y : !tt.ptr<f32> -> tensor<32x1x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<32x1x!tt.ptr<f32>>, tensor<32x1xi32>
    %4 = tt.expand_dims %rm {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
    %5 = tt.broadcast %3 : tensor<32x1x!tt.ptr<f32>> -> tensor<32x16x!tt.ptr<f32>>
    %6 = tt.broadcast %4 : tensor<1x16xi32> -> tensor<32x16xi32>
    %7 = tt.addptr %5, %6 : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi32>
    tt.store %7, %acc_0 : tensor<32x16x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// The last iteration is at coordinate 0.
module {
  // CHECK-LABEL: tt.func public @counts_down(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  // CHECK-NEXT: %[[C32I32:[^ ,:)#]+]] = arith.constant -32 : i32
  // CHECK-NEXT: %[[C0I64:[^ ,:)#]+]] = arith.constant 0 : i64
  // CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[C16I32:[^ ,:)#]+]] = arith.constant -16 : i32
  // CHECK-NEXT: %[[ACC:[^ ,:)#]+]] = arith.constant 1 : i64
  // CHECK-NEXT: %[[ACC0:[^ ,:)#]+]] = arith.constant 2147483647 : i32
  // CHECK-NEXT: %[[C15I32:[^ ,:)#]+]] = arith.constant 15 : i32
  // CHECK-NEXT: %[[ACC1:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
  // CHECK-NEXT: %[[CST:[^ ,:)#]+]] = arith.constant dense<32> : tensor<16x1xi32>
  // CHECK-NEXT: %[[C16I32_0:[^ ,:)#]+]] = arith.constant 16 : i32
  // CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant -1 : i32
  // CHECK-NEXT: %[[C1I32_0:[^ ,:)#]+]] = arith.constant 1 : i32
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  // CHECK-NEXT: %[[RD:[^ ,:)#]+]] = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.addi %n, %[[C15I32]] : i32
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.divsi %[[V0]], %[[C16I32_0]] : i32
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = arith.subi %[[V1]], %[[C1I32_0]] : i32
  // CHECK-NEXT: %[[ACC2:[^ ,:)#]+]] = arith.maxsi %n, %[[C1I32_0]] : i32
  // CHECK-NEXT: %[[ACC3:[^ ,:)#]+]] = arith.extsi %s : i32 to i64
  // CHECK-NEXT: %[[ACC4:[^ ,:)#]+]] = tt.make_tensor_descriptor %a, [%[[ACC2]], %[[ACC0]]], [%[[ACC3]], %[[ACC]]] : <f16>, <16x32xf16>
  // CHECK-NEXT: %[[ACC5:[^ ,:)#]+]] = scf.for %[[I:[^ ,:)#]+]] = %[[C1I32]] to %[[V2]] step %[[C1I32_0]] iter_args(%[[ACC6:[^ ,:)#]+]] = %[[ACC1]]) -> (tensor<16x32xf32>)  : i32 {
  // CHECK-NEXT: %[[ACC7:[^ ,:)#]+]] = arith.muli %[[V1]], %[[C16I32_0]] : i32
  // CHECK-NEXT: %[[ACC8:[^ ,:)#]+]] = arith.addi %[[ACC7]], %[[C16I32]] : i32
  // CHECK-NEXT: %[[ACC9:[^ ,:)#]+]] = arith.subi %[[I]], %[[C1I32]] : i32
  // CHECK-NEXT: %[[ACC10:[^ ,:)#]+]] = arith.muli %[[ACC9]], %[[C16I32]] : i32
  // CHECK-NEXT: %[[ACC11:[^ ,:)#]+]] = arith.addi %[[ACC8]], %[[ACC10]] : i32
  // CHECK-NEXT: %[[ACC12:[^ ,:)#]+]] = arith.extsi %n : i32 to i64
  // CHECK-NEXT: %[[ACC13:[^ ,:)#]+]] = arith.cmpi sgt, %[[ACC12]], %[[C0I64]] : i64
  // CHECK-NEXT: %[[ACC14:[^ ,:)#]+]] = arith.select %[[ACC13]], %[[C0I32]], %[[C32I32]] : i32
  // CHECK-NEXT: %[[ACC15:[^ ,:)#]+]] = tt.descriptor_load %[[ACC4]][%[[ACC11]], %[[ACC14]]] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  // CHECK-NEXT: %[[ACC16:[^ ,:)#]+]] = arith.extf %[[ACC15]] : tensor<16x32xf16> to tensor<16x32xf32>
  // CHECK-NEXT: %[[ACC17:[^ ,:)#]+]] = arith.addf %[[ACC6]], %[[ACC16]] : tensor<16x32xf32>
  // CHECK-NEXT: scf.yield %[[ACC17]] : tensor<16x32xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = arith.muli %[[V3]], %[[CST]] : tensor<16x1xi32>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V6:[^ ,:)#]+]] = tt.addptr %[[V5]], %[[V4]] : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
  // CHECK-NEXT: %[[V7:[^ ,:)#]+]] = tt.expand_dims %[[RD]] {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  // CHECK-NEXT: %[[V8:[^ ,:)#]+]] = tt.broadcast %[[V6]] : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V9:[^ ,:)#]+]] = tt.broadcast %[[V7]] : tensor<1x32xi32> -> tensor<16x32xi32>
  // CHECK-NEXT: %[[V10:[^ ,:)#]+]] = tt.addptr %[[V8]], %[[V9]] : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  // CHECK-NEXT: tt.store %[[V10]], %[[ACC5]] : tensor<16x32x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @counts_down(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %c15_i32 = arith.constant 15 : i32
    %acc = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<16x32xf16>
    %cst_0 = arith.constant dense<32> : tensor<16x1xi32>
    %c16_i32 = arith.constant 16 : i32
    %c-1_i32 = arith.constant -1 : i32
    %c1_i32 = arith.constant 1 : i32
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rd = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %0 = arith.addi %n, %c15_i32 : i32
    %1 = arith.divsi %0, %c16_i32 : i32
    %2 = arith.subi %1, %c1_i32 : i32
    %acc_1 = scf.for %i = %c-1_i32 to %2 step %c1_i32 iter_args(%acc_2 = %acc) -> (tensor<16x32xf32>)  : i32 {
      %11 = arith.subi %2, %i : i32
      %12 = arith.addi %11, %c-1_i32 : i32
      %at = arith.muli %12, %c16_i32 : i32
      %at_3 = tt.splat %at : i32 -> tensor<16xi32>
      %at_4 = arith.addi %at_3, %rm : tensor<16xi32>
      %acc_5 = tt.expand_dims %at_4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %acc_6 = tt.splat %n : i32 -> tensor<16x1xi32>
      %acc_7 = arith.cmpi slt, %acc_5, %acc_6 : tensor<16x1xi32>
      %acc_8 = tt.splat %s : i32 -> tensor<16x1xi32>
      %acc_9 = arith.muli %acc_5, %acc_8 : tensor<16x1xi32>
      %acc_10 = tt.splat %a : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
      %acc_11 = tt.addptr %acc_10, %acc_9 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
      %acc_12 = tt.expand_dims %rd {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %acc_13 = tt.broadcast %acc_11 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
      %acc_14 = tt.broadcast %acc_12 : tensor<1x32xi32> -> tensor<16x32xi32>
      %acc_15 = tt.addptr %acc_13, %acc_14 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
      %acc_16 = tt.broadcast %acc_7 : tensor<16x1xi1> -> tensor<16x32xi1>
      %acc_17 = tt.load %acc_15, %acc_16, %cst : tensor<16x32x!tt.ptr<f16>>
      %acc_18 = arith.extf %acc_17 : tensor<16x32xf16> to tensor<16x32xf32>
      %acc_19 = arith.addf %acc_2, %acc_18 : tensor<16x32xf32>
      scf.yield %acc_19 : tensor<16x32xf32>
    }
    %3 = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %4 = arith.muli %3, %cst_0 : tensor<16x1xi32>
    %5 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %6 = tt.addptr %5, %4 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %7 = tt.expand_dims %rd {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %8 = tt.broadcast %6 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %9 = tt.broadcast %7 : tensor<1x32xi32> -> tensor<16x32xi32>
    %10 = tt.addptr %8, %9 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    tt.store %10, %acc_1 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// What the mask asks beyond bounds, and another value than zero, are selected again.
module {
  // CHECK-LABEL: tt.func public @masked_again(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %N: i32, %s: i32 {tt.divisibility = 16 : i32}, %flag: i32) attributes {noinline = false} {
  // CHECK-NEXT: %[[V:[^ ,:)#]+]] = arith.constant -16 : i32
  // CHECK-NEXT: %[[C0I64:[^ ,:)#]+]] = arith.constant 0 : i64
  // CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.constant 1 : i32
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.constant 2147483647 : i64
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = arith.constant -2147483648 : i64
  // CHECK-NEXT: %[[C1I64:[^ ,:)#]+]] = arith.constant 1 : i64
  // CHECK-NEXT: %[[C16I64:[^ ,:)#]+]] = arith.constant -16 : i64
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = arith.constant 16 : i64
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = arith.constant dense<1.000000e+00> : tensor<16x32xf16>
  // CHECK-NEXT: %[[CST:[^ ,:)#]+]] = arith.constant dense<32> : tensor<16x1xi32>
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = arith.constant 16 : i32
  // CHECK-NEXT: %[[RM5:[^ ,:)#]+]] = tt.get_program_id x : i32
  // CHECK-NEXT: %[[RM6:[^ ,:)#]+]] = arith.muli %[[RM5]], %[[RM]] : i32
  // CHECK-NEXT: %[[RM7:[^ ,:)#]+]] = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  // CHECK-NEXT: %[[RM8:[^ ,:)#]+]] = tt.splat %[[RM6]] : i32 -> tensor<16xi32>
  // CHECK-NEXT: %[[RM9:[^ ,:)#]+]] = arith.addi %[[RM8]], %[[RM7]] : tensor<16xi32>
  // CHECK-NEXT: %[[RN:[^ ,:)#]+]] = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  // CHECK-NEXT: %[[MASK:[^ ,:)#]+]] = tt.expand_dims %[[RM9]] {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  // CHECK-NEXT: %[[MASK10:[^ ,:)#]+]] = tt.splat %M : i32 -> tensor<16x1xi32>
  // CHECK-NEXT: %[[MASK11:[^ ,:)#]+]] = arith.cmpi slt, %[[MASK]], %[[MASK10]] : tensor<16x1xi32>
  // CHECK-NEXT: %[[MASK12:[^ ,:)#]+]] = tt.expand_dims %[[RN]] {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  // CHECK-NEXT: %[[MASK13:[^ ,:)#]+]] = tt.splat %N : i32 -> tensor<1x32xi32>
  // CHECK-NEXT: %[[MASK14:[^ ,:)#]+]] = arith.cmpi slt, %[[MASK12]], %[[MASK13]] : tensor<1x32xi32>
  // CHECK-NEXT: %[[MASK15:[^ ,:)#]+]] = tt.broadcast %[[MASK11]] : tensor<16x1xi1> -> tensor<16x32xi1>
  // CHECK-NEXT: %[[MASK16:[^ ,:)#]+]] = tt.broadcast %[[MASK14]] : tensor<1x32xi1> -> tensor<16x32xi1>
  // CHECK-NEXT: %[[MASK17:[^ ,:)#]+]] = arith.andi %[[MASK15]], %[[MASK16]] : tensor<16x32xi1>
  // CHECK-NEXT: %[[MASK18:[^ ,:)#]+]] = tt.broadcast %[[MASK]] : tensor<16x1xi32> -> tensor<16x32xi32>
  // CHECK-NEXT: %[[MASK19:[^ ,:)#]+]] = tt.broadcast %[[MASK12]] : tensor<1x32xi32> -> tensor<16x32xi32>
  // CHECK-NEXT: %[[MASK20:[^ ,:)#]+]] = arith.cmpi sge, %[[MASK18]], %[[MASK19]] : tensor<16x32xi32>
  // CHECK-NEXT: %[[MASK21:[^ ,:)#]+]] = arith.andi %[[MASK17]], %[[MASK20]] : tensor<16x32xi1>
  // CHECK-NEXT: %[[V22:[^ ,:)#]+]] = arith.extsi %s : i32 to i64
  // CHECK-NEXT: %[[V23:[^ ,:)#]+]] = arith.extsi %[[RM5]] : i32 to i64
  // CHECK-NEXT: %[[V24:[^ ,:)#]+]] = arith.muli %[[V22]], %[[V23]] : i64
  // CHECK-NEXT: %[[V25:[^ ,:)#]+]] = arith.muli %[[V24]], %[[V3]] : i64
  // CHECK-NEXT: %[[V26:[^ ,:)#]+]] = tt.addptr %a, %[[V25]] : !tt.ptr<f16>, i64
  // CHECK-NEXT: %[[V27:[^ ,:)#]+]] = arith.extsi %M : i32 to i64
  // CHECK-NEXT: %[[V28:[^ ,:)#]+]] = arith.muli %[[V23]], %[[C16I64]] : i64
  // CHECK-NEXT: %[[V29:[^ ,:)#]+]] = arith.addi %[[V27]], %[[V28]] : i64
  // CHECK-NEXT: %[[V30:[^ ,:)#]+]] = arith.maxsi %[[V29]], %[[C1I64]] : i64
  // CHECK-NEXT: %[[V31:[^ ,:)#]+]] = arith.maxsi %[[V30]], %[[V2]] : i64
  // CHECK-NEXT: %[[V32:[^ ,:)#]+]] = arith.minsi %[[V31]], %[[V1]] : i64
  // CHECK-NEXT: %[[V33:[^ ,:)#]+]] = arith.trunci %[[V32]] : i64 to i32
  // CHECK-NEXT: %[[V34:[^ ,:)#]+]] = arith.maxsi %N, %[[V0]] : i32
  // CHECK-NEXT: %[[V35:[^ ,:)#]+]] = tt.make_tensor_descriptor %[[V26]], [%[[V33]], %[[V34]]], [%[[V22]], %[[C1I64]]] : <f16>, <16x32xf16>
  // CHECK-NEXT: %[[V36:[^ ,:)#]+]] = arith.cmpi sgt, %[[V29]], %[[C0I64]] : i64
  // CHECK-NEXT: %[[V37:[^ ,:)#]+]] = arith.extsi %N : i32 to i64
  // CHECK-NEXT: %[[V38:[^ ,:)#]+]] = arith.cmpi sgt, %[[V37]], %[[C0I64]] : i64
  // CHECK-NEXT: %[[V39:[^ ,:)#]+]] = arith.andi %[[V36]], %[[V38]] : i1
  // CHECK-NEXT: %[[V40:[^ ,:)#]+]] = arith.select %[[V39]], %[[C0I32]], %[[V]] : i32
  // CHECK-NEXT: %[[V41:[^ ,:)#]+]] = tt.descriptor_load %[[V35]][%[[V40]], %[[C0I32]]] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  // CHECK-NEXT: %[[V42:[^ ,:)#]+]] = arith.select %[[MASK21]], %[[V41]], %[[V4]] : tensor<16x32xi1>, tensor<16x32xf16>
  // CHECK-NEXT: %[[V0_0:[^ ,:)#]+]] = arith.muli %[[MASK]], %[[CST]] : tensor<16x1xi32>
  // CHECK-NEXT: %[[V1_0:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V2_0:[^ ,:)#]+]] = tt.addptr %[[V1_0]], %[[V0_0]] : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
  // CHECK-NEXT: %[[V3_0:[^ ,:)#]+]] = tt.broadcast %[[V2_0]] : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V4_0:[^ ,:)#]+]] = tt.addptr %[[V3_0]], %[[MASK19]] : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = arith.extf %[[V42]] : tensor<16x32xf16> to tensor<16x32xf32>
  // CHECK-NEXT: tt.store %[[V4_0]], %[[V5]], %[[MASK15]] : tensor<16x32x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @masked_again(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %N: i32, %s: i32 {tt.divisibility = 16 : i32}, %flag: i32) attributes {noinline = false} {
    %v = arith.constant dense<1.000000e+00> : tensor<16x32xf16>
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %rm = arith.constant 16 : i32
    %rm_0 = tt.get_program_id x : i32
    %rm_1 = arith.muli %rm_0, %rm : i32
    %rm_2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<16xi32>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %mask = tt.expand_dims %rm_4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %mask_5 = tt.splat %M : i32 -> tensor<16x1xi32>
    %mask_6 = arith.cmpi slt, %mask, %mask_5 : tensor<16x1xi32>
    %mask_7 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %mask_8 = tt.splat %N : i32 -> tensor<1x32xi32>
    %mask_9 = arith.cmpi slt, %mask_7, %mask_8 : tensor<1x32xi32>
    %mask_10 = tt.broadcast %mask_6 : tensor<16x1xi1> -> tensor<16x32xi1>
    %mask_11 = tt.broadcast %mask_9 : tensor<1x32xi1> -> tensor<16x32xi1>
    %mask_12 = arith.andi %mask_10, %mask_11 : tensor<16x32xi1>
    %mask_13 = tt.broadcast %mask : tensor<16x1xi32> -> tensor<16x32xi32>
    %mask_14 = tt.broadcast %mask_7 : tensor<1x32xi32> -> tensor<16x32xi32>
    %mask_15 = arith.cmpi sge, %mask_13, %mask_14 : tensor<16x32xi32>
    %mask_16 = arith.andi %mask_12, %mask_15 : tensor<16x32xi1>
    %v_17 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_18 = arith.muli %mask, %v_17 : tensor<16x1xi32>
    %v_19 = tt.splat %a : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_20 = tt.addptr %v_19, %v_18 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_21 = tt.broadcast %v_20 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_22 = tt.addptr %v_21, %mask_14 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    %v_23 = tt.load %v_22, %mask_16, %v : tensor<16x32x!tt.ptr<f16>>
    %0 = arith.muli %mask, %cst : tensor<16x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %3 = tt.broadcast %2 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %4 = tt.addptr %3, %mask_14 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %5 = arith.extf %v_23 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %4, %5, %mask_10 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// Where the flag does not hold, the block lies outside.
module {
  // CHECK-LABEL: tt.func public @a_scalar_condition(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}, %flag: i32) attributes {noinline = false} {
  // CHECK-NEXT: %[[V:[^ ,:)#]+]] = arith.constant -16 : i32
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.constant 0 : i64
  // CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.constant 1 : i64
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = arith.constant 2147483647 : i32
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = arith.constant 1 : i32
  // CHECK-NEXT: %[[CST:[^ ,:)#]+]] = arith.constant dense<32> : tensor<16x1xi32>
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = arith.constant 3 : i32
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  // CHECK-NEXT: %[[RN:[^ ,:)#]+]] = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = arith.cmpi sgt, %flag, %[[V4]] : i32
  // CHECK-NEXT: %[[V6:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  // CHECK-NEXT: %[[V7:[^ ,:)#]+]] = tt.expand_dims %[[RN]] {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  // CHECK-NEXT: %[[V8:[^ ,:)#]+]] = tt.broadcast %[[V7]] : tensor<1x32xi32> -> tensor<16x32xi32>
  // CHECK-NEXT: %[[V9:[^ ,:)#]+]] = arith.maxsi %M, %[[V3]] : i32
  // CHECK-NEXT: %[[V10:[^ ,:)#]+]] = arith.extsi %s : i32 to i64
  // CHECK-NEXT: %[[V11:[^ ,:)#]+]] = tt.make_tensor_descriptor %a, [%[[V9]], %[[V2]]], [%[[V10]], %[[V1]]] : <f16>, <16x32xf16>
  // CHECK-NEXT: %[[V12:[^ ,:)#]+]] = arith.extsi %M : i32 to i64
  // CHECK-NEXT: %[[V13:[^ ,:)#]+]] = arith.cmpi sgt, %[[V12]], %[[V0]] : i64
  // CHECK-NEXT: %[[V14:[^ ,:)#]+]] = arith.andi %[[V5]], %[[V13]] : i1
  // CHECK-NEXT: %[[V15:[^ ,:)#]+]] = arith.select %[[V14]], %[[C0I32]], %[[V]] : i32
  // CHECK-NEXT: %[[V16:[^ ,:)#]+]] = tt.descriptor_load %[[V11]][%[[V15]], %[[C0I32]]] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  // CHECK-NEXT: %[[V0_0:[^ ,:)#]+]] = arith.muli %[[V6]], %[[CST]] : tensor<16x1xi32>
  // CHECK-NEXT: %[[V1_0:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V2_0:[^ ,:)#]+]] = tt.addptr %[[V1_0]], %[[V0_0]] : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
  // CHECK-NEXT: %[[V3_0:[^ ,:)#]+]] = tt.broadcast %[[V2_0]] : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V4_0:[^ ,:)#]+]] = tt.addptr %[[V3_0]], %[[V8]] : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  // CHECK-NEXT: %[[V5_0:[^ ,:)#]+]] = arith.extf %[[V16]] : tensor<16x32xf16> to tensor<16x32xf32>
  // CHECK-NEXT: tt.store %[[V4_0]], %[[V5_0]] : tensor<16x32x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @a_scalar_condition(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}, %flag: i32) attributes {noinline = false} {
    %v = arith.constant dense<0.000000e+00> : tensor<16x32xf16>
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %v_0 = arith.constant 3 : i32
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v_1 = arith.cmpi sgt, %flag, %v_0 : i32
    %v_2 = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_3 = tt.splat %M : i32 -> tensor<16x1xi32>
    %v_4 = arith.cmpi slt, %v_2, %v_3 : tensor<16x1xi32>
    %v_5 = tt.splat %v_1 : i1 -> tensor<16x1xi1>
    %v_6 = arith.andi %v_5, %v_4 : tensor<16x1xi1>
    %v_7 = tt.broadcast %v_6 : tensor<16x1xi1> -> tensor<16x32xi1>
    %v_8 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_9 = arith.muli %v_2, %v_8 : tensor<16x1xi32>
    %v_10 = tt.splat %a : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_11 = tt.addptr %v_10, %v_9 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_12 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_13 = tt.broadcast %v_11 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_14 = tt.broadcast %v_12 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_15 = tt.addptr %v_13, %v_14 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    %v_16 = tt.load %v_15, %v_7, %v : tensor<16x32x!tt.ptr<f16>>
    %0 = arith.muli %v_2, %cst : tensor<16x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %3 = tt.broadcast %2 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %4 = tt.addptr %3, %v_14 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %5 = arith.extf %v_16 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %4, %5 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// It is no axis of the descriptor.
module {
  // CHECK-LABEL: tt.func public @an_axis_of_one(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  // CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[V:[^ ,:)#]+]] = arith.constant 1 : i64
  // CHECK-NEXT: %[[C2147483647I32:[^ ,:)#]+]] = arith.constant 2147483647 : i32
  // CHECK-NEXT: %[[CST:[^ ,:)#]+]] = arith.constant dense<32> : tensor<16x1x1xi32>
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  // CHECK-NEXT: %[[RN:[^ ,:)#]+]] = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = tt.get_program_id x : i32
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = tt.expand_dims %[[V1]] {axis = 2 : i32} : tensor<16x1xi32> -> tensor<16x1x1xi32>
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = tt.expand_dims %[[RN]] {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = tt.expand_dims %[[V3]] {axis = 1 : i32} : tensor<1x32xi32> -> tensor<1x1x32xi32>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = tt.broadcast %[[V4]] : tensor<1x1x32xi32> -> tensor<16x1x32xi32>
  // CHECK-NEXT: %[[V6:[^ ,:)#]+]] = arith.extsi %s : i32 to i64
  // CHECK-NEXT: %[[V7:[^ ,:)#]+]] = arith.extsi %[[V0]] : i32 to i64
  // CHECK-NEXT: %[[V8:[^ ,:)#]+]] = arith.muli %[[V6]], %[[V7]] : i64
  // CHECK-NEXT: %[[V9:[^ ,:)#]+]] = tt.addptr %a, %[[V8]] : !tt.ptr<f16>, i64
  // CHECK-NEXT: %[[V10:[^ ,:)#]+]] = tt.make_tensor_descriptor %[[V9]], [%[[C2147483647I32]], %[[C2147483647I32]]], [%[[V6]], %[[V]]] : <f16>, <16x32xf16>
  // CHECK-NEXT: %[[V11:[^ ,:)#]+]] = tt.descriptor_load %[[V10]][%[[C0I32]], %[[C0I32]]] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  // CHECK-NEXT: %[[V12:[^ ,:)#]+]] = tt.expand_dims %[[V11]] {axis = 1 : i32} : tensor<16x32xf16> -> tensor<16x1x32xf16>
  // CHECK-NEXT: %[[V0_0:[^ ,:)#]+]] = arith.muli %[[V2]], %[[CST]] : tensor<16x1x1xi32>
  // CHECK-NEXT: %[[V1_0:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V2_0:[^ ,:)#]+]] = tt.addptr %[[V1_0]], %[[V0_0]] : tensor<16x1x1x!tt.ptr<f32>>, tensor<16x1x1xi32>
  // CHECK-NEXT: %[[V3_0:[^ ,:)#]+]] = tt.broadcast %[[V2_0]] : tensor<16x1x1x!tt.ptr<f32>> -> tensor<16x1x32x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V4_0:[^ ,:)#]+]] = tt.addptr %[[V3_0]], %[[V5]] : tensor<16x1x32x!tt.ptr<f32>>, tensor<16x1x32xi32>
  // CHECK-NEXT: %[[V5_0:[^ ,:)#]+]] = arith.extf %[[V12]] : tensor<16x1x32xf16> to tensor<16x1x32xf32>
  // CHECK-NEXT: tt.store %[[V4_0]], %[[V5_0]] : tensor<16x1x32x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @an_axis_of_one(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<16x1x1xi32>
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v = tt.get_program_id x : i32
    %v_0 = arith.muli %v, %s : i32
    %v_1 = tt.addptr %a, %v_0 : !tt.ptr<f16>, i32
    %v_2 = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_3 = tt.expand_dims %v_2 {axis = 2 : i32} : tensor<16x1xi32> -> tensor<16x1x1xi32>
    %v_4 = tt.splat %s : i32 -> tensor<16x1x1xi32>
    %v_5 = arith.muli %v_3, %v_4 : tensor<16x1x1xi32>
    %v_6 = tt.splat %v_1 : !tt.ptr<f16> -> tensor<16x1x1x!tt.ptr<f16>>
    %v_7 = tt.addptr %v_6, %v_5 : tensor<16x1x1x!tt.ptr<f16>>, tensor<16x1x1xi32>
    %v_8 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_9 = tt.expand_dims %v_8 {axis = 1 : i32} : tensor<1x32xi32> -> tensor<1x1x32xi32>
    %v_10 = tt.broadcast %v_7 : tensor<16x1x1x!tt.ptr<f16>> -> tensor<16x1x32x!tt.ptr<f16>>
    %v_11 = tt.broadcast %v_9 : tensor<1x1x32xi32> -> tensor<16x1x32xi32>
    %v_12 = tt.addptr %v_10, %v_11 : tensor<16x1x32x!tt.ptr<f16>>, tensor<16x1x32xi32>
    %v_13 = tt.load %v_12 : tensor<16x1x32x!tt.ptr<f16>>
    %0 = arith.muli %v_3, %cst : tensor<16x1x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x1x1x!tt.ptr<f32>>, tensor<16x1x1xi32>
    %3 = tt.broadcast %2 : tensor<16x1x1x!tt.ptr<f32>> -> tensor<16x1x32x!tt.ptr<f32>>
    %4 = tt.addptr %3, %v_11 : tensor<16x1x32x!tt.ptr<f32>>, tensor<16x1x32xi32>
    %5 = arith.extf %v_13 : tensor<16x1x32xf16> to tensor<16x1x32xf32>
    tt.store %4, %5 : tensor<16x1x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// A mask that asks for no negative index lets the coordinate be negative.
module {
  // CHECK-LABEL: tt.func public @from_both_sides(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}, %at: i32) attributes {noinline = false} {
  // CHECK-NEXT: %[[V:[^ ,:)#]+]] = arith.constant -32 : i32
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.constant 0 : i64
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = arith.constant 1 : i64
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = arith.constant 2147483647 : i32
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = arith.constant 1 : i32
  // CHECK-NEXT: %[[CST:[^ ,:)#]+]] = arith.constant dense<32> : tensor<16x1xi32>
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  // CHECK-NEXT: %[[RN:[^ ,:)#]+]] = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = tt.expand_dims %[[RN]] {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  // CHECK-NEXT: %[[V6:[^ ,:)#]+]] = tt.broadcast %[[V5]] : tensor<1x32xi32> -> tensor<16x32xi32>
  // CHECK-NEXT: %[[V7:[^ ,:)#]+]] = arith.maxsi %M, %[[V4]] : i32
  // CHECK-NEXT: %[[V8:[^ ,:)#]+]] = arith.extsi %s : i32 to i64
  // CHECK-NEXT: %[[V9:[^ ,:)#]+]] = tt.make_tensor_descriptor %a, [%[[V7]], %[[V3]]], [%[[V8]], %[[V2]]] : <f16>, <16x32xf16>
  // CHECK-NEXT: %[[V10:[^ ,:)#]+]] = arith.extsi %M : i32 to i64
  // CHECK-NEXT: %[[V11:[^ ,:)#]+]] = arith.cmpi sgt, %[[V10]], %[[V0]] : i64
  // CHECK-NEXT: %[[V12:[^ ,:)#]+]] = arith.select %[[V11]], %[[V1]], %[[V]] : i32
  // CHECK-NEXT: %[[V13:[^ ,:)#]+]] = tt.descriptor_load %[[V9]][%at, %[[V12]]] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  // CHECK-NEXT: %[[V0_0:[^ ,:)#]+]] = tt.expand_dims %[[RM]] {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  // CHECK-NEXT: %[[V1_0:[^ ,:)#]+]] = arith.muli %[[V0_0]], %[[CST]] : tensor<16x1xi32>
  // CHECK-NEXT: %[[V2_0:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V3_0:[^ ,:)#]+]] = tt.addptr %[[V2_0]], %[[V1_0]] : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
  // CHECK-NEXT: %[[V4_0:[^ ,:)#]+]] = tt.broadcast %[[V3_0]] : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V5_0:[^ ,:)#]+]] = tt.addptr %[[V4_0]], %[[V6]] : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  // CHECK-NEXT: %[[V6_0:[^ ,:)#]+]] = arith.extf %[[V13]] : tensor<16x32xf16> to tensor<16x32xf32>
  // CHECK-NEXT: tt.store %[[V5_0]], %[[V6_0]] : tensor<16x32x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @from_both_sides(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}, %at: i32) attributes {noinline = false} {
    %v = arith.constant dense<0.000000e+00> : tensor<16x32xf16>
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %v_0 = arith.constant dense<0> : tensor<16x1xi32>
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rm_1 = tt.splat %at : i32 -> tensor<16xi32>
    %rm_2 = arith.addi %rm_1, %rm : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v_3 = tt.expand_dims %rm_2 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_4 = arith.cmpi sge, %v_3, %v_0 : tensor<16x1xi32>
    %v_5 = tt.splat %M : i32 -> tensor<16x1xi32>
    %v_6 = arith.cmpi slt, %v_3, %v_5 : tensor<16x1xi32>
    %v_7 = arith.andi %v_4, %v_6 : tensor<16x1xi1>
    %v_8 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_9 = arith.muli %v_3, %v_8 : tensor<16x1xi32>
    %v_10 = tt.splat %a : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_11 = tt.addptr %v_10, %v_9 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_12 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_13 = tt.broadcast %v_11 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_14 = tt.broadcast %v_12 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_15 = tt.addptr %v_13, %v_14 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    %v_16 = tt.broadcast %v_7 : tensor<16x1xi1> -> tensor<16x32xi1>
    %v_17 = tt.load %v_15, %v_16, %v : tensor<16x32x!tt.ptr<f16>>
    %0 = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %1 = arith.muli %0, %cst : tensor<16x1xi32>
    %2 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %4 = tt.broadcast %3 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %5 = tt.addptr %4, %v_14 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %6 = arith.extf %v_17 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %5, %6 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// A clamp is a limit like a wrap: two loads of the same tile have one descriptor.
module {
  // CHECK-LABEL: tt.func public @clamped(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
  // CHECK-NEXT: %[[C16I32:[^ ,:)#]+]] = arith.constant -16 : i32
  // CHECK-NEXT: %[[C0I64:[^ ,:)#]+]] = arith.constant 0 : i64
  // CHECK-NEXT: %[[ACC:[^ ,:)#]+]] = arith.constant 2147483647 : i32
  // CHECK-NEXT: %[[ACC0:[^ ,:)#]+]] = arith.constant 2147483647 : i64
  // CHECK-NEXT: %[[ACC1:[^ ,:)#]+]] = arith.constant -2147483648 : i64
  // CHECK-NEXT: %[[C1I64:[^ ,:)#]+]] = arith.constant 1 : i64
  // CHECK-NEXT: %[[C16I64:[^ ,:)#]+]] = arith.constant -16 : i64
  // CHECK-NEXT: %[[ACC2:[^ ,:)#]+]] = arith.constant 16 : i64
  // CHECK-NEXT: %[[ACC3:[^ ,:)#]+]] = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
  // CHECK-NEXT: %[[CST:[^ ,:)#]+]] = arith.constant dense<32> : tensor<16x1xi32>
  // CHECK-NEXT: %[[C1I32:[^ ,:)#]+]] = arith.constant 1 : i32
  // CHECK-NEXT: %[[C0I32:[^ ,:)#]+]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[RM:[^ ,:)#]+]] = arith.constant 16 : i32
  // CHECK-NEXT: %[[RM4:[^ ,:)#]+]] = tt.get_program_id x : i32
  // CHECK-NEXT: %[[RM5:[^ ,:)#]+]] = arith.muli %[[RM4]], %[[RM]] : i32
  // CHECK-NEXT: %[[RM6:[^ ,:)#]+]] = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  // CHECK-NEXT: %[[RM7:[^ ,:)#]+]] = tt.splat %[[RM5]] : i32 -> tensor<16xi32>
  // CHECK-NEXT: %[[RM8:[^ ,:)#]+]] = arith.addi %[[RM7]], %[[RM6]] : tensor<16xi32>
  // CHECK-NEXT: %[[RN:[^ ,:)#]+]] = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  // CHECK-NEXT: %[[ACC9:[^ ,:)#]+]] = arith.extsi %s : i32 to i64
  // CHECK-NEXT: %[[ACC10:[^ ,:)#]+]] = arith.extsi %[[RM4]] : i32 to i64
  // CHECK-NEXT: %[[ACC11:[^ ,:)#]+]] = arith.muli %[[ACC9]], %[[ACC10]] : i64
  // CHECK-NEXT: %[[ACC12:[^ ,:)#]+]] = arith.muli %[[ACC11]], %[[ACC2]] : i64
  // CHECK-NEXT: %[[ACC13:[^ ,:)#]+]] = tt.addptr %a, %[[ACC12]] : !tt.ptr<f16>, i64
  // CHECK-NEXT: %[[ACC14:[^ ,:)#]+]] = arith.extsi %M : i32 to i64
  // CHECK-NEXT: %[[ACC15:[^ ,:)#]+]] = arith.muli %[[ACC10]], %[[C16I64]] : i64
  // CHECK-NEXT: %[[ACC16:[^ ,:)#]+]] = arith.addi %[[ACC14]], %[[ACC15]] : i64
  // CHECK-NEXT: %[[ACC17:[^ ,:)#]+]] = arith.maxsi %[[ACC16]], %[[C1I64]] : i64
  // CHECK-NEXT: %[[ACC18:[^ ,:)#]+]] = arith.maxsi %[[ACC17]], %[[ACC1]] : i64
  // CHECK-NEXT: %[[ACC19:[^ ,:)#]+]] = arith.minsi %[[ACC18]], %[[ACC0]] : i64
  // CHECK-NEXT: %[[ACC20:[^ ,:)#]+]] = arith.trunci %[[ACC19]] : i64 to i32
  // CHECK-NEXT: %[[ACC21:[^ ,:)#]+]] = tt.make_tensor_descriptor %[[ACC13]], [%[[ACC20]], %[[ACC]]], [%[[ACC9]], %[[C1I64]]] : <f16>, <16x32xf16>
  // CHECK-NEXT: %[[ACC22:[^ ,:)#]+]] = scf.for %[[I:[^ ,:)#]+]] = %[[C0I32]] to %M step %[[C1I32]] iter_args(%[[ACC23:[^ ,:)#]+]] = %[[ACC3]]) -> (tensor<16x32xf32>)  : i32 {
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.cmpi sgt, %[[ACC16]], %[[C0I64]] : i64
  // CHECK-NEXT: %[[U24:[^ ,:)#]+]] = arith.select %[[U]], %[[C0I32]], %[[C16I32]] : i32
  // CHECK-NEXT: %[[U25:[^ ,:)#]+]] = tt.descriptor_load %[[ACC21]][%[[U24]], %[[C0I32]]] : !tt.tensordesc<16x32xf16> -> tensor<16x32xf16>
  // CHECK-NEXT: %[[ACC26:[^ ,:)#]+]] = arith.addf %[[U25]], %[[U25]] : tensor<16x32xf16>
  // CHECK-NEXT: %[[ACC27:[^ ,:)#]+]] = arith.extf %[[ACC26]] : tensor<16x32xf16> to tensor<16x32xf32>
  // CHECK-NEXT: %[[ACC28:[^ ,:)#]+]] = arith.addf %[[ACC23]], %[[ACC27]] : tensor<16x32xf32>
  // CHECK-NEXT: scf.yield %[[ACC28]] : tensor<16x32xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = tt.expand_dims %[[RM8]] {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = tt.splat %M : i32 -> tensor<16x1xi32>
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = arith.cmpi slt, %[[V0]], %[[V1]] : tensor<16x1xi32>
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = arith.muli %[[V0]], %[[CST]] : tensor<16x1xi32>
  // CHECK-NEXT: %[[V4:[^ ,:)#]+]] = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V5:[^ ,:)#]+]] = tt.addptr %[[V4]], %[[V3]] : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
  // CHECK-NEXT: %[[V6:[^ ,:)#]+]] = tt.expand_dims %[[RN]] {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  // CHECK-NEXT: %[[V7:[^ ,:)#]+]] = tt.broadcast %[[V5]] : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
  // CHECK-NEXT: %[[V8:[^ ,:)#]+]] = tt.broadcast %[[V6]] : tensor<1x32xi32> -> tensor<16x32xi32>
  // CHECK-NEXT: %[[V9:[^ ,:)#]+]] = tt.addptr %[[V7]], %[[V8]] : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  // CHECK-NEXT: %[[V10:[^ ,:)#]+]] = tt.broadcast %[[V2]] : tensor<16x1xi1> -> tensor<16x32xi1>
  // CHECK-NEXT: tt.store %[[V9]], %[[ACC22]], %[[V10]] : tensor<16x32x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func public @clamped(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %cst_0 = arith.constant dense<0> : tensor<16xi32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %rm = arith.constant 16 : i32
    %rm_1 = tt.get_program_id x : i32
    %rm_2 = arith.muli %rm_1, %rm : i32
    %rm_3 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rm_4 = tt.splat %rm_2 : i32 -> tensor<16xi32>
    %rm_5 = arith.addi %rm_4, %rm_3 : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %acc_6 = scf.for %i = %c0_i32 to %M step %c1_i32 iter_args(%acc_7 = %acc) -> (tensor<16x32xf32>)  : i32 {
      %u = tt.splat %M : i32 -> tensor<16xi32>
      %u_8 = arith.cmpi slt, %rm_5, %u : tensor<16xi32>
      %u_9 = arith.select %u_8, %rm_5, %cst_0 : tensor<16xi1>, tensor<16xi32>
      %u_10 = tt.expand_dims %u_9 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %u_11 = tt.splat %s : i32 -> tensor<16x1xi32>
      %u_12 = arith.muli %u_10, %u_11 : tensor<16x1xi32>
      %u_13 = tt.splat %a : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
      %u_14 = tt.addptr %u_13, %u_12 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
      %u_15 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %u_16 = tt.broadcast %u_14 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
      %u_17 = tt.broadcast %u_15 : tensor<1x32xi32> -> tensor<16x32xi32>
      %u_18 = tt.addptr %u_16, %u_17 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
      %u_19 = tt.load %u_18 : tensor<16x32x!tt.ptr<f16>>
      %v = arith.subi %M, %c1_i32 : i32
      %v_20 = tt.splat %v : i32 -> tensor<16xi32>
      %v_21 = arith.minsi %rm_5, %v_20 : tensor<16xi32>
      %v_22 = tt.expand_dims %v_21 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %v_23 = arith.muli %v_22, %u_11 : tensor<16x1xi32>
      %v_24 = tt.addptr %u_13, %v_23 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
      %v_25 = tt.broadcast %v_24 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
      %v_26 = tt.addptr %v_25, %u_17 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
      %v_27 = tt.load %v_26 : tensor<16x32x!tt.ptr<f16>>
      %acc_28 = arith.addf %u_19, %v_27 : tensor<16x32xf16>
      %acc_29 = arith.extf %acc_28 : tensor<16x32xf16> to tensor<16x32xf32>
      %acc_30 = arith.addf %acc_7, %acc_29 : tensor<16x32xf32>
      scf.yield %acc_30 : tensor<16x32xf32>
    }
    %0 = tt.expand_dims %rm_5 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %1 = tt.splat %M : i32 -> tensor<16x1xi32>
    %2 = arith.cmpi slt, %0, %1 : tensor<16x1xi32>
    %3 = arith.muli %0, %cst : tensor<16x1xi32>
    %4 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %5 = tt.addptr %4, %3 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %6 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %7 = tt.broadcast %5 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %8 = tt.broadcast %6 : tensor<1x32xi32> -> tensor<16x32xi32>
    %9 = tt.addptr %7, %8 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %10 = tt.broadcast %2 : tensor<16x1xi1> -> tensor<16x32xi1>
    tt.store %9, %acc_6, %10 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}
