//! Which kernels do two programs in a block, and what these have in common.

use std::collections::BTreeSet;

use super::varies::{Rate, Varies, is_number};
use crate::analysis::axis_info::AxisInfoAnalysis;
use crate::analysis::trips::trips;
use crate::ir::core::{Block, Ir, Op, Type, Value};
use crate::ir::dialects::discardable::{NUM_STAGES, WARP_SPECIALIZE};
use crate::ir::dialects::enums::{InputPrecision, ProgramDim};
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, Effects, LlvmOp, ScfOp, TtOp};
use crate::target::SharedMemory;

/// Rows of a product through `wgmma`, which four warps do together.
const ROWS: i64 = 64;
/// Elements of the sums of one program that a thread may have. Two of these are half of its registers.
const MOST_OF_THREAD: i64 = 64;
/// Iterations below which a loop, where they are known, is too short.
const LEAST_TRIPS: i64 = 4;
/// Multiplications for each element that is loaded from which on a loop does not wait for the L2 cache: a product of
/// tiles of 128x128 has as many, and gained nothing.
const MOST_PER_ELEMENT: i64 = 64;

/// A kernel in which a block is to do two programs.
pub(super) struct Plan {
    /// The kernel's one block.
    pub body: Block,
    /// The loop that both programs run together.
    pub looped: Op,
    /// Scalars that must be equal for both.
    pub keys: BTreeSet<Value>,
    /// Values that are the same for both then.
    pub shared: BTreeSet<Value>,
    /// Bytes that an iteration loads for one program, and those of them that are the same for both.
    pub bytes: i64,
    pub same: i64,
}

/// Bytes that an access must have. With shorter ones the addresses of two programs take more registers than there are.
const LEAST_ACCESS: i64 = 16;
/// Bytes of the widest elements that tensor cores multiply.
const WIDEST: i64 = 4;

/// What a kernel is compiled for.
pub(super) struct Limits {
    pub warps: i64,
    /// Stages of a loop that does not say how many, and those that it gets at least where more do not fit.
    pub stages: i64,
    pub least: i64,
    /// Bytes of shared memory that a block may have.
    pub shared: i64,
}

/// The plan for a kernel; `None` if each of its programs stays alone.
pub(super) fn of_kernel(ir: &Ir, kernel: Op, limits: &Limits) -> Option<Plan> {
    let warps = limits.warps;
    let &[body] = ir.blocks_of(ir.region(kernel, 0)) else { return None };
    let looped = only_loop(ir, kernel, body)?;
    let inner = ir.body(looped, 0)?;
    let products = products_of_loads(ir, inner, warps)?;
    if ir.stores(looped, WARP_SPECIALIZE) || trips(ir, For(looped)).is_some_and(|n| n < LEAST_TRIPS) {
        return None;
    }
    let (varies, axes) = (Varies::new(ir, body), AxisInfoAnalysis::new(ir, kernel));
    let mut keys = BTreeSet::new();
    for bound in [For(looped).lower(ir), For(looped).upper(ir), For(looped).step(ir)] {
        keys.extend(seldom(&varies, bound)?);
    }
    let (mut bytes, mut same, mut elements, mut loads) = (0, 0, 0, BTreeSet::new());
    for load in products.iter().flat_map(|&op| ir.operands(op)[..2].iter().filter_map(|&v| load_of(ir, v))) {
        if !loads.insert(load) {
            continue;
        }
        let ty = ir.ty(ir.result(load));
        if access_of(ir, &axes, tt::Load(load)) < LEAST_ACCESS {
            return None;
        }
        let size = ty.num_elements() * bytes_of(ty);
        bytes += size;
        elements += ty.num_elements();
        if let Some(roots) = seldom(&varies, ir.result(load)) {
            keys.extend(roots);
            same += size;
        }
    }
    let shared = Shared::of(ir, body, looped, &keys);
    let own = products.iter().map(|&op| ir.result(op)).filter(|sum| !shared.contains(sum));
    let sums: i64 = own.map(|sum| ir.ty(sum).num_elements()).sum();
    let fits = (1..=MOST_OF_THREAD * 32 * warps).contains(&sums);
    let waits = multiplications(ir, &products) < MOST_PER_ELEMENT * elements;
    let stages = ir.get(looped, NUM_STAGES).unwrap_or(limits.stages);
    let has_company = !limits.two_fit(stages * bytes) || limits.two_fit(stages.min(limits.least) * (2 * bytes - same));
    (fits && waits && has_company && same > 0 && 2 * same >= bytes).then_some(Plan {
        body,
        looped,
        keys,
        shared,
        bytes,
        same,
    })
}

