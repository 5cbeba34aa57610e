//! Finds the parts of the CUDA toolkit and of LLVM that ttc uses.
//!
//! For the CUDA toolkit these are the places, in order. The first one that has the part ends the search, so a part on
//! `PATH` costs a handful of file look-ups.
//! 1. the path that the user gave, or else the part's environment variable: it is taken as it is or refused, but never
//!    passed over;
//! 2. `PATH` (libdevice: the toolkit around the ptxas on `PATH`);
//! 3. `$CUDA_HOME`, `$CUDA_PATH`, `/usr/local/cuda`, and the folder of Debian's own toolkit package;
//! 4. `lib/ttc` of the folder in whose `bin` the executable is installed, which has the parts as a toolkit has them;
//! 5. `.toolchain` of ttc's repository, where `make toolchain` puts the parts, if the executable was built there;
//! 6. the packages of NVIDIA and of Triton in the Python installations around: the active environment, the user's, the
//!    `python3` on `PATH`, pyenv's, the system's. Only folders are looked at; Python is not run.
//!
//! LLVM's tools are looked for with the release of ttc's own LLVM in their names on `PATH`, beside ttc, in that LLVM's
//! folder, in ROCm's (`$ROCM_PATH`, `/opt/rocm`), and then on `PATH` without the release.
//!
//! A variable may name a folder relative to the current one. Such a folder is passed over: whoever writes there must
//! not choose what ttc runs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::diag::{Diagnostic, codes::tools};

/// The release of LLVM that ttc is built with, whose tools read what it writes.
pub(super) const LLVM: &str = "22";

/// A part of the CUDA toolkit, or of LLVM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// Assembles PTX.
    Ptxas,
    /// Disassembles cubins.
    Nvdisasm,
    /// Puts cubins of several architectures into one file.
    Fatbinary,
    /// The bitcode library of math functions; a file, not a program.
    Libdevice,
    /// LLVM's assembler, for AMD's GPUs.
    LlvmMc,
    /// LLVM's linker, for AMD's GPUs.
    Lld,
    /// LLVM's disassembler, for AMD's GPUs.
    Objdump,
}

impl Tool {
    /// The name of the file: `ptxas`.
    #[must_use]
    pub fn file_name(self) -> &'static str {
        match self {
            Tool::Ptxas => "ptxas",
            Tool::Nvdisasm => "nvdisasm",
            Tool::Fatbinary => "fatbinary",
            Tool::Libdevice => "libdevice.10.bc",
            Tool::LlvmMc => "llvm-mc",
            Tool::Lld => "ld.lld",
            Tool::Objdump => "llvm-objdump",
        }
    }

    /// The environment variable that names the part.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Tool::Ptxas => "TTC_PTXAS",
            Tool::Nvdisasm => "TTC_NVDISASM",
            Tool::Fatbinary => "TTC_FATBINARY",
            Tool::Libdevice => "TTC_LIBDEVICE",
            Tool::LlvmMc => "TTC_LLVM_MC",
            Tool::Lld => "TTC_LLD",
            Tool::Objdump => "TTC_LLVM_OBJDUMP",
        }
    }

    /// How to install the part.
    fn package(self) -> String {
        match self {
            Tool::Ptxas | Tool::Fatbinary => "`pip install nvidia-cuda-nvcc`".to_owned(),
            Tool::Nvdisasm => "`pip install nvidia-cuda-nvdisasm`".to_owned(),
            Tool::Libdevice => "`pip install nvidia-nvvm`".to_owned(),
            Tool::LlvmMc | Tool::Objdump => format!("install Debian's package `llvm-{LLVM}`"),
            Tool::Lld => format!("install Debian's package `lld-{LLVM}`"),
        }
    }

    /// Whether the part is LLVM's and not of the CUDA toolkit.
    fn is_of_llvm(self) -> bool {
        matches!(self, Tool::LlvmMc | Tool::Lld | Tool::Objdump)
    }

    /// Where a CUDA toolkit, or a wheel's copy of one, has the part.
    fn in_toolkit(self) -> PathBuf {
        let folder = if self == Tool::Libdevice { "nvvm/libdevice" } else { "bin" };
        Path::new(folder).join(self.file_name())
    }

    /// Where Triton's package has the part.
    fn in_triton(self) -> PathBuf {
        let folder = if self == Tool::Libdevice { "lib" } else { "bin" };
        Path::new("triton/backends/nvidia").join(folder).join(self.file_name())
    }

    fn usable(self, path: &Path) -> bool {
        match fs::metadata(path) {
            Ok(m) if self == Tool::Libdevice => m.is_file(),
            Ok(m) => m.is_file() && is_executable(&m),
            Err(_) => false,
        }
    }
}

