// RUN: ttc opt %s --verify-diagnostics=only-expected --test-print-alignment
// Quotients and remainders round toward zero, so they repeat in other places below it.

// -8 / 8 is -1, and -7 / 8 is 0.
tt.func @below_zero() -> (tensor<16xi32>, tensor<16xi32>) {
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %c8 = arith.constant dense<8> : tensor<16xi32>
  %x = arith.subi %r, %c8 : tensor<16xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %q = arith.divsi %x, %c8 : tensor<16xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %m = arith.remsi %x, %c8 : tensor<16xi32>
  tt.return %q, %m : tensor<16xi32>, tensor<16xi32>
}

tt.func @from_zero_on() -> (tensor<16xi32>, tensor<16xi32>) {
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %c8 = arith.constant dense<8> : tensor<16xi32>
  // expected-remark @below {{constancy = [8]}}
  %q = arith.divsi %r, %c8 : tensor<16xi32>
  // expected-remark @below {{contiguity = [8], divisibility = [8]}}
  %m = arith.remsi %r, %c8 : tensor<16xi32>
  tt.return %q, %m : tensor<16xi32>, tensor<16xi32>
}

// Numbers without a sign are from zero on.
tt.func @unsigned(%start: i32 {tt.divisibility = 16 : i32}) -> tensor<16xi32> {
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %c8 = arith.constant dense<8> : tensor<16xi32>
  %s = tt.splat %start : i32 -> tensor<16xi32>
  %x = arith.addi %s, %r : tensor<16xi32>
  // expected-remark @below {{constancy = [8]}}
  %q = arith.divui %x, %c8 : tensor<16xi32>
  tt.return %q : tensor<16xi32>
}

// Of a parameter nothing is known, unless it counts something or the program says so.
tt.func @parameters(%any: i32 {tt.divisibility = 16 : i32}, %count: i32 {tt.divisibility = 16 : i32},
                    %assumed: i32 {tt.divisibility = 16 : i32})
    -> (tensor<16xi32>, tensor<16xi32>, tensor<16xi32>, tensor<16xi1>) {
  %c0 = arith.constant 0 : i32
  %sign = arith.cmpi sge, %assumed, %c0 : i32
  llvm.intr.assume %sign : i1
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %c8 = arith.constant dense<8> : tensor<16xi32>
  %sa = tt.splat %any : i32 -> tensor<16xi32>
  %sc = tt.splat %count : i32 -> tensor<16xi32>
  %ss = tt.splat %assumed : i32 -> tensor<16xi32>
  %mask = arith.cmpi slt, %r, %sc : tensor<16xi32>
  %a = arith.addi %sa, %r : tensor<16xi32>
  %b = arith.addi %sc, %r : tensor<16xi32>
  %c = arith.addi %ss, %r : tensor<16xi32>
  // expected-remark @below {{constancy = [1]}}
  %qa = arith.divsi %a, %c8 : tensor<16xi32>
  // expected-remark @below {{constancy = [8]}}
  %qb = arith.divsi %b, %c8 : tensor<16xi32>
  // expected-remark @below {{constancy = [8]}}
  %qc = arith.divsi %c, %c8 : tensor<16xi32>
  tt.return %qa, %qb, %qc, %mask : tensor<16xi32>, tensor<16xi32>, tensor<16xi32>, tensor<16xi1>
}

// What a loop counts up from zero, and what it counts down.
tt.func @loops(%n: i32, %out: tensor<16x!tt.ptr<i32>>) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %c8 = arith.constant dense<8> : tensor<16xi32>
  %up_and_down:2 = scf.for %i = %c0 to %n step %c16 iter_args(%up = %c0, %down = %c0) -> (i32, i32) : i32 {
    %su = tt.splat %up : i32 -> tensor<16xi32>
    %sd = tt.splat %down : i32 -> tensor<16xi32>
    %u = arith.addi %su, %r : tensor<16xi32>
    %d = arith.addi %sd, %r : tensor<16xi32>
    // expected-remark @below {{constancy = [8]}}
    %qu = arith.divsi %u, %c8 : tensor<16xi32>
    // expected-remark @below {{constancy = [1]}}
    %qd = arith.divsi %d, %c8 : tensor<16xi32>
    %sum = arith.addi %qu, %qd : tensor<16xi32>
    tt.store %out, %sum : tensor<16x!tt.ptr<i32>>
    %next_up = arith.addi %up, %c16 : i32
    %next_down = arith.subi %down, %c16 : i32
    scf.yield %next_up, %next_down : i32, i32
  }
  tt.return
}

