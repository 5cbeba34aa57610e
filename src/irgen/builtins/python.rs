//! What kernels use of Python itself, and the ranges of the language.

use std::rc::Rc;

use super::entry::{calling, entry};
use super::{debug, math};
use crate::diag::codes::{names, types};
use crate::ir::dialects::discardable;
use crate::ir::{Attr, Name};
use crate::irgen::emit::{Emitter, R, Reported, of_text, quietly};
use crate::irgen::front::space::Space;
use crate::irgen::semantic::cmp::Cmp;
use crate::irgen::semantic::{arith, convert, faults, fold, items, operators};
use crate::irgen::types::Dtype;
use crate::irgen::value::{Args, Argument, Builtin, Const, Object, Range, RangeKind};

/// Python's builtins.
pub(super) static TABLE: &[Builtin] = &[
    // Triton ignores the keywords of `tl.range` here.
    entry(
        "range",
        "arg1, arg2=None, step=1, *, num_stages=None, loop_unroll_factor=None, disallow_acc_multi_buffer=False, flatten=False, warp_specialize=False, disable_licm=False",
        "A counted loop.",
        |cx, a| range(cx, a, RangeKind::Loop, vec![]),
    ),
    entry("min", "*args, propagate_nan=None", "The least; compile-time values stay such.", |cx, a| {
        extremum(cx, a, false)
    }),
    entry("max", "*args, propagate_nan=None", "The greatest; compile-time values stay such.", |cx, a| {
        extremum(cx, a, true)
    }),
    calling("abs", "x", "Absolute value.", |cx, a| match a.get(0) {
        Object::Const(Const::Float(f)) => Ok(Const::Float(f.abs()).into()),
        Object::Const(c) if c.as_int().is_some() => Ok(Object::int(c.as_int().unwrap_or(0).abs())),
        v => match math::find("abs") {
            Some(b) => cx.call(&Const::Builtin(b).into(), vec![v.clone()]),
            None => Ok(Object::NONE),
        },
    }),
    entry("len", "x", "The number of items.", |cx, a| match a.get(0) {
        Object::Tuple(items) => Ok(Object::int(items.len() as i128)),
        Object::Dict(items) => Ok(Object::int(items.len() as i128)),
        Object::Const(Const::Str(s)) => Ok(Object::int(s.chars().count() as i128)),
        Object::Tensor(t) if t.ty.is_block() => Ok(Object::int(t.ty.shape()[0])),
        v @ (Object::Argument(_) | Object::Passed(_)) => fold::known(cx, v).map(|()| Object::NONE),
        other => Err(faults::expected_of_tensor(
            cx,
            "a tuple or a string",
            other,
            "a scalar has no length, and a pointer does not know how much it points to: pass the length to the kernel",
        )),
    }),
    entry("isinstance", "x, classes", "Whether the value is of a class.", isinstance),
    entry("print", "prefix, *args, hex=False", "Prints values on the device.", debug::device_print),
    calling("hasattr", "x, name", "Whether the value has an attribute.", |cx, a| {
        let name = a.text(cx.out(), 1)?;
        let base = a.get(0).clone();
        if let Object::Argument(arg) = &base {
            return Ok(Object::bool(argument_has(cx.out(), arg, &name)?));
        }
        let mut has = || quietly(cx, |cx| cx.attribute(&base, &name)).is_ok();
        Ok(Object::bool(exists_in_triton(&base, &name) || !is_number(&base) && has()))
    }),
    calling("getattr", "x, name, *default", "An attribute by name.", |cx, a| {
        let name = a.text(cx.out(), 1)?;
        let base = a.get(0).clone();
        let default = match a.get(2) {
            Object::Tuple(items) => items.first().cloned(),
            _ => None,
        };
        let Some(default) = default else { return cx.attribute(&base, &name) };
        if let Object::Argument(arg) = &base {
            return if argument_has(cx.out(), arg, &name)? { cx.attribute(&base, &name) } else { Ok(default) };
        }
        match quietly(cx, |cx| cx.attribute(&base, &name)) {
            Ok(v) if !is_number(&base) => Ok(v),
            Err(_) if exists_in_triton(&base, &name) => cx.attribute(&base, &name),
            _ => Ok(default),
        }
    }),
    entry("any", "items", "Whether one of the compile-time values is true.", |cx, a| quantify(cx, a, true)),
    entry("all", "items", "Whether all of the compile-time values are true.", |cx, a| quantify(cx, a, false)),
];

