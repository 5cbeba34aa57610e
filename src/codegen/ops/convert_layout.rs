//! `ttg.convert_layout`: emission of a [`ConversionPlan`].
//!
//! - Registers: values are renamed.
//! - Shuffles: elements are packed into 32-bit words (or cut into two), the plan runs with shuffles and `select` as its
//!   instructions, and the words are taken apart.
//! - Shared memory: for each repetition store, barrier, load; see [`crate::codegen::shared_access`]. Between the blocks
//!   of a cluster the barrier is the cluster's, and loads reach into the memory of other blocks.
//!
//! Example: 4 halves a thread whose pairs cross lanes become 2 words, 1 shuffle and 3 `select`.

use inkwell::IntPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::IntValue;

use crate::analysis::exchange::ExchangePlan;
use crate::codegen::bits::bits_as;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::codegen::machine::Source;
use crate::diag::Diagnostic;
use crate::ir::Op;
use crate::ir::dialects::ttg::ttg::ConvertLayout;
use crate::layout::plan::shuffle::Machine;
use crate::layout::plan::{Among, ConversionPlan, SharedPlan, ShufflePlan};

/// `ttg.convert_layout`
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let (source, result) = (ConvertLayout(op).src(cx.ir), cx.ir.result(op));
    let from = cx.ir.ty(source);
    let ExchangePlan::Conversion(plan) = cx.plan(op)? else { return Err(defect("a plan of another operation")) };
    let regs = cx.get(source)?;
    let elem = cx.elem_type(from)?;
    let converted = match plan {
        ConversionPlan::Registers(table) => table
            .iter()
            .map(|&i| regs.get(i).copied().ok_or_else(|| defect("a register too few")))
            .collect::<Res<Vec<_>>>()?,
        ConversionPlan::Shuffles(plan) => shuffles(cx, plan, &regs, elem)?,
        ConversionPlan::Shared(plan) => shared(cx, op, plan, &regs, elem)?,
    };
    cx.set(result, converted);
    Ok(())
}

/// Converts through shared memory.
fn shared<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    plan: &SharedPlan,
    regs: &[Val<'c>],
    elem: BasicTypeEnum<'c>,
) -> Res<Vec<Val<'c>>> {
    let base = cx.scratch(op)?;
    let (store, load) = (plan.store(), plan.load());
    let (to, from) = (cx.shared_addresses(store, base, None)?, cx.shared_addresses(load, base, None)?);
    let mut loaded = vec![vec![]; load.accesses().len()];
    for repetition in 0..plan.repetitions() {
        let below = repetition * plan.bytes();
        if repetition > 0 {
            synchronize(cx, plan)?;
        }
        let part = |offset| plan.repetition_of(offset) == repetition;
        cx.as_owner(store, cx.num_ctas > 1, |cx| {
            store
                .accesses()
                .iter()
                .filter(|a| part(a.offset))
                .try_for_each(|a| cx.store_access(store.form(), &to, a, below, regs))
        })?;
        synchronize(cx, plan)?;
        for (access, values) in load.accesses().iter().zip(&mut loaded).filter(|(a, _)| part(a.offset)) {
            *values = cx.load_access(load.form(), &from, access, below, elem)?;
        }
    }
    load.places()
        .iter()
        .map(|&(i, j)| loaded[i].get(j).copied().ok_or_else(|| defect("an access of no repetition")))
        .collect()
}

fn synchronize(cx: &mut Lower<'_, '_>, plan: &SharedPlan) -> Res<()> {
    match plan.among() {
        Among::Warp => cx.warp_barrier(),
        Among::Block => cx.barrier(),
        Among::Cluster => cx.machine.cluster_barrier(cx, false),
    }
}

/// Converts by shuffles.
fn shuffles<'c>(
    cx: &mut Lower<'c, '_>,
    plan: &ShufflePlan,
    regs: &[Val<'c>],
    elem: BasicTypeEnum<'c>,
) -> Res<Vec<Val<'c>>> {
    let words = plan.words().map(|w| pack(cx, plan, w, regs)).collect::<Res<Vec<_>>>()?;
    let mut machine = Threads { lane: cx.lane_id()?, cx, source: None };
    // The plan runs once for each part of an element.
    let mut parts = vec![];
    for part in 0..plan.parts() as usize {
        let words: Vec<IntValue<'c>> = words.iter().map(|w| w[part]).collect();
        parts.push(plan.run(&mut machine, &words)?);
    }
    let cx = machine.cx;
    let mut unpacked: Vec<Option<Vec<Val<'c>>>> = vec![None; words.len()];
    let mut result = vec![];
    for (word, place) in plan.results() {
        if unpacked[word].is_none() {
            let whole = parts
                .iter()
                .map(|p| p[word].ok_or_else(|| defect("a word that the plan left out")))
                .collect::<Res<Vec<_>>>()?;
            unpacked[word] = Some(unpack(cx, plan, &whole, elem)?);
        }
        result.push(unpacked[word].as_ref().map(|w| w[place]).ok_or_else(|| defect("a word too few"))?);
    }
    Ok(result)
}

