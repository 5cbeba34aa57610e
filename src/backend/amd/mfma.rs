//! `mfma` of CDNA: one instruction of a wave of 64 lanes ([`crate::target::MatrixInstr`]).
//!
//! | elements | operand |
//! |---|---|
//! | f64, f32 | one |
//! | f32 read as xf32 | vector of 2 f32 |
//! | f16 | vector of f16 |
//! | bf16 | vector of i16; of bf16 for the instructions that CDNA4 added |
//! | 8 bits | the bytes as i32, i64, or vector of i32 |
//!
//! The scaled instructions of CDNA4 are told the format of either operand (`cbsz`, `blgp`), and take a byte of scale
//! for the 32 elements of a lane. Of floats of 4 bits these are 16 bytes, side by side along K; of floats of 8 bits
//! they are 16 bytes in the first half of the instruction's K and 16 in the second ("CDNA4 ISA", "Dense Matrix
//! Layouts"). Both scales constant 0 makes LLVM choose the instruction without scales (LLVM, "User Guide for AMDGPU
//! Backend").

use inkwell::types::BasicTypeEnum;

use super::dot::{Instruction, Operands, Write, matrix_elem, vector};
use crate::codegen::lower::{Lower, Res, Val};
use crate::ir::Op;
use crate::ir::core::encoding::AmdMfma;
use crate::ir::dialects::enums::{InputPrecision, ScaledElem};
use crate::ir::dialects::tt::tt as view;
use crate::target::{MatrixElem, MatrixInstr, MatrixUnit};

/// Elements along K that share a scale.
pub(super) const GROUP: u32 = 32;
/// Lanes of a wave.
const LANES: u32 = 64;

/// The instruction of a `tt.dot` with this result.
pub(super) fn of_dot<'c>(cx: &Lower<'c, '_>, op: Op, e: &AmdMfma) -> Res<Instruction<'c>> {
    let dot = view::Dot(op);
    let types = [dot.a(cx.ir), dot.b(cx.ir)].map(|v| cx.ir.ty(v));
    let mut elems = types.map(matrix_elem);
    let reduced = e.version == 3 && dot.inputPrecision(cx.ir) == Some(InputPrecision::Tf32);
    if reduced && elems == [Some(MatrixElem::F32); 2] {
        elems = [Some(MatrixElem::Xf32); 2];
    }
    if e.is_transposed {
        elems.reverse();
    }
    let k = types[0].shape().last().copied().unwrap_or(0);
    let (m, n) = (e.instr_shape[0], e.instr_shape[1]);
    let found = match elems {
        [Some(first), Some(second)] => {
            let all = MatrixUnit::Mfma(e.version).instructions((m, n), (first, second));
            all.into_iter().find(|i| i.k == e.instr_shape[2]).map(|i| (i, [first, second]))
        }
        _ => None,
    };
    let Some((instr, elems)) = found.filter(|(i, _)| k % i64::from(i.k) == 0) else {
        let text = format!(
            "no `mfma` of version {} and {:?} multiplies `{}` by `{}` with K = {k}",
            e.version,
            e.instr_shape,
            types[0].elem(),
            types[1].elem()
        );
        return Err(cx.unsupported(op, &text));
    };
    let form = form(cx, instr, elems[0])?;
    Ok(instruction(instr, e, [instr.held as usize; 2], [form; 2], Box::new(write)))
}

/// The instruction of a `tt.dot_scaled` with this result.
pub(super) fn of_scaled<'c>(cx: &Lower<'c, '_>, op: Op, e: &AmdMfma) -> Res<Instruction<'c>> {
    let dot = view::DotScaled(op);
    let mut formats = [dot.a_elem_type(cx.ir), dot.b_elem_type(cx.ir)];
    if e.is_transposed {
        formats.reverse();
    }
    let all = MatrixUnit::Mfma(e.version)
        .instructions((e.instr_shape[0], e.instr_shape[1]), (MatrixElem::F8f6f4, MatrixElem::F8f6f4));
    let codes = formats.map(|f| f.and_then(code));
    let (Some(&instr), [Some(first), Some(second)]) = (all.first(), codes) else {
        return Err(cx.unsupported(op, "no `mfma` multiplies these formats"));
    };
    // Two floats of 4 bits are a byte.
    let held = formats.map(|f| if f == Some(ScaledElem::E2m1) { instr.held / 2 } else { instr.held });
    let mut forms: [(BasicTypeEnum<'c>, BasicTypeEnum<'c>); 2] =
        [(cx.llvm.i8_type().into(), cx.llvm.i8_type().into()); 2];
    for (form, held) in forms.iter_mut().zip(held) {
        form.1 = vector(cx.llvm.i32_type().into(), held / 4)?;
    }
    let write: Write<'c> = Box::new(move |cx, i, operands| write_scaled(cx, i, operands, [first, second]));
    Ok(instruction(instr, e, held.map(|n| n as usize), forms, write))
}

