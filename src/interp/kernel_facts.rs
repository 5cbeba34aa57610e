//! Finds out what is known about a kernel before it runs.
//!
//! 1. *Reachable functions*: the kernel and what it calls.
//! 2. *Indices*: the values whose wrapping around would move an address. The walk goes backwards from every offset of
//!    `tt.addptr` and every coordinate of a block, through the operations that keep a number's magnitude meaningful
//!    (sums, products, quotients, casts, shapes, control flow). Bitwise operations, remainders and right shifts end it,
//!    because hashes and random numbers wrap on purpose.
//! 3. *Order*: whether programs may run at the same time. They may not if they could see one another's effects in a
//!    valid program: through an atomic whose result is used, through one whose effect depends on the order (floats,
//!    exchanges), or through a volatile load.
//! 4. *Cell*: the smallest size at which memory is accessed, for the race check.
//! 5. *Plain regions*: regions of `tt.reduce` and the like that are straight-line elementwise code, and can run on many
//!    lanes at once.
//! 6. *Costs*: 1 for an operation, and 1 more for every 16 elements that it reads or makes. A combining region counts
//!    once for each element, and a product 1 for every 128 multiplications. A unit is then some tens of nanoseconds,
//!    whatever the operation.
//! 7. *Promises*: the operations whose results the kernel says something about (`tl.multiple_of`).

use crate::ir::dialects::scf::scf::For;
use std::collections::BTreeSet;

use super::hints::HINTS;
use super::memory::element_size;
use super::options::Checks;
use crate::ir::core::entity::Entity;
use crate::ir::dialects::Classes;
use crate::ir::dialects::Traits;
use crate::ir::dialects::enums::RmwKind;
use crate::ir::dialects::tt::tt as view;
use crate::ir::{ArithOp, CfOp, Ir, Op, OpKind, Region, ScfOp, TtOp, TtngOp, Type, TypeData, UbOp, Value, ValueDef};

pub(crate) struct KernelFacts {
    indices: Vec<bool>,
    plain: BTreeSet<Region>,
    pub(crate) parallel: bool,
    /// The size in bytes.
    pub(crate) cell: usize,
    /// One more than the largest value used, for a table of values.
    pub(crate) values: usize,
    /// The cost of each operation, by its number.
    costs: Vec<u32>,
    /// The operations with promises, sorted.
    promises: Vec<Op>,
    /// An operation whose result has elements of more than 64 bits, which have no lane.
    pub(crate) too_wide: Option<Op>,
}

impl KernelFacts {
    pub(crate) fn is_index(&self, value: Value) -> bool {
        self.indices.get(value.index()).copied().unwrap_or(false)
    }

    /// The work of an operation, without that of its regions that are not plain.
    #[inline]
    pub(crate) fn cost(&self, op: Op) -> u64 {
        self.costs.get(op.index()).copied().map_or(1, u64::from)
    }

    /// Whether the kernel promises something about the operation's result.
    #[inline]
    pub(crate) fn promises(&self, op: Op) -> bool {
        !self.promises.is_empty() && self.promises.binary_search(&op).is_ok()
    }

    pub(crate) fn is_plain(&self, region: Region) -> bool {
        self.plain.contains(&region)
    }
}

/// Learns what there is to know of everything that a kernel can reach.
pub(crate) fn learn(ir: &Ir, kernel: Op, checks: Checks) -> KernelFacts {
    let functions = reachable(ir, kernel);
    let ops: Vec<Op> = functions.iter().flat_map(|&f| ir.all_ops(f)).collect();
    let mut values = 0;
    for &op in &ops {
        let args = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.args(b));
        values = ir.results(op).iter().chain(args).map(|v| v.index() + 1).fold(values, usize::max);
    }
    let mut plain = BTreeSet::new();
    for &op in &ops {
        for &region in ir.regions_of(op) {
            if is_plain(ir, region, 0) {
                plain.insert(region);
            }
        }
    }
    let mut costs = vec![1; ops.iter().map(|o| o.index() + 1).max().unwrap_or(0)];
    for &op in &ops {
        costs[op.index()] = cost(ir, op);
    }
    let promise = |op: &Op| ir.results(*op).len() == 1 && HINTS.iter().any(|&(key, ..)| ir.stores(*op, key));
    let mut promises: Vec<Op> = ops.iter().copied().filter(|op| checks.promises && promise(op)).collect();
    promises.sort_unstable();
    KernelFacts {
        costs,
        promises,
        indices: indices(ir, &ops, values),
        plain,
        parallel: ops.iter().all(|&op| is_unordered(ir, op)),
        cell: ops.iter().filter_map(|&op| access_size(ir, op)).min().unwrap_or(8).min(8),
        values,
        too_wide: ops
            .iter()
            .copied()
            .find(|&op| ir.results(op).iter().any(|&r| ir.ty(r).bit_width().is_some_and(|w| w > 64))),
    }
}

