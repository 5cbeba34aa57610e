// RUN: ttc opt %s --canonicalize --allow-unregistered-dialect | FileCheck %s
// Results that nobody uses, and captures that no partition uses or that are there twice.

// CHECK-LABEL: @results
// CHECK: %[[R:.*]] = ttg.warp_specialize()
// CHECK: ttg.warp_yield %b : i32
// CHECK: () -> i32
// CHECK-NEXT: tt.return %[[R]]
tt.func @results(%a: i32, %b: i32) -> i32 {
  %0:2 = ttg.warp_specialize()
  default {
    "keep"() : () -> ()
    ttg.warp_yield %a, %b : i32, i32
  } : () -> (i32, i32)
  tt.return %0#1 : i32
}

// CHECK-LABEL: @captures
// CHECK: ttg.warp_specialize(%a, %c)
// CHECK: partition0(%p: i32, %{{.*}}: i32)
// CHECK-NEXT: "use"(%p, %p, %{{.*}})
// CHECK: partition1(%{{.*}}: i32, %z: i32)
// CHECK-NEXT: "use"(%z)
tt.func @captures(%a: i32, %b: i32, %c: i32) {
  ttg.warp_specialize(%a, %b, %a, %c)
  default {
    ttg.warp_yield
  }
  partition0(%p: i32, %q: i32, %r: i32, %s: i32) num_warps(4) {
    "use"(%p, %r, %s) : (i32, i32, i32) -> ()
    ttg.warp_return
  }
  partition1(%w: i32, %x: i32, %y: i32, %z: i32) num_warps(4) {
    "use"(%z) : (i32) -> ()
    ttg.warp_return
  } : (i32, i32, i32, i32) -> ()
  tt.return
}
