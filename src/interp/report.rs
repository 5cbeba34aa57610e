//! What a launch gives back besides memory: the lines that were printed, the values that were traced, and counts.

use crate::ir::Type;

/// A line that a program printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    pub program: [u32; 3],
    pub text: String,
}

/// A value that was defined at the traced line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Traced {
    pub line: u32,
    pub col: u32,
    /// The name in the source, if it has one.
    pub name: Option<String>,
    /// The operation that made it, such as `arith.addf`.
    pub op: &'static str,
    pub ty: Type,
    /// All elements, or the first and the last ones of each dimension of a large tensor.
    pub text: String,
}

/// What a launch did besides writing to memory.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// The printed lines, in the order of the programs.
    pub printed: Vec<Printed>,
    pub traced: Vec<Traced>,
    /// How many lines were printed beyond [`RunOptions::max_lines`](super::options::RunOptions::max_lines).
    pub printed_more: u64,
    /// How many values were traced beyond [`RunOptions::max_lines`](super::options::RunOptions::max_lines).
    pub traced_more: u64,
    pub programs: u64,
    /// How many operations were evaluated, over all programs.
    pub ops: u64,
    /// Whether programs ran at the same time.
    pub parallel: bool,
}