/// The cost of an operation, as the head of the file says.
fn cost(ir: &Ir, op: Op) -> u32 {
    let elements = |v: &Value| {
        let ty = ir.ty(*v);
        ty.pointee().filter(|t| t.is_tensor()).unwrap_or(ty).num_elements().max(1) as u64
    };
    let n = ir.operands(op).iter().chain(ir.results(op)).map(elements).max().unwrap_or(1);
    let units = match ir.kind(op) {
        OpKind::Tt(TtOp::Dot | TtOp::DotScaled) | OpKind::Ttng(TtngOp::WarpGroupDot) => {
            // Each packed element of a scaled product is two elements along k.
            let factor = ir.operands(op).first().map_or(&[][..], |&v| ir.ty(v).shape());
            let k = factor.last().map_or(1, |&k| 2 * k.max(1) as u64);
            n / 16 + ir.ty(ir.result(op)).num_elements().max(1) as u64 * k / 256
        }
        OpKind::Tt(TtOp::Reduce | TtOp::Scan | TtOp::MapElementwise) => {
            let body = ir.all_ops(op).len() as u64;
            let rounds = if ir.is(op, TtOp::Scan) { u64::from(n.ilog2()) + 1 } else { 2 };
            n * body * rounds / 16
        }
        OpKind::Tt(TtOp::Print) => n * ir.operands(op).len() as u64 * 4,
        OpKind::Scf(_) | OpKind::Cf(_) => 0,
        _ => n / 16,
    };
    u32::try_from(1 + units).unwrap_or(u32::MAX)
}

fn reachable(ir: &Ir, kernel: Op) -> Vec<Op> {
    let mut found = vec![kernel];
    let mut next = 0;
    while let Some(&function) = found.get(next) {
        next += 1;
        for op in ir.all_ops(function) {
            if let Some(callee) = ir.callee(op)
                && !found.contains(&callee)
            {
                found.push(callee);
            }
        }
    }
    found
}

/// Whether programs with this operation give the same result when they run at the same time as when they run one after
/// the other.
fn is_unordered(ir: &Ir, op: Op) -> bool {
    match ir.kind(op) {
        OpKind::Tt(
            TtOp::AtomicCas | TtOp::AtomicLoad | TtOp::AtomicStore | TtOp::AtomicPoll | TtOp::DescriptorReduce,
        ) => false,
        OpKind::Tt(TtOp::AtomicRmw) => {
            let commutes = !matches!(view::AtomicRmw(op).atomic_rmw_op(ir), None | Some(RmwKind::Fadd | RmwKind::Exch));
            let float = ir.ty(view::AtomicRmw(op).val(ir)).elem().is_float();
            commutes && !float && ir.results(op).iter().all(|&r| !ir.has_uses(r))
        }
        OpKind::Tt(TtOp::Load) => !view::Load(op).isVolatile(ir),
        _ => true,
    }
}

fn access_size(ir: &Ir, op: Op) -> Option<usize> {
    let elem = |ty: Type| match *ty.elem() {
        TypeData::Pointer { pointee, .. } => pointee.elem(),
        _ => ty.elem(),
    };
    let through = ir.operands(op).first().filter(|_| ir.kind(op).belongs(Classes::GLOBAL_ACCESS));
    through.map(|&v| element_size(elem(ir.ty(v))))
}

/// Whether a region is straight-line code of elementwise operations and of calls to functions of such code. A block
/// that returns makes those after it dead, which irgen leaves behind.
fn is_plain(ir: &Ir, region: Region, depth: u32) -> bool {
    let Some(block) = ir.entry(region) else { return false };
    ir.ops(block).all(|op| {
        let kind = ir.kind(op);
        match kind {
            OpKind::Arith(ArithOp::Constant | ArithOp::Select)
            | OpKind::Ub(UbOp::Poison)
            | OpKind::Tt(
                TtOp::ReduceReturn
                | TtOp::ScanReturn
                | TtOp::MapElementwiseReturn
                | TtOp::Return
                | TtOp::Mulhiui
                | TtOp::Addptr,
            ) => true,
            OpKind::Tt(TtOp::Call) => {
                depth < 16 && ir.callee(op).is_some_and(|f| is_plain(ir, ir.region(f, 0), depth + 1))
            }
            OpKind::Tt(TtOp::ElementwiseInlineAsm) => false,
            _ => ir.spec(op).traits.contains(Traits::ELEMENTWISE),
        }
    })
}

