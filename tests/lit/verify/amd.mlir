// What AMD's layouts and operations refuse.
// RUN: ttc opt %s --split-input-file --verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @element(%x: !tt.ptr<f16>, %offsets: tensor<1024xi32, #blocked>) {
    // expected-error @+1 {{it accesses f16 through !tt.ptr<f16>, and `result` has type tensor<1024xf32}}
    %0 = amdg.buffer_load %x[%offsets] : !tt.ptr<f16> -> tensor<1024xf32, #blocked>
    tt.return
  }
  tt.func @other(%x: !tt.ptr<f32>, %offsets: tensor<1024xi32, #blocked>, %mask: tensor<1024xi1, #blocked>) {
    // expected-error @+1 {{`contiguity` is a power of two, found 3}}
    %0 = amdg.buffer_load %x[%offsets], %mask {contiguity = 3 : i32} : !tt.ptr<f32> -> tensor<1024xf32, #blocked>
    tt.return
  }
  tt.func @offsets(%x: !tt.ptr<f32>, %offsets: tensor<512xi32, #blocked>, %v: tensor<1024xf32, #blocked>) {
    // expected-error @+1 {{`offsets` has type tensor<512xi32}}
    "amdg.buffer_store"(%v, %x, %offsets) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<1024xf32, #blocked>, !tt.ptr<f32>, tensor<512xi32, #blocked>) -> ()
    tt.return
  }
  tt.func @rank(%x: tensor<1024xf32, #blocked>) {
    // expected-error @+1 {{it turns tensors of two dimensions, found 1}}
    %0 = amdg.in_thread_transpose %x : tensor<1024xf32, #blocked> -> tensor<1024xf32, #blocked>
    tt.return
  }
}

// -----

// The registers of a thread's tile are turned, and nothing else.
#blocked = #ttg.blocked<{sizePerThread = [4, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#same = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], lane = [[0, 8], [0, 16], [0, 32], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @not_turned(%x: tensor<128x64xf16, #blocked>) {
    // expected-error @+1 {{expected the layout `#ttg.linear<{register = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]]}}
    %0 = amdg.in_thread_transpose %x : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #same>
    tt.return
  }
}

// -----

// A result of `mfma` is for 64 lanes.
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1201", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @lanes() {
    %c0 = arith.constant 0.0 : f32
    // expected-error @+1 {{64 threads}}
    %0 = tt.splat %c0 : f32 -> tensor<64x64xf32, #mma>
    tt.return
  }
}

// -----

#mma = #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {warp = [[1, 0]]}}>
// expected-error @+1 {{`kWidth` is one of [8, 16] when the parent is an amd_wmma of version 1, found 4}}
#operand = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>

// -----

// expected-error @+1 {{the bases of `ctaLayout` that are not 0 are the powers of two of each axis, each once}}
#mma = #ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[1, 0], [1, 0]]}}>

// -----

// expected-error @+1 {{`isTransposed` is true for a tile of 64 × 4}}
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [64, 4, 4], isTransposed = false}>
