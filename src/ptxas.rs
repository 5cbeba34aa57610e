//! Runs the vendors' tools: LLVM's for AMD's code objects ([`code_object`]), and NVIDIA's: ptxas for the cubin
//! ([`assemble`]), nvdisasm for its text ([`disassemble`]), fatbinary for code of several architectures in one file
//! ([`bundle`]).
//!
//! [`assemble`] works in these steps:
//! 1. Find ptxas ([`mod@find`]). A path that the user named is taken as it is; otherwise the first place that has it
//!    ends the search.
//! 2. Run `ptxas -v --gpu-name=…` on the PTX ([`run`]). Its files are in memory and no path can reach the cubin, so the
//!    same PTX gives the same bytes. It dies with ttc, and when the time limit is over. It may have been started before
//!    the PTX was there ([`ahead`]), which saves the time that it takes to start.
//! 3. On success check that the output is a cubin for the target ([`cubin`]), and parse the report ([`report`]). Where
//!    the report or the machine code says that the registers could be chosen better, ptxas runs once more in another
//!    way ([`again`], [`waits`]). Short code that goes over its data once is asked for in that way at once.
//!    Where ptxas says that what a kernel's own inline PTX does needs a newer version of PTX, it gets that
//!    ([`version`]).
//! 4. On failure the PTX is kept ([`kept`]), and the diagnostic ([`failure`]) names the kernels, the log, and a command
//!    that repeats the run.
//!
//! This is the only module that starts processes. It adds about half a millisecond to ptxas's own time.
//!
//! # Example
//! ```no_run
//! # use ttc::{ptxas, target::Target};
//! # let ptx = "";
//! let done = ptxas::assemble(ptx, &Target::parse("sm_80").unwrap(), &ptxas::AssembleOptions::default(), None).unwrap();
//! assert_eq!(&done.cubin[..4], b"\x7fELF");
//! assert_eq!(done.usage().spill_stores, 0);
//! ```

mod again;
pub mod code_object;
mod cubin;
mod exits;
mod failure;
mod find;
pub mod kept;
mod old;
mod pressure;
mod repeated;
mod report;
mod run;
#[cfg(test)]
mod tests;
mod version;
mod waits;

use std::cell::{Cell, RefCell};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use crate::diag::Diagnostic;
use crate::diag::codes::{cli, tools};
use crate::target::Target;
use crate::threads::{self, Core};
use again::Attempt;
pub use cubin::registers;
pub(crate) use exits::widen as widen_exits;
pub use find::{Tool, find, find_libdevice, is_named};
pub use old::OLD_WAITS;
pub use report::{FunctionUsage, Usage};
use run::{Limits, Run, Waiting, Word};
pub use run::{Stop, stop_all};

/// How long a tool may run when nobody says: an hour. The largest real kernels take ptxas some minutes.
pub const TIME_LIMIT: Duration = Duration::from_hours(1);

/// How long `ptxas --version` may run.
const VERSION_LIMIT: Duration = Duration::from_secs(5);

/// The options of a run of ptxas.
#[derive(Clone, Copy, Debug)]
pub struct AssembleOptions<'a> {
    /// The value of `--ptxas`.
    pub ptxas: Option<&'a Path>,
    /// Whether to keep the line table of the PTX (`-lineinfo`).
    pub line_info: bool,
    /// Whether a multiplication and an addition may become one `fma`; `false` passes `--fmad=false`.
    pub fp_fusion: bool,
    /// More options for ptxas, after ttc's own.
    pub extra: &'a [String],
    /// The PTX file that the user gave, if that is where the text comes from: errors then point into it.
    pub source_name: Option<&'a str>,
    /// How long ptxas may run. `None` sets no limit.
    pub time_limit: Option<Duration>,
    /// Whether ptxas runs once more, in another way, where it may choose registers better.
    pub again: bool,
    /// The bytes of shared memory of a block, if they are known. Then ptxas also runs once more where a few registers
    /// less would make room for one more block on a multiprocessor.
    pub shared: Option<u32>,
    /// How many versions of its code the PTX has, of which each program runs one.
    pub versions: u32,
    /// Whether ptxas may run twice at the same time, where it is likely that its first answer is bad.
    pub at_once: bool,
    /// What ends the run if its answer is not needed any more.
    pub stop: Option<&'a Stop>,
    /// What the code may cost by the model of waits, where a full multiprocessor runs it, so that ptxas is asked for it
    /// in another way; another thread may still be finding out. `None` sets no limit.
    pub most_cost: Option<&'a OnceLock<f64>>,
}

