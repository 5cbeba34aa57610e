//! The layout adapter: from words and line breaks to logical lines and blocks.
//!
//! 1. Outside brackets a line break after a word is a `Newline`; blank lines and comment lines give nothing.
//! 2. The first word of a logical line is measured as Python does: once with tabs to columns of eight and once with
//!    tabs as one column. Both must agree on deeper, equal or shallower; `Indent` and `Dedent` follow from a stack of
//!    open levels.
//! 3. Inside brackets line breaks do not count. When a physical line starts there with a word that only a statement can
//!    start with (`def`, `return`, …), or the file ends, a bracket was never closed: the statement ends before the
//!    first of its continuation lines that is not indented deeper than the statement, and reading resumes at that line.
//!    Re-reading has a budget, so the whole is linear.
//! 4. The lines that mark a merge conflict (`<<<<<<< HEAD`) are faults and change no brackets and no blocks. In a
//!    string they are text, as for Python.
//! 5. What is wrong is a [`Tok::Error`] token and a [`LexError`] with the same position.
//!
//! Example: `x = f(a\ny = 1\nreturn` reports the `(` and gives three lines, the first of which ends in an error token.

use logos::Logos;

use super::token::{RawError, Tok, Token};

/// A fault of the text itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LexError {
    pub kind: LexErrorKind,
    /// The range that a message points at.
    pub lo: u32,
    pub hi: u32,
    /// The offset at which its [`Tok::Error`] starts. It does not decrease from one error to the next.
    pub at: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LexErrorKind {
    /// Characters that start no word.
    Character,
    /// A string that its line does not end.
    String,
    /// A triple-quoted string that the file does not end.
    TripleString,
    /// An opening bracket that nothing closes; the range is the bracket.
    Unclosed,
    /// A closing bracket of another kind than the innermost open one, which stands at this offset.
    Mismatched(u32),
    /// A closing bracket while none is open.
    Unopened,
    /// A line that is less deep than the one before, at a level that is not open.
    Dedent,
    /// A line that is deeper, or not, depending on the width of a tab.
    Tabs,
    /// A line with which a version control system marks a conflict; the range is the line.
    Conflict,
}

/// The tokens of a text, ended by [`Tok::End`], and what is wrong in it.
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    pub tokens: Vec<Token>,
    pub errors: Vec<LexError>,
}

impl Lexed {
    /// The errors whose tokens start in `lo..=hi`.
    #[must_use]
    pub fn errors_in(&self, lo: u32, hi: u32) -> &[LexError] {
        let first = self.errors.partition_point(|e| e.at < lo);
        let last = self.errors.partition_point(|e| e.at <= hi);
        &self.errors[first..last.max(first)]
    }
}

/// Reads a whole file.
#[must_use]
pub fn lex(text: &str) -> Lexed {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    Layout::new(text, start, false).run()
}

/// Reads `text[lo..hi]` as an expression, so without lines and blocks. Offsets are those of `text`.
#[must_use]
pub fn lex_flat(text: &str, lo: usize, hi: usize) -> Lexed {
    Layout::new(&text[..hi], lo, true).run()
}

/// A physical line inside brackets: where recovery may resume.
struct Continuation {
    start: u32,
    column: u32,
    tokens: usize,
    errors: usize,
}

struct Layout<'t> {
    text: &'t str,
    flat: bool,
    out: Lexed,
    /// Columns of the open blocks, with tabs as eight and as one.
    indents: Vec<(u32, u32)>,
    /// A column that was reported as matching no level and is not reported again.
    stray: Option<u32>,
    brackets: Vec<(Tok, u32)>,
    continuations: Vec<Continuation>,
    /// Where the physical line starts.
    line_start: usize,
    /// Whether no word of the physical line has been seen yet.
    fresh: bool,
    /// Whether a word of the logical line has been seen.
    in_line: bool,
    /// The column at which the logical line starts.
    column: u32,
    /// How many bytes may still be read again.
    budget: usize,
}

