//! Asynchronous copies from global to shared memory (`global_load_lds`).
//!
//! 1. [`direct_copies`] says which instructions a copy is. The address in shared memory is that of the warp's run, a
//!    scalar; each lane gives an address in global memory.
//! 2. Where the layouts mix lanes, lane `l` copies the element whose place is `l`: its address and its mask come from
//!    the lane that has them.
//! 3. A masked copy is in a branch. What `other` gives is stored where the mask is false.
//! 4. Waits count instructions (`s_waitcnt vmcnt`). Copies and loads behind such a wait are marked as apart from each
//!    other, or else LLVM would wait for all copies in front of each load from shared memory.
//!
//! ```text
//! call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %from, ptr addrspace(3) %run, i32 16, i32 0, i32 0)
//! call void @llvm.amdgcn.s.waitcnt(i32 3952)        at most 0 under way
//! ```
//!
//! "CDNA4 ISA", "Memory loads to LDS"; "User Guide for AMDGPU Backend", `llvm.amdgcn.global.load.lds`.

use std::collections::BTreeSet;

use inkwell::values::{InstructionOpcode, InstructionValue, IntValue, MetadataValue, PointerValue};

use super::raw::SPACES;
use super::{memory, threads};
use crate::analysis::flow::handed_from;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::machine::Source;
use crate::codegen::ops::memory::{owner, register};
use crate::ir::dialects::TtgOp;
use crate::ir::dialects::discardable::COPIES_BEHIND;
use crate::ir::dialects::enums::CacheModifier;
use crate::ir::dialects::ttg::ttg as view;
use crate::ir::{Ir, Op, Value};
use crate::layout::{Dim, FreeMasks, free_variable_masks};
use crate::passes::amd::direct_copies::{self, DirectCopy, Piece};

/// A wait for all instructions: the fields of the other counters, which are not waited for, and the most that the
/// counter of copies holds ("CDNA4 ISA", `S_WAITCNT`).
const OTHER_COUNTERS: u64 = 7 << 4 | 0xf << 8;
const MOST_COPIES: u64 = 63;

/// The copies of an operation, and what all of them need.
struct Copies<'c> {
    made: DirectCopy,
    base: PointerValue<'c>,
    /// The thread's part of the address in bytes, in front of the padding.
    thread: IntValue<'c>,
    owner: Option<IntValue<'c>>,
    aux: IntValue<'c>,
}

/// `ttg.async_copy_global_to_local`, if the hardware can; whether it could.
pub(super) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<bool> {
    let view = view::AsyncCopyGlobalToLocal(op);
    let (src, target) = (view.src(cx.ir), view.result(cx.ir));
    let Some(made) = direct_copies::of(cx.ir, &cx.prepared.axis, &cx.options.target, view) else { return Ok(false) };
    let base = cx.view(target)?.base;
    let (thread, _) = cx.thread_part(made.access.address_map(), Dim::Offset)?;
    let free = FreeMasks { block: 0, ..free_variable_masks(Lower::layout(cx.ir.ty(src))?) };
    let owner = owner(cx, free)?;
    let streams = matches!(view.cache(cx.ir), Some(CacheModifier::Cg | CacheModifier::Cs));
    let aux = cx.i32(if streams { 2 } else { 0 });
    let copies = Copies { made, base, thread, owner, aux };
    let (ptrs, masks) = (cx.get(src)?, view.mask(cx.ir).map(|m| cx.get(m)).transpose()?);
    let others = view.other(cx.ir).map(|o| cx.get(o)).transpose()?;
    for piece in &copies.made.pieces {
        let mask = masks.as_ref().map(|m| as_int(register(m, piece.first)?)).transpose()?;
        copies.copy(cx, piece, register(&ptrs, piece.first)?, mask)?;
        if let (Some(mask), Some(others)) = (mask, &others) {
            let values = others.get(piece.first..piece.first + copies.made.count);
            let values = values.ok_or_else(|| defect("`other` has too few registers"))?;
            copies.fill(cx, piece, mask, values)?;
        }
    }
    cx.set(cx.ir.result(op), vec![]);
    Ok(true)
}

