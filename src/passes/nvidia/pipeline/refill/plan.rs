//! What is decided of the copies that share an mbarrier: when each slot is left, and what says so.
//!
//! # When a slot is left
//!
//! A `ttg.local_load` has left the slot when it is done. A `wgmma` that nobody waits for in place has left it at the
//! first `ttng.warp_group_dot_wait` on the way around the loop that lets fewer products run than were started after it:
//!
//! ```text
//! scf.for …
//!   %d = ttng.warp_group_dot %a, %b {isAsync}                started after it: none yet
//!   ttng.warp_group_dot_wait %d {pendings = 1}               0 < 1: it may still run
//!   …                                                        once around
//!   %d = ttng.warp_group_dot …                               one was started after it
//!   ttng.warp_group_dot_wait %d {pendings = 1}               1: it is done, an iteration later (lag 1)
//! ```
//!
//! # Why a wait for the slot ends
//!
//! All threads of a block run the same operations in the same order, and what is waited for, the arrivals of all warps
//! for an earlier use of the slot, stands before the wait in that order. So does all that the other warps may have to
//! wait for on the way there. With `d` iterations between a copy and its readers, iteration `i` refills the slot of
//! iteration `i + d - slots`, which is left in iteration `i + d - slots + lag`. That must be an earlier iteration, or
//! this one at an earlier place.
//!
//! # Why no phase is missed
//!
//! The first warp arrives as well, so the phases that have ended are never more than the arrivals that stand before its
//! wait. Between two waits for a slot there is one arrival of each warp. So the phase is the one that is waited for, or
//! the next, and one bit tells them apart.

use std::collections::BTreeSet;

use crate::ir::core::{Block, Ir, Op, Value, ValueDef};
use crate::ir::dialects::arith::arith::{Addi, Cmpi, Select};
use crate::ir::dialects::discardable::{FIRST_WARP, NUM_WARPS};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::ttg::ttg::MemDescIndex;
use crate::ir::dialects::ttng::ttng::{
    AsyncTmaCopyGlobalToLocal, BarrierExpect, WaitBarrier, WarpGroupDot, WarpGroupDotWait,
};
use crate::ir::dialects::{TtgOp, TtngOp};
use crate::ir::rewrite::fold::const_of;
use crate::layout::encodings::tma_messages;
use crate::passes::ttg::module_attrs;
use crate::passes::ttg::pipeline::schedule::ancestor_in;

/// The copies that share an mbarrier for each slot.
pub(super) struct Refill {
    /// The mbarriers that tell when a slot is full.
    pub(super) full: Value,
    /// Where these mbarriers end.
    pub(super) end: Op,
    pub(super) slots: u32,
    pub(super) expect: Op,
    pub(super) copies: Vec<Op>,
    /// What fills the first slots in front of the loop.
    pub(super) first: Vec<Op>,
    /// The slot that this iteration fills.
    pub(super) insert: Value,
    /// The operation behind which the slot is left.
    pub(super) left: Op,
    /// The slot that is left there, and whether there is one in the first iteration.
    pub(super) slot: Value,
    pub(super) always: bool,
    /// The bits of the block's number in which blocks of the cluster differ that copies fill with the same; 0 where
    /// each fills its own slots.
    pub(super) shared: u32,
}

/// The bits of the block's number in which blocks differ that want the same of this copy.
pub(super) fn shared_by(ir: &Ir, copy: Op) -> u32 {
    let filled = AsyncTmaCopyGlobalToLocal::of(ir, copy).map(|copy| copy.result(ir));
    filled.and_then(|slot| tma_messages(ir.ty(slot)).ok()).map_or(0, |plan| plan.copies)
}

/// Why copies keep their barrier.
pub(super) type Obstacle = &'static str;

