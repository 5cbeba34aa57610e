//! Third step of `tritongpu-pipeline`: `wgmma` products of a loop run while the loop goes on.
//!
//! # Algorithm
//!
//! 1. Every `ttng.warp_group_dot` of the loop becomes asynchronous. It is *properly* so, without a wait behind it,
//!    where
//!    - its operands in shared memory come from buffers that rotate or do not change, so the next copies do not touch
//!      them;
//!    - its f32 result is only carried to the next iteration (uses inside branches excepted), where it is the
//!      accumulator of a product again, or is not touched before some `warp_group_dot_wait {pendings = 0}`, which it
//!      then goes through.
//!
//!    Others get a wait for everything right behind them.
//! 2. Where no wait for everything stands in the loop, a properly asynchronous product whose A is in registers is cut
//!    into two along K, so that the registers of one half can be rewritten while the other half runs.
//! 3. One wait in the loop, behind the last properly asynchronous product, leaves just this iteration's products under
//!    way: those of the iteration before are finished, and their buffers free. A product with A in registers computed
//!    in the loop is waited for by the next one instead.
//!    Users in branches wait for everything there, and the branch gives the sum that was waited for to those behind it;
//!    this also where a wait for everything stands in the loop.
//! 4. Behind the loop everything is waited for.
//!
//! Results go through the waits that finish them, together with the buffers that the products read, which keeps those
//! alive.

use std::collections::BTreeSet;

use crate::ir::core::{
    Block, Builder, Encoding, InsertPoint, Ir, MemDesc, Op, OpState, Type, TypeData, Use, Value, ValueDef,
};
use crate::ir::dialects::discardable::OPERAND_CHANGES;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::ttng::ttng::{WarpGroupDot, WarpGroupDotWait};
use crate::ir::dialects::{ScfOp, TtOp, TtgOp, TtngOp};
use crate::ir::encoding::questions::has_matrix_result;
use crate::layout::{ConversionKind, conversion_kind_of};
use crate::passes::ttg::combine_select_if::add_result;
use crate::passes::ttg::infer;
use crate::passes::ttg::pipeline::schedule::ancestor_in;

/// Accumulates without rounding in between, for one half of a product.
const WHOLE_HALF: i64 = 1 << 30;

/// Lets the products of one loop run asynchronously.
pub(super) fn launch(ir: &mut Ir, looped: Op) {
    let Some(body) = ir.body(looped, 0) else { return };
    let dots: Vec<Op> = ir.ops(body).filter(|&op| ir.is(op, TtngOp::WarpGroupDot)).collect();
    let mut free: Vec<(Op, usize)> = vec![];
    for dot in dots {
        ir.put(dot, WarpGroupDot::ATTR.isAsync, true);
        if let Some(index) = properly_async(ir, looped, body, dot) {
            free.push((dot, index));
        } else {
            let result = ir.result(dot);
            let wait = wait_after(ir, dot, 0);
            thread_through(ir, wait, &[result]);
        }
    }
    if free.is_empty() {
        return;
    }
    let waits_for_all = has_full_wait(ir, body);
    if waits_for_all {
        // That wait stands elsewhere: branches that use a sum of this iteration have their own.
        free.iter().for_each(|&(dot, _)| wait_before_users(ir, looped, dot));
    } else {
        free = free.into_iter().flat_map(|(dot, index)| halves(ir, dot).into_iter().map(move |d| (d, index))).collect();
        wait_in_loop(ir, looped, &free);
    }
    let results: Vec<Value> = free.iter().map(|f| ir.results(looped)[f.1]).collect();
    let wait = wait_after(ir, looped, 0);
    thread_through(ir, wait, &results);
}

fn wait_after(ir: &mut Ir, op: Op, pendings: i64) -> Op {
    let state = WarpGroupDotWait::state(ir.loc(op), &[]).with(WarpGroupDotWait::ATTR.pendings, pendings);
    Builder::after(ir, op).insert(state)
}

