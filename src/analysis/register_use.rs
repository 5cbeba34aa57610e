//! How many registers of a thread the tensors take that are alive at a time, before anything is known of instructions.
//!
//! It is an estimate from the text. Addresses and predicates count nothing: codegen makes them anew from few numbers.
//! Nor does what is cheap to make again: constants, ranges, copies of a scalar. A converted number counts what it was
//! converted from if that is narrower, since it can be converted late. Registers that hold copies count once.

use super::live_range::Times;
use crate::ir::dialects::ArithOp;
use crate::ir::{Ir, Op, OpKind, TtOp, Type, Value};
use crate::layout::{Dim, LinearLayout, free_variable_masks, layout_of};

/// The registers that tensors of a function take.
#[derive(Debug)]
pub struct RegisterUse {
    times: Times,
    /// When tensors are made, each time with the bits of a thread that these and those before them take.
    born: Vec<(u32, u64)>,
    /// The same of their last uses.
    gone: Vec<(u32, u64)>,
}

impl RegisterUse {
    /// Reads a function.
    #[must_use]
    pub fn new(ir: &Ir, func: Op) -> RegisterUse {
        let times = Times::new(ir, func);
        let (mut born, mut gone) = (vec![], vec![]);
        for op in ir.all_ops(func) {
            let blocks = ir.regions_of(op).iter().flat_map(|&region| ir.blocks_of(region));
            let arguments = blocks.flat_map(|&block| ir.args(block));
            for &value in ir.results(op).iter().chain(arguments) {
                let bits = bits(ir, value);
                if bits > 0 {
                    let live = times.live(ir, value);
                    born.push((live.start, bits));
                    gone.push((live.end, bits));
                }
            }
        }
        RegisterUse { times, born: added_up(born), gone: added_up(gone) }
    }

    /// The 32-bit registers of what is made before an operation and used behind it. No region of the operation has
    /// tensors.
    #[must_use]
    pub fn across(&self, op: Op) -> u64 {
        let at = self.times.of(op);
        let until = |sums: &[(u32, u64)], time: u32| {
            let count = sums.partition_point(|&(other, _)| other <= time);
            count.checked_sub(1).map_or(0, |last| sums[last].1)
        };
        until(&self.born, at.start).saturating_sub(until(&self.gone, at.end)).div_ceil(32)
    }
}

/// The numbers in the order of their times, each with those before it.
fn added_up(mut numbers: Vec<(u32, u64)>) -> Vec<(u32, u64)> {
    numbers.sort_unstable_by_key(|&(time, _)| time);
    let mut sum = 0;
    for (_, number) in &mut numbers {
        sum += *number;
        *number = sum;
    }
    numbers
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

/// The 32-bit registers of a thread that a tensor of numbers takes.
#[must_use]
pub fn of_type(ty: Type) -> u32 {
    u32::try_from(held(ty).div_ceil(32)).unwrap_or(u32::MAX)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::parser::{ParseOptions, parse_module};
    use crate::source::SourceMap;

    /// Four warps hold a tile of 64x128 numbers in 64 registers of 32 bits. What a loop carries and what is used behind
    /// the reduction counts, the converted tile by its 16 bits; the addresses, the splat and the operand do not.
    #[test]
    fn tensors_count_that_are_needed_behind_the_operation() {
        let text = r#"#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: tensor<64x128x!tt.ptr<f16>, #b>, %x: f32, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x128xf32, #b>
    %s = tt.splat %x : f32 -> tensor<64x128xf32, #b>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<64x128xf32, #b>)  : i32 {
      %h = tt.load %p : tensor<64x128x!tt.ptr<f16>, #b>
      %f = arith.extf %h : tensor<64x128xf16, #b> to tensor<64x128xf32, #b>
      %square = arith.mulf %f, %f : tensor<64x128xf32, #b>
      %row = "tt.reduce"(%square) <{axis = 1 : i32}> ({
      ^bb0(%u: f32, %v: f32):
        %w = arith.addf %u, %v : f32
        tt.reduce.return %w : f32
      }) : (tensor<64x128xf32, #b>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #b}>>
      %wide = tt.expand_dims %row {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<64x1xf32, #b>
      %all = tt.broadcast %wide : tensor<64x1xf32, #b> -> tensor<64x128xf32, #b>
      %g = arith.mulf %f, %all : tensor<64x128xf32, #b>
      %t = arith.addf %g, %s : tensor<64x128xf32, #b>
      %next = arith.addf %a, %t : tensor<64x128xf32, #b>
      scf.yield %next : tensor<64x128xf32, #b>
    }
    tt.return
  }
}
"#;
        let mut sources = SourceMap::default();
        let file = sources.add("k.ttgir", None, text);
        let ir = parse_module(&sources, file, &ParseOptions::default()).unwrap();
        let func = ir.function("k").unwrap();
        let reduce = ir.all_ops(func).into_iter().find(|&op| ir.is(op, TtOp::Reduce)).unwrap();
        assert_eq!(RegisterUse::new(&ir, func).across(reduce), 64 + 32);
    }
}
