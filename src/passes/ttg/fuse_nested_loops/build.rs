//! Steps 2 to 4 of [`super::fuse`]: the fused loop, piece by piece.

use super::bounds::bounds;
use super::count::{Counts, add_length, is_known, repeat_trips};
use super::fuse::{BOUNDS, Inner, Logue, Route};
use crate::ir::core::{Attr, Block, Builder, InsertPoint, Ir, Mapping, Op, OpState, Type, TypeData, Value};
use crate::ir::dialects::discardable::{DISALLOW_MULTI_BUFFER, MUST_EXECUTE, NUM_STAGES, WARP_SPECIALIZE};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::{ArithOp, ScfOp, UbOp};
use crate::passes::ttg::pipeline::schedule::ancestor_in;

/// The fused loop while it is made.
pub(super) struct Fuser<'a> {
    b: Builder<'a>,
    outer: Op,
    outer_body: Block,
    pub(super) inners: Vec<Inner>,
    logues: Vec<Logue>,
    known: Vec<bool>,
    ty: Type,
    fused: Op,
    /// Its body.
    block: Block,
    /// Where in its arguments and start values the groups begin.
    places: Places,
    t: Value,
    /// The outer induction variable of this iteration.
    induction: Value,
    lengths: Vec<Value>,
    inner_len: Value,
    /// Of inner loop k: where it starts, its induction variable and carried values.
    start: Value,
    state: Vec<Value>,
    /// Next values of the induction variables, results and outputs, group by group.
    next_inductions: Vec<Value>,
    next_results: Vec<Vec<Value>>,
    next_outputs: Vec<Value>,
    next_outer: Vec<Value>,
}

/// Positions of carried values: `t` and the outer induction variable are the first two.
struct Places {
    outer: usize,
    lengths: usize,
    inner_len: usize,
    inductions: usize,
    results: Vec<usize>,
    outputs: Vec<usize>,
}

impl<'a> Fuser<'a> {
    /// Step 2.
    pub(super) fn new(ir: &'a mut Ir, outer: Op, inners: Vec<Inner>, logues: Vec<Logue>, counts: Counts) -> Fuser<'a> {
        let outer_body = ir.body(outer, 0).expect("a loop has a body");
        let known = inners.iter().map(|i| is_known(ir, outer, i)).collect();
        let mut b = Builder::before(ir, outer);
        let (ty, loc) = (counts.ty, b.loc);
        let [lower, _, step] = bounds(b.ir, outer);
        let before = b.ir.ty(lower);
        let zero = b.int(0, ty);
        let mut inits = vec![zero, b.value(ArithOp::Subi, &[lower, step], before)];
        let mut places = Places { outer: 2, lengths: 0, inner_len: 0, inductions: 0, results: vec![], outputs: vec![] };
        inits.extend(&b.ir.operands(outer)[BOUNDS..]);
        places.lengths = inits.len();
        inits.extend(&counts.inners);
        places.inner_len = inits.len();
        inits.push(counts.inner_len);
        places.inductions = inits.len();
        for inner in &inners {
            let ty = b.ir.ty(scf::For(inner.op).lower(b.ir));
            inits.push(unknown(&mut b, ty));
        }
        for inner in &inners {
            places.results.push(inits.len());
            for (i, result) in b.ir.results(inner.op).to_vec().into_iter().enumerate() {
                let ty = b.ir.ty(result);
                inits.push(match inner.fixed[i] {
                    Some(value) => value,
                    None => unknown(&mut b, ty),
                });
            }
        }
        for logue in &logues {
            places.outputs.push(inits.len());
            for &output in &logue.outputs {
                let ty = b.ir.ty(output);
                inits.push(unknown(&mut b, ty));
            }
        }
        let (first, one) = (b.int(0, ty), b.int(1, ty));
        let types: Vec<Type> = inits.iter().map(|&v| b.ir.ty(v)).collect();
        let state = OpState::new(ScfOp::For, loc)
            .operands(&[first, counts.total, one])
            .operands(&inits)
            .results(&types)
            .regions(1);
        let fused = b.insert(state);
        let region = b.ir.region(fused, 0);
        let args: Vec<_> = std::iter::once(ty).chain(types).map(|ty| (ty, loc)).collect();
        let block = b.ir.add_block(region, &args);
        let carried = b.ir.args(block)[1..].to_vec();
        for (&old, &new) in b.ir.args(outer_body).to_vec()[1..].iter().zip(&carried[places.outer..]) {
            b.ir.replace_all_uses(old, new);
        }
        b.set_point(InsertPoint::End(block));
        let (t, induction, start) = (carried[0], carried[1], zero);
        let lengths = carried[places.lengths..places.inner_len].to_vec();
        let inner_len = counts.inner_len;
        let (next_inductions, next_results, next_outputs, next_outer) = (vec![], vec![], vec![], vec![]);
        Fuser {
            b,
            outer,
            outer_body,
            inners,
            logues,
            known,
            ty,
            fused,
            block,
            places,
            t,
            induction,
            lengths,
            inner_len,
            start,
            state: vec![],
            next_inductions,
            next_results,
            next_outputs,
            next_outer,
        }
    }

    fn carried(&self, at: usize) -> Value {
        self.b.ir.args(self.block)[at + 1]
    }

    /// An `scf.if` at the end of the body with an empty block on each side.
    fn branch(&mut self, condition: Value, like: &[Value]) -> (Op, Block, Block) {
        let types: Vec<Type> = like.iter().map(|&v| self.b.ir.ty(v)).collect();
        let state = self.b.state(ScfOp::If).operands(&[condition]).results(&types).regions(2);
        let op = self.b.insert(state);
        let sides = [0, 1].map(|i| {
            let region = self.b.ir.region(op, i);
            self.b.ir.add_block(region, &[])
        });
        (op, sides[0], sides[1])
    }

    /// A builder at the end of another block.
    fn at(&mut self, block: Block) -> Builder<'_> {
        let loc = self.b.loc;
        Builder::new(self.b.ir, InsertPoint::End(block), loc)
    }

