// RUN: ttc opt %s -split-input-file -verify-diagnostics
// RUN: not ttc opt %s -split-input-file 2>&1 | FileCheck %s
// CHECK: error[E05

tt.func @wrong_size() {
  // expected-error@+1 {{the range}}
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<128xi32>
  tt.return
}

// -----

tt.func @right() {
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  tt.return
}
