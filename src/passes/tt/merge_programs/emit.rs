//! Steps 2 and 3: the question whether a block does two programs, and the work of two.

use std::collections::BTreeSet;

use super::plan::Plan;
use super::varies::is_number;
use super::{MOST_PROGRAMS, SHARE};
use crate::ir::core::{Block, Builder, InsertPoint, Ir, Loc, Mapping, Op, OpState, Type, Value};
use crate::ir::dialects::enums::{CmpiPredicate, ProgramDim};
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, ScfOp};

pub(super) fn apply(ir: &mut Ir, plan: &Plan, least: i64) {
    let ops: Vec<Op> = ir.op_list(plan.body);
    let Some((&end, ops)) = ops.split_last() else { return };
    let loc = ir.block_op(plan.body).map_or(ir.loc(plan.looped), |kernel| ir.loc(kernel));
    let mut b = Builder::new(ir, InsertPoint::Before(end), loc);
    let number = program(&mut b, ProgramDim::X);
    let (even, pair) = (b.i32(-2), b.i32(1));
    let first = b.value(ArithOp::Andi, &[number, even], Type::int(32));
    let next = b.value(ArithOp::Ori, &[number, pair], Type::int(32));
    // Scalars of a program that the launch does not have are not computed: they might divide by zero.
    let programs = count(&mut b, ProgramDim::X);
    let last = b.value(ArithOp::Subi, &[programs, pair], Type::int(32));
    let second = b.value(ArithOp::Minsi, &[next, last], Type::int(32));
    let exists = b.cmpi(CmpiPredicate::Eq, second, next);
    let enough = enough(&mut b, programs, least);
    let mut condition = b.value(ArithOp::Andi, &[exists, enough], Type::int(1));
    let keys = keys_of(b.ir, plan, ops);
    let mut scalars = [first, second].map(|number| {
        let mut map = Mapping::default();
        for &op in &keys {
            if is_number(b.ir, op) {
                map.map(b.ir.result(op), number);
            } else {
                let copy = b.ir.clone_op(op, &mut map);
                b.place(copy);
            }
        }
        map
    });
    for &key in &plan.keys {
        let [of_first, of_second] = [scalars[0].get(key), scalars[1].get(key)];
        let equal = b.cmpi(CmpiPredicate::Eq, of_first, of_second);
        condition = b.value(ArithOp::Andi, &[condition, equal], Type::int(1));
    }
    let (both, alone) = branch(&mut b, condition);
    let is_first = {
        b.set_point(InsertPoint::End(both));
        b.cmpi(CmpiPredicate::Eq, number, first)
    };
    let (work, none) = branch(&mut b, is_first);
    end_with(b.ir, none, loc);
    end_with(b.ir, both, loc);
    for op in ops {
        if is_number(b.ir, *op) {
            scalars[0].map(b.ir.result(*op), first);
            scalars[1].map(b.ir.result(*op), second);
        }
    }
    Merger { ir: b.ir, plan }.all(ops, work, &mut scalars);
    end_with(ir, work, loc);
    for &op in ops {
        ir.detach(op);
        ir.append(alone, op);
    }
    end_with(ir, alone, loc);
}

fn program(b: &mut Builder<'_>, axis: ProgramDim) -> Value {
    b.result(tt::GetProgramId::state(b.loc).with(tt::GetProgramId::ATTR.axis, axis), Type::int(32))
}

fn count(b: &mut Builder<'_>, axis: ProgramDim) -> Value {
    b.result(tt::GetNumPrograms::state(b.loc).with(tt::GetNumPrograms::ATTR.axis, axis), Type::int(32))
}

/// Whether the launch has so many programs. Each axis is cut, so that the product of the three fits.
fn enough(b: &mut Builder<'_>, programs: Value, least: i64) -> Value {
    let (most, least) = (b.i32(MOST_PROGRAMS), b.i32(least));
    let others = [ProgramDim::Y, ProgramDim::Z].map(|axis| count(b, axis));
    let mut all = b.value(ArithOp::Minsi, &[programs, most], Type::int(32));
    for other in others {
        let cut = b.value(ArithOp::Minsi, &[other, most], Type::int(32));
        all = b.value(ArithOp::Muli, &[all, cut], Type::int(32));
    }
    b.cmpi(CmpiPredicate::Sge, all, least)
}

