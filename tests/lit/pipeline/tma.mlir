// Loads through descriptors that run ahead, stores that go on, and descriptors that a loop makes.
// RUN: ttc opt %s --tritongpu-assign-latencies=num-stages=3 --tritongpu-schedule-loops --tritongpu-pipeline=num-stages=3 | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Both loads share a barrier for each slot: 2 stages ahead, and a slot for the product that is still under way.
  // CHECK-LABEL: @product(
  // CHECK-DAG: %[[A:[a-z0-9_]+]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16,
  // CHECK-DAG: %[[B:[a-z0-9_]+]] = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16,
  // CHECK: %[[BARS:[a-z0-9_]+]] = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64,
  // CHECK-COUNT-3: ttng.init_barrier %{{.*}}, 1
  // The prologue starts two iterations, if they exist.
  // CHECK: ttng.barrier_expect %[[FIRST:[a-z0-9_]+]], 16384, %[[EXISTS:[a-z0-9_]+]] :
  // CHECK: ttng.async_tma_copy_global_to_local %a[%{{.*}}] %{{.*}}, %[[FIRST]], %[[EXISTS]]
  // CHECK: ttng.async_tma_copy_global_to_local %b[%{{.*}}] %{{.*}}, %[[FIRST]], %[[EXISTS]]
  // CHECK: ttng.barrier_expect
  // CHECK-COUNT-2: ttng.async_tma_copy_global_to_local
  // CHECK-NOT: ttng.barrier_expect
  // The phase flips when the slot that is read starts over.
  // CHECK: scf.for {{.*}}iter_args(%{{[a-z0-9_]+}} = %{{[a-z0-9_]+}}, %[[INSERT:[a-z0-9_]+]] = %{{[a-z0-9_]+}}, %[[EXTRACT:[a-z0-9_]+]] = %{{[a-z0-9_]+}}, %[[PHASE:[a-z0-9_]+]] = %{{[a-z0-9_]+}}
  // CHECK: %[[NEXT:[a-z0-9_]+]] = arith.addi %[[EXTRACT]],
  // CHECK: %[[OVER:[a-z0-9_]+]] = arith.cmpi sge, %[[NEXT]],
  // CHECK: %[[FLIPPED:[a-z0-9_]+]] = arith.xori %[[PHASE]],
  // CHECK: %[[NOW:[a-z0-9_]+]] = arith.select %[[OVER]], %[[FLIPPED]], %[[PHASE]]
  // CHECK: ttng.wait_barrier %{{.*}}, %[[NOW]] :
  // CHECK: ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttng.warp_group_dot_wait {{.*}} {pendings = 1 : i32}
  // CHECK: ttng.barrier_expect %[[BAR:[a-z0-9_]+]], 16384, %[[AHEAD:[a-z0-9_]+]] :
  // CHECK: ttng.async_tma_copy_global_to_local %a[{{.*}}, %[[BAR]], %[[AHEAD]]
  // CHECK: ttng.async_tma_copy_global_to_local %b[{{.*}}, %[[BAR]], %[[AHEAD]]
  // CHECK: scf.yield
  // CHECK-NOT: ttg.async_wait
  // CHECK-COUNT-3: ttng.inval_barrier
  tt.func public @product(%a: !tt.tensordesc<64x64xf16, #shared>, %b: !tt.tensordesc<64x64xf16, #shared>, %k: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %x = tt.descriptor_load %a[%c0, %i] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %xs = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %y = tt.descriptor_load %b[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %ys = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %d = ttng.warp_group_dot %xs, %ys, %acc : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
  // A use between two loads: each has a barrier of its own.
  // CHECK-LABEL: @between(
  // CHECK-DAG: ttg.local_alloc : () -> !ttg.memdesc<2x1xi64,
  // CHECK-DAG: ttg.local_alloc : () -> !ttg.memdesc<2x1xi64,
  // CHECK: scf.for
  // CHECK: ttng.wait_barrier
  // CHECK: ttg.local_load
  // CHECK: ttng.wait_barrier
  // CHECK: ttg.local_load
  // CHECK-DAG: ttng.barrier_expect %{{.*}}, 8192,
  // CHECK-DAG: ttng.barrier_expect %{{.*}}, 8192,
  // CHECK: scf.yield
  tt.func public @between(%a: !tt.tensordesc<64x64xf16, #shared>, %b: !tt.tensordesc<64x64xf16, #shared>, %k: i32, %zero: tensor<64x64xf16, #blocked>) -> tensor<64x64xf16, #blocked> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf16, #blocked>) : i32 {
      %x = tt.descriptor_load %a[%c0, %i] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %s = arith.addf %acc, %x : tensor<64x64xf16, #blocked>
      %y = tt.descriptor_load %b[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %t = arith.mulf %s, %y : tensor<64x64xf16, #blocked>
      scf.yield %t : tensor<64x64xf16, #blocked>
    } {tt.num_stages = 3 : i32}
    tt.return %r : tensor<64x64xf16, #blocked>
  }
  // One buffer for both stores; a descriptor made in the loop has two slots.
  // CHECK-LABEL: @stores(
  // CHECK: %[[BUFFER:[a-z0-9_]+]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, {{.*}} mutable>
  // CHECK-NOT: ttg.local_alloc
  // CHECK: %[[SCRATCH:[a-z0-9_]+]] = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 256 : i32}
  // CHECK: scf.for {{.*}}iter_args(%[[SLOT:[a-z0-9_]+]] = %{{[a-z0-9_]+}}) -> (i32)
  // CHECK: %[[OFFSET:[a-z0-9_]+]] = arith.muli %{{.*}}, %[[SLOT]]
  // CHECK: %[[AT:[a-z0-9_]+]] = tt.addptr %[[SCRATCH]], %[[OFFSET]]
  // CHECK: ttng.tensormap_create %[[AT]],
  // CHECK: ttng.tensormap_fenceproxy_acquire %[[AT]]
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_store %{{.*}}, %[[BUFFER]]
  // CHECK-NEXT: ttng.fence_async_shared {bCluster = false}
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
  // CHECK-NEXT: ttg.local_store %{{.*}}, %[[BUFFER]]
  // CHECK: ttng.async_tma_reduce add
  // CHECK: }
  // CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK-NEXT: ttg.local_dealloc %[[BUFFER]]
  // CHECK-NOT: ttg.local_dealloc
  tt.func public @stores(%p: !tt.ptr<f16>, %b: !tt.tensordesc<64x64xf16, #shared>, %n: i32, %s: i64, %x: tensor<64x64xf16, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    scf.for %i = %c0 to %n step %c1 : i32 {
      %d = tt.make_tensor_descriptor %p, [%i, %n], [%s, %one] : <f16>, <64x64xf16, #shared>
      tt.descriptor_store %d[%i, %i], %x : !tt.tensordesc<64x64xf16, #shared>, tensor<64x64xf16, #blocked>
      tt.descriptor_reduce add, %b[%i, %i], %x : !tt.tensordesc<64x64xf16, #shared>, tensor<64x64xf16, #blocked>
    }
    tt.return
  }
  // A descriptor of loads that run ahead has a slot for each stage ahead, and one for the product that lags. For iterations that do not exist it
  // is not made.
  // CHECK-LABEL: @made(
  // CHECK: ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 384 : i32}
  // CHECK: scf.if
  // CHECK-NEXT: ttng.tensormap_create
  // CHECK-NEXT: ttng.tensormap_fenceproxy_acquire
  // CHECK-NEXT: }
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK-NEXT: ttng.tensormap_create
  // CHECK: scf.yield
  tt.func public @made(%p: !tt.ptr<f16>, %k: i32, %s: i64) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %one = arith.constant 1 : i64
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = tt.make_tensor_descriptor %p, [%i, %k], [%s, %one] : <f16>, <64x64xf16, #shared>
      %x = tt.descriptor_load %d[%c0, %i] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %xs = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %m = ttng.warp_group_dot %xs, %xs, %acc : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %m : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
  // In a branch the counter counts on only where the descriptor is made.
  // CHECK-LABEL: @branch(
  // CHECK: scf.for {{.*}}iter_args(%[[BEFORE:[a-z0-9_]+]] = %{{[a-z0-9_]+}}) -> (i32)
  // CHECK: %[[BOTH:[a-z0-9_]+]] = scf.if %{{.*}} -> (i32) {
  // CHECK: ttng.tensormap_create
  // CHECK: %[[AFTER:[a-z0-9_]+]] = arith.select
  // CHECK: scf.yield %[[AFTER]] : i32
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[BEFORE]] : i32
  // CHECK: scf.yield %[[BOTH]] : i32
  tt.func public @branch(%p: !tt.ptr<f16>, %n: i32, %s: i64, %c: i1, %x: tensor<64x64xf16, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.if %c {
        %d = tt.make_tensor_descriptor %p, [%i, %n], [%s, %one] : <f16>, <64x64xf16, #shared>
        tt.descriptor_store %d[%i, %i], %x : !tt.tensordesc<64x64xf16, #shared>, tensor<64x64xf16, #blocked>
      }
    }
    tt.return
  }
  // Memory that atomics order is left alone.
  // CHECK-LABEL: @ordered(
  // CHECK: tt.descriptor_store
  tt.func public @ordered(%d: !tt.tensordesc<64x64xf16, #shared>, %p: !tt.ptr<i32>, %n: i32, %x: tensor<64x64xf16, #blocked>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    scf.for %i = %c0 to %n step %c1 : i32 {
      tt.descriptor_store %d[%i, %i], %x : !tt.tensordesc<64x64xf16, #shared>, tensor<64x64xf16, #blocked>
      %old = tt.atomic_rmw add, release, gpu, %p, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    }
    tt.return
  }
}
