// RUN: ttc opt %s --tritongpu-prefetch | FileCheck %s

// The first slice of a product's operands is loaded an iteration ahead.
#A = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#N = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#L = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#R = #ttg.slice<{dim = 1, parent = #A}>
#MMA = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#DA = #ttg.dot_op<{opIdx = 0, parent = #MMA, kWidth = 2}>
#DB = #ttg.dot_op<{opIdx = 1, parent = #MMA, kWidth = 2}>
#G = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#GA = #ttg.dot_op<{opIdx = 0, parent = #G, kWidth = 2}>
#S = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // The first half of K is loaded an iteration ahead; the second half in time for the second product.
  // CHECK-LABEL: @carried(
  // CHECK: %[[A0:.*]] = ttg.memdesc_subslice %u[0, 0]
  // CHECK: %[[HA:.*]] = ttg.local_load %[[A0]] : {{.*}} -> tensor<64x16xf16
  // CHECK: %[[B0:.*]] = ttg.memdesc_subslice %v[0, 0]
  // CHECK: %[[HB:.*]] = ttg.local_load %[[B0]] : {{.*}} -> tensor<16x32xf16
  // CHECK: scf.for {{.*}}%[[CA:.*]] = %[[HA]], %[[CB:.*]] = %[[HB]])
  // CHECK: ttg.memdesc_subslice {{.*}}[0, 16]
  // CHECK: ttg.memdesc_subslice {{.*}}[16, 0]
  // CHECK: %[[D0:.*]] = tt.dot %[[CA]], %[[CB]]
  // CHECK: ttg.memdesc_subslice {{.*}}[0, 0]
  // CHECK: ttg.memdesc_subslice {{.*}}[0, 0]
  // CHECK: tt.dot {{.*}}, %[[D0]]
  // CHECK-NEXT: scf.yield
  tt.func public @carried(%n: i32, %lo: i32, %u: !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %v: !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %bufs: !ttg.memdesc<2x64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %bufsb: !ttg.memdesc<2x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %tok: !ttg.async.token) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %p = %u, %q = %v) -> (tensor<64x32xf32, #MMA>, !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>) : i32 {
      %x = ttg.local_load %p : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<64x32xf16, #DA>
      %y = ttg.local_load %q : !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<32x32xf16, #DB>
      %d = tt.dot %x, %y, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      %pn = ttg.memdesc_index %bufs[%i] : !ttg.memdesc<2x64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      %qn = ttg.memdesc_index %bufsb[%i] : !ttg.memdesc<2x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      scf.yield %d, %pn, %qn : tensor<64x32xf32, #MMA>, !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
    }
    tt.return %r#0 : tensor<64x32xf32, #MMA>
  }

  // What is done to an operand on the way is done to each slice.
  // CHECK-LABEL: @elementwise(
  // CHECK: math.absf {{.*}}tensor<64x16xf16
  // CHECK: scf.for
  // CHECK: math.absf {{.*}}tensor<64x16xf16
  // CHECK: tt.dot
  // CHECK: math.absf {{.*}}tensor<64x16xf16
  // CHECK: tt.dot
  tt.func public @elementwise(%n: i32, %lo: i32, %u: !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %v: !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %bufs: !ttg.memdesc<2x64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %bufsb: !ttg.memdesc<2x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %tok: !ttg.async.token) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %p = %u, %q = %v) -> (tensor<64x32xf32, #MMA>, !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>) : i32 {
      %x = ttg.local_load %p : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<64x32xf16, #DA>
      %y = ttg.local_load %q : !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<32x32xf16, #DB>
      %xe = math.absf %x : tensor<64x32xf16, #DA>
      %d = tt.dot %xe, %y, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      %pn = ttg.memdesc_index %bufs[%i] : !ttg.memdesc<2x64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      %qn = ttg.memdesc_index %bufsb[%i] : !ttg.memdesc<2x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      scf.yield %d, %pn, %qn : tensor<64x32xf32, #MMA>, !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
    }
    tt.return %r#0 : tensor<64x32xf32, #MMA>
  }

  // The last product stays in front of its first user.
  // CHECK-LABEL: @used_in_loop(
  // CHECK: scf.for
  // CHECK: tt.dot
  // CHECK: tt.dot
  // CHECK-NEXT: arith.mulf
  // CHECK: ttg.memdesc_subslice {{.*}}[0, 0]
  // CHECK: scf.yield
  tt.func public @used_in_loop(%n: i32, %lo: i32, %u: !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %v: !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %bufs: !ttg.memdesc<2x64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %bufsb: !ttg.memdesc<2x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %tok: !ttg.async.token) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %p = %u, %q = %v) -> (tensor<64x32xf32, #MMA>, !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>) : i32 {
      %x = ttg.local_load %p : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<64x32xf16, #DA>
      %y = ttg.local_load %q : !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<32x32xf16, #DB>
      %d = tt.dot %x, %y, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      %pn = ttg.memdesc_index %bufs[%i] : !ttg.memdesc<2x64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      %qn = ttg.memdesc_index %bufsb[%i] : !ttg.memdesc<2x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      %e = arith.mulf %d, %d : tensor<64x32xf32, #MMA>
      scf.yield %e, %pn, %qn : tensor<64x32xf32, #MMA>, !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
    }
    tt.return %r#0 : tensor<64x32xf32, #MMA>
  }

  // Buffers and tokens made in the loop are carried: the first ones are made in front of it.
  // CHECK-LABEL: @waited(
  // CHECK: ttg.memdesc_index %bufs[%c0_i32]
  // CHECK: ttg.async_wait %tok
  // CHECK: ttg.memdesc_index %bufsb[%c0_i32]
  // CHECK: scf.for
  // CHECK: tt.dot
  // CHECK: ttg.memdesc_index %bufs
  // CHECK: tt.dot
  // CHECK: scf.yield {{.*}}
  tt.func public @waited(%n: i32, %lo: i32, %u: !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %v: !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %bufs: !ttg.memdesc<2x64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %bufsb: !ttg.memdesc<2x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %tok: !ttg.async.token) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %w = ttg.async_wait %tok {num = 0 : i32}
      %p = ttg.memdesc_index %bufs[%i] : !ttg.memdesc<2x64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      %q = ttg.memdesc_index %bufsb[%i] : !ttg.memdesc<2x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      %x = ttg.local_load %p token %w : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<64x32xf16, #DA>
      %y = ttg.local_load %q token %w : !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<32x32xf16, #DB>
      %d = tt.dot %x, %y, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // An operand with another user is left alone.
  // CHECK-LABEL: @shared_operand(
  // CHECK-NOT: ttg.memdesc_subslice
  // CHECK: tt.dot
  tt.func public @shared_operand(%n: i32, %lo: i32, %u: !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %v: !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %bufs: !ttg.memdesc<2x64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %bufsb: !ttg.memdesc<2x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %tok: !ttg.async.token, %o: tensor<64x32x!tt.ptr<f16>, #DA>) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %p = %u, %q = %v) -> (tensor<64x32xf32, #MMA>, !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>) : i32 {
      %x = ttg.local_load %p : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<64x32xf16, #DA>
      %y = ttg.local_load %q : !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<32x32xf16, #DB>
      %d = tt.dot %x, %y, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      %pn = ttg.memdesc_index %bufs[%i] : !ttg.memdesc<2x64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      %qn = ttg.memdesc_index %bufsb[%i] : !ttg.memdesc<2x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      tt.store %o, %x : tensor<64x32x!tt.ptr<f16>, #DA>
      scf.yield %d, %pn, %qn : tensor<64x32xf32, #MMA>, !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
    }
    tt.return %r#0 : tensor<64x32xf32, #MMA>
  }

  // So are loops with two products.
  // CHECK-LABEL: @two_products(
  // CHECK-NOT: ttg.memdesc_subslice
  // CHECK: tt.dot
  tt.func public @two_products(%n: i32, %lo: i32, %u: !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %v: !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %bufs: !ttg.memdesc<2x64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %bufsb: !ttg.memdesc<2x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, %tok: !ttg.async.token) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %p = %u, %q = %v) -> (tensor<64x32xf32, #MMA>, !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>) : i32 {
      %x = ttg.local_load %p : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<64x32xf16, #DA>
      %y = ttg.local_load %q : !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<32x32xf16, #DB>
      %d = tt.dot %x, %y, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      %pn = ttg.memdesc_index %bufs[%i] : !ttg.memdesc<2x64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      %qn = ttg.memdesc_index %bufsb[%i] : !ttg.memdesc<2x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      %x2 = ttg.local_load %p : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<64x32xf16, #DA>
      %y2 = ttg.local_load %q : !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<32x32xf16, #DB>
      %e = tt.dot %x2, %y2, %d : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %e, %pn, %qn : tensor<64x32xf32, #MMA>, !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>, !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
    }
    tt.return %r#0 : tensor<64x32xf32, #MMA>
  }

  // So are operands of which the loop unpacks 4-bit floats: half the bytes along K are not half the floats of a slice.
  // CHECK-LABEL: @unpacked(
  // CHECK-NOT: ttg.memdesc_subslice
  // CHECK: tt.dot
  tt.func public @unpacked(%n: i32, %u: !ttg.memdesc<2x64x32xi8, #ttg.swizzled_shared<{vec = 16, perPhase = 1, maxPhase = 2, order = [1, 0]}>, #smem, mutable>, %v: !ttg.memdesc<2x64x32xbf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %p = ttg.memdesc_index %u[%i] : !ttg.memdesc<2x64x32xi8, #ttg.swizzled_shared<{vec = 16, perPhase = 1, maxPhase = 2, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<64x32xi8, #ttg.swizzled_shared<{vec = 16, perPhase = 1, maxPhase = 2, order = [1, 0]}>, #smem, mutable>
      %q = ttg.memdesc_index %v[%i] : !ttg.memdesc<2x64x32xbf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> !ttg.memdesc<64x32xbf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>
      %x = ttg.local_load %p : !ttg.memdesc<64x32xi8, #ttg.swizzled_shared<{vec = 16, perPhase = 1, maxPhase = 2, order = [1, 0]}>, #smem, mutable> -> tensor<64x32xi8, #ttg.dot_op<{opIdx = 0, parent = #MMA, kWidth = 1}>>
      %f = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<64x32xi8, #ttg.dot_op<{opIdx = 0, parent = #MMA, kWidth = 1}>> -> tensor<64x64xbf16, #DA>
      %y = ttg.local_load %q : !ttg.memdesc<64x32xbf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable> -> tensor<64x32xbf16, #DB>
      %d = tt.dot %f, %y, %s : tensor<64x64xbf16, #DA> * tensor<64x32xbf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }
}
