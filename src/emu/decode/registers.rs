//! Which registers a step reads and writes.

use std::collections::BTreeSet;

use super::copy_op::{Async, Phase, Place};
use super::op::{Address, Op, Target};
use super::program::{Function, Reg};
use super::tensor_op::{Left, Tensor, Wgmma};

/// Marks the steps that touch registers of asynchronous products.
pub(super) fn mark(function: &mut Function) {
    let mut used = BTreeSet::new();
    for step in &function.code {
        if let Some(w) = step.op.product() {
            used.extend(w.d.iter().copied());
            if let Left::Registers(a) = &w.a {
                used.extend(a.iter().copied());
            }
        }
    }
    if used.is_empty() {
        return;
    }
    for step in &mut function.code {
        let mut touches = false;
        step.op.registers(&mut |r, _| touches |= used.contains(&r));
        step.touches_products = touches && step.op.product().is_none();
    }
}

impl Op {
    /// The asynchronous product, if the step is one.
    pub(crate) fn product(&self) -> Option<&Wgmma> {
        match self {
            Op::Tensor(t) => match &**t {
                Tensor::Wgmma(w) => Some(w),
                _ => None,
            },
            _ => None,
        }
    }

    /// Calls `f` for each register of the step, and says whether it is written.
    pub(crate) fn registers(&self, f: &mut dyn FnMut(Reg, bool)) {
        let mut all = |reads: &[Reg], writes: &[Reg]| {
            reads.iter().for_each(|r| f(*r, false));
            writes.iter().for_each(|r| f(*r, true));
        };
        match self {
            Op::Unary { d, a, .. } | Op::Move { d, a } | Op::Cvta { d, a, .. } | Op::GetRank { d, a, .. } => {
                all(&[*a], &[*d]);
            }
            Op::Binary { d, a, b, .. } | Op::Select { d, a, b, .. } => all(&[*a, *b], &[*d]),
            Op::Ternary { d, a, b, c, .. } => all(&[*a, *b, *c], &[*d]),
            Op::Quaternary { d, a, .. } => all(a, &[*d]),
            Op::Carry { d, a, .. } => all(a, &[*d]),
            Op::Compare { a, b, .. } | Op::ComparePair { a, b, .. } => all(&[*a, *b], &[]),
            Op::Pack { d, from, .. } => all(from, &[*d]),
            Op::Unpack { to, a, .. } => all(&[*a], to),
            Op::Special { d, .. } | Op::ActiveMask { d } => all(&[], &[*d]),
            Op::Load(l) => all(&[l.address.base], &l.to),
            Op::Store(s) => {
                all(&s.from, &[]);
                all(&[s.address.base], &[]);
            }
            Op::Atomic(a) => {
                all(&a.from, &a.to);
                all(&[a.address.base], &[]);
                a.swap.iter().for_each(|s| all(&[*s], &[]));
            }
            Op::IsSpace { a, .. } => all(&[*a], &[]),
            Op::Mapa { d, a, rank, .. } => all(&[*a, *rank], &[*d]),
            Op::BranchTable { index, .. } => all(&[*index], &[]),
            Op::Shuffle { d, a, b, c, members, .. } => all(&[*a, *b, *c, *members], &[*d]),
            Op::Vote { d, members, .. } => {
                all(&[*members], &[]);
                target(d, &mut all);
            }
            Op::Match { d, a, members, .. } | Op::Redux { d, a, members, .. } => all(&[*a, *members], &[*d]),
            Op::Elect { d, members, .. } => all(&[*members], &[*d]),
            Op::FenceTensorMap { map } => map.iter().for_each(|m| all(&[m.base], &[])),
            Op::WarpBarrier { members } => all(&[*members], &[]),
            Op::Barrier(b) => {
                all(&[b.id], &[]);
                b.threads.iter().for_each(|t| all(&[*t], &[]));
                b.reduce.iter().for_each(|(_, _, d)| target(d, &mut all));
            }
            Op::Async(op) => asynchronous(op, &mut all),
            Op::Tensor(op) => tensor(op, &mut all),
            Op::PredLogic { .. }
            | Op::Branch { .. }
            | Op::Call(_)
            | Op::Return
            | Op::Exit
            | Op::Trap
            | Op::Nop
            | Op::Fence { .. }
            | Op::FenceAsync
            | Op::GridWait
            | Op::ClusterArrive { .. }
            | Op::ClusterWait { .. } => {}
        }
    }
}

type All<'a> = dyn FnMut(&[Reg], &[Reg]) + 'a;

fn target(to: &Target, all: &mut All) {
    if let Target::Reg(r) = to {
        all(&[], &[*r]);
    }
}

fn asynchronous(op: &Async, all: &mut All) {
    let base = |a: &Address| a.base;
    let at = |p: &Place| p.address.base;
    match op {
        Async::Copy { to, from, source_bytes, .. } => {
            all(&[base(to), base(from)], &[]);
            source_bytes.iter().for_each(|r| all(&[*r], &[]));
        }
        Async::Init { at: place, count: r } | Async::Expect { at: place, bytes: r } => all(&[at(place), *r], &[]),
        Async::Complete { at: place, bytes: r } => all(&[at(place), *r], &[]),
        Async::Replace { at: place, value, .. } => all(&[at(place), *value], &[]),
        Async::Invalidate { at: place } | Async::CopyArrive { at: place, .. } => all(&[at(place)], &[]),
        Async::Arrive(a) => {
            all(&[at(&a.at)], &[]);
            a.count.iter().chain(&a.expect).for_each(|r| all(&[*r], &[]));
            a.state.iter().for_each(|r| all(&[], &[*r]));
        }
        Async::Test { at: place, phase, .. } => {
            let (Phase::State(r) | Phase::Parity(r)) = phase;
            all(&[at(place), *r], &[]);
        }
        Async::PendingCount { d, state } => all(&[*state], &[*d]),
        Async::Bulk(b) => {
            all(&[at(&b.to), at(&b.from), b.bytes], &[]);
            b.barrier.iter().for_each(|p| all(&[at(p)], &[]));
            b.blocks.iter().for_each(|r| all(&[*r], &[]));
        }
        Async::BulkTensor(b) => {
            all(&b.coordinates, &[]);
            all(&[b.map, at(&b.shared)], &[]);
            b.barrier.iter().for_each(|p| all(&[at(p)], &[]));
            b.blocks.iter().for_each(|r| all(&[*r], &[]));
        }
        Async::CopyMap { to, from } => all(&[base(to), base(from)], &[]),
        Async::Commit | Async::Wait { .. } | Async::BulkCommit | Async::BulkWait { .. } => {}
    }
}

fn tensor(op: &Tensor, all: &mut All) {
    match op {
        Tensor::LoadMatrix { to, from, .. } => all(&[from.base], to),
        Tensor::StoreMatrix { from, to, .. } => {
            all(from, &[]);
            all(&[to.base], &[]);
        }
        Tensor::Mma(m) => {
            all(&m.a, &[]);
            all(&m.b, &[]);
            all(&m.c, &m.d);
        }
        Tensor::Wgmma(w) => {
            match &w.a {
                Left::Registers(a) => all(a, &[]),
                Left::Descriptor(a) => all(&[*a], &[]),
            }
            all(&[w.b], &[]);
            all(&w.d, &w.d);
        }
        Tensor::WgmmaFence | Tensor::WgmmaCommit | Tensor::WgmmaWait { .. } | Tensor::MaxRegisters { .. } => {}
    }
}