fn full_waits(ir: &Ir, body: Block) -> impl Iterator<Item = Op> + '_ {
    let full = |&op: &Op| WarpGroupDotWait::of(ir, op).is_some_and(|wait| wait.pendings(ir) == Some(0));
    ir.ops(body).filter(full)
}

fn has_full_wait(ir: &Ir, body: Block) -> bool {
    full_waits(ir, body).next().is_some()
}

/// Whether an operation changes only how a tensor is seen.
fn is_noop(ir: &Ir, op: Op) -> bool {
    let moves_nothing = |convert: ttg::ConvertLayout| {
        let kind = conversion_kind_of(ir.ty(convert.src(ir)), ir.ty(convert.result(ir)));
        kind.is_ok_and(|kind| kind == ConversionKind::Nothing)
    };
    ir.is(op, TtOp::Reshape) || ir.is(op, TtOp::Trans) || ttg::ConvertLayout::of(ir, op).is_some_and(moves_nothing)
}

fn is_outside(ir: &Ir, looped: Op, value: Value) -> bool {
    let block = ir.value_block(value);
    block
        .and_then(|b| ir.block_op(b))
        .is_none_or(|owner| !std::iter::successors(Some(owner), |&o| ir.parent_op(o)).any(|o| o == looped))
}

/// Step 1: the index of the carried value that a properly asynchronous product yields.
fn properly_async(ir: &mut Ir, looped: Op, body: Block, dot: Op) -> Option<usize> {
    let product = WarpGroupDot(dot);
    if ![product.a(ir), product.b(ir)].iter().all(|&v| ir.ty(v).is_tensor() || is_rotating(ir, looped, body, v)) {
        return None;
    }
    let index = only_yielded(ir, looped, dot)?;
    if ir.ty(product.c(ir)).elem() != Type::f32() {
        return None;
    }
    let carried = ir.args(body)[index + 1];
    if ir.uses(carried).iter().all(|&u| is_accumulator(ir, u)) {
        return Some(index);
    }
    let first = full_waits(ir, body).next()?;
    let behind = ir.users(carried).iter().all(|&u| ancestor_in(ir, body, u).is_some_and(|u| ir.is_before(first, u)));
    if behind {
        thread_through(ir, first, &[carried]);
        return Some(index);
    }
    None
}

/// Whether a buffer is a slot of one, or unchanged in the loop.
fn is_rotating(ir: &Ir, looped: Op, body: Block, value: Value) -> bool {
    let mut value = value;
    let mut seen = BTreeSet::new();
    while !is_outside(ir, looped, value) {
        match ir.def(value) {
            ValueDef::Result { op, .. } if ir.is(op, TtgOp::MemDescIndex) => return true,
            ValueDef::Result { op, .. } if ir.kind(op).is_view() || ir.is(op, TtgOp::ConvertLayout) => {
                value = ir.operands(op)[0];
            }
            ValueDef::Result { .. } => return false,
            ValueDef::Arg { block, index } => {
                if block != body || index == 0 || !seen.insert(value) {
                    return block == body && index > 0;
                }
                let Some(end) = ir.terminator(body) else { return false };
                value = ir.operands(end)[index as usize - 1];
            }
        }
    }
    true
}

/// The index at which the loop yields a product's result, if nothing else in the body uses it except inside branches.
fn only_yielded(ir: &Ir, looped: Op, dot: Op) -> Option<usize> {
    let mut found = None;
    let mut queue: Vec<Use> = ir.uses(ir.result(dot)).to_vec();
    while let Some(u) = queue.pop() {
        let parent = ir.parent_op(u.op)?;
        if parent == looped {
            if is_noop(ir, u.op) {
                queue.extend(ir.uses(ir.result(u.op)));
            } else if ir.is(u.op, ScfOp::Yield) && found.is_none() {
                found = Some(u.index as usize);
            } else {
                return None;
            }
        } else if ir.is(parent, ScfOp::If) {
            if ir.is(u.op, ScfOp::Yield) {
                queue.extend(ir.uses(ir.results(parent)[u.index as usize]));
            }
        } else {
            return None;
        }
    }
    found
}

