// RUN: ttc opt %s --canonicalize | FileCheck %s

// Functions of constants are computed by the functions that the table of `math` states.

module {
  // CHECK-LABEL: @floats(
  // CHECK-DAG: %[[P:.*]] = arith.constant 8.000000e+00 : f32
  // CHECK-DAG: %[[R:.*]] = arith.constant 5.000000e-01 : f64
  // CHECK-DAG: %[[F:.*]] = arith.constant 2.000000e+00 : f16
  // CHECK-DAG: %[[C:.*]] = arith.constant -3.000000e+00 : f32
  // CHECK: tt.return %[[P]], %[[R]], %[[F]], %[[C]]
  tt.func @floats() -> (f32, f64, f16, f32) {
    %three = arith.constant 3.0 : f32
    %p = math.exp2 %three : f32
    %four = arith.constant 4.0 : f64
    %r = math.rsqrt %four : f64
    %h = arith.constant 2.5 : f16
    %f = math.floor %h : f16
    %minus = arith.constant -1.0 : f32
    %c = math.copysign %three, %minus : f32
    tt.return %p, %r, %f, %c : f32, f64, f16, f32
  }

  // Only exact functions fold in narrow formats, and the logarithm of a negative number is the device's business.
  // CHECK-LABEL: @kept(
  // CHECK: math.exp2
  // CHECK: math.log
  // CHECK: math.log1p
  // CHECK: math.fma
  tt.func @kept() -> (f16, f32, f32, f32) {
    %h = arith.constant 3.0 : f16
    %p = math.exp2 %h : f16
    %minus = arith.constant -2.0 : f32
    %l = math.log %minus : f32
    %m = math.log1p %minus : f32
    %f = math.fma %minus, %minus, %minus : f32
    tt.return %p, %l, %m, %f : f16, f32, f32, f32
  }

  // CHECK-LABEL: @integers(
  // CHECK-DAG: %[[A:.*]] = arith.constant 5 : i8
  // CHECK-DAG: %[[L:.*]] = arith.constant 0 : i8
  // CHECK-DAG: %[[T:.*]] = arith.constant 8 : i8
  // CHECK-DAG: %[[P:.*]] = arith.constant 7 : i8
  // CHECK: tt.return %[[A]], %[[L]], %[[T]], %[[P]]
  tt.func @integers() -> (i8, i8, i8, i8) {
    %x = arith.constant -5 : i8
    %zero = arith.constant 0 : i8
    %a = math.absi %x : i8
    %l = math.ctlz %x : i8
    %t = math.cttz %zero : i8
    %p = math.ctpop %x : i8
    tt.return %a, %l, %t, %p : i8, i8, i8, i8
  }

  // A constant holds 64 bits, so those of 128 do not fold: a negative one has no leading zeros, and not 64.
  // CHECK-LABEL: @wide(
  // CHECK: math.ctlz
  tt.func @wide() -> i128 {
    %x = arith.constant -1 : i128
    %l = math.ctlz %x : i128
    tt.return %l : i128
  }
}
