//! Values of the language while a kernel is lowered: what is known at compile time and what exists at run time.
//!
//! A [`Val`] is a run-time tensor (an IR value with its language type), a compile-time [`Const`], a tuple of values, or
//! one of the few objects that only the front end knows (slices, ranges, descriptors). [`Val::Error`] stands for a
//! value whose computation was already reported as wrong; using it reports nothing again.
//!
//! A [`ValTy`] is the static type of a value: what a specialisation of a function is keyed by. A compile-time value is
//! its own type.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use super::builtins::Builtin;
use super::config::Config;
use super::types::{Dtype, Ty};
use crate::ir::Value;
use crate::parser::ast::{FunctionDef, Lambda};

/// A function written in the language, where it was defined.
#[derive(Clone)]
pub struct Func {
    pub def: Arc<FunctionDef>,
    /// Index of its module in [`super::modules::Modules`].
    pub module: usize,
    /// Whether it is compiled (decorated with `triton.jit` or passed to it) or evaluated at compile time.
    pub jit: bool,
}

impl Func {
    #[must_use]
    pub fn name(&self) -> &str {
        &self.def.name.name
    }
}

/// A package whose contents are built into the compiler.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Space {
    /// `triton`
    Triton,
    /// `triton.language`
    Language,
    /// `triton.language.math`
    Math,
    /// `triton.language.extra`
    Extra,
    /// `triton.language.extra.cuda`
    Cuda,
    /// `triton.language.extra.libdevice`
    Libdevice,
    /// `triton.language.target_info`
    TargetInfo,
    /// `tl.PropagateNan`
    PropagateNan,
    /// Python's `math`
    PyMath,
    /// Python's `os`
    Os,
    /// `os.environ`: empty, so that a compilation depends on its input only.
    Environ,
    /// `torch`: its dtypes and their limits.
    Torch,
    /// `torch.cuda`: what it says of the target.
    TorchCuda,
    /// `torch.version`
    TorchVersion,
    /// Python's `itertools`
    Itertools,
    /// `triton.runtime`
    Runtime,
    /// `triton.runtime.driver`
    Driver,
    /// `triton.runtime.driver.active`
    ActiveDriver,
    /// `triton.runtime.driver.active.get_current_target()`
    GpuTarget,
}

/// What names a type in `isinstance` and in annotations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    Constexpr,
    Tensor,
    Dtype,
    PointerType,
    BlockType,
    Const,
    Tuple,
    Int,
    Float,
    Bool,
    Str,
    List,
    Dict,
    Descriptor,
}

impl Class {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Class::Constexpr => "tl.constexpr",
            Class::Tensor => "tl.tensor",
            Class::Dtype => "tl.dtype",
            Class::PointerType => "tl.pointer_type",
            Class::BlockType => "tl.block_type",
            Class::Const => "tl.const",
            Class::Tuple => "tl.tuple",
            Class::Int => "int",
            Class::Float => "float",
            Class::Bool => "bool",
            Class::Str => "str",
            Class::List => "list",
            Class::Dict => "dict",
            Class::Descriptor => "tl.tensor_descriptor",
        }
    }
}

/// A value known at compile time.
#[derive(Clone)]
pub enum Const {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(Rc<str>),
    Ellipsis,
    Type(Ty),
    Func(Func),
    Lambda(Rc<LambdaVal>),
    Builtin(&'static Builtin),
    Space(Space),
    /// A module of the program's own.
    Module(usize),
    Class(Class),
    /// `tl.PropagateNan.ALL` is true.
    PropagateNan(bool),
    /// `torch.finfo(t)` and `torch.iinfo(t)`.
    Limits(Dtype),
}

/// A lambda with the module it was written in.
pub struct LambdaVal {
    pub def: Rc<Lambda>,
    pub module: usize,
}

impl Const {
    #[must_use]
    pub fn str(text: &str) -> Const {
        Const::Str(Rc::from(text))
    }

    /// As Python's `bool(x)`.
    #[must_use]
    pub fn truth(&self) -> bool {
        match self {
            Const::None => false,
            Const::Bool(b) => *b,
            Const::Int(i) => *i != 0,
            Const::Float(f) => *f != 0.0,
            Const::Str(s) => !s.is_empty(),
            _ => true,
        }
    }

