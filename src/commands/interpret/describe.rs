//! The text of `ttc interpret` for standard output: what was printed and traced, and a line for each result.

use std::fmt::Write as _;

use ttc::cases::manual::Bound;
use ttc::interp::{self, Memory};

use super::prepare::{Bindings, Launch};
use crate::args::Interpret;

/// The text for a run.
pub(super) fn describe(i: &Interpret, launch: &Launch, done: &interp::Report) -> String {
    let mut text = launch.text.clone();
    for p in &done.printed {
        let _ = writeln!(text, "{}", p.text);
    }
    left_out(&mut text, done.printed_more, "lines");
    for t in &done.traced {
        let name = t.name.as_ref().map_or_else(String::new, |n| format!("{n} = "));
        let _ = writeln!(text, "{}:{} {name}{} : {}\n  {}", t.line, t.col, t.op, t.ty, t.text);
    }
    left_out(&mut text, done.traced_more, "traced values");
    if let (Some(line), true) = (&i.trace, done.traced.is_empty()) {
        let [x, y, z] = i.program;
        let _ = writeln!(text, "nothing was computed at line {line} in program ({x}, {y}, {z})");
    }
    let _ = writeln!(text, "{}: {} programs, {} operations", launch.kernel, done.programs, done.ops);
    text.push_str(&results(&launch.on));
    text
}

/// A line for each result.
pub(in crate::commands) fn results(on: &Bindings) -> String {
    let shown = on.buffers.iter().filter(|b| on.results.contains(&b.name));
    shown.map(|b| format!("{}\n", summary(b, &on.memory))).collect()
}

fn left_out(text: &mut String, more: u64, what: &str) {
    if more > 0 {
        let _ = writeln!(text, "… {more} more {what} left out; `--max-lines` shows them");
    }
}

/// The line for a buffer: `y: f32[4, 8], least -1.5, mean 0.25, greatest 3`.
fn summary(b: &Bound, memory: &Memory) -> String {
    let sizes: Vec<String> = b.shape.iter().map(ToString::to_string).collect();
    let mut text = format!("{}: {}[{}]", b.name, b.elem, sizes.join(", "));
    if !memory.is_written(b.id) {
        text.push_str(", not written everywhere");
    }
    let (mut nan, mut count, mut sum, mut least, mut greatest) = (0u64, 0u64, 0.0, f64::INFINITY, f64::NEG_INFINITY);
    for v in memory.each_value(b.id) {
        if v.is_nan() {
            nan += 1;
            continue;
        }
        count += 1;
        sum += v;
        (least, greatest) = (least.min(v), greatest.max(v));
    }
    if nan > 0 {
        let _ = write!(text, ", {nan} NaN");
    }
    if count > 0 {
        let _ = write!(text, ", least {least}, mean {:.6}, greatest {greatest}", sum / count as f64);
    }
    text
}
