// RUN: ttc opt %s --split-input-file --ttc-keep-operands | FileCheck %s
// The first operand of a product that a loop does not change is kept in registers, unless a block less would share a
// multiprocessor then. In most of these functions the other buffers leave two blocks.

#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// The wait passes on what the product reads.
// CHECK-LABEL: @kept
// CHECK: %[[A:.*]] = ttg.local_alloc %a
// CHECK-NEXT: %[[R:.*]] = ttg.local_load %[[A]] : {{.*}} -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
// CHECK: scf.for
// CHECK: %[[D:.*]] = ttng.warp_group_dot %[[R]], %{{.*}}, %{{.*}} {isAsync = true} : tensor<128x64xf16, #ttg.dot_op
// CHECK: ttng.warp_group_dot_wait %[[D]], %[[R]] {pendings = 0 : i32} : tensor<128x64xf32, #mma>, tensor<128x64xf16, #ttg.dot_op
tt.func public @kept(%a: tensor<128x64xf16, #b>, %k: !ttg.memdesc<64x64xf16, #t, #smem>, %n: i32) -> tensor<128x64xf32, #mma> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %others = ttg.local_alloc : () -> !ttg.memdesc<6x128x64xf16, #s, #smem, mutable>
  %zero = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #mma>
  %q = ttg.local_alloc %a : (tensor<128x64xf16, #b>) -> !ttg.memdesc<128x64xf16, #s, #smem>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
    %d = ttng.warp_group_dot %q, %k, %acc {isAsync = true} : !ttg.memdesc<128x64xf16, #s, #smem> * !ttg.memdesc<64x64xf16, #t, #smem> -> tensor<128x64xf32, #mma>
    %w:2 = ttng.warp_group_dot_wait %d, %q {pendings = 0 : i32} : tensor<128x64xf32, #mma>, !ttg.memdesc<128x64xf16, #s, #smem>
    scf.yield %w#0 : tensor<128x64xf32, #mma>
  }
  tt.return %r : tensor<128x64xf32, #mma>
}

// Where hardware makes the loop's copies, nothing is gained.
// CHECK-LABEL: @copied_by_hardware
// CHECK-NOT: ttg.local_load
// CHECK: tt.return
tt.func public @copied_by_hardware(%a: tensor<128x64xf16, #b>, %d: !tt.tensordesc<64x64xf16, #s>, %full: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %on: i1, %n: i32) -> tensor<128x64xf32, #mma> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %others = ttg.local_alloc : () -> !ttg.memdesc<6x128x64xf16, #s, #smem, mutable>
  %k = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
  %zero = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #mma>
  %q = ttg.local_alloc %a : (tensor<128x64xf16, #b>) -> !ttg.memdesc<128x64xf16, #s, #smem>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
    %p = ttng.warp_group_dot %q, %k, %acc {isAsync = true} : !ttg.memdesc<128x64xf16, #s, #smem> * !ttg.memdesc<64x64xf16, #s, #smem, mutable> -> tensor<128x64xf32, #mma>
    %w:2 = ttng.warp_group_dot_wait %p, %q {pendings = 0 : i32} : tensor<128x64xf32, #mma>, !ttg.memdesc<128x64xf16, #s, #smem>
    ttng.async_tma_copy_global_to_local %d[%i, %c0] %k, %full, %on : !tt.tensordesc<64x64xf16, #s>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
    scf.yield %w#0 : tensor<128x64xf32, #mma>
  }
  tt.return %r : tensor<128x64xf32, #mma>
}

// A product of the same operand with itself reads it as the second one, too, and there it must be in shared memory.
// CHECK-LABEL: @second_operand
// CHECK-NOT: ttg.local_load
// CHECK: tt.return
tt.func public @second_operand(%a: tensor<64x64xf16, #b>, %n: i32, %zero: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %others = ttg.local_alloc : () -> !ttg.memdesc<6x128x64xf16, #s, #smem, mutable>
  %q = ttg.local_alloc %a : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #s, #smem>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
    %d = ttng.warp_group_dot %q, %q, %acc : !ttg.memdesc<64x64xf16, #s, #smem> * !ttg.memdesc<64x64xf16, #s, #smem> -> tensor<64x64xf32, #mma>
    scf.yield %d : tensor<64x64xf32, #mma>
  }
  tt.return %r : tensor<64x64xf32, #mma>
}