impl<'a> AssembleOptions<'a> {
    fn limits(&self) -> Limits<'a> {
        Limits { time: self.time_limit, stop: self.stop }
    }
}

impl Default for AssembleOptions<'_> {
    fn default() -> Self {
        AssembleOptions {
            ptxas: None,
            line_info: true,
            fp_fusion: true,
            extra: &[],
            source_name: None,
            time_limit: Some(TIME_LIMIT),
            again: true,
            shared: None,
            versions: 1,
            at_once: false,
            stop: None,
            most_cost: None,
        }
    }
}

/// What ptxas made.
#[derive(Clone, Debug)]
pub struct Assembled {
    pub cubin: Vec<u8>,
    /// The PTX that it was made of, if that has a directive more than what was given, or is of a newer version.
    pub ptx: Option<String>,
    /// What `-v` says of each function, in the order of the log.
    pub functions: Vec<FunctionUsage>,
    /// Whether there is no better order of instructions to look for: the kernel spills little or nothing, or spills are
    /// what room for another block costs.
    pub settled: bool,
    /// Everything ptxas printed.
    pub log: String,
    /// Wall time of the ptxas process.
    pub time: Duration,
    /// The ptxas that ran.
    pub ptxas: PathBuf,
}

impl Assembled {
    /// The usage of all functions together: the largest number of registers, stack bytes and shared bytes, and the sum
    /// of the spills.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage::of_all(&self.functions)
    }

    /// The lines of the log that are warnings, without ptxas's prefix.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.log
            .lines()
            .filter(|l| l.starts_with("ptxas"))
            .filter_map(|l| Some(l.split_once("warning")?.1.trim_start_matches([' ', ':'])))
    }
}

/// A ptxas that has been started and waits for its PTX. It ends when it is dropped, or when the thread ends that
/// started it.
pub struct Ahead(Waiting);

/// Starts ptxas for PTX that will be there soon, so that it loads while the PTX is made. It is `None` where that cannot
/// be; [`assemble`] says why.
#[must_use]
pub fn ahead(target: &Target, options: &AssembleOptions) -> Option<Ahead> {
    let ptxas = find(Tool::Ptxas, options.ptxas).ok()?;
    Waiting::new(Tool::Ptxas, ptxas, words(target, options)).map(Ahead)
}

/// Assembles PTX to a cubin for one architecture, first with the ptxas that was started for it with the same options,
/// if there is one.
///
/// # Errors
/// `E0801` to `E0806`, `E0815`, `E0816` and `E0932`: there is no ptxas; it does not start, fails, is killed, takes too
/// long, is too old or writes no cubin; or files cannot be made.
pub fn assemble(
    ptx: &str,
    target: &Target,
    options: &AssembleOptions,
    ahead: Option<Ahead>,
) -> Result<Assembled, Diagnostic> {
    if old::concerns(ptx) && release(options.ptxas).is_some_and(|release| old::is_old(&release)) {
        let text = old::with_full_waits(ptx);
        let answer = settled(&text, target, options, ahead)?;
        return Ok(Assembled { ptx: answer.ptx.or(Some(text)), ..answer });
    }
    settled(ptx, target, options, ahead)
}

/// The best answer for PTX as it is.
fn settled(
    ptx: &str,
    target: &Target,
    options: &AssembleOptions,
    ahead: Option<Ahead>,
) -> Result<Assembled, Diagnostic> {
    if !options.again {
        return once(ptx, target, options, ahead);
    }
    let questions = Questions {
        ptx,
        target,
        options,
        ahead: Cell::new(ahead),
        limits: RefCell::default(),
        answers: RefCell::default(),
    };
    let answer = questions.settled()?;
    let answer = match again::in_turns(&answer, ptx, target).filter(|_| questions.answers.borrow().len() == 1) {
        Some(attempt) => questions.better(attempt, answer),
        None => answer,
    };
    // What was asked for before for another reason was refused.
    let is_new = |attempt: &Attempt| !attempt.limit().is_some_and(|limit| questions.limits.borrow().contains(&limit));
    let more = again::more_blocks(&answer, ptx, target, options.shared).filter(is_new);
    let answer = match more {
        Some(attempt) => questions.better(attempt, answer),
        None => answer,
    };
    Ok(questions.cheapest(answer))
}

