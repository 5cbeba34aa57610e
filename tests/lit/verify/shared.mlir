// RUN: ttc opt %s --verify-diagnostics
// Rules of the ttg dialect; each operation has at most one diagnostic, on its line.

#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#b1 = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [0, 1]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#z = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#p = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32]}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<32x32xf32, #s, #smem, mutable>
!const = !ttg.memdesc<32x32xf32, #s, #smem>
!half = !ttg.memdesc<32x32xf16, #s, #smem, mutable>
!many = !ttg.memdesc<3x32x32xf32, #s, #smem, mutable>
!swz = !ttg.memdesc<32x32xf32, #z, #smem, mutable>
!pad = !ttg.memdesc<32x32xf32, #p, #smem, mutable>
!part = !ttg.memdesc<32x16xf32, #s, #smem, mutable, 32x32>
!t = tensor<32x32xf32, #b>
!i = tensor<32x32xi32, #b>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @good(%t: !t, %i: !i, %m: !many, %c: i32) {
    %0 = ttg.local_alloc %t : (!t) -> !const
    %1 = ttg.local_alloc : () -> !buf
    ttg.local_store %t, %1 : !t -> !buf
    %2 = ttg.local_load %1 : !buf -> !t
    %3 = ttg.memdesc_index %m[%c] : !many -> !buf
    %4 = ttg.memdesc_subslice %1[0, 16] : !buf -> !part
    %5 = ttg.memdesc_trans %1 {order = array<i32: 0, 1>} : !buf -> !buf
    %6 = ttg.local_gather %1[%i] {axis = 0 : i32} : !buf, !i -> !t
    tt.return
  }
  tt.func @allocations(%t: !t, %h: tensor<32x32xf16, #b>, %v: tensor<32xf32, #ttg.slice<{dim = 0, parent = #b}>>) {
    // expected-error @below {{expected a mutable one}}
    %0 = ttg.local_alloc : () -> !const
    // expected-error @below {{does not fill bytes}}
    %1 = ttg.local_alloc : () -> !ttg.memdesc<32x32xi1, #s, #smem, mutable>
    // expected-error @below {{the source has elements of type f16, and the buffer has f32}}
    %2 = ttg.local_alloc %h : (tensor<32x32xf16, #b>) -> !buf
    // expected-error @below {{the source has rank 1, and the buffer's layout has rank 2}}
    %3 = ttg.local_alloc %v : (tensor<32xf32, #ttg.slice<{dim = 0, parent = #b}>>) -> !buf
    // expected-error @below {{expected all of it}}
    %4 = ttg.local_alloc : () -> !part
    // expected-error @below {{the source has shape [32, 32], and the buffer has [32, 64]}}
    %5 = ttg.local_alloc %t : (!t) -> !ttg.memdesc<32x64xf32, #s, #smem>
    // expected-error @below {{its alignment is 24, expected a power of two}}
    %6 = ttg.local_alloc {alignment = 24 : i32} : () -> !buf
    tt.return
  }
  tt.func @accesses(%t: !t, %c: !const, %m: !buf, %h: !half, %i: !i, %j: tensor<32x32xi32, #b1>, %k: tensor<16x32xi32, #b>) {
    // expected-error @below {{expected a mutable one}}
    ttg.local_store %t, %c : !t -> !const
    // expected-error @below {{the source has elements of type f32, and the buffer has f16}}
    ttg.local_store %t, %h : !t -> !half
    // expected-error @below {{the buffer has elements of type f16, and the result has f32}}
    %0 = ttg.local_load %h : !half -> !t
    // expected-error @below {{the buffer has shape [32, 32], and the result has [16, 32]}}
    %1 = ttg.local_load %m : !buf -> tensor<16x32xf32, #b>
    // expected-error @below {{its axis is 2, and the buffer has rank 2}}
    %2 = ttg.local_gather %m[%i] {axis = 2 : i32} : !buf, !i -> !t
    // expected-error @below {{expected one layout}}
    %3 = ttg.local_gather %m[%j] {axis = 0 : i32} : !buf, tensor<32x32xi32, #b1> -> !t
    // expected-error @below {{the result has shape [32, 32], and the indices [16, 32]}}
    %4 = ttg.local_gather %m[%k] {axis = 0 : i32} : !buf, tensor<16x32xi32, #b> -> !t
    // expected-error @below {{the buffer has elements of type f16, and the values has f32}}
    ttg.local_scatter %h[%i], %t {axis = 0 : i32} : !half, !i, !t
    // expected-error @below {{expected a mutable one}}
    %5 = ttg.local_atomic_scatter_rmw fadd, %c[%i], %t {axis = 0 : i32} : (!const, !t, !i) -> !t
    tt.return
  }
  tt.func @views(%m: !buf, %h: !half, %n: !many, %z: !swz, %p: !pad, %part: !part, %c: i32) {
    // expected-error @below {{the result has rank 3, expected 2}}
    %0 = ttg.memdesc_index %n[%c] : !many -> !many
    // expected-error @below {{the source has elements of type f32, and the result f16}}
    %1 = ttg.memdesc_index %n[%c] : !many -> !half
    // expected-error @below {{the result has shape [16, 32], expected [32, 32]}}
    %2 = ttg.memdesc_index %n[%c] : !many -> !ttg.memdesc<16x32xf32, #s, #smem, mutable>
    // expected-error @below {{the source has the layout}}
    %3 = ttg.memdesc_index %n[%c] : !many -> !swz
    // expected-error @below {{it has 1 offsets, and the source has rank 2}}
    %4 = ttg.memdesc_subslice %m[0] : !buf -> !part
    // expected-error @below {{is 8, expected a multiple of the part's size 16}}
    %5 = ttg.memdesc_subslice %m[0, 8] : !buf -> !part
    // expected-error @below {{is 32, and the source has 32 elements there, the part 16}}
    %6 = ttg.memdesc_subslice %m[0, 32] : !buf -> !part
    // expected-error @below {{dimension 0, which is not split, is 32, expected 0}}
    %7 = ttg.memdesc_subslice %m[32, 0] : !buf -> !part
    // expected-error @below {{it cuts the swizzle pattern}}
    %8 = ttg.memdesc_subslice %z[0, 0] : !swz -> !ttg.memdesc<2x32xf32, #z, #smem, mutable, 32x32>
    // expected-error @below {{expected each dimension of the source, of rank 2, once}}
    %9 = ttg.memdesc_trans %m {order = array<i32: 0, 0>} : !buf -> !buf
    // expected-error @below {{whose elements are not where the source's are}}
    %10 = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !buf -> !buf
    // expected-error @below {{expected as many elements}}
    %11 = ttg.memdesc_reshape %m : !buf -> !ttg.memdesc<32x16xf32, #s, #smem, mutable>
    // expected-error @below {{expected all of it}}
    %12 = ttg.memdesc_reshape %part : !part -> !ttg.memdesc<16x32xf32, #s, #smem, mutable>
    // expected-error @below {{one of source and result is mutable}}
    %13 = ttg.memdesc_reinterpret %m : !buf -> !const
    // expected-error @below {{the source takes 2048 bytes and the result 4096}}
    %14 = ttg.memdesc_reinterpret %h : !half -> !buf
    // expected-error @below {{one of source and result has a padded layout}}
    %15 = ttg.memdesc_reinterpret %m : !buf -> !pad
    // expected-error @below {{the source is a part of 64 bytes before others that are not its own, and the result takes 2048}}
    %16 = ttg.memdesc_reinterpret %part : !part -> !ttg.memdesc<32x16xf32, #s, #smem, mutable>
    tt.return
  }
  tt.func @conversions(%t: !t, %b: tensor<32x32xi8, #b>) {
    // expected-error @below {{it converts elements of type f32 to f16}}
    %0 = "ttg.convert_layout"(%t) : (!t) -> tensor<32x32xf16, #b1>
    // expected-error @below {{expected f16 or bf16}}
    %1 = ttg.fp4_to_fp %b {axis = 1 : i32} : tensor<32x32xi8, #b> -> tensor<32x64xf32, #b>
    // expected-error @below {{the result has 32 elements along dimension 1, expected 64}}
    %2 = ttg.fp4_to_fp %b {axis = 1 : i32} : tensor<32x32xi8, #b> -> tensor<32x32xf16, #b>
    // expected-error @below {{its axis is 2}}
    %3 = ttg.fp4_to_fp %b {axis = 2 : i32} : tensor<32x32xi8, #b> -> tensor<32x64xf16, #b>
    tt.return
  }
  tt.func @one_fault_one_diagnostic(%x: i32) {
    // expected-error @below {{operand `lhs` has type i32, expected floating-point-like}}
    %0 = arith.addf %x, %x : i32
    tt.return
  }
}
