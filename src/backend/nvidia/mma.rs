//! Products by `mma.sync` (PTX ISA, "Multiply-and-Accumulate Instruction: mma"), the tensor-core instruction of one
//! warp.
//!
//! # Algorithm
//!
//! 1. [`Instruction`] is picked by the element types. What the PTX ISA's fragments have in common: lane bits 2 to 4 are
//!    the row of A and the column of B, lane bits 0 and 1 the place along K of both; of the result, lane bits 2 to 4
//!    are the row, and lane bits 0 and 1 with two registers the column. Some instructions have a second half of rows in
//!    further registers of A and of the result.
//! 2. [`Tiling`] finds the tensor's rows, columns and steps of K that one instruction multiplies, from the fragments
//!    alone, and refuses operands whose threads do not hold what the instruction reads.
//! 3. The sum over K may run in any order, as long as A and B agree: a thread's places along K are taken in ascending
//!    order, a 32-bit word of each row at a time. So any `kWidth` works, and neighbours, which `ldmatrix` or a vector
//!    load brought into one word, stay there.
//! 4. Rows and places along K that the tensor does not have are zeros.
//! 5. K is the outer loop: consecutive instructions have different accumulators and do not wait for each other.
//!
//! # Example
//!
//! f16, A 16×32 with `kWidth = 2`: places of lane 0 along K are 0, 1, 8, 9, 16, 17, 24, 25; the first instruction
//! multiplies the words (0, 1) and (8, 9) of rows 0 and 8, the second (16, 17) and (24, 25). With `kWidth = 8` the
//! places are 0 to 7, and the words (0, 1), (2, 3), then (4, 5), (6, 7).

use std::collections::BTreeMap;

use super::ptx_builder::{Arg, Operand, PtxAsm, Reg};
use crate::analysis::scratch::element_bits;
use crate::codegen::bits::bits_as;
use crate::codegen::lower::{Lower, Regs, Res, Val, defect};
use crate::codegen::ops::dot::fragment::{BATCH, COLUMN, Fragment, ROW};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::dialects::enums::InputPrecision;
use crate::ir::dialects::tt::tt as view;
use crate::ir::{FloatKind, Op, Type};

/// The places along K that a lane holds in one instruction come from this many lanes of the same row.
const K_LANE_BITS: usize = 2;
/// One shape and type of `mma.sync`.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Instruction {
    opcode: String,
    /// Halves of the rows.
    rows: usize,
    /// Words along K of one row of A, or column of B, in one thread.
    words: usize,
    /// Elements of such a word.
    per_word: usize,
    /// What holds a word of an operand.
    operand: Reg,
    /// What holds the result.
    result: Reg,
    /// Elements of a register of the result.
    packed: usize,
}

