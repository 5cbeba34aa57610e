//! Arguments from a command line: `x=@x.npy`, `y=fp32[1000]`, `n=1000`.
//!
//! 1. [`parse`] reads one: a NumPy file, a buffer that nobody has written, or a number.
//! 2. [`signature`] says what the kernel is compiled for: its annotations, else what the arguments are.
//! 3. [`bind`] lays the buffers out in memory, in the order of the kernel's parameters.

use std::collections::BTreeMap;

use super::expr::Expression;
use super::random::element_size;
use super::value::{Env, Value};
use crate::diag::codes::{cli, interp as codes};
use crate::diag::{Diagnostic, Place};
use crate::driver::input::plain;
use crate::interp::{Arg, BufferId, Memory, Param, npy};
use crate::ir::{FloatKind, Type, TypeData};
use crate::irgen::KernelInfo;
use crate::irgen::types::Dtype;
use crate::source::{FileId, Span};

/// An argument as it was given.
#[derive(Clone, PartialEq, Debug)]
pub enum Given {
    /// `@x.npy`
    Array(npy::Array),
    /// `fp32[4, 8]`: a buffer that nobody has written.
    Unwritten(Dtype, Vec<usize>),
    Int(i64),
    Float(f64),
}

/// Reads the text behind `NAME=`.
///
/// # Errors
/// `E0901` or `E1014` for a file, `E1003` for anything else.
pub fn parse(name: &str, text: &str) -> Result<Given, Diagnostic> {
    if let Some(path) = text.strip_prefix('@') {
        let bytes = std::fs::read(path).map_err(|e| {
            Diagnostic::error(&cli::CANNOT_READ, format!("cannot read `{path}`: {}", plain(&e))).at(Place::File(path.to_owned()), "")
        })?;
        return npy::read(path, &bytes).map(Given::Array).map_err(|d| *d);
    }
    if let Some((dtype, rest)) = text.split_once('[')
        && let Some(inner) = rest.strip_suffix(']')
    {
        let dtype = Dtype::parse(dtype.trim()).filter(|d| *d != Dtype::Void);
        let sizes: Option<Vec<usize>> = inner.split(',').filter(|s| !s.trim().is_empty()).map(|s| s.trim().parse().ok()).collect();
        let count = sizes.as_ref().and_then(|s| s.iter().try_fold(1usize, |n, &d| n.checked_mul(d))).filter(|n| *n <= 1 << 32);
        if let (Some(dtype), Some(sizes), Some(_)) = (dtype, sizes, count) {
            return Ok(Given::Unwritten(dtype, sizes));
        }
    }
    let place = Span { file: FileId(0), lo: 0, hi: 0 };
    match Expression::parse(text, place).and_then(|e| e.value(&Env::new())) {
        Ok(Value::Float(v)) => Ok(Given::Float(v)),
        Ok(v) if v.as_int().is_some() => Ok(Given::Int(v.as_int().unwrap_or_default())),
        _ => Err(Diagnostic::error(&codes::BAD_ARGUMENTS, format!("the argument `{name}={text}` is no value"))
            .help("an argument is a number, a NumPy file (`@x.npy`), or a buffer to be written (`fp32[1000]`)")),
    }
}

/// The type of an array's elements in a signature.
fn dtype_of(elem: Type) -> Option<Dtype> {
    Some(match *elem {
        TypeData::Float(FloatKind::F64) => Dtype::Fp64,
        TypeData::Float(FloatKind::F32) => Dtype::Fp32,
        TypeData::Float(FloatKind::F16) => Dtype::Fp16,
        TypeData::Float(FloatKind::BF16) => Dtype::Bf16,
        TypeData::Int(w) => Dtype::int(w, true)?,
        _ => return None,
    })
}

/// The signature that the kernel is compiled for: what its parameters are annotated with, else what the arguments are. Nothing is promised about
/// divisibility that the annotations do not promise.
///
/// # Errors
/// `E1003`: a parameter has no argument, or an argument no parameter.
pub fn signature(kernel: &KernelInfo, given: &BTreeMap<String, Given>, defines: &[(String, String)]) -> Result<String, Diagnostic> {
    let names: Vec<&str> = kernel.params.iter().map(|p| p.name.as_str()).collect();
    if let Some(name) = given.keys().find(|n| !names.contains(&n.as_str())) {
        return Err(Diagnostic::error(&codes::BAD_ARGUMENTS, format!("the kernel `{}` has no parameter `{name}`", kernel.name))
            .help(format!("its parameters are {}", names.join(", "))));
    }
    let (mut items, mut missing) = (vec![], vec![]);
    for p in &kernel.params {
        let annotated = p.ty.clone().filter(|t| t != "constexpr");
        items.push(match given.get(&p.name) {
            Some(g) => annotated.unwrap_or_else(|| word(g)),
            None if defines.iter().any(|(n, _)| *n == p.name) || p.value.is_some() || p.source.is_some() => "constexpr".to_owned(),
            None => {
                missing.push(format!("`{}`", p.name));
                String::new()
            }
        });
    }
    if missing.is_empty() {
        return Ok(items.join(", "));
    }
    let message = format!("the kernel `{}` needs a value for {}", kernel.name, missing.join(", "));
    Err(Diagnostic::error(&codes::BAD_ARGUMENTS, message)
        .help("`--arg NAME=VALUE` gives an argument, `-D NAME=VALUE` a compile-time value; or put a case file (`.toml`) beside the kernel"))
}

