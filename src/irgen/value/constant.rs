//! Values known at compile time: what Python calls constants, and the functions, types and packages that names lead to.

use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use super::object::Object;
use super::primitive::Builtin;
use crate::diag::Diagnostic;
use crate::irgen::front::space::Space;
use crate::irgen::types::{Dtype, Ty};
use crate::parser::ast::{FunctionDef, Lambda};
use crate::source::Span;

/// A function written in the language, where it was defined.
#[derive(Clone)]
pub struct Func {
    pub def: Arc<FunctionDef>,
    /// Index of its module in [`crate::irgen::front::modules::Modules`].
    pub module: usize,
    /// Whether it is compiled (decorated with `triton.jit` or passed to it) or evaluated at compile time.
    pub jit: bool,
    /// What was put around it by calls, the outermost first. Its decorators come behind.
    pub tuners: Rc<Vec<Rc<Tuner>>>,
    /// What a function inside of another one sees of that, if it runs at compile time.
    pub around: Option<Rc<Around>>,
}

/// What a lambda or a function inside of another one knows of the frame that made it.
pub struct Around {
    /// The number of that frame, and its own.
    pub frame: u32,
    pub number: u32,
    /// The names of that frame, and of those around it, that it uses.
    pub bound: Vec<Arc<str>>,
    /// Their values, as they were then, or when the frame ended.
    pub names: Vec<(Arc<str>, Object)>,
    /// The values of the parameters' defaults.
    pub defaults: Vec<Option<Object>>,
}

/// A decorator of Triton's that gives a kernel values: `triton.heuristics(…)`, `triton.autotune(…)`.
pub struct Tuner {
    pub gives: Tuned,
    /// What it is given.
    pub at: Span,
}

/// What a decorator gives, or why that is not known.
pub enum Tuned {
    Heuristics(Result<Vec<NamedFunction>, Option<Diagnostic>>),
    /// A list of configurations, and the names in `key`.
    Configs(Result<Object, Option<Diagnostic>>, Vec<String>),
}

/// A function of `triton.heuristics` with the name of what it gives, or why it is not known.
pub type NamedFunction = (Rc<str>, Result<Object, Option<Diagnostic>>);

impl Func {
    #[must_use]
    pub fn new(def: Arc<FunctionDef>, module: usize, jit: bool) -> Func {
        Func { def, module, jit, tuners: Rc::default(), around: None }
    }

    /// The function with one more decorator around it.
    #[must_use]
    pub fn with_tuner(&self, tuner: &Rc<Tuner>) -> Func {
        let all = std::iter::once(tuner).chain(self.tuners.iter()).cloned().collect();
        Func { tuners: Rc::new(all), ..self.clone() }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.def.name.name
    }
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
    /// `tl.tuple`
    Tuple,
    /// Python's `tuple`
    HostTuple,
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
            Class::HostTuple => "tuple",
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
    /// A class of the program's own, by the module of what its body sees, and its name.
    HostClass(usize, Arc<str>),
    /// A member of such a class that is an enumeration.
    Enumerator(Rc<Enumerator>),
    Class(Class),
    /// `tl.PropagateNan.ALL` is true.
    PropagateNan(bool),
    /// A member of an enumeration of Triton's: `KIND.FLOATING`.
    Member(&'static str),
    /// `torch.finfo(t)` and `torch.iinfo(t)`.
    Limits(Dtype),
}

/// A member of an enumeration of the program's own. It is equal to no number; its `value` may be.
pub struct Enumerator {
    /// The module of its class, and the name of that.
    pub class: usize,
    pub class_name: Arc<str>,
    pub name: Rc<str>,
    pub value: Object,
}

/// A lambda with what is around it.
pub struct LambdaVal {
    pub def: Rc<Lambda>,
    /// The module it was written in.
    pub module: usize,
    pub around: Around,
}

/// How an integer compares with a float.
fn int_to_float(x: i128, y: f64) -> Option<Ordering> {
    // Beyond 2^127 there is no integer here.
    if y.is_nan() || y.abs() >= 2f64.powi(127) {
        return (x as f64).partial_cmp(&y);
    }
    let whole = y.trunc();
    Some(x.cmp(&(whole as i128)).then_with(|| whole.partial_cmp(&y).unwrap_or(Ordering::Equal)))
}

impl Const {
    #[must_use]
    pub fn str(text: &str) -> Const {
        Const::Str(Rc::from(text))
    }

