//! What is wrong with a PTX text, and where.

use std::fmt;

/// A position in a text. Lines and columns count from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A text that is no PTX, or not the PTX that the emulator knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub at: Position,
    /// What is wrong.
    pub message: String,
}

impl Error {
    pub(crate) fn new(at: Position, message: impl Into<String>) -> Error {
        Error { at, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}

impl std::error::Error for Error {}
