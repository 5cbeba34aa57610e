//! `--summary`: a table of what each job took and made.
//!
//! A single job is shown as a list of its facts, one on each line. Several jobs get a row each.

use std::time::Duration;

use ttc::driver::{Compiled, Job, Naming, Stage, timings};
use ttc::gpu::table::align;

/// Makes the table, with a line for each row, and a line more for each job whose assembler took most of a long time.
pub(super) fn table(jobs: &[(Job, Compiled)], naming: Naming) -> String {
    let columns = columns(jobs, naming);
    let rows: Vec<Vec<String>> = if jobs.len() == 1 {
        columns.into_iter().map(|(name, values)| [vec![name], values].concat()).collect()
    } else {
        let heads = columns.iter().map(|(name, _)| name.clone()).collect();
        let row = |i: usize| columns.iter().map(|(_, values)| values[i].clone()).collect();
        std::iter::once(heads).chain((0..jobs.len()).map(row)).collect()
    };
    align(&rows) + &jobs.iter().filter_map(|(_, made)| timings::note(made)).collect::<String>()
}

/// The facts, each with its value for every job. The first names the job.
fn columns(jobs: &[(Job, Compiled)], naming: Naming) -> Vec<(String, Vec<String>)> {
    let ms = |d: Duration| format!("{:.2} ms", d.as_secs_f64() * 1e3);
    let mut columns: Vec<(String, Vec<String>)> = vec![];
    let mut column = |name: &str, value: &dyn Fn(&(Job, Compiled)) -> String| {
        columns.push((name.to_owned(), jobs.iter().map(value).collect()));
    };
    let names = Naming { archs: false, ..naming };
    column("", &|(job, c)| format!("{} {}", names.stem(job, &c.kernel), job.target.name));
    let mut stages: Vec<&str> = vec![];
    for (stage, _) in jobs.iter().flat_map(|(_, c)| &c.timings) {
        if !stages.contains(stage) {
            stages.push(stage);
        }
    }
    for stage in stages {
        column(stage, &|(_, c)| c.timings.iter().find(|(s, _)| *s == stage).map_or_else(String::new, |(_, d)| ms(*d)));
    }
    column("total", &|(_, c)| ms(c.timings.iter().map(|(_, d)| *d).sum()));
    let number = |n: Option<u32>, unit: &str| n.map_or_else(String::new, |n| format!("{n}{unit}"));
    column("registers", &|(_, c)| number(c.metadata.registers, ""));
    column("shared memory", &|(_, c)| number(c.metadata.shared, " bytes"));
    column("spills", &|(_, c)| number(c.metadata.spills, " bytes"));
    for stage in [Stage::Assembly, Stage::Binary] {
        column(&stage.names(), &|(_, c)| {
            c.artifacts.get(&stage).map_or_else(String::new, |b| format!("{} bytes", b.len()))
        });
    }
    columns
}
