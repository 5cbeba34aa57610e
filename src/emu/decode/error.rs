//! What the decoder does not know, and where.

use std::fmt;

use crate::emu::ptx::syntax::{Instruction, Position};

/// An instruction or a declaration that the emulator does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    pub at: Position,
    pub message: String,
}

impl DecodeError {
    pub(crate) fn new(at: Position, message: impl Into<String>) -> DecodeError {
        DecodeError { at, message: message.into() }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}

impl std::error::Error for DecodeError {}

pub(super) type Result<T> = std::result::Result<T, DecodeError>;

/// The instruction with its modifiers, as the text has it.
pub(super) fn spelled(ins: &Instruction) -> String {
    std::iter::once(ins.opcode).chain(ins.modifiers.iter().copied()).collect::<Vec<_>>().join(".")
}