/// The elements of one word as `i32`, or the two halves of a wide element.
fn pack<'c>(cx: &Lower<'c, '_>, plan: &ShufflePlan, registers: &[usize], regs: &[Val<'c>]) -> Res<Vec<IntValue<'c>>> {
    let register = |r: usize| cx.as_stored(*regs.get(r).ok_or_else(|| defect("a register too few"))?);
    let elements = registers.iter().map(|&r| register(r)).collect::<Res<Vec<_>>>()?;
    let i32_type = cx.int_type(32);
    if plan.parts() == 2 {
        let wide = as_int(bits_as(cx, elements[0], cx.int_type(64).into())?)?;
        let high = cx.b.build_right_shift(wide, cx.int_type(64).const_int(32, false), false, "")?;
        return Ok(vec![cx.b.build_int_truncate(wide, i32_type, "")?, cx.b.build_int_truncate(high, i32_type, "")?]);
    }
    let word = cx.packed(&elements)?;
    Ok(vec![if word.get_type().get_bit_width() < 32 { cx.b.build_int_z_extend(word, i32_type, "")? } else { word }])
}

/// The reverse of [`pack`].
fn unpack<'c>(
    cx: &Lower<'c, '_>,
    plan: &ShufflePlan,
    words: &[IntValue<'c>],
    elem: BasicTypeEnum<'c>,
) -> Res<Vec<Val<'c>>> {
    let stored = cx.stored_type(elem);
    if let [low, high] = words[..] {
        let i64_type = cx.int_type(64);
        let (low, high) = (cx.b.build_int_z_extend(low, i64_type, "")?, cx.b.build_int_z_extend(high, i64_type, "")?);
        let wide = cx.b.build_or(low, cx.b.build_left_shift(high, i64_type.const_int(32, false), "")?, "")?;
        return Ok(vec![cx.restored(bits_as(cx, wide.into(), stored)?, elem)?]);
    }
    let count = plan.elements_per_word() as u32;
    let bits = cx.bits_of(stored) * count;
    let word = if bits < 32 { cx.b.build_int_truncate(words[0], cx.int_type(bits), "")? } else { words[0] };
    cx.unpacked(word, stored, count)?.into_iter().map(|e| cx.restored(e, elem)).collect()
}

/// The threads of a warp, as a plan's machine.
struct Threads<'x, 'c, 'a> {
    cx: &'x mut Lower<'c, 'a>,
    lane: IntValue<'c>,
    /// The lane that shuffles read from, before bits are flipped.
    source: Option<IntValue<'c>>,
}

impl<'c> Threads<'_, 'c, '_> {
    /// The exclusive or of the entries that the lane's bits pick.
    fn source_lane(&mut self, lanes: &[u32]) -> Res<IntValue<'c>> {
        if let Some(known) = self.source {
            return Ok(known);
        }
        let cx = &mut *self.cx;
        let mut sum = cx.i32(0);
        for (bit, &column) in lanes.iter().enumerate().filter(|l| *l.1 != 0) {
            let picked = cx.b.build_and(self.lane, cx.i32(1 << bit), "")?;
            let to = column.trailing_zeros();
            let moved = if to as usize >= bit {
                cx.b.build_left_shift(picked, cx.i32(u64::from(to) - bit as u64), "")?
            } else {
                cx.b.build_right_shift(picked, cx.i32(bit as u64 - u64::from(to)), false, "")?
            };
            sum = cx.b.build_or(sum, moved, "")?;
        }
        self.source = Some(sum);
        Ok(sum)
    }
}

impl<'c> Machine for Threads<'_, 'c, '_> {
    type Value = IntValue<'c>;
    type Error = Diagnostic;

    fn select(&mut self, lane_bit: u32, off: &IntValue<'c>, on: &IntValue<'c>) -> Res<IntValue<'c>> {
        let cx = &mut *self.cx;
        let bit = cx.b.build_and(self.lane, cx.i32(1 << lane_bit), "")?;
        let is_off = cx.b.build_int_compare(IntPredicate::EQ, bit, cx.i32(0), "")?;
        as_int(cx.b.build_select(is_off, *off, *on, "")?)
    }

    fn shuffle(&mut self, value: &IntValue<'c>, lanes: &[u32], flip: u32) -> Res<IntValue<'c>> {
        let keeps = lanes.iter().enumerate().all(|(i, &l)| l == 1 << i);
        let from = if keeps {
            Source::Flip(flip)
        } else {
            let source = self.source_lane(lanes)?;
            let flipped =
                if flip == 0 { source } else { self.cx.b.build_xor(source, self.cx.i32(u64::from(flip)), "")? };
            Source::Lane(flipped)
        };
        self.cx.machine.shuffle(self.cx, *value, from)
    }
}
