//! Operators on compile-time values, as Python defines them.
//!
//! Example: `-7 // 2` is -4 and `-7 % 2` is 1 (rounding is towards minus infinity), `1 / 2` is 0.5, `[1] * 2 + [3]` is
//! `[1, 1, 3]`.

use super::cmp::Cmp;
use crate::diag::codes::{names, types};
use crate::irgen::emit::{Emitter, R, Reported, of_text};
use crate::irgen::semantic::{faults, items};
use crate::irgen::value::{Const, Form, Items, Object};
use crate::parser::ast::{BinOp, UnaryOp};

/// What went wrong in a compile-time operation.
enum Fault {
    Types,
    Math(&'static str),
}

/// A binary operator on two values known at compile time.
pub fn binary(cx: &mut Emitter, op: BinOp, a: &Object, b: &Object) -> R<Object> {
    known(cx, a)?;
    known(cx, b)?;
    match (a, b) {
        (Object::Tuple(x), Object::Tuple(y)) if op == BinOp::Add && x.form.fits(y.form) => {
            cx.room((x.len() + y.len()) as u64)?;
            let form = if x.form == Form::Kernel { y.form } else { x.form };
            Ok(Object::sequence(form, x.iter().chain(y.iter()).cloned().collect()))
        }
        (Object::Tuple(x), Object::Const(c)) | (Object::Const(c), Object::Tuple(x)) if op == BinOp::Mul && c.as_int().is_some() => {
            let times = u64::try_from(c.as_int().unwrap_or(0).max(0)).unwrap_or(u64::MAX);
            cx.room((x.len() as u64).saturating_mul(times))?;
            Ok(Object::sequence(x.form, x.iter().cloned().cycle().take(x.len() * times as usize).collect()))
        }
        (Object::Dict(x), Object::Dict(y)) if op == BinOp::BitOr => Ok(Object::Dict(std::rc::Rc::new(merge_dicts(cx, x, y)?))),
        (Object::Const(Const::Str(x)), Object::Const(Const::Str(y))) if op == BinOp::Add => {
            cx.room(of_text(x.len() + y.len()))?;
            Ok(Const::str(&format!("{x}{y}")).into())
        }
        (Object::Const(Const::Str(x)), Object::Const(n)) | (Object::Const(n), Object::Const(Const::Str(x)))
            if op == BinOp::Mul && n.as_int().is_some() =>
        {
            let times = usize::try_from(n.as_int().unwrap_or(0).max(0)).unwrap_or(usize::MAX);
            cx.room(of_text(x.len().saturating_mul(times)))?;
            Ok(Const::str(&x.repeat(times)).into())
        }
        (Object::Const(x), Object::Const(y)) => match fold(op, x, y) {
            Ok(c) => Ok(c.into()),
            Err(Fault::Types) => Err(faults::bad_operands(cx, op.symbol(), a, b)),
            Err(Fault::Math(why)) => Err(cx.error_help(
                &names::CONST_EVAL,
                format!("`{x} {} {y}` has no value: {why}", op.symbol()),
                "computed at compile time",
                "change the compile-time values that lead here (-D, the signature, a configuration), or put it under an `if` that they decide",
            )),
        },
        _ => Err(faults::bad_operands(cx, op.symbol(), a, b)),
    }
}

/// A unary operator on a value known at compile time.
pub fn unary(cx: &mut Emitter, op: UnaryOp, v: &Object) -> R<Object> {
    known(cx, v)?;
    let folded = match (op, v) {
        (UnaryOp::Not, _) => Some(Const::Bool(!truth(cx, v)?)),
        (UnaryOp::Neg, Object::Const(Const::Float(f))) => Some(Const::Float(-f)),
        (UnaryOp::Pos, Object::Const(Const::Float(f))) => Some(Const::Float(*f)),
        (UnaryOp::Neg, Object::Const(c)) => c.as_int().and_then(i128::checked_neg).map(Const::Int),
        (UnaryOp::Pos, Object::Const(c)) => c.as_int().map(Const::Int),
        (UnaryOp::Invert, Object::Const(c)) => c.as_int().map(|i| Const::Int(!i)),
        _ => None,
    };
    folded.map(Object::from).ok_or_else(|| {
        let found = v.describe();
        cx.error_help(
            &types::OPERAND_TYPES,
            format!("`{}` does not take {found}", op.symbol()),
            "its operand",
            "it takes numbers",
        )
    })
}

/// A comparison of two values known at compile time.
pub fn compare(cx: &mut Emitter, cmp: Cmp, a: &Object, b: &Object) -> R<bool> {
    cx.work(a.weight().min(b.weight()))?;
    if matches!(cmp, Cmp::Eq | Cmp::Ne) {
        if !is_decided(a, b) {
            return Err(undecided(cx, cmp.symbol()));
        }
        return Ok(equal(cx, a, b)? == (cmp == Cmp::Eq));
    }
    known(cx, a)?;
    known(cx, b)?;
    let order = match (a, b) {
        (Object::Const(Const::Str(x)), Object::Const(Const::Str(y))) => x.partial_cmp(y),
        (Object::Tuple(x), Object::Tuple(y)) => {
            // The first items that differ decide; without any, the longer one is greater.
            for (x, y) in x.iter().zip(y.iter()) {
                if !equal(cx, x, y)? {
                    return compare(cx, cmp, x, y);
                }
            }
            return compare(cx, cmp, &Object::int(x.len() as i128), &Object::int(y.len() as i128));
        }
        (Object::Const(x), Object::Const(y)) => match (x.as_float(), y.as_float()) {
            (Some(a), Some(b)) if a.is_nan() || b.is_nan() => return Ok(false),
            _ => x.order(y),
        },
        _ => None,
    };
    let Some(order) = order else { return Err(faults::bad_operands(cx, cmp.symbol(), a, b)) };
    Ok(match cmp {
        Cmp::Lt => order.is_lt(),
        Cmp::Le => order.is_le(),
        Cmp::Gt => order.is_gt(),
        _ => order.is_ge(),
    })
}

/// Reports the value of a run-time argument: a heuristic is evaluated long before the launch that knows it.
pub fn known(cx: &mut Emitter, v: &Object) -> R<()> {
    match v {
        Object::Argument(a) => Err(cx.error_help(
            &names::NOT_CONSTEXPR,
            format!("the value of `{}` is known only at a launch", a.name),
            format!("needs the value of `{}`, which is known only at a launch", a.name),
            "give what is computed from it with -D, or make the parameter a `tl.constexpr`",
        )),
        Object::Passed(_) => Err(unknown_launch(cx, "all that a launch passes")),
        _ => Ok(()),
    }
}

/// As [`known`], of a value with all that is in it.
pub fn known_whole(cx: &mut Emitter, v: &Object) -> R<()> {
    match v {
        Object::Tuple(items) if v.is_open() => items.iter().try_for_each(|v| known_whole(cx, v)),
        Object::Dict(items) if v.is_open() => items.iter().try_for_each(|(k, v)| {
            known_whole(cx, k)?;
            known_whole(cx, v)
        }),
        _ => known(cx, v),
    }
}

/// Reports something else of a launch that is not known before it.
pub fn unknown_launch(cx: &mut Emitter, what: &str) -> Reported {
    cx.error_help(
        &names::NOT_CONSTEXPR,
        format!("{what} is known only at a launch"),
        "known only at a launch",
        "give what is computed from it with -D, or make the parameter a `tl.constexpr`",
    )
}

/// As Python's `==`, where that does not hang on a run-time argument.
pub fn equal(cx: &mut Emitter, a: &Object, b: &Object) -> R<bool> {
    if let Some(outcome) = alike(a, b) {
        return Ok(outcome);
    }
    known_whole(cx, a)?;
    known_whole(cx, b)?;
    Ok(same(a, b))
}

/// As Python's `==`; `None` if a run-time argument decides. An argument is no `None`, whatever it is.
fn alike(a: &Object, b: &Object) -> Option<bool> {
    match (a, b) {
        _ if !a.is_open() && !b.is_open() && !matches!(a, Object::Passed(_)) => Some(same(a, b)),
        (Object::Argument(_), other) | (other, Object::Argument(_)) => other.is_none().then_some(false),
        (Object::Tuple(x), Object::Tuple(y)) if x.len() == y.len() && x.form.fits(y.form) => {
            let outcomes: Vec<Option<bool>> = x.iter().zip(y.iter()).map(|(x, y)| alike(x, y)).collect();
            let differs = outcomes.contains(&Some(false));
            if differs { Some(false) } else { outcomes.iter().all(Option::is_some).then_some(true) }
        }
        (Object::Dict(_), Object::Dict(_)) | (Object::Passed(_), _) => None,
        _ => Some(false),
    }
}

/// The text of a value, as Python's `str` gives it.
pub fn text(cx: &mut Emitter, v: &Object) -> R<String> {
    known_whole(cx, v)?;
    // A heuristic sees the tensors of PyTorch, whose dtypes have other names.
    if cx.of_a_launch() && matches!(v, Object::Const(Const::Type(_))) {
        return Err(unknown_launch(cx, "the text of a dtype, which is PyTorch's or Triton's,"));
    }
    Ok(v.show())
}

/// As Python's `bool(x)` of a value known at compile time.
pub fn truth(cx: &mut Emitter, v: &Object) -> R<bool> {
    match v {
        Object::Const(c) => Ok(c.truth()),
        Object::Tuple(items) => Ok(!items.is_empty()),
        Object::Dict(items) => Ok(!items.is_empty()),
        Object::Argument(_) => known(cx, v).map(|()| false),
        Object::Error => Err(Reported),
        Object::Tensor(_) => {
            let found = v.describe();
            Err(cx.error_help(
                &names::NOT_CONSTEXPR,
                format!("expected a compile-time value, found {found}"),
                "known only at run time",
                "use `tl.where`, a run-time `if`, or a `tl.constexpr` parameter",
            ))
        }
        _ => Ok(true),
    }
}

/// Checks a value that was just made.
pub fn made(cx: &mut Emitter, v: Object) -> R<Object> {
    let (all, own) = (v.weight(), v.own_weight());
    if all > cx.max_value() {
        cx.room(all)?;
    } else if own > 1 {
        cx.room(own)?;
    }
    Ok(v)
}

/// `{**a, **b}`, which compares every key of `b` with those before it.
pub fn merge_dicts(cx: &mut Emitter, a: &[(Object, Object)], b: &[(Object, Object)]) -> R<Items<(Object, Object)>> {
    let (n, m) = (a.len() as u64, b.len() as u64);
    cx.work(n + m * (n + m) / 16)?;
    Ok(merged(a, b))
}

/// `{**a, **b}`: the keys of the first keep their places.
#[must_use]
pub fn merged(a: &[(Object, Object)], b: &[(Object, Object)]) -> Items<(Object, Object)> {
    let mut all = a.to_vec();
    for (key, value) in b {
        match all.iter_mut().find(|(k, _)| same(k, key)) {
            Some((_, old)) => *old = value.clone(),
            None => all.push((key.clone(), value.clone())),
        }
    }
    Items::new(all)
}

/// As Python's `==` on compile-time values; tuples compare element by element.
#[must_use]
pub fn same(a: &Object, b: &Object) -> bool {
    match (a, b) {
        (Object::Const(x), Object::Const(y)) => x == y,
        (Object::Tuple(x), Object::Tuple(y)) => {
            x.form.fits(y.form) && x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| same(x, y))
        }
        (Object::Tensor(x), Object::Tensor(y)) => x == y,
        // Ranges are equal where they hold the same numbers.
        (Object::Range(_), Object::Range(_)) => match (items::iterate(a), items::iterate(b)) {
            (Some(x), Some(y)) => x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| same(x, y)),
            _ => false,
        },
        (Object::Dict(x), Object::Dict(y)) => {
            x.len() == y.len() && x.iter().all(|(k, v)| y.iter().any(|(l, w)| same(k, l) && same(v, w)))
        }
        _ => false,
    }
}