// What a division leaves.
tt.func @rests(%n: i32) -> tensor<16xi32> {
  %pid = tt.get_program_id x : i32
  %c16 = arith.constant 16 : i32
  %tile = arith.divsi %pid, %n : i32
  %first = arith.muli %tile, %n : i32
  %rest = arith.subi %pid, %first : i32
  %start = arith.muli %rest, %c16 : i32
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %s = tt.splat %start : i32 -> tensor<16xi32>
  %x = arith.addi %s, %r : tensor<16xi32>
  %c8 = arith.constant dense<8> : tensor<16xi32>
  // expected-remark @below {{constancy = [8]}}
  %q = arith.divsi %x, %c8 : tensor<16xi32>
  tt.return %q : tensor<16xi32>
}

// Branches order what is subtracted inside, one way only.
tt.func @ordered_by_branches(%out: tensor<16x!tt.ptr<i32>>) {
  %pid = tt.get_program_id x : i32
  %n = tt.get_program_id y : i32
  %c16 = arith.constant 16 : i32
  %c8 = arith.constant dense<8> : tensor<16xi32>
  %range = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %less = arith.cmpi slt, %pid, %n : i32
  scf.if %less {
    %d = arith.subi %n, %pid : i32
    %first = arith.muli %d, %c16 : i32
    %s = tt.splat %first : i32 -> tensor<16xi32>
    %x = arith.addi %s, %range : tensor<16xi32>
    // expected-remark @below {{constancy = [8]}}
    %q = arith.divsi %x, %c8 : tensor<16xi32>
    tt.store %out, %q : tensor<16x!tt.ptr<i32>>
    %below = arith.subi %pid, %n : i32
    %first2 = arith.muli %below, %c16 : i32
    %s2 = tt.splat %first2 : i32 -> tensor<16xi32>
    %x2 = arith.addi %s2, %range : tensor<16xi32>
    // expected-remark @below {{constancy = [1]}}
    %q2 = arith.divsi %x2, %c8 : tensor<16xi32>
    tt.store %out, %q2 : tensor<16x!tt.ptr<i32>>
  } else {
    %d = arith.subi %pid, %n : i32
    %first = arith.muli %d, %c16 : i32
    %s = tt.splat %first : i32 -> tensor<16xi32>
    %x = arith.addi %s, %range : tensor<16xi32>
    // expected-remark @below {{constancy = [8]}}
    %q = arith.divsi %x, %c8 : tensor<16xi32>
    tt.store %out, %q : tensor<16x!tt.ptr<i32>>
  }
  // Behind both branches nothing is known.
  %d = arith.subi %pid, %n : i32
  %first = arith.muli %d, %c16 : i32
  %s = tt.splat %first : i32 -> tensor<16xi32>
  %x = arith.addi %s, %range : tensor<16xi32>
  // expected-remark @below {{constancy = [1]}}
  %q = arith.divsi %x, %c8 : tensor<16xi32>
  tt.store %out, %q : tensor<16x!tt.ptr<i32>>
  tt.return
}

