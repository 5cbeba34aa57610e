//! Comparisons: the six of Python, and the operation that each becomes.

use crate::ir::dialects::enums::{CmpfPredicate, CmpiPredicate, Enumeration};
use crate::ir::{ArithOp, Attr};
use crate::irgen::emit::{Emitter, R, Tensor};
use crate::irgen::types::Dtype;

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Cmp {
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Cmp::Eq => "==",
            Cmp::Ne => "!=",
            Cmp::Lt => "<",
            Cmp::Le => "<=",
            Cmp::Gt => ">",
            Cmp::Ge => ">=",
        }
    }

    /// The predicate for this operand type, as an attribute.
    fn predicate(self, dtype: Dtype) -> Attr {
        let (float, int) = match self {
            Cmp::Eq => (CmpfPredicate::Oeq, CmpiPredicate::Eq),
            Cmp::Ne => (CmpfPredicate::Une, CmpiPredicate::Ne),
            Cmp::Lt => (CmpfPredicate::Olt, CmpiPredicate::Slt),
            Cmp::Le => (CmpfPredicate::Ole, CmpiPredicate::Sle),
            Cmp::Gt => (CmpfPredicate::Ogt, CmpiPredicate::Sgt),
            Cmp::Ge => (CmpfPredicate::Oge, CmpiPredicate::Sge),
        };
        match (dtype.is_float(), dtype.is_signed()) {
            (true, _) => float.attr(),
            (false, true) => int.attr(),
            (false, false) => int.unsigned().attr(),
        }
    }
}

/// Compares two tensors of one type and one shape, element by element.
pub fn same_types(cx: &mut Emitter, cmp: Cmp, x: Tensor, y: Tensor) -> R<Tensor> {
    let dtype = x.ty.dtype;
    let kind = if dtype.is_float() { ArithOp::Cmpf } else { ArithOp::Cmpi };
    let ty = x.ty.with(Dtype::Int1);
    let value = cx.value_with(kind, &[x.value, y.value], ty.to_ir(), &[("predicate", cmp.predicate(dtype))])?;
    Ok(Tensor { value, ty })
}
