//! First step of [`super::fuse`]: how often the fused loop runs, and how many of its iterations one iteration of the
//! outer loop takes.

use super::bounds::{bounds, is_unsigned, trips, widen, width};
use super::fuse::{Inner, is_outside};
use crate::ir::core::{Builder, InsertPoint, Ir, Mapping, Op, Type, Value};
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::{ArithOp, ScfOp};

/// Numbers of iterations, computed in front of the nest.
pub(super) struct Counts {
    /// The type of all of them, and of `t`.
    pub(super) ty: Type,
    /// Of each inner loop; zero if it is not known yet.
    pub(super) inners: Vec<Value>,
    /// Of the fused loop for one iteration of the outer one, without the lengths that are not known yet.
    pub(super) inner_len: Value,
    pub(super) total: Value,
}

/// Step 1.
pub(super) fn count(ir: &mut Ir, outer: Op, inners: &[Inner]) -> Counts {
    let induction = |ir: &Ir, op: Op| width(ir.ty(scf::For(op).lower(ir)));
    let bits = inners.iter().map(|i| induction(ir, i.op)).chain([induction(ir, outer)]).max().unwrap_or(64);
    let ty = Type::int(bits);
    let known: Vec<bool> = inners.iter().map(|i| is_known(ir, outer, i)).collect();
    let variants = known.iter().filter(|&&k| !k).count();
    let mut b = Builder::before(ir, outer);
    let mut length = trips_of(&mut b, outer);
    let mut lengths = vec![];
    for (inner, &known) in inners.iter().zip(&known) {
        lengths.push(if known {
            let length = trips_of(&mut b, inner.op);
            let unsigned = is_unsigned(b.ir, inner.op);
            widen(&mut b, length, ty, unsigned)
        } else {
            b.int(0, ty)
        });
    }
    let mut inner_len = b.int(0, ty);
    for (&length, _) in lengths.iter().zip(&known).filter(|l| *l.1) {
        inner_len = add_length(&mut b, inner_len, length);
    }
    let shared = b.int(inners.len() as i64 - 1, ty);
    inner_len = b.value(ArithOp::Subi, &[inner_len, shared], ty);
    let unsigned = is_unsigned(b.ir, outer);
    length = widen(&mut b, length, ty, unsigned);
    if variants > 1 {
        // What is known of the length may be negative, and so may this.
        let zero = b.int(0, ty);
        length = b.value(ArithOp::Maxsi, &[length, zero], ty);
    }
    let mut total = b.value(ArithOp::Muli, &[length, inner_len], ty);
    if variants > 0 {
        total = count_variants(&mut b, outer, inners.iter().zip(&known).filter(|i| !i.1).map(|i| i.0), total);
    }
    Counts { ty, inners: lengths, inner_len, total }
}

fn trips_of(b: &mut Builder<'_>, looped: Op) -> Value {
    let (bounds, unsigned) = (bounds(b.ir, looped), is_unsigned(b.ir, looped));
    trips(b, bounds, unsigned)
}

/// Whether the length does not depend on the outer induction variable.
pub(super) fn is_known(ir: &Ir, outer: Op, inner: &Inner) -> bool {
    inner.repeated.is_empty() && bounds(ir, inner.op).iter().all(|&v| is_outside(ir, outer, v))
}

/// `sum + max(1, length)`
pub(super) fn add_length(b: &mut Builder<'_>, sum: Value, length: Value) -> Value {
    let ty = b.ir.ty(length);
    let one = b.int(1, ty);
    let length = b.value(ArithOp::Maxsi, &[one, length], ty);
    b.value(ArithOp::Addi, &[sum, length], ty)
}

/// The number of iterations of a loop whose bounds depend on the outer induction variable, computed anew.
pub(super) fn repeat_trips(b: &mut Builder<'_>, inner: &Inner, map: &mut Mapping, ty: Type) -> Value {
    for &op in &inner.repeated {
        if ir_is_mapped(b.ir, op, map) {
            continue;
        }
        let copy = b.ir.clone_op(op, map);
        b.place(copy);
    }
    let bounds = bounds(b.ir, inner.op).map(|v| map.get(v));
    let unsigned = is_unsigned(b.ir, inner.op);
    let length = trips(b, bounds, unsigned);
    widen(b, length, ty, unsigned)
}

fn ir_is_mapped(ir: &Ir, op: Op, map: &Mapping) -> bool {
    ir.results(op).first().is_some_and(|&r| map.get(r) != r)
}

/// A loop in front of the nest that adds up the lengths that depend on the outer induction variable.
fn count_variants<'i>(b: &mut Builder<'_>, outer: Op, inners: impl Iterator<Item = &'i Inner>, total: Value) -> Value {
    let (ty, loc) = (b.ir.ty(total), b.loc);
    let [lower, upper, step] = bounds(b.ir, outer);
    let state = scf::For::state(loc, lower, upper, step, &[total]).results(&[ty]).regions(1);
    let counting = b.insert(state.with(scf::For::ATTR.unsignedCmp, is_unsigned(b.ir, outer)));
    let region = b.ir.region(counting, 0);
    let induction = b.ir.ty(lower);
    let block = b.ir.add_block(region, &[(induction, loc), (ty, loc)]);
    let mut map = Mapping::default();
    let outer_body = b.ir.body(outer, 0).expect("a loop has a body");
    map.map(b.ir.args(outer_body)[0], b.ir.args(block)[0]);
    let mut sum = b.ir.args(block)[1];
    let mut inside = Builder::new(b.ir, InsertPoint::End(block), loc);
    for inner in inners {
        let length = repeat_trips(&mut inside, inner, &mut map, ty);
        sum = add_length(&mut inside, sum, length);
    }
    inside.op(ScfOp::Yield, &[sum], &[]);
    b.ir.result(counting)
}
