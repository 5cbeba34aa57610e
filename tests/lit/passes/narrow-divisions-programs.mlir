// RUN: ttc opt %s --ttc-narrow-divisions | FileCheck %s
// A launch of this device has at most 65,535 programs along y and z, so 256 elements of each can be counted with 32
// bits; along x it cannot be said.

module attributes {ttg.target = "cuda:90"} {
// CHECK-LABEL: @along_y
// CHECK: arith.divui %{{.*}}, %{{.*}} : i32
tt.func public @along_y() -> i64 {
  %c256 = arith.constant 256 : i64
  %c9 = arith.constant 9 : i64
  %pid = tt.get_program_id y : i32
  %x = arith.extsi %pid : i32 to i64
  %s = arith.muli %x, %c256 : i64
  %q = arith.divsi %s, %c9 : i64
  tt.return %q : i64
}
// CHECK-LABEL: @along_x
// CHECK-NOT: arith.trunci
// CHECK: arith.divsi %{{.*}}, %{{.*}} : i64
tt.func public @along_x() -> i64 {
  %c256 = arith.constant 256 : i64
  %c9 = arith.constant 9 : i64
  %pid = tt.get_program_id x : i32
  %x = arith.extsi %pid : i32 to i64
  %s = arith.muli %x, %c256 : i64
  %q = arith.divsi %s, %c9 : i64
  tt.return %q : i64
}
}
