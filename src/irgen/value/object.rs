//! Values of the language while a kernel is lowered: what is known at compile time and what exists at run time.
//!
//! An [`Object`] is what Python would call one: a run-time tensor (an IR value with its type in the language), a
//! compile-time [`Const`], a tuple, or one of the few that only the front end knows (slices, ranges, descriptors).
//! [`Object::Error`] stands for a value whose computation was already reported as wrong; using it reports nothing
//! again.

use std::rc::Rc;

use super::constant::{Class, Const, Tuner};
use crate::ir::{Attr, Name, Value};
use crate::irgen::emit::{Tensor, of_text};
use crate::irgen::types::{Dtype, Ty};

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
    pub lower: Object,
    pub upper: Object,
    pub step: Object,
}

/// What a `for` runs over.
#[derive(Clone)]
pub struct Range {
    pub start: Object,
    pub end: Object,
    pub step: Object,
    pub kind: RangeKind,
    /// Attributes that `tl.range` puts on the loop.
    pub attrs: Vec<(Name, Attr)>,
}

impl Range {
    /// Start, end and step, if they are known at compile time.
    #[must_use]
    pub fn bounds(&self) -> Option<(i128, i128, i128)> {
        let int = |v: &Object| v.as_const().and_then(Const::as_int);
        Some((int(&self.start)?, int(&self.end)?, int(&self.step)?))
    }
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

/// What a heuristic is called with: the arguments of the launch by their names.
///
/// Triton hands over what the launch and the configuration pass, and no defaults of parameters.
#[derive(Clone)]
pub struct Passed {
    pub items: Vec<PassedItem>,
    /// All parameters of the kernel.
    pub params: Vec<Rc<str>>,
}

/// One argument of a launch.
#[derive(Clone)]
pub struct PassedItem {
    pub name: Rc<str>,
    pub value: Object,
    /// Whether it is passed for certain. A default is not: then nobody knows whether the name is there at all.
    pub certain: bool,
}

/// A `triton.Config`.
#[derive(Clone)]
pub struct Config {
    pub values: Vec<(Rc<str>, Object)>,
    /// The dict that it was made of, which it holds: who changes that changes the configuration.
    pub made_of: Option<Object>,
    pub num_warps: Option<u32>,
    pub num_stages: Option<u32>,
    pub num_ctas: Option<u32>,
    pub maxnreg: Option<u32>,
}

impl Config {
    /// `config.kwargs`, `config.num_warps`, …
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<Object> {
        let number = |n: Option<u32>| n.map_or(Object::NONE, Object::int);
        Some(match name {
            "kwargs" => {
                Object::dict(self.values.iter().map(|(k, v)| (Const::Str(k.clone()).into(), v.clone())).collect())
            }
            "num_warps" => number(self.num_warps),
            "num_stages" => number(self.num_stages),
            "num_ctas" => number(self.num_ctas),
            "maxnreg" => number(self.maxnreg),
            _ => return None,
        })
    }
}

/// A function bound to the value it is a method of.
#[derive(Clone)]
pub struct Method {
    pub receiver: Object,
    pub callee: Const,
}

/// What Python calls a sequence of items.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Form {
    /// One of a kernel, where lists are tuples and both are `tl.tuple`, or one of host code that is neither.
    #[default]
    Kernel,
    /// A tuple of host code.
    Tuple,
    /// A list of host code.
    List,
}

impl Form {
    /// Whether one equals the other if their items do.
    #[must_use]
    pub fn fits(self, other: Form) -> bool {
        self == other || self == Form::Kernel || other == Form::Kernel
    }
}

/// The items of a tuple or dict, with how many elements there are in them altogether: parts may be shared, so a small
/// value can stand for an enormous one, and whoever walks it must know before.
pub struct Items<T> {
    list: Vec<T>,
    weight: u64,
    open: bool,
    pub form: Form,
}

