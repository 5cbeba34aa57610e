//! `ttc-rotate-chains`: in a loop in which one product waits for another, the first product of the next iteration runs
//! beside the last one of this iteration.
//!
//! In attention, `Q·K` goes through the softmax into `P·V`. A warp group multiplies, computes its softmax, and
//! multiplies again. As it stands, it waits for `P·V` and the next `Q·K` together, and the softmax begins when both are
//! done. In the rotated loop it begins when `Q·K` is done, and `P·V` runs under it:
//!
//! ```text
//! as it stands    Q·K₀  softmax₀  P·V₀ Q·K₁  softmax₁  P·V₁ Q·K₂  softmax₂  P·V₂
//! rotated         Q·K₀  softmax₀  Q·K₁ P·V₀
//!                                      softmax₁  Q·K₂ P·V₁
//!                                                     softmax₂  P·V₂
//! ```
//!
//! The scores of the next iteration take the registers that this iteration's had: those are dead by then. The operand
//! that became of them is not, so the loop holds it beside both results. FlashAttention-3 calls this the pipelining of
//! GEMMs and softmax within a warp group; it does the same with the other order of the two products.
//!
//! # Algorithm
//!
//! Of each loop that waits for no barrier of its block ([`super::refill`] has taken those away):
//!
//! 1. The body is cut at its one wait for products. In front of it stands the *head*: one product, what it needs, and
//!    nothing that other threads see but waits for its operands. Behind it stands one more product, the sum of which
//!    is under way until the wait of the next iteration. It gets its first operand from the head's. The head of the
//!    next iteration is known from this iteration's head and from what does not change. Two iterations or more are
//!    filled in front of the loop, so that what the next head waits for is not what this iteration's rest copies.
//! 2. What stands behind the wait is told apart: what does not need the sum (the softmax, and arrivals at mbarriers,
//!    which may be late), what the sum goes through in front of its product, and the rest: waits for operands, the
//!    product, and all that stands behind it. Nothing of the rest reads the head's product.
//! 3. A thread holds the first operand of the last product in addition. As many blocks as before must share a
//!    multiprocessor.
//! 4. The loop becomes:
//!
//! ```text
//! if lower < upper:
//!   head of the first iteration; wait for its product
//!   loop:
//!     what does not need the sum; wait for the sum; arrivals; what the sum goes through
//!     if this is the last iteration: break
//!     head of the next iteration
//!     the rest; wait for the product of the head, and leave the last one under way
//!   the rest; wait for the sum
//! ```

use std::collections::BTreeSet;

use crate::analysis::chained_products::{self, WARP_GROUP};
use crate::analysis::register_use::of_type as registers;
use crate::ir::core::{Block, Builder, InsertPoint, Ir, Loc, Mapping, Op, OpState, Type, Value};
use crate::ir::dialects::arith::arith::{Cmpi, Subi};
use crate::ir::dialects::discardable::{EACH_WARP, FIRST_WARP};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::ttg::ttg::MemDescIndex;
use crate::ir::dialects::ttng::ttng::{
    AsyncTmaCopyGlobalToLocal, BarrierExpect, WaitBarrier, WarpGroupDot, WarpGroupDotWait,
};
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, TtgOp, TtngOp};
use crate::ir::effects::effects;
use crate::ir::rewrite::fold;
use crate::passes::common::canonicalize::canonicalize;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::nvidia::blocks;
use crate::passes::ttg::module_attrs;
use crate::target::{Target, Usage};

pub static PASS: Pass = Pass {
    name: "ttc-rotate-chains",
    doc: "run the first product of the next iteration beside the last one of this iteration",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// Registers of a thread that are neither results nor operands of products. With two warp groups ptxas keeps to these
/// where that makes room for a second block; one group has more (32 to 61 in 18 attentions).
const OTHERS: u32 = 32;
const OTHERS_OF_ONE_GROUP: u32 = 50;

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let (Some(target), Some(threads)) = (module_attrs::target(ir), module_attrs::threads(ir)) else {
        return Ok(Changed::No);
    };
    let loops: Vec<For> = ir.all_ops(ir.module()).into_iter().filter_map(|op| For::of(ir, op)).collect();
    let mut changed = false;
    for looped in loops {
        let plan = Plan::of(ir, looped).filter(|_| is_refilled(ir, looped));
        let plan = plan.filter(|plan| plan.leaves_blocks(ir, &target, threads.num_warps));
        if let Some(plan) = plan {
            plan.apply(ir);
            changed = true;
        }
    }
    if changed {
        let module = ir.module();
        canonicalize(ir, module);
    }
    Ok(Changed::from(changed))
}

