// RUN: ttc opt %s --tritongpu-optimize-thread-locality --canonicalize | FileCheck %s

// Threads combine what they hold before they talk to each other.
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
  // Each thread keeps the part of what it holds; threads talk behind the loop.
  // CHECK-LABEL: @sum(
  // CHECK: %[[N:.*]] = arith.constant dense<0.000000e+00> : tensor<64x
  // CHECK: %[[L:.*]] = scf.for
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<64x128xf32{{.*}} -> tensor<64x4x32xf32
  // CHECK: axis = 2 : i32
  // CHECK: arith.addf 
  // CHECK: arith.addf 
  // CHECK: scf.yield
  // CHECK: "tt.reduce"(%[[L]]) <{axis = 1 : i32}>
  // CHECK: ttg.convert_layout
  // CHECK: arith.addf %
  tt.func public @sum(%n: i32, %a: tensor<64x128x!tt.ptr<f32>, #A>, %c: tensor<64x!tt.ptr<f32>, #R>, %v: tensor<64x128xf32, #A>) -> tensor<64xf32, #R> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<2.0> : tensor<64xf32, #R>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64xf32, #R>) : i32 {
      %x = tt.load %a : tensor<64x128x!tt.ptr<f32>, #A>
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %o = arith.addf %p, %q : f32
        tt.reduce.return %o : f32
      }) : (tensor<64x128xf32, #A>) -> tensor<64xf32, #R>
      %u = arith.addf %s, %m : tensor<64xf32, #R>
      scf.yield %u : tensor<64xf32, #R>
    }
    tt.return %r : tensor<64xf32, #R>
  }

  // So with arith.mulf; the parts start with its neutral element.
  // CHECK-LABEL: @product(
  // CHECK: %[[N:.*]] = arith.constant dense<1.000000e+00> : tensor<64x
  // CHECK: %[[L:.*]] = scf.for
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<64x128xf32{{.*}} -> tensor<64x4x32xf32
  // CHECK: axis = 2 : i32
  // CHECK: arith.mulf 
  // CHECK: arith.mulf 
  // CHECK: scf.yield
  // CHECK: "tt.reduce"(%[[L]]) <{axis = 1 : i32}>
  // CHECK: ttg.convert_layout
  // CHECK: arith.mulf %
  tt.func public @product(%n: i32, %a: tensor<64x128x!tt.ptr<f32>, #A>, %c: tensor<64x!tt.ptr<f32>, #R>, %v: tensor<64x128xf32, #A>) -> tensor<64xf32, #R> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<2.0> : tensor<64xf32, #R>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64xf32, #R>) : i32 {
      %x = tt.load %a : tensor<64x128x!tt.ptr<f32>, #A>
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %o = arith.mulf %p, %q : f32
        tt.reduce.return %o : f32
      }) : (tensor<64x128xf32, #A>) -> tensor<64xf32, #R>
      %u = arith.mulf %s, %m : tensor<64xf32, #R>
      scf.yield %u : tensor<64xf32, #R>
    }
    tt.return %r : tensor<64xf32, #R>
  }

  // So with arith.maxnumf; the parts start with its neutral element.
  // CHECK-LABEL: @greatest(
  // CHECK: %[[N:.*]] = arith.constant dense<0xFF800000> : tensor<64x
  // CHECK: %[[L:.*]] = scf.for
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<64x128xf32{{.*}} -> tensor<64x4x32xf32
  // CHECK: axis = 2 : i32
  // CHECK: arith.maxnumf 
  // CHECK: arith.maxnumf 
  // CHECK: scf.yield
  // CHECK: "tt.reduce"(%[[L]]) <{axis = 1 : i32}>
  // CHECK: ttg.convert_layout
  // CHECK: arith.maxnumf %
  tt.func public @greatest(%n: i32, %a: tensor<64x128x!tt.ptr<f32>, #A>, %c: tensor<64x!tt.ptr<f32>, #R>, %v: tensor<64x128xf32, #A>) -> tensor<64xf32, #R> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<2.0> : tensor<64xf32, #R>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64xf32, #R>) : i32 {
      %x = tt.load %a : tensor<64x128x!tt.ptr<f32>, #A>
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %o = arith.maxnumf %p, %q : f32
        tt.reduce.return %o : f32
      }) : (tensor<64x128xf32, #A>) -> tensor<64xf32, #R>
      %u = arith.maxnumf %s, %m : tensor<64xf32, #R>
      scf.yield %u : tensor<64xf32, #R>
    }
    tt.return %r : tensor<64xf32, #R>
  }

  // So with arith.minnumf; the parts start with its neutral element.
  // CHECK-LABEL: @least(
  // CHECK: %[[N:.*]] = arith.constant dense<0x7F800000> : tensor<64x
  // CHECK: %[[L:.*]] = scf.for
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<64x128xf32{{.*}} -> tensor<64x4x32xf32
  // CHECK: axis = 2 : i32
  // CHECK: arith.minnumf 
  // CHECK: arith.minnumf 
  // CHECK: scf.yield
  // CHECK: "tt.reduce"(%[[L]]) <{axis = 1 : i32}>
  // CHECK: ttg.convert_layout
  // CHECK: arith.minnumf %
  tt.func public @least(%n: i32, %a: tensor<64x128x!tt.ptr<f32>, #A>, %c: tensor<64x!tt.ptr<f32>, #R>, %v: tensor<64x128xf32, #A>) -> tensor<64xf32, #R> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<2.0> : tensor<64xf32, #R>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64xf32, #R>) : i32 {
      %x = tt.load %a : tensor<64x128x!tt.ptr<f32>, #A>
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %o = arith.minnumf %p, %q : f32
        tt.reduce.return %o : f32
      }) : (tensor<64x128xf32, #A>) -> tensor<64xf32, #R>
      %u = arith.minnumf %s, %m : tensor<64xf32, #R>
      scf.yield %u : tensor<64xf32, #R>
    }
    tt.return %r : tensor<64xf32, #R>
  }

  // What combines the sums has to be what makes them.
  // CHECK-LABEL: @other_update(
  // CHECK-NOT: tt.reshape
  // CHECK: tt.return
  tt.func public @other_update(%n: i32, %a: tensor<64x128x!tt.ptr<f32>, #A>, %c: tensor<64x!tt.ptr<f32>, #R>, %v: tensor<64x128xf32, #A>) -> tensor<64xf32, #R> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64xf32, #R>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64xf32, #R>) : i32 {
      %x = tt.load %a : tensor<64x128x!tt.ptr<f32>, #A>
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %o = arith.addf %p, %q : f32
        tt.reduce.return %o : f32
      }) : (tensor<64x128xf32, #A>) -> tensor<64xf32, #R>
      %u = arith.mulf %s, %m : tensor<64xf32, #R>
      scf.yield %u : tensor<64xf32, #R>
    }
    tt.return %r : tensor<64xf32, #R>
  }

  // A sum that is used in the loop is needed there.
  // CHECK-LABEL: @used(
  // CHECK-NOT: tt.reshape
  // CHECK: tt.return
  tt.func public @used(%n: i32, %a: tensor<64x128x!tt.ptr<f32>, #A>, %c: tensor<64x!tt.ptr<f32>, #R>, %v: tensor<64x128xf32, #A>) -> tensor<64xf32, #R> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64xf32, #R>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64xf32, #R>) : i32 {
      %x = tt.load %a : tensor<64x128x!tt.ptr<f32>, #A>
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %o = arith.addf %p, %q : f32
        tt.reduce.return %o : f32
      }) : (tensor<64x128xf32, #A>) -> tensor<64xf32, #R>
      %u = arith.addf %s, %m : tensor<64xf32, #R>
      tt.store %c, %m : tensor<64x!tt.ptr<f32>, #R>
      scf.yield %u : tensor<64xf32, #R>
    }
    tt.return %r : tensor<64xf32, #R>
  }

  // So is the running total.
  // CHECK-LABEL: @running_used(
  // CHECK-NOT: tt.reshape
  // CHECK: tt.return
  tt.func public @running_used(%n: i32, %a: tensor<64x128x!tt.ptr<f32>, #A>, %c: tensor<64x!tt.ptr<f32>, #R>, %v: tensor<64x128xf32, #A>) -> tensor<64xf32, #R> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64xf32, #R>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64xf32, #R>) : i32 {
      %x = tt.load %a : tensor<64x128x!tt.ptr<f32>, #A>
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %o = arith.addf %p, %q : f32
        tt.reduce.return %o : f32
      }) : (tensor<64x128xf32, #A>) -> tensor<64xf32, #R>
      %u = arith.addf %s, %m : tensor<64xf32, #R>
      tt.store %c, %s : tensor<64x!tt.ptr<f32>, #R>
      scf.yield %u : tensor<64xf32, #R>
    }
    tt.return %r : tensor<64xf32, #R>
  }

  // Only what is loaded in the layout that it has.
  // CHECK-LABEL: @not_loaded(
  // CHECK-NOT: tt.reshape
  // CHECK: tt.return
  tt.func public @not_loaded(%n: i32, %a: tensor<64x128x!tt.ptr<f32>, #A>, %c: tensor<64x!tt.ptr<f32>, #R>, %v: tensor<64x128xf32, #A>) -> tensor<64xf32, #R> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64xf32, #R>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<64xf32, #R>) : i32 {
      %x = arith.mulf %v, %v : tensor<64x128xf32, #A>
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %o = arith.addf %p, %q : f32
        tt.reduce.return %o : f32
      }) : (tensor<64x128xf32, #A>) -> tensor<64xf32, #R>
      %u = arith.addf %s, %m : tensor<64xf32, #R>
      scf.yield %u : tensor<64xf32, #R>
    }
    tt.return %r : tensor<64xf32, #R>
  }

  // The total has to start with a constant.
  // CHECK-LABEL: @start_unknown(
  // CHECK-NOT: tt.reshape
  // CHECK: tt.return
  tt.func public @start_unknown(%n: i32, %a: tensor<64x128x!tt.ptr<f32>, #A>, %c: tensor<64x!tt.ptr<f32>, #R>, %v: tensor<64x128xf32, #A>, %w: tensor<64xf32, #R>) -> tensor<64xf32, #R> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<64xf32, #R>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %w) -> (tensor<64xf32, #R>) : i32 {
      %x = tt.load %a : tensor<64x128x!tt.ptr<f32>, #A>
      %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%p: f32, %q: f32):
        %o = arith.addf %p, %q : f32
        tt.reduce.return %o : f32
      }) : (tensor<64x128xf32, #A>) -> tensor<64xf32, #R>
      %u = arith.addf %s, %m : tensor<64xf32, #R>
      scf.yield %u : tensor<64xf32, #R>
    }
    tt.return %r : tensor<64xf32, #R>
  }

  // A gather gets a layout in which a warp holds whole columns.
  // CHECK-LABEL: @gather(
  // CHECK: ttg.convert_layout %v
  // CHECK: ttg.convert_layout %k
  // CHECK: tt.gather {{.*}}efficient_layout
  // CHECK: ttg.convert_layout
  tt.func public @gather(%v: tensor<64x32xf32, #A>, %k: tensor<64x32xi32, #A>) -> tensor<64x32xf32, #A> {
    %r = tt.gather %v[%k] {axis = 0 : i32} : (tensor<64x32xf32, #A>, tensor<64x32xi32, #A>) -> tensor<64x32xf32, #A>
    tt.return %r : tensor<64x32xf32, #A>
  }

  // One that has a layout of its own keeps it.
  // CHECK-LABEL: @chosen_gather(
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.gather
  tt.func public @chosen_gather(%v: tensor<64x32xf32, #A>, %k: tensor<64x32xi32, #A>) -> tensor<64x32xf32, #A> {
    %r = tt.gather %v[%k] {axis = 0 : i32, efficient_layout} : (tensor<64x32xf32, #A>, tensor<64x32xi32, #A>) -> tensor<64x32xf32, #A>
    tt.return %r : tensor<64x32xf32, #A>
  }

}
