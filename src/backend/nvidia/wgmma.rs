//! Products by `wgmma.mma_async` (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"): four warps multiply 64
//! rows of A by up to 256 columns of B, and go on while the tensor cores add to their registers.
//!
//! # Algorithm
//!
//! 1. B, and A unless it is in registers, are described to the hardware ([`super::descriptor`]): a constant for the
//!    layout, plus the address of the instruction's share, counted in 16 bytes. Warp groups that multiply other rows or
//!    columns add what their number contributes; so does the number of the buffer, where the operand is one of several.
//! 2. [`tile`] finds the rows, columns and steps of K of each instruction in the fragments of the result and of A, as
//!    `mma` does.
//! 3. `wgmma.fence` orders the registers that were written before. It takes the accumulators and returns them, so that
//!    LLVM gives each a register of its own before the fence, not behind it, also where several start with the same
//!    value. Then come all instructions, K innermost, those of an accumulator tied to its registers and in one piece of
//!    assembly; `wgmma.commit_group` ends the group.
//! 4. An asynchronous product ends there, and `ttng.warp_group_dot_wait` waits for it. A synchronous one waits at once.
//!    Either wait takes the accumulators and returns them, so that nobody reads them earlier.
//! 5. With `maxNumImpreciseAcc`, sums of fp8 products start from zero again after that many products: they are waited
//!    for and added in f32.
//!
//! A in registers is copied by `mov` before the fence: the values may be computed while an earlier product still reads
//! the registers of the last.
//!
//! # Example
//!
//! 128×256 of f32 by 4 warps with K = 64 in f16: two tiles of 64 rows, each four `wgmma.mma_async.m64n256k16` with 128
//! registers.

mod product;

use inkwell::values::IntValue;

use self::product::Product;
pub(super) use self::product::wait;
use super::descriptor::{CHUNK, Descriptor, Share, columns, describe};
use super::ptx_builder::{Arg, PtxAsm, Reg};
use crate::analysis::scratch::element_bits;
use crate::codegen::bits::bits_as;
use crate::codegen::lower::{Lower, Res, Val};
use crate::codegen::memdesc::ViewStart;
use crate::codegen::ops::dot::fragment::{BATCH, COLUMN, Fragment, ROW};
use crate::diag::{Diagnostic, codes::codegen as codes};
use crate::ir::dialects::enums::InputPrecision;
use crate::ir::dialects::ttng::ttng as view;
use crate::ir::{Attr, Encoding, FloatKind, Op, Type, Value};
use crate::layout::LinearLayout;

/// Rows of one instruction.
const ROWS: u32 = 64;
/// Bits of a warp's number within its warp group.
const GROUP_BITS: usize = 2;
/// Bits of a register.
const WORD: u32 = 32;

/// The types of an instruction.
struct Kind {
    /// `f32.f16.f16`
    types: String,
    result: Reg,
    /// Elements of a register of the result.
    packed: usize,
    /// Whether operands can be negated, which the syntax then says.
    scales: bool,
    /// Whether operands in shared memory can run along M or N.
    transposes: bool,
    fp8: bool,
}

