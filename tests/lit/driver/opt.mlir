// RUN: ttc opt %s -split-input-file -canonicalize | FileCheck %s
// RUN: ttc opt --pass-pipeline='builtin.module(canonicalize,cse)' -split-input-file < %s | FileCheck %s
// RUN: ttc opt %s -split-input-file -canonicalize -mlir-disable-threading | FileCheck %s
// RUN: ttc opt --help | FileCheck %s --check-prefix=HELP
// HELP: --tritongpu-coalesce
// RUN: not ttc opt %s 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: error[E05{{..}}]

// CHECK-LABEL: tt.func @f
// CHECK-NEXT: tt.return %arg0
tt.func @f(%arg0: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %0 = arith.addi %arg0, %c0 : i32
  tt.return %0 : i32
}

// -----

// The same name again: parts are modules of their own.
// CHECK: // -----
// CHECK-LABEL: tt.func @f
tt.func @f() {
  tt.return
}
