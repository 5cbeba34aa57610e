//! When copies, products and waits around a loop happen: its operations issued one after the other on a simple machine.
//!
//! # The machine
//!
//! 1. One thread of control issues operations in order. Starting a load or an asynchronous product takes one slot,
//!    everything else none.
//! 2. Data arrives [`LATENCY`] slots after its load started. Any number of loads may be under way.
//! 3. Matrix products take [`DOT`] slots each and run one after the other.
//! 4. The thread waits where the program makes it wait: before the first use of loaded registers; at `ttg.async_wait
//!    {num}` until all groups of copies but the last `num` are there; at `ttng.wait_barrier` until the copies that
//!    arrive at this mbarrier are; behind a product that is not asynchronous; at `ttng.warp_group_dot_wait {pendings}`
//!    until all products but the last `pendings` are done.
//!
//! Scalars are computed, so loops run as often as they do and copies whose mask is off do not happen. A loop whose
//! bounds depend on arguments runs [`ROUNDS`] times. The slots are no measured times: what is shown is the order, and
//! what can overlap.

use std::collections::BTreeMap;

use crate::ir::core::{Block, Ir, Op, Value};
use crate::ir::dialects::ttng::ttng::AsyncTmaCopyGlobalToLocal;
use crate::ir::dialects::{AmdgOp, ArithOp, OpKind, ScfOp, TtOp, TtgOp, TtngOp};

/// Slots from the start of a load to its data.
pub(super) const LATENCY: u32 = 6;
/// Slots of a product.
pub(super) const DOT: u32 = 4;
/// How often a loop runs whose bounds are not known.
pub(super) const ROUNDS: i64 = 6;
/// The most rounds that are drawn.
const MOST_ROUNDS: usize = 16;

/// What a bar is, in the order in which lanes are drawn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Lane {
    Load,
    WaitForLoads,
    Dot,
    WaitForDots,
}

/// Something that takes time.
pub(super) struct Bar {
    pub(super) lane: Lane,
    /// Of the value that is loaded or computed; empty for waits.
    pub(super) name: String,
    /// The iteration that it is for, from 0.
    pub(super) iteration: usize,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) op: Op,
}

/// The bars of a loop and of what stands around it.
#[derive(Default)]
pub(super) struct Timeline {
    pub(super) bars: Vec<Bar>,
    /// When each round of the loop began, and when the last ended.
    pub(super) rounds: Vec<u32>,
    pub(super) end: u32,
    /// What was assumed, if anything was.
    pub(super) note: String,
}

/// Runs a loop, with the operations of its block before and behind it.
///
/// # Errors
/// What the machine cannot do, in words.
pub(super) fn of_loop(ir: &Ir, looped: Op) -> Result<Timeline, String> {
    let block = ir.parent_block(looped).ok_or("the loop is in no function")?;
    let mut machine = Machine::new(ir, looped);
    machine.assume();
    machine.block(block)?;
    // What is still under way ends by itself.
    machine.out.end = machine.out.bars.iter().map(|b| b.to).max().unwrap_or(0);
    Ok(machine.out)
}

/// When something is there, and the iteration that it belongs to.
type Due = (u32, usize);

struct Machine<'a> {
    ir: &'a Ir,
    looped: Op,
    /// Where the loop starts, if not at its lower bound.
    start: Option<i64>,
    now: u32,
    /// Scalars.
    known: BTreeMap<Value, i64>,
    /// Loaded registers that nobody waited for yet.
    loading: BTreeMap<Value, Due>,
    /// Copies since the last group was closed, and the groups.
    open: Vec<Due>,
    groups: Vec<Due>,
    /// When the copies are there that arrive at a barrier, which is one of an allocation by its number.
    barriers: BTreeMap<(Value, i64), Due>,
    /// Views of one of several buffers: the allocation and the number.
    views: BTreeMap<Value, (Value, i64)>,
    products: Vec<Due>,
    /// How often each value was loaded or computed.
    counts: BTreeMap<String, usize>,
    out: Timeline,
}

