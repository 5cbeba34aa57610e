//! `test-print-allocation` and `test-print-alias`: what is known of shared memory, as remarks, for tests.
//!
//! - Allocation: the function's name; for each buffer, at its operation, `offset = 0, size = 512` (`scratch` before it
//!   for scratch memory, `virtual` for a callee's); at the end the function's `size = 1024`.
//! - Alias: for each memory descriptor that may be part of buffers, `%0 -> %0,%3`: results at their operation,
//!   arguments of a block at the operation around it. Values are numbered in the order of the text.

use std::collections::BTreeMap;

use super::allocate_shared_memory::{CAPABILITY, target};
use crate::analysis::allocation::{self, BufferKind};
use crate::analysis::shared_alias::SharedAlias;
use crate::diag::codes::passes as codes;
use crate::ir::core::{Ir, Op, Value};
use crate::ir::dialects::tt::tt;
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static ALLOCATION: Pass = Pass {
    name: "test-print-allocation",
    doc: "remark on the place of each buffer in shared memory",
    input: Input::Ttgir,
    options: &[CAPABILITY],
    run: allocation,
};

pub static ALIAS: Pass = Pass {
    name: "test-print-alias",
    doc: "remark on the buffers that each memory descriptor may be part of",
    input: Input::Ttgir,
    options: &[],
    run: alias,
};

fn allocation(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    let target = target(ir, cx)?;
    let made = allocation::of_module(ir, &target)
        .map_err(|(op, e)| cx.fail(&codes::PASS_FAILED, ir.loc(op), e.to_string()))?;
    for func in ir.functions() {
        let Some(allocation) = made.get(&func) else { continue };
        cx.remark(&codes::SHARED_MEMORY, ir.loc(func), ir.get(func, tt::Func::ATTR.sym_name).unwrap_or_default());
        for buffer in &allocation.buffers {
            let prefix = match buffer.kind {
                BufferKind::Named => "",
                BufferKind::Scratch => "scratch ",
                BufferKind::Callee => "virtual ",
            };
            cx.remark(
                &codes::SHARED_MEMORY,
                ir.loc(buffer.owner),
                format!("{prefix}offset = {}, size = {}", buffer.offset, buffer.bytes),
            );
        }
        cx.remark(&codes::SHARED_MEMORY, ir.loc(func), format!("size = {}", allocation.total));
    }
    Ok(Changed::No)
}

fn alias(ir: &mut Ir, cx: &mut PassCx) -> Result<Changed, Failed> {
    for func in ir.functions() {
        let (alias, names) = (SharedAlias::new(ir, func), names(ir, func));
        for op in ir.all_ops(func) {
            let args = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.args(b));
            for &value in ir.results(op).iter().chain(args) {
                let buffers: Vec<&str> = alias.of(value).map(|b| names[&b].as_str()).collect();
                if !buffers.is_empty() {
                    cx.remark(&codes::SHARED_MEMORY, ir.loc(op), format!("{} -> {}", names[&value], buffers.join(",")));
                }
            }
        }
    }
    Ok(Changed::No)
}

/// `%arg0` for arguments, `%0` for results, in the order of the text.
fn names(ir: &Ir, func: Op) -> BTreeMap<Value, String> {
    let mut names = BTreeMap::new();
    let (mut results, mut arguments) = (0, 0);
    for op in ir.all_ops(func) {
        for &result in ir.results(op) {
            names.insert(result, format!("%{results}"));
            results += 1;
        }
        for &arg in ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.args(b)) {
            names.insert(arg, format!("%arg{arguments}"));
            arguments += 1;
        }
    }
    names
}