/// What running an answer costs by a model of how its warps wait: cycles of a scheduler, to be compared with other
/// answers for the same kernel, for as many blocks as a multiprocessor has room for and for few warps, and how many
/// blocks those are. `shared` are the bytes of shared memory of a block, if they are known.
#[must_use]
pub fn cost(answer: &Assembled, ptx: &str, target: &Target, shared: Option<u32>) -> (f64, f64, u32) {
    let full = again::cost(answer, ptx, target, shared);
    (full, again::for_few_warps(answer, target), again::blocks(answer, ptx, target, shared))
}

/// What ptxas is asked for one kernel.
struct Questions<'a> {
    ptx: &'a str,
    target: &'a Target,
    options: &'a AssembleOptions<'a>,
    /// The ptxas that takes the first question.
    ahead: Cell<Option<Ahead>>,
    /// The limits of registers that were asked for.
    limits: RefCell<Vec<u32>>,
    /// All answers so far.
    answers: RefCell<Vec<Assembled>>,
}

impl Questions<'_> {
    fn usual(&self) -> Result<Assembled, Diagnostic> {
        once(self.ptx, self.target, self.options, self.ahead.take()).inspect(|answer| self.note(answer))
    }

    fn note(&self, answer: &Assembled) {
        self.answers.borrow_mut().push(answer.clone());
    }

    /// Whether the answers so far cost too much for another one to be of use.
    fn is_hopeless(&self) -> bool {
        let answers = self.answers.borrow();
        let cost = |answer| again::cost(answer, self.ptx, self.target, self.options.shared);
        !answers.is_empty() && self.options.most_cost.is_some_and(|most| answers.iter().all(|a| cost(a) > *most.wait()))
    }

    /// The answer in another way. A ptxas that does not know a directive has none, nor has code that costs too much.
    fn ask(&self, attempt: Attempt) -> Option<Assembled> {
        if self.is_hopeless() {
            return None;
        }
        self.limits.borrow_mut().extend(attempt.limit());
        let text = attempt.text(self.ptx);
        let answer = once(&text, self.target, self.options, self.ahead.take()).ok()?;
        let answer = Assembled { ptx: answer.ptx.or(Some(text)), ..answer };
        self.note(&answer);
        Some(answer)
    }

    /// The answer in another way if it is better than the one that is there, else that one.
    fn better(&self, attempt: Attempt, answer: Assembled) -> Assembled {
        let Some(second) = self.ask(attempt) else { return answer };
        let is_better = attempt.is_better(&second, &answer, self.ptx, self.target);
        if !is_better {
            self.forget(attempt, &second, &answer);
        }
        either(answer, second, is_better)
    }

    /// Of all answers, the cheapest by the model of waits in place of this one, if that makes a difference.
    fn cheapest(&self, answer: Assembled) -> Assembled {
        let &Questions { ptx, target, options, .. } = self;
        let others = self.answers.take().into_iter().filter(|other| other.cubin != answer.cubin);
        let cheaper = others.filter(|other| again::is_cheaper(other, &answer, ptx, target, options.shared));
        let cost = |other: &Assembled| again::cost(other, ptx, target, options.shared);
        match cheaper.min_by(|a, b| cost(a).total_cmp(&cost(b))) {
            Some(other) => Assembled { time: answer.time, settled: answer.settled, ..other },
            None => answer,
        }
    }

    /// The best answer by what is known of such kernels, but for more blocks by the model of waits.
    fn settled(&self) -> Result<Assembled, Diagnostic> {
        let &Questions { ptx, target, options, .. } = self;
        let one_block_first = again::asks_for_one_block_first(ptx, options.versions);
        let mut for_one_block = if one_block_first { self.ask(Attempt::Stream) } else { None };
        if let Some(stream) = for_one_block.take_if(|answer| again::leaves_room(answer, ptx, target)) {
            let mut answer = stream;
            if again::may_want_threads(&answer, ptx, target) {
                let usual = self.usual()?;
                let is_better = again::has_cheaper_loops(&usual, &answer, ptx, target);
                answer = either(answer, usual, is_better);
            }
            if again::may_hold(&answer, ptx, target) {
                answer = self.better(Attempt::Held, answer);
            }
            if let Some(company) = again::fills_up(&answer, ptx, target, options.shared) {
                answer = self.better(company, answer);
            }
            return Ok(answer);
        }
        let may_be_both = options.at_once && for_one_block.is_none() && again::may_give_up(ptx, options.versions);
        let core = if may_be_both { Core::take() } else { None };
        let first = if core.is_some() {
            let (first, other) = both(ptx, target, options, self.ahead.take());
            [first.as_ref().ok(), other.as_ref()].into_iter().flatten().for_each(|answer| self.note(answer));
            for_one_block = other;
            first?
        } else {
            let first = self.usual()?;
            let time = first.time + for_one_block.as_ref().map_or(Duration::ZERO, |answer| answer.time);
            Assembled { time, ..first }
        };
        drop(core);
        let Some(attempt) = again::attempt(&first, ptx, target, options.shared) else { return Ok(first) };
        let keeping = again::keeps_blocks(attempt, &first, ptx, target, options.shared);
        let kept = keeping.and_then(|keeping| Some((keeping, self.ask(keeping)?)));
        let mut time = first.time + kept.as_ref().map_or(Duration::ZERO, |(_, answer)| answer.time);
        let kept = kept.filter(|(keeping, answer)| keeping.is_better(answer, &first, ptx, target));
        let (attempt, second) = match kept {
            // No other answer can be better.
            Some(kept) if kept.1.usage().spilled() == 0 => kept,
            kept => {
                let known = for_one_block.filter(|_| attempt.blocks() == Some(1));
                // It ran before the first answer, whose time counts it, or beside it.
                let known = known.map(|answer| Assembled { time: answer.time.saturating_sub(first.time), ..answer });
                let Some(second) = known.or_else(|| self.ask(attempt)) else { return Ok(first) };
                time += second.time;
                let kept = kept.filter(|(keeping, _)| keeping.has_more_blocks_than(&second, ptx, target));
                kept.unwrap_or((attempt, second))
            }
        };
        let is_better = attempt.is_better(&second, &first, ptx, target);
        if !is_better {
            self.forget(attempt, &second, &first);
            return Ok(Assembled { time, ..first });
        }
        let is_price = second.usage().spilled() > first.usage().spilled();
        Ok(Assembled { settled: is_price || second.settled, time, ..second })
    }

    /// Leaves out a refused answer of those that may be taken in the end, if that is how its attempt is judged.
    fn forget(&self, attempt: Attempt, refused: &Assembled, answer: &Assembled) {
        if attempt.forgets(refused, answer, self.ptx, self.target) {
            self.answers.borrow_mut().retain(|other| other.cubin != refused.cubin);
        }
    }
}