#[cfg(unix)]
fn is_executable(m: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    m.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    true
}

/// Finds a part. `given` is the user's own path, as from `--ptxas`.
///
/// # Errors
/// `E0801`, which lists where the search looked and how to get the part.
pub fn find(tool: Tool, given: Option<&Path>) -> Result<PathBuf, Diagnostic> {
    Surroundings::of_process().find(tool, given)
}

/// Whether the user names the part by its environment variable.
#[must_use]
pub fn is_named(tool: Tool) -> bool {
    Surroundings::of_process().path(tool.variable()).is_some()
}

/// Finds `libdevice.10.bc` as [`find`] does with [`Tool::Libdevice`].
///
/// # Errors
/// `E0801`
pub fn find_libdevice(given: Option<&Path>) -> Result<PathBuf, Diagnostic> {
    find(Tool::Libdevice, given)
}

/// Gives the value of an environment variable.
type Variables = Box<dyn Fn(&str) -> Option<OsString>>;

/// What a search depends on. It is a value, so that tests can make their own.
pub(super) struct Surroundings {
    pub(super) variable: Variables,
    /// The executable of this process.
    pub(super) executable: Option<PathBuf>,
    /// The root of the file system: `/`.
    pub(super) root: PathBuf,
}

impl Surroundings {
    fn of_process() -> Surroundings {
        Surroundings {
            variable: Box::new(|name| std::env::var_os(name)),
            executable: std::env::current_exe().ok(),
            root: PathBuf::from("/"),
        }
    }

    /// The folder that a variable names. A relative one counts as none.
    fn folder(&self, name: &str) -> Option<PathBuf> {
        self.path(name).filter(|p| p.is_absolute())
    }

    /// The value of a variable as a path. An empty value counts as none.
    fn path(&self, name: &str) -> Option<PathBuf> {
        (self.variable)(name).filter(|v| !v.is_empty()).map(PathBuf::from)
    }

    pub(super) fn find(&self, tool: Tool, given: Option<&Path>) -> Result<PathBuf, Diagnostic> {
        let named = given.map(|g| (g.to_owned(), "named on the command line".to_owned()));
        let named = named.or_else(|| Some((self.path(tool.variable())?, format!("named by `{}`", tool.variable()))));
        if let Some((path, how)) = named {
            return if path.is_file() { Ok(path) } else { Err(missing_named(tool, &path, &how)) };
        }
        let mut looked = vec![];
        if tool.is_of_llvm() {
            return self.in_llvm(tool, &mut looked).ok_or_else(|| missing(tool, &looked));
        }
        self.beside_named_ptxas(tool, &mut looked)
            .or_else(|| self.on_path(tool, &mut looked))
            .or_else(|| self.in_toolkits(tool, &mut looked))
            .or_else(|| self.in_installation(tool, &mut looked))
            .or_else(|| self.in_toolchain(tool, &mut looked))
            .or_else(|| self.in_python(tool, &mut looked))
            .ok_or_else(|| missing(tool, &looked))
    }

