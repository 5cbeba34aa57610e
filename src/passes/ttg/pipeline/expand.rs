//! Second step of `tritongpu-pipeline`: a scheduled loop becomes a prologue and a loop in which the stages of several
//! iterations run.
//!
//! # Algorithm
//!
//! With `S` stages, the first of which is 0:
//!
//! 1. The schedule must be possible: unrolled, no operation comes before what it uses, and nothing is carried over more
//!    than one iteration.
//! 2. *Prologue.* For i = 0 … S-2, all operations of the stages up to i in the schedule's order, each for iteration `i
//!    - stage`. Each runs only if its iteration exists: it stands in a `ttg.mask` under that predicate.
//! 3. *Kernel.* One loop over the old bounds with all operations in the schedule's order; in iteration i an operation
//!    of stage s works for iteration `i + (S-1) - s`, under the predicate that this exists. A value used d stages after
//!    its definition is carried through d arguments.
//! 4. There is no epilogue: in the last iterations the early stages are switched off. Or there is one ([`epilogue`]).
//! 5. The masks are resolved: operations without effects run anyway, those with a mask of their own get the predicate
//!    into it.
//!
//! The versions of a value are numbered by iteration: in the prologue version v belongs to iteration v.

mod epilogue;
mod masks;

use std::collections::BTreeMap;

pub use masks::resolve_masks;
use masks::{can_be_switched_off, masked_copy, product_in_branch};

use super::schedule::{Schedule, body_ops, nested_operands};
use crate::diag::codes::passes as codes;
use crate::ir::core::clone::Mapping;
use crate::ir::core::{Attr, Block, Builder, InsertPoint, Ir, Loc, Op, OpState, Type, Value, ValueDef};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::passes::manager::PassCx;

/// Expands one loop; leaves it alone, with a remark, where that is impossible.
pub fn expand(ir: &mut Ir, cx: &mut PassCx, looped: Op) {
    expand_as(ir, cx, looped, None);
}

/// As [`expand`], with an epilogue ([`epilogue`]). What `mark` is given is an operation of the prologue.
pub fn expand_with_epilogue(ir: &mut Ir, cx: &mut PassCx, looped: Op, mark: fn(&mut Ir, Op)) {
    expand_as(ir, cx, looped, Some(mark));
}

fn expand_as(ir: &mut Ir, cx: &mut PassCx, looped: Op, peel: Option<fn(&mut Ir, Op)>) {
    let Some(schedule) = Schedule::read(ir, looped) else { return };
    let Some(body) = ir.body(looped, 0) else { return };
    let order: Vec<(Op, usize)> =
        schedule.in_order(ir, body).into_iter().map(|(op, stage, _)| (op, stage as usize)).collect();
    let Some(last) = order.iter().map(|o| o.1).max().filter(|_| order.len() == body_ops(ir, body).len()) else {
        return;
    };
    let stages: BTreeMap<Op, usize> = order.iter().copied().collect();
    let expander = Expander { looped, body, order, stages, last, versions: BTreeMap::new(), peel };
    if let Some(odd) = expander.obstacle(ir) {
        let text = format!(
            "the loop is not pipelined: `{}` can neither run ahead nor be switched off, or its schedule is impossible",
            ir.op_name(odd)
        );
        cx.remark(&codes::NOT_PIPELINED, ir.loc(odd), text);
        return;
    }
    expander.run(ir);
}

struct Expander {
    looped: Op,
    body: Block,
    /// Operations with their stages, as they stand in the kernel.
    order: Vec<(Op, usize)>,
    stages: BTreeMap<Op, usize>,
    /// The last stage.
    last: usize,
    /// What a value of the loop is for each iteration, as far as it is known.
    versions: BTreeMap<Value, Vec<Option<Value>>>,
    /// Set if the last iterations run behind the loop: what notes that an operation runs in front of it.
    peel: Option<fn(&mut Ir, Op)>,
}

/// A value that is used stages after its definition.
struct Crossing {
    value: Value,
    defined: usize,
    used: usize,
}

impl Expander {
    /// The defining operation of a value in the loop, and by how many iterations the value is older than its use.
    fn definition(&self, ir: &Ir, value: Value) -> Option<(Op, usize)> {
        let mut value = value;
        let mut distance = 0;
        loop {
            match ir.def(value) {
                ValueDef::Result { op, .. } => return Some((op, distance)),
                ValueDef::Arg { block, index } => {
                    if block != self.body || index == 0 || distance > ir.args(self.body).len() {
                        return None;
                    }
                    distance += 1;
                    value = *ir.operands(ir.terminator(self.body)?).get(index as usize - 1)?;
                }
            }
        }
    }