fn word(given: &Given) -> String {
    match given {
        Given::Array(a) => dtype_of(a.elem).map_or_else(String::new, |d| format!("*{}", d.short())),
        Given::Unwritten(d, _) => format!("*{}", d.short()),
        Given::Int(v) if i32::try_from(*v).is_ok() => "i32".to_owned(),
        Given::Int(_) => "i64".to_owned(),
        Given::Float(_) => "fp32".to_owned(),
    }
}

/// A buffer that a launch was given.
#[derive(Clone, Debug)]
pub struct Bound {
    pub name: String,
    pub id: BufferId,
    pub elem: Type,
    pub shape: Vec<usize>,
    /// Whether nobody had written it before the launch.
    pub unwritten: bool,
}

/// Lays the arguments out in memory, in the order of the kernel's parameters.
///
/// # Errors
/// `E1003`: an array does not have the elements that its parameter points to, a parameter has no argument.
pub fn bind(
    names: &[String],
    params: &[Param],
    given: &BTreeMap<String, Given>,
    memory: &mut Memory,
) -> Result<(Vec<Arg>, Vec<Bound>), Vec<Diagnostic>> {
    let (mut args, mut bound, mut errors) = (vec![], vec![], vec![]);
    let bad = |message: String| Diagnostic::error(&codes::BAD_ARGUMENTS, message);
    for name in given.keys().filter(|n| !names.contains(n)) {
        errors.push(bad(format!("the kernel has no parameter `{name}`")).help(format!("its parameters are {}", names.join(", "))));
    }
    for (name, param) in names.iter().zip(params) {
        let elem = match *param.ty {
            TypeData::Pointer { pointee, .. } => Some(pointee),
            _ => None,
        };
        match (given.get(name), elem) {
            (None, _) => {
                errors.push(bad(format!("the parameter `{name}` has no argument")).help(format!("`--arg {name}=VALUE` gives one")));
            }
            (Some(Given::Int(v)), _) => args.push(Arg::Int(*v)),
            (Some(Given::Float(v)), _) => args.push(Arg::Float(*v)),
            (Some(Given::Array(_) | Given::Unwritten(..)), None) => {
                errors.push(bad(format!("the parameter `{name}` is a {}, and the argument is an array", param.ty)));
            }
            (Some(Given::Array(a)), Some(elem)) if !fits(a.elem, elem) => {
                errors.push(bad(format!("the parameter `{name}` points to {elem}, and the array holds {}", a.elem)));
            }
            (Some(Given::Unwritten(d, _)), Some(elem)) if !fits(d.to_ir(), elem) => {
                errors.push(bad(format!("the parameter `{name}` points to {elem}, and the argument is {}", d.name())));
            }
            (Some(Given::Array(a)), Some(elem)) => {
                let id = memory.add(name, elem, &a.bytes);
                args.push(Arg::Ptr(id, 0));
                bound.push(Bound { name: name.clone(), id, elem, shape: a.shape.clone(), unwritten: false });
            }
            (Some(Given::Unwritten(d, shape)), Some(elem)) => {
                let id = memory.add_uninit(name, elem, shape.iter().product::<usize>() * element_size(*d));
                args.push(Arg::Ptr(id, 0));
                bound.push(Bound { name: name.clone(), id, elem, shape: shape.clone(), unwritten: true });
            }
        }
    }
    if errors.is_empty() { Ok((args, bound)) } else { Err(errors) }
}

/// Whether elements of a file are what a pointer expects: the same type, or the bits of a type that NumPy lacks, or truth values as bytes.
fn fits(have: Type, want: Type) -> bool {
    let bytes = |t: Type| t.bit_width().unwrap_or(64).div_ceil(8);
    have == want || (bytes(have) == bytes(want) && (have.is_int() || *have == TypeData::Float(FloatKind::BF16)) && lacks(want))
}

/// Whether NumPy has no such elements, so that they travel under another type.
fn lacks(t: Type) -> bool {
    match *t {
        TypeData::Float(kind) => !matches!(kind, FloatKind::F16 | FloatKind::F32 | FloatKind::F64),
        TypeData::Int(w) => w == 1 || w == 8,
        _ => true,
    }
}
