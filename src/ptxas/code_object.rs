//! AMD's code objects, made and read by LLVM's tools. The back end asks for the first two where it cannot do it itself.
//!
//! 1. `llvm-mc` assembles the text to an object file.
//! 2. `ld.lld -shared` makes a shared library of it, which is what the loader takes.
//! 3. `llvm-objdump` lists the instructions.

use std::time::Duration;

use super::run::{Run, Word};
use super::{Tool, failure, find};
use crate::diag::Diagnostic;
use crate::target::Target;

/// LLVM's triple of the assembly.
const TRIPLE: &str = "amdgcn-amd-amdhsa";

/// Runs a tool of LLVM on one input. What it makes comes over its output, since `ld.lld` replaces the file that it
/// writes.
fn run(
    tool: Tool,
    words: Vec<Word>,
    input: &[u8],
    made_for: &str,
    limit: Option<Duration>,
) -> Result<Vec<u8>, Diagnostic> {
    let run = Run::new(tool, find(tool, None)?, words, &[input])?;
    let ended = run.execute(limit.into())?;
    if !ended.status.success() || ended.stopped || ended.stdout.is_empty() {
        return Err(failure::of_llvm(&run, &ended, made_for, input, limit));
    }
    Ok(ended.stdout)
}

/// Makes an object file of assembly.
///
/// # Errors
/// `E0801`, `E0802`, `E0804`, `E0806`, `E0815`, and `E0818` with what the tool says.
pub fn assemble(assembly: &str, target: &Target, limit: Option<Duration>) -> Result<Vec<u8>, Diagnostic> {
    let cpu = format!("-mcpu={}", target.name);
    let words = vec![
        format!("-triple={TRIPLE}").into(),
        cpu.into(),
        "-filetype=obj".into(),
        "-o".into(),
        "-".into(),
        Word::Input(String::new(), 0),
    ];
    run(Tool::LlvmMc, words, assembly.as_bytes(), target.name, limit)
}

/// Makes a code object of an object file.
///
/// # Errors
/// As [`assemble`].
pub fn link(object: &[u8], made_for: &str, limit: Option<Duration>) -> Result<Vec<u8>, Diagnostic> {
    let words = vec!["-shared".into(), "-o".into(), "-".into(), Word::Input(String::new(), 0)];
    run(Tool::Lld, words, object, made_for, limit)
}

/// The instructions of a code object as text; `lines` adds the source lines.
///
/// # Errors
/// As [`assemble`].
pub fn disassemble(code_object: &[u8], lines: bool, limit: Option<Duration>) -> Result<String, Diagnostic> {
    let mut words: Vec<Word> = vec!["--disassemble".into(), "--no-show-raw-insn".into()];
    if lines {
        words.push("--line-numbers".into());
    }
    words.push(Word::Input(String::new(), 0));
    let text = run(Tool::Objdump, words, code_object, "a code object", limit)?;
    Ok(without_file(&String::from_utf8_lossy(&text)))
}

/// The listing without the name of the file that was read, which is one of this process alone: equal code gives equal
/// listings.
fn without_file(text: &str) -> String {
    match text.split_once(":\tfile format ") {
        Some((name, rest)) if !name.trim_start().contains('\n') => format!("\ncode object:\tfile format {rest}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_listing_does_not_name_its_file() {
        let listing = "\n/proc/self/fd/4:\tfile format elf64-amdgpu\n\nDisassembly of section .text:\n";
        let expected = "\ncode object:\tfile format elf64-amdgpu\n\nDisassembly of section .text:\n";
        assert_eq!(super::without_file(listing), expected);
        assert_eq!(super::without_file("other\ntext:\tfile format x"), "other\ntext:\tfile format x");
    }
}
