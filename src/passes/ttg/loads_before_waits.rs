//! `ttc-loads-before-waits`: small loads go in front of what the warps wait for.
//!
//! A reduction ends in a barrier, and a pipelined loop waits for its copies. No assembler moves a load across either,
//! so a load behind them has its latency added to theirs, in every iteration of a loop. In front of them the two
//! overlap, for the price of the registers that the loaded elements take until they are used.
//!
//! # Algorithm
//!
//! In the body of each `scf.for` without instructions of Hopper's or Blackwell's own, whose order is chosen, and of
//! each function and branch:
//!
//! 1. A *stretch* begins where the body begins and behind each operation that writes global memory, or may. Outside of
//!    loops, it ends at a loop or branch too, and at an instruction of Hopper's or Blackwell's own.
//! 2. The first operation of a stretch that waits is its *wait*: a reduction, a scan, a conversion between layouts, or
//!    what completes copies or products.
//! 3. A load behind the wait and in the same stretch moves in front of it, with all that it needs, unless that needs
//!    something that cannot move: the result of the wait, of another load or of any operation with an effect. Loads
//!    move as long as [`MOST`] registers of a thread hold what they load, and outside of loops, where little is gained
//!    by each, [`ROOM`] with the most that the tiles of the body take at once ([`pressure`]).
//! 4. A scan takes longest: a shuffle for each step of each value, one after the other. If it is the wait, larger loads
//!    move too, up to [`MOST_OF_SCAN`] registers, and [`ROOM`] with all tiles that are alive over it.
//!
//! What waits has a barrier in it, by which one thread sees what another one wrote before. So a load stays if the
//! kernel writes the memory of the same parameter anywhere, and so do all loads of a kernel that may wait for what
//! others write meanwhile ([`touched::may_wait`]).

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::register_use::RegisterUse;
use crate::analysis::tile_pressure::pressure;
use crate::analysis::touched::{self, Written};
use crate::ir::core::{Block, Ir, Op};
use crate::ir::dialects::memory::{Flight, Order};
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{OpKind, ScfOp, TtOp};
use crate::passes::common::ahead::{exchanges, may_write_global, needed, registers};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-loads-before-waits",
    doc: "let small loads overlap with what its warps wait for",
    input: Input::Ttgir,
    options: &[],
    run,
};

/// Registers of a thread that hold what the loads that move load.
const MOST: usize = 16;
/// Registers of a thread that hold what larger loads in front of a scan load. A kernel whose loop waits for three scans
/// went from 74.5 to 58.1 us on an H200 with 64.
const MOST_OF_SCAN: usize = 64;
/// Registers of a thread that hold tiles over a scan, with those of larger loads.
const ROOM: usize = 128;

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let has_bodies = |&op: &Op| ir.is(op, TtOp::Func) || ir.is(op, ScfOp::For) || ir.is(op, ScfOp::If);
    let around = ir.all_ops(ir.module()).into_iter().filter(has_bodies);
    let bodies = around.flat_map(|op| ir.regions_of(op).iter().flat_map(|&region| ir.blocks_of(region)).copied());
    let bodies: Vec<Block> = bodies.filter(|&body| has_candidates(ir, body)).collect();
    if bodies.is_empty() || touched::may_wait(ir) {
        return Ok(Changed::No);
    }
    let written = touched::written(ir);
    let mut changed = false;
    for body in bodies {
        changed |= hoist(ir, body, &written);
    }
    Ok(Changed::from(changed))
}

/// Whether a load may stand behind what waits, and the order of the body is not chosen yet.
fn has_candidates(ir: &Ir, body: Block) -> bool {
    let any = |is: &dyn Fn(Op) -> bool| ir.ops(body).any(is);
    let is_chosen = is_loop(ir, body) && any(&|op| is_special(ir, op));
    any(&|op| waits(ir, op)) && any(&|op| ir.is(op, TtOp::Load)) && !is_chosen
}

fn is_loop(ir: &Ir, body: Block) -> bool {
    ir.block_op(body).is_some_and(|op| ir.is(op, ScfOp::For))
}

/// Whether it is an instruction of Hopper's or Blackwell's own.
fn is_special(ir: &Ir, op: Op) -> bool {
    matches!(ir.kind(op), OpKind::Ttng(_))
}

fn hoist(ir: &mut Ir, body: Block, written: &Written) -> bool {
    let ops: Vec<Op> = ir.ops(body).collect();
    let places: BTreeMap<Op, usize> = ops.iter().copied().zip(0..).collect();
    let is_loop = is_loop(ir, body);
    let mut wait: Option<usize> = None;
    let mut moved: BTreeSet<Op> = BTreeSet::new();
    // Of small loads and of larger ones.
    let (mut held, mut held_large) = (0, 0);
    let mut room = None;
    let most = if is_loop { MOST } else { MOST.min(ROOM.saturating_sub(pressure(ir, body, 0).peak as usize)) };
    for (at, &op) in ops.iter().enumerate() {
        let starts = waits(ir, op);
        let ends = !is_loop && !starts && (!ir.regions_of(op).is_empty() || is_special(ir, op));
        if ends || !starts && may_write_global(ir, op) {
            wait = None;
        } else if wait.is_none() && starts {
            (wait, room) = (Some(at), None);
        }
        let Some((first, load)) = wait.zip(tt::Load::of(ir, op)).filter(|(_, load)| !written.has(load.ptr(ir))) else {
            continue;
        };
        let loaded = registers(ir.ty(load.result(ir)));
        let (held, most) = if loaded <= MOST {
            (&mut held, most)
        } else {
            (&mut held_large, *room.get_or_insert_with(|| over_scan(ir, ops[first])))
        };
        if *held + loaded > most {
            continue;
        }
        let is_behind = |op| places.get(&op).is_some_and(|&place| place >= first) && !moved.contains(&op);
        let Some(needed) = needed(ir, op, is_behind) else { continue };
        *held += loaded;
        for &op in ops[first..=at].iter().filter(|&&o| o == op || needed.contains(&o)) {
            ir.move_before(op, ops[first]);
            moved.insert(op);
        }
    }
    !moved.is_empty()
}

/// The registers that may hold what larger loads in front of a wait load: none if it is no scan.
fn over_scan(ir: &Ir, wait: Op) -> usize {
    let func = std::iter::successors(Some(wait), |&op| ir.parent_op(op)).find(|&op| ir.is(op, TtOp::Func));
    let Some(func) = func.filter(|_| ir.is(wait, TtOp::Scan)) else { return 0 };
    MOST_OF_SCAN.min(ROOM.saturating_sub(RegisterUse::new(ir, func).across(wait) as usize))
}

fn waits(ir: &Ir, op: Op) -> bool {
    exchanges(ir, op) || matches!(ir.spec(op).order, Order::Completes(Flight::Copy | Flight::Product, _))
}
