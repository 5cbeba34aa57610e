//! `ttc-loads-ahead`: a loop that stores or exchanges values starts the loads of iterations to come.
//!
//! A recurrence (`h = a * h + b`, stored step by step), a scan or a softmax row by row waits in each iteration for what
//! it loads there: no assembler moves a load over a store or a barrier. What an iteration loads does not depend on the
//! one before, so the loop carries what it has loaded ahead in registers and loads for the iteration [`DEPTH`] further.
//! Triton starts loads ahead only where a product uses them, or where their author asks for `num_stages`.
//!
//! That takes registers, and a loop of few iterations gains nothing. So a kernel is compiled with it and without, and
//! what costs less by the model of waits is taken (`driver/flow/binary.rs`).
//!
//! # Algorithm
//!
//! Of each innermost `scf.for` with a constant step whose body stores, or exchanges values between threads, and has
//! neither products nor copies to shared memory, whose order is chosen:
//!
//! 1. A load of the body may be started ahead if all that its operands need is computed from the induction variable,
//!    from values of outside, and from what the loop carries and computes in the same way; and if no iteration stores
//!    what it loads ([`StoredAhead`]). Nothing is started ahead in a kernel that may learn what another program has
//!    written ([`touched::may_wait`]), nor in a loop whose loads are all of one element and go on by less than
//!    [`SECTOR`] bytes: they find most of what they need in the first cache.
//! 2. Such loads are taken in order as long as the registers that hold their values are few ([`MOST`], and with all
//!    tiles of the body [`ROOM`]).
//! 3. In front of the loop the loads of the first iterations are made, under the condition that there are so many. The
//!    loop carries what they load, and loads for the iteration that is [`DEPTH`] further, if there is one.
//! 4. What the loop carries for the sake of these loads alone, as their pointers, is carried as it is [`DEPTH`]
//!    iterations further. Everything else that they need is computed anew from its values of this iteration.
//!
//! ```text
//! scf.for %i iter_args(%p = %x, %h) {            %a0 = load %x, 0 < n
//!   %a = load %p                          →      scf.for %i iter_args(%p = %x + s, %h, %v = %a0) {
//!   %next = step %h, %a                            %a = load %p, %i + 1 < n
//!   store …, %next                                 %next = step %h, %v
//!   yield %p + s, %next                            store …, %next
//! }                                                yield %p + s, %next, %a
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::forms::Forms;
use crate::analysis::forms::poly::Atom;
use crate::analysis::register_use::of_type;
use crate::analysis::stored_ahead::StoredAhead;
use crate::analysis::tile_pressure::pressure;
use crate::analysis::touched;
use crate::analysis::trips::trips;
use crate::ir::core::{Block, Builder, Ir, Mapping, Op, Type, Value, ValueDef};
use crate::ir::dialects::discardable::NUM_STAGES;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt::Load;
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, Traits, TtOp};
use crate::ir::effects::{effects, is_speculatable};
use crate::ir::rewrite::fold;
use crate::passes::common::ahead::exchanges;
use crate::passes::common::canonicalize::canonicalize;
use crate::passes::common::carry::carry;
use crate::passes::common::cse;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-loads-ahead",
    doc: "start loads of iterations to come in loops that store or exchange values",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// How many iterations ahead. On an H200, 309 kernels of more than 4 us ran at 1.053 of their speed with one (107 above
/// 1.05, 61 below 0.95), at 1.028 with two and at 0.978 with four; those that the model of waits takes at 1.179 (88)
/// and 1.209 (64).
const DEPTH: usize = 1;
/// Registers of a thread that hold what is loaded ahead.
const MOST: u32 = 64;
/// The same with the most that the tiles of the body take at once.
const ROOM: u32 = 128;
/// Bytes that global memory hands out at once.
const SECTOR: u64 = 32;
/// The first carried value among the operands of a loop.
const FIRST_CARRIED: usize = 3;
/// Operations that the operands of a loop's loads may need.
const MOST_OPS: usize = 64;

