//! The tutorials of docs/tutorials run: what a reader types is typed, and what is shown is compared.
//!
//! A chapter is a case. Its blocks of code run in order, in one empty folder, with `ttc` in `PATH`. A comment in the
//! line above a block says what it is:
//!
//! 1. `<!-- file: add.tk -->`: the block is written to that file.
//! 2. `<!-- part of: add.tk -->`: the lines of the block stand in that file, next to each other.
//! 3. `<!-- needs a GPU -->`: the commands of the block are not carried out. Each must begin with `ttc run`,
//!    `ttc bench` or `ttc tune`, and must end with E1101 where no driver is; or it starts a program that the chapter
//!    has built.
//! 4. Nothing: a block `console`. A line `$ COMMAND` runs in a shell, and goes on behind a `\` at its end. The lines
//!    below it are what it prints to both outputs. There, a line `...` stands for any lines, and `…` for any text in a
//!    line. Without such lines nothing is compared. A command fails if, and only if, an `error` is shown.
//!
//! To bless: `BLESS=1 cargo test tutorials` writes what was printed into the chapters, where it differs.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Cases;

fn chapters() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tutorials");
    let mut found: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    found.retain(|p| p.extension().is_some_and(|e| e == "md"));
    found.sort();
    found
}

/// Adds a case for each chapter.
pub(crate) fn cases(cases: &mut Cases) {
    for path in chapters() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        cases.add(format!("tutorials::{name}"), move || {
            let text = fs::read_to_string(&path).unwrap();
            let (after, faults) = run(&text);
            if faults.is_empty() {
                Ok(())
            } else if std::env::var_os("BLESS").is_some() && after != text {
                fs::write(&path, after).map_err(|e| e.to_string())
            } else {
                Err(faults)
            }
        });
    }
    cases.check("tutorials::a_false_chapter_fails", a_false_chapter_fails);
}

/// A command with what is shown below it.
struct Typed<'a> {
    /// As the chapter has it: the lines from `$` on.
    lines: Vec<&'a str>,
    shown: Vec<&'a str>,
}

impl Typed<'_> {
    fn command(&self) -> String {
        self.lines.join("\n")[1..].trim().to_owned()
    }
}

/// Runs a chapter: its text with what was printed, and what is wrong with it.
fn run(text: &str) -> (String, String) {
    let temp = tempfile::tempdir().unwrap();
    let (mut after, mut faults) = (String::new(), String::new());
    let mut lines = text.lines();
    let mut above = "";
    while let Some(line) = lines.next() {
        writeln!(after, "{line}").unwrap();
        let Some(language) = line.strip_prefix("```") else {
            above = line;
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
        let mark = above.strip_prefix("<!-- ").and_then(|m| m.strip_suffix(" -->"));
        let result = match (mark.map(|m| m.split_once(": ").unwrap_or((m, ""))), language) {
            (Some(("file", name)), _) => write_file(temp.path(), name, &block).map(|()| block.join("\n")),
            (Some(("part of", name)), _) => part_of(temp.path(), name, &block).map(|()| block.join("\n")),
            (Some(("needs a GPU", "")), "console") => needs_gpu(temp.path(), &block).map(|()| block.join("\n")),
            (None, "console") => Ok(console(temp.path(), &block, &mut faults)),
            _ => Err(format!("`{line}` below `{above}` is neither a file nor commands")),
        };
        let block = result.unwrap_or_else(|fault| {
            writeln!(faults, "{fault}").unwrap();
            block.join("\n")
        });
        writeln!(after, "{block}\n```").unwrap();
        above = "";
    }
    (after, faults)
}

fn write_file(dir: &Path, name: &str, block: &[&str]) -> Result<(), String> {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).map_err(|e| e.to_string())?;
    fs::write(path, block.join("\n") + "\n").map_err(|e| e.to_string())
}

fn part_of(dir: &Path, name: &str, block: &[&str]) -> Result<(), String> {
    let text = fs::read_to_string(dir.join(name)).map_err(|e| format!("{name}: {e}"))?;
    let file: Vec<&str> = text.lines().map(str::trim).collect();
    let part: Vec<&str> = block.iter().map(|l| l.trim()).collect();
    let found = file.windows(part.len()).any(|w| w == part);
    if found { Ok(()) } else { Err(format!("{name} does not hold\n{}", block.join("\n"))) }
}

/// Commands that only a GPU carries out say so where there is none.
fn needs_gpu(dir: &Path, block: &[&str]) -> Result<(), String> {
    let typed = typed(block)?;
    for one in &typed {
        let command = one.command();
        if let Some(program) = command.strip_prefix("./") {
            let program = program.split(' ').next().unwrap_or_default();
            if !dir.join(program).exists() {
                return Err(format!("`{command}`: the chapter has not built it"));
            }
            continue;
        }
        if !["ttc run ", "ttc bench ", "ttc tune "].iter().any(|c| command.starts_with(c)) {
            return Err(format!("`{command}` needs no GPU"));
        }
        let (status, said) = shell(dir, &format!("TTC_LIBCUDA=/nowhere/libcuda.so.1 {command}"));
        if status == Some(0) || !said.contains("E1101") {
            return Err(format!("`{command}` should say E1101 where no driver is, and says\n{said}"));
        }
    }
    Ok(())
}

