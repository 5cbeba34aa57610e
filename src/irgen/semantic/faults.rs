//! What is said of values that do not fit: a wrong kind of argument, operands that do not go together.
//!
//! A value that was reported already ([`Object::Error`]) is not reported again.

use crate::diag::codes::{names, types};
use crate::irgen::emit::{Emitter, Reported};
use crate::irgen::types::Dtype;
use crate::irgen::value::{Const, Object};

/// What to do about a pointer where a value is needed.
pub const LOAD_FIRST: &str = "a pointer is no number: load what it points to first, with `tl.load`";

/// A type does not fit: says which was expected.
pub fn expected(cx: &mut Emitter, what: &str, found: &Object) -> Reported {
    let help = match found {
        Object::Const(Const::Func(_) | Const::Builtin(_) | Const::Lambda(_)) | Object::Method(_) => {
            "a function was named but not called: add `(…)`"
        }
        Object::Const(Const::None) => "it is None: ask `if x is not None` before it is used",
        Object::Const(Const::Str(_)) => "a string is no number: pass a value such as `0.0`",
        Object::Const(Const::Space(_) | Const::Module(_)) => "a package is no value: name something in it",
        Object::Const(Const::HostClass(..)) => "a class is no value: name something in it",
        Object::Const(Const::Enumerator(_)) => "a member of an enumeration is no number: take its `.value`",
        Object::Const(Const::Type(_)) => "a type is no value: convert one with `x.to(dtype)`",
        Object::Tuple(_) => "take the values out of the tuple: `a, b = values`, or `values[0]`",
        Object::Desc(_) => "a descriptor is no tensor: load a block with `desc.load([offsets])`",
        Object::Range(_) => "write a loop over the range",
        Object::Tensor(t) if t.ty.dtype.is_ptr() => LOAD_FIRST,
        Object::Tensor(_) if what.contains("compile-time") || what.contains("compile time") => {
            "pass a literal or a `tl.constexpr` parameter: the values of tensors are known only when the kernel runs"
        }
        _ => "`ttc explain E0310` says more",
    };
    expected_help(cx, what, found, help)
}

/// As [`expected`], with other advice where a tensor was found.
pub fn expected_of_tensor(cx: &mut Emitter, what: &str, found: &Object, help: &str) -> Reported {
    match found {
        Object::Tensor(_) => expected_help(cx, what, found, help),
        _ => expected(cx, what, found),
    }
}

fn expected_help(cx: &mut Emitter, what: &str, found: &Object, help: &str) -> Reported {
    if matches!(found, Object::Error) {
        return Reported;
    }
    let found = found.describe();
    cx.error_help(&types::ARGUMENT_TYPE, format!("expected {what}, found {found}"), format!("this is {found}"), help)
}

/// What to do about operands that do not go together.
fn operand_help(op: &str, a: &Object, b: &Object) -> &'static str {
    let any = |test: &dyn Fn(&Object) -> bool| test(a) || test(b);
    let dtype = |v: &Object| v.as_tensor().map(|t| t.ty.dtype);
    let pointers = [a, b].into_iter().filter(|v| dtype(v).is_some_and(Dtype::is_ptr)).count();
    let is_comparison = matches!(op, "==" | "!=" | "<" | "<=" | ">" | ">=");
    let floats = any(&|v| dtype(v).is_some_and(Dtype::is_float) || matches!(v, Object::Const(Const::Float(_))));
    match () {
        () if any(&Object::is_none) => "one side is None: ask `if x is not None` before it is used",
        () if any(&|v| matches!(v, Object::Const(Const::Str(_)))) => {
            "strings are known at compile time only; to print a value write `tl.device_print(\"x\", x)`"
        }
        () if any(&|v| matches!(v, Object::Const(Const::Func(_) | Const::Builtin(_)) | Object::Method(_))) => {
            "a function was named but not called: add `(…)`"
        }
        () if any(&|v| matches!(v, Object::Tuple(_))) => {
            "take the values out of the tuple first: `a, b = values`, or `values[0]`"
        }
        () if any(&|v| matches!(v, Object::Desc(_))) => {
            "a descriptor is no pointer: load a block with `desc.load([offsets])`"
        }
        () if pointers == 2 && is_comparison => "compare addresses as integers: `p.to(tl.int64)`",
        () if pointers == 1 && is_comparison => {
            "whether a pointer was passed is asked with `x_ptr is not None`; to compare what it points to, `tl.load` it first"
        }
        () if pointers == 2 => {
            "load what they point to first, with `tl.load`; addresses are computed with as integers: `p.to(tl.int64)`"
        }
        () if pointers > 0 && floats && matches!(op, "+" | "-") => {
            "to compute with what the pointer points to, `tl.load` it first; an offset counts elements, so it is an integer: divide with `//`, or convert with `.to(tl.int32)`"
        }
        () if pointers > 0 => {
            "to compute with what the pointer points to, `tl.load` it first; to the pointer itself integers can be added, as in `x_ptr + row * stride`"
        }
        () if floats && matches!(op, "&" | "|" | "^" | "<<" | ">>") => {
            "bit operations take integers: compare floats first (`x > 0`), or take their bits with `x.to(tl.int32, bitcast=True)`"
        }
        () => "convert one side with `.to(...)`, or compute it in another way",
    }
}

/// Reports operands that an operator does not take.
pub fn bad_operands(cx: &mut Emitter, op: &str, a: &Object, b: &Object) -> Reported {
    if matches!(a, Object::Error) || matches!(b, Object::Error) {
        return Reported;
    }
    if let Some(reported) = [a, b].into_iter().find_map(|v| too_large(cx, v)) {
        return reported;
    }
    let help = operand_help(op, a, b);
    let (a, b) = (a.describe(), b.describe());
    cx.error_help(&types::OPERAND_TYPES, format!("`{op}` does not take {a} and {b}"), format!("{a} {op} {b}"), help)
}

/// Reports an integer that no type of the language holds.
pub fn too_large(cx: &mut Emitter, v: &Object) -> Option<Reported> {
    match v {
        Object::Const(c @ Const::Int(_)) if c.dtype().is_none() => Some(cx.error_help(
            &types::INT_RANGE,
            format!("the integer {c} does not fit into 64 bits"),
            "too large for any integer type",
            "integers go from -2**63 to 2**64 - 1; write a float (`2.0 ** 70`) if it need not be exact",
        )),
        _ => None,
    }
}

/// Reports something that a loop at compile time cannot run over.
pub fn no_unrolling(cx: &mut Emitter, over: &Object, what: &str) -> Reported {
    if matches!(over, Object::Error) {
        return Reported;
    }
    let (message, help) = match over {
        Object::Range(r) if r.bounds().is_some() => (
            format!("{what} runs at compile time, and this range is too long for it"),
            "loops over `tl.static_range` are unrolled; use `range` for all but short ones",
        ),
        Object::Range(_) => (
            format!("{what} runs at compile time, but the bounds of this range are known only at run time"),
            "write a loop that adds up or stores each value: `for i in range(n): acc += …`",
        ),
        other => (
            format!("{what} cannot run over {}", other.describe()),
            "it runs over tuples, and over ranges whose bounds are `tl.constexpr`",
        ),
    };
    let too_long = matches!(over, Object::Range(r) if r.bounds().is_some());
    let code = if too_long { &names::TOO_LARGE } else { &names::NOT_CONSTEXPR };
    cx.error_help(code, message, "runs over this", help)
}
