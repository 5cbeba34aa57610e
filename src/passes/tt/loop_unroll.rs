//! `triton-loop-unroll`: repeats the body of a loop as often as the kernel's author asked for (`tl.range(…,
//! loop_unroll_factor=4)`).
//!
//! # Algorithm
//!
//! For each `scf.for` with `tt.loop_unroll_factor = F` above 1, inner loops first:
//!
//! 1. Split the iterations: the main loop does the largest multiple of F, with F times the step; an epilogue does the
//!    rest. With constant bounds the split is known; a part without iterations is left out, and one of a single
//!    iteration is no loop. Otherwise the split is computed in front of the loop and there is an epilogue.
//! 2. The epilogue is a copy of the loop that starts where the main loop ends, from the values it ends with. It is
//!    short, so it is not pipelined: `tt.num_stages = 1`.
//! 3. The body of the main loop is repeated F - 1 times. Copy i has the induction variable plus i steps, and for the
//!    carried values what the copy before it yields.
//!
//! Example: 0 to 7 in steps of 1, F = 3: a main loop 0 to 6 in steps of 3, whose body does iterations iv, iv + 1 and iv
//! + 2, and iteration 6.
//!
//! The number of iterations, ceil((upper - lower) / step), is computed without sign. That is wrong for upper < lower,
//! unless the step is 1: from 0 to -20 in steps of 2 it gives 2^31 - 10 iterations, and with F = 4 an epilogue from -24
//! to -20. So the upper bound is at least the lower one there (`arith.maxsi`), which Triton leaves out.

use crate::analysis::trips::trips;
use crate::ir::core::{Attr, Builder, Ir, Mapping, Op, Value};
use crate::ir::dialects::discardable::{NUM_STAGES, UNROLL_FACTOR};
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::ir::rewrite::fold;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "triton-loop-unroll",
    doc: "repeat loop bodies as `tt.loop_unroll_factor` says",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let factor = |ir: &Ir, op: Op| ir.get(op, UNROLL_FACTOR).filter(|&f| f > 1);
    let loops: Vec<(Op, i64)> = ir
        .all_ops_post(ir.module())
        .into_iter()
        .filter(|&o| ir.is(o, ScfOp::For))
        .filter_map(|o| factor(ir, o).map(|f| (o, f)))
        .collect();
    for &(op, factor) in &loops {
        let size = ir.all_ops(op).len() as i64;
        // The copies, and the epilogue.
        if ir.is_full_with(usize::try_from(size.saturating_mul(factor).saturating_add(size)).unwrap_or(usize::MAX)) {
            return Err(cx.too_many_ops(ir, PASS.name, ir.loc(op)));
        }
        ir.take(op, UNROLL_FACTOR);
        unroll(ir, op, factor);
    }
    Ok(Changed::from(!loops.is_empty()))
}

/// How often a part of the loop runs, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    Never,
    Once,
    /// Any number of times.
    Loop,
}

impl Runs {
    fn of(iterations: i64) -> Runs {
        match iterations {
            0 => Runs::Never,
            1 => Runs::Once,
            _ => Runs::Loop,
        }
    }
}

/// The iterations of a loop, split in two.
struct Split {
    main: Runs,
    epilogue: Runs,
    /// Where the main loop ends and the epilogue begins.
    upper: Value,
    /// Of the main loop.
    step: Value,
}

/// Repeats the body of one loop `factor` times; see the module's documentation.
pub(crate) fn unroll(ir: &mut Ir, op: Op, factor: i64) {
    let Some(terminator) = ir.body(op, 0).and_then(|b| ir.last_op(b)) else { return };
    if ir.prev_op(terminator).is_none() {
        return;
    }
    let split = match trips(ir, For(op)) {
        Some(trips) => match split_known(ir, op, factor, trips) {
            Some(split) => split,
            None => return,
        },
        None => split_at_run_time(ir, op, factor),
    };
    if split.epilogue != Runs::Never {
        let epilogue = add_epilogue(ir, op, split.upper);
        if split.epilogue == Runs::Loop {
            ir.put(epilogue, NUM_STAGES, 1);
        } else {
            run_once(ir, epilogue);
        }
    }
    if split.main == Runs::Never {
        let inits = For(op).init(ir).to_vec();
        ir.replace_op(op, &inits);
        return;
    }
    repeat_body(ir, op, terminator, factor);
    ir.put_operands(op, For::SLOT.upper, &[split.upper]);
    ir.put_operands(op, For::SLOT.step, &[split.step]);
    if split.main == Runs::Once {
        run_once(ir, op);
    }
}

