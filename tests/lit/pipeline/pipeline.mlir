// RUN: ttc opt %s --tritongpu-assign-latencies=num-stages=3 --tritongpu-schedule-loops --tritongpu-pipeline=num-stages=3 | FileCheck %s

// Loads that feed products become asynchronous copies into rotating buffers.
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
  // Three stages of copies that are two iterations ahead: two slots each.
  // The prologue fills both slots, under masks; each copy is a group of its own.
  // CHECK-LABEL: @buffers(
  // CHECK-DAG: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16
  // CHECK-DAG: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16
  // CHECK: ttg.async_copy_global_to_local %a, {{.*}} mask
  // CHECK: ttg.async_commit_group
  // CHECK: ttg.async_copy_global_to_local %b, {{.*}} mask
  // CHECK: ttg.async_commit_group
  // CHECK: ttg.async_copy_global_to_local %a, {{.*}} mask
  // CHECK: ttg.async_copy_global_to_local %b, {{.*}} mask
  // CHECK-NOT: ttg.async_copy
  // CHECK: scf.for
  // CHECK: ttg.async_wait {{.*}}num = 2 : i32
  // CHECK: tt.dot
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.yield
  // CHECK: ttg.async_wait {num = 0 : i32}
  // CHECK-DAG: ttg.local_dealloc %[[A]]
  // CHECK-DAG: ttg.local_dealloc %[[B]]
  tt.func public @buffers(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // Two stages: the copies of the next iteration start once this one's slot has been read; one slot, nothing left under way at the wait.
  // CHECK-LABEL: @two_stages(
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<1x64x32xf16
  // CHECK: scf.for
  // CHECK: ttg.async_wait {{.*}}num = 0 : i32
  // CHECK: tt.dot
  tt.func public @two_stages(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    } {tt.num_stages = 2 : i32}
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // Four stages: three slots, two later iterations (four groups) stay under way.
  // CHECK-LABEL: @four_stages(
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.for
  // CHECK: ttg.async_wait {{.*}}num = 4 : i32
  tt.func public @four_stages(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    } {tt.num_stages = 4 : i32}
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // One stage: nothing happens.
  // CHECK-LABEL: @one_stage(
  // CHECK-NOT: ttg.async_copy
  // CHECK: tt.load %a
  // CHECK: tt.dot
  tt.func public @one_stage(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    } {tt.num_stages = 1 : i32}
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // The copies of prologue iteration k run if it exists: lo < n, lo + step < n.
  // CHECK-LABEL: @prologue_masks(
  // CHECK: arith.cmpi slt, %lo, %n : i32
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: %[[NEXT:.*]] = arith.addi %lo, %n3 : i32
  // CHECK: arith.cmpi slt, %[[NEXT]], %n : i32
  // CHECK: ttg.async_copy_global_to_local
  tt.func public @prologue_masks(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %n3: i32) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %lo to %n step %n3 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // In the loop the copies are for two iterations later: switched off in the last two.
  // CHECK-LABEL: @last_iterations(
  // CHECK: scf.for %[[I:.*]] = %lo to %n step %n3
  // CHECK: %[[TWO:.*]] = arith.muli %n3, %c2_i32 : i32
  // CHECK: %[[LAST:.*]] = arith.subi %n, %[[TWO]] : i32
  // CHECK: arith.cmpi slt, %[[I]], %[[LAST]] : i32
  tt.func public @last_iterations(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %n3: i32) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %lo to %n step %n3 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // Bounds that are constants: the prologue is unconditional where the iterations exist.
  // CHECK-LABEL: @known_bounds(
  // CHECK: ttg.async_copy_global_to_local
  // CHECK-NOT: arith.cmpi
  // CHECK: scf.for
  tt.func public @known_bounds(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %c64 = arith.constant 64 : i32
    %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // The slot to fill and the slot to read count on, and start again at 0 behind the last.
  // CHECK-LABEL: @slots(
  // CHECK: scf.for
  // CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c1_i32 : i32
  // CHECK: %[[END:.*]] = arith.cmpi sge, %[[NEXT]], %{{.*}} : i32
  // CHECK: %[[OUT:.*]] = arith.select %[[END]], %c0_i32, %[[NEXT]] : i32
  // CHECK: ttg.memdesc_index %{{.*}}[%[[OUT]]]
  // CHECK: tt.dot
  // CHECK: arith.cmpi sge
  // CHECK: %[[IN:.*]] = arith.select
  // CHECK: ttg.memdesc_index %{{.*}}[%[[IN]]]
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.yield {{.*}}%[[IN]], %[[OUT]]
  tt.func public @slots(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A pointer carried over the iterations: the kernel carries the one that its copies need.
  // CHECK-LABEL: @advance(
  // CHECK: tt.addptr %a
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.for
  // CHECK: tt.dot
  // CHECK: ttg.async_copy_global_to_local
  tt.func public @advance(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %p = %a) -> (tensor<64x32xf32, #MMA>, tensor<64x32x!tt.ptr<f16>, #A>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      %bump = arith.constant dense<32> : tensor<64x32xi32, #A>
      %an = tt.addptr %p, %bump : tensor<64x32x!tt.ptr<f16>, #A>, tensor<64x32xi32, #A>
      scf.yield %d, %an : tensor<64x32xf32, #MMA>, tensor<64x32x!tt.ptr<f16>, #A>
    }
    tt.return %r#0 : tensor<64x32xf32, #MMA>
  }

  // The mask of a load is combined with that of the iteration.
  // CHECK-LABEL: @mask(
  // CHECK: %[[ON:.*]] = tt.splat {{.*}} : i1 -> tensor<64x32xi1
  // CHECK: %[[BOTH:.*]] = arith.andi %[[ON]], %m
  // CHECK: ttg.async_copy_global_to_local %a, {{.*}} mask %[[BOTH]]
  tt.func public @mask(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %m: tensor<64x32xi1, #A> {tt.constancy = dense<[1, 8]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a, %m : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // Where masked elements are zero, the copy writes the zeros.
  // CHECK-LABEL: @other_zero(
  // CHECK: ttg.async_copy_global_to_local %a
  // CHECK: scf.for
  // CHECK-NOT: arith.select {{.*}}tensor<64x32
  // CHECK: tt.dot
  tt.func public @other_zero(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %m: tensor<64x32xi1, #A> {tt.constancy = dense<[1, 8]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %w = arith.constant dense<0.0> : tensor<64x32xf16, #A>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a, %m, %w : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // Other values are selected after reading the slot.
  // CHECK-LABEL: @other_one(
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<64x32xf16
  // CHECK: scf.for
  // CHECK: ttg.local_load
  // CHECK: arith.select %m, {{.*}}, %[[ONE]]
  // CHECK: tt.dot
  tt.func public @other_one(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %m: tensor<64x32xi1, #A> {tt.constancy = dense<[1, 8]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %w = arith.constant dense<1.0> : tensor<64x32xf16, #A>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a, %m, %w : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A loaded index goes through a slot of its own, an iteration earlier than what it addresses. A scalar is copied as a tensor of one element.
  // CHECK-LABEL: @indirect(
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<1x1xi32
  // CHECK: tt.splat %idx : !tt.ptr<i32> -> tensor<1x!tt.ptr<i32>
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttg.async_wait
  // CHECK: ttg.local_load {{.*}} -> tensor<1xi32
  // CHECK: tt.unsplat
  // CHECK: tt.addptr %a
  // CHECK: scf.for
  // CHECK: tt.dot
  // CHECK: tt.unsplat
  tt.func public @indirect(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %idx: !tt.ptr<i32>) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %c8 = arith.constant dense<8> : tensor<64x32xi32, #A>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %k = tt.load %idx : !tt.ptr<i32>
      %ks = tt.splat %k : i32 -> tensor<64x32xi32, #A>
      %k8 = arith.muli %ks, %c8 : tensor<64x32xi32, #A>
      %pa = tt.addptr %a, %k8 : tensor<64x32x!tt.ptr<f16>, #A>, tensor<64x32xi32, #A>
      %x = tt.load %pa : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A load too narrow for a copy stays a load in its iteration; the other operand is copied.
  // CHECK-LABEL: @narrow(
  // CHECK: ttg.async_copy_global_to_local %b
  // CHECK: scf.for
  // CHECK: tt.load %a
  // CHECK: tt.dot
  tt.func public @narrow(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #N> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #N>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #N> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A loop without products is pipelined if the user asks: the loaded tensor is read back in its layout.
  // CHECK-LABEL: @no_product(
  // CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.for
  // CHECK: %[[X:.*]] = ttg.local_load {{.*}} -> tensor<64x32xf16, #blocked>
  // CHECK: tt.store %c, %[[X]]
  tt.func public @no_product(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %c: tensor<64x32x!tt.ptr<f16>, #A>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      tt.store %c, %x : tensor<64x32x!tt.ptr<f16>, #A>
    } {tt.num_stages = 3 : i32}
    tt.return
  }

  // A store stays in its own iteration, in order.
  // CHECK-LABEL: @store(
  // CHECK-NOT: tt.store
  // CHECK: scf.for
  // CHECK: tt.dot
  // CHECK: tt.store %c
  // CHECK-NOT: tt.store
  tt.func public @store(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %c: tensor<64x32x!tt.ptr<f32>, #MMA>) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      tt.store %c, %d : tensor<64x32x!tt.ptr<f32>, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A loop that prints is left alone.
  // CHECK-LABEL: @print(
  // CHECK-NOT: ttg.async_copy
  // CHECK: tt.print
  tt.func public @print(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // So is one that carries a value over two iterations.
  // CHECK-LABEL: @far(
  // CHECK-NOT: ttg.async_copy
  // CHECK: tt.load %a
  tt.func public @far(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %p = %z, %q = %z) -> (tensor<64x32xf32, #MMA>, tensor<64x32xf32, #MMA>, tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d, %s, %p : tensor<64x32xf32, #MMA>, tensor<64x32xf32, #MMA>, tensor<64x32xf32, #MMA>
    }
    tt.return %r#2 : tensor<64x32xf32, #MMA>
  }

  // Two products: three copies an iteration, one wait for all.
  // CHECK-LABEL: @two_products(
  // CHECK-COUNT-3: ttg.local_alloc
  // CHECK-COUNT-6: ttg.async_copy_global_to_local
  // CHECK: scf.for
  // CHECK: ttg.async_wait {{.*}}num = 3 : i32
  // CHECK-NOT: ttg.async_wait
  // CHECK: tt.dot
  // CHECK: tt.dot
  // CHECK-COUNT-3: ttg.async_copy_global_to_local
  tt.func public @two_products(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b2: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      %y2 = tt.load %b2 : tensor<32x32x!tt.ptr<f16>, #A>
      %yd2 = ttg.convert_layout %y2 : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %e = tt.dot %xd, %yd2, %d : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %e : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // The prologue of an inner loop runs in every iteration of the outer one.
  // CHECK-LABEL: @nested(
  // CHECK: scf.for
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: scf.for
  // CHECK: tt.dot
  // CHECK: ttg.local_dealloc
  // CHECK: scf.yield
  tt.func public @nested(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%t = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %q = scf.for %i = %c0 to %n step %c1 iter_args(%s = %t) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
        scf.yield %d : tensor<64x32xf32, #MMA>
      }
      scf.yield %q : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A branch in the last stage keeps its place behind the product.
  // CHECK-LABEL: @branch(
  // CHECK: scf.for
  // CHECK: tt.dot
  // CHECK: scf.if
  // CHECK: tt.store
  // CHECK: scf.yield
  tt.func public @branch(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %c: tensor<64x32x!tt.ptr<f32>, #MMA>) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      %even = arith.cmpi eq, %i, %lo : i32
      scf.if %even {
        tt.store %c, %d : tensor<64x32x!tt.ptr<f32>, #MMA>
      }
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A branch that has no effects may run although its iteration does not: its condition stays. What it gives is needed by the first copies.
  // CHECK-LABEL: @branch_without_effects(
  // CHECK: %[[EVEN:.*]] = arith.cmpi eq, %lo, %c0
  // CHECK-NOT: arith.andi
  // CHECK: scf.if %[[EVEN]]
  // CHECK: ttg.async_copy_global_to_local
  // CHECK-NOT: arith.andi
  // CHECK: scf.if
  // CHECK: scf.for
  tt.func public @branch_without_effects(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant dense<64> : tensor<64x32xi32, #A>
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %even = arith.cmpi eq, %i, %lo : i32
      %p = scf.if %even -> (tensor<64x32x!tt.ptr<f16>, #A>) {
        %q = tt.addptr %a, %c64 : tensor<64x32x!tt.ptr<f16>, #A>, tensor<64x32xi32, #A>
        scf.yield %q : tensor<64x32x!tt.ptr<f16>, #A>
      } else {
        scf.yield %a : tensor<64x32x!tt.ptr<f16>, #A>
      }
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // Nothing of the schedule is left.
  // CHECK-LABEL: @no_attributes(
  // CHECK-NOT: loop.stage
  // CHECK-NOT: loop.cluster
  // CHECK-NOT: tt.scheduled_max_stage
  // CHECK-NOT: tt.latency
  // CHECK: tt.return
  tt.func public @no_attributes(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

}
