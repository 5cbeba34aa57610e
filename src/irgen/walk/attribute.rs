//! `value.attr`: members of packages, attributes of tensors, types and descriptors, methods.

use std::rc::Rc;

use super::lookup::target_value;
use super::walker::Walker;
use crate::diag::codes::types;
use crate::irgen::builtins;
use crate::irgen::emit::{R, Reported};
use crate::irgen::front::space::Space;
use crate::irgen::semantic::{fold, shape};
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Builtin, Class, Const, Enumerator, Method, Object};
use crate::target::TritonArch;

/// How many classes one may be made of, one upon the other.
const MAX_BASES: usize = 16;

impl Walker<'_> {
    /// `value.attr`
    pub fn attr(&mut self, base: &Object, attr: &str) -> R<Object> {
        let found = match base {
            Object::Error => return Err(Reported),
            Object::Const(Const::Space(Space::GpuTarget)) if attr == "arch" => {
                Some(match self.out.settings().target.triton_arch() {
                    TritonArch::Number(number) => Object::int(number),
                    TritonArch::Name(name) => Const::str(name).into(),
                })
            }
            Object::Const(Const::Space(Space::GpuTarget)) if attr == "backend" => {
                Some(Const::str(self.out.settings().target.triton_backend()).into())
            }
            Object::Const(Const::Space(Space::GpuTarget)) if attr == "warp_size" => {
                Some(Object::int(self.out.settings().target.warp_size()))
            }
            Object::Const(Const::Space(space)) => self.space_attr(*space, attr),
            Object::Config(c) => c.attribute(attr),
            Object::Argument(a) if a.ty.dtype.is_ptr() => {
                match (a.ty.dtype.pointee(), builtins::host_method(base, attr)) {
                    (Some(t), _) if attr == "dtype" => Some(Object::dtype(t.dtype)),
                    (_, Some(method)) => Self::method(base, Some(method)),
                    _ => return fold::known(&mut self.out, base).map(|()| Object::NONE),
                }
            }
            // Functions that Triton runs in Python may be handed compile-time values as such.
            Object::Const(Const::Str(_)) if attr != "value" => Self::method(base, builtins::host_method(base, attr)),
            Object::Dict(_) | Object::Tuple(_) | Object::Passed(_) if self.frame.host && attr != "value" => {
                Self::method(base, builtins::host_method(base, attr))
            }
            Object::Const(Const::Int(_)) if builtins::host_method(base, attr).is_some() => {
                Self::method(base, builtins::host_method(base, attr))
            }
            Object::Const(Const::Module(m)) => self.module_attr(*m, attr),
            Object::Const(Const::HostClass(m, _)) => self.class_attr(*m, attr, 0),
            Object::Const(Const::Enumerator(e)) => match attr {
                "name" => Some(Const::str(&e.name).into()),
                "value" => Some(e.value.clone()),
                _ => None,
            },
            Object::Const(Const::Class(Class::Dtype)) => match attr {
                "KIND" => Some(Const::Space(Space::Kind).into()),
                "SIGNEDNESS" => Some(Const::Space(Space::Signedness).into()),
                "is_dtype" => Self::method(base, builtins::dtype_method(attr)),
                _ => None,
            },
            Object::Const(Const::Member(member)) if attr == "name" => {
                member.rsplit('.').next().map(|name| Const::str(name).into())
            }
            Object::Const(Const::Type(t)) => {
                type_attr(*t, attr).or_else(|| Self::method(base, builtins::dtype_method(attr)))
            }
            Object::Tensor(t) if attr == "T" => {
                if t.ty.shape().len() > 2 {
                    return Err(self.out.error_help(
                        &types::AXIS,
                        format!("`.T` is of two dimensions, and {} has {}", t.ty, t.ty.shape().len()),
                        "transposed here",
                        "write `tl.trans(x)` to swap the last two, or `tl.permute(x, order)`",
                    ));
                }
                return Ok(shape::transpose(&mut self.out, *t)?.into());
            }
            Object::Tensor(t) => tensor_attr(t.ty, attr).or_else(|| {
                let member = builtins::tensor_method(attr).map(Const::Builtin).map(Object::from);
                member.or_else(|| self.prelude_method(attr)).and_then(|f| Self::bind_method(base, f))
            }),
            Object::Desc(d) => match attr {
                "dtype" => Some(Object::dtype(d.block.dtype)),
                "block_shape" => Some(Object::ints(d.block.shape())),
                "block_type" | "type" => Some(Const::Type(d.block).into()),
                "shape" => Some(Object::tuple(d.shape.iter().map(|&t| t.into()).collect())),
                "strides" => Some(Object::tuple(d.strides.iter().map(|&t| t.into()).collect())),
                _ => Self::method(base, builtins::descriptor_method(attr)),
            },
            Object::Const(Const::Func(f)) if attr == "__name__" => Some(Const::str(f.name()).into()),
            Object::Const(Const::Limits(d)) => limits_attr(*d, attr),
            Object::Const(Const::Func(_)) if attr == "fn" => Some(base.clone()),
            // A compile-time value is its own `.value`, and numbers take tensor methods such as `.to`.
            Object::Const(_) if attr == "value" => Some(base.clone()),
            Object::Const(c) if c.as_float().is_some() => {
                let member = builtins::tensor_method(attr).map(Const::Builtin).map(Object::from);
                member.or_else(|| self.prelude_method(attr)).and_then(|f| Self::bind_method(base, f))
            }
            _ => None,
        };
        found.ok_or_else(|| self.unknown_attribute(base, attr))
    }

    fn method(base: &Object, b: Option<&'static Builtin>) -> Option<Object> {
        b.and_then(|b| Self::bind_method(base, Const::Builtin(b).into()))
    }

    fn bind_method(base: &Object, f: Object) -> Option<Object> {
        match f {
            Object::Const(callee) => Some(Object::Method(Rc::new(Method { receiver: base.clone(), callee }))),
            _ => None,
        }
    }

    fn module_attr(&mut self, module: usize, attr: &str) -> Option<Object> {
        if let Some(v) = self.global(module, attr) {
            return Some(v);
        }
        let level_1 = self.mods.submodule(module, 1, &[], attr)?;
        target_value(level_1)
    }

    /// An attribute of a class of the program's own: what its body binds, or that of a class that it is made of.
    fn class_attr(&mut self, module: usize, attr: &str, depth: usize) -> Option<Object> {
        if depth > MAX_BASES {
            return None;
        }
        let (kind, bases) = self.class_kind(module, depth);
        if !self.mods.get(module).binds(attr) {
            return bases.into_iter().find_map(|base| self.class_attr(base, attr, depth + 1));
        }
        let value = self.later(|cx| cx.global(module, attr))?;
        let class = self.mods.get(module).class.clone()?;
        if kind != Kind::Enumeration || !value.is_data() {
            return Some(value);
        }
        let (class_name, name) = (class.name.clone(), Rc::from(attr));
        Some(Const::Enumerator(Rc::new(Enumerator { class: module, class_name, name, value })).into())
    }

    /// The kind of a class, and the program's own classes that it is made of.
    fn class_kind(&mut self, module: usize, depth: usize) -> (Kind, Vec<usize>) {
        let Some(class) = self.mods.get(module).class.clone().filter(|_| depth <= MAX_BASES) else {
            return (Kind::Plain, vec![]);
        };
        let (mut kind, mut own) = (Kind::Plain, vec![]);
        for base in &class.bases {
            let path = base.dotted().unwrap_or_default();
            let of_base = match path.last() {
                Some(&("Enum" | "Flag")) => Kind::Enumeration,
                Some(&("IntEnum" | "IntFlag" | "StrEnum" | "int" | "str" | "float")) => Kind::Valued,
                _ => match self.evaluate(module, base) {
                    Some(Object::Const(Const::HostClass(m, _))) if m != module => {
                        own.push(m);
                        self.class_kind(m, depth + 1).0
                    }
                    _ => Kind::Plain,
                },
            };
            kind = match (kind, of_base) {
                (Kind::Valued, _) | (_, Kind::Valued) => Kind::Valued,
                (Kind::Enumeration, _) | (_, Kind::Enumeration) => Kind::Enumeration,
                _ => Kind::Plain,
            };
        }
        (kind, own)
    }
}

