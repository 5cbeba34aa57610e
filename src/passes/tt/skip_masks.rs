//! `ttc-skip-masks`, ttc's own: a loop masks its values only in those iterations in which the mask leaves something out.
//!
//! Causal attention compares every score of a tile with the diagonal, and all tiles but one or two of a row of tiles lie
//! on one side of it. Bounds of rows and columns are the same: only the last tile may be cut. A test of scalars in front
//! of the select says whether all elements are taken.
//!
//! # Algorithm
//!
//! Of each select between tensors in the body of a loop with matrix products:
//!
//! 1. The condition is true for all elements if some polynomials over scalars are positive ([`masks::tests_for_all`]).
//!    One of them must change from iteration to iteration.
//! 2. The select goes into the second branch of an `scf.if` of these tests, whose first branch hands on the value.
//! 3. What computes the condition for nobody else goes into the branch as well.
//!
//! ```text
//! %p = arith.select %seen, %qk, %ninf              rows >= columns
//! → %p = scf.if (m * 128 - n * 64 - 63 + 1 > 0) { yield %qk }
//!        else { %seen = arith.cmpi …; %p = arith.select %seen, %qk, %ninf; yield %p }
//! ```
//!
//! Nothing else changes: where the tests hold, the select gives its first value, bit by bit. The tests are computed with
//! 64 bits; that indices do not overflow is taken for granted as in [`crate::analysis::forms`].

use crate::analysis::chained_products::loop_around;
use crate::analysis::forms::Forms;
use crate::analysis::forms::masks::{self, Test};
use crate::analysis::forms::poly::Atom;
use crate::ir::core::{Block, Builder, InsertPoint, Ir, Op, Value};
use crate::ir::dialects::arith::arith::Select;
use crate::ir::dialects::scf::scf::If;
use crate::ir::dialects::{Effects, ScfOp};
use crate::passes::common::polynomials::conjunction;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-skip-masks",
    doc: "mask values of a loop only in iterations in which the mask leaves something out",
    input: Input::Ttir,
    options: &[OptionSpec {
        name: LEAST,
        kind: OptionKind::Int,
        default: "0",
        doc: "elements that a tensor must have",
    }],
    run,
};

pub const LEAST: &str = "least-elements";

/// A select and the tests that make it the first value.
struct Plan {
    select: Op,
    tests: Vec<Test>,
}

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let least = cx.int(LEAST);
    let selects = ir.all_ops(ir.module()).into_iter().filter(|&op| Select::of(ir, op).is_some());
    let selects: Vec<Op> = selects.collect();
    let mut forms = Forms::new(ir);
    let plans: Vec<Plan> = selects.into_iter().filter_map(|op| plan(&mut forms, op, least)).collect();
    for plan in &plans {
        apply(ir, plan);
    }
    Ok(Changed::from(!plans.is_empty()))
}

/// Step 1.
fn plan(forms: &mut Forms<'_>, select: Op, least: i64) -> Option<Plan> {
    let ir = forms.ir;
    let looped = loop_around(ir, select)?;
    let condition = Select(select).condition(ir);
    let ty = ir.ty(ir.result(select));
    let multiplies = |op: &Op| ir.kind(*op).is_product() && loop_around(ir, *op) == Some(looped);
    let worth_it = ir.parent_op(select) == Some(looped)
        && ir.ty(condition).is_tensor()
        && ty.num_elements() >= least
        && ir.all_ops(looped).iter().any(multiplies);
    if !worth_it {
        return None;
    }
    let tests = masks::tests_for_all(forms, condition)?;
    let moves = |test: &Test| match test {
        Test::Flag(_) => false,
        Test::Positive(poly) => poly.atoms().any(|a| a == Atom::Trips(looped)),
    };
    tests.iter().any(moves).then_some(Plan { select, tests })
}

/// Steps 2 and 3.
fn apply(ir: &mut Ir, plan: &Plan) {
    let (select, loc) = (Select(plan.select), ir.loc(plan.select));
    let (value, result) = (select.true_value(ir), ir.result(plan.select));
    let body = ir.parent_block(plan.select).expect("the select stands in a loop");
    let mut b = Builder::before(ir, plan.select);
    let holds = conjunction(&mut b, &plan.tests).expect("a plan has tests");
    let ty = b.ir.ty(result);
    let branch = b.insert(If::state(loc, holds).results(&[ty]).regions(2));
    let chosen = ir.result(branch);
    ir.replace_all_uses(result, chosen);
    for (side, handed) in [value, result].into_iter().enumerate() {
        let region = ir.region(branch, side);
        let block = ir.add_block(region, &[]);
        let end = Builder::new(ir, InsertPoint::End(block), loc).op(ScfOp::Yield, &[handed], &[]);
        if handed == result {
            ir.move_before(plan.select, end);
        }
    }
    sink(ir, select.condition(ir), body, plan.select);
}

/// Step 3: the operation in the body of the loop that makes `value`, in front of its only user, and so on.
fn sink(ir: &mut Ir, value: Value, body: Block, before: Op) {
    let Some(op) = ir.def_op(value).filter(|&op| ir.parent_block(op) == Some(body)) else { return };
    let into = ir.parent_block(before);
    let alone = ir.results(op).iter().flat_map(|&r| ir.users(r)).all(|user| ir.parent_block(user) == into);
    let plain = ir.spec(op).effects == Effects::Pure && ir.regions_of(op).is_empty() && ir.ty(value).is_tensor();
    if !alone || !plain || ir.operands(op).is_empty() {
        return;
    }
    // Other users in the branch stand behind `before`, or are what was moved just now.
    let first = into.and_then(|block| ir.first_op(block)).unwrap_or(before);
    ir.move_before(op, first);
    for operand in ir.operands(op).to_vec() {
        sink(ir, operand, body, op);
    }
}
