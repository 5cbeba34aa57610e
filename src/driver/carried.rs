//! The metadata line. It carries what the text of a stage cannot say itself, in a comment, so that a stage file is
//! complete.
//!
//! 1. Every stage's text ends in a comment: `// ttc.metadata: {…}`, in LLVM IR `; ttc.metadata: {…}`. Triton, LLVM and
//!    ptxas skip it.
//! 2. It holds what is known when the stage is written ([`Carried`]): the names and divisors of parameters, the values
//!    of compile-time parameters, and the options that later stages still use. It is JSON on one line.
//! 3. A compilation that starts from the text reads it ([`find`]). What the text itself says wins over the line,
//!    because someone may have changed the text.
//! 4. The line belongs to the kernel that it names, and counts for no other. `ttc opt` writes none, since passes may
//!    change what it says.
//! 5. LLVM and ptxas get the text [`without`] it, so that it cannot reach their output.
//!
//! Example: `// ttc.metadata: {"kernel":"add","arch":"sm_90a","num_warps":4,…}`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::job::JobOptions;
use super::metadata::{Metadata, Param, TensorDesc};
use crate::backend::Stage;
use crate::diag::codes::cli;
use crate::diag::{Diagnostic, Place};
use crate::irgen::{ConfigInfo, Given, Launch, LaunchFault};
use crate::launch::Descriptor;
use crate::target::AmdOptions;

/// What starts the line, behind the comment sign.
const MARK: &str = "ttc.metadata: ";

/// The facts that are carried. A field that is missing was not known yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
#[serde(default)]
pub(super) struct Carried {
    pub(super) kernel: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) variant: Option<String>,
    pub(super) arch: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) num_warps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) num_stages: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) num_ctas: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) maxnreg: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) matrix_instr_nonkdim: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kpack: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) waves_per_eu: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shared: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) global_scratch_size: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) global_scratch_align: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hidden_params: Option<u32>,
    pub(super) params: Vec<Param>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tensordesc_meta: Vec<TensorDesc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) constants: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) config: Option<ConfigInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) grid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) launch: Option<Descriptor>,
    /// Those of `--no-fp-fusion`, `--no-retry`, `--no-line-info` and `--triton-abi` that were given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) options: Vec<String>,
}

impl Carried {
    /// Collects what is known of a kernel at a stage.
    fn of(metadata: &Metadata, options: &JobOptions) -> Carried {
        let m = metadata.clone();
        let flags = FLAGS.iter().filter(|(_, get, _)| get(options));
        Carried {
            kernel: m.name,
            variant: m.variant,
            arch: m.arch,
            num_warps: m.num_warps,
            num_stages: m.num_stages,
            num_ctas: m.num_ctas,
            maxnreg: m.maxnreg,
            matrix_instr_nonkdim: m.matrix_instr_nonkdim,
            kpack: m.kpack,
            waves_per_eu: m.waves_per_eu,
            shared: m.shared,
            global_scratch_size: m.global_scratch_size,
            global_scratch_align: m.global_scratch_align,
            hidden_params: m.hidden_params,
            params: m.params,
            tensordesc_meta: m.tensordesc_meta,
            constants: m.constants,
            config: m.config,
            grid: options.grid.clone(),
            launch: m.launch,
            options: flags.map(|(word, ..)| (*word).to_owned()).collect(),
        }
    }

    /// What is known of the launch.
    pub(super) fn given(&self) -> Given {
        let Carried { num_warps, num_stages, num_ctas, maxnreg, matrix_instr_nonkdim, kpack, waves_per_eu, .. } = *self;
        let amd = AmdOptions { matrix_instr_nonkdim, kpack, waves_per_eu };
        Given { num_warps, num_stages, num_ctas, maxnreg, amd }
    }

    /// Sets the options that were given when the text was made.
    pub(super) fn set_options(&self, options: &mut JobOptions) {
        options.grid = options.grid.take().or_else(|| self.grid.clone());
        for (_, _, set) in FLAGS.iter().filter(|(word, ..)| self.options.iter().any(|o| o == word)) {
            set(options);
        }
    }
}

type Flag = (&'static str, fn(&JobOptions) -> bool, fn(&mut JobOptions));

/// Options of code generation that have no place in the metadata: the word, how to ask whether it was given, and how to
/// set it.
const FLAGS: [Flag; 4] = [
    ("no-fp-fusion", |o| !o.fp_fusion, |o| o.fp_fusion = false),
    ("no-retry", |o| !o.retry, |o| o.retry = false),
    ("no-line-info", |o| !o.line_info, |o| o.line_info = false),
    ("triton-abi", |o| o.triton_abi, |o| o.triton_abi = true),
];

/// Adds the metadata line to a stage's text.
pub(super) fn append(mut text: String, stage: Stage, metadata: &Metadata, options: &JobOptions) -> String {
    let sign = if stage == Stage::Llir { ";" } else { "//" };
    let json =
        serde_json::to_string(&Carried::of(metadata, options)).expect("what is carried holds strings and numbers only");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("{sign} {MARK}{json}\n"));
    text
}

