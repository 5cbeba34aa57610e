//! Canonicalization of structured control flow: of `scf.if` here, of loops in `scf_for` and `scf_while`.

use super::{scf_for, scf_while};
use crate::ir::core::{Attr, Block, InsertPoint, Ir, Op, OpState, Region, Type, Value};
use crate::ir::dialects::arith::arith::Xori;
use crate::ir::dialects::fold::bits;
use crate::ir::dialects::scf::scf::{ExecuteRegion, If};
use crate::ir::dialects::ttng::ttng::{WarpGroupDot, WarpGroupDotWait};
use crate::ir::dialects::{ArithOp, OpKind, ScfOp};
use crate::ir::rewrite::{Pattern, Rewriter};

pub static PATTERNS: &[&Pattern] = &[
    &scf_for::TRIVIAL,
    &scf_for::ITER_ARGS,
    &NEGATED,
    &COMBINE_NESTED,
    &CONDITION_INSIDE,
    &TO_SELECT,
    &EMPTY_ELSE,
    &CONSTANT,
    &UNUSED,
    &YIELDED_CONDITION,
    &scf_while::CONDITION_INSIDE,
    &scf_while::UNUSED_RESULTS,
    &scf_while::UNUSED_ARGS,
    &EXECUTE_REGION,
];

/// The patterns on `scf.for`, which other passes clean up with.
pub static FOR_PATTERNS: &[&Pattern] = &[&scf_for::TRIVIAL, &scf_for::ITER_ARGS];
/// The patterns on `scf.if`.
pub static IF_PATTERNS: &[&Pattern] =
    &[&NEGATED, &COMBINE_NESTED, &CONDITION_INSIDE, &TO_SELECT, &EMPTY_ELSE, &CONSTANT, &UNUSED, &YIELDED_CONDITION];

static NEGATED: Pattern =
    Pattern::new("if not c { A } else { B } -> if c { B } else { A }", OpKind::Scf(ScfOp::If), negated_condition);
static COMBINE_NESTED: Pattern = Pattern::new("if c { if d } -> if c & d", OpKind::Scf(ScfOp::If), combine_nested);
static CONDITION_INSIDE: Pattern =
    Pattern::new("condition inside its own if -> constant", OpKind::Scf(ScfOp::If), condition_inside);
static TO_SELECT: Pattern = Pattern::new("if that yields outer values -> select", OpKind::Scf(ScfOp::If), to_select);
static EMPTY_ELSE: Pattern = Pattern::new("empty else -> none", OpKind::Scf(ScfOp::If), empty_else);
static CONSTANT: Pattern = Pattern::new("if on a constant -> its branch", OpKind::Scf(ScfOp::If), constant_condition);
static UNUSED: Pattern = Pattern::new("unused results of if -> none", OpKind::Scf(ScfOp::If), unused_results);
static YIELDED_CONDITION: Pattern =
    Pattern::new("if c { true } else { false } -> c", OpKind::Scf(ScfOp::If), yielded_condition);
static EXECUTE_REGION: Pattern =
    Pattern::new("execute_region of one block -> its contents", OpKind::Scf(ScfOp::ExecuteRegion), execute_region);

/// The `scf.yield` that ends a region, with what it yields.
fn yielded(rw: &Rewriter<'_>, region: Region) -> Option<(Op, Vec<Value>)> {
    let terminator = rw.ir.entry(region).and_then(|b| rw.ir.last_op(b))?;
    rw.ir.is(terminator, ScfOp::Yield).then(|| (terminator, rw.ir.operands(terminator).to_vec()))
}

/// Replaces an operation by the contents of a block, which ends in a yield.
pub(super) fn replace_by_block(rw: &mut Rewriter<'_>, op: Op, block: Block, args: &[Value]) {
    let results = rw.inline_before(block, op, args, 0);
    let moved: Vec<Op> = rw.ir.prev_op(op).into_iter().collect();
    rw.replace(op, &results);
    moved.into_iter().for_each(|o| rw.touch(o));
}

/// Makes a copy of an operation with regions but other results (and operands); the regions move over, the old operation
/// stays empty.
pub(super) fn with_results(rw: &mut Rewriter<'_>, op: Op, operands: &[Value], results: &[Type]) -> Op {
    let regions = rw.ir.regions_of(op).to_vec();
    let state = OpState::new(rw.ir.kind(op), rw.ir.loc(op))
        .operands(operands)
        .results(results)
        .attrs(rw.ir.attrs(op))
        .regions(regions.len());
    rw.at = InsertPoint::Before(op);
    let new = rw.insert(state);
    for (i, &from) in regions.iter().enumerate() {
        let to = rw.ir.region(new, i);
        rw.ir.splice_region(from, to);
    }
    new
}