/// Whether a package of Triton 3.9 has a member for which ttc has no use.
fn exists_in_triton(package: &Object, name: &str) -> bool {
    let names: &[&str] = match package {
        Object::Const(Const::Space(Space::Triton)) => &[
            "AsyncCompileMode",
            "CompilationError",
            "FutureKernel",
            "InterpreterError",
            "JITFunction",
            "KernelInterface",
            "MockTensor",
            "OutOfResources",
            "TensorWrapper",
            "TritonError",
            "aggregate",
            "backends",
            "compile",
            "compiler",
            "errors",
            "knobs",
            "must_use_result",
            "reinterpret",
            "set_allocator",
            "testing",
            "tools",
        ],
        Object::Const(Const::Space(Space::Language)) => &[
            "aggregate_replace",
            "constexpr_type",
            "expect_zero",
            "slice",
            "str_to_ty",
            "tensor_descriptor_type",
            "tuple_type",
        ],
        _ => &[],
    };
    names.contains(&name)
}

/// Members of PyTorch's tensors that numbers lack.
const OF_TENSORS: [&str; 14] = [
    "T",
    "data_ptr",
    "device",
    "dim",
    "dtype",
    "element_size",
    "is_contiguous",
    "is_cuda",
    "is_floating_point",
    "ndim",
    "numel",
    "shape",
    "size",
    "stride",
];

/// Whether an argument of a launch has an attribute: a pointer is a tensor of PyTorch, anything else a number.
fn argument_has(cx: &mut Emitter, arg: &Argument, name: &str) -> R<bool> {
    match (arg.ty.is_block(), OF_TENSORS.contains(&name)) {
        (false, true) => Ok(arg.ty.dtype.is_ptr()),
        _ => Err(fold::unknown_launch(cx, &format!("whether `{}` has `{name}`", arg.name))),
    }
}

/// Whether a value is a number of Python's, which has none of a tensor's methods.
fn is_number(v: &Object) -> bool {
    matches!(v, Object::Const(Const::None | Const::Bool(_) | Const::Int(_) | Const::Float(_)))
}

/// `tl.range` and its like.
pub(super) static RANGES: &[Builtin] = &[
    entry(
        "static_range",
        "arg1, arg2=None, step=1",
        "A loop unrolled by the front end; its bounds are compile-time values.",
        |cx, a| range(cx, a, RangeKind::Static, vec![]),
    ),
    entry(
        "range",
        "arg1, arg2=None, step=1, num_stages=None, loop_unroll_factor=None, disallow_acc_multi_buffer=False, flatten=False, warp_specialize=False, disable_licm=False",
        "A counted loop with wishes for the compiler.",
        tl_range,
    ),
    entry(
        "condition",
        "arg1, disable_licm=False",
        "The condition of a `while`, with wishes for the compiler.",
        |cx, a| {
            let flag = a.flag(cx, 1)?;
            Ok(Object::Condition(Rc::new((a.get(0).clone(), flag))))
        },
    ),
];

fn range(cx: &mut Emitter, a: &Args, kind: RangeKind, attrs: Vec<(Name, Attr)>) -> R<Object> {
    let (start, end) = match a.given(1) {
        Some(end) => (a.get(0).clone(), end.clone()),
        None => (Object::int(0), a.get(0).clone()),
    };
    let step = a.given(2).cloned().unwrap_or_else(|| Object::int(1));
    if kind == RangeKind::Static {
        for v in [&start, &end, &step] {
            if v.as_const().and_then(Const::as_int).is_none() {
                let found = v.describe();
                return Err(cx.error_help(
                    &names::NOT_CONSTEXPR,
                    format!("`static_range` needs bounds known at compile time, found {found}"),
                    "known only at run time",
                    "use `range` or `tl.range`, or pass the bound as a `tl.constexpr` parameter",
                ));
            }
        }
        if step.as_const().and_then(Const::as_int) == Some(0) {
            return Err(cx.error_help(
                &types::INT_RANGE,
                "the step of a range must not be zero",
                "never ends",
                "give a step of 1 or more, or of -1 or less",
            ));
        }
    }
    Ok(Object::Range(Rc::new(Range { start, end, step, kind, attrs })))
}

