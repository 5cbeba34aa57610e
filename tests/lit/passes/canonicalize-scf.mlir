// RUN: ttc opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @constant_if
// CHECK-NOT: scf.if
// CHECK: arith.addi
tt.func public @constant_if(%a: i32) -> i32 {
  %t = arith.constant true
  %0 = scf.if %t -> (i32) {
    %1 = arith.addi %a, %a : i32
    scf.yield %1 : i32
  } else {
    scf.yield %a : i32
  }
  tt.return %0 : i32
}

// CHECK-LABEL: @if_of_outer_values
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
tt.func public @if_of_outer_values(%c: i1, %a: i32, %b: i32) -> i32 {
  %0 = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  tt.return %0 : i32
}

// A store stays in its branch.
// CHECK-LABEL: @if_with_store
// CHECK: scf.if
// CHECK: tt.store
tt.func public @if_with_store(%c: i1, %p: !tt.ptr<i32>, %a: i32) {
  scf.if %c {
    tt.store %p, %a : !tt.ptr<i32>
  }
  tt.return
}

// CHECK-LABEL: @negated
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: tt.store %{{.*}}, %c2_i32
// CHECK: else
// CHECK-NEXT: tt.store %{{.*}}, %c1_i32
tt.func public @negated(%c: i1, %p: !tt.ptr<i32>) {
  %t = arith.constant true
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %n = arith.xori %c, %t : i1
  scf.if %n {
    tt.store %p, %c1 : !tt.ptr<i32>
  } else {
    tt.store %p, %c2 : !tt.ptr<i32>
  }
  tt.return
}

// CHECK-LABEL: @condition_known_inside
// CHECK: tt.store %{{.*}}, %true
tt.func public @condition_known_inside(%c: i1, %p: !tt.ptr<i1>) {
  scf.if %c {
    tt.store %p, %c : !tt.ptr<i1>
  }
  tt.return
}

// CHECK-LABEL: @one_trip
// CHECK-NOT: scf.for
// CHECK: arith.addi
tt.func public @one_trip(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %a) -> (i32) : i32 {
    %1 = arith.addi %x, %a : i32
    scf.yield %1 : i32
  }
  tt.return %0 : i32
}

// CHECK-LABEL: @no_trip
// CHECK-NEXT: tt.return %{{.*}} : i32
tt.func public @no_trip(%a: i32) -> i32 {
  %c5 = arith.constant 5 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c5 to %c1 step %c1 iter_args(%x = %a) -> (i32) : i32 {
    %1 = arith.addi %x, %i : i32
    scf.yield %1 : i32
  }
  tt.return %0 : i32
}

// The first carried value never changes, the second does.
// CHECK-LABEL: @invariant_carried
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{[^,]*}}) -> (i32)
tt.func public @invariant_carried(%n: i32, %a: i32, %b: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (i32, i32) : i32 {
    %1 = arith.addi %x, %y : i32
    scf.yield %x, %1 : i32, i32
  }
  tt.return %0#0, %0#1 : i32, i32
}

// -----

// Two carried values start alike and are yielded alike, and only the second is used: it must not become the first, which goes.
// CHECK-LABEL: tt.func public @same_but_the_first_is_unused
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i32)
// CHECK: tt.return %[[R]] : i32
tt.func public @same_but_the_first_is_unused(%n: i32, %a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %a) -> (i32, i32) : i32 {
    %s = arith.addi %q, %i : i32
    scf.yield %s, %s : i32, i32
  }
  tt.return %r#1 : i32
}

// -----

// A sum to which a product may still be adding is handed on by the branch: a select would read it.
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: @sum_under_way
// CHECK-NOT: arith.select
// CHECK: %[[R:.*]] = scf.if %p -> (tensor<64x64xf32, #mma>)
// CHECK: ttng.warp_group_dot_wait %[[R]] {pendings = 0 : i32}
// CHECK-LABEL: @complete_sum
// CHECK: arith.select %p, %c, %{{.*}} : tensor<64x64xf32, #mma>
tt.func public @sum_under_way(%a: !ttg.memdesc<64x64xf16, #n, #smem>, %c: tensor<64x64xf32, #mma>, %p: i1) -> tensor<64x64xf32, #mma> {
  %d = ttng.warp_group_dot %a, %a, %c {isAsync = true} : !ttg.memdesc<64x64xf16, #n, #smem> * !ttg.memdesc<64x64xf16, #n, #smem> -> tensor<64x64xf32, #mma>
  %r = scf.if %p -> (tensor<64x64xf32, #mma>) {
    scf.yield %c : tensor<64x64xf32, #mma>
  } else {
    scf.yield %d : tensor<64x64xf32, #mma>
  }
  %e = ttng.warp_group_dot_wait %r {pendings = 0 : i32} : tensor<64x64xf32, #mma>
  tt.return %e : tensor<64x64xf32, #mma>
}
tt.func public @complete_sum(%a: !ttg.memdesc<64x64xf16, #n, #smem>, %c: tensor<64x64xf32, #mma>, %p: i1) -> tensor<64x64xf32, #mma> {
  %d = ttng.warp_group_dot %a, %a, %c {isAsync = true} : !ttg.memdesc<64x64xf16, #n, #smem> * !ttg.memdesc<64x64xf16, #n, #smem> -> tensor<64x64xf32, #mma>
  %e = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
  %r = scf.if %p -> (tensor<64x64xf32, #mma>) {
    scf.yield %c : tensor<64x64xf32, #mma>
  } else {
    scf.yield %e : tensor<64x64xf32, #mma>
  }
  tt.return %r : tensor<64x64xf32, #mma>
}
}
