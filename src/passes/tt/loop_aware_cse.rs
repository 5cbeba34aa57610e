//! `triton-loop-aware-cse`: merges equal operations, and carried values of a loop that always agree.
//!
//! # Algorithm
//!
//! 1. Merge equal operations, so that equal values from outside of loops are one value.
//! 2. Two carried values agree if they start with one value and what is yielded for them agrees, supposing that they
//!    do. Values agree if they are one, or results of equal effect-free operations in the loop on operands that agree.
//! 3. Of those that agree the first serves for all; the others carry themselves.
//! 4. Merge equal operations again, and drop what is carried for nothing.

use crate::ir::core::{Ir, Op, Value, ValueDef};
use crate::ir::dialects::ScfOp;
use crate::ir::dialects::scf::scf::For;
use crate::ir::effects::effects;
use crate::ir::rewrite::{Config, rewrite_greedily};
use crate::passes::common::{canonicalize, cse};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "triton-loop-aware-cse",
    doc: "merge equal operations and equal carried values",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    let mut changed = cse::eliminate(ir, module);
    for op in ir.all_ops_post(module).into_iter().filter(|&o| ir.is(o, ScfOp::For)).collect::<Vec<_>>() {
        changed |= merge_carried(ir, op);
    }
    changed |= cse::eliminate(ir, module);
    changed |= rewrite_greedily(ir, module, canonicalize::scf::FOR_PATTERNS, Config::default());
    Ok(Changed::from(changed))
}

struct Loop<'a> {
    ir: &'a Ir,
    op: Op,
    args: Vec<Value>,
    yielded: Vec<Value>,
    /// Pairs that are supposed to agree while others are compared.
    supposed: Vec<(usize, usize)>,
}

fn merge_carried(ir: &mut Ir, op: Op) -> bool {
    let Some(body) = ir.body(op, 0) else { return false };
    let (Some(terminator), args) = (ir.last_op(body), ir.args(body)[1..].to_vec()) else { return false };
    let mut this = Loop { ir, op, yielded: ir.operands(terminator).to_vec(), args: args.clone(), supposed: vec![] };
    let mut same_as: Vec<usize> = (0..args.len()).collect();
    for j in 1..args.len() {
        if let Some(i) = (0..j).find(|&i| same_as[i] == i && this.agree(i, j)) {
            same_as[j] = i;
        }
    }
    let mut changed = false;
    for (j, &i) in same_as.iter().enumerate().filter(|&(j, &i)| j != i) {
        ir.replace_all_uses(args[j], args[i]);
        ir.set_operand(terminator, j, args[j]);
        let (old, new) = (ir.results(op)[j], ir.results(op)[i]);
        ir.replace_all_uses(old, new);
        changed = true;
    }
    changed
}

impl Loop<'_> {
    fn agree(&mut self, i: usize, j: usize) -> bool {
        if i == j || self.supposed.contains(&(i, j)) {
            return true;
        }
        let init = For(self.op).init(self.ir);
        if init[i] != init[j] {
            return false;
        }
        self.supposed.push((i, j));
        let result = self.equal(self.yielded[i], self.yielded[j]);
        self.supposed.pop();
        result
    }

    fn equal(&mut self, a: Value, b: Value) -> bool {
        if a == b {
            return true;
        }
        let body = self.ir.body(self.op, 0);
        if self.ir.ty(a) != self.ir.ty(b) || self.ir.value_block(a) != body || self.ir.value_block(b) != body {
            return false;
        }
        match (self.ir.def(a), self.ir.def(b)) {
            (ValueDef::Arg { .. }, ValueDef::Arg { .. }) => {
                let at = |v: Value| self.args.iter().position(|&x| x == v);
                matches!((at(a), at(b)), (Some(i), Some(j)) if self.agree(i, j))
            }
            (ValueDef::Result { op: x, index: m }, ValueDef::Result { op: y, index: n }) => {
                m == n && self.equal_ops(x, y)
            }
            _ => false,
        }
    }

    fn equal_ops(&mut self, x: Op, y: Op) -> bool {
        let ir = self.ir;
        let types = |o: Op| ir.results(o).iter().map(|&r| ir.ty(r)).collect::<Vec<_>>();
        ir.kind(x) == ir.kind(y)
            && ir.attrs(x) == ir.attrs(y)
            && ir.regions_of(x).is_empty()
            && ir.regions_of(y).is_empty()
            && types(x) == types(y)
            && ir.operands(x).len() == ir.operands(y).len()
            && effects(ir, x).is_free()
            && ir.operands(x).to_vec().into_iter().zip(ir.operands(y).to_vec()).all(|(a, b)| self.equal(a, b))
    }
}