    fn move_into(&mut self, block: Block, ops: &[Op]) {
        for &op in ops {
            self.b.ir.detach(op);
            self.b.ir.append(block, op);
        }
    }

    /// Makes uses of the outputs outside of the branch uses of its results.
    fn replace_outputs(&mut self, branch: Op, outputs: &[Value], results: &[Value]) {
        for (&old, &new) in outputs.iter().zip(results) {
            self.b.ir.replace_uses_if(old, new, |ir, u| !ir.is_ancestor(branch, u.op));
        }
    }

    /// Step 3, the prologue of inner loop `k`.
    pub(super) fn prologue(&mut self, k: usize) {
        let mut start = self.b.int(0, self.ty);
        for i in 0..k {
            start = add_length(&mut self.b, start, self.lengths[i]);
        }
        let shared = self.b.int(k as i64, self.ty);
        self.start = self.b.value(ArithOp::Subi, &[start, shared], self.ty);
        let condition = self.b.cmpi(CmpiPredicate::Eq, self.t, self.start);
        let (inner, fixed) = (self.inners[k].op, self.inners[k].fixed.clone());
        let (ops, outputs) = (self.logues[k].ops.clone(), self.logues[k].outputs.clone());
        // On the other side, all stays as it is.
        let mut kept = vec![self.carried(self.places.inductions + k)];
        kept.extend((0..outputs.len()).map(|i| self.carried(self.places.outputs[k] + i)));
        kept.extend((0..fixed.len()).filter(|&i| fixed[i].is_none()).map(|i| self.carried(self.places.results[k] + i)));
        if k == 0 {
            kept.push(self.induction);
            kept.extend(&self.lengths);
            let all_known = self.known.iter().all(|&k| k);
            kept.push(if all_known { self.inner_len } else { self.carried(self.places.inner_len) });
        }
        let (branch, then, other) = self.branch(condition, &kept);
        let first = if k == 0 { self.next_iteration(then, &ops) } else { vec![] };
        if k > 0 {
            self.move_into(then, &ops);
        }
        let mut values = vec![scf::For(inner).lower(self.b.ir)];
        values.extend(&outputs);
        values.extend(self.b.ir.operands(inner)[BOUNDS..].iter().zip(&fixed).filter(|f| f.1.is_none()).map(|f| *f.0));
        if let Some(&now) = first.first() {
            let old = self.b.ir.args(self.outer_body)[0];
            values.iter_mut().filter(|v| **v == old).for_each(|v| *v = now);
        }
        values.extend(first);
        self.at(then).op(ScfOp::Yield, &values, &[]);
        self.at(other).op(ScfOp::Yield, &kept, &[]);
        let results = self.b.ir.results(branch).to_vec();
        let (own, rest) = results[1..].split_at(outputs.len());
        self.replace_outputs(branch, &outputs, own);
        self.next_outputs.extend(own);
        let mut rest = rest.iter().copied();
        self.state = vec![results[0]];
        for (i, value) in fixed.iter().enumerate() {
            let fresh = if value.is_none() { rest.next() } else { None };
            self.state.push(fresh.unwrap_or_else(|| self.carried(self.places.results[k] + i)));
        }
        if k == 0 {
            let mut rest = rest.chain(None);
            self.induction = rest.next().expect("the outer induction variable is a result");
            self.lengths = rest.by_ref().take(self.inners.len()).collect();
            self.inner_len = rest.next().expect("the length is the last result");
            let old = self.b.ir.args(self.outer_body)[0];
            self.b.ir.replace_all_uses(old, self.induction);
        }
    }

