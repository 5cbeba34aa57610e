//! What host code around kernels uses: Python's functions on lists, `itertools`, `triton.Config`, and what it asks of
//! the target.
//!
//! Configurations and heuristics are written with these; kernels have no use for them.

use std::rc::Rc;

use super::entry::{calling, entry};
use crate::diag::codes::{names, types};
use crate::irgen::emit::{Emitter, R, of_text};
use crate::irgen::front::space::Space;
use crate::irgen::semantic::cmp::Cmp;
use crate::irgen::semantic::{faults, fold, index, items, operators};
use crate::irgen::types::Dtype;
use crate::irgen::value::{Args, Builtin, Config, Const, Form, Object};
use crate::parser::ast::BinOp;

/// Python's builtins that only host code uses.
pub(super) static TABLE: &[Builtin] = &[
    entry("sum", "items, start=0", "The sum of compile-time values.", |cx, a| {
        let items = items(cx, a.get(0))?;
        items.iter().try_fold(a.get(1).clone(), |acc, v| operators::binary(cx, BinOp::Add, &acc, v))
    }),
    entry("sorted", "items", "The compile-time values in ascending order.", |cx, a| {
        let all = items(cx, a.get(0))?;
        Ok(Object::list(sorted(cx, all)?))
    }),
    entry("reversed", "items", "The values from the last to the first.", |cx, a| {
        let mut all = items(cx, a.get(0))?;
        all.reverse();
        Ok(Object::tuple(all))
    }),
    entry("enumerate", "items, start=0", "The values with their numbers.", |cx, a| {
        let start = a.int(cx, 1)?;
        let numbered =
            (start..).zip(items(cx, a.get(0))?).map(|(i, v)| Object::sequence(Form::Tuple, vec![Object::int(i), v]));
        Ok(Object::tuple(numbered.collect()))
    }),
    entry("zip", "*lists", "Tuples of the first values, the second values and so on.", |cx, a| {
        let lists = lists(cx, a.get(0))?;
        let count = lists.iter().map(Vec::len).min().unwrap_or(0);
        let tuple = |i: usize| Object::sequence(Form::Tuple, lists.iter().map(|l| l[i].clone()).collect());
        Ok(Object::tuple((0..count).map(tuple).collect()))
    }),
    calling("map", "function, items", "The function's value for each item.", |cx, a| {
        let values: R<Vec<Object>> =
            items(cx.out(), a.get(1))?.into_iter().map(|v| cx.call(a.get(0), vec![v])).collect();
        Ok(Object::tuple(values?))
    }),
    calling("filter", "function, items", "The items for which the function is true.", |cx, a| {
        let mut kept = vec![];
        for v in items(cx.out(), a.get(1))? {
            let truth = if a.get(0).is_none() { v.clone() } else { cx.call(a.get(0), vec![v.clone()])? };
            if fold::truth(cx.out(), &truth)? {
                kept.push(v);
            }
        }
        Ok(Object::tuple(kept))
    }),
];

/// `itertools`
pub(super) static ITERTOOLS: &[Builtin] = &[
    entry(
        "product",
        "*lists, repeat=1",
        "All combinations of one value of each list, the last varying fastest.",
        |cx, a| {
            let (once, repeat) = (lists(cx, a.get(0))?, a.int(cx, 1)?.clamp(0, 16) as usize);
            let count = once.len() * repeat;
            let mut all: Vec<Vec<Object>> = vec![vec![]];
            for list in once.iter().cycle().take(count) {
                if all.len() * list.len() > 1 << 16 {
                    return Err(cx.error_help(
                        &names::TOO_LARGE,
                        "the product of the lists has more than 65536 items",
                        "in this call",
                        "choose fewer values",
                    ));
                }
                cx.room((all.len() * list.len() * (all[0].len() + 1)) as u64)?;
                all = all
                    .iter()
                    .flat_map(|start| list.iter().map(|v| [start.as_slice(), std::slice::from_ref(v)].concat()))
                    .collect();
            }
            Ok(Object::tuple(all.into_iter().map(|items| Object::sequence(Form::Tuple, items)).collect()))
        },
    ),
    entry("chain", "*lists", "The values of the lists, one list after the other.", |cx, a| {
        Ok(Object::tuple(lists(cx, a.get(0))?.concat()))
    }),
];

