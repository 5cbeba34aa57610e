//! Runs NVIDIA's tools: ptxas for the cubin ([`assemble`]), nvdisasm for its text ([`disassemble`]).
//!
//! [`assemble`] works in these steps:
//! 1. Find ptxas ([`find`]). A path that the user named is taken as it is; otherwise the first place that has it ends the search.
//! 2. Write the PTX to a fresh temporary folder and run `ptxas -v --gpu-name=… kernel.ptx -o kernel.cubin` in that folder. The names are
//!    relative, so nothing of the path can reach the cubin and the same PTX gives the same bytes. There is no time limit.
//! 3. On success read the cubin and parse the report ([`report`]); the folder is deleted.
//! 4. On failure the folder stays, and the diagnostic ([`failure`]) names the kernels, the log, and a command that repeats the run.
//!
//! This is the only module that starts processes. Overhead beyond ptxas's own time: about half a millisecond.
//!
//! # Example
//! ```no_run
//! # use ttc::{ptxas, target::Target};
//! # let ptx = "";
//! let done = ptxas::assemble(ptx, &Target::parse("sm_80").unwrap(), &ptxas::AssembleOptions::default()).unwrap();
//! assert_eq!(&done.cubin[..4], b"\x7fELF");
//! assert_eq!(done.usage().spill_stores, 0);
//! ```

mod failure;
mod find;
mod report;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::diag::{Diagnostic, codes::tools};
use crate::target::Target;
pub use find::{Tool, find, find_libdevice};
pub use report::{FunctionUsage, Usage};

/// How to assemble.
#[derive(Clone, Copy, Debug)]
pub struct AssembleOptions<'a> {
    /// The value of `--ptxas`.
    pub ptxas: Option<&'a Path>,
    /// Keep the line table of the PTX (`-lineinfo`).
    pub line_info: bool,
    /// Whether a multiplication and an addition may become one `fma`; `false` passes `--fmad=false`.
    pub fp_fusion: bool,
    /// More options for ptxas, after ttc's own.
    pub extra: &'a [String],
    /// The PTX file that the user gave, if that is where the text comes from: errors then point into it.
    pub source_name: Option<&'a str>,
}

impl Default for AssembleOptions<'_> {
    fn default() -> Self {
        AssembleOptions { ptxas: None, line_info: true, fp_fusion: true, extra: &[], source_name: None }
    }
}

/// What ptxas made.
#[derive(Clone, Debug)]
pub struct Assembled {
    pub cubin: Vec<u8>,
    /// What `-v` says of each function, in its order.
    pub functions: Vec<FunctionUsage>,
    /// Everything ptxas printed.
    pub log: String,
    /// Wall time of the ptxas process.
    pub time: Duration,
    /// The ptxas that ran.
    pub ptxas: PathBuf,
}

impl Assembled {
    /// The usage of all functions together: the largest number of registers, stack and shared bytes, the sum of the spills.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage::of_all(&self.functions)
    }

    /// The lines of the log that are warnings, without ptxas's prefix.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.log.lines().filter(|l| l.starts_with("ptxas ")).filter_map(|l| Some(l.split_once("warning")?.1.trim_start_matches([' ', ':'])))
    }
}

/// Assembles PTX to a cubin for one architecture.
///
/// # Errors
/// `E0801` to `E0806`: no ptxas, one that does not start, fails, is killed or is too old, and temporary files that cannot be written.
pub fn assemble(ptx: &str, target: &Target, options: &AssembleOptions) -> Result<Assembled, Diagnostic> {
    let ptxas = find(Tool::Ptxas, options.ptxas)?;
    let mut args: Vec<OsString> = vec!["-v".into(), format!("--gpu-name={}", target.name).into()];
    if options.line_info {
        args.push("-lineinfo".into());
    }
    if !options.fp_fusion {
        args.push("--fmad=false".into());
    }
    args.extend(options.extra.iter().map(Into::into));
    args.extend(["kernel.ptx", "-o", "kernel.cubin"].map(Into::into));
    let run = Run::new(Tool::Ptxas, ptxas, args, "kernel.ptx", ptx.as_bytes())?;
    let (output, time) = run.execute()?;
    let log = text_of(&output);
    let cubin = std::fs::read(run.folder.path().join("kernel.cubin"));
    match cubin {
        Ok(cubin) if output.status.success() && !cubin.is_empty() => {
            let functions = report::parse(&log);
            Ok(Assembled { cubin, functions, log, time, ptxas: run.tool_path })
        }
        cubin => {
            let broken = cubin.err().filter(|e| e.kind() != io::ErrorKind::NotFound);
            Err(match broken {
                Some(error) if output.status.success() => scratch(&error, "read the cubin"),
                _ => failure::of_ptxas(run, &output, ptx, target, options.source_name),
            })
        }
    }
}