    /// Step 1: an operation that cannot be scheduled as it is.
    fn obstacle(&self, ir: &Ir) -> Option<Op> {
        let length = self.order.len();
        let cycles: BTreeMap<Op, usize> =
            self.order.iter().enumerate().map(|(i, &(op, stage))| (op, i + stage * length)).collect();
        for (i, &(op, stage)) in self.order.iter().enumerate() {
            let cycle = i + stage * length;
            for value in nested_operands(ir, op) {
                let Some((def, distance)) = self.definition(ir, value) else { continue };
                let early = cycles.get(&def).is_some_and(|&produced| cycle + length * distance < produced);
                if early || distance > 1 {
                    return Some(op);
                }
            }
            if (stage < self.last || self.peel.is_some()) && !can_be_switched_off(ir, op) {
                return Some(op);
            }
        }
        None
    }

    fn set_version(&mut self, value: Value, version: usize, to: Value) {
        let count = self.last + 1;
        if let Some(slot) = self.versions.entry(value).or_insert_with(|| vec![None; count]).get_mut(version) {
            *slot = Some(to);
        }
    }

    fn version(&self, value: Value, version: usize) -> Option<Value> {
        self.versions.get(&value)?.get(version).copied().flatten()
    }

    fn run(mut self, ir: &mut Ir) {
        self.prologue(ir);
        let crossing = self.crossing_values(ir);
        let (kernel, carried) = self.kernel_loop(ir, &crossing);
        self.kernel(ir, kernel, &crossing, &carried);
        let mut results: Vec<Value> = ir.results(kernel)[..ir.results(self.looped).len()].to_vec();
        if self.peel.is_some() {
            self.epilogue(ir, kernel, &crossing, &mut results);
        }
        ir.replace_op(self.looped, &results);
    }

    /// The loop's arguments without the induction variable, each with what the body yields for it.
    fn carried(&self, ir: &Ir) -> Vec<(Value, Value)> {
        let end = ir.terminator(self.body).expect("a loop ends in a yield");
        ir.args(self.body)[1..].iter().copied().zip(ir.operands(end).iter().copied()).collect()
    }

    /// Step 2.
    fn prologue(&mut self, ir: &mut Ir) {
        let [lower, upper, step] = *ir.operands(self.looped).first_chunk::<3>().expect("a loop has bounds");
        let inits = ir.operands(self.looped)[3..].to_vec();
        let carried = self.carried(ir);
        for (&(arg, yielded), &init) in carried.iter().zip(&inits) {
            self.set_version(arg, 0, init);
            // What is yielded from outside the loop is the value of every iteration but the first.
            let outside = self.definition(ir, yielded).is_none_or(|(def, d)| d == 0 && !self.is_inside(ir, def));
            if outside && ir.def_op(yielded).is_some() {
                (1..self.last).for_each(|v| self.set_version(arg, v, yielded));
            }
        }
        let iv = ir.args(self.body)[0];
        let loc = ir.loc(self.looped);
        let order = self.order.clone();
        let mut predicates = vec![];
        for i in 0..self.last {
            let ty = ir.ty(lower);
            let mut b = Builder::before(ir, self.looped);
            let count = b.constant(Attr::int(i as i64, ty));
            let offset = b.value(ArithOp::Muli, &[step, count], ty);
            let at = b.value(ArithOp::Addi, &[lower, offset], ty);
            predicates.push(b.cmpi(CmpiPredicate::Slt, at, upper));
            self.set_version(iv, i, at);
            for &(op, stage) in order.iter().filter(|o| o.1 <= i) {
                let iteration = i - stage;
                let mut map = Mapping::default();
                for value in nested_operands(ir, op) {
                    if let Some(version) = self.version(value, iteration) {
                        map.map(value, version);
                    }
                }
                let predicate = predicates[iteration];
                let new = self.copy(ir, op, &mut map, predicate, InsertPoint::Before(self.looped));
                if let Some(mark) = self.peel {
                    let inner = ir.regions_of(new).first().and_then(|&r| ir.entry(r)).and_then(|b| ir.first_op(b));
                    mark(ir, inner.unwrap_or(new));
                }
                for (index, &result) in ir.results(op).to_vec().iter().enumerate() {
                    let made = ir.results(new)[index];
                    for (at, &(arg, yielded)) in carried.iter().enumerate() {
                        if yielded != result {
                            continue;
                        }
                        let mut next = made;
                        if ir.has_uses(ir.results(self.looped)[at])
                            && let Some(previous) = self.version(arg, iteration)
                        {
                            // The loop's result may be this one: it counts only if its iteration exists.
                            let ty = ir.ty(made);
                            let point = InsertPoint::Before(self.looped);
                            next =
                                Builder::new(ir, point, loc).value(ArithOp::Select, &[predicate, made, previous], ty);
                        }
                        self.set_version(arg, iteration + 1, next);
                    }
                    self.set_version(result, iteration, made);
                }
            }
        }
    }

