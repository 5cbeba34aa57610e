//! The `ttc` program: reads the command line, asks the driver, prints, exits.
//!
//! This is the only file that writes to stdout and stderr or ends the process. The exit codes are 0 for done, 1 for
//! wrong input, 2 for a wrong command line, and 101 for a defect in ttc.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

mod args;
mod commands;
mod layout_command;
mod memory;
mod stdio;

use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use args::{Cli, Color, Command, ErrorFormat, Messages};
use clap::{CommandFactory, Parser, ValueEnum};
use commands::Report;
use commands::interpret::Progress;
use ttc::diag::render::Format;
use ttc::diag::suggest::did_you_mean;
use ttc::diag::{Diagnostic, codes};
use ttc::driver::{compiler_version, input, reproducer};
use ttc::source::SourceMap;
use ttc::threads;

#[global_allocator]
static ALLOCATOR: memory::Bounded = memory::Bounded;

fn main() -> ExitCode {
    stdio::stop_tools_on_signals();
    ttc::codegen::on_out_of_memory(memory::end);
    // A language server runs for days, and gives its memory back.
    if std::env::args_os().nth(1).is_none_or(|command| command != "lsp") {
        threads::heap::keep();
    }
    // Neither the parser of the command line nor recursion over source and IR must depend on the main thread's stack.
    threads::on_stack(|| match parse() {
        Ok(cli) => {
            // Jobs are guarded by themselves. This guards what runs around them.
            let about = || format!("command line: {:?}", std::env::args_os().collect::<Vec<_>>());
            let report = reproducer::guard(about, &SourceMap::default(), || Ok(run(cli.command)));
            finish(report.unwrap_or_else(|errors| Report::errors(errors, SourceMap::default())), cli.messages)
        }
        Err(code) => code,
    })
}

fn run(command: Command) -> Report {
    match command {
        Command::Compile(c) => commands::compile(c),
        Command::Build(b) => {
            let progress = ttc::build::Progress::default();
            let shown = || Shown::of(&progress.done, &progress.total, "kernels");
            watched(shown, || commands::build::build(b, &progress))
        }
        Command::Interpret(i) => {
            let progress = Progress::default();
            let shown = || Shown::of(&progress.done, &progress.total, "programs");
            watched(shown, || commands::interpret::interpret(&i, &progress))
        }
        Command::Emulate(e) => commands::emulate::emulate(&e),
        Command::Run(r) => commands::run::run(&r),
        Command::Bench(b) => commands::bench::bench(&b),
        Command::Tune(t) => commands::tune::tune(&t),
        Command::Check(c) => commands::check(&c),
        Command::List(l) => commands::list::list(&l),
        Command::Report(r) => commands::report::report(&r),
        Command::Lsp => commands::lsp::lsp(),
        Command::Layout(l) => layout_command::layout(&l),
        Command::Cache { command } => commands::cache::cache(&command),
        Command::Explain { code } => commands::explain(code.as_deref()),
        Command::Opt { args } => commands::opt(&args),
        Command::Completions { shell } => {
            let mut stdout = vec![];
            clap_complete::generate(shell, &mut Cli::command(), "ttc", &mut stdout);
            Report { stdout, ..Report::default() }
        }
        Command::Man { command } => manual(command.as_deref()),
    }
}

/// The manual page of ttc, or of a command, in roff.
fn manual(command: Option<&str>) -> Report {
    let mut ttc = Cli::command();
    ttc.build();
    let Some(name) = command else { return page(ttc) };
    if let Some(found) = ttc.find_subcommand(name) {
        // The page is called as the file is: `ttc-compile`. Clap wants a name that lives as long as the program.
        return page(found.clone().name(&*format!("ttc-{name}").leak()));
    }
    let names: Vec<&str> = ttc.get_subcommands().map(clap::Command::get_name).collect();
    let error = Diagnostic::error(&codes::cli::USAGE_ERROR, format!("ttc has no command `{name}`"));
    let help = did_you_mean(name, names.iter().copied());
    let error = error.help(help.unwrap_or_else(|| format!("its commands are {}", names.join(", "))));
    Report { usage: true, ..Report::errors(vec![error], SourceMap::default()) }
}

