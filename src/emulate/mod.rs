//! Compiled kernels under the emulator: from a compilation and the arguments of a case to a launch of [`crate::emu`].
//!
//! 1. [`compile`] makes PTX of a job, with the descriptor that says how it is launched.
//! 2. [`Prepared::new`] decodes the PTX, and puts the arguments into the emulator's memory as a launcher would.
//! 3. [`Prepared::run`] runs it with a seed. Findings become diagnostics ([`diagnostics`]).
//!
//! [`crate::emu`] itself knows nothing of kernels, cases and diagnostics.

pub mod diagnostics;
pub mod file;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diag::Diagnostic;
use crate::diag::codes::{emu as codes, gpu};
use crate::driver::{Debug, Job, Reuse, Stage, run_each};
use crate::emu::tensor::TensorMap;
use crate::emu::tensor::map::Element;
use crate::emu::{self, Argument, BufferId, Launch, Memory, Options, Outcome, Program};
use crate::gpu::arguments::{Host, POISON, bits};
use crate::irgen::types::Dtype;
use crate::launch::grid::Expr;
use crate::launch::{self, Descriptor, Value};
use crate::source::SourceMap;

/// A kernel as PTX, with what a launch must know.
pub struct Assembly {
    pub ptx: String,
    pub descriptor: Descriptor,
    /// Warnings of the compilation.
    pub said: Vec<Diagnostic>,
}

/// Compiles a kernel to PTX.
///
/// # Errors
/// What the compiler says.
pub fn compile(sources: &SourceMap, job: &Job) -> Result<Assembly, Vec<Diagnostic>> {
    let reuse = Reuse::default();
    let jobs = std::slice::from_ref(job);
    let made = run_each(jobs, sources, &[Stage::Assembly], &Debug::default(), &reuse, 1, |_, outcome| outcome.result);
    let mut made = made.into_iter().next().expect("there is one job")?;
    let ptx = made.artifacts.remove(&Stage::Assembly).unwrap_or_default();
    let unknown = || {
        let message = format!("nothing says how `{}` is launched", made.kernel);
        vec![Diagnostic::error(&gpu::BAD_CUBIN, message).help("start from the kernel's source")]
    };
    let descriptor = made.metadata.launch.take().ok_or_else(unknown)?;
    Ok(Assembly { ptx: String::from_utf8_lossy(&ptx).into_owned(), descriptor, said: made.diagnostics })
}

/// A launch that can run, any number of times.
pub struct Prepared {
    pub program: Arc<Program>,
    pub kernel: String,
    pub launch: Launch,
    /// The buffers by name, with what they hold before a run.
    pub buffers: Vec<(String, Contents)>,
}

/// What a buffer holds before a run.
#[derive(Clone, Debug)]
pub struct Contents {
    pub bytes: Vec<u8>,
    /// Whether anybody has written it.
    pub written: bool,
}

/// Parses and decodes PTX.
///
/// # Errors
/// `E1201` for a text that is no PTX, and `E1202` for an instruction that the emulator does not run.
pub fn decode(ptx: &str) -> Result<Program, Diagnostic> {
    let module = emu::parse(ptx).map_err(|e| {
        let message = format!("line {}, column {} of the PTX: {}", e.at.line, e.at.column, e.message);
        Diagnostic::error(&codes::SYNTAX, message)
    })?;
    emu::decode(&module).map_err(|e| {
        let message = format!("line {}, column {} of the PTX: {}", e.at.line, e.at.column, e.message);
        let line = ptx.lines().nth(e.at.line.saturating_sub(1) as usize).unwrap_or_default().trim();
        Diagnostic::error(&codes::UNKNOWN_INSTRUCTION, message).note(format!("the line is `{line}`"))
    })
}

impl Prepared {
    /// Prepares a launch of compiled code with the arguments of a caller. The grid counts programs.
    ///
    /// # Errors
    /// `E1201` and `E1202` for the PTX, `E1108` for arguments that do not fit.
    pub fn new(assembly: &Assembly, host: &[(String, Host)], grid: [u32; 3]) -> Result<Prepared, Diagnostic> {
        let d = &assembly.descriptor;
        let program = Arc::new(decode(&assembly.ptx)?);
        let mut buffers = vec![];
        for (name, value) in host {
            if let Host::Buffer { bytes, contents, .. } = value {
                let written = contents.is_some();
                let bytes = contents.clone().unwrap_or_else(|| vec![POISON; *bytes]);
                buffers.push((name.clone(), Contents { bytes, written }));
            }
        }
        let mut cx = Binding { d, host, buffers, grid };
        let arguments = d.parameters.iter().map(|p| cx.parameter(p)).collect::<Result<_, _>>()?;
        let blocks = [0, 1, 2].map(|i| grid[i].saturating_mul(d.cluster[i]));
        let launch =
            Launch { grid: blocks, block: [d.threads, 1, 1], cluster: d.cluster, dynamic_shared: d.shared, arguments };
        Ok(Prepared { program, kernel: d.symbol.clone(), launch, buffers: cx.buffers })
    }

