// Accesses at small offsets from a scalar address become buffer operations.
// RUN: ttc opt %s --tritonamdgpu-convert-to-buffer-ops | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // The offsets are 0 to 1023. A mask that is true everywhere and zeros for masked-off elements are left out.
  // CHECK-LABEL: @small
  tt.func @small(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %s = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %m = arith.cmpi slt, %r, %s : tensor<1024xi32, #blocked>
    %true = arith.constant dense<true> : tensor<1024xi1, #blocked>
    %zero = arith.constant dense<0.0> : tensor<1024xf32, #blocked>
    %one = arith.constant dense<1.0> : tensor<1024xf32, #blocked>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %q = tt.addptr %p, %r : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    // CHECK: amdg.buffer_load %x[%r], %m {contiguity = 4 : i32} : !tt.ptr<f32> -> tensor<1024xf32, #blocked>
    %a = tt.load %q, %m, %zero : tensor<1024x!tt.ptr<f32>, #blocked>
    // CHECK: amdg.buffer_load %x[%r], %m, %one {contiguity = 4 : i32}
    %b = tt.load %q, %m, %one : tensor<1024x!tt.ptr<f32>, #blocked>
    // CHECK: amdg.buffer_load %x[%r] {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>, contiguity = 4 : i32}
    %c = tt.load %q, %true cacheModifier = cg : tensor<1024x!tt.ptr<f32>, #blocked>
    // CHECK: amdg.buffer_store %a, %x[%r], %m {contiguity = 4 : i32} : !tt.ptr<f32> -> tensor<1024xf32, #blocked>
    tt.store %q, %a, %m : tensor<1024x!tt.ptr<f32>, #blocked>
    // A volatile load stays: the buffer operation has no word for that.
    // CHECK: tt.load
    %d = tt.load %q {isVolatile = true} : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // A parameter may be any number: the offset may be negative, or reach 2 GiB.
  // CHECK-LABEL: @any
  // CHECK-NOT: amdg
  tt.func @any(%x: !tt.ptr<f32>, %n: i32) {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %s = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %o = arith.addi %r, %s : tensor<1024xi32, #blocked>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %q = tt.addptr %p, %o : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %a = tt.load %q : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // Elements up to number 2^29 - 1 end at 2^31 bytes, which is one too many; up to 2^29 - 2 they fit.
  // CHECK-LABEL: @limit
  tt.func @limit(%x: !tt.ptr<f32>) {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %most = arith.constant dense<536869888> : tensor<1024xi32, #blocked>
    %less = arith.constant dense<536869887> : tensor<1024xi32, #blocked>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %o = arith.addi %r, %most : tensor<1024xi32, #blocked>
    %q = tt.addptr %p, %o : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    // CHECK: tt.load
    %a = tt.load %q : tensor<1024x!tt.ptr<f32>, #blocked>
    %o2 = arith.addi %r, %less : tensor<1024xi32, #blocked>
    %q2 = tt.addptr %p, %o2 : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    // CHECK: amdg.buffer_load %x[%o2]
    %b = tt.load %q2 : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // A parameter that is said to be of a small array; offsets of 64 bits are cut.
  // CHECK-LABEL: @stated
  tt.func @stated(%x: !tt.ptr<i32> {tt.pointer_range = 32 : i32}, %o: tensor<1024xi64, #blocked>) {
    %p = tt.splat %x : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #blocked>
    %q = tt.addptr %p, %o : tensor<1024x!tt.ptr<i32>, #blocked>, tensor<1024xi64, #blocked>
    // CHECK: %[[O:.*]] = arith.trunci %o : tensor<1024xi64, #blocked> to tensor<1024xi32, #blocked>
    // CHECK: %[[A:.*]] = amdg.buffer_load %x[%[[O]]]
    %a = tt.load %q : tensor<1024x!tt.ptr<i32>, #blocked>
    // CHECK: amdg.buffer_atomic_cas acq_rel, gpu, %[[A]], %[[A]], %x[%{{.*}}] : !tt.ptr<i32> -> tensor<1024xi32, #blocked>
    %b = tt.atomic_cas acq_rel, gpu, %q, %a, %a : (tensor<1024x!tt.ptr<i32>, #blocked>, tensor<1024xi32, #blocked>, tensor<1024xi32, #blocked>) -> tensor<1024xi32, #blocked>
    // CHECK: tt.atomic_cas acq_rel, sys
    %c = tt.atomic_cas acq_rel, sys, %q, %a, %a : (tensor<1024x!tt.ptr<i32>, #blocked>, tensor<1024xi32, #blocked>, tensor<1024xi32, #blocked>) -> tensor<1024xi32, #blocked>
    tt.return
  }
}
