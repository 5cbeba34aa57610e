//! Which asynchronous copies go from global straight to shared memory, and in which instructions.
//!
//! An instruction copies 4 or, on CDNA4, 16 bytes for each lane of a warp. The address in shared memory is one for the
//! warp: lane `l` writes behind it, at `l` times these bytes ("CDNA4 ISA", "Data Share", "Memory loads to LDS").
//!
//! # Algorithm
//!
//! 1. A lane's registers are cut into parts of 16 or 4 bytes that lie side by side in global and in shared memory.
//! 2. A part of all lanes must be one run of bytes in shared memory ([`DirectCopy::lanes`]). Lanes may lie in it in any
//!    linear order, as swizzling mixes them: then each lane copies what another lane has the address of. Padding must
//!    be outside the run.
//! 3. Where that does not hold, and for views of a part of a buffer, the copy goes through registers.
//!
//! Example: 64 lanes with 8 halves each, row by row in a row-major buffer: one instruction of 16 bytes a lane, lane 3
//! at byte 48.

use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::analysis::shared_accesses::run_of;
use crate::ir::core::{Encoding, Ir, Op};
use crate::ir::dialects::ttg::ttg::AsyncCopyGlobalToLocal;
use crate::layout::plan::SharedAccess;
use crate::layout::{Dim, free_variable_masks, layout_of};
use crate::target::Target;

/// How a copy is made.
pub(crate) struct DirectCopy {
    /// Bytes of a lane in one instruction.
    pub(crate) bytes: u32,
    /// Elements of a lane in one instruction.
    pub(crate) count: usize,
    pub(crate) access: SharedAccess,
    pub(crate) pieces: Vec<Piece>,
    /// For each bit of a lane's number, the place in the run, in units of `bytes`, to which it moves the lane's part.
    pub(crate) lanes: Vec<u32>,
}

/// One instruction: the first of the lane's registers, and the register's part of the address in bytes.
pub(crate) struct Piece {
    pub(crate) first: usize,
    pub(crate) offset: u32,
}

impl DirectCopy {
    /// The bytes that one instruction copies for a warp.
    pub(crate) fn run(&self) -> u32 {
        self.bytes << self.lanes.len()
    }

    /// Whether each lane writes what it has the address of.
    pub(crate) fn keeps_lanes(&self) -> bool {
        let map = self.access.address_map();
        let warps = (0..map.in_bits(Dim::Warp) as usize).map(|bit| map.basis(Dim::Warp, bit, Dim::Offset));
        let others = warps.chain(self.pieces.iter().map(|p| p.offset)).fold(0, |all, offset| all | offset);
        self.lanes.iter().enumerate().all(|(bit, &place)| place == 1 << bit) && others & (self.run() - 1) == 0
    }
}

/// How many elements of these bits a lane can copy at once, given that it holds so many neighbours; 0 if it cannot.
pub(crate) fn widest(held: u32, bits: u32) -> u32 {
    let fits = |count: u32| count * bits == 128 || count * bits == 32;
    std::iter::successors(Some(held), |&n| Some(n / 2)).take_while(|&n| n > 0).find(|&n| fits(n)).unwrap_or(0)
}

/// How many instructions every warp issues for a copy, whatever its mask: those with a mask, and those that not all
/// warps take part in, do not count.
pub(crate) fn certain_instructions(ir: &Ir, axis: &AxisInfoAnalysis, target: &Target, op: Op) -> u32 {
    let Some(copy) = AsyncCopyGlobalToLocal::of(ir, op).filter(|copy| copy.mask(ir).is_none()) else { return 0 };
    let all_take_part = layout_of(ir.ty(copy.src(ir))).is_ok_and(|layout| free_variable_masks(layout).warp == 0);
    let made = of(ir, axis, target, copy).filter(|_| all_take_part);
    made.map_or(0, |made| u32::try_from(made.pieces.len()).unwrap_or(0))
}