/// An `scf.if` with an empty block on each side.
fn branch(b: &mut Builder<'_>, condition: Value) -> (Block, Block) {
    let state = b.state(ScfOp::If).operands(&[condition]).regions(2);
    let op = b.insert(state);
    let [then, otherwise] = [0, 1].map(|side| {
        let region = b.ir.region(op, side);
        b.ir.add_block(region, &[])
    });
    (then, otherwise)
}

fn end_with(ir: &mut Ir, block: Block, loc: Loc) {
    let end = ir.create_op(OpState::new(ScfOp::Yield, loc));
    ir.append(block, end);
}

/// The operations in front of the loop that compute the keys, in their order.
fn keys_of(ir: &Ir, plan: &Plan, ops: &[Op]) -> Vec<Op> {
    let mut needed: BTreeSet<Value> = plan.keys.clone();
    let mut found = vec![];
    for &op in ops.iter().rev() {
        if ir.results(op).iter().any(|r| needed.contains(r)) {
            needed.extend(ir.operands(op));
            found.push(op);
        }
    }
    found.reverse();
    found
}

/// Writes the work of two programs.
struct Merger<'a> {
    ir: &'a mut Ir,
    plan: &'a Plan,
}

impl Merger<'_> {
    /// Appends copies of operations to a block, and learns what each value is for either program.
    fn all(&mut self, ops: &[Op], to: Block, maps: &mut [Mapping; SHARE]) {
        for &op in ops {
            if is_number(self.ir, op) {
                continue;
            }
            if op == self.plan.looped {
                self.looped(op, to, maps);
                continue;
            }
            let results = self.ir.results(op).to_vec();
            let is_shared = results.first().is_some_and(|r| self.plan.shared.contains(r));
            let [first, second] = maps;
            let copy = self.ir.clone_op(op, first);
            self.ir.append(to, copy);
            if is_shared {
                for r in results {
                    second.map(r, first.get(r));
                }
            } else {
                let copy = self.ir.clone_op(op, second);
                self.ir.append(to, copy);
            }
        }
    }

    /// The loop, which carries what both have in common once and the rest twice.
    fn looped(&mut self, op: Op, to: Block, maps: &mut [Mapping; SHARE]) {
        let ir = &mut *self.ir;
        let (Some(body), loc) = (ir.body(op, 0), ir.loc(op)) else { return };
        let Some(end) = ir.terminator(body) else { return };
        let header = For(op);
        let bounds = [header.lower(ir), header.upper(ir), header.step(ir)].map(|v| maps[0].get(v));
        let (args, inits) = (ir.args(body).to_vec(), header.init(ir).to_vec());
        // Which carried value, and of which program.
        let carried: Vec<(usize, usize)> = (0..inits.len())
            .flat_map(|i| (0..if self.plan.shared.contains(&args[i + 1]) { 1 } else { SHARE }).map(move |p| (i, p)))
            .collect();
        let inits: Vec<Value> = carried.iter().map(|&(i, p)| maps[p].get(inits[i])).collect();
        let types: Vec<Type> = inits.iter().map(|&v| ir.ty(v)).collect();
        let attrs = ir.attrs(op).to_vec();
        let state = OpState::new(ScfOp::For, loc).operands(&bounds).operands(&inits).results(&types).attrs(&attrs);
        let looped = ir.create_op(state.regions(1));
        ir.append(to, looped);
        let region = ir.region(looped, 0);
        let given: Vec<(Type, Loc)> =
            std::iter::once((ir.ty(args[0]), loc)).chain(types.into_iter().map(|ty| (ty, loc))).collect();
        let inner = ir.add_block(region, &given);
        let (new_args, results, old) = (ir.args(inner).to_vec(), ir.results(looped).to_vec(), ir.results(op).to_vec());
        maps.iter_mut().for_each(|map| map.map(args[0], new_args[0]));
        for (at, &(i, p)) in carried.iter().enumerate() {
            let whose = if self.plan.shared.contains(&args[i + 1]) { 0..SHARE } else { p..p + 1 };
            for map in &mut maps[whose] {
                map.map(args[i + 1], new_args[at + 1]);
                map.map(old[i], results[at]);
            }
        }
        let ops: Vec<Op> = self.ir.op_list(body).into_iter().filter(|&op| op != end).collect();
        self.all(&ops, inner, maps);
        let next: Vec<Value> = carried.iter().map(|&(i, p)| maps[p].get(self.ir.operand(end, i))).collect();
        let next = self.ir.create_op(OpState::new(ScfOp::Yield, loc).operands(&next));
        self.ir.append(inner, next);
    }
}