impl Limits {
    /// Whether two blocks with so many bytes of slots fit on a multiprocessor.
    fn two_fit(&self, bytes: i64) -> bool {
        let reserved = i64::from(SharedMemory::RESERVED);
        2 * (bytes + reserved) <= self.shared + reserved
    }
}

/// The only loop of a kernel that does not care which other programs there are, and when they run.
fn only_loop(ir: &Ir, kernel: Op, body: Block) -> Option<Op> {
    let mut looped = None;
    for op in ir.all_ops(kernel).into_iter().filter(|&op| op != kernel) {
        let is_counted = |n: tt::GetNumPrograms| n.axis(ir) == Some(ProgramDim::X);
        if ir.is(op, ScfOp::For) {
            if looped.replace(op).is_some() || ir.parent_block(op) != Some(body) {
                return None;
            }
        } else if tt::GetNumPrograms::of(ir, op).is_some_and(is_counted)
            || is_number(ir, op) && ir.parent_block(op) != Some(body)
            || !is_ordinary(ir, op)
        {
            return None;
        }
    }
    looped
}

/// Whether an operation computes, loads or stores, says what may be relied on, or only holds such operations.
fn is_ordinary(ir: &Ir, op: Op) -> bool {
    let is_plain_load = tt::Load::of(ir, op).is_some_and(|load| !load.isVolatile(ir));
    let is_structure = [ScfOp::If, ScfOp::Yield].iter().any(|&kind| ir.is(op, kind)) || ir.is(op, TtOp::Return);
    let is_plain = ir.is(op, TtOp::Store) || ir.is(op, LlvmOp::Assume) || ir.spec(op).effects == Effects::Pure;
    is_plain_load || is_structure || is_plain
}

/// The products of a body that only multiplies what it loads; `None` if it does something else with tensors.
fn products_of_loads(ir: &Ir, body: Block, warps: i64) -> Option<Vec<Op>> {
    let products: Vec<Op> = ir.ops(body).filter(|&op| ir.is(op, TtOp::Dot)).collect();
    for &op in &products {
        let (sum, by_warp_groups) = (ir.ty(ir.result(op)), warps % 4 == 0);
        let (&[rows, _], &[_, depth]) = (sum.shape(), ir.ty(ir.operand(op, 0)).shape()) else { return None };
        // Sums of 8-bit floats that are added up apart take twice the registers.
        let is_apart = bytes_of(ir.ty(ir.operand(op, 0))) == 1 && sum.elem().is_float();
        if is_apart && tt::Dot(op).maxNumImpreciseAcc(ir).unwrap_or(0) <= depth {
            return None;
        }
        // Floats of 32 bits are multiplied on the tensor cores only if they are rounded for it.
        let is_rounded = tt::Dot(op).inputPrecision(ir) == Some(InputPrecision::Tf32);
        let is_multiplied = |v: Value| bytes_of(ir.ty(v)) < WIDEST || bytes_of(ir.ty(v)) == WIDEST && is_rounded;
        let operands = &ir.operands(op)[..2];
        if !by_warp_groups
            || rows % ROWS != 0
            || !operands.iter().all(|&v| is_multiplied(v) && load_of(ir, v).is_some())
        {
            return None;
        }
    }
    let is_computed = |op: Op| {
        let is_tensor_of_floats = |&v: &Value| ir.ty(v).is_tensor() && ir.ty(v).elem().is_float();
        !ir.regions_of(op).is_empty()
            || ir.results(op).iter().any(is_tensor_of_floats) && !products.contains(&op) && !serves(ir, op, &products)
    };
    let other = ir.ops(body).any(is_computed);
    (!products.is_empty() && !other && !ir.ops(body).any(|op| ir.is(op, TtOp::Store))).then_some(products)
}

/// Bytes that a thread may load at once, along whichever axis that is.
fn access_of(ir: &Ir, axes: &AxisInfoAnalysis, load: tt::Load) -> i64 {
    let (Some(info), bytes) = (axes.get(load.ptr(ir)), bytes_of(ir.ty(load.result(ir)))) else { return 0 };
    let mask = load.mask(ir).map(|mask| axes.get(mask));
    let along = |axis: usize| {
        let equal = mask.map_or(i64::MAX, |mask| mask.map_or(1, |mask| mask.constancy[axis]));
        bytes * info.contiguity[axis].min(info.divisibility[axis] / bytes).min(equal)
    };
    (0..info.rank()).map(along).max().unwrap_or(0)
}

