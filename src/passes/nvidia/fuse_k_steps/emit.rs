//! Writes the loop that fetches several steps at once.
//!
//! Names as in [the algorithm](super): column `c` of a longer axis is column `low = c mod BLOCK_K` of the step `high =
//! c div BLOCK_K` of a round, and round `j` has the steps `t = factor * j + high`.

use std::collections::BTreeMap;

use super::plan::{Advance, Plan, advance};
use crate::ir::core::{Attr, Block, Builder, InsertPoint, Ir, Mapping, Op, Type, Value};
use crate::ir::dialects::discardable::NUM_STAGES;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, TtOp};
use crate::ir::rewrite::fold;

/// Replaces the plan's loop.
pub(super) fn apply(ir: &mut Ir, plan: &Plan) {
    move_invariants(ir, plan);
    let mut b = Builder::before(ir, plan.looped);
    let mut writer = Writer::new(&mut b, plan);
    for &(value, axis) in plan.widened.iter().filter(|(value, _)| !plan.varying.contains(value)) {
        writer.widen(&mut b, value, axis);
    }
    let looped = writer.start_loop(&mut b);
    let body = b.ir.body(looped, 0).expect("the loop was made with a body");
    b.set_point(InsertPoint::End(body));
    writer.fill(&mut b, body);
    let results = ir.results(looped).to_vec();
    ir.replace_op(plan.looped, &results);
}

/// Moves what is the same in all iterations in front of the loop.
fn move_invariants(ir: &mut Ir, plan: &Plan) {
    let body = ir.body(plan.looped, 0).expect("the verifier has seen that a loop has a body");
    for op in ir.op_list(body) {
        let results = ir.results(op);
        if !results.is_empty() && !results.iter().any(|result| plan.varying.contains(result)) {
            ir.move_before(op, plan.looped);
        }
    }
}

/// A longer axis: the rank of its tensor, and its number.
type Axis = (usize, usize);

struct Writer<'p> {
    plan: &'p Plan,
    /// Of a longer axis.
    columns: i64,
    /// The type of the loop's variable, in which steps are counted.
    counter: Type,
    /// The columns, `low` and `high`.
    range: Value,
    low: Value,
    high: Value,
    /// The first step of this round.
    first: Option<Value>,
    /// The number of steps.
    trips: Value,
    /// The step of each column, of this round, along such an axis.
    steps: BTreeMap<Axis, Value>,
    /// Whether there is a step for each column.
    are_there: BTreeMap<Axis, Value>,
    /// Numbers of the old loop, for each column.
    numbers: BTreeMap<(Value, Axis), Value>,
    wide: BTreeMap<Value, Value>,
    /// By what the carried pointers advance from round to round.
    advances: BTreeMap<usize, Value>,
}

