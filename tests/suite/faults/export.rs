//! Writes planted faults for a GPU, with what the emulator and the judge say of each.
//!
//! A folder a kernel: `launch.json` with its buffers (docs/emulator.md, "Launch files"), the text without a fault as
//! `plain.ptx`, a text for each fault, and `faults.jsonl` with an object a line for each text, `plain.ptx` first.
//! `scripts/gpu/planted_faults` assembles the texts and runs them under compute-sanitizer.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use serde::Serialize;
use ttc::emulate::Prepared;
use ttc::emulate::file::LaunchFile;

use super::Seen;
use super::plant::{Kind, Planted};

/// The architecture of the texts that are written.
pub(super) const ARCH: &str = "sm_90a";

/// Where to write, and how many faults of a kind in each kernel.
pub(super) struct Export {
    dir: PathBuf,
    most: usize,
}

/// A line of `faults.jsonl`.
#[derive(Serialize)]
struct Entry<'a> {
    ptx: String,
    /// What was planted, in words; nothing for the kernel itself.
    fault: Option<&'a str>,
    line: u32,
    /// The line before the fault was planted.
    instruction: &'a str,
    /// What the emulator says.
    found: Option<&'a str>,
    /// Why the fault matters: what the judge says, or what is wrong with the run.
    broken: Option<&'a str>,
    /// The lines that order what crosses the fault.
    others: Vec<u32>,
}

impl Export {
    /// `TTC_FAULTS_OUT=DIR` with `TTC_FAULTS_EACH=N`.
    pub(super) fn of_environment() -> Option<Export> {
        let dir = PathBuf::from(std::env::var_os("TTC_FAULTS_OUT")?);
        let each = std::env::var("TTC_FAULTS_EACH").ok();
        Some(Export { dir, most: each.map_or(usize::MAX, |n| n.parse().expect("TTC_FAULTS_EACH is a number")) })
    }

    /// So many of each kind, from all over the text.
    pub(super) fn choose(&self, faults: Vec<Planted>) -> Vec<Planted> {
        let (mut count, mut seen) = (BTreeMap::<Kind, usize>::new(), BTreeMap::<Kind, usize>::new());
        faults.iter().for_each(|f| *count.entry(f.kind).or_default() += 1);
        let mut chosen = |f: &Planted| {
            let (all, at) = (count[&f.kind], seen.entry(f.kind).or_default());
            *at += 1;
            // Of 10 faults and at most 2, the ones at 2 and 7.
            all <= self.most || (0..self.most).any(|i| (2 * i + 1) * all / (2 * self.most) == *at - 1)
        };
        faults.into_iter().filter(|f| chosen(f)).collect()
    }

    /// Writes a kernel and its faults.
    pub(super) fn write(&self, name: &str, launch: &Prepared, ptx: &str, plain: &Seen, faults: &[(Planted, Seen)]) {
        let dir = self.dir.join(name);
        std::fs::create_dir_all(&dir).unwrap();
        let (file, buffers) = LaunchFile::of(launch, &[], |_| None);
        std::fs::write(dir.join("launch.json"), serde_json::to_string_pretty(&file).unwrap()).unwrap();
        buffers.iter().for_each(|(name, bytes)| std::fs::write(dir.join(name), bytes).unwrap());
        let mut lines = std::fs::File::create(dir.join("faults.jsonl")).unwrap();
        let mut text = |fault: Option<&Planted>, seen: &Seen| {
            let entry = Entry {
                ptx: fault.map_or("plain.ptx".to_owned(), |f| format!("{:?}-{}.ptx", f.kind, f.line)),
                fault: fault.map(|f| f.kind.words()),
                line: fault.map_or(0, |f| f.line),
                instruction: fault.and_then(|f| ptx.lines().nth(f.line as usize - 1)).unwrap_or_default().trim(),
                found: seen.found.as_deref(),
                broken: seen.broken.as_deref(),
                others: seen.reasons.iter().copied().collect(),
            };
            std::fs::write(dir.join(&entry.ptx), fault.map_or(ptx, |f| &f.text)).unwrap();
            writeln!(lines, "{}", serde_json::to_string(&entry).unwrap()).unwrap();
        };
        text(None, plain);
        faults.iter().for_each(|(fault, seen)| text(Some(fault), seen));
    }
}
