//! Rules of the `tt` dialect.

use super::{operand_type, result_type, rule, same_types, terminator, type_names, types_of};
use crate::ir::core::{Attr, Ir, Op, Type, TypeData, Value};
use crate::ir::dialects::TtOp;
use crate::ir::dialects::infer::accessed;
use crate::ir::dialects::spec::VerifyResult;

fn int(ir: &Ir, op: Op, name: &str) -> i64 {
    ir.int_attr(op, name).unwrap_or(0)
}

fn dims(ir: &Ir, op: Op, name: &str) -> &'static [i64] {
    ir.attr(op, name).and_then(Attr::as_dense_array).unwrap_or(&[])
}

fn expect_type(what: &str, found: Type, expected: Type) -> VerifyResult {
    rule(found == expected, || format!("{what} must have type `{expected}`, found `{found}`"))
}

fn expect_shape(what: &str, found: &[i64], expected: &[i64]) -> VerifyResult {
    rule(found == expected, || format!("{what} must have shape {expected:?}, found {found:?}"))
}

fn same_elem(a: Type, b: Type) -> VerifyResult {
    rule(a.elem() == b.elem(), || format!("source and result must have one element type, found `{}` and `{}`", a.elem(), b.elem()))
}

// ---- memory ----

/// Types of value and mask of an access; a fault if the operand is no pointer.
fn access(ir: &Ir, ptr: Value) -> Result<(Type, Type), String> {
    let ty = ir.ty(ptr);
    accessed(ty).ok_or_else(|| format!("the pointer must be a pointer or a tensor of pointers, found `{ty}`"))
}

/// Boundary checks and padding are for block pointers, and name its dimensions.
fn boundary(ir: &Ir, op: Op, ptr: Value) -> VerifyResult {
    let block = ir.ty(ptr).pointee().filter(|p| p.is_tensor());
    let checks = dims(ir, op, "boundaryCheck");
    let rank = block.map_or(0, Type::rank) as i64;
    rule(checks.iter().all(|d| (0..rank).contains(d)), || match block {
        Some(_) => format!("`boundaryCheck` must name dimensions below {rank}, found {checks:?}"),
        None => "`boundaryCheck` is for block pointers only".to_owned(),
    })
}

fn check_group(ir: &Ir, op: Op, group: usize, what: &str, expected: Type) -> VerifyResult {
    ir.operand_group(op, group).iter().try_for_each(|&v| expect_type(what, ir.ty(v), expected))
}

pub fn load(ir: &Ir, op: Op) -> VerifyResult {
    let ptr = ir.operand(op, 0);
    let (value, mask) = access(ir, ptr)?;
    expect_type("the result", result_type(ir, op), value)?;
    check_group(ir, op, 1, "the mask", mask)?;
    check_group(ir, op, 2, "`other`", value)?;
    rule(ir.operand_group(op, 2).is_empty() || !ir.operand_group(op, 1).is_empty(), || "`other` needs a mask".to_owned())?;
    boundary(ir, op, ptr)
}

pub fn store(ir: &Ir, op: Op) -> VerifyResult {
    let ptr = ir.operand(op, 0);
    let (value, mask) = access(ir, ptr)?;
    expect_type("the value", operand_type(ir, op, 1), value)?;
    check_group(ir, op, 2, "the mask", mask)?;
    boundary(ir, op, ptr)
}

pub fn atomic_rmw(ir: &Ir, op: Op) -> VerifyResult {
    let (value, mask) = access(ir, ir.operand(op, 0))?;
    expect_type("the value", operand_type(ir, op, 1), value)?;
    check_group(ir, op, 2, "the mask", mask)?;
    expect_type("the result", result_type(ir, op), value)?;
    let name = crate::ir::dialects::enums::ATOMIC_RMW.case(int(ir, op, "atomic_rmw_op")).unwrap_or("?");
    match name {
        "fadd" => rule(value.elem().is_float(), || format!("`fadd` is for floats, found `{}`", value.elem())),
        "exch" => Ok(()),
        _ => rule(value.elem().is_int(), || format!("`{name}` is for integers, found `{}`", value.elem())),
    }
}