/// The machine code of a cubin as text, as `nvdisasm -c` prints it.
///
/// # Errors
/// `E0801`, `E0802`, `E0804`, `E0806`, and `E0807` with nvdisasm's own message when it fails.
pub fn disassemble(cubin: &[u8], nvdisasm: Option<&Path>) -> Result<String, Diagnostic> {
    let tool = find(Tool::Nvdisasm, nvdisasm)?;
    let run = Run::new(Tool::Nvdisasm, tool, vec!["-c".into(), "kernel.cubin".into()], "kernel.cubin", cubin)?;
    let (output, _) = run.execute()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(failure::of_nvdisasm(run, &output))
}

/// One run of a tool on one file in a temporary folder.
struct Run {
    tool: Tool,
    tool_path: PathBuf,
    args: Vec<OsString>,
    folder: TempDir,
}

impl Run {
    /// Writes the input file. The folder lives as long as the value, unless [`failure`] keeps it.
    fn new(tool: Tool, tool_path: PathBuf, args: Vec<OsString>, name: &str, input: &[u8]) -> Result<Run, Diagnostic> {
        let folder = tempfile::Builder::new().prefix("ttc-").tempdir().map_err(|e| scratch(&e, "make a temporary folder"))?;
        std::fs::write(folder.path().join(name), input).map_err(|e| scratch(&e, "write the input of a tool"))?;
        Ok(Run { tool, tool_path, args, folder })
    }

    /// Starts the tool, waits for it, and gives its output and wall time.
    fn execute(&self) -> Result<(Output, Duration), Diagnostic> {
        // The tool runs in another folder, so its own path must not depend on this one.
        let program = std::path::absolute(&self.tool_path).unwrap_or_else(|_| self.tool_path.clone());
        let start = Instant::now();
        let mut tries = 0;
        loop {
            let result = Command::new(&program).args(&self.args).current_dir(self.folder.path()).stdin(Stdio::null()).output();
            match result {
                Ok(output) => return Ok((output, start.elapsed())),
                // The file is being written, as during an upgrade; it will be whole in a moment.
                Err(e) if e.kind() == io::ErrorKind::ExecutableFileBusy && tries < 20 => {
                    tries += 1;
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(e) => return Err(self.not_started(&e)),
            }
        }
    }

    fn not_started(&self, error: &io::Error) -> Diagnostic {
        let name = self.tool.file_name();
        let diagnostic =
            Diagnostic::error(&tools::TOOL_NOT_RUNNABLE, format!("cannot start {name} at `{}`: {error}", self.tool_path.display()));
        match error.kind() {
            io::ErrorKind::PermissionDenied => diagnostic.help(format!("make it executable: `chmod +x {}`", self.tool_path.display())),
            _ => diagnostic.help(format!("name another {name} with `{}`", self.tool.variable())),
        }
    }
}

/// Both streams of a tool as text, its errors first.
fn text_of(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stdout));
    text
}

fn scratch(error: &io::Error, doing: &str) -> Diagnostic {
    let folder = std::env::temp_dir();
    // The error of a temporary file goes on with the file's random name.
    let text = error.to_string();
    let why = text.split(" at path ").next().unwrap_or(&text);
    Diagnostic::error(&tools::SCRATCH_FAILED, format!("cannot {doing} in `{}`: {why}", folder.display()))
        .help("free space there, or set `TMPDIR` to a folder that can be written")
}