/// Picks the instruction by the types of the elements (step 1).
fn instruction(cx: &Lower<'_, '_>, op: Op, [a, b, d]: [Type; 3]) -> Res<Instruction> {
    use FloatKind::{BF16, F8E4M3FN, F8E5M2, F16, F32, F64};
    let make = |shape: &str, types: String, (rows, words, per_word), operand, result, packed| Instruction {
        opcode: format!("mma.sync.aligned.{shape}.row.col.{types}"),
        rows,
        words,
        per_word,
        operand,
        result,
        packed,
    };
    let sum = match d.elem().as_float() {
        Some(F32) => Some(("f32", Reg::F32, 1)),
        Some(F16) => Some(("f16", Reg::B32, 2)),
        _ => None,
    };
    let fp8 = |kind| if kind == F8E4M3FN { "e4m3" } else { "e5m2" };
    let tf32 = matches!(view::Dot(op).inputPrecision(cx.ir), None | Some(InputPrecision::Tf32));
    let found = match (a.elem().as_float(), b.elem().as_float(), sum) {
        (Some(F16), Some(F16), Some((s, class, packed))) => {
            make("m16n8k16", format!("{s}.f16.f16.{s}"), (2, 2, 2), Reg::B32, class, packed)
        }
        (Some(BF16), Some(BF16), Some(("f32", class, packed))) => {
            make("m16n8k16", "f32.bf16.bf16.f32".into(), (2, 2, 2), Reg::B32, class, packed)
        }
        (Some(F32), Some(F32), Some(("f32", class, packed))) if tf32 => {
            make("m16n8k8", "f32.tf32.tf32.f32".into(), (2, 2, 1), Reg::B32, class, packed)
        }
        (Some(x @ (F8E4M3FN | F8E5M2)), Some(y @ (F8E4M3FN | F8E5M2)), Some((s, class, packed))) => {
            if !cx.options.target.has_fp8_mma() {
                let text =
                    format!("`tt.dot` of 8-bit floats needs sm_89 or later, the target is {}", cx.options.target.name);
                return Err(Diagnostic::error(&codes::UNSUPPORTED_OP, text).help("convert the operands to f16 first"));
            }
            make("m16n8k32", format!("{s}.{}.{}.{s}", fp8(x), fp8(y)), (2, 2, 4), Reg::B32, class, packed)
        }
        (Some(F64), Some(F64), None) if d.elem().as_float() == Some(F64) => {
            make("m8n8k4", "f64.f64.f64.f64".into(), (1, 1, 1), Reg::F64, Reg::F64, 1)
        }
        (None, None, None) if a.elem().is_int_of(8) && b.elem().is_int_of(8) && d.elem().is_int_of(32) => {
            make("m16n8k32", "satfinite.s32.s8.s8.s32".into(), (2, 2, 4), Reg::B32, Reg::B32, 1)
        }
        _ => {
            let text = format!(
                "no instruction multiplies `{}` by `{}` into `{}` at this precision",
                a.elem(),
                b.elem(),
                d.elem()
            );
            return Err(cx.unsupported(op, &text));
        }
    };
    Ok(found)
}

/// What each instruction multiplies, in coordinates of lane 0.
struct Tiling {
    batches: Vec<u32>,
    /// The rows of an instruction; one instead of two where the tensor has too few.
    rows: Vec<Vec<u32>>,
    /// The columns of an instruction's result; B is read at the first.
    columns: Vec<[u32; 2]>,
    /// The places along K of an instruction, those of a word together.
    steps: Vec<Vec<Vec<u32>>>,
}

/// Finds what one instruction multiplies (step 2); `None` when the operands do not fit.
fn tile(a: &Fragment, b: &Fragment, d: &Fragment, shape: &Instruction) -> Option<Tiling> {
    let along_k = 0..K_LANE_BITS;
    let lanes = (0..5).all(|i| {
        let k = along_k.contains(&i);
        let place = a.lane(i, COLUMN) == b.lane(i, ROW) && (a.lane(i, COLUMN) != 0) == k;
        let row = a.lane(i, ROW) == d.lane(i, ROW) && (!k || d.lane(i, ROW) == 0);
        let column = if k {
            b.lane(i, COLUMN) == 0 && d.lane(i, COLUMN) == b.lane(i + 3, COLUMN)
        } else {
            d.lane(i, COLUMN) == 0
        };
        place && row && column && [a, b, d].iter().all(|x| x.lane(i, BATCH) == 0)
    });
    let batches = a.moves_with(BATCH, d, BATCH) && b.moves_with(BATCH, d, BATCH);
    let shared =
        a.moves_with(ROW, d, ROW) && b.moves_with(COLUMN, d, COLUMN) && a.rests_along(COLUMN) && b.rests_along(ROW);
    if !lanes || !batches || !shared || a.along(COLUMN) != b.along(ROW) {
        return None;
    }
    // The column of B that lane bit 2 moves to is in the second register of the result.
    let next = b.lane(2, COLUMN);
    let columns = d.along(COLUMN).into_iter().filter(|&c| next == 0 || c < c ^ next).map(|c| [c, c ^ next]);
    let words: Vec<Vec<u32>> = a.along(COLUMN).chunks(shape.per_word).map(<[u32]>::to_vec).collect();
    Some(Tiling {
        batches: d.along(BATCH),
        rows: d.along(ROW).chunks(shape.rows).map(<[u32]>::to_vec).collect(),
        columns: columns.collect(),
        steps: words.chunks(shape.words).map(<[Vec<u32>]>::to_vec).collect(),
    })
}

