//! Padded buffers for operands that asynchronous copies bring on CDNA4.
//!
//! A warp copies to consecutive bytes, so padding can stand between what two copies of a warp write only. Rows that a
//! read of the matrix instruction's layout meets at once would begin at the same bank; so rows that are far apart are
//! laid side by side, and neighbouring ones behind different numbers of paddings.
//!
//! # Algorithm
//!
//! 1. Only for operands of 8 and 16 bits of an `mfma` of 16 or 32 that a lane reads 8 or more bytes of at once.
//! 2. The *padding* is what one lane reads, or what the lanes of one phase read together.
//! 3. `wrap` is how many rows padding moves apart before banks repeat. With fewer rows there are conflicts; loads of 16
//!    bytes tolerate none, others two rows a bank. With enough rows, 16 are moved apart.
//! 4. The order of the offset's bits: along a row; the rows `wrap`, `2·wrap`, …, until a warp's copy of 16 bytes a lane
//!    is full; the rows 1, 2, … below `wrap`; the remaining rows.
//! 5. Two exceptions exchange two of these bits, where one lane's bytes come from two rows, and where a row is shorter
//!    than the banks.
//!
//! Example: 128×64 halves, K fastest, `mfma` of 32×32×16: `[512:+8]`, offsets 1…32 along K, then rows 64, 32, 16, and
//! 1, 2, 4, 8.

use crate::ir::core::encoding::PaddedShared;
use crate::ir::core::{Encoding, Type};

/// Bytes that a lane copies.
const COPIED: u32 = 16;
/// Lanes of a warp.
const LANES: u32 = 64;
/// Rows that are moved apart where there are enough of them.
const BEST_WRAP: u32 = 16;

/// The encoding for a tensor that is read as this operand, if padding helps. `order` is that of the buffer.
pub(super) fn for_copies(from: Type, operand: &Encoding, order: &[u32]) -> Option<Encoding> {
    let Encoding::DotOp { op_idx, parent, k_width } = operand else { return None };
    let Encoding::AmdMfma(mfma) = parent.as_encoding()? else { return None };
    let &[rows, columns] = from.shape() else { return None };
    let bytes = from.elem().bit_width().filter(|bits| [8, 16].contains(bits))? / 8;
    let size = *mfma.instr_shape.get(*op_idx as usize)?;
    if ![16, 32].contains(&size) || ![4, 8, 16].contains(k_width) {
        return None;
    }
    let k_axis = u32::from(*op_idx == 0);
    let operand = Operand { bytes, size, k_width: *k_width, k_fastest: *order.first()? == k_axis };
    let (k, other) = if k_axis == 1 { (columns, rows) } else { (rows, columns) };
    let (row, count) = if operand.k_fastest { (k, other) } else { (other, k) };
    let tile = Tile { row: u32::try_from(row).ok()?, count: u32::try_from(count).ok()? };
    let padding = operand.padding();
    let wrap = operand.wrap(&tile, padding)?;
    let bits = operand.bits(&tile, wrap.number, wrap.best, u32::try_from(k).ok()?);
    // What runs along rows is the last axis where that is the fastest one.
    let along = order[0] as usize;
    let offset = bits.iter().map(|&(column, row)| if along == 1 { vec![row, column] } else { vec![column, row] });
    Some(Encoding::PaddedShared(PaddedShared {
        intervals: vec![(LANES * operand.per_copy(), padding)],
        offset: offset.collect(),
        block: vec![],
        shape: vec![u32::try_from(rows).ok()?, u32::try_from(columns).ok()?],
    }))
}

/// How the matrix instruction reads the operand.
struct Operand {
    /// Of an element.
    bytes: u32,
    size: u32,
    k_width: u32,
    k_fastest: bool,
}

/// What lies in memory: `count` rows of `row` neighbours.
struct Tile {
    row: u32,
    count: u32,
}

/// How many rows are moved apart, and whether that is [`BEST_WRAP`].
struct Wrap {
    number: u32,
    best: bool,
}

impl Operand {
    fn per_copy(&self) -> u32 {
        COPIED / self.bytes
    }

    /// Whether 16 bytes are read at once (`ds_read_b128`).
    fn reads_wide(&self) -> bool {
        self.k_fastest && self.k_width * self.bytes == 16
    }

    /// Whether the load transposes (`ds_read_b64_tr`).
    fn reads_transposed(&self) -> bool {
        !self.k_fastest && self.k_width * self.bytes >= 8
    }

    /// Step 2, in elements.
    fn padding(&self) -> u32 {
        match (self.reads_wide(), self.reads_transposed()) {
            (true, _) if self.size == 16 => 2 * self.k_width,
            (true, _) => self.k_width,
            (_, true) => self.size,
            _ => 8 / self.bytes,
        }
    }

    /// Step 3.
    fn wrap(&self, tile: &Tile, padding: u32) -> Option<Wrap> {
        let banks = if self.reads_wide() || self.reads_transposed() { 64 } else { 32 };
        let all_banks = banks * 4 / self.bytes;
        let lanes = (tile.row / self.per_copy()).max(1);
        let mut number = tile.row.min(all_banks) / padding;
        let needed = LANES / lanes * number;
        let conflicts = if tile.count >= needed { 1 } else { (needed / tile.count).ilog2() + 1 };
        if number == 0 || (self.reads_wide() && conflicts > 1) || conflicts > 2 {
            return None;
        }
        number >>= conflicts - 1;
        let best = tile.count >= LANES / lanes * BEST_WRAP && BEST_WRAP > number;
        let number = if best { BEST_WRAP } else { number };
        (number > 0).then_some(Wrap { number, best })
    }

    /// Steps 4 and 5: what each bit of the offset stands for, as a column and a row.
    fn bits(&self, tile: &Tile, wrap: u32, best: bool, k: u32) -> Vec<(i32, i32)> {
        let row = |log: u32| (0, 1i32 << log);
        let mut bits: Vec<(i32, i32)> = (0..tile.row.ilog2()).map(|log| (1 << log, 0)).collect();
        let copied = (LANES * self.per_copy()).ilog2() as usize;
        let mut next = wrap.ilog2();
        while bits.len() < copied {
            bits.push(row(next));
            next += 1;
        }
        bits.extend((0..wrap.ilog2()).map(row));
        bits.extend((next..tile.count.ilog2()).map(row));
        if self.reads_transposed() && self.size == 16 && self.k_width * self.bytes == 16 {
            let place = |bytes: u32| bits.iter().position(|&(_, r)| r == (bytes / self.bytes) as i32);
            if let (Some(a), Some(b)) = (place(8), place(16)) {
                bits.swap(a, b);
            }
        }
        if self.reads_wide() && self.size == 32 && best && k < 256 / self.bytes {
            let offset = if self.k_width == 16 / self.bytes { 256u32 } else { 128 };
            let (a, b) = (offset.ilog2() as usize, tile.row.ilog2() as usize);
            if a.max(b) < bits.len() {
                bits.swap(a, b);
            }
        }
        bits
    }
}
