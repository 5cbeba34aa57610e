//! An independent check of what `allocate-shared-memory-nv`, `triton-nvidia-gpu-proxy-fence-insertion` and
//! `tritongpu-insert-barriers` decided.
//!
//! It reads the offsets, fences and barriers that stand in a module and proves that they are enough, or names two
//! operations for which they are not. It knows nothing of how they were chosen: no live ranges, no list of conflicts,
//! no table of effects is shared with the passes. What is shared is no decision: the size of a type, the size of an
//! operation's scratch memory, and the plan from which code for a layout conversion is made.
//!
//! # What is proved
//!
//! Let a *thread's history* be the steps ([`table`]) of the operations on some path of the function's control flow. All
//! threads of a block follow the same path. Step `a` of one thread *happens before* step `b` of another if a barrier
//! lies between them on the path, and `a` is *over* at that barrier. What a thread does itself is over when it goes on;
//! a group of copies (`cp.async`), products (`wgmma`) or TMA stores is over at a wait of the same thread that leaves
//! fewer groups under way than were ended after it; what TMA writes is over, for every thread that waits, when the
//! phase of its mbarrier is. Then, for every path:
//!
//! 1. *Place.* Every buffer has an offset that is a multiple of what the hardware needs, and ends within `ttg.shared`.
//! 2. *Contents.* Where a buffer is read, nothing else was written over its bytes since its `ttg.local_alloc` ran.
//! 3. *Order.* Of two accesses by different threads to one byte, one of which writes, one happens before the other.
//! 4. *Waiting.* What is under way is over before a conflicting access begins, and TMA has read its sources before the
//!    function returns. A wait for named groups leaves fewer under way than were ended after each of them. Nobody but
//!    the next product reads a sum in registers to which a product may still be adding.
//! 5. *Proxies.* Between a write by threads and an access by hardware to the same bytes there is a
//!    `ttng.fence_async_shared`; for a copy by threads it lies behind the wait.
//!
//! Where warps arrive at an mbarrier each for itself, and the first warp waits there for all of them, what any warp did
//! before its arrival happens before what the first warp alone does behind the wait. The phases of such an mbarrier are
//! counted, so a wait for the wrong one orders nothing.
//!
//! # How
//!
//! Abstract interpretation forwards. A [`State`](state::State) holds sets that over-approximate what may be so on any
//! path: accesses since the last barrier, accesses under way with their groups' ages, bytes of each buffer that
//! something else wrote over, writes since the last fence. A step asks the state for faults and then changes it.
//! [`walk`] joins states where ways meet, until nothing changes; the sets range over finitely many values, so it ends,
//! and what holds in the end holds on every path. Buffers of one allocation are told apart by the value of their index,
//! which is known in each state at the head of a pipelined loop, since such states are kept apart.
//!
//! # Example
//!
//! ```text
//!                                                   since the last barrier      over %a's bytes
//! %a = ttg.local_alloc %x  {offset = 0}             %a written                  -
//! ttg.barrier local                                 -                           -
//! %y = ttg.local_load %a                            %a read                     -
//! %z = ttg.convert_layout %y  {offset = 0}          fault: writes bytes that other threads may still be reading
//! %w = ttg.local_load %a                            fault: reads what convert_layout has overwritten
//! ```
//!
//! # What is taken for granted
//!
//! - Where the index into several buffers is not known (it is computed from a loop's own number, say), what is under
//!   way to one of them is taken for another one than that at hand; the waits that name groups are still checked.
//! - A TMA copy under a predicate that is not constant does not happen where an `scf.for` around it or behind it ends,
//!   or a branch around an `scf.while` that does nothing on its other side. That is how pipelined loops keep back the
//!   copies for iterations that do not exist.
//! - Predicates of waits hold. A wait for an mbarrier whose phase is not known waits for all that arrives there.
//! - Partitions of `ttg.warp_specialize` are each checked alone, since no code is made for them.

mod buffers;
mod places;
mod run;
mod state;
mod table;
mod values;
mod walk;

use crate::ir::dialects::discardable::NUM_WARPS;
use std::collections::{BTreeMap, BTreeSet};

use crate::ir::core::{Ir, Op, Value};
use crate::target::Target;

use buffers::{Buffer, Buffers};
use state::State;

/// What kind of promise does not hold; the numbers of the module's list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Sort {
    Place,
    Contents,
    Order,
    Waiting,
    Proxies,
    /// The checker does not know what an operation does.
    Unknown,
}

/// Something that is not proved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Where it shows.
    pub op: Op,
    pub sort: Sort,
    /// In words.
    pub text: String,
    /// The operation that it meets.
    pub other: Option<Op>,
}

impl Fault {
    fn of(op: Op, sort: Sort, text: impl Into<String>) -> Fault {
        Fault { op, sort, text: text.into(), other: None }
    }
}

/// Everything that is not proved of a module whose memory is laid out and whose barriers stand. Of each operation the
/// first fault of each sort, in the order of the text.
#[must_use]
pub fn check(ir: &Ir, target: &Target) -> Vec<Fault> {
    let warps = ir.get(ir.module(), NUM_WARPS).unwrap_or(1);
    let (buffers, mut faults) = buffers::of_module(ir, target);
    for func in ir.functions() {
        let mut checker = Checker {
            ir,
            func,
            buffers: &buffers,
            own: &buffers[&func],
            deciding: values::deciding(ir, func),
            one_warp: warps == 1,
            warps,
            target,
            faults: BTreeMap::new(),
        };
        for &region in ir.regions_of(func) {
            checker.region(region, State::default());
        }
        let order = ir.all_ops(func);
        let mut found: Vec<Fault> = checker.faults.into_values().collect();
        let place: BTreeMap<Op, usize> = order.into_iter().enumerate().map(|(i, op)| (op, i)).collect();
        found.sort_by_key(|f| (place.get(&f.op).copied(), f.sort));
        faults.extend(found);
    }
    faults
}

/// The check of one function.
struct Checker<'a> {
    ir: &'a Ir,
    func: Op,
    buffers: &'a BTreeMap<Op, Buffers>,
    own: &'a Buffers,
    deciding: BTreeSet<Value>,
    one_warp: bool,
    warps: i64,
    target: &'a Target,
    faults: BTreeMap<(Op, Sort), Fault>,
}

impl Checker<'_> {
    /// Keeps the first fault of each sort at each operation.
    fn report(&mut self, fault: Fault) {
        self.faults.entry((fault.op, fault.sort)).or_insert(fault);
    }

    fn buffer(&self, op: Op) -> Option<Buffer> {
        self.own.get(op)
    }
}
