//! `mma.sync`: the product of two fragments (PTX ISA, "Multiply-and-Accumulate Instruction: mma").
//!
//! 1. The elements of A and B are collected from the lanes ([`super::fragment`]).
//! 2. Each element of the result is the sum of a row times a column ([`super::accumulate`]).
//!
//! On sm_90 there is no instruction for products of 8-bit floats within a warp. `ptxas` converts the operands to f16
//! and multiplies twice: first the first two elements of every word, from zero; then the other two, on top of that. The
//! result is added to the accumulator in f32. This file does the same.
//!
//! Example: `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32` is `Mma { m: 16, n: 8, k: 16, a: F16, b: F16, c: F32,
//! d: F32, saturate: false }`, with 4 registers of A, 2 of B, and 4 of C.

use super::accumulate::{Formats, model, multiply_add_double};
use super::fragment;
use super::tile::{Floats, Integers, SIDE, multiply_add_integers, multiply_add_row};
use crate::emu::num::{Flags, Rounding, Type, add, convert};
use ttc_float::FloatKind;

/// A warp's register: a value a lane.
pub type Register = [u64; 32];

/// One form of the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mma {
    /// Rows of A: 8 or 16.
    pub m: u32,
    /// Columns of B: 8.
    pub n: u32,
    /// Columns of A.
    pub k: u32,
    /// The type of A's elements.
    pub a: Type,
    /// The type of B's elements.
    pub b: Type,
    /// The type of the accumulator's elements.
    pub c: Type,
    /// The type of the result's elements.
    pub d: Type,
    /// `.satfinite`
    pub saturate: bool,
}

impl Mma {
    /// The registers of A.
    #[must_use]
    pub fn left_registers(&self) -> usize {
        (self.m * self.k / 32 / fragment::per_word(self.a.bits())) as usize
    }

    /// The registers of B.
    #[must_use]
    pub fn right_registers(&self) -> usize {
        (self.n * self.k / 32 / fragment::per_word(self.b.bits())) as usize
    }

    /// The registers of an accumulator of this type.
    #[must_use]
    pub fn sum_registers(&self, ty: Type) -> usize {
        (self.m * self.n / 32) as usize / packed(ty)
    }

    /// Whether the emulator knows this form.
    #[must_use]
    pub fn is_known(&self) -> bool {
        use Type::{BF16, E4M3, E5M2, F16, F32, F64, S8, S32, TF32, U8};
        let shape = (self.m, self.n, self.k);
        let float_sum = |t: Type| matches!(t, F16 | F32);
        match (self.a, self.b) {
            (F16, F16) => matches!(shape, (16, 8, 8 | 16)) && float_sum(self.c) && float_sum(self.d) && !self.saturate,
            (BF16, BF16) => matches!(shape, (16, 8, 8 | 16)) && (self.c, self.d) == (F32, F32) && !self.saturate,
            (TF32, TF32) => matches!(shape, (16, 8, 4 | 8)) && (self.c, self.d) == (F32, F32) && !self.saturate,
            (E4M3 | E5M2, E4M3 | E5M2) => {
                matches!(shape, (16, 8, 16 | 32))
                    && matches!((self.c, self.d), (F32, F32) | (F16, F16))
                    && !self.saturate
            }
            (F64, F64) => {
                matches!(shape, (8, 8, 4) | (16, 8, 4 | 8 | 16)) && (self.c, self.d) == (F64, F64) && !self.saturate
            }
            (S8 | U8, S8 | U8) => matches!(shape, (8, 8, 16) | (16, 8, 16 | 32)) && (self.c, self.d) == (S32, S32),
            _ => false,
        }
    }
}

/// Elements of the accumulator in a register.
fn packed(ty: Type) -> usize {
    if ty == Type::F16 { 2 } else { 1 }
}

/// Runs the instruction. The slices hold as many registers as [`Mma`] says, and the form is known.
#[must_use]
pub fn mma(form: &Mma, a: &[Register], b: &[Register], c: &[Register]) -> Vec<Register> {
    let product = Product::new(form, a, b);
    let mut out = vec![[0; 32]; form.sum_registers(form.d)];
    for row in 0..form.m {
        for group in 0..form.n / SIDE as u32 {
            let mut sums = sums(c, form.c, form.m, row, group);
            product.add(row as usize, group as usize, &mut sums);
            put_sums(&mut out, form.d, form.m, row, group, &sums);
        }
    }
    out
}

/// The accumulators of a row and of the eight columns of a group.
#[inline]
pub(super) fn sums(registers: &[Register], ty: Type, rows: u32, row: u32, group: u32) -> [u64; SIDE] {
    std::array::from_fn(|i| {
        let (lane, index) = fragment::holder(rows, row, group * SIDE as u32 + i as u32);
        element(registers, ty, lane, index)
    })
}

/// Sets those accumulators, which were 0.
#[inline]
pub(super) fn put_sums(registers: &mut [Register], ty: Type, rows: u32, row: u32, group: u32, sums: &[u64; SIDE]) {
    for (i, sum) in sums.iter().enumerate() {
        let (lane, index) = fragment::holder(rows, row, group * SIDE as u32 + i as u32);
        put(registers, ty, lane, index, *sum);
    }
}

