// RUN: ttc opt %s --verify-diagnostics
// Which element types one packed instruction takes, and where the elements lie.

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#h = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#x = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!f32 = tensor<512xf32, #b>
!f16 = tensor<512xf16, #b>
!bf16 = tensor<512xbf16, #b>
!e5m2 = tensor<512xf8E5M2, #b>
!e4m3 = tensor<512xf8E4M3FN, #b>
!scale = tensor<512xf8E8M0FNU, #b>
!e2m1 = tensor<256xi8, #h>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @good(%f32: !f32, %f16: !f16, %bf16: !bf16, %e5m2: !e5m2, %e4m3: !e4m3, %scale: !scale, %e2m1: !e2m1) {
    %0 = ttng.packed_arith add %f16, %f32 : (!f16, !f32) -> !f32
    %1 = ttng.packed_arith sub %f32, %f32 : (!f32, !f32) -> !bf16
    %2 = ttng.packed_arith mul %f16, %bf16 : (!f16, !bf16) -> !f16
    %3 = ttng.packed_arith fma %bf16, %f32, %f32 : (!bf16, !f32, !f32) -> !f32
    %4 = ttng.packed_arith max %bf16, %bf16 : (!bf16, !bf16) -> !bf16
    %5 = ttng.packed_arith mul %e2m1, %e5m2 : (!e2m1, !e5m2) -> !e4m3
    %6 = ttng.packed_arith fma %scale, %e2m1, %e4m3 : (!scale, !e2m1, !e4m3) -> !e4m3
    tt.return
  }
  tt.func @bad(%f32: !f32, %f16: !f16, %e5m2: !e5m2, %e4m3: !e4m3, %scale: !scale, %e2m1: !e2m1, %few: tensor<128xf32, #x>, %other: tensor<256xi8, #x>, %short: tensor<128xi8, #x>, %six: tensor<512xf6E3M2FN, #b>) {
    // expected-error @below {{it has 2 operands, expected 3}}
    %0 = ttng.packed_arith fma %f32, %f32 : (!f32, !f32) -> !f32
    // expected-error @below {{no instruction computes `add` of f16, f32 in f16}}
    %1 = ttng.packed_arith add %f16, %f32 : (!f16, !f32) -> !f16
    // expected-error @below {{no instruction computes `min` of f32, f32 in f32}}
    %2 = ttng.packed_arith min %f32, %f32 : (!f32, !f32) -> !f32
    // expected-error @below {{no instruction computes `add` of f8E4M3FN, f8E8M0FNU in f8E4M3FN}}
    %3 = ttng.packed_arith add %e4m3, %scale : (!e4m3, !scale) -> !e4m3
    // expected-error @below {{a thread has 1 elements of the result, expected a multiple of 2}}
    %4 = ttng.packed_arith add %few, %few : (tensor<128xf32, #x>, tensor<128xf32, #x>) -> tensor<128xf32, #x>
    // expected-error @below {{operand #0 has type}}
    %5 = ttng.packed_arith add %other, %e4m3 : (tensor<256xi8, #x>, !e4m3) -> !e4m3
    // expected-error @below {{operand #0 has shape [128], expected [512] with one dimension halved}}
    %6 = ttng.packed_arith add %short, %e4m3 : (tensor<128xi8, #x>, !e4m3) -> !e4m3
    // expected-error @below {{expected tensor of i8, f8E8M0FNU, f8E4M3FN, f8E5M2, f16, bf16 or f32}}
    %7 = ttng.packed_arith add %six, %e4m3 : (tensor<512xf6E3M2FN, #b>, !e4m3) -> !e4m3
    tt.return
  }
}