/// How often loops that may start loads ahead are entered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Entered {
    Once,
    /// One of them is in another loop, and waits for its first loads each time.
    Often,
}

/// Whether loops of a module may start loads ahead.
pub(crate) fn applies(ir: &Ir) -> Option<Entered> {
    let loops = candidates(ir);
    let is_in_a_loop =
        |op| std::iter::successors(ir.parent_op(op), |&op| ir.parent_op(op)).any(|op| ir.kind(op).has(Traits::LOOP));
    let entered = |op| if is_in_a_loop(op) { Entered::Often } else { Entered::Once };
    loops.into_iter().filter(|&op| Plan::of(ir, op).is_some()).map(entered).max()
}

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let mut changed = false;
    for looped in candidates(ir) {
        if let Some(ahead) = Plan::of(ir, looped).and_then(|plan| Ahead::new(ir, plan)) {
            ahead.start();
            changed = true;
        }
    }
    if changed {
        // What is carried and computed for the loads that are gone.
        let module = ir.module();
        canonicalize(ir, module);
        (cse::PASS.run)(ir, cx)?;
    }
    Ok(Changed::from(changed))
}

/// The loops of a module that may start loads ahead, as far as their operations say.
fn candidates(ir: &Ir) -> Vec<Op> {
    let loops: Vec<Op> = ir.all_ops(ir.module()).into_iter().filter(|&op| has_candidates(ir, op)).collect();
    if loops.is_empty() || touched::may_wait(ir) { vec![] } else { loops }
}

/// Whether it is an innermost loop that waits for loads of its own in each iteration, and whose order is not chosen.
fn has_candidates(ir: &Ir, looped: Op) -> bool {
    let Some(body) = ir.body(looped, 0).filter(|_| ir.is(looped, ScfOp::For)) else { return false };
    let mut waits = false;
    for op in ir.all_ops(looped).into_iter().filter(|&op| op != looped) {
        let exchanges = exchanges(ir, op);
        let stores = ir.is(op, TtOp::Store);
        let is_known = exchanges || stores || ir.is(op, TtOp::Load) || ir.is(op, ScfOp::If);
        let is_special = matches!(ir.kind(op), OpKind::Ttng(_)) || ir.kind(op).works_across_threads();
        if !is_known && (is_special || ir.kind(op).has(Traits::LOOP) || !effects(ir, op).is_free()) {
            return false;
        }
        waits |= exchanges || stores;
    }
    let is_short = trips(ir, For(looped)).is_some_and(|trips| trips <= DEPTH as i64);
    let is_last = ir.get(looped, NUM_STAGES) == Some(1);
    waits && !is_short && !is_last && ir.ops(body).any(|op| ir.is(op, TtOp::Load))
}

/// What is started ahead in a loop.
struct Plan {
    looped: For,
    body: Block,
    step: i64,
    loads: Vec<Load>,
    /// The carried values, by their numbers, that only these loads need.
    advanced: BTreeSet<usize>,
}

/// What operands of loads need in a loop.
#[derive(Clone, Default)]
struct Needed {
    ops: BTreeSet<Op>,
    carried: BTreeSet<usize>,
}

