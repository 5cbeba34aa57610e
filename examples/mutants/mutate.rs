//! Making mutants: a seed, a command that takes it, and edits of both.
//!
//! Most edits replace a word by another of the same sort, so that many mutants get far: a number by one at which
//! something changes (a power of two, one less, a bound), a name by another of the text, an operator by another, a line
//! by a line. Few edits cut or insert bytes.

use std::path::PathBuf;

use crate::seeds::{Kind, Seed};

/// xorshift64*: good enough, and the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64, number: u64) -> Random {
        let mut random =
            Random((seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1);
        // Neighbouring numbers part after some rounds.
        for _ in 0..4 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 11) % n.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A text and the command that is run on it.
pub(crate) struct Mutant {
    pub(crate) kind: Kind,
    pub(crate) text: Vec<u8>,
    pub(crate) command: Vec<String>,
}

impl Mutant {
    /// The name of its file.
    pub(crate) fn file(&self) -> String {
        format!("m.{}", self.kind.extension())
    }
}

const ARCHS: [&str; 9] = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120", "sm_121", "compute_90"];

const NUMBERS: [&str; 28] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "15",
    "16",
    "17",
    "31",
    "32",
    "33",
    "64",
    "100",
    "127",
    "128",
    "256",
    "512",
    "1024",
    "2048",
    "4096",
    "65536",
    "1048576",
    "2147483647",
    "-1",
    "9223372036854775807",
    "1e30",
];

const OPERATORS: [&str; 24] = [
    "+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "==", "!=", "<", ">=", "=", ",", ":", ".", "->",
    "(", ")", "not ",
];

const WORDS: [&str; 44] = [
    "tl.load",
    "tl.store",
    "tl.arange",
    "tl.zeros",
    "tl.full",
    "tl.dot",
    "tl.sum",
    "tl.max",
    "tl.sort",
    "tl.cumsum",
    "tl.where",
    "tl.trans",
    "tl.join",
    "tl.split",
    "tl.cat",
    "tl.reshape",
    "tl.broadcast_to",
    "tl.expand_dims",
    "tl.atomic_add",
    "tl.static_range",
    "range",
    "tl.range",
    "tl.float16",
    "tl.float32",
    "tl.float8e5",
    "tl.bfloat16",
    "tl.int1",
    "tl.int8",
    "tl.int64",
    "tl.constexpr",
    "None",
    "True",
    "False",
    "if",
    "else",
    "while",
    "for",
    "in",
    "return",
    "lambda",
    "tl.program_id",
    "tl.make_tensor_descriptor",
    "tl.make_block_ptr",
    "tl.histogram",
];

const TYPES: [&str; 22] = [
    "i1",
    "i8",
    "i16",
    "i32",
    "i64",
    "f16",
    "bf16",
    "f32",
    "f64",
    "f8E5M2",
    "index",
    "!tt.ptr<f32>",
    "tensor<128xf32>",
    "tensor<64x64xf16>",
    "#blocked",
    "#mma",
    "#shared",
    "tensor<1xi32>",
    "true",
    "false",
    "dense<0.000000e+00>",
    "none",
];

const PASSES: [&str; 36] = [
    "inline",
    "canonicalize",
    "cse",
    "sccp",
    "symbol-dce",
    "triton-combine",
    "triton-reorder-broadcast",
    "triton-rewrite-tensor-pointer",
    "triton-rewrite-tensor-descriptor-to-pointer",
    "loop-invariant-code-motion",
    "triton-loop-aware-cse",
    "triton-licm",
    "triton-loop-unroll",
    "tritongpu-coalesce",
    "tritongpu-F32DotTC",
    "tritongpu-remove-layout-conversions",
    "tritongpu-optimize-thread-locality",
    "tritongpu-accelerate-matmul",
    "tritongpu-optimize-dot-operands",
    "tritongpu-fuse-nested-loops",
    "tritongpu-pipeline",
    "tritongpu-assign-latencies",
    "tritongpu-schedule-loops",
    "tritongpu-prefetch",
    "tritongpu-reduce-data-duplication",
    "tritongpu-reorder-instructions",
    "tritongpu-coalesce-async-copy",
    "tritongpu-combine-tensor-select-and-if",
    "ttc-split-rows",
    "ttc-split-streams",
    "ttc-late-operands",
    "ttc-copies-before-waits",
    "ttc-unroll-streams",
    "ttc-full-iterations",
    "allocate-shared-memory-nv",
    "tritongpu-insert-barriers",
];

/// Options that take a value, for command lines.
const OPTIONS: [&str; 14] = [
    "--num-warps",
    "--num-stages",
    "--num-ctas",
    "--maxnreg",
    "--arch",
    "--config",
    "--emit",
    "--remarks",
    "-k",
    "-D",
    "--signature",
    "--print-ir-after",
    "--max-ops",
    "--debug",
];

pub(crate) fn mutant(random: &mut Random, seeds: &[Seed]) -> Mutant {
    // Sources are what users write. There is always one: the kernels of the repository.
    let (sources, others): (Vec<&Seed>, Vec<&Seed>) = seeds.iter().partition(|s| s.kind == Kind::Source);
    let group = if random.below(5) < 3 || others.is_empty() { &sources } else { &others };
    let seed = *random.pick(group);
    let mut command = command(random, seed);
    let mut text = seed.text.clone();
    let (of_text, of_command) = match random.below(10) {
        0 => (0, 1 + random.below(4)),
        1..3 => (1 + random.below(3), 1),
        _ => (1 + random.below(4), 0),
    };
    for _ in 0..of_text {
        edit(random, &mut text, seed.kind, seeds);
    }
    for _ in 0..of_command {
        edit_command(random, &mut command);
    }
    Mutant { kind: seed.kind, text, command }
}

