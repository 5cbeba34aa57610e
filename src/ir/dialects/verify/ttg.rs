//! Rules of the `ttg` and `ttng` dialects.

use super::tt::permuted;
use super::{operand_type, result_type, rule, same_types, terminator, types_of};
use crate::ir::core::{Attr, Ir, MemDesc, Op, Type};
use crate::ir::dialects::TtgOp;
use crate::ir::dialects::spec::VerifyResult;

fn memdesc(ty: Type) -> &'static MemDesc {
    ty.as_memdesc().expect("the operand's constraint: a memory descriptor")
}

/// Two types hold the same elements in the same shape.
fn same_contents(what: &str, a: Type, b: Type) -> VerifyResult {
    rule(a.elem() == b.elem() && a.shape() == b.shape(), || format!("{what} must have one shape and element type, found `{a}` and `{b}`"))
}

pub fn convert_layout(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    same_contents("source and result", src, result)
}

/// A buffer that is given a tensor holds just that; one that is not must be mutable.
pub fn local_alloc(ir: &Ir, op: Op) -> VerifyResult {
    let result = result_type(ir, op);
    match ir.operands(op).first() {
        Some(&src) => same_contents("source and buffer", ir.ty(src), result),
        None => rule(memdesc(result).mutable, || format!("a buffer without a source must be mutable, found `{result}`")),
    }
}

pub fn local_load(ir: &Ir, op: Op) -> VerifyResult {
    same_contents("buffer and result", operand_type(ir, op, 0), result_type(ir, op))
}

pub fn local_store(ir: &Ir, op: Op) -> VerifyResult {
    let (src, dst) = (operand_type(ir, op, 0), operand_type(ir, op, 1));
    rule(memdesc(dst).mutable, || format!("the buffer must be mutable, found `{dst}`"))?;
    same_contents("source and buffer", src, dst)
}

pub fn memdesc_index(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    rule(src.elem() == result.elem(), || format!("source and result must have one element type, found `{src}` and `{result}`"))?;
    rule(src.shape().get(1..) == Some(result.shape()) || (src.rank() == 1 && result.shape() == [1]), || {
        format!("the result must have the source's shape without its first dimension, found {:?} of {:?}", result.shape(), src.shape())
    })
}

pub fn memdesc_subslice(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    let offsets = ir.attr(op, "offsets").and_then(Attr::as_dense_array).unwrap_or(&[]);
    rule(src.elem() == result.elem(), || format!("source and result must have one element type, found `{src}` and `{result}`"))?;
    rule(offsets.len() == src.rank() && result.rank() == src.rank(), || {
        format!("source, result and offsets must have as many dimensions, found {}, {} and {}", src.rank(), result.rank(), offsets.len())
    })?;
    let fits =
        offsets.iter().zip(src.shape()).zip(result.shape()).all(|((&o, &s), &r)| o >= 0 && o.checked_add(r).is_some_and(|end| end <= s));
    rule(fits, || format!("the part must lie in the source: offsets {offsets:?}, shape {:?} of {:?}", result.shape(), src.shape()))
}

pub fn memdesc_trans(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    rule(src.elem() == result.elem(), || format!("source and result must have one element type, found `{src}` and `{result}`"))?;
    let shape = permuted(src.shape(), ir.attr(op, "order").and_then(Attr::as_dense_array).unwrap_or(&[]))?;
    rule(shape == result.shape(), || format!("the result must have shape {shape:?}, found {:?}", result.shape()))
}

pub fn memdesc_reshape(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    rule(src.elem() == result.elem() && src.num_elements() == result.num_elements(), || {
        format!("source and result must have as many elements of one type, found `{src}` and `{result}`")
    })
}

pub fn async_copy(ir: &Ir, op: Op) -> VerifyResult {
    let (src, dst) = (operand_type(ir, op, 0), operand_type(ir, op, 1));
    let value = src.elem().pointee().map(|p| src.with_elem(p));
    rule(memdesc(dst).mutable, || format!("the buffer must be mutable, found `{dst}`"))?;
    rule(value.is_some_and(|v| v.elem() == dst.elem() && v.shape() == dst.shape()), || {
        format!("source and buffer must have one shape and element type, found `{src}` and `{dst}`")
    })
}

/// As many partitions as warp counts; the default region yields the results.
pub fn warp_specialize(ir: &Ir, op: Op) -> VerifyResult {
    let holder = ir.entry(ir.region(op, 1)).and_then(|b| ir.first_op(b)).filter(|&h| ir.is(h, TtgOp::WarpSpecializePartitions));
    let holder = holder.ok_or("the second region must hold `ttg.warp_specialize.partitions`")?;
    let warps = ir.attr(op, "partitionNumWarps").and_then(Attr::as_dense_array).unwrap_or(&[]);
    let partitions = ir.regions_of(holder).len();
    rule(partitions == warps.len(), || format!("expected a number of warps for each of {partitions} partitions, found {}", warps.len()))?;
    rule(warps.iter().all(|w| *w > 0 && w.count_ones() == 1), || format!("numbers of warps must be powers of two, found {warps:?}"))?;
    let end = terminator(ir, op, 0).filter(|&e| ir.is(e, TtgOp::WarpYield)).ok_or("the default region must end in `ttg.warp_yield`")?;
    same_types(&types_of(ir, ir.operands(end)), "the yielded values", &types_of(ir, ir.results(op)), "the results")
}

/// Every partition takes the captures.
pub fn partitions(ir: &Ir, op: Op) -> VerifyResult {
    let captures = types_of(ir, ir.operands(op));
    for (i, &region) in ir.regions_of(op).iter().enumerate() {
        let args = ir.entry(region).map_or(vec![], |b| types_of(ir, ir.args(b)));
        same_types(&args, &format!("the arguments of partition {i}"), &captures, "the captures")?;
    }
    Ok(())
}

/// M×K times K×N gives M×N, with the accumulator's type.
pub fn warp_group_dot(ir: &Ir, op: Op) -> VerifyResult {
    let (a, b, c, d) = (operand_type(ir, op, 0), operand_type(ir, op, 1), operand_type(ir, op, 2), result_type(ir, op));
    rule(c == d, || format!("the result must have the accumulator's type `{c}`, found `{d}`"))?;
    let matrices = a.rank() == 2 && b.rank() == 2 && d.rank() == 2;
    let fits = matrices && a.shape()[1] == b.shape()[0] && a.shape()[0] == d.shape()[0] && b.shape()[1] == d.shape()[1];
    rule(fits, || format!("shapes must be M×K, K×N and M×N, found {:?}, {:?} and {:?}", a.shape(), b.shape(), d.shape()))
}
