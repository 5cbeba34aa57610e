//! `wgmma.mma_async`: four warps multiply 64 rows of A by up to 256 columns of B (PTX ISA, "Asynchronous Warpgroup
//! Level Matrix Instructions", "Register Fragments and Shared Memory Matrix Layouts").
//!
//! 1. B, and A unless it is in registers, is read from shared memory through its descriptor ([`Wgmma::right`],
//!    [`Wgmma::left`]).
//! 2. Warp `w` of the group computes rows `16 · w` to `16 · w + 15` ([`wgmma`]). Its registers are those of `mma.sync`,
//!    with further eight columns in further registers.
//!
//! K covers 32 bytes: 8 tf32, 16 f16 or bf16, 32 elements of 8 bits.
//!
//! Example: `wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16` has 128 accumulator registers a lane, and 4 of A if
//! it is in registers.

use std::convert::Infallible;

use super::accumulate::{Formats, Model, model};
use super::descriptor::{Descriptor, Major};
use super::fragment;
use super::mma::{Register, each_element, put_sums, sums};
use super::tile::{Floats, Integers, SIDE, multiply_add_integers, multiply_add_row};
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
#[derive(Clone, PartialEq, Debug)]
pub enum Lines {
    Float(Floats),
    Integer(Integers),
}

impl Lines {
    /// Lines whose elements `fill` sets: it is given what takes a line, a place along K and a pattern.
    fn new<E>(
        ty: Type,
        (lines, k): (u32, u32),
        negate: bool,
        fill: impl FnOnce(&mut dyn FnMut(usize, usize, u64)) -> Result<(), E>,
    ) -> Result<Lines, E> {
        let (lines, k) = (lines as usize, k as usize);
        if let Some(kind) = ty.float() {
            let mut floats = Floats::new(kind, lines, k);
            fill(&mut |line, place, x| floats.set(line, place, x))?;
            return Ok(Lines::Float(floats.decode(negate)));
        }
        let mut integers = Integers::new(lines, k);
        fill(&mut |line, place, x| integers.set(line, place, ty.integer(x) as i32))?;
        Ok(Lines::Integer(integers))
    }

    /// Lines in shared memory.
    fn shared<E>(
        ty: Type,
        (lines, k): (u32, u32),
        negate: bool,
        (descriptor, major): (Descriptor, Major),
        mut read: impl FnMut(u32, u32) -> Result<u64, E>,
    ) -> Result<Lines, E> {
        let bytes = ty.bits() / 8;
        Lines::new(ty, (lines, k), negate, |set| {
            for outer in 0..lines {
                for place in 0..k {
                    let x = read(descriptor.address(major, bytes, outer, place), bytes)?;
                    set(outer as usize, place as usize, x);
                }
            }
            Ok(())
        })
    }
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
        Lines::shared(self.a, (ROWS, self.k()), self.negate_a, (descriptor, self.a_major), read)
    }

    /// Reads the columns of B, like [`Wgmma::left`].
    ///
    /// # Errors
    /// The first error of `read`.
    pub fn right<E>(&self, descriptor: Descriptor, read: impl FnMut(u32, u32) -> Result<u64, E>) -> Result<Lines, E> {
        Lines::shared(self.b, (self.n, self.k()), self.negate_b, (descriptor, self.b_major), read)
    }
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
            let Ok(lines) = Lines::new(form.a, (WARP_ROWS, form.k()), form.negate_a, |set| {
                each_element(form.a, registers, place, set);
                Ok::<_, Infallible>(())
            });
            own = lines;
            (&own, 0)
        }
    };
    let product = Product::new(form, rows, b);
    let mut out = vec![[0; 32]; form.sum_registers()];
    for row in 0..WARP_ROWS {
        for group in 0..form.n / SIDE as u32 {
            let mut sums = sum.map_or([0; SIDE], |registers| sums(registers, form.d, WARP_ROWS, row, group));
            product.add((first + row) as usize, group as usize, &mut sums);
            put_sums(&mut out, form.d, WARP_ROWS, row, group, &sums);
        }
    }
    out
}

/// Both operands.
enum Product<'a> {
    Float {
        formats: Formats,
        model: Model,
        left: &'a Floats,
        right: &'a Floats,
    },
    Integer {
        left: &'a Integers,
        right: &'a Integers,
        saturate: bool,
    },
    /// Operands of unlike kinds, which no form has.
    Nothing,
}

impl<'a> Product<'a> {
    fn new(form: &Wgmma, left: &'a Lines, right: &'a Lines) -> Product<'a> {
        match (left, right, form.a.float(), form.b.float(), form.d.float()) {
            (Lines::Float(left), Lines::Float(right), Some(a), Some(b), Some(sum)) => Product::Float {
                formats: Formats { left: a, right: b, sum },
                model: model(form.a, form.d, true),
                left,
                right,
            },
            (Lines::Integer(left), Lines::Integer(right), ..) => {
                Product::Integer { left, right, saturate: form.saturate }
            }
            _ => Product::Nothing,
        }
    }

    /// Adds the products of a row and of the eight columns of a group.
    fn add(&self, row: usize, group: usize, sums: &mut [u64; SIDE]) {
        match self {
            Product::Float { formats, model, left, right } => {
                multiply_add_row(*formats, *model, (left, row), (right, group), sums);
            }
            Product::Integer { left, right, saturate } => {
                multiply_add_integers((left, row), (right, group), *saturate, sums);
            }
            Product::Nothing => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mma::{element, put};
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
