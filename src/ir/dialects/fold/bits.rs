//! Constants as bit patterns: reading them, and computing on them element by element.

use crate::ir::core::attrs::zero_extend;
use crate::ir::core::{Attr, AttrData, DenseData, FloatKind, Type, TypeData};

/// Applies `f` to the bits of each element; a splat stays one. `None` if `f` gives up on an element.
pub fn map(a: Attr, ty: Type, mut f: impl FnMut(u64) -> Option<u64>) -> Option<Attr> {
    match a.data() {
        AttrData::Dense(_, DenseData::Elements(v)) => {
            elements(ty, v.iter().map(|&x| f(x)).collect::<Option<Vec<_>>>()?)
        }
        _ => Some(Attr::splat_bits(ty, f(a.splat_value()?)?)),
    }
}

/// Applies `f` to the bits of each pair of elements.
pub fn zip(a: Attr, b: Attr, ty: Type, mut f: impl FnMut(u64, u64) -> Option<u64>) -> Option<Attr> {
    match (list(a), list(b)) {
        (None, None) => Some(Attr::splat_bits(ty, f(a.splat_value()?, b.splat_value()?)?)),
        (x, y) => {
            let n = x.or(y)?.len();
            let get = |l: Option<&[u64]>, s: Attr, i: usize| l.map_or_else(|| s.splat_value(), |l| l.get(i).copied());
            elements(ty, (0..n).map(|i| f(get(x, a, i)?, get(y, b, i)?)).collect::<Option<Vec<_>>>()?)
        }
    }
}

fn list(a: Attr) -> Option<&'static [u64]> {
    match a.data() {
        AttrData::Dense(_, DenseData::Elements(v)) => Some(v),
        _ => None,
    }
}

/// A dense constant of these elements; equal ones make a splat.
fn elements(ty: Type, bits: Vec<u64>) -> Option<Attr> {
    let wrapped: Vec<u64> = match *ty.elem() {
        TypeData::Int(w) => bits.into_iter().map(|b| crate::ir::core::attrs::sign_extend(b as i64, w) as u64).collect(),
        _ => bits,
    };
    let first = *wrapped.first()?;
    let data = if wrapped.iter().all(|&b| b == first) { DenseData::Splat(first) } else { DenseData::Elements(wrapped) };
    Some(Attr::new(AttrData::Dense(ty, data)))
}

/// The same elements under another type of as many elements; a splat may change their number.
#[must_use]
pub fn reshape(a: Attr, ty: Type) -> Option<Attr> {
    match a.data() {
        AttrData::Dense(_, DenseData::Elements(v)) if ty.num_elements() == v.len() as i64 => {
            Some(Attr::new(AttrData::Dense(ty, DenseData::Elements(v.clone()))))
        }
        AttrData::Dense(_, DenseData::Splat(bits)) => Some(Attr::new(AttrData::Dense(ty, DenseData::Splat(*bits)))),
        _ => None,
    }
}

/// Whether a constant is a scalar or a splat of the integer `value`, in its own width.
#[must_use]
pub fn is_int(a: Option<Attr>, value: i64) -> bool {
    let Some(a) = a else { return false };
    let (Some(found), Some(ty)) = (a.int_value(), a.type_of()) else { return false };
    let width = ty.bit_width().unwrap_or(64);
    zero_extend(found, width) == zero_extend(value, width)
}

/// Whether a constant is a float scalar or splat of exactly these bits of `f64` (so -0.0 differs from 0.0).
#[must_use]
pub fn is_float(a: Option<Attr>, value: f64) -> bool {
    a.and_then(Attr::float_value).is_some_and(|v| v.to_bits() == value.to_bits())
}

/// Width of the elements of an integer type; `index` counts 64.
#[must_use]
pub fn int_width(ty: Type) -> Option<u32> {
    match *ty.elem() {
        TypeData::Int(w) => Some(w),
        TypeData::Index => Some(64),
        _ => None,
    }
}

/// The exact sum, difference, product or quotient rounded once to the format.
///
/// f64 arithmetic on operands of at most 24 significant bits, rounded again to their format, equals a single rounding
/// (53 ≥ 2·24 + 2).
pub fn float_op(kind: FloatKind, a: u64, b: u64, f: impl Fn(f64, f64) -> f64) -> u64 {
    kind.from_f64(f(kind.to_f64(a), kind.to_f64(b)))
}
