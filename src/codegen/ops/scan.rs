//! `tt.scan`: emission of a [`ScanPlan`](crate::layout::plan::ScanPlan).
//!
//! Lines along the axis have nothing to do with each other, so they are done in groups, one after the other, up to the
//! barrier of a step across warps and from there on: few values are alive at once. A group has as many totals as a warp
//! can shuffle while it waits for the first of them ([`SHUFFLES`]): a warp executes its instructions in order, so a
//! shuffle behind another one that waits for a third waits as well. Where only a step over registers follows one across
//! warps, both go class by class ([`Scan::in_order`]).

use std::collections::BTreeMap;

use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::reduce::{Tuple, combine, first_coordinates, slot_address};
use super::reduce_lanes::shuffled;
use super::scan_carry::{Carry, Side, neutral, select};
use crate::analysis::exchange::ExchangePlan;
use crate::analysis::scratch::operand_bytes;
use crate::codegen::lower::{Lower, Res, defect};
use crate::codegen::machine::Source;
use crate::codegen::region::is_commutative;
use crate::ir::Op;
use crate::ir::dialects::tt::tt;
use crate::layout::plan::ScanPlan;
use crate::layout::plan::reduce::operand_offsets;
use crate::layout::plan::scan::{Exchange, Lanes, ScanStep, Second, Totals};

/// Shuffles that a warp has under way at once: its shuffles take four cycles each on a quarter of a multiprocessor, and
/// a result comes, and is combined, after some thirty.
const SHUFFLES: usize = 8;

/// The operation with what its steps share.
struct Scan<'p> {
    op: Op,
    plan: &'p ScanPlan,
    reverse: bool,
    /// Whether totals may be combined in either order.
    commutative: bool,
}

/// What is known of the elements of a thread.
struct State<'c> {
    /// Prefixes of the elements of each base class, within it.
    prefixes: Vec<Vec<Tuple<'c>>>,
    /// What goes before each base class.
    carries: Vec<Carry<'c>>,
}

/// The totals of the classes of a line, by their numbers.
type Line<'c> = Vec<Option<Tuple<'c>>>;

/// `tt.scan`
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let ExchangePlan::Scan(plan) = cx.plan(op)? else { return Err(defect("a plan of another operation")) };
    let scan = Scan {
        op,
        plan,
        reverse: tt::Scan(op).reverse(cx.ir),
        commutative: cx.single_combiner(op).is_some_and(is_commutative),
    };
    let mut state = scan.within_thread(cx)?;
    let total = |class: usize| state.prefixes[class].last().cloned();
    let of_line = |line: &Vec<usize>| -> Line<'_> {
        (0..plan.base.len()).map(|class| if line.contains(&class) { total(class) } else { None }).collect()
    };
    let groups = scan.groups(cx);
    let mut lines: Vec<Line<'_>> = groups.iter().map(of_line).collect();
    // Each part but the first begins with a step across warps, whose barrier all lines share.
    let mut crossing: Option<(&ScanStep, &Totals, Vec<IntValue<'_>>)> = None;
    let mut done = 0;
    loop {
        let is_shared = |i: &usize| matches!(plan.steps[*i].exchange, Exchange::Shared(_));
        let end = (done..plan.steps.len()).find(is_shared).unwrap_or(plan.steps.len());
        let next = match plan.steps.get(end) {
            Some(step) => match &step.exchange {
                Exchange::Shared(at) => Some((step, at, first_coordinates(cx.indices(&at.slot)?)?)),
                _ => None,
            },
            None => None,
        };
        for (line, classes) in lines.iter_mut().zip(&groups) {
            if let Some((step, at, slots)) = &crossing {
                if let [last] = &plan.steps[done..]
                    && let Exchange::Registers(groups) = &last.exchange
                {
                    scan.in_order(cx, (step, at, slots), (last, groups), line, &mut state)?;
                    continue;
                }
                *line = scan.load(cx, step, at, slots, line, &mut state.carries)?;
            }
            for i in done..end {
                *line = scan.step(cx, i, line, &mut state)?;
            }
            if next.is_none() {
                scan.finish(cx, classes, &mut state)?;
            }
        }
        // Behind all lines: assemblers order nothing anew across a branch.
        if let Some((_, at, slots)) = &next {
            let owner = cx.thread_bits_are(at.copies, at.owner)?;
            cx.where_true(owner, |cx| lines.iter().try_for_each(|line| scan.store(cx, at, slots, line)))?;
        }
        if next.is_none() {
            break;
        }
        cx.barrier()?;
        crossing = next;
        done = end + 1;
    }
    for (i, &result) in cx.ir.results(op).iter().enumerate() {
        cx.set(result, plan.places.iter().map(|&(class, place)| state.prefixes[class][place][i]).collect());
    }
    Ok(())
}

