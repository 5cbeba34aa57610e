// A pass refuses a module of another stage, once and with advice; it neither panics nor is taken for broken.
// RUN: not ttc opt %s --ttc-unroll-streams --error-format short 2>&1 | FileCheck %s --check-prefix=LATER
// RUN: not ttc opt %s --tritongpu-coalesce --error-format short 2>&1 | FileCheck %s --check-prefix=COALESCE
// RUN: ttc opt %s --convert-triton-to-tritongpu=target=cuda:90 -o %t.ttgir
// RUN: not ttc opt %t.ttgir --convert-triton-to-tritongpu=target=cuda:90 --error-format short > %t.said 2>&1; FileCheck %s --check-prefix=TWICE < %t.said
// RUN: ttc opt %t.ttgir --tritongpu-coalesce --ttc-unroll-streams -o /dev/null
// LATER: error[E0617]: 'ttc-unroll-streams' works on TTGIR, and tensor<64xi32> has no layout
// COALESCE: error[E0617]: 'tritongpu-coalesce' works on TTGIR, and tensor<64xi32> has no layout
// TWICE: error[E0617]: 'convert-triton-to-tritongpu' works on TTIR, and tensor<64xi32, #ttg.blocked<{{.*}}> has a layout
// TWICE-NOT: error
module {
  tt.func public @k(%p: !tt.ptr<f32>) {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %3 = tt.load %2 : tensor<64x!tt.ptr<f32>>
    tt.store %2, %3 : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
