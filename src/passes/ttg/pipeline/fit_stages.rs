//! Other stages than asked for: fewer where a second block fits on a multiprocessor then, and three for two in chains
//! of products.
//!
//! More slots hide more of memory's latency, but a block that fills shared memory is alone on its multiprocessor: while
//! it starts, and while it stores its results, nobody multiplies. Two blocks with three slots each do better than one
//! with four. On an H200, a product of 4096x4096x4096 by tiles of 128x128x64 takes 0.207 instead of 0.220 ms, one of
//! 4096x4096x512 0.037 instead of 0.045 (docs/performance.md).
//!
//! # Model
//!
//! Of a loop that is in no other one, and whose products read their operands from shared memory. A loop over tiles and
//! K keeps its stages: its programs are started once, one a multiprocessor, and go from tile to tile. By three stages
//! instead of four, tiles of 128x128x64 took 1.3 times as long. So does a loop that was written as one, which stores
//! the results of a tile under a condition.
//!
//! 1. A stage takes the bytes of the loads that are started ahead; what is allocated outside of the loop comes on top.
//! 2. A thread takes the registers of the products' results, and [`OTHER_REGISTERS`].
//! 3. If one block fits with the stages that were asked for, and two with fewer, but at least [`LEAST`], the loop gets
//!    the most stages with which two fit. With two stages, copies and products that run on would wait for each other.
//! 4. If two are asked for where one of two products waits for the other and hardware makes all copies, the loop gets
//!    three if as many blocks fit: only then can the first product of the next iteration run beside the last one
//!    (`ttc-rotate-chains`). Attention with a head of 128 by 128x128 went from 1.07 to 1.59 of Triton's speed.

use std::collections::BTreeSet;

use crate::analysis::chained_products;
use crate::ir::core::{Ir, Op, TypeData, Value};
use crate::ir::dialects::scf::scf::For;
use crate::ir::dialects::{ArithOp, ScfOp, TtOp, TtgOp};
use crate::layout;
use crate::passes::ttg::module_attrs;
use crate::target::Target;

/// Registers of a thread that are no results of products: addresses, counters, what moves between memory and the
/// tensor cores. 32 to 90 in the products that were measured.
pub(crate) const OTHER_REGISTERS: usize = 64;
/// The fewest stages that are chosen.
pub(crate) const LEAST: i64 = 3;

/// The stages that a loop gets: `asked`, or fewer. `loads` are those that are started ahead.
pub(super) fn fitting(ir: &Ir, looped: Op, loads: &[Op], asked: i64) -> i64 {
    let nested = std::iter::successors(ir.parent_op(looped), |&o| ir.parent_op(o)).any(|o| ir.is(o, ScfOp::For));
    let (Some(target), Some(threads)) = (module_attrs::target(ir), module_attrs::threads(ir)) else { return asked };
    if nested || threads.num_ctas != 1 || counts_tiles(ir, For(looped).upper(ir)) || stores(ir, looped) {
        return asked;
    }
    let products: Vec<Op> = ir.all_ops(looped).into_iter().filter(|&op| ir.kind(op).is_product()).collect();
    let from_shared = |&op: &Op| ir.operands(op).get(1).is_some_and(|&b| matches!(*ir.ty(b), TypeData::MemDesc(_)));
    if products.is_empty() || !products.iter().all(from_shared) {
        return asked;
    }
    let others = allocated(ir, looped);
    let stage: i64 = loads.iter().map(|&load| bytes(ir, load)).sum();
    let blocks = |stages: i64| (1..=2).rev().find(|&blocks| stages * stage + others <= room(&target, blocks));
    if asked + 1 == LEAST && is_chain(ir, looped, loads, threads.num_warps) && blocks(LEAST).is_some() {
        return if blocks(LEAST) == blocks(asked) { LEAST } else { asked };
    }
    let registers: usize =
        products.iter().flat_map(|&op| ir.results(op)).map(|&r| layout::elems_per_thread(ir.ty(r))).sum();
    let registers = (registers + OTHER_REGISTERS) * (threads.num_warps * threads.threads_per_warp) as usize;
    if 2 * registers > Target::REGISTERS_PER_MULTIPROCESSOR as usize {
        return asked;
    }
    if blocks(asked) == Some(2) {
        return asked;
    }
    (LEAST..asked).rev().find(|&stages| blocks(stages) == Some(2)).unwrap_or(asked)
}

/// The bytes of shared memory that each of so many blocks may have.
fn room(target: &Target, blocks: u32) -> i64 {
    i64::from(target.shared.bytes_each(blocks))
}

/// The bytes of what a loop's function allocates outside of it.
fn allocated(ir: &Ir, looped: Op) -> i64 {
    let function = std::iter::successors(ir.parent_op(looped), |&o| ir.parent_op(o))
        .find(|&o| ir.parent_op(o) == Some(ir.module()));
    let outside = function.map_or(vec![], |f| ir.all_ops(f));
    let outside = outside.into_iter().filter(|&op| ir.is(op, TtgOp::LocalAlloc) && !ir.is_ancestor(looped, op));
    outside.map(|op| bytes(ir, op)).sum()
}

/// Whether a loop is one product that waits for another, and all copies are the hardware's.
fn is_chain(ir: &Ir, looped: Op, loads: &[Op], warps: u32) -> bool {
    chained_products::is_chain_of_two(ir, looped, warps) && loads.iter().all(|&load| ir.kind(load).is_descriptor_load())
}

/// Whether `tritongpu-fuse-nested-loops` made the loop that ends here of one over the tiles of a program: their number
/// is what lies between the program's first tile and the last one, divided by the programs and rounded up.
fn counts_tiles(ir: &Ir, upper: Value) -> bool {
    let divides = |op: &Op| ir.is(*op, ArithOp::Ceildivsi);
    let asks = |op: &Op| ir.is(*op, TtOp::GetProgramId) || ir.is(*op, TtOp::GetNumPrograms);
    behind(ir, upper).iter().filter(|op| divides(op)).any(|&op| behind(ir, ir.result(op)).iter().any(asks))
}

/// Whether a loop stores results itself, now and then: it was written as one over tiles and K.
fn stores(ir: &Ir, looped: Op) -> bool {
    ir.all_ops(looped).into_iter().any(|op| {
        let stores = ir.is(op, TtOp::Store) || ir.is(op, TtOp::DescriptorStore);
        stores
            && std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o))
                .take_while(|&o| o != looped)
                .any(|o| ir.is(o, ScfOp::If))
    })
}

/// The operations that a value is computed by.
fn behind(ir: &Ir, value: Value) -> BTreeSet<Op> {
    let (mut open, mut seen) = (vec![value], BTreeSet::new());
    while let Some(value) = open.pop() {
        if let Some(op) = ir.def_op(value).filter(|&op| seen.insert(op)) {
            open.extend(ir.operands(op));
        }
    }
    seen
}

/// The bytes of an operation's result, without what its layout pads.
pub(crate) fn bytes(ir: &Ir, op: Op) -> i64 {
    let ty = ir.ty(ir.result(op));
    ty.num_elements() * i64::from(ty.elem().bit_width().unwrap_or(64).div_ceil(8))
}
