//! `tt.reduce`, `tt.scan` and `tt.map_elementwise`: operations with a region that combines elements.
//!
//! A region of elementwise code runs on many lanes at once: its scalar values then hold one lane per pair to combine. Any other region (one
//! with control flow) runs once per pair.
//!
//! 1. A reduction combines neighbours along the axis, (0,1) (2,3) …, until one is left: log n steps. The order of elements is kept, so the
//!    region needs to be associative only, and floats are summed pairwise, which is accurate.
//! 2. A scan combines each element with the one d before it, for d = 1, 2, 4, …: log n steps, likewise in order. A reverse scan works on the
//!    mirrored axis.
//!
//! Example: the scan of a b c d. d = 1: a ab bc cd; d = 2: a ab abc abcd.

use super::super::fault::Fault;
use super::super::program::{Flow, Program};
use super::super::value::Val;
use crate::ir::{Op, Region};

/// The operands' elements as (outer, axis, inner).
struct Columns {
    data: Vec<Vec<u64>>,
    outer: usize,
    len: usize,
    inner: usize,
}

impl Columns {
    fn of(p: &Program<'_>, op: Op) -> Columns {
        let shape = p.ir.ty(p.ir.operand(op, 0)).shape();
        let axis = p.ir.int_attr(op, "axis").unwrap_or(0) as usize;
        let product = |dims: &[i64]| dims.iter().product::<i64>() as usize;
        let n = product(shape);
        let data = p.ir.operands(op).iter().map(|&v| p.get(v).lanes.to_vec(n)).collect();
        Columns { data, outer: product(&shape[..axis]), len: shape[axis] as usize, inner: product(&shape[axis + 1..]) }
    }

    /// The elements at the given positions along the axis, for each operand.
    fn pick(&self, count: usize, position: impl Fn(usize) -> usize) -> Vec<Val> {
        let (len, inner) = (self.len, self.inner);
        let one = |v: &Vec<u64>| {
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
            Val::full(out)
        };
        self.data.iter().map(one).collect()
    }

    /// Mirrors the axis.
    fn mirror(&mut self) {
        let len = self.len;
        let mirrored = self.pick(len, |i| len - 1 - i);
        let n = self.outer * len * self.inner;
        self.data = mirrored.iter().map(|v| v.lanes.to_vec(n)).collect();
    }
}

/// Runs a region on pairs: `a` with `b`, lane by lane.
fn combine(p: &mut Program<'_>, region: Region, a: Vec<Val>, b: Vec<Val>, lanes: usize) -> Result<Vec<Vec<u64>>, Fault> {
    let args: Vec<Val> = a.into_iter().chain(b).collect();
    apply(p, region, args, lanes)
}

/// Runs a region on arguments of several lanes, all at once if it is plain.
fn apply(p: &mut Program<'_>, region: Region, args: Vec<Val>, lanes: usize) -> Result<Vec<Vec<u64>>, Fault> {
    if p.shared.plan.is_plain(region)
        && let Some(block) = p.ir.entry(region)
    {
        let values = match p.block(block, args)? {
            Flow::Leave(values) | Flow::Condition(_, values) | Flow::Branch(_, values) => values,
        };
        return Ok(values.iter().map(|v| v.lanes.to_vec(lanes)).collect());
    }
    let mut out: Vec<Vec<u64>> = vec![];
    for lane in 0..lanes {
        let one = args.iter().map(|v| Val::splat(v.lanes.get(lane))).collect();
        let values = p.region(region, one)?;
        out.resize_with(values.len(), || Vec::with_capacity(lanes));
        for (column, v) in out.iter_mut().zip(values) {
            column.push(v.scalar());
        }
    }
    Ok(out)
}

/// `tt.reduce`
pub(crate) fn reduce(p: &mut Program<'_>, op: Op) -> Result<(), Fault> {
    let region = p.ir.region(op, 0);
    let mut columns = Columns::of(p, op);
    while columns.len > 1 {
        let (half, odd, inner) = (columns.len / 2, columns.len % 2, columns.inner);
        let a = columns.pick(half, |i| 2 * i);
        let b = columns.pick(half, |i| 2 * i + 1);
        let mut data = combine(p, region, a, b, columns.outer * half * inner)?;
        if odd == 1 {
            // The last one has no partner and stays last.
            let rest = columns.pick(1, |_| 2 * half);
            for (v, r) in data.iter_mut().zip(rest) {
                let rows = (0..columns.outer).flat_map(|o| {
                    let tail = (0..inner).map(move |i| o * inner + i);
                    v[o * half * inner..(o + 1) * half * inner].iter().copied().chain(tail.map(|i| r.lanes.get(i)))
                });
                *v = rows.collect();
            }
        }
        columns = Columns { data, len: half + odd, ..columns };
    }
    let results = columns.data.into_iter().map(|v| if v.len() == 1 { Val::splat(v[0]) } else { Val::full(v) }).collect();
    p.set_results(op, results);
    Ok(())
}

/// `tt.scan`
pub(crate) fn scan(p: &mut Program<'_>, op: Op) -> Result<(), Fault> {
    let region = p.ir.region(op, 0);
    let reverse = p.ir.bool_attr(op, "reverse");
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
        for (v, c) in columns.data.iter_mut().zip(combined) {
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
    p.set_results(op, columns.data.into_iter().map(Val::full).collect());
    Ok(())
}

/// `tt.map_elementwise`: `pack` neighbouring elements of each operand are arguments together, and as many results of each come out.
pub(crate) fn map_elementwise(p: &mut Program<'_>, op: Op) -> Result<(), Fault> {
    let region = p.ir.region(op, 0);
    let pack = p.ir.int_attr(op, "pack").unwrap_or(1).max(1) as usize;
    let n = p.ir.ty(p.ir.operand(op, 0)).num_elements() as usize;
    if !n.is_multiple_of(pack) {
        return Err(p.unsupported(op, &format!("{n} elements do not divide into packs of {pack}")));
    }
    let packs = n / pack;
    let mut args = vec![];
    for &operand in p.ir.operands(op) {
        let v = p.get(operand);
        args.extend((0..pack).map(|e| v.rearrange(packs, |i| i * pack + e)));
    }
    let columns = apply(p, region, args, packs)?;
    let results = columns.chunks(pack).map(|c| Val::full((0..n).map(|i| c[i % pack][i / pack]).collect())).collect();
    p.set_results(op, results);
    Ok(())
}