pub fn atomic_cas(ir: &Ir, op: Op) -> VerifyResult {
    let (value, _) = access(ir, ir.operand(op, 0))?;
    expect_type("the value to compare with", operand_type(ir, op, 1), value)?;
    expect_type("the new value", operand_type(ir, op, 2), value)?;
    expect_type("the result", result_type(ir, op), value)
}

pub fn addptr(ir: &Ir, op: Op) -> VerifyResult {
    let (ptr, offset, result) = (operand_type(ir, op, 0), operand_type(ir, op, 1), result_type(ir, op));
    rule(ptr.pointee().is_none_or(|p| !p.is_tensor()), || format!("a block pointer is moved by `tt.advance`, found `{ptr}`"))?;
    rule(!matches!(offset.elem().data(), TypeData::Index), || "the offset must be an integer, found `index`".to_owned())?;
    expect_type("the result", result, ptr)
}

pub fn make_tensor_ptr(ir: &Ir, op: Op) -> VerifyResult {
    let result = result_type(ir, op);
    let Some(block) = result.pointee().filter(|p| p.is_tensor()) else {
        return Err(format!("the result must point to a tensor, found `{result}`"));
    };
    expect_type("the base", operand_type(ir, op, 0), Type::ptr(block.elem()))?;
    for (group, what) in [(1, "extents"), (2, "strides"), (3, "offsets")] {
        count(what, ir.operand_group(op, group).len(), block.rank())?;
    }
    count("entries in `order`", dims(ir, op, "order").len(), block.rank())
}

fn count(what: &str, found: usize, expected: usize) -> VerifyResult {
    rule(found == expected, || format!("expected {expected} {what}, found {found}"))
}

pub fn advance(ir: &Ir, op: Op) -> VerifyResult {
    let ptr = operand_type(ir, op, 0);
    let Some(block) = ptr.pointee().filter(|p| p.is_tensor()) else {
        return Err(format!("the pointer must point to a tensor, found `{ptr}`"));
    };
    count("offsets", ir.operand_group(op, 1).len(), block.rank())?;
    expect_type("the result", result_type(ir, op), ptr)
}

pub fn make_tensor_descriptor(ir: &Ir, op: Op) -> VerifyResult {
    let rank = result_type(ir, op).rank();
    count("extents", ir.operand_group(op, 1).len(), rank)?;
    count("strides", ir.operand_group(op, 2).len(), rank)?;
    let (base, elem) = (operand_type(ir, op, 0), result_type(ir, op).elem());
    rule(base.pointee().and_then(Type::bit_width) == elem.bit_width(), || {
        format!("the base must point to elements as wide as `{elem}`, found `{base}`")
    })
}

/// A block of the descriptor's elements; leading dimensions of size 1 may be missing.
fn block_of(desc: Type, block: Type) -> VerifyResult {
    rule(desc.elem() == block.elem(), || {
        format!("the block must have the descriptor's element type `{}`, found `{}`", desc.elem(), block.elem())
    })?;
    rule(desc.num_elements() == block.num_elements(), || {
        format!("the block must have the descriptor's {} elements, found `{block}`", desc.num_elements())
    })
}

pub fn descriptor_load(ir: &Ir, op: Op) -> VerifyResult {
    let desc = operand_type(ir, op, 0);
    count("indices", ir.operand_group(op, 1).len(), desc.rank())?;
    block_of(desc, result_type(ir, op))
}

pub fn descriptor_store(ir: &Ir, op: Op) -> VerifyResult {
    let desc = operand_type(ir, op, 0);
    count("indices", ir.operand_group(op, 2).len(), desc.rank())?;
    block_of(desc, operand_type(ir, op, 1))
}

// ---- shapes ----

pub fn splat(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    rule(!src.is_tensor() && src == result.elem(), || format!("the source must be the result's element `{}`, found `{src}`", result.elem()))
}

pub fn unsplat(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    rule(src.num_elements() == 1, || format!("the source must have one element, found `{src}`"))?;
    expect_type("the result", result, src.elem())
}

pub fn expand_dims(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    same_elem(src, result)?;
    let axis = int(ir, op, "axis");
    rule((0..=src.rank() as i64).contains(&axis), || format!("`axis` must be from 0 to {}, found {axis}", src.rank()))?;
    let mut shape = src.shape().to_vec();
    shape.insert(axis as usize, 1);
    expect_shape("the result", result.shape(), &shape)
}

