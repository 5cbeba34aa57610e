//! Step 1: layouts flow forward from anchors.
//!
//! 1. Anchors (and tensor parameters) keep the encoding they have.
//! 2. Each value passes its encodings on to the results of its users, through loops and conditionals, to a fixpoint. A
//!    value may collect several.
//! 3. A value keeps the first it got; but of a load or atomic a blocked one, of anything else that of a matrix
//!    instruction, where there is one.
//! 4. Walk the function and change results to the encodings chosen. An operand that has another one is converted right
//!    after its definition.

use std::collections::{BTreeMap, VecDeque};

use super::{can_use_result_encoding, is_expensive_access};
use crate::ir::core::{Attr, Builder, Encoding, InsertPoint, Ir, Op, Region, Use, Value, ValueDef};
use crate::ir::dialects::{Classes, OpKind, ScfOp, Traits, TtOp, TtgOp, TtngOp};
use crate::passes::ttg::infer;

/// Rewrites one function. Returns whether anything changed.
pub(super) fn run(ir: &mut Ir, func: Op) -> bool {
    let mut this = Propagation::default();
    this.anchors(ir, func);
    this.flow(ir);
    this.settle(ir);
    this.rewrite(ir, ir.region(func, 0));
    this.changed
}

#[derive(Default)]
struct Propagation {
    /// The encodings of each value, the first found first.
    encodings: BTreeMap<Value, Vec<Attr>>,
    /// Values in the order in which they were found.
    found: Vec<Value>,
    /// What values had before they were changed.
    before: BTreeMap<Value, Option<Attr>>,
    changed: bool,
}

/// Whether the layout of an operation is one to keep.
fn is_anchor(ir: &Ir, op: Op) -> bool {
    match ir.kind(op) {
        OpKind::Tt(TtOp::Load | TtOp::Store) => is_expensive_access(ir, op),
        OpKind::Tt(TtOp::Gather | TtOp::Reshape) => ir.stored_attr(op, "efficient_layout").is_some(),
        kind => kind.belongs(Classes::ANCHOR),
    }
}

/// Whether a result can have the encoding of its operand, whatever that is.
fn passes_on(ir: &Ir, op: Op) -> bool {
    ir.is(op, TtgOp::ConvertLayout) || ir.is(op, TtngOp::WarpGroupDotWait)
}

fn is_view_or_convert(ir: &Ir, op: Op) -> bool {
    ir.kind(op).belongs(Classes::TENSOR_VIEW) || ir.is(op, TtOp::Reduce) || ir.is(op, TtgOp::ConvertLayout)
}

/// Loads share one encoding too, but choose it: nothing flows through them.
fn shares_encoding(ir: &Ir, op: Op) -> bool {
    let kind = ir.kind(op);
    let flows = kind.has(Traits::SAME_OPERANDS_AND_RESULT_ENCODING) || kind.has(Traits::ELEMENTWISE);
    flows && !matches!(kind, OpKind::Tt(TtOp::Load | TtOp::Store))
}

impl Propagation {
    fn add(&mut self, value: Value, encoding: Attr) -> bool {
        let list = self.encodings.entry(value).or_insert_with(|| {
            self.found.push(value);
            vec![]
        });
        let new = !list.contains(&encoding);
        if new {
            list.push(encoding);
        }
        new
    }

    fn chosen(&self, value: Value) -> Option<Attr> {
        self.encodings.get(&value).and_then(|l| l.first()).copied()
    }

    fn anchors(&mut self, ir: &Ir, func: Op) {
        let params = ir.body(func, 0).map_or(&[][..], |b| ir.args(b)).to_vec();
        let results = ir
            .all_ops_post(func)
            .into_iter()
            .filter(|&op| op != func && is_anchor(ir, op))
            .flat_map(|op| ir.results(op).to_vec());
        for value in params.into_iter().chain(results.collect::<Vec<_>>()) {
            if let Some(encoding) = ir.ty(value).as_tensor().and_then(|t| t.encoding) {
                self.add(value, encoding);
            }
        }
    }

