//! `triton-nvidia-gpu-proxy-fence-insertion`: fences between accesses to shared memory by threads and by asynchronous
//! hardware, as far as `triton-nvidia-gpu-fence-insertion` has not put them where they cost least.
//!
//! `wgmma`, tensor memory and TMA see what threads, `cp.async` among them, wrote earlier only after a fence (PTX ISA,
//! "Async proxy"). From sm_90 on, with memory laid out:
//! 1. A *state* is the set of accesses by threads since the last fence. The state before each segment of the control
//!    flow is the union over the ways into it, computed until nothing changes. An asynchronous copy counts again from
//!    each `ttg.async_wait` that may end it, since its bytes arrive after the fences before.
//! 2. An operation of the asynchronous proxy whose access conflicts with one in the state gets a fence before it, which
//!    empties the state.
//! 3. With the new fences, states are computed again, until nobody needs one.
//! 4. A fence is taken away when none of the accesses that it orders conflicts with asynchronous hardware anywhere in
//!    the function. Attention keeps one fence an iteration of two: the copies that both products read are waited for
//!    at once.
//!
//! What an operation keeps in scratch memory counts as read: its own barriers end it. A call is both when hardware
//! accesses memory in what it calls.

use std::collections::BTreeSet;

use crate::analysis::allocation::{Allocation, BufferKind};
use crate::analysis::flow::Segments;
use crate::analysis::prepared::PreparedFunction;
use crate::analysis::shared_effects::{BufferAccess, Class, Event, events};
use crate::ir::core::{Builder, Ir, Op};
use crate::ir::dialects::{Classes, TtgOp};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};
use crate::passes::nvidia::tma_lowering::fence;
use crate::passes::ttg::allocate_shared_memory::{CAPABILITY, target};

pub static PASS: Pass = Pass {
    name: "triton-nvidia-gpu-proxy-fence-insertion",
    doc: "order accesses to shared memory by threads and by asynchronous hardware",
    input: Input::Ttgir,
    options: &[CAPABILITY],
    run,
};

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let target = target(ir, cx)?;
    if !target.has_async_proxy() {
        return Ok(Changed::No);
    }
    let prepared = cx.prepared(ir, &target)?;
    let mut changed = false;
    for (&func, PreparedFunction { allocation, .. }) in &prepared.functions {
        let segments = Segments::new(ir, func);
        let steps: Vec<Vec<Step>> =
            segments.all.iter().map(|s| s.ops.iter().map(|&op| step(ir, op, allocation)).collect()).collect();
        for op in fences(&segments, &steps) {
            fence(&mut Builder::before(ir, op));
            changed = true;
        }
        // What the callers of a private function did before is not known here.
        let private = ir.is_private(func);
        let idle = if private { vec![] } else { idle(&segments, &steps) };
        for op in idle {
            ir.erase_op(op);
            changed = true;
        }
    }
    cx.keep(prepared);
    Ok(Changed::from(changed))
}

/// What an operation does.
struct Step {
    op: Op,
    fence: bool,
    /// Whether asynchronous copies may end here.
    wait: bool,
    /// Whether mbarriers are made or end here, which asynchronous hardware then uses.
    barriers: bool,
    /// Accesses by threads.
    generic: Vec<BufferAccess>,
    /// Asynchronous copies that begin here.
    copies: Vec<BufferAccess>,
    /// Accesses by asynchronous hardware.
    hardware: Vec<BufferAccess>,
}

fn step(ir: &Ir, op: Op, allocation: &Allocation) -> Step {
    let scratch = allocation.of(op).is_some_and(|b| b.kind == BufferKind::Scratch);
    let mut step = Step {
        op,
        fence: ir.kind(op).belongs(Classes::PROXY_FENCE),
        wait: ir.is(op, TtgOp::AsyncWait),
        barriers: false,
        generic: vec![],
        copies: vec![],
        hardware: vec![],
    };
    let (is_hardware, calls) = (ir.kind(op).belongs(Classes::ASYNC_PROXY), calls_hardware(ir, op, &mut vec![]));
    for event in events(ir, op, allocation, false) {
        let (Event::Access(access) | Event::InFlight(_, access) | Event::Signalled(access)) = &event else { continue };
        // Hardware signals mbarriers as threads do. What is left of one that has ended counts as written.
        if access.class != Class::Data && is_hardware {
            continue;
        }
        step.barriers |= access.class == Class::MbarrierLife;
        // Fences are looked for over all iterations, and slots are apart in one alone.
        let access = BufferAccess { write: access.write && !scratch, slot: None, ..access.clone() };
        if is_hardware || calls {
            step.hardware.push(access.clone());
        }
        if is_hardware {
            continue;
        }
        if matches!(event, Event::InFlight(..)) {
            step.copies.push(access.clone());
        }
        step.generic.push(access);
    }
    step
}

