// RUN: ttc opt %s --split-input-file --verify-diagnostics
// Parts of buffers, and buffers seen as others: whether the bytes, columns and rows are there.

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#s1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#d = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 0]], block = []}, alignment = 16>
#h = #ttg.shared_linear<{offset = [[0, 1], [0, 0], [1, 0], [2, 0]], block = []}, alignment = 16>
#p = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32]}>
#smem = #ttg.shared_memory
!five = !ttg.memdesc<5x16x16xf16, #s, #smem, mutable>
!two = !ttg.memdesc<2x16x16xf16, #s, #smem, mutable, 5x16x16>
!halves = !ttg.memdesc<2x8x16xf16, #s, #smem, mutable, 5x16x16>
!one = !ttg.memdesc<16x16xf16, #s, #smem, mutable>
!rows = !ttg.memdesc<32x32xf32, #p, #smem, mutable>
!some = !ttg.memdesc<16x32xf32, #p, #smem, mutable, 32x32>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @several_buffers(%m: !five, %i: i32) {
    // Any number of buffers from any on, and one of those.
    %0 = ttg.memdesc_subslice %m[3, 0, 0] : !five -> !two
    %1 = ttg.memdesc_index %0[%i] : !two -> !one
    %2 = ttg.memdesc_reinterpret %0 : !two -> !ttg.memdesc<2x16x16xi16, #s, #smem, mutable>
    // expected-error @below {{is 4, and the source has 5 elements there, the part 2}}
    %3 = ttg.memdesc_subslice %m[4, 0, 0] : !five -> !two
    // expected-error @below {{is -1, and the source has 5 elements there}}
    %4 = ttg.memdesc_subslice %m[-1, 0, 0] : !five -> !two
    %5 = ttg.memdesc_subslice %m[3, 8, 0] : !five -> !halves
    // expected-error @below {{the source has shape [8, 16] of an allocation of [16, 16], expected all of it}}
    %6 = ttg.memdesc_index %5[%i] : !halves -> !ttg.memdesc<8x16xf16, #s, #smem, mutable>
    // expected-error @below {{the source is of an allocation of [5, 16, 16], and the result of [2, 16, 16]}}
    %7 = ttg.memdesc_subslice %m[0, 0, 0] : !five -> !ttg.memdesc<2x16x16xf16, #s, #smem, mutable>
    tt.return
  }
  tt.func @other_bytes(%m: !five, %half: !halves, %d: !ttg.memdesc<4x4xi32, #d, #smem, mutable>, %h: !ttg.memdesc<2x2xi32, #h, #smem, mutable, 4x2>, %some: !some) {
    // A part of the first buffer is 256 bytes; then come the rows that were left out.
    %0 = ttg.memdesc_reinterpret %half : !halves -> !ttg.memdesc<8x16xi16, #s, #smem, mutable>
    // expected-error @below {{the source is a part of 256 bytes before others that are not its own, and the result takes 512}}
    %1 = ttg.memdesc_reinterpret %half : !halves -> !one
    // expected-error @below {{the source takes 2560 bytes and the result 4096}}
    %2 = ttg.memdesc_reinterpret %m : !five -> !ttg.memdesc<8x16x16xf16, #s, #smem, mutable>
    // Two columns of four are 8 bytes of each row.
    %3 = ttg.memdesc_subslice %d[0, 0] : !ttg.memdesc<4x4xi32, #d, #smem, mutable> -> !ttg.memdesc<4x2xi32, #d, #smem, mutable, 4x4>
    %4 = ttg.memdesc_reinterpret %3 : !ttg.memdesc<4x2xi32, #d, #smem, mutable, 4x4> -> !ttg.memdesc<2xi32, #s1, #smem, mutable>
    // expected-error @below {{the source is a part of 8 bytes}}
    %5 = ttg.memdesc_reinterpret %3 : !ttg.memdesc<4x2xi32, #d, #smem, mutable, 4x4> -> !ttg.memdesc<4xi32, #s1, #smem, mutable>
    // What no element uses belongs to the part.
    %6 = ttg.memdesc_reinterpret %h : !ttg.memdesc<2x2xi32, #h, #smem, mutable, 4x2> -> !ttg.memdesc<8xi32, #s1, #smem, mutable>
    // expected-error @below {{the source is a part of shape [16, 32] of [32, 32], expected a whole buffer}}
    %7 = ttg.memdesc_reinterpret %some : !some -> !ttg.memdesc<32x32xf32, #p, #smem, mutable>
    // expected-error @below {{the result is a part of shape [4, 16] of [8, 16], expected a whole buffer}}
    %8 = ttg.memdesc_reinterpret %m : !five -> !ttg.memdesc<4x16xf16, #s, #smem, mutable, 8x16>
    tt.return
  }
}

