//! One side of a page: a compilation, or a folder with what a compiler left.

use super::data::{Listing, Occupied, Pass, Remark, Side, Table};
use super::folder::Folder;
use super::frames::Frames;
use super::links::{self, Linked};
use super::{loops, memory, pressure};
use crate::backend::Stage;
use crate::diag::render::position;
use crate::driver::{Compiled, Job, metadata::Metadata};
use crate::ir::Ir;
use crate::ir::text::{ParseOptions, parse_module};
use crate::source::SourceMap;
use crate::target::{Target, Usage, Vendor};

/// The pass behind which loops have their schedules, and the one behind which code generation reads the module.
pub(super) const SCHEDULED: [&str; 2] = ["tritongpu-schedule-loops", "tritonamdgpu-schedule-loops"];
pub(super) const PREPARED: &str = "tritongpu-insert-barriers";

/// The texts of the stages, of whatever compiler.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) ttir: String,
    pub(super) ttgir: String,
    pub(super) llir: String,
    pub(super) assembly: String,
    pub(super) listing: String,
    /// The listing with registers in use.
    pub(super) lives: Option<String>,
}

/// What the numbers of a side are computed from.
struct Known<'a> {
    target: Target,
    metadata: &'a Metadata,
    /// The module with schedules, and the one that code generation reads.
    scheduled: Option<Ir>,
    made: Option<Ir>,
    is_ours: bool,
}

/// A compilation.
pub(super) fn of_job(name: String, job: &Job, made: &Compiled, sources: &SourceMap, table: &mut Table) -> Side {
    table.add_sources(sources);
    let text = |stage| made.artifacts.get(&stage).map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default();
    let texts = Texts {
        ttir: text(Stage::Ttir),
        ttgir: text(Stage::Ttgir),
        llir: text(Stage::Llir),
        assembly: text(Stage::Assembly),
        listing: text(Stage::Listing),
        lives: made.lives.clone(),
    };
    let behind = |names: &[&str]| {
        let found = made.passes.iter().rev().find(|p| names.contains(&p.pass) && p.located.is_some());
        found.and_then(|p| module(p.located.as_deref().unwrap_or_default()))
    };
    let known = Known {
        target: job.target,
        metadata: &made.metadata,
        scheduled: behind(&SCHEDULED),
        made: behind(&[PREPARED]).or_else(|| module(&texts.ttgir)),
        is_ours: true,
    };
    let mut side = of(name, &texts, &known, table);
    let remarks = made.diagnostics.iter().map(|d| {
        let place = position(d, sources).and_then(|(file, at)| table.place(&(file, at?.line)));
        let (severity, code) = (d.severity.word(), d.code.id);
        Remark { severity, code, message: d.message.clone(), help: d.help.clone(), place }
    });
    side.remarks = remarks.collect();
    let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
    side.passes = made
        .passes
        .iter()
        .map(|p| Pass {
            stage: p.stage,
            name: p.pass,
            ms: ms(p.time),
            lines: p.text.as_ref().map(|text| text.lines().map(|l| table.line(l)).collect()),
        })
        .collect();
    side.times = made.timings.iter().map(|(stage, time)| (*stage, ms(*time))).collect();
    side
}

/// A folder.
pub(super) fn of_folder(name: String, folder: &Folder, table: &mut Table) -> Side {
    let known = Known {
        target: folder.target,
        metadata: &folder.metadata,
        scheduled: None,
        made: module(&folder.texts.ttgir),
        is_ours: false,
    };
    of(name, &folder.texts, &known, table)
}

fn module(text: &str) -> Option<Ir> {
    let mut map = SourceMap::default();
    let file = map.add("stage", None, text);
    parse_module(&map, file, &ParseOptions { allow_unregistered: true, ..ParseOptions::default() }).ok()
}

