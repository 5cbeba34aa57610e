//! Primitives: functions of the language that are written in Rust. This file says what one is; the primitives
//! themselves stand in [`crate::irgen::builtins`].
//!
//! A signature is written as in Python (`pointer, mask=None, *, cache_modifier=""`); defaults are literals, `...` where
//! `None` means something else than leaving the argument out, `*` starts keyword-only parameters, `*name` takes the
//! remaining positional ones as a tuple, `**name` the remaining keywords as a dict.

use super::constant::Const;
use super::object::Object;
use crate::irgen::emit::{Emits, Emitter, R};
use crate::source::Span;

/// One primitive.
pub struct Builtin {
    pub name: &'static str,
    /// The package, where another one has a primitive of the same name.
    pub package: &'static str,
    /// The parameters, as in Python.
    pub sig: &'static str,
    pub doc: &'static str,
    /// Whether tensors have it as a method, too.
    pub is_method: bool,
    pub run: Run,
}

/// What a primitive does, by what it needs for that.
pub enum Run {
    /// It computes with its arguments alone.
    Values(fn(&mut Emitter, &Args) -> R<Object>),
    /// It calls functions that it is given, or asks for attributes by name.
    Calls(fn(&mut dyn Calls, &Args) -> R<Object>),
}

/// What a primitive may ask of whoever walks the program: nothing else of names, scopes and control flow is open to it.
pub trait Calls: Emits {
    /// Calls any callable value with positional arguments.
    fn call(&mut self, f: &Object, args: Vec<Object>) -> R<Object>;

    /// `base.attr`
    fn attribute(&mut self, base: &Object, attr: &str) -> R<Object>;
}

/// Arguments in the order of the parameters.
pub struct Args {
    pub builtin: &'static Builtin,
    pub values: Vec<Object>,
    /// Where they are written, as far as that is known; may be shorter than `values`.
    pub places: Vec<Option<Span>>,
}

/// A parameter of a primitive.
pub struct Parameter {
    pub name: &'static str,
    pub default: Option<Object>,
    pub keyword_only: bool,
    pub variadic: bool,
    /// `**name`
    pub keywords: bool,
}

impl Builtin {
    /// The same primitive, which tensors have as a method, too.
    #[must_use]
    pub const fn method(self) -> Builtin {
        Builtin { is_method: true, ..self }
    }

    /// A primitive of this package.
    #[must_use]
    pub const fn of(self, package: &'static str) -> Builtin {
        Builtin { package, ..self }
    }

    /// What tells it apart from all others, in a symbol.
    #[must_use]
    pub fn symbol(&self) -> String {
        if self.package.is_empty() { self.name.to_owned() } else { format!("{}.{}", self.package, self.name) }
    }

    /// The parameters, read from the signature.
    #[must_use]
    pub fn params(&self) -> Vec<Parameter> {
        let mut params = vec![];
        let mut keyword_only = false;
        for part in self.sig.split(", ").filter(|p| !p.is_empty()) {
            if part == "*" {
                keyword_only = true;
                continue;
            }
            let (name, default) = part.split_once('=').map_or((part, None), |(n, d)| (n, Some(d)));
            let keywords = name.starts_with("**");
            let variadic = !keywords && name.starts_with('*');
            let name = name.trim_start_matches('*');
            let default = match () {
                () if keywords => Some(Object::dict(vec![])),
                () if variadic => Some(Object::tuple(vec![])),
                () => default.map(literal),
            };
            params.push(Parameter { name, default, keyword_only: keyword_only || keywords, variadic, keywords });
            keyword_only |= variadic;
        }
        params
    }
}

/// A default value of a signature.
fn literal(text: &str) -> Object {
    Object::Const(match text {
        "None" => Const::None,
        "True" => Const::Bool(true),
        "False" => Const::Bool(false),
        "..." => Const::Ellipsis,
        _ if text.starts_with('"') => Const::str(text.trim_matches('"')),
        _ => text.parse().map(Const::Int).or_else(|_| text.parse().map(Const::Float)).unwrap_or(Const::None),
    })
}
