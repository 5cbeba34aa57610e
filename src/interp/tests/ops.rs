//! Single operations, compared with what they mean.
#![allow(clippy::nonminimal_bool, clippy::neg_cmp_op_on_partial_ord, clippy::overly_complex_bool_expr)] // the negations are what unordered predicates mean

use super::*;
use crate::interp::{Printed, Trace};

const EDGES: [i64; 12] = [0, 1, -1, 2, -2, 7, -7, 100, i32::MAX as i64, i32::MIN as i64, 12345678, -87654321];

/// All pairs of the edge values, as patterns of a width.
fn pairs(width: u32) -> (Vec<u64>, Vec<u64>) {
    let m = super::super::numbers::mask(width);
    let both = EDGES.iter().flat_map(|&a| EDGES.iter().map(move |&b| (a as u64 & m, b as u64 & m)));
    // There are 144 pairs, and padding to a power of two.
    let mut both: Vec<(u64, u64)> = both.collect();
    both.resize(256, (1, 1));
    both.into_iter().unzip()
}

fn check_ints(op: &str, divides: bool, want: fn(i128, i128, u128, u128, u32) -> i128) {
    for width in [8, 16, 32, 64] {
        let (a, mut b) = pairs(width);
        if divides {
            b = b.iter().map(|&y| y.max(1)).collect();
        }
        let (t, ty) = (format!("i{width}"), Type::int(width));
        let got = elementwise(&t, ty, &t, ty, &format!("%result = arith.{op} %a, %b : T"), &a, &b);
        let s = |x: u64| i128::from(super::super::numbers::signed(x, width));
        for ((&x, &y), g) in a.iter().zip(&b).zip(got) {
            let w = want(s(x), s(y), u128::from(x), u128::from(y), width) as u64 & super::super::numbers::mask(width);
            assert_eq!(g, w, "{op} {x:#x} {y:#x} of {width} bits");
        }
    }
}

#[test]
fn integer_arithmetic_wraps() {
    check_ints("addi", false, |a, b, _, _, _| a + b);
    check_ints("subi", false, |a, b, _, _, _| a - b);
    check_ints("muli", false, |a, b, _, _, _| a * b);
    check_ints("andi", false, |a, b, _, _, _| a & b);
    check_ints("ori", false, |a, b, _, _, _| a | b);
    check_ints("xori", false, |a, b, _, _, _| a ^ b);
    check_ints("maxsi", false, |a, b, _, _, _| a.max(b));
    check_ints("minsi", false, |a, b, _, _, _| a.min(b));
    check_ints("maxui", false, |_, _, a, b, _| a.max(b) as i128);
    check_ints("minui", false, |_, _, a, b, _| a.min(b) as i128);
}

#[test]
fn division_rounds_as_it_is_named() {
    let floor = |a: i128, b: i128| a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0);
    assert_eq!((floor(7, 2), floor(-7, 2), floor(7, -2), floor(-7, -2)), (3, -4, -4, 3));
    check_ints("divsi", true, |a, b, _, _, _| a / b);
    check_ints("remsi", true, |a, b, _, _, _| a % b);
    check_ints("divui", true, |_, _, a, b, _| (a / b) as i128);
    check_ints("remui", true, |_, _, a, b, _| (a % b) as i128);
    check_ints("ceildivui", true, |_, _, a, b, _| a.div_ceil(b) as i128);
    check_ints("floordivsi", true, |a, b, _, _, _| a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0));
    check_ints("ceildivsi", true, |a, b, _, _, _| -((-a).div_euclid(b) - i128::from(b < 0 && (-a).rem_euclid(b) != 0)));
}

#[test]
fn shifts_past_the_width_give_zero_or_the_sign() {
    check_ints("shli", false, |_, _, a, b, w| if b < u128::from(w) { (a << b) as i128 } else { 0 });
    check_ints("shrui", false, |_, _, a, b, w| if b < u128::from(w) { (a >> b) as i128 } else { 0 });
    check_ints("shrsi", false, |a, _, _, b, w| a >> b.min(u128::from(w) - 1));
}

#[test]
fn the_upper_half_of_a_product() {
    for width in [32, 64] {
        let (a, b) = pairs(width);
        let (t, ty) = (format!("i{width}"), Type::int(width));
        let got = elementwise(&t, ty, &t, ty, "%result = tt.mulhiui %a, %b : T", &a, &b);
        for ((&x, &y), g) in a.iter().zip(&b).zip(got) {
            assert_eq!(g, ((u128::from(x) * u128::from(y)) >> width) as u64);
        }
    }
}

