// RUN: ttc opt %s --split-input-file --ttc-copies-before-waits | FileCheck %s
// The first copies of a pipelined loop are on their way while the kernel waits for what it loads in front of the loop.

// Both loads and all copies stand in front of the first buffer that waits for a load, in their order. The buffer of the
// copies moves with them. What waits keeps its order.
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @queries
// CHECK: %[[Q:.*]] = tt.load
// CHECK: %[[R:.*]] = tt.load
// CHECK: %[[RING:.*]] = ttg.local_alloc : ()
// CHECK: %[[S0:.*]] = ttg.memdesc_index %[[RING]]
// CHECK: ttg.async_copy_global_to_local %{{.*}}, %[[S0]]
// CHECK: ttg.async_commit_group
// CHECK: %[[S1:.*]] = ttg.memdesc_index %[[RING]]
// CHECK: ttg.async_copy_global_to_local %{{.*}}, %[[S1]]
// CHECK: ttg.async_commit_group
// CHECK: ttg.local_alloc %[[Q]]
// CHECK: ttg.local_load
// CHECK: ttg.local_alloc %[[R]]
// CHECK: scf.for
tt.func public @queries(%p: tensor<64x64x!tt.ptr<f16>, #b>, %more: tensor<64x64x!tt.ptr<f16>, #b>, %k: tensor<64x64x!tt.ptr<f16>, #b>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %far = arith.constant dense<64> : tensor<64x64xi32, #b>
  %q = tt.load %p : tensor<64x64x!tt.ptr<f16>, #b>
  %queries = ttg.local_alloc %q : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
  %kept = ttg.local_load %queries : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #b>
  %r = tt.load %more : tensor<64x64x!tt.ptr<f16>, #b>
  %others = ttg.local_alloc %r : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
  %ring = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
  %s0 = ttg.memdesc_index %ring[%c0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %t0 = ttg.async_copy_global_to_local %k, %s0 : tensor<64x64x!tt.ptr<f16>, #b> -> <64x64xf16, #shared, #smem, mutable>
  %g0 = ttg.async_commit_group tokens %t0
  %k1 = tt.addptr %k, %far : tensor<64x64x!tt.ptr<f16>, #b>, tensor<64x64xi32, #b>
  %s1 = ttg.memdesc_index %ring[%c1] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %t1 = ttg.async_copy_global_to_local %k1, %s1 : tensor<64x64x!tt.ptr<f16>, #b> -> <64x64xf16, #shared, #smem, mutable>
  %g1 = ttg.async_commit_group tokens %t1
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %kept) -> (tensor<64x64xf16, #b>) : i32 {
    %w = ttg.async_wait {num = 0 : i32}
    %s = ttg.memdesc_index %ring[%c0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %x = ttg.local_load %s : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    %y = ttg.local_load %others : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #b>
    %xy = arith.addf %x, %y : tensor<64x64xf16, #b>
    %next = arith.addf %acc, %xy : tensor<64x64xf16, #b>
    scf.yield %next : tensor<64x64xf16, #b>
  }
  tt.return
}
}

// -----

