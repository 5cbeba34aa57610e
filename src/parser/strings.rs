//! String literals, alone or adjacent, as expressions.
//!
//! 1. Plain pieces are decoded and joined: text with text, bytes with bytes.
//! 2. With an f-string among them, the pieces become one list of parts. The text of an f-string alternates literal
//!    runs, in which `{{` and `}}` stand for braces, and fields `{expression=!conversion:spec}`. A field's expression
//!    is read by the same grammar as any other; its end is found first, by skipping brackets and nested strings up to
//!    `=`, `!`, `:` or `}`. A spec is again such a text.
//!
//! Example: `"a" f"{x!r:>{w}}b"` has the parts `a`, field `x` with conversion `r` and spec (`>`, field `w`), `b`.

use std::sync::Arc;

use crate::diag::Diagnostic;
use crate::diag::codes::syntax;
use crate::lexer::Tok;
use crate::lexer::string::{self, EscapeError, Opening};

use super::ast::{Constant, Expr, ExprKind, FString, FStringField, FStringPart};
use super::cx::Cx;
use super::{feed, limits};

/// The expression for the adjacent literals `pieces`, which together cover `lo..hi`.
pub(crate) fn literal(cx: &mut Cx<'_>, pieces: &[(Tok, u32, u32)], lo: u32, hi: u32) -> Expr {
    let openings: Vec<Opening> = pieces.iter().map(|p| Opening::of(cx.text, p.1 as usize)).collect();
    let bytes = openings.iter().filter(|o| o.bytes).count();
    if bytes > 0 && bytes < pieces.len() {
        cx.error(
            &syntax::BAD_STRING,
            cx.span(lo, hi),
            "text and bytes literals cannot be joined",
            "some with the prefix `b`, some without",
        );
    }
    let kind = if bytes == pieces.len() {
        ExprKind::Constant(Constant::Bytes(Arc::from(bytes_of(cx, pieces, &openings))))
    } else if openings.iter().any(|o| o.format) {
        ExprKind::FString(parts_of(cx, pieces, &openings))
    } else {
        ExprKind::Constant(Constant::Str(Arc::from(text_of(cx, pieces, &openings))))
    };
    cx.expr(lo, hi, kind)
}

fn bytes_of(cx: &mut Cx<'_>, pieces: &[(Tok, u32, u32)], openings: &[Opening]) -> Vec<u8> {
    let mut all = vec![];
    for (&(_, _, hi), open) in pieces.iter().zip(openings) {
        match string::decode_bytes(&cx.text[open.content..open.content_end(hi as usize)], open.raw) {
            Ok(bytes) => all.extend(bytes),
            Err(error) => bad_escape(cx, open.content, &error),
        }
    }
    all
}

fn text_of(cx: &mut Cx<'_>, pieces: &[(Tok, u32, u32)], openings: &[Opening]) -> String {
    let mut all = String::new();
    for (&(_, _, hi), open) in pieces.iter().zip(openings) {
        all.push_str(&decode(cx, open.content, open.content_end(hi as usize), open.raw));
    }
    all
}

fn decode(cx: &mut Cx<'_>, lo: usize, hi: usize, raw: bool) -> String {
    string::decode(&cx.text[lo..hi], raw).unwrap_or_else(|error| {
        bad_escape(cx, lo, &error);
        String::new()
    })
}

fn bad_escape(cx: &mut Cx<'_>, content: usize, error: &EscapeError) {
    let span = cx.span((content + error.lo) as u32, (content + error.hi) as u32);
    cx.error(&syntax::BAD_STRING, span, error.message.clone(), "in this string");
}

fn parts_of(cx: &mut Cx<'_>, pieces: &[(Tok, u32, u32)], openings: &[Opening]) -> FString {
    let mut out = FString { parts: vec![], template: openings.iter().any(|o| o.template) };
    for (&(_, _, hi), open) in pieces.iter().zip(openings) {
        let end = open.content_end(hi as usize);
        if !open.format {
            let text = decode(cx, open.content, end, open.raw);
            push_text(&mut out.parts, text);
        } else if cx.fstring_depth >= limits::MAX_FSTRING_DEPTH {
            let message = format!("f-strings nest deeper than {} levels", limits::MAX_FSTRING_DEPTH);
            cx.error(&syntax::TOO_DEEP, cx.span(open.content as u32, end as u32), message, "too deep");
        } else {
            cx.fstring_depth += 1;
            fields(cx, open.content, end, open.raw, &mut out.parts);
            cx.fstring_depth -= 1;
        }
    }
    out
}

fn push_text(parts: &mut Vec<FStringPart>, text: String) {
    if let Some(FStringPart::Literal(last)) = parts.last_mut() {
        last.push_str(&text);
    } else if !text.is_empty() {
        parts.push(FStringPart::Literal(text));
    }
}

