//! Grids as C: each axis is an expression of 64-bit integers over the arguments.
//!
//! Every operation that may leave 64 bits, or divide by what is not positive, is a function of `ttc_rt.h` that says so
//! in the variable `fits`.
//!
//! Example: `cdiv(n, 128)` is `ttcrt_cdiv((int64_t)args->n, 128, &fits)`.

use super::super::grid::{Expr, Operator};
use super::Printed;

/// An axis of a grid as an expression of C, and whether it can fail to fit. `None` if the text is no expression.
pub(super) fn axis(k: &Printed<'_>, text: &str) -> Option<(String, bool)> {
    let expr = Expr::read(text).ok()?;
    let c = of(k, &expr);
    let fallible = c.contains("&fits");
    Some((c, fallible))
}

/// The expression in C. It sets `fits` to false where it cannot be computed.
pub(super) fn of(k: &Printed<'_>, expr: &Expr) -> String {
    match expr {
        // The smallest number has no literal in C.
        Expr::Int(i64::MIN) => "INT64_MIN".to_owned(),
        Expr::Int(v) if i32::try_from(*v).is_ok() => v.to_string(),
        Expr::Int(v) => format!("INT64_C({v})"),
        Expr::Argument(name) => {
            let (member, ty) = k.argument(name);
            if ty == "u64" {
                format!("ttcrt_from_u64(args->{member}, &fits)")
            } else {
                format!("(int64_t)args->{member}")
            }
        }
        Expr::Binary(op, a, b) => {
            let (a, b) = (of(k, a), of(k, b));
            match function(*op) {
                (function, true) => format!("{function}({a}, {b}, &fits)"),
                (function, false) => format!("{function}({a}, {b})"),
            }
        }
    }
}

/// The function for an operator, and whether it takes `&fits`.
fn function(op: Operator) -> (&'static str, bool) {
    match op {
        Operator::Add => ("ttcrt_add", true),
        Operator::Sub => ("ttcrt_sub", true),
        Operator::Mul => ("ttcrt_mul", true),
        Operator::Div => ("ttcrt_div", true),
        Operator::Mod => ("ttcrt_mod", true),
        Operator::Cdiv => ("ttcrt_cdiv", true),
        Operator::Min => ("ttcrt_min", false),
        Operator::Max => ("ttcrt_max", false),
    }
}
