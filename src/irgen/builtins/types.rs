//! Casts, and questions about types.

use super::entry::entry;
use crate::diag::codes::types;
use crate::irgen::emit::{Emitter, R, Reported};
use crate::irgen::semantic::convert;
use crate::irgen::semantic::convert::Rounding;
use crate::irgen::types::Dtype;
use crate::irgen::value::{Args, Builtin, Const, Object};

pub(super) static TABLE: &[Builtin] = &[
    entry(
        "cast",
        "input, dtype, fp_downcast_rounding=None, bitcast=False",
        "Converts to another element type; with `bitcast` keeps the bits.",
        cast,
    )
    .method(),
    entry("to", "input, dtype, fp_downcast_rounding=None, bitcast=False", "As `cast`.", cast).method(),
    entry("get_int_dtype", "bitwidth, signed", "The integer type of a width and signedness.", |cx, a| {
        let (bits, signed) = (a.int(cx, 0)?, a.flag(cx, 1)?);
        match u32::try_from(bits).ok().and_then(|b| Dtype::int(b, signed)) {
            Some(d) => Ok(Object::dtype(d)),
            None => Err(cx.error_help(
                &types::CAST,
                format!("there is no integer type of {bits} bits"),
                "in this call",
                "the widths are 1, 8, 16, 32 and 64",
            )),
        }
    }),
];

macro_rules! question {
    ($name:literal, $doc:literal, $test:expr) => {
        entry($name, "self", $doc, |_, a| {
            let test: fn(Dtype) -> bool = $test;
            // A block is none of this, whatever its elements are.
            Ok(Object::bool(matches!(a.get(0), Object::Const(Const::Type(t)) if !t.is_block() && test(t.dtype))))
        })
    };
}

/// Methods of a dtype.
pub(super) static DTYPE_METHODS: &[Builtin] = &[
    question!("is_fp8", "Whether it is an 8-bit float.", Dtype::is_fp8),
    question!("is_fp8e4nv", "Whether it is fp8e4nv.", |d| d == Dtype::Fp8e4nv),
    question!("is_fp8e4b8", "Whether it is fp8e4b8.", |d| d == Dtype::Fp8e4b8),
    question!("is_fp8e4b15", "Whether it is fp8e4b15.", |d| d == Dtype::Fp8e4b15),
    question!("is_fp8e5", "Whether it is fp8e5.", |d| d == Dtype::Fp8e5),
    question!("is_fp8e5b16", "Whether it is fp8e5b16.", |d| d == Dtype::Fp8e5b16),
    question!("is_fp16", "Whether it is fp16.", |d| d == Dtype::Fp16),
    question!("is_bf16", "Whether it is bf16.", |d| d == Dtype::Bf16),
    question!("is_fp32", "Whether it is fp32.", |d| d == Dtype::Fp32),
    question!("is_fp64", "Whether it is fp64.", |d| d == Dtype::Fp64),
    question!("is_int1", "Whether it is int1.", |d| d == Dtype::Int1),
    question!("is_int8", "Whether it is int8.", |d| d == Dtype::Int8),
    question!("is_int16", "Whether it is int16.", |d| d == Dtype::Int16),
    question!("is_int32", "Whether it is int32.", |d| d == Dtype::Int32),
    question!("is_int64", "Whether it is int64.", |d| d == Dtype::Int64),
    question!("is_uint8", "Whether it is uint8.", |d| d == Dtype::Uint8),
    question!("is_uint16", "Whether it is uint16.", |d| d == Dtype::Uint16),
    question!("is_uint32", "Whether it is uint32.", |d| d == Dtype::Uint32),
    question!("is_uint64", "Whether it is uint64.", |d| d == Dtype::Uint64),
    question!("is_floating", "Whether it is a float.", Dtype::is_float),
    question!("is_standard_floating", "Whether it is a float of 16 bits or more.", Dtype::is_standard_float),
    question!("is_int_signed", "Whether it is a signed integer.", Dtype::is_signed),
    question!("is_int_unsigned", "Whether it is an unsigned integer.", Dtype::is_unsigned),
    question!("is_int", "Whether it is an integer.", Dtype::is_int),
    question!("is_bool", "Whether it is int1.", Dtype::is_bool),
    question!("is_ptr", "Whether it is a pointer.", Dtype::is_ptr),
    question!("is_const", "Whether it is a pointer to constant data.", Dtype::is_const_ptr),
    entry("is_block", "self", "Whether it is the type of a block.", |_, a| {
        Ok(Object::bool(matches!(a.get(0), Object::Const(Const::Type(t)) if t.is_block())))
    }),
    entry("get_block_shapes", "self", "The extents of a block type.", |_, a| match a.get(0) {
        Object::Const(Const::Type(t)) => Ok(Object::ints(t.shape())),
        _ => Ok(Object::NONE),
    }),
    entry("with_element_ty", "self, element_ty", "The same shape with other elements.", |cx, a| {
        let d = a.dtype(cx, 1)?;
        match a.get(0) {
            Object::Const(Const::Type(t)) => Ok(Const::Type(t.with(d)).into()),
            _ => Ok(Object::NONE),
        }
    }),
    entry("get_int_max_value", "self", "The greatest value of an integer type.", |cx, a| {
        Ok(Object::int(integer(cx, a)?.int_range().1))
    }),
    entry("get_int_min_value", "self", "The least value of an integer type.", |cx, a| {
        Ok(Object::int(integer(cx, a)?.int_range().0))
    }),
    entry("kind", "self", "Which member of `tl.dtype.KIND` it is.", |cx, a| match a.get(0) {
        Object::Const(Const::Type(t)) if !t.is_block() && (t.dtype.is_int() || t.dtype.is_float()) => {
            Ok(Const::Member(KINDS[t.dtype.kind() as usize]).into())
        }
        other => Err(not_of_numbers(cx, "kind", other)),
    }),
    entry("is_dtype", "self, type_str", "Whether a string names a dtype, as in `tl.dtype(\"fp32\")`.", |cx, a| {
        let text = a.text(cx, 1)?;
        Ok(Object::bool(&*text == "void" || Dtype::ALL.iter().any(|d| d.name() == &*text)))
    }),
];

