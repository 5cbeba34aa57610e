//! The pipelined loops of a kernel: which operation is in which stage, and what overlaps.
//!
//! 1. The schedule is what `schedule-loops` left in the module: `loop.stage` and `loop.cluster` of each operation
//!    ([`scheduled`]). The pass behind it makes a loop of it and drops the attributes.
//! 2. What the loop became is run on a simple machine ([`timeline`]), which shows what waits for what.
//! 3. [`picture`] draws both.
//!
//! Example: the loads of a matmul are in stage 0 and its product in stage 2, so the product works on what was loaded
//! two rounds earlier.

mod picture;
mod timeline;

use std::collections::BTreeMap;

use serde::Serialize;

use super::data::Table;
use super::links;
use crate::draw::Picture;
use crate::ir::core::{Attr, Ir, Loc, Op};
use crate::ir::dialects::{AmdgOp, OpKind, ScfOp, TtOp, TtgOp, TtngOp};
use crate::ir::text::{ParseOptions, parse_module};
use crate::passes::manager::{self, Pipeline};
use crate::source::SourceMap;

/// A loop.
#[derive(Serialize, Debug)]
pub struct Loop {
    /// The number of its place.
    pub place: Option<usize>,
    /// The stages that it was given; 0 where nobody knows.
    pub stages: i64,
    /// The operations with a stage, in the order of the text.
    pub ops: Vec<Scheduled>,
    pub schedule: Option<Picture>,
    pub timeline: Option<Picture>,
    /// How many bars the timeline has: loads, products, waits.
    pub bars: (usize, usize, usize),
    /// What is to be known of the timeline, or why there is none.
    pub note: Option<String>,
}

/// What an operation of a schedule does.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It brings data from global memory.
    Copy,
    Wait,
    Product,
    Other,
}

/// An operation with its stage.
#[derive(Serialize, Debug)]
pub struct Scheduled {
    pub op: String,
    pub name: String,
    pub kind: Kind,
    pub stage: i64,
    pub cluster: i64,
    /// The number of its place.
    pub place: Option<usize>,
}

fn kind(ir: &Ir, op: Op) -> Kind {
    match ir.kind(op) {
        OpKind::Tt(TtOp::Load | TtOp::DescriptorLoad | TtOp::DescriptorGather)
        | OpKind::Ttg(TtgOp::AsyncCopyGlobalToLocal)
        | OpKind::Amdg(AmdgOp::BufferLoad)
        | OpKind::Ttng(TtngOp::AsyncTmaCopyGlobalToLocal) => Kind::Copy,
        OpKind::Tt(TtOp::Dot | TtOp::DotScaled) | OpKind::Ttng(TtngOp::WarpGroupDot) => Kind::Product,
        OpKind::Ttg(TtgOp::AsyncWait) | OpKind::Ttng(TtngOp::WaitBarrier | TtngOp::WarpGroupDotWait) => Kind::Wait,
        _ => Kind::Other,
    }
}

/// What an operation loads, computes or writes into, as the source names it.
fn name_of(ir: &Ir, op: Op) -> String {
    ir.loc(op).value_name().map_or_else(String::new, |n| n.to_string())
}

/// The stage and the cluster of an operation.
fn stage_of(ir: &Ir, op: Op) -> Option<(i64, i64)> {
    let number = |name| ir.stored_attr(op, name).and_then(Attr::as_int);
    Some((number("loop.stage")?, number("loop.cluster")?))
}

/// The stage and cluster of each named value of the loop.
fn stages(ir: &Ir, looped: Op) -> BTreeMap<String, (i64, i64)> {
    let named = |op| Some((name_of(ir, op), stage_of(ir, op)?));
    // A name stands for what is loaded or multiplied, if several operations have it.
    let (first, last): (Vec<Op>, Vec<Op>) = ir.all_ops(looped).into_iter().partition(|&o| kind(ir, o) == Kind::Other);
    first.into_iter().chain(last).filter_map(named).filter(|(name, _)| !name.is_empty()).collect()
}

