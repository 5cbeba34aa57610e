//! `symbol-dce`: drops private functions that nobody calls.
//!
//! # Algorithm
//!
//! 1. Public functions are alive, and so is every function that a live one names in an attribute (of a call, say), to a
//!    fixpoint.
//! 2. Erase the others.

use crate::ir::dialects::tt::tt::Func;
use std::collections::BTreeSet;

use crate::ir::core::{Attr, AttrData, Ir, Name, Op};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass =
    Pass { name: "symbol-dce", doc: "drop private functions that nobody calls", input: Input::Any, options: &[], run };

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut live: BTreeSet<Op> = BTreeSet::new();
    let mut queue: Vec<Op> = ir.functions().into_iter().filter(|&f| !is_private(ir, f)).collect();
    while let Some(func) = queue.pop() {
        if live.insert(func) {
            queue.extend(referenced(ir, func).into_iter().filter_map(|name| ir.function(name.as_str())));
        }
    }
    let dead: Vec<Op> = ir.functions().into_iter().filter(|f| !live.contains(f)).collect();
    for &func in &dead {
        ir.erase_op(func);
    }
    Ok(Changed::from(!dead.is_empty()))
}

/// Whether only this module may use the function.
#[must_use]
pub fn is_private(ir: &Ir, func: Op) -> bool {
    Func::of(ir, func).and_then(|f| f.sym_visibility(ir)).is_some_and(|v| v != "public")
}

/// Every symbol that an operation in the function names.
fn referenced(ir: &Ir, func: Op) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    for op in ir.all_ops(func) {
        for &(_, attr) in ir.attrs(op) {
            collect(attr, &mut names);
        }
    }
    names
}

fn collect(attr: Attr, names: &mut BTreeSet<Name>) {
    match attr.data() {
        AttrData::Symbol(name) => {
            names.insert(*name);
        }
        AttrData::Array(items) => items.iter().for_each(|&a| collect(a, names)),
        AttrData::Dict(entries) => entries.iter().for_each(|&(_, a)| collect(a, names)),
        _ => {}
    }
}
