//! What a page shows, as it stands in the page: a JSON object.
//!
//! Lines of the modules between passes are mostly the same, so each different line is kept once.

use std::collections::BTreeMap;

use serde::Serialize;

use super::frames::{Frames, Place};
use super::links::{self, Linked};
use crate::backend::Stage;
use crate::diag::render::position;
use crate::driver::{Compiled, Job};
use crate::source::SourceMap;

/// Everything on a page.
#[derive(Serialize, Debug)]
pub struct Page {
    pub kernel: String,
    pub arch: String,
    pub compiler: String,
    /// What there is to know at a glance, with its name.
    pub facts: Vec<(&'static str, String)>,
    /// The source files, those of the library that were used too.
    pub files: Vec<File>,
    /// Lines of source files: the file's number and the line.
    pub places: Vec<(usize, u32)>,
    /// Places that belong together: where something is, and the lines that called it.
    pub chains: Vec<Vec<usize>>,
    pub stages: Vec<Listing>,
    /// Every different line of the modules between passes.
    pub lines: Vec<String>,
    pub passes: Vec<Pass>,
    /// Milliseconds of each stage.
    pub times: Vec<(&'static str, f64)>,
    pub remarks: Vec<Remark>,
    /// Instructions of SASS, and how many of them lead back to a source line.
    pub traced: Option<(usize, usize)>,
}

#[derive(Serialize, Debug)]
pub struct File {
    pub name: String,
    pub text: String,
}

/// The text of a stage.
#[derive(Serialize, Debug)]
pub struct Listing {
    pub name: &'static str,
    pub lines: Vec<String>,
    /// For each line the number of its chain, or -1.
    pub at: Vec<i64>,
}

/// A pass, with the module that it left if it changed it.
#[derive(Serialize, Debug)]
pub struct Pass {
    pub stage: &'static str,
    pub name: &'static str,
    pub ms: f64,
    /// The numbers of the module's lines.
    pub lines: Option<Vec<usize>>,
}

#[derive(Serialize, Debug)]
pub struct Remark {
    pub severity: &'static str,
    pub code: &'static str,
    pub message: String,
    pub help: Option<String>,
    /// The number of its place.
    pub place: Option<usize>,
}

/// What is shown of a compiled job.
#[must_use]
pub(super) fn of(job: &Job, made: &Compiled, sources: &SourceMap) -> Page {
    let text = |stage| made.artifacts.get(&stage).map(|b| String::from_utf8_lossy(b).into_owned()).unwrap_or_default();
    let llir = text(Stage::Llir);
    let chains = links::chains(&llir);
    let frames = Frames::of(chains.iter().map(Vec::as_slice));
    let sass = links::sass(&text(Stage::Listing), &frames);
    let traced = {
        let all = sass.iter().filter(|(line, _)| links::is_instruction(line));
        (all.clone().count(), all.filter(|(_, chain)| !chain.is_empty()).count())
    };
    let listed: [(&'static str, Linked); 5] = [
        ("TTIR", links::ir(&text(Stage::Ttir))),
        ("TTGIR", links::ir(&text(Stage::Ttgir))),
        ("LLVM IR", links::llir(&llir)),
        ("PTX", links::ptx(&text(Stage::Assembly), &frames)),
        ("SASS", sass),
    ];
    let mut table = Table::of(sources);
    let stages = listed.into_iter().map(|(name, lines)| table.listing(name, lines)).collect();
    let remarks = made.diagnostics.iter().map(|d| {
        let place = position(d, sources).and_then(|(file, at)| table.place(&(file, at?.line)));
        let (severity, code) = (d.severity.word(), d.code.id);
        Remark { severity, code, message: d.message.clone(), help: d.help.clone(), place }
    });
    let remarks = remarks.collect();
    let (lines, passes) = passes(made);
    let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
    Page {
        kernel: made.kernel.clone(),
        arch: job.target.name.to_owned(),
        compiler: made.metadata.compiler.clone(),
        facts: facts(made),
        files: table.files,
        places: table.places,
        chains: table.chains,
        stages,
        lines,
        passes,
        times: made.timings.iter().map(|(stage, time)| (*stage, ms(*time))).collect(),
        remarks,
        traced: (traced.0 > 0).then_some(traced),
    }
}

fn facts(made: &Compiled) -> Vec<(&'static str, String)> {
    let m = &made.metadata;
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
    let constants = m.constants.iter().flatten().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
    if !constants.is_empty() {
        facts.push(("constants", constants.join(", ")));
    }
    facts
}

fn passes(made: &Compiled) -> (Vec<String>, Vec<Pass>) {
    let (mut lines, mut numbers): (Vec<String>, BTreeMap<String, usize>) = (vec![], BTreeMap::new());
    let mut number = |line: String| {
        *numbers.entry(line).or_insert_with_key(|line| {
            lines.push(line.clone());
            lines.len() - 1
        })
    };
    let passes = made.passes.iter().map(|p| Pass {
        stage: p.stage,
        name: p.pass,
        ms: p.time.as_secs_f64() * 1e3,
        lines: p.text.as_ref().map(|text| text.lines().map(|l| number(l.to_owned())).collect()),
    });
    let passes = passes.collect();
    (lines, passes)
}

/// Numbers of files, places and chains.
struct Table {
    files: Vec<File>,
    places: Vec<(usize, u32)>,
    chains: Vec<Vec<usize>>,
    by_name: BTreeMap<String, usize>,
    known: BTreeMap<(usize, u32), usize>,
    known_chains: BTreeMap<Vec<usize>, usize>,
}

impl Table {
    fn of(sources: &SourceMap) -> Table {
        let (mut files, mut by_name) = (vec![], BTreeMap::new());
        for (_, file) in sources.iter() {
            let name = sources.remapped(&file.name).into_owned();
            by_name.insert(name.clone(), files.len());
            files.push(File { name, text: file.text.to_string() });
        }
        Table { files, places: vec![], chains: vec![], by_name, known: BTreeMap::new(), known_chains: BTreeMap::new() }
    }

    /// The number of a place, if its file is known.
    fn place(&mut self, (file, line): &Place) -> Option<usize> {
        let key = (*self.by_name.get(file)?, *line);
        let places = &mut self.places;
        Some(*self.known.entry(key).or_insert_with(|| {
            places.push(key);
            places.len() - 1
        }))
    }

    fn listing(&mut self, name: &'static str, lines: Linked) -> Listing {
        let (mut texts, mut at) = (vec![], vec![]);
        for (text, chain) in lines {
            let mut places: Vec<usize> = chain.iter().filter_map(|p| self.place(p)).collect();
            places.dedup();
            let chains = &mut self.chains;
            at.push(if places.is_empty() {
                -1
            } else {
                *self.known_chains.entry(places).or_insert_with_key(|places| {
                    chains.push(places.clone());
                    chains.len() - 1
                }) as i64
            });
            texts.push(text);
        }
        Listing { name, lines: texts, at }
    }
}
