//! AMD's matrix instructions: `mfma` of CDNA and `wmma` of RDNA, as data.
//!
//! An instruction multiplies a tile of M×K by one of K×N and adds to one of M×N. Each lane of the wave holds
//! [`MatrixInstr::held`] neighbours along K of either operand. Tiles of 64×4 and 4×64 are sixteen small products at
//! once, whose sums are the tile's.
//!
//! Sources: AMD, "AMD Instinct MI200" to "CDNA4 instruction set architecture", chapter "Matrix arithmetic
//! instructions"; "RDNA3" and "RDNA4 instruction set architecture", chapter "Wave matrix multiply accumulate"; the
//! names are those of LLVM's intrinsic functions (`IntrinsicsAMDGPU.td`), without `llvm.amdgcn.`.

use MatrixElem::{Bf8, Bf8Fnuz, Bf16, F8f6f4, F16, F32, F64, Fp8, Fp8Fnuz, I8, Xf32};

use super::Family;
use crate::target::Target;

/// What an element of an operand is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MatrixElem {
    F64,
    F32,
    /// An f32 of which the instruction reads the 19 bits of a tf32.
    Xf32,
    F16,
    Bf16,
    /// `f8E4M3FNUZ` and `f8E5M2FNUZ`.
    Fp8Fnuz,
    Bf8Fnuz,
    /// `f8E4M3FN` and `f8E5M2`.
    Fp8,
    Bf8,
    I8,
    /// Any float of 8, 6 or 4 bits: the instruction is told which.
    F8f6f4,
}

impl MatrixElem {
    /// By the name that the type has in text.
    #[must_use]
    pub fn named(name: &str) -> Option<MatrixElem> {
        Some(match name {
            "f64" => F64,
            "f32" => F32,
            "f16" => F16,
            "bf16" => Bf16,
            "f8E4M3FNUZ" => Fp8Fnuz,
            "f8E5M2FNUZ" => Bf8Fnuz,
            "f8E4M3FN" => Fp8,
            "f8E5M2" => Bf8,
            "i8" => I8,
            _ => return None,
        })
    }
}

/// The unit that multiplies matrices, by its version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatrixUnit {
    /// 2 is CDNA2, 3 is CDNA3, 4 is CDNA4.
    Mfma(u32),
    /// 1 is RDNA3, 2 is RDNA4.
    Wmma(u32),
}

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatrixInstr {
    /// The intrinsic function, without `llvm.amdgcn.`.
    pub name: &'static str,
    pub m: u32,
    pub n: u32,
    pub k: u32,
    /// Elements of an operand in a lane.
    pub held: u32,
    a: MatrixElem,
    b: MatrixElem,
    /// The versions that have it, first and last.
    versions: (u32, u32),
}

const fn row(
    versions: (u32, u32),
    (m, n, k): (u32, u32, u32),
    held: u32,
    (a, b): (MatrixElem, MatrixElem),
    name: &'static str,
) -> MatrixInstr {
    MatrixInstr { name, m, n, k, held, a, b, versions }
}

