//! Threads of a warp and of a block: their numbers, barriers, shuffles.
//!
//! # Shuffles
//! Lanes lie in rows of 16. Within a row an instruction can read its operand from another lane as it goes (DPP); beyond
//! that the words go through the crossbar of shared memory (`ds_swizzle`, `ds_bpermute`), or, with 32 lanes, from the
//! other row (`v_permlanex16`).
//!
//! | lanes that differ in | CDNA, 64 lanes | RDNA, 32 lanes |
//! |---|---|---|
//! | 1, 2, 3 | `quad_perm` | `row_xmask` |
//! | 7 and 15 | `row_half_mirror`, `row_mirror` | `row_xmask` |
//! | 8 | `row_ror:8` | `row_xmask` |
//! | other bits below 16 | two of these | `row_xmask` |
//! | 16 to 31 | `ds_swizzle` | `v_permlanex16` |
//! | 32 to 63 | `ds_bpermute` | |
//!
//! Example: lane 5 gets the word of lane 5 ^ 4 = 1 on CDNA as `quad_perm` (3) behind `row_half_mirror` (7), since
//! 7 ^ 3 = 4.
//!
//! "CDNA3 ISA" and "RDNA3 ISA", "Data Parallel Primitives"; "User Guide for AMDGPU Backend", `llvm.amdgcn.update.dpp`.

use inkwell::AddressSpace;
use inkwell::IntPredicate;
use inkwell::values::{InstructionOpcode, InstructionValue, IntValue, PointerValue};

use super::raw::{self, Ordering};
use crate::codegen::lower::{Lower, Res, as_int, defect};
use crate::codegen::machine::{Grid, Source, called};
use crate::ir::dialects::enums::ProgramDim;

/// LLVM's address space of memory that a kernel does not change.
const CONSTANT: u16 = 4;

/// What waits for every warp of the block.
const BARRIER: &str = "llvm.amdgcn.s.barrier";

/// Lanes of a row.
const ROW: u32 = 16;

/// The controls of DPP.
const ROW_MIRROR: u32 = 0x140;
const ROW_HALF_MIRROR: u32 = 0x141;
const ROW_ROR: u32 = 0x120;
const ROW_XMASK: u32 = 0x160;

/// The number of the thread in its block, which has one dimension: its lane, and its warp's number from a scalar
/// register. What depends on the warp alone is then computed once a warp, and takes no vector registers.
pub(super) fn thread_id<'c>(cx: &mut Lower<'c, '_>) -> Res<IntValue<'c>> {
    let thread = as_int(cx.intrinsic("llvm.amdgcn.workitem.id.x", &[], &[])?)?;
    if cx.num_warps == 1 {
        return Ok(thread);
    }
    let lanes = cx.options.target.warp_size();
    let shift = cx.i32(u64::from(lanes.trailing_zeros()));
    let warp = cx.b.build_right_shift(thread, shift, false, "")?;
    let warp = as_int(cx.intrinsic("llvm.amdgcn.readfirstlane", &[warp.get_type().into()], &[warp.into()])?)?;
    let lane = cx.b.build_and(thread, cx.i32(u64::from(lanes - 1)), "")?;
    let first = cx.b.build_left_shift(warp, shift, "")?;
    Ok(cx.b.build_or(first, lane, "")?)
}

/// The number of the program, or how many there are. The latter stands first among the arguments that the runtime adds
/// to a kernel's own, three words for three axes ("User Guide for AMDGPU Backend", "Code Object V5 Metadata",
/// `hidden_block_count_x`).
pub(super) fn grid<'c>(cx: &mut Lower<'c, '_>, what: Grid, axis: ProgramDim) -> Res<IntValue<'c>> {
    if what == Grid::ProgramId {
        return as_int(cx.intrinsic(&format!("llvm.amdgcn.workgroup.id.{axis}"), &[], &[])?);
    }
    let place = match axis {
        ProgramDim::X => 0,
        ProgramDim::Y => 4,
        ProgramDim::Z => 8,
    };
    let at = hidden_argument(cx, place)?;
    as_int(cx.b.build_load(cx.int_type(32), at, "")?)
}

