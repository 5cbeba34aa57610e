//! `ttg.fp4_to_fp`: bytes that hold two e2m1 floats each, the first in the low half, to f16 or bf16.
//!
//! # Algorithm
//!
//! An e2m1 float has a sign bit and three bits that name one of eight magnitudes, so a byte of the wider float is a
//! table of eight bytes: that is what a permutation of bytes looks up, four at a time, when the three bits are its
//! selector.
//!
//! 1. Four bytes make a 32-bit register of eight floats. Without signs, each 16 of its bits select four bytes from the
//!    table of upper bytes, and for bf16 four from the table of lower ones; all lower bytes of f16 are 0.
//! 2. The sign of the first float of a byte is bit 3, that of the second bit 7. A byte of the register shifted by four
//!    has the first at bit 7.
//! 3. Lower and upper bytes are put side by side.
//! 4. Registers of the result pick their floats: the one whose coordinate along the axis is even takes the first of the
//!    byte that lies at half of it.
//!
//! ```text
//! magnitude   0     0.5   1     1.5   2     3     4     6
//! bf16        0000  3f00  3f80  3fc0  4000  4040  4080  40c0
//! f16         0000  3800  3c00  3e00  4000  4200  4400  4600
//! ```

use std::collections::BTreeMap;

use inkwell::values::IntValue;

use crate::codegen::bits::bits_as;
use crate::codegen::bits::split_pair;
use crate::codegen::lower::{Lower, Res, Val, as_int, defect};
use crate::ir::dialects::ttg::ttg::Fp4ToFp;
use crate::ir::{FloatKind, Op};
use crate::layout::register_offsets;

/// Bytes of the eight magnitudes, as the two words in which a permutation looks them up.
struct Table {
    upper: [u64; 2],
    lower: Option<[u64; 2]>,
}

const BF16: Table = Table { upper: [0x3f3f_3f00, 0x4040_4040], lower: Some([0xc080_0000, 0xc080_4000]) };
const F16: Table = Table { upper: [0x3e3c_3800, 0x4644_4240], lower: None };

/// Lowers `ttg.fp4_to_fp`.
pub(crate) fn lower(cx: &mut Lower<'_, '_>, op: Op) -> Res<()> {
    let view = Fp4ToFp(op);
    let (source, result) = (view.src(cx.ir), view.result(cx.ir));
    let axis = usize::try_from(view.axis(cx.ir).unwrap_or(0)).map_err(defect)?;
    let table = if cx.ir.ty(result).elem().as_float() == Some(FloatKind::F16) { F16 } else { BF16 };
    let elem = cx.elem_type(cx.ir.ty(result))?;
    let bytes = cx.get(source)?;
    let mut floats = Vec::with_capacity(2 * bytes.len());
    for four in bytes.chunks(4) {
        let mut vector = cx.int_type(8).vec_type(4).const_zero();
        for (i, &x) in four.iter().enumerate() {
            vector = cx.b.build_insert_element(vector, x, cx.i32(i as u64), "")?;
        }
        let word = as_int(bits_as(cx, vector.into(), cx.int_type(32).into())?)?;
        for pair in unpack(cx, word, &table, four.len())? {
            split_pair(cx, pair.into(), elem, 2, &mut floats)?;
        }
    }
    let picks = picks(cx, view, axis)?;
    let regs = picks.into_iter().map(|i| floats.get(i).copied()).collect::<Option<Vec<Val<'_>>>>();
    cx.set(result, regs.ok_or_else(|| defect("a register too few"))?);
    Ok(())
}

/// Makes a register of two floats for each of the first `count` bytes (steps 1 to 3).
fn unpack<'c>(cx: &mut Lower<'c, '_>, word: IntValue<'c>, table: &Table, count: usize) -> Res<Vec<IntValue<'c>>> {
    let magnitudes = cx.b.build_and(word, cx.i32(0x7777_7777), "")?;
    let shifted = cx.b.build_left_shift(word, cx.i32(4), "")?;
    let mut pairs = Vec::with_capacity(count);
    for (half, signs) in [0x1504, 0x3726].into_iter().enumerate().take(count.div_ceil(2)) {
        let selector = cx.b.build_right_shift(magnitudes, cx.i32(16 * half as u64), false, "")?;
        let look_up = |cx: &mut Lower<'c, '_>, words: [u64; 2]| {
            let [low, high] = words.map(|w| cx.i32(w));
            cx.machine.permute_bytes(cx, low, high, selector)
        };
        let upper = look_up(cx, table.upper)?;
        let lower = match table.lower {
            Some(words) => look_up(cx, words)?,
            None => cx.i32(0),
        };
        let signs = cx.machine.permute_bytes(cx, word, shifted, cx.i32(signs))?;
        let signs = cx.b.build_and(signs, cx.i32(0x8080_8080), "")?;
        let upper = cx.b.build_or(upper, signs, "")?;
        for order in [0x5140, 0x7362].into_iter().take(count - 2 * half) {
            pairs.push(cx.machine.permute_bytes(cx, lower, upper, cx.i32(order))?);
        }
    }
    Ok(pairs)
}

/// Says for each register of the result which float of the source's registers it is (step 4).
fn picks(cx: &Lower<'_, '_>, view: Fp4ToFp, axis: usize) -> Res<Vec<usize>> {
    let offsets = |value| -> Res<Vec<Vec<i32>>> { Ok(register_offsets(Lower::layout(cx.ir.ty(value))?)) };
    let mut held = BTreeMap::new();
    for (i, offset) in offsets(view.src(cx.ir))?.into_iter().enumerate() {
        held.entry(offset).or_insert(i);
    }
    let pick = |mut offset: Vec<i32>| {
        let coordinate = offset.get_mut(axis)?;
        let second = usize::from(*coordinate & 1 != 0);
        *coordinate >>= 1;
        Some(2 * held.get(&offset)? + second)
    };
    let picked = offsets(view.result(cx.ir))?.into_iter().map(pick).collect::<Option<Vec<_>>>();
    picked.ok_or_else(|| defect("the floats of a byte lie in different threads"))
}
