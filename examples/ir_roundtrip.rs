//! Reads IR files, verifies and prints them, and says which have faults and which come back byte for byte:
//! `ir_roundtrip [--show] FILE…`.
//!
//! With `--show`, the first differing line of each file that does not is printed. The exit code is 1 if a file failed.
#![allow(clippy::print_stdout)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use ttc::ir::text::{ParseOptions, PrintOptions, parse_module, print_module};
use ttc::source::SourceMap;

fn main() -> ExitCode {
    let (flags, files): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let show = flags.iter().any(|f| f == "--show");
    let (mut same, mut times, mut bytes) = (0, [Duration::ZERO; 3], 0);
    for path in &files {
        match round_trip(path, show, &mut times, &mut bytes) {
            Ok(()) => same += 1,
            Err(message) => println!("{path}: {message}"),
        }
    }
    println!(
        "{same} of {} files, {bytes} bytes: parse {:?}, verify {:?}, print {:?}",
        files.len(),
        times[0],
        times[1],
        times[2]
    );
    ExitCode::from(u8::from(same != files.len()))
}

fn round_trip(path: &str, show: bool, times: &mut [Duration; 3], bytes: &mut usize) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    *bytes += text.len();
    let mut map = SourceMap::default();
    let file = map.add(path, None, text.as_str());
    let start = Instant::now();
    let ir = parse_module(&map, file, &ParseOptions::default()).map_err(|e| {
        let place = e[0].place().map(|p| match p {
            ttc::diag::Place::Span(s) => map.line_col(*s),
            _ => ttc::source::LineCol { line: 0, col: 0 },
        });
        format!("{place:?} {}", e[0].message)
    })?;
    times[0] += start.elapsed();
    let start = Instant::now();
    let faults = ttc::ir::verify::verify(&ir);
    times[1] += start.elapsed();
    if let Some(f) = faults.first() {
        println!("{path}: {} faults: {}", faults.len(), f.message);
    }
    let start = Instant::now();
    let printed = print_module(&ir, &PrintOptions { locations: text.contains("loc("), generic: false });
    times[2] += start.elapsed();
    if printed == text {
        return Ok(());
    }
    let line = text.lines().zip(printed.lines()).enumerate().find(|(_, (a, b))| a != b);
    Err(match line {
        Some((i, (a, b))) if show => format!("line {}\n  was {a}\n  is  {b}", i + 1),
        Some((i, _)) => format!("differs at line {}", i + 1),
        None => format!("{} lines became {}", text.lines().count(), printed.lines().count()),
    })
}
