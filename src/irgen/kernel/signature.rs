//! What one parameter of a kernel is, by an item of a signature or an annotation.
//!
//! One item a parameter, as in Triton's ahead-of-time tool:
//!
//! | item | meaning |
//! |---|---|
//! | `*fp32`, `*ki32` | a pointer (to constant data) |
//! | `i32`, `u8`, `fp16`, `i1` | a scalar |
//! | `…:16` | the address or the integer is divisible by 16 |
//! | `i32:1`, `u8:1` | an integer whose value is 1 and folded in |
//! | `1024`, `0.5`, `True`, `None`, `'gelu'` | a compile-time value |
//! | `constexpr` | a compile-time value that `-D` gives |
//! | `tensordesc<fp16[64, 32]>` | a tensor descriptor |
//!
//! Without a command-line signature the same words stand in the parameters' annotations: `x_ptr: "*fp32:16"`, `n:
//! "i32"`, `BLOCK: tl.constexpr`.

use crate::irgen::builtins::member;
use crate::irgen::front::signature::{parse_descriptor, parse_type};
use crate::irgen::front::space::Space;
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Class, Const, Func, Object};
use crate::irgen::walk::Walker;
use crate::parser::ast::Param;

/// What one parameter is.
#[derive(Clone)]
pub(super) enum Item {
    /// A run-time value and what it is divisible by.
    Value { ty: Ty, divisible: bool },
    /// An integer that is 1 in every launch. The code has the value, so the kernel takes no parameter for it.
    One(Ty),
    /// A tensor descriptor of such blocks.
    Desc(Ty),
    /// A compile-time value.
    Const(Object),
    /// A compile-time value that `-D` or a default must give.
    Constexpr,
    /// Nothing is known.
    Unknown,
}

impl Item {
    /// The value that the item itself settles.
    pub(super) fn settled(&self) -> Option<Object> {
        match self {
            Item::Const(v) => Some(v.clone()),
            Item::One(_) => Some(Object::int(1)),
            Item::Value { .. } | Item::Desc(_) | Item::Constexpr | Item::Unknown => None,
        }
    }

    /// Whether the item is a type: a caller has an argument for the parameter.
    pub(super) fn is_type(&self) -> bool {
        matches!(self, Item::Value { .. } | Item::One(_) | Item::Desc(_))
    }
}

/// Whether `:16` says something of a value: of an address or an integer. A launcher could only test the bits of a
/// float, and a truth value that is a multiple of 16 would be false.
fn can_be_divisible(dtype: Dtype) -> bool {
    dtype.is_ptr() || (dtype.is_int() && dtype != Dtype::Int1)
}

/// Reads one item of a signature; the value of a literal is evaluated like an expression of the kernel's file.
pub(super) fn item(cx: &mut Walker<'_>, text: &str, module: usize) -> Option<Item> {
    let text = text.trim();
    if text == "constexpr" {
        return Some(Item::Constexpr);
    }
    if let Some(block) = parse_descriptor(text) {
        return Some(Item::Desc(block));
    }
    let (body, hint) = match text.rsplit_once(':') {
        Some((body, hint)) if matches!(hint.trim(), "16" | "1" | "") => (body.trim(), hint.trim()),
        _ => (text, ""),
    };
    if let Some(ty) = parse_type(body) {
        return match hint {
            "1" => ty.dtype.is_int().then_some(Item::One(ty)),
            "16" => can_be_divisible(ty.dtype).then_some(Item::Value { ty, divisible: true }),
            _ => Some(Item::Value { ty, divisible: false }),
        };
    }
    value(cx, text, module).map(Item::Const)
}

/// The value of a literal, dtype, tuple or function name, in the scope of the kernel's file, or of a name behind the
/// path of another file, as an `import` there would find it.
pub(super) fn value(cx: &mut Walker<'_>, text: &str, module: usize) -> Option<Object> {
    let expr = crate::parser::parse_expr_str(cx.modules_mut().map, "<value>", text).ok()?;
    if let Some(v) = cx.evaluate(module, &expr) {
        return Some(v);
    }
    // The file may know Triton under another name than `tl`.
    let path = expr.dotted()?;
    match path.as_slice() {
        ["tl", name] | ["triton", "language", name] => member(Space::Language, name),
        [name] => member(Space::Language, name).filter(|v| matches!(v, Object::Const(Const::Type(_)))),
        [file @ .., name] => {
            let file: Vec<String> = file.iter().map(|&part| part.to_owned()).collect();
            cx.imported(module, 0, &file, name)
        }
        [] => None,
    }
}

/// What a parameter's annotation says.
pub(super) fn of_annotation(cx: &mut Walker<'_>, func: &Func, p: &Param) -> Item {
    let Some(annotation) = &p.annotation else { return Item::Unknown };
    match cx.evaluate(func.module, annotation) {
        Some(Object::Const(Const::Str(text))) => item(cx, &text, func.module).unwrap_or(Item::Unknown),
        Some(Object::Const(Const::Type(ty))) if ty.dtype != Dtype::Void && !ty.is_block() => {
            Item::Value { ty, divisible: false }
        }
        Some(v) if v.as_class() == Some(Class::Constexpr) => Item::Constexpr,
        Some(v) if v.as_class() == Some(Class::Int) => Item::Value { ty: Ty::scalar(Dtype::Int32), divisible: false },
        Some(v) if v.as_class() == Some(Class::Float) => Item::Value { ty: Ty::scalar(Dtype::Fp32), divisible: false },
        Some(v) if v.as_class() == Some(Class::Bool) => Item::Value { ty: Ty::scalar(Dtype::Int1), divisible: false },
        _ => Item::Unknown,
    }
}
