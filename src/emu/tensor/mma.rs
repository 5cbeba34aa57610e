//! `mma.sync`: the product of two fragments (PTX ISA, "Multiply-and-Accumulate Instruction: mma").
//!
//! 1. The elements of A and B are collected from the lanes ([`super::fragment`]).
//! 2. Each element of the result is the sum of a row times a column ([`super::accumulate`]).
//!
//! On sm_90 there is no instruction for products of 8-bit floats within a warp. `ptxas` converts the operands to f16 and
//! multiplies twice: first the first two elements of every word, from zero; then the other two, on top of that. The
//! result is added to the accumulator in f32. This file does the same.
//!
//! Example: `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32` is `Mma { m: 16, n: 8, k: 16, a: F16, b: F16, c: F32,
//! d: F32, saturate: false }`, with 4 registers of A, 2 of B, and 4 of C.

use super::accumulate::{Factor, Formats, model, multiply_add, multiply_add_double, multiply_add_integer};
use super::fragment;
use crate::emu::num::{Flags, Rounding, Type, add, convert};
use crate::ir::FloatKind;

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
    let rows = collect(form.m, form.k, form.a, a, |lane, r| fragment::left(form.m, form.a.bits(), lane, r));
    let columns = collect(form.n, form.k, form.b, b, |lane, r| {
        let (k, column) = fragment::right(form.b.bits(), lane, r);
        (column, k)
    });
    let product = Product::new(form, &rows, &columns);
    let mut out = vec![[0; 32]; form.sum_registers(form.d)];
    for lane in 0..32 {
        for index in 0..form.m * form.n / 32 {
            let (row, column) = fragment::result(form.m, lane, index);
            let start = element(c, form.c, lane, index);
            let value = product.at(row as usize, column as usize, start);
            put(&mut out, form.d, lane, index, value);
        }
    }
    out
}

/// The element `index` of a lane's accumulator.
pub(super) fn element(registers: &[Register], ty: Type, lane: u32, index: u32) -> u64 {
    let per = packed(ty) as u32;
    registers[(index / per) as usize][lane as usize] >> (index % per * ty.bits()) & ty.mask()
}

/// Sets the element `index` of a lane's accumulator, which was 0.
pub(super) fn put(registers: &mut [Register], ty: Type, lane: u32, index: u32, value: u64) {
    let per = packed(ty) as u32;
    registers[(index / per) as usize][lane as usize] |= value << (index % per * ty.bits());
}

/// The lines of an operand, each along K, from a warp's registers. `place` gives the line and the first place along K of
/// a register of a lane.
pub(super) fn collect(
    lines: u32,
    k: u32,
    ty: Type,
    registers: &[Register],
    place: impl Fn(u32, u32) -> (u32, u32),
) -> Vec<Vec<u64>> {
    let mut out = vec![vec![0; k as usize]; lines as usize];
    for (r, register) in registers.iter().enumerate() {
        for (lane, &word) in register.iter().enumerate() {
            let (line, first) = place(lane as u32, r as u32);
            for e in 0..fragment::per_word(ty.bits()) {
                out[line as usize][(first + e) as usize] = word >> (e * ty.bits()) & ty.mask();
            }
        }
    }
    out
}

/// The operands of an instruction, decoded.
enum Product {
    Float { formats: Formats, operand: Type, sums: [Type; 2], rows: Vec<Vec<Factor>>, columns: Vec<Vec<Factor>> },
    Bytes { formats: Formats, sum: Type, rows: Vec<[Vec<Factor>; 2]>, columns: Vec<[Vec<Factor>; 2]> },
    Double { rows: Vec<Vec<u64>>, columns: Vec<Vec<u64>> },
    Integer { rows: Vec<Vec<i32>>, columns: Vec<Vec<i32>>, saturate: bool },
}

impl Product {
    fn new(form: &Mma, rows: &[Vec<u64>], columns: &[Vec<u64>]) -> Product {
        let kinds = (form.a.float(), form.b.float(), form.d.float());
        match kinds {
            (Some(FloatKind::F64), ..) => Product::Double { rows: rows.to_vec(), columns: columns.to_vec() },
            (Some(left), Some(right), Some(sum)) if left.is_fp8() && right.is_fp8() => Product::Bytes {
                formats: Formats { left: FloatKind::F16, right: FloatKind::F16, sum },
                sum: form.d,
                rows: rows.iter().map(|line| halves(form.a, line)).collect(),
                columns: columns.iter().map(|line| halves(form.b, line)).collect(),
            },
            (Some(left), Some(right), Some(sum)) => Product::Float {
                formats: Formats { left, right, sum },
                operand: form.a,
                sums: [form.c, form.d],
                rows: factors(left, rows),
                columns: factors(right, columns),
            },
            _ => Product::Integer {
                rows: integers(form.a, rows),
                columns: integers(form.b, columns),
                saturate: form.saturate,
            },
        }
    }

    /// An element of the result, from the accumulator's.
    fn at(&self, row: usize, column: usize, start: u64) -> u64 {
        match self {
            Product::Float { formats, operand, sums: [from, to], rows, columns } => {
                let start = convert(start, *from, *to, Rounding::Nearest, Flags::default());
                multiply_add(*formats, model(*operand, *to, false), &rows[row], &columns[column], start)
            }
            Product::Bytes { formats, sum, rows, columns } => {
                let model = model(Type::F16, *sum, false);
                let product = (0..2)
                    .fold(0, |sum, half| multiply_add(*formats, model, &rows[row][half], &columns[column][half], sum));
                add(*sum, start, product, Rounding::Nearest, Flags::default())
            }
            Product::Double { rows, columns } => multiply_add_double(&rows[row], &columns[column], start),
            Product::Integer { rows, columns, saturate } => {
                multiply_add_integer(&rows[row], &columns[column], start, *saturate)
            }
        }
    }
}

/// Decodes lines of floats.
pub(super) fn factors(kind: FloatKind, lines: &[Vec<u64>]) -> Vec<Vec<Factor>> {
    lines.iter().map(|line| line.iter().map(|&x| Factor::new(kind, x)).collect()).collect()
}

/// Decodes lines of 8-bit integers.
pub(super) fn integers(ty: Type, lines: &[Vec<u64>]) -> Vec<Vec<i32>> {
    lines.iter().map(|line| line.iter().map(|&x| ty.integer(x) as i32).collect()).collect()
}

/// A line of 8-bit floats in f16: the first two of every four, and the other two.
fn halves(ty: Type, line: &[u64]) -> [Vec<Factor>; 2] {
    let half = |x: u64| Factor::new(FloatKind::F16, convert(x, ty, Type::F16, Rounding::Nearest, Flags::default()));
    [0, 2].map(|first| line.chunks(4).flat_map(|four| four[first..first + 2].iter().map(|&x| half(x))).collect())
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
