// Products that start from zero are told so. The parts with ARGS are also run before and after, with these arguments behind %out.
// RUN: ttc opt %s --split-input-file --tritongpu-optimize-accumulator-init --canonicalize --cse | FileCheck %s
// RUN: ttc opt %s --split-input-file --tritongpu-optimize-accumulator-init=resets-only=true --canonicalize --cse | FileCheck %s --check-prefix=RESETS
// KEEPS: tritongpu-optimize-accumulator-init

// The accumulator is zero.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @constant(
// CHECK: %[[NO:.*]] = arith.constant false
// CHECK: ttng.warp_group_dot %x, %y, %{{.*}}, %[[NO]] :
// CHECK-NOT: arith.select
// ARGS: 5 2
// ARGS: 4 2
// ARGS: 5 1
// ARGS: 0 2
// RESETS-LABEL: @constant(
// RESETS: ttng.warp_group_dot %x, %y, %{{[a-z0-9_]*}} :
tt.func public @constant(%out: !tt.ptr<f32>, %n: i32, %every: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
  %some = arith.constant dense<2.000000e+00> : tensor<64x16xf32, #mma>
  %a = arith.constant dense<1.000000e+00> : tensor<64x16xf16, #mma>
  %b = arith.constant dense<5.000000e-01> : tensor<16x16xf16, #mma>
  %x = ttg.local_alloc %a : (tensor<64x16xf16, #mma>) -> !ttg.memdesc<64x16xf16, #row, #smem>
  %y = ttg.local_alloc %b : (tensor<16x16xf16, #mma>) -> !ttg.memdesc<16x16xf16, #row, #smem>
  %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
  %cols = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>>
  %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
  %cols1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x16xi32, #mma>
  %wide = tt.splat %c16 : i32 -> tensor<64x1xi32, #mma>
  %lines = arith.muli %rows1, %wide : tensor<64x1xi32, #mma>
  %lines2 = tt.broadcast %lines : tensor<64x1xi32, #mma> -> tensor<64x16xi32, #mma>
  %cols2 = tt.broadcast %cols1 : tensor<1x16xi32, #mma> -> tensor<64x16xi32, #mma>
  %offsets = arith.addi %lines2, %cols2 : tensor<64x16xi32, #mma>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #mma>
  %ptrs = tt.addptr %base, %offsets : tensor<64x16x!tt.ptr<f32>, #mma>, tensor<64x16xi32, #mma>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %d = ttng.warp_group_dot %x, %y, %zero : !ttg.memdesc<64x16xf16, #row, #smem> * !ttg.memdesc<16x16xf16, #row, #smem> -> tensor<64x16xf32, #mma>
    tt.store %ptrs, %d : tensor<64x16x!tt.ptr<f32>, #mma>
  }
  tt.return
}
}

// -----

// The loop starts at zero: only its first iteration.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @starts_at_zero(
// CHECK: %[[NO:.*]] = arith.constant false
// CHECK: %[[YES:.*]] = arith.constant true
// CHECK: scf.for %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[USE:.*]] = %[[NO]])
// CHECK: ttng.warp_group_dot %x, %y, %[[ACC]], %[[USE]] :
// CHECK: scf.yield %{{.*}}, %[[YES]] :
// ARGS: 5 2
// ARGS: 4 2
// ARGS: 5 1
// ARGS: 0 2
// RESETS-LABEL: @starts_at_zero(
// RESETS: ttng.warp_group_dot %x, %y, %{{[a-z0-9_]*}} :
tt.func public @starts_at_zero(%out: !tt.ptr<f32>, %n: i32, %every: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
  %some = arith.constant dense<2.000000e+00> : tensor<64x16xf32, #mma>
  %a = arith.constant dense<1.000000e+00> : tensor<64x16xf16, #mma>
  %b = arith.constant dense<5.000000e-01> : tensor<16x16xf16, #mma>
  %x = ttg.local_alloc %a : (tensor<64x16xf16, #mma>) -> !ttg.memdesc<64x16xf16, #row, #smem>
  %y = ttg.local_alloc %b : (tensor<16x16xf16, #mma>) -> !ttg.memdesc<16x16xf16, #row, #smem>
  %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
  %cols = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>>
  %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
  %cols1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x16xi32, #mma>
  %wide = tt.splat %c16 : i32 -> tensor<64x1xi32, #mma>
  %lines = arith.muli %rows1, %wide : tensor<64x1xi32, #mma>
  %lines2 = tt.broadcast %lines : tensor<64x1xi32, #mma> -> tensor<64x16xi32, #mma>
  %cols2 = tt.broadcast %cols1 : tensor<1x16xi32, #mma> -> tensor<64x16xi32, #mma>
  %offsets = arith.addi %lines2, %cols2 : tensor<64x16xi32, #mma>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #mma>
  %ptrs = tt.addptr %base, %offsets : tensor<64x16x!tt.ptr<f32>, #mma>, tensor<64x16xi32, #mma>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xf32, #mma>) : i32 {
    %d = ttng.warp_group_dot %x, %y, %acc : !ttg.memdesc<64x16xf16, #row, #smem> * !ttg.memdesc<16x16xf16, #row, #smem> -> tensor<64x16xf32, #mma>
    scf.yield %d : tensor<64x16xf32, #mma>
  }
    tt.store %ptrs, %r : tensor<64x16x!tt.ptr<f32>, #mma>
  tt.return
}
}