    /// How two numbers compare; `None` for others and for NaN. An integer and a float compare exactly.
    #[must_use]
    pub fn order(&self, other: &Const) -> Option<Ordering> {
        match (self.as_int(), other.as_int()) {
            (Some(x), Some(y)) => Some(x.cmp(&y)),
            (Some(x), None) => other.as_float().and_then(|y| int_to_float(x, y)),
            (None, Some(y)) => self.as_float().and_then(|x| int_to_float(y, x)).map(Ordering::reverse),
            (None, None) => self.as_float()?.partial_cmp(&other.as_float()?),
        }
    }

    /// Whether both are the same value of the same kind.
    #[must_use]
    pub fn is(&self, other: &Const) -> bool {
        match (self, other) {
            (Const::Bool(a), Const::Bool(b)) => a == b,
            (Const::Int(a), Const::Int(b)) => a == b,
            (Const::Float(a), Const::Float(b)) => a.to_bits() == b.to_bits(),
            (Const::Bool(_) | Const::Int(_) | Const::Float(_), _) => false,
            _ => self == other,
        }
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

    /// The type a Python number takes by itself.
    #[must_use]
    pub fn dtype(&self) -> Option<Dtype> {
        match self {
            Const::Bool(_) => Some(Dtype::Int1),
            Const::Int(i) => [Dtype::Int32, Dtype::Uint32, Dtype::Int64, Dtype::Uint64].into_iter().find(|d| {
                let (lo, hi) = d.int_range();
                (lo..=hi).contains(i)
            }),
            Const::Float(f) => {
                let a = f.abs();
                let single =
                    a == 0.0 || !a.is_finite() || (f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX)).contains(&a);
                Some(if single { Dtype::Fp32 } else { Dtype::Fp64 })
            }
            _ => None,
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
            Const::Class(_) | Const::HostClass(..) => "class",
            Const::PropagateNan(_) => "PropagateNan",
            Const::Member(_) | Const::Enumerator(_) => "member",
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
            (Const::Func(a), Const::Func(b)) => {
                let number = |f: &Func| f.around.as_ref().map(|around| around.number);
                Arc::ptr_eq(&a.def, &b.def) && number(a) == number(b)
            }
            (Const::Lambda(a), Const::Lambda(b)) => Rc::ptr_eq(a, b),
            (Const::Builtin(a), Const::Builtin(b)) => std::ptr::eq(*a, *b),
            (Const::Space(a), Const::Space(b)) => a == b,
            (Const::Module(a), Const::Module(b)) | (Const::HostClass(a, _), Const::HostClass(b, _)) => a == b,
            (Const::Enumerator(a), Const::Enumerator(b)) => a.class == b.class && a.name == b.name,
            (Const::Class(a), Const::Class(b)) => a == b,
            (Const::PropagateNan(a), Const::PropagateNan(b)) => a == b,
            (Const::Member(a), Const::Member(b)) => a == b,
            (Const::Limits(a), Const::Limits(b)) => a == b,
            (a, b) => a.order(b) == Some(Ordering::Equal),
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
            Const::Space(s) => write!(f, "{}", s.name()),
            Const::Module(_) => f.write_str("module"),
            Const::HostClass(_, name) => f.write_str(name),
            Const::Enumerator(e) => write!(f, "{}.{}", e.class_name, e.name),
            Const::Class(c) => f.write_str(c.name()),
            Const::PropagateNan(all) => f.write_str(if *all { "PROPAGATE_NAN.ALL" } else { "PROPAGATE_NAN.NONE" }),
            Const::Member(name) => f.write_str(name),
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
