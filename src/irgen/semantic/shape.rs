//! Shapes: splat, broadcast, reshape, permute, join, split.
//!
//! Two blocks broadcast as in NumPy, except that a missing dimension is added in front. Example: `[64, 1]` with `[32]`
//! makes the second `[1, 32]` and both `[64, 32]`.

use crate::diag::codes::types;
use crate::ir::dialects::arith::arith::Constant;
use crate::ir::dialects::tt::tt::{ExpandDims, Reshape, Split, Trans};
use crate::ir::{Attr, AttrData, DenseData, TtOp};
use crate::irgen::emit::{Emitter, R, Reported, Tensor};
use crate::irgen::types::Ty;
use crate::irgen::value::Object;

/// Reports extents that no tensor may have: each is a power of two, and their product is bounded.
pub fn check_shape(cx: &mut Emitter, shape: &[i64]) -> R<()> {
    for (i, &d) in shape.iter().enumerate() {
        if d < 1 {
            let help = if d == -1 {
                "no extent is worked out from the others: write the number; `tl.ravel(x)` makes a tensor of one dimension"
            } else {
                "write a power of two, from 1 on"
            };
            return Err(cx.error_help(
                &types::BLOCK_SHAPE,
                format!("dimension {i} of the shape {shape:?} is {d}: a tensor has at least one element along each"),
                "this shape",
                help,
            ));
        }
        if d & (d - 1) != 0 {
            return Err(cx.error_help(
                &types::BLOCK_SHAPE,
                format!("dimension {i} of the shape {shape:?} is {d}, which is not a power of two"),
                "this shape",
                "round the block size up with `triton.next_power_of_2` and mask the rest",
            ));
        }
    }
    cx.check_elements(shape)
}

/// A block whose every element is the scalar. A constant becomes a dense one at once.
pub fn splat(cx: &mut Emitter, t: Tensor, shape: &[i64]) -> R<Tensor> {
    if shape.is_empty() {
        return Ok(t);
    }
    let ty = Ty::block(t.ty.dtype, shape);
    if let Some(constant) = Constant::defining(&cx.ir, t.value)
        && let Some(bits) = constant.value(&cx.ir).and_then(Attr::splat_value)
    {
        return cx.constant(Attr::splat_bits(ty.to_ir(), bits), ty);
    }
    cx.tensor(TtOp::Splat, &[t.value], ty)
}

/// `tt.broadcast` of a block to a shape of the same rank; a dense constant stays one.
fn widen(cx: &mut Emitter, t: Tensor, shape: &[i64]) -> R<Tensor> {
    let ty = Ty::block(t.ty.dtype, shape);
    if let Some(constant) = Constant::defining(&cx.ir, t.value)
        && let Some(AttrData::Dense(_, DenseData::Splat(bits))) = constant.value(&cx.ir).map(Attr::data)
    {
        return cx.constant(Attr::splat_bits(ty.to_ir(), *bits), ty);
    }
    cx.tensor(TtOp::Broadcast, &[t.value], ty)
}

/// The tensor with the shape, which each of its dimensions must equal unless it is 1.
pub fn broadcast_to(cx: &mut Emitter, t: Tensor, shape: &[i64]) -> R<Tensor> {
    if !t.ty.is_block() {
        return splat(cx, t, shape);
    }
    let from = t.ty.shape();
    if from == shape {
        return Ok(t);
    }
    if from.len() != shape.len() {
        return Err(cx.error_help(
            &types::BROADCAST,
            format!("cannot broadcast {} to {shape:?}: {} dimensions against {}", t.ty, from.len(), shape.len()),
            "the ranks differ",
            "add dimensions with `x[:, None]` or `tl.expand_dims`",
        ));
    }
    if let Some(i) = (0..from.len()).find(|&i| from[i] != shape[i] && from[i] != 1) {
        return Err(cx.error_help(
            &types::BROADCAST,
            format!("cannot broadcast {} to {shape:?}: dimension {i} is {}, not 1 or {}", t.ty, from[i], shape[i]),
            format!("dimension {i} does not fit"),
            "only dimensions of 1 are widened; a new one is added with `x[:, None]`",
        ));
    }
    widen(cx, t, shape)
}

/// Both values with their common shape.
pub fn broadcast(cx: &mut Emitter, a: Tensor, b: Tensor) -> R<(Tensor, Tensor)> {
    match (a.ty.is_block(), b.ty.is_block()) {
        (false, false) => Ok((a, b)),
        (true, false) => Ok((a, splat(cx, b, a.ty.shape())?)),
        (false, true) => Ok((splat(cx, a, b.ty.shape())?, b)),
        (true, true) => broadcast_blocks(cx, a, b),
    }
}

