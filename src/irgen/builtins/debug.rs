//! Checks and output, at compile time and on the device; inline PTX.

use super::entry::entry;
use crate::diag::codes::{names, types};
use crate::ir::Type;
use crate::ir::dialects::tt::tt::{ElementwiseInlineAsm as InlineAsm, Print};
use crate::irgen::emit::Tensor;
use crate::irgen::emit::{Emitter, R, Reported};
use crate::irgen::semantic::{arith, convert, faults, operators, shape};
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Args, Builtin, Const, Object};
use crate::parser::ast::CmpOp;

pub(super) static TABLE: &[Builtin] = &[
    entry(
        "static_assert",
        "cond, msg=\"\"",
        "Stops the compilation unless the compile-time condition holds.",
        static_assert,
    ),
    entry(
        "static_print",
        "*values, sep=\" \", end=\"\", file=None, flush=False",
        "Prints compile-time values while compiling.",
        |cx, a| {
            let Object::Tuple(items) = a.get(0) else { return Ok(Object::NONE) };
            let parts: Vec<String> = items.iter().map(Object::show).collect();
            let sep = a.text(cx, 1)?;
            cx.print_line(parts.join(&sep));
            Ok(Object::NONE)
        },
    ),
    entry(
        "device_assert",
        "cond, msg=\"\", mask=None",
        "Stops the program unless the condition holds; only in debug mode.",
        |cx, a| {
            asserted(cx, a.get(0))?;
            if !cx.settings().debug {
                return Ok(Object::NONE);
            }
            let mut cond = a.tensor(cx, 0)?;
            let message = a.text(cx, 1)?;
            if let Some(mask) = a.optional_tensor(cx, 2)? {
                let outside = arith::logical_not(cx, &mask.into())?;
                cond = arith::bitwise(cx, crate::ir::ArithOp::Ori, "|", &cond.into(), &outside.into())?;
            }
            arith::device_assert(cx, cond, &message)?;
            Ok(Object::NONE)
        },
    ),
    entry(
        "expect_zero",
        "x, mask",
        "`x`, which is expected to be zero where `mask` holds; debug mode checks that.",
        expect_zero,
    ),
    entry("device_print", "prefix, *args, hex=False", "Prints values on the device.", device_print),
    entry(
        "inline_asm_elementwise",
        "asm, constraints, args, dtype, is_pure, pack",
        "PTX applied to each pack of elements; the result has the given type, or types if `dtype` is a tuple.",
        inline_asm,
    ),
];

/// Reports what is no condition of an assertion, in every mode: `assert (x > 0, "text")` has a tuple, which is true.
pub(in crate::irgen) fn asserted(cx: &mut Emitter, cond: &Object) -> R<()> {
    match cond {
        Object::Tensor(_) => Ok(()),
        Object::Const(c) if c.dtype().is_some() => Ok(()),
        Object::Error => Err(Reported),
        other => {
            let help = match other {
                Object::Tuple(_) => "leave out the parentheses around both: `assert x > 0, \"text\"`",
                Object::Method(_) | Object::Const(Const::Func(_) | Const::Builtin(_)) => {
                    "it was named but not called: add `()`"
                }
                _ => "compare it with something, as in `x is not None`",
            };
            let found = other.describe();
            Err(cx.error_help(&types::CONDITION, format!("{found} cannot be asserted"), "no truth value", help))
        }
    }
}

/// `tl.expect_zero`
fn expect_zero(cx: &mut Emitter, a: &Args) -> R<Object> {
    let (x, mask) = (a.get(0).clone(), a.tensor(cx, 1)?);
    if cx.settings().debug {
        let (x, zero) = (a.tensor(cx, 0)?, Object::int(0));
        let is_zero = operators::compare(cx, CmpOp::Eq, &x.into(), &zero)?;
        let outside = arith::logical_not(cx, &mask.into())?;
        let cond = arith::bitwise(cx, crate::ir::ArithOp::Ori, "|", &is_zero, &outside.into())?;
        arith::device_assert(cx, cond, "expect_zero expected x == 0 where mask is true")?;
    }
    Ok(x)
}

fn static_assert(cx: &mut Emitter, a: &Args) -> R<Object> {
    if !a.flag(cx, 0)? {
        let message = a.get(1).show();
        let text = if message.is_empty() {
            "static assertion failed".to_owned()
        } else {
            format!("static assertion failed: {message}")
        };
        let help = if cx.span().file.is_embedded() {
            "pass other values in this call"
        } else {
            "the compile-time values lead here: change them in the signature, with -D, or choose another configuration"
        };
        return Err(cx.error_help(&names::STATIC_ASSERT, text, "does not hold", help));
    }
    Ok(Object::NONE)
}

