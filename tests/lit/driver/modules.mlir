// RUN: ttc opt %s --canonicalize | FileCheck %s
// RUN: ttc opt %s | ttc opt | FileCheck %s --check-prefix=AGAIN
// RUN: not ttc compile %s --arch sm_90a --emit ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=COMPILE
// Several modules in one file are parts of a module around them.

// CHECK: module {
// CHECK-NEXT: module attributes {"ttg.num-warps" = 4 : i32} {
// CHECK-NEXT: tt.func @f(%x: i32) -> i32
// CHECK-NEXT: tt.return %x
// CHECK: module @second {
// CHECK-NEXT: tt.func @f
// AGAIN: module {
// AGAIN-NEXT: module attributes
// AGAIN: module @second
// COMPILE: holds several modules
// COMPILE: a compilation takes one module

module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @f(%x: i32) -> i32 {
    %c = arith.constant 0 : i32
    %0 = arith.addi %x, %c : i32
    tt.return %0 : i32
  }
}

module @second {
  tt.func @f() {
    tt.return
  }
}