fn tl_range(cx: &mut Emitter, a: &Args) -> R<Object> {
    let mut attrs = vec![];
    for (i, key) in [(3, discardable::NUM_STAGES), (4, discardable::UNROLL_FACTOR)] {
        if a.given(i).is_some() {
            attrs.extend(key.entry(a.int(cx, i)? as i64));
        }
    }
    let wishes = [discardable::DISALLOW_MULTI_BUFFER, discardable::FLATTEN, discardable::WARP_SPECIALIZE];
    for (i, key) in (5..).zip(wishes) {
        attrs.extend(key.entry(a.flag(cx, i)?));
    }
    if a.flag(cx, 8)? {
        attrs.extend(discardable::LOOP_ANNOTATION.entry(operators::no_licm()));
    }
    range(cx, a, RangeKind::Loop, attrs)
}

fn extremum(cx: &mut Emitter, a: &Args, max: bool) -> R<Object> {
    let Object::Tuple(items) = a.get(0) else { return Ok(Object::NONE) };
    let items: Vec<Object> = match &***items {
        [Object::Const(Const::Str(text))] => {
            cx.room(of_text(text.len()))?;
            text.chars().map(|c| Const::str(&c.to_string()).into()).collect()
        }
        [one @ (Object::Tuple(_) | Object::Dict(_) | Object::Range(_))] => {
            items::iterate(one).ok_or_else(|| faults::expected(cx, "values known at compile time", one))?
        }
        items => items.to_vec(),
    };
    let Some((first, rest)) = items.split_first() else {
        return Err(cx.error_help(
            &names::BAD_ARGUMENTS,
            format!("`{}` needs at least one value", a.builtin.name),
            "in this call",
            "pass the values to compare",
        ));
    };
    let all_nan = matches!(a.get(1), Object::Const(Const::PropagateNan(true)));
    let mut best = first.clone();
    // As Triton does it: what follows two numbers is compared with a value of their type.
    if items.iter().any(|v| matches!(v, Object::Tensor(_)))
        && let [Object::Const(_), Object::Const(_), ..] = items[..]
    {
        best = convert::to_tensor(cx, first)?.into();
    }
    for v in rest {
        best = if matches!(best, Object::Tensor(_)) || matches!(v, Object::Tensor(_)) {
            arith::extremum(cx, max, all_nan, &best, v)?.into()
        } else if fold::compare(cx, if max { Cmp::Gt } else { Cmp::Lt }, v, &best)? {
            v.clone()
        } else {
            best
        };
    }
    Ok(best)
}

fn quantify(cx: &mut Emitter, a: &Args, any: bool) -> R<Object> {
    let Some(items) = items::iterate(a.get(0)) else {
        let of_tensor = if any { "`tl.max(x.to(tl.int32), axis) != 0`" } else { "`tl.min(x.to(tl.int32), axis) != 0`" };
        let help = format!("of the elements of a tensor that is {of_tensor}");
        return Err(faults::expected_of_tensor(cx, "a tuple of compile-time values", a.get(0), &help));
    };
    for v in &items {
        if fold::truth(cx, v)? == any {
            return Ok(Object::bool(any));
        }
    }
    Ok(Object::bool(!any))
}

fn isinstance(cx: &mut Emitter, a: &Args) -> R<Object> {
    let one = [a.get(1).clone()];
    let classes: &[Object] = match a.get(1) {
        Object::Tuple(items) => items,
        _ => &one,
    };
    for c in classes {
        match c {
            Object::Const(Const::Class(class)) => {
                if items::is_instance(a.get(0), *class) {
                    return Ok(Object::bool(true));
                }
            }
            other => return Err(faults::expected(cx, "a class", other)),
        }
    }
    Ok(Object::bool(false))
}

/// A member of Python's `math`.
#[must_use]
pub(super) fn math_member(name: &str) -> Option<Object> {
    Some(match name {
        "pi" => Const::Float(std::f64::consts::PI).into(),
        "e" => Const::Float(std::f64::consts::E).into(),
        "inf" => Const::Float(f64::INFINITY).into(),
        "nan" => Const::Float(f64::NAN).into(),
        _ => return MATH.iter().find(|b| b.name == name).map(|b| Const::Builtin(b).into()),
    })
}

