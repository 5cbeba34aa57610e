// RUN: ttc opt %s --tritongpu-coalesce=agree=true | FileCheck %s
// RUN: ttc opt %s --tritongpu-coalesce | FileCheck %s --check-prefix=PLAIN

// A load takes no more elements than the store of what is computed from them, element by element, as long as each
// access keeps 8 bytes: otherwise a conversion would stand between the two.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

// CHECK-DAG: #[[FOUR:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[EIGHT:.*]] = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// PLAIN-DAG: #[[EIGHT:.*]] = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[SIXTEEN:.*]] = #ttg.blocked<{sizePerThread = [16], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Halves to floats. A sum of the halves takes any layout.
  // CHECK-LABEL: @halves_to_floats(
  // CHECK: tt.load {{.*}} : tensor<2048x!tt.ptr<f16>, #[[FOUR]]>
  // CHECK: tt.store {{.*}} : tensor<2048x!tt.ptr<f32>, #[[FOUR]]>
  // PLAIN-LABEL: @halves_to_floats(
  // PLAIN: tt.load {{.*}} : tensor<2048x!tt.ptr<f16>, #[[EIGHT]]>
  tt.func public @halves_to_floats(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %r: !tt.ptr<f16>) {
    %i = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32, #blocked>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>, #blocked>
    %from = tt.addptr %ps, %i : tensor<2048x!tt.ptr<f16>, #blocked>, tensor<2048xi32, #blocked>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #blocked>
    %to = tt.addptr %qs, %i : tensor<2048x!tt.ptr<f32>, #blocked>, tensor<2048xi32, #blocked>
    %x = tt.load %from : tensor<2048x!tt.ptr<f16>, #blocked>
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f16, %b: f16):
      %c = arith.addf %a, %b : f16
      tt.reduce.return %c : f16
    }) : (tensor<2048xf16, #blocked>) -> f16
    tt.store %r, %s : !tt.ptr<f16>
    %y = arith.extf %x : tensor<2048xf16, #blocked> to tensor<2048xf32, #blocked>
    %z = arith.mulf %y, %y : tensor<2048xf32, #blocked>
    tt.store %to, %z : tensor<2048x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // Four bytes would be 4 bytes of an access.
  // CHECK-LABEL: @bytes_to_floats(
  // CHECK: tt.load {{.*}} : tensor<2048x!tt.ptr<i8>, #[[SIXTEEN]]>
  // CHECK: tt.store {{.*}} : tensor<2048x!tt.ptr<f32>, #[[FOUR]]>
  tt.func public @bytes_to_floats(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32, #blocked>
    %ps = tt.splat %p : !tt.ptr<i8> -> tensor<2048x!tt.ptr<i8>, #blocked>
    %from = tt.addptr %ps, %i : tensor<2048x!tt.ptr<i8>, #blocked>, tensor<2048xi32, #blocked>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #blocked>
    %to = tt.addptr %qs, %i : tensor<2048x!tt.ptr<f32>, #blocked>, tensor<2048xi32, #blocked>
    %x = tt.load %from : tensor<2048x!tt.ptr<i8>, #blocked>
    %y = arith.sitofp %x : tensor<2048xi8, #blocked> to tensor<2048xf32, #blocked>
    tt.store %to, %y : tensor<2048x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // What a loop adds up is stored once, and loaded often.
  // CHECK-LABEL: @sum_of_halves(
  // CHECK: tt.load {{.*}} : tensor<2048x!tt.ptr<f16>, #[[EIGHT]]>
  // CHECK: tt.store {{.*}} : tensor<2048x!tt.ptr<f32>, #[[FOUR]]>
  tt.func public @sum_of_halves(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %i = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32, #blocked>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>, #blocked>
    %from = tt.addptr %ps, %i : tensor<2048x!tt.ptr<f16>, #blocked>, tensor<2048xi32, #blocked>
    %qs = tt.splat %q : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #blocked>
    %to = tt.addptr %qs, %i : tensor<2048x!tt.ptr<f32>, #blocked>, tensor<2048xi32, #blocked>
    %zero = arith.constant dense<0.0> : tensor<2048xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<2048xf32, #blocked>) : i32 {
      %x = tt.load %from : tensor<2048x!tt.ptr<f16>, #blocked>
      %y = arith.extf %x : tensor<2048xf16, #blocked> to tensor<2048xf32, #blocked>
      %z = arith.addf %acc, %y : tensor<2048xf32, #blocked>
      scf.yield %z : tensor<2048xf32, #blocked>
    }
    tt.store %to, %sum : tensor<2048x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // Floats that become halves: the store takes eight at once, and the load two times four.
  // CHECK-LABEL: @floats_to_halves(
  // CHECK: tt.load {{.*}} : tensor<2048x!tt.ptr<f32>, #[[EIGHT]]>
  // CHECK: tt.store {{.*}} : tensor<2048x!tt.ptr<f16>, #[[EIGHT]]>
  tt.func public @floats_to_halves(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32, #blocked>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>, #blocked>
    %from = tt.addptr %ps, %i : tensor<2048x!tt.ptr<f32>, #blocked>, tensor<2048xi32, #blocked>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>, #blocked>
    %to = tt.addptr %qs, %i : tensor<2048x!tt.ptr<f16>, #blocked>, tensor<2048xi32, #blocked>
    %x = tt.load %from : tensor<2048x!tt.ptr<f32>, #blocked>
    %y = arith.truncf %x : tensor<2048xf32, #blocked> to tensor<2048xf16, #blocked>
    tt.store %to, %y : tensor<2048x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