/// An operand's words by (batch, row or column, first place along K).
type Words<'c> = BTreeMap<[u32; 3], Val<'c>>;

/// `tt.dot` by `mma.sync`.
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let dot = view::Dot(op);
    let values = [dot.a(cx.ir), dot.b(cx.ir), dot.c(cx.ir)];
    let types = values.map(|v| cx.ir.ty(v));
    let shape = instruction(cx, op, types)?;
    let mut fragments = vec![];
    for ty in types {
        fragments.extend(Fragment::of(Lower::layout(ty)?));
    }
    let [a, b, d] = fragments.as_slice() else {
        return Err(cx.unsupported(op, "expected matrices or batches of matrices"));
    };
    let tiling = tile(a, b, d, &shape)
        .ok_or_else(|| cx.unsupported(op, "the layouts of its operands are not those that the instruction reads"))?;
    let words: Vec<Vec<u32>> = tiling.steps.concat();
    let (left, right, start) = (cx.get(values[0])?, cx.get(values[1])?, cx.get(values[2])?);
    let mut left_words = Words::new();
    let mut right_words = Words::new();
    for &batch in &tiling.batches {
        for word in &words {
            for row in tiling.rows.iter().flatten() {
                let value = operand(cx, &shape, a, &left, word.iter().map(|&k| [batch, *row, k]), types[0])?;
                left_words.insert([batch, *row, word[0]], value);
            }
            for column in &tiling.columns {
                let value = operand(cx, &shape, b, &right, word.iter().map(|&k| [batch, k, column[0]]), types[1])?;
                right_words.insert([batch, column[0], word[0]], value);
            }
        }
    }
    let result = multiply(cx, &shape, &tiling, [&left_words, &right_words], d, &start)?;
    cx.set(cx.ir.result(op), result);
    Ok(())
}

/// A word of an operand, of elements at these coordinates; fewer than fill it leave zeros.
fn operand<'c>(
    cx: &mut Lower<'c, '_>,
    shape: &Instruction,
    fragment: &Fragment,
    regs: &Regs<'c>,
    at: impl Iterator<Item = [u32; 3]>,
    ty: Type,
) -> Res<Val<'c>> {
    let find = |at| {
        fragment
            .register(at)
            .and_then(|r| regs.get(r).copied())
            .ok_or_else(|| defect("an operand's register is missing"))
    };
    let mut elements = at.map(find).collect::<Res<Vec<_>>>()?;
    if shape.operand == Reg::F64 {
        return Ok(elements[0]);
    }
    let int = cx.int_type(element_bits(ty));
    for e in &mut elements {
        *e = bits_as(cx, *e, int.into())?;
    }
    elements.resize(shape.per_word, int.const_zero().into());
    Ok(cx.packed(&elements)?.into())
}

/// Writes the instructions, with zeros for what the tensor does not have (steps 4 and 5).
fn multiply<'c>(
    cx: &mut Lower<'c, '_>,
    shape: &Instruction,
    tiling: &Tiling,
    [left, right]: [&Words<'c>; 2],
    d: &Fragment,
    start: &Regs<'c>,
) -> Res<Vec<Val<'c>>> {
    let zero = match shape.operand {
        Reg::F64 => cx.llvm.f64_type().const_zero().into(),
        _ => cx.i32(0).into(),
    };
    let word =
        |words: &Words<'c>, at: [u32; 3]| words.get(&at).copied().ok_or_else(|| defect("an operand's word is missing"));
    let mut sums = sums(cx, shape, tiling, d, start)?;
    for &batch in &tiling.batches {
        for step in &tiling.steps {
            // The places of a word by its first; none where K ends.
            let places: Vec<Option<u32>> = (0..shape.words).map(|w| step.get(w).map(|word| word[0])).collect();
            for rows in &tiling.rows {
                let mut fragment = vec![];
                for &k in &places {
                    for i in 0..shape.rows {
                        let place = rows.get(i).copied().zip(k);
                        fragment.push(place.map_or(Ok(zero), |(row, k)| word(left, [batch, row, k]))?);
                    }
                }
                for columns in &tiling.columns {
                    let column = places
                        .iter()
                        .map(|k| k.map_or(Ok(zero), |k| word(right, [batch, columns[0], k])))
                        .collect::<Res<Vec<_>>>()?;
                    let sum = sums.get_mut(&[batch, rows[0], columns[0]]).ok_or_else(|| defect("a sum is missing"))?;
                    *sum = emit(cx, shape, &fragment, &column, sum)?;
                }
            }
        }
    }
    results(cx, shape, tiling, d, start, &sums)
}

