//! Turns a failed run into a diagnostic that says what failed and how to repeat it.
//!
//! 1. The input is kept, so that the command in the message works.
//! 2. The kind of failure is found: the tool was killed by a signal or the time limit, is too old for the target or the
//!    PTX version (known by ptxas's words), or rejected the PTX.
//! 3. The lines of the PTX that the log blames are quoted, or become labels when the PTX is the user's own file.
//!
//! ```text
//! ptxas kernel.ptx, line 19; error   : Unknown modifier '.glob'
//! ```
//! gives the note ``line 19: `st.glob.b32 [%rd1], 1;` ``.

use std::time::Duration;

use super::run::{Ended, Run};
use super::{AssembleOptions, Part, Tool, kept, run};
use crate::diag::{Diagnostic, Place, codes::tools, shell_word};
use crate::target::Target;

/// How many lines of the PTX a message quotes.
const QUOTES: usize = 5;

pub(super) fn of_ptxas(run: &Run, ended: &Ended, ptx: &str, target: &Target, options: &AssembleOptions) -> Diagnostic {
    let log = ended.log();
    let (source_name, subject) = (options.source_name, subject(ptx));
    let mut diagnostic = if let Some(killed) = killed(Tool::Ptxas, ended, &subject, options.time_limit) {
        killed
    } else if let Some(old) = too_old(&log) {
        Diagnostic::error(&tools::PTXAS_TOO_OLD, format!("this ptxas is too old{subject} on {target}: {old}")).help(
            "name a newer ptxas with `--ptxas` (`make toolchain` installs one), or compile for an older architecture",
        )
    } else {
        let what = match ended.status.code() {
            Some(0) => "ptxas ended without an error but wrote no cubin".to_owned(),
            code => format!("ptxas failed with exit code {}", code.unwrap_or(-1)),
        };
        let first = blamed(&log).first().map(|(_, text)| format!(": {text}")).unwrap_or_default();
        Diagnostic::error(&tools::PTXAS_FAILED, format!("{what}{subject} on {target}{first}"))
    };
    for (line, text) in blamed(&log).into_iter().take(QUOTES) {
        diagnostic = match source_name {
            Some(file) => diagnostic.at(place(file, line, ptx), text),
            None => source_of(ptx, line)
                .into_iter()
                .fold(diagnostic, |d, place| d.at(place, "what ptxas refuses was made of this"))
                .note(format!("line {line} of the PTX: `{}`", ptx.lines().nth(line as usize - 1).unwrap_or("").trim())),
        };
    }
    if let (Some(file), true) = (source_name, diagnostic.labels.is_empty()) {
        diagnostic = diagnostic.at(Place::File(file.to_owned()), "");
    }
    with_log(run, diagnostic, &log, ptx.as_bytes())
}

/// Makes the diagnostic for a ptxas that ended well but wrote no cubin.
pub(super) fn of_cubin(run: &Run, ended: &Ended, ptx: &str, target: &Target, why: &str) -> Diagnostic {
    let text = format!("ptxas wrote no cubin for {target}{}: {why}", subject(ptx));
    let diagnostic = Diagnostic::error(&tools::BAD_CUBIN, text)
        .help(format!("name another ptxas with `--ptxas` or `{}`", Tool::Ptxas.variable()));
    with_log(run, diagnostic, &ended.log(), ptx.as_bytes())
}

/// `` for `add` ``, if the PTX names a kernel.
fn subject(ptx: &str) -> String {
    let kernels = entry_names(ptx);
    if kernels.is_empty() { String::new() } else { format!(" for {}", list(&kernels)) }
}

pub(super) fn of_nvdisasm(run: &Run, ended: &Ended, cubin: &[u8], limit: Option<Duration>) -> Diagnostic {
    let log = ended.log();
    let failed = || {
        Diagnostic::error(
            &tools::DISASSEMBLY_FAILED,
            format!("nvdisasm failed with exit code {}", ended.status.code().unwrap_or(-1)),
        )
        .help(format!(
            "use an nvdisasm as new as the ptxas that made the cubin, for example with `{}`",
            Tool::Nvdisasm.variable()
        ))
    };
    let diagnostic = killed(Tool::Nvdisasm, ended, "", limit).unwrap_or_else(failed);
    with_log(run, diagnostic, &log, cubin)
}

