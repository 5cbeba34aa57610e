//! Arguments from a command line: `x=@x.npy`, `y=fp32[1000]`, `x=normal(1000)`, `n=1000`.
//!
//! 1. [`parse`] reads one: a NumPy file, a buffer that nobody has written or that is filled with the words of a case
//!    file, or a number.
//! 2. [`signature`] says what the kernel is compiled for: its annotations, or else the types of the arguments.
//! 3. [`bind`] lays the buffers out in memory, in the order of the kernel's parameters.
//!
//! Examples of buffers: `fp32[4, 8]` is not written; `fp16[4, 8]:uniform(-1, 1)` and `i32[100]:i * 3 % 7` are filled;
//! `normal(4, 8)` has the type of the parameter's annotation, or fp32.

use std::collections::BTreeMap;
use std::path::Path;

use super::config;
use super::expr::Expression;
use super::random::{self, Fill, element_size};
use super::value::{Env, Value};
use crate::diag::codes::{cli, interp as codes};
use crate::diag::{Diagnostic, Place};
use crate::driver::input::plain;
use crate::interp::{self, Arg, Budget, BufferId, Memory, Param, npy};
use crate::ir::{FloatKind, Type, TypeData};
use crate::irgen::types::Dtype;
use crate::irgen::{KernelInfo, TypeRule, rule_for};
use crate::source::{FileId, Span};

/// An argument as it was given.
#[derive(Clone, PartialEq, Debug)]
pub enum Given {
    /// `@x.npy`
    Array(npy::Array),
    /// A buffer of whatever the parameter points to.
    Bytes(Vec<u8>),
    /// `fp32[4, 8]`: a buffer that nobody has written.
    Unwritten(Dtype, Vec<usize>),
    /// `normal(4, 8)` or `fp16[4, 8]:normal`. Without a type, the parameter decides it.
    Filled {
        dtype: Option<Dtype>,
        shape: Vec<usize>,
        fill: Fill,
    },
    Int(i64),
    Float(f64),
}

/// The words that fill a buffer. Each is called with the buffer's shape.
const WORDS: [&str; 6] = ["normal", "uniform", "zeros", "ones", "arange", "permutation"];

/// Reads the text behind `NAME=`; buffers take their memory from the budget.
///
/// # Errors
/// `E0901` or `E1014` for a file, `E1021` for one that is too large, `E1003` for anything else.
pub fn parse(name: &str, text: &str, budget: &mut Budget) -> Result<Given, Diagnostic> {
    if let Some(path) = text.strip_prefix('@') {
        return read_array(Path::new(path), budget).map(Given::Array);
    }
    let place = Span { file: FileId(0), lo: 0, hi: 0 };
    let bad = |why: &str| {
        Diagnostic::error(&codes::BAD_ARGUMENTS, format!("the argument `{name}={}` is no value{why}", shortened(text))).help(
            "an argument is a number, a NumPy file (`@x.npy`), a buffer to be written (`fp32[1000]`) or a filled one (`normal(1000)`)",
        )
    };
    if let Some(given) = buffer(name, text, place, budget) {
        return given.map_err(|d| d.unwrap_or_else(|| bad("")));
    }
    match Expression::parse(text, place).and_then(|e| e.value(&Env::new())) {
        Ok(Value::Float(v)) => Ok(Given::Float(v)),
        Ok(v) if v.as_int().is_some() => Ok(Given::Int(v.as_int().unwrap_or_default())),
        Ok(_) => Err(bad("")),
        Err(why) => Err(bad(&format!(": {}", shortened(&why)))),
    }
}

