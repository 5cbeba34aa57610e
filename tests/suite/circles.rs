//! Checks that files do not import each other in large circles: whoever changes one file of a circle has to know all of
//! them.
//!
//! 1. An edge leads from a file to each file whose module it names ([`super::imports`]). In a file with child modules,
//!    `child::name` counts too.
//! 2. A file that only declares modules and re-exports what is in them has no edges of its own. A name that is imported
//!    through it leads to the file that it comes from.
//! 3. Files that reach each other are a circle. None may have more files than [`LARGEST`] says.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{code, expand, is_name, is_test_file, module_of, paths, sources};

/// Top-level modules with larger circles than [`USUAL`], with the reason.
///
/// `ir`: the entry of an operation in its dialect's table names the functions that verify and fold it, these work on
/// the IR, and each operation of the IR has its entry.
const LARGEST: &[(&str, usize)] = &[("ir", 24)];

/// The most files that a circle may have.
const USUAL: usize = 5;

#[test]
fn files_import_each_other_in_small_circles_only() {
    let tree = Tree::new(sources());
    let mut problems = vec![];
    for circle in tree.circles() {
        let top = tree.files[circle[0]].module[0].as_str();
        let most = LARGEST.iter().find(|(m, _)| *m == top).map_or(USUAL, |(_, most)| *most);
        if circle.len() > most {
            let names: Vec<&str> = circle.iter().map(|&i| tree.files[i].path.as_str()).collect();
            problems.push(format!("{} files in `{top}`, at most {most}: {}", circle.len(), names.join(", ")));
        }
    }
    assert!(problems.is_empty(), "circles of imports:\n{}", problems.join("\n"));
}

struct File {
    path: String,
    module: Vec<String>,
    code: String,
    /// Modules that the file declares.
    children: Vec<String>,
    /// What the file re-exports, if it does nothing but declare modules and re-export.
    forwards: Option<Vec<Vec<String>>>,
}

struct Tree {
    files: Vec<File>,
    by_module: BTreeMap<Vec<String>, usize>,
}

impl Tree {
    fn new(sources: Vec<(String, String)>) -> Tree {
        let mut files = vec![];
        for (path, text) in sources {
            let module = module_of(&path);
            if is_test_file(&path) || matches!(module[0].as_str(), "main" | "lib") {
                continue;
            }
            let code = code(&text);
            let children = declared(&code);
            let forwards = forwards(&module, &code, &children);
            files.push(File { path, module, code, children, forwards });
        }
        let by_module = files.iter().enumerate().map(|(i, f)| (f.module.clone(), i)).collect();
        Tree { files, by_module }
    }

    /// The files in which what a path names is written.
    fn resolve(&self, path: &[String], found: &mut BTreeSet<usize>, depth: u32) {
        let Some(n) = (1..=path.len()).rev().find(|&n| self.by_module.contains_key(&path[..n])) else { return };
        let file = self.by_module[&path[..n]];
        let Some(exports) = self.files[file].forwards.as_ref() else {
            found.insert(file);
            return;
        };
        if depth == 0 {
            return;
        }
        let named = path.get(n);
        let meant = |e: &&Vec<String>| named.is_none_or(|name| e.last() == Some(name));
        let mut through: Vec<&Vec<String>> = exports.iter().filter(meant).collect();
        if through.is_empty() {
            through = exports.iter().collect();
        }
        for export in through {
            let export = export.strip_suffix(&["*".to_owned()]).unwrap_or(export);
            self.resolve(export, found, depth - 1);
        }
    }

    /// The files that each file imports.
    fn edges(&self) -> Vec<BTreeSet<usize>> {
        let edges = self.files.iter().enumerate().map(|(i, file)| {
            let mut to = BTreeSet::new();
            if file.forwards.is_none() {
                let of_children = child_paths(&file.module, &file.code, &file.children);
                for path in paths(&file.module, &file.code).into_iter().map(|(_, path)| path).chain(of_children) {
                    let path = path.strip_suffix(&["*".to_owned()]).unwrap_or(&path);
                    self.resolve(path, &mut to, 8);
                }
            }
            to.remove(&i);
            to
        });
        edges.collect()
    }