/// The second of two answers if it is better, else the first, with the time of both.
fn either(first: Assembled, second: Assembled, is_better: bool) -> Assembled {
    let time = first.time + second.time;
    Assembled { time, ..if is_better { second } else { first } }
}

/// Two answers at the same time: the usual one, and that for one block, unless nobody would ask for it.
fn both(
    ptx: &str,
    target: &Target,
    options: &AssembleOptions,
    ahead: Option<Ahead>,
) -> (Result<Assembled, Diagnostic>, Option<Assembled>) {
    let Ok(stop) = Stop::new() else { return (once(ptx, target, options, ahead), None) };
    let text = Attempt::Recover.text(ptx);
    let for_one_block = || once(&text, target, &AssembleOptions { stop: Some(&stop), ..*options }, None).ok();
    thread::scope(|scope| {
        let other = threads::start(|builder| builder.spawn_scoped(scope, for_one_block));
        let first = once(ptx, target, options, ahead);
        let next = first.as_ref().ok().and_then(|first| again::attempt(first, ptx, target, options.shared));
        let is_wanted = next.is_some_and(|attempt| attempt.blocks() == Attempt::Recover.blocks());
        if !is_wanted {
            stop.stop();
        }
        let other = other.ok().and_then(|other| other.join().ok()?).filter(|_| is_wanted);
        (first, other.map(|answer| Assembled { ptx: answer.ptx.or_else(|| Some(text.clone())), ..answer }))
    })
}