#[test]
fn integer_comparisons() {
    let (a, b) = pairs(32);
    for (predicate, holds) in [
        ("slt", (|x, y| (x as i32) < y as i32) as fn(u64, u64) -> bool),
        ("sge", |x, y| x as i32 >= y as i32),
        ("ult", |x, y| x < y),
        ("uge", |x, y| x >= y),
        ("eq", |x, y| x == y),
        ("ne", |x, y| x != y),
    ] {
        let code =
            format!("%c = arith.cmpi {predicate}, %a, %b : T\n    %result = arith.extui %c : tensor<256xi1> to T");
        let got = elementwise("i32", i32(), "i32", i32(), &code, &a, &b);
        for ((&x, &y), g) in a.iter().zip(&b).zip(got) {
            assert_eq!(g == 1, holds(x, y), "{predicate} {x:#x} {y:#x}");
        }
    }
}

/// Pairs of f32 with every special value.
fn floats() -> (Vec<u64>, Vec<u64>) {
    let special =
        [0.0f32, -0.0, 1.0, -1.5, 3.2e38, 1e-40, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 2.5, -7.25, 1e-3];
    let bits = |x: f32| u64::from(x.to_bits());
    let mut both: Vec<(u64, u64)> =
        special.iter().flat_map(|&a| special.iter().map(move |&b| (bits(a), bits(b)))).collect();
    let mut random = Random(9);
    both.resize_with(256, || (bits((random.unit() * 100.0) as f32), bits(random.unit() as f32)));
    both.into_iter().unzip()
}

#[test]
fn float_arithmetic_of_f32() {
    let (a, b) = floats();
    for (op, f) in [
        ("arith.addf", (|x, y| x + y) as fn(f32, f32) -> f32),
        ("arith.subf", |x, y| x - y),
        ("arith.mulf", |x, y| x * y),
        ("arith.divf", |x, y| x / y),
        ("tt.precise_divf", |x, y| x / y),
        ("arith.remf", |x, y| x % y),
        ("math.copysign", f32::copysign),
        ("arith.maximumf", |x, y| {
            if x.is_nan() || y.is_nan() {
                f32::NAN
            } else if x == y {
                if x.is_sign_negative() { y } else { x }
            } else {
                x.max(y)
            }
        }),
        ("arith.minimumf", |x, y| {
            if x.is_nan() || y.is_nan() {
                f32::NAN
            } else if x == y {
                if x.is_sign_negative() { x } else { y }
            } else {
                x.min(y)
            }
        }),
        ("arith.maxnumf", |x, y| if x == y { if x.is_sign_negative() { y } else { x } } else { x.max(y) }),
        ("arith.minnumf", |x, y| if x == y { if x.is_sign_negative() { x } else { y } } else { x.min(y) }),
    ] {
        let got = elementwise("f32", f32(), "f32", f32(), &format!("%result = {op} %a, %b : T"), &a, &b);
        for ((&x, &y), g) in a.iter().zip(&b).zip(got) {
            let (x, y, g) = (f32::from_bits(x as u32), f32::from_bits(y as u32), f32::from_bits(g as u32));
            let want = f(x, y);
            assert!(g.to_bits() == want.to_bits() || g.is_nan() && want.is_nan(), "{op} {x} {y}: {g} {want}");
        }
    }
}

#[test]
fn float_comparisons_and_nan() {
    let (a, b) = floats();
    for (predicate, f) in [
        ("oeq", (|x, y| x == y) as fn(f32, f32) -> bool),
        ("olt", |x, y| x < y),
        ("oge", |x, y| x >= y),
        ("one", |x, y| x.partial_cmp(&y).is_some_and(std::cmp::Ordering::is_ne)),
        ("ord", |x, y| !x.is_nan() && !y.is_nan()),
        ("ueq", |x, y| x.partial_cmp(&y).is_none_or(std::cmp::Ordering::is_eq)),
        ("ugt", |x, y| x.partial_cmp(&y).is_none_or(std::cmp::Ordering::is_gt)),
        ("ule", |x, y| x.partial_cmp(&y).is_none_or(std::cmp::Ordering::is_le)),
        ("une", |x, y| x != y),
        ("uno", |x, y| x.is_nan() || y.is_nan()),
    ] {
        let code =
            format!("%c = arith.cmpf {predicate}, %a, %b : T\n    %result = arith.extui %c : tensor<256xi1> to O");
        let got = elementwise("f32", f32(), "i32", i32(), &code, &a, &b);
        for ((&x, &y), g) in a.iter().zip(&b).zip(got) {
            let (x, y) = (f32::from_bits(x as u32), f32::from_bits(y as u32));
            assert_eq!(g == 1, f(x, y), "{predicate} {x} {y}");
        }
    }
}

