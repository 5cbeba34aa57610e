//! `wgmma.mma_async`: four warps multiply 64 rows of A by up to 256 columns of B (PTX ISA, "Asynchronous Warpgroup Level
//! Matrix Instructions", "Register Fragments and Shared Memory Matrix Layouts").
//!
//! 1. B, and A unless it is in registers, is read from shared memory through its descriptor ([`Wgmma::right`],
//!    [`Wgmma::left`]).
//! 2. Warp `w` of the group computes rows `16 · w` to `16 · w + 15` ([`wgmma`]). Its registers are those of `mma.sync`,
//!    with further eight columns in further registers.
//!
//! K covers 32 bytes: 8 tf32, 16 f16 or bf16, 32 elements of 8 bits.
//!
//! Example: `wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16` has 128 accumulator registers a lane, and 4 of A if it
//! is in registers.

use super::accumulate::{Factor, Formats, Model, model, multiply_add, multiply_add_integer};
use super::descriptor::{Descriptor, Major};
use super::fragment;
use super::mma::{Register, collect, element, factors, integers, put};
use crate::emu::num::Type;

/// Rows of a warp group.
pub const ROWS: u32 = 64;
/// Rows of a warp.
pub const WARP_ROWS: u32 = 16;

/// One form of the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wgmma {
    /// Columns of B: a multiple of 8 up to 256.
    pub n: u32,
    /// The type of A's elements.
    pub a: Type,
    /// The type of B's elements.
    pub b: Type,
    /// The type of the result's elements.
    pub d: Type,
    /// `imm-scale-a` is −1.
    pub negate_a: bool,
    /// `imm-scale-b` is −1.
    pub negate_b: bool,
    /// How A lies in shared memory.
    pub a_major: Major,
    /// How B lies in shared memory.
    pub b_major: Major,
    /// `.satfinite`
    pub saturate: bool,
}

/// The lines of an operand along K, decoded: rows of A or columns of B.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lines {
    Float(Vec<Vec<Factor>>),
    Integer(Vec<Vec<i32>>),
}

