//! String literals: where they end, and what their text stands for.
//!
//! 1. [`Opening::of`] reads the prefix letters and the opening quotes.
//! 2. [`end`] finds the closing quotes. In an f-string the quotes inside a replacement field do not count
//!    (`f"{d["k"]}"`); a field that makes no sense is ignored and the text taken as an ordinary string, so that one
//!    slip does not swallow the file.
//! 3. [`decode`] and [`decode_bytes`] replace escapes by what they stand for.
//!
//! Example: `rb'\x41'` has the prefix `rb`, ends at the second quote, and is four bytes since a raw string has no
//! escapes.

/// The prefix letters and the quotes a literal opens with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opening {
    pub raw: bool,
    pub bytes: bool,
    /// Whether the literal is an f-string or a template string (`f` or `t`).
    pub format: bool,
    pub template: bool,
    pub quote: u8,
    pub triple: bool,
    /// Byte offset of the first character after the quotes.
    pub content: usize,
}

impl Opening {
    /// Reads the opening of the literal that starts at `start`, which must be a prefix letter or a quote.
    #[must_use]
    pub fn of(text: &str, start: usize) -> Opening {
        let b = text.as_bytes();
        let mut o = Opening {
            raw: false,
            bytes: false,
            format: false,
            template: false,
            quote: b'"',
            triple: false,
            content: start,
        };
        while let Some(&c) = b.get(o.content) {
            o.content += 1;
            match c {
                b'r' | b'R' => o.raw = true,
                b'b' | b'B' => o.bytes = true,
                b'f' | b'F' => o.format = true,
                b't' | b'T' => (o.format, o.template) = (true, true),
                b'"' | b'\'' => {
                    o.quote = c;
                    break;
                }
                _ => {}
            }
        }
        if b.get(o.content) == Some(&o.quote) && b.get(o.content + 1) == Some(&o.quote) {
            o.triple = true;
            o.content += 2;
        }
        o
    }

    /// The content's end, given the end of the whole literal.
    #[must_use]
    pub fn content_end(&self, end: usize) -> usize {
        end - if self.triple { 3 } else { 1 }
    }
}

/// How deep f-strings may nest in each other's fields.
const MAX_NESTING: u32 = 6;
/// How many lines a field of a single-quoted f-string may span.
const MAX_FIELD_LINES: u32 = 40;

/// Finds the end of a literal: the offset after the closing quotes.
///
/// # Errors
/// The offset at which the line (the file, for triple quotes) cuts the literal.
pub fn end(text: &str, open: &Opening, fields: bool) -> Result<usize, usize> {
    let b = text.as_bytes();
    if fields && let Some(end) = format_end(b, open, 0) {
        return Ok(end);
    }
    plain_end(b, open)
}

fn closes(b: &[u8], at: usize, open: &Opening) -> Option<usize> {
    if b[at] != open.quote {
        None
    } else if !open.triple {
        Some(at + 1)
    } else if b.get(at + 1) == Some(&open.quote) && b.get(at + 2) == Some(&open.quote) {
        Some(at + 3)
    } else {
        None
    }
}

/// The offset after a backslash and the character that it protects.
fn after_backslash(b: &[u8], at: usize) -> usize {
    match (b.get(at + 1), b.get(at + 2)) {
        (Some(b'\r'), Some(b'\n')) => at + 3,
        _ => (at + 2).min(b.len()),
    }
}

fn plain_end(b: &[u8], open: &Opening) -> Result<usize, usize> {
    let mut at = open.content;
    while at < b.len() {
        match b[at] {
            b'\\' => at = after_backslash(b, at),
            b'\n' | b'\r' if !open.triple => return Err(at),
            _ => match closes(b, at, open) {
                Some(end) => return Ok(end),
                None => at += 1,
            },
        }
    }
    Err(b.len())
}

fn format_end(b: &[u8], open: &Opening, nesting: u32) -> Option<usize> {
    let mut at = open.content;
    while at < b.len() {
        match b[at] {
            b'\\' if !open.raw && b.get(at + 1) == Some(&b'N') && b.get(at + 2) == Some(&b'{') => at += 3,
            b'\\' if b.get(at + 1) == Some(&b'{') => at += 1,
            b'\\' => at = after_backslash(b, at),
            b'{' if b.get(at + 1) == Some(&b'{') => at += 2,
            b'{' => at = field_end(b, at + 1, open, nesting)?,
            b'\n' | b'\r' if !open.triple => return None,
            _ => match closes(b, at, open) {
                Some(end) => return Some(end),
                None => at += 1,
            },
        }
    }
    None
}

