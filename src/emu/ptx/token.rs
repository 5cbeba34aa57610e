//! Tokens of PTX ("PTX ISA, Syntax": source format, comments, identifiers, constants).
//!
//! A word that starts with a dot is one token, with its `::` parts: `.global`, `.L2::cache_hint`, `.2d`. An opcode with
//! its modifiers is an identifier followed by such words.

use logos::Logos;

use super::error::{Error, Position};

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub(super) enum Kind {
    #[regex(r"\.[A-Za-z0-9_]+(::[A-Za-z0-9_]+)*")]
    Dotted,
    #[regex(r"[A-Za-z][A-Za-z0-9_$]*|[_$%][A-Za-z0-9_$]+")]
    Name,
    #[token("_")]
    Sink,
    #[regex(r"0[fF][0-9a-fA-F]{8}")]
    Single,
    #[regex(r"0[dD][0-9a-fA-F]{16}")]
    Double,
    #[regex(r"0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|[0-9]+U?")]
    Integer,
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?")]
    Real,
    #[regex(r#""([^"\\\n]|\\.)*""#)]
    Text,
    #[token("{")]
    BraceOpen,
    #[token("}")]
    BraceClose,
    #[token("(")]
    ParenOpen,
    #[token(")")]
    ParenClose,
    #[token("[")]
    BracketOpen,
    #[token("]")]
    BracketClose,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("=")]
    Equals,
    #[token("@")]
    At,
    #[token("!")]
    Not,
    #[token("|")]
    Or,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
}

/// The tokens of a text. The last one is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Error> {
    let mut all = Vec::with_capacity(text.len() / 4);
    let end = u32::try_from(text.len()).map_err(|_| Error::new(Position::default(), "the text is over 4 GiB"))?;
    for (kind, span) in Kind::lexer(text).spanned() {
        let Ok(kind) = kind else {
            let shown: String = text[span.start..].chars().take(1).collect();
            return Err(Error::new(
                Lines::new(text).position(span.start as u32),
                format!("no token of PTX starts with {shown:?}"),
            ));
        };
        all.push(Token { kind, start: span.start as u32, end: span.end as u32 });
    }
    all.push(Token { kind: Kind::End, start: end, end });
    Ok(all)
}

/// The bytes at which lines start, for many look-ups.
pub(super) struct Lines(Vec<u32>);

impl Lines {
    pub(super) fn new(text: &str) -> Lines {
        let breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1);
        Lines(std::iter::once(0).chain(breaks).collect())
    }

    pub(super) fn position(&self, at: u32) -> Position {
        let line = self.0.partition_point(|&start| start <= at);
        Position { line: line as u32, column: at - self.0[line - 1] + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_need_no_digits_behind_the_point() {
        let kinds = |text: &str| tokens(text).unwrap().into_iter().map(|t| t.kind).collect::<Vec<Kind>>();
        for real in ["15.", "1.5", "1.e3", "2.5e-1"] {
            assert_eq!(kinds(&format!("{real};")), [Kind::Real, Kind::Semicolon, Kind::End], "{real}");
        }
    }
}
