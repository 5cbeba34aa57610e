//! Expressions of a case file: Python's, over integers, floats, strings and truth values, parsed by the parser of
//! kernels.
//!
//! 1. A name is looked up among the parameters and constants of the case.
//! 2. Operators mean what they mean in Python: `//` and `%` round down, `/` gives a float, `and` and `or` give one of
//!    their operands.
//! 3. The functions are `cdiv`, `next_power_of_2`, `min`, `max`, `abs`, `int`, `float` and `len` of a string.
//! 4. A name that nobody defined stands for itself ([`Value::Name`]): a dtype such as `fp32`, or `tl.float16` of the
//!    kernel's file.
//!
//! Example: `cdiv(n, BLOCK) * 2 if causal else 1` with n = 1000, BLOCK = 256, causal = True gives 8.

use super::value::{Env, Value};
use crate::parser::ast::{BinOp, BoolOp, Call, CmpOp, Constant, Expr, ExprKind, UnaryOp};
use crate::source::{SourceMap, Span};

/// An expression with its text and its place in the case file.
#[derive(Clone, Debug)]
pub struct Expression {
    pub text: String,
    pub span: Span,
    pub(super) expr: Expr,
}

impl Expression {
    /// Parses the text of an expression.
    pub fn parse(text: &str, span: Span) -> Result<Expression, String> {
        let mut map = SourceMap::default();
        let expr = crate::parser::parse_expr_str(&mut map, "<expression>", text)
            .map_err(|e| e.first().map_or_else(|| "this is no expression".to_owned(), |d| d.message.clone()))?;
        Ok(Expression { text: text.to_owned(), span, expr })
    }

    /// Computes the value. `Err` says why there is none.
    pub fn value(&self, env: &Env) -> Result<Value, String> {
        evaluate(&self.expr, env)
    }
}

pub(super) fn evaluate(expr: &Expr, env: &Env) -> Result<Value, String> {
    match &expr.kind {
        ExprKind::Constant(c) => constant(c),
        ExprKind::Name(name) => Ok(env.get(&**name).cloned().unwrap_or_else(|| Value::Name(name.to_string()))),
        ExprKind::Attribute { .. } => {
            let path = expr.dotted().ok_or("only a dotted name can have attributes")?;
            Ok(Value::Name(path.join(".")))
        }
        ExprKind::UnaryOp { op, operand } => unary(*op, &evaluate(operand, env)?),
        ExprKind::BinOp { left, op, right } => binary(*op, &evaluate(left, env)?, &evaluate(right, env)?),
        ExprKind::BoolOp { op, values } => {
            let mut last = Value::None;
            for v in values {
                last = evaluate(v, env)?;
                if last.is_true() == (*op == BoolOp::Or) {
                    break;
                }
            }
            Ok(last)
        }
        ExprKind::Compare { left, rest } => {
            let mut left = evaluate(left, env)?;
            for (op, right) in rest {
                let (holds, value) = compare(*op, &left, right, env)?;
                if !holds {
                    return Ok(Value::Bool(false));
                }
                left = value;
            }
            Ok(Value::Bool(true))
        }
        ExprKind::IfExp { test, body, orelse } => {
            evaluate(if evaluate(test, env)?.is_true() { body } else { orelse }, env)
        }
        ExprKind::Call(call) => function(call, env),
        _ => Err("this kind of expression has no meaning in a case file".to_owned()),
    }
}

fn constant(c: &Constant) -> Result<Value, String> {
    Ok(match c {
        Constant::None => Value::None,
        Constant::Bool(b) => Value::Bool(*b),
        Constant::Int(v) => Value::Int(i64::try_from(*v).map_err(|_| format!("{v} does not fit into 64 bits"))?),
        Constant::Float(v) => Value::Float(*v),
        Constant::Str(s) => Value::Str(s.to_string()),
        Constant::Ellipsis | Constant::Imaginary(_) | Constant::Bytes(_) => {
            return Err("a case file has no such constants".to_owned());
        }
    })
}

fn number(v: &Value) -> Result<f64, String> {
    v.as_f64().ok_or_else(|| match v {
        Value::Name(n) => format!("`{n}` is neither a parameter nor a constant"),
        other => format!("expected a number, found {}", other.to_define()),
    })
}

fn integer(v: &Value) -> Result<i64, String> {
    number(v)?;
    v.as_int().ok_or_else(|| format!("expected an integer, found {}", v.to_define()))
}

