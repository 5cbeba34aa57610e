// Accesses through descriptors become copies by hardware.
// RUN: ttc opt %s --triton-nvidia-tma-lowering | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#f32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @load(
  // CHECK: %[[BUFFER:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, {{.*}} mutable>
  // CHECK: %[[BARRIER:.*]] = ttg.local_alloc : () -> !ttg.memdesc<1xi64
  // CHECK: ttng.init_barrier %[[BARRIER]], 1
  // CHECK: ttng.barrier_expect %[[BARRIER]], 8192, %[[TRUE:.*]] :
  // CHECK: ttng.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %{{.*}}] %[[BUFFER]], %[[BARRIER]], %[[TRUE]]
  // CHECK: ttng.wait_barrier %[[BARRIER]], %{{.*}} :
  // CHECK: ttng.inval_barrier %[[BARRIER]]
  // CHECK: ttg.local_load %[[BUFFER]]
  // CHECK-NOT: ttg.local_alloc
  // CHECK: ttg.memdesc_trans %[[BUFFER]]
  tt.func public @load(%d: !tt.tensordesc<64x64xf16, #shared>, %i: i32) -> tensor<64x64xf16, #blocked> {
    %x = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
    %s = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %t = ttg.memdesc_trans %s {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #smem>
    %y = ttg.local_load %t : !ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #smem> -> tensor<64x64xf16, #blocked>
    %z = arith.addf %x, %y : tensor<64x64xf16, #blocked>
    tt.return %z : tensor<64x64xf16, #blocked>
  }
  // CHECK-LABEL: @store(
  // CHECK: %[[SOURCE:.*]] = ttg.local_alloc %{{.*}} : (tensor<64x64xf16, #blocked>)
  // CHECK-NEXT: ttng.fence_async_shared {bCluster = false}
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global %{{.*}}[%{{.*}}, %{{.*}}] %[[SOURCE]]
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32}
  // CHECK: ttng.async_tma_reduce max, %{{.*}}[%{{.*}}, %{{.*}}]
  // CHECK-NEXT: ttng.async_tma_store_wait {pendings = 0 : i32}
  tt.func public @store(%d: !tt.tensordesc<64x64xf16, #shared>, %i: i32, %x: tensor<64x64xf16, #blocked>) {
    tt.descriptor_store %d[%i, %i], %x : !tt.tensordesc<64x64xf16, #shared>, tensor<64x64xf16, #blocked>
    tt.descriptor_reduce max, %d[%i, %i], %x : !tt.tensordesc<64x64xf16, #shared>, tensor<64x64xf16, #blocked>
    tt.return
  }
  // What was just loaded is stored from where it lies.
  // CHECK-LABEL: @copy(
  // CHECK: %[[BOTH:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16
  // CHECK-NOT: ttg.local_load
  // CHECK: ttng.async_tma_copy_local_to_global %{{.*}}[%{{.*}}, %{{.*}}] %[[BOTH]]
  tt.func public @copy(%d: !tt.tensordesc<64x64xf16, #shared>, %i: i32) {
    %x = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<64x64xf16, #shared> -> tensor<64x64xf16, #blocked>
    tt.descriptor_store %d[%i, %i], %x : !tt.tensordesc<64x64xf16, #shared>, tensor<64x64xf16, #blocked>
    tt.return
  }
  // Hardware counts axes from the fastest on, strides in bytes, and boxes as wide as the swizzle.
  // CHECK-LABEL: @make(
  // CHECK-DAG: %[[BYTES:.*]] = arith.constant 4 : i64
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[ROWS:.*]] = arith.constant 256 : i32
  // CHECK-DAG: %[[COLUMNS:.*]] = arith.constant 32 : i32
  // CHECK: %[[MEMORY:.*]] = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32}
  // CHECK: %[[PITCH:.*]] = arith.muli %s, %[[BYTES]]
  // CHECK: ttng.tensormap_create %[[MEMORY]], %p, [%[[COLUMNS]], %[[ROWS]]], [%n, %m], [%[[PITCH]]], [%[[ONE]], %[[ONE]]] {elem_type = 7 : i32, fill_mode = 1 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32}
  // CHECK: ttng.tensormap_fenceproxy_acquire %[[MEMORY]]
  // CHECK: ttng.reinterpret_tensor_descriptor %[[MEMORY]]
  tt.func public @make(%p: !tt.ptr<f32>, %m: i32, %n: i32, %s: i64, %x: tensor<512x64xf32, #blocked>) {
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] {padding = 2 : i32} : <f32>, <512x64xf32, #f32>
    tt.descriptor_store %d[%m, %n], %x : !tt.tensordesc<512x64xf32, #f32>, tensor<512x64xf32, #blocked>
    tt.return
  }
}