fn kind(cx: &Lower<'_, '_>, op: Op, [a, b, d]: [Type; 3]) -> Res<Kind> {
    use FloatKind::{BF16, F8E4M3FN, F8E5M2, F16, F32};
    let tf32 = matches!(view::WarpGroupDot(op).inputPrecision(cx.ir), None | Some(InputPrecision::Tf32));
    let name = |ty: Type| match ty.elem().as_float() {
        Some(F16) => Some("f16"),
        Some(BF16) => Some("bf16"),
        Some(F32) if tf32 => Some("tf32"),
        Some(F8E4M3FN) => Some("e4m3"),
        Some(F8E5M2) => Some("e5m2"),
        None if ty.elem().is_int_of(8) => Some("s8"),
        _ => None,
    };
    let sum = match d.elem().as_float() {
        Some(F32) => Some(("f32", Reg::F32, 1)),
        Some(F16) => Some(("f16", Reg::B32, 2)),
        None if d.elem().is_int_of(32) => Some(("s32", Reg::B32, 1)),
        _ => None,
    };
    let fp8 = |n: &str| n.starts_with('e');
    match (name(a), name(b), sum) {
        (Some(x), Some(y), Some((s, result, packed)))
            if (x == y || fp8(x) && fp8(y))
                && match s {
                    "f32" => x != "s8",
                    "f16" => x == "f16" || fp8(x),
                    _ => x == "s8",
                } =>
        {
            Ok(Kind {
                types: format!("{s}.{x}.{y}"),
                result,
                packed,
                scales: s != "s32",
                transposes: x.ends_with("f16"),
                fp8: fp8(x),
            })
        }
        _ => {
            let text = format!(
                "no instruction multiplies `{}` by `{}` into `{}` at this precision",
                a.elem(),
                b.elem(),
                d.elem()
            );
            Err(cx.unsupported(op, &text))
        }
    }
}

/// Where an operand comes from.
enum Left<'c> {
    Shared(Matrix<'c>),
    /// Words by instruction row and step of K.
    Registers(Vec<Vec<Vec<Val<'c>>>>),
}

/// An operand in shared memory.
struct Matrix<'c> {
    descriptor: Descriptor,
    /// The low word of the descriptor, with the address at which the warp group's part starts.
    start: IntValue<'c>,
    inverse: LinearLayout,
    bits: u32,
}

impl<'c> Matrix<'c> {
    /// The descriptor of the share that starts at these coordinates.
    ///
    /// Only the low word is computed; the high one is a constant that is set beside it. As one sum of 64 bits the same
    /// descriptor makes some releases of ptxas fail: 12.9 and 13.0 crash on a product of tf32 by two warp groups, and
    /// 12.8 assembles it wrongly.
    fn at(&self, cx: &Lower<'c, '_>, at: [u32; 2]) -> Res<Val<'c>> {
        let bytes = [0, 1].map(|axis| moved(&columns(&self.inverse, axis), at[axis]) * (self.bits / 8));
        let offset = u64::from((bytes[0] ^ bytes[1]) / CHUNK);
        let low = if offset == 0 { self.start } else { cx.b.build_int_add(self.start, cx.i32(offset), "")? };
        let high = cx.i32(self.descriptor.bits >> WORD);
        let words = cx.b.build_insert_element(cx.int_type(WORD).vec_type(2).const_zero(), low, cx.i32(0), "")?;
        let words = cx.b.build_insert_element(words, high, cx.i32(1), "")?;
        Ok(cx.b.build_bit_cast(words, cx.int_type(2 * WORD), "")?)
    }
}

/// The exclusive or of the columns that the bits of `value` pick.
fn moved(columns: &[u32], value: u32) -> u32 {
    columns.iter().enumerate().filter(|(bit, _)| value >> bit & 1 == 1).fold(0, |sum, (_, c)| sum ^ c)
}

/// What each instruction multiplies, in coordinates of lane 0 of the warp group's first warp.
struct Tiling {
    rows: Vec<[u32; 2]>,
    /// The columns of an instruction's registers, in their order.
    columns: Vec<Vec<u32>>,
}