impl<'c> Copies<'c> {
    /// Where this lane's part of a piece lies, in bytes in front of the padding.
    fn place(&self, cx: &Lower<'c, '_>, piece: &Piece) -> Res<IntValue<'c>> {
        Ok(cx.b.build_xor(self.thread, cx.i32(u64::from(piece.offset)), "")?)
    }

    /// One instruction.
    fn copy(&self, cx: &mut Lower<'c, '_>, piece: &Piece, from: Val<'c>, mask: Option<IntValue<'c>>) -> Res<()> {
        let place = self.place(cx, piece)?;
        let start = cx.b.build_and(place, cx.i32(u64::from(!(self.made.run() - 1))), "")?;
        let start = cx.padded(self.made.access.padding(), start)?;
        let start = cx.intrinsic("llvm.amdgcn.readfirstlane", &[start.get_type().into()], &[start.into()])?;
        let to = cx.shared_at(self.base, as_int(start)?)?;
        let (from, mask) = if self.made.keeps_lanes() { (from, mask) } else { self.exchanged(cx, place, from, mask)? };
        let pred = match (mask, self.owner) {
            (Some(mask), Some(owner)) => Some(cx.b.build_and(mask, owner, "")?),
            (one, other) => one.or(other),
        };
        memory::guarded(cx, pred.map(Val::from), |cx| {
            let bytes = cx.i32(u64::from(self.made.bytes));
            let args = [from, to.into(), bytes.into(), cx.i32(0).into(), self.aux.into()];
            cx.effect("llvm.amdgcn.global.load.lds", &[], &args)?;
            let call = cx.b.get_insert_block().and_then(inkwell::basic_block::BasicBlock::get_last_instruction);
            call.map_or(Ok(()), |call| set_scopes(cx, call, Some(COPIES), None))
        })
    }

    /// The address and the mask of the lane whose part lies at this lane's place (step 2). The lane's own part lies at
    /// `M·lane ⊕ rest`, so that lane is `M⁻¹·(own lane ⊕ rest)`.
    fn exchanged(
        &self,
        cx: &mut Lower<'c, '_>,
        place: IntValue<'c>,
        from: Val<'c>,
        mask: Option<IntValue<'c>>,
    ) -> Res<(Val<'c>, Option<IntValue<'c>>)> {
        let back = direct_copies::inverse(&self.made.lanes).ok_or_else(|| defect("lanes that share a place"))?;
        let lane = cx.lane_id()?;
        let unit = cx.i32(u64::from(self.made.bytes.trailing_zeros()));
        let own = cx.b.build_right_shift(place, unit, false, "")?;
        let own = cx.b.build_and(own, cx.i32(u64::from(cx.options.target.warp_size() - 1)), "")?;
        let differs = cx.b.build_xor(own, lane, "")?;
        let source = cx.xor_image(lane, differs, &back)?;
        let moved = |cx: &mut Lower<'c, '_>, word| threads::shuffle(cx, word, Source::Lane(source));
        let address = cx.b.build_ptr_to_int(from.into_pointer_value(), cx.int_type(64), "")?;
        let low = cx.b.build_int_truncate(address, cx.int_type(32), "")?;
        let high = cx.b.build_right_shift(address, cx.int_type(64).const_int(32, false), false, "")?;
        let high = cx.b.build_int_truncate(high, cx.int_type(32), "")?;
        let (low, high) = (moved(cx, low)?, moved(cx, high)?);
        let (low, high) =
            (cx.b.build_int_z_extend(low, cx.int_type(64), "")?, cx.b.build_int_z_extend(high, cx.int_type(64), "")?);
        let high = cx.b.build_left_shift(high, cx.int_type(64).const_int(32, false), "")?;
        let address = cx.b.build_or(high, low, "")?;
        let from = cx.b.build_int_to_ptr(address, from.get_type().into_pointer_type(), "")?;
        let Some(mask) = mask else { return Ok((from.into(), None)) };
        let mask = cx.b.build_int_z_extend(mask, cx.int_type(32), "")?;
        let mask = moved(cx, mask)?;
        Ok((from.into(), Some(cx.b.build_int_truncate(mask, cx.llvm.bool_type(), "")?)))
    }

    /// Stores what stands for a part that is masked off.
    fn fill(&self, cx: &mut Lower<'c, '_>, piece: &Piece, mask: IntValue<'c>, values: &[Val<'c>]) -> Res<()> {
        let place = self.place(cx, piece)?;
        let place = cx.padded(self.made.access.padding(), place)?;
        let to = cx.shared_at(self.base, place)?;
        let rest = cx.b.build_not(mask, "")?;
        let pred = match self.owner {
            Some(owner) => cx.b.build_and(rest, owner, "")?,
            None => rest,
        };
        let stored = values.iter().map(|&v| cx.as_stored(v)).collect::<Res<Vec<_>>>()?;
        memory::guarded(cx, Some(pred.into()), |cx| {
            cx.store_shared(to, &stored)?;
            // Other lanes' bytes: LLVM need not wait for the copy in front.
            let store = cx.b.get_insert_block().and_then(inkwell::basic_block::BasicBlock::get_last_instruction);
            let store = store.filter(|i| i.get_opcode() == InstructionOpcode::Store);
            store.map_or(Ok(()), |store| set_scopes(cx, store, Some(LOADS), Some(COPIES)))
        })
    }
}

