// What only the next iteration needs of a product comes behind the copies for iterations to come.
// RUN: ttc opt %s --ttc-sums-behind-copies | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 32]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The scaled sum moves, and the pointers that the copy needs do not.
  // CHECK-LABEL: @scaled(
  // CHECK: scf.for
  // CHECK: %[[W:[a-z0-9_]+]] = ttng.warp_group_dot_wait
  // CHECK-NEXT: tt.addptr
  // CHECK-NEXT: ttg.async_copy_global_to_local
  // CHECK-NEXT: ttg.async_commit_group
  // CHECK-NEXT: %[[M:[a-z0-9_]+]] = arith.mulf %[[W]],
  // CHECK-NEXT: %[[S:[a-z0-9_]+]] = arith.addf %{{[a-z0-9_]+}}, %[[M]]
  // CHECK-NEXT: scf.yield %[[S]]
  tt.func public @scaled(%p: tensor<64x32x!tt.ptr<f8E4M3FN>, #blocked>, %step: tensor<64x32xi32, #blocked>, %a: !ttg.memdesc<64x32xf8E4M3FN, #shared, #smem, mutable>, %b: !ttg.memdesc<32x64xf8E4M3FN, #turned, #smem, mutable>, %scale: tensor<64x64xf32, #mma>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %at = %p) -> (tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f8E4M3FN>, #blocked>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero {isAsync = true, maxNumImpreciseAcc = 1073741824 : i32} : !ttg.memdesc<64x32xf8E4M3FN, #shared, #smem, mutable> * !ttg.memdesc<32x64xf8E4M3FN, #turned, #smem, mutable> -> tensor<64x64xf32, #mma>
      %w = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
      %m = arith.mulf %w, %scale : tensor<64x64xf32, #mma>
      %s = arith.addf %acc, %m : tensor<64x64xf32, #mma>
      %next = tt.addptr %at, %step : tensor<64x32x!tt.ptr<f8E4M3FN>, #blocked>, tensor<64x32xi32, #blocked>
      %t = ttg.async_copy_global_to_local %next, %a : tensor<64x32x!tt.ptr<f8E4M3FN>, #blocked> -> <64x32xf8E4M3FN, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %t
      scf.yield %s, %next : tensor<64x64xf32, #mma>, tensor<64x32x!tt.ptr<f8E4M3FN>, #blocked>
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }

  // A sum that decides what is copied stays in front of the copy.
  // CHECK-LABEL: @decides(
  // CHECK: scf.for
  // CHECK: %[[W:[a-z0-9_]+]] = ttng.warp_group_dot_wait
  // CHECK-NEXT: %[[S:[a-z0-9_]+]] = arith.addf %{{[a-z0-9_]+}}, %[[W]]
  // CHECK-NEXT: "tt.reduce"(%[[S]])
  // CHECK: ttg.async_copy_global_to_local
  tt.func public @decides(%p: tensor<64x32x!tt.ptr<f8E4M3FN>, #blocked>, %a: !ttg.memdesc<64x32xf8E4M3FN, #shared, #smem, mutable>, %b: !ttg.memdesc<32x64xf8E4M3FN, #turned, #smem, mutable>, %bound: tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %zero {isAsync = true, maxNumImpreciseAcc = 1073741824 : i32} : !ttg.memdesc<64x32xf8E4M3FN, #shared, #smem, mutable> * !ttg.memdesc<32x64xf8E4M3FN, #turned, #smem, mutable> -> tensor<64x64xf32, #mma>
      %w = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
      %s = arith.addf %acc, %w : tensor<64x64xf32, #mma>
      %most = "tt.reduce"(%s) <{axis = 1 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %z = arith.maxnumf %x, %y : f32
        tt.reduce.return %z : f32
      }) : (tensor<64x64xf32, #mma>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %wants = arith.cmpf olt, %most, %bound : tensor<64xf32, #ttg.slice<{dim = 1, parent = #mma}>>
      %rows = ttg.convert_layout %wants : tensor<64xi1, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64xi1, #ttg.slice<{dim = 1, parent = #blocked}>>
      %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi1, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi1, #blocked>
      %mask = tt.broadcast %column : tensor<64x1xi1, #blocked> -> tensor<64x32xi1, #blocked>
      %t = ttg.async_copy_global_to_local %p, %a mask %mask : tensor<64x32x!tt.ptr<f8E4M3FN>, #blocked> -> <64x32xf8E4M3FN, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %t
      scf.yield %s : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
