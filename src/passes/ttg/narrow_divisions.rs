//! `ttc-narrow-divisions`: divisions of 64 bits whose operands fit into 32 bits are divisions of 32 bits.
//!
//! `x.to(tl.int64) // n` divides numbers that were 32 bits wide a moment ago. A GPU has no instruction for it. Of 64
//! bits it is a call of some hundred instructions, and LLVM puts a test and a branch before each, for operands that
//! happen to be short. Of 32 bits it is some twenty instructions, without a branch.
//!
//! # Algorithm
//!
//! For each `arith.divsi`, `divui`, `remsi` and `remui` of 64 bits, by the ranges of its operands ([`Ranges`]):
//!
//! 1. Both lie between 0 and 2^32 - 1: divide without a sign.
//! 2. Both lie between -2^31 and 2^31 - 1, the operation has a sign, and the quotient is not 2^31: divide with a sign.
//!    Only -2^31 / -1 is 2^31, so it is enough if one of them is impossible.
//! 3. Both lie there, and the quotient may be 2^31: divide what is left of them without their signs, which fits into 32
//!    bits, and give the result its sign in 64.
//!
//! A remainder is `a - a / b * b` of the narrow quotient, so that a quotient of the same operands serves both.
//!
//! # Example
//!
//! ```text
//! %x = arith.extsi %a : i32 to i64               %s = arith.trunci %x : i64 to i32
//! %q = arith.divsi %x, %c7 : i64           →     %t = arith.divsi %s, %c7' : i32
//!                                                %q = arith.extsi %t : i32 to i64
//! ```

use crate::analysis::ranges::{Range, Ranges};
use crate::ir::core::{Builder, Ir, Op, Type, Value};
use crate::ir::dialects::enums::CmpiPredicate;
use crate::ir::dialects::{ArithOp, OpKind};
use crate::passes::manager::{Changed, Failed, Input, Pass, PassCx};

pub static PASS: Pass = Pass {
    name: "ttc-narrow-divisions",
    doc: "divide in 32 bits what fits into them",
    input: Input::Any,
    options: &[],
    run,
};

/// Bits of the divisions that are looked at, and of those that take their place.
const WIDE: u32 = 64;
const NARROW: u32 = 32;

fn run(ir: &mut Ir, _: &mut PassCx) -> Result<Changed, Failed> {
    let mut found: Vec<(Op, Division, Way)> = vec![];
    for func in ir.functions() {
        let divisions: Vec<(Op, Division)> =
            ir.all_ops(func).into_iter().filter_map(|op| Some((op, Division::of(ir, op)?))).collect();
        if divisions.is_empty() {
            continue;
        }
        let ranges = Ranges::of(ir, func);
        found.extend(divisions.into_iter().filter_map(|(op, division)| {
            let [a, b] = [0, 1].map(|n| ranges.operand(ir, op, n));
            Some((op, division, way(division, a?, b?)?))
        }));
    }
    for &(op, division, way) in &found {
        let result = narrow(ir, op, division, way);
        ir.replace_op(op, &[result]);
    }
    Ok(Changed::from(!found.is_empty()))
}

/// What a division is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Division {
    signed: bool,
    remainder: bool,
}

impl Division {
    /// A division of 64 bits.
    fn of(ir: &Ir, op: Op) -> Option<Division> {
        let OpKind::Arith(kind) = ir.kind(op) else { return None };
        let division = match kind {
            ArithOp::Divsi => Division { signed: true, remainder: false },
            ArithOp::Remsi => Division { signed: true, remainder: true },
            ArithOp::Divui => Division { signed: false, remainder: false },
            ArithOp::Remui => Division { signed: false, remainder: true },
            _ => return None,
        };
        let elem = ir.ty(ir.result(op)).elem();
        (elem.is_int() && elem.bit_width() == Some(WIDE)).then_some(division)
    }
}

/// How 32 bits suffice: the three cases of the algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Unsigned,
    Signed,
    Magnitudes,
}

fn way(division: Division, a: Range, b: Range) -> Option<Way> {
    let least = i64::from(i32::MIN);
    let within = |low: i64, high: i64| [a, b].iter().all(|r| r.min >= low && r.max <= high);
    if within(0, i64::from(u32::MAX)) {
        return Some(Way::Unsigned);
    }
    if !division.signed || !within(least, i64::from(i32::MAX)) {
        return None;
    }
    if a.min > least || b.max < -1 || b.min > -1 {
        return Some(Way::Signed);
    }
    Some(Way::Magnitudes)
}

/// The result of a division, computed in this way in front of it.
fn narrow(ir: &mut Ir, op: Op, division: Division, way: Way) -> Value {
    let [a, b] = [0, 1].map(|n| ir.operand(op, n));
    let wide = ir.ty(ir.result(op));
    let ty = wide.with_elem(Type::int(NARROW));
    let mut w = Builder::before(ir, op);
    let [x, y] = [a, b].map(|v| w.value(ArithOp::Trunci, &[v], ty));
    let divide = |w: &mut Builder<'_>, kind, x, y| {
        let quotient = w.value(kind, &[x, y], ty);
        if !division.remainder {
            return quotient;
        }
        let whole = w.value(ArithOp::Muli, &[quotient, y], ty);
        w.value(ArithOp::Subi, &[x, whole], ty)
    };
    match way {
        Way::Unsigned => {
            let result = divide(&mut w, ArithOp::Divui, x, y);
            w.value(ArithOp::Extui, &[result], wide)
        }
        Way::Signed => {
            let result = divide(&mut w, ArithOp::Divsi, x, y);
            w.value(ArithOp::Extsi, &[result], wide)
        }
        Way::Magnitudes => {
            let zero = w.int(0, ty);
            let [p, q] = [x, y].map(|v| {
                let negated = w.value(ArithOp::Subi, &[zero, v], ty);
                let negative = w.cmpi(CmpiPredicate::Slt, v, zero);
                w.value(ArithOp::Select, &[negative, negated, v], ty)
            });
            let result = divide(&mut w, ArithOp::Divui, p, q);
            let result = w.value(ArithOp::Extui, &[result], wide);
            // A quotient is negative if one of them is, and a remainder has the sign of what is divided.
            let sign = if division.remainder { x } else { w.value(ArithOp::Xori, &[x, y], ty) };
            let negative = w.cmpi(CmpiPredicate::Slt, sign, zero);
            let none = w.int(0, wide);
            let negated = w.value(ArithOp::Subi, &[none, result], wide);
            w.value(ArithOp::Select, &[negative, negated, result], wide)
        }
    }
}
