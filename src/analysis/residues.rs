//! What an integer, or each element of a tensor of integers, leaves when it is divided by a power of two.
//!
//! Two accesses whose offsets from one pointer leave different rests touch nothing in common: `p + 2*i` and
//! `p + 2*i + 1`, whatever `i` is. Numbers that wrap leave the same rests.
//!
//! 1. A constant leaves itself; of a parameter, `tt.divisibility` says what divides it.
//! 2. Sums, differences and products of such numbers are known for a common divisor.
//! 3. A select leaves what both of its values leave.

use crate::ir::core::hash::Map;
use crate::ir::core::{Attr, Ir, Value, ValueDef};
use crate::ir::dialects::discardable::DIVISIBILITY;
use crate::ir::dialects::tt::tt::Addptr;
use crate::ir::dialects::{ArithOp, OpKind, TtOp, TtgOp};
use crate::ir::rewrite::fold::const_of;

/// The largest power of two that is asked for.
const MOST: i64 = 1 << 16;

/// How many operations a number is followed through.
const DEPTH: usize = 64;

/// A number that is `rest` more than a multiple of `modulus`, a power of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Residue {
    modulus: i64,
    rest: i64,
}

impl Residue {
    /// Nothing known.
    const ANY: Residue = Residue { modulus: 1, rest: 0 };

    fn new(modulus: i64, rest: i64) -> Residue {
        Residue { modulus, rest: rest.rem_euclid(modulus) }
    }

    /// Whether two numbers are surely different.
    pub(crate) fn differs(self, other: Residue) -> bool {
        let common = self.modulus.min(other.modulus);
        (self.rest - other.rest).rem_euclid(common) != 0
    }

    fn plus(self, other: Residue) -> Residue {
        Residue::new(self.modulus.min(other.modulus), self.rest + other.rest)
    }

    fn minus(self, other: Residue) -> Residue {
        Residue::new(self.modulus.min(other.modulus), self.rest - other.rest)
    }

    /// (m·a + r) · (n·b + s) = mn·ab + ms·a + nr·b + rs
    fn times(self, other: Residue) -> Residue {
        let divisor = |n: i64| if n == 0 { MOST } else { (n & -n).min(MOST) };
        let terms = [self.modulus * other.modulus, self.modulus * other.rest, other.modulus * self.rest];
        Residue::new(terms.map(divisor).into_iter().fold(MOST, i64::min), self.rest * other.rest)
    }

    fn join(self, other: Residue) -> Residue {
        let apart = self.rest - other.rest;
        let apart = if apart == 0 { MOST } else { apart & -apart };
        Residue::new(self.modulus.min(other.modulus).min(apart), self.rest)
    }
}

/// Whether an operation gives the elements of its operand at other places, or more often.
fn hands_on(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Tt(TtOp::Splat | TtOp::Broadcast | TtOp::ExpandDims | TtOp::Reshape | TtOp::Trans)
            | OpKind::Ttg(TtgOp::ConvertLayout)
    )
}

/// What the numbers of a function leave, as far as it was asked for.
#[derive(Default)]
pub(crate) struct Residues {
    known: Map<Value, Residue>,
}

impl Residues {
    /// What an integer leaves.
    fn of(&mut self, ir: &Ir, value: Value, depth: usize) -> Residue {
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        let found = self.find(ir, value, depth);
        self.known.insert(value, found);
        found
    }

    fn find(&mut self, ir: &Ir, value: Value, depth: usize) -> Residue {
        if let Some(n) = const_of(ir, value).and_then(|attr| attr.int_value().or(attr.splat_value().map(|v| v as i64)))
        {
            return Residue::new(MOST, n);
        }
        let ValueDef::Result { op, .. } = ir.def(value) else {
            let divisor = ir.value_attr(value, DIVISIBILITY).and_then(Attr::int_value).filter(|&n| n > 0);
            return divisor.map_or(Residue::ANY, |n| Residue::new((n & -n).min(MOST), 0));
        };
        if depth == 0 {
            return Residue::ANY;
        }
        let mut operand = |index: usize| self.of(ir, ir.operand(op, index), depth - 1);
        match ir.kind(op) {
            OpKind::Arith(kind) => match kind {
                ArithOp::Addi => operand(0).plus(operand(1)),
                ArithOp::Subi => operand(0).minus(operand(1)),
                ArithOp::Muli => operand(0).times(operand(1)),
                ArithOp::Select if !ir.ty(value).elem().is_ptr() => operand(1).join(operand(2)),
                // Numbers that lose upper bits leave what they left, up to what is left of them.
                ArithOp::Extsi | ArithOp::Extui | ArithOp::Trunci => {
                    let narrow = |v: Value| ir.ty(v).elem().bit_width().unwrap_or(1);
                    let bits = narrow(value).min(narrow(ir.operand(op, 0))).min(MOST.ilog2());
                    let known = operand(0);
                    Residue::new(known.modulus.min(1 << bits), known.rest)
                }
                _ => Residue::ANY,
            },
            kind if hands_on(kind) => operand(0),
            _ => Residue::ANY,
        }
    }

    /// The scalar pointer that addresses are made of, and what their offsets from it leave, in elements.
    pub(crate) fn of_addresses(&mut self, ir: &Ir, address: Value) -> (Value, Residue) {
        let (mut base, mut all) = (address, Residue::new(MOST, 0));
        while let Some(op) = ir.def_op(base) {
            if let Some(sum) = Addptr::of(ir, op) {
                all = all.plus(self.of(ir, sum.offset(ir), DEPTH));
                base = sum.ptr(ir);
                continue;
            }
            if !hands_on(ir.kind(op)) {
                break;
            }
            base = ir.operand(op, 0);
        }
        (base, all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of numbers with the rests that are known of them, for all small moduli.
    #[test]
    fn what_is_known_of_sums_and_products_holds() {
        let known: Vec<(Residue, i64)> = [1, 2, 4, 8, 16]
            .iter()
            .flat_map(|&m| (0..m).flat_map(move |r| (-3..4).map(move |k| (Residue::new(m, r), m * k + r))))
            .collect();
        let holds = |residue: Residue, n: i64| (n - residue.rest).rem_euclid(residue.modulus) == 0;
        for &(a, x) in &known {
            for &(b, y) in &known {
                assert!(holds(a.plus(b), x + y) && holds(a.minus(b), x - y) && holds(a.times(b), x * y));
                assert!(holds(a.join(b), x) && holds(a.join(b), y));
                assert!(!a.differs(b) || x != y, "{a:?} {b:?} {x} {y}");
            }
        }
    }
}
