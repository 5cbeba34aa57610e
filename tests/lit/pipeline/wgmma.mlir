// RUN: ttc opt %s --tritongpu-assign-latencies=num-stages=3 --tritongpu-schedule-loops --tritongpu-pipeline=num-stages=3 | FileCheck %s

// Products that run while the loop goes on, and where they are waited for.
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
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The product of an iteration is waited for in the next one: one stays under way. Three slots for two iterations ahead, so
  // that no copy overwrites what the product still reads.
  // CHECK-LABEL: @in_flight(
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16
  // CHECK: scf.for
  // CHECK: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttng.warp_group_dot_wait %[[D]]{{.*}}pendings = 1 : i32
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.yield
  // CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 0 : i32
  // CHECK-NEXT: ttg.async_wait {num = 0 : i32}
  tt.func public @in_flight(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #G> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #G>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #G>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xs = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #S, #smem>
      %ys = ttg.local_alloc %y : (tensor<32x32xf16, #A>) -> !ttg.memdesc<32x32xf16, #S, #smem>
      %d = ttng.warp_group_dot %xs, %ys, %s : !ttg.memdesc<64x32xf16, #S, #smem> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<64x32xf32, #G>
      scf.yield %d : tensor<64x32xf32, #G>
    }
    tt.return %r : tensor<64x32xf32, #G>
  }

  // A tensor that is used beside lies in the same slots as one that only the product reads: it needs as many.
  // CHECK-LABEL: @used_beside(
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x32x32xf16
  // CHECK: scf.for
  // CHECK: ttg.local_load
  // CHECK: ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 1 : i32
  // CHECK: scf.yield
  tt.func public @used_beside(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #G> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #G>
    %w = arith.constant dense<0.0> : tensor<64x32xf16, #A>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %t = %w) -> (tensor<64x32xf32, #G>, tensor<64x32xf16, #A>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xs = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #S, #smem>
      %ys = ttg.local_alloc %y : (tensor<32x32xf16, #A>) -> !ttg.memdesc<32x32xf16, #S, #smem>
      %d = ttng.warp_group_dot %xs, %ys, %s : !ttg.memdesc<64x32xf16, #S, #smem> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<64x32xf32, #G>
      %u = arith.addf %t, %x : tensor<64x32xf16, #A>
      scf.yield %d, %u : tensor<64x32xf32, #G>, tensor<64x32xf16, #A>
    }
    tt.return %r#0 : tensor<64x32xf32, #G>
  }

  // A result that is used in its iteration is waited for right away.
  // CHECK-LABEL: @used_at_once(
  // CHECK: scf.for
  // CHECK: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK-NEXT: %[[W:.*]]:{{[0-9]}} = ttng.warp_group_dot_wait %[[D]]{{.*}}pendings = 0 : i32
  // CHECK: arith.addf %[[W]]#0
  tt.func public @used_at_once(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #G> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #G>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #G>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xs = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #S, #smem>
      %ys = ttg.local_alloc %y : (tensor<32x32xf16, #A>) -> !ttg.memdesc<32x32xf16, #S, #smem>
      %d = ttng.warp_group_dot %xs, %ys, %s : !ttg.memdesc<64x32xf16, #S, #smem> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<64x32xf32, #G>
      %e = arith.addf %d, %d : tensor<64x32xf32, #G>
      scf.yield %e : tensor<64x32xf32, #G>
    }
    tt.return %r : tensor<64x32xf32, #G>
  }

  // So is one whose accumulator is computed anew in each iteration.
  // CHECK-LABEL: @changed_before(
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot
  // CHECK-NEXT: ttng.warp_group_dot_wait {{.*}}pendings = 0 : i32
  tt.func public @changed_before(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #G> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #G>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #G>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xs = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #S, #smem>
      %ys = ttg.local_alloc %y : (tensor<32x32xf16, #A>) -> !ttg.memdesc<32x32xf16, #S, #smem>
      %h = arith.mulf %s, %s : tensor<64x32xf32, #G>
      %d = ttng.warp_group_dot %xs, %ys, %h : !ttg.memdesc<64x32xf16, #S, #smem> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<64x32xf32, #G>
      scf.yield %d : tensor<64x32xf32, #G>
    }
    tt.return %r : tensor<64x32xf32, #G>
  }

  // A use inside a branch waits there, not in the loop.
  // CHECK-LABEL: @branch(
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot
  // CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 1 : i32
  // CHECK: scf.if
  // CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 0 : i32
  // CHECK: tt.store
  tt.func public @branch(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %c: tensor<64x32x!tt.ptr<f32>, #G>) -> tensor<64x32xf32, #G> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #G>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #G>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xs = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #S, #smem>
      %ys = ttg.local_alloc %y : (tensor<32x32xf16, #A>) -> !ttg.memdesc<32x32xf16, #S, #smem>
      %d = ttng.warp_group_dot %xs, %ys, %s : !ttg.memdesc<64x32xf16, #S, #smem> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<64x32xf32, #G>
      %even = arith.cmpi eq, %i, %lo : i32
      scf.if %even {
        tt.store %c, %d : tensor<64x32x!tt.ptr<f32>, #G>
      }
      scf.yield %d : tensor<64x32xf32, #G>
    }
    tt.return %r : tensor<64x32xf32, #G>
  }

  // A computed into registers in each iteration is taken apart along K: a part's registers are waited for while the next part multiplies.
  // CHECK-LABEL: @register_a(
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot %
  // CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 1 : i32
  // CHECK: ttng.warp_group_dot %
  // CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 1 : i32
  // CHECK: scf.yield
  // CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 0 : i32
  tt.func public @register_a(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #G> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #G>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #G>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %ys = ttg.local_alloc %y : (tensor<32x32xf16, #A>) -> !ttg.memdesc<32x32xf16, #S, #smem>
      %xe = arith.negf %x : tensor<64x32xf16, #A>
      %xd = ttg.convert_layout %xe : tensor<64x32xf16, #A> -> tensor<64x32xf16, #GA>
      %d = ttng.warp_group_dot %xd, %ys, %s : tensor<64x32xf16, #GA> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<64x32xf32, #G>
      scf.yield %d : tensor<64x32xf32, #G>
    }
    tt.return %r : tensor<64x32xf32, #G>
  }

  // A product on buffers that do not change needs no copies, and stays under way.
  // CHECK-LABEL: @no_loads(
  // CHECK-NOT: ttg.async_copy
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 1 : i32
  tt.func public @no_loads(%n: i32, %p: !ttg.memdesc<64x32xf16, #S, #smem>, %q: !ttg.memdesc<32x32xf16, #S, #smem>) -> tensor<64x32xf32, #G> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #G>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #G>) : i32 {
      %d = ttng.warp_group_dot %p, %q, %s : !ttg.memdesc<64x32xf16, #S, #smem> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<64x32xf32, #G>
      scf.yield %d : tensor<64x32xf32, #G>
    }
    tt.return %r : tensor<64x32xf32, #G>
  }

  // One on a buffer that the iteration itself fills is waited for: the next iteration fills it again.
  // CHECK-LABEL: @stored_in_loop(
  // CHECK: scf.for
  // CHECK: ttg.local_alloc
  // CHECK: ttng.warp_group_dot
  // CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 0 : i32
  // CHECK: scf.yield
  tt.func public @stored_in_loop(%n: i32, %q: !ttg.memdesc<32x32xf16, #S, #smem>) -> tensor<64x32xf32, #G> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #G>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #G>) : i32 {
      %f = arith.sitofp %i : i32 to f16
      %x = tt.splat %f : f16 -> tensor<64x32xf16, #A>
      %xs = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #S, #smem>
      %d = ttng.warp_group_dot %xs, %q, %s : !ttg.memdesc<64x32xf16, #S, #smem> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<64x32xf32, #G>
      scf.yield %d : tensor<64x32xf32, #G>
    }
    tt.return %r : tensor<64x32xf32, #G>
  }

  // The copy goes straight into the buffer that the product reads: no second buffer, no copy through registers.
  // CHECK-LABEL: @one_buffer(
  // CHECK-COUNT-2: ttg.local_alloc : ()
  // CHECK-NOT: ttg.local_alloc
  // CHECK: scf.for
  // CHECK-NOT: ttg.local_load
  // CHECK: ttng.warp_group_dot
  // CHECK: scf.yield
  tt.func public @one_buffer(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #G> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #G>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #G>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xs = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #S, #smem>
      %ys = ttg.local_alloc %y : (tensor<32x32xf16, #A>) -> !ttg.memdesc<32x32xf16, #S, #smem>
      %d = ttng.warp_group_dot %xs, %ys, %s : !ttg.memdesc<64x32xf16, #S, #smem> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<64x32xf32, #G>
      scf.yield %d : tensor<64x32xf32, #G>
    }
    tt.return %r : tensor<64x32xf32, #G>
  }

}
