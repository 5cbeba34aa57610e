//! `tritongpu-global-scratch-memory-allocation`: gives every `ttg.global_scratch_alloc` its place in the scratch memory
//! of its program.
//!
//! # Algorithm
//!
//! 1. Pieces follow one another in the order of the text, each at a multiple of its alignment. Pieces marked
//!    `third_party_allocation` (profilers) lie in a memory of their own. Calls take what the callee needs; callees come
//!    first.
//! 2. The offset is noted as `ttg.global_scratch_memory_offset` on the operation. Sizes and alignments of both memories
//!    are noted on every function and, for the kernel, on the module. Sizes are multiples of the largest alignment, so
//!    that programs' pieces can follow one another.

use std::collections::BTreeMap;

use crate::ir::core::{Ir, Op};
use crate::ir::dialects::TtgOp;
use crate::ir::dialects::discardable::{
    GLOBAL_ALIGNMENT, GLOBAL_OFFSET, GLOBAL_SIZE, PROFILE_ALIGNMENT, PROFILE_OFFSET, PROFILE_SIZE,
};
use crate::ir::dialects::keys::{Int, Key};
use crate::ir::dialects::ttg::ttg;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "tritongpu-global-scratch-memory-allocation",
    doc: "give scratch memory in global memory its offsets",
    input: Input::Any,
    options: &[],
    run,
};

/// A memory in the making.
#[derive(Clone, Copy)]
struct Memory {
    end: i64,
    alignment: i64,
}

impl Memory {
    const EMPTY: Memory = Memory { end: 0, alignment: 1 };

    /// The offset of a piece that is put at the end; `None` for an empty one.
    fn add(&mut self, bytes: i64, alignment: i64) -> Option<i64> {
        if bytes <= 0 {
            return None;
        }
        let alignment = alignment.max(1);
        let offset = (self.end + alignment - 1) / alignment * alignment;
        self.end = offset + bytes;
        self.alignment = self.alignment.max(alignment);
        Some(offset)
    }

    fn size(self) -> i64 {
        (self.end + self.alignment - 1) / self.alignment * self.alignment
    }
}

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let has_scratch = |ir: &Ir, f: Op| ir.all_ops(f).into_iter().any(|op| ir.is(op, TtgOp::GlobalScratchAlloc));
    cx.keep_prepared();
    let functions = ir.functions();
    if !functions.iter().any(|&f| has_scratch(ir, f)) {
        return Ok(Changed::No);
    }
    let mut done: BTreeMap<Op, [Memory; 2]> = BTreeMap::new();
    // Callees first; what calls itself counts nothing for itself.
    for last in [false, true] {
        while let Some(func) =
            functions.iter().copied().find(|f| !done.contains_key(f) && (last || ready(ir, *f, &done)))
        {
            let memories = lay_out(ir, func, &done);
            done.insert(func, memories);
            note(ir, func, memories);
            if !ir.is_private(func) {
                let module = ir.module();
                note(ir, module, memories);
            }
        }
    }
    Ok(Changed::Yes)
}

fn ready(ir: &Ir, func: Op, done: &BTreeMap<Op, [Memory; 2]>) -> bool {
    ir.all_ops(func).into_iter().filter_map(|op| ir.callee(op)).all(|c| done.contains_key(&c))
}

fn lay_out(ir: &mut Ir, func: Op, done: &BTreeMap<Op, [Memory; 2]>) -> [Memory; 2] {
    let [mut global, mut profile] = [Memory::EMPTY; 2];
    for op in ir.all_ops_post(func) {
        if let Some(alloc) = ttg::GlobalScratchAlloc::of(ir, op) {
            let (bytes, alignment) = (alloc.nbytes(ir).unwrap_or(0), alloc.alignment(ir).unwrap_or(1));
            let memory = if alloc.third_party_allocation(ir) { &mut profile } else { &mut global };
            set(ir, op, GLOBAL_OFFSET, memory.add(bytes, alignment));
        } else if let Some([g, p]) = ir.callee(op).and_then(|c| done.get(&c)).copied() {
            set(ir, op, GLOBAL_OFFSET, global.add(g.size(), g.alignment));
            set(ir, op, PROFILE_OFFSET, profile.add(p.size(), p.alignment));
        }
    }
    [global, profile]
}

fn set(ir: &mut Ir, op: Op, key: Key<Int<32>>, value: Option<i64>) {
    if let Some(value) = value {
        ir.put(op, key, value);
    }
}

fn note(ir: &mut Ir, op: Op, [global, profile]: [Memory; 2]) {
    let values = [
        (GLOBAL_SIZE, global.size()),
        (GLOBAL_ALIGNMENT, global.alignment),
        (PROFILE_SIZE, profile.size()),
        (PROFILE_ALIGNMENT, profile.alignment),
    ];
    for (key, value) in values {
        ir.put(op, key, value);
    }
}
