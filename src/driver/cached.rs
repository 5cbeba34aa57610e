//! Compilations that were made before: what of them is asked for again comes from the cache.
//!
//! 1. A request has a key ([`mod@key`]): the text of the input, every option that changes a byte, ttc and its tools by
//!    their contents. Under it lies a record ([`kept`]), which lists the files that imports led to, with digests of
//!    their texts, and the paths where imports found nothing. If all of that is as it was, the record names the result:
//!    no stage runs.
//! 2. Otherwise the front end runs. What it made has a key as well: TTIR with its locations, and what is known beside
//!    it. If there is a result under that key, the later stages do not run. So a change to one kernel of a file costs
//!    its neighbours the front end alone, as long as they stay on their lines.
//! 3. Otherwise all stages run, and record and result are kept.
//!
//! A compilation from the cache gives what the one before gave: the same bytes, metadata, warnings, remarks and lines
//! of `tl.static_print`. A failure is not kept, and neither is a run that looks inside the pipeline.

mod kept;
pub(super) mod key;

use std::time::Instant;

use self::kept::{Record, Result as Kept};
use super::flow::{self, name_files};
use super::job::{Compiled, Debug, Job};
use crate::backend::Stage;
use crate::cache::{Cache, Found, Key};
use crate::diag::Diagnostic;
use crate::source::SourceMap;

/// One compilation as the cache sees it.
pub(super) struct Memo<'a> {
    cache: &'a Cache,
    request: Key,
    outside: Key,
    wanted: Key,
    front: FrontEnd,
    /// Whether the result came from the cache.
    found: bool,
}

/// What is known of a compilation when the front end has ended.
#[derive(Default)]
struct FrontEnd {
    /// The key of the result. It is `None` where the input is a stage.
    result: Option<Key>,
    /// How many diagnostics the front end made.
    said: Option<usize>,
}

/// Takes one job through the stages, or as many of its stages from the cache as can be.
///
/// # Errors
/// Those of the stage that failed.
pub(super) fn run(
    cache: Option<&Cache>,
    job: &Job,
    sources: &mut SourceMap,
    want: &[Stage],
    debug: &Debug,
) -> Result<Compiled, Vec<Diagnostic>> {
    let start = Instant::now();
    let Some(mut memo) = cache.and_then(|cache| Memo::new(cache, job, sources, want, debug)) else {
        return flow::run(job, sources, want, debug, None);
    };
    if let Some((mut made, known)) = memo.at_once(job, sources) {
        *sources = known;
        memo.cache.count(Found::AtOnce);
        made.timings.push(("cache", start.elapsed()));
        made.diagnostics.iter_mut().for_each(|d| name_files(d, sources));
        return Ok(made);
    }
    let made = flow::run(job, sources, want, debug, Some(&mut memo));
    memo.cache.count(if memo.found { Found::Later } else { Found::No });
    made
}

impl<'a> Memo<'a> {
    /// The compilation, if it can come from the cache.
    fn new(cache: &'a Cache, job: &Job, sources: &SourceMap, want: &[Stage], debug: &Debug) -> Option<Memo<'a>> {
        let wanted = key::wanted(want, debug)?;
        // What cannot be read now will not be found by the compilation either, and that says so.
        let outside = key::outside(cache, job, want).ok()?;
        let request = key::of_request(key::of_job(job, sources), outside, wanted);
        Some(Memo { cache, request, outside, wanted, front: FrontEnd::default(), found: false })
    }

    /// The compilation and the sources that it read, if the request leads to a result without any stage.
    fn at_once(&self, job: &Job, sources: &SourceMap) -> Option<(Compiled, SourceMap)> {
        let (mut made, mut sources) = (Compiled::default(), sources.clone());
        made.files.push(job.input.file);
        let record = Record::from_bytes(&self.cache.get(self.request)?)?;
        let result = record.restore(&mut made, &mut sources)?;
        Kept::from_bytes(&self.cache.get(result)?)?.restore(&mut made, &mut sources)?;
        Some((made, sources))
    }

    /// Adds the result of the later stages to what the front end made, if the cache has it.
    pub(super) fn recall(&mut self, behind: &key::Behind<'_>, sources: &mut SourceMap) -> Option<Compiled> {
        let result = key::behind_front_end(behind, self.outside, self.wanted);
        self.front.result = Some(result);
        self.front.said = Some(behind.made.diagnostics.len());
        let kept = Kept::from_bytes(&self.cache.get(result)?)?;
        let mut made = Compiled::default();
        kept.restore(&mut made, sources)?;
        self.found = true;
        Some(made)
    }

    /// Keeps what was made.
    pub(super) fn keep(&self, made: &Compiled, sources: &SourceMap) {
        let FrontEnd { result, said } = &self.front;
        let front = said.unwrap_or(made.diagnostics.len());
        let result = result.unwrap_or_else(|| key::of_whole(self.request));
        if !self.found {
            let Some(bytes) = Kept::of(made, front, sources).and_then(|kept| kept.to_bytes()) else { return };
            self.cache.put(result, &bytes, false);
        }
        let record = Record::of(result, made, front, sources).and_then(|r| r.to_bytes());
        if let Some(bytes) = record {
            self.cache.put(self.request, &bytes, true);
        }
    }
}
