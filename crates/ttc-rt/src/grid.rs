//! The grid as expressions over a kernel's arguments.

/// An expression over integers.
#[derive(Clone, Copy, Debug)]
pub enum Expr {
    /// A number.
    Int(i64),
    /// The value of the argument of this number.
    Argument(usize),
    /// `a + b`
    Add(&'static Expr, &'static Expr),
    /// `a - b`
    Sub(&'static Expr, &'static Expr),
    /// `a * b`
    Mul(&'static Expr, &'static Expr),
    /// The quotient, rounded down.
    Div(&'static Expr, &'static Expr),
    /// What the quotient leaves, which is never negative.
    Mod(&'static Expr, &'static Expr),
    /// The quotient, rounded up.
    Cdiv(&'static Expr, &'static Expr),
    /// The smaller one.
    Min(&'static Expr, &'static Expr),
    /// The larger one.
    Max(&'static Expr, &'static Expr),
}

impl Expr {
    /// The value for these arguments. `None` if it does not fit into 64 bits, for a divisor that is not positive, or
    /// for an argument that is no integer.
    pub(crate) fn value(&self, argument: &impl Fn(usize) -> Option<i64>) -> Option<i64> {
        let both = |a: &Expr, b: &Expr| Some((a.value(argument)?, b.value(argument)?));
        let divided = |a: &Expr, b: &Expr| both(a, b).filter(|&(_, b)| b > 0);
        match *self {
            Expr::Int(value) => Some(value),
            Expr::Argument(number) => argument(number),
            Expr::Add(a, b) => both(a, b).and_then(|(a, b)| a.checked_add(b)),
            Expr::Sub(a, b) => both(a, b).and_then(|(a, b)| a.checked_sub(b)),
            Expr::Mul(a, b) => both(a, b).and_then(|(a, b)| a.checked_mul(b)),
            Expr::Div(a, b) => divided(a, b).map(|(a, b)| a.div_euclid(b)),
            Expr::Mod(a, b) => divided(a, b).map(|(a, b)| a.rem_euclid(b)),
            Expr::Cdiv(a, b) => divided(a, b).map(|(a, b)| a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)),
            Expr::Min(a, b) => both(a, b).map(|(a, b)| a.min(b)),
            Expr::Max(a, b) => both(a, b).map(|(a, b)| a.max(b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Expr::{self, *};

    const N: Expr = Argument(0);

    fn value(expr: Expr, n: i64) -> Option<i64> {
        expr.value(&|number| (number == 0).then_some(n))
    }

    #[test]
    fn values_round_as_in_python() {
        assert_eq!(value(Cdiv(&N, &Int(128)), 129), Some(2));
        assert_eq!(value(Cdiv(&N, &Int(128)), -1), Some(0));
        assert_eq!(value(Div(&N, &Int(2)), -3), Some(-2));
        assert_eq!(value(Mod(&N, &Int(3)), -1), Some(2));
        assert_eq!(value(Div(&Int(4), &N), 0), None);
        assert_eq!(value(Mul(&N, &N), i64::MAX), None);
        assert_eq!(value(Add(&N, &Argument(1)), 1), None);
        assert_eq!(value(Sub(&Min(&N, &Int(7)), &Max(&N, &Int(2))), 5), Some(0));
    }
}