/// Keeps those operands of a terminator that `keep` selects.
pub(super) fn keep_operands(rw: &mut Rewriter<'_>, op: Op, keep: impl Fn(usize) -> bool) {
    let operands: Vec<Value> =
        rw.ir.operands(op).iter().enumerate().filter(|&(i, _)| keep(i)).map(|(_, &v)| v).collect();
    let dropped: Vec<Value> =
        rw.ir.operands(op).iter().enumerate().filter(|&(i, _)| !keep(i)).map(|(_, &v)| v).collect();
    rw.ir.set_operands(op, &operands);
    rw.touch(op);
    let producers: Vec<Op> = dropped.into_iter().filter_map(|v| rw.ir.def_op(v)).collect();
    for def in producers {
        rw.touch(def);
    }
}

fn constant_condition(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(taken) = rw.const_of(If(op).condition(rw.ir)).and_then(Attr::as_bool) else { return false };
    match rw.ir.body(op, usize::from(!taken)) {
        Some(block) => replace_by_block(rw, op, block, &[]),
        None if rw.ir.results(op).is_empty() => rw.erase(op),
        None => return false,
    }
    true
}

/// A negated condition swaps the branches, where there are two.
fn negated_condition(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(not) = Xori::defining(rw.ir, If(op).condition(rw.ir)) else { return false };
    if rw.ir.body(op, 1).is_none() || !bits::is_int(rw.const_of(not.rhs(rw.ir)), 1) {
        return false;
    }
    let (cond, regions) = (not.lhs(rw.ir), [rw.ir.region(op, 0), rw.ir.region(op, 1)]);
    let [then, otherwise] = regions.map(|r| rw.ir.blocks_of(r).to_vec());
    for (blocks, to) in [(then, regions[1]), (otherwise, regions[0])] {
        for block in blocks {
            let at = rw.ir.blocks_of(to).len();
            rw.ir.move_block(block, to, at);
        }
    }
    rw.put_operands(op, If::SLOT.condition, &[cond]);
    rw.touch(not.0);
    true
}

fn unused_results(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let results = rw.ir.results(op).to_vec();
    let used: Vec<bool> = results.iter().map(|&r| rw.ir.has_uses(r)).collect();
    if used.iter().all(|&u| u) {
        return false;
    }
    let types: Vec<Type> = results.iter().zip(&used).filter(|(_, u)| **u).map(|(&r, _)| rw.ir.ty(r)).collect();
    let cond = rw.ir.operands(op).to_vec();
    let new = with_results(rw, op, &cond, &types);
    for region in rw.ir.regions_of(new).to_vec() {
        if let Some((terminator, _)) = yielded(rw, region) {
            keep_operands(rw, terminator, |i| used[i]);
        }
    }
    let mut kept = rw.ir.results(new).to_vec().into_iter();
    for (&old, &used) in results.iter().zip(&used) {
        if used && let Some(new) = kept.next() {
            rw.replace_all_uses(old, new);
        }
    }
    rw.erase(op);
    true
}

fn to_select(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let results = rw.ir.results(op).to_vec();
    if results.is_empty() {
        return false;
    }
    let regions = [rw.ir.region(op, 0), rw.ir.region(op, 1)];
    let (Some((_, a)), Some((_, b))) = (yielded(rw, regions[0]), yielded(rw, regions[1])) else { return false };
    let region_of = |v: Value| rw.ir.value_block(v).and_then(|blk| rw.ir.parent_region(blk));
    let inside = |x: Value, y: Value| region_of(x) == Some(regions[0]) || region_of(y) == Some(regions[1]);
    let waits = |x: Value, y: Value| x != y && (under_way(rw.ir, x) || under_way(rw.ir, y));
    let stays: Vec<bool> = a.iter().zip(&b).map(|(&x, &y)| inside(x, y) || waits(x, y)).collect();
    if stays.iter().all(|&s| s) {
        return false;
    }
    let types: Vec<Type> = results.iter().zip(&stays).filter(|(_, s)| **s).map(|(&r, _)| rw.ir.ty(r)).collect();
    let operands = rw.ir.operands(op).to_vec();
    let new = with_results(rw, op, &operands, &types);
    let (cond, loc) = (If(op).condition(rw.ir), rw.ir.loc(op));
    rw.at = InsertPoint::Before(new);
    let mut kept = rw.ir.results(new).to_vec().into_iter();
    let mut values = vec![];
    for (i, &stay) in stays.iter().enumerate() {
        let ty = rw.ir.ty(results[i]);
        values.push(match (stay, kept.as_slice().first()) {
            (true, Some(&v)) => {
                kept.next();
                v
            }
            _ if a[i] == b[i] => a[i],
            _ => rw.value(ArithOp::Select, loc, &[cond, a[i], b[i]], ty),
        });
    }
    for region in rw.ir.regions_of(new).to_vec() {
        if let Some((terminator, _)) = yielded(rw, region) {
            keep_operands(rw, terminator, |i| stays[i]);
        }
    }
    rw.replace(op, &values);
    true
}

