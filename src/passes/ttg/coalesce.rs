//! `tritongpu-coalesce`: gives every access to global memory the layout in which neighbouring threads touch
//! neighbouring addresses.
//!
//! # Algorithm
//!
//! Decide, for each load, store and atomic through a tensor of pointers:
//!
//! 1. The order of axes is by contiguity of the pointer, the most contiguous first; equals keep the last axis first.
//! 2. A thread takes as many elements along the first axis as are contiguous and aligned, up to 16 bytes. Of all
//!    accesses that values connect with this one, of the same shape and order, the widest counts, so that their layouts
//!    agree; but a store no more than its own. No thread is left without elements. With `data-masks`, an access asks
//!    for no more than a loaded mask lets through together ([`masks`]). With `agree`, loads take no more than
//!    the stores of what is computed from them, where that saves a conversion between the two ([`computed`]).
//! 3. Threads and warps are dealt out along the order.
//!
//! Accesses through tensor descriptors take up to 16 bytes along the last axis. What the calls of a function tell about
//! its parameters is noted on them first, as `tt.divisibility` and so on.
//!
//! Apply: convert the tensor operands, remake the access in the new layout, convert the results back. Redundant
//! conversions are left to `tritongpu-remove-layout-conversions`.

mod computed;
mod connections;
mod masks;

use std::collections::BTreeMap;

use computed::Computed;
pub(super) use connections::Connections;

use super::module_attrs::{self, Threads};
use crate::analysis::axis_info::{AxisInfo, AxisInfoAnalysis, calls};
use crate::ir::core::{Attr, AttrData, Builder, FloatKind, Ir, Name, Op, OpState, Type, Value, ValueDef};
use crate::ir::dialects::classes::moved_tensor;
use crate::ir::dialects::discardable::{CONSTANCY, CONTIGUITY, DIVISIBILITY};
use crate::ir::dialects::enums::RmwKind;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{Classes, TtOp, TtgOp};
use crate::ir::encoding::questions::{cga_of, share};
use crate::layout;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritongpu-coalesce",
    doc: "choose layouts for accesses to global memory",
    input: Input::Ttgir,
    options: &[
        OptionSpec {
            name: DATA_MASKS,
            kind: OptionKind::Bool,
            default: "false",
            doc: "an access whose mask was loaded for each element asks for one element a thread",
        },
        OptionSpec {
            name: AGREE,
            kind: OptionKind::Bool,
            default: "false",
            doc: "a load takes no more elements than the store of what is computed from them, if that leaves 8 bytes",
        },
    ],
    run,
};

pub const DATA_MASKS: &str = "data-masks";
pub const AGREE: &str = "agree";

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let threads = module_attrs::require_threads(ir, cx)?;
    let parameters = calls::parameters(ir);
    for (&param, info) in &parameters {
        note(ir, param, info);
    }
    let plan = decide(ir, threads, cx.flag(DATA_MASKS), cx.flag(AGREE));
    for &(op, encoding) in &plan {
        apply(ir, op, encoding);
    }
    Ok(Changed::from(!plan.is_empty() || !parameters.is_empty()))
}

/// Notes facts about a function's parameter as attributes of it.
fn note(ir: &mut Ir, param: Value, info: &AxisInfo) {
    let ValueDef::Arg { block, index } = ir.def(param) else { return };
    let Some(func) = ir.block_op(block) else { return };
    let count = ir.args(block).len();
    let stated = ir.get(func, tt::Func::ATTR.arg_attrs);
    let mut all = stated.map_or_else(|| vec![Attr::new(AttrData::Dict(vec![])); count], <[Attr]>::to_vec);
    let Some(slot) = all.get_mut(index as usize) else { return };
    let mut dict: BTreeMap<&str, (Name, Attr)> = match slot.data() {
        AttrData::Dict(entries) => entries.iter().map(|&(n, a)| (n.as_str(), (n, a))).collect(),
        _ => BTreeMap::new(),
    };
    for (name, value) in
        [(CONTIGUITY, &info.contiguity), (DIVISIBILITY, &info.divisibility), (CONSTANCY, &info.constancy)]
    {
        let (name, value) = (Name::of(name.name()), Attr::int(value[0], Type::int(64)));
        dict.insert(name.as_str(), (name, value));
    }
    *slot = Attr::new(AttrData::Dict(dict.into_values().collect()));
    ir.put(func, tt::Func::ATTR.arg_attrs, &all);
}

