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

use super::{can_use_result_encoding, has_efficient_layout, is_expensive_access};
use crate::analysis::flow::handed_to;
use crate::ir::core::{Attr, Builder, Encoding, InsertPoint, Ir, Op, Region, Use, Value, ValueDef};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{Classes, LayoutRule, ScfOp, Traits, TtOp, TtgOp};
use crate::ir::encoding::questions::is_matrix_result;
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
    let kind = ir.kind(op);
    if kind.is_plain_access() {
        is_expensive_access(ir, op)
    } else {
        has_efficient_layout(ir, op) || kind.belongs(Classes::ANCHOR)
    }
}

/// Whether a result can have the encoding of its operand, whatever that is.
fn passes_on(ir: &Ir, op: Op) -> bool {
    ir.is(op, TtgOp::ConvertLayout) || ir.kind(op).belongs(Classes::FORWARDS)
}

fn is_view_or_convert(ir: &Ir, op: Op) -> bool {
    ir.kind(op).belongs(Classes::TENSOR_VIEW) || ir.is(op, TtOp::Reduce) || ir.is(op, TtgOp::ConvertLayout)
}

/// Loads and stores share one encoding too, but choose it: nothing flows through them.
fn shares_encoding(ir: &Ir, op: Op) -> bool {
    let kind = ir.kind(op);
    let flows = kind.has(Traits::SAME_OPERANDS_AND_RESULT_ENCODING) || kind.has(Traits::ELEMENTWISE);
    flows && !kind.is_plain_access()
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
        let targets: Vec<Value> = if let Some(targets) = handed_to(ir, u) {
            targets
        } else if ir.kind(user).belongs(Classes::FORWARDS) {
            ir.results(user).get(at).into_iter().copied().collect()
        } else if ir.kind(user).layout_rule() == LayoutRule::Indexed {
            // Its indices decide, unless it has been given a layout.
            if has_efficient_layout(ir, user) || at != tt::Gather::SLOT.indices.index(ir, user) {
                return;
            }
            ir.results(user).to_vec()
        } else if shares_encoding(ir, user) || is_view_or_convert(ir, user) {
            ir.results(user).to_vec()
        } else {
            return;
        };
        for target in targets.into_iter().filter(|&t| ir.ty(t).is_tensor()) {
            let mut new = false;
            for &encoding in encodings {
                let out = if passes_on(ir, user) { Some(encoding) } else { infer::result_encoding(ir, user, encoding) };
                new |= out.is_some_and(|e| self.add(target, e));
            }
            if new {
                stack.push(target);
            }
        }
    }

    fn settle(&mut self, ir: &Ir) {
        for (&value, list) in &mut self.encodings {
            let access = ir.def_op(value).is_some_and(|op| ir.kind(op).belongs(Classes::COALESCED));
            let preferred = list.iter().copied().find(|e| match e.as_encoding() {
                Some(Encoding::Blocked(_)) => access,
                other => !access && other.is_some_and(is_matrix_result),
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
        if ir.is(op, ScfOp::Yield) || ir.is(op, ScfOp::Condition) {
            self.fit_handed(ir, op);
        } else if ir.is(op, TtOp::Reduce) && !ir.ty(ir.result(op)).is_tensor() {
            // A reduction to a scalar works in any layout.
            if let Some(encoding) = ir.operands(op).to_vec().into_iter().find_map(|v| self.chosen(v)) {
                (0..ir.operands(op).len()).for_each(|i| self.fit(ir, op, i, encoding));
            }
        } else if let Some(assert) = tt::Assert::of(ir, op) {
            if let Some(encoding) = self.chosen(assert.condition(ir)) {
                self.fit(ir, op, tt::Assert::SLOT.condition.index(ir, op), encoding);
            }
        } else {
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

    /// Gives the results the encodings chosen for them.
    fn change(&mut self, ir: &mut Ir, op: Op) {
        if ir.is(op, ScfOp::For) {
            self.change_for(ir, op);
        } else if ir.is(op, ScfOp::While) {
            self.change_while(ir, op);
        } else if ir.is(op, ScfOp::If) {
            for result in ir.results(op).to_vec() {
                self.set_chosen(ir, result, result);
            }
        } else if let Some(encoding) = self.chosen(ir.result(op)) {
            if can_use_result_encoding(ir, op, encoding) {
                let result = ir.result(op);
                self.set(ir, result, encoding);
            } else {
                self.change_plain(ir, op, encoding);
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
            self.fit(ir, op, scf::For::SLOT.init.index(ir, op) + i, encoding);
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

    /// What ends a region hands on values in the layouts that their targets have.
    fn fit_handed(&mut self, ir: &mut Ir, op: Op) {
        for index in 0..ir.operands(op).len() {
            let targets = handed_to(ir, Use { op, index: index as u32 }).unwrap_or_default();
            // A result that a loop or a branch has, or else an argument of a loop.
            let target = targets.iter().find(|&&v| ir.def_op(v).is_some()).or(targets.first());
            if let Some(encoding) = target.and_then(|&t| ir.ty(t).as_tensor()).and_then(|t| t.encoding) {
                self.fit(ir, op, index, encoding);
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
        if let Some(constant) = arith::Constant::defining(ir, value) {
            infer::retype(ir, constant, ir.ty(value));
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
