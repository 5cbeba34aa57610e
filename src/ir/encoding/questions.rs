//! What an encoding is, and what its fields say without a shape.
//!
//! A pass that works for any vendor asks here, and does not match on the encodings of one vendor's instructions. The
//! matches below have an arm for each encoding, so the compiler asks for the answers of a new one.
//!
//! ```text
//! #ttg.slice<{dim = 0, parent = #blocked}>      rank 1 where #blocked has rank 2
//! CGALayout = [[0, 1], [0, 2]]                  4 blocks of a cluster along axis 1
//! ```

use crate::ir::core::{Attr, Bases, Encoding, Type};

/// What an encoding lays out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A tensor in the registers of threads.
    Registers,
    /// A buffer in the memory that the threads of a block share.
    SharedMemory,
    /// A buffer in the memory of the tensor cores.
    TensorMemory,
}

/// What an encoding lays out.
#[must_use]
pub fn place(e: &Encoding) -> Place {
    match e {
        Encoding::Blocked(_)
        | Encoding::Slice { .. }
        | Encoding::DotOp { .. }
        | Encoding::NvidiaMma(_)
        | Encoding::AmdMfma(_)
        | Encoding::AmdWmma(_)
        | Encoding::Linear(_)
        | Encoding::GenericLinear(_) => Place::Registers,
        Encoding::SwizzledShared(_)
        | Encoding::AmdRotatingShared(_)
        | Encoding::NvmmaShared(_)
        | Encoding::SharedLinear { .. }
        | Encoding::PaddedShared(_) => Place::SharedMemory,
        Encoding::TensorMemory(_) | Encoding::TensorMemoryScales { .. } => Place::TensorMemory,
    }
}

/// Whether an encoding lays out a tensor in registers.
#[must_use]
pub fn is_distributed(e: &Encoding) -> bool {
    place(e) == Place::Registers
}

/// Whether an encoding lays out shared memory.
#[must_use]
pub fn is_shared(e: &Encoding) -> bool {
    place(e) == Place::SharedMemory
}

/// Whether an encoding is that of the result of a matrix instruction, which only the instruction chooses.
#[must_use]
pub fn is_matrix_result(e: &Encoding) -> bool {
    match e {
        Encoding::NvidiaMma(_) | Encoding::AmdMfma(_) | Encoding::AmdWmma(_) => true,
        Encoding::Blocked(_)
        | Encoding::Slice { .. }
        | Encoding::DotOp { .. }
        | Encoding::Linear(_)
        | Encoding::GenericLinear(_)
        | Encoding::SwizzledShared(_)
        | Encoding::AmdRotatingShared(_)
        | Encoding::NvmmaShared(_)
        | Encoding::SharedLinear { .. }
        | Encoding::PaddedShared(_)
        | Encoding::TensorMemory(_)
        | Encoding::TensorMemoryScales { .. } => false,
    }
}

/// Whether a type's layout is that of the result of a matrix instruction.
#[must_use]
pub fn has_matrix_result(ty: Type) -> bool {
    ty.layout().is_some_and(is_matrix_result)
}

/// Whether an encoding is that of an operand of a product, whoever multiplies.
#[must_use]
pub fn is_operand(e: &Encoding) -> bool {
    matches!(e, Encoding::DotOp { .. })
}

/// Whether a type's layout is that of an operand of a product, whoever multiplies.
#[must_use]
pub fn has_operand(ty: Type) -> bool {
    ty.layout().is_some_and(is_operand)
}

/// Whether an encoding is that of an operand of a matrix instruction.
#[must_use]
pub fn is_matrix_operand(e: &Encoding) -> bool {
    is_operand(e) && parent(e).and_then(Attr::as_encoding).is_some_and(is_matrix_result)
}

/// The encoding that this one is derived from.
#[must_use]
pub fn parent(e: &Encoding) -> Option<Attr> {
    match e {
        Encoding::Slice { parent, .. } | Encoding::DotOp { parent, .. } => Some(*parent),
        Encoding::Blocked(_)
        | Encoding::NvidiaMma(_)
        | Encoding::AmdMfma(_)
        | Encoding::AmdWmma(_)
        | Encoding::Linear(_)
        | Encoding::GenericLinear(_)
        | Encoding::SwizzledShared(_)
        | Encoding::AmdRotatingShared(_)
        | Encoding::NvmmaShared(_)
        | Encoding::SharedLinear { .. }
        | Encoding::PaddedShared(_)
        | Encoding::TensorMemory(_)
        | Encoding::TensorMemoryScales { .. } => None,
    }
}

/// Whether an encoding, or one that it is derived from, is a generic linear one, whose warps may move along several
/// axes at once.
#[must_use]
pub fn is_generic(encoding: Attr) -> bool {
    let whole = std::iter::successors(Some(encoding), |&e| parent(e.as_encoding()?));
    whole.into_iter().any(|e| matches!(e.as_encoding(), Some(Encoding::GenericLinear(_))))
}

/// The number of dimensions of an encoding, where its fields say it.
#[must_use]
pub fn rank_of(encoding: Attr) -> Option<usize> {
    Some(match encoding.as_encoding()? {
        Encoding::Blocked(b) => b.order.len(),
        Encoding::Slice { parent, .. } => rank_of(*parent)?.saturating_sub(1),
        Encoding::DotOp { parent, .. } => rank_of(*parent)?,
        Encoding::NvidiaMma(m) => m.warps_per_cta.len(),
        Encoding::AmdMfma(m) => m.warps_per_cta.len(),
        Encoding::AmdWmma(m) => m.rank as usize,
        Encoding::Linear(b) | Encoding::GenericLinear(b) => rank_of_bases(&[&b.register, &b.lane, &b.warp, &b.block])?,
        Encoding::SwizzledShared(s) | Encoding::AmdRotatingShared(s) => s.order.len(),
        Encoding::NvmmaShared(s) => s.rank as usize,
        Encoding::SharedLinear { offset, block, .. } => rank_of_bases(&[offset, block])?,
        Encoding::PaddedShared(p) => p.shape.len(),
        Encoding::TensorMemory(_) | Encoding::TensorMemoryScales { .. } => 2,
    })
}

