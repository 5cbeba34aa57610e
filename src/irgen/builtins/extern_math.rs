//! Functions of libdevice, NVIDIA's library of device mathematics, as `tt.extern_elementwise`; for AMD those of the
//! same names in its own libraries ([`super::extern_amd`]).
//!
//! The table gives for each name the symbols by argument types, one letter a type: `i l` int32 and int64, `u m` uint32
//! and uint64, `f d` fp32 and fp64. `"f:acosf:f d:acos:d"` reads: one fp32 gives `__nv_acosf` with an fp32 result, one
//! fp64 `__nv_acos`. A second letter of the result is what it is converted to. The argument types must match exactly,
//! as in Triton; shapes broadcast. Tests (`isnan`, `isinf`, …) give a truth value.

use std::sync::LazyLock;

use super::entry::entry;
use super::extern_amd;
use crate::diag::codes::{names, types};
use crate::ir::dialects::tt::tt::ExternElementwise;
use crate::irgen::emit::{Emitter, R};
use crate::irgen::semantic::{convert, shape};
use crate::irgen::types::Dtype;
use crate::irgen::value::{Args, Builtin, Object};
use crate::target::{MathLibrary, Target};

/// Results of these are tests.
const TESTS: &[&str] = &["isnan", "isinf", "finitef", "isfinited"];

/// The type that a letter of the table stands for.
fn letter(c: char) -> Dtype {
    match c {
        'i' => Dtype::Int32,
        'l' => Dtype::Int64,
        'u' => Dtype::Uint32,
        'm' => Dtype::Uint64,
        'f' => Dtype::Fp32,
        _ => Dtype::Fp64,
    }
}

static BUILTINS: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
    let own = |name: &str| SYMBOLS.iter().any(|s| s.0 == name);
    let amd = extern_amd::SYMBOLS.iter().filter(|s| !own(s.0));
    SYMBOLS
        .iter()
        .chain(amd)
        .map(|&(name, forms)| {
            let arity = forms.find(':').unwrap_or(1);
            let sig = ["", "arg0", "arg0, arg1", "arg0, arg1, arg2", "arg0, arg1, arg2, arg3"][arity.min(4)];
            entry(name, sig, "A function of NVIDIA's libdevice, element by element.", call).of("libdevice")
        })
        .collect()
});

/// The function of this name.
#[must_use]
pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    // Older Triton gave `llrint` and others under the same names.
    BUILTINS.iter().find(|b| b.name == name)
}

/// How to call the function of this name that the library for a target has.
#[must_use]
pub(super) fn advice(target: &Target, name: &str) -> Option<String> {
    let symbols = match target.math_library() {
        MathLibrary::Libdevice => SYMBOLS,
        MathLibrary::Ocml => extern_amd::SYMBOLS,
    };
    let (_, forms) = symbols.iter().find(|s| s.0 == name)?;
    let args = ["", "x", "x, y", "x, y, z", "x, y, z, w"][forms.find(':').unwrap_or(1).min(4)];
    Some(format!("libdevice has it: `from triton.language.extra import libdevice`, then `libdevice.{name}({args})`"))
}

/// All names.
#[must_use]
pub(super) fn names() -> Vec<&'static str> {
    BUILTINS.iter().map(|b| b.name).collect()
}