#[test]
fn narrow_floats_round_each_operation_once() {
    for (name, kind) in [("f16", FloatKind::F16), ("bf16", FloatKind::BF16)] {
        let mut random = Random(4);
        let a: Vec<u64> = (0..256).map(|_| random.next() & 0x7bff | (random.next() & 1) << 15).collect();
        let b: Vec<u64> = (0..256).map(|_| random.next() & 0x7bff).collect();
        for (op, f) in [("addf", (|x, y| x + y) as fn(f64, f64) -> f64), ("mulf", |x, y| x * y), ("divf", |x, y| x / y)]
        {
            let ty = Type::float(kind);
            let got = elementwise(name, ty, name, ty, &format!("%result = arith.{op} %a, %b : T"), &a, &b);
            for ((&x, &y), g) in a.iter().zip(&b).zip(got) {
                let want = kind.from_f64(f(kind.to_f64(x), kind.to_f64(y)));
                assert!(
                    g == want || kind.to_f64(g).is_nan() && kind.to_f64(want).is_nan(),
                    "{op} {x:#x} {y:#x}: {g:#x} {want:#x}"
                );
            }
        }
    }
}

#[test]
fn conversions_to_eight_bits() {
    let values = [0.3, 1.0625, -17.0, 447.0, 460.0, 500.0, -1e5, 0.001, f64::INFINITY];
    let mut bits: Vec<u64> = values.iter().map(|&v| u64::from((v as f32).to_bits())).collect();
    bits.resize(16, 0);
    let (kind, ty) = (FloatKind::F8E4M3FN, Type::float(FloatKind::F8E4M3FN));
    let code = "%result = tt.fp_to_fp %a, rounding = rtne : T -> O";
    let got = elementwise("f32", f32(), "f8E4M3FN", ty, code, &bits, &bits);
    for (v, g) in values.iter().zip(got) {
        let g = kind.to_f64(g);
        let clamped = v.clamp(-448.0, 448.0);
        // No other value of the format may be nearer.
        let best = (0..256)
            .map(|b| kind.to_f64(b))
            .filter(|x| x.is_finite())
            .map(|x| (x - clamped).abs())
            .fold(f64::MAX, f64::min);
        assert_eq!((g - clamped).abs(), best, "{v}");
    }
    let e5 = Type::float(FloatKind::F8E5M2);
    let code = "%result = tt.fp_to_fp %a, rounding = rtz : T -> O";
    let got = elementwise("f32", f32(), "f8E5M2", e5, code, &bits, &bits);
    for (v, g) in values.iter().zip(got).filter(|(v, _)| v.is_finite()) {
        let g = FloatKind::F8E5M2.to_f64(g);
        assert!(
            g.abs() <= v.abs() && (v.abs() - g.abs()) <= v.abs() / 4.0 || v.abs() > 57344.0 && g.abs() == 57344.0,
            "{v} {g}"
        );
    }
}

#[test]
fn elementary_functions() {
    let values: Vec<f64> = (1..=64).map(|i| f64::from(i) / 16.0).collect();
    let bits: Vec<u64> = values.iter().map(|&v| u64::from((v as f32).to_bits())).collect();
    let erf = |x: f64| {
        // The series of the error function. It is good enough for |x| <= 4 in f64, where alternating terms grow up to
        // e^16.
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        2.0 / std::f64::consts::PI.sqrt() * sum
    };
    let cases: [(&str, &dyn Fn(f64) -> f64); 12] = [
        ("exp", &f64::exp),
        ("exp2", &|x| (x * std::f64::consts::LN_2).exp()),
        ("log", &f64::ln),
        ("log2", &f64::log2),
        ("sin", &f64::sin),
        ("cos", &f64::cos),
        ("tanh", &|x| 1.0 - 2.0 / ((2.0 * x).exp() + 1.0)),
        ("sqrt", &f64::sqrt),
        ("rsqrt", &|x| x.powf(-0.5)),
        ("erf", &erf),
        ("floor", &|x| (x as i64) as f64),
        ("ceil", &|x| -(((-x).floor()) as i64 as f64)),
    ];
    for (op, f) in cases {
        let got = elementwise("f32", f32(), "f32", f32(), &format!("%result = math.{op} %a : T"), &bits, &bits);
        for (&v, g) in values.iter().zip(got) {
            let g = f64::from(f32::from_bits(g as u32));
            assert!((g - f(v)).abs() <= 2e-7 * f(v).abs().max(1e-6), "{op} {v}: {g} {}", f(v));
        }
    }
}

