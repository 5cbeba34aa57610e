//! `value[index]`: of tuples, dicts and strings at compile time; of tensors by `:` and `None`.
//!
//! Example: `x[:, None]` of a `[64]` tensor is an `expand_dims` at axis 1.

use super::fold::same;
use super::{faults, fold, shape};
use crate::diag::Diagnostic;
use crate::diag::codes::{names, types};
use crate::irgen::emit::{Emitter, R, Reported, Tensor};
use crate::irgen::front::space::Space;
use crate::irgen::value::{Const, Object, Passed, SliceVal};

/// `value[index]`
pub fn subscript(cx: &mut Emitter, value: &Object, index: &Object) -> R<Object> {
    match (value, index) {
        (Object::Tensor(t), _) => index_tensor(cx, *t, index),
        (Object::Tuple(items), Object::Const(c)) if c.as_int().is_some() => {
            let i = c.as_int().unwrap_or(0);
            let at = if i < 0 { i + items.len() as i128 } else { i };
            match usize::try_from(at).ok().and_then(|i| items.get(i)) {
                Some(v) => Ok(v.clone()),
                None => Err(outside(cx, i, items.len())),
            }
        }
        (Object::Tuple(items), Object::Slice(s)) => {
            slice_tuple(cx, items, s).map(|part| Object::sequence(items.form, part))
        }
        (Object::Dict(items), _) => index_dict(cx, items, index),
        (Object::Passed(p), _) => index_passed(cx, p, index),
        (Object::Argument(_), _) => Err(fold::known(cx, value).err().unwrap_or(Reported)),
        (Object::Const(Const::Str(text)), Object::Const(Const::Int(i))) => {
            let at = if *i < 0 { i + text.chars().count() as i128 } else { *i };
            match usize::try_from(at).ok().and_then(|i| text.chars().nth(i)) {
                Some(c) => Ok(Const::str(&c.to_string()).into()),
                None => Err(outside_text(cx, *i, text)),
            }
        }
        (Object::Tuple(_), _) => {
            Err(faults::expected(cx, "a compile-time integer or a slice as the index of a tuple", index))
        }
        _ => Err(no_index(cx, value)),
    }
}

/// Reports a value that has no elements.
fn no_index(cx: &mut Emitter, value: &Object) -> Reported {
    let help = match value {
        Object::Const(Const::Func(_)) => {
            "`kernel[grid](…)` launches from the host; in a kernel call a `@triton.jit` function as `f(…)`"
        }
        Object::Const(Const::Space(Space::Environ)) => {
            return cx.error_help(
                &types::INDEX,
                "the environment is not read at compile time",
                "an environment variable",
                "give the value with -D or as a parameter; `os.environ.get(name, default)` gives its default",
            );
        }
        Object::Desc(_) => "read a block with `desc.load([offsets])`",
        Object::Const(Const::Int(_) | Const::Float(_) | Const::Bool(_)) => "a number has no elements; use it as it is",
        Object::Range(_) => "write a loop over the range",
        Object::Method(_) => "call the method first",
        _ => "tuples, strings and tensors (by `:` and `None`) can be indexed",
    };
    let found = value.describe();
    cx.error_help(&types::INDEX, format!("{found} cannot be indexed"), "indexed here", help)
}

/// The message for an index outside of a tuple, whose length decides the advice.
fn outside(cx: &mut Emitter, i: i128, len: usize) -> Reported {
    if cx.list_changed() {
        return Reported;
    }
    let help = match len {
        0 => "the tuple is empty; the shape of a scalar or a pointer is, too: sizes of arrays in memory are passed to the kernel"
            .to_owned(),
        n => format!("the indices go from 0 to {}, or from -{n} to -1", n - 1),
    };
    cx.error_help(&types::INDEX, format!("the index {i} is outside of a tuple of {len}"), "out of range", help)
}

fn slice_tuple(cx: &mut Emitter, items: &[Object], s: &SliceVal) -> R<Vec<Object>> {
    let n = items.len() as i128;
    let mut bound = |v: &Object, default: i128| -> R<i128> {
        match v {
            v if v.is_none() => Ok(default),
            Object::Const(c) if c.as_int().is_some() => {
                let i = c.as_int().unwrap_or(0);
                Ok((if i < 0 { i + n } else { i }).clamp(0, n))
            }
            other => Err(faults::expected(cx, "a compile-time integer", other)),
        }
    };
    let (lo, hi) = (bound(&s.lower, 0)?, bound(&s.upper, n)?);
    let step = match &s.step {
        v if v.is_none() => 1,
        Object::Const(Const::Int(i)) if *i > 0 => usize::try_from(*i).unwrap_or(usize::MAX),
        other => return Err(faults::expected(cx, "a positive step", other)),
    };
    Ok(items.get(lo as usize..hi.max(lo) as usize).unwrap_or(&[]).iter().step_by(step).cloned().collect())
}