pub fn reshape(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    same_elem(src, result)?;
    rule(src.num_elements() == result.num_elements(), || {
        format!("source and result must have as many elements, found {} and {}", src.num_elements(), result.num_elements())
    })
}

pub fn broadcast(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    same_elem(src, result)?;
    rule(src.rank() == result.rank(), || {
        format!("source and result must have as many dimensions, found {} and {}", src.rank(), result.rank())
    })?;
    rule(src.encoding().is_some() == result.encoding().is_some(), || {
        format!("either both types have an encoding or none, found `{src}` and `{result}`")
    })?;
    let fits = src.shape().iter().zip(result.shape()).all(|(&s, &r)| s == r || s == 1);
    rule(fits, || format!("a dimension can grow from 1 only, found {:?} to {:?}", src.shape(), result.shape()))
}

pub fn cat(ir: &Ir, op: Op) -> VerifyResult {
    let (a, b, result) = (operand_type(ir, op, 0), operand_type(ir, op, 1), result_type(ir, op));
    rule(a == b, || format!("both sources must have one type, found `{a}` and `{b}`"))?;
    same_elem(a, result)?;
    rule(result.num_elements() == a.num_elements() + b.num_elements(), || {
        format!("the result must have {} elements, found `{result}`", 2 * a.num_elements())
    })
}

pub fn join(ir: &Ir, op: Op) -> VerifyResult {
    let (a, b, result) = (operand_type(ir, op, 0), operand_type(ir, op, 1), result_type(ir, op));
    rule(a == b, || format!("both sources must have one type, found `{a}` and `{b}`"))?;
    same_elem(a, result)?;
    expect_shape("the result", result.shape(), &[a.shape(), &[2]].concat())
}

pub fn split(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    same_elem(src, result)?;
    let second = ir.ty(ir.results(op)[1]);
    rule(second == result, || format!("both results must have one type, found `{result}` and `{second}`"))?;
    match src.shape() {
        [rest @ .., 2] => expect_shape("the results", result.shape(), rest),
        other => Err(format!("the source's last dimension must be 2, found shape {other:?}")),
    }
}

pub fn trans(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    same_elem(src, result)?;
    let shape = permuted(src.shape(), dims(ir, op, "order"))?;
    expect_shape("the result", result.shape(), &shape)
}

/// The shape with its dimensions in another order.
pub(super) fn permuted(shape: &[i64], order: &[i64]) -> Result<Vec<i64>, String> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    rule(sorted.iter().copied().eq(0..shape.len() as i64), || {
        format!("`order` must name the {} dimensions once each, found {order:?}", shape.len())
    })?;
    Ok(order.iter().map(|&d| shape[d as usize]).collect())
}

pub fn make_range(ir: &Ir, op: Op) -> VerifyResult {
    let (start, end, result) = (int(ir, op, "start"), int(ir, op, "end"), result_type(ir, op));
    rule(start < end, || format!("`start` must be below `end`, found {start} and {end}"))?;
    rule(result.elem().is_int_of(32), || format!("the result must have elements of type `i32`, found `{}`", result.elem()))?;
    expect_shape("the result", result.shape(), &[end - start])
}

pub fn histogram(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    rule(src.rank() == 1 && result.rank() == 1, || format!("source and result must have one dimension, found `{src}` and `{result}`"))?;
    check_group(ir, op, 1, "the mask", src.with_elem(Type::int(1)))
}

pub fn gather(ir: &Ir, op: Op) -> VerifyResult {
    let (src, indices, result) = (operand_type(ir, op, 0), operand_type(ir, op, 1), result_type(ir, op));
    same_elem(src, result)?;
    expect_shape("the result", result.shape(), indices.shape())?;
    let axis = int(ir, op, "axis");
    rule(src.rank() == indices.rank(), || format!("source and indices must have as many dimensions, found `{src}` and `{indices}`"))?;
    rule((0..src.rank() as i64).contains(&axis), || format!("`axis` must be below {}, found {axis}", src.rank()))?;
    let fits = (0..src.rank()).all(|d| d as i64 == axis || src.shape()[d] == indices.shape()[d]);
    rule(fits, || format!("source and indices must agree in all dimensions but {axis}, found {:?} and {:?}", src.shape(), indices.shape()))
}

