// RUN: ttc opt %s --canonicalize | FileCheck %s
// Views of memory that show what their source shows, and chains of them.

#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
#acc = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
!buf = !ttg.memdesc<32x32xf16, #s, #smem, mutable>
!flip = !ttg.memdesc<32x32xf16, #t, #smem, mutable>
!const = !ttg.memdesc<32x32xf16, #s, #smem>
!quarter = !ttg.memdesc<16x16xf16, #s, #smem, mutable, 32x32>
!small = !ttg.memdesc<8x8xf16, #s, #smem, mutable, 32x32>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @nothing_new
  // CHECK-NEXT: tt.return %m, %m, %m
  tt.func @nothing_new(%m: !buf) -> (!buf, !buf, !buf) {
    %0 = ttg.memdesc_reinterpret %m : !buf -> !buf
    %1 = ttg.memdesc_trans %m {order = array<i32: 0, 1>} : !buf -> !buf
    %2 = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !buf -> !flip
    %3 = ttg.memdesc_trans %2 {order = array<i32: 1, 0>} : !flip -> !buf
    tt.return %0, %1, %3 : !buf, !buf, !buf
  }
  // CHECK-LABEL: @parts_of_parts
  // CHECK-NEXT: %[[P:.*]] = ttg.memdesc_subslice %m[24, 16]
  // CHECK-NEXT: tt.return %[[P]]
  tt.func @parts_of_parts(%m: !buf) -> !small {
    %0 = ttg.memdesc_subslice %m[16, 16] : !buf -> !quarter
    %1 = ttg.memdesc_subslice %0[8, 0] : !quarter -> !small
    tt.return %1 : !small
  }
  // Buffers that nobody writes to are one; one that may change is another.
  // CHECK-LABEL: @loaded_and_put_back
  // CHECK: %[[L:.*]] = ttg.local_load %c
  // CHECK-NEXT: %[[A:.*]] = ttg.local_alloc %[[L]]
  // CHECK-NEXT: tt.return %c, %[[A]]
  tt.func @loaded_and_put_back(%c: !const) -> (!const, !buf) {
    %0 = ttg.local_load %c : !const -> tensor<32x32xf16, #b>
    %1 = ttg.local_alloc %0 : (tensor<32x32xf16, #b>) -> !const
    %2 = ttg.local_alloc %0 : (tensor<32x32xf16, #b>) -> !buf
    tt.return %1, %2 : !const, !buf
  }
  // CHECK-LABEL: @unused_tensor_memory
  // CHECK-NEXT: tt.return
  tt.func @unused_tensor_memory(%v: tensor<128x128xf32, #b>) {
    %0 = ttng.tmem_alloc %v : (tensor<128x128xf32, #b>) -> !ttg.memdesc<128x128xf32, #acc, #ttng.tensor_memory>
    tt.return
  }
  // CHECK-LABEL: @expanded_and_back
  // CHECK-NEXT: tt.return %x
  tt.func @expanded_and_back(%x: tensor<16xf32>) -> tensor<16xf32> {
    %0 = tt.expand_dims %x {axis = 0 : i32} : tensor<16xf32> -> tensor<1x16xf32>
    %1 = tt.reshape %0 : tensor<1x16xf32> -> tensor<16xf32>
    tt.return %1 : tensor<16xf32>
  }
}

#own = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
!bar = !ttg.memdesc<2xi64, #own, #smem, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32} {
  // To keep all bits is what an absent `fromCTA` stands for.
  // CHECK-LABEL: @from_the_last
  // CHECK-NEXT: ttng.arrive_barrier %b, 1 :
  // CHECK-NEXT: ttng.arrive_barrier %b, 1 {fromCTA = 0 : i32} :
  // CHECK-NEXT: ttng.barrier_expect %b, 8, %p :
  tt.func @from_the_last(%b: !bar, %p: i1) {
    ttng.arrive_barrier %b, 1 {fromCTA = 1 : i32} : !bar
    ttng.arrive_barrier %b, 1 {fromCTA = 0 : i32} : !bar
    ttng.barrier_expect %b, 8 {fromCTA = 1 : i32}, %p : !bar
    tt.return
  }
}
