//! `tritongpu-optimize-thread-locality`: threads combine what they hold themselves before they talk to each other.
//!
//! # Algorithm
//!
//! 1. Views that may reorder, and gathers, get the layout that suits their users ([`views`]).
//! 2. A loop that adds up (multiplies, takes the greatest or least of) rows of loaded tensors talks across threads in
//!    every iteration. Instead, each thread keeps a partial result, and threads talk once, behind the loop:
//!
//! ```text
//! before: for (acc = 0) { x = load; acc = acc + sum(x, axis 1) }          256×128, 4 elements a thread
//! after:  for (part = 0) { x = load; y = reshape x to 256×32×4; part = part + sum(y, axis 2) }
//!         acc = 0 + sum(part, axis 1)
//! ```
//!
//!    The reshape reorders nothing: its last axis is what each thread holds along the reduced axis.
//!
//! Sums of floats are reordered by this, as by any reduction across threads.

mod views;

use crate::ir::core::encoding::Blocked;
use crate::ir::core::{Attr, Block, Builder, Encoding, Ir, Mapping, Op, Type, Value, ValueDef};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, OpKind, ScfOp, TtOp, TtgOp};
use crate::layout::{self, Dim};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::{infer, module_attrs};

pub static PASS: Pass = Pass {
    name: "tritongpu-optimize-thread-locality",
    doc: "let threads combine what they hold before they talk to each other",
    input: Input::Ttgir,
    options: &[],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let threads = module_attrs::require_threads(ir, cx)?;
    let mut changed = views::run(ir, threads);
    let reductions: Vec<Op> = ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, TtOp::Reduce)).collect();
    for op in reductions {
        if let Some(found) = Accumulation::of(ir, op) {
            changed |= found.split(ir).is_some();
        }
    }
    Ok(Changed::from(changed))
}

/// A reduction in a loop whose result is only combined into a carried value.
struct Accumulation {
    reduce: tt::Reduce,
    /// What it reduces.
    source: Value,
    /// The operation that combines, of the same kind as the reduction's.
    update: Op,
    looped: Op,
    body: Block,
    /// The number of the carried value.
    index: usize,
    blocked: Blocked,
    /// Elements of the last axis in one thread.
    held: u32,
}

/// The combinations of floats that may be reordered, with their neutral elements.
const NEUTRAL: [(ArithOp, f64); 6] = [
    (ArithOp::Addf, 0.0),
    (ArithOp::Mulf, 1.0),
    (ArithOp::Maximumf, f64::NEG_INFINITY),
    (ArithOp::Maxnumf, f64::NEG_INFINITY),
    (ArithOp::Minimumf, f64::INFINITY),
    (ArithOp::Minnumf, f64::INFINITY),
];

/// The neutral element of a combination of floats that may be reordered.
fn neutral(kind: OpKind) -> Option<f64> {
    NEUTRAL.iter().find(|(combination, _)| OpKind::from(*combination) == kind).map(|&(_, value)| value)
}

/// The only operation of a reduction's region.
fn combination(ir: &Ir, reduce: Op) -> Option<Op> {
    let ops = ir.op_list(ir.body(reduce, 0)?);
    let [only, _] = ops[..] else { return None };
    neutral(ir.kind(only)).map(|_| only)
}

impl Accumulation {
    fn of(ir: &Ir, op: Op) -> Option<Accumulation> {
        let reduce = tt::Reduce::of(ir, op)?;
        let &[source] = reduce.srcs(ir) else { return None };
        let ty = ir.ty(source);
        let Encoding::Blocked(blocked) = ty.layout()? else { return None };
        let combination = combination(ir, op)?;
        let last = ty.rank().checked_sub(1).filter(|&l| l > 0)?;
        let loaded = tt::Load::defining(ir, source).is_some();
        if reduce.axis(ir) != i64::try_from(last).ok() || !loaded || !blocked.cga.is_empty() {
            return None;
        }
        let held = *layout::sizes_along(layout::layout_of(ty).ok()?, Dim::Register, true).get(last)?;
        let [into] = ir.uses(ir.result(op)) else { return None };
        let update = into.op;
        if held == 1 || ir.kind(update) != ir.kind(combination) {
            return None;
        }
        let [end] = ir.uses(ir.result(update)) else { return None };
        let body = ir.parent_block(op)?;
        let looped = ir.block_op(body).filter(|&o| ir.is(o, ScfOp::For))?;
        if !ir.is(end.op, ScfOp::Yield) || ir.parent_block(end.op) != Some(body) {
            return None;
        }
        let index = end.index as usize;
        let other = ir.operand(update, 1 - into.index as usize);
        let carried =
            matches!(ir.def(other), ValueDef::Arg { block, index: i } if block == body && i as usize == index + 1);
        let start = arith::Constant::defining(ir, scf::For(looped).init(ir)[index]);
        (carried && ir.has_one_use(other) && start.is_some()).then(|| Accumulation {
            reduce,
            source,
            update,
            looped,
            body,
            index,
            blocked: blocked.clone(),
            held,
        })
    }

