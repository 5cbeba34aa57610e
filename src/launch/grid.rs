//! The grid as expressions over the arguments of a kernel, which every launcher can evaluate.
//!
//! 1. An expression is Python's: integers, names of arguments and constants, `+ - * // %`, `cdiv(a, b)`, `min` and
//!    `max`, parsed by the parser of kernels.
//! 2. Constants are replaced by their values, and what is then known is computed. What is left holds names of integer
//!    arguments alone.
//! 3. Values are i64. `//`, `%` and `cdiv` round as in Python, by a positive number. `/` means `//`.
//!
//! Example: `cdiv(n, BLOCK), 2 * H` with BLOCK = 128 and H = 4 is `cdiv(n, 128)` and `8`.

use std::collections::BTreeMap;
use std::fmt;

use crate::diag::suggest::did_you_mean;
use crate::diag::{Diagnostic, Place};
use crate::parser::ast::{BinOp, Constant, ExprKind, UnaryOp};
use crate::parser::{ast, parse_expr_str};
use crate::source::SourceMap;

/// An integer expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    Int(i64),
    /// The value of an argument.
    Argument(String),
    Binary(Operator, Box<Expr>, Box<Expr>),
}

/// A function of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Sub,
    Mul,
    /// `a // b`
    Div,
    /// `a % b`
    Mod,
    /// The smallest integer not below the quotient.
    Cdiv,
    Min,
    Max,
}

impl Operator {
    /// Computes the value. `None` if it does not fit into 64 bits, or for a divisor that is not positive.
    #[must_use]
    pub fn apply(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Operator::Add => a.checked_add(b),
            Operator::Sub => a.checked_sub(b),
            Operator::Mul => a.checked_mul(b),
            Operator::Div | Operator::Mod | Operator::Cdiv if b <= 0 => None,
            Operator::Div => Some(a.div_euclid(b)),
            Operator::Mod => Some(a.rem_euclid(b)),
            Operator::Cdiv => Some(a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)),
            Operator::Min => Some(a.min(b)),
            Operator::Max => Some(a.max(b)),
        }
    }

    /// The sign between the operands, or the name before them.
    fn word(self) -> Result<&'static str, &'static str> {
        match self {
            Operator::Add => Ok("+"),
            Operator::Sub => Ok("-"),
            Operator::Mul => Ok("*"),
            Operator::Div => Ok("//"),
            Operator::Mod => Ok("%"),
            Operator::Cdiv => Err("cdiv"),
            Operator::Min => Err("min"),
            Operator::Max => Err("max"),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Int(v) => write!(f, "{v}"),
            Expr::Argument(name) => f.write_str(name),
            Expr::Binary(op, a, b) => match op.word() {
                Err(function) => write!(f, "{function}({a}, {b})"),
                Ok(sign) => {
                    let inner = |e: &Expr| match e {
                        Expr::Binary(op, ..) if op.word().is_ok() => format!("({e})"),
                        Expr::Int(v) if *v < 0 => format!("({e})"),
                        _ => e.to_string(),
                    };
                    write!(f, "{} {sign} {}", inner(a), inner(b))
                }
            },
        }
    }
}

impl Expr {
    /// Reads one expression that [`parse`] gave.
    ///
    /// # Errors
    /// Says what is wrong with the text.
    pub fn read(text: &str) -> Result<Expr, String> {
        let mut map = SourceMap::default();
        let expr = parse_expr_str(&mut map, "<grid>", text).map_err(|e| first(&e))?;
        of(&expr, &BTreeMap::new(), None)
    }

    /// The value for these arguments. `None` if one is missing, or as [`Operator::apply`] says.
    #[must_use]
    pub fn value(&self, arguments: &BTreeMap<String, i64>) -> Option<i64> {
        match self {
            Expr::Int(v) => Some(*v),
            Expr::Argument(name) => arguments.get(name).copied(),
            Expr::Binary(op, a, b) => op.apply(a.value(arguments)?, b.value(arguments)?),
        }
    }
}

