// RUN: ttc opt %s --split-input-file --verify-diagnostics
// Each encoding is checked where it stands.

// expected-error @below {{`order` has 2 dimensions, but `threadsPerWarp` has 1}}
#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32], warpsPerCTA = [4, 1], order = [1, 0]}>

// -----

// expected-error @below {{every entry of `sizePerThread` is a power of two, found [1, 3]}}
#a = #ttg.blocked<{sizePerThread = [1, 3], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>

// -----

// expected-error-re @below {{every entry of `threadsPerWarp` {{.*}} found [1, 24]}}
#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 24], warpsPerCTA = [4, 1], order = [1, 0]}>

// -----

// expected-error @below {{every entry of `warpsPerCTA` is a power of two}}
#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [5, 1], order = [1, 0]}>

// -----

// expected-error @below {{`order` names each dimension from 0 to 1 once, found [1, 1]}}
#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 1]}>

// -----

// expected-error @below {{but `CGALayout` has others}}
#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1]]}>

// -----

// expected-error @below {{the bases of `CGALayout` that are not 0 are the powers of two of each axis}}
#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 1]]}>

// -----

// expected-error @below {{lacks the field `order`}}
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4]}>

// -----

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// expected-error @below {{a slice's parent has at least 2 dimensions, found 1}}
#s = #ttg.slice<{dim = 0, parent = #a}>

// -----

#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// expected-error @below {{`dim` is below the parent's 2 dimensions, found 2}}
#s = #ttg.slice<{dim = 2, parent = #a}>

// -----

// expected-error @below {{the bases of a linear layout that are not 0 are the powers of two of each axis}}
#l = #ttg.linear<{register = [[1], [1]], lane = [[2], [4], [8], [16], [32]], warp = [], block = []}>

// -----

// expected-error @below {{the bases of a linear layout}}
#l = #ttg.linear<{register = [[1, 1]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [], block = []}>

// -----

// expected-error @below {{lacks the field `warp`}}
#l = #ttg.linear<{register = [[1]], lane = [[2], [4], [8], [16], [32]], block = []}>

// -----

// expected-error @below {{all bases have the same number of coordinates}}
#l = #ttg.linear<{register = [[1]], lane = [[0, 1]], warp = [], block = []}>

// -----

// expected-error @below {{a basis of `lane` moves along several axes}}
#l = #ttg.generic_linear<{register = [], lane = [[1, 1]], warp = [[0, 1]], block = []}>

// -----

// expected-error @below {{span 2^1 of 2^2}}
#l = #ttg.generic_linear<{register = [[2]], lane = [], warp = [], block = []}>

// -----

#m = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// expected-error @below {{`kWidth` is not 0}}
#d = #ttg.dot_op<{opIdx = 0, parent = #m}>

// -----

#m = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// expected-error @below {{`opIdx` is 0 when the parent is an nvidia_mma of version 3}}
#d = #ttg.dot_op<{opIdx = 1, parent = #m, kWidth = 2}>

// -----

#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// expected-error @below {{`kWidth` is 0 when the parent is blocked, found 2}}
#d = #ttg.dot_op<{opIdx = 0, parent = #a, kWidth = 2}>

// -----

#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// expected-error @below {{`opIdx` is 0 or 1, found 2}}
#d = #ttg.dot_op<{opIdx = 2, parent = #a}>

// -----

// expected-error @below {{`versionMajor` is 1, 2 or 3, found 7}}
#m = #ttg.nvidia_mma<{versionMajor = 7, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>

// -----

// expected-error @below {{`instrShape` has at least 2 sizes, none 0}}
#m = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 0]}>

// -----

// expected-error @below {{every entry of `warpsPerCTA` is a power of two, found [3, 2]}}
#m = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [3, 2], instrShape = [16, 8]}>

// -----

// expected-error @below {{every entry of `maxPhase` is a power of two, found [6]}}
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 6, order = [1, 0]}>

// -----

// expected-error @below {{`order` names each dimension from 0 to 1 once, found [0, 2]}}
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 2]}>

// -----

// expected-error @below {{`swizzlingByteWidth` is 0, 32, 64 or 128, found 16}}
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 16, transposed = false, elementBitWidth = 16}>

// -----

// expected-error @below {{`elementBitWidth` is not 0}}
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 0}>

