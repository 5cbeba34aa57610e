//! Where values come from: the grid, ranges, constants.

use super::entry::entry;
use crate::diag::Diagnostic;
use crate::diag::codes::{names, types};
use crate::ir::dialects::enums::{Enumeration, ProgramDim};
use crate::ir::dialects::tt::tt::{GetNumPrograms, GetProgramId, MakeRange};
use crate::irgen::emit::{Emitter, R};
use crate::irgen::semantic::{convert, shape};
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Args, Builtin, Const, Object};

pub(super) static TABLE: &[Builtin] = &[
    entry(
        "program_id",
        "axis",
        "Which program of the grid this is along an axis (0, 1 or 2), as an int32.",
        |cx, a| {
            let state = GetProgramId::state(cx.loc()).with(GetProgramId::ATTR.axis, grid_axis(cx, a)?);
            Ok(cx.tensor_of(state, Ty::scalar(Dtype::Int32))?.into())
        },
    ),
    entry("num_programs", "axis", "How many programs the grid has along an axis (0, 1 or 2), as an int32.", |cx, a| {
        let state = GetNumPrograms::state(cx.loc()).with(GetNumPrograms::ATTR.axis, grid_axis(cx, a)?);
        Ok(cx.tensor_of(state, Ty::scalar(Dtype::Int32))?.into())
    }),
    entry(
        "arange",
        "start, end",
        "The int32 values start, start + 1, …, end - 1; both bounds are compile-time values and end - start is a power of two.",
        arange,
    ),
    entry(
        "full",
        "shape, value, dtype",
        "A tensor of this shape and type, every element of which is the scalar `value`.",
        full,
    ),
    entry("to_tensor", "x", "A number as a scalar tensor; a tensor as it is.", |cx, a| Ok(a.tensor(cx, 0)?.into())),
];

/// The axis of the grid that the first argument names.
fn grid_axis(cx: &mut Emitter, a: &Args) -> R<ProgramDim> {
    let axis = a.int(cx, 0)?;
    i64::try_from(axis).ok().and_then(ProgramDim::from_number).ok_or_else(|| {
        cx.error_help(
            &types::AXIS,
            format!("the grid has the axes 0, 1 and 2; there is no axis {axis}"),
            "in this call",
            "compute further indices from one axis: `pid // n` and `pid % n`",
        )
    })
}

fn arange(cx: &mut Emitter, a: &Args) -> R<Object> {
    let (start, end) = (a.int(cx, 0)?, a.int(cx, 1)?);
    if i32::try_from(start).is_err() || i32::try_from(end).is_err() {
        return Err(cx.error_help(
            &types::INT_RANGE,
            "the bounds of `arange` must fit into int32",
            format!("{start} to {end}"),
            "start at 0 and add the offset: `tl.arange(0, n).to(tl.int64) + start`",
        ));
    }
    let n = end - start;
    if n <= 0 || n & (n - 1) != 0 {
        let why = if n <= 0 {
            "must be above its start".to_owned()
        } else {
            format!("must be a power of two above its start; {n} is none")
        };
        return Err(cx.error_help(
            &types::BLOCK_SHAPE,
            format!("`arange({start}, {end})`: its end {why}"),
            format!("{n} elements"),
            if n <= 0 {
                "the first bound is where the range starts, the second is one past its last value: `tl.arange(0, BLOCK)` with a BLOCK of 1 or more"
            } else {
                "round the size up with `triton.next_power_of_2` and mask the rest"
            },
        ));
    }
    shape::check_shape(cx, &[n as i64])?;
    let ty = Ty::block(Dtype::Int32, &[n as i64]);
    let state =
        MakeRange::state(cx.loc()).with(MakeRange::ATTR.start, start as i64).with(MakeRange::ATTR.end, end as i64);
    Ok(cx.tensor_of(state, ty)?.into())
}

fn full(cx: &mut Emitter, a: &Args) -> R<Object> {
    let shape = a.shape(cx, 0)?;
    let dtype = a.dtype(cx, 2)?;
    let scalar = match a.get(1) {
        Object::Const(Const::Int(i)) => {
            let i = wrapped(cx, *i, dtype);
            convert::scalar_constant(cx, &Const::Int(i), dtype)?
        }
        Object::Const(c @ (Const::Bool(_) | Const::Float(_))) => convert::scalar_constant(cx, c, dtype)?,
        v => {
            let t = convert::to_tensor(cx, v)?;
            if t.ty.numel() != 1 {
                return Err(cx.error_help(
                    &names::BAD_ARGUMENTS,
                    format!("`full` needs a scalar value, found {}", v.describe()),
                    "more than one element",
                    "`tl.broadcast_to(x, shape)` widens a tensor",
                ));
            }
            let t = shape::unsplat(cx, t)?;
            convert::cast(cx, t, dtype, None)?
        }
    };
    Ok(shape::splat(cx, scalar, &shape)?.into())
}

/// The integer whose bits a value of this type has, which Triton takes of what does not fit: 300 as an int8 is 44. A
/// mask such as `0x80000000` as an int32 is meant so.
fn wrapped(cx: &mut Emitter, value: i128, dtype: Dtype) -> i128 {
    let bits = dtype.bits();
    let held = if dtype.is_signed() { i64::try_from(value).is_ok() } else { u64::try_from(value).is_ok() };
    if !dtype.is_int() || dtype.is_bool() || !held {
        return value;
    }
    let (lo, hi) = dtype.int_range();
    let same_bits = (value - lo).rem_euclid(1 << bits) + lo;
    if value >= 1 << bits || value < lo {
        let message = format!("the integer {value} does not fit into {dtype}: its lower {bits} bits are {same_bits}");
        let diag = Diagnostic::warning(&names::DOUBTFUL, message).at(cx.span(), format!("{dtype} holds {lo} to {hi}"));
        let _ = cx.report(diag.help(format!("write {same_bits}, or take a wider type")));
    }
    same_bits
}
