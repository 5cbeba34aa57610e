//! Emission of the accesses between registers and shared memory that `layout::plan::SharedAccess` describes.
//!
//! 1. The thread's part of the address comes from its number, once for all accesses.
//! 2. The register's constant is split: bits that the thread's part can set are combined by exclusive or, once for each
//!    value; the others are an addition, which becomes the constant of the address.
//! 3. Elements that are no whole bytes, and pointers, lie in memory as integers.
//! 4. Where several warps hold the same elements, the first of them stores. Copies within a warp cost nothing: they are
//!    one word of one wavefront.
//! 5. Padding is added to the finished offset. The constants that are additions have no bit in common with the rest, so
//!    theirs is added to them beforehand.
//! 6. Of an access that leaves the block, the address is taken over to the block that the thread and the register give,
//!    once for each row and block.
//!
//! Example: thread part `(tid & 31) << 4 ⊕ (tid & 7) << 4`, constants 0, 16, 512: addresses `t`, `t ⊕ 16`, `t + 512`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use inkwell::IntPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, FunctionValue, InstructionOpcode as I, IntValue, PointerValue};

use super::bits::bits_as;
use super::lower::{Lower, Res, Val, as_int, defect};
use super::operands_behind::operands_behind;
use crate::ir::core::Value;
use crate::layout::Dim;
use crate::layout::plan::{AccessStep, Form, SharedAccess};

/// Registers of a thread from which on its stores to shared memory, or their operands, are many ([`Lower::as_owner`]).
const MANY: usize = 64;

/// The addresses of the accesses of one layout.
pub(crate) struct SharedAddresses<'c> {
    /// Bits that the thread's part can set.
    reached: u32,
    /// The thread's part combined by exclusive or with each constant of these bits, in the blocks whose numbers the
    /// thread's part gives combined with these.
    rows: BTreeMap<(u32, u32), PointerValue<'c>>,
    /// [`SharedAccess::padding`].
    padding: Vec<(u32, u32)>,
}

/// What padding makes of an offset in bytes.
fn padded(padding: &[(u32, u32)], offset: u32) -> u32 {
    padding.iter().fold(offset, |at, &(interval, bytes)| at + offset / interval * bytes)
}

