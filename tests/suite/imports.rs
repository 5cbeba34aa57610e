//! Reads the sources for the tests of the architecture: which file names which module.
//!
//! This is a scan of text, not of syntax: comments, strings and test modules are left out, and paths that start with
//! `crate::`, `super::` or `self::` are followed from the module in which they stand. The unit tests of
//! [`crate::arrows`] and [`crate::circles`] pin what it finds.

use std::fs;
use std::path::Path;

/// Path relative to `src/` with `/`, and text, of every source file, in order.
pub(crate) fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, root: &Path, files: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, files);
            } else if path.extension().is_some_and(|e| e == "rs" || e == "lalrpop") {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![];
    walk(&root, &root, &mut files);
    files.sort();
    files
}

/// Whether the file holds tests only.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

pub(crate) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text without comments, without what is in strings, and up to the file's own test module; line breaks stay.
pub(crate) fn code(text: &str) -> String {
    let text = text.split_once("#[cfg(test)]\nmod tests {").map_or(text, |(before, _)| before);
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut i = 0;
    while i < chars.len() {
        let rest = &chars[i..];
        let skipped = match rest {
            ['/', '/', ..] => rest.iter().take_while(|c| **c != '\n').count(),
            ['/', '*', ..] => rest.windows(2).position(|w| w == ['*', '/']).map_or(rest.len(), |n| n + 2),
            ['r', '"' | '#', ..] if !out.ends_with(is_name) => raw_string(rest).unwrap_or(0),
            ['"', ..] => string(rest),
            ['\'', '\\', ..] => 3 + rest[3..].iter().take_while(|c| **c != '\'').count(),
            ['\'', _, '\'', ..] => 3,
            _ => 0,
        };
        if skipped == 0 {
            out.push(rest[0]);
            i += 1;
        } else {
            out.extend(rest[..skipped.min(rest.len())].iter().filter(|c| **c == '\n'));
            out.push(' ');
            i += skipped;
        }
    }
    out
}

/// The length of a string literal, both quotes included.
fn string(rest: &[char]) -> usize {
    let mut i = 1;
    while i < rest.len() && rest[i] != '"' {
        i += if rest[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// The length of a raw string literal; `None` if this is none.
fn raw_string(rest: &[char]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
    let open = 1 + hashes;
    (rest.get(open) == Some(&'"')).then_some(())?;
    let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let found = rest[open + 1..].windows(end.len()).position(|w| w == end);
    Some(found.map_or(rest.len(), |n| open + 1 + n + end.len()))
}

/// The module of a file, as a path from the crate's root: `diag/render/mod.rs` is `diag::render`.
pub(crate) fn module_of(path: &str) -> Vec<String> {
    let path = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    path.split('/').filter(|part| *part != "mod").map(str::to_owned).collect()
}

/// The paths that code in a module names, from the crate's root, with their lines. Glob imports end in `*`.
pub(crate) fn paths(module: &[String], code: &str) -> Vec<(usize, Vec<String>)> {
    let mut found = vec![];
    let starts = ["crate::", "super::", "self::"].into_iter().flat_map(|word| code.match_indices(word));
    for (at, _) in starts {
        // `pub(in crate::a)` says who may see something, not what is imported.
        if code[..at].ends_with(is_name) || code[..at].ends_with("::") || code[..at].ends_with("(in ") {
            continue;
        }
        let mut rest = &code[at..];
        let mut base = module.to_vec();
        if let Some(after) = rest.strip_prefix("crate::") {
            (rest, base) = (after, vec![]);
        }
        rest = rest.strip_prefix("self::").unwrap_or(rest);
        while let Some(after) = rest.strip_prefix("super::") {
            base.pop();
            rest = after;
        }
        let line = code[..at].matches('\n').count() + 1;
        found.extend(expand(rest).into_iter().map(|path| {
            let names = path.split("::").filter(|name| !matches!(*name, "" | "self"));
            (line, base.iter().cloned().chain(names.map(str::to_owned)).collect())
        }));
    }
    found.sort();
    found
}

/// The paths that a path with braces stands for.
pub(crate) fn expand(text: &str) -> Vec<String> {
    let text = text.trim_start();
    if text.starts_with('*') {
        return vec!["*".to_owned()];
    }
    if let Some(inner) = text.strip_prefix('{') {
        return items(inner).into_iter().flat_map(expand).collect();
    }
    let name: String = text.chars().take_while(|c| is_name(*c)).collect();
    match text[name.len()..].strip_prefix("::") {
        Some(rest) if rest.starts_with('*') => vec![format!("{name}::*")],
        Some(rest) if rest.starts_with(|c: char| is_name(c) || c == '{') => {
            expand(rest).into_iter().map(|r| format!("{name}::{r}")).collect()
        }
        _ => vec![name],
    }
}

/// The items between braces, split at the commas of the outermost level; `inner` starts after the opening brace.
fn items(inner: &str) -> Vec<&str> {
    let (mut depth, mut start, mut list) = (0, 0, vec![]);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                list.push(&inner[start..at]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    list.retain(|item| !item.trim().is_empty());
    list
}
