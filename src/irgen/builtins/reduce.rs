//! Reductions and scans with a combining function, and what else looks across elements.

use super::entry::{calling, entry};
use super::memory;
use crate::diag::codes::types;
use crate::ir::dialects::tt::tt;
use crate::ir::{Block, OpState, TtOp, Type};
use crate::irgen::emit::Tensor;
use crate::irgen::emit::{Emitter, R, in_block};
use crate::irgen::semantic::{convert, faults, shape};
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Args, Builtin, Calls, Object};

pub(super) static TABLE: &[Builtin] = &[
    calling(
        "reduce",
        "input, axis, combine_fn, keep_dims=False",
        "Combines the elements along an axis (all, if None) with a jit function of two elements.",
        reduce,
    )
    .method(),
    calling(
        "_reduce_with_indices",
        "input, axis, combine_fn, keep_dims=False",
        "As `reduce`, of each element with its index along the axis.",
        reduce_with_indices,
    ),
    calling(
        "associative_scan",
        "input, axis, combine_fn, reverse=False",
        "All prefixes along an axis, combined with an associative jit function.",
        scan,
    )
    .method(),
    entry(
        "histogram",
        "input, num_bins, mask=None",
        "How often each of 0 … num_bins - 1 occurs in a 1D tensor of 32-bit integers.",
        histogram,
    )
    .method(),
    entry("gather", "src, index, axis", "Picks elements along an axis by index.", gather).method(),
];

/// The tensors of the first argument, and whether it was a single one.
fn inputs(cx: &mut Emitter, a: &Args) -> R<(Vec<Tensor>, bool)> {
    match a.get(0) {
        Object::Tuple(items) => {
            let tensors = items.iter().map(|v| convert::to_tensor(cx, v)).collect::<R<Vec<_>>>()?;
            if tensors.is_empty() || tensors.iter().any(|t| t.ty.shape() != tensors[0].ty.shape()) {
                return Err(cx.error_help(
                    &types::BROADCAST,
                    format!("`{}` needs tensors of one shape", a.builtin.name),
                    "their shapes differ",
                    "broadcast them first with `tl.broadcast_to`",
                ));
            }
            Ok((tensors, false))
        }
        v => Ok((vec![convert::to_tensor(cx, v)?], true)),
    }
}

/// Gives an operation's region a block with arguments of these types.
pub(super) fn block_of(cx: &mut Emitter, op: crate::ir::Op, scalars: &[Ty]) -> (Block, Vec<Object>) {
    let args: Vec<_> = scalars.iter().map(|t| (t.to_ir(), cx.loc())).collect();
    let region = cx.ir.region(op, 0);
    let block = cx.ir.add_block(region, &args);
    let values =
        cx.ir.args(block).to_vec().into_iter().zip(scalars).map(|(value, &ty)| Tensor { value, ty }.into()).collect();
    (block, values)
}

/// Fills the region of a reduction or a scan: a call of the combining function on two groups of elements.
fn combine(cx: &mut dyn Calls, op: crate::ir::Op, tensors: &[Tensor], f: &Object, end: TtOp) -> R<()> {
    let scalars: Vec<Ty> = tensors.iter().chain(tensors).map(|t| Ty::scalar(t.ty.dtype)).collect();
    let (block, values) = block_of(cx.out(), op, &scalars);
    let (result, _) = in_block(cx, block, |cx| {
        let result = cx.call(f, values)?;
        let items = match &result {
            Object::Tuple(items) => items.to_vec(),
            v => vec![v.clone()],
        };
        let mut returned = vec![];
        for (v, t) in items.iter().zip(tensors) {
            let v = convert::to_tensor(cx.out(), v)?;
            if v.ty.dtype != t.ty.dtype {
                return Err(cx.out().error_help(
                    &types::RETURN_TYPE,
                    format!("the combining function returns {} where the tensor has {}", v.ty, t.ty.dtype),
                    "in this reduction or scan",
                    "return the elements' own type",
                ));
            }
            returned.push(v.value);
        }
        if items.len() != tensors.len() {
            return Err(cx.out().error_help(
                &types::RETURN_TYPE,
                format!("the combining function returns {} values for {} tensors", items.len(), tensors.len()),
                "in this reduction or scan",
                "it takes two values for each tensor and returns one for each",
            ));
        }
        let state = OpState::new(end, cx.out().loc()).operands(&returned);
        cx.out().emit(state).map(|_| ())
    });
    result
}

