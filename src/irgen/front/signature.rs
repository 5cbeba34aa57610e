//! The words of a signature: items between commas, names of types.
//!
//! Example: `*fp32:16, tensordesc<fp16[64, 32]>` has two items; `*ki32` is a pointer to constant integers.

use crate::irgen::types::{Dtype, Ty};

/// Splits a signature at its commas, except those in brackets, braces, angles and quotes.
#[must_use]
pub fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start, mut quote) = (vec![], 0i32, 0, None);
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[' | '(' | '<' | '{') => depth += 1,
            (None, ']' | ')' | '>' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() || !parts.is_empty() {
        parts.push(text[start..].trim());
    }
    parts
}

/// The type that a word of a signature names: `*fp32`, `u8`.
#[must_use]
pub fn parse_type(text: &str) -> Option<Ty> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('*') {
        let (rest, constant) = rest.strip_prefix('k').map_or((rest, false), |r| (r, true));
        return parse_type(rest).map(|t| Ty::scalar(Dtype::pointer_to(t, constant)));
    }
    Dtype::parse(text).filter(|&d| d != Dtype::Void).map(Ty::scalar)
}

/// The blocks of a descriptor: `tensordesc<fp16[64, 32]>`.
#[must_use]
pub fn parse_descriptor(text: &str) -> Option<Ty> {
    let inner = text.strip_prefix("tensordesc<")?.strip_suffix('>')?;
    let (elem, rest) = inner.split_once('[')?;
    let (dims, _) = rest.split_once(']')?;
    let shape = dims.split(',').map(|d| d.trim().parse().ok()).collect::<Option<Vec<i64>>>()?;
    Some(Ty::block(parse_type(elem)?.dtype, &shape))
}
