// Along an axis without runs, a hint on what divides its elements says it of all elements, so also of the first ones of
// runs along the other axis.
// RUN: ttc opt %s --tritongpu-coalesce --split-input-file | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Rows start at multiples of 16 bytes, and their elements follow each other.
  // CHECK: sizePerThread = [1, 8]
  // CHECK-LABEL: @rows(
  tt.func public @rows(%p: tensor<64x256x!tt.ptr<f16>, #blocked> {tt.contiguity = dense<[1, 256]> : tensor<2xi32>, tt.divisibility = dense<[2, 2]> : tensor<2xi32>}, %zero: tensor<64x256xi32, #blocked> {tt.divisibility = dense<[4096, 4096]> : tensor<2xi32>, tt.constancy = dense<[64, 256]> : tensor<2xi32>}) {
    %q = tt.addptr %p, %zero {tt.divisibility = dense<[16, 1]> : tensor<2xi32>, tt.contiguity = dense<[1, 256]> : tensor<2xi32>} : tensor<64x256x!tt.ptr<f16>, #blocked>, tensor<64x256xi32, #blocked>
    %x = tt.load %q : tensor<64x256x!tt.ptr<f16>, #blocked>
    tt.store %q, %x : tensor<64x256x!tt.ptr<f16>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Where there are runs of two along the first axis, only every other row is known to start so.
  // CHECK-NOT: sizePerThread = [1, 8]
  // CHECK-LABEL: @pairs_of_rows(
  tt.func public @pairs_of_rows(%p: tensor<64x256x!tt.ptr<f16>, #blocked>, %zero: tensor<64x256xi32, #blocked>) {
    %q = tt.addptr %p, %zero {tt.divisibility = dense<[16, 1]> : tensor<2xi32>, tt.contiguity = dense<[2, 256]> : tensor<2xi32>} : tensor<64x256x!tt.ptr<f16>, #blocked>, tensor<64x256xi32, #blocked>
    %x = tt.load %q : tensor<64x256x!tt.ptr<f16>, #blocked>
    tt.store %q, %x : tensor<64x256x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