/// What kind of class one is, as far as its attributes go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    /// A member of it is no number, but has one: `Enum`.
    Enumeration,
    /// A member of it is its value as well: `IntEnum`, `class A(str, Enum)`.
    Valued,
}

fn tensor_attr(ty: Ty, attr: &str) -> Option<Object> {
    Some(match attr {
        "dtype" => Object::dtype(ty.dtype),
        "type" => Const::Type(ty).into(),
        "shape" => Object::ints(ty.shape()),
        "numel" => Object::int(ty.numel()),
        _ => return None,
    })
}

/// `torch.finfo(t).max` and the like.
fn limits_attr(d: Dtype, attr: &str) -> Option<Object> {
    let float = |x: f64| Some(Const::Float(x).into());
    if d.is_int() {
        return match attr {
            "min" => Some(Object::int(d.int_range().0)),
            "max" => Some(Object::int(d.int_range().1)),
            "bits" => Some(Object::int(d.bits())),
            _ => None,
        };
    }
    // Exponent range and mantissa decide the rest; the largest value of fp8e4nv lacks the last mantissa step.
    let (max_exp, min_exp) = match d {
        Dtype::Fp16 | Dtype::Fp8e5 => (15, -14),
        Dtype::Bf16 | Dtype::Fp32 => (127, -126),
        Dtype::Fp64 => (1023, -1022),
        Dtype::Fp8e4nv => (8, -6),
        _ => return None,
    };
    let eps = 2f64.powi(-(d.mantissa() as i32));
    let top = if d == Dtype::Fp8e4nv { 2.0 - 2.0 * eps } else { 2.0 - eps };
    match attr {
        "max" => float(top * 2f64.powi(max_exp)),
        "min" => float(-top * 2f64.powi(max_exp)),
        "eps" => float(eps),
        "tiny" | "smallest_normal" => float(2f64.powi(min_exp)),
        "bits" => Some(Object::int(d.bits())),
        _ => None,
    }
}