/// How a loop is taken apart.
struct Plan {
    looped: For,
    body: Block,
    /// What stands in front of the wait, with the first product.
    head: Vec<Op>,
    first: WarpGroupDot,
    wait: WarpGroupDotWait,
    /// The operand of the wait that is the first product, and the one that is the sum of the iteration before.
    product: usize,
    sum: usize,
    last: WarpGroupDot,
    /// What does not need the sum.
    early: Vec<Op>,
    /// Arrivals at mbarriers, for slots that were left by the wait.
    arrivals: Vec<Op>,
    /// What the sum goes through on its way to the last product.
    through: Vec<Op>,
    /// Waits for operands, the last product, and what stands behind it.
    rest: Vec<Op>,
    /// Of the rest, what fills slots for iterations to come: nothing in the last one.
    ahead: Vec<Op>,
    /// What the head makes and others need, besides its product.
    handed: Vec<Value>,
}

impl Plan {
    /// Steps 1 and 2.
    fn of(ir: &Ir, looped: For) -> Option<Plan> {
        let body = ir.body(looped.0, 0).filter(|_| !looped.unsignedCmp(ir))?;
        let (end, ops) = ir.op_list(body).split_last().map(|(end, ops)| (*end, ops.to_vec()))?;
        let at = ops.iter().position(|&op| ir.is(op, TtngOp::WarpGroupDotWait))?;
        let wait = WarpGroupDotWait(ops[at]);
        let (head, behind) = (ops[..at].to_vec(), ops[at + 1..].to_vec());
        let first = only_product(ir, &head)?;
        let last = only_product(ir, &behind)?;
        let more_waits = behind.iter().any(|&op| ir.is(op, TtngOp::WarpGroupDotWait));
        if wait.pendings(ir) != Some(0) || more_waits || !is_chain(ir, looped.0, first, last) {
            return None;
        }
        // Only the wait reads the first product, and only the next iteration the last one.
        let product = only_use(ir, ir.result(first.0)).filter(|&(op, _)| op == wait.0)?.1;
        let yielded = only_use(ir, ir.result(last.0)).filter(|&(op, _)| op == end)?.1;
        let carried = *ir.args(body).get(yielded + 1)?;
        let sum = only_use(ir, carried).filter(|&(op, _)| op == wait.0)?.1;
        let mut others = (0..ir.operands(wait.0).len()).filter(|&i| i != product && i != sum);
        let is_outside = |value: Value| {
            ir.value_block(value).and_then(|block| ir.block_op(block)).is_some_and(|op| !ir.is_ancestor(looped.0, op))
        };
        let is_kept = |i: usize| {
            let operand = ir.operand(wait.0, i);
            let lasts = ir.ty(operand).as_memdesc().is_some() || is_outside(operand);
            lasts && !ir.has_uses(ir.results(wait.0)[i])
        };
        if !others.all(is_kept) {
            return None;
        }
        let is_ahead = |op: Op| is_wait_for_operands(ir, op) && filled_before(ir, looped, op) > 1;
        let is_head = |&op: &Op| op == first.0 || effects(ir, op).is_free() || is_ahead(op);
        if !head.iter().all(is_head) || !next_head_is_known(ir, looped, body, &head) {
            return None;
        }
        let made: Vec<Value> =
            head.iter().filter(|&&op| op != first.0).flat_map(|&op| ir.results(op).to_vec()).collect();
        let is_behind = |op: Op| op == end || !head.contains(&op) && op != wait.0;
        let handed: Vec<Value> =
            made.into_iter().filter(|&v| ir.users(v).into_iter().any(|op| is_behind(in_body(ir, body, op)))).collect();
        let is_number = |&v: &Value| ir.ty(v).is_tensor() || ir.ty(v).is_int();
        if !handed.iter().all(is_number) {
            return None;
        }
        let plan = Plan {
            looped,
            body,
            head,
            first,
            wait,
            product,
            sum,
            last,
            early: vec![],
            arrivals: vec![],
            through: vec![],
            rest: vec![],
            ahead: vec![],
            handed,
        };
        plan.told_apart(ir, &behind)
    }

