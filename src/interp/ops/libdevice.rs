//! `tt.extern_elementwise`: functions of NVIDIA's libdevice by name.
//!
//! A name is `__nv_` and a C name, with an `f` at the end for f32 (`__nv_tanhf`), sometimes with a rounding
//! (`__nv_fmaf_rn`). Float functions are computed in f64 and rounded once to the result's type, so they are more exact
//! than the device's.
//!
//! 1. `__nv_` is taken off, and the final `f` too if what remains is a known name.
//! 2. The name is looked up in the tables of functions of one, two and three floats, then among the integer functions
//!    and the tests.

use super::super::fault::Fault;
use super::super::numbers::{self, mask, signed, width};
use super::super::program::Program;
use super::super::value::{Lanes, Val};
use super::arith::{float1, float2};
use super::math::fma;
use crate::ir::dialects::tt::tt::ExternElementwise;
use crate::ir::{FloatKind, Op, Type};

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

pub(crate) fn call(p: &Program<'_>, op: Op) -> Result<Val, Fault> {
    let symbol = ExternElementwise(op).symbol(p.ir).unwrap_or_default();
    let ty = p.ir.ty(p.ir.result(op));
    let args: Vec<(Lanes, Type)> = p.ir.operands(op).iter().map(|&v| (p.get(v).lanes, p.ir.ty(v))).collect();
    let found = symbol.strip_prefix("__nv_").and_then(|name| by_name(name, &args, ty));
    found.map(Val::from).ok_or_else(|| p.unsupported(op, &format!("the function `{symbol}` is not known")))
}

fn by_name(name: &str, args: &[(Lanes, Type)], ty: Type) -> Option<Lanes> {
    let short = name.strip_suffix('f').filter(|s| !s.is_empty());
    [Some(name), short].into_iter().flatten().find_map(|n| floats(n, args, ty)).or_else(|| others(name, args, ty))
}

/// Computes functions whose operands and result are floats.
fn floats(name: &str, args: &[(Lanes, Type)], ty: Type) -> Option<Lanes> {
    if !ty.elem().is_float() {
        return None;
    }
    match args {
        [(a, t)] if t.elem().is_float() => {
            let f = unary(name)?;
            Some(float1(ty, a, move |x| f(f64::from(x)) as f32, f))
        }
        [(a, t), (b, u)] if t.elem().is_float() && u.elem().is_float() => {
            let f = binary(name)?;
            Some(float2(ty, a, b, move |x, y| f(f64::from(x), f64::from(y)) as f32, f))
        }
        // The integer is an exponent, or the order of a Bessel function.
        [(a, t), (b, u)] if t.elem().is_float() && u.elem().is_int() => {
            let kind = t.elem().as_float()?;
            let f: fn(f64, i32) -> f64 = match name {
                "powi" => |x, n| x.powf(f64::from(n)),
                "ldexp" | "scalbn" => libm::ldexp,
                _ => return None,
            };
            Some(a.zip(b, |x, n| {
                numbers::round_to(
                    kind,
                    f(numbers::to_f64(kind, x), signed(n, width(*u)) as i32),
                    numbers::Rounding::ToNearestEven,
                )
            }))
        }
        [(a, t), (b, u)] if t.elem().is_int() && u.elem().is_float() => {
            let kind = u.elem().as_float()?;
            let f: fn(i32, f64) -> f64 = match name {
                "jn" => libm::jn,
                "yn" => libm::yn,
                _ => return None,
            };
            Some(a.zip(b, |n, x| {
                numbers::round_to(
                    kind,
                    f(signed(n, width(*t)) as i32, numbers::to_f64(kind, x)),
                    numbers::Rounding::ToNearestEven,
                )
            }))
        }
        [(a, _), (b, _), (c, _)] => match name {
            "fma" | "fma_rn" | "fmaf_rn" => Some(fma(ty, a, b, c)),
            "norm3d" | "rnorm3d" => {
                let kind = ty.elem().as_float()?;
                let v = |x: u64| numbers::to_f64(kind, x);
                let inverse = name.starts_with('r');
                Some(a.zip3(b, c, |x, y, z| {
                    let norm = v(x).hypot(v(y)).hypot(v(z));
                    numbers::round_to(kind, if inverse { 1.0 / norm } else { norm }, numbers::Rounding::ToNearestEven)
                }))
            }
            _ => None,
        },
        _ => None,
    }
}

