//! When loads, products and waits of a function happen: its operations issued one after the other on a simple machine.
//!
//! # The machine
//!
//! 1. One thread of control issues operations in order. Starting a load or an asynchronous product takes one slot,
//!    everything else none.
//! 2. Data arrives [`LATENCY`] slots after its load started. Any number of loads may be under way.
//! 3. Matrix products take [`DOT`] slots each and run one after the other.
//! 4. The thread waits where the program makes it wait: before the first use of loaded registers; at `ttg.async_wait
//!    {num}` until all groups of copies but the last `num` are there; behind a product that is not asynchronous; at
//!    `ttng.warp_group_dot_wait {pendings}` until all products but the last `pendings` are done.
//!
//! Scalars are computed, so loops run as often as they do and copies whose mask is off do not happen. The slots are no
//! measured times: what is shown is the order, and what can overlap.

use std::collections::BTreeMap;

use ttc::ir::core::{Block, Ir, Op, Value};
use ttc::ir::dialects::{ArithOp, OpKind, ScfOp, TtOp, TtgOp, TtngOp};

/// Slots from the start of a load to its data.
pub(crate) const LATENCY: u32 = 6;
/// Slots of a product.
pub(crate) const DOT: u32 = 4;

/// What a bar is, in the order in which lanes are drawn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Lane {
    Load,
    WaitForLoads,
    Dot,
    WaitForDots,
}

/// Something that takes time.
pub(crate) struct Bar {
    pub(crate) lane: Lane,
    /// Of the value that is loaded or computed; empty for waits.
    pub(crate) name: String,
    /// The iteration that it is for, from 0.
    pub(crate) iteration: usize,
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// A function's bars.
#[derive(Default)]
pub(crate) struct Timeline {
    pub(crate) bars: Vec<Bar>,
    /// When each round of the loop began, and when the last ended.
    pub(crate) rounds: Vec<u32>,
    pub(crate) end: u32,
}

/// Runs the first function with a loop.
pub(crate) fn of_module(ir: &Ir) -> Result<Timeline, String> {
    let looped =
        ir.all_ops(ir.module()).into_iter().find(|&op| ir.is(op, ScfOp::For)).ok_or("no `scf.for` in the module")?;
    let block = ir.parent_block(looped).ok_or("the loop is in no function")?;
    let mut machine = Machine::new(ir);
    machine.block(block)?;
    // What is still under way ends by itself.
    machine.out.end = machine.out.bars.iter().map(|b| b.to).max().unwrap_or(0);
    Ok(machine.out)
}

/// When something is there, and the iteration that it belongs to.
type Due = (u32, usize);

struct Machine<'a> {
    ir: &'a Ir,
    now: u32,
    /// Scalars.
    known: BTreeMap<Value, i64>,
    /// Loaded registers that nobody waited for yet.
    loading: BTreeMap<Value, Due>,
    /// Copies since the last group was closed, and the groups.
    open: Vec<Due>,
    groups: Vec<Due>,
    products: Vec<Due>,
    /// How often each value was loaded or computed.
    counts: BTreeMap<String, usize>,
    out: Timeline,
}

