//! `ttc opt`: passes over IR text, as triton-opt runs them.
//!
//! 1. The arguments are read in order: a flag with the name of a pass appends it, in one or two dashes, with options
//!    behind `=` (`--convert-triton-to-tritongpu='num-warps=4 target=cuda:90'`, with or without braces). Everything
//!    else is in [`Request`].
//! 2. With `--split-input-file`, the text is cut at lines that are `// -----`; each part is a module of its own, on its
//!    own lines.
//! 3. Each part is parsed, verified, run through the passes and printed.
//! 4. With `--verify-diagnostics`, nothing is printed. Instead, every diagnostic must be expected where it appears, and
//!    every expected one must appear ([`expect`]). With `--verify-diagnostics=only-expected`, diagnostics that nobody
//!    expects are no fault, and parts without errors are printed.

pub mod expect;
mod regex;

use std::ffi::OsString;
use std::path::PathBuf;

use super::input::{self, Language};
use super::job::Debug;
use super::observe::Observer;
use super::reproducer;
use crate::backend::Stage;
use crate::diag::{Diagnostic, codes};
use crate::ir::MAX_OPS;
use crate::ir::text::parser::{ParseOptions, parse_module};
use crate::ir::text::printer::{PrintOptions, print_module};
use crate::layout;
use crate::passes::manager::{self, Pipeline, Step, Verifier};
use crate::passes::registry;
use crate::source::{FileId, SourceMap};

/// What the command line of `ttc opt` asks for.
pub struct Request {
    /// The file. `-` or none is standard input.
    pub file: Option<PathBuf>,
    pub output: Option<PathBuf>,
    pub pipeline: Pipeline,
    pub split: bool,
    pub verify_diagnostics: bool,
    /// Works as `verify_diagnostics` does, but a diagnostic that nobody expects is no fault, and the module is printed.
    pub only_expected: bool,
    pub print: PrintOptions,
    pub parse: ParseOptions,
    pub debug: Debug,
    /// How many operations a module may grow to.
    pub max_ops: usize,
    pub help: bool,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            file: None,
            output: None,
            pipeline: Pipeline::default(),
            split: false,
            verify_diagnostics: false,
            only_expected: false,
            print: PrintOptions::default(),
            parse: ParseOptions::default(),
            debug: Debug::default(),
            max_ops: MAX_OPS,
            help: false,
        }
    }
}

/// Reads the arguments behind `ttc opt`.
///
/// # Errors
/// Fails on an unknown flag or pass, on an option that the pass does not have, and on a value that is missing.
pub fn parse_args(args: &[OsString]) -> Result<Request, Diagnostic> {
    let mut request = Request::default();
    let mut args = args.iter().map(|a| a.to_string_lossy().into_owned());
    while let Some(arg) = args.next() {
        let name = arg.trim_start_matches('-');
        if arg == "-" || name.len() == arg.len() {
            if let Some(first) = request.file.replace(PathBuf::from(&arg)) {
                return Err(bad(format!("two input files: `{}` and `{arg}`", first.display())));
            }
            continue;
        }
        let (name, value) = name.split_once('=').map_or((name, None), |(n, v)| (n, Some(v)));
        if !request.set(name, value, &mut args)? {
            request.pipeline.steps.push(step(name, value)?);
        }
    }
    Ok(request)
}

fn bad(message: String) -> Diagnostic {
    Diagnostic::error(&codes::cli::BAD_OPTION, message).help("`ttc opt --help` lists options and passes")
}