/// Of instructions that differ in K only, the longer one stands first.
#[rustfmt::skip]
static MFMA: &[MatrixInstr] = &[
    row((2, 4), (16, 16, 4), 1, (F64, F64), "mfma.f64.16x16x4f64"),
    row((2, 4), (32, 32, 2), 1, (F32, F32), "mfma.f32.32x32x2f32"),
    row((2, 4), (16, 16, 4), 1, (F32, F32), "mfma.f32.16x16x4f32"),
    row((2, 4), (4, 64, 16), 1, (F32, F32), "mfma.f32.4x4x1f32"),
    row((2, 4), (64, 4, 16), 1, (F32, F32), "mfma.f32.4x4x1f32"),
    row((3, 3), (16, 16, 8), 2, (Xf32, Xf32), "mfma.f32.16x16x8.xf32"),
    row((3, 3), (32, 32, 4), 2, (Xf32, Xf32), "mfma.f32.32x32x4.xf32"),
    row((4, 4), (32, 32, 16), 8, (F16, F16), "mfma.f32.32x32x16.f16"),
    row((2, 4), (32, 32, 8), 4, (F16, F16), "mfma.f32.32x32x8f16"),
    row((4, 4), (16, 16, 32), 8, (F16, F16), "mfma.f32.16x16x32.f16"),
    row((2, 4), (16, 16, 16), 4, (F16, F16), "mfma.f32.16x16x16f16"),
    row((2, 4), (4, 64, 64), 4, (F16, F16), "mfma.f32.4x4x4f16"),
    row((2, 4), (64, 4, 64), 4, (F16, F16), "mfma.f32.4x4x4f16"),
    row((4, 4), (32, 32, 16), 8, (Bf16, Bf16), "mfma.f32.32x32x16.bf16"),
    row((2, 4), (32, 32, 8), 4, (Bf16, Bf16), "mfma.f32.32x32x8bf16.1k"),
    row((2, 2), (32, 32, 4), 2, (Bf16, Bf16), "mfma.f32.32x32x4bf16"),
    row((4, 4), (16, 16, 32), 8, (Bf16, Bf16), "mfma.f32.16x16x32.bf16"),
    row((2, 4), (16, 16, 16), 4, (Bf16, Bf16), "mfma.f32.16x16x16bf16.1k"),
    row((2, 2), (16, 16, 8), 2, (Bf16, Bf16), "mfma.f32.16x16x8bf16"),
    row((2, 4), (4, 64, 64), 4, (Bf16, Bf16), "mfma.f32.4x4x4bf16.1k"),
    row((2, 4), (64, 4, 64), 4, (Bf16, Bf16), "mfma.f32.4x4x4bf16.1k"),
    row((3, 3), (32, 32, 16), 8, (Fp8Fnuz, Fp8Fnuz), "mfma.f32.32x32x16.fp8.fp8"),
    row((3, 3), (32, 32, 16), 8, (Fp8Fnuz, Bf8Fnuz), "mfma.f32.32x32x16.fp8.bf8"),
    row((3, 3), (32, 32, 16), 8, (Bf8Fnuz, Fp8Fnuz), "mfma.f32.32x32x16.bf8.fp8"),
    row((3, 3), (32, 32, 16), 8, (Bf8Fnuz, Bf8Fnuz), "mfma.f32.32x32x16.bf8.bf8"),
    row((3, 3), (16, 16, 32), 8, (Fp8Fnuz, Fp8Fnuz), "mfma.f32.16x16x32.fp8.fp8"),
    row((3, 3), (16, 16, 32), 8, (Fp8Fnuz, Bf8Fnuz), "mfma.f32.16x16x32.fp8.bf8"),
    row((3, 3), (16, 16, 32), 8, (Bf8Fnuz, Fp8Fnuz), "mfma.f32.16x16x32.bf8.fp8"),
    row((3, 3), (16, 16, 32), 8, (Bf8Fnuz, Bf8Fnuz), "mfma.f32.16x16x32.bf8.bf8"),
    row((4, 4), (32, 32, 16), 8, (Fp8, Fp8), "mfma.f32.32x32x16.fp8.fp8"),
    row((4, 4), (32, 32, 16), 8, (Fp8, Bf8), "mfma.f32.32x32x16.fp8.bf8"),
    row((4, 4), (32, 32, 16), 8, (Bf8, Fp8), "mfma.f32.32x32x16.bf8.fp8"),
    row((4, 4), (32, 32, 16), 8, (Bf8, Bf8), "mfma.f32.32x32x16.bf8.bf8"),
    row((4, 4), (16, 16, 32), 8, (Fp8, Fp8), "mfma.f32.16x16x32.fp8.fp8"),
    row((4, 4), (16, 16, 32), 8, (Fp8, Bf8), "mfma.f32.16x16x32.fp8.bf8"),
    row((4, 4), (16, 16, 32), 8, (Bf8, Fp8), "mfma.f32.16x16x32.bf8.fp8"),
    row((4, 4), (16, 16, 32), 8, (Bf8, Bf8), "mfma.f32.16x16x32.bf8.bf8"),
    row((4, 4), (32, 32, 32), 16, (I8, I8), "mfma.i32.32x32x32.i8"),
    row((3, 4), (32, 32, 16), 8, (I8, I8), "mfma.i32.32x32x16.i8"),
    row((2, 2), (32, 32, 8), 4, (I8, I8), "mfma.i32.32x32x8i8"),
    row((4, 4), (16, 16, 64), 16, (I8, I8), "mfma.i32.16x16x64.i8"),
    row((3, 4), (16, 16, 32), 8, (I8, I8), "mfma.i32.16x16x32.i8"),
    row((2, 2), (16, 16, 16), 4, (I8, I8), "mfma.i32.16x16x16i8"),
    row((2, 4), (4, 64, 64), 4, (I8, I8), "mfma.i32.4x4x4i8"),
    row((2, 4), (64, 4, 64), 4, (I8, I8), "mfma.i32.4x4x4i8"),
    row((4, 4), (16, 16, 128), 32, (F8f6f4, F8f6f4), "mfma.scale.f32.16x16x128.f8f6f4"),
    row((4, 4), (32, 32, 64), 32, (F8f6f4, F8f6f4), "mfma.scale.f32.32x32x64.f8f6f4"),
];