    /// Step 2.
    fn told_apart(mut self, ir: &Ir, behind: &[Op]) -> Option<Plan> {
        let results = ir.results(self.wait.0);
        let (scores, sum) = (results[self.product], results[self.sum]);
        // What needs the sum, and what is of the rest or needs that.
        let (mut needs_sum, mut late) = (BTreeSet::from([sum]), BTreeSet::new());
        let at = behind.iter().position(|&op| op == self.last.0)?;
        let mut waited = false;
        for &op in &behind[..at] {
            let needs = |values: &BTreeSet<Value>| uses_any(ir, op, values);
            let does = effects(ir, op);
            if ir.is(op, TtngOp::ArriveBarrier) && ir.stores(op, EACH_WARP) {
                if needs(&late) || needs(&needs_sum) {
                    return None;
                }
                self.arrivals.push(op);
            } else if is_wait_for_operands(ir, op) || does.reads && !does.writes && waited || needs(&late) {
                waited = true;
                late.extend(ir.results(op));
                self.rest.push(op);
            } else if does.writes || does.allocates {
                return None;
            } else if needs(&needs_sum) {
                needs_sum.extend(ir.results(op));
                self.through.push(op);
            } else {
                self.early.push(op);
            }
        }
        self.rest.extend(&behind[at..]);
        self.ahead = self.rest.iter().copied().filter(|&op| ir.stores(op, FIRST_WARP)).collect();
        if !self.ahead.iter().all(|&op| self.is_of_later_iteration(ir, op)) {
            return None;
        }
        let reads = |value: Value| self.rest.iter().any(|&op| uses_any(ir, op, &BTreeSet::from([value])));
        let is_accumulated = |value: Value| !reads(value) || self.last.c(ir) == value;
        let is_kept = reads(scores) || self.yielded(ir).contains(&scores);
        (!is_kept && is_accumulated(sum)).then_some(self)
    }

    /// Whether an operation happens only in iterations that are not the last one: its predicate is
    /// `number < upper - c`, with `c` a step or more.
    fn is_of_later_iteration(&self, ir: &Ir, op: Op) -> bool {
        let pred = match (WaitBarrier::of(ir, op), BarrierExpect::of(ir, op), AsyncTmaCopyGlobalToLocal::of(ir, op)) {
            (Some(wait), ..) => wait.pred(ir),
            (_, Some(expect), _) => Some(expect.pred(ir)),
            (.., Some(copy)) => Some(copy.pred(ir)),
            _ => None,
        };
        let (number, upper) = (ir.args(self.body)[0], self.looped.upper(ir));
        let Some(compare) = pred.and_then(|pred| Cmpi::defining(ir, pred)) else { return false };
        let limit = compare.rhs(ir);
        let known = |value: Value| fold::int_of(ir, value);
        let earlier = match Subi::defining(ir, limit) {
            Some(difference) => known(difference.rhs(ir)).filter(|_| difference.lhs(ir) == upper),
            None => known(upper).zip(known(limit)).map(|(upper, limit)| upper - limit),
        };
        compare.predicate(ir) == Some(CmpiPredicate::Slt)
            && compare.lhs(ir) == number
            && known(self.looped.step(ir)).zip(earlier).is_some_and(|(step, earlier)| 0 < step && step <= earlier)
    }

    /// Step 3.
    fn leaves_blocks(&self, ir: &Ir, target: &Target, warps: u32) -> bool {
        let others = if warps == WARP_GROUP { OTHERS_OF_ONE_GROUP } else { OTHERS };
        let results = registers(ir.ty(self.first.d(ir))) + registers(ir.ty(self.last.d(ir)));
        // An operand in shared memory is no tensor, and takes none.
        let held = others + results + registers(ir.ty(self.first.a(ir)));
        let operand = registers(ir.ty(self.last.a(ir)));
        let shared = blocks::shared(ir, self.looped.0);
        let fit = |registers| target.multiprocessor().occupancy(&Usage { warps, registers, shared }).blocks;
        held + operand <= Target::MAX_REGISTERS_PER_THREAD && fit(held + operand) >= fit(held)
    }

