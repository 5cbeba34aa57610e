//! `tritongpu-fuse-nested-loops`: a loop over tiles with a loop over K inside becomes one loop, which the pipeliner can
//! keep busy across tiles.
//!
//! In a nest, the pipeline of the inner loop is filled and drained for each iteration of the outer one. In one loop,
//! the copies for the next tile start while the last products of this one run, and this tile is stored meanwhile.
//!
//! # Algorithm
//!
//! 1. Find the nests: each `scf.for`, with the loops directly in its body, and so on. Any other operation with regions
//!    starts anew inside.
//! 2. A nest is fused if the outer loop has `ttg.always-fuse` (which is for tests), or if it has `tt.flatten`
//!    (`tl.range(…, flatten=True)`) and there is one loop inside, with none inside that.
//! 3. With `tt.flatten` the nest is prepared ([`prepare`]): invariant operations move out, what only the operations
//!    behind the inner loop need moves behind it, and the inner loop is made one that runs at least once, by a copy of
//!    the outer loop without it for the other case.
//! 4. Children first, the loops in each loop's body are fused with it ([`fuse`]), those whose bounds are known in front
//!    of the outer loop, or computable from its induction variable ([`bounds`]).
//!
//! ```text
//! for i in …:                          t = 0
//!   prologue(i)                        for _ in range(trips(i) * n):           # n = max(1, trips(j))
//!   for j in …:                          if t == 0: prologue(i); j = start
//!     body(i, j)                    →    if t < trips(j): body(i, j); j += step
//!   epilogue(i)                          if t == n - 1: epilogue(i)
//!                                        t = 0 if t == n - 1 else t + 1
//! ```
//!
//! Where Triton's result would be wrong, this one differs: bounds are never read from memory in front of a loop that
//! may not run or that writes, the iterations of loops that count without sign are counted so, an assumption must hold
//! where the loop stands, and see [`fuse`] for values that change too early.

mod bounds;
mod build;
mod count;
mod fuse;
mod prepare;

use crate::ir::core::{Ir, Op};
use crate::ir::dialects::ScfOp;
use crate::ir::dialects::discardable::{ALWAYS_FUSE, FLATTEN};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritongpu-fuse-nested-loops",
    doc: "make one loop of a loop nest, as `tl.range(…, flatten=True)` asks",
    input: Input::Any,
    options: &[],
    run,
};

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut nests = vec![];
    for function in ir.functions() {
        find_nests(ir, function, &mut nests);
    }
    let mut changed = false;
    for mut nest in nests {
        let always = ir.stores(nest.looped, ALWAYS_FUSE);
        let wanted = always || ir.stores(nest.looped, FLATTEN) && nest.is_simple();
        if wanted && (always || prepare::prepare(ir, nest.looped, nest.children[0].looped, &mut changed)) {
            changed |= flatten(ir, &mut nest);
        }
    }
    Ok(Changed::from(changed))
}

/// A loop and the loops directly in its body.
struct Nest {
    looped: Op,
    children: Vec<Nest>,
}

impl Nest {
    /// A loop in a loop, and no more.
    fn is_simple(&self) -> bool {
        matches!(self.children.as_slice(), [only] if only.children.is_empty())
    }
}

/// Step 1: the nests inside of an operation.
fn find_nests(ir: &Ir, container: Op, nests: &mut Vec<Nest>) {
    for op in inner_ops(ir, container) {
        if ir.is(op, ScfOp::For) {
            let nest = nest_of(ir, op, nests);
            nests.push(nest);
        } else {
            find_nests(ir, op, nests);
        }
    }
}

fn nest_of(ir: &Ir, looped: Op, nests: &mut Vec<Nest>) -> Nest {
    let mut children = vec![];
    for op in inner_ops(ir, looped) {
        if ir.is(op, ScfOp::For) {
            children.push(nest_of(ir, op, nests));
        } else {
            find_nests(ir, op, nests);
        }
    }
    Nest { looped, children }
}

/// The operations directly in the regions of `op`.
fn inner_ops(ir: &Ir, op: Op) -> Vec<Op> {
    ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.ops(b)).collect()
}

/// Step 4.
fn flatten(ir: &mut Ir, nest: &mut Nest) -> bool {
    let mut changed = false;
    for child in &mut nest.children {
        changed |= flatten(ir, child);
    }
    let inners: Vec<Op> = nest.children.drain(..).map(|c| c.looped).collect();
    match fuse::fuse(ir, nest.looped, &inners) {
        Some(fused) => {
            nest.looped = fused;
            true
        }
        None => changed,
    }
}