    fn flow(&mut self, ir: &Ir) {
        let mut stack = self.found.clone();
        while let Some(value) = stack.pop() {
            let encodings = self.encodings[&value].clone();
            for &u in ir.uses(value).iter().rev() {
                self.push_to_user(ir, u, &encodings, &mut stack);
            }
        }
    }

    fn push_to_user(&mut self, ir: &Ir, u: Use, encodings: &[Attr], stack: &mut Vec<Value>) {
        let (user, at) = (u.op, u.index as usize);
        let targets: Vec<Value> = match ir.kind(user) {
            OpKind::Scf(ScfOp::For) if at >= 3 => {
                let body = ir.body(user, 0).map_or(&[][..], |b| ir.args(b));
                body.get(at - 2).into_iter().chain(ir.results(user).get(at - 3)).copied().collect()
            }
            OpKind::Scf(ScfOp::While) => {
                ir.body(user, 0).and_then(|b| ir.args(b).get(at)).into_iter().copied().collect()
            }
            OpKind::Scf(ScfOp::Yield) => self.yield_targets(ir, user, at),
            OpKind::Scf(ScfOp::Condition) if at >= 1 => {
                let Some(parent) = ir.parent_op(user) else { return };
                let after = ir.body(parent, 1).map_or(&[][..], |b| ir.args(b));
                after.get(at - 1).into_iter().chain(ir.results(parent).get(at - 1)).copied().collect()
            }
            OpKind::Ttng(TtngOp::WarpGroupDotWait) => ir.results(user).get(at).into_iter().copied().collect(),
            OpKind::Tt(TtOp::Gather) => {
                if ir.stored_attr(user, "efficient_layout").is_some() || at != 1 {
                    return;
                }
                ir.results(user).to_vec()
            }
            _ if shares_encoding(ir, user) || is_view_or_convert(ir, user) => ir.results(user).to_vec(),
            _ => return,
        };
        for target in targets.into_iter().filter(|&t| ir.ty(t).is_tensor()) {
            let mut new = false;
            for &encoding in encodings {
                let keeps = passes_on(ir, user) || ir.is(user, ScfOp::If);
                let out = if keeps { Some(encoding) } else { infer::result_encoding(ir, user, encoding) };
                new |= out.is_some_and(|e| self.add(target, e));
            }
            if new {
                stack.push(target);
            }
        }
    }

    fn yield_targets(&self, ir: &Ir, user: Op, at: usize) -> Vec<Value> {
        let Some(parent) = ir.parent_op(user) else { return vec![] };
        let arg = |index: usize| ir.body(parent, 0).and_then(|b| ir.args(b).get(index)).copied();
        match ir.kind(parent) {
            OpKind::Scf(ScfOp::For) => ir.results(parent).get(at).copied().into_iter().chain(arg(at + 1)).collect(),
            OpKind::Scf(ScfOp::If) => ir.results(parent).get(at).copied().into_iter().collect(),
            OpKind::Scf(ScfOp::While) => arg(at).into_iter().collect(),
            _ => vec![],
        }
    }

    fn settle(&mut self, ir: &Ir) {
        for (&value, list) in &mut self.encodings {
            let access = ir.def_op(value).is_some_and(|op| {
                matches!(ir.kind(op), OpKind::Tt(TtOp::Load | TtOp::Store | TtOp::AtomicRmw | TtOp::AtomicCas))
            });
            let preferred = list.iter().copied().find(|e| match e.as_encoding() {
                Some(Encoding::Blocked(_)) => access,
                Some(Encoding::NvidiaMma(_)) => !access,
                _ => false,
            });
            let kept = preferred.unwrap_or(list[0]);
            *list = vec![kept];
        }
    }

