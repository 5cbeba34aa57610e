//! Writes polynomials over a kernel's scalars ([`crate::analysis::forms`]) as arithmetic.
//!
//! ```text
//! 128·m - 64·trips    →    %a = arith.muli %m, 128
//!                          %b = arith.muli %i, -64        in a loop over %i from 0 by 1
//!                          %c = arith.addi %a, %b
//! ```

use crate::analysis::forms::masks::Test;
use crate::analysis::forms::poly::{Atom, Poly};
use crate::ir::core::{Attr, Builder, Ir, Type, Value};
use crate::ir::dialects::ArithOp;
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::scf::scf::For;
use crate::ir::rewrite::fold::const_of;

/// Whether all of these conditions hold; of none, nothing.
pub(crate) fn conjunction(b: &mut Builder<'_>, tests: &[Test]) -> Option<Value> {
    let bit = Type::int(1);
    let mut all = None;
    for test in tests {
        let holds = match test {
            Test::Flag(flag) => *flag,
            Test::Positive(poly) => {
                let value = polynomial(b, poly, 64);
                let zero = b.int(0, Type::int(64));
                b.cmpi(CmpiPredicate::Sgt, value, zero)
            }
        };
        all = Some(match all {
            Some(so_far) => b.value(ArithOp::Andi, &[so_far, holds], bit),
            None => holds,
        });
    }
    all
}

/// A polynomial as an integer of this width. In 32 bits it is exact if its value fits, whatever its parts are: sums and
/// products are right modulo 2³².
pub(crate) fn polynomial(b: &mut Builder<'_>, poly: &Poly, width: u32) -> Value {
    let ty = Type::int(width);
    let mut sum = None;
    for (product, n) in poly.terms() {
        let value = term(b, product, n, ty);
        sum = Some(match sum {
            Some(so_far) => b.value(ArithOp::Addi, &[so_far, value], ty),
            None => value,
        });
    }
    sum.unwrap_or_else(|| b.int(0, ty))
}

fn term(b: &mut Builder<'_>, product: &[Atom], n: i64, ty: Type) -> Value {
    let (mut value, mut n) = (None, n);
    for &atom in product {
        let factor = match atom {
            Atom::Value(v) => resized(b, v, ty),
            Atom::Trips(looped) => trips(b, For(looped), &mut n, ty),
        };
        value = Some(match value {
            Some(so_far) => b.value(ArithOp::Muli, &[so_far, factor], ty),
            None => factor,
        });
    }
    match value {
        Some(value) if n == 1 => value,
        Some(value) => {
            let n = b.constant(Attr::int(n, ty));
            b.value(ArithOp::Muli, &[value, n], ty)
        }
        None => b.constant(Attr::int(n, ty)),
    }
}

/// How often the loop has run, or, where `n` is a multiple of its step, so many times the step, and `n` without it.
fn trips(b: &mut Builder<'_>, looped: For, n: &mut i64, ty: Type) -> Value {
    let (lower, step) = (looped.lower(b.ir), looped.step(b.ir));
    let constant = |ir: &Ir, v: Value| const_of(ir, v).and_then(Attr::int_value);
    let body = b.ir.body(looped.0, 0).expect("the verifier has seen that a loop has a body");
    let mut value = b.ir.args(body)[0];
    if constant(b.ir, lower) != Some(0) {
        let ty = b.ir.ty(value);
        value = b.value(ArithOp::Subi, &[value, lower], ty);
    }
    match constant(b.ir, step) {
        Some(s) if s > 0 && *n % s == 0 => *n /= s,
        _ => {
            let ty = b.ir.ty(value);
            value = b.value(ArithOp::Divsi, &[value, step], ty);
        }
    }
    resized(b, value, ty)
}

/// A signed integer in this many bits.
fn resized(b: &mut Builder<'_>, value: Value, ty: Type) -> Value {
    let (from, to) = (b.ir.ty(value).bit_width(), ty.bit_width());
    match from.cmp(&to) {
        std::cmp::Ordering::Less => b.value(ArithOp::Extsi, &[value], ty),
        std::cmp::Ordering::Equal => value,
        std::cmp::Ordering::Greater => b.value(ArithOp::Trunci, &[value], ty),
    }
}