impl<'c> Lower<'c, '_> {
    /// Prepares the addresses of `access` in the shared memory at `base`. `foreign` is combined with every address by
    /// exclusive or, in bytes, with the bits that it can set: the start of a view in a swizzled layout.
    pub(crate) fn shared_addresses(
        &mut self,
        access: &SharedAccess,
        base: PointerValue<'c>,
        foreign: Option<(IntValue<'c>, u64)>,
    ) -> Res<SharedAddresses<'c>> {
        let (mut thread, mut reached) = self.thread_part(access.address_map(), Dim::Offset)?;
        if let Some((value, bits)) = foreign {
            (thread, reached) = self.combine(thread, reached, value, bits)?;
        }
        let holder = access.block_map().map(|map| self.thread_part(map, Dim::Block)).transpose()?;
        let mut rows = BTreeMap::new();
        for (mixed, block) in access.accesses().iter().map(|a| (a.offset & reached as u32, a.block)) {
            if let Entry::Vacant(row) = rows.entry((mixed, block)) {
                let bytes =
                    if mixed == 0 { thread } else { self.b.build_xor(thread, self.i32(u64::from(mixed)), "")? };
                let bytes = self.padded(access.padding(), bytes)?;
                let mut address = self.shared_at(base, bytes)?;
                if let Some((holder, reached)) = holder {
                    let constant = self.i32(u64::from(block));
                    let (number, _) = self.combine(holder, reached, constant, u64::from(block))?;
                    address = self.machine.in_block(self, address, number)?;
                }
                row.insert(address);
            }
        }
        Ok(SharedAddresses { reached: reached as u32, rows, padding: access.padding().to_vec() })
    }

    /// An offset in bytes with the padding in front of it.
    pub(crate) fn padded(&self, padding: &[(u32, u32)], offset: IntValue<'c>) -> Res<IntValue<'c>> {
        let shift = |n: u32| self.i32(u64::from(n.trailing_zeros()));
        padding.iter().try_fold(offset, |at, &(interval, bytes)| {
            let whole = self.b.build_right_shift(offset, shift(interval), false, "")?;
            Ok(self.b.build_int_add(at, self.b.build_left_shift(whole, shift(bytes), "")?, "")?)
        })
    }

    /// An address in shared memory as 32 bits.
    pub(crate) fn shared_address_bits(&self, ptr: PointerValue<'c>) -> Res<IntValue<'c>> {
        Ok(self.b.build_ptr_to_int(ptr, self.int_type(32), "")?)
    }

    /// The address of one access.
    pub(crate) fn shared_address(
        &mut self,
        at: &SharedAddresses<'c>,
        offset: u32,
        block: u32,
    ) -> Res<PointerValue<'c>> {
        let (mixed, added) = (offset & at.reached, offset & !at.reached);
        let row = *at.rows.get(&(mixed, block)).ok_or_else(|| defect("an access of another layout"))?;
        if added == 0 { Ok(row) } else { self.shared_at(row, self.i32(u64::from(padded(&at.padding, added)))) }
    }

    /// The LLVM type that an element has in memory.
    pub(crate) fn stored_type(&self, elem: BasicTypeEnum<'c>) -> BasicTypeEnum<'c> {
        let bits = self.bits_of(elem);
        if elem.is_pointer_type() || bits < 8 || !bits.is_power_of_two() {
            self.int_type(bits.next_power_of_two().max(8)).into()
        } else {
            elem
        }
    }

    /// A value as it lies in memory.
    pub(crate) fn as_stored(&self, value: Val<'c>) -> Res<Val<'c>> {
        let stored = self.stored_type(value.get_type());
        if self.bits_of(stored) == self.bits_of(value.get_type()) {
            bits_as(self, value, stored)
        } else {
            Ok(self.b.build_cast(I::ZExt, value, stored, "")?)
        }
    }

    /// The reverse of [`Lower::as_stored`].
    pub(crate) fn restored(&self, value: Val<'c>, elem: BasicTypeEnum<'c>) -> Res<Val<'c>> {
        if self.bits_of(value.get_type()) == self.bits_of(elem) {
            bits_as(self, value, elem)
        } else if self.bits_of(elem) == 1 {
            // LLVM makes a wide load whose bytes are truncated to bits one of bits, and takes that apart again.
            let stored = as_int(value)?;
            Ok(self.b.build_int_compare(IntPredicate::NE, stored, stored.get_type().const_zero(), "")?.into())
        } else {
            Ok(self.b.build_cast(I::Trunc, value, elem, "")?)
        }
    }

    /// Stores every element of a tensor whose registers are `regs`; each address is `base + (thread ⊕ foreign ⊕
    /// register)`.
    pub(crate) fn store_layout_to_shared(
        &mut self,
        access: &SharedAccess,
        base: PointerValue<'c>,
        foreign: Option<(IntValue<'c>, u64)>,
        (value, regs): (Value, &[Val<'c>]),
    ) -> Res<()> {
        let at = self.shared_addresses(access, base, foreign)?;
        self.as_owner(access, value, false, |cx, owner| {
            access.accesses().iter().try_for_each(|a| cx.store_access(access.form(), &at, (a, owner), 0, regs))
        })
    }

    /// Runs `stores` in the warps that store what several hold. `alone`: of lanes that hold copies, one stores. They
    /// may differ in the last bit, since a lane rounds what it hands on and may not round what it keeps.
    ///
    /// There is a branch around the stores. But LLVM moves into it what only they need, and all operands of that stay
    /// alive until there. So where a thread stores much, each store has a predicate instead, if the machine has such.
    /// So it has where what `value` is computed from takes many registers ([`operands_behind`]), if this branch would
    /// be the first: where there are others, also those of library functions, LLVM moves things anyway, and is kept
    /// from it if they spill. Stores of matrices always have: they stand in loops, which a branch would take apart.
    pub(crate) fn as_owner(
        &mut self,
        access: &SharedAccess,
        value: Value,
        alone: bool,
        stores: impl FnOnce(&mut Self, Option<IntValue<'c>>) -> Res<()>,
    ) -> Res<()> {
        let lane_bits = self.options.target.warp_size().trailing_zeros();
        let lanes = if alone && access.form() == Form::Vector { u64::from(access.free_lanes()) } else { 0 };
        let threads = u64::from(access.free_warps()) << lane_bits | lanes;
        // ptxas takes what one warp's lanes do together under a predicate of each lane for code that they may leave.
        let owner = if access.form() != Form::Vector && lanes == 0 && access.free_warps() != 0 {
            let warp = self.uniform_warp_id()?;
            let free = self.b.build_and(warp, self.i32(u64::from(access.free_warps())), "")?;
            Some(self.b.build_int_compare(IntPredicate::EQ, free, self.i32(0), "")?)
        } else {
            self.owner_predicate(threads, 0)?
        };
        let registers: usize = access.accesses().iter().map(|a| a.registers.len()).sum();
        let may = self.machine.predicates_stores() && self.num_ctas == 1;
        let many = || registers >= MANY || self.is_straight() && operands_behind(self.ir, value) >= MANY;
        if may && (access.form() != Form::Vector || many()) {
            return stores(self, owner);
        }
        self.where_true(owner, |cx| stores(cx, None))
    }

    /// Whether the function has no branches up to here, and calls nothing that has some.
    fn is_straight(&self) -> bool {
        let is_from_library =
            |f: FunctionValue<'c>| f.count_basic_blocks() == 0 && !f.get_name().to_bytes().starts_with(b"llvm.");
        self.function.count_basic_blocks() == 1 && !self.module.get_functions().any(is_from_library)
    }

    /// Runs `work` where the condition holds, behind a branch; without a condition always.
    pub(crate) fn where_true(
        &mut self,
        condition: Option<IntValue<'c>>,
        work: impl FnOnce(&mut Self) -> Res<()>,
    ) -> Res<()> {
        let Some(condition) = condition else { return work(self) };
        let (then, rest) =
            (self.llvm.append_basic_block(self.function, ""), self.llvm.append_basic_block(self.function, ""));
        self.b.build_conditional_branch(condition, then, rest)?;
        self.b.position_at_end(then);
        work(self)?;
        self.b.build_unconditional_branch(rest)?;
        self.b.position_at_end(rest);
        Ok(())
    }

    /// Stores what one access moves, `below` bytes before its offset, where the predicate holds if there is one.
    pub(crate) fn store_access(
        &mut self,
        form: Form,
        at: &SharedAddresses<'c>,
        (access, owner): (&AccessStep, Option<IntValue<'c>>),
        below: u32,
        regs: &[Val<'c>],
    ) -> Res<()> {
        let elements =
            access.registers.iter().map(|&r| self.as_stored(*regs.get(r).ok_or_else(|| defect("a register too few"))?));
        let elements = elements.collect::<Res<Vec<_>>>()?;
        let ptr = self.shared_address(at, access.offset - below, access.block)?;
        if form == Form::Vector && owner.is_none() {
            return self.store_shared(ptr, &elements);
        }
        let words = self.in_words(&elements)?;
        match form {
            Form::Vector => self.store_shared_run_if(owner, ptr, &words),
            Form::Matrix { transposed } => self.machine.store_matrices(self, owner, ptr, &words, transposed),
        }
    }

    /// Elements as integers of 32 bits, or of their own width if that is more.
    pub(crate) fn in_words(&self, elements: &[Val<'c>]) -> Res<Vec<Val<'c>>> {
        let Some(first) = elements.first() else { return Ok(vec![]) };
        let per_word = (32 / self.bits_of(first.get_type())).max(1) as usize;
        elements.chunks(per_word).map(|word| self.packed(word).map(Val::from)).collect()
    }

    /// Elements as one integer, the first in the lowest bits.
    pub(crate) fn packed(&self, elements: &[Val<'c>]) -> Res<IntValue<'c>> {
        let word = if let [one] = *elements {
            one
        } else {
            let mut vector = Lower::vector_type(elements[0].get_type(), elements.len() as u32)?.get_poison();
            for (i, &e) in elements.iter().enumerate() {
                vector = self.b.build_insert_element(vector, e, self.i32(i as u64), "")?;
            }
            vector.as_basic_value_enum()
        };
        let bits = self.bits_of(elements[0].get_type()) * elements.len() as u32;
        as_int(bits_as(self, word, self.int_type(bits).into())?)
    }

    /// The reverse of [`Lower::packed`]: `count` elements of type `stored`.
    pub(crate) fn unpacked(&self, word: IntValue<'c>, stored: BasicTypeEnum<'c>, count: u32) -> Res<Vec<Val<'c>>> {
        if count == 1 {
            return Ok(vec![bits_as(self, word.into(), stored)?]);
        }
        let Val::VectorValue(vector) = self.b.build_bit_cast(word, Lower::vector_type(stored, count)?, "")? else {
            return Err(defect("a word is no vector"));
        };
        (0..count).map(|i| Ok(self.b.build_extract_element(vector, self.i32(u64::from(i)), "")?)).collect()
    }

    /// Loads what one access moves, `below` bytes before its offset.
    pub(crate) fn load_access(
        &mut self,
        form: Form,
        at: &SharedAddresses<'c>,
        access: &AccessStep,
        below: u32,
        elem: BasicTypeEnum<'c>,
    ) -> Res<Vec<Val<'c>>> {
        let ptr = self.shared_address(at, access.offset - below, access.block)?;
        let stored = self.stored_type(elem);
        let loaded = match form {
            Form::Vector => self.load_shared(ptr, stored, access.registers.len())?,
            Form::Matrix { transposed } => {
                let per_word = 32 / self.bits_of(stored);
                let count = access.registers.len() / per_word as usize;
                let words = self.machine.load_matrices(self, ptr, count, transposed)?;
                words.into_iter().map(|w| self.unpacked(w, stored, per_word)).collect::<Res<Vec<_>>>()?.concat()
            }
        };
        loaded.into_iter().map(|v| self.restored(v, elem)).collect()
    }

    /// Loads the registers of a tensor whose elements have type `elem`.
    pub(crate) fn load_layout_from_shared(
        &mut self,
        access: &SharedAccess,
        base: PointerValue<'c>,
        foreign: Option<(IntValue<'c>, u64)>,
        elem: BasicTypeEnum<'c>,
    ) -> Res<Vec<Val<'c>>> {
        let at = self.shared_addresses(access, base, foreign)?;
        let loaded = access
            .accesses()
            .iter()
            .map(|a| self.load_access(access.form(), &at, a, 0, elem))
            .collect::<Res<Vec<_>>>()?;
        Ok(access.places().iter().map(|&(i, j)| loaded[i][j]).collect())
    }
}
