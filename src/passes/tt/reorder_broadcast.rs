//! `triton-reorder-broadcast`: computes on small tensors, or scalars, and broadcasts the result.
//!
//! Patterns, applied until nothing changes, to elementwise operations without effects:
//!
//! 1. of splats only (constants count): compute on scalars and splat the result;
//! 2. of broadcasts from one shape, and splats: compute in that shape and broadcast the result.

use crate::ir::core::{Attr, InsertPoint, Ir, Op, OpState, Type, Value};
use crate::ir::dialects::tt::tt::{Broadcast, Splat};
use crate::ir::dialects::{Traits, TtOp};
use crate::ir::effects::effects;
use crate::ir::rewrite::{Config, Pattern, Rewriter, Root, rewrite_greedily};
use crate::passes::common::canonicalize;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "triton-reorder-broadcast",
    doc: "compute before broadcasting instead of after",
    input: Input::Any,
    options: &[],
    run,
};

static PATTERNS: &[&Pattern] = &[
    &canonicalize::tt::BROADCAST,
    &canonicalize::tt::EXPAND_DIMS,
    &Pattern {
        name: "f(broadcast x, ...) -> broadcast f(x, ...)",
        root: Root::Any,
        benefit: 1,
        apply: broadcast_after,
    },
    &Pattern { name: "f(splat x, ...) -> splat f(x, ...)", root: Root::Any, benefit: 1, apply: splat_after },
];

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let module = ir.module();
    Ok(Changed::from(rewrite_greedily(ir, module, PATTERNS, Config::default())))
}

/// What an operand is made from.
enum Source {
    /// A splat of this scalar.
    Splat(Value),
    /// A constant, all of whose elements are these bits.
    Constant(u64),
    Broadcast(Value),
}

fn sources(rw: &Rewriter<'_>, op: Op) -> Option<Vec<Source>> {
    let eligible = rw.ir.kind(op).has(Traits::ELEMENTWISE)
        && !rw.ir.operands(op).is_empty()
        && rw.ir.results(op).iter().all(|&r| rw.ir.ty(r).is_tensor());
    if !eligible || !effects(rw.ir, op).is_free() {
        return None;
    }
    rw.ir
        .operands(op)
        .iter()
        .map(|&v| {
            if !rw.ir.ty(v).is_tensor() {
                None
            } else if let Some(splat) = Splat::defining(rw.ir, v) {
                Some(Source::Splat(splat.src(rw.ir)))
            } else if let Some(broadcast) = Broadcast::defining(rw.ir, v) {
                Some(Source::Broadcast(broadcast.src(rw.ir)))
            } else {
                rw.const_of(v)?.splat_value().map(Source::Constant)
            }
        })
        .collect()
}

/// The same operation on other operands, with results of other types.
fn remade(rw: &mut Rewriter<'_>, op: Op, operands: &[Value], types: &[Type]) -> Vec<Value> {
    let state = OpState::new(rw.ir.kind(op), rw.ir.loc(op)).operands(operands).results(types).attrs(rw.ir.attrs(op));
    let new = rw.insert(state);
    rw.ir.results(new).to_vec()
}

fn splat_after(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(sources) = sources(rw, op) else { return false };
    if sources.iter().any(|s| matches!(s, Source::Broadcast(_))) {
        return false;
    }
    rw.at = InsertPoint::Before(op);
    let loc = rw.ir.loc(op);
    let mut operands = vec![];
    for (i, source) in sources.iter().enumerate() {
        let elem = rw.ir.ty(rw.ir.operand(op, i)).elem();
        operands.push(match source {
            Source::Splat(v) | Source::Broadcast(v) => *v,
            Source::Constant(bits) => rw.constant(Attr::splat_bits(elem, *bits), loc),
        });
    }
    let types: Vec<Type> = rw.ir.results(op).iter().map(|&r| rw.ir.ty(r)).collect();
    let scalars: Vec<Type> = types.iter().map(|t| t.elem()).collect();
    let results = remade(rw, op, &operands, &scalars);
    spread(rw, op, TtOp::Splat, &results, &types);
    true
}

fn broadcast_after(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(sources) = sources(rw, op) else { return false };
    let mut small: Option<Type> = None;
    for source in &sources {
        if let Source::Broadcast(v) = source {
            let ty = rw.ir.ty(*v);
            if small.is_some_and(|s| s.shape() != ty.shape()) {
                return false;
            }
            small.get_or_insert(ty);
        }
    }
    let Some(small) = small else { return false };
    rw.at = InsertPoint::Before(op);
    let loc = rw.ir.loc(op);
    let mut operands = vec![];
    for (i, source) in sources.iter().enumerate() {
        let ty = small.with_elem(rw.ir.ty(rw.ir.operand(op, i)).elem());
        operands.push(match source {
            Source::Broadcast(v) => *v,
            Source::Splat(v) => rw.value(TtOp::Splat, loc, &[*v], ty),
            Source::Constant(bits) => rw.constant(Attr::splat_bits(ty, *bits), loc),
        });
    }
    let types: Vec<Type> = rw.ir.results(op).iter().map(|&r| rw.ir.ty(r)).collect();
    let narrow: Vec<Type> = types.iter().map(|t| small.with_elem(t.elem())).collect();
    let results = remade(rw, op, &operands, &narrow);
    spread(rw, op, TtOp::Broadcast, &results, &types);
    true
}

/// Replaces the results by spread ones; the old operation is left without uses.
fn spread(rw: &mut Rewriter<'_>, op: Op, kind: TtOp, results: &[Value], types: &[Type]) {
    let loc = rw.ir.loc(op);
    for (i, (&small, &ty)) in results.iter().zip(types).enumerate() {
        let wide = rw.value(kind, loc, &[small], ty);
        let old = rw.ir.results(op)[i];
        rw.replace_all_uses(old, wide);
    }
    rw.touch(op);
}