/// A command that takes the seed.
fn command(random: &mut Random, seed: &Seed) -> Vec<String> {
    let file = format!("m.{}", seed.kind.extension());
    let words = |list: &[&str]| list.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let include = seed.include.iter().flat_map(|dir: &PathBuf| ["-I".to_owned(), dir.display().to_string()]);
    let compile = |random: &mut Random, emit: &str| {
        let mut all = words(&["compile", &file]);
        all.extend(seed.options.iter().cloned().chain(include.clone()));
        all.extend(words(&["--arch", *random.pick(&ARCHS), "--emit", emit, "-o", "/dev/null"]));
        all
    };
    match (seed.kind, random.below(20)) {
        (Kind::Source, 0) => words(&["check", &file]),
        (Kind::Source, 1) => words(&["list", &file]),
        (Kind::Source, 2) => compile(random, "cubin"),
        (Kind::Ttir | Kind::Ttgir, 0..8) => {
            let mut all = words(&["opt", &file]);
            if random.one_in(3) {
                all.push("--convert-triton-to-tritongpu=target=cuda:90".to_owned());
            }
            all.extend((0..=random.below(4)).map(|_| format!("--{}", random.pick(&PASSES))));
            all.extend(words(&["-o", "/dev/null"]));
            all
        }
        (Kind::Ttir, 8) => words(&["interpret", &file]),
        (Kind::Ptx, _) => compile(random, "cubin"),
        _ => compile(random, "ptx"),
    }
}

fn edit_command(random: &mut Random, command: &mut Vec<String>) {
    let at = random.below(command.len());
    match random.below(6) {
        0 if command.len() > 2 => drop(command.remove(at)),
        1 => command.insert(at.max(1), random.pick(&OPTIONS).to_string()),
        2 => command.extend([random.pick(&OPTIONS).to_string(), random.pick(&NUMBERS).to_string()]),
        3 => command[at] = random.pick(&NUMBERS).to_string(),
        _ => {
            let mut word = std::mem::take(&mut command[at]).into_bytes();
            edit_word(random, &mut word, Kind::Source);
            command[at] = String::from_utf8_lossy(&word).replace('\0', "");
        }
    }
}

fn edit(random: &mut Random, text: &mut Vec<u8>, kind: Kind, seeds: &[Seed]) {
    match random.below(12) {
        0..7 => edit_word(random, text, kind),
        7..10 => edit_lines(random, text),
        10 => {
            let other = &random.pick(seeds).text;
            let from = random.below(other.len());
            let to = (from + random.below(200)).min(other.len());
            let at = random.below(text.len() + 1);
            text.splice(at..at, other[from..to].iter().copied());
        }
        _ => {
            let at = random.below(text.len() + 1);
            let end = (at + random.below(40)).min(text.len());
            if random.one_in(2) {
                text.drain(at..end);
            } else {
                let piece = text[at..end].repeat(1 + random.below(3));
                text.splice(at..at, piece);
            }
        }
    }
}

/// Replaces one word by another of its sort, drops it, or says it twice.
fn edit_word(random: &mut Random, text: &mut Vec<u8>, kind: Kind) {
    let words = words_of(text);
    if words.is_empty() {
        return;
    }
    let (start, end) = *random.pick(&words);
    let is_name = |c: u8| c.is_ascii_alphabetic() || matches!(c, b'_' | b'%' | b'#' | b'!' | b'@');
    let replacement: Vec<u8> = match text[start] {
        _ if random.one_in(12) => vec![],
        _ if random.one_in(12) => text[start..end].repeat(2),
        c if c.is_ascii_digit() => random.pick(&NUMBERS).as_bytes().to_vec(),
        c if is_name(c) && random.one_in(3) => {
            let list: &[&str] = if kind == Kind::Source { &WORDS } else { &TYPES };
            random.pick(list).as_bytes().to_vec()
        }
        c if is_name(c) => {
            let names: Vec<_> = words.iter().filter(|w| is_name(text[w.0])).collect();
            let (from, to) = **random.pick(&names);
            text[from..to].to_vec()
        }
        _ => random.pick(&OPERATORS).as_bytes().to_vec(),
    };
    text.splice(start..end, replacement);
}

/// Where the words of a text are: names, numbers, and single other characters.
fn words_of(text: &[u8]) -> Vec<(usize, usize)> {
    let part = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'%' | b'#' | b'!' | b'@');
    let (mut all, mut at) = (vec![], 0);
    while at < text.len() {
        let start = at;
        at += 1;
        if part(text[start]) {
            while at < text.len() && part(text[at]) {
                at += 1;
            }
        }
        if !text[start].is_ascii_whitespace() {
            all.push((start, at));
        }
    }
    all
}

/// Drops, repeats, moves or indents a line.
fn edit_lines(random: &mut Random, text: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|&c| c == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let at = random.below(lines.len());
    match random.below(5) {
        0 => drop(lines.remove(at)),
        1 => {
            let line = lines[at].clone();
            lines.insert(at, line);
        }
        2 => {
            let other = random.below(lines.len());
            lines.swap(at, other);
        }
        3 => {
            let line = lines.remove(at);
            let to = random.below(lines.len() + 1);
            lines.insert(to, line);
        }
        _ => {
            let indent: &[u8] = b"    ";
            match lines[at].strip_prefix(indent).map(<[u8]>::to_vec) {
                Some(shorter) if random.one_in(2) => lines[at] = shorter,
                _ => drop(lines[at].splice(0..0, indent.iter().copied())),
            }
        }
    }
    *text = lines.concat();
}
