//! Values of the expressions in a case file.

use std::collections::BTreeMap;
use std::fmt;

/// What an expression of a case file evaluates to.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    /// A dotted name that the case does not define, such as `tl.float16`. It means what it means in the kernel's file.
    Name(String),
}

/// Values by name.
pub type Env = BTreeMap<String, Value>;

impl Value {
    /// The value as it stands behind `-D NAME=`: `128`, `1e-05`, `True`, `'gelu'`.
    #[must_use]
    pub fn to_define(&self) -> String {
        match self {
            Value::None => "None".to_owned(),
            Value::Bool(true) => "True".to_owned(),
            Value::Bool(false) => "False".to_owned(),
            Value::Int(v) => v.to_string(),
            Value::Float(v) if v.is_nan() => "float('nan')".to_owned(),
            Value::Float(v) if v.is_infinite() => format!("float('{}inf')", if *v < 0.0 { "-" } else { "" }),
            Value::Float(v) => format!("{v:?}"),
            Value::Str(s) => format!("'{}'", s.replace('\\', "\\\\").replace('\'', "\\'")),
            Value::Name(n) => n.clone(),
        }
    }

    /// The number, if the value is one. A truth value counts as 0 or 1.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::Bool(b) => Some(f64::from(u8::from(b))),
            Value::Int(v) => Some(v as f64),
            Value::Float(v) => Some(v),
            _ => None,
        }
    }

    /// The integer, if the value is one. A truth value counts as 0 or 1.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match *self {
            Value::Bool(b) => Some(i64::from(b)),
            Value::Int(v) => Some(v),
            _ => None,
        }
    }

    /// Whether Python takes the value for true.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Value::None => false,
            Value::Bool(b) => *b,
            Value::Int(v) => *v != 0,
            Value::Float(v) => *v != 0.0,
            Value::Str(s) => !s.is_empty(),
            Value::Name(_) => true,
        }
    }
}

/// Shows the value as a table does: a string has no quotes.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Str(s) => f.write_str(s),
            other => f.write_str(&other.to_define()),
        }
    }
}
