//! How `wgmma` is told where a matrix lies in shared memory: the matrix descriptor (PTX ISA, "Asynchronous Warpgroup
//! Level Matrix Shared Memory Layout", "Matrix Descriptor Format").
//!
//! # What a descriptor can say
//!
//! The matrix is made of *core tiles*: eight lines of 16 (no swizzle), 32, 64 or 128 bytes after each other; in a
//! swizzled one, chunks of 16 bytes are exchanged by the line. A line runs along K, or *transposed* along M or N. One
//! number of bytes leads from tile to tile along the lines, another across them; only one of them matters when the
//! instruction reads a single tile that way.
//!
//! # Algorithm
//!
//! The inverse of a layout gives the offset of an element, bit by bit of its coordinates. For each swizzle and
//! direction, it is compared with what such a descriptor means:
//! 1. the bits within a core tile must lead where the tile has its elements;
//! 2. the next bit of either coordinate, if the instruction reads further than a tile, is the distance to the next one,
//!    and the bits after it must be multiples of that;
//! 3. all others must keep core tiles whole, so that an instruction's share starts at one, or at a chunk of its first
//!    line.
//!
//! The first that fits is taken. Nothing but the layout's bases is asked, so transposed views and free bases work
//! alike.
//!
//! # Example
//!
//! A 64×64 matrix of f16 swizzled by 128 bytes: bit 0 to 5 of the column lead to the elements 1, 2, …, 32; bit 0 of the
//! row to 64 ⊕ 8. That is a core tile of 128 bytes, with 1024 bytes to the next eight rows.

use crate::layout::{Dim, LinearLayout};

/// Widths of lines with what names them in a descriptor.
const SWIZZLES: [(u32, u64); 4] = [(0, 0), (32, 3), (64, 2), (128, 1)];
/// Lines of a core tile.
const LINE_BITS: u32 = 3;
/// Bytes that a swizzle moves together.
pub(crate) const CHUNK: u32 = 16;

/// What does not depend on where the matrix starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Descriptor {
    /// The descriptor with start address 0.
    pub(crate) bits: u64,
    /// Whether lines run along axis 0.
    pub(crate) transposed: bool,
    /// Bytes of a core tile.
    pub(crate) tile_bytes: u32,
    /// Bytes of its lines.
    pub(crate) line_bytes: u32,
}

/// The matrix that one instruction reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Elements along both axes.
    pub(crate) shape: [u32; 2],
    /// The axis that is not K.
    pub(crate) outer: usize,
    /// Bits of an element.
    pub(crate) bits: u32,
}

/// The descriptor for the layout whose inverse is `inverse`, from two axes to the offset in elements; `None` when no
/// descriptor describes it.
pub(crate) fn describe(inverse: &LinearLayout, share: Share) -> Option<Descriptor> {
    if inverse.in_dims().len() != 2 || share.bits > 128 || share.bits < 8 {
        return None;
    }
    [false, true].into_iter().flat_map(|t| SWIZZLES.map(|s| (t, s))).find_map(|(transposed, swizzle)| {
        let (line, across) = if transposed { (0, 1) } else { (1, 0) };
        fit(inverse, share, line, across, swizzle)
    })
}

