// Stores follow what a block has computed.
// BLESSED: Triton 3.9's pass gives the same for each module.
// RUN: ttc opt %s -split-input-file --triton-nvidia-gpu-optimize-cta-locality | FileCheck %s --match-full-lines
// CHECK: #[[BLOCKED:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}1, 0]]}>
// CHECK-NEXT: #[[BLOCKED1:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [0, 1], CGALayout = {{\[\[}}0, 1]]}>
// CHECK-NEXT: #[[BLOCKED2:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [0, 1], CGALayout = {{\[\[}}1, 0]]}>
// CHECK-NEXT: #[[BLOCKED3:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}1, 0]]}>
// CHECK-NEXT: #[[BLOCKED4:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = {{\[\[}}0, 1]]}>
// CHECK-NEXT: #[[BLOCKED5:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0], CGALayout = {{\[\[}}0, 1]]}>
// CHECK-NEXT: #[[GENERICLINEAR:[^ ,>)]+]] = #ttg.generic_linear<{register = {{\[\[}}0, 0, 8], [0, 0, 16], [0, 0, 32], [0, 16, 0], [0, 32, 0], [0, 64, 0]], lane = {{\[\[}}0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0]], warp = {{\[\[}}0, 4, 0], [0, 8, 0]], block = {{\[\[}}0, 0, 64]]}>
// CHECK-NEXT: #[[LINEAR:[^ ,>)]+]] = #ttg.linear<{register = {{\[\[}}0, 8], [0, 16], [0, 32], [16, 0], [32, 0], [64, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = {{\[\[}}4, 0], [8, 0]], block = {{\[\[}}0, 64]]}>
// CHECK-NEXT: #[[LINEAR1:[^ ,>)]+]] = #ttg.linear<{register = {{\[\[}}0, 8], [0, 16], [0, 32], [16, 0], [32, 0], [0, 0], [0, 64]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = {{\[\[}}4, 0], [8, 0]], block = {{\[\[}}64, 0]]}>
// CHECK-NEXT: #[[MMA:[^ ,>)]+]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = {{\[\[}}1, 0]], instrShape = [16, 64, 16]}>
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {

#P = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#O = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [0, 1], CGALayout = [[0, 1]]}>
#S = #ttg.slice<{dim = 1, parent = #P}>
#Q = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>
#Q1 = #ttg.slice<{dim = 1, parent = #Q}>
#W = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>
#M = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CGALayout = [[1, 0]], instrShape = [16, 64, 16]}>
#G = #ttg.linear<{register = [[0, 8], [0, 16], [0, 32], [16, 0], [32, 0], [64, 0]], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = [[0, 64]]}>
#N = #ttg.generic_linear<{register = [[0, 0, 8], [0, 0, 16], [0, 0, 32], [0, 16, 0], [0, 32, 0], [0, 64, 0]], lane = [[0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0]], warp = [[0, 4, 0], [0, 8, 0]], block = [[0, 0, 64]]}>
#N0 = #ttg.slice<{dim = 0, parent = #N}>
#X = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0], CGALayout = [[0, 1]]}>
#X0 = #ttg.slice<{dim = 0, parent = #X}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The store keeps its layout within a block, and takes what the blocks have.
  // CHECK-LABEL: tt.func @stored(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>, %p: !tt.ptr<f32>, %n: i32) {
  // CHECK-NEXT: %[[Q:[^ ,:)#]+]] = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[M:[^ ,:)#]+]] = arith.constant dense<true> : tensor<128x128xi1, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = ttg.convert_layout %[[Q]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]> -> tensor<128x128x!tt.ptr<f32>, #[[BLOCKED2]]>
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = ttg.convert_layout %[[M]] : tensor<128x128xi1, #[[BLOCKED1]]> -> tensor<128x128xi1, #[[BLOCKED2]]>
  // CHECK-NEXT: tt.store %[[V0]], %[[V1]], %[[V2]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED2]]>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func @stored(%x: tensor<128x128xf32, #P>, %p: !tt.ptr<f32>, %n: i32) {
    %y = ttg.convert_layout %x : tensor<128x128xf32, #P> -> tensor<128x128xf32, #O>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #O>
    %m = arith.constant dense<true> : tensor<128x128xi1, #O>
    tt.store %q, %y, %m : tensor<128x128x!tt.ptr<f32>, #O>
    tt.return
  }
  // Each store gets its own; another user keeps the conversion.
  // CHECK-LABEL: tt.func @twice(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>, %p: !tt.ptr<f32>) {
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[Q:[^ ,:)#]+]] = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = ttg.convert_layout %[[Q]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]> -> tensor<128x128x!tt.ptr<f32>, #[[BLOCKED2]]>
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: tt.store %[[V0]], %[[V1]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED2]]>
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = ttg.convert_layout %[[Q]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]> -> tensor<128x128x!tt.ptr<f32>, #[[BLOCKED2]]>
  // CHECK-NEXT: %[[V3:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: tt.store %[[V2]], %[[V3]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED2]]>
  // CHECK-NEXT: tt.print "y" {hex = false, isSigned = array<i32: 0>} : %[[Y]] : tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func @twice(%x: tensor<128x128xf32, #P>, %p: !tt.ptr<f32>) {
    %y = ttg.convert_layout %x : tensor<128x128xf32, #P> -> tensor<128x128xf32, #O>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #O>
    tt.store %q, %y : tensor<128x128x!tt.ptr<f32>, #O>
    tt.store %q, %y : tensor<128x128x!tt.ptr<f32>, #O>
    tt.print "y" {hex = false, isSigned = array<i32: 0>} : %y : tensor<128x128xf32, #O>
    tt.return
  }
  // Pointers that cannot be computed anew decide.
  // CHECK-LABEL: tt.func @pointers(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>, %q: tensor<128x128x!tt.ptr<f32>, #{{[^ ,>)]+}}>) {
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: tt.store %q, %[[Y]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func @pointers(%x: tensor<128x128xf32, #P>, %q: tensor<128x128x!tt.ptr<f32>, #O>) {
    %y = ttg.convert_layout %x : tensor<128x128xf32, #P> -> tensor<128x128xf32, #O>
    tt.store %q, %y : tensor<128x128x!tt.ptr<f32>, #O>
    tt.return
  }
  // So does a mask that would have to be loaded again.
  // CHECK-LABEL: tt.func @mask(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>, %p: !tt.ptr<f32>, %mp: tensor<128x128x!tt.ptr<i1>, #{{[^ ,>)]+}}>) {
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[Q:[^ ,:)#]+]] = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[M:[^ ,:)#]+]] = tt.load %mp : tensor<128x128x!tt.ptr<i1>, #[[BLOCKED1]]>
  // CHECK-NEXT: tt.store %[[Q]], %[[Y]], %[[M]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func @mask(%x: tensor<128x128xf32, #P>, %p: !tt.ptr<f32>, %mp: tensor<128x128x!tt.ptr<i1>, #O>) {
    %y = ttg.convert_layout %x : tensor<128x128xf32, #P> -> tensor<128x128xf32, #O>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #O>
    %m = tt.load %mp : tensor<128x128x!tt.ptr<i1>, #O>
    tt.store %q, %y, %m : tensor<128x128x!tt.ptr<f32>, #O>
    tt.return
  }
  // Within blocks elements may move.
  // CHECK-LABEL: tt.func @within(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>, %p: !tt.ptr<f32>) {
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED3]]>
  // CHECK-NEXT: %[[Q:[^ ,:)#]+]] = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #[[BLOCKED3]]>
  // CHECK-NEXT: tt.store %[[Q]], %[[Y]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED3]]>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func @within(%x: tensor<128x128xf32, #P>, %p: !tt.ptr<f32>) {
    %y = ttg.convert_layout %x : tensor<128x128xf32, #P> -> tensor<128x128xf32, #W>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #W>
    tt.store %q, %y : tensor<128x128x!tt.ptr<f32>, #W>
    tt.return
  }
  // From the result of a matrix instruction, and to a linear layout.
  // CHECK-LABEL: tt.func @fragment(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>, %p: !tt.ptr<f32>) {
  // CHECK-NEXT: %[[Q:[^ ,:)#]+]] = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = ttg.convert_layout %[[Q]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]> -> tensor<128x128x!tt.ptr<f32>, #[[BLOCKED2]]>
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[MMA]]> -> tensor<128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: tt.store %[[V0]], %[[V1]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED2]]>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func @fragment(%x: tensor<128x128xf32, #M>, %p: !tt.ptr<f32>) {
    %y = ttg.convert_layout %x : tensor<128x128xf32, #M> -> tensor<128x128xf32, #O>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #O>
    tt.store %q, %y : tensor<128x128x!tt.ptr<f32>, #O>
    tt.return
  }
  // CHECK-LABEL: tt.func @linear(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>, %p: !tt.ptr<f32>) {
  // CHECK-NEXT: %[[Q:[^ ,:)#]+]] = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #[[LINEAR]]>
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = ttg.convert_layout %[[Q]] : tensor<128x128x!tt.ptr<f32>, #[[LINEAR]]> -> tensor<128x128x!tt.ptr<f32>, #[[LINEAR1]]>
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[LINEAR1]]>
  // CHECK-NEXT: tt.store %[[V0]], %[[V1]] : tensor<128x128x!tt.ptr<f32>, #[[LINEAR1]]>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func @linear(%x: tensor<128x128xf32, #P>, %p: !tt.ptr<f32>) {
    %y = ttg.convert_layout %x : tensor<128x128xf32, #P> -> tensor<128x128xf32, #G>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #G>
    tt.store %q, %y : tensor<128x128x!tt.ptr<f32>, #G>
    tt.return
  }
  // Rows of a reduction: the slice's parent gets the blocks.
  // CHECK-LABEL: tt.func @rows(%x: tensor<128xf32, #ttg.slice<{dim = 1, parent = #{{[^ ,>)]+}}}>>, %p: !tt.ptr<f32>) {
  // CHECK-NEXT: %[[Q:[^ ,:)#]+]] = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #[[BLOCKED4]]}>>
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = ttg.convert_layout %[[Q]] : tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #[[BLOCKED4]]}>> -> tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: tt.store %[[V0]], %x : tensor<128x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #[[BLOCKED]]}>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func @rows(%x: tensor<128xf32, #S>, %p: !tt.ptr<f32>) {
    %y = ttg.convert_layout %x : tensor<128xf32, #S> -> tensor<128xf32, #Q1>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #Q1>
    tt.store %q, %y : tensor<128x!tt.ptr<f32>, #Q1>
    tt.return
  }
  // Not of a layout that may move along several axes.
  // CHECK-LABEL: tt.func @generic(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>, %p: !tt.ptr<f32>) {
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #ttg.slice<{dim = 0, parent = #[[GENERICLINEAR]]}>>
  // CHECK-NEXT: %[[Q:[^ ,:)#]+]] = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #[[GENERICLINEAR]]}>>
  // CHECK-NEXT: tt.store %[[Q]], %[[Y]] : tensor<128x128x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #[[GENERICLINEAR]]}>>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func @generic(%x: tensor<128x128xf32, #P>, %p: !tt.ptr<f32>) {
    %y = ttg.convert_layout %x : tensor<128x128xf32, #P> -> tensor<128x128xf32, #N0>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #N0>
    tt.store %q, %y : tensor<128x128x!tt.ptr<f32>, #N0>
    tt.return
  }
  // An atomic gives back a value, whose layout others read.
  // CHECK-LABEL: tt.func @atomic(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>, %p: !tt.ptr<f32>) {
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[Q:[^ ,:)#]+]] = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[R:[^ ,:)#]+]] = tt.atomic_rmw fadd, relaxed, gpu, %[[Q]], %[[Y]] : (tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]>, tensor<128x128xf32, #[[BLOCKED1]]>) -> tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func @atomic(%x: tensor<128x128xf32, #P>, %p: !tt.ptr<f32>) {
    %y = ttg.convert_layout %x : tensor<128x128xf32, #P> -> tensor<128x128xf32, #O>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #O>
    %r = tt.atomic_rmw fadd, relaxed, gpu, %q, %y : (tensor<128x128x!tt.ptr<f32>, #O>, tensor<128x128xf32, #O>) -> tensor<128x128xf32, #O>
    tt.return
  }
  // Stores through descriptors take any layout; the row numbers of a scatter keep theirs.
  // CHECK-LABEL: tt.func @descriptors(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>, %d: !tt.tensordesc<128x128xf32>, %s: !tt.tensordesc<1x128xf32>, %i: i32, %r: tensor<128xi32, #ttg.slice<{dim = 0, parent = #{{[^ ,>)]+}}}>>) {
  // CHECK-NEXT: %[[V0:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: tt.descriptor_store %d[%i, %i], %[[V0]] : !tt.tensordesc<128x128xf32>, tensor<128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: %[[V1:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: tt.descriptor_reduce add, %d[%i, %i], %[[V1]] : !tt.tensordesc<128x128xf32>, tensor<128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: %[[V2:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: tt.descriptor_scatter %s[%r, %i], %[[V2]] : !tt.tensordesc<1x128xf32>, tensor<128xi32, #ttg.slice<{dim = 0, parent = #[[BLOCKED5]]}>>, i32, tensor<128x128xf32, #[[BLOCKED2]]>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func @descriptors(%x: tensor<128x128xf32, #P>, %d: !tt.tensordesc<128x128xf32>, %s: !tt.tensordesc<1x128xf32>, %i: i32, %r: tensor<128xi32, #X0>) {
    %y = ttg.convert_layout %x : tensor<128x128xf32, #P> -> tensor<128x128xf32, #O>
    tt.descriptor_store %d[%i, %i], %y : !tt.tensordesc<128x128xf32>, tensor<128x128xf32, #O>
    tt.descriptor_reduce add, %d[%i, %i], %y : !tt.tensordesc<128x128xf32>, tensor<128x128xf32, #O>
    tt.descriptor_scatter %s[%r, %i], %y : !tt.tensordesc<1x128xf32>, tensor<128xi32, #X0>, i32, tensor<128x128xf32, #O>
    tt.return
  }
}
// -----