#[test]
fn libdevice_functions() {
    let values: Vec<f64> = (-31..=32).map(|i| f64::from(i) / 33.0).collect();
    let bits: Vec<u64> = values.iter().map(|&v| u64::from((v as f32).to_bits())).collect();
    let call = |symbol: &str| {
        let attrs = format!("{{libname = \"\", libpath = \"\", pure = true, symbol = \"{symbol}\"}}");
        let code = format!("%result = tt.extern_elementwise %a {attrs} : (T) -> T");
        elementwise("f32", f32(), "f32", f32(), &code, &bits, &bits)
            .into_iter()
            .map(|g| f64::from(f32::from_bits(g as u32)))
    };
    let back = |symbol: &str, inverse: &dyn Fn(f64) -> f64| {
        for (v, g) in values.iter().zip(call(symbol)) {
            assert!((inverse(g) - v).abs() < 1e-6, "{symbol} {v}: {g}");
        }
    };
    back("__nv_tanhf", &|g| 0.5 * ((1.0 + g) / (1.0 - g)).ln());
    back("__nv_erfinvf", &libm::erf);
    back("__nv_asinf", &f64::sin);
    back("__nv_cbrtf", &|g| g * g * g);
    back("__nv_expm1f", &|g| (1.0 + g).ln());
    for (v, g) in values.iter().zip(call("__nv_fast_expf")) {
        assert!((g - v.exp()).abs() < 1e-6);
    }
}

/// Runs `body` on `%x`, a tensor loaded from `shape` elements of i32, and gives what it stores through `%out`.
fn on_tensor(values: &[i64], outs: usize, body: &str) -> Vec<f64> {
    let n = values.len();
    let ir = module(
        "%p: !tt.ptr<i32>, %out: !tt.ptr<i32>",
        &format!(
            "    %r = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<{n}x!tt.ptr<i32>>
    %pp = tt.addptr %ps, %r : tensor<{n}x!tt.ptr<i32>>, tensor<{n}xi32>
    %x = tt.load %pp : tensor<{n}x!tt.ptr<i32>>
{body}
    %ro = tt.make_range {{end = {outs} : i32, start = 0 : i32}} : tensor<{outs}xi32>
    %os = tt.splat %out : !tt.ptr<i32> -> tensor<{outs}x!tt.ptr<i32>>
    %op = tt.addptr %os, %ro : tensor<{outs}x!tt.ptr<i32>>, tensor<{outs}xi32>
    tt.store %op, %y : tensor<{outs}x!tt.ptr<i32>>"
        ),
    );
    let mut memory = Memory::new();
    let p = memory.add_values("p", i32(), &values.iter().map(|&v| v as f64).collect::<Vec<_>>());
    let out = memory.add_uninit("out", i32(), 4 * outs);
    if let Err(e) = launch(&ir, [1, 1, 1], &[Arg::Ptr(p, 0), Arg::Ptr(out, 0)], &mut memory) {
        panic!("{e:#?}");
    }
    memory.values(out)
}

fn count(n: i64) -> Vec<i64> {
    (0..n).collect()
}

#[test]
fn shapes() {
    // A 2×4 matrix is transposed through a reshape.
    let y = on_tensor(
        &count(8),
        8,
        "    %m = tt.reshape %x : tensor<8xi32> -> tensor<2x4xi32>
    %t = tt.trans %m {order = array<i32: 1, 0>} : tensor<2x4xi32> -> tensor<4x2xi32>
    %y = tt.reshape %t : tensor<4x2xi32> -> tensor<8xi32>",
    );
    assert_eq!(y, [0.0, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0]);
    // In a cycle of three dimensions, element (k, i, j) of the result is (i, j, k) of the source.
    let y = on_tensor(
        &count(16),
        16,
        "    %m = tt.reshape %x : tensor<16xi32> -> tensor<2x2x4xi32>
    %t = tt.trans %m {order = array<i32: 2, 0, 1>} : tensor<2x2x4xi32> -> tensor<4x2x2xi32>
    %y = tt.reshape %t : tensor<4x2x2xi32> -> tensor<16xi32>",
    );
    let want: Vec<f64> = (0..16).map(|i| f64::from((i / 2 % 2) * 8 + (i % 2) * 4 + i / 4)).collect();
    assert_eq!(y, want);
    // Two broadcasts make an outer sum.
    let y = on_tensor(
        &count(4),
        16,
        "    %a = tt.expand_dims %x {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %b = tt.expand_dims %x {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
    %c = tt.broadcast %a : tensor<4x1xi32> -> tensor<4x4xi32>
    %d = tt.broadcast %b : tensor<1x4xi32> -> tensor<4x4xi32>
    %ten = arith.constant dense<10> : tensor<4x4xi32>
    %e = arith.muli %c, %ten : tensor<4x4xi32>
    %f = arith.addi %e, %d : tensor<4x4xi32>
    %y = tt.reshape %f : tensor<4x4xi32> -> tensor<16xi32>",
    );
    assert_eq!(y, (0..16).map(|i| f64::from(i / 4 * 10 + i % 4)).collect::<Vec<_>>());
    // Join interleaves and split undoes it. Cat appends.
    let y = on_tensor(
        &count(4),
        8,
        "    %nine = arith.constant dense<9> : tensor<4xi32>
    %j = tt.join %x, %nine : tensor<4xi32> -> tensor<4x2xi32>
    %a, %b = tt.split %j : tensor<4x2xi32> -> tensor<4xi32>
    %y = tt.cat %b, %a : tensor<4xi32> -> tensor<8xi32>",
    );
    assert_eq!(y, [9.0, 9.0, 9.0, 9.0, 0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn histogram_and_gather() {
    let y = on_tensor(&[3, 1, 3, 0, 7, 3, -1, 9], 4, "    %y = tt.histogram %x : tensor<8xi32> -> tensor<4xi32>");
    assert_eq!(y, [1.0, 1.0, 0.0, 3.0]);
    let y = on_tensor(
        &[3, 1, 2, 0],
        4,
        "    %hundred = arith.constant dense<100> : tensor<4xi32>
    %z = arith.addi %r, %hundred : tensor<4xi32>
    %y = tt.gather %z[%x] {axis = 0 : i32} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>",
    );
    assert_eq!(y, [103.0, 101.0, 102.0, 100.0]);
}

fn combine(op: &str, axis: usize, extra: &str, code: &str, shape: &str, out: &str) -> String {
    format!(
        "\"{op}\"({shape_in}) <{{axis = {axis} : i32{extra}}}> ({{
    ^bb0(%a: i32, %b: i32):
{code}
      {op}.return %g : i32
    }}) : ({shape}) -> {out}",
        shape_in = "%m"
    )
}