// So do blocks with one way in, and constants.
tt.func @ordered_by_blocks(%out: tensor<16x!tt.ptr<i32>>) {
  %pid = tt.get_program_id x : i32
  %c8 = arith.constant dense<8> : tensor<16xi32>
  %c16 = arith.constant 16 : i32
  %c4 = arith.constant 4 : i32
  %cm4 = arith.constant -4 : i32
  %cm5 = arith.constant -5 : i32
  %range = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %few = arith.cmpi slt, %pid, %c4 : i32
  cf.cond_br %few, ^bb1, ^bb2
^bb1:
  tt.return
^bb2:
  %d = arith.addi %pid, %cm4 : i32
  %first = arith.muli %d, %c16 : i32
  %s = tt.splat %first : i32 -> tensor<16xi32>
  %x = arith.addi %s, %range : tensor<16xi32>
  // expected-remark @below {{constancy = [8]}}
  %q = arith.divsi %x, %c8 : tensor<16xi32>
  tt.store %out, %q : tensor<16x!tt.ptr<i32>>
  %d2 = arith.addi %pid, %cm5 : i32
  %first2 = arith.muli %d2, %c16 : i32
  %s2 = tt.splat %first2 : i32 -> tensor<16xi32>
  %x2 = arith.addi %s2, %range : tensor<16xi32>
  // expected-remark @below {{constancy = [1]}}
  %q2 = arith.divsi %x2, %c8 : tensor<16xi32>
  tt.store %out, %q2 : tensor<16x!tt.ptr<i32>>
  tt.return
}

// So does the condition of a loop, for what it hands on.
tt.func @ordered_by_a_loop(%tiles: i32, %step: i32, %out: tensor<16x!tt.ptr<i32>>) {
  %pid = tt.get_program_id x : i32
  %first = tt.get_program_id y : i32
  %c8 = arith.constant dense<8> : tensor<16xi32>
  %c16 = arith.constant 16 : i32
  %range = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %last = scf.while (%tile = %pid) : (i32) -> i32 {
    %from = arith.cmpi sge, %tile, %first : i32
    %to = arith.cmpi slt, %tile, %tiles : i32
    %both = arith.andi %from, %to : i1
    scf.condition(%both) %tile : i32
  } do {
  ^bb0(%now: i32):
    %d = arith.subi %now, %first : i32
    %start = arith.muli %d, %c16 : i32
    %s = tt.splat %start : i32 -> tensor<16xi32>
    %x = arith.addi %s, %range : tensor<16xi32>
    // expected-remark @below {{constancy = [8]}}
    %q = arith.divsi %x, %c8 : tensor<16xi32>
    tt.store %out, %q : tensor<16x!tt.ptr<i32>>
    %next = arith.addi %now, %step : i32
    scf.yield %next : i32
  }
  tt.return
}

// What is divided by is above zero, and so are the tiles of what is: one less is not below it. A loop's step says
// nothing, and a parameter counts if something ends at a multiple of it.
tt.func @tiles(%n: i32, %step: i32, %groups: i32, %any: i32, %out: tensor<16x!tt.ptr<i32>>) {
  %pid = tt.get_program_id x : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %d8 = arith.constant dense<8> : tensor<16xi32>
  %range = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %row = arith.remsi %pid, %n : i32
  %more = arith.addi %n, %c7 : i32
  %tiles = arith.divsi %more, %c8 : i32
  %last = arith.subi %tiles, %c1 : i32
  %first = arith.muli %last, %c16 : i32
  %s = tt.splat %first : i32 -> tensor<16xi32>
  %x = arith.addi %s, %range : tensor<16xi32>
  // expected-remark @below {{constancy = [8]}}
  %q = arith.divsi %x, %d8 : tensor<16xi32>
  tt.store %out, %q : tensor<16x!tt.ptr<i32>>
  %end = arith.muli %groups, %c8 : i32
  scf.for %i = %row to %end step %step : i32 {
    %last_group = arith.muli %i, %c16 : i32
    %of_group = arith.muli %groups, %c16 : i32
    %sum = arith.addi %last_group, %of_group : i32
    %s2 = tt.splat %sum : i32 -> tensor<16xi32>
    %x2 = arith.addi %s2, %range : tensor<16xi32>
    // expected-remark @below {{constancy = [8]}}
    %q2 = arith.divsi %x2, %d8 : tensor<16xi32>
    tt.store %out, %q2 : tensor<16x!tt.ptr<i32>>
    %less = arith.subi %any, %c1 : i32
    %first3 = arith.muli %less, %c16 : i32
    %s3 = tt.splat %first3 : i32 -> tensor<16xi32>
    %x3 = arith.addi %s3, %range : tensor<16xi32>
    // expected-remark @below {{constancy = [1]}}
    %q3 = arith.divsi %x3, %d8 : tensor<16xi32>
    tt.store %out, %q3 : tensor<16x!tt.ptr<i32>>
  }
  tt.return
}
