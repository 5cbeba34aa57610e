//! Rules of tensor memory and of `tcgen05`.

use super::ttg::{alloc, mutable};
use super::ttng::{completes, types};
use super::{Type, ensure, memdesc, operand_ty, result_ty, same_contents};
use crate::ir::core::encoding::TensorMemory;
use crate::ir::core::{AttrData, Encoding, FloatKind, Ir, Op};
use crate::ir::dialects::discardable::TARGET;
use crate::ir::dialects::enums::ScaledElem;
use crate::ir::dialects::spec::VerifyResult;
use crate::ir::dialects::ttng::ttng as view;
use crate::ir::encoding::questions::{self, Place, cga_of};

fn in_tensor_memory(ty: Type) -> bool {
    ty.layout().is_some_and(|e| questions::place(e) == Place::TensorMemory)
}

fn tensor_memory(ty: Type) -> Option<&'static TensorMemory> {
    match ty.layout() {
        Some(Encoding::TensorMemory(e)) => Some(e),
        _ => None,
    }
}

fn matrix(name: &str, ty: Type) -> VerifyResult {
    ensure!(ty.rank() == 2, "the {name} has type {ty}, expected two dimensions");
    Ok(())
}

// ---- loads, stores, copies ----

/// In tensor memory; all of its allocation; mutable unless a matrix is put there.
pub fn tmem_alloc(ir: &Ir, op: Op) -> VerifyResult {
    let result = ir.ty(ir.results(op)[0]);
    ensure!(in_tensor_memory(result), "the result has type {result}, expected a layout of tensor memory");
    if let Some(&src) = ir.operand_group(op, 0).first() {
        matrix("source", ir.ty(src))?;
    }
    alloc(ir, op, result)
}

/// A matrix to tensor memory that may change.
pub fn tmem_store(ir: &Ir, op: Op) -> VerifyResult {
    let tensor = ir.operands(op).iter().map(|&v| ir.ty(v)).find(|t| t.is_tensor());
    let (dst, Some(src)) = (operand_ty(ir, op, 0), tensor) else { return Ok(()) };
    ensure!(in_tensor_memory(dst), "the buffer has type {dst}, expected a layout of tensor memory");
    mutable(dst)?;
    matrix("source", src)?;
    same_contents(("source", src), ("buffer", dst))
}

/// A matrix from tensor memory; a reduction of its rows comes with it when asked for.
pub fn tmem_load(ir: &Ir, op: Op) -> VerifyResult {
    let src = operand_ty(ir, op, 0);
    let result = ir.ty(ir.results(op)[0]);
    let space = memdesc(src).map(|m| m.memory_space);
    ensure!(space.is_some_and(|s| *s == AttrData::TensorMemory), "the source has type {src}, expected tensor memory");
    ensure!(tensor_memory(src).is_some(), "the source has type {src}, expected the layout `tensor_memory_encoding`");
    matrix("result", result)?;
    let reduces = view::TmemLoad(op).redOp(ir).is_some();
    let reduced = ir.results(op).iter().filter(|&&r| ir.ty(r).is_tensor()).count() == 2;
    ensure!(reduces || !reduced, "it has a result for a reduction, and no attribute `redOp`");
    ensure!(!reduces || reduced, "it has the attribute `redOp`, and no result for the reduction");
    for name in ["abs", "NaN"] {
        let set = ir.bool_attr(op, name);
        ensure!(!set || reduces, "`{name}` says how to reduce, and there is no attribute `redOp`");
        ensure!(!set || src.elem() == Type::f32(), "`{name}` is for elements of type f32, found {}", src.elem());
    }
    same_contents(("buffer", src), ("result", result))
}