/// Which access gets which layout, in order: those through pointers, then those through descriptors.
fn decide(ir: &Ir, threads: Threads, data_masks: bool, agree: bool) -> Vec<(Op, Attr)> {
    let analysis = AxisInfoAnalysis::of_module(ir);
    let computed = agree.then(|| Computed::new(ir));
    let widths = Widths { ir, analysis: &analysis, data_masks, computed: computed.as_ref() };
    let connections = Connections::new(ir);
    let ops = ir.all_ops_post(ir.module());
    let mut plan = vec![];
    for &op in &ops {
        let Some(ptr) = accessed_pointer(ir, op).filter(|&p| ir.ty(p).is_tensor() && ir.ty(p).elem().is_ptr()) else {
            continue;
        };
        let num_warps = module_attrs::num_warps_at(ir, op).unwrap_or(threads.num_warps);
        plan.push((op, coalesced(&widths, &connections, op, ptr, Threads { num_warps, ..threads })));
    }
    for &op in &ops {
        let num_warps = module_attrs::num_warps_at(ir, op).unwrap_or(threads.num_warps);
        if let Some(tensor) = moved_tensor(ir, op) {
            plan.push((op, descriptor_encoding(ir.ty(tensor), Threads { num_warps, ..threads })));
        }
    }
    plan
}

/// The pointer through which an operation accesses global memory, if its layout is to be chosen for that.
#[must_use]
pub fn accessed_pointer(ir: &Ir, op: Op) -> Option<Value> {
    ir.kind(op).belongs(Classes::COALESCED).then(|| ir.operands(op)[0])
}

/// Axes by contiguity, the most contiguous first; equals in reverse order.
#[must_use]
pub fn order_by_contiguity(contiguity: &[i64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..contiguity.len() as u32).rev().collect();
    order.sort_by_key(|&d| std::cmp::Reverse(contiguity[d as usize]));
    order
}

fn pointer_order(ir: &Ir, analysis: &AxisInfoAnalysis, ptr: Value) -> Vec<u32> {
    match analysis.get(ptr) {
        Some(info) => order_by_contiguity(&info.contiguity),
        None => (0..ir.ty(ptr).rank() as u32).rev().collect(),
    }
}

/// The layout in which neighbouring threads touch neighbouring addresses; steps 1 to 3.
pub(super) fn coalesced(widths: &Widths, connections: &Connections, op: Op, ptr: Value, threads: Threads) -> Attr {
    let ir = widths.ir;
    let shape = ir.ty(ptr).shape();
    let order = pointer_order(ir, widths.analysis, ptr);
    let cga = cga_of(ir.ty(ptr));
    let share = share(shape, &cga);
    let mut width = widths.wanted(op, ptr, &order, &share);
    if ir.def_op(ptr).is_some() {
        width = width.max(connections.widest(widths, op, shape, &order, &share));
    }
    let all_threads = i64::from(threads.num_warps * threads.threads_per_warp);
    width = width.min((share.iter().product::<i64>() / all_threads).max(1));
    if !ir.is(op, TtOp::Load) {
        // Wider than one store instruction would leave gaps between the threads of a warp.
        width = width.min(widths.possible(op, ptr, &order, &share));
    }
    if let Some(computed) = widths.computed {
        width = computed.agreed(widths, op, &order, &share, width).unwrap_or(width);
    }
    let mut size = vec![1; shape.len()];
    if let Some(&fastest) = order.first() {
        size[fastest as usize] = u32::try_from(width).unwrap_or(1);
    }
    Attr::encoding(layout::blocked_in_cga(shape, &size, &order, threads.num_warps, threads.threads_per_warp, &cga))
}

/// How many elements of a thread the accesses of a function may take at once.
pub(super) struct Widths<'a> {
    pub(super) ir: &'a Ir,
    pub(super) analysis: &'a AxisInfoAnalysis,
    /// Whether masks that were loaded count.
    pub(super) data_masks: bool,
    /// Loads and stores that should agree, where they are to.
    pub(super) computed: Option<&'a Computed>,
}

