//! Another order of the instructions in a block, for fewer registers.
//!
//! The lowering computes a tile operation by operation: all addresses, all masks, all loads, and so on. LLVM keeps that
//! order. It is good for latency, and needs the more registers the more is alive at once. Where they do not suffice,
//! the blocks that need most can get another order that has a clearly lower peak of live registers. Assemblers order
//! instructions anew, but what they make of it depends on what they are given.
//!
//! # Algorithm
//!
//! Of each block with at least [`LEAST`] instructions and a peak of at least [`CROWDED`] registers:
//!
//! 1. *Pinned* instructions (what reads or writes memory or works across threads, as far as LLVM says) stay in their
//!    order. Loads of LLVM's own stay between the pinned instructions around them. All others may move, but what
//!    stands between an asynchronous instruction and the wait for it stays between them, since that is what hides its
//!    time, and registers that it reads are written in front of its fence.
//! 2. Three orders are made beside the one that is there:
//!    - *late*: what needs more registers than it frees comes right before the first instruction that needs it;
//!    - *deep*: everything comes right before the pinned instruction or the end of the block that needs it, depth
//!      first, the operand with the larger tree first; and what then frees as much as it needs follows at once, so that
//!      the elements of a tile are finished one by one;
//!    - *gathered*: like deep, but what follows at once are small groups of instructions that free more than they make,
//!      such as two conversions and what packs their results, as soon as memory or a product has given their operands.
//! 3. The gathered order is taken, or one of the others whose peak is below nine tenths of its peak, if its peak is
//!    below nine tenths of the present one, or just below it where more is alive than a thread has registers.
//!
//! Registers are counted as 32-bit words of values that are made in the block or by its phis.

mod instructions;

use std::ffi::c_uint;

use inkwell::llvm_sys::core;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};

use self::instructions::{Facts, Kind, called, is_used_outside, registers};
use super::{InFlight, LlvmTarget};
use crate::ir::core::hash::Map;

/// Smaller blocks stay as they are.
const LEAST: usize = 64;
/// Blocks that never need as many registers stay as they are.
const CROWDED: u32 = 100;
/// Blocks that need more spill: it is what a thread of NVIDIA's GPUs has, and of AMD's without accumulators.
const MOST: u32 = 255;
/// The most instructions that are gathered at once, how many users after each other may be one of them, and how many of
/// these are looked at behind one instruction.
const MOST_GATHERED: usize = 8;
const FARTHEST: usize = 4;
const MOST_TRIED: usize = 256;

/// An instruction of a block by its place in the present order.
type Place = u32;

/// Whether some block needs enough registers to get another order, if there is one.
pub(super) fn is_crowded(module: &Module<'_>, llvm: &dyn LlvmTarget) -> bool {
    blocks(module)
        .any(|(block, list)| Scheduled::of(block, &list, llvm).is_some_and(|s| s.peak(&s.present()) >= CROWDED))
}

/// Gives the blocks of a module their orders; `false` if all stay as they are.
pub(super) fn crowded_blocks(module: &Module<'_>, llvm: &dyn LlvmTarget) -> bool {
    let mut changed = false;
    for (block, list) in blocks(module) {
        if let Some(order) = Scheduled::of(block, &list, llvm).and_then(|s| s.best()) {
            arrange(block, &list, &order);
            changed = true;
        }
    }
    changed
}

/// The blocks of a module with their instructions, without the small ones.
fn blocks(module: &Module<'_>) -> impl Iterator<Item = (LLVMBasicBlockRef, Vec<LLVMValueRef>)> {
    let all = module.get_functions().flat_map(FunctionValue::get_basic_block_iter);
    let listed = all.map(|block| {
        let list: Vec<LLVMValueRef> = block.get_instructions().map(|i| i.as_value_ref()).collect();
        (block.as_mut_ptr(), list)
    });
    listed.filter(|(_, list)| list.len() >= LEAST)
}

/// Puts the instructions of a block into this order.
fn arrange(block: LLVMBasicBlockRef, list: &[LLVMValueRef], order: &[Place]) {
    // SAFETY: all are instructions of the block; the last one is its terminator and stays, so there always is a place
    // before it. The builder has no location, so the instructions keep theirs.
    unsafe {
        let builder = core::LLVMCreateBuilderInContext(core::LLVMGetTypeContext(core::LLVMTypeOf(list[0])));
        let end = core::LLVMGetBasicBlockTerminator(block);
        for &place in order {
            let instruction = list[place as usize];
            core::LLVMInstructionRemoveFromParent(instruction);
            core::LLVMPositionBuilderBefore(builder, end);
            core::LLVMInsertIntoBuilder(builder, instruction);
        }
        core::LLVMDisposeBuilder(builder);
    }
}