impl Scan<'_> {
    /// 32-bit words of a total, each of which takes a shuffle.
    fn words(&self, cx: &Lower<'_, '_>) -> usize {
        operand_bytes(cx.ir, self.op).iter().map(|bytes| bytes.div_ceil(4) as usize).sum::<usize>().max(1)
    }

    /// The base classes of the lines that are done at once.
    fn groups(&self, cx: &Lower<'_, '_>) -> Vec<Vec<usize>> {
        let classes = SHUFFLES / self.words(cx);
        let mut groups: Vec<Vec<usize>> = vec![];
        for line in &self.plan.lines {
            match groups.last_mut() {
                Some(group) if group.len() + line.len() <= classes => group.extend(line),
                _ => groups.push(line.clone()),
            }
        }
        groups
    }

    /// The prefixes within each base class, and carries that are not there yet.
    fn within_thread<'c>(&self, cx: &mut Lower<'c, '_>) -> Res<State<'c>> {
        let sources = cx.ir.operands(self.op).iter().map(|&v| cx.get(v)).collect::<Res<Vec<_>>>()?;
        let mut prefixes: Vec<Vec<Tuple<'c>>> = vec![];
        for class in &self.plan.base {
            let mut scanned: Vec<Tuple<'c>> = vec![];
            for &r in class {
                let value: Tuple<'c> = sources.iter().map(|s| s[r]).collect();
                let next = match scanned.last() {
                    Some(before) => combine(cx, self.op, before, &value)?,
                    None => value,
                };
                scanned.push(next);
            }
            prefixes.push(scanned);
        }
        let like = prefixes.first().and_then(|class| class.first()?.first().copied());
        let start = match (cx.single_combiner(self.op), like) {
            (Some(kind), Some(like)) => neutral(kind, like).map_or(Carry::Nothing, |v| Carry::Always(vec![v])),
            _ => Carry::Nothing,
        };
        let carries = vec![start; prefixes.len()];
        Ok(State { prefixes, carries })
    }

    /// A step of a line that crosses no warps. Gives the totals that the next one starts with.
    fn step<'c>(&self, cx: &mut Lower<'c, '_>, number: usize, line: &Line<'c>, state: &mut State<'c>) -> Res<Line<'c>> {
        let step = &self.plan.steps[number];
        let after = match &step.exchange {
            Exchange::Lanes(run) => self.lanes(cx, step, run, line, (number == 0, state))?,
            Exchange::Registers(groups) => {
                let more = number + 1 < self.plan.steps.len();
                self.registers(cx, step, groups, line, &mut state.carries, more)?
            }
            Exchange::Partner { lanes, partner, second } => {
                self.exchange(cx, step, (*lanes, partner, second), line, &mut state.carries)?
            }
            Exchange::Shared(_) => return Err(defect("a step across warps between the lanes of one")),
        };
        Ok(step.next.iter().map(|&class| after[class].clone()).collect())
    }

    /// The carries go before the prefixes.
    fn finish<'c>(&self, cx: &mut Lower<'c, '_>, classes: &[usize], state: &mut State<'c>) -> Res<()> {
        for &class in classes {
            for prefix in &mut state.prefixes[class] {
                *prefix = state.carries[class].before(cx, self.op, prefix)?;
            }
        }
        Ok(())
    }

    /// A step over a run of lanes: the totals up to this lane, and all of the run's where all lanes need that.
    ///
    /// As many classes at once as keep the shuffles of a warp busy; narrow elements go through them together.
    fn lanes<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        step: &ScanStep,
        run: &Lanes,
        line: &Line<'c>,
        (first, state): (bool, &mut State<'c>),
    ) -> Res<Line<'c>> {
        let bits = cx.i32(u64::from(run.bits()));
        let mut number = cx.b.build_and(cx.thread_id(), bits, "")?;
        if self.reverse {
            number = cx.b.build_xor(number, bits, "")?;
        }
        let rounds: Vec<(u32, IntValue<'c>)> = (run.shift..run.shift + run.count)
            .map(|i| {
                let distance = cx.i32(1 << i);
                Ok((1 << i, cx.b.build_int_compare(IntPredicate::UGE, number, distance, "")?))
            })
            .collect::<Res<_>>()?;
        let known: Vec<usize> = (0..line.len()).filter(|&class| line[class].is_some()).collect();
        let widest = line.iter().flatten().flatten().map(|v| cx.bits_of(v.get_type())).max().unwrap_or(32);
        let mut after: Line<'c> = vec![None; line.len()];
        let together = (32 / widest.max(1)).max(1) as usize;
        for classes in known.chunks((SHUFFLES / self.words(cx)).max(1) * together) {
            let mut values: Vec<Tuple<'c>> = classes.iter().filter_map(|&class| line[class].clone()).collect();
            for &(distance, exists) in &rounds {
                let others = shuffled(cx, &values, self.behind(distance))?;
                for (value, other) in values.iter_mut().zip(&others) {
                    let joined = combine(cx, self.op, other, value)?;
                    *value = select(cx, exists, &joined, value)?;
                }
            }
            let all = if run.broadcast {
                let last = if self.reverse { 0 } else { run.bits() };
                let others = cx.b.build_and(cx.thread_id(), cx.i32(u64::from(!run.bits())), "")?;
                let last = cx.b.build_or(others, cx.i32(u64::from(last)), "")?;
                shuffled(cx, &values, Source::Lane(last))?
            } else {
                values.clone()
            };
            for ((&class, up_to), all) in classes.iter().zip(values).zip(all) {
                after[class] = Some(all);
                self.behind_lanes(cx, step, (run, rounds[0].1), (class, up_to), (first, state))?;
            }
        }
        Ok(after)
    }

    /// What the lanes behind this one put before the base classes of a class. Where a base class is one element and
    /// nothing was known before, its prefix is there; else what comes before it is one lane further back.
    fn behind_lanes<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        step: &ScanStep,
        (run, exists): (&Lanes, IntValue<'c>),
        (class, up_to): (usize, Tuple<'c>),
        (first, state): (bool, &mut State<'c>),
    ) -> Res<()> {
        let mut before: Option<Tuple<'c>> = None;
        for (base, _) in step.class_of.iter().enumerate().filter(|(_, c)| **c == class) {
            if first && state.prefixes[base].len() == 1 {
                state.prefixes[base][0].clone_from(&up_to);
                continue;
            }
            let before = match &before {
                Some(before) => before,
                None => {
                    before.insert(shuffled(cx, std::slice::from_ref(&up_to), self.behind(1 << run.shift))?.remove(0))
                }
            };
            state.carries[base] = state.carries[base].prepend(cx, self.op, before, &Side::When(exists))?;
        }
        Ok(())
    }

    /// The lane that is this far behind in the order of the scan.
    fn behind<'c>(&self, distance: u32) -> Source<'c> {
        if self.reverse { Source::Above(distance) } else { Source::Below(distance) }
    }

    /// A step over the classes of a thread, in order. Gives the totals of all of a group where a step follows.
    fn registers<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        step: &ScanStep,
        groups: &[Vec<usize>],
        line: &Line<'c>,
        carries: &mut [Carry<'c>],
        more: bool,
    ) -> Res<Line<'c>> {
        let mut after = line.clone();
        for group in groups.iter().filter(|group| group.iter().all(|&class| line[class].is_some())) {
            let mut before: Option<Tuple<'c>> = None;
            for (number, &class) in group.iter().enumerate() {
                if let Some(before) = &before {
                    for (carry, _) in carries.iter_mut().zip(&step.class_of).filter(|(_, c)| **c == class) {
                        *carry = carry.prepend(cx, self.op, before, &Side::Known(true))?;
                    }
                }
                if more || number + 1 < group.len() {
                    let total = known(line, class)?;
                    before = Some(match before {
                        Some(before) => combine(cx, self.op, &before, total)?,
                        None => total.clone(),
                    });
                }
            }
            if let Some(all) = before.filter(|_| more) {
                group.iter().for_each(|&class| after[class] = Some(all.clone()));
            }
        }
        Ok(after)
    }

    /// A step between two lanes, or two classes of a thread. Gives the totals of both halves.
    fn exchange<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        step: &ScanStep,
        (lanes, partner, second): (u32, &[usize], &[Second]),
        line: &Line<'c>,
        carries: &mut [Carry<'c>],
    ) -> Res<Line<'c>> {
        let classes: Vec<usize> = (0..line.len()).filter(|&class| line[class].is_some()).collect();
        let mut others = classes.iter().map(|&c| known(line, partner[c]).cloned()).collect::<Res<Vec<_>>>()?;
        if lanes != 0 {
            others = shuffled(cx, &others, Source::Flip(lanes))?;
        }
        let mut after: Line<'c> = vec![None; line.len()];
        for (&class, other) in classes.iter().zip(&others) {
            let side = Side::new(cx, second[class])?;
            for (carry, _) in carries.iter_mut().zip(&step.class_of).filter(|(_, c)| **c == class) {
                *carry = carry.prepend(cx, self.op, other, &side)?;
            }
            if !step.next.contains(&class) {
                continue;
            }
            let own = known(line, class)?;
            after[class] = Some(match side {
                Side::Known(false) => combine(cx, self.op, own, other)?,
                Side::Known(true) => combine(cx, self.op, other, own)?,
                Side::When(_) if self.commutative => combine(cx, self.op, other, own)?,
                Side::When(condition) => {
                    let (first, last) = (select(cx, condition, other, own)?, select(cx, condition, own, other)?);
                    combine(cx, self.op, &first, &last)?
                }
            });
        }
        Ok(after)
    }

    /// The bytes of an element of each operand, and where the slots of a step across warps start.
    fn starts(&self, cx: &Lower<'_, '_>, at: &Totals) -> (Vec<u32>, Vec<u32>) {
        let bytes = operand_bytes(cx.ir, self.op);
        let (starts, _) = operand_offsets(self.plan.slots(), &bytes);
        let starts = starts.iter().zip(&bytes).map(|(start, size)| start + at.start * size).collect();
        (bytes, starts)
    }

    /// The classes of a line whose totals lie side by side, in the order of their slots.
    fn runs(at: &Totals, line: &Line<'_>) -> Vec<Vec<usize>> {
        let slot = |class: usize| at.slot.apply_packed(at.registers[class] as u64);
        let mut runs: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for class in (0..line.len()).filter(|&class| line[class].is_some()) {
            runs.entry(slot(class) >> at.run_bits).or_default().push(class);
        }
        let mut runs: Vec<Vec<usize>> = runs.into_values().collect();
        runs.iter_mut().for_each(|run| run.sort_by_key(|&class| slot(class)));
        runs
    }

    /// The first half of a step across warps: the totals of a line go to shared memory.
    fn store<'c>(&self, cx: &mut Lower<'c, '_>, at: &Totals, slots: &[IntValue<'c>], line: &Line<'c>) -> Res<()> {
        let (bytes, starts) = self.starts(cx, at);
        let base = cx.scratch(self.op)?;
        for run in Self::runs(at, line) {
            for i in 0..bytes.len() {
                let address = slot_address(cx, base, starts[i], slots[at.registers[run[0]]], bytes[i])?;
                let values = run.iter().map(|&class| Ok(known(line, class)?[i])).collect::<Res<Vec<_>>>()?;
                cx.store_shared_run_if(None, address, &values)?;
            }
        }
        Ok(())
    }

    /// The second half of a step across warps, behind the barrier.
    fn load<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        step: &ScanStep,
        at: &Totals,
        slots: &[IntValue<'c>],
        line: &Line<'c>,
        carries: &mut [Carry<'c>],
    ) -> Res<Line<'c>> {
        let mut whole: Line<'c> = vec![None; line.len()];
        for run in Self::runs(at, line) {
            let like = known(line, run[0])?;
            self.load_run(cx, (step, at, slots), (&run, like), &mut whole, carries)?;
        }
        Ok(step.next.iter().map(|&class| whole[class].clone()).collect())
    }

    /// Loads the totals of a run of classes of which one is `like`: what goes before them, and the totals of their
    /// larger blocks.
    fn load_run<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        (step, at, slots): (&ScanStep, &Totals, &[IntValue<'c>]),
        (run, like): (&[usize], &Tuple<'c>),
        whole: &mut Line<'c>,
        carries: &mut [Carry<'c>],
    ) -> Res<()> {
        let slot = slots[at.registers[run[0]]];
        let own = part_of(cx, at, slot)?;
        let parts = self.parts(cx, at, slot, (run, like))?;
        let own = if self.reverse { cx.b.build_xor(own, cx.i32(at.parts as u64 - 1), "")? } else { own };
        let exists = cx.b.build_int_compare(IntPredicate::NE, own, cx.i32(0), "")?;
        for (&class, mut parts) in run.iter().zip(parts) {
            if self.reverse {
                parts.reverse();
            }
            let (before, all) = self.up_to(cx, &parts, own)?;
            for (carry, _) in carries.iter_mut().zip(&step.class_of).filter(|(_, c)| **c == class) {
                *carry = carry.prepend(cx, self.op, &before, &Side::When(exists))?;
            }
            whole[class] = Some(all);
        }
        Ok(())
    }

    /// The second half of a step across warps and the step over the classes of a thread that ends the scan, class by
    /// class in the order of the scan: the totals of a run are loaded where the first of them is wanted, and the
    /// prefixes of a class are done before the next class begins. So a thread keeps one run of totals, not those of the
    /// whole line.
    fn in_order<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        crossing: (&ScanStep, &Totals, &[IntValue<'c>]),
        (last, groups): (&ScanStep, &[Vec<usize>]),
        line: &Line<'c>,
        state: &mut State<'c>,
    ) -> Res<()> {
        let (step, at, _) = crossing;
        let runs = Self::runs(at, line);
        let mut whole: Line<'c> = vec![None; line.len()];
        let is_here = |class: usize| line[step.next[class]].is_some();
        for group in groups.iter().filter(|group| group.iter().all(|&class| is_here(class))) {
            let mut before: Option<Tuple<'c>> = None;
            for &class in group {
                let source = step.next[class];
                if whole[source].is_none() {
                    let run = runs.iter().find(|run| run.contains(&source));
                    let run = run.ok_or_else(|| defect("a scan wants a total that no warp stored"))?;
                    self.load_run(cx, crossing, (run, known(line, source)?), &mut whole, &mut state.carries)?;
                }
                let bases: Vec<usize> = (0..last.class_of.len()).filter(|&base| last.class_of[base] == class).collect();
                if let Some(before) = &before {
                    for &base in &bases {
                        state.carries[base] = state.carries[base].prepend(cx, self.op, before, &Side::Known(true))?;
                    }
                }
                self.finish(cx, &bases, state)?;
                let total = known(&whole, source)?;
                before = Some(match before {
                    Some(before) => combine(cx, self.op, &before, total)?,
                    None => total.clone(),
                });
            }
        }
        Ok(())
    }

    /// For each class of a run, the totals of all parts of its larger block, whose first class lies at `slot`.
    fn parts<'c>(
        &self,
        cx: &mut Lower<'c, '_>,
        at: &Totals,
        slot: IntValue<'c>,
        (run, like): (&[usize], &Tuple<'c>),
    ) -> Res<Vec<Vec<Tuple<'c>>>> {
        let (bytes, starts) = self.starts(cx, at);
        let base = cx.scratch(self.op)?;
        let of_parts = cx.i32(at.offset(at.parts - 1) as u64);
        let first = cx.b.build_and(slot, cx.b.build_not(of_parts, "")?, "")?;
        let mut parts: Vec<Vec<Tuple<'c>>> = vec![vec![vec![]; at.parts]; run.len()];
        for (i, value) in like.iter().enumerate() {
            let address = slot_address(cx, base, starts[i], first, bytes[i])?;
            for far in (0..at.parts).step_by(1 << at.near_bits) {
                let address = cx.shared_at(address, cx.i32(at.offset(far) as u64 * u64::from(bytes[i])))?;
                if run.len() > 1 {
                    let loaded = cx.load_shared_run(address, value.get_type(), run.len())?;
                    parts.iter_mut().zip(loaded).for_each(|(parts, value)| parts[far].push(value));
                } else {
                    let loaded = cx.load_shared_run(address, value.get_type(), 1 << at.near_bits)?;
                    parts[0][far..].iter_mut().zip(loaded).for_each(|(tuple, value)| tuple.push(value));
                }
            }
        }
        Ok(parts)
    }

    /// What the parts before number `own` combine to (that of part 0 alone if there is none), and all parts.
    fn up_to<'c>(&self, cx: &mut Lower<'c, '_>, parts: &[Tuple<'c>], own: IntValue<'c>) -> Res<(Tuple<'c>, Tuple<'c>)> {
        let (mut sum, mut before) = (parts[0].clone(), parts[0].clone());
        for (i, part) in parts.iter().enumerate().skip(1) {
            let reached = cx.b.build_int_compare(IntPredicate::UGT, own, cx.i32(i as u64), "")?;
            sum = combine(cx, self.op, &sum, part)?;
            before = select(cx, reached, &sum, &before)?;
        }
        Ok((before, sum))
    }
}

/// The number of the part whose total lies in a slot.
fn part_of<'c>(cx: &mut Lower<'c, '_>, at: &Totals, slot: IntValue<'c>) -> Res<IntValue<'c>> {
    let near = (1u64 << at.near_bits) - 1;
    let own = cx.b.build_and(slot, cx.i32(near), "")?;
    let far = (at.parts as u64 - 1) & !near;
    if far == 0 {
        return Ok(own);
    }
    // `far_shift` is at least `near_bits`, since what lies side by side is lowest.
    let above = cx.b.build_right_shift(slot, cx.i32(u64::from(at.far_shift - at.near_bits)), false, "")?;
    let above = cx.b.build_and(above, cx.i32(far), "")?;
    Ok(cx.b.build_or(own, above, "")?)
}

fn known<'l, 'c>(line: &'l Line<'c>, class: usize) -> Res<&'l Tuple<'c>> {
    line[class].as_ref().ok_or_else(|| defect("a scan combines two lines"))
}