/// The command line of ptxas.
fn words(target: &Target, options: &AssembleOptions) -> Vec<Word> {
    let mut words: Vec<Word> = vec!["-v".into(), format!("--gpu-name={}", target.name).into()];
    if options.line_info {
        words.push("-lineinfo".into());
    }
    if !options.fp_fusion {
        words.push("--fmad=false".into());
    }
    words.extend(options.extra.iter().map(Into::into));
    words.extend([Word::Input(String::new(), 0), "-o".into(), Word::Output("")]);
    words
}

/// One run of ptxas.
fn once(ptx: &str, target: &Target, options: &AssembleOptions, ahead: Option<Ahead>) -> Result<Assembled, Diagnostic> {
    let input = ptx.as_bytes();
    let (mut run, ended) = match ahead.map(|ahead| ahead.0.finish(input, options.limits())) {
        Some(Ok((run, ended))) if ended.status.success() || ended.stopped => (run, ended),
        // Whether the PTX is at fault, or the way in which it was given, is seen from a run with a plain file.
        _ => {
            let ptxas = find(Tool::Ptxas, options.ptxas)?;
            let run = Run::new(Tool::Ptxas, ptxas, words(target, options), &[input])?;
            let ended = run.execute(options.limits())?;
            (run, ended)
        }
    };
    if ended.stopped && options.stop.is_some_and(Stop::is_stopped) {
        return Err(Diagnostic::error(&tools::TOOL_TIMEOUT, "ptxas was ended, since nobody needs its answer"));
    }
    if !ended.status.success()
        && options.source_name.is_none()
        && let Some(newer) = version::as_wanted(ptx, &ended.log())
    {
        let answer = once(&newer, target, options, None)?;
        return Ok(Assembled { ptx: answer.ptx.or(Some(newer)), time: answer.time + ended.time, ..answer });
    }
    let output = run.output().map_err(|e| scratch(&e, "read the cubin"))?;
    if !ended.status.success() || ended.stopped || output.is_empty() {
        return Err(failure::of_ptxas(&run, &ended, ptx, target, options));
    }
    if let Some(why) = cubin::fault(&output, target) {
        return Err(failure::of_cubin(&run, &ended, ptx, target, &why));
    }
    let log = ended.log();
    let functions = report::parse(&log);
    let settled = again::is_settled(&Usage::of_all(&functions));
    Ok(Assembled { cubin: output, ptx: None, functions, settled, log, time: ended.time, ptxas: run.tool_path })
}

/// Whether it is likely that a kernel spills so much that another order of its instructions is worth a try.
#[must_use]
pub fn may_spill(ptx: &str) -> bool {
    again::may_spill(ptx)
}

/// Whether it is likely that ptxas spills less of other PTX for the same kernel, so that it is worth a run.
#[must_use]
pub fn may_spill_less(other: &str, ptx: &str) -> bool {
    again::may_spill_less(other, ptx)
}

/// The release of a ptxas, such as `13.4`, from the last lines of `ptxas --version`:
///
/// ```text
/// Cuda compilation tools, release 13.4, V13.4.92
/// ```
///
/// It is `None` if the program says no such thing.
#[must_use]
pub fn release(ptxas: Option<&Path>) -> Option<String> {
    let run = Run::new(Tool::Ptxas, find(Tool::Ptxas, ptxas).ok()?, vec!["--version".into()], &[]).ok()?;
    let said = run.execute(Some(VERSION_LIMIT).into()).ok()?.log();
    let (_, rest) = said.split_once("release ")?;
    let release: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    (!release.is_empty()).then_some(release)
}

/// What a listing of a cubin says besides the instructions. nvdisasm prints either the one or the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    Plain,
    /// The source lines.
    Lines,
    /// How many registers are in use at each instruction.
    Lives,
}