/// The loops of a kernel. `scheduled` is the module behind `schedule-loops`, if it is there, and `made` the module that
/// code generation reads.
pub(super) fn of(scheduled: Option<&Ir>, made: &Ir, table: &mut Table) -> Vec<Loop> {
    let places = |ir: &Ir, op: Op, table: &mut Table| place(ir.loc(op), table);
    let with_stages = |ir: &Ir| -> Vec<Op> {
        let has = |&op: &Op| ir.is(op, ScfOp::For) && body(ir, op).iter().any(|&o| stage_of(ir, o).is_some());
        ir.all_ops(ir.module()).into_iter().filter(has).collect()
    };
    let mut found = vec![];
    let mut taken: Vec<Op> = vec![];
    let final_loops: Vec<Op> = ir_loops(made);
    for looped in scheduled.map(with_stages).unwrap_or_default() {
        let Some(ir) = scheduled else { break };
        let at = ir.loc(looped).file_line_col();
        let same = |op: &&Op| made.loc(**op).file_line_col() == at && !taken.contains(op) && copies(made, **op);
        let became = final_loops.iter().find(same).copied();
        taken.extend(became);
        let ops: Vec<Scheduled> = body(ir, looped)
            .into_iter()
            .filter_map(|op| {
                let (stage, cluster) = stage_of(ir, op)?;
                let (name, kind, place) = (name_of(ir, op), kind(ir, op), places(ir, op, table));
                Some(Scheduled { op: ir.op_name(op).to_string(), name, kind, stage, cluster, place })
            })
            .collect();
        let stages_of = stages(ir, looped);
        let mut one = Loop {
            place: places(ir, looped, table),
            stages: ops.iter().map(|o| o.stage).max().map_or(0, |s| s + 1),
            schedule: Some(picture::schedule(&ops)),
            ops,
            timeline: None,
            bars: (0, 0, 0),
            note: Some("the loop is not there any more: it was unrolled, or became part of another".into()),
        };
        if let Some(became) = became {
            one.run(made, became, &stages_of, table);
        }
        found.push(one);
    }
    // Loops whose schedule nobody kept.
    for looped in final_loops.into_iter().filter(|op| scheduled.is_none() && copies(made, *op)) {
        let place = places(made, looped, table);
        let (ops, schedule, timeline, note) = (vec![], None, None, None);
        let mut one = Loop { place, stages: 0, ops, schedule, timeline, bars: (0, 0, 0), note };
        one.run(made, looped, &BTreeMap::new(), table);
        found.push(one);
    }
    found
}

impl Loop {
    fn run(&mut self, ir: &Ir, looped: Op, stages: &BTreeMap<String, (i64, i64)>, table: &mut Table) {
        let made = match timeline::of_loop(ir, looped) {
            Ok(made) => made,
            Err(why) => {
                self.note = Some(why);
                return;
            }
        };
        let at: BTreeMap<Op, Option<usize>> = made.bars.iter().map(|b| (b.op, place(ir.loc(b.op), table))).collect();
        let count = |lanes: &[timeline::Lane]| made.bars.iter().filter(|b| lanes.contains(&b.lane)).count();
        use timeline::Lane::{Dot, Load, WaitForDots, WaitForLoads};
        self.bars = (count(&[Load]), count(&[Dot]), count(&[WaitForLoads, WaitForDots]));
        self.note = Some(made.note.clone()).filter(|n| !n.is_empty());
        let link = |bar: &timeline::Bar| at.get(&bar.op).copied().flatten();
        self.timeline = Some(picture::timelines(&[("The loop that was made", &made)], stages, &link));
    }
}

/// The operations of a loop that belong to no loop inside it.
fn body(ir: &Ir, looped: Op) -> Vec<Op> {
    let inner = |op: Op| {
        std::iter::successors(ir.parent_op(op), |&o| ir.parent_op(o)).find(|&o| ir.is(o, ScfOp::For)) == Some(looped)
    };
    ir.all_ops(looped).into_iter().filter(|&op| op != looped && inner(op)).collect()
}

fn ir_loops(ir: &Ir) -> Vec<Op> {
    ir.all_ops(ir.module()).into_iter().filter(|&op| ir.is(op, ScfOp::For)).collect()
}

/// Whether a loop brings data from global memory or multiplies.
fn copies(ir: &Ir, looped: Op) -> bool {
    body(ir, looped).into_iter().any(|op| matches!(kind(ir, op), Kind::Copy | Kind::Product))
}

