//! Regular expressions for `expected-error-re`: matching by backtracking over a small tree.
//!
//! There are literals, `.`, classes `[a-z]` and `[^…]`, `\d \w \s` with their complements, `*`, `+`, `?`, groups with
//! alternatives `(a|b)`, and `\` before a character that stands for itself. A match takes at most [`STEPS`] steps; a
//! pattern that needs more does not match.
//!
//! ```text
//! {{[0-9]+}}      one digit or more
//! ```

use std::cell::Cell;

/// After how many steps a search gives up, so that no pattern hangs.
const STEPS: u32 = 1_000_000;

/// How many characters of a message are looked at. Groups that repeat take stack for each character.
const LONGEST: usize = 4096;

#[derive(Clone, Debug)]
pub(super) struct Regex {
    alternatives: Vec<Sequence>,
}

type Sequence = Vec<(Item, Times)>;

#[derive(Clone, Debug)]
enum Item {
    Char(char),
    Any,
    /// Ranges of characters, and whether the class is everything outside of them.
    Class(Vec<(char, char)>, bool),
    Group(Vec<Sequence>),
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Times {
    Once,
    Optional,
    Any,
    AtLeastOnce,
}

impl Regex {
    /// Reads literal text with `{{…}}` around regular expressions.
    ///
    /// # Errors
    /// Says in words why an expression cannot be read.
    pub(super) fn embedded(text: &str) -> Result<Regex, String> {
        let mut sequence: Sequence = vec![];
        let mut rest = text;
        while let Some((literal, behind)) = rest.split_once("{{") {
            let (pattern, after) = behind.split_once("}}").ok_or("a `{{` is not closed")?;
            sequence.extend(literal.chars().map(|c| (Item::Char(c), Times::Once)));
            let chars: Vec<char> = pattern.chars().collect();
            let mut at = 0;
            let group = alternatives(&chars, &mut at, 0)?;
            if at < chars.len() {
                return Err(format!("the expression `{pattern}` has a `)` too many"));
            }
            sequence.push((Item::Group(group), Times::Once));
            rest = after;
        }
        sequence.extend(rest.chars().map(|c| (Item::Char(c), Times::Once)));
        Ok(Regex { alternatives: vec![sequence] })
    }