    fn rewrite(&mut self, ir: &mut Ir, region: Region) {
        let mut queue = VecDeque::from([region]);
        while let Some(region) = queue.pop_front() {
            let blocks = ir.blocks_of(region).to_vec();
            for block in blocks {
                let mut at = ir.first_op(block);
                while let Some(op) = at {
                    self.rewrite_op(ir, op, &mut queue);
                    at = ir.next_op(op);
                }
            }
        }
    }

    fn rewrite_op(&mut self, ir: &mut Ir, op: Op, queue: &mut VecDeque<Region>) {
        let differs = |v: &Value| self.chosen(*v).is_some_and(|e| ir.ty(*v).encoding() != Some(e));
        if ir.results(op).iter().any(differs) {
            self.change(ir, op);
            queue.extend(ir.regions_of(op));
            return;
        }
        match ir.kind(op) {
            OpKind::Scf(ScfOp::Yield) => self.fit_yield(ir, op),
            OpKind::Scf(ScfOp::Condition) => self.fit_condition(ir, op),
            OpKind::Tt(TtOp::Reduce) if !ir.ty(ir.result(op)).is_tensor() => {
                // A reduction to a scalar works in any layout.
                if let Some(encoding) = ir.operands(op).to_vec().into_iter().find_map(|v| self.chosen(v)) {
                    (0..ir.operands(op).len()).for_each(|i| self.fit(ir, op, i, encoding));
                }
            }
            OpKind::Tt(TtOp::Assert) => {
                if let Some(encoding) = self.chosen(ir.operand(op, 0)) {
                    self.fit(ir, op, 0, encoding);
                }
            }
            _ => {
                for i in 0..ir.operands(op).len() {
                    let value = ir.operand(op, i);
                    if self.encodings.contains_key(&value)
                        && let Some(encoding) = self.before.get(&value).copied().unwrap_or(ir.ty(value).encoding())
                    {
                        self.fit(ir, op, i, encoding);
                    }
                }
                queue.extend(ir.regions_of(op));
            }
        }
    }

    /// Gives the results the encodings chosen for them.
    fn change(&mut self, ir: &mut Ir, op: Op) {
        match ir.kind(op) {
            OpKind::Scf(ScfOp::For) => self.change_for(ir, op),
            OpKind::Scf(ScfOp::While) => self.change_while(ir, op),
            OpKind::Scf(ScfOp::If) => {
                for result in ir.results(op).to_vec() {
                    self.set_chosen(ir, result, result);
                }
            }
            _ => {
                let Some(encoding) = self.chosen(ir.result(op)) else { return };
                if can_use_result_encoding(ir, op, encoding) {
                    let result = ir.result(op);
                    self.set(ir, result, encoding);
                } else {
                    self.change_plain(ir, op, encoding);
                }
            }
        }
    }

    fn change_plain(&mut self, ir: &mut Ir, op: Op, encoding: Attr) {
        if !ir.operands(op).is_empty() {
            let from_operand =
                ir.operands(op).iter().filter_map(|&v| self.chosen(v)).find(|&e| {
                    passes_on(ir, op) && e == encoding || infer::result_encoding(ir, op, e) == Some(encoding)
                });
            let Some(wanted) = from_operand.or_else(|| infer::operand_encoding(ir, op, encoding)) else { return };
            (0..ir.operands(op).len()).for_each(|i| self.fit(ir, op, i, wanted));
        }
        for result in ir.results(op).to_vec() {
            if ir.ty(result).is_tensor() {
                self.set(ir, result, encoding);
            }
        }
    }

    fn change_for(&mut self, ir: &mut Ir, op: Op) {
        let Some(body) = ir.body(op, 0) else { return };
        for (i, result) in ir.results(op).to_vec().into_iter().enumerate() {
            let Some(encoding) = self.chosen(result).filter(|_| ir.ty(result).is_tensor()) else { continue };
            self.fit(ir, op, 3 + i, encoding);
            let arg = ir.args(body)[1 + i];
            self.set(ir, result, encoding);
            self.set(ir, arg, encoding);
        }
    }

