//! `ttc-make-descriptors-side-by-side`: tensor descriptors that a kernel makes one after the other are made by several
//! warps at the same time.
//!
//! A descriptor takes about a microsecond: its fields are written to shared memory, it is copied to global memory and
//! released to the hardware, and acquired. Triton leaves that to the first warp, for which the block waits each time.
//!
//! # Algorithm
//!
//! 1. In a block, find descriptors that are made with nothing in between that writes memory or uses one of them.
//! 2. Where there are several, put those that make them behind each other, then those that acquire them, and then the
//!    descriptors.
//! 3. Each is made and acquired by another warp, from the first on and around again. The block waits at the last of
//!    them only.
//!
//! ```text
//! tensormap_create %x …             tensormap_create %x … {ttc.by_warp = 0}
//! tensormap_fenceproxy_acquire %x   tensormap_create %y … {ttc.by_warp = 1}
//! %a = reinterpret %x             → tensormap_fenceproxy_acquire %x {ttc.by_warp = 0, ttc.joined}
//! tensormap_create %y …             tensormap_fenceproxy_acquire %y {ttc.by_warp = 1}
//! tensormap_fenceproxy_acquire %y   %a = reinterpret %x
//! %b = reinterpret %y               %b = reinterpret %y
//! ```

use crate::ir::core::{Ir, Op, Value};
use crate::ir::dialects::discardable::{BY_WARP, JOINED};
use crate::ir::dialects::ttng::ttng;
use crate::ir::dialects::{TtgOp, TtngOp};
use crate::ir::effects::effects;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::module_attrs;

pub static PASS: Pass = Pass {
    name: "ttc-make-descriptors-side-by-side",
    doc: "tensor descriptors are made by several warps at the same time",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// Descriptors that are made one after the other.
#[derive(Default)]
struct Group {
    creates: Vec<Op>,
    acquires: Vec<Op>,
    descriptors: Vec<Op>,
}

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let all = ir.all_ops(ir.module()).into_iter();
    let creates = all.filter(|&op| ir.is(op, TtngOp::TensormapCreate));
    let mut blocks: Vec<_> = creates.filter_map(|op| ir.parent_block(op)).collect();
    blocks.sort();
    blocks.dedup();
    let mut groups = vec![];
    for block in blocks {
        let ops: Vec<Op> = ir.ops(block).collect();
        groups.extend(find(ir, &ops));
    }
    for group in &groups {
        spread(ir, group);
    }
    Ok(Changed::from(!groups.is_empty()))
}

/// Step 1: groups of several, in the order of a block.
fn find(ir: &Ir, ops: &[Op]) -> Vec<Group> {
    let (mut groups, mut group) = (vec![], Group::default());
    for &op in ops {
        if ir.is(op, TtngOp::TensormapCreate) {
            group.creates.push(op);
        } else if ir.is(op, TtngOp::TensormapFenceproxyAcquire) {
            group.acquires.push(op);
        } else if ir.is(op, TtngOp::ReinterpretTensorDescriptor) {
            group.descriptors.push(op);
        } else if ends(ir, op, &group) {
            groups.push(std::mem::take(&mut group));
        }
    }
    groups.push(group);
    groups.retain(|g| is_whole(ir, g));
    groups
}

/// Whether an operation must stay behind the descriptors before it.
fn ends(ir: &Ir, op: Op, group: &Group) -> bool {
    let uses = |&v: &Value| ir.def_op(v).is_some_and(|d| group.descriptors.contains(&d));
    let does = effects(ir, op);
    let harmless = !does.writes && !does.allocates || ir.is(op, TtgOp::GlobalScratchAlloc);
    !harmless || !ir.regions_of(op).is_empty() || ir.operands(op).iter().any(uses)
}

/// Whether several descriptors are made, each of which is acquired, and by several warps.
fn is_whole(ir: &Ir, group: &Group) -> bool {
    let made = group.creates.iter().map(|&op| ttng::TensormapCreate(op).desc_ptr(ir));
    let acquired = group.acquires.iter().map(|&op| ttng::TensormapFenceproxyAcquire(op).desc_ptr(ir));
    let warps = group.creates.first().and_then(|&op| module_attrs::num_warps_at(ir, op)).unwrap_or(1);
    group.creates.len() > 1 && made.eq(acquired) && warps > 1
}

/// Steps 2 and 3.
fn spread(ir: &mut Ir, group: &Group) {
    let (Some(&create), Some(&acquire)) = (group.creates.last(), group.acquires.last()) else { return };
    let warps = module_attrs::num_warps_at(ir, create).unwrap_or(1) as usize;
    for &op in &group.creates {
        ir.move_before(op, create);
    }
    for &op in &group.acquires {
        ir.move_before(op, acquire);
        if op != acquire {
            ir.put(op, JOINED, true);
        }
    }
    for &op in group.descriptors.iter().rev() {
        ir.move_after(op, acquire);
    }
    for (at, (&create, &acquire)) in group.creates.iter().zip(&group.acquires).enumerate() {
        let warp = (at % warps) as i64;
        ir.put(create, BY_WARP, warp);
        ir.put(acquire, BY_WARP, warp);
    }
}
