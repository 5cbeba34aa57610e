//! Which loops fetch several steps at once, and which of their values get a longer axis.

use std::collections::{BTreeMap, BTreeSet};

use super::remaining::Loop;
use crate::analysis::axis_info::{AxisInfo, AxisInfoAnalysis};
use crate::analysis::trips::trips;
use crate::ir::core::{Block, Ir, Op, Type, Value};
use crate::ir::dialects::discardable::{NUM_STAGES, UNROLL_FACTOR, WARP_SPECIALIZE};
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, Effects, OpKind, ScfOp, Traits, TtOp};
use crate::ir::effects::is_speculatable;
use crate::ir::rewrite::fold;
use crate::passes::ttg::pipeline::fit_stages::{LEAST, OTHER_REGISTERS};
use crate::passes::ttg::pipeline::loads::NARROWEST_COPY;
use crate::target::{SharedMemory, Target};

/// A line of the L2 cache, and the longest row that a swizzle of shared memory knows.
const LINE: i64 = 128;
/// Where a loop is known to be short, at most one in so many steps may be for nothing.
const LEAST_SHARE: i64 = 16;
/// Rows of a product through `wgmma`, which four warps do together.
const ROWS: i64 = 64;

/// What the compilation says.
pub(super) struct Limits {
    /// Stages of loops that do not say.
    pub stages: i64,
    pub warps: i64,
    /// Bytes of shared memory that a block may have.
    pub shared: i64,
    /// Whether rows that start anywhere may become descriptors.
    pub launch: bool,
}

/// A loop that is to fetch `factor` steps at once.
pub(super) struct Plan {
    pub looped: Op,
    pub product: Op,
    pub factor: i64,
    /// Columns of a step.
    pub depth: i64,
    /// Bytes of a row of the new tile.
    pub row: i64,
    /// Of the new loop.
    pub stages: i64,
    /// Which carried value is the sum.
    pub sum: usize,
    /// The values that get a longer axis, each with that axis, operands before users.
    pub widened: Vec<(Value, usize)>,
    /// What differs between iterations.
    pub varying: BTreeSet<Value>,
    /// Whether the number of steps is known to be a multiple of `factor`.
    pub is_even: bool,
    /// The loop as one over K.
    pub over_k: Option<Loop>,
}

/// The plan for a loop; `None` if it stays as it is.
pub(super) fn of_loop(ir: &Ir, looped: Op, limits: &Limits) -> Option<Plan> {
    let body = ir.body(looped, 0)?;
    if ir.stores(looped, UNROLL_FACTOR) || ir.stores(looped, WARP_SPECIALIZE) || !counts_up(ir, For(looped)) {
        return None;
    }
    let product = only_product(ir, body)?;
    let sum = sum_of(ir, looped, body, product)?;
    let dot = tt::Dot(product);
    let (a, b, result) = (ir.ty(dot.a(ir)), ir.ty(dot.b(ir)), ir.ty(dot.d(ir)));
    let (&[rows, depth], &[_, columns]) = (a.shape(), b.shape()) else { return None };
    if rows % ROWS != 0 || limits.warps % 4 != 0 {
        return None;
    }
    let varying = varying(ir, body);
    let mut walk = Walk { ir, looped, body, depth, varying, axes: BTreeMap::new(), order: vec![] };
    let mut loads = vec![];
    for (operand, axis) in [(dot.a(ir), 1), (dot.b(ir), 0)] {
        loads.push(load_of(ir, operand)?);
        walk.need(operand, axis)?;
    }
    walk.check_carried(sum)?;
    let (factor, row) = walk.steps_of_a_line(&loads, limits.launch)?;
    let imprecise = dot.maxNumImpreciseAcc(ir).unwrap_or(0);
    if a.elem().as_float().is_some_and(|k| k.bits() == 8) && imprecise <= factor * depth {
        return None;
    }
    let bytes = |ty: Type| i64::from(ty.elem().bit_width().unwrap_or(64).div_ceil(8));
    let step = depth * (rows * bytes(a) + columns * bytes(b));
    let asked = ir.get(looped, NUM_STAGES).unwrap_or(limits.stages);
    let stages = stages(limits, asked, step, factor, result.num_elements())?;
    // Steps of the last round that are for nothing.
    let surplus = trips(ir, For(looped)).map(|n| (n, (factor - n % factor) % factor));
    if surplus.map_or_else(|| repeats(ir, looped), |(n, surplus)| surplus * LEAST_SHARE > n) {
        return None;
    }
    let is_even = surplus.is_some_and(|(_, surplus)| surplus == 0);
    let (widened, varying) = (walk.order, walk.varying);
    let over_k = Loop::of(ir, looped, body, depth);
    Some(Plan { looped, product, factor, depth, row, stages, sum, widened, varying, is_even, over_k })
}

