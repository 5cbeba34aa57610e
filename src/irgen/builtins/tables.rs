//! All tables of primitives: which package has which members, which values have which methods.

use super::{
    atomic, creation, debug, descriptor, dot, extern_math, hints, host, map, math, memory, operators, python as py,
    reduce, shape, target, types,
};
use crate::irgen::front::space::Space;
use crate::irgen::front::{advice, prelude};
use crate::irgen::types::{Dtype, MAX_NUMEL, Ty};
use crate::irgen::value::{Builtin, Class, Const, Object};
use crate::target::Target;

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
    py::RANGES,
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
        py::TABLE,
        types::DTYPE_METHODS,
        descriptor::METHODS,
        host::TABLE,
        host::TRITON,
        host::ITERTOOLS,
        host::VERSIONS,
    ];
    LANGUAGE.iter().chain(REST).flat_map(|t| t.iter())
}

/// A member of a built-in package, other than what the prelude defines.
#[must_use]
pub fn member(space: Space, name: &str) -> Option<Object> {
    let builtin = |b: &'static Builtin| Object::Const(Const::Builtin(b));
    match space {
        Space::Language => {
            language_member(name).or_else(|| find(LANGUAGE, name).filter(|b| b.name != "to").map(builtin))
        }
        Space::Math if name == "core" => Some(Const::Space(Space::Language).into()),
        Space::Math => find(&[math::TABLE], name).or_else(|| extern_math::find(name)).map(builtin),
        Space::Libdevice => extern_math::find(name).map(builtin),
        Space::Extra => match name {
            "cuda" => Some(Const::Space(Space::Cuda).into()),
            "hip" => Some(Const::Space(Space::Hip).into()),
            "libdevice" => Some(Const::Space(Space::Libdevice).into()),
            _ => None,
        },
        Space::Cuda | Space::Hip if name == "libdevice" => Some(Const::Space(Space::Libdevice).into()),
        Space::Cuda => find(&[target::CUDA], name).map(builtin),
        Space::TargetInfo => find(&[target::INFO], name).map(builtin),
        Space::PropagateNan => match name {
            "ALL" => Some(Const::PropagateNan(true).into()),
            "NONE" => Some(Const::PropagateNan(false).into()),
            _ => None,
        },
        Space::Kind => types::KINDS.iter().find(|m| m.ends_with(&format!(".{name}"))).map(|m| Const::Member(m).into()),
        Space::Signedness => match name {
            "SIGNED" => Some(Const::Member("SIGNEDNESS.SIGNED").into()),
            "UNSIGNED" => Some(Const::Member("SIGNEDNESS.UNSIGNED").into()),
            _ => None,
        },
        Space::Triton => match name {
            "language" => Some(Const::Space(Space::Language).into()),
            "__version__" => Some(Const::str("3.9.0").into()),
            "runtime" => Some(Const::Space(Space::Runtime).into()),
            _ => find(&[target::TRITON, host::TRITON], name).map(builtin),
        },
        Space::PyMath => py::math_member(name),
        Space::Os if name == "environ" => Some(Const::Space(Space::Environ).into()),
        Space::Os | Space::Environ => find(&[py::ENVIRONMENT], name).map(builtin),
        Space::Torch => match name {
            "cuda" => Some(Const::Space(Space::TorchCuda).into()),
            "version" => Some(Const::Space(Space::TorchVersion).into()),
            "Tensor" => Some(Const::Class(Class::Tensor).into()),
            _ => py::torch_member(name).or_else(|| host::target_member(space, name)),
        },
        Space::Itertools => find(&[host::ITERTOOLS], name).map(builtin),
        Space::Packaging if name == "version" => Some(Const::Space(Space::PackagingVersion).into()),
        Space::PackagingVersion => find(&[host::VERSIONS], name).map(builtin),
        _ => host::target_member(space, name),
    }
}

fn language_member(name: &str) -> Option<Object> {
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
        "pi32_t" => Some(Object::dtype(Dtype::pointer_to(Ty::scalar(Dtype::Int32), false))),
        "TRITON_MAX_TENSOR_NUMEL" => Some(Object::int(MAX_NUMEL)),
        "CONSTEXPR_0" => Some(Object::int(0)),
        _ => Dtype::ALL.iter().find(|d| d.attr_name() == name).map(|&d| Object::dtype(d)),
    }
}

/// The IR type of a descriptor of blocks of this type.
#[must_use]
pub fn descriptor_type(block: Ty) -> crate::ir::Type {
    descriptor::ir_type(block)
}

/// A method of tensors, the operators by Python's names among them.
#[must_use]
pub fn tensor_method(name: &str) -> Option<&'static Builtin> {
    find(LANGUAGE, name).filter(|b| b.is_method).or_else(|| operators::find(name))
}

/// A method of dtypes: `is_fp8`, `is_int`, …
#[must_use]
pub fn dtype_method(name: &str) -> Option<&'static Builtin> {
    find(&[types::DTYPE_METHODS], name)
}

/// A method of what host code works with: dicts, strings, lists, integers, and what a heuristic knows of its arguments.
#[must_use]
pub fn host_method(base: &Object, name: &str) -> Option<&'static Builtin> {
    host::method(base, name)
}

/// A method of tensor descriptors.
#[must_use]
pub fn descriptor_method(name: &str) -> Option<&'static Builtin> {
    find(&[descriptor::METHODS], name)
}

/// What Python itself names: `range`, `min`, `float`, …
#[must_use]
pub fn python(name: &str) -> Option<Object> {
    let class = match name {
        "int" => Class::Int,
        "float" => Class::Float,
        "bool" => Class::Bool,
        "str" => Class::Str,
        "tuple" => Class::HostTuple,
        "list" => Class::List,
        "dict" => Class::Dict,
        _ => return find(&[py::TABLE, host::TABLE], name).map(|b| Const::Builtin(b).into()),
    };
    Some(Const::Class(class).into())
}

/// The names that Python's own builtins have, for suggestions.
pub fn python_names() -> impl Iterator<Item = &'static str> {
    py::TABLE.iter().map(|b| b.name).chain(["int", "float", "bool", "str"])
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
            all.extend(prelude::NAMES.iter().map(|(n, _)| *n).filter(|n| !n.starts_with('_')));
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

/// What to write instead of a function that a package or a tensor lacks: other libraries have it, or `libdevice` does.
#[must_use]
pub fn instead_of(target: &Target, name: &str) -> Option<String> {
    advice::instead_of(name).or_else(|| extern_math::advice(target, name))
}

/// Names that tensors have, for suggestions.
#[must_use]
pub fn tensor_attr_names() -> Vec<&'static str> {
    let methods = LANGUAGE.iter().flat_map(|t| t.iter()).filter(|b| b.is_method).map(|b| b.name);
    methods.chain(["dtype", "shape", "type", "numel", "T"]).chain(prelude::METHODS.iter().copied()).collect()
}

/// Parts of Triton that exist there but not here yet.
#[must_use]
pub fn known_but_missing(space: Space, name: &str) -> bool {
    space == Space::Language && ["to_tensor_descriptor", "aggregate", "mark_underflow", "slice"].contains(&name)
}