    /// The layout with an axis for what a thread holds.
    fn with_held_axis(&self) -> Encoding {
        let rank = self.blocked.order.len();
        let with = |v: &[u32], last: u32| v.iter().copied().chain([last]).collect::<Vec<u32>>();
        let mut size = with(&self.blocked.size_per_thread, self.blocked.size_per_thread[rank - 1]);
        size[rank - 1] = 1;
        Encoding::Blocked(Blocked {
            size_per_thread: size,
            threads_per_warp: with(&self.blocked.threads_per_warp, 1),
            warps_per_cta: with(&self.blocked.warps_per_cta, 1),
            // Where the axis stood that it comes from, so that registers keep their order: the view moves nothing.
            order: self.blocked.order.iter().flat_map(|&axis| held_in(axis, rank as u32)).collect(),
            cga: vec![],
        })
    }

    fn split(&self, ir: &mut Ir) -> Option<()> {
        let ty = ir.ty(self.source);
        let rank = ty.rank();
        let mut shape = ty.shape().to_vec();
        shape[rank - 1] /= i64::from(self.held);
        let encoding = Attr::encoding(self.with_held_axis());
        let part = Type::tensor(&shape, ty.elem(), Some(infer::slice(rank as u32, encoding)));
        shape.push(i64::from(self.held));
        let viewed = Type::tensor(&shape, ty.elem(), Some(encoding));
        // Behind the loop: the other threads' parts, in the layout that the sum had.
        let carried = self.carry_parts(ir, part)?;
        self.update_parts(ir, viewed, part, carried.0);
        self.combine_parts(ir, carried.1)
    }

    /// A further carried value for the parts; gives its argument and its result.
    fn carry_parts(&self, ir: &mut Ir, part: Type) -> Option<(Value, Value)> {
        let start = scf::For(self.looped).init(ir)[self.index];
        let combination = combination(ir, self.reduce.0)?;
        let value = Attr::float_splat(part, neutral(ir.kind(combination))?)?;
        let constant = ir.def_op(start)?;
        let neutral = Builder::after(ir, constant).constant(value);
        let mut operands = ir.operands(self.looped).to_vec();
        operands.push(neutral);
        ir.set_operands(self.looped, &operands);
        let loc = ir.value_loc(start);
        Some((ir.add_arg(self.body, part, loc), ir.add_result(self.looped, part)))
    }

    fn update_parts(&self, ir: &mut Ir, viewed: Type, part: Type, carried: Value) {
        let loc = ir.loc(self.reduce.0);
        let axis = viewed.rank() as i64 - 1;
        let mut b = Builder::after(ir, self.reduce.0);
        let keys = tt::Reshape::ATTR;
        let state = tt::Reshape::state(loc, self.source).with(keys.allow_reorder, true);
        let view = b.result(state.with(keys.efficient_layout, true), viewed);
        let mut map = Mapping::default();
        map.map(self.source, view);
        let reduce = b.ir.clone_op(self.reduce.0, &mut map);
        b.place(reduce);
        b.ir.put(reduce, tt::Reduce::ATTR.axis, axis);
        let sum = b.ir.result(reduce);
        b.ir.set_type(sum, part);
        let update = b.ir.clone_op(self.update, &mut Mapping::default());
        b.place(update);
        let result = b.ir.result(update);
        b.ir.set_operands(update, &[carried, sum]);
        b.ir.set_type(result, part);
        if let Some(end) = ir.terminator(self.body) {
            let mut operands = ir.operands(end).to_vec();
            operands[self.index] = ir.args(self.body)[self.index + 1];
            operands.push(result);
            ir.set_operands(end, &operands);
        }
    }

    fn combine_parts(&self, ir: &mut Ir, parts: Value) -> Option<()> {
        let (old, start) = (ir.results(self.looped)[self.index], scf::For(self.looped).init(ir)[self.index]);
        let mut map = Mapping::default();
        map.map(self.source, parts);
        let reduce = ir.clone_op(self.reduce.0, &mut map);
        ir.insert_after(self.looped, reduce);
        let encoding = infer::result_encoding(ir, reduce, ir.ty(parts).encoding()?);
        let (sum, ty) = (ir.result(reduce), ir.ty(old));
        ir.set_type(sum, ty.with_encoding(encoding));
        let converted = Builder::after(ir, reduce).value(TtgOp::ConvertLayout, &[sum], ty);
        let last = ir.clone_op(self.update, &mut Mapping::default());
        ir.set_operands(last, &[start, converted]);
        ir.insert_after(ir.def_op(converted)?, last);
        let total = ir.result(last);
        ir.replace_all_uses(old, total);
        ir.erase_op(self.update);
        ir.erase_op(self.reduce.0);
        Some(())
    }
}

/// An axis in the order of a layout, behind the one for what a thread holds of it if it is the last axis.
fn held_in(axis: u32, rank: u32) -> impl Iterator<Item = u32> {
    (axis + 1 == rank).then_some(rank).into_iter().chain([axis])
}