/// The number of coordinates that bases have; `None` where there is no basis.
#[must_use]
pub fn rank_of_bases(lists: &[&Bases]) -> Option<usize> {
    lists.iter().find_map(|list| list.first()).map(Vec::len)
}

/// The order of the axes, fastest first, where an encoding of memory says it outright: a shape of size 1 along an axis
/// cannot show it.
#[must_use]
pub fn stated_order(encoding: Attr, rank: usize) -> Option<Vec<u32>> {
    match encoding.as_encoding()? {
        Encoding::SwizzledShared(e) | Encoding::AmdRotatingShared(e) => Some(e.order.clone()),
        Encoding::NvmmaShared(e) => Some(matrix_order(rank, !e.transposed)),
        Encoding::Blocked(_)
        | Encoding::Slice { .. }
        | Encoding::DotOp { .. }
        | Encoding::NvidiaMma(_)
        | Encoding::AmdMfma(_)
        | Encoding::AmdWmma(_)
        | Encoding::Linear(_)
        | Encoding::GenericLinear(_)
        | Encoding::SharedLinear { .. }
        | Encoding::PaddedShared(_)
        | Encoding::TensorMemory(_)
        | Encoding::TensorMemoryScales { .. } => None,
    }
}

/// The order of a batch of matrices `[…, m, n]`: the last axis fastest, or for column-major the one before it.
#[must_use]
pub fn matrix_order(rank: usize, row_major: bool) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rank as u32).rev().collect();
    if rank >= 2 && !row_major {
        order.swap(0, 1);
    }
    order
}

// ---- the blocks of a cluster ----

/// The bases of the blocks of a cluster, of an encoding that says them itself.
#[must_use]
pub fn stated_cga(e: &Encoding) -> Option<&Bases> {
    Some(match e {
        Encoding::Blocked(e) => &e.cga,
        Encoding::NvidiaMma(e) => &e.cga,
        Encoding::AmdMfma(e) => &e.cga,
        Encoding::AmdWmma(e) => &e.cga,
        Encoding::Linear(e) | Encoding::GenericLinear(e) => &e.block,
        Encoding::SwizzledShared(e) | Encoding::AmdRotatingShared(e) => &e.cga,
        Encoding::NvmmaShared(e) => &e.cga,
        Encoding::SharedLinear { block, .. } => block,
        Encoding::PaddedShared(e) => &e.block,
        Encoding::TensorMemory(e) => &e.cga,
        Encoding::TensorMemoryScales { cga, .. } => cga,
        Encoding::Slice { .. } | Encoding::DotOp { .. } => return None,
    })
}

/// How the blocks of a cluster share what a type describes: their bases, none where it has no layout.
///
/// They are those of the encoding, but: a slice has those of its parent without the coordinate that it removes; the
/// blocks do not share the axis along which an operand is summed up, so there its parent's are 0; and the coordinates
/// of a linear layout, which are those of elements, become numbers of blocks.
#[must_use]
pub fn cga_of(ty: Type) -> Bases {
    fn bases(encoding: Attr) -> Bases {
        match encoding.as_encoding() {
            Some(Encoding::Slice { dim, parent }) => {
                let kept = |b: &Vec<i32>| {
                    let others = b.iter().enumerate().filter(|&(axis, _)| axis != *dim as usize);
                    others.map(|(_, &coordinate)| coordinate).collect()
                };
                bases(*parent).iter().map(kept).collect()
            }
            Some(Encoding::DotOp { op_idx, parent, .. }) => {
                let mut cga = bases(*parent);
                for basis in &mut cga {
                    let summed = basis.len().checked_sub(if *op_idx == 0 { 1 } else { 2 });
                    summed.and_then(|axis| basis.get_mut(axis)).into_iter().for_each(|c| *c = 0);
                }
                cga
            }
            Some(Encoding::Linear(e) | Encoding::GenericLinear(e)) => numbered(&e.block),
            Some(stated) => stated_cga(stated).cloned().unwrap_or_default(),
            None => vec![],
        }
    }
    ty.encoding().map(bases).unwrap_or_default()
}

/// The bases of blocks with each axis counted in blocks: `[[64, 0], [128, 0], [0, 32]]` becomes
/// `[[1, 0], [2, 0], [0, 1]]`.
fn numbered(bases: &Bases) -> Bases {
    let below = |axis: usize, c: i32| bases.iter().filter(|b| (1..c).contains(&b[axis])).count();
    let number = |(axis, &c): (usize, &i32)| if c == 0 { 0 } else { 1 << below(axis, c).min(30) };
    bases.iter().map(|b| b.iter().enumerate().map(number).collect()).collect()
}

/// Into how many parts the blocks of a cluster cut an axis.
#[must_use]
pub fn split(cga: &[Vec<i32>], axis: usize) -> i64 {
    1 << cga.iter().filter(|b| b.get(axis).is_some_and(|&c| c != 0)).count().min(30)
}

/// One block's share of a shape along each axis; where there are more blocks than elements, some have the same one.
#[must_use]
pub fn share(shape: &[i64], cga: &[Vec<i32>]) -> Vec<i64> {
    shape.iter().enumerate().map(|(axis, &size)| (size / split(cga, axis)).max(1)).collect()
}
