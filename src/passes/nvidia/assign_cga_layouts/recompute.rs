//! Step 3: an operand is computed in its new layout instead of its old one, from the loads on.
//!
//! # Algorithm
//!
//! 1. From the operand back to loads, note for each value the layout that it needs. Give up at what has regions or
//!    several results, has effects or must not be repeated, at arguments, and where a value would need two layouts.
//! 2. Give up unless a load or a constant is shared among the blocks in another way than before, and unless nothing but these
//!    operations and the operand uses the values. So no load is done twice.
//! 3. Compute all of it in the new layouts and drop the old operations. Pointers and masks of loads are converted.
//!
//! ```text
//! %x = tt.load %p : #a                       %q = ttg.convert_layout %p : #a -> #b
//! %y = arith.addf %x, %x : #a           →    %x = tt.load %q : #b
//! "tt.reduce"(%y)                            %y = arith.addf %x, %x : #b
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{cga, in_cga};
use crate::ir::core::{Attr, AttrData, Builder, DenseData, Ir, Mapping, Op, Use, Value};
use crate::ir::dialects::arith::arith::Constant;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{Traits, TtOp, TtgOp};
use crate::ir::effects::effects;
use crate::ir::rewrite::fold::const_of;
use crate::passes::ttg::remove_layout_conversions::may_repeat;
use crate::passes::ttg::{infer, module_attrs};

/// Computes the operand `root` in `encoding`. Returns whether it could.
pub(super) fn run(ir: &mut Ir, root: Use, encoding: Attr) -> bool {
    let Some(layouts) = plan(ir, root, encoding) else { return false };
    let module = ir.module();
    let mut ops: Vec<(Option<Vec<u64>>, Op)> =
        layouts.keys().filter_map(|&v| ir.def_op(v)).map(|op| (ir.place_in(module, op), op)).collect();
    ops.sort();
    let mut map = Mapping::default();
    for &(_, op) in &ops {
        redo(ir, op, layouts[&ir.result(op)], &mut map);
    }
    let new = map.get(ir.operand(root.op, root.index as usize));
    ir.set_operand(root.op, root.index as usize, new);
    for &(_, op) in ops.iter().rev() {
        ir.erase_op(op);
    }
    true
}

/// Whether it is where the computation starts: a load, by pointers or through a descriptor.
fn is_load(ir: &Ir, op: Op) -> bool {
    ir.is(op, TtOp::Load) || ir.kind(op).is_descriptor_load()
}

/// Steps 1 and 2: the layout of each value to compute.
fn plan(ir: &Ir, root: Use, encoding: Attr) -> Option<BTreeMap<Value, Attr>> {
    let mut layouts = BTreeMap::new();
    let mut moves = false;
    let mut queue = VecDeque::from([(ir.operand(root.op, root.index as usize), encoding)]);
    while let Some((value, encoding)) = queue.pop_front() {
        let ty = ir.ty(value);
        let (old, new) = (cga(ty)?, cga(ty.with_encoding(Some(encoding)))?);
        match layouts.insert(value, encoding) {
            Some(other) if other != encoding => return None,
            Some(_) => continue,
            None => {}
        }
        let op = ir.def_op(value).filter(|&op| ir.results(op).len() == 1 && ir.regions_of(op).is_empty())?;
        if is_load(ir, op) {
            if tt::Load::of(ir, op).is_some_and(|load| load.isVolatile(ir)) {
                return None;
            }
            moves |= old != new;
            continue;
        }
        moves |= ir.kind(op).has(Traits::CONSTANT) && old != new;
        if !effects(ir, op).is_free() || !may_repeat(ir, op) {
            return None;
        }
        queue.extend(sources(ir, op, encoding)?);
    }
    (moves && are_exclusive(ir, root, &layouts)).then_some(layouts)
}

/// The tensors that an operation needs in another layout for its result to have `encoding`, each with that layout.
fn sources(ir: &Ir, op: Op, encoding: Attr) -> Option<Vec<(Value, Attr)>> {
    // Whatever layout the source of a gather has, the result has that of the indices.
    if let Some(gather) = tt::Gather::of(ir, op) {
        return Some(vec![(gather.indices(ir), encoding)]);
    }
    let needed = |value: Value| {
        if !ir.is(op, TtgOp::ConvertLayout) {
            return infer::operand_encoding(ir, op, encoding);
        }
        // A conversion's source keeps what a block does with its part.
        let shared = cga(ir.ty(ir.result(op)).with_encoding(Some(encoding)))?;
        in_cga(ir, op, ir.ty(value), &shared, module_attrs::threads(ir)?)
    };
    let tensors = ir.operands(op).iter().copied().filter(|&value| ir.ty(value).is_tensor());
    tensors.map(|value| Some((value, needed(value)?))).collect()
}

/// Whether nothing but `root` and the operations of the plan uses the values. Loads keep what they load through, so
/// they count as others.
fn are_exclusive(ir: &Ir, root: Use, layouts: &BTreeMap<Value, Attr>) -> bool {
    let ops: BTreeSet<Op> = layouts.keys().filter_map(|&value| ir.def_op(value)).collect();
    let fits = |at: &Use| *at == root || ops.contains(&at.op) && !is_load(ir, at.op);
    layouts.keys().all(|&value| ir.uses(value).iter().all(fits))
}

/// Step 3 for one operation, in front of itself.
fn redo(ir: &mut Ir, op: Op, encoding: Attr, map: &mut Mapping) {
    let result = ir.result(op);
    let ty = ir.ty(result).with_encoding(Some(encoding));
    let mut pointers = Mapping::default();
    if ir.is(op, TtOp::Load) {
        for value in ir.operands(op).to_vec() {
            if ir.ty(value).is_tensor() {
                let wanted = ir.ty(value).with_encoding(Some(encoding));
                let converted = Builder::before(ir, op).value(TtgOp::ConvertLayout, &[value], wanted);
                pointers.map(value, converted);
            }
        }
    }
    let copy = ir.clone_op(op, if is_load(ir, op) { &mut pointers } else { map });
    ir.insert_before(op, copy);
    let mut new = ir.result(copy);
    if !ir.kind(op).has(Traits::CONSTANT) {
        ir.set_type(new, ty);
    } else if let Some(AttrData::Dense(_, DenseData::Splat(bits))) = const_of(ir, new).map(Attr::data) {
        let value = Attr::new(AttrData::Dense(ty, DenseData::Splat(*bits)));
        ir.put(copy, Constant::ATTR.value, value);
        ir.set_type(new, ty);
    } else if ir.ty(new) != ty {
        // The elements of a constant name its type too, so it is converted; that folds.
        new = Builder::before(ir, op).value(TtgOp::ConvertLayout, &[new], ty);
    }
    map.map(result, new);
}
