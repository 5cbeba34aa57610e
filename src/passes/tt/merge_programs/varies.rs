//! What of a kernel differs between one program and the next.
//!
//! # Algorithm
//!
//! The number of the program along the first axis changes from one program to the next. Everything that is computed
//! from it may. A quotient of it by something that does not change changes less often: `pid // n` is the same for most
//! neighbours. Scalars in front of the loops are computed anew for each program, so whether they are equal can be asked
//! at run time. So each value is traced back to the scalars of that kind from which it comes, its *roots*. A value
//! whose roots are equal for two programs is the same for both.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::core::{Block, Ir, Op, Value, ValueDef};
use crate::ir::dialects::enums::ProgramDim;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt::GetProgramId;
use crate::ir::dialects::{ArithOp, Effects, OpKind};
use crate::ir::rewrite::fold;

/// How often a scalar changes from one program to the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Rate {
    Never,
    Seldom,
    Mostly,
}

/// What is known of the values of a kernel. Those that have no roots are the same for all programs along the axis.
pub(super) struct Varies<'a> {
    ir: &'a Ir,
    rates: BTreeMap<Value, Rate>,
    roots: BTreeMap<Value, BTreeSet<Value>>,
}

/// Whether this is the number of the program along the first axis.
pub(super) fn is_number(ir: &Ir, op: Op) -> bool {
    GetProgramId::of(ir, op).is_some_and(|id| id.axis(ir) == Some(ProgramDim::X))
}

impl<'a> Varies<'a> {
    /// Of a function with one block.
    pub(super) fn new(ir: &'a Ir, body: Block) -> Varies<'a> {
        let mut varies = Varies { ir, rates: BTreeMap::new(), roots: BTreeMap::new() };
        for op in ir.ops(body) {
            varies.note_scalar(op);
        }
        // What a loop carries may vary only from the second iteration on.
        while varies.note_roots(body) {}
        varies
    }

    /// How often a scalar changes, if it can be computed in front of the kernel.
    pub(super) fn rate(&self, value: Value) -> Option<Rate> {
        let is_parameter = matches!(self.ir.def(value), ValueDef::Arg { .. });
        if is_parameter { Some(Rate::Never) } else { self.rates.get(&value).copied() }
    }

    /// The scalars that decide whether a value is the same for two programs.
    pub(super) fn roots(&self, value: Value) -> BTreeSet<Value> {
        self.roots.get(&value).cloned().unwrap_or_default()
    }

    /// Takes an operation in front of all loops into account if it makes an integer from such integers.
    fn note_scalar(&mut self, op: Op) {
        let ir = self.ir;
        let [result] = *ir.results(op) else { return };
        if !ir.ty(result).is_int() || ir.spec(op).effects != Effects::Pure || !ir.regions_of(op).is_empty() {
            return;
        }
        let operands = ir.operands(op);
        let known = operands.iter().map(|&v| self.rate(v).filter(|_| ir.ty(v).is_int()));
        let Some(rates) = known.collect::<Option<Vec<Rate>>>() else { return };
        let rate = match (ir.kind(op), &rates[..]) {
            _ if is_number(ir, op) => Rate::Mostly,
            (OpKind::Arith(ArithOp::Divsi | ArithOp::Divui | ArithOp::Shrsi | ArithOp::Shrui), &[of, by])
                if fold::int_of(ir, operands[1]) != Some(1) =>
            {
                by.max(of.min(Rate::Seldom))
            }
            _ => rates.into_iter().max().unwrap_or(Rate::Never),
        };
        self.rates.insert(result, rate);
    }

    /// One round over a block. Returns whether any value got a root.
    fn note_roots(&mut self, block: Block) -> bool {
        let ir = self.ir;
        let mut changed = false;
        for op in ir.ops(block) {
            let inner: Vec<Block> = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r).iter().copied()).collect();
            if let Some(looped) = For::of(ir, op) {
                changed |= self.note_loop(op, looped);
            }
            for &block in &inner {
                changed |= self.note_roots(block);
            }
            let mut roots = BTreeSet::new();
            if ir.results(op).iter().any(|&r| self.rate(r).is_some_and(|rate| rate > Rate::Never)) {
                roots.extend(ir.results(op));
            } else {
                let yields = inner.iter().filter_map(|&b| ir.terminator(b)).flat_map(|end| ir.operands(end));
                for &v in ir.operands(op).iter().chain(yields) {
                    roots.extend(self.roots(v));
                }
            }
            for &result in ir.results(op) {
                changed |= self.add(result, &roots);
            }
        }
        changed
    }

    /// The roots of what the body of a loop is given.
    fn note_loop(&mut self, op: Op, looped: For) -> bool {
        let ir = self.ir;
        let Some(body) = ir.body(op, 0) else { return false };
        let Some((&number, carried)) = ir.args(body).split_first() else { return false };
        let mut of_number = self.roots(looped.lower(ir));
        of_number.extend(self.roots(looped.step(ir)));
        let mut changed = self.add(number, &of_number);
        for (i, &arg) in carried.iter().enumerate() {
            let mut roots = self.roots(looped.init(ir)[i]);
            if let Some(end) = ir.terminator(body) {
                roots.extend(self.roots(ir.operand(end, i)));
            }
            changed |= self.add(arg, &roots);
        }
        changed
    }

    fn add(&mut self, value: Value, roots: &BTreeSet<Value>) -> bool {
        if roots.is_empty() {
            return false;
        }
        let known = self.roots.entry(value).or_default();
        let before = known.len();
        known.extend(roots);
        known.len() > before
    }
}