fn page(command: clap::Command) -> Report {
    let mut stdout = vec![];
    match clap_mangen::Man::new(command).render(&mut stdout) {
        Ok(()) => Report { stdout, ..Report::default() },
        Err(e) => {
            let error = Diagnostic::error(&codes::cli::CANNOT_WRITE, format!("the manual page: {}", input::plain(&e)));
            Report::errors(vec![error], SourceMap::default())
        }
    }
}

/// How far a command has come.
struct Shown {
    done: u64,
    total: u64,
    of: &'static str,
}

impl Shown {
    fn of(done: &AtomicU64, total: &AtomicU64, of: &'static str) -> Shown {
        Shown { done: done.load(Ordering::Relaxed), total: total.load(Ordering::Relaxed), of }
    }
}

/// Runs a command while another thread shows how far it has come. It shows that in a line on stderr, if that is a
/// terminal and the run takes more than a second.
fn watched(progress: impl Fn() -> Shown + Sync, work: impl FnOnce() -> Report) -> Report {
    const WIDTH: u64 = 30;
    let over = AtomicBool::new(false);
    if !std::io::stderr().is_terminal() {
        return work();
    }
    std::thread::scope(|scope| {
        let bar = scope.spawn(|| {
            let start = Instant::now();
            let mut shown = false;
            while !over.load(Ordering::Acquire) {
                std::thread::park_timeout(Duration::from_millis(100));
                let Shown { done, total, of } = progress();
                if start.elapsed() < Duration::from_secs(1) || total == 0 {
                    continue;
                }
                let filled = (done.min(total) * WIDTH / total) as usize;
                let (full, empty) = ("=".repeat(filled), " ".repeat(WIDTH as usize - filled));
                eprint!("\r[{full}{empty}] {done} of {total} {of}, {} s", start.elapsed().as_secs());
                shown = true;
            }
            if shown {
                // The cursor goes back to the start of the line, which is then erased.
                eprint!("\r\x1b[K");
            }
        });
        let report = work();
        over.store(true, Ordering::Release);
        bar.thread().unpark();
        report
    })
}

/// Parses the command line; `ttc FILE` and `ttc --emit ttgir FILE` mean `ttc compile …`.
fn parse() -> Result<Cli, ExitCode> {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    let at = first_word(&args);
    match args.get(at).and_then(|a| a.to_str()) {
        Some("-V" | "--version") => {
            return Err(finish(Report::text(format!("{}\n", compiler_version())), Messages::default()));
        }
        Some("-h" | "--help") | None => {}
        Some(word) if Cli::command().get_subcommands().any(|c| c.get_name() == word) => {}
        Some(_) => args.insert(at, "compile".into()),
    }
    if args.get(at).is_some_and(|a| a == "opt") {
        args = global_first(args);
    }
    let messages = messages(&args);
    Cli::try_parse_from(args).map_err(|mut e| {
        // Clap's advice to pass an unknown option as a file.
        if e.kind() == clap::error::ErrorKind::UnknownArgument {
            e.remove(clap::error::ContextKind::Suggested);
        }
        if e.use_stderr() && !matches!(messages.error_format, ErrorFormat::Human) {
            return finish(Report::errors(vec![usage(&e)], SourceMap::default()), messages);
        }
        // Even where the usage cannot be shown, the exit code says what happened.
        let _ = e.print();
        ExitCode::from(u8::try_from(e.exit_code()).unwrap_or(2))
    })
}

