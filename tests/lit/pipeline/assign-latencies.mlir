// RUN: ttc opt %s --tritongpu-assign-latencies=num-stages=3 | FileCheck %s

// Which loads of a loop are started ahead, and by how many stages.
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
  // Loads that feed a product are started as far ahead as there are stages.
  // CHECK-LABEL: @product(
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK-NOT: tt.latency
  tt.func public @product(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
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

  // A loop without a product is left alone.
  // CHECK-LABEL: @no_product(
  // CHECK-NOT: tt.latency
  tt.func public @no_product(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      tt.store %a, %x : tensor<64x32x!tt.ptr<f16>, #A>
    }
    tt.return
  }

  // unless the user asked for stages: then all its loads count.
  // CHECK-LABEL: @asked_for(
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK-NOT: tt.latency
  tt.func public @asked_for(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %out: tensor<64x32x!tt.ptr<f16>, #A>, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      tt.store %out, %x : tensor<64x32x!tt.ptr<f16>, #A>
    } {tt.num_stages = 3 : i32}
    tt.return
  }

  // More stages, longer latencies.
  // CHECK-LABEL: @four_stages(
  // CHECK: tt.load{{.*}}tt.latency = 3 : i32
  // CHECK: tt.load{{.*}}tt.latency = 3 : i32
  // CHECK-NOT: tt.latency
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

  // Two stages: one iteration ahead.
  // CHECK-LABEL: @two_stages(
  // CHECK: tt.load{{.*}}tt.latency = 1 : i32
  // CHECK: tt.load{{.*}}tt.latency = 1 : i32
  // CHECK-NOT: tt.latency
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

  // One stage is no pipeline.
  // CHECK-LABEL: @one_stage(
  // CHECK-NOT: tt.latency
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

  // A latency that the user wrote stays, and is the only one.
  // CHECK-LABEL: @written(
  // CHECK: tt.load{{.*}}tt.latency = 1 : i32
  // CHECK-NOT: tt.latency
  tt.func public @written(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a {tt.latency = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A load whose address is loaded: the two levels share the stages.
  // CHECK-LABEL: @indirect(
  // CHECK: tt.load %idx {tt.latency = 1 : i32}
  // CHECK: tt.load{{.*}}tt.latency = 1 : i32
  // CHECK: tt.load{{.*}}tt.latency = 1 : i32
  // CHECK-NOT: tt.latency
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

  // With five stages each level gets two.
  // CHECK-LABEL: @indirect_five(
  // CHECK: tt.load %idx {tt.latency = 2 : i32}
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK-NOT: tt.latency
  tt.func public @indirect_five(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %idx: !tt.ptr<i32>) -> tensor<64x32xf32, #MMA> {
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
    } {tt.num_stages = 5 : i32}
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // With two stages there is room for the nearer level only.
  // CHECK-LABEL: @indirect_two(
  // CHECK: tt.load %idx : 
  // CHECK: tt.load{{.*}}tt.latency = 1 : i32
  // CHECK: tt.load{{.*}}tt.latency = 1 : i32
  // CHECK-NOT: tt.latency
  tt.func public @indirect_two(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %idx: !tt.ptr<i32>) -> tensor<64x32xf32, #MMA> {
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
    } {tt.num_stages = 2 : i32}
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A scalar of 16 bits is too narrow for an asynchronous copy.
  // CHECK-LABEL: @narrow_scalar(
  // CHECK: tt.load %idx : 
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK-NOT: tt.latency
  tt.func public @narrow_scalar(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %idx: !tt.ptr<i16>) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %c8 = arith.constant dense<8> : tensor<64x32xi32, #A>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %kk = tt.load %idx : !tt.ptr<i16>
      %k = arith.extsi %kk : i16 to i32
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

  // What only the accumulator needs is not started ahead.
  // CHECK-LABEL: @accumulator(
  // CHECK: tt.load %c : tensor<64x32x!tt.ptr<f32>, #mma>
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK-NOT: tt.latency
  tt.func public @accumulator(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %c: tensor<64x32x!tt.ptr<f32>, #MMA>) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %w = tt.load %c : tensor<64x32x!tt.ptr<f32>, #MMA>
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %w : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A value of two iterations ago: not pipelined.
  // CHECK-LABEL: @far(
  // CHECK-NOT: tt.latency
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

  // One f16 a thread is too narrow; the other operand is not affected.
  // CHECK-LABEL: @narrow(
  // CHECK: tt.load %a : 
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK-NOT: tt.latency
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

  // Nothing is known of the addresses: no vectors, no copies.
  // CHECK-LABEL: @unknown_pointer(
  // CHECK: tt.load %u : 
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK-NOT: tt.latency
  tt.func public @unknown_pointer(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %u: tensor<64x32x!tt.ptr<f16>, #A>) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %u : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A mask that changes from element to element breaks the vectors.
  // CHECK-LABEL: @odd_mask(
  // CHECK: tt.load %a, %m : 
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK-NOT: tt.latency
  tt.func public @odd_mask(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %m: tensor<64x32xi1, #A>) -> tensor<64x32xf32, #MMA> {
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

  // One that is the same for eight elements does not.
  // CHECK-LABEL: @even_mask(
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK-NOT: tt.latency
  tt.func public @even_mask(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %m: tensor<64x32xi1, #A> {tt.constancy = dense<[1, 8]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
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

  // Of nested loops the innermost is pipelined.
  // CHECK-LABEL: @nested(
  // CHECK: scf.for
  // CHECK: tt.load %a : 
  // CHECK: scf.for
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK-NOT: tt.latency
  tt.func public @nested(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%t = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %o = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      tt.store %a, %o : tensor<64x32x!tt.ptr<f16>, #A>
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

  // Loads in front of the loop stay what they are.
  // CHECK-LABEL: @before(
  // CHECK: tt.load %a : 
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK-NOT: tt.latency
  tt.func public @before(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // Two products that share an operand.
  // CHECK-LABEL: @two_products(
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK: tt.load{{.*}}tt.latency = 2 : i32
  // CHECK-NOT: tt.latency
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

}
