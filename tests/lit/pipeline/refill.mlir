// Copies into rotating buffers wait for the slot that they fill: an mbarrier tells when all warps have left it.
// RUN: ttc opt %s --tritongpu-assign-latencies=num-stages=3 --tritongpu-schedule-loops --tritongpu-pipeline=num-stages=3 --sccp --canonicalize --ttc-refill-slots | FileCheck %s
// RUN: ttc opt %s --tritongpu-assign-latencies=num-stages=3 --tritongpu-schedule-loops --tritongpu-pipeline=num-stages=3 --sccp --canonicalize --ttc-refill-slots --allocate-shared-memory-nv --triton-nvidia-gpu-proxy-fence-insertion --tritongpu-insert-barriers --ttc-check-shared-memory | FileCheck %s --check-prefix=BARRIERS

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The product is waited for an iteration later, and so is the slot left: that of the iteration before, if there is one.
  // CHECK-LABEL: @product(
  // CHECK: %[[FULL:[a-z0-9_]+]] = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64,
  // CHECK: %[[EMPTY:[a-z0-9_]+]] = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64,
  // CHECK-COUNT-3: ttng.init_barrier %{{.*}}, 4 :
  // CHECK-COUNT-3: ttng.init_barrier %{{.*}}, 1 :
  // The first fill of each slot waits for nothing.
  // CHECK-NOT: ttng.wait_barrier
  // CHECK-COUNT-2: ttng.barrier_expect {{.*}} {ttc.first_warp},
  // CHECK: %[[ONE:[a-z0-9_]+]] = arith.constant 1 : i32
  // CHECK-NEXT: scf.for {{.*}}iter_args({{.*}}, %[[PHASE:[a-z0-9_]+]] = %[[ONE]])
  // CHECK: ttng.wait_barrier %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} :
  // CHECK: ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK-NEXT: ttng.warp_group_dot_wait {{.*}}{pendings = 1 : i32}
  // CHECK: %[[SOME:[a-z0-9_]+]] = arith.cmpi sge, %[[BEFORE:[a-z0-9_]+]], %{{.*}}
  // CHECK-NEXT: %[[LEFT:[a-z0-9_]+]] = ttg.memdesc_index %[[EMPTY]][%[[BEFORE]]]
  // CHECK-NEXT: ttng.arrive_barrier %[[LEFT]], 1, %[[SOME]] {ttc.each_warp}
  // The bit flips where the first slot is filled again.
  // CHECK: %[[FIRST:[a-z0-9_]+]] = arith.cmpi eq, %[[INSERT:[a-z0-9_]+]],
  // CHECK-NEXT: %[[OTHER:[a-z0-9_]+]] = arith.xori %[[PHASE]],
  // CHECK-NEXT: %[[NOW:[a-z0-9_]+]] = arith.select %[[FIRST]], %[[OTHER]], %[[PHASE]]
  // CHECK: %[[FREE:[a-z0-9_]+]] = ttg.memdesc_index %[[EMPTY]][%[[INSERT]]]
  // CHECK-NEXT: ttng.wait_barrier %[[FREE]], %[[NOW]], %[[AHEAD:[a-z0-9_]+]] {ttc.first_warp}
  // CHECK-NEXT: ttng.barrier_expect %{{[a-z0-9_]+}}, 16384 {ttc.first_warp}, %[[AHEAD]]
  // CHECK-COUNT-2: ttng.async_tma_copy_global_to_local {{.*}}%[[AHEAD]] {ttc.first_warp}
  // CHECK: scf.yield {{.*}}%[[NOW]] :
  // CHECK-COUNT-6: ttng.inval_barrier
  // CHECK-NEXT: ttg.local_dealloc %[[EMPTY]]
  // One barrier shows the mbarriers to all warps, one ends their use, and none stands in the loop.
  // BARRIERS-LABEL: @product(
  // BARRIERS: ttng.init_barrier
  // BARRIERS: ttg.barrier local
  // BARRIERS-NEXT: ttng.barrier_expect
  // BARRIERS-NOT: ttg.barrier local
  // BARRIERS: scf.yield
  // BARRIERS-NEXT: }
  // BARRIERS-NEXT: ttng.warp_group_dot_wait
  // BARRIERS: ttg.barrier local
  // BARRIERS-NEXT: ttng.inval_barrier
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
  // What is in registers has left its slot at once; in every iteration. Two loads with a use between them have
  // mbarriers of their own.
  // CHECK-LABEL: @registers(
  // CHECK: scf.for
  // CHECK: ttg.local_load
  // CHECK-NEXT: %[[X:[a-z0-9_]+]] = ttg.memdesc_index %[[EMPTYX:[a-z0-9_]+]][%[[EXTRACT:[a-z0-9_]+]]]
  // CHECK-NEXT: ttng.arrive_barrier %[[X]], 1 {ttc.each_warp}
  // CHECK: ttg.local_load
  // CHECK-NEXT: %[[Y:[a-z0-9_]+]] = ttg.memdesc_index %{{.*}}[%[[EXTRACT]]]
  // CHECK-NEXT: ttng.arrive_barrier %[[Y]], 1 {ttc.each_warp}
  // CHECK-COUNT-2: ttng.wait_barrier %{{.*}} {ttc.first_warp}
  // CHECK: scf.yield
  // BARRIERS-LABEL: @registers(
  // BARRIERS: scf.for
  // BARRIERS-NOT: ttg.barrier local
  // BARRIERS: scf.yield
  tt.func public @registers(%a: !tt.tensordesc<64x64xf16, #shared>, %b: !tt.tensordesc<64x64xf16, #shared>, %k: i32, %zero: tensor<64x64xf16, #blocked>) -> tensor<64x64xf16, #blocked> {
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
}