impl<'t> Layout<'t> {
    fn new(text: &'t str, start: usize, flat: bool) -> Layout<'t> {
        let tokens = Vec::with_capacity((text.len() - start) / 4 + 4);
        Layout {
            text,
            flat,
            out: Lexed { tokens, errors: vec![] },
            indents: vec![(0, 0)],
            stray: None,
            brackets: vec![],
            continuations: vec![],
            line_start: start,
            fresh: true,
            in_line: false,
            column: 0,
            budget: 2 * text.len() + 65536,
        }
    }

    fn run(mut self) -> Lexed {
        let mut base = self.line_start;
        loop {
            base = match self.run_from(base) {
                Some(resume) => resume,
                None => return self.out,
            };
        }
    }

    /// Reads from `base`; returns where to resume after a recovery, or `None` at the end of the text.
    fn run_from(&mut self, base: usize) -> Option<usize> {
        self.line_start = base;
        self.fresh = true;
        let mut words = Tok::lexer(&self.text[base..]);
        while let Some(word) = words.next() {
            let (lo, hi) = (base + words.span().start, base + words.span().end);
            match word {
                Ok(Tok::Newline) => self.line_break(lo, hi),
                Ok(_) if self.fresh && !self.flat && lo == self.line_start && is_conflict_marker(&self.text[lo..]) => {
                    return Some(self.conflict(lo));
                }
                Ok(tok) => {
                    if self.fresh
                        && let Some(resume) = self.first_word(tok, lo)
                    {
                        return Some(resume);
                    }
                    self.word(tok, lo, hi);
                }
                Err(raw) => {
                    if self.fresh {
                        self.first_word(Tok::Error, lo);
                    }
                    self.raw_error(raw, lo, hi);
                }
            }
        }
        let end = self.text.len();
        if !self.brackets.is_empty()
            && let Some(resume) = self.unclosed(end)
        {
            return Some(resume);
        }
        self.finish(end);
        None
    }

    fn push(&mut self, tok: Tok, lo: usize, hi: usize) {
        self.out.tokens.push(Token { tok, lo: lo as u32, hi: hi as u32 });
    }

    fn error(&mut self, kind: LexErrorKind, at: usize, lo: usize, hi: usize) {
        self.out.errors.push(LexError { kind, lo: lo as u32, hi: hi as u32, at: at as u32 });
    }

    fn line_break(&mut self, lo: usize, hi: usize) {
        self.line_start = hi;
        self.fresh = true;
        if self.brackets.is_empty() && self.in_line && !self.flat {
            self.end_line(lo);
        }
    }

    fn end_line(&mut self, at: usize) {
        self.push(Tok::Newline, at, at);
        self.in_line = false;
        self.continuations.clear();
    }

    fn finish(&mut self, end: usize) {
        if self.in_line && !self.flat {
            self.end_line(end);
        }
        for _ in 1..self.indents.len() {
            self.push(Tok::Dedent, end, end);
        }
        self.push(Tok::End, end, end);
    }

    /// Handles the start of a physical line; returns where to resume when it shows that a bracket was never closed.
    fn first_word(&mut self, tok: Tok, lo: usize) -> Option<usize> {
        self.fresh = false;
        if self.flat {
            return None;
        }
        let (column, narrow) = self.measure(lo);
        if self.in_line {
            if !self.brackets.is_empty() {
                if tok.starts_statement() {
                    return self.unclosed(lo);
                }
                if tok.opener().is_none() {
                    let (tokens, errors) = (self.out.tokens.len(), self.out.errors.len());
                    self.continuations.push(Continuation { start: self.line_start as u32, column, tokens, errors });
                }
            }
            return None;
        }
        self.in_line = true;
        self.indent(column, narrow, lo);
        self.column = column;
        None
    }

    /// The columns of the physical line's first word at `lo`: with tabs to the next multiple of eight, and with tabs as
    /// one.
    fn measure(&self, lo: usize) -> (u32, u32) {
        let (mut wide, mut narrow) = (0, 0);
        for b in self.text[self.line_start..lo].bytes() {
            match b {
                b' ' => (wide, narrow) = (wide + 1, narrow + 1),
                b'\t' => (wide, narrow) = ((wide / 8 + 1) * 8, narrow + 1),
                b'\x0c' => (wide, narrow) = (0, 0),
                _ => break,
            }
        }
        (wide, narrow)
    }

    fn indent(&mut self, column: u32, narrow: u32, lo: usize) {
        let top = *self.indents.last().expect("the level of column 0 is never popped");
        if column > top.0 {
            if self.stray == Some(column) {
                return;
            }
            self.push(Tok::Indent, lo, lo);
            if narrow <= top.1 {
                self.layout_error(LexErrorKind::Tabs, lo);
            }
            self.indents.push((column, narrow));
        } else {
            while self.indents.last().is_some_and(|l| l.0 > column) {
                self.indents.pop();
                self.push(Tok::Dedent, lo, lo);
            }
            let level = *self.indents.last().expect("no column is less than 0");
            if level.0 != column {
                self.layout_error(LexErrorKind::Dedent, lo);
                self.stray = Some(column);
                return;
            }
            if level.1 != narrow {
                self.layout_error(LexErrorKind::Tabs, lo);
            }
        }
        self.stray = None;
    }

    /// Reports the conflict marker at `lo`, a line of its own where no bracket is open. Returns where the line ends.
    fn conflict(&mut self, lo: usize) -> usize {
        let end = lo + self.text[lo..].find(['\n', '\r']).unwrap_or(self.text.len() - lo);
        self.push(Tok::Error, lo, end);
        self.error(LexErrorKind::Conflict, lo, lo, end);
        self.in_line = true;
        end
    }

    /// Reports an error in the blanks before `lo`.
    fn layout_error(&mut self, kind: LexErrorKind, lo: usize) {
        self.push(Tok::Error, lo, lo);
        self.error(kind, lo, self.line_start, lo);
    }

    fn word(&mut self, tok: Tok, lo: usize, hi: usize) {
        if tok.opens() {
            self.brackets.push((tok, lo as u32));
        } else if let Some(opener) = tok.opener() {
            match self.brackets.last() {
                Some(&(open, _)) if open == opener => {
                    self.brackets.pop();
                }
                last => return self.stray_closer(last.map(|l| l.1), opener, lo, hi),
            }
        }
        self.push(tok, lo, hi);
    }

    /// Handles a closing bracket that does not fit. It closes up to the bracket that it fits, if one is open, else the
    /// innermost one.
    fn stray_closer(&mut self, innermost: Option<u32>, opener: Tok, lo: usize, hi: usize) {
        self.push(Tok::Error, lo, hi);
        self.error(innermost.map_or(LexErrorKind::Unopened, LexErrorKind::Mismatched), lo, lo, hi);
        let closes = self.brackets.iter().rposition(|b| b.0 == opener).unwrap_or(self.brackets.len().saturating_sub(1));
        self.brackets.truncate(closes);
    }

    fn raw_error(&mut self, raw: RawError, lo: usize, hi: usize) {
        let kind = match raw {
            RawError::Character => LexErrorKind::Character,
            RawError::String => LexErrorKind::String,
            RawError::TripleString => LexErrorKind::TripleString,
        };
        if raw == RawError::Character
            && let (Some(token), Some(error)) = (self.out.tokens.last_mut(), self.out.errors.last_mut())
            && token.tok == Tok::Error
            && token.hi == lo as u32
            && error.kind == kind
        {
            (token.hi, error.hi) = (hi as u32, hi as u32);
            return;
        }
        self.push(Tok::Error, lo, hi);
        self.error(kind, lo, lo, hi);
        // In `f("abc)` most likely only a quote is missing, so the brackets inside the string count.
        if raw == RawError::String && !self.flat {
            let closers = self.text[lo..hi].bytes().filter(|b| matches!(b, b')' | b']' | b'}')).count();
            if closers >= self.brackets.len() {
                self.brackets.clear();
            }
        }
    }

    /// Reports a bracket that is still open at `at`, where none can be, and ends the line. Returns where to resume, or
    /// `None` at the end of the text if there is nothing left to read again.
    fn unclosed(&mut self, at: usize) -> Option<usize> {
        let outer = self.brackets.first().map_or(0, |b| b.1);
        let column = self.column;
        let resume = self
            .continuations
            .iter()
            .find(|c| c.start > outer && c.column <= column)
            .filter(|c| at - c.start as usize <= self.budget)
            .map(|c| (c.start as usize, c.tokens, c.errors));
        let limit = resume.map_or(at, |r| r.0);
        let inner = self.brackets.iter().rfind(|b| (b.1 as usize) < limit).map_or(outer, |b| b.1) as usize;
        self.brackets.clear();
        let resume = if let Some((start, tokens, errors)) = resume {
            self.budget -= at - start;
            self.out.tokens.truncate(tokens);
            self.out.errors.truncate(errors);
            Some(start)
        } else if at < self.text.len() {
            Some(self.line_start)
        } else {
            None
        };
        let end = self.out.tokens.last().map_or(at, |t| t.hi as usize);
        self.push(Tok::Error, end, end);
        self.error(LexErrorKind::Unclosed, end, inner, inner + 1);
        if !self.flat {
            self.end_line(end);
        }
        resume
    }
}

/// Whether a line starts with the marks that version control systems leave: seven of a kind and then a blank or the
/// line's end. No line of Python starts so.
fn is_conflict_marker(line: &str) -> bool {
    let b = line.as_bytes();
    let Some(&first) = b.first().filter(|c| matches!(c, b'<' | b'=' | b'>' | b'|')) else { return false };
    b.len() >= 7 && b[..7].iter().all(|&c| c == first) && b.get(7).is_none_or(u8::is_ascii_whitespace)
}