fn is_accumulator(ir: &Ir, u: Use) -> bool {
    if WarpGroupDot::of(ir, u.op).is_some() {
        return u.index as usize == WarpGroupDot::SLOT.c.index(ir, u.op);
    }
    is_noop(ir, u.op) && ir.uses(ir.result(u.op)).iter().all(|&next| is_accumulator(ir, next))
}

/// Adds values to a wait, with the buffers that their products read; their users behind the wait take its results,
/// which are given.
fn thread_through(ir: &mut Ir, wait: Op, values: &[Value]) -> Vec<Value> {
    let home = ir.parent_block(wait);
    let mut operands: Vec<Value> = ir.operands(wait).to_vec();
    let known = operands.len();
    let add = |operands: &mut Vec<Value>, v: Value| {
        if !operands.contains(&v) {
            operands.push(v);
        }
    };
    values.iter().for_each(|&v| add(&mut operands, v));
    for &value in values {
        for dot in products_behind(ir, home, value) {
            ir.operands(dot).iter().filter(|&&v| ir.ty(v).as_memdesc().is_some()).for_each(|&v| add(&mut operands, v));
        }
    }
    let types: Vec<Type> = operands.iter().map(|&v| ir.ty(v)).collect();
    let state = WarpGroupDotWait::state(ir.loc(wait), &operands).results(&types).attrs(ir.attrs(wait));
    let new = Builder::before(ir, wait).insert(state);
    for (i, &operand) in operands.iter().enumerate() {
        if ir.ty(operand).as_memdesc().is_some() {
            continue;
        }
        let result = ir.results(new)[i];
        if i < known {
            let old = ir.results(wait)[i];
            ir.replace_all_uses(old, result);
            continue;
        }
        for u in ir.uses(operand).to_vec() {
            let user = home.and_then(|home| ancestor_in(ir, home, u.op));
            if user.is_some_and(|user| user != new && user != wait && ir.is_before(new, user)) {
                ir.set_operand(u.op, u.index as usize, result);
            }
        }
    }
    // What is left of the old wait's results are buffers: users keep the buffers themselves.
    for (i, old) in ir.results(wait).to_vec().into_iter().enumerate() {
        let operand = operands[i];
        ir.replace_all_uses(old, operand);
    }
    ir.erase_op(wait);
    let place = |v: &Value| operands.iter().position(|o| o == v);
    values.iter().filter_map(place).map(|i| ir.results(new)[i]).collect()
}

/// The products that a value comes from, inside one block.
fn products_behind(ir: &Ir, home: Option<Block>, value: Value) -> Vec<Op> {
    let mut found = vec![];
    let mut seen = BTreeSet::new();
    let mut queue: Vec<Op> = ir.def_op(value).into_iter().collect();
    while let Some(op) = queue.pop() {
        if !seen.insert(op) {
            continue;
        }
        if ir.is(op, TtngOp::WarpGroupDot) {
            found.push(op);
        } else if ir.parent_block(op) == home {
            queue.extend(ir.operands(op).iter().filter_map(|&v| ir.def_op(v)));
        }
    }
    found
}

/// Step 2.
fn halves(ir: &mut Ir, dot: Op) -> Vec<Op> {
    cut(ir, dot).unwrap_or_else(|| vec![dot])
}

fn cut(ir: &mut Ir, dot: Op) -> Option<Vec<Op>> {
    let product = WarpGroupDot(dot);
    let (a, b, acc, use_c) = (product.a(ir), product.b(ir), product.c(ir), product.use_c(ir));
    let (ty, result) = (ir.ty(a), ir.ty(ir.result(dot)));
    let Encoding::NvidiaMma(mma) = result.layout()? else { return None };
    let k = *ty.shape().last()?;
    if !ty.is_tensor() || k <= i64::from(*mma.instr_shape.get(2)?) {
        return None;
    }
    let half = k / 2;
    let lhs = halves_of_registers(ir, dot, a, half)?;
    let rhs = halves_of_buffer(ir, dot, b, half)?;
    let mut left = product.maxNumImpreciseAcc(ir).unwrap_or(0);
    let mut dots = vec![];
    let mut sum = acc;
    for i in 0..2 {
        let take = left.min(half);
        left -= take;
        let imprecise = if take == half { WHOLE_HALF } else { take };
        let state = WarpGroupDot::state(ir.loc(dot), lhs[i], rhs[i], sum, use_c.filter(|_| i == 0))
            .results(&[result])
            .attrs(ir.attrs(dot))
            .with(WarpGroupDot::ATTR.maxNumImpreciseAcc, imprecise);
        let new = Builder::before(ir, dot).insert(state);
        sum = ir.result(new);
        dots.push(new);
    }
    ir.replace_op(dot, &[sum]);
    Some(dots)
}

