//! Where the buffers of a function lie, as the module says: read from its attributes, with sizes from the types, and
//! nothing else.

use crate::ir::dialects::discardable::SHARED;
use crate::ir::dialects::ttg::ttg::LocalAlloc;
use std::collections::BTreeMap;

use crate::analysis::allocation::buffer_bytes;
use crate::analysis::exchange::ExchangePlan;
use crate::analysis::scratch::scratch_bytes;
use crate::ir::core::{Ir, Op};
use crate::ir::dialects::{TtOp, TtngOp};
use crate::target::Target;

use super::places::{alignment, is_shared, offset};
use super::{Fault, Sort};

/// Vectors of 16 bytes are what scratch memory is read and written in.
const VECTOR: u64 = 16;
/// A tensor map (PTX ISA, "Tensor-map").
const TENSOR_MAP: u64 = 128;

/// A piece of shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Buffer {
    pub offset: u64,
    pub bytes: u64,
}

/// The memory of one function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Buffers {
    of: BTreeMap<Op, Buffer>,
    /// One past the highest byte, and what the function's start must be a multiple of.
    pub total: u64,
    alignment: u64,
}

impl Buffers {
    /// The buffer of a `ttg.local_alloc`, the scratch memory of another operation, or what a call leaves to its callee.
    pub(super) fn get(&self, op: Op) -> Option<Buffer> {
        self.of.get(&op).copied()
    }
}

/// The memory of each function, and what is wrong with it: a buffer without a place, not aligned, or not within
/// `ttg.shared`.
pub(super) fn of_module(ir: &Ir, target: &Target) -> (BTreeMap<Op, Buffers>, Vec<Fault>) {
    let (mut done, mut faults) = (BTreeMap::new(), vec![]);
    for func in ir.functions() {
        of_function(ir, func, target, &mut done, &mut faults, &mut vec![]);
    }
    let size = ir.get(ir.module(), SHARED).unwrap_or(0);
    for (&func, buffers) in &done {
        if buffers.total > size.unsigned_abs() {
            let text = format!(
                "the function's shared memory ends at byte {}, and the module has {size} (`{}`)",
                buffers.total,
                SHARED.name()
            );
            faults.push(Fault::of(func, Sort::Place, text));
        }
    }
    (done, faults)
}

/// Callees come first. A function that calls itself has what it has without that call.
fn of_function(
    ir: &Ir,
    func: Op,
    target: &Target,
    done: &mut BTreeMap<Op, Buffers>,
    faults: &mut Vec<Fault>,
    path: &mut Vec<Op>,
) {
    if done.contains_key(&func) || path.contains(&func) {
        return;
    }
    path.push(func);
    let mut buffers = Buffers { alignment: 1, ..Buffers::default() };
    for op in ir.all_ops(func).into_iter().filter(|&op| op != func) {
        if let Some(callee) = ir.callee(op) {
            of_function(ir, callee, target, done, faults, path);
        }
        match need(ir, op, target, done) {
            Ok((0, _)) => {}
            Ok((bytes, alignment)) => place(ir, op, bytes, alignment, &mut buffers, faults),
            Err(text) => faults.push(Fault::of(op, Sort::Place, text)),
        }
    }
    path.pop();
    done.insert(func, buffers);
}

fn place(ir: &Ir, op: Op, bytes: u64, alignment: u64, buffers: &mut Buffers, faults: &mut Vec<Fault>) {
    let name = ir.op_name(op);
    let Some(offset) = offset(ir, op) else {
        faults.push(Fault::of(
            op,
            Sort::Place,
            format!("`{name}` needs {bytes} bytes of shared memory and has no place"),
        ));
        return;
    };
    if offset % alignment != 0 {
        let text = format!("`{name}` lies at byte {offset} of shared memory, which is no multiple of {alignment}");
        faults.push(Fault::of(op, Sort::Place, text));
    }
    buffers.total = buffers.total.max(offset + bytes);
    buffers.alignment = buffers.alignment.max(alignment);
    buffers.of.insert(op, Buffer { offset, bytes });
}

/// Bytes and alignment that an operation needs.
fn need(ir: &Ir, op: Op, target: &Target, done: &BTreeMap<Op, Buffers>) -> Result<(u64, u64), String> {
    if let Some(alloc) = LocalAlloc::of(ir, op).filter(|alloc| is_shared(ir.ty(alloc.result(ir)))) {
        let bytes = buffer_bytes(ir.ty(alloc.result(ir))).map_err(|e| e.to_string())?;
        return Ok((u64::from(bytes), alignment(ir, alloc)));
    }
    if ir.is(op, TtOp::Call) {
        return Ok(ir.callee(op).and_then(|f| done.get(&f)).map_or((0, 1), |b| (b.total, b.alignment)));
    }
    let bytes = scratch_bytes(ir, op, ExchangePlan::of(ir, op, target).as_ref()).map_err(|e| e.to_string())?;
    Ok((u64::from(bytes), if ir.is(op, TtngOp::TensormapCreate) { TENSOR_MAP } else { VECTOR }))
}
