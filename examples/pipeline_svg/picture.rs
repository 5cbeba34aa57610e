//! A scheduled loop before and after `tritongpu-pipeline`, as one SVG.
//!
//! 1. Read the module, draw its timeline ([`timeline`]); run the pass on it, draw what it made, to the same scale.
//! 2. A lane for each loaded value, one for each product, and one for either kind of wait. Bars that overlap in a lane
//!    get rows of their own, which for loads are the slots of the rotating buffer that are being filled.
//! 3. The colour and the number of a bar are those of the iteration that it is for; waits are grey.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ttc::ir::core::{Attr, Ir};
use ttc::ir::text::{ParseOptions, parse_module};
use ttc::passes::manager::{self, Pipeline};
use ttc::source::SourceMap;

use super::timeline::{self, Bar, DOT, LATENCY, Lane, Timeline};

const SLOT: u32 = 12;
const ROW: u32 = 18;
const LEFT: u32 = 190;

/// The picture of the first loop of a module with `loop.stage` and `loop.cluster` attributes.
pub(crate) fn draw(name: &str, text: &str) -> Result<String, String> {
    let mut map = SourceMap::default();
    let file = map.add(name, None, text);
    let mut ir = parse_module(&map, file, &ParseOptions::default()).map_err(|errors| errors[0].message.clone())?;
    let stages = stages(&ir);
    if stages.is_empty() {
        return Err("no operation has a `loop.stage`: run `ttc opt --tritongpu-schedule-loops` first".into());
    }
    let before = timeline::of_module(&ir)?;
    let pipeline = Pipeline::parse("tritongpu-pipeline", ttc::passes::registry::named).map_err(|e| e.message)?;
    let report = manager::run(&mut ir, &pipeline, ttc::layout::verify, &mut []);
    if !report.is_ok() {
        return Err(report.diagnostics.first().map_or_else(|| "the pass failed".into(), |d| d.message.clone()));
    }
    let after = timeline::of_module(&ir)?;
    Ok(page(&before, &after, &stages))
}

/// The stage and cluster of each named value of the loop.
fn stages(ir: &Ir) -> BTreeMap<String, (i64, i64)> {
    let number = |op, name| ir.stored_attr(op, name).and_then(Attr::as_int);
    let ops = ir.all_ops(ir.module()).into_iter();
    ops.filter_map(|op| {
        Some((ir.loc(op).value_name()?.to_string(), (number(op, "loop.stage")?, number(op, "loop.cluster")?)))
    })
    .collect()
}

fn page(before: &Timeline, after: &Timeline, stages: &BTreeMap<String, (i64, i64)>) -> String {
    let slots = before.end.max(after.end);
    let width = LEFT + slots * SLOT + 20;
    let mut body = String::new();
    let mut top = 8;
    for (title, timeline) in [("The loop as written", before), ("After tritongpu-pipeline", after)] {
        let title = format!("{title}: {} slots", timeline.end);
        top = panel(&mut body, top, &title, timeline, stages) + 14;
    }
    let note = format!(
        "A load arrives {LATENCY} slots after its start, a product takes {DOT}; numbers are iterations. Not measured: what is shown is order and overlap."
    );
    label(&mut body, 10, top + 6, "start", &note);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{}\" font-family=\"sans-serif\" font-size=\"11\">\n",
        top + 18
    );
    out.push_str("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    out.push_str(&body);
    out.push_str("</svg>\n");
    out
}

/// Draws one timeline and gives the height where the next may start.
fn panel(out: &mut String, top: u32, title: &str, timeline: &Timeline, stages: &BTreeMap<String, (i64, i64)>) -> u32 {
    let _ = writeln!(out, "<text x=\"10\" y=\"{}\" font-size=\"13\" font-weight=\"bold\">{title}</text>", top + 14);
    let mut lanes: BTreeMap<(Lane, &str), Vec<&Bar>> = BTreeMap::new();
    timeline.bars.iter().for_each(|b| lanes.entry((b.lane, b.name.as_str())).or_default().push(b));
    let first = top + 40;
    let mut y = first;
    let mut bars = String::new();
    for ((lane, name), found) in &lanes {
        let text = match lane {
            Lane::Load => format!("load %{name}{}", place(stages, name)),
            Lane::Dot => format!("dot %{name}{}", place(stages, name)),
            Lane::WaitForLoads => "threads wait for loads".into(),
            Lane::WaitForDots => "threads wait for dots".into(),
        };
        label(&mut bars, 10, y + 13, "start", &text);
        let mut rows: Vec<u32> = vec![];
        for bar in found {
            let row = rows.iter().position(|&end| end <= bar.from).unwrap_or(rows.len());
            rows.resize(rows.len().max(row + 1), 0);
            rows[row] = bar.to;
            rectangle(&mut bars, bar, y + row as u32 * ROW);
        }
        y += rows.len() as u32 * ROW + 4;
    }
    grid(out, timeline, first, y);
    out.push_str(&bars);
    y
}

fn place(stages: &BTreeMap<String, (i64, i64)>, name: &str) -> String {
    stages.get(name).map_or_else(String::new, |(stage, cluster)| format!(" (stage {stage}, cluster {cluster})"))
}

/// Lines where rounds of the loop begin, and their names; shading in front of the loop.
fn grid(out: &mut String, timeline: &Timeline, top: u32, bottom: u32) {
    let x = |slot: u32| LEFT + slot * SLOT;
    if let Some(&start) = timeline.rounds.first().filter(|&&s| s > 0) {
        let (width, height) = (start * SLOT, bottom - top);
        let _ =
            writeln!(out, "<rect x=\"{LEFT}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"#f3f0e6\"/>");
        label(out, LEFT + width / 2, top - 4, "middle", "prologue");
    }
    for (i, &at) in timeline.rounds.iter().enumerate() {
        let _ = writeln!(
            out,
            "<line x1=\"{0}\" y1=\"{top}\" x2=\"{0}\" y2=\"{bottom}\" stroke=\"#999\" stroke-dasharray=\"2 3\"/>",
            x(at)
        );
        if let Some(&next) = timeline.rounds.get(i + 1) {
            label(out, x(at).midpoint(x(next)), top - 4, "middle", &i.to_string());
        }
    }
}

fn rectangle(out: &mut String, bar: &Bar, y: u32) {
    let (x, width) = (LEFT + bar.from * SLOT, (bar.to - bar.from) * SLOT);
    let fill = match bar.lane {
        // 137 degrees apart, neighbouring iterations differ most.
        Lane::Load => format!("hsl({},60%,80%)", bar.iteration * 137 % 360),
        Lane::Dot => format!("hsl({},60%,66%)", bar.iteration * 137 % 360),
        Lane::WaitForLoads | Lane::WaitForDots => "#cfcfcf".into(),
    };
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" fill=\"{fill}\" stroke=\"#555\"/>",
        ROW - 2
    );
    label(out, x + width / 2, y + 12, "middle", &bar.iteration.to_string());
}

fn label(out: &mut String, x: u32, y: u32, anchor: &str, text: &str) {
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>");
}
