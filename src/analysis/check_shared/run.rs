//! One operation: its steps, asked of the state and then done to it.

use crate::ir::core::{Op, Value};
use crate::ir::dialects::discardable::FIRST_WARP;
use crate::ir::dialects::ttng::ttng::{ArriveBarrier, InitBarrier, WarpGroupDot, WarpGroupDotWait};
use crate::ir::dialects::{OpKind, Traits, TtOp, TtgOp, TtngOp};

use super::buffers::Buffers;
use super::places::{Owner, Place, is_shared};
use super::state::{Entered, Flight, Meets, State, ThreadAccess};
use super::table::{Kind, Step, Use, steps};
use super::values::{int, places};
use super::{Checker, Fault, Sort};

impl Checker<'_> {
    /// Checks an operation, without its regions.
    pub(super) fn run(&mut self, op: Op, state: &mut State) {
        let holds =
            matches!(self.ir.kind(op), OpKind::Ttg(TtgOp::LocalAlloc | TtgOp::WarpSpecialize) | OpKind::Tt(TtOp::Call));
        let has_scratch = !holds && self.buffer(op).is_some();
        self.ask_sums(op, state);
        for step in steps(self.ir, op, has_scratch, self.one_warp, self.target) {
            self.step(op, step, state);
        }
        self.sums(op, state);
    }

    /// A product may add to a sum that is under way, a wait passes it through, and control flow hands it on; whoever
    /// else reads it must have waited.
    fn ask_sums(&mut self, op: Op, state: &State) {
        let ir = self.ir;
        let ends = ir.kind(op).has(Traits::TERMINATOR) && !ir.is(op, TtOp::Return);
        let hands_on = ends || !ir.regions_of(op).is_empty() || ir.is(op, TtngOp::WarpGroupDotWait);
        let added_to = WarpGroupDot::of(ir, op).map(|product| product.c(ir));
        let reads = |v: &Value| !hands_on && Some(*v) != added_to && state.sums.contains_key(v);
        if ir.operands(op).iter().any(reads) {
            let me = self.said(op);
            let text = format!("{me} reads a sum to which a product may still be adding: no wait for it lies between");
            self.report(Fault::of(op, Sort::Waiting, text));
        }
    }

    /// Notes which results are sums that are under way.
    fn sums(&self, op: Op, state: &mut State) {
        let ir = self.ir;
        let results: Vec<(Value, Option<u64>)> = if let Some(product) = WarpGroupDot::of(ir, op) {
            vec![(product.d(ir), product.isAsync(ir).then_some(0))]
        } else if let Some(wait) = WarpGroupDotWait::of(ir, op) {
            let passed = wait.outputs(ir).iter().zip(wait.inputs(ir));
            passed.map(|(&out, from)| (out, state.sums.get(from).copied())).collect()
        } else {
            return;
        };
        for (result, age) in results {
            state.sums.remove(&result);
            state.sums.extend(age.map(|age| (result, age)));
        }
    }

    fn step(&mut self, op: Op, step: Step, state: &mut State) {
        match step {
            Step::Now(value, used) => self.now(op, value, used, state),
            Step::Begin { kind, place, used, mbarrier, sure } => {
                let mbarrier = mbarrier.and_then(|m| self.bytes(op, m, state));
                for place in self.places(op, place, state) {
                    let access = ThreadAccess { op, place, used };
                    self.ask(&access, state);
                    state.begin(Flight { kind, access, age: None, mbarrier, sure });
                }
            }
            Step::Commit(kind) => {
                let token = self.ir.results(op).first().copied().filter(|_| self.ir.is(op, TtgOp::AsyncCommitGroup));
                state.commit(kind, token);
            }
            Step::Complete { kind, left } => state.complete(kind, left),
            Step::Arrive(mbarrier) => {
                if let Some(bytes) = self.bytes(op, mbarrier, state) {
                    state.arrive(bytes);
                }
            }
            Step::Phase { mbarrier, parity } => {
                let parity = int(self.ir, state, parity).map(|p| p & 1 != 0);
                let places = self.places(op, mbarrier, state);
                let parity = parity.filter(|_| places.len() == 1);
                places.iter().for_each(|place| state.phase(place, parity));
            }
            Step::Leave { mbarrier, pred } => self.leave_slot(op, mbarrier, pred, state),
            Step::Enter { mbarrier, parity, pred } => self.enter_slot(op, (mbarrier, parity), pred, state),
            Step::Renew(mbarrier) => {
                for place in self.places(op, mbarrier, state) {
                    // The first warp's own waits come before what it does now.
                    let other = state.waits(&place).find(|&wait| !self.ir.stores(wait, FIRST_WARP));
                    if let Some(other) = other {
                        let text = format!(
                            "{} begins the next phase of an mbarrier while other threads may still wait for the one before",
                            self.said(op)
                        );
                        self.report(Fault { other: Some(other), ..Fault::of(op, Sort::Order, text) });
                    }
                }
            }
            Step::Named { token, left } => self.named(op, token, left, state),
            Step::Barrier => state.barrier(),
            Step::Fence => state.fence(),
            Step::Alloc => self.alloc(op, state),
            Step::Scratch { within_warps } => self.scratch(op, within_warps, state),
            Step::Call => self.call(op, state),
            Step::Return => self.leave(op, state),
            Step::Unknown(value) => {
                let text = format!(
                    "what `{}` does to `{}` is not known to the checker",
                    self.ir.op_name(op),
                    self.ir.ty(value)
                );
                self.report(Fault::of(op, Sort::Unknown, text));
            }
        }
    }

    fn places(&mut self, op: Op, value: Value, state: &State) -> Vec<Place> {
        match places(self.ir, state, value) {
            Ok(places) => places.into_iter().collect(),
            Err(text) => {
                self.report(Fault::of(
                    op,
                    Sort::Place,
                    format!("`{}` is given a part of no buffer: {text}", self.ir.op_name(op)),
                ));
                vec![]
            }
        }
    }

    /// The bytes of an mbarrier; those of all that it may be.
    fn bytes(&mut self, op: Op, mbarrier: Value, state: &State) -> Option<(u64, u64)> {
        let places = self.places(op, mbarrier, state);
        let (low, high) = (places.iter().map(|p| p.low).min(), places.iter().map(|p| p.high).max());
        low.zip(high)
    }

    fn now(&mut self, op: Op, value: Value, used: Use, state: &mut State) {
        let places = self.places(op, value, state);
        for place in &places {
            self.ask(&ThreadAccess { op, place: place.clone(), used }, state);
        }
        for place in places {
            if let Some(made) = InitBarrier::of(self.ir, op) {
                state.make(&place, made.count(self.ir).unwrap_or(1));
            }
            state.now(ThreadAccess { op, place, used });
        }
    }

    fn leave_slot(&mut self, op: Op, mbarrier: Value, pred: Option<Value>, state: &mut State) {
        let happens = pred.map_or(Some(1), |p| int(self.ir, state, p));
        if happens == Some(0) {
            return;
        }
        self.now(op, mbarrier, Use::SIGNAL, state);
        for place in self.places(op, mbarrier, state) {
            if happens.is_none() {
                state.may_leave(&place);
                continue;
            }
            let arrive = ArriveBarrier(op);
            // All blocks do the same: as many arrive here as this one arrives at.
            let blocks = arrive.multicastCTA(self.ir).map_or(1, |bits| 1i64 << bits.count_ones());
            let arrivals = self.warps * blocks * arrive.count(self.ir).unwrap_or(1);
            if let Some(count) = state.leave(&place, arrivals) {
                let text = format!("{arrivals} arrivals come, and the mbarrier was made for {count}");
                self.report(Fault::of(op, Sort::Waiting, text));
            }
        }
    }

    fn enter_slot(&mut self, op: Op, (mbarrier, parity): (Value, Value), pred: Option<Value>, state: &mut State) {
        // What a predicate that is false keeps back does not happen; others hold.
        if pred.is_some_and(|p| int(self.ir, state, p) == Some(0)) {
            return;
        }
        self.now(op, mbarrier, Use { writes: false, ..Use::SIGNAL }, state);
        let parity = int(self.ir, state, parity).map(|p| p & 1 != 0);
        for place in self.places(op, mbarrier, state) {
            if state.enter(&place, parity) == Entered::Never {
                let text = "no arrival before this wait ends the phase that it is for".to_owned();
                self.report(Fault::of(op, Sort::Waiting, text));
            }
        }
    }

    fn named(&mut self, op: Op, token: Value, left: u64, state: &mut State) {
        if let Some(&age) = state.ages.get(&token).filter(|&&age| age < left) {
            let text = format!(
                "the wait leaves {left} groups of copies under way, but only {age} may have ended after one that it is for"
            );
            self.report(Fault::of(op, Sort::Waiting, text));
        }
    }

    fn alloc(&mut self, op: Op, state: &mut State) {
        if let Some(buffer) = self.buffer(op) {
            state.alloc(op, self.ir.result(op), Place::new(Owner::Buffer(op), buffer.offset, buffer.bytes));
        }
    }

    fn scratch(&mut self, op: Op, within_warps: bool, state: &mut State) {
        let Some(buffer) = self.buffer(op) else { return };
        let access =
            |used| ThreadAccess { op, place: Place::new(Owner::Scratch(op), buffer.offset, buffer.bytes), used };
        self.ask(&access(Use::WRITE), state);
        state.now(access(Use::WRITE));
        if !within_warps {
            state.barrier();
        }
        state.now(access(Use::READ));
    }

    /// A callee may write all its memory, and all that it gets, at any time from its start to its end.
    fn call(&mut self, op: Op, state: &mut State) {
        let mut touched = vec![];
        for &value in self.ir.operands(op).iter().filter(|&&v| is_shared(self.ir.ty(v))) {
            let used = Use { reads: true, ..Use::WRITE };
            touched.extend(self.places(op, value, state).into_iter().map(|place| ThreadAccess { op, place, used }));
        }
        let place = self.buffer(op).map(|b| Place::new(Owner::Scratch(op), b.offset, b.bytes));
        touched.extend(place.map(|place| ThreadAccess { op, place, used: Use::WRITE }));
        let hardware = self.ir.callee(op).is_some_and(|f| self.uses_hardware(f, &mut vec![]));
        for access in &touched {
            self.ask(&ThreadAccess { used: Use { hardware, ..access.used }, ..access.clone() }, state);
        }
        touched.into_iter().for_each(|access| state.now(access));
    }

    /// Whether a function, or one that it calls, lets hardware access shared memory.
    fn uses_hardware(&self, func: Op, path: &mut Vec<Op>) -> bool {
        if path.contains(&func) {
            return false;
        }
        path.push(func);
        let own = self.buffers.get(&func).map_or(0, |b: &Buffers| b.total);
        let found = self.ir.all_ops(func).into_iter().any(|op| {
            let hardware = |s: &Step| matches!(s, Step::Begin { used: Use { hardware: true, .. }, .. });
            steps(self.ir, op, false, self.one_warp, self.target).iter().any(hardware)
                || self.ir.callee(op).is_some_and(|f| self.uses_hardware(f, path))
        });
        path.pop();
        found && own > 0
    }

    /// The block may end behind a return, and its memory with it; a caller does not know what a callee has begun.
    fn leave(&mut self, op: Op, state: &State) {
        let private = self.ir.is_private(self.func);
        let open = state.flights().find(|f| f.kind == Kind::Store || (private && f.sure));
        if let Some(flight) = open {
            let text = format!("the function returns while {} is under way", self.said(flight.access.op));
            self.report(Fault { other: Some(flight.access.op), ..Fault::of(op, Sort::Waiting, text) });
        }
    }

    /// Reports what an access meets.
    fn ask(&mut self, access: &ThreadAccess, state: &State) {
        let alone = self.ir.stores(access.op, FIRST_WARP);
        for meets in state.faults(access, alone) {
            let fault = self.fault(access, &meets);
            self.report(fault);
        }
    }

    fn said(&self, op: Op) -> String {
        format!("`{}`", self.ir.op_name(op))
    }

    fn fault(&self, access: &ThreadAccess, meets: &Meets) -> Fault {
        let does = |a: &ThreadAccess| if a.used.writes { "writes" } else { "reads" };
        let doing = |a: &ThreadAccess| if a.used.writes { "writing" } else { "reading" };
        let bytes = |other: &ThreadAccess| match access.place.common(&other.place) {
            Some((low, high)) => format!("bytes {low} to {}", high - 1),
            None => "bytes".to_owned(),
        };
        let me = self.said(access.op);
        let (sort, other, text) = match meets {
            Meets::Pending(other) => {
                let them = self.said(other.op);
                let (does, doing) = (does(access), doing(other));
                let text =
                    format!("{me} {does} {} that {them} may still be {doing}: no barrier lies between", bytes(other));
                (Sort::Order, other.op, text)
            }
            Meets::Flight(flight) => {
                let (other, them) = (&flight.access, self.said(flight.access.op));
                let (does, doing) = (does(access), doing(other));
                let text = format!(
                    "{me} {does} {} that {them} may still be {doing}: no wait for it lies between",
                    bytes(other)
                );
                (Sort::Waiting, other.op, text)
            }
            Meets::Overwritten(other) => {
                let text = format!("{me} reads a buffer that {} has overwritten: they share bytes", self.said(*other));
                (Sort::Contents, *other, text)
            }
            Meets::Unfenced(other) => {
                let (does, them) = (does(access), self.said(other.op));
                let text = format!(
                    "{me} {does} {} through the asynchronous proxy that {them} wrote: no `ttng.fence_async_shared` lies between",
                    bytes(other)
                );
                (Sort::Proxies, other.op, text)
            }
        };
        Fault { op: access.op, sort, text, other: Some(other) }
    }
}