/// Finds what each instruction multiplies (step 2); `None` when the result's registers are not those of the
/// instruction.
fn tile(d: &Fragment, n: u32) -> Option<Tiling> {
    let lanes =
        (0..5).all(|i| (d.lane(i, ROW), d.lane(i, COLUMN)) == if i < 2 { (0, 2 << i) } else { (1 << (i - 2), 0) });
    let group = (0..GROUP_BITS).all(|i| d.warps.get(i).is_some_and(|w| (w[ROW], w[COLUMN]) == (16 << i, 0)));
    let rows: Vec<[u32; 2]> = d.along(ROW).chunks(2).filter_map(|r| <[u32; 2]>::try_from(r).ok()).collect();
    let columns: Vec<Vec<u32>> = d.along(COLUMN).chunks(n as usize / 4).map(<[u32]>::to_vec).collect();
    let halves = !rows.is_empty() && rows.iter().all(|r| r[1] == r[0] + 8);
    let runs = columns
        .iter()
        .all(|c| c.len() as u32 == n / 4 && c.iter().zip(0..).all(|(&c0, i)| c0 == c[0] + i % 2 + i / 2 * 8));
    (lanes && group && halves && runs).then_some(Tiling { rows, columns })
}

/// `ttng.warp_group_dot`
pub(super) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    if !cx.options.target.has_wgmma() {
        let text = format!("`{}` needs sm_90a, the target is {}", cx.ir.op_name(op), cx.options.target.name);
        return Err(Diagnostic::error(&codes::UNSUPPORTED_OP, text));
    }
    let dot = view::WarpGroupDot(op);
    let (a, b, c) = (dot.a(cx.ir), dot.b(cx.ir), dot.c(cx.ir));
    let types = [a, b, c].map(|v| cx.ir.ty(v));
    let kind = kind(cx, op, types)?;
    let Some(Encoding::NvidiaMma(e)) = types[2].encoding().and_then(Attr::as_encoding) else {
        return Err(cx.unsupported(op, "the result is in no tensor-core layout"));
    };
    let [_, n, k] = e.instr_shape[..] else { return Err(cx.unsupported(op, "`instrShape` needs three numbers")) };
    let d = Fragment::of(Lower::layout(types[2])?).ok_or_else(|| cx.unsupported(op, "the result is no matrix"))?;
    let tiling =
        tile(&d, n).ok_or_else(|| cx.unsupported(op, "the result's registers are not those of the instruction"))?;
    let depth = u32::try_from(types[0].shape()[1]).unwrap_or(0);
    if depth == 0 || !depth.is_multiple_of(k) {
        return Err(cx.unsupported(op, &format!("K is {depth}, expected a multiple of {k}")));
    }
    let left = if types[0].is_tensor() {
        Left::Registers(registers(cx, op, a, &d, &tiling, [k, depth])?)
    } else {
        Left::Shared(matrix(cx, op, a, [ROWS, k], 0, &d, kind.transposes)?)
    };
    let right = matrix(cx, op, b, [k, n], 1, &d, kind.transposes)?;
    let product = Product { op, kind, shape: [n, k], depth, left, right };
    let result = product.emit(cx, &d, &tiling, c)?;
    cx.set(cx.ir.result(op), result);
    Ok(())
}

