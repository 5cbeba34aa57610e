//! `sccp`: sparse conditional constant propagation.
//!
//! # Algorithm
//!
//! 1. Every value starts unknown, every block of several unreached but a function's first. Walk in order to a fixpoint:
//!    a value is one constant, or varies; an operation of constants folds; what meets at block arguments, loop-carried
//!    values and results is one constant only if all of it is; a branch or `scf.if` on a constant reaches one side
//!    only.
//! 2. Visit the operations again: a result that is one constant is replaced by a constant at the front of the
//!    function's entry block (one for equal values, each new one before the others), and the operation goes if nothing
//!    else needs it.
//!
//! Every constant is thereby made anew, in the reverse order of first appearance, without a location.

use crate::ir::core::entity::Entity;
use crate::ir::core::hash::{Map, Set};
use crate::ir::core::{Attr, Block, Ir, Loc, Op, Region, Type, Value};
use crate::ir::dialects::arith::arith::Constant;
use crate::ir::dialects::scf::cf::CondBr;
use crate::ir::dialects::scf::scf::{Condition, For, If};
use crate::ir::dialects::{Folded, OpKind, ScfOp, Traits, TtOp};
use crate::ir::effects::would_be_trivially_dead;
use crate::ir::rewrite::fold;
use crate::ir::rewrite::insertion_region;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass =
    Pass { name: "sccp", doc: "propagate constants through control flow", input: Input::Any, options: &[], run };

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut state =
        State { values: vec![Lattice::Unknown; ir.value_capacity()], reached: Set::default(), changed: true };
    for func in ir.functions() {
        state.changed = true;
        while std::mem::take(&mut state.changed) {
            state.region(ir, ir.region(func, 0), true);
        }
    }
    Ok(Changed::from(rewrite(ir, &state)))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lattice {
    Unknown,
    Constant(Attr),
    Varies,
}

struct State {
    values: Vec<Lattice>,
    reached: Set<Block>,
    changed: bool,
}

impl State {
    fn get(&self, v: Value) -> Lattice {
        self.values[v.index()]
    }

    fn meet(&mut self, v: Value, with: Lattice) {
        let old = self.values[v.index()];
        let new = match (old, with) {
            (Lattice::Unknown, x) | (x, Lattice::Unknown) => x,
            (a, b) if a == b => a,
            _ => Lattice::Varies,
        };
        if new != old {
            self.values[v.index()] = new;
            self.changed = true;
        }
    }

    fn meet_all(&mut self, to: &[Value], from: &[Value]) {
        for (&t, &f) in to.iter().zip(from) {
            self.meet(t, self.get(f));
        }
    }

    /// Visits a region that is entered; `varying` if nothing is known of its arguments.
    fn region(&mut self, ir: &Ir, region: Region, varying: bool) {
        let Some(entry) = ir.entry(region) else { return };
        if varying {
            ir.args(entry).iter().for_each(|&a| self.meet(a, Lattice::Varies));
        }
        self.reach(entry);
        for &block in ir.blocks_of(region) {
            if self.reached.contains(&block) {
                ir.ops(block).for_each(|op| self.visit(ir, op));
            }
        }
    }

    fn reach(&mut self, block: Block) {
        if self.reached.insert(block) {
            self.changed = true;
        }
    }

    fn visit(&mut self, ir: &Ir, op: Op) {
        if let OpKind::Scf(kind) = ir.kind(op) {
            return match kind {
                ScfOp::If => self.visit_if(ir, If(op)),
                ScfOp::For => self.visit_for(ir, op),
                ScfOp::While => self.visit_while(ir, op),
                ScfOp::Yield => self.visit_yield(ir, op),
                ScfOp::Condition => self.visit_condition(ir, Condition(op)),
                ScfOp::ExecuteRegion => self.region(ir, ir.region(op, 0), false),
            };
        }
        if ir.kind(op).has(Traits::BRANCH) {
            return self.visit_branch(ir, op);
        }
        self.visit_plain(ir, op);
    }

    fn visit_if(&mut self, ir: &Ir, branch: If) {
        let op = branch.0;
        let taken = match self.get(branch.condition(ir)) {
            Lattice::Unknown => return,
            Lattice::Constant(c) => c.as_bool(),
            Lattice::Varies => None,
        };
        if taken != Some(false) {
            self.region(ir, ir.region(op, 0), false);
        }
        if taken != Some(true) {
            self.region(ir, ir.region(op, 1), false);
        }
    }

    fn visit_for(&mut self, ir: &Ir, op: Op) {
        let Some(body) = ir.body(op, 0) else { return };
        let Some((&number, carried)) = ir.args(body).split_first() else { return };
        let init = For(op).init(ir);
        self.meet(number, Lattice::Varies);
        self.meet_all(carried, init);
        self.meet_all(ir.results(op), init);
        self.region(ir, ir.region(op, 0), false);
    }

    fn visit_while(&mut self, ir: &Ir, op: Op) {
        if let Some(before) = ir.body(op, 0) {
            self.meet_all(ir.args(before), ir.operands(op));
        }
        self.region(ir, ir.region(op, 0), false);
        if ir.body(op, 1).is_some_and(|after| self.reached.contains(&after)) {
            self.region(ir, ir.region(op, 1), false);
        }
    }