// An operand of each iteration stays.
// CHECK-LABEL: @changes
// CHECK-NOT: ttg.local_load
// CHECK: tt.return
tt.func public @changes(%p: tensor<128x64x!tt.ptr<f16>, #b>, %k: !ttg.memdesc<64x64xf16, #t, #smem>, %n: i32, %zero: tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %others = ttg.local_alloc : () -> !ttg.memdesc<6x128x64xf16, #s, #smem, mutable>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
    %a = tt.load %p : tensor<128x64x!tt.ptr<f16>, #b>
    %q = ttg.local_alloc %a : (tensor<128x64xf16, #b>) -> !ttg.memdesc<128x64xf16, #s, #smem>
    %d = ttng.warp_group_dot %q, %k, %acc : !ttg.memdesc<128x64xf16, #s, #smem> * !ttg.memdesc<64x64xf16, #t, #smem> -> tensor<128x64xf32, #mma>
    scf.yield %d : tensor<128x64xf32, #mma>
  }
  tt.return %r : tensor<128x64xf32, #mma>
}

// Something else reads the buffer: it would be there in any case.
// CHECK-LABEL: @read_elsewhere
// CHECK: ttng.warp_group_dot %{{.*}} : !ttg.memdesc<128x64xf16
tt.func public @read_elsewhere(%a: tensor<128x64xf16, #b>, %k: !ttg.memdesc<64x64xf16, #t, #smem>, %n: i32, %zero: tensor<128x64xf32, #mma>) -> (tensor<128x64xf32, #mma>, tensor<128x64xf16, #mma>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %others = ttg.local_alloc : () -> !ttg.memdesc<6x128x64xf16, #s, #smem, mutable>
  %q = ttg.local_alloc %a : (tensor<128x64xf16, #b>) -> !ttg.memdesc<128x64xf16, #s, #smem>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
    %d = ttng.warp_group_dot %q, %k, %acc : !ttg.memdesc<128x64xf16, #s, #smem> * !ttg.memdesc<64x64xf16, #t, #smem> -> tensor<128x64xf32, #mma>
    scf.yield %d : tensor<128x64xf32, #mma>
  }
  %e = ttg.local_load %q : !ttg.memdesc<128x64xf16, #s, #smem> -> tensor<128x64xf16, #mma>
  tt.return %r, %e : tensor<128x64xf32, #mma>, tensor<128x64xf16, #mma>
}

// A thread has 128 registers of results and 128 of pointers, which leaves no room for 32 more.
// CHECK-LABEL: @crowded
// CHECK-NOT: ttg.local_load
// CHECK: tt.return
tt.func public @crowded(%a: tensor<128x64xf16, #b>, %k: !ttg.memdesc<64x64xf16, #t, #smem>, %p: tensor<128x64x!tt.ptr<f16>, #b>, %n: i32, %zero: tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %q = ttg.local_alloc %a : (tensor<128x64xf16, #b>) -> !ttg.memdesc<128x64xf16, #s, #smem>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %other = %zero) -> (tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>) : i32 {
    %v = tt.load %p : tensor<128x64x!tt.ptr<f16>, #b>
    tt.store %p, %v : tensor<128x64x!tt.ptr<f16>, #b>
    %d = ttng.warp_group_dot %q, %k, %acc : !ttg.memdesc<128x64xf16, #s, #smem> * !ttg.memdesc<64x64xf16, #t, #smem> -> tensor<128x64xf32, #mma>
    %e = ttng.warp_group_dot %q, %k, %other : !ttg.memdesc<128x64xf16, #s, #smem> * !ttg.memdesc<64x64xf16, #t, #smem> -> tensor<128x64xf32, #mma>
    scf.yield %d, %e : tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>
  }
  %s = arith.addf %r#0, %r#1 : tensor<128x64xf32, #mma>
  tt.return %s : tensor<128x64xf32, #mma>
}
}

// -----

// Two groups of warps run apart, and are slower so.
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @two_groups
// CHECK-NOT: ttg.local_load
// CHECK: tt.return
tt.func public @two_groups(%a: tensor<128x64xf16, #b>, %k: !ttg.memdesc<64x64xf16, #t, #smem>, %n: i32, %zero: tensor<128x64xf32, #mma>) -> tensor<128x64xf32, #mma> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %others = ttg.local_alloc : () -> !ttg.memdesc<6x128x64xf16, #s, #smem, mutable>
  %q = ttg.local_alloc %a : (tensor<128x64xf16, #b>) -> !ttg.memdesc<128x64xf16, #s, #smem>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
    %d = ttng.warp_group_dot %q, %k, %acc : !ttg.memdesc<128x64xf16, #s, #smem> * !ttg.memdesc<64x64xf16, #t, #smem> -> tensor<128x64xf32, #mma>
    scf.yield %d : tensor<128x64xf32, #mma>
  }
  tt.return %r : tensor<128x64xf32, #mma>
}
}
