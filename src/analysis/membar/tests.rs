//! The analysis against a simulation, over the kernels of `tests/lit/passes/membar.mlir`: as inserted, no path has a
//! race; without any one of the barriers, some path has.
//!
//! The simulation knows nothing of segments and states. It follows paths (loops run three times, branches go every
//! way), keeps what every other thread may still be doing, and compares each access with that. What is in flight stays
//! in flight across barriers until it is waited for.

use super::super::allocation::{self, Allocation};
use super::super::shared_effects::{BufferAccess, Event, Flight, events};
use super::*;
use crate::ir::core::{Attr, Block, Builder};
use crate::ir::dialects::{CfOp, OpKind, ScfOp, TtgOp};
use crate::ir::text::parser::{ParseOptions, parse_module};
use crate::source::SourceMap;
use crate::target::Target;

const KERNELS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lit/passes/membar.mlir"));
const MAX_STEPS: usize = 2000;

fn target() -> Target {
    Target::usual()
}

fn kernels() -> Ir {
    let mut sources = SourceMap::default();
    let file = sources.add("membar.mlir", None, KERNELS);
    parse_module(&sources, file, &ParseOptions::default()).unwrap()
}

/// One path through a function.
struct Path<'a> {
    ir: &'a Ir,
    allocation: &'a Allocation,
    /// Which way each branch goes, lowest bit first.
    choices: u32,
    steps: usize,
    pending: Vec<Pending>,
    in_flight: Vec<(Flight, BufferAccess)>,
    races: usize,
}

impl Path<'_> {
    fn choose(&mut self) -> bool {
        let way = self.choices & 1 == 1;
        self.choices >>= 1;
        way
    }

    fn touch(&mut self, access: &BufferAccess) {
        let under_way = self.in_flight.iter().filter(|f| f.1.conflicts(access));
        self.races += self.pending.iter().filter(|p| p.conflicts(access)).count() + under_way.count();
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Access(access) => {
                self.touch(&access);
                self.pending.push(Pending::new(access));
            }
            Event::InFlight(flight, access) => {
                self.touch(&access);
                self.in_flight.push((flight, access));
            }
            Event::Signalled(access) => self.touch(&access),
            Event::Complete { flight, left } => {
                assert!(left == 0, "the simulation does not count groups");
                let (done, rest) = std::mem::take(&mut self.in_flight).into_iter().partition(|f| f.0 == flight);
                self.in_flight = rest;
                self.pending.extend(Vec::into_iter(done).map(|f| Pending::new(f.1)));
            }
            Event::Barrier | Event::ClusterBarrier => self.pending.clear(),
            // The kernels arrive at one mbarrier each time, and wait there.
            Event::Leave { start, end, blocks } => self.pending.iter_mut().for_each(|p| {
                p.left.insert((start, end, blocks));
            }),
            Event::Enter { start, end } => {
                let all = self.pending.iter_mut().filter(|p| p.left.contains(&(start, end, 0)));
                all.for_each(|p| p.before_first_warp = Some(0));
            }
            Event::Meeting | Event::Release | Event::Reach => panic!("there are no clusters"),
            Event::End => {}
        }
    }

    fn block(&mut self, mut block: Block) {
        loop {
            let mut next = None;
            for op in self.ir.op_list(block) {
                self.steps += 1;
                if self.steps > MAX_STEPS {
                    return;
                }
                next = self.op(op);
            }
            match next {
                Some(successor) => block = successor,
                None => return,
            }
        }
    }

    /// Runs one operation; gives the block that a branch goes to.
    fn op(&mut self, op: Op) -> Option<Block> {
        for event in events(self.ir, op, self.allocation, false) {
            self.happen(event);
        }
        match self.ir.kind(op) {
            OpKind::Scf(ScfOp::For) => (0..3).for_each(|_| self.block(self.ir.body(op, 0).unwrap())),
            OpKind::Scf(ScfOp::If) => {
                let region = usize::from(self.choose());
                if let Some(body) = self.ir.body(op, region) {
                    self.block(body);
                }
            }
            OpKind::Cf(CfOp::Br) => return self.ir.successors(op).first().copied(),
            OpKind::Cf(CfOp::CondBr) => return self.ir.successors(op).get(usize::from(self.choose())).copied(),
            _ => {}
        }
        None
    }
}

