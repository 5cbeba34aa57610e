//! `triton-nvidia-gpu-proxy-fence-insertion`: fences between accesses to shared memory by threads and by asynchronous hardware, as far as
//! `triton-nvidia-gpu-fence-insertion` has not put them where they cost least.
//!
//! `wgmma`, tensor memory and TMA see what threads, `cp.async` among them, wrote earlier only after a fence (PTX ISA, "Async proxy"). From sm_90 on, with
//! memory laid out:
//! 1. A *state* is the set of accesses by threads since the last fence. The state before each segment of the control flow is the union over the ways
//!    into it, computed until nothing changes.
//! 2. An operation of the asynchronous proxy whose access conflicts with one in the state gets a fence before it, which empties the state.
//! 3. With the new fences, states are computed again, until nobody needs one.
//!
//! What an operation keeps in scratch memory counts as read: its own barriers end it.

use std::collections::BTreeSet;

use crate::diag::codes::passes as codes;
use crate::ir::core::{Attr, Builder, Ir, Op};
use crate::ir::dialects::{OpKind, TtngOp};
use crate::passes::analysis::allocation::{self, Allocation, BufferKind};
use crate::passes::analysis::flow::Segments;
use crate::passes::analysis::shared_effects::{Access, Class, Event, events};
use crate::passes::manager::{Changed, Failed, Pass, PassCx};
use crate::passes::ttg::allocate_shared_memory::{CAPABILITY, capability};
use crate::passes::ttg::fence_insertion::ASYNC_PROXY;

pub static PASS: Pass = Pass {
    name: "triton-nvidia-gpu-proxy-fence-insertion",
    doc: "order accesses to shared memory by threads and by asynchronous hardware",
    options: &[CAPABILITY],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let capability = capability(ir, cx);
    if capability < ASYNC_PROXY {
        return Ok(Changed::No);
    }
    let made = allocation::of_module(ir, capability).map_err(|(op, e)| cx.fail(&codes::PASS_FAILED, ir.loc(op), e.to_string()))?;
    let mut changed = false;
    for (func, allocation) in made {
        let segments = Segments::new(ir, func);
        let steps: Vec<Vec<Step>> =
            segments.all.iter().map(|s| s.ops.iter().map(|&op| step(ir, op, &allocation, capability)).collect()).collect();
        for op in fences(&segments, &steps) {
            let loc = ir.loc(op);
            let state = crate::ir::core::OpState::new(TtngOp::FenceAsyncShared, loc).attr("bCluster", Attr::bool(false));
            Builder::before(ir, op).insert(state);
            changed = true;
        }
    }
    Ok(Changed::from(changed))
}

/// What an operation does.
struct Step {
    op: Op,
    fence: bool,
    /// Accesses by threads.
    generic: Vec<Access>,
    /// Accesses by asynchronous hardware.
    hardware: Vec<Access>,
}

fn step(ir: &Ir, op: Op, allocation: &Allocation, capability: u32) -> Step {
    let scratch = allocation.of(op).is_some_and(|b| b.kind == BufferKind::Scratch);
    let hardware = is_hardware(ir, op);
    let accesses = events(ir, op, allocation, false, capability).into_iter().filter_map(|event| match event {
        // Hardware signals mbarriers as threads do. What is left of one that has ended counts as written.
        Event::Access(access) | Event::InFlight(_, access) | Event::Signalled(access) if access.class == Class::Data || !hardware => {
            Some(if scratch { Access { write: false, ..access } } else { access })
        }
        _ => None,
    });
    let accesses: Vec<Access> = accesses.collect();
    let (generic, hardware) = if hardware { (vec![], accesses) } else { (accesses, vec![]) };
    Step { op, fence: ir.is(op, TtngOp::FenceAsyncShared), generic, hardware }
}

/// Whether an operation accesses shared memory through the asynchronous proxy.
fn is_hardware(ir: &Ir, op: Op) -> bool {
    use TtngOp as N;
    matches!(
        ir.kind(op),
        OpKind::Ttng(
            N::WarpGroupDot
                | N::TcGen5Mma
                | N::TcGen5MmaScaled
                | N::TmemCopy
                | N::AsyncTmaCopyGlobalToLocal
                | N::AsyncTmaGather
                | N::AsyncTmaCopyLocalToGlobal
                | N::AsyncTmaReduce
                | N::AsyncTmaScatter
                | N::ClcTryCancel
        )
    )
}

/// Steps 1 to 3: the operations that need a fence, in the order of the text.
fn fences(segments: &Segments, steps: &[Vec<Step>]) -> Vec<Op> {
    let mut chosen = BTreeSet::new();
    loop {
        let states = states(segments, steps, &chosen);
        let found = steps.iter().zip(states).find_map(|(steps, mut state)| {
            steps.iter().find_map(|step| {
                let needed = !chosen.contains(&step.op) && step.hardware.iter().any(|h| state.iter().any(|g| g.conflicts(h)));
                pass(step, &chosen, &mut state);
                needed.then_some(step.op)
            })
        });
        match found {
            Some(op) => chosen.insert(op),
            None => break,
        };
    }
    steps.iter().flatten().map(|s| s.op).filter(|op| chosen.contains(op)).collect()
}

/// What an operation makes of the state.
fn pass(step: &Step, chosen: &BTreeSet<Op>, state: &mut BTreeSet<Access>) {
    if step.fence || chosen.contains(&step.op) {
        state.clear();
    }
    state.extend(step.generic.iter().cloned());
}

/// The state before each segment.
fn states(segments: &Segments, steps: &[Vec<Step>], chosen: &BTreeSet<Op>) -> Vec<BTreeSet<Access>> {
    let mut states = vec![BTreeSet::new(); segments.all.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (index, segment) in segments.all.iter().enumerate() {
            let mut state: BTreeSet<Access> = states[index].clone();
            for step in &steps[index] {
                pass(step, chosen, &mut state);
            }
            for &next in &segment.next {
                let before = states[next].len();
                states[next].extend(state.iter().cloned());
                changed |= states[next].len() != before;
            }
        }
    }
    states
}