/// A part of tensor memory along one dimension; from where on it may start is a question of layouts.
pub fn tmem_subslice(ir: &Ir, op: Op) -> VerifyResult {
    let (src, result) = (operand_ty(ir, op, 0), result_ty(ir, op));
    let space = |ty: Type| memdesc(ty).is_some_and(|m| *m.memory_space == AttrData::TensorMemory);
    for (name, ty) in [("source", src), ("result", result)] {
        ensure!(space(ty), "the {name} has type {ty}, expected a buffer in tensor memory");
    }
    ensure!(
        src.elem() == result.elem(),
        "the source has elements of type {}, and the result {}",
        src.elem(),
        result.elem()
    );
    ensure!(
        src.encoding() == result.encoding(),
        "the source has type {src} and the result {result}, expected one layout"
    );
    let (Some(a), Some(b)) = (memdesc(src), memdesc(result)) else { return Ok(()) };
    ensure!(
        a.alloc_shape == b.alloc_shape,
        "the source is of an allocation of {:?}, and the result of {:?}",
        a.alloc_shape,
        b.alloc_shape
    );
    ensure!(src.rank() == result.rank(), "the source has rank {}, and the result {}", src.rank(), result.rank());
    let dim = usize::try_from(view::TmemSubslice(op).dim(ir).unwrap_or(1)).ok().filter(|&d| d < src.rank());
    let dim = dim.ok_or_else(|| {
        format!(
            "its dimension is {}, and the source has rank {}",
            view::TmemSubslice(op).dim(ir).unwrap_or(1),
            src.rank()
        )
    })?;
    for axis in (0..src.rank()).filter(|&axis| axis != dim) {
        let (whole, part) = (a.shape[axis], b.shape[axis]);
        ensure!(
            whole == part,
            "the source has {whole} elements along dimension {axis}, which is not split, and the result {part}"
        );
    }
    let (offset, whole, part) = (view::TmemSubslice(op).offset(ir).unwrap_or(0), a.shape[dim], b.shape[dim]);
    ensure!(
        (0..=whole - part).contains(&offset),
        "its offset is {offset}, and the source has {whole} elements along dimension {dim}, the part {part}"
    );
    Ok(())
}

/// From shared memory that a matrix descriptor can describe: 16 bytes aligned, neither transposed nor padded.
pub fn tmem_copy(ir: &Ir, op: Op) -> VerifyResult {
    let (src, dst) = (operand_ty(ir, op, 0), operand_ty(ir, op, 1));
    let shared = memdesc(src).is_some_and(|m| *m.memory_space == AttrData::SharedMemory);
    ensure!(shared, "the source has type {src}, expected shared memory");
    ensure!(
        src.shape() == dst.shape(),
        "the source has shape {:?}, and the destination {:?}",
        src.shape(),
        dst.shape()
    );
    mutable(dst)?;
    if let Some(Encoding::SharedLinear { alignment, .. }) = src.layout() {
        ensure!(*alignment >= 16, "the source is aligned to {alignment} bytes, expected at least 16");
    }
    let swizzle = match src.layout() {
        Some(Encoding::NvmmaShared(e)) => {
            ensure!(
                !e.transposed && !e.fp4_padded,
                "the source has type {src}, expected neither a transposed nor a padded layout"
            );
            Some(e.swizzling_byte_width)
        }
        _ => None,
    };
    if matches!(dst.layout(), Some(Encoding::TensorMemoryScales { .. })) {
        ensure!(swizzle.is_none_or(|s| s == 0), "scales are swizzled by {} bytes, expected none", swizzle.unwrap_or(0));
        return Ok(());
    }
    let Some(e) = tensor_memory(dst) else {
        return Err(format!("the destination has type {dst}, expected a layout of tensor memory"));
    };
    ensure!(e.block_m == 128, "the destination has blocks of {} rows, expected 128", e.block_m);
    ensure!(swizzle != Some(0), "the source is not swizzled, expected a swizzle");
    ensure!(src.bit_width() == Some(32), "the source has elements of type {}, expected 32 bits", src.elem());
    Ok(())
}

// ---- tcgen05.mma ----

/// The kinds of `tcgen05.mma` by the element types that they multiply.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Tf32,
    F16,
    F8F6F4,
    I8,
}