impl Widths<'_> {
    /// Contiguous and aligned elements along the first axis of the order, up to what one instruction moves.
    fn possible(&self, op: Op, ptr: Value, order: &[u32], share: &[i64]) -> i64 {
        let (ir, info) = (self.ir, self.analysis.get(ptr));
        let (Some(info), Some(&axis)) = (info, order.first()) else { return 1 };
        let axis = axis as usize;
        let bits = i64::from(ir.ty(ptr).elem().pointee().and_then(Type::bit_width).unwrap_or(8));
        let multiple = (info.divisibility[axis] / (bits / 8).max(1)).max(1);
        let aligned = multiple.min(info.contiguity[axis]).min(share[axis]);
        aligned.min(widest(ir, op, bits)).max(1)
    }

    /// Of these, as many as a loaded mask lets through together.
    fn wanted(&self, op: Op, ptr: Value, order: &[u32], share: &[i64]) -> i64 {
        let possible = self.possible(op, ptr, order, share);
        let ir = self.ir;
        let mask = tt::Load::of(ir, op).map_or_else(|| tt::Store::of(ir, op)?.mask(ir), |load| load.mask(ir));
        match (mask.filter(|_| self.data_masks && possible > 1), order.first()) {
            (Some(mask), Some(&axis)) => masks::decided_together(ir, self.analysis, mask, axis as usize, possible),
            _ => possible,
        }
    }
}

/// Elements that one instruction of this kind moves at most.
fn widest(ir: &Ir, op: Op, bits: i64) -> i64 {
    let vector = (128 / bits).max(1);
    if tt::AtomicCas::of(ir, op).is_some() {
        return 1;
    }
    let Some(rmw) = tt::AtomicRmw::of(ir, op) else { return vector };
    let elem = ir.ty(rmw.val(ir)).elem();
    let fadd = rmw.atomic_rmw_op(ir) == Some(RmwKind::Fadd);
    if !elem.is_float() || bits == 64 {
        1
    } else if !fadd || module_attrs::target(ir).is_none_or(|t| t.has_vector_atomics()) {
        vector
    } else {
        // A target without wider ones adds only pairs of f16 at once.
        match elem.as_float() {
            Some(FloatKind::F32 | FloatKind::BF16) => 1,
            Some(FloatKind::F16) => vector.min(2),
            _ => vector,
        }
    }
}

/// Up to 16 bytes a thread along the last axis: how the tensor goes through shared memory.
fn descriptor_encoding(ty: Type, threads: Threads) -> Attr {
    let cga = cga_of(ty);
    let share: i64 = share(ty.shape(), &cga).iter().product();
    let per_thread = (share / i64::from(threads.num_warps * threads.threads_per_warp)).max(1);
    let vector = i64::from(128 / ty.bit_width().unwrap_or(8).max(1));
    let mut size = vec![1; ty.rank()];
    if let Some(last) = size.last_mut() {
        *last = u32::try_from(per_thread.min(vector).max(1)).unwrap_or(1);
    }
    let order: Vec<u32> = (0..ty.rank() as u32).rev().collect();
    Attr::encoding(layout::blocked_in_cga(ty.shape(), &size, &order, threads.num_warps, threads.threads_per_warp, &cga))
}

/// Remakes an access in a layout, with conversions around it.
fn apply(ir: &mut Ir, op: Op, encoding: Attr) {
    let rows = [
        tt::DescriptorGather::of(ir, op).map(|gather| gather.x_offsets(ir)),
        tt::DescriptorScatter::of(ir, op).map(|scatter| scatter.x_offsets(ir)),
    ];
    let mut operands = vec![];
    for value in ir.operands(op).to_vec() {
        // The row indices of a gather have the layout that the instruction needs.
        let keeps = !ir.ty(value).is_tensor() || rows.contains(&Some(value));
        let ty = ir.ty(value).with_encoding(Some(encoding));
        operands.push(if keeps { value } else { Builder::before(ir, op).value(TtgOp::ConvertLayout, &[value], ty) });
    }
    let is_async = ir.is(op, TtgOp::AsyncCopyGlobalToLocal);
    let types: Vec<Type> = ir.results(op).iter().map(|&r| ir.ty(r)).collect();
    let new_types: Vec<Type> =
        types.iter().map(|t| if is_async { *t } else { t.with_encoding(Some(encoding)) }).collect();
    let state = OpState::new(ir.kind(op), ir.loc(op)).operands(&operands).results(&new_types).attrs(ir.attrs(op));
    let new = Builder::before(ir, op).insert(state);
    let mut values = vec![];
    for (i, &ty) in types.iter().enumerate() {
        let result = ir.results(new)[i];
        values.push(if ir.ty(result) == ty {
            result
        } else {
            Builder::before(ir, op).value(TtgOp::ConvertLayout, &[result], ty)
        });
    }
    ir.replace_op(op, &values);
}