/// A of one warp, as the instruction gives it.
#[derive(Clone, Copy, Debug)]
pub enum Left<'a> {
    /// Four registers.
    Registers(&'a [Register]),
    /// All 64 rows, from shared memory.
    Shared(&'a Lines),
}

impl Wgmma {
    /// Columns of A.
    #[must_use]
    pub fn k(&self) -> u32 {
        256 / self.a.bits()
    }

    /// The accumulator's registers of a lane.
    #[must_use]
    pub fn sum_registers(&self) -> usize {
        (self.n / 2) as usize / if self.d == Type::F16 { 2 } else { 1 }
    }

    /// Whether the emulator knows this form.
    #[must_use]
    pub fn is_known(&self) -> bool {
        use Type::{BF16, E4M3, E5M2, F16, F32, S8, S32, TF32, U8};
        let sixteen = self.a.bits() == 16;
        let majors = sixteen || (self.a_major, self.b_major) == (Major::K, Major::K);
        let types = match (self.a, self.b) {
            (F16, F16) | (E4M3 | E5M2, E4M3 | E5M2) => matches!(self.d, F16 | F32) && !self.saturate,
            (BF16, BF16) | (TF32, TF32) => self.d == F32 && !self.saturate,
            (S8 | U8, S8 | U8) => self.d == S32 && !self.negate_a && !self.negate_b,
            _ => false,
        };
        types && majors && self.n.is_multiple_of(8) && (8..=256).contains(&self.n)
    }

    /// Reads the rows of A. `read` gives an element of so many bytes at an address of shared memory.
    ///
    /// # Errors
    /// The first error of `read`.
    pub fn left<E>(&self, descriptor: Descriptor, read: impl FnMut(u32, u32) -> Result<u64, E>) -> Result<Lines, E> {
        Ok(decode(self.a, &lines(ROWS, self.k(), self.a, self.a_major, descriptor, read)?, self.negate_a))
    }

    /// Reads the columns of B, like [`Wgmma::left`].
    ///
    /// # Errors
    /// The first error of `read`.
    pub fn right<E>(&self, descriptor: Descriptor, read: impl FnMut(u32, u32) -> Result<u64, E>) -> Result<Lines, E> {
        Ok(decode(self.b, &lines(self.n, self.k(), self.b, self.b_major, descriptor, read)?, self.negate_b))
    }
}

/// The lines of an operand in shared memory.
fn lines<E>(
    count: u32,
    k: u32,
    ty: Type,
    major: Major,
    descriptor: Descriptor,
    mut read: impl FnMut(u32, u32) -> Result<u64, E>,
) -> Result<Vec<Vec<u64>>, E> {
    let bytes = ty.bits() / 8;
    (0..count).map(|outer| (0..k).map(|k| read(descriptor.address(major, bytes, outer, k), bytes)).collect()).collect()
}

fn decode(ty: Type, lines: &[Vec<u64>], negate: bool) -> Lines {
    let Some(kind) = ty.float() else { return Lines::Integer(integers(ty, lines)) };
    let mut decoded = factors(kind, lines);
    if negate {
        decoded.iter_mut().flatten().for_each(|f| *f = f.negated());
    }
    Lines::Float(decoded)
}

/// The accumulator of warp `warp` (0 to 3) of the group after the instruction. `sum` holds the registers before it, or
/// is `None` if `scale-d` is false. The form is known.
#[must_use]
pub fn wgmma(form: &Wgmma, warp: u32, a: Left<'_>, b: &Lines, sum: Option<&[Register]>) -> Vec<Register> {
    let own;
    let (rows, first) = match a {
        Left::Shared(lines) => (lines, warp * WARP_ROWS),
        Left::Registers(registers) => {
            let place = |lane, r| fragment::left(WARP_ROWS, form.a.bits(), lane, r);
            own = decode(form.a, &collect(WARP_ROWS, form.k(), form.a, registers, place), form.negate_a);
            (&own, 0)
        }
    };
    let product = Product::new(form, rows, b);
    let mut out = vec![[0; 32]; form.sum_registers()];
    for lane in 0..32 {
        for index in 0..form.n / 2 {
            let (row, column) = fragment::result(WARP_ROWS, lane, index);
            let start = sum.map_or(0, |registers| element(registers, form.d, lane, index));
            put(&mut out, form.d, lane, index, product.at((first + row) as usize, column as usize, start));
        }
    }
    out
}

/// Both operands.
enum Product<'a> {
    Float {
        formats: Formats,
        model: Model,
        rows: &'a [Vec<Factor>],
        columns: &'a [Vec<Factor>],
    },
    Integer {
        rows: &'a [Vec<i32>],
        columns: &'a [Vec<i32>],
        saturate: bool,
    },
    /// Operands of unlike kinds, which no form has.
    Nothing,
}

