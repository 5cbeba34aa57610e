// How the blocks of a cluster share products and reductions.
// BLESSED: Triton 3.9's pass gives the same for each module.
// RUN: ttc opt %s -split-input-file --triton-nvidia-gpu-assign-cga-layouts | FileCheck %s --match-full-lines
// CHECK: #[[BLOCKED:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}0, 1]]}>
// CHECK-NEXT: #[[BLOCKED1:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0], CGALayout = {{\[\[}}1, 0]]}>
// CHECK-NEXT: #[[BLOCKED2:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}1, 0]]}>
// CHECK-NEXT: #[[BLOCKED3:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}1, 0]]}>
// CHECK-NEXT: #[[BLOCKED4:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}0, 1]]}>
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {

#C = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #C}>
#B = #ttg.dot_op<{opIdx = 1, parent = #C}>
#L = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Each block gets 128 rows; the columns are shared.
  // CHECK-LABEL: tt.func @columns(%a: tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %b: tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #{{[^ ,>)]+}}}>>, %c: tensor<128x256xf32, #{{[^ ,>)]+}}>) -> tensor<128x256xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = tt.dot %a, %b, %c : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return %[[D]] : tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: }
  tt.func @columns(%a: tensor<128x32xf16, #A>, %b: tensor<32x256xf16, #B>, %c: tensor<128x256xf32, #C>) -> tensor<128x256xf32, #C> {
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #A> * tensor<32x256xf16, #B> -> tensor<128x256xf32, #C>
    tt.return %d : tensor<128x256xf32, #C>
  }
  // Rows for both.
  // CHECK-LABEL: tt.func @rows(%a: tensor<256x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %b: tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #{{[^ ,>)]+}}}>>, %c: tensor<256x256xf32, #{{[^ ,>)]+}}>) -> tensor<256x256xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = ttg.convert_layout %a : tensor<256x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> -> tensor<256x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED1]]}>>
  // CHECK-NEXT: %[[D0:[^ ,:)#]+]] = ttg.convert_layout %b : tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED1]]}>>
  // CHECK-NEXT: %[[D1:[^ ,:)#]+]] = ttg.convert_layout %c : tensor<256x256xf32, #[[BLOCKED]]> -> tensor<256x256xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[D2:[^ ,:)#]+]] = tt.dot %[[D]], %[[D0]], %[[D1]] : tensor<256x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED1]]}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED1]]}>> -> tensor<256x256xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[D3:[^ ,:)#]+]] = ttg.convert_layout %[[D2]] : tensor<256x256xf32, #[[BLOCKED1]]> -> tensor<256x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return %[[D3]] : tensor<256x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: }
  tt.func @rows(%a: tensor<256x32xf16, #A>, %b: tensor<32x256xf16, #B>, %c: tensor<256x256xf32, #C>) -> tensor<256x256xf32, #C> {
    %d = tt.dot %a, %b, %c : tensor<256x32xf16, #A> * tensor<32x256xf16, #B> -> tensor<256x256xf32, #C>
    tt.return %d : tensor<256x256xf32, #C>
  }
  // With 32 columns each there would be too few: each block gets 64 rows.
  // CHECK-LABEL: tt.func @narrow(%a: tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %b: tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #{{[^ ,>)]+}}}>>, %c: tensor<128x64xf32, #{{[^ ,>)]+}}>) -> tensor<128x64xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = ttg.convert_layout %a : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> -> tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED2]]}>>
  // CHECK-NEXT: %[[D0:[^ ,:)#]+]] = ttg.convert_layout %b : tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED2]]}>>
  // CHECK-NEXT: %[[D1:[^ ,:)#]+]] = ttg.convert_layout %c : tensor<128x64xf32, #[[BLOCKED]]> -> tensor<128x64xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: %[[D2:[^ ,:)#]+]] = tt.dot %[[D]], %[[D0]], %[[D1]] : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED2]]}>> * tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED2]]}>> -> tensor<128x64xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: %[[D3:[^ ,:)#]+]] = ttg.convert_layout %[[D2]] : tensor<128x64xf32, #[[BLOCKED2]]> -> tensor<128x64xf32, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return %[[D3]] : tensor<128x64xf32, #[[BLOCKED]]>
  // CHECK-NEXT: }
  tt.func @narrow(%a: tensor<128x32xf16, #A>, %b: tensor<32x64xf16, #B>, %c: tensor<128x64xf32, #C>) -> tensor<128x64xf32, #C> {
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #A> * tensor<32x64xf16, #B> -> tensor<128x64xf32, #C>
    tt.return %d : tensor<128x64xf32, #C>
  }
  // A load that only the product needs is done in its layout, with all that is computed from it; its pointers and its
  // mask are converted. The constant is computed there too.
  // CHECK-LABEL: tt.func @loaded(%p: tensor<32x256x!tt.ptr<f16>, #{{[^ ,>)]+}}>, %m: tensor<32x256xi1, #{{[^ ,>)]+}}>, %a: tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %c: tensor<128x256xf32, #{{[^ ,>)]+}}>) -> tensor<128x256xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[ONE:[^ ,:)#]+]] = arith.constant dense<1.000000e+00> : tensor<32x256xf16, #[[BLOCKED3]]>
  // CHECK-NEXT: %[[X:[^ ,:)#]+]] = ttg.convert_layout %p : tensor<32x256x!tt.ptr<f16>, #[[BLOCKED3]]> -> tensor<32x256x!tt.ptr<f16>, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[X0:[^ ,:)#]+]] = ttg.convert_layout %m : tensor<32x256xi1, #[[BLOCKED3]]> -> tensor<32x256xi1, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[X1:[^ ,:)#]+]] = ttg.convert_layout %[[ONE]] : tensor<32x256xf16, #[[BLOCKED3]]> -> tensor<32x256xf16, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[X2:[^ ,:)#]+]] = tt.load %[[X]], %[[X0]], %[[X1]] : tensor<32x256x!tt.ptr<f16>, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = arith.addf %[[X2]], %[[X2]] : tensor<32x256xf16, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[TWO:[^ ,:)#]+]] = arith.constant dense<2.000000e+00> : tensor<32x256xf16, #[[BLOCKED3]]>
  // CHECK-NEXT: %[[TWO3:[^ ,:)#]+]] = ttg.convert_layout %[[TWO]] : tensor<32x256xf16, #[[BLOCKED3]]> -> tensor<32x256xf16, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[Z:[^ ,:)#]+]] = arith.mulf %[[Y]], %[[TWO3]] : tensor<32x256xf16, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[B:[^ ,:)#]+]] = ttg.convert_layout %[[Z]] : tensor<32x256xf16, #[[BLOCKED4]]> -> tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = tt.dot %a, %[[B]], %c : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return %[[D]] : tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: }
  tt.func @loaded(%p: tensor<32x256x!tt.ptr<f16>, #L>, %m: tensor<32x256xi1, #L>, %a: tensor<128x32xf16, #A>, %c: tensor<128x256xf32, #C>) -> tensor<128x256xf32, #C> {
    %one = arith.constant dense<1.000000e+00> : tensor<32x256xf16, #L>
    %x = tt.load %p, %m, %one : tensor<32x256x!tt.ptr<f16>, #L>
    %y = arith.addf %x, %x : tensor<32x256xf16, #L>
    %two = arith.constant dense<2.000000e+00> : tensor<32x256xf16, #L>
    %z = arith.mulf %y, %two : tensor<32x256xf16, #L>
    %b = ttg.convert_layout %z : tensor<32x256xf16, #L> -> tensor<32x256xf16, #B>
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #A> * tensor<32x256xf16, #B> -> tensor<128x256xf32, #C>
    tt.return %d : tensor<128x256xf32, #C>
  }
  // Somebody else needs what was loaded, so it is not loaded again.
  // CHECK-LABEL: tt.func @shared(%p: tensor<32x256x!tt.ptr<f16>, #{{[^ ,>)]+}}>, %a: tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %c: tensor<128x256xf32, #{{[^ ,>)]+}}>) -> tensor<128x256xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[X:[^ ,:)#]+]] = tt.load %p : tensor<32x256x!tt.ptr<f16>, #[[BLOCKED3]]>
  // CHECK-NEXT: tt.store %p, %[[X]] : tensor<32x256x!tt.ptr<f16>, #[[BLOCKED3]]>
  // CHECK-NEXT: %[[B:[^ ,:)#]+]] = ttg.convert_layout %[[X]] : tensor<32x256xf16, #[[BLOCKED3]]> -> tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = tt.dot %a, %[[B]], %c : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return %[[D]] : tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: }
  tt.func @shared(%p: tensor<32x256x!tt.ptr<f16>, #L>, %a: tensor<128x32xf16, #A>, %c: tensor<128x256xf32, #C>) -> tensor<128x256xf32, #C> {
    %x = tt.load %p : tensor<32x256x!tt.ptr<f16>, #L>
    tt.store %p, %x : tensor<32x256x!tt.ptr<f16>, #L>
    %b = ttg.convert_layout %x : tensor<32x256xf16, #L> -> tensor<32x256xf16, #B>
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #A> * tensor<32x256xf16, #B> -> tensor<128x256xf32, #C>
    tt.return %d : tensor<128x256xf32, #C>
  }
  // A volatile load stays.
  // CHECK-LABEL: tt.func @volatile(%p: tensor<32x256x!tt.ptr<f16>, #{{[^ ,>)]+}}>, %a: tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %c: tensor<128x256xf32, #{{[^ ,>)]+}}>) -> tensor<128x256xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[X:[^ ,:)#]+]] = tt.load %p {isVolatile = true} : tensor<32x256x!tt.ptr<f16>, #[[BLOCKED3]]>
  // CHECK-NEXT: %[[B:[^ ,:)#]+]] = ttg.convert_layout %[[X]] : tensor<32x256xf16, #[[BLOCKED3]]> -> tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = tt.dot %a, %[[B]], %c : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return %[[D]] : tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: }
  tt.func @volatile(%p: tensor<32x256x!tt.ptr<f16>, #L>, %a: tensor<128x32xf16, #A>, %c: tensor<128x256xf32, #C>) -> tensor<128x256xf32, #C> {
    %x = tt.load %p {isVolatile = true} : tensor<32x256x!tt.ptr<f16>, #L>
    %b = ttg.convert_layout %x : tensor<32x256xf16, #L> -> tensor<32x256xf16, #B>
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #A> * tensor<32x256xf16, #B> -> tensor<128x256xf32, #C>
    tt.return %d : tensor<128x256xf32, #C>
  }
  // So does an atomic.
  // CHECK-LABEL: tt.func @atomic(%p: tensor<32x256x!tt.ptr<f16>, #{{[^ ,>)]+}}>, %v: tensor<32x256xf16, #{{[^ ,>)]+}}>, %a: tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %c: tensor<128x256xf32, #{{[^ ,>)]+}}>) -> tensor<128x256xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[X:[^ ,:)#]+]] = tt.atomic_rmw exch, relaxed, gpu, %p, %v : (tensor<32x256x!tt.ptr<f16>, #[[BLOCKED3]]>, tensor<32x256xf16, #[[BLOCKED3]]>) -> tensor<32x256xf16, #[[BLOCKED3]]>
  // CHECK-NEXT: %[[B:[^ ,:)#]+]] = ttg.convert_layout %[[X]] : tensor<32x256xf16, #[[BLOCKED3]]> -> tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = tt.dot %a, %[[B]], %c : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return %[[D]] : tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: }
  tt.func @atomic(%p: tensor<32x256x!tt.ptr<f16>, #L>, %v: tensor<32x256xf16, #L>, %a: tensor<128x32xf16, #A>, %c: tensor<128x256xf32, #C>) -> tensor<128x256xf32, #C> {
    %x = tt.atomic_rmw exch, relaxed, gpu, %p, %v : (tensor<32x256x!tt.ptr<f16>, #L>, tensor<32x256xf16, #L>) -> tensor<32x256xf16, #L>
    %b = ttg.convert_layout %x : tensor<32x256xf16, #L> -> tensor<32x256xf16, #B>
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #A> * tensor<32x256xf16, #B> -> tensor<128x256xf32, #C>
    tt.return %d : tensor<128x256xf32, #C>
  }
  // Through a descriptor there is nothing to convert.
  // CHECK-LABEL: tt.func @descriptor(%t: !tt.tensordesc<32x256xf16>, %i: i32, %a: tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %c: tensor<128x256xf32, #{{[^ ,>)]+}}>) -> tensor<128x256xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[X:[^ ,:)#]+]] = tt.descriptor_load %t[%i, %i] : !tt.tensordesc<32x256xf16> -> tensor<32x256xf16, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[B:[^ ,:)#]+]] = ttg.convert_layout %[[X]] : tensor<32x256xf16, #[[BLOCKED4]]> -> tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = tt.dot %a, %[[B]], %c : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return %[[D]] : tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: }
  tt.func @descriptor(%t: !tt.tensordesc<32x256xf16>, %i: i32, %a: tensor<128x32xf16, #A>, %c: tensor<128x256xf32, #C>) -> tensor<128x256xf32, #C> {
    %x = tt.descriptor_load %t[%i, %i] : !tt.tensordesc<32x256xf16> -> tensor<32x256xf16, #L>
    %b = ttg.convert_layout %x : tensor<32x256xf16, #L> -> tensor<32x256xf16, #B>
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #A> * tensor<32x256xf16, #B> -> tensor<128x256xf32, #C>
    tt.return %d : tensor<128x256xf32, #C>
  }
  // The indices of a gather are loaded in the new layout; its source stays as it is.
  // CHECK-LABEL: tt.func @gathered(%s: tensor<64x256xf16, #{{[^ ,>)]+}}>, %p: tensor<32x256x!tt.ptr<i32>, #{{[^ ,>)]+}}>, %a: tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %c: tensor<128x256xf32, #{{[^ ,>)]+}}>) -> tensor<128x256xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[I:[^ ,:)#]+]] = ttg.convert_layout %p : tensor<32x256x!tt.ptr<i32>, #[[BLOCKED3]]> -> tensor<32x256x!tt.ptr<i32>, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[I0:[^ ,:)#]+]] = tt.load %[[I]] : tensor<32x256x!tt.ptr<i32>, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[G:[^ ,:)#]+]] = tt.gather %s[%[[I0]]] {axis = 0 : i32} : (tensor<64x256xf16, #[[BLOCKED3]]>, tensor<32x256xi32, #[[BLOCKED4]]>) -> tensor<32x256xf16, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[B:[^ ,:)#]+]] = ttg.convert_layout %[[G]] : tensor<32x256xf16, #[[BLOCKED4]]> -> tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = tt.dot %a, %[[B]], %c : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return %[[D]] : tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: }
  tt.func @gathered(%s: tensor<64x256xf16, #L>, %p: tensor<32x256x!tt.ptr<i32>, #L>, %a: tensor<128x32xf16, #A>, %c: tensor<128x256xf32, #C>) -> tensor<128x256xf32, #C> {
    %i = tt.load %p : tensor<32x256x!tt.ptr<i32>, #L>
    %g = tt.gather %s[%i] {axis = 0 : i32} : (tensor<64x256xf16, #L>, tensor<32x256xi32, #L>) -> tensor<32x256xf16, #L>
    %b = ttg.convert_layout %g : tensor<32x256xf16, #L> -> tensor<32x256xf16, #B>
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #A> * tensor<32x256xf16, #B> -> tensor<128x256xf32, #C>
    tt.return %d : tensor<128x256xf32, #C>
  }
  // But not where the layout suits the gather.
  // CHECK-LABEL: tt.func @suited(%s: tensor<64x256xf16, #{{[^ ,>)]+}}>, %p: tensor<32x256x!tt.ptr<i32>, #{{[^ ,>)]+}}>, %a: tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %c: tensor<128x256xf32, #{{[^ ,>)]+}}>) -> tensor<128x256xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[I:[^ ,:)#]+]] = tt.load %p : tensor<32x256x!tt.ptr<i32>, #[[BLOCKED3]]>
  // CHECK-NEXT: %[[G:[^ ,:)#]+]] = tt.gather %s[%[[I]]] {axis = 0 : i32, efficient_layout} : (tensor<64x256xf16, #[[BLOCKED3]]>, tensor<32x256xi32, #[[BLOCKED3]]>) -> tensor<32x256xf16, #[[BLOCKED3]]>
  // CHECK-NEXT: %[[B:[^ ,:)#]+]] = ttg.convert_layout %[[G]] : tensor<32x256xf16, #[[BLOCKED3]]> -> tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = tt.dot %a, %[[B]], %c : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return %[[D]] : tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: }
  tt.func @suited(%s: tensor<64x256xf16, #L>, %p: tensor<32x256x!tt.ptr<i32>, #L>, %a: tensor<128x32xf16, #A>, %c: tensor<128x256xf32, #C>) -> tensor<128x256xf32, #C> {
    %i = tt.load %p : tensor<32x256x!tt.ptr<i32>, #L>
    %g = tt.gather %s[%i] {axis = 0 : i32, efficient_layout} : (tensor<64x256xf16, #L>, tensor<32x256xi32, #L>) -> tensor<32x256xf16, #L>
    %b = ttg.convert_layout %g : tensor<32x256xf16, #L> -> tensor<32x256xf16, #B>
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #A> * tensor<32x256xf16, #B> -> tensor<128x256xf32, #C>
    tt.return %d : tensor<128x256xf32, #C>
  }
  // Nor across the result of a branch.
  // CHECK-LABEL: tt.func @branched(%q: i1, %p: tensor<32x256x!tt.ptr<f16>, #{{[^ ,>)]+}}>, %v: tensor<32x256xf16, #{{[^ ,>)]+}}>, %a: tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %c: tensor<128x256xf32, #{{[^ ,>)]+}}>) -> tensor<128x256xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[X:[^ ,:)#]+]] = scf.if %q -> (tensor<32x256xf16, #[[BLOCKED3]]>) {
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = tt.load %p : tensor<32x256x!tt.ptr<f16>, #[[BLOCKED3]]>
  // CHECK-NEXT: scf.yield %[[Y]] : tensor<32x256xf16, #[[BLOCKED3]]>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %v : tensor<32x256xf16, #[[BLOCKED3]]>
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[B:[^ ,:)#]+]] = ttg.convert_layout %[[X]] : tensor<32x256xf16, #[[BLOCKED3]]> -> tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = tt.dot %a, %[[B]], %c : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> * tensor<32x256xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return %[[D]] : tensor<128x256xf32, #[[BLOCKED]]>
  // CHECK-NEXT: }
  tt.func @branched(%q: i1, %p: tensor<32x256x!tt.ptr<f16>, #L>, %v: tensor<32x256xf16, #L>, %a: tensor<128x32xf16, #A>, %c: tensor<128x256xf32, #C>) -> tensor<128x256xf32, #C> {
    %x = scf.if %q -> (tensor<32x256xf16, #L>) {
      %y = tt.load %p : tensor<32x256x!tt.ptr<f16>, #L>
      scf.yield %y : tensor<32x256xf16, #L>
    } else {
      scf.yield %v : tensor<32x256xf16, #L>
    }
    %b = ttg.convert_layout %x : tensor<32x256xf16, #L> -> tensor<32x256xf16, #B>
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #A> * tensor<32x256xf16, #B> -> tensor<128x256xf32, #C>
    tt.return %d : tensor<128x256xf32, #C>
  }
}
// -----

// CHECK: #[[BLOCKED:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}0, 1], [0, 2]]}>
// CHECK-NEXT: #[[BLOCKED1:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}0, 1], [1, 0]]}>
// CHECK-NEXT: #[[BLOCKED2:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 4, 4], threadsPerWarp = [1, 1, 32], warpsPerCTA = [1, 4, 1], order = [2, 1, 0], CGALayout = {{\[\[}}0, 0, 1], [0, 0, 2]]}>
// CHECK-NEXT: #[[BLOCKED3:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 4, 4], threadsPerWarp = [1, 2, 16], warpsPerCTA = [1, 4, 1], order = [2, 1, 0], CGALayout = {{\[\[}}0, 0, 1], [1, 0, 0]]}>
// CHECK-NEXT: #[[BLOCKED4:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = {{\[\[}}0], [0]]}>
// CHECK-NEXT: #[[BLOCKED5:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = {{\[\[}}1], [2]]}>
// CHECK-NEXT: #[[BLOCKED6:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0], CGALayout = {{\[\[}}0, 1], [0, 2]]}>
// CHECK-NEXT: #[[BLOCKED7:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0], CGALayout = {{\[\[}}1, 0], [2, 0]]}>
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 4 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
#C = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1], [0, 2]]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #C}>
#B = #ttg.dot_op<{opIdx = 1, parent = #C}>
#BC = #ttg.blocked<{sizePerThread = [1, 4, 4], threadsPerWarp = [1, 1, 32], warpsPerCTA = [1, 4, 1], order = [2, 1, 0], CGALayout = [[0, 0, 1], [0, 0, 2]]}>
#BA = #ttg.dot_op<{opIdx = 0, parent = #BC}>
#BB = #ttg.dot_op<{opIdx = 1, parent = #BC}>
#V = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[0], [0]]}>
#R = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0], CGALayout = [[0, 1], [0, 2]]}>
#R1 = #ttg.slice<{dim = 1, parent = #R}>
module attributes {"ttg.num-ctas" = 4 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Four blocks: 64 rows and 64 columns each, threads dealt out anew.
  // CHECK-LABEL: tt.func @quarters(%a: tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %b: tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #{{[^ ,>)]+}}}>>, %c: tensor<128x128xf32, #{{[^ ,>)]+}}>) -> tensor<128x128xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = ttg.convert_layout %a : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> -> tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED1]]}>>
  // CHECK-NEXT: %[[D0:[^ ,:)#]+]] = ttg.convert_layout %b : tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED1]]}>>
  // CHECK-NEXT: %[[D1:[^ ,:)#]+]] = ttg.convert_layout %c : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[D2:[^ ,:)#]+]] = tt.dot %[[D]], %[[D0]], %[[D1]] : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED1]]}>> * tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED1]]}>> -> tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[D3:[^ ,:)#]+]] = ttg.convert_layout %[[D2]] : tensor<128x128xf32, #[[BLOCKED1]]> -> tensor<128x128xf32, #[[BLOCKED]]>
  // CHECK-NEXT: tt.return %[[D3]] : tensor<128x128xf32, #[[BLOCKED]]>
  // CHECK-NEXT: }
  tt.func @quarters(%a: tensor<128x32xf16, #A>, %b: tensor<32x128xf16, #B>, %c: tensor<128x128xf32, #C>) -> tensor<128x128xf32, #C> {
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #A> * tensor<32x128xf16, #B> -> tensor<128x128xf32, #C>
    tt.return %d : tensor<128x128xf32, #C>
  }
  // Batches are shared before rows.
  // CHECK-LABEL: tt.func @batches(%a: tensor<2x128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %b: tensor<2x32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #{{[^ ,>)]+}}}>>, %c: tensor<2x128x128xf32, #{{[^ ,>)]+}}>) -> tensor<2x128x128xf32, #{{[^ ,>)]+}}> {
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = ttg.convert_layout %a : tensor<2x128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED2]]}>> -> tensor<2x128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED3]]}>>
  // CHECK-NEXT: %[[D0:[^ ,:)#]+]] = ttg.convert_layout %b : tensor<2x32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED2]]}>> -> tensor<2x32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED3]]}>>
  // CHECK-NEXT: %[[D1:[^ ,:)#]+]] = ttg.convert_layout %c : tensor<2x128x128xf32, #[[BLOCKED2]]> -> tensor<2x128x128xf32, #[[BLOCKED3]]>
  // CHECK-NEXT: %[[D2:[^ ,:)#]+]] = tt.dot %[[D]], %[[D0]], %[[D1]] : tensor<2x128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED3]]}>> * tensor<2x32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED3]]}>> -> tensor<2x128x128xf32, #[[BLOCKED3]]>
  // CHECK-NEXT: %[[D3:[^ ,:)#]+]] = ttg.convert_layout %[[D2]] : tensor<2x128x128xf32, #[[BLOCKED3]]> -> tensor<2x128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: tt.return %[[D3]] : tensor<2x128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: }
  tt.func @batches(%a: tensor<2x128x32xf16, #BA>, %b: tensor<2x32x128xf16, #BB>, %c: tensor<2x128x128xf32, #BC>) -> tensor<2x128x128xf32, #BC> {
    %d = tt.dot %a, %b, %c : tensor<2x128x32xf16, #BA> * tensor<2x32x128xf16, #BB> -> tensor<2x128x128xf32, #BC>
    tt.return %d : tensor<2x128x128xf32, #BC>
  }
  // A vector is reduced by all blocks together.
  // CHECK-LABEL: tt.func @vector(%x: tensor<65536xf32, #{{[^ ,>)]+}}>) -> f32 {
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<65536xf32, #[[BLOCKED4]]> -> tensor<65536xf32, #[[BLOCKED5]]>
  // CHECK-NEXT: %[[R0:[^ ,:)#]+]] = "tt.reduce"(%[[R]]) <{axis = 0 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[S:[^ ,:)#]+]]: f32, %[[T:[^ ,:)#]+]]: f32):
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.addf %[[S]], %[[T]] : f32
  // CHECK-NEXT: tt.reduce.return %[[U]] : f32
  // CHECK-NEXT: }) : (tensor<65536xf32, #[[BLOCKED5]]>) -> f32
  // CHECK-NEXT: tt.return %[[R0]] : f32
  // CHECK-NEXT: }
  tt.func @vector(%x: tensor<65536xf32, #V>) -> f32 {
    %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%s: f32, %t: f32):
      %u = arith.addf %s, %t : f32
      tt.reduce.return %u : f32
    }) : (tensor<65536xf32, #V>) -> f32
    tt.return %r : f32
  }
  // Two rows for four blocks: the others hold copies.
  // CHECK-LABEL: tt.func @copies(%x: tensor<2x512xf32, #{{[^ ,>)]+}}>) -> tensor<2xf32, #ttg.slice<{dim = 1, parent = #{{[^ ,>)]+}}}>> {
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<2x512xf32, #[[BLOCKED6]]> -> tensor<2x512xf32, #[[BLOCKED7]]>
  // CHECK-NEXT: %[[R0:[^ ,:)#]+]] = "tt.reduce"(%[[R]]) <{axis = 1 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[S:[^ ,:)#]+]]: f32, %[[T:[^ ,:)#]+]]: f32):
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.addf %[[S]], %[[T]] : f32
  // CHECK-NEXT: tt.reduce.return %[[U]] : f32
  // CHECK-NEXT: }) : (tensor<2x512xf32, #[[BLOCKED7]]>) -> tensor<2xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED7]]}>>
  // CHECK-NEXT: %[[R1:[^ ,:)#]+]] = ttg.convert_layout %[[R0]] : tensor<2xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED7]]}>> -> tensor<2xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED6]]}>>
  // CHECK-NEXT: tt.return %[[R1]] : tensor<2xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED6]]}>>
  // CHECK-NEXT: }
  tt.func @copies(%x: tensor<2x512xf32, #R>) -> tensor<2xf32, #R1> {
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%s: f32, %t: f32):
      %u = arith.addf %s, %t : f32
      tt.reduce.return %u : f32
    }) : (tensor<2x512xf32, #R>) -> tensor<2xf32, #R1>
    tt.return %r : tensor<2xf32, #R1>
  }
}
// -----

