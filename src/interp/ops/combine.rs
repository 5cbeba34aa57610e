//! `tt.reduce`, `tt.scan` and `tt.map_elementwise`: operations with a region that combines elements.
//!
//! A region of elementwise code runs on many lanes at once: its scalar values then hold one lane per pair to combine.
//! Any other region (one with control flow) runs once per pair.
//!
//! 1. A reduction combines neighbours along the axis, (0,1) (2,3) …, until one is left. That takes log n steps. The
//!    order of elements is kept, so the region only needs to be associative, and floats are summed pairwise, which is
//!    accurate.
//! 2. A scan combines each element with the one d before it, for d = 1, 2, 4, …. That takes log n steps and keeps the
//!    order as well. A reverse scan works on the mirrored axis.
//!
//! Example: the scan of a b c d gives a ab bc cd for d = 1, and a ab abc abcd for d = 2.

use crate::ir::dialects::tt::tt as view;
use std::sync::Arc;

use super::super::fault::Fault;
use super::super::program::{Flow, Program};
use super::super::undef::{Undef, concat};
use super::super::value::{Lanes, Val};
use crate::ir::{Op, Region};

/// The operands' elements as (outer, axis, inner).
struct Columns {
    data: Vec<Column>,
    outer: usize,
    len: usize,
    inner: usize,
}

/// The elements of one operand, and which of them are undefined.
struct Column {
    lanes: Vec<u64>,
    undef: Option<Arc<Undef>>,
}

impl Column {
    fn of(v: &Val, n: usize) -> Column {
        Column { lanes: v.lanes.to_vec(n), undef: v.undef.clone() }
    }

    fn into_val(self) -> Val {
        let lanes = if let [one] = self.lanes[..] { Lanes::Splat(one) } else { self.lanes.into() };
        Val::from(lanes).with_undef(self.undef)
    }
}

/// Notes, after a combination, who has mixed undefined elements with others.
fn mixed(p: &Program<'_>, undef: Option<Arc<Undef>>, op: Op) -> Option<Arc<Undef>> {
    undef.map(|u| if u.mixed.is_some() { u } else { Arc::new(Undef { mixed: Some(p.written(op)), ..(*u).clone() }) })
}

impl Columns {
    fn of(p: &Program<'_>, op: Op) -> Columns {
        // Reductions and scans have their operands and write their axis in the same way.
        let shape = view::Reduce(op).srcs(p.ir).first().map_or(&[][..], |&v| p.ir.ty(v).shape());
        let axis = view::Reduce(op).axis(p.ir).unwrap_or(0) as usize;
        let product = |dims: &[i64]| dims.iter().product::<i64>() as usize;
        let n = product(shape);
        let data = p.ir.operands(op).iter().map(|&v| Column::of(&p.get(v), n)).collect();
        Columns { data, outer: product(&shape[..axis]), len: shape[axis] as usize, inner: product(&shape[axis + 1..]) }
    }

    /// The elements at the given positions along the axis, for each operand.
    fn pick(&self, count: usize, position: impl Fn(usize) -> usize) -> Vec<Val> {
        let (len, inner) = (self.len, self.inner);
        let one = |column: &Column| {
            let v = &column.lanes;
            let mut out = Vec::with_capacity(self.outer * count * inner);
            for o in 0..self.outer {
                for i in 0..count {
                    let start = (o * len + position(i)) * inner;
                    if inner == 1 {
                        out.push(v[start]);
                    } else {
                        out.extend_from_slice(&v[start..start + inner]);
                    }
                }
            }
            let source = |i: usize| (i / (count * inner) * len + position(i / inner % count)) * inner + i % inner;
            let undef = column.undef.as_ref().and_then(|u| u.rearrange(self.outer * count * inner, source));
            Val::full(out).with_undef(undef)
        };
        self.data.iter().map(one).collect()
    }

    /// Mirrors the axis.
    fn mirror(&mut self) {
        let len = self.len;
        let mirrored = self.pick(len, |i| len - 1 - i);
        let n = self.outer * len * self.inner;
        self.data = mirrored.iter().map(|v| Column::of(v, n)).collect();
    }
}

/// Runs a region on pairs, `a` with `b`, lane by lane.
fn combine(p: &mut Program<'_>, region: Region, a: Vec<Val>, b: Vec<Val>, lanes: usize) -> Result<Vec<Column>, Fault> {
    let args: Vec<Val> = a.into_iter().chain(b).collect();
    apply(p, region, args, lanes)
}

/// Runs a region on arguments of several lanes. A plain region takes all of them at once.
fn apply(p: &mut Program<'_>, region: Region, args: Vec<Val>, lanes: usize) -> Result<Vec<Column>, Fault> {
    if p.shared.facts.is_plain(region)
        && let Some(block) = p.ir.entry(region)
    {
        let values = match p.block(block, args)? {
            Flow::Leave(values) | Flow::Condition(_, values) | Flow::Branch(_, values) => values,
        };
        return Ok(values.iter().map(|v| Column::of(v, lanes)).collect());
    }
    let mut out: Vec<Vec<Val>> = vec![];
    for lane in 0..lanes {
        let one = args.iter().map(|v| v.rearrange(1, |_| lane).into_splat()).collect();
        let values = p.region(region, one)?;
        out.resize_with(values.len(), || Vec::with_capacity(lanes));
        for (column, v) in out.iter_mut().zip(values) {
            column.push(v);
        }
    }
    let whole = |values: Vec<Val>| {
        let parts: Vec<&Val> = values.iter().collect();
        Column { lanes: values.iter().map(Val::scalar).collect(), undef: concat(&parts, parts.len(), |i| (i, 0)) }
    };
    Ok(out.into_iter().map(whole).collect())
}

