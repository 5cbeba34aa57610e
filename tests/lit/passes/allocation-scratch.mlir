// RUN: ttc opt %s -split-input-file --test-print-allocation 2>&1 | FileCheck %s

// Bytes of shared memory that conversions and reductions need while they run.

#tall = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [2, 1, 16], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Two ways between warps have as many wavefronts; the one with four repetitions needs a quarter of the memory and six
  // barriers more.
  // CHECK: remark{{.*}}: repetitions
  // CHECK: scratch offset = 0, size = 8192
  tt.func public @repetitions(%x: tensor<64x64xf16, #ttg.slice<{dim = 1, parent = #tall}>>) {
    %0 = ttg.convert_layout %x : tensor<64x64xf16, #ttg.slice<{dim = 1, parent = #tall}>> -> tensor<64x64xf16, #rows>
    tt.return
  }

  // Four partial results each of a value and its index: 16 bytes of indices, then 8 of values, whose order in the text is the other one.
  // CHECK: remark{{.*}}: narrow_first
  // CHECK: scratch offset = 0, size = 24
  tt.func public @narrow_first(%x: tensor<1024xf16, #line>, %i: tensor<1024xi32, #line>) {
    %0:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
    ^bb0(%a: f16, %b: i32, %c: f16, %d: i32):
      %1 = arith.cmpf ogt, %a, %c : f16
      %2 = arith.select %1, %a, %c : f16
      %3 = arith.select %1, %b, %d : i32
      tt.reduce.return %2, %3 : f16, i32
    }) : (tensor<1024xf16, #line>, tensor<1024xi32, #line>) -> (f16, i32)
    tt.return
  }
}

// -----

#lines = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [1, 1], order = [1, 0]}>
#rows = #ttg.linear<{register = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[4, 0], [8, 0], [16, 0], [32, 0], [0, 0]], warp = [], block = []}>

#single = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>
#eights = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Two ways within the warp have as many wavefronts: two repetitions of 8,192 bytes, or eight of 2,048 with twelve barriers
  // more.
  // CHECK: remark{{.*}}: within_warp
  // CHECK: scratch offset = 0, size = 8192
  tt.func public @within_warp(%x: tensor<64x64xf32, #lines>) {
    %0 = ttg.convert_layout %x : tensor<64x64xf32, #lines> -> tensor<64x64xf32, #rows>
    tt.return
  }

  // 4,096 bytes keep none off: here it is two repetitions, where 512 bytes would take sixteen.
  // CHECK: remark{{.*}}: small_within_warp
  // CHECK: scratch offset = 0, size = 4096
  tt.func public @small_within_warp(%x: tensor<64x64xf16, #single>) {
    %0 = ttg.convert_layout %x : tensor<64x64xf16, #single> -> tensor<64x64xf16, #eights>
    tt.return
  }
}
