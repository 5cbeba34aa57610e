//! The backward slice of a conversion: every value that would have to be computed in another layout, with that layout.

use std::collections::{BTreeMap, BTreeSet};

use super::can_use_result_encoding;
use crate::analysis::flow::handed_from;
use crate::ir::core::{Attr, Ir, Op, Use, Value, ValueDef};
use crate::ir::dialects::scf::scf;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::ttg::ttg;
use crate::ir::dialects::{OpKind, ScfOp, Traits, TtOp, TtgOp};
use crate::ir::effects::would_be_trivially_dead;
use crate::ir::rewrite::region_dce::{incoming, successor_operands};
use crate::layout::{ConversionKind, are_layouts_equivalent_up_to_copies, conversion_kind_of};
use crate::passes::ttg::infer;

/// Values that exist in a layout other than their own; `None` where one does, but not at every place where it is
/// wanted.
pub(super) type Known = BTreeMap<(Value, Attr), Option<Value>>;

/// What a backward slice consists of.
#[derive(Default, Clone)]
pub(super) struct Slice {
    /// The values to compute anew, in the order in which they were found.
    pub values: Vec<Value>,
    /// The same values, to be looked up.
    members: BTreeSet<Value>,
    /// The layout of each value met, also of those that have it already.
    pub layout: BTreeMap<Value, Attr>,
    /// Values that need no computing: they exist in the layout wanted.
    pub existing: Known,
}

impl Slice {
    pub(super) fn contains(&self, value: Value) -> bool {
        self.members.contains(&value)
    }

    /// Whether the value exists in the layout wanted.
    pub(super) fn exists(&self, value: Value) -> bool {
        self.layout.get(&value).is_some_and(|&e| matches!(self.existing.get(&(value, e)), Some(Some(_))))
    }

    pub(super) fn remove(&mut self, value: Value) {
        if self.members.remove(&value) {
            self.values.retain(|&v| v != value);
        }
    }

    fn insert(&mut self, value: Value) {
        if self.members.insert(value) {
            self.values.push(value);
        }
    }

    /// A value has one layout in a slice.
    fn set_layout(&mut self, value: Value, encoding: Attr) -> Option<()> {
        (*self.layout.entry(value).or_insert(encoding) == encoding).then_some(())
    }
}

/// Whether a conversion moves data within threads only.
fn is_free_convert(ir: &Ir, op: Op) -> bool {
    ttg::ConvertLayout::of(ir, op).is_some_and(|convert| {
        let kind = conversion_kind_of(ir.ty(convert.src(ir)), ir.ty(convert.result(ir)));
        kind.is_ok_and(|kind| kind <= ConversionKind::Registers)
    })
}

/// Whether the value's layout is this one, by whatever name.
fn has_layout(ir: &Ir, value: Value, encoding: Attr) -> bool {
    let ty = ir.ty(value);
    ty.encoding().is_some_and(|own| are_layouts_equivalent_up_to_copies(ty.shape(), own, encoding).unwrap_or(false))
}

/// Adds to `slice` everything that the operand `root` in layout `encoding` needs. `stop` says which operations not to
/// go beyond; `reuse` finds a value that exists in the layout already (`Some(None)`: it does, but cannot be used here).
/// `None` where the layout cannot be had.
pub(super) fn extend(
    ir: &Ir,
    root: Use,
    encoding: Attr,
    slice: &mut Slice,
    stop: &dyn Fn(&Ir, Op) -> bool,
    reuse: &dyn Fn(&Ir, Use, Attr) -> Option<Option<Value>>,
) -> Option<()> {
    let mut seen = BTreeSet::from([(root, encoding)]);
    let mut stack = vec![(root, encoding)];
    while let Some((at, encoding)) = stack.pop() {
        let value = ir.operand(at.op, at.index as usize);
        if !ir.ty(value).is_tensor() {
            continue;
        }
        slice.set_layout(value, encoding)?;
        if ir.ty(value).encoding() == Some(encoding) {
            continue;
        }
        match reuse(ir, at, encoding) {
            Some(Some(found)) => {
                slice.existing.entry((value, encoding)).or_insert(Some(found));
                continue;
            }
            Some(None) => {
                slice.existing.insert((value, encoding), None);
            }
            None => {}
        }
        slice.insert(value);
        let def = ir.def_op(value);
        if def.is_some_and(|d| ir.kind(d).has(Traits::LOOP) || ir.is(d, TtgOp::WarpSpecialize)) {
            return None;
        }
        let next = match def {
            Some(def) => through_op(ir, def, value, encoding, slice, stop)?,
            None => through_arg(ir, value, encoding)?,
        };
        for item in next {
            if seen.insert(item) {
                stack.push(item);
            }
        }
    }
    Some(())
}