    /// The part in an LLVM of ttc's own release, on `PATH` or where the system's packages put it, or else in ROCm's, or
    /// in any on `PATH`.
    fn in_llvm(&self, tool: Tool, looked: &mut Vec<String>) -> Option<PathBuf> {
        looked.push("the folders of PATH".to_owned());
        if let Some(own) = self.program(&format!("{}-{LLVM}", tool.file_name())) {
            return Some(own);
        }
        let prefix = self.folder("LLVM_SYS_221_PREFIX").into_iter();
        let system = [format!("usr/lib/llvm-{LLVM}"), "usr/local".to_owned()].map(|f| self.root.join(f));
        let rocm = self.folder("ROCM_PATH").into_iter().chain([self.root.join("opt/rocm")]).map(|r| r.join("llvm"));
        let mut places = prefix.chain(system).chain(rocm).map(|r| r.join("bin").join(tool.file_name()));
        self.in_installation(tool, looked)
            .or_else(|| places.find(|p| looked_at(p, looked) && tool.usable(p)))
            .or_else(|| self.program(tool.file_name()))
    }

    /// The first executable file of this name in the folders of `PATH`.
    fn program(&self, name: &str) -> Option<PathBuf> {
        which::which_in_global(name, Some((self.variable)("PATH")?)).ok()?.find(|p| p.is_absolute())
    }

    /// The part in the toolkit of the ptxas that `TTC_PTXAS` names.
    fn beside_named_ptxas(&self, tool: Tool, looked: &mut Vec<String>) -> Option<PathBuf> {
        let ptxas = self.path(Tool::Ptxas.variable()).filter(|_| tool != Tool::Ptxas)?;
        let place = fs::canonicalize(ptxas).ok()?.parent()?.parent()?.join(tool.in_toolkit());
        (looked_at(&place, looked) && tool.usable(&place)).then_some(place)
    }

    fn on_path(&self, tool: Tool, looked: &mut Vec<String>) -> Option<PathBuf> {
        looked.push("the folders of PATH".to_owned());
        if tool != Tool::Libdevice {
            return self.program(tool.file_name());
        }
        let ptxas = fs::canonicalize(self.program("ptxas")?).ok()?;
        Some(ptxas.parent()?.parent()?.join(tool.in_toolkit())).filter(|p| tool.usable(p))
    }

    fn in_toolkits(&self, tool: Tool, looked: &mut Vec<String>) -> Option<PathBuf> {
        let debian = self.root.join("usr/lib/nvidia-cuda-toolkit");
        let roots = ["CUDA_HOME", "CUDA_PATH"]
            .into_iter()
            .filter_map(|v| self.folder(v))
            .chain([self.root.join("usr/local/cuda")]);
        let apart = (tool == Tool::Libdevice).then(|| debian.join("libdevice").join(tool.file_name()));
        let mut places = roots.chain([debian.clone()]).map(|r| r.join(tool.in_toolkit())).chain(apart);
        places.find(|p| looked_at(p, looked) && tool.usable(p))
    }

    /// The part that was installed with ttc: `PREFIX/lib/ttc/bin/ptxas` for `PREFIX/bin/ttc`.
    fn in_installation(&self, tool: Tool, looked: &mut Vec<String>) -> Option<PathBuf> {
        let executable = fs::canonicalize(self.executable.as_deref()?).ok()?;
        let bin = executable.parent().filter(|p| p.file_name().is_some_and(|n| n == "bin"))?;
        let place = bin.parent()?.join("lib/ttc").join(tool.in_toolkit());
        (looked_at(&place, looked) && tool.usable(&place)).then_some(place)
    }

    fn in_toolchain(&self, tool: Tool, looked: &mut Vec<String>) -> Option<PathBuf> {
        let toolchain = repository(self.executable.as_deref()?)?.join(".toolchain");
        looked.push(format!("`{}`", toolchain.display()));
        in_packages(tool, &toolchain)
    }