// -----

// A select in front. Its flag is for this product only, so the loop need not carry it.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @select_in_front(
// CHECK: scf.for %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK: %[[KEEP:.*]] = arith.cmpi ne
// CHECK-NOT: arith.select
// CHECK: ttng.warp_group_dot %x, %y, %[[ACC]], %[[KEEP]] :
// ARGS: 5 2
// ARGS: 4 2
// ARGS: 5 1
// ARGS: 0 2
tt.func public @select_in_front(%out: !tt.ptr<f32>, %n: i32, %every: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
  %some = arith.constant dense<2.000000e+00> : tensor<64x16xf32, #mma>
  %a = arith.constant dense<1.000000e+00> : tensor<64x16xf16, #mma>
  %b = arith.constant dense<5.000000e-01> : tensor<16x16xf16, #mma>
  %x = ttg.local_alloc %a : (tensor<64x16xf16, #mma>) -> !ttg.memdesc<64x16xf16, #row, #smem>
  %y = ttg.local_alloc %b : (tensor<16x16xf16, #mma>) -> !ttg.memdesc<16x16xf16, #row, #smem>
  %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
  %cols = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>>
  %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
  %cols1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x16xi32, #mma>
  %wide = tt.splat %c16 : i32 -> tensor<64x1xi32, #mma>
  %lines = arith.muli %rows1, %wide : tensor<64x1xi32, #mma>
  %lines2 = tt.broadcast %lines : tensor<64x1xi32, #mma> -> tensor<64x16xi32, #mma>
  %cols2 = tt.broadcast %cols1 : tensor<1x16xi32, #mma> -> tensor<64x16xi32, #mma>
  %offsets = arith.addi %lines2, %cols2 : tensor<64x16xi32, #mma>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #mma>
  %ptrs = tt.addptr %base, %offsets : tensor<64x16x!tt.ptr<f32>, #mma>, tensor<64x16xi32, #mma>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %some) -> (tensor<64x16xf32, #mma>) : i32 {
    %m = arith.remsi %i, %every : i32
    %new = arith.cmpi eq, %m, %c0 : i32
    %c = arith.select %new, %zero, %acc : tensor<64x16xf32, #mma>
    %d = ttng.warp_group_dot %x, %y, %c : !ttg.memdesc<64x16xf16, #row, #smem> * !ttg.memdesc<16x16xf16, #row, #smem> -> tensor<64x16xf32, #mma>
    scf.yield %d : tensor<64x16xf32, #mma>
  }
    tt.store %ptrs, %r : tensor<64x16x!tt.ptr<f32>, #mma>
  tt.return
}
}

// -----