    /// Step 4.
    fn apply(&self, ir: &mut Ir) {
        let looped = self.looped;
        let (lower, upper, step) = (looped.lower(ir), looped.upper(ir), looped.step(ir));
        let (inits, loc) = (looped.init(ir).to_vec(), ir.loc(looped.0));
        let types: Vec<Type> = inits.iter().map(|&init| ir.ty(init)).collect();
        let mut b = Builder::before(ir, looped.0);
        let runs = b.cmpi(CmpiPredicate::Slt, lower, upper);
        let branch = b.insert(OpState::new(ScfOp::If, loc).operands(&[runs]).results(&types).regions(2));
        let [then, otherwise] = [0, 1].map(|side| block_of(ir, branch, side, &[]));

        let (number, carried) = ir.args(self.body).split_first().map(|(n, c)| (*n, c.to_vec())).expect("a loop counts");
        let mut map = Mapping::default();
        map.map(number, lower);
        map.map_all(&carried, &inits);
        copy(ir, &self.head, then, &mut map);
        self.wait_for_first(ir, then, &mut map, 0);

        // The loop carries what it did, with its number, and what the head hands on. Its first half hands on what the
        // second one needs.
        let product = ir.results(self.wait.0)[self.product];
        let along: Vec<Value> =
            carried.iter().copied().chain([number]).chain(self.handed.iter().copied()).chain([product]).collect();
        let passed = self.passed(ir, &along);
        let start: Vec<Value> = along.iter().map(|&value| map.get(value)).collect();
        let types: Vec<Type> = passed.iter().map(|&value| ir.ty(value)).chain([ir.ty(number)]).collect();
        let state = OpState::new(ScfOp::While, loc).operands(&start).results(&types).regions(2);
        let rotated = Builder::new(ir, InsertPoint::End(then), loc).insert(state);
        let before = block_of(ir, rotated, 0, &along);
        let mut map = Mapping::default();
        map.map_all(&along, ir.args(before));
        self.first_half(ir, before, &mut map);
        let mut b = Builder::new(ir, InsertPoint::End(before), loc);
        let next = b.value(ArithOp::Addi, &[map.get(number), step], b.ir.ty(number));
        let goes_on = b.cmpi(CmpiPredicate::Slt, next, upper);
        let values = passed.iter().map(|&value| map.get(value));
        let operands: Vec<Value> = [goes_on].into_iter().chain(values).chain([next]).collect();
        b.op(ScfOp::Condition, &operands, &[]);

        let with_next: Vec<Value> = passed.iter().copied().chain([number]).collect();
        let after = block_of(ir, rotated, 1, &with_next);
        self.second_half(ir, after, &passed, &along);

        let mut map = Mapping::default();
        map.map_all(&passed, ir.results(rotated));
        let rest: Vec<Op> = self.rest.iter().copied().filter(|op| !self.ahead.contains(op)).collect();
        copy(ir, &rest, then, &mut map);
        let sum = self.wait_for(ir, then, &[map.get(ir.result(self.last.0))], 0)[0];
        map.map(ir.result(self.last.0), sum);
        let yielded = self.yielded(ir).into_iter().map(|value| map.get(value)).collect();
        for (block, values) in [(then, yielded), (otherwise, inits)] {
            Builder::new(ir, InsertPoint::End(block), loc).op(ScfOp::Yield, &values, &[]);
        }
        let results = ir.results(branch).to_vec();
        ir.replace_op(looped.0, &results);
        // The sum has been waited for where it was made.
        for &result in &results {
            let waits = ir.users(result).into_iter().filter(|&op| ir.is(op, TtngOp::WarpGroupDotWait));
            for wait in waits.filter(|&op| ir.operands(op) == [result]).collect::<Vec<_>>() {
                ir.replace_op(wait, &[result]);
            }
        }
    }