/// The copies of a loop's body, in the order of the text: the `ttng.barrier_expect` that they begin with, and what is
/// decided.
///
/// `multicast`: whether a copy may go to several blocks.
pub(super) fn of_loop(ir: &Ir, looped: Op, multicast: bool) -> Vec<(Op, Result<Refill, Obstacle>)> {
    let Some(body) = ir.body(looped, 0) else { return vec![] };
    let expects = ir.ops(body).filter(|&op| !ir.stores(op, FIRST_WARP)).filter_map(|op| BarrierExpect::of(ir, op));
    // Others belong to copies that are waited for at once.
    let rotating = expects.filter(|expect| MemDescIndex::defining(ir, expect.alloc(ir)).is_some());
    rotating.map(|expect| (expect.0, Loop { ir, looped, body, multicast }.refill(expect))).collect()
}

/// A number that the loop counts up from slot to slot: `next = arg + 1 < slots ? arg + 1 : 0`.
struct Counter {
    arg: Value,
    next: Value,
    start: i64,
}

/// The users of one slot of an array in a loop, by the slot.
struct Users {
    outside: Vec<Op>,
    inserting: Vec<Op>,
    extracting: Vec<(Value, Op)>,
}

struct Loop<'a> {
    ir: &'a Ir,
    looped: Op,
    body: Block,
    multicast: bool,
}