fn call(cx: &mut Emitter, a: &Args) -> R<Object> {
    let name = a.builtin.name;
    let mut args = (0..a.values.len()).map(|i| a.tensor(cx, i)).collect::<R<Vec<_>>>()?;
    let (prefix, symbols) = match cx.target().math_library() {
        MathLibrary::Libdevice => ("__nv_", SYMBOLS),
        MathLibrary::Ocml => ("", extern_amd::SYMBOLS),
    };
    let Some(&(_, forms)) = symbols.iter().find(|s| s.0 == name) else {
        return Err(cx.error_help(
            &names::UNKNOWN_ATTRIBUTE,
            format!("the library of device functions for {} has no `{name}`", cx.target()),
            "called here",
            "write the function with others, or give one for this target with -D",
        ));
    };
    let given: Vec<Dtype> = args.iter().map(|t| t.ty.dtype).collect();
    let matching = forms.split(' ').find_map(|form| {
        let mut parts = form.split(':');
        let (tys, symbol, result) = (parts.next()?, parts.next()?, parts.next()?);
        let same = tys.chars().map(letter).eq(given.iter().copied());
        let mut results = result.chars().map(letter);
        same.then(|| (symbol, results.next().unwrap_or(Dtype::Fp32), results.next()))
    });
    let Some((symbol, result, given_as)) = matching else {
        let found: Vec<String> = given.iter().map(ToString::to_string).collect();
        let choices: Vec<String> = forms
            .split(' ')
            .filter_map(|f| f.split(':').next())
            .map(|tys| format!("({})", tys.chars().map(|c| letter(c).to_string()).collect::<Vec<_>>().join(", ")))
            .collect();
        return Err(cx.error_help(
            &types::ARGUMENT_TYPE,
            format!("libdevice's `{name}` does not take ({})", found.join(", ")),
            format!("it takes {}", choices.join(" or ")),
            "convert the arguments with `.to(tl.float32)` or the like",
        ));
    };
    for i in 1..args.len() {
        for j in 0..i {
            (args[i], args[j]) = shape::broadcast(cx, args[i], args[j])?;
        }
    }
    let ty = args.first().map_or(crate::irgen::types::Ty::scalar(result), |t| t.ty.with(result));
    let operands: Vec<_> = args.iter().map(|t| t.value).collect();
    let state = ExternElementwise::state(cx.loc(), &operands)
        .with(ExternElementwise::ATTR.libname, "")
        .with(ExternElementwise::ATTR.libpath, "")
        .with(ExternElementwise::ATTR.symbol, &format!("{prefix}{symbol}"))
        .with(ExternElementwise::ATTR.pure, true);
    let value = cx.tensor_of(state, ty)?;
    let converted = if TESTS.contains(&name) { Some(Dtype::Int1) } else { given_as };
    Ok(converted.map_or(Ok(value), |ty| convert::cast(cx, value, ty, None))?.into())
}

