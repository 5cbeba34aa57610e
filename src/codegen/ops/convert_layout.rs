//! `ttg.convert_layout`: emission of a [`ConversionPlan`].
//!
//! - Registers: values are renamed.
//! - Shuffles: elements are packed into 32-bit words (or cut into two), the plan runs with shuffles and `select` as its
//!   instructions, and the words are taken apart. Elements of 16 bits lie two to a register before and after, so where
//!   a select only chooses from the halves of two registers, it is a permutation of bytes whose selector depends on the
//!   lane ([`Half`]), and packs or unpacks on the way.
//! - Shared memory: for each repetition store, barrier, load; see [`crate::codegen::shared_access`]. Between the blocks
//!   of a cluster the barrier is the cluster's, and loads reach into the memory of other blocks.
//!
//! Example: 4 halves a thread whose pairs cross lanes become 2 words, 1 shuffle and 3 permutations of bytes.

use std::collections::BTreeMap;

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
        cx.as_owner(store, cx.ir.operand(op, 0), cx.num_ctas > 1, |cx, owner| {
            store
                .accesses()
                .iter()
                .filter(|a| part(a.offset))
                .try_for_each(|a| cx.store_access(store.form(), &to, (a, owner), below, regs))
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
    let is_halves = plan.elements_per_word() == 2 && cx.bits_of(cx.stored_type(elem)) == 16;
    let in_halves = is_halves && cx.machine.permutes_by_lane();
    let pairs = if in_halves { pairs(cx, regs)? } else { vec![] };
    let mut machine = Threads { lane: cx.lane_id()?, cx, source: None, in_halves };
    // The plan runs once for each part of an element.
    let mut parts = vec![];
    for part in 0..plan.parts() as usize {
        let input = |(word, registers): (&Vec<IntValue<'c>>, &[usize])| match (in_halves, registers) {
            (true, &[low, high]) => Word { halves: [low, high].map(|r| half_of(&pairs, r)), ..Word::made(word[part]) },
            _ => Word::made(word[part]),
        };
        let words: Vec<Word<'c>> = words.iter().zip(plan.words()).map(input).collect();
        parts.push(plan.run(&mut machine, &words)?);
    }
    let wanted: Vec<(usize, usize)> = plan.results().collect();
    let mut together = BTreeMap::new();
    for (number, two) in wanted.chunks_exact(2).enumerate().filter(|_| in_halves) {
        if let Some(pair) = machine.pair([two[0], two[1]].map(|(word, place)| (parts[0][word].as_ref(), place)))? {
            together.insert(number, pair);
        }
    }
    let cx = machine.cx;
    let mut unpacked: Vec<Option<Vec<Val<'c>>>> = vec![None; words.len()];
    let mut result = vec![];
    for (register, (word, place)) in wanted.into_iter().enumerate() {
        if let Some(&pair) = together.get(&(register / 2)) {
            result.push(unpack(cx, plan, &[pair], elem)?[register % 2]);
            continue;
        }
        if unpacked[word].is_none() {
            let whole = parts
                .iter()
                .map(|p| p[word].as_ref().map(|w| w.value).ok_or_else(|| defect("a word that the plan left out")))
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

/// A half of a register.
#[derive(Clone, Copy)]
struct Half<'c> {
    register: IntValue<'c>,
    is_upper: bool,
}

/// The registers of 16-bit elements, two in each, as they lie before a conversion.
fn pairs<'c>(cx: &Lower<'c, '_>, regs: &[Val<'c>]) -> Res<Vec<IntValue<'c>>> {
    let pair = |two: &[Val<'c>]| {
        let elements = two.iter().map(|&e| cx.as_stored(e)).collect::<Res<Vec<_>>>()?;
        cx.packed(&elements)
    };
    regs.chunks_exact(2).map(pair).collect()
}

fn half_of<'c>(pairs: &[IntValue<'c>], register: usize) -> Half<'c> {
    Half { register: pairs[register / 2], is_upper: register % 2 == 1 }
}

/// A word of a plan.
#[derive(Clone)]
struct Word<'c> {
    value: IntValue<'c>,
    /// Where its two halves can be had.
    halves: [Half<'c>; 2],
    /// For a word that the lane's bit chooses: that bit, and the halves in lanes where it is 0 and 1.
    chosen: Option<(u32, [Half<'c>; 2], [Half<'c>; 2])>,
}