/// The number of the place of a location.
pub(super) fn place(loc: Loc, table: &mut Table) -> Option<usize> {
    let chain = links::chain_of(loc);
    chain.iter().find_map(|p| table.place(p))
}

/// A scheduled loop with constant bounds before and after `tritongpu-pipeline`, as one picture: docs/pipeline-loop.svg.
///
/// # Errors
/// Why the text is no module with a scheduled loop, or the loop cannot be drawn.
pub fn before_and_after(name: &str, text: &str) -> Result<Picture, String> {
    let mut map = SourceMap::default();
    let file = map.add(name, None, text);
    let mut ir = parse_module(&map, file, &ParseOptions::default()).map_err(|errors| errors[0].message.clone())?;
    let first = |ir: &Ir| ir_loops(ir).first().copied().ok_or_else(|| "no `scf.for` in the module".to_owned());
    let stages = stages(&ir, first(&ir)?);
    if stages.is_empty() {
        return Err("no operation has a `loop.stage`: run `ttc opt --tritongpu-schedule-loops` first".into());
    }
    let before = timeline::of_loop(&ir, first(&ir)?)?;
    let pipeline = Pipeline::parse("tritongpu-pipeline", crate::passes::registry::named).map_err(|e| e.message)?;
    let report = manager::run(&mut ir, &pipeline, crate::layout::verify, &mut []);
    if !report.is_ok() {
        return Err(report.diagnostics.first().map_or_else(|| "the pass failed".into(), |d| d.message.clone()));
    }
    let after = timeline::of_loop(&ir, first(&ir)?)?;
    if !before.note.is_empty() {
        return Err("the loop's bounds must be constants".into());
    }
    let all = [("The loop as written", &before), ("After tritongpu-pipeline", &after)];
    Ok(picture::timelines(&all, &stages, &|_| None))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loops of docs/pipeline-loop.ttgir, with a change of its text, and what its pipeliner makes of them.
    fn loops(change: impl Fn(String) -> String) -> Vec<Loop> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/pipeline-loop.ttgir");
        let mut map = SourceMap::default();
        let file = map.add("loop", None, change(std::fs::read_to_string(path).unwrap()));
        let scheduled = parse_module(&map, file, &ParseOptions::default()).unwrap();
        let mut made = parse_module(&map, file, &ParseOptions::default()).unwrap();
        let pipeline = Pipeline::parse("tritongpu-pipeline", crate::passes::registry::named).unwrap();
        assert!(manager::run(&mut made, &pipeline, crate::layout::verify, &mut []).is_ok());
        of(Some(&scheduled), &made, &mut Table::default())
    }

    #[test]
    fn a_scheduled_loop_has_its_operations_and_what_it_became() {
        let found = loops(|text| text);
        assert_eq!(found.len(), 1);
        let of = |kind| -> Vec<(&str, i64)> {
            found[0].ops.iter().filter(|o| o.kind == kind).map(|o| (o.name.as_str(), o.stage)).collect()
        };
        assert_eq!((of(Kind::Copy), of(Kind::Product)), (vec![("a", 0), ("b", 0)], vec![("dot", 2)]));
        assert_eq!((found[0].stages, found[0].note.as_deref()), (3, None));
        // Six iterations: two loads and a product each.
        assert_eq!((found[0].bars.0, found[0].bars.1), (12, 6));
        assert!(found[0].schedule.is_some() && found[0].timeline.is_some());
    }

    #[test]
    fn a_loop_whose_bounds_are_not_known_is_drawn_for_six_rounds() {
        let change = |text: String| text.replace("(%x: ", "(%m: i32, %x: ").replace("%c0 to %c6", "%c0 to %m");
        let found = loops(change);
        assert_eq!((found[0].bars.0, found[0].bars.1), (12, 6));
        assert!(found[0].note.as_deref().unwrap().contains("6 rounds"), "{:?}", found[0].note);
    }

    #[test]
    fn a_long_loop_is_drawn_from_its_end() {
        let found = loops(|text| text.replace("arith.constant 6 : i32", "arith.constant 64 : i32"));
        assert!(found[0].note.as_deref().unwrap().contains("runs 64 times"), "{:?}", found[0].note);
        // Six rounds; the copies of the prologue are two iterations before them.
        assert_eq!(found[0].bars.1, 6);
    }
}
