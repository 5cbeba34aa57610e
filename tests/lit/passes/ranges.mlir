// What the ranges of numbers tell of comparisons; and what stays open.
// RUN: ttc opt %s --tritonamdgpu-fold-true-cmpi | FileCheck %s

module {
  // CHECK-LABEL: @known
  tt.func @known(%n: i32) -> (i1, i1, tensor<64xi1>, i1, i1, i1, i1, i1) {
    %c0 = arith.constant 0 : i32
    %c7 = arith.constant 7 : i32
    %c64 = arith.constant dense<64> : tensor<64xi32>
    %pid = tt.get_program_id x : i32
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    // CHECK: arith.constant true
    %a = arith.cmpi sge, %pid, %c0 : i32
    // CHECK: arith.constant false
    %b = arith.cmpi slt, %pid, %c0 : i32
    // CHECK: arith.constant dense<true> : tensor<64xi1>
    %c = arith.cmpi slt, %r, %c64 : tensor<64xi32>
    %rest = arith.andi %n, %c7 : i32
    // CHECK: arith.constant true
    %d = arith.cmpi sle, %rest, %c7 : i32
    // The sum may be beyond 32 bits, and so negative.
    %more = arith.addi %pid, %c7 : i32
    // CHECK: arith.cmpi sgt, %more, %c0
    %e = arith.cmpi sgt, %more, %c0 : i32
    // Without a sign, half of 32 bits fits into 16, and a rest is below its divisor.
    %c16 = arith.constant 16 : i32
    %half = arith.shrui %n, %c16 : i32
    // CHECK: arith.constant true
    %f = arith.cmpi sge, %half, %c0 : i32
    %left = arith.remui %n, %c7 : i32
    // CHECK: arith.constant true
    %g = arith.cmpi slt, %left, %c7 : i32
    // The rest with a sign may be negative.
    %signed = arith.remsi %n, %c7 : i32
    // CHECK: arith.cmpi sge
    %h = arith.cmpi sge, %signed, %c0 : i32
    tt.return %a, %b, %c, %d, %e, %f, %g, %h : i1, i1, tensor<64xi1>, i1, i1, i1, i1, i1
  }

  // A loop is followed iteration by iteration: the sum is at most 3 * 5. A loop whose end is not known is not.
  // CHECK-LABEL: @loops
  tt.func @loops(%n: i32) -> (i1, i1, i1) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c5 = arith.constant 5 : i32
    %c15 = arith.constant 15 : i32
    %s = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %c0) -> (i32) : i32 {
      %next = arith.addi %sum, %c5 : i32
      scf.yield %next : i32
    }
    // CHECK: arith.constant true
    %a = arith.cmpi sle, %s, %c15 : i32
    // CHECK: arith.cmpi slt
    %b = arith.cmpi slt, %s, %c15 : i32
    %t = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %c0) -> (i32) : i32 {
      %next = arith.addi %sum, %c5 : i32
      scf.yield %next : i32
    }
    // CHECK: arith.cmpi sge
    %c = arith.cmpi sge, %t, %c0 : i32
    tt.return %a, %b, %c : i1, i1, i1
  }

  // An assumption holds in its own block and inside of it, and nowhere else.
  // CHECK-LABEL: @assumed
  tt.func @assumed(%n: i32, %m: i32, %c: i1) -> (i1, i1) {
    %c0 = arith.constant 0 : i32
    %above = arith.cmpi sgt, %n, %c0 : i32
    llvm.intr.assume %above : i1
    // CHECK: arith.constant true
    %a = arith.cmpi sge, %n, %c0 : i32
    scf.if %c {
      %inside = arith.cmpi sgt, %m, %c0 : i32
      llvm.intr.assume %inside : i1
    }
    // CHECK: arith.cmpi sge, %m
    %b = arith.cmpi sge, %m, %c0 : i32
    tt.return %a, %b : i1, i1
  }
}
