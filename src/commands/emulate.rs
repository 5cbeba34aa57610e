//! `ttc emulate`, and `ttc interpret --stage ptx`: compiled code on the CPU.
//!
//! 1. The launch comes from a launch file with PTX beside it, or from a case that is compiled here.
//! 2. It runs once for each schedule: the seed counts up, and asynchronous work lands late, early and at random in
//!    turn. Several schedules run at once, each with memory of its own, and are reported in their order.
//! 3. What a run finds becomes diagnostics. The results of a case are compared with those of the interpreter, whose
//!    meaning of the kernel is the source's; those of a launch file with the files that it names.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ttc::cases::Folder;
use ttc::cases::manual::Bound;
use ttc::diag::codes::emu as codes;
use ttc::diag::{Diagnostic, codes as all_codes};
use ttc::driver::{JobOptions, output};
use ttc::emu::{self, BufferId, Options, Outcome};
use ttc::emulate::file::LaunchFile;
use ttc::emulate::{Assembly, Prepared, compile, decode, diagnostics};
use ttc::gpu::arguments;
use ttc::interp::{self, Memory, RunOptions, npy};
use ttc::target::Target;
use ttc::text_file::plain;
use ttc::threads;

use super::Report;
use super::interpret::prepare::{Bindings, Launch};
use super::interpret::{describe, files};
use crate::args::{self, Interpret, Looked, Schedules};

type Try<T> = Result<T, Vec<Diagnostic>>;

/// When work lands in a schedule.
fn landing(s: &Schedules, number: u32) -> emu::Landing {
    match s.landing {
        Some(args::Landing::Early) => emu::Landing::Early,
        Some(args::Landing::Late) => emu::Landing::Late,
        Some(args::Landing::Random) => emu::Landing::Random,
        None => [emu::Landing::Late, emu::Landing::Early, emu::Landing::Random][number as usize % 3],
    }
}

/// The options of a schedule.
fn schedule(s: &Schedules, number: u32, base: &Options) -> Options {
    Options { seed: s.seed.wrapping_add(u64::from(number)), landing: landing(s, number), ..base.clone() }
}

/// What `run` makes of the schedules, in their order. Up to `jobs` of them run at once; the next ones begin when
/// somebody asks for their results.
fn in_order<T: Send>(count: u32, jobs: Option<usize>, run: impl Fn(u32) -> T + Sync) -> impl Iterator<Item = T> {
    let jobs = jobs.unwrap_or_else(threads::usual).clamp(1, count.max(1) as usize) as u32;
    let (mut begun, mut ready) = (0u32, VecDeque::new());
    std::iter::from_fn(move || {
        if ready.is_empty() {
            let end = count.min(begun.saturating_add(jobs));
            let (next, done) = (AtomicU32::new(begun), Mutex::new(BTreeMap::new()));
            threads::crew((end - begun) as usize, || {
                let claim = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&number| number < end);
                while let Some(number) = claim() {
                    let made = run(number);
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(number, made);
                }
            });
            begun = end;
            ready.extend(done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values());
        }
        ready.pop_front()
    })
}

/// Runs a case as compiled code.
pub(super) fn interpret(
    i: &Interpret,
    folder: &Folder,
    mut launch: Launch,
    outs: &[(Bound, PathBuf)],
    expected: &[files::Expected],
) -> Try<Report> {
    let mut report = Report::default();
    let target = Target::parse(&i.compiled.arch).map_err(|d| vec![d])?;
    let options = &launch.job.options;
    let pipelining = i.compiled.pipeline.or(options.pipelining);
    let options = Arc::new(JobOptions { pipelining, ..(**options).clone() });
    let job = ttc::driver::Job { target, options, ..launch.job.clone() };
    let assembly = compile(&folder.sources, &job)?;
    let on = &launch.on;
    let host = arguments::of_memory(&on.names, &on.args, &on.memory, &on.buffers);
    let prepared = Prepared::new(&assembly, &host, on.grid).map_err(|d| vec![d])?;
    let has = |l: Looked| i.check.contains(&l) || i.check.contains(&Looked::All);
    let check = has(Looked::Races) || has(Looked::Uninit);
    let base = Options { check, max_steps: i.max_ops.max(1 << 32), max_findings: i.max_faults, ..Options::default() };
    let mut text = launch.text.clone();
    let mut last = None;
    let run = |number: u32| {
        let options = schedule(&i.compiled.schedules, number, &base);
        let start = Instant::now();
        let done = prepared.run(&options);
        (options, done, start.elapsed())
    };
    let runs = in_order(i.compiled.schedules.count.max(1), i.jobs, run);
    for (number, (options, done, time)) in runs.enumerate() {
        let (outcome, memory) = done.map_err(|fault| diagnostics::of_fault(&fault, &assembly.ptx))?;
        let _ = writeln!(text, "{}", summary(&launch.kernel, &options, &outcome, time));
        let found: Vec<_> = outcome.findings.iter().map(|f| diagnostics::of_finding(f, &assembly.ptx)).collect();
        if !found.is_empty() {
            return Err(found);
        }
        if number == 0 {
            outcome.printed.iter().for_each(|line| text.push_str(line));
        }
        let after = results(on, &prepared, &memory);
        let wrong = differences(i, &launch, &after.memory, expected)?;
        if !wrong.is_empty() {
            report.stdout = text.into_bytes();
            report.diagnostics.push(wrong, folder.sources.clone());
            return Ok(report);
        }
        last = Some(after);
    }
    let Some(after) = last else { return Ok(report) };
    text.push_str(&describe::results(&after));
    text.push_str("the results are those of the interpreter\n");
    for (buffer, path) in outs {
        let bytes = npy::write(buffer.elem, &buffer.shape, &after.memory.bytes(buffer.id));
        launch.said.extend(output::write_file(path, &bytes).err());
    }
    if let Some(dir) = &i.compiled.save_launch {
        save(dir, &assembly, &prepared, &after).map_err(|d| vec![d])?;
    }
    report.stdout = text.into_bytes();
    report.diagnostics.push(launch.said, folder.sources.clone());
    Ok(report)
}