    /// What Python calls its type.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Const::None => "None",
            Const::Bool(_) => "bool",
            Const::Int(_) => "int",
            Const::Float(_) => "float",
            Const::Str(_) => "str",
            Const::Ellipsis => "ellipsis",
            Const::Type(_) => "dtype",
            Const::Func(_) | Const::Lambda(_) | Const::Builtin(_) => "function",
            Const::Space(_) | Const::Module(_) => "module",
            Const::Class(_) => "class",
            Const::PropagateNan(_) => "PropagateNan",
            Const::Limits(_) => "limits",
        }
    }

    /// The value as an integer; `True` counts 1.
    #[must_use]
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Const::Int(i) => Some(*i),
            Const::Bool(b) => Some(i128::from(*b)),
            _ => None,
        }
    }

    /// The value as a float; integers are converted.
    #[must_use]
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Const::Float(f) => Some(*f),
            other => other.as_int().map(|i| i as f64),
        }
    }
}

impl PartialEq for Const {
    /// As Python's `==`.
    fn eq(&self, other: &Const) -> bool {
        match (self, other) {
            (Const::None, Const::None) | (Const::Ellipsis, Const::Ellipsis) => true,
            (Const::Str(a), Const::Str(b)) => a == b,
            (Const::Type(a), Const::Type(b)) => a == b,
            (Const::Func(a), Const::Func(b)) => Arc::ptr_eq(&a.def, &b.def),
            (Const::Lambda(a), Const::Lambda(b)) => Rc::ptr_eq(a, b),
            (Const::Builtin(a), Const::Builtin(b)) => std::ptr::eq(*a, *b),
            (Const::Space(a), Const::Space(b)) => a == b,
            (Const::Module(a), Const::Module(b)) => a == b,
            (Const::Class(a), Const::Class(b)) => a == b,
            (Const::PropagateNan(a), Const::PropagateNan(b)) => a == b,
            (a, b) => match (a.as_int(), b.as_int()) {
                (Some(x), Some(y)) => x == y,
                _ => matches!((a.as_float(), b.as_float()), (Some(x), Some(y)) if x == y),
            },
        }
    }
}

impl fmt::Display for Const {
    /// As Python's `str(x)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Const::None => f.write_str("None"),
            Const::Bool(b) => f.write_str(if *b { "True" } else { "False" }),
            Const::Int(i) => write!(f, "{i}"),
            Const::Float(x) => f.write_str(&python_float(*x)),
            Const::Str(s) => f.write_str(s),
            Const::Ellipsis => f.write_str("Ellipsis"),
            Const::Type(t) => write!(f, "{t}"),
            Const::Func(func) => f.write_str(func.name()),
            Const::Lambda(_) => f.write_str("<lambda>"),
            Const::Builtin(b) => f.write_str(b.name),
            Const::Space(s) => write!(f, "{s:?}"),
            Const::Module(_) => f.write_str("module"),
            Const::Class(c) => f.write_str(c.name()),
            Const::PropagateNan(all) => f.write_str(if *all { "PROPAGATE_NAN.ALL" } else { "PROPAGATE_NAN.NONE" }),
            Const::Limits(d) => write!(f, "limits of {d}"),
        }
    }
}

/// A float as Python prints it: `1.0`, `1e-05`, `inf`.
#[must_use]
pub fn python_float(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf".to_owned() } else { "-inf".to_owned() };
    }
    let magnitude = x.abs();
    if x != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        let text = format!("{x:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |d| ('-', d));
        return format!("{mantissa}e{sign}{digits:0>2}");
    }
    format!("{x:?}")
}

/// A run-time tensor or scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tensor {
    pub value: Value,
    pub ty: Ty,
}

/// A descriptor of a tensor in memory.
#[derive(Clone, Debug)]
pub struct Desc {
    pub value: Value,
    /// The blocks that it reads and writes.
    pub block: Ty,
    pub shape: Vec<Tensor>,
    pub strides: Vec<Tensor>,
}

/// `lower:upper:step`
#[derive(Clone)]
pub struct SliceVal {
    pub lower: Val,
    pub upper: Val,
    pub step: Val,
}

