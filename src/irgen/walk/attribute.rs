//! `value.attr`: members of packages, attributes of tensors, types and descriptors, methods.

use std::rc::Rc;

use super::lookup::target_value;
use super::walker::Walker;
use crate::irgen::builtins;
use crate::irgen::emit::{R, Reported};
use crate::irgen::front::space::Space;
use crate::irgen::semantic::shape;
use crate::irgen::types::{Dtype, Ty};
use crate::irgen::value::{Builtin, Const, Method, Val};

impl Walker<'_> {
    /// `value.attr`
    pub fn attr(&mut self, base: &Val, attr: &str) -> R<Val> {
        let found = match base {
            Val::Error => return Err(Reported),
            Val::Const(Const::Space(Space::GpuTarget)) if attr == "arch" => {
                Some(Val::int(self.out.settings().target.triton_number()))
            }
            Val::Const(Const::Space(Space::GpuTarget)) if attr == "warp_size" => {
                Some(Val::int(self.out.settings().target.warp_size()))
            }
            Val::Const(Const::Space(space)) => self.space_attr(*space, attr),
            Val::Config(c) => c.attribute(attr),
            Val::Argument(a) if attr == "dtype" => {
                Some(Val::dtype(a.ty.dtype.pointee().map_or(a.ty.dtype, |t| t.dtype)))
            }
            Val::Dict(_) | Val::Tuple(_) | Val::Argument(_) | Val::Const(Const::Str(_)) if self.frame.host => {
                Self::method(base, builtins::host_method(base, attr))
            }
            Val::Const(Const::Int(_)) if self.frame.host && builtins::host_method(base, attr).is_some() => {
                Self::method(base, builtins::host_method(base, attr))
            }
            Val::Const(Const::Module(m)) => self.module_attr(*m, attr),
            Val::Const(Const::Type(t)) => {
                type_attr(*t, attr).or_else(|| Self::method(base, builtins::dtype_method(attr)))
            }
            Val::Tensor(t) if attr == "T" => return Ok(shape::transpose(&mut self.out, *t)?.into()),
            Val::Tensor(t) => tensor_attr(t.ty, attr).or_else(|| {
                let member = builtins::tensor_method(attr).map(Const::Builtin).map(Val::from);
                member.or_else(|| self.prelude_method(attr)).and_then(|f| Self::bind_method(base, f))
            }),
            Val::Desc(d) => match attr {
                "dtype" => Some(Val::dtype(d.block.dtype)),
                "block_shape" => Some(Val::ints(d.block.shape())),
                "block_type" | "type" => Some(Const::Type(d.block).into()),
                "shape" => Some(Val::tuple(d.shape.iter().map(|&t| t.into()).collect())),
                "strides" => Some(Val::tuple(d.strides.iter().map(|&t| t.into()).collect())),
                _ => Self::method(base, builtins::descriptor_method(attr)),
            },
            Val::Const(Const::Func(f)) if attr == "__name__" => Some(Const::str(f.name()).into()),
            Val::Const(Const::Limits(d)) => limits_attr(*d, attr),
            Val::Const(Const::Func(_)) if attr == "fn" => Some(base.clone()),
            // A compile-time value is its own `.value`, and numbers take tensor methods such as `.to`.
            Val::Const(_) if attr == "value" => Some(base.clone()),
            Val::Const(c) if c.as_float().is_some() => {
                let member = builtins::tensor_method(attr).map(Const::Builtin).map(Val::from);
                member.or_else(|| self.prelude_method(attr)).and_then(|f| Self::bind_method(base, f))
            }
            _ => None,
        };
        found.ok_or_else(|| self.unknown_attribute(base, attr))
    }

    fn method(base: &Val, b: Option<&'static Builtin>) -> Option<Val> {
        b.and_then(|b| Self::bind_method(base, Const::Builtin(b).into()))
    }

    fn bind_method(base: &Val, f: Val) -> Option<Val> {
        match f {
            Val::Const(callee) => Some(Val::Method(Rc::new(Method { receiver: base.clone(), callee }))),
            _ => None,
        }
    }

    fn module_attr(&mut self, module: usize, attr: &str) -> Option<Val> {
        if let Some(v) = self.global(module, attr) {
            return Some(v);
        }
        let level_1 = self.mods.submodule(module, 1, &[], attr)?;
        target_value(level_1)
    }
}

fn tensor_attr(ty: Ty, attr: &str) -> Option<Val> {
    Some(match attr {
        "dtype" => Val::dtype(ty.dtype),
        "type" => Const::Type(ty).into(),
        "shape" => Val::ints(ty.shape()),
        "numel" => Val::int(ty.numel()),
        _ => return None,
    })
}

/// `torch.finfo(t).max` and the like.
fn limits_attr(d: Dtype, attr: &str) -> Option<Val> {
    let float = |x: f64| Some(Const::Float(x).into());
    if d.is_int() {
        return match attr {
            "min" => Some(Val::int(d.int_range().0)),
            "max" => Some(Val::int(d.int_range().1)),
            "bits" => Some(Val::int(d.bits())),
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
        "bits" => Some(Val::int(d.bits())),
        _ => None,
    }
}

fn type_attr(ty: Ty, attr: &str) -> Option<Val> {
    let d = ty.dtype;
    Some(match attr {
        "element_ty" if ty.is_block() => Val::dtype(d),
        "element_ty" => Const::Type(d.pointee()?).into(),
        "scalar" | "dtype" => Val::dtype(d),
        "shape" => Val::ints(ty.shape()),
        "numel" => Val::int(ty.numel()),
        "name" => Const::str(&ty.to_string()).into(),
        "primitive_bitwidth" if !d.is_ptr() => Val::int(d.bits()),
        "itemsize" if !d.is_ptr() => Val::int(d.bits() / 8),
        "int_bitwidth" if d.is_int() => Val::int(d.bits()),
        "fp_mantissa_width" if d.is_float() => Val::int(d.mantissa()),
        "exponent_bias" => Val::int(match d {
            Dtype::Fp8e4b15 | Dtype::Fp8e5 | Dtype::Fp16 => 15,
            Dtype::Fp8e4nv => 7,
            Dtype::Fp8e4b8 => 8,
            Dtype::Fp8e5b16 => 16,
            Dtype::Bf16 | Dtype::Fp32 => 127,
            Dtype::Fp64 => 1023,
            _ => return None,
        }),
        "value" => Const::Type(ty).into(),
        _ => return None,
    })
}
