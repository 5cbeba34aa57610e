// Scales of 32 bits would be rounded to the 16 bits in which factors are multiplied, so they are refused.
// RUN: cp %s %t.ttir && not ttc %t.ttir --arch sm_90a --emit ttgir -o %t.ttgir 2>&1 | FileCheck %s
// CHECK: error[E0605]: {{.*}}scales of type f32 do not fit into the 16 bits of the product's factors: scale with bytes (e8m0), with floats of 8 or 16 bits, or scale the result
module {
  tt.func public @k(%p: !tt.ptr<f8E4M3FN>, %q: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %row = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %at = tt.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
    %base = tt.splat %p : !tt.ptr<f8E4M3FN> -> tensor<64x64x!tt.ptr<f8E4M3FN>>
    %from = tt.addptr %base, %at : tensor<64x64x!tt.ptr<f8E4M3FN>>, tensor<64x64xi32>
    %a = tt.load %from : tensor<64x64x!tt.ptr<f8E4M3FN>>
    %one = tt.load %q : !tt.ptr<f32>
    %s = tt.splat %one : f32 -> tensor<64x2xf32>
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %d = tt.dot_scaled %a scale %s, %a scale %s, %zero lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<64x64xf8E4M3FN>, tensor<64x2xf32> * tensor<64x64xf8E4M3FN>, tensor<64x2xf32> -> tensor<64x64xf32>
    %to = tt.splat %o : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %out = tt.addptr %to, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.store %out, %d : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
