// RUN: ttc opt %s --triton-loop-unroll | FileCheck %s

// Steps of 1 need no care for an upper bound below the lower one.
// CHECK-LABEL: @run_time
// CHECK-NOT: arith.maxsi
// CHECK: %[[TRIPS:.*]] = arith.divui
// CHECK: %[[REST:.*]] = arith.remsi %[[TRIPS]]
// CHECK: %[[ROUNDS:.*]] = arith.subi %[[TRIPS]], %[[REST]]
// CHECK: %[[END:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK: %[[MAIN:.*]] = scf.for %[[IV:.*]] = %{{.*}} to %[[END]] step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[FIRST:.*]] = arith.addi %[[ACC]], %[[IV]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[IV]], %{{.*}}
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %[[NEXT]]
// CHECK: scf.yield %[[SECOND]]
// CHECK: } {tt.num_stages = 4 : i32}
// CHECK: scf.for %{{.*}} = %[[END]] to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %[[MAIN]])
// CHECK: } {tt.num_stages = 1 : i32}
tt.func public @run_time(%n: i32, %a0: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0) -> (i32) : i32 {
    %1 = arith.addi %a, %i : i32
    scf.yield %1 : i32
  } {tt.loop_unroll_factor = 2 : i32, tt.num_stages = 4 : i32}
  tt.return %0 : i32
}

// From 0 to -20 in steps of 2 is no iteration, not 2^31 - 10 of them.
// CHECK-LABEL: @run_time_step
// CHECK: %[[UPPER:.*]] = arith.maxsi %n, %{{.*}}
// CHECK: arith.subi %[[UPPER]]
tt.func public @run_time_step(%n: i32, %step: i32, %a0: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = scf.for %i = %c0 to %n step %step iter_args(%a = %a0) -> (i32) : i32 {
    %1 = arith.addi %a, %i : i32
    scf.yield %1 : i32
  } {tt.loop_unroll_factor = 4 : i32}
  tt.return %0 : i32
}

// 3, 5, 7, 9: no rest.
// CHECK-LABEL: @known_even
// CHECK: scf.for
// CHECK: arith.addi
// CHECK: arith.muli
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @known_even(%a0: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c10 = arith.constant 10 : i32
  %c2 = arith.constant 2 : i32
  %0 = scf.for %i = %c3 to %c10 step %c2 iter_args(%a = %a0) -> (i32) : i32 {
    %1 = arith.addi %a, %i : i32
    scf.yield %1 : i32
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return %0 : i32
}

// Two rounds of 3, and iteration 6 behind them without a loop.
// CHECK-LABEL: @known_rest
// CHECK: %[[SIX:.*]] = arith.constant 6 : i32
// CHECK: %[[MAIN:.*]] = scf.for %{{.*}} = %{{.*}} to %[[SIX]]
// CHECK: }
// CHECK-NOT: scf.for
// CHECK: %[[LAST:.*]] = arith.addi %[[MAIN]], %[[SIX]]
// CHECK: tt.return %[[LAST]]
tt.func public @known_rest(%a0: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c7 = arith.constant 7 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %c7 step %c1 iter_args(%a = %a0) -> (i32) : i32 {
    %1 = arith.addi %a, %i : i32
    scf.yield %1 : i32
  } {tt.loop_unroll_factor = 3 : i32}
  tt.return %0 : i32
}

// CHECK-LABEL: @whole
// CHECK-NOT: scf.for
// CHECK: arith.subi %a0, %b0
// CHECK-NOT: scf.for
// CHECK: tt.return
tt.func public @whole(%a0: i32, %b0: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c1 = arith.constant 1 : i32
  %0:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %a0, %b = %b0) -> (i32, i32) : i32 {
    %1 = arith.subi %a, %b : i32
    scf.yield %b, %1 : i32, i32
  } {tt.loop_unroll_factor = 4 : i32}
  tt.return %0#0, %0#1 : i32, i32
}

// CHECK-LABEL: @no_iterations
// CHECK-NOT: scf.for
// CHECK: tt.return %a0
tt.func public @no_iterations(%a0: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c3 to %c1 step %c1 iter_args(%a = %a0) -> (i32) : i32 {
    %1 = arith.addi %a, %i : i32
    scf.yield %1 : i32
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return %0 : i32
}

// A step of 2^31 would be negative.
// CHECK-LABEL: @step_too_wide
// CHECK: scf.for
// CHECK-NOT: arith.muli
// CHECK: tt.return
tt.func public @step_too_wide(%a0: i32) -> i32 {
  %lower = arith.constant -2147483648 : i32
  %upper = arith.constant 2147483647 : i32
  %step = arith.constant 1073741824 : i32
  %0 = scf.for %i = %lower to %upper step %step iter_args(%a = %a0) -> (i32) : i32 {
    %1 = arith.addi %a, %i : i32
    scf.yield %1 : i32
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return %0 : i32
}

// Neither without the attribute nor with a factor of 1, nor when there is nothing in the body.
// CHECK-LABEL: @stays
// CHECK-NOT: arith.divui
// CHECK: tt.loop_unroll_factor = 1 : i32
// CHECK-NOT: arith.divui
// CHECK: tt.return
tt.func public @stays(%n: i32, %a0: i32) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0) -> (i32) : i32 {
    %3 = arith.addi %a, %i : i32
    scf.yield %3 : i32
  }
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0) -> (i32) : i32 {
    %3 = arith.addi %a, %i : i32
    scf.yield %3 : i32
  } {tt.loop_unroll_factor = 1 : i32}
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0) -> (i32) : i32 {
    scf.yield %i : i32
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return %0, %1, %2 : i32, i32, i32
}

// Without a sign these are 2^32 - 1 iterations, with one none: the split is left to run time.
// CHECK-LABEL: @without_sign
// CHECK: arith.maxui
// CHECK: scf.for unsigned
// CHECK: scf.for unsigned
tt.func @without_sign(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %most = arith.constant -1 : i32
  scf.for unsigned %i = %c0 to %most step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return
}