// CHECK: #[[BLOCKED:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}0, 1]]}>
// CHECK-NEXT: #[[BLOCKED1:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0], CGALayout = {{\[\[}}1, 0]]}>
// CHECK-NEXT: #[[BLOCKED2:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0], CGALayout = {{\[\[}}0, 1]]}>
// CHECK-NEXT: #[[BLOCKED3:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1], CGALayout = {{\[\[}}1, 0]]}>
// CHECK-NEXT: #[[BLOCKED4:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0], CGALayout = {{\[\[}}1, 0]]}>
// CHECK-NEXT: #[[BLOCKED5:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1], CGALayout = {{\[\[}}0, 1]]}>
// CHECK-NEXT: #[[BLOCKED6:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}0, 0]]}>
// CHECK-NEXT: #[[BLOCKED7:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = {{\[\[}}1]]}>
// CHECK-NEXT: #[[BLOCKED8:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}0, 1]]}>
// CHECK-NEXT: #[[LINEAR:[^ ,>)]+]] = #ttg.linear<{register = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 0], [0, 64]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [32, 0]], block = {{\[\[}}64, 0]]}>
// CHECK-NEXT: #[[LINEAR1:[^ ,>)]+]] = #ttg.linear<{register = {{\[\[}}0, 8], [0, 16], [0, 32], [16, 0], [32, 0], [64, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = {{\[\[}}4, 0], [8, 0]], block = {{\[\[}}0, 64]]}>
// CHECK-NEXT: #[[LINEAR2:[^ ,>)]+]] = #ttg.linear<{register = {{\[\[}}0, 8], [0, 16], [0, 32], [16, 0], [32, 0], [0, 0], [0, 64]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = {{\[\[}}4, 0], [8, 0]], block = {{\[\[}}64, 0]]}>
// CHECK-NEXT: #[[LINEAR3:[^ ,>)]+]] = #ttg.linear<{register = {{\[\[}}0, 8], [0, 16], [0, 64], [16, 0], [32, 0], [64, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = {{\[\[}}4, 0], [8, 0]], block = {{\[\[}}0, 32]]}>
// CHECK-NEXT: #[[MMA:[^ ,>)]+]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = {{\[\[}}0, 1]], instrShape = [16, 64, 16]}>
// CHECK-NEXT: #[[MMA1:[^ ,>)]+]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = {{\[\[}}0, 1]], instrShape = [16, 8]}>
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
#R = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#R0 = #ttg.slice<{dim = 0, parent = #R}>
#R1 = #ttg.slice<{dim = 1, parent = #R}>
#T = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1], CGALayout = [[1, 0]]}>
#T0 = #ttg.slice<{dim = 0, parent = #T}>
#M = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = [[0, 1]], instrShape = [16, 64, 16]}>
#M1 = #ttg.slice<{dim = 1, parent = #M}>
#I = #ttg.linear<{register = [[0, 8], [0, 16], [0, 64], [16, 0], [32, 0], [64, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = [[0, 32]]}>
#I1 = #ttg.slice<{dim = 1, parent = #I}>
#G = #ttg.linear<{register = [[0, 8], [0, 16], [0, 32], [16, 0], [32, 0], [64, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = [[0, 64]]}>
#G1 = #ttg.slice<{dim = 1, parent = #G}>
#E = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 0]]}>
#E1 = #ttg.slice<{dim = 1, parent = #E}>
#F = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
#H = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0], CGALayout = [[1, 0]]}>
#H0 = #ttg.slice<{dim = 0, parent = #H}>
#MO = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = [[0, 1]], instrShape = [16, 8]}>
#O = #ttg.dot_op<{opIdx = 0, parent = #MO, kWidth = 2}>
#O1 = #ttg.slice<{dim = 1, parent = #O}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Each block reduces whole rows, also of a constant added to what was loaded.
  // CHECK-LABEL: tt.func @whole(%p: tensor<128x128x!tt.ptr<f32>, #{{[^ ,>)]+}}>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #{{[^ ,>)]+}}}>> {
  // CHECK-NEXT: %[[X:[^ ,:)#]+]] = ttg.convert_layout %p : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED]]> -> tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[X0:[^ ,:)#]+]] = tt.load %[[X]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant dense<1.000000e+00> : tensor<128x128xf32, #[[BLOCKED]]>
  // CHECK-NEXT: %[[C1:[^ ,:)#]+]] = ttg.convert_layout %[[C]] : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = arith.addf %[[X0]], %[[C1]] : tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = "tt.reduce"(%[[Y]]) <{axis = 1 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[S:[^ ,:)#]+]]: f32, %[[T:[^ ,:)#]+]]: f32):
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.addf %[[S]], %[[T]] : f32
  // CHECK-NEXT: tt.reduce.return %[[U]] : f32
  // CHECK-NEXT: }) : (tensor<128x128xf32, #[[BLOCKED1]]>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED1]]}>>
  // CHECK-NEXT: %[[R2:[^ ,:)#]+]] = ttg.convert_layout %[[R]] : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED1]]}>> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: tt.return %[[R2]] : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: }
  tt.func @whole(%p: tensor<128x128x!tt.ptr<f32>, #R>) -> tensor<128xf32, #R1> {
    %x = tt.load %p : tensor<128x128x!tt.ptr<f32>, #R>
    %c = arith.constant dense<1.000000e+00> : tensor<128x128xf32, #R>
    %y = arith.addf %x, %c : tensor<128x128xf32, #R>
    %r = "tt.reduce"(%y) <{axis = 1 : i32}> ({
    ^bb0(%s: f32, %t: f32):
      %u = arith.addf %s, %t : f32
      tt.reduce.return %u : f32
    }) : (tensor<128x128xf32, #R>) -> tensor<128xf32, #R1>
    tt.return %r : tensor<128xf32, #R1>
  }
  // Whole columns it has already.
  // CHECK-LABEL: tt.func @already(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #{{[^ ,>)]+}}}>> {
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: %[[R0:[^ ,:)#]+]] = "tt.reduce"(%[[R]]) <{axis = 0 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[S:[^ ,:)#]+]]: f32, %[[T:[^ ,:)#]+]]: f32):
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.addf %[[S]], %[[T]] : f32
  // CHECK-NEXT: tt.reduce.return %[[U]] : f32
  // CHECK-NEXT: }) : (tensor<128x128xf32, #[[BLOCKED2]]>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #[[BLOCKED2]]}>>
  // CHECK-NEXT: %[[R1:[^ ,:)#]+]] = ttg.convert_layout %[[R0]] : tensor<128xf32, #ttg.slice<{dim = 0, parent = #[[BLOCKED2]]}>> -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: tt.return %[[R1]] : tensor<128xf32, #ttg.slice<{dim = 0, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: }
  tt.func @already(%x: tensor<128x128xf32, #R>) -> tensor<128xf32, #R0> {
    %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%s: f32, %t: f32):
      %u = arith.addf %s, %t : f32
      tt.reduce.return %u : f32
    }) : (tensor<128x128xf32, #R>) -> tensor<128xf32, #R0>
    tt.return %r : tensor<128xf32, #R0>
  }
  // All operands and all results of one that reduces pairs.
  // CHECK-LABEL: tt.func @pairs(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>, %i: tensor<128x128xi32, #{{[^ ,>)]+}}>) -> (tensor<128xf32, #ttg.slice<{dim = 1, parent = #{{[^ ,>)]+}}}>>, tensor<128xi32, #ttg.slice<{dim = 1, parent = #{{[^ ,>)]+}}}>>) {
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[R0:[^ ,:)#]+]] = ttg.convert_layout %i : tensor<128x128xi32, #[[BLOCKED]]> -> tensor<128x128xi32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[R1:[^ ,:)#]+]]:2 = "tt.reduce"(%[[R]], %[[R0]]) <{axis = 1 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[A:[^ ,:)#]+]]: f32, %[[J:[^ ,:)#]+]]: i32, %[[B:[^ ,:)#]+]]: f32, %[[K:[^ ,:)#]+]]: i32):
  // CHECK-NEXT: %[[Q:[^ ,:)#]+]] = arith.cmpf ogt, %[[A]], %[[B]] : f32
  // CHECK-NEXT: %[[V:[^ ,:)#]+]] = arith.select %[[Q]], %[[A]], %[[B]] : f32
  // CHECK-NEXT: %[[W:[^ ,:)#]+]] = arith.select %[[Q]], %[[J]], %[[K]] : i32
  // CHECK-NEXT: tt.reduce.return %[[V]], %[[W]] : f32, i32
  // CHECK-NEXT: }) : (tensor<128x128xf32, #[[BLOCKED1]]>, tensor<128x128xi32, #[[BLOCKED1]]>) -> (tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED1]]}>>, tensor<128xi32, #ttg.slice<{dim = 1, parent = #[[BLOCKED1]]}>>)
  // CHECK-NEXT: %[[R2:[^ ,:)#]+]] = ttg.convert_layout %[[R1]]#0 : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED1]]}>> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: %[[R3:[^ ,:)#]+]] = ttg.convert_layout %[[R1]]#1 : tensor<128xi32, #ttg.slice<{dim = 1, parent = #[[BLOCKED1]]}>> -> tensor<128xi32, #ttg.slice<{dim = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: tt.return %[[R2]], %[[R3]] : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED]]}>>, tensor<128xi32, #ttg.slice<{dim = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: }
  tt.func @pairs(%x: tensor<128x128xf32, #R>, %i: tensor<128x128xi32, #R>) -> (tensor<128xf32, #R1>, tensor<128xi32, #R1>) {
    %r:2 = "tt.reduce"(%x, %i) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
      %q = arith.cmpf ogt, %a, %b : f32
      %v = arith.select %q, %a, %b : f32
      %w = arith.select %q, %j, %k : i32
      tt.reduce.return %v, %w : f32, i32
    }) : (tensor<128x128xf32, #R>, tensor<128x128xi32, #R>) -> (tensor<128xf32, #R1>, tensor<128xi32, #R1>)
    tt.return %r#0, %r#1 : tensor<128xf32, #R1>, tensor<128xi32, #R1>
  }
  // Back through a transposition: the load shares the other axis.
  // CHECK-LABEL: tt.func @turned(%p: tensor<128x64x!tt.ptr<f32>, #{{[^ ,>)]+}}>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #{{[^ ,>)]+}}}>> {
  // CHECK-NEXT: %[[X:[^ ,:)#]+]] = ttg.convert_layout %p : tensor<128x64x!tt.ptr<f32>, #[[BLOCKED]]> -> tensor<128x64x!tt.ptr<f32>, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[X0:[^ ,:)#]+]] = tt.load %[[X]] : tensor<128x64x!tt.ptr<f32>, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = tt.trans %[[X0]] {order = array<i32: 1, 0>} : tensor<128x64xf32, #[[BLOCKED4]]> -> tensor<64x128xf32, #[[BLOCKED5]]>
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = "tt.reduce"(%[[Y]]) <{axis = 0 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[S:[^ ,:)#]+]]: f32, %[[T:[^ ,:)#]+]]: f32):
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.addf %[[S]], %[[T]] : f32
  // CHECK-NEXT: tt.reduce.return %[[U]] : f32
  // CHECK-NEXT: }) : (tensor<64x128xf32, #[[BLOCKED5]]>) -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #[[BLOCKED5]]}>>
  // CHECK-NEXT: %[[R1:[^ ,:)#]+]] = ttg.convert_layout %[[R]] : tensor<128xf32, #ttg.slice<{dim = 0, parent = #[[BLOCKED5]]}>> -> tensor<128xf32, #ttg.slice<{dim = 0, parent = #[[BLOCKED3]]}>>
  // CHECK-NEXT: tt.return %[[R1]] : tensor<128xf32, #ttg.slice<{dim = 0, parent = #[[BLOCKED3]]}>>
  // CHECK-NEXT: }
  tt.func @turned(%p: tensor<128x64x!tt.ptr<f32>, #R>) -> tensor<128xf32, #T0> {
    %x = tt.load %p : tensor<128x64x!tt.ptr<f32>, #R>
    %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<128x64xf32, #R> -> tensor<64x128xf32, #T>
    %r = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%s: f32, %t: f32):
      %u = arith.addf %s, %t : f32
      tt.reduce.return %u : f32
    }) : (tensor<64x128xf32, #T>) -> tensor<128xf32, #T0>
    tt.return %r : tensor<128xf32, #T0>
  }
  // Back through a new axis: the slice of the parent's layout.
  // CHECK-LABEL: tt.func @widened(%p: tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #{{[^ ,>)]+}}}>>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #{{[^ ,>)]+}}}>> {
  // CHECK-NEXT: %[[X:[^ ,:)#]+]] = ttg.convert_layout %p : tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #[[BLOCKED6]]}>> -> tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #[[BLOCKED1]]}>>
  // CHECK-NEXT: %[[X0:[^ ,:)#]+]] = tt.load %[[X]] : tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #[[BLOCKED1]]}>>
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = tt.expand_dims %[[X0]] {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED1]]}>> -> tensor<128x1xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[Z:[^ ,:)#]+]] = tt.broadcast %[[Y]] : tensor<128x1xf32, #[[BLOCKED1]]> -> tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = "tt.reduce"(%[[Z]]) <{axis = 1 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[S:[^ ,:)#]+]]: f32, %[[T:[^ ,:)#]+]]: f32):
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.addf %[[S]], %[[T]] : f32
  // CHECK-NEXT: tt.reduce.return %[[U]] : f32
  // CHECK-NEXT: }) : (tensor<128x128xf32, #[[BLOCKED1]]>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED1]]}>>
  // CHECK-NEXT: %[[R1:[^ ,:)#]+]] = ttg.convert_layout %[[R]] : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED1]]}>> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED6]]}>>
  // CHECK-NEXT: tt.return %[[R1]] : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED6]]}>>
  // CHECK-NEXT: }
  tt.func @widened(%p: tensor<128x!tt.ptr<f32>, #E1>) -> tensor<128xf32, #E1> {
    %x = tt.load %p : tensor<128x!tt.ptr<f32>, #E1>
    %y = tt.expand_dims %x {axis = 1 : i32} : tensor<128xf32, #E1> -> tensor<128x1xf32, #E>
    %z = tt.broadcast %y : tensor<128x1xf32, #E> -> tensor<128x128xf32, #E>
    %r = "tt.reduce"(%z) <{axis = 1 : i32}> ({
    ^bb0(%s: f32, %t: f32):
      %u = arith.addf %s, %t : f32
      tt.reduce.return %u : f32
    }) : (tensor<128x128xf32, #E>) -> tensor<128xf32, #E1>
    tt.return %r : tensor<128xf32, #E1>
  }
  // Not through a reshape that would interleave the blocks.
  // CHECK-LABEL: tt.func @reshaped(%p: tensor<4096x!tt.ptr<f32>, #{{[^ ,>)]+}}>) -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #{{[^ ,>)]+}}}>> {
  // CHECK-NEXT: %[[X:[^ ,:)#]+]] = tt.load %p : tensor<4096x!tt.ptr<f32>, #[[BLOCKED7]]>
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = tt.reshape %[[X]] : tensor<4096xf32, #[[BLOCKED7]]> -> tensor<64x64xf32, #[[BLOCKED4]]>
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = ttg.convert_layout %[[Y]] : tensor<64x64xf32, #[[BLOCKED4]]> -> tensor<64x64xf32, #[[BLOCKED8]]>
  // CHECK-NEXT: %[[R0:[^ ,:)#]+]] = "tt.reduce"(%[[R]]) <{axis = 0 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[S:[^ ,:)#]+]]: f32, %[[T:[^ ,:)#]+]]: f32):
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.addf %[[S]], %[[T]] : f32
  // CHECK-NEXT: tt.reduce.return %[[U]] : f32
  // CHECK-NEXT: }) : (tensor<64x64xf32, #[[BLOCKED8]]>) -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #[[BLOCKED8]]}>>
  // CHECK-NEXT: %[[R1:[^ ,:)#]+]] = ttg.convert_layout %[[R0]] : tensor<64xf32, #ttg.slice<{dim = 0, parent = #[[BLOCKED8]]}>> -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #[[BLOCKED4]]}>>
  // CHECK-NEXT: tt.return %[[R1]] : tensor<64xf32, #ttg.slice<{dim = 0, parent = #[[BLOCKED4]]}>>
  // CHECK-NEXT: }
  tt.func @reshaped(%p: tensor<4096x!tt.ptr<f32>, #F>) -> tensor<64xf32, #H0> {
    %x = tt.load %p : tensor<4096x!tt.ptr<f32>, #F>
    %y = tt.reshape %x : tensor<4096xf32, #F> -> tensor<64x64xf32, #H>
    %r = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%s: f32, %t: f32):
      %u = arith.addf %s, %t : f32
      tt.reduce.return %u : f32
    }) : (tensor<64x64xf32, #H>) -> tensor<64xf32, #H0>
    tt.return %r : tensor<64xf32, #H0>
  }
  // The result of a matrix instruction becomes a linear layout: within a block as before, as far as there is room.
  // CHECK-LABEL: tt.func @fragment(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #{{[^ ,>)]+}}}>> {
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[MMA]]> -> tensor<128x128xf32, #[[LINEAR]]>
  // CHECK-NEXT: %[[R0:[^ ,:)#]+]] = "tt.reduce"(%[[R]]) <{axis = 1 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[S:[^ ,:)#]+]]: f32, %[[T:[^ ,:)#]+]]: f32):
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.addf %[[S]], %[[T]] : f32
  // CHECK-NEXT: tt.reduce.return %[[U]] : f32
  // CHECK-NEXT: }) : (tensor<128x128xf32, #[[LINEAR]]>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[LINEAR]]}>>
  // CHECK-NEXT: %[[R1:[^ ,:)#]+]] = ttg.convert_layout %[[R0]] : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[LINEAR]]}>> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[MMA]]}>>
  // CHECK-NEXT: tt.return %[[R1]] : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[MMA]]}>>
  // CHECK-NEXT: }
  tt.func @fragment(%x: tensor<128x128xf32, #M>) -> tensor<128xf32, #M1> {
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%s: f32, %t: f32):
      %u = arith.addf %s, %t : f32
      tt.reduce.return %u : f32
    }) : (tensor<128x128xf32, #M>) -> tensor<128xf32, #M1>
    tt.return %r : tensor<128xf32, #M1>
  }
  // So does a linear layout, from the load on.
  // CHECK-LABEL: tt.func @linear(%p: tensor<128x128x!tt.ptr<f32>, #{{[^ ,>)]+}}>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #{{[^ ,>)]+}}}>> {
  // CHECK-NEXT: %[[X:[^ ,:)#]+]] = ttg.convert_layout %p : tensor<128x128x!tt.ptr<f32>, #[[LINEAR1]]> -> tensor<128x128x!tt.ptr<f32>, #[[LINEAR2]]>
  // CHECK-NEXT: %[[X0:[^ ,:)#]+]] = tt.load %[[X]] : tensor<128x128x!tt.ptr<f32>, #[[LINEAR2]]>
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = "tt.reduce"(%[[X0]]) <{axis = 1 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[S:[^ ,:)#]+]]: f32, %[[T:[^ ,:)#]+]]: f32):
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.addf %[[S]], %[[T]] : f32
  // CHECK-NEXT: tt.reduce.return %[[U]] : f32
  // CHECK-NEXT: }) : (tensor<128x128xf32, #[[LINEAR2]]>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[LINEAR2]]}>>
  // CHECK-NEXT: %[[R1:[^ ,:)#]+]] = ttg.convert_layout %[[R]] : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[LINEAR2]]}>> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[LINEAR1]]}>>
  // CHECK-NEXT: tt.return %[[R1]] : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[LINEAR1]]}>>
  // CHECK-NEXT: }
  tt.func @linear(%p: tensor<128x128x!tt.ptr<f32>, #G>) -> tensor<128xf32, #G1> {
    %x = tt.load %p : tensor<128x128x!tt.ptr<f32>, #G>
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%s: f32, %t: f32):
      %u = arith.addf %s, %t : f32
      tt.reduce.return %u : f32
    }) : (tensor<128x128xf32, #G>) -> tensor<128xf32, #G1>
    tt.return %r : tensor<128xf32, #G1>
  }
  // Blocks that are interleaved have no part of their own; nor is there another layout for operands of an instruction.
  // CHECK-LABEL: tt.func @interleaved(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #{{[^ ,>)]+}}}>> {
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[S:[^ ,:)#]+]]: f32, %[[T:[^ ,:)#]+]]: f32):
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.addf %[[S]], %[[T]] : f32
  // CHECK-NEXT: tt.reduce.return %[[U]] : f32
  // CHECK-NEXT: }) : (tensor<128x128xf32, #[[LINEAR3]]>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[LINEAR3]]}>>
  // CHECK-NEXT: tt.return %[[R]] : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[LINEAR3]]}>>
  // CHECK-NEXT: }
  tt.func @interleaved(%x: tensor<128x128xf32, #I>) -> tensor<128xf32, #I1> {
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%s: f32, %t: f32):
      %u = arith.addf %s, %t : f32
      tt.reduce.return %u : f32
    }) : (tensor<128x128xf32, #I>) -> tensor<128xf32, #I1>
    tt.return %r : tensor<128xf32, #I1>
  }
  // CHECK-LABEL: tt.func @operand(%x: tensor<128x128xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}, kWidth = 2}>>) -> tensor<128xf16, #ttg.slice<{dim = 1, parent = #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}, kWidth = 2}>}>> {
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[S:[^ ,:)#]+]]: f16, %[[T:[^ ,:)#]+]]: f16):
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.addf %[[S]], %[[T]] : f16
  // CHECK-NEXT: tt.reduce.return %[[U]] : f16
  // CHECK-NEXT: }) : (tensor<128x128xf16, #ttg.dot_op<{opIdx = 0, parent = #[[MMA1]], kWidth = 2}>>) -> tensor<128xf16, #ttg.slice<{dim = 1, parent = #ttg.dot_op<{opIdx = 0, parent = #[[MMA1]], kWidth = 2}>}>>
  // CHECK-NEXT: tt.return %[[R]] : tensor<128xf16, #ttg.slice<{dim = 1, parent = #ttg.dot_op<{opIdx = 0, parent = #[[MMA1]], kWidth = 2}>}>>
  // CHECK-NEXT: }
  tt.func @operand(%x: tensor<128x128xf16, #O>) -> tensor<128xf16, #O1> {
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%s: f16, %t: f16):
      %u = arith.addf %s, %t : f16
      tt.reduce.return %u : f16
    }) : (tensor<128x128xf16, #O>) -> tensor<128xf16, #O1>
    tt.return %r : tensor<128xf16, #O1>
  }
}
// -----

