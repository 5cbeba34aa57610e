//! `ttc bench`: measures kernels on the GPU.
//!
//! 1. Each case gives configurations, and each of them becomes a row.
//! 2. A table goes to stdout, and the rows to the files of `--json` and `--svg`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ttc::cases::config::PIPELINE;
use ttc::cases::{Config, Folder, Value};
use ttc::diag::{Diagnostic, codes};
use ttc::driver::{compiler_version, output};
use ttc::gpu::bench::{self, Against, Request};
use ttc::gpu::measure::{Clock, Plan};
use ttc::gpu::plot::Plot;
use ttc::gpu::record::{Device, Row, Run, Time, VERSION};
use ttc::gpu::table::align;
use ttc::source::SourceMap;
use ttc::threads;

use super::{Report, measured, run};
use crate::args::{Bench, Plotted};

type Stop = (Vec<Diagnostic>, SourceMap);

pub(crate) fn bench(b: &Bench) -> Report {
    let mut report = Report::default();
    if let Err((diagnostics, sources)) = try_bench(b, &mut report) {
        report.diagnostics.push(diagnostics, sources);
    }
    report
}

fn try_bench(b: &Bench, report: &mut Report) -> Result<(), Stop> {
    let nowhere = |d: Diagnostic| (vec![d], SourceMap::default());
    if let (Some(path), true) = (&b.svg, b.files.len() > 1) {
        let message = format!("`--svg {}`: a picture shows one case", path.display());
        return Err(nowhere(Diagnostic::error(&codes::cli::BAD_OPTION, message).help("name one case file")));
    }
    let rivals = b.against.iter().map(|p| rival(p)).collect::<Result<Vec<_>, _>>().map_err(nowhere)?;
    let mut cases = vec![];
    for file in &b.files {
        let mut folder = Folder { include: b.measured.include.clone(), ..Folder::default() };
        let read = measured::load(&b.measured, &mut folder, file).and_then(|loaded| {
            let configs = measured::configs(&b.measured, &loaded, &loaded.case.bench.params)?;
            Ok((loaded, configs.into_iter().map(|c| with_options(b, c)).collect::<Vec<_>>()))
        });
        let (loaded, configs) = read.map_err(|d| (d, folder.sources.clone()))?;
        cases.push((loaded, configs, folder.sources));
    }
    let several = |d: Vec<Diagnostic>| (d, SourceMap::default());
    let gpu = run::open(&b.measured.gpu).map_err(several)?;
    let target = run::target(&b.measured.gpu, &gpu).map_err(several)?;
    let mut clock = Clock::new(&gpu).map_err(nowhere)?;
    let copy_bandwidth = clock.copy_bandwidth().map_err(nowhere)?;
    let cache = super::open_cache(None).map_err(nowhere)?;
    let mut rows = vec![];
    for (loaded, configs, sources) in &cases {
        let request = Request {
            loaded,
            sources,
            configs,
            target,
            options: measured::options(&b.measured),
            plan: Plan { warm_up: b.measured.warmup, repeat: b.measured.rep },
            rivals: &rivals,
            workers: b.measured.jobs.unwrap_or_else(threads::usual),
            cache: cache.as_ref(),
        };
        let (own, made) = bench::rows(&gpu, &mut clock, &request)?;
        rows.extend(own);
        for m in made {
            report.diagnostics.push(m.said, m.sources);
        }
    }
    report.diagnostics.warnings_once();
    super::say_of_cache(cache.as_ref(), report);
    let device = Device::new(&gpu, target.name);
    let all = Run { version: VERSION, compiler: compiler_version(), device, copy_bandwidth, rows };
    report.stdout.extend(table(&all).as_bytes());
    if let Some(path) = &b.json {
        output::write_file(path, all.to_json().as_bytes()).map_err(nowhere)?;
    }
    if let Some(path) = &b.svg {
        output::write_file(path, picture(&all, b.plot).picture().svg().as_bytes()).map_err(nowhere)?;
    }
    Ok(())
}

/// What `--against` names.
fn rival(path: &Path) -> Result<Against, Diagnostic> {
    let name = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    match path.extension().and_then(|e| e.to_str()) {
        Some("json") => Ok(Against::Earlier(name, Run::read(path)?)),
        Some("cubin") => Ok(Against::Cubin(name, PathBuf::from(path))),
        _ => {
            let message = format!("`--against {}`: expected a .json or a .cubin", path.display());
            Err(Diagnostic::error(&codes::cli::BAD_OPTION, message)
                .help("`ttc bench --json FILE` writes one, `ttc compile -o FILE` the other"))
        }
    }
}

/// The configuration with the options of the compilation that the command line gives.
fn with_options(b: &Bench, config: Config) -> Config {
    let given =
        [("num_warps", b.num_warps), ("num_stages", b.num_stages), ("num_ctas", b.num_ctas), ("maxnreg", b.maxnreg)];
    let config = given.into_iter().fold(config, |c, (name, value)| match value {
        Some(value) => c.with(name, Value::Int(i64::from(value))),
        None => c,
    });
    match b.pipeline {
        Some(chosen) => config.with(PIPELINE, Value::Str(chosen.words().join(","))),
        None => config,
    }
}