// The second copy is to rows that a load names, through a buffer: it stays, and so does all behind it. A copy over a
// load from the slot that it fills stays, too.
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @rows
// CHECK: ttg.async_copy_global_to_local %arg1
// CHECK: ttg.async_commit_group
// CHECK: "tt.reduce"
// CHECK: ttg.async_copy_global_to_local
// CHECK: ttg.async_commit_group
// CHECK: ttg.async_copy_global_to_local %arg1
// CHECK: ttg.async_commit_group
// CHECK: scf.for
tt.func public @rows(%arg0: tensor<64x64x!tt.ptr<i32>, #b>, %arg1: tensor<64x64x!tt.ptr<f16>, #b>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
  %q = tt.load %arg0 : tensor<64x64x!tt.ptr<i32>, #b>
  %most = "tt.reduce"(%q) <{axis = 1 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.maxsi %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<64x64xi32, #b>) -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #b}>>
  %column = tt.expand_dims %most {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<64x1xi32, #b>
  %row = tt.broadcast %column : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
  %s0 = ttg.memdesc_index %ring[%c0] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %t0 = ttg.async_copy_global_to_local %arg1, %s0 : tensor<64x64x!tt.ptr<f16>, #b> -> <64x64xf16, #shared, #smem, mutable>
  %g0 = ttg.async_commit_group tokens %t0
  %far = tt.addptr %arg1, %row : tensor<64x64x!tt.ptr<f16>, #b>, tensor<64x64xi32, #b>
  %s1 = ttg.memdesc_index %ring[%c1] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %t1 = ttg.async_copy_global_to_local %far, %s1 : tensor<64x64x!tt.ptr<f16>, #b> -> <64x64xf16, #shared, #smem, mutable>
  %g1 = ttg.async_commit_group tokens %t1
  %s2 = ttg.memdesc_index %ring[%c2] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %t2 = ttg.async_copy_global_to_local %arg1, %s2 : tensor<64x64x!tt.ptr<f16>, #b> -> <64x64xf16, #shared, #smem, mutable>
  %g2 = ttg.async_commit_group tokens %t2
  scf.for %i = %c0 to %n step %c1 : i32 {
    %w = ttg.async_wait {num = 0 : i32}
  }
  tt.return
}

// CHECK-LABEL: @reads_the_slot
// CHECK: ttg.async_wait
// CHECK: ttg.local_load
// CHECK: ttg.async_copy_global_to_local
// CHECK: scf.for
tt.func public @reads_the_slot(%k: tensor<64x64x!tt.ptr<f16>, #b>, %n: i32) -> tensor<64x64xf16, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable>
  %s0 = ttg.memdesc_index %ring[%c0] : !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %t0 = ttg.async_copy_global_to_local %k, %s0 : tensor<64x64x!tt.ptr<f16>, #b> -> <64x64xf16, #shared, #smem, mutable>
  %g0 = ttg.async_commit_group tokens %t0
  %w = ttg.async_wait %g0 {num = 0 : i32}
  %x = ttg.local_load %s0 token %w : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
  %t1 = ttg.async_copy_global_to_local %k, %s0 : tensor<64x64x!tt.ptr<f16>, #b> -> <64x64xf16, #shared, #smem, mutable>
  %g1 = ttg.async_commit_group tokens %t1
  scf.for %i = %c0 to %n step %c1 : i32 {
    %again = ttg.async_wait {num = 0 : i32}
  }
  tt.return %x : tensor<64x64xf16, #b>
}
}

// -----

// What the kernel writes may be read behind a barrier only. And with three buffers at once, only one block would have
// room where two have.
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @written
// CHECK: ttg.local_alloc %
// CHECK: ttg.async_copy_global_to_local
// CHECK: scf.for
tt.func public @written(%q: !tt.ptr<f16>, %k: !tt.ptr<f16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #b>
  %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #b>
  %ring = ttg.local_alloc : () -> !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable>
  %x = tt.load %qs : tensor<64x64x!tt.ptr<f16>, #b>
  %a = ttg.local_alloc %x : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
  %s0 = ttg.memdesc_index %ring[%c0] : !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
  %t0 = ttg.async_copy_global_to_local %ks, %s0 : tensor<64x64x!tt.ptr<f16>, #b> -> <64x64xf16, #shared, #smem, mutable>
  %g0 = ttg.async_commit_group tokens %t0
  scf.for %i = %c0 to %n step %c1 : i32 {
    %w = ttg.async_wait {num = 0 : i32}
    %y = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #b>
    tt.store %ks, %y : tensor<64x64x!tt.ptr<f16>, #b>
  }
  tt.return
}

// CHECK-LABEL: @two_blocks
// CHECK: ttg.local_alloc %
// CHECK: ttg.local_load
// CHECK: ttg.async_copy_global_to_local
// CHECK: scf.for
tt.func public @two_blocks(%q: tensor<256x128x!tt.ptr<f16>, #b>, %k: tensor<256x128x!tt.ptr<f16>, #b>, %n: i32) -> tensor<256x128xf16, #b> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = tt.load %q : tensor<256x128x!tt.ptr<f16>, #b>
  %a = ttg.local_alloc %x : (tensor<256x128xf16, #b>) -> !ttg.memdesc<256x128xf16, #shared, #smem>
  %y = ttg.local_load %a : !ttg.memdesc<256x128xf16, #shared, #smem> -> tensor<256x128xf16, #b>
  %ring = ttg.local_alloc : () -> !ttg.memdesc<1x256x128xf16, #shared, #smem, mutable>
  %s0 = ttg.memdesc_index %ring[%c0] : !ttg.memdesc<1x256x128xf16, #shared, #smem, mutable> -> !ttg.memdesc<256x128xf16, #shared, #smem, mutable>
  %t0 = ttg.async_copy_global_to_local %k, %s0 : tensor<256x128x!tt.ptr<f16>, #b> -> <256x128xf16, #shared, #smem, mutable>
  %g0 = ttg.async_commit_group tokens %t0
  scf.for %i = %c0 to %n step %c1 : i32 {
    %w = ttg.async_wait {num = 0 : i32}
  }
  tt.return %y : tensor<256x128xf16, #b>
}
}