    /// A copy of `op` that runs under a predicate.
    fn copy(&self, ir: &mut Ir, op: Op, map: &mut Mapping, predicate: Value, at: InsertPoint) -> Op {
        if self.peel.is_some() && ir.kind(op).is_product() {
            product_in_branch(ir, op, map, predicate, at)
        } else {
            masked_copy(ir, op, map, predicate, at)
        }
    }

    fn is_inside(&self, ir: &Ir, op: Op) -> bool {
        super::schedule::ancestor_in(ir, self.body, op).is_some()
    }

    /// Values that are used more stages after their definition than the loop itself carries them.
    fn crossing_values(&self, ir: &Ir) -> Vec<Crossing> {
        let mut found: Vec<Crossing> = vec![];
        for &(op, stage) in &self.order {
            for value in operands_then_nested(ir, op) {
                let Some((def, distance)) = self.definition(ir, value) else { continue };
                let Some(&defined) = self.stages.get(&def) else { continue };
                if defined == stage || defined == stage + distance {
                    continue;
                }
                match found.iter_mut().find(|c| c.value == value) {
                    Some(known) => known.used = known.used.max(stage),
                    None => found.push(Crossing { value, defined, used: stage }),
                }
            }
        }
        found
    }

    /// The kernel's loop, still empty, and which argument holds which version of a crossing value.
    fn kernel_loop(&mut self, ir: &mut Ir, crossing: &[Crossing]) -> (Op, BTreeMap<(Value, usize), usize>) {
        let mut inits: Vec<Value> = ir.operands(self.looped)[..3].to_vec();
        let old_inits = ir.operands(self.looped)[3..].to_vec();
        for ((arg, yielded), init) in self.carried(ir).into_iter().zip(old_inits) {
            let stage = ir.def_op(yielded).and_then(|def| self.stages.get(&def).copied());
            inits.push(stage.and_then(|stage| self.version(arg, self.last - stage)).unwrap_or(init));
        }
        let mut carried = BTreeMap::new();
        for c in crossing {
            let span = c.used - c.defined;
            for i in 0..span {
                let version = self
                    .version(c.value, self.last - c.used + i)
                    .expect("the prologue made the versions that the kernel starts with");
                inits.push(version);
                carried.insert((c.value, span - i), inits.len() - 4);
            }
        }
        if self.peel.is_some() {
            inits[1] = self.earlier_bound(ir);
        }
        let types: Vec<Type> = inits[3..].iter().map(|&v| ir.ty(v)).collect();
        let state = OpState::new(ScfOp::For, ir.loc(self.looped))
            .operands(&inits)
            .results(&types)
            .attrs(ir.attrs(self.looped))
            .regions(1);
        let kernel = Builder::before(ir, self.looped).insert(state);
        let region = ir.region(kernel, 0);
        let iv = (ir.ty(inits[0]), ir.loc(self.looped));
        let mut args: Vec<(Type, Loc)> = vec![iv];
        args.extend(types.iter().map(|&t| (t, ir.loc(self.looped))));
        for (i, &old) in ir.args(self.body).iter().enumerate() {
            args[i].1 = ir.value_loc(old);
        }
        ir.add_block(region, &args);
        (kernel, carried)
    }

    /// Step 3.
    fn kernel(&mut self, ir: &mut Ir, kernel: Op, crossing: &[Crossing], carried: &BTreeMap<(Value, usize), usize>) {
        let [_, upper, step] = *ir.operands(self.looped).first_chunk::<3>().expect("a loop has bounds");
        let block = ir.body(kernel, 0).expect("the kernel has a body");
        let new_args = ir.args(block).to_vec();
        let (iv, new_iv) = (ir.args(self.body)[0], new_args[0]);
        let loc = ir.loc(self.looped);
        let ty = ir.ty(iv);
        let mut map = Mapping::default();
        let old_args = ir.args(self.body).to_vec();
        map.map_all(&old_args, &new_args[..old_args.len()]);
        let mut predicates = vec![];
        let switched = if self.peel.is_some() { 0 } else { self.last };
        for stage in 0..switched {
            let mut b = Builder::new(ir, InsertPoint::End(block), loc);
            let ahead = b.constant(Attr::int((self.last - stage) as i64, ty));
            let offset = b.value(ArithOp::Muli, &[step, ahead], ty);
            let limit = b.value(ArithOp::Subi, &[upper, offset], ty);
            predicates.push(b.cmpi(CmpiPredicate::Slt, new_iv, limit));
        }
        let loop_values = self.carried(ir);
        for (op, stage) in self.order.clone() {
            let mut local = map.clone();
            for value in nested_operands(ir, op) {
                if let Some(source) = self.kernel_operand(
                    ir,
                    value,
                    stage,
                    iv,
                    new_iv,
                    step,
                    block,
                    &loop_values,
                    carried,
                    &new_args,
                    &map,
                ) {
                    local.map(value, source);
                }
            }
            let old = ir.results(op).to_vec();
            let new = if stage < switched {
                masked_copy(ir, op, &mut local, predicates[stage], InsertPoint::End(block))
            } else {
                let copy = ir.clone_op(op, &mut local);
                ir.append(block, copy);
                copy
            };
            let made = ir.results(new).to_vec();
            map.map_all(&old, &made);
        }
        self.kernel_yield(ir, kernel, block, crossing, &map, &predicates, &loop_values);
    }