/// The kind for an element type, and whether it can add up in f16.
fn kind_of(elem: Type) -> Option<(Kind, bool)> {
    match elem.as_float() {
        Some(FloatKind::F32) => Some((Kind::Tf32, false)),
        Some(FloatKind::F16) => Some((Kind::F16, true)),
        Some(FloatKind::BF16) => Some((Kind::F16, false)),
        Some(k) if matches!(k.bits(), 4 | 6 | 8) => Some((Kind::F8F6F4, true)),
        None if elem.is_int_of(8) => Some((Kind::I8, false)),
        _ => None,
    }
}

/// Element types of operands and accumulator.
fn elements(a: Type, b: Type, d: Type) -> VerifyResult {
    let of = |name, ty: Type| {
        kind_of(ty).ok_or_else(|| format!("operand `{name}` has elements of type {ty}, which no tensor core takes"))
    };
    let ((ka, half_a), (kb, half_b)) = (of("a", a)?, of("b", b)?);
    ensure!(ka == kb, "operand `a` has elements of type {a} and `b` of {b}, which no instruction multiplies");
    let good = match ka {
        Kind::I8 => d.is_int_of(32),
        _ => d == Type::f32() || (half_a && half_b && d.as_float() == Some(FloatKind::F16)),
    };
    ensure!(good, "it adds up products of {a} and {b} in {d}, which no instruction does");
    Ok(())
}

/// Barriers only when it is asynchronous, one predicate each.
fn barriers(ir: &Ir, op: Op, group: usize) -> VerifyResult {
    let barriers = ir.operand_group(op, group);
    ensure!(
        barriers.is_empty() || ir.stores(op, view::TcGen5Mma::ATTR.is_async),
        "it has a barrier to arrive at, and is not `is_async`"
    );
    let predicates = ir.operand_group(op, group + 1).len();
    ensure!(barriers.len() == predicates, "it has {} barriers and {predicates} predicates for them", barriers.len());
    types(ir, barriers).into_iter().try_for_each(|b| completes(ir, op, b))
}

/// Matrices that fit together, b in shared memory, a there or in tensor memory, d in tensor memory.
pub fn tc_gen5_mma(ir: &Ir, op: Op) -> VerifyResult {
    let (a, b, d) = (operand_ty(ir, op, 0), operand_ty(ir, op, 1), operand_ty(ir, op, 2));
    barriers(ir, op, 6)?;
    elements(a.elem(), b.elem(), d.elem())?;
    for (name, ty) in [("operand `a`", a), ("operand `b`", b), ("operand `d`", d)] {
        matrix(name, ty)?;
    }
    let (m, n, k) = (d.shape()[0], d.shape()[1], a.shape()[1]);
    ensure!(
        a.shape()[0] == m && b.shape() == [k, n],
        "the operands are {:?} and {:?}, and the result {:?}",
        a.shape(),
        b.shape(),
        d.shape()
    );
    let shared = |ty: Type| matches!(ty.layout(), Some(Encoding::NvmmaShared(_) | Encoding::SharedLinear { .. }));
    ensure!(
        shared(a) || tensor_memory(a).is_some(),
        "operand `a` has type {a}, expected an nvmma_shared layout or one of tensor memory"
    );
    ensure!(shared(b), "operand `b` has type {b}, expected an nvmma_shared layout");
    let Some(e) = tensor_memory(d) else {
        return Err(format!("operand `d` has type {d}, expected a layout of tensor memory"));
    };
    ensure!(!e.fp4_padded, "operand `d` has type {d}, and a sum is not padded as 4-bit elements are");
    if let Some(t) = tensor_memory(a) {
        ensure!(!t.fp4_padded, "operand `a` has type {a}, and only products with scales take padded 4-bit elements");
        ensure!(t.col_stride == 1, "operand `a` has a column stride of {}, expected 1", t.col_stride);
    }
    let stride = 32 / d.bit_width().unwrap_or(32).max(1);
    ensure!(
        e.col_stride == stride,
        "operand `d` has a column stride of {}, expected {stride} for elements of {}",
        e.col_stride,
        d.elem()
    );
    let columns = n / split(d, 1).min(n);
    ensure!(
        i64::from(e.block_n).min(columns) <= 256,
        "a block of operand `d` has {} columns, expected at most 256",
        e.block_n
    );
    clusters(ir, op, (a, b), e, columns)
}

