//! `tritongpu-optimize-accumulator-init`: a product that starts from zero says so, instead of reading registers full of
//! zeros.
//!
//! `ttng.warp_group_dot` has a flag `useC`; where it is false, the accumulator is not read. A loop that starts a new
//! sum every now and then, as a fused loop over tiles does, then carries one bit and need not clear its registers.
//!
//! # Algorithm
//!
//! For each product directly in the body of an `scf.for` that can take the flag (one that adds up in parts, with
//! `maxNumImpreciseAcc`, cannot: it would need a select), and that has none or a true one:
//!
//! 1. An accumulator that is a constant zero: the flag is false.
//! 2. Otherwise find who sets the accumulator to zero: the start value of the loop's argument; and a *reset*, an
//!    `arith.select` or an `scf.if` with a zero on one side and a value from elsewhere on the other, either in front of
//!    the product, or behind it on the way to the next iteration.
//! 3. The loop carries a flag, false at the start if the start value is zero. A reset in front of the product selects
//!    between false and the flag for this product, and the next iteration has true; one behind it selects between false
//!    and true for the next iteration. Without a reset, the next iteration has true.
//! 4. The reset gives its other value on both sides.
//!
//! Example, a reset in front:
//! ```text
//! scf.for … iter_args(%acc = %x) {                       scf.for … iter_args(%acc = %x, %use = %true) {
//!   %c = arith.select %new, %zero, %acc                    %flag = arith.select %new, %false, %use
//!   %d = ttng.warp_group_dot %a, %b, %c                →   %d = ttng.warp_group_dot %a, %b, %acc, %flag
//!   scf.yield %d                                           scf.yield %d, %true
//! ```
//!
//! Triton takes any reset. Here nobody but the product may see that the zeros are gone: a reset with other users in the
//! loop stays, and where the loop's result is used, a select behind the loop puts the zeros back.

use crate::ir::core::{Attr, Block, Builder, Ir, Op, Type, Value, ValueDef};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::ttng::ttng::WarpGroupDot;
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::ir::rewrite::fold;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritongpu-optimize-accumulator-init",
    doc: "give products that start from zero a flag instead of zeros",
    input: Input::Ttgir,
    options: &[OptionSpec {
        name: RESETS_ONLY,
        doc: "only products in a loop that sets their sum to zero again",
        kind: OptionKind::Bool,
        default: "false",
    }],
    run,
};

/// The option that leaves a sum alone which is zero only where its loop begins.
pub const RESETS_ONLY: &str = "resets-only";

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let resets_only = cx.flag(RESETS_ONLY);
    let products: Vec<Op> = ir.all_ops_post(ir.module()).into_iter().filter(|&op| takes_flag(ir, op)).collect();
    let mut changed = false;
    for product in products {
        let plan =
            decide(ir, product).filter(|plan| !resets_only || matches!(plan, Plan::Carry { reset: Some(_), .. }));
        if let Some(plan) = plan {
            apply(ir, product, &plan);
            changed = true;
        }
    }
    Ok(Changed::from(changed))
}

fn takes_flag(ir: &Ir, op: Op) -> bool {
    let in_loop = ir.parent_op(op).is_some_and(|p| ir.is(p, ScfOp::For));
    WarpGroupDot::of(ir, op).is_some_and(|product| in_loop && !adds_in_parts(ir, product))
}

/// Products of fp8 into f32 whose sums start anew before the end of K.
fn adds_in_parts(ir: &Ir, product: WarpGroupDot) -> bool {
    let a = ir.ty(product.a(ir));
    let fp8 = a.elem().as_float().is_some_and(|k| k.bits() == 8);
    let limit = product.maxNumImpreciseAcc(ir).unwrap_or(0);
    fp8 && ir.ty(product.d(ir)).elem() == Type::f32() && a.shape().last().is_some_and(|&k| limit <= k)
}

/// What to do with one product.
enum Plan {
    /// Step 1.
    Never,
    /// Steps 3 and 4.
    Carry { starts_at_zero: bool, reset: Option<Reset> },
}

/// An operation that sets the accumulator to zero under a condition.
struct Reset {
    op: Op,
    /// Which of its results.
    index: usize,
    /// Whether it does so where its condition holds.
    when: bool,
    /// The value of the other side.
    kept: Value,
    zero: Value,
    /// Whether it stands in front of the product, or else behind it, on the way to the loop's argument of this number.
    before: bool,
    argument: Option<usize>,
}

/// Steps 1 and 2.
fn decide(ir: &Ir, product: Op) -> Option<Plan> {
    let (accumulator, flag) = (WarpGroupDot(product).c(ir), WarpGroupDot(product).use_c(ir));
    if fold::is_zero(ir, accumulator) {
        return (flag.and_then(|f| constant_flag(ir, f)) != Some(false)).then_some(Plan::Never);
    }
    if flag.is_some_and(|f| constant_flag(ir, f) != Some(true)) {
        return None;
    }
    let (body, looped) = (ir.parent_block(product)?, ir.parent_op(product)?);
    let (starts_at_zero, reset) = match ir.def(accumulator) {
        ValueDef::Arg { block, index } if block == body && index > 0 => {
            let argument = index as usize - 1;
            let yielded = ir.operand(ir.terminator(body)?, argument);
            let place = WarpGroupDot::SLOT.c.index(ir, product);
            let only_here = ir.uses(accumulator).iter().all(|u| u.op == product && u.index as usize == place);
            let reset = reset_of(ir, body, yielded).filter(|r| only_here && ir.is_before(product, r.op));
            let reset = reset.map(|r| Reset { before: false, argument: Some(argument), ..r });
            (fold::is_zero(ir, scf::For::of(ir, looped)?.init(ir)[argument]), reset)
        }
        _ => (false, reset_of(ir, body, accumulator)),
    };
    (starts_at_zero || reset.is_some()).then_some(Plan::Carry { starts_at_zero, reset })
}

