// What the calls of a function tell about its parameters is noted on them, and the accesses inside are as wide as that allows.
// RUN: ttc opt %s --tritongpu-coalesce | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: [[TWO:#[a-z0-9]+]] = #ttg.blocked<{sizePerThread = [2],
  // CHECK-DAG: [[FOUR:#[a-z0-9]+]] = #ttg.blocked<{sizePerThread = [4],
  // Both calls give multiples of 16, and the second the smaller divisor of the number.
  // CHECK: tt.func private @inner(%p: !tt.ptr<f32> {tt.constancy = 1 : i64, tt.contiguity = 1 : i64, tt.divisibility = 16 : i64}, %n: i32 {tt.constancy = 1 : i64, tt.contiguity = 1 : i64, tt.divisibility = 2 : i64})
  // CHECK: tt.load {{.*}}, {{.*}} : tensor<1024x!tt.ptr<f32>, [[FOUR]]>
  tt.func private @inner(%p: !tt.ptr<f32>, %n: i32) attributes {noinline = true} {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %bound = tt.splat %n : i32 -> tensor<1024xi32, #b>
    %mask = arith.cmpi slt, %range, %bound : tensor<1024xi32, #b>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %at = tt.addptr %base, %range : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    %x = tt.load %at, %mask : tensor<1024x!tt.ptr<f32>, #b>
    tt.return
  }
  // A callee of a callee: what is known of the caller's parameters counts.
  // CHECK: tt.func private @outer(%p: !tt.ptr<f32> {tt.constancy = 1 : i64, tt.contiguity = 1 : i64, tt.divisibility = 16 : i64})
  tt.func private @outer(%p: !tt.ptr<f32>) attributes {noinline = true} {
    %c8 = arith.constant 8 : i32
    tt.call @inner(%p, %c8) : (!tt.ptr<f32>, i32) -> ()
    tt.return
  }
  // One call knows less.
  // CHECK: tt.func private @narrow(%p: !tt.ptr<f32> {tt.constancy = 1 : i64, tt.contiguity = 1 : i64, tt.divisibility = 8 : i64})
  // CHECK: tt.load {{.*}} : tensor<1024x!tt.ptr<f32>, [[TWO]]>
  tt.func private @narrow(%p: !tt.ptr<f32>) attributes {noinline = true} {
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %at = tt.addptr %base, %range : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    %x = tt.load %at : tensor<1024x!tt.ptr<f32>, #b>
    tt.return
  }
  tt.func public @kernel(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %c2 = arith.constant 2 : i32
    %c6 = arith.constant 6 : i32
    %q = tt.addptr %p, %c2 : !tt.ptr<f32>, i32
    tt.call @outer(%p) : (!tt.ptr<f32>) -> ()
    tt.call @inner(%p, %c6) : (!tt.ptr<f32>, i32) -> ()
    tt.call @narrow(%p) : (!tt.ptr<f32>) -> ()
    tt.call @narrow(%q) : (!tt.ptr<f32>) -> ()
    tt.return
  }
}
