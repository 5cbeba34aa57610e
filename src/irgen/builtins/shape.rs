//! Shapes of tensors.

use super::entry::entry;
use crate::diag::codes::types;
use crate::ir::TtOp;
use crate::irgen::emit::{Emitter, R};
use crate::irgen::semantic::{items, shape};
use crate::irgen::types::Ty;
use crate::irgen::value::{Args, Builtin, Object};

pub(super) static TABLE: &[Builtin] = &[
    entry("expand_dims", "input, axis", "Inserts dimensions of 1; axes count in the result.", expand_dims).method(),
    entry("broadcast_to", "input, *shape", "The tensor repeated along its dimensions of 1 to a shape.", |cx, a| {
        let (t, shape) = (a.tensor(cx, 0)?, a.shape(cx, 1)?);
        Ok(shape::broadcast_to(cx, t, &shape)?.into())
    })
    .method(),
    entry("broadcast", "input, other", "Both tensors in their common shape.", |cx, a| {
        let (x, y) = (a.tensor(cx, 0)?, a.tensor(cx, 1)?);
        let (x, y) = shape::broadcast(cx, x, y)?;
        Ok(Object::tuple(vec![x.into(), y.into()]))
    }),
    entry(
        "reshape",
        "input, *shape, can_reorder=False",
        "The same elements, row by row, under another shape.",
        |cx, a| {
            let (t, shape, reorder) = (a.tensor(cx, 0)?, a.shape(cx, 1)?, a.flag(cx, 2)?);
            Ok(shape::reshape(cx, t, &shape, reorder)?.into())
        },
    )
    .method(),
    entry("view", "input, *shape", "The same elements in any order under another shape.", |cx, a| {
        let (t, shape) = (a.tensor(cx, 0)?, a.shape(cx, 1)?);
        Ok(shape::reshape(cx, t, &shape, true)?.into())
    })
    .method(),
    entry("trans", "input, *dims", "Permuted dimensions; without `dims` the last two are swapped.", |cx, a| {
        let t = a.tensor(cx, 0)?;
        let dims = dims(cx, a.get(1))?;
        Ok(if dims.is_empty() { shape::transpose(cx, t)? } else { shape::permute(cx, t, &dims)? }.into())
    })
    .method(),
    entry(
        "permute",
        "input, *dims",
        "Permuted dimensions: dimension i of the result is dimension dims[i].",
        |cx, a| {
            let t = a.tensor(cx, 0)?;
            let dims = dims(cx, a.get(1))?;
            Ok(shape::permute(cx, t, &dims)?.into())
        },
    )
    .method(),
    entry("join", "a, b", "Two tensors side by side in a new last dimension of 2.", |cx, a| {
        let (x, y) = (a.tensor(cx, 0)?, a.tensor(cx, 1)?);
        Ok(shape::join(cx, x, y)?.into())
    }),
    entry("split", "a", "The two halves along a last dimension of 2.", |cx, a| {
        let t = a.tensor(cx, 0)?;
        shape::split(cx, t)
    })
    .method(),
    entry("item", "input", "The element of a tensor with one element, as a scalar.", |cx, a| {
        let t = a.tensor(cx, 0)?;
        Ok(shape::unsplat(cx, t)?.into())
    })
    .method(),
    entry(
        "cat",
        "input, other, can_reorder=False, dim=0",
        "Two tensors one after the other; with `can_reorder` their elements may mix.",
        cat,
    ),
];

/// Dimensions given as one tuple or one by one.
fn dims(cx: &mut Emitter, v: &Object) -> R<Vec<i64>> {
    match v {
        Object::Tuple(items) if items.len() == 1 && matches!(items[0], Object::Tuple(_)) => {
            items::ints_of(cx, &items[0].clone())
        }
        other => items::ints_of(cx, other),
    }
}

fn expand_dims(cx: &mut Emitter, a: &Args) -> R<Object> {
    let mut t = a.tensor(cx, 0)?;
    let axes = items::ints_of(cx, a.get(1))?;
    let rank = t.ty.shape().len() + axes.len();
    let mut sorted = vec![];
    for axis in axes {
        sorted.push(shape::new_axis(cx, axis.into(), rank)?);
    }
    sorted.sort_unstable();
    if sorted.windows(2).any(|w| w[0] == w[1]) {
        return Err(cx.error_help(&types::AXIS, "an axis is named twice", "in this call", "name each new axis once"));
    }
    for axis in sorted {
        t = shape::expand_dims(cx, t, axis)?;
    }
    Ok(t.into())
}

fn cat(cx: &mut Emitter, a: &Args) -> R<Object> {
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
    let dim = shape::axis(cx, dim, shape.len())?;
    let joined = shape::join(cx, x, y)?;
    let mut order: Vec<i64> = (0..shape.len() as i64).collect();
    order.insert(dim, shape.len() as i64);
    let turned = shape::permute(cx, joined, &order)?;
    let mut result = shape.to_vec();
    result[dim] *= 2;
    Ok(shape::reshape(cx, turned, &result, false)?.into())
}