impl<'a> Machine<'a> {
    fn new(ir: &'a Ir) -> Machine<'a> {
        Machine {
            ir,
            now: 0,
            known: BTreeMap::new(),
            loading: BTreeMap::new(),
            open: vec![],
            groups: vec![],
            products: vec![],
            counts: BTreeMap::new(),
            out: Timeline::default(),
        }
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
                    self.wait(Lane::WaitForLoads, due);
                }
            }
        }
        match ir.kind(op) {
            OpKind::Scf(ScfOp::For) => self.run_loop(op)?,
            OpKind::Tt(TtOp::Load) => {
                let mask = ir.operand_group(op, 1).first().copied();
                if let Some(due) = self.load(op, mask) {
                    self.loading.insert(ir.result(op), due);
                }
            }
            OpKind::Ttg(TtgOp::AsyncCopyGlobalToLocal) => {
                let mask = ir.operand_group(op, 2).first().copied();
                let due = self.load(op, mask);
                self.open.extend(due);
            }
            OpKind::Ttg(TtgOp::AsyncCommitGroup) => {
                let due = self.open.drain(..).max().unwrap_or((0, 0));
                self.groups.push(due);
            }
            OpKind::Ttg(TtgOp::AsyncWait) => self.wait_for(op, "num", Lane::WaitForLoads),
            OpKind::Tt(TtOp::Dot) | OpKind::Ttng(TtngOp::WarpGroupDot) => self.product(op),
            OpKind::Ttng(TtngOp::WarpGroupDotWait) => self.wait_for(op, "pendings", Lane::WaitForDots),
            _ if !ir.regions_of(op).is_empty() => return Err(format!("`{}` cannot be drawn", ir.op_name(op))),
            _ => {
                if let Some(value) = self.scalar(op) {
                    self.known.insert(ir.result(op), value);
                }
            }
        }
        Ok(())
    }

    fn run_loop(&mut self, op: Op) -> Result<(), String> {
        let ir = self.ir;
        let bounds: Vec<i64> = ir.operands(op)[..3].iter().filter_map(|v| self.known.get(v).copied()).collect();
        let [lower, upper, step] = bounds[..] else { return Err("the loop's bounds must be constants".into()) };
        let body = ir.body(op, 0).ok_or("a loop without a body")?;
        let end = ir.terminator(body).ok_or("a body without an end")?;
        let args = ir.args(body);
        let mut carried = ir.operands(op)[3..].to_vec();
        let mut at = lower;
        while at < upper && step > 0 {
            self.pass(&carried, &args[1..]);
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

    /// Starts a load, unless its mask is off.
    fn load(&mut self, op: Op, mask: Option<Value>) -> Option<Due> {
        if mask.and_then(|m| self.known.get(&m)) == Some(&0) {
            return None;
        }
        let (name, iteration) = self.next(op);
        let to = self.now + LATENCY;
        self.out.bars.push(Bar { lane: Lane::Load, name, iteration, from: self.now, to });
        self.now += 1;
        Some((to, iteration))
    }

    fn product(&mut self, op: Op) {
        let (name, iteration) = self.next(op);
        let from = self.now.max(self.products.last().map_or(0, |p| p.0));
        let to = from + DOT;
        self.out.bars.push(Bar { lane: Lane::Dot, name, iteration, from, to });
        self.products.push((to, iteration));
        if self.ir.bool_attr(op, "isAsync") {
            self.now += 1;
        } else {
            self.wait(Lane::WaitForDots, (to, iteration));
        }
    }

    /// The name of an operation's value, and how often it came before.
    fn next(&mut self, op: Op) -> (String, usize) {
        let name = self.ir.loc(op).value_name().map_or_else(String::new, |n| n.to_string());
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
            self.wait(lane, due);
        }
    }

    fn wait(&mut self, lane: Lane, (until, iteration): Due) {
        if until > self.now {
            self.out.bars.push(Bar { lane, name: String::new(), iteration, from: self.now, to: until });
            self.now = until;
        }
    }

    /// The value of an operation on scalars; of a splat, the scalar.
    fn scalar(&self, op: Op) -> Option<i64> {
        let ir = self.ir;
        let operand = |i: usize| self.known.get(ir.operands(op).get(i)?).copied();
        Some(match ir.kind(op) {
            OpKind::Arith(ArithOp::Constant) => return ir.int_attr(op, "value"),
            OpKind::Tt(TtOp::Splat) => operand(0)?,
            OpKind::Arith(ArithOp::Addi) => operand(0)?.checked_add(operand(1)?)?,
            OpKind::Arith(ArithOp::Subi) => operand(0)?.checked_sub(operand(1)?)?,
            OpKind::Arith(ArithOp::Muli) => operand(0)?.checked_mul(operand(1)?)?,
            OpKind::Arith(ArithOp::Andi) => match (operand(0), operand(1)) {
                (Some(0), _) | (_, Some(0)) => 0,
                (a, b) => a? & b?,
            },
            OpKind::Arith(ArithOp::Select) => operand(if operand(0)? == 0 { 2 } else { 1 })?,
            OpKind::Arith(ArithOp::Cmpi) => {
                let (a, b) = (operand(0)?, operand(1)?);
                // The signed predicates, in MLIR's numbering.
                i64::from(match ir.int_attr(op, "predicate")? {
                    0 => a == b,
                    1 => a != b,
                    2 => a < b,
                    3 => a <= b,
                    4 => a > b,
                    5 => a >= b,
                    _ => return None,
                })
            }
            _ => return None,
        })
    }
}