fn unary(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "abs" | "fabs" => f64::abs,
        "acos" => f64::acos,
        "acosh" => libm::acosh,
        "asin" => f64::asin,
        "asinh" => libm::asinh,
        "atan" => f64::atan,
        "atanh" => libm::atanh,
        "cbrt" => f64::cbrt,
        "ceil" => f64::ceil,
        "cos" | "fast_cos" => f64::cos,
        "cosh" => f64::cosh,
        "cospi" => |x| (x.rem_euclid(2.0) * PI).cos(),
        "cyl_bessel_i0" => |x| bessel_i(0, x),
        "cyl_bessel_i1" => |x| bessel_i(1, x),
        "erf" => libm::erf,
        "erfc" => libm::erfc,
        "erfcinv" => |x| erfinv(1.0 - x),
        "erfcx" => {
            |x| if x < 25.0 { (x * x).exp() * libm::erfc(x) } else { 1.0 / (x * PI.sqrt()) * (1.0 - 0.5 / (x * x)) }
        }
        "erfinv" => erfinv,
        "exp" | "fast_exp" => f64::exp,
        "exp10" | "fast_exp10" => |x| libm::exp10(x),
        "exp2" => f64::exp2,
        "expm1" => f64::exp_m1,
        "floor" => f64::floor,
        "j0" => libm::j0,
        "j1" => libm::j1,
        "lgamma" => libm::lgamma,
        "log" | "fast_log" => f64::ln,
        "log10" | "fast_log10" => f64::log10,
        "log1p" => f64::ln_1p,
        "log2" | "fast_log2" => f64::log2,
        "logb" => |x| {
            if x == 0.0 {
                f64::NEG_INFINITY
            } else if x.is_finite() {
                f64::from(libm::ilogb(x))
            } else {
                x.abs()
            }
        },
        "nearbyint" | "rint" => f64::round_ties_even,
        "normcdf" => |x| 0.5 * libm::erfc(-x * FRAC_1_SQRT_2),
        "normcdfinv" => |x| SQRT_2 * erfinv(2.0 * x - 1.0),
        "rcbrt" => |x| 1.0 / x.cbrt(),
        "drcp_rn" | "frcp_rn" => |x| 1.0 / x,
        "round" => f64::round,
        "rsqrt" | "frsqrt_rn" => |x| 1.0 / x.sqrt(),
        "saturate" => |x| if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) },
        "sin" | "fast_sin" => f64::sin,
        "sinh" => f64::sinh,
        "sinpi" => |x| (x.rem_euclid(2.0) * PI).sin(),
        "sqrt" | "fsqrt_rn" | "dsqrt_rn" => f64::sqrt,
        "tan" | "fast_tan" => f64::tan,
        "tanh" => f64::tanh,
        "tgamma" => libm::tgamma,
        "trunc" => f64::trunc,
        "y0" => libm::y0,
        "y1" => libm::y1,
        _ => return None,
    })
}

fn binary(name: &str) -> Option<fn(f64, f64) -> f64> {
    Some(match name {
        "atan2" => f64::atan2,
        "copysign" => f64::copysign,
        "fdim" => libm::fdim,
        "fmod" => |x, y| x % y,
        "hypot" => f64::hypot,
        "rhypot" => |x, y| 1.0 / x.hypot(y),
        "fmax" | "max" => f64::max,
        "fmin" | "min" => f64::min,
        "pow" | "fast_pow" => f64::powf,
        "remainder" => libm::remainder,
        "fast_fdivide" | "fdiv_rn" | "ddiv_rn" => |x, y| x / y,
        "fadd_rn" | "dadd_rn" => |x, y| x + y,
        "fsub_rn" | "dsub_rn" => |x, y| x - y,
        "fmul_rn" | "dmul_rn" => |x, y| x * y,
        _ => return None,
    })
}

/// Computes tests of floats, conversions, and functions of integers.
fn others(name: &str, args: &[(Lanes, Type)], ty: Type) -> Option<Lanes> {
    let (a, ta) = args.first()?;
    let w = width(*ta);
    let s = |x: u64| signed(x, w);
    let out = mask(width(ty));
    if let Some(kind) = ta.elem().as_float() {
        return float_to_int(name, a, kind, ty);
    }
    if let Some(kind) = ty.elem().as_float() {
        return match name {
            "int_as_float" | "uint_as_float" | "longlong_as_double" => Some(a.clone()),
            "int2float_rn" | "int2double_rn" | "ll2float_rn" | "ll2double_rn" => {
                Some(a.map(|x| numbers::from_int(kind, i128::from(s(x)))))
            }
            "uint2float_rn" | "uint2double_rn" | "ull2float_rn" | "ull2double_rn" => {
                Some(a.map(|x| numbers::from_int(kind, i128::from(x))))
            }
            _ => None,
        };
    }
    let b = args.get(1).map(|(b, _)| b);
    Some(match (name, b) {
        ("abs" | "llabs", None) => a.map(|x| s(x).wrapping_abs() as u64 & out),
        ("brev" | "brevll", None) => a.map(|x| x.reverse_bits() >> (64 - w)),
        ("clz" | "clzll", None) => a.map(|x| u64::from(x.leading_zeros() - (64 - w))),
        ("popc" | "popcll", None) => a.map(|x| u64::from(x.count_ones())),
        ("ffs" | "ffsll", None) => a.map(|x| if x == 0 { 0 } else { u64::from(x.trailing_zeros()) + 1 }),
        ("mulhi" | "mul64hi", Some(b)) => a.zip(b, |x, y| ((i128::from(s(x)) * i128::from(s(y))) >> w) as u64 & out),
        ("umulhi" | "umul64hi", Some(b)) => a.zip(b, |x, y| ((u128::from(x) * u128::from(y)) >> w) as u64 & out),
        ("mul24", Some(b)) => a.zip(b, |x, y| signed(x, 24).wrapping_mul(signed(y, 24)) as u64 & out),
        ("umul24", Some(b)) => a.zip(b, |x, y| (x & 0xff_ffff).wrapping_mul(y & 0xff_ffff) & out),
        ("hadd", Some(b)) => a.zip(b, |x, y| ((s(x) + s(y)) >> 1) as u64 & out),
        ("uhadd", Some(b)) => a.zip(b, |x, y| (x + y) >> 1),
        ("rhadd", Some(b)) => a.zip(b, |x, y| ((s(x) + s(y) + 1) >> 1) as u64 & out),
        ("urhadd", Some(b)) => a.zip(b, |x, y| (x + y + 1) >> 1),
        ("max" | "llmax", Some(b)) => a.zip(b, |x, y| s(x).max(s(y)) as u64 & out),
        ("min" | "llmin", Some(b)) => a.zip(b, |x, y| s(x).min(s(y)) as u64 & out),
        ("umax" | "ullmax", Some(b)) => a.zip(b, u64::max),
        ("umin" | "ullmin", Some(b)) => a.zip(b, u64::min),
        ("sad" | "usad", Some(b)) => {
            let (c, _) = args.get(2)?;
            let wide = |x: u64| if name == "sad" { i128::from(s(x)) } else { i128::from(x) };
            a.zip3(b, c, |x, y, z| ((wide(x) - wide(y)).unsigned_abs() as u64).wrapping_add(z) & out)
        }
        ("byte_perm", Some(b)) => {
            let (c, _) = args.get(2)?;
            a.zip3(b, c, |x, y, select| {
                let bytes = x & 0xffff_ffff | y << 32;
                (0..4).fold(0, |acc, i| acc | (bytes >> (8 * (select >> (4 * i) & 7)) & 0xff) << (8 * i))
            })
        }
        _ => return None,
    })
}