/// `ttg.async_wait`, where copies go straight to shared memory.
pub(super) fn wait(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    if cx.options.target.direct_copy_bytes().is_empty() {
        return Ok(());
    }
    let behind = cx.ir.get(op, COPIES_BEHIND).and_then(|n| u64::try_from(n).ok()).unwrap_or(0).min(MOST_COPIES);
    // Four bits of the counter are the lowest of the word, two the highest.
    let count = cx.i32(behind & 0xf | behind >> 4 << 14 | OTHER_COUNTERS);
    cx.effect("llvm.amdgcn.s.waitcnt", &[], &[count.into()])
}

/// The names of the scopes of aliasing.
const COPIES: &str = "ttc.copies";
const LOADS: &str = "ttc.loads";

/// A scope of the one domain, as a list.
fn scope<'c>(cx: &Lower<'c, '_>, name: &str) -> MetadataValue<'c> {
    let domain = cx.llvm.metadata_node(&[cx.llvm.metadata_string("ttc.shared").into()]);
    let scope = cx.llvm.metadata_node(&[cx.llvm.metadata_string(name).into(), domain.into()]);
    cx.llvm.metadata_node(&[scope.into()])
}

fn set_scopes(
    cx: &Lower<'_, '_>,
    instruction: InstructionValue<'_>,
    own: Option<&str>,
    apart: Option<&str>,
) -> Res<()> {
    for (kind, name) in [("alias.scope", own), ("noalias", apart)] {
        if let Some(name) = name {
            instruction.set_metadata(scope(cx, name), cx.llvm.get_kind_id(kind)).map_err(defect)?;
        }
    }
    Ok(())
}

/// Whether a token comes from waits alone, be it through loops and branches.
fn is_waited_for(ir: &Ir, token: Value) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![token]);
    while let Some(token) = open.pop() {
        if !seen.insert(token) {
            continue;
        }
        match handed_from(ir, token) {
            Some(from) if !from.is_empty() => open.extend(from),
            _ if ir.def_op(token).is_some_and(|op| ir.is(op, TtgOp::AsyncWait)) => {}
            _ => return false,
        }
    }
    true
}

/// Marks the loads from shared memory behind an instruction, or from the start of the block on, as apart from copies
/// under way, if their token says that a wait is in front of them.
pub(super) fn mark_loads(cx: &Lower<'_, '_>, token: Option<Value>, behind: Option<InstructionValue<'_>>) -> Res<()> {
    let direct = !cx.options.target.direct_copy_bytes().is_empty();
    if !direct || !token.is_some_and(|token| is_waited_for(cx.ir, token)) {
        return Ok(());
    }
    let first = match behind {
        Some(instruction) => instruction.get_next_instruction(),
        None => cx.b.get_insert_block().and_then(inkwell::basic_block::BasicBlock::get_first_instruction),
    };
    for instruction in std::iter::successors(first, |i| i.get_next_instruction()) {
        let from_shared = || {
            let address = instruction.get_operand(0).and_then(inkwell::values::Operand::value);
            address
                .is_some_and(|a| a.is_pointer_value() && space_of(a.into_pointer_value()) == u32::from(SPACES.shared))
        };
        if instruction.get_opcode() == InstructionOpcode::Load && from_shared() {
            set_scopes(cx, instruction, Some(LOADS), Some(COPIES))?;
        }
    }
    Ok(())
}

fn space_of(pointer: PointerValue<'_>) -> u32 {
    let bits: inkwell::AddressSpace = pointer.get_type().get_address_space();
    (0..16u16).find(|&n| inkwell::AddressSpace::from(n) == bits).map_or(u32::MAX, u32::from)
}