/// The names of the parameters that differ between rows, in the order in which `--sweep` and the case list them.
fn varying(rows: &[Row]) -> Vec<String> {
    let names: BTreeSet<&String> = rows.iter().flat_map(|r| r.params.keys()).collect();
    let differ = |name: &&String| rows.windows(2).any(|w| w[0].params.get(*name) != w[1].params.get(*name));
    // What changes slowest was listed first.
    let mut varying: Vec<String> = names.into_iter().filter(differ).cloned().collect();
    let changes = |name: &String| rows.windows(2).filter(|w| w[0].params.get(name) != w[1].params.get(name)).count();
    varying.sort_by_key(changes);
    varying
}

fn tera(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{:.3}", v / 1e12))
}

fn us(value: f64) -> String {
    format!("{value:.2}")
}

/// The table with a line above it that says what was measured where.
fn table(run: &Run) -> String {
    let varying = varying(&run.rows);
    let flops = run.rows.iter().any(|r| r.flops.is_some());
    let rivals: Vec<&str> = run.rows.first().map_or(vec![], |r| r.rivals.iter().map(|r| &*r.name).collect());
    let mut head: Vec<String> = vec!["case".to_owned()];
    head.extend(varying.iter().cloned());
    head.extend(["us", "p20", "p80", "min", "TB/s", "of copy"].map(str::to_owned));
    head.extend(flops.then(|| "TFLOP/s".to_owned()));
    for name in &rivals {
        head.extend([format!("{name} us"), "x".to_owned()]);
    }
    let row = |r: &Row| {
        let mut cells = vec![r.case.clone()];
        cells.extend(varying.iter().map(|n| r.params.get(n).cloned().unwrap_or_default()));
        cells.extend([r.time.median, r.time.p20, r.time.p80, r.time.min].map(us));
        let bandwidth = r.bandwidth(&r.time);
        cells.push(tera(bandwidth));
        cells.push(bandwidth.map_or_else(|| "-".to_owned(), |b| format!("{:.0}%", 100.0 * b / run.copy_bandwidth)));
        cells.extend(flops.then(|| tera(r.flop_rate(&r.time))));
        for rival in &r.rivals {
            cells.extend([us(rival.time.median), format!("{:.3}", rival.time.median / r.time.median)]);
        }
        cells
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(run.rows.iter().map(row)).collect();
    let ratio = if rivals.is_empty() { "" } else { "x: time of the other one by ours; above 1, ours is faster\n" };
    format!(
        "{} ({}), a copy moves {:.3} TB/s; medians of launches with a cold L2 cache\n{}{ratio}",
        run.device.name,
        run.device.arch,
        run.copy_bandwidth / 1e12,
        align(&rows)
    )
}

/// The picture of the rows over the first parameter that differs.
fn picture(run: &Run, plotted: Option<Plotted>) -> Plot {
    let varying = varying(&run.rows);
    let numeric = |n: &&String| run.rows.iter().all(|r| r.params.get(*n).is_some_and(|v| v.parse::<f64>().is_ok()));
    let x = varying.iter().find(numeric).or(varying.first()).cloned().unwrap_or_default();
    let plotted = plotted.unwrap_or_else(|| match run.rows.first() {
        Some(r) if r.flops.is_some() => Plotted::Tflops,
        Some(r) if r.bytes.is_some() => Plotted::Tbps,
        _ => Plotted::Us,
    });
    let value = |r: &Row, t: &Time| match plotted {
        Plotted::Tflops => r.flop_rate(t).map(|v| v / 1e12),
        Plotted::Tbps => r.bandwidth(t).map(|v| v / 1e12),
        Plotted::Us => Some(t.median),
    };
    let mut ticks: Vec<String> = vec![];
    let mut series: Vec<(String, Vec<Option<f64>>)> = vec![];
    for r in &run.rows {
        let tick = r.params.get(&x).cloned().unwrap_or_default();
        let at = ticks.iter().position(|t| *t == tick).unwrap_or_else(|| {
            ticks.push(tick);
            ticks.len() - 1
        });
        let others: Vec<String> =
            varying.iter().filter(|n| **n != x).filter_map(|n| Some(format!("{n}={}", r.params.get(n)?))).collect();
        let named = |who: &str| [vec![who.to_owned()], others.clone()].concat().join(" ");
        let all = std::iter::once(("ttc", &r.time)).chain(r.rivals.iter().map(|v| (&*v.name, &v.time)));
        for (who, time) in all {
            let name = named(who);
            let n = series.iter().position(|(s, _)| *s == name).unwrap_or_else(|| {
                series.push((name, vec![]));
                series.len() - 1
            });
            let values = &mut series[n].1;
            values.resize(values.len().max(at + 1), None);
            values[at] = value(r, time);
        }
    }
    let (y, level) = match plotted {
        Plotted::Tflops => ("TFLOP/s", None),
        Plotted::Tbps => ("TB/s", Some(("a copy".to_owned(), run.copy_bandwidth / 1e12))),
        Plotted::Us => ("us", None),
    };
    Plot {
        title: run.rows.first().map_or_else(String::new, |r| r.case.clone()),
        subtitle: format!("{} ({}), {}", run.device.name, run.device.arch, run.compiler),
        x,
        y: y.to_owned(),
        ticks,
        series,
        level,
    }
}