fn broadcast_blocks(cx: &mut Emitter, a: Tensor, b: Tensor) -> R<(Tensor, Tensor)> {
    let shape = match common_shape(a.ty.shape(), b.ty.shape()) {
        Ok(shape) => shape,
        Err(dim) => return Err(no_common_shape(cx, a.ty, b.ty, dim)),
    };
    let (mut a, mut b) = (a, b);
    for t in [&mut a, &mut b] {
        while t.ty.shape().len() < shape.len() {
            *t = expand_dims(cx, *t, 0)?;
        }
        if t.ty.shape() != shape {
            *t = widen(cx, *t, &shape)?;
        }
    }
    Ok((a, b))
}

fn no_common_shape(cx: &mut Emitter, a: Ty, b: Ty, dim: usize) -> Reported {
    let rank = a.shape().len().max(b.shape().len());
    let at = |t: Ty| (dim + t.shape().len()).checked_sub(rank).map_or(1, |i| t.shape()[i]);
    cx.error_help(
        &types::BROADCAST,
        format!(
            "the shapes {:?} and {:?} do not broadcast: dimension {dim} is {} on the left and {} on the right",
            a.shape(),
            b.shape(),
            at(a),
            at(b)
        ),
        format!("{a} with {b}"),
        "dimensions must be equal or 1; add one with `x[:, None]` or `x[None, :]`",
    )
}

/// Brings tensors to their common shape.
pub fn broadcast_all(cx: &mut Emitter, tensors: &mut [Tensor]) -> R<()> {
    // The first one has the common shape after one round; those before the last may lack axes that came later.
    for i in (1..tensors.len()).chain(1..tensors.len().saturating_sub(1)) {
        (tensors[0], tensors[i]) = broadcast(cx, tensors[0], tensors[i])?;
    }
    Ok(())
}

/// Inserts a dimension of 1 at `axis`.
pub fn expand_dims(cx: &mut Emitter, t: Tensor, axis: usize) -> R<Tensor> {
    let mut shape = t.ty.shape().to_vec();
    shape.insert(axis.min(shape.len()), 1);
    if !t.ty.is_block() {
        return splat(cx, t, &shape);
    }
    let ty = Ty::block(t.ty.dtype, &shape);
    let state = ExpandDims::state(cx.loc(), t.value).with(ExpandDims::ATTR.axis, axis as i64);
    cx.tensor_of(state, ty)
}

/// The same elements under another shape.
pub fn reshape(cx: &mut Emitter, t: Tensor, shape: &[i64], reorder: bool) -> R<Tensor> {
    let numel: i64 = shape.iter().product();
    if t.ty.numel() != numel {
        return Err(cx.error_help(
            &types::BLOCK_SHAPE,
            format!(
                "reshape cannot change the number of elements: {} has {}, {shape:?} has {numel}",
                t.ty,
                t.ty.numel()
            ),
            "reshaped here",
            "the product of the new extents must stay; `tl.broadcast_to` repeats elements, a slice is loaded anew",
        ));
    }
    if shape.is_empty() {
        return unsplat(cx, t);
    }
    if !t.ty.is_block() {
        return splat(cx, t, shape);
    }
    let ty = Ty::block(t.ty.dtype, shape);
    let state = Reshape::state(cx.loc(), t.value).with(Reshape::ATTR.allow_reorder, reorder);
    cx.tensor_of(state, ty)
}

/// The element of a tensor with one element.
pub fn unsplat(cx: &mut Emitter, t: Tensor) -> R<Tensor> {
    if !t.ty.is_block() {
        return Ok(t);
    }
    if t.ty.numel() != 1 {
        return Err(cx.error_help(
            &types::BLOCK_SHAPE,
            format!("{} has more than one element and is no scalar", t.ty),
            "needs exactly one element",
            "reduce it first: `tl.sum(x, axis)` or `tl.max(x, axis)`",
        ));
    }
    cx.tensor(TtOp::Unsplat, &[t.value], Ty::scalar(t.ty.dtype))
}

/// Dimension `i` of the result is dimension `order[i]` of the tensor.
pub fn permute(cx: &mut Emitter, t: Tensor, order: &[i64]) -> R<Tensor> {
    let shape = t.ty.shape();
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if sorted != (0..shape.len() as i64).collect::<Vec<_>>() {
        return Err(cx.error_help(
            &types::AXIS,
            format!("{order:?} is no permutation of the {} dimensions of {}", shape.len(), t.ty),
            "each dimension must be named once",
            "name each dimension once: `(1, 0)` swaps two",
        ));
    }
    let result: Vec<i64> = order.iter().map(|&d| shape[d as usize]).collect();
    let ty = Ty::block(t.ty.dtype, &result);
    let state = Trans::state(cx.loc(), t.value).with(Trans::ATTR.order, order);
    cx.tensor_of(state, ty)
}

