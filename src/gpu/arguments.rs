//! The arguments of a launch: values of the host, and buffers on the GPU.
//!
//! 1. [`of_case`] makes those of a configuration of a case, with the contents that the interpreter gets, bit for bit.
//!    [`of_memory`] makes those that the interpreter's memory holds.
//! 2. [`Arguments::upload`] takes memory on the GPU and fills it. A buffer that nobody has written holds 0xff bytes,
//!    which is NaN in every float format that has one, so that what a kernel forgets to write is seen.
//! 3. [`Arguments::bind`] makes the arguments of `ttc-rt` of them, in the order of a descriptor and of its types.
//! 4. [`Arguments::restore`] makes the buffers that a kernel writes what they were, for another run.

use ttc_rt::{DeviceBuffer, RawTensor};

use super::explain::{self, About};
use super::session::Gpu;
use crate::cases::manual::Bound;
use crate::cases::random::{self, Fill};
use crate::cases::{Instance, InstanceArg, Value};
use crate::diag::Diagnostic;
use crate::diag::codes::gpu as codes;
use crate::interp::{Arg, Memory};
use crate::irgen::types::Dtype;
use crate::launch::{Access, Argument, Descriptor, descriptor_rank};

/// What fills a buffer that nobody has written.
pub const POISON: u8 = 0xff;

/// An argument as the host has it.
#[derive(Clone, Debug)]
pub enum Host {
    Int(i64),
    Float(f64),
    Buffer {
        bytes: usize,
        /// `None` if nobody has written it.
        contents: Option<Vec<u8>>,
        /// The extents of its axes, the outermost first.
        extents: Vec<i64>,
    },
}

/// The arguments of a configuration by name. One that is folded into the kernel has a value too.
#[must_use]
pub fn of_case(instance: &Instance) -> Vec<(String, Host)> {
    let host = |arg: &InstanceArg| match arg {
        InstanceArg::Scalar { name, value: Value::Float(v), .. } => (name.clone(), Host::Float(*v)),
        InstanceArg::Scalar { name, value, .. } => (name.clone(), Host::Int(value.as_int().unwrap_or_default())),
        InstanceArg::Buffer(b) => {
            let contents = (b.fill != Fill::Poison).then(|| b.bytes());
            let extents = b.shape.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
            let bytes = b.len() * random::element_size(b.dtype);
            (b.name.clone(), Host::Buffer { bytes, contents, extents })
        }
    };
    instance.args.iter().map(host).collect()
}

/// The arguments that the interpreter would run with. `names` are those of the kernel's arguments, in order; a
/// descriptor among them is followed by its extents and strides. `buffers` are those of the memory.
#[must_use]
pub fn of_memory(names: &[String], args: &[Arg], memory: &Memory, buffers: &[Bound]) -> Vec<(String, Host)> {
    let mut args = args.iter();
    let mut out = vec![];
    for name in names {
        let Some(arg) = args.next() else { break };
        let buffer = |id, extents: Vec<i64>| {
            let bytes = memory.bytes(id);
            let contents = memory.is_touched(id);
            Host::Buffer { bytes: bytes.len(), contents: contents.then_some(bytes), extents }
        };
        let host = match *arg {
            Arg::Int(v) => Host::Int(v),
            Arg::Float(v) => Host::Float(v),
            Arg::Ptr(id, _) => buffer(id, vec![]),
            Arg::Desc(id, extents) => {
                let rank = buffers.iter().find(|b| b.id == id).map_or(0, |b| b.shape.len());
                args.by_ref().take(2 * rank).for_each(drop);
                buffer(id, extents[..rank].to_vec())
            }
        };
        out.push((name.clone(), host));
    }
    out
}

/// An argument whose buffer is on the GPU.
enum Held {
    Number(Host),
    Buffer { memory: DeviceBuffer<u8>, contents: Option<Vec<u8>>, extents: Vec<i64> },
}

/// The arguments of a launch, by name.
pub struct Arguments {
    held: Vec<(String, Held)>,
}

impl Arguments {
    /// Takes memory on the GPU for every buffer, and fills it.
    ///
    /// # Errors
    /// `E1107` if the GPU has not that much memory.
    pub fn upload(gpu: &Gpu, host: Vec<(String, Host)>) -> Result<Arguments, Diagnostic> {
        let total: usize = host.iter().map(|(_, h)| if let Host::Buffer { bytes, .. } = h { *bytes } else { 0 }).sum();
        let mut held = vec![];
        for (name, host) in host {
            let Host::Buffer { bytes, contents, extents } = host else {
                held.push((name, Held::Number(host)));
                continue;
            };
            let about = About {
                launch: None,
                arguments: vec![format!(
                    "the buffer `{name}` takes {bytes} bytes, all buffers together {total}, and {} has {}",
                    gpu.properties.name, gpu.properties.memory
                )],
                interpret: None,
            };
            let memory = DeviceBuffer::new(&gpu.context, bytes).map_err(|e| explain::error(&e, &about))?;
            held.push((name, Held::Buffer { memory, contents, extents }));
        }
        let mut arguments = Arguments { held };
        arguments.restore(None)?;
        Ok(arguments)
    }