    /// The buffers in the emulator's memory, as they are before a run.
    #[must_use]
    pub fn memory(&self) -> Memory {
        let mut memory = Memory::new();
        for (name, Contents { bytes, written }) in &self.buffers {
            if *written {
                memory.add(name, bytes);
            } else {
                memory.add_uninit(name, bytes);
            }
        }
        memory
    }

    /// Runs the kernel on fresh memory.
    ///
    /// # Errors
    /// What ended the run, and what was found before.
    pub fn run(&self, options: &Options) -> Result<(Outcome, Memory), Box<emu::exec::launch::Fault>> {
        let mut memory = self.memory();
        let outcome = emu::run(&self.program, &self.kernel, &self.launch, &mut memory, options)?;
        Ok((outcome, memory))
    }

    /// What a buffer holds after a run.
    #[must_use]
    pub fn bytes(&self, memory: &Memory, name: &str) -> Option<Vec<u8>> {
        let index = self.buffers.iter().position(|(n, _)| n == name)?;
        Some(memory.bytes(BufferId(index as u32)))
    }
}

/// The arguments of a launch on their way to parameters.
struct Binding<'a> {
    d: &'a Descriptor,
    host: &'a [(String, Host)],
    buffers: Vec<(String, Contents)>,
    grid: [u32; 3],
}