/// What the orders of a block are made from.
struct Scheduled {
    kinds: Vec<Kind>,
    /// The instructions of the block whose values an instruction uses, each once.
    operands: Vec<Vec<Place>>,
    /// What else must come before it.
    after: Vec<Vec<Place>>,
    users: Vec<Vec<Place>>,
    /// 32-bit registers of the value.
    weights: Vec<u32>,
    /// Whether another block, or a phi, uses the value.
    leaves: Vec<bool>,
    /// The last instruction that uses the value, in the present order.
    last_user: Vec<Place>,
}

impl Scheduled {
    /// Reads a block. `None` if it has no end.
    fn of(block: LLVMBasicBlockRef, list: &[LLVMValueRef], llvm: &dyn LlvmTarget) -> Option<Scheduled> {
        let place_of: Map<usize, Place> = list.iter().enumerate().map(|(i, &v)| (v as usize, i as Place)).collect();
        let count = list.len();
        let mut s = Scheduled {
            kinds: vec![],
            operands: vec![],
            after: vec![vec![]; count],
            users: vec![vec![]; count],
            weights: vec![],
            leaves: vec![],
            last_user: vec![0; count],
        };
        let facts = Facts::new();
        for (i, &value) in list.iter().enumerate() {
            let kind = facts.kind(value);
            s.kinds.push(kind);
            s.weights.push(registers(value));
            s.leaves.push(is_used_outside(block, value));
            let mut operands: Vec<Place> = vec![];
            if kind != Kind::Phi {
                // SAFETY: an instruction and numbers below its number of operands.
                let used =
                    unsafe { (0..core::LLVMGetNumOperands(value)).map(|n| core::LLVMGetOperand(value, n as c_uint)) };
                operands = used.filter_map(|v| place_of.get(&(v as usize)).copied()).collect();
                operands.sort_unstable();
                operands.dedup();
            }
            for &operand in &operands {
                s.users[operand as usize].push(i as Place);
                s.last_user[operand as usize] = i as Place;
            }
            s.operands.push(operands);
        }
        s.fence();
        let in_flight: Vec<(Place, InFlight)> = list
            .iter()
            .enumerate()
            .filter_map(|(i, &value)| Some((i as Place, llvm.in_flight(&called(value)?)?)))
            .collect();
        s.keep_in_flight(&in_flight);
        (*s.kinds.last()? == Kind::Terminator).then_some(s)
    }

    /// Pinned instructions come one after the other, with the loads between them.
    fn fence(&mut self) {
        let mut last: Option<Place> = None;
        let mut loads: Vec<Place> = vec![];
        for i in 0..self.kinds.len() {
            match self.kinds[i] {
                Kind::Pinned => {
                    self.after[i] = std::mem::take(&mut loads);
                    self.after[i].extend(last);
                    last = Some(i as Place);
                }
                Kind::Load => {
                    self.after[i].extend(last);
                    loads.push(i as Place);
                }
                Kind::Phi | Kind::Part | Kind::Free | Kind::Terminator => {}
            }
        }
    }

    /// What stands beside asynchronous instructions stays beside them, and what they read in front of their fence.
    fn keep_in_flight(&mut self, asynchronous: &[(Place, InFlight)]) {
        let Some(&(_, first)) = asynchronous.first() else { return };
        // What a block begins with waiting for was started in front of it.
        let mut flies = matches!(first, InFlight::Wait | InFlight::End);
        let (mut last, mut fence, mut beside) = (None, None, vec![]);
        let mut kinds = asynchronous.iter().copied().peekable();
        for i in 0..self.kinds.len() as Place {
            let at = i as usize;
            let Some((_, kind)) = kinds.next_if(|&(place, _)| place == i) else {
                if flies && matches!(self.kinds[at], Kind::Free | Kind::Load) {
                    self.after[at].extend(last);
                    beside.push(i);
                }
                continue;
            };
            self.after[at].append(&mut beside);
            last = Some(i);
            match kind {
                InFlight::Fence => fence = Some(i),
                InFlight::Start => {
                    flies = true;
                    let read = self.operands[at].iter().copied().filter(|&d| fence.is_some_and(|fence| d < fence));
                    let read: Vec<Place> = read.collect();
                    if let Some(fence) = fence {
                        self.after[fence as usize].extend(read);
                    }
                }
                InFlight::Wait => {}
                InFlight::End => flies = false,
            }
        }
    }