/// `packaging.version`: a version is the tuple of its numbers, which compares as versions do.
pub(super) static VERSIONS: &[Builtin] = &[
    entry("parse", "version", "The numbers of a version.", version),
    entry("Version", "version", "The numbers of a version.", version),
];

fn version(cx: &mut Emitter, a: &Args) -> R<Object> {
    let text = a.text(cx, 0)?;
    let numbers = text.trim_start_matches('v').split('.').map(str::parse::<i64>).collect::<Result<Vec<_>, _>>();
    // Releases that are more than numbers, as in `3.0.0rc1`, have an order of their own.
    let Ok(mut numbers) = numbers else {
        return Err(cx.unsupported(&format!("the version `{text}`, which is more than numbers,")));
    };
    while numbers.len() > 1 && numbers.last() == Some(&0) {
        numbers.pop();
    }
    Ok(Object::tuple(numbers.into_iter().map(|n| Object::int(i128::from(n))).collect()))
}

/// Host functions and classes of `triton` itself.
pub(super) static TRITON: &[Builtin] = &[entry(
    "Config",
    "kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None",
    "A configuration to choose from.",
    |cx, a| {
        let Object::Dict(kwargs) = a.get(0) else { return Err(faults::expected(cx, "a dict of values", a.get(0))) };
        let mut values = vec![];
        for (key, value) in kwargs.iter() {
            match key {
                Object::Const(Const::Str(name)) => values.push((name.clone(), value.clone())),
                other => return Err(faults::expected(cx, "the name of a parameter", other)),
            }
        }
        let number = |cx: &mut Emitter, i: usize| -> R<Option<u32>> {
            let Some(v) = a.given(i) else { return Ok(None) };
            let n = a.int(cx, i)?;
            u32::try_from(n).map(Some).map_err(|_| faults::expected(cx, "a number that is not negative", v))
        };
        let (num_warps, num_stages, num_ctas, maxnreg) =
            (number(cx, 1)?, number(cx, 2)?, number(cx, 3)?, number(cx, 4)?);
        if a.given(6).is_some() {
            return Err(cx.unsupported("`ir_override` of a configuration"));
        }
        // Triton's options take the place of values that are called the same, also where they are not given.
        let options = [("num_warps", num_warps.or(Some(4))), ("num_stages", num_stages.or(Some(3)))];
        let options = options.into_iter().chain([("num_ctas", num_ctas.or(Some(1))), ("maxnreg", maxnreg)]);
        for (name, number) in options.filter_map(|(name, number)| Some((name, number?))) {
            values.iter_mut().filter(|(n, _)| &**n == name).for_each(|(_, v)| *v = Object::int(number));
        }
        let made_of = Some(a.get(0).clone());
        Ok(Object::Config(Rc::new(Config { values, made_of, num_warps, num_stages, num_ctas, maxnreg })))
    },
)];

/// Methods of dicts.
static DICT: &[Builtin] = &[
    entry("get", "self, key, default=None", "The value of a key, or the default.", |cx, a| {
        let Object::Dict(d) = a.get(0) else { return Ok(Object::NONE) };
        fold::known_whole(cx, a.get(1))?;
        let known = d.iter().any(|(k, _)| fold::same(k, a.get(1)));
        if known { index::index_dict(cx, d, a.get(1)) } else { Ok(a.get(2).clone()) }
    }),
    entry("keys", "self", "The keys.", |_, a| Ok(pairs(a, |k, _| k.clone()))),
    entry("values", "self", "The values.", |_, a| Ok(pairs(a, |_, v| v.clone()))),
    entry("items", "self", "The keys with their values.", |_, a| {
        Ok(pairs(a, |k, v| Object::sequence(Form::Tuple, vec![k.clone(), v.clone()])))
    }),
    entry("copy", "self", "The dict itself: values never change.", |_, a| match a.get(0) {
        Object::Dict(d) => Ok(Object::dict(d.to_vec())),
        other => Ok(other.clone()),
    }),
];

