//! `inline`: replaces calls by the bodies of the functions they call.
//!
//! # Algorithm
//!
//! 1. Visit functions callees first, so that a body is complete before it is copied. A function that (indirectly) calls
//!    itself is never inlined.
//! 2. Canonicalize the function, so that what is copied is small, then inline the calls in it, and canonicalize again
//!    if there were any.
//! 3. A call is inlined unless the callee is marked `noinline`, or has several blocks where the call's region may have
//!    only one: split the block after the call; copy the callee's blocks between; every location becomes
//!    `callsite(callee at call)`. A callee of one block is spliced in whole, and its `tt.return` names the results.
//!    Otherwise each `tt.return` becomes a branch to the block after the call, whose arguments are the results. What
//!    the call says of its result (`tt.divisibility` and kin) it then says of the operation that makes the result.
//! 4. Drop private functions of which the last call was inlined.
//!
//! A function that calls another twice, which calls a third twice, and so on, has a body of exponential size: inlining
//! stops where the module would grow beyond what is allowed.

use crate::ir::dialects::discardable::{CONSTANCY, CONTIGUITY, DIVISIBILITY, NOINLINE};
use crate::ir::dialects::keys::{Any, Key};
use std::collections::{BTreeMap, BTreeSet};

use super::symbol_dce::is_private;
use crate::ir::core::{Block, Ir, Loc, Mapping, Op, OpState, Region, Type, Value, WalkControl};
use crate::ir::dialects::{CfOp, Traits, TtOp};
use crate::passes::common::canonicalize;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "inline",
    doc: "replace calls by the bodies of the functions they call",
    input: Input::Any,
    options: &[],
    run,
};

/// How often a function is canonicalized and searched for calls.
const MAX_ROUNDS: usize = 4;

/// Runs the pass.
///
/// # Errors
/// When the module would grow beyond what is allowed.
pub fn run(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let mut changed = false;
    let mut inlined = BTreeSet::new();
    let recursive = recursive_functions(ir);
    for func in bottom_up(ir) {
        for _ in 0..MAX_ROUNDS {
            changed |= canonicalize::canonicalize(ir, func);
            if !inline_calls(ir, cx, func, &recursive, &mut inlined)? {
                break;
            }
            changed = true;
        }
    }
    let calls: BTreeSet<Op> = ir.functions().into_iter().flat_map(|f| callees(ir, f)).collect();
    for callee in inlined {
        if is_private(ir, callee) && !calls.contains(&callee) {
            ir.erase_op(callee);
        }
    }
    Ok(Changed::from(changed))
}

fn call_ops(ir: &Ir, func: Op) -> Vec<Op> {
    let mut calls = vec![];
    ir.walk(func, &mut |op| {
        if ir.is(op, TtOp::Call) {
            calls.push(op);
        }
        WalkControl::Advance
    });
    calls
}

fn callees(ir: &Ir, func: Op) -> Vec<Op> {
    call_ops(ir, func).into_iter().filter_map(|c| ir.callee(c)).collect()
}

/// Functions, each after those that it calls.
fn bottom_up(ir: &Ir) -> Vec<Op> {
    fn visit(ir: &Ir, func: Op, seen: &mut BTreeSet<Op>, out: &mut Vec<Op>) {
        if seen.insert(func) {
            callees(ir, func).into_iter().for_each(|c| visit(ir, c, seen, out));
            out.push(func);
        }
    }
    let (mut seen, mut out) = (BTreeSet::new(), vec![]);
    ir.functions().into_iter().for_each(|f| visit(ir, f, &mut seen, &mut out));
    out
}

/// Functions that reach themselves through calls.
fn recursive_functions(ir: &Ir) -> BTreeSet<Op> {
    let graph: BTreeMap<Op, Vec<Op>> = ir.functions().into_iter().map(|f| (f, callees(ir, f))).collect();
    let reaches_itself = |start: Op| {
        let (mut seen, mut queue) = (BTreeSet::new(), graph[&start].clone());
        while let Some(f) = queue.pop() {
            if f == start {
                return true;
            }
            if seen.insert(f) {
                queue.extend(&graph[&f]);
            }
        }
        false
    };
    graph.keys().copied().filter(|&f| reaches_itself(f)).collect()
}

fn inline_calls(
    ir: &mut Ir,
    cx: &mut PassCx,
    func: Op,
    recursive: &BTreeSet<Op>,
    inlined: &mut BTreeSet<Op>,
) -> Result<bool, Failed> {
    let mut changed = false;
    let mut sizes = BTreeMap::new();
    for call in call_ops(ir, func) {
        let Some(target) = ir.callee(call) else { continue };
        if recursive.contains(&target) || !may_inline(ir, call, target) {
            continue;
        }
        let size = *sizes.entry(target).or_insert_with(|| ir.all_ops(target).len());
        if ir.is_full_with(size) {
            return Err(cx.too_many_ops(ir, PASS.name, ir.loc(call)));
        }
        inline_call(ir, call, target);
        inlined.insert(target);
        changed = true;
    }
    Ok(changed)
}