#[rustfmt::skip]
static WMMA: &[MatrixInstr] = &[
    row((1, 1), (16, 16, 16), 16, (F16, F16), "wmma.f32.16x16x16.f16"),
    row((2, 2), (16, 16, 16), 8, (F16, F16), "wmma.f32.16x16x16.f16"),
    row((1, 1), (16, 16, 16), 16, (Bf16, Bf16), "wmma.f32.16x16x16.bf16"),
    row((2, 2), (16, 16, 16), 8, (Bf16, Bf16), "wmma.f32.16x16x16.bf16"),
    row((2, 2), (16, 16, 16), 8, (Fp8, Fp8), "wmma.f32.16x16x16.fp8.fp8"),
    row((2, 2), (16, 16, 16), 8, (Fp8, Bf8), "wmma.f32.16x16x16.fp8.bf8"),
    row((2, 2), (16, 16, 16), 8, (Bf8, Fp8), "wmma.f32.16x16x16.bf8.fp8"),
    row((2, 2), (16, 16, 16), 8, (Bf8, Bf8), "wmma.f32.16x16x16.bf8.bf8"),
    row((1, 1), (16, 16, 16), 16, (I8, I8), "wmma.i32.16x16x16.iu8"),
    row((2, 2), (16, 16, 16), 8, (I8, I8), "wmma.i32.16x16x16.iu8"),
];

impl MatrixInstr {
    /// The last word of the name.
    #[must_use]
    pub fn last_word(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or_default()
    }
}

impl MatrixUnit {
    /// The instructions for a tile of M×N and these operands, the longest K first.
    pub fn instructions(self, (m, n): (u32, u32), (a, b): (MatrixElem, MatrixElem)) -> Vec<&'static MatrixInstr> {
        let (table, version) = match self {
            MatrixUnit::Mfma(version) => (MFMA, version),
            MatrixUnit::Wmma(version) => (WMMA, version),
        };
        let has = |i: &&MatrixInstr| {
            (i.m, i.n, i.a, i.b) == (m, n, a, b) && i.versions.0 <= version && version <= i.versions.1
        };
        table.iter().filter(has).collect()
    }

    /// The instruction for operands with `k_size` elements along K: the longest that they fill, or else the shortest.
    #[must_use]
    pub fn choose(
        self,
        tile: (u32, u32),
        k_size: i64,
        operands: (MatrixElem, MatrixElem),
    ) -> Option<&'static MatrixInstr> {
        let all = self.instructions(tile, operands);
        all.iter().find(|i| i64::from(i.k) <= k_size).or(all.last()).copied()
    }
}

impl Target {
    /// The unit that multiplies matrices; `None` for another vendor's GPU.
    #[must_use]
    pub fn matrix_unit(&self) -> Option<MatrixUnit> {
        Some(match self.amd()?.family {
            Family::Cdna2 => MatrixUnit::Mfma(2),
            Family::Cdna3 => MatrixUnit::Mfma(3),
            Family::Cdna4 => MatrixUnit::Mfma(4),
            Family::Rdna3 => MatrixUnit::Wmma(1),
            Family::Rdna4 => MatrixUnit::Wmma(2),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lanes_hold_an_operand() {
        // 64 lanes of `mfma` hold either operand once; of the sixteen small products, too. In `wmma` of version 1 both
        // halves of the wave hold it.
        for i in MFMA {
            assert_eq!(64 * i.held, i.m.min(i.n) * i.k, "{i:?}");
        }
        for i in WMMA {
            let copies = if i.versions.1 == 1 { 2 } else { 1 };
            assert_eq!(32 * i.held, copies * i.m * i.k, "{i:?}");
        }
    }

    #[test]
    fn names_state_the_tile() {
        for i in MFMA.iter().chain(WMMA).filter(|i| i.m == i.n) {
            assert!(i.name.contains(&format!("{}x{}x{}", i.m, i.n, i.k)), "{i:?}");
        }
    }

    #[test]
    fn the_longest_k_that_is_filled() {
        let choose = |version, k| MatrixUnit::Mfma(version).choose((16, 16), k, (F16, F16)).map(|i| i.k);
        assert_eq!(
            (choose(4, 64), choose(4, 32), choose(4, 16), choose(4, 8)),
            (Some(32), Some(32), Some(16), Some(16))
        );
        assert_eq!((choose(3, 64), MatrixUnit::Wmma(1).choose((16, 16), 64, (Fp8, Fp8))), (Some(16), None));
    }
}
