// Loops whose copies keep the barrier of the block, because it is not known when a slot is left.
// RUN: ttc opt %s --ttc-refill-slots 2>&1 | FileCheck %s
// RUN: ttc opt %s --ttc-refill-slots | FileCheck %s --check-prefix=SAME

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
// SAME-NOT: first_warp
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: the copies wait for all warps of the block: the slot to fill is not counted up
  tt.func public @by_two(%d: !tt.tensordesc<64x64xf16, #shared>, %n: i32, %zero: tensor<64x64xf16, #blocked>, %c: i1) -> tensor<64x64xf16, #blocked> {
    %none = arith.constant -1 : i32
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %true = arith.constant true
    %slots = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    %r:4 = scf.for %i = %c0 to %n step %one iter_args(%acc = %zero, %in = %one, %out = %none, %p = %c0) -> (tensor<64x64xf16, #blocked>, i32, i32, i32) : i32 {
      %o1 = arith.addi %out, %one : i32
      %o2 = arith.cmpi sge, %o1, %two : i32
      %extract = arith.select %o2, %c0, %o1 : i32
      %flip = arith.xori %p, %one : i32
      %phase = arith.select %o2, %flip, %p : i32
      %i1 = arith.addi %in, %two : i32
      %i2 = arith.cmpi sge, %i1, %two : i32
      %insert = arith.select %i2, %c0, %i1 : i32
      %more = arith.cmpi slt, %i, %n : i32
      %slot = ttg.memdesc_index %slots[%extract] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %f = ttg.memdesc_index %full[%extract] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.wait_barrier %f, %phase : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %x = ttg.local_load %slot : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      %e = ttg.memdesc_index %full[%insert] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.barrier_expect %e, 8192, %more : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %to = ttg.memdesc_index %slots[%insert] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%i, %i] %to, %e, %more : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %sum = arith.addf %acc, %x : tensor<64x64xf16, #blocked>
      scf.yield %sum, %insert, %extract, %phase : tensor<64x64xf16, #blocked>, i32, i32, i32
    }
    ttg.local_dealloc %full : !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    tt.return %r#0 : tensor<64x64xf16, #blocked>
  }
  // CHECK: the copies wait for all warps of the block: the wait for its mbarrier is not one of every iteration
  tt.func public @some_iterations(%d: !tt.tensordesc<64x64xf16, #shared>, %n: i32, %zero: tensor<64x64xf16, #blocked>, %c: i1) -> tensor<64x64xf16, #blocked> {
    %none = arith.constant -1 : i32
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %true = arith.constant true
    %slots = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    %r:4 = scf.for %i = %c0 to %n step %one iter_args(%acc = %zero, %in = %one, %out = %none, %p = %c0) -> (tensor<64x64xf16, #blocked>, i32, i32, i32) : i32 {
      %o1 = arith.addi %out, %one : i32
      %o2 = arith.cmpi sge, %o1, %two : i32
      %extract = arith.select %o2, %c0, %o1 : i32
      %flip = arith.xori %p, %one : i32
      %phase = arith.select %o2, %flip, %p : i32
      %i1 = arith.addi %in, %one : i32
      %i2 = arith.cmpi sge, %i1, %two : i32
      %insert = arith.select %i2, %c0, %i1 : i32
      %more = arith.cmpi slt, %i, %n : i32
      %slot = ttg.memdesc_index %slots[%extract] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %f = ttg.memdesc_index %full[%extract] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.wait_barrier %f, %phase, %c : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %x = ttg.local_load %slot : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      %e = ttg.memdesc_index %full[%insert] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.barrier_expect %e, 8192, %more : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %to = ttg.memdesc_index %slots[%insert] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%i, %i] %to, %e, %more : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %sum = arith.addf %acc, %x : tensor<64x64xf16, #blocked>
      scf.yield %sum, %insert, %extract, %phase : tensor<64x64xf16, #blocked>, i32, i32, i32
    }
    ttg.local_dealloc %full : !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    tt.return %r#0 : tensor<64x64xf16, #blocked>
  }
  // CHECK: the copies wait for all warps of the block: a slot is read before it is waited for
  tt.func public @read_early(%d: !tt.tensordesc<64x64xf16, #shared>, %n: i32, %zero: tensor<64x64xf16, #blocked>, %c: i1) -> tensor<64x64xf16, #blocked> {
    %none = arith.constant -1 : i32
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %true = arith.constant true
    %slots = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    %r:4 = scf.for %i = %c0 to %n step %one iter_args(%acc = %zero, %in = %one, %out = %none, %p = %c0) -> (tensor<64x64xf16, #blocked>, i32, i32, i32) : i32 {
      %o1 = arith.addi %out, %one : i32
      %o2 = arith.cmpi sge, %o1, %two : i32
      %extract = arith.select %o2, %c0, %o1 : i32
      %flip = arith.xori %p, %one : i32
      %phase = arith.select %o2, %flip, %p : i32
      %i1 = arith.addi %in, %one : i32
      %i2 = arith.cmpi sge, %i1, %two : i32
      %insert = arith.select %i2, %c0, %i1 : i32
      %more = arith.cmpi slt, %i, %n : i32
      %slot = ttg.memdesc_index %slots[%extract] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.local_load %slot : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      %f = ttg.memdesc_index %full[%extract] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.wait_barrier %f, %phase : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %e = ttg.memdesc_index %full[%insert] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.barrier_expect %e, 8192, %more : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %to = ttg.memdesc_index %slots[%insert] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%i, %i] %to, %e, %more : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %sum = arith.addf %acc, %x : tensor<64x64xf16, #blocked>
      scf.yield %sum, %insert, %extract, %phase : tensor<64x64xf16, #blocked>, i32, i32, i32
    }
    ttg.local_dealloc %full : !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    tt.return %r#0 : tensor<64x64xf16, #blocked>
  }
  // CHECK: the copies wait for all warps of the block: the slot is filled before it is left
  tt.func public @read_late(%d: !tt.tensordesc<64x64xf16, #shared>, %n: i32, %zero: tensor<64x64xf16, #blocked>, %c: i1) -> tensor<64x64xf16, #blocked> {
    %none = arith.constant -1 : i32
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %true = arith.constant true
    %slots = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    %r:4 = scf.for %i = %c0 to %n step %one iter_args(%acc = %zero, %in = %one, %out = %none, %p = %c0) -> (tensor<64x64xf16, #blocked>, i32, i32, i32) : i32 {
      %o1 = arith.addi %out, %one : i32
      %o2 = arith.cmpi sge, %o1, %two : i32
      %extract = arith.select %o2, %c0, %o1 : i32
      %flip = arith.xori %p, %one : i32
      %phase = arith.select %o2, %flip, %p : i32
      %i1 = arith.addi %in, %one : i32
      %i2 = arith.cmpi sge, %i1, %two : i32
      %insert = arith.select %i2, %c0, %i1 : i32
      %more = arith.cmpi slt, %i, %n : i32
      %slot = ttg.memdesc_index %slots[%extract] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %f = ttg.memdesc_index %full[%extract] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.wait_barrier %f, %phase : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %e = ttg.memdesc_index %full[%insert] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.barrier_expect %e, 8192, %more : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %to = ttg.memdesc_index %slots[%insert] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%i, %i] %to, %e, %more : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %x = ttg.local_load %slot : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      %sum = arith.addf %acc, %x : tensor<64x64xf16, #blocked>
      scf.yield %sum, %insert, %extract, %phase : tensor<64x64xf16, #blocked>, i32, i32, i32
    }
    ttg.local_dealloc %full : !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    tt.return %r#0 : tensor<64x64xf16, #blocked>
  }
  // CHECK: the copies wait for all warps of the block: slots are read or waited for outside of the loop
  tt.func public @read_behind(%d: !tt.tensordesc<64x64xf16, #shared>, %n: i32, %zero: tensor<64x64xf16, #blocked>, %c: i1) -> tensor<64x64xf16, #blocked> {
    %none = arith.constant -1 : i32
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %true = arith.constant true
    %slots = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    %r:4 = scf.for %i = %c0 to %n step %one iter_args(%acc = %zero, %in = %one, %out = %none, %p = %c0) -> (tensor<64x64xf16, #blocked>, i32, i32, i32) : i32 {
      %o1 = arith.addi %out, %one : i32
      %o2 = arith.cmpi sge, %o1, %two : i32
      %extract = arith.select %o2, %c0, %o1 : i32
      %flip = arith.xori %p, %one : i32
      %phase = arith.select %o2, %flip, %p : i32
      %i1 = arith.addi %in, %one : i32
      %i2 = arith.cmpi sge, %i1, %two : i32
      %insert = arith.select %i2, %c0, %i1 : i32
      %more = arith.cmpi slt, %i, %n : i32
      %slot = ttg.memdesc_index %slots[%extract] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %f = ttg.memdesc_index %full[%extract] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.wait_barrier %f, %phase : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %x = ttg.local_load %slot : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      %e = ttg.memdesc_index %full[%insert] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.barrier_expect %e, 8192, %more : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %to = ttg.memdesc_index %slots[%insert] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%i, %i] %to, %e, %more : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %sum = arith.addf %acc, %x : tensor<64x64xf16, #blocked>
      scf.yield %sum, %insert, %extract, %phase : tensor<64x64xf16, #blocked>, i32, i32, i32
    }
    %last = ttg.memdesc_index %slots[%c0] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %y = ttg.local_load %last : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    ttg.local_dealloc %full : !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    tt.return %r#0 : tensor<64x64xf16, #blocked>
  }
  // CHECK: the copies wait for all warps of the block: something else than copies arrives at its mbarrier
  tt.func public @other_predicate(%d: !tt.tensordesc<64x64xf16, #shared>, %n: i32, %zero: tensor<64x64xf16, #blocked>, %c: i1) -> tensor<64x64xf16, #blocked> {
    %none = arith.constant -1 : i32
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %true = arith.constant true
    %slots = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    %r:4 = scf.for %i = %c0 to %n step %one iter_args(%acc = %zero, %in = %one, %out = %none, %p = %c0) -> (tensor<64x64xf16, #blocked>, i32, i32, i32) : i32 {
      %o1 = arith.addi %out, %one : i32
      %o2 = arith.cmpi sge, %o1, %two : i32
      %extract = arith.select %o2, %c0, %o1 : i32
      %flip = arith.xori %p, %one : i32
      %phase = arith.select %o2, %flip, %p : i32
      %i1 = arith.addi %in, %one : i32
      %i2 = arith.cmpi sge, %i1, %two : i32
      %insert = arith.select %i2, %c0, %i1 : i32
      %more = arith.cmpi slt, %i, %n : i32
      %slot = ttg.memdesc_index %slots[%extract] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %f = ttg.memdesc_index %full[%extract] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.wait_barrier %f, %phase : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %x = ttg.local_load %slot : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      %e = ttg.memdesc_index %full[%insert] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.barrier_expect %e, 8192, %more : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %to = ttg.memdesc_index %slots[%insert] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%i, %i] %to, %e, %true : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %sum = arith.addf %acc, %x : tensor<64x64xf16, #blocked>
      scf.yield %sum, %insert, %extract, %phase : tensor<64x64xf16, #blocked>, i32, i32, i32
    }
    ttg.local_dealloc %full : !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    tt.return %r#0 : tensor<64x64xf16, #blocked>
  }
  // CHECK: the copies wait for all warps of the block: a slot is used by something that is neither a load of it nor a product
  tt.func public @stored(%d: !tt.tensordesc<64x64xf16, #shared>, %n: i32, %zero: tensor<64x64xf16, #blocked>, %c: i1) -> tensor<64x64xf16, #blocked> {
    %none = arith.constant -1 : i32
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %true = arith.constant true
    %slots = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    %r:4 = scf.for %i = %c0 to %n step %one iter_args(%acc = %zero, %in = %one, %out = %none, %p = %c0) -> (tensor<64x64xf16, #blocked>, i32, i32, i32) : i32 {
      %o1 = arith.addi %out, %one : i32
      %o2 = arith.cmpi sge, %o1, %two : i32
      %extract = arith.select %o2, %c0, %o1 : i32
      %flip = arith.xori %p, %one : i32
      %phase = arith.select %o2, %flip, %p : i32
      %i1 = arith.addi %in, %one : i32
      %i2 = arith.cmpi sge, %i1, %two : i32
      %insert = arith.select %i2, %c0, %i1 : i32
      %more = arith.cmpi slt, %i, %n : i32
      %slot = ttg.memdesc_index %slots[%extract] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %f = ttg.memdesc_index %full[%extract] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.wait_barrier %f, %phase : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %x = ttg.local_load %slot : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      ttg.local_store %x, %slot : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %e = ttg.memdesc_index %full[%insert] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.barrier_expect %e, 8192, %more : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %to = ttg.memdesc_index %slots[%insert] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%i, %i] %to, %e, %more : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %sum = arith.addf %acc, %x : tensor<64x64xf16, #blocked>
      scf.yield %sum, %insert, %extract, %phase : tensor<64x64xf16, #blocked>, i32, i32, i32
    }
    ttg.local_dealloc %full : !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    tt.return %r#0 : tensor<64x64xf16, #blocked>
  }
  // CHECK: the copies wait for all warps of the block: an array of slots is used as a whole
  tt.func public @as_a_whole(%d: !tt.tensordesc<64x64xf16, #shared>, %n: i32, %zero: tensor<64x64xf16, #blocked>, %c: i1) -> tensor<64x64xf16, #blocked> {
    %none = arith.constant -1 : i32
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %true = arith.constant true
    %slots = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    %r:4 = scf.for %i = %c0 to %n step %one iter_args(%acc = %zero, %in = %one, %out = %none, %p = %c0) -> (tensor<64x64xf16, #blocked>, i32, i32, i32) : i32 {
      %o1 = arith.addi %out, %one : i32
      %o2 = arith.cmpi sge, %o1, %two : i32
      %extract = arith.select %o2, %c0, %o1 : i32
      %flip = arith.xori %p, %one : i32
      %phase = arith.select %o2, %flip, %p : i32
      %i1 = arith.addi %in, %one : i32
      %i2 = arith.cmpi sge, %i1, %two : i32
      %insert = arith.select %i2, %c0, %i1 : i32
      %more = arith.cmpi slt, %i, %n : i32
      %slot = ttg.memdesc_index %slots[%extract] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %f = ttg.memdesc_index %full[%extract] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.wait_barrier %f, %phase : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %x = ttg.local_load %slot : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      %e = ttg.memdesc_index %full[%insert] : !ttg.memdesc<2x1xi64, #line, #smem, mutable> -> !ttg.memdesc<1xi64, #line, #smem, mutable>
      ttng.barrier_expect %e, 8192, %more : !ttg.memdesc<1xi64, #line, #smem, mutable>
      %to = ttg.memdesc_index %slots[%insert] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttng.async_tma_copy_global_to_local %d[%i, %i] %to, %e, %more : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #line, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %sum = arith.addf %acc, %x : tensor<64x64xf16, #blocked>
      scf.yield %sum, %insert, %extract, %phase : tensor<64x64xf16, #blocked>, i32, i32, i32
    }
    %all = ttg.memdesc_reinterpret %slots : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ttg.local_dealloc %full : !ttg.memdesc<2x1xi64, #line, #smem, mutable>
    tt.return %r#0 : tensor<64x64xf16, #blocked>
  }
}