fn may_inline(ir: &Ir, call: Op, target: Op) -> bool {
    let Some(blocks) = ir.regions_of(target).first().map(|&r| ir.blocks_of(r).len()).filter(|&n| n > 0) else {
        return false;
    };
    let several_allowed =
        ir.parent_op(call).is_none_or(|p| ir.kind(p).is_function() || !ir.kind(p).has(Traits::SINGLE_BLOCK));
    !ir.get(target, NOINLINE).unwrap_or(false) && (blocks == 1 || several_allowed)
}

/// Replaces a call by a copy of the callee's body.
fn inline_call(ir: &mut Ir, call: Op, target: Op) {
    let caller = ir.loc(call);
    let block = ir.parent_block(call).expect("a call is in a block");
    let into = ir.parent_region(block).expect("a block is in a region");
    // The copy is made in a region of its own: the blocks need a place to be in.
    let scratch = ir.create_op(OpState::new(crate::ir::dialects::ScfOp::ExecuteRegion, caller).regions(1));
    let copy = ir.region(scratch, 0);
    let mut map = Mapping::default();
    ir.clone_region(ir.region(target, 0), copy, &mut map);
    relocate(ir, copy, caller);
    let entry = ir.entry(copy).expect("the callee has a body");
    for (arg, value) in ir.args(entry).to_vec().into_iter().zip(ir.operands(call).to_vec()) {
        ir.replace_all_uses(arg, value);
    }
    if ir.blocks_of(copy).len() == 1 {
        let terminator = ir.last_op(entry).expect("a function's block ends in a return");
        let values = ir.operands(terminator).to_vec();
        pass_on_hints(ir, call, &values);
        for op in ir.op_list(entry) {
            if op != terminator {
                ir.detach(op);
                ir.insert_before(call, op);
            }
        }
        ir.replace_op(call, &values);
    } else {
        splice_blocks(ir, call, block, into, copy);
    }
    ir.erase_op(scratch);
}

/// Facts about the result of a call that analyses cannot see in its body.
const HINTS: [Key<Any>; 3] = [DIVISIBILITY, CONTIGUITY, CONSTANCY];

/// Moves the hints of a call to the operations that make its results.
fn pass_on_hints(ir: &mut Ir, call: Op, values: &[Value]) {
    let hints: Vec<_> = HINTS.into_iter().filter_map(|key| Some((key, ir.get(call, key)?))).collect();
    for op in values.iter().filter_map(|&v| ir.def_op(v)).collect::<Vec<_>>() {
        for &(key, value) in &hints {
            ir.put(op, key, value);
        }
    }
}

/// The locations of everything in the region become call sites.
fn relocate(ir: &mut Ir, region: Region, caller: Loc) {
    for block in ir.blocks_of(region).to_vec() {
        for arg in ir.args(block).to_vec() {
            let loc = Loc::call_site(ir.value_loc(arg), caller);
            ir.set_arg_loc(arg, loc);
        }
        for op in ir.op_list(block) {
            for inner in ir.all_ops(op) {
                let loc = Loc::call_site(ir.loc(inner), caller);
                ir.set_loc(inner, loc);
                for nested in ir.regions_of(inner).iter().flat_map(|&r| ir.blocks_of(r).to_vec()).collect::<Vec<_>>() {
                    for arg in ir.args(nested).to_vec() {
                        let loc = Loc::call_site(ir.value_loc(arg), caller);
                        ir.set_arg_loc(arg, loc);
                    }
                }
            }
        }
    }
}

fn splice_blocks(ir: &mut Ir, call: Op, block: Block, into: Region, copy: Region) {
    let results: Vec<(Type, Loc)> = ir.results(call).iter().map(|&r| (ir.ty(r), ir.value_loc(r))).collect();
    let at = ir.blocks_of(into).iter().position(|&b| b == block).expect("the block is in its region");
    let after = ir.insert_block(into, at + 1, &results);
    ir.splice_tail(block, ir.next_op(call), after);
    let blocks = ir.blocks_of(copy).to_vec();
    for &inner in &blocks {
        let Some(terminator) = ir.last_op(inner).filter(|&t| ir.is(t, TtOp::Return)) else { continue };
        let (loc, values) = (ir.loc(terminator), ir.operands(terminator).to_vec());
        let branch = ir.create_op(OpState::new(CfOp::Br, loc).operands(&values).successors(&[after]));
        ir.insert_before(terminator, branch);
        ir.erase_op(terminator);
    }
    let (entry, others) = blocks.split_first().expect("the callee has a body");
    ir.splice_tail(*entry, ir.first_op(*entry), block);
    for (i, &b) in others.iter().enumerate() {
        ir.move_block(b, into, at + 1 + i);
    }
    let values: Vec<Value> = ir.args(after).to_vec();
    ir.replace_op(call, &values);
}