/// Methods of lists; those that change one are statements ([`crate::irgen::walk`]).
static LIST: &[Builtin] = &[
    entry("copy", "self", "A copy of the list.", |cx, a| Ok(Object::list(items(cx, a.get(0))?))),
    entry("index", "self, value", "Where the value stands.", |cx, a| {
        let all = items(cx, a.get(0))?;
        for (at, v) in all.iter().enumerate() {
            if fold::equal(cx, v, a.get(1))? {
                return Ok(Object::int(at as i128));
            }
        }
        Err(cx.error_help(&types::INDEX, "the value is not in the list", "in this call", "ask `value in list` first"))
    }),
];

/// Methods of strings.
static TEXT: &[Builtin] = &[
    entry("lower", "self", "In small letters.", |cx, a| Ok(Const::str(&a.text(cx, 0)?.to_lowercase()).into())),
    entry("upper", "self", "In capital letters.", |cx, a| Ok(Const::str(&a.text(cx, 0)?.to_uppercase()).into())),
    entry("strip", "self", "Without white space around it.", |cx, a| Ok(Const::str(a.text(cx, 0)?.trim()).into())),
    entry("replace", "self, old, new", "With one part in place of another.", |cx, a| {
        let (text, old, new) = (a.text(cx, 0)?, a.text(cx, 1)?, a.text(cx, 2)?);
        cx.room(of_text(text.len().saturating_add(text.matches(&*old).count().saturating_mul(new.len()))))?;
        Ok(Const::str(&text.replace(&*old, &new)).into())
    }),
    entry("split", "self, separator=None", "The parts between separators, or between white space.", |cx, a| {
        let text = a.text(cx, 0)?;
        let part = |s: &str| Object::from(Const::str(s));
        Ok(Object::list(match a.given(1) {
            Some(_) => text.split(&*a.text(cx, 1)?).map(part).collect(),
            None => text.split_whitespace().map(part).collect(),
        }))
    }),
    entry("join", "self, parts", "The parts with the text between them.", |cx, a| {
        let between = a.text(cx, 0)?;
        let mut parts = vec![];
        for v in items(cx, a.get(1))? {
            match v {
                Object::Const(Const::Str(s)) => parts.push(s),
                other => return Err(faults::expected(cx, "a string", &other)),
            }
        }
        cx.room(of_text(parts.iter().fold(0, |sum: usize, p| sum.saturating_add(p.len() + between.len()))))?;
        Ok(Const::str(&parts.join(&*between)).into())
    }),
    entry("format", "self, *args, **fields", "The text with values in place of `{}`, `{0}` and `{name}`.", format),
    entry("find", "self, part", "Where the first such part begins, by characters; -1 without one.", |cx, a| {
        let (text, part) = (a.text(cx, 0)?, a.text(cx, 1)?);
        Ok(Object::int(text.find(&*part).map_or(-1, |at| text[..at].chars().count() as i128)))
    }),
    entry("startswith", "self, prefix", "Whether it begins so.", |cx, a| {
        let (text, part) = (a.text(cx, 0)?, a.text(cx, 1)?);
        Ok(Object::bool(text.starts_with(&*part)))
    }),
    entry("endswith", "self, suffix", "Whether it ends so.", |cx, a| {
        let (text, part) = (a.text(cx, 0)?, a.text(cx, 1)?);
        Ok(Object::bool(text.ends_with(&*part)))
    }),
];