/// Marks the values that flow into an address.
fn indices(ir: &Ir, ops: &[Op], values: usize) -> Vec<bool> {
    let mut marked = vec![false; values];
    let mut work: Vec<Value> = vec![];
    for &op in ops {
        match ir.kind(op) {
            OpKind::Tt(TtOp::Addptr) => work.push(view::Addptr(op).offset(ir)),
            OpKind::Tt(TtOp::Advance) => work.extend(view::Advance(op).offsets(ir)),
            OpKind::Tt(TtOp::MakeTensorPtr) => work.extend(view::MakeTensorPtr(op).offsets(ir)),
            OpKind::Tt(TtOp::DescriptorLoad | TtOp::DescriptorStore | TtOp::DescriptorReduce) => {
                work.extend(&ir.operands(op)[1..]);
            }
            _ => {}
        }
    }
    while let Some(value) = work.pop() {
        let slot = &mut marked[value.index()];
        if !std::mem::replace(slot, true) {
            sources(ir, ops, value, &mut work);
        }
    }
    // A pointer carries what its offsets carry.
    for &op in ops {
        for &r in ir.results(op) {
            marked[r.index()] |= ir.ty(r).elem().is_ptr();
        }
    }
    marked
}

/// The values whose magnitude this one's depends on.
fn sources(ir: &Ir, ops: &[Op], value: Value, work: &mut Vec<Value>) {
    match ir.def(value) {
        ValueDef::Result { op, index } => {
            let index = index as usize;
            match ir.kind(op) {
                OpKind::Arith(
                    ArithOp::Addi
                    | ArithOp::Subi
                    | ArithOp::Muli
                    | ArithOp::Shli
                    | ArithOp::Divsi
                    | ArithOp::Floordivsi
                    | ArithOp::Ceildivsi
                    | ArithOp::Extsi
                    | ArithOp::Extui
                    | ArithOp::Trunci
                    | ArithOp::IndexCast
                    | ArithOp::Maxsi
                    | ArithOp::Minsi,
                )
                | OpKind::Tt(
                    TtOp::Splat
                    | TtOp::Unsplat
                    | TtOp::ExpandDims
                    | TtOp::Reshape
                    | TtOp::Broadcast
                    | TtOp::Trans
                    | TtOp::Join
                    | TtOp::Split,
                ) => work.extend(ir.operands(op)),
                OpKind::Arith(ArithOp::Select) => work.extend(&ir.operands(op)[1..]),
                OpKind::Scf(ScfOp::For) => {
                    work.extend(For(op).init(ir).get(index));
                    yielded(ir, op, ScfOp::Yield.into(), index, work);
                }
                OpKind::Scf(ScfOp::If | ScfOp::ExecuteRegion) => yielded(ir, op, ScfOp::Yield.into(), index, work),
                OpKind::Scf(ScfOp::While) => yielded(ir, op, ScfOp::Condition.into(), index + 1, work),
                OpKind::Tt(TtOp::Call) => {
                    if let Some(callee) = ir.callee(op) {
                        yielded(ir, callee, TtOp::Return.into(), index, work);
                    }
                }
                _ => {}
            }
        }
        ValueDef::Arg { block, index } => argument_sources(ir, ops, block, index as usize, work),
    }
}

/// Operand `index` of each terminator of this kind that belongs to `op`'s regions.
fn yielded(ir: &Ir, op: Op, kind: OpKind, index: usize, work: &mut Vec<Value>) {
    for &block in ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)) {
        if let Some(last) = ir.last_op(block).filter(|&t| ir.kind(t) == kind) {
            work.extend(ir.operands(last).get(index));
        }
    }
}

fn argument_sources(ir: &Ir, ops: &[Op], block: crate::ir::Block, index: usize, work: &mut Vec<Value>) {
    let Some(owner) = ir.block_op(block) else { return };
    match ir.kind(owner) {
        OpKind::Scf(ScfOp::For) if index > 0 => {
            work.extend(For(owner).init(ir).get(index - 1));
            yielded(ir, owner, ScfOp::Yield.into(), index - 1, work);
        }
        OpKind::Scf(ScfOp::While) => {
            work.extend(ir.operands(owner).get(index));
            yielded(ir, owner, ScfOp::Yield.into(), index, work);
            yielded(ir, owner, ScfOp::Condition.into(), index + 1, work);
        }
        OpKind::Tt(TtOp::Func) => {
            for &call in ops.iter().filter(|&&o| ir.callee(o) == Some(owner)) {
                work.extend(ir.operands(call).get(index));
            }
        }
        _ => {}
    }
    // For branches between blocks, the argument is what each predecessor passes.
    for &branch in ops.iter().filter(|&&o| ir.successors(o).contains(&block)) {
        match ir.kind(branch) {
            OpKind::Cf(CfOp::Br) => work.extend(ir.operands(branch).get(index)),
            OpKind::Cf(CfOp::CondBr) => {
                for (group, &target) in ir.successors(branch).iter().enumerate() {
                    if target == block {
                        work.extend(ir.operand_group(branch, group + 1).get(index));
                    }
                }
            }
            _ => {}
        }
    }
}
