//! The state of a warp: registers, the lanes that are where, calls, and what it waits for.

use super::in_flight::Products;
use super::lanes::each;
use crate::emu::decode::op::{Reduce, Target};
use crate::emu::decode::program::{Constant, Formal, Function, Guard, Lanes, NOWHERE, Pred, Reg};
use crate::emu::memory::Bytes;

/// Lanes that are elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) pc: u32,
    /// Where they wait for the others.
    pub(crate) meet: u32,
    pub(crate) mask: u32,
}

/// What a caller needs again when the callee returns.
pub(crate) struct Frame {
    function: usize,
    at: Path,
    stack: Vec<Path>,
    registers: usize,
    predicates: usize,
    local: u32,
    params: Params,
    /// The lanes that called.
    lanes: u32,
    /// Where the results go: from the callee's places to the caller's.
    results: Vec<(Formal, Formal)>,
}

/// The parameter space of a frame, for each lane.
#[derive(Clone, Default)]
pub(crate) struct Params {
    pub(crate) bytes: Vec<u8>,
    /// The bytes of a lane.
    pub(crate) size: usize,
}

/// What a warp waits for.
#[derive(Clone, Debug)]
pub(crate) enum Wait {
    /// The barrier of the block with this number, to be over this generation.
    Barrier {
        id: usize,
        generation: u64,
        reduce: Option<(Reduce, Target, u32)>,
    },
    Cluster {
        generation: u64,
    },
    /// An `mbarrier`, by block and address, to complete the phase that the step asks for.
    Mbarrier {
        block: usize,
        at: u32,
        phase: u64,
    },
    /// So many registers of the block.
    Registers {
        need: u32,
    },
}

pub(crate) struct Warp {
    /// The rank of its block in the cluster.
    pub(crate) block: usize,
    /// Its number in the block.
    pub(crate) index: u32,
    /// Its number in the cluster.
    pub(crate) agent: u32,
    pub(crate) function: usize,
    pub(crate) pc: u32,
    pub(crate) meet: u32,
    /// The lanes at `pc`.
    pub(crate) mask: u32,
    pub(crate) stack: Vec<Path>,
    /// Lanes that wait at an instruction for the whole warp, which others have not reached.
    pub(crate) parked: u32,
    /// Whether lanes have gone on from a place where others had not come.
    pub(crate) torn: bool,
    /// Backward branches since another path had its turn.
    pub(crate) rounds: u32,
    /// The step that executes.
    pub(crate) at: u32,
    /// The lanes that have not exited.
    pub(crate) live: u32,
    pub(crate) registers: Vec<Lanes>,
    pub(crate) predicates: Vec<u32>,
    /// Where the registers and predicates of the frame start.
    pub(crate) base: usize,
    pub(crate) predicate_base: usize,
    pub(crate) carry: u32,
    pub(crate) frames: Vec<Frame>,
    pub(crate) params: Params,
    pub(crate) local: Vec<Bytes>,
    pub(crate) local_base: u32,
    pub(crate) wait: Option<Wait>,
    /// How many groups of `cp.async` each lane has committed.
    pub(crate) copies: [u32; 32],
    /// How many bulk groups each lane has committed.
    pub(crate) bulks: [u32; 32],
    /// The lanes that have begun bulk stores.
    pub(crate) storing: u32,
    /// The step of the last bulk store, and the number of its group.
    pub(crate) last_store: Option<(u32, u32)>,
    pub(crate) products: Products,
    /// The phase of the cluster barrier that it arrived at.
    pub(crate) cluster_arrived: Option<u64>,
    pub(crate) steps: u64,
    /// The registers of a thread, as far as they are known, and the limit that `setmaxnreg` has set.
    pub(crate) registers_now: u32,
    pub(crate) register_limit: Option<u32>,
    /// How many `setmaxnreg` it has executed.
    pub(crate) register_changes: usize,
}

impl Warp {
    pub(crate) fn new(block: usize, index: u32, agent: u32, live: u32) -> Warp {
        Warp {
            block,
            index,
            agent,
            function: 0,
            pc: 0,
            meet: NOWHERE,
            mask: live,
            stack: vec![],
            parked: 0,
            torn: false,
            rounds: 0,
            at: 0,
            live,
            registers: vec![],
            predicates: vec![],
            base: 0,
            predicate_base: 0,
            carry: 0,
            frames: vec![],
            params: Params::default(),
            local: vec![Bytes::default(); 32],
            local_base: 0,
            wait: None,
            copies: [0; 32],
            bulks: [0; 32],
            storing: 0,
            last_store: None,
            products: Products::default(),
            cluster_arrived: None,
            steps: 0,
            registers_now: 0,
            register_limit: None,
            register_changes: 0,
        }
    }

    /// Makes the registers and the local memory of a function, and goes to its start.
    pub(crate) fn enter(&mut self, index: usize, function: &Function, shared_start: u64) {
        self.base = self.registers.len();
        self.predicate_base = self.predicates.len();
        self.registers.resize(self.base + function.registers as usize, [0; 32]);
        self.predicates.resize(self.predicate_base + function.predicates as usize, 0);
        // The first predicate is always true.
        self.predicates[self.predicate_base] = u32::MAX;
        for (slot, value) in &function.constants {
            let bits = match value {
                Constant::Bits(bits) => *bits,
                Constant::Shared(at) => shared_start + u64::from(*at),
                Constant::Local(at) => u64::from(self.local_base + *at),
            };
            self.registers[self.base + slot.0 as usize] = [bits; 32];
        }
        let end = (self.local_base + function.local_bytes) as usize;
        each(self.live).for_each(|lane| self.local[lane].grow(end));
        (self.function, self.pc, self.meet) = (index, 0, NOWHERE);
    }