/// `"{a} {0} {}".format(…)`. Doubled braces stand for themselves.
fn format(cx: &mut Emitter, a: &Args) -> R<Object> {
    let text = a.text(cx, 0)?;
    let (positional, Object::Dict(fields)) = (items(cx, a.get(1))?, a.get(2).clone()) else { return Ok(Object::NONE) };
    let (mut out, mut rest, mut next) = (String::new(), &*text, 0);
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            out.push_str(brace);
            rest = after;
            continue;
        }
        let Some((field, after)) = after.split_once('}').filter(|_| brace == "{") else {
            return Err(cx.error_help(
                &names::BAD_ARGUMENTS,
                "a brace of the format stands alone",
                "this text",
                "write `{{` and `}}` for braces that are text",
            ));
        };
        let value = match field {
            "" => positional.get(next).cloned(),
            number if number.bytes().all(|b| b.is_ascii_digit()) => {
                number.parse().ok().and_then(|i: usize| positional.get(i).cloned())
            }
            name if name.contains(['!', ':', '.', '[']) => {
                return Err(cx.unsupported(&format!("the format `{{{name}}}`")));
            }
            name => Some(index::index_dict(cx, &fields, &Const::str(name).into())?),
        };
        next += usize::from(field.is_empty());
        let Some(value) = value else {
            return Err(cx.error_help(
                &names::BAD_ARGUMENTS,
                format!("there is no value for `{{{field}}}`"),
                "this text",
                "pass one value for each field",
            ));
        };
        fold::known(cx, &value)?;
        if !value.values().is_empty() {
            return Err(cx.error_help(
                &names::NOT_CONSTEXPR,
                format!("{} cannot be put into a text at compile time", value.describe()),
                "known only at run time",
                "to print a value write `tl.device_print(\"x\", x)`",
            ));
        }
        cx.room(value.weight().saturating_add(of_text(out.len())))?;
        out.push_str(&fold::text(cx, &value)?);
        rest = after;
    }
    out.push_str(rest);
    Ok(Const::str(&out).into())
}

/// The values in ascending order, equal ones as they were. Any comparison may fail, so this is no sort of Rust's.
fn sorted(cx: &mut Emitter, mut all: Vec<Object>) -> R<Vec<Object>> {
    if all.len() < 2 {
        return Ok(all);
    }
    let second = all.split_off(all.len() / 2);
    let (first, second) = (sorted(cx, all)?, sorted(cx, second)?);
    let mut merged = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter().peekable(), second.into_iter().peekable());
    while let (Some(x), Some(y)) = (first.peek(), second.peek()) {
        let next = if fold::compare(cx, Cmp::Lt, y, x)? { second.next() } else { first.next() };
        merged.extend(next);
    }
    merged.extend(first.chain(second));
    Ok(merged)
}

/// Methods of integers.
static INTEGER: &[Builtin] =
    &[entry("bit_length", "self", "The bits that the number takes, without its sign.", |cx, a| {
        let n = a.int(cx, 0)?;
        Ok(Object::int(128 - n.unsigned_abs().leading_zeros()))
    })];

/// Methods of a run-time argument that is a tensor: what its type says.
static ARGUMENT: &[Builtin] =
    &[entry("is_floating_point", "self", "Whether its elements are floats.", |cx, a| match a.get(0) {
        Object::Argument(arg) => Ok(Object::bool(element(arg.ty.dtype).is_float())),
        other => Err(faults::expected(cx, "an argument", other)),
    })];

/// Methods of all that a launch passes, of which only what the kernel's parameters get is known.
static PASSED: &[Builtin] = &[
    entry("get", "self, key, default=None", "What is passed by a name, or the default.", |cx, a| {
        let name = a.text(cx, 1)?;
        match a.get(0) {
            Object::Passed(p) => Ok(index::passed(cx, p, &name)?.unwrap_or_else(|| a.get(2).clone())),
            other => Err(faults::expected(cx, "the arguments of a launch", other)),
        }
    }),
    entry("keys", "self", "Not known.", |cx, a| fold::known(cx, a.get(0)).map(|()| Object::NONE)),
    entry("values", "self", "Not known.", |cx, a| fold::known(cx, a.get(0)).map(|()| Object::NONE)),
    entry("items", "self", "Not known.", |cx, a| fold::known(cx, a.get(0)).map(|()| Object::NONE)),
    entry("copy", "self", "The same.", |_, a| Ok(a.get(0).clone())),
];