/// The registers of each instruction's accumulator by the coordinates of their first element, holding the start values.
fn sums<'c>(
    cx: &mut Lower<'c, '_>,
    shape: &Instruction,
    tiling: &Tiling,
    d: &Fragment,
    start: &Regs<'c>,
) -> Res<BTreeMap<[u32; 3], Vec<Val<'c>>>> {
    let mut sums = BTreeMap::new();
    let element = start.first().map(Val::get_type).ok_or_else(|| defect("a result without registers"))?;
    for &batch in &tiling.batches {
        for rows in &tiling.rows {
            for columns in &tiling.columns {
                let mut values = vec![];
                for i in 0..shape.rows {
                    for &column in columns {
                        values.push(match rows.get(i) {
                            Some(&row) => {
                                let register = d
                                    .register([batch, row, column])
                                    .ok_or_else(|| defect("a result's register is missing"))?;
                                start[register]
                            }
                            None => element.const_zero(),
                        });
                    }
                }
                let mut packed = vec![];
                for part in values.chunks(shape.packed) {
                    packed.push(if shape.packed == 1 { part[0] } else { cx.packed(part)?.into() });
                }
                sums.insert([batch, rows[0], columns[0]], packed);
            }
        }
    }
    Ok(sums)
}

/// The registers of the result from the accumulators.
fn results<'c>(
    cx: &mut Lower<'c, '_>,
    shape: &Instruction,
    tiling: &Tiling,
    d: &Fragment,
    start: &Regs<'c>,
    sums: &BTreeMap<[u32; 3], Vec<Val<'c>>>,
) -> Res<Vec<Val<'c>>> {
    let mut by_place: BTreeMap<[u32; 3], Val<'c>> = BTreeMap::new();
    let element = start[0].get_type();
    for rows in &tiling.rows {
        for columns in &tiling.columns {
            for &batch in &tiling.batches {
                let packed = sums.get(&[batch, rows[0], columns[0]]).ok_or_else(|| defect("a sum is missing"))?;
                let mut values = vec![];
                for &p in packed {
                    match p {
                        Val::IntValue(word) if shape.packed > 1 => {
                            values.extend(cx.unpacked(word, element, shape.packed as u32)?);
                        }
                        one => values.push(one),
                    }
                }
                let places = rows.iter().flat_map(|&row| columns.map(|column| [batch, row, column]));
                by_place.extend(places.zip(values));
            }
        }
    }
    let mut out = start.to_vec();
    for (at, registers) in d.registers() {
        let value = *by_place.get(&at).ok_or_else(|| defect("an element of the result was not computed"))?;
        registers.iter().for_each(|&r| out[r] = value);
    }
    Ok(out)
}

/// One instruction. The sum stays in its registers: given others, ptxas copies them in loops.
fn emit<'c>(
    cx: &mut Lower<'c, '_>,
    shape: &Instruction,
    left: &[Val<'c>],
    right: &[Val<'c>],
    sum: &[Val<'c>],
) -> Res<Vec<Val<'c>>> {
    let mut asm = PtxAsm::default();
    let out: Vec<Operand> = sum.iter().map(|&v| asm.output_from(shape.result, v)).collect();
    let mut list = |values: &[Val<'c>]| Arg::List(values.iter().map(|&v| asm.input(shape.operand, v)).collect());
    let args = vec![Arg::List(out.clone()), list(left), list(right), Arg::List(out)];
    asm.inst(None, shape.opcode.clone(), args);
    asm.emit(cx, true)
}
