// Grids that are gone through from their end.
// RUN: ttc opt %s --split-input-file --ttc-heaviest-first | FileCheck %s

// The last rows of a causal product see the most columns: the x axis is turned, the y axis stays.
module {
  // CHECK-LABEL: @causal
  // CHECK: %[[ALL:.*]] = tt.get_num_programs x : i32
  // CHECK: %[[LAST:.*]] = arith.subi %[[ALL]], %{{.*}} : i32
  // CHECK: %[[P:.*]] = tt.get_program_id x : i32
  // CHECK: %[[M:.*]] = arith.subi %[[LAST]], %[[P]] : i32
  // CHECK-NOT: tt.get_num_programs
  // CHECK: tt.get_program_id y : i32
  // CHECK: arith.addi %[[M]]
  tt.func public @causal(%a: tensor<16x16xf16>, %out: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %m = tt.get_program_id x : i32
    %h = tt.get_program_id y : i32
    %next = arith.addi %m, %c1 : i32
    %rows = arith.muli %next, %c16 : i32
    %end = arith.minsi %rows, %n : i32
    %sum = scf.for %i = %c0 to %end step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
      %d = tt.dot %a, %a, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    %at = arith.addi %m, %h : i32
    %place = tt.addptr %out, %at : !tt.ptr<f32>, i32
    %ptrs = tt.splat %place : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    tt.store %ptrs, %sum : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// Programs with larger numbers have less to do, as in the gradients of keys: nothing changes.
module {
  // CHECK-LABEL: @falls
  // CHECK-NOT: tt.get_num_programs
  tt.func public @falls(%a: tensor<16x16xf16>, %n: i32) -> tensor<16x16xf32> {
    %c16 = arith.constant 16 : i32
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %m = tt.get_program_id x : i32
    %begin = arith.muli %m, %c16 : i32
    %sum = scf.for %i = %begin to %n step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
      %d = tt.dot %a, %a, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    tt.return %sum : tensor<16x16xf32>
  }
}

// -----

// One loop rises, and the length of the other comes from memory: nothing is known of both together.
module {
  // CHECK-LABEL: @unknown
  // CHECK-NOT: tt.get_num_programs
  tt.func public @unknown(%a: tensor<16x16xf16>, %lengths: !tt.ptr<i32>) -> tensor<16x16xf32> {
    %c0 = arith.constant 0 : i32
    %c16 = arith.constant 16 : i32
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %m = tt.get_program_id x : i32
    %end = arith.muli %m, %c16 : i32
    %first = scf.for %i = %c0 to %end step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
      %d = tt.dot %a, %a, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    %place = tt.addptr %lengths, %m : !tt.ptr<i32>, i32
    %length = tt.load %place : !tt.ptr<i32>
    %sum = scf.for %i = %c0 to %length step %c16 iter_args(%acc = %first) -> (tensor<16x16xf32>) : i32 {
      %d = tt.dot %a, %a, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    tt.return %sum : tensor<16x16xf32>
  }
}

// -----

// A program that adds to what others add to may be waited for: it keeps its place.
module {
  // CHECK-LABEL: @atomic
  // CHECK-NOT: tt.get_num_programs
  tt.func public @atomic(%a: tensor<16x16xf16>, %out: !tt.ptr<i32>) -> tensor<16x16xf32> {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %m = tt.get_program_id x : i32
    %end = arith.muli %m, %c16 : i32
    %sum = scf.for %i = %c0 to %end step %c16 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
      %d = tt.dot %a, %a, %acc : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    %old = tt.atomic_rmw add, acq_rel, gpu, %out, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return %sum : tensor<16x16xf32>
  }
}

// -----

// A loop without products is no reason.
module {
  // CHECK-LABEL: @no_product
  // CHECK-NOT: tt.get_num_programs
  tt.func public @no_product(%x: f32) -> f32 {
    %c0 = arith.constant 0 : i32
    %c16 = arith.constant 16 : i32
    %m = tt.get_program_id x : i32
    %end = arith.muli %m, %c16 : i32
    %sum = scf.for %i = %c0 to %end step %c16 iter_args(%acc = %x) -> (f32) : i32 {
      %d = arith.addf %acc, %x : f32
      scf.yield %d : f32
    }
    tt.return %sum : f32
  }
}