impl Plan {
    /// Steps 1 and 2.
    fn of(ir: &Ir, looped: Op) -> Option<Plan> {
        let (body, header) = (ir.body(looped, 0)?, For(looped));
        let step = fold::int_of(ir, header.step(ir)).filter(|&step| step > 0 && !header.unsignedCmp(ir))?;
        step.checked_mul(DEPTH as i64).filter(|&far| i32::try_from(far).is_ok())?;
        let mut stored = StoredAhead::of_loop(ir, body);
        let room = MOST.min(ROOM.saturating_sub(pressure(ir, body, 0).peak));
        let (mut held, mut needed, mut loads) = (0, Needed::default(), vec![]);
        for load in ir.ops(body).filter_map(|op| Load::of(ir, op)).filter(|load| !load.isVolatile(ir)) {
            let registers = of_type(ir.ty(load.result(ir))).max(1) * DEPTH as u32;
            if held + registers > room || stored.reach(load.0) {
                continue;
            }
            let Some(more) = needed.clone().with(ir, body, ir.operands(load.0)) else { continue };
            (held, needed) = (held + registers, more);
            loads.push(load);
        }
        let mut forms = Forms::new(ir);
        if loads.iter().all(|&load| hits_the_cache(&mut forms, ir, load, looped)) {
            return None;
        }
        let advanced = needed.only_for(ir, body, &loads);
        Some(Plan { looped: header, body, step, loads, advanced })
    }
}

/// Whether each iteration loads one element from where the one before did, or from less than a sector further.
fn hits_the_cache<'a>(forms: &mut Forms<'a>, ir: &'a Ir, load: Load, looped: Op) -> bool {
    let ty = ir.ty(load.result(ir));
    if ty.is_tensor() && ty.num_elements() > 1 {
        return false;
    }
    let Ok(form) = forms.of(load.ptr(ir)) else { return false };
    let trips = Atom::Trips(looped);
    let mut atoms = form.start.atoms().chain(form.base.map(Atom::Value));
    let is_known = form.others.is_empty() && atoms.all(|a| a == trips || !forms.changes_in(a, looped));
    let step = form.start.coefficient(trips).and_then(|step| step.as_constant()).filter(|_| is_known);
    let bits = ty.elem().bit_width().unwrap_or(u32::MAX);
    step.is_some_and(|step| step.unsigned_abs().saturating_mul(u64::from(bits)) < SECTOR * 8)
}

impl Needed {
    /// With what these values need; `None` if some of it cannot be computed for another iteration.
    fn with(mut self, ir: &Ir, body: Block, values: &[Value]) -> Option<Needed> {
        let end = ir.terminator(body)?;
        let mut open = values.to_vec();
        while let Some(value) = open.pop() {
            match ir.def(value) {
                ValueDef::Arg { block, index } if block == body => {
                    if let Some(carried) = (index as usize).checked_sub(1)
                        && self.carried.insert(carried)
                    {
                        open.push(ir.operand(end, carried));
                    }
                }
                ValueDef::Result { op, .. } if ir.parent_block(op) == Some(body) => {
                    let is_alone = ir.regions_of(op).is_empty() && !ir.kind(op).works_across_threads();
                    let may = is_alone && !ir.is(op, TtOp::Load) && is_speculatable(ir, op);
                    if !may || self.ops.len() == MOST_OPS {
                        return None;
                    }
                    if self.ops.insert(op) {
                        open.extend(ir.operands(op));
                    }
                }
                ValueDef::Arg { .. } | ValueDef::Result { .. } => {}
            }
        }
        Some(self)
    }

    /// The carried values that nothing but these loads needs, and what they become in the next iteration.
    fn only_for(&self, ir: &Ir, body: Block, loads: &[Load]) -> BTreeSet<usize> {
        let (Some(end), Some(looped)) = (ir.terminator(body), ir.block_op(body)) else { return BTreeSet::new() };
        let (mut ops, mut carried) = (self.ops.clone(), self.carried.clone());
        carried.retain(|&at| !ir.has_uses(ir.results(looped)[at]));
        let is_load = |op: Op| loads.iter().any(|load| load.0 == op);
        loop {
            let only = |value: Value, ops: &BTreeSet<Op>, carried: &BTreeSet<usize>| {
                ir.uses(value).iter().all(|used| {
                    let is_next = used.op == end && carried.contains(&(used.index as usize));
                    is_next || is_load(used.op) || ops.contains(&used.op)
                })
            };
            let kept: BTreeSet<Op> =
                ops.iter().copied().filter(|&op| ir.results(op).iter().all(|&v| only(v, &ops, &carried))).collect();
            let left: BTreeSet<usize> =
                carried.iter().copied().filter(|&at| only(ir.args(body)[at + 1], &kept, &carried)).collect();
            if kept == ops && left == carried {
                return carried;
            }
            (ops, carried) = (kept, left);
        }
    }
}

