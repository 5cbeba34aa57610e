//! Folds of the `tt` dialect.

use super::bits::{is_float, is_int, map, reshape};
use super::{FoldResult, constant, value};
use crate::ir::core::{Attr, AttrData, DenseData, FloatKind, Ir, Op, Type};
use crate::ir::dialects::tt::tt as view;

type Constants = [Option<Attr>];

fn ty(ir: &Ir, op: Op) -> Type {
    ir.ty(ir.result(op))
}

/// The operand where the type does not change.
fn same_type(ir: &Ir, op: Op) -> FoldResult {
    let [source] = ir.all_operands(op);
    if ir.ty(source) == ty(ir, op) { value(source) } else { None }
}

pub fn bitcast(ir: &Ir, op: Op, _: &Constants) -> FoldResult {
    same_type(ir, op)
}

/// Only zeros are converted, which every format has but that of scales.
pub fn fp_to_fp(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let zero = |z: f64| constant(Attr::float_splat(ty(ir, op), z)?);
    same_type(ir, op).or_else(|| {
        if ty(ir, op).elem().as_float() == Some(FloatKind::F8E8M0FNU) {
            return None;
        }
        if is_float(c[0], 0.0) {
            zero(0.0)
        } else if is_float(c[0], -0.0) {
            zero(-0.0)
        } else {
            None
        }
    })
}

pub fn addptr(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if is_int(c[1], 0) { value(view::Addptr(op).ptr(ir)) } else { None }
}

pub fn splat(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let scalar = c[0].filter(|a| matches!(**a, AttrData::Int(..) | AttrData::Float(..)))?;
    constant(Attr::new(AttrData::Dense(ty(ir, op), DenseData::Splat(scalar.splat_value()?))))
}

pub fn expand_dims(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    constant(reshape(c[0]?, ty(ir, op))?)
}

pub fn reshape_op(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    if !view::Reshape(op).allow_reorder(ir)
        && let Some(same) = same_type(ir, op)
    {
        return Some(same);
    }
    constant(reshape(c[0]?, ty(ir, op))?)
}

pub fn broadcast(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    same_type(ir, op).or_else(|| {
        let splat = c[0].filter(|a| a.splat_value().is_some())?;
        constant(reshape(splat, ty(ir, op))?)
    })
}

pub fn trans(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let order = view::Trans(op).order(ir)?;
    if order.iter().enumerate().all(|(i, &d)| i as i64 == d)
        && let Some(same) = same_type(ir, op)
    {
        return Some(same);
    }
    let splat = c[0].filter(|a| a.splat_value().is_some())?;
    constant(map(splat, ty(ir, op), Some)?)
}

/// A range of one element.
pub fn make_range(ir: &Ir, op: Op, _: &Constants) -> FoldResult {
    let (start, end) = (view::MakeRange(op).start(ir)?, view::MakeRange(op).end(ir)?);
    if start + 1 == end { constant(Attr::int_splat(ty(ir, op), start)) } else { None }
}
