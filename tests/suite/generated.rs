//! Documents that are made from tables. With `BLESS=1` in the environment they are written; without, they must be what
//! the tables say.

use std::fs;
use std::path::Path;

/// Compares a document with what it should be, or writes it. `test` is the word for `cargo test` that writes it anew.
pub(crate) fn document(path: &str, made: &str, test: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, made).unwrap();
        return;
    }
    let found = fs::read_to_string(file).unwrap_or_default();
    let line = found
        .lines()
        .zip(made.lines())
        .position(|(a, b)| a != b)
        .unwrap_or_else(|| found.lines().count().min(made.lines().count()));
    assert!(
        found == made,
        "{path} is not what the tables say from line {} on: `{}`; BLESS=1 cargo test {test}",
        line + 1,
        made.lines().nth(line).unwrap_or_default()
    );
}

/// Breaks a text into lines of at most 120 characters, between words that are no part of one piece of code. Lines after
/// the first start with `indent`.
pub(crate) fn wrapped(indent: &str, text: &str) -> String {
    let mut words: Vec<String> = vec![];
    let mut in_code = false;
    for word in text.split(' ') {
        match words.last_mut().filter(|_| in_code) {
            Some(last) => *last += &format!(" {word}"),
            None => words.push(word.to_owned()),
        }
        in_code ^= word.matches('`').count() % 2 == 1;
    }
    // Outside of code, `<` would begin a tag.
    for word in words.iter_mut().filter(|w| !w.contains('`')) {
        *word = word.replace('<', "\\<");
    }
    let (mut out, mut width) = (String::new(), 0);
    for word in words {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 120 {
            out += &format!("\n{indent}{word}");
            width = indent.len() + length;
        } else {
            out += if width > 0 { " " } else { "" };
            out += &word;
            width += usize::from(width > 0) + length;
        }
    }
    out + "\n"
}
