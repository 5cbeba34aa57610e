// RUN: ttc opt %s --canonicalize | FileCheck %s
// The format of scales has no zero, so a zero is not converted to it ahead of time; other formats have one.

// CHECK-LABEL: @zero
// CHECK-DAG: arith.constant 0.000000e+00 : f8E5M2
// CHECK-DAG: tt.fp_to_fp %{{.*}}, rounding = rtne : f32 -> f8E8M0FNU
tt.func @zero() -> (f8E5M2, f8E8M0FNU) {
  %z = arith.constant 0.0 : f32
  %0 = tt.fp_to_fp %z, rounding = rtne : f32 -> f8E5M2
  %1 = tt.fp_to_fp %z, rounding = rtne : f32 -> f8E8M0FNU
  tt.return %0, %1 : f8E5M2, f8E8M0FNU
}
