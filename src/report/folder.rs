//! Reads what a compiler left in a folder: the stages by their extensions, and the metadata.
//!
//! 1. `.ttir`, `.ttgir`, `.llir`, `.ptx` or `.amdgcn`, `.cubin` or `.hsaco`, and `.json`, as Triton's cache and
//!    `ttc compile --emit` write them. Where several files have one extension, that of the kernel is taken.
//! 2. The device is that of the TTGIR module (`ttg.target`), of the assembly (`.target`) or of the metadata.
//! 3. The binary is disassembled, with its source lines.
//!
//! Example: Triton's cache has `add_kernel.ttgir`, `add_kernel.cubin` and `add_kernel.json` in one folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::side::Texts;
use crate::backend::{self, Stage};
use crate::diag::{Diagnostic, codes::cli};
use crate::driver::metadata::Metadata;
use crate::target::{Target, targets};
use crate::text_file;

/// What is in a folder.
pub(super) struct Folder {
    pub(super) target: Target,
    pub(super) texts: Texts,
    pub(super) metadata: Metadata,
}

/// Reads a folder. `kernel` is the kernel that is looked for.
///
/// # Errors
/// `E0910` where nothing of a compilation is there, or several of it; what is wrong with a file, or with the tool that
/// takes a binary apart.
pub(super) fn read(path: &Path, kernel: &str) -> Result<Folder, Diagnostic> {
    let files = files(path, kernel)?;
    let text = |names: &[&str]| {
        let found = names.iter().find_map(|n| files.get(*n));
        found.map_or(Ok(String::new()), |f| text_file::read_plain_file(f))
    };
    let (ttgir, assembly, json) = (text(&["ttgir"])?, text(&["ptx", "amdgcn"])?, text(&["json"])?);
    let json: Value = serde_json::from_str(&json).unwrap_or(Value::Null);
    let target = target(&ttgir, &assembly, &json).ok_or_else(|| {
        let said = format!("`{}` does not say which GPU it is for", path.display());
        bad(&said).help("its TTGIR has `ttg.target`, its PTX `.target`, its metadata `target`")
    })?;
    let mut texts = Texts { ttir: text(&["ttir"])?, ttgir, llir: text(&["llir"])?, assembly, ..Texts::default() };
    let mut metadata = described(&json, kernel, &target);
    if let Some(file) = ["cubin", "hsaco"].iter().find_map(|n| files.get(*n)) {
        let listed = backend::listing(&target, &texts.assembly, &binary(file)?, Some(Duration::from_mins(1)))?;
        (texts.listing, texts.lives) = (listed.text, listed.lives);
        metadata.registers = metadata.registers.or(listed.registers);
    }
    Ok(Folder { target, texts, metadata })
}

fn bad(text: &str) -> Diagnostic {
    Diagnostic::error(&cli::BAD_OPTION, format!("`--against`: {text}"))
}

fn binary(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    std::fs::read(path).map_err(|e| bad(&format!("`{}` cannot be read: {}", path.display(), text_file::plain(&e))))
}

/// The files by their extensions, those of a compilation alone.
fn files(path: &Path, kernel: &str) -> Result<BTreeMap<String, PathBuf>, Diagnostic> {
    let entries = std::fs::read_dir(path)
        .map_err(|e| bad(&format!("`{}` cannot be read: {}", path.display(), text_file::plain(&e))))?;
    let mut all: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for entry in entries.filter_map(Result::ok) {
        let file = entry.path();
        let extension = file.extension().and_then(|e| e.to_str()).unwrap_or_default().to_owned();
        if (extension == "json" || Stage::find(&extension).is_some()) && file.is_file() {
            all.entry(extension).or_default().push(file);
        }
    }
    if !all.keys().any(|extension| extension != "json") {
        let said = format!("`{}` has no stage of a compilation", path.display());
        return Err(bad(&said).help("it has files such as `add.ttgir`, `add.ptx` or `add.cubin`"));
    }
    let stem = |p: &Path| p.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_owned();
    let mut taken = BTreeMap::new();
    for (extension, mut files) in all {
        files.sort();
        let named = files.iter().find(|f| stem(f) == kernel).cloned();
        match (named, files.as_slice()) {
            (Some(file), _) => drop(taken.insert(extension, file)),
            (None, [file]) => drop(taken.insert(extension, file.clone())),
            // Metadata of groups of kernels lie beside them.
            (None, _) if extension == "json" => {}
            (None, [first, ..]) => {
                let name = first.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let said = format!(
                    "`{}` has {} files like `{name}`, and none is called `{kernel}.{extension}`",
                    path.display(),
                    files.len()
                );
                return Err(bad(&said).help("name a folder with one compilation"));
            }
            (None, []) => {}
        }
    }
    Ok(taken)
}