/// `tl.device_print`, also as Python's `print`.
pub(super) fn device_print(cx: &mut Emitter, a: &Args) -> R<Object> {
    let mut prefix = match a.get(0) {
        Object::Const(Const::Str(s)) => s.to_string(),
        other => {
            let found = other.describe();
            return Err(cx.error_help(
                &types::ARGUMENT_TYPE,
                format!("the first argument of a device print is a string, found {found}"),
                format!("this is {found}"),
                "put a string before the values: `tl.device_print(\"x\", x)`",
            ));
        }
    };
    if !prefix.is_ascii() {
        return Err(cx.error_help(
            &names::BAD_ARGUMENTS,
            "the prefix of a device print must be ASCII",
            "in this call",
            "write the text in letters without accents",
        ));
    }
    let Object::Tuple(items) = a.get(1) else { return Ok(Object::NONE) };
    let args: Vec<Tensor> = items.iter().map(|v| convert::to_tensor(cx, v)).collect::<R<_>>()?;
    // As Triton does it: `a`, `a:` and `a ` become `a: `; other white space stays.
    if !args.is_empty() {
        if !prefix.ends_with(' ') {
            prefix.push(' ');
        }
        if !prefix.ends_with(": ") {
            prefix.pop();
            prefix.push_str(": ");
        }
    }
    if prefix.len() > 2 && !prefix.starts_with(' ') {
        prefix.insert(0, ' ');
    }
    let signed: Vec<i64> = args.iter().map(|t| i64::from(t.ty.dtype.is_signed())).collect();
    let operands: Vec<_> = args.iter().map(|t| t.value).collect();
    let hex = a.flag(cx, 2)?;
    let state = Print::state(cx.loc(), &operands)
        .with(Print::ATTR.prefix, &prefix)
        .with(Print::ATTR.hex, hex)
        .with(Print::ATTR.isSigned, &signed);
    cx.emit(state).map(|_| Object::NONE)
}

fn inline_asm(cx: &mut Emitter, a: &Args) -> R<Object> {
    let (asm, constraints) = (a.text(cx, 0)?, a.text(cx, 1)?);
    let Object::Tuple(items) = a.get(2) else {
        let help = "write a list, also of one: `args=[x]`";
        return Err(
            a.placed(cx, 2, |cx| faults::expected_of_tensor(cx, "a list of tensors for `args`", a.get(2), help))
        );
    };
    let mut args: Vec<Tensor> = items.iter().map(|v| convert::to_tensor(cx, v)).collect::<R<_>>()?;
    let (dtypes, single) = match a.get(3) {
        Object::Tuple(ts) => (ts.to_vec(), false),
        v => (vec![v.clone()], true),
    };
    let (pure, pack) = (a.flag(cx, 4)?, a.int(cx, 5)?);
    if pack < 1 || pack & (pack - 1) != 0 {
        return Err(cx.error_help(
            &names::BAD_ARGUMENTS,
            format!("`pack` of `inline_asm_elementwise` is {pack}: elements are packed by powers of two"),
            "in this call",
            "pass 1, 2 or 4: how many elements the assembly works on at once",
        ));
    }
    shape::broadcast_all(cx, &mut args)?;
    let mut tys = vec![];
    for d in &dtypes {
        match d {
            Object::Const(Const::Type(t)) => tys.push(args.first().map_or(Ty::scalar(t.dtype), |x| x.ty.with(t.dtype))),
            other => return Err(a.placed(cx, 3, |cx| faults::expected(cx, "a dtype", other))),
        }
    }
    asm_op(cx, &asm, &constraints, &args, &tys, pure, pack as i64, single)
}

#[allow(clippy::too_many_arguments)]
fn asm_op(
    cx: &mut Emitter,
    asm: &str,
    constraints: &str,
    args: &[Tensor],
    tys: &[Ty],
    pure: bool,
    pack: i64,
    single: bool,
) -> R<Object> {
    if tys.is_empty() {
        return Err(cx.error_help(
            &types::ARGUMENT_TYPE,
            "inline assembly must have at least one result",
            "dtype is empty",
            "give `dtype` one type for each result; an instruction without a result returns a dummy",
        ));
    }
    let operands: Vec<_> = args.iter().map(|t| t.value).collect();
    let results: Vec<Type> = tys.iter().map(|t| t.to_ir()).collect();
    let state = InlineAsm::state(cx.loc(), &operands)
        .results(&results)
        .with(InlineAsm::ATTR.asm_string, asm)
        .with(InlineAsm::ATTR.constraints, constraints)
        .with(InlineAsm::ATTR.pure, pure)
        .with(InlineAsm::ATTR.packed_element, pack);
    let op = cx.emit(state)?;
    let mut out: Vec<Object> =
        cx.ir.results(op).to_vec().into_iter().zip(tys).map(|(value, &ty)| Tensor { value, ty }.into()).collect();
    Ok(if single { out.swap_remove(0) } else { Object::tuple(out) })
}

/// One inline instruction without arguments and with one scalar result.
pub(super) fn read_register(cx: &mut Emitter, asm: &str, constraint: &str, dtype: Dtype, pure: bool) -> R<Object> {
    asm_op(cx, asm, constraint, &[], &[Ty::scalar(dtype)], pure, 1, true)
}