// A branch in front that keeps the value where its condition holds.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @branch_in_front(
// CHECK: %[[NEW:.*]] = arith.cmpi eq
// CHECK-NOT: scf.if
// CHECK: ttng.warp_group_dot %x, %y, %{{.*}}, %[[NEW]] :
// ARGS: 5 2
// ARGS: 4 2
// ARGS: 5 1
// ARGS: 0 2
tt.func public @branch_in_front(%out: !tt.ptr<f32>, %n: i32, %every: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
  %some = arith.constant dense<2.000000e+00> : tensor<64x16xf32, #mma>
  %a = arith.constant dense<1.000000e+00> : tensor<64x16xf16, #mma>
  %b = arith.constant dense<5.000000e-01> : tensor<16x16xf16, #mma>
  %x = ttg.local_alloc %a : (tensor<64x16xf16, #mma>) -> !ttg.memdesc<64x16xf16, #row, #smem>
  %y = ttg.local_alloc %b : (tensor<16x16xf16, #mma>) -> !ttg.memdesc<16x16xf16, #row, #smem>
  %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
  %cols = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>>
  %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
  %cols1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x16xi32, #mma>
  %wide = tt.splat %c16 : i32 -> tensor<64x1xi32, #mma>
  %lines = arith.muli %rows1, %wide : tensor<64x1xi32, #mma>
  %lines2 = tt.broadcast %lines : tensor<64x1xi32, #mma> -> tensor<64x16xi32, #mma>
  %cols2 = tt.broadcast %cols1 : tensor<1x16xi32, #mma> -> tensor<64x16xi32, #mma>
  %offsets = arith.addi %lines2, %cols2 : tensor<64x16xi32, #mma>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #mma>
  %ptrs = tt.addptr %base, %offsets : tensor<64x16x!tt.ptr<f32>, #mma>, tensor<64x16xi32, #mma>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %some) -> (tensor<64x16xf32, #mma>) : i32 {
    %m = arith.remsi %i, %every : i32
    %new = arith.cmpi eq, %m, %c0 : i32
    %c = scf.if %new -> (tensor<64x16xf32, #mma>) {
      scf.yield %acc : tensor<64x16xf32, #mma>
    } else {
      scf.yield %zero : tensor<64x16xf32, #mma>
    }
    %d = ttng.warp_group_dot %x, %y, %c : !ttg.memdesc<64x16xf16, #row, #smem> * !ttg.memdesc<16x16xf16, #row, #smem> -> tensor<64x16xf32, #mma>
    scf.yield %d : tensor<64x16xf32, #mma>
  }
    tt.store %ptrs, %r : tensor<64x16x!tt.ptr<f32>, #mma>
  tt.return
}
}

// -----

// A select behind: for the next iteration. The loop's result is not used, as in a loop over tiles.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @select_behind(
// CHECK: scf.for %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[USE:.*]] = %{{.*}})
// CHECK: %[[D:.*]] = ttng.warp_group_dot %x, %y, %[[ACC]], %[[USE]] :
// CHECK-NOT: arith.select
// CHECK: %[[KEEP:.*]] = arith.cmpi ne
// CHECK-NOT: arith.select
// CHECK: scf.yield %[[D]], %[[KEEP]] :
// CHECK: tt.return
// ARGS: 5 2
// ARGS: 4 2
// ARGS: 5 1
// ARGS: 0 2
// RESETS-LABEL: @select_behind(
// RESETS: ttng.warp_group_dot %x, %y, %{{[a-z0-9_]*}}, %{{[a-z0-9_]*}} :
tt.func public @select_behind(%out: !tt.ptr<f32>, %n: i32, %every: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
  %some = arith.constant dense<2.000000e+00> : tensor<64x16xf32, #mma>
  %a = arith.constant dense<1.000000e+00> : tensor<64x16xf16, #mma>
  %b = arith.constant dense<5.000000e-01> : tensor<16x16xf16, #mma>
  %x = ttg.local_alloc %a : (tensor<64x16xf16, #mma>) -> !ttg.memdesc<64x16xf16, #row, #smem>
  %y = ttg.local_alloc %b : (tensor<16x16xf16, #mma>) -> !ttg.memdesc<16x16xf16, #row, #smem>
  %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
  %cols = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>>
  %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
  %cols1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x16xi32, #mma>
  %wide = tt.splat %c16 : i32 -> tensor<64x1xi32, #mma>
  %lines = arith.muli %rows1, %wide : tensor<64x1xi32, #mma>
  %lines2 = tt.broadcast %lines : tensor<64x1xi32, #mma> -> tensor<64x16xi32, #mma>
  %cols2 = tt.broadcast %cols1 : tensor<1x16xi32, #mma> -> tensor<64x16xi32, #mma>
  %offsets = arith.addi %lines2, %cols2 : tensor<64x16xi32, #mma>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #mma>
  %ptrs = tt.addptr %base, %offsets : tensor<64x16x!tt.ptr<f32>, #mma>, tensor<64x16xi32, #mma>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xf32, #mma>) : i32 {
    %m = arith.remsi %i, %every : i32
    %new = arith.cmpi eq, %m, %c0 : i32
    %d = ttng.warp_group_dot %x, %y, %acc : !ttg.memdesc<64x16xf16, #row, #smem> * !ttg.memdesc<16x16xf16, #row, #smem> -> tensor<64x16xf32, #mma>
    scf.if %new {
      tt.store %ptrs, %d : tensor<64x16x!tt.ptr<f32>, #mma>
    }
    %c = arith.select %new, %zero, %d : tensor<64x16xf32, #mma>
    scf.yield %c : tensor<64x16xf32, #mma>
  }
  tt.return
}
}