    fn change_while(&mut self, ir: &mut Ir, op: Op) {
        let (Some(before), Some(after)) = (ir.body(op, 0), ir.body(op, 1)) else { return };
        for (i, arg) in ir.args(before).to_vec().into_iter().enumerate() {
            if let Some(encoding) = self.chosen(arg) {
                self.fit(ir, op, i, encoding);
                self.set(ir, arg, encoding);
            }
        }
        for (result, arg) in ir.results(op).to_vec().into_iter().zip(ir.args(after).to_vec()) {
            self.set_chosen(ir, result, result);
            self.set_chosen(ir, arg, result);
        }
    }

    fn fit_yield(&mut self, ir: &mut Ir, op: Op) {
        let Some(parent) = ir.parent_op(op) else { return };
        for i in 0..ir.operands(op).len() {
            let target = match ir.kind(parent) {
                OpKind::Scf(ScfOp::For | ScfOp::If) => ir.results(parent).get(i).copied(),
                OpKind::Scf(ScfOp::While) => ir.body(parent, 0).and_then(|b| ir.args(b).get(i)).copied(),
                _ => None,
            };
            if let Some(encoding) = target.and_then(|t| ir.ty(t).as_tensor()).and_then(|t| t.encoding) {
                self.fit(ir, op, i, encoding);
            }
        }
    }

    fn fit_condition(&mut self, ir: &mut Ir, op: Op) {
        let Some(parent) = ir.parent_op(op) else { return };
        for i in 1..ir.operands(op).len() {
            if let Some(encoding) =
                ir.results(parent).get(i - 1).and_then(|&r| ir.ty(r).as_tensor()).and_then(|t| t.encoding)
            {
                self.fit(ir, op, i, encoding);
            }
        }
    }

    fn set_chosen(&mut self, ir: &mut Ir, value: Value, as_of: Value) {
        if let Some(encoding) = self.chosen(as_of) {
            self.set(ir, value, encoding);
        }
    }

    fn set(&mut self, ir: &mut Ir, value: Value, encoding: Attr) {
        let ty = ir.ty(value);
        self.before.entry(value).or_insert(ty.encoding());
        self.changed |= ty.encoding() != Some(encoding);
        ir.set_type(value, ty.with_encoding(Some(encoding)));
        // A constant's attribute carries the type too.
        if let Some(op) = ir.def_op(value).filter(|&op| ir.kind(op).has(Traits::CONSTANT)) {
            retype_constant(ir, op);
        }
    }

    /// Makes operand `index` have an encoding, by a conversion after its definition if need be.
    fn fit(&mut self, ir: &mut Ir, op: Op, index: usize, encoding: Attr) {
        let value = ir.operand(op, index);
        if !ir.ty(value).is_tensor() || ir.ty(value).encoding() == Some(encoding) {
            return;
        }
        let point = match ir.def(value) {
            ValueDef::Result { op, .. } => InsertPoint::After(op),
            ValueDef::Arg { block, .. } => InsertPoint::Start(block),
        };
        let (loc, ty) = (ir.value_loc(value), ir.ty(value).with_encoding(Some(encoding)));
        let converted = Builder::new(ir, point, loc).value(TtgOp::ConvertLayout, &[value], ty);
        ir.set_operand(op, index, converted);
        self.changed = true;
    }
}

/// Gives a constant's attribute the type of its result.
pub(super) fn retype_constant(ir: &mut Ir, op: Op) {
    use crate::ir::core::AttrData;
    let ty = ir.ty(ir.result(op));
    if let Some(AttrData::Dense(_, data)) = ir.attr(op, "value").map(Attr::data) {
        ir.set_attr(op, "value", Attr::new(AttrData::Dense(ty, data.clone())));
    }
}
