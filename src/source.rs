//! Source files and positions in them.
//!
//! A [`SourceMap`] owns the text of every file of one compilation. A [`Span`] is a byte range in one of them; line and
//! column are computed only when somebody asks. Lines and columns are 1-based, as Triton's locations and editors count;
//! a column counts Unicode scalar values, not bytes.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Names a file in its [`SourceMap`], and in the clones that were made of the map since.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

impl FileId {
    /// Whether the file is part of the compiler ([`SourceMap::embed`]).
    #[must_use]
    pub fn is_embedded(self) -> bool {
        self.0 >= FIRST_EMBEDDED
    }

    /// The number of a file that is part of the compiler ([`SourceMap::embed`]).
    #[must_use]
    pub fn embedded_number(self) -> Option<u32> {
        self.0.checked_sub(FIRST_EMBEDDED)
    }
}

/// The half-open byte range `lo..hi` of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    pub file: FileId,
    pub lo: u32,
    pub hi: u32,
}

impl Span {
    /// The last `len` bytes of the span.
    #[must_use]
    pub fn tail(self, len: usize) -> Span {
        Span { lo: self.lo.max(self.hi.saturating_sub(len as u32)), ..self }
    }

    /// Whether the offset lies in the span or right behind it, as a cursor does behind a word.
    #[must_use]
    pub fn touches(self, offset: u32) -> bool {
        self.lo <= offset && offset <= self.hi
    }

    /// The smallest span that covers both; they must lie in the same file.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file);
        Span { file: self.file, lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }
}

/// A 1-based line and column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LineCol {
    pub line: u32,
    pub col: u32,
}

/// One file: the name shown to the user, its path if it has one, and its text.
#[derive(Debug)]
pub struct SourceFile {
    /// The name as the user gave it, or `<stdin>`, or `<prelude>/NAME.tk` for a file that is embedded in the binary.
    pub name: String,
    pub path: Option<PathBuf>,
    pub text: Arc<str>,
    /// Byte offset at which each line starts; the first is 0.
    line_starts: Vec<u32>,
    /// How many lines of the whole file stand in front of the text, if the text is part of a larger file.
    lines_before: u32,
    /// The value of [`SourceMap::derived`].
    derived: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl SourceFile {
    /// Makes a file that is part of the compiler, for [`SourceMap::embed`].
    #[must_use]
    pub fn embedded(name: String, text: &str) -> SourceFile {
        SourceFile::new(name, None, text.into(), 0)
    }

    fn new(name: String, path: Option<&Path>, text: Arc<str>, lines_before: u32) -> SourceFile {
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1));
        SourceFile { name, path: path.map(Path::to_owned), text, line_starts, lines_before, derived: OnceLock::new() }
    }

    /// Line and column of a byte offset. An offset past the end counts as the end.
    #[must_use]
    pub fn line_col(&self, offset: u32) -> LineCol {
        let offset = offset.min(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
        let line = self.line_starts.partition_point(|&s| s <= offset) - 1;
        let start = self.line_starts[line] as usize;
        let col = self.text.get(start..offset as usize).map_or(offset as usize - start, |s| s.chars().count());
        LineCol { line: self.lines_before + line as u32 + 1, col: col as u32 + 1 }
    }

    /// Byte offset of a 1-based line and column; `None` past the end of the file.
    #[must_use]
    pub fn offset(&self, at: LineCol) -> Option<u32> {
        let start = *self.line_starts.get(self.index(at.line)?)? as usize;
        let line = self.text[start..].split('\n').next().unwrap_or("");
        let skip = (at.col as usize).saturating_sub(1);
        let within = line.char_indices().nth(skip).map_or(line.len(), |(i, _)| i);
        Some((start + within) as u32)
    }

    /// How many lines of the whole file stand in front of the text.
    #[must_use]
    pub fn lines_before(&self) -> u32 {
        self.lines_before
    }

    fn index(&self, line: u32) -> Option<usize> {
        Some(line.checked_sub(self.lines_before)?.checked_sub(1)? as usize)
    }

    /// The text of a 1-based line, without its line break.
    #[must_use]
    pub fn line(&self, line: u32) -> &str {
        let Some(&start) = self.index(line).and_then(|l| self.line_starts.get(l)) else { return "" };
        self.text[start as usize..].split('\n').next().unwrap_or("").trim_end_matches('\r')
    }
}

/// The ids of embedded files start here; a map never holds as many others.
const FIRST_EMBEDDED: u32 = 1 << 31;