impl PartialEq for Word<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<'c> Word<'c> {
    fn made(value: IntValue<'c>) -> Word<'c> {
        Word { value, halves: [false, true].map(|is_upper| Half { register: value, is_upper }), chosen: None }
    }
}

/// The threads of a warp, as a plan's machine.
struct Threads<'x, 'c, 'a> {
    cx: &'x mut Lower<'c, 'a>,
    lane: IntValue<'c>,
    /// The lane that shuffles read from, before bits are flipped.
    source: Option<IntValue<'c>>,
    /// Whether words are two elements, whose halves can be picked.
    in_halves: bool,
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

    fn is_off(&mut self, lane_bit: u32) -> Res<IntValue<'c>> {
        let cx = &mut *self.cx;
        let bit = cx.b.build_and(self.lane, cx.i32(1 << lane_bit), "")?;
        Ok(cx.b.build_int_compare(IntPredicate::EQ, bit, cx.i32(0), "")?)
    }

    /// A register with the halves `off` or `on`, by the lane's bit. `None` if they lie in more than two registers.
    fn picked(&mut self, lane_bit: u32, off: [Half<'c>; 2], on: [Half<'c>; 2]) -> Res<Option<IntValue<'c>>> {
        let mut registers = vec![];
        for half in off.iter().chain(&on) {
            if !registers.contains(&half.register) {
                registers.push(half.register);
            }
        }
        let (first, second) = match registers[..] {
            [one] => (one, one),
            [first, second] => (first, second),
            _ => return Ok(None),
        };
        // A digit for each byte: 0 to 3 are those of the first register, 4 to 7 those of the second one.
        let bytes = |half: Half<'c>| match (half.register == first, half.is_upper) {
            (true, false) => 0x10,
            (true, true) => 0x32,
            (false, false) => 0x54,
            (false, true) => 0x76,
        };
        let selector = |[low, high]: [Half<'c>; 2]| bytes(high) << 8 | bytes(low);
        let is_off = self.is_off(lane_bit)?;
        let cx = &mut *self.cx;
        let selectors = [off, on].map(|halves| cx.i32(selector(halves)));
        let selector = as_int(cx.b.build_select(is_off, selectors[0], selectors[1], "")?)?;
        cx.machine.permute_bytes(cx, first, second, selector).map(Some)
    }

    /// A register of the result, from the places of its two elements in words that the same bit of the lane chose.
    fn pair(&mut self, places: [(Option<&Word<'c>>, usize); 2]) -> Res<Option<IntValue<'c>>> {
        let [(Some(low), i), (Some(high), j)] = places else { return Ok(None) };
        match (low.chosen, high.chosen) {
            (Some((bit, low_off, low_on)), Some((other, high_off, high_on))) if bit == other => {
                self.picked(bit, [low_off[i], high_off[j]], [low_on[i], high_on[j]])
            }
            _ => Ok(None),
        }
    }
}

impl<'c> Machine for Threads<'_, 'c, '_> {
    type Value = Word<'c>;
    type Error = Diagnostic;

    fn select(&mut self, lane_bit: u32, off: &Word<'c>, on: &Word<'c>) -> Res<Word<'c>> {
        let is_packed = |word: &Word<'c>| word.halves[0].register == word.value;
        let packs = self.in_halves && !(is_packed(off) && is_packed(on));
        let picked = if packs { self.picked(lane_bit, off.halves, on.halves)? } else { None };
        let value = if let Some(value) = picked {
            value
        } else {
            let is_off = self.is_off(lane_bit)?;
            as_int(self.cx.b.build_select(is_off, off.value, on.value, "")?)?
        };
        Ok(Word { chosen: Some((lane_bit, off.halves, on.halves)), ..Word::made(value) })
    }

    fn shuffle(&mut self, value: &Word<'c>, lanes: &[u32], flip: u32) -> Res<Word<'c>> {
        let keeps = lanes.iter().enumerate().all(|(i, &l)| l == 1 << i);
        let from = if keeps {
            Source::Flip(flip)
        } else {
            let source = self.source_lane(lanes)?;
            let flipped =
                if flip == 0 { source } else { self.cx.b.build_xor(source, self.cx.i32(u64::from(flip)), "")? };
            Source::Lane(flipped)
        };
        self.cx.machine.shuffle(self.cx, value.value, from).map(Word::made)
    }
}
