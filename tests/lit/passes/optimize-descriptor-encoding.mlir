// The layouts of descriptors: what reads a loaded block decides, and whatever holds the same descriptor agrees.
// RUN: ttc opt %s --triton-nvidia-optimize-descriptor-encoding | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#narrow = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
// CHECK-DAG: #[[WIDE:shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[NARROW:shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[THIN:shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[PLAIN:shared[0-9]*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32, rank = 1}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Without a wish the widest swizzle that a row fills; a line has none.
  // CHECK-LABEL: @widest(
  // CHECK-SAME: !tt.tensordesc<64x64xf16, #[[WIDE]]>
  // CHECK-SAME: !tt.tensordesc<64x16xf16, #[[THIN]]>
  // CHECK-SAME: !tt.tensordesc<512xf32, #[[PLAIN]]>
  tt.func public @widest(%a: !tt.tensordesc<64x64xf16>, %b: !tt.tensordesc<64x16xf16>, %c: !tt.tensordesc<512xf32>, %i: i32) {
    %x = tt.descriptor_load %a[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16, #blocked>
    tt.descriptor_store %a[%i, %i], %x : !tt.tensordesc<64x64xf16>, tensor<64x64xf16, #blocked>
    %y = tt.descriptor_load %b[%i, %i] : !tt.tensordesc<64x16xf16> -> tensor<64x16xf16, #blocked>
    tt.descriptor_store %b[%i, %i], %y : !tt.tensordesc<64x16xf16>, tensor<64x16xf16, #blocked>
    %z = tt.descriptor_load %c[%i] : !tt.tensordesc<512xf32> -> tensor<512xf32, #line>
    tt.descriptor_store %c[%i], %z : !tt.tensordesc<512xf32>, tensor<512xf32, #line>
    tt.return
  }
  // The buffer that the block is stored to decides, unless TMA cannot fill it.
  // CHECK-LABEL: @stored(
  // CHECK-SAME: !tt.tensordesc<64x64xf16, #[[NARROW]]>
  // CHECK-SAME: !tt.tensordesc<64x64xf16, #[[WIDE]]>
  tt.func public @stored(%a: !tt.tensordesc<64x64xf16>, %b: !tt.tensordesc<64x64xf16>, %i: i32) {
    %x = tt.descriptor_load %a[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16, #blocked>
    %s = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #narrow, #smem>
    %y = tt.descriptor_load %b[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16, #blocked>
    %t = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #turned, #smem>
    tt.return
  }
  // A loop hands the descriptor on: the load in it decides for the one that was made outside.
  // CHECK-LABEL: @around(
  // CHECK: tt.make_tensor_descriptor {{.*}} <64x64xf16, #[[NARROW]]>
  // CHECK: scf.for {{.*}} -> (!tt.tensordesc<64x64xf16, #[[NARROW]]>)
  tt.func public @around(%p: !tt.ptr<f16>, %n: i32, %s: i64) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %one] : <f16>, <64x64xf16>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%e = %d) -> (!tt.tensordesc<64x64xf16>) : i32 {
      %x = tt.descriptor_load %e[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16, #blocked>
      %t = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #narrow, #smem>
      scf.yield %e : !tt.tensordesc<64x64xf16>
    }
    tt.return
  }
  // Two loads that want different layouts get neither.
  // CHECK-LABEL: @clash(
  // CHECK-SAME: !tt.tensordesc<64x64xf16, #[[WIDE]]>
  tt.func public @clash(%a: !tt.tensordesc<64x64xf16>, %i: i32) {
    %x = tt.descriptor_load %a[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16, #blocked>
    %s = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #narrow, #smem>
    %y = tt.descriptor_load %a[%i, %i] : !tt.tensordesc<64x64xf16> -> tensor<64x64xf16, #blocked>
    %t = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>, #smem>
    tt.return
  }
}