    fn in_python(&self, tool: Tool, looked: &mut Vec<String>) -> Option<PathBuf> {
        let mut prefixes: Vec<PathBuf> =
            ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(|v| self.folder(v)).collect();
        let home = self.folder("HOME");
        prefixes.extend(home.iter().map(|h| h.join(".local")));
        let python = self.program("python3").and_then(|p| fs::canonicalize(p).ok());
        prefixes.extend(python.and_then(|p| Some(p.parent()?.parent()?.to_owned())));
        if let Some(pyenv) = self.folder("PYENV_ROOT").or(home.map(|h| h.join(".pyenv"))) {
            prefixes.extend(newest_first(&pyenv.join("versions"), ""));
        }
        prefixes.extend([self.root.join("usr/local"), self.root.join("usr")]);
        for lib in prefixes.iter().map(|p| p.join("lib")) {
            for site in
                newest_first(&lib, "python3").iter().flat_map(|p| [p.join("site-packages"), p.join("dist-packages")])
            {
                if let Some(found) = in_packages(tool, &site) {
                    return Some(found);
                }
                if site.is_dir() {
                    looked_at(&site, looked);
                }
            }
        }
        None
    }
}

/// The repository of ttc in whose folder `target` an executable lies.
fn repository(executable: &Path) -> Option<&Path> {
    let target = executable.ancestors().find(|a| a.file_name().is_some_and(|n| n == "target"))?;
    let manifest = fs::read_to_string(target.parent()?.join("Cargo.toml")).ok()?;
    manifest.lines().any(|l| l.trim() == "name = \"ttc\"").then(|| target.parent())?
}

/// Notes a place for the error message. It is always true, so that it fits into conditions.
fn looked_at(place: &Path, looked: &mut Vec<String>) -> bool {
    let place = place.display().to_string();
    if !looked.contains(&place) {
        looked.push(place);
    }
    true
}

/// The part in a folder of Python packages. NVIDIA's packages come first (`nvidia/cu13`, newest first, or the older
/// `nvidia/cuda_nvcc`), then Triton's.
fn in_packages(tool: Tool, site: &Path) -> Option<PathBuf> {
    let nvidia = site.join("nvidia");
    let named = match tool {
        Tool::Nvdisasm => nvidia.join("cuda_nvdisasm"),
        _ => nvidia.join("cuda_nvcc"),
    };
    let mut roots = newest_first(&nvidia, "cu").into_iter().chain([named]).map(|r| r.join(tool.in_toolkit()));
    roots.find(|p| tool.usable(p)).or_else(|| Some(site.join(tool.in_triton())).filter(|p| tool.usable(p)))
}

/// The entries of a folder whose names are a prefix and then digits or dots, the highest number first. There are none
/// if the path is no folder.
///
/// `cu9, cu13, cuda_nvcc` with prefix `cu` gives `cu13, cu9`.
fn newest_first(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|e| {
            let version = e.file_name().to_str()?.strip_prefix(prefix)?.to_owned();
            let numbers =
                version.split('.').filter(|n| !n.is_empty()).map(str::parse).collect::<Result<_, _>>().ok()?;
            Some((numbers, e.path()))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

fn missing_named(tool: Tool, path: &Path, how: &str) -> Diagnostic {
    let what = if path.exists() { "is not a file" } else { "does not exist" };
    Diagnostic::error(&tools::TOOL_NOT_FOUND, format!("`{}`, {how} as {}, {what}", path.display(), tool.file_name()))
        .help(format!("correct the path, or leave it out to let ttc look for {}", tool.file_name()))
}

fn missing(tool: Tool, looked: &[String]) -> Diagnostic {
    let name = tool.file_name();
    let note = looked.iter().fold("looked in".to_owned(), |text, place| text + "\n  " + place);
    Diagnostic::error(&tools::TOOL_NOT_FOUND, format!("{name} was not found")).note(note).help(format!(
        "run `make toolchain`, or {}, or set `{}` to its path",
        tool.package(),
        tool.variable()
    ))
}