/// Whether a loop is inside another one that does not go from tile to tile of the result. How many steps it has is not
/// known here, and where they are few, as in a loop over the taps of a convolution, each turn of the outer loop pays
/// for those of the last round that are for nothing.
fn repeats(ir: &Ir, looped: Op) -> bool {
    let outer = std::iter::successors(ir.parent_op(looped), |&op| ir.parent_op(op));
    let mut loops = outer.filter(|&op| ir.is(op, ScfOp::For) || ir.is(op, ScfOp::While)).peekable();
    loops.peek().is_some() && !loops.any(|op| starts_at_program(ir, op))
}

/// Whether the counter of a loop starts at the number of the program, or at what is computed from it. A `while` may
/// count with any integer that it carries.
fn starts_at_program(ir: &Ir, looped: Op) -> bool {
    let counters = if ir.is(looped, ScfOp::For) { vec![For(looped).lower(ir)] } else { ir.operands(looped).to_vec() };
    let is_integer = |&value: &Value| ir.ty(value).is_int();
    let mut open: Vec<Value> = counters.into_iter().filter(is_integer).collect();
    let mut seen = BTreeSet::new();
    while let Some(value) = open.pop() {
        match ir.def_op(value) {
            Some(op) if ir.is(op, TtOp::GetProgramId) => return true,
            Some(op) if seen.insert(op) => open.extend(ir.operands(op).iter().filter(|v| is_integer(v))),
            _ => {}
        }
    }
    false
}

/// Whether a loop counts up in constant steps from a constant that is not negative.
fn counts_up(ir: &Ir, looped: For) -> bool {
    let constant = |value| fold::int_of(ir, value);
    let ty = ir.ty(looped.lower(ir));
    !looped.unsignedCmp(ir)
        && (ty == Type::int(32) || ty == Type::int(64))
        && constant(looped.lower(ir)).is_some_and(|lower| lower >= 0)
        && constant(looped.step(ir)).is_some_and(|step| step > 0)
}

/// The product of a body that does nothing else but read and compute.
fn only_product(ir: &Ir, body: Block) -> Option<Op> {
    let mut product = None;
    let end = ir.terminator(body)?;
    for op in ir.ops(body).filter(|&op| op != end) {
        if ir.is(op, TtOp::Dot) {
            if product.replace(op).is_some() {
                return None;
            }
        } else if !ir.regions_of(op).is_empty() || !(ir.is(op, TtOp::Load) || ir.spec(op).effects == Effects::Pure) {
            return None;
        }
    }
    product
}

/// Which carried value the product adds to. It starts as zeros, and only the product reads it: zeros that come on top
/// change nothing then, not even a sign.
fn sum_of(ir: &Ir, looped: Op, body: Block, product: Op) -> Option<usize> {
    let sum = tt::Dot(product).c(ir);
    let index = ir.args(body).iter().position(|&arg| arg == sum)?.checked_sub(1)?;
    let end = ir.terminator(body)?;
    let result = ir.result(product);
    let starts_at_zero = fold::has_no_bits(ir, For(looped).init(ir)[index]);
    let is_only_added = ir.has_one_use(sum) && ir.has_one_use(result) && ir.operand(end, index) == result;
    (starts_at_zero && is_only_added).then_some(index)
}

/// The values of a body that depend on the iteration.
fn varying(ir: &Ir, body: Block) -> BTreeSet<Value> {
    let mut varying: BTreeSet<Value> = ir.args(body).iter().copied().collect();
    for op in ir.ops(body) {
        // What may fail stays in the loop, and what is read is read there.
        if ir.operands(op).iter().any(|v| varying.contains(v)) || !is_speculatable(ir, op) {
            varying.extend(ir.results(op));
        }
    }
    varying
}

/// The load that a value comes from, changed on the way only by what leaves zero as it is.
fn load_of(ir: &Ir, value: Value) -> Option<tt::Load> {
    let op = ir.def_op(value)?;
    match ir.kind(op) {
        OpKind::Tt(TtOp::Load) => Some(tt::Load(op)),
        OpKind::Tt(TtOp::Trans | TtOp::FpToFp | TtOp::Bitcast)
        | OpKind::Arith(
            ArithOp::Extf
            | ArithOp::Truncf
            | ArithOp::Extsi
            | ArithOp::Extui
            | ArithOp::Trunci
            | ArithOp::Sitofp
            | ArithOp::Uitofp
            | ArithOp::Bitcast,
        ) => load_of(ir, ir.operand(op, 0)),
        _ => None,
    }
}