/// How to show messages, as far as a command line that may be wrong can tell.
fn messages(args: &[OsString]) -> Messages {
    let words: Vec<&str> = args.iter().filter_map(|a| a.to_str()).collect();
    let value = |name: &str| {
        let joined = words.iter().find_map(|w| w.strip_prefix(name)?.strip_prefix('='));
        joined.or_else(|| words.iter().position(|w| *w == name).and_then(|i| words.get(i + 1).copied()))
    };
    Messages {
        error_format: value("--error-format").and_then(|v| ErrorFormat::from_str(v, false).ok()).unwrap_or_default(),
        color: value("--color").and_then(|v| Color::from_str(v, false).ok()).unwrap_or_default(),
    }
}

/// Turns what clap says of a command line into a diagnostic. Clap's first line becomes the message, with the next one
/// where it ends in a colon. Its advice becomes the help, and the rest becomes notes.
fn usage(e: &clap::Error) -> Diagnostic {
    let text = e.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let mut first = lines.next().map(|l| l.strip_prefix("error: ").unwrap_or(l)).unwrap_or_default().to_owned();
    if first.ends_with(':') {
        first = format!("{first} {}", lines.next().unwrap_or_default());
    }
    let error = Diagnostic::error(&codes::cli::USAGE_ERROR, first);
    lines.fold(error, |d, line| {
        match line.strip_prefix("tip: ").or(line.starts_with("[possible values").then_some(line)) {
            Some(advice) if d.help.is_none() => d.help(advice.trim_matches(['[', ']'])),
            _ => d.note(line),
        }
    })
}

/// Moves `--error-format` and `--color` before `opt`, which takes everything behind it for passes and options of its
/// own.
fn global_first(args: Vec<OsString>) -> Vec<OsString> {
    let (mut front, mut rest, mut args) = (vec![], vec![], args.into_iter());
    front.extend(args.next());
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--error-format" | "--color") => front.extend([arg].into_iter().chain(args.next())),
            Some(a) if a.starts_with("--error-format=") || a.starts_with("--color=") => front.push(arg),
            _ => rest.push(arg),
        }
    }
    front.into_iter().chain(rest).collect()
}

/// The index of the command. Options about messages may come before it.
fn first_word(args: &[OsString]) -> usize {
    let mut at = 1;
    while let Some(word) = args.get(at).and_then(|a| a.to_str()) {
        at += match word {
            "--color" | "--error-format" => 2,
            w if w.starts_with("--color=") || w.starts_with("--error-format=") => 1,
            _ => break,
        };
    }
    at
}

/// Shows what a command has to say and turns it into an exit code.
fn finish(mut report: Report, messages: Messages) -> ExitCode {
    let written = if report.stdout.is_empty() { Ok(()) } else { stdio::write_stdout(&report.stdout) };
    let broken_pipe = written.as_ref().is_err_and(|e| e.kind() == ErrorKind::BrokenPipe);
    if let Err(e) = written.as_ref()
        && !broken_pipe
    {
        let d = Diagnostic::error(
            &codes::cli::CANNOT_WRITE,
            format!("cannot write to standard output: {}", input::plain(e)),
        );
        report.diagnostics.push(vec![d], SourceMap::default());
    }
    let mut text = report.stderr;
    text.push_str(&report.diagnostics.render(format(messages.error_format), color(messages.color)));
    // Stderr may be closed as well. Then there is nowhere left to say so.
    let _ = std::io::stderr().write_all(text.as_bytes());
    if broken_pipe {
        // Whoever read the output has seen enough. That is no error, but the exit status says it, as the one of other
        // tools does.
        stdio::end_by_broken_pipe();
    }
    let all = || report.diagnostics.all();
    if all().any(|d| d.code == &codes::cli::DEFECT) {
        ExitCode::from(101)
    } else if report.usage || all().any(|d| codes::cli::USAGE.contains(&d.code)) {
        ExitCode::from(2)
    } else {
        ExitCode::from(u8::from(all().any(Diagnostic::is_error)))
    }
}

fn format(format: ErrorFormat) -> Format {
    match format {
        ErrorFormat::Human => Format::Human,
        ErrorFormat::Short => Format::Short,
        ErrorFormat::Json => Format::Json,
    }
}

fn color(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        // https://no-color.org asks for any non-empty value.
        Color::Auto => std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    }
}
