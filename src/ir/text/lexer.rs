//! The words of IR text.
//!
//! One token is read at a time from a position, so the parser can go back (aliases are read where they are first used)
//! or read parts by character (the dimensions `128x64x` of a shape are no tokens). Comments run from `//` to the end of
//! the line.

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tok {
    /// `tt.load`, `i32`, `true`
    Word,
    /// Decimal or `0x…`
    Int,
    Float,
    /// With its quotes.
    Str,
    /// `%x`
    Value,
    /// `^bb1`
    Label,
    /// `@f` or `@"f g"`
    Symbol,
    /// `#blocked`, `#ttg.blocked`, and `#1` of a result number
    Hash,
    /// `!tt.ptr`
    Bang,
    /// `->`, `::` or one character
    Punct,
    End,
    /// A character that starts nothing, or a string without an end.
    Bad,
}

/// A token: its kind and byte range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub kind: Tok,
    pub start: usize,
    pub end: usize,
}

fn word_char(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.')
}

/// The length of the longest prefix of bytes for which `f` holds.
fn run(bytes: &[u8], f: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&b| !f(b)).unwrap_or(bytes.len())
}

/// The token at or after byte `at`.
#[must_use]
pub fn token(text: &str, at: usize) -> Token {
    let bytes = text.as_bytes();
    let start = skip_space(bytes, at);
    let rest = &bytes[start.min(bytes.len())..];
    let (kind, len) = match rest.first() {
        None => (Tok::End, 0),
        Some(b'"') => string(rest),
        Some(b'0'..=b'9') => number(rest),
        Some(b'%') => sigil(rest, Tok::Value, b"$._-"),
        Some(b'^') => sigil(rest, Tok::Label, b"$._-"),
        Some(b'#') => sigil(rest, Tok::Hash, b"$._"),
        Some(b'!') => sigil(rest, Tok::Bang, b"$._"),
        Some(b'@') if rest.get(1) == Some(&b'"') => {
            let (kind, len) = string(&rest[1..]);
            (if kind == Tok::Str { Tok::Symbol } else { Tok::Bad }, len + 1)
        }
        Some(b'@') => sigil(rest, Tok::Symbol, b"$._-"),
        Some(b) if b.is_ascii_alphabetic() || *b == b'_' => (Tok::Word, run(rest, word_char)),
        Some(b'-') if rest.get(1) == Some(&b'>') => (Tok::Punct, 2),
        Some(b':') if rest.get(1) == Some(&b':') => (Tok::Punct, 2),
        Some(b) if b"(){}[]<>,:=-+*?|/;".contains(b) => (Tok::Punct, 1),
        // A character that is not ASCII counts as a whole.
        Some(_) => (Tok::Bad, text[start..].chars().next().map_or(1, char::len_utf8)),
    };
    Token { kind, start, end: start + len }
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    loop {
        let rest = &bytes[at.min(bytes.len())..];
        let space = run(rest, |b| b.is_ascii_whitespace());
        at += space;
        if !rest[space..].starts_with(b"//") {
            return at;
        }
        at += run(&rest[space..], |b| b != b'\n');
    }
}

fn string(rest: &[u8]) -> (Tok, usize) {
    let mut i = 1;
    while i < rest.len() {
        match rest[i] {
            b'"' => return (Tok::Str, i + 1),
            b'\n' => break,
            b'\\' => i += 2,
            _ => i += 1,
        }
    }
    (Tok::Bad, 1)
}

fn number(rest: &[u8]) -> (Tok, usize) {
    if rest.starts_with(b"0x") && rest.get(2).is_some_and(u8::is_ascii_hexdigit) {
        return (Tok::Int, 2 + run(&rest[2..], |b| b.is_ascii_hexdigit()));
    }
    let mut len = run(rest, |b| b.is_ascii_digit());
    if rest.get(len) != Some(&b'.') {
        return (Tok::Int, len);
    }
    len += 1 + run(&rest[len + 1..], |b| b.is_ascii_digit());
    if matches!(rest.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(len + 1), Some(b'+' | b'-')));
        let digits = run(&rest[(len + 1 + sign).min(rest.len())..], |b| b.is_ascii_digit());
        if digits > 0 {
            len += 1 + sign + digits;
        }
    }
    (Tok::Float, len)
}

/// Reads a name after its sigil: digits alone, or letters, digits and `extra`.
fn sigil(rest: &[u8], kind: Tok, extra: &[u8]) -> (Tok, usize) {
    let digits = run(&rest[1..], |b| b.is_ascii_digit());
    let len = if digits > 0 { digits } else { run(&rest[1..], |b| b.is_ascii_alphanumeric() || extra.contains(&b)) };
    if len == 0 { (Tok::Bad, 1) } else { (kind, 1 + len) }
}

/// The content of a string token, with its escapes resolved. It is `None` for a bad escape or bytes that are no UTF-8.
#[must_use]
pub fn unescape(quoted: &str) -> Option<String> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let bytes = inner.as_bytes();
    if !bytes.contains(&b'\\') {
        return Some(inner.to_owned());
    }
    let mut out = vec![];
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] != b'\\' {
            out.push(bytes[i]);
            i += 1;
            continue;
        }
        match bytes.get(i + 1)? {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b @ (b'\\' | b'"') => out.push(*b),
            _ => {
                out.push(u8::from_str_radix(inner.get(i + 1..i + 3)?, 16).ok()?);
                i += 1;
            }
        }
        i += 2;
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut out = vec![];
        let mut at = 0;
        loop {
            let t = token(text, at);
            if t.kind == Tok::End {
                return out;
            }
            out.push(&text[t.start..t.end]);
            at = t.end;
        }
    }

    #[test]
    fn tokens() {
        assert_eq!(
            words("%x#1 = tt.load %arg-0 // c\n-> 1.5e+3"),
            ["%x", "#1", "=", "tt.load", "%arg-0", "->", "1.5e+3"]
        );
        assert_eq!(words("@\"a b\" @f::@g 0xFF 12x"), ["@\"a b\"", "@f", "::", "@g", "0xFF", "12", "x"]);
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape(r#""a\0Ab\\\22""#).as_deref(), Some("a\nb\\\""));
        assert_eq!(unescape(r#""\q""#), None);
    }
}