impl Loop<'_> {
    fn refill(&self, expect: BarrierExpect) -> Result<Refill, Obstacle> {
        let ir = self.ir;
        let threads = module_attrs::threads(ir).ok_or("the module does not say how many warps there are")?;
        if threads.num_warps < 2 || self.among_warps_of_its_own() {
            return Err("the program is one warp, or its warps have different work");
        }
        let (full, insert) = self.slot_of(expect.alloc(ir)).ok_or("its mbarrier is no slot of an array")?;
        let slots = self.slots(full).ok_or("its mbarrier is no slot of an array in front of the loop")?;
        if slots < 2 {
            return Err("there is one slot, which all warps leave before it is filled again");
        }
        let end = ir.users(full).into_iter().find(|&op| ir.is(op, TtgOp::LocalDealloc));
        let end = end.ok_or("the array of its mbarriers does not end")?;
        let insert = self.counter(insert, slots).ok_or("the slot to fill is not counted up")?;
        let signals = self.users(full, insert.next, is_setup)?;
        let copies: Vec<Op> = signals.inserting.iter().copied().filter(|&op| op != expect.0).collect();
        let pred = expect.pred(ir);
        let copied = |&op: &Op| AsyncTmaCopyGlobalToLocal::of(ir, op).is_some_and(|c| c.pred(ir) == pred);
        if copies.is_empty() || !copies.iter().all(|op| copied(op) && self.stands_in_body(*op)) {
            return Err("something else than copies arrives at its mbarrier");
        }
        let [(extract, wait)] = signals.extracting[..] else { return Err("not one wait is for its mbarrier") };
        let waits = WaitBarrier::of(ir, wait).is_some_and(|w| w.pred(ir).is_none()) && self.stands_in_body(wait);
        let extract = self.counter(extract, slots).filter(|c| waits && c.start == -1);
        let extract = extract.ok_or("the wait for its mbarrier is not one of every iteration")?;
        let mut reads = vec![];
        for &copy in &copies {
            let filled = AsyncTmaCopyGlobalToLocal(copy).result(ir);
            let (buffer, slot) = self.slot_of(filled).ok_or("a copy fills no slot of a buffer")?;
            if slot != insert.next || self.slots(buffer) != Some(slots) {
                return Err("a copy fills another slot than its mbarrier is for");
            }
            let users = self.users(buffer, insert.next, |ir, op| ir.is(op, TtngOp::AsyncTmaCopyGlobalToLocal))?;
            if users.inserting.iter().any(|op| !copies.contains(op)) {
                return Err("something else than copies fills the slots");
            }
            for (slot, reader) in users.extracting {
                if slot != extract.next {
                    return Err("a slot is read that its mbarrier is not for");
                }
                reads.push(reader);
            }
        }
        let (lag, left) = self.left(wait, &reads)?;
        let refilled = lag - i64::from(slots) + insert.start - extract.start;
        if refilled > 0 || refilled == 0 && !ir.is_before(left, expect.0) {
            return Err("the slot is filled before it is left");
        }
        let fills = |op: &Op| ir.is(*op, TtngOp::BarrierExpect) || ir.is(*op, TtngOp::AsyncTmaCopyGlobalToLocal);
        let first = signals.outside.into_iter().filter(fills).collect();
        let shared = copies.iter().filter(|_| self.multicast).fold(0, |all, &copy| all | shared_by(ir, copy));
        let slot = if lag == 0 { extract.next } else { extract.arg };
        Ok(Refill {
            full,
            end,
            slots,
            expect: expect.0,
            copies,
            first,
            insert: insert.next,
            left,
            slot,
            always: lag == 0,
            shared,
        })
    }

    /// Whether the loop belongs to some of the block's warps.
    fn among_warps_of_its_own(&self) -> bool {
        let ir = self.ir;
        std::iter::successors(ir.parent_op(self.looped), |&o| ir.parent_op(o))
            .any(|o| o != ir.module() && (ir.is(o, TtgOp::WarpSpecializePartitions) || ir.stores(o, NUM_WARPS)))
    }

    fn stands_in_body(&self, op: Op) -> bool {
        self.ir.parent_block(op) == Some(self.body)
    }

    /// The array and the index that a slot is taken by.
    fn slot_of(&self, slot: Value) -> Option<(Value, Value)> {
        let view = MemDescIndex::defining(self.ir, slot)?;
        Some((view.src(self.ir), view.index(self.ir)))
    }

    /// How many slots an array has that is made, without contents, in the block that the loop stands in.
    fn slots(&self, array: Value) -> Option<u32> {
        let ir = self.ir;
        let alloc = ir.def_op(array).filter(|&op| ir.is(op, TtgOp::LocalAlloc) && ir.operands(op).is_empty())?;
        let beside = ir.parent_block(alloc) == ir.parent_block(self.looped);
        let slots = ir.ty(array).as_memdesc()?.shape.first().copied()?;
        u32::try_from(slots).ok().filter(|_| beside)
    }

    fn counter(&self, value: Value, slots: u32) -> Option<Counter> {
        let ir = self.ir;
        let number = |value: Value| const_of(ir, value)?.int_value();
        let select = Select::defining(ir, value)?;
        let sum = select.false_value(ir);
        let (add, compare) = (Addi::defining(ir, sum)?, Cmpi::defining(ir, select.condition(ir))?);
        let counts = number(select.true_value(ir)) == Some(0)
            && number(add.rhs(ir)) == Some(1)
            && compare.predicate(ir) == Some(CmpiPredicate::Sge)
            && compare.lhs(ir) == sum
            && number(compare.rhs(ir)) == Some(i64::from(slots));
        let arg = add.lhs(ir);
        let ValueDef::Arg { block, index } = ir.def(arg) else { return None };
        let carried = (index as usize).checked_sub(1).filter(|_| counts && block == self.body)?;
        let end = ir.terminator(self.body)?;
        let start = number(*ir.operands(self.looped).get(carried + 3)?)?;
        (ir.operands(end).get(carried) == Some(&value)).then_some(Counter { arg, next: value, start })
    }

    /// What uses the slots of an array in the loop, where all uses outside of it are `setup`.
    fn users(&self, array: Value, insert: Value, setup: impl Fn(&Ir, Op) -> bool) -> Result<Users, Obstacle> {
        let ir = self.ir;
        let mut users = Users { outside: vec![], inserting: vec![], extracting: vec![] };
        for op in ir.users(array) {
            if ir.is(op, TtgOp::LocalDealloc) {
                continue;
            }
            let view = MemDescIndex::of(ir, op).ok_or("an array of slots is used as a whole")?;
            let found = self.behind_views(view.result(ir))?;
            if ancestor_in(ir, self.body, op).is_none() {
                if !found.iter().all(|&user| setup(ir, user)) {
                    return Err("slots are read or waited for outside of the loop");
                }
                users.outside.extend(found);
            } else if view.index(ir) == insert {
                users.inserting.extend(found);
            } else {
                users.extracting.extend(found.into_iter().map(|user| (view.index(ir), user)));
            }
        }
        Ok(users)
    }

    /// What uses a slot, through views. Waits for products only keep it alive.
    fn behind_views(&self, slot: Value) -> Result<Vec<Op>, Obstacle> {
        let ir = self.ir;
        let mut found = BTreeSet::new();
        let mut open = vec![slot];
        while let Some(value) = open.pop() {
            for used in ir.uses(value) {
                if ir.kind(used.op).is_view() {
                    open.extend(ir.results(used.op));
                } else if ir.is(used.op, TtngOp::WarpGroupDotWait) {
                    open.extend(ir.results(used.op).get(used.index as usize));
                } else {
                    found.insert(used.op);
                }
            }
        }
        let mut found: Vec<Op> = found.into_iter().collect();
        found.sort_by_key(|&op| self.position(op));
        Ok(found)
    }

    /// Where an operation, or the one that holds it, stands in the body.
    fn position(&self, op: Op) -> Option<usize> {
        let at = ancestor_in(self.ir, self.body, op)?;
        self.ir.ops(self.body).position(|o| o == at)
    }

    /// By how many iterations the last reader leaves a slot later than it is read, and behind which operation.
    fn left(&self, wait: Op, readers: &[Op]) -> Result<(i64, Op), Obstacle> {
        let ir = self.ir;
        let mut last: Option<(i64, usize, Op)> = None;
        for &reader in readers {
            let at = ancestor_in(ir, self.body, reader).filter(|&at| ir.is_before(wait, at));
            let at = at.ok_or("a slot is read before it is waited for")?;
            let (lag, done) = if ir.is(reader, TtgOp::LocalLoad) {
                (0, at)
            } else if let Some(product) = WarpGroupDot::of(ir, reader) {
                self.done(product).ok_or("a product that reads a slot is waited for in a branch, or not at all")?
            } else {
                return Err("a slot is used by something that is neither a load of it nor a product");
            };
            let position = self.position(done).ok_or("a slot is left outside of the loop")?;
            last = last.max(Some((lag, position, done)));
        }
        last.map(|(lag, _, done)| (lag, done)).ok_or("nothing reads the slots")
    }

    /// Where a product has left its operands.
    fn done(&self, product: WarpGroupDot) -> Option<(i64, Op)> {
        let ir = self.ir;
        if !product.isAsync(ir) {
            return self.stands_in_body(product.0).then_some((0, product.0));
        }
        let concerns = |op: Op| ir.is(op, TtngOp::WarpGroupDot) || ir.is(op, TtngOp::WarpGroupDotWait);
        let all: Vec<Op> = ir.all_ops(self.looped).into_iter().filter(|&op| concerns(op)).collect();
        // A wait in a branch may only make it earlier.
        let (all, inside): (Vec<Op>, Vec<Op>) = all.into_iter().partition(|&op| self.stands_in_body(op));
        if inside.iter().any(|&op| ir.is(op, TtngOp::WarpGroupDot)) {
            return None;
        }
        let at = all.iter().position(|&op| op == product.0)?;
        let (behind, around) = (all[at + 1..].iter().map(|&op| (0, op)), all.iter().map(|&op| (1, op)));
        let mut younger = 0;
        for (lag, op) in behind.chain(around) {
            let done = match (WarpGroupDotWait::of(ir, op), WarpGroupDot::of(ir, op)) {
                (Some(wait), _) => wait.pendings(ir).is_some_and(|left| left <= younger),
                (None, Some(next)) => {
                    younger += 1;
                    !next.isAsync(ir)
                }
                (None, None) => false,
            };
            if done {
                return Some((lag, op));
            }
        }
        None
    }
}

/// What is done to an mbarrier around the loop that it serves.
fn is_setup(ir: &Ir, op: Op) -> bool {
    [TtngOp::InitBarrier, TtngOp::InvalBarrier, TtngOp::BarrierExpect, TtngOp::AsyncTmaCopyGlobalToLocal]
        .into_iter()
        .any(|kind| ir.is(op, kind))
}