/// All files of one compilation. Cheap to clone: the texts are shared.
#[derive(Default, Debug, Clone)]
pub struct SourceMap {
    files: Vec<Arc<SourceFile>>,
    embedded: BTreeMap<FileId, Arc<SourceFile>>,
    /// Prefixes of names, each with the text that stands for it in outputs.
    remap: Vec<(String, String)>,
}

impl SourceMap {
    /// Adds a file. Texts over 4 GiB cannot be addressed by a [`Span`]; the driver refuses them before this.
    pub fn add(&mut self, name: impl Into<String>, path: Option<&Path>, text: impl Into<Arc<str>>) -> FileId {
        self.add_part(name, path, text, 0)
    }

    /// Adds a part of a file that has so many lines in front of it. Positions in it are those of the whole file.
    pub fn add_part(
        &mut self,
        name: impl Into<String>,
        path: Option<&Path>,
        text: impl Into<Arc<str>>,
        lines_before: u32,
    ) -> FileId {
        self.files.push(Arc::new(SourceFile::new(name.into(), path, text.into(), lines_before)));
        FileId(self.files.len() as u32 - 1)
    }

    /// Adds a file that is part of the compiler. Its id follows from its number alone and is the same in every map, so
    /// what is made of the file once serves all compilations.
    pub fn embed(&mut self, number: u32, file: &Arc<SourceFile>) -> FileId {
        let id = FileId(FIRST_EMBEDDED + number);
        self.embedded.entry(id).or_insert_with(|| file.clone());
        id
    }

    /// Gives what `make` makes of a file. It is made when it is first wanted, then shared by this map and its clones,
    /// and for an embedded file by all maps. A file keeps one such value, so `T` must be the same for all who ask.
    ///
    /// # Panics
    /// Panics if somebody else asked for another type.
    pub fn derived<T: Any + Send + Sync>(&self, id: FileId, make: impl FnOnce() -> T) -> Arc<T> {
        let kept = self.file(id).derived.get_or_init(|| Arc::new(make())).clone();
        kept.downcast().expect("one kind of value is derived from a file")
    }

    /// Replaces the prefix `from` of file names by `to` in what is compiled: locations and line tables. Messages keep
    /// the names. If several prefixes fit, the last one counts.
    pub fn remap(&mut self, prefixes: Vec<(String, String)>) {
        self.remap = prefixes;
    }

    /// The prefixes that [`SourceMap::remap`] has set.
    #[must_use]
    pub fn remapped_prefixes(&self) -> &[(String, String)] {
        &self.remap
    }

    /// A file's name as outputs have it. A prefix ends where a part of the path does.
    ///
    /// With `/home/me=/src`, `/home/me/k.tk` becomes `/src/k.tk`, and `/home/merry/k.tk` stays as it is.
    #[must_use]
    pub fn remapped<'n>(&self, name: &'n str) -> Cow<'n, str> {
        for (from, to) in self.remap.iter().rev() {
            let Some(rest) = name.strip_prefix(from.as_str()) else { continue };
            if rest.is_empty() || rest.starts_with('/') || from.ends_with('/') || from.is_empty() {
                return Cow::Owned(format!("{to}{rest}"));
            }
        }
        Cow::Borrowed(name)
    }

    /// The name of the file that outputs call by `remapped`.
    #[must_use]
    pub fn original(&self, remapped: &str) -> Option<&str> {
        let named = |f: &&Arc<SourceFile>| f.name != remapped && self.remapped(&f.name) == remapped;
        if self.remap.is_empty() { None } else { self.files.iter().find(named).map(|f| f.name.as_str()) }
    }

    /// # Panics
    /// Panics if the id belongs to another map.
    #[must_use]
    pub fn file(&self, id: FileId) -> &SourceFile {
        self.get(id).expect("an id of this map")
    }

    /// The file of an id, if the map has it.
    #[must_use]
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize).or_else(|| self.embedded.get(&id)).map(|f| &**f)
    }

    /// The file that was added under this name. If there are several, it is the latest.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<FileId> {
        let embedded = self.embedded.iter().find(|(_, f)| f.name == name).map(|(&id, _)| id);
        self.files.iter().rposition(|f| f.name == name).map(|i| FileId(i as u32)).or(embedded)
    }

    /// All files: first those that were added, then those that are part of the compiler.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        let embedded = self.embedded.iter().map(|(&id, f)| (id, &**f));
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), &**f)).chain(embedded)
    }

    /// The text a span covers.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.lo as usize..span.hi as usize).unwrap_or("")
    }

    /// Line and column of the start of a span.
    #[must_use]
    pub fn line_col(&self, span: Span) -> LineCol {
        self.file(span.file).line_col(span.lo)
    }
}
