//! Step 2: the operations of each part.

use super::plan::Plan;
use crate::ir::core::{Block, Ir, Loc, Mapping, Op, OpState, Type, Value};
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::{OpKind, ScfOp};
use crate::ir::effects::effects;
use crate::passes::common::parts::cut;

pub(super) fn apply(ir: &mut Ir, plan: &Plan) {
    let Some(body) = ir.body(plan.kernel, 0) else { return };
    let maps = vec![Mapping::default(); plan.parts];
    let mut splitter = Splitter { ir, plan, maps, replaced: vec![] };
    splitter.block(body, body);
    let replaced = splitter.replaced;
    // Users stand behind what they use.
    replaced.into_iter().rev().for_each(|op| ir.erase_op(op));
}

struct Splitter<'a> {
    ir: &'a mut Ir,
    plan: &'a Plan,
    /// What a split value is in each part.
    maps: Vec<Mapping>,
    /// What is there in parts only, detached.
    replaced: Vec<Op>,
}

impl Splitter<'_> {
    /// Writes the operations of a block at the end of another one, or of the same. The end of a loop's or a branch's
    /// body stays where it is, for [`Splitter::end`].
    fn block(&mut self, from: Block, to: Block) {
        let mut ops = self.ir.op_list(from);
        if from != to {
            ops.pop();
        }
        ops.iter().for_each(|&op| self.ir.detach(op));
        // Operations of which the first part is there and the others are not.
        let mut begun: Vec<Op> = vec![];
        for op in ops {
            let kind = self.ir.kind(op);
            let writes = effects(self.ir, op).writes;
            if writes || !self.ir.regions_of(op).is_empty() && matches!(kind, OpKind::Scf(_)) {
                self.other_parts(&mut begun, to);
            }
            match kind {
                OpKind::Scf(ScfOp::For) => self.looped(op, to),
                OpKind::Scf(ScfOp::If) => self.branch(op, to),
                _ if self.plan.splits(self.ir, op) => {
                    if self.plan.replaces(self.ir, op) {
                        self.replaced.push(op);
                    } else {
                        self.ir.append(to, op);
                    }
                    self.part(op, 0, to);
                    begun.push(op);
                    if writes || kind.is_product() {
                        self.other_parts(&mut begun, to);
                    }
                }
                _ => self.ir.append(to, op),
            }
        }
        self.other_parts(&mut begun, to);
    }

    /// Writes all parts but the first of what has begun.
    fn other_parts(&mut self, begun: &mut Vec<Op>, to: Block) {
        for part in 1..self.plan.parts {
            begun.iter().for_each(|&op| self.part(op, part, to));
        }
        begun.clear();
    }

    /// One part of an operation.
    fn part(&mut self, op: Op, part: usize, to: Block) {
        let (ir, plan) = (&mut *self.ir, self.plan);
        let copy = ir.clone_op(op, &mut self.maps[part]);
        for (old, new) in ir.results(op).to_vec().into_iter().zip(ir.results(copy).to_vec()) {
            ir.set_type(new, plan.part(ir.ty(old), plan.axes[&old]));
        }
        cut(ir, op, copy, part);
        ir.append(to, copy);
    }

    /// A loop, which carries each part of what is split.
    fn looped(&mut self, op: Op, to: Block) {
        let Some(body) = self.ir.body(op, 0) else { return };
        let carried = self.places(self.ir.results(op));
        if carried.iter().all(|&(_, part)| part.is_none()) {
            self.ir.append(to, op);
            self.block_in_place(body);
            return;
        }
        let ir = &mut *self.ir;
        let (loc, header) = (ir.loc(op), For(op));
        let (bounds, inits) = ([header.lower(ir), header.upper(ir), header.step(ir)], header.init(ir).to_vec());
        let (args, attrs) = (ir.args(body).to_vec(), ir.attrs(op).to_vec());
        let inits = self.values(&carried, &inits);
        let ir = &mut *self.ir;
        let types: Vec<Type> = inits.iter().map(|&v| ir.ty(v)).collect();
        let state = OpState::new(ScfOp::For, loc).operands(&bounds).operands(&inits).results(&types).attrs(&attrs);
        let new = ir.create_op(state.regions(1));
        ir.append(to, new);
        let region = ir.region(new, 0);
        let locs = carried.iter().map(|&(i, _)| ir.value_loc(args[i + 1]));
        let given: Vec<(Type, Loc)> = [(ir.ty(args[0]), ir.value_loc(args[0]))]
            .into_iter()
            .chain(types.iter().copied().zip(locs.collect::<Vec<_>>()))
            .collect();
        let inner = ir.add_block(region, &given);
        let (new_args, results, old) = (ir.args(inner).to_vec(), ir.results(new).to_vec(), ir.results(op).to_vec());
        ir.replace_all_uses(args[0], new_args[0]);
        self.learn(&carried, &args[1..], &new_args[1..]);
        self.learn(&carried, &old, &results);
        self.replaced.push(op);
        self.block(body, inner);
        self.end(body, inner, &carried);
    }

    /// A branch, of which each part of what is split comes out.
    fn branch(&mut self, op: Op, to: Block) {
        let results = self.ir.results(op).to_vec();
        let chosen = self.places(&results);
        let bodies: Vec<Block> = (0..2).filter_map(|side| self.ir.body(op, side)).collect();
        if chosen.iter().all(|&(_, part)| part.is_none()) {
            self.ir.append(to, op);
            bodies.into_iter().for_each(|body| self.block_in_place(body));
            return;
        }
        let (ir, plan) = (&mut *self.ir, self.plan);
        let part_type = |&(i, part): &(usize, Option<usize>)| {
            let ty = ir.ty(results[i]);
            part.map_or(ty, |_| plan.part(ty, plan.axes[&results[i]]))
        };
        let types: Vec<Type> = chosen.iter().map(part_type).collect();
        let (operands, attrs) = (ir.operands(op).to_vec(), ir.attrs(op).to_vec());
        let state = OpState::new(ScfOp::If, ir.loc(op)).operands(&operands).results(&types).attrs(&attrs);
        let new = ir.create_op(state.regions(2));
        ir.append(to, new);
        let new_results = ir.results(new).to_vec();
        self.learn(&chosen, &results, &new_results);
        self.replaced.push(op);
        for (side, body) in bodies.into_iter().enumerate() {
            let region = self.ir.region(new, side);
            let inner = self.ir.add_block(region, &[]);
            self.block(body, inner);
            self.end(body, inner, &chosen);
        }
    }

    /// Writes what stands in a body whose end stays as it is.
    fn block_in_place(&mut self, body: Block) {
        let end = self.ir.terminator(body);
        self.block(body, body);
        debug_assert_eq!(end, self.ir.terminator(body));
    }

    /// Moves the end of a body behind what has been written, with the parts of what is split.
    fn end(&mut self, from: Block, to: Block, places: &[Place]) {
        let Some(end) = self.ir.last_op(from) else { return };
        let given = self.ir.operands(end).to_vec();
        let given = self.values(places, &given);
        self.ir.detach(end);
        self.ir.append(to, end);
        self.ir.set_operands(end, &given);
    }

    /// Which value of a list stands at each place of a list in which the parts stand side by side.
    fn places(&self, list: &[Value]) -> Vec<Place> {
        let of = |(i, value): (usize, &Value)| -> Vec<Place> {
            let parts = if self.plan.axes.contains_key(value) { self.plan.parts } else { 0 };
            if parts == 0 { vec![(i, None)] } else { (0..parts).map(|part| (i, Some(part))).collect() }
        };
        list.iter().enumerate().flat_map(of).collect()
    }

    fn values(&self, places: &[Place], list: &[Value]) -> Vec<Value> {
        places.iter().map(|&(i, part)| part.map_or(list[i], |part| self.maps[part].get(list[i]))).collect()
    }

    /// Learns what old values have become.
    fn learn(&mut self, places: &[Place], old: &[Value], new: &[Value]) {
        for (&(i, part), &new) in places.iter().zip(new) {
            match part {
                Some(part) => self.maps[part].map(old[i], new),
                None => self.ir.replace_all_uses(old[i], new),
            }
        }
    }
}

/// The number of a value, and which part of it if it is split.
type Place = (usize, Option<usize>);
