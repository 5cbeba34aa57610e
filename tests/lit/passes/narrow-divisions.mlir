// RUN: ttc opt %s --ttc-narrow-divisions | FileCheck %s
// Divisions of 64 bits whose operands fit into 32 bits are divisions of 32 bits.

module {
// Neither is negative.
// CHECK-LABEL: @unsigned
// CHECK: %[[A:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK: %[[B:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK: %[[Q:.*]] = arith.divui %[[A]], %[[B]] : i32
// CHECK: %[[R:.*]] = arith.extui %[[Q]] : i32 to i64
// CHECK: tt.return %[[R]]
tt.func public @unsigned(%a: i32, %b: i32) -> i64 {
  %x = arith.extui %a : i32 to i64
  %y = arith.extui %b : i32 to i64
  %q = arith.divsi %x, %y : i64
  tt.return %q : i64
}
// A remainder is what the quotient leaves.
// CHECK-LABEL: @rest
// CHECK: %[[Q:.*]] = arith.divui %[[A:.*]], %[[B:.*]] : tensor<64xi32>
// CHECK: %[[W:.*]] = arith.muli %[[Q]], %[[B]] : tensor<64xi32>
// CHECK: %[[R:.*]] = arith.subi %[[A]], %[[W]] : tensor<64xi32>
// CHECK: arith.extui %[[R]] : tensor<64xi32> to tensor<64xi64>
tt.func public @rest(%b: i32) -> tensor<64xi64> {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %x = arith.extsi %r : tensor<64xi32> to tensor<64xi64>
  %y = arith.extui %b : i32 to i64
  %s = tt.splat %y : i64 -> tensor<64xi64>
  %q = arith.remui %x, %s : tensor<64xi64>
  tt.return %q : tensor<64xi64>
}
// The divisor is not -1, so the quotient has 32 bits.
// CHECK-LABEL: @seventh
// CHECK: %[[Q:.*]] = arith.divsi %{{.*}}, %{{.*}} : i32
// CHECK: arith.extsi %[[Q]] : i32 to i64
tt.func public @seventh(%a: i32) -> i64 {
  %c7 = arith.constant 7 : i64
  %x = arith.extsi %a : i32 to i64
  %q = arith.divsi %x, %c7 : i64
  tt.return %q : i64
}
// -2^31 / -1 has 33 bits: the sign is given in 64.
// CHECK-LABEL: @any_sign
// CHECK-DAG: %[[A:.*]] = arith.trunci %x : i64 to i32
// CHECK-DAG: %[[B:.*]] = arith.trunci %y : i64 to i32
// CHECK: %[[NA:.*]] = arith.subi %{{.*}}, %[[A]] : i32
// CHECK: %[[P:.*]] = arith.select %{{.*}}, %[[NA]], %[[A]] : i32
// CHECK: %[[NB:.*]] = arith.subi %{{.*}}, %[[B]] : i32
// CHECK: %[[Q:.*]] = arith.select %{{.*}}, %[[NB]], %[[B]] : i32
// CHECK: %[[D:.*]] = arith.divui %[[P]], %[[Q]] : i32
// CHECK: %[[W:.*]] = arith.extui %[[D]] : i32 to i64
// CHECK: %[[S:.*]] = arith.xori %[[A]], %[[B]] : i32
// CHECK: %[[N:.*]] = arith.cmpi slt, %[[S]]
// CHECK: %[[M:.*]] = arith.subi %{{.*}}, %[[W]] : i64
// CHECK: arith.select %[[N]], %[[M]], %[[W]] : i64
tt.func public @any_sign(%a: i32, %b: i32) -> i64 {
  %x = arith.extsi %a : i32 to i64
  %y = arith.extsi %b : i32 to i64
  %q = arith.divsi %x, %y : i64
  tt.return %q : i64
}
// A number that may have more bits, or that is negative and divided without a sign, is divided as it is.
// CHECK-LABEL: @wide
// CHECK-NOT: arith.trunci
// CHECK: tt.return
tt.func public @wide(%a: i64, %b: i32, %c: i32) -> (i64, i64, i64) {
  %y = arith.extsi %b : i32 to i64
  %z = arith.extsi %c : i32 to i64
  %q = arith.divsi %a, %y : i64
  %p = arith.muli %y, %z : i64
  %r = arith.remsi %p, %y : i64
  %s = arith.divui %y, %z : i64
  tt.return %q, %r, %s : i64, i64, i64
}
// What is known of a loop's number, and what `tl.assume` says, count too.
// CHECK-LABEL: @assumed
// CHECK: arith.divui %{{.*}}, %{{.*}} : i32
tt.func public @assumed(%a: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %most = arith.constant 1000000 : i64
  %c9 = arith.constant 9 : i64
  %low = arith.cmpi sge, %a, %c0 : i64
  llvm.intr.assume %low : i1
  %high = arith.cmpi sle, %a, %most : i64
  llvm.intr.assume %high : i1
  %q = arith.divsi %a, %c9 : i64
  tt.return %q : i64
}
}