/// How a copy is made, if the hardware can.
pub(crate) fn of(
    ir: &Ir,
    axis: &AxisInfoAnalysis,
    target: &Target,
    copy: AsyncCopyGlobalToLocal,
) -> Option<DirectCopy> {
    let (src, buffer) = (copy.src(ir), ir.ty(copy.result(ir)));
    let desc = buffer.as_memdesc()?;
    let (registers, shared) = (layout_of(ir.ty(src)).ok()?, layout_of(buffer).ok()?);
    if !desc.alloc_shape.ends_with(&desc.shape) || shared.out_dims().count() != desc.shape.len() {
        return None;
    }
    let access = SharedAccess::new(registers, shared, desc.elem.bit_width()?, 0, &target.shared).ok()?;
    let access = match desc.encoding.as_encoding()? {
        Encoding::PaddedShared(e) => access.padded(&e.intervals).ok()?,
        _ => access,
    };
    let element = access.access_bytes() / access.vec() as u32;
    let adjacent = run_of(ir, copy, axis);
    target.direct_copy_bytes().iter().find_map(|&bytes| {
        let count = (bytes / element) as usize;
        if count == 0 || count > adjacent as usize || count > access.vec() {
            return None;
        }
        let (pieces, lanes) = (pieces(&access, bytes, count)?, lanes(&access, bytes, target)?);
        Some(DirectCopy { bytes, count, access: access.clone(), pieces, lanes })
    })
}

/// Step 1.
fn pieces(access: &SharedAccess, bytes: u32, count: usize) -> Option<Vec<Piece>> {
    let mut pieces = vec![];
    for step in access.accesses() {
        for (i, registers) in step.registers.chunks(count).enumerate() {
            let first = registers[0];
            // In global memory a run starts at a multiple of its length.
            if !first.is_multiple_of(count) || registers.iter().enumerate().any(|(k, &r)| r != first + k) {
                return None;
            }
            pieces.push(Piece { first, offset: step.offset + i as u32 * bytes });
        }
    }
    Some(pieces)
}

/// Step 2.
fn lanes(access: &SharedAccess, bytes: u32, target: &Target) -> Option<Vec<u32>> {
    let map = access.address_map();
    let bits = target.warp_size().trailing_zeros() as usize;
    if map.in_bits(Dim::Lane) as usize != bits {
        return None;
    }
    let places: Vec<u32> = (0..bits).map(|bit| map.basis(Dim::Lane, bit, Dim::Offset)).collect();
    let run = bytes << bits;
    if places.iter().any(|&p| p % bytes != 0 || p >= run) || access.padding().iter().any(|&(i, _)| i < run) {
        return None;
    }
    let places: Vec<u32> = places.iter().map(|p| p / bytes).collect();
    inverse(&places).map(|_| places)
}

/// The columns of the inverse of a linear map over bits, if it has one.
pub(crate) fn inverse(columns: &[u32]) -> Option<Vec<u32>> {
    let image = |lane: u32| {
        let set = columns.iter().enumerate().filter(|(bit, _)| lane >> bit & 1 == 1);
        set.fold(0, |all, (_, &column)| all ^ column)
    };
    (0..columns.len()).map(|bit| (0..1u32 << columns.len()).find(|&lane| image(lane) == 1 << bit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_swizzled_lanes_leads_back() {
        let columns = [1, 2, 4, 8 ^ 1, 16 ^ 2, 32 ^ 4];
        let back = inverse(&columns).unwrap();
        let through = |columns: &[u32], lane: u32| {
            (0..6).filter(|bit| lane >> bit & 1 == 1).fold(0, |all, bit| all ^ columns[bit as usize])
        };
        assert!((0..64).all(|lane| through(&back, through(&columns, lane)) == lane));
        assert_eq!(inverse(&[1, 1]), None);
    }

    #[test]
    fn a_lane_copies_4_or_16_bytes() {
        assert_eq!([widest(8, 16), widest(16, 16), widest(4, 16), widest(1, 16), widest(4, 32)], [8, 8, 2, 0, 4]);
    }
}
