//! Hints to the compiler, and barriers.

use super::entry::entry;
use crate::diag::codes::names;
use crate::ir::dialects::builtin::llvm::Assume;
use crate::ir::dialects::discardable;
use crate::ir::dialects::keys::{Any, Key};
use crate::ir::dialects::tt::tt::Func;
use crate::ir::dialects::ttg::ttg::Barrier;
use crate::ir::{Attr, AttrData, Name, Type, Value, ValueDef};
use crate::irgen::emit::{Emitter, R};
use crate::irgen::semantic::{items, operators};
use crate::irgen::value::{Args, Builtin, Object};

pub(super) static TABLE: &[Builtin] = &[
    entry(
        "multiple_of",
        "input, values",
        "States that the first element of each contiguous group is a multiple of the value.",
        |cx, a| hint(cx, a, discardable::DIVISIBILITY),
    ),
    entry(
        "max_contiguous",
        "input, values",
        "States that elements come in contiguous groups of this length.",
        |cx, a| hint(cx, a, discardable::CONTIGUITY),
    ),
    entry("max_constancy", "input, values", "States that elements come in constant groups of this length.", |cx, a| {
        hint(cx, a, discardable::CONSTANCY)
    }),
    entry("assume", "cond", "States that the condition holds.", assume),
    entry("debug_barrier", "", "Waits for all threads of the program.", |cx, _| {
        let state = Barrier::state(cx.loc()).with(Barrier::ATTR.addrSpace, BARRIER_ALL);
        cx.emit(state).map(|_| Object::NONE)
    }),
];

/// Every address space.
const BARRIER_ALL: i64 = 31;

fn hint(cx: &mut Emitter, a: &Args, key: Key<Any>) -> R<Object> {
    let t = a.tensor(cx, 0)?;
    let values = items::ints_of(cx, a.get(1))?;
    let rank = t.ty.shape().len().max(1);
    if values.len() != rank {
        return Err(cx.error_help(
            &names::BAD_ARGUMENTS,
            format!("`{}` needs one value a dimension: {} for {}, found {}", a.builtin.name, rank, t.ty, values.len()),
            "in this call",
            "pass a tuple with one number for each dimension",
        ));
    }
    let ty = Type::tensor(&[values.len() as i64], Type::int(32), None);
    let attr = if values.iter().all(|v| *v == values[0]) {
        Attr::splat_bits(ty, values[0] as u64)
    } else {
        Attr::new(AttrData::Dense(ty, crate::ir::DenseData::Elements(values.iter().map(|&v| v as u64).collect())))
    };
    let value = start(cx, t.value);
    match cx.ir.def_op(value) {
        Some(op) => cx.ir.put(op, key, attr),
        None => argument_hint(cx, value, key, values[0]),
    }
    Ok(t.into())
}

/// What a value that loops carry starts with, if each iteration gets to the hint: a hint on the one holds for the
/// other. What the loop adds is looked at by itself.
fn start(cx: &Emitter, value: Value) -> Value {
    match cx.ir.def(value) {
        ValueDef::Arg { block, .. } if cx.block() == Some(block) => {
            let mut value = value;
            while let Some(&before) = cx.starts.get(&value) {
                value = before;
            }
            value
        }
        _ => value,
    }
}

/// A hint on a parameter of the kernel becomes an attribute of the parameter, if the kernel always gets to the hint,
/// unless more is known already. On another block argument it is dropped.
fn argument_hint(cx: &mut Emitter, value: Value, key: Key<Any>, hint: i64) {
    let ValueDef::Arg { block, index } = cx.ir.def(value) else { return };
    if cx.block() != Some(block) {
        return;
    }
    let Some(func) = cx.ir.block_op(block).and_then(|op| Func::of(&cx.ir, op)) else { return };
    let count = cx.ir.args(block).len();
    let mut facts: Vec<Attr> = match func.arg_attrs(&cx.ir) {
        Some(items) => items.to_vec(),
        None => vec![Attr::new(AttrData::Dict(vec![])); count],
    };
    let at = index as usize;
    if let Some(AttrData::Dict(old)) = facts.get(at).map(|a| a.data()) {
        let known = old.iter().find(|(n, _)| n.as_str() == key.name()).and_then(|(_, known)| known.as_int());
        if known.is_some_and(|known| known >= hint) {
            return;
        }
        let mut dict: Vec<(Name, Attr)> = old.iter().filter(|(n, _)| n.as_str() != key.name()).copied().collect();
        dict.extend(key.entry(Attr::i32(hint)));
        dict.sort();
        facts[at] = Attr::new(AttrData::Dict(dict));
        cx.ir.put(func.0, Func::ATTR.arg_attrs, &facts);
    }
}

fn assume(cx: &mut Emitter, a: &Args) -> R<Object> {
    let cond = a.tensor(cx, 0)?;
    let cond = operators::condition(cx, &cond.into(), "`tl.assume`")?;
    let state = Assume::state(cx.loc(), cond.value);
    cx.emit(state).map(|_| Object::NONE)
}