impl<T: Weigh> Items<T> {
    #[must_use]
    pub fn new(items: Vec<T>) -> Items<T> {
        let weight = items.iter().fold(1, |sum: u64, item| sum.saturating_add(item.weight()));
        let open = items.iter().any(Weigh::is_open);
        Items { list: items, weight, open, form: Form::Kernel }
    }
}

impl<T> std::ops::Deref for Items<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.list
    }
}

/// What has a number of elements.
pub trait Weigh {
    /// Elements, with those of nested values; those of a part that occurs twice count twice.
    fn weight(&self) -> u64;

    /// Whether a run-time argument of a heuristic is in it.
    fn is_open(&self) -> bool;
}

impl Weigh for Object {
    fn is_open(&self) -> bool {
        match self {
            Object::Argument(_) => true,
            Object::Tuple(items) => items.open,
            Object::Dict(items) => items.open,
            _ => false,
        }
    }

    fn weight(&self) -> u64 {
        match self {
            Object::Tuple(items) => items.weight,
            Object::Dict(items) => items.weight,
            Object::Const(Const::Str(s)) => of_text(s.len()),
            _ => 1,
        }
    }
}

impl Weigh for (Object, Object) {
    fn is_open(&self) -> bool {
        self.0.is_open() || self.1.is_open()
    }

    fn weight(&self) -> u64 {
        self.0.weight().saturating_add(self.1.weight())
    }
}

/// Any value.
#[derive(Clone)]
pub enum Object {
    Tensor(Tensor),
    Const(Const),
    Tuple(Rc<Items<Object>>),
    Desc(Rc<Desc>),
    Slice(Rc<SliceVal>),
    Range(Rc<Range>),
    Method(Rc<Method>),
    /// A dict of host code, in the order of its keys.
    Dict(Rc<Items<(Object, Object)>>),
    /// A `triton.Config`.
    Config(Rc<Config>),
    /// `triton.heuristics(…)`, `triton.autotune(…)`.
    Tuner(Rc<Tuner>),
    /// A run-time argument, in a heuristic.
    Argument(Rc<Argument>),
    /// All arguments, in a heuristic.
    Passed(Rc<Passed>),
    /// `tl.condition(c)` of a `while`.
    Condition(Rc<(Object, bool)>),
    /// Already reported.
    Error,
}

impl Object {
    /// Whether this is data, which a file may change: not a function, a type or a package.
    #[must_use]
    pub fn is_data(&self) -> bool {
        match self {
            Object::Const(c) => {
                matches!(c, Const::None | Const::Bool(_) | Const::Int(_) | Const::Float(_) | Const::Str(_))
            }
            Object::Tuple(_) | Object::Dict(_) | Object::Config(_) => true,
            _ => false,
        }
    }

    pub const NONE: Object = Object::Const(Const::None);

    #[must_use]
    pub fn int(value: impl Into<i128>) -> Object {
        Object::Const(Const::Int(value.into()))
    }

    #[must_use]
    pub fn bool(value: bool) -> Object {
        Object::Const(Const::Bool(value))
    }

    #[must_use]
    pub fn dtype(dtype: Dtype) -> Object {
        Object::Const(Const::Type(Ty::scalar(dtype)))
    }

    #[must_use]
    pub fn tuple(values: Vec<Object>) -> Object {
        Object::Tuple(Rc::new(Items::new(values)))
    }

    /// The same as a list or a tuple of host code.
    #[must_use]
    pub fn sequence(form: Form, values: Vec<Object>) -> Object {
        Object::Tuple(Rc::new(Items { form, ..Items::new(values) }))
    }

    #[must_use]
    pub fn list(values: Vec<Object>) -> Object {
        Object::sequence(Form::List, values)
    }

    /// A dict of these keys and values.
    #[must_use]
    pub fn dict(items: Vec<(Object, Object)>) -> Object {
        Object::Dict(Rc::new(Items::new(items)))
    }

    /// Integers as a tuple: a shape.
    #[must_use]
    pub fn ints(values: &[i64]) -> Object {
        Object::tuple(values.iter().map(|&d| Object::int(d)).collect())
    }

