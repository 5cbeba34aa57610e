// RUN: ttc opt %s --split-input-file --verify-diagnostics
// Products with scales in tensor memory: padding of 4-bit elements, and the order in which blocks of scales stand.

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tp = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, fp4Padded = true>
#half = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#padded = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, fp4Padded = true>
#z = #ttng.tensor_memory_scales_encoding<>
#tmem = #ttng.tensor_memory
!b = !ttg.memdesc<128x128xf8E5M2, #s, #ttg.shared_memory>
!d = !ttg.memdesc<128x128xf32, #t, #tmem, mutable>
!z = !ttg.memdesc<128x4xi8, #z, #tmem>
!padded = !ttg.memdesc<128x64xi8, #padded, #tmem>
!dense = !ttg.memdesc<128x64xi8, #half, #tmem>
!dp = !ttg.memdesc<128x128xf32, #tp, #tmem, mutable>
!h = !ttg.memdesc<128x64xf16, #half, #tmem>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func @padding(%padded: !padded, %dense: !dense, %h: !h, %b: !b, %d: !d, %dp: !dp, %z: !z, %p: i1) {
    ttng.tc_gen5_mma_scaled %padded, %b, %d, %z, %z, %p, %p lhs = e2m1 rhs = e5m2 : !padded, !b, !d, !z, !z
    // expected-error @below {{`fp4Padded` of operand `a` is false, expected true}}
    ttng.tc_gen5_mma_scaled %dense, %b, %d, %z, %z, %p, %p lhs = e2m1 rhs = e5m2 : !dense, !b, !d, !z, !z
    // expected-error @below {{and a sum is not padded}}
    ttng.tc_gen5_mma_scaled %padded, %b, %dp, %z, %z, %p, %p lhs = e2m1 rhs = e5m2 : !padded, !b, !dp, !z, !z
    tt.return
  }
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#st = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 256, colStride = 1>
#z = #ttng.tensor_memory_scales_encoding<>
#zk = #ttng.tensor_memory_scales_encoding<blockRepOrder = kThenMn>
!a = !ttg.memdesc<256x128xi8, #s, #ttg.shared_memory>
!b = !ttg.memdesc<128x256xi8, #st, #ttg.shared_memory>
!d = !ttg.memdesc<256x256xf32, #t, #ttng.tensor_memory, mutable>
!z = !ttg.memdesc<256x8xf8E4M3FN, #z, #ttng.tensor_memory>
!zk = !ttg.memdesc<256x8xf8E4M3FN, #zk, #ttng.tensor_memory>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:107"} {
  tt.func @order(%a: !a, %b: !b, %d: !d, %z: !z, %zk: !zk, %p: i1) {
    ttng.tc_gen5_mma_scaled %a, %b, %d, %zk, %z, %p, %p lhs = e2m1 rhs = e2m1 : !a, !b, !d, !zk, !z
    // expected-error @below {{`blockRepOrder` of the scales of operand `a` is mnThenK, expected kThenMn}}
    ttng.tc_gen5_mma_scaled %a, %b, %d, %z, %z, %p, %p lhs = e2m1 rhs = e2m1 : !a, !b, !d, !z, !z
    // expected-error @below {{`blockRepOrder` of the scales of operand `b` is kThenMn, expected mnThenK}}
    ttng.tc_gen5_mma_scaled %a, %b, %d, %zk, %zk, %p, %p lhs = e2m1 rhs = e2m1 : !a, !b, !d, !zk, !zk
    tt.return
  }
}
