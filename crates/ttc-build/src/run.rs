//! Finds `ttc`, has it build a manifest, and takes what it made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Built, Error};

/// The name of what `ttc` makes of all kernels together.
const MODULE: &str = "launchers";

/// The program to run: the one that is given, or `TTC`, or the first in `PATH`.
pub(crate) fn find(given: Option<&Path>) -> Result<PathBuf, Error> {
    let named = given.map(Path::to_owned).or_else(|| std::env::var_os("TTC").filter(|v| !v.is_empty()).map(Into::into));
    if let Some(path) = named {
        return if path.is_file() {
            Ok(path)
        } else {
            Err(Error(format!("there is no program `{}`: the variable TTC must name the program ttc", path.display())))
        };
    }
    let program = format!("ttc{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(&program)).find(|path| path.is_file()).ok_or_else(|| {
        Error("the program ttc was not found: put it into a folder of PATH, or let the variable TTC name it".to_owned())
    })
}

/// Has `ttc` build a manifest into `kept`, and copies the launchers to `launchers`.
pub(crate) fn build(
    ttc: &Path,
    manifest: &Path,
    archs: &[String],
    kept: &Path,
    launchers: &Path,
) -> Result<Built, Error> {
    let mut command = Command::new(ttc);
    command.arg("build").arg(manifest).args(["--emit", "rust", "--module", MODULE, "--color", "never", "--out-dir"]);
    command.arg(kept);
    if !archs.is_empty() {
        command.args(["--arch", &archs.join(",")]);
    }
    let made = command.output().map_err(|e| cannot("run", ttc, &e))?;
    if !made.status.success() {
        return Err(refused(ttc, &made));
    }
    let mut watch = vec![ttc.to_owned(), manifest.to_owned()];
    watch.extend(sources(&kept.join(format!("{MODULE}.json")))?);
    let printed = kept.join(format!("{MODULE}.rs"));
    let text = fs::read_to_string(&printed).map_err(|e| cannot("read", &printed, &e))?;
    let folder = kept.file_name().unwrap_or_default().to_string_lossy();
    put(launchers, from_beside(&text, &folder).as_bytes())?;
    let said = String::from_utf8_lossy(&made.stdout).trim_end().to_owned();
    let warnings = String::from_utf8_lossy(&made.stderr).trim_end().to_owned();
    Ok(Built { watch, said, warnings })
}

/// The launchers for a place beside the folder that they were printed into. Where a manifest says `embed = false`, they
/// read the code from files of that folder.
fn from_beside(text: &str, folder: &str) -> String {
    let folder = folder.escape_default();
    let line = |line: &str| match line.split_once("include_bytes!(\"") {
        Some((before, file)) if before.trim_start().starts_with("static IMAGE_") => {
            format!("{before}include_bytes!(\"{folder}/{file}")
        }
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// What ttc said when it failed. A program that cannot build manifests is an old one, or another one.
fn refused(ttc: &Path, made: &std::process::Output) -> Error {
    let said = String::from_utf8_lossy(&made.stderr);
    if made.status.code() == Some(2) && !said.contains("error[") {
        let shown = ttc.display();
        return Error(format!("`{shown} build` is not understood: is it the program ttc, and new enough?\n{said}"));
    }
    Error(format!("the kernels were not built:\n{}", said.trim_end()))
}

/// The files that were read, as the index of a build lists them.
fn sources(index: &Path) -> Result<Vec<PathBuf>, Error> {
    let text = fs::read(index).map_err(|e| cannot("read", index, &e))?;
    let index_of = |e: String| Error(format!("`{}` is no index of ttc: {e}", index.display()));
    let json: serde_json::Value = serde_json::from_slice(&text).map_err(|e| index_of(e.to_string()))?;
    let listed = json["sources"].as_array().ok_or_else(|| index_of("it lists no sources".to_owned()))?;
    Ok(listed.iter().filter_map(|s| s.as_str().map(PathBuf::from)).collect())
}

/// Writes a file. One that has this content already keeps its time, so that nothing is built again for its sake.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if fs::read(path).ok().as_deref() != Some(bytes) {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|e| cannot("make", folder, &e))?;
        }
        fs::write(path, bytes).map_err(|e| cannot("write", path, &e))?;
    }
    Ok(())
}

fn cannot(what: &str, path: &Path, why: &io::Error) -> Error {
    Error(format!("cannot {what} `{}`: {why}", path.display()))
}