impl<'a> Machine<'a> {
    fn new(ir: &'a Ir, looped: Op) -> Machine<'a> {
        Machine {
            ir,
            looped,
            start: None,
            now: 0,
            known: BTreeMap::new(),
            loading: BTreeMap::new(),
            open: vec![],
            groups: vec![],
            barriers: BTreeMap::new(),
            views: BTreeMap::new(),
            products: vec![],
            counts: BTreeMap::new(),
            out: Timeline::default(),
        }
    }

    /// Gives bounds that are not known such values that the loop runs [`ROUNDS`] times.
    fn assume(&mut self) {
        let &[lower, upper, step, ..] = self.ir.operands(self.looped) else { return };
        let constant = |v: Value| {
            let op = self.ir.def_op(v).filter(|&op| self.ir.is(op, ArithOp::Constant))?;
            self.ir.int_attr(op, "value")
        };
        let step_by = constant(step).filter(|&s| s > 0).unwrap_or(1);
        if let (Some(from), Some(to), Some(_)) = (constant(lower), constant(upper), constant(step)) {
            let rounds = (to - from + step_by - 1) / step_by;
            if rounds > MOST_ROUNDS as i64 {
                // The last rounds, since masks count from the end.
                self.start = Some(to - ROUNDS * step_by);
                self.out.note = format!("The loop runs {rounds} times; drawn are {ROUNDS} rounds.");
            }
            return;
        }
        self.out.note = format!("The loop's bounds depend on arguments; drawn are {ROUNDS} rounds.");
        // An upper bound that stands still decides where the loop starts.
        let from = constant(lower).unwrap_or_else(|| constant(upper).map_or(0, |u| u - ROUNDS * step_by));
        self.known.extend([(lower, from), (step, step_by), (upper, from + ROUNDS * step_by)]);
    }

    fn block(&mut self, block: Block) -> Result<(), String> {
        for op in self.ir.op_list(block) {
            self.op(op)?;
        }
        Ok(())
    }

    fn op(&mut self, op: Op) -> Result<(), String> {
        let ir = self.ir;
        if !ir.is(op, ScfOp::Yield) {
            for value in ir.operands(op) {
                if let Some(due) = self.loading.remove(value) {
                    self.wait(Lane::WaitForLoads, due, op);
                }
            }
        }
        match ir.kind(op) {
            OpKind::Scf(ScfOp::For) if op == self.looped => self.run_loop(op)?,
            OpKind::Scf(ScfOp::If) => self.branch(op)?,
            OpKind::Tt(TtOp::Load) => self.load_registers(op, ir.operand_group(op, 1).first().copied()),
            OpKind::Amdg(AmdgOp::BufferLoad) => self.load_registers(op, ir.operand_group(op, 3).first().copied()),
            OpKind::Ttg(TtgOp::AsyncCopyGlobalToLocal) => {
                let mask = ir.operand_group(op, 2).first().copied();
                let due = self.load(op, mask);
                self.open.extend(due);
            }
            OpKind::Ttg(TtgOp::AsyncCommitGroup) => {
                let due = self.open.drain(..).max().unwrap_or((0, 0));
                self.groups.push(due);
            }
            OpKind::Ttng(TtngOp::AsyncTmaCopyGlobalToLocal) => self.copy_by_hardware(op),
            OpKind::Ttng(TtngOp::WaitBarrier) => self.wait_at_barrier(op),
            OpKind::Ttg(TtgOp::MemDescIndex) => {
                let [source, index] = ir.all_operands(op);
                if let Some(&number) = self.known.get(&index) {
                    self.views.insert(ir.result(op), (source, number));
                }
            }
            OpKind::Ttg(TtgOp::AsyncWait) => self.wait_for(op, "num", Lane::WaitForLoads),
            OpKind::Tt(TtOp::Dot | TtOp::DotScaled) | OpKind::Ttng(TtngOp::WarpGroupDot) => self.product(op),
            OpKind::Ttng(TtngOp::WarpGroupDotWait) => self.wait_for(op, "pendings", Lane::WaitForDots),
            _ if self.is_inside(op) && ir.regions_of(op).iter().any(|&r| self.has_time(r)) => {
                return Err(format!("`{}` inside the loop is not drawn", ir.op_name(op)));
            }
            _ => {
                if let Some(value) = self.scalar(op) {
                    self.known.entry(ir.result(op)).or_insert(value);
                }
            }
        }
        Ok(())
    }

    fn is_inside(&self, op: Op) -> bool {
        std::iter::successors(self.ir.parent_op(op), |&o| self.ir.parent_op(o)).any(|o| o == self.looped)
    }

    /// Whether something in a region would be a bar.
    fn has_time(&self, region: crate::ir::core::Region) -> bool {
        let ops = self.ir.blocks_of(region).iter().flat_map(|&b| self.ir.op_list(b));
        ops.flat_map(|op| self.ir.all_ops(op)).any(|op| {
            matches!(
                self.ir.kind(op),
                OpKind::Tt(TtOp::Load | TtOp::Dot | TtOp::DotScaled)
                    | OpKind::Ttg(TtgOp::AsyncCopyGlobalToLocal)
                    | OpKind::Ttng(TtngOp::AsyncTmaCopyGlobalToLocal | TtngOp::WarpGroupDot)
            )
        })
    }

    /// A branch is taken if its condition is not known.
    fn branch(&mut self, op: Op) -> Result<(), String> {
        let ir = self.ir;
        let holds = self.known.get(&ir.operands(op)[0]).is_none_or(|&c| c != 0);
        let Some(block) = ir.body(op, usize::from(!holds)) else { return Ok(()) };
        self.block(block)?;
        if let Some(end) = ir.terminator(block) {
            let values = ir.operands(end).to_vec();
            self.pass(&values, ir.results(op));
        }
        Ok(())
    }

    fn run_loop(&mut self, op: Op) -> Result<(), String> {
        let ir = self.ir;
        let bounds: Vec<i64> = ir.operands(op)[..3].iter().filter_map(|v| self.known.get(v).copied()).collect();
        let [lower, upper, step] = bounds[..] else { return Err("the loop's bounds are not known".into()) };
        let body = ir.body(op, 0).ok_or("a loop without a body")?;
        let end = ir.terminator(body).ok_or("a body without an end")?;
        let args = ir.args(body);
        let mut carried = ir.operands(op)[3..].to_vec();
        let mut at = self.start.unwrap_or(lower);
        while at < upper && step > 0 {
            if self.out.rounds.len() == MOST_ROUNDS {
                return Err(format!("the loop runs more than {MOST_ROUNDS} times"));
            }
            self.pass(&carried, &args[1..]);
            // What an earlier round computed is computed again.
            self.forget(body);
            self.known.insert(args[0], at);
            self.out.rounds.push(self.now);
            self.block(body)?;
            carried = ir.operands(end).to_vec();
            at += step;
        }
        self.out.rounds.push(self.now);
        self.pass(&carried, ir.results(op));
        Ok(())
    }

    fn forget(&mut self, body: Block) {
        for op in self.ir.op_list(body).into_iter().flat_map(|op| self.ir.all_ops(op)) {
            for value in self.ir.results(op) {
                self.known.remove(value);
                self.views.remove(value);
            }
        }
    }

    /// What is known of some values becomes known of others, all at once.
    fn pass(&mut self, from: &[Value], to: &[Value]) {
        let known: Vec<Option<i64>> = from.iter().map(|v| self.known.get(v).copied()).collect();
        let loading: Vec<Option<Due>> = from.iter().map(|v| self.loading.get(v).copied()).collect();
        for (i, &value) in to.iter().enumerate() {
            self.known.remove(&value);
            self.known.extend(known[i].map(|k| (value, k)));
            self.loading.remove(&value);
            self.loading.extend(loading[i].map(|d| (value, d)));
        }
    }

    fn load_registers(&mut self, op: Op, mask: Option<Value>) {
        if let Some(due) = self.load(op, mask)
            && self.ir.ty(self.ir.result(op)).is_tensor()
        {
            self.loading.insert(self.ir.result(op), due);
        }
    }

    /// Starts a load, unless its mask is off.
    fn load(&mut self, op: Op, mask: Option<Value>) -> Option<Due> {
        if mask.and_then(|m| self.known.get(&m)) == Some(&0) {
            return None;
        }
        let (name, iteration) = self.next(op);
        let to = self.now + LATENCY;
        self.out.bars.push(Bar { lane: Lane::Load, name, iteration, from: self.now, to, op });
        self.now += 1;
        Some((to, iteration))
    }

    fn copy_by_hardware(&mut self, op: Op) {
        let copy = AsyncTmaCopyGlobalToLocal(op);
        let barrier = self.barrier(copy.barrier(self.ir));
        if let Some(due) = self.load(op, Some(copy.pred(self.ir))) {
            self.barriers.entry(barrier).and_modify(|d| *d = (*d).max(due)).or_insert(due);
        }
    }

    fn wait_at_barrier(&mut self, op: Op) {
        let barrier = self.barrier(self.ir.operands(op)[0]);
        if let Some(due) = self.barriers.remove(&barrier) {
            self.wait(Lane::WaitForLoads, due, op);
        }
    }

    fn barrier(&self, value: Value) -> (Value, i64) {
        self.views.get(&value).copied().unwrap_or((value, 0))
    }

    fn product(&mut self, op: Op) {
        let (name, iteration) = self.next(op);
        let from = self.now.max(self.products.last().map_or(0, |p| p.0));
        let to = from + DOT;
        self.out.bars.push(Bar { lane: Lane::Dot, name, iteration, from, to, op });
        self.products.push((to, iteration));
        if self.ir.bool_attr(op, "isAsync") {
            self.now += 1;
        } else {
            self.wait(Lane::WaitForDots, (to, iteration), op);
        }
    }

    /// The name of what an operation loads or computes, and how often it came before.
    fn next(&mut self, op: Op) -> (String, usize) {
        let name = super::name_of(self.ir, op);
        let count = self.counts.entry(name.clone()).or_default();
        *count += 1;
        (name, *count - 1)
    }

    /// Waits for all but the last ones, as many as the attribute says.
    fn wait_for(&mut self, op: Op, attr: &str, lane: Lane) {
        let left = self.ir.int_attr(op, attr).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let started = if lane == Lane::WaitForLoads { &self.groups } else { &self.products };
        let due = started[..started.len().saturating_sub(left)].iter().max().copied();
        if let Some(due) = due {
            self.wait(lane, due, op);
        }
    }

    fn wait(&mut self, lane: Lane, (until, iteration): Due, op: Op) {
        if until > self.now {
            self.out.bars.push(Bar { lane, name: String::new(), iteration, from: self.now, to: until, op });
            self.now = until;
        }
    }

    /// The value of an operation on scalars; of a splat, the scalar.
    fn scalar(&self, op: Op) -> Option<i64> {
        let ir = self.ir;
        let operand = |i: usize| self.known.get(ir.operands(op).get(i)?).copied();
        Some(match ir.kind(op) {
            OpKind::Arith(ArithOp::Constant) => return ir.int_attr(op, "value"),
            OpKind::Tt(TtOp::Splat) | OpKind::Arith(ArithOp::Extsi | ArithOp::Trunci) => operand(0)?,
            OpKind::Arith(ArithOp::Addi) => operand(0)?.checked_add(operand(1)?)?,
            OpKind::Arith(ArithOp::Subi) => operand(0)?.checked_sub(operand(1)?)?,
            OpKind::Arith(ArithOp::Muli) => operand(0)?.checked_mul(operand(1)?)?,
            OpKind::Arith(ArithOp::Divsi) => operand(0)?.checked_div(operand(1)?)?,
            OpKind::Arith(ArithOp::Remsi) => operand(0)?.checked_rem(operand(1)?)?,
            OpKind::Arith(ArithOp::Andi) => match (operand(0), operand(1)) {
                (Some(0), _) | (_, Some(0)) => 0,
                (a, b) => a? & b?,
            },
            OpKind::Arith(ArithOp::Xori) => operand(0)? ^ operand(1)?,
            OpKind::Arith(ArithOp::Select) => operand(if operand(0)? == 0 { 2 } else { 1 })?,
            OpKind::Arith(ArithOp::Cmpi) => {
                let (a, b) = (operand(0)?, operand(1)?);
                // The predicates in MLIR's numbering; the unsigned ones are known for numbers that are not negative.
                i64::from(match ir.int_attr(op, "predicate")? {
                    0 => a == b,
                    1 => a != b,
                    2 => a < b,
                    3 => a <= b,
                    4 => a > b,
                    5 => a >= b,
                    _ if a < 0 || b < 0 => return None,
                    6 => a < b,
                    7 => a <= b,
                    8 => a > b,
                    9 => a >= b,
                    _ => return None,
                })
            }
            _ => return None,
        })
    }
}
