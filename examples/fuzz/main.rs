//! Mutational fuzzing on stable Rust, with the corpus in memory.
//!
//! `cargo run --release --example fuzz -- --target parser --seconds 600 [--seed N] [--corpus DIR]`, or `--file PATH`
//! for one text
//!
//! 1. The corpus starts with the test inputs of the repository (and the files of `--corpus`).
//! 2. A round takes one text, applies some edits (cut, repeat, swap, insert a word or a byte, splice with another text)
//!    and checks it. Texts of lines are mostly edited by lines and words, so that many of them stay valid.
//! 3. A check that panics, or takes over two seconds twice, is a finding: its text is written to
//!    `fuzz/artifacts/TARGET-N` and the loop goes on. Texts whose check took a new route are not known without
//!    instrumentation, so every hundredth mutant joins the corpus.
//!
//! A new target is a file beside this one with a `check(&str)` and a line in `TARGETS`.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod ir;
mod parser;
mod ptx;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a check may take.
const LIMIT: Duration = Duration::from_secs(2);

/// What is fuzzed.
struct Target {
    name: &'static str,
    check: fn(&str),
    /// Folders of the first texts.
    inputs: &'static [&'static str],
    /// What is inserted into texts.
    words: &'static [&'static str],
    /// Whether a text is made of lines that mostly stand for themselves, between a beginning and an end that it needs.
    lines: bool,
}

const TARGETS: &[Target] = &[
    Target {
        name: "ir",
        check: ir::check,
        inputs: &["tests/irtext", "tests/lit/passes"],
        words: ir::WORDS,
        lines: false,
    },
    Target { name: "parser", check: parser::check, inputs: &["tests/parser"], words: WORDS, lines: false },
    Target { name: "ptx", check: ptx::check, inputs: &["tests/emu"], words: ptx::WORDS, lines: true },
];

const WORDS: &[&str] = &[
    "if ",
    "elif ",
    "else:",
    "for ",
    " in ",
    "while ",
    "def ",
    "class ",
    "return ",
    "with ",
    " as ",
    "try:",
    "lambda ",
    "not ",
    " is ",
    " and ",
    "import ",
    "from ",
    "async ",
    "await ",
    "yield ",
    "match x:",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ";",
    ".",
    "=",
    "==",
    ":=",
    "->",
    "**",
    "//",
    "@triton.jit\n",
    "'",
    "\"",
    "'''",
    "\"\"\"",
    "f'{",
    "f\"",
    "!r}",
    "\\",
    "\\\n",
    "\n",
    "\n    ",
    "\n\t",
    "\r\n",
    "#",
    "0x",
    "1e",
    "1_",
    "é",
    "\u{0}",
    "\u{feff}",
    "\u{c}",
    "...",
    "\\N{",
    "\\x",
    "b'",
    "rb\"",
];

/// xorshift64*: good enough, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

fn main() {
    let (mut target, mut seconds, mut seed, mut folder, mut file) = ("parser".to_owned(), 60, 1, None, None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let value = args.next().unwrap_or_default();
        match arg.as_str() {
            "--target" => target = value,
            "--seconds" => seconds = value.parse().expect("--seconds wants a number"),
            "--seed" => seed = value.parse().expect("--seed wants a number"),
            "--corpus" => folder = Some(PathBuf::from(value)),
            "--file" => file = Some(value),
            _ => panic!("unknown argument {arg}"),
        }
    }
    let target = TARGETS.iter().find(|t| t.name == target).expect("unknown target");
    if let Some(file) = file {
        let text = std::fs::read_to_string(file).expect("cannot read the file");
        let began = Instant::now();
        (target.check)(&text);
        return println!("{:?}", began.elapsed());
    }
    let mut corpus = vec![];
    for folder in target.inputs {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut corpus);
    }
    if let Some(folder) = folder {
        collect(&folder, &mut corpus);
    }
    let findings = fuzz(target, corpus, Duration::from_secs(seconds), seed);
    assert_eq!(findings, 0, "there are findings, see fuzz/artifacts");
}

fn fuzz(target: &Target, mut corpus: Vec<Vec<u8>>, time: Duration, seed: u64) -> usize {
    let (name, check) = (target.name, target.check);
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let start = Instant::now();
    let (mut rounds, mut findings, mut bytes, mut slowest) = (0u64, 0, 0, Duration::ZERO);
    let first = corpus.len();
    while start.elapsed() < time {
        let mutant = mutate(&mut random, &corpus, target);
        let text = String::from_utf8_lossy(&mutant).into_owned();
        let timed = || {
            let began = Instant::now();
            (catch_unwind(AssertUnwindSafe(|| check(&text))), began.elapsed())
        };
        let (result, mut took) = timed();
        // On a busy machine any text may be slow once.
        if result.is_ok() && took > LIMIT {
            took = took.min(timed().1);
        }
        slowest = slowest.max(took);
        rounds += 1;
        bytes += text.len();
        if result.is_err() || took > LIMIT {
            findings += 1;
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/artifacts");
            let path = folder.join(format!("{name}-{findings}"));
            std::fs::create_dir_all(&folder)
                .and_then(|()| std::fs::write(&path, &text))
                .expect("cannot write the finding");
            println!("finding {findings} after {rounds} rounds ({took:?}): {}", path.display());
        } else if rounds.is_multiple_of(100) && mutant.len() < 100_000 {
            let at = if corpus.len() < first + 2000 { corpus.len() } else { first + random.below(2000) };
            if at == corpus.len() { corpus.push(mutant) } else { corpus[at] = mutant }
        }
    }
    println!("{name}: {rounds} rounds, {bytes} bytes, {:?}, slowest {slowest:?}, {findings} findings", start.elapsed());
    findings
}