    /// What an operand of an operation in `stage` is in the kernel; `None` for what the plain mapping says.
    #[allow(clippy::too_many_arguments)] // the parts of the kernel under construction
    fn kernel_operand(
        &self,
        ir: &mut Ir,
        value: Value,
        stage: usize,
        iv: Value,
        new_iv: Value,
        step: Value,
        block: Block,
        loop_values: &[(Value, Value)],
        carried: &BTreeMap<(Value, usize), usize>,
        new_args: &[Value],
        map: &Mapping,
    ) -> Option<Value> {
        if value == iv {
            let (loc, ty) = (ir.loc(self.looped), ir.ty(iv));
            let mut b = Builder::new(ir, InsertPoint::End(block), loc);
            let ahead = b.constant(Attr::int((self.last - stage) as i64, ty));
            let offset = b.value(ArithOp::Muli, &[step, ahead], ty);
            return Some(b.value(ArithOp::Addi, &[new_iv, offset], ty));
        }
        let mut source = value;
        if let Some(&(_, yielded)) = loop_values.iter().find(|v| v.0 == value) {
            let def = ir.def_op(yielded)?;
            if !self.is_inside(ir, def) {
                return (stage != self.last).then_some(yielded);
            }
            match self.stages.get(&def) {
                None => return None,
                Some(&s) if s == stage => return None,
                // It comes from the stage after, so in the kernel it was computed just before.
                Some(&s) if s == stage + 1 => return Some(map.get(yielded)),
                Some(_) => source = yielded,
            }
        }
        let defined = *self.stages.get(&ir.def_op(source)?)?;
        if defined == stage {
            return None;
        }
        let argument = carried.get(&(value, stage - defined)).expect("crossing values have arguments");
        Some(new_args[argument + 1])
    }

    #[allow(clippy::too_many_arguments)] // the parts of the kernel under construction
    fn kernel_yield(
        &self,
        ir: &mut Ir,
        kernel: Op,
        block: Block,
        crossing: &[Crossing],
        map: &Mapping,
        predicates: &[Value],
        loop_values: &[(Value, Value)],
    ) {
        let args = ir.args(block).to_vec();
        let loc = ir.loc(self.looped);
        let mut values = vec![];
        for (index, &(_, yielded)) in loop_values.iter().enumerate() {
            let mut value = map.get(yielded);
            let stage = self.definition(ir, yielded).and_then(|(def, _)| self.stages.get(&def).copied());
            if let Some(stage) = stage.filter(|&s| s < predicates.len() && ir.has_uses(ir.results(self.looped)[index]))
            {
                // A result of the loop must not come from an iteration that does not exist.
                let ty = ir.ty(value);
                let operands = [predicates[stage], value, args[index + 1]];
                value = Builder::new(ir, InsertPoint::End(block), loc).value(ArithOp::Select, &operands, ty);
            }
            values.push(value);
        }
        for c in crossing {
            for _ in 1..c.used - c.defined {
                values.push(args[values.len() + 2]);
            }
            values.push(map.get(c.value));
        }
        debug_assert_eq!(values.len(), ir.results(kernel).len());
        Builder::new(ir, InsertPoint::End(block), loc).insert(OpState::new(ScfOp::Yield, loc).operands(&values));
    }
}

/// The operands of an operation, then what its regions use from outside.
fn operands_then_nested(ir: &Ir, op: Op) -> Vec<Value> {
    let own = ir.operands(op).to_vec();
    let nested: Vec<Value> = nested_operands(ir, op).into_iter().filter(|v| !own.contains(v)).collect();
    own.into_iter().chain(nested).collect()
}
