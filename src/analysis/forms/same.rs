//! Whether two polynomials are equal though parts of them are computed twice.
//!
//! A persistent kernel counts its tiles once for the loads and once for the stores, so that nothing of the first count
//! lives until a tile is stored. Both counts have the same form, but `tile % m` and `stored % m` are two values that
//! forms do not take apart. They are the same number if their operands are.

use super::Forms;
use super::poly::{Atom, Poly, Product};
use crate::ir::core::Value;
use crate::ir::dialects::{ArithOp, OpKind};

impl Forms<'_> {
    /// Whether two polynomials are known to be the same number, in the same iteration of the loops around both.
    pub(crate) fn are_equal(&mut self, a: &Poly, b: &Poly) -> bool {
        a == b || self.by_firsts(a).is_some_and(|a| self.by_firsts(b) == Some(a))
    }

    /// Whether an end is not positive where the cause is negative ([`Forms::ends_before`]), in the same iteration.
    pub(crate) fn is_over_before(&mut self, end: &Poly, cause: &Poly) -> bool {
        let (Some(end), Some(cause)) = (self.by_firsts(end), self.by_firsts(cause)) else { return false };
        self.ends_before(&end, &cause)
    }

    /// A polynomial in which each value is the first one that was seen to be the same number.
    fn by_firsts(&mut self, poly: &Poly) -> Option<Poly> {
        let mut sum = Poly::default();
        for (product, n) in poly.terms() {
            let mut product: Product = product.iter().map(|&atom| self.first_of(atom)).collect();
            product.sort_unstable();
            sum = sum.add(&Poly::term(product, n))?;
        }
        Some(sum)
    }

    fn first_of(&mut self, atom: Atom) -> Atom {
        let Atom::Value(value) = atom else { return atom };
        if let Some(&known) = self.firsts.get(&value) {
            return Atom::Value(known);
        }
        // While it is being found, it is itself.
        self.firsts.insert(value, value);
        let first = self.find_first(value).unwrap_or(value);
        self.firsts.insert(value, first);
        Atom::Value(first)
    }

    fn find_first(&mut self, value: Value) -> Option<Value> {
        use ArithOp as A;
        let ir = self.ir;
        let op = ir.def_op(value).filter(|_| !ir.ty(value).is_tensor())?;
        let OpKind::Arith(kind @ (A::Divsi | A::Remsi | A::Minsi | A::Maxsi)) = ir.kind(op) else {
            return None;
        };
        let mut operands = vec![];
        for &operand in ir.operands(op) {
            let form = self.uniform(operand)?;
            operands.push(self.by_firsts(&form)?);
        }
        Some(*self.computed.entry((kind, operands)).or_insert(value))
    }
}