#[test]
fn reductions_along_each_axis() {
    let x: Vec<i64> = count(32).iter().map(|i| (i * 37) % 23 - 11).collect();
    let add = "      %g = arith.addi %a, %b : i32";
    // A region with control flow runs pair by pair.
    let max = "      %c = arith.cmpi sgt, %a, %b : i32
      %g = scf.if %c -> (i32) {
        scf.yield %a : i32
      } else {
        scf.yield %b : i32
      }";
    for (code, f) in [(add, (|a, b| a + b) as fn(i64, i64) -> i64), (max, i64::max)] {
        for (axis, out) in [(0, 8), (1, 4)] {
            let body = format!(
                "    %m = tt.reshape %x : tensor<32xi32> -> tensor<4x8xi32>\n    %y = {}",
                combine("tt.reduce", axis, "", code, "tensor<4x8xi32>", &format!("tensor<{out}xi32>"))
            );
            let want: Vec<f64> = (0..out)
                .map(|i| {
                    let at = |k: usize| x[if axis == 0 { k * 8 + i } else { i * 8 + k }];
                    (1..32 / out).fold(at(0), |acc, k| f(acc, at(k))) as f64
                })
                .collect();
            assert_eq!(on_tensor(&x, out, &body), want);
        }
    }
}

#[test]
fn a_reduction_keeps_the_order_of_elements() {
    // The region takes the right one of two, which is associative but not commutative.
    let body = format!(
        "    %m = tt.reshape %x : tensor<8xi32> -> tensor<1x8xi32>\n    %y = {}",
        combine("tt.reduce", 1, "", "      %g = arith.addi %b, %zero : i32", "tensor<1x8xi32>", "tensor<1xi32>")
    );
    let body = format!("    %zero = arith.constant 0 : i32\n{body}");
    assert_eq!(on_tensor(&[5, 4, 3, 2, 1, 6, 7, 8], 1, &body), [8.0]);
}

#[test]
fn a_reduction_with_an_index() {
    // The region finds the position of the least element, the first of equal ones.
    let y = on_tensor(
        &[5, 3, 9, 1, 7, 1, 2, 4],
        1,
        "    %v:2 = \"tt.reduce\"(%x, %r) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %i: i32, %b: i32, %j: i32):
      %lt = arith.cmpi slt, %a, %b : i32
      %eq = arith.cmpi eq, %a, %b : i32
      %first = arith.cmpi slt, %i, %j : i32
      %tie = arith.andi %eq, %first : i1
      %c = arith.ori %lt, %tie : i1
      %g = arith.select %c, %a, %b : i32
      %h = arith.select %c, %i, %j : i32
      tt.reduce.return %g, %h : i32, i32
    }) : (tensor<8xi32>, tensor<8xi32>) -> (i32, i32)
    %y = tt.splat %v#1 : i32 -> tensor<1xi32>",
    );
    assert_eq!(y, [3.0]);
}