/// The members of `tl.dtype.KIND`, in the order of [`Dtype::kind`].
pub(super) const KINDS: [&str; 3] = ["KIND.BOOLEAN", "KIND.INTEGRAL", "KIND.FLOATING"];

/// The integer type that is asked about.
fn integer(cx: &mut Emitter, a: &Args) -> R<Dtype> {
    match a.get(0) {
        Object::Const(Const::Type(t)) if !t.is_block() && t.dtype.is_int() => Ok(t.dtype),
        other => Err(not_of_numbers(cx, a.builtin.name, other)),
    }
}

/// Reports a question that is not for this type.
fn not_of_numbers(cx: &mut Emitter, question: &str, found: &Object) -> Reported {
    let of = if question == "kind" { "numbers" } else { "integers" };
    cx.error_help(
        &types::ARGUMENT_TYPE,
        format!("`{question}` is of the types of {of}, found {}", found.describe()),
        "asked here",
        format!("ask the type of the elements, if they are {of}: `x.dtype.{question}()`"),
    )
}

fn cast(cx: &mut Emitter, a: &Args) -> R<Object> {
    let t = a.tensor(cx, 0)?;
    let dtype = a.dtype(cx, 1)?;
    if let Object::Const(Const::Type(to)) = a.get(1)
        && to.is_block()
        && !t.ty.is_block()
    {
        return Err(cx.error_help(
            &types::CAST,
            format!("{} cannot be converted to the block type {to}", a.get(0).describe()),
            "one value, not a block",
            "convert to the element type, and widen with `tl.broadcast_to(x, shape)`",
        ));
    }
    if a.flag(cx, 3)? {
        return Ok(convert::bitcast(cx, t, dtype)?.into());
    }
    let rounding = match a.given(2) {
        Some(_) => Some(a.word(cx, 2, &[("rtne", Rounding::Rtne), ("rtz", Rounding::Rtz)])?),
        None => None,
    };
    Ok(convert::cast(cx, t, dtype, rounding)?.into())
}
