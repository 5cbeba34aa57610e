//! A kernel in TTIR as the program makes it: compiled to PTX and run in the emulator, in three schedules.

use std::path::Path;
use std::sync::Arc;

use ttc::diag::Diagnostic;
use ttc::driver::{Job, JobOptions, input};
use ttc::emu::{Landing, Options};
use ttc::emulate::{Prepared, compile, diagnostics};
use ttc::gpu::arguments;
use ttc::interp::{Arg, Memory};
use ttc::source::SourceMap;
use ttc::target::Target;

/// Checks what the kernel `k` of `text` leaves in memory: `differs` is given a function from a buffer's name to
/// its bytes, and says what is wrong with them. The text says in a comment what its parameters are, as every stage's
/// text does.
///
/// # Errors
/// What the compiler says, what the emulator finds, or which schedule gives another result.
pub(crate) fn check(
    text: &str,
    (target, options): (Target, JobOptions),
    grid: [u32; 3],
    (names, args, memory): (&[String], &[Arg], &Memory),
    differs: impl Fn(&dyn Fn(&str) -> Vec<u8>) -> Option<String>,
) -> Result<(), String> {
    let words = |d: Vec<Diagnostic>| format!("{} {} {:?}", d[0].code.id, d[0].message, d[0].notes);
    let mut sources = SourceMap::default();
    let input = input::add_text(&mut sources, Path::new("k.ttir"), text, None).map_err(|d| words(vec![d]))?;
    let job = Job { kernel: Some("k".into()), ..Job::new(input, target, Arc::new(options)) };
    let assembly = compile(&sources, &job).map_err(words)?;
    let host = arguments::of_memory(names, args, memory, &[]);
    let prepared = Prepared::new(&assembly, &host, grid).map_err(|d| words(vec![d]))?;
    for (seed, landing) in [(1, Landing::Late), (2, Landing::Early), (3, Landing::Random)] {
        let options = Options { seed, landing, ..Options::default() };
        let (outcome, memory) =
            prepared.run(&options).map_err(|fault| words(diagnostics::of_fault(&fault, &assembly.ptx)))?;
        if let Some(finding) = outcome.findings.first() {
            return Err(words(vec![diagnostics::of_finding(finding, &assembly.ptx)]));
        }
        let bytes = |name: &str| prepared.bytes(&memory, name).unwrap_or_default();
        if let Some(what) = differs(&bytes) {
            return Err(format!("another result in the emulator, {landing:?}: {what}"));
        }
    }
    Ok(())
}
