//! The last iterations behind the kernel, so that the kernel needs no predicates.
//!
//! # Algorithm
//!
//! With `L` the last stage:
//!
//! 1. The kernel ends `L` iterations early: its upper bound is `upper - L·step`, and nothing in it is switched off.
//! 2. Behind it, part i = 1 … L runs the operations of the stages from i on in the schedule's order. In part i an
//!    operation of stage s works for version `L - s + i` of its values.
//! 3. Where the loop has fewer than `L` iterations, the prologue has begun fewer, and the first parts belong to those:
//!    the version that would be the v-th iteration runs only if there are at least v. Its number counts from
//!    `max(0, iterations - L)`.
//! 4. What a part computes of the loop's results counts only then.
//!
//! Example with two stages, a load in 0 and a product in 1, and n iterations: the prologue loads 0; the kernel, for i
//! from 0 to n-2, loads i+1 and multiplies i; the epilogue multiplies n-1.

use super::{Crossing, Expander};
use crate::ir::core::clone::Mapping;
use crate::ir::core::{Attr, Builder, InsertPoint, Ir, Op, Value};
use crate::ir::dialects::ArithOp;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::passes::ttg::pipeline::schedule::nested_operands;

impl Expander {
    fn constant(&self, ir: &mut Ir, value: i64) -> Value {
        let ty = ir.ty(ir.operands(self.looped)[0]);
        Builder::before(ir, self.looped).constant(Attr::int(value, ty))
    }

    /// A number in front of the old loop, which is behind the kernel.
    fn number(&self, ir: &mut Ir, op: ArithOp, operands: &[Value]) -> Value {
        let ty = ir.ty(*operands.last().expect("an operation has operands"));
        Builder::before(ir, self.looped).value(op, operands, ty)
    }

    /// Step 1.
    pub(super) fn earlier_bound(&self, ir: &mut Ir) -> Value {
        let [_, upper, step] = *ir.operands(self.looped).first_chunk::<3>().expect("a loop has bounds");
        let count = self.constant(ir, self.last as i64);
        let by = self.number(ir, ArithOp::Muli, &[step, count]);
        self.number(ir, ArithOp::Subi, &[upper, by])
    }

    /// Steps 2 to 4; `results` are the kernel's and become the loop's.
    pub(super) fn epilogue(&mut self, ir: &mut Ir, kernel: Op, crossing: &[Crossing], results: &mut [Value]) {
        self.versions.clear();
        self.versions_behind(ir, kernel, crossing);
        let predicates = self.iterations_behind(ir);
        let carried = self.carried(ir);
        let order = self.order.clone();
        for part in 1..=self.last {
            // Which version of which argument a result is.
            let mut updated: Vec<Option<(Value, usize)>> = vec![None; results.len()];
            for &(op, stage) in order.iter().filter(|o| o.1 >= part) {
                let version = self.last - stage + part;
                let mut map = Mapping::default();
                for value in nested_operands(ir, op) {
                    if let Some(known) = self.version(value, version) {
                        map.map(value, known);
                    }
                }
                let new = self.copy(ir, op, &mut map, predicates[version], InsertPoint::Before(self.looped));
                for (index, &old) in ir.results(op).to_vec().iter().enumerate() {
                    let made = ir.results(new)[index];
                    self.set_version(old, version, made);
                    for (at, &(arg, _)) in carried.iter().enumerate().filter(|(_, c)| c.1 == old) {
                        results[at] = made;
                        updated[at] = Some((arg, version));
                        self.set_version(arg, version + 1, made);
                    }
                }
            }
            for (at, updated) in updated.into_iter().enumerate() {
                let Some((arg, version)) = updated else { continue };
                let Some(before) = self.version(arg, version) else { continue };
                results[at] = self.number(ir, ArithOp::Select, &[predicates[version], results[at], before]);
                self.set_version(arg, version + 1, results[at]);
            }
        }
    }

    /// What the kernel leaves of the values that its last iterations have begun.
    fn versions_behind(&mut self, ir: &Ir, kernel: Op, crossing: &[Crossing]) {
        let carried = self.carried(ir);
        let results = ir.results(kernel).to_vec();
        let mut next = carried.len();
        for c in crossing {
            for i in 0..c.used - c.defined {
                self.set_version(c.value, self.last - c.used + 1 + i, results[next]);
                next += 1;
            }
        }
        for (index, &(arg, yielded)) in carried.iter().enumerate() {
            match ir.def_op(yielded).and_then(|def| self.stages.get(&def).copied()) {
                None => (1..=self.last).for_each(|v| self.set_version(arg, v, yielded)),
                Some(0) => {}
                Some(stage) => self.set_version(arg, self.last - stage + 1, results[index]),
            }
        }
    }

    /// Step 3: the predicates by version; and the versions of the loop's counter.
    fn iterations_behind(&mut self, ir: &mut Ir) -> Vec<Value> {
        let [lower, upper, step] = *ir.operands(self.looped).first_chunk::<3>().expect("a loop has bounds");
        let iv = ir.args(self.body)[0];
        let (zero, one, less) = (self.constant(ir, 0), self.constant(ir, 1), self.constant(ir, -1));
        let backwards = Builder::before(ir, self.looped).cmpi(CmpiPredicate::Slt, step, zero);
        let round = self.number(ir, ArithOp::Select, &[backwards, one, less]);
        let range = self.number(ir, ArithOp::Subi, &[upper, lower]);
        let range = self.number(ir, ArithOp::Addi, &[range, step]);
        let range = self.number(ir, ArithOp::Addi, &[range, round]);
        let iterations = self.number(ir, ArithOp::Divsi, &[range, step]);
        let begun = self.constant(ir, self.last as i64);
        let rest = self.number(ir, ArithOp::Subi, &[iterations, begun]);
        let mut at = self.number(ir, ArithOp::Maxsi, &[zero, rest]);
        // Version 0 is the kernel's.
        let mut predicates = vec![zero];
        for version in 1..=self.last {
            let offset = self.number(ir, ArithOp::Muli, &[step, at]);
            let counter = self.number(ir, ArithOp::Addi, &[lower, offset]);
            self.set_version(iv, version, counter);
            at = self.number(ir, ArithOp::Addi, &[at, one]);
            let count = self.constant(ir, version as i64);
            predicates.push(Builder::before(ir, self.looped).cmpi(CmpiPredicate::Sge, iterations, count));
        }
        predicates
    }
}