// CHECK: #[[BLOCKED:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-NEXT: #[[BLOCKED1:[^ ,>)]+]] = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [0, 1]}>
// CHECK-NEXT: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
#P = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#O = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Of one block nothing changes.
  // CHECK-LABEL: tt.func @alone(%x: tensor<128x128xf32, #{{[^ ,>)]+}}>, %p: !tt.ptr<f32>) {
  // CHECK-NEXT: %[[Y:[^ ,:)#]+]] = ttg.convert_layout %x : tensor<128x128xf32, #[[BLOCKED]]> -> tensor<128x128xf32, #[[BLOCKED1]]>
  // CHECK-NEXT: %[[Q:[^ ,:)#]+]] = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]>
  // CHECK-NEXT: tt.store %[[Q]], %[[Y]] : tensor<128x128x!tt.ptr<f32>, #[[BLOCKED1]]>
  // CHECK-NEXT: tt.return
  // CHECK-NEXT: }
  tt.func @alone(%x: tensor<128x128xf32, #P>, %p: !tt.ptr<f32>) {
    %y = ttg.convert_layout %x : tensor<128x128xf32, #P> -> tensor<128x128xf32, #O>
    %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>, #O>
    tt.store %q, %y : tensor<128x128x!tt.ptr<f32>, #O>
    tt.return
  }
}
