// RUN: ttc opt %s --ttc-transpose-bytes | FileCheck %s
// Bytes that a product wants with K contiguous, and that are loaded with N contiguous: a thread gets four rows, whose bytes are a word of the buffer, and two threads read 32 bytes of a row.

#b = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#k = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#k32 = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
// CHECK: #[[W:.*]] = #ttg.blocked<{sizePerThread = [4, 16], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [1, 0]}>
// CHECK: #[[F:.*]] = #ttg.blocked<{sizePerThread = [4, 16], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @row_major(
  // CHECK: %[[P:.*]] = ttg.convert_layout %p : {{.*}} -> tensor<64x128x!tt.ptr<i8>, #[[W]]>
  // CHECK: %[[M:.*]] = ttg.convert_layout %m : {{.*}} -> tensor<64x128xi1, #[[W]]>
  // CHECK: %[[X:.*]] = tt.load %[[P]], %[[M]] : tensor<64x128x!tt.ptr<i8>, #[[W]]>
  // CHECK: ttg.local_alloc %[[X]] : (tensor<64x128xi8, #[[W]]>)
  tt.func public @row_major(%p: tensor<64x128x!tt.ptr<i8>, #b> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}, %m: tensor<64x128xi1, #b>) {
    %x = tt.load %p, %m : tensor<64x128x!tt.ptr<i8>, #b>
    %s = ttg.local_alloc %x : (tensor<64x128xi8, #b>) -> !ttg.memdesc<64x128xi8, #k, #smem>
    tt.return
  }
  // With K contiguous in memory too, there is nothing to transpose.
  // CHECK-LABEL: @column_major(
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @column_major(%p: tensor<64x128x!tt.ptr<i8>, #b> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}) {
    %x = tt.load %p : tensor<64x128x!tt.ptr<i8>, #b>
    %s = ttg.local_alloc %x : (tensor<64x128xi8, #b>) -> !ttg.memdesc<64x128xi8, #n, #smem>
    tt.return
  }
  // Eight threads find rows, so four are along each.
  // CHECK-LABEL: @few_rows(
  // CHECK: ttg.local_alloc {{.*}} : (tensor<32x256xi8, #[[F]]>)
  tt.func public @few_rows(%p: tensor<32x256x!tt.ptr<i8>, #b> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 256]> : tensor<2xi32>}) {
    %x = tt.load %p : tensor<32x256x!tt.ptr<i8>, #b>
    %s = ttg.local_alloc %x : (tensor<32x256xi8, #b>) -> !ttg.memdesc<32x256xi8, #k32, #smem>
    tt.return
  }
  // There are not four rows of 16 bytes for each thread.
  // CHECK-LABEL: @few_bytes(
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @few_bytes(%p: tensor<32x128x!tt.ptr<i8>, #b> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 128]> : tensor<2xi32>}) {
    %x = tt.load %p : tensor<32x128x!tt.ptr<i8>, #b>
    %s = ttg.local_alloc %x : (tensor<32x128xi8, #b>) -> !ttg.memdesc<32x128xi8, #k32, #smem>
    tt.return
  }
  // Single bytes are loaded as they are.
  // CHECK-LABEL: @single_bytes(
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @single_bytes(%p: tensor<64x128x!tt.ptr<i8>, #b>) {
    %x = tt.load %p : tensor<64x128x!tt.ptr<i8>, #b>
    %s = ttg.local_alloc %x : (tensor<64x128xi8, #b>) -> !ttg.memdesc<64x128xi8, #k, #smem>
    tt.return
  }
}
