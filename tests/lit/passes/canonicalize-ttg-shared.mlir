// Conversions beside shared memory: any layout can be loaded and stored.
// RUN: ttc opt %s --canonicalize | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each function says what it must show.
// CHECK: #[[BLOCKED:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-NEXT: #[[BLOCKED1:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
// CHECK-NEXT: #[[SHARED:[^ ,>)]+]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-NEXT: #[[SMEM:[^ ,>)]+]] = #ttg.shared_memory
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // The new load stands where the old one was, before the store.
  // CHECK-LABEL: tt.func public @loaded(%m: !ttg.memdesc<64x64xf16, #{{[^ ,>)]+}}, #{{[^ ,>)]+}}, mutable>, %x: tensor<64x64xf16, #{{[^ ,>)]+}}>) -> tensor<64x64xf16, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[B:[^ ,:)#]+]] = ttg.local_load %m : !ttg.memdesc<64x64xf16, #[[SHARED]], #[[SMEM]], mutable> -> tensor<64x64xf16, #[[BLOCKED1]]>
  // CHECK-NEXT: ttg.local_store %x, %m : tensor<64x64xf16, #[[BLOCKED]]> -> !ttg.memdesc<64x64xf16, #[[SHARED]], #[[SMEM]], mutable>
  // CHECK-NEXT: tt.return %[[B]] : tensor<64x64xf16, #[[BLOCKED1]]>
  // CHECK-NEXT: }
  tt.func public @loaded(%m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf16, #blocked>) -> tensor<64x64xf16, #blocked1> {
    %a = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %b = ttg.convert_layout %a : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #blocked1>
    tt.return %b : tensor<64x64xf16, #blocked1>
  }
  // CHECK-LABEL: tt.func public @stored(%m: !ttg.memdesc<64x64xf16, #{{[^ ,>)]+}}, #{{[^ ,>)]+}}, mutable>, %x: tensor<64x64xf16, #{{[^ ,>)]+}}>) -> !ttg.memdesc<64x64xf16, #{{[^ ,>)]+}}, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: ttg.local_store %x, %m : tensor<64x64xf16, #[[BLOCKED]]> -> !ttg.memdesc<64x64xf16, #[[SHARED]], #[[SMEM]], mutable>
  // CHECK-NEXT: %[[S:[^ ,:)#]+]] = ttg.local_alloc %x : (tensor<64x64xf16, #[[BLOCKED]]>) -> !ttg.memdesc<64x64xf16, #[[SHARED]], #[[SMEM]]>
  // CHECK-NEXT: tt.return %[[S]] : !ttg.memdesc<64x64xf16, #[[SHARED]], #[[SMEM]]>
  // CHECK-NEXT: }
  tt.func public @stored(%m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %x: tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem> {
    %b = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #blocked1>
    ttg.local_store %b, %m : tensor<64x64xf16, #blocked1> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %s = ttg.local_alloc %b : (tensor<64x64xf16, #blocked1>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    tt.return %s : !ttg.memdesc<64x64xf16, #shared, #smem>
  }
}
