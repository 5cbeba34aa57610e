//! A signature to copy: what a kernel's parameters probably are, for the message that asks for their types.
//!
//! Nothing is computed with a guess; it is shown to be corrected.
//!
//! 1. What the file says (annotations) stands as it is; compile-time parameters are `constexpr`.
//! 2. A parameter is a pointer (`*fp32`) if it is added to something that is loaded from or stored to, directly or
//!    through local names, or if its name says `ptr`.
//! 3. A parameter is a float if its name is that of a scale or an epsilon; any other one is an `i32`.
//!
//! Example: `def add(x_ptr, n, B: tl.constexpr)` with `tl.load(x_ptr + offs)` gives `*fp32, i32, constexpr`.

use std::collections::BTreeSet;

use super::signature::Item;
use crate::irgen::value::Func;
use crate::parser::ast::{BinOp, Call, Expr, ExprKind, FunctionDef, Stmt, StmtKind};
use crate::parser::visit;

/// Names of floats that kernels commonly take.
const FLOATS: [&str; 12] = [
    "scale",
    "eps",
    "alpha",
    "beta",
    "gamma",
    "lr",
    "dropout",
    "momentum",
    "softcap",
    "smoothing",
    "temperature",
    "prob",
];

/// The items of a signature for a kernel, as text; what is known of them stands in `items`.
pub(super) fn signature(func: &Func, items: &[Item]) -> String {
    let pointers = pointers(&func.def);
    let item = |(name, item): (&str, &Item)| match item {
        Item::Value { ty, divisible } => format!("{}{}", ty.dtype.short(), if *divisible { ":16" } else { "" }),
        Item::Desc(ty) => format!("tensordesc<{}{:?}>", ty.dtype.short(), ty.shape()),
        Item::Const(v) => v.show(),
        Item::Constexpr => "constexpr".to_owned(),
        Item::Unknown => guess(name, pointers.contains(name)).to_owned(),
    };
    let names = func.def.params.iter().map(|p| &*p.name.name);
    names.zip(items).map(item).collect::<Vec<_>>().join(", ")
}

fn guess(name: &str, pointer: bool) -> &'static str {
    let lower = name.to_ascii_lowercase();
    match () {
        () if pointer || lower.contains("ptr") => "*fp32",
        () if lower.starts_with("stride") => "i32",
        () if FLOATS.iter().any(|f| lower.contains(f)) => "fp32",
        () => "i32",
    }
}

/// The parameters through which the kernel reads or writes.
fn pointers(def: &FunctionDef) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let params: BTreeSet<&str> = def.params.iter().map(|p| &*p.name.name).collect();
    visit::calls(&def.body, &mut |call| {
        if let Some(address) = address(call) {
            follow(address, def, &params, &mut found, 0);
        }
    });
    found
}

/// The address of an access to memory.
fn address(call: &Call) -> Option<&Expr> {
    let path = call.func.dotted()?;
    let name = *path.last()?;
    let memory =
        matches!(name, "load" | "store" | "make_block_ptr" | "make_tensor_descriptor") || name.starts_with("atomic_");
    let keyword = || ["pointer", "base"].iter().find_map(|k| call.keyword(k));
    if memory { call.args.first().or_else(keyword) } else { None }
}

/// Marks the parameter that an address is made from: the leftmost one that is added, or what its local names are made
/// from.
fn follow(e: &Expr, def: &FunctionDef, params: &BTreeSet<&str>, found: &mut BTreeSet<String>, depth: u32) {
    let mut leaves = vec![];
    summands(e, &mut leaves);
    if let Some(name) = leaves.iter().find(|n| params.contains(**n)) {
        found.insert((*name).to_owned());
        return;
    }
    if depth > 4 {
        return;
    }
    for name in leaves {
        for value in assigned_values(&def.body, name) {
            follow(value, def, params, found, depth + 1);
        }
    }
}

/// The names that an expression adds up, from left to right.
fn summands<'a>(e: &'a Expr, out: &mut Vec<&'a str>) {
    match &e.kind {
        ExprKind::Name(name) => out.push(name),
        ExprKind::BinOp { left, op: BinOp::Add | BinOp::Sub, right } => {
            summands(left, out);
            summands(right, out);
        }
        // A pointer that was cast: `x.to(tl.pointer_type(…))`.
        ExprKind::Call(call) => {
            if let ExprKind::Attribute { value, attr } = &call.func.kind
                && *attr.name == *"to"
            {
                summands(value, out);
            }
        }
        ExprKind::Subscript { value, .. } => summands(value, out),
        _ => {}
    }
}

/// What a local name is assigned.
fn assigned_values<'a>(body: &'a [Stmt], name: &str) -> Vec<&'a Expr> {
    let mut out = vec![];
    visit::statements(body, &mut |stmt| match &stmt.kind {
        StmtKind::Assign { targets, value } if targets.iter().any(|t| t.as_name() == Some(name)) => out.push(value),
        _ => {}
    });
    out
}