impl Request {
    /// Applies an option that is no pass. The result is `false` if there is none of this name.
    fn set(
        &mut self,
        name: &str,
        value: Option<&str>,
        more: &mut dyn Iterator<Item = String>,
    ) -> Result<bool, Diagnostic> {
        let mut text = || {
            value.map(str::to_owned).or_else(|| more.next()).ok_or_else(|| {
                let dashes = if name.len() == 1 { "-" } else { "--" };
                bad(format!("`{dashes}{name}` needs a value"))
            })
        };
        let on = value.is_none_or(|v| v != "0" && v != "false");
        let pass_or_all = || Debug::pass(value.unwrap_or("all")).map(Some);
        match name {
            "o" => self.output = Some(text()?.into()),
            "split-input-file" => self.split = on,
            "verify-diagnostics" => {
                let (all, only) = match value {
                    None | Some("all") => (true, false),
                    Some("only-expected") => (true, true),
                    Some(_) => (on, false),
                };
                (self.verify_diagnostics, self.only_expected) = (all, only);
            }
            "allow-unregistered-dialect" => self.parse.allow_unregistered = on,
            "mlir-print-debuginfo" | "locations" => self.print.locations = on,
            "mlir-print-op-generic" | "generic" => self.print.generic = on,
            "value-names" => self.parse.value_names = on,
            "pass-pipeline" => self.pipeline.steps.extend(Pipeline::parse(&text()?, registry::named)?.steps),
            "verify-each" => self.debug.verify_each = on,
            "print-ir-before" => self.debug.print_before = pass_or_all()?,
            "print-ir-after" => self.debug.print_after = pass_or_all()?,
            "print-ir-before-all" | "mlir-print-ir-before-all" => self.debug.print_before = Some("all".to_owned()),
            "print-ir-after-all" | "mlir-print-ir-after-all" => self.debug.print_after = Some("all".to_owned()),
            "print-ir-after-change" | "mlir-print-ir-after-change" => self.debug.print_after_change = on,
            "dump-dir" => self.debug.dump_dir = Some(text()?.into()),
            "time-passes" | "mlir-timing" => self.debug.time_passes = on,
            "max-ops" => {
                let n = text()?;
                self.max_ops = n.parse().map_err(|_| bad(format!("`--max-ops {n}`: expected a number")))?;
            }
            // Parts and passes run one after the other anyway, so there is nothing to do.
            "mlir-disable-threading" => {}
            "help" | "h" => self.help = true,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Reads a pass flag with its options: `a=1 b=2` or `{a=1 b=2}`.
fn step(name: &str, options: Option<&str>) -> Result<Step, Diagnostic> {
    let options = options.unwrap_or("").trim();
    let options = options.strip_prefix('{').and_then(|o| o.strip_suffix('}')).unwrap_or(options);
    let pairs: Vec<(&str, &str)> =
        options.split_whitespace().map(|o| o.split_once('=').unwrap_or((o, "true"))).collect();
    Step::checked(name, &pairs, registry::named)
}

/// The text of `ttc opt --help`.
#[must_use]
pub fn help() -> String {
    let mut text = String::from(
        "Run passes over an IR file, as triton-opt does\n\n\
         Usage: ttc opt [FILE] [--PASS[=OPTIONS]]... [-o OUT] [OPTIONS]\n\n\
         Without FILE, or with -, standard input is read. Passes run in the order given, in one or two dashes.\n\n\
         Options:\n\
         \x20 -o PATH                        where to write; standard output by default\n\
         \x20 --split-input-file             treat the parts between `// -----` lines as modules of their own\n\
         \x20 --verify-diagnostics           check diagnostics against expected-error, -warning, -remark and -note comments;\n\
         \x20                                with =only-expected, others are no fault, and the module is printed\n\
         \x20 --allow-unregistered-dialect   keep operations of unknown dialects\n\
         \x20 --locations                    print loc(...)\n\
         \x20 --generic                      print every operation in the generic form\n\
         \x20 --value-names=0                number values, as triton-opt does, instead of keeping their names\n\
         \x20 --pass-pipeline=TEXT           passes as one text: canonicalize,cse\n\
         \x20 --verify-each=0                do not verify after every pass\n\
         \x20 --print-ir-before[=PASS], --print-ir-after[=PASS], --print-ir-after-change\n\
         \x20 --dump-dir=DIR, --time-passes\n\
         \x20 --max-ops=N                    operations that a module may grow to before it counts as endless\n\nPasses:\n",
    );
    for pass in registry::ALL {
        text.push_str(&format!("  --{:32} {}\n", pass.name, pass.doc));
        for option in pass.options {
            let default =
                if option.default.is_empty() { String::new() } else { format!(" [default: {}]", option.default) };
            text.push_str(&format!("      {:30} {}{default}\n", option.name, option.doc));
        }
    }
    text
}

/// The result of `ttc opt`.
#[derive(Default)]
pub struct Done {
    pub text: String,
    pub dumps: Vec<String>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Runs a request. The input's text lands in `sources`, one file for each part.
///
/// # Errors
/// Fails if the input cannot be read.
pub fn run(request: &Request, sources: &mut SourceMap) -> Result<Done, Diagnostic> {
    let path = request.file.clone().unwrap_or_else(|| PathBuf::from("-"));
    let whole = input::read(sources, &path, Some(Language::Ir(Stage::Ttir)))?.file;
    let parts = if request.split { split(sources, whole) } else { vec![whole] };
    let mut done = Done::default();
    for (i, &part) in parts.iter().enumerate() {
        if i > 0 {
            done.text.push_str("\n// -----\n");
        }
        let diagnostics = one(request, sources, part, &mut done);
        if request.verify_diagnostics {
            done.diagnostics.extend(expect::check(sources, part, &diagnostics, request.only_expected));
        } else {
            done.diagnostics.extend(diagnostics);
        }
    }
    if request.verify_diagnostics && !request.only_expected {
        done.text.clear();
    }
    Ok(done)
}

/// Cuts a file at `// -----` lines. Each part keeps its line numbers.
fn split(sources: &mut SourceMap, file: FileId) -> Vec<FileId> {
    let (name, text) = (sources.file(file).name.clone(), sources.file(file).text.clone());
    // Each part goes with the number of lines before it.
    let mut parts = vec![(0, String::new())];
    for (line, l) in (1..).zip(text.split_inclusive('\n')) {
        if l.trim_end().starts_with("// -----") {
            parts.push((line, String::new()));
        } else if let Some((_, part)) = parts.last_mut() {
            part.push_str(l);
        }
    }
    let parts = parts.into_iter().filter(|(_, p)| !p.trim().is_empty());
    parts.map(|(before, p)| sources.add_part(name.clone(), None, p, before)).collect()
}

/// Works on one module. A panic in it is a defect of ttc, and the other modules go on.
fn one(request: &Request, sources: &SourceMap, file: FileId, done: &mut Done) -> Vec<Diagnostic> {
    let about = || format!("ttc opt, passes: {}", request.pipeline);
    let work = || Ok(module(request, sources, file, done));
    reproducer::guard(about, sources, work).unwrap_or_else(|errors| errors)
}

fn module(request: &Request, sources: &SourceMap, file: FileId, done: &mut Done) -> Vec<Diagnostic> {
    let mut ir = match parse_module(sources, file, &request.parse) {
        Ok(ir) => ir,
        Err(errors) => return errors,
    };
    ir.set_max_ops(request.max_ops);
    let faults = layout::verify(&ir);
    if !faults.is_empty() {
        return faults;
    }
    let mut observer = Observer::new(&request.debug, request.print.locations, "opt", "opt");
    let verifier: Verifier = if request.debug.verify_each { layout::verify } else { |_| vec![] };
    let report = manager::run(&mut ir, &request.pipeline, verifier, &mut [&mut observer]);
    let (dumps, _, failed) = observer.finish();
    done.dumps.extend(dumps);
    if report.is_ok() {
        done.text.push_str(&print_module(&ir, &request.print));
    }
    report.diagnostics.into_iter().chain(failed).collect()
}
