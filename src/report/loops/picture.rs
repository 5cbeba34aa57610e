//! Draws the schedule of a loop, and timelines.
//!
//! 1. A timeline has a lane for each loaded value, one for each product, and one for either kind of wait. Bars that
//!    overlap in a lane get rows of their own, which for loads are the slots of the rotating buffer that are being
//!    filled. The colour and the number of a bar are those of the iteration that it is for; waits are grey.
//! 2. A schedule has a column for each stage and a row for each cluster, in the order in which an iteration of the
//!    pipelined loop issues them. What loads, waits or multiplies has a bar; the rest is counted.

use std::collections::BTreeMap;

use super::timeline::{Bar, DOT, LATENCY, Lane, Timeline};
use super::{Kind, Scheduled};
use crate::draw::{Anchor, Ink, Picture, Style};

const SLOT: f64 = 12.0;
const ROW: f64 = 18.0;
const LEFT: f64 = 190.0;

/// Timelines with their titles below each other, to one scale. `stages` has the stage and the cluster of values.
pub(super) fn timelines(
    all: &[(&str, &Timeline)],
    stages: &BTreeMap<String, (i64, i64)>,
    link: &dyn Fn(&Bar) -> Option<usize>,
) -> Picture {
    let slots = all.iter().map(|(_, t)| t.end).max().unwrap_or(0);
    let mut out = Picture::new(LEFT + f64::from(slots) * SLOT + 20.0, 0.0, 11.0);
    let mut top = 8.0;
    for (title, timeline) in all {
        let title = format!("{title}: {} slots", timeline.end);
        top = panel(&mut out, top, &title, timeline, stages, link) + 14.0;
    }
    let note = format!(
        "A load arrives {LATENCY} slots after its start, a product takes {DOT}; numbers are iterations. Not measured: what is shown is order and overlap."
    );
    out.text(10.0, top + 6.0, Style::at(Anchor::Start), note);
    out.width = out.width.max(860.0);
    out.height = top + 18.0;
    out
}

/// Draws one timeline and gives the height where the next may start.
fn panel(
    out: &mut Picture,
    top: f64,
    title: &str,
    timeline: &Timeline,
    stages: &BTreeMap<String, (i64, i64)>,
    link: &dyn Fn(&Bar) -> Option<usize>,
) -> f64 {
    out.text(10.0, top + 14.0, Style::title(13.0), title);
    let mut lanes: BTreeMap<(Lane, &str), Vec<&Bar>> = BTreeMap::new();
    timeline.bars.iter().for_each(|b| lanes.entry((b.lane, b.name.as_str())).or_default().push(b));
    let first = top + 40.0;
    // The rows of each lane, each with the bars in it.
    let mut places: Vec<(String, f64, Vec<(&Bar, f64)>)> = vec![];
    let mut y = first;
    for ((lane, name), found) in &lanes {
        let text = match lane {
            Lane::Load => format!("load %{name}{}", place(stages, name)),
            Lane::Dot => format!("dot %{name}{}", place(stages, name)),
            Lane::WaitForLoads => "threads wait for loads".into(),
            Lane::WaitForDots => "threads wait for dots".into(),
        };
        let mut rows: Vec<u32> = vec![];
        let mut bars = vec![];
        for bar in found {
            let row = rows.iter().position(|&end| end <= bar.from).unwrap_or(rows.len());
            rows.resize(rows.len().max(row + 1), 0);
            rows[row] = bar.to;
            bars.push((*bar, y + row as f64 * ROW));
        }
        places.push((text, y, bars));
        y += rows.len() as f64 * ROW + 4.0;
    }
    grid(out, timeline, first, y);
    for (text, y, bars) in places {
        out.text(10.0, y + 13.0, Style::at(Anchor::Start), text);
        bars.into_iter().for_each(|(bar, y)| rectangle(out, bar, y, link(bar)));
    }
    y
}

fn place(stages: &BTreeMap<String, (i64, i64)>, name: &str) -> String {
    stages.get(name).map_or_else(String::new, |(stage, cluster)| format!(" (stage {stage}, cluster {cluster})"))
}

