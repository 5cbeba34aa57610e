// RUN: ttc opt %s --split-input-file --tritongpu-assign-latencies=num-stages=3 --tritongpu-schedule-loops --tritongpu-pipeline=num-stages=3 --canonicalize --triton-nvidia-gpu-proxy-fence-insertion --ttc-spare-slots --allocate-shared-memory-nv --tritongpu-insert-barriers --ttc-check-shared-memory | FileCheck %s

// A copy fills the slot of which a product of the iteration before is not known to be done: that takes a barrier, or one
// slot more.
#A = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#G = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#GA = #ttg.dot_op<{opIdx = 0, parent = #G, kWidth = 2}>
#S = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Both operands of a product that stays under way: four slots, and one barrier for both copies.
  // CHECK-LABEL: @product(
  // CHECK: ttg.local_alloc {{.*}}: () -> !ttg.memdesc<4x128x32xf16
  // CHECK: ttg.local_alloc {{.*}}: () -> !ttg.memdesc<4x32x32xf16
  // CHECK: scf.for
  // CHECK: ttg.async_wait
  // CHECK: ttg.barrier local
  // CHECK-NOT: ttg.barrier
  // CHECK: ttng.warp_group_dot_wait {{.*}}pendings = 1 : i32
  // CHECK-NOT: ttg.barrier
  // CHECK: scf.yield
  tt.func public @product(%n: i32, %a: tensor<128x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<128x32xf32, #G> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<128x32xf32, #G>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x32xf32, #G>) : i32 {
      %x = tt.load %a : tensor<128x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xs = ttg.local_alloc %x : (tensor<128x32xf16, #A>) -> !ttg.memdesc<128x32xf16, #S, #smem>
      %ys = ttg.local_alloc %y : (tensor<32x32xf16, #A>) -> !ttg.memdesc<32x32xf16, #S, #smem>
      %d = ttng.warp_group_dot %xs, %ys, %s : !ttg.memdesc<128x32xf16, #S, #smem> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<128x32xf32, #G>
      scf.yield %d : tensor<128x32xf32, #G>
    }
    tt.return %r : tensor<128x32xf32, #G>
  }

  // Of two products the first is waited for in its iteration, so its operand needs no slot more. Each ring has counters
  // of its own: 2 and 3 are the last slots.
  // CHECK-LABEL: @chain(
  // CHECK: %[[K:.*]] = ttg.local_alloc {{.*}}: () -> !ttg.memdesc<3x32x32xf16
  // CHECK: %[[V:.*]] = ttg.local_alloc {{.*}}: () -> !ttg.memdesc<4x32x32xf16
  // CHECK: scf.for
  // CHECK: ttg.barrier local
  // CHECK-NOT: ttg.barrier
  // CHECK: ttg.memdesc_index %[[V]]{{.*}} : !ttg.memdesc<4x32x32xf16
  // CHECK-NOT: ttg.barrier
  // CHECK: ttg.memdesc_index %[[K]]{{.*}} : !ttg.memdesc<3x32x32xf16
  // CHECK: ttg.async_copy_global_to_local
  // CHECK-NOT: ttg.barrier
  // CHECK: scf.yield
  tt.func public @chain(%n: i32, %q: !ttg.memdesc<128x32xf16, #S, #smem>, %a: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<128x32xf32, #G> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<128x32xf32, #G>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x32xf32, #G>) : i32 {
      %x = tt.load %a : tensor<32x32x!tt.ptr<f16>, #A>
      %xs = ttg.local_alloc %x : (tensor<32x32xf16, #A>) -> !ttg.memdesc<32x32xf16, #S, #smem>
      %d = ttng.warp_group_dot %q, %xs, %z : !ttg.memdesc<128x32xf16, #S, #smem> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<128x32xf32, #G>
      %e = math.exp2 %d : tensor<128x32xf32, #G>
      %h = arith.truncf %e : tensor<128x32xf32, #G> to tensor<128x32xf16, #G>
      %p = ttg.convert_layout %h : tensor<128x32xf16, #G> -> tensor<128x32xf16, #GA>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %ys = ttg.local_alloc %y : (tensor<32x32xf16, #A>) -> !ttg.memdesc<32x32xf16, #S, #smem>
      %t = ttng.warp_group_dot %p, %ys, %s : tensor<128x32xf16, #GA> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<128x32xf32, #G>
      scf.yield %t : tensor<128x32xf32, #G>
    }
    tt.return %r : tensor<128x32xf32, #G>
  }

  // 64 rows of one group of warps gain nothing.
  // CHECK-LABEL: @few_rows(
  // CHECK: ttg.local_alloc {{.*}}: () -> !ttg.memdesc<3x64x32xf16
  // CHECK: scf.for
  // CHECK: ttg.barrier local
  // CHECK: ttng.warp_group_dot_wait
  // CHECK: ttg.barrier local
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.yield
  tt.func public @few_rows(%n: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #G> {
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

  // Two blocks share a multiprocessor, and with a slot more they would not.
  // CHECK-LABEL: @no_room(
  // CHECK: ttg.local_alloc {{.*}}: () -> !ttg.memdesc<3x128x32xf16
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot_wait
  // CHECK: ttg.barrier local
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.yield
  tt.func public @no_room(%n: i32, %a: tensor<128x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<128x32xf32, #G> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<128x32xf32, #G>
    %others = ttg.local_alloc : () -> !ttg.memdesc<10x128x32xf16, #S, #smem, mutable>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<128x32xf32, #G>) : i32 {
      %x = tt.load %a : tensor<128x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xs = ttg.local_alloc %x : (tensor<128x32xf16, #A>) -> !ttg.memdesc<128x32xf16, #S, #smem>
      %ys = ttg.local_alloc %y : (tensor<32x32xf16, #A>) -> !ttg.memdesc<32x32xf16, #S, #smem>
      %d = ttng.warp_group_dot %xs, %ys, %s : !ttg.memdesc<128x32xf16, #S, #smem> * !ttg.memdesc<32x32xf16, #S, #smem> -> tensor<128x32xf32, #G>
      scf.yield %d : tensor<128x32xf32, #G>
    }
    ttg.local_dealloc %others : !ttg.memdesc<10x128x32xf16, #S, #smem, mutable>
    tt.return %r : tensor<128x32xf32, #G>
  }
}
