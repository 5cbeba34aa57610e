//! Names in Rust for kernels and arguments.
//!
//! 1. A character that Rust does not allow in a name becomes `_`. A name that would start with a digit gets `_` before
//!    it, and the name `_` another `_`.
//! 2. A word of the language becomes a raw name, `r#type`. Four words cannot, and get `_` behind them: `self_`.
//! 3. A name that is taken gets the first number that makes it another one: `x_2`.

use std::collections::BTreeSet;

/// Words that `r#` makes a name of (The Rust Reference, "Keywords").
const RAW: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Words that nothing makes a name of.
const RESERVED: &[&str] = &["Self", "crate", "self", "super"];

/// A name of its own for each text.
pub(super) fn unique<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut name = |text: &str| {
        let name = plain(text);
        let mut free = name.clone();
        for n in 2u64.. {
            if taken.insert(free.clone()) {
                break;
            }
            free = format!("{}_{n}", name.trim_start_matches("r#"));
        }
        free
    };
    texts.into_iter().map(&mut name).collect()
}

fn plain(text: &str) -> String {
    // A name of Python may have letters that Rust compares in another form, so all but ASCII is left out.
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = text.chars().map(fits).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() || name == "_" {
        format!("_{name}_")
    } else if RAW.binary_search(&&*name).is_ok() {
        format!("r#{name}")
    } else if RESERVED.contains(&&*name) {
        format!("{name}_")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_rust_and_differ() {
        let of = |texts: &[&str]| unique(texts.iter().copied()).join(" ");
        assert_eq!(of(&["x", "type", "self", "α", "2d", "a.b", "a_b", ""]), "x r#type self_ ___ _2d_ a_b a_b_2 __");
        assert_eq!(of(&["type", "type", "self", "self_"]), "r#type type_2 self_ self__2");
        assert!(RAW.is_sorted(), "it is searched by halves");
    }
}
