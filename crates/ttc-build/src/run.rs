//! Runs `ttc`, once for each kernel that has changed, several at once.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::cache::Record;
use crate::{Built, Error};

/// A kernel with its command line.
pub(crate) struct Job {
    pub(crate) kernel: String,
    pub(crate) line: Vec<String>,
}

/// What became of a job.
struct Done {
    sources: Vec<PathBuf>,
    compiled: bool,
}

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

/// What the compiler is: its words for itself, its length and when it was made.
pub(crate) fn version(ttc: &Path) -> Result<String, Error> {
    let made = Command::new(ttc).arg("--version").output().map_err(|e| cannot("run", ttc, &e))?;
    if !made.status.success() {
        return Err(Error(format!("`{} --version` failed: is it the program ttc?", ttc.display())));
    }
    let file = fs::metadata(ttc).map_err(|e| cannot("read", ttc, &e))?;
    Ok(format!("{} {} {:?}", String::from_utf8_lossy(&made.stdout).trim(), file.len(), file.modified().ok()))
}

/// Makes the launchers of all jobs, and puts them into one file.
pub(crate) fn all(ttc: &Path, version: &str, jobs: &[Job], out: &Path, name: &str) -> Result<Built, Error> {
    let results: Vec<Mutex<Option<Result<Done, Error>>>> = jobs.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(number) else { break };
                    let done = one(ttc, version, job, &folder(out, name, job));
                    *results[number].lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(done);
                }
            });
        }
    });
    let done = results.into_iter().filter_map(|r| r.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner));
    join(ttc, jobs, done.collect(), out, name)
}

/// Puts the launchers together. Every kernel that failed is said, not the first alone.
fn join(ttc: &Path, jobs: &[Job], done: Vec<Result<Done, Error>>, out: &Path, name: &str) -> Result<Built, Error> {
    let failed: Vec<String> = done.iter().filter_map(|d| d.as_ref().err().map(ToString::to_string)).collect();
    if !failed.is_empty() {
        return Err(Error(failed.join("\n")));
    }
    let mut built = Built { watch: vec![ttc.to_owned()], compiled: vec![] };
    let mut text = String::new();
    for (job, done) in jobs.iter().zip(done.into_iter().flatten()) {
        let path = launcher(&folder(out, name, job));
        text.push_str(&fs::read_to_string(&path).map_err(|e| cannot("read", &path, &e))?);
        built.watch.extend(done.sources);
        if done.compiled {
            built.compiled.push(job.kernel.clone());
        }
    }
    built.watch[1..].sort();
    built.watch.dedup();
    let path = out.join(name);
    // The file keeps its time where nothing changed, so that nothing is built again for its sake.
    if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
        fs::write(&path, text).map_err(|e| cannot("write", &path, &e))?;
    }
    Ok(built)
}

/// Where the outputs of a kernel are kept from one build to the next.
fn folder(out: &Path, name: &str, job: &Job) -> PathBuf {
    out.join(format!("{name}.ttc")).join(&job.kernel)
}

fn launcher(folder: &Path) -> PathBuf {
    folder.join("launcher.rs")
}

/// Compiles a kernel, unless what is there would come out again.
fn one(ttc: &Path, version: &str, job: &Job, folder: &Path) -> Result<Done, Error> {
    let record = Record::new(folder.join("record"), version, &job.line);
    if launcher(folder).is_file()
        && let Some(sources) = record.sources()
    {
        return Ok(Done { sources, compiled: false });
    }
    record.forget();
    // Files of an earlier command would be taken for those of this one.
    if let Err(e) = fs::remove_dir_all(folder)
        && e.kind() != io::ErrorKind::NotFound
    {
        return Err(cannot("empty", folder, &e));
    }
    fs::create_dir_all(folder).map_err(|e| cannot("make", folder, &e))?;
    let made = Command::new(ttc)
        .args(&job.line)
        .args(["--emit", "cubin,rust", "--module", "launcher", "--color", "never", "--out-dir"])
        .arg(folder)
        .output()
        .map_err(|e| cannot("run", ttc, &e))?;
    let said = String::from_utf8_lossy(&made.stderr);
    if !made.status.success() {
        return Err(Error(format!("the kernel `{}` was not compiled:\n{}", job.kernel, said.trim_end())));
    }
    let sources = sources(folder)?;
    record.write(&sources).map_err(|e| cannot("write into", folder, &e))?;
    Ok(Done { sources, compiled: true })
}

/// The files that were read, as the metadata beside the cubins lists them.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut sources = vec![];
    for entry in fs::read_dir(folder).map_err(|e| cannot("read", folder, &e))? {
        let path = entry.map_err(|e| cannot("read", folder, &e))?.path();
        if path.extension() != Some(OsStr::new("json")) {
            continue;
        }
        let text = fs::read(&path).map_err(|e| cannot("read", &path, &e))?;
        let metadata: serde_json::Value = serde_json::from_slice(&text)
            .map_err(|e| Error(format!("`{}` is no metadata of ttc: {e}", path.display())))?;
        let listed = metadata["sources"].as_array().ok_or_else(|| {
            Error(format!("`{}` does not list the files that were read: ttc is too old", path.display()))
        })?;
        sources.extend(listed.iter().filter_map(|s| s.as_str().map(PathBuf::from)));
    }
    sources.sort();
    sources.dedup();
    Ok(sources)
}

fn cannot(what: &str, path: &Path, why: &io::Error) -> Error {
    Error(format!("cannot {what} `{}`: {why}", path.display()))
}
