//! `ldmatrix` and `stmatrix`: 8×8 matrices of 16-bit elements between shared memory and a warp's registers (PTX ISA,
//! "Warp-level matrix load instruction: ldmatrix", "Warp-level matrix store instruction: stmatrix").
//!
//! Lane `8 · i + r` gives the address of row `r` of matrix `i`: 16 bytes. Register `i` of a lane holds elements
//! `2 · (lane % 4)` and the next one of row `lane / 4`; with `.trans`, the same places of the transposed matrix.
//!
//! Example: `.x1.trans`: lane 5 holds rows 2 and 3 of column 1.

use super::mma::Register;

/// Bytes of a matrix's row.
pub const ROW_BYTES: usize = 16;
/// Rows of a matrix.
const ROWS: usize = 8;

type Row = [u8; ROW_BYTES];

/// Loads `count` matrices. `read` is called once for each row, in the order of the lanes that give the addresses, with
/// the lane and its address.
///
/// # Errors
/// The first error of `read`.
pub fn ldmatrix<E>(
    count: usize,
    transposed: bool,
    addresses: &Register,
    mut read: impl FnMut(u32, u64) -> Result<Row, E>,
) -> Result<Vec<Register>, E> {
    let mut out = vec![];
    for matrix in 0..count {
        let mut rows = [[0; ROW_BYTES]; ROWS];
        for (r, row) in rows.iter_mut().enumerate() {
            let lane = matrix * ROWS + r;
            *row = read(lane as u32, addresses[lane])?;
        }
        let element = |row: usize, column: usize| {
            u64::from(u16::from_le_bytes([rows[row][2 * column], rows[row][2 * column + 1]]))
        };
        out.push(std::array::from_fn(|lane| {
            let (line, first) = (lane / 4, 2 * (lane % 4));
            let at = |place| if transposed { element(place, line) } else { element(line, place) };
            at(first) | at(first + 1) << 16
        }));
    }
    Ok(out)
}

/// Stores the matrices in these registers. `write` is called once for each row, as by [`ldmatrix`].
///
/// # Errors
/// The first error of `write`.
pub fn stmatrix<E>(
    registers: &[Register],
    transposed: bool,
    addresses: &Register,
    mut write: impl FnMut(u32, u64, Row) -> Result<(), E>,
) -> Result<(), E> {
    for (matrix, register) in registers.iter().enumerate() {
        for r in 0..ROWS {
            let lane = matrix * ROWS + r;
            let mut row = [0; ROW_BYTES];
            for column in 0..ROWS {
                let (line, place) = if transposed { (column, r) } else { (r, column) };
                let word = register[4 * line + place / 2] >> (16 * (place % 2));
                row[2 * column..2 * column + 2].copy_from_slice(&(word as u16).to_le_bytes());
            }
            write(lane as u32, addresses[lane], row)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn memory() -> Vec<u8> {
        (0..512u16).flat_map(|i| (i * 3).to_le_bytes()).collect()
    }

    fn load(count: usize, transposed: bool, addresses: &Register) -> Vec<Register> {
        let memory = memory();
        let read = |_, at: u64| Ok::<_, Infallible>(memory[at as usize..][..ROW_BYTES].try_into().unwrap());
        ldmatrix(count, transposed, addresses, read).unwrap()
    }

    #[test]
    fn lanes_hold_pairs_of_a_row_or_a_column() {
        let addresses = std::array::from_fn(|lane| 16 * lane as u64);
        let element = |matrix: u64, row: u64, column: u64| (matrix * 64 + row * 8 + column) * 3;
        assert_eq!(load(2, false, &addresses)[1][5], element(1, 1, 2) | element(1, 1, 3) << 16);
        assert_eq!(load(1, true, &addresses)[0][5], element(0, 2, 1) | element(0, 3, 1) << 16);
    }

    #[test]
    fn what_is_stored_is_what_was_loaded() {
        let addresses = std::array::from_fn(|lane| 16 * (31 - lane as u64));
        for transposed in [false, true] {
            let loaded = load(4, transposed, &addresses);
            let mut stored = vec![0; 512];
            let mut write = |_, at: u64, row: Row| {
                stored[at as usize..][..ROW_BYTES].copy_from_slice(&row);
                Ok::<_, Infallible>(())
            };
            stmatrix(&loaded, transposed, &addresses, &mut write).unwrap();
            assert_eq!(stored, memory()[..512]);
        }
    }
}
