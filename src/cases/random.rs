//! The contents of a case's buffers: numbers that depend on nothing but the case, so that a GPU, the interpreter and a
//! reference get the same.
//!
//! 1. Number `i` of a stream is `mix(seed + (i + 1) * GAMMA)`, the generator SplitMix64 (Steele, Lea, Flood 2014) as a
//!    function of a counter: it needs no state, and NumPy computes it for a whole array at once (`scripts/gpu/cases.py`
//!    does, bit for bit).
//! 2. `uniform` takes the upper 53 bits of number `i`. `normal` adds the twelve groups of 21 bits of the numbers `4 i`
//!    to `4 i + 3`, less their mean: a bell curve of variance 1 that ends at ±6, from integers alone, so that no
//!    library's logarithm can differ.
//! 3. Values are computed in f64 and rounded to f32, then to the element's type, to nearest even; integers wrap.
//!
//! Example: seed 0 begins with 0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4.

use crate::ir::{FloatKind, Type, TypeData};
use crate::irgen::types::Dtype;

/// What a buffer holds before the launch.
#[derive(Clone, PartialEq, Debug)]
pub enum Fill {
    /// Nothing. Reading it is a fault.
    Poison,
    /// Mean and standard deviation.
    Normal(f64, f64),
    /// Numbers from the first on, below the second.
    Uniform(f64, f64),
    /// Integers from the first on, below the second.
    Randint(i64, i64),
    /// The numbers 0 to n - 1 in some order.
    Permutation,
    /// 0, 1, 2, …
    Arange,
    Constant(f64),
    /// Every element by itself.
    Each(Vec<f64>),
}

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Number `i` of the stream of a seed.
#[must_use]
pub fn number(seed: u64, i: u64) -> u64 {
    let z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(GAMMA));
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Number `i` of a stream, as a number in [0, 1).
fn unit(seed: u64, i: u64) -> f64 {
    (number(seed, i) >> 11) as f64 * (0.5f64).powi(53)
}

/// Number `i` of a bell curve with mean 0 and variance 1.
fn bell(seed: u64, i: u64) -> f64 {
    let group = |z: u64| (z & 0x1f_ffff) + (z >> 21 & 0x1f_ffff) + (z >> 42 & 0x1f_ffff);
    let sum: u64 = (0..4).map(|k| group(number(seed, 4 * i + k))).sum();
    (sum as f64 - 6.0 * 2_097_151.0) / 2_097_152.0
}

/// The `n` values of a fill, before they are rounded. Poison gives zeros.
pub fn values(fill: &Fill, seed: u64, n: usize) -> impl Iterator<Item = f64> {
    let mut order: Vec<u64> = vec![];
    if *fill == Fill::Permutation {
        order.extend(0..n as u64);
        order.sort_by_key(|&i| number(seed, i));
    }
    (0..n as u64).map(move |i| match fill {
        Fill::Poison => 0.0,
        Fill::Normal(mean, deviation) => mean + deviation * bell(seed, i),
        Fill::Uniform(lo, hi) => lo + (hi - lo) * unit(seed, i),
        Fill::Randint(lo, hi) => {
            let width = hi.wrapping_sub(*lo).max(1) as u64;
            lo.wrapping_add((number(seed, i) % width) as i64) as f64
        }
        Fill::Permutation => order[i as usize] as f64,
        Fill::Arange => i as f64,
        Fill::Constant(v) => *v,
        Fill::Each(values) => values[i as usize],
    })
}

/// The bytes of values as elements of a type.
#[must_use]
pub fn encode(dtype: Dtype, values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    let (size, values) = (element_size(dtype), values.into_iter());
    let mut out = Vec::with_capacity(values.size_hint().0 * size);
    for v in values {
        out.extend_from_slice(&bits(dtype, v).to_le_bytes()[..size]);
    }
    out
}