/// The element `index` of a lane's accumulator.
#[inline]
pub(super) fn element(registers: &[Register], ty: Type, lane: u32, index: u32) -> u64 {
    let per = packed(ty) as u32;
    registers[(index / per) as usize][lane as usize] >> (index % per * ty.bits()) & ty.mask()
}

/// Sets the element `index` of a lane's accumulator, which was 0.
#[inline]
pub(super) fn put(registers: &mut [Register], ty: Type, lane: u32, index: u32, value: u64) {
    let per = packed(ty) as u32;
    registers[(index / per) as usize][lane as usize] |= value << (index % per * ty.bits());
}

/// Calls `f` with the line, the place along K and the pattern of each element in a warp's registers. `place` gives the
/// line and the first place of a register of a lane.
pub(super) fn each_element(
    ty: Type,
    registers: &[Register],
    place: impl Fn(u32, u32) -> (u32, u32),
    mut f: impl FnMut(usize, usize, u64),
) {
    let (bits, mask) = (ty.bits(), ty.mask());
    for (r, register) in registers.iter().enumerate() {
        for (lane, &word) in register.iter().enumerate() {
            let (line, first) = place(lane as u32, r as u32);
            for e in 0..fragment::per_word(bits) {
                f(line as usize, (first + e) as usize, word >> (e * bits) & mask);
            }
        }
    }
}

/// The elements of A.
#[inline]
fn each_left(form: &Mma, a: &[Register], f: impl FnMut(usize, usize, u64)) {
    each_element(form.a, a, |lane, r| fragment::left(form.m, form.a.bits(), lane, r), f);
}

/// The elements of B, by column.
#[inline]
fn each_right(form: &Mma, b: &[Register], f: impl FnMut(usize, usize, u64)) {
    let place = |lane, r| {
        let (k, column) = fragment::right(form.b.bits(), lane, r);
        (column, k)
    };
    each_element(form.b, b, place, f);
}

/// The operands of an instruction, decoded.
enum Product {
    Float {
        formats: Formats,
        operand: Type,
        sums: [Type; 2],
        left: Floats,
        right: Floats,
    },
    /// 8-bit floats in f16: the first two of every four along K, and the other two.
    Bytes {
        formats: Formats,
        sum: Type,
        left: [Floats; 2],
        right: [Floats; 2],
    },
    Double {
        rows: Vec<Vec<u64>>,
        columns: Vec<Vec<u64>>,
    },
    Integer {
        left: Integers,
        right: Integers,
        saturate: bool,
    },
}

impl Product {
    fn new(form: &Mma, a: &[Register], b: &[Register]) -> Product {
        let (m, n, k) = (form.m as usize, form.n as usize, form.k as usize);
        match (form.a.float(), form.b.float(), form.d.float()) {
            (Some(FloatKind::F64), ..) => {
                let (mut rows, mut columns) = (vec![vec![0; k]; m], vec![vec![0; k]; n]);
                each_left(form, a, |line, place, x| rows[line][place] = x);
                each_right(form, b, |line, place, x| columns[line][place] = x);
                Product::Double { rows, columns }
            }
            (Some(left), Some(right), Some(sum)) if left.is_fp8() && right.is_fp8() => {
                let half = |lines| [0, 1].map(|_| Floats::new(FloatKind::F16, lines, k / 2));
                let (mut left, mut right) = (half(m), half(n));
                let set = |to: &mut [Floats; 2], ty, (line, place, x): (usize, usize, u64)| {
                    let x = convert(x, ty, Type::F16, Rounding::Nearest, Flags::default());
                    to[place / 2 % 2].set(line, place / 4 * 2 + place % 2, x);
                };
                each_left(form, a, |line, place, x| set(&mut left, form.a, (line, place, x)));
                each_right(form, b, |line, place, x| set(&mut right, form.b, (line, place, x)));
                Product::Bytes {
                    formats: Formats { left: FloatKind::F16, right: FloatKind::F16, sum },
                    sum: form.d,
                    left: left.map(|f| f.decode(false)),
                    right: right.map(|f| f.decode(false)),
                }
            }
            (Some(left), Some(right), Some(sum)) => {
                let formats = Formats { left, right, sum };
                let (mut left, mut right) = (Floats::new(left, m, k), Floats::new(right, n, k));
                each_left(form, a, |line, place, x| left.set(line, place, x));
                each_right(form, b, |line, place, x| right.set(line, place, x));
                let (left, right) = (left.decode(false), right.decode(false));
                Product::Float { formats, operand: form.a, sums: [form.c, form.d], left, right }
            }
            _ => {
                let (mut left, mut right) = (Integers::new(m, k), Integers::new(n, k));
                each_left(form, a, |line, place, x| left.set(line, place, form.a.integer(x) as i32));
                each_right(form, b, |line, place, x| right.set(line, place, form.b.integer(x) as i32));
                Product::Integer { left, right, saturate: form.saturate }
            }
        }
    }

