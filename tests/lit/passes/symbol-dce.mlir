// RUN: ttc opt %s --symbol-dce | FileCheck %s

// CHECK: @kernel
// CHECK: @used
// CHECK-NOT: @unused
module {
  tt.func public @kernel() {
    tt.call @used() : () -> ()
    tt.return
  }
  tt.func private @used() {
    tt.return
  }
  tt.func private @unused() {
    tt.call @unused_too() : () -> ()
    tt.return
  }
  tt.func private @unused_too() {
    tt.return
  }
}
