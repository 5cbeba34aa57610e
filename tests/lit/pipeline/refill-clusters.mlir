// In a cluster, a copy that blocks want alike goes to all of them, and a slot is empty when the warps of all have left it.
// RUN: ttc opt %s --tritongpu-assign-latencies=num-stages=3 --tritongpu-schedule-loops --tritongpu-pipeline=num-stages=3 --sccp --canonicalize --ttc-refill-slots=multicast=true --allocate-shared-memory-nv --triton-nvidia-gpu-proxy-fence-insertion --tritongpu-insert-barriers --ttc-check-shared-memory | FileCheck %s
// RUN: ttc opt %s --tritongpu-assign-latencies=num-stages=3 --tritongpu-schedule-loops --tritongpu-pipeline=num-stages=3 --sccp --canonicalize --ttc-refill-slots --allocate-shared-memory-nv --triton-nvidia-gpu-proxy-fence-insertion --tritongpu-insert-barriers --ttc-check-shared-memory | FileCheck %s --check-prefix=ALONE

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#same = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 0]]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = [[1, 0]], instrShape = [16, 64, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#both = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Each block has its rows of the first operand. The second one is the same in both: 4 warps of 2 blocks have to leave a
  // slot. No barrier stands in the loop. The blocks meet before the first use of the mbarriers and before these end.
  // CHECK-LABEL: @product(
  // CHECK-COUNT-3: ttng.init_barrier %{{.*}}, 8 :
  // CHECK-COUNT-3: ttng.init_barrier %{{.*}}, 1 :
  // CHECK: ttng.fence_mbarrier_init_release_cluster
  // CHECK-NEXT: ttng.cluster_barrier {relaxed = true}
  // CHECK-NEXT: ttng.barrier_expect {{.*}}, 16384 {ttc.first_warp}
  // CHECK: ttng.async_tma_copy_global_to_local %{{.*}} {ttc.first_warp} : !tt.tensordesc<128x64xf16
  // CHECK: ttng.async_tma_copy_global_to_local %{{.*}} {multicast, ttc.first_warp} : !tt.tensordesc<64x64xf16
  // CHECK: scf.for
  // CHECK-NOT: cluster_barrier
  // CHECK-NOT: ttg.barrier
  // CHECK: ttng.arrive_barrier %{{.*}} {multicastCTA = 1 : i32, ttc.each_warp}
  // CHECK-NOT: cluster_barrier
  // CHECK-NOT: ttg.barrier
  // CHECK: ttng.async_tma_copy_global_to_local %{{.*}} {multicast, ttc.first_warp} : !tt.tensordesc<64x64xf16
  // CHECK-NOT: cluster_barrier
  // CHECK: scf.yield
  // CHECK: ttng.cluster_barrier
  // CHECK-NEXT: ttng.inval_barrier
  // CHECK-NOT: cluster_barrier
  // CHECK: tt.return
  // Without multicast each block fills its own slots, and the blocks do not meet.
  // ALONE-LABEL: @product(
  // ALONE-COUNT-3: ttng.init_barrier %{{.*}}, 4 :
  // ALONE-NOT: cluster
  // ALONE: ttng.arrive_barrier %{{.*}} {ttc.each_warp}
  // ALONE-NOT: cluster
  // ALONE: tt.return
  tt.func public @product(%a: !tt.tensordesc<128x64xf16, #rows>, %b: !tt.tensordesc<64x64xf16, #both>, %k: i32) -> tensor<128x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #mma>
    %r = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %x = tt.descriptor_load %a[%c0, %i] : !tt.tensordesc<128x64xf16, #rows> -> tensor<128x64xf16, #blocked>
      %xs = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #rows, #smem>
      %y = tt.descriptor_load %b[%i, %c0] : !tt.tensordesc<64x64xf16, #both> -> tensor<64x64xf16, #same>
      %ys = ttg.local_alloc %y : (tensor<64x64xf16, #same>) -> !ttg.memdesc<64x64xf16, #both, #smem>
      %d = ttng.warp_group_dot %xs, %ys, %acc : !ttg.memdesc<128x64xf16, #rows, #smem> * !ttg.memdesc<64x64xf16, #both, #smem> -> tensor<128x64xf32, #mma>
      scf.yield %d : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
}