/// The offset after the `}` of the replacement field whose expression starts at `at`.
fn field_end(b: &[u8], mut at: usize, open: &Opening, nesting: u32) -> Option<usize> {
    if nesting > MAX_NESTING {
        return None;
    }
    let mut depth = 0u32;
    let mut lines = 0;
    while at < b.len() {
        match b[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at + 1),
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b':' if depth == 0 => return spec_end(b, at + 1, open, nesting),
            b'"' | b'\'' => {
                at = nested_string(b, at, nesting)?;
                continue;
            }
            b'\n' if !open.triple => {
                lines += 1;
                if lines > MAX_FIELD_LINES {
                    return None;
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The offset after the `}` that ends a field whose format spec starts at `at`.
fn spec_end(b: &[u8], mut at: usize, open: &Opening, nesting: u32) -> Option<usize> {
    while at < b.len() {
        match b[at] {
            b'}' => return Some(at + 1),
            b'{' => at = field_end(b, at + 1, open, nesting + 1)?,
            b'\n' | b'\r' if !open.triple => return None,
            _ if closes(b, at, open).is_some() => return None,
            _ => at += 1,
        }
    }
    None
}

/// The offset after the string inside a replacement field whose opening quote is at `at`; its prefix letters, if any,
/// stand before.
#[must_use]
pub fn nested(text: &str, at: usize) -> Option<usize> {
    nested_string(text.as_bytes(), at, 0)
}

fn nested_string(b: &[u8], at: usize, nesting: u32) -> Option<usize> {
    let mut start = at;
    while start > 0 && at - start < 2 && matches!(b[start - 1].to_ascii_lowercase(), b'r' | b'b' | b'u' | b'f' | b't') {
        start -= 1;
    }
    let letters = &b[start..at];
    let has = |c: u8| letters.iter().any(|l| l.eq_ignore_ascii_case(&c));
    let quote = b[at];
    let triple = b.get(at + 1) == Some(&quote) && b.get(at + 2) == Some(&quote);
    let format = has(b'f') || has(b't');
    let open = Opening {
        raw: has(b'r'),
        bytes: has(b'b'),
        format,
        template: has(b't'),
        quote,
        triple,
        content: at + if triple { 3 } else { 1 },
    };
    if format { format_end(b, &open, nesting + 1) } else { plain_end(b, &open).ok() }
}

/// Why a literal's text cannot be decoded: a byte range of the content and a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EscapeError {
    pub lo: usize,
    pub hi: usize,
    pub message: String,
}

/// Decodes the content of a string literal. Line breaks become `\n`; an unknown escape stays as written, as in Python.
///
/// # Errors
/// Fails on an escape that is cut short or that names no character.
pub fn decode(content: &str, raw: bool) -> Result<String, EscapeError> {
    let mut out = String::with_capacity(content.len());
    let mut at = 0;
    while let Some(c) = content[at..].chars().next() {
        if c == '\r' {
            out.push('\n');
            at += if content[at + 1..].starts_with('\n') { 2 } else { 1 };
        } else if c == '\\' && !raw {
            at = escape(content, at, &mut out)?;
        } else {
            out.push(c);
            at += c.len_utf8();
        }
    }
    Ok(out)
}

/// Decodes the escape at `at`, returns the offset after it.
fn escape(s: &str, at: usize, out: &mut String) -> Result<usize, EscapeError> {
    let Some(c) = s[at + 1..].chars().next() else {
        out.push('\\');
        return Ok(at + 1);
    };
    let next = at + 1 + c.len_utf8();
    let simple = match c {
        '\n' => return Ok(next),
        '\r' => return Ok(if s[next..].starts_with('\n') { next + 1 } else { next }),
        '\\' | '\'' | '"' => c,
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '0'..='7' => return Ok(octal(s, at, out)),
        'x' => return hex(s, at, 2, out),
        'u' => return hex(s, at, 4, out),
        'U' => return hex(s, at, 8, out),
        'N' => return named(s, at, out),
        _ => {
            out.push('\\');
            c
        }
    };
    out.push(simple);
    Ok(next)
}

fn octal(s: &str, at: usize, out: &mut String) -> usize {
    let digits = s[at + 1..].bytes().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
    let value = u32::from_str_radix(&s[at + 1..at + 1 + digits], 8).unwrap_or(0);
    out.push(char::from_u32(value).unwrap_or('\u{fffd}'));
    at + 1 + digits
}

fn hex(s: &str, at: usize, want: usize, out: &mut String) -> Result<usize, EscapeError> {
    let digits = s[at + 2..].bytes().take(want).take_while(u8::is_ascii_hexdigit).count();
    let hi = at + 2 + digits;
    if digits < want {
        let message = format!("`\\{}` wants {want} hexadecimal digits, found {digits}", &s[at + 1..at + 2]);
        return Err(EscapeError { lo: at, hi, message });
    }
    let value = u32::from_str_radix(&s[at + 2..hi], 16).unwrap_or(u32::MAX);
    if value > 0x10_ffff {
        return Err(EscapeError { lo: at, hi, message: format!("U+{value:X} is past the last character, U+10FFFF") });
    }
    // A lone surrogate is legal in Python and has no place in UTF-8.
    out.push(char::from_u32(value).unwrap_or('\u{fffd}'));
    Ok(hi)
}

/// Decodes `\N{NAME}` to U+FFFD. No kernel depends on the character, so the name is not looked up.
fn named(s: &str, at: usize, out: &mut String) -> Result<usize, EscapeError> {
    let rest = &s[at + 2..];
    match rest.strip_prefix('{').and_then(|r| r.find('}')) {
        Some(close) if close > 0 => {
            out.push('\u{fffd}');
            Ok(at + 2 + close + 2)
        }
        _ => Err(EscapeError { lo: at, hi: at + 2, message: "`\\N` wants the name of a character in braces".into() }),
    }
}

/// Decodes the content of a bytes literal.
///
/// # Errors
/// Fails on a character outside ASCII and on a bad `\x` escape.
pub fn decode_bytes(content: &str, raw: bool) -> Result<Vec<u8>, EscapeError> {
    if let Some((lo, c)) = content.char_indices().find(|(_, c)| !c.is_ascii()) {
        let message = format!("`{c}` is not ASCII; a bytes literal holds ASCII characters and escapes only");
        return Err(EscapeError { lo, hi: lo + c.len_utf8(), message });
    }
    let b = content.as_bytes();
    let mut out = Vec::with_capacity(b.len());
    let mut at = 0;
    while at < b.len() {
        // `\u`, `\U` and `\N` mean nothing in bytes and stay as written.
        if b[at] == b'\\' && !raw && !matches!(b.get(at + 1), Some(b'u' | b'U' | b'N')) {
            let mut one = String::new();
            at = escape(content, at, &mut one)?;
            out.extend(one.chars().map(|c| c as u8));
        } else {
            out.push(b[at]);
            at += 1;
        }
    }
    Ok(out)
}