/// Cuts a text of any length to what a message can show.
fn shortened(text: &str) -> String {
    let mut shown: String = text.chars().take(80).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Reads a file as an array. Only a regular file is read, and only if there is memory for it.
///
/// # Errors
/// `E0901` (cannot be read), `E1014` (no array), `E1021` (too large).
pub fn read_array(path: &Path, budget: &mut Budget) -> Result<npy::Array, Diagnostic> {
    let shown = path.display();
    let unreadable = |why: String| {
        Diagnostic::error(&cli::CANNOT_READ, format!("cannot read `{shown}`: {why}"))
            .at(Place::File(path.to_string_lossy().into_owned()), "")
    };
    let meta = std::fs::metadata(path).map_err(|e| unreadable(plain(&e)))?;
    if !meta.is_file() {
        return Err(unreadable("it is no regular file".to_owned()));
    }
    // For a moment, the file and the array that it holds are in memory together.
    budget.take(&format!("`{shown}`"), 2 * meta.len()).map_err(|d| *d)?;
    let file = std::fs::File::open(path).map_err(|e| unreadable(plain(&e)))?;
    let mut bytes = vec![];
    std::io::Read::read_to_end(&mut std::io::Read::take(file, meta.len()), &mut bytes)
        .map_err(|e| unreadable(plain(&e)))?;
    npy::read(&path.to_string_lossy(), &bytes).map_err(|d| *d)
}

/// Reads `fp32[4, 8]`, with or without a fill behind a colon, or `normal(4, 8)`. The result is `None` for what looks
/// like neither, and an error without a diagnostic when the text itself is wrong.
fn buffer(name: &str, text: &str, place: Span, budget: &mut Budget) -> Option<Result<Given, Option<Diagnostic>>> {
    let (head, rest) = text.split_once('[').or_else(|| text.split_once('('))?;
    let head = head.trim();
    let dtype = Dtype::parse(head).filter(|d| *d != Dtype::Void);
    let (inner, fill) = match dtype {
        Some(_) => {
            let (inner, behind) = rest.split_once(']')?;
            let fill = behind.trim().strip_prefix(':');
            if fill.is_none() && !behind.trim().is_empty() {
                return Some(Err(None));
            }
            (inner, fill)
        }
        None if WORDS.contains(&head) => (rest.strip_suffix(')')?, Some(head)),
        None => return None,
    };
    let sizes: Option<Vec<usize>> =
        inner.split(',').filter(|s| !s.trim().is_empty()).map(|s| s.trim().parse().ok()).collect();
    let Some(shape) = sizes else { return Some(Err(None)) };
    Some(sized(name, dtype, shape, fill, place, budget))
}

fn sized(
    name: &str,
    dtype: Option<Dtype>,
    shape: Vec<usize>,
    fill: Option<&str>,
    place: Span,
    budget: &mut Budget,
) -> Result<Given, Option<Diagnostic>> {
    let n = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d as u64)).ok_or(None)?;
    // Where the parameter will decide the type, the widest one counts.
    let size = n.saturating_mul(dtype.map_or(8, |d| element_size(d) as u64));
    let (words, marks) = if fill.is_some() { (2, 0) } else { (1, 1) };
    budget.take(&format!("the argument `{name}`"), size.saturating_mul(words + marks)).map_err(|d| Some(*d))?;
    let Some(fill) = fill else { return dtype.map(|d| Given::Unwritten(d, shape)).ok_or(None) };
    let fill = Expression::parse(fill.trim(), place).map_err(|_| None)?;
    // The expression has no file, so its place would be wrong.
    let fill =
        config::fill(&fill, &Env::new(), n as usize, budget).map_err(|d| Some(Diagnostic { labels: vec![], ..d }))?;
    Ok(Given::Filled { dtype, shape, fill })
}

/// The type that a signature gives to an array's elements.
fn dtype_of(elem: Type, unsigned: bool) -> Option<Dtype> {
    Some(match *elem {
        TypeData::Float(FloatKind::F64) => Dtype::Fp64,
        TypeData::Float(FloatKind::F32) => Dtype::Fp32,
        TypeData::Float(FloatKind::F16) => Dtype::Fp16,
        TypeData::Float(FloatKind::BF16) => Dtype::Bf16,
        TypeData::Int(w) => Dtype::int(w, !unsigned)?,
        _ => return Dtype::ALL.iter().copied().find(|d| *d != Dtype::Void && d.to_ir() == elem),
    })
}

/// The type of a filled buffer that neither the argument nor the parameter states.
fn usual(fill: &Fill) -> Dtype {
    if matches!(fill, Fill::Arange | Fill::Permutation) { Dtype::Int32 } else { Dtype::Fp32 }
}