fn mutate(random: &mut Random, corpus: &[Vec<u8>], target: &Target) -> Vec<u8> {
    let mut text = corpus.get(random.below(corpus.len())).cloned().unwrap_or_default();
    if target.lines && random.below(8) != 0 {
        (0..=random.below(3)).for_each(|_| edit_line(random, corpus, target, &mut text));
        return text;
    }
    // A short piece shows more a second than a long file.
    if !target.lines && text.len() > 2000 && random.below(8) != 0 {
        let at = random.below(text.len() - 1000);
        text = text[at..at + 1000].to_vec();
    }
    for _ in 0..=random.below(6) {
        let at = random.below(text.len() + 1);
        let end = (at + random.below(60)).min(text.len());
        match random.below(8) {
            0 => drop(text.drain(at..end)),
            1 => {
                let most = if random.below(50) == 0 { 3000 } else { 4 };
                let piece = text[at..end].repeat(1 + random.below(most));
                text.splice(at..at, piece);
            }
            2 => {
                let piece: Vec<u8> = text.drain(at..end).collect();
                let to = random.below(text.len() + 1);
                text.splice(to..to, piece);
            }
            3 => {
                let byte = random.next() as u8;
                text.insert(at, byte);
            }
            4 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len());
                let to = (from + random.below(200)).min(other.len());
                text.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let word = target.words[random.below(target.words.len())];
                text.splice(at..at, word.bytes());
            }
        }
    }
    text
}

/// One edit that leaves most texts of lines valid: of a whole line, or of a word for another one that begins alike.
fn edit_line(random: &mut Random, corpus: &[Vec<u8>], target: &Target, text: &mut Vec<u8>) {
    let at = random.below(text.len());
    let other = &corpus[random.below(corpus.len())];
    match random.below(8) {
        0 => drop(text.drain(around(text, at, |b| b != b'\n'))),
        1 => {
            let (from, to) = (around(text, random.below(text.len()), |b| b != b'\n'), around(text, at, |b| b != b'\n'));
            let line: Vec<u8> = text[from].iter().copied().chain([b'\n']).collect();
            text.splice(to.start..to.start, line);
        }
        2 => {
            let (from, to) =
                (around(other, random.below(other.len()), |b| b != b'\n'), around(text, at, |b| b != b'\n'));
            text.splice(to.start..to.start, other[from].iter().copied().chain([b'\n']));
        }
        n => {
            // Whole words have their points: `ld.global`.
            let is_in = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'%' | b'$') || b == b'.' && n < 6;
            let Some(start) = (at..text.len()).find(|&i| is_in(text[i])) else { return };
            let old = around(text, start, is_in);
            // Numbers, names, and what begins with a sign.
            let kind = |b: u8| {
                if b.is_ascii_digit() {
                    0
                } else if b.is_ascii_alphabetic() {
                    1
                } else {
                    b
                }
            };
            for _ in 0..20 {
                let new = if n == 7 {
                    target.words[random.below(target.words.len())].as_bytes()
                } else {
                    let from = if n == 5 { &*text } else { other };
                    &from[around(from, random.below(from.len()), is_in)]
                };
                if new.first().is_some_and(|&b| kind(b) == kind(text[old.start])) {
                    let new = new.to_vec();
                    text.splice(old, new);
                    return;
                }
            }
        }
    }
}

/// The longest stretch around a place of bytes that belong to it.
fn around(text: &[u8], at: usize, is_in: impl Fn(u8) -> bool) -> std::ops::Range<usize> {
    let start = at - text[..at].iter().rev().take_while(|b| is_in(**b)).count();
    start..at + text[at..].iter().take_while(|b| is_in(**b)).count()
}

/// The texts below a folder, in order of their paths.
fn collect(path: &Path, out: &mut Vec<Vec<u8>>) {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect();
        entries.sort();
        entries.iter().for_each(|e| collect(e, out));
    } else if path.extension().is_some_and(|e| e == "py" || e == "tk" || e == "ttir" || e == "ttgir" || e == "mlir") {
        out.extend(std::fs::read(path));
    } else if path.extension().is_some_and(|e| e == "ptx") {
        // A long file takes the time of many short ones.
        out.extend(std::fs::read(path).ok().filter(|text| text.len() < 30_000));
    }
}
