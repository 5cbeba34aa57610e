// Which buffers a memory descriptor may be part of: views, selects, loops and branches.
// RUN: ttc opt %s --test-print-alias 2>&1 | FileCheck %s

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#st = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: %0 -> %0{{$}}
  // CHECK: %1 -> %1{{$}}
  // CHECK: %2 -> %0{{$}}
  // CHECK: %3 -> %0,%1{{$}}
  tt.func public @views(%p: i1) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<16x16xf16, #s, #smem, mutable>
    %1 = ttg.local_alloc : () -> !ttg.memdesc<16x16xf16, #s, #smem, mutable>
    %2 = ttg.memdesc_trans %0 {order = array<i32: 1, 0>} : !ttg.memdesc<16x16xf16, #s, #smem, mutable> -> !ttg.memdesc<16x16xf16, #st, #smem, mutable>
    %3 = arith.select %p, %0, %1 : !ttg.memdesc<16x16xf16, #s, #smem, mutable>
    tt.return
  }
  // The loop hands both on in turn: each of its arguments and results may be either.
  // CHECK: %2 -> %2{{$}}
  // CHECK: %3 -> %3{{$}}
  // CHECK: %4 -> %2,%3{{$}}
  // CHECK: %5 -> %2,%3{{$}}
  // CHECK: %arg{{[0-9]+}} -> %2,%3{{$}}
  tt.func public @turns(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = ttg.local_alloc : () -> !ttg.memdesc<16x16xf16, #s, #smem, mutable>
    %1 = ttg.local_alloc : () -> !ttg.memdesc<16x16xf16, #s, #smem, mutable>
    %2:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0, %b = %1) -> (!ttg.memdesc<16x16xf16, #s, #smem, mutable>, !ttg.memdesc<16x16xf16, #s, #smem, mutable>) : i32 {
      scf.yield %b, %a : !ttg.memdesc<16x16xf16, #s, #smem, mutable>, !ttg.memdesc<16x16xf16, #s, #smem, mutable>
    }
    tt.return
  }
}