#[test]
fn scans_in_both_directions() {
    let x = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3];
    let max = "      %g = arith.maxsi %a, %b : i32";
    let add = "      %g = arith.addi %a, %b : i32";
    for (code, f) in [(add, (|a, b| a + b) as fn(i64, i64) -> i64), (max, i64::max)] {
        for reverse in [false, true] {
            let body = format!(
                "    %m = tt.reshape %x : tensor<16xi32> -> tensor<2x8xi32>\n    %s = {}\n    %y = tt.reshape %s : tensor<2x8xi32> -> tensor<16xi32>",
                combine("tt.scan", 1, &format!(", reverse = {reverse}"), code, "tensor<2x8xi32>", "tensor<2x8xi32>")
            );
            let mut want = vec![];
            for row in x.chunks(8) {
                let scan = |v: &mut dyn Iterator<Item = &i64>| {
                    let mut acc: Option<i64> = None;
                    v.map(|&b| *acc.insert(acc.map_or(b, |a| f(a, b)))).collect::<Vec<i64>>()
                };
                let mut out = if reverse { scan(&mut row.iter().rev()) } else { scan(&mut row.iter()) };
                if reverse {
                    out.reverse();
                }
                want.extend(out.into_iter().map(|v| v as f64));
            }
            assert_eq!(on_tensor(&x, 16, &body), want, "reverse = {reverse}");
        }
    }
}

#[test]
fn map_elementwise_with_packs() {
    // Each pair is swapped. The region has control flow.
    let y = on_tensor(
        &count(8),
        8,
        "    %y = \"tt.map_elementwise\"(%x) <{pack = 2 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.cmpi slt, %a, %b : i32
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      tt.map_elementwise.return %b, %a : i32, i32
    ^bb2:
      tt.map_elementwise.return %a, %b : i32, i32
    }) : (tensor<8xi32>) -> tensor<8xi32>",
    );
    assert_eq!(y, [1.0, 0.0, 3.0, 2.0, 5.0, 4.0, 7.0, 6.0]);
}

#[test]
fn calls_branches_and_loops() {
    // The kernel counts the Collatz steps of 1 to 8 by a function with branches and a loop.
    let ir = parse(
        "module {
  tt.func public @k(%p: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    scf.for %i = %c0 to %c8 step %c1  : i32 {
      %n = arith.addi %i, %c1 : i32
      %s = tt.call @steps(%n) : (i32) -> i32
      %q = tt.addptr %p, %i : !tt.ptr<i32>, i32
      tt.store %q, %s : !tt.ptr<i32>
    }
    tt.return
  }
  tt.func private @steps(%n: i32) -> i32 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    cf.br ^head(%n, %zero : i32, i32)
  ^head(%x: i32, %count: i32):
    %done = arith.cmpi eq, %x, %one : i32
    cf.cond_br %done, ^exit, ^body
  ^body:
    %next = arith.addi %count, %one : i32
    %bit = arith.andi %x, %one : i32
    %odd = arith.cmpi ne, %bit, %zero : i32
    %y = scf.if %odd -> (i32) {
      %t = arith.muli %x, %three : i32
      %u = arith.addi %t, %one : i32
      scf.yield %u : i32
    } else {
      %h = arith.divui %x, %two : i32
      scf.yield %h : i32
    }
    cf.br ^head(%y, %next : i32, i32)
  ^exit:
    tt.return %count : i32
  }
}",
    );
    let mut memory = Memory::new();
    let p = memory.add_uninit("p", i32(), 32);
    launch(&ir, [1, 1, 1], &[Arg::Ptr(p, 0)], &mut memory).unwrap();
    assert_eq!(memory.values(p), [0.0, 1.0, 7.0, 2.0, 5.0, 8.0, 16.0, 3.0]);
}

/// d = a · b + c of 8×8 matrices of the given types, where b is the identity times two.
fn dot(elem: Type, name: &str, out: &str, out_elem: Type, attrs: &str, a: &[f64]) -> Vec<f64> {
    let load = |v: &str, t: &str| {
        format!(
            "    %{v}s = tt.splat %{v} : !tt.ptr<{t}> -> tensor<8x8x!tt.ptr<{t}>>
    %{v}p = tt.addptr %{v}s, %o : tensor<8x8x!tt.ptr<{t}>>, tensor<8x8xi32>\n"
        )
    };
    let zero = if out_elem.is_int() { "0" } else { "0.0" };
    let ir = module(
        &format!("%a: !tt.ptr<{name}>, %b: !tt.ptr<{name}>, %d: !tt.ptr<{out}>"),
        &format!(
            "    %r = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
    %o = tt.reshape %r : tensor<64xi32> -> tensor<8x8xi32>
{}{}{}    %x = tt.load %ap : tensor<8x8x!tt.ptr<{name}>>
    %y = tt.load %bp : tensor<8x8x!tt.ptr<{name}>>
    %c = arith.constant dense<{zero}> : tensor<8x8x{out}>
    %z = tt.dot %x, %y, %c{attrs} : tensor<8x8x{name}> * tensor<8x8x{name}> -> tensor<8x8x{out}>
    tt.store %dp, %z : tensor<8x8x!tt.ptr<{out}>>",
            load("a", name),
            load("b", name),
            load("d", out),
        ),
    );
    let b: Vec<f64> = (0..64).map(|i| if i / 8 == i % 8 { 2.0 } else { 0.0 }).collect();
    let mut memory = Memory::new();
    let (pa, pb) = (memory.add_values("a", elem, a), memory.add_values("b", elem, &b));
    let pd = memory.add_uninit("d", out_elem, 64 * out_elem.bit_width().unwrap() as usize / 8);
    launch(&ir, [1, 1, 1], &[Arg::Ptr(pa, 0), Arg::Ptr(pb, 0), Arg::Ptr(pd, 0)], &mut memory).unwrap();
    memory.values(pd)
}

