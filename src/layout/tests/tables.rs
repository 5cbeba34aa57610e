//! Compares layouts and conversions with tables of values.
//!
//! `encodings.txt` and `conversions.txt` hold, for random encodings and shapes, the bases that the reference compiler
//! gives them. An encoding is written in prefix form, with commas in lists, semicolons between bases, and `-` for none:
//!
//! ```text
//! blocked SIZE_PER_THREAD THREADS_PER_WARP WARPS_PER_CTA ORDER CGA        slice DIM PARENT
//! mma VERSION WARPS_PER_CTA INSTR_SHAPE CGA                               dot OP_IDX K_WIDTH PARENT
//! swizzled VEC PER_PHASE MAX_PHASE ORDER CGA                              nvmma SWIZZLE TRANSPOSED ELEMENT_BITS FP4_PADDED CGA
//! tmem BLOCK_M BLOCK_N COL_STRIDE TWO_CTAS CGA                            tmem_scales CGA
//! linear REGISTER LANE WARP BLOCK                                         rotating VEC PER_PHASE MAX_PHASE ORDER CGA
//! mfma VERSION WARPS_PER_CTA INSTR_SHAPE TRANSPOSED TILES_PER_WARP ELEMENT_BITS
//! wmma VERSION TRANSPOSED TILES WARPS INSTR_SHAPE
//! ```

use super::super::*;
use crate::ir::core::encoding::{
    AmdMfma, AmdWmma, Blocked, Encoding, LinearBases, NvidiaMma, NvmmaShared, SwizzledShared, TensorMemory,
};
use crate::ir::core::{Attr, Bases};

pub(super) fn list<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> Vec<T> {
    text.split(',').map(|v| v.parse().unwrap()).collect()
}

fn bases(text: &str) -> Bases {
    if text == "-" { vec![] } else { text.split(';').map(list).collect() }
}

/// The encoding that a table's words describe; see the module documentation.
pub(super) fn encoding(text: &str, rank: usize) -> Attr {
    parse(&mut text.split_whitespace(), rank)
}

fn parse<'a>(words: &mut impl Iterator<Item = &'a str>, rank: usize) -> Attr {
    let mut next = || words.next().unwrap();
    let number = |text: &str| text.parse::<u32>().unwrap();
    Attr::encoding(match next() {
        "blocked" => Encoding::Blocked(Blocked {
            size_per_thread: list(next()),
            threads_per_warp: list(next()),
            warps_per_cta: list(next()),
            order: list(next()),
            cga: bases(next()),
        }),
        "slice" => Encoding::Slice { dim: number(next()), parent: parse(words, rank + 1) },
        "dot" => Encoding::DotOp { op_idx: number(next()), k_width: number(next()), parent: parse(words, rank) },
        "mma" => Encoding::NvidiaMma(NvidiaMma {
            version_major: number(next()),
            version_minor: 0,
            warps_per_cta: list(next()),
            instr_shape: list(next()),
            cga: bases(next()),
        }),
        "mfma" => Encoding::AmdMfma(AmdMfma {
            version: number(next()),
            warps_per_cta: list(next()),
            instr_shape: list(next()),
            is_transposed: next() == "1",
            tiles_per_warp: list(next()),
            element_bit_width: number(next()),
            cga: vec![],
        }),
        "wmma" => Encoding::AmdWmma(AmdWmma {
            version: number(next()),
            is_transposed: next() == "1",
            tiles: bases(next()),
            warps: bases(next()),
            instr_shape: list(next()),
            cga: vec![],
            rank: rank as u32,
        }),
        kind @ ("swizzled" | "rotating") => {
            let shared = SwizzledShared {
                vec: number(next()),
                per_phase: number(next()),
                max_phase: number(next()),
                order: list(next()),
                cga: bases(next()),
            };
            if kind == "swizzled" { Encoding::SwizzledShared(shared) } else { Encoding::AmdRotatingShared(shared) }
        }
        "nvmma" => Encoding::NvmmaShared(NvmmaShared {
            swizzling_byte_width: number(next()),
            transposed: next() == "1",
            element_bit_width: number(next()),
            fp4_padded: next() == "1",
            rank: rank as u32,
            cga: bases(next()),
        }),
        "tmem" => Encoding::TensorMemory(TensorMemory {
            block_m: number(next()),
            block_n: number(next()),
            col_stride: number(next()),
            two_ctas: next() == "1",
            fp4_padded: false,
            cga: bases(next()),
        }),
        "linear" => Encoding::Linear(LinearBases {
            register: bases(next()),
            lane: bases(next()),
            warp: bases(next()),
            block: bases(next()),
        }),
        "tmem_scales" => Encoding::TensorMemoryScales { cga: bases(next()), k_first: false },
        other => panic!("unknown encoding {other}"),
    })
}

fn dim(name: &str) -> Dim {
    [Dim::Register, Dim::Lane, Dim::Warp, Dim::Block, Dim::Offset, Dim::Row, Dim::Col]
        .into_iter()
        .find(|d| d.to_string() == name)
        .unwrap()
}

fn named_bases(columns: &[&str]) -> Vec<(Dim, Bases)> {
    columns.iter().map(|c| c.split_once(' ').unwrap()).map(|(name, text)| (dim(name), bases(text))).collect()
}

/// The lines of a table, cut at the bars.
pub(super) fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(" | ").collect())
}

const ENCODINGS: &str = include_str!("encodings.txt");
pub(super) const CONVERSIONS: &str = include_str!("conversions.txt");

