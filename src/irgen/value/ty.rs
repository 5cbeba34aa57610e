//! [`ValTy`]: the static type of a value, what a specialisation of a function is keyed by. A compile-time value is its
//! own type.

use std::fmt;

use super::constant::Const;
use super::val::Val;
use crate::irgen::front::modules::Modules;
use crate::irgen::types::Ty;

/// The static type of a value.
#[derive(Clone, PartialEq)]
pub enum ValTy {
    Tensor(Ty),
    Const(Const),
    Tuple(Vec<ValTy>),
    Desc(Ty),
    Other,
}

impl Val {
    /// The static type.
    #[must_use]
    pub fn ty(&self) -> ValTy {
        match self {
            Val::Tensor(t) => ValTy::Tensor(t.ty),
            Val::Tuple(items) => ValTy::Tuple(items.iter().map(Val::ty).collect()),
            Val::Desc(d) => ValTy::Desc(d.block),
            Val::Const(c) => ValTy::Const(c.clone()),
            _ => ValTy::Other,
        }
    }
}

impl ValTy {
    /// Part of a function's mangled name.
    #[must_use]
    pub fn mangle(&self, modules: &Modules) -> String {
        match self {
            ValTy::Tensor(t) => t.mangle(),
            ValTy::Const(c) => format!("c{}", mangle_const(c, modules)),
            ValTy::Tuple(items) => {
                let parts: Vec<String> = items.iter().map(|t| t.mangle(modules)).collect();
                format!("T{}T", parts.join("_"))
            }
            ValTy::Desc(t) => format!("TD{}", t.mangle()),
            ValTy::Other => "o".to_owned(),
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
        Const::Func(f) => modules.qualified(f.module, f.name()),
        Const::Lambda(l) => format!("lambda{}", l.def.body.span.lo),
        Const::Bool(_) | Const::Int(_) | Const::Float(_) | Const::None => c.to_string(),
        other => {
            other.to_string().chars().map(|ch| if ch.is_ascii_alphanumeric() || ch == '.' { ch } else { '_' }).collect()
        }
    }
}

impl fmt::Display for ValTy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValTy::Tensor(t) => write!(f, "{t}"),
            ValTy::Const(Const::None) => f.write_str("None"),
            ValTy::Const(c) => write!(f, "constexpr {c}"),
            ValTy::Tuple(items) => {
                let parts: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "({})", parts.join(", "))
            }
            ValTy::Desc(t) => write!(f, "tensor_descriptor<{t}>"),
            ValTy::Other => f.write_str("an object of the front end"),
        }
    }
}
