//! What is mutated: texts with the commands that take them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a text is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    Source,
    Ttir,
    Ttgir,
    Llir,
    Ptx,
}

impl Kind {
    pub(crate) const IR: [Kind; 4] = [Kind::Ttir, Kind::Ttgir, Kind::Llir, Kind::Ptx];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Source => "source",
            Kind::Ttir => "ttir",
            Kind::Ttgir => "ttgir",
            Kind::Llir => "llir",
            Kind::Ptx => "ptx",
        }
    }

    /// The extension of its files.
    pub(crate) fn extension(self) -> &'static str {
        if self == Kind::Source { "py" } else { self.word() }
    }
}

/// One text, with the options that `ttc compile` needs for it.
#[derive(Clone, Debug)]
pub(crate) struct Seed {
    pub(crate) kind: Kind,
    pub(crate) text: Vec<u8>,
    pub(crate) options: Vec<String>,
    /// Where imports of a source are found.
    pub(crate) include: Option<PathBuf>,
}

/// Texts over this size say no more than short ones, and take longer.
const LONGEST: usize = 60_000;

/// All seeds, in an order that depends on the files alone.
pub(crate) fn collect(ttc: &Path, kernels: Option<&(PathBuf, PathBuf)>) -> Vec<Seed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = vec![];
    for path in files(&root.join("kernels"), &["tk"]) {
        sources.push((path.clone(), vec![], None));
    }
    if let Some((list, folder)) = kernels {
        sources.extend(listed(list, folder));
    }
    let mut seeds = vec![];
    for (i, (path, options, include)) in sources.into_iter().enumerate() {
        let Ok(text) = fs::read(&path) else { continue };
        if text.len() > LONGEST {
            continue;
        }
        let seed = Seed { kind: Kind::Source, text, options, include };
        // The stages of every fourth kernel are enough: there are four of each.
        if i % 4 == 0 {
            seeds.extend(stages(ttc, &path, &seed));
        }
        seeds.push(seed);
    }
    for (folder, extensions) in
        [("tests/lit", &["ttir", "ttgir", "mlir", "llir", "ptx"][..]), ("tests/irtext", &["ttir", "ttgir", "mlir"])]
    {
        for path in files(&root.join(folder), extensions) {
            let kind = match path.extension().and_then(|e| e.to_str()) {
                Some("ttgir") => Kind::Ttgir,
                Some("llir") => Kind::Llir,
                Some("ptx") => Kind::Ptx,
                _ => Kind::Ttir,
            };
            seeds.extend(fs::read(&path).ok().map(|text| Seed { kind, text, options: vec![], include: None }));
        }
    }
    seeds.retain(|s| s.text.len() <= LONGEST);
    assert!(!seeds.is_empty(), "there are no seeds");
    seeds
}

pub(crate) fn count_by_kind(seeds: &[Seed]) -> String {
    let count = |kind| seeds.iter().filter(|s| s.kind == kind).count();
    let kinds = [Kind::Source].into_iter().chain(Kind::IR);
    kinds.map(|k| format!("{} {}", count(k), k.word())).collect::<Vec<_>>().join(", ")
}

/// Kernels of a list: `{"path": …, "func": …, "signature": […], "defines": {…}, "num_warps": …, "num_stages": …}` a
/// line.
fn listed(list: &Path, folder: &Path) -> Vec<(PathBuf, Vec<String>, Option<PathBuf>)> {
    let text = fs::read_to_string(list).expect("the list of kernels can be read");
    let mut all = vec![];
    for line in text.lines() {
        let v: serde_json::Value = serde_json::from_str(line).expect("a line of the list is JSON");
        let word = |key: &str| v[key].as_str().map(str::to_owned);
        let (Some(repo), Some(path), Some(func)) = (word("repo"), word("path"), word("func")) else { continue };
        let base = folder.join(repo.replace('/', "+"));
        let mut options = vec!["-k".to_owned(), func];
        if let Some(types) = v["signature"].as_array() {
            let types: Vec<&str> = types.iter().filter_map(|t| t.as_str()).collect();
            options.extend(["--signature".to_owned(), types.join(", ")]);
        }
        for (name, value) in v["defines"].as_object().into_iter().flatten() {
            options.extend(["-D".to_owned(), format!("{name}={}", value.as_str().unwrap_or_default())]);
        }
        for (key, option) in [("num_warps", "--num-warps"), ("num_stages", "--num-stages")] {
            options.extend(v[key].as_u64().into_iter().flat_map(|n| [option.to_owned(), n.to_string()]));
        }
        all.push((base.join(path), options, Some(base)));
    }
    all
}

/// What ttc makes of a source at each stage; nothing where it does not compile.
fn stages(ttc: &Path, path: &Path, seed: &Seed) -> Vec<Seed> {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let mut command = Command::new(ttc);
    command.arg("compile").arg(path).args(&seed.options).args(["--arch", "sm_90a", "--emit", "ttir,ttgir,llir,ptx"]);
    command.args(seed.include.iter().flat_map(|dir| ["-I".into(), dir.clone().into_os_string()]));
    let done = command.arg("--out-dir").arg(folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !done.is_ok_and(|status| status.success()) {
        return vec![];
    }
    let made = Kind::IR
        .into_iter()
        .flat_map(|kind| files(folder.path(), &[kind.extension()]).into_iter().map(move |p| (kind, p)));
    made.filter_map(|(kind, p)| Some(Seed { kind, text: fs::read(p).ok()?, options: vec![], include: None })).collect()
}

/// The files below a folder with one of the extensions, in order of their paths.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    entries.sort();
    let wanted = |p: &PathBuf| p.extension().and_then(|e| e.to_str()).is_some_and(|e| extensions.contains(&e));
    entries
        .into_iter()
        .flat_map(|p| if p.is_dir() { files(&p, extensions) } else { Some(p).filter(wanted).into_iter().collect() })
        .collect()
}