// -----

// Behind the loop, the zeros of the last iteration come back. The flag starts at true, as the loop does not start at zero.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @branch_behind(
// CHECK: %[[YES:.*]] = arith.constant true
// CHECK: %[[R:.*]]:2 = scf.for %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[USE:.*]] = %[[YES]])
// CHECK: ttng.warp_group_dot %x, %y, %[[ACC]], %[[USE]] :
// CHECK: }
// CHECK: %[[LAST:.*]] = arith.select %[[R]]#1, %[[R]]#0, %{{.*}} :
// CHECK: tt.store %{{.*}}, %[[LAST]]
// ARGS: 5 2
// ARGS: 4 2
// ARGS: 5 1
// ARGS: 0 2
tt.func public @branch_behind(%out: !tt.ptr<f32>, %n: i32, %every: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
  %some = arith.constant dense<2.000000e+00> : tensor<64x16xf32, #mma>
  %a = arith.constant dense<1.000000e+00> : tensor<64x16xf16, #mma>
  %b = arith.constant dense<5.000000e-01> : tensor<16x16xf16, #mma>
  %x = ttg.local_alloc %a : (tensor<64x16xf16, #mma>) -> !ttg.memdesc<64x16xf16, #row, #smem>
  %y = ttg.local_alloc %b : (tensor<16x16xf16, #mma>) -> !ttg.memdesc<16x16xf16, #row, #smem>
  %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
  %cols = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>>
  %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
  %cols1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x16xi32, #mma>
  %wide = tt.splat %c16 : i32 -> tensor<64x1xi32, #mma>
  %lines = arith.muli %rows1, %wide : tensor<64x1xi32, #mma>
  %lines2 = tt.broadcast %lines : tensor<64x1xi32, #mma> -> tensor<64x16xi32, #mma>
  %cols2 = tt.broadcast %cols1 : tensor<1x16xi32, #mma> -> tensor<64x16xi32, #mma>
  %offsets = arith.addi %lines2, %cols2 : tensor<64x16xi32, #mma>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #mma>
  %ptrs = tt.addptr %base, %offsets : tensor<64x16x!tt.ptr<f32>, #mma>, tensor<64x16xi32, #mma>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %some) -> (tensor<64x16xf32, #mma>) : i32 {
    %m = arith.remsi %i, %every : i32
    %new = arith.cmpi eq, %m, %c0 : i32
    %d = ttng.warp_group_dot %x, %y, %acc : !ttg.memdesc<64x16xf16, #row, #smem> * !ttg.memdesc<16x16xf16, #row, #smem> -> tensor<64x16xf32, #mma>
    %c = scf.if %new -> (tensor<64x16xf32, #mma>) {
      scf.yield %zero : tensor<64x16xf32, #mma>
    } else {
      scf.yield %d : tensor<64x16xf32, #mma>
    }
    scf.yield %c : tensor<64x16xf32, #mma>
  }
    tt.store %ptrs, %r : tensor<64x16x!tt.ptr<f32>, #mma>
  tt.return
}
}

// -----

