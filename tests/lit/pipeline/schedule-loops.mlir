// RUN: ttc opt %s --tritongpu-schedule-loops | FileCheck %s

// A stage (which iteration ahead) and a cluster (where in the new body) for every operation.
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
  // The loads come first in time and last in the text of an iteration: they belong to the iteration after next.
  // CHECK-LABEL: @product(
  // CHECK: scf.for
  // CHECK: tt.load{{.*}}loop.cluster = 2 : i32, loop.stage = 0 : i32
  // CHECK: tt.load{{.*}}loop.cluster = 2 : i32, loop.stage = 0 : i32
  // CHECK: ttg.convert_layout{{.*}}loop.cluster = 0 : i32, loop.stage = 2 : i32
  // CHECK: ttg.convert_layout{{.*}}loop.cluster = 0 : i32, loop.stage = 2 : i32
  // CHECK: tt.dot{{.*}}loop.cluster = 0 : i32, loop.stage = 2 : i32
  // CHECK: tt.scheduled_max_stage = 2 : i32
  tt.func public @product(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // Without latencies there is no schedule.
  // CHECK-LABEL: @no_latency(
  // CHECK-NOT: loop.stage
  tt.func public @no_latency(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
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

  // A latency of 1 is one stage.
  // CHECK-LABEL: @latency_one(
  // CHECK: tt.load{{.*}}loop.cluster = 1 : i32, loop.stage = 0 : i32
  // CHECK: tt.load{{.*}}loop.cluster = 1 : i32, loop.stage = 0 : i32
  // CHECK: tt.dot{{.*}}loop.cluster = 0 : i32, loop.stage = 1 : i32
  // CHECK: tt.scheduled_max_stage = 1 : i32
  tt.func public @latency_one(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a {tt.latency = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 1 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // Of two latencies the greater counts; the other load starts later.
  // CHECK-LABEL: @unequal(
  // CHECK: tt.load %a{{.*}}loop.cluster = 3 : i32, loop.stage = 0 : i32
  // CHECK: tt.load %b{{.*}}loop.cluster = 1 : i32, loop.stage = 2 : i32
  // CHECK: tt.dot{{.*}}loop.cluster = 0 : i32, loop.stage = 3 : i32
  tt.func public @unequal(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a {tt.latency = 3 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 1 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A pointer that the next load needs is advanced early: in the stage after the load, in front of the first cluster.
  // CHECK-LABEL: @advance(
  // CHECK: tt.load{{.*}}loop.cluster = {{[0-9]}} : i32, loop.stage = 0 : i32
  // CHECK: tt.dot{{.*}}loop.cluster = {{[0-9]}} : i32, loop.stage = 2 : i32
  // CHECK: tt.addptr{{.*}}loop.stage = 1 : i32
  tt.func public @advance(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %p = %a) -> (tensor<64x32xf32, #MMA>, tensor<64x32x!tt.ptr<f16>, #A>) : i32 {
      %x = tt.load %p {tt.latency = 2 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      %bump = arith.constant dense<32> : tensor<64x32xi32, #A>
      %an = tt.addptr %p, %bump : tensor<64x32x!tt.ptr<f16>, #A>, tensor<64x32xi32, #A>
      scf.yield %d, %an : tensor<64x32xf32, #MMA>, tensor<64x32x!tt.ptr<f16>, #A>
    }
    tt.return %r#0 : tensor<64x32xf32, #MMA>
  }

  // The load of an index, the load that it addresses, and the product: three stages. What is between goes with the second.
  // CHECK-LABEL: @indirect(
  // CHECK: tt.load %idx{{.*}}loop.cluster = 2 : i32, loop.stage = 0 : i32
  // CHECK: tt.splat{{.*}}loop.cluster = 1 : i32, loop.stage = 1 : i32
  // CHECK: tt.addptr{{.*}}loop.cluster = 1 : i32, loop.stage = 1 : i32
  // CHECK: tt.load{{.*}}loop.stage = 1 : i32
  // CHECK: tt.load{{.*}}loop.stage = 1 : i32
  // CHECK: tt.dot{{.*}}loop.cluster = 0 : i32, loop.stage = 2 : i32
  tt.func public @indirect(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %idx: !tt.ptr<i32>) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %k = tt.load %idx {tt.latency = 1 : i32} : !tt.ptr<i32>
      %ks = tt.splat %k : i32 -> tensor<64x32xi32, #A>
      %pa = tt.addptr %a, %ks : tensor<64x32x!tt.ptr<f16>, #A>, tensor<64x32xi32, #A>
      %x = tt.load %pa {tt.latency = 1 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 1 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // What no load needs runs in the last stage.
  // CHECK-LABEL: @other_work(
  // CHECK: tt.load{{.*}}loop.cluster = 2 : i32, loop.stage = 0 : i32
  // CHECK: tt.store{{.*}}loop.stage = 2 : i32
  tt.func public @other_work(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %c: tensor<64x32x!tt.ptr<f32>, #MMA>) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      tt.store %c, %d : tensor<64x32x!tt.ptr<f32>, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A branch that nothing scheduled needs goes to the end.
  // CHECK-LABEL: @branch_behind(
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: tt.store
  // CHECK: loop.cluster = 4 : i32, loop.stage = 2 : i32
  tt.func public @branch_behind(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %c: tensor<64x32x!tt.ptr<f32>, #MMA>) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      %last = arith.cmpi eq, %i, %n : i32
      scf.if %last {
        tt.store %c, %z : tensor<64x32x!tt.ptr<f32>, #MMA>
      }
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A branch that a load needs goes to the start.
  // CHECK-LABEL: @branch_before(
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: loop.cluster = 0 : i32, loop.stage = 0 : i32
  // CHECK: tt.load{{.*}}loop.cluster = 3 : i32, loop.stage = 0 : i32
  tt.func public @branch_before(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %even = arith.cmpi eq, %i, %lo : i32
      %pa = scf.if %even -> (tensor<64x32x!tt.ptr<f16>, #A>) {
        scf.yield %a : tensor<64x32x!tt.ptr<f16>, #A>
      } else {
        %off = arith.constant dense<8> : tensor<64x32xi32, #A>
        %q = tt.addptr %a, %off : tensor<64x32x!tt.ptr<f16>, #A>, tensor<64x32xi32, #A>
        scf.yield %q : tensor<64x32x!tt.ptr<f16>, #A>
      }
      %x = tt.load %pa {tt.latency = 2 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A barrier must not change its place: the loop is refused.
  // CHECK-LABEL: @barrier(
  // CHECK-NOT: loop.stage
  tt.func public @barrier(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      ttg.barrier all
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // An assertion must not change its place: the loop is refused.
  // CHECK-LABEL: @assertion(
  // CHECK-NOT: loop.stage
  tt.func public @assertion(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %ok = arith.cmpi slt, %i, %n : i32
      tt.assert %ok, "bound" : i1
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A print must not change its place: the loop is refused.
  // CHECK-LABEL: @print(
  // CHECK-NOT: loop.stage
  tt.func public @print(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      tt.print "i" {hex = false, isSigned = array<i32: 1>} : %i : i32
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // A loop around another is refused.
  // CHECK-LABEL: @outer(
  // CHECK: scf.for
  // CHECK-NOT: loop.stage
  // CHECK: scf.for
  // CHECK: tt.load{{.*}}loop.cluster = 2 : i32, loop.stage = 0 : i32
  // CHECK: tt.scheduled_max_stage
  // CHECK-NOT: tt.scheduled_max_stage
  tt.func public @outer(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%t = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %q = scf.for %i = %c0 to %n step %c1 iter_args(%s = %t) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
        scf.yield %d : tensor<64x32xf32, #MMA>
      }
      scf.yield %q : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // Two products in one iteration share the last stage.
  // CHECK-LABEL: @two_products(
  // CHECK: tt.dot{{.*}}loop.cluster = 0 : i32, loop.stage = 2 : i32
  // CHECK: tt.dot{{.*}}loop.cluster = 0 : i32, loop.stage = 2 : i32
  tt.func public @two_products(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b2: tensor<32x32x!tt.ptr<f16>, #A>) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a {tt.latency = 2 : i32} : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %xd = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      %y2 = tt.load %b2 {tt.latency = 2 : i32} : tensor<32x32x!tt.ptr<f16>, #A>
      %yd2 = ttg.convert_layout %y2 : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %e = tt.dot %xd, %yd2, %d : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %e : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

}