/// Swaps the last two dimensions.
pub fn transpose(cx: &mut Emitter, t: Tensor) -> R<Tensor> {
    let n = t.ty.shape().len();
    if n < 2 {
        return Err(cx.error_help(
            &types::AXIS,
            format!("{} has fewer than two dimensions to swap", t.ty),
            "transposed here",
            "a vector is its own transpose; to make it a column write `x[:, None]`",
        ));
    }
    let mut order: Vec<i64> = (0..n as i64).collect();
    order.swap(n - 2, n - 1);
    permute(cx, t, &order)
}

/// A new last dimension of two: `a` at 0, `b` at 1.
pub fn join(cx: &mut Emitter, a: Tensor, b: Tensor) -> R<Tensor> {
    if a.ty.dtype != b.ty.dtype {
        return Err(cx.error_help(
            &types::OPERAND_TYPES,
            format!("join needs one element type, found {} and {}", a.ty.dtype, b.ty.dtype),
            "joined here",
            "convert one with `.to(...)`",
        ));
    }
    let (mut a, mut b) = broadcast(cx, a, b)?;
    let scalars = !a.ty.is_block();
    if scalars {
        (a, b) = (expand_dims(cx, a, 0)?, expand_dims(cx, b, 0)?);
    }
    let mut shape = a.ty.shape().to_vec();
    shape.push(2);
    let joined = cx.tensor(TtOp::Join, &[a.value, b.value], Ty::block(a.ty.dtype, &shape))?;
    if scalars { reshape(cx, joined, &[2], false) } else { Ok(joined) }
}

/// The two halves along a last dimension of two.
pub fn split(cx: &mut Emitter, t: Tensor) -> R<Object> {
    if t.ty.shape().last() != Some(&2) {
        return Err(cx.error_help(
            &types::BLOCK_SHAPE,
            format!("split needs a last dimension of 2, found {}", t.ty),
            "split here",
            "reshape first: `tl.reshape(x, [..., 2])`",
        ));
    }
    let rank_1 = t.ty.shape().len() == 1;
    let t = if rank_1 { expand_dims(cx, t, 0)? } else { t };
    let shape = &t.ty.shape()[..t.ty.shape().len() - 1];
    let ty = Ty::block(t.ty.dtype, shape);
    let state = Split::state(cx.loc(), t.value).results(&[ty.to_ir(), ty.to_ir()]);
    let op = cx.emit(state)?;
    let mut halves = vec![];
    for value in cx.ir.results(op).to_vec() {
        let half = Tensor { value, ty };
        halves.push(Object::from(if rank_1 { unsplat(cx, half)? } else { half }));
    }
    Ok(Object::tuple(halves))
}

/// Where a new dimension goes, counted in the result, which has `rank` of them.
pub fn new_axis(cx: &mut Emitter, axis: i128, rank: usize) -> R<usize> {
    let r = rank as i128;
    if (-r..r).contains(&axis) {
        return Ok(axis.rem_euclid(r) as usize);
    }
    Err(cx.error_help(
        &types::AXIS,
        format!(
            "the axis {axis} is outside of the result, which has {rank} dimension{}",
            if rank == 1 { "" } else { "s" }
        ),
        format!("expected {} to {}", -r, r - 1),
        "the axis of a new dimension counts in the result: 0 puts it first, -1 last",
    ))
}

/// An axis counted from the front; negative ones count from the end.
pub fn axis(cx: &mut Emitter, axis: i128, rank: usize) -> R<usize> {
    let r = rank as i128;
    if (-r..r).contains(&axis) {
        return Ok(axis.rem_euclid(r) as usize);
    }
    Err(cx.error_help(
        &types::AXIS,
        format!("the axis {axis} is outside of a tensor with {rank} dimension{}", if rank == 1 { "" } else { "s" }),
        format!("expected {} to {}", -r, r - 1),
        match rank {
            0 => "a scalar has no axis".to_owned(),
            1 => "the only axis is 0; leave `axis` out to go over all elements".to_owned(),
            _ => format!("the axes are 0 to {}, the last also -1", r - 1),
        },
    ))
}

/// The common shape of two blocks, or the dimension (counted in the longer one) at which they do not fit.
fn common_shape(a: &[i64], b: &[i64]) -> Result<Vec<i64>, usize> {
    let rank = a.len().max(b.len());
    let at = |s: &[i64], i: usize| (i + s.len()).checked_sub(rank).map_or(1, |j| s[j]);
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (1, d) | (d, 1) => Ok(d),
            (x, y) if x == y => Ok(x),
            _ => Err(i),
        })
        .collect()
}
