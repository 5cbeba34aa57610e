//! The encodings around `ttg.fp4_to_fp`, which turns each byte in a register into two floats in two registers of the
//! same thread.
//!
//! # Algorithm
//!
//! 1. If the axis of the pairs runs fastest, a thread holds twice as many neighbours along it. A blocked encoding's
//!    size per thread and a `dot_op`'s `kWidth` double, and halve on the way back.
//! 2. Otherwise a new lowest register numbers the two floats of a byte: `register = [[1, 0]] → [[0, 1], [1, 0]]` for
//!    axis 1. On the way back, that lowest register is taken away, and the coordinates along the axis are halved.
//!
//! Without such a register there is no encoding of the bytes, because the floats of one byte lie apart.

use super::{from_linear, order, try_to_linear_layout};
use crate::ir::core::{Attr, Encoding};

/// The encoding of the floats where the bytes have `encoding` in a tensor of this shape.
#[must_use]
pub fn unpacked(encoding: Attr, axis: usize, shape: &[i64]) -> Option<Attr> {
    if runs_fastest(encoding, axis, shape) {
        return resized(encoding, axis, |n| Some(2 * n));
    }
    let layout = try_to_linear_layout(shape, encoding).ok()?;
    Some(from_linear(&layout.doubled_along(axis)))
}

/// The encoding of the bytes where the floats have `encoding` in a tensor of this shape.
#[must_use]
pub fn packed(encoding: Attr, axis: usize, shape: &[i64]) -> Option<Attr> {
    let half = |n: u32| (n > 1).then_some(n / 2);
    if runs_fastest(encoding, axis, shape) {
        return resized(encoding, axis, half);
    }
    let layout = try_to_linear_layout(shape, encoding).ok()?;
    Some(from_linear(&layout.undoubled_along(axis)?))
}

/// Whether step 1 applies.
fn runs_fastest(encoding: Attr, axis: usize, shape: &[i64]) -> bool {
    matches!(encoding.as_encoding(), Some(Encoding::DotOp { .. } | Encoding::Blocked(_)))
        && order(encoding, shape).get(axis) == Some(&0)
}

/// Step 1 changes the sizes. The result is `None` where `size` finds no size.
fn resized(encoding: Attr, axis: usize, size: impl Fn(u32) -> Option<u32>) -> Option<Attr> {
    match encoding.as_encoding()? {
        Encoding::DotOp { op_idx, parent, k_width } => {
            Some(Attr::encoding(Encoding::DotOp { op_idx: *op_idx, parent: *parent, k_width: size(*k_width)? }))
        }
        Encoding::Blocked(b) => {
            let mut b = b.clone();
            b.size_per_thread[axis] = size(b.size_per_thread[axis])?;
            Some(Attr::encoding(Encoding::Blocked(b)))
        }
        _ => None,
    }
}
