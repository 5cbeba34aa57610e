//! Compiles GPU kernels in the Triton language from a build script, and prints Rust that launches them.
//!
//! ```no_run
//! // in build.rs
//! ttc_build::Kernels::new()
//!     .file("kernels/add.py")
//!     .kernel("add", |k| k.types("x=*fp32:16, y=*fp32:16, n=i32").constant("BLOCK", 1024).grid("cdiv(n, BLOCK)"))
//!     .archs(["sm_80", "sm_90a"])
//!     .emit_rust("kernels.rs");
//! ```
//!
//! ```ignore
//! // main.rs; the launchers stand on the crate ttc-rt
//! mod kernels {
//!     include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
//! }
//! ```
//!
//! * The program `ttc` does the work. It is the one that the environment variable `TTC` names, or the first in `PATH`.
//! * The kernels may stand in a manifest instead, which `ttc build` reads as well:
//!   `Kernels::from_manifest("kernels/ttc.toml").emit_rust("kernels.rs")`.
//! * Cargo runs the build script again when a kernel file, or a file that one imports, has changed. Only the kernels
//!   that the change concerns are compiled then, several at once.
//! * What is wrong with a kernel is shown with `ttc`'s own messages, and ends the build.

mod kernel;
mod run;

use std::fmt;
use std::path::{Path, PathBuf};

pub use kernel::Kernel;
use kernel::quoted;

/// The kernels of a crate.
#[derive(Clone, Debug, Default)]
pub struct Kernels {
    manifest: Option<PathBuf>,
    file: Option<PathBuf>,
    named: Vec<Kernel>,
    archs: Vec<String>,
    include: Vec<PathBuf>,
    ttc: Option<PathBuf>,
}

/// Why kernels were not built, in words for the person who builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl Kernels {
    /// No kernels yet.
    #[must_use]
    pub fn new() -> Kernels {
        Kernels::default()
    }

    /// The kernels of a manifest, whose path is relative to the crate's folder. What is said with [`Kernels::archs`]
    /// takes the place of the manifest's architectures.
    #[must_use]
    pub fn from_manifest(path: impl Into<PathBuf>) -> Kernels {
        Kernels { manifest: Some(path.into()), ..Kernels::default() }
    }

    /// The file of the kernels that are named from now on, relative to the crate's folder.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Kernels {
        self.file = Some(path.into());
        self
    }

    /// A kernel of the file.
    ///
    /// # Panics
    /// No file was named before.
    #[must_use]
    pub fn kernel(mut self, name: &str, with: impl FnOnce(Kernel) -> Kernel) -> Kernels {
        let file = self.file.clone().expect("`file` comes before `kernel`");
        self.named.push(with(Kernel::new(file, name)));
        self
    }

    /// The architectures to compile for, such as `sm_80` and `sm_90a`. Without any, ttc takes its usual one.
    #[must_use]
    pub fn archs<A: Into<String>>(mut self, archs: impl IntoIterator<Item = A>) -> Kernels {
        self.archs.extend(archs.into_iter().map(Into::into));
        self
    }

    /// A folder where imported kernel files are looked for, relative to the crate's folder.
    #[must_use]
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Kernels {
        self.include.push(folder.into());
        self
    }

    /// The program to use, whatever the environment says.
    #[must_use]
    pub fn ttc(mut self, program: impl Into<PathBuf>) -> Kernels {
        self.ttc = Some(program.into());
        self
    }

    /// Writes the launchers into Cargo's folder for what a build script makes. What is wrong is shown as Cargo shows
    /// the errors of a build script, and ends it.
    #[allow(clippy::exit, clippy::print_stderr, clippy::print_stdout, reason = "this is how a build script speaks")]
    pub fn emit_rust(&self, name: &str) {
        let out = std::env::var_os("OUT_DIR").map(PathBuf::from);
        let made = out.ok_or_else(|| Error("`emit_rust` is for build scripts: OUT_DIR is not set".to_owned()));
        match made.and_then(|out| self.build(&out, name)) {
            Ok(built) => {
                for path in &built.watch {
                    println!("cargo::rerun-if-changed={}", path.display());
                }
                for name in ["TTC", "PATH"] {
                    println!("cargo::rerun-if-env-changed={name}");
                }
                for line in built.warnings.lines() {
                    println!("cargo::warning={line}");
                }
            }
            Err(error) => {
                eprintln!("{error}");
                std::process::exit(1);
            }
        }
    }

    /// Writes the launchers into a folder, as `emit_rust` does.
    ///
    /// # Errors
    /// There is no `ttc`, a kernel does not compile, or a file cannot be written.
    pub fn build(&self, out: &Path, name: &str) -> Result<Built, Error> {
        let ttc = run::find(self.ttc.as_deref())?;
        let (manifest, archs) = match &self.manifest {
            Some(path) if self.named.is_empty() => (root()?.join(path), &*self.archs),
            Some(_) => {
                return Err(Error("kernels come from a manifest or from `kernel`, and not from both".to_owned()));
            }
            None => {
                let path = out.join(format!("{name}.toml"));
                run::put(&path, self.text(&root()?)?.as_bytes())?;
                // The manifest has the architectures, since a kernel may have others.
                (path, &[][..])
            }
        };
        run::build(&ttc, &manifest, archs, &out.join(format!("{name}.ttc")), &out.join(name))
    }

    /// The text of the manifest that says what was asked for.
    fn text(&self, root: &Path) -> Result<String, Error> {
        for (i, kernel) in self.named.iter().enumerate() {
            if self.named[..i].iter().any(|k| k.name == kernel.name) {
                return Err(Error(format!("the kernel `{}` is named twice", kernel.name)));
            }
        }
        let list = |items: &mut dyn Iterator<Item = String>| items.map(|i| quoted(&i)).collect::<Vec<_>>().join(", ");
        let include = list(&mut self.include.iter().map(|i| i.to_string_lossy().into_owned()));
        let archs = list(&mut self.archs.iter().cloned());
        let root = quoted(&root.to_string_lossy());
        let tables: String = self.named.iter().map(Kernel::table).collect();
        Ok(format!(
            "# Written by a build script.\n[build]\nroot = {root}\narchs = [{archs}]\ninclude = [{include}]\n{tables}"
        ))
    }
}

/// The crate's folder: the one that Cargo names, or else the current one.
fn root() -> Result<PathBuf, Error> {
    let named = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    named.map_or_else(std::env::current_dir, Ok).map_err(|e| Error(format!("there is no current directory: {e}")))
}

/// What was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The files that the result depends on: the kernels' and those that they import, the manifest, and the compiler.
    pub watch: Vec<PathBuf>,
    /// What ttc says of its work: how many kernels it compiled, and how many were up to date.
    pub said: String,
    /// Its warnings, and what kernels printed while they were compiled.
    pub warnings: String,
}
