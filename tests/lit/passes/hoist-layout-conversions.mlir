// RUN: ttc opt %s --tritongpu-remove-layout-conversions | FileCheck %s

// Where conversions go that stay.
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
  // The conversion of an operand moves up to the load, past what each thread can do alone.
  // CHECK-LABEL: @up_to_load(
  // CHECK: %[[X:.*]] = tt.load %a
  // CHECK-NEXT: %[[XD:.*]] = ttg.convert_layout %[[X]] : {{.*}} -> tensor<64x32xf16, #ttg.dot_op
  // CHECK: math.absf %[[XD]] : tensor<64x32xf16, #ttg.dot_op
  // CHECK: tt.dot
  tt.func public @up_to_load(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xe = math.absf %x : tensor<64x32xf16, #A>
      %xd = ttg.convert_layout %xe : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // but not past what moves data.
  // CHECK-LABEL: @not_past_reduction(
  // CHECK: tt.load %a
  // CHECK-NOT: ttg.dot_op
  // CHECK: tt.scan
  // CHECK: ttg.convert_layout {{.*}} -> tensor<64x32xf16, #ttg.dot_op
  // CHECK: tt.dot
  tt.func public @not_past_reduction(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #MMA> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64x32xf32, #MMA>) : i32 {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
      %xe = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
      ^bb0(%p: f16, %q: f16):
        %o = arith.addf %p, %q : f16
        tt.scan.return %o : f16
      }) : (tensor<64x32xf16, #A>) -> tensor<64x32xf16, #A>
      %xd = ttg.convert_layout %xe : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
      %yd = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
      %d = tt.dot %xd, %yd, %s : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
      scf.yield %d : tensor<64x32xf32, #MMA>
    }
    tt.return %r : tensor<64x32xf32, #MMA>
  }

  // One branch computes, the other has a constant: only the first converts.
  // CHECK-LABEL: @into_branch(
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: tt.load
  // CHECK: ttg.convert_layout
  // CHECK: scf.yield
  // CHECK: else
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.store
  tt.func public @into_branch(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %o: tensor<64x32x!tt.ptr<f16>, #N>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf16, #A>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %rare = arith.cmpi eq, %i, %lo : i32
      %v = scf.if %rare -> (tensor<64x32xf16, #A>) {
        %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
        scf.yield %x : tensor<64x32xf16, #A>
      } else {
        scf.yield %zero : tensor<64x32xf16, #A>
      }
      %t = ttg.convert_layout %v : tensor<64x32xf16, #A> -> tensor<64x32xf16, #N>
      tt.store %o, %t : tensor<64x32x!tt.ptr<f16>, #N>
    }
    tt.return
  }

  // Outside of loops it stays: the branch may always be taken.
  // CHECK-LABEL: @not_outside_loop(
  // CHECK: scf.if
  // CHECK: tt.load
  // CHECK-NOT: ttg.convert_layout
  // CHECK: else
  // CHECK: ttg.convert_layout
  // CHECK: tt.store
  tt.func public @not_outside_loop(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %o: tensor<64x32x!tt.ptr<f16>, #N>) {
    %zero = arith.constant dense<0.0> : tensor<64x32xf16, #A>
    %rare = arith.cmpi eq, %n, %lo : i32
    %v = scf.if %rare -> (tensor<64x32xf16, #A>) {
      %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
      scf.yield %x : tensor<64x32xf16, #A>
    } else {
      scf.yield %zero : tensor<64x32xf16, #A>
    }
    %t = ttg.convert_layout %v : tensor<64x32xf16, #A> -> tensor<64x32xf16, #N>
    tt.store %o, %t : tensor<64x32x!tt.ptr<f16>, #N>
    tt.return
  }

  // A load from shared memory gives any layout.
  // CHECK-LABEL: @of_local_load(
  // CHECK-NOT: ttg.convert_layout
  // CHECK: ttg.local_load %m : {{.*}} -> tensor<64x32xf16, #blocked1>
  tt.func public @of_local_load(%m: !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem, mutable>, %o: tensor<64x32x!tt.ptr<f16>, #N>) {
    %x = ttg.local_load %m : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem, mutable> -> tensor<64x32xf16, #A>
    %t = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #N>
    tt.store %o, %t : tensor<64x32x!tt.ptr<f16>, #N>
    tt.return
  }

  // An operand of two products is converted once.
  // CHECK-LABEL: @operand_of_two(
  // CHECK: %[[X:.*]] = ttg.convert_layout {{.*}} -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0
  // CHECK: tt.dot %[[X]]
  // CHECK-NOT: ttg.convert_layout {{.*}} -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0
  // CHECK: tt.dot %[[X]]
  tt.func public @operand_of_two(%x: tensor<64x32xf16, #A>, %y: tensor<32x32xf16, #A>, %w: tensor<32x32xf16, #A>, %z: tensor<64x32xf32, #MMA>) -> tensor<64x32xf32, #MMA> {
    %x1 = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
    %y1 = ttg.convert_layout %y : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
    %d = tt.dot %x1, %y1, %z : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
    %x2 = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
    %w1 = ttg.convert_layout %w : tensor<32x32xf16, #A> -> tensor<32x32xf16, #DB>
    %e = tt.dot %x2, %w1, %d : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
    tt.return %e : tensor<64x32xf32, #MMA>
  }

  // Not one that no product waits for.
  // CHECK-LABEL: @operand_of_none(
  // CHECK-COUNT-2: ttg.convert_layout {{.*}} -> tensor<64x32xf16, #ttg.dot_op
  tt.func public @operand_of_none(%x: tensor<64x32xf16, #A>) -> (tensor<64x32xf16, #DA>, tensor<64x32xf16, #DA>) {
    %x1 = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
    %x2 = ttg.convert_layout %x : tensor<64x32xf16, #A> -> tensor<64x32xf16, #DA>
    tt.return %x1, %x2 : tensor<64x32xf16, #DA>, tensor<64x32xf16, #DA>
  }
}