/// Whether this is a sum that a product may still be adding to. Control flow hands it on, where a select would read it.
fn under_way(ir: &Ir, value: Value) -> bool {
    let Some(op) = ir.def_op(value) else { return false };
    WarpGroupDot::of(ir, op).is_some_and(|product| product.isAsync(ir))
        || WarpGroupDotWait::of(ir, op).is_some_and(|wait| wait.pendings(ir) != Some(0))
}

/// An else branch of nothing but a yield, where nothing is yielded.
fn empty_else(rw: &mut Rewriter<'_>, op: Op) -> bool {
    if !rw.ir.results(op).is_empty() {
        return false;
    }
    let Some(block) = rw.ir.body(op, 1).filter(|&b| rw.ir.first_op(b) == rw.ir.last_op(b)) else { return false };
    for inner in rw.ir.op_list(block) {
        rw.erase(inner);
    }
    rw.ir.erase_blocks(&[block]);
    rw.touch(op);
    true
}

/// Inside the branches the condition is known; a nested region counts.
fn condition_inside(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let cond = If(op).condition(rw.ir);
    if rw.const_of(cond).is_some() {
        return false;
    }
    let mut changed = false;
    for (index, holds) in [(0, true), (1, false)] {
        let region = rw.ir.region(op, index);
        let inside = |rw: &Rewriter<'_>, mut o: Op| {
            loop {
                let Some(r) = rw.ir.parent_block(o).and_then(|b| rw.ir.parent_region(b)) else { return false };
                if r == region {
                    return true;
                }
                match rw.ir.region_op(r) {
                    Some(parent) => o = parent,
                    None => return false,
                }
            }
        };
        let users: Vec<_> = rw.ir.uses(cond).iter().copied().filter(|u| inside(rw, u.op)).collect();
        if users.is_empty() {
            continue;
        }
        rw.at = InsertPoint::Before(op);
        let loc = rw.ir.loc(op);
        let known = rw.constant(Attr::bool(holds), loc);
        users.into_iter().for_each(|u| rw.set_operand(u.op, u.index as usize, known));
        changed = true;
    }
    changed
}

/// A result that is true in one branch and false in the other is the condition, or its negation.
fn yielded_condition(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let (Some((_, a)), Some((_, b))) =
        (yielded(rw, rw.ir.region(op, 0)), rw.ir.regions_of(op).get(1).and_then(|&r| yielded(rw, r)))
    else {
        return false;
    };
    let (cond, loc) = (If(op).condition(rw.ir), rw.ir.loc(op));
    let mut changed = false;
    for (i, result) in rw.ir.results(op).to_vec().into_iter().enumerate() {
        if !rw.ir.has_uses(result) || !rw.ir.ty(result).is_int_of(1) {
            continue;
        }
        let (x, y) = (rw.const_of(a[i]), rw.const_of(b[i]));
        if bits::is_int(x, 1) && bits::is_int(y, 0) {
            rw.replace_all_uses(result, cond);
            changed = true;
        } else if bits::is_int(x, 0) && bits::is_int(y, 1) {
            rw.at = InsertPoint::Before(op);
            let ones = rw.constant(Attr::bool(true), loc);
            let not = rw.value(ArithOp::Xori, loc, &[cond, ones], Type::int(1));
            rw.replace_all_uses(result, not);
            changed = true;
        }
    }
    changed
}

/// `if c { if d { … } }` with nothing else in it, no results and no else branches.
fn combine_nested(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let no_else = |rw: &Rewriter<'_>, o: Op| rw.ir.body(o, 1).is_none_or(|b| rw.ir.first_op(b) == rw.ir.last_op(b));
    if !rw.ir.results(op).is_empty() || !no_else(rw, op) {
        return false;
    }
    let Some(block) = rw.ir.body(op, 0) else { return false };
    let Some(inner) = rw.ir.first_op(block).filter(|&i| rw.ir.is(i, ScfOp::If)) else { return false };
    if rw.ir.next_op(inner) != rw.ir.last_op(block) || !rw.ir.results(inner).is_empty() || !no_else(rw, inner) {
        return false;
    }
    let (c, d, loc) = (If(op).condition(rw.ir), If(inner).condition(rw.ir), rw.ir.loc(op));
    let both = rw.value(ArithOp::Andi, loc, &[c, d], Type::int(1));
    let new = rw.insert(OpState::new(ScfOp::If, loc).operands(&[both]).attrs(rw.ir.attrs(op)).regions(2));
    let (from, to) = (rw.ir.region(inner, 0), rw.ir.region(new, 0));
    rw.ir.splice_region(from, to);
    rw.erase(op);
    true
}

/// A region of one block that is run once; it may be dissolved unless told otherwise.
fn execute_region(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let region = rw.ir.region(op, 0);
    if ExecuteRegion(op).no_inline(rw.ir) || rw.ir.blocks_of(region).len() != 1 || yielded(rw, region).is_none() {
        return false;
    }
    let block = rw.ir.blocks_of(region)[0];
    replace_by_block(rw, op, block, &[]);
    true
}