// ---- arithmetic ----

pub fn bitcast(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    let both = src.elem().is_ptr() && result.elem().is_ptr();
    rule(both || src.bit_width() == result.bit_width(), || {
        format!("source and result must have the same width, found `{src}` and `{result}`")
    })?;
    rule(src.elem().is_ptr() == result.elem().is_ptr(), || format!("a pointer can be cast to a pointer only, found `{src}` and `{result}`"))
}

pub fn fp_to_fp(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_type(ir, op, 0), result_type(ir, op));
    let narrows = result.bit_width() < src.bit_width();
    rule(!narrows || ir.stored_attr(op, "rounding").is_some(), || {
        format!("must say how to round from `{}` to `{}`", src.elem(), result.elem())
    })
}

pub fn dot(ir: &Ir, op: Op) -> VerifyResult {
    let (a, b, c, d) = (operand_type(ir, op, 0), operand_type(ir, op, 1), operand_type(ir, op, 2), result_type(ir, op));
    expect_type("the result", d, c)?;
    dot_shapes(a, b, d, 1)?;
    rule(a.bit_width() == b.bit_width(), || {
        format!("both factors must have elements of one width, found `{}` and `{}`", a.elem(), b.elem())
    })?;
    rule(a.encoding().is_some() == b.encoding().is_some(), || "either both factors have an encoding or none".to_owned())
}

/// [B,] M×K times K×N gives M×N; `pack`: how many elements one element of the factors stands for at most.
fn dot_shapes(a: Type, b: Type, d: Type, pack: i64) -> VerifyResult {
    let rank = d.rank();
    rule(a.rank() == rank && b.rank() == rank && (rank == 2 || rank == 3), || {
        format!("all must be matrices or batches of them, found `{a}`, `{b}` and `{d}`")
    })?;
    let (sa, sb, sd) = (a.shape(), b.shape(), d.shape());
    let batch = rank == 2 || (sa[0] == sb[0] && sa[0] == sd[0]);
    let (m, n) = (sa[rank - 2], sb[rank - 1]);
    let (ka, kb) = (sa[rank - 1], sb[rank - 2]);
    let inner = ka == kb || ka == kb * pack || kb == ka * pack;
    let outer = (m == sd[rank - 2] || m * pack == sd[rank - 2]) && (n == sd[rank - 1] || n * pack == sd[rank - 1]);
    rule(batch && inner && outer, || format!("shapes must be M×K, K×N and M×N, found {sa:?}, {sb:?} and {sd:?}"))
}

pub fn dot_scaled(ir: &Ir, op: Op) -> VerifyResult {
    let (a, b, c, d) = (operand_type(ir, op, 0), operand_type(ir, op, 1), operand_type(ir, op, 2), result_type(ir, op));
    expect_type("the result", d, c)?;
    dot_shapes(a, b, d, 2)
}

pub fn inline_asm(ir: &Ir, op: Op) -> VerifyResult {
    let packed = int(ir, op, "packed_element");
    rule(packed > 0, || format!("`packed_element` must be positive, found {packed}"))
}

// ---- regions ----

fn region_args(ir: &Ir, op: Op) -> Result<Vec<Type>, String> {
    let entry = ir.entry(ir.region(op, 0)).ok_or("the region must have a block")?;
    Ok(types_of(ir, ir.args(entry)))
}

/// The region takes two scalars a source and returns one a source.
fn combine_region(ir: &Ir, op: Op, end: TtOp) -> VerifyResult {
    let elems: Vec<Type> = ir.operands(op).iter().map(|&v| ir.ty(v).elem()).collect();
    let expected: Vec<Type> = elems.iter().chain(&elems).copied().collect();
    same_types(&region_args(ir, op)?, "the region's arguments", &expected, "the sources' elements, twice")?;
    let last = terminator(ir, op, 0).filter(|&t| ir.is(t, end));
    let last = last.ok_or_else(|| format!("the region must end in `{}`", crate::ir::dialects::OpKind::from(end).name()))?;
    same_types(&types_of(ir, ir.operands(last)), "the returned values", &elems, "the sources' elements")
}

fn axis_in(ir: &Ir, op: Op) -> Result<usize, String> {
    let (axis, rank) = (int(ir, op, "axis"), operand_type(ir, op, 0).rank());
    rule((0..rank as i64).contains(&axis), || format!("`axis` must be below {rank}, found {axis}"))?;
    Ok(axis as usize)
}