// Somebody else looks at the zeros: they stay. That the loop starts at zero is used.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @seen_by_others(
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[USE:.*]] = %{{.*}})
// CHECK: ttng.warp_group_dot %x, %y, %{{.*}}, %[[USE]] :
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor
// CHECK: tt.store
// ARGS: 5 2
// ARGS: 4 2
// ARGS: 5 1
// ARGS: 0 2
tt.func public @seen_by_others(%out: !tt.ptr<f32>, %n: i32, %every: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
  %some = arith.constant dense<2.000000e+00> : tensor<64x16xf32, #mma>
  %a = arith.constant dense<1.000000e+00> : tensor<64x16xf16, #mma>
  %b = arith.constant dense<5.000000e-01> : tensor<16x16xf16, #mma>
  %x = ttg.local_alloc %a : (tensor<64x16xf16, #mma>) -> !ttg.memdesc<64x16xf16, #row, #smem>
  %y = ttg.local_alloc %b : (tensor<16x16xf16, #mma>) -> !ttg.memdesc<16x16xf16, #row, #smem>
  %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
  %cols = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>>
  %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
  %cols1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x16xi32, #mma>
  %wide = tt.splat %c16 : i32 -> tensor<64x1xi32, #mma>
  %lines = arith.muli %rows1, %wide : tensor<64x1xi32, #mma>
  %lines2 = tt.broadcast %lines : tensor<64x1xi32, #mma> -> tensor<64x16xi32, #mma>
  %cols2 = tt.broadcast %cols1 : tensor<1x16xi32, #mma> -> tensor<64x16xi32, #mma>
  %offsets = arith.addi %lines2, %cols2 : tensor<64x16xi32, #mma>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #mma>
  %ptrs = tt.addptr %base, %offsets : tensor<64x16x!tt.ptr<f32>, #mma>, tensor<64x16xi32, #mma>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xf32, #mma>) : i32 {
    %m = arith.remsi %i, %every : i32
    %new = arith.cmpi eq, %m, %c0 : i32
    %d = ttng.warp_group_dot %x, %y, %acc : !ttg.memdesc<64x16xf16, #row, #smem> * !ttg.memdesc<16x16xf16, #row, #smem> -> tensor<64x16xf32, #mma>
    %c = arith.select %new, %zero, %d : tensor<64x16xf32, #mma>
    tt.store %ptrs, %c : tensor<64x16x!tt.ptr<f32>, #mma>
    scf.yield %c : tensor<64x16xf32, #mma>
  }
  tt.return
}
}

// -----

// The next product's accumulator is set in front of this product: that is not for this one.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @for_the_next(
// CHECK-NOT: i1)
// CHECK: %[[C:.*]] = arith.select
// CHECK: ttng.warp_group_dot %x, %y, %{{[a-z0-9_]*}} :
// CHECK: scf.yield %[[C]]
// ARGS: 5 2
// ARGS: 4 2
// ARGS: 5 1
// ARGS: 0 2
tt.func public @for_the_next(%out: !tt.ptr<f32>, %n: i32, %every: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
  %some = arith.constant dense<2.000000e+00> : tensor<64x16xf32, #mma>
  %a = arith.constant dense<1.000000e+00> : tensor<64x16xf16, #mma>
  %b = arith.constant dense<5.000000e-01> : tensor<16x16xf16, #mma>
  %x = ttg.local_alloc %a : (tensor<64x16xf16, #mma>) -> !ttg.memdesc<64x16xf16, #row, #smem>
  %y = ttg.local_alloc %b : (tensor<16x16xf16, #mma>) -> !ttg.memdesc<16x16xf16, #row, #smem>
  %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
  %cols = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>>
  %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
  %cols1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x16xi32, #mma>
  %wide = tt.splat %c16 : i32 -> tensor<64x1xi32, #mma>
  %lines = arith.muli %rows1, %wide : tensor<64x1xi32, #mma>
  %lines2 = tt.broadcast %lines : tensor<64x1xi32, #mma> -> tensor<64x16xi32, #mma>
  %cols2 = tt.broadcast %cols1 : tensor<1x16xi32, #mma> -> tensor<64x16xi32, #mma>
  %offsets = arith.addi %lines2, %cols2 : tensor<64x16xi32, #mma>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #mma>
  %ptrs = tt.addptr %base, %offsets : tensor<64x16x!tt.ptr<f32>, #mma>, tensor<64x16xi32, #mma>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %some) -> (tensor<64x16xf32, #mma>) : i32 {
    %m = arith.remsi %i, %every : i32
    %new = arith.cmpi eq, %m, %c0 : i32
    %c = arith.select %new, %zero, %some : tensor<64x16xf32, #mma>
    %d = ttng.warp_group_dot %x, %y, %acc : !ttg.memdesc<64x16xf16, #row, #smem> * !ttg.memdesc<16x16xf16, #row, #smem> -> tensor<64x16xf32, #mma>
    tt.store %ptrs, %d : tensor<64x16x!tt.ptr<f32>, #mma>
    scf.yield %c : tensor<64x16xf32, #mma>
  }
  tt.return
}
}