fn unary(op: UnaryOp, v: &Value) -> Result<Value, String> {
    Ok(match (op, v) {
        (UnaryOp::Not, v) => Value::Bool(!v.is_true()),
        (UnaryOp::Neg, Value::Float(f)) => Value::Float(-f),
        (UnaryOp::Pos, Value::Float(f)) => Value::Float(*f),
        (UnaryOp::Neg, v) => Value::Int(integer(v)?.checked_neg().ok_or("overflow")?),
        (UnaryOp::Pos, v) => Value::Int(integer(v)?),
        (UnaryOp::Invert, v) => Value::Int(!integer(v)?),
    })
}

fn binary(op: BinOp, a: &Value, b: &Value) -> Result<Value, String> {
    if let (Value::Str(x), BinOp::Add, Value::Str(y)) = (a, op, b) {
        return Ok(Value::Str(format!("{x}{y}")));
    }
    let (x, y) = (number(a)?, number(b)?);
    let zero = || if y == 0.0 { Err(format!("division by zero in `{}`", op.symbol())) } else { Ok(()) };
    let (Some(i), Some(j)) = (a.as_int(), b.as_int()) else {
        return Ok(Value::Float(match op {
            BinOp::Add => x + y,
            BinOp::Sub => x - y,
            BinOp::Mul => x * y,
            BinOp::Div => zero().map(|()| x / y)?,
            BinOp::FloorDiv => zero().map(|()| (x / y).floor())?,
            BinOp::Mod => zero().map(|()| x - y * (x / y).floor())?,
            BinOp::Pow => x.powf(y),
            _ => return Err(format!("`{}` takes integers", op.symbol())),
        }));
    };
    let shift = u32::try_from(j).ok().filter(|s| *s < 63);
    let value = match op {
        BinOp::Add => i.checked_add(j),
        BinOp::Sub => i.checked_sub(j),
        BinOp::Mul => i.checked_mul(j),
        BinOp::Div => return zero().map(|()| Value::Float(x / y)),
        BinOp::FloorDiv => {
            zero().map(|()| i.checked_div_euclid(j).map(|q| if j < 0 && i.rem_euclid(j) != 0 { q - 1 } else { q }))?
        }
        BinOp::Mod => {
            zero().map(|()| i.checked_rem(j).map(|r| if r != 0 && (r < 0) != (j < 0) { r + j } else { r }))?
        }
        BinOp::Pow if j < 0 => return Ok(Value::Float(x.powf(y))),
        BinOp::Pow => u32::try_from(j).ok().and_then(|e| i.checked_pow(e)),
        BinOp::LShift => shift.and_then(|s| i.checked_mul(1 << s)),
        BinOp::RShift => shift.map(|s| i >> s),
        BinOp::BitAnd => Some(i & j),
        BinOp::BitOr => Some(i | j),
        BinOp::BitXor => Some(i ^ j),
        BinOp::MatMul => return Err("`@` has no meaning in a case file".to_owned()),
    };
    value.map(Value::Int).ok_or_else(|| format!("`{i} {} {j}` does not fit into 64 bits", op.symbol()))
}

/// Decides whether a comparison holds. Also gives the right operand, with which a chain goes on.
fn compare(op: CmpOp, left: &Value, right: &Expr, env: &Env) -> Result<(bool, Value), String> {
    if let (CmpOp::In | CmpOp::NotIn, ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Set(items)) =
        (op, &right.kind)
    {
        let mut found = false;
        for item in items {
            found |= equal(left, &evaluate(item, env)?);
        }
        return Ok((found == (op == CmpOp::In), Value::None));
    }
    let right = evaluate(right, env)?;
    let holds = match op {
        CmpOp::Eq | CmpOp::Is => equal(left, &right),
        CmpOp::NotEq | CmpOp::IsNot => !equal(left, &right),
        CmpOp::Lt => number(left)? < number(&right)?,
        CmpOp::LtE => number(left)? <= number(&right)?,
        CmpOp::Gt => number(left)? > number(&right)?,
        CmpOp::GtE => number(left)? >= number(&right)?,
        CmpOp::In | CmpOp::NotIn => return Err("`in` takes a list or a tuple on its right".to_owned()),
    };
    Ok((holds, right))
}

/// Compares numbers by value. A bare name equals the string of its letters, so that `dtype == fp16` means the same as
/// `dtype == 'fp16'`.
#[allow(clippy::float_cmp)] // Python's `==`
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Str(x) | Value::Name(x), Value::Str(y) | Value::Name(y)) => x == y,
        _ => match (a.as_f64(), b.as_f64()) {
            (Some(x), Some(y)) => x == y,
            _ => a == b,
        },
    }
}

