//! The files of a compilation and the imports between them: followed, never executed.
//!
//! 1. A file is read when an import first leads to it; [`top_level`](super::top_level) knows what its names are bound
//!    to.
//! 2. An import names a built-in [`Space`] or a file: relative ones start at the importing file's folder, absolute ones
//!    at the folders given with `-I` (and `src` and `python` in them) and at every folder above the importing file.
//!
//! Example: `try: from .fast import f` / `except ImportError: from .slow import f` gives `f` two bindings; the first
//! whose file exists and defines `f` wins.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::space::{Space, builtin_space};
use super::top_level::{Binding, Bound, ClassBody, TopLevel};
use crate::diag::Diagnostic;
use crate::parser::ast::FunctionDef;
use crate::source::{FileId, SourceMap, Span};
use crate::text_file;

/// A file of the compilation. What it binds is its [`TopLevel`].
pub struct ModuleData {
    pub file: FileId,
    /// Dotted name used in the names of its functions in the IR.
    pub name: String,
    pub path: Option<PathBuf>,
    /// Part of the library that is embedded in the compiler.
    pub prelude: bool,
    top: Arc<TopLevel>,
    /// The module of the whole file, where this is what kernels inside a host function or the body of a class see of
    /// it.
    whole: Option<usize>,
    /// The class, where this is what its body sees.
    pub class: Option<Arc<ClassBody>>,
}

impl Deref for ModuleData {
    type Target = TopLevel;

    fn deref(&self) -> &TopLevel {
        &self.top
    }
}

/// Where an import leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Imported {
    Space(Space),
    Module(usize),
    /// A folder without code of its own.
    Nothing,
}

/// What imports looked for on the disk. Where all of it is as it was, and the files that were read have the same texts,
/// imports lead to where they led.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Trail {
    /// Paths, each with whether a file was there.
    files: BTreeMap<PathBuf, bool>,
    /// Paths, each with whether a folder was there.
    folders: BTreeMap<PathBuf, bool>,
    /// Whether a file was there that could not be read. What becomes of it is not known.
    pub unreadable: bool,
}

impl Trail {
    fn is_file(&mut self, path: &Path) -> bool {
        *self.files.entry(path.to_owned()).or_insert_with(|| path.is_file())
    }

    fn is_dir(&mut self, path: &Path) -> bool {
        *self.folders.entry(path.to_owned()).or_insert_with(|| path.is_dir())
    }

    /// The paths where nothing was. What appears there later may be found before the files that were read.
    #[must_use]
    pub fn absent(&self) -> Vec<PathBuf> {
        let looked = self.files.iter().chain(&self.folders).filter(|(_, was)| !**was).map(|(path, _)| path);
        looked.filter(|path| !path.exists()).cloned().collect()
    }

    /// Whether the disk is still as it was. An added file that would be found earlier than the one that was read makes
    /// a difference.
    #[must_use]
    pub fn holds(&self) -> bool {
        let Trail { files, folders, unreadable } = self;
        !unreadable
            && files.iter().all(|(path, was)| path.is_file() == *was)
            && folders.iter().all(|(path, was)| path.is_dir() == *was)
    }
}

/// All files of one compilation.
pub struct Modules<'m> {
    pub map: &'m mut SourceMap,
    include_dirs: Vec<PathBuf>,
    list: Vec<ModuleData>,
    by_path: BTreeMap<PathBuf, Option<usize>>,
    /// What kernels inside host functions see, by module and number of the function.
    insides: BTreeMap<(usize, usize), usize>,
    /// What the bodies of classes see, by the place of their headers.
    classes: BTreeMap<Span, usize>,
    /// Bytes of the files that were imported.
    imported: usize,
    /// Files that an import leads to and that cannot be read.
    unreadable: BTreeMap<PathBuf, Diagnostic>,
    trail: Trail,
}

