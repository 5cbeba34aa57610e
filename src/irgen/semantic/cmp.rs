//! Comparisons: the six of Python, and the operation that each becomes.

use crate::ir::dialects::arith::arith::{Cmpf, Cmpi};
use crate::ir::dialects::enums::{CmpfPredicate, CmpiPredicate};
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

    /// The predicates for floats and for signed integers.
    fn predicates(self) -> (CmpfPredicate, CmpiPredicate) {
        match self {
            Cmp::Eq => (CmpfPredicate::Oeq, CmpiPredicate::Eq),
            Cmp::Ne => (CmpfPredicate::Une, CmpiPredicate::Ne),
            Cmp::Lt => (CmpfPredicate::Olt, CmpiPredicate::Slt),
            Cmp::Le => (CmpfPredicate::Ole, CmpiPredicate::Sle),
            Cmp::Gt => (CmpfPredicate::Ogt, CmpiPredicate::Sgt),
            Cmp::Ge => (CmpfPredicate::Oge, CmpiPredicate::Sge),
        }
    }
}

/// Compares two tensors of one type and one shape, element by element.
pub fn same_types(cx: &mut Emitter, cmp: Cmp, x: Tensor, y: Tensor) -> R<Tensor> {
    let dtype = x.ty.dtype;
    let (float, int) = cmp.predicates();
    let state = if dtype.is_float() {
        Cmpf::state(cx.loc(), x.value, y.value).with(Cmpf::ATTR.predicate, float)
    } else {
        let predicate = if dtype.is_signed() { int } else { int.unsigned() };
        Cmpi::state(cx.loc(), x.value, y.value).with(Cmpi::ATTR.predicate, predicate)
    };
    cx.tensor_of(state, x.ty.with(Dtype::Int1))
}