/// What the driver says of the target.
static TARGET: &[Builtin] = &[
    entry("get_current_target", "", "The GPU that is compiled for.", |_, _| Ok(Const::Space(Space::GpuTarget).into())),
    entry("is_available", "", "Whether there is a GPU: there will be.", |_, _| Ok(Object::bool(true))),
    entry("get_device_capability", "device=None", "Major and minor compute capability.", |cx, _| {
        let (major, minor) = cx.target().version();
        Ok(Object::sequence(Form::Tuple, vec![Object::int(major), Object::int(minor)]))
    }),
    entry("get_device_name", "device=None", "The usual GPU of the compute capability.", |cx, _| {
        match cx.target().product() {
            Some(name) => Ok(Const::str(name).into()),
            None => Err(cx.error_help(
                &names::UNKNOWN_VALUE,
                format!("there is no one GPU of {}", cx.target()),
                "asks for its name",
                "give what is computed from it with -D",
            )),
        }
    }),
    entry("are_deterministic_algorithms_enabled", "", "They are not.", |_, _| Ok(Object::bool(false))),
    entry("current_device", "", "The first.", |_, _| Ok(Object::int(0))),
];

/// Members of the packages that host code asks about the target.
pub(super) fn target_member(space: Space, name: &str) -> Option<Object> {
    let call = |name: &str| TARGET.iter().find(|b| b.name == name).map(|b| Const::Builtin(b).into());
    match (space, name) {
        (Space::TorchCuda, "is_available" | "get_device_capability" | "get_device_name" | "current_device") => {
            call(name)
        }
        (Space::Torch, "are_deterministic_algorithms_enabled") => call(name),
        (Space::TorchVersion, "hip") => Some(Object::NONE),
        (Space::Runtime, "driver") => Some(Const::Space(Space::Driver).into()),
        (Space::Driver, "active") => Some(Const::Space(Space::ActiveDriver).into()),
        (Space::ActiveDriver, "get_current_target") => call(name),
        _ => None,
    }
}

/// A method of a value that host code has.
pub(super) fn method(base: &Object, name: &str) -> Option<&'static Builtin> {
    let table = match base {
        Object::Dict(_) => DICT,
        Object::Tuple(_) => LIST,
        Object::Argument(arg) if arg.ty.dtype.is_ptr() => ARGUMENT,
        Object::Passed(_) => PASSED,
        Object::Const(Const::Str(_)) => TEXT,
        Object::Const(Const::Int(_)) => INTEGER,
        _ => return None,
    };
    table.iter().find(|b| b.name == name)
}

/// The type of what a pointer points to, or of a scalar itself.
#[must_use]
pub(super) fn element(dtype: Dtype) -> Dtype {
    dtype.pointee().map_or(dtype, |t| t.dtype)
}

fn items(cx: &mut Emitter, v: &Object) -> R<Vec<Object>> {
    fold::known(cx, v)?;
    items::iterate(v).ok_or_else(|| {
        let help =
            "Python's functions run over compile-time values; tensors have `tl.sum(x, axis)`, `tl.sort(x)` and others";
        faults::expected_of_tensor(cx, "something to run over at compile time", v, help)
    })
}

fn lists(cx: &mut Emitter, v: &Object) -> R<Vec<Vec<Object>>> {
    items(cx, v)?.iter().map(|l| items(cx, l)).collect()
}

fn pairs(a: &Args, f: fn(&Object, &Object) -> Object) -> Object {
    match a.get(0) {
        Object::Dict(d) => Object::tuple(d.iter().map(|(k, v)| f(k, v)).collect()),
        _ => Object::tuple(vec![]),
    }
}