/// Whether it is known at compile time if two values are the same. Run-time values in tuples are not.
#[must_use]
pub fn is_decided(a: &Object, b: &Object) -> bool {
    match (a, b) {
        (Object::Tuple(x), Object::Tuple(y)) => {
            let mut pairs = x.iter().zip(y.iter());
            let known_apart = |(x, y): (&Object, &Object)| is_decided(x, y) && !same(x, y);
            x.len() != y.len() || pairs.clone().any(known_apart) || pairs.all(|(x, y)| is_decided(x, y))
        }
        _ => !matches!(a, Object::Tensor(_)) && !matches!(b, Object::Tensor(_)) || a.is_none() || b.is_none(),
    }
}

/// Reports that whether two values are the same is known at run time only.
pub fn undecided(cx: &mut Emitter, symbol: &str) -> Reported {
    cx.error_help(
        &names::NOT_CONSTEXPR,
        format!("`{symbol}` of tuples is decided at compile time, and these hold run-time values"),
        "known only at run time",
        "compare the items one by one: `(a == x) & (b == y)`, or `(n == 1) | (n == 2)` for `n in (1, 2)`",
    )
}

fn fold(op: BinOp, a: &Const, b: &Const) -> Result<Const, Fault> {
    if let (Const::Bool(x), Const::Bool(y)) = (a, b) {
        match op {
            BinOp::BitAnd => return Ok(Const::Bool(x & y)),
            BinOp::BitOr => return Ok(Const::Bool(x | y)),
            BinOp::BitXor => return Ok(Const::Bool(x ^ y)),
            _ => {}
        }
    }
    match (a.as_int(), b.as_int()) {
        (Some(x), Some(y)) => fold_ints(op, x, y),
        _ => match (a.as_float(), b.as_float()) {
            (Some(x), Some(y)) => fold_floats(op, x, y),
            _ => Err(Fault::Types),
        },
    }
}

