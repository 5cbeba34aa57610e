//! Canonicalization of `scf.for`: loops that run never or once, and carried values that carry nothing.

use super::scf::{keep_operands, replace_by_block, with_results};
use crate::ir::core::attrs::zero_extend;
use crate::ir::core::{Attr, Op, Type, Value};
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::{OpKind, ScfOp};
use crate::ir::rewrite::{Pattern, Rewriter};

pub(super) static TRIVIAL: Pattern =
    Pattern::new("for that runs never or once -> its body", OpKind::Scf(ScfOp::For), trivial);
pub(super) static ITER_ARGS: Pattern =
    Pattern::new("invariant, unused or equal carried values -> none", OpKind::Scf(ScfOp::For), iter_args);

/// How often a loop of constant bounds runs.
fn trip_count(rw: &Rewriter<'_>, op: Op) -> Option<i128> {
    let looped = For(op);
    let bounds = [looped.lower(rw.ir), looped.upper(rw.ir), looped.step(rw.ir)];
    if bounds[0] == bounds[1] {
        return Some(0);
    }
    let [lower, upper, step] = bounds.map(|bound| rw.const_of(bound).and_then(Attr::int_value));
    let (lower, upper, step) = (lower?, upper?, step?);
    let width = rw.ir.ty(bounds[0]).bit_width().unwrap_or(64);
    let unsigned = looped.unsignedCmp(rw.ir);
    let wide = |v: i64| if unsigned { i128::from(zero_extend(v, width)) } else { i128::from(v) };
    if step <= 0 {
        return None;
    }
    let distance = wide(upper) - wide(lower);
    Some(if distance <= 0 { 0 } else { (distance + i128::from(step) - 1) / i128::from(step) })
}

fn trivial(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(body) = rw.ir.body(op, 0) else { return false };
    let init = For(op).init(rw.ir).to_vec();
    let trips = trip_count(rw, op);
    match trips {
        Some(0) => {
            rw.replace(op, &init);
            return true;
        }
        Some(1) => {
            let mut args = vec![For(op).lower(rw.ir)];
            args.extend(init);
            replace_by_block(rw, op, body, &args);
            return true;
        }
        Some(_) => {}
        None => return false,
    }
    // A loop that does nothing but yield what comes from outside.
    let Some(terminator) = rw.ir.first_op(body).filter(|&f| Some(f) == rw.ir.last_op(body)) else { return false };
    let values = rw.ir.operands(terminator).to_vec();
    if values.iter().any(|&v| rw.ir.value_block(v) == Some(body)) {
        return false;
    }
    rw.replace(op, &values);
    true
}

/// What happens to a carried value.
enum Fate {
    Stays,
    /// It is this value, inside and after the loop.
    Is(Value),
    /// It equals the carried value of this number.
    Same(usize),
}

/// A carried value goes if
/// 1. the loop yields it unchanged, or yields the value it starts with: it is that value;
/// 2. nothing uses it, neither inside (but to yield it) nor after the loop;
/// 3. another one starts with the same value and is yielded the same.
fn iter_args(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(body) = rw.ir.body(op, 0) else { return false };
    let Some(terminator) = rw.ir.last_op(body) else { return false };
    let (init, args) = (rw.ir.operands(op)[3..].to_vec(), rw.ir.args(body)[1..].to_vec());
    let (next, results) = (rw.ir.operands(terminator).to_vec(), rw.ir.results(op).to_vec());
    let mut fates: Vec<Fate> = vec![];
    for i in 0..init.len() {
        let unused = !rw.ir.has_uses(args[i]) && !rw.ir.has_uses(results[i]);
        // Only a value that stays can stand for another one.
        let same = |j: &usize| matches!(fates[*j], Fate::Stays) && init[*j] == init[i] && next[*j] == next[i];
        fates.push(if next[i] == args[i] || next[i] == init[i] || unused {
            Fate::Is(init[i])
        } else {
            (0..i).find(same).map_or(Fate::Stays, Fate::Same)
        });
    }
    if fates.iter().all(|f| matches!(f, Fate::Stays)) {
        return false;
    }
    for (i, f) in fates.iter().enumerate() {
        let (inside, after) = match f {
            Fate::Stays => continue,
            Fate::Is(v) => (*v, *v),
            Fate::Same(j) => (args[*j], results[*j]),
        };
        rw.replace_all_uses(args[i], inside);
        rw.replace_all_uses(results[i], after);
    }
    let keep: Vec<bool> = fates.iter().map(|f| matches!(f, Fate::Stays)).collect();
    drop_carried(rw, op, &keep);
    true
}

/// Remakes a loop with only those carried values that `keep` names; the others have no uses any more but in the yield.
fn drop_carried(rw: &mut Rewriter<'_>, op: Op, keep: &[bool]) {
    let kept = |v: &[Value]| -> Vec<Value> { v.iter().zip(keep).filter(|(_, k)| **k).map(|(&v, _)| v).collect() };
    let mut operands = rw.ir.operands(op)[..3].to_vec();
    operands.extend(kept(&rw.ir.operands(op)[3..]));
    let old = kept(rw.ir.results(op));
    let types: Vec<Type> = old.iter().map(|&r| rw.ir.ty(r)).collect();
    let new = with_results(rw, op, &operands, &types);
    let body = rw.ir.body(new, 0).expect("a loop has a body");
    let terminator = rw.ir.last_op(body).expect("a loop's body ends in a yield");
    keep_operands(rw, terminator, |i| keep[i]);
    for index in (0..keep.len()).rev().filter(|&i| !keep[i]) {
        rw.ir.remove_arg(body, index + 1);
    }
    for (old, new) in old.into_iter().zip(rw.ir.results(new).to_vec()) {
        rw.replace_all_uses(old, new);
    }
    rw.erase(op);
    rw.touch(new);
}