    /// Fills buffers as they were filled at first: all of them, or those that a kernel writes.
    ///
    /// # Errors
    /// What the driver says.
    pub fn restore(&mut self, written_by: Option<&Descriptor>) -> Result<(), Diagnostic> {
        let all = Access { reads: true, writes: true };
        for (name, held) in &mut self.held {
            let Held::Buffer { memory, contents, .. } = held else { continue };
            let written = written_by.is_none_or(|d| {
                let own = d.arguments.iter().find(|a| a.name == *name).map(|a| a.access.unwrap_or(all));
                own.is_none_or(|a| a.writes) || d.elsewhere.writes
            });
            if written {
                let filled = match contents {
                    Some(bytes) => memory.copy_from(bytes),
                    None => memory.poison(POISON),
                };
                filled.map_err(|e| explain::error(&e, &About::default()))?;
            }
        }
        Ok(())
    }

    /// The bytes of a buffer.
    ///
    /// # Errors
    /// What the driver says. `None` stands for an argument that is no buffer.
    pub fn download(&self, name: &str) -> Result<Option<Vec<u8>>, Diagnostic> {
        let found = self.held.iter().find(|(n, _)| n == name);
        let Some((_, Held::Buffer { memory, .. })) = found else { return Ok(None) };
        memory.to_vec().map(Some).map_err(|e| explain::error(&e, &About::default()))
    }

    /// The bytes of each buffer, by name.
    pub fn sizes(&self) -> impl Iterator<Item = (&str, u64)> {
        self.held.iter().filter_map(|(name, held)| match held {
            Held::Buffer { memory, .. } => Some((&**name, memory.len() as u64)),
            Held::Number(_) => None,
        })
    }

    /// The arguments that a descriptor lists, in its order.
    ///
    /// # Errors
    /// `E1108` for an argument that is missing or of another kind.
    pub fn bind(&self, d: &Descriptor) -> Result<Vec<ttc_rt::Argument>, Diagnostic> {
        let wrong = |a: &Argument, why: &str| {
            let message = format!("the argument `{}` of type {} {why}", a.name, a.ty);
            Diagnostic::error(&codes::BAD_LAUNCH, message)
        };
        let one = |a: &Argument| {
            let found = self.held.iter().find(|(n, _)| *n == a.name).map(|(_, held)| held);
            let bound = match (found, a.equals) {
                (Some(held), _) => argument(a, held),
                (None, Some(value)) => Some(ttc_rt::Argument::Int(value)),
                (None, None) => return Err(wrong(a, "has no value")),
            };
            bound.ok_or_else(|| wrong(a, "has a value of another kind"))
        };
        d.arguments.iter().map(one).collect()
    }

    /// A line for each argument: what it is, where it lies, and what the kernel was promised of it.
    #[must_use]
    pub fn describe(&self, d: &Descriptor) -> Vec<String> {
        let line = |a: &Argument| {
            let value = match self.held.iter().find(|(n, _)| *n == a.name).map(|(_, held)| held) {
                Some(Held::Number(Host::Int(v))) => v.to_string(),
                Some(Held::Number(Host::Float(v))) => v.to_string(),
                Some(Held::Buffer { memory, .. }) => {
                    format!("{} bytes at {:#x}", memory.len(), memory.ptr::<u8>().address())
                }
                _ => a.equals.map_or_else(|| "nothing".to_owned(), |v| v.to_string()),
            };
            let promised = match (a.equals, a.divisible_by.filter(|&n| n > 1)) {
                (Some(v), _) => format!(", promised to be {v}"),
                (None, Some(n)) => format!(", promised to be a multiple of {n}"),
                (None, None) => String::new(),
            };
            format!("`{}: {}` is {value}{promised}", a.name, a.ty)
        };
        d.arguments.iter().map(line).collect()
    }
}

/// An argument for `ttc-rt`. `None` if the value is not of the argument's kind.
fn argument(a: &Argument, held: &Held) -> Option<ttc_rt::Argument> {
    match held {
        Held::Buffer { memory, extents, .. } => {
            let address = memory.ptr::<u8>().address();
            if a.ty.starts_with('*') {
                return Some(ttc_rt::Argument::Pointer(address));
            }
            let rank = descriptor_rank(&a.ty)? as usize;
            let element = a.ty.strip_prefix("tensordesc<")?.split('[').next()?;
            let bytes = random::element_size(Dtype::parse(element)?) as u32;
            let tensor = RawTensor::dense(address, bytes, extents).filter(|_| extents.len() == rank)?;
            Some(ttc_rt::Argument::Tensor(tensor))
        }
        Held::Number(number) => {
            let dtype = Dtype::parse(&a.ty).filter(|d| !d.is_ptr())?;
            match *number {
                Host::Int(v) if !dtype.is_float() => Some(if dtype.is_signed() {
                    ttc_rt::Argument::Int(v)
                } else {
                    ttc_rt::Argument::Unsigned(v as u64)
                }),
                Host::Int(v) => Some(ttc_rt::Argument::Float(bits(dtype, v as f64))),
                Host::Float(v) if dtype.is_float() => Some(ttc_rt::Argument::Float(bits(dtype, v))),
                _ => None,
            }
        }
    }
}

/// The bits of a float.
pub(crate) fn bits(dtype: Dtype, value: f64) -> u64 {
    let mut word = [0; 8];
    let bytes = random::encode(dtype, [value]);
    word[..bytes.len()].copy_from_slice(&bytes);
    u64::from_le_bytes(word)
}