/// Multiplications of an iteration.
fn multiplications(ir: &Ir, products: &[Op]) -> i64 {
    let depth = |op: Op| ir.ty(ir.operand(op, 0)).shape().last().copied().unwrap_or(1);
    products.iter().map(|&op| ir.ty(ir.result(op)).num_elements() * depth(op)).sum()
}

/// Whether an operation loads an operand of a product, or turns one around.
fn serves(ir: &Ir, op: Op, products: &[Op]) -> bool {
    let is_one = ir.is(op, TtOp::Load) || ir.is(op, TtOp::Trans) || ir.is(op, ArithOp::Constant);
    is_one
        && ir.results(op).iter().flat_map(|&r| ir.users(r)).all(|user| {
            products.contains(&user)
                || ir.is(user, TtOp::Load)
                || ir.is(user, TtOp::Trans) && serves(ir, user, products)
        })
}

/// The load that an operand of a product is, turned around or not.
fn load_of(ir: &Ir, value: Value) -> Option<Op> {
    let op = ir.def_op(value)?;
    if ir.is(op, TtOp::Trans) {
        return load_of(ir, ir.operand(op, 0));
    }
    ir.is(op, TtOp::Load).then_some(op)
}

fn bytes_of(ty: Type) -> i64 {
    i64::from(ty.elem().bit_width().unwrap_or(64).div_ceil(8))
}

/// The roots of a value that changes seldom.
fn seldom(varies: &Varies<'_>, value: Value) -> Option<BTreeSet<Value>> {
    let roots = varies.roots(value);
    roots.iter().all(|&root| varies.rate(root).is_some_and(|rate| rate < Rate::Mostly)).then_some(roots)
}

/// The values that are the same for both programs.
struct Shared<'a> {
    ir: &'a Ir,
    looped: Op,
    keys: &'a BTreeSet<Value>,
    /// Carried values that are not, though they start so.
    apart: BTreeSet<Value>,
    found: BTreeSet<Value>,
}

impl<'a> Shared<'a> {
    fn of(ir: &'a Ir, body: Block, looped: Op, keys: &'a BTreeSet<Value>) -> BTreeSet<Value> {
        let mut shared = Shared { ir, looped, keys, apart: BTreeSet::new(), found: BTreeSet::new() };
        loop {
            let known = shared.apart.len();
            shared.found.clear();
            shared.note_block(body);
            if shared.apart.len() == known {
                return shared.found;
            }
        }
    }

    fn has(&self, value: Value) -> bool {
        let is_parameter = self
            .ir
            .value_block(value)
            .and_then(|b| self.ir.block_op(b))
            .is_some_and(|op| self.ir.def_op(value).is_none() && self.ir.is(op, TtOp::Func));
        is_parameter || self.found.contains(&value)
    }

    fn note_block(&mut self, block: Block) {
        let ir = self.ir;
        for op in ir.ops(block) {
            if op == self.looped {
                self.note_loop(op);
                continue;
            }
            let is_key = ir.results(op).iter().any(|r| self.keys.contains(r));
            let is_same = !is_number(ir, op)
                && ir.regions_of(op).is_empty()
                && (ir.is(op, TtOp::Load) || ir.spec(op).effects == Effects::Pure)
                && ir.operands(op).iter().all(|&v| self.has(v));
            if is_key || is_same {
                self.found.extend(ir.results(op));
            }
        }
    }

    fn note_loop(&mut self, op: Op) {
        let ir = self.ir;
        let Some(body) = ir.body(op, 0) else { return };
        let Some(end) = ir.terminator(body) else { return };
        let Some((&number, carried)) = ir.args(body).split_first() else { return };
        self.found.insert(number);
        let inits = For(op).init(ir).to_vec();
        for (&arg, &init) in carried.iter().zip(&inits) {
            if self.has(init) && !self.apart.contains(&arg) {
                self.found.insert(arg);
            }
        }
        self.note_block(body);
        for (i, &arg) in carried.iter().enumerate() {
            if self.found.contains(&arg) {
                if self.has(ir.operand(end, i)) {
                    self.found.insert(ir.results(op)[i]);
                } else {
                    self.apart.insert(arg);
                }
            }
        }
    }
}
