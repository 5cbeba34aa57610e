//! The IR values inside of a value: a tuple of tensors is passed, yielded and returned as that many operands.
//!
//! [`Val::values`] takes them out, [`Val::rebuild`] puts others in their places.

use std::rc::Rc;

use super::val::{Desc, Val};
use crate::ir::Value;
use crate::irgen::emit::Tensor;

impl Val {
    /// The IR values in it, in order.
    pub fn flatten(&self, out: &mut Vec<Value>) {
        match self {
            Val::Tensor(t) => out.push(t.value),
            Val::Tuple(items) => items.iter().for_each(|v| v.flatten(out)),
            Val::Desc(d) => {
                out.push(d.value);
                out.extend(d.shape.iter().chain(&d.strides).map(|t| t.value));
            }
            _ => {}
        }
    }

    /// The IR values in it.
    #[must_use]
    pub fn values(&self) -> Vec<Value> {
        let mut out = vec![];
        self.flatten(&mut out);
        out
    }

    /// The same value with other IR values in it, taken from the front of `from`.
    #[must_use]
    pub fn rebuild(&self, from: &mut impl Iterator<Item = Value>) -> Val {
        let mut next = |old: Tensor| Tensor { value: from.next().unwrap_or(old.value), ty: old.ty };
        match self {
            Val::Tensor(t) => Val::Tensor(next(*t)),
            Val::Desc(d) => {
                let value = next(Tensor { value: d.value, ty: d.block }).value;
                let shape = d.shape.iter().map(|&t| next(t)).collect();
                let strides = d.strides.iter().map(|&t| next(t)).collect();
                Val::Desc(Rc::new(Desc { value, block: d.block, shape, strides }))
            }
            Val::Tuple(items) => Val::tuple(items.iter().map(|v| v.rebuild(from)).collect()),
            other => other.clone(),
        }
    }
}
