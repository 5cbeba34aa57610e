//! Rules of the `tt` dialect about memory: pointers, loads and stores, atomics, descriptors, block pointers.

use super::{count, ensure, operand_ty, result_ty};
use crate::ir::core::{Ir, Op, Type, TypeData, Value};
use crate::ir::dialects::enums::MemSemantic;
use crate::ir::dialects::spec::VerifyResult;
use crate::ir::dialects::tt::tt as view;

/// Offsets of some width: `index` is none.
pub fn addptr(ir: &Ir, op: Op) -> VerifyResult {
    ensure!(operand_ty(ir, op, 1).elem().is_int(), "the offset has type {}, expected integers", operand_ty(ir, op, 1));
    Ok(())
}

/// A value for masked-off elements needs a mask, or the boundaries of a block.
pub fn load(ir: &Ir, op: Op) -> VerifyResult {
    let ptr = operand_ty(ir, op, 0);
    let (mask, other) = (ir.operand_group(op, 1), ir.operand_group(op, 2));
    ensure!(
        other.is_empty() || !mask.is_empty() || is_block(ptr),
        "it has a value for masked-off elements and no mask"
    );
    boundary(ir, op, ptr)
}

/// Boundaries only of a block.
pub fn store(ir: &Ir, op: Op) -> VerifyResult {
    boundary(ir, op, operand_ty(ir, op, 0))
}

/// It reads, so it has nothing to release.
pub fn atomic_load(ir: &Ir, op: Op) -> VerifyResult {
    orders(ir, op, MemSemantic::Release)
}

/// It writes, so it has nothing to acquire.
pub fn atomic_store(ir: &Ir, op: Op) -> VerifyResult {
    orders(ir, op, MemSemantic::Acquire)
}

/// A load has nothing to release, and a store nothing to acquire.
fn orders(ir: &Ir, op: Op, void: MemSemantic) -> VerifyResult {
    let sem = ir.get(op, view::AtomicRmw::ATTR.sem).unwrap_or(MemSemantic::Relaxed);
    ensure!(sem != void && sem != MemSemantic::AcqRel, "its memory semantics are `{sem}`, which has no meaning here");
    Ok(())
}

fn is_block(ptr: Type) -> bool {
    ptr.pointee().is_some_and(Type::is_tensor)
}

/// Boundary checks are for block pointers, along dimensions that they have, each once.
fn boundary(ir: &Ir, op: Op, ptr: Type) -> VerifyResult {
    let dims = ir.get(op, view::Load::ATTR.boundaryCheck).unwrap_or_default();
    let rank = ptr.pointee().map_or(0, Type::rank) as i64;
    ensure!(dims.is_empty() || is_block(ptr), "it checks boundaries, which only a pointer to a tensor has");
    for (at, dim) in dims.iter().enumerate() {
        ensure!((0..rank).contains(dim), "it checks the boundary of dimension {dim}, and the block has rank {rank}");
        ensure!(!dims[..at].contains(dim), "it checks the boundary of dimension {dim} twice");
    }
    Ok(())
}

/// A pointer to the block's elements, and an extent and a stride for each dimension.
pub fn make_tensor_descriptor(ir: &Ir, op: Op) -> VerifyResult {
    let (base, desc) = (operand_ty(ir, op, 0), result_ty(ir, op));
    ensure!(
        base.pointee() == Some(desc.elem()),
        "the base has type {base}, and the descriptor's elements have type {}",
        desc.elem()
    );
    for (name, group) in [("extents", 1), ("strides", 2)] {
        let found = ir.operand_group(op, group).len();
        ensure!(found == desc.rank(), "it has {found} {name}, and the descriptor has rank {}", desc.rank());
    }
    Ok(())
}

/// The result holds the block.
pub fn descriptor_load(ir: &Ir, op: Op) -> VerifyResult {
    block_fits(operand_ty(ir, op, 0), result_ty(ir, op))?;
    indices(ir, op, ir.operand_group(op, 1))
}

/// The source holds the block.
pub fn descriptor_store(ir: &Ir, op: Op) -> VerifyResult {
    block_fits(operand_ty(ir, op, 0), operand_ty(ir, op, 1))?;
    indices(ir, op, ir.operand_group(op, 2))
}