    /// The class that this is, such as `tl.constexpr` of an annotation.
    #[must_use]
    pub fn as_class(&self) -> Option<Class> {
        match self {
            Object::Const(Const::Class(c)) => Some(*c),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_const(&self) -> Option<&Const> {
        match self {
            Object::Const(c) => Some(c),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_tensor(&self) -> Option<Tensor> {
        match self {
            Object::Tensor(t) => Some(*t),
            _ => None,
        }
    }

    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Object::Const(Const::None))
    }

    /// Elements, nested ones too ([`Weigh`]).
    #[must_use]
    pub fn weight(&self) -> u64 {
        Weigh::weight(self)
    }

    /// Whether a run-time argument of a heuristic is in it, at any depth.
    #[must_use]
    pub fn is_open(&self) -> bool {
        Weigh::is_open(self)
    }

    /// Elements of the value itself, whose items others may hold as well.
    #[must_use]
    pub fn own_weight(&self) -> u64 {
        match self {
            Object::Tuple(items) => items.len() as u64 + 1,
            Object::Dict(items) => items.len() as u64 + 1,
            other => other.weight(),
        }
    }

    /// A compile-time value as Python's `str` gives it; a run-time one is shown as its type.
    #[must_use]
    pub fn show(&self) -> String {
        match self {
            Object::Const(c) => c.to_string(),
            Object::Tuple(items) => {
                let inside = |v: &Object| if items.form == Form::Kernel { v.show() } else { v.written() };
                let shown = items.iter().map(inside).collect::<Vec<_>>().join(", ");
                match items.form {
                    Form::List => format!("[{shown}]"),
                    Form::Tuple if items.len() == 1 => format!("({shown},)"),
                    _ => format!("({shown})"),
                }
            }
            Object::Tensor(t) => t.ty.to_string(),
            Object::Dict(items) => {
                let items: Vec<String> =
                    items.iter().map(|(k, v)| format!("{}: {}", k.written(), v.written())).collect();
                format!("{{{}}}", items.join(", "))
            }
            _ => self.describe(),
        }
    }

    /// The same as Python's `repr` gives it.
    #[must_use]
    pub fn written(&self) -> String {
        match self {
            Object::Const(Const::Str(s)) => format!("'{s}'"),
            other => other.show(),
        }
    }

    /// What it is, for a message: `fp32[64]`, `constexpr 3`.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Object::Tensor(t) if t.ty.is_block() => format!("a tensor {}", t.ty),
            Object::Tensor(t) => format!("a scalar {}", t.ty),
            Object::Const(Const::Str(s)) => match s.char_indices().nth(100) {
                Some((end, _)) => format!("the string '{}…' of {} bytes", &s[..end], s.len()),
                None => format!("the string '{s}'"),
            },
            Object::Const(Const::None) => "None".to_owned(),
            Object::Const(c) => format!("the {} {c}", c.kind()),
            Object::Tuple(items) if items.form == Form::List => format!("a list of {}", items.len()),
            Object::Tuple(items) => format!("a tuple of {}", items.len()),
            Object::Desc(d) => format!("a tensor descriptor of {}", d.block),
            Object::Slice(_) => "a slice".to_owned(),
            Object::Range(_) => "a range".to_owned(),
            Object::Method(_) => "a method".to_owned(),
            Object::Dict(items) => format!("a dict of {}", items.len()),
            Object::Config(_) => "a triton.Config".to_owned(),
            Object::Tuner(_) => "a decorator".to_owned(),
            Object::Argument(a) => format!("the run-time argument `{}`", a.name),
            Object::Passed(_) => "the arguments of the launch".to_owned(),
            Object::Condition(_) => "a loop condition".to_owned(),
            Object::Error => "an erroneous value".to_owned(),
        }
    }
}

impl From<Tensor> for Object {
    fn from(t: Tensor) -> Object {
        Object::Tensor(t)
    }
}

impl From<Const> for Object {
    fn from(c: Const) -> Object {
        Object::Const(c)
    }
}
