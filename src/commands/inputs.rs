//! What `compile` and `check` are asked for: the inputs, and which kernels of them in which variants.
//!
//! A case file stands for its kernel file. What it says of types, compile-time values and the launch becomes the
//! input's preset, so that a kernel is compiled as `ttc interpret` ran it. Options of the command line win over it.

use std::path::Path;

use ttc::cases::Folder;
use ttc::diag::{Diagnostic, codes};
use ttc::driver::input::{self, Input};
use ttc::driver::request::Choice;
use ttc::driver::{JobOptions, Variant, request};
use ttc::source::SourceMap;
use ttc::target::{AmdOptions, Target};

use crate::args::KernelArgs;

/// Reads all inputs.
pub(super) fn read_all(k: &KernelArgs, sources: &mut SourceMap) -> Result<Vec<Input>, Vec<Diagnostic>> {
    let is_case = |path: &Path| path.extension().is_some_and(|e| e == "toml");
    let (mut inputs, mut errors) = (vec![], vec![]);
    for file in &k.files {
        let read =
            if is_case(file) { case(k, file, sources) } else { input::read(sources, file, None).map_err(|d| vec![d]) };
        match read {
            Ok(input) => inputs.push(input),
            Err(e) => errors.extend(e),
        }
    }
    if let Some((name, _)) = k.param.first().filter(|_| !k.files.iter().any(|f| is_case(f))) {
        errors.push(bad(format!("`--param {name}=…` needs a case file (.toml) among the inputs")));
    }
    if errors.is_empty() { Ok(inputs) } else { Err(errors) }
}

/// Reads a case file and the kernel file that it is about.
fn case(k: &KernelArgs, file: &Path, sources: &mut SourceMap) -> Result<Input, Vec<Diagnostic>> {
    let shown = file.display();
    let refuse = |option: &str, help: &str| Err(vec![bad(format!("`{option}`: `{shown}` is a case file, {help}"))]);
    if k.kernel.len() > 1 {
        return refuse("-k", "and a case is about one kernel");
    }
    if !k.signature.is_empty() {
        return refuse("--signature", "which gives the types: `--type` changes one of them");
    }
    if k.config.is_some() {
        return refuse("--config", "which gives the values: `-D` or `--param` changes one of them");
    }
    let mut folder = Folder { sources: std::mem::take(sources), include: k.include.clone() };
    let loaded = folder.load_for(file, k.kernel.first().map(String::as_str));
    *sources = folder.sources;
    let loaded = loaded?;
    let mut config = loaded.case.default_config();
    for (name, value) in &k.param {
        loaded.case.set(&mut config, name, value).map_err(|d| vec![d])?;
    }
    let preset = loaded.case.preset(&loaded.kernel, &config)?;
    Ok(Input { preset, ..loaded.input })
}

/// The names of the parameters of the case files among the inputs.
pub(super) fn case_params(k: &KernelArgs, sources: &mut SourceMap) -> Result<Vec<String>, Vec<Diagnostic>> {
    let mut names = vec![];
    for file in k.files.iter().filter(|f| f.extension().is_some_and(|e| e == "toml")) {
        let mut folder = Folder { sources: std::mem::take(sources), include: k.include.clone() };
        let loaded = folder.load_for(file, k.kernel.first().map(String::as_str));
        *sources = folder.sources;
        names.extend(loaded?.case.params.iter().map(|(name, _)| name.clone()));
    }
    Ok(names)
}

/// The options of a run that stand in [`KernelArgs`].
pub(super) fn options(k: &KernelArgs) -> Result<JobOptions, Vec<Diagnostic>> {
    let options = JobOptions {
        signature: k.signature.first().filter(|_| k.signature.len() == 1).cloned(),
        types: k.types.clone(),
        defines: k.define.clone(),
        include: k.include.clone(),
        num_warps: k.num_warps,
        num_stages: k.num_stages,
        num_ctas: k.num_ctas,
        pipelining: k.pipeline,
        amd: AmdOptions { matrix_instr_nonkdim: k.matrix_instr_nonkdim, kpack: k.kpack, waves_per_eu: k.waves_per_eu },
        ..JobOptions::default()
    };
    request::check_options(&options)?;
    Ok(options)
}

/// The choice of kernels. Without a name, it is all of them if `all` says so.
pub(super) fn choice(k: &KernelArgs, all: bool, targets: Vec<Target>) -> Result<Choice, Vec<Diagnostic>> {
    let mut variants = Variant::of_signatures(&k.signature);
    if let (true, Some(variant)) = (!variants.is_empty(), k.variant.first()) {
        let message =
            format!("`--variant {variant}` cannot go with several `--signature`, which are variants themselves");
        return Err(vec![bad(message).help("give one signature, or the types of each variant")]);
    }
    for text in &k.variant {
        variants.push(Variant::parse(text).map_err(|d| vec![d])?);
    }
    Ok(Choice { kernels: k.kernel.clone(), all, config: k.config, variants, targets })
}

fn bad(message: String) -> Diagnostic {
    Diagnostic::error(&codes::cli::BAD_OPTION, message)
}
