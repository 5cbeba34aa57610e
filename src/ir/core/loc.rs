//! Source locations of operations and block arguments, as MLIR has them.
//!
//! A [`LocData::Name`] location (`loc("pid"(#loc2))`) carries the source name of the value that an operation defines.
//! The printer names the value after it, and line tables look through it.

use super::intern::{Name, interned};

interned!(
    /// A location.
    Loc => LocData
);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LocData {
    /// `loc(unknown)`
    Unknown,
    /// `loc("file":line:col)`. Line and column count from 1, and 0 means unknown.
    File { file: Name, line: u32, col: u32 },
    /// `loc("name"(child))`
    Name { name: Name, child: Loc },
    /// `loc(callsite(callee at caller))`
    CallSite { callee: Loc, caller: Loc },
    /// `loc(fused[a, b])`
    Fused(Vec<Loc>),
}

impl Loc {
    #[must_use]
    pub fn unknown() -> Loc {
        Loc::new(LocData::Unknown)
    }

    #[must_use]
    pub fn file(file: &str, line: u32, col: u32) -> Loc {
        Loc::new(LocData::File { file: Name::of(file), line, col })
    }

    #[must_use]
    pub fn named(name: &str, child: Loc) -> Loc {
        Loc::new(LocData::Name { name: Name::of(name), child })
    }

    #[must_use]
    pub fn call_site(callee: Loc, caller: Loc) -> Loc {
        Loc::new(LocData::CallSite { callee, caller })
    }

    /// The first name found in the location, callee before caller. The printer calls the value by it.
    #[must_use]
    pub fn value_name(self) -> Option<Name> {
        match self.data() {
            LocData::Name { name, .. } => Some(*name),
            LocData::CallSite { callee, caller } => callee.value_name().or_else(|| caller.value_name()),
            LocData::Fused(parts) => parts.iter().find_map(|l| l.value_name()),
            LocData::Unknown | LocData::File { .. } => None,
        }
    }

    /// The innermost file position. It is found through names, in the callee of a call site, and in the first part of a
    /// fusion that has one.
    #[must_use]
    pub fn file_line_col(self) -> Option<(Name, u32, u32)> {
        match self.data() {
            LocData::Unknown => None,
            LocData::File { file, line, col } => Some((*file, *line, *col)),
            LocData::Name { child, .. } => child.file_line_col(),
            LocData::CallSite { callee, .. } => callee.file_line_col(),
            LocData::Fused(parts) => parts.iter().find_map(|l| l.file_line_col()),
        }
    }
}