#[test]
fn dots_of_every_type() {
    let a: Vec<f64> = Random(7).units(64).iter().map(|x| (x * 100.0).round()).collect();
    let doubled: Vec<f64> = a.iter().map(|x| 2.0 * x).collect();
    let float = Type::float;
    assert_eq!(dot(Type::int(8), "i8", "i32", i32(), "", &a), doubled);
    assert_eq!(dot(float(FloatKind::F16), "f16", "f32", f32(), "", &a), doubled);
    assert_eq!(dot(float(FloatKind::F16), "f16", "f16", float(FloatKind::F16), "", &a), doubled);
    assert_eq!(dot(float(FloatKind::BF16), "bf16", "f32", f32(), "", &a), doubled);
    assert_eq!(dot(float(FloatKind::F64), "f64", "f64", float(FloatKind::F64), "", &a), doubled);
    let small: Vec<f64> = a.iter().map(|x| (x / 16.0).round()).collect();
    let want: Vec<f64> = small.iter().map(|x| 2.0 * x).collect();
    assert_eq!(dot(float(FloatKind::F8E4M3FN), "f8E4M3FN", "f32", f32(), "", &small), want);
}

#[test]
fn precision_of_f32_operands() {
    // 1 + 2^-12 needs 12 mantissa bits. tf32 has 10 and drops it; the three-part products keep it.
    let a = vec![1.0 + 2f64.powi(-12); 64];
    for (attrs, want) in [
        ("", 2.0 + 2f64.powi(-11)),
        (", inputPrecision = tf32", 2.0),
        (", inputPrecision = tf32x3", 2.0 + 2f64.powi(-11)),
        (", inputPrecision = bf16x6", 2.0 + 2f64.powi(-11)),
    ] {
        assert_eq!(dot(f32(), "f32", "f32", f32(), attrs, &a), vec![want; 64], "{attrs}");
    }
}