impl<'p> Writer<'p> {
    fn new(b: &mut Builder<'_>, plan: &'p Plan) -> Writer<'p> {
        let columns = plan.factor * plan.depth;
        let ty = Type::tensor(&[columns], Type::int(32), None);
        let range = tt::MakeRange::state(b.loc).with(tt::MakeRange::ATTR.start, 0);
        let range = b.result(range.with(tt::MakeRange::ATTR.end, columns), ty);
        let depth = b.int(plan.depth, ty);
        let low = b.value(ArithOp::Remui, &[range, depth], ty);
        let high = b.value(ArithOp::Divui, &[range, depth], ty);
        let counter = b.ir.ty(scf::For(plan.looped).lower(b.ir));
        let trips = trips(b, scf::For(plan.looped));
        let (steps, are_there, numbers) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (wide, advances) = (BTreeMap::new(), BTreeMap::new());
        Writer {
            plan,
            columns,
            counter,
            range,
            low,
            high,
            first: None,
            trips,
            steps,
            are_there,
            numbers,
            wide,
            advances,
        }
    }

    /// The type with the longer axis.
    fn wide_type(&self, ty: Type, axis: usize) -> Type {
        let mut shape = ty.shape().to_vec();
        shape[axis] = self.columns;
        Type::tensor(&shape, ty.elem(), None)
    }

    /// The type of one element a column.
    fn line(&self, (rank, axis): Axis, elem: Type) -> Type {
        let mut shape = vec![1; rank];
        shape[axis] = self.columns;
        Type::tensor(&shape, elem, None)
    }

    /// `high`, along an axis, as an integer of this type.
    fn high(&self, b: &mut Builder<'_>, axis: Axis, elem: Type) -> Value {
        self.along(b, self.high, axis, elem)
    }

    fn along(&self, b: &mut Builder<'_>, mut value: Value, axis: Axis, elem: Type) -> Value {
        for d in (0..axis.0).filter(|&d| d != axis.1) {
            let mut shape = b.ir.ty(value).shape().to_vec();
            shape.insert(d, 1);
            let state = tt::ExpandDims::state(b.loc, value).with(tt::ExpandDims::ATTR.axis, d as i64);
            value = b.result(state, Type::tensor(&shape, Type::int(32), None));
        }
        if elem == Type::int(32) { value } else { b.value(ArithOp::Extsi, &[value], self.line(axis, elem)) }
    }

    /// Makes the new loop, with the start values of what it carries.
    fn start_loop(&mut self, b: &mut Builder<'_>) -> Op {
        let (old, plan) = (scf::For(self.plan.looped), self.plan);
        let mut inits = old.init(b.ir).to_vec();
        for (index, init) in inits.iter_mut().enumerate().filter(|(index, _)| *index != plan.sum) {
            *init = self.first_pointers(b, index, *init);
            let advance = self.advance(b, index, *init);
            self.advances.insert(index, advance);
        }
        let types: Vec<Type> = inits.iter().map(|&init| b.ir.ty(init)).collect();
        let zero = b.int(0, self.counter);
        let one = b.int(1, self.counter);
        let factor = b.int(plan.factor, self.counter);
        let rounds = rounded_up(b, self.trips, factor);
        let attrs = b.ir.attrs(plan.looped).to_vec();
        let state = scf::For::state(b.loc, zero, rounds, one, &inits).attrs(&attrs).results(&types).regions(1);
        let new = b.insert(state);
        b.ir.put(new, NUM_STAGES, plan.stages);
        let old_args = b.ir.args(b.ir.body(plan.looped, 0).expect("a loop has a body")).to_vec();
        let types = [vec![self.counter], types].concat();
        let args: Vec<_> = types.into_iter().zip(old_args).map(|(ty, arg)| (ty, b.ir.value_loc(arg))).collect();
        let region = b.ir.region(new, 0);
        b.ir.add_block(region, &args);
        new
    }

    /// The pointers of the first round: those of the first step, moved by the steps before each column's.
    fn first_pointers(&self, b: &mut Builder<'_>, index: usize, init: Value) -> Value {
        let (pointers, axis) = (self.wide[&init], self.axis_of(init));
        let ty = b.ir.ty(pointers);
        let along = (ty.rank(), axis);
        let offset = match advance(b.ir, self.plan.looped, index).expect("the plan has seen how pointers advance") {
            Advance::By(by) => {
                let by = b.int(by, self.line(along, Type::int(32)));
                let high = self.high(b, along, Type::int(32));
                b.value(ArithOp::Muli, &[high, by], self.line(along, Type::int(32)))
            }
            Advance::Scalar(by) => {
                let line = self.line(along, Type::int(64));
                let by = wide_integer(b, by);
                let by = b.value(TtOp::Splat, &[by], line);
                let high = self.high(b, along, Type::int(64));
                b.value(ArithOp::Muli, &[high, by], line)
            }
        };
        let offset = spread(b, offset, ty);
        b.value(TtOp::Addptr, &[pointers, offset], ty)
    }

    /// By what the pointers of a carried value advance from round to round, for each of them.
    fn advance(&self, b: &mut Builder<'_>, index: usize, pointers: Value) -> Value {
        let ty = b.ir.ty(pointers);
        let factor = self.plan.factor;
        match advance(b.ir, self.plan.looped, index).expect("the plan has seen how pointers advance") {
            Advance::By(by) => b.int(factor * by, ty.with_elem(Type::int(32))),
            Advance::Scalar(by) => {
                let (by, factor) = (wide_integer(b, by), b.int(factor, Type::int(64)));
                let by = b.value(ArithOp::Muli, &[by, factor], Type::int(64));
                b.value(TtOp::Splat, &[by], ty.with_elem(Type::int(64)))
            }
        }
    }

    fn axis_of(&self, value: Value) -> usize {
        let found = self.plan.widened.iter().find(|(known, _)| *known == value);
        found.expect("the plan has the axis of what it makes longer").1
    }

    /// Writes the body.
    fn fill(&mut self, b: &mut Builder<'_>, body: Block) {
        let plan = self.plan;
        let old_body = b.ir.body(plan.looped, 0).expect("a loop has a body");
        let (old_args, args) = (b.ir.args(old_body).to_vec(), b.ir.args(body).to_vec());
        let factor = b.int(plan.factor, self.counter);
        let first = b.value(ArithOp::Muli, &[args[0], factor], self.counter);
        self.first = Some(first);
        for (&old, &new) in old_args.iter().zip(&args).skip(1) {
            self.wide.insert(old, new);
        }
        for &(value, axis) in plan.widened.iter().filter(|(value, _)| plan.varying.contains(value)) {
            if !old_args.contains(&value) {
                self.count_steps(b, first, (b.ir.ty(value).rank(), axis));
                self.widen(b, value, axis);
            }
        }
        let dot = tt::Dot(plan.product);
        let mut map = Mapping::default();
        for operand in [dot.a(b.ir), dot.b(b.ir), dot.c(b.ir)] {
            map.map(operand, self.wide[&operand]);
        }
        let product = b.ir.clone_op(plan.product, &mut map);
        b.place(product);
        let mut next: Vec<Value> = vec![];
        for (index, &arg) in args[1..].iter().enumerate() {
            next.push(match self.advances.get(&index) {
                Some(&advance) => b.value(TtOp::Addptr, &[arg, advance], b.ir.ty(arg)),
                None => b.ir.result(product),
            });
        }
        b.op(ScfOp::Yield, &next, &[]);
    }

    /// The step of each column, and whether there is one; `first` is the round's first.
    fn count_steps(&mut self, b: &mut Builder<'_>, first: Value, axis: Axis) {
        if self.steps.contains_key(&axis) {
            return;
        }
        let line = self.line(axis, self.counter);
        let high = self.high(b, axis, self.counter);
        let first = b.value(TtOp::Splat, &[first], line);
        let step = b.value(ArithOp::Addi, &[first, high], line);
        self.steps.insert(axis, step);
        if !self.plan.is_even {
            let end = b.value(TtOp::Splat, &[self.trips], line);
            let is_there = b.cmpi(CmpiPredicate::Slt, step, end);
            self.are_there.insert(axis, is_there);
        }
    }

    /// Makes the value with the longer axis.
    fn widen(&mut self, b: &mut Builder<'_>, value: Value, axis: usize) {
        let op = b.ir.def_op(value).expect("arguments of the loop are known");
        let ty = self.wide_type(b.ir.ty(value), axis);
        let wide = match b.ir.kind(op) {
            OpKind::Tt(TtOp::MakeRange) => {
                let start = tt::MakeRange(op).start(b.ir).unwrap_or(0);
                let start = b.int(start, ty);
                b.value(ArithOp::Addi, &[self.low, start], ty)
            }
            OpKind::Arith(ArithOp::Constant) => {
                let bits = fold::const_of(b.ir, value).and_then(Attr::splat_value);
                b.constant(Attr::splat_bits(ty, bits.expect("the plan has seen that all elements are alike")))
            }
            OpKind::Tt(TtOp::Splat) => {
                let from = tt::Splat(op).src(b.ir);
                if self.plan.varying.contains(&from) {
                    let line = self.number(b, from, (ty.rank(), axis));
                    spread(b, line, ty)
                } else {
                    b.value(TtOp::Splat, &[from], ty)
                }
            }
            OpKind::Tt(TtOp::Broadcast) => {
                let from = tt::Broadcast(op).src(b.ir);
                let from = self.wide.get(&from).copied().unwrap_or(from);
                spread(b, from, ty)
            }
            OpKind::Tt(TtOp::Load) => self.load(b, tt::Load(op), axis, ty),
            OpKind::Arith(ArithOp::Cmpi) if self.plan.over_k.as_ref().is_some_and(|l| l.bounds(b.ir, op, axis)) => {
                self.in_front_of_end(b, axis, ty)
            }
            _ => self.repeat(b, op, ty),
        };
        self.wide.insert(value, wide);
    }

    /// The operation again, for the longer axis.
    fn repeat(&self, b: &mut Builder<'_>, op: Op, ty: Type) -> Value {
        let mut map = Mapping::default();
        for operand in b.ir.operands(op).to_vec() {
            let wide = match self.wide.get(&operand) {
                Some(&wide) => wide,
                None if b.ir.ty(operand).is_tensor() => spread(b, operand, ty),
                None => continue,
            };
            map.map(operand, wide);
        }
        let copy = b.ir.clone_op(op, &mut map);
        let result = b.ir.result(copy);
        b.ir.set_type(result, ty);
        b.place(copy);
        result
    }

    /// Whether a column lies in front of the end of K.
    fn in_front_of_end(&self, b: &mut Builder<'_>, axis: usize, ty: Type) -> Value {
        let along = (ty.rank(), axis);
        let end = self.plan.over_k.as_ref().expect("a mask ends where the loop over K does").end;
        let (line, scalar) = (self.line(along, b.ir.ty(end)), b.ir.ty(end));
        let depth = b.int(self.plan.depth, scalar);
        let first = b.value(ArithOp::Muli, &[self.first.expect("the body counts its steps"), depth], scalar);
        let left = b.value(ArithOp::Subi, &[end, first], scalar);
        let left = b.value(TtOp::Splat, &[left], line);
        let columns = self.along(b, self.range, along, scalar);
        let is_in_front = b.cmpi(CmpiPredicate::Slt, columns, left);
        spread(b, is_in_front, ty)
    }

    /// The load, of zeros where there is no step.
    fn load(&self, b: &mut Builder<'_>, load: tt::Load, axis: usize, ty: Type) -> Value {
        let pointers = self.wide[&load.ptr(b.ir)];
        let mut mask = load.mask(b.ir).map(|mask| match self.wide.get(&mask) {
            Some(&wide) => wide,
            None => spread(b, mask, ty),
        });
        let ends = self.plan.over_k.as_ref().is_some_and(|l| l.ends(b.ir, load, axis));
        if let Some(&is_there) = self.are_there.get(&(ty.rank(), axis)).filter(|_| !ends) {
            let is_there = spread(b, is_there, ty);
            mask = Some(match mask {
                Some(mask) => b.value(ArithOp::Andi, &[mask, is_there], ty.with_elem(Type::int(1))),
                None => is_there,
            });
        }
        let zeros = mask.map(|_| b.constant(Attr::splat_bits(ty, 0)));
        let copy = b.ir.clone_op(load.0, &mut Mapping::default());
        b.ir.put_operands(copy, tt::Load::SLOT.ptr, &[pointers]);
        b.ir.put_operands(copy, tt::Load::SLOT.mask, mask.as_slice());
        b.ir.put_operands(copy, tt::Load::SLOT.other, zeros.as_slice());
        let result = b.ir.result(copy);
        b.ir.set_type(result, ty);
        b.place(copy);
        result
    }

    /// A number of the old loop, for each column: computed from the variable that the loop had in the column's step.
    fn number(&mut self, b: &mut Builder<'_>, value: Value, axis: Axis) -> Value {
        if let Some(&known) = self.numbers.get(&(value, axis)) {
            return known;
        }
        let line = self.line(axis, b.ir.ty(value));
        let looped = scf::For(self.plan.looped);
        let made = if !self.plan.varying.contains(&value) {
            b.value(TtOp::Splat, &[value], line)
        } else if let Some(op) = b.ir.def_op(value) {
            let mut map = Mapping::default();
            for operand in b.ir.operands(op).to_vec() {
                map.map(operand, self.number(b, operand, axis));
            }
            let copy = b.ir.clone_op(op, &mut map);
            let result = b.ir.result(copy);
            b.ir.set_type(result, line);
            b.place(copy);
            result
        } else {
            let (lower, step) = (looped.lower(b.ir), looped.step(b.ir));
            let (lower, step) = (b.value(TtOp::Splat, &[lower], line), b.value(TtOp::Splat, &[step], line));
            let moved = b.value(ArithOp::Muli, &[self.steps[&axis], step], line);
            b.value(ArithOp::Addi, &[lower, moved], line)
        };
        self.numbers.insert((value, axis), made);
        made
    }
}

