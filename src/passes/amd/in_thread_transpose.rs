//! `tritonamdgpu-in-thread-transpose`: operands that do not lie along K in memory are turned in registers.
//!
//! A matrix instruction reads neighbours along K. Where memory is contiguous along the other axis, wide loads give each
//! thread a row of that axis, and reading shared memory along K takes one access an element. So each thread loads
//! several rows, turns its own tile, and stores columns along K at once.
//!
//! # Algorithm
//!
//! Of each `ttg.local_load` of an operand of `mfma` or `wmma`:
//!
//! 1. Find the buffer in all its forms: slots of it, and what loops and branches hand on. It must be filled by
//!    `ttg.local_store` and `ttg.local_alloc` alone, from `tt.load`s of one blocked type that is not along K.
//! 2. A thread gets as many elements along K as make 64 bits, if the tensor has them. There must be two at least.
//! 3. The loads run in that layout; in front of each store the tile is turned (`amdg.in_thread_transpose`); the buffer
//!    lies along K, with the swizzle of the operand whose phase rotates (`#ttg.amd_rotating_shared`), so that both the
//!    stores and the reads keep clear of each other's banks.
//!
//! ```text
//! %v = tt.load %p : #blocked; ttg.local_store %v, %s; ttg.local_load %s -> #ttg.dot_op
//! → %v = tt.load (convert %p) : #tall; %t = amdg.in_thread_transpose %v : #tall -> #linear; ttg.local_store %t, %s; …
//! ```
//!
//! The conversions around it stand for loads far away from their stores; `tritongpu-remove-layout-conversions` takes
//! them out.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::flow::value_edges;
use crate::ir::core::encoding::{Blocked, SwizzledShared};
use crate::ir::core::{Attr, Builder, Encoding, Ir, MemDesc, Op, Type, TypeData, Value};
use crate::ir::dialects::ttg::ttg::{LocalLoad, LocalStore, MemDescIndex};
use crate::ir::dialects::{AmdgOp, Classes, TtOp, TtgOp};
use crate::ir::encoding::questions::cga_of;
use crate::layout;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::shared_encodings::swizzled_for_dot;

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-in-thread-transpose",
    doc: "turn operands of products in registers, where memory does not lie along K",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// Bits that a thread stores to shared memory at once.
const STORE_BITS: u32 = 64;

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut changed = false;
    for func in ir.functions() {
        for op in ir.all_ops_post(func) {
            if let Some(plan) = LocalLoad::of(ir, op).and_then(|load| Plan::of(ir, func, load)) {
                plan.apply(ir);
                changed = true;
            }
        }
    }
    Ok(Changed::from(changed))
}

/// Both directions of [`value_edges`].
struct Flow {
    before: BTreeMap<Value, Vec<Value>>,
    behind: BTreeMap<Value, Vec<Value>>,
}

impl Flow {
    fn of(ir: &Ir, func: Op) -> Flow {
        let mut flow = Flow { before: BTreeMap::new(), behind: BTreeMap::new() };
        for (from, to) in value_edges(ir, func) {
            flow.before.entry(to).or_default().push(from);
            flow.behind.entry(from).or_default().push(to);
        }
        flow
    }
}

/// What is known of the way to one operand.
struct Plan {
    loads: Vec<Op>,
    /// What fills the buffer.
    stores: Vec<Op>,
    /// The buffer in all its forms.
    buffers: BTreeSet<Value>,
    tall: Encoding,
    turned: Attr,
    shared: SwizzledShared,
}

impl Plan {
    fn of(ir: &Ir, func: Op, load: LocalLoad) -> Option<Plan> {
        let ty = ir.ty(load.result(ir));
        let operand @ Encoding::DotOp { op_idx, parent, .. } = ty.layout()? else { return None };
        if !matches!(parent.as_encoding()?, Encoding::AmdMfma(_) | Encoding::AmdWmma(_)) {
            return None;
        }
        let k_axis = usize::from(*op_idx == 0);
        let flow = Flow::of(ir, func);
        let (buffers, stores) = buffer(ir, &flow, load.src(ir))?;
        let mut loads = vec![];
        for &store in &stores {
            let value = ir.operand(store, 0);
            let Some(Encoding::Blocked(e)) = ir.ty(value).layout() else { return None };
            if e.order[0] as usize == k_axis {
                return None;
            }
            for load in sources(ir, &flow, value)? {
                if !loads.contains(&load) {
                    loads.push(load);
                }
            }
        }
        let loaded = ir.ty(ir.result(*loads.first()?));
        if loaded.rank() != 2 || loads.iter().any(|&load| ir.ty(ir.result(load)) != loaded) {
            return None;
        }
        let (tall, turned) = tall(loaded, k_axis)?;
        let order = [k_axis as u32, 1 - k_axis as u32];
        let shared = swizzled_for_dot(ty, operand, &order, cga_of(ty), false)?;
        Some(Plan { loads, stores, buffers, tall, turned, shared })
    }

