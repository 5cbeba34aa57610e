//! The primitives of the language, in one table: name, parameters, documentation, function.
//!
//! A signature is written as in Python (`pointer, mask=None, *, cache_modifier=""`); defaults are literals, `*` starts
//! keyword-only parameters, `*name` takes the remaining positional ones as a tuple, `**name` the remaining keywords as
//! a dict. What Triton itself writes in its language is not here but in the prelude ([`super::prelude`]).
//!
//! To add one: an entry in the table of its family, with a function `fn(&mut Lower, &Args) -> R<Val>`; a case under
//! `tests/irgen`.

pub mod args;
mod atomic;
mod creation;
mod debug;
mod descriptor;
mod dot;
mod extern_math;
mod hints;
mod host;
mod map;
mod math;
mod memory;
mod operators;
mod python;
mod reduce;
mod shape;
mod target;
mod types;

pub use args::Args;
pub use target::DECORATORS;

use super::lower::{Lower, R};
use super::types::Dtype;
use super::value::{Class, Const, Space, Val};

/// What a primitive does.
pub type Run = fn(&mut Lower<'_>, &Args) -> R<Val>;

/// One primitive.
pub struct Builtin {
    pub name: &'static str,
    /// The parameters, as in Python.
    pub sig: &'static str,
    pub doc: &'static str,
    pub run: Run,
}

/// An entry of a table.
const fn entry(name: &'static str, sig: &'static str, doc: &'static str, run: Run) -> Builtin {
    Builtin { name, sig, doc, run }
}

/// A parameter of a primitive.
pub struct Parameter {
    pub name: &'static str,
    pub default: Option<Val>,
    pub keyword_only: bool,
    pub variadic: bool,
    /// `**name`
    pub keywords: bool,
}

impl Builtin {
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
                () if keywords => Some(Val::dict(vec![])),
                () if variadic => Some(Val::tuple(vec![])),
                () => default.map(literal),
            };
            params.push(Parameter { name, default, keyword_only: keyword_only || keywords, variadic, keywords });
            keyword_only |= variadic;
        }
        params
    }
}

/// A default value of a signature.
fn literal(text: &str) -> Val {
    Val::Const(match text {
        "None" => Const::None,
        "True" => Const::Bool(true),
        "False" => Const::Bool(false),
        _ if text.starts_with('"') => Const::str(text.trim_matches('"')),
        _ => text.parse().map(Const::Int).or_else(|_| text.parse().map(Const::Float)).unwrap_or(Const::None),
    })
}

/// Tables that make up `triton.language`.
static LANGUAGE: &[&[Builtin]] = &[
    creation::TABLE,
    memory::TABLE,
    atomic::TABLE,
    math::TABLE,
    math::OPERATORS,
    shape::TABLE,
    reduce::TABLE,
    map::TABLE,
    dot::TABLE,
    descriptor::TABLE,
    hints::TABLE,
    debug::TABLE,
    types::TABLE,
    python::RANGES,
];

/// Members that are methods of tensors too.
static TENSOR_METHODS: &[&str] = &[
    "broadcast_to",
    "trans",
    "permute",
    "split",
    "view",
    "reshape",
    "expand_dims",
    "cast",
    "store",
    "atomic_load",
    "atomic_store",
    "atomic_poll",
    "atomic_cas",
    "atomic_xchg",
    "atomic_add",
    "atomic_max",
    "atomic_min",
    "atomic_and",
    "atomic_or",
    "atomic_xor",
    "exp",
    "exp2",
    "log",
    "log2",
    "cos",
    "sin",
    "sqrt",
    "sqrt_rn",
    "rsqrt",
    "abs",
    "erf",
    "floor",
    "ceil",
    "reduce",
    "associative_scan",
    "gather",
    "histogram",
    "item",
    "advance",
    "to",
    "logical_and",
    "logical_or",
];