/// Races over all paths.
fn races(ir: &Ir, func: Op, allocation: &Allocation) -> usize {
    (0..16)
        .map(|choices| {
            let mut path = Path { ir, allocation, choices, steps: 0, pending: vec![], in_flight: vec![], races: 0 };
            path.block(ir.body(func, 0).unwrap());
            path.races
        })
        .sum()
}

/// Inserts what the analysis asks for; gives the barriers.
fn insert(ir: &mut Ir, func: Op, allocation: &Allocation) -> Vec<Op> {
    let needed = Membar::new(ir, func, allocation, false, Among::Block).barriers();
    needed
        .into_iter()
        .map(|op| {
            let mut b = Builder::before(ir, op);
            let state = b.state(TtgOp::Barrier).attr("addrSpace", Attr::i32(1));
            b.insert(state)
        })
        .collect()
}

#[test]
fn no_path_has_a_race_and_every_barrier_is_needed() {
    let mut ir = kernels();
    let mut inserted = 0;
    for func in ir.functions() {
        let name = ir.str_attr(func, "sym_name").unwrap_or_default();
        let allocation = allocation::of_module(&ir, &target()).unwrap().remove(&func).unwrap();
        assert!(races(&ir, func, &allocation) > 0, "@{name} would be right without barriers and tests nothing");
        let barriers = insert(&mut ir, func, &allocation);
        assert_eq!(races(&ir, func, &allocation), 0, "@{name}");
        for barrier in barriers {
            let anchor = ir.next_op(barrier).unwrap();
            ir.detach(barrier);
            assert!(
                races(&ir, func, &allocation) > 0,
                "@{name}: the barrier before {} is not needed",
                ir.op_name(anchor)
            );
            ir.insert_before(anchor, barrier);
            inserted += 1;
        }
    }
    assert!(inserted >= 10, "only {inserted} barriers were tried");
}

#[test]
fn a_single_warp_waits_for_its_own_reads_too() {
    let ir = kernels();
    let func = ir.function("scratch").unwrap();
    let allocation = allocation::of_module(&ir, &target()).unwrap().remove(&func).unwrap();
    let membar = Membar::new(&ir, func, &allocation, true, Among::Block);
    // The protocol of the first conversion ends with reads, which the second one's writes must still wait for.
    assert_eq!(membar.barriers().len(), 1);
    assert!(!membar.is_safe(&BTreeSet::new()));
}

/// What step 5 keeps when each barrier is tried with a look at all of the function.
fn kept_by_looking_at_everything(membar: &Membar, mut chosen: BTreeSet<Op>) -> BTreeSet<Op> {
    let order: Vec<Op> =
        membar.happening.iter().flatten().map(|(op, _)| *op).filter(|op| chosen.contains(op)).collect();
    for op in order {
        chosen.remove(&op);
        if !membar.is_safe(&chosen) {
            chosen.insert(op);
        }
    }
    chosen
}

#[test]
fn barriers_are_dropped_as_if_all_of_the_function_were_looked_at() {
    let ir = kernels();
    let mut dropped = 0;
    for (func, allocation) in allocation::of_module(&ir, &target()).unwrap() {
        let membar = Membar::new(&ir, func, &allocation, false, Among::Block);
        // A barrier before every operation that touches shared memory; the needed ones and every second, or every
        // third.
        let all: Vec<Op> = membar.happening.iter().flatten().map(|(op, _)| *op).collect();
        let needed = membar.barriers();
        for step in 1..=3 {
            let start: BTreeSet<Op> = needed.iter().chain(all.iter().step_by(step)).copied().collect();
            let mut kept = start.clone();
            membar.drop_needless(&mut kept);
            dropped += start.len() - kept.len();
            assert_eq!(kept, kept_by_looking_at_everything(&membar, start), "{:?}", ir.str_attr(func, "sym_name"));
        }
    }
    assert!(dropped > 30, "{dropped} barriers were dropped");
}
