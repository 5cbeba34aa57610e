//! A case file to begin with: the parameters of a kernel, with guesses where its file says nothing.
//!
//! 1. Compile-time parameters are `[constants]`. Of a kernel with configurations the first one counts.
//! 2. A pointer is a buffer, a descriptor one with a block, a scalar a number. What the kernel stores to is a result.
//! 3. Sizes are guesses as well: one program, [`NUMBER`] for integers, and buffers that hold [`NUMBER`] rows of as many
//!    elements.
//!
//! The text is a valid case file ([`super::spec`]): a person corrects numbers, not syntax.

use std::fmt::Write as _;

use crate::irgen::{ConfigInfo, KernelInfo, KernelParam, Kind, Source};

use super::config::COMPILE_OPTIONS;

/// The value of integers.
const NUMBER: usize = 64;

/// Writes a case for a kernel of the file with this name.
#[must_use]
pub fn template(kernel: &KernelInfo, file: &str) -> String {
    let config = kernel.configs.as_ref().ok().and_then(|c| c.first());
    let mut text = format!("kernel = {}\nfile = {}\ngrid = [1]\n", quoted(&kernel.name), quoted(file));
    let constants = constants(kernel, config);
    if !constants.is_empty() {
        text.push_str("\n[constants]\n");
    }
    for (name, value) in constants {
        let _ = writeln!(text, "{} = {}", key(&name), quoted(&value));
    }
    for p in kernel.params.iter().filter(|p| p.kind != Kind::Constexpr) {
        let _ = write!(text, "\n[args.{}]\n{}", key(&p.name), argument(p));
    }
    text
}

/// The compile-time values that neither a default nor a heuristic gives, and the options of the configuration.
fn constants(kernel: &KernelInfo, config: Option<&ConfigInfo>) -> Vec<(String, String)> {
    let of_config = |name: &str| {
        let (_, value) = config?.kwargs.iter().find(|(n, _)| n == name)?;
        Some(value.to_string())
    };
    let value = |p: &KernelParam| match p.source {
        Some(Source::Config) => of_config(&p.name),
        Some(Source::Heuristic) | None => p.guess.clone(),
    };
    let compile_time = kernel.params.iter().filter(|p| p.kind == Kind::Constexpr);
    let mut all: Vec<(String, String)> = compile_time.filter_map(|p| Some((p.name.clone(), value(p)?))).collect();
    if let Some(c) = config {
        let numbers = COMPILE_OPTIONS.into_iter().zip([c.num_warps, c.num_stages, c.num_ctas]);
        all.extend(numbers.map(|(name, n)| (name.to_owned(), n.to_string())));
    }
    all
}

/// What stands below `[args.NAME]`.
fn argument(p: &KernelParam) -> String {
    let ty = p.ty.as_deref().or(p.guess.as_deref()).unwrap_or("i32");
    let is_float = |word: &str| word.starts_with("fp") || word.starts_with("bf");
    match p.kind {
        Kind::Constexpr => String::new(),
        Kind::Scalar => {
            let word = ty.split(':').next().unwrap_or(ty);
            let value = if is_float(word) { "1.0".to_owned() } else { NUMBER.to_string() };
            format!("value = {value}\ndtype = {}\n", quoted(word))
        }
        Kind::Pointer => {
            let word = ty.trim_start_matches(['*', 'k']).split(':').next().unwrap_or("fp32");
            buffer(p, word, &format!("{}", NUMBER * NUMBER), is_float(word))
        }
        Kind::Descriptor => {
            let inner = ty.trim_start_matches("tensordesc<").trim_end_matches(">");
            let (word, block) = inner.split_once('[').unwrap_or((inner, "64]"));
            let rank = block.split(',').count();
            let shape = vec![NUMBER.to_string(); rank].join(", ");
            format!("block = [{}]\n{}", block.trim_end_matches(']'), buffer(p, word, &shape, is_float(word)))
        }
    }
}

fn buffer(p: &KernelParam, word: &str, shape: &str, is_float: bool) -> String {
    // A pointer to a pointer has no fill that means anything.
    let word = if word.starts_with('*') { "i64" } else { word };
    let fill = match (p.stored, is_float) {
        (true, _) => "zeros",
        (false, true) => "normal",
        (false, false) if word == "i1" => "randint(0, 2)",
        (false, false) => "randint(0, 8)",
    };
    let out = if p.stored { "out = true\n" } else { "" };
    format!("shape = [{shape}]\ndtype = {}\nfill = {}\n{out}", quoted(word), quoted(fill))
}

/// A key of TOML, in quotes unless it is a bare one.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.chars().all(bare) { name.to_owned() } else { quoted(name) }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => _ = write!(out, "\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