fn outside_text(cx: &mut Emitter, i: i128, text: &str) -> Reported {
    let help = format!("'{text}' has {} characters", text.chars().count());
    cx.error_help(&types::INDEX, format!("the index {i} is outside of the string"), "out of range", help)
}

/// `x[:, None]`: only whole dimensions and new ones.
fn index_tensor(cx: &mut Emitter, t: Tensor, index: &Object) -> R<Object> {
    let single = [index.clone()];
    let parts: &[Object] = match index {
        Object::Tuple(items) => items,
        _ => &single,
    };
    let rank = t.ty.shape().len();
    let whole =
        |v: &Object| matches!(v, Object::Slice(s) if s.lower.is_none() && s.upper.is_none() && s.step.is_none());
    // Triton up to 3.6 passed over the `:` of a scalar.
    let scalar = rank == 0 && !t.ty.dtype.is_ptr() && parts.iter().any(whole);
    if scalar && parts.iter().all(|p| whole(p) || p.is_none()) {
        let message =
            format!("{} has no dimension for `:`; Triton takes this up to 3.6 only", Object::from(t).describe());
        let diag = Diagnostic::warning(&names::DOUBTFUL, message).at(cx.span(), "the `:` is passed over");
        let _ = cx.report(diag.help(
            "write one `None` for each dimension of 1, as in `x[None]`, or leave the index out: scalars broadcast by themselves",
        ));
    }
    let (mut result, mut used) = (t, 0);
    for (dim, part) in parts.iter().enumerate() {
        match part {
            v if v.is_none() => result = shape::expand_dims(cx, result, dim)?,
            v if whole(v) => {
                used += 1;
                if used > rank && !scalar {
                    return Err(cx.error_help(
                        &types::INDEX,
                        format!("too many indices for {}", Object::from(t).describe()),
                        "one `:` too many",
                        format!(
                            "it has {rank} dimension{}: write one `:` for each, and `None` for new ones",
                            if rank == 1 { "" } else { "s" }
                        ),
                    ));
                }
            }
            Object::Error => return Err(Reported),
            other => {
                let found = other.describe();
                if t.ty.dtype.is_ptr() {
                    return Err(cx.error_help(
                        &types::INDEX,
                        format!("a pointer cannot be indexed by {found}"),
                        "memory is read by `tl.load`",
                        "add the index to the pointer: `tl.load(ptr + i)`, and `tl.store(ptr + i, value)` to write",
                    ));
                }
                if matches!(other, Object::Const(Const::Ellipsis)) {
                    let new = if parts.iter().any(Object::is_none) { ", and `None` for each new one" } else { "" };
                    return Err(cx.error_help(
                        &types::INDEX,
                        "`...` is no index of a tensor",
                        "not an index of tensors",
                        format!(
                            "write one `:` for each dimension, of which there {} {rank}{new}",
                            if rank == 1 { "is" } else { "are" }
                        ),
                    ));
                }
                return Err(cx.error_help(
                    &types::INDEX,
                    format!("a tensor takes only `:` and `None` as indices, found {found}"),
                    "not an index of tensors",
                    "elements of a tensor cannot be picked one by one; use a reduction, `tl.gather`, or load what you need",
                ));
            }
        }
    }
    Ok(result.into())
}

/// What a launch passes by this name; `None` if that is nothing.
pub fn passed(cx: &mut Emitter, p: &Passed, name: &str) -> R<Option<Object>> {
    match p.items.iter().find(|item| &*item.name == name) {
        Some(item) if item.certain => Ok(Some(item.value.clone())),
        None if p.params.iter().any(|param| &**param == name) => Ok(None),
        _ => Err(fold::unknown_launch(cx, &format!("whether a launch passes `{name}`"))),
    }
}

/// `args[key]` of a heuristic. What is not passed for certain has the value of its default or of its option.
fn index_passed(cx: &mut Emitter, p: &Passed, key: &Object) -> R<Object> {
    fold::known_whole(cx, key)?;
    if let Object::Const(Const::Str(name)) = key
        && let Some(item) = p.items.iter().find(|item| item.name == *name)
    {
        return Ok(item.value.clone());
    }
    let items: Vec<(Object, Object)> =
        p.items.iter().map(|i| (Const::Str(i.name.clone()).into(), i.value.clone())).collect();
    index_dict(cx, &items, key)
}

/// `d[key]`
pub fn index_dict(cx: &mut Emitter, items: &[(Object, Object)], key: &Object) -> R<Object> {
    fold::known_whole(cx, key)?;
    if let Some((_, v)) = items.iter().find(|(k, _)| same(k, key)) {
        return Ok(v.clone());
    }
    let shown = key.show();
    Err(cx.error_help(
        &types::INDEX,
        format!("there is no `{shown}` in the dict"),
        format!("no value for `{shown}`"),
        format!("its keys are {}", items.iter().map(|(k, _)| k.show()).collect::<Vec<_>>().join(", ")),
    ))
}