/// The JSON of a line, if it is one that [`append`] writes.
fn json_of(line: &str) -> Option<&str> {
    line.strip_prefix("//").or_else(|| line.strip_prefix(';'))?.strip_prefix(' ')?.strip_prefix(MARK)
}

/// What a text carries of a kernel, or of the first one where no name is given.
///
/// # Errors
/// `E0931` when a line cannot be read.
pub(super) fn find(text: &str, kernel: Option<&str>, file: &str) -> Result<Option<Carried>, Diagnostic> {
    for (index, line) in text.lines().enumerate() {
        let Some(json) = json_of(line) else { continue };
        let carried = read(json).map_err(|why| {
            let place = Place::At { file: file.to_owned(), line: index as u32 + 1, col: 1 };
            Diagnostic::error(&cli::BAD_METADATA, format!("the metadata line cannot be read: {why}"))
                .at(place, "")
                .help("remove the line: what it says is then read from the text, or left open in the metadata")
        })?;
        if kernel.is_none_or(|k| k == carried.kernel) {
            return Ok(Some(carried));
        }
    }
    Ok(None)
}

/// Reads the JSON of a line. Its options of the launch must be possible ones.
fn read(json: &str) -> Result<Carried, String> {
    let carried: Carried = serde_json::from_str(json)
        .map_err(|e| e.to_string().split(" at line ").next().unwrap_or_default().to_owned())?;
    let launch = carried.given().over(Launch::default());
    match launch.faults().first().or(launch.amd_faults().first()) {
        Some(LaunchFault { name, value, expected, .. }) => Err(format!("{name} is {value}, expected {expected}")),
        None => Ok(carried),
    }
}

/// The text without metadata lines. The other lines keep their numbers.
pub(super) fn without(text: &str) -> String {
    let mut kept: Vec<&str> = text.split_inclusive('\n').map(|l| if json_of(l).is_some() { "\n" } else { l }).collect();
    if text.lines().next_back().is_some_and(|l| json_of(l).is_some()) {
        kept.pop();
    }
    kept.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Metadata {
        let param = |name: &str, ty: &str, divisibility| Param {
            name: name.into(),
            ty: ty.into(),
            divisibility: Some(divisibility),
            equals: None,
        };
        Metadata {
            name: "add".into(),
            arch: "sm_80".into(),
            num_warps: Some(8),
            params: vec![
                param("x", "*fp32", 16),
                param("n\n\u{e9}\"", "i32", 1),
                Param { equals: Some(1), ..param("s", "i64", 1) },
            ],
            constants: Some([("SCALE".to_owned(), "0.1".to_owned())].into()),
            ..Metadata::default()
        }
    }

    #[test]
    fn what_is_appended_is_found_again() {
        let options = JobOptions { fp_fusion: false, ..JobOptions::default() };
        for (stage, sign) in [(Stage::Ttir, "// "), (Stage::Llir, "; "), (Stage::Assembly, "// ")] {
            let text = append("a\nb".to_owned(), stage, &metadata(), &options);
            assert!(
                text.starts_with(&format!("a\nb\n{sign}{MARK}{{"))
                    && text.ends_with("}\n")
                    && text.lines().count() == 3,
                "{text}"
            );
            let found = find(&text, Some("add"), "f").unwrap().unwrap();
            assert_eq!(found, Carried::of(&metadata(), &options));
            let mut again = JobOptions::default();
            found.set_options(&mut again);
            assert!(!again.fp_fusion && again.line_info && !again.triton_abi);
            assert_eq!(find(&text, Some("other"), "f").unwrap(), None);
            assert_eq!(without(&text), "a\nb\n");
            assert_eq!(without(&format!("{text}c\n")), "a\nb\n\nc\n", "lines keep their numbers");
        }
    }

    #[test]
    fn a_line_that_is_no_json_is_an_error_with_its_place() {
        let error = find("module {}\n// ttc.metadata: {\"kernel\":1}\n", None, "a.ttir").unwrap_err();
        assert_eq!(error.code.id, "E0931");
        assert_eq!(error.place(), Some(&Place::At { file: "a.ttir".into(), line: 2, col: 1 }));
        let error = find("// ttc.metadata: {\"num_warps\":3}\n", None, "a.ttir").unwrap_err();
        assert!(error.message.contains("num_warps is 3, expected a power of two"), "{}", error.message);
        assert_eq!(find("// ttc.metadata\n//ttc.metadata: {}\n// metadata", None, "f").unwrap(), None);
    }
}
