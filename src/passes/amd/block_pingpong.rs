//! `tritonamdgpu-block-pingpong`: two warps of one SIMD unit take turns at matrix instructions and at memory.
//!
//! A loop of a product is cut into clusters of one kind, and a warp in a product has priority, so that the other one
//! finds the time for its loads. `rocdl.sched.barrier` keeps LLVM from mixing the clusters again.
//!
//! # Algorithm
//!
//! Of each pipelined loop with one `tt.dot` by `mfma` ([`loops`]): its operands come from two `ttg.local_load`s of
//! buffers that the loop carries, and two `tt.load`s fill these. Nothing else in the loop touches memory, but for what
//! stands in branches of a persistent kernel. By the bits that an iteration multiplies, M·N·K·width, and the number of
//! warps:
//!
//! | warps | tile | clusters |
//! |---|---|---|
//! | 4 | from 2¹⁸ to 2²⁴ | one: the other warp is one of another block, and needs no barrier |
//! | 8 | 2²⁵ | two: K is halved |
//! | 8 | from 2²⁶ | four: K is quartered, as the registers do not hold all of the operands at once |
//!
//! With 8 warps half of the block starts later, by a barrier that only those wait at (`amdg.cond_barrier`), so that
//! each barrier in the loop finds one half behind a product and the other behind its loads. The halves meet behind the
//! loop.
//!
//! ```text
//! tt.load %p; tt.load %q; ttg.local_load %x; ttg.local_load %y; tt.dot …
//! → ttg.local_load %x; setprio 1; tt.load %p; sched.barrier; ttg.local_load %y; setprio 0; tt.load %q;
//!   sched.barrier; setprio 1; tt.dot …; setprio 0
//! ```

mod loops;
mod moves;
mod slices;

use loops::Found;
use moves::Mover;

use crate::ir::core::encoding::AmdMfma;
use crate::ir::core::{Builder, Encoding, Ir, Op, Type};
use crate::ir::dialects::amdg::amdg::CondBarrier;
use crate::ir::dialects::amdg::rocdl::WorkitemIdX;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, ScfOp};
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::ttg::module_attrs;

pub static PASS: Pass = Pass {
    name: "tritonamdgpu-block-pingpong",
    doc: "let two warps of a SIMD unit take turns at matrix instructions and memory",
    input: Input::Ttgir,
    options: &[OptionSpec {
        name: NUM_STAGES,
        kind: OptionKind::Int,
        default: "2",
        doc: "stages that the loops were pipelined with",
    }],
    run,
};

pub const NUM_STAGES: &str = "num-stages";

/// Bits that an iteration multiplies: of the smallest tile worth it, and of those that fit into one, two and four
/// clusters. 128×128×64 of 16 bits is `SMALL`.
const LEAST: i64 = 1 << 18;
const SMALL: i64 = 1 << 24;
const MEDIUM: i64 = 1 << 25;
const LARGE: i64 = 1 << 26;

/// Threads of the half of a block that starts first.
const FIRST_HALF: i64 = 256;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Clusters {
    One,
    Two,
    Four,
}

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let stages = cx.int(NUM_STAGES);
    if stages <= 1 {
        return Ok(Changed::No);
    }
    let mut changed = false;
    let found: Vec<Op> = ir.all_ops_post(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For)).collect();
    for looped in found {
        let Some(found) = Found::of(ir, looped) else { continue };
        let Some(clusters) = clusters(ir, &found, stages) else { continue };
        changed |= match clusters {
            Clusters::One => {
                one(ir, &found);
                true
            }
            Clusters::Two | Clusters::Four => several(ir, &found, clusters).is_some(),
        };
    }
    Ok(Changed::from(changed))
}