// -----

// What the branch keeps is made in it: it stays.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @made_inside(
// CHECK-NOT: i1)
// CHECK: ttng.warp_group_dot %x, %y, %{{[a-z0-9_]*}} :
// ARGS: 5 2
// ARGS: 4 2
// ARGS: 5 1
// ARGS: 0 2
tt.func public @made_inside(%out: !tt.ptr<f32>, %n: i32, %every: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
  %some = arith.constant dense<2.000000e+00> : tensor<64x16xf32, #mma>
  %a = arith.constant dense<1.000000e+00> : tensor<64x16xf16, #mma>
  %b = arith.constant dense<5.000000e-01> : tensor<16x16xf16, #mma>
  %x = ttg.local_alloc %a : (tensor<64x16xf16, #mma>) -> !ttg.memdesc<64x16xf16, #row, #smem>
  %y = ttg.local_alloc %b : (tensor<16x16xf16, #mma>) -> !ttg.memdesc<16x16xf16, #row, #smem>
  %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
  %cols = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>>
  %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
  %cols1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x16xi32, #mma>
  %wide = tt.splat %c16 : i32 -> tensor<64x1xi32, #mma>
  %lines = arith.muli %rows1, %wide : tensor<64x1xi32, #mma>
  %lines2 = tt.broadcast %lines : tensor<64x1xi32, #mma> -> tensor<64x16xi32, #mma>
  %cols2 = tt.broadcast %cols1 : tensor<1x16xi32, #mma> -> tensor<64x16xi32, #mma>
  %offsets = arith.addi %lines2, %cols2 : tensor<64x16xi32, #mma>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #mma>
  %ptrs = tt.addptr %base, %offsets : tensor<64x16x!tt.ptr<f32>, #mma>, tensor<64x16xi32, #mma>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %some) -> (tensor<64x16xf32, #mma>) : i32 {
    %m = arith.remsi %i, %every : i32
    %new = arith.cmpi eq, %m, %c0 : i32
    %d = ttng.warp_group_dot %x, %y, %acc : !ttg.memdesc<64x16xf16, #row, #smem> * !ttg.memdesc<16x16xf16, #row, #smem> -> tensor<64x16xf32, #mma>
    %c = scf.if %new -> (tensor<64x16xf32, #mma>) {
      scf.yield %zero : tensor<64x16xf32, #mma>
    } else {
      %e = arith.addf %d, %some : tensor<64x16xf32, #mma>
      scf.yield %e : tensor<64x16xf32, #mma>
    }
    scf.yield %c : tensor<64x16xf32, #mma>
  }
    tt.store %ptrs, %r : tensor<64x16x!tt.ptr<f32>, #mma>
  tt.return
}
}

// -----

