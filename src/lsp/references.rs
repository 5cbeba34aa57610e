//! Uses of a name in the files of the workspace, found on a thread of its own.
//!
//! 1. The kernel files under the workspace's folders are listed, up to [`MOST_FILES`]; hidden folders and those of
//!    packages are left out.
//! 2. A file whose text holds the word is indexed. A name counts if it leads to the same place.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lsp_types::Location;

use super::analysis::{About, Analysis};
use super::goto::location;
use super::positions::Encoding;
use super::snapshot::Snapshot;
use super::{goto, uri};
use crate::driver::input::{Language, language};
use crate::irgen::{Leads, index};
use crate::source::{SourceMap, Span};
use crate::text_file;

/// How many files are looked through.
const MOST_FILES: usize = 2000;

/// How large a file may be to be looked through.
const MOST_BYTES: u64 = 1 << 20;

/// A search for uses.
pub(super) struct Search {
    pub(super) analysis: Arc<Analysis>,
    pub(super) uri: lsp_types::Uri,
    pub(super) offset: u32,
    /// Whether definitions count.
    pub(super) definitions: bool,
    pub(super) roots: Vec<PathBuf>,
    pub(super) open: Vec<Snapshot>,
    pub(super) encoding: Encoding,
    pub(super) stop: Arc<AtomicBool>,
}

impl Search {
    /// All uses: those of the document first.
    pub(super) fn run(&self) -> Vec<Location> {
        let a = &*self.analysis;
        let own = goto::references(a, self.offset, self.definitions);
        let mut found: Vec<Location> =
            own.into_iter().filter_map(|s| location(a, s, &self.uri, self.encoding)).collect();
        let About::Kernels(k) = &a.about else { return found };
        let Some(used) = k.index.at(self.offset) else { return found };
        if matches!(used.leads, Leads::Local(_) | Leads::Unknown) {
            return found;
        }
        let word = a.sources.text(used.span).to_owned();
        let own_path = a.own().path.clone();
        for path in files(&self.roots) {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            if own_path.as_ref().is_some_and(|own| same_file(own, &path)) {
                continue;
            }
            found.extend(self.in_file(&path, &word, &used.leads));
        }
        found
    }

    fn in_file(&self, path: &Path, word: &str, wanted: &Leads) -> Vec<Location> {
        let open = self.open.iter().find(|s| same_file(&s.path, path));
        let text = match open {
            Some(s) => Some(s.text.clone()),
            None => text_file::read_plain_file(path).ok().map(Arc::from),
        };
        let Some(text) = text.filter(|t| t.contains(word)) else { return vec![] };
        let mut sources = SourceMap::default();
        let file = sources.add(path.to_string_lossy(), Some(path), text);
        for s in self.open.iter().filter(|s| s.on_disk && !same_file(&s.path, path)) {
            sources.add(s.path.to_string_lossy(), Some(&s.path), s.text.clone());
        }
        let index = index(&mut sources, file, &[]);
        let Some(uri) = uri::of_path(path) else { return vec![] };
        let uses = index.uses.iter().filter(|u| self.is_wanted(wanted, &u.leads, &sources));
        let uses = uses.filter(|u| self.definitions || !u.leads.places().contains(&u.span));
        uses.map(|u| Location { uri: uri.clone(), range: self.encoding.range(sources.file(file), u.span) }).collect()
    }

    /// Whether a name of another compilation leads to the same place.
    fn is_wanted(&self, wanted: &Leads, leads: &Leads, sources: &SourceMap) -> bool {
        let a = &self.analysis.sources;
        let same_place = |x: &Span, y: &Span| {
            (x.lo, x.hi) == (y.lo, y.hi)
                && match (&a.file(x.file).path, &sources.file(y.file).path) {
                    (Some(p), Some(q)) => same_file(p, q),
                    (None, None) => x.file == y.file,
                    _ => false,
                }
        };
        match (wanted, leads) {
            (Leads::Names(x), Leads::Names(y)) => x.iter().any(|x| y.iter().any(|y| same_place(x, y))),
            (Leads::File(x), Leads::File(y)) => match (&a.file(*x).path, &sources.file(*y).path) {
                (Some(p), Some(q)) => same_file(p, q),
                _ => false,
            },
            (Leads::Builtin(_) | Leads::Package(_), _) => wanted.is_same(leads),
            _ => false,
        }
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The kernel files under some folders, in order.
fn files(roots: &[PathBuf]) -> Vec<PathBuf> {
    let (mut found, mut folders) = (vec![], roots.to_vec());
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let Ok(about) = path.symlink_metadata() else { continue };
            if about.is_dir()
                && !name.starts_with('.')
                && !["target", "node_modules", "site-packages"].contains(&&*name)
            {
                folders.push(path);
            } else if about.is_file() && about.len() <= MOST_BYTES && language(&path) == Some(Language::Source) {
                found.push(path);
                if found.len() >= MOST_FILES {
                    return found;
                }
            }
        }
    }
    found
}
