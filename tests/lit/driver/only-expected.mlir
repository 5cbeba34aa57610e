// RUN: ttc opt %s --verify-diagnostics=only-expected --test-print-alignment | FileCheck %s
// RUN: not ttc opt %s --verify-diagnostics --test-print-alignment
// Remarks that nobody expects are no fault, and the module is printed.

// CHECK-LABEL: @f
tt.func @f(%x: i32) -> i32 {
  // expected-remark @below {{divisibility = [16]}}
  %c = arith.constant 16 : i32
  %0 = arith.addi %x, %c : i32
  tt.return %0 : i32
}
