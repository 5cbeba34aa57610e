//! `ttc-whole-groups`: a loop over a group of things runs as often as the group is large, or not at all.
//!
//! `for head in range(first, min(first + 4, heads))` is how a kernel does four heads in each program: the last group
//! may be smaller. It is not if `first` and `heads` are multiples of four. Then the loop has four turns or none, and
//! what has a known number of turns becomes straight code, whose loads are all on their way at once.
//!
//! # Algorithm
//!
//! Of each `scf.for` with signed bounds whose end is `arith.minsi` of its start and a number `c`, a power of two,
//! added, and of another value `end`: if the start and `end` are multiples of `c` ([`AxisInfoAnalysis`]) and the step
//! divides `c`,
//!
//! 1. the loop goes under `start < end`, whose other side yields what the loop starts with. Where that holds, `end` is
//!    `start + c` or more, so the minimum is `start + c`;
//! 2. the loop counts from 0 to `c`, and what was its counter is `start` added to the new one.

use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::ir::core::{Builder, Ir, Op, Value};
use crate::ir::dialects::ArithOp;
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::For;
use crate::ir::rewrite::fold;
use crate::passes::common::guard::guard;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-whole-groups",
    doc: "give loops over whole groups a known number of turns",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut found = vec![];
    for func in ir.functions() {
        let groups = groups(ir, func);
        if !groups.is_empty() {
            let axes = AxisInfoAnalysis::new(ir, func);
            found.extend(groups.into_iter().filter(|group| group.is_whole(ir, &axes)));
        }
    }
    for group in &found {
        group.count_from_zero(ir);
    }
    Ok(Changed::from(!found.is_empty()))
}

/// How many loops of a function get a known number of turns, with these facts.
pub(crate) fn count(ir: &Ir, func: Op, axes: &AxisInfoAnalysis) -> usize {
    groups(ir, func).iter().filter(|group| group.is_whole(ir, axes)).count()
}

fn groups(ir: &Ir, func: Op) -> Vec<Group> {
    let loops = ir.all_ops(func).into_iter().filter_map(|op| For::of(ir, op));
    loops.filter_map(|looped| group(ir, looped)).collect()
}

/// A loop from its start to the start of the next group, or to an earlier end.
struct Group {
    looped: For,
    end: Value,
    size: i64,
}

/// The group that a loop goes over, if its end is that of one.
fn group(ir: &Ir, looped: For) -> Option<Group> {
    let step = fold::int_of(ir, looped.step(ir)).filter(|&step| step > 0 && !looped.unsignedCmp(ir))?;
    let least = arith::Minsi::of(ir, ir.def_op(looped.upper(ir))?)?;
    [(least.lhs(ir), least.rhs(ir)), (least.rhs(ir), least.lhs(ir))].into_iter().find_map(|(next, end)| {
        let size = distance(ir, looped.lower(ir), next)?;
        let is_size = size > 0 && size.cast_unsigned().is_power_of_two() && size % step == 0;
        is_size.then_some(Group { looped, end, size })
    })
}

/// How much larger a value is than another one, if that is a number.
fn distance(ir: &Ir, from: Value, to: Value) -> Option<i64> {
    if let (Some(from), Some(to)) = (fold::int_of(ir, from), fold::int_of(ir, to)) {
        return to.checked_sub(from);
    }
    let sum = arith::Addi::of(ir, ir.def_op(to)?)?;
    [(sum.lhs(ir), sum.rhs(ir)), (sum.rhs(ir), sum.lhs(ir))]
        .into_iter()
        .find_map(|(base, more)| fold::int_of(ir, more).filter(|_| base == from))
}

impl Group {
    /// Whether no group is smaller than the others.
    fn is_whole(&self, ir: &Ir, axes: &AxisInfoAnalysis) -> bool {
        let divides = |value: Value| {
            let known = axes.get(value).is_some_and(|info| info.divisibility[0] % self.size == 0);
            known || fold::int_of(ir, value).is_some_and(|number| number % self.size == 0)
        };
        divides(self.looped.lower(ir)) && divides(self.end)
    }

    /// Steps 1 and 2.
    fn count_from_zero(&self, ir: &mut Ir) {
        let (looped, lower) = (self.looped, self.looped.lower(ir));
        let Some(body) = ir.body(looped.0, 0) else { return };
        let ty = ir.ty(lower);
        let mut b = Builder::before(ir, looped.0);
        let runs = b.cmpi(CmpiPredicate::Slt, lower, self.end);
        let (zero, size) = (b.int(0, ty), b.int(self.size, ty));
        let inits = looped.init(ir).to_vec();
        guard(ir, looped.0, runs, &inits);
        ir.put_operands(looped.0, For::SLOT.lower, &[zero]);
        ir.put_operands(looped.0, For::SLOT.upper, &[size]);
        let counter = ir.args(body)[0];
        let Some(&first) = ir.op_list(body).first() else { return };
        let number = Builder::before(ir, first).value(ArithOp::Addi, &[lower, counter], ty);
        let sum = ir.def_op(number);
        ir.replace_uses_if(counter, number, |_, user| Some(user.op) != sum);
    }
}
