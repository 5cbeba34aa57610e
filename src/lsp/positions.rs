//! Positions as the protocol counts them: lines from 0, and columns in UTF-16 units or, if the client can, in bytes.
//!
//! Example: in `é = x` the `x` is at column 4 in UTF-16 and at column 5 in bytes.

use lsp_types::{Position, Range};

use crate::source::{SourceFile, Span};

/// What a column counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
}

impl Encoding {
    /// The byte offset of a position. Positions behind the end of a line or of the text mean that end.
    #[must_use]
    pub(super) fn offset(self, text: &str, at: Position) -> usize {
        let mut start = 0;
        for _ in 0..at.line {
            match text[start..].find('\n') {
                Some(end) => start += end + 1,
                None => return text.len(),
            }
        }
        let line = text[start..].split('\n').next().unwrap_or("");
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut units = 0;
        for (i, c) in line.char_indices() {
            if units >= at.character as usize {
                return start + i;
            }
            units += self.units(c);
        }
        start + line.len()
    }

    fn units(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
        }
    }

    /// The position of a byte offset.
    #[must_use]
    pub(super) fn position(self, file: &SourceFile, offset: u32) -> Position {
        let at = file.line_col(offset);
        let line = file.line(at.line);
        let character = line.chars().take(at.col.saturating_sub(1) as usize).map(|c| self.units(c)).sum::<usize>();
        Position { line: at.line - 1, character: character as u32 }
    }

    #[must_use]
    pub(super) fn range(self, file: &SourceFile, span: Span) -> Range {
        Range { start: self.position(file, span.lo), end: self.position(file, span.hi) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceMap;

    #[test]
    fn positions_come_back_in_both_encodings() {
        let text = "é = x\r\n😀 = y\nz";
        let mut map = SourceMap::default();
        let file = map.add("k.tk", None, text);
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            for (offset, _) in text.char_indices().filter(|(_, c)| *c != '\n' && *c != '\r') {
                let at = encoding.position(map.file(file), offset as u32);
                assert_eq!(encoding.offset(text, at), offset, "{at:?}");
            }
        }
        let x = Position { line: 0, character: 4 };
        assert_eq!(&text[Encoding::Utf16.offset(text, x)..][..1], "x");
        assert_eq!(Encoding::Utf16.offset(text, Position { line: 1, character: 99 }), text.len() - 2);
        assert_eq!(Encoding::Utf16.offset(text, Position { line: 9, character: 0 }), text.len());
    }
}