pub(super) fn of_fatbinary(ended: &Ended, parts: &[Part<'_>], limit: Option<Duration>) -> Diagnostic {
    let log = ended.log();
    let archs: Vec<&str> = parts.iter().map(|p| p.target.name).collect();
    let diagnostic = killed(Tool::Fatbinary, ended, "", limit).unwrap_or_else(|| {
        let code = ended.status.code().unwrap_or(-1);
        let text = format!("fatbinary failed with exit code {code} for {}", archs.join(", "));
        Diagnostic::error(&tools::BUNDLE_FAILED, text).help(format!(
            "use a fatbinary as new as the ptxas that made the cubins, for example with `{}`",
            Tool::Fatbinary.variable()
        ))
    });
    diagnostic.note(match log.trim() {
        "" => "it printed nothing".to_owned(),
        said => format!("its log:\n{said}"),
    })
}

/// The diagnostic for one of LLVM's tools that failed on what was made for an AMD GPU.
pub(super) fn of_llvm(run: &Run, ended: &Ended, made_for: &str, input: &[u8], limit: Option<Duration>) -> Diagnostic {
    let (log, name) = (ended.log(), run.tool.file_name());
    let diagnostic = killed(run.tool, ended, "", limit).unwrap_or_else(|| {
        let first = log.lines().find_map(|l| Some(l.split_once("error:")?.1.trim())).map(|l| format!(": {l}"));
        let code = ended.status.code().unwrap_or(-1);
        let text = format!("{name} failed with exit code {code} for {made_for}{}", first.unwrap_or_default());
        Diagnostic::error(&tools::CODE_OBJECT_FAILED, text).help(format!(
            "name an {name} of LLVM {} with `{}`",
            super::find::LLVM,
            run.tool.variable()
        ))
    });
    with_log(run, diagnostic, &log, input)
}

/// Adds the log and the command that repeats the run, whose input is kept. Where ttc itself stopped the tool because
/// ttc had to end, nothing is kept.
fn with_log(run: &Run, diagnostic: Diagnostic, log: &str, input: &[u8]) -> Diagnostic {
    let log =
        if log.trim().is_empty() { "it printed nothing".to_owned() } else { format!("its log:\n{}", log.trim_end()) };
    let diagnostic = diagnostic.note(log);
    if run::is_ending() {
        return diagnostic;
    }
    let (name, output) = match run.tool {
        Tool::Ptxas => ("kernel.ptx", "kernel.cubin"),
        Tool::Nvdisasm | Tool::Fatbinary | Tool::Libdevice => ("kernel.cubin", "kernel.fatbin"),
        Tool::LlvmMc => ("kernel.amdgcn", "kernel.o"),
        Tool::Lld => ("kernel.o", "kernel.hsaco"),
        Tool::Objdump => ("kernel.hsaco", "kernel.s"),
    };
    match kept::keep(name, input) {
        Ok(folder) => {
            let program = std::path::absolute(&run.tool_path).unwrap_or_else(|_| run.tool_path.clone());
            let mut command = vec![shell_word(&program.to_string_lossy())];
            let words = run.arguments(|_| name.into(), output.as_ref());
            command.extend(words.iter().map(|a| shell_word(&a.to_string_lossy())));
            diagnostic.note(format!(
                "to repeat it: cd {} && {}",
                shell_word(&folder.to_string_lossy()),
                command.join(" ")
            ))
        }
        Err(e) => diagnostic.note(format!("its input could not be kept: {e}")),
    }
}

/// The diagnostic for a tool that a signal or the time limit ended.
fn killed(tool: Tool, ended: &Ended, subject: &str, limit: Option<Duration>) -> Option<Diagnostic> {
    if let (true, Some(limit)) = (ended.stopped, limit) {
        let text = format!("{} was stopped after {} s{subject}", tool.file_name(), limit.as_secs());
        return Some(
            Diagnostic::error(&tools::TOOL_TIMEOUT, text)
                .help("allow more with `--ptxas-timeout SECONDS` (0: no limit), or make the kernel smaller"),
        );
    }
    let signal = std::os::unix::process::ExitStatusExt::signal(&ended.status)?;
    let name = tool.file_name();
    let diagnostic = Diagnostic::error(&tools::TOOL_KILLED, format!("{name} was killed by signal {signal}{subject}"));
    Some(match signal {
        9 => diagnostic.help("the system may have run out of memory: compile fewer kernels at once"),
        _ => diagnostic.help(format!("this is a defect of {name}: try another version with `{}`", tool.variable())),
    })
}

/// The reason in what an old ptxas says, if the log is that of one.
fn too_old(log: &str) -> Option<String> {
    log.lines().find_map(|line| {
        let quoted = |text: &str| text.split('\'').nth(1).map(str::to_owned);
        if line.contains("is not defined for option 'gpu-name'") || line.contains("Unsupported .target") {
            return Some(format!("it does not know {}", quoted(line)?));
        }
        let (_, rest) = line.split_once("Unsupported .version ")?;
        let (version, rest) = rest.split_once(';')?;
        Some(format!("the PTX is of version {version}, and it knows versions up to {}", quoted(rest)?))
    })
}

/// The PTX lines that a log blames, each with the complaint: `(19, "Unknown modifier '.glob'")`. Lines start at 1.
fn blamed(log: &str) -> Vec<(u32, String)> {
    let parse = |line: &str| {
        let (_, rest) = line.strip_prefix("ptxas")?.split_once(", line ")?;
        let (number, rest) = rest.split_once(';')?;
        let (kind, text) = rest.split_once(':')?;
        let number: u32 = number.trim().parse().ok().filter(|n| *n > 0)?;
        matches!(kind.trim(), "error" | "fatal").then(|| (number, text.trim().to_owned()))
    };
    log.lines().filter_map(parse).collect()
}

/// The place of the first word of a line in the user's PTX file.
fn place(file: &str, line: u32, ptx: &str) -> Place {
    let text = ptx.lines().nth(line as usize - 1).unwrap_or("");
    let col = text.chars().take_while(|c| c.is_whitespace()).count() as u32 + 1;
    Place::At { file: file.to_owned(), line, col }
}

/// The line of the kernel's file that the last `.loc` above a line of the PTX names.
fn source_of(ptx: &str, line: u32) -> Option<Place> {
    let above: Vec<&str> = ptx.lines().take(line as usize).collect();
    let loc = above.iter().rev().find_map(|l| l.trim_start().strip_prefix(".loc"))?;
    let mut numbers = loc.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok());
    let (file, line, col) = (numbers.next()?, numbers.next()?, numbers.next()?);
    let files = ptx.lines().filter_map(|l| l.trim_start().strip_prefix(".file"));
    let mut names = files.filter_map(|l| l.trim_start().split_once(char::is_whitespace));
    let (_, name) = names.find(|(number, _)| number.parse() == Ok(file))?;
    (line > 0).then(|| Place::At { file: name.trim().trim_matches('"').to_owned(), line, col: col.max(1) })
}

/// The names of the kernels in a PTX text, in order.
fn entry_names(ptx: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
    ptx.match_indices(".entry")
        .filter_map(|(at, word)| {
            let rest = &ptx[at + word.len()..];
            let name = rest.trim_start().split(|c| !is_name(c)).next()?;
            (rest.starts_with(char::is_whitespace) && !name.is_empty()).then_some(name)
        })
        .collect()
}

/// Lists names: `` `a` ``, `` `a` and `b` ``, or `` `a` and 7 other kernels ``.
fn list(kernels: &[&str]) -> String {
    match kernels {
        [one] => format!("`{one}`"),
        [one, two] => format!("`{one}` and `{two}`"),
        _ => format!("`{}` and {} other kernels", kernels[0], kernels.len() - 1),
    }
}