/// What a `for` runs over.
#[derive(Clone)]
pub struct Range {
    pub start: Val,
    pub end: Val,
    pub step: Val,
    pub kind: RangeKind,
    /// Attributes that `tl.range` puts on the loop.
    pub attrs: Vec<(&'static str, crate::ir::Attr)>,
}

/// Which of the ranges it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RangeKind {
    /// `range` and `tl.range`.
    Loop,
    /// `tl.static_range`: unrolled.
    Static,
}

/// A run-time argument as a heuristic sees it: its type is known, its value only at a launch.
#[derive(Clone, PartialEq, Debug)]
pub struct Argument {
    pub name: String,
    pub ty: Ty,
}

/// A function bound to the value it is a method of.
#[derive(Clone)]
pub struct Method {
    pub receiver: Val,
    pub callee: Const,
}

/// The items of a tuple or dict, with how many elements there are in them altogether: parts may be shared, so a small
/// value can stand for an enormous one, and whoever walks it must know before.
pub struct Items<T> {
    items: Vec<T>,
    weight: u64,
}

impl<T: Weigh> Items<T> {
    #[must_use]
    pub fn new(items: Vec<T>) -> Items<T> {
        let weight = items.iter().fold(1, |sum: u64, item| sum.saturating_add(item.weight()));
        Items { items, weight }
    }
}

impl<T> std::ops::Deref for Items<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

/// What has a number of elements.
pub trait Weigh {
    /// Elements, with those of nested values; those of a part that occurs twice count twice.
    fn weight(&self) -> u64;
}

impl Weigh for Val {
    fn weight(&self) -> u64 {
        match self {
            Val::Tuple(items) => items.weight,
            Val::Dict(items) => items.weight,
            Val::Const(Const::Str(s)) => super::budget::of_text(s.len()),
            _ => 1,
        }
    }
}

impl Weigh for (Val, Val) {
    fn weight(&self) -> u64 {
        self.0.weight().saturating_add(self.1.weight())
    }
}

/// Any value.
#[derive(Clone)]
pub enum Val {
    Tensor(Tensor),
    Const(Const),
    Tuple(Rc<Items<Val>>),
    Desc(Rc<Desc>),
    Slice(Rc<SliceVal>),
    Range(Rc<Range>),
    Method(Rc<Method>),
    /// A dict of host code, in the order of its keys.
    Dict(Rc<Items<(Val, Val)>>),
    /// A `triton.Config`.
    Config(Rc<Config>),
    /// A run-time argument, in a heuristic.
    Argument(Rc<Argument>),
    /// `tl.condition(c)` of a `while`.
    Condition(Rc<(Val, bool)>),
    /// Already reported.
    Error,
}

impl Val {
    /// Whether this is data, which a file may change: not a function, a type or a package.
    #[must_use]
    pub fn is_data(&self) -> bool {
        match self {
            Val::Const(c) => {
                matches!(c, Const::None | Const::Bool(_) | Const::Int(_) | Const::Float(_) | Const::Str(_))
            }
            Val::Tuple(_) | Val::Dict(_) => true,
            _ => false,
        }
    }

    pub const NONE: Val = Val::Const(Const::None);

    #[must_use]
    pub fn int(value: impl Into<i128>) -> Val {
        Val::Const(Const::Int(value.into()))
    }

    #[must_use]
    pub fn bool(value: bool) -> Val {
        Val::Const(Const::Bool(value))
    }

    #[must_use]
    pub fn dtype(dtype: Dtype) -> Val {
        Val::Const(Const::Type(Ty::scalar(dtype)))
    }

    #[must_use]
    pub fn tuple(values: Vec<Val>) -> Val {
        Val::Tuple(Rc::new(Items::new(values)))
    }

    /// A dict of these keys and values.
    #[must_use]
    pub fn dict(items: Vec<(Val, Val)>) -> Val {
        Val::Dict(Rc::new(Items::new(items)))
    }

    #[must_use]
    pub fn as_const(&self) -> Option<&Const> {
        match self {
            Val::Const(c) => Some(c),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_tensor(&self) -> Option<Tensor> {
        match self {
            Val::Tensor(t) => Some(*t),
            _ => None,
        }
    }

    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Val::Const(Const::None))
    }

    /// Elements, nested ones too ([`Weigh`]).
    #[must_use]
    pub fn weight(&self) -> u64 {
        Weigh::weight(self)
    }

