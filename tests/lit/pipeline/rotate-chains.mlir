// In a loop in which one product waits for another, the first product of the next iteration runs beside the last one.
// RUN: ttc opt %s --tritongpu-assign-latencies=num-stages=3 --tritongpu-schedule-loops --tritongpu-pipeline=num-stages=3 --canonicalize --cse --ttc-refill-slots --ttc-rotate-chains | FileCheck %s
// RUN: ttc opt %s --tritongpu-assign-latencies=num-stages=3 --tritongpu-schedule-loops --tritongpu-pipeline=num-stages=3 --canonicalize --cse --ttc-refill-slots --ttc-rotate-chains --allocate-shared-memory-nv --triton-nvidia-gpu-proxy-fence-insertion --tritongpu-insert-barriers --ttc-check-shared-memory | FileCheck %s --check-prefix=BARRIERS
// Where two stages are asked for, and the loop does not say so itself, such a loop gets three if as many blocks fit.
// RUN: ttc opt %s "--tritongpu-assign-latencies=num-stages=2 fit=true" --tritongpu-schedule-loops --tritongpu-pipeline=num-stages=2 --canonicalize --cse --ttc-refill-slots --ttc-rotate-chains | FileCheck %s --check-prefix=TWO

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 64, 16]}>
#wide = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @attention(
  // CHECK: scf.if
  // The first head stands in front of the loop.
  // CHECK: ttng.wait_barrier
  // CHECK: ttng.warp_group_dot
  // CHECK-NEXT: ttng.warp_group_dot_wait {{.*}}pendings = 0
  // CHECK: scf.while
  // The exponentials need no sum: it is waited for behind them.
  // CHECK: math.exp2
  // CHECK: %[[P:[a-z0-9_]+]] = ttg.convert_layout
  // CHECK: %[[SUM:[a-z0-9_]+]] = ttng.warp_group_dot_wait {{.*}}pendings = 0
  // CHECK-COUNT-2: ttng.arrive_barrier {{.*}}ttc.each_warp
  // CHECK-NEXT: arith.mulf %[[SUM]],
  // CHECK: scf.condition
  // Both products run; the second one goes on into the next iteration.
  // CHECK: ttng.wait_barrier
  // CHECK: %[[S:[a-z0-9_]+]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttng.wait_barrier
  // CHECK: %[[O:[a-z0-9_]+]] = ttng.warp_group_dot {{.*}}isAsync = true
  // CHECK: ttng.async_tma_copy_global_to_local {{.*}}ttc.first_warp
  // CHECK: ttng.async_tma_copy_global_to_local {{.*}}ttc.first_warp
  // CHECK: %[[NEXT:[a-z0-9_]+]]:{{.*}} = ttng.warp_group_dot_wait %[[S]], {{.*}}pendings = 1
  // CHECK: scf.yield %[[O]], {{.*}}%[[NEXT]]#0
  // Nothing is copied behind the last iteration.
  // CHECK-NOT: ttng.async_tma_copy_global_to_local
  // CHECK: ttng.warp_group_dot
  // CHECK-NEXT: ttng.warp_group_dot_wait {{.*}}pendings = 0
  // CHECK-NEXT: scf.yield
  // TWO-LABEL: @attention(
  // TWO: ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16,
  // TWO: scf.while
  // TWO-LABEL: @two_stages(
  // TWO: ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16,
  // No barrier of the block stands in the loop.
  // BARRIERS-LABEL: @attention(
  // BARRIERS: scf.while
  // BARRIERS-NOT: ttg.barrier local
  // BARRIERS: } else {
  tt.func public @attention(%q: tensor<128x64xf16, #blocked>, %dk: !tt.tensordesc<64x64xf16, #shared>, %dv: !tt.tensordesc<64x64xf16, #shared>, %n: i32) -> (tensor<128x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %nothing = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #mma>
    %zero = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #mma>
    %half = arith.constant dense<5.000000e-01> : tensor<128x64xf32, #mma>
    %qs = ttg.local_alloc %q : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %r = scf.for %i = %c0 to %n step %step iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %k = tt.descriptor_load %dk[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %ks = ttg.local_alloc %k : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %kt = ttg.memdesc_trans %ks {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x64xf16, #turned, #smem>
      %s = ttng.warp_group_dot %qs, %kt, %nothing : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #turned, #smem> -> tensor<128x64xf32, #mma>
      %e = math.exp2 %s : tensor<128x64xf32, #mma>
      %scaled = arith.mulf %acc, %half : tensor<128x64xf32, #mma>
      %h = arith.truncf %e : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %p = ttg.convert_layout %h : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %v = tt.descriptor_load %dv[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %vs = ttg.local_alloc %v : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %o = ttng.warp_group_dot %p, %vs, %scaled : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      scf.yield %o : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
  // With two slots the next keys are copied behind the last product, and would be waited for in front of it.
  // CHECK-LABEL: @two_stages(
  // CHECK-NOT: scf.while
  // CHECK: scf.for
  tt.func public @two_stages(%q: tensor<128x64xf16, #blocked>, %dk: !tt.tensordesc<64x64xf16, #shared>, %dv: !tt.tensordesc<64x64xf16, #shared>, %n: i32) -> (tensor<128x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %nothing = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #mma>
    %zero = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #mma>
    %half = arith.constant dense<5.000000e-01> : tensor<128x64xf32, #mma>
    %qs = ttg.local_alloc %q : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %r = scf.for %i = %c0 to %n step %step iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %k = tt.descriptor_load %dk[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %ks = ttg.local_alloc %k : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %kt = ttg.memdesc_trans %ks {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x64xf16, #turned, #smem>
      %s = ttng.warp_group_dot %qs, %kt, %nothing : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #turned, #smem> -> tensor<128x64xf32, #mma>
      %e = math.exp2 %s : tensor<128x64xf32, #mma>
      %scaled = arith.mulf %acc, %half : tensor<128x64xf32, #mma>
      %h = arith.truncf %e : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %p = ttg.convert_layout %h : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %v = tt.descriptor_load %dv[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %vs = ttg.local_alloc %v : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %o = ttng.warp_group_dot %p, %vs, %scaled : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      scf.yield %o : tensor<128x64xf32, #mma>
    } {tt.num_stages = 2 : i32}
    tt.return %r : tensor<128x64xf32, #mma>
  }
  // Scores that the loop hands on would have to be kept beside the next ones.
  // CHECK-LABEL: @scores_handed_on(
  // CHECK-NOT: scf.while
  // CHECK: scf.for
  tt.func public @scores_handed_on(%q: tensor<128x64xf16, #blocked>, %dk: !tt.tensordesc<64x64xf16, #shared>, %dv: !tt.tensordesc<64x64xf16, #shared>, %n: i32) -> (tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant 64 : i32
    %nothing = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #mma>
    %zero = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #mma>
    %half = arith.constant dense<5.000000e-01> : tensor<128x64xf32, #mma>
    %qs = ttg.local_alloc %q : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %r:2 = scf.for %i = %c0 to %n step %step iter_args(%acc = %zero, %kept = %nothing) -> (tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>) : i32 {
      %k = tt.descriptor_load %dk[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %ks = ttg.local_alloc %k : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %kt = ttg.memdesc_trans %ks {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x64xf16, #turned, #smem>
      %s = ttng.warp_group_dot %qs, %kt, %nothing : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #turned, #smem> -> tensor<128x64xf32, #mma>
      %e = math.exp2 %s : tensor<128x64xf32, #mma>
      %scaled = arith.mulf %acc, %half : tensor<128x64xf32, #mma>
      %h = arith.truncf %e : tensor<128x64xf32, #mma> to tensor<128x64xf16, #mma>
      %p = ttg.convert_layout %h : tensor<128x64xf16, #mma> -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %v = tt.descriptor_load %dv[%i, %c0] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
      %vs = ttg.local_alloc %v : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %o = ttng.warp_group_dot %p, %vs, %scaled : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      scf.yield %o, %s : tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>
    }
    tt.return %r#0, %r#1 : tensor<128x64xf32, #mma>, tensor<128x64xf32, #mma>
  }
  // Another 32 registers would cost one of two blocks.
  // CHECK-LABEL: @one_block_less(
  // CHECK-NOT: scf.while
  // CHECK: scf.for
  tt.func public @one_block_less(%q: tensor<128x64xf16, #blocked>, %dk: !tt.tensordesc<128x64xf16, #shared>, %dv: !tt.tensordesc<128x64xf16, #shared>, %n: i32) -> (tensor<128x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant 128 : i32
    %nothing = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #wide>
    %zero = arith.constant dense<0.000000e+00> : tensor<128x64xf32, #mma>
    %half = arith.constant dense<5.000000e-01> : tensor<128x64xf32, #mma>
    %qs = ttg.local_alloc %q : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %r = scf.for %i = %c0 to %n step %step iter_args(%acc = %zero) -> (tensor<128x64xf32, #mma>) : i32 {
      %k = tt.descriptor_load %dk[%i, %c0] : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #blocked>
      %ks = ttg.local_alloc %k : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %kt = ttg.memdesc_trans %ks {order = array<i32: 1, 0>} : !ttg.memdesc<128x64xf16, #shared, #smem> -> !ttg.memdesc<64x128xf16, #turned, #smem>
      %s = ttng.warp_group_dot %qs, %kt, %nothing : !ttg.memdesc<128x64xf16, #shared, #smem> * !ttg.memdesc<64x128xf16, #turned, #smem> -> tensor<128x128xf32, #wide>
      %e = math.exp2 %s : tensor<128x128xf32, #wide>
      %scaled = arith.mulf %acc, %half : tensor<128x64xf32, #mma>
      %h = arith.truncf %e : tensor<128x128xf32, #wide> to tensor<128x128xf16, #wide>
      %p = ttg.convert_layout %h : tensor<128x128xf16, #wide> -> tensor<128x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
      %v = tt.descriptor_load %dv[%i, %c0] : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #blocked>
      %vs = ttg.local_alloc %v : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %o = ttng.warp_group_dot %p, %vs, %scaled : tensor<128x128xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<128x64xf16, #shared, #smem> -> tensor<128x64xf32, #mma>
      scf.yield %o : tensor<128x64xf32, #mma>
    }
    tt.return %r : tensor<128x64xf32, #mma>
  }
}