fn find(tables: &[&'static [Builtin]], name: &str) -> Option<&'static Builtin> {
    tables.iter().flat_map(|t| t.iter()).find(|b| b.name == name)
}

/// Every primitive, for documentation and checks.
pub fn all() -> impl Iterator<Item = &'static Builtin> {
    static REST: &[&[Builtin]] = &[
        target::CUDA,
        target::INFO,
        target::TRITON,
        python::TABLE,
        types::DTYPE_METHODS,
        descriptor::METHODS,
        host::TABLE,
        host::TRITON,
        host::ITERTOOLS,
    ];
    LANGUAGE.iter().chain(REST).flat_map(|t| t.iter())
}

/// A member of a built-in package, other than what the prelude defines.
#[must_use]
pub fn member(space: Space, name: &str) -> Option<Val> {
    let builtin = |b: &'static Builtin| Val::Const(Const::Builtin(b));
    match space {
        Space::Language => {
            language_member(name).or_else(|| find(LANGUAGE, name).filter(|b| b.name != "to").map(builtin))
        }
        Space::Math => find(&[math::TABLE], name).or_else(|| extern_math::find(name)).map(builtin),
        Space::Libdevice => extern_math::find(name).map(builtin),
        Space::Extra => match name {
            "cuda" | "hip" => Some(Const::Space(Space::Cuda).into()),
            "libdevice" => Some(Const::Space(Space::Libdevice).into()),
            _ => None,
        },
        Space::Cuda if name == "libdevice" => Some(Const::Space(Space::Libdevice).into()),
        Space::Cuda => find(&[target::CUDA], name).map(builtin),
        Space::TargetInfo => find(&[target::INFO], name).map(builtin),
        Space::PropagateNan => match name {
            "ALL" => Some(Const::PropagateNan(true).into()),
            "NONE" => Some(Const::PropagateNan(false).into()),
            _ => None,
        },
        Space::Triton => match name {
            "language" => Some(Const::Space(Space::Language).into()),
            "__version__" => Some(Const::str("3.9.0").into()),
            "runtime" => Some(Const::Space(Space::Runtime).into()),
            _ => find(&[target::TRITON, host::TRITON], name).map(builtin),
        },
        Space::PyMath => python::math_member(name),
        Space::Os if name == "environ" => Some(Const::Space(Space::Environ).into()),
        Space::Os | Space::Environ => find(&[python::ENVIRONMENT], name).map(builtin),
        Space::Torch => match name {
            "cuda" => Some(Const::Space(Space::TorchCuda).into()),
            "version" => Some(Const::Space(Space::TorchVersion).into()),
            "Tensor" => Some(Const::Class(Class::Tensor).into()),
            _ => python::torch_member(name).or_else(|| host::target_member(space, name)),
        },
        Space::Itertools => find(&[host::ITERTOOLS], name).map(builtin),
        _ => host::target_member(space, name),
    }
}

fn language_member(name: &str) -> Option<Val> {
    let class = |c: Class| Some(Const::Class(c).into());
    match name {
        "constexpr" => class(Class::Constexpr),
        "tensor" => class(Class::Tensor),
        "dtype" => class(Class::Dtype),
        "pointer_type" => class(Class::PointerType),
        "block_type" => class(Class::BlockType),
        "const" => class(Class::Const),
        "tuple" => class(Class::Tuple),
        "tensor_descriptor" | "tensor_descriptor_base" => class(Class::Descriptor),
        "PropagateNan" => Some(Const::Space(Space::PropagateNan).into()),
        "math" => Some(Const::Space(Space::Math).into()),
        "extra" => Some(Const::Space(Space::Extra).into()),
        "libdevice" => Some(Const::Space(Space::Libdevice).into()),
        "target_info" => Some(Const::Space(Space::TargetInfo).into()),
        "core" | "standard" | "random" => Some(Const::Space(Space::Language).into()),
        "pi32_t" => Some(Val::dtype(Dtype::pointer_to(super::types::Ty::scalar(Dtype::Int32), false))),
        "TRITON_MAX_TENSOR_NUMEL" => Some(Val::int(super::types::MAX_NUMEL)),
        "CONSTEXPR_0" => Some(Val::int(0)),
        _ => Dtype::ALL.iter().find(|d| d.attr_name() == name).map(|&d| Val::dtype(d)),
    }
}

/// The IR type of a descriptor of blocks of this type.
#[must_use]
pub fn descriptor_type(block: super::types::Ty) -> crate::ir::Type {
    descriptor::ir_type(block)
}

/// A method of tensors, the operators by Python's names among them.
#[must_use]
pub fn tensor_method(name: &str) -> Option<&'static Builtin> {
    TENSOR_METHODS.contains(&name).then(|| find(LANGUAGE, name)).flatten().or_else(|| operators::find(name))
}