fn instruction<'c>(
    instr: &'static MatrixInstr,
    e: &AmdMfma,
    held: [usize; 2],
    forms: [(BasicTypeEnum<'c>, BasicTypeEnum<'c>); 2],
    write: Write<'c>,
) -> Instruction<'c> {
    let small = instr.m != instr.n;
    Instruction {
        instr,
        is_transposed: e.is_transposed,
        side: if small { LANES } else { instr.n },
        pieces: if small { LANES / 4 } else { 1 },
        held,
        result: (instr.m * instr.n / LANES) as usize,
        lanes_along_k: true,
        forms,
        write,
    }
}

/// What an element is in LLVM, and what the instruction takes.
fn form<'c>(cx: &Lower<'c, '_>, instr: &MatrixInstr, elem: MatrixElem) -> Res<(BasicTypeEnum<'c>, BasicTypeEnum<'c>)> {
    let llvm = cx.llvm;
    let of = |elem: BasicTypeEnum<'c>| Ok((elem, vector(elem, instr.held)?));
    match elem {
        MatrixElem::F64 => of(llvm.f64_type().into()),
        MatrixElem::F32 | MatrixElem::Xf32 => of(llvm.f32_type().into()),
        MatrixElem::F16 => of(llvm.f16_type().into()),
        MatrixElem::Bf16 if instr.last_word() == "bf16" => of(llvm.bf16_type().into()),
        MatrixElem::Bf16 => of(llvm.i16_type().into()),
        _ => {
            let whole = match instr.held {
                8 => llvm.i64_type().into(),
                held => vector(llvm.i32_type().into(), held / 4)?,
            };
            Ok((llvm.i8_type().into(), whole))
        }
    }
}

/// The number of a format ("CDNA4 ISA", "V_MFMA_F32_16X16X128_F8F6F4").
fn code(format: ScaledElem) -> Option<u64> {
    match format {
        ScaledElem::E4m3 => Some(0),
        ScaledElem::E5m2 => Some(1),
        ScaledElem::E2m3 => Some(2),
        ScaledElem::E3m2 => Some(3),
        ScaledElem::E2m1 => Some(4),
        ScaledElem::Bf16 | ScaledElem::Fp16 => None,
    }
}

/// `cbsz` says how many pieces a broadcast of the first operand takes from, as a power of two, and `abid` which one.
fn write<'c>(cx: &mut Lower<'c, '_>, i: &Instruction<'c>, operands: &Operands<'c>) -> Res<Val<'c>> {
    let [first, second] = operands.values;
    let (cbsz, abid) = (i.pieces.trailing_zeros(), operands.piece);
    let numbers = [cbsz, abid, 0].map(|n| cx.i32(u64::from(n)).into());
    let args = [&[first, second, operands.sum.into()][..], &numbers].concat();
    cx.intrinsic(&format!("llvm.amdgcn.{}", i.instr.name), &[], &args)
}

fn write_scaled<'c>(
    cx: &mut Lower<'c, '_>,
    i: &Instruction<'c>,
    operands: &Operands<'c>,
    [cbsz, blgp]: [u64; 2],
) -> Res<Val<'c>> {
    let [first, second] = operands.values;
    let number = |n: u64| -> Val<'c> { cx.i32(n).into() };
    let [x, y] = operands.scales.unwrap_or([number(0); 2]);
    // Either scale is the lowest byte of its word.
    let args = [first, second, operands.sum.into(), number(cbsz), number(blgp), number(0), x, number(0), y];
    let overloads = [first.get_type(), second.get_type()];
    cx.intrinsic(&format!("llvm.amdgcn.{}", i.instr.name), &overloads, &args)
}
