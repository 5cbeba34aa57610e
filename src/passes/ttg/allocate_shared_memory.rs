//! `allocate-shared-memory-nv`: gives every operation that needs shared memory its offset.
//!
//! # Algorithm
//!
//! 1. The analysis ([`crate::analysis::allocation`]) places the buffers of every function. It is a part of what the
//!    preparation computes once ([`crate::analysis::prepared`]).
//! 2. Where a block is alone on its multiprocessor for want of memory, conversions that take much of it are to be
//!    sparing, if two blocks fit then. That costs them barriers. The same where not even one block fits.
//! 3. A conversion in repetitions has to load all of one before the next begins. Where a thread gets more words than it
//!    has registers to spare, that spills them; such a conversion has all elements in memory at once, if that costs no
//!    block. Then a load can stand where its value is used. Example: rows of 64x128 floats that 16 threads each want
//!    whole are 1,024 words in a thread.
//! 4. Each owner's offset is noted as `allocation.offset`; the most that any function needs is the module's
//!    `ttg.shared`.
//!
//! Example: `%a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<…>`.

use crate::analysis::exchange::ExchangePlan;
use crate::analysis::prepared::{Prepared, PreparedFunction};
use crate::diag::codes::passes as codes;
use crate::ir::TtgOp;
use crate::ir::core::{Ir, Op};
use crate::ir::dialects::discardable::{AT_ONCE, OFFSET, SHARED, SPARING};
use crate::ir::dialects::ttg::ttg::ConvertLayout;
use crate::layout::plan::{Among, ConversionPlan};
use crate::layout::words_per_thread;
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::ttg::module_attrs;
use crate::passes::ttg::pipeline::fit_stages::bytes;
use crate::target::Target;

/// The option that says what a module is compiled for.
pub const CAPABILITY: OptionSpec = OptionSpec {
    name: "compute-capability",
    kind: OptionKind::Int,
    default: "80",
    doc: "what the module is compiled for, where it does not say",
};

/// The bytes from which on a conversion's memory is worth barriers.
const LARGE: u32 = 16 << 10;

/// The words of a conversion's result in a thread from which on its other values find no registers: half of all.
const CROWDED: usize = 128;

/// How many warps of threads with more registers than that a multiprocessor has room for.
const CROWDED_WARPS: u32 = 16;

pub static PASS: Pass = Pass {
    name: "allocate-shared-memory-nv",
    doc: "give operations their offsets in shared memory",
    input: Input::Ttgir,
    options: &[CAPABILITY],
    run,
};

/// What the module is compiled for.
///
/// # Errors
/// When the option names no GPU, and the module does not say.
pub fn target(ir: &Ir, cx: &mut PassCx) -> Result<Target, Failed> {
    let option = cx.int(CAPABILITY.name);
    module_attrs::target(ir).or_else(|| Target::of_module_word(&format!("cuda:{option}"))).ok_or_else(|| {
        let text = format!("option '{}' takes the number of a GPU, such as 90; {option} is none", CAPABILITY.name);
        cx.fail(&codes::BAD_OPTION, ir.loc(ir.module()), text)
    })
}

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let target = target(ir, cx)?;
    let mut prepared = cx.prepared(ir, &target)?;
    if let Some(sparing) = sparing(ir, &prepared, &target) {
        prepared = sparing;
    }
    if let Some(at_once) = at_once(ir, &prepared, &target) {
        prepared = at_once;
    }
    for PreparedFunction { allocation, .. } in prepared.functions.values() {
        for buffer in &allocation.buffers {
            ir.put(buffer.owner, OFFSET, i64::from(buffer.offset));
        }
    }
    let module = ir.module();
    ir.put(module, SHARED, i64::from(total(&prepared)));
    cx.keep(prepared);
    Ok(Changed::Yes)
}

/// The bytes that a block needs more than it can have, in TTGIR as its passes leave it.
#[must_use]
pub fn excess(ir: &Ir, target: &Target) -> Option<u32> {
    let allocs = ir.all_ops(ir.module()).into_iter().filter(|&op| ir.is(op, TtgOp::LocalAlloc));
    let bytes: i64 = allocs.map(|op| bytes(ir, op)).sum();
    // What a block has besides is small beside the slots of a loop, so most modules need no closer look.
    if bytes * 2 <= i64::from(target.shared.bytes) {
        return None;
    }
    let mut ir = ir.clone();
    let mut prepared = Prepared::new(&ir, target).ok()?;
    if let Some(sparing) = sparing(&mut ir, &prepared, target) {
        prepared = sparing;
    }
    total(&prepared).checked_sub(target.shared.bytes).filter(|&excess| excess > 0)
}

/// The most that any function needs.
fn total(prepared: &Prepared) -> u32 {
    prepared.functions.values().map(|f| f.allocation.total).max().unwrap_or(0)
}

/// Makes large conversions sparing, if that lets a second block fit.
fn sparing(ir: &mut Ir, now: &Prepared, target: &Target) -> Option<Prepared> {
    let total_now = total(now);
    let room = [target.shared.bytes, target.shared.bytes_each(2)].into_iter().find(|&room| total_now > room)?;
    let buffers = now.functions.values().flat_map(|f| &f.allocation.buffers);
    let large = buffers.filter(|b| b.bytes >= LARGE && ir.is(b.owner, TtgOp::ConvertLayout));
    let large: Vec<Op> = large.map(|b| b.owner).collect();
    if large.is_empty() {
        return None;
    }
    large.iter().for_each(|&op| ir.put(op, SPARING, true));
    let made = Prepared::new(ir, target).ok().filter(|made| total(made) <= room);
    if made.is_none() {
        large.iter().for_each(|&op| ir.put(op, SPARING, false));
    }
    made
}

/// Has conversions hold all elements at once whose results crowd a thread's registers, if that costs no block.
fn at_once(ir: &mut Ir, now: &Prepared, target: &Target) -> Option<Prepared> {
    let warps = module_attrs::num_warps_at(ir, ir.module())?;
    let room = total(now).max(target.shared.bytes_each((CROWDED_WARPS / warps).max(1)));
    let crowding = |f: &PreparedFunction| {
        let owners = f.allocation.buffers.iter().map(|b| b.owner);
        owners.filter(|&op| crowds(ir, op, f)).collect::<Vec<_>>()
    };
    let crowding: Vec<Op> = now.functions.values().flat_map(crowding).collect();
    if crowding.is_empty() {
        return None;
    }
    crowding.iter().for_each(|&op| ir.put(op, AT_ONCE, true));
    let made = Prepared::new(ir, target).ok().filter(|made| total(made) <= room);
    if made.is_none() {
        crowding.iter().for_each(|&op| ir.put(op, AT_ONCE, false));
    }
    made
}

/// Whether an operation converts in several repetitions what then takes too many registers. One whose source has as
/// many words frees those on the way.
fn crowds(ir: &Ir, op: Op, function: &PreparedFunction) -> bool {
    let Some(Ok(ExchangePlan::Conversion(ConversionPlan::Shared(plan)))) = function.allocation.plan(op) else {
        return false;
    };
    let Some(convert) = ConvertLayout::of(ir, op).filter(|_| !ir.stores(op, SPARING)) else { return false };
    let [source, result] = [convert.src(ir), convert.result(ir)].map(|value| words_per_thread(ir.ty(value)));
    plan.repetitions() > 1 && plan.among() != Among::Cluster && result > CROWDED.max(source)
}