fn bits(dtype: Dtype, v: f64) -> u64 {
    match *dtype.to_ir() {
        TypeData::Float(FloatKind::F64) => v.to_bits(),
        TypeData::Float(FloatKind::F32) => u64::from((v as f32).to_bits()),
        TypeData::Float(kind) => kind.from_f64(f64::from(v as f32)),
        TypeData::Int(1) => u64::from(v != 0.0),
        _ => v as i128 as u64,
    }
}

/// The values of the elements in `bytes`. Integers have the sign of their type.
#[must_use]
pub fn decode(dtype: Dtype, bytes: &[u8]) -> Vec<f64> {
    let ty: Type = dtype.to_ir();
    let one = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_le_bytes(word);
        match *ty {
            TypeData::Float(FloatKind::F64) => f64::from_bits(bits),
            TypeData::Float(FloatKind::F32) => f64::from(f32::from_bits(bits as u32)),
            TypeData::Float(kind) => kind.to_f64(bits),
            TypeData::Int(1) => (bits & 1) as f64,
            TypeData::Int(w) if dtype.is_signed() => ((bits << (64 - w)) as i64 >> (64 - w)) as f64,
            _ => bits as f64,
        }
    };
    bytes.chunks_exact(element_size(dtype)).map(one).collect()
}

/// Bytes of an element in memory.
#[must_use]
pub fn element_size(dtype: Dtype) -> usize {
    (dtype.bits() as usize).div_ceil(8).max(1)
}

/// The seed of a buffer. It depends on the case, the argument and the shape, so that configurations share the contents
/// of a buffer if they differ in nothing that it depends on.
#[must_use]
pub fn seed(case: &str, argument: &str, shape: &[usize]) -> u64 {
    // FNV-1a, 64 bits.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in format!("{case}/{argument}/{shape:?}").bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix() {
        assert_eq!((number(0, 0), number(0, 1)), (0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4));
    }

    #[test]
    fn distributions_have_their_moments() {
        let moments = |v: &[f64]| {
            let mean = v.iter().sum::<f64>() / v.len() as f64;
            (mean, v.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / v.len() as f64)
        };
        let (mean, variance) = moments(&values(&Fill::Normal(2.0, 3.0), 7, 100_000).collect::<Vec<_>>());
        assert!((mean - 2.0).abs() < 0.05 && (variance - 9.0).abs() < 0.2, "{mean} {variance}");
        let (mean, variance) = moments(&values(&Fill::Uniform(-1.0, 1.0), 7, 100_000).collect::<Vec<_>>());
        assert!(mean.abs() < 0.01 && (variance - 1.0 / 3.0).abs() < 0.01, "{mean} {variance}");
        let mut dice: Vec<f64> = values(&Fill::Randint(-1, 2), 7, 1000).collect();
        dice.sort_by(f64::total_cmp);
        dice.dedup();
        assert_eq!(dice, [-1.0, 0.0, 1.0]);
        let mut order: Vec<f64> = values(&Fill::Permutation, 7, 100).collect();
        assert!(order.windows(2).any(|w| w[0] > w[1]));
        order.sort_by(f64::total_cmp);
        assert!(order.into_iter().eq(values(&Fill::Arange, 7, 100)));
    }

    #[test]
    fn elements_come_back() {
        for (name, values) in [
            ("fp32", vec![1.5, -0.1f32 as f64]),
            ("bf16", vec![1.0, -3.0]),
            ("fp16", vec![65504.0, 0.5]),
            ("fp8e5", vec![0.5, -2.0]),
            ("fp8e4nv", vec![448.0, 0.125]),
            ("i8", vec![-128.0, 127.0]),
            ("u8", vec![0.0, 255.0]),
            ("i64", vec![-5.0, 7.0]),
            ("i1", vec![0.0, 1.0]),
        ] {
            let dtype = Dtype::parse(name).unwrap();
            assert_eq!(decode(dtype, &encode(dtype, values.iter().copied())), values, "{name}");
        }
    }
}
