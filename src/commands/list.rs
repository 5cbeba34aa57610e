//! `ttc list`: the kernels of files, as text, as JSON, or as commands, case files and manifests to begin with.

use std::fmt::Write as _;
use std::path::Path;

use ttc::Diagnostics;
use ttc::cases::template::template;
use ttc::diag::{Diagnostic, Place, codes, shell_word, suggest};
use ttc::irgen::{KernelInfo, KernelParam, Kind, Source};
use ttc::source::SourceMap;
use ttc::target::Target;

use super::Report;
use crate::args::List;

pub(crate) fn list(l: &List) -> Report {
    // A listing shows nothing of the target.
    let compiler = ttc::Compiler::new(Target::usual());
    let options = l.include.iter().fold(ttc::Options::new(), ttc::Options::include);
    let (mut texts, mut diagnostics, mut known): (Vec<String>, _, Vec<KernelInfo>) =
        (vec![], Diagnostics::default(), vec![]);
    for file in &l.files {
        let listing = compiler.list(&ttc::Source::file(file), &options);
        diagnostics.extend(listing.diagnostics);
        let wanted =
            |k: &&KernelInfo| if l.kernel.is_empty() { k.entry } else { l.kernel.iter().any(|n| k.is_called(n)) };
        for kernel in listing.kernels.iter().filter(wanted) {
            texts.push(match l {
                List { json: true, .. } => json(file, kernel),
                List { template: true, .. } => beginning(file, kernel),
                List { manifest: true, .. } => table(file, kernel),
                _ => line(file, kernel),
            });
        }
        known.extend(listing.kernels);
    }
    let names: Vec<String> = known.iter().map(|k| k.name.clone()).collect();
    let unknown = l.kernel.iter().filter(|n| known.iter().all(|k| !k.is_called(n)));
    let unknown = unknown.map(|n| no_kernel(n, &l.files[0], &names));
    diagnostics.push(unknown.collect(), SourceMap::default());
    let between = if l.template || l.manifest { "\n" } else { "" };
    let text = texts.into_iter().map(|t| format!("{t}\n")).collect::<Vec<_>>().join(between);
    Report { diagnostics, ..Report::text(text) }
}

fn no_kernel(name: &str, file: &Path, known: &[String]) -> Diagnostic {
    let error = Diagnostic::error(&codes::names::UNKNOWN_KERNEL, format!("there is no kernel `{name}`"))
        .at(Place::File(file.to_string_lossy().into_owned()), "");
    match suggest::did_you_mean(name, known.iter().map(String::as_str)) {
        Some(help) => error.help(help),
        None => error.help("`ttc list FILE` shows the kernels of a file"),
    }
}

/// `add.tk:6: vector_add(x_ptr: *fp32:16, n, BLOCK: constexpr = 1024)   needs n`, and a line for each configuration.
fn line(file: &Path, k: &KernelInfo) -> String {
    let param = |p: &KernelParam| {
        let ty = p.ty.as_ref().map_or_else(String::new, |t| format!(": {t}"));
        let value = p.value.as_ref().map_or_else(String::new, |v| format!(" = {v}"));
        let source = p.source.map_or_else(String::new, |s| format!(" ({})", s.word()));
        format!("{}{ty}{value}{source}", p.name)
    };
    let params: Vec<String> = k.params.iter().map(param).collect();
    let by_config = |p: &&KernelParam| p.source == Some(Source::Config);
    let mut needed: Vec<&str> =
        k.params.iter().filter(|p| p.needed && !by_config(p)).map(|p| p.name.as_str()).collect();
    if k.params.iter().filter(|p| p.needed).any(|p| by_config(&p)) {
        needed.push("--config");
    }
    let needs = if needed.is_empty() { String::new() } else { format!("   needs {}", needed.join(", ")) };
    let mut text = format!("{}:{}: {}({}){needs}", file.display(), k.line, k.name, params.join(", "));
    match &k.configs {
        Ok(configs) => configs.iter().for_each(|c| _ = write!(text, "\n    --config {}: {c}", c.index)),
        Err(why) => _ = write!(text, "\n    {}", why.message),
    }
    text
}

fn json(file: &Path, k: &KernelInfo) -> String {
    let param = |p: &KernelParam| {
        serde_json::json!({
            "name": p.name,
            "kind": p.kind.word(),
            "annotation": p.annotation,
            "type": p.ty,
            "value": p.value,
            "source": p.source.map(Source::word),
            "needed": p.needed,
            "guess": p.guess,
        })
    };
    let params: Vec<_> = k.params.iter().map(param).collect();
    let configs = k.configs.as_ref().ok();
    let command = command(file, k);
    let file = file.to_string_lossy();
    let kernel = serde_json::json!({
        "file": file, "line": k.line, "name": k.name, "params": params, "configs": configs,
        "heuristics": k.heuristics, "command": command,
    });
    kernel.to_string()
}

/// The command that compiles a kernel, with guesses for what its file leaves open.
fn command(file: &Path, k: &KernelInfo) -> String {
    let mut words = vec!["ttc compile".to_owned(), shell_word(&file.to_string_lossy()), format!("-k {}", k.name)];
    words.extend(k.template.options());
    words.join(" ")
}

/// The table of a kernel in a manifest, with guesses for what its file leaves open.
fn table(file: &Path, k: &KernelInfo) -> String {
    let text = |text: &str| toml::Value::from(text).to_string();
    let mut out = format!("[kernel.{}]\nfile = {}\n", k.name, text(&file.to_string_lossy()));
    let pairs = |all: &[(String, String)]| {
        all.iter().map(|(name, value)| format!("{} = {}", text(name), text(value))).collect::<Vec<_>>().join(", ")
    };
    for (key, all) in [("types", &k.template.types), ("constants", &k.template.values)] {
        if !all.is_empty() {
            _ = writeln!(out, "{key} = {{ {} }} # guesses, to be corrected", pairs(all));
        }
    }
    if k.template.config {
        out.push_str("config = 0 # or \"all\"\n");
    }
    out.push_str("# grid = \"cdiv(n, BLOCK)\"\n");
    out.trim_end().to_owned()
}

/// A case file for a kernel, whose comments say how to compile and how to run it.
fn beginning(file: &Path, k: &KernelInfo) -> String {
    let name = file.file_name().map_or_else(|| "-".into(), |n| n.to_string_lossy());
    let case = format!("{}.toml", k.name);
    let guessed: Vec<&str> = k.params.iter().filter(|p| p.guess.is_some()).map(|p| p.name.as_str()).collect();
    let guesses = match guessed.as_slice() {
        [] => "nothing".to_owned(),
        all => all.join(", "),
    };
    let runtime = k.params.iter().any(|p| p.guess.is_some() && p.kind != Kind::Constexpr);
    let hint = if runtime {
        "# Where a value is always a multiple of 16, `:16` behind its type makes faster code.\n"
    } else {
        ""
    };
    format!(
        "# {shown}:{line}: {kernel}\n#\n# This command compiles it:\n#\n#     {command}\n#\n# What is guessed, and is to be corrected: {guesses}.\n{hint}#\n\
         # The rest is a case file, whose sizes, grid and contents are guesses as well. Saved as `{case}` beside\n\
         # `{name}`, it is run by `ttc interpret {case}` and compiled by `ttc compile {case}`.\n\n{text}",
        shown = one_line(&file.to_string_lossy()),
        line = k.line,
        kernel = k.name,
        name = one_line(&name),
        command = one_line(&command(file, k)),
        text = template(k, &name).trim_end(),
    )
}

/// A text for a comment, without characters that would end it.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, "?")
}