/// Lines where rounds of the loop begin, and their names; shading in front of the loop.
fn grid(out: &mut Picture, timeline: &Timeline, top: f64, bottom: f64) {
    let x = |slot: u32| LEFT + f64::from(slot) * SLOT;
    let middle = Style::at(Anchor::Middle);
    if let Some(&start) = timeline.rounds.first().filter(|&&s| s > 0) {
        let width = f64::from(start) * SLOT;
        out.rect(LEFT, top, width, bottom - top, Ink::Faint);
        out.text(LEFT + width / 2.0, top - 4.0, middle, "prologue");
    }
    for (i, &at) in timeline.rounds.iter().enumerate() {
        out.dashed((x(at), top), (x(at), bottom), Ink::Soft, (2, 3));
        if let Some(&next) = timeline.rounds.get(i + 1) {
            out.text(f64::midpoint(x(at), x(next)), top - 4.0, middle, i.to_string());
        }
    }
}

fn rectangle(out: &mut Picture, bar: &Bar, y: f64, link: Option<usize>) {
    let (x, width) = (LEFT + f64::from(bar.from) * SLOT, f64::from(bar.to - bar.from) * SLOT);
    let (fill, words) = match bar.lane {
        Lane::Load => (Ink::nth(bar.iteration, 60, 80), format!("load %{}", bar.name)),
        Lane::Dot => (Ink::nth(bar.iteration, 60, 66), format!("dot %{}", bar.name)),
        Lane::WaitForLoads => (Ink::Wait, "threads wait for a load".to_owned()),
        Lane::WaitForDots => (Ink::Wait, "threads wait for a dot".to_owned()),
    };
    let title = format!("{words} of iteration {}: slots {} to {}", bar.iteration, bar.from, bar.to);
    out.bar((x, y, width, ROW - 2.0), fill, &title, link);
    let style = Style::at(Anchor::Middle).ink(Ink::OnColour);
    out.text(x + width / 2.0, y + 12.0, style, bar.iteration.to_string());
}

const COLUMN: f64 = 220.0;
const BAR: f64 = 20.0;

/// The stages and clusters of a loop with what is in them.
pub(super) fn schedule(ops: &[Scheduled]) -> Picture {
    let stages = ops.iter().map(|o| o.stage).max().map_or(0, |s| s + 1);
    let mut clusters: BTreeMap<i64, BTreeMap<i64, Vec<&Scheduled>>> = BTreeMap::new();
    ops.iter().for_each(|o| clusters.entry(o.cluster).or_default().entry(o.stage).or_default().push(o));
    let left = 90.0;
    let mut out = Picture::new(left + stages as f64 * COLUMN + 10.0, 0.0, 11.0);
    let middle = Style::at(Anchor::Middle);
    for stage in 0..stages {
        let text = if stage == 0 { "stage 0".to_owned() } else { format!("stage {stage}, {stage} rounds later") };
        out.text(left + (stage as f64 + 0.5) * COLUMN, 16.0, middle, text.replace("1 rounds", "1 round"));
    }
    let mut y = 24.0;
    for (cluster, by_stage) in &clusters {
        out.line((10.0, y), (left + stages as f64 * COLUMN, y), Ink::Grid);
        out.text(10.0, y + 16.0, Style::at(Anchor::Start), format!("cluster {cluster}"));
        let mut height = BAR;
        for (stage, ops) in by_stage {
            height = height.max(cell(&mut out, left + *stage as f64 * COLUMN, y + 4.0, ops));
        }
        y += height + 8.0;
    }
    for stage in 0..=stages {
        let x = left + stage as f64 * COLUMN;
        out.line((x, 4.0), (x, y), Ink::Grid);
    }
    out.height = y + 8.0;
    out
}

/// Draws what one stage has in one cluster, and gives its height.
fn cell(out: &mut Picture, x: f64, y: f64, ops: &[&Scheduled]) -> f64 {
    let mut at = y;
    for op in ops.iter().filter(|o| o.kind != Kind::Other) {
        let fill = match op.kind {
            Kind::Copy => Ink::hue(210, 60, 80),
            Kind::Product => Ink::hue(140, 45, 70),
            Kind::Wait | Kind::Other => Ink::Wait,
        };
        out.bar((x + 4.0, at, COLUMN - 8.0, BAR - 3.0), fill, &op.op, op.place);
        let text: String = format!("{} {}", op.op, op.name).chars().take(36).collect();
        out.text(x + 9.0, at + 12.0, Style::at(Anchor::Start).ink(Ink::OnColour), text.trim_end());
        at += BAR;
    }
    let others = ops.iter().filter(|o| o.kind == Kind::Other).count();
    if others > 0 {
        out.text(x + 9.0, at + 12.0, Style::at(Anchor::Start).ink(Ink::Soft), format!("{others} other operations"));
        at += BAR;
    }
    at - y
}