/// One swizzle and direction.
fn fit(
    inverse: &LinearLayout,
    share: Share,
    line: usize,
    across: usize,
    (width, mode): (u32, u64),
) -> Option<Descriptor> {
    let line_bytes = width.max(CHUNK);
    let elements = line_bytes * 8 / share.bits;
    let tile = elements << LINE_BITS;
    let bases: [Vec<u32>; 2] = [0, 1].map(|axis| columns(inverse, axis));
    // Step 1: bits within a core tile must lead where the tile has its elements.
    for bit in 0..elements.trailing_zeros() {
        (*bases[line].get(bit as usize)? == 1 << bit).then_some(())?;
    }
    for bit in 0..LINE_BITS {
        // Every `128 / width` lines, the chunks are exchanged by one more.
        let exchange = if width == 0 { 0 } else { ((1 << bit) * width / 128) % (width / CHUNK) };
        let expected = (elements << bit) ^ (exchange * CHUNK * 8 / share.bits);
        (*bases[across].get(bit as usize)? == expected).then_some(())?;
    }
    // Steps 2 and 3: the tiles must follow one another at one distance along each axis, and stay whole.
    let mut distance = [0, 0];
    for (axis, first) in [(line, elements.trailing_zeros()), (across, LINE_BITS)] {
        let read = share.shape[axis].next_power_of_two().trailing_zeros();
        let rest = bases[axis].get(first as usize..)?;
        (rest.len() as u32 + first >= read && rest.iter().all(|b| b % tile == 0)).then_some(())?;
        if read > first {
            distance[axis] = rest[0];
            (1..(read - first) as usize).all(|i| rest[i] == rest[0] << i).then_some(())?;
        }
    }
    // Without a swizzle and along M or N, the two distances change places.
    let (leading, stride) = if width == 0 && line == share.outer { (across, line) } else { (line, across) };
    let field = |axis: usize| (u64::from(distance[axis] * share.bits / 8) / u64::from(CHUNK)) & 0x3fff;
    Some(Descriptor {
        bits: (field(leading) << 16) | (field(stride) << 32) | (mode << 62),
        transposed: line == 0,
        tile_bytes: tile * share.bits / 8,
        line_bytes,
    })
}

/// Where the bits of a coordinate lead, in elements.
pub(crate) fn columns(inverse: &LinearLayout, axis: usize) -> Vec<u32> {
    let dim = Dim::axis(axis);
    (0..inverse.in_bits(dim) as usize).map(|bit| inverse.basis(dim, bit, Dim::Offset)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::core::encoding::NvmmaShared;
    use crate::ir::{Attr, Encoding};
    use crate::layout::to_linear_layout;

    fn of(
        shape: [i64; 2],
        width: u32,
        transposed: bool,
        bits: u32,
        share: [u32; 2],
        outer: usize,
    ) -> Option<Descriptor> {
        let encoding = Attr::encoding(Encoding::NvmmaShared(NvmmaShared {
            swizzling_byte_width: width,
            transposed,
            element_bit_width: bits,
            fp4_padded: false,
            rank: 2,
            cga: vec![],
        }));
        let inverse = to_linear_layout(&shape, encoding).pseudoinvert().unwrap();
        describe(&inverse, Share { shape: share, outer, bits })
    }

    #[test]
    fn rows_along_k() {
        // 16 bytes times 64 are the 1024 bytes of eight lines.
        let d = of([128, 64], 128, false, 16, [64, 16], 0).unwrap();
        assert_eq!((d.bits, d.transposed, d.tile_bytes), (1 << 62 | 64 << 32, false, 1024));
        // 64 bytes of lines, four instructions' shares in a box of 256 rows.
        assert_eq!(of([256, 32], 64, false, 16, [64, 16], 0).unwrap().bits, 2 << 62 | 32 << 32);
    }

    #[test]
    fn rows_along_n() {
        // K×N with N in the lines: from 64 columns to the next are 64 lines of 128 bytes, from eight lines to the next
        // 1024 bytes.
        let d = of([64, 128], 128, false, 16, [16, 128], 1).unwrap();
        assert_eq!((d.bits, d.transposed), (1 << 62 | 64 << 32 | 512 << 16, false));
        let d = of([128, 64], 128, true, 16, [64, 16], 0).unwrap();
        assert!(d.transposed);
    }

    #[test]
    fn layouts_without_a_descriptor() {
        // Lines longer than a chunk, without a swizzle: rows are not side by side.
        assert_eq!(of([64, 64], 0, false, 16, [64, 16], 0), None);
        // More rows than there are.
        assert_eq!(of([32, 64], 128, false, 16, [64, 16], 0), None);
    }
}
