//! The manifest `ttc.toml`: its tables, and what is wrong with them.
//!
//! Paths are relative to the manifest's folder, or to the folder `root`, which is itself relative to that. Values of
//! constants are those of `-D`: numbers and truth values, or text in the kernel's language, such as `"tl.float16"` or
//! `"'gelu'"`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, de};

use crate::backend::Tma;
use crate::diag::Diagnostic;
use crate::diag::codes::cli::BAD_MANIFEST;
use crate::diag::suggest::did_you_mean;
use crate::gpu::lock;
use crate::source::{FileId, SourceMap, Span};

/// The name that a manifest has where nobody says another.
pub const NAME: &str = "ttc.toml";

/// A manifest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    #[serde(default)]
    pub build: Build,
    /// The kernels by the names that launchers and files have.
    #[serde(default)]
    pub kernel: BTreeMap<String, Kernel>,
}

/// The table `[build]`: what holds for all kernels.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Build {
    /// The folder that other paths are relative to, and without which outputs name files.
    pub root: PathBuf,
    /// The folder of the outputs.
    pub out: PathBuf,
    /// The architectures of kernels that name none.
    pub archs: Vec<String>,
    /// What to make: `ttir`, `ttgir`, `llir`, `ptx`, `cubin`, `sass`, `fatbin`, `c`, `o`, `rust`.
    pub emit: Vec<String>,
    /// The name of what is made of all kernels together: launchers, index, list of dependencies.
    pub module: String,
    /// Whether launchers hold the code. Otherwise it lies beside them.
    pub embed: bool,
    /// Where imported kernel files are looked for.
    pub include: Vec<PathBuf>,
    /// The lock file that `ttc tune` writes.
    pub lock: PathBuf,
    pub line_info: bool,
    pub fp_fusion: bool,
    pub retry: bool,
    /// Which loads of tiles become copies by hardware, in kernels that say nothing. If this says nothing either,
    /// launchers make tensor maps ([`Tma::Host`]) on `sm_90a`, but for kernels that Triton's launchers run.
    pub tma: Option<Tma>,
}

impl Default for Build {
    fn default() -> Build {
        Build {
            root: PathBuf::new(),
            out: "out".into(),
            archs: vec![],
            emit: vec!["cubin".to_owned()],
            module: "kernels".to_owned(),
            embed: true,
            include: vec![],
            lock: lock::NAME.into(),
            line_info: true,
            fp_fusion: true,
            retry: true,
            tma: None,
        }
    }
}

/// A table `[kernel.NAME]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    pub file: PathBuf,
    /// The function in the file, if it has another name.
    pub function: Option<String>,
    /// Where imported kernel files are looked for, before the folders of `[build]`.
    #[serde(default)]
    pub include: Vec<PathBuf>,
    /// Types of all parameters in their order.
    pub signature: Option<String>,
    /// Types by the names of parameters, or by patterns of names.
    #[serde(default)]
    pub types: BTreeMap<String, String>,
    /// Values of compile-time parameters.
    #[serde(default)]
    pub constants: BTreeMap<String, Constant>,
    pub num_warps: Option<u32>,
    pub num_stages: Option<u32>,
    pub num_ctas: Option<u32>,
    pub maxnreg: Option<u32>,
    pub matrix_instr_nonkdim: Option<u32>,
    pub kpack: Option<u32>,
    pub waves_per_eu: Option<u32>,
    /// How many programs a launch has, over arguments and constants.
    pub grid: Option<String>,
    /// Configurations of `@triton.autotune`.
    #[serde(default)]
    pub config: Configs,
    pub archs: Option<Vec<String>>,
    /// Whether to keep assertions and to check integers for overflow.
    #[serde(default)]
    pub debug: bool,
    /// Whether to append the two hidden parameters that Triton's launchers pass.
    #[serde(default)]
    pub triton_abi: bool,
    pub tma: Option<Tma>,
    /// Whether the configurations that the lock file names as best are built.
    #[serde(default)]
    pub tuned: Tuned,
    /// Specialisations by name. Without any, the kernel is compiled once.
    #[serde(default)]
    pub variant: BTreeMap<String, Specialization>,
}

/// A table `[kernel.NAME.variant.NAME]`: what is said in it wins over what the kernel says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Specialization {
    /// Types by the names of parameters, or by patterns of names.
    pub types: BTreeMap<String, String>,
    /// Values of compile-time parameters.
    pub constants: BTreeMap<String, Constant>,
    pub num_warps: Option<u32>,
    pub num_stages: Option<u32>,
    pub num_ctas: Option<u32>,
    pub maxnreg: Option<u32>,
    pub matrix_instr_nonkdim: Option<u32>,
    pub kpack: Option<u32>,
    pub waves_per_eu: Option<u32>,
}