impl Binding<'_> {
    fn wrong(&self, name: &str, why: &str) -> Diagnostic {
        Diagnostic::error(&gpu::BAD_LAUNCH, format!("the argument `{name}` {why}"))
    }

    fn host(&self, name: &str) -> Result<&Host, Diagnostic> {
        let found = self.host.iter().find(|(n, _)| n == name).map(|(_, h)| h);
        found.ok_or_else(|| self.wrong(name, "has no value"))
    }

    fn buffer(&self, name: &str) -> Result<BufferId, Diagnostic> {
        let index = self.buffers.iter().position(|(n, _)| n == name);
        index.map(|i| BufferId(i as u32)).ok_or_else(|| self.wrong(name, "is no buffer"))
    }

    fn extents(&self, name: &str) -> Result<&[i64], Diagnostic> {
        match self.host(name)? {
            Host::Buffer { extents, .. } => Ok(extents),
            _ => Err(self.wrong(name, "is no tensor")),
        }
    }

    /// The extent of an axis, and its stride in elements.
    fn axis(&self, name: &str, axis: u32) -> Result<(i64, i64), Diagnostic> {
        let extents = self.extents(name)?;
        let extent = extents.get(axis as usize).ok_or_else(|| self.wrong(name, "has too few axes"))?;
        Ok((*extent, extents[axis as usize + 1..].iter().product()))
    }

    fn parameter(&mut self, p: &launch::Parameter) -> Result<Argument, Diagnostic> {
        let number = |bits: u64| Argument::Scalar(bits.to_le_bytes()[..(p.size as usize).min(8)].to_vec());
        Ok(match &p.value {
            Value::Argument { argument } => self.scalar(argument, p.size)?,
            Value::TensorMap { argument } => Argument::TensorMap(self.tensor_map(argument)?),
            Value::Base { argument } => Argument::Pointer { buffer: self.buffer(argument)?, offset: 0 },
            Value::Extent { argument, axis } => number(self.axis(argument, *axis)?.0 as u64),
            Value::Stride { argument, axis } => number(self.axis(argument, *axis)?.1 as u64),
            Value::PadsWithNan { .. } | Value::RoundsToTf32 { .. } | Value::ProfileScratch => number(0),
            Value::ArrayMap(array) => Argument::TensorMap(self.array_map(array)?),
            Value::GlobalScratch { bytes_per_block, .. } => {
                let blocks: usize = (0..3).map(|i| self.grid[i] as usize * self.d.cluster[i] as usize).product();
                let bytes = vec![POISON; blocks * *bytes_per_block as usize];
                let scratch = Contents { bytes, written: false };
                self.buffers.push(("global scratch memory".to_owned(), scratch));
                Argument::Pointer { buffer: BufferId(self.buffers.len() as u32 - 1), offset: 0 }
            }
        })
    }

    fn scalar(&self, name: &str, size: u32) -> Result<Argument, Diagnostic> {
        let ty = self.d.arguments.iter().find(|a| a.name == name).map_or("", |a| &a.ty);
        let dtype = Dtype::parse(ty).filter(|d| !d.is_ptr());
        let bits = match (self.host(name)?, dtype) {
            (Host::Buffer { .. }, _) => {
                return Ok(Argument::Pointer { buffer: self.buffer(name)?, offset: 0 });
            }
            (Host::Int(v), Some(dtype)) if dtype.is_float() => bits(dtype, *v as f64),
            (Host::Float(v), Some(dtype)) if dtype.is_float() => bits(dtype, *v),
            (Host::Int(v), _) => *v as u64,
            (Host::Float(_), _) => return Err(self.wrong(name, "has a value of another kind")),
        };
        Ok(Argument::Scalar(bits.to_le_bytes()[..(size as usize).min(8)].to_vec()))
    }

    /// The map that `cuTensorMapEncodeTiled` would make.
    fn tensor_map(&self, name: &str) -> Result<TensorMap, Diagnostic> {
        let recipe = self.d.arguments.iter().find(|a| a.name == name).and_then(|a| a.tensor_map.as_ref());
        let recipe = recipe.ok_or_else(|| self.wrong(name, "has no recipe of a tensor map"))?;
        let buffer = self.buffer(name)?;
        let raw = ttc_rt::RawTensor::dense(Memory::new().address(buffer), recipe.element_bytes, self.extents(name)?);
        self.encoded(name, buffer, raw, recipe)
    }

    /// The map of an array that starts at an argument.
    fn array_map(&self, array: &launch::ArrayMap) -> Result<TensorMap, Diagnostic> {
        let name = &array.base;
        let refused =
            |why: &str| self.wrong(name, &format!("cannot be: {why}; the kernel reads it as {}", array.words()));
        let integers =
            self.host.iter().filter_map(|(n, h)| if let Host::Int(v) = h { Some((n.clone(), *v)) } else { None });
        let integers: BTreeMap<String, i64> = integers.collect();
        let values = |all: Vec<Expr>| all.iter().map(|e| e.value(&integers)).collect::<Option<Vec<_>>>();
        let [extents, strides] = array.expressions().map_err(|why| refused(&why))?.map(values);
        let numbers = extents.zip(strides).ok_or_else(|| refused("a number of it does not fit into 64 bits"))?;
        let buffer = self.buffer(name)?;
        let (address, bytes) = (Memory::new().address(buffer), array.map.element_bytes);
        let raw = ttc_rt::RawTensor::strided(address, bytes, &numbers.0, &numbers.1);
        self.encoded(name, buffer, raw, &array.map)
            .map_err(|d| d.note(format!("the kernel reads it as {}", array.words())))
    }

    /// The map of a tensor.
    fn encoded(
        &self,
        name: &str,
        buffer: BufferId,
        raw: Option<ttc_rt::RawTensor>,
        recipe: &launch::TensorMap,
    ) -> Result<TensorMap, Diagnostic> {
        let raw = raw.ok_or_else(|| self.wrong(name, "has too many axes"))?;
        let (axes, interleaved) = (recipe.box_dim.len(), recipe.interleave == 2);
        let rows = raw.rows(axes, interleaved, recipe.element_bytes, recipe.packed);
        let (extents, strides) = rows.map_err(|why| self.wrong(name, &format!("cannot be: {why}")))?;
        // The driver's number of the element type; PTX has another order for three of them.
        let element = (0..=12).find(|&n| launch::TensorMap::data_type_of(n) == recipe.data_type);
        let element = element.and_then(Element::from_number);
        let mut map = TensorMap {
            element: element.ok_or_else(|| self.wrong(name, "has an element type that the emulator does not know"))?,
            rank: recipe.rank,
            address: Memory::new().address(buffer),
            interleave: recipe.interleave,
            swizzle: emu::tensor::map::swizzle(recipe.swizzle)
                .ok_or_else(|| self.wrong(name, "has a swizzle that the emulator does not know"))?,
            fill_nan: recipe.fill != 0,
            ..TensorMap::default()
        };
        for (to, extent) in map.dims.iter_mut().zip(&extents[..axes]) {
            *to = *extent as u32;
        }
        map.box_dims[..axes].copy_from_slice(&recipe.box_dim);
        map.element_strides[..axes].fill(1);
        map.element_strides.iter_mut().zip(&recipe.element_strides).for_each(|(to, stride)| *to = *stride);
        let count = map.strides.len();
        map.strides.copy_from_slice(&strides[..count]);
        Ok(map)
    }
}
