//! What is said of values that do not fit: a wrong kind of argument, operands that do not go together.
//!
//! A value that was reported already ([`Val::Error`]) is not reported again.

use crate::diag::codes::{names, types};
use crate::irgen::emit::{Emitter, Reported};
use crate::irgen::types::Dtype;
use crate::irgen::value::{Const, Val};

/// A type does not fit: says which was expected.
pub fn expected(cx: &mut Emitter, what: &str, found: &Val) -> Reported {
    if matches!(found, Val::Error) {
        return Reported;
    }
    let help = match found {
        Val::Const(Const::Func(_) | Const::Builtin(_) | Const::Lambda(_)) | Val::Method(_) => {
            "a function was named but not called: add `(…)`"
        }
        Val::Const(Const::None) => "it is None: ask `if x is not None` before it is used",
        Val::Const(Const::Str(_)) => "a string is no number: pass a value such as `0.0`",
        Val::Const(Const::Space(_) | Const::Module(_)) => "a package is no value: name something in it",
        Val::Const(Const::Type(_)) => "a type is no value: convert one with `x.to(dtype)`",
        Val::Tuple(_) => "take the values out of the tuple: `a, b = values`, or `values[0]`",
        Val::Desc(_) => "a descriptor is no tensor: load a block with `desc.load([offsets])`",
        Val::Range(_) => "write a loop over the range",
        Val::Tensor(t) if t.ty.dtype.is_ptr() => "a pointer is no number: load what it points to with `tl.load`",
        Val::Tensor(t) if t.ty.is_block() => {
            "reduce the tensor to one value, or use a function that works element by element"
        }
        Val::Tensor(_) => "pass a literal or a `tl.constexpr` parameter, or convert the value with `.to(...)`",
        _ => "`ttc explain E0310` says more",
    };
    let found = found.describe();
    cx.error_help(&types::ARGUMENT_TYPE, format!("expected {what}, found {found}"), format!("this is {found}"), help)
}

/// What to do about operands that do not go together.
fn operand_help(op: &str, a: &Val, b: &Val) -> &'static str {
    let any = |test: &dyn Fn(&Val) -> bool| test(a) || test(b);
    let dtype = |v: &Val| v.as_tensor().map(|t| t.ty.dtype);
    let pointers = [a, b].into_iter().filter(|v| dtype(v).is_some_and(Dtype::is_ptr)).count();
    let floats = any(&|v| dtype(v).is_some_and(Dtype::is_float) || matches!(v, Val::Const(Const::Float(_))));
    match () {
        () if any(&Val::is_none) => "one side is None: ask `if x is not None` before it is used",
        () if any(&|v| matches!(v, Val::Const(Const::Str(_)))) => {
            "strings are known at compile time only; to print a value write `tl.device_print(\"x\", x)`"
        }
        () if any(&|v| matches!(v, Val::Const(Const::Func(_) | Const::Builtin(_)) | Val::Method(_))) => {
            "a function was named but not called: add `(…)`"
        }
        () if any(&|v| matches!(v, Val::Tuple(_))) => {
            "take the values out of the tuple first: `a, b = values`, or `values[0]`"
        }
        () if any(&|v| matches!(v, Val::Desc(_))) => {
            "a descriptor is no pointer: load a block with `desc.load([offsets])`"
        }
        () if pointers == 2 && matches!(op, "==" | "!=" | "<" | "<=" | ">" | ">=") => {
            "compare addresses as integers: `p.to(tl.int64)`"
        }
        () if pointers > 0 && floats && matches!(op, "+" | "-") => {
            "an offset counts elements, so it is an integer: divide with `//`, or convert with `.to(tl.int32)`; as in `x_ptr + row * stride`"
        }
        () if pointers > 0 => {
            "integers can be added to a pointer and subtracted from it; compute the offset first, as in `x_ptr + row * stride`"
        }
        () if floats && matches!(op, "&" | "|" | "^" | "<<" | ">>") => {
            "bit operations take integers: compare floats first (`x > 0`), or take their bits with `x.to(tl.int32, bitcast=True)`"
        }
        () => "convert one side with `.to(...)`, or compute it in another way",
    }
}

/// Reports operands that an operator does not take.
pub fn bad_operands(cx: &mut Emitter, op: &str, a: &Val, b: &Val) -> Reported {
    if matches!(a, Val::Error) || matches!(b, Val::Error) {
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
pub fn too_large(cx: &mut Emitter, v: &Val) -> Option<Reported> {
    match v {
        Val::Const(c @ Const::Int(_)) if c.dtype().is_none() => Some(cx.error_help(
            &types::INT_RANGE,
            format!("the integer {c} does not fit into 64 bits"),
            "too large for any integer type",
            "integers go from -2**63 to 2**64 - 1; write a float (`2.0 ** 70`) if it need not be exact",
        )),
        _ => None,
    }
}

/// Reports something that a loop at compile time cannot run over.
pub fn no_unrolling(cx: &mut Emitter, over: &Val, what: &str) -> Reported {
    if matches!(over, Val::Error) {
        return Reported;
    }
    let (message, help) = match over {
        Val::Range(_) => (
            format!("{what} runs at compile time, but the bounds of this range are known only at run time"),
            "write a loop that adds up or stores each value: `for i in range(n): acc += …`",
        ),
        other => (
            format!("{what} cannot run over {}", other.describe()),
            "it runs over tuples, and over ranges whose bounds are `tl.constexpr`",
        ),
    };
    cx.error_help(&names::NOT_CONSTEXPR, message, "runs over this", help)
}
