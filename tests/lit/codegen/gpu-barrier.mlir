// Triton 3.6 writes `tl.debug_barrier` as `gpu.barrier`, in TTIR and TTGIR. It is a barrier of the block.
// RUN: ttc opt %s | FileCheck %s --check-prefix=TEXT
// TEXT: {{^ +}}gpu.barrier{{$}}
// RUN: cp %s %t.ttir && ttc %t.ttir --arch sm_80 --emit ptx -o - | FileCheck %s --check-prefix=PTX
// PTX: ld.global
// PTX: bar.sync 0;
// PTX: st.global
// RUN: ttc %t.ttir --arch sm_80 --emit ttgir -o %t.ttgir && ttc %t.ttgir --emit ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: ttc interpret %t.ttir --arg 'x=zeros(32)' --grid 1 | FileCheck %s --check-prefix=RUNS
// RUNS: k: 1 programs
module {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %from = tt.addptr %base, %range : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %value = tt.load %from : tensor<32x!tt.ptr<f32>>
    gpu.barrier
    tt.store %from, %value : tensor<32x!tt.ptr<f32>>
    tt.return
  }
}
