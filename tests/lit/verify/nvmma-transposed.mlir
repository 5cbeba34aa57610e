// The transpose of an `nvmma_shared` buffer is one with `transposed` turned, whatever its shape; anything else must have its elements in place.
// RUN: ttc opt %s --split-input-file --verify-diagnostics

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func public @large(%a: !ttg.memdesc<1024x1024xf16, #shared, #smem>) {
  %0 = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !ttg.memdesc<1024x1024xf16, #shared, #smem> -> !ttg.memdesc<1024x1024xf16, #turned, #smem>
  tt.return
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#narrow = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
tt.func public @other_swizzle(%a: !ttg.memdesc<64x64xf16, #shared, #smem>) {
  // expected-error @+1 {{elements}}
  %0 = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x64xf16, #narrow, #smem>
  tt.return
}