    fn yielded(&self, ir: &Ir) -> Vec<Value> {
        ir.terminator(self.body).map_or(vec![], |end| ir.operands(end).to_vec())
    }

    /// What of the first half, or of what the loop carries, the second half or the next iteration needs.
    fn passed(&self, ir: &Ir, along: &[Value]) -> Vec<Value> {
        let first = self.early.iter().chain(&self.through).flat_map(|&op| ir.results(op).to_vec());
        let sum = ir.results(self.wait.0)[self.sum];
        let (yielded, product) = (self.yielded(ir), ir.results(self.wait.0)[self.product]);
        let is_needed = |value: &Value| {
            let needs = |&op: &Op| uses_any(ir, op, &BTreeSet::from([*value]));
            *value != product && (yielded.contains(value) || self.rest.iter().chain(&self.head).any(needs))
        };
        along.iter().copied().chain(first).chain([sum]).filter(is_needed).collect()
    }

    /// The head of the next iteration and the rest of this one, behind what the first half has `passed`, and the number
    /// of the next iteration.
    fn second_half(&self, ir: &mut Ir, block: Block, passed: &[Value], along: &[Value]) {
        let args = ir.args(block).to_vec();
        let (number, carried) = ir.args(self.body).split_first().map(|(n, c)| (*n, c.to_vec())).expect("a loop counts");
        let mut map = Mapping::default();
        map.map_all(passed, &args);
        let mut ahead = Mapping::default();
        ahead.map(number, args[passed.len()]);
        for (&arg, value) in carried.iter().zip(self.yielded(ir)) {
            ahead.map(arg, map.get(value));
        }
        copy(ir, &self.head, block, &mut ahead);
        copy(ir, &self.rest, block, &mut map);
        self.wait_for_first(ir, block, &mut ahead, 1);
        for (&arg, value) in carried.iter().zip(self.yielded(ir)) {
            ahead.map(arg, map.get(value));
        }
        let values: Vec<Value> = along.iter().map(|&value| ahead.get(value)).collect();
        Builder::new(ir, InsertPoint::End(block), ir.loc(self.looped.0)).op(ScfOp::Yield, &values, &[]);
    }

    /// What an iteration does in front of its last product, with the sum waited for as late as can be.
    fn first_half(&self, ir: &mut Ir, block: Block, map: &mut Mapping) {
        copy(ir, &self.early, block, map);
        let carried = map.get(ir.operand(self.wait.0, self.sum));
        let sum = self.wait_for(ir, block, &[carried], 0)[0];
        map.map(ir.results(self.wait.0)[self.sum], sum);
        copy(ir, &self.arrivals, block, map);
        copy(ir, &self.through, block, map);
    }

    /// The wait for the product of the head that `map` knows, and for the buffers that it reads.
    fn wait_for_first(&self, ir: &mut Ir, block: Block, map: &mut Mapping, pendings: i64) {
        let operands = ir.operands(self.wait.0).to_vec();
        let kept: Vec<usize> = (0..operands.len()).filter(|&i| i != self.sum).collect();
        let values: Vec<Value> = kept.iter().map(|&i| map.get(operands[i])).collect();
        let waited = self.wait_for(ir, block, &values, pendings);
        for (i, value) in kept.into_iter().zip(waited) {
            map.map(ir.results(self.wait.0)[i], value);
        }
    }

    fn wait_for(&self, ir: &mut Ir, block: Block, values: &[Value], pendings: i64) -> Vec<Value> {
        let loc = ir.loc(self.wait.0);
        let types: Vec<Type> = values.iter().map(|&value| ir.ty(value)).collect();
        let state =
            WarpGroupDotWait::state(loc, values).results(&types).with(WarpGroupDotWait::ATTR.pendings, pendings);
        let wait = Builder::new(ir, InsertPoint::End(block), loc).insert(state);
        ir.results(wait).to_vec()
    }
}

