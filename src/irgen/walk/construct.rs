//! Classes that are called: `tl.constexpr(x)`, `tl.pointer_type(t)`, `float(x)`, `dict(a=1)`.

use std::rc::Rc;

use super::bind::Keyword;
use super::walker::Walker;
use crate::diag::codes::{names, types};
use crate::irgen::emit::R;
use crate::irgen::semantic::{faults, fold, items};
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Class, Const, Form, Object};

impl Walker<'_> {
    /// `tl.constexpr(x)`, `tl.pointer_type(t)`, `float(x)`, …
    pub(super) fn construct(&mut self, class: Class, args: &[Object], keywords: &[Keyword]) -> R<Object> {
        let arg = args.first().or(keywords.first().map(|(_, v)| v)).cloned();
        match (class, arg) {
            // Of a run-time value it is that value, as in Triton.
            (Class::Constexpr, Some(v)) if args.len() + keywords.len() == 1 => Ok(v),
            (Class::Constexpr, Some(_)) => {
                let given = args.len() + keywords.len();
                Err(self.bad_arguments(class.name(), format!("takes one value, {given} were given"), "value"))
            }
            (Class::PointerType, Some(Object::Const(Const::Type(t)))) => self.pointer_type(t, args, keywords),
            (Class::Dtype, Some(Object::Const(Const::Str(name)))) => match Dtype::parse(&name) {
                Some(d) => Ok(Object::dtype(d)),
                None => Err(self.out.error_help(
                    &types::CAST,
                    format!("`{name}` names no type"),
                    "not a type",
                    "types are named as in signatures: `fp16`, `int32`",
                )),
            },
            (Class::BlockType, Some(Object::Const(Const::Type(t)))) => {
                let shape = args.get(1).cloned().unwrap_or(Object::NONE);
                let shape = items::shape_of(&mut self.out, &shape)?;
                Ok(Const::Type(Ty::block(t.dtype, &shape)).into())
            }
            (Class::Tuple | Class::HostTuple | Class::List, None) => Ok(Object::sequence(self.form_of(class), vec![])),
            (Class::Dict, None) => Ok(Object::dict(vec![])),
            (Class::Dict, Some(_)) if args.is_empty() || matches!(args, [Object::Dict(_)]) => {
                let own = match args {
                    [Object::Dict(items)] => items.to_vec(),
                    _ => vec![],
                };
                let named: Vec<_> = keywords.iter().map(|(k, v)| (Const::str(&k.name).into(), v.clone())).collect();
                Ok(Object::Dict(Rc::new(fold::merge_dicts(&mut self.out, &own, &named)?)))
            }
            (Class::Tuple | Class::HostTuple | Class::List, Some(v)) => match items::iterate(&v) {
                Some(items) => Ok(Object::sequence(self.form_of(class), items)),
                None => Err(faults::expected(&mut self.out, "something to run over", &v)),
            },
            (Class::Int, Some(Object::Const(Const::Str(text)))) if args.len() + keywords.len() == 2 => {
                let base = keywords.iter().find(|(k, _)| k == "base").map(|(_, v)| v).or(args.get(1));
                match base.and_then(Object::as_const).and_then(Const::as_int).and_then(|base| parse_int(&text, base)) {
                    Some(n) => Ok(Object::int(n)),
                    None => Err(faults::expected(&mut self.out, "a number in this base", &Const::Str(text).into())),
                }
            }
            (Class::Int | Class::Float | Class::Bool | Class::Str, Some(_)) if args.len() + keywords.len() > 1 => {
                Err(self.out.error_help(
                    &names::BAD_ARGUMENTS,
                    format!("`{}` takes one value here", class.name()),
                    "in this call",
                    "leave the other arguments out; `int` takes a base with a string",
                ))
            }
            (Class::Int | Class::Float | Class::Bool | Class::Str, Some(v)) => self.convert_python(class, &v),
            (Class::Int, None) => Ok(Object::int(0)),
            (Class::Float, None) => Ok(Const::Float(0.0).into()),
            (_, arg) => {
                let found = arg.map_or_else(|| "no argument".to_owned(), |v| v.describe());
                Err(self.out.error_help(
                    &names::BAD_ARGUMENTS,
                    format!("`{}` does not take {found}", class.name()),
                    "in this call",
                    "see docs/language.md for what it takes",
                ))
            }
        }
    }

    /// `tl.pointer_type(element_ty, address_space="global", const=False)`
    fn pointer_type(&mut self, element: Ty, args: &[Object], keywords: &[Keyword]) -> R<Object> {
        let parameter = |i: usize, name: &str| {
            args.get(i).or_else(|| keywords.iter().find(|(k, _)| &*k.name == name).map(|(_, v)| v))
        };
        match parameter(1, "address_space") {
            None => {}
            // Triton up to 3.6 counts address spaces; 1 is global memory.
            Some(Object::Const(c)) if *c == Const::str("global") || *c == Const::Int(1) => {}
            Some(other) => {
                let what = format!("a pointer type with the address space {}", other.show());
                return Err(self.out.unsupported(&what));
            }
        }
        let constant = match parameter(2, "const") {
            None => false,
            Some(v) => fold::truth(&mut self.out, v)?,
        };
        Ok(Const::Type(Ty::scalar(Dtype::pointer_to(element, constant))).into())
    }

    /// What a class of sequences makes here.
    fn form_of(&self, class: Class) -> Form {
        match class {
            Class::HostTuple if self.frame.host => Form::Tuple,
            Class::List if self.frame.host => Form::List,
            _ => Form::Kernel,
        }
    }

    /// `int(x)`, `float(x)`, `bool(x)`, `str(x)` of compile-time values.
    fn convert_python(&mut self, class: Class, v: &Object) -> R<Object> {
        let converted = match (class, v) {
            (Class::Bool, _) => return Ok(Object::bool(fold::truth(&mut self.out, v)?)),
            (Class::Str, _) => return Ok(Const::str(&fold::text(&mut self.out, v)?).into()),
            _ if matches!(v, Object::Argument(_)) => return fold::known(&mut self.out, v).map(|()| Object::NONE),
            (Class::Float, Object::Const(Const::Str(s))) => parse_float(s).map(Const::Float),
            (Class::Float, Object::Const(c)) => c.as_float().map(Const::Float),
            (Class::Int, Object::Const(Const::Str(s))) => s.trim().replace('_', "").parse().ok().map(Const::Int),
            (Class::Int, Object::Const(Const::Float(f))) if f.abs() < 2f64.powi(127) => {
                Some(Const::Int(f.trunc() as i128))
            }
            (Class::Int, Object::Const(c)) => c.as_int().map(Const::Int),
            _ => None,
        };
        converted.map(Object::from).ok_or_else(|| {
            if matches!(v, Object::Tensor(_)) {
                let found = v.describe();
                return self.out.error_help(
                    &names::NOT_CONSTEXPR,
                    format!("`{}` needs a compile-time value, found {found}", class.name()),
                    "known only at run time",
                    "convert a run-time value with `.to(tl.float32)` or the like",
                );
            }
            faults::expected(&mut self.out, &format!("a value that `{}` converts", class.name()), v)
        })
    }
}

/// As Python's `int("…", base)`.
fn parse_int(text: &str, base: i128) -> Option<i128> {
    let text = text.trim().to_ascii_lowercase();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(&text)),
    };
    let prefixed = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find(|(prefix, own)| digits.starts_with(prefix) && (base == 0 || base == *own));
    let (digits, base) = match prefixed {
        Some((prefix, own)) => (digits.strip_prefix(prefix)?.trim_start_matches('_'), own),
        None => (digits, if base == 0 { 10 } else { base }),
    };
    let is_plain =
        digits.starts_with(|c: char| c.is_ascii_alphanumeric()) && !digits.contains("__") && !digits.ends_with('_');
    let base = u32::try_from(base).ok().filter(|base| is_plain && (2..=36).contains(base))?;
    i128::from_str_radix(&format!("{sign}{}", digits.replace('_', "")), base).ok()
}

/// As Python's `float("…")`.
fn parse_float(text: &str) -> Option<f64> {
    let t = text.trim().to_ascii_lowercase().replace('_', "");
    match t.trim_start_matches(['+', '-']) {
        "inf" | "infinity" => Some(if t.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }),
        "nan" => Some(f64::NAN),
        _ => t.parse().ok(),
    }
}