    /// Elements of the value itself, whose items others may hold as well.
    #[must_use]
    pub fn own_weight(&self) -> u64 {
        match self {
            Val::Tuple(items) => items.len() as u64 + 1,
            Val::Dict(items) => items.len() as u64 + 1,
            other => other.weight(),
        }
    }

    /// The IR values in it, in order.
    pub fn flatten(&self, out: &mut Vec<Value>) {
        match self {
            Val::Tensor(t) => out.push(t.value),
            Val::Tuple(items) => items.iter().for_each(|v| v.flatten(out)),
            Val::Desc(d) => {
                out.push(d.value);
                out.extend(d.shape.iter().chain(&d.strides).map(|t| t.value));
            }
            _ => {}
        }
    }

    /// The IR values in it.
    #[must_use]
    pub fn values(&self) -> Vec<Value> {
        let mut out = vec![];
        self.flatten(&mut out);
        out
    }

    /// The same value with other IR values in it, taken from the front of `from`.
    #[must_use]
    pub fn rebuild(&self, from: &mut impl Iterator<Item = Value>) -> Val {
        let mut next = |old: Tensor| Tensor { value: from.next().unwrap_or(old.value), ty: old.ty };
        match self {
            Val::Tensor(t) => Val::Tensor(next(*t)),
            Val::Desc(d) => {
                let value = next(Tensor { value: d.value, ty: d.block }).value;
                let shape = d.shape.iter().map(|&t| next(t)).collect();
                let strides = d.strides.iter().map(|&t| next(t)).collect();
                Val::Desc(Rc::new(Desc { value, block: d.block, shape, strides }))
            }
            Val::Tuple(items) => Val::tuple(items.iter().map(|v| v.rebuild(from)).collect()),
            other => other.clone(),
        }
    }

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

    /// A compile-time value as Python's `str` gives it; a run-time one is shown as its type.
    #[must_use]
    pub fn show(&self) -> String {
        match self {
            Val::Const(c) => c.to_string(),
            Val::Tuple(items) => format!("({})", items.iter().map(Val::show).collect::<Vec<_>>().join(", ")),
            Val::Tensor(t) => t.ty.to_string(),
            Val::Dict(items) => {
                let items: Vec<String> = items.iter().map(|(k, v)| format!("{}: {}", k.show(), v.show())).collect();
                format!("{{{}}}", items.join(", "))
            }
            _ => self.describe(),
        }
    }

    /// What it is, for a message: `fp32[64]`, `constexpr 3`.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Val::Tensor(t) if t.ty.is_block() => format!("a tensor {}", t.ty),
            Val::Tensor(t) => format!("a scalar {}", t.ty),
            Val::Const(Const::Str(s)) => match s.char_indices().nth(100) {
                Some((end, _)) => format!("the string '{}…' of {} bytes", &s[..end], s.len()),
                None => format!("the string '{s}'"),
            },
            Val::Const(Const::None) => "None".to_owned(),
            Val::Const(c) => format!("the {} {c}", c.kind()),
            Val::Tuple(items) => format!("a tuple of {}", items.len()),
            Val::Desc(d) => format!("a tensor descriptor of {}", d.block),
            Val::Slice(_) => "a slice".to_owned(),
            Val::Range(_) => "a range".to_owned(),
            Val::Method(_) => "a method".to_owned(),
            Val::Dict(items) => format!("a dict of {}", items.len()),
            Val::Config(_) => "a triton.Config".to_owned(),
            Val::Argument(a) => format!("the run-time argument `{}`", a.name),
            Val::Condition(_) => "a loop condition".to_owned(),
            Val::Error => "an erroneous value".to_owned(),
        }
    }
}

impl From<Tensor> for Val {
    fn from(t: Tensor) -> Val {
        Val::Tensor(t)
    }
}

impl From<Const> for Val {
    fn from(c: Const) -> Val {
        Val::Const(c)
    }
}

/// The static type of a value.
#[derive(Clone, PartialEq)]
pub enum ValTy {
    Tensor(Ty),
    Const(Const),
    Tuple(Vec<ValTy>),
    Desc(Ty),
    Other,
}

impl ValTy {
    /// Part of a function's mangled name.
    #[must_use]
    pub fn mangle(&self, modules: &super::modules::Modules) -> String {
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
fn mangle_const(c: &Const, modules: &super::modules::Modules) -> String {
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
        Const::Func(f) => modules.qualified(f),
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
