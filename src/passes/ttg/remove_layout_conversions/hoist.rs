//! Step 5: conversions that stay move to where they run less often, or where the pipeliner finds them.
//!
//! # Into branches
//!
//! Where a conversion's source comes out of an `scf.if` in a loop, and one branch yields what can be computed anew in
//! the wanted layout while the other cannot:
//!
//! ```text
//! %v = scf.if %rare { yield %dear } else { yield %constant }
//! %w = convert %v
//! ```
//!
//! 1. Collect the slice of the source, not going beyond conditionals; then beyond each conditional met, branch by
//!    branch.
//! 2. Both branches can follow: go on. Neither can: the result is converted right behind the conditional. One can: the
//!    other converts what it yields, so that the conversion runs only when that branch does.
//! 3. If some conditional was of the last kind, compute the slice anew.
//!
//! # To loads
//!
//! The conversion of an operand of a matrix instruction moves up to the loads that feed it, through operations that
//! move no data between threads, if a product with operands in registers follows in the same block. All leaves have to
//! be loads or constants. An operand that has been converted before is taken from there.

use super::remat::Remat;
use super::slice::Slice;
use crate::ir::core::{Attr, Builder, InsertPoint, Ir, Mapping, Op, Use, Value};
use crate::ir::dialects::classes::multiplied;
use crate::ir::dialects::{Classes, ScfOp, Traits, TtOp, TtgOp};
use crate::ir::effects::effects;
use crate::ir::encoding::questions::is_matrix_operand;

fn is_if(ir: &Ir, op: Op) -> bool {
    ir.is(op, ScfOp::If)
}

/// Where the conversions go that [`Remat::hoist_into_branches`] makes.
#[derive(Default)]
struct Edges {
    /// Yields that convert an operand, and the layout.
    yields: Vec<(Use, Attr)>,
    /// Results of conditionals that are converted as they are.
    ends: Vec<Value>,
}

impl Remat {
    pub(super) fn hoist_into_branches(&mut self, ir: &mut Ir, op: Op) -> bool {
        let Some(encoding) = ir.ty(ir.result(op)).encoding() else { return false };
        let mut slice = Slice::default();
        if !self.repeatable(ir, Use { op, index: 0 }, encoding, &mut slice, is_if) {
            return false;
        }
        let edges = self.edges(ir, &mut slice);
        if edges.yields.is_empty() {
            return false;
        }
        let loc = ir.loc(op);
        let mut map = Mapping::default();
        for &value in &edges.ends {
            let Some(def) = ir.def_op(value) else { return false };
            let ty = ir.ty(value).with_encoding(Some(slice.layout[&value]));
            let converted = Builder::new(ir, InsertPoint::After(def), loc).value(TtgOp::ConvertLayout, &[value], ty);
            map.map(value, converted);
            slice.remove(value);
        }
        for &(at, encoding) in &edges.yields {
            let value = ir.operand(at.op, at.index as usize);
            let ty = ir.ty(value).with_encoding(Some(encoding));
            let converted = Builder::new(ir, InsertPoint::Before(at.op), loc).value(TtgOp::ConvertLayout, &[value], ty);
            map.map(value, converted);
            slice.remove(value);
        }
        self.rewrite(ir, op, slice, map);
        true
    }

    /// Step 2.
    fn edges(&self, ir: &Ir, slice: &mut Slice) -> Edges {
        let mut edges = Edges::default();
        let mut i = 0;
        while let Some(&value) = slice.values.get(i) {
            i += 1;
            let Some(branch) = ir.def_op(value).filter(|&d| is_if(ir, d)) else { continue };
            let encoding = slice.layout[&value];
            let index = ir.results(branch).iter().position(|&r| r == value).unwrap_or(0) as u32;
            let yields = [0, 1].map(|r| ir.body(branch, r).and_then(|b| ir.last_op(b)).map(|op| Use { op, index }));
            let mut larger = slice.clone();
            let follows = yields.map(|y| y.is_some_and(|y| self.repeatable(ir, y, encoding, &mut larger, is_if)));
            let in_loop = ir.parent_op(branch).is_some_and(|p| ir.is(p, ScfOp::For));
            match (follows, yields) {
                ([true, true], _) => *slice = larger,
                ([true, false], [_, Some(at)]) | ([false, true], [Some(at), _]) if in_loop => {
                    *slice = larger;
                    edges.yields.push((at, encoding));
                }
                _ => edges.ends.push(value),
            }
        }
        edges
    }

    pub(super) fn hoist_to_loads(&mut self, ir: &mut Ir, op: Op) -> bool {
        let Some(encoding) = ir.ty(ir.result(op)).encoding() else { return false };
        if !self.feeds_product_behind(ir, op) {
            return false;
        }
        if self.reuse(ir, op) {
            return true;
        }
        let mut slice = Slice::default();
        let moves_data = |ir: &Ir, op: Op| !keeps_data(ir, op);
        if self.reach(ir, Use { op, index: 0 }, encoding, &mut slice, &moves_data).is_none() {
            return false;
        }
        let mut loads = vec![];
        for &value in &slice.values {
            let Some(def) = ir.def_op(value) else { return false };
            if ir.kind(def).is_load() {
                loads.push((value, def));
            } else if !ir.kind(def).has(Traits::CONSTANT) && !keeps_data(ir, def) {
                return false;
            }
        }
        if loads.len() == slice.values.len() {
            return false;
        }
        let loc = ir.loc(op);
        let mut map = Mapping::default();
        for (value, def) in loads {
            let ty = ir.ty(value).with_encoding(Some(slice.layout[&value]));
            let converted = Builder::new(ir, InsertPoint::After(def), loc).value(TtgOp::ConvertLayout, &[value], ty);
            map.map(value, converted);
            slice.remove(value);
        }
        self.rewrite(ir, op, slice, map);
        true
    }

    /// Whether a product of registers follows in the block. The last one of a block is looked up once: no product moves
    /// while conversions do.
    fn feeds_product_behind(&mut self, ir: &Ir, op: Op) -> bool {
        let Some(block) = ir.parent_block(op) else { return false };
        let last = *self.last_products.entry(block).or_insert_with(|| {
            std::iter::successors(ir.last_op(block), |&o| ir.prev_op(o)).find(|&o| is_product_of_registers(ir, o))
        });
        last.is_some_and(|product| ir.is_before(op, product))
    }
}

/// Whether every thread can do this with what it holds.
fn keeps_data(ir: &Ir, op: Op) -> bool {
    let kind = ir.kind(op);
    let spreads = ir.is(op, TtOp::Broadcast) || ir.is(op, TtgOp::ConvertLayout) || ir.is(op, TtgOp::Fp4ToFp);
    spreads || kind.belongs(Classes::TENSOR_VIEW) || kind.has(Traits::ELEMENTWISE) && effects(ir, op).is_free()
}

/// Whether it is a product whose operand A is in the registers of a matrix instruction.
fn is_product_of_registers(ir: &Ir, op: Op) -> bool {
    multiplied(ir, op).is_some_and(|[a, _]| ir.ty(a).layout().is_some_and(is_matrix_operand))
}