fn reduce(cx: &mut dyn Calls, a: &Args) -> R<Object> {
    let (tensors, single) = inputs(cx.out(), a)?;
    reduce_tensors(cx, a, tensors, single)
}

fn reduce_tensors(cx: &mut dyn Calls, a: &Args, mut tensors: Vec<Tensor>, single: bool) -> R<Object> {
    let f = a.function(cx.out(), 2)?.clone();
    let keep = a.flag(cx.out(), 3)?;
    let rank = tensors[0].ty.shape().len();
    if rank == 0 {
        return Err(cx.out().error_help(
            &types::AXIS,
            "a scalar has nothing to reduce",
            "not a block",
            "reductions take tensors with at least one dimension",
        ));
    }
    let axis = if a.given(1).is_some() {
        let axis = a.int(cx.out(), 1)?;
        Some(shape::axis(cx.out(), axis, rank)?)
    } else {
        for t in &mut tensors {
            let n = t.ty.numel();
            *t = shape::reshape(cx.out(), *t, &[n], true)?;
        }
        None
    };
    let at = axis.unwrap_or(0);
    let mut shape = tensors[0].ty.shape().to_vec();
    shape.remove(at);
    let tys: Vec<Ty> = tensors.iter().map(|t| Ty::block(t.ty.dtype, &shape)).collect();
    let results: Vec<Type> = tys.iter().map(|t| t.to_ir()).collect();
    let operands: Vec<_> = tensors.iter().map(|t| t.value).collect();
    let state = tt::Reduce::state(cx.out().loc(), &operands)
        .results(&results)
        .with(tt::Reduce::ATTR.axis, at as i64)
        .regions(1);
    let op = cx.out().emit(state)?;
    combine(cx, op, &tensors, &f, TtOp::ReduceReturn)?;
    let mut out = vec![];
    for (value, ty) in cx.out().ir.results(op).to_vec().into_iter().zip(tys) {
        let mut t = Tensor { value, ty };
        if keep {
            match axis {
                Some(axis) => t = shape::expand_dims(cx.out(), t, axis)?,
                None => {
                    for _ in 0..rank {
                        t = shape::expand_dims(cx.out(), t, 0)?;
                    }
                }
            }
        }
        out.push(Object::from(t));
    }
    Ok(if single { out.swap_remove(0) } else { Object::tuple(out) })
}

fn reduce_with_indices(cx: &mut dyn Calls, a: &Args) -> R<Object> {
    let t = a.tensor(cx.out(), 0)?;
    let shape = t.ty.shape();
    if a.given(1).is_none() {
        return Err(cx.out().error_help(
            &types::AXIS,
            "an index needs an axis",
            "`axis` is None",
            "pass the axis along which the index counts",
        ));
    }
    let axis = a.int(cx.out(), 1)?;
    let axis = shape::axis(cx.out(), axis, shape.len())?;
    let ty = Ty::block(Dtype::Int32, &[shape[axis]]);
    let state = tt::MakeRange::state(cx.out().loc())
        .with(tt::MakeRange::ATTR.start, 0)
        .with(tt::MakeRange::ATTR.end, shape[axis]);
    let mut index = cx.out().tensor_of(state, ty)?;
    if shape.len() > 1 {
        for d in (0..shape.len()).filter(|&d| d != axis) {
            index = shape::expand_dims(cx.out(), index, d)?;
        }
        index = shape::broadcast_to(cx.out(), index, shape)?;
    }
    reduce_tensors(cx, a, vec![t, index], false)
}

