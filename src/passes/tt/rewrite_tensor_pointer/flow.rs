//! Where block pointers go, and which of their parts are the same wherever they meet.
//!
//! # Algorithm
//!
//! 1. Collect the merges: arguments of loops and blocks, results of `scf.if`, `scf.for`, `scf.while` and
//!    `arith.select`; for each what arrives in it, and through which operand (an edge).
//! 2. Suppose that nothing is known of the parts of merges. Until nothing changes: a part of a merge is what that part
//!    is of all that arrives and is known. If two differ, the merge has a part of its own. A result of a loop is like
//!    the loop's argument.
//! 3. What is defined inside of a `scf.while` is not visible behind its condition, so it becomes a part of its own
//!    there.
//!
//! Offsets are no parts here: every merge has its own.
//!
//! Example: a loop carries `p`, made from base `x`, and advances it. Base: `x` arrives from outside, and what is known
//! of `p` comes back. So it is `x` in the loop and behind it, and need not be carried. If `p` and `q` (from base `y`)
//! change places in each iteration, then `x` arrives in `p` from outside and `y` from inside, and each has a base of
//! its own.

use super::makes;
use crate::ir::dialects::Traits;
use crate::ir::dialects::arith::arith::Select;
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt::{Advance, MakeTensorPtr};
use std::collections::{BTreeMap, BTreeSet};

use super::{access, is_block_pointer, rank};
use crate::ir::core::{Ir, Op, Type, Value};
use crate::ir::dialects::{ArithOp, OpKind, ScfOp};

/// One part of a block pointer: of its base, extents and strides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Part {
    /// This value.
    Is(Value),
    /// What is carried beside this block pointer.
    Own(Value),
}

/// What cannot be rewritten.
pub(super) struct Fault {
    pub(super) op: Op,
    pub(super) message: String,
}

#[derive(Default)]
struct Merge {
    sources: Vec<Value>,
    /// For the result of a loop, the argument that has the same parts.
    like: Option<Value>,
    /// Parts that are defined in this operation are not visible here.
    hides: Option<Op>,
}

/// The result of the analysis. Plain data: it stays valid while the operations are replaced, except that values of
/// [`Part::Is`] may have been renamed.
#[derive(Default)]
pub(super) struct Flow {
    merges: BTreeMap<Value, Merge>,
    parts: BTreeMap<Value, Vec<Option<Part>>>,
    bases: BTreeMap<Value, Type>,
    /// Operand of an operation that passes on a block pointer, and the merge in which it arrives.
    edges: BTreeMap<(Op, usize), Value>,
}

/// Analyses the module, whose operations `ops` are.
pub(super) fn analyse(ir: &Ir, ops: &[Op]) -> Result<Flow, Fault> {
    let mut flow = Flow::default();
    for &op in ops {
        flow.collect(ir, op);
    }
    for &op in ops {
        flow.check(ir, op)?;
    }
    flow.solve(ir);
    flow.find_base_types(ir)?;
    Ok(flow)
}

/// The operation that defines a value, or whose region has it as an argument.
fn owner(ir: &Ir, value: Value) -> Option<Op> {
    ir.def_op(value).or_else(|| ir.value_block(value).and_then(|b| ir.block_op(b)))
}

impl Flow {
    /// The merge in which operand `index` arrives, if that is a block pointer that is passed on.
    pub(super) fn edge(&self, op: Op, index: usize) -> Option<Value> {
        self.edges.get(&(op, index)).copied()
    }

    /// Operation `new` takes the place of `old`, with the same operands.
    pub(super) fn move_edges(&mut self, old: Op, new: Op, operands: usize) {
        for index in 0..operands {
            if let Some(target) = self.edges.remove(&(old, index)) {
                self.edges.insert((new, index), target);
            }
        }
    }

    /// The parts of a merge: the base, extents, strides.
    pub(super) fn parts(&self, merge: Value) -> Vec<Part> {
        self.parts[&merge].iter().map(|p| p.unwrap_or(Part::Own(merge))).collect()
    }

    /// The type of the base of a merge that has its own.
    pub(super) fn base_type(&self, merge: Value) -> Type {
        self.bases[&merge]
    }

    /// Part `index` of any block pointer.
    pub(super) fn part(&self, ir: &Ir, ptr: Value, index: usize) -> Part {
        self.known(ir, ptr, index).unwrap_or(Part::Own(ptr))
    }