// A product with a flag of its own, and one outside of loops.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @others(
// CHECK: ttng.warp_group_dot %x, %y, %{{[a-z0-9_]*}} :
// CHECK: scf.for
// CHECK: %[[NEW:.*]] = arith.cmpi eq
// CHECK: ttng.warp_group_dot %x, %y, %{{.*}}, %[[NEW]] :
// ARGS: 5 2
// ARGS: 4 2
// ARGS: 5 1
// ARGS: 0 2
tt.func public @others(%out: !tt.ptr<f32>, %n: i32, %every: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
  %some = arith.constant dense<2.000000e+00> : tensor<64x16xf32, #mma>
  %a = arith.constant dense<1.000000e+00> : tensor<64x16xf16, #mma>
  %b = arith.constant dense<5.000000e-01> : tensor<16x16xf16, #mma>
  %x = ttg.local_alloc %a : (tensor<64x16xf16, #mma>) -> !ttg.memdesc<64x16xf16, #row, #smem>
  %y = ttg.local_alloc %b : (tensor<16x16xf16, #mma>) -> !ttg.memdesc<16x16xf16, #row, #smem>
  %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
  %cols = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>>
  %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
  %cols1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x16xi32, #mma>
  %wide = tt.splat %c16 : i32 -> tensor<64x1xi32, #mma>
  %lines = arith.muli %rows1, %wide : tensor<64x1xi32, #mma>
  %lines2 = tt.broadcast %lines : tensor<64x1xi32, #mma> -> tensor<64x16xi32, #mma>
  %cols2 = tt.broadcast %cols1 : tensor<1x16xi32, #mma> -> tensor<64x16xi32, #mma>
  %offsets = arith.addi %lines2, %cols2 : tensor<64x16xi32, #mma>
  %base = tt.splat %out : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #mma>
  %ptrs = tt.addptr %base, %offsets : tensor<64x16x!tt.ptr<f32>, #mma>, tensor<64x16xi32, #mma>
  %o = ttng.warp_group_dot %x, %y, %zero : !ttg.memdesc<64x16xf16, #row, #smem> * !ttg.memdesc<16x16xf16, #row, #smem> -> tensor<64x16xf32, #mma>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xf32, #mma>) : i32 {
    %m = arith.remsi %i, %every : i32
    %new = arith.cmpi eq, %m, %c0 : i32
    %d = ttng.warp_group_dot %x, %y, %acc, %new : !ttg.memdesc<64x16xf16, #row, #smem> * !ttg.memdesc<16x16xf16, #row, #smem> -> tensor<64x16xf32, #mma>
    scf.yield %d : tensor<64x16xf32, #mma>
  }
  %s = arith.addf %o, %r : tensor<64x16xf32, #mma>
    tt.store %ptrs, %s : tensor<64x16x!tt.ptr<f32>, #mma>
  tt.return
}
}

// -----

// Sums of bytes; and fp8 products that are added up in parts, which cannot take the flag.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 32]}>
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#column = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @bytes(
// CHECK: scf.for %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[USE:.*]] = %{{.*}})
// CHECK: ttng.warp_group_dot %x, %y, %[[ACC]], %[[USE]] :
tt.func public @bytes(%x: !ttg.memdesc<64x64xi8, #row, #smem>, %y: !ttg.memdesc<64x16xi8, #column, #smem>, %n: i32) -> tensor<64x16xi32, #mma> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<64x16xi32, #mma>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xi32, #mma>) : i32 {
    %d = ttng.warp_group_dot %x, %y, %acc : !ttg.memdesc<64x64xi8, #row, #smem> * !ttg.memdesc<64x16xi8, #column, #smem> -> tensor<64x16xi32, #mma>
    scf.yield %d : tensor<64x16xi32, #mma>
  }
  tt.return %r : tensor<64x16xi32, #mma>
}
// CHECK-LABEL: @fp8(
// CHECK: ttng.warp_group_dot %x, %y, %acc {maxNumImpreciseAcc = 32 : i32} :
// CHECK: ttng.warp_group_dot %x, %y, %acc, %{{[a-z0-9_]*}} {maxNumImpreciseAcc = 128 : i32} :
tt.func public @fp8(%x: !ttg.memdesc<64x64xf8E4M3FN, #row, #smem>, %y: !ttg.memdesc<64x16xf8E4M3FN, #column, #smem>, %n: i32) -> (tensor<64x16xf32, #mma>, tensor<64x16xf32, #mma>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x16xf32, #mma>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xf32, #mma>) : i32 {
    %d = ttng.warp_group_dot %x, %y, %acc {maxNumImpreciseAcc = 32 : i32} : !ttg.memdesc<64x64xf8E4M3FN, #row, #smem> * !ttg.memdesc<64x16xf8E4M3FN, #column, #smem> -> tensor<64x16xf32, #mma>
    scf.yield %d : tensor<64x16xf32, #mma>
  }
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x16xf32, #mma>) : i32 {
    %d = ttng.warp_group_dot %x, %y, %acc {maxNumImpreciseAcc = 128 : i32} : !ttg.memdesc<64x64xf8E4M3FN, #row, #smem> * !ttg.memdesc<64x16xf8E4M3FN, #column, #smem> -> tensor<64x16xf32, #mma>
    scf.yield %d : tensor<64x16xf32, #mma>
  }
  tt.return %r, %s : tensor<64x16xf32, #mma>, tensor<64x16xf32, #mma>
}
}