fn scan(cx: &mut dyn Calls, a: &Args) -> R<Object> {
    let (tensors, single) = inputs(cx.out(), a)?;
    let f = a.function(cx.out(), 2)?.clone();
    let reverse = a.flag(cx.out(), 3)?;
    let axis = a.int(cx.out(), 1)?;
    let axis = shape::axis(cx.out(), axis, tensors[0].ty.shape().len())?;
    let results: Vec<Type> = tensors.iter().map(|t| t.ty.to_ir()).collect();
    let operands: Vec<_> = tensors.iter().map(|t| t.value).collect();
    let state = tt::Scan::state(cx.out().loc(), &operands)
        .results(&results)
        .with(tt::Scan::ATTR.axis, axis as i64)
        .with(tt::Scan::ATTR.reverse, reverse)
        .regions(1);
    let op = cx.out().emit(state)?;
    combine(cx, op, &tensors, &f, TtOp::ScanReturn)?;
    let mut out: Vec<Object> = cx
        .out()
        .ir
        .results(op)
        .to_vec()
        .into_iter()
        .zip(&tensors)
        .map(|(value, t)| Tensor { value, ty: t.ty }.into())
        .collect();
    Ok(if single { out.swap_remove(0) } else { Object::tuple(out) })
}

fn histogram(cx: &mut Emitter, a: &Args) -> R<Object> {
    let t = a.tensor(cx, 0)?;
    let bins = a.int(cx, 1)? as i64;
    shape::check_shape(cx, &[bins])?;
    if t.ty.shape().len() != 1 || !t.ty.dtype.is_int() || t.ty.dtype.bits() != 32 {
        let help = match t.ty.shape().len() {
            1 if t.ty.dtype.is_ptr() => faults::LOAD_FIRST,
            1 => "convert it with `.to(tl.int32)`",
            0 => "a scalar has no elements to count",
            _ => "make it one dimension with `tl.ravel(x)`",
        };
        return Err(
            a.placed(cx, 0, |cx| faults::expected_of_tensor(cx, "a 1D tensor of 32-bit integers", &t.into(), help))
        );
    }
    let mut mask = None;
    if let Some(m) = a.optional_tensor(cx, 2)? {
        let m = shape::broadcast_to(cx, m, t.ty.shape())?;
        mask = Some(memory::mask_bits(cx, m)?.value);
    }
    let state = tt::Histogram::state(cx.loc(), t.value, mask);
    Ok(cx.tensor_of(state, Ty::block(Dtype::Int32, &[bins]))?.into())
}

fn gather(cx: &mut Emitter, a: &Args) -> R<Object> {
    let (src, index) = (a.tensor(cx, 0)?, a.tensor(cx, 1)?);
    let axis = a.int(cx, 2)?;
    let rank = src.ty.shape().len();
    let axis = shape::axis(cx, axis, rank)?;
    if !index.ty.dtype.is_int() {
        let help = if index.ty.dtype.is_ptr() { faults::LOAD_FIRST } else { "convert them with `.to(tl.int32)`" };
        return Err(a.placed(cx, 1, |cx| faults::expected_of_tensor(cx, "integer indices", &index.into(), help)));
    }
    let fits =
        index.ty.shape().len() == rank && (0..rank).all(|d| d == axis || index.ty.shape()[d] == src.ty.shape()[d]);
    if !fits {
        return Err(cx.error_help(
            &types::BROADCAST,
            format!(
                "the indices {} must have the source's shape {:?} except along axis {axis}",
                index.ty,
                src.ty.shape()
            ),
            "in this gather",
            "broadcast or reshape the indices to the shape of the source, except along the axis",
        ));
    }
    let ty = Ty::block(src.ty.dtype, index.ty.shape());
    let state = tt::Gather::state(cx.loc(), src.value, index.value).with(tt::Gather::ATTR.axis, axis as i64);
    Ok(cx.tensor_of(state, ty)?.into())
}