/// The operation of the body that gives either zero or a value from elsewhere, for one user.
fn reset_of(ir: &Ir, body: Block, value: Value) -> Option<Reset> {
    let ValueDef::Result { op, index } = ir.def(value) else { return None };
    if ir.parent_block(op) != Some(body) || !ir.has_one_use(value) {
        return None;
    }
    let index = index as usize;
    let sides = if let Some(select) = arith::Select::of(ir, op) {
        (ir.ty(select.condition(ir)) == Type::int(1)).then(|| [select.true_value(ir), select.false_value(ir)])?
    } else if ir.is(op, ScfOp::If) {
        let side = |i: usize| ir.body(op, i).and_then(|b| ir.terminator(b)).map(|y| ir.operand(y, index));
        [side(0)?, side(1)?]
    } else {
        return None;
    };
    let inside = |v: Value| ir.value_block(v).and_then(|b| ir.block_op(b)) == Some(op);
    let when = fold::is_zero(ir, sides[0]);
    if !when && !fold::is_zero(ir, sides[1]) || sides.iter().any(|&v| inside(v)) {
        return None;
    }
    let [zero, kept] = if when { sides } else { [sides[1], sides[0]] };
    Some(Reset { op, index, when, kept, zero, before: true, argument: None })
}

fn constant_flag(ir: &Ir, flag: Value) -> Option<bool> {
    fold::const_of(ir, flag).and_then(Attr::int_value).map(|v| v != 0)
}

/// Steps 3 and 4.
fn apply(ir: &mut Ir, product: Op, plan: &Plan) {
    let (Some(body), Some(looped)) = (ir.parent_block(product), ir.parent_op(product)) else { return };
    let bit = Type::int(1);
    let loc = ir.loc(product);
    let mut b = Builder::before(ir, looped);
    b.loc = loc;
    let Plan::Carry { starts_at_zero, reset } = plan else {
        let no = b.constant(Attr::bool(false));
        set_flag(ir, product, no);
        return;
    };
    let (yes, no) = (b.constant(Attr::bool(true)), b.constant(Attr::bool(false)));
    let start = if *starts_at_zero { no } else { yes };
    let inits: Vec<Value> = ir.operands(looped).iter().copied().chain([start]).collect();
    ir.set_operands(looped, &inits);
    let last = ir.add_result(looped, bit);
    let carried = ir.add_arg(body, bit, loc);
    let (now, next) = match reset {
        None => (carried, yes),
        Some(reset) => {
            // A select and a branch have their condition in front.
            let condition = ir.operands(reset.op)[0];
            let other = if reset.before { carried } else { yes };
            let sides = if reset.when { [condition, no, other] } else { [condition, other, no] };
            let mut b = Builder::before(ir, reset.op);
            b.loc = loc;
            let flag = b.value(ArithOp::Select, &sides, bit);
            if reset.before { (flag, yes) } else { (carried, flag) }
        }
    };
    set_flag(ir, product, now);
    let end = ir.terminator(body).expect("a loop's body ends in a yield");
    let yielded: Vec<Value> = ir.operands(end).iter().copied().chain([next]).collect();
    ir.set_operands(end, &yielded);
    if let Some(reset) = reset {
        remove(ir, reset);
        if let Some(argument) = reset.argument {
            put_zeros_back(ir, looped, argument, reset.zero, last);
        }
    }
}

fn set_flag(ir: &mut Ir, product: Op, flag: Value) {
    ir.put_operands(product, WarpGroupDot::SLOT.use_c, &[flag]);
}

/// Step 4.
fn remove(ir: &mut Ir, reset: &Reset) {
    if ir.is(reset.op, ArithOp::Select) {
        ir.replace_op(reset.op, &[reset.kept]);
        return;
    }
    let side = ir.body(reset.op, usize::from(!reset.when)).and_then(|b| ir.terminator(b));
    ir.set_operand(side.expect("a branch with results has both sides"), reset.index, reset.kept);
}

/// Behind the loop, a sum that was to start anew is zero.
fn put_zeros_back(ir: &mut Ir, looped: Op, argument: usize, zero: Value, flag: Value) {
    let result = ir.results(looped)[argument];
    let users = ir.uses(result).to_vec();
    if users.is_empty() {
        return;
    }
    let zero = fold::const_of(ir, zero).expect("a zero is a constant");
    let mut b = Builder::after(ir, looped);
    let zero = b.constant(zero);
    let ty = b.ir.ty(result);
    let value = b.value(ArithOp::Select, &[flag, result, zero], ty);
    for user in users {
        ir.set_operand(user.op, user.index as usize, value);
    }
}