/// Whether an operation calls a function that does, itself or through others, what is of [`Classes::ASYNC_PROXY`].
/// `path`: who is being looked at.
fn calls_hardware(ir: &Ir, op: Op, path: &mut Vec<Op>) -> bool {
    let Some(callee) = ir.callee(op).filter(|f| !path.contains(f)) else { return false };
    path.push(callee);
    let found = ir
        .all_ops(callee)
        .into_iter()
        .any(|inner| ir.kind(inner).belongs(Classes::ASYNC_PROXY) || calls_hardware(ir, inner, path));
    path.pop();
    found
}

/// Steps 1 to 3: the operations that need a fence, in the order of the text.
fn fences(segments: &Segments, steps: &[Vec<Step>]) -> Vec<Op> {
    let mut chosen = BTreeSet::new();
    loop {
        let states = states(segments, steps, &chosen);
        let found = steps.iter().zip(states).find_map(|(steps, mut state)| {
            steps.iter().find_map(|step| {
                let needed = !chosen.contains(&step.op)
                    && step.hardware.iter().any(|h| state.done.iter().any(|g| g.conflicts(h)));
                state.pass(step, &chosen);
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

/// Accesses by threads since the last fence, and copies that may still be under way.
#[derive(Clone, Default)]
struct State {
    done: BTreeSet<BufferAccess>,
    copies: BTreeSet<BufferAccess>,
    barriers: bool,
}

impl State {
    /// What an operation makes of the state. `chosen`: operations with a new fence before them.
    fn pass(&mut self, step: &Step, chosen: &BTreeSet<Op>) {
        if step.fence || chosen.contains(&step.op) {
            self.done.clear();
            self.barriers = false;
        }
        self.barriers |= step.barriers;
        if step.wait {
            self.done.extend(self.copies.iter().cloned());
        }
        self.done.extend(step.generic.iter().cloned());
        self.copies.extend(step.copies.iter().cloned());
    }

    /// Adds what may have happened on another way to the same place; whether that was news.
    fn join(&mut self, other: &State) -> bool {
        let before = (self.done.len(), self.copies.len(), self.barriers);
        self.done.extend(other.done.iter().cloned());
        self.copies.extend(other.copies.iter().cloned());
        self.barriers |= other.barriers;
        before != (self.done.len(), self.copies.len(), self.barriers)
    }
}

/// The state before each segment.
fn states(segments: &Segments, steps: &[Vec<Step>], chosen: &BTreeSet<Op>) -> Vec<State> {
    let mut states = vec![State::default(); segments.all.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (index, segment) in segments.all.iter().enumerate() {
            let mut state = states[index].clone();
            steps[index].iter().for_each(|step| state.pass(step, chosen));
            for &next in &segment.next {
                changed |= states[next].join(&state);
            }
        }
    }
    states
}

/// Step 4: the fences that order nothing, in the order of the text. What a fence of them would have ended conflicts
/// with no asynchronous access, so taking one away makes no other necessary.
fn idle(segments: &Segments, steps: &[Vec<Step>]) -> Vec<Op> {
    let hardware: BTreeSet<&BufferAccess> = steps.iter().flatten().flat_map(|s| &s.hardware).collect();
    let none = BTreeSet::new();
    let mut idle = vec![];
    for (steps, mut state) in steps.iter().zip(states(segments, steps, &none)) {
        for step in steps {
            if step.fence && !state.barriers && !state.done.iter().any(|a| hardware.iter().any(|h| a.conflicts(h))) {
                idle.push(step.op);
            }
            state.pass(step, &none);
        }
    }
    idle
}
