//! A compiled kernel with what a launch must know, from a compilation or from files.
//!
//! 1. [`compile`] compiles options of one kernel file, several at once.
//! 2. [`Program::read`] reads a cubin and the JSON beside it. ttc's JSON holds the launch descriptor.
//! 3. Triton's JSON says the rest of a launch, but not the parameters. The kernel then takes those of a [`Descriptor`]
//!    that ttc made of the same kernel with the same arguments, and behind them the two pointers that Triton's launcher
//!    passes: to scratch memory and to a profiler's buffer.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::cache::Cache;
use crate::diag::codes::{cli, gpu as codes};
use crate::diag::{Diagnostic, Place};
use crate::driver::metadata::{Metadata, TensorDesc};
use crate::driver::{Compiled, Debug, Job, Reuse, Stage, run_each};
use crate::launch::{Descriptor, TensorMap, Value};
use crate::source::SourceMap;
use crate::text_file::plain;

/// A kernel that can be loaded.
#[derive(Clone, Debug)]
pub struct Program {
    pub descriptor: Descriptor,
    /// The architecture, such as `sm_90a`. `None` if nobody said it.
    pub arch: Option<String>,
    /// The cubin.
    pub image: Vec<u8>,
    /// Registers of a thread, if the assembler's word is known.
    pub registers: Option<u32>,
    /// Bytes of spill stores and loads, if the assembler's word is known.
    pub spills: Option<u32>,
    /// Who compiled it.
    pub compiler: String,
    /// Equal programs have equal hashes. Empty if it is not known.
    pub hash: String,
}

/// A program, or why there is none, with what else there is to say and the sources that it points into.
pub struct Made {
    pub program: Option<Program>,
    pub said: Vec<Diagnostic>,
    pub sources: SourceMap,
    /// Lines that `tl.static_print` wrote.
    pub printed: Vec<String>,
}

/// Compiles each job to a program, on up to `workers` threads, or takes it from a cache.
#[must_use]
pub fn compile(sources: &SourceMap, jobs: &[Job], cache: Option<&Cache>, workers: usize) -> Vec<Made> {
    let reuse = Reuse { cache, ..Reuse::default() };
    run_each(jobs, sources, &[Stage::Binary], &Debug::default(), &reuse, workers, |_, outcome| {
        let sources = outcome.sources;
        let mut made = match outcome.result {
            Ok(made) => made,
            Err(said) => return Made { program: None, said, sources, printed: vec![] },
        };
        let (mut said, printed) = (std::mem::take(&mut made.diagnostics), std::mem::take(&mut made.printed));
        match Program::of_compiled(made) {
            Ok(program) => Made { program: Some(program), said, sources, printed },
            Err(d) => {
                said.push(d);
                Made { program: None, said, sources, printed }
            }
        }
    })
}

/// The file that holds a cubin's metadata.
fn beside(cubin: &Path) -> PathBuf {
    cubin.with_extension("json")
}

/// What a JSON beside a cubin may say. The names are Triton's, but for the last ones.
#[derive(Deserialize)]
struct Said {
    name: String,
    num_warps: Option<u32>,
    #[serde(default)]
    num_ctas: Option<u32>,
    #[serde(default)]
    cluster_dims: Option<[u32; 3]>,
    shared: Option<u32>,
    #[serde(default)]
    global_scratch_size: Option<u32>,
    #[serde(default)]
    global_scratch_align: Option<u32>,
    #[serde(default)]
    tensordesc_meta: Option<Vec<TensorDesc>>,
    #[serde(default)]
    arch: Option<String>,
    #[serde(default)]
    registers: Option<u32>,
    #[serde(default)]
    spills: Option<u32>,
    #[serde(default)]
    compiler: Option<String>,
    #[serde(default)]
    hash: Option<String>,
    /// ttc's own.
    #[serde(default)]
    launch: Option<Descriptor>,
    /// How many pointers follow the kernel's own parameters, where Triton's two do not.
    #[serde(default)]
    hidden_params: Option<u32>,
}

