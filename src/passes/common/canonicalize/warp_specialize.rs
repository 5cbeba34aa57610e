//! Canonicalization of `ttg.warp_specialize`: results that nobody uses, and captures that no partition uses or that are
//! there twice.
//!
//! ```text
//! %0:2 = ttg.warp_specialize(%x, %x, %y)        %1 = ttg.warp_specialize(%x)          when only %0#1 is used, and no partition uses %y
//! default { ttg.warp_yield %a, %b }         →   default { ttg.warp_yield %b }
//! partition0(%p, %q, %r) { use(%p, %q) }        partition0(%p) { use(%p, %p) }
//! ```

use crate::ir::core::{Op, OpState, Type, Value};
use crate::ir::dialects::{OpKind, TtgOp};
use crate::ir::rewrite::{Pattern, Rewriter};

pub(super) static PATTERNS: &[&Pattern] = &[
    &Pattern::new("warp_specialize without unused results", OpKind::Ttg(TtgOp::WarpSpecialize), unused_results),
    &Pattern::new("partitions without unused captures", OpKind::Ttg(TtgOp::WarpSpecializePartitions), unused_captures),
];

fn unused_results(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let results = rw.ir.results(op).to_vec();
    let used: Vec<usize> = (0..results.len()).filter(|&i| rw.ir.has_uses(results[i])).collect();
    if used.len() == results.len() {
        return false;
    }
    for block in rw.ir.blocks_of(rw.ir.region(op, 0)).to_vec() {
        let Some(end) = rw.ir.last_op(block).filter(|&o| rw.ir.is(o, TtgOp::WarpYield)) else { continue };
        let kept: Vec<Value> = used.iter().map(|&i| rw.ir.operands(end)[i]).collect();
        let dropped: Vec<Op> = rw.ir.operands(end).iter().filter_map(|&v| rw.ir.def_op(v)).collect();
        rw.ir.set_operands(end, &kept);
        dropped.into_iter().for_each(|d| rw.touch(d));
    }
    let types: Vec<Type> = used.iter().map(|&i| rw.ir.ty(results[i])).collect();
    let attrs = rw.ir.attrs(op).to_vec();
    let regions = rw.ir.regions_of(op).to_vec();
    let new = rw.insert(
        OpState::new(TtgOp::WarpSpecialize, rw.ir.loc(op)).results(&types).attrs(&attrs).regions(regions.len()),
    );
    for (index, region) in regions.into_iter().enumerate() {
        let to = rw.ir.region(new, index);
        for (at, block) in rw.ir.blocks_of(region).to_vec().into_iter().enumerate() {
            rw.ir.move_block(block, to, at);
        }
    }
    for (at, &i) in used.iter().enumerate() {
        let value = rw.ir.results(new)[at];
        rw.replace_all_uses(results[i], value);
    }
    rw.touch(new);
    rw.erase(op);
    true
}

fn unused_captures(rw: &mut Rewriter<'_>, op: Op) -> bool {
    let captures = rw.ir.operands(op).to_vec();
    let entries: Vec<_> = rw.ir.regions_of(op).iter().filter_map(|&r| rw.ir.entry(r)).collect();
    let mut kept: Vec<usize> = vec![];
    for (i, &capture) in captures.iter().enumerate() {
        if entries.iter().all(|&b| !rw.ir.has_uses(rw.ir.args(b)[i])) {
            continue;
        }
        let Some(&first) = kept.iter().find(|&&k| captures[k] == capture) else {
            kept.push(i);
            continue;
        };
        for &block in &entries {
            let (duplicate, original) = (rw.ir.args(block)[i], rw.ir.args(block)[first]);
            rw.replace_all_uses(duplicate, original);
        }
    }
    if kept.len() == captures.len() {
        return false;
    }
    for &block in &entries {
        for i in (0..captures.len()).rev().filter(|i| !kept.contains(i)) {
            rw.ir.remove_arg(block, i);
        }
    }
    let left: Vec<Value> = kept.iter().map(|&i| captures[i]).collect();
    rw.ir.set_operands(op, &left);
    captures.iter().filter_map(|&v| rw.ir.def_op(v)).collect::<Vec<_>>().into_iter().for_each(|d| rw.touch(d));
    rw.touch(op);
    true
}
