//! The coordinates of the elements that a thread holds.
//!
//! A layout is linear over exclusive or, so the element of register `r` in a thread is `base ⊕ offset[r]`:
//! 1. `base` comes from the thread's number. Lane and warp are its low and high bits, so their bases are read as one
//!    list of bases for the bits of the thread number; for clusters the block's number follows.
//! 2. Each input bit `i` whose basis has output bit `j` contributes bit `i` shifted by `j - i`. Bits with the same
//!    shift are taken together: `(tid & mask) << shift`.
//! 3. `offset[r]` is a constant. Where it shares no bit with anything that `base` can set, exclusive or is `or
//!    disjoint`, which LLVM turns into an addition and folds into addresses.
//!
//! Example: `sizePerThread = [4]`, 128 threads, 1024 elements: lane and warp bases are 4, 8, …, 256, all shifted by 2,
//! so `base = (tid & 127) << 2`; the registers are at `base | 0, 1, 2, 3, 512, …, 515`.

use std::collections::BTreeMap;

use inkwell::values::IntValue;

use super::lower::{Lower, Res};
use crate::layout::{Dim, LinearLayout, register_offsets};

impl<'c> Lower<'c, '_> {
    /// For each register the coordinates of its element, one per axis, as `i32`.
    pub(crate) fn indices(&mut self, layout: &LinearLayout) -> Res<Vec<Vec<IntValue<'c>>>> {
        let axes: Vec<Dim> = layout.out_dims().collect();
        let mut bases = Vec::with_capacity(axes.len());
        for &axis in &axes {
            bases.push(self.thread_part(layout, axis)?);
        }
        let mut out = Vec::new();
        for offset in register_offsets(layout) {
            let mut coordinates = Vec::with_capacity(axes.len());
            for (&(base, reached), &constant) in bases.iter().zip(&offset) {
                let constant = u64::from(constant.unsigned_abs());
                coordinates.push(self.combine(base, reached, self.i32(constant), constant)?.0);
            }
            out.push(coordinates);
        }
        Ok(out)
    }

    /// What lane, warp and block contribute to one axis, and the bits that it can set.
    pub(crate) fn thread_part(&mut self, layout: &LinearLayout, axis: Dim) -> Res<(IntValue<'c>, u64)> {
        let bits = |dim| {
            (0..layout.in_bits(dim) as usize).map(move |i| u64::from(layout.basis(dim, i, axis))).collect::<Vec<_>>()
        };
        let mut thread = bits(Dim::Lane);
        thread.resize(self.options.target.warp_size().trailing_zeros() as usize, 0);
        thread.extend(bits(Dim::Warp));
        let block = bits(Dim::Block);
        let mut sum = (self.i32(0), 0);
        for (input, bases) in [(self.thread_id(), thread), (self.block_in_cluster()?, block)] {
            sum = self.image(input, &bases, sum)?;
        }
        Ok(sum)
    }

    /// `start` combined by exclusive or with the columns that the bits of `value` pick; bits beyond the columns count
    /// for nothing.
    pub(crate) fn xor_image(&mut self, start: IntValue<'c>, value: IntValue<'c>, columns: &[u32]) -> Res<IntValue<'c>> {
        let columns: Vec<u64> = columns.iter().map(|&c| u64::from(c)).collect();
        Ok(self.image(value, &columns, (start, u64::from(u32::MAX)))?.0)
    }

    /// `sum` combined with the columns that the bits of `input` pick, and the bits that the result can have set.
    fn image(
        &mut self,
        input: IntValue<'c>,
        columns: &[u64],
        mut sum: (IntValue<'c>, u64),
    ) -> Res<(IntValue<'c>, u64)> {
        // Each shift has the input bits that move by it, one for each set bit of a column.
        let mut groups: BTreeMap<i32, u64> = BTreeMap::new();
        for (i, &column) in columns.iter().enumerate() {
            (0..32).filter(|j| column >> j & 1 == 1).for_each(|j| *groups.entry(j - i as i32).or_default() |= 1 << i);
        }
        for (shift, mask) in groups {
            let picked = self.b.build_and(input, self.i32(mask), "")?;
            let (moved, reached) = if shift >= 0 {
                (self.b.build_left_shift(picked, self.i32(shift as u64), "")?, mask << shift)
            } else {
                (self.b.build_right_shift(picked, self.i32(-shift as u64), false, "")?, mask >> -shift)
            };
            sum = self.combine(sum.0, sum.1, moved, reached)?;
        }
        Ok(sum)
    }

    /// `a ⊕ b`, where each can set only the given bits.
    pub(crate) fn combine(
        &mut self,
        a: IntValue<'c>,
        a_bits: u64,
        b: IntValue<'c>,
        b_bits: u64,
    ) -> Res<(IntValue<'c>, u64)> {
        if a_bits == 0 || b_bits == 0 {
            return Ok((if a_bits == 0 { b } else { a }, a_bits | b_bits));
        }
        let value = if a_bits & b_bits == 0 {
            let or = self.b.build_or(a, b, "")?;
            if let Some(instruction) =
                or.as_instruction().filter(|i| i.get_opcode() == inkwell::values::InstructionOpcode::Or)
            {
                instruction.set_disjoint_flag(true).map_err(|_| super::lower::defect("an `or` refused its flag"))?;
            }
            or
        } else {
            self.b.build_xor(a, b, "")?
        };
        Ok((value, a_bits | b_bits))
    }

    /// Lane, warp and block numbers combined into the predicate that this thread is the one that stores what several
    /// hold: every free bit of its number is 0. `None` when every thread holds something else.
    pub(crate) fn owner_predicate(&mut self, thread_mask: u64, block_mask: u64) -> Res<Option<IntValue<'c>>> {
        let mut pred: Option<IntValue<'c>> = None;
        for (mask, block) in [(thread_mask, false), (block_mask, true)] {
            if mask == 0 {
                continue;
            }
            let input = if block { self.block_in_cluster()? } else { self.thread_id() };
            let free = self.b.build_and(input, self.i32(mask), "")?;
            let first = self.b.build_int_compare(inkwell::IntPredicate::EQ, free, self.i32(0), "")?;
            pred = Some(match pred {
                Some(p) => self.b.build_and(p, first, "")?,
                None => first,
            });
        }
        Ok(pred)
    }

    /// The predicate that these bits of the thread's number have this value. `None` where there are none.
    pub(crate) fn thread_bits_are(&mut self, bits: u32, value: u32) -> Res<Option<IntValue<'c>>> {
        if bits == 0 {
            return Ok(None);
        }
        let picked = self.b.build_and(self.thread_id(), self.i32(u64::from(bits)), "")?;
        Ok(Some(self.b.build_int_compare(inkwell::IntPredicate::EQ, picked, self.i32(u64::from(value)), "")?))
    }

    pub(crate) fn i32(&self, value: u64) -> IntValue<'c> {
        self.llvm.i32_type().const_int(value, false)
    }
}