// CHECK: #[[BLOCKED:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
#C = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#A = #ttg.dot_op<{opIdx = 0, parent = #C}>
#B = #ttg.dot_op<{opIdx = 1, parent = #C}>
#C1 = #ttg.slice<{dim = 1, parent = #C}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A block alone has nothing to share.
  // CHECK-LABEL: tt.func @alone(%a: tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #{{[^ ,>)]+}}}>>, %b: tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #{{[^ ,>)]+}}}>>, %c: tensor<128x128xf32, #{{[^ ,>)]+}}>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #{{[^ ,>)]+}}}>> {
  // CHECK-NEXT: %[[D:[^ ,:)#]+]] = tt.dot %a, %b, %c : tensor<128x32xf16, #ttg.dot_op<{opIdx = 0, parent = #[[BLOCKED]]}>> * tensor<32x128xf16, #ttg.dot_op<{opIdx = 1, parent = #[[BLOCKED]]}>> -> tensor<128x128xf32, #[[BLOCKED]]>
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = "tt.reduce"(%[[D]]) <{axis = 1 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[S:[^ ,:)#]+]]: f32, %[[T:[^ ,:)#]+]]: f32):
  // CHECK-NEXT: %[[U:[^ ,:)#]+]] = arith.addf %[[S]], %[[T]] : f32
  // CHECK-NEXT: tt.reduce.return %[[U]] : f32
  // CHECK-NEXT: }) : (tensor<128x128xf32, #[[BLOCKED]]>) -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: tt.return %[[R]] : tensor<128xf32, #ttg.slice<{dim = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: }
  tt.func @alone(%a: tensor<128x32xf16, #A>, %b: tensor<32x128xf16, #B>, %c: tensor<128x128xf32, #C>) -> tensor<128xf32, #C1> {
    %d = tt.dot %a, %b, %c : tensor<128x32xf16, #A> * tensor<32x128xf16, #B> -> tensor<128x128xf32, #C>
    %r = "tt.reduce"(%d) <{axis = 1 : i32}> ({
    ^bb0(%s: f32, %t: f32):
      %u = arith.addf %s, %t : f32
      tt.reduce.return %u : f32
    }) : (tensor<128x128xf32, #C>) -> tensor<128xf32, #C1>
    tt.return %r : tensor<128xf32, #C1>
  }
}
