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
// expected-error @below {{its dimensions are powers of two but for the number of buffers}}
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
// expected-error @below {{its shape is at least 128 × 64}}
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

// -----

// Only a dimension in front of the layout's counts buffers.
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @below {{its dimensions are powers of two but for the number of buffers, found [6, 16]}}
tt.func private @f(!ttg.memdesc<6x16xf32, #s, #ttg.shared_memory, mutable, 8x16>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @below {{the dimensions of its allocation are powers of two but for the number of buffers, found [6, 16]}}
tt.func private @f(!ttg.memdesc<4x16xf32, #s, #ttg.shared_memory, mutable, 6x16>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// Three buffers are fine.
tt.func private @f(!ttg.memdesc<3x16x16xf32, #s, #ttg.shared_memory, mutable, 5x16x16>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @below {{an element has 1 bit or at least 8, found i4}}
tt.func private @f(!ttg.memdesc<8xi4, #s, #ttg.shared_memory>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @below {{its elements are integers, floats or pointers, found none}}
tt.func private @f(!ttg.memdesc<8xnone, #s, #ttg.shared_memory>)

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
// expected-error @below {{an element in tensor memory has at least 8 bits, found i1}}
tt.func private @f(!ttg.memdesc<128x64xi1, #t, #ttng.tensor_memory>)

// -----

// expected-error @below {{scales in tensor memory have two dimensions, found 1 of 2}}
tt.func private @f(!ttg.memdesc<16xi8, #ttng.tensor_memory_scales_encoding<>, #ttng.tensor_memory, 128x16>)

// -----

// expected-error @below {{a pointer points at an integer, a float or a block of them, found index}}
tt.func private @f(!tt.ptr<index>)

// -----

// expected-error @below {{expected the name of an address space}}
tt.func private @f(!tt.ptr<f32, 3>)

// -----

// expected-error @below {{unknown address space `shared`}}
tt.func private @f(!tt.ptr<f32, "shared">)