/// Where an argument lies that the runtime adds behind the kernel's own ("User Guide for AMDGPU Backend", "Code Object
/// V5 Metadata", `hidden_…`).
pub(super) fn hidden_argument<'c>(cx: &mut Lower<'c, '_>, place: u64) -> Res<PointerValue<'c>> {
    let hidden = cx.intrinsic("llvm.amdgcn.implicitarg.ptr", &[], &[])?;
    let at = hidden.into_pointer_value();
    debug_assert_eq!(at.get_type().get_address_space(), AddressSpace::from(CONSTANT));
    // SAFETY: the arguments that the runtime adds have more bytes than that.
    Ok(unsafe { cx.b.build_in_bounds_gep(cx.llvm.i8_type(), at, &[cx.i32(place)], "")? })
}

/// Waits for all warps of the block. What they wrote to shared memory is there behind it; memory of other kinds stays
/// as it is.
pub(super) fn barrier(cx: &mut Lower<'_, '_>) -> Res<()> {
    around(cx, raw::BLOCK, BARRIER)
}

/// The lanes of a warp run in step and their accesses to shared memory stay in order, so this only keeps LLVM from
/// changing that order.
pub(super) fn warp_barrier(cx: &mut Lower<'_, '_>) -> Res<()> {
    around(cx, raw::WARP, "llvm.amdgcn.wave.barrier")
}

/// A call between fences of shared memory.
fn around(cx: &mut Lower<'_, '_>, scope: &str, intrinsic: &str) -> Res<()> {
    raw::fence(cx, Ordering::LLVMAtomicOrderingRelease, scope, true)?;
    cx.effect(intrinsic, &[], &[])?;
    raw::fence(cx, Ordering::LLVMAtomicOrderingAcquire, scope, true)
}

/// Whether code ends with what [`barrier`] made: the fence behind a barrier.
pub(super) fn ends_with_barrier(last: InstructionValue<'_>) -> bool {
    let call = last.get_previous_instruction().filter(|_| last.get_opcode() == InstructionOpcode::Fence);
    call.and_then(called).is_some_and(|name| name == BARRIER)
}

/// The word that another lane has; see the module documentation.
pub(super) fn shuffle<'c>(cx: &mut Lower<'c, '_>, word: IntValue<'c>, from: Source<'c>) -> Res<IntValue<'c>> {
    match from {
        Source::Flip(mask) => flipped(cx, word, mask),
        Source::Lane(lane) if lane.is_const() => {
            as_int(cx.intrinsic("llvm.amdgcn.readlane", &[word.get_type().into()], &[word.into(), lane.into()])?)
        }
        Source::Lane(lane) => {
            let lane = cx.b.build_and(lane, cx.i32(u64::from(cx.options.target.warp_size() - 1)), "")?;
            from_lane(cx, word, lane)
        }
        Source::Set { bits, to } => {
            let own = cx.b.build_and(cx.thread_id(), cx.i32(u64::from(!bits)), "")?;
            let lane = cx.b.build_or(own, cx.i32(u64::from(to)), "")?;
            shuffle(cx, word, Source::Lane(lane))
        }
        Source::Below(distance) => {
            let (lane, distance) = (cx.lane_id()?, cx.i32(u64::from(distance)));
            let other = cx.b.build_int_sub(lane, distance, "")?;
            let exists = cx.b.build_int_compare(IntPredicate::UGE, lane, distance, "")?;
            shifted(cx, word, exists, other)
        }
        Source::Above(distance) => {
            let lane = cx.lane_id()?;
            let other = cx.b.build_int_add(lane, cx.i32(u64::from(distance)), "")?;
            let lanes = cx.i32(u64::from(cx.options.target.warp_size()));
            let exists = cx.b.build_int_compare(IntPredicate::ULT, other, lanes, "")?;
            shifted(cx, word, exists, other)
        }
    }
}

/// The word of a lane that may not exist; then the lane's own.
fn shifted<'c>(
    cx: &mut Lower<'c, '_>,
    word: IntValue<'c>,
    exists: IntValue<'c>,
    other: IntValue<'c>,
) -> Res<IntValue<'c>> {
    let own = cx.lane_id()?;
    let lane = cx.b.build_select(exists, other, own, "")?.into_int_value();
    from_lane(cx, word, lane)
}