/// Whether all copies of a loop are those of its first warp, so that it needs no barrier of the block for them.
fn is_refilled(ir: &Ir, looped: For) -> bool {
    let fills = [OpKind::from(TtngOp::AsyncTmaCopyGlobalToLocal), TtgOp::AsyncCopyGlobalToLocal.into()];
    let mut copies = ir.all_ops(looped.0).into_iter().filter(|&op| fills.iter().any(|&kind| ir.is(op, kind)));
    copies.all(|op| ir.stores(op, FIRST_WARP))
}

/// A block in a region of an operation, with an argument like each of these values.
fn block_of(ir: &mut Ir, op: Op, region: usize, like: &[Value]) -> Block {
    let loc = ir.loc(op);
    let args: Vec<(Type, Loc)> = like.iter().map(|&value| (ir.ty(value), loc)).collect();
    let region = ir.region(op, region);
    ir.add_block(region, &args)
}

fn copy(ir: &mut Ir, ops: &[Op], block: Block, map: &mut Mapping) {
    for &op in ops {
        let copied = ir.clone_op(op, map);
        ir.append(block, copied);
    }
}

/// The one product among operations, if it is asynchronous and none is inside of another operation.
fn only_product(ir: &Ir, ops: &[Op]) -> Option<WarpGroupDot> {
    let mut products = ops.iter().flat_map(|&op| ir.all_ops(op)).filter(|&op| ir.kind(op).is_product());
    let (only, None) = (products.next()?, products.next()) else { return None };
    WarpGroupDot::of(ir, only).filter(|product| product.isAsync(ir) && ops.contains(&only))
}

/// Whether the last product gets its first operand from the first one.
fn is_chain(ir: &Ir, looped: Op, first: WarpGroupDot, last: WarpGroupDot) -> bool {
    chained_products::waited_for(ir, looped) == BTreeSet::from([first.0]) && ir.ty(last.a(ir)).is_tensor()
}

/// Where a value that has one use is used.
fn only_use(ir: &Ir, value: Value) -> Option<(Op, usize)> {
    let [used] = ir.uses(value) else { return None };
    Some((used.op, used.index as usize))
}

/// A wait of all warps for operands that are in every iteration.
fn is_wait_for_operands(ir: &Ir, op: Op) -> bool {
    WaitBarrier::of(ir, op).is_some_and(|wait| wait.pred(ir).is_none()) && !ir.stores(op, FIRST_WARP)
}

/// How many slots are filled in front of a loop, of those that a wait is for one of.
fn filled_before(ir: &Ir, looped: For, wait: Op) -> usize {
    let slots = WaitBarrier::of(ir, wait).and_then(|wait| MemDescIndex::defining(ir, wait.alloc(ir)));
    let slots = slots.map_or(vec![], |slot| ir.users(slot.src(ir)));
    let users = slots.into_iter().filter(|&op| ir.is(op, TtgOp::MemDescIndex)).flat_map(|op| ir.users(ir.result(op)));
    users.filter(|&op| ir.is(op, TtngOp::BarrierExpect) && !ir.is_ancestor(looped.0, op)).count()
}

/// The operation of the body that holds this one.
fn in_body(ir: &Ir, body: Block, op: Op) -> Op {
    let outwards = std::iter::successors(Some(op), |&op| ir.parent_op(op));
    outwards.into_iter().find(|&op| ir.parent_block(op) == Some(body)).unwrap_or(op)
}

/// Whether an operation, or one in it, uses one of these values.
fn uses_any(ir: &Ir, op: Op, values: &BTreeSet<Value>) -> bool {
    ir.all_ops(op).into_iter().any(|op| ir.operands(op).iter().any(|value| values.contains(value)))
}

/// Whether what the head needs of the iteration before is there when that one's head has run.
fn next_head_is_known(ir: &Ir, looped: For, body: Block, head: &[Op]) -> bool {
    let Some(end) = ir.terminator(body) else { return false };
    let carried = ir.args(body).iter().skip(1);
    let needed = carried
        .zip(ir.operands(end))
        .filter(|&(&arg, _)| head.iter().any(|&op| uses_any(ir, op, &BTreeSet::from([arg]))));
    let is_known = |value: Value| match ir.def_op(value) {
        Some(op) => head.contains(&op) || !ir.is_ancestor(looped.0, op),
        None => true,
    };
    needed.map(|(_, &value)| value).all(is_known)
}