impl Program {
    fn of_compiled(mut made: Compiled) -> Result<Program, Diagnostic> {
        let Metadata { launch, arch, registers, spills, compiler, hash, .. } = made.metadata;
        let unknown = || {
            let message = format!("nothing says how `{}` is launched", made.kernel);
            Diagnostic::error(&codes::BAD_CUBIN, message).help("start from the kernel's source")
        };
        let descriptor = launch.ok_or_else(unknown)?;
        let image = made.artifacts.remove(&Stage::Binary).unwrap_or_default();
        Ok(Program { descriptor, arch: Some(arch), image, registers, spills, compiler, hash })
    }

    /// Reads a cubin and the JSON beside it. `same` is how ttc launches the same kernel with the same arguments, for a
    /// JSON that does not list the parameters.
    ///
    /// # Errors
    /// `E0901` for a file that cannot be read, and `E1109` for a JSON that does not say how to launch the kernel.
    pub fn read(cubin: &Path, same: Option<&Descriptor>) -> Result<Program, Diagnostic> {
        let json = beside(cubin);
        let text =
            read(&json).map_err(|d| d.help("a cubin's launch metadata is in a .json of the same name beside it"))?;
        let image = read(cubin)?;
        let wrong = |why: String| {
            Diagnostic::error(
                &codes::BAD_CUBIN,
                format!("`{}` does not say how to launch a kernel: {why}", json.display()),
            )
            .at(Place::File(json.to_string_lossy().into_owned()), "")
        };
        if !image.starts_with(b"\x7fELF") {
            return Err(Diagnostic::error(&codes::BAD_CUBIN, format!("`{}` is no cubin", cubin.display()))
                .at(Place::File(cubin.to_string_lossy().into_owned()), "")
                .help("`ttc compile KERNEL.tk -o KERNEL.cubin` makes one"));
        }
        let said: Said = serde_json::from_slice(&text).map_err(|e| wrong(e.to_string()))?;
        let descriptor = match (&said.launch, same) {
            (Some(own), _) => own.clone(),
            (None, Some(same)) => said.like(same).map_err(wrong)?,
            (None, None) => {
                return Err(wrong("it has no field `launch`, which lists the parameters".to_owned())
                    .help("compile the kernel with ttc, which writes that field"));
            }
        };
        Ok(Program {
            descriptor,
            arch: said.arch,
            image,
            registers: said.registers,
            spills: said.spills,
            compiler: said.compiler.unwrap_or_else(|| "another compiler".to_owned()),
            hash: said.hash.unwrap_or_default(),
        })
    }
}

impl Said {
    /// The descriptor of a kernel that takes what another one takes, and differs in what this JSON says.
    fn like(&self, same: &Descriptor) -> Result<Descriptor, String> {
        let missing = |name: &str| format!("it has no field `{name}`");
        let threads = 32 * self.num_warps.ok_or_else(|| missing("num_warps"))?;
        let cluster = self.cluster_dims.unwrap_or([self.num_ctas.unwrap_or(1), 1, 1]);
        let mut parameters = same.parameters.clone();
        parameters.retain(|p| !p.value.is_hidden());
        let scratch = Value::GlobalScratch {
            bytes_per_block: self.global_scratch_size.unwrap_or(0),
            memory_align: self.global_scratch_align.unwrap_or(1).max(1),
        };
        let hidden = [scratch, Value::ProfileScratch].into_iter().take(self.hidden_params.unwrap_or(2) as usize);
        let mut end = parameters.last().map_or(0, |p| p.offset + p.size);
        for value in hidden {
            let offset = u32::next_multiple_of(end, 8);
            parameters.push(crate::launch::Parameter { value, offset, size: 8, align: 8 });
            end = offset + 8;
        }
        let mut arguments = same.arguments.clone();
        let maps = arguments.iter_mut().filter_map(|a| a.tensor_map.as_mut());
        let own = self.tensordesc_meta.iter().flatten().map(TensorMap::from);
        maps.zip(own).for_each(|(to, map)| *to = map);
        Ok(Descriptor {
            symbol: self.name.clone(),
            threads,
            shared: self.shared.ok_or_else(|| missing("shared"))?,
            cluster,
            programmatic: false,
            arguments,
            parameters,
            parameter_bytes: end,
            ..same.clone()
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    std::fs::read(path).map_err(|e| {
        Diagnostic::error(&cli::CANNOT_READ, format!("cannot read `{}`: {}", path.display(), plain(&e)))
            .at(Place::File(path.to_string_lossy().into_owned()), "")
    })
}
