//! Operations that are done in parts: what each part needs, and which elements are its own.
//!
//! A tensor in parts along an axis is several tensors of as many elements along the others. Part `i` has the `i`-th
//! piece of the axis.

use crate::ir::core::{Attr, Ir, Op, Type};
use crate::ir::dialects::arith::arith;
use crate::ir::dialects::tt::tt;
use crate::ir::dialects::{ArithOp, OpKind, Traits, TtOp};
use crate::ir::effects::effects;
use crate::ir::rewrite::fold;

/// What an operation needs of an operand, if its own rows are split.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// All of it.
    Whole,
    /// Its parts along this axis.
    Parts(usize),
}

/// What an operation needs of an operand, if its results are split along `axis`; `None` if it cannot be split.
pub(crate) fn need(ir: &Ir, op: Op, index: usize, axis: usize) -> Option<Need> {
    let ty = ir.ty(ir.operand(op, index));
    match ir.kind(op) {
        OpKind::Tt(TtOp::Splat) => Some(Need::Whole),
        OpKind::Tt(TtOp::Broadcast) => Some(if ty.shape()[axis] == 1 { Need::Whole } else { Need::Parts(axis) }),
        OpKind::Tt(TtOp::ExpandDims) => {
            let added = usize::try_from(tt::ExpandDims(op).axis(ir)?).ok()?;
            (axis != added).then_some(Need::Parts(if axis > added { axis - 1 } else { axis }))
        }
        OpKind::Tt(TtOp::Reduce) => {
            let gone = usize::try_from(tt::Reduce(op).axis(ir)?).ok()?;
            Some(Need::Parts(if axis >= gone { axis + 1 } else { axis }))
        }
        OpKind::Tt(TtOp::Scan) => {
            let along = usize::try_from(tt::Scan(op).axis(ir)?).ok()?;
            (axis != along).then_some(Need::Parts(axis))
        }
        OpKind::Tt(TtOp::Trans) => Some(Need::Parts(usize::try_from(*tt::Trans(op).order(ir)?.get(axis)?).ok()?)),
        OpKind::Tt(TtOp::Dot) if axis == 0 => Some(if index == 1 { Need::Whole } else { Need::Parts(0) }),
        OpKind::Tt(TtOp::Load) if !tt::Load(op).isVolatile(ir) => Some(Need::Parts(axis)),
        OpKind::Tt(TtOp::Store) => Some(Need::Parts(axis)),
        kind if kind.has(Traits::ELEMENTWISE) && effects(ir, op).is_free() => {
            Some(if ty.is_tensor() { Need::Parts(axis) } else { Need::Whole })
        }
        _ => None,
    }
}

/// The axis along which the result is split of an operation that takes an operand's parts along `axis`.
pub(crate) fn result_axis(ir: &Ir, op: Op, index: usize, axis: usize) -> Option<usize> {
    let rank = ir.ty(*ir.results(op).first()?).rank();
    (0..rank).find(|&of| need(ir, op, index, of) == Some(Need::Parts(axis)))
}

/// Whether an operation without operands can be made in parts.
pub(crate) fn has_parts(ir: &Ir, op: Op) -> bool {
    match ir.kind(op) {
        OpKind::Tt(TtOp::MakeRange) => true,
        OpKind::Arith(ArithOp::Constant) => {
            fold::const_of(ir, ir.result(op)).is_some_and(|value| value.splat_value().is_some())
        }
        _ => !ir.operands(op).is_empty(),
    }
}

/// The type of one of so many parts.
pub(crate) fn part_type(ty: Type, axis: usize, parts: usize, encoding: Option<Attr>) -> Type {
    let mut shape = ty.shape().to_vec();
    shape[axis] /= parts as i64;
    ty.with_shape(&shape, encoding)
}

/// Makes a copy of an operation without operands, whose result has the type of a part already, that part's.
pub(crate) fn cut(ir: &mut Ir, op: Op, copy: Op, part: usize) {
    match ir.kind(op) {
        OpKind::Tt(TtOp::MakeRange) => {
            let rows = ir.ty(ir.result(copy)).shape()[0];
            let start = tt::MakeRange(op).start(ir).unwrap_or(0) + part as i64 * rows;
            ir.put(copy, tt::MakeRange::ATTR.start, start);
            ir.put(copy, tt::MakeRange::ATTR.end, start + rows);
        }
        OpKind::Arith(ArithOp::Constant) => {
            let bits = fold::const_of(ir, ir.result(op)).and_then(Attr::splat_value);
            let ty = ir.ty(ir.result(copy));
            let value = Attr::splat_bits(ty, bits.expect("the plan has seen that all elements are alike"));
            ir.put(copy, arith::Constant::ATTR.value, value);
        }
        _ => {}
    }
}