/// Both halves along K of a tensor in registers: seen as `[…, 2, K/2]`, the axis of two moved last, split. Nothing
/// moves.
fn halves_of_registers(ir: &mut Ir, at: Op, value: Value, half: i64) -> Option<[Value; 2]> {
    let ty = ir.ty(value);
    let loc = ir.value_loc(value);
    let rank = ty.rank();
    let mut shape = ty.shape().to_vec();
    shape.pop();
    shape.extend([2, half]);
    let whole = ty.shape().to_vec();
    let mut part_shape = whole.clone();
    part_shape[rank - 1] = half;
    let mut order: Vec<i64> = (0..rank as i64 - 1).collect();
    order.extend([rank as i64, rank as i64 - 1]);
    let mut insert = |state: OpState| {
        let op = Builder::new(ir, InsertPoint::Before(at), loc).insert(state);
        let encoding = infer::result_encoding(ir, op, ir.ty(ir.operands(op)[0]).encoding()?)?;
        for result in ir.results(op).to_vec() {
            let ty = ir.ty(result).with_encoding(Some(encoding));
            ir.set_type(result, ty);
        }
        Some(ir.results(op).to_vec())
    };
    let seen = insert(tt::Reshape::state(loc, value).results(&[ty.with_shape(&shape, None)]))?[0];
    let turned_shape: Vec<i64> = order.iter().map(|&d| shape[d as usize]).collect();
    let turned =
        tt::Trans::state(loc, seen).results(&[ty.with_shape(&turned_shape, None)]).with(tt::Trans::ATTR.order, &order);
    let turned = insert(turned)?[0];
    let part = ty.with_shape(&part_shape, None);
    let parts = insert(tt::Split::state(loc, turned).results(&[part, part]))?;
    let wanted = part.with_encoding(ty.encoding());
    let mut b = Builder::new(ir, InsertPoint::Before(at), loc);
    Some([0, 1].map(|i| b.value(TtgOp::ConvertLayout, &[parts[i]], wanted)))
}

/// Both halves along K of a buffer.
fn halves_of_buffer(ir: &mut Ir, at: Op, value: Value, half: i64) -> Option<[Value; 2]> {
    let desc = ir.ty(value).as_memdesc()?.clone();
    let k = desc.shape.len().checked_sub(2)?;
    let mut shape = desc.shape.clone();
    shape[k] = half;
    let ty = Type::new(TypeData::MemDesc(MemDesc { shape, mutable: false, ..desc.clone() }));
    let loc = ir.value_loc(value);
    let mut b = Builder::new(ir, InsertPoint::Before(at), loc);
    Some([0, 1].map(|i| {
        let mut offsets = vec![0; desc.shape.len()];
        offsets[k] = i * half;
        b.result(ttg::MemDescSubslice::state(loc, value).with(ttg::MemDescSubslice::ATTR.offsets, &offsets), ty)
    }))
}

/// Whether a product reads A from registers that the loop computes anew, not from another product.
fn rewrites_registers(ir: &Ir, looped: Op, dot: Op) -> bool {
    let a = WarpGroupDot(dot).a(ir);
    if !ir.ty(a).is_tensor() || is_outside(ir, looped, a) {
        return false;
    }
    ttg::ConvertLayout::defining(ir, a).is_none_or(|convert| !has_matrix_result(ir.ty(convert.src(ir))))
}

