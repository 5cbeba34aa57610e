//! Rules of the `tt` dialect about shapes: what makes tensors, and what rearranges them.

use super::{count, ensure, is_like, operand_ty, result_ty};
use crate::ir::core::{Encoding, Ir, Op, Type};
use crate::ir::dialects::spec::VerifyResult;
use crate::ir::dialects::tt::tt as view;

/// As many elements as the range has.
pub fn make_range(ir: &Ir, op: Op) -> VerifyResult {
    let ty = result_ty(ir, op);
    let (start, end) = (view::MakeRange(op).start(ir).unwrap_or(0), view::MakeRange(op).end(ir).unwrap_or(0));
    ensure!(start < end, "the range starts at {start} and ends at {end}, expected a larger end");
    ensure!(
        end - start == ty.shape()[0],
        "the range [{start}, {end}) has {} elements, and the result has {}",
        end - start,
        ty.shape()[0]
    );
    Ok(())
}

/// A scalar (or a tensor without dimensions) of the result's element type.
pub fn splat(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_ty(ir, op, 0), result_ty(ir, op));
    ensure!(src.rank() == 0, "the operand has type {src}, expected a scalar");
    ensure!(
        src.elem() == result.elem(),
        "the operand has type {src}, and the result has elements of type {}",
        result.elem()
    );
    Ok(())
}

/// The element of a tensor of one.
pub fn unsplat(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_ty(ir, op, 0), result_ty(ir, op));
    ensure!(count(src.shape()) == Some(1), "the operand has type {src}, expected one element");
    ensure!(result == src.elem(), "the result has type {result}, expected {}", src.elem());
    Ok(())
}

/// The operand's shape with a 1 at the axis; a layout gets back the dimension that its slice removed.
pub fn expand_dims(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_ty(ir, op, 0), result_ty(ir, op));
    same_elements(src, result)?;
    let axis = view::ExpandDims(op).axis(ir).unwrap_or(-1);
    let Some(at) = usize::try_from(axis).ok().filter(|&a| a <= src.rank()) else {
        return Err(format!("its axis is {axis}, expected 0 to {}", src.rank()));
    };
    let mut shape = src.shape().to_vec();
    shape.insert(at, 1);
    ensure!(result.shape() == shape, "the result has type {result}, expected the shape {shape:?}");
    both_or_neither(src, result)?;
    let Some(encoding) = src.encoding() else { return Ok(()) };
    let Some(Encoding::Slice { dim, .. }) = encoding.as_encoding() else {
        return Err(format!("the operand has the layout {encoding}, expected a slice"));
    };
    ensure!(*dim as usize == at, "the operand's layout is a slice along dimension {dim}, and the axis is {at}");
    Ok(())
}

/// As many elements.
pub fn reshape(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_ty(ir, op, 0), result_ty(ir, op));
    same_elements(src, result)?;
    let (a, b) = (count(src.shape()), count(result.shape()));
    ensure!(a == b, "the operand has {} elements, and the result {}", a.unwrap_or(0), b.unwrap_or(0));
    both_or_neither(src, result)
}

/// Dimensions of size 1 may grow, the others stay. The layouts are the same as far as the source reaches (see
/// `ir::verify::layouts`).
pub fn broadcast(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_ty(ir, op, 0), result_ty(ir, op));
    same_elements(src, result)?;
    ensure!(src.rank() == result.rank(), "the operand has rank {}, and the result {}", src.rank(), result.rank());
    for (dim, (&a, &b)) in src.shape().iter().zip(result.shape()).enumerate() {
        ensure!(a == b || a == 1, "dimension {dim} goes from size {a} to {b}, and only a size of 1 can grow");
    }
    both_or_neither(src, result)
}

/// Twice the elements of an operand.
pub fn cat(ir: &Ir, op: Op) -> VerifyResult {
    let (lhs, result) = (operand_ty(ir, op, 0), result_ty(ir, op));
    same_elements(lhs, result)?;
    let expected = count(lhs.shape()).and_then(|n| n.checked_mul(2));
    let found = count(result.shape());
    ensure!(found == expected, "the result has {} elements, expected {}", found.unwrap_or(0), expected.unwrap_or(0));
    both_or_neither(lhs, result)
}

/// The shape of an operand with a new last dimension of size 2.
pub fn join(ir: &Ir, op: Op) -> VerifyResult {
    halves(operand_ty(ir, op, 0), "operands", result_ty(ir, op), "result")
}

/// The reverse of a join.
pub fn split(ir: &Ir, op: Op) -> VerifyResult {
    halves(ir.ty(ir.results(op)[0]), "results", operand_ty(ir, op, 0), "operand")
}

fn halves(half: Type, name: &str, whole: Type, whole_name: &str) -> VerifyResult {
    same_elements(half, whole)?;
    let mut shape = half.shape().to_vec();
    shape.push(2);
    ensure!(whole.shape() == shape, "the {whole_name} has type {whole}, expected the shape {shape:?} from the {name}");
    both_or_neither(half, whole)
}

/// Dimension i of the result is dimension `order[i]` of the operand.
pub fn trans(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_ty(ir, op, 0), result_ty(ir, op));
    same_elements(src, result)?;
    let order = view::Trans(op).order(ir).unwrap_or_default();
    ensure!(order.len() == src.rank(), "order has {} entries, and the operand has rank {}", order.len(), src.rank());
    let permutation = (0..order.len()).all(|i| order.contains(&(i as i64)));
    ensure!(permutation, "order is {order:?}, expected each of 0 to {} once", src.rank().saturating_sub(1));
    let shape: Vec<i64> = order.iter().map(|&i| src.shape()[i as usize]).collect();
    ensure!(result.shape() == shape, "the result has type {result}, expected the shape {shape:?}");
    both_or_neither(src, result)
}

/// The indices' shape and layout with the source's elements; other dimensions than the axis as the source's.
pub fn gather(ir: &Ir, op: Op) -> VerifyResult {
    let (src, indices, result) = (operand_ty(ir, op, 0), operand_ty(ir, op, 1), result_ty(ir, op));
    ensure!(
        is_like(result, indices, src.elem()),
        "the result has type {result}, expected {}",
        indices.with_elem(src.elem())
    );
    let rank = src.rank();
    ensure!(indices.rank() == rank, "the source has rank {rank}, and the indices {}", indices.rank());
    let axis = view::Gather(op).axis(ir).unwrap_or(-1);
    ensure!((0..rank as i64).contains(&axis), "its axis is {axis}, and the source has rank {rank}");
    for (dim, (&a, &b)) in src.shape().iter().zip(indices.shape()).enumerate() {
        ensure!(a == b || dim as i64 == axis, "dimension {dim} has size {a} in the source and {b} in the indices");
    }
    Ok(())
}

fn same_elements(from: Type, to: Type) -> VerifyResult {
    ensure!(
        from.elem() == to.elem(),
        "it goes from elements of type {} to {}, expected one type",
        from.elem(),
        to.elem()
    );
    Ok(())
}

fn both_or_neither(from: Type, to: Type) -> VerifyResult {
    ensure!(
        from.encoding().is_some() == to.encoding().is_some(),
        "of {from} and {to} one has a layout and the other has none"
    );
    Ok(())
}
