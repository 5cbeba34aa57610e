//! What a value holds: the items of a tuple or a range, integers and shapes, and the classes that it belongs to.

use super::shape;
use crate::diag::codes::names;
use crate::irgen::emit::{Emitter, R, Reported};
use crate::irgen::value::{Class, Const, Form, Object};

/// The items of a tuple, a string or a range whose bounds are known.
#[must_use]
pub fn iterate(v: &Object) -> Option<Vec<Object>> {
    match v {
        Object::Tuple(items) => Some(items.to_vec()),
        Object::Dict(items) => Some(items.iter().map(|(k, _)| k.clone()).collect()),
        Object::Range(r) => {
            let (start, end, step) = r.bounds()?;
            if step == 0 || (end - start) / step > 1 << 20 {
                return None;
            }
            let mut items = vec![];
            let mut i = start;
            while if step > 0 { i < end } else { i > end } {
                items.push(Object::int(i));
                i += step;
            }
            Some(items)
        }
        _ => None,
    }
}

/// The class that Python's `type(x)` names, for `isinstance`.
#[must_use]
pub fn is_instance(v: &Object, class: Class) -> bool {
    match class {
        Class::Tensor => matches!(v, Object::Tensor(_)) || matches!(v, Object::Argument(a) if a.ty.dtype.is_ptr()),
        // As in Triton, which asks about the value inside.
        Class::Constexpr => false,
        Class::Tuple => matches!(v, Object::Tuple(_)),
        Class::HostTuple => matches!(v, Object::Tuple(items) if items.form == Form::Tuple),
        Class::List => matches!(v, Object::Tuple(items) if items.form == Form::List),
        Class::Dict => matches!(v, Object::Dict(_)),
        Class::Descriptor => matches!(v, Object::Desc(_)),
        Class::Int => {
            matches!(v, Object::Const(Const::Int(_) | Const::Bool(_)))
                || matches!(v, Object::Argument(a) if a.ty.dtype.is_int())
        }
        Class::Float => {
            matches!(v, Object::Const(Const::Float(_))) || matches!(v, Object::Argument(a) if a.ty.dtype.is_float())
        }
        Class::Bool => {
            matches!(v, Object::Const(Const::Bool(_))) || matches!(v, Object::Argument(a) if a.ty.dtype.is_bool())
        }
        Class::Str => matches!(v, Object::Const(Const::Str(_))),
        Class::Dtype => matches!(v, Object::Const(Const::Type(_))),
        Class::PointerType => matches!(v, Object::Const(Const::Type(t)) if t.dtype.is_ptr() && !t.is_block()),
        Class::BlockType => matches!(v, Object::Const(Const::Type(t)) if t.is_block()),
        Class::Const => false,
    }
}

/// A tuple of compile-time integers (or one integer).
pub fn ints_of(cx: &mut Emitter, v: &Object) -> R<Vec<i64>> {
    let one = [v.clone()];
    let items: &[Object] = match v {
        Object::Tuple(items) => items,
        _ => &one,
    };
    let mut ints = vec![];
    for item in items {
        if let Some(i) = item.as_const().and_then(Const::as_int).and_then(|i| i64::try_from(i).ok()) {
            ints.push(i);
        } else {
            let found = item.describe();
            let help = match item {
                Object::Error => return Err(Reported),
                Object::Const(Const::Type(_)) => {
                    "to take the bits of a tensor as another type, write `x.to(dtype, bitcast=True)`"
                }
                Object::Const(Const::Float(_)) => "pass an integer: divide with `//`",
                _ => "pass a literal or a parameter annotated `tl.constexpr`",
            };
            return Err(cx.error_help(
                &names::NOT_CONSTEXPR,
                format!("expected an integer known at compile time, found {found}"),
                "shapes, axes and hints are compile-time values",
                help,
            ));
        }
    }
    Ok(ints)
}

/// A shape: compile-time powers of two.
pub fn shape_of(cx: &mut Emitter, v: &Object) -> R<Vec<i64>> {
    let shape = ints_of(cx, v)?;
    shape::check_shape(cx, &shape)?;
    Ok(shape)
}
