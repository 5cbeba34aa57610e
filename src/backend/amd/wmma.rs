//! `wmma` of RDNA: one instruction of a wave of 32 lanes that multiplies 16×16 by 16×16
//! ([`crate::target::MatrixInstr`]).
//!
//! RDNA3 wants both halves of the wave to hold the same operands, of which a lane has a whole row; rows of the result
//! alternate between the halves. In RDNA4 the halves share K, and a half has eight rows of the result one behind the
//! other. The operands are vectors of f16, of i16 for bf16, or of i32 for what has 8 bits.

use inkwell::types::BasicTypeEnum;

use super::dot::{Instruction, Operands, matrix_elem, vector};
use crate::codegen::lower::{Lower, Res, Val};
use crate::ir::Op;
use crate::ir::core::encoding::AmdWmma;
use crate::ir::dialects::tt::tt as view;
use crate::target::{MatrixElem, MatrixInstr, MatrixUnit};

/// Lanes of a wave, and those side by side along an axis of the result.
const LANES: u32 = 32;
const SIDE: u32 = 16;

/// The instruction of a `tt.dot` with this result.
pub(super) fn of_dot<'c>(cx: &Lower<'c, '_>, op: Op, e: &AmdWmma) -> Res<Instruction<'c>> {
    let dot = view::Dot(op);
    let types = [dot.a(cx.ir), dot.b(cx.ir), dot.c(cx.ir)].map(|v| cx.ir.ty(v));
    let mut elems = [types[0], types[1]].map(matrix_elem);
    if e.is_transposed {
        elems.reverse();
    }
    let wide = types[2].elem().bit_width() == Some(32);
    let found = match elems {
        [Some(first), Some(second)] => {
            let all = MatrixUnit::Wmma(e.version).instructions((SIDE, SIDE), (first, second));
            all.into_iter().find(|i| i.k == e.instr_shape[2]).map(|i| (i, first))
        }
        _ => None,
    };
    let Some((instr, elem)) = found.filter(|_| wide) else {
        let text = format!(
            "no `wmma` of version {} and {:?} multiplies `{}` by `{}` into `{}`",
            e.version,
            e.instr_shape,
            types[0].elem(),
            types[1].elem(),
            types[2].elem()
        );
        return Err(cx.unsupported(op, &text));
    };
    Ok(Instruction {
        instr,
        is_transposed: e.is_transposed,
        side: SIDE,
        pieces: 1,
        held: [instr.held as usize; 2],
        result: (SIDE * SIDE / LANES) as usize,
        lanes_along_k: e.version > 1,
        forms: [form(cx, instr, elem)?; 2],
        write: Box::new(write),
    })
}

/// What an element is in LLVM, and what the instruction takes.
fn form<'c>(cx: &Lower<'c, '_>, instr: &MatrixInstr, elem: MatrixElem) -> Res<(BasicTypeEnum<'c>, BasicTypeEnum<'c>)> {
    let one: BasicTypeEnum<'c> = match elem {
        MatrixElem::F16 => cx.llvm.f16_type().into(),
        MatrixElem::Bf16 => cx.llvm.i16_type().into(),
        _ => return Ok((cx.llvm.i8_type().into(), vector(cx.llvm.i32_type().into(), instr.held / 4)?)),
    };
    Ok((one, vector(one, instr.held)?))
}

/// Integers are told to have signs, and not to be clamped.
fn write<'c>(cx: &mut Lower<'c, '_>, i: &Instruction<'c>, operands: &Operands<'c>) -> Res<Val<'c>> {
    let [first, second] = operands.values;
    let sum: Val<'c> = operands.sum.into();
    let bit = |on: bool| -> Val<'c> { cx.llvm.bool_type().const_int(u64::from(on), false).into() };
    let args = if i.instr.last_word() == "iu8" {
        vec![bit(true), first, bit(true), second, sum, bit(false)]
    } else {
        vec![first, second, sum]
    };
    let overloads = [sum.get_type(), first.get_type()];
    cx.intrinsic(&format!("llvm.amdgcn.{}", i.instr.name), &overloads, &args)
}