/// Disassembles a cubin to text, as `nvdisasm -c` prints it.
///
/// # Errors
/// `E0801`, `E0802`, `E0804`, `E0806`, and `E0807` with nvdisasm's own message when it fails.
pub fn disassemble(
    cubin: &[u8],
    nvdisasm: Option<&Path>,
    detail: Detail,
    time_limit: Option<Duration>,
) -> Result<String, Diagnostic> {
    let tool = find(Tool::Nvdisasm, nvdisasm)?;
    let mut words: Vec<Word> = vec!["-c".into()];
    match detail {
        Detail::Plain => {}
        Detail::Lines => words.push("-g".into()),
        Detail::Lives => words.extend(["-lrm", "count"].map(Word::from)),
    }
    words.push(Word::Input(String::new(), 0));
    let run = Run::new(Tool::Nvdisasm, tool, words, &[cubin])?;
    let ended = run.execute(time_limit.into())?;
    if ended.status.success() && !ended.stopped {
        return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
    }
    Err(failure::of_nvdisasm(&run, &ended, cubin, time_limit))
}

/// One part of a fat binary.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub target: Target,
    /// Whether it is PTX, which the driver compiles for GPUs that no other part is for. Otherwise it is a cubin.
    pub is_ptx: bool,
    pub bytes: &'a [u8],
}

/// Puts code for several architectures into one fat binary, from which the driver chooses.
///
/// # Errors
/// `E0801`, `E0802`, `E0804`, `E0806`, and `E0817` with fatbinary's own message when it fails.
pub fn bundle(
    parts: &[Part<'_>],
    fatbinary: Option<&Path>,
    time_limit: Option<Duration>,
) -> Result<Vec<u8>, Diagnostic> {
    let tool = find(Tool::Fatbinary, fatbinary)?;
    let mut words: Vec<Word> = vec!["-64".into(), Word::Output("--create=")];
    for (i, part) in parts.iter().enumerate() {
        let kind = if part.is_ptx { "ptx" } else { "elf" };
        let arch = part.target.name.trim_start_matches("sm_");
        words.push(Word::Input(format!("--image3=kind={kind},sm={arch},file="), i));
    }
    let inputs: Vec<&[u8]> = parts.iter().map(|p| p.bytes).collect();
    let mut run = Run::new(Tool::Fatbinary, tool, words, &inputs)?;
    let ended = run.execute(time_limit.into())?;
    let output = run.output().map_err(|e| scratch(&e, "read the fat binary"))?;
    if ended.status.success() && !ended.stopped && !output.is_empty() {
        return Ok(output);
    }
    Err(failure::of_fatbinary(&ended, parts, time_limit))
}

fn not_started(tool: Tool, path: &Path, error: &io::Error) -> Diagnostic {
    if is_shortage(error) {
        return shortage(tool.file_name(), error);
    }
    let name = tool.file_name();
    let diagnostic =
        Diagnostic::error(&tools::TOOL_NOT_RUNNABLE, format!("cannot start {name} at `{}`: {error}", path.display()));
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            diagnostic.help(format!("make it executable: `chmod +x {}`", path.display()))
        }
        _ => diagnostic.help(format!("name another {name} with `{}`", tool.variable())),
    }
}

/// Whether the system refused because it had too few files or processes or too little memory.
fn is_shortage(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|e| matches!(e, libc::EMFILE | libc::ENFILE | libc::EAGAIN | libc::ENOMEM))
}

fn shortage(name: &str, error: &io::Error) -> Diagnostic {
    let what = match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => "file",
        Some(libc::ENOMEM) => "memory",
        _ => "process",
    };
    Diagnostic::error(&cli::NO_RESOURCES, format!("the system has no {what} for {name}: {error}"))
        .help("run fewer jobs at once (`-j 1`), or raise the limits on files (`ulimit -n`), processes (`-u`) and memory (`-v`)")
}

fn scratch(error: &io::Error, doing: &str) -> Diagnostic {
    if is_shortage(error) {
        return shortage("a tool", error);
    }
    let folder = std::env::temp_dir();
    // The error of a temporary file goes on with the file's random name.
    let text = error.to_string();
    let why = text.split(" at path ").next().unwrap_or(&text);
    Diagnostic::error(&tools::SCRATCH_FAILED, format!("cannot {doing} in `{}`: {why}", folder.display()))
        .help("free space there, or set `TMPDIR` to a folder that can be written")
}
