//! How many registers of a thread the tensors take that are alive at a time, before anything is known of instructions.
//!
//! It is an estimate from the text. Addresses and predicates count nothing: codegen makes them anew from few numbers.
//! Nor does what is cheap to make again: constants, ranges, copies of a scalar. A converted number counts what it was
//! converted from if that is narrower, since it can be converted late. Registers that hold copies count once.

use super::live_range::{Interval, Times};
use crate::ir::dialects::ArithOp;
use crate::ir::{Ir, Op, OpKind, TtOp, Type, Value};
use crate::layout::{Dim, LinearLayout, free_variable_masks, layout_of};

/// The registers that tensors of a function take.
#[derive(Debug)]
pub struct RegisterUse {
    times: Times,
    /// Lives of tensors with the bits that they take of a thread, by when they start.
    lives: Vec<(Interval, u64)>,
}

impl RegisterUse {
    /// Reads a function.
    #[must_use]
    pub fn new(ir: &Ir, func: Op) -> RegisterUse {
        let times = Times::new(ir, func);
        let mut lives = vec![];
        for op in ir.all_ops(func) {
            let blocks = ir.regions_of(op).iter().flat_map(|&region| ir.blocks_of(region));
            let arguments = blocks.flat_map(|&block| ir.args(block));
            for &value in ir.results(op).iter().chain(arguments) {
                let bits = bits(ir, value);
                if bits > 0 {
                    lives.push((times.live(ir, value), bits));
                }
            }
        }
        RegisterUse { times, lives }
    }

    /// The 32-bit registers of what is made before an operation and used behind it.
    #[must_use]
    pub fn across(&self, op: Op) -> u64 {
        let at = self.times.of(op);
        let across = self.lives.iter().filter(|(live, _)| live.start < at.start && live.end > at.end);
        across.map(|(_, bits)| bits).sum::<u64>().div_ceil(32)
    }
}

/// The bits of a thread's registers that a value needs.
fn bits(ir: &Ir, value: Value) -> u64 {
    let made_by = ir.def_op(value);
    let is_cheap = |kind| {
        matches!(
            kind,
            OpKind::Arith(ArithOp::Constant)
                | OpKind::Tt(TtOp::Splat | TtOp::MakeRange | TtOp::Broadcast | TtOp::ExpandDims)
        )
    };
    match made_by.map(|op| (op, ir.kind(op))) {
        Some((_, kind)) if is_cheap(kind) => 0,
        Some((
            op,
            OpKind::Arith(ArithOp::Extf | ArithOp::Extsi | ArithOp::Extui | ArithOp::Sitofp | ArithOp::Uitofp),
        )) => {
            let from = ir.operands(op).first().map_or(0, |&source| held(ir.ty(source)));
            from.min(held(ir.ty(value)))
        }
        _ => held(ir.ty(value)),
    }
}

/// The bits of a thread's registers that values of a type take; none for what is no tensor of numbers.
fn held(ty: Type) -> u64 {
    if !ty.is_tensor() || ty.elem().is_ptr() {
        return 0;
    }
    let bits = ty.bit_width().filter(|&bits| bits > 1);
    let registers = layout_of(ty).map(different_registers);
    bits.zip(registers.ok()).map_or(0, |(bits, registers)| u64::from(bits) * registers)
}

/// The registers of a thread that hold different elements.
fn different_registers(layout: &LinearLayout) -> u64 {
    u64::from(layout.in_size(Dim::Register)) >> free_variable_masks(layout).register.count_ones()
}
