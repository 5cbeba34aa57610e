//! Remarks on the TTGIR that code is generated from: what keeps a kernel from being as fast as it could be, in the
//! words of its source.
//!
//! Nothing here changes the IR. Each group is a function from the module to diagnostics of severity remark; `ttc
//! compile --remarks GROUP` shows them, and `docs/remarks.md` has an example of each.
//!
//! | group | remarks | made by |
//! |---|---|---|
//! | `vectorize` | accesses of global memory that are narrow or scattered, and the fact that is missing | [`vectorize`] |
//! | `layout` | conversions between layouts that cost something | [`layout`] |
//! | `shared` | buffers in shared memory | [`shared`] |
//! | `spill` | registers and spilled bytes | the driver, from ptxas's report |
//! | `dot` | products that cannot use the fastest instruction | the pass `tritongpu-accelerate-matmul` |
//! | `pipeline` | loads and loops that are not pipelined | the passes of the pipeliner |
//! | `tma` | loads of tiles that become copies by hardware, and why others do not | the pass `ttc-loads-to-tma` |
//! | `order` | barriers that accesses to global memory need | the pass `tritongpu-insert-barriers` |
//!
//! 1. The final TTGIR is analysed; the passes' own remarks are sorted into groups by their codes ([`Group::of_code`]).
//! 2. Several operations of one source line (a pipelined loop has copies of its loads before and after it) give one
//!    remark: equal remarks are told once.

mod layout;
mod shared;
mod vectorize;

use std::collections::BTreeSet;

use crate::diag::codes::{passes as codes, tools};
use crate::diag::{Code, Diagnostic, Place};
use crate::ir::core::{Ir, Loc, LocData, Name};
use crate::target::Target;

/// A kind of remarks that can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Group {
    Vectorize,
    Layout,
    Shared,
    Spill,
    Dot,
    Pipeline,
    Tma,
    Order,
}

impl Group {
    pub const ALL: [Group; 8] = [
        Group::Vectorize,
        Group::Layout,
        Group::Shared,
        Group::Spill,
        Group::Dot,
        Group::Pipeline,
        Group::Tma,
        Group::Order,
    ];

    /// The word of `--remarks`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Group::Vectorize => "vectorize",
            Group::Layout => "layout",
            Group::Shared => "shared",
            Group::Spill => "spill",
            Group::Dot => "dot",
            Group::Pipeline => "pipeline",
            Group::Tma => "tma",
            Group::Order => "order",
        }
    }

    /// The group of a word.
    #[must_use]
    pub fn find(word: &str) -> Option<Group> {
        Group::ALL.into_iter().find(|g| g.word() == word)
    }

    /// The group that a remark with this code belongs to; `None` for remarks that only tests ask for.
    #[must_use]
    pub fn of_code(code: &Code) -> Option<Group> {
        let table: [(&Code, Group); 16] = [
            (&codes::NARROW_ACCESS, Group::Vectorize),
            (&codes::SCATTERED_ACCESS, Group::Vectorize),
            (&codes::LAYOUT_CONVERSION, Group::Layout),
            (&codes::SHARED_BUFFER, Group::Shared),
            (&tools::REGISTER_USE, Group::Spill),
            (&codes::SLOWER_DOT, Group::Dot),
            (&codes::PIPELINED_IN_REGISTERS, Group::Pipeline),
            (&codes::NOT_PIPELINED, Group::Pipeline),
            (&codes::TMA_LOAD, Group::Tma),
            (&codes::COPIES_WAIT, Group::Pipeline),
            (&codes::FEWER_STAGES, Group::Pipeline),
            (&codes::FUSED_STEPS, Group::Pipeline),
            (&codes::MERGED_PROGRAMS, Group::Pipeline),
            (&codes::SPLIT_ROWS, Group::Pipeline),
            (&codes::NOT_AHEAD, Group::Pipeline),
            (&codes::GLOBAL_BARRIER, Group::Order),
        ];
        table.into_iter().find(|(known, _)| *known == code).map(|(_, group)| group)
    }
}

/// A parameter of the kernel as its author knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    pub name: String,
    /// As in a signature, without a divisor: `*fp32`, `i32`.
    pub ty: String,
}

/// The remarks of these groups on final TTGIR. `parameters` are those of the kernel, in order; without them the IR's
/// own names are used.
#[must_use]
pub fn of_module(ir: &Ir, groups: &BTreeSet<Group>, target: &Target, parameters: &[Parameter]) -> Vec<Diagnostic> {
    let mut said = vec![];
    for &group in groups {
        match group {
            Group::Vectorize => {
                said.extend(ir.functions().into_iter().flat_map(|f| vectorize::of_function(ir, f, parameters)));
            }
            Group::Layout => said.extend(layout::of_module(ir, target)),
            Group::Shared => said.extend(shared::of_module(ir, target)),
            Group::Spill | Group::Dot | Group::Pipeline | Group::Tma | Group::Order => {}
        }
    }
    without_repetitions(said)
}

/// Each remark once, where it comes first.
#[must_use]
pub fn without_repetitions(remarks: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    remarks.into_iter().filter(|d| seen.insert((d.code.id, d.place().cloned(), d.message.clone()))).collect()
}

/// The place that a location carries: the innermost in a file of the user's, since the language's own library cannot be
/// changed.
fn place_of(loc: Loc) -> Option<Place> {
    let (file, line, col) = user_position(loc).or_else(|| loc.file_line_col())?;
    Some(Place::At { file: file.to_string(), line, col })
}

fn user_position(loc: Loc) -> Option<(Name, u32, u32)> {
    match loc.data() {
        LocData::CallSite { callee, caller } => user_position(*callee).or_else(|| user_position(*caller)),
        LocData::Name { child, .. } => user_position(*child),
        LocData::Fused(parts) => parts.iter().find_map(|&l| user_position(l)),
        LocData::File { .. } | LocData::Unknown => {
            loc.file_line_col().filter(|(file, ..)| !file.as_str().starts_with(LIBRARY))
        }
    }
}

/// What the names of the language's own files start with.
const LIBRARY: &str = "<prelude>";

/// Adds the place that a location carries, if it has one.
fn at(diagnostic: Diagnostic, loc: Loc, text: &str) -> Diagnostic {
    match place_of(loc) {
        Some(place) => diagnostic.at(place, text),
        None => diagnostic,
    }
}

/// `1 byte`, `16 bytes`
fn bytes(n: u32) -> String {
    format!("{n} byte{}", if n == 1 { "" } else { "s" })
}