/// Into how many parts the blocks of a cluster cut an axis.
fn split(ty: Type, axis: usize) -> i64 {
    questions::split(&cga_of(ty), axis)
}

/// Blocks of a cluster have all of K; two that work together have halves of b.
fn clusters(ir: &Ir, op: Op, (a, b): (Type, Type), e: &TensorMemory, columns: i64) -> VerifyResult {
    ensure!(split(a, 1) == 1, "operand `a` is cut into {} along K, expected no cut", split(a, 1));
    ensure!(split(b, 0) == 1, "operand `b` is cut into {} along K, expected no cut", split(b, 0));
    let pairs = ir.stores(op, view::TcGen5Mma::ATTR.two_ctas);
    if pairs {
        let cga = cga_of(b);
        let first = cga.first();
        ensure!(
            first.is_some_and(|f| f[..] == [0, 1]),
            "the first basis of the CGALayout of `b` is {first:?}, expected [0, 1] with `two_ctas`"
        );
        ensure!(columns <= 256, "a block of `d` has {columns} columns, expected at most 256 with `two_ctas`");
    }
    let words = |set: bool| if set { "with" } else { "without" };
    ensure!(
        e.two_ctas == pairs,
        "the layout of `d` is one {} twoCTAs, and the operation {} `two_ctas`",
        words(e.two_ctas),
        words(pairs)
    );
    if let Some(t) = tensor_memory(a) {
        ensure!(
            t.two_ctas == pairs,
            "the layout of `a` is one {} twoCTAs, and the operation {} `two_ctas`",
            words(t.two_ctas),
            words(pairs)
        );
    }
    Ok(())
}

/// Operands with scales; blocks of 128 rows.
pub fn tc_gen5_mma_scaled(ir: &Ir, op: Op) -> VerifyResult {
    let (a, b, d) = (operand_ty(ir, op, 0), operand_ty(ir, op, 1), operand_ty(ir, op, 2));
    barriers(ir, op, 8)?;
    elements(scaled(ir, op, a, "a_type"), scaled(ir, op, b, "b_type"), d.elem())?;
    let Some(e) = tensor_memory(d) else {
        return Err(format!("operand `d` has type {d}, expected a layout of tensor memory"));
    };
    ensure!(!e.fp4_padded, "operand `d` has type {d}, and a sum is not padded as 4-bit elements are");
    ensure!(e.block_m == 128, "operand `d` has blocks of {} rows, expected 128", e.block_m);
    first_operand(ir, op, a)?;
    block_order(ir, op)?;
    for (name, ty) in [("operand `a`", a), ("operand `b`", b), ("operand `d`", d)] {
        matrix(name, ty)?;
    }
    let is_fp4 = |name| ir.enum_attr(op, name) == Some(ScaledElem::E2m1);
    let transposed = |ty: Type| matches!(ty.layout(), Some(Encoding::NvmmaShared(e)) if e.transposed);
    // Packed pairs lie along the contiguous dimension: K of `a` unless it is transposed, K of `b` if it is.
    let (along_k_a, along_k_b) =
        (!transposed(a), transposed(b) || !matches!(b.layout(), Some(Encoding::NvmmaShared(_))));
    let twice = |size: i64, packed: bool| if packed { size * 2 } else { size };
    let ka = twice(a.shape()[1], is_fp4("a_type") && along_k_a);
    let kb = twice(b.shape()[0], is_fp4("b_type") && along_k_b);
    ensure!(ka == kb, "the inner dimensions are {ka} and {kb}");
    let expected =
        [twice(a.shape()[0], is_fp4("a_type") && !along_k_a), twice(b.shape()[1], is_fp4("b_type") && !along_k_b)];
    ensure!(d.shape() == expected, "operand `d` has shape {:?}, expected {expected:?}", d.shape());
    Ok(())
}

