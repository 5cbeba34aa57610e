// Code whose masks split vectors gets a copy for programs in which none does.
// RUN: ttc opt %s --split-input-file --ttc-whole-vectors | FileCheck %s

// All is below the end, or the end is a multiple of four.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: module attributes {ttc.versions = 2 : i32
  // CHECK-LABEL: @copy
  // CHECK: %[[START:.*]] = arith.muli
  // CHECK-DAG: %[[BEGINS:.*]] = arith.cmpi slt, %[[START]], %n
  // CHECK-DAG: %[[ROOM:.*]] = arith.subi %n, %[[START]]
  // CHECK-DAG: %[[LAST:.*]] = arith.constant 511
  // CHECK-DAG: %[[REACHES:.*]] = arith.cmpi ugt, %[[ROOM]], %[[LAST]]
  // CHECK-DAG: %[[FAR:.*]] = arith.andi %[[BEGINS]], %[[REACHES]]
  // CHECK-DAG: %[[THREE:.*]] = arith.constant 3
  // CHECK-DAG: %[[LOW:.*]] = arith.andi %n, %[[THREE]]
  // CHECK-DAG: %[[EVEN:.*]] = arith.cmpi eq, %[[LOW]]
  // CHECK: %[[WHOLE:.*]] = arith.ori %[[FAR]], %[[EVEN]]
  // CHECK: scf.if %[[WHOLE]]
  // CHECK: arith.cmpi slt, {{.*}}tt.constancy = dense<4>
  // CHECK: tt.load
  // CHECK: tt.store
  // CHECK: else
  // CHECK-NOT: tt.constancy
  // CHECK: tt.load
  // CHECK: tt.store
  // CHECK: }
  // CHECK-NEXT: tt.return
  tt.func public @copy(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c512 = arith.constant 512 : i32
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %c512 : i32
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %at = tt.splat %start : i32 -> tensor<512xi32, #blocked>
    %cols = arith.addi %at, %range : tensor<512xi32, #blocked>
    %limit = tt.splat %n : i32 -> tensor<512xi32, #blocked>
    %mask = arith.cmpi slt, %cols, %limit : tensor<512xi32, #blocked>
    %from = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %src = tt.addptr %from, %cols : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    %x = tt.load %src, %mask : tensor<512x!tt.ptr<f32>, #blocked>
    %to = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #blocked>
    %dst = tt.addptr %to, %cols : tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xi32, #blocked>
    tt.store %dst, %x, %mask : tensor<512x!tt.ptr<f32>, #blocked>
    tt.return
  }
}

// -----

// Nothing is known of where it starts, so the end alone does not tell. A value that is needed behind comes out of both.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @branch
  // CHECK: scf.if %go
  // CHECK: %[[FAR:.*]] = arith.andi
  // CHECK-NOT: arith.ori
  // CHECK: %[[X:.*]] = scf.if %[[FAR]] -> (tensor<512xf32, #blocked>)
  // CHECK: %[[WHOLE:.*]] = tt.load
  // CHECK: scf.yield %[[WHOLE]]
  // CHECK: else
  // CHECK: %[[SPLIT:.*]] = tt.load
  // CHECK: scf.yield %[[SPLIT]]
  // CHECK: scf.yield %[[X]]
  tt.func public @branch(%p: tensor<512x!tt.ptr<f32>, #blocked> {tt.divisibility = 16 : i32, tt.contiguity = 512 : i32}, %zero: tensor<512xf32, #blocked>, %start: i32, %n: i32, %go: i1) -> tensor<512xf32, #blocked> {
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %x = scf.if %go -> (tensor<512xf32, #blocked>) {
      %at = tt.splat %start : i32 -> tensor<512xi32, #blocked>
      %cols = arith.addi %at, %range : tensor<512xi32, #blocked>
      %limit = tt.splat %n : i32 -> tensor<512xi32, #blocked>
      %mask = arith.cmpi slt, %cols, %limit : tensor<512xi32, #blocked>
      %x = tt.load %p, %mask : tensor<512x!tt.ptr<f32>, #blocked>
      scf.yield %x : tensor<512xf32, #blocked>
    } else {
      scf.yield %zero : tensor<512xf32, #blocked>
    }
    tt.return %x : tensor<512xf32, #blocked>
  }
}

// -----

// A mask that was read splits vectors in any program.
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @read
  // CHECK-NOT: scf.if
  tt.func public @read(%p: tensor<512x!tt.ptr<f32>, #blocked> {tt.divisibility = 16 : i32, tt.contiguity = 512 : i32}, %x: tensor<512xf32, #blocked>, %read: tensor<512xi1, #blocked>, %n: i32) {
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #blocked>
    %limit = tt.splat %n : i32 -> tensor<512xi32, #blocked>
    %below = arith.cmpi slt, %range, %limit : tensor<512xi32, #blocked>
    %mask = arith.andi %below, %read : tensor<512xi1, #blocked>
    tt.store %p, %x, %mask : tensor<512x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