impl<'m> Modules<'m> {
    #[must_use]
    pub fn new(map: &'m mut SourceMap, include_dirs: &[PathBuf]) -> Modules<'m> {
        let mut dirs = vec![];
        for dir in include_dirs {
            dirs.extend([dir.clone(), dir.join("src"), dir.join("python")]);
        }
        Modules {
            map,
            include_dirs: dirs,
            list: vec![],
            by_path: BTreeMap::new(),
            insides: BTreeMap::new(),
            classes: BTreeMap::new(),
            imported: 0,
            unreadable: BTreeMap::new(),
            trail: Trail::default(),
        }
    }

    /// What imports have looked for so far.
    #[must_use]
    pub fn trail(&self) -> Trail {
        Trail { unreadable: !self.unreadable.is_empty(), ..self.trail.clone() }
    }

    /// How many modules there are: files that were read, and what kernels inside their host functions and the bodies of
    /// their classes see of them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    #[must_use]
    pub fn get(&self, module: usize) -> &ModuleData {
        &self.list[module]
    }

    /// The module whose names decide what a name is in a module: that of the whole file where it is one of a host
    /// function or a class that does not bind the name.
    #[must_use]
    pub fn binder(&self, module: usize, name: &str) -> usize {
        let data = &self.list[module];
        data.whole.filter(|_| !data.top.binds(name)).unwrap_or(module)
    }

    /// The bindings of a name in a module, in the order to be tried.
    #[must_use]
    pub fn bindings(&self, module: usize, name: &str) -> &[Binding] {
        self.list[self.binder(module, name)].top.bindings(name)
    }

    /// The files that were read, without those that are part of the compiler.
    #[must_use]
    pub fn files(&self) -> Vec<FileId> {
        let whole = self.list.iter().filter(|m| m.whole.is_none());
        whole.map(|m| m.file).filter(|f| !f.is_embedded()).collect()
    }

    /// The name of a function across files: `module.function`, `module.Class.function`.
    #[must_use]
    pub fn qualified(&self, module: usize, function: &FunctionDef) -> String {
        let data = &self.list[module];
        // The name of a module for the kernels inside a host function has that function in it.
        let name = if data.whole.is_none() { data.full_name(function) } else { function.name.to_string() };
        format!("{}.{name}", data.name)
    }

    /// Adds a file that is in the source map.
    pub fn add(&mut self, file: FileId, name: &str, prelude: bool) -> usize {
        let path = self.map.file(file).path.clone();
        let index = self.list.len();
        if let Some(path) = &path {
            self.by_path.insert(path.clone(), Some(index));
        }
        let top = TopLevel::of(self.map, file);
        let name = self.distinct(name);
        self.list.push(ModuleData { file, name, path, prelude, top, whole: None, class: None });
        index
    }

    /// A name that no other module has: symbols are made of it, and files of different folders may be called the same.
    fn distinct(&self, name: &str) -> String {
        let is_free = |name: &str| self.list.iter().all(|m| m.name != name);
        let numbered = (2..).map(|n| format!("{name}.{n}"));
        std::iter::once(name.to_owned()).chain(numbered).find(|name| is_free(name)).unwrap_or_default()
    }

    /// The module whose names a function of this module sees: another one for a kernel inside a host function.
    pub fn home(&mut self, module: usize, def: &FunctionDef) -> usize {
        let whole = self.list[module].whole.unwrap_or(module);
        let file = &self.list[whole];
        let Some(function) = file.top.inside(def) else { return whole };
        if let Some(&known) = self.insides.get(&(whole, function)) {
            return known;
        }
        let (top, around) = file.top.seen_inside(function);
        let name = self.distinct(&format!("{}.{around}", file.name));
        let (path, prelude) = (file.path.clone(), file.prelude);
        let (file, top) = (file.file, Arc::new(top));
        self.list.push(ModuleData { file, name, path, prelude, top, whole: Some(whole), class: None });
        self.insides.insert((whole, function), self.list.len() - 1);
        self.list.len() - 1
    }

    /// The module of what the body of a class of this module sees.
    pub fn class(&mut self, module: usize, class: &Arc<ClassBody>) -> usize {
        if let Some(&known) = self.classes.get(&class.header) {
            return known;
        }
        let whole = self.list[module].whole.unwrap_or(module);
        let file = &self.list[whole];
        let name = self.distinct(&format!("{}.{}", file.name, class.name));
        let (file, path, prelude) = (file.file, file.path.clone(), file.prelude);
        let top = Arc::new(self.list[whole].top.seen_in_class(class));
        self.list.push(ModuleData { file, name, path, prelude, top, whole: Some(whole), class: Some(class.clone()) });
        self.classes.insert(class.header, self.list.len() - 1);
        self.list.len() - 1
    }

    /// Loads a file from disk unless it is loaded.
    fn load(&mut self, path: &Path) -> Option<usize> {
        if let Some(&known) = self.by_path.get(path) {
            return known;
        }
        self.by_path.insert(path.to_owned(), None);
        let file = match self.read(path) {
            Ok(file) => file,
            Err(why) => {
                self.unreadable.insert(path.to_owned(), why);
                return None;
            }
        };
        let stem = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let parent =
            path.parent().and_then(Path::file_name).map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let name = if stem == "__init__" { parent } else { format!("{parent}.{stem}") };
        Some(self.add(file, name.trim_start_matches('.'), false))
    }

    /// The file at a path. One that an earlier question about the kernels has read is not read again.
    fn read(&mut self, path: &Path) -> Result<FileId, Diagnostic> {
        let known = self.map.iter().find(|(_, f)| f.path.as_deref() == Some(path)).map(|(id, f)| (id, f.text.len()));
        if let Some((id, size)) = known {
            return self.take(path, size).map(|()| id);
        }
        let text = text_file::read_plain_file(path)?;
        self.take(path, text.len())?;
        Ok(self.map.add(path.display().to_string(), Some(path), text))
    }

    /// Imports share what one file may have, so that many of them are no way around it.
    fn take(&mut self, path: &Path, bytes: usize) -> Result<(), Diagnostic> {
        self.imported += bytes;
        text_file::check_source(path, self.imported)
    }

    /// Why the file that one of a name's imports leads to cannot be read, if that is so.
    #[must_use]
    pub fn unreadable(&self, module: usize, name: &str) -> Option<&Diagnostic> {
        let of = |path: &[String], level: u32| {
            let bases = self.bases(module, level);
            let mut files =
                bases.iter().flat_map(|base| files_at(&path.iter().fold(base.clone(), |dir, part| dir.join(part))));
            files.find_map(|file| self.unreadable.get(&file))
        };
        self.bindings(module, name).iter().find_map(|binding| match &binding.bound {
            Bound::Import(path) => of(path, 0),
            Bound::From { level, path, name, .. } => {
                of(path, *level).or_else(|| of(&[path, &[name.to_string()][..]].concat(), *level))
            }
            _ => None,
        })
    }

    /// The module at `base`, without its extension: a file or a package.
    fn at(&mut self, base: &Path) -> Option<Imported> {
        let [python, kernels, init] = files_at(base);
        for file in [python, kernels] {
            if self.trail.is_file(&file) {
                return self.load(&file).map(Imported::Module);
            }
        }
        if self.trail.is_dir(base) {
            return Some(if self.trail.is_file(&init) {
                self.load(&init).map_or(Imported::Nothing, Imported::Module)
            } else {
                Imported::Nothing
            });
        }
        None
    }

    /// Folders at which the import of a module may start.
    fn bases(&self, from: usize, level: u32) -> Vec<PathBuf> {
        let here = self.list[from].path.as_deref().and_then(Path::parent).map(Path::to_owned);
        if level > 0 {
            let up = here.map(|h| {
                let h = if h.as_os_str().is_empty() { PathBuf::from(".") } else { h };
                (1..level).fold(h, |dir, _| above(&dir))
            });
            return up.into_iter().collect();
        }
        let above = here.into_iter().flat_map(|h| h.ancestors().map(Path::to_owned).collect::<Vec<_>>()).take(16);
        self.include_dirs.iter().cloned().chain(above).collect()
    }

    /// Follows the path of an import.
    pub fn import(&mut self, from: usize, level: u32, path: &[String]) -> Option<Imported> {
        if level == 0
            && let Some(space) = builtin_space(path)
        {
            return Some(Imported::Space(space));
        }
        let bases = self.bases(from, level);
        bases.iter().find_map(|base| self.at(&path.iter().fold(base.clone(), |dir, part| dir.join(part))))
    }

    /// Follows `path` and then `name` as a file or package in it.
    pub fn submodule(&mut self, from: usize, level: u32, path: &[String], name: &str) -> Option<Imported> {
        let mut full = path.to_vec();
        full.push(name.to_owned());
        self.import(from, level, &full)
    }
}

/// The folder above one. Its path gets shorter where it can: packages that import each other by `..` would else be
/// found under ever longer paths, and be read anew under each.
fn above(dir: &Path) -> PathBuf {
    match (dir.components().next_back(), dir.parent()) {
        (Some(Component::Normal(_)), Some(parent)) if parent.as_os_str().is_empty() => PathBuf::from("."),
        (Some(Component::Normal(_)), Some(parent)) => parent.to_owned(),
        (Some(Component::RootDir), _) => dir.to_owned(),
        (Some(Component::CurDir), _) => PathBuf::from(".."),
        _ => dir.join(".."),
    }
}

/// Where the module at `base` may be, in the order in which it is looked for.
fn files_at(base: &Path) -> [PathBuf; 3] {
    let with = |extension: &str| {
        let mut file = base.as_os_str().to_owned();
        file.push(extension);
        PathBuf::from(file)
    };
    [with(".py"), with(".tk"), base.join("__init__.py")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_above_has_the_shorter_path() {
        for (dir, expected) in
            [("a/b", "a"), ("a", "."), (".", ".."), ("..", "../.."), ("../a", ".."), ("/", "/"), ("/a", "/")]
        {
            assert_eq!(above(Path::new(dir)), Path::new(expected), "above {dir}");
        }
    }

    /// A package that takes all of a part of it, which imports from the package: each file is read once.
    #[test]
    fn packages_that_import_each_other_are_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        write("p/__init__.py", "from .q import *\n");
        write("p/q/__init__.py", "from .m import *\n");
        write("p/q/m.py", "from .. import lacking\nfrom ..q import n\n");
        let text = "import triton\nfrom . import lacking\n@triton.jit\ndef k(x, B=lacking):\n    pass\n";
        let path = write("p/k.py", text);
        let mut map = SourceMap::default();
        let file = map.add("k.py", Some(&path), text);
        let (kernels, _) = crate::irgen::list_kernels(&mut map, file, &[]);
        assert_eq!(kernels.len(), 1);
        let read = map.iter().filter(|(id, _)| !id.is_embedded()).count();
        assert_eq!(read, 4, "files read");
    }
}
