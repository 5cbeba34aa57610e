// Layouts against the module's attributes.
#wide = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#eight = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [8], order = [0]}>
#square = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>
#row = #ttg.slice<{dim = 0, parent = #square}>
#column = #ttg.slice<{dim = 1, parent = #square}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @good() {
    %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #column>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32, #column> -> tensor<64x1xi32, #square>
    %2 = tt.broadcast %1 : tensor<64x1xi32, #square> -> tensor<64x8xi32, #square>
    tt.return
  }
  tt.func @bad(%x: tensor<64xi32, #row>) {
    %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #eight> // expected: E0508 8 warps per block, and the module has 4
    %1 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #square> // expected: E0508 its layout has rank 2, and the tensor has rank 1
    %2 = tt.expand_dims %x {axis = 1 : i32} : tensor<64xi32, #row> -> tensor<64x1xi32, #square> // expected: E0501 a slice along dimension 0, and the axis is 1
    %3 = ttg.convert_layout %x : tensor<64xi32, #row> -> tensor<32xi32, #wide> // expected: E0509 the shape of operand #0
    tt.return
  }
}
// -----
#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module {
  tt.func @f() {
    %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #blocked> // expected: E0508 nothing around the operation says `ttg.num-warps`
    tt.return
  }
}
