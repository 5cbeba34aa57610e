// Loads that stay as they are, each with the reason.
// RUN: ttc opt %s --split-input-file --verify-diagnostics --ttc-loads-to-tma

module {
  tt.func public @stride_of_any_number(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %rm = arith.constant 16 : i32
    %rm_0 = tt.get_program_id x : i32
    %rm_1 = arith.muli %rm_0, %rm : i32
    %rm_2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<16xi32>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v = tt.expand_dims %rm_4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_5 = tt.splat %M : i32 -> tensor<16x1xi32>
    %v_6 = arith.cmpi slt, %v, %v_5 : tensor<16x1xi32>
    %v_7 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_8 = arith.muli %v, %v_7 : tensor<16x1xi32>
    %v_9 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_10 = tt.addptr %v_9, %v_8 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_11 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_12 = tt.broadcast %v_10 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_13 = tt.broadcast %v_11 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_14 = tt.addptr %v_12, %v_13 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    %v_15 = tt.broadcast %v_6 : tensor<16x1xi1> -> tensor<16x32xi1>
    // expected-remark @below {{the load does not become TMA: a stride is not known to be a multiple of 16 bytes}}
    %v_16 = tt.load %v_14, %v_15 : tensor<16x32x!tt.ptr<f16>>
    %0 = arith.muli %v, %cst : tensor<16x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %3 = tt.broadcast %2 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %4 = tt.addptr %3, %v_13 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %5 = arith.extf %v_16 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %4, %5, %v_15 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @no_contiguous_axis(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}, %t: i32) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_0 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_1 = arith.muli %v, %v_0 : tensor<16x1xi32>
    %v_2 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_3 = tt.addptr %v_2, %v_1 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_4 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_5 = tt.splat %t : i32 -> tensor<1x32xi32>
    %v_6 = arith.muli %v_4, %v_5 : tensor<1x32xi32>
    %v_7 = tt.broadcast %v_3 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_8 = tt.broadcast %v_6 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_9 = tt.addptr %v_7, %v_8 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: no axis is known to be contiguous: its stride is not the constant 1}}
    %v_10 = tt.load %v_9 : tensor<16x32x!tt.ptr<f16>>
    %0 = arith.muli %v, %cst : tensor<16x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %3 = tt.broadcast %2 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %4 = tt.broadcast %v_4 : tensor<1x32xi32> -> tensor<16x32xi32>
    %5 = tt.addptr %3, %4 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %6 = arith.extf %v_10 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %5, %6 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @writes_what_it_loads(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<2.000000e+00> : tensor<16x32xf16>
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_0 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_1 = arith.muli %v, %v_0 : tensor<16x1xi32>
    %v_2 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_3 = tt.addptr %v_2, %v_1 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_4 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_5 = tt.broadcast %v_3 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_6 = tt.broadcast %v_4 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_7 = tt.addptr %v_5, %v_6 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: the kernel writes the array too}}
    %v_8 = tt.load %v_7 : tensor<16x32x!tt.ptr<f16>>
    %0 = arith.mulf %v_8, %cst : tensor<16x32xf16>
    tt.store %v_7, %0 : tensor<16x32x!tt.ptr<f16>>
    tt.return
  }
}

// -----

module {
  tt.func public @gather(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %rm = arith.constant dense<3> : tensor<16xi32>
    %rm_0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rm_1 = arith.muli %rm_0, %rm : tensor<16xi32>
    %rm_2 = tt.splat %y : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %rm_3 = tt.addptr %rm_2, %rm_1 : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    // expected-remark @below {{the load does not become TMA: the kernel writes the array too}}
    %rm_4 = tt.load %rm_3 : tensor<16x!tt.ptr<i32>>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v = tt.expand_dims %rm_4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_5 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_6 = arith.muli %v, %v_5 : tensor<16x1xi32>
    %v_7 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_8 = tt.addptr %v_7, %v_6 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_9 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_10 = tt.broadcast %v_8 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_11 = tt.broadcast %v_9 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_12 = tt.addptr %v_10, %v_11 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: the address depends on what was read from memory}}
    %v_13 = tt.load %v_12 : tensor<16x32x!tt.ptr<f16>>
    %0 = tt.splat %y : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
    %1 = tt.addptr %0, %rn : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
    %2 = arith.extf %v_13 : tensor<16x32xf16> to tensor<16x32xf32>
    %3 = arith.fptosi %2 : tensor<16x32xf32> to tensor<16x32xi32>
    %4 = "tt.reduce"(%3) <{axis = 0 : i32}> ({
    ^bb0(%arg4: i32, %arg5: i32):
      %5 = arith.addi %arg4, %arg5 : i32
      tt.reduce.return %5 : i32
    }) : (tensor<16x32xi32>) -> tensor<32xi32>
    tt.store %1, %4 : tensor<32x!tt.ptr<i32>>
    tt.return
  }
}

