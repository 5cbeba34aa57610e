//! Bytes as a byte string of Rust over several lines.
//!
//! A `\` at the end of a line joins the next one to it, without the spaces that it starts with. So a space is written
//! in numbers where a line starts.

use std::fmt::Write as _;

/// The columns of a line, before the one character too many that ends it.
const COLUMNS: usize = 118;

/// Prints the literal.
pub(super) fn literal(out: &mut String, bytes: &[u8]) {
    out.push_str("b\"\\\n");
    let mut column = 0;
    for &byte in bytes {
        let start = out.len();
        match byte {
            0 => out.push_str("\\0"),
            b'"' | b'\\' => out.extend(['\\', byte as char]),
            b' ' if column > 0 => out.push(' '),
            b'!'..=b'~' => out.push(byte as char),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
        column += out.len() - start;
        if column >= COLUMNS - 3 {
            out.push_str("\\\n");
            column = 0;
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the compiler makes of a literal.
    fn value(literal: &str) -> Vec<u8> {
        let mut bytes = vec![];
        let mut rest = literal.strip_prefix("b\"").and_then(|r| r.strip_suffix('"')).unwrap().bytes().peekable();
        while let Some(b) = rest.next() {
            if b != b'\\' {
                bytes.push(b);
                continue;
            }
            match rest.next().unwrap() {
                b'0' => bytes.push(0),
                b'x' => {
                    let digits = [rest.next().unwrap(), rest.next().unwrap()];
                    bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
                }
                b'\n' => while rest.next_if(|b| matches!(b, b' ' | b'\n' | b'\t' | b'\r')).is_some() {},
                same => bytes.push(same),
            }
        }
        bytes
    }

    #[test]
    fn every_byte_survives_at_every_column() {
        for shift in 0..8 {
            let mut bytes = vec![b'a'; shift];
            bytes.extend((0..=255u8).chain([b' '; 400]).chain(0..=255).chain(b"\\\"\\\n 0".repeat(100)));
            let mut text = String::new();
            literal(&mut text, &bytes);
            assert_eq!(value(&text), bytes);
            assert!(text.lines().all(|l| l.len() <= 120));
        }
    }
}
