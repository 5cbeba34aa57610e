//! Which operations a load from shared memory may not move behind.
//!
//! | operation | why |
//! |---|---|
//! | writes the buffer, now or in flight, or may | the load would read something else |
//! | `ttg.local_dealloc` of the buffer | it is another one's afterwards |
//! | `ttng.arrive_barrier` and other arrivals | they tell that the buffer has been read |
//! | barriers that the text has, and those of clusters | they may stand for the same |
//! | calls, assembly with effects, what is unknown | anything |
//!
//! Waits are none. What is waited for was written to other buffers, or to other parts of this one, since nobody reads
//! what is still being written. Barriers for later writes are put in behind this pass, by where the load is then.

use crate::analysis::shared_alias::{SharedAlias, is_shared};
use crate::ir::core::{Ir, Op, Value};
use crate::ir::dialects::memory::{Class, Order};
use crate::ir::dialects::{OpKind, TtOp, TtgOp};
use crate::ir::effects::effects;

/// What an operation, with all inside, means to loads that stand before it.
pub(super) enum Fence {
    /// Any load may move behind it.
    None,
    /// Loads of what these descriptors are part of stay before it.
    Of(Vec<Value>),
    /// All loads stay before it.
    All,
}

impl Fence {
    /// Looks at an operation.
    pub(super) fn of(ir: &Ir, op: Op) -> Fence {
        let mut written = vec![];
        for inner in ir.all_ops(op) {
            if stops_all(ir, inner) {
                return Fence::All;
            }
            written.extend(writes(ir, inner));
        }
        if written.is_empty() { Fence::None } else { Fence::Of(written) }
    }

    /// Whether the load of this descriptor has to stay before it.
    pub(super) fn stops(&self, alias: &SharedAlias, descriptor: Value) -> bool {
        let meets = |other: Value| {
            let mut buffers = alias.of(descriptor).peekable();
            let unknown = buffers.peek().is_none() || alias.of(other).next().is_none();
            unknown || buffers.any(|buffer| alias.of(other).any(|b| b == buffer))
        };
        match self {
            Fence::None => false,
            Fence::Of(written) => written.iter().any(|&other| meets(other)),
            Fence::All => true,
        }
    }
}

/// Whether all loads stay before an operation.
fn stops_all(ir: &Ir, op: Op) -> bool {
    if effects(ir, op).is_free() {
        return false;
    }
    let spec = ir.spec(op);
    let orders = match spec.order {
        Order::Nothing | Order::EntersIf(_) | Order::Completes(..) => false,
        Order::Barrier
        | Order::BarrierIf(_)
        | Order::ClusterBarrierIf(_)
        | Order::LeavesIf(_)
        | Order::ReleasesMbarriers => true,
    };
    let touches =
        spec.operands.iter().enumerate().filter_map(|(group, operand)| Some((group, operand.memory.touch()?)));
    let arrives = touches.into_iter().any(|(group, touch)| {
        touch.class == Class::MbarrierUse && touch.write && !ir.operand_group(op, group).is_empty()
    });
    let known = matches!(
        ir.kind(op),
        OpKind::Tt(_) | OpKind::Ttg(_) | OpKind::Ttng(_) | OpKind::Scf(_) | OpKind::Arith(_) | OpKind::Math(_)
    );
    let foreign = ir.is(op, TtOp::Call)
        || ir.is(op, TtOp::ElementwiseInlineAsm)
        || ir.is(op, TtOp::ExternElementwise)
        || ir.is(op, TtgOp::WarpSpecialize);
    orders || arrives || foreign || !known
}

/// The descriptors of shared memory that an operation writes, or whose buffers it ends.
fn writes(ir: &Ir, op: Op) -> Vec<Value> {
    let spec = ir.spec(op);
    let mut written = vec![];
    for (group, operand) in spec.operands.iter().enumerate() {
        let ends = ir.is(op, TtgOp::LocalDealloc);
        if ends || operand.memory.touch().is_some_and(|touch| touch.write) {
            written.extend_from_slice(ir.operand_group(op, group));
        }
    }
    for (result, &value) in spec.results.iter().zip(ir.results(op)) {
        written.extend(result.memory.touch().filter(|touch| touch.write).map(|_| value));
    }
    written.retain(|&value| is_shared(ir.ty(value)));
    written
}