/// The stages of the new loop: about as many bytes under way as before. `None` if a block has no room for them, or
/// cannot share its multiprocessor any more.
fn stages(limits: &Limits, asked: i64, step: i64, factor: i64, sums: i64) -> Option<i64> {
    if asked < 2 {
        return None;
    }
    let registers = sums + OTHER_REGISTERS as i64 * limits.warps * 32;
    let by_registers = (i64::from(Target::REGISTERS_PER_MULTIPROCESSOR) / registers).max(1);
    let reserved = i64::from(SharedMemory::RESERVED);
    let blocks = |stages: i64, step: i64| ((limits.shared + reserved) / (stages * step + reserved)).min(by_registers);
    let before = blocks(asked, step);
    let most = ((asked + factor - 1) / factor).max(LEAST);
    (LEAST..=most).rev().find(|&stages| blocks(stages, step * factor) >= before.clamp(1, 2))
}

/// The walk from a product's operands to what they are made of.
struct Walk<'a> {
    ir: &'a Ir,
    looped: Op,
    body: Block,
    depth: i64,
    varying: BTreeSet<Value>,
    axes: BTreeMap<Value, usize>,
    order: Vec<(Value, usize)>,
}

impl Walk<'_> {
    /// Notes that a value gets a longer axis, and what it is made of. A value that is the same in all iterations and
    /// all columns stays.
    fn need(&mut self, value: Value, axis: usize) -> Option<()> {
        let ir = self.ir;
        if let Some(&known) = self.axes.get(&value) {
            return (known == axis).then_some(());
        }
        let extent = *ir.ty(value).shape().get(axis)?;
        let varies = self.varying.contains(&value);
        if extent == 1 && !varies {
            return Some(());
        }
        if extent != 1 && extent != self.depth {
            return None;
        }
        if let Some(op) = ir.def_op(value) {
            self.need_operands(op, axis)?;
        } else {
            let index = ir.args(self.body).iter().position(|&arg| arg == value)?.checked_sub(1)?;
            let init = For(self.looped).init(ir)[index];
            // The start gets the longer axis too, even where it is one column wide.
            if *ir.ty(init).shape().get(axis)? != self.depth || self.advance(index).is_none() {
                return None;
            }
            self.need(init, axis)?;
        }
        self.axes.insert(value, axis);
        self.order.push((value, axis));
        Some(())
    }

    fn need_operands(&mut self, op: Op, axis: usize) -> Option<()> {
        let ir = self.ir;
        match ir.kind(op) {
            OpKind::Tt(TtOp::MakeRange) => Some(()),
            OpKind::Arith(ArithOp::Constant) => fold::const_of(ir, ir.result(op))?.splat_value().map(|_| ()),
            OpKind::Tt(TtOp::Splat) => self.check_scalar(tt::Splat(op).src(ir)),
            OpKind::Tt(TtOp::Broadcast) => self.need(ir.operand(op, 0), axis),
            OpKind::Tt(TtOp::ExpandDims) => {
                let added = usize::try_from(tt::ExpandDims(op).axis(ir)?).ok()?;
                let from = if axis > added { axis - 1 } else { axis };
                if axis == added { None } else { self.need(ir.operand(op, 0), from) }
            }
            OpKind::Tt(TtOp::Trans) => {
                let from = *tt::Trans(op).order(ir)?.get(axis)?;
                self.need(ir.operand(op, 0), usize::try_from(from).ok()?)
            }
            OpKind::Tt(TtOp::Load) => {
                let load = tt::Load(op);
                let leaves_zeros = load.other(ir).is_none_or(|other| fold::has_no_bits(ir, other));
                if load.isVolatile(ir) || !leaves_zeros || !self.is_inside(op) {
                    return None;
                }
                self.need(load.ptr(ir), axis)?;
                load.mask(ir).map_or(Some(()), |mask| self.need(mask, axis))
            }
            kind if kind.has(Traits::ELEMENTWISE) && ir.spec(op).effects == Effects::Pure => {
                if ir.results(op).len() != 1 || !is_speculatable(ir, op) {
                    return None;
                }
                ir.operands(op).to_vec().into_iter().try_for_each(|operand| {
                    if ir.ty(operand).is_tensor() {
                        self.need(operand, axis)
                    } else {
                        (!self.varying.contains(&operand)).then_some(())
                    }
                })
            }
            _ => None,
        }
    }

    fn is_inside(&self, op: Op) -> bool {
        self.ir.parent_block(op) == Some(self.body)
    }

    /// Whether a number that becomes a tensor is computed from the loop's variable and from what stays.
    fn check_scalar(&self, value: Value) -> Option<()> {
        let ir = self.ir;
        if !self.varying.contains(&value) || ir.args(self.body)[0] == value {
            return Some(());
        }
        let op = ir.def_op(value)?;
        let is_plain = ir.kind(op).has(Traits::ELEMENTWISE)
            && ir.spec(op).effects == Effects::Pure
            && ir.results(op).len() == 1
            && is_speculatable(ir, op);
        if !is_plain {
            return None;
        }
        ir.operands(op).iter().try_for_each(|&operand| self.check_scalar(operand))
    }

    /// By how many elements a carried pointer advances: an integer for all elements, the same in all iterations.
    fn advance(&self, index: usize) -> Option<Advance> {
        advance(self.ir, self.looped, index).filter(|advance| match advance {
            Advance::By(_) => true,
            Advance::Scalar(value) => !self.varying.contains(value),
        })
    }

    /// Whether all carried values but the sum are pointers that the operands need, and nobody sees them afterwards.
    fn check_carried(&self, sum: usize) -> Option<()> {
        let ir = self.ir;
        let args = &ir.args(self.body)[1..];
        let is_known = |(index, arg): (usize, &Value)| {
            index == sum || self.axes.contains_key(arg) && !ir.has_uses(ir.results(self.looped)[index])
        };
        args.iter().enumerate().all(is_known).then_some(())
    }

    /// How many steps make a line, and the bytes of so many steps: of the operands' loads whose addresses count up
    /// along K.
    fn steps_of_a_line(&self, loads: &[tt::Load], launch: bool) -> Option<(i64, i64)> {
        let ir = self.ir;
        let function = std::iter::successors(ir.parent_op(self.looped), |&op| ir.parent_op(op))
            .find(|&op| ir.parent_op(op) == Some(ir.module()))?;
        let facts = AxisInfoAnalysis::new(ir, function);
        // Elements that are copied one by one go through registers, and more of them at once are too many.
        let is_narrow = |load: &tt::Load| {
            let bits = ir.ty(ir.result(load.0)).elem().bit_width().map_or(0, i64::from);
            let bytes = (bits / 8).max(1);
            let run_of =
                |info: &AxisInfo, axis: usize| info.contiguity[axis].min(info.divisibility[axis] / bytes).max(1);
            let longest =
                facts.get(load.ptr(ir)).and_then(|info| (0..info.rank()).map(|axis| run_of(info, axis)).max());
            longest.is_none_or(|run| run * bits < i64::from(NARROWEST_COPY))
        };
        if !launch && loads.iter().any(is_narrow) {
            return None;
        }
        let row_of = |load: &tt::Load| {
            let value = ir.result(load.0);
            let along = facts.get(load.ptr(ir))?.contiguity[*self.axes.get(&value)?];
            let bytes = i64::from(ir.ty(value).elem().bit_width()?.div_ceil(8));
            (along >= self.depth).then_some(self.depth * bytes)
        };
        let row = loads.iter().filter_map(row_of).max()?;
        let factor = LINE / row;
        (factor > 1 && self.depth.count_ones() == 1 && factor.count_ones() == 1).then_some((factor, factor * row))
    }
}

/// A step of a carried pointer, in elements.
pub(super) enum Advance {
    By(i64),
    Scalar(Value),
}

/// The step of the carried value with this number, if its next value is the pointer moved by one number.
pub(super) fn advance(ir: &Ir, looped: Op, index: usize) -> Option<Advance> {
    let body = ir.body(looped, 0)?;
    let (arg, end) = (*ir.args(body).get(index + 1)?, ir.terminator(body)?);
    let op = ir.def_op(ir.operand(end, index)).filter(|&op| ir.is(op, TtOp::Addptr))?;
    let moved = tt::Addptr(op);
    if moved.ptr(ir) != arg {
        return None;
    }
    let offset = moved.offset(ir);
    if let Some(by) = fold::int_of(ir, offset) {
        // Four steps fit into 32 bits.
        return (by.abs() < 1 << 28).then_some(Advance::By(by));
    }
    let splat = ir.def_op(offset).filter(|&op| ir.is(op, TtOp::Splat))?;
    Some(Advance::Scalar(tt::Splat(splat).src(ir)))
}