/// Step 3.
fn wait_in_loop(ir: &mut Ir, looped: Op, free: &[(Op, usize)]) {
    let dots: Vec<Op> = free.iter().map(|f| f.0).collect();
    for &dot in &dots {
        wait_before_users(ir, looped, dot);
    }
    for &dot in &dots {
        if rewrites_registers(ir, looped, dot) {
            let result = ir.result(dot);
            let wait = wait_after(ir, dot, dots.len() as i64 - 1);
            if dots.len() > 1 {
                ir.put(wait, OPERAND_CHANGES, true);
            }
            thread_through(ir, wait, &[result]);
        }
    }
    let Some(&last) = dots.last().filter(|&&d| !rewrites_registers(ir, looped, d)) else { return };
    let results: Vec<Value> = dots.iter().map(|&d| ir.result(d)).collect();
    let wait = wait_after(ir, last, dots.len() as i64);
    thread_through(ir, wait, &results);
}

/// Users other than the loop's yield and products that go on summing wait for everything, once a block.
fn wait_before_users(ir: &mut Ir, looped: Op, dot: Op) {
    let result = ir.result(dot);
    let mut blocks: Vec<(Block, Vec<Use>)> = vec![];
    for &u in ir.uses(result) {
        let Some(block) = ir.parent_block(u.op).filter(|_| !ir.is(u.op, ScfOp::Yield)) else { continue };
        match blocks.iter_mut().find(|b| b.0 == block) {
            Some((_, uses)) => uses.push(u),
            None => blocks.push((block, vec![u])),
        }
    }
    for (block, mut uses) in blocks {
        uses.sort_by(|a, b| match (a.op == b.op, ir.is_before(a.op, b.op)) {
            (true, _) => a.index.cmp(&b.index),
            (false, true) => std::cmp::Ordering::Less,
            (false, false) => std::cmp::Ordering::Greater,
        });
        let sums =
            |u: &&Use| WarpGroupDot::of(ir, u.op).is_some() && u.index as usize == WarpGroupDot::SLOT.c.index(ir, u.op);
        let Some(first) = uses.iter().find(|u| !sums(u)) else { continue };
        let state = WarpGroupDotWait::state(ir.loc(dot), &[]).with(WarpGroupDotWait::ATTR.pendings, 0);
        let wait = Builder::before(ir, first.op).insert(state);
        // A branch in front may have waited for it already, or not.
        let sum = ir.operand(first.op, first.index as usize);
        let waited = thread_through(ir, wait, &[sum])[0];
        hand_out(ir, looped, block, sum, waited);
    }
}

/// A branch that waits for a sum hands it out, for those behind it: two values of one sum would need its registers
/// twice, and copies of them in front of the wait.
fn hand_out(ir: &mut Ir, looped: Op, mut block: Block, sum: Value, mut waited: Value) {
    while let Some(branch) = ir.block_op(block).filter(|&op| op != looped && ir.is(op, ScfOp::If)) {
        let around = std::iter::successors(Some(branch), |&op| ir.parent_op(op)).take_while(|&op| op != looped);
        let mut around = around.collect::<Vec<Op>>().into_iter();
        if !around.any(|op| ir.uses(sum).iter().any(|u| is_behind(ir, op, u.op))) {
            return;
        }
        let mut sides = [sum; 2];
        sides[usize::from(ir.body(branch, 1) == Some(block))] = waited;
        waited = add_result(ir, branch, sides);
        for u in ir.uses(sum).to_vec() {
            if is_behind(ir, branch, u.op) {
                ir.set_operand(u.op, u.index as usize, waited);
            }
        }
        let Some(outer) = ir.parent_block(branch) else { return };
        block = outer;
    }
}

/// Whether a user stands behind an operation, in its block or inside something there.
fn is_behind(ir: &Ir, op: Op, user: Op) -> bool {
    ir.parent_block(op).and_then(|block| ancestor_in(ir, block, user)).is_some_and(|user| ir.is_before(op, user))
}
