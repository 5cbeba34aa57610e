//! `tritongpu-insert-barriers` (Triton runs this inside its conversion to LLVM; its test pass is `test-print-membar`, a
//! name that is found too): inserts `ttg.barrier local` where [`Membar`] finds that threads must wait for each other.
//!
//! 1. Shared memory lies where `allocate-shared-memory-nv` has put it: the allocation is handed on, or made again in
//!    the same way where this pass runs alone. Offsets that stand in the module are not read.
//! 2. In a cluster the blocks wait for each other first: `ttng.cluster_barrier` where one may reach into another's
//!    memory, and between the initialisation of an mbarrier that blocks share and its use a fence and a barrier that
//!    waits for nothing else ([`init_syncs`]).
//! 3. The analysis names the operations that need a barrier before them; each gets one, at its own location.
//! 4. A barrier that makes asynchronous copies visible stands before the fence between proxies, not behind it, as
//!    Triton's does: a fence anywhere on the way from the copy to the product orders the two, and the threads that
//!    arrive last do not hold up the others by it (1 to 2 % of products with small tiles).
//! 5. Accesses to global memory are looked at last, since all these barriers order them too. `ttg.barrier
//!    global_read|global_write` goes where a warp could find what another one stores too early or too late
//!    ([`global_order`]). Triton has none of these.

use crate::analysis::cluster_mbarriers::init_syncs;
use crate::analysis::global_order;
use crate::analysis::membar::Membar;
use crate::analysis::prepared::PreparedFunction;
use crate::analysis::shared_effects::events;
use crate::diag::codes::passes as codes;
use crate::ir::core::{Builder, Ir, Op};
use crate::ir::dialects::ttg::{GLOBAL, LOCAL, ttg};
use crate::ir::dialects::ttng::ttng;
use crate::ir::dialects::{Classes, TtgOp};
use crate::layout::plan::Among;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::ttg::allocate_shared_memory::{CAPABILITY, target};
use crate::passes::ttg::module_attrs;

pub static PASS: Pass = Pass {
    name: "tritongpu-insert-barriers",
    doc: "insert the barriers that shared memory needs",
    input: Input::Any,
    options: &[CAPABILITY],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let target = target(ir, cx)?;
    let prepared = cx.prepared(ir, &target)?;
    let one_warp = module_attrs::threads(ir).is_some_and(|t| t.num_warps == 1);
    let mut changed = false;
    for (&func, PreparedFunction { allocation, .. }) in &prepared.functions {
        if module_attrs::threads(ir).is_some_and(|t| t.num_ctas > 1) {
            for op in Membar::new(ir, func, allocation, one_warp, Among::Cluster).barriers() {
                let mut b = Builder::before(ir, op);
                let state = ttng::ClusterBarrier::state(b.loc).with(ttng::ClusterBarrier::ATTR.relaxed, false);
                b.insert(state);
                changed = true;
            }
            for sync in init_syncs(ir, func, &allocation.alias) {
                let loc = ir.loc(sync.init);
                let mut b = Builder::before(ir, sync.fence);
                b.insert(ttng::FenceMbarrierInitReleaseCluster::state(loc));
                if sync.barrier {
                    b.insert(ttng::ClusterBarrier::state(loc).with(ttng::ClusterBarrier::ATTR.relaxed, true));
                }
                changed = true;
            }
        }
        let membar = Membar::new(ir, func, allocation, one_warp, Among::Block);
        for op in membar.barriers() {
            let touches = |o| !events(ir, o, allocation, one_warp).is_empty();
            let place = place(ir, op, touches);
            let mut b = Builder::before(ir, place);
            let state = ttg::Barrier::state(b.loc).with(ttg::Barrier::ATTR.addrSpace, LOCAL);
            b.insert(state);
            changed = true;
        }
        if let Some(threads) = module_attrs::threads(ir) {
            let threads = global_order::Threads { num_warps: threads.num_warps, num_ctas: threads.num_ctas };
            for found in global_order::barriers(ir, func, allocation, threads) {
                let what = if ir.kind(found.first).is_load() {
                    "what other warps still load"
                } else {
                    "what other warps store"
                };
                cx.remark(
                    &codes::GLOBAL_BARRIER,
                    ir.loc(found.then),
                    format!("a barrier goes before this access: it may touch {what}"),
                );
                let mut b = Builder::before(ir, found.place);
                let state = ttg::Barrier::state(b.loc).with(ttg::Barrier::ATTR.addrSpace, GLOBAL);
                b.insert(state);
                changed = true;
            }
        }
    }
    cx.keep(prepared);
    Ok(changed.into())
}

/// Step 4: the operation before which the barrier of `op` goes. Between the two nothing touches shared memory.
fn place(ir: &Ir, op: Op, touches: impl Fn(Op) -> bool) -> Op {
    let mut fence = op;
    for before in std::iter::successors(ir.prev_op(op), |&o| ir.prev_op(o)) {
        if ir.is(before, TtgOp::AsyncWait) {
            return fence;
        }
        if ir.kind(before).belongs(Classes::PROXY_FENCE) {
            fence = before;
        } else if touches(before) || !ir.regions_of(before).is_empty() {
            return op;
        }
    }
    op
}