/// A method of dtypes: `is_fp8`, `is_int`, …
#[must_use]
pub fn dtype_method(name: &str) -> Option<&'static Builtin> {
    find(&[types::DTYPE_METHODS], name)
}

/// A method of what host code works with: dicts, strings, lists, integers, and what a heuristic knows of its arguments.
#[must_use]
pub fn host_method(base: &Val, name: &str) -> Option<&'static Builtin> {
    host::method(base, name)
}

/// A method of tensor descriptors.
#[must_use]
pub fn descriptor_method(name: &str) -> Option<&'static Builtin> {
    find(&[descriptor::METHODS], name)
}

/// What Python itself names: `range`, `min`, `float`, …
#[must_use]
pub fn python(name: &str) -> Option<Val> {
    let class = match name {
        "int" => Class::Int,
        "float" => Class::Float,
        "bool" => Class::Bool,
        "str" => Class::Str,
        "tuple" => Class::Tuple,
        "list" => Class::List,
        "dict" => Class::Dict,
        _ => return find(&[python::TABLE, host::TABLE], name).map(|b| Const::Builtin(b).into()),
    };
    Some(Const::Class(class).into())
}

/// The names that Python's own builtins have, for suggestions.
pub fn python_names() -> impl Iterator<Item = &'static str> {
    python::TABLE.iter().map(|b| b.name).chain(["int", "float", "bool", "str"])
}

/// Names of a package's members, for suggestions.
#[must_use]
pub fn member_names(space: Space) -> Vec<&'static str> {
    let names =
        |tables: &[&'static [Builtin]]| tables.iter().flat_map(|t| t.iter()).map(|b| b.name).collect::<Vec<_>>();
    match space {
        Space::Language => {
            let mut all = names(LANGUAGE);
            all.extend(Dtype::ALL.iter().map(|d| d.attr_name()));
            all.extend(super::prelude::NAMES.iter().map(|(n, _)| *n));
            all.extend(["constexpr", "math", "extra", "pointer_type"]);
            all
        }
        Space::Math => names(&[math::TABLE]),
        Space::Cuda => names(&[target::CUDA]),
        Space::Triton => names(&[target::TRITON, host::TRITON]),
        Space::Libdevice => extern_math::names(),
        _ => vec![],
    }
}

/// Names that tensors have, for suggestions.
#[must_use]
pub fn tensor_attr_names() -> Vec<&'static str> {
    TENSOR_METHODS
        .iter()
        .copied()
        .chain(["dtype", "shape", "type", "numel", "T"])
        .chain(super::prelude::METHODS.iter().copied())
        .collect()
}

/// How a package is called in messages.
#[must_use]
pub fn space_name(space: Space) -> &'static str {
    match space {
        Space::Triton => "triton",
        Space::Language => "triton.language",
        Space::Math => "triton.language.math",
        Space::Extra => "triton.language.extra",
        Space::Cuda => "triton.language.extra.cuda",
        Space::Libdevice => "libdevice",
        Space::TargetInfo => "triton.language.target_info",
        Space::PropagateNan => "tl.PropagateNan",
        Space::PyMath => "math",
        Space::Os => "os",
        Space::Environ => "os.environ",
        Space::Torch => "torch",
        Space::TorchCuda => "torch.cuda",
        Space::TorchVersion => "torch.version",
        Space::Itertools => "itertools",
        Space::Runtime => "triton.runtime",
        Space::Driver => "triton.runtime.driver",
        Space::ActiveDriver => "triton.runtime.driver.active",
        Space::GpuTarget => "the target",
    }
}

/// Parts of Triton that exist there but not here yet.
#[must_use]
pub fn known_but_missing(space: Space, name: &str) -> bool {
    space == Space::Language && ["to_tensor_descriptor", "aggregate", "mark_underflow", "slice"].contains(&name)
}