/// Runs `tt.reduce`.
pub(crate) fn reduce(p: &mut Program<'_>, op: Op) -> Result<(), Fault> {
    let region = p.ir.region(op, 0);
    let mut columns = Columns::of(p, op);
    while columns.len > 1 {
        let (half, odd, inner) = (columns.len / 2, columns.len % 2, columns.inner);
        let a = columns.pick(half, |i| 2 * i);
        let b = columns.pick(half, |i| 2 * i + 1);
        let mut data = combine(p, region, a, b, columns.outer * half * inner)?;
        if odd == 1 {
            // The last element has no partner and stays last.
            let rest = columns.pick(1, |_| 2 * half);
            for (column, r) in data.iter_mut().zip(rest) {
                let (v, each) = (&column.lanes, (half + 1) * inner);
                let before = Val::splat(0).with_undef(column.undef.take());
                column.undef = concat(&[&before, &r], columns.outer * each, |i| {
                    let (o, at) = (i / each, i % each);
                    if at < half * inner { (0, o * half * inner + at) } else { (1, o * inner + at - half * inner) }
                });
                let rows = (0..columns.outer).flat_map(|o| {
                    let tail = (0..inner).map(move |i| o * inner + i);
                    v[o * half * inner..(o + 1) * half * inner].iter().copied().chain(tail.map(|i| r.lanes.get(i)))
                });
                column.lanes = rows.collect();
            }
        }
        columns = Columns { data, len: half + odd, ..columns };
    }
    let results =
        columns.data.into_iter().map(|c| Column { undef: mixed(p, c.undef, op), lanes: c.lanes }.into_val()).collect();
    p.set_results(op, results);
    Ok(())
}

/// Runs `tt.scan`.
pub(crate) fn scan(p: &mut Program<'_>, op: Op) -> Result<(), Fault> {
    let region = p.ir.region(op, 0);
    let reverse = view::Scan(op).reverse(p.ir);
    let mut columns = Columns::of(p, op);
    if reverse {
        columns.mirror();
    }
    let (len, inner) = (columns.len, columns.inner);
    let mut distance = 1;
    while distance < len {
        let count = len - distance;
        let a = columns.pick(count, |i| i);
        let b = columns.pick(count, |i| i + distance);
        let combined = combine(p, region, a, b, columns.outer * count * inner)?;
        let (outer, row) = (columns.outer, len * inner);
        for (column, combined) in columns.data.iter_mut().zip(combined) {
            let (v, c) = (&mut column.lanes, combined.lanes);
            let parts = [column.undef.take(), combined.undef].map(|u| Val::splat(0).with_undef(u));
            column.undef = concat(&[&parts[0], &parts[1]], outer * row, |i| {
                let (o, at) = (i / row, i % row);
                if at < distance * inner { (0, i) } else { (1, o * count * inner + at - distance * inner) }
            });
            for o in 0..columns.outer {
                let to = (o * len + distance) * inner;
                v[to..to + count * inner].copy_from_slice(&c[o * count * inner..(o + 1) * count * inner]);
            }
        }
        distance *= 2;
    }
    if reverse {
        columns.mirror();
    }
    let results = columns.data.into_iter().map(|c| Val::full(c.lanes).with_undef(mixed(p, c.undef, op))).collect();
    p.set_results(op, results);
    Ok(())
}

/// Runs `tt.map_elementwise`: `pack` neighbouring elements of each operand are arguments together, and as many results
/// of each come out.
pub(crate) fn map_elementwise(p: &mut Program<'_>, op: Op) -> Result<(), Fault> {
    let region = p.ir.region(op, 0);
    let map = view::MapElementwise(op);
    let pack = map.pack(p.ir).unwrap_or(1).max(1) as usize;
    let n = map.srcs(p.ir).first().map_or(0, |&v| p.ir.ty(v).num_elements()) as usize;
    if !n.is_multiple_of(pack) {
        return Err(p.unsupported(op, &format!("{n} elements do not divide into packs of {pack}")));
    }
    let packs = n / pack;
    let mut args = vec![];
    for &operand in map.srcs(p.ir) {
        let v = p.get(operand);
        args.extend((0..pack).map(|e| v.rearrange(packs, |i| i * pack + e)));
    }
    let columns = apply(p, region, args, packs)?;
    let whole = |c: &[Column]| {
        let parts: Vec<Val> = c.iter().map(|c| Val::splat(0).with_undef(c.undef.clone())).collect();
        let undef = concat(&parts.iter().collect::<Vec<_>>(), n, |i| (i % pack, i / pack));
        Val::full((0..n).map(|i| c[i % pack].lanes[i / pack]).collect()).with_undef(undef)
    };
    let results = columns.chunks(pack).map(whole).collect();
    p.set_results(op, results);
    Ok(())
}
