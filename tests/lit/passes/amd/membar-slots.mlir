// A copy fills one slot of a pipelined loop's ring while another is read: that needs no barrier (analysis/slots.rs).
// RUN: ttc opt %s --test-print-membar | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  // The slot that is read was filled two iterations ago, and there are three. The one barrier of the loop orders the
  // copies that were waited for and the reads of the iteration before.
  // CHECK-LABEL: @three_slots
  // CHECK: scf.for
  // CHECK-NOT: ttg.local_load
  // CHECK: ttg.barrier local
  // CHECK-NEXT: ttg.async_copy_global_to_local
  // CHECK-NOT: ttg.barrier
  // CHECK: ttg.local_load
  // CHECK-NOT: ttg.barrier
  // CHECK: scf.yield
  tt.func public @three_slots(%p: tensor<32x64x!tt.ptr<f16>, #b>, %q: tensor<32x64x!tt.ptr<f16>, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %buffer = ttg.local_alloc : () -> !ttg.memdesc<3x32x64xf16, #s, #smem, mutable>
    %first = ttg.memdesc_index %buffer[%c0] : !ttg.memdesc<3x32x64xf16, #s, #smem, mutable> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable>
    %copy0 = ttg.async_copy_global_to_local %p, %first : tensor<32x64x!tt.ptr<f16>, #b> -> <32x64xf16, #s, #smem, mutable>
    %second = ttg.memdesc_index %buffer[%c1] : !ttg.memdesc<3x32x64xf16, #s, #smem, mutable> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable>
    %copy1 = ttg.async_copy_global_to_local %p, %second : tensor<32x64x!tt.ptr<f16>, #b> -> <32x64xf16, #s, #smem, mutable>
    %ready = ttg.async_wait %copy0 {num = 1 : i32}
    %r:5 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c1, %a = %first, %b = %second, %w = %ready, %t = %copy1) -> (i32, !ttg.memdesc<32x64xf16, #s, #smem, mutable>, !ttg.memdesc<32x64xf16, #s, #smem, mutable>, !ttg.async.token, !ttg.async.token) : i32 {
      %more = arith.addi %x, %c1 : i32
      %within = arith.cmpi slt, %more, %c3 : i32
      %next = arith.select %within, %more, %c0 : i32
      %slot = ttg.memdesc_index %buffer[%next] : !ttg.memdesc<3x32x64xf16, #s, #smem, mutable> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %slot : tensor<32x64x!tt.ptr<f16>, #b> -> <32x64xf16, #s, #smem, mutable>
      %v = ttg.local_load %a token %w : !ttg.memdesc<32x64xf16, #s, #smem, mutable> -> tensor<32x64xf16, #b>
      tt.store %q, %v : tensor<32x64x!tt.ptr<f16>, #b>
      %done = ttg.async_wait %t {num = 1 : i32}
      scf.yield %next, %b, %slot, %done, %copy : i32, !ttg.memdesc<32x64xf16, #s, #smem, mutable>, !ttg.memdesc<32x64xf16, #s, #smem, mutable>, !ttg.async.token, !ttg.async.token
    }
    tt.return
  }
  // With two slots it is the one that is filled now.
  // CHECK-LABEL: @the_same_slot
  // CHECK: scf.for
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK: scf.yield
  tt.func public @the_same_slot(%p: tensor<32x64x!tt.ptr<f16>, #b>, %q: tensor<32x64x!tt.ptr<f16>, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %buffer = ttg.local_alloc : () -> !ttg.memdesc<2x32x64xf16, #s, #smem, mutable>
    %first = ttg.memdesc_index %buffer[%c0] : !ttg.memdesc<2x32x64xf16, #s, #smem, mutable> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable>
    %second = ttg.memdesc_index %buffer[%c1] : !ttg.memdesc<2x32x64xf16, #s, #smem, mutable> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable>
    %copy0 = ttg.async_copy_global_to_local %p, %first : tensor<32x64x!tt.ptr<f16>, #b> -> <32x64xf16, #s, #smem, mutable>
    %ready = ttg.async_wait %copy0 {num = 0 : i32}
    %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c1, %a = %first, %b = %second, %w = %ready) -> (i32, !ttg.memdesc<32x64xf16, #s, #smem, mutable>, !ttg.memdesc<32x64xf16, #s, #smem, mutable>, !ttg.async.token) : i32 {
      %more = arith.addi %x, %c1 : i32
      %within = arith.cmpi slt, %more, %c2 : i32
      %next = arith.select %within, %more, %c0 : i32
      %slot = ttg.memdesc_index %buffer[%next] : !ttg.memdesc<2x32x64xf16, #s, #smem, mutable> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %slot : tensor<32x64x!tt.ptr<f16>, #b> -> <32x64xf16, #s, #smem, mutable>
      %done = ttg.async_wait %copy {num = 0 : i32}
      %v = ttg.local_load %a token %done : !ttg.memdesc<32x64xf16, #s, #smem, mutable> -> tensor<32x64xf16, #b>
      tt.store %q, %v : tensor<32x64x!tt.ptr<f16>, #b>
      scf.yield %next, %b, %slot, %done : i32, !ttg.memdesc<32x64xf16, #s, #smem, mutable>, !ttg.memdesc<32x64xf16, #s, #smem, mutable>, !ttg.async.token
    }
    tt.return
  }
  // Where the counter starts is not known here: the slot that comes into the loop may be the one that is filled first.
  // CHECK-LABEL: @an_unknown_start
  // CHECK: scf.for
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttg.barrier local
  // CHECK-NEXT: ttg.local_load
  // CHECK: scf.yield
  tt.func public @an_unknown_start(%p: tensor<32x64x!tt.ptr<f16>, #b>, %q: tensor<32x64x!tt.ptr<f16>, #b>, %n: i32, %start: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %buffer = ttg.local_alloc : () -> !ttg.memdesc<2x32x64xf16, #s, #smem, mutable>
    %first = ttg.memdesc_index %buffer[%c0] : !ttg.memdesc<2x32x64xf16, #s, #smem, mutable> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable>
    %copy0 = ttg.async_copy_global_to_local %p, %first : tensor<32x64x!tt.ptr<f16>, #b> -> <32x64xf16, #s, #smem, mutable>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %start, %a = %first, %t = %copy0) -> (i32, !ttg.memdesc<32x64xf16, #s, #smem, mutable>, !ttg.async.token) : i32 {
      %w = ttg.async_wait %t {num = 0 : i32}
      %more = arith.addi %x, %c1 : i32
      %within = arith.cmpi slt, %more, %c2 : i32
      %next = arith.select %within, %more, %c0 : i32
      %slot = ttg.memdesc_index %buffer[%next] : !ttg.memdesc<2x32x64xf16, #s, #smem, mutable> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable>
      %copy = ttg.async_copy_global_to_local %p, %slot : tensor<32x64x!tt.ptr<f16>, #b> -> <32x64xf16, #s, #smem, mutable>
      %v = ttg.local_load %a token %w : !ttg.memdesc<32x64xf16, #s, #smem, mutable> -> tensor<32x64xf16, #b>
      tt.store %q, %v : tensor<32x64x!tt.ptr<f16>, #b>
      scf.yield %next, %slot, %copy : i32, !ttg.memdesc<32x64xf16, #s, #smem, mutable>, !ttg.async.token
    }
    tt.return
  }
}
