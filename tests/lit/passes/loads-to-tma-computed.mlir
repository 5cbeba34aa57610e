// Which loads become TMA by default: those of a loop that computes the addresses of all operands of its products.
// RUN: ttc opt %s --split-input-file --verify-diagnostics \
// RUN:   --ttc-loads-to-tma="products=true once=false computed-row=128 num-warps=4"

module {
  tt.func public @computed(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf16>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
    %cst_1 = arith.constant dense<128> : tensor<64x1xi32>
    %c0_i32 = arith.constant 0 : i32
    %c128_i32 = arith.constant 128 : i32
    %c64_i32 = arith.constant 64 : i32
    %rm = tt.get_program_id x : i32
    %rm_2 = arith.muli %rm, %c64_i32 : i32
    %rm_3 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rm_4 = tt.splat %rm_2 : i32 -> tensor<64xi32>
    %rm_5 = arith.addi %rm_4, %rm_3 : tensor<64xi32>
    %rn = tt.get_program_id y : i32
    %rn_6 = arith.muli %rn, %c128_i32 : i32
    %rn_7 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %rn_8 = tt.splat %rn_6 : i32 -> tensor<128xi32>
    %rn_9 = arith.addi %rn_8, %rn_7 : tensor<128xi32>
    %acc_10 = scf.for %k = %c0_i32 to %K step %c64_i32 iter_args(%acc_11 = %acc) -> (tensor<64x128xf32>)  : i32 {
      %rk = tt.splat %k : i32 -> tensor<64xi32>
      %rk_12 = arith.addi %rk, %rm_3 : tensor<64xi32>
      %p = tt.splat %K : i32 -> tensor<64xi32>
      %p_13 = arith.cmpi slt, %rk_12, %p : tensor<64xi32>
      %p_14 = tt.expand_dims %p_13 {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
      %p_15 = tt.expand_dims %rm_5 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %p_16 = tt.splat %K : i32 -> tensor<64x1xi32>
      %p_17 = arith.muli %p_15, %p_16 : tensor<64x1xi32>
      %p_18 = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %p_19 = tt.addptr %p_18, %p_17 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %p_20 = tt.expand_dims %rk_12 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %p_21 = tt.broadcast %p_19 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
      %p_22 = tt.broadcast %p_20 : tensor<1x64xi32> -> tensor<64x64xi32>
      %p_23 = tt.addptr %p_21, %p_22 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %p_24 = tt.broadcast %p_14 : tensor<1x64xi1> -> tensor<64x64xi1>
      // expected-remark @below {{becomes a copy}}
      %p_25 = tt.load %p_23, %p_24, %cst_0 : tensor<64x64x!tt.ptr<f16>>
      %q = tt.expand_dims %rn_9 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %q_26 = tt.splat %K : i32 -> tensor<128x1xi32>
      %q_27 = arith.muli %q, %q_26 : tensor<128x1xi32>
      %q_28 = tt.splat %b : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
      %q_29 = tt.addptr %q_28, %q_27 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
      %q_30 = tt.broadcast %q_29 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x64x!tt.ptr<f16>>
      %q_31 = tt.broadcast %p_20 : tensor<1x64xi32> -> tensor<128x64xi32>
      %q_32 = tt.addptr %q_30, %q_31 : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
      %q_33 = tt.broadcast %p_14 : tensor<1x64xi1> -> tensor<128x64xi1>
      // expected-remark @below {{becomes a copy}}
      %q_34 = tt.load %q_32, %q_33, %cst : tensor<128x64x!tt.ptr<f16>>
      %acc_35 = tt.trans %q_34 {order = array<i32: 1, 0>} : tensor<128x64xf16> -> tensor<64x128xf16>
      %acc_36 = tt.dot %p_25, %acc_35, %acc_11, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
      scf.yield %acc_36 : tensor<64x128xf32>
    }
    %0 = tt.expand_dims %rm_5 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %1 = arith.muli %0, %cst_1 : tensor<64x1xi32>
    %2 = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %4 = tt.expand_dims %rn_9 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %5 = tt.broadcast %3 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x128x!tt.ptr<f32>>
    %6 = tt.broadcast %4 : tensor<1x128xi32> -> tensor<64x128xi32>
    %7 = tt.addptr %5, %6 : tensor<64x128x!tt.ptr<f32>>, tensor<64x128xi32>
    tt.store %7, %acc_10 : tensor<64x128x!tt.ptr<f32>>
    tt.return
  }
}
// ttc.metadata: {"kernel":"computed","arch":"sm_90a","num_warps":4,"num_stages":3,"num_ctas":1,"params":[{"name":"a","type":"*fp16","divisibility":16},{"name":"b","type":"*fp16","divisibility":16},{"name":"y","type":"*fp32","divisibility":16},{"name":"K","type":"i32","divisibility":16}],"constants":{"BK":"64","BM":"64","BN":"128"},"options":["no-line-info"]}
// -----

module {
  tt.func public @carried(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf16>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
    %cst_1 = arith.constant dense<128> : tensor<64x1xi32>
    %cst_2 = arith.constant dense<64> : tensor<128x64xi32>
    %cst_3 = arith.constant dense<64> : tensor<64x64xi32>
    %c0_i32 = arith.constant 0 : i32
    %c128_i32 = arith.constant 128 : i32
    %c64_i32 = arith.constant 64 : i32
    %rm = tt.get_program_id x : i32
    %rm_4 = arith.muli %rm, %c64_i32 : i32
    %rm_5 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rm_6 = tt.splat %rm_4 : i32 -> tensor<64xi32>
    %rm_7 = arith.addi %rm_6, %rm_5 : tensor<64xi32>
    %rn = tt.get_program_id y : i32
    %rn_8 = arith.muli %rn, %c128_i32 : i32
    %rn_9 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %rn_10 = tt.splat %rn_8 : i32 -> tensor<128xi32>
    %rn_11 = arith.addi %rn_10, %rn_9 : tensor<128xi32>
    %pa = tt.expand_dims %rm_7 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %pa_12 = tt.splat %K : i32 -> tensor<64x1xi32>
    %pa_13 = arith.muli %pa, %pa_12 : tensor<64x1xi32>
    %pa_14 = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %pa_15 = tt.addptr %pa_14, %pa_13 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %pa_16 = tt.expand_dims %rm_5 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %pa_17 = tt.broadcast %pa_15 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
    %pa_18 = tt.broadcast %pa_16 : tensor<1x64xi32> -> tensor<64x64xi32>
    %pa_19 = tt.addptr %pa_17, %pa_18 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %pb = tt.expand_dims %rn_11 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %pb_20 = tt.splat %K : i32 -> tensor<128x1xi32>
    %pb_21 = arith.muli %pb, %pb_20 : tensor<128x1xi32>
    %pb_22 = tt.splat %b : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
    %pb_23 = tt.addptr %pb_22, %pb_21 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
    %pb_24 = tt.broadcast %pb_23 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x64x!tt.ptr<f16>>
    %pb_25 = tt.broadcast %pa_16 : tensor<1x64xi32> -> tensor<128x64xi32>
    %pb_26 = tt.addptr %pb_24, %pb_25 : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
    %acc_27:3 = scf.for %k = %c0_i32 to %K step %c64_i32 iter_args(%pa_28 = %pa_19, %pb_29 = %pb_26, %acc_30 = %acc) -> (tensor<64x64x!tt.ptr<f16>>, tensor<128x64x!tt.ptr<f16>>, tensor<64x128xf32>)  : i32 {
      %p = arith.subi %K, %k : i32
      %p_31 = tt.splat %p : i32 -> tensor<64xi32>
      %p_32 = arith.cmpi slt, %rm_5, %p_31 : tensor<64xi32>
      %p_33 = tt.expand_dims %p_32 {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
      %p_34 = tt.broadcast %p_33 : tensor<1x64xi1> -> tensor<64x64xi1>
      // expected-remark @below {{does not become TMA: it is no operand of 16 bits in a loop that computes its addresses}}
      %p_35 = tt.load %pa_28, %p_34, %cst_0 : tensor<64x64x!tt.ptr<f16>>
      %q = tt.broadcast %p_33 : tensor<1x64xi1> -> tensor<128x64xi1>
      // expected-remark @below {{does not become TMA: it is no operand of 16 bits in a loop that computes its addresses}}
      %q_36 = tt.load %pb_29, %q, %cst : tensor<128x64x!tt.ptr<f16>>
      %acc_37 = tt.trans %q_36 {order = array<i32: 1, 0>} : tensor<128x64xf16> -> tensor<64x128xf16>
      %acc_38 = tt.dot %p_35, %acc_37, %acc_30, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
      %pa_39 = tt.addptr %pa_28, %cst_3 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %pb_40 = tt.addptr %pb_29, %cst_2 : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
      scf.yield %pa_39, %pb_40, %acc_38 : tensor<64x64x!tt.ptr<f16>>, tensor<128x64x!tt.ptr<f16>>, tensor<64x128xf32>
    }
    %0 = arith.muli %pa, %cst_1 : tensor<64x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %3 = tt.expand_dims %rn_11 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %4 = tt.broadcast %2 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x128x!tt.ptr<f32>>
    %5 = tt.broadcast %3 : tensor<1x128xi32> -> tensor<64x128xi32>
    %6 = tt.addptr %4, %5 : tensor<64x128x!tt.ptr<f32>>, tensor<64x128xi32>
    tt.store %6, %acc_27#2 : tensor<64x128x!tt.ptr<f32>>
    tt.return
  }
}
// ttc.metadata: {"kernel":"carried","arch":"sm_90a","num_warps":4,"num_stages":3,"num_ctas":1,"params":[{"name":"a","type":"*fp16","divisibility":16},{"name":"b","type":"*fp16","divisibility":16},{"name":"y","type":"*fp32","divisibility":16},{"name":"K","type":"i32","divisibility":16}],"constants":{"BK":"64","BM":"64","BN":"128"},"options":["no-line-info"]}
// -----

module {
  tt.func public @gathered(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %rows: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<128x64xf16>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
    %cst_1 = arith.constant dense<128> : tensor<64x1xi32>
    %c0_i32 = arith.constant 0 : i32
    %c128_i32 = arith.constant 128 : i32
    %c64_i32 = arith.constant 64 : i32
    %rm = tt.get_program_id x : i32
    %rm_2 = arith.muli %rm, %c64_i32 : i32
    %rm_3 = tt.addptr %rows, %rm_2 : !tt.ptr<i32>, i32
    %rm_4 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rm_5 = tt.splat %rm_3 : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %rm_6 = tt.addptr %rm_5, %rm_4 : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    // expected-remark @below {{the load does not become TMA: it feeds no matrix product}}
    %rm_7 = tt.load %rm_6 : tensor<64x!tt.ptr<i32>>
    %rn = tt.get_program_id y : i32
    %rn_8 = arith.muli %rn, %c128_i32 : i32
    %rn_9 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %rn_10 = tt.splat %rn_8 : i32 -> tensor<128xi32>
    %rn_11 = arith.addi %rn_10, %rn_9 : tensor<128xi32>
    %acc_12 = scf.for %k = %c0_i32 to %K step %c64_i32 iter_args(%acc_13 = %acc) -> (tensor<64x128xf32>)  : i32 {
      %rk = tt.splat %k : i32 -> tensor<64xi32>
      %rk_14 = arith.addi %rk, %rm_4 : tensor<64xi32>
      %p = tt.splat %K : i32 -> tensor<64xi32>
      %p_15 = arith.cmpi slt, %rk_14, %p : tensor<64xi32>
      %p_16 = tt.expand_dims %p_15 {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>
      %p_17 = tt.expand_dims %rm_7 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %p_18 = tt.splat %K : i32 -> tensor<64x1xi32>
      %p_19 = arith.muli %p_17, %p_18 : tensor<64x1xi32>
      %p_20 = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %p_21 = tt.addptr %p_20, %p_19 : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
      %p_22 = tt.expand_dims %rk_14 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %p_23 = tt.broadcast %p_21 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
      %p_24 = tt.broadcast %p_22 : tensor<1x64xi32> -> tensor<64x64xi32>
      %p_25 = tt.addptr %p_23, %p_24 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %p_26 = tt.broadcast %p_16 : tensor<1x64xi1> -> tensor<64x64xi1>
      // expected-remark @below {{does not become TMA}}
      %p_27 = tt.load %p_25, %p_26, %cst_0 : tensor<64x64x!tt.ptr<f16>>
      %q = tt.expand_dims %rn_11 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %q_28 = tt.splat %K : i32 -> tensor<128x1xi32>
      %q_29 = arith.muli %q, %q_28 : tensor<128x1xi32>
      %q_30 = tt.splat %b : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
      %q_31 = tt.addptr %q_30, %q_29 : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
      %q_32 = tt.broadcast %q_31 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x64x!tt.ptr<f16>>
      %q_33 = tt.broadcast %p_22 : tensor<1x64xi32> -> tensor<128x64xi32>
      %q_34 = tt.addptr %q_32, %q_33 : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
      %q_35 = tt.broadcast %p_16 : tensor<1x64xi1> -> tensor<128x64xi1>
      // expected-remark @below {{another operand of the loop's products does not}}
      %q_36 = tt.load %q_34, %q_35, %cst : tensor<128x64x!tt.ptr<f16>>
      %acc_37 = tt.trans %q_36 {order = array<i32: 1, 0>} : tensor<128x64xf16> -> tensor<64x128xf16>
      %acc_38 = tt.dot %p_27, %acc_37, %acc_13, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
      scf.yield %acc_38 : tensor<64x128xf32>
    }
    %0 = tt.expand_dims %rm_7 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %1 = arith.muli %0, %cst_1 : tensor<64x1xi32>
    %2 = tt.splat %y : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
    %4 = tt.expand_dims %rn_11 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %5 = tt.broadcast %3 : tensor<64x1x!tt.ptr<f32>> -> tensor<64x128x!tt.ptr<f32>>
    %6 = tt.broadcast %4 : tensor<1x128xi32> -> tensor<64x128xi32>
    %7 = tt.addptr %5, %6 : tensor<64x128x!tt.ptr<f32>>, tensor<64x128xi32>
    tt.store %7, %acc_12 : tensor<64x128x!tt.ptr<f32>>
    tt.return
  }
}
// ttc.metadata: {"kernel":"gathered","arch":"sm_90a","num_warps":4,"num_stages":3,"num_ctas":1,"params":[{"name":"a","type":"*fp16","divisibility":16},{"name":"b","type":"*fp16","divisibility":16},{"name":"rows","type":"*i32","divisibility":16},{"name":"y","type":"*fp32","divisibility":16},{"name":"K","type":"i32","divisibility":16}],"constants":{"BK":"64","BM":"64","BN":"128"},"options":["no-line-info"]}