    /// What is known so far of part `index`.
    fn known(&self, ir: &Ir, ptr: Value, index: usize) -> Option<Part> {
        let mut at = ptr;
        loop {
            if let Some(parts) = self.parts.get(&at) {
                return parts[index];
            }
            let op = ir.def_op(at)?;
            if let Some(made) = MakeTensorPtr::of(ir, op) {
                let parts = std::iter::once(made.base(ir)).chain(made.shape(ir).iter().copied());
                return parts.chain(made.strides(ir).iter().copied()).nth(index).map(Part::Is);
            }
            at = Advance::of(ir, op)?.ptr(ir);
        }
    }

    fn join(&mut self, ir: &Ir, op: Op, operand: usize, target: Value) {
        let value = ir.operand(op, operand);
        if is_block_pointer(ir.ty(value)) {
            self.edges.insert((op, operand), target);
            self.merges.entry(target).or_default().sources.push(value);
        }
    }

    /// The values that the last operation of region `index` names from operand `skip` on arrive in `targets`.
    fn join_ending(&mut self, ir: &Ir, op: Op, index: usize, skip: usize, targets: &[Value]) {
        let Some(last) = ir.body(op, index).and_then(|b| ir.last_op(b)) else { return };
        for (i, &target) in targets.iter().enumerate() {
            self.join(ir, last, skip + i, target);
        }
    }

    /// The results of a loop are like its arguments.
    fn join_results(&mut self, ir: &Ir, op: Op, args: &[Value]) {
        for (&result, &arg) in ir.results(op).iter().zip(args) {
            if is_block_pointer(ir.ty(result)) {
                self.merges.entry(result).or_default().like = Some(arg);
            }
        }
    }

    fn collect(&mut self, ir: &Ir, op: Op) {
        if let OpKind::Scf(kind) = ir.kind(op) {
            return self.collect_structured(ir, op, kind);
        }
        if ir.kind(op).has(Traits::BRANCH) {
            for (index, &target) in ir.successors(op).iter().enumerate() {
                let first = ir.successor_slot(op, index).index(ir, op);
                ir.args(target).iter().enumerate().for_each(|(i, &arg)| self.join(ir, op, first + i, arg));
            }
        }
        if let Some(select) = Select::of(ir, op)
            && is_block_pointer(ir.ty(select.result(ir)))
        {
            let sources = vec![select.true_value(ir), select.false_value(ir)];
            self.merges.entry(select.result(ir)).or_default().sources = sources;
        }
    }

    fn collect_structured(&mut self, ir: &Ir, op: Op, kind: ScfOp) {
        let body = |index: usize| ir.body(op, index).map(|b| ir.args(b).to_vec()).unwrap_or_default();
        match kind {
            ScfOp::For => {
                let (args, first) = (body(0).split_off(1), For::SLOT.init.index(ir, op));
                args.iter().enumerate().for_each(|(i, &arg)| self.join(ir, op, first + i, arg));
                self.join_ending(ir, op, 0, 0, &args);
                self.join_results(ir, op, &args);
            }
            ScfOp::While => {
                let (before, after) = (body(0), body(1));
                before.iter().enumerate().for_each(|(i, &arg)| self.join(ir, op, i, arg));
                self.join_ending(ir, op, 1, 0, &before);
                self.join_ending(ir, op, 0, 1, &after);
                self.join_results(ir, op, &after);
                for arg in after {
                    self.merges.entry(arg).and_modify(|m| m.hides = Some(op));
                }
            }
            ScfOp::If => {
                let results = ir.results(op).to_vec();
                [0, 1].into_iter().for_each(|index| self.join_ending(ir, op, index, 0, &results));
            }
            // What ends a region is joined with the operation around it.
            ScfOp::Yield | ScfOp::Condition | ScfOp::ExecuteRegion => {}
        }
    }

