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