fn has_source(ir: &Ir, op: Op) -> VerifyResult {
    rule(!ir.operands(op).is_empty(), || "must have a source".to_owned())
}

pub fn reduce(ir: &Ir, op: Op) -> VerifyResult {
    has_source(ir, op)?;
    let axis = axis_in(ir, op)?;
    count("results", ir.results(op).len(), ir.operands(op).len())?;
    for (&src, &result) in ir.operands(op).iter().zip(ir.results(op)) {
        let (src, result) = (ir.ty(src), ir.ty(result));
        let mut shape = src.shape().to_vec();
        shape.remove(axis);
        same_elem(src, result)?;
        expect_shape("the result", result.shape(), &shape)?;
        rule(result.is_tensor() != shape.is_empty(), || format!("reducing the last dimension gives a scalar, found `{result}`"))?;
    }
    combine_region(ir, op, TtOp::ReduceReturn)
}

pub fn scan(ir: &Ir, op: Op) -> VerifyResult {
    has_source(ir, op)?;
    axis_in(ir, op)?;
    same_types(&types_of(ir, ir.results(op)), "the results", &types_of(ir, ir.operands(op)), "the sources")?;
    combine_region(ir, op, TtOp::ScanReturn)
}

pub fn map_elementwise(ir: &Ir, op: Op) -> VerifyResult {
    let pack = int(ir, op, "pack");
    rule(pack > 0, || format!("`pack` must be positive, found {pack}"))?;
    let repeat = |values: &[Value]| -> Vec<Type> {
        values.iter().flat_map(|&v| std::iter::repeat_n(ir.ty(v).elem(), pack.min(1024) as usize)).collect()
    };
    same_types(&region_args(ir, op)?, "the region's arguments", &repeat(ir.operands(op)), "the sources' elements")?;
    for block in ir.blocks_of(ir.region(op, 0)) {
        if let Some(end) = ir.last_op(*block).filter(|&e| ir.is(e, TtOp::MapElementwiseReturn)) {
            same_types(&types_of(ir, ir.operands(end)), "the returned values", &repeat(ir.results(op)), "the results' elements")?;
        }
    }
    Ok(())
}

// ---- functions ----

/// The entry block takes what the function's type says.
pub fn func(ir: &Ir, op: Op) -> VerifyResult {
    let Some(ty) = ir.stored_attr(op, "function_type").and_then(Attr::as_type) else { return Err("must have a function type".to_owned()) };
    let TypeData::Function { inputs, .. } = ty.data() else {
        return Err(format!("`function_type` must be a function's type, found `{ty}`"));
    };
    match ir.entry(ir.region(op, 0)) {
        Some(entry) => same_types(&types_of(ir, ir.args(entry)), "the entry block's arguments", inputs, "the function's type"),
        None => Ok(()),
    }
}

pub fn func_return(ir: &Ir, op: Op) -> VerifyResult {
    let Some(func) = ir.parent_op(op).filter(|&f| ir.kind(f).is_function()) else { return Err("must stand in a function".to_owned()) };
    let Some(ty) = ir.stored_attr(func, "function_type").and_then(Attr::as_type) else { return Ok(()) };
    let TypeData::Function { results, .. } = ty.data() else { return Ok(()) };
    same_types(&types_of(ir, ir.operands(op)), "the returned values", results, "the function's type")
}

pub fn call(ir: &Ir, op: Op) -> VerifyResult {
    let name = ir.str_attr(op, "callee").unwrap_or_default();
    let Some(func) = ir.function(name) else { return Err(format!("no function `@{name}` in this module")) };
    let Some(ty) = ir.stored_attr(func, "function_type").and_then(Attr::as_type) else { return Ok(()) };
    let TypeData::Function { inputs, results } = ty.data() else { return Ok(()) };
    let (given, taken) = (types_of(ir, ir.operands(op)), types_of(ir, ir.results(op)));
    rule(&given == inputs && &taken == results, || {
        format!(
            "`@{name}` takes {} and gives {}, found {} and {}",
            type_names(inputs),
            type_names(results),
            type_names(&given),
            type_names(&taken)
        )
    })
}