pub(super) fn block_fits(desc: Type, tensor: Type) -> VerifyResult {
    ensure!(
        desc.elem() == tensor.elem(),
        "the descriptor's elements have type {}, and the tensor's {}",
        desc.elem(),
        tensor.elem()
    );
    let (a, b) = (count(desc.shape()), count(tensor.shape()));
    ensure!(
        a.is_some() && a == b,
        "the descriptor's block is {desc} and the tensor {tensor}, expected as many elements"
    );
    Ok(())
}

fn indices(ir: &Ir, op: Op, found: &[Value]) -> VerifyResult {
    let rank = operand_ty(ir, op, 0).rank();
    ensure!(found.len() == rank, "it has {} indices, and the descriptor has rank {rank}", found.len());
    Ok(())
}

/// Rows picked by a vector of indices.
pub fn descriptor_gather(ir: &Ir, op: Op) -> VerifyResult {
    rows(operand_ty(ir, op, 0), operand_ty(ir, op, 1), result_ty(ir, op))
}

/// Rows written by a vector of indices.
pub fn descriptor_scatter(ir: &Ir, op: Op) -> VerifyResult {
    rows(operand_ty(ir, op, 0), operand_ty(ir, op, 1), operand_ty(ir, op, 3))
}

/// A descriptor of one row, n row numbers, n rows. The hardware moves at least 8 rows of 32 bytes, of elements up to 32
/// bits.
pub(super) fn rows(desc: Type, offsets: Type, tensor: Type) -> VerifyResult {
    ensure!(desc.rank() == 2 && desc.shape()[0] == 1, "the descriptor has type {desc}, expected a block of one row");
    ensure!(tensor.rank() == 2, "the tensor has type {tensor}, expected two dimensions");
    let (n, columns) = (tensor.shape()[0], tensor.shape()[1]);
    ensure!(n >= 8, "it moves {n} rows, expected at least 8");
    let bits = tensor
        .bit_width()
        .filter(|&b| b > 0 && b <= 32)
        .ok_or_else(|| format!("elements of type {} are too wide", tensor.elem()))?;
    let least = i64::from(32 / bits * 8);
    ensure!(columns >= least, "it moves {columns} columns of {}, expected at least {least}", tensor.elem());
    ensure!(n == offsets.shape()[0], "it has {} row numbers for {n} rows", offsets.shape()[0]);
    ensure!(columns == desc.shape()[1], "the tensor has {columns} columns, and the descriptor {}", desc.shape()[1]);
    ensure!(
        desc.elem() == tensor.elem(),
        "the descriptor's elements have type {}, and the tensor's {}",
        desc.elem(),
        tensor.elem()
    );
    Ok(())
}

/// A pointer to a block of what the base points at; extents, strides, offsets and order for each dimension.
pub fn make_tensor_ptr(ir: &Ir, op: Op) -> VerifyResult {
    let (base, result) = (operand_ty(ir, op, 0), result_ty(ir, op));
    let block = block_of(result)?;
    ensure!(
        base.pointee() == Some(block.elem()),
        "the base has type {base}, and the block has elements of type {}",
        block.elem()
    );
    for (name, group) in [("extents", 1), ("strides", 2), ("offsets", 3)] {
        let found = ir.operand_group(op, group).len();
        ensure!(found == block.rank(), "it has {found} {name}, and the block has rank {}", block.rank());
    }
    let order = view::MakeTensorPtr(op).order(ir).unwrap_or_default();
    let permutation = order.len() == block.rank() && (0..order.len()).all(|i| order.contains(&(i as i64)));
    ensure!(permutation, "order is {order:?}, expected each dimension of the block, of rank {}, once", block.rank());
    Ok(())
}

/// An offset for each dimension.
pub fn advance(ir: &Ir, op: Op) -> VerifyResult {
    let (rank, found) = (block_of(operand_ty(ir, op, 0))?.rank(), ir.operand_group(op, 1).len());
    ensure!(found == rank, "it has {found} offsets, and the block has rank {rank}");
    Ok(())
}

fn block_of(ptr: Type) -> Result<Type, String> {
    match *ptr {
        TypeData::Pointer { pointee, .. } if pointee.is_tensor() => Ok(pointee),
        _ => Err(format!("{ptr} is no pointer to a tensor")),
    }
}
