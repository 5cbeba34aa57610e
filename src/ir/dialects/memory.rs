//! What an operation does to the memory that its operands and results describe, and what it orders.
//!
//! A table entry states it behind each operand and result, `dst: one MEMDESC [WRITE]`, and in `order:`. An entry with a
//! memory descriptor that states nothing does not compile. Which memory it is (shared, or that of the tensor cores) is
//! part of the descriptor's type.

use crate::ir::core::{Ir, Op};

/// Who makes an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// All threads, each its part, or the hardware on their behalf.
    Data,
    /// One thread, the same for all such accesses, to an mbarrier that it makes or ends.
    MbarrierLife,
    /// Any thread, to an mbarrier; these operations are atomic (PTX ISA, "mbarrier").
    MbarrierUse,
}

/// What is in flight; each kind has waits of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Flight {
    /// `cp.async`
    Copy,
    /// `wgmma`
    Product,
    /// TMA to global memory.
    Store,
}

/// When an access is made.
#[derive(Clone, Copy)]
pub enum When {
    /// It is complete when the operation is.
    Now,
    /// As `Now`, by those operations of which this holds; the others make no access.
    NowIf(fn(&Ir, Op) -> bool),
    /// It starts now, and is complete at a wait for its kind.
    InFlight(Flight),
    /// As `InFlight` by those operations of which this holds, as `Now` by the others.
    InFlightIf(Flight, fn(&Ir, Op) -> bool),
    /// It comes after what was before; who wants the result waits for an mbarrier.
    Signalled,
}

/// One access to what a descriptor shows.
#[derive(Clone, Copy)]
pub struct Touch {
    pub class: Class,
    pub write: bool,
    pub when: When,
}

/// What an operation does to the memory behind an operand or a result.
#[derive(Clone, Copy)]
pub enum Memory {
    /// Nothing is said: it is no memory descriptor, or control flow hands it on.
    Unstated,
    /// It is neither read nor written: another view of it is made, its life ends, or it is kept alive until here.
    Untouched,
    Touched(Touch),
}

impl Memory {
    /// The access, if there is one.
    #[must_use]
    pub const fn touch(self) -> Option<Touch> {
        match self {
            Memory::Touched(touch) => Some(touch),
            Memory::Unstated | Memory::Untouched => None,
        }
    }

    /// The same access, made by `class`.
    const fn by(self, class: Class) -> Memory {
        match self {
            Memory::Touched(touch) => Memory::Touched(Touch { class, ..touch }),
            Memory::Unstated | Memory::Untouched => self,
        }
    }

    /// The same access at another time.
    #[must_use]
    pub const fn when(self, when: When) -> Memory {
        match self {
            Memory::Touched(touch) => Memory::Touched(Touch { when, ..touch }),
            Memory::Unstated | Memory::Untouched => self,
        }
    }
}

/// Neither read nor written.
pub const UNTOUCHED: Memory = Memory::Untouched;
/// Read by all threads, or on their behalf.
pub const READ: Memory = Memory::Touched(Touch { class: Class::Data, write: false, when: When::Now });
/// Written by all threads, or on their behalf. An access that reads too is ordered as a write is.
pub const WRITE: Memory = Memory::Touched(Touch { class: Class::Data, write: true, when: When::Now });
/// An mbarrier that is made or ended.
pub const LIVE: Memory = WRITE.by(Class::MbarrierLife);
/// An mbarrier at which something arrives.
pub const ARRIVE: Memory = WRITE.by(Class::MbarrierUse);
/// An mbarrier that is asked for its phase.
pub const WAIT: Memory = READ.by(Class::MbarrierUse);

/// What an operation orders beside its own accesses.
#[derive(Clone, Copy)]
pub enum Order {
    Nothing,
    /// All threads have done all that came before; then come the operation's accesses.
    Barrier,
    /// As `Barrier`, in those operations of which this holds.
    BarrierIf(fn(&Ir, Op) -> bool),
    /// As `Barrier`, for the threads of all blocks of the cluster, in those operations of which this holds. In the
    /// others they only meet: what this orders is what a fence released before.
    ClusterBarrierIf(fn(&Ir, Op) -> bool),
    /// At an mbarrier: in those operations of which this holds, each warp lets what it has done come before what the
    /// first warp does behind a wait there. In the others all threads have done it, as at `Barrier`.
    LeavesIf(fn(&Ir, Op) -> bool),
    /// At an mbarrier, in those operations of which this holds: the first warp waits until all warps have left.
    EntersIf(fn(&Ir, Op) -> bool),
    /// Mbarriers that this thread has initialised are released: they are initialised for who meets it afterwards.
    ReleasesMbarriers,
    /// What is in flight is complete, as if it happened now, but for as many as the function says.
    Completes(Flight, fn(&Ir, Op) -> Option<i64>),
}

#[cfg(test)]
mod tests {
    use crate::ir::dialects::{Effects, OpKind};

    #[test]
    fn what_is_stated_of_memory_agrees_with_the_effects() {
        for kind in OpKind::all() {
            let spec = kind.spec();
            for value in spec.operands.iter().chain(spec.results) {
                let Some(touch) = value.memory.touch() else { continue };
                let (reads, writes) = match spec.effects {
                    Effects::Read => (true, false),
                    // A buffer that is allocated may be filled too.
                    Effects::Write | Effects::Alloc => (false, true),
                    Effects::ReadWrite | Effects::Unknown => (true, true),
                    Effects::Pure | Effects::Recursive => (false, false),
                };
                assert!(if touch.write { writes } else { reads }, "{}: `{}`", spec.name, value.name);
            }
            // A view touches nothing, and a product adds to its operand 2.
            assert!(
                !kind.is_view() || spec.operands[0].memory.touch().is_none() && spec.effects == Effects::Pure,
                "{}",
                spec.name
            );
        }
    }
}