#[test]
fn block_pointers_and_descriptors_stop_at_the_boundary() {
    let block_pointer =
        "    %p = tt.make_tensor_ptr %x, [%rows, %cols], [%cols, %one], [%three, %zero] {order = array<i32: 1, 0>} : <tensor<4x8xi32>>
    %q = tt.advance %p, [%zero, %four] : <tensor<4x8xi32>>
    %v = tt.load %q {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<4x8xi32>>
    %w = tt.make_tensor_ptr %y, [%rows, %cols], [%cols, %one], [%zero, %zero] {order = array<i32: 1, 0>} : <tensor<4x8xi32>>
    tt.store %w, %v {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<4x8xi32>>";
    let descriptor = "    %d = tt.make_tensor_descriptor %x, [%rows32, %cols32], [%cols, %one] : !tt.ptr<i32>, !tt.tensordesc<4x8xi32>
    %v = tt.descriptor_load %d[%three, %four] : !tt.tensordesc<4x8xi32> -> tensor<4x8xi32>
    %e = tt.make_tensor_descriptor %y, [%rows32, %cols32], [%cols, %one] : !tt.ptr<i32>, !tt.tensordesc<4x8xi32>
    tt.descriptor_store %e[%zero, %zero], %v : !tt.tensordesc<4x8xi32>, tensor<4x8xi32>";
    for body in [block_pointer, descriptor] {
        let ir = module(
            "%x: !tt.ptr<i32>, %y: !tt.ptr<i32>",
            &format!(
                "    %rows = arith.constant 5 : i64
    %cols = arith.constant 7 : i64
    %one = arith.constant 1 : i64
    %rows32 = arith.constant 5 : i32
    %cols32 = arith.constant 7 : i32
    %zero = arith.constant 0 : i32
    %three = arith.constant 3 : i32
    %four = arith.constant 4 : i32
{body}"
            ),
        );
        let mut memory = Memory::new();
        let data: Vec<f64> = (100..135).map(f64::from).collect();
        let x = memory.add_values("x", i32(), &data);
        let y = memory.add_values("y", i32(), &[-1.0; 35]);
        if let Err(e) = launch(&ir, [1, 1, 1], &[Arg::Ptr(x, 0), Arg::Ptr(y, 0)], &mut memory) {
            panic!("{e:#?}");
        }
        let at = |r: usize, c: usize| if r < 5 && c < 7 { data[r * 7 + c] } else { 0.0 };
        let want: Vec<f64> = (0..35).map(|i| if i < 28 { at(i / 7 + 3, i % 7 + 4) } else { -1.0 }).collect();
        assert_eq!(memory.values(y), want);
    }
}

#[test]
fn pointers_travel_through_memory() {
    let ir = module(
        "%list: !tt.ptr<i64>, %out: !tt.ptr<f32>",
        "    %pid = tt.get_program_id x : i32
    %q = tt.addptr %list, %pid : !tt.ptr<i64>, i32
    %address = tt.load %q : !tt.ptr<i64>
    %p = tt.int_to_ptr %address : i64 -> !tt.ptr<f32>
    %v = tt.load %p : !tt.ptr<f32>
    %o = tt.addptr %out, %pid : !tt.ptr<f32>, i32
    tt.store %o, %v : !tt.ptr<f32>",
    );
    let mut memory = Memory::new();
    let (a, b) = (memory.add_values("a", f32(), &[1.5]), memory.add_values("b", f32(), &[0.0, 2.5]));
    let addresses: Vec<u8> = [memory.address(a), memory.address(b) + 4].iter().flat_map(|x| x.to_le_bytes()).collect();
    let list = memory.add("list", Type::int(64), &addresses);
    let out = memory.add_uninit("out", f32(), 8);
    launch(&ir, [2, 1, 1], &[Arg::Ptr(list, 0), Arg::Ptr(out, 0)], &mut memory).unwrap();
    assert_eq!(memory.values(out), [1.5, 2.5]);
}

#[test]
fn prints_and_traces() {
    let ir = parse(
        "module {
  tt.func public @k(%n: i32) {
    %pid = tt.get_program_id x : i32
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %ns = tt.splat %pid : i32 -> tensor<16xi32>
    %sum = arith.addi %r, %ns : tensor<16xi32> loc(#named)
    %f = arith.sitofp %pid : i32 to f32 loc(#other)
    tt.print \" sum: \" {hex = false, isSigned = array<i32: 1>} : %sum : tensor<16xi32>
    tt.print \" two: \" {hex = true, isSigned = array<i32: 1, 1>} : %pid, %n : i32, i32
    tt.return
  }
}
#at = loc(\"k.tk\":4:8)
#named = loc(\"sum\"(#at))
#other = loc(\"k.tk\":5:8)
",
    );
    let trace = Trace { file: Some("k.tk".to_owned()), line: 4, program: [1, 0, 0] };
    let options = RunOptions { trace: Some(trace), ..RunOptions::default() };
    let report = run(&ir, "k", [2, 1, 1], &[Arg::Int(-1)], &mut Memory::new(), &options).unwrap();
    assert_eq!(report.printed.len(), 36);
    assert_eq!(report.printed[3], Printed { program: [0, 0, 0], text: "pid (0, 0, 0) idx ( 3) sum: 3".to_owned() });
    assert_eq!(report.printed[35].text, "pid (1, 0, 0) idx () two: (operand 1) 0xffffffff");
    let [traced] = &report.traced[..] else { panic!("{:?}", report.traced) };
    assert_eq!((traced.line, traced.col, traced.name.as_deref(), traced.op), (4, 8, Some("sum"), "arith.addi"));
    assert_eq!(traced.text, "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]");
}

#[test]
fn a_reduction_through_a_function() {
    // This is what irgen leaves before inlining: the region calls the combining function.
    let ir = parse(
        "module {
  tt.func private @larger(%a: i32, %b: i32) -> i32 {
    %c = arith.cmpi sgt, %a, %b : i32
    %d = arith.select %c, %a, %b : i32
    tt.return %d : i32
  }
  tt.func public @k(%p: !tt.ptr<i32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %key = arith.constant dense<37> : tensor<64xi32>
    %x = arith.xori %r, %key : tensor<64xi32>
    %m = \"tt.reduce\"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %g = tt.call @larger(%a, %b) : (i32, i32) -> i32
      tt.reduce.return %g : i32
    }) : (tensor<64xi32>) -> i32
    tt.store %p, %m : !tt.ptr<i32>
    tt.return
  }
}",
    );
    let mut memory = Memory::new();
    let p = memory.add_uninit("p", i32(), 4);
    let report = launch(&ir, [1, 1, 1], &[Arg::Ptr(p, 0)], &mut memory).unwrap();
    assert_eq!(memory.values(p), [63.0]);
    // The region takes six steps of all pairs at once, not 63 steps of one pair.
    assert!(report.ops < 50, "{}", report.ops);
}