    fn visit_condition(&mut self, ir: &Ir, condition: Condition) {
        let Some(parent) = ir.parent_op(condition.0) else { return };
        let args = condition.args(ir);
        let taken = match self.get(condition.condition(ir)) {
            Lattice::Unknown => return,
            Lattice::Constant(c) => c.as_bool(),
            Lattice::Varies => None,
        };
        if taken != Some(false)
            && let Some(after) = ir.body(parent, 1)
        {
            self.meet_all(ir.args(after), args);
            self.reach(after);
        }
        if taken != Some(true) {
            self.meet_all(ir.results(parent), args);
        }
    }

    fn visit_yield(&mut self, ir: &Ir, op: Op) {
        let Some(parent) = ir.parent_op(op) else { return };
        let values = ir.operands(op);
        let body = ir.body(parent, 0).map_or(&[][..], |b| ir.args(b));
        if ir.is(parent, ScfOp::While) {
            return self.meet_all(body, values);
        }
        if ir.is(parent, ScfOp::For) {
            self.meet_all(body.get(1..).unwrap_or(&[]), values);
        }
        self.meet_all(ir.results(parent), values);
    }

    fn visit_branch(&mut self, ir: &Ir, op: Op) {
        let successors = ir.successors(op).to_vec();
        let taken = match CondBr::of(ir, op).map(|branch| self.get(branch.condition(ir))) {
            Some(Lattice::Unknown) => return,
            Some(Lattice::Constant(c)) => c.as_bool().map(|b| usize::from(!b)),
            Some(Lattice::Varies) | None => None,
        };
        for (i, &block) in successors.iter().enumerate() {
            if taken.is_none_or(|t| t == i) {
                self.meet_all(ir.args(block), ir.successor_operands(op, i));
                self.reach(block);
            }
        }
    }

    fn visit_plain(&mut self, ir: &Ir, op: Op) {
        ir.regions_of(op).to_vec().into_iter().for_each(|r| self.region(ir, r, true));
        let results = ir.results(op);
        if results.is_empty() {
            return;
        }
        if ir.kind(op).has(Traits::CONSTANT) {
            let value = fold::const_of(ir, results[0]).map_or(Lattice::Varies, Lattice::Constant);
            return self.meet(results[0], value);
        }
        let operands: Vec<Lattice> = ir.operands(op).iter().map(|&v| self.get(v)).collect();
        if operands.contains(&Lattice::Unknown) {
            return;
        }
        let constants: Vec<Option<Attr>> =
            operands.iter().map(|l| if let Lattice::Constant(c) = l { Some(*c) } else { None }).collect();
        let folded = if ir.regions_of(op).is_empty() && !ir.is(op, TtOp::Call) {
            fold::fold_results(ir, op, &constants)
        } else {
            None
        };
        match folded {
            Some(folded) => {
                for (&result, f) in results.iter().zip(folded) {
                    let lattice = match f {
                        Folded::Attr(a) => Lattice::Constant(a),
                        Folded::Value(v) => self.get(v),
                    };
                    self.meet(result, lattice);
                }
            }
            None => results.iter().for_each(|&r| self.meet(r, Lattice::Varies)),
        }
    }
}

/// Step 2.
fn rewrite(ir: &mut Ir, state: &State) -> bool {
    let mut made: Map<(Region, Attr, Type), Value> = Map::default();
    let mut changed = false;
    for func in ir.functions() {
        let mut blocks: Vec<Block> = ir.blocks_of(ir.region(func, 0)).iter().rev().copied().collect();
        while let Some(block) = blocks.pop() {
            for op in ir.op_list(block) {
                let results = ir.results(op).to_vec();
                let replaced = results.iter().filter(|&&r| replace(ir, state, &mut made, block, r)).count();
                changed |= replaced > 0;
                if replaced == results.len() && replaced > 0 && would_be_trivially_dead(ir, op) {
                    ir.erase_op(op);
                    continue;
                }
                let nested: Vec<Vec<Block>> =
                    ir.regions_of(op).iter().map(|&r| ir.blocks_of(r).iter().rev().copied().collect()).collect();
                blocks.extend(nested.into_iter().flatten());
            }
            for arg in ir.args(block).to_vec() {
                changed |= replace(ir, state, &mut made, block, arg);
            }
        }
    }
    changed
}

/// Replaces a value that is one constant. Returns whether it is.
fn replace(
    ir: &mut Ir,
    state: &State,
    made: &mut Map<(Region, Attr, Type), Value>,
    block: Block,
    value: Value,
) -> bool {
    let Some(Lattice::Constant(attr)) = state.values.get(value.index()).copied() else { return false };
    let (Some(region), ty) = (insertion_region(ir, block), ir.ty(value)) else { return false };
    let constant = *made.entry((region, attr, ty)).or_insert_with(|| {
        let state = Constant::state(Loc::unknown()).results(&[ty]).with(Constant::ATTR.value, attr);
        let op = ir.create_op(state);
        let entry = ir.entry(region).expect("a region with operations has a block");
        ir.prepend(entry, op);
        ir.result(op)
    });
    ir.replace_all_uses(value, constant);
    true
}