/// An operand `a` in tensor memory has 8-bit floats, or pairs of 4-bit ones, which are padded beside 8-bit floats and
/// only there.
fn first_operand(ir: &Ir, op: Op, a: Type) -> VerifyResult {
    let Some(layout) = tensor_memory(a) else { return Ok(()) };
    let float8 = |name| matches!(ir.enum_attr(op, name), Some(ScaledElem::E4m3 | ScaledElem::E5m2));
    if view::TcGen5MmaScaled(op).a_type(ir) == Some(ScaledElem::E2m1) {
        ensure!(a.elem().is_int_of(8), "operand `a` has type {a}, expected i8 for pairs of e2m1");
        let (found, expected) = (layout.fp4_padded, float8("b_type"));
        ensure!(
            found == expected,
            "`fp4Padded` of operand `a` is {found}, expected {expected}: e2m1 is padded beside 8-bit floats only"
        );
        return Ok(());
    }
    let good = matches!(a.elem().as_float(), Some(FloatKind::F8E4M3FN | FloatKind::F8E5M2)) && float8("a_type");
    ensure!(good, "operand `a` has type {a}, expected 8-bit floats or e2m1 in tensor memory");
    Ok(())
}

/// Scales of several blocks of 128 rows × 4 follow one another as the instruction reads them: rows first. On sm_107,
/// scales f8E4M3FN of e2m1 in `a` run along K first.
fn block_order(ir: &Ir, op: Op) -> VerifyResult {
    let first = |group: usize| ir.operand_group(op, group).first().map(|&v| ir.ty(v));
    let (Some(a), Some(b)) = (first(4), first(5)) else { return Ok(()) };
    let e4m3 = |ty: Type| ty.elem().as_float() == Some(FloatKind::F8E4M3FN);
    let e2m1 = ["a_type", "b_type"].iter().all(|name| ir.enum_attr(op, name) == Some(ScaledElem::E2m1));
    let module = std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o)).last();
    let rubin = module.and_then(|m| ir.get(m, TARGET)) == Some("cuda:107");
    for (name, scales) in [("a", a), ("b", b)] {
        let Some(m) = memdesc(scales).filter(|m| *m.memory_space == AttrData::TensorMemory) else { continue };
        let share = |axis: usize| m.shape[m.shape.len() - 2 + axis] / split(scales, axis).max(1);
        let matters = share(0) > 128 && share(1) > 4;
        let Some(Encoding::TensorMemoryScales { k_first, .. }) = scales.layout() else {
            ensure!(
                !matters,
                "the scales of operand `{name}` have type {scales}, expected the layout `tensor_memory_scales_encoding`"
            );
            continue;
        };
        let expected = name == "a" && rubin && e2m1 && e4m3(a) && e4m3(b);
        let order = |k_first: bool| if k_first { "kThenMn" } else { "mnThenK" };
        ensure!(
            *k_first == expected || !(matters || *k_first),
            "`blockRepOrder` of the scales of operand `{name}` is {}, expected {}",
            order(*k_first),
            order(expected)
        );
    }
    Ok(())
}

/// What the elements of an operand stand for: bytes hold the floats that the attribute names.
fn scaled(ir: &Ir, op: Op, ty: Type, attr: &str) -> Type {
    match ir.int_attr(op, attr) {
        _ if ty.elem().is_float() => ty.elem(),
        Some(5) => Type::float(FloatKind::BF16),
        Some(6) => Type::float(FloatKind::F16),
        _ => Type::float(FloatKind::F8E4M3FN),
    }
}

/// A barrier, and up to four buffers whose copies are meant.
pub fn tc_gen5_commit(ir: &Ir, op: Op) -> VerifyResult {
    let found = ir.operand_group(op, 2).len();
    ensure!(found <= 4, "it has {found} buffers, expected at most 4");
    completes(ir, op, operand_ty(ir, op, 0))
}
