//! What a run found: what is wrong, where, and what to do.

use std::fmt::Write as _;

use super::decode::program::{Place, Program};

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Two accesses without an order, of which one writes.
    Race,
    /// A read of bytes that nobody has written.
    Uninitialised,
    OutOfBounds,
    Misaligned,
    /// Lanes or warps that must do something together do not.
    Divergence,
    /// Every warp waits.
    Deadlock,
    /// A register that an asynchronous product uses is touched while it runs.
    InFlight,
    /// A wrong use of an `mbarrier`: no barrier there, a wrong count, a wrong phase.
    Mbarrier,
    /// A launch or an instruction that cannot be, such as a barrier with a wrong number.
    Invalid,
    /// `trap`, or an assertion that failed.
    Trap,
    /// The work of a launch is over the limit.
    Endless,
}

impl Kind {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Race => "race",
            Kind::Uninitialised => "uninitialised",
            Kind::OutOfBounds => "out of bounds",
            Kind::Misaligned => "misaligned",
            Kind::Divergence => "divergence",
            Kind::Deadlock => "deadlock",
            Kind::InFlight => "in flight",
            Kind::Mbarrier => "mbarrier",
            Kind::Invalid => "invalid",
            Kind::Trap => "trap",
            Kind::Endless => "endless",
        }
    }
}

/// A place in the program, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// The line of the PTX text; 0 if there is none.
    pub line: u32,
    pub column: u32,
    /// The file, line and column of the kernel's source.
    pub source: Option<(String, u32, u32)>,
}

impl Site {
    pub(crate) fn new(program: &Program, place: Place) -> Site {
        let source = place.source.map(|s| {
            let file = program.files.get(&s.file).cloned().unwrap_or_else(|| "?".to_owned());
            (file, s.line, s.column)
        });
        Site { line: place.at.line, column: place.at.column, source }
    }

    /// `PTX line 12 (softmax.tk:8:4)`.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.source {
            Some((file, line, column)) => format!("PTX line {} ({file}:{line}:{column})", self.line),
            None => format!("PTX line {}", self.line),
        }
    }
}

/// Who did something: a block, a warp of it, and lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Actor {
    pub block: [u32; 3],
    pub warp: u32,
    /// A bit for each lane.
    pub lanes: u32,
}

impl Actor {
    /// `block (0, 0, 0), warp 1, lane 3`.
    #[must_use]
    pub fn words(&self) -> String {
        let [x, y, z] = self.block;
        let mut text = format!("block ({x}, {y}, {z}), warp {}", self.warp);
        match self.lanes.count_ones() {
            0 | 32 => {}
            1 => _ = write!(text, ", lane {}", self.lanes.trailing_zeros()),
            n => _ = write!(text, ", {n} lanes from {} on", self.lanes.trailing_zeros()),
        }
        text
    }
}

/// Something that is wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: Kind,
    pub message: String,
    pub site: Site,
    pub actor: Actor,
    /// The other access of a race, and whatever else helps.
    pub notes: Vec<(String, Option<Site>)>,
    pub help: Option<String>,
}

impl Finding {
    /// The finding as lines of text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text =
            format!("{}: {}\n  at {}, {}\n", self.kind.name(), self.message, self.site.words(), self.actor.words());
        for (note, site) in &self.notes {
            let at = site.as_ref().map_or_else(String::new, |s| format!(", at {}", s.words()));
            let _ = writeln!(text, "  {note}{at}");
        }
        if let Some(help) = &self.help {
            let _ = writeln!(text, "  help: {help}");
        }
        text
    }
}