fn of(name: String, texts: &Texts, known: &Known<'_>, table: &mut Table) -> Side {
    let target = &known.target;
    let chains = links::chains(&texts.llir);
    let frames = Frames::of(chains.iter().map(Vec::as_slice));
    let of_nvidia = target.vendor() == Vendor::Nvidia;
    let listing = if of_nvidia { links::sass(&texts.listing, &frames) } else { links::isa(&texts.listing, &frames) };
    let is_instruction = if of_nvidia { links::is_instruction } else { links::is_isa };
    let traced = {
        let all = listing.iter().filter(|(line, _)| is_instruction(line));
        (all.clone().count(), all.filter(|(_, chain)| !chain.is_empty()).count())
    };
    let word = |stage: Stage| stage.word(target).to_uppercase();
    let listed: [(String, Linked, &str); 5] = [
        ("TTIR".into(), links::ir(&texts.ttir), &texts.ttir),
        ("TTGIR".into(), links::ir(&texts.ttgir), &texts.ttgir),
        ("LLVM IR".into(), links::llir(&texts.llir), ""),
        (word(Stage::Assembly), links::assembly(&texts.assembly, &frames), ""),
        (word(Stage::Listing), listing, ""),
    ];
    let mut side = Side {
        name,
        arch: target.name.to_owned(),
        compiler: known.metadata.compiler.clone(),
        facts: vec![],
        stages: vec![],
        passes: vec![],
        times: vec![],
        remarks: vec![],
        traced: (traced.0 > 0).then_some(traced),
        types: super::values::Types::default(),
        memory: None,
        loops: vec![],
        pressure: None,
        occupancy: occupied(known),
    };
    for (name, lines, text) in listed {
        let mut listing: Listing = table.listing(name, lines);
        if !text.is_empty() {
            listing.values = side.types.read(text).0;
        }
        side.stages.push(listing);
    }
    let lines = side.stages.last().map_or(&[][..], |s| &s.lines);
    side.pressure = texts.lives.as_deref().and_then(|lives| pressure::of(lives, lines));
    if let Some(ir) = &known.made {
        side.memory = memory::of(ir, &known.metadata.name, target, known.is_ours, table);
        side.loops = loops::of(known.scheduled.as_ref(), ir, table);
    }
    side.facts = facts(known, &side);
    side
}

/// The blocks on one multiprocessor, if what they take is known.
fn occupied(known: &Known<'_>) -> Option<Occupied> {
    let m = known.metadata;
    let threads = m.launch.as_ref().map(|l| l.threads / known.target.warp_size());
    let usage = Usage {
        warps: threads.or(m.num_warps)?,
        registers: m.registers?,
        shared: m.launch.as_ref().map_or(m.shared, |l| Some(l.shared))?,
    };
    let found = known.target.multiprocessor().occupancy(&usage);
    let limits = found.limits().collect();
    let Usage { warps, registers, shared } = usage;
    Some(Occupied { found, limits, warps_of_block: warps, registers, shared })
}

fn facts(known: &Known<'_>, side: &Side) -> Vec<(&'static str, String)> {
    let m = known.metadata;
    let number = |name, n: Option<u32>| n.map(|n| (name, n.to_string()));
    let mut facts: Vec<(&'static str, String)> = [
        number("registers a thread", m.registers),
        number("bytes of spills", m.spills),
        number("bytes of shared memory", m.shared),
        number("warps", m.num_warps),
        number("stages", m.num_stages),
        number("blocks a cluster", m.num_ctas).filter(|(_, n)| n != "1"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if let Some(o) = &side.occupancy {
        facts.push(("occupancy", format!("{}/{}", o.found.warps, o.found.most_warps)));
    }
    if let Some((all, _)) = side.traced {
        facts.push(("instructions", all.to_string()));
    }
    if let Some(memory) = &side.memory {
        facts.push(("wavefronts for bank conflicts", memory.conflicts.to_string()));
    }
    let constants = m.constants.iter().flatten().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
    if !constants.is_empty() {
        facts.push(("constants", constants.join(", ")));
    }
    facts
}