    /// Whether some part of the text matches.
    #[must_use]
    pub(super) fn is_in(&self, text: &str) -> bool {
        let chars: Vec<char> = text.chars().take(LONGEST).collect();
        let left = Cell::new(STEPS);
        (0..=chars.len()).any(|start| any_of(&self.alternatives, &chars, start, &left, &|_| true))
    }
}

fn alternatives(chars: &[char], at: &mut usize, depth: u32) -> Result<Vec<Sequence>, String> {
    if depth > 32 {
        return Err("an expression nests more than 32 groups".to_owned());
    }
    let mut all = vec![vec![]];
    while let Some(&c) = chars.get(*at) {
        if c == ')' {
            break;
        }
        *at += 1;
        let item = match c {
            '|' => {
                all.push(vec![]);
                continue;
            }
            '(' => {
                let group = alternatives(chars, at, depth + 1)?;
                if chars.get(*at) != Some(&')') {
                    return Err("a `(` is not closed".to_owned());
                }
                *at += 1;
                Item::Group(group)
            }
            '[' => class(chars, at)?,
            '.' => Item::Any,
            '\\' => escape(*chars.get(*at).ok_or("an expression ends in `\\`")?, at),
            '*' | '+' | '?' => return Err(format!("`{c}` stands behind nothing that it could repeat")),
            other => Item::Char(other),
        };
        let times = match chars.get(*at) {
            Some('*') => Times::Any,
            Some('+') => Times::AtLeastOnce,
            Some('?') => Times::Optional,
            _ => Times::Once,
        };
        *at += usize::from(times != Times::Once);
        all.last_mut().expect("there is always an alternative").push((item, times));
    }
    Ok(all)
}

/// The item that `\` and this character stand for.
fn escape(c: char, at: &mut usize) -> Item {
    *at += 1;
    let ranges = match c.to_ascii_lowercase() {
        'd' => vec![('0', '9')],
        'w' => vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
        's' => vec![(' ', ' '), ('\t', '\r')],
        _ => return Item::Char(c),
    };
    Item::Class(ranges, c.is_ascii_uppercase())
}

/// Reads a class such as `[a-z_]`, from behind the bracket. A `]` that comes first is one of the characters.
fn class(chars: &[char], at: &mut usize) -> Result<Item, String> {
    let mut ranges = vec![];
    let other = chars.get(*at) == Some(&'^');
    *at += usize::from(other);
    let first = *at;
    loop {
        let mut low = *chars.get(*at).ok_or("a `[` is not closed")?;
        *at += 1;
        if low == ']' && *at - 1 > first {
            return Ok(Item::Class(ranges, other));
        }
        if low == '\\' {
            low = *chars.get(*at).ok_or("a `[` is not closed")?;
            *at += 1;
        }
        let mut high = low;
        if chars.get(*at) == Some(&'-') && chars.get(*at + 1).is_some_and(|&c| c != ']') {
            high = chars[*at + 1];
            *at += 2;
        }
        ranges.push((low, high));
    }
}

type Then<'a> = &'a dyn Fn(usize) -> bool;

fn any_of(all: &[Sequence], text: &[char], at: usize, left: &Cell<u32>, then: Then<'_>) -> bool {
    all.iter().any(|sequence| follows(sequence, text, at, left, then))
}

/// Whether the sequence matches from `at` on, and what comes behind it matches too.
fn follows(sequence: &[(Item, Times)], text: &[char], at: usize, left: &Cell<u32>, then: Then<'_>) -> bool {
    if left.get() == 0 {
        return false;
    }
    left.set(left.get() - 1);
    let Some(((item, times), rest)) = sequence.split_first() else { return then(at) };
    match times {
        Times::Once => once(item, text, at, left, &|next| follows(rest, text, next, left, then)),
        Times::Optional => {
            once(item, text, at, left, &|next| follows(rest, text, next, left, then))
                || follows(rest, text, at, left, then)
        }
        Times::AtLeastOnce => once(item, text, at, left, &|next| repeated(item, rest, text, next, left, then)),
        Times::Any => repeated(item, rest, text, at, left, then),
    }
}

/// Matches as often as possible first. Single characters are counted, so that long texts need no deep recursion.
fn repeated(item: &Item, rest: &[(Item, Times)], text: &[char], at: usize, left: &Cell<u32>, then: Then<'_>) -> bool {
    if !matches!(item, Item::Group(_)) {
        let most = text[at..].iter().take_while(|&&c| is(item, c)).count();
        return (0..=most).rev().any(|n| follows(rest, text, at + n, left, then));
    }
    let again = |next: usize| next > at && left.get() > 0 && repeated(item, rest, text, next, left, then);
    once(item, text, at, left, &again) || follows(rest, text, at, left, then)
}

fn once(item: &Item, text: &[char], at: usize, left: &Cell<u32>, then: Then<'_>) -> bool {
    match item {
        Item::Group(all) => any_of(all, text, at, left, then),
        single => text.get(at).is_some_and(|&c| is(single, c)) && then(at + 1),
    }
}

fn is(item: &Item, c: char) -> bool {
    match item {
        Item::Char(x) => *x == c,
        Item::Any => true,
        Item::Class(ranges, other) => ranges.iter().any(|&(low, high)| (low..=high).contains(&c)) != *other,
        Item::Group(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_match_what_they_should() {
        let cases = [
            ("a{{[0-9]+}}b", "xa12b", true),
            ("a{{[0-9]+}}b", "ab", false),
            ("{{(x|yy)*}}z", "xyyxz", true),
            ("^{{.*}}$", "^abc$", true),
            ("{{[^a-c]}}", "abc", false),
            ("{{\\d\\.\\w}}", "7.q", true),
            ("a.c", "abc", false),
            ("{{colou?r}}", "color", true),
            ("{{[]x]}}", "]", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(Regex::embedded(pattern).unwrap().is_in(text), expected, "{pattern} in {text}");
        }
        for bad in ["{{(}}", "{{)}}", "{{*}}", "{{[a}}", "{{a", "{{\\}}"] {
            assert!(Regex::embedded(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn costly_expressions_end() {
        let text = "a".repeat(200);
        assert!(!Regex::embedded("{{((a*)*)*b}}").unwrap().is_in(&text));
    }
}