/// The device that texts are for.
fn target(ttgir: &str, assembly: &str, json: &Value) -> Option<Target> {
    let quoted =
        |text: &str, word: &str| text.split_once(word).and_then(|(_, rest)| rest.split('"').nth(1).map(str::to_owned));
    let of_assembly = assembly.lines().find_map(|l| l.trim().strip_prefix(".target "));
    let of_assembly = of_assembly.map(|t| t.split([',', ' ', ';']).next().unwrap_or(t).to_owned());
    // The assembly knows the variant; Triton's word stands for the one with all instructions.
    let of_assembly = of_assembly
        .or_else(|| quoted(assembly, ".amdgcn_target").and_then(|t| Some(t.rsplit_once("--")?.1.to_owned())));
    let by_name = |name: String| targets().find(|t| t.name == name.split(':').next().unwrap_or(&name)).copied();
    let of_json = || {
        let t = json.get("target")?;
        let arch = t.get("arch")?;
        let arch = arch.as_u64().map_or_else(|| arch.as_str().unwrap_or_default().to_owned(), |n| n.to_string());
        Target::of_module_word(&format!("{}:{arch}", t.get("backend")?.as_str()?))
    };
    of_assembly
        .and_then(by_name)
        .or_else(|| Target::of_module_word(&quoted(ttgir, "ttg.target")?))
        .or_else(|| by_name(json.get("arch")?.as_str()?.to_owned()))
        .or_else(of_json)
}

/// What the metadata say, in Triton's words or in ttc's, which are the same for what both have.
fn described(json: &Value, kernel: &str, target: &Target) -> Metadata {
    let number = |name: &str| json.get(name).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    let word = |name: &str| json.get(name).and_then(Value::as_str).map(str::to_owned);
    let version = word("triton_version").map(|v| format!("Triton {v}"));
    Metadata {
        name: word("name").unwrap_or_else(|| kernel.to_owned()),
        arch: target.name.to_owned(),
        num_warps: number("num_warps"),
        num_stages: number("num_stages"),
        num_ctas: number("num_ctas"),
        shared: number("shared"),
        registers: number("registers"),
        spills: number("spills"),
        compiler: word("compiler").or(version).unwrap_or_default(),
        ..Metadata::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_device_is_found_in_texts_and_metadata() {
        let name = |ttgir, ptx, meta| target(ttgir, ptx, &json(meta)).map(|t| t.name);
        let module = "module attributes {ttg.target = \"cuda:90\"} {}";
        assert_eq!(name(module, "", "{}"), Some("sm_90a"));
        // PTX knows better which variant it is.
        assert_eq!(name(module, ".version 8.0\n.target sm_90, debug\n", "{}"), Some("sm_90"));
        assert_eq!(name("", "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942:sramecc+\"\n", "{}"), Some("gfx942"));
        assert_eq!(
            name("", "", "{\"target\": {\"backend\": \"cuda\", \"arch\": 80, \"warp_size\": 32}}"),
            Some("sm_80")
        );
        assert_eq!(name("", "", "{\"target\": {\"backend\": \"hip\", \"arch\": \"gfx942\"}}"), Some("gfx942"));
        assert_eq!(name("", "", "{\"arch\": \"sm_90a\"}"), Some("sm_90a"));
        assert_eq!(name("", "", "null"), None);
    }

    #[test]
    fn the_files_of_the_kernel_are_taken_where_there_are_several() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), "").unwrap();
        assert!(files(folder.path(), "k").unwrap_err().message.contains("has no stage"));
        ["a.ttgir", "k.ttgir", "a.ptx", "__grp__k.json", "k.json"].into_iter().for_each(write);
        let found = files(folder.path(), "k").unwrap();
        let names: Vec<String> =
            found.values().map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect();
        assert_eq!(names, ["k.json", "a.ptx", "k.ttgir"]);
        write("b.ptx");
        let error = files(folder.path(), "k").unwrap_err();
        assert!(error.message.contains("2 files like `a.ptx`"), "{}", error.message);
    }
}