/// A value in the kernel's language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant(pub String);

impl<'de> Deserialize<'de> for Constant {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Constant, D::Error> {
        Ok(Constant(match toml::Value::deserialize(from)? {
            toml::Value::String(text) => text,
            toml::Value::Integer(n) => n.to_string(),
            toml::Value::Float(x) if x.is_finite() => format!("{x:?}"),
            toml::Value::Float(x) => format!("float('{x}')"),
            toml::Value::Boolean(true) => "True".to_owned(),
            toml::Value::Boolean(false) => "False".to_owned(),
            other => {
                let what = other.type_str();
                return Err(de::Error::custom(format!("expected a number, a truth value or a text, found {what}")));
            }
        }))
    }
}

/// Which configurations of a kernel are compiled.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Configs {
    /// None of them: the kernel's own values.
    #[default]
    None,
    /// These, by their numbers.
    These(Vec<usize>),
    All,
}

impl<'de> Deserialize<'de> for Configs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Configs, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            One(usize),
            Some(Vec<usize>),
            Word(String),
        }
        match Form::deserialize(from) {
            Ok(Form::One(n)) => Ok(Configs::These(vec![n])),
            Ok(Form::Some(list)) if list.is_empty() => Err(de::Error::custom("the list names no configuration")),
            Ok(Form::Some(list)) => Ok(Configs::These(list)),
            Ok(Form::Word(word)) if word == "all" => Ok(Configs::All),
            _ => Err(de::Error::custom("expected a number, a list of numbers, or \"all\"")),
        }
    }
}

/// Which entries of the lock file count.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Tuned {
    #[default]
    No,
    /// Those for the kernel's architectures.
    Yes,
    /// Those for the GPU of this name.
    For(String),
}

impl<'de> Deserialize<'de> for Tuned {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Tuned, D::Error> {
        match toml::Value::deserialize(from)? {
            toml::Value::Boolean(yes) => Ok(if yes { Tuned::Yes } else { Tuned::No }),
            toml::Value::String(device) => Ok(Tuned::For(device)),
            _ => Err(de::Error::custom("expected a truth value, or the name of a GPU")),
        }
    }
}

/// Reads the text of a manifest that is in the map.
///
/// # Errors
/// `E0950` at the place of what is wrong.
pub fn read(sources: &SourceMap, file: FileId) -> Result<Manifest, Diagnostic> {
    let text = &sources.file(file).text;
    let manifest: Manifest = toml::from_str(text).map_err(|e| {
        let range = e.span().unwrap_or(0..0);
        error(file, range, e.message().to_owned())
    })?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for name in manifest.kernel.keys().chain(manifest.kernel.values().flat_map(|k| k.variant.keys())) {
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || !name.chars().all(plain) {
            let at = text.find(name.as_str()).unwrap_or(0);
            let message = format!("`{name}` cannot be a name: names consist of letters from a to z, digits and `_`");
            return Err(error(file, at..at + name.len(), message));
        }
    }
    if manifest.kernel.contains_key("_") {
        let spelt = ["kernel._]", "kernel._.", "\"_\"", "'_'"].iter().find_map(|s| Some((text.find(s)?, s.len() - 1)));
        let (at, length) = spelt.unwrap_or_default();
        let message = "`_` cannot be a kernel's name: PTX has no such name".to_owned();
        return Err(error(file, at..at + length, message)
            .help("give the table another name, and name the function with `function`"));
    }
    if manifest.kernel.is_empty() {
        return Err(error(file, 0..0, "the manifest names no kernel".to_owned())
            .help("add a table such as `[kernel.add]` with `file = \"add.py\"`"));
    }
    Ok(manifest)
}

fn error(file: FileId, range: std::ops::Range<usize>, message: String) -> Diagnostic {
    let span = Span { file, lo: range.start as u32, hi: range.end as u32 };
    // A message about an unknown word lists those that are known: "unknown field `a`, expected one of `b`, `c`".
    let mut words = message.split('`').skip(1).step_by(2);
    let help = words.next().filter(|_| message.starts_with("unknown ")).and_then(|word| did_you_mean(word, words));
    help.into_iter().fold(Diagnostic::error(&BAD_MANIFEST, &*message).at(span, ""), Diagnostic::help)
}
