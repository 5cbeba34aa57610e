//! Watches a pipeline for `--print-ir-…`, `--dump-dir` and `--time-passes`.

use std::path::PathBuf;
use std::time::Duration;

use super::job::{Debug, PassText};
use super::output;
use crate::diag::Diagnostic;
use crate::ir::Ir;
use crate::ir::text::printer::{PrintOptions, print_module};
use crate::passes::manager::{Ended, Instrumentation, Step, Timing};

/// Collects what the options ask to see, as text for stderr.
pub(super) struct Observer<'a> {
    debug: &'a Debug,
    print: PrintOptions,
    /// Text for stderr, in order.
    pub(super) dumps: Vec<String>,
    /// The start of the path of the next file of `--dump-dir`: `DIR/KERNEL.`
    prefix: Option<PathBuf>,
    timing: Timing,
    /// The stage of the pipeline.
    stage: &'static str,
    /// What [`Debug::keep_passes`] keeps.
    pub(super) passes: Vec<PassText>,
    /// The error of a dump that could not be written.
    pub(super) failed: Option<Diagnostic>,
}

impl<'a> Observer<'a> {
    /// Makes an observer. `title` starts the names of dump files: it is kernel and stage.
    pub(super) fn new(debug: &'a Debug, locations: bool, stage: &'static str, title: &str) -> Observer<'a> {
        let print = PrintOptions { locations, ..PrintOptions::default() };
        let prefix = debug.dump_dir.as_ref().map(|d| d.join(title));
        Observer { debug, print, dumps: vec![], prefix, timing: Timing::default(), stage, passes: vec![], failed: None }
    }

    /// Ends the observation, with the table of `--time-passes` if it was asked for.
    pub(super) fn finish(mut self) -> (Vec<String>, Vec<PassText>, Option<Diagnostic>) {
        if self.debug.time_passes {
            self.dumps.push(table(&self.timing));
        }
        (self.dumps, self.passes, self.failed)
    }

    fn show(&mut self, when: &str, step: &Step, ir: &Ir) {
        self.dumps.push(format!(
            "// -----// IR Dump {when} {} //----- //\n{}",
            step.pass.name,
            print_module(ir, &self.print)
        ));
    }

    /// Keeps a pass. Locations would only make the modules harder to compare.
    fn keep(&mut self, ir: &Ir, pass: &'static str, time: Duration, changed: bool) {
        if self.debug.keep_passes {
            let text = changed.then(|| print_module(ir, &PrintOptions { locations: false, ..self.print }));
            let located = self.debug.keep_located.contains(pass);
            let located = located.then(|| print_module(ir, &PrintOptions { locations: true, ..self.print }));
            self.passes.push(PassText { stage: self.stage, pass, time, text, located });
        }
    }

    fn write(&mut self, ir: &Ir, index: usize, step: &Step) {
        let Some(prefix) = &self.prefix else { return };
        let mut name = prefix.as_os_str().to_owned();
        name.push(format!(".{:02}-{}.mlir", index + 1, step.pass.name));
        let path = PathBuf::from(name);
        let written = path.parent().map_or(Ok(()), output::make_dir);
        if let Err(d) = written.and_then(|()| output::write_file(&path, print_module(ir, &self.print).as_bytes())) {
            self.failed.get_or_insert(d);
        }
    }
}

/// The time and the number of runs of each pass.
fn table(timing: &Timing) -> String {
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    let rows = timing.rows().iter().map(|(pass, runs, time)| format!("{:9.3} ms  {runs:3} x  {pass}\n", ms(*time)));
    format!("{}{:9.3} ms         total\n", rows.collect::<String>(), ms(timing.total()))
}

/// Whether an option that names a pass, or `all`, means this one.
fn selects(option: Option<&String>, step: &Step) -> bool {
    option.is_some_and(|o| o == "all" || o == step.pass.name)
}

impl Instrumentation for Observer<'_> {
    fn before(&mut self, ir: &Ir, index: usize, step: &Step) {
        if index == 0 {
            self.keep(ir, "input", Duration::ZERO, true);
        }
        if selects(self.debug.print_before.as_ref(), step) {
            self.show("Before", step, ir);
        }
    }

    fn after(&mut self, ir: &Ir, index: usize, step: &Step, ended: Ended, took: Duration) {
        self.timing.after(ir, index, step, ended, took);
        self.keep(ir, step.pass.name, took, ended == Ended::Changed);
        if selects(self.debug.print_after.as_ref(), step) || (self.debug.print_after_change && ended == Ended::Changed)
        {
            self.show(if ended == Ended::Failed { "After Failed" } else { "After" }, step, ir);
        }
        self.write(ir, index, step);
    }
}