/// Reads the grid of a kernel: one to three expressions with commas between them; missing ones are 1. `constants` are
/// the compile-time parameters, and `integers` the arguments that may occur.
///
/// # Errors
/// Says what is wrong with the text.
pub fn parse(text: &str, constants: &BTreeMap<String, String>, integers: &[&str]) -> Result<[Expr; 3], String> {
    if text.trim().is_empty() {
        return Err("a grid has one to three axes, found none".to_owned());
    }
    let mut map = SourceMap::default();
    // A comma after the last expression makes a tuple of one as well.
    let inner = text.trim().trim_end_matches(',');
    let expr = parse_expr_str(&mut map, "<grid>", &format!("({inner},)")).map_err(|e| {
        let at_end = |d: &Diagnostic| matches!(d.place(), Some(Place::Span(s)) if s.lo as usize > inner.len());
        if e.first().is_some_and(at_end) { "it ends where an expression is expected".to_owned() } else { first(&e) }
    })?;
    let ExprKind::Tuple(items) = &expr.kind else { return Err("this is no list of expressions".to_owned()) };
    // `(…)` around all of it is a habit from Python.
    let items = match items.as_slice() {
        [ast::Expr { kind: ExprKind::Tuple(inner), .. }] => inner,
        _ => items,
    };
    if items.is_empty() || items.len() > 3 {
        return Err(format!("a grid has one to three axes, found {}", items.len()));
    }
    let mut axes = [Expr::Int(1), Expr::Int(1), Expr::Int(1)];
    // CUDA C++ Programming Guide, "Compute Capabilities". Launchers keep to it on every GPU.
    let limits = [("x", i64::from(i32::MAX)), ("y", 0xffff), ("z", 0xffff)];
    for ((axis, (name, most)), item) in axes.iter_mut().zip(limits).zip(items) {
        *axis = of(item, constants, Some(integers))?;
        if let Expr::Int(v) = axis
            && !(0..=most).contains(v)
        {
            return Err(format!("{v} programs along {name} cannot be launched: a launch has 0 to {most}"));
        }
    }
    Ok(axes)
}

fn first(errors: &[Diagnostic]) -> String {
    errors.first().map_or_else(|| "this is no expression".to_owned(), |d| d.message.clone())
}

fn of(e: &ast::Expr, constants: &BTreeMap<String, String>, integers: Option<&[&str]>) -> Result<Expr, String> {
    let go = |e: &ast::Expr| of(e, constants, integers);
    match &e.kind {
        ExprKind::Constant(Constant::Int(v)) => {
            i64::try_from(*v).map(Expr::Int).map_err(|_| format!("{v} does not fit into 64 bits"))
        }
        ExprKind::Name(name) => name_of(name, constants, integers),
        ExprKind::UnaryOp { op: UnaryOp::Neg, operand } => simplified(Operator::Sub, Expr::Int(0), go(operand)?),
        ExprKind::UnaryOp { op: UnaryOp::Pos, operand } => go(operand),
        ExprKind::BinOp { left, op, right } => {
            let op = match op {
                BinOp::Add => Operator::Add,
                BinOp::Sub => Operator::Sub,
                BinOp::Mul => Operator::Mul,
                // In the grids of Triton's ahead-of-time tool, which are C, `/` divides integers.
                BinOp::FloorDiv | BinOp::Div => Operator::Div,
                BinOp::Mod => Operator::Mod,
                other => return Err(format!("a grid has no `{}`", other.symbol())),
            };
            simplified(op, go(left)?, go(right)?)
        }
        ExprKind::Call(call) => {
            let path = call.func.dotted().unwrap_or_default();
            let name = path.last().copied().unwrap_or_default();
            let op = match name {
                "cdiv" => Operator::Cdiv,
                "min" => Operator::Min,
                "max" => Operator::Max,
                _ => return Err(format!("a grid has no function `{name}`; there are cdiv, min and max")),
            };
            let args = call.args.iter().map(go).collect::<Result<Vec<_>, _>>()?;
            if args.len() < 2 || (op == Operator::Cdiv && args.len() > 2) || !call.keywords.is_empty() {
                return Err(format!("`{name}` takes two arguments"));
            }
            let mut args = args.into_iter();
            let first = args.next().unwrap_or(Expr::Int(0));
            args.try_fold(first, |a, b| simplified(op, a, b))
        }
        ExprKind::Tuple(_) => Err("a grid is one list of up to three expressions".to_owned()),
        _ => Err("a grid has integers, names, `+ - * // %`, cdiv, min and max only".to_owned()),
    }
}