    /// Prologue 0 itself: the outer induction variable goes on, and lengths that depend on it are computed. Gives it
    /// and the lengths.
    fn next_iteration(&mut self, then: Block, ops: &[Op]) -> Vec<Value> {
        let (ty, step, before) = (self.ty, scf::For(self.outer).step(self.b.ir), self.induction);
        let induction_type = self.b.ir.ty(before);
        let now = self.at(then).value(ArithOp::Addi, &[before, step], induction_type);
        let old = self.b.ir.args(self.outer_body)[0];
        let mut map = Mapping::default();
        map.map(old, now);
        let (mut lengths, mut inner_len) = (self.lengths.clone(), self.inner_len);
        let loc = self.b.loc;
        let mut inside = Builder::new(self.b.ir, InsertPoint::End(then), loc);
        for ((inner, length), _) in self.inners.iter().zip(&mut lengths).zip(&self.known).filter(|l| !l.1) {
            *length = repeat_trips(&mut inside, inner, &mut map, ty);
            inner_len = add_length(&mut inside, inner_len, *length);
        }
        self.move_into(then, ops);
        self.b.ir.replace_uses_if(old, now, |ir, u| ancestor_in(ir, then, u.op).is_some());
        [now].into_iter().chain(lengths).chain([inner_len]).collect()
    }

    /// Step 3, the body of inner loop `k`.
    pub(super) fn body(&mut self, k: usize) {
        let inner = self.inners[k].op;
        let inner_body = self.b.ir.body(inner, 0).expect("a loop has a body");
        let condition = if self.b.ir.stores(inner, MUST_EXECUTE) {
            self.b.constant(Attr::bool(true))
        } else {
            let end = self.b.value(ArithOp::Addi, &[self.start, self.lengths[k]], self.ty);
            let started = self.b.cmpi(CmpiPredicate::Sge, self.t, self.start);
            let runs = self.b.cmpi(CmpiPredicate::Slt, self.t, end);
            self.b.value(ArithOp::Andi, &[started, runs], Type::int(1))
        };
        let state = self.state.clone();
        let (branch, then, other) = self.branch(condition, &state);
        let args = self.b.ir.args(inner_body).to_vec();
        for (&arg, &value) in args.iter().zip(&state) {
            self.b.ir.replace_all_uses(arg, value);
        }
        let ops = self.b.ir.op_list(inner_body);
        self.move_into(then, &ops);
        let end = self.b.ir.terminator(then).expect("a loop's body ends in a yield");
        let (step, ty) = (scf::For(inner).step(self.b.ir), self.b.ir.ty(state[0]));
        let next = Builder::before(self.b.ir, end).value(ArithOp::Addi, &[state[0], step], ty);
        let values: Vec<Value> = [next].into_iter().chain(self.b.ir.operands(end).to_vec()).collect();
        self.b.ir.set_operands(end, &values);
        self.at(other).op(ScfOp::Yield, &state, &[]);
        let results = self.b.ir.results(branch).to_vec();
        for (&old, &new) in self.b.ir.results(inner).to_vec().iter().zip(&results[1..]) {
            self.b.ir.replace_all_uses(old, new);
        }
        self.next_inductions.push(results[0]);
        self.next_results.push(results[1..].to_vec());
    }

