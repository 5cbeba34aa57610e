//! `tt.dot_scaled` against what its formats and scales mean.

use super::*;

#[test]
fn scaled_dot_of_four_bit_floats() {
    // a is 16×32 of e2m1 in pairs along k, and every element is 1.5 (code 3). b is 32×16 of e4m3 ones. The scales are
    // 2^(128 - 127) and 2^(125 - 127).
    let ir = module(
        "%d: !tt.ptr<f32>",
        "    %a = arith.constant dense<51> : tensor<16x16xi8>
    %b = arith.constant dense<1.0> : tensor<32x16xf8E4M3FN>
    %c = arith.constant dense<1.0> : tensor<16x16xf32>
    %sa = arith.constant dense<-128> : tensor<16x1xi8>
    %sb = arith.constant dense<125> : tensor<16x1xi8>
    %z = tt.dot_scaled %a scale %sa, %b scale %sb, %c lhs = e2m1 rhs = e4m3 {fastMath = false} : tensor<16x16xi8>, tensor<16x1xi8> * tensor<32x16xf8E4M3FN>, tensor<16x1xi8> -> tensor<16x16xf32>
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %o = tt.reshape %r : tensor<256xi32> -> tensor<16x16xi32>
    %ds = tt.splat %d : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %dp = tt.addptr %ds, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    tt.store %dp, %z : tensor<16x16x!tt.ptr<f32>>",
    );
    let mut memory = Memory::new();
    let d = memory.add_uninit("d", f32(), 1024);
    launch(&ir, [1, 1, 1], &[Arg::Ptr(d, 0)], &mut memory).unwrap();
    assert_eq!(memory.values(d), vec![1.0 + 32.0 * 1.5 * 2.0 * 0.25; 256]);
}

/// One element of a product of ones with 32 elements along k; the left scale times the right one.
fn scaled_ones(right: &str, scales: [i64; 2], fast: bool) -> f64 {
    let format = if right == "f16" { "fp16" } else { "e5m2" };
    let ir = module(
        "%d: !tt.ptr<f32>",
        &format!(
            "    %a = arith.constant dense<1.0> : tensor<16x32xf8E4M3FN>
    %b = arith.constant dense<1.0> : tensor<32x16x{right}>
    %c = arith.constant dense<0.0> : tensor<16x16xf32>
    %sa = arith.constant dense<{}> : tensor<16x1xi8>
    %sb = arith.constant dense<{}> : tensor<16x1xi8>
    %z = tt.dot_scaled %a scale %sa, %b scale %sb, %c lhs = e4m3 rhs = {format} {{fastMath = {fast}}} : tensor<16x32xf8E4M3FN>, tensor<16x1xi8> * tensor<32x16x{right}>, tensor<16x1xi8> -> tensor<16x16xf32>
    %r = tt.make_range {{end = 256 : i32, start = 0 : i32}} : tensor<256xi32>
    %o = tt.reshape %r : tensor<256xi32> -> tensor<16x16xi32>
    %ds = tt.splat %d : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %dp = tt.addptr %ds, %o : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    tt.store %dp, %z : tensor<16x16x!tt.ptr<f32>>",
            scales[0], scales[1]
        ),
    );
    let mut memory = Memory::new();
    let d = memory.add_uninit("d", f32(), 1024);
    launch(&ir, [1, 1, 1], &[Arg::Ptr(d, 0)], &mut memory).unwrap();
    memory.values(d)[0]
}

#[test]
fn scaled_dot_with_scales_at_the_ends() {
    // The result is 2^-127 · 2^125 · 32. bf16 has the least scale as a subnormal. f32, on the way to f16, does not have
    // it.
    assert_eq!(scaled_ones("f8E5M2", [0, 252 - 256], false), 8.0);
    assert_eq!(scaled_ones("f16", [0, 140 - 256], false), 0.0);
    // 255 is not a number, unless nobody looks. Then it is the infinity that its bits stand for.
    assert!(scaled_ones("f8E5M2", [-1, 127], false).is_nan());
    assert!(scaled_ones("f16", [-1, 127], false).is_nan());
    assert_eq!(scaled_ones("f8E5M2", [-1, 127], true), f64::INFINITY);
    // f16 ends at 2^15.
    assert_eq!(scaled_ones("f16", [142 - 256, 127], false), 32.0 * 32768.0);
    assert_eq!(scaled_ones("f16", [143 - 256, 127], false), f64::INFINITY);
}