// -----

// expected-error @below {{independent, and of 2 only 1 are}}
#s = #ttg.shared_linear<{offset = [[1], [1]]}, alignment = 16>

// -----

// expected-error @below {{span 2^1 of 2^2}}
#s = #ttg.shared_linear<{offset = [[2]]}, alignment = 16>

// -----

// expected-error @below {{`alignment` is a power of two, found 24}}
#s = #ttg.shared_linear<{offset = [[1]]}, alignment = 24>

// -----

// expected-error @below {{intervals and paddings are powers of two}}
#s = #ttg.padded_shared<[24:+4] {order = [1, 0], shape = [16, 32]}>

// -----

// expected-error @below {{the interval 32 is there twice}}
#s = #ttg.padded_shared<[32:+4, 32:+8] {order = [1, 0], shape = [16, 32]}>

// -----

// expected-error @below {{lacks the field `block`}}
#s = #ttg.padded_shared<[2:+4] {offset = [[1], [2]]}>

// -----

// expected-error @below {{no two offsets hold the same element}}
#s = #ttg.padded_shared<[2:+4] {offset = [[1], [1]], block = []}>

// -----

// expected-error @below {{each coordinate of a basis is 0 or a power of two}}
#s = #ttg.padded_shared<[2:+4] {offset = [[1], [3]], block = []}>

// -----

// expected-error @below {{each basis of a padded layout moves along one axis}}
#s = #ttg.padded_shared<[2:+4] {offset = [[1, 1]], block = []}>

// -----

// expected-error @below {{`blockM` is 64 or 128, found 32}}
#t = #ttng.tensor_memory_encoding<blockM = 32, blockN = 128, colStride = 1>

// -----

// expected-error @below {{`blockN` is a power of two up to 512, found 1024}}
#t = #ttng.tensor_memory_encoding<blockM = 64, blockN = 1024, colStride = 1>

// -----

// expected-error @below {{`colStride` is 1, 2 or 4, found 3}}
#t = #ttng.tensor_memory_encoding<blockM = 64, blockN = 128, colStride = 3>

// -----

// expected-error @below {{the first basis of `CGALayout` is [1, 0] when `twoCTAs` is set}}
#t = #ttng.tensor_memory_encoding<blockM = 64, blockN = 128, colStride = 1, CGALayout = [[0, 1]], twoCTAs = true>

// -----

// expected-error @below {{the bases of `CGALayout` have 2 coordinates}}
#t = #ttng.tensor_memory_scales_encoding<CGALayout = [[1]]>

// -----

// All is well here.
#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 0], [1, 0]]}>
#l = #ttg.linear<{register = [[0, 1], [0, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]], block = []}>
#g = #ttg.generic_linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[8, 4], [16, 0]], block = []}>
#m = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#d = #ttg.dot_op<{opIdx = 1, parent = #m, kWidth = 2}>
#s = #ttg.slice<{dim = 1, parent = #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [1, 1, 4], order = [2, 1, 0]}>}>}>
#p = #ttg.padded_shared<[4:+2] {offset = [[0, 1], [0, 2], [1, 0]], block = [[2, 0]]}>
module {
}

// -----

// expected-error @below {{`colStride` is 1 when `fp4Padded` is set, found 2}}
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2, fp4Padded = true>

// -----

// expected-error @below {{expected `mnThenK` or `kThenMn`}}
#t = #ttng.tensor_memory_scales_encoding<blockRepOrder = rows>

// -----

// expected-error @below {{`version` is 0 to 4, found 7}}
#m = #ttg.amd_mfma<{version = 7, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = false}>

// -----

// expected-error @below {{`instrShape` starts with 32, 32 or 16, 16}}
#m = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 16, 8], isTransposed = false}>

// -----

// expected-error @below {{`elementBitWidth` is 32 or 64, found 8}}
#m = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = false, elementBitWidth = 8}>

// -----

// expected-error @below {{`instrShape` of version 2 is one of}}
#m = #ttg.amd_wmma<{version = 2, ctaLayout = {warp = []}, instrShape = [16, 16, 8]}>

// -----

// expected-error @below {{`version` is 1 to 3, found 0}}
#m = #ttg.amd_wmma<{version = 0, ctaLayout = {warp = []}}>
