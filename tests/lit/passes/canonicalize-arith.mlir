// RUN: ttc opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @add_constants
// CHECK: %[[C:.*]] = arith.constant 8 : i32
// CHECK: arith.addi %{{.*}}, %[[C]] : i32
tt.func public @add_constants(%a: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.addi %c3, %a : i32
  %1 = arith.addi %0, %c5 : i32
  tt.return %1 : i32
}

// On tensors constants are not gathered.
// CHECK-LABEL: @add_tensor_constants
// CHECK-COUNT-2: arith.addi
tt.func public @add_tensor_constants(%a: tensor<8xi32>) -> tensor<8xi32> {
  %c3 = arith.constant dense<3> : tensor<8xi32>
  %c5 = arith.constant dense<5> : tensor<8xi32>
  %0 = arith.addi %a, %c3 : tensor<8xi32>
  %1 = arith.addi %0, %c5 : tensor<8xi32>
  tt.return %1 : tensor<8xi32>
}

// CHECK-LABEL: @integer_identities
// CHECK-NEXT: tt.return %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32
tt.func public @integer_identities(%a: i32, %b: i32) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m1 = arith.constant -1 : i32
  %0 = arith.addi %a, %c0 : i32
  %1 = arith.muli %0, %c1 : i32
  %2 = arith.divsi %1, %c1 : i32
  %3 = arith.andi %2, %m1 : i32
  %4 = arith.subi %a, %b : i32
  %5 = arith.addi %4, %b : i32
  %6 = arith.xori %a, %b : i32
  %7 = arith.xori %6, %b : i32
  tt.return %3, %5, %7 : i32, i32, i32
}

// x + 0.0 is not x where x is -0.0; x + -0.0 is.
// CHECK-LABEL: @float_zero
// CHECK: %[[S:.*]] = arith.addf
// CHECK-NEXT: tt.return %[[S]], %{{.*}} : f32, f32
tt.func public @float_zero(%a: f32) -> (f32, f32) {
  %z = arith.constant 0.0 : f32
  %n = arith.constant -0.0 : f32
  %0 = arith.addf %a, %z : f32
  %1 = arith.addf %a, %n : f32
  tt.return %0, %1 : f32, f32
}

// CHECK-LABEL: @add_of_negation
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
tt.func public @add_of_negation(%a: f32, %b: f32) -> f32 {
  %0 = arith.negf %b : f32
  %1 = arith.addf %a, %0 : f32
  tt.return %1 : f32
}

// CHECK-LABEL: @select_min
// CHECK: arith.minsi
// CHECK-NOT: arith.select
tt.func public @select_min(%a: i32, %b: i32) -> i32 {
  %0 = arith.cmpi slt, %a, %b : i32
  %1 = arith.select %0, %a, %b : i32
  tt.return %1 : i32
}

// CHECK-LABEL: @select_other_values
// CHECK: arith.select
tt.func public @select_other_values(%a: i32, %b: i32, %c: i32) -> i32 {
  %0 = arith.cmpi slt, %a, %b : i32
  %1 = arith.select %0, %a, %c : i32
  tt.return %1 : i32
}

// CHECK-LABEL: @constant_goes_right
// CHECK: arith.cmpi sgt, %{{.*}}, %c7_i32
tt.func public @constant_goes_right(%a: i32) -> i1 {
  %c7 = arith.constant 7 : i32
  %0 = arith.cmpi slt, %c7, %a : i32
  tt.return %0 : i1
}

// Rounding a constant would change it, so it stays.
// CHECK-LABEL: @truncf
// CHECK: %[[T:.*]] = arith.truncf
// CHECK-NEXT: tt.return %{{.*}}, %[[T]] : f16, f16
tt.func public @truncf() -> (f16, f16) {
  %half = arith.constant 0.5 : f32
  %tenth = arith.constant 0.1 : f32
  %0 = arith.truncf %half : f32 to f16
  %1 = arith.truncf %tenth : f32 to f16
  tt.return %0, %1 : f16, f16
}

// CHECK-LABEL: @casts
// CHECK: %[[E:.*]] = arith.extui %{{.*}} : i8 to i64
// CHECK-NEXT: %[[F:.*]] = arith.uitofp %{{.*}} : i8 to f32
// CHECK-NEXT: tt.return %[[E]], %{{.*}}, %[[F]] : i64, i8, f32
tt.func public @casts(%a: i8) -> (i64, i8, f32) {
  %0 = arith.extui %a : i8 to i32
  %1 = arith.extsi %0 : i32 to i64
  %2 = arith.trunci %0 : i32 to i8
  %3 = arith.sitofp %0 : i32 to f32
  tt.return %1, %2, %3 : i64, i8, f32
}

// Division by 0 is left for run time.
// CHECK-LABEL: @division_by_zero
// CHECK: arith.divsi
tt.func public @division_by_zero() -> i32 {
  %c4 = arith.constant 4 : i32
  %c0 = arith.constant 0 : i32
  %0 = arith.divsi %c4, %c0 : i32
  tt.return %0 : i32
}

// CHECK-LABEL: @subtract_twice(
// CHECK-NEXT: %[[X:.*]] = arith.subi %b, %a : i32
// CHECK-NEXT: %[[Y:.*]] = arith.subi %a, %[[X]] : i32
// CHECK-NEXT: tt.return %b, %[[Y]] : i32, i32
tt.func public @subtract_twice(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.subi %a, %b : i32
  %1 = arith.subi %a, %0 : i32
  %2 = arith.subi %b, %a : i32
  %3 = arith.subi %a, %2 : i32
  tt.return %1, %3 : i32, i32
}

// Poison is a constant like others: one of a type, at the start.
// CHECK-LABEL: @poison(
// CHECK: %[[P:.*]] = ub.poison : !tt.ptr<f32>
// CHECK: tt.call @poison(%[[P]]
// CHECK: tt.call @poison(%[[P]]
// CHECK-NOT: ub.poison
// CHECK: tt.return
tt.func public @poison(%p: !tt.ptr<f32>, %c: i1) -> !tt.ptr<f32> {
  %0 = tt.call @poison(%p, %c) : (!tt.ptr<f32>, i1) -> !tt.ptr<f32>
  %1 = ub.poison : !tt.ptr<f32>
  %2 = tt.call @poison(%1, %c) : (!tt.ptr<f32>, i1) -> !tt.ptr<f32>
  scf.if %c {
    %3 = ub.poison : !tt.ptr<f32>
    %4 = tt.call @poison(%3, %c) : (!tt.ptr<f32>, i1) -> !tt.ptr<f32>
  }
  tt.return %2 : !tt.ptr<f32>
}