    /// Calls a function with the lanes of a mask.
    pub(crate) fn call(
        &mut self,
        index: usize,
        (from, to): (&Function, &Function),
        mask: u32,
        (arguments, results): (&[Formal], &[Formal]),
        shared_start: u64,
    ) {
        let size = to.param_bytes as usize;
        let mut params = Params { bytes: vec![0; 32 * size], size };
        for (a, b) in arguments.iter().zip(&to.params) {
            copy_formal(&self.params, *a, &mut params, *b, mask);
        }
        let frame = Frame {
            function: self.function,
            at: Path { pc: self.pc, meet: self.meet, mask: self.mask },
            stack: std::mem::take(&mut self.stack),
            registers: self.base,
            predicates: self.predicate_base,
            local: self.local_base,
            params: std::mem::replace(&mut self.params, params),
            lanes: mask,
            results: to.returns.iter().copied().zip(results.iter().copied()).collect(),
        };
        self.frames.push(frame);
        self.local_base = (self.local_base + from.local_bytes).next_multiple_of(16);
        self.mask = mask;
        self.enter(index, to, shared_start);
    }

    /// Takes lanes away from where they are: they return, or they exit.
    pub(crate) fn leave(&mut self, mask: u32, exits: bool) {
        self.mask &= !mask;
        self.stack.iter_mut().for_each(|p| p.mask &= !mask);
        if exits {
            self.live &= !mask;
            for frame in &mut self.frames {
                frame.lanes &= !mask;
                frame.at.mask &= !mask;
                frame.stack.iter_mut().for_each(|p| p.mask &= !mask);
            }
        }
        self.settle();
    }

    /// Goes to lanes that are left, up the stack and the calls.
    pub(crate) fn settle(&mut self) {
        while self.mask == 0 || self.pc == self.meet {
            if let Some(path) = self.stack.pop() {
                (self.pc, self.meet, self.mask) = (path.pc, path.meet, path.mask);
                continue;
            }
            let Some(frame) = self.frames.pop() else { return };
            self.products.leave_frame(self.base);
            self.registers.truncate(self.base);
            self.predicates.truncate(self.predicate_base);
            let callee = std::mem::replace(&mut self.params, frame.params);
            for (from, to) in &frame.results {
                copy_formal(&callee, *from, &mut self.params, *to, frame.lanes);
            }
            (self.function, self.stack) = (frame.function, frame.stack);
            (self.base, self.predicate_base, self.local_base) = (frame.registers, frame.predicates, frame.local);
            (self.pc, self.meet, self.mask) = (frame.at.pc, frame.at.meet, frame.at.mask);
        }
    }

    /// Sends some lanes elsewhere. All meet again at `meet`.
    pub(crate) fn diverge(&mut self, target: u32, taken: u32, meet: u32, target_first: bool) {
        let stay = self.mask & !taken;
        if meet != self.meet && meet != NOWHERE {
            self.stack.push(Path { pc: meet, meet: self.meet, mask: self.mask });
        }
        let (there, here) = (Path { pc: target, meet, mask: taken }, Path { pc: self.pc, meet, mask: stay });
        let (first, second) = if target_first { (there, here) } else { (here, there) };
        self.stack.push(second);
        (self.pc, self.meet, self.mask) = (first.pc, first.meet, first.mask);
        self.settle();
    }

    pub(crate) fn is_done(&self) -> bool {
        self.live == 0
    }

    #[inline]
    pub(crate) fn reg(&self, slot: Reg) -> &Lanes {
        &self.registers[self.base + slot.0 as usize]
    }

    #[inline]
    pub(crate) fn reg_mut(&mut self, slot: Reg) -> &mut Lanes {
        &mut self.registers[self.base + slot.0 as usize]
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: Reg, value: &Lanes, mask: u32) {
        super::lanes::put(self.reg_mut(slot), value, mask);
    }

    #[inline]
    pub(crate) fn pred(&self, guard: Guard) -> u32 {
        let bits = self.predicates[self.predicate_base + guard.pred.0 as usize];
        if guard.negated { !bits } else { bits }
    }

    #[inline]
    pub(crate) fn set_pred(&mut self, slot: Pred, bits: u32, mask: u32) {
        let to = &mut self.predicates[self.predicate_base + slot.0 as usize];
        *to = *to & !mask | bits & mask;
    }

    pub(crate) fn set_target(&mut self, to: Target, value: u32, mask: u32) {
        match to {
            Target::Reg(r) => self.set(r, &[u64::from(value); 32], mask),
            Target::Pred(p) => self.set_pred(p, if value != 0 { u32::MAX } else { 0 }, mask),
        }
    }
}

fn copy_formal(from: &Params, a: Formal, to: &mut Params, b: Formal, mask: u32) {
    for lane in super::lanes::each(mask) {
        let start = lane * from.size + a.offset as usize;
        let target = lane * to.size + b.offset as usize;
        let bytes = &from.bytes[start..start + a.bytes as usize];
        to.bytes[target..target + b.bytes as usize].copy_from_slice(bytes);
    }
}
