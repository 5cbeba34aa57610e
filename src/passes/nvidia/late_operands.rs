//! `ttc-late-operands`: where the tiles of a block of code with several products need more registers than a thread has,
//! operands are loaded from shared memory right before the products, and what is computed from them is computed late.
//!
//! A pipelined loop loads all that its copies brought at the top of an iteration. With two or three products of
//! `mma.sync` in it, the operands of the last one are held, or spilled, over all others, though they could stay in
//! shared memory until they are needed. Assemblers do not move such loads over waits and barriers.
//!
//! # Algorithm
//!
//! Of each block with at least two products of `mma.sync`, in a function without other matrix instructions, whose tiles
//! take more than the registers of a thread at once ([`tile_pressure`]):
//!
//! 1. A `ttg.local_load` may move down to its *fence*: the first operation behind it that may write or end the buffer,
//!    that tells others that it has been read, or is a barrier ([`fences`]). An operation without effects that works
//!    within a thread or a warp may move anywhere below its operands. All others are pinned ([`order`]).
//! 2. An operation is late if its result takes more registers than its operands free, where an operand that is late
//!    itself frees only what that one does. It goes right before its first user.
//! 3. A second order also loads a tile of 16-bit elements again for each of the products that use it, up to the fence.
//! 4. The order is taken if it lowers the peak by a tenth. The second one is, if its peak is as low and what a thread
//!    lacks of registers, added up over the operations, is less by a tenth.
//! 5. As many blocks as before must share a multiprocessor: buffers live longer.
//!
//! ```text
//! %a = ttg.local_load %A                      ttng.wait_barrier %full
//! %b = ttg.local_load %B                      %a = ttg.local_load %A
//! %c = ttg.local_load %C                      %b = ttg.local_load %B
//! ttng.wait_barrier %full             →       %x = tt.dot %a, %b, %zero
//! %x = tt.dot %a, %b, %zero                   %s = "tt.scan"(%x)
//! %s = "tt.scan"(%x)                          %c = ttg.local_load %C
//! %y = tt.dot %s, %c, %sum                    %y = tt.dot %s, %c, %sum
//! ```

mod fences;
mod order;

use crate::analysis::prepared::Prepared;
use crate::analysis::tile_pressure::{Pressure, pressure};
use crate::ir::core::{Block, Encoding, Ir, Op};
use crate::ir::dialects::discardable::MAX_REGISTERS;
use crate::ir::dialects::tt::tt::Dot;
use crate::ir::dialects::{TtOp, TtgOp};
use crate::passes::manager::{Changed, Failed, Input, OptionKind, OptionSpec, Pass, PassCx};
use crate::passes::ttg::allocate_shared_memory::{self, CAPABILITY};
use crate::passes::ttg::module_attrs::{self, Threads};
use crate::target::{Target, Usage};

/// The option that says how many registers a thread may have.
pub const REGISTERS: &str = "registers";

pub static PASS: Pass = Pass {
    name: "ttc-late-operands",
    doc: "load operands of products right before these where registers do not suffice",
    input: Input::Ttgir,
    options: &[
        CAPABILITY,
        OptionSpec {
            name: REGISTERS,
            kind: OptionKind::Int,
            default: "255",
            doc: "the registers that a thread may have, at the most",
        },
    ],
    run,
};

/// Larger blocks stay as they are.
const MOST_OPS: usize = 4096;

fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let Some(threads) = module_attrs::threads(ir).filter(|t| t.num_ctas == 1) else { return Ok(Changed::No) };
    let stated = ir.get(ir.module(), MAX_REGISTERS).unwrap_or(i64::MAX).min(cx.int(REGISTERS));
    let registers = registers(threads, u32::try_from(stated).unwrap_or(u32::MAX));
    let mut changed = Changed::No;
    for func in ir.functions() {
        for block in candidates(ir, func) {
            let before = pressure(ir, block, registers);
            if before.peak > registers && improve(ir, cx, (func, block), before, (threads, registers))? {
                changed = Changed::Yes;
            }
        }
    }
    Ok(changed)
}

/// The registers that a thread can have.
fn registers(threads: Threads, most: u32) -> u32 {
    let shared = Target::REGISTERS_PER_MULTIPROCESSOR / (threads.num_warps * threads.threads_per_warp).max(1);
    most.min(shared).min(Target::MAX_REGISTERS_PER_THREAD)
}

/// The blocks of a function that have several products by `mma.sync`; none if other instructions work beside them.
fn candidates(ir: &Ir, func: Op) -> Vec<Block> {
    let mut blocks: Vec<(Block, usize)> = vec![];
    for op in ir.all_ops(func) {
        if ir.kind(op).is_product() && !ir.is(op, TtOp::Dot) || ir.is(op, TtgOp::WarpSpecialize) {
            return vec![];
        }
        let Some(block) = ir.parent_block(op).filter(|_| is_synchronous(ir, op)) else { continue };
        match blocks.iter_mut().find(|(known, _)| *known == block) {
            Some((_, count)) => *count += 1,
            None => blocks.push((block, 1)),
        }
    }
    let few = |block: Block| ir.ops(block).count() <= MOST_OPS;
    blocks.into_iter().filter(|&(block, count)| count > 1 && few(block)).map(|(block, _)| block).collect()
}

/// Whether this is a product by `mma.sync`.
fn is_synchronous(ir: &Ir, op: Op) -> bool {
    let encoding = Dot::of(ir, op).and_then(|dot| ir.ty(dot.d(ir)).layout());
    matches!(encoding, Some(Encoding::NvidiaMma(mma)) if mma.version_major == 2)
}

/// Steps 3 to 5.
fn improve(
    ir: &mut Ir,
    cx: &mut PassCx,
    (func, block): (Op, Block),
    before: Pressure,
    (threads, registers): (Threads, u32),
) -> Result<bool, Failed> {
    let list = order::Late::new(ir, func, block);
    let tried = |again| {
        let mut trial = ir.clone();
        list.apply(&mut trial, block, again);
        (pressure(&trial, block, registers), trial)
    };
    let (once, again) = (tried(false), tried(true));
    let is_better = again.0.peak <= once.0.peak && again.0.lacking * 10 <= once.0.lacking * 9;
    let (after, trial) = if is_better { again } else { once };
    if after.peak * 10 > before.peak * 9 {
        return Ok(false);
    }
    let target = allocate_shared_memory::target(ir, cx)?;
    let now = cx.prepared(ir, &target)?;
    let blocks = |prepared: &Prepared| {
        let shared = prepared.functions.values().map(|f| f.allocation.total).max().unwrap_or(0);
        let fits = shared <= target.shared.bytes;
        let usage = Usage { warps: threads.num_warps, registers, shared };
        if fits { target.multiprocessor().occupancy(&usage).blocks } else { 0 }
    };
    match Prepared::new(&trial, &target) {
        Ok(then) if blocks(&then) >= blocks(&now) => {
            *ir = trial;
            cx.keep(then);
            Ok(true)
        }
        _ => {
            cx.keep(now);
            Ok(false)
        }
    }
}
