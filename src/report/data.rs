//! What a page shows, as it stands in the page: a JSON object.
//!
//! A page has one [`Side`], or two that are compared: a compilation each, or a folder that a compiler left. Places,
//! chains and lines belong to the page, so that a source line means the same on both sides, and what the sides have in
//! common is there once.

use std::collections::BTreeMap;

use serde::Serialize;

use super::frames::Place;
use super::links::Linked;
use super::loops::Loop;
use super::memory::Memory;
use super::pressure::Pressure;
use super::values::{Picked, Types};
use crate::source::SourceMap;
use crate::target::Occupancy;

/// Everything on a page.
#[derive(Serialize, Debug)]
pub struct Page {
    pub kernel: String,
    /// The source files, those of the library that were used too.
    pub files: Vec<File>,
    /// Lines of source files: the file's number and the line.
    pub places: Vec<(usize, u32)>,
    /// Places that belong together: where something is, and the lines that called it.
    pub chains: Vec<Vec<usize>>,
    /// Every different line of the modules between passes.
    pub lines: Vec<String>,
    pub sides: Vec<Side>,
}

/// What was made of the kernel in one way.
#[derive(Serialize, Debug)]
pub struct Side {
    /// What tells it from the other one.
    pub name: String,
    pub arch: String,
    pub compiler: String,
    /// What there is to know at a glance, with its name.
    pub facts: Vec<(&'static str, String)>,
    pub stages: Vec<Listing>,
    pub passes: Vec<Pass>,
    /// Milliseconds of each stage.
    pub times: Vec<(&'static str, f64)>,
    pub remarks: Vec<Remark>,
    /// Instructions of the binary, and how many of them lead back to a source line.
    pub traced: Option<(usize, usize)>,
    pub types: Types,
    pub memory: Option<Memory>,
    pub loops: Vec<Loop>,
    pub pressure: Option<Pressure>,
    pub occupancy: Option<Occupied>,
}

/// The blocks on one multiprocessor.
#[derive(Serialize, Debug)]
pub struct Occupied {
    #[serde(flatten)]
    pub found: Occupancy,
    /// What there would have to be more of for another block.
    pub limits: Vec<crate::target::Resource>,
    pub warps_of_block: u32,
    pub registers: u32,
    pub shared: u32,
}

#[derive(Serialize, Debug)]
pub struct File {
    pub name: String,
    pub text: String,
}

/// The text of a stage.
#[derive(Serialize, Debug, Default)]
pub struct Listing {
    pub name: String,
    pub lines: Vec<String>,
    /// For each line the number of its chain, or -1.
    pub at: Vec<i64>,
    /// The values that lines define or use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Picked>,
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

/// Numbers of files, places, chains and lines.
#[derive(Default)]
pub(super) struct Table {
    files: Vec<File>,
    places: Vec<(usize, u32)>,
    chains: Vec<Vec<usize>>,
    lines: Vec<String>,
    by_name: BTreeMap<String, usize>,
    known: BTreeMap<(usize, u32), usize>,
    known_chains: BTreeMap<Vec<usize>, usize>,
    known_lines: BTreeMap<String, usize>,
}

impl Table {
    /// Adds the files of a compilation.
    pub(super) fn add_sources(&mut self, sources: &SourceMap) {
        for (_, file) in sources.iter() {
            let name = sources.remapped(&file.name).into_owned();
            if !self.by_name.contains_key(&name) {
                self.by_name.insert(name.clone(), self.files.len());
                self.files.push(File { name, text: file.text.to_string() });
            }
        }
    }

    /// The number of a place, if its file is known. A folder of another compiler may name the file by another path.
    pub(super) fn place(&mut self, (file, line): &Place) -> Option<usize> {
        let base = |name: &str| {
            let name = name.rsplit('/').next().unwrap_or(name);
            // A kernel file may have either name.
            name.strip_suffix(".tk").or_else(|| name.strip_suffix(".py")).unwrap_or(name).to_owned()
        };
        let found = self.by_name.get(file).copied().or_else(|| {
            let same: Vec<usize> =
                self.by_name.iter().filter(|(name, _)| base(name) == base(file)).map(|(_, &n)| n).collect();
            // Several files of one name are no answer.
            same.first().copied().filter(|_| same.len() == 1)
        })?;
        let key = (found, *line);
        let places = &mut self.places;
        Some(*self.known.entry(key).or_insert_with(|| {
            places.push(key);
            places.len() - 1
        }))
    }

    pub(super) fn line(&mut self, line: &str) -> usize {
        if let Some(&known) = self.known_lines.get(line) {
            return known;
        }
        self.lines.push(line.to_owned());
        self.known_lines.insert(line.to_owned(), self.lines.len() - 1);
        self.lines.len() - 1
    }

    pub(super) fn listing(&mut self, name: String, lines: Linked) -> Listing {
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
        Listing { name, lines: texts, at, values: vec![] }
    }

    /// The page.
    pub(super) fn page(self, kernel: String, sides: Vec<Side>) -> Page {
        let Table { files, places, chains, lines, .. } = self;
        Page { kernel, files, places, chains, lines, sides }
    }
}
