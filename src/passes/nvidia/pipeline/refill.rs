//! `ttc-refill-slots`: copies by hardware into rotating buffers wait for the slot that they fill, and not for the
//! block.
//!
//! `tritongpu-pipeline` gives each slot an mbarrier that tells when it is *full*. Nothing tells when all warps have
//! left it, so `ttng.barrier_expect` begins with a barrier of the block in every iteration, which keeps all warps in
//! step. Here a second mbarrier of the slot tells when it is *empty*: each warp arrives when it has left the slot, and
//! the first warp waits for all of them before it refills the slot. The others go on, so warp groups may drift apart,
//! up to the slots that there are. Triton has such mbarriers in warp-specialized loops only.
//!
//! # Algorithm
//!
//! Of each loop:
//!
//! 1. Find the copies that share an mbarrier for each slot, what reads these slots, and where the last reader leaves
//!    them ([`plan`]). Copies of which that is not known keep their barrier; a remark says why.
//! 2. In front of the loop, an mbarrier for each slot is made that waits for all warps. It ends with the others.
//! 3. Behind the last reader each warp arrives at the mbarrier of the slot that it has left: this iteration's, or that
//!    of the iteration before, if there was one.
//! 4. In front of the copies the first warp waits for the phase of the slot that they fill. `ttng.barrier_expect` and
//!    the copies become the first warp's, and nobody waits for the block. So do those in front of the loop, which fill
//!    the slots for the first time.
//!
//! # Clusters
//!
//! With `multicast`, of blocks of a cluster that want the same of a copy the first one loads it for all: the bytes
//! arrive at the same slot and mbarrier of each. Then a warp that has left a slot says so to all of these blocks, and
//! each waits for the warps of all before it fills the slot. Each tells its own mbarrier how many bytes will arrive;
//! that may be after they do, but not a phase too late, since its own warps have left the slot before.
//!
//! # Phases
//!
//! The first use of a slot finds it empty: the phase before the first one counts as over (PTX ISA,
//! "mbarrier.test_wait"), and has parity 1. So the bit starts with 1, and flips whenever the first slot is filled
//! again.
//!
//! # Example
//!
//! Three slots, read by a `wgmma` that is waited for an iteration later:
//!
//! ```text
//! iteration                 0     1     2     3     4
//! reads slot                0     1     2     0     1
//! leaves slot               -     0     1     2     0
//! fills slot                2     0     1     2     0
//! waits for parity          1     0     0     0     1
//! ```

use std::collections::BTreeMap;

use crate::analysis::chained_products;
use crate::diag::codes::passes as codes;
use crate::ir::core::{Block, Builder, Ir, Op, Type, Value};
use crate::ir::dialects::discardable::{EACH_WARP, FIRST_WARP};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::ttng::ttng::{
    ArriveBarrier, AsyncTmaCopyGlobalToLocal, BarrierExpect, InitBarrier, WaitBarrier,
};
use crate::ir::dialects::{ArithOp, ScfOp, TtgOp, TtngOp};
use crate::passes::common::carry::carry;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::ttg::{buffers, module_attrs};

mod plan;

use plan::Refill;

pub static PASS: Pass = Pass {
    name: "ttc-refill-slots",
    doc: "let copies into rotating buffers wait for the slot that they fill, and not for the block",
    input: Input::Ttgir,
    options: &[
        OptionSpec {
            name: MULTICAST,
            kind: OptionKind::Bool,
            default: "false",
            doc: "whether copies go to all blocks of the cluster that want the same",
        },
        OptionSpec {
            name: CHAINED,
            kind: OptionKind::Bool,
            default: "false",
            doc: "only in loops in which one product waits for another",
        },
    ],
    run,
};

pub const MULTICAST: &str = "multicast";
pub const CHAINED: &str = "chained";

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let loops: Vec<Op> = ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For)).collect();
    let warps = module_attrs::threads(ir).map_or(1, |t| t.num_warps);
    let mut changed = false;
    for looped in loops {
        let gains = |looped| {
            chained_products::warps_may_drift(ir, looped, warps) || chained_products::is_chain_of_two(ir, looped, warps)
        };
        if cx.flag(CHAINED) && !gains(looped) {
            continue;
        }
        let mut phases = BTreeMap::new();
        for (expect, decided) in plan::of_loop(ir, looped, cx.flag(MULTICAST)) {
            match decided {
                Ok(refill) => {
                    apply(ir, looped, &refill, &mut phases);
                    changed = true;
                }
                Err(obstacle) => {
                    let text = format!("the copies wait for all warps of the block: {obstacle}");
                    cx.remark(&codes::COPIES_WAIT, ir.loc(expect), text);
                }
            }
        }
    }
    Ok(Changed::from(changed))
}