/// Where values of another iteration are computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// In front of the loop, counted from its first iteration.
    Front,
    /// At the start of the body, counted from the present one.
    Body,
}

/// Puts a plan into effect.
struct Ahead<'a> {
    ir: &'a mut Ir,
    plan: Plan,
    /// What the loop carries at first, in its body, and to the next iteration.
    inits: Vec<Value>,
    carried: Vec<Value>,
    yielded: Vec<Value>,
    /// The first operation of the body.
    first: Op,
    known: BTreeMap<(Place, Value, usize), Value>,
    /// Whether there are so many iterations more.
    counts: BTreeMap<(Place, usize), Value>,
}

impl Ahead<'_> {
    fn new(ir: &mut Ir, plan: Plan) -> Option<Ahead<'_>> {
        let inits = plan.looped.init(ir).to_vec();
        let carried = ir.args(plan.body).to_vec();
        let yielded = ir.operands(ir.terminator(plan.body)?).to_vec();
        let first = ir.ops(plan.body).next()?;
        Some(Ahead { ir, plan, inits, carried, yielded, first, known: BTreeMap::new(), counts: BTreeMap::new() })
    }

    /// Steps 3 and 4.
    fn start(mut self) {
        let (looped, body) = (self.plan.looped, self.plan.body);
        let loads = std::mem::take(&mut self.plan.loads);
        let advanced = self.plan.advanced.clone();
        let first: Vec<Vec<Value>> =
            (0..DEPTH).map(|k| loads.iter().map(|&load| self.load(load, Place::Front, k)).collect()).collect();
        let starts: Vec<(usize, Value)> =
            advanced.iter().map(|&at| (at, self.value(Place::Front, self.carried[at + 1], DEPTH))).collect();
        let next: Vec<Value> = loads.iter().map(|&load| self.load(load, Place::Body, DEPTH)).collect();
        let ends: Vec<(usize, Value)> =
            advanced.iter().map(|&at| (at, self.value(Place::Body, self.yielded[at], DEPTH))).collect();
        let ir = self.ir;
        let held: Vec<Vec<Value>> =
            first.iter().map(|values| values.iter().map(|&value| carry(ir, looped.0, body, value)).collect()).collect();
        for (at, value) in starts {
            ir.set_operand(looped.0, FIRST_CARRIED + at, value);
        }
        let Some(end) = ir.terminator(body) else { return };
        for (at, value) in ends {
            ir.set_operand(end, at, value);
        }
        let behind = self.yielded.len();
        for k in 0..DEPTH {
            for (at, &loaded) in next.iter().enumerate() {
                let value = held.get(k + 1).map_or(loaded, |values| values[at]);
                ir.set_operand(end, behind + k * loads.len() + at, value);
            }
        }
        for (&load, &value) in loads.iter().zip(&held[0]) {
            ir.replace_op(load.0, &[value]);
        }
    }

    /// The load of another iteration, if there is one: `k` behind the first one, or behind this one.
    fn load(&mut self, load: Load, place: Place, k: usize) -> Value {
        let operands: Vec<Value> = self.ir.operands(load.0).to_vec();
        let mut map = Mapping::default();
        for value in operands {
            let new = self.value(place, value, k);
            map.map(value, new);
        }
        let (runs, before) = (self.runs(place, k), self.before(place));
        let copy = self.ir.clone_op(load.0, &mut map);
        self.ir.insert_before(before, copy);
        let result = self.ir.result(copy);
        if let Some(runs) = runs {
            let (ty, mask) = (self.ir.ty(result), Load(copy).mask(self.ir));
            let ty = if ty.is_tensor() { ty.with_elem(Type::int(1)) } else { Type::int(1) };
            let mut b = Builder::before(self.ir, copy);
            let runs = if ty.is_tensor() { b.value(TtOp::Splat, &[runs], ty) } else { runs };
            let mask = mask.map_or(runs, |mask| b.value(ArithOp::Andi, &[mask, runs], ty));
            self.ir.put_operands(copy, Load::SLOT.mask, &[mask]);
        }
        result
    }

    /// Whether there is such an iteration; nothing where there surely is one.
    fn runs(&mut self, place: Place, k: usize) -> Option<Value> {
        let (lower, upper) = (self.plan.looped.lower(self.ir), self.plan.looped.upper(self.ir));
        if place == Place::Front && trips(self.ir, self.plan.looped).is_some_and(|trips| trips > k as i64) {
            return None;
        }
        if let Some(&known) = self.counts.get(&(place, k)) {
            return Some(known);
        }
        let (from, before) = (if place == Place::Front { lower } else { self.carried[0] }, self.before(place));
        let mut b = Builder::before(self.ir, before);
        // Of two numbers of which the second is the larger one, the difference is exact without a sign.
        let ty = b.ir.ty(upper);
        let left = b.value(ArithOp::Subi, &[upper, from], ty);
        let far = b.int(self.plan.step * k as i64, ty);
        let mut runs = b.cmpi(CmpiPredicate::Ugt, left, far);
        if place == Place::Front {
            let any = b.cmpi(CmpiPredicate::Slt, lower, upper);
            runs = if k == 0 { any } else { b.value(ArithOp::Andi, &[any, runs], Type::int(1)) };
        }
        self.counts.insert((place, k), runs);
        Some(runs)
    }

    /// A value as it is `k` iterations further.
    fn value(&mut self, place: Place, value: Value, k: usize) -> Value {
        if let Some(&known) = self.known.get(&(place, value, k)) {
            return known;
        }
        let new = self.compute(place, value, k);
        self.known.insert((place, value, k), new);
        new
    }

    fn compute(&mut self, place: Place, value: Value, k: usize) -> Value {
        let body = self.plan.body;
        match self.ir.def(value) {
            ValueDef::Arg { block, index } if block == body => match (index as usize).checked_sub(1) {
                None => self.number(place, value, k),
                Some(at) if place == Place::Body && k == DEPTH && self.plan.advanced.contains(&at) => value,
                Some(at) if k > 0 => self.value(place, self.yielded[at], k - 1),
                Some(at) if place == Place::Front => self.inits[at],
                Some(_) => value,
            },
            ValueDef::Result { op, .. } if self.ir.parent_block(op) == Some(body) => {
                let mut map = Mapping::default();
                for operand in self.ir.operands(op).to_vec() {
                    let new = self.value(place, operand, k);
                    map.map(operand, new);
                }
                let before = self.before(place);
                let copy = self.ir.clone_op(op, &mut map);
                self.ir.insert_before(before, copy);
                for (old, new) in self.ir.results(op).to_vec().into_iter().zip(self.ir.results(copy).to_vec()) {
                    self.known.insert((place, old, k), new);
                }
                self.known[&(place, value, k)]
            }
            ValueDef::Arg { .. } | ValueDef::Result { .. } => value,
        }
    }

    /// The induction variable.
    fn number(&mut self, place: Place, number: Value, k: usize) -> Value {
        let from = if place == Place::Front { self.plan.looped.lower(self.ir) } else { number };
        if k == 0 {
            return from;
        }
        let before = self.before(place);
        let mut b = Builder::before(self.ir, before);
        let ty = b.ir.ty(from);
        let far = b.int(self.plan.step * k as i64, ty);
        b.value(ArithOp::Addi, &[from, far], ty)
    }

    fn before(&self, place: Place) -> Op {
        if place == Place::Front { self.plan.looped.0 } else { self.first }
    }
}
