// RUN: ttc opt %s --tritongpu-reorder-instructions | FileCheck %s

// Operations move to where they cost fewer registers.
#A = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#A2 = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
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
  // An allocation moves behind the load that it stores.
  // CHECK-LABEL: @alloc_follows(
  // CHECK: tt.load %a
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: tt.load %b
  tt.func public @alloc_follows(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) {
    %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
    %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
    %s = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem>
    %r = ttg.local_load %s : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem> -> tensor<64x32xf16, #A>
    tt.store %a, %r : tensor<64x32x!tt.ptr<f16>, #A>
    tt.store %b, %y : tensor<32x32x!tt.ptr<f16>, #A>
    tt.return
  }

  // One in a branch that writes stays there.
  // CHECK-LABEL: @alloc_in_branch(
  // CHECK: tt.load %a
  // CHECK: scf.if
  // CHECK-NEXT: ttg.local_alloc
  tt.func public @alloc_in_branch(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) {
    %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
    %t = arith.cmpi slt, %n, %lo : i32
    scf.if %t {
      %s = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem>
      %r = ttg.local_load %s : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem> -> tensor<64x32xf16, #A>
      tt.store %a, %r : tensor<64x32x!tt.ptr<f16>, #A>
    }
    tt.return
  }

  // One behind a store stays behind it: the buffer would be in use for longer.
  // CHECK-LABEL: @alloc_behind_a_store(
  // CHECK: tt.load %a
  // CHECK-NEXT: tt.store %b
  // CHECK-NEXT: ttg.local_alloc
  tt.func public @alloc_behind_a_store(%a: tensor<64x32x!tt.ptr<f16>, #A>, %b: tensor<32x32x!tt.ptr<f16>, #A>, %y: tensor<32x32xf16, #A>) {
    %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
    tt.store %b, %y : tensor<32x32x!tt.ptr<f16>, #A>
    %s = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem>
    %r = ttg.local_load %s : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem> -> tensor<64x32xf16, #A>
    tt.store %a, %r : tensor<64x32x!tt.ptr<f16>, #A>
    tt.return
  }

  // What only synchronises does not hold it back.
  // CHECK-LABEL: @alloc_behind_a_wait(
  // CHECK: tt.load %a
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: ttg.async_wait
  tt.func public @alloc_behind_a_wait(%a: tensor<64x32x!tt.ptr<f16>, #A>) {
    %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
    %w = ttg.async_wait {num = 0 : i32}
    %s = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem>
    %r = ttg.local_load %s : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem> -> tensor<64x32xf16, #A>
    tt.store %a, %r : tensor<64x32x!tt.ptr<f16>, #A>
    tt.return
  }

  // Nor does a branch in which nothing is written.
  // CHECK-LABEL: @alloc_in_quiet_branch(
  // CHECK: tt.load %a
  // CHECK-NEXT: ttg.local_alloc
  // CHECK: scf.if
  tt.func public @alloc_in_quiet_branch(%t: i1, %a: tensor<64x32x!tt.ptr<f16>, #A>, %z: tensor<64x32xf16, #A>) {
    %x = tt.load %a : tensor<64x32x!tt.ptr<f16>, #A>
    %v = math.absf %x : tensor<64x32xf16, #A>
    %w = scf.if %t -> (tensor<64x32xf16, #A>) {
      %s = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem>
      %r = ttg.local_load %s : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem> -> tensor<64x32xf16, #A>
      scf.yield %r : tensor<64x32xf16, #A>
    } else {
      scf.yield %v : tensor<64x32xf16, #A>
    }
    tt.store %a, %w : tensor<64x32x!tt.ptr<f16>, #A>
    tt.return
  }

  // One of a splat stays too: it would only live longer.
  // CHECK-LABEL: @alloc_of_splat(
  // CHECK: tt.splat
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: ttg.local_alloc
  tt.func public @alloc_of_splat(%n: i32, %lo: i32, %a: tensor<64x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %b: tensor<32x32x!tt.ptr<f16>, #A> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}) {
    %h = arith.constant 1.0 : f16
    %x = tt.splat %h : f16 -> tensor<64x32xf16, #A>
    %y = tt.load %b : tensor<32x32x!tt.ptr<f16>, #A>
    %s = ttg.local_alloc %x : (tensor<64x32xf16, #A>) -> !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem>
    %r = ttg.local_load %s : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem> -> tensor<64x32xf16, #A>
    tt.store %a, %r : tensor<64x32x!tt.ptr<f16>, #A>
    tt.store %b, %y : tensor<32x32x!tt.ptr<f16>, #A>
    tt.return
  }

  // Operand B is loaded behind operand A.
  // CHECK-LABEL: @b_behind_a(
  // CHECK: ttg.local_load %p
  // CHECK-NEXT: ttg.local_load %q
  // CHECK-NEXT: tt.dot
  tt.func public @b_behind_a(%p: !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem>, %q: !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem>, %c: tensor<64x32x!tt.ptr<f32>, #MMA>, %g: !tt.ptr<i32>) {
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %y = ttg.local_load %q : !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem> -> tensor<32x32xf16, #DB>
    %x = ttg.local_load %p : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem> -> tensor<64x32xf16, #DA>
    %d = tt.dot %x, %y, %z : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
    tt.store %c, %d : tensor<64x32x!tt.ptr<f32>, #MMA>
    tt.return
  }

  // but not past something that writes.
  // CHECK-LABEL: @b_not_past_store(
  // CHECK: ttg.local_load %q
  // CHECK: tt.store %g
  // CHECK-NEXT: ttg.local_load %p
  tt.func public @b_not_past_store(%p: !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem>, %q: !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem>, %c: tensor<64x32x!tt.ptr<f32>, #MMA>, %g: !tt.ptr<i32>) {
    %z = arith.constant dense<0.0> : tensor<64x32xf32, #MMA>
    %y = ttg.local_load %q : !ttg.memdesc<32x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem> -> tensor<32x32xf16, #DB>
    %one = arith.constant 1 : i32
    tt.store %g, %one : !tt.ptr<i32>
    %x = ttg.local_load %p : !ttg.memdesc<64x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem> -> tensor<64x32xf16, #DA>
    %d = tt.dot %x, %y, %z : tensor<64x32xf16, #DA> * tensor<32x32xf16, #DB> -> tensor<64x32xf32, #MMA>
    tt.store %c, %d : tensor<64x32x!tt.ptr<f32>, #MMA>
    tt.return
  }

  // Bits that are stored go through shared memory as bytes.
  // CHECK-LABEL: @bits_as_bytes(
  // CHECK: %[[X:.*]] = arith.extui %bits : tensor<64x32xi1, #[[A:.*]]> to tensor<64x32xi8, #[[A]]>
  // CHECK-NEXT: %[[C:.*]] = ttg.convert_layout %[[X]] : tensor<64x32xi8, #[[A]]> ->
  // CHECK-NEXT: tt.store %p, %[[C]]
  tt.func public @bits_as_bytes(%p: tensor<64x32x!tt.ptr<i8>, #A>, %bits: tensor<64x32xi1, #N>) {
    %c = ttg.convert_layout %bits : tensor<64x32xi1, #N> -> tensor<64x32xi1, #A>
    %x = arith.extui %c : tensor<64x32xi1, #A> to tensor<64x32xi8, #A>
    tt.store %p, %x : tensor<64x32x!tt.ptr<i8>, #A>
    tt.return
  }

  // Wider numbers are made of the bytes behind it. A signed one is 0 or -1, and so is the byte.
  // CHECK-LABEL: @bits_as_wider_numbers(
  // CHECK: %[[X:.*]] = arith.extsi %bits : {{.*}} to tensor<64x32xi8,
  // CHECK-NEXT: %[[C:.*]] = ttg.convert_layout %[[X]] : tensor<64x32xi8,
  // CHECK-NEXT: %[[W:.*]] = arith.sitofp %[[C]] : tensor<64x32xi8, {{.*}} to tensor<64x32xf32,
  // CHECK-NEXT: tt.store %p, %[[W]]
  tt.func public @bits_as_wider_numbers(%p: tensor<64x32x!tt.ptr<f32>, #A>, %bits: tensor<64x32xi1, #N>) {
    %c = ttg.convert_layout %bits : tensor<64x32xi1, #N> -> tensor<64x32xi1, #A>
    %x = arith.sitofp %c : tensor<64x32xi1, #A> to tensor<64x32xf32, #A>
    tt.store %p, %x : tensor<64x32x!tt.ptr<f32>, #A>
    tt.return
  }

  // Bits that something else reads too stay bits.
  // CHECK-LABEL: @bits_with_two_readers(
  // CHECK: ttg.convert_layout %bits : tensor<64x32xi1,
  // CHECK-NEXT: arith.extui
  tt.func public @bits_with_two_readers(%p: tensor<64x32x!tt.ptr<i8>, #A>, %bits: tensor<64x32xi1, #N>) {
    %c = ttg.convert_layout %bits : tensor<64x32xi1, #N> -> tensor<64x32xi1, #A>
    %x = arith.extui %c : tensor<64x32xi1, #A> to tensor<64x32xi8, #A>
    tt.store %p, %x, %c : tensor<64x32x!tt.ptr<i8>, #A>
    tt.return
  }

  // So do those that only move between the lanes of a warp, or that are too few to fill a word.
  // CHECK-LABEL: @few_bits(
  // CHECK: ttg.convert_layout %bits : tensor<64xi1,
  // CHECK-NEXT: arith.extui
  // CHECK: ttg.convert_layout %same : tensor<64x32xi1,
  // CHECK-NEXT: arith.extui
  tt.func public @few_bits(%p: tensor<64x!tt.ptr<i8>, #R>, %q: tensor<64x32x!tt.ptr<i8>, #A>, %bits: tensor<64xi1, #L>, %same: tensor<64x32xi1, #A2>) {
    %c = ttg.convert_layout %bits : tensor<64xi1, #L> -> tensor<64xi1, #R>
    %x = arith.extui %c : tensor<64xi1, #R> to tensor<64xi8, #R>
    tt.store %p, %x : tensor<64x!tt.ptr<i8>, #R>
    %d = ttg.convert_layout %same : tensor<64x32xi1, #A2> -> tensor<64x32xi1, #A>
    %y = arith.extui %d : tensor<64x32xi1, #A> to tensor<64x32xi8, #A>
    tt.store %q, %y : tensor<64x32x!tt.ptr<i8>, #A>
    tt.return
  }
}