fn type_attr(ty: Ty, attr: &str) -> Option<Object> {
    let d = ty.dtype;
    Some(match attr {
        "element_ty" if ty.is_block() => Object::dtype(d),
        "element_ty" => Const::Type(d.pointee()?).into(),
        "scalar" | "dtype" => Object::dtype(d),
        "shape" => Object::ints(ty.shape()),
        "numel" => Object::int(ty.numel()),
        "name" if ty.is_block() => {
            let shape: Vec<String> = ty.shape().iter().map(|n| format!("'{n}'")).collect();
            Const::str(&format!("<[{}], {d}>", shape.join(", "))).into()
        }
        "name" => Const::str(&ty.to_string()).into(),
        "nbytes" if ty.is_block() && !d.is_ptr() => Object::int(ty.numel() * i64::from(d.bits() / 8)),
        "value" => Const::Type(ty).into(),
        // The rest is of elements.
        _ if ty.is_block() => return None,
        "primitive_bitwidth" if !d.is_ptr() => Object::int(d.bits()),
        "itemsize" if !d.is_ptr() => Object::int(d.bits() / 8),
        "int_bitwidth" if d.is_int() => Object::int(d.bits()),
        "fp_mantissa_width" if d.is_float() => Object::int(d.mantissa()),
        "exponent_bias" => Object::int(match d {
            Dtype::Fp8e4b15 | Dtype::Fp8e5 | Dtype::Fp16 => 15,
            Dtype::Fp8e4nv => 7,
            Dtype::Fp8e4b8 => 8,
            Dtype::Fp8e5b16 => 16,
            Dtype::Bf16 | Dtype::Fp32 => 127,
            Dtype::Fp64 => 1023,
            _ => return None,
        }),
        "int_signedness" if d.is_int() => {
            Const::Member(if d.is_signed() { "SIGNEDNESS.SIGNED" } else { "SIGNEDNESS.UNSIGNED" }).into()
        }
        _ => return None,
    })
}