fn float_to_int(name: &str, a: &Lanes, kind: FloatKind, ty: Type) -> Option<Lanes> {
    let v = |x: u64| numbers::to_f64(kind, x);
    let truth = mask(width(ty)).min(1);
    let test = |f: fn(f64) -> bool| Some(a.map(|x| u64::from(f(v(x))) & truth));
    match name {
        "isinf" | "isinfd" | "isinff" => return test(f64::is_infinite),
        "isnan" | "isnand" | "isnanf" => return test(f64::is_nan),
        "finitef" | "isfinited" => return test(f64::is_finite),
        "signbitf" | "signbitd" => return test(f64::is_sign_negative),
        "float_as_int" | "float_as_uint" | "double_as_longlong" => return Some(a.clone()),
        "ilogb" | "ilogbf" => return Some(a.map(|x| libm::ilogb(v(x)) as u64 & mask(width(ty)))),
        _ => {}
    }
    let round: fn(f64) -> f64 = match name {
        "llrint" | "llrintf" => f64::round_ties_even,
        "llround" | "llroundf" => f64::round,
        _ => match name.rsplit_once('_')?.1 {
            "rn" => f64::round_ties_even,
            "rz" => f64::trunc,
            "rd" => f64::floor,
            "ru" => f64::ceil,
            _ => return None,
        },
    };
    let target = name.split_once('2').map_or("ll", |(_, t)| t);
    let unsigned = target.starts_with('u');
    ["float2", "double2", "llr"]
        .iter()
        .any(|p| name.starts_with(p))
        .then(|| a.map(|x| numbers::to_int(round(v(x)), width(ty), !unsigned)))
}

/// The inverse error function. It starts with Winitzki's closed form, which is good to 2e-3, and continues with Newton
/// steps on the error function.
fn erfinv(y: f64) -> f64 {
    let goal = y.abs();
    if goal >= 1.0 || y.is_nan() {
        return if goal == 1.0 { f64::INFINITY.copysign(y) } else { f64::NAN };
    }
    let (a, l) = (0.147, (-goal * goal).ln_1p());
    let t = 2.0 / (PI * a) + l / 2.0;
    let mut x = ((t * t - l / a).sqrt() - t).max(0.0).sqrt();
    for _ in 0..4 {
        // In the tail, the complement keeps the digits that erf(x) near 1 has lost.
        let error = if goal > 0.5 { (1.0 - goal) - libm::erfc(x) } else { libm::erf(x) - goal };
        x -= error / (2.0 / PI.sqrt() * (-x * x).exp());
    }
    x.copysign(y)
}

/// The modified Bessel function of the first kind, by its power series. The terms are positive, so nothing cancels.
fn bessel_i(order: i32, x: f64) -> f64 {
    if x.abs() > 700.0 {
        return f64::INFINITY.copysign(if order == 1 { x } else { 1.0 });
    }
    let quarter = x * x / 4.0;
    let mut term = if order == 1 { x / 2.0 } else { 1.0 };
    let mut sum = term;
    let mut k = 1.0;
    while term.abs() > sum.abs() * 1e-17 {
        term *= quarter / (k * (k + f64::from(order)));
        sum += term;
        k += 1.0;
    }
    sum
}