// -----

module {
  tt.func public @other_term_and_no_end(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %v = arith.constant dense<0.000000e+00> : tensor<16x32xf16>
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %rm = arith.constant 16 : i32
    %rm_0 = tt.get_program_id x : i32
    %rm_1 = arith.muli %rm_0, %rm : i32
    %rm_2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<16xi32>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v_5 = tt.expand_dims %rm_4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_6 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_7 = tt.broadcast %v_5 : tensor<16x1xi32> -> tensor<16x32xi32>
    %v_8 = tt.broadcast %v_6 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_9 = arith.cmpi sge, %v_7, %v_8 : tensor<16x32xi32>
    %v_10 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_11 = arith.muli %v_5, %v_10 : tensor<16x1xi32>
    %v_12 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_13 = tt.addptr %v_12, %v_11 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_14 = tt.broadcast %v_13 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_15 = tt.addptr %v_14, %v_8 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: its mask asks more than bounds, and does not bound every axis}}
    %v_16 = tt.load %v_15, %v_9, %v : tensor<16x32x!tt.ptr<f16>>
    %0 = arith.muli %v_5, %cst : tensor<16x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %3 = tt.broadcast %2 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %4 = tt.addptr %3, %v_8 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %5 = arith.extf %v_16 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %4, %5 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @other_term_and_negative_start(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %low: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %v = arith.constant dense<0.000000e+00> : tensor<16x32xf16>
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %v_0 = arith.constant dense<30> : tensor<1x32xi32>
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rm_1 = tt.splat %low : i32 -> tensor<16xi32>
    %rm_2 = arith.addi %rm_1, %rm : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v_3 = tt.expand_dims %rm_2 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_4 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_5 = tt.broadcast %v_3 : tensor<16x1xi32> -> tensor<16x32xi32>
    %v_6 = tt.broadcast %v_4 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_7 = arith.cmpi sge, %v_5, %v_6 : tensor<16x32xi32>
    %v_8 = tt.splat %M : i32 -> tensor<16x1xi32>
    %v_9 = arith.cmpi slt, %v_3, %v_8 : tensor<16x1xi32>
    %v_10 = tt.broadcast %v_9 : tensor<16x1xi1> -> tensor<16x32xi1>
    %v_11 = arith.andi %v_7, %v_10 : tensor<16x32xi1>
    %v_12 = arith.cmpi slt, %v_4, %v_0 : tensor<1x32xi32>
    %v_13 = tt.broadcast %v_12 : tensor<1x32xi1> -> tensor<16x32xi1>
    %v_14 = arith.andi %v_11, %v_13 : tensor<16x32xi1>
    %v_15 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_16 = arith.muli %v_3, %v_15 : tensor<16x1xi32>
    %v_17 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_18 = tt.addptr %v_17, %v_16 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_19 = tt.broadcast %v_18 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_20 = tt.addptr %v_19, %v_6 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: its mask asks more than bounds, and an index may be negative}}
    %v_21 = tt.load %v_20, %v_14, %v : tensor<16x32x!tt.ptr<f16>>
    %0 = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %1 = arith.muli %0, %cst : tensor<16x1xi32>
    %2 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %4 = tt.broadcast %3 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %5 = tt.addptr %4, %v_6 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %6 = arith.extf %v_21 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %5, %6 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @wrapped_rows_are_stored(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %rm = arith.constant 16 : i32
    %rm_0 = tt.get_program_id x : i32
    %rm_1 = arith.muli %rm_0, %rm : i32
    %rm_2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<16xi32>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v = tt.splat %M : i32 -> tensor<16xi32>
    %v_5 = arith.remsi %rm_4, %v : tensor<16xi32>
    %v_6 = tt.expand_dims %v_5 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_7 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_8 = arith.muli %v_6, %v_7 : tensor<16x1xi32>
    %v_9 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_10 = tt.addptr %v_9, %v_8 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_11 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_12 = tt.broadcast %v_10 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_13 = tt.broadcast %v_11 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_14 = tt.addptr %v_12, %v_13 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: elements at indices that wrap around may be seen}}
    %v_15 = tt.load %v_14 : tensor<16x32x!tt.ptr<f16>>
    %0 = tt.expand_dims %rm_4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %1 = arith.muli %0, %cst : tensor<16x1xi32>
    %2 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %4 = tt.broadcast %3 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %5 = tt.addptr %4, %v_13 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %6 = arith.extf %v_15 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %5, %6 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @wrapped_rows_are_summed(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %rm = arith.constant 16 : i32
    %rm_0 = tt.get_program_id x : i32
    %rm_1 = arith.muli %rm_0, %rm : i32
    %rm_2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<16xi32>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v = tt.splat %M : i32 -> tensor<16xi32>
    %v_5 = arith.remsi %rm_4, %v : tensor<16xi32>
    %v_6 = tt.expand_dims %v_5 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_7 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_8 = arith.muli %v_6, %v_7 : tensor<16x1xi32>
    %v_9 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_10 = tt.addptr %v_9, %v_8 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_11 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_12 = tt.broadcast %v_10 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_13 = tt.broadcast %v_11 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_14 = tt.addptr %v_12, %v_13 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: elements at indices that wrap around may be seen}}
    %v_15 = tt.load %v_14 : tensor<16x32x!tt.ptr<f16>>
    %v_16 = "tt.reduce"(%v_15) <{axis = 0 : i32}> ({
    ^bb0(%v_20: f16, %v_21: f16):
      %v_22 = arith.addf %v_20, %v_21 : f16
      tt.reduce.return %v_22 : f16
    }) : (tensor<16x32xf16>) -> tensor<32xf16>
    %v_17 = tt.expand_dims %v_16 {axis = 0 : i32} : tensor<32xf16> -> tensor<1x32xf16>
    %v_18 = tt.broadcast %v_17 : tensor<1x32xf16> -> tensor<16x32xf16>
    %v_19 = arith.addf %v_15, %v_18 : tensor<16x32xf16>
    %0 = tt.expand_dims %rm_4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %1 = tt.splat %M : i32 -> tensor<16x1xi32>
    %2 = arith.cmpi slt, %0, %1 : tensor<16x1xi32>
    %3 = arith.muli %0, %cst : tensor<16x1xi32>
    %4 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %5 = tt.addptr %4, %3 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %6 = tt.broadcast %5 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %7 = tt.addptr %6, %v_13 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %8 = tt.broadcast %2 : tensor<16x1xi1> -> tensor<16x32xi1>
    %9 = arith.extf %v_19 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %7, %9, %8 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @wraps_at_another_number(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %N: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %rm = arith.constant 16 : i32
    %rm_0 = tt.get_program_id x : i32
    %rm_1 = arith.muli %rm_0, %rm : i32
    %rm_2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rm_3 = tt.splat %rm_1 : i32 -> tensor<16xi32>
    %rm_4 = arith.addi %rm_3, %rm_2 : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v = tt.splat %M : i32 -> tensor<16xi32>
    %v_5 = arith.remsi %rm_4, %v : tensor<16xi32>
    %v_6 = tt.expand_dims %v_5 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_7 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_8 = arith.muli %v_6, %v_7 : tensor<16x1xi32>
    %v_9 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_10 = tt.addptr %v_9, %v_8 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_11 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_12 = tt.broadcast %v_10 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_13 = tt.broadcast %v_11 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_14 = tt.addptr %v_12, %v_13 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: elements at indices that wrap around may be seen}}
    %v_15 = tt.load %v_14 : tensor<16x32x!tt.ptr<f16>>
    %0 = tt.expand_dims %rm_4 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %1 = tt.splat %N : i32 -> tensor<16x1xi32>
    %2 = arith.cmpi slt, %0, %1 : tensor<16x1xi32>
    %3 = arith.muli %0, %cst : tensor<16x1xi32>
    %4 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %5 = tt.addptr %4, %3 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %6 = tt.broadcast %5 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %7 = tt.addptr %6, %v_13 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %8 = tt.broadcast %2 : tensor<16x1xi1> -> tensor<16x32xi1>
    %9 = arith.extf %v_15 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %7, %9, %8 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @wraps_a_negative_index(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %low: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rm_0 = tt.splat %low : i32 -> tensor<16xi32>
    %rm_1 = arith.addi %rm_0, %rm : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v = tt.splat %M : i32 -> tensor<16xi32>
    %v_2 = arith.remsi %rm_1, %v : tensor<16xi32>
    %v_3 = tt.expand_dims %v_2 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_4 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_5 = arith.muli %v_3, %v_4 : tensor<16x1xi32>
    %v_6 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_7 = tt.addptr %v_6, %v_5 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_8 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_9 = tt.broadcast %v_7 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_10 = tt.broadcast %v_8 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_11 = tt.addptr %v_9, %v_10 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: an index may be negative where it wraps around}}
    %v_12 = tt.load %v_11 : tensor<16x32x!tt.ptr<f16>>
    %0 = tt.expand_dims %rm_1 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %1 = tt.splat %M : i32 -> tensor<16x1xi32>
    %2 = arith.cmpi slt, %0, %1 : tensor<16x1xi32>
    %3 = arith.muli %0, %cst : tensor<16x1xi32>
    %4 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %5 = tt.addptr %4, %3 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %6 = tt.broadcast %5 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %7 = tt.addptr %6, %v_10 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %8 = tt.broadcast %2 : tensor<16x1xi1> -> tensor<16x32xi1>
    %9 = arith.extf %v_12 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %7, %9, %8 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @mask_moves_otherwise(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<16x32xf16>
    %cst_0 = arith.constant dense<32> : tensor<16x1xi32>
    %c2_i32 = arith.constant 2 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %acc_1 = scf.for %k = %c0_i32 to %M step %c1_i32 iter_args(%acc_2 = %acc) -> (tensor<16x32xf32>)  : i32 {
      %acc_3 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %acc_4 = arith.muli %k, %c2_i32 : i32
      %acc_5 = arith.subi %M, %acc_4 : i32
      %acc_6 = tt.splat %acc_5 : i32 -> tensor<1x32xi32>
      %acc_7 = arith.cmpi slt, %acc_3, %acc_6 : tensor<1x32xi32>
      %acc_8 = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %acc_9 = tt.splat %s : i32 -> tensor<16x1xi32>
      %acc_10 = arith.muli %acc_8, %acc_9 : tensor<16x1xi32>
      %acc_11 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
      %acc_12 = tt.addptr %acc_11, %acc_10 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
      %acc_13 = tt.broadcast %acc_12 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
      %acc_14 = tt.broadcast %acc_3 : tensor<1x32xi32> -> tensor<16x32xi32>
      %acc_15 = tt.addptr %acc_13, %acc_14 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
      %acc_16 = tt.broadcast %acc_7 : tensor<1x32xi1> -> tensor<16x32xi1>
      // expected-remark @below {{the load does not become TMA: the descriptor would change in every iteration of the loop}}
      %acc_17 = tt.load %acc_15, %acc_16, %cst : tensor<16x32x!tt.ptr<f16>>
      %acc_18 = arith.extf %acc_17 : tensor<16x32xf16> to tensor<16x32xf32>
      %acc_19 = arith.addf %acc_2, %acc_18 : tensor<16x32xf32>
      scf.yield %acc_19 : tensor<16x32xf32>
    }
    %0 = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %1 = arith.muli %0, %cst_0 : tensor<16x1xi32>
    %2 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %4 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %5 = tt.broadcast %3 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %6 = tt.broadcast %4 : tensor<1x32xi32> -> tensor<16x32xi32>
    %7 = tt.addptr %5, %6 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    tt.store %7, %acc_1 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @a_step_that_changes(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %c32_i32 = arith.constant 32 : i32
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %ptrs = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %ptrs_0 = tt.splat %s : i32 -> tensor<16x1xi32>
    %ptrs_1 = arith.muli %ptrs, %ptrs_0 : tensor<16x1xi32>
    %ptrs_2 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %ptrs_3 = tt.addptr %ptrs_2, %ptrs_1 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %ptrs_4 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %ptrs_5 = tt.broadcast %ptrs_3 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %ptrs_6 = tt.broadcast %ptrs_4 : tensor<1x32xi32> -> tensor<16x32xi32>
    %ptrs_7 = tt.addptr %ptrs_5, %ptrs_6 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    %ptrs_8:2 = scf.for %k = %c0_i32 to %M step %c1_i32 iter_args(%acc_9 = %acc, %ptrs_10 = %ptrs_7) -> (tensor<16x32xf32>, tensor<16x32x!tt.ptr<f16>>)  : i32 {
      // expected-remark @below {{the load does not become TMA: the address changes in the loop by something else than a fixed step}}
      %acc_11 = tt.load %ptrs_10 : tensor<16x32x!tt.ptr<f16>>
      %acc_12 = arith.extf %acc_11 : tensor<16x32xf16> to tensor<16x32xf32>
      %acc_13 = arith.addf %acc_9, %acc_12 : tensor<16x32xf32>
      %ptrs_14 = arith.muli %k, %c32_i32 : i32
      %ptrs_15 = tt.splat %ptrs_14 : i32 -> tensor<16x32xi32>
      %ptrs_16 = tt.addptr %ptrs_10, %ptrs_15 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
      scf.yield %acc_13, %ptrs_16 : tensor<16x32xf32>, tensor<16x32x!tt.ptr<f16>>
    }
    %0 = arith.muli %ptrs, %cst : tensor<16x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %3 = tt.broadcast %2 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %4 = tt.addptr %3, %ptrs_6 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    tt.store %4, %ptrs_8#0 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @an_index_of_64_bits(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %n: i64, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %c1_i64 = arith.constant 1 : i64
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %c16_i64 = arith.constant 16 : i64
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %acc_0 = scf.for %i = %c0_i64 to %n step %c1_i64 iter_args(%acc_1 = %acc) -> (tensor<16x32xf32>)  : i64 {
      %acc_2 = arith.muli %i, %c16_i64 : i64
      %acc_3 = arith.extsi %rm : tensor<16xi32> to tensor<16xi64>
      %acc_4 = tt.splat %acc_2 : i64 -> tensor<16xi64>
      %acc_5 = arith.addi %acc_4, %acc_3 : tensor<16xi64>
      %acc_6 = tt.expand_dims %acc_5 {axis = 1 : i32} : tensor<16xi64> -> tensor<16x1xi64>
      %acc_7 = arith.extsi %s : i32 to i64
      %acc_8 = tt.splat %acc_7 : i64 -> tensor<16x1xi64>
      %acc_9 = arith.muli %acc_6, %acc_8 : tensor<16x1xi64>
      %acc_10 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
      %acc_11 = tt.addptr %acc_10, %acc_9 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi64>
      %acc_12 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %acc_13 = tt.broadcast %acc_11 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
      %acc_14 = tt.broadcast %acc_12 : tensor<1x32xi32> -> tensor<16x32xi32>
      %acc_15 = tt.addptr %acc_13, %acc_14 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
      // expected-remark @below {{the load does not become TMA: an index may need more than 32 bits}}
      %acc_16 = tt.load %acc_15 : tensor<16x32x!tt.ptr<f16>>
      %acc_17 = arith.extf %acc_16 : tensor<16x32xf16> to tensor<16x32xf32>
      %acc_18 = arith.addf %acc_1, %acc_17 : tensor<16x32xf32>
      scf.yield %acc_18 : tensor<16x32xf32>
    }
    %0 = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %1 = arith.muli %0, %cst : tensor<16x1xi32>
    %2 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %4 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %5 = tt.broadcast %3 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %6 = tt.broadcast %4 : tensor<1x32xi32> -> tensor<16x32xi32>
    %7 = tt.addptr %5, %6 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    tt.store %7, %acc_0 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @an_index_that_may_be_negative(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %low: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %acc = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %acc_0 = scf.for %i = %c0_i32 to %M step %c1_i32 iter_args(%acc_1 = %acc) -> (tensor<16x32xf32>)  : i32 {
      %at = tt.addptr %y, %i : !tt.ptr<f32>, i32
      %at_2 = tt.load %at : !tt.ptr<f32>
      %at_3 = arith.fptosi %at_2 : f32 to i32
      %acc_4 = tt.splat %at_3 : i32 -> tensor<16xi32>
      %acc_5 = arith.addi %acc_4, %rm : tensor<16xi32>
      %acc_6 = tt.expand_dims %acc_5 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
      %acc_7 = tt.splat %s : i32 -> tensor<16x1xi32>
      %acc_8 = arith.muli %acc_6, %acc_7 : tensor<16x1xi32>
      %acc_9 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
      %acc_10 = tt.addptr %acc_9, %acc_8 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
      %acc_11 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %acc_12 = tt.broadcast %acc_10 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
      %acc_13 = tt.broadcast %acc_11 : tensor<1x32xi32> -> tensor<16x32xi32>
      %acc_14 = tt.addptr %acc_12, %acc_13 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
      // expected-remark @below {{the load does not become TMA: an index may be negative}}
      %acc_15 = tt.load %acc_14 : tensor<16x32x!tt.ptr<f16>>
      %acc_16 = arith.extf %acc_15 : tensor<16x32xf16> to tensor<16x32xf32>
      %acc_17 = arith.addf %acc_1, %acc_16 : tensor<16x32xf32>
      scf.yield %acc_17 : tensor<16x32xf32>
    }
    %0 = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %1 = arith.muli %0, %cst : tensor<16x1xi32>
    %2 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %3 = tt.addptr %2, %1 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %4 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %5 = tt.broadcast %3 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %6 = tt.broadcast %4 : tensor<1x32xi32> -> tensor<16x32xi32>
    %7 = tt.addptr %5, %6 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    tt.store %7, %acc_0 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @a_row_of_8_bytes(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<4> : tensor<16x1xi32>
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %v = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_0 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_1 = arith.muli %v, %v_0 : tensor<16x1xi32>
    %v_2 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_3 = tt.addptr %v_2, %v_1 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_4 = tt.expand_dims %rn {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %v_5 = tt.broadcast %v_3 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x4x!tt.ptr<f16>>
    %v_6 = tt.broadcast %v_4 : tensor<1x4xi32> -> tensor<16x4xi32>
    %v_7 = tt.addptr %v_5, %v_6 : tensor<16x4x!tt.ptr<f16>>, tensor<16x4xi32>
    // expected-remark @below {{the load does not become TMA: a row of the tile has less than 16 bytes in a block}}
    %v_8 = tt.load %v_7 : tensor<16x4x!tt.ptr<f16>>
    %0 = arith.muli %v, %cst : tensor<16x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %3 = tt.broadcast %2 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x4x!tt.ptr<f32>>
    %4 = tt.addptr %3, %v_6 : tensor<16x4x!tt.ptr<f32>>, tensor<16x4xi32>
    %5 = arith.extf %v_8 : tensor<16x4xf16> to tensor<16x4xf32>
    tt.store %4, %5 : tensor<16x4x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @starts_anywhere(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %low: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v = tt.addptr %x, %low : !tt.ptr<f16>, i32
    %v_0 = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_1 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_2 = arith.muli %v_0, %v_1 : tensor<16x1xi32>
    %v_3 = tt.splat %v : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_4 = tt.addptr %v_3, %v_2 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_5 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_6 = tt.broadcast %v_4 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_7 = tt.broadcast %v_5 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_8 = tt.addptr %v_6, %v_7 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: its start in the array is not known to be a multiple of 16 bytes}}
    %v_9 = tt.load %v_8 : tensor<16x32x!tt.ptr<f16>>
    %0 = arith.muli %v_0, %cst : tensor<16x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %3 = tt.broadcast %2 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %4 = tt.addptr %3, %v_7 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %5 = arith.extf %v_9 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %4, %5 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @either_of_two_arrays(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %c3_i32 = arith.constant 3 : i32
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %0 = arith.cmpi sgt, %M, %c3_i32 : i32
    %1 = arith.select %0, %x, %z : !tt.ptr<f16>
    %v = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_0 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_1 = arith.muli %v, %v_0 : tensor<16x1xi32>
    %v_2 = tt.splat %1 : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_3 = tt.addptr %v_2, %v_1 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_4 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_5 = tt.broadcast %v_3 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_6 = tt.broadcast %v_4 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_7 = tt.addptr %v_5, %v_6 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: the address starts from no parameter of the kernel}}
    %v_8 = tt.load %v_7 : tensor<16x32x!tt.ptr<f16>>
    %2 = arith.muli %v, %cst : tensor<16x1xi32>
    %3 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %4 = tt.addptr %3, %2 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %5 = tt.broadcast %4 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %6 = tt.addptr %5, %v_6 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %7 = arith.extf %v_8 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %6, %7 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @volatile(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %v = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_0 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_1 = arith.muli %v, %v_0 : tensor<16x1xi32>
    %v_2 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_3 = tt.addptr %v_2, %v_1 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_4 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_5 = tt.broadcast %v_3 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_6 = tt.broadcast %v_4 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_7 = tt.addptr %v_5, %v_6 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: the kernel may wait for what others write while it runs}}
    %v_8 = tt.load %v_7 {isVolatile = true} : tensor<16x32x!tt.ptr<f16>>
    %0 = arith.muli %v, %cst : tensor<16x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %3 = tt.broadcast %2 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %4 = tt.addptr %3, %v_6 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %5 = arith.extf %v_8 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %4, %5 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}

// -----

module {
  tt.func public @waits_for_a_flag(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %flag: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %M: i32, %s: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<32> : tensor<16x1xi32>
    %true = arith.constant true
    %c0_i32 = arith.constant 0 : i32
    %rm = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rn = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    scf.while : () -> () {
      %6 = tt.atomic_rmw add, acq_rel, gpu, %flag, %c0_i32, %true : (!tt.ptr<i32>, i32, i1) -> i32
      %7 = arith.cmpi eq, %6, %c0_i32 : i32
      scf.condition(%7)
    } do {
      scf.yield
    }
    %v = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %v_0 = tt.splat %s : i32 -> tensor<16x1xi32>
    %v_1 = arith.muli %v, %v_0 : tensor<16x1xi32>
    %v_2 = tt.splat %x : !tt.ptr<f16> -> tensor<16x1x!tt.ptr<f16>>
    %v_3 = tt.addptr %v_2, %v_1 : tensor<16x1x!tt.ptr<f16>>, tensor<16x1xi32>
    %v_4 = tt.expand_dims %rn {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %v_5 = tt.broadcast %v_3 : tensor<16x1x!tt.ptr<f16>> -> tensor<16x32x!tt.ptr<f16>>
    %v_6 = tt.broadcast %v_4 : tensor<1x32xi32> -> tensor<16x32xi32>
    %v_7 = tt.addptr %v_5, %v_6 : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    // expected-remark @below {{the load does not become TMA: the kernel may wait for what others write while it runs}}
    %v_8 = tt.load %v_7 : tensor<16x32x!tt.ptr<f16>>
    %0 = arith.muli %v, %cst : tensor<16x1xi32>
    %1 = tt.splat %y : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
    %3 = tt.broadcast %2 : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
    %4 = tt.addptr %3, %v_6 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    %5 = arith.extf %v_8 : tensor<16x32xf16> to tensor<16x32xf32>
    tt.store %4, %5 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}
