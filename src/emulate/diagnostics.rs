//! Findings of the emulator as diagnostics.

use crate::diag::codes::emu as codes;
use crate::diag::{Code, Diagnostic, Place};
use crate::emu::exec::launch::Fault;
use crate::emu::report::Site;
use crate::emu::{Finding, Kind};

/// The code of a kind of finding.
fn code(kind: Kind) -> &'static Code {
    match kind {
        Kind::Race => &codes::RACE,
        Kind::Uninitialised => &codes::UNINITIALISED,
        Kind::OutOfBounds => &codes::OUT_OF_BOUNDS,
        Kind::Misaligned => &codes::MISALIGNED,
        Kind::Divergence => &codes::DIVERGENCE,
        Kind::Deadlock => &codes::DEADLOCK,
        Kind::InFlight => &codes::IN_FLIGHT,
        Kind::Mbarrier => &codes::MBARRIER,
        Kind::Invalid => &codes::INVALID,
        Kind::Trap => &codes::TRAP,
        Kind::Endless => &codes::ENDLESS,
    }
}

fn place(site: &Site) -> Option<Place> {
    site.source.as_ref().map(|(file, line, column)| Place::At { file: file.clone(), line: *line, col: *column })
}

/// A finding as a diagnostic. `ptx` is the text of the program, whose line is shown.
pub fn of_finding(finding: &Finding, ptx: &str) -> Diagnostic {
    let mut d = Diagnostic::error(code(finding.kind), finding.message.clone());
    if let Some(place) = place(&finding.site) {
        d = d.at(place, "here");
    }
    if finding.site.line > 0 {
        d = d.note(format!("in {}, at {}", finding.actor.words(), line(&finding.site, ptx)));
    }
    for (note, site) in &finding.notes {
        d = match site {
            Some(site) => {
                let d = d.note(format!("{note}, at {}", line(site, ptx)));
                match place(site) {
                    Some(place) => d.at(place, "the other one"),
                    None => d,
                }
            }
            None => d.note(note.clone()),
        };
    }
    match &finding.help {
        Some(help) => d.help(help.clone()),
        None => d,
    }
}

/// All that a run found before it ended, and what ended it.
#[must_use]
pub fn of_fault(fault: &Fault, ptx: &str) -> Vec<Diagnostic> {
    fault.before.findings.iter().chain([&fault.finding]).map(|f| of_finding(f, ptx)).collect()
}

/// A line of the PTX with its text.
fn line(site: &Site, ptx: &str) -> String {
    let text = ptx.lines().nth(site.line.saturating_sub(1) as usize).unwrap_or_default().trim();
    format!("line {} of the PTX: `{text}`", site.line)
}