/// How a loop is cut; `None` to leave it.
fn clusters(ir: &Ir, found: &Found, stages: i64) -> Option<Clusters> {
    let dot = tt::Dot(found.dot);
    let (a, d) = (ir.ty(dot.a(ir)), ir.ty(dot.d(ir)));
    let Some(Encoding::AmdMfma(AmdMfma { instr_shape, .. })) = d.layout() else { return None };
    let Some(Encoding::DotOp { k_width, .. }) = a.layout() else { return None };
    let &[m, n] = d.shape() else { return None };
    let tile = m * n * a.shape()[1] * i64::from(a.elem().bit_width()?);
    match module_attrs::num_warps_at(ir, found.looped)? {
        4 => (LEAST..=SMALL).contains(&tile).then_some(Clusters::One),
        8 if stages == 2 && found.local_stores.len() == 2 => {
            // Four clusters of this shape are known not to fit into the registers.
            let spills = instr_shape.starts_with(&[16, 16]) && *k_width == 8;
            match tile {
                MEDIUM => Some(Clusters::Two),
                LARGE.. if !spills => Some(Clusters::Four),
                _ => None,
            }
        }
        _ => None,
    }
}

/// One cluster of memory, interleaved, and one of the product.
fn one(ir: &mut Ir, found: &Found) {
    let mut mover = Mover::behind(ir, found.looped, ir.prev_op(found.dot).unwrap_or(found.dot));
    let before_dot = mover.sched_barrier(1);
    mover.at = found.local_loads[0];
    mover.set_priority(true);
    mover.up(found.global_loads[0]);
    mover.sched_barrier(0);
    mover.up(found.local_loads[1]);
    mover.set_priority(false);
    mover.up(found.global_loads[1]);
    mover.at = before_dot;
    mover.with_priority(found.dot);
}

/// Two or four clusters of memory, and as many of the product.
fn several(ir: &mut Ir, found: &Found, clusters: Clusters) -> Option<()> {
    let count = if clusters == Clusters::Two { 2 } else { 4 };
    let slices = slices::of(ir, found, count)?;
    let [first, second] = [found.global_loads[0], found.global_loads[1]];
    let mut mover = Mover::behind(ir, found.looped, second);
    if clusters == Clusters::Two {
        mover.slice(&slices, 0);
        mover.sched_barrier(0);
        mover.append(first);
        mover.sched_barrier(0);
        mover.slice(&slices, 1);
        mover.sched_barrier(0);
        mover.append(second);
        mover.warp_barrier();
        mover.sched_barrier(0);
        mover.with_priority(slices.dots[0]);
        mover.cluster_barrier();
    } else {
        mover.slice(&slices, 0);
        mover.cluster_barrier();
        mover.with_priority(slices.dots[0]);
        mover.cluster_barrier();
        mover.append(second);
        mover.slice(&slices, 1);
        mover.cluster_barrier();
        mover.with_priority(slices.dots[1]);
        mover.cluster_barrier();
        mover.slice(&slices, 2);
        mover.slice(&slices, 3);
        mover.cluster_barrier();
        mover.with_priority(slices.dots[2]);
        mover.cluster_barrier();
    }
    // What a persistent kernel does with the result stays behind the stores.
    mover.up(found.local_stores[0]);
    mover.up(found.local_stores[1]);
    mover.cluster_barrier();
    mover.with_priority(*slices.dots.last()?);
    let end = ir.body(found.looped, 0).and_then(|body| ir.terminator(body))?;
    let last = ir.prev_op(end)?;
    Mover::behind(ir, found.looped, last).cluster_barrier();
    start_halves_apart(ir, found.looped);
    Some(())
}

/// Half of the warps wait in front of the loop until the others are at its first barrier; these wait behind it.
fn start_halves_apart(ir: &mut Ir, looped: Op) {
    let loc = ir.loc(looped);
    let mut b = Builder::before(ir, looped);
    b.insert(moves::barrier_state(loc));
    let thread = b.result(WorkitemIdX::state(loc), Type::int(32));
    let (zero, half) = (b.i32(0), b.i32(FIRST_HALF));
    let which = b.value(ArithOp::Divsi, &[thread, half], Type::int(32));
    let first = b.cmpi(CmpiPredicate::Eq, which, zero);
    let second = b.cmpi(CmpiPredicate::Ne, which, zero);
    b.insert(CondBarrier::state(loc, second));
    Builder::after(ir, looped).insert(CondBarrier::state(loc, first));
}
