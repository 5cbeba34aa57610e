//! Shapes of tensors.

use super::{Args, Builtin, entry};
use crate::diag::codes::types;
use crate::ir::TtOp;
use crate::irgen::lower::{Lower, R};
use crate::irgen::types::Ty;
use crate::irgen::value::Val;

pub(super) static TABLE: &[Builtin] = &[
    entry("expand_dims", "input, axis", "Inserts dimensions of 1; axes count in the result.", expand_dims),
    entry("broadcast_to", "input, *shape", "The tensor repeated along its dimensions of 1 to a shape.", |cx, a| {
        let (t, shape) = (a.tensor(cx, 0)?, a.shape(cx, 1)?);
        Ok(cx.broadcast_to(t, &shape)?.into())
    }),
    entry("broadcast", "input, other", "Both tensors in their common shape.", |cx, a| {
        let (x, y) = (a.tensor(cx, 0)?, a.tensor(cx, 1)?);
        let (x, y) = cx.broadcast(x, y)?;
        Ok(Val::tuple(vec![x.into(), y.into()]))
    }),
    entry(
        "reshape",
        "input, *shape, can_reorder=False",
        "The same elements, row by row, under another shape.",
        |cx, a| {
            let (t, shape, reorder) = (a.tensor(cx, 0)?, a.shape(cx, 1)?, a.flag(cx, 2)?);
            Ok(cx.reshape(t, &shape, reorder)?.into())
        },
    ),
    entry("view", "input, *shape", "The same elements in any order under another shape.", |cx, a| {
        let (t, shape) = (a.tensor(cx, 0)?, a.shape(cx, 1)?);
        Ok(cx.reshape(t, &shape, true)?.into())
    }),
    entry("trans", "input, *dims", "Permuted dimensions; without `dims` the last two are swapped.", |cx, a| {
        let t = a.tensor(cx, 0)?;
        let dims = dims(cx, a.get(1))?;
        Ok(if dims.is_empty() { cx.transpose(t)? } else { cx.permute(t, &dims)? }.into())
    }),
    entry(
        "permute",
        "input, *dims",
        "Permuted dimensions: dimension i of the result is dimension dims[i].",
        |cx, a| {
            let t = a.tensor(cx, 0)?;
            let dims = dims(cx, a.get(1))?;
            Ok(cx.permute(t, &dims)?.into())
        },
    ),
    entry("join", "a, b", "Two tensors side by side in a new last dimension of 2.", |cx, a| {
        let (x, y) = (a.tensor(cx, 0)?, a.tensor(cx, 1)?);
        Ok(cx.join(x, y)?.into())
    }),
    entry("split", "a", "The two halves along a last dimension of 2.", |cx, a| {
        let t = a.tensor(cx, 0)?;
        cx.split(t)
    }),
    entry("item", "input", "The element of a tensor with one element, as a scalar.", |cx, a| {
        let t = a.tensor(cx, 0)?;
        Ok(cx.unsplat(t)?.into())
    }),
    entry(
        "cat",
        "input, other, can_reorder=False, dim=0",
        "Two tensors one after the other; with `can_reorder` their elements may mix.",
        cat,
    ),
];

/// Dimensions given as one tuple or one by one.
fn dims(cx: &mut Lower<'_>, v: &Val) -> R<Vec<i64>> {
    match v {
        Val::Tuple(items) if items.len() == 1 && matches!(items[0], Val::Tuple(_)) => cx.ints_of(&items[0].clone()),
        other => cx.ints_of(other),
    }
}

fn expand_dims(cx: &mut Lower<'_>, a: &Args) -> R<Val> {
    let mut t = a.tensor(cx, 0)?;
    let axes = cx.ints_of(a.get(1))?;
    let rank = t.ty.shape().len() + axes.len();
    let mut sorted = vec![];
    for axis in axes {
        sorted.push(cx.axis(axis.into(), rank)?);
    }
    sorted.sort_unstable();
    if sorted.windows(2).any(|w| w[0] == w[1]) {
        return Err(cx.error_help(&types::AXIS, "an axis is named twice", "in this call", "name each new axis once"));
    }
    for axis in sorted {
        t = cx.expand_dims(t, axis)?;
    }
    Ok(t.into())
}

fn cat(cx: &mut Lower<'_>, a: &Args) -> R<Val> {
    let (x, y) = (a.tensor(cx, 0)?, a.tensor(cx, 1)?);
    if x.ty != y.ty || !x.ty.is_block() {
        return Err(cx.error_help(
            &types::BROADCAST,
            format!("`cat` needs two tensors of one type and shape, found {} and {}", x.ty, y.ty),
            "in this call",
            "convert with `.to(...)`, and broadcast to one shape",
        ));
    }
    let shape = x.ty.shape();
    if a.flag(cx, 2)? {
        if shape.len() != 1 {
            return Err(cx.error_help(
                &types::AXIS,
                format!("`cat` with can_reorder needs one dimension, found {}", x.ty),
                "in this call",
                "leave `can_reorder` out, or `tl.reshape` to one dimension first",
            ));
        }
        let ty = Ty::block(x.ty.dtype, &[shape[0] * 2]);
        return Ok(cx.tensor(TtOp::Cat, &[x.value, y.value], ty)?.into());
    }
    let dim = a.int(cx, 3)?;
    let dim = cx.axis(dim, shape.len())?;
    let joined = cx.join(x, y)?;
    let mut order: Vec<i64> = (0..shape.len() as i64).collect();
    order.insert(dim, shape.len() as i64);
    let turned = cx.permute(joined, &order)?;
    let mut result = shape.to_vec();
    result[dim] *= 2;
    Ok(cx.reshape(turned, &result, false)?.into())
}
