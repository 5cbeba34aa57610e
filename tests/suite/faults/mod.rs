//! Planted faults.
pub(crate) mod graph;
pub(crate) mod judge;
pub(crate) mod plant;

use std::collections::BTreeMap;

use ttc::emu::{self, Landing, Launch, Memory, Options};

use judge::Verdict;
use plant::Planted;

/// The schedules in which a text runs.
const SCHEDULES: [(u64, Landing); 3] = [(1, Landing::Late), (2, Landing::Early), (3, Landing::Random)];

/// A launch of compiled code.
pub(crate) struct Subject<'a> {
    pub(crate) ptx: &'a str,
    pub(crate) kernel: &'a str,
    pub(crate) launch: &'a Launch,
    pub(crate) memory: &'a dyn Fn() -> Memory,
    pub(crate) buffers: usize,
}

/// What came of a text.
#[derive(Debug)]
pub(crate) struct Seen {
    /// What the detectors said first.
    pub(crate) found: Option<String>,
    /// What is wrong by the judge, or because the run ended or computed something else.
    pub(crate) broken: Option<String>,
    /// The lines that order what crosses the fault.
    pub(crate) reasons: std::collections::BTreeSet<u32>,
    pub(crate) too_large: bool,
    pub(crate) after: Vec<Vec<u8>>,
}

impl Subject<'_> {
    /// Runs a text in all schedules. `after` is what the buffers should hold.
    pub(crate) fn examine(&self, text: &str, line: u32, after: Option<&[Vec<u8>]>) -> Seen {
        let mut seen = Seen { found: None, broken: None, reasons: Default::default(), too_large: false, after: vec![] };
        let program = match emu::parse(text).map_err(|e| e.to_string()).and_then(|m| emu::decode(&m).map_err(|e| e.to_string())) {
            Ok(p) => p,
            Err(e) => panic!("the text cannot run: {e}"),
        };
        for (seed, landing) in SCHEDULES {
            if seen.found.is_some() && seen.broken.is_some() {
                break;
            }
            let mut memory = (self.memory)();
            let options = Options { seed, landing, observe: true, max_steps: 1 << 22, ..Options::default() };
            let done = emu::run(&program, self.kernel, self.launch, &mut memory, &options);
            let (outcome, fault) = match done {
                Ok(o) => (o, None),
                Err(f) => (f.before, Some(f.finding)),
            };
            if let Some(f) = outcome.findings.first().or(fault.as_ref()) {
                seen.found.get_or_insert_with(|| format!("{landing:?}: {}", f.text()));
            }
            if let Some(f) = fault {
                seen.broken.get_or_insert_with(|| format!("{landing:?}: the run ends: {}", f.message));
                continue;
            }
            let now: Vec<Vec<u8>> = (0..self.buffers).map(|i| memory.bytes(emu::BufferId(i as u32))).collect();
            match after {
                Some(want) if want != now => _ = seen.broken.get_or_insert_with(|| format!("{landing:?}: other results")),
                _ => {}
            }
            seen.after = now;
            match judge::judge(&outcome.events, line) {
                Verdict::Broken(words) => _ = seen.broken.get_or_insert_with(|| format!("{landing:?}: {words}")),
                Verdict::Ordered(reasons) => seen.reasons.extend(reasons),
                Verdict::TooLarge => seen.too_large = true,
            }
        }
        seen
    }
}