    /// Adds the products of a row and of the eight columns of a group.
    fn add(&self, row: usize, group: usize, sums: &mut [u64; SIDE]) {
        match self {
            Product::Float { formats, operand, sums: [from, to], left, right } => {
                if from != to {
                    *sums = sums.map(|s| convert(s, *from, *to, Rounding::Nearest, Flags::default()));
                }
                multiply_add_row(*formats, model(*operand, *to, false), (left, row), (right, group), sums);
            }
            Product::Bytes { formats, sum, left, right } => {
                let model = model(Type::F16, *sum, false);
                let mut products = [0; SIDE];
                for half in 0..2 {
                    multiply_add_row(*formats, model, (&left[half], row), (&right[half], group), &mut products);
                }
                for (start, product) in sums.iter_mut().zip(products) {
                    *start = add(*sum, *start, product, Rounding::Nearest, Flags::default());
                }
            }
            Product::Double { rows, columns } => {
                for (i, sum) in sums.iter_mut().enumerate() {
                    *sum = multiply_add_double(&rows[row], &columns[group * SIDE + i], *sum);
                }
            }
            Product::Integer { left, right, saturate } => {
                multiply_add_integers((left, row), (right, group), *saturate, sums);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of small integers, as a function of the place.
    fn entry(seed: u32, i: u32, j: u32, signed: bool) -> i64 {
        let x = seed.wrapping_add(i * 31 + j * 7).wrapping_mul(2654435761) >> 28;
        if signed { i64::from(x) - 8 } else { i64::from(x) }
    }

    fn encode(ty: Type, value: i64) -> u64 {
        match ty.float() {
            Some(FloatKind::TF32) => u64::from((value as f32).to_bits()) | 0x1fff,
            Some(kind) => kind.from_f64(value as f64),
            None => value as u64 & ty.mask(),
        }
    }

    /// Fills registers with the elements that `place` says they hold.
    fn fill(count: usize, ty: Type, place: impl Fn(u32, u32, u32) -> i64) -> Vec<Register> {
        (0..count as u32)
            .map(|r| {
                std::array::from_fn(|lane| {
                    let per = fragment::per_word(ty.bits());
                    (0..per).fold(0, |word, e| word | encode(ty, place(lane as u32, r, e)) << (e * ty.bits()))
                })
            })
            .collect()
    }

    #[test]
    fn products_agree_with_the_naive_one() {
        use Type::*;
        let form = |m, k, a, b, c| Mma { m, n: 8, k, a, b, c, d: c, saturate: false };
        let forms = [
            form(16, 8, F16, F16, F32),
            form(16, 16, F16, F16, F32),
            form(16, 16, F16, F16, F16),
            form(16, 16, BF16, BF16, F32),
            form(16, 8, BF16, BF16, F32),
            form(16, 4, TF32, TF32, F32),
            form(16, 8, TF32, TF32, F32),
            form(16, 32, E4M3, E5M2, F32),
            form(16, 32, E5M2, E4M3, F16),
            form(8, 4, F64, F64, F64),
            form(16, 4, F64, F64, F64),
            form(16, 8, F64, F64, F64),
            form(16, 16, F64, F64, F64),
            form(16, 16, S8, U8, S32),
            form(16, 32, U8, S8, S32),
            form(8, 16, S8, S8, S32),
        ];
        for f in forms {
            assert!(f.is_known(), "{f:?}");
            let (sa, sb) = (f.a != U8, f.b != U8);
            // 8-bit floats hold few integers, so those are small.
            let small = |x: i64| if f.a.bits() == 8 && f.a.float().is_some() { x / 4 } else { x };
            let left = |i, k| small(entry(1, i, k, sa));
            let right = |k, j| small(entry(2, k, j, sb));
            let a = fill(f.left_registers(), f.a, |lane, r, e| {
                let (row, k) = fragment::left(f.m, f.a.bits(), lane, r);
                left(row, k + e)
            });
            let b = fill(f.right_registers(), f.b, |lane, r, e| {
                let (k, column) = fragment::right(f.b.bits(), lane, r);
                right(k + e, column)
            });
            let mut c = vec![[0; 32]; f.sum_registers(f.c)];
            for lane in 0..32 {
                for index in 0..f.m * f.n / 32 {
                    let (i, j) = fragment::result(f.m, lane, index);
                    put(&mut c, f.c, lane, index, encode(f.c, entry(3, i, j, true)));
                }
            }
            let d = mma(&f, &a, &b, &c);
            for lane in 0..32 {
                for index in 0..f.m * f.n / 32 {
                    let (i, j) = fragment::result(f.m, lane, index);
                    let sum = entry(3, i, j, true) + (0..f.k).map(|k| left(i, k) * right(k, j)).sum::<i64>();
                    assert_eq!(element(&d, f.d, lane, index), encode(f.d, sum), "{f:?} at {i}, {j}");
                }
            }
        }
    }

    #[test]
    fn forms_that_do_not_exist_are_unknown() {
        let f = Mma { m: 16, n: 8, k: 16, a: Type::F16, b: Type::BF16, c: Type::F32, d: Type::F32, saturate: false };
        assert!(!f.is_known());
        assert!(!Mma { b: Type::F16, k: 32, ..f }.is_known());
    }
}
