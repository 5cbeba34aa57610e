//! `ttc tune`: finds the best configuration of a kernel on the GPU.
//!
//! 1. The lock file is read first, so that a wrong one is found before minutes are spent.
//! 2. Each combination of the case's parameters is tuned by itself. A table goes to stdout for each.
//! 3. The best configurations go into the lock file, beside those that are there.

use std::fmt::Write as _;
use std::path::Path;

use ttc::cases::{Config, Folder, Loaded};
use ttc::diag::{Diagnostic, codes};
use ttc::driver::output;
use ttc::gpu::lock::{self, Entry, Lock};
use ttc::gpu::measure::{Clock, Plan};
use ttc::gpu::session::Gpu;
use ttc::gpu::table::align;
use ttc::gpu::tune::{self, Attempt, Outcome, Request, Tuned};
use ttc::gpu::{record, space};
use ttc::source::SourceMap;
use ttc::threads;

use super::{Report, measured, run};
use crate::args::Tune;

type Stop = (Vec<Diagnostic>, SourceMap);

pub(crate) fn tune(t: &Tune) -> Report {
    let mut report = Report::default();
    if let Err((diagnostics, sources)) = try_tune(t, &mut report) {
        report.diagnostics.push(diagnostics, sources);
    }
    report
}

fn try_tune(t: &Tune, report: &mut Report) -> Result<(), Stop> {
    let nowhere = |d: Diagnostic| (vec![d], SourceMap::default());
    let mut lock = if t.no_lock { Lock::default() } else { Lock::read(&t.lock).map_err(nowhere)? };
    let given = t.space.as_deref().map(space::parse).transpose().map_err(nowhere)?;
    let mut folder = Folder { include: t.measured.include.clone(), ..Folder::default() };
    let read = measured::load(&t.measured, &mut folder, t.case.as_deref().unwrap_or(&t.file)).and_then(|loaded| {
        same_file(t, &loaded).map_err(|d| vec![d])?;
        let bases = measured::configs(&t.measured, &loaded, &loaded.case.tune.params)?;
        let named = given.iter().flatten().chain(&loaded.case.tune.space).map(|(n, _)| n);
        named
            .chain(loaded.case.tune.configs.iter().flatten().map(|(n, _)| n))
            .try_for_each(|n| measured::known(&loaded, n).map_err(|d| vec![d]))?;
        let configs = |b: &Config| space::configurations(&loaded, b, given.as_ref()).map_err(|d| vec![d]);
        let all = bases.into_iter().map(|b| Ok((configs(&b)?, b))).collect::<Result<Vec<_>, Vec<Diagnostic>>>()?;
        Ok((loaded, all))
    });
    let (loaded, all) = read.map_err(|d| (d, folder.sources.clone()))?;
    let several = |d: Vec<Diagnostic>| (d, SourceMap::default());
    let gpu = run::open(&t.measured.gpu).map_err(several)?;
    let target = run::target(&t.measured.gpu, &gpu).map_err(several)?;
    let mut clock = Clock::new(&gpu).map_err(nowhere)?;
    let cache = super::open_cache(None).map_err(nowhere)?;
    for (configs, base) in &all {
        let request = Request {
            loaded: &loaded,
            sources: &folder.sources,
            base,
            configs,
            target,
            options: measured::options(&t.measured),
            plan: Plan { warm_up: t.measured.warmup, repeat: t.measured.rep },
            max_spills: t.max_spills,
            workers: t.measured.jobs.unwrap_or_else(threads::usual),
            cache: cache.as_ref(),
        };
        let tuned = tune::tune(&gpu, &mut clock, &request)?;
        report.stdout.extend(table(&gpu, &request, &tuned).as_bytes());
        let entry = entry(t, &gpu, &request, &tuned);
        report.diagnostics.push(tuned.said, folder.sources.clone());
        if let Some(entry) = entry {
            lock.put(entry);
        } else {
            let message = format!("no configuration of `{}` is left for {base}", loaded.kernel.name);
            let d = Diagnostic::error(&codes::gpu::NO_CONFIGURATION, message);
            report.diagnostics.push(vec![d.help("the table says why each was left out")], folder.sources.clone());
        }
    }
    super::say_of_cache(cache.as_ref(), report);
    if !t.no_lock && !report.diagnostics.has_errors() {
        output::write_file(&t.lock, lock.to_text().as_bytes()).map_err(nowhere)?;
        report.stdout.extend(format!("{} has the best\n", t.lock.display()).as_bytes());
    }
    Ok(())
}

