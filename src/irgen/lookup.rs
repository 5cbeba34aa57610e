//! Names and attributes: from a word in the source to a value.
//!
//! A name is looked for among the locals, then at the top level of the function's file, then among Python's builtins. A
//! top-level name is followed through its bindings ([`super::modules`]): the first whose guards do not rule it out and
//! that leads somewhere wins, unless another one could give it another value. Values are evaluated at compile time and
//! remembered.

use std::rc::Rc;

use super::builtins;
use super::lower::{Frame, Lower, R, Reported};
use super::modules::Target;
use super::semantic::fold::same;
use super::top_level::{Binding, Bound};
use super::types::{Dtype, Ty};
use super::value::{Class, Const, Func, Method, Space, Val};
use crate::parser::ast::Expr;
use crate::source::Span;

/// Whether the tests around a binding lead to it.
enum Guard {
    Open,
    Closed,
    /// This test cannot be decided; no other one closes the way.
    Undecided(Span),
}

/// Why a name may have another value than the one that was found.
enum Doubt {
    /// A binding that may count has no value that is known.
    Unknown,
    /// This test cannot be decided.
    Undecided(Span),
}

impl Lower<'_> {
    /// The value of a name.
    pub fn name(&mut self, name: &str) -> R<Val> {
        if let Some(v) = self.frame.scope.get(name) {
            return if matches!(v, Val::Error) { Err(Reported) } else { Ok(v.clone()) };
        }
        let module = self.frame.module;
        if let Some(v) = self.global(module, name) {
            return Ok(v);
        }
        if let Some(v) = builtins::python(name) {
            return Ok(v);
        }
        if self.mods.get(module).prelude
            && let Some(v) = self.space_attr(Space::Language, name)
        {
            return Ok(v);
        }
        // A variable of a function around the kernel has no binding in the file; `-D` may give it.
        if let Some((v, used)) = self.given_globals.get_mut(name) {
            *used = true;
            return Ok(v.clone());
        }
        Err(self.unknown_name(name))
    }

    /// A name at the top level of a module.
    pub fn global(&mut self, module: usize, name: &str) -> Option<Val> {
        let key = (module, name.to_owned());
        if let Some(known) = self.globals.get(&key) {
            return known.clone();
        }
        if self.depth > 200 {
            return None;
        }
        if let Some((v, used)) = self.given_globals.get_mut(name)
            && !self.mods.get(module).prelude
            && !self.mods.get(module).bindings(name).is_empty()
        {
            *used = true;
            return Some(v.clone());
        }
        let bindings: Vec<Binding> = self.mods.get(module).bindings(name).to_vec();
        let mut value = self.first_bound(&key, &bindings);
        if value.as_ref().is_some_and(Val::is_data) && self.mods.get(module).change(name).is_some() {
            value = None;
        } else if value.is_none() {
            let stars = self.mods.get(module).stars().to_vec();
            value = stars.iter().find_map(|s| self.imported(module, s.level, &s.path, name));
        }
        self.globals.insert(key, value.clone());
        value
    }

    /// The value that the bindings of a name lead to, of which the first that has one counts. While `f = triton.jit(f)`
    /// is evaluated, `f` is what it was bound to before, so the bindings are taken from the last to the first.
    ///
    /// A function or a package may come from a later binding, since a `try` or a wrapper leads to them in the end. Data
    /// may not: where a binding before it, which may be the one that counts, has another value or none that is known,
    /// the name has none.
    fn first_bound(&mut self, key: &(usize, String), bindings: &[Binding]) -> Option<Val> {
        let (mut value, mut doubt): (Option<Val>, Option<Doubt>) = (None, None);
        for b in bindings.iter().rev() {
            let guard = self.guard(key.0, b);
            if matches!(guard, Guard::Closed) {
                continue;
            }
            let is_value = matches!(b.bound, Bound::Value(_));
            self.globals.insert(key.clone(), value.clone().filter(|_| is_value));
            match self.bound(key.0, &b.bound) {
                None if value.as_ref().is_some_and(Val::is_data)
                    && (is_value || matches!(b.bound, Bound::Element(..))) =>
                {
                    (value, doubt) = (None, Some(Doubt::Unknown));
                }
                None => {}
                Some(v) => match guard {
                    Guard::Undecided(test)
                        if v.is_data() && (doubt.is_some() || value.as_ref().is_some_and(|rest| !same(rest, &v))) =>
                    {
                        (value, doubt) = (None, Some(Doubt::Undecided(test)));
                    }
                    _ => (value, doubt) = (Some(v), None),
                },
            }
        }
        if let Some(Doubt::Undecided(test)) = doubt {
            self.undecided.insert(key.clone(), test);
        }
        value
    }

    fn guard(&mut self, module: usize, binding: &Binding) -> Guard {
        let mut guard = Guard::Open;
        for (test, outcome) in binding.guards.iter() {
            let value = self.evaluate(module, test);
            match value.and_then(|v| self.quietly(|cx| cx.truth(&v)).ok()) {
                Some(t) if t != *outcome => return Guard::Closed,
                None if matches!(guard, Guard::Open) => guard = Guard::Undecided(test.span),
                _ => {}
            }
        }
        guard
    }

    /// What a binding leads to.
    pub fn bound(&mut self, module: usize, bound: &Bound) -> Option<Val> {
        match bound {
            Bound::Function(def) => Some(Const::Func(Func { def: def.clone(), module, jit: def.is_jit }).into()),
            Bound::Value(e) => self.evaluate(module, e),
            Bound::Element(e, i) => match self.evaluate(module, e)? {
                Val::Tuple(items) => items.get(*i).cloned(),
                _ => None,
            },
            Bound::Import(path) => self.mods.import(module, 0, path).and_then(target_value),
            Bound::From { level, path, name, .. } => self.imported(module, *level, path, name),
            Bound::Host(_) => None,
        }
    }

    /// `from path import name`
    fn imported(&mut self, module: usize, level: u32, path: &[String], name: &str) -> Option<Val> {
        match self.mods.import(module, level, path) {
            Some(Target::Space(space)) => return self.space_attr(space, name),
            Some(Target::Module(m)) if m != module => {
                if let Some(v) = self.global(m, name) {
                    return Some(v);
                }
            }
            _ => {}
        }
        self.mods.submodule(module, level, path, name).and_then(target_value)
    }

    /// Evaluates an expression at the top level of a module; `None` if it is no compile-time value.
    pub fn evaluate(&mut self, module: usize, e: &Expr) -> Option<Val> {
        if self.depth > 200 {
            return None;
        }
        self.depth += 1;
        let value = self.quietly(|cx| cx.isolated(module, |cx| cx.expr(e)));
        self.depth -= 1;
        value.ok().filter(|v| !matches!(v, Val::Error))
    }

    /// Runs `f` in a fresh compile-time frame.
    pub fn isolated<T>(&mut self, module: usize, f: impl FnOnce(&mut Self) -> T) -> T {
        let frame = std::mem::replace(&mut self.frame, Frame::new(module, None, true));
        let (block, naming, loc, span) = (self.block.take(), self.naming.take(), self.loc, self.span);
        let result = f(self);
        self.frame = frame;
        (self.block, self.naming, self.loc, self.span) = (block, naming, loc, span);
        result
    }

    /// A member of a built-in package: a primitive, a type, or a function of the prelude.
    pub fn space_attr(&mut self, space: Space, name: &str) -> Option<Val> {
        builtins::member(space, name).or_else(|| self.prelude_function(space, name))
    }

    /// `value.attr`
    pub fn attribute(&mut self, base: &Val, attr: &str) -> R<Val> {
        let found = match base {
            Val::Error => return Err(Reported),
            Val::Const(Const::Space(Space::GpuTarget)) if attr == "arch" => {
                Some(Val::int(self.options.target.triton_number()))
            }
            Val::Const(Const::Space(Space::GpuTarget)) if attr == "warp_size" => {
                Some(Val::int(self.options.target.warp_size()))
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
            Val::Tensor(t) if attr == "T" => return Ok(self.transpose(*t)?.into()),
            Val::Tensor(t) => tensor_attr(t.ty, attr).or_else(|| {
                let member = builtins::tensor_method(attr).map(Const::Builtin).map(Val::from);
                member.or_else(|| self.prelude_method(attr)).and_then(|f| Self::bind_method(base, f))
            }),
            Val::Desc(d) => match attr {
                "dtype" => Some(Val::dtype(d.block.dtype)),
                "block_shape" => Some(shape_tuple(d.block.shape())),
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

    fn method(base: &Val, b: Option<&'static builtins::Builtin>) -> Option<Val> {
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

fn target_value(target: Target) -> Option<Val> {
    match target {
        Target::Space(s) => Some(Const::Space(s).into()),
        Target::Module(m) => Some(Const::Module(m).into()),
        Target::Nothing => None,
    }
}

/// A shape as a tuple of compile-time integers.
#[must_use]
pub fn shape_tuple(shape: &[i64]) -> Val {
    Val::tuple(shape.iter().map(|&d| Val::int(d)).collect())
}

fn tensor_attr(ty: Ty, attr: &str) -> Option<Val> {
    Some(match attr {
        "dtype" => Val::dtype(ty.dtype),
        "type" => Const::Type(ty).into(),
        "shape" => shape_tuple(ty.shape()),
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
        "shape" => shape_tuple(ty.shape()),
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

/// The class that an annotation names, such as `tl.constexpr`.
#[must_use]
pub fn class_of(v: &Val) -> Option<Class> {
    match v {
        Val::Const(Const::Class(c)) => Some(*c),
        _ => None,
    }
}
