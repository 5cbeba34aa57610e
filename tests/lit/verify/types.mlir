// RUN: ttc opt %s --split-input-file --verify-diagnostics
// Types of memory are checked where they stand.

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @below {{a memory descriptor has at least one dimension}}
tt.func private @f(!ttg.memdesc<f32, #s, #ttg.shared_memory>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @below {{its layout has rank 2, and it has rank 4}}
tt.func private @f(!ttg.memdesc<2x2x16x16xf32, #s, #ttg.shared_memory>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @below {{its dimensions are powers of two}}
tt.func private @f(!ttg.memdesc<16x24xf32, #s, #ttg.shared_memory>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @below {{lies in that of its allocation}}
tt.func private @f(!ttg.memdesc<16x32xf32, #s, #ttg.shared_memory, mutable, 16x16>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @below {{its layout is one of shared memory, found the space `#ttng.tensor_memory`}}
tt.func private @f(!ttg.memdesc<16x32xf32, #s, #ttng.tensor_memory>)

// -----

#s = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [16, 32]}>
// expected-error @below {{its layout has 32 elements along dimension 1, and its allocation 64}}
tt.func private @f(!ttg.memdesc<16x64xf32, #s, #ttg.shared_memory>)

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// expected-error @below {{a block has 32 elements along dimension 1, and a row of the swizzle of 128 bytes has 64}}
tt.func private @f(!ttg.memdesc<16x32xf16, #s, #ttg.shared_memory>)

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
// expected-error @below {{its allocation is at least 128 × 64}}
tt.func private @f(!ttg.memdesc<64x64xf32, #t, #ttng.tensor_memory>)

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2>
// expected-error @below {{takes more than a column of 32 bits}}
tt.func private @f(!ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory>)

// -----

// expected-error @below {{scales in tensor memory have 8 bits, found f16}}
tt.func private @f(!ttg.memdesc<128x4xf16, #ttng.tensor_memory_scales_encoding<>, #ttng.tensor_memory>)

// -----

// expected-error @below {{an im2col descriptor has two dimensions, found 3}}
tt.func private @f(!ttng.tensordesc_im2col<1x64x64xf16>)

// -----

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// expected-error @below {{a descriptor's layout is one of shared memory}}
tt.func private @f(!tt.tensordesc<64xf16, #b>)