/// Describes an operand in shared memory to the hardware (step 1).
fn matrix<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    value: Value,
    shape: [u32; 2],
    outer: usize,
    d: &Fragment,
    transposes: bool,
) -> Res<Matrix<'c>> {
    let ty = cx.ir.ty(value);
    let bits = element_bits(ty);
    let ViewStart { first: mut address, buffer, inverse, offsets } = cx.view_start(value)?;
    let descriptor = describe(&inverse, Share { shape, outer, bits }).ok_or_else(|| {
        cx.unsupported(op, &format!("`{ty}` is in no order that `wgmma` reads {}x{} elements in", shape[0], shape[1]))
    })?;
    let along_k = descriptor.transposed != (outer == 0);
    if !along_k && !transposes {
        return Err(cx.unsupported(op, &format!("`{ty}` must run along K, for elements that have not 16 bits")));
    }
    // A view may start at a core tile, or at a chunk of its first line.
    let line = usize::from(!descriptor.transposed);
    let fits = |axis: usize, bytes: u64| {
        bytes.is_multiple_of(u64::from(descriptor.tile_bytes))
            || axis == line && bytes >= 16 && bytes < u64::from(descriptor.line_bytes)
    };
    if offsets.iter().enumerate().any(|(axis, columns)| columns.iter().any(|&(_, bytes)| !fits(axis, bytes))) {
        return Err(cx.unsupported(op, &format!("`{ty}` may start within a tile of {} bytes", descriptor.tile_bytes)));
    }
    let axis = if outer == 0 { ROW } else { COLUMN };
    let groups: Vec<u32> =
        d.warps.iter().skip(GROUP_BITS).map(|w| moved(&columns(&inverse, outer), w[axis]) * (bits / 8)).collect();
    if groups.iter().any(|&bytes| bytes != 0) {
        let warp = cx.uniform_warp_id()?;
        let group = cx.b.build_right_shift(warp, cx.i32(GROUP_BITS as u64), false, "")?;
        let moved = cx.xor_image(cx.i32(0), group, &groups)?;
        address = cx.b.build_int_add(address, moved, "")?;
    }
    // The address field has 14 bits, of 16 bytes each.
    let chunks = cx.b.build_right_shift(address, cx.i32(4), false, "")?;
    let field = cx.b.build_and(chunks, cx.i32(0x3fff), "")?;
    let mut start = cx.b.build_int_add(field, cx.i32(descriptor.bits & u64::from(u32::MAX)), "")?;
    // The number of one of several buffers is added last, so that all before it stands outside of a loop. The field
    // cannot overflow, since 14 bits reach further than shared memory.
    if let Some((number, bytes)) = buffer {
        let moved = cx.b.build_int_mul(number, cx.i32(u64::from(bytes / CHUNK)), "")?;
        start = cx.b.build_int_add(start, moved, "")?;
    }
    Ok(Matrix { descriptor, start, inverse, bits })
}

/// A's words for each instruction row and step of K: of both rows along the first half of K, then along the second.
fn registers<'c>(
    cx: &mut Lower<'c, '_>,
    op: Op,
    a: Value,
    d: &Fragment,
    tiling: &Tiling,
    [k, depth]: [u32; 2],
) -> Res<Vec<Vec<Vec<Val<'c>>>>> {
    let ty = cx.ir.ty(a);
    let per_word = 32 / element_bits(ty).min(32);
    let refusal = cx.unsupported(op, &format!("`{ty}` does not place elements where `wgmma` reads them"));
    let misplaced = || refusal.clone();
    let fragment = Fragment::of(Lower::layout(ty)?).ok_or_else(misplaced)?;
    let lanes = (0..5).all(|i| {
        fragment.lane(i, ROW) == d.lane(i, ROW) && fragment.lane(i, COLUMN) == if i < 2 { per_word << i } else { 0 }
    });
    if !lanes || !fragment.moves_with(ROW, d, ROW) || !fragment.rests_along(COLUMN) || d.along(BATCH).len() != 1 {
        return Err(misplaced());
    }
    let regs = cx.get(a)?;
    let int = cx.int_type(element_bits(ty));
    let mut all = vec![];
    for rows in &tiling.rows {
        let mut steps = vec![];
        for first in (0..depth).step_by(k as usize) {
            let mut words = vec![];
            for half in [0, 4 * per_word] {
                for &row in rows {
                    let mut elements = vec![];
                    for i in 0..per_word {
                        let register = fragment.register([0, row, first + half + i]).ok_or_else(misplaced)?;
                        elements.push(bits_as(cx, regs[register], int.into())?);
                    }
                    let mut asm = PtxAsm::default();
                    let (to, from) = (asm.output(Reg::B32), asm.input(Reg::B32, cx.packed(&elements)?.into()));
                    asm.inst(None, "mov.b32", vec![Arg::Reg(to), Arg::Reg(from)]);
                    words.extend(asm.emit(cx, true)?);
                }
            }
            steps.push(words);
        }
        all.push(steps);
    }
    Ok(all)
}
