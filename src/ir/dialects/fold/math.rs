//! Folds of the `math` dialect, by the functions that its table states: constants of f32 and f64, and those of every
//! format where the function is exact.

use super::bits::{int_width, map, zip};
use super::{FoldResult, constant};
use crate::ir::core::{Attr, FloatKind, Ir, Op};
use crate::ir::dialects::HostFunction;
use crate::ir::dialects::host::OneFloat;

type Constants = [Option<Attr>];

/// Any operation with a function of constants; those of three floats do not fold.
pub fn host_function(ir: &Ir, op: Op, c: &Constants) -> FoldResult {
    let ty = ir.ty(ir.result(op));
    let format = || ty.elem().as_float();
    let folded = match ir.spec(op).host? {
        HostFunction::One(function) => {
            let format = format()?;
            map(c[0]?, ty, |x| one_float(function, format, x))
        }
        HostFunction::Two(single, double) => {
            let format = format()?;
            zip(c[0]?, c[1]?, ty, |x, y| match format {
                FloatKind::F32 => Some(u64::from(single(f32_of(x), f32_of(y)).to_bits())),
                FloatKind::F64 => Some(double(f64::from_bits(x), f64::from_bits(y)).to_bits()),
                _ => None,
            })
        }
        HostFunction::Patterns(function) => {
            let bits = format()?.bits();
            zip(c[0]?, c[1]?, ty, |x, y| Some(function(x, y, bits)))
        }
        HostFunction::Integer(function) => {
            // Constants hold 64 bits.
            let width = int_width(ty).filter(|&w| w <= 64)?;
            map(c[0]?, ty, |x| Some(function(x as i64, width)))
        }
        HostFunction::Three(..) => None,
    };
    constant(folded?)
}

fn one_float(function: OneFloat, format: FloatKind, x: u64) -> Option<u64> {
    let value = format.to_f64(x);
    if function.exact {
        return Some(format.from_f64((function.double)(value)));
    }
    if value < function.least {
        return None;
    }
    match format {
        FloatKind::F32 => Some(u64::from((function.single)(f32_of(x)).to_bits())),
        FloatKind::F64 => Some((function.double)(f64::from_bits(x)).to_bits()),
        _ => None,
    }
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}