    /// Step 3.
    fn apply(self, ir: &mut Ir) {
        let tall = Some(Attr::encoding(self.tall));
        for load in self.loads {
            let old = ir.ty(ir.result(load));
            for (index, value) in ir.operands(load).to_vec().into_iter().enumerate() {
                let ty = ir.ty(value);
                if ty.is_tensor() {
                    let new = Builder::before(ir, load).value(TtgOp::ConvertLayout, &[value], ty.with_encoding(tall));
                    ir.set_operand(load, index, new);
                }
            }
            let result = ir.result(load);
            ir.set_type(result, old.with_encoding(tall));
            let back = Builder::after(ir, load).value(TtgOp::ConvertLayout, &[result], old);
            let convert = ir.def_op(back);
            ir.replace_uses_if(result, back, |_, u| Some(u.op) != convert);
        }
        for store in self.stores {
            let value = ir.operand(store, 0);
            let ty = ir.ty(value);
            let mut b = Builder::before(ir, store);
            let near = b.value(TtgOp::ConvertLayout, &[value], ty.with_encoding(tall));
            let turned = b.value(AmdgOp::InThreadTranspose, &[near], ty.with_encoding(Some(self.turned)));
            ir.set_operand(store, 0, turned);
        }
        let encoding = Attr::encoding(Encoding::AmdRotatingShared(self.shared));
        for buffer in self.buffers {
            let Some(desc) = ir.ty(buffer).as_memdesc() else { continue };
            if matches!(desc.encoding.as_encoding(), Some(Encoding::SwizzledShared(_))) {
                ir.set_type(buffer, Type::new(TypeData::MemDesc(MemDesc { encoding, ..desc.clone() })));
            }
        }
    }
}

/// Step 1: all forms of a buffer, and what fills it; `None` if others touch it.
fn buffer(ir: &Ir, flow: &Flow, start: Value) -> Option<(BTreeSet<Value>, Vec<Op>)> {
    let (mut seen, mut stores) = (BTreeSet::new(), vec![]);
    let mut queue = vec![start];
    while let Some(value) = queue.pop() {
        if !seen.insert(value) {
            continue;
        }
        for side in [&flow.before, &flow.behind] {
            queue.extend(side.get(&value).into_iter().flatten());
        }
        match ir.def_op(value) {
            Some(op) if ir.is(op, TtgOp::LocalAlloc) => {
                stores.extend(Some(op).filter(|op| !ir.operands(*op).is_empty() && !stores.contains(op)));
            }
            Some(op) if ir.is(op, TtgOp::MemDescIndex) => queue.push(MemDescIndex(op).src(ir)),
            Some(op) if !ir.kind(op).belongs(Classes::CONTROL_FLOW) => return None,
            Some(_) => {}
            // A parameter of the function comes from nowhere.
            None if !flow.before.contains_key(&value) => return None,
            None => {}
        }
        for user in ir.users(value) {
            if ir.is(user, TtgOp::MemDescIndex) {
                queue.push(ir.result(user));
            } else if LocalStore::of(ir, user).is_some() {
                if !stores.contains(&user) {
                    stores.push(user);
                }
            } else {
                let kind = ir.kind(user);
                let reads = ir.is(user, TtgOp::LocalLoad) || ir.is(user, TtgOp::LocalDealloc);
                if !reads && !kind.belongs(Classes::CONTROL_FLOW) && !kind.belongs(Classes::YIELDS) {
                    return None;
                }
            }
        }
    }
    Some((seen, stores))
}

/// The loads that a value may come from, through loops and branches; `None` if it may be a parameter.
fn sources(ir: &Ir, flow: &Flow, value: Value) -> Option<Vec<Op>> {
    let mut seen = BTreeSet::new();
    let mut queue = vec![value];
    let mut loads = vec![];
    while let Some(value) = queue.pop() {
        if !seen.insert(value) {
            continue;
        }
        let before = flow.before.get(&value);
        match ir.def_op(value) {
            Some(op) if ir.is(op, TtOp::Load) => loads.push(op),
            None if before.is_none() => return None,
            _ => queue.extend(before.into_iter().flatten()),
        }
    }
    loads.sort_unstable();
    Some(loads)
}

/// Step 2: the layout with more elements of a thread along K, and the same with each thread's tile turned.
fn tall(ty: Type, k_axis: usize) -> Option<(Encoding, Attr)> {
    let Some(Encoding::Blocked(e)) = ty.layout() else { return None };
    let threads = i64::from(e.threads_per_warp[k_axis] * e.warps_per_cta[k_axis]);
    let most = u32::try_from(ty.shape()[k_axis] / threads).ok()?;
    if most < 2 {
        return None;
    }
    let mut size = e.size_per_thread.clone();
    size[k_axis] = most.min(STORE_BITS / ty.elem().bit_width()?);
    let product = |sizes: &[u32]| sizes.iter().product::<u32>();
    let tall = layout::blocked_from_size(
        ty.shape(),
        &size,
        &e.order,
        product(&e.warps_per_cta),
        product(&e.threads_per_warp),
        1 << e.cga.len(),
    );
    let Encoding::Blocked(blocked) = &tall else { return None };
    let turned = turned(ty, blocked)?;
    Some((tall, turned))
}

fn turned(ty: Type, blocked: &Blocked) -> Option<Attr> {
    let layout = layout::in_thread_transposed(ty.shape(), blocked).ok()?;
    Some(Attr::encoding(Encoding::Linear(layout::bases_of(&layout))))
}
