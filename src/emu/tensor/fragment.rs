//! Fragments: which lane and register of a warp hold an element of a matrix (PTX ISA, "Warp Level Matrix
//! Multiply-Accumulate Instructions", "Matrix Fragments for mma.m16n8k16" and its neighbours, "Register Fragments and
//! Shared Memory Matrix Layouts" of `wgmma`).
//!
//! All shapes follow one pattern. A lane is a *row* `lane / 4` and a *place* `lane % 4`. An operand's register holds a
//! *word* of neighbours along K: as many elements as fit 32 bits, or one f64.
//! - A: register `i` is row `lane / 4 + 8 · (i % 2)`, and its word is `place + 4 · (i / 2)`. Shapes of 8 rows have no
//!   second row, and the words follow one another.
//! - B: register `i` is column `lane / 4` and word `place + 4 · i`.
//! - The result: elements `2 · place` and `2 · place + 1` of row `lane / 4`, then of the row 8 below; then the next
//!   eight columns. Two f16 share a register.
//!
//! Example: A of `m16n8k16` in f16. Register 2 of lane 5 is row 1; its word is 1 + 4, so columns 10 and 11.

/// The elements of a register of an operand: 32 bits of them, or one f64.
#[must_use]
pub fn per_word(element_bits: u32) -> u32 {
    (32 / element_bits).max(1)
}

/// The row of A, and the first of the word's columns, that a register of a lane holds. `rows` is 8 or 16.
#[must_use]
pub fn left(rows: u32, element_bits: u32, lane: u32, register: u32) -> (u32, u32) {
    let halves = rows / 8;
    let word = lane % 4 + 4 * (register / halves);
    (lane / 4 + 8 * (register % halves), word * per_word(element_bits))
}

/// The first of the word's rows of B, and the column, that a register of a lane holds.
#[must_use]
pub fn right(element_bits: u32, lane: u32, register: u32) -> (u32, u32) {
    ((lane % 4 + 4 * register) * per_word(element_bits), lane / 4)
}

/// The row and the column of the result's element `index` of a lane. `rows` is 8 or 16.
#[must_use]
pub fn result(rows: u32, lane: u32, index: u32) -> (u32, u32) {
    let per_group = rows / 4;
    let (group, within) = (index / per_group, index % per_group);
    (lane / 4 + 8 * (within / 2), 8 * group + 2 * (lane % 4) + within % 2)
}

/// The lane and the number of the result's element at a row and a column: the inverse of [`result`].
#[must_use]
pub fn holder(rows: u32, row: u32, column: u32) -> (u32, u32) {
    (4 * (row % 8) + column % 8 / 2, rows / 4 * (column / 8) + 2 * (row / 8) + column % 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_element_is_held_once() {
        for (rows, k, bits) in [
            (16, 8, 16),
            (16, 16, 16),
            (16, 4, 32),
            (16, 8, 32),
            (16, 16, 8),
            (16, 32, 8),
            (8, 4, 64),
            (16, 16, 64),
            (8, 16, 8),
        ] {
            let per = per_word(bits);
            let mut seen = BTreeSet::new();
            for lane in 0..32 {
                for register in 0..rows * k / per / 32 {
                    let (row, column) = left(rows, bits, lane, register);
                    seen.extend((0..per).map(|e| (row, column + e)));
                }
            }
            let all: BTreeSet<_> = (0..rows).flat_map(|r| (0..k).map(move |c| (r, c))).collect();
            assert_eq!(seen, all, "A {rows}x{k} of {bits} bits");
            let mut seen = BTreeSet::new();
            for lane in 0..32 {
                for register in 0..8 * k / per / 32 {
                    let (row, column) = right(bits, lane, register);
                    seen.extend((0..per).map(|e| (row + e, column)));
                }
            }
            assert_eq!(seen, (0..k).flat_map(|r| (0..8).map(move |c| (r, c))).collect(), "B {k}x8 of {bits} bits");
        }
        for (rows, columns) in [(16, 8), (8, 8), (16, 256)] {
            let held: BTreeSet<_> =
                (0..32).flat_map(|lane| (0..rows * columns / 32).map(move |i| result(rows, lane, i))).collect();
            assert_eq!(held.len() as u32, rows * columns);
            for (row, column) in held {
                let (lane, index) = holder(rows, row, column);
                assert_eq!(result(rows, lane, index), (row, column));
            }
        }
    }

    #[test]
    fn the_tables_of_the_specification() {
        // m16n8k16 in f16: a2 and a3 of lane 5 are row 1 + 0, columns 10 and 11 (registers 2) and row 9 (register 3).
        assert_eq!(left(16, 16, 5, 2), (1, 10));
        assert_eq!(left(16, 16, 5, 3), (9, 10));
        // m16n8k32 in s8: b4 to b7 of lane 6 are rows 2·4 + 16, column 1.
        assert_eq!(right(8, 6, 1), (24, 1));
        // m8n8k4 in f64.
        assert_eq!((left(8, 64, 7, 0), right(64, 7, 0), result(8, 7, 1)), ((1, 3), (3, 1), (1, 7)));
        // m16n8: c2 of lane 31.
        assert_eq!(result(16, 31, 2), (15, 6));
    }
}