/// `softmax: seed 0, late: 123456 steps, 12.3 million a second`.
fn summary(kernel: &str, options: &Options, outcome: &Outcome, time: Duration) -> String {
    let landing = match options.landing {
        emu::Landing::Early => "early",
        emu::Landing::Late => "late",
        emu::Landing::Random => "random",
    };
    let (steps, seconds) = (outcome.instructions, time.as_secs_f64());
    let speed = steps as f64 / seconds.max(1e-9) / 1e6;
    format!("{kernel}: seed {}, {landing}: {steps} steps of warps, {speed:.1} million a second", options.seed)
}

/// The buffers after a run.
fn results(on: &Bindings, prepared: &Prepared, memory: &emu::Memory) -> Bindings {
    let mut after = Memory::new();
    for b in &on.buffers {
        after.add(&b.name, b.elem, &prepared.bytes(memory, &b.name).unwrap_or_default());
    }
    Bindings {
        memory: after,
        grid: on.grid,
        names: on.names.clone(),
        args: on.args.clone(),
        buffers: on.buffers.clone(),
        results: on.results.clone(),
    }
}

/// What differs from the files of `--expect`, and from what the interpreter computes.
fn differences(i: &Interpret, launch: &Launch, got: &Memory, expected: &[files::Expected]) -> Try<Vec<Diagnostic>> {
    let mut wrong = files::differences(expected, got);
    let on = &launch.on;
    // The interpreter gets memory of its own.
    let mut cpu = Bindings {
        memory: Memory::new(),
        grid: on.grid,
        names: on.names.clone(),
        args: on.args.clone(),
        buffers: on.buffers.clone(),
        results: on.results.clone(),
    };
    for b in &on.buffers {
        let bytes = on.memory.bytes(b.id);
        if on.memory.is_touched(b.id) {
            cpu.memory.add(&b.name, b.elem, &bytes);
        } else {
            cpu.memory.add_uninit(&b.name, b.elem, bytes.len());
        }
    }
    let options = RunOptions { max_memory: i.launch.max_memory, ..RunOptions::default() };
    interp::run(&launch.ir, &launch.kernel, cpu.grid, &cpu.args, &mut cpu.memory, &options)?;
    // What the kernel does not write holds in the emulator what it held before.
    cpu.buffers.iter().for_each(|b| cpu.memory.fill_unwritten(b.id, arguments::POISON));
    wrong.extend(files::differences(&files::interpreted(&cpu, i.launch.tolerance), got));
    Ok(wrong)
}

/// Writes what `ttc emulate` needs to run the same again.
fn save(dir: &Path, assembly: &Assembly, prepared: &Prepared, after: &Bindings) -> Result<(), Diagnostic> {
    std::fs::create_dir_all(dir).map_err(|e| {
        let message = format!("cannot make the folder `{}`: {}", dir.display(), plain(&e));
        Diagnostic::error(&all_codes::cli::CANNOT_WRITE, message)
    })?;
    output::write_file(&dir.join("kernel.ptx"), assembly.ptx.as_bytes())?;
    let (file, contents) = LaunchFile::of(prepared, &after.results, |name| {
        after.buffers.iter().find(|b| b.name == name).map(|b| after.memory.bytes(b.id))
    });
    for (name, bytes) in contents {
        output::write_file(&dir.join(name), &bytes)?;
    }
    let json = serde_json::to_string_pretty(&file).unwrap_or_default();
    output::write_file(&dir.join("launch.json"), json.as_bytes())
}