/// Reads the text of an f-string.
fn fields(cx: &mut Cx<'_>, lo: usize, hi: usize, raw: bool, parts: &mut Vec<FStringPart>) {
    let b = cx.text.as_bytes();
    let mut run = lo;
    let mut at = lo;
    while at < hi {
        match b[at] {
            b'\\' if !raw && b[at..hi].starts_with(b"\\N{") => at += cx.text[at..hi].find('}').map_or(3, |i| i + 1),
            b'\\' if !raw && b.get(at + 1) == Some(&b'\\') => at += 2,
            b'{' | b'}' if at + 1 < hi && b[at + 1] == b[at] => {
                let text = decode(cx, run, at + 1, raw);
                push_text(parts, text);
                at += 2;
                run = at;
            }
            b'{' => {
                let text = decode(cx, run, at, raw);
                push_text(parts, text);
                match field(cx, at, hi, raw, parts) {
                    Some(end) => (at, run) = (end, end),
                    None => return,
                }
            }
            b'}' => {
                let error = Diagnostic::error(&syntax::BAD_FSTRING, "a `}` in an f-string closes no field")
                    .at(cx.span(at as u32, at as u32 + 1), "no `{` before it")
                    .help("write `}}` for a brace");
                return cx.report(error);
            }
            _ => at += 1,
        }
    }
    let text = decode(cx, run.min(hi), hi, raw);
    push_text(parts, text);
}

/// Reads the field whose `{` is at `open`, with the text that a `=` in it stands for. Returns the offset after its `}`,
/// or `None` when an error was reported.
fn field(cx: &mut Cx<'_>, open: usize, hi: usize, raw: bool, parts: &mut Vec<FStringPart>) -> Option<usize> {
    let b = cx.text.as_bytes();
    let Some(end) = expression_end(cx.text, open + 1, hi) else {
        unclosed_field(cx, open);
        return None;
    };
    let mut at = end;
    let mut documented = false;
    if b[at] == b'=' {
        at += 1;
        while at < hi && b[at].is_ascii_whitespace() {
            at += 1;
        }
        push_text(parts, cx.text[open + 1..at].to_owned());
        documented = true;
    }
    if cx.text[open + 1..end].trim().is_empty() {
        cx.error(
            &syntax::BAD_FSTRING,
            cx.span(open as u32, at as u32 + 1),
            "a field of an f-string holds no expression",
            "empty",
        );
        return None;
    }
    let value = feed::expression(cx, open + 1, end)?;
    let mut conversion = None;
    if at < hi && b[at] == b'!' {
        let letter = cx.text[at + 1..hi].chars().next();
        let Some(c @ ('r' | 's' | 'a')) = letter else {
            cx.error(
                &syntax::BAD_FSTRING,
                cx.span(at as u32, at as u32 + 1),
                "expected `r`, `s` or `a` after `!` in an f-string",
                "here",
            );
            return None;
        };
        conversion = Some(c);
        at += 2;
        while at < hi && b[at].is_ascii_whitespace() {
            at += 1;
        }
    }
    let mut spec = None;
    if at < hi && b[at] == b':' {
        let (parts, end) = spec_parts(cx, at + 1, hi, raw)?;
        spec = Some(parts);
        at = end;
    }
    if at >= hi || b[at] != b'}' {
        unclosed_field(cx, open);
        return None;
    }
    if documented && spec.is_none() {
        conversion = conversion.or(Some('r'));
    }
    let span = cx.span(open as u32, at as u32 + 1);
    parts.push(FStringPart::Field(Box::new(FStringField { value, conversion, spec, span })));
    Some(at + 1)
}

fn unclosed_field(cx: &mut Cx<'_>, open: usize) {
    let error = Diagnostic::error(&syntax::BAD_FSTRING, "a field of an f-string is not closed")
        .at(cx.span(open as u32, open as u32 + 1), "this `{` has no `}`")
        .help("write `{{` for a brace");
    cx.report(error);
}

/// Reads the parts of a format spec from `lo`. Returns them with the offset of the `}` that ends the spec.
fn spec_parts(cx: &mut Cx<'_>, lo: usize, hi: usize, raw: bool) -> Option<(Vec<FStringPart>, usize)> {
    let b = cx.text.as_bytes();
    let mut parts = vec![];
    let (mut run, mut at) = (lo, lo);
    while at < hi && b[at] != b'}' {
        if b[at] == b'{' {
            if cx.fstring_depth >= limits::MAX_FSTRING_DEPTH {
                cx.error(
                    &syntax::TOO_DEEP,
                    cx.span(at as u32, at as u32 + 1),
                    "format specs nest too deep",
                    "too deep",
                );
                return None;
            }
            let text = decode(cx, run, at, raw);
            push_text(&mut parts, text);
            cx.fstring_depth += 1;
            let read = field(cx, at, hi, raw, &mut parts);
            cx.fstring_depth -= 1;
            at = read?;
            run = at;
        } else {
            at += 1;
        }
    }
    let text = decode(cx, run, at, raw);
    push_text(&mut parts, text);
    Some((parts, at))
}

/// Finds where the expression of a field ends: at its `}`, `:`, `!` or self-documenting `=`.
fn expression_end(text: &str, mut at: usize, hi: usize) -> Option<usize> {
    let b = &text.as_bytes()[..hi];
    let mut depth = 0u32;
    while at < hi {
        let next = b.get(at + 1).copied();
        match b[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b'}' | b':' if depth == 0 => return Some(at),
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b'!' | b'=' | b'<' | b'>' if next == Some(b'=') => at += 1,
            b'!' | b'=' if depth == 0 => return Some(at),
            b'"' | b'\'' => {
                at = string::nested(&text[..hi], at)?;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}