const OVERFLOW: Fault = Fault::Math("it does not fit into 128 bits");
const ZERO: Fault = Fault::Math("division by zero");

fn fold_ints(op: BinOp, x: i128, y: i128) -> Result<Const, Fault> {
    let int = |v: Option<i128>| v.map(Const::Int).ok_or(OVERFLOW);
    let shift = |y: i128| u32::try_from(y).ok().filter(|&s| s < 128);
    match op {
        BinOp::Add => int(x.checked_add(y)),
        BinOp::Sub => int(x.checked_sub(y)),
        BinOp::Mul => int(x.checked_mul(y)),
        BinOp::Div if y == 0 => Err(ZERO),
        BinOp::Div => Ok(Const::Float(x as f64 / y as f64)),
        BinOp::FloorDiv | BinOp::Mod if y == 0 => Err(ZERO),
        BinOp::FloorDiv => int(floor_div(x, y)),
        BinOp::Mod => int(floor_div(x, y).and_then(|q| q.checked_mul(y)).and_then(|p| x.checked_sub(p))),
        BinOp::Pow if y < 0 && x == 0 => Err(ZERO),
        BinOp::Pow if y < 0 => Ok(Const::Float((x as f64).powf(y as f64))),
        BinOp::Pow => int(power(x, y)),
        BinOp::LShift if y < 0 => Err(Fault::Math("the shift amount is negative")),
        BinOp::LShift if x == 0 => Ok(Const::Int(0)),
        BinOp::LShift => {
            let s = shift(y).ok_or(OVERFLOW)?;
            let shifted = x << s;
            if shifted >> s == x { Ok(Const::Int(shifted)) } else { Err(OVERFLOW) }
        }
        BinOp::RShift if y < 0 => Err(Fault::Math("the shift amount is negative")),
        BinOp::RShift => Ok(Const::Int(shift(y).map_or(if x < 0 { -1 } else { 0 }, |s| x >> s))),
        BinOp::BitAnd => Ok(Const::Int(x & y)),
        BinOp::BitOr => Ok(Const::Int(x | y)),
        BinOp::BitXor => Ok(Const::Int(x ^ y)),
        BinOp::MatMul => Err(Fault::Types),
    }
}

