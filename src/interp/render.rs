//! Writes values as text, for `--trace` and `tt.print`.
//!
//! A tensor prints as nested brackets, row-major. If it has more than 256 elements, only the first and last three of a
//! dimension longer than 8 are shown: `[0, 1, 2, …, 1021, 1022, 1023]`.

use super::numbers;
use super::value::{Lanes, Val, strides};
use crate::ir::{Type, TypeData};

const WHOLE: i64 = 256;
const EDGE: usize = 3;

/// Writes all of a value.
pub(crate) fn tensor(ty: Type, v: &Val) -> String {
    if let Lanes::Block(b) = &v.lanes {
        return format!("{b}");
    }
    let mut out = String::new();
    let shorten = ty.num_elements() > WHOLE;
    write(&mut out, ty, v, ty.shape(), &strides(ty.shape()), 0, shorten);
    out
}

fn write(out: &mut String, ty: Type, v: &Val, shape: &[i64], strides: &[usize], base: usize, shorten: bool) {
    let (Some(&size), Some(&stride)) = (shape.first(), strides.first()) else {
        out.push_str(&element(ty.elem(), v.lanes.get(base), true));
        return;
    };
    let size = size as usize;
    out.push('[');
    for i in 0..size {
        if shorten && size > 2 * EDGE + 2 && (EDGE..size - EDGE).contains(&i) {
            if i == EDGE {
                out.push_str(", …");
            }
            continue;
        }
        if i > 0 {
            out.push_str(", ");
        }
        write(out, ty, v, &shape[1..], &strides[1..], base + i * stride, shorten);
    }
    out.push(']');
}

/// Writes one element: a float with as many digits as tell it from its neighbours, an integer in decimal, a pointer in
/// hexadecimal.
pub(crate) fn element(ty: Type, bits: u64, signed: bool) -> String {
    match *ty {
        TypeData::Float(kind) => {
            let v = numbers::to_f64(kind, bits);
            if kind.bits() <= 32 { format!("{}", v as f32) } else { format!("{v}") }
        }
        TypeData::Int(1) => if bits & 1 == 1 { "true" } else { "false" }.to_owned(),
        TypeData::Int(w) if signed => numbers::signed(bits, w).to_string(),
        TypeData::Index => (bits as i64).to_string(),
        TypeData::Pointer { .. } => format!("{bits:#x}"),
        _ => bits.to_string(),
    }
}
