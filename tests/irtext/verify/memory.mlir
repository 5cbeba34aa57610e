// Loads, stores, pointers.
module {
  tt.func @good(%p: !tt.ptr<f32>, %m: tensor<64xi1>, %v: tensor<64xf32>) {
    %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %3 = tt.load %2, %m, %v : tensor<64x!tt.ptr<f32>>
    tt.store %2, %3, %m : tensor<64x!tt.ptr<f32>>
    tt.return
  }
  tt.func @bad(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %w: tensor<32xi1>, %v: tensor<64xf16>) {
    %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<64x!tt.ptr<f32>>) -> tensor<64xf16> // expected: E0501 `result` has type tensor<64xf16>
    %1 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xi1>) -> tensor<64xf32> // expected: E0503 add up to 3
    "tt.store"(%p, %v) : (tensor<64x!tt.ptr<f32>>, tensor<64xf16>) -> () // expected: E0501 `value` has type tensor<64xf16>
    "tt.store"(%p, %v, %w) : (tensor<64x!tt.ptr<f32>>, tensor<64xf16>, tensor<32xi1>) -> () // expected: E0509 the shape of operand #0
    %2 = "tt.addptr"(%p, %m) : (tensor<64x!tt.ptr<f32>>, tensor<64xi1>) -> tensor<64x!tt.ptr<i8>> // expected: E0501 `result` has type
    tt.return
  }
}