    /// The best of the orders, if it is clearly better than the present one.
    fn best(&self) -> Option<Vec<Place>> {
        let present = self.present();
        let peak = self.peak(&present);
        if peak < CROWDED {
            return None;
        }
        let with_peak = |order: Vec<Place>| (self.peak(&order), order);
        let gathered = with_peak(self.deep(Then::Gather));
        let (lowest, order) = [self.late(), self.deep(Then::Follow)]
            .map(with_peak)
            .into_iter()
            .min_by_key(|(peak, _)| *peak)
            .filter(|(peak, _)| peak * 10 < gathered.0 * 9)
            .unwrap_or(gathered);
        let is_better = lowest * 10 < peak * 9 || peak > MOST && lowest < peak;
        (is_better && order.len() == present.len()).then_some(order)
    }

    fn present(&self) -> Vec<Place> {
        (0..self.kinds.len() as Place).filter(|&i| self.moves(i)).collect()
    }

    fn moves(&self, i: Place) -> bool {
        !matches!(self.kinds[i as usize], Kind::Phi | Kind::Terminator)
    }

    /// The most registers that are alive at once.
    fn peak(&self, order: &[Place]) -> u32 {
        let mut live = Live::new(self);
        for &i in order {
            live.emit(self, i);
        }
        live.peak
    }

    /// The order that delays what needs more registers than it frees.
    fn late(&self) -> Vec<Place> {
        let mut list = List::new(self);
        for i in 0..self.kinds.len() as Place {
            let at = i as usize;
            let ends = |d: &&Place| self.last_user[**d as usize] == i && !self.leaves[**d as usize];
            let freed: u32 = self.operands[at].iter().filter(ends).map(|&d| self.weights[d as usize]).sum();
            let waits = matches!(self.kinds[at], Kind::Free | Kind::Load) && self.weights[at] > freed;
            if self.moves(i) && !waits {
                list.demand(i, Then::Nothing);
            }
        }
        list.finish()
    }

    /// The depth-first orders.
    fn deep(&self, then: Then) -> Vec<Place> {
        let mut list = List::new(self);
        for i in (0..self.kinds.len() as Place).filter(|&i| self.kinds[i as usize] == Kind::Pinned) {
            list.demand(i, then);
        }
        for i in (0..self.kinds.len() as Place).filter(|&i| self.moves(i) && self.leaves[i as usize]) {
            list.demand(i, then);
        }
        list.finish()
    }

    /// Registers that a tree of instructions needs: the operand that needs most comes first, the others keep its
    /// result.
    fn needs(&self) -> Vec<u32> {
        let mut needs: Vec<u32> = vec![0; self.kinds.len()];
        for i in 0..self.kinds.len() {
            if !matches!(self.kinds[i], Kind::Free | Kind::Load | Kind::Part) {
                continue;
            }
            let mut below: Vec<(u32, u32)> =
                self.operands[i].iter().map(|&d| (needs[d as usize], self.weights[d as usize])).collect();
            below.sort_unstable_by(|a, b| b.cmp(a));
            let mut held = 0;
            let mut most = self.weights[i];
            for (need, weight) in below {
                most = most.max(held + need);
                held += weight;
            }
            needs[i] = most.min(1 << 20);
        }
        needs
    }
}

/// What comes behind an instruction that was asked for, besides what is asked for next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Nothing,
    /// Users that free as much as they need.
    Follow,
    /// Groups that free more than they make.
    Gather,
}

/// Live registers while instructions are emitted.
struct Live {
    /// Users of each value that are still to come.
    left: Vec<u32>,
    now: u32,
    peak: u32,
}

impl Live {
    fn new(s: &Scheduled) -> Live {
        let left: Vec<u32> = s.users.iter().map(|u| u.len() as u32).collect();
        let phis = s.kinds.iter().take_while(|&&k| k == Kind::Phi).count();
        let now = (0..phis).filter(|&i| left[i] > 0 || s.leaves[i]).map(|i| s.weights[i]).sum();
        Live { left, now, peak: now }
    }

    /// The registers that an instruction would free now.
    fn frees(&self, s: &Scheduled, i: Place) -> u32 {
        let ends = |d: &&Place| self.left[**d as usize] == 1 && !s.leaves[**d as usize];
        s.operands[i as usize].iter().filter(ends).map(|&d| s.weights[d as usize]).sum()
    }

    fn emit(&mut self, s: &Scheduled, i: Place) {
        let freed = self.frees(s, i);
        for &d in &s.operands[i as usize] {
            self.left[d as usize] -= 1;
        }
        let made = if self.left[i as usize] > 0 || s.leaves[i as usize] { s.weights[i as usize] } else { 0 };
        self.now = self.now + made - freed;
        self.peak = self.peak.max(self.now);
    }
}

/// An order in the making.
struct List<'a> {
    s: &'a Scheduled,
    needs: Vec<u32>,
    live: Live,
    done: Vec<bool>,
    order: Vec<Place>,
}

