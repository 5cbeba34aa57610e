// What a pass cannot take is an error of the input, not a broken pass: pointers to blocks, reductions that memory does not do.
// RUN: not ttc opt %s --split-input-file --convert-triton-to-tritongpu=target=cuda:90 --triton-nvidia-tma-lowering --error-format short > %t 2>&1; FileCheck %s < %t
// RUN: not grep E0604 %t
module {
  tt.func public @block_pointer(%p: !tt.ptr<tensor<16xf32>>) {
    // CHECK: opt-refusals.mlir:[[#@LINE+1]]:{{[0-9]+}}: error[E0605]: `tt.load` has a pointer to a block; run 'triton-rewrite-tensor-pointer' first
    %v = tt.load %p : !tt.ptr<tensor<16xf32>>
    tt.return
  }
}
// -----
module {
  tt.func public @no_max(%d: !tt.tensordesc<64xf32>, %o: i32) {
    %v = arith.constant dense<1.0> : tensor<64xf32>
    // CHECK: opt-refusals.mlir:[[#@LINE+1]]:{{[0-9]+}}: error[E0605]: `tt.descriptor_reduce`: memory does not combine elements of type f32 by `max`
    tt.descriptor_reduce max, %d[%o], %v : !tt.tensordesc<64xf32>, tensor<64xf32>
    tt.return
  }
}