fn name_of(name: &str, constants: &BTreeMap<String, String>, integers: Option<&[&str]>) -> Result<Expr, String> {
    if let Some(value) = constants.get(name) {
        let parsed = match value.as_str() {
            "True" => Some(1),
            "False" => Some(0),
            text => text.parse().ok(),
        };
        return parsed.map(Expr::Int).ok_or_else(|| format!("`{name}` is {value}, which is no integer"));
    }
    match integers {
        Some(known) if !known.contains(&name) => {
            let names = known.iter().copied().chain(constants.keys().map(|k| &**k));
            let hint = did_you_mean(name, names).map_or_else(String::new, |text| format!("; {text}"));
            Err(format!("`{name}` is neither an integer argument nor a constant of the kernel{hint}"))
        }
        _ => Ok(Expr::Argument(name.to_owned())),
    }
}

/// The value of an operator between constants, and otherwise the expression.
fn simplified(op: Operator, a: Expr, b: Expr) -> Result<Expr, String> {
    if let (Operator::Div | Operator::Mod | Operator::Cdiv, Expr::Int(d)) = (op, &b)
        && *d <= 0
    {
        return Err(format!("division by {d}"));
    }
    let shown = |a: &Expr, b: &Expr| Expr::Binary(op, Box::new(a.clone()), Box::new(b.clone()));
    match (&a, &b) {
        (Expr::Int(x), Expr::Int(y)) => {
            op.apply(*x, *y).map(Expr::Int).ok_or_else(|| format!("`{}` does not fit into 64 bits", shown(&a, &b)))
        }
        _ => Ok(shown(&a, &b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Result<String, String> {
        let constants = [("BLOCK", "128"), ("H", "4"), ("T", "True"), ("KIND", "'gelu'")];
        let constants = constants.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let axes = parse(text, &constants, &["n", "m"])?;
        for axis in &axes {
            assert_eq!(Expr::read(&axis.to_string()).as_ref(), Ok(axis), "it reads what it prints");
        }
        Ok(axes.map(|a| a.to_string()).join(" | "))
    }

    #[test]
    fn constants_are_replaced_and_what_is_known_is_computed() {
        for (text, want) in [
            ("cdiv(n, BLOCK)", "cdiv(n, 128) | 1 | 1"),
            ("triton.cdiv(n, BLOCK), 2 * H, T + 1", "cdiv(n, 128) | 8 | 2"),
            ("(n // (2 * BLOCK), m)", "n // 256 | m | 1"),
            ("(n + 127) / BLOCK, m, 1", "(n + 127) // 128 | m | 1"),
            ("(n + 1) * (m - -1),", "(n + 1) * (m - (-1)) | 1 | 1"),
            ("min(n, m, 132)", "min(min(n, m), 132) | 1 | 1"),
            ("-n + max(n, 2) % 3", "(0 - n) + (max(n, 2) % 3) | 1 | 1"),
        ] {
            assert_eq!(grid(text).as_deref(), Ok(want), "{text}");
        }
    }

    #[test]
    fn what_is_no_grid_says_why() {
        for (text, why) in [
            ("k", "`k` is neither an integer argument nor a constant"),
            ("n ** 2", "a grid has no `**`"),
            ("cdiv(n, 0)", "division by 0"),
            ("cdiv(n)", "`cdiv` takes two arguments"),
            ("log(n)", "a grid has no function `log`"),
            ("KIND", "`KIND` is 'gelu', which is no integer"),
            ("1, 2, 3, 4", "one to three axes, found 4"),
            ("", "one to three axes"),
            ("-1", "-1 programs along x"),
            ("2147483648", "2147483648 programs along x"),
            ("n, 65536", "65536 programs along y cannot be launched: a launch has 0 to 65535"),
            ("1, n, 512 * BLOCK", "65536 programs along z"),
            ("n if m else 1", "a grid has integers"),
            ("n +", ""),
        ] {
            let got = grid(text);
            assert!(got.as_ref().is_err_and(|e| e.contains(why)), "{text}: {got:?}");
        }
    }

    #[test]
    fn values_round_as_in_python() {
        let value = |text: &str, n: i64| Expr::read(text).unwrap().value(&[("n".to_owned(), n)].into_iter().collect());
        assert_eq!(value("cdiv(n, 128)", 129), Some(2));
        assert_eq!(value("cdiv(n, 128)", -1), Some(0));
        assert_eq!(value("n // 2", -3), Some(-2));
        assert_eq!(value("n % 3", -1), Some(2));
        assert_eq!(value("4 // n", 0), None);
        assert_eq!(value("n * n", i64::MAX), None);
        assert_eq!(value("m", 1), None);
    }
}
