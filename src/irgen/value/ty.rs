//! [`ObjectType`]: the static type of a value. The types of its arguments name a specialisation of a function. A
//! compile-time value is its own type.

use std::fmt;

use super::constant::Const;
use super::object::Object;
use crate::irgen::front::modules::Modules;
use crate::irgen::types::Ty;

/// The static type of a value.
#[derive(Clone, PartialEq)]
pub enum ObjectType {
    Tensor(Ty),
    Const(Const),
    Tuple(Vec<ObjectType>),
    Desc(Ty),
    Other,
}

impl Object {
    /// The static type.
    #[must_use]
    pub fn ty(&self) -> ObjectType {
        match self {
            Object::Tensor(t) => ObjectType::Tensor(t.ty),
            Object::Tuple(items) => ObjectType::Tuple(items.iter().map(Object::ty).collect()),
            Object::Desc(d) => ObjectType::Desc(d.block),
            Object::Const(c) => ObjectType::Const(c.clone()),
            _ => ObjectType::Other,
        }
    }
}

impl ObjectType {
    /// Whether both are one type. Other than for `==`, `1`, `1.0` and `True` are three, and NaN is itself.
    #[must_use]
    pub fn is(&self, other: &ObjectType) -> bool {
        match (self, other) {
            (ObjectType::Const(a), ObjectType::Const(b)) => a.is(b),
            (ObjectType::Tuple(a), ObjectType::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is(b)),
            _ => self == other,
        }
    }

    /// Part of a function's mangled name.
    #[must_use]
    pub fn mangle(&self, modules: &Modules) -> String {
        match self {
            ObjectType::Tensor(t) => t.mangle(),
            ObjectType::Const(c) => format!("c{}", mangle_const(c, modules)),
            ObjectType::Tuple(items) => {
                let parts: Vec<String> = items.iter().map(|t| t.mangle(modules)).collect();
                format!("T{}T", parts.join("_"))
            }
            ObjectType::Desc(t) => format!("TD{}", t.mangle()),
            ObjectType::Other => "o".to_owned(),
        }
    }
}

/// A constant in a symbol: distinct for distinct values and made of letters that text forms take.
fn mangle_const(c: &Const, modules: &Modules) -> String {
    match c {
        Const::Str(s) => {
            let text: String = s
                .chars()
                .map(|ch| {
                    if ch.is_ascii_alphanumeric() || ch == '_' { ch.to_string() } else { format!("_x{:x}_", ch as u32) }
                })
                .collect();
            format!("_sq_{text}_sq_")
        }
        Const::Type(t) => t.mangle(),
        Const::Func(f) => match &f.around {
            Some(around) => format!("{}.{}", modules.qualified(f.module, &f.def), around.number),
            None => modules.qualified(f.module, &f.def),
        },
        Const::Lambda(l) => format!("lambda{}", l.around.number),
        Const::Builtin(b) => b.symbol(),
        Const::Bool(_) | Const::Int(_) | Const::Float(_) | Const::None => c.to_string(),
        other => {
            other.to_string().chars().map(|ch| if ch.is_ascii_alphanumeric() || ch == '.' { ch } else { '_' }).collect()
        }
    }
}

impl fmt::Display for ObjectType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectType::Tensor(t) => write!(f, "{t}"),
            ObjectType::Const(Const::None) => f.write_str("None"),
            ObjectType::Const(c) => write!(f, "constexpr {c}"),
            ObjectType::Tuple(items) => {
                let parts: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "({})", parts.join(", "))
            }
            ObjectType::Desc(t) => write!(f, "tensor_descriptor<{t}>"),
            ObjectType::Other => f.write_str("an object of the front end"),
        }
    }
}