macro_rules! float_function {
    ($name:literal, $f:expr) => {
        entry($name, "x", "A function of Python's math module, at compile time.", |cx, a| {
            let f: fn(f64) -> f64 = $f;
            match a.get(0).as_const().and_then(Const::as_float) {
                // Python raises instead.
                Some(x) if x.is_finite() && !f(x).is_finite() => Err(cx.error_help(
                    &names::CONST_EVAL,
                    format!("`math.{}` has no value at {}", $name, Const::Float(x)),
                    "computed at compile time",
                    "guard it with an `if` on the values that lead here",
                )),
                Some(x) => Ok(Const::Float(f(x)).into()),
                None => Err(not_at_compile_time(cx, $name, a.get(0))),
            }
        })
        .of("math")
    };
}

/// Reports a function of Python's `math` that is called with a run-time value.
fn not_at_compile_time(cx: &mut Emitter, name: &str, found: &Object) -> Reported {
    if !matches!(found, Object::Tensor(_)) {
        return faults::expected(cx, "a compile-time number", found);
    }
    let message = format!("`math.{name}` computes at compile time, but this is {}", found.describe());
    let help = match math::find(name) {
        _ if name == "ceil" => {
            "a quotient of integers is rounded up by `tl.cdiv(a, b)`; floats by `tl.ceil`".to_owned()
        }
        _ if name == "floor" => "a quotient of integers is rounded down by `a // b`; floats by `tl.floor`".to_owned(),
        Some(_) => format!("use `tl.{name}`, which computes with tensors"),
        None => format!(
            "libdevice has it for tensors: `from triton.language.extra import libdevice`, then `libdevice.{name}(x)`"
        ),
    };
    cx.error_help(&names::NOT_CONSTEXPR, message, "known only at run time", help)
}

static MATH: &[Builtin] = &[
    float_function!("sqrt", f64::sqrt),
    float_function!("log", f64::ln),
    float_function!("log2", f64::log2),
    float_function!("log10", f64::log10),
    float_function!("exp", f64::exp),
    entry("ceil", "x", "Rounds up, at compile time.", |cx, a| rounded(cx, a, f64::ceil)).of("math"),
    entry("floor", "x", "Rounds down, at compile time.", |cx, a| rounded(cx, a, f64::floor)).of("math"),
];

fn rounded(cx: &mut Emitter, a: &Args, f: fn(f64) -> f64) -> R<Object> {
    match a.get(0).as_const().and_then(Const::as_float) {
        Some(x) if x.is_finite() => Ok(Object::int(f(x) as i128)),
        _ => Err(not_at_compile_time(cx, a.builtin.name, a.get(0))),
    }
}

/// Reading the environment: it counts as empty.
pub(super) static ENVIRONMENT: &[Builtin] = &[
    entry("get", "key, default=None", "The default: the environment counts as empty.", |_, a| Ok(a.get(1).clone())),
    entry("getenv", "key, default=None", "The default: the environment counts as empty.", |_, a| Ok(a.get(1).clone())),
];

static TORCH: &[Builtin] = &[
    entry("finfo", "dtype", "The limits of a float type.", |cx, a| Ok(Const::Limits(a.dtype(cx, 0)?).into())),
    entry("iinfo", "dtype", "The limits of an integer type.", |cx, a| Ok(Const::Limits(a.dtype(cx, 0)?).into())),
];

/// A dtype of torch, or a question about one: constants of a file are often derived from them.
#[must_use]
pub(super) fn torch_member(name: &str) -> Option<Object> {
    if let Some(b) = TORCH.iter().find(|b| b.name == name) {
        return Some(Const::Builtin(b).into());
    }
    let numeric =
        name.starts_with("float") || name.starts_with("bfloat") || name.starts_with("int") || name.starts_with("uint");
    match name {
        "pi" | "e" | "inf" | "nan" => math_member(name),
        "bool" | "half" | "double" => Dtype::parse(name).map(Object::dtype),
        _ if numeric => Dtype::parse(name).map(Object::dtype),
        _ => None,
    }
}