/// Refuses a case that is about another kernel file than the one that was named.
fn same_file(t: &Tune, loaded: &Loaded) -> Result<(), Diagnostic> {
    let real = |p: &Path| p.canonicalize().unwrap_or_else(|_| p.to_owned());
    match &t.case {
        Some(case) if real(&t.file) != real(&loaded.input.path) && t.file != *case => {
            let message = format!(
                "`--case {}`: the case is about `{}`, not about `{}`",
                case.display(),
                loaded.input.path.display(),
                t.file.display()
            );
            Err(Diagnostic::error(&codes::cli::BAD_OPTION, message).help("name the case file alone"))
        }
        _ => Ok(()),
    }
}

/// The table of a kernel's configurations, the best first, with a line above it and one below.
fn table(gpu: &Gpu, request: &Request<'_>, tuned: &Tuned) -> String {
    let best = tuned.attempts.first().and_then(Attempt::median);
    let flops = request.loaded.case.work(request.base).ok().and_then(|(_, flops)| flops);
    let mut head: Vec<String> = vec![String::new()];
    head.extend(tuned.names.iter().cloned());
    head.extend(["registers", "spills", "shared", "us", "x"].map(str::to_owned));
    head.extend(flops.map(|_| "TFLOP/s".to_owned()));
    let (mut rows, mut notes) = (vec![head], vec![]);
    let number = |n: Option<u32>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    for (n, a) in tuned.attempts.iter().enumerate() {
        let (median, note) = match &a.outcome {
            Outcome::Timed(time) => (Some(time.median), String::new()),
            Outcome::Slow(median) => (Some(*median), "too slow: timed by a few launches".to_owned()),
            Outcome::LeftOut(why) => (None, format!("left out: {why}")),
        };
        let texts = record::texts(&a.config);
        let mut row = vec![if n == 0 && a.median().is_some() { "best".to_owned() } else { String::new() }];
        row.extend(tuned.names.iter().map(|name| texts.get(name).cloned().unwrap_or_else(|| "-".to_owned())));
        let program = a.program.as_ref();
        row.push(number(program.and_then(|p| p.registers)));
        row.push(number(program.and_then(|p| p.spills)));
        row.push(number(program.map(|p| p.descriptor.shared)));
        row.push(median.map_or_else(|| "-".to_owned(), |m| format!("{m:.2}")));
        row.push(match (median, best) {
            (Some(m), Some(best)) => format!("{:.2}", m / best),
            _ => "-".to_owned(),
        });
        if let Some(flops) = flops {
            row.push(median.map_or_else(|| "-".to_owned(), |m| format!("{:.1}", flops / (m * 1e-6) / 1e12)));
        }
        rows.push(row);
        notes.push(note);
    }
    let timed = tuned.attempts.iter().filter(|a| a.median().is_some()).count();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} for {} on {}: {} configurations, {timed} measured",
        request.loaded.kernel.name,
        request.base.meaning(),
        gpu.words(),
        tuned.attempts.len()
    );
    for (line, note) in align(&rows).lines().zip(std::iter::once(String::new()).chain(notes)) {
        let _ = writeln!(text, "{}", format!("{line}  {note}").trim_end());
    }
    text
}

/// The entry of the lock file for the best configuration.
fn entry(t: &Tune, gpu: &Gpu, request: &Request<'_>, tuned: &Tuned) -> Option<Entry> {
    let best = tuned.attempts.first()?;
    let (time, instance, program) = (best.median()?, best.instance.as_ref()?, best.program.as_ref()?);
    Some(Entry {
        file: lock::file_name(&t.lock, &request.loaded.input.path),
        name: request.loaded.kernel.name.clone(),
        arch: request.target.name.to_owned(),
        device: gpu.properties.name.clone(),
        time_us: (time * 1e3).round() / 1e3,
        key: space::key(request.loaded, instance, &program.descriptor),
        types: space::types(&program.descriptor),
        choice: space::choice(&tuned.names, instance),
    })
}