// -----

#split = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[1, 0]]}>
#copies = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[0, 0]]}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32, CGALayout = [[1, 0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @in_another_block(%v: !ttg.memdesc<4x16xf16, #split, #smem, mutable, 8x16>, %d: !tt.tensordesc<64x32xi32, #n>, %m: !ttg.memdesc<64x32xi32, #n, #smem, mutable, 128x32>, %x: i32) {
    // expected-error @below {{a part that lies in several blocks of the cluster}}
    %0 = ttg.memdesc_reinterpret %v : !ttg.memdesc<4x16xf16, #split, #smem, mutable, 8x16> -> !ttg.memdesc<4x16xf16, #copies, #smem, mutable>
    // expected-error @below {{a part that may lie in another block of the cluster}}
    ttng.async_tma_copy_local_to_global %d[%x, %x] %m : !tt.tensordesc<64x32xi32, #n>, !ttg.memdesc<64x32xi32, #n, #smem, mutable, 128x32>
    tt.return
  }
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#t1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
#z = #ttng.tensor_memory_scales_encoding<>
#tmem = #ttng.tensor_memory
!all = !ttg.memdesc<256x256xf32, #t, #tmem, mutable>
!lower = !ttg.memdesc<128x256xf32, #t, #tmem, mutable, 256x256>
!three = !ttg.memdesc<3x128x128xf32, #t, #tmem, mutable>
!last = !ttg.memdesc<2x128x128xf32, #t, #tmem, mutable, 3x128x128>
!buf = !ttg.memdesc<128x128xf32, #t, #tmem, mutable>
!scales = !ttg.memdesc<16x4xi8, #z, #tmem, mutable>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @tensor_memory(%m: !all, %three: !three, %z: !scales, %c: !ttg.memdesc<128x2xf16, #t1, #tmem, mutable>, %i: i32) {
    %0 = ttng.tmem_subslice %m {offset = 128 : i32, dim = 0 : i32} : !all -> !lower
    %1 = ttng.tmem_subslice %three {offset = 1 : i32, dim = 0 : i32} : !three -> !last
    %2 = ttg.memdesc_index %1[%i] : !last -> !buf
    // Blocks of rows lie one after the other, 64 columns each.
    %3 = ttg.memdesc_reinterpret %0 : !lower -> !ttg.memdesc<128x64xf32, #t, #tmem, mutable>
    // expected-error @below {{the source is a part of 64 columns before others that are not its own, and the result takes 256}}
    %4 = ttg.memdesc_reinterpret %0 : !lower -> !ttg.memdesc<128x256xf32, #t, #tmem, mutable>
    // expected-error @below {{its dimension is 2, and the source has rank 2}}
    %5 = ttng.tmem_subslice %m {offset = 0 : i32, dim = 2 : i32} : !all -> !lower
    // expected-error @below {{the source has 256 elements along dimension 0, which is not split, and the result 128}}
    %6 = ttng.tmem_subslice %m {offset = 0 : i32} : !all -> !lower
    // expected-error @below {{its offset is 192, and the source has 256 elements along dimension 0, the part 128}}
    %7 = ttng.tmem_subslice %m {offset = 192 : i32, dim = 0 : i32} : !all -> !lower
    // expected-error @below {{its offset is 1, 16 bits from the start, expected whole columns of 32 bits}}
    %8 = ttng.tmem_subslice %c {offset = 1 : i32} : !ttg.memdesc<128x2xf16, #t1, #tmem, mutable> -> !ttg.memdesc<128x1xf16, #t1, #tmem, mutable, 128x2>
    %9 = ttng.tmem_subslice %z {offset = 0 : i32, dim = 0 : i32} : !scales -> !ttg.memdesc<8x4xi8, #z, #tmem, mutable, 16x4>
    // expected-error @below {{rows of tensor memory that the source, a part, leaves out}}
    %10 = ttg.memdesc_reinterpret %9 : !ttg.memdesc<8x4xi8, #z, #tmem, mutable, 16x4> -> !scales
    tt.return
  }
}
