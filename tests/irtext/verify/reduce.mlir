// Reductions and scans.
module {
  tt.func @good(%x: tensor<8x16xf32>) {
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      tt.reduce.return %1 : f32
    }) : (tensor<8x16xf32>) -> tensor<8xf32>
    tt.return
  }
  tt.func @bad(%x: tensor<8x16xf32>) {
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({ // expected: E0501 expected the shape [8]
    ^bb0(%a: f32, %b: f32):
      tt.reduce.return %a : f32
    }) : (tensor<8x16xf32>) -> tensor<16xf32>
    %1 = "tt.scan"(%x) <{axis = 2 : i32, reverse = false}> ({ // expected: E0501 its axis is 2, and its operands have rank 2
    ^bb0(%a: f32, %b: f32):
      tt.scan.return %a : f32
    }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2 = "tt.reduce"(%x) <{axis = 1 : i32}> ({ // expected: E0501 values that its region returns has type i32, expected f32
    ^bb0(%a: f32, %b: f32):
      %c = arith.constant 1 : i32
      tt.reduce.return %c : i32
    }) : (tensor<8x16xf32>) -> tensor<8xf32>
    tt.return
  }
}