    /// Step 4.
    pub(super) fn epilogue(&mut self, epilogue: &Logue, routes: &[Route]) {
        let one = self.b.int(1, self.ty);
        let last = self.b.value(ArithOp::Subi, &[self.inner_len, one], self.ty);
        let condition = self.b.cmpi(CmpiPredicate::Eq, self.t, last);
        let end = self.b.ir.terminator(self.outer_body).expect("a loop's body ends in a yield");
        self.next_outer = self.b.ir.operands(end).to_vec();
        let mut set: Vec<Value> = routes.iter().map(|r| self.next_outer[r.index]).collect();
        let mut kept: Vec<Value> = routes.iter().map(|r| self.carried(self.places.outer + r.index)).collect();
        for (inner, results) in self.inners.iter().zip(&self.next_results) {
            for (fixed, &result) in inner.fixed.iter().zip(results) {
                if let Some(value) = fixed {
                    set.push(*value);
                    kept.push(result);
                }
            }
        }
        let (branch, then, other) = self.branch(condition, &kept);
        self.move_into(then, &epilogue.ops);
        self.at(then).op(ScfOp::Yield, &set, &[]);
        self.at(other).op(ScfOp::Yield, &kept, &[]);
        let results = self.b.ir.results(branch).to_vec();
        let (outer, resets) = results.split_at(routes.len());
        for (route, &value) in routes.iter().zip(outer) {
            self.next_outer[route.index] = value;
        }
        let mut resets = resets.iter();
        for (inner, results) in self.inners.iter().zip(&mut self.next_results) {
            for (_, result) in inner.fixed.iter().zip(results).filter(|f| f.0.is_some()) {
                *result = *resets.next().expect("one reset a fixed start value");
            }
        }
    }

    /// The end of the fused loop, its attributes, and the end of the loops it was made of.
    pub(super) fn finish(mut self) -> Op {
        let (one, zero) = (self.b.int(1, self.ty), self.b.int(0, self.ty));
        let next = self.b.value(ArithOp::Addi, &[self.t, one], self.ty);
        let last = self.b.value(ArithOp::Subi, &[self.inner_len, one], self.ty);
        let rolls_over = self.b.cmpi(CmpiPredicate::Eq, self.t, last);
        let t = self.b.value(ArithOp::Select, &[rolls_over, zero, next], self.ty);
        let mut values = vec![t, self.induction];
        values.extend(&self.next_outer);
        values.extend(&self.lengths);
        values.push(self.inner_len);
        values.extend(&self.next_inductions);
        values.extend(self.next_results.iter().flatten());
        values.extend(&self.next_outputs);
        self.b.op(ScfOp::Yield, &values, &[]);
        let (ir, outer, fused) = (self.b.ir, self.outer, self.fused);
        let loops: Vec<Op> = self.inners.iter().map(|i| i.op).chain([outer]).collect();
        for key in [WARP_SPECIALIZE, DISALLOW_MULTI_BUFFER] {
            if loops.iter().any(|&op| ir.stores(op, key)) {
                ir.put(fused, key, true);
            }
        }
        if let Some(stages) = loops.iter().filter_map(|&op| ir.get(op, NUM_STAGES)).max() {
            ir.put(fused, NUM_STAGES, stages);
        }
        let count = ir.results(outer).len();
        let results = ir.results(fused)[self.places.outer..][..count].to_vec();
        ir.replace_op(outer, &results);
        fused
    }
}

/// A value that nobody reads: zero where the type has one, which ptxas likes better than poison.
fn unknown(b: &mut Builder<'_>, ty: Type) -> Value {
    let elem = match ty.data() {
        TypeData::Tensor(t) => t.elem,
        _ => ty,
    };
    if elem.is_int() || elem == Type::index() || elem.as_float().is_some() {
        b.int(0, ty)
    } else {
        b.value(UbOp::Poison, &[], ty)
    }
}