#[allow(clippy::float_cmp)] // of equal values the first one wins, as in Python
fn function(call: &Call, env: &Env) -> Result<Value, String> {
    let path = call.func.dotted().ok_or("only a function's name can be called")?;
    let name = path.last().copied().unwrap_or_default();
    if !call.keywords.is_empty() {
        return Err(format!("`{name}` takes no keyword arguments"));
    }
    let args: Vec<Value> = call.args.iter().map(|a| evaluate(a, env)).collect::<Result<_, _>>()?;
    match (name, args.as_slice()) {
        ("cdiv", [a, b]) => {
            let (a, b) = (integer(a)?, integer(b)?);
            if b <= 0 {
                Err("`cdiv` by zero or less".to_owned())
            } else {
                Ok(Value::Int(a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)))
            }
        }
        ("next_power_of_2", [a]) => {
            let n = u64::try_from(integer(a)?).map_err(|_| "`next_power_of_2` of a negative number")?;
            Ok(Value::Int(n.max(1).checked_next_power_of_two().and_then(|p| i64::try_from(p).ok()).ok_or("overflow")?))
        }
        ("min" | "max", [first, rest @ ..]) => {
            let mut best = first.clone();
            number(first)?;
            for v in rest {
                if (number(v)? < number(&best)?) == (name == "min") && number(v)? != number(&best)? {
                    best = v.clone();
                }
            }
            Ok(best)
        }
        ("abs", [Value::Float(v)]) => Ok(Value::Float(v.abs())),
        ("abs", [v]) => Ok(Value::Int(integer(v)?.checked_abs().ok_or("overflow")?)),
        ("int", [v]) => Ok(Value::Int(v.as_int().map_or_else(|| number(v).map(|f| f as i64), Ok)?)),
        ("float", [Value::Str(s)]) => s.trim().parse().map(Value::Float).map_err(|_| format!("'{s}' is no float")),
        ("float", [v]) => Ok(Value::Float(number(v)?)),
        ("len", [Value::Str(s)]) => Ok(Value::Int(s.chars().count() as i64)),
        ("cdiv" | "next_power_of_2" | "min" | "max" | "abs" | "int" | "float" | "len", _) => {
            Err(format!("`{name}` does not take {} arguments of this kind", args.len()))
        }
        _ => Err(format!(
            "there is no function `{name}`; there are cdiv, next_power_of_2, min, max, abs, int, float and len"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn eval(text: &str) -> Result<String, String> {
        let env: Env = [("n", Value::Int(1000)), ("eps", Value::Float(0.5)), ("dtype", Value::Str("fp16".into()))]
            .into_iter()
            .map(|(k, v)| (k.to_owned(), v))
            .collect();
        Expression::parse(text, Span { file: FileId(0), lo: 0, hi: 0 })?.value(&env).map(|v| v.to_define())
    }

    #[test]
    fn expressions_mean_what_they_mean_in_python() {
        for (text, want) in [
            ("cdiv(n, 256) * 2", "8"),
            ("next_power_of_2(n)", "1024"),
            ("-7 // 2", "-4"),
            ("7 // -2", "-4"),
            ("-7 // -2", "3"),
            ("-7 % 3", "2"),
            ("7 % -3", "-2"),
            ("7 / 2", "3.5"),
            ("2 ** 10 - 1", "1023"),
            ("2 ** -1", "0.5"),
            ("1 << 4 | 1", "17"),
            ("min(n, 3, 2.5)", "2.5"),
            ("max(1, n)", "1000"),
            ("1 < 2 < 3", "True"),
            ("1 < 2 > 3", "False"),
            ("0 or 'x'", "'x'"),
            ("n and None", "None"),
            ("not n", "False"),
            ("1 if dtype == 'fp16' else 2", "1"),
            ("dtype in ('fp32', 'bf16')", "False"),
            ("dtype not in ['fp32', 'bf16']", "True"),
            ("tl.float16", "tl.float16"),
            ("fp32", "fp32"),
            ("float('-inf')", "float('-inf')"),
            ("-eps", "-0.5"),
            ("int(3.9)", "3"),
        ] {
            assert_eq!(eval(text).as_deref(), Ok(want), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_says_why() {
        for (text, why) in [
            ("n // 0", "division by zero in `//`"),
            ("m + 1", "`m` is neither a parameter nor a constant"),
            ("9223372036854775807 + 1", "`9223372036854775807 + 1` does not fit into 64 bits"),
            (
                "sin(1)",
                "there is no function `sin`; there are cdiv, next_power_of_2, min, max, abs, int, float and len",
            ),
            ("[n]", "this kind of expression has no meaning in a case file"),
            ("cdiv(n)", "`cdiv` does not take 1 arguments of this kind"),
        ] {
            assert_eq!(eval(text), Err(why.to_owned()), "{text}");
        }
        assert!(eval("n +").is_err());
    }
}