/// Makes the signature that the kernel is compiled for, from `--type` and the annotations of the parameters, or else
/// from the arguments. It promises no divisibility that the annotations do not promise.
///
/// # Errors
/// `E1003` if a parameter has no argument, or an argument no parameter.
pub fn signature(
    kernel: &KernelInfo,
    given: &BTreeMap<String, Given>,
    types: &[TypeRule],
    defines: &[(String, String)],
) -> Result<String, Diagnostic> {
    let names: Vec<&str> = kernel.params.iter().map(|p| p.name.as_str()).collect();
    if let Some(name) = given.keys().find(|n| !names.contains(&n.as_str())) {
        return Err(Diagnostic::error(
            &codes::BAD_ARGUMENTS,
            format!("the kernel `{}` has no parameter `{name}`", kernel.name),
        )
        .help(format!("its parameters are {}", names.join(", "))));
    }
    let (mut items, mut missing) = (vec![], vec![]);
    for p in &kernel.params {
        // Rules that disagree are for the front end to report.
        let ruled = rule_for(types, &p.name).ok().flatten().map(|r| r.ty.clone());
        let annotated = ruled.or_else(|| p.ty.clone().filter(|t| t != "constexpr"));
        items.push(match given.get(&p.name) {
            Some(Given::Bytes(_)) if annotated.is_none() => return Err(untyped_bytes(&p.name)),
            Some(g) => annotated.unwrap_or_else(|| word(g)),
            None if defines.iter().any(|(n, _)| *n == p.name) || p.value.is_some() || p.source.is_some() => {
                "constexpr".to_owned()
            }
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

fn untyped_bytes(name: &str) -> Diagnostic {
    Diagnostic::error(&codes::BAD_ARGUMENTS, format!("nothing says what the bytes of `{name}` are"))
        .help("say it with `--type`, or annotate the parameter, as in `x: \"*fp16\"`")
}

/// The type that a signature gives to the parameter of this argument.
fn word(given: &Given) -> String {
    match given {
        // Bytes have the type of the annotation, which is taken before this function is asked.
        Given::Bytes(_) => String::new(),
        Given::Array(a) => dtype_of(a.elem, a.unsigned).map_or_else(String::new, |d| format!("*{}", d.short())),
        Given::Unwritten(d, _) => format!("*{}", d.short()),
        Given::Filled { dtype, fill, .. } => format!("*{}", dtype.unwrap_or_else(|| usual(fill)).short()),
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
    /// Whether nobody had written to the buffer before the launch.
    pub unwritten: bool,
    /// How far its elements may be from what is expected, see [`super::launch::compare`].
    pub tolerance: Option<f64>,
}

/// Lays the arguments out in memory, in the order of the kernel's parameters.
///
/// # Errors
/// `E1003` if an array does not have the elements that its parameter points to, or if a parameter has no argument.
pub fn bind(
    names: &[String],
    params: &[Param],
    mut given: BTreeMap<String, Given>,
    memory: &mut Memory,
) -> Result<(Vec<Arg>, Vec<Bound>), Vec<Diagnostic>> {
    let (mut args, mut bound, mut errors) = (vec![], vec![], vec![]);
    let bad = |message: String| Diagnostic::error(&codes::BAD_ARGUMENTS, message);
    for name in given.keys().filter(|n| !names.contains(n)) {
        errors.push(
            bad(format!("the kernel has no parameter `{name}`"))
                .help(format!("its parameters are {}", names.join(", "))),
        );
    }
    for (name, param) in names.iter().zip(params) {
        let Some(g) = given.remove(name) else {
            errors.push(
                bad(format!("the parameter `{name}` has no argument")).help(format!("`--arg {name}=VALUE` gives one")),
            );
            continue;
        };
        let elem = match *param.ty {
            TypeData::Pointer { pointee, .. } => Some(pointee),
            _ => None,
        };
        match (g, elem) {
            (Given::Int(v), _) => args.push(Arg::Int(v)),
            (Given::Float(v), _) => args.push(Arg::Float(v)),
            (_, None) => {
                errors.push(bad(format!("the parameter `{name}` is a {}, and the argument is an array", param.ty)));
            }
            (g, Some(elem)) => match lay_out(name, elem, g, memory) {
                Ok(b) => {
                    args.push(Arg::Ptr(b.id, 0));
                    bound.push(b);
                }
                Err(why) => errors.push(bad(format!("the parameter `{name}` points to {elem}, and {why}"))),
            },
        }
    }
    if errors.is_empty() { Ok((args, bound)) } else { Err(errors) }
}

/// Makes a buffer whose elements have a type. An error says what the argument is instead.
fn lay_out(name: &str, elem: Type, given: Given, memory: &mut Memory) -> Result<Bound, String> {
    let (id, shape, unwritten) = match given {
        Given::Array(a) if !fits(a.elem, elem) => return Err(format!("the array holds {}", a.elem)),
        Given::Unwritten(d, _) | Given::Filled { dtype: Some(d), .. } if !fits(d.to_ir(), elem) => {
            return Err(format!("the argument is {}", d.name()));
        }
        Given::Array(a) => (memory.add(name, elem, &a.bytes), a.shape, false),
        Given::Bytes(bytes) => {
            let size = interp::element_size(elem);
            if bytes.len() % size != 0 {
                return Err(format!("{} bytes are no whole number of elements", bytes.len()));
            }
            (memory.add(name, elem, &bytes), vec![bytes.len() / size], false)
        }
        Given::Unwritten(d, shape) => {
            (memory.add_uninit(name, elem, shape.iter().product::<usize>() * element_size(d)), shape, true)
        }
        Given::Filled { dtype, shape, fill } => {
            let Some(dtype) = dtype.or_else(|| dtype_of(elem, false)) else {
                return Err("there are no such elements to fill it with".to_owned());
            };
            let values = random::values(&fill, random::seed("arguments", name, &shape), shape.iter().product());
            let bytes = random::encode(dtype, values);
            (memory.add(name, elem, &bytes), shape, false)
        }
        Given::Int(_) | Given::Float(_) => return Err("the argument is a number".to_owned()),
    };
    Ok(Bound { name: name.to_owned(), id, elem, shape, unwritten, tolerance: None })
}

/// Whether the elements of a file are what a pointer expects: elements of the same type, the bits of a type that NumPy
/// lacks, or truth values as bytes.
#[must_use]
pub fn fits(have: Type, want: Type) -> bool {
    let bytes = |t: Type| t.bit_width().unwrap_or(64).div_ceil(8);
    have == want
        || (bytes(have) == bytes(want) && (have.is_int() || *have == TypeData::Float(FloatKind::BF16)) && lacks(want))
}

/// Whether NumPy has no elements of this type, so that they travel under another one.
fn lacks(t: Type) -> bool {
    match *t {
        TypeData::Float(kind) => !matches!(kind, FloatKind::F16 | FloatKind::F32 | FloatKind::F64),
        TypeData::Int(w) => w == 1 || w == 8,
        _ => true,
    }
}