    /// Sets of two or more files that reach each other, the largest first.
    fn circles(&self) -> Vec<Vec<usize>> {
        let edges = self.edges();
        let reached: Vec<BTreeSet<usize>> = (0..edges.len()).map(|from| reached(&edges, from)).collect();
        let mut seen = BTreeSet::new();
        let mut circles = vec![];
        for i in 0..edges.len() {
            let circle: Vec<usize> = reached[i].iter().copied().filter(|&j| reached[j].contains(&i)).collect();
            if circle.len() > 1 && seen.insert(circle[0]) {
                circles.push(circle);
            }
        }
        circles.sort_by_key(|c| std::cmp::Reverse(c.len()));
        circles
    }
}

/// What can be reached along edges: over one edge or more, so a file reaches itself only in a circle.
fn reached(edges: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(i) = open.pop() {
        open.extend(edges[i].iter().copied().filter(|&j| found.insert(j)));
    }
    found
}

/// The statements of a file, without attributes and visibility.
fn statements(code: &str) -> impl Iterator<Item = &str> {
    code.split(';').map(|statement| {
        let mut rest = statement.trim();
        while let Some((_, after)) =
            rest.strip_prefix("#[").or(rest.strip_prefix("#![")).and_then(|r| r.split_once(']'))
        {
            rest = after.trim_start();
        }
        if let Some((_, after)) = rest.strip_prefix("pub(").and_then(|r| r.split_once(')')) {
            rest = after;
        }
        rest.strip_prefix("pub ").unwrap_or(rest).trim()
    })
}

/// The modules that a file declares.
fn declared(code: &str) -> Vec<String> {
    let name = |s: &str| s.strip_prefix("mod ").map(|n| n.trim().to_owned());
    statements(code).filter_map(name).filter(|n| n.chars().all(is_name)).collect()
}

/// What a file re-exports; `None` if anything else stands in it.
fn forwards(module: &[String], code: &str, children: &[String]) -> Option<Vec<Vec<String>>> {
    let other = |s: &str| {
        !(s.is_empty() || s.starts_with("use ") || s.strip_prefix("mod ").is_some_and(|n| n.chars().all(is_name)))
    };
    if children.is_empty() || statements(code).any(other) {
        return None;
    }
    let mut exports: Vec<Vec<String>> = paths(module, code).into_iter().map(|(_, path)| path).collect();
    exports.extend(child_paths(module, code, children));
    Some(exports)
}

/// Paths that start with a child module, from the crate's root.
fn child_paths(module: &[String], code: &str, children: &[String]) -> Vec<Vec<String>> {
    let mut found = vec![];
    for child in children {
        for (at, _) in code.match_indices(&format!("{child}::")) {
            if code[..at].ends_with(is_name) || code[..at].ends_with("::") {
                continue;
            }
            for path in expand(&code[at..]) {
                found.push(module.iter().cloned().chain(path.split("::").map(str::to_owned)).collect());
            }
        }
    }
    found
}

#[test]
fn circles_are_found_through_re_exports() {
    for (files, circles) in [
        // Children that use what their parent re-exports of each other; the parent does nothing else.
        (
            vec![
                ("a/mod.rs", "//! x\nmod b;\nmod c;\npub use b::{B, Bs};\npub use c::C;"),
                ("a/b.rs", "use super::C;"),
                ("a/c.rs", "use crate::a::B;"),
            ],
            vec![vec!["a/b.rs", "a/c.rs"]],
        ),
        // One direction only.
        (
            vec![
                ("a/mod.rs", "mod b;\npub(crate) mod c;\npub use b::B;\npub use c::C;"),
                ("a/b.rs", "use super::{\n    c::C,\n};"),
                ("a/c.rs", "// use super::B;\nstruct C;"),
            ],
            vec![],
        ),
        // A parent that does something itself, with a child that uses it.
        (
            vec![
                ("a.rs", "mod b;\nfn f() { b::g() }"),
                ("a/b.rs", "pub fn g() { super::f() }"),
                ("c.rs", "use crate::a;"),
            ],
            vec![vec!["a.rs", "a/b.rs"]],
        ),
        // A parent that is imported by its children through a glob.
        (
            vec![
                ("a/mod.rs", "mod b;\nmod c;\npub use b::*;"),
                ("a/b.rs", "use crate::a::c::C;"),
                ("a/c.rs", "use super::*;"),
            ],
            vec![vec!["a/b.rs", "a/c.rs"]],
        ),
    ] {
        let tree = Tree::new(files.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect());
        let found: Vec<Vec<&str>> =
            tree.circles().iter().map(|c| c.iter().map(|&i| tree.files[i].path.as_str()).collect()).collect();
        assert_eq!(found, circles, "{files:?}");
    }
}