#[test]
fn encodings_have_the_reference_bases() {
    let mut wrong = Vec::new();
    for row in rows(ENCODINGS) {
        let shape: Vec<i64> = list(row[1]);
        let found = try_to_linear_layout(&shape, encoding(row[0], shape.len()));
        let expected = named_bases(&row[2..]);
        match found {
            Ok(l) if expected.iter().all(|(d, b)| l.bases(*d) == *b) => {}
            other => wrong.push(format!("{} on {}\n  found {other:?}\n  expected {expected:?}", row[0], row[1])),
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn conversions_have_the_reference_bases() {
    let mut wrong = Vec::new();
    for row in rows(CONVERSIONS) {
        let shape: Vec<i64> = list(row[2]);
        let [source, destination] = [0, 1].map(|i| to_linear_layout(&shape, encoding(row[i], shape.len())));
        let found = destination.invert_and_compose(source).map(|c| c.all_bases());
        let expected = named_bases(&row[3..]);
        if found.as_ref() != Some(&expected) {
            wrong.push(format!("{row:?}\n  found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every element of the shape has exactly one holder whose free bits are 0, and all elements are held equally often.
#[test]
fn every_element_has_an_owner() {
    let mut tried = 0;
    for row in rows(ENCODINGS) {
        let shape: Vec<i64> = list(row[1]);
        let layout = to_linear_layout(&shape, encoding(row[0], shape.len()));
        if layout.total_in_bits() > 14 || layout.has_in(Dim::Row) {
            continue;
        }
        tried += 1;
        let mut free = 0u64;
        let mut shift = 0;
        for (d, mask) in layout.free_variables() {
            free |= u64::from(mask) << shift;
            shift += layout.in_bits(d);
        }
        let mut held = vec![0u32; 1 << layout.total_out_bits()];
        let mut owned = held.clone();
        for place in 0..1u64 << layout.total_in_bits() {
            let element = layout.apply_packed(place) as usize;
            held[element] += 1;
            owned[element] += u32::from(place & free == 0);
        }
        assert!(owned.iter().all(|&n| n == 1), "{row:?}: owners {owned:?}");
        assert!(held.iter().all(|&n| n == 1 << free.count_ones()), "{row:?}: holders {held:?}");
    }
    assert!(tried > 200, "only {tried} small enough to try");
}

/// The blocks of a cluster that a layout states are read off it, and put in again they give the same layout. Turned
/// around (all blocks along another axis), they are read off again, and nothing is missing.
#[test]
fn blocks_are_read_off_and_put_in() {
    let mut tried = (0, 0);
    for row in rows(ENCODINGS) {
        let shape: Vec<i64> = list(row[1]);
        let encoding = encoding(row[0], shape.len());
        let layout = to_linear_layout(&shape, encoding);
        if !layout.has_in(Dim::Register) || layout.in_bits(Dim::Block) == 0 {
            continue;
        }
        let Some(cga) = cga_of_layout(layout) else {
            // Only a linear layout can be repeated beyond the blocks.
            assert!(row[0].contains("linear"), "{row:?}: blocks have no part of their own");
            continue;
        };
        let Some(same) = with_cga(&shape, encoding, &cga) else { continue };
        assert_eq!(to_linear_layout(&shape, same), layout, "{row:?}");
        tried.0 += 1;
        let axis = shape.len() - 1;
        let other: Bases =
            (0..cga.len()).map(|bit| (0..=axis).map(|d| i32::from(d == axis) << bit).collect()).collect();
        let turned = to_linear_layout(&shape, with_cga(&shape, encoding, &other).unwrap());
        assert!(turned.is_surjective(), "{row:?}");
        if !row[0].contains("dot") && shape[axis] >= 1 << cga.len() {
            assert_eq!(cga_of_layout(turned), Some(other), "{row:?}");
            tried.1 += 1;
        }
    }
    assert!(tried.0 > 20 && tried.1 > 10, "only {tried:?} tried");
}

#[test]
fn blocks_without_a_part_of_their_own() {
    let line = |register: &[i32], block: &[i32]| {
        let bases = |list: &[i32]| list.iter().map(|&c| vec![c]).collect::<Vec<_>>();
        LinearLayout::from_bases_inferred(
            &[(Dim::Register, bases(register)), (Dim::Block, bases(block))],
            &[Dim::axis(0)],
        )
        .unwrap()
    };
    assert_eq!(cga_of_layout(&line(&[1, 2, 4], &[0, 8, 0, 16])), Some(vec![vec![0], vec![1], vec![0], vec![2]]));
    // Interleaved; one that reaches into a block's part; two that are no powers of two.
    assert_eq!(cga_of_layout(&line(&[1, 4], &[2])), None);
    assert_eq!(cga_of_layout(&line(&[1], &[3])), None);
    assert_eq!(cga_of_layout(&line(&[1], &[6, 4])), None);
}

/// A distributed layout written out as a linear encoding is the same layout.
#[test]
fn linear_encodings_restate_layouts() {
    let mut tried = 0;
    for row in rows(ENCODINGS) {
        let shape: Vec<i64> = list(row[1]);
        let layout = to_linear_layout(&shape, encoding(row[0], shape.len()));
        if !layout.has_in(Dim::Register) {
            continue;
        }
        tried += 1;
        let [register, lane, warp, block] = Dim::DISTRIBUTED.map(|d| layout.bases(d));
        let linear = Attr::encoding(Encoding::Linear(LinearBases { register, lane, warp, block }));
        assert_eq!(to_linear_layout(&shape, linear), layout, "{row:?}");
    }
    assert!(tried > 300);
}