impl<'a> Product<'a> {
    fn new(form: &Wgmma, rows: &'a Lines, columns: &'a Lines) -> Product<'a> {
        match (rows, columns, form.a.float(), form.b.float(), form.d.float()) {
            (Lines::Float(rows), Lines::Float(columns), Some(left), Some(right), Some(sum)) => Product::Float {
                formats: Formats { left, right, sum },
                model: model(form.a, form.d, true),
                rows,
                columns,
            },
            (Lines::Integer(rows), Lines::Integer(columns), ..) => {
                Product::Integer { rows, columns, saturate: form.saturate }
            }
            _ => Product::Nothing,
        }
    }

    fn at(&self, row: usize, column: usize, start: u64) -> u64 {
        match self {
            Product::Float { formats, model, rows, columns } => {
                multiply_add(*formats, *model, &rows[row], &columns[column], start)
            }
            Product::Integer { rows, columns, saturate } => {
                multiply_add_integer(&rows[row], &columns[column], start, *saturate)
            }
            Product::Nothing => start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::swizzle::Swizzle;
    use super::*;
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    fn entry(seed: u32, i: u32, j: u32) -> i64 {
        i64::from(seed.wrapping_add(i * 31 + j * 7).wrapping_mul(2654435761) >> 29) - 4
    }

    fn encode(ty: Type, value: i64) -> u64 {
        ty.float().map_or(value as u64 & ty.mask(), |kind| match ty {
            Type::TF32 => u64::from((value as f32).to_bits()),
            _ => kind.from_f64(value as f64),
        })
    }

    fn check(form: Wgmma, swizzle: Swizzle, in_registers: bool) {
        assert!(form.is_known(), "{form:?}");
        let span = swizzle.span();
        // Tiles lie apart along both axes, without overlap.
        let d = |start| Descriptor {
            start,
            leading: 16384,
            stride: if swizzle == Swizzle::None { 256 } else { 8 * span },
            base_offset: 0,
            swizzle,
        };
        let mut memory = BTreeMap::new();
        let (sign_a, sign_b) = (if form.negate_a { -1 } else { 1 }, if form.negate_b { -1 } else { 1 });
        let bytes = form.a.bits() / 8;
        for k in 0..form.k() {
            for i in 0..ROWS {
                memory.insert(d(0).address(form.a_major, bytes, i, k), encode(form.a, entry(1, i, k)));
            }
            for j in 0..form.n {
                memory.insert(d(65536 * 2).address(form.b_major, bytes, j, k), encode(form.b, entry(2, k, j)));
            }
        }
        assert_eq!(memory.len() as u32, form.k() * (ROWS + form.n), "no two elements share a place");
        let read = |at: u32, _| Ok::<_, Infallible>(memory[&at]);
        let left = form.left(d(0), read).unwrap();
        let right = form.right(d(65536 * 2), read).unwrap();
        for warp in 0..4 {
            let per = fragment::per_word(form.a.bits());
            let registers: Vec<Register> = (0..4)
                .map(|r| {
                    std::array::from_fn(|lane| {
                        let (row, k) = fragment::left(WARP_ROWS, form.a.bits(), lane as u32, r);
                        (0..per)
                            .fold(0, |w, e| w | encode(form.a, entry(1, 16 * warp + row, k + e)) << (e * form.a.bits()))
                    })
                })
                .collect();
            let a = if in_registers { Left::Registers(&registers) } else { Left::Shared(&left) };
            let mut start = vec![[0; 32]; form.sum_registers()];
            for lane in 0..32 {
                for index in 0..form.n / 2 {
                    put(&mut start, form.d, lane, index, encode(form.d, 3));
                }
            }
            let sums = [(wgmma(&form, warp, a, &right, None), 0), (wgmma(&form, warp, a, &right, Some(&start)), 3)];
            for (out, first) in sums {
                for lane in 0..32 {
                    for index in 0..form.n / 2 {
                        let (row, column) = fragment::result(WARP_ROWS, lane, index);
                        let sum: i64 = (0..form.k()).map(|k| entry(1, 16 * warp + row, k) * entry(2, k, column)).sum();
                        let expected = encode(form.d, sum * sign_a * sign_b + first);
                        assert_eq!(element(&out, form.d, lane, index), expected, "{form:?} {swizzle:?} {row} {column}");
                    }
                }
            }
        }
    }

    #[test]
    fn products_agree_with_the_naive_one() {
        use Type::*;
        let plain = Wgmma {
            n: 64,
            a: F16,
            b: F16,
            d: F32,
            negate_a: false,
            negate_b: false,
            a_major: Major::K,
            b_major: Major::K,
            saturate: false,
        };
        for swizzle in [Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128] {
            for (a, b, d) in [(F16, F16, F32), (F16, F16, F16), (BF16, BF16, F32), (TF32, TF32, F32), (S8, S8, S32)] {
                check(Wgmma { a, b, d, n: 24, ..plain }, swizzle, false);
                check(Wgmma { a, b, d, n: 8, ..plain }, swizzle, true);
            }
            check(Wgmma { a_major: Major::Mn, b_major: Major::Mn, ..plain }, swizzle, false);
            check(Wgmma { b_major: Major::Mn, negate_a: true, ..plain }, swizzle, true);
        }
        check(Wgmma { negate_b: true, n: 256, ..plain }, Swizzle::Bytes128, false);
        check(Wgmma { a: E4M3, b: E5M2, n: 16, ..plain }, Swizzle::Bytes64, false);
    }

    #[test]
    fn forms_that_do_not_exist_are_unknown() {
        let tf32 = Wgmma {
            n: 8,
            a: Type::TF32,
            b: Type::TF32,
            d: Type::F32,
            negate_a: false,
            negate_b: false,
            a_major: Major::K,
            b_major: Major::Mn,
            saturate: false,
        };
        assert!(!tf32.is_known(), "only elements of 16 bits can lie along M or N");
        assert!(!Wgmma { b_major: Major::K, n: 12, ..tf32 }.is_known());
    }
}