/// `x` to a power of 0 or more, if it fits.
fn power(x: i128, y: i128) -> Option<i128> {
    match (x, y) {
        (0 | 1, 1..) => Some(x),
        (-1, _) => Some(if y % 2 == 0 { 1 } else { -1 }),
        _ => x.checked_pow(u32::try_from(y).ok()?),
    }
}

/// Rounds towards minus infinity.
fn floor_div(x: i128, y: i128) -> Option<i128> {
    let q = x.checked_div(y)?;
    Some(if x % y != 0 && (x < 0) != (y < 0) { q - 1 } else { q })
}

/// The remainder with the sign of the divisor, as Python has it: exact, from the remainder of a division that cuts off.
fn mod_floats(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest == 0.0 {
        0f64.copysign(y)
    } else if (rest < 0.0) == (y < 0.0) {
        rest
    } else {
        rest + y
    }
}

/// The quotient that belongs to [`mod_floats`], rounded to the integer that it nearly is.
fn floor_div_floats(x: f64, y: f64) -> f64 {
    let quotient = (x - x % y) / y;
    let rest = x % y;
    let quotient = if rest != 0.0 && (rest < 0.0) != (y < 0.0) { quotient - 1.0 } else { quotient };
    if quotient == 0.0 {
        return 0f64.copysign(x / y);
    }
    let whole = quotient.floor();
    if quotient - whole > 0.5 { whole + 1.0 } else { whole }
}

fn fold_floats(op: BinOp, x: f64, y: f64) -> Result<Const, Fault> {
    Ok(Const::Float(match op {
        BinOp::Add => x + y,
        BinOp::Sub => x - y,
        BinOp::Mul => x * y,
        BinOp::Div | BinOp::FloorDiv | BinOp::Mod if y == 0.0 => return Err(ZERO),
        BinOp::Div => x / y,
        BinOp::FloorDiv => floor_div_floats(x, y),
        BinOp::Mod => mod_floats(x, y),
        BinOp::Pow if x == 0.0 && y < 0.0 => return Err(ZERO),
        BinOp::Pow if x < 0.0 && x.is_finite() && y.is_finite() && y.fract() != 0.0 => {
            return Err(Fault::Math("a negative number to a power that is no integer is complex"));
        }
        BinOp::Pow => {
            let power = x.powf(y);
            if power.is_infinite() && x.is_finite() && y.is_finite() {
                return Err(Fault::Math("the power is too large for a float"));
            }
            power
        }
        _ => return Err(Fault::Types),
    }))
}