    /// Reports what an operation does with block pointers that cannot be rewritten.
    fn check(&self, ir: &Ir, op: Op) -> Result<(), Fault> {
        let fault = |what: &str| Err(Fault { op, message: format!("`{}` {what}", ir.op_name(op)) });
        let args = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.args(b));
        if args.into_iter().any(|&a| is_block_pointer(ir.ty(a)) && !self.merges.contains_key(&a)) {
            return fault(
                "has a block pointer as an argument; block pointers can be used only in the function that makes them",
            );
        }
        let makes = makes(ir, op);
        if ir.results(op).iter().any(|&r| is_block_pointer(ir.ty(r)) && !makes && !self.merges.contains_key(&r)) {
            return fault("gives a block pointer; only `tt.make_tensor_ptr` and `tt.advance` can make one");
        }
        for (i, &operand) in ir.operands(op).iter().enumerate().filter(|&(_, &v)| is_block_pointer(ir.ty(v))) {
            let through = access::block_pointer(ir, op).or_else(|| Advance::of(ir, op).map(|moved| moved.ptr(ir)));
            let fine = if ir.is(op, ArithOp::Select) {
                self.merges.contains_key(&ir.result(op))
            } else {
                i == 0 && through == Some(operand) || self.edges.contains_key(&(op, i))
            };
            if !fine {
                return fault(&format!(
                    "takes a block pointer, of type {}; it can be loaded and stored through only",
                    ir.ty(operand)
                ));
            }
        }
        access::fault(ir, op).map_or(Ok(()), |message| Err(Fault { op, message }))
    }

    fn solve(&mut self, ir: &Ir) {
        let merges: Vec<Value> = self.merges.keys().copied().collect();
        for &merge in &merges {
            self.parts.insert(merge, vec![None; 1 + 2 * rank(ir, merge)]);
        }
        // A part that still changes after so many rounds gets its own: that is final, so this ends.
        let patience = merges.len() + 2;
        for round in 0.. {
            let mut changed = false;
            for &merge in &merges {
                for index in 0..self.parts[&merge].len() {
                    let (old, mut new) = (self.parts[&merge][index], self.merged(ir, merge, index));
                    if old == Some(Part::Own(merge)) || new == old {
                        continue;
                    }
                    if round > patience && self.merges[&merge].like.is_none() {
                        new = Some(Part::Own(merge));
                    }
                    self.parts.get_mut(&merge).expect("every merge has parts")[index] = new;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// What arrives in a merge as part `index`, as far as it is known.
    fn merged(&self, ir: &Ir, merge: Value, index: usize) -> Option<Part> {
        let info = &self.merges[&merge];
        if let Some(arg) = info.like {
            let part = self.parts.get(&arg)?[index];
            return if part == Some(Part::Own(arg)) { Some(Part::Own(merge)) } else { part };
        }
        let found: BTreeSet<Part> = info.sources.iter().filter_map(|&s| self.known(ir, s, index)).collect();
        let only = *found.first()?;
        let (Part::Is(value) | Part::Own(value)) = only;
        let hidden = info.hides.is_some_and(|op| owner(ir, value).is_some_and(|o| ir.is_ancestor(op, o)));
        Some(if found.len() > 1 || hidden { Part::Own(merge) } else { only })
    }

    /// The types of bases that are carried: all block pointers that come together must have one.
    fn find_base_types(&mut self, ir: &Ir) -> Result<(), Fault> {
        for &merge in self.merges.keys() {
            let (mut seen, mut queue, mut types) = (BTreeSet::new(), vec![merge], BTreeSet::new());
            while let Some(ptr) = queue.pop() {
                if !seen.insert(ptr) {
                    continue;
                }
                if let Some(info) = self.merges.get(&ptr) {
                    queue.extend(info.sources.iter().copied().chain(info.like));
                } else if let Some(op) = ir.def_op(ptr) {
                    types.extend(MakeTensorPtr::of(ir, op).map(|made| ir.ty(made.base(ir))));
                    queue.extend(Advance::of(ir, op).map(|moved| moved.ptr(ir)));
                }
            }
            let op = owner(ir, merge).unwrap_or(ir.module());
            let named: Vec<String> = types.iter().map(ToString::to_string).collect();
            match types.first() {
                Some(&ty) if types.len() == 1 => self.bases.insert(merge, ty),
                None => {
                    let message = format!("`{}` has a block pointer that nothing makes", ir.op_name(op));
                    return Err(Fault { op, message });
                }
                Some(_) => {
                    let message =
                        format!("`{}` gets block pointers with bases of types {}", ir.op_name(op), named.join(" and "));
                    return Err(Fault { op, message });
                }
            };
        }
        Ok(())
    }
}