/// `ds_bpermute`: the address is the lane's number times four.
fn from_lane<'c>(cx: &mut Lower<'c, '_>, word: IntValue<'c>, lane: IntValue<'c>) -> Res<IntValue<'c>> {
    let address = cx.b.build_left_shift(lane, cx.i32(2), "")?;
    as_int(cx.intrinsic("llvm.amdgcn.ds.bpermute", &[], &[address.into(), word.into()])?)
}

fn flipped<'c>(cx: &mut Lower<'c, '_>, word: IntValue<'c>, mask: u32) -> Res<IntValue<'c>> {
    let lanes = cx.options.target.warp_size();
    if mask >= lanes {
        return Err(defect("a shuffle beyond the warp"));
    }
    if cx.options.target.has_row_xmask() {
        return match mask {
            0 => Ok(word),
            1..ROW => dpp(cx, word, ROW_XMASK + mask),
            _ => other_row(cx, word, mask % ROW),
        };
    }
    match mask {
        0 => Ok(word),
        1..ROW => dpp_steps(mask).iter().try_fold(word, |word, &control| dpp(cx, word, control)),
        // `ds_swizzle` in its mode of bits: the lane's number and 0x1f, or 0, flipped by the mask, within 32 lanes.
        ROW..32 => {
            let pattern = cx.i32(u64::from(mask << 10 | 0x1f));
            as_int(cx.intrinsic("llvm.amdgcn.ds.swizzle", &[], &[word.into(), pattern.into()])?)
        }
        _ => {
            let lane = cx.lane_id()?;
            let other = cx.b.build_xor(lane, cx.i32(u64::from(mask)), "")?;
            from_lane(cx, word, other)
        }
    }
}

/// The controls whose flips together are the mask, which is below 16.
fn dpp_steps(mask: u32) -> Vec<u32> {
    let (coarse, control) = match mask >> 2 {
        0 => (0, None),
        1 => (7, Some(ROW_HALF_MIRROR)),
        2 => (8, Some(ROW_ROR + 8)),
        _ => (15, Some(ROW_MIRROR)),
    };
    let fine = mask ^ coarse;
    // `quad_perm` has two bits for each of four lanes.
    let quad = (0..4).fold(0, |all, lane| all | (lane ^ fine) << (2 * lane));
    control.into_iter().chain((fine != 0).then_some(quad)).collect()
}

/// Moves a word by DPP; all lanes take part.
fn dpp<'c>(cx: &mut Lower<'c, '_>, word: IntValue<'c>, control: u32) -> Res<IntValue<'c>> {
    let (all, bounded) = (cx.i32(0xf), cx.llvm.bool_type().const_int(1, false));
    let old = word.get_type().get_undef();
    let args = [old.into(), word.into(), cx.i32(u64::from(control)).into(), all.into(), all.into(), bounded.into()];
    as_int(cx.intrinsic("llvm.amdgcn.update.dpp", &[word.get_type().into()], &args)?)
}

/// `v_permlanex16`: each lane of a row picks a lane of the other one, by four bits of two words.
fn other_row<'c>(cx: &mut Lower<'c, '_>, word: IntValue<'c>, mask: u32) -> Res<IntValue<'c>> {
    let pick = |first: u32| (0..8).fold(0u32, |all, i| all | ((first + i) ^ mask) << (4 * i));
    let (low, high) = (cx.i32(u64::from(pick(0))), cx.i32(u64::from(pick(8))));
    let no = cx.llvm.bool_type().const_zero();
    let old = word.get_type().get_undef();
    let args = [old.into(), word.into(), low.into(), high.into(), no.into(), no.into()];
    as_int(cx.intrinsic("llvm.amdgcn.permlanex16", &[word.get_type().into()], &args)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lane that a control reads from.
    fn source(control: u32, lane: u32) -> u32 {
        match control {
            ROW_MIRROR => lane ^ 15,
            ROW_HALF_MIRROR => lane ^ 7,
            c if c == ROW_ROR + 8 => (lane + 8) % ROW,
            quad => lane & !3 | quad >> (2 * (lane & 3)) & 3,
        }
    }

    #[test]
    fn the_steps_flip_the_bits_of_the_mask() {
        for mask in 1..ROW {
            let steps = dpp_steps(mask);
            assert!((1..=2).contains(&steps.len()), "{mask}");
            for lane in 0..ROW {
                let from = steps.iter().rev().fold(lane, |lane, &control| source(control, lane));
                assert_eq!(from, lane ^ mask, "{mask}");
            }
        }
    }
}