/// `ttc emulate`.
pub(crate) fn emulate(e: &args::Emulate) -> Report {
    let mut report = Report::default();
    if let Err(diagnostics) = try_emulate(e, &mut report) {
        report.diagnostics.push(diagnostics, ttc::source::SourceMap::default());
    }
    report
}

fn read(path: &Path) -> Try<String> {
    std::fs::read_to_string(path).map_err(|e| {
        let message = format!("cannot read `{}`: {}", path.display(), plain(&e));
        vec![Diagnostic::error(&all_codes::cli::CANNOT_READ, message)]
    })
}

fn try_emulate(e: &args::Emulate, report: &mut Report) -> Try<()> {
    let wrong = |why: String| vec![Diagnostic::error(&codes::BAD_LAUNCH, format!("`{}`: {why}", e.launch.display()))];
    let ptx = read(&e.file)?;
    let program = decode(&ptx).map_err(|d| vec![d])?;
    let file: LaunchFile = serde_json::from_str(&read(&e.launch)?).map_err(|x| wrong(x.to_string()))?;
    let folder = e.launch.parent().unwrap_or(Path::new(""));
    let kernel = match (&file.kernel, program.kernels.keys().collect::<Vec<_>>().as_slice()) {
        (Some(name), _) => name.clone(),
        (None, [one]) => (*one).clone(),
        (None, all) => return Err(wrong(format!("`kernel` must name one of the {} entries", all.len()))),
    };
    let outs = outputs(e, &file)?;
    let base = Options {
        check: !e.no_check,
        max_steps: e.max_ops,
        max_findings: e.max_faults,
        trace: e.trace,
        max_trace: e.max_lines,
        ..Options::default()
    };
    let run = |number: u32| -> Try<_> {
        let options = schedule(&e.schedules, number, &base);
        let (launch, mut memory) = file.load(folder).map_err(wrong)?;
        let expected = file.expected(folder).map_err(wrong)?;
        let start = Instant::now();
        let done = emu::run(&program, &kernel, &launch, &mut memory, &options);
        Ok((options, memory, expected, done, start.elapsed()))
    };
    let mut runs = in_order(e.schedules.count.max(1), e.jobs, run);
    for number in 0..e.schedules.count.max(1) {
        let Some(ran) = runs.next() else { break };
        let (options, memory, expected, done, time) = ran?;
        let outcome = match &done {
            Ok(outcome) => outcome,
            Err(fault) => &fault.before,
        };
        let mut text = String::new();
        if number == 0 {
            outcome.printed.iter().for_each(|line| text.push_str(line));
            outcome.trace.iter().for_each(|line| _ = writeln!(text, "{line}"));
        }
        let _ = writeln!(text, "{}", summary(&kernel, &options, outcome, time));
        report.stdout.extend(text.as_bytes());
        if let Err(fault) = &done {
            return Err(diagnostics::of_fault(fault, &ptx));
        }
        let mut said: Vec<_> = outcome.findings.iter().map(|f| diagnostics::of_finding(f, &ptx)).collect();
        said.extend(expected.iter().filter_map(|x| unexpected(x, &memory)));
        if !said.is_empty() {
            return Err(said);
        }
        if number + 1 == e.schedules.count.max(1) {
            for (id, path) in &outs {
                output::write_file(path, &memory.bytes(*id)).map_err(|d| vec![d])?;
            }
        }
    }
    Ok(())
}

/// The buffers of `--out`, and where each goes.
fn outputs(e: &args::Emulate, file: &LaunchFile) -> Try<Vec<(BufferId, PathBuf)>> {
    let one = |text: &String| {
        let parts = text.split_once('=').ok_or_else(|| format!("`--out {text}` is not of the form BUFFER=FILE"));
        parts.and_then(|(name, path)| Ok((file.buffer(name)?, PathBuf::from(path)))).map_err(|why| {
            let names: Vec<&str> = file.buffers.iter().map(|b| b.name.as_str()).collect();
            let help = format!("the buffers of the launch are {}", names.join(", "));
            vec![Diagnostic::error(&all_codes::cli::BAD_OPTION, why).help(help)]
        })
    };
    e.out.iter().map(one).collect()
}

/// The difference of a buffer from what it should hold.
fn unexpected((name, id, want): &(String, BufferId, Vec<u8>), memory: &emu::Memory) -> Option<Diagnostic> {
    let got = memory.bytes(*id);
    let first = (0..got.len().max(want.len())).find(|&i| got.get(i) != want.get(i))?;
    let count = got.iter().zip(want).filter(|(a, b)| a != b).count();
    let shown = |bytes: &[u8]| bytes.get(first).map_or_else(|| "nothing".to_owned(), |b| format!("{b:#04x}"));
    let message = format!("`{name}` is not what the launch file expects: {count} of {} bytes differ", want.len());
    let d = Diagnostic::error(&codes::WRONG, message);
    Some(d.note(format!("the first is byte {first}: got {}, want {}", shown(&got), shown(want))))
}