/// The split of a loop with constant bounds that runs `trips` times; `None` if the main loop's step does not fit into
/// its type.
fn split_known(ir: &mut Ir, op: Op, factor: i64, trips: i64) -> Option<Split> {
    let looped = For(op);
    let (lower, step) = (fold::int_of(ir, looped.lower(ir))?, fold::int_of(ir, looped.step(ir))?);
    let (rounds, rest) = (trips / factor, trips % factor);
    let ty = ir.ty(looped.lower(ir));
    let wide_step = if rounds == 0 { i128::from(step) } else { i128::from(step) * i128::from(factor) };
    if wide_step >= 1 << (ty.bit_width().unwrap_or(64) - 1) {
        return None;
    }
    let (mut end, mut new_step) = (looped.upper(ir), looped.step(ir));
    let mut b = Builder::before(ir, op);
    if rest > 0 {
        end = b.int(lower + (trips - rest) * step, ty);
    }
    if rounds > 0 {
        new_step = b.int(wide_step as i64, ty);
    }
    Some(Split { main: Runs::of(rounds), epilogue: Runs::of(rest), upper: end, step: new_step })
}

fn split_at_run_time(ir: &mut Ir, op: Op, factor: i64) -> Split {
    let looped = For(op);
    let (lower, mut upper, step) = (looped.lower(ir), looped.upper(ir), looped.step(ir));
    let ty = ir.ty(lower);
    let unit_step = fold::const_of(ir, step).and_then(Attr::int_value) == Some(1);
    let unsigned = looped.unsignedCmp(ir);
    let mut b = Builder::before(ir, op);
    if !unit_step || unsigned {
        upper = b.value(if unsigned { ArithOp::Maxui } else { ArithOp::Maxsi }, &[upper, lower], ty);
    }
    let distance = b.value(ArithOp::Subi, &[upper, lower], ty);
    let one = b.int(1, ty);
    let round_up = b.value(ArithOp::Subi, &[step, one], ty);
    let sum = b.value(ArithOp::Addi, &[distance, round_up], ty);
    let trips = b.value(ArithOp::Divui, &[sum, step], ty);
    let factor = b.int(factor, ty);
    let rest = b.value(ArithOp::Remsi, &[trips, factor], ty);
    let rounds = b.value(ArithOp::Subi, &[trips, rest], ty);
    let length = b.value(ArithOp::Muli, &[rounds, step], ty);
    let end = b.value(ArithOp::Addi, &[lower, length], ty);
    let wide_step = b.value(ArithOp::Muli, &[step, factor], ty);
    Split { main: Runs::Loop, epilogue: Runs::Loop, upper: end, step: wide_step }
}

/// A copy of the loop behind it that goes on where it ends.
fn add_epilogue(ir: &mut Ir, op: Op, lower: Value) -> Op {
    let epilogue = ir.clone_op(op, &mut Mapping::default());
    ir.insert_after(op, epilogue);
    ir.put_operands(epilogue, For::SLOT.lower, &[lower]);
    let (old, new) = (ir.results(op).to_vec(), ir.results(epilogue).to_vec());
    for (&old, &new) in old.iter().zip(&new) {
        ir.replace_all_uses(old, new);
    }
    ir.put_operands(epilogue, For::SLOT.init, &old);
    epilogue
}

/// Appends copies of the body, each going on from what the one before it yields.
fn repeat_body(ir: &mut Ir, op: Op, terminator: Op, factor: i64) {
    let body = ir.parent_block(terminator).expect("a terminator is in a block");
    let (args, step, loc) = (ir.args(body).to_vec(), For(op).step(ir), ir.loc(op));
    let (&iv, carried) = args.split_first().expect("a loop's body has the iteration as its first argument");
    let (ty, iv_is_used) = (ir.ty(iv), ir.has_uses(iv));
    let yielded = ir.operands(terminator).to_vec();
    let ops: Vec<Op> = ir.op_list(body).into_iter().filter(|&o| o != terminator).collect();
    let mut last = yielded.clone();
    for i in 1..factor {
        let mut map = Mapping::default();
        map.map_all(carried, &last);
        if iv_is_used {
            let mut b = Builder::before(ir, terminator);
            b.loc = loc;
            let index = b.int(i, ty);
            let ahead = b.value(ArithOp::Muli, &[step, index], ty);
            let next = b.value(ArithOp::Addi, &[iv, ahead], ty);
            map.map(iv, next);
        }
        for &inner in &ops {
            let copy = ir.clone_op(inner, &mut map);
            ir.insert_before(terminator, copy);
        }
        last = yielded.iter().map(|&v| map.get(v)).collect();
    }
    ir.set_operands(terminator, &last);
}

/// Replaces a loop of one iteration by its body.
fn run_once(ir: &mut Ir, op: Op) {
    let body = ir.body(op, 0).expect("a loop has a body");
    let terminator = ir.last_op(body).expect("a loop's body ends in a yield");
    let starts: Vec<Value> = std::iter::once(For(op).lower(ir)).chain(For(op).init(ir).iter().copied()).collect();
    for (arg, start) in ir.args(body).to_vec().into_iter().zip(starts) {
        ir.replace_all_uses(arg, start);
    }
    let results = ir.operands(terminator).to_vec();
    for inner in ir.op_list(body) {
        if inner != terminator {
            ir.move_before(inner, op);
        }
    }
    ir.replace_op(op, &results);
}