type Needs = Vec<(Use, Attr)>;

fn operand(op: Op, index: usize) -> Use {
    Use { op, index: index as u32 }
}

fn through_op(
    ir: &Ir,
    def: Op,
    value: Value,
    encoding: Attr,
    slice: &mut Slice,
    stop: &dyn Fn(&Ir, Op) -> bool,
) -> Option<Needs> {
    if ir.is(def, ScfOp::If) {
        if stop(ir, def) {
            return Some(vec![]);
        }
        let index = ir.results(def).iter().position(|&r| r == value)?;
        return ir
            .regions_of(def)
            .iter()
            .map(|&r| Some((operand(ir.last_op(ir.entry(r)?)?, index), encoding)))
            .collect();
    }
    for &result in ir.results(def) {
        if result != value && ir.ty(result).is_tensor() {
            slice.set_layout(result, encoding)?;
            slice.insert(result);
        }
    }
    if is_free_convert(ir, def) {
        return Some(vec![(operand(def, 0), encoding)]);
    }
    if can_use_result_encoding(ir, def, encoding) || stop(ir, def) {
        return Some(vec![]);
    }
    if ir.is(def, TtOp::Cat) {
        return None;
    }
    // A broadcast takes its operand as it is where only the name of the layout differs.
    if tt::Broadcast::of(ir, def).is_some_and(|broadcast| has_layout(ir, broadcast.src(ir), encoding)) {
        return Some(vec![]);
    }
    let indices = tt::Gather::of(ir, def).map(|_| tt::Gather::SLOT.indices.index(ir, def));
    let needed = indices.map_or(0..ir.operands(def).len(), |index| index..index + 1);
    needed.map(|i| Some((operand(def, i), infer::operand_encoding(ir, def, encoding)?))).collect()
}

/// A carried value of a loop needs its initial value and what the loop yields for it.
fn through_arg(ir: &Ir, value: Value, encoding: Attr) -> Option<Needs> {
    let ValueDef::Arg { block, index } = ir.def(value) else { return None };
    let parent = ir.block_op(block).filter(|&p| ir.is(p, ScfOp::For))?;
    let index = (index as usize).checked_sub(1)?;
    let terminator = ir.last_op(block)?;
    let init = scf::For::SLOT.init.index(ir, parent) + index;
    Some(vec![(operand(parent, init), encoding), (operand(terminator, index), encoding)])
}

/// Every value on which something with an effect, or a result of a function, depends.
pub(super) fn live_values(ir: &Ir, scope: Op) -> BTreeSet<Value> {
    let mut live = BTreeSet::new();
    let mut stack: Vec<Value> = vec![];
    for op in ir.all_ops(scope) {
        let kind = ir.kind(op);
        let structured = matches!(kind, OpKind::Scf(_));
        let is_root = !structured
            && (kind.is_terminator() && ir.successors(op).is_empty()
                || !would_be_trivially_dead(ir, op) && !kind.is_terminator());
        if is_root && ir.regions_of(op).is_empty() {
            stack.extend(ir.operands(op));
        }
        // What decides whether and how often a region runs counts too.
        if let Some(looped) = scf::For::of(ir, op) {
            stack.extend([looped.lower(ir), looped.upper(ir), looped.step(ir)]);
        } else if ir.is(op, ScfOp::If) || ir.is(op, ScfOp::Condition) || matches!(kind, OpKind::Cf(_)) {
            stack.extend(ir.operands(op).first());
        }
    }
    while let Some(value) = stack.pop() {
        if live.insert(value) {
            stack.extend(sources(ir, value));
        }
    }
    live
}

/// The values that a value is, or is computed from.
fn sources(ir: &Ir, value: Value) -> Vec<Value> {
    if let Some(sources) = handed_from(ir, value) {
        return sources;
    }
    match ir.def(value) {
        ValueDef::Result { op, .. } => {
            let inside = ir.regions_of(op).iter().flat_map(|&r| ir.blocks_of(r)).flat_map(|&b| ir.ops(b));
            ir.operands(op).iter().copied().chain(inside.flat_map(|o| ir.operands(o).to_vec())).collect()
        }
        ValueDef::Arg { block, index } => incoming(ir, block)
            .into_iter()
            .filter_map(|(branch, s)| {
                ir.operands(branch).get(successor_operands(ir, branch, s).0 + index as usize).copied()
            })
            .collect(),
    }
}