impl<'a> List<'a> {
    fn new(s: &'a Scheduled) -> List<'a> {
        let done = s.kinds.iter().map(|&k| k == Kind::Phi).collect();
        List { s, needs: s.needs(), live: Live::new(s), done, order: vec![] }
    }

    /// Emits an instruction behind all that it needs, and what comes then.
    fn demand(&mut self, wanted: Place, then: Then) {
        let mut stack = vec![(wanted, false)];
        while let Some((i, ready)) = stack.pop() {
            if self.done[i as usize] {
                continue;
            }
            if ready {
                self.emit(i);
                match then {
                    Then::Follow if self.s.kinds[i as usize] == Kind::Free => self.follow(i),
                    Then::Gather if self.s.kinds[i as usize] != Kind::Free => self.gather(i),
                    _ => {}
                }
                continue;
            }
            stack.push((i, true));
            let s = self.s;
            let mut missing: Vec<Place> = s.operands[i as usize]
                .iter()
                .chain(&s.after[i as usize])
                .copied()
                .filter(|&d| !self.done[d as usize])
                .collect();
            // The last one on the stack is the first to be emitted.
            missing.sort_by_key(|&d| (self.needs[d as usize], std::cmp::Reverse(d)));
            stack.extend(missing.into_iter().map(|d| (d, false)));
        }
    }

    fn emit(&mut self, i: Place) {
        let s = self.s;
        self.done[i as usize] = true;
        self.live.emit(s, i);
        self.order.push(i);
        for &part in s.users[i as usize].iter().filter(|&&u| s.kinds[u as usize] == Kind::Part) {
            if !self.done[part as usize] {
                self.emit(part);
            }
        }
    }

    /// Emits the users of a value that can be and that free as much as they need, and theirs.
    fn follow(&mut self, first: Place) {
        let mut queue = vec![first];
        while let Some(i) = queue.pop() {
            for &user in &self.s.users[i as usize] {
                let at = user as usize;
                let ready = |d: &Place| self.done[*d as usize];
                if self.s.kinds[at] == Kind::Free
                    && !self.done[at]
                    && self.s.operands[at].iter().chain(&self.s.after[at]).all(ready)
                    && self.s.weights[at] <= self.live.frees(self.s, user)
                {
                    self.emit(user);
                    queue.push(user);
                }
            }
        }
    }

    /// Emits groups of instructions that need this value or what comes of it, and nothing that is not there, and that
    /// free more than they make.
    fn gather(&mut self, first: Place) {
        let mut open = vec![first];
        let mut tried = 0;
        while let Some(from) = open.pop() {
            let mut front = vec![from];
            for _ in 0..FARTHEST {
                let users = front.iter().flat_map(|&i| self.s.users[i as usize].iter().copied());
                front = users.take(MOST_TRIED).collect();
                for &user in &front {
                    tried += 1;
                    if tried > MOST_TRIED {
                        return;
                    }
                    if self.group(user).is_some_and(|group| self.frees_more(&group)) {
                        self.demand(user, Then::Nothing);
                        open.push(user);
                    }
                }
            }
        }
    }

    /// An instruction with all that it needs and that is not there; `None` if that is much, or not free to move.
    fn group(&self, wanted: Place) -> Option<Vec<Place>> {
        let (mut group, mut open) = (vec![], vec![wanted]);
        while let Some(i) = open.pop() {
            let at = i as usize;
            if self.done[at] || group.contains(&i) {
                continue;
            }
            if group.len() == MOST_GATHERED || !matches!(self.s.kinds[at], Kind::Free | Kind::Part) {
                return None;
            }
            group.push(i);
            open.extend(self.s.operands[at].iter().chain(&self.s.after[at]));
        }
        (!group.is_empty()).then_some(group)
    }

    /// Whether a group ends more registers' values than it begins.
    fn frees_more(&self, group: &[Place]) -> bool {
        let s = self.s;
        let users_here = |d: Place| group.iter().filter(|&&i| s.operands[i as usize].contains(&d)).count() as u32;
        let mut read: Vec<Place> = group.iter().flat_map(|&i| s.operands[i as usize].iter().copied()).collect();
        read.sort_unstable();
        read.dedup();
        let ends = |d: Place| !s.leaves[d as usize] && self.live.left[d as usize] == users_here(d);
        let weight = |d: Place| s.weights[d as usize];
        let freed: u32 = read.iter().filter(|&&d| self.done[d as usize] && ends(d)).map(|&d| weight(d)).sum();
        let made: u32 = group.iter().filter(|&&i| !ends(i)).map(|&i| weight(i)).sum();
        freed > made
    }

    /// All that nothing has asked for comes last.
    fn finish(mut self) -> Vec<Place> {
        for i in (0..self.s.kinds.len() as Place).filter(|&i| self.s.moves(i)) {
            self.demand(i, Then::Nothing);
        }
        self.order
    }
}