/// The commands of a block.
fn typed<'a>(block: &[&'a str]) -> Result<Vec<Typed<'a>>, String> {
    let mut found: Vec<Typed> = vec![];
    for &line in block {
        match found.last_mut() {
            Some(last) if last.shown.is_empty() && last.lines.last().is_some_and(|l| l.ends_with('\\')) => {
                last.lines.push(line);
            }
            _ if line.starts_with("$ ") => found.push(Typed { lines: vec![line], shown: vec![] }),
            Some(last) => last.shown.push(line),
            None => return Err(format!("a block `console` starts with `$ `, not with `{line}`")),
        }
    }
    Ok(found)
}

/// Runs the commands of a block; the block with what they printed.
fn console(dir: &Path, block: &[&str], faults: &mut String) -> String {
    let typed = match typed(block) {
        Ok(typed) => typed,
        Err(fault) => {
            writeln!(faults, "{fault}").unwrap();
            return block.join("\n");
        }
    };
    let mut after: Vec<String> = vec![];
    for one in typed {
        let (status, said) = shell(dir, &one.command());
        let printed: Vec<&str> = said.trim_end().lines().map(str::trim_end).collect();
        let fails = one.shown.iter().any(|l| l.starts_with("error"));
        let same = one.shown.is_empty() || matches(&one.shown, &printed);
        if !same {
            writeln!(faults, "`{}` prints\n{}\n", one.command(), printed.join("\n")).unwrap();
        } else if fails == (status == Some(0)) {
            writeln!(faults, "`{}` ends with {status:?}\n{}\n", one.command(), printed.join("\n")).unwrap();
        }
        after.extend(one.lines.iter().map(|l| (*l).to_owned()));
        let shown = if same { &one.shown } else { &printed };
        after.extend(shown.iter().map(|l| (*l).to_owned()));
    }
    after.join("\n")
}

/// Whether a text is as it is shown, where `...` stands for lines and `…` for a text.
fn matches(shown: &[&str], printed: &[&str]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((&"...", shown)), _) => (0..=printed.len()).any(|i| matches(shown, &printed[i..])),
        (Some((line, shown)), Some((found, printed))) => line_matches(line, found) && matches(shown, printed),
        _ => false,
    }
}

fn line_matches(shown: &str, found: &str) -> bool {
    let parts: Vec<&str> = shown.split('…').collect();
    let [first, middle @ .., last] = &parts[..] else { return shown == found };
    let Some(mut rest) = found.strip_prefix(first) else { return false };
    for part in middle {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

/// The exit code and both outputs of a command.
fn shell(dir: &Path, command: &str) -> (Option<i32>, String) {
    let ttc = Path::new(env!("CARGO_BIN_EXE_ttc")).parent().unwrap();
    let path = format!("{}:{}", ttc.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1\n{command}")]).current_dir(dir).stdin(Stdio::null());
    shell.env("PATH", path).env("NO_COLOR", "1").env_remove("COLUMNS").env("TTC_CACHE_DIR", dir.join(".cache"));
    let output = shell.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What the runner must not let pass.
fn a_false_chapter_fails() {
    let fails = |text: &str| !run(text).1.is_empty();
    assert!(!fails("<!-- file: a.txt -->\n```text\none\ntwo\n```\n\n```console\n$ cat a.txt\none\ntwo\n```\n"));
    assert!(!fails("```console\n$ printf 'one\\ntwo\\n3 ms\\n'\none\n...\n… ms\n```\n"));
    assert!(fails("```console\n$ echo one\ntwo\n```\n"), "another output");
    assert!(fails("```console\n$ printf 'one\\ntwo\\n'\none\n```\n"), "an output that is cut");
    assert!(fails("```console\n$ false\n```\n"), "a command that fails");
    assert!(fails("```console\n$ echo 'error: no'\nerror: no\n```\n"), "an error without a failure");
    assert!(fails("```sh\necho\n```\n"), "a block that does not run");
    assert!(fails("<!-- later -->\n```console\n$ true\n```\n"), "a mark that is unknown");
    assert!(fails("<!-- part of: a.txt -->\n```text\none\n```\n"), "a part of nothing");
    assert!(fails("<!-- needs a GPU -->\n```console\n$ ttc list x.tk\n```\n"), "a command that needs no GPU");
    let blessed = run("```console\n$ echo one\ntwo\n```\n").0;
    assert_eq!(blessed, "```console\n$ echo one\none\n```\n");
}