/// Names with their symbols (without `__nv_`) by argument types.
#[rustfmt::skip]
static SYMBOLS: &[(&str, &str)] = &[
    ("clz", "i:clz:i l:clzll:i"),
    ("popc", "i:popc:i l:popcll:i"),
    ("byte_perm", "iii:byte_perm:i"),
    ("mulhi", "ii:mulhi:i uu:umulhi:u ll:mul64hi:l mm:umul64hi:m"),
    ("mul24", "ii:mul24:i uu:umul24:u"),
    ("brev", "i:brev:i l:brevll:l"),
    ("sad", "iiu:sad:i uuu:usad:u"),
    ("abs", "i:abs:i l:llabs:l f:fabsf:f d:fabs:d"),
    ("floor", "f:floorf:f d:floor:d"),
    ("rcp64h", "d:rcp64h:d"),
    ("rsqrt", "f:rsqrtf:f d:rsqrt:d"),
    ("ceil", "d:ceil:d f:ceilf:f"),
    ("trunc", "d:trunc:d f:truncf:f"),
    ("exp2", "f:exp2f:f d:exp2:d"),
    ("saturatef", "f:saturatef:f"),
    ("fma_rn", "fff:fmaf_rn:f ddd:fma_rn:d"),
    ("fma_rz", "fff:fmaf_rz:f ddd:fma_rz:d"),
    ("fma_rd", "fff:fmaf_rd:f ddd:fma_rd:d"),
    ("fma_ru", "fff:fmaf_ru:f ddd:fma_ru:d"),
    ("fast_dividef", "ff:fast_fdividef:f"),
    ("div_rn", "ff:fdiv_rn:f dd:ddiv_rn:d"),
    ("div_rz", "ff:fdiv_rz:f dd:ddiv_rz:d"),
    ("div_rd", "ff:fdiv_rd:f dd:ddiv_rd:d"),
    ("div_ru", "ff:fdiv_ru:f dd:ddiv_ru:d"),
    ("rcp_rn", "f:frcp_rn:f d:drcp_rn:d"),
    ("rcp_rz", "f:frcp_rz:f d:drcp_rz:d"),
    ("rcp_rd", "f:frcp_rd:f d:drcp_rd:d"),
    ("rcp_ru", "f:frcp_ru:f d:drcp_ru:d"),
    ("sqrt_rn", "f:fsqrt_rn:f d:dsqrt_rn:d"),
    ("sqrt_rz", "f:fsqrt_rz:f d:dsqrt_rz:d"),
    ("sqrt_rd", "f:fsqrt_rd:f d:dsqrt_rd:d"),
    ("sqrt_ru", "f:fsqrt_ru:f d:dsqrt_ru:d"),
    ("sqrt", "f:sqrtf:f d:sqrt:d"),
    ("add_rn", "dd:dadd_rn:d ff:fadd_rn:f"),
    ("add_rz", "dd:dadd_rz:d ff:fadd_rz:f"),
    ("add_rd", "dd:dadd_rd:d ff:fadd_rd:f"),
    ("add_ru", "dd:dadd_ru:d ff:fadd_ru:f"),
    ("mul_rn", "dd:dmul_rn:d ff:fmul_rn:f"),
    ("mul_rz", "dd:dmul_rz:d ff:fmul_rz:f"),
    ("mul_rd", "dd:dmul_rd:d ff:fmul_rd:f"),
    ("mul_ru", "dd:dmul_ru:d ff:fmul_ru:f"),
    ("double2float_rn", "d:double2float_rn:f"),
    ("double2float_rz", "d:double2float_rz:f"),
    ("double2float_rd", "d:double2float_rd:f"),
    ("double2float_ru", "d:double2float_ru:f"),
    ("double2int_rn", "d:double2int_rn:i"),
    ("double2int_rz", "d:double2int_rz:i"),
    ("double2int_rd", "d:double2int_rd:i"),
    ("double2int_ru", "d:double2int_ru:i"),
    ("double2uint_rn", "d:double2uint_rn:i"),
    ("double2uint_rz", "d:double2uint_rz:i"),
    ("double2uint_rd", "d:double2uint_rd:i"),
    ("double2uint_ru", "d:double2uint_ru:i"),
    ("int2double_rn", "i:int2double_rn:d"),
    ("uint2double_rn", "u:uint2double_rn:d"),
    ("float2int_rn", "f:float2int_rn:i"),
    ("float2int_rz", "f:float2int_rz:i"),
    ("float2int_rd", "f:float2int_rd:i"),
    ("float2int_ru", "f:float2int_ru:i"),
    ("float2uint_rn", "f:float2uint_rn:i"),
    ("float2uint_rz", "f:float2uint_rz:i"),
    ("float2uint_rd", "f:float2uint_rd:i"),
    ("float2uint_ru", "f:float2uint_ru:i"),
    ("int2float_rn", "i:int2float_rn:f"),
    ("int2float_rz", "i:int2float_rz:f"),
    ("int2float_rd", "i:int2float_rd:f"),
    ("int2float_ru", "i:int2float_ru:f"),
    ("uint2float_rn", "u:uint2float_rn:f"),
    ("uint2float_rz", "u:uint2float_rz:f"),
    ("uint2float_rd", "u:uint2float_rd:f"),
    ("uint2float_ru", "u:uint2float_ru:f"),
    ("hiloint2double", "ii:hiloint2double:d"),
    ("double2loint", "d:double2loint:i"),
    ("double2hiint", "d:double2hiint:i"),
    ("float2ll_rn", "f:float2ll_rn:l"),
    ("float2ll_rz", "f:float2ll_rz:l"),
    ("float2ll_rd", "f:float2ll_rd:l"),
    ("float2ll_ru", "f:float2ll_ru:l"),
    ("float2ull_rn", "f:float2ull_rn:l"),
    ("float2ull_rz", "f:float2ull_rz:l"),
    ("float2ull_rd", "f:float2ull_rd:l"),
    ("float2ull_ru", "f:float2ull_ru:l"),
    ("double2ll_rn", "d:double2ll_rn:l"),
    ("double2ll_rz", "d:double2ll_rz:l"),
    ("double2ll_rd", "d:double2ll_rd:l"),
    ("double2ll_ru", "d:double2ll_ru:l"),
    ("double2ull_rn", "d:double2ull_rn:l"),
    ("double2ull_rz", "d:double2ull_rz:l"),
    ("double2ull_rd", "d:double2ull_rd:l"),
    ("double2ull_ru", "d:double2ull_ru:l"),
    ("ll2float_rn", "l:ll2float_rn:f"),
    ("ll2float_rz", "l:ll2float_rz:f"),
    ("ll2float_rd", "l:ll2float_rd:f"),
    ("ll2float_ru", "l:ll2float_ru:f"),
    ("ull2float_rn", "m:ull2float_rn:f"),
    ("ull2float_rz", "m:ull2float_rz:f"),
    ("ull2float_rd", "m:ull2float_rd:f"),
    ("ull2float_ru", "m:ull2float_ru:f"),
    ("ll2double_rn", "l:ll2double_rn:d"),
    ("ll2double_rz", "l:ll2double_rz:d"),
    ("ll2double_rd", "l:ll2double_rd:d"),
    ("ll2double_ru", "l:ll2double_ru:d"),
    ("ull2double_rn", "m:ull2double_rn:d"),
    ("ull2double_rz", "m:ull2double_rz:d"),
    ("ull2double_rd", "m:ull2double_rd:d"),
    ("ull2double_ru", "m:ull2double_ru:d"),
    ("int_as_float", "i:int_as_float:f"),
    ("float_as_int", "f:float_as_int:i"),
    ("uint_as_float", "u:uint_as_float:f"),
    ("float_as_uint", "f:float_as_uint:i"),
    ("longlong_as_double", "l:longlong_as_double:d"),
    ("double_as_longlong", "d:double_as_longlong:l"),
    ("fast_sinf", "f:fast_sinf:f"),
    ("fast_cosf", "f:fast_cosf:f"),
    ("fast_log2f", "f:fast_log2f:f"),
    ("fast_logf", "f:fast_logf:f"),
    ("fast_expf", "f:fast_expf:f"),
    ("fast_tanf", "f:fast_tanf:f"),
    ("fast_exp10f", "f:fast_exp10f:f"),
    ("fast_log10f", "f:fast_log10f:f"),
    ("fast_powf", "ff:fast_powf:f"),
    ("hadd", "ii:hadd:i uu:uhadd:u"),
    ("rhadd", "ii:rhadd:i uu:urhadd:u"),
    ("sub_rn", "ff:fsub_rn:f dd:dsub_rn:d"),
    ("sub_rz", "ff:fsub_rz:f dd:dsub_rz:d"),
    ("sub_rd", "ff:fsub_rd:f dd:dsub_rd:d"),
    ("sub_ru", "ff:fsub_ru:f dd:dsub_ru:d"),
    ("rsqrt_rn", "f:frsqrt_rn:f"),
    ("ffs", "i:ffs:i l:ffsll:i"),
    ("rint", "f:rintf:f d:rint:d"),
    ("llrint", "f:llrintf:l d:llrint:l"),
    ("nearbyint", "f:nearbyintf:f d:nearbyint:d"),
    ("isnan", "f:isnanf:i d:isnand:i"),
    ("signbit", "f:signbitf:i d:signbitd:i"),
    ("copysign", "ff:copysignf:f dd:copysign:d"),
    ("finitef", "f:finitef:i"),
    ("isinf", "f:isinff:i d:isinfd:i"),
    ("nextafter", "ff:nextafterf:f dd:nextafter:d"),
    ("sin", "f:sinf:f d:sin:d"),
    ("cos", "f:cosf:f d:cos:d"),
    ("sinpi", "f:sinpif:f d:sinpi:d"),
    ("cospi", "f:cospif:f d:cospi:d"),
    ("tan", "f:tanf:f d:tan:d"),
    ("log2", "f:log2f:f d:log2:d"),
    ("exp", "f:expf:f d:exp:d"),
    ("exp10", "f:exp10f:f d:exp10:d"),
    ("cosh", "f:coshf:f d:cosh:d"),
    ("sinh", "f:sinhf:f d:sinh:d"),
    ("tanh", "f:tanhf:f d:tanh:d"),
    ("atan2", "ff:atan2f:f dd:atan2:d"),
    ("atan", "f:atanf:f d:atan:d"),
    ("asin", "f:asinf:f d:asin:d"),
    ("acos", "f:acosf:f d:acos:d"),
    ("log", "f:logf:f d:log:d"),
    ("log10", "f:log10f:f d:log10:d"),
    ("log1p", "f:log1pf:f d:log1p:d"),
    ("acosh", "f:acoshf:f d:acosh:d"),
    ("asinh", "f:asinhf:f d:asinh:d"),
    ("atanh", "f:atanhf:f d:atanh:d"),
    ("expm1", "f:expm1f:f d:expm1:d"),
    ("hypot", "ff:hypotf:f dd:hypot:d"),
    ("rhypot", "ff:rhypotf:f dd:rhypot:d"),
    ("norm3d", "fff:norm3df:f ddd:norm3d:d"),
    ("rnorm3d", "fff:rnorm3df:f ddd:rnorm3d:d"),
    ("norm4d", "ffff:norm4df:f dddd:norm4d:d"),
    ("rnorm4d", "ffff:rnorm4df:f dddd:rnorm4d:d"),
    ("cbrt", "f:cbrtf:f d:cbrt:d"),
    ("rcbrt", "f:rcbrtf:f d:rcbrt:d"),
    ("j0", "f:j0f:f d:j0:d"),
    ("j1", "f:j1f:f d:j1:d"),
    ("y0", "f:y0f:f d:y0:d"),
    ("y1", "f:y1f:f d:y1:d"),
    ("yn", "if:ynf:f id:yn:d"),
    ("jn", "if:jnf:f id:jn:d"),
    ("cyl_bessel_i0", "f:cyl_bessel_i0f:f d:cyl_bessel_i0:d"),
    ("cyl_bessel_i1", "f:cyl_bessel_i1f:f d:cyl_bessel_i1:d"),
    ("erf", "f:erff:f d:erf:d"),
    ("erfinv", "f:erfinvf:f d:erfinv:d"),
    ("erfc", "f:erfcf:f d:erfc:d"),
    ("erfcx", "f:erfcxf:f d:erfcx:d"),
    ("erfcinv", "f:erfcinvf:f d:erfcinv:d"),
    ("normcdfinv", "f:normcdfinvf:f d:normcdfinv:d"),
    ("normcdf", "f:normcdff:f d:normcdf:d"),
    ("lgamma", "f:lgammaf:f d:lgamma:d"),
    ("ldexp", "fi:ldexpf:f di:ldexp:d"),
    ("scalbn", "fi:scalbnf:f di:scalbn:d"),
    ("fmod", "ff:fmodf:f dd:fmod:d"),
    ("remainder", "ff:remainderf:f dd:remainder:d"),
    ("fma", "fff:fmaf:f ddd:fma:d"),
    ("pow", "fi:powif:f di:powi:d ff:powf:f dd:pow:d"),
    ("tgamma", "f:tgammaf:f d:tgamma:d"),
    ("round", "f:roundf:f d:round:d"),
    ("llround", "f:llroundf:l d:llround:l"),
    ("fdim", "ff:fdimf:f dd:fdim:d"),
    ("ilogb", "f:ilogbf:i d:ilogb:i"),
    ("logb", "f:logbf:f d:logb:d"),
    ("isfinited", "d:isfinited:i"),
];