/// Steps 2 to 4. `phases` knows the bit for each counter of slots.
fn apply(ir: &mut Ir, looped: Op, refill: &Refill, phases: &mut BTreeMap<Value, Value>) {
    let Some(body) = ir.body(looped, 0) else { return };
    let empty = allocate(ir, refill);
    let phase = *phases.entry(refill.insert).or_insert_with(|| count_phase(ir, looped, body, refill.insert));
    arrive(ir, refill, empty);
    let pred = BarrierExpect(refill.expect).pred(ir);
    let mut b = Builder::before(ir, refill.expect);
    let slot = indexed(&mut b, empty, refill.insert);
    let wait = b.insert(WaitBarrier::state(b.loc, slot, phase, Some(pred), &[]));
    for &copy in refill.copies.iter().chain(&refill.first) {
        if refill.shared != 0 && plan::shared_by(ir, copy) != 0 {
            ir.put(copy, AsyncTmaCopyGlobalToLocal::ATTR.multicast, true);
        }
    }
    for op in refill.copies.iter().chain(&refill.first).copied().chain([wait, refill.expect]) {
        ir.put(op, FIRST_WARP, true);
    }
}

/// Step 2: made right behind the array of mbarriers that it stands beside, and ended where that ends.
fn allocate(ir: &mut Ir, refill: &Refill) -> Value {
    let (warps, ctas) = module_attrs::threads(ir).map_or((1, 1), |t| (t.num_warps, t.num_ctas));
    let arrivals = i64::from(warps) << refill.shared.count_ones();
    let ty = buffers::mbarriers(Some(refill.slots), ctas);
    let made = ir.def_op(refill.full).expect("an array of mbarriers is made");
    let mut b = Builder::after(ir, made);
    let empty = b.value(TtgOp::LocalAlloc, &[], ty);
    for i in 0..refill.slots {
        let slot = slot(&mut b, empty, i);
        b.insert(InitBarrier::state(b.loc, slot).with(InitBarrier::ATTR.count, arrivals));
    }
    let mut b = Builder::before(ir, refill.end);
    for i in 0..refill.slots {
        let slot = slot(&mut b, empty, i);
        b.op(TtngOp::InvalBarrier, &[slot], &[]);
    }
    b.op(TtgOp::LocalDealloc, &[empty], &[]);
    empty
}

/// The mbarrier of a slot whose number is known.
fn slot(b: &mut Builder<'_>, mbarriers: Value, number: u32) -> Value {
    let number = b.i32(i64::from(number));
    indexed(b, mbarriers, number)
}

/// The mbarrier of a slot.
fn indexed(b: &mut Builder<'_>, mbarriers: Value, number: Value) -> Value {
    let ty = buffers::slot_of(b.ir.ty(mbarriers));
    b.value(TtgOp::MemDescIndex, &[mbarriers, number], ty)
}

/// The bit that says which phase of the slot to fill is waited for: right behind that slot's number.
fn count_phase(ir: &mut Ir, looped: Op, body: Block, insert: Value) -> Value {
    let first = Builder::before(ir, looped).i32(1);
    let phase = carry(ir, looped, body, first);
    let number = ir.def_op(insert).expect("the number of a slot is computed");
    let mut b = Builder::after(ir, number);
    let (zero, one) = (b.i32(0), b.i32(1));
    let over = b.cmpi(CmpiPredicate::Eq, insert, zero);
    let other = b.value(ArithOp::Xori, &[phase, one], Type::int(32));
    let next = b.value(ArithOp::Select, &[over, other, phase], Type::int(32));
    let end = ir.terminator(body).expect("a loop ends in a yield");
    let index = ir.operands(end).len() - 1;
    ir.set_operand(end, index, next);
    next
}

/// Step 3.
fn arrive(ir: &mut Ir, refill: &Refill, empty: Value) {
    let mut b = Builder::after(ir, refill.left);
    let pred = (!refill.always).then(|| {
        let zero = b.i32(0);
        b.cmpi(CmpiPredicate::Sge, refill.slot, zero)
    });
    let slot = indexed(&mut b, empty, refill.slot);
    let state = ArriveBarrier::state(b.loc, slot, pred).with(ArriveBarrier::ATTR.count, 1);
    let arrival = b.insert(state.with(ArriveBarrier::ATTR.multicastCTA, i64::from(refill.shared)));
    ir.put(arrival, EACH_WARP, true);
}