/// The value for all elements of a tensor of this type's shape.
fn spread(b: &mut Builder<'_>, value: Value, ty: Type) -> Value {
    let from = b.ir.ty(value);
    if from.shape() == ty.shape() {
        return value;
    }
    b.value(TtOp::Broadcast, &[value], Type::tensor(ty.shape(), from.elem(), None))
}

/// A signed integer in 64 bits.
fn wide_integer(b: &mut Builder<'_>, value: Value) -> Value {
    let ty = Type::int(64);
    if b.ir.ty(value) == ty { value } else { b.value(ArithOp::Extsi, &[value], ty) }
}

/// How often a loop runs whose lower bound and step are constants; not positive if it does not.
fn trips(b: &mut Builder<'_>, looped: scf::For) -> Value {
    let (lower, upper, step) = (looped.lower(b.ir), looped.upper(b.ir), looped.step(b.ir));
    let mut length = upper;
    if fold::int_of(b.ir, lower) != Some(0) {
        let ty = b.ir.ty(upper);
        let end = b.value(ArithOp::Maxsi, &[upper, lower], ty);
        length = b.value(ArithOp::Subi, &[end, lower], ty);
    }
    if fold::int_of(b.ir, step) == Some(1) { length } else { rounded_up(b, length, step) }
}

/// `ceil(value / by)` for a positive `by`, without overflow; not positive if `value` is not.
fn rounded_up(b: &mut Builder<'_>, value: Value, by: Value) -> Value {
    let ty = b.ir.ty(value);
    let whole = b.value(ArithOp::Divsi, &[value, by], ty);
    let rest = b.value(ArithOp::Remsi, &[value, by], ty);
    let zero = b.int(0, ty);
    let has_rest = b.cmpi(CmpiPredicate::Sgt, rest, zero);
    let one = b.value(ArithOp::Extui, &[has_rest], ty);
    b.value(ArithOp::Addi, &[whole, one], ty)
}
